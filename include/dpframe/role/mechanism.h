/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/mechanism.h - noise: doubles to integers, and sums of integers to estimates.
 *
 * Each party encodes its message to integers on a public grid; the aggregator adds integers; the
 * mechanism decodes the sum. Noise is added in encode (by each party, in full or as a share), or once in
 * decode (by a trusted curator). Either way it is integer noise on the grid, so that a release leaks nothing
 * through floating-point rounding.
 */
#ifndef DPFRAME_ROLE_MECHANISM_H
#define DPFRAME_ROLE_MECHANISM_H

#include "../host.h"
#include "../privacy.h"
#include "../query.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_MECHANISM "dpframe.mechanism/1"

/* Where noise is added. */
#define DPF_NOISE_NOWHERE 0
#define DPF_NOISE_AT_PARTY 1  /* encode: every message is noised in full */
#define DPF_NOISE_AT_SUM 2    /* decode: once, by a party trusted with the sum */
#define DPF_NOISE_IN_SHARES 3 /* encode: each message has a share, only the sum has enough */

/* A planned release. Known before data is read. */
typedef struct dpf_release {
    uint32_t size;
    int32_t side;
    const dpf_query *query;
    int64_t rows; /* of a message; includes the Gram row, which is the last, if there is one */
    int32_t unit; /* the unit and adjacency that budgets are stated for */
    int32_t adjacency;
    const dpf_sensitivity *blocks; /* one for each block of the query */
    const dpf_sensitivity *gram;   /* one for each block of the Gram row, or NULL */
    const dpf_joint_norms *joint;  /* bounds on several blocks together; never NULL */
    int64_t n_parties;             /* that can take part in a step */
    int64_t min_honest;  /* with DPF_MECHANISM_SHARES: honest parties in each sum, at least; else 1 */
    double noise_factor; /* multiplies the noise scale; 1 unless a total budget is calibrated */
    int32_t from_data;   /* 1: sensitivities are maxima over private data */
    /* Take this many grid bits fewer than usual: 0 first, and more where sums would not fit into 64 bits. */
    int32_t fewer_bits;
    /* For mechanisms whose noise is correlated between rounds. */
    int64_t rounds;         /* releases of the run, one a round; 0: not exactly one in each round */
    int64_t separation;     /* a unit is in at most one of this many consecutive releases; at least 1 */
    int64_t participations; /* most releases in which a unit takes part */
    /* With DPF_MECHANISM_SHARES: how many more parties may know, choose or withhold their own message. A sum of fewer
       than min_honest + max_curious messages must not be decoded; there are so many parties. Else 0. */
    int64_t max_curious;
    /* With DPF_MECHANISM_DIVIDES: how the budget is divided among blocks, a number for each, which add up to 1; NULL: as the
       mechanism likes. And the part of it for the Gram row, below 1; the rows have the rest. 0: the Gram row gets no noise. */
    const double *block_shares;
    double gram_share;
} dpf_release;

/*
 * The mechanism's decisions for a release. It arrives cleared but for its size; constant over the run unless
 * bounds come from the data. The host owns it and passes it back, so that instances need not change.
 */
typedef struct dpf_noise_plan {
    uint32_t size;
    int32_t where; /* DPF_NOISE_* */
    int32_t n_blocks;
    /* IN_SHARES: how many parties may know or withhold their own share while enough noise is left in a sum of
       the least number of messages that decode accepts; 0: not stated. */
    int32_t spare_shares;
    double grid[DPF_MAX_BLOCKS];     /* granularity of each block, > 0, a power of two for additive noise */
    double scale[DPF_MAX_BLOCKS];    /* noise scale of each block, as in its event; 0: no noise */
    double variance[DPF_MAX_BLOCKS]; /* of one coordinate of the decoded sum */
    double gram_grid[DPF_MAX_BLOCKS];
    double gram_scale[DPF_MAX_BLOCKS];
    double gram_variance[DPF_MAX_BLOCKS];
    uint64_t modulus;  /* sums are taken modulo this; 0: not modular */
    double wrap_bound; /* bound on Pr[a sum wraps]; 0 if it provably cannot */
    /* The guarantee needs sums of at least this many messages: with DPF_MECHANISM_SHARES no fewer than min_honest and
       spare_shares together. decode refuses smaller sums, and an aggregator refuses to open them. 0: any number is enough. */
    int64_t least_survivors;
    uint64_t opaque[16]; /* for the mechanism's own use */
    /* IN_SHARES, for simulations alone: 1 if messages carry no noise, and decode adds that of all senders. */
    int32_t bare;
    /* Above 0: every integer of a message is between 0 and this, noise included. 0: it is the number, rounded, and noise
       around 0. Sums that cannot be of such messages are refused; noise that is 64 standard deviations away is. */
    int32_t message_most;
} dpf_noise_plan;

/* Rows of integers: encoded messages and their sums. */
typedef struct dpf_encoded {
    uint32_t size;
    int32_t width;
    int64_t n_rows;
    const int32_t *rows; /* which rows; NULL: first_row .. first_row + n_rows - 1 */
    int64_t first_row;
    int64_t total_rows;
    int64_t *values;
    int64_t stride;
    int64_t survivors; /* decode: how many messages are in the sum */
    /*
     * encode, for mechanisms with DPF_MECHANISM_CONTRIBUTORS: how many parties send each of these rows, so
     * that each adds 1/contributors of the noise; else NULL.
     */
    const int32_t *contributors;
    /*
     * decode, for mechanisms with row_state, else NULL: the state of these rows from earlier rounds of the
     * run, row_state bytes for each row, 8-byte aligned. The host clears it before the first round and keeps
     * it until the last.
     */
    void *state;
} dpf_encoded;

/* Flags. */
#define DPF_MECHANISM_CONTRIBUTORS UINT32_C(1) /* reads how many parties send each row (condition C8) */
#define DPF_MECHANISM_PER_USER UINT32_C(2)     /* its events hold only if each user sends one message */
#define DPF_MECHANISM_DENSE                                                                                  \
    UINT32_C(4) /* needs every party's message with all rows: each row needs its shares */
/* Where a plan adds no noise at the party (NOWHERE, AT_SUM, or bare), encode rounds each number to the nearest
   multiple of its block's grid, ties to even, and does nothing else; it takes what lies within 2^50 steps,
   and within 2^62 divided by dpf_release.n_parties. The host may do it in its place. */
#define DPF_MECHANISM_ROUNDS UINT32_C(8)
/* Its noise may be in shares, for dpf_release.min_honest and max_curious, which [privacy] says. A plan may say
   DPF_NOISE_IN_SHARES with this flag or CONTRIBUTORS alone. */
#define DPF_MECHANISM_SHARES UINT32_C(16)
#define DPF_MECHANISM_DIVIDES UINT32_C(32) /* reads dpf_release.block_shares and gram_share */

typedef struct dpf_mechanism {
    uint32_t flags; /* DPF_MECHANISM_* */
    uint32_t reserved;

    /* [any, optional] How long a draw of noise stays in use: DPF_LIFETIME_*. NULL: a round. */
    int32_t (*lifetime)(void *self);
    /* [any, optional] The epsilon that the configuration asks of one release. NULL or NaN: none. */
    double (*budget)(void *self);

    /* [setup, required] Chooses grid and scale. Never guess a sensitivity that is NaN or infinite: fail with
       DPF_E_PRIVACY and say what would bound it. */
    dpf_status (*plan)(void *self, const dpf_release *release, dpf_noise_plan *out);
    /*
     * [setup, required] The events of one release, at most capacity; cleared when they arrive. A block
     * without noise is NON_PRIVATE unless its sensitivity is 0. Blocks that share a bound form one event.
     * CORRELATED_GAUSSIAN is one event for all rounds; no other event may cover its blocks.
     */
    dpf_status (*events)(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                         int32_t capacity, int32_t *n);
    /*
     * [run, required] Encodes values (n_rows x width, stride) as integers; rows as in out. Read the noise of
     * row r at (call.draw, call.party, r). Return DPF_E_RANGE for values outside the integers' range.
     */
    dpf_status (*encode)(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                         const double *values, int64_t stride, dpf_encoded *out);
    /* [run, required] Decodes sums to estimates of the same shape. Read the noise of row r, if any, at
     * (call.draw, DPF_PARTY_AGGREGATE, r). */
    dpf_status (*decode)(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                         const dpf_encoded *sums, double *out, int64_t stride);
    /*
     * [any, optional] The planned epsilon of one release for a record with this weight. Samplers that draw by
     * weight use it. NULL: not stated.
     */
    dpf_status (*epsilon_at_weight)(void *self, const dpf_noise_plan *plan, double weight, double *epsilon);
    /*
     * [run, optional] For events with DPF_EVENT_NOISE_KNOWN, else NULL: the standard deviation of each
     * coordinate's noise in the sum, given the part that the server knows. Rows as in sums, whose values must
     * not be read; call.draw as in decode. Audits use it to attack as such a server could.
     */
    dpf_status (*conditional_stddev)(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                     const dpf_query *query, const dpf_encoded *sums, double *out,
                                     int64_t stride);
    /*
     * [setup, optional] Bytes of state that decode keeps for each row of a message; NULL: none. With state,
     * call.draw is the number of the round, from 0, and noise that is correlated between rounds is added to
     * sums (DPF_NOISE_AT_SUM), once a round. decode reads the state of earlier rounds and writes its own; a
     * second call for the same round, before a later one, must give the same result.
     */
    uint64_t (*row_state)(void *self, const dpf_noise_plan *plan, const dpf_query *query);
    /*
     * [any, optional] The correlation of the noise between rounds; NULL: none. Writes the first n numbers of
     * the first column of a lower triangular Toeplitz matrix C, beginning with 1: the noise of a coordinate
     * in the decoded sums of rounds 0 .. n-1 is C^-1 z, where z is independent and has the plan's variance.
     */
    void (*correlation)(void *self, const dpf_noise_plan *plan, double *out, int64_t n);
    /*
     * [setup, optional] The mechanism's settings on one scale, from place 0, the most private, to 1, the
     * least: "dpframe account --choose" looks for the last place that meets a target. Writes the parameters'
     * values there (values[i] of parameter i; those that stay as configured are left alone) and makes of
     * `event`, which events() stated, what it would state with them. NULL: nothing can be chosen.
     */
    dpf_status (*settings)(void *self, double place, double *values, dpf_event *event);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[5])(void);
} dpf_mechanism;

#ifdef __cplusplus
}
#endif
#endif
