/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - item-based nearest neighbours from users' flipped bits: what the recommenders dplcf and
 * ldpicf share.
 *
 * 1. At home, each user reports each of its n_items bits (has a record or not) through randomised response.
 * 2. The server counts reports, corrects the counts of each pair of items for the flips, makes a similarity
 * of them, and keeps for each item its k most similar ones. It sees reports and nothing else.
 * 3. A score is the sum of an item's similarities to those of its neighbours that are in the user's history.
 *    The history is the user's own records (at home: the server sends the neighbours to everybody), or the
 *    reported bits (at the server).
 *
 * Sensitivity. A report is one message of n_items bits. One record that appears or disappears (flip,
 * add-remove, zero-out) changes one bit, so one coin decides. All records of a user can change all n_items
 * bits, and under add-remove a whole message comes or goes. Values are not read, so nothing is stated for
 * replace-value. Everything after the reports is computed from them and from constants.
 */
#ifndef DPF_NEIGHBOURS_NEIGHBOURS_H
#define DPF_NEIGHBOURS_NEIGHBOURS_H

#include "bit_response.h"
#include "dpframe/params.h"
#include "dpframe/role/recommender.h"

enum { SIMILARITY_JACCARD, SIMILARITY_COSINE };
enum { ESTIMATOR_INVERSE, ESTIMATOR_BAYES };
enum { HISTORY_OWN, HISTORY_REPORTED };

/* Texts that both components' tables show. */
extern const dpf_enum_value neighbours_histories[2];

struct neighbours {
    const dpf_host *host;
    const dpf_random_service *random;
    dpf_stream *stream;
    double epsilon; /* of one bit */
    double keep;    /* wanted; 0: symmetric */
    int32_t similarity, estimator, history;
    int32_t k;
    int64_t iterations;
};

#define NEIGHBOURS_EPSILON                                                                                   \
    DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, INFINITY, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",               \
                     "Pure-DP budget of one bit, that is of one record; inf reports the bits as they are.")
#define NEIGHBOURS_KEEP                                                                                      \
    DPF_PARAM_REAL_F(                                                                                        \
        "keep", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",                                    \
        "Probability that a 1 is reported as 1; a 0 is then reported as 1 as rarely as epsilon "             \
        "allows. 0: as often as a 0 is reported as 0 (symmetric).")
#define NEIGHBOURS_K                                                                                         \
    DPF_PARAM_INT_F("neighbours", 100, 1, 100000, 0, "items",                                                \
                    "How many of the most similar items each item keeps.")
#define NEIGHBOURS_HISTORY                                                                                   \
    DPF_PARAM_ENUM_F("history", HISTORY_OWN, neighbours_histories, DPF_PARAM_PRIVACY,                        \
                     "The bits of a user over which scores are summed.")

/* Copies settings into a new instance, whose host, random and stream it fills in. Checks them. */
dpf_status neighbours_new(const dpf_host *host, const struct neighbours *settings, int32_t param_epsilon,
                          void **self);
extern const dpf_recommender neighbours_recommender;

/* ---- the state: header, neighbours, similarities, and reported rows where the history is reported ---------
 */

#define NEIGHBOURS_MAGIC UINT64_C(0x31424e4c50444644) /* "DFDPLNB1" */
struct neighbours_header {
    uint64_t magic;
    int64_t n_users, n_items;
    int32_t slots, history;
    uint64_t reserved[4];
};

/* Parts of a state, in this order. Slots of an item are sorted by falling similarity; empty ones are -1 and
 * 0. */
struct neighbours_state {
    struct neighbours_header *header;
    int32_t *items;      /* n_items x slots */
    float *similarities; /* n_items x slots */
    uint64_t *rows;      /* n_users x words of n_items, or NULL */
};
/* Neighbours that an item has room for: no more than there are items. */
static inline int64_t neighbours_slots(const struct neighbours *self, int64_t n_items)
{
    return self->k < n_items ? self->k : n_items;
}
/* Its size for so many users and items; 0 if that exceeds 2^62. */
uint64_t neighbours_state_size(const struct neighbours *self, int64_t n_users, int64_t n_items);
/* Where the parts lie in a state of that size. */
struct neighbours_state neighbours_state_at(const struct neighbours *self, int64_t n_users, int64_t n_items,
                                            void *state);
dpf_status neighbours_fit(void *self, const dpf_call *call, dpf_fit *fit);

#endif
