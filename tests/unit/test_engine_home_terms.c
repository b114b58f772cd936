/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of scores that are made at home: the kernels of items, and what they add to lists and to values. */
#include <math.h>

#include "kit/data_support.h"
#include "base/memory.h"
#include "dpframe/privacy.h"
#include "score/home_loadings.h"
#include "score/lists.h"

#define ITEMS 6

static struct data_outcome films;

/* Titles, years and kinds of six films. */
static void load_films(void)
{
    char ini[256];
    data_write("a.txt", "1,1,5\n1,2,4\n2,3,3\n2,4,4\n3,5,1\n3,6,2\n");
    data_write("b.txt",
               "1::Alien (1979)::Horror|Sci-Fi\n2::Aliens (1986)::Horror\n3::Alien Nation (1988)::Sci-Fi\n"
               "4::Nation, The (1988)::Sci-Fi\n5::Toy Story (1995)::Comedy\n6::Toy Story 2 (1999)::Comedy\n");
    snprintf(ini, sizeof ini,
             "[data]\nformat=csv\npath=a.txt\nheader=no\nitem-features=b.txt\n"
             "item-features.format=movielens-1m\n");
    data_get(ini, &films);
}

static double kernel_of_words(const struct home_terms *home, int32_t a, int32_t b)
{
    return home_kernel_of_words(&home->kernels, a, b);
}

static double kernel_of_classes(const struct home_terms *home, int32_t a, int32_t b)
{
    const int32_t *of = home->kernels.classes.of_item;
    return a == b ? 0 : home_kernel_of_classes(&home->kernels, of[a], of[b]);
}

TEST_WITH(kernels_are_of_public_facts, data_enter, data_leave)
{
    static const double even[ITEMS] = {1, 1, 1, 1, 1, 1};
    struct home_terms home;
    struct dpf_error error = {0};
    load_films();
    const struct feature_table *features = &films.dataset.features;
    assert_int_equal(home_terms_open_lists(features, &films.dataset.words, ITEMS, even, &home, &error), 0);
    assert_true(fabs(kernel_of_words(&home, 0, 2) - 1 / log(3)) < 1e-6);
    assert_true(fabs(kernel_of_words(&home, 2, 3) - 1 / log(3)) < 1e-6);
    assert_true(fabs(kernel_of_words(&home, 4, 5) - 1.5) < 1e-6); /* toy and story: at most 1.5 */
    assert_true(kernel_of_words(&home, 0, 1) <= 0);               /* alien is not aliens */
    double deviation = 0;
    for (int64_t c = 0; c < features->columns; c++)
        if (features->column[c].kind == DPF_FEATURE_NUMBER)
            deviation = features->column[c].deviation;
    assert_true(deviation > 0);
    const double width = 0.24 * deviation;
    assert_true(fabs(kernel_of_classes(&home, 0, 2) - 0.5 * exp(-pow(9 / width, 2))) < 1e-6);
    assert_true(fabs(kernel_of_classes(&home, 4, 5) - exp(-pow(4 / width, 2))) < 1e-6);
    assert_true(kernel_of_classes(&home, 0, 4) <= 0);
    assert_int_equal(home.kernels.classes.of_item[2], home.kernels.classes.of_item[3]);
    assert_int_equal(home.kernels.classes.n, ITEMS - 1);
    for (int32_t a = 0; a < ITEMS; a++)
        for (int32_t b = 0; b < ITEMS; b++) {
            assert_true(fabs(kernel_of_words(&home, a, b) - kernel_of_words(&home, b, a)) < 1e-6);
            assert_true(fabs(kernel_of_classes(&home, a, b) - kernel_of_classes(&home, b, a)) < 1e-6);
        }
    home_terms_close(&home);
    dataset_free(&films.dataset);
}

static double deviation_of(const double *x, int n)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < n; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean) / n;
    return sqrt(squares);
}

/* The formula, over pairs. */
TEST_WITH(lists_follow_the_formula, data_enter, data_leave)
{
    static const double popularity[ITEMS] = {10, 5, 0, 2, 8, 1};
    static const int32_t own[2] = {2, 4};
    double p[ITEMS], words[ITEMS] = {0}, content[ITEMS] = {0}, work[64],
                     scores[ITEMS] = {0.1, 1.5, -0.2, 0.3, 0.9, 0}, before[ITEMS];
    struct home_terms home;
    struct dpf_error error = {0};
    load_films();
    assert_int_equal(home_terms_open_lists(&films.dataset.features, &films.dataset.words, ITEMS, popularity,
                                           &home, &error),
                     0);
    assert_true(home_terms_work(&home) <= 64);
    memcpy(before, scores, sizeof before);
    home_terms_lists(&home, own, 2, 0, work, scores);
    for (int i = 0; i < ITEMS; i++)
        p[i] = fmax(popularity[i] / 10, 0.02);
    for (int32_t i = 0; i < ITEMS; i++) {
        double expected = 0;
        for (int32_t j = 0; j < ITEMS; j++)
            expected += p[j] * kernel_of_classes(&home, j, i);
        for (int k = 0; k < 2; k++) {
            words[i] += kernel_of_words(&home, own[k], i);
            content[i] += kernel_of_classes(&home, own[k], i) / fmax(expected, 0.3);
        }
    }
    /* Of the four items without a record. */
    const double s = ((0.1 + 1.5 + 0.3 + 0) / 4 - (0.1 + 1.5 - 0.2 + 0.3 + 0.9 + 0) / 6) / 6,
                 of_content = deviation_of(content, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        const double wanted =
            before[i] + s * (0.6 * words[i] * sqrt(10) + content[i] / of_content * sqrt(p[i]));
        if (!(fabs(scores[i] - wanted) < 1e-5))
            fail_msg("item %d: %.6f, not %.6f", i, scores[i], wanted);
    }
    home_terms_close(&home);
    dataset_free(&films.dataset);
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static double loadings[ITEMS * 2] = {1, 0, 0, 1, 1, 1, -1, 0.5, 0.25, 2, 0.5, 0.5},
                               bias[ITEMS] = {0.5, -0.5, 0, 0.2, -1, 0.1},
                               variance[ITEMS] = {0, 0.5, 1, 0, 0, 0.1};

/* at_home: home loadings of the items, n a row, which stand beside the released ones. */
static void open_values(const float *at_home, int64_t n, struct scorer *scorer)
{
    static double all[ITEMS * 64];
    assert_true(2 + n <= 64);
    for (int64_t i = 0; i < ITEMS; i++)
        for (int64_t c = 0; c < 2 + n; c++)
            all[i * (2 + n) + c] = c < 2 ? loadings[i * 2 + c] : (double)at_home[i * n + c - 2];
    static const double scalars[3] = {3, 1.5, 0.75};
    const dpf_array arrays[3] = {
        {.name = "bias", .type = DPF_ARRAY_F8, .rows = ITEMS, .columns = 1, .data = bias},
        {.name = "loadings", .type = DPF_ARRAY_F8, .rows = ITEMS, .columns = 2 + n, .data = all},
        {.name = "variance", .type = DPF_ARRAY_F8, .rows = ITEMS, .columns = 1, .data = variance}};
    struct dpf_error error = {0};
    const dpf_form said = {.size = sizeof said,
                           .formula = score_formulas[SCORE_RIDGE].name,
                           .n_arrays = 3,
                           .arrays = arrays,
                           .n_scalars = 3,
                           .scalar_names = score_formulas[SCORE_RIDGE].scalars,
                           .scalars = scalars};
    *scorer = (struct scorer){.context = NULL};
    if (score_form_read(&said, ITEMS, -1, "a test", DPF_FAULT_DATA, &scorer->form, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(scorer_open(scorer, &error), 0);
}

/* Each own record counts by its residual from a fit that does not see it. */
TEST_WITH(values_get_what_the_own_records_leave, data_enter, data_leave)
{
    static const int32_t own_items[4] = {0, 2, 3, 4};
    static const float values[4] = {5, 2, 4, 1};
    struct scorer plain, at_home;
    struct score_desk desk = {.user = 0}, other = {.user = 0};
    struct dpf_error error = {0};
    double before[ITEMS], after[ITEMS], residual[4];
    load_films();
    open_values(NULL, 0, &at_home);
    assert_int_equal(scorer_add_home(&at_home, &films.dataset.features, &films.dataset.words, &error), 0);
    open_values(at_home.home->loadings, at_home.home->n_loadings, &plain);
    assert_true(scorer_is_products(&plain));
    assert_false(scorer_is_products(&at_home));
    const struct score_records own = {4, own_items, values};
    assert_int_equal(scorer_scores_of(&plain, &desk, &own, ITEMS, before, &error), 0);
    assert_int_equal(scorer_scores_of(&at_home, &other, &own, ITEMS, after, &error), 0);
    for (int k = 0; k < 4; k++) {
        int32_t items[3];
        float rest[3];
        double without[ITEMS];
        for (int j = 0, n = 0; j < 4; j++)
            if (j != k) {
                items[n] = own_items[j];
                rest[n++] = values[j];
            }
        const struct score_records others = {3, items, rest};
        assert_int_equal(scorer_scores_of(&plain, &desk, &others, ITEMS, without, &error), 0);
        residual[k] = ((double)values[k] - without[own_items[k]]) / 1.5;
    }
    for (int32_t i = 0; i < ITEMS; i++) {
        double sum = 0, all = 2.5;
        for (int k = 0; k < 4; k++) {
            const double weight = kernel_of_words(at_home.home, i, own_items[k]) +
                                  0.15 * kernel_of_classes(at_home.home, i, own_items[k]) *
                                      exp(-pow((bias[i] - bias[own_items[k]]) / 0.4, 2));
            sum += weight * fmin(fmax(residual[k], -2), 2);
            all += weight;
        }
        if (!(fabs(after[i] - before[i] - 1.5 * sum / all) < 1e-5))
            fail_msg("item %d: %.6f, not %.6f", (int)i, after[i] - before[i], 1.5 * sum / all);
    }
    scorer_close(&plain);
    scorer_close(&at_home);
    score_desk_free(&desk);
    score_desk_free(&other);
    dataset_free(&films.dataset);
}

/* Loadings of public facts: bumps of the years, kinds times years; facts that the release has already are left out. */
TEST_WITH(facts_are_loadings, data_enter, data_leave)
{
    int64_t n = 0;
    load_films();
    const struct feature_table *features = &films.dataset.features;
    static const float one[ITEMS] = {1, 1, 1, 1, 1, 1};
    double all[ITEMS][4] = {{0}};
    float *rows = home_loadings_make(features, one, 1, 1, &n);
    assert_non_null(rows);
    assert_int_equal(n, 3 + 1 + 9 + 3);
    const dpf_feature_column *year = &features->column[3];
    assert_int_equal(year->kind, DPF_FEATURE_NUMBER);
    for (int64_t i = 0; i < ITEMS; i++) {
        /* The third of nine middles is the second of six films by year: Aliens. */
        const double x = (double)features->values[features->ptr[i + 1] - 1],
                     off = (x - 1986) / (0.24 * year->deviation);
        assert_true(fabs((double)rows[i * n + 4 + 2] - 0.15 * exp(-off * off / 2)) < 1e-5);
        double *facts = all[i];
        for (int64_t k = features->ptr[i]; k < features->ptr[i + 1]; k++)
            facts[features->at[k]] = i > 0 ? 0.3 : 0.3 / sqrt(2);
        facts[3] = 0.3 * (x - year->mean) / year->deviation;
        for (int c = 0; c < 3 && i > 0; c++) { /* film 0 has two kinds */
            const double z = fmin(fmax((x - year->mean) / year->deviation, -1.5), 1.5);
            assert_true(fabs((double)rows[i * n + 13 + c] - facts[c] / 2 * z) < 1e-5);
        }
    }
    /* A constant of 1 takes its ridge regression off the facts. A release of the facts leaves little if it is large, and most of
       them if it is small. */
    for (int64_t c = 0; c < 4; c++) {
        double sum = 0;
        for (int64_t i = 0; i < ITEMS; i++)
            sum += all[i][c];
        for (int64_t i = 0; i < ITEMS; i++)
            assert_true(fabs((double)rows[i * n + c] - (all[i][c] - sum / (1.003 * ITEMS))) < 1e-5);
    }
    for (int large = 0; large < 2; large++) {
        float released[ITEMS * 4];
        for (int64_t i = 0; i < ITEMS * 4; i++)
            released[i] = (float)(all[i / 4][i % 4] * (large ? 1000 : 0.01));
        float *again = home_loadings_make(features, released, 4, 4, &n);
        assert_non_null(again);
        for (int64_t i = 0; i < ITEMS * 4; i++)
            assert_true(fabs((double)again[i / 4 * n + i % 4] - (large ? 0 : all[i / 4][i % 4])) < 2e-3);
        free(again);
    }
    free(rows);
    dataset_free(&films.dataset);
}

/* A field with many categories is text: its categories are words, and make no classes. */
TEST_WITH(wide_fields_are_words, data_enter, data_leave)
{
    static const double even[300] = {1};
    struct home_terms home;
    struct dpf_error error = {0};
    char *lines = memory_new(1, 40000), *at = lines;
    for (int i = 0; i < 300; i++)
        at += sprintf(at, "%d,%d,5\n", i % 7, i);
    data_write("a.txt", lines);
    at = lines + sprintf(lines, "id,maker,kind\n");
    for (int i = 0; i < 300; i++)
        at += sprintf(at, "%d,maker %d,kind %d\n", i, i < 2 ? 0 : i, i % 3);
    data_write("b.txt", lines);
    data_get("[data]\nformat=csv\npath=a.txt\nheader=no\nitem-features=b.txt\n"
             "item-features.categories=maker, kind\n",
             &films);
    assert_int_equal(home_terms_open_lists(&films.dataset.features, &films.dataset.words,
                                           films.dataset.items.n, even, &home, &error),
                     0);
    assert_int_equal(home.kernels.classes.n, 3);
    int64_t pairs = 0;
    for (int32_t i = 0; i < 300; i++)
        pairs += home.kernels.near_ptr[i + 1] - home.kernels.near_ptr[i];
    assert_int_equal(pairs, 2);
    const int32_t a = (int32_t)id_map_find(&films.dataset.items, "0"),
                  b = (int32_t)id_map_find(&films.dataset.items, "1");
    assert_true(fabs(kernel_of_words(&home, a, b) - 1 / log(3)) < 1e-6);
    /* Of 300 scores that are all different, 289 to 298 are the largest without that of the own item. */
    double scores[300], work[400];
    for (int32_t i = 0; i < 300; i++)
        scores[(b + 1 + i) % 300] = i == 299 ? 299 : i * 7 % 299;
    const double before = scores[a], s = (293.5 - 149.5) / 6;
    assert_true(home_terms_work(&home) <= 400);
    home_terms_lists(&home, &b, 1, 0, work, scores);
    assert_true(fabs(scores[a] - before - s * 0.6 / log(3) * sqrt(10)) < 1e-4);
    home_terms_close(&home);
    dataset_free(&films.dataset);
    free(lines);
}

/* Where everybody has the same list, the terms are added to the log of what was released. */
TEST_WITH(popularity_is_a_logarithm, data_enter, data_leave)
{
    static const double base[ITEMS] = {10, 5, 0, 2, 8, -1};
    const dpf_array array = {.name = "base", .type = DPF_ARRAY_F8, .rows = ITEMS, .columns = 1, .data = base};
    const dpf_form said = {
        .size = sizeof said, .formula = score_formulas[SCORE_BASE].name, .n_arrays = 1, .arrays = &array};
    struct scorer scorer = {.context = NULL};
    struct score_desk desk = {.user = 0};
    struct dpf_error error = {0};
    double scores[ITEMS];
    load_films();
    assert_int_equal(score_form_read(&said, ITEMS, -1, "a test", DPF_FAULT_DATA, &scorer.form, &error), 0);
    assert_int_equal(scorer_open(&scorer, &error), 0);
    assert_int_equal(scorer_add_home(&scorer, &films.dataset.features, &films.dataset.words, &error), 0);
    const struct score_records nothing = {0, NULL, NULL};
    assert_int_equal(scorer_scores_of(&scorer, &desk, &nothing, ITEMS, scores, &error), 0);
    for (int i = 0; i < ITEMS; i++)
        assert_true(fabs(scores[i] - log(fmax(base[i] / 10, 0.02))) < 1e-6);
    scorer_close(&scorer);
    score_desk_free(&desk);
    dataset_free(&films.dataset);
}

/* What cannot be done is told with the key. */
TEST(what_is_missing_is_named)
{
    struct home_terms home;
    struct dpf_error error = {0};
    const struct feature_table none = {.columns = 0};
    const double even = 1;
    assert_int_equal(home_terms_open_lists(&none, &none, ITEMS, &even, &home, &error), -1);
    assert_non_null(strstr(error.text, "[data] item-features"));
}
