/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/checked_scores.h"

#include <math.h>
#include <stdio.h>

/* 0 * x is NaN just for what is not finite; four chains hide the latency of the addition. */
static int all_finite(const double *x, int64_t n)
{
    double a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += 0 * x[i];
        b += 0 * x[i + 1];
        c += 0 * x[i + 2];
        d += 0 * x[i + 3];
    }
    for (; i < n; i++)
        a += 0 * x[i];
    return a + b + c + d == 0;
}

static void name_of(const struct id_map *map, int64_t index, char name[128])
{
    if (map->bytes && index < map->n)
        snprintf(name, 128, "%s", id_map_text(map, index));
    else
        snprintf(name, 128, "number %lld", (long long)index);
}

static int report(const struct dataset *dataset, int64_t user, int64_t item, double score,
                  struct dpf_error *error)
{
    char user_name[128], item_name[128];
    name_of(&dataset->users, user, user_name);
    name_of(&dataset->items, item, item_name);
    return error_set(
        error, DPF_FAULT_RUN,
        "the model's score of item %s for user %s is %s; the factors have diverged: try a smaller "
        "learning rate, more regularisation, or less noise",
        item_name, user_name, isnan(score) ? "not a number" : "infinite");
}

int checked_scores(const struct scorer *scorer, const struct dataset *dataset, int64_t user,
                   const int32_t *items, int64_t n, double *out, struct dpf_error *error)
{
    if (n == 0)
        return 0;
    if (scorer->scores(scorer->context, (int32_t)user, items, n, out, error) != 0)
        return error_set(error, DPF_FAULT_RUN, "the model could not score user number %lld", (long long)user);
    if (all_finite(out, n))
        return 0;
    int64_t i = 0;
    while (isfinite(out[i]))
        i++;
    return report(dataset, user, items ? items[i] : i, out[i], error);
}

int row_has(const struct csr *csr, int64_t row, int32_t other)
{
    int64_t lo = csr->ptr[row], hi = csr->ptr[row + 1];
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (csr->others[middle] < other)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < csr->ptr[row + 1] && csr->others[lo] == other;
}
