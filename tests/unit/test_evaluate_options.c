/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/evaluate_options.h"

#include "kit/evaluate_fixture.h"

static void refuses(struct fixture_options *options, const char *key, const char *say)
{
    struct evaluate_options read;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    assert_int_equal(evaluate_options_read(&options->values, 0, &read, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    if (!strstr(error.text, key) || !strstr(error.text, say))
        fail_msg("\"%s\" says neither %s nor %s", error.text, key, say);
    error.fault = DPF_FAULT_NONE;
    assert_int_equal(evaluate_check(&options->values, 0, -(double)INFINITY, (double)INFINITY, &error), -1);
}

TEST(refuses_what_bounds_cannot)
{
    static const int64_t twice[] = {10, 5, 10}, falling[] = {25, 50, 50};
    static const struct {
        const char *metrics;
        const char *say;
    } wrong[] = {
        {"rmse,ndgc", "did you mean \"ndcg\"?"},
        {"rmse,,mae", "missing"},
        {"", "missing"},
        {"rmse,mae,", "missing"},
        {"hr,rmse,hr", "twice"},
        {"mae@10", "has no cut-off"},
        {"auto,rmse", "auto"},
    };
    struct fixture_options options;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fixture_defaults(&options);
        fixture_text(&options, "metrics", wrong[i].metrics);
        refuses(&options, "metrics", wrong[i].say);
    }
    char endless[400];
    memset(endless, 'x', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    fixture_defaults(&options);
    fixture_text(&options, "metrics", endless);
    refuses(&options, "metrics", "no metric");
    fixture_defaults(&options);
    fixture_list(&options, "k", twice, 3);
    refuses(&options, "k", "10 is listed twice");
    fixture_list(&options, "k", twice, 0);
    refuses(&options, "k", "at least one");
    fixture_defaults(&options);
    fixture_list(&options, "activity-bands", falling, 3);
    refuses(&options, "activity-bands", "50 follows 50");
    fixture_defaults(&options);
    fixture_option(&options, "negatives")->integer = 50;
    refuses(&options, "negatives", "sampled");
}

TEST(automatic_metrics_follow_the_feedback)
{
    struct fixture_options options;
    struct evaluate_options explicit_read, implicit_read;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    fixture_defaults(&options);
    assert_int_equal(evaluate_options_read(&options.values, 0, &explicit_read, &error), 0);
    assert_int_equal(evaluate_options_read(&options.values, 1, &implicit_read, &error), 0);
    assert_true(evaluate_options_chosen(&explicit_read, METRIC_RMSE));
    assert_true(evaluate_options_chosen(&explicit_read, METRIC_MAE));
    assert_true(evaluate_options_chosen(&explicit_read, METRIC_NDCG));
    assert_false(evaluate_options_rate(&implicit_read));
    assert_true(evaluate_options_chosen(&implicit_read, METRIC_NDCG));
    assert_int_equal(explicit_read.n_chosen, implicit_read.n_chosen + 2);
    assert_int_equal(evaluate_check(&options.values, 0, -(double)INFINITY, (double)INFINITY, &error), 0);
}

/* Through the parser, as a run does it: defaults, lists, and a message that names the line. */
TEST(binds_like_any_section)
{
    static const char text[] = "[evaluate]\nmetrics = hr, ndcg\nk = 5, 20\nrelevance-threshold = 4\n";
    static const char wrong[] = "[evaluate]\nk = 5\nmetrics = recal\n";
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct evaluate_options options;
    struct config_values values;
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    struct config *config = config_parse("a.ini", text, sizeof text - 1, &error);
    assert_non_null(config);
    if (config_bind(config, "evaluate", table, n, (int64_t)sizeof *table, NULL, 1, &values, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(evaluate_options_read(&values, 0, &options, &error), 0);
    assert_int_equal(options.n_chosen, 2);
    assert_int_equal(options.largest_cutoff, 20);
    assert_int_equal(options.n_bands, 0);
    assert_true(options.relevance == 4);
    assert_true(options.negatives == 99);
    assert_true(options.mask_seen);
    config_values_free(&values);
    config_free(config);

    config = config_parse("b.ini", wrong, sizeof wrong - 1, &error);
    assert_non_null(config);
    assert_int_equal(
        config_bind(config, "evaluate", table, n, (int64_t)sizeof *table, NULL, 1, &values, &error), 0);
    assert_int_equal(evaluate_check(&values, 0, -(double)INFINITY, (double)INFINITY, &error), -1);
    assert_non_null(strstr(error.text, "b.ini:3"));
    assert_non_null(strstr(error.text, "\"recall\"?"));
    config_values_free(&values);
    config_free(config);
}

/* "hr@10", as results call it, sets the cut-offs where k does not; what contradicts k is refused. */
TEST(names_may_have_cutoffs)
{
    static const struct {
        const char *text, *refused; /* NULL: taken */
        int metrics, cutoffs, largest;
    } cases[] = {
        {"metrics = hr@10, ndcg@10\n", NULL, 2, 1, 10},
        {"metrics = hr@5, hr@20, ndcg\n", NULL, 2, 2, 20},
        {"metrics = ndcg, hr@5\nk = 3, 5\n", NULL, 2, 2, 5},
        {"metrics = hr@7\nk = 3, 5\n", "the cut-off 7, which k does not list", 0, 0, 0},
        {"metrics = rmse@10\n", "this metric has no cut-off; write rmse", 0, 0, 0},
        {"metrics = hr@ten\n", "a cut-off is a number from 1", 0, 0, 0},
        {"metrics = hr@0\n", "a cut-off is a number from 1", 0, 0, 0},
        {"metrics = hitrate@10\n", "there is no metric \"hitrate@10\"", 0, 0, 0},
    };
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpf_error error = {.fault = DPF_FAULT_NONE};
        struct evaluate_options options;
        struct config_values values;
        char text[128];
        const int length = snprintf(text, sizeof text, "[evaluate]\n%s", cases[i].text);
        struct config *config = config_parse("c.ini", text, (size_t)length, &error);
        assert_non_null(config);
        assert_int_equal(
            config_bind(config, "evaluate", table, n, (int64_t)sizeof *table, NULL, 1, &values, &error), 0);
        const int status = evaluate_options_read(&values, 0, &options, &error);
        if (status != (cases[i].refused ? -1 : 0) || (status && !strstr(error.text, cases[i].refused)))
            fail_msg("%s: %d, %s", cases[i].text, status, error.text);
        if (status == 0 && (options.n_chosen != cases[i].metrics || options.n_cutoffs != cases[i].cutoffs ||
                            options.largest_cutoff != cases[i].largest))
            fail_msg("%s: %d metrics, %d cut-offs", cases[i].text, options.n_chosen, (int)options.n_cutoffs);
        config_values_free(&values);
        config_free(config);
    }
}

/* The table documents itself: names are unique, every entry has help, defaults lie within bounds. */
TEST(parameters_are_complete)
{
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    for (int64_t i = 0; i < n; i++) {
        assert_true(strlen(table[i].help) > 20);
        for (int64_t j = 0; j < i; j++)
            assert_string_not_equal(table[i].name, table[j].name);
        if (table[i].type == DPF_TYPE_ENUM) {
            assert_true(table[i].n_values >= 2);
            assert_true(table[i].default_integer < table[i].n_values);
        }
        for (int64_t v = 0; table[i].type == DPF_TYPE_ENUM && v < table[i].n_values; v++)
            assert_non_null(table[i].values[v].help);
    }
}

TEST(every_metric_states_its_convention)
{
    for (int id = 0; id < METRIC_COUNT; id++) {
        const char *name = metric_name((enum metric_id)id);
        char with_cutoff[64];
        snprintf(with_cutoff, sizeof with_cutoff, "%s@25", name);
        assert_int_equal(metric_by_name(name), id);
        assert_non_null(evaluate_convention(name));
        assert_ptr_equal(evaluate_convention(with_cutoff), evaluate_convention(name));
        int differs =
            strcmp(metric_convention((enum metric_id)id, 0), metric_convention((enum metric_id)id, 1)) != 0;
        assert_int_equal(differs, !metric_is_rating((enum metric_id)id));
    }
    assert_null(evaluate_convention("hit-rate"));
    assert_int_equal(metric_by_name("hr@10"), -1);
}
