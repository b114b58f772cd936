/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mechanism.noise: estimates minus what was sent, over many draws, block by block and in the Gram row, as a table for
 * check_noise.h. Rows are those of one message, so every row and number is judged; draws stand for rounds.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/check_noise.h"
#include "conformance/check_release.h"

enum { SHARE_ROWS = 52 };

/* Of the sum of all parties' noise; only normal noise keeps its shape in sums. */
static enum noise_law law_of(const struct release *r, const dpf_event *events, int32_t n, int bit)
{
    const double grid = check_release_grid(r, bit), variance = check_release_variance(r, bit);
    enum noise_law law = LAW_UNKNOWN;
    for (int32_t e = 0; events && e < n; e++) {
        if (events[e].blocks && !(events[e].blocks >> bit & 1))
            continue;
        if (events[e].kind == DPF_EVENT_GAUSSIAN || events[e].kind == DPF_EVENT_DISCRETE_GAUSSIAN ||
            events[e].kind == DPF_EVENT_CORRELATED_GAUSSIAN ||
            (events[e].kind == DPF_EVENT_SKELLAM && variance > 1000 * grid * grid))
            law = LAW_GAUSSIAN;
        if ((events[e].kind == DPF_EVENT_LAPLACE || events[e].kind == DPF_EVENT_DISCRETE_LAPLACE) &&
            r->parties == 1)
            law = LAW_LAPLACE;
    }
    return law;
}

/* Rows that are measured, beside the Gram row: with messages from many parties fewer of them. */
static int64_t rows_of(const struct release *r)
{
    return r->plan.where == DPF_NOISE_IN_SHARES ? SHARE_ROWS : ROWS;
}

/* Rows of items, or the Gram row. */
static void rows_with(const struct release *r, int bit, int64_t *first, int64_t *end)
{
    const int64_t items = check_release_rows(r);
    *first = bit < DPF_GRAM_BIT ? 0 : ROWS - 1;
    *end = bit < DPF_GRAM_BIT ? (rows_of(r) < items ? rows_of(r) : items) : ROWS;
}

static void add_part(struct check *check, const struct release *r, int bit, struct noise_table *table)
{
    int32_t n = 0;
    const dpf_event *events = check_release_events(check, r, &n);
    const double deviation = sqrt(check_release_variance(r, bit)), grid = check_release_grid(r, bit);
    struct noise_part *part = &table->parts[table->n_parts++];
    char name[48];
    *part = (struct noise_part){.first = table->n,
                                .width = check_release_block(r, bit)->length,
                                .law = law_of(r, events, n, bit),
                                .step = grid / deviation,
                                .bias = 0.5 * grid * r->parties / deviation};
    int64_t first, end;
    rows_with(r, bit, &first, &end);
    part->n = part->width * (end - first);
    snprintf(part->name, sizeof part->name, "%s", check_release_name(bit, name));
    table->n += part->n;
}

static void fill_part(const struct release *r, int bit, const double *estimates, float *z)
{
    const dpf_block *block = check_release_block(r, bit);
    const double deviation = sqrt(check_release_variance(r, bit));
    int64_t first, end;
    rows_with(r, bit, &first, &end);
    for (int64_t row = first; row < end; row++)
        for (int64_t i = row * WIDTH + block->offset; i < row * WIDTH + block->offset + block->length; i++)
            *z++ = (float)((estimates[i] - r->parties * r->values[i]) / deviation);
}

/* Blocks whose plan has no noise: what is sent comes out, rounded. */
static int judge_still(struct check *check, const struct release *r, int bit, const double *estimates)
{
    const dpf_block *block = check_release_block(r, bit);
    int64_t first, end;
    rows_with(r, bit, &first, &end);
    char name[48];
    for (int64_t row = first; row < end; row++)
        for (int64_t i = row * WIDTH + block->offset; i < row * WIDTH + block->offset + block->length; i++) {
            const double off = fabs(estimates[i] - r->parties * r->values[i]);
            if (off > (0.5 + 1e-6) * check_release_grid(r, bit) * r->parties + 1e-9)
                return check_fail(check, "%s: the plan states no noise, and an estimate is %g off",
                                  check_release_name(bit, name), off);
        }
    return 0;
}

static int fill_draw(struct check *check, const struct release *r, const double *estimates, float *z)
{
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        if (!check_release_has(r, bit))
            continue;
        if (!(check_release_variance(r, bit) > 0)) {
            if (judge_still(check, r, bit, estimates) != 0)
                return -1;
            continue;
        }
        fill_part(r, bit, estimates, z);
        int64_t first, end;
        rows_with(r, bit, &first, &end);
        z += check_release_block(r, bit)->length * (end - first);
    }
    return 0;
}

static dpf_status estimate(const struct release *r, struct worker *worker, uint32_t draw, double *out)
{
    const int64_t last = ROWS - 1;
    const dpf_status status = check_release_estimate(r, worker, draw, r->values, 0, rows_of(r), out);
    return status != DPF_OK || rows_of(r) > last || !r->query.has_gram
               ? status
               : check_release_estimate(r, worker, draw, r->values + last * WIDTH, last, 1,
                                        out + last * WIDTH);
}

static void look_noise_of_parties(struct check *check, struct release *r)
{
    struct dpf_error error = {0};
    struct noise_table table;
    struct worker *worker = worker_new(0, 1);
    char where[48] = "";
    int failed = !worker || check_noise_open(check, DRAWS, ROWS * WIDTH, &table) != 0;
    for (int bit = 0; bit < DPF_BLOCK_BITS && !failed; bit++)
        if (check_release_has(r, bit) && check_release_variance(r, bit) > 0)
            add_part(check, r, bit, &table);
    for (uint32_t draw = 0; draw < DRAWS && !failed; draw++) {
        double estimates[ROWS * WIDTH];
        const dpf_status status = estimate(r, worker, draw, estimates);
        if (instance_result(r->instance, status, "encode and decode", &error) != 0)
            failed = check_fail(check, "%s", error.text);
        else
            failed = fill_draw(check, r, estimates, check_noise_row(&table, draw));
    }
    worker_free(worker);
    if (r->parties > 1)
        snprintf(where, sizeof where, " (%d parties)", r->parties);
    if (!failed)
        check_noise_judge(check, &table, where);
}

/* Of one party, and of several that add noise each in full: the plan's variance is that of the decoded sum. */
static void look_noise(struct check *check, struct release *r)
{
    struct dpf_error error = {0};
    look_noise_of_parties(check, r);
    if (r->plan.where != DPF_NOISE_AT_PARTY || check->outcome == CHECK_FAIL)
        return;
    if (check_release_parties(r, 3, &error) == DPF_OK)
        look_noise_of_parties(check, r);
}

void check_rule_mechanism_noise(struct check *check)
{
    check_each_release(check, look_noise);
}
