/* SPDX-License-Identifier: Apache-2.0 */
/* Ids by the rank that their hash names, and back to all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "data/spread.h"

/* FNV-1a: the same on all ranks, and nothing else depends on it. */
static int owner_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return (int)((hash >> 16) % (uint64_t)ranks_size());
}

/* An id as text: in the dictionary, or in room. */
static const char *text_of(const struct ids *ids, int64_t code, char room[32], size_t *length)
{
    if (ids->lengths[code] >= 0) {
        *length = (size_t)ids->lengths[code];
        return ids->bytes + ids->numbers[code];
    }
    *length = (size_t)snprintf(room, 32, "%" PRId64, ids->numbers[code]);
    return room;
}

/* Texts on their way: a length of 4 bytes, then the bytes. */
struct parcel {
    char *bytes;
    int64_t *offsets; /* by rank */
};

static void parcel_free(struct parcel *parcel)
{
    free(parcel->bytes);
    free(parcel->offsets);
}

static int parcel_open(struct parcel *parcel)
{
    parcel->bytes = NULL;
    parcel->offsets = memory_new((size_t)ranks_size() + 1, sizeof *parcel->offsets);
    return parcel->offsets ? 0 : -1;
}

static int pack_by_owner(const struct ids *ids, struct parcel *out, struct dpf_error *error)
{
    const int size = ranks_size();
    char room[32];
    size_t length;
    int64_t *next = memory_new((size_t)size + 1, sizeof *next);
    if (parcel_open(out) != 0 || !next) {
        free(next);
        return error_memory(error);
    }
    for (int64_t code = 0; code < ids->n; code++) {
        const char *text = text_of(ids, code, room, &length);
        out->offsets[owner_of(text, length) + 1] += (int64_t)(sizeof(uint32_t) + length);
    }
    for (int r = 0; r < size; r++) {
        out->offsets[r + 1] += out->offsets[r];
        next[r] = out->offsets[r];
    }
    out->bytes = memory_raw((size_t)out->offsets[size] + 1, 1);
    for (int64_t code = 0; code < ids->n && out->bytes; code++) {
        const char *text = text_of(ids, code, room, &length);
        const uint32_t prefix = (uint32_t)length;
        int64_t *at = &next[owner_of(text, length)];
        memcpy(out->bytes + *at, &prefix, sizeof prefix);
        memcpy(out->bytes + *at + sizeof prefix, text, length);
        *at += (int64_t)(sizeof prefix + length);
    }
    free(next);
    return out->bytes ? 0 : error_memory(error);
}

static int unpack(const struct parcel *parcel, struct ids *into, struct dpf_error *error)
{
    const int64_t end = parcel->offsets[ranks_size()];
    for (int64_t at = 0; at < end;) {
        uint32_t length;
        memcpy(&length, parcel->bytes + at, sizeof length);
        const struct field field = {parcel->bytes + at + sizeof length, length};
        if (ids_add(into, &field) < 0)
            return error_memory(error);
        at += (int64_t)(sizeof length + length);
    }
    return 0;
}

/* How much comes from each rank, and it. */
static int swap_parcels(const struct parcel *from, struct parcel *into, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *sent = memory_new((size_t)size, sizeof *sent),
            *ones = memory_new((size_t)size + 1, sizeof *ones);
    int status = parcel_open(into) == 0 && sent && ones ? 0 : error_memory(error);
    for (int r = 0; r < size && status == 0; r++) {
        sent[r] = from->offsets[r + 1] - from->offsets[r];
        ones[r + 1] = r + 1;
    }
    if (status == 0)
        status = ranks_exchange(sizeof *sent, sent, ones, into->offsets + 1, ones, error);
    for (int r = 0; r < size && status == 0; r++)
        into->offsets[r + 1] += into->offsets[r];
    if (status == 0 && !(into->bytes = memory_raw((size_t)into->offsets[size] + 1, 1)))
        status = error_memory(error);
    if (status == 0)
        status = ranks_exchange(1, from->bytes, from->offsets, into->bytes, into->offsets, error);
    free(sent);
    free(ones);
    return status;
}

/* All ranks' ids, which are each on one of them. */
static int gather_ids(const struct ids *own, struct ids *all, struct dpf_error *error)
{
    const int size = ranks_size(), rank = ranks_rank();
    struct parcel parcel;
    int64_t *even = memory_new((size_t)size + 1, sizeof *even);
    char room[32];
    size_t length;
    int status = parcel_open(&parcel) == 0 && even ? 0 : error_memory(error);
    for (int64_t code = 0; code < own->n && status == 0; code++) {
        text_of(own, code, room, &length);
        parcel.offsets[rank + 1] += (int64_t)(sizeof(uint32_t) + length);
    }
    for (int r = 0; r <= size && status == 0; r++)
        even[r] = r;
    if (status == 0)
        status = ranks_gather(parcel.offsets + 1, sizeof *parcel.offsets, even, error);
    for (int r = 0; r < size && status == 0; r++)
        parcel.offsets[r + 1] += parcel.offsets[r];
    if (status == 0 && !(parcel.bytes = memory_raw((size_t)parcel.offsets[size] + 1, 1)))
        status = error_memory(error);
    int64_t at = status == 0 ? parcel.offsets[rank] : 0;
    for (int64_t code = 0; code < own->n && status == 0; code++) {
        const char *text = text_of(own, code, room, &length);
        const uint32_t prefix = (uint32_t)length;
        memcpy(parcel.bytes + at, &prefix, sizeof prefix);
        memcpy(parcel.bytes + at + sizeof prefix, text, length);
        at += (int64_t)(sizeof prefix + length);
    }
    if (status == 0)
        status = ranks_gather(parcel.bytes, 1, parcel.offsets, error);
    if (status == 0)
        status = unpack(&parcel, all, error);
    parcel_free(&parcel);
    free(even);
    return status;
}

int spread_ids(const struct ids *own, struct ids *all, struct dpf_error *error)
{
    struct parcel from = {NULL, NULL}, into = {NULL, NULL};
    struct ids kept = {0};
    int status = pack_by_owner(own, &from, error);
    if (status == 0)
        status = swap_parcels(&from, &into, error);
    parcel_free(&from);
    if (status == 0)
        status = unpack(&into, &kept, error);
    parcel_free(&into);
    if (status == 0)
        status = gather_ids(&kept, all, error);
    ids_free(&kept);
    return status;
}
