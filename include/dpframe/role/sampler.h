/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/sampler.h - who takes part, which records, and with what weight.
 *
 * A sampler works at one level: it draws parties (each user, each silo) or records. It states its
 * nominal probabilities as data; the host compares what was drawn with what was stated.
 */
#ifndef DPFRAME_ROLE_SAMPLER_H
#define DPFRAME_ROLE_SAMPLER_H

#include "../host.h"
#include "../privacy.h"
#include "../view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_SAMPLER "dpframe.sampler/1"

#define DPF_LEVEL_PARTY 1
#define DPF_LEVEL_RECORD 2

/* What the plan tells the sampler before training. */
typedef struct dpf_sampler_setup {
    uint32_t size;
    int32_t side;
    int64_t n_parties;
    int64_t n_records; /* training records; 0 where the plan is made without data */
    double budget;     /* the mechanism's epsilon for one release, NaN if it has none */
    /* The epsilon of a release for a record of that weight; NULL if the mechanism states none. */
    dpf_status (*epsilon_at_weight)(void *context, double weight, double *epsilon);
    void *context;
    /* Range of the records' privacy weights. */
    double privacy_weight_lo;
    double privacy_weight_hi;
    double privacy_weight_mean; /* NaN where only the data tells */
} dpf_sampler_setup;

/* The parties (by number) or records (by user and item) of one draw. */
typedef struct dpf_draw {
    uint32_t size;
    int32_t level;
    int64_t n;
    /* Parties first .. first + n - 1; level record: the place of the first record in its orientation. */
    int64_t first;
    const int32_t *users; /* level record */
    const int32_t *items;
    const float *values;          /* NULL: all 1 */
    const float *privacy_weights; /* NULL: all 1 */
    const dpf_factors *user_factors;
    const dpf_factors *item_factors;
    /*
     * Level record: the bound on the L1 norm of the other side's rows that the noise was chosen for: a public
     * bound or, with empirical bounds, the largest norm of the solving party's rows. INFINITY: no bound.
     */
    double other_l1;
    /*
     * Level party: a uniform 64-bit number for each party, which depends only on [run] seed and the party's
     * own id and is the same in every draw. Derive from it whatever you assign to a party for several rounds,
     * never from the party's place, which shifts when another party leaves. NULL: parties have no ids.
     */
    const uint64_t *keys;
} dpf_draw;

typedef struct dpf_sampler {
    int32_t level;  /* DPF_LEVEL_* */
    uint32_t flags; /* 0 */
    /* [any, optional] How long one draw stays in use: DPF_LIFETIME_*. NULL: a round. */
    int32_t (*lifetime)(void *self);
    /* [setup, optional] Called once, before describe. The instance may still change here. */
    dpf_status (*prepare)(void *self, const dpf_sampler_setup *setup);
    /* [any, required] Describes how it samples. */
    dpf_status (*describe)(void *self, dpf_sampling *out);
    /*
     * [run, required] Writes weights[i]: 0 if i does not take part, else its weight (1, or 1/probability for
     * an unbiased sum). Read randomness at (call.draw, party, 0) or (call.draw, user, item).
     */
    dpf_status (*draw)(void *self, const dpf_call *call, const dpf_draw *draw, float *weights);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[4])(void);
} dpf_sampler;

#ifdef __cplusplus
}
#endif
#endif
