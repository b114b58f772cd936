/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_fixture.h"
#include "kit/plain_scores.h"
#include "kit/goodness.h"

/* ---- noise -----------------------------------------------------------------------------------------------
 */

/* All releases together are one Gaussian mechanism of the stated multiplier: with a release of the tail too.
 */
TEST(noise_follows_the_budget)
{
    static const char *const configured[2] = {"noise-multiplier=2; count-share=0.2; form=gram; items=40",
                                              "noise-multiplier=2; count-share=0.2; form=gram; items=30"};
    struct plain_host host;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    dpf_recommender_setup setup = setup_of(&gram_data);
    int32_t n = 0;
    for (int c = 0; c < 2; c++) {
        plain_open_random(&host, gram_component, configured[c]);
        for (int twice = 0; twice < 2; twice++) {
            setup.noise_factor = twice ? 2 : 1;
            stated(&host, &setup, 2 + c, releases);
            double mu2 = 0;
            for (int r = 0; r < 2 + c; r++) {
                const dpf_event *event = &releases[r].event;
                const double per = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2 / event->scale;
                assert_int_equal(event->kind, DPF_EVENT_DISCRETE_GAUSSIAN);
                assert_true(event->scale / event->grid == floor(event->scale / event->grid));
                mu2 += per * per;
                assert_true(releases[r].reads == DPF_READS_OWN_RECORDS);
                assert_true(releases[r].noise_where == DPF_NOISE_AT_SUM);
            }
            const double z = twice ? 4 : 2;
            assert_true(mu2 <= 1 / (z * z));
            assert_true(mu2 > 0.9999 / (z * z));
        }
        setup.without_noise = 1;
        stated(&host, &setup, 2 + c, releases);
        for (int r = 0; r < 2 + c; r++)
            assert_true(releases[r].event.kind == DPF_EVENT_NON_PRIVATE);
        setup.without_noise = 0;
        plain_close(&host);
    }
    static const char *const refused[2] = {"noise-multiplier=1e8",
                                           "count-share=0.5; tail-share=0.5; form=gram; items=5"};
    setup = setup_of(&gram_data);
    for (int c = 0; c < 2; c++) {
        plain_open_random(&host, gram_component, refused[c]);
        assert_int_equal(gram_recommender->releases(host.self, &setup, releases, GRAM_MOST_RELEASES, &n),
                         DPF_E_RANGE);
        plain_close(&host);
    }
}

/* With exponent 0 the columns do not depend on the noise of the counts: what leaves, less the sums, is noise.
 */
TEST(noise_has_the_planned_variance)
{
    static struct seen seen;
    static int64_t sums[ITEMS * ITEMS], counts[ITEMS];
    struct plain_host host;
    struct columns_case c;
    const struct gram_plan plan = plan_of(&gram_data, FORM_GRAM);
    double squares[3] = {0}, n[3] = {0};
    plain_open_random(&host, gram_component, "form=gram; items=40; weight-exponent=0");
    make_columns(&c, 1);
    for (int k = 0; k < ITEMS; k++)
        c.weight[k] = 1;
    c.columns.bits = plan.second.bits;
    gram_sum_pairs(call_with(&host, 1, 0), &gram_data.records, &c.columns, sums);
    gram_sum_counts(plain_call(&host), &gram_data.records, plan.counts.bits, counts);
    for (uint32_t draw = 0; draw < 60; draw++) {
        free(fit_seen(&host, &gram_data, 0, draw, &seen, NULL));
        for (int64_t i = 0; i < ITEMS; i++) {
            squares[0] += pow(
                (seen.numbers[0][i] / plan.counts.grid - (double)counts[i]) / (double)plan.counts.steps, 2);
            n[0]++;
            for (int64_t j = i; j < ITEMS; j++) {
                const double noise =
                    seen.numbers[1][i * ITEMS + j] / plan.second.grid - (double)sums[i * ITEMS + j];
                const double scale = (double)(i == j ? plan.second.steps_diag : plan.second.steps);
                squares[i == j ? 1 : 2] += noise / scale * (noise / scale);
                n[i == j ? 1 : 2]++;
            }
        }
    }
    static const char *const names[3] = {"counts", "diagonal", "pairs"};
    for (int k = 0; k < 3; k++)
        goodness_assert((squares[k] - n[k]) / sqrt(2 * n[k]), names[k], 3);
    plain_close(&host);
}

TEST(the_tails_noise_has_the_planned_variance)
{
    static struct seen seen;
    struct plain_host host;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&gram_data);
    double n = 0;
    plain_open_random(&host, gram_component, "form=gram; items=30; noise-multiplier=0.5");
    stated(&host, &setup, 3, releases);
    seen.noise = 0;
    for (uint32_t draw = 0; draw < 40; draw++) {
        free(fit_seen(&host, &gram_data, 0, draw, &seen, NULL));
        n += (double)seen.n[2];
    }
    assert_true(n > 400);
    const double scale = releases[2].event.scale;
    goodness_assert((seen.noise / (scale * scale) - n) / sqrt(2 * n), "tail", 1);
    plain_close(&host);
}

/* ---- the model
 * --------------------------------------------------------------------------------------------- */

/* Solves a x = b in place by Gauss and Jordan. */
static void invert(double a[ITEMS][ITEMS], double out[ITEMS][ITEMS])
{
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            out[i][j] = i == j;
    for (int k = 0; k < ITEMS; k++) {
        const double pivot = a[k][k];
        for (int j = 0; j < ITEMS; j++) {
            a[k][j] /= pivot;
            out[k][j] /= pivot;
        }
        for (int i = 0; i < ITEMS; i++) {
            const double factor = i == k ? 0 : a[i][k];
            for (int j = 0; j < ITEMS; j++) {
                a[i][j] -= factor * a[k][j];
                out[i][j] -= factor * out[k][j];
            }
        }
    }
}

/* Without noise: EASE by its formula, from the Gram and the ridge that the state says; a projection would lose what
   noise does not hide, so it is the Gram in either form. */
static void expect_ease(const char *settings)
{
    static struct seen seen;
    static double g[ITEMS][ITEMS], p[ITEMS][ITEMS], diagonal[ITEMS];
    struct plain_host host;
    float got[ITEMS] = {0};
    double mean = 0;
    plain_open_random(&host, gram_component, settings);
    void *bytes = fit_seen(&host, &gram_data, 1, 0, &seen, NULL);
    for (int i = 0; i < ITEMS; i++)
        for (int j = i; j < ITEMS; j++)
            g[i][j] = g[j][i] = seen.numbers[1][i * ITEMS + j];
    for (int i = 0; i < ITEMS; i++)
        mean += (diagonal[i] = g[i][i]) / ITEMS;
    for (int i = 0; i < ITEMS; i++)
        g[i][i] += 0.5 * mean;
    invert(g, p);
    for (int32_t u = 0; u < USERS; u += 11) {
        const dpf_scoring scoring = {sizeof scoring, u, &gram_data.records, bytes, got};
        assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
        int64_t n = gram_data.offsets[u + 1] - gram_data.offsets[u];
        for (int j = 0; j < ITEMS; j++) {
            double expected = 0;
            for (int64_t i = gram_data.offsets[u]; i < gram_data.offsets[u + 1]; i++)
                if (gram_data.items[i] != j)
                    expected -= p[gram_data.items[i]][j] / p[j][j] / sqrt((double)n);
            if (!(fabs(expected - (double)got[j]) < 1e-4 * (1 + fabs(expected))))
                fail_msg("user %d, item %d: %.6f, not %.6f", (int)u, j, (double)got[j], expected);
        }
    }
    free(bytes);
    plain_close(&host);
}

TEST(without_noise_it_is_ease)
{
    expect_ease("weight-exponent=0; ridge=0.5; diagonal=0; rescale=0; items=40; form=gram");
}

TEST(without_noise_a_projection_is_ease)
{
    expect_ease("weight-exponent=0; ridge=0.5; diagonal=0; rescale=0; items=40; form=projected");
}

/* Items of a user's own taste come first on average, with little noise; in both forms. */
TEST(tastes_are_told_apart)
{
    static const char *const forms[2] = {"form=gram; noise-multiplier=0.05",
                                         "form=projected; noise-multiplier=0.05"};
    static const dpf_feature_column taste[2] = {
        {.name = "even", .kind = DPF_FEATURE_CATEGORY, .mean = 0.5, .deviation = 1},
        {.name = "odd", .kind = DPF_FEATURE_CATEGORY, .mean = 0.5, .deviation = 1}};
    int64_t offsets[ITEMS + 1];
    int32_t at[ITEMS];
    float values[ITEMS], got[ITEMS] = {0};
    for (int i = 0; i < ITEMS; i++) {
        offsets[i + 1] = i + 1;
        at[i] = i % 2;
        values[i] = 1;
    }
    offsets[0] = 0;
    const dpf_features features = {sizeof features, 1, ITEMS, 2, offsets, at, values, taste};
    static struct data with;
    with = gram_data;
    index_data(&with, -1, 0);
    with.records.item_features = &features;
    for (int form = 0; form < 2; form++) {
        struct plain_host host;
        plain_open_random(&host, gram_component, forms[form]);
        void *bytes = fit_seen(&host, &with, 0, 0, NULL, NULL);
        double margin = 0;
        for (int32_t u = 0; u < USERS; u++) {
            const dpf_scoring scoring = {sizeof scoring, u, &with.records, bytes, got};
            assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
            for (int j = 0; j < ITEMS && u % 10; j++)
                if (!with.has[u][j])
                    margin += u % 2 == j % 2 ? (double)got[j] : -(double)got[j];
        }
        assert_true(margin > 1);
        free(bytes);
        plain_close(&host);
    }
}

/* How much better items of a user's own taste score, of those without a column. */
static double margin_of_the_tail(const char *params)
{
    struct plain_host host;
    float got[ITEMS] = {0};
    double margin = 0;
    plain_open_random(&host, gram_component, params);
    void *bytes = fit_seen(&host, &gram_data, 0, 0, NULL, NULL);
    const struct ease_state model = ease_state_at(bytes);
    for (int32_t u = 0; u < USERS; u++) {
        const dpf_scoring scoring = {sizeof scoring, u, &gram_data.records, bytes, got};
        assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
        for (int j = 0; j < ITEMS && u % 10; j++)
            if (model.column[j] < 0)
                margin += u % 2 == j % 2 ? (double)got[j] : -(double)got[j];
    }
    free(bytes);
    plain_close(&host);
    return margin;
}

/* Their own release tells what counts alone do not. */
TEST(items_without_a_column_are_told_apart)
{
    assert_true(margin_of_the_tail("form=gram; items=24; noise-multiplier=0.05; tail-share=0.1") >
                margin_of_the_tail("form=gram; items=24; noise-multiplier=0.05; tail-share=0") + 1);
}

/* The same releases; scores are divided by the released popularity, and by no popularity below a fiftieth. */
TEST(popularity_is_discounted_after_the_release)
{
    static const char *const params[] = {"form=gram; items=24; noise-multiplier=2",
                                         "form=gram; items=24; noise-multiplier=2; popularity-discount=0.5"};
    static float got[2][ITEMS];
    static struct seen seen[2];
    for (int with = 0; with < 2; with++) {
        struct plain_host host;
        plain_open_random(&host, gram_component, params[with]);
        void *bytes = fit_seen(&host, &gram_data, 0, 0, &seen[with], NULL);
        const dpf_scoring scoring = {sizeof scoring, 3, &gram_data.records, bytes, got[with]};
        assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
        const struct ease_state model = ease_state_at(bytes);
        for (int j = 0; j < ITEMS && with; j++) {
            const double p = fmax((double)model.popularity[j], 0.02);
            assert_true(fabs((double)got[1][j] - (double)got[0][j] / sqrt(p)) <
                        1e-5 * (1 + fabs((double)got[1][j])));
        }
        free(bytes);
        plain_close(&host);
    }
    assert_memory_equal(seen[0].numbers, seen[1].numbers, sizeof seen[0].numbers);
}

TEST(nobody_and_nothing_are_no_faults)
{
    static struct data empty;
    struct plain_host host;
    float got[ITEMS] = {0};
    empty = gram_data;
    memset(empty.has, 0, sizeof empty.has);
    empty.has[0][0] = 1;
    index_data(&empty, -1, 0);
    plain_open_random(&host, gram_component, "form=gram; noise-multiplier=20");
    uint64_t used = 0;
    void *bytes = fit_seen(&host, &empty, 0, 0, NULL, &used);
    const dpf_scoring scoring = {sizeof scoring, 5, &empty.records, bytes, got};
    assert_int_equal(plain_scores(&host, &scoring), DPF_OK);
    for (int j = 0; j < ITEMS; j++)
        assert_true(isfinite(got[j]));
    free(bytes);
    plain_close(&host);
}

FIXTURE(gram_open, gram_close)
