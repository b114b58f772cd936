/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mechanism.correlation: a mechanism that keeps state between rounds adds noise C^-1 z, and says what C is. C
 * times the errors of the estimates must be uncorrelated between rounds and have the plan's variance in each
 * of them, whatever is sent; a round that is decoded again gives the same. Rows have noise of their own, so
 * they are the samples.
 */
#include <math.h>
#include <string.h>

#include "conformance/check_release.h"

enum { SAMPLE_ROWS = 100, BATCHES = 40, NUMBERS = SAMPLE_ROWS * WIDTH };

static const dpf_mechanism *table(const struct release *r)
{
    return r->instance->functions;
}

/* Sums over the numbers of the first block. */
struct sums {
    double products[RUN_ROUNDS][RUN_ROUNDS]; /* of C errors, in units of the plan's variance */
    double n;
};

static void fill_values(struct check_source *source, double *values)
{
    for (int i = 0; i < NUMBERS; i++)
        values[i] = check_uniform(source, -0.05, 0.05);
}

/* One run of rows of its own: errors[t] of each round. 0, or -1 with the rule failed. */
static int run_rounds(struct check *check, const struct release *r, struct worker *worker, int batch,
                      double errors[RUN_ROUNDS][NUMBERS])
{
    struct check_source source = {check->seed + (uint64_t)batch};
    struct check_rows rows;
    double values[NUMBERS], again[NUMBERS];
    int failed = check_rows_open(r, ROWS + (int64_t)batch * SAMPLE_ROWS, SAMPLE_ROWS, &rows) != 0;
    for (uint32_t t = 0; t < RUN_ROUNDS && !failed; t++) {
        fill_values(&source, values);
        failed = check_rows_round(r, worker, &rows, t, values, errors[t]) != DPF_OK ||
                 check_rows_round(r, worker, &rows, t, values, again) != DPF_OK;
        if (failed)
            check_fail(check, "round %u of %d is not decoded", t, (int)RUN_ROUNDS);
        else if (memcmp(errors[t], again, sizeof again) != 0)
            failed =
                check_fail(check, "a round that is decoded twice gives other estimates the second time") != 0;
        for (int i = 0; i < NUMBERS; i++)
            errors[t][i] -= values[i];
    }
    if (rows.state && !check_guards_hold(rows.state))
        failed = check_fail(check, "decode writes outside the state of its rows") != 0;
    check_rows_close(&rows);
    return failed ? -1 : 0;
}

static void add_batch(const struct release *r, const double c[RUN_ROUNDS], double errors[RUN_ROUNDS][NUMBERS],
                      struct sums *sums)
{
    const dpf_block *block = &r->query.blocks[0];
    for (int i = 0; i < NUMBERS; i++) {
        double z[RUN_ROUNDS];
        if (i % WIDTH < block->offset || i % WIDTH >= block->offset + block->length)
            continue;
        for (int t = 0; t < RUN_ROUNDS; t++) {
            z[t] = 0;
            for (int k = 0; k <= t; k++)
                z[t] += c[k] * errors[t - k][i];
            for (int s = 0; s <= t; s++)
                sums->products[s][t] += z[s] * z[t] / r->plan.variance[0];
        }
        sums->n += 1;
    }
}

/* Six standard errors: of a product of two independent normal numbers 1, of a square the root of 2. */
static void judge(struct check *check, const struct sums *sums)
{
    for (int t = 0; t < RUN_ROUNDS; t++)
        for (int s = 0; s <= t && check->outcome != CHECK_FAIL; s++) {
            const double seen = sums->products[s][t] / sums->n;
            const double slack = 6 * sqrt((s == t ? 2.0 : 1.0) / sums->n) + (s == t ? 0.02 : 0);
            if (fabs(seen - (s == t)) <= slack)
                continue;
            if (s == t)
                check_fail(check,
                           "round %d: the noise has %.4g of the variance that plan and correlation state", t,
                           seen);
            else
                check_fail(
                    check,
                    "rounds %d and %d: after C of correlation is applied, the noise still correlates by %.4g "
                    "(six standard errors are %.3g)",
                    s, t, seen, slack);
        }
}

static void look_correlation(struct check *check, struct release *r)
{
    double c[RUN_ROUNDS];
    struct sums sums;
    if (!check_is_correlated(r)) {
        if (table(r)->row_state)
            check_fail(check, "it keeps state between rounds, but does not say how its noise is correlated");
        else
            check_skip(check, "rounds have noise of their own");
        return;
    }
    if (r->plan.where != DPF_NOISE_AT_SUM) {
        check_fail(check, "noise that is correlated between rounds is added once to the sum, not by parties");
        return;
    }
    double(*errors)[NUMBERS] = check_keep(check, RUN_ROUNDS * sizeof *errors);
    struct worker *worker = worker_new(0, 1);
    memset(&sums, 0, sizeof sums);
    table(r)->correlation(r->instance->self, &r->plan, c, RUN_ROUNDS);
    if (!(c[0] >= 1.0 && c[0] <= 1.0))
        check_fail(check, "the first number of correlation is %g, not 1", c[0]);
    for (int batch = 0; errors && worker && batch < BATCHES && check->outcome != CHECK_FAIL; batch++)
        if (run_rounds(check, r, worker, batch, errors) == 0)
            add_batch(r, c, errors, &sums);
    worker_free(worker);
    if (check->outcome != CHECK_FAIL && sums.n > 0)
        judge(check, &sums);
}

void check_rule_correlation(struct check *check)
{
    check_each_release(check, look_correlation);
}
