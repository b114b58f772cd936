/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/ids.h"
#include "dpframe/privacy.h"

static void *copied(const void *from, size_t count, size_t size, int *missing)
{
    if (!from)
        return NULL;
    void *out = memory_raw(count ? count : 1, size);
    if (out)
        memcpy(out, from, count * size);
    else
        *missing = 1;
    return out;
}

/* The ids, without one of them if that is not -1. */
static void copy_ids(const struct id_map *from, int64_t without, struct id_map *out, int *missing)
{
    size_t bytes = 0;
    for (int64_t i = 0; i < from->n; i++)
        bytes += strlen(id_map_text(from, i)) + 1;
    *out = (struct id_map){.all_integers = from->all_integers,
                           .bytes = memory_new(bytes + 1, 1),
                           .offsets = memory_new((size_t)from->n + 1, sizeof *out->offsets)};
    if (!out->bytes || !out->offsets) {
        *missing = 1;
        return;
    }
    size_t at = 0;
    for (int64_t i = 0; i < from->n; i++) {
        if (i == without)
            continue;
        const size_t length = strlen(id_map_text(from, i)) + 1;
        memcpy(out->bytes + at, id_map_text(from, i), length);
        out->offsets[out->n++] = (int64_t)at;
        at += length;
    }
}

static void copy_weights(const struct dataset *base, int64_t without, struct privacy_weights *out,
                         int *missing)
{
    const size_t users = (size_t)base->users.n, items = (size_t)base->items.n;
    out->users = copied(base->weights.users, users, sizeof *out->users, missing);
    out->items = copied(base->weights.items, items, sizeof *out->items, missing);
    out->item_groups = copied(base->weights.item_groups, items, 1, missing);
    out->user_groups = copied(base->weights.user_groups, users, 1, missing);
    if (without < 0)
        return;
    const size_t at = (size_t)without;
    if (out->users)
        memmove(out->users + at, out->users + at + 1, (users - at - 1) * sizeof *out->users);
    if (out->user_groups)
        memmove(out->user_groups + at, out->user_groups + at + 1, users - at - 1);
}

static int reserve(const struct csr *like, int64_t rows, struct csr *out)
{
    const size_t n = (size_t)like->ptr[like->rows] + 1;
    *out = (struct csr){.rows = rows,
                        .ptr = memory_new((size_t)rows + 1, sizeof *out->ptr),
                        .others = memory_raw(n, sizeof *out->others)};
    if (like->values)
        out->values = memory_raw(n, sizeof *out->values);
    if (like->privacy_weights)
        out->privacy_weights = memory_raw(n, sizeof *out->privacy_weights);
    return out->ptr && out->others && (!like->values || out->values) &&
                   (!like->privacy_weights || out->privacy_weights)
               ? 0
               : -1;
}

/* Links between users, those of one user left out, and the numbers behind it moved. */
static int copy_links(const struct csr *from, int64_t without, struct csr *out)
{
    if (!from->ptr)
        return 0;
    if (reserve(from, from->rows - (without >= 0), out) != 0)
        return -1;
    int64_t n = 0, row = 0;
    for (int64_t r = 0; r < from->rows; r++) {
        if (r == without)
            continue;
        for (int64_t i = from->ptr[r]; i < from->ptr[r + 1]; i++) {
            if (from->others[i] == without)
                continue;
            out->others[n] = from->others[i] - (without >= 0 && from->others[i] > without);
            if (out->values)
                out->values[n] = from->values[i];
            if (out->privacy_weights)
                out->privacy_weights[n] = from->privacy_weights[i];
            n++;
        }
        out->ptr[++row] = n;
    }
    return 0;
}

/* ---- records ------------------------------------------------------------------------------------------ */

struct making {
    const struct neighbours *kind;
    const struct canary *canary; /* of the row, or NULL */
    int32_t alone;               /* the only item that its user keeps, or -1 */
    int second;
    int leaves; /* the second form is: without */
};

/* Whether record i of the row, the nth of the canary's records, stays, and with which value. */
static int keeps(const struct making *making, int32_t item, int64_t nth, float *value)
{
    const struct canary *canary = making->canary;
    if (!canary)
        return 1;
    if (making->alone >= 0 && item != making->alone)
        return 0;
    if (canary->item >= 0 && item != canary->item)
        return 1;
    if (making->second && (making->leaves || (canary->item < 0 && making->kind->thin && nth > 0)))
        return 0;
    *value = (float)(making->second && !(making->kind->thin && canary->item < 0) ? making->kind->value_lo
                                                                                 : making->kind->value_hi);
    return 1;
}

static void copy_row(const struct csr *from, int64_t row, const struct making *making, struct csr *out,
                     int64_t *n)
{
    int64_t nth = 0;
    for (int64_t i = from->ptr[row]; i < from->ptr[row + 1]; i++) {
        float value = from->values ? from->values[i] : 1;
        if (!keeps(making, from->others[i], nth++, &value))
            continue;
        out->others[*n] = from->others[i];
        if (out->values)
            out->values[*n] = value;
        if (out->privacy_weights)
            out->privacy_weights[*n] = from->privacy_weights[i];
        ++*n;
    }
}

static int copy_records(const struct csr *from, const struct neighbours *kind, const struct canary *canaries,
                        const unsigned char *bits, int64_t n_canaries, int64_t without, struct csr *out)
{
    const int leaves = kind->adjacency != DPF_ADJ_REPLACE_VALUE && kind->adjacency != DPF_ADJ_REPLACE;
    int64_t *of = memory_new((size_t)from->rows + 1, sizeof *of), n = 0, row = 0;
    if (!of || reserve(from, from->rows - (without >= 0), out) != 0) {
        free(of);
        return -1;
    }
    for (int64_t c = 0; c < n_canaries; c++)
        of[canaries[c].user] = c + 1;
    for (int64_t r = 0; r < from->rows; r++) {
        const int64_t c = of[r] - 1;
        const struct making making = {.kind = kind,
                                      .canary = c >= 0 ? &canaries[c] : NULL,
                                      .alone = c >= 0 && kind->alone ? kind->alone[c] : -1,
                                      .second = c >= 0 && bits[c],
                                      .leaves = leaves};
        if (r == without)
            continue;
        copy_row(from, r, &making, out, &n);
        out->ptr[++row] = n;
    }
    free(of);
    return 0;
}

int neighbours_make(const struct dataset *base, const struct neighbours *kind, const struct canary *canaries,
                    const unsigned char *bits, int64_t n, struct dataset *out, struct dpf_error *error)
{
    const int departs = kind->unit == DPF_UNIT_USER && kind->adjacency == DPF_ADJ_ADD_REMOVE && n == 1;
    const int64_t without = departs && bits[0] ? canaries[0].user : -1;
    int missing = 0;
    *out = (struct dataset){.implicit = base->implicit,
                            .value_lo = base->value_lo,
                            .value_hi = base->value_hi,
                            .summary = base->summary};
    copy_ids(&base->users, without, &out->users, &missing);
    copy_ids(&base->items, -1, &out->items, &missing);
    copy_weights(base, without, &out->weights, &missing);
    if (missing || copy_links(&base->relation.links, without, &out->relation.links) != 0 ||
        copy_records(&base->train.by_user, kind, canaries, bits, n, without, &out->train.by_user) != 0) {
        dataset_free(out);
        return error_memory(error);
    }
    out->train.n = out->train.by_user.ptr[out->train.by_user.rows];
    if (csr_transpose(&out->train.by_user, out->items.n, &out->train.by_item, error) == 0)
        return 0;
    dataset_free(out);
    return -1;
}
