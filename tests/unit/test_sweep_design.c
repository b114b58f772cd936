/* SPDX-License-Identifier: Apache-2.0 */
/* [sweep] as text to points: lists, swaps, variants, names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "sweep/design_parse.h"
#include "sweep/points.h"

struct fixture {
    struct config *config;
    struct design design;
    struct points points;
    struct dpf_error error;
};

static int open_text(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    f->config = config_parse("dir/sweep.ini", text, strlen(text), &f->error);
    assert_non_null(f->config);
    if (design_read(f->config, &f->design, &f->error) != 0)
        return -1;
    return points_make(&f->design, &f->points, &f->error);
}

static void close_text(struct fixture *f)
{
    points_free(&f->points);
    design_free(&f->design);
    config_free(f->config);
}

static void refused(const char *text, const char *because)
{
    struct fixture f;
    int status = open_text(&f, text);
    if (status == 0 || !strstr(f.error.text, because))
        fail_msg("%s: \"%s\" is not in: %s", text, because, f.error.text);
    assert_int_equal(f.error.fault, DPF_FAULT_CONFIG);
    close_text(&f);
}

/* Without the seed of the noise, which has tests of its own. */
static void expect_settings(const struct point *point, const char *expected)
{
    char got[512] = "";
    for (int i = 0; i < point->n_settings && strncmp(point->settings[i], "privacy.noise-seed=", 19) != 0; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? "; " : "", point->settings[i]);
    assert_string_equal(got, expected);
}

static void expect_list(const char *text, char separator, const char *expected)
{
    struct design_list list = {0};
    char problem[DESIGN_PROBLEM] = "", got[256] = "";
    int status = design_split(text, separator, &list, problem);
    for (size_t i = 0; i < list.n; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "<%s>", list.texts[i]);
        free(list.texts[i]);
    }
    free(list.texts);
    if (!expected) {
        assert_int_equal(status, -1);
        assert_true(*problem);
        return;
    }
    assert_int_equal(status, 0);
    assert_string_equal(got, expected);
}

TEST(lists_are_split)
{
    expect_list("0.1, 0.5,1", ',', "<0.1><0.5><1>");
    expect_list("1..5", ',', "<1><2><3><4><5>");
    expect_list("-2..0, 7", ',', "<-2><-1><0><7>");
    expect_list("{clip, flatten}, {}, clip", ',', "<clip, flatten><><clip>");
    expect_list("../a.csv, ../b.csv", ',', "<../a.csv><../b.csv>");
    expect_list("a.b=1; c.d={x;y}", ';', "<a.b=1><c.d={x;y}>");
    expect_list("1, , 2", ',', NULL);
    expect_list("1,", ',', NULL);
    expect_list("5..1", ',', NULL);
    expect_list("1..999999999999", ',', NULL);
    expect_list("{1, 2", ',', NULL);
    expect_list("1}, 2", ',', NULL);
}

TEST(axes_are_crossed_with_seeds_innermost)
{
    struct fixture f;
    assert_int_equal(
        open_text(&f, "[sweep]\nrun.seed = 1..2\nitems.mechanism.epsilon = 0.1, 1\nmodel.rank = 4, 8\n"), 0);
    assert_int_equal(f.points.n, 8);
    assert_string_equal(f.points.items[0].name, "epsilon-0.1_rank-4_seed-1");
    assert_string_equal(f.points.items[1].name, "epsilon-0.1_rank-4_seed-2");
    assert_string_equal(f.points.items[2].name, "epsilon-0.1_rank-8_seed-1");
    assert_string_equal(f.points.items[7].name, "epsilon-1_rank-8_seed-2");
    expect_settings(&f.points.items[7], "items.mechanism.epsilon=1; model.rank=8; run.seed=2");
    close_text(&f);
}

TEST(references_do_not_follow_the_axes)
{
    struct fixture f;
    assert_int_equal(
        open_text(&f, "[sweep]\nreferences = plain\nrun.seed = 1..2\nitems.mechanism.epsilon = 0.1, 1\n"
                      "variant.plain = items.mechanism=\nvariant.noisy = items.mechanism=laplace\n"),
        0);
    assert_int_equal(f.points.n, 2 + 4);
    assert_string_equal(f.points.items[0].name, "plain_seed-1");
    expect_settings(&f.points.items[0], "items.mechanism=; run.seed=1");
    assert_string_equal(f.points.items[1].name, "plain_seed-2");
    assert_string_equal(f.points.items[2].name, "noisy_epsilon-0.1_seed-1");
    assert_string_equal(f.points.items[5].name, "noisy_epsilon-1_seed-2");
    close_text(&f);
    refused("[sweep]\nreferences = plan\nvariant.plain = model.rank=3\n", "no variant plan");
}

/* $seed is the repetition, for references too; a named axis of that name goes before it. */
TEST(variants_read_the_seed)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\nreferences = none\naxis.epsilon = 1, 2\nrun.seed = 3, 7\n"
                                   "variant.a = x.y=$epsilon; x.z=$seed\nvariant.none = x.z=$seed\n"),
                     0);
    assert_int_equal(f.points.n, 6);
    expect_settings(&f.points.items[1], "x.y=1; x.z=7; run.seed=7");
    expect_settings(&f.points.items[5], "x.z=7; run.seed=7");
    close_text(&f);
    assert_int_equal(open_text(&f, "[sweep]\nrun.seed = 3, 7\nvariant.a = x.z=$seed\n"), 0);
    expect_settings(&f.points.items[0], "x.z=3; run.seed=3");
    close_text(&f);
    assert_int_equal(open_text(&f, "[sweep]\naxis.seed = 5\nrun.seed = 3\nvariant.a = x.z=$seed\n"), 0);
    expect_settings(&f.points.items[0], "x.z=5; run.seed=3");
    close_text(&f);
    refused("[sweep]\naxis.epsilon = 1\nvariant.a = x.y=$epsilon; x.z=$seed\n", "no axis.seed");
}

TEST(variants_read_named_axes)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\nmode = zip\naxis.epsilon = 0.1, 1\naxis.before = 0.19, 1.49\n"
                                   "run.seed = 1..2\nvariant.plain = a.epsilon=$epsilon\n"
                                   "variant.drawn = a.epsilon=$before; b.target=$epsilon\nvariant.none =\n"
                                   "[sweep.variant.kept]\na.list = $epsilon, $epsilon\n"),
                     0);
    assert_int_equal(f.points.n, 16);
    assert_string_equal(f.points.items[0].name, "plain_epsilon-0.1_before-0.19_seed-1");
    expect_settings(&f.points.items[0], "a.epsilon=0.1; run.seed=1");
    expect_settings(&f.points.items[2], "a.epsilon=1; run.seed=1");
    expect_settings(&f.points.items[7], "a.epsilon=1.49; b.target=1; run.seed=2");
    expect_settings(&f.points.items[8], "run.seed=1");
    expect_settings(&f.points.items[15], "a.list=1, 1; run.seed=2");
    close_text(&f);
    refused("[sweep]\naxis.epsilon = 1\nvariant.a = x.y=$epsilo\n", "no axis.epsilo");
    refused("[sweep]\naxis.epsilon = 1\nvariant.a = x.y=1\n", "$epsilon");
    refused("[sweep]\nreferences = a\naxis.epsilon = 1\nvariant.a = x.y=$epsilon\n", "cannot be a reference");
    refused("[sweep]\naxis.a.b = 1\nvariant.a = x.y=$a\n", "letters");
    assert_int_equal(open_text(&f, "[sweep]\nvariant.a = x.path=$home; x.y=$\n"), 0); /* no such axes */
    expect_settings(&f.points.items[0], "x.path=$home; x.y=$");
    close_text(&f);
}

TEST(zipped_axes_go_together)
{
    struct fixture f;
    assert_int_equal(open_text(&f,
                               "[sweep]\nmode = zip\nitems.mechanism.epsilon = 0.1, 1\nmodel.rank = 4, 8\n"
                               "run.seed = 1..3\n"),
                     0);
    assert_int_equal(f.points.n, 6);
    expect_settings(&f.points.items[0], "items.mechanism.epsilon=0.1; model.rank=4; run.seed=1");
    expect_settings(&f.points.items[5], "items.mechanism.epsilon=1; model.rank=8; run.seed=3");
    close_text(&f);
    refused("[sweep]\nmode = zip\nmodel.rank = 4, 8\nitems.mechanism.epsilon = 1, 2, 3\n", "the same number");
}

TEST(components_are_swapped_with_their_parameters)
{
    struct fixture f;
    assert_int_equal(open_text(&f,
                               "[sweep]\nitems.loss = @implicit-als, @complementary\n"
                               "[sweep.items.loss.complementary]\nlambda = 0.5\nunobserved-weight = 0.1\n"),
                     0);
    assert_int_equal(f.points.n, 2);
    assert_int_equal(f.design.n_axes, 1);
    expect_settings(&f.points.items[0], "items.loss=implicit-als");
    expect_settings(&f.points.items[1],
                    "items.loss=complementary; items.loss.lambda=0.5; items.loss.unobserved-weight=0.1");
    assert_string_equal(f.points.items[1].name, "loss-complementary");
    close_text(&f);
}

TEST(variants_set_keys_together)
{
    struct fixture f;
    assert_int_equal(
        open_text(&f, "[sweep]\nbaseline = plain\nvariant.plain =\nvariant.low = model.rank=1; run.rounds=2\n"
                      "variant.file = @low.ini\n"
                      "[sweep.variant.clipped]\nitems.transforms = clip, flatten\n"),
        0);
    assert_int_equal(f.points.n, 4);
    assert_string_equal(f.points.items[0].name, "plain");
    expect_settings(&f.points.items[0], "");
    expect_settings(&f.points.items[1], "model.rank=1; run.rounds=2");
    assert_int_equal(f.points.items[2].variant->layers.n, 1);
    assert_string_equal(f.points.items[2].variant->layers.texts[0], "dir/low.ini");
    expect_settings(&f.points.items[3], "items.transforms=clip, flatten");
    close_text(&f);
}

TEST(names_tell_axes_apart)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\nusers.mechanism.epsilon = 1, 2\nitems.mechanism.epsilon = 3\n"
                                   "model.rank = 4\n"),
                     0);
    assert_string_equal(f.design.axes[0].name, "users.mechanism.epsilon");
    assert_string_equal(f.design.axes[1].name, "items.mechanism.epsilon");
    assert_string_equal(f.design.axes[2].name, "rank");
    close_text(&f);
}

/* A name depends on the point alone, is a file name, and no two are alike. */
TEST(names_are_fit_for_files)
{
    struct fixture f, g;
    char text[600] = "[sweep]\ndata.path = ../a b.csv, ../a/b.csv\nrun.compare = ";
    memset(text + strlen(text), 'x', 300);
    assert_int_equal(open_text(&f, text), 0);
    assert_int_equal(f.points.n, 2);
    assert_string_not_equal(f.points.items[0].name, f.points.items[1].name);
    for (size_t i = 0; i < 2; i++) {
        assert_null(strpbrk(f.points.items[i].name, "/ \\"));
        assert_true(f.points.items[i].name[0] != '.');
        assert_true(strlen(f.points.items[i].name) < 140);
    }
    memset(text, 0, sizeof text);
    strcpy(text, "[sweep]\ndata.path = z.csv, ../a/b.csv\nrun.compare = ");
    memset(text + strlen(text), 'x', 300);
    assert_int_equal(open_text(&g, text), 0);
    assert_string_equal(f.points.items[1].name, g.points.items[1].name);
    close_text(&g);
    close_text(&f);
}

TEST(mistakes_are_refused)
{
    refused("[sweep]\nquestion = why?\n", "neither an axis");
    refused("[sweep]\nmoed = zip\nrun.seed = 1\n", "did you mean \"mode\"");
    refused("[sweep]\nepsilon = 1, 2\n", "an axis is named by section and key");
    refused("[sweep]\nrun.seed = 1, , 2\n", "dir/sweep.ini:2");
    refused("[sweep]\nrun.seed = 1, 2, 1\n", "twice");
    /* One value in two spellings is one run, not two independent ones. */
    refused("[sweep]\nrun.seed = 1, 01\n", "1 and 01 are the same");
    refused("[sweep]\nrun.seed = 2, 1..3\n", "twice");
    refused("[sweep]\nrun.seed = 10, 1e1\n", "10 and 1e1 are the same");
    refused("[sweep]\nusers.loss.lambda = 0.1, 0.10\n", "0.1 and 0.10 are the same");
    refused("[sweep]\nusers.loss.lambda = 0.1, 1e-1\n", "twice");
    refused("[sweep]\nmodel.user-bias = yes, true\n", "yes and true are the same");
    refused("[sweep]\nmodel.user-bias = 0, no\n", "twice");
    refused("[sweep]\nevaluate.k = {10,20}, {10, 020}\n", "twice");
    refused("[sweep]\nrun.seed = 1..2\nbaseline = best\n", "baseline");
    refused("[sweep]\nrun.seed = 1..2\nbaseline = seed=1\n", "baseline");
    refused("[sweep]\nvariant.a = rank=3\n", "section.key=value");
    refused("[sweep]\nvariant.a = model.rank\n", "section.key=value");
    refused("[sweep.variant.a]\nrank = 3\n", "with their sections");
    refused("[sweep]\nrun.seed = 1..1000\nmodel.rank = 1..1000\n", "more than");
}

TEST(a_baseline_may_be_a_value)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\nbaseline = loss=a\nitems.loss = @a, @b\n"), 0);
    close_text(&f);
    assert_int_equal(open_text(&f, "[sweep]\nbaseline = items.loss=b\nitems.loss = @a, @b\n"), 0);
    close_text(&f);
}

TEST(presence_is_seen)
{
    struct dpf_error error = {0};
    static const char with[] = "[model]\nrank = 3\n[sweep.run]\nseed = 1, 2\n",
                      without[] = "[model]\nrank = 3\n";
    struct config *config = config_parse("a", with, sizeof with - 1, &error);
    assert_int_equal(design_present(config), 1);
    config_free(config);
    config = config_parse("a", without, sizeof without - 1, &error);
    assert_int_equal(design_present(config), 0);
    config_free(config);
}

static const char *noise_seed(const struct fixture *f, size_t point)
{
    const struct point *p = &f->points.items[point];
    for (int i = 0; i < p->n_settings; i++)
        if (strncmp(p->settings[i], "privacy.noise-seed=", 19) == 0)
            return p->settings[i] + 19;
    return NULL;
}

/* One draw that is counted several times would make any difference significant. */
TEST(repetitions_have_noise_of_their_own)
{
    static const char *const texts[] = {
        "[sweep]\nmodel.rank = 2, 4\nrun.seed = 1..3\n", "[sweep]\nmodel.rank = 2, 4\nsplit.fold = 1..3\n",
        "[sweep]\nvariant.a =\nvariant.b =\nrun.seed = 1..3\n",
        "[privacy]\nnoise-seed = 7\n[sweep]\nmodel.rank = 2, 4\nrun.seed = 1..3\n"};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        struct fixture f, again;
        assert_int_equal(open_text(&f, texts[t]), 0);
        assert_int_equal(open_text(&again, texts[t]), 0);
        for (size_t i = 0; i < f.points.n; i++) {
            assert_string_equal(noise_seed(&f, i), noise_seed(&again, i));
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(noise_seed(&f, i), noise_seed(&f, j));
        }
        close_text(&f);
        close_text(&again);
    }
}

TEST(noise_can_be_paired_on_purpose)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\npair = splits, noise\nmodel.rank = 2, 4\nrun.seed = 1..2\n"), 0);
    assert_string_equal(noise_seed(&f, 0), noise_seed(&f, 2));
    assert_string_equal(noise_seed(&f, 1), noise_seed(&f, 3));
    assert_string_not_equal(noise_seed(&f, 0), noise_seed(&f, 1));
    close_text(&f);
    refused("[sweep]\npair = noise\nrun.seed = 1..2\n", "write \"splits\"");
    refused("[sweep]\npair = splits, split\nrun.seed = 1..2\n", "write \"splits\"");
}

/* The documented derivation, by sha256sum: a figure in a table can be repeated without the sweep. */
TEST(the_seed_of_noise_is_the_documented_one)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\npair = splits, noise\nrun.seed = 1..2\n"), 0);
    assert_string_equal(noise_seed(&f, 0), "1137512994007471");
    close_text(&f);
    assert_int_equal(
        open_text(&f, "[privacy]\nnoise-seed = 5\n[sweep]\nmodel.rank = 2\nvariant.a =\nsplit.fold = 1..2\n"
                      "run.seed = 3\n"),
        0);
    assert_string_equal(noise_seed(&f, 1), "2566024283476464");
    close_text(&f);
}

TEST(a_seed_that_is_set_stays)
{
    struct fixture f;
    assert_int_equal(open_text(&f, "[sweep]\nprivacy.noise-seed = 4, 5\nrun.seed = 1..2\n"), 0);
    assert_string_equal(noise_seed(&f, 0), "4");
    assert_string_equal(noise_seed(&f, 3), "5");
    close_text(&f);
    assert_int_equal(open_text(&f, "[sweep]\nmodel.rank = 2, 4\n"),
                     0); /* nothing repeats: the configuration's */
    assert_null(noise_seed(&f, 0));
    close_text(&f);
}

TEST(a_variant_leaves_repetitions_alone)
{
    refused("[sweep]\nvariant.a = run.seed=7\nrun.seed = 1..2\n",
            "the axis run.seed sets it for every point");
    refused("[sweep]\nvariant.a = split.fold=1\nsplit.fold = 1..2\n",
            "the axis split.fold sets it for every point");
}

TEST(zipped_values_may_come_twice)
{
    struct fixture f;
    assert_int_equal(
        open_text(&f, "[sweep]\nmode = zip\nmodel.rank = 2, 2, 4\nusers.loss.lambda = 0.1, 0.2, 0.1\n"), 0);
    assert_int_equal(f.points.n, 3);
    close_text(&f);
    refused("[sweep]\nmode = zip\nmodel.rank = 2, 2\nusers.loss.lambda = 0.1, 0.1\n",
            "two points have the name");
    refused("[sweep]\nmodel.rank = 2, 2\n", "contains a value twice");
}
