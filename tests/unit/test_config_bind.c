/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/config_support.h"

#include <math.h>

static const dpf_enum_value precisions[] = {{"exact", "integer noise"}, {"float", "fast"}};

enum { BUDGET, RATE, ROUNDS, EXACT, FLAG, NAME, FILE_, SEEDS, STEPS, N_PARAMS };
static const dpf_param table[N_PARAMS] = {
    [BUDGET] =
        DPF_PARAM_REAL_F("epsilon", 1.0, 0, INFINITY, DPF_PARAM_OPEN_LO, "", "pure-DP budget of a release."),
    [RATE] = DPF_PARAM_REAL_F("rate", 0.5, 0, 1, DPF_PARAM_OPEN_LO, "", "share of users"),
    [ROUNDS] = DPF_PARAM_INT_F("rounds", 10, 1, 1e6, 0, "rounds", "how often"),
    [EXACT] = DPF_PARAM_ENUM_F("precision", 1, precisions, 0, "how"),
    [FLAG] = DPF_PARAM_BOOL_F("flag", 1, 0, ""),
    [NAME] = DPF_PARAM_TEXT_F("name", DPF_TYPE_STRING, "none", 0, ""),
    [FILE_] = DPF_PARAM_TEXT_F("path", DPF_TYPE_PATH, "", 0, ""),
    [SEEDS] = DPF_PARAM_LIST_F("seeds", DPF_TYPE_INT_LIST, "1..3", 0, 1e9, 0, "", "one run each"),
    [STEPS] = DPF_PARAM_LIST_F("steps", DPF_TYPE_REAL_LIST, "", 0, INFINITY, DPF_PARAM_OPEN_HI, "", ""),
};

static int bind(struct config *config, struct config_values *values, struct dpf_error *error)
{
    return config_bind(config, "s", table, N_PARAMS, sizeof table[0], "mechanism laplace", 1, values, error);
}

TEST(gives_defaults)
{
    struct config *config = support_parse("");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(bind(config, &values, &error), 0);
    const dpf_value *v = values.params.values;
    assert_int_equal(values.params.size, sizeof(dpf_params));
    assert_int_equal(values.params.n_values, N_PARAMS);
    assert_string_equal(values.section, "s");
    assert_ptr_equal(values.table, table);
    for (int i = 0; i < N_PARAMS; i++) {
        assert_int_equal(v[i].is_set, 0);
        assert_int_equal(v[i].type, table[i].type);
    }
    assert_true(v[BUDGET].real == 1.0);
    assert_int_equal(v[ROUNDS].integer, 10);
    assert_int_equal(v[EXACT].integer, 1);
    assert_int_equal(v[FLAG].integer, 1);
    assert_string_equal(v[NAME].text, "none");
    assert_string_equal(v[FILE_].text, "");
    assert_int_equal(v[SEEDS].count, 3);
    assert_int_equal(v[SEEDS].integers[2], 3);
    assert_int_equal(v[STEPS].count, 0);
    config_values_free(&values);
    config_values_free(&values);
    config_free(config);
}

TEST(gives_typed_values)
{
    struct config *config = support_parse("[s]\nepsilon = 2.5e-1\nrate = 1\nrounds = 1e6\nprecision = exact\n"
                                          "flag = off\nname =\npath = /abs/x\nseeds = 5, 8 .. 10,1e3\n"
                                          "steps = 0.5,1e-3 , 2\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(bind(config, &values, &error), 0);
    const dpf_value *v = values.params.values;
    for (int i = 0; i < N_PARAMS; i++)
        assert_int_equal(v[i].is_set, 1);
    assert_true(v[BUDGET].real == 0.25);
    assert_true(v[RATE].real == 1);
    assert_int_equal(v[ROUNDS].integer, 1000000);
    assert_int_equal(v[EXACT].integer, 0);
    assert_int_equal(v[FLAG].integer, 0);
    assert_string_equal(v[NAME].text, "");
    assert_string_equal(v[FILE_].text, "/abs/x");
    static const int64_t seeds[] = {5, 8, 9, 10, 1000};
    assert_int_equal(v[SEEDS].count, 5);
    assert_memory_equal(v[SEEDS].integers, seeds, sizeof seeds);
    assert_int_equal(v[STEPS].count, 3);
    assert_true(v[STEPS].reals[0] == 0.5);
    assert_true(v[STEPS].reals[1] == 1e-3);
    assert_true(v[STEPS].reals[2] == 2);
    assert_int_equal(config_check_consumed(config, NULL, 0, &error), 0);
    /* Values outlive the configuration. */
    config_free(config);
    assert_string_equal(v[FILE_].text, "/abs/x");
    config_values_free(&values);
}

/* An empty value takes back a path or a list that an included file has set: the default is none. */
TEST(empty_values_are_defaults)
{
    struct config *config = support_parse("[s]\nepsilon = 1\nrate = 1\npath =\nsteps =\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(bind(config, &values, &error), 0);
    assert_string_equal(values.params.values[FILE_].text, "");
    assert_int_equal(values.params.values[STEPS].count, 0);
    assert_int_equal(values.params.values[FILE_].is_set, 0);
    assert_int_equal(config_check_consumed(config, NULL, 0, &error), 0);
    config_values_free(&values);
    config_free(config);
}

/* Each line fails with exactly this message after "t.ini:2: ". */
static const struct {
    const char *line;
    const char *message;
} bad_values[] = {
    {"epsilon = -1", "[s] epsilon = -1: must be > 0 (pure-DP budget of a release)"},
    {"epsilon = 0", "[s] epsilon = 0: must be > 0 (pure-DP budget of a release)"},
    {"epsilon = 1 2", "[s] epsilon = 1 2: must be a number, written like 0.5 or 1e-6 (pure-DP budget of a "
                      "release)"},
    {"epsilon = nan", "[s] epsilon = nan: must be a number, written like 0.5 or 1e-6 (pure-DP budget of a "
                      "release)"},
    {"epsilon = 1,5", "[s] epsilon = 1,5: must be a number, written like 0.5 or 1e-6 (pure-DP budget of a "
                      "release)"},
    {"epsilon = ", "[s] epsilon = : a value is missing (pure-DP budget of a release)"},
    {"rate = 0", "[s] rate = 0: must lie in (0, 1] (share of users)"},
    {"rate = inf", "[s] rate = inf: must lie in (0, 1] (share of users)"},
    {"rate = 1.0000001", "[s] rate = 1.0000001: must lie in (0, 1] (share of users)"},
    {"rounds = 0", "[s] rounds = 0: must lie in [1, 1000000] rounds (how often)"},
    {"rounds = 1.5", "[s] rounds = 1.5: must be an integer (how often)"},
    {"rounds = 1e-1", "[s] rounds = 1e-1: must be an integer (how often)"},
    {"rounds = inf", "[s] rounds = inf: must be an integer (how often)"},
    {"rounds = 1e30", "[s] rounds = 1e30: must be an integer (how often)"},
    {"rounds = 0x10", "[s] rounds = 0x10: must be an integer (how often)"},
    {"precision = exakt", "[s] precision = exakt: must be one of: exact, float; did you mean \"exact\"?"},
    {"precision = 7", "[s] precision = 7: must be one of: exact, float"},
    {"flag = maybe", "[s] flag = maybe: must be yes or no"},
    {"seeds = 1,,2", "[s] seeds = 1,,2: element 2, \"\": is empty; write 1, 2, 3"},
    {"seeds = 1,", "[s] seeds = 1,: element 2, \"\": is empty; write 1, 2, 3"},
    {"seeds = 1, -2", "[s] seeds = 1, -2: element 2, \"-2\": must lie in [0, 1000000000] (one run each)"},
    {"seeds = 5..1", "[s] seeds = 5..1: element 1, \"5..1\": a range goes upwards: 1..5"},
    {"seeds = 1..1000000000",
     "[s] seeds = 1..1000000000: element 1, \"1..1000000000\": has too many elements (limit 100000)"},
    {"seeds = 1..", "[s] seeds = 1..: element 1, \"1..\": must be an integer (one run each)"},
    {"steps = 1, inf", "[s] steps = 1, inf: element 2, \"inf\": must be finite and >= 0"},
    {"steps = 1..3", "[s] steps = 1..3: element 1, \"1..3\": must be a number, written like 0.5 or 1e-6"},
    {"epsilno = 1", "unknown key \"epsilno\" in [s] of mechanism laplace; did you mean \"epsilon\"?"},
    {"zzz = 1", "unknown key \"zzz\" in [s] of mechanism laplace; its keys are: epsilon, rate, rounds, "
                "precision, flag, name, path, seeds, steps"},
};

TEST(refuses_bad_values)
{
    for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; i++) {
        char text[200], message[400];
        snprintf(text, sizeof text, "[s]\n%s\n", bad_values[i].line);
        snprintf(message, sizeof message, "t.ini:2: %s", bad_values[i].message);
        struct config *config = support_parse(text);
        struct dpf_error error = {0};
        struct config_values values;
        assert_int_equal(bind(config, &values, &error), -1);
        assert_string_equal(error.text, message);
        assert_int_equal(error.fault, DPF_FAULT_CONFIG);
        assert_null(values.storage);
        config_values_free(&values);
        config_free(config);
    }
}

TEST(integers_are_exact)
{
    static const struct {
        const char *text;
        int64_t value; /* 0: refused */
    } cases[] = {{"9007199254740993", INT64_C(9007199254740993)},
                 {"9007199254740993e0", INT64_C(9007199254740993)},
                 {"9223372036854775807", INT64_MAX},
                 {"-9.223372036854775808e18", INT64_MIN},
                 {"9.223372036854775808e18", 0},
                 {"2.50e2", 250},
                 {"1200e-2", 12},
                 {"125e-2", 0},
                 {"0.99999999999999999999", 0},
                 {"3.000", 3}};
    static const dpf_param any[] = {DPF_PARAM_INT_F("n", 0, -INFINITY, INFINITY, 0, "", "")};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "[s]\nn = %s\n", cases[i].text);
        struct config *config = support_parse(text);
        struct dpf_error error = {0};
        struct config_values values;
        int status = config_bind(config, "s", any, 1, sizeof any[0], NULL, 1, &values, &error);
        assert_int_equal(status, cases[i].value == 0 ? -1 : 0);
        if (status == 0)
            assert_true(values.params.values[0].integer == cases[i].value);
        config_values_free(&values);
        config_free(config);
    }
}

/* Bounds beyond 2^53 must not be blurred by float64. */
TEST(integer_bounds_are_exact)
{
    static const dpf_param seed[] = {DPF_PARAM_INT_F("n", 0, 0, 9007199254740992.0, 0, "", "")};
    struct config *config = support_parse("[s]\nn = 9007199254740993\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(config_bind(config, "s", seed, 1, sizeof seed[0], NULL, 1, &values, &error), -1);
    config_free(config);
}

TEST(infinity_needs_a_closed_infinite_bound)
{
    struct config *config = support_parse("[s]\nepsilon = inf\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(bind(config, &values, &error), 0);
    assert_true(isinf(values.params.values[BUDGET].real));
    config_values_free(&values);
    config_free(config);
}

TEST(required_keys_are_asked_for)
{
    static const dpf_param required[] = {
        DPF_PARAM_TEXT_F("file", DPF_TYPE_STRING, NULL, DPF_PARAM_REQUIRED, "where records are")};
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"[a]\nx=1\n[s]\n", "t.ini:3: [s]: the key \"file\" is missing: loss x needs it (where records are)"},
        {"", "t.ini: [s]: the key \"file\" is missing: loss x needs it (where records are)"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct config *config = support_parse(cases[i].text);
        struct dpf_error error = {0};
        struct config_values values;
        assert_int_equal(
            config_bind(config, "s", required, 1, sizeof required[0], "loss x", 1, &values, &error), -1);
        assert_string_equal(error.text, cases[i].message);
        config_free(config);
    }
}

TEST(a_wide_stride_is_followed)
{
    struct {
        dpf_param param;
        char more[24];
    } wide[2] = {{DPF_PARAM_INT_F("a", 1, 0, 9, 0, "", ""), ""},
                 {DPF_PARAM_INT_F("b", 2, 0, 9, 0, "", ""), ""}};
    struct config *config = support_parse("[s]\nb = 7\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(config_bind(config, "s", &wide[0].param, 2, sizeof wide[0], NULL, 1, &values, &error),
                     0);
    assert_int_equal(values.params.values[0].integer, 1);
    assert_int_equal(values.params.values[1].integer, 7);
    config_values_free(&values);
    config_free(config);
}

TEST(a_bad_table_is_the_plugins_fault)
{
    static const dpf_param bad[] = {
        DPF_PARAM_LIST_F("l", DPF_TYPE_INT_LIST, "1, x", 0, 9, 0, "", ""),
        DPF_PARAM_ENUM_F("e", 5, precisions, 0, ""),
    };
    struct config *config = support_parse("");
    for (int i = 0; i < 2; i++) {
        struct dpf_error error = {0};
        struct config_values values;
        assert_int_equal(config_bind(config, "s", &bad[i], 1, sizeof bad[0], "loss x", 1, &values, &error),
                         -1);
        assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
    }
    static const dpf_param unknown[] = {DPF_PARAM_TEXT_F("u", 99, "", 0, "")};
    struct config *set = support_parse("[s]\nu = 1\n");
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(config_bind(set, "s", unknown, 1, sizeof unknown[0], NULL, 1, &values, &error), -1);
    support_assert_contains(error.text, "type 99");
    config_free(set);
    config_free(config);
}

TEST_WITH(paths_follow_their_file, support_enter, support_leave)
{
    char expected[300];
    support_write("sub/base.ini", "[s]\npath = data/x.csv\n");
    support_write("main.ini", "include = sub/base.ini\n");
    const char *override = "s.path=./y.csv";
    for (int i = 0; i < 2; i++) {
        struct dpf_error error = {0};
        struct config *config = config_load("main.ini", &override, i, &error);
        assert_non_null(config);
        struct config_values values;
        assert_int_equal(bind(config, &values, &error), 0);
        char here[200];
        assert_non_null(getcwd(here, sizeof here));
        snprintf(expected, sizeof expected, "%s/%s", here, i ? "y.csv" : "sub/data/x.csv");
        assert_string_equal(values.params.values[FILE_].text, expected);
        config_values_free(&values);
        config_free(config);
    }
}

TEST(hostile_text_is_shown_safely)
{
    char text[300];
    int head = snprintf(text, sizeof text, "[s]\nprecision = ");
    memset(text + head, 'w', 170);
    strcpy(text + head + 170, "\n");
    struct config *config = support_parse(text);
    struct dpf_error error = {0};
    struct config_values values;
    assert_int_equal(bind(config, &values, &error), -1);
    support_assert_contains(error.text, "www...: must be one of: exact, float");
    assert_true(strlen(error.text) < 200);
    config_free(config);
}

TEST(nothing_is_silently_ignored)
{
    static const char *const known[] = {"run", "items", "users"};
    static const dpf_param items[] = {DPF_PARAM_TEXT_F("mechanism", DPF_TYPE_STRING, "", 0, ""),
                                      DPF_PARAM_INT_F("synthetic.users", 1, 0, 9, 0, "", "")};
    static const struct {
        const char *text;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {"[items]\nmechanism = x\n[users]\n", NULL},
        {"[items]\nmechanizm = x\n",
         "t.ini:2: unknown key \"mechanizm\" in [items]; did you mean \"mechanism\"?"},
        {"[items]\nfoo = x\n",
         "t.ini:2: unknown key \"foo\" in [items]; \"dpframe describe items\" lists the "
         "keys"},
        {"[itmes]\nmechanism = x\n", "t.ini:1: unknown section [itmes]; did you mean [items]?"},
        {"[run]\n[itmes]\n", "t.ini:2: unknown section [itmes]; did you mean [items]?"},
        {"[items.mechanizm]\ne = 1\n", "t.ini:1: unknown section [items.mechanizm]; did you mean the key "
                                       "\"mechanism\" of [items]?"},
        {"[items.mechanism]\ne = 1\n", "t.ini:1: nothing reads [items.mechanism]: set \"mechanism\" in "
                                       "[items], or remove the section"},
        {"[items.mechanism]\n", NULL},
        {"[qqqqqqqqqq]\n", "t.ini:1: nothing reads the section [qqqqqqqqqq]: remove it, or set the component "
                           "that it belongs to"},
        {"[run]\nread = 1\n", NULL},
        {"[run]\nread = 1\nraed = 2\n", "t.ini:3: unknown key \"raed\" in [run]; \"dpframe describe run\" "
                                        "lists the keys"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config *config = support_parse(cases[i].text);
        struct dpf_error error = {0};
        struct config_values values;
        assert_int_equal(config_bind(config, "items", items, 2, sizeof items[0], NULL, 0, &values, &error),
                         0);
        config_consume(config, "run", "read");
        config_consume(config, "run", "absent");
        int status = config_check_consumed(config, known, 3, &error);
        assert_int_equal(status, cases[i].message ? -1 : 0);
        assert_string_equal(error.text, cases[i].message ? cases[i].message : "");
        config_values_free(&values);
        config_free(config);
    }
}

TEST_WITH(a_mistyped_override_is_found, support_enter, support_leave)
{
    static const char *const known[] = {"data"};
    static const dpf_param data[] = {DPF_PARAM_INT_F("synthetic.users", 1, 0, 9, 0, "", "")};
    static const char *const overrides[] = {"data.synthetic.usres=3", "data.synthetic.users=4"};
    support_write("main.ini", "");
    for (int i = 0; i < 2; i++) {
        struct dpf_error error = {0};
        struct config *config = config_load("main.ini", &overrides[i], 1, &error);
        struct config_values values;
        assert_int_equal(config_bind(config, "data", data, 1, sizeof data[0], NULL, 1, &values, &error), 0);
        assert_int_equal(values.params.values[0].integer, i ? 4 : 1);
        assert_int_equal(config_check_consumed(config, known, 1, &error), i ? 0 : -1);
        if (i == 0)
            assert_string_equal(error.text,
                                "-o \"data.synthetic.usres=3\": unknown key "
                                "\"data.synthetic.usres\"; did you mean \"data.synthetic.users\"?");
        config_values_free(&values);
        config_free(config);
    }
}

TEST(errors_say_where)
{
    struct config *config = support_parse("[a]\nx = 1\n[b]\n");
    static const struct {
        const char *section;
        const char *key;
        const char *message;
    } cases[] = {{"a", "x", "t.ini:2: [a] x = 1: no 7"},
                 {"a", "y", "t.ini:1: [a] y: no 7"},
                 {"b", NULL, "t.ini:3: [b]: no 7"},
                 {"c", "z", "t.ini: [c] z: no 7"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpf_error error = {0};
        assert_int_equal(config_error(config, cases[i].section, cases[i].key, &error, "no %d", 7), -1);
        assert_string_equal(error.text, cases[i].message);
        assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    }
    config_free(config);
}

/* Values carry the place: whoever has them needs no configuration for a message. */
TEST(values_say_where_they_were_read)
{
    struct config *config = support_parse("[s]\nrate = .25\n");
    struct config_values values, by_hand = {.section = (char *)(uintptr_t) "s"};
    struct dpf_error error = {0};
    assert_int_equal(bind(config, &values, &error), 0);
    assert_int_equal(config_value_error(&values, "rate", &error, "no %d", 7), -1);
    assert_string_equal(error.text, "t.ini:2: [s] rate = .25: no 7");
    assert_string_equal(error.key, "s.rate");
    error = (struct dpf_error){0};
    assert_int_equal(config_value_error(&values, "epsilon", &error, "no 7"), -1);
    assert_string_equal(error.text, "t.ini:1: [s] epsilon: no 7");
    error = (struct dpf_error){0};
    assert_int_equal(config_value_error(&by_hand, "rate", &error, "no 7"), -1);
    assert_string_equal(error.text, "[s] rate: no 7");
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    config_values_free(&values);
    config_free(config);
}
