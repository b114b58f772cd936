/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "dataset/dataset.h"

static int64_t draw_items(const struct dataset *dataset, int64_t user, int32_t *out)
{
    const struct user_candidates *candidates = &dataset->candidates;
    struct prf draw;
    int64_t n = 0;
    prf_within(&candidates->draw, id_map_text(&dataset->users, user), &draw);
    for (int64_t item = 0; item < dataset->items.n; item++)
        if (prf_unit(prf_value(&draw, id_map_text(&dataset->items, item))) < candidates->fraction)
            out[n++] = (int32_t)item;
    return n;
}

int64_t dataset_candidates(const struct dataset *dataset, int64_t user, int32_t *out)
{
    const struct user_candidates *candidates = &dataset->candidates;
    const int64_t *test = dataset->test.by_user.ptr;
    if (candidates->kind == CANDIDATES_DRAWN)
        return draw_items(dataset, user, out);
    if (!test || test[user + 1] == test[user])
        return 0;
    memcpy(out, candidates->items, (size_t)candidates->n * sizeof *out);
    return candidates->n;
}
