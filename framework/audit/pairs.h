/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - pairs of data sets that differ in one unit, as far as the adjacency allows.
 *
 * A pair is made in memory from the training part of a data set. The canary is the unit that differs. It is a
 * unit of the data whose values are set to the ends of the declared range, or which is left out.
 */
#ifndef DPF_AUDIT_PAIRS_H
#define DPF_AUDIT_PAIRS_H

#include "base/error.h"
#include "dataset/dataset.h"

/* One canary: a record, or all records of a user (item -1). */
struct canary {
    int32_t user, item;
};

/* Records that a canary's user has in place of its own, by ascending item. */
struct canary_records {
    int64_t n;
    const int32_t *items;
    const float *values;
};

struct neighbours {
    int unit, adjacency;       /* DPF_UNIT_*, DPF_ADJ_* */
    double value_lo, value_hi; /* what replaced values become */
    /*
     * One-run audits of users: each keeps only the record with its canary's item, so that canaries do not
     * meet. alone[c] is the item of canary c.
     */
    const int32_t *alone;
    int thin;        /* a replaced user keeps one record only, in place of all with the lowest value */
    int as_they_are; /* the first form's values are those of base */
    const struct canary_records *records; /* all of the canary's user in the first form, or NULL: its own */
};
/* Whether a single canary's user leaves the list of users in the second form. */
int neighbours_depart(const struct neighbours *kind);

/*
 * The data set with each of the n canaries in its first or its second form, as bits (one byte each, 0: first)
 * say. Canaries have different users. The first form is the record, or all records of the user, with the
 * highest value, or the records that are given; the second is
 *     replace-value, replace          the same with the lowest value; thin: without all records but one,
 *     flip, add-remove, zero-out      without them.
 * Under add-remove of a user a single canary's user leaves the list of users as well, of which it is made the
 * last one in both forms: all others have the same numbers, and draws, with it and without. Of many canaries
 * users stay, without records. Ids, the catalogue, weights and links are kept; there is no test part.
 */
int neighbours_make(const struct dataset *base, const struct neighbours *kind, const struct canary *canaries,
                    const unsigned char *bits, int64_t n, struct dataset *out, struct dpf_error *error);

/* How two given data sets differ. */
struct difference {
    struct canary canary; /* what differs, as numbers of the larger set; user -1: nothing */
    int larger;           /* which set has the user that the other lacks; -1: both have the same users */
};
/*
 * Finds it, and refuses two sets that are not neighbours by the kind's unit and adjacency:
 * whatever is measured between such sets says nothing about a guarantee. support_is_public: then replaced
 * users keep the items that they have rated. path is that of the second set.
 */
int neighbours_compare(const struct dataset *const sets[2], const struct neighbours *kind,
                       int support_is_public, const char *path, struct difference *out,
                       struct dpf_error *error);

/* Walks along two rows of records at once, which are sorted by item. */
struct row_walk {
    const struct csr *sets[2];
    int64_t next[2], end[2];
};
/* Row r of a and row s of b; a row that is not there is empty. */
struct row_walk row_walk_begin(const struct csr *a, int64_t r, const struct csr *b, int64_t s);
/* The next item, or -1 at the end. at: where each of the rows has it, or -1. */
int32_t row_walk_next(struct row_walk *walk, int64_t at[2]);

#endif
