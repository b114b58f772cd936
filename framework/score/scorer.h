/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scorer.h - the scores of a model, for whoever evaluates, lists or predicts.
 *
 * All formulas but neighbours/1 are, once the user's row is made,
 *
 *     offset + <row of the user, row of the item> + shift
 *
 * where a few items, the user's own, have a shift. So a score is exactly this, on any number of workers and ranks: the user's row
 * in double, in the order of records, rounded once to float; products in float, 16 partial sums by column modulo 16,
 * added in double to the offset, then the shift.
 */
#ifndef DPF_SCORE_SCORER_H
#define DPF_SCORE_SCORER_H

#include "dataset/dataset.h"
#include "score/form.h"
#include "score/home_terms.h"

/* A user's own records, ascending by item; values NULL: all 1. */
struct score_records {
    int64_t n;
    const int32_t *items;
    const float *values;
};

/* A model. Read only while it is used; shared by workers. */
struct scorer {
    /* plugin/1, where form.formula is SCORE_FUNCTION: scores of a user for items (NULL: 0 .. n-1); thread-safe. */
    void *context;
    int (*scores)(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                  struct dpf_error *error);
    /* The same of somebody with these records, for all items; NULL: not known. */
    int (*scores_of)(void *context, const struct score_records *own, double *out, struct dpf_error *error);

    struct score_form form;
    const struct csr *records;          /* of users, where the formula reads them */
    const struct id_map *users, *items; /* for messages; NULL: numbers */

    /* Made by scorer_open: */
    struct score_products {
        const float *items; /* rows of stride numbers, a multiple of 16; NULL: scores are no products */
        int64_t stride;
        double offset;
    } products;
    struct home_terms *home; /* added to all scores, which are no products then; NULL: none */
    float *packed;           /* item rows that are made here, or NULL */
    double *own;             /* ease/1: <in_j, out_j> of each column */
    int64_t *neighbours_ptr; /* neighbours/1 by neighbour: who has it, with which similarity */
    int32_t *neighbours_of;
    float *similarities;
};

/* Fills in what is made; the form and all before it are set, and are the scorer's from now on. */
int scorer_open(struct scorer *scorer, struct dpf_error *error);
/* Of an open scorer of values (ridge/1) or lists (ease/1, base/1): its scores get home terms. */
int scorer_add_home(struct scorer *scorer, const struct feature_table *features,
                    const struct feature_table *words, struct dpf_error *error);
void scorer_close(struct scorer *scorer);
/* Whether scores are products of rows and shifts, and nothing else. */
static inline int scorer_is_products(const struct scorer *scorer)
{
    return scorer->products.items != NULL && !scorer->home;
}
/* Whether everybody's list has one order. */
static inline int scorer_is_base(const struct scorer *scorer)
{
    return scorer->form.formula == SCORE_BASE;
}

/* One worker's memory; it keeps what was made for the last user. All zero: ready. */
struct score_desk {
    int64_t user;     /* 1 more than the number of the user whom the rest is of; 0: none */
    const float *row; /* of products */
    float *made;      /* room for it */
    double *work;     /* of solves */
    double *all;      /* neighbours/1: all items' scores */
    int64_t n_shifts;
    int32_t *shifted;  /* items, ascending, */
    double *shifts;    /* and what is added to theirs */
    double *residuals; /* with home terms: of the user's records; */
    double *at_home;   /* or all scores, and work */
    int has_home;      /* at_home is of the user */
    size_t room[3];
};
void score_desk_free(struct score_desk *desk);
/* Makes the user's row and shifts, unless they are there. For products and neighbours/1. */
int scorer_user(const struct scorer *scorer, struct score_desk *desk, int64_t user, struct dpf_error *error);

/*
 * Exact scores of a user's items (NULL: 0 .. n-1), all finite: one that is not is an error that names user and item.
 */
int scorer_scores(const struct scorer *scorer, struct score_desk *desk, int64_t user, const int32_t *items,
                  int64_t n, double *out, struct dpf_error *error);
/* Of all n items for somebody with these records, who need not be in the data. rows/1 knows no such user. */
int scorer_scores_of(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                     int64_t n, double *out, struct dpf_error *error);

#endif
