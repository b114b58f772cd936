/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.h - the records of one block of a file, and the dictionaries of the thread that read it. */
#ifndef DPF_READING_CHUNK_H
#define DPF_READING_CHUNK_H

#include <stdint.h>

#include "base/slabs.h"
#include "dataset/ids.h"

/* The records of one block of lines. Users and items are codes of the dictionary of `slot`. */
struct chunk {
    int slot;
    int64_t index; /* of the block */
    int64_t n;
    int64_t lines; /* all lines of the block */
    int64_t empty;
    int64_t dropped;    /* outside the declared range, */
    int64_t clipped;    /* and moved to its end */
    int64_t first_line; /* number of its first line in the file */
    int32_t *users;
    int32_t *items;
    float *values;    /* NULL if there is no such column, as below */
    uint32_t *stamps; /* times, while all are whole numbers of 32 bits; then NULL, and */
    double *times;
    float *weights;
    uint8_t *voids;          /* 1: the record is void. NULL: none is */
    uint32_t *lines_of;      /* line of each record from 0; NULL: record i stands in line i */
    const int32_t *user_map; /* code -> index, once ids are final: the slot's */
    const int32_t *item_map;
    const char *path;
    struct slab *ids_in,
        *columns_in; /* hold users and items; values, stamps and weights. NULL: arrays by themselves */
};

static inline int chunk_has_times(const struct chunk *chunk)
{
    return chunk->stamps || chunk->times;
}

static inline double chunk_time(const struct chunk *chunk, int64_t i)
{
    return chunk->stamps ? (double)chunk->stamps[i] : chunk->times[i];
}

/* The dictionaries of one reading thread of one file. */
struct slot {
    struct ids users, items;
    int32_t *user_map, *item_map;        /* from codes of this slot, once merged */
    int64_t n_users, n_items;            /* lengths of the maps */
    struct slabs id_slabs, column_slabs; /* of the chunks, while the file is read */
};

#endif
