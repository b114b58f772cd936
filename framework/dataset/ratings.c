/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/ratings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ratings_free(struct ratings *ratings)
{
    csr_free(&ratings->csr);
    free(ratings->times);
    free(ratings->order);
    memset(ratings, 0, sizeof *ratings);
}

int ratings_reserve(struct ratings *ratings, int64_t rows, int64_t n, const struct ratings_columns *has)
{
    struct csr *csr = &ratings->csr;
    size_t count = (size_t)n;
    memset(ratings, 0, sizeof *ratings);
    csr->rows = rows;
    csr->ptr = memory_new((size_t)rows + 1, sizeof *csr->ptr);
    csr->others = memory_large(count, sizeof *csr->others);
    int missing = !csr->ptr || !csr->others;
    if (has->values)
        missing |= !(csr->values = memory_large(count, sizeof *csr->values));
    if (has->weights)
        missing |= !(csr->privacy_weights = memory_large(count, sizeof *csr->privacy_weights));
    if (has->voids)
        missing |= !(csr->voids = memory_new(count, sizeof *csr->voids));
    if (has->times)
        missing |= !(ratings->times = memory_large(count, sizeof *ratings->times));
    if (has->order)
        missing |= !(ratings->order = memory_large(count, sizeof *ratings->order));
    if (!missing)
        return 0;
    ratings_free(ratings);
    return -1;
}

static void move_record(struct ratings *ratings, int64_t from, int64_t to)
{
    struct csr *csr = &ratings->csr;
    csr->others[to] = csr->others[from];
    if (csr->values)
        csr->values[to] = csr->values[from];
    if (csr->privacy_weights)
        csr->privacy_weights[to] = csr->privacy_weights[from];
    if (csr->voids)
        csr->voids[to] = csr->voids[from];
    if (ratings->times)
        ratings->times[to] = ratings->times[from];
    if (ratings->order)
        ratings->order[to] = ratings->order[from];
}

int64_t ratings_remove(struct ratings *ratings, const uint8_t *flags)
{
    struct csr *csr = &ratings->csr;
    int64_t to = 0, from = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t end = csr->ptr[r + 1];
        for (; from < end; from++) {
            if (flags[from])
                continue;
            if (from != to)
                move_record(ratings, from, to);
            to++;
        }
        csr->ptr[r + 1] = to;
    }
    return from - to;
}

int64_t ratings_void(struct ratings *ratings, const uint8_t *flags)
{
    const struct csr *csr = &ratings->csr;
    int64_t n = 0;
    for (int64_t i = 0; i < csr->ptr[csr->rows]; i++) {
        n += flags[i] && !csr->voids[i];
        csr->voids[i] |= flags[i];
    }
    return n;
}

int ratings_extract(struct ratings *ratings, const uint8_t *flags, struct csr *out)
{
    const struct csr *csr = &ratings->csr;
    int64_t total = csr->ptr[csr->rows], n = 0;
    struct ratings part;
    for (int64_t i = 0; i < total; i++)
        n += flags[i] != 0;
    const struct ratings_columns has = {
        .values = csr->values != NULL, .weights = csr->privacy_weights != NULL, .voids = csr->voids != NULL};
    if (ratings_reserve(&part, csr->rows, n, &has) != 0)
        return -1;
    int64_t to = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++) {
            if (!flags[i])
                continue;
            part.csr.others[to] = csr->others[i];
            if (csr->values)
                part.csr.values[to] = csr->values[i];
            if (csr->privacy_weights)
                part.csr.privacy_weights[to] = csr->privacy_weights[i];
            if (csr->voids)
                part.csr.voids[to] = csr->voids[i];
            to++;
        }
        part.csr.ptr[r + 1] = to;
    }
    ratings_remove(ratings, flags);
    *out = part.csr;
    return 0;
}
