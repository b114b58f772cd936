/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dataset.h - records as the rest of the program sees them: dense indices, CSR both ways.
 *
 * Loading maps ids once, over all files of a run (training and test); indices are int32, offsets int64.
 * Indices follow the order of ids: integers, ascending, then texts in byte order; or the order of a
 * catalogue. So they do not depend on the order of lines, and the order of two ids does not depend on a
 * third.
 */
#ifndef DPF_DATASET_DATASET_H
#define DPF_DATASET_DATASET_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/prf.h"
#include "base/violations.h"
#include "dpframe/features.h"

/*
 * Records of one orientation: those of row r are entries ptr[r] .. ptr[r+1]-1, ascending by other. Where
 * several ranks share the records (shares.h), ptr still tells how many each row has, and only the rank's own
 * rows have entries.
 */
struct csr {
    int64_t rows;
    int64_t *ptr;   /* rows + 1 */
    int64_t origin; /* entry 0 is the record of this number, over all ranks */
    int32_t *others;
    float *values;          /* NULL: all 1 */
    float *privacy_weights; /* NULL: all 1 */
    /*
     * 1: void, a cell whose line was at fault or whose value was dropped (reading/data_options.h). It counts
     * like any record, and adds exactly 0 to sums; its value is one within the range. NULL: none is kept.
     * Whether there is room for them follows from what is promised, never from the records.
     */
    uint8_t *voids;
};

/* Whether a row has a record that is not void. */
static inline int csr_row_counts(const struct csr *csr, int64_t row)
{
    if (!csr->voids)
        return csr->ptr[row + 1] > csr->ptr[row];
    for (int64_t i = csr->ptr[row]; i < csr->ptr[row + 1]; i++)
        if (!csr->voids[i])
            return 1;
    return 0;
}

/* Training or test records, both ways. by_item may be absent (ptr NULL) for test sets; of training sets it always has ptr,
   how many records each item has, and the rest where data_index_items has been asked for it. */
struct records {
    int64_t n;
    struct csr by_user;
    struct csr by_item;
};

/* External ids, by index. */
struct id_map {
    int64_t n;
    int32_t *sorted;  /* indices in the order of ids; NULL: they are in that order themselves */
    char *bytes;      /* NUL-terminated texts, one after the other */
    int64_t *offsets; /* of each text */
};
const char *id_map_text(const struct id_map *map, int64_t index);
/* The index of an id, or -1. */
int64_t id_map_find(const struct id_map *map, const char *text);

struct relation {     /* directed links between users: friends, trust */
    struct csr links; /* rows: users; others: users; values: link weights or NULL */
    int64_t unknown;  /* links dropped since a user has no ratings */
    int64_t self;     /* links from a user to itself, dropped */
};

/* Public features of items or users, in the layout of dpf_features; ptr NULL: none. Names belong to it. */
struct feature_table {
    int32_t n_fields;
    int64_t rows, columns;
    int64_t *ptr;
    int32_t *at;
    float *values;
    dpf_feature_column *column;
};
void feature_table_free(struct feature_table *table);
/* The view that plugins get, into *view; NULL without features. */
const dpf_features *feature_table_view(const struct feature_table *table, dpf_features *view);

/*
 * Privacy weights of users and items, both or neither: a pair weighs users[i] * items[j]. Records have theirs
 * in csr.privacy_weights as well, whatever they come from.
 */
struct privacy_weights {
    float *users;
    float *items;
    uint8_t *user_groups; /* drawn by groups: their numbers, else NULL */
    uint8_t *item_groups;
};

/* Counts of the records read, for the one-line summary and for run.json. */
struct dataset_summary {
    int64_t lines, empty_lines, ratings, duplicates;
    int64_t users, items;
    double value_min, value_max, value_mean;
    int64_t distinct_values;   /* counted up to 1000 */
    int64_t time_ties_decided; /* users whose held-out record was decided by the line number */
    int64_t cold_users, cold_items, cold_records; /* in the test part, without training records */
    int64_t below_threshold;                      /* implicit: records dropped */
    int64_t out_of_range;     /* records dropped since they lie outside of the declared range */
    int64_t filtered;         /* records that [data] filter.* leaves out */
    int64_t out_of_catalogue; /* records dropped since their user or item is in no catalogue */
    int64_t clipped;          /* values moved to an end of the declared range */
    char sha256[65]; /* of the main file as stored; of several, of their hashes in order; "" if generated */
};

/* Items among which users' test records are ranked. Nothing is stored by user: they are drawn when asked for.
 */
struct user_candidates {
    enum { CANDIDATES_ALL, CANDIDATES_DRAWN, CANDIDATES_SHARED } kind;
    struct prf draw; /* drawn: an item is a user's by the value of the pair, with the probability fraction */
    double fraction;
    int32_t *items; /* shared by all users with test records; ascending */
    int64_t n;
};

struct dataset {
    struct id_map users, items;
    struct id_map item_names; /* for people, by item; "" where there is none. n = 0: no item has one */
    struct records train;
    struct records test; /* n = 0 if there is none */
    struct csr
        known; /* of held-out users: what a model knows of them without being trained on it; ptr NULL: none */
    struct user_candidates candidates;
    struct relation relation; /* links.ptr NULL: none loaded */
    struct privacy_weights weights;
    struct feature_table features; /* of items */
    struct feature_table words;    /* of items' titles, as categories: for home terms, and for nobody else */
    int implicit;                  /* records mean "interacted"; values are how often, or absent: 1 */
    double value_lo, value_hi;     /* declared range */
    struct dataset_summary summary;
    int64_t
        *shares[2]; /* of users, of items: which rows are whose, see shares.h; NULL: all are this rank's */
    struct violations violations; /* records that are at fault: left out, or changed. See load.h */
};

/* An item's name for people; "" without one. */
const char *dataset_item_name(const struct dataset *dataset, int64_t item);

/* Whether records have privacy weights; without, all weigh 1. */
int dataset_has_weights(const struct dataset *dataset);
/* Privacy weights of a user's pairs with items (NULL: all), rated or not. A fault if a pair has none. */
int dataset_weights(const struct dataset *dataset, int32_t user, const int32_t *items, int64_t n, float *out,
                    struct dpf_error *error);

/* A user's candidates, ascending, where they are not all items; out has room for all. Returns how many. */
int64_t dataset_candidates(const struct dataset *dataset, int64_t user, int32_t *out);

/* The records that a user's scores are made from: those of training, or what is known of a held-out user. */
int dataset_at_home(const struct dataset *dataset, struct csr *out, struct dpf_error *error);
/* They take the place of the training records, where nothing is trained any more. */
int dataset_take_home(struct dataset *dataset, struct dpf_error *error);

void csr_free(struct csr *csr);
/* Where a row, ascending by other, has that one: an index of the records, or -1. */
int64_t csr_find(const struct csr *csr, int64_t row, int32_t other);
/* Takes void records out, and the room for them; returns how many there were. */
int64_t csr_remove_voids(struct csr *csr);
/* Makes them records like any other. */
void csr_forget_voids(struct csr *csr);
void records_free(struct records *records);
void dataset_free(struct dataset *dataset);

/* The other orientation of the same records. out is filled; in is read. */
int csr_transpose(const struct csr *in, int64_t columns, struct csr *out, struct dpf_error *error);
/* The same on all workers; NULL: on this thread. */
int csr_transpose_on(struct pool *pool, const struct csr *in, int64_t columns, struct csr *out,
                     struct dpf_error *error);
/* Its ptr alone: how many records each has. */
int csr_transpose_counts(const struct csr *in, int64_t columns, struct csr *out, struct dpf_error *error);
/* Parts of about as many records: part p has the rows bounds[p] .. bounds[p+1]-1. */
void csr_balance(const struct csr *csr, int64_t parts, int64_t *bounds);

#endif
