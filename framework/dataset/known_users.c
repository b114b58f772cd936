/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/dataset.h"

static void copy_row(const struct csr *from, int64_t row, struct csr *to, int64_t at)
{
    const int64_t begin = from->ptr[row];
    const size_t n = (size_t)(from->ptr[row + 1] - begin);
    if (n == 0)
        return;
    memcpy(to->others + at, from->others + begin, n * sizeof *to->others);
    if (to->values && from->values)
        memcpy(to->values + at, from->values + begin, n * sizeof *to->values);
    if (to->privacy_weights && from->privacy_weights)
        memcpy(to->privacy_weights + at, from->privacy_weights + begin, n * sizeof *to->privacy_weights);
    if (to->voids && from->voids)
        memcpy(to->voids + at, from->voids + begin, n);
}

/* Users with both kinds of records there are none: one that is held out is not trained on. */
int dataset_at_home(const struct dataset *dataset, struct csr *out, struct dpf_error *error)
{
    const struct csr *train = &dataset->train.by_user, *known = &dataset->known;
    const int64_t rows = train->rows;
    const size_t n = (size_t)(train->ptr[rows] + known->ptr[rows]) + 1;
    *out = (struct csr){.rows = rows,
                        .ptr = memory_new((size_t)rows + 1, sizeof *out->ptr),
                        .others = memory_new(n, sizeof *out->others),
                        .values = train->values ? memory_new(n, sizeof *out->values) : NULL,
                        .privacy_weights =
                            train->privacy_weights ? memory_new(n, sizeof *out->privacy_weights) : NULL,
                        .voids = train->voids ? memory_new(n, 1) : NULL};
    if (!out->ptr || !out->others || (train->values && !out->values) ||
        (train->privacy_weights && !out->privacy_weights) || (train->voids && !out->voids)) {
        csr_free(out);
        return error_memory(error);
    }
    for (size_t i = 0; out->privacy_weights && i < n; i++)
        out->privacy_weights[i] = 1;
    for (int64_t r = 0, at = 0; r < rows; r++) {
        const struct csr *from = known->ptr[r + 1] > known->ptr[r] ? known : train;
        copy_row(from, r, out, at);
        at += from->ptr[r + 1] - from->ptr[r];
        out->ptr[r + 1] = at;
    }
    return 0;
}

int dataset_take_home(struct dataset *dataset, struct dpf_error *error)
{
    struct csr all;
    if (!dataset->known.ptr)
        return 0;
    if (dataset_at_home(dataset, &all, error) != 0)
        return -1;
    csr_free(&dataset->train.by_user);
    csr_free(&dataset->known);
    dataset->train.by_user = all;
    return 0;
}
