/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scorer.h - the scores of a model, for whoever evaluates, lists or predicts.
 *
 * Once the user's row is computed, all formulas but neighbours/1 have the form
 *
 *     offset + <row of the user, row of the item> + shift
 *
 * where only the user's own items have a shift. The arithmetic is fixed, so that scores have the same bits on any number
 * of workers and ranks: the user's row is computed in double, in the order of records, and rounded once to float. Products
 * are in float. They are summed in 16 partial sums, by column modulo 16, which are added in double to the offset; the shift
 * comes last.
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

/* A model. Nobody changes it while it is used; workers share it. */
struct scorer {
    /* plugin/1, where form.formula is SCORE_FUNCTION: scores of a user for items (NULL: 0 .. n-1); thread-safe. */
    void *context;
    int (*scores)(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                  struct dpf_error *error);
    /* The scores of all items for somebody with these records; NULL: the model cannot tell. */
    int (*scores_of)(void *context, const struct score_records *own, double *out, struct dpf_error *error);

    struct score_form form;
    const struct csr *records;          /* the users' own, where the formula reads them */
    const struct id_map *users, *items; /* ids for messages; NULL: messages have numbers */

    /* Made by scorer_open: */
    struct score_products {
        const float *items; /* rows of stride numbers, a multiple of 16; NULL: scores are not products */
        int64_t stride;
        double offset;
    } products;
    struct home_terms *home; /* added to all scores, which are then not products; NULL: none */
    int64_t n_loadings;      /* ridge/1: of an item, in the columns of products after the bias */
    float *packed;           /* item rows that the scorer has made, or NULL */
    double *own;             /* ease/1: <in_j, out_j> for each column j */
    int is_plain;            /* ease_is_plain: a user's row is 0 in most columns */
    int64_t *neighbours_ptr; /* neighbours/1: by item, the items whose neighbour it is, and how similar */
    int32_t *neighbours_of;
    float *similarities;
};

/* The caller has set the fields up to `items`; the scorer owns them from now on, and fills in the others. */
int scorer_open(struct scorer *scorer, struct dpf_error *error);
/* Adds home terms to the scores of an open scorer, for values (ridge/1) or for lists (ease/1, base/1). */
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

/* One worker's memory. It keeps the row and the shifts of the last user. All zero: ready. */
struct score_desk {
    int64_t user;      /* 1 + the number of the user to whom the rest belongs; 0: none */
    const float *row;  /* the user's, for products */
    float *made;       /* room for that row */
    int32_t *columns;  /* of the scorer's is_plain: where the row may be other than 0, ascending, */
    int64_t n_columns; /* so many of them */
    double *work;      /* room for solves */
    double *all;       /* neighbours/1: all items' scores */
    int64_t n_shifts;
    int32_t *shifted;  /* items with a shift, ascending */
    double *shifts;    /* theirs */
    double *residuals; /* home terms of values: residuals of the user's records */
    double *at_home;   /* home terms of lists: all scores, and room for work */
    int has_home;      /* at_home belongs to the user */
    size_t room[4];
};
void score_desk_free(struct score_desk *desk);
/* Computes the user's row and shifts, unless the desk has them. For products and neighbours/1. */
int scorer_user(const struct scorer *scorer, struct score_desk *desk, int64_t user, struct dpf_error *error);

/* Exact scores of these items (NULL: 0 .. n-1) for a user. A score that is not finite is an error that names both. */
int scorer_scores(const struct scorer *scorer, struct score_desk *desk, int64_t user, const int32_t *items,
                  int64_t n, double *out, struct dpf_error *error);
/* Exact scores of all n items for somebody with these records, who need not be in the data. Fails for rows/1. */
int scorer_scores_of(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                     int64_t n, double *out, struct dpf_error *error);

#endif
