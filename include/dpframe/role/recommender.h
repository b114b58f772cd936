/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/recommender.h - a recommender other than a factorization, as one component.
 *
 * A factorization is assembled from the other roles. A model of another shape, such as nearest neighbours, is
 * one component of this role and replaces [users] and [items]: it gets the training records, makes a state,
 * and scores items for a user from the state and that user's own records. The host provides split,
 * evaluation, run directory, ledger, accountants and conditions, the same for both.
 *
 * Privacy: a recommender states each of its releases before any data is read (releases), as an event for the
 * accountants and as facts for the conditions C1..C12. It must then do exactly that: the host cannot check
 * it. Its random streams come from the privacy key.
 *
 * State: a block of bytes that the host owns, saves and loads. It holds everything that fit has learnt, has
 * no pointers, and is little-endian. Instances do not change after create. A component that names one of the formulas of
 * score_form.h describes its state by arrays, and need neither score users nor check saved states.
 */
#ifndef DPFRAME_ROLE_RECOMMENDER_H
#define DPFRAME_ROLE_RECOMMENDER_H

#include "../features.h"
#include "../host.h"
#include "../privacy.h"
#include "../score_form.h"
#include "aggregator.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_RECOMMENDER "dpframe.recommender/1"

/* Who holds the records. */
#define DPF_PARTIES_CURATOR 0        /* one trusted party */
#define DPF_PARTIES_SILOS_BY_USERS 1 /* several, each with all records of its users */
#define DPF_PARTIES_SILOS_BY_ITEMS 2
#define DPF_PARTIES_USERS 3 /* every user is a party */

/* Records of one orientation: those of row r are entries offsets[r] .. offsets[r+1]-1, ascending by other. */
typedef struct dpf_csr {
    int64_t rows;
    const int64_t *offsets; /* rows + 1 */
    const int32_t *others;
    const float *values; /* NULL: all 1 (implicit feedback) */
    uint64_t reserved[2];
} dpf_csr;

/* The training records, both ways; read only, valid during the call. */
typedef struct dpf_interactions {
    uint32_t size;
    int32_t divided; /* 1: records of users first_user .. end_user-1 alone are here; see dpf_users_here */
    int64_t n_users;
    int64_t n_items;
    int64_t n; /* records */
    dpf_csr by_user;
    dpf_csr by_item;
    const dpf_features *item_features; /* public; NULL: none. See dpf_item_features. */
    int64_t first_user;
    int64_t end_user;
    /*
     * For each entry of by_user, and of by_item, whether the record is void: 1 or 0; NULL: none is. Its line was
     * at fault or its value was dropped, but who rated what is public, so that its cell stays: it counts
     * wherever records are counted, and adds exactly 0 to every sum; its value means nothing. Only components
     * with DPF_RECOMMENDER_READS_VOIDS get void records. See dpf_user_voids.
     */
    const uint8_t *user_voids;
    const uint8_t *item_voids;
} dpf_interactions;

/* Which entries of by_user, of by_item, are void; NULL: none. */
static inline const uint8_t *dpf_user_voids(const dpf_interactions *records)
{
    return records->size > offsetof(dpf_interactions, user_voids) ? records->user_voids : NULL;
}
static inline const uint8_t *dpf_item_voids(const dpf_interactions *records)
{
    return records->size > offsetof(dpf_interactions, item_voids) ? records->item_voids : NULL;
}

/* Public features of the items; NULL: none. */
static inline const dpf_features *dpf_item_features(const dpf_interactions *records)
{
    return records->size > offsetof(dpf_interactions, item_features) ? records->item_features : NULL;
}

/*
 * The users first .. end-1, whose records are here: all, unless several processes train together and each has
 * some of the users (DPF_RECOMMENDER_SUMS_USERS). Offsets of by_user are then still those of all users, so
 * numbers of records are known, but no entries of others may be read, and none of by_item.
 */
static inline void dpf_users_here(const dpf_interactions *records, int64_t *first, int64_t *end)
{
    const int divided = records->size > offsetof(dpf_interactions, end_user) && records->divided;
    *first = divided ? records->first_user : 0;
    *end = divided ? records->end_user : records->n_users;
}

/* Known before any data is read. */
typedef struct dpf_recommender_setup {
    uint32_t size;
    int32_t parties; /* DPF_PARTIES_* */
    int64_t n_users; /* upper bounds; INT32_MAX if unknown, which keeps bounds valid */
    int64_t n_items;
    double value_lo;       /* declared range of the records' values; 1 and 1 for implicit feedback, */
    double value_hi;       /* infinite where none is declared */
    double noise_factor;   /* divides each release's epsilon; 1 unless a total budget is calibrated */
    int32_t without_noise; /* 1: the non-private twin, for comparison: no noise, and releases say so */
    int32_t unit;          /* DPF_UNIT_* and DPF_ADJ_* of the run; events state all of them */
    int32_t adjacency;
    int32_t item_features; /* 1: the records will come with public features of items */
    /*
     * Above 0: every user sends its message through an aggregator, with a share of the noise, and the shares
     * of so many users make up all of it (DPF_NOISE_IN_SHARES); see dpf_fit.summing. 0: no aggregator.
     */
    int64_t shares;
} dpf_recommender_setup;

/* Shares that make up the noise, or 0. */
static inline int64_t dpf_setup_shares(const dpf_recommender_setup *setup)
{
    return setup->size > offsetof(dpf_recommender_setup, shares) ? setup->shares : 0;
}

/* What a release reads besides records and its own noise (condition C2). */
#define DPF_READS_CONSTANTS 0   /* public constants */
#define DPF_READS_RELEASES 1    /* earlier releases and constants */
#define DPF_READS_OWN_RECORDS 2 /* a user's own records, in a contribution with one bound */
#define DPF_READS_RAW 3         /* numbers from private data without noise: no guarantee */

/* Facts about a release (condition C8). */
#define DPF_RELEASE_ROW_OF_USER UINT32_C(1)    /* each user has a row in it */
#define DPF_RELEASE_SENT_BY_USERS UINT32_C(2)  /* each user sends a message */
#define DPF_RELEASE_COUNTS_USERS UINT32_C(4)   /* it shows the exact number of users that sent */
#define DPF_RELEASE_NOISE_BY_USERS UINT32_C(8) /* each user who takes part adds noise */
/* The last two show who rated what. Where that is public, components that state them must also state
   DPF_RECOMMENDER_READS_VOIDS. */
#define DPF_RELEASE_OBSERVED_ONLY UINT32_C(16) /* cells without a record send nothing */
#define DPF_RELEASE_READS_DEGREES UINT32_C(32) /* exact numbers of records enter it */
#define DPF_RELEASE_FACTS UINT32_C(63)

#define DPF_MAX_RELEASES 16

/* One kind of release. */
typedef struct dpf_recommender_release {
    uint32_t flags;      /* DPF_RELEASE_* */
    int32_t reads;       /* DPF_READS_* */
    int32_t noise_where; /* DPF_NOISE_*: who adds the noise */
    int32_t sees;        /* DPF_SEES_*: what reaches the server */
    int32_t reserved;
    /*
     * side is the side whose rows are released; the host fills in term, blocks and round. Sensitivities
     * arrive as NaN; leave them NaN unless you can prove a bound. sampling arrives as "none". A draw
     * amplifies only if it is for the run's only release, made once (count 1), and the release shows neither
     * rows of users, nor their number, nor noise that they added.
     */
    dpf_event event;
    char name[48]; /* "flipped rows" */
    char why[160]; /* for DPF_READS_RAW: a clause that says what it reads; else "" */
    /* Noise in shares: what bounds the sums, and so the modulus that they are taken by. */
    int64_t largest;      /* no integer of a message without its noise is larger, in size; above 0 */
    uint64_t share_steps; /* scale of a share of the noise, in these integers: the largest; above 0 */
    uint64_t reserved_words[6];
} dpf_recommender_release;

/*
 * Exactly what the observer sees of a release, noise included: each message if the server sees messages, else
 * the sum. row is the user if each user has a row, else 0. n numbers in rows of width, one row after the
 * other: one row for each item if they belong to items.
 *
 * A witness may overwrite numbers: training then continues with its values as if they had been released. An
 * audit replays a release on another data set in this way. exact and scales are the component's own
 * statement; audits compare numbers with them, and both with the release's event.
 */
typedef struct dpf_witnessed {
    uint32_t size;
    int32_t release; /* its place in releases() */
    int64_t row;
    int64_t n;
    int64_t width;
    double *numbers;      /* with all their noise */
    const double *exact;  /* the same without noise; NULL: not given */
    const double *scales; /* noise scale of each, in units of the event's scale (or of the square root of its
                             variance); NULL: all 1. 0: the number is a constant */
} dpf_witnessed;

/* Receives each of them; a release that depends on another one comes after it. Several workers may call it at
   once. */
typedef struct dpf_witness {
    void *context;
    void (*saw)(void *context, const dpf_witnessed *what);
} dpf_witness;

/*
 * One sum over users. Each user's message is a vector of n integers with that user's share of the noise: the
 * same n for everybody, and with noise for users without records, too.
 */
typedef struct dpf_user_sum {
    uint32_t size;
    int32_t release; /* its place in releases() */
    int64_t n;
    const void *context;
    /* Writes the message of a user into out, n integers, zero at first. Several workers call it at once, and
     * in any order. It may use the host's services, but takes no scratch and reports nothing. */
    dpf_status (*message)(const void *context, uint32_t user, int32_t worker, int64_t *out);
    int64_t *sums;     /* out: n integers, with the noise of all messages in the sum */
    int64_t survivors; /* out: how many messages are in it */
} dpf_user_sum;

/*
 * How the host sums users' messages: through an aggregator, on whatever machines the users are. fit calls it
 * from the thread that called fit, once for each release, in an order that depends on earlier sums alone.
 * What it returns is what the server sees. Failures are reported by the host: return them as they are.
 */
typedef struct dpf_summing {
    void *context;
    dpf_status (*sum)(void *context, dpf_user_sum *sum);
} dpf_summing;

/* Trains: all buffers are the host's. */
typedef struct dpf_fit {
    uint32_t size;
    int32_t reserved;
    const dpf_recommender_setup *setup; /* of the plan; sizes may be larger than those of records */
    const dpf_interactions *records;
    void *state;          /* state_bytes() bytes, zero at first, 64-byte aligned */
    uint64_t state_bytes; /* in: the room; out: how many bytes are the state, if fewer */
    int64_t messages;     /* out: that were sent, and their bytes */
    uint64_t bytes_up;
    uint64_t bytes_down;
    const dpf_witness *witness; /* of an audit; NULL: none. Changes results only by what it writes. */
    const dpf_summing *summing; /* NULL: fit sums itself and adds noise to sums. Else shares are above 0. */
    void *processes;            /* see dpf_fit_add_up */
    dpf_status (*add_up)(void *processes, int64_t *values, int64_t n);
} dpf_fit;

/*
 * Integers of each process become their sum over all, on all; a sum that leaves 64 bits is an error. Call it
 * outside of tasks, by all processes in the same order with the same n: at every sum over users, before noise
 * is added, which all processes then draw alike. Alone: nothing happens.
 */
static inline dpf_status dpf_fit_add_up(const dpf_fit *fit, int64_t *values, int64_t n)
{
    return fit->size > offsetof(dpf_fit, add_up) && fit->add_up ? fit->add_up(fit->processes, values, n)
                                                                : DPF_OK;
}

/* The witness, or NULL. */
static inline const dpf_witness *dpf_fit_witness(const dpf_fit *fit)
{
    return fit->size > offsetof(dpf_fit, witness) ? fit->witness : NULL;
}

/* How users' messages are summed, or NULL. */
static inline const dpf_summing *dpf_fit_summing(const dpf_fit *fit)
{
    return fit->size > offsetof(dpf_fit, summing) ? fit->summing : NULL;
}

/* One user's scores. */
typedef struct dpf_scoring {
    uint32_t size;
    int32_t user;
    const dpf_interactions *records; /* read those of this user only; the state has the rest */
    const void *state;
    float *scores; /* n_items numbers, to be written; all finite */
} dpf_scoring;

/* Flags. */
#define DPF_RECOMMENDER_STATE_RELEASED                                                                       \
    UINT32_C(1) /* the state is computed from releases and constants alone, and may be published */
#define DPF_RECOMMENDER_SCORES_AT_HOME                                                                       \
    UINT32_C(2) /* scores read the user's own records without noise and stay with that user (joint DP) */
#define DPF_RECOMMENDER_PREDICTS_VALUES                                                                      \
    UINT32_C(4) /* scores predict records' values, in their range: rating metrics apply */
#define DPF_RECOMMENDER_ALWAYS_ENDS                                                                          \
    UINT32_C(8) /* no records make fit fail; only lack of memory and cancellation do (C12) */
#define DPF_RECOMMENDER_SUMS_USERS                                                                           \
    UINT32_C(16) /* fit reads records of dpf_users_here alone, by user, and adds up by dpf_fit_add_up */
#define DPF_RECOMMENDER_READS_VOIDS                                                                          \
    UINT32_C(                                                                                                \
        32) /* it keeps the cells of void records, and adds nothing for them (dpf_user_voids);           \
                    without this flag it gets records as if void ones were not there */

typedef struct dpf_recommender {
    /* [any, required] DPF_RECOMMENDER_*, as this instance is configured. */
    uint32_t (*flags)(void *self);
    /*
     * [setup, required] States all releases of a run, at most capacity. Called before data is read, and again
     * with other noise factors while a total budget is calibrated.
     */
    dpf_status (*releases)(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                           int32_t capacity, int32_t *n);
    /* [any, required] The size of the state for these numbers of users and items, or an upper bound: fit
     * reports how many bytes it used. */
    dpf_status (*state_bytes)(void *self, int64_t n_users, int64_t n_items, uint64_t *bytes);
    /*
     * [run, required] Trains and fills the state. Its bytes must not depend on the number of workers or the
     * order of tasks. Read noise of user u at (call.draw, u, row), noise of an aggregate at (call.draw,
     * DPF_PARTY_AGGREGATE, row). Scratch of call lives until fit returns. With dpf_fit.summing, state depends
     * on users' records through its sums alone, and messages and bytes are the host's to count.
     */
    dpf_status (*fit)(void *self, const dpf_call *call, dpf_fit *fit);
    /* [any, optional] Needed without form. DPF_OK if these bytes can be a state made by fit. Files may be damaged, and
     * scores trusts this check. */
    dpf_status (*check)(void *self, int64_t n_users, int64_t n_items, const void *state, uint64_t bytes);
    /* [run, optional] Needed without form. Scores of all items for a user; higher is better. */
    dpf_status (*scores)(void *self, const dpf_call *call, const dpf_scoring *scoring);
    /*
     * [run, optional] Describes a state that fit has made by a formula that the host knows. The host then scores in place of
     * scores, for many users at a time, saves the arrays in place of the state, and checks them in place of check.
     * out->size is set; out and what it points to may lie in the state, in scratch of the call, and in constants.
     */
    dpf_status (*form)(void *self, const dpf_call *call, int64_t n_users, int64_t n_items, const void *state,
                       dpf_form *out);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[3])(void);
} dpf_recommender;

#ifdef __cplusplus
}
#endif
#endif
