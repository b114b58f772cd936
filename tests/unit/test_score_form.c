/* SPDX-License-Identifier: Apache-2.0 */
/* What a form says is checked: shapes, ranges and orders, for every formula; and its scores are those of the formula. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "score/lists.h"

enum { ITEMS = 5 };

struct said {
    dpf_array arrays[SCORE_MOST_ARRAYS];
    const char *names[SCORE_MOST_SCALARS];
    double scalars[SCORE_MOST_SCALARS];
    dpf_form form;
};

static double loadings[ITEMS * 2] = {1, 0, 0, 1, 1, 1, -1, 0.5, 0.25, 2}, bias[ITEMS] = {0.5, -0.5, 0, 1, -1},
                               variance[ITEMS] = {0, 0.5, 1, 0, 0};
static int32_t column[ITEMS] = {0, -1, 1, 2, -1}, neighbours[ITEMS * 2] = {1, -1, 0, 2, 3, 4, -1, -1, 0, 1};
static float popularity[ITEMS] = {1, 0.2F, 0.8F, 0.5F, 0.1F}, undo[ITEMS] = {1, 2, 0.5F, 1, 1},
             weight[3] = {1, 0.5F, 2}, in[3 * 3] = {1, 0, 2, 0, 1, -1, 1, 1, 0.5F},
             out[2 * 3] = {1, 2, 3, -1, 0, 1}, span[ITEMS] = {9, 1, 9, 9, -2},
             similarities[ITEMS * 2] = {0.5F, 0, 0.5F, 0.25F, 1, 0.75F, 0, 0, 0.1F, 0.2F};

static dpf_array array(const char *name, int32_t type, int64_t rows, int64_t columns, const void *data)
{
    return (dpf_array){.name = name, .type = type, .rows = rows, .columns = columns, .data = data};
}

static void say(struct said *said, enum score_formula formula)
{
    *said = (struct said){.form = {.size = sizeof said->form, .formula = score_formulas[formula].name}};
    dpf_array *a = said->arrays;
    if (formula == SCORE_BASE) {
        *a++ = array("base", DPF_ARRAY_F8, ITEMS, 1, bias);
    } else if (formula == SCORE_RIDGE) {
        *a++ = array("bias", DPF_ARRAY_F8, ITEMS, 1, bias);
        *a++ = array("loadings", DPF_ARRAY_F8, ITEMS, 2, loadings);
        *a++ = array("variance", DPF_ARRAY_F8, ITEMS, 1, variance);
    } else if (formula == SCORE_EASE) {
        *a++ = array("column", DPF_ARRAY_I4, ITEMS, 1, column);
        *a++ = array("popularity", DPF_ARRAY_F4, ITEMS, 1, popularity);
        *a++ = array("undo", DPF_ARRAY_F4, ITEMS, 1, undo);
        *a++ = array("weight", DPF_ARRAY_F4, 3, 1, weight);
        *a++ = array("in", DPF_ARRAY_F4, 3, 3, in);
        *a++ = array("out", DPF_ARRAY_F4, 2, 3, out);
        *a++ = array("span", DPF_ARRAY_F4, 1, ITEMS, span);
    } else if (formula == SCORE_NEIGHBOURS) {
        *a++ = array("neighbours", DPF_ARRAY_I4, ITEMS, 2, neighbours);
        *a++ = array("similarities", DPF_ARRAY_F4, ITEMS, 2, similarities);
    } else {
        *a++ = array("items", DPF_ARRAY_F4, 3, 3, in);
        *a++ = array("users", DPF_ARRAY_F4, 1, 3, in);
    }
    static const double numbers[SCORE_MOST_SCALARS] = {0.25, 0.5, 0.75};
    for (int s = 0; s < SCORE_MOST_SCALARS && score_formulas[formula].scalars[s]; s++) {
        said->names[s] = score_formulas[formula].scalars[s];
        said->scalars[s] = numbers[s];
        said->form.n_scalars = s + 1;
    }
    said->form.n_arrays = (int32_t)(a - said->arrays);
    said->form.arrays = said->arrays;
    said->form.scalar_names = said->names;
    said->form.scalars = said->scalars;
}

static int reads(const struct said *said, int64_t items, struct dpf_error *error)
{
    struct score_form form;
    *error = (struct dpf_error){0};
    const int status = score_form_read(&said->form, items, -1, "a test", DPF_FAULT_DATA, &form, error);
    score_form_free(&form);
    return status;
}

static int64_t items_of(enum score_formula formula)
{
    return formula == SCORE_ROWS ? 3 : ITEMS;
}

/* ---- what is refused ------------------------------------------------------------------------------------ */

/* Where there are as many factors as columns, "in" may have the directions alone; a form without any has no number. */
TEST(factors_may_be_the_columns)
{
    static const float whole[3 * 3] = {0, 1, 2, 3, 0, 4, 5, 6, 0};
    static const struct {
        int64_t factors, directions, width;
        int fits;
    } cases[] = {{3, 1, 1, 1}, {3, 1, 4, 1}, {3, 0, 0, 1}, {3, 0, 3, 1}, {3, 1, 3, 0},
                 {3, 1, 0, 0}, {3, 0, 1, 0}, {2, 1, 1, 0}, {2, 1, 3, 1}, {0, 1, 1, 1}};
    static const float wide[3 * 4] = {0};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct said said;
        struct dpf_error error;
        say(&said, SCORE_EASE);
        said.arrays[EASE_IN] =
            array("in", DPF_ARRAY_F4, 3, cases[c].width, cases[c].width ? (const void *)wide : NULL);
        said.arrays[EASE_OUT] = array("out", DPF_ARRAY_F4, cases[c].factors, 3, whole);
        said.arrays[EASE_SPAN] = array("span", DPF_ARRAY_F4, cases[c].directions, ITEMS, span);
        if (reads(&said, ITEMS, &error) != (cases[c].fits ? 0 : -1))
            fail_msg("case %zu: %s", c, error.text);
    }
}

TEST(every_fault_is_told)
{
    struct said said;
    struct dpf_error error;
    for (int f = SCORE_BASE; f < SCORE_FORMULAS; f++) {
        const enum score_formula formula = (enum score_formula)f;
        const int64_t n = items_of(formula);
        say(&said, formula);
        if (reads(&said, n, &error) != 0)
            fail_msg("%s: %s", said.form.formula, error.text);
        assert_int_equal(reads(&said, n + 1, &error), -1);
        for (int32_t a = 0; a < said.form.n_arrays; a++) {
            const struct dpf_array was = said.arrays[a];
            const int first_of_length = formula == SCORE_EASE && (a == EASE_WEIGHT || a == EASE_IN);
            said.arrays[a].rows--;
            assert_int_equal(reads(&said, n, &error), formula == SCORE_ROWS && a == ROWS_USERS ? 0 : -1);
            said.arrays[a] = was;
            said.arrays[a].rows = -1;
            assert_int_equal(reads(&said, n, &error), -1);
            said.arrays[a] = was;
            said.arrays[a].stride = was.columns - 1 ? was.columns - 1 : -1;
            assert_int_equal(reads(&said, n, &error), -1);
            said.arrays[a] = was;
            said.arrays[a].type = was.type == DPF_ARRAY_I4 ? DPF_ARRAY_F4 : DPF_ARRAY_I4;
            assert_int_equal(reads(&said, n, &error), -1);
            said.arrays[a] = was;
            said.arrays[a].name = "another";
            const int optional = score_formulas[f].arrays[a].optional;
            assert_int_equal(reads(&said, n, &error), optional ? 0 : -1);
            if (!optional)
                assert_non_null(strstr(error.text, "is missing"));
            said.arrays[a] = was;
            (void)first_of_length;
        }
        for (int32_t s = 0; s < said.form.n_scalars; s++) {
            const double was = said.scalars[s];
            said.scalars[s] = NAN;
            assert_int_equal(reads(&said, n, &error), -1);
            said.scalars[s] = was;
        }
        said.form.formula = "another/1";
        assert_int_equal(reads(&said, n, &error), -1);
        assert_non_null(strstr(error.text, "another/1"));
    }
}

TEST(numbers_are_in_their_ranges)
{
    static const enum score_formula formulas[] = {SCORE_BASE, SCORE_RIDGE, SCORE_EASE, SCORE_NEIGHBOURS};
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30F};
    struct said said;
    struct dpf_error error;
    float damaged[ITEMS * 3];
    for (size_t f = 0; f < sizeof formulas / sizeof formulas[0]; f++)
        for (int a = 0; a < 7; a++)
            for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
                say(&said, formulas[f]);
                if (a >= said.form.n_arrays || said.arrays[a].type == DPF_ARRAY_I4)
                    continue;
                for (int k = 0; k < ITEMS * 3; k++)
                    damaged[k] = 0.5F;
                damaged[1] = bad[b];
                said.arrays[a].type = DPF_ARRAY_F4;
                said.arrays[a].data = damaged;
                assert_int_equal(reads(&said, ITEMS, &error), -1);
                assert_non_null(strstr(error.text, "out of range"));
            }
    say(&said, SCORE_NEIGHBOURS);
    for (int32_t wrong = -2; wrong <= ITEMS; wrong += ITEMS + 2) {
        int32_t others[ITEMS * 2] = {0};
        others[3] = wrong;
        said.arrays[0].data = others;
        assert_int_equal(reads(&said, ITEMS, &error), -1);
    }
    say(&said, SCORE_EASE);
    static const int32_t disorders[][ITEMS] = {
        {1, -1, 0, 2, -1}, {0, -1, 1, 1, -1}, {0, -1, 1, -1, -1}, {0, 1, 2, 3, -1}};
    for (size_t d = 0; d < sizeof disorders / sizeof disorders[0]; d++) {
        said.arrays[EASE_COLUMN].data = disorders[d];
        assert_int_equal(reads(&said, ITEMS, &error), -1);
        assert_non_null(strstr(error.text, "do not ascend"));
    }
}

/* ---- scores --------------------------------------------------------------------------------------------- */

static void open_one(struct scorer *scorer, enum score_formula formula, const struct csr *records)
{
    struct said said;
    struct dpf_error error = {0};
    say(&said, formula);
    *scorer = (struct scorer){.records = records};
    assert_int_equal(
        score_form_read(&said.form, items_of(formula), -1, "a test", DPF_FAULT_DATA, &scorer->form, &error),
        0);
    assert_int_equal(scorer_open(scorer, &error), 0);
}

/* By hand: own records 0 and 2 of values 1 and 0.375, for the formulas that read them. */
TEST(scores_are_those_of_the_formula)
{
    int64_t ptr[] = {0, 2, 2};
    int32_t others[] = {0, 2};
    float values[] = {1, 0.375F};
    const struct csr records = {.rows = 2, .ptr = ptr, .others = others, .values = values};
    /* z = (1, 0.5 v) / norm, v of 0.375 is .75 + .25 * .5 = .875 */
    const double z0 = 1 / sqrt(1 + 0.4375 * 0.4375), z2 = 0.4375 / sqrt(1 + 0.4375 * 0.4375), f0 = z0,
                 f1 = z2, d0 = 2 * z0 - z2;
    const double ease[ITEMS] = {f0 * 1 - f1 - z0 * 1, 2 * d0, 0.5 * (2 * f0) - z2 * 0 * 0.5, 3 * f0 + f1,
                                -2 * d0};
    const double neighbours_of[ITEMS] = {0, 0.75, 0, 0, (double)0.1F};
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    struct dpf_error error = {0};
    double got[ITEMS];
    open_one(&scorer, SCORE_EASE, &records);
    assert_int_equal(scorer_scores(&scorer, &desk, 0, NULL, ITEMS, got, &error), 0);
    for (int i = 0; i < ITEMS; i++)
        assert_true(fabs(got[i] - ease[i]) < 1e-6);
    const int32_t some[] = {2, 0};
    double two[2];
    assert_int_equal(scorer_scores(&scorer, &desk, 0, some, 2, two, &error), 0);
    assert_true(two[0] == got[2] && two[1] == got[0]); /* the same bits, whatever is asked for */
    assert_int_equal(scorer_scores(&scorer, &desk, 1, NULL, ITEMS, got, &error),
                     0); /* nobody knows anything */
    for (int i = 0; i < ITEMS; i++)
        assert_true(got[i] == (double)popularity[i]);
    scorer_close(&scorer);
    score_desk_free(&desk);
    open_one(&scorer, SCORE_NEIGHBOURS, &records);
    assert_int_equal(scorer_scores(&scorer, &desk, 0, NULL, ITEMS, got, &error), 0);
    for (int i = 0; i < ITEMS; i++)
        assert_true(fabs(got[i] - neighbours_of[i]) < 1e-7);
    scorer_close(&scorer);
    score_desk_free(&desk);
}

/* The normal equations hold for the row that the scores imply: scores of items with unit loadings give t. */
TEST(a_ridge_row_solves_its_equations)
{
    int64_t ptr[] = {0, 3};
    int32_t others[] = {1, 2, 4};
    float values[] = {1, 2, -1};
    const struct csr records = {.rows = 1, .ptr = ptr, .others = others, .values = values};
    const double centre = 0.25, unit = 0.5, s2 = 0.75;
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    struct dpf_error error = {0};
    double got[ITEMS], left[2];
    open_one(&scorer, SCORE_RIDGE, &records);
    assert_int_equal(scorer_scores(&scorer, &desk, 0, NULL, ITEMS, got, &error), 0);
    /* Items 0 and 1 have the loadings (1, 0) and (0, 1). */
    const double t[2] = {(got[0] - centre) / unit - bias[0], (got[1] - centre) / unit - bias[1]};
    left[0] = t[0];
    left[1] = t[1];
    for (int k = 0; k < 3; k++) {
        const double *q = loadings + 2 * others[k], w = 1 / (s2 + variance[others[k]]);
        const double e = ((double)values[k] - centre) / unit - bias[others[k]] - q[0] * t[0] - q[1] * t[1];
        left[0] -= w * e * q[0];
        left[1] -= w * e * q[1];
    }
    assert_true(fabs(left[0]) < 1e-5 && fabs(left[1]) < 1e-5);
    scorer_close(&scorer);
    score_desk_free(&desk);
}

/* ---- lists ---------------------------------------------------------------------------------------------- */

enum { MANY_ITEMS = 400, MANY_USERS = 150, WIDTH = 20 };

struct kept {
    int64_t n[MANY_USERS];
    int32_t items[MANY_USERS][MANY_ITEMS];
    double scores[MANY_USERS][MANY_ITEMS];
    int same[MANY_USERS];
};

static int keep(void *context, const struct score_list *list, int worker, struct dpf_error *error)
{
    struct kept *kept = context;
    (void)worker;
    (void)error;
    kept->n[list->user] = list->n;
    kept->same[list->user] = list->same;
    memcpy(kept->items[list->user], list->items, (size_t)list->n * sizeof *list->items);
    memcpy(kept->scores[list->user], list->scores, (size_t)list->n * sizeof *list->scores);
    return 0;
}

static uint64_t seed = 88172645463325252U;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* Few different numbers tie; one order for all is base/1. */
TEST(lists_are_those_of_all_scores)
{
    static float items[MANY_ITEMS * WIDTH], users[MANY_USERS * WIDTH];
    static struct kept kept[2];
    static int64_t ptr[MANY_USERS + 1];
    static int32_t others[MANY_USERS * MANY_ITEMS];
    static uint8_t barred[MANY_ITEMS];
    struct csr own = {.rows = MANY_USERS, .ptr = ptr, .others = others};
    for (int u = 0; u < MANY_USERS; u++) {
        ptr[u + 1] = ptr[u];
        for (int32_t i = 0; i < MANY_ITEMS && u % 5; i++)
            if (u == 7 || draw(20) == 0)
                others[ptr[u + 1]++] = i;
    }
    for (int shape = 0; shape < 4; shape++)
        for (int64_t k = 1; k <= 600; k = k * 7 + 3) {
            struct dpf_error error = {0};
            struct scorer scorer = {.context = NULL};
            for (int i = 0; i < MANY_ITEMS * WIDTH; i++)
                items[i] = shape == 3   ? 0
                           : shape == 1 ? (float)draw(3) - 1
                                        : (float)draw(1 << 20) / (1 << 20) - 0.5F;
            for (int i = 0; i < MANY_USERS * WIDTH; i++)
                users[i] = shape == 1 ? (float)draw(3) - 1 : (float)draw(1 << 20) / (1 << 20) - 0.5F;
            for (int i = 0; i < MANY_ITEMS; i++)
                barred[i] = shape && draw(10) == 0;
            scorer.form = (struct score_form){
                .formula = shape == 2 ? SCORE_BASE : SCORE_ROWS,
                .n_items = MANY_ITEMS,
                .arrays = {{"items", DPF_ARRAY_F4, 0, MANY_ITEMS, shape == 2 ? 1 : WIDTH, WIDTH, items, {0}},
                           {"users", DPF_ARRAY_F4, 0, MANY_USERS, WIDTH, WIDTH, users, {0}}}};
            /* Rows of users have the items' padding. */
            static float padded[MANY_USERS * 32];
            for (int u = 0; u < MANY_USERS; u++)
                memcpy(padded + (ptrdiff_t)u * 32, users + (ptrdiff_t)u * WIDTH, WIDTH * sizeof *users);
            scorer.form.arrays[ROWS_USERS].data = padded;
            scorer.form.arrays[ROWS_USERS].stride = 32;
            assert_int_equal(scorer_open(&scorer, &error), 0);
            const struct list_query query = {k, MANY_ITEMS, {&own, NULL}, barred};
            for (int threads = 1; threads <= 2; threads++) {
                struct pool *pool = pool_new(threads == 2 ? 3 : 1);
                assert_int_equal(scorer_lists(&scorer, pool, NULL, 0, MANY_USERS, &query, keep,
                                              &kept[threads - 1], &error),
                                 0);
                pool_free(pool);
            }
            struct score_desk desk = {.user = 0};
            for (int64_t u = 0; u < MANY_USERS; u++) {
                double all[MANY_ITEMS], best[MANY_ITEMS];
                int32_t list[MANY_ITEMS];
                double least = INFINITY, most = -INFINITY;
                int64_t candidates = 0;
                assert_int_equal(scorer_scores(&scorer, &desk, u, NULL, MANY_ITEMS, all, &error), 0);
                for (int64_t r = ptr[u]; r < ptr[u + 1]; r++)
                    all[others[r]] = -INFINITY;
                for (int i = 0; i < MANY_ITEMS; i++) {
                    all[i] = barred[i] ? -INFINITY : all[i];
                    candidates += isfinite(all[i]) != 0;
                    least = isfinite(all[i]) ? fmin(least, all[i]) : least;
                    most = isfinite(all[i]) ? fmax(most, all[i]) : most;
                }
                const int64_t n = list_choose(all, MANY_ITEMS, k < MANY_ITEMS ? k : MANY_ITEMS, list, best);
                for (int t = 0; t < 2; t++) {
                    assert_int_equal(kept[t].n[u], n);
                    assert_memory_equal(kept[t].items[u], list, (size_t)n * sizeof *list);
                    assert_memory_equal(kept[t].scores[u], best, (size_t)n * sizeof *best);
                    assert_int_equal(kept[t].same[u], candidates > 1 && least == most);
                }
                for (int64_t i = 1; i < n; i++)
                    assert_true(best[i - 1] > best[i] || (best[i - 1] == best[i] && list[i - 1] < list[i]));
                for (int64_t i = 0, above = 0; i < MANY_ITEMS && n; i++) {
                    above += all[i] > best[n - 1];
                    assert_true(above < n || n == candidates || i < MANY_ITEMS);
                }
            }
            score_desk_free(&desk);
            scorer.form.owned[0] = NULL;
            scorer_close(&scorer);
        }
}

/* Own items stay in the lists, with their shifts. */
TEST(shifts_of_own_items_are_in_lists)
{
    enum { COLUMNS = 200, R = 5, D = 4 };
    static int32_t columns[MANY_ITEMS], others[MANY_USERS * MANY_ITEMS];
    static float popular[MANY_ITEMS], undone[MANY_ITEMS], weights[COLUMNS], into[COLUMNS * (R + D)],
        from[R * COLUMNS], spans[D * MANY_ITEMS];
    static int64_t ptr[MANY_USERS + 1];
    static struct kept kept;
    const struct csr own = {.rows = MANY_USERS, .ptr = ptr, .others = others};
    float *const parts[] = {popular, undone, weights, into, from, spans};
    const int lengths[] = {MANY_ITEMS, MANY_ITEMS, COLUMNS, COLUMNS * (R + D), R * COLUMNS, D * MANY_ITEMS};
    for (int p = 0; p < 6; p++)
        for (int i = 0; i < lengths[p]; i++)
            parts[p][i] = (float)draw(1 << 20) / (1 << 20) - (p < 3 ? 0 : 0.5F);
    for (int i = 0; i < MANY_ITEMS; i++)
        columns[i] = i % 2 ? -1 : i / 2;
    for (int u = 0; u < MANY_USERS; u++) {
        ptr[u + 1] = ptr[u];
        for (int32_t i = 0; i < MANY_ITEMS && u % 10; i++)
            if (draw(10) == 0)
                others[ptr[u + 1]++] = i;
    }
    const dpf_array arrays[] = {array("column", DPF_ARRAY_I4, MANY_ITEMS, 1, columns),
                                array("popularity", DPF_ARRAY_F4, MANY_ITEMS, 1, popular),
                                array("undo", DPF_ARRAY_F4, MANY_ITEMS, 1, undone),
                                array("weight", DPF_ARRAY_F4, COLUMNS, 1, weights),
                                array("in", DPF_ARRAY_F4, COLUMNS, R + D, into),
                                array("out", DPF_ARRAY_F4, R, COLUMNS, from),
                                array("span", DPF_ARRAY_F4, D, MANY_ITEMS, spans)};
    static const char *const names[] = {"value_low", "value_high", "lowest_weight"};
    const double scalars[] = {1, 1, 1};
    const dpf_form form = {.size = sizeof form,
                           .n_arrays = 7,
                           .n_scalars = 3,
                           .formula = "ease/1",
                           .arrays = arrays,
                           .scalar_names = names,
                           .scalars = scalars};
    struct dpf_error error = {0};
    struct scorer scorer = {.records = &own};
    struct score_desk desk = {.user = 0};
    assert_int_equal(score_form_read(&form, MANY_ITEMS, -1, "a test", DPF_FAULT_DATA, &scorer.form, &error),
                     0);
    assert_int_equal(scorer_open(&scorer, &error), 0);
    for (int64_t k = 1; k <= 50; k += 24) {
        const struct list_query query = {k, MANY_ITEMS, {NULL, NULL}, NULL};
        struct pool *pool = pool_new(2);
        int shifted = 0;
        assert_int_equal(scorer_lists(&scorer, pool, NULL, 0, MANY_USERS, &query, keep, &kept, &error), 0);
        pool_free(pool);
        for (int64_t u = 0; u < MANY_USERS; u++) {
            double all[MANY_ITEMS], best[MANY_ITEMS];
            int32_t list[MANY_ITEMS];
            assert_int_equal(scorer_scores(&scorer, &desk, u, NULL, MANY_ITEMS, all, &error), 0);
            shifted += desk.n_shifts > 0;
            assert_int_equal(list_choose(all, MANY_ITEMS, k, list, best), k);
            assert_memory_equal(kept.items[u], list, (size_t)k * sizeof *list);
            assert_memory_equal(kept.scores[u], best, (size_t)k * sizeof *best);
        }
        assert_true(shifted > MANY_USERS / 2);
    }
    score_desk_free(&desk);
    scorer_close(&scorer);
}
