/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"
#include "dpframe/privacy.h"

#define DISTINCT_LIMIT 1000
#define DISTINCT_SLOTS 4096

/* The distinct values seen, while there are few. */
struct distinct {
    uint32_t bits[DISTINCT_SLOTS];
    uint8_t used[DISTINCT_SLOTS];
    int64_t n;
};

/* The first slot holds nearly every value; whether it is the last one again, no processor foretells. */
static void distinct_add(struct distinct *distinct, float value)
{
    uint32_t bits;
    value += 0.0f; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    if (distinct->n >= DISTINCT_LIMIT)
        return;
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
    double sum = totals->sum;
    float min = INFINITY, max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (csr->voids && csr->voids[i])
            continue;
        const float value = csr->values ? csr->values[i] : 1.0f;
        sum += (double)value;
        min = value < min ? value : min;
        max = value > max ? value : max;
        distinct_add(distinct, value);
        totals->n++;
    }
    totals->sum = sum;
    totals->min = (double)min < totals->min ? (double)min : totals->min;
    totals->max = (double)max > totals->max ? (double)max : totals->max;
}

/* Items are counted once, whichever ranks have test records of them. */
static int count_cold_items(struct dataset *dataset, int64_t *cold, struct dpf_error *error)
{
    if (dataset->shares[DPF_SIDE_USERS] && ranks_sum(cold, dataset->items.n, error) != 0)
        return -1;
    for (int64_t i = 0; i < dataset->items.n; i++)
        dataset->summary.cold_items += cold[i] > 0;
    return 0;
}

/* ptr of training records by item tells how many each has, over all ranks. */
static int count_cold(struct dataset *dataset, struct dpf_error *error)
{
    const struct csr *train = &dataset->train.by_user, *test = &dataset->test.by_user;
    const int64_t *items = dataset->train.by_item.ptr;
    struct dataset_summary *summary = &dataset->summary;
    int64_t *cold_items = memory_new((size_t)dataset->items.n + 1, sizeof *cold_items);
    if (!cold_items)
        return error_memory(error);
    for (int64_t r = 0; test->ptr && r < test->rows; r++) {
        int cold = train->ptr[r] == train->ptr[r + 1];
        summary->cold_users += cold && test->ptr[r] < test->ptr[r + 1];
        for (int64_t i = test->ptr[r]; i < test->ptr[r + 1]; i++) {
            const int32_t item = test->others[i];
            const int unknown = items[item] == items[item + 1];
            summary->cold_records += cold || unknown;
            cold_items[item] |= unknown;
        }
    }
    const int status = count_cold_items(dataset, cold_items, error);
    free(cold_items);
    return status;
}

int summary_fill(struct dataset *dataset, struct dpf_error *error)
{
    struct dataset_summary *summary = &dataset->summary;
    struct totals totals = {0, INFINITY, -INFINITY, 0};
    struct distinct *distinct = memory_new(1, sizeof *distinct);
    if (!distinct)
        return error_memory(error);
    add_values(&dataset->train.by_user, &totals, distinct);
    add_values(&dataset->test.by_user, &totals, distinct);
    summary->users = dataset->users.n;
    summary->items = dataset->items.n;
    summary->ratings = totals.n;
    summary->distinct_values = distinct->n;
    summary->value_min = totals.n ? totals.min : 0;
    summary->value_max = totals.n ? totals.max : 0;
    summary->value_mean = totals.n ? totals.sum / (double)totals.n : 0;
    free(distinct);
    return count_cold(dataset, error);
}

int summary_has_no_record(const struct dataset_summary *summary)
{
    return summary->ratings == 0 && summary->below_threshold == 0 && summary->out_of_range == 0 &&
           summary->filtered == 0 && summary->out_of_catalogue == 0;
}

static void add_number(struct text *out, const char *before, int64_t count, const char *one, const char *more)
{
    char number[32];
    text_add(out, "%s%s %s", before, text_from_count(count, number), count == 1 ? one : more);
}

static void add_count(struct text *out, int64_t count, const char *one, const char *more)
{
    if (count > 0)
        add_number(out, ", ", count, one, more);
}

static void add_sizes(const struct dataset *dataset, struct text *out)
{
    add_number(out, "", dataset->summary.users, "user", "users");
    add_number(out, " x ", dataset->summary.items, "item", "items");
}

static char *finished(struct text *text)
{
    return text->data;
}

char *data_catalogues_text(const struct dataset *dataset)
{
    struct text out = {0};
    add_sizes(dataset, &out);
    text_add(&out, " in the catalogues; the server has no records");
    return finished(&out);
}

char *data_summary_text(const struct dataset *dataset)
{
    const struct dataset_summary *s = &dataset->summary;
    struct text out = {0};
    add_sizes(dataset, &out);
    add_number(&out, ", ", s->ratings, dataset->implicit ? "interaction" : "rating",
               dataset->implicit ? "interactions" : "ratings");
    if (!dataset->implicit && s->ratings > 0)
        text_add(&out, " from %g to %g, mean %.4f, %s%lld distinct", s->value_min, s->value_max,
                 s->value_mean, s->distinct_values >= DISTINCT_LIMIT ? "at least " : "",
                 (long long)s->distinct_values);
    add_count(&out, dataset->test.n, "of them for testing", "of them for testing");
    add_count(&out, s->duplicates, "duplicate resolved", "duplicates resolved");
    add_count(&out, s->below_threshold, "below the threshold", "below the threshold");
    add_count(&out, s->out_of_range, "outside of the declared range dropped",
              "outside of the declared range dropped");
    add_count(&out, s->filtered, "filtered", "filtered");
    add_count(&out, s->out_of_catalogue, "outside of the catalogues left out",
              "outside of the catalogues left out");
    add_count(&out, s->clipped, "value moved to an end of the declared range",
              "values moved to an end of the declared range");
    add_count(&out, s->empty_lines, "empty line", "empty lines");
    add_count(&out, s->time_ties_decided,
              "user whose held-out record the order of lines decided (equal time stamps)",
              "users whose held-out record the order of lines decided (equal time stamps)");
    if (s->cold_records > 0)
        text_add(&out, ", %lld test record%s of users (%lld) or items (%lld) without training records",
                 (long long)s->cold_records, s->cold_records == 1 ? "" : "s", (long long)s->cold_users,
                 (long long)s->cold_items);
    if (dataset->relation.links.ptr) {
        const struct csr *links = &dataset->relation.links;
        add_number(&out, ", ", links->ptr[links->rows], "link", "links");
        add_count(&out, dataset->relation.unknown, "link of users without ratings dropped",
                  "links of users without ratings dropped");
        add_count(&out, dataset->relation.self, "link to oneself dropped", "links to oneself dropped");
    }
    return finished(&out);
}
