/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/config_support.h"

static struct config *load(const char *path, const char *const *overrides, int n)
{
    struct dpf_error error = {0};
    struct config *config = config_load(path, overrides, n, &error);
    if (!config)
        fail_msg("%s", error.text);
    return config;
}

static void assert_refused(const char *path, const char *override, const char *words)
{
    struct dpf_error error = {0};
    assert_null(config_load(path, &override, override != NULL, &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    support_assert_contains(error.text, words);
}

TEST_WITH(the_including_file_wins_key_by_key, support_enter, support_leave)
{
    support_write("sub/base.ini", "[run]\nrounds = 10\nseed = 1\n[model]\nrank = 8\n");
    support_write("sub/second.ini", "[run]\nseed = 2\nthreads = 4\n");
    support_write("main.ini", "include = sub/base.ini, sub/second.ini\n[run]\nrounds = 20\n[extra]\nx=1\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_string_equal(support_value(config, "run", "rounds"), "20");
    assert_string_equal(support_value(config, "run", "seed"), "2");
    assert_string_equal(support_value(config, "run", "threads"), "4");
    assert_string_equal(support_value(config, "model", "rank"), "8");
    const struct config_entry *rounds = config_find(config, "run", "rounds");
    assert_string_equal(rounds->file, "main.ini");
    assert_int_equal(rounds->line, 3);
    assert_string_equal(config_find(config, "run", "seed")->file, "sub/second.ini");
    assert_string_equal(config_at(config, 0)->key, "rounds");
    assert_string_equal(config_at(config, 3)->section, "model");
    assert_string_equal(config_at(config, 4)->section, "extra");
    config_free(config);
}

TEST_WITH(an_include_key_may_be_repeated, support_enter, support_leave)
{
    support_write("a.ini", "[s]\na = 1\nx = a\n");
    support_write("b.ini", "[s]\nb = 1\nx = b\n");
    support_write("main.ini", "include = a.ini\ninclude = b.ini\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_string_equal(support_value(config, "s", "a"), "1");
    assert_string_equal(support_value(config, "s", "b"), "1");
    assert_string_equal(support_value(config, "s", "x"), "b");
    config_free(config);
}

/* Both a and b build on base; what a changes in it must survive b. */
TEST_WITH(a_file_is_read_once, support_enter, support_leave)
{
    support_write("base.ini", "[s]\nx = base\ny = base\n");
    support_write("a.ini", "include = base.ini\n[s]\nx = a\n");
    support_write("b.ini", "include = sub/../base.ini\n[s]\ny = b\n");
    support_write("main.ini", "include = a.ini, b.ini\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_string_equal(support_value(config, "s", "x"), "a");
    assert_string_equal(support_value(config, "s", "y"), "b");
    config_free(config);
}

TEST_WITH(includes_are_relative_to_their_file, support_enter, support_leave)
{
    support_write("sub/a.ini", "include = b.ini\n[s]\nx = 1\n");
    support_write("sub/b.ini", "include = ../c.ini\n");
    support_write("c.ini", "[s]\nc = 1\n");
    struct config *config = load("sub/a.ini", NULL, 0);
    assert_string_equal(support_value(config, "s", "c"), "1");
    config_free(config);
}

TEST_WITH(refuses_bad_includes, support_enter, support_leave)
{
    support_write("self.ini", "\ninclude = self.ini\n");
    assert_refused("self.ini", NULL,
                   "self.ini:2: files include each other in a circle: self.ini -> self.ini");
    support_write("a.ini", "include = sub/b.ini\n");
    support_write("sub/b.ini", "include = ../a.ini\n");
    assert_refused("a.ini", NULL,
                   "sub/b.ini:1: files include each other in a circle: a.ini -> sub/b.ini -> sub/../a.ini");
    support_write("missing.ini", "# \ninclude = nowhere.ini\n");
    assert_refused("missing.ini", NULL,
                   "missing.ini:2: include = nowhere.ini: cannot read nowhere.ini: No such");
    support_write("directory.ini", "include = sub\n");
    assert_refused("directory.ini", NULL, "directory.ini:1: include = sub: cannot read sub: Is a directory");
    assert_refused("absent.ini", NULL, "cannot read absent.ini: No such file");
    support_write("outer.ini", "include = broken.ini\n");
    support_write("broken.ini", "[a]\nx\n");
    assert_refused("outer.ini", NULL, "broken.ini:2: ");
}

TEST_WITH(depth_is_limited, support_enter, support_leave)
{
    for (int i = 1; i <= 17; i++) {
        char path[32], text[64];
        snprintf(path, sizeof path, "f%d.ini", i);
        snprintf(text, sizeof text, "include = f%d.ini\n", i + 1);
        support_write(path, i < 17 ? text : "[s]\nx = 1\n");
    }
    assert_refused("f1.ini", NULL, "f16.ini:1: more than 16 files deep: f1.ini -> f2.ini -> ");
    struct config *config = load("f2.ini", NULL, 0);
    assert_string_equal(support_value(config, "s", "x"), "1");
    config_free(config);
}

TEST_WITH(the_number_of_files_is_limited, support_enter, support_leave)
{
    char text[2000] = "";
    for (int i = 0; i < 70; i++) {
        char path[32];
        snprintf(path, sizeof path, "n%d.ini", i);
        support_write(path, "");
        sprintf(text + strlen(text), "include = %s\n", path);
    }
    support_write("main.ini", text);
    assert_refused("main.ini", NULL, "main.ini:64: more than 64 files");
}

TEST_WITH(overrides_win, support_enter, support_leave)
{
    support_write("main.ini", "[run]\nrounds = 10\n[data]\nsynthetic.users = 5\n");
    static const char *const overrides[] = {"run.rounds=20", " run.rounds = 30 ", "items.mechanism.epsilon=2",
                                            "data.synthetic.users=6", "run.note=a=b"};
    struct config *config = load("main.ini", overrides, 5);
    const struct config_entry *rounds = config_find(config, "run", "rounds");
    assert_string_equal(rounds->value, "30");
    assert_string_equal(rounds->file, "-o \" run.rounds = 30 \"");
    assert_int_equal(rounds->line, 0);
    assert_string_equal(support_value(config, "items.mechanism", "epsilon"), "2");
    assert_string_equal(support_value(config, "data", "synthetic.users"), "6");
    assert_string_equal(config_find(config, "data", "synthetic.users")->section, "data");
    assert_false(config_has_section(config, "data.synthetic"));
    assert_string_equal(support_value(config, "run", "note"), "a=b");
    config_free(config);
}

TEST_WITH(refuses_bad_overrides, support_enter, support_leave)
{
    support_write("main.ini", "[a]\nx = 1\n");
    assert_refused("main.ini", "users.rank", "-o \"users.rank\": no '='; write -o section.key=value");
    assert_refused("main.ini", "rank=3", "no '.' before the '='");
    assert_refused("main.ini", "=3", "no '.'");
    assert_refused("main.ini", "a.=3", "the key has no name");
    assert_refused("main.ini", ".x=3", "the section has no name");
    assert_refused("main.ini", "a b.x=3", "letters, digits");
    assert_refused("main.ini", "a.x=\x1b[2J", "control byte \\x1b");
    assert_refused("main.ini", "a.x=\x1b[2J", "-o \"a.x=\\x1b[2J\"");
    assert_refused("main.ini", "", "no '='");
}

static const char swap_base[] = "[items]\n"
                                "mechanism = laplace\n"
                                "transforms = clip, flatten, project\n"
                                "terms = data, social\n"
                                "rate = 0.1\n"
                                "[items.mechanism]\n"
                                "epsilon = 1\n"
                                "[items.mechanism.tail]\n"
                                "t = 1\n"
                                "[items.transform.clip]\n"
                                "norm = 1\n"
                                "[items.transform.flatten]\n"
                                "seed = 1\n"
                                "[items.social]\n"
                                "loss = social\n"
                                "[items.social.mechanism]\n"
                                "epsilon = 3\n"
                                "[items.rates]\n"
                                "x = 1\n"
                                "[users.mechanism]\n"
                                "epsilon = 1\n";

TEST_WITH(a_swapped_component_loses_its_parameters, support_enter, support_leave)
{
    support_write("base.ini", swap_base);
    support_write("main.ini", "include = base.ini\n"
                              "[items.mechanism]\nsigma = 2\n[items]\nmechanism = gaussian\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_null(config_find(config, "items.mechanism", "epsilon"));
    assert_null(config_find(config, "items.mechanism.tail", "t"));
    assert_false(config_has_section(config, "items.mechanism.tail"));
    assert_string_equal(support_value(config, "items.mechanism", "sigma"), "2");
    assert_string_equal(support_value(config, "users.mechanism", "epsilon"), "1");
    assert_string_equal(support_value(config, "items.transform.clip", "norm"), "1");
    assert_string_equal(support_value(config, "items.social.mechanism", "epsilon"), "3");
    config_free(config);
}

TEST_WITH(the_same_component_keeps_its_parameters, support_enter, support_leave)
{
    support_write("base.ini", swap_base);
    support_write("main.ini", "include = base.ini\n[items]\nmechanism = laplace\nrate = 0.2\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_string_equal(support_value(config, "items.mechanism", "epsilon"), "1");
    assert_string_equal(support_value(config, "items.mechanism.tail", "t"), "1");
    assert_string_equal(support_value(config, "items.rates", "x"), "1");
    config_free(config);
}

TEST_WITH(removed_names_of_a_list_lose_theirs, support_enter, support_leave)
{
    support_write("base.ini", swap_base);
    static const char *const overrides[] = {"items.transforms=project , clip", "items.terms=data"};
    struct config *config = load("base.ini", overrides, 2);
    assert_string_equal(support_value(config, "items.transform.clip", "norm"), "1");
    assert_null(config_find(config, "items.transform.flatten", "seed"));
    assert_null(config_find(config, "items.social", "loss"));
    assert_null(config_find(config, "items.social.mechanism", "epsilon"));
    assert_string_equal(support_value(config, "items.mechanism", "epsilon"), "1");
    config_free(config);
}

/* Both ways to name the section of one of several: below the key, and beside it. */
TEST_WITH(other_spellings_of_lists_follow, support_enter, support_leave)
{
    support_write("base.ini", "[accountants]\nlist = pure, org.rdp\n"
                              "[accountants.pure]\nx = 1\n[accountants.org.rdp]\nx = 1\n"
                              "[accountants.list.pure]\nx = 1\n[accountants.list.org.rdp.deep]\nx = 1\n"
                              "[accountants.purest]\nx = 1\n");
    support_write("main.ini", "include = base.ini\n[accountants]\nlist = pure,pld\n");
    struct config *config = load("main.ini", NULL, 0);
    assert_string_equal(support_value(config, "accountants.pure", "x"), "1");
    assert_string_equal(support_value(config, "accountants.list.pure", "x"), "1");
    assert_string_equal(support_value(config, "accountants.purest", "x"), "1");
    assert_false(config_has_section(config, "accountants.org.rdp"));
    assert_false(config_has_section(config, "accountants.list.org.rdp.deep"));
    assert_int_equal(config_size(config), 4);
    config_free(config);
}

TEST_WITH(an_empty_value_removes_a_component, support_enter, support_leave)
{
    support_write("base.ini", swap_base);
    static const char *const overrides[] = {"items.mechanism="};
    struct config *config = load("base.ini", overrides, 1);
    assert_string_equal(support_value(config, "items", "mechanism"), "");
    assert_false(config_has_section(config, "items.mechanism"));
    config_free(config);
}

TEST_WITH(overrides_swap_in_any_order, support_enter, support_leave)
{
    support_write("base.ini", swap_base);
    static const char *const overrides[] = {"items.mechanism.sigma=2", "items.mechanism=gaussian"};
    struct config *config = load("base.ini", overrides, 2);
    assert_string_equal(support_value(config, "items.mechanism", "sigma"), "2");
    assert_null(config_find(config, "items.mechanism", "epsilon"));
    config_free(config);
}
