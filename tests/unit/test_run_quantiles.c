/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles by selection are those of a sort. */
#include "run/group_quantiles.h"
#include "kit/test.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 20000 };

static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
#define N_SHARES 7

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

static double draw_of(int shape, uint64_t *seed)
{
    const double unit = (double)next(seed) * 0x1p-31;
    switch (shape) {
    case 0:
        return unit;
    case 1: /* few values */
        return (double)(next(seed) % 5);
    case 2: /* most in one interval */
        return unit < 0.01 ? 1e9 * unit : 1 + 1e-9 * unit;
    case 3:
        return unit < 0.3 ? INFINITY : unit;
    case 4:
        return 7.25;
    case 5:
        return INFINITY;
    case 6: /* a range that no double holds */
        return unit < 0.5 ? -1e308 : 1.5e308;
    default:
        return exp(40 * unit - 20);
    }
}

TEST(agrees_with_a_sort)
{
    static double values[MOST], mine[MOST];
    static uint8_t groups[2][MOST];
    static const int64_t sizes_of[] = {1, 2, 7, 500, MOST};
    uint64_t seed = 9;
    for (int shape = 0; shape < 8; shape++)
        for (size_t size = 0; size < sizeof sizes_of / sizeof sizes_of[0]; size++)
            for (int kinds = 0; kinds < 4; kinds++) {
                const int64_t n = sizes_of[size];
                struct quantile_question question = {
                    .values = values, .n = n, .shares = shares, .n_shares = N_SHARES};
                struct dpf_error error = {.fault = DPF_FAULT_NONE};
                int64_t sizes[8];
                double out[8 * N_SHARES];
                for (int kind = 0; kind < 2; kind++)
                    if (kinds >> kind & 1) {
                        question.groups[kind] = groups[kind];
                        question.n_groups[kind] = 4 - kind;
                    }
                for (int64_t i = 0; i < n; i++) {
                    values[i] = draw_of(shape, &seed);
                    groups[0][i] = (uint8_t)(1 + next(&seed) % 3); /* group 0 is empty */
                    groups[1][i] = (uint8_t)(next(&seed) % 3);
                }
                assert_int_equal(group_quantiles(&question, sizes, out, &error), 0);
                for (int set = 0; set < 1 + question.n_groups[0] + question.n_groups[1]; set++) {
                    const int kind = set > question.n_groups[0];
                    const int group = set - 1 - (kind ? question.n_groups[0] : 0);
                    int64_t count = 0;
                    for (int64_t i = 0; i < n; i++)
                        if (set == 0 || groups[kind][i] == group)
                            mine[count++] = values[i];
                    assert_int_equal(sizes[set], count);
                    qsort(mine, (size_t)count, sizeof *mine, ascending);
                    for (int s = 0; s < N_SHARES && count; s++) {
                        const int64_t at = (int64_t)ceil(shares[s] * (double)count) - 1;
                        assert_true(out[set * N_SHARES + s] == mine[at < 0 ? 0 : at]);
                    }
                }
            }
}
