/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define DISTINCT_LIMIT 1000
#define DISTINCT_SLOTS 4096

/* The distinct values seen, while there are few. */
struct distinct {
    uint32_t bits[DISTINCT_SLOTS];
    uint8_t used[DISTINCT_SLOTS];
    int64_t n;
    uint32_t last;
};

static void distinct_add(struct distinct *distinct, float value)
{
    uint32_t bits;
    value += 0.0f; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    if (distinct->n >= DISTINCT_LIMIT || (distinct->n > 0 && bits == distinct->last))
        return;
    distinct->last = bits;
    uint32_t at = (bits * UINT32_C(2654435761)) >> 20;
    for (; distinct->used[at]; at = (at + 1) % DISTINCT_SLOTS)
        if (distinct->bits[at] == bits)
            return;
    distinct->used[at] = 1;
    distinct->bits[at] = bits;
    distinct->n++;
}

struct totals {
    double sum, min, max;
    int64_t n;
};

static void add_values(const struct csr *csr, struct totals *totals, struct distinct *distinct)
{
    int64_t n = csr->ptr ? csr->ptr[csr->rows] : 0;
    for (int64_t i = 0; i < n; i++) {
        double value = csr->values ? csr->values[i] : 1.0;
        totals->sum += value;
        totals->min = fmin(totals->min, value);
        totals->max = fmax(totals->max, value);
        distinct_add(distinct, (float)value);
    }
    totals->n += n;
}

static void count_cold(struct dataset *dataset, uint8_t *item_known)
{
    const struct csr *train = &dataset->train.by_user, *test = &dataset->test.by_user;
    struct dataset_summary *summary = &dataset->summary;
    int64_t n = train->ptr[train->rows];
    for (int64_t i = 0; i < n; i++)
        item_known[train->others[i]] = 1;
    for (int64_t r = 0; r < test->rows; r++) {
        int cold = train->ptr[r] == train->ptr[r + 1];
        summary->cold_users += cold && test->ptr[r] < test->ptr[r + 1];
        for (int64_t i = test->ptr[r]; i < test->ptr[r + 1]; i++) {
            uint8_t *known = &item_known[test->others[i]];
            summary->cold_records += cold || *known != 1;
            if (*known == 0)
                *known = 2; /* cold, and counted */
        }
    }
    for (int64_t i = 0; i < dataset->items.n; i++)
        summary->cold_items += item_known[i] == 2;
}

int summary_fill(struct dataset *dataset, struct dpf_error *error)
{
    struct dataset_summary *summary = &dataset->summary;
    struct totals totals = {0, INFINITY, -INFINITY, 0};
    struct distinct *distinct = memory_new(1, sizeof *distinct);
    uint8_t *item_known = memory_new((size_t)dataset->items.n, 1);
    if (!distinct || !item_known) {
        free(distinct);
        free(item_known);
        return error_memory(error);
    }
    add_values(&dataset->train.by_user, &totals, distinct);
    add_values(&dataset->test.by_user, &totals, distinct);
    if (dataset->test.n > 0)
        count_cold(dataset, item_known);
    summary->users = dataset->users.n;
    summary->items = dataset->items.n;
    summary->ratings = totals.n;
    summary->distinct_values = distinct->n;
    summary->value_min = totals.n ? totals.min : 0;
    summary->value_max = totals.n ? totals.max : 0;
    summary->value_mean = totals.n ? totals.sum / (double)totals.n : 0;
    free(distinct);
    free(item_known);
    return 0;
}

static void add_count(struct text *out, int64_t count, const char *words)
{
    char number[32];
    if (count > 0)
        text_add(out, ", %s %s", text_from_count(count, number), words);
}

char *data_summary_text(const struct dataset *dataset)
{
    const struct dataset_summary *s = &dataset->summary;
    char number[32];
    struct text out = {0};
    text_add(&out, "%s users", text_from_count(s->users, number));
    text_add(&out, " x %s items", text_from_count(s->items, number));
    text_add(&out, ", %s %s", text_from_count(s->ratings, number),
             dataset->implicit ? "interactions" : "ratings");
    if (!dataset->implicit && s->ratings > 0)
        text_add(&out, " from %g to %g, mean %.4f, %s%lld distinct", s->value_min, s->value_max,
                 s->value_mean, s->distinct_values >= DISTINCT_LIMIT ? "at least " : "",
                 (long long)s->distinct_values);
    add_count(&out, dataset->test.n, "of them for testing");
    add_count(&out, s->duplicates, "duplicates resolved");
    add_count(&out, s->below_threshold, "below the threshold");
    add_count(&out, s->out_of_range, "outside of the declared range dropped");
    add_count(&out, s->filtered, "filtered");
    add_count(&out, s->out_of_catalogue, "outside of the catalogues left out");
    add_count(&out, s->clipped, "values moved to an end of the declared range");
    add_count(&out, s->empty_lines, "empty lines");
    add_count(&out, s->time_ties_decided,
              "users whose held-out record the order of lines decided (equal time stamps)");
    if (s->cold_records > 0)
        text_add(&out, ", %lld test records of users (%lld) or items (%lld) without training records",
                 (long long)s->cold_records, (long long)s->cold_users, (long long)s->cold_items);
    if (dataset->relation.links.ptr) {
        const struct csr *links = &dataset->relation.links;
        text_add(&out, ", %s links", text_from_count(links->ptr[links->rows], number));
        add_count(&out, dataset->relation.unknown, "links of users without ratings dropped");
        add_count(&out, dataset->relation.self, "links to oneself dropped");
    }
    if (out.failed) {
        text_free(&out);
        return NULL;
    }
    return out.data;
}
