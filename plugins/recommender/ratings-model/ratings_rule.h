/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings_rule.h - every public number of a run of private-ratings, or of private-biases, which ends after
 * the first three releases: shapes, scales of noise, settings.
 *
 * All follow from the configuration and from dpf_recommender_setup, so that they are known before any data is
 * read.
 *
 * Privacy. A user takes part in five kinds of sums, each time with a message of L2 norm 1 at most (its values
 * are rounded toward zero on the grid, and the integers' norm is checked: message_grid.h). So a user who
 * comes or goes moves a sum by at most 1, and a user, or a record, that is replaced by 2, or less
 * (ratings_message_kind). A release with the share f of the budget gets discrete Gaussian noise of sigma >= z /
 * sqrt(f), z the noise multiplier; shares add up to 1, those of rounds counted once for each round, hence for who comes
 * or goes all releases together are one Gaussian mechanism of multiplier z (the sum of (1/sigma)^2 is 1/z^2), whatever
 * each message reads of the releases before it.
 */
#ifndef DPF_PRIVATE_RATINGS_RULE_H
#define DPF_PRIVATE_RATINGS_RULE_H

#include "dpframe/role/recommender.h"
#include "message_grid.h"
#include "user_sums.h"

enum {
    RELEASE_USERS,    /* how many users there are: 1 from each */
    RELEASE_COUNTS,   /* for each item: 1/sqrt(own number of records) from each of its users */
    RELEASE_BIASES,   /* for each item: weighted residual and weight */
    RELEASE_LOADINGS, /* second moments of users' weights on public features of items */
    RELEASE_FACTORS,  /* for each item and round: weighted residual times the user's row */
    RELEASE_GRAM,     /* for each round: the users' rows' second moments, of all items together */
    N_RELEASES
};

/* What a user's messages to a release are; moments and Grams are rounded number by number, so they count as any. */
static inline enum user_message_kind ratings_message_kind(int32_t release)
{
    return release == RELEASE_USERS    ? MESSAGE_ONE
           : release == RELEASE_COUNTS ? MESSAGE_NOT_NEGATIVE
                                       : MESSAGE_SIGNED;
}

#define RATINGS_MAX_LATENT 32
#define RATINGS_MAX_LOADINGS 128 /* of an item, kept */
#define RATINGS_MAX_FEATURES 64  /* columns that are read: numbers, then the most frequent categories */

/* Public guesses. Halving or doubling either moves RMSE by less than .0015 (docs/accuracy.md). */
#define RATINGS_COUNT_OFFSET 20.0
#define RATINGS_COUNT_WEIGHT 0.5

struct ratings_rule {
    double centre, unit; /* ratings are handled as (rating - centre) / unit; unit is a quarter of the range */
    double lo, hi;
    int32_t rank;     /* known directions that rounds correct */
    int32_t latent;   /* directions that rounds find */
    int32_t rounds;   /* 0: neither */
    int32_t loadings; /* of an item at most, latent ones included */
    int32_t silent;   /* the twin without noise */
    int32_t typical;  /* items whose count is lost in noise are as popular as the item of a usual record */
    double exponent;  /* alpha: an item's weight is (count + count_offset)^-alpha */
    double count_offset;
    double count_weight; /* beta, in quarters of the range: what a record's weight is sent as */
    double clip;         /* of residuals */
    double residual_variance;
    double item_sd;           /* of biases about their regression */
    double factor_sd;         /* of a loading about what features say, of the first direction; */
    double factor_decay;      /* and how it falls from one to the next */
    double latent_sd;         /* of a latent loading, */
    double latent_start;      /* and of the random numbers that it starts from */
    double forget;            /* what a round's signal is worth one round later */
    double share[N_RELEASES]; /* of the budget, for one release; count of them */
    int64_t count[N_RELEASES];
    struct noise_grid grid[N_RELEASES];
};

#endif
