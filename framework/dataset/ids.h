/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - a dictionary of external ids, used while files are read.
 *
 * Ids get codes in order of first appearance. Canonical integers are kept as numbers, all
 * other ids as bytes. Each worker thread fills its own dictionary; these are merged and sorted later, so the
 * final indices depend on the set of ids alone.
 */
#ifndef DPF_DATASET_IDS_H
#define DPF_DATASET_IDS_H

#include <stdint.h>

#include "base/text.h"
#include "dataset/dataset.h"
#include "lines/fields.h"

struct ids_slot {
    int64_t integer;
    int32_t code; /* -1: free */
};

struct ids {
    int64_t n;
    int64_t n_texts;
    int64_t *numbers; /* by code: the integer, or the offset of the text */
    int32_t *lengths; /* by code: of the text, or -1 for an integer */
    size_t numbers_capacity, lengths_capacity;
    char *bytes;
    size_t n_bytes, bytes_capacity;
    int32_t *small; /* codes of the integers 0 .. n_small-1, or -1: no hashing for usual ids */
    int64_t n_small;
    struct ids_slot *integers; /* open addressing */
    int64_t integers_mask, n_integers;
    int32_t *texts; /* open addressing: codes, or -1 */
    int64_t texts_mask;
};

void ids_free(struct ids *ids);
/* The id's code, new or old; -1 if memory or codes run out. */
int32_t ids_add(struct ids *ids, const struct field *field);

/* How the bytes of an id become UTF-8. */
enum ids_encoding { IDS_AUTO = 0, IDS_UTF8 = 1, IDS_LATIN1 = 2 };
int ids_is_utf8(const char *bytes, size_t length);
/* A field as UTF-8. The result may be in buffer, until the next call. */
struct field ids_decoded(struct text *buffer, const struct field *field, enum ids_encoding encoding);
/* By IDS_AUTO: a field that is no UTF-8 is Latin-1, decided field by field, so that no other line matters. */
struct field ids_as_utf8(struct text *buffer, const struct field *field);
/*
 * Adds all ids of from; map (from->n) gets their codes in into. Texts are converted to UTF-8: from Latin-1,
 * or where the encoding is IDS_AUTO those that are not UTF-8, each for itself. *converted counts them.
 */
int ids_merge(struct ids *into, const struct ids *from, enum ids_encoding encoding, int32_t *map,
              int64_t *converted);
/* Sorts: integers first, ascending, then texts by their bytes. rank (ids->n) gets the index of each code. */
int ids_finish(const struct ids *ids, struct id_map *out, int32_t *rank);
/* The index in map of each code, or -1. Free it; NULL if memory runs out. */
int32_t *ids_match(const struct ids *ids, const struct id_map *map);
/* The same ids in another order: out's index i is from's order[i]. from must be sorted. */
int id_map_reorder(const struct id_map *from, const int32_t *order, struct id_map *out);
/* The map of the integers 1 .. n, for synthetic data. */
int id_map_range(int64_t n, struct id_map *out);
void id_map_free(struct id_map *map);

#endif
