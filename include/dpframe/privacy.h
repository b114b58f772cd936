/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privacy.h - units, adjacencies, bounds, sensitivities and privacy events.
 *
 * A loss turns bounds into sensitivities, transforms tighten both, a mechanism turns sensitivities into noise
 * and events, the host puts the events into the ledger, and accountants read the ledger. Nobody guesses: an
 * unknown number is NaN, an unbounded one is infinity, and both lead to "no guarantee".
 *
 * The meaning of these structures and their layout never change (docs/abi-policy.md). Reserved fields are 0;
 * a reader that finds another value refuses, because the field states something that it does not know.
 */
#ifndef DPFRAME_PRIVACY_H
#define DPFRAME_PRIVACY_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Privacy unit: whose data is protected. */
#define DPF_UNIT_RECORD 0 /* one user-item pair */
#define DPF_UNIT_USER 1   /* all of a user's records */
#define DPF_N_UNITS 2     /* that have a meaning */
#define DPF_UNIT_ROWS 4   /* that sensitivities have room for */

/* Adjacency: what differs between neighbouring data sets. */
#define DPF_ADJ_REPLACE_VALUE 0 /* record: its value changes; which pairs exist is public */
#define DPF_ADJ_FLIP 1          /* record: an implicit record appears or disappears (0 <-> 1) */
#define DPF_ADJ_REPLACE 2       /* user: all records replaced by any others */
#define DPF_ADJ_ADD_REMOVE 3    /* record or user: present or absent */
#define DPF_ADJ_ZERO_OUT 4      /* record or user: replaced by "no contribution"; counts are public */
#define DPF_N_ADJACENCIES 5     /* that have a meaning */
#define DPF_ADJACENCY_ROWS 8    /* that sensitivities have room for */

/* Observer: from whom the unit is protected. */
#define DPF_OBSERVER_OUTSIDER 0 /* sees the released factors; the curator is trusted */
#define DPF_OBSERVER_SERVER 1   /* sees what reaches the server */
#define DPF_OBSERVER_PARTIES 2  /* other parties as well */

/* Which side of the factorization. */
#define DPF_SIDE_USERS 0
#define DPF_SIDE_ITEMS 1

/* Norms of a difference, over all coordinates of a block in all rows that a unit can change. For norms of
   several blocks together see dpf_joint_norm. */
typedef struct dpf_norms {
    double l1;
    double l2;
    double linf;
} dpf_norms;

/*
 * Sensitivity of one block of a query, for every unit and adjacency.
 * NaN: the component makes no statement. Infinity: unbounded. If replacing a contribution of norm C by
 * another one moves a sum by 2C, fill in 2C: nobody doubles it later. After each call the host sets the rows
 * of units and adjacencies that a plugin's headers do not know to NaN.
 */
typedef struct dpf_sensitivity {
    dpf_norms at[DPF_UNIT_ROWS][DPF_ADJACENCY_ROWS];
} dpf_sensitivity;

/* A sensitivity that states nothing. */
static inline dpf_sensitivity dpf_unstated(void)
{
    dpf_sensitivity out;
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            out.at[u][a].l1 = out.at[u][a].l2 = out.at[u][a].linf = (double)__builtin_nanf("");
    return out;
}

/* Sets of blocks, one bit each: block b of the rows is bit b, of the Gram row bit DPF_GRAM_BIT + b. */
#define DPF_GRAM_BIT 16
#define DPF_BLOCK_BITS 32

/*
 * A bound on how far several blocks of a message move together:
 *   | ( |x_b|_within / weight[b] )_b |_across <= at[unit][adjacency],
 * where x_b is the change of block b and b runs over `blocks`. One ball over a message: within = across = 2
 * (or 1), weights 1. L1 of L2 norms: within 2, across 1. The blocks' own sensitivities already state a
 * product of balls. All bounds hold at once, and leaving one out is safe.
 */
typedef struct dpf_joint_norm {
    uint32_t blocks; /* bits; at least one */
    int32_t within;  /* 1 or 2 */
    int32_t across;  /* 1 or 2 */
    int32_t reserved;
    double weight[DPF_BLOCK_BITS];                /* > 0, by bit; those of other blocks are not read */
    double at[DPF_UNIT_ROWS][DPF_ADJACENCY_ROWS]; /* NaN: not stated; infinity: unbounded */
    uint64_t reserved_words[4];
} dpf_joint_norm;

#define DPF_MAX_JOINT_NORMS 8 /* that the host has room for */

/* A set of bounds; the memory is the host's. */
typedef struct dpf_joint_norms {
    uint32_t size;
    int32_t n;
    int32_t capacity;
    int32_t reserved;
    dpf_joint_norm *bounds;
} dpf_joint_norms;

/*
 * Bounds that the plan knows before any data is read. Each number is infinity where nothing bounds it.
 * "Other" is the side whose rows the loss reads, "self" the side that is solved.
 */
typedef struct dpf_bounds {
    uint32_t size;
    int32_t side;      /* the side that is solved, DPF_SIDE_* */
    int32_t dimension; /* unknowns of a row */
    int32_t from_data; /* 1 if a number below is a maximum over private data (condition C1) */
    double value_lo;   /* a record's value as the loss sees it */
    double value_hi;
    double offset;     /* constant added to every prediction */
    double weight_max; /* largest record weight, sampling included; 1 if unweighted */
    double other_l1;   /* norms of any other row, restricted to the coordinates the loss reads */
    double other_l2;
    double other_linf;
    double self_l1; /* norms of any row of the side that is solved, before the step */
    double self_l2;
    double self_linf;
    int64_t records_per_user; /* enforced limit; INT64_MAX if none */
    int64_t n_self;
    int64_t n_other;
    double residual_l2; /* norm of the rows that predictions use (dpf_groups.residual) */
    /* Largest change of one record's value when it is replaced; 0: not stated, value_hi - value_lo bounds
       it. Never above value_hi - value_lo; a record transform that scales values by a weight lowers it. */
    double value_change;
    /* Largest sum of |y_j y_l|, j <= l, of any other row y; 0: not stated, (other_l1^2 + other_l2^2) / 2 bounds it. Where
       norms are maxima over rows, those two may come from different rows. */
    double other_upper;
} dpf_bounds;

/* How a sampler chooses, as the accountants see it. */
#define DPF_SAMPLING_NONE 0     /* everybody takes part */
#define DPF_SAMPLING_POISSON 1  /* each unit independently with probability rate */
#define DPF_SAMPLING_FIXED 2    /* a fixed number, without replacement */
#define DPF_SAMPLING_REPLACED 3 /* a fixed number, with replacement: nothing is amplified */
#define DPF_SAMPLING_WEIGHTED 4 /* Poisson with unequal probabilities; rate is the largest */
#define DPF_SAMPLING_CYCLIC                                                                                  \
    5 /* `separation` fixed groups that take turns, one a round; nothing is amplified */

typedef struct dpf_sampling {
    int32_t kind; /* DPF_SAMPLING_* */
    int32_t unit; /* DPF_UNIT_*: what is drawn */
    int32_t
        hidden_from; /* largest DPF_OBSERVER_* from which the draw can be hidden; -1: nobody. The host lowers it to what
                            [SIDE] sample-secrecy says */
    int32_t reserved;
    double rate;       /* nominal inclusion probability, public */
    double weight_max; /* largest weight of a drawn unit */
    /*
     * Draws of records, where they depend on a record's privacy weight W alone. A record is never drawn
     * unless weight_from <= W < weight_below (weight_below 0: any W), and then with probability min(1,
     * expm1(W budget) / expm1(threshold)) if budget > 0, else always.
     */
    double weight_from;
    double weight_below;
    double budget;
    double threshold;
    /* Enforced: a unit takes part at most once in this many consecutive rounds. 0 or 1: no promise. */
    int64_t separation;
    uint64_t reserved_words[3];
} dpf_sampling;

/*
 * Kinds of events; named as in Google's dp_accounting where it has them. "scale" and the sensitivities have
 * the same unit. Which of the event's norms counts is stated here; its numbers are in dpf_event.p.
 *
 * PURE, APPROX and ZCDP state the mechanism's own theorem. It may be about another norm than L1 or L2:
 * l1 (l2 of ZCDP) is then the change in that norm. The numbers of APPROX and ZCDP hold for one change D of
 * that norm; how they grow with it is unknown. Divide the norms of all units and adjacencies by D, so that D
 * becomes 1: a smaller change costs the same, a larger one is refused.
 */
#define DPF_EVENT_NO_OP 0
#define DPF_EVENT_NON_PRIVATE 1          /* released without noise */
#define DPF_EVENT_UNSUPPORTED 2          /* noise was added, but nothing is proved about it */
#define DPF_EVENT_LAPLACE 3              /* i.i.d. Laplace(scale); l1 */
#define DPF_EVENT_GAUSSIAN 4             /* i.i.d. N(0, scale^2); l2 */
#define DPF_EVENT_DISCRETE_LAPLACE 5     /* on the grid, scale a multiple of grid; l1 */
#define DPF_EVENT_DISCRETE_GAUSSIAN 6    /* on the grid; l2 */
#define DPF_EVENT_PURE 7                 /* (p.pure.epsilon times l1)-DP, for every l1 */
#define DPF_EVENT_APPROX 8               /* (epsilon, delta)-DP of p.approx; l1, normalised to at most 1 */
#define DPF_EVENT_ZCDP 9                 /* (xi, rho)-zCDP of p.zcdp; l2, normalised to at most 1 */
#define DPF_EVENT_SKELLAM 10             /* on the grid, of variance p.skellam; l1 and l2 */
#define DPF_EVENT_PBM 11                 /* Poisson binomial mechanism of p.pbm */
#define DPF_EVENT_RANDOMIZED_RESPONSE 12 /* bits, flipped with probability p.response.flip; l1: how many */
/*
 * A private selection, with the numbers of p.selection. Its CANDIDATEs follow, and after each of them the
 * releases of one run of that candidate, as many as p.candidate says; nobody charges those by themselves.
 * Both kinds have neither sensitivity nor scale. See selection.h.
 */
#define DPF_EVENT_SELECTION 13
#define DPF_EVENT_CANDIDATE 14

/* The law of the number of runs of a selection. */
#define DPF_REPETITIONS_NEGATIVE_BINOMIAL 0 /* truncated: from 1 on; geometric where eta = 1 */
#define DPF_REPETITIONS_POISSON 1           /* from 0 on */

/*
 * All releases of a run at once: C x + z, where x stacks the rounds' messages, C is a public lower triangular
 * matrix and z is i.i.d. discrete Gaussian noise on the grid; its sensitivity is the L2 norm of C x over all
 * rounds in which one unit takes part. It is charged once, in full, at round 1: count counts runs. Numbers:
 * p.correlated.
 */
#define DPF_EVENT_CORRELATED_GAUSSIAN 15

/* The numbers of an event, by kind; a kind without a name here has none. Unused numbers are 0. */
typedef union dpf_event_numbers {
    double all[8];
    struct {
        double epsilon; /* for each unit of l1 */
    } pure;
    struct {
        double epsilon;
        double delta;
    } approx;
    struct {
        double xi;
        double rho;
    } zcdp;
    struct {
        double variance; /* of one number, in the unit of scale, squared */
    } skellam;
    struct {
        double theta;       /* (0, 1/2] */
        double trials;      /* of each client and number */
        double clients;     /* the least number of them in a sum */
        double coordinates; /* of a message */
    } pbm;
    struct {
        double flip; /* probability, per bit */
    } response;
    struct {
        double repetitions; /* DPF_REPETITIONS_* */
        double eta;         /* of Poisson: 0 */
        double gamma;       /* of Poisson: the mean */
        double candidates;
    } selection;
    struct {
        double releases;
    } candidate;
    struct {
        double rounds; /* that, like the next two, the sensitivity relies on */
        double separation;
        double participations;
        double attained; /* 1: the sensitivity is attained, 0: it is a bound */
    } correlated;
} dpf_event_numbers;

/* Event flags. */
#define DPF_EVENT_NOISE_KNOWN UINT32_C(1)      /* the server knows part of the noise (C4) */
#define DPF_EVENT_NOISE_SHARED UINT32_C(2)     /* each message holds only a share of it (C5) */
#define DPF_EVENT_FLOATING_POINT UINT32_C(4)   /* drawn or added off the grid (C9) */
#define DPF_EVENT_BOUNDS_FROM_DATA UINT32_C(8) /* sensitivity is a maximum over the data (C1) */
#define DPF_EVENT_DATA_BLIND UINT32_C(16)      /* the block is public: no noise is needed */
#define DPF_EVENT_FLAGS UINT32_C(31)           /* all of them; who meets another one refuses */

/* `count` equal releases; or a part of a release that shares no bound with the rest. */
typedef struct dpf_event {
    int32_t kind;
    uint32_t flags;
    int32_t lifetime; /* DPF_LIFETIME_* of the noise; RUN with count > 1 reuses one draw */
    int32_t side;     /* its origin, for reports; filled in by the host */
    int64_t count;    /* composed with itself this many times, fresh noise each time */
    int32_t term;
    uint32_t blocks; /* which blocks of the message, bits as in dpf_joint_norm */
    int32_t round;   /* first round */
    /*
     * 1: records' values were multiplied by their privacy weights W <= 1, so that a change of one value
     * (record, REPLACE_VALUE) moves the release by W times its sensitivity, except for the part `unweighted`.
     * 0: weights play no role. Filled in by the host.
     */
    int32_t weighted;
    double scale;
    double grid;         /* granularity; 0 if continuous */
    dpf_event_numbers p; /* by kind */
    /*
     * Includes rounding to the grid. If several blocks have noise of different scales, each is divided by its
     * own scale and multiplied by `scale`: the result is a release with noise of that one scale.
     */
    dpf_sensitivity sensitivity;
    dpf_norms unweighted;
    dpf_sampling sampling; /* filled in by the host from the sampler */
    uint64_t reserved[8];
    /* For claims of publications, never for a proved epsilon; filled in by the host, 0 where it is not known. */
    double messages;   /* expected in what the server sees at once: 1, or those of a sum that hides them */
    double numbers;    /* of a release, before transforms of messages flatten or pad them */
    uint64_t notes[2]; /* 0; later versions may use it for reports, never for an epsilon */
} dpf_event;

#ifdef __cplusplus
}
#endif
#endif
