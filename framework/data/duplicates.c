/* SPDX-License-Identifier: Apache-2.0 */
/* One record for each pair of user and item. */
#include "data/duplicates.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "reading/row.h"

static int report_pair(const struct ratings *ratings, const struct table *table, const struct id_map *users,
                       const struct id_map *items, int64_t row, int64_t at, const char *what,
                       struct dpf_error *error)
{
    int32_t item = ratings->csr.others[at];
    const char *path = NULL, *other_path = NULL;
    int64_t line = 0, other_line = 0;
    table_find(table, (int32_t)row, item, 1, &path, &line);
    table_find(table, (int32_t)row, item, 0, &other_path, &other_line);
    return error_at(error, DPF_FAULT_DATA, path, (long)line,
                    "user \"%s\" and item \"%s\" %s (first in %s:%lld)", id_map_text(users, row),
                    id_map_text(items, item), what, other_path ? other_path : "?", (long long)other_line);
}

/* The record that stands for the group first .. last-1, which is in the order of lines. */
static int64_t choose(const struct ratings *ratings, enum data_duplicates policy, int64_t first, int64_t last)
{
    int64_t chosen = policy == DUPLICATES_FIRST ? first : last - 1;
    if (!ratings->times)
        return chosen;
    for (int64_t i = first; i < last; i++) {
        double time = ratings->times[i], best = ratings->times[chosen];
        if (policy == DUPLICATES_FIRST ? time < best : time > best || (time == best && i > chosen))
            chosen = i;
    }
    return chosen;
}

/* Sums may leave the declared range that sensitivities rest on, so the rule for the range applies again.
   1: the record is to be dropped; 2: it was clipped; -1: refused. */
static int restore_range(const struct data_options *options, double *value)
{
    if (*value >= options->value_lo && *value <= options->value_hi)
        return 0;
    if (options->file.out_of_range != RANGE_CLIP)
        return options->file.out_of_range == RANGE_DROP ? 1 : -1;
    *value = fmin(fmax(*value, options->value_lo), options->value_hi);
    return 2;
}

static int merge_values(struct ratings *ratings, const struct data_options *options, int64_t first,
                        int64_t last, int64_t chosen)
{
    float *values = ratings->csr.values;
    if (!values || (options->duplicates != DUPLICATES_MEAN && options->duplicates != DUPLICATES_SUM))
        return 0;
    double sum = 0;
    for (int64_t i = first; i < last; i++)
        sum += values[i];
    if (options->duplicates == DUPLICATES_MEAN)
        sum /= (double)(last - first);
    int status = restore_range(options, &sum);
    float rounded = (float)sum;
    if ((double)rounded > options->value_hi)
        rounded = nextafterf(rounded, -INFINITY);
    if ((double)rounded < options->value_lo)
        rounded = nextafterf(rounded, INFINITY);
    values[chosen] = rounded;
    return isfinite(rounded) ? status : -1;
}

/* What becomes of the records first .. last-1 of one pair: all but one go, or all. */
struct group {
    int64_t first, last, chosen;
    int clipped; /* its value was moved to an end of the declared range, */
    int dropped; /* or lies outside of it */
    int drop;    /* all go; 0: one stays */
};

/* A pair whose lines make no value: its cell stays where void records do. */
static void make_void(struct ratings *ratings, const struct data_options *options, struct group *group,
                      int stays)
{
    struct csr *csr = &ratings->csr;
    group->drop = !csr->voids || !stays;
    if (group->drop)
        return;
    csr->voids[group->chosen] = 1;
    if (csr->values)
        csr->values[group->chosen] = void_value(&options->file);
}

/* A pair that is at fault. */
static int pass_over(struct ratings *ratings, const struct data_options *options, struct group *group,
                     struct violations *violations, struct dpf_error *error)
{
    if (!violations)
        return -1;
    violations_add(violations, 0, 0, error);
    make_void(ratings, options, group, 1);
    return 0;
}

static int resolve_group(struct ratings *ratings, const struct data_options *options,
                         const struct table *table, const struct id_map *users, const struct id_map *items,
                         int64_t row, struct group *group, struct violations *violations,
                         struct dpf_error *error)
{
    group->chosen = choose(ratings, options->duplicates, group->first, group->last);
    group->drop = 0;
    if (options->duplicates == DUPLICATES_ERROR) {
        report_pair(ratings, table, users, items, row, group->first,
                    "occur again; set duplicates = last, first, mean or sum", error);
        return pass_over(ratings, options, group, violations, error);
    }
    const int merged = merge_values(ratings, options, group->first, group->last, group->chosen);
    group->dropped = merged == 1;
    if (group->dropped)
        make_void(ratings, options, group, options->file.drops_stay);
    group->clipped = merged == 2;
    if (merged >= 0)
        return 0;
    report_pair(ratings, table, users, items, row, group->first,
                "add up to a value outside the declared range; widen value-min and value-max, or set "
                "out-of-range = clip or drop",
                error);
    return pass_over(ratings, options, group, violations, error);
}

int ratings_has_duplicates(const struct ratings *ratings)
{
    const struct csr *csr = &ratings->csr;
    int any = 0;
    for (int64_t r = 0; r < csr->rows && !any; r++)
        for (int64_t i = csr->ptr[r] + 1; i < csr->ptr[r + 1]; i++)
            any |= csr->others[i] == csr->others[i - 1];
    return any;
}

/* A pair is what its lines that are not void say; of void lines alone, the first stays. */
static int pass_over_voids(struct ratings *ratings, struct dpf_error *error)
{
    const struct csr *csr = &ratings->csr;
    uint8_t *flags = memory_new((size_t)csr->ptr[csr->rows] + 1, 1);
    if (!flags)
        return error_memory(error);
    for (int64_t r = 0; r < csr->rows; r++)
        for (int64_t i = csr->ptr[r], last; i < csr->ptr[r + 1]; i = last) {
            int64_t valid = 0;
            for (last = i; last < csr->ptr[r + 1] && csr->others[last] == csr->others[i]; last++)
                valid += !csr->voids[last];
            for (int64_t j = i; j < last; j++)
                flags[j] = csr->voids[j] && (valid > 0 || j > i);
        }
    ratings_remove(ratings, flags);
    free(flags);
    return 0;
}

int ratings_resolve(struct ratings *ratings, const struct data_options *options, const struct table *table,
                    const struct id_map *users, const struct id_map *items, struct resolved *counts,
                    struct violations *violations, struct dpf_error *error)
{
    struct csr *csr = &ratings->csr;
    if (!ratings_has_duplicates(ratings))
        return 0;
    if (csr->voids && pass_over_voids(ratings, error) != 0)
        return -1;
    uint8_t *flags = NULL; /* only once there is a duplicate */
    int status = 0;
    for (int64_t r = 0; r < csr->rows && status == 0; r++)
        for (int64_t i = csr->ptr[r], last; i < csr->ptr[r + 1] && status == 0; i = last) {
            for (last = i + 1; last < csr->ptr[r + 1] && csr->others[last] == csr->others[i];)
                last++;
            if (last == i + 1)
                continue;
            struct group group = {.first = i, .last = last};
            if (!flags && !(flags = memory_new((size_t)csr->ptr[csr->rows], 1)))
                status = error_memory(error);
            else
                status = resolve_group(ratings, options, table, users, items, r, &group, violations, error);
            for (int64_t j = i; j < last && status == 0; j++)
                flags[j] = j != group.chosen || group.drop;
            counts->removed += last - i - 1;
            counts->dropped += group.dropped || group.drop;
            counts->clipped += group.clipped;
        }
    if (status == 0 && flags)
        ratings_remove(ratings, flags);
    free(flags);
    return status;
}
