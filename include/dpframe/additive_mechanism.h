/* SPDX-License-Identifier: Apache-2.0 */
/*
 * additive_mechanism.h - a mechanism "value + noise" from a few facts about the noise; not part of the ABI.
 *
 * Write a new noise with this header; the library dpframe-sdk, which your plugin links, supplies the rest of
 * the mechanism role.
 *
 * Idea. You state the norm in which a message's change counts, how much noise one unit of that norm needs
 * (multiplier), how to draw a number, and which event the accountants read. The header supplies the choice of
 * grid and scale, the sensitivity after rounding, budgets of blocks and of the Gram row, blocks that share a
 * bound, events, encoding and decoding at the party, at the sum or in shares, and the parameters that all
 * such mechanisms share.
 *
 * Scenario: noise of a Laplace kind, complete.
 *
 *     #include "dpframe/dpframe.h"
 *
 *     enum { P_EPSILON, P_SHARED };
 *
 *     static const dpf_param params[] = {
 *         [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO,
 *                                        "", "Pure-DP budget of one release."),
 *         DPF_ADDITIVE_PARAMS,
 *     };
 *
 *     static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
 *     {
 *         (void)host;
 *         *out = 1 / values[P_EPSILON].real;
 *         return DPF_OK;
 *     }
 *
 *     static double variance(const dpf_noise_source *from, double steps, int64_t n)
 *     {
 *         const double s = sinh(1 / (2 * steps));
 *         (void)from, (void)n;
 *         return 1 / (2 * s * s);
 *     }
 *
 *     static const dpf_additive_mechanism laplace = {
 *         .norm = DPF_NORM_L1,
 *         .event = DPF_EVENT_DISCRETE_LAPLACE,
 *         .bits = 34,
 *         .max_bits = 42,
 *         .shared = P_SHARED,
 *         .multiplier = multiplier,
 *         .draw = dpf_draw_discrete_laplace,
 *         .variance = variance,
 *     };
 *
 *     DPF_ADDITIVE_COMPONENT(component, laplace, dpf_additive_functions, .id = "acme-laplace",
 *                            .version = "1.0.0", .summary = "Discrete Laplace noise", .citation = "",
 *                            DPF_PARAMS(params))
 *     DPF_SINGLE_COMPONENT_PLUGIN("com.acme.laplace", "1.0.0", "Apache-2.0", component)
 *
 * Scale. Every noise has a scale s, and you define its meaning: noise of scale s is a multiple of the grid, s
 * is `steps` grid steps, and more noise has a larger s. Your theorem must hold if s >= multiplier * (the
 * change of the message in your norm, rounding to the grid included). Blocks of one release share the budget.
 * With L1 and Linf, epsilons add up: a block with the share b of the budget gets the scale of multiplier / b.
 * With L2, 1/multiplier^2 adds up: multiplier / sqrt(b).
 */
#ifndef DPFRAME_ADDITIVE_MECHANISM_H
#define DPFRAME_ADDITIVE_MECHANISM_H

#include "additive.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How noise is divided into shares: dpf_additive_mechanism.in_shares. */
#define DPF_SHARES_NONE 0     /* one party, or the curator, adds noise in full: parameter `where` */
#define DPF_SHARES_VARIANCE 1 /* each of t parties adds noise of scale s / sqrt(t): variances add up */
#define DPF_SHARES_LAW 2      /* each of t parties adds a t-th of the noise: draw reads from->parts */

/* The facts about your noise: constant data. */
typedef struct dpf_additive_mechanism {
    /* ---- required ---- */
    /*
     * The norm of a message's change:
     *   DPF_NORM_L1, _L2  over all numbers of the message;
     *   DPF_NORM_LINF     the change of one number (of one number of a row, with whole_blocks); each number
     *                     (row) that can move is charged, and the scale grows with their count;
     *   DPF_NORM_ROWS     the sum over rows of the L2 norms of their changes, with whole_blocks: at most the
     *                     L1 norm, and sqrt(rows) times the L2 norm, whichever is smaller.
     */
    int32_t norm;
    /*
     * DPF_EVENT_* of exact noise. DISCRETE_LAPLACE, DISCRETE_GAUSSIAN or SKELLAM if it has that law. Else
     * PURE if your theorem says that a change of norm D costs epsilon = D / scale; APPROX or ZCDP, with a
     * function `state`, if it gives numbers for one D; UNSUPPORTED if there is no theorem. In these events
     * accountants read the sensitivity in your norm.
     */
    int32_t event;
    int32_t bits; /* log2 of a scale in grid steps, as a rule: fewer where sums would not fit; at least 8 */
    int32_t max_bits; /* a scale has at most 2^max_bits grid steps; at most 42, 31 with DPF_SHARES_VARIANCE */
    int32_t shared; /* index of DPF_ADDITIVE_PARAMS, which follow your parameters; not with noise in shares */
    /* [setup] Scale over norm, > 0. Check parameters against each other here; report with host->fail. */
    dpf_status (*multiplier)(const dpf_host *host, const dpf_value *values, double *multiplier);
    /*
     * [run] n independent draws at a scale of `steps` grid steps, |draw| < 2^61. from->change is the change
     * that they have to hide, in grid steps, for noise whose shape needs both. To be exact, make every
     * decision with integers and from->random. Constants computed in floating point from parameters, steps
     * and change are fine (the bound of truncated noise, say), if `state` states the law that they give.
     */
    dpf_draw_integers draw;
    /*
     * [any] Variance of each of n numbers drawn in one call, in squared grid steps; n is the length of the
     * block with whole_blocks, else 1. from has values, parts and change alone. With DPF_SHARES_VARIANCE it
     * is the variance of one share, whose square root becomes the events' scale.
     */
    double (*variance)(const dpf_noise_source *from, double steps, int64_t n);

    /* ---- optional: 0 or NULL ---- */
    int32_t in_shares; /* DPF_SHARES_*; then use dpf_additive_shares_functions, and no DPF_ADDITIVE_PARAMS */
    int32_t min_bits;  /* a share has at least 2^min_bits grid steps */
    int32_t whole_blocks; /* 1: one call of draw for all numbers of a row's block, for noise on vectors */
    /* [any] The configured epsilon of one release; NULL: none is configured. */
    double (*epsilon)(const dpf_value *values);
    /* [any] 1: multiplier is the scale itself, for any sensitivity. */
    int32_t (*is_scale)(const dpf_value *values);
    /* [any] 1: all blocks get the scale that the sum of their norms needs; norm L1. */
    int32_t (*one_scale)(const dpf_value *values);
    /* [setup] Refuses releases that the noise cannot serve. */
    dpf_status (*accept)(const dpf_host *host, const dpf_value *values, const dpf_release *release);
    /*
     * [setup] Completes the event of a block with noise: adds the numbers p of its kind. APPROX and ZCDP hold
     * for a sensitivity of 1: divide by the D of your theorem with dpf_event_normalise, for instance by
     * event->sensitivity.at[release->unit][release->adjacency].l1. `moved` is the number of the block's
     * numbers in all rows of a message (the number of rows, with whole_blocks).
     */
    void (*state)(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event);
} dpf_additive_mechanism;

/* Indices of the shared parameters, from dpf_additive_mechanism.shared on. */
enum { DPF_SHARED_WHERE, DPF_SHARED_LIFETIME, DPF_SHARED_COUNT };

static const dpf_enum_value dpf_additive_places[] = {
    {"party", "Each party adds noise to its own message; the server need not be trusted."},
    {"sum", "A trusted curator adds noise once to the sum."},
};
static const dpf_enum_value dpf_additive_lifetimes[] = {
    {"run", "Drawn once and reused in every round; differences between rounds are not protected."},
    {"round", "Fresh in every round."},
    {"solve", "Fresh for every inner solve of a round."},
};

/* The shared parameters. */
#define DPF_ADDITIVE_PARAMS                                                                                  \
    DPF_PARAM_ENUM_F("where", 0, dpf_additive_places, DPF_PARAM_PRIVACY, "Who adds the noise."),             \
        DPF_PARAM_ENUM_F("lifetime", 1, dpf_additive_lifetimes, DPF_PARAM_PRIVACY,                           \
                         "How long one draw stays in use.")

/*
 * Defines the dpf_component NAME. SPEC is your dpf_additive_mechanism. FUNCTIONS is dpf_additive_functions;
 * dpf_additive_pure_functions, for pure DP in L1 (a release costs at most epsilon / noise factor, in
 * proportion to a record's weight); dpf_additive_shares_functions; or your own table, which uses the
 * functions below that it does not replace. The rest initialises dpf_component.
 */
#define DPF_ADDITIVE_COMPONENT(NAME, SPEC, FUNCTIONS, ...)                                                   \
    static dpf_status NAME##_create(const dpf_host *dpf_h, const dpf_params *dpf_p, void **self)             \
    {                                                                                                        \
        return dpf_additive_mechanism_create(&(SPEC), &(FUNCTIONS), dpf_h, dpf_p, self);                     \
    }                                                                                                        \
    DPF_COMPONENT(NAME, DPF_ROLE_MECHANISM, FUNCTIONS, .create = NAME##_create,                              \
                  .instance_bytes = sizeof(dpf_additive_instance), __VA_ARGS__)

/* In `state`: from->change of the draws of this event's block. */
uint64_t dpf_event_change(const dpf_noise_plan *plan, const dpf_event *event);

/* Divides an event's sensitivities by `by`, so that this change becomes the sensitivity 1 for which APPROX
   and ZCDP are stated. */
void dpf_event_normalise(dpf_event *event, double by);

/* The role's tables; the third is for noise in shares. */
extern const dpf_mechanism dpf_additive_functions;
extern const dpf_mechanism dpf_additive_pure_functions;
extern const dpf_mechanism dpf_additive_shares_functions;

/* ---- the functions of these tables: read on only to replace one ---------------------------------- */

/* An instance: the self of the functions below. */
typedef struct dpf_additive_instance {
    const dpf_additive_mechanism *spec;
    const dpf_host *host;
    const dpf_value *values;
    const dpf_value *shared; /* values + spec->shared */
    const dpf_random_service *random;
    dpf_stream *stream;
    double multiplier;
} dpf_additive_instance;

dpf_status dpf_additive_mechanism_create(const dpf_additive_mechanism *spec, const dpf_mechanism *functions,
                                         const dpf_host *host, const dpf_params *params, void **self);
int32_t dpf_additive_mechanism_lifetime(void *self);
double dpf_additive_mechanism_budget(void *self);
dpf_status dpf_additive_mechanism_plan(void *self, const dpf_release *release, dpf_noise_plan *out);
dpf_status dpf_additive_mechanism_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                         dpf_event *out, int32_t capacity, int32_t *n);
/* A record's contribution, and so its L1 distance, is proportional to its weight. Sensitivities are those of
   weight 1 here. */
dpf_status dpf_additive_mechanism_epsilon_at_weight(void *self, const dpf_noise_plan *plan, double weight,
                                                    double *epsilon);
dpf_status dpf_additive_mechanism_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                         const dpf_query *query, const double *values, int64_t stride,
                                         dpf_encoded *out);
dpf_status dpf_additive_mechanism_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                         const dpf_query *query, const dpf_encoded *sums, double *out,
                                         int64_t stride);

/* Noise in shares. How many shares make up enough noise. */
int64_t dpf_additive_plan_parts(const dpf_noise_plan *plan);
/* Grid steps of one share in block b, of shares whose variances add up. */
uint64_t dpf_additive_plan_steps(const dpf_noise_plan *plan, int32_t b, int32_t gram);
/* Fails if the sum has too few messages; decode begins with it. */
dpf_status dpf_additive_enough(const dpf_additive_instance *it, const dpf_call *call,
                               const dpf_noise_plan *plan, const dpf_encoded *sums);

#ifdef __cplusplus
}
#endif

#endif
