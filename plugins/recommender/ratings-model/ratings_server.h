/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings_server.h - what is known of the items, computed from releases and public numbers alone.
 *
 * The model, in quarters of the range from its middle: user u rates item i as
 *     b_i + q_i . t_u + noise of variance s2 + v_i,   t_u ~ N(0, I),
 * where v_i is what b_i and q_i are still uncertain by. t_u is solved at the user's home.
 *
 * Each function that takes numbers of a release wants them in the message's own scale, with its noise. None
 * fails: whether a run ends may not depend on anybody (C12). What noise has made singular stays as it was.
 */
#ifndef DPF_PRIVATE_RATINGS_SERVER_H
#define DPF_PRIVATE_RATINGS_SERVER_H

#include <stdint.h>

#include "ratings_rule.h"

/* Public features of items, as dpf_features_row makes them: n numbers for each item, row by row; column k is
   a number of the file if is_number[k], else a category. n 0: there are none. */
struct item_features {
    int64_t n;
    const double *values;
    const uint8_t *is_number;
};

struct ratings_server {
    const struct ratings_rule *rule;
    const struct item_features *features;
    int64_t n_items;
    int32_t n_known;        /* loadings that popularity and features give */
    int32_t latent;         /* loadings that start at random; they come first once there are any */
    int32_t n_loadings;     /* of an item, and of t_u: n_known until the second moments are taken, then all */
    int32_t rank;           /* first loadings that rounds correct: latent ones and some known ones */
    double users;           /* their number, as released */
    double typical;         /* records of a typical user */
    double gram_cap;        /* norm that a user's part of a round's Gram is clipped to */
    double moment_cap;      /* and of the second moments */
    double *count_sums;     /* sums of 1/sqrt(n_u), as the released ones let expect them */
    double *weight;         /* of a record of the item */
    double *popularity;     /* mean of the log of the count, centred and scaled */
    double *effective;      /* sum of the weights that messages of biases had */
    double *typical_weight; /* of one of them */
    double *prior;          /* rating that popularity alone predicts */
    double *bias;           /* b; the prior, and loadings without it, until there are any */
    double *bias_variance;  /* of b before the rounds */
    double *variance;       /* v */
    double *known, *all;    /* n_items x n_known; and latent ones with those that are kept */
    double *loadings;       /* q: n_items x n_loadings, one of the two */
    double *anchor;         /* b and the first rank loadings before the rounds: n_items x (rank + 1) */
    double *signal;         /* sums of rounds, each taken to the anchor, weighted; as anchor */
    double *gram;           /* of users' rows for one unit of weight, summed over rounds, weighted */
    double rounds;          /* sum of the rounds' weights, */
    double round_squares;   /* and of their squares */
    double *small;          /* room for a few matrices of order n_loadings, rank + 1 and bias columns */
};

/* Loadings of an item, which features and the rule determine. */
int32_t ratings_n_loadings(const struct item_features *features);
/* Numbers of memory a server needs, and places its arrays in them. */
int64_t ratings_server_size(const struct ratings_rule *rule, const struct item_features *features,
                            int64_t n_items);
void ratings_server_place(struct ratings_server *server, const struct ratings_rule *rule,
                          const struct item_features *features, int64_t n_items, double *memory);

/* In this order. users: 1 number; counts: n_items. */
void ratings_take_counts(struct ratings_server *server, double users, const double *counts);
/* n_items x 2: residual and weight. */
void ratings_take_biases(struct ratings_server *server, const double *sums);
/* n_loadings (n_loadings + 1) / 2 numbers, off the diagonal times sqrt(2); n_items x latent normal numbers.
 */
void ratings_take_moments(struct ratings_server *server, const double *sums, const double *latent);
/* n_items x (rank + 1), and (rank + 1)(rank + 2) / 2 numbers as above. */
void ratings_take_round(struct ratings_server *server, const double *sums, const double *gram);

#endif
