/* SPDX-License-Identifier: Apache-2.0 */
#include "data/similarity.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static int is_open(const struct csr *csr, int64_t k)
{
    return !(csr->voids && csr->voids[k]) && (!csr->privacy_weights || csr->privacy_weights[k] >= 1);
}

static double value_of(const struct csr *csr, int64_t k)
{
    return csr->values ? (double)csr->values[k] : 1;
}

static double *means_of(const struct csr *csr)
{
    double *means = memory_new((size_t)csr->rows + 1, sizeof *means);
    for (int64_t r = 0; means && r < csr->rows; r++) {
        double sum = 0, n = 0;
        for (int64_t k = csr->ptr[r]; k < csr->ptr[r + 1]; k++)
            if (is_open(csr, k)) {
                sum += value_of(csr, k);
                n++;
            }
        means[r] = n > 0 ? sum / n : 0;
    }
    return means;
}

/* Rows are ascending by item: one pass over both. */
static double pearson(const struct csr *csr, const double *means, int64_t a, int64_t b)
{
    double product = 0, square_a = 0, square_b = 0;
    int64_t i = csr->ptr[a], j = csr->ptr[b];
    while (i < csr->ptr[a + 1] && j < csr->ptr[b + 1]) {
        if (csr->others[i] < csr->others[j]) {
            i++;
        } else if (csr->others[i] > csr->others[j]) {
            j++;
        } else {
            if (is_open(csr, i) && is_open(csr, j)) {
                double x = value_of(csr, i) - means[a], y = value_of(csr, j) - means[b];
                product += x * y;
                square_a += x * x;
                square_b += y * y;
            }
            i++;
            j++;
        }
    }
    double length = sqrt(square_a * square_b);
    return length > 0 ? fmax(-1, fmin(1, product / length)) : 0;
}

int similarity_fill(const struct data_options *options, struct dataset *dataset, struct dpf_error *error)
{
    struct csr *links = &dataset->relation.links;
    const struct csr *csr = &dataset->train.by_user;
    if (!links->ptr || options->relation_similarity == SIMILARITY_NONE)
        return 0;
    double *means = means_of(csr);
    if (!links->values)
        links->values = memory_new((size_t)links->ptr[links->rows] + 1, sizeof *links->values);
    if (!means || !links->values) {
        free(means);
        return error_memory(error);
    }
    for (int64_t r = 0; r < links->rows; r++)
        for (int64_t k = links->ptr[r]; k < links->ptr[r + 1]; k++)
            links->values[k] = (float)((1 + pearson(csr, means, r, links->others[k])) / 2);
    free(means);
    return 0;
}
