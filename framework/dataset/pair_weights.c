/* SPDX-License-Identifier: Apache-2.0 */
/* Privacy weights of pairs of users and items, rated or not. */
#include <stddef.h>

#include "dataset/dataset.h"

/* The weight that a part of the data has for a pair, or -1. */
static float find_record(const struct csr *csr, int32_t user, int32_t item)
{
    if (!csr->ptr || !csr->privacy_weights)
        return -1;
    const int64_t at = csr_find(csr, user, item);
    return at < 0 ? -1 : csr->privacy_weights[at];
}

int dataset_has_weights(const struct dataset *dataset)
{
    return dataset->weights.users || dataset->train.by_user.privacy_weights;
}

int dataset_weights(const struct dataset *dataset, int32_t user, const int32_t *items, int64_t n, float *out,
                    struct dpf_error *error)
{
    const struct privacy_weights *w = &dataset->weights;
    for (int64_t k = 0; k < n; k++) {
        int32_t item = items ? items[k] : (int32_t)k;
        out[k] = w->users ? w->users[user] * w->items[item] : find_record(&dataset->test.by_user, user, item);
        if (out[k] < 0)
            out[k] = find_record(&dataset->train.by_user, user, item);
        if (out[k] < 0)
            return error_set(
                error, DPF_FAULT_DATA,
                "user %s has no privacy weight for item %s, so it cannot be predicted: weights of records "
                "cover rated items only; give weights of users and items (data.weights.kind)",
                id_map_text(&dataset->users, user), id_map_text(&dataset->items, item));
    }
    return 0;
}
