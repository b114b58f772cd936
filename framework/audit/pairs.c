/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/ids.h"
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

/*
 * The user that leaves, or is made the last one: -1 for neither. Rows of the outcome are numbered by
 * ranked(), from their number in base.
 */
struct departure {
    int64_t user;
    int stays;
};

static int64_t kept(const struct departure *departure, int64_t n)
{
    return n - (departure->user >= 0 && !departure->stays);
}

/* The row of base that becomes row i of n that are kept. */
static int64_t row_before(const struct departure *departure, int64_t i, int64_t n)
{
    if (departure->user < 0 || i < departure->user)
        return i;
    return departure->stays && i == n - 1 ? departure->user : i + 1;
}

/* Where row r of base is in an outcome, its departing user left aside. */
static int64_t row_after(const struct departure *departure, int64_t r)
{
    return r - (departure->user >= 0 && r > departure->user);
}

static void copy_ids(const struct id_map *from, const struct departure *departure, struct id_map *out,
                     int *missing)
{
    size_t bytes = 0;
    for (int64_t i = 0; i < from->n; i++)
        bytes += strlen(id_map_text(from, i)) + 1;
    *out = (struct id_map){.bytes = memory_new(bytes + 1, 1),
                           .offsets = memory_new((size_t)from->n + 1, sizeof *out->offsets)};
    if (!out->bytes || !out->offsets) {
        *missing = 1;
        return;
    }
    const int64_t n = kept(departure, from->n);
    for (size_t at = 0; out->n < n;) {
        const char *text = id_map_text(from, row_before(departure, out->n, n));
        const size_t length = strlen(text) + 1;
        memcpy(out->bytes + at, text, length);
        out->offsets[out->n++] = (int64_t)at;
        at += length;
    }
}

/* Numbers by user, in the order of the outcome. */
static void *copy_by_user(const void *from, size_t size, const struct departure *departure, int64_t users,
                          int *missing)
{
    unsigned char *out = copied(from, (size_t)users, size, missing);
    const int64_t n = kept(departure, users);
    for (int64_t i = 0; out && i < n; i++)
        memcpy(out + (size_t)i * size,
               (const unsigned char *)from + (size_t)row_before(departure, i, n) * size, size);
    return out;
}

static void copy_weights(const struct dataset *base, const struct departure *departure,
                         struct privacy_weights *out, int *missing)
{
    const struct privacy_weights *from = &base->weights;
    const size_t items = (size_t)base->items.n;
    out->users = copy_by_user(from->users, sizeof *out->users, departure, base->users.n, missing);
    out->items = copied(from->items, items, sizeof *out->items, missing);
    out->item_groups = copied(from->item_groups, items, 1, missing);
    out->user_groups = copy_by_user(from->user_groups, 1, departure, base->users.n, missing);
}

/* Room for as many entries, and some more. */
static int reserve(const struct csr *like, int64_t rows, int64_t more, struct csr *out)
{
    const size_t n = (size_t)(like->ptr[like->rows] + more) + 1;
    *out = (struct csr){.rows = rows,
                        .ptr = memory_new((size_t)rows + 1, sizeof *out->ptr),
                        .others = memory_raw(n, sizeof *out->others)};
    if (like->values)
        out->values = memory_raw(n, sizeof *out->values);
    if (like->privacy_weights)
        out->privacy_weights = memory_raw(n, sizeof *out->privacy_weights);
    if (like->voids)
        out->voids = memory_raw(n, sizeof *out->voids);
    return out->ptr && out->others && (!like->values || out->values) &&
                   (!like->privacy_weights || out->privacy_weights) && (!like->voids || out->voids)
               ? 0
               : -1;
}

/* Entry i of links, to the user of that number in the outcome. */
static void copy_link(const struct csr *from, int64_t i, int64_t to, struct csr *out, int64_t *n)
{
    out->others[*n] = (int32_t)to;
    if (out->values)
        out->values[*n] = from->values[i];
    if (out->privacy_weights)
        out->privacy_weights[*n] = from->privacy_weights[i];
    ++*n;
}

/* Links between users: those to the one that departs are left out, or come last. */
static int copy_links(const struct csr *from, const struct departure *departure, struct csr *out)
{
    if (!from->ptr)
        return 0;
    const int64_t rows = kept(departure, from->rows);
    int64_t n = 0;
    if (reserve(from, rows, 0, out) != 0)
        return -1;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t r = row_before(departure, row, rows);
        int64_t last = -1;
        for (int64_t i = from->ptr[r]; i < from->ptr[r + 1]; i++)
            if (from->others[i] == departure->user)
                last = i;
            else
                copy_link(from, i, row_after(departure, from->others[i]), out, &n);
        if (last >= 0 && departure->stays)
            copy_link(from, last, rows - 1, out, &n);
        out->ptr[row + 1] = n;
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
    const int low = making->second && !(making->kind->thin && canary->item < 0);
    if (low || !(making->kind->as_they_are || making->kind->records))
        *value = (float)(low ? making->kind->value_lo : making->kind->value_hi);
    return 1;
}

static void copy_row(const struct csr *from, int64_t row, const struct making *making, struct csr *out,
                     int64_t *n)
{
    const struct canary_records *given = making->canary ? making->kind->records : NULL;
    const int64_t first = from->ptr[row], count = given ? given->n : from->ptr[row + 1] - first;
    for (int64_t k = 0; k < count; k++) {
        const int32_t item = given ? given->items[k] : from->others[first + k];
        float value = given ? given->values[k] : from->values ? from->values[first + k] : 1;
        const int stays = keeps(making, item, k, &value);
        /* Where cells are public, what leaves is void. */
        if (!stays && !(out->voids && making->second && making->leaves))
            continue;
        out->others[*n] = item;
        if (out->values)
            out->values[*n] = value;
        if (out->privacy_weights)
            out->privacy_weights[*n] = from->privacy_weights[given ? first : first + k];
        if (out->voids)
            out->voids[*n] = !stays || (!given && from->voids[first + k]);
        ++*n;
    }
}

static int copy_records(const struct csr *from, const struct neighbours *kind, const struct canary *canaries,
                        const unsigned char *bits, int64_t n_canaries, const struct departure *departure,
                        struct csr *out)
{
    const int leaves = kind->adjacency != DPF_ADJ_REPLACE_VALUE && kind->adjacency != DPF_ADJ_REPLACE;
    const int64_t rows = kept(departure, from->rows);
    int64_t *of = memory_new((size_t)from->rows + 1, sizeof *of), n = 0;
    if (!of || reserve(from, rows, kind->records ? kind->records->n * n_canaries : 0, out) != 0) {
        free(of);
        return -1;
    }
    for (int64_t c = 0; c < n_canaries; c++)
        of[canaries[c].user] = c + 1;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t r = row_before(departure, row, rows), c = of[r] - 1;
        const struct making making = {.kind = kind,
                                      .canary = c >= 0 ? &canaries[c] : NULL,
                                      .alone = c >= 0 && kind->alone ? kind->alone[c] : -1,
                                      .second = c >= 0 && bits[c],
                                      .leaves = leaves};
        copy_row(from, r, &making, out, &n);
        out->ptr[row + 1] = n;
    }
    free(of);
    return 0;
}

static int copy_features(const struct feature_table *from, struct feature_table *out)
{
    if (!from->ptr)
        return 0;
    const int64_t rows = from->rows, entries = from->ptr[rows];
    *out = (struct feature_table){.n_fields = from->n_fields,
                                  .rows = rows,
                                  .columns = from->columns,
                                  .ptr = memory_new((size_t)rows + 1, sizeof *out->ptr),
                                  .at = memory_raw((size_t)entries + 1, sizeof *out->at),
                                  .values = memory_raw((size_t)entries + 1, sizeof *out->values),
                                  .column = memory_new((size_t)from->columns + 1, sizeof *out->column)};
    if (!out->ptr || !out->at || !out->values || !out->column)
        return -1;
    memcpy(out->ptr, from->ptr, ((size_t)rows + 1) * sizeof *out->ptr);
    memcpy(out->at, from->at, (size_t)entries * sizeof *out->at);
    memcpy(out->values, from->values, (size_t)entries * sizeof *out->values);
    for (int64_t c = 0; c < from->columns; c++) {
        out->column[c] = from->column[c];
        out->column[c].name = memory_text(from->column[c].name);
    }
    return 0;
}

int neighbours_depart(const struct neighbours *kind)
{
    return kind->unit == DPF_UNIT_USER && kind->adjacency == DPF_ADJ_ADD_REMOVE;
}

int neighbours_make(const struct dataset *base, const struct neighbours *kind, const struct canary *canaries,
                    const unsigned char *bits, int64_t n, struct dataset *out, struct dpf_error *error)
{
    const struct departure everybody_stays = {-1, 0};
    struct departure departure = everybody_stays;
    int missing = 0;
    if (n == 1 && neighbours_depart(kind))
        departure = (struct departure){canaries[0].user, !bits[0]};
    *out = (struct dataset){.implicit = base->implicit,
                            .value_lo = base->value_lo,
                            .value_hi = base->value_hi,
                            .summary = base->summary};
    copy_ids(&base->users, &departure, &out->users, &missing);
    copy_ids(&base->items, &everybody_stays, &out->items, &missing);
    copy_weights(base, &departure, &out->weights, &missing);
    missing |= copy_features(&base->features, &out->features) != 0;
    if (missing || copy_links(&base->relation.links, &departure, &out->relation.links) != 0 ||
        copy_records(&base->train.by_user, kind, canaries, bits, n, &departure, &out->train.by_user) != 0) {
        dataset_free(out);
        return error_memory(error);
    }
    out->train.n = out->train.by_user.ptr[out->train.by_user.rows];
    if (csr_transpose(&out->train.by_user, out->items.n, &out->train.by_item, error) == 0)
        return 0;
    dataset_free(out);
    return -1;
}
