/* SPDX-License-Identifier: Apache-2.0 */
/*
 * additive_mechanism.h - a mechanism "value + noise" from a few facts about the noise; no part of the ABI.
 *
 * Write a new noise with this header: the rest of the mechanism role is filled in.
 *
 * Idea. You say how the privacy of your noise depends on a message's change (its norm), how much noise one
 * unit of that norm needs (multiplier), how one number is drawn, and what event the accountants shall read.
 * From that come: the choice of grid and scale, the sensitivity after rounding to the grid, budgets of blocks
 * and of the Gram row, blocks that share a bound, events, encoding and decoding at the party, at the sum or
 * in shares, and the parameters that all such mechanisms have.
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
 *         DPF_ADDITIVE_PARAMS(34, 8, 40),
 *     };
 *
 *     static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
 *     {
 *         (void)host;
 *         *out = 1 / values[P_EPSILON].real;
 *         return DPF_OK;
 *     }
 *
 *     static double variance(const dpf_value *values, double steps, int64_t n)
 *     {
 *         const double s = sinh(1 / (2 * steps));
 *         (void)values, (void)n;
 *         return 1 / (2 * s * s);
 *     }
 *
 *     static const dpf_additive_mechanism laplace = {
 *         .norm = DPF_NORM_L1,
 *         .event = DPF_EVENT_DISCRETE_LAPLACE,
 *         .max_bits = 42,
 *         .shared = P_SHARED,
 *         .multiplier = multiplier,
 *         .draw = dpf_draw_discrete_laplace,
 *         .variance = variance,
 *     };
 *
 *     DPF_ADDITIVE_COMPONENT(component, laplace, dpf_additive_functions, .id = "acme-laplace",
 *                            .version = "1.0.0", .summary = "Discrete Laplace noise", .citation = "",
 *                            .params = params, .n_params = sizeof params / sizeof params[0])
 *     DPF_SINGLE_COMPONENT_PLUGIN("com.acme.laplace", "1.0.0", "Apache-2.0", component)
 *
 * Scale. Every noise has a scale s; what it means is yours to say, but: noise of scale s is a multiple of the
 * grid, s is `steps` grid steps, and s grows with the noise. The mechanism is as private as you state if
 *     s >= multiplier * (the change of the message in your norm, rounding to the grid included).
 * Blocks of one release share the budget. With L1 and Linf, epsilons add up: a block that has the share b of
 * the budget gets the scale of multiplier / b. With L2, 1/multiplier^2 adds up: multiplier / sqrt(b).
 */
#ifndef DPFRAME_ADDITIVE_MECHANISM_H
#define DPFRAME_ADDITIVE_MECHANISM_H

#include "additive.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where noise in shares comes from: dpf_additive_mechanism.in_shares. */
#define DPF_SHARES_NONE 0     /* one party, or the curator, adds noise in full: parameter `where` */
#define DPF_SHARES_VARIANCE 1 /* each of t parties adds noise of scale s / sqrt(t): variances add up */
#define DPF_SHARES_LAW 2      /* each of t parties adds a t-th of the noise: draw reads from->parts */

/* What you say of your noise: constant data. */
typedef struct dpf_additive_mechanism {
    /* ---- required ---- */
    /* DPF_NORM_L1, _L2 or _LINF: of a message's change. With LINF the change is that of one number, or of one
       row with whole_blocks, and is charged for each of them. */
    int32_t norm;
    /*
     * DPF_EVENT_* of exact noise: DISCRETE_LAPLACE, DISCRETE_GAUSSIAN or SKELLAM if it has that law. Else
     * PURE, if your theorem says that a change of norm D costs D / scale; APPROX or ZCDP, with a function
     * `state`, if it gives numbers for one D; UNSUPPORTED, if there is none. In these events the sensitivity
     * that accountants read is in your norm.
     */
    int32_t event;
    int32_t max_bits; /* a scale has at most 2^max_bits grid steps; at most 42 */
    int32_t shared;   /* index of DPF_ADDITIVE_PARAMS (or DPF_SHARES_PARAMS), which follow your parameters */
    /* [setup] Scale over norm, > 0. Check here what bounds of parameters cannot say; host->fail reports. */
    dpf_status (*multiplier)(const dpf_host *host, const dpf_value *values, double *multiplier);
    /* [run] n independent draws at a scale of `steps` grid steps, |draw| < 2^61. Exact: integers and
       from->random alone, no floating-point number that a draw depends on. */
    dpf_draw_integers draw;
    /*
     * [any] Variance of each of n numbers that are drawn in one call, in squared grid steps; n is the length
     * of the block with whole_blocks, else 1. With shares of the variance: of one share, whose square root is
     * what events have as scale.
     */
    double (*variance)(const dpf_value *values, double steps, int64_t n);

    /* ---- optional: 0 or NULL ---- */
    int32_t float_event;  /* DPF_EVENT_* of draw_real */
    int32_t in_shares;    /* DPF_SHARES_*; then the parameters are DPF_SHARES_PARAMS, and functions
                             dpf_additive_shares_functions */
    int32_t min_bits;     /* a share has at least 2^min_bits grid steps */
    int32_t whole_blocks; /* 1: draw is called once for all numbers of a row's block, for noise of vectors */
    dpf_draw_reals draw_real; /* [run] float64 noise of scale 1, for precision = float */
    double real_variance;     /* of draw_real */
    /* [any] The epsilon that the configuration asks of one release; NULL: it asks for none. */
    double (*epsilon)(const dpf_value *values);
    /* [any] 1: multiplier is the scale itself, whatever the sensitivity is. */
    int32_t (*is_scale)(const dpf_value *values);
    /* [any] 1: all blocks have the scale that the sum of their norms needs; norm L1. */
    int32_t (*one_scale)(const dpf_value *values);
    /* [setup] Refuses releases that the noise is not made for. */
    dpf_status (*accept)(const dpf_host *host, const dpf_value *values, const dpf_release *release);
    /*
     * [setup] Completes the event of a block with noise, which has everything but the numbers p of its kind.
     * APPROX and ZCDP hold for a sensitivity of 1: dpf_event_normalise divides by the D of your theorem, for
     * instance by event->sensitivity.at[release->unit][release->adjacency].l1. `moved` is how many numbers
     * the block has in all rows of a message (how many rows, with whole_blocks).
     */
    void (*state)(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event);
} dpf_additive_mechanism;

/* Indices of the shared parameters, from dpf_additive_mechanism.shared on. */
enum {
    DPF_SHARED_SHARES,
    DPF_SHARED_GRAM_SHARE,
    DPF_SHARED_WHERE,
    DPF_SHARED_LIFETIME,
    DPF_SHARED_PRECISION,
    DPF_SHARED_GRID_BITS,
    DPF_SHARED_COUNT
};
/* The same of noise in shares. */
enum { DPF_SHARES_HONEST, DPF_SHARES_CURIOUS, DPF_SHARES_GRID_BITS, DPF_SHARES_COUNT };

static const dpf_enum_value dpf_additive_places[] = {
    {"party", "Each party adds noise to its own message; the server need not be trusted."},
    {"sum", "A trusted curator adds noise once to the sum."},
};
static const dpf_enum_value dpf_additive_lifetimes[] = {
    {"run", "Drawn once and reused in every round; what cancels between rounds is not protected."},
    {"round", "Fresh in every round."},
    {"solve", "Fresh for every inner solve of a round."},
};
static const dpf_enum_value dpf_additive_precisions[] = {
    {"exact", "Exact integer noise on the grid."},
    {"float", "Fast float64 noise; its low bits can reveal values, so the run cannot be certified (C9)."},
};

/* The shared parameters; default and bounds of grid-bits. */
#define DPF_ADDITIVE_PARAMS(BITS, LEAST, MOST)                                                               \
    DPF_PARAM_LIST_F("shares", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, DPF_PARAM_PRIVACY, "",                      \
                     "Shares of the budget for the blocks in their order; they add up to 1. Default: equal " \
                     "shares for the blocks that a unit can move; under one bound over several blocks, "     \
                     "noise in the ratio of the bound's weights."),                                          \
        DPF_PARAM_REAL_F("gram-share", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",             \
                         "Fraction of the budget for the Gram row of the query; the other rows have the "    \
                         "rest. Where one bound covers the Gram row and the rows, nothing is divided, and "  \
                         "any number above 0 will do. At 0 the Gram row gets no noise."),                    \
        DPF_PARAM_ENUM_F("where", 0, dpf_additive_places, DPF_PARAM_PRIVACY, "Who adds the noise."),         \
        DPF_PARAM_ENUM_F("lifetime", 1, dpf_additive_lifetimes, DPF_PARAM_PRIVACY,                           \
                         "How long one draw stays in use."),                                                 \
        DPF_PARAM_ENUM_F("precision", 0, dpf_additive_precisions, DPF_PARAM_PRIVACY, "How noise is drawn."), \
        DPF_PARAM_INT_F("grid-bits", BITS, LEAST, MOST, 0, "bits",                                           \
                        "log2 of the noise scale in grid steps (of the sensitivity, if that is larger and "  \
                        "counts in L1); fewer where many parties' messages are added. Lower it if values "   \
                        "do not fit.")

#define DPF_SHARES_PARAMS(BITS, LEAST, MOST)                                                                 \
    DPF_PARAM_INT_F("min-honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",                            \
                    "t: how many honest parties' messages are in every sum at the least. 0: as many as the " \
                    "plan knows to take part, all of them honest."),                                         \
        DPF_PARAM_INT_F("max-curious", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",                       \
                        "How many of those whose messages are in a sum may pool what they know of their "    \
                        "own shares; at least 1 for observer = parties. A sum of fewer than honest + "       \
                        "curious messages is refused."),                                                     \
        DPF_PARAM_INT_F("grid-bits", BITS, LEAST, MOST, 0, "bits",                                           \
                        "log2 of the noise that each party draws (of the sensitivity, if that is larger "    \
                        "and counts in L1) in grid steps; fewer where many messages are added.")

/*
 * Defines the dpf_component NAME. SPEC is your dpf_additive_mechanism. FUNCTIONS is dpf_additive_functions,
 * dpf_additive_pure_functions (epsilon / noise factor bounds what a release costs, in proportion to a
 * record's weight: pure DP in L1), dpf_additive_shares_functions, or a table of your own that names the
 * dpf_additive_mechanism_... functions below where it does not replace them. The rest initialises
 * dpf_component.
 */
#define DPF_ADDITIVE_COMPONENT(NAME, SPEC, FUNCTIONS, ...)                                                   \
    static dpf_status NAME##_create(const dpf_host *dpf_h, const dpf_params *dpf_p, void **self)             \
    {                                                                                                        \
        return dpf_additive_mechanism_create(&(SPEC), &(FUNCTIONS), dpf_h, dpf_p, self);                     \
    }                                                                                                        \
    static const dpf_component NAME = {.size = sizeof(dpf_component),                                        \
                                       .role = DPF_ROLE_MECHANISM,                                           \
                                       .param_stride = sizeof(dpf_param),                                    \
                                       .create = NAME##_create,                                              \
                                       .destroy = dpf_additive_mechanism_destroy,                            \
                                       .functions = &(FUNCTIONS),                                            \
                                       __VA_ARGS__};

/* Divides an event's sensitivities by `by`, which becomes the sensitivity of 1 that APPROX and ZCDP are
 * stated for. */
static inline void dpf_event_normalise(dpf_event *event, double by)
{
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
            event->sensitivity.at[u][a].l1 /= by;
            event->sensitivity.at[u][a].l2 /= by;
            event->sensitivity.at[u][a].linf /= by;
        }
}

/* ============================================================================================================
 * How it is done. Read on only to replace a function of the role.
 */

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

/* What a plan keeps for the run: the words of dpf_noise_plan.opaque. */
enum {
    DPF_ADDITIVE_KEEPS_LIMIT,  /* double: what a message may reach, in grid steps */
    DPF_ADDITIVE_KEEPS_FACTOR, /* double: dpf_release.noise_factor */
    DPF_ADDITIVE_KEEPS_PARTS,  /* t, of noise in shares; else 1 */
    DPF_ADDITIVE_KEEPS_STEPS   /* of each block's share */
};
DPF_STATIC_ASSERT(DPF_ADDITIVE_KEEPS_STEPS + DPF_MAX_BLOCKS <= 16, "a plan has 16 words");

static inline double dpf_additive_kept(const dpf_noise_plan *plan, int32_t word)
{
    double number;
    memcpy(&number, &plan->opaque[word], sizeof number);
    return number;
}
static inline void dpf_additive_keep(dpf_noise_plan *plan, int32_t word, double number)
{
    memcpy(&plan->opaque[word], &number, sizeof number);
}

/* How many shares have enough noise; grid steps of one share, or of the noise, in block b. */
static inline int64_t dpf_additive_plan_parts(const dpf_noise_plan *plan)
{
    return (int64_t)plan->opaque[DPF_ADDITIVE_KEEPS_PARTS];
}
static inline uint64_t dpf_additive_plan_steps(const dpf_noise_plan *plan, int32_t b)
{
    return plan->opaque[DPF_ADDITIVE_KEEPS_STEPS + b];
}

static inline int32_t dpf_additive_grid_bits_index(const dpf_additive_mechanism *spec)
{
    return spec->shared + (spec->in_shares ? (int32_t)DPF_SHARES_GRID_BITS : (int32_t)DPF_SHARED_GRID_BITS);
}
static inline int32_t dpf_additive_is_exact(const dpf_additive_instance *it)
{
    return it->spec->in_shares || it->shared[DPF_SHARED_PRECISION].integer == 0;
}

/* What the author says is complete: what is forgotten would be 0, which is an event that costs nothing. */
static inline const char *dpf_additive_mistake(const dpf_additive_mechanism *spec,
                                               const dpf_mechanism *functions, const dpf_params *params)
{
    const int32_t own = spec->event == DPF_EVENT_APPROX || spec->event == DPF_EVENT_ZCDP;
    const int32_t n = spec->in_shares ? (int32_t)DPF_SHARES_COUNT : (int32_t)DPF_SHARED_COUNT;
    if (spec->norm < DPF_NORM_L1 || spec->norm > DPF_NORM_LINF)
        return "norm of the dpf_additive_mechanism is none of DPF_NORM_*";
    if (spec->event < DPF_EVENT_UNSUPPORTED || (spec->draw_real && spec->float_event < DPF_EVENT_UNSUPPORTED))
        return "event or float_event of the dpf_additive_mechanism is missing";
    if (own && !spec->state)
        return "the dpf_additive_mechanism states APPROX or ZCDP, but has no function `state` with its "
               "numbers";
    if (spec->norm == DPF_NORM_LINF && !own && spec->event != DPF_EVENT_PURE &&
        spec->event != DPF_EVENT_UNSUPPORTED)
        return "norm LINF goes with the events PURE, APPROX, ZCDP and UNSUPPORTED";
    /* Of noise on each number or row, n that move cost the sum of their norms, of which an L2 bound says
       less than is needed. */
    if (spec->norm == DPF_NORM_L2 && spec->event == DPF_EVENT_PURE)
        return "event PURE goes with the norms L1 and LINF: epsilons of numbers add up, their squares do not";
    if (!spec->multiplier || !spec->draw || !spec->variance || spec->max_bits < 1 || spec->max_bits > 42)
        return "multiplier, draw, variance or max_bits of the dpf_additive_mechanism is missing";
    if (params->n_values != (uint32_t)(spec->shared + n))
        return "the parameters must end with DPF_ADDITIVE_PARAMS (DPF_SHARES_PARAMS) at index `shared`";
    if (spec->in_shares && !(functions->flags & DPF_MECHANISM_DENSE))
        return "noise in shares needs a table with DPF_MECHANISM_DENSE: dpf_additive_shares_functions";
    return NULL;
}

static inline dpf_status dpf_additive_mechanism_check(const dpf_additive_mechanism *spec,
                                                      const dpf_mechanism *functions, const dpf_host *host,
                                                      const dpf_params *params)
{
    const char *const mistake = dpf_additive_mistake(spec, functions, params);
    if (mistake)
        return (host->fail)(host, DPF_E_INTERNAL, -1, mistake);
    const dpf_value *shared = params->values + spec->shared;
    if (spec->in_shares)
        return DPF_OK;
    if (!dpf_additive_shares_sum(&shared[DPF_SHARED_SHARES]))
        return (host->fail)(host, DPF_E_CONFIG, spec->shared + DPF_SHARED_SHARES,
                            "the shares do not add up to 1");
    if (shared[DPF_SHARED_PRECISION].integer != 0 && !spec->draw_real)
        return (host->fail)(host, DPF_E_UNSUPPORTED, spec->shared + DPF_SHARED_PRECISION,
                            "this mechanism has no floating-point noise; set precision = exact");
    return DPF_OK;
}

static inline dpf_status dpf_additive_mechanism_create(const dpf_additive_mechanism *spec,
                                                       const dpf_mechanism *functions, const dpf_host *host,
                                                       const dpf_params *params, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    double multiplier = 0;
    dpf_status status = dpf_additive_mechanism_check(spec, functions, host, params);
    if (status == DPF_OK)
        status = spec->multiplier(host, params->values, &multiplier);
    if (status != DPF_OK)
        return status;
    if (!(multiplier > 0) || isinf(multiplier))
        return (host->fail)(host, DPF_E_NUMERIC, -1,
                            "no finite amount of noise was found for these parameters");
    status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    dpf_additive_instance *it = (dpf_additive_instance *)dpf_memory(host)->allocate(host, sizeof(*it));
    if (!it)
        return (host->fail)(host, DPF_E_MEMORY, -1, "out of memory");
    it->spec = spec;
    it->host = host;
    it->values = params->values;
    it->shared = params->values + spec->shared;
    it->random = random;
    it->stream = stream;
    it->multiplier = multiplier;
    *self = it;
    return DPF_OK;
}

static inline void dpf_additive_mechanism_destroy(void *self)
{
    dpf_additive_instance *it = (dpf_additive_instance *)self;
    dpf_memory(it->host)->release(it->host, it);
}

static inline int32_t dpf_additive_mechanism_lifetime(void *self)
{
    const dpf_additive_instance *it = (const dpf_additive_instance *)self;
    return it->spec->in_shares ? DPF_LIFETIME_ROUND
                               : (int32_t)it->shared[DPF_SHARED_LIFETIME].integer + DPF_LIFETIME_RUN;
}

static inline double dpf_additive_mechanism_budget(void *self)
{
    const dpf_additive_instance *it = (const dpf_additive_instance *)self;
    return it->spec->epsilon ? it->spec->epsilon(it->values) : (double)NAN;
}

/* ---- plan ---- */

static inline int32_t dpf_additive_takes_scale(const dpf_additive_instance *it)
{
    return it->spec->is_scale && it->spec->is_scale(it->values);
}
static inline int32_t dpf_additive_has_one_scale(const dpf_additive_instance *it)
{
    return it->spec->one_scale && it->spec->one_scale(it->values);
}
static inline double dpf_additive_norm_of(const dpf_norms *norms, int32_t norm)
{
    return norm == DPF_NORM_L1 ? norms->l1 : norm == DPF_NORM_L2 ? norms->l2 : norms->linf;
}
/* How many numbers of a block move: rows, where a draw is that of a row. */
static inline double dpf_additive_moved(const dpf_additive_mechanism *spec, const dpf_release *release,
                                        int32_t block, int32_t gram)
{
    const double numbers = dpf_additive_coordinates(release, block, gram);
    return spec->whole_blocks ? numbers / release->query->blocks[block].length : numbers;
}

/* The norms asked for. A scale that is given needs none: its event then says what is not bounded. */
static inline dpf_status dpf_additive_norms(const dpf_additive_instance *it, const dpf_release *release,
                                            const dpf_sensitivity *blocks, double *norms)
{
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        norms[b] =
            blocks ? dpf_additive_norm_of(&blocks[b].at[release->unit][release->adjacency], it->spec->norm)
                   : (double)NAN;
        if (dpf_additive_takes_scale(it)) {
            norms[b] = norms[b] == 0 ? 0 : 1;
            continue;
        }
        const dpf_status status = dpf_additive_check(it->host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static inline dpf_status dpf_additive_no_grid(const dpf_additive_instance *it)
{
    return (it->host->fail)(
        it->host, DPF_E_RANGE, dpf_additive_grid_bits_index(it->spec),
        "no grid fits this noise: the scale, or a party's share of it, is extreme, or the "
        "budget is too small for a message of so many numbers at this grid-bits, or for so "
        "many messages");
}

static inline int32_t dpf_additive_mechanism_bits(const dpf_additive_instance *it, const dpf_release *release)
{
    return dpf_additive_bits(it->values[dpf_additive_grid_bits_index(it->spec)].integer, release->n_parties);
}

/* How many scales of one share the whole noise has. */
static inline double dpf_additive_shares_of(const dpf_additive_mechanism *spec, const dpf_noise_plan *plan)
{
    return spec->in_shares == DPF_SHARES_VARIANCE ? sqrt((double)dpf_additive_plan_parts(plan)) : 1;
}

/* Grid and scale (of one share) of all blocks of a row, or of the Gram row, with this part of the budget. */
static inline dpf_status dpf_additive_choose_scales(const dpf_additive_instance *it,
                                                    const dpf_release *release, const double *norms,
                                                    double part, int32_t gram, dpf_noise_plan *out)
{
    static const dpf_value equal = {DPF_TYPE_REAL_LIST, 0, 0, 0, NULL, NULL, NULL, 0, 0};
    const dpf_additive_mechanism *spec = it->spec;
    const int32_t n = release->query->n_blocks, bits = dpf_additive_mechanism_bits(it, release);
    const double factor = release->noise_factor * it->multiplier / dpf_additive_shares_of(spec, out);
    double shares[DPF_MAX_BLOCKS], all = 0, all_numbers = 0;
    const dpf_status status =
        dpf_additive_shares(it->host, spec->in_shares ? &equal : &it->shared[DPF_SHARED_SHARES],
                            spec->shared + DPF_SHARED_SHARES, n, norms, shares);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < n; b++) {
        all += norms[b];
        all_numbers += norms[b] > 0 ? dpf_additive_coordinates(release, b, gram) : 0;
    }
    for (int32_t b = 0; b < n; b++) {
        if (!(norms[b] > 0))
            continue;
        const int32_t one_scale = dpf_additive_has_one_scale(it), l2 = spec->norm == DPF_NORM_L2;
        const double numbers = one_scale ? all_numbers : dpf_additive_coordinates(release, b, gram);
        const double of_budget = one_scale ? part : shares[b] * part, norm = one_scale ? all : norms[b];
        const double moved = spec->norm == DPF_NORM_LINF ? dpf_additive_moved(spec, release, b, gram) : 1;
        double per_norm = factor * moved / (l2 ? sqrt(of_budget) : of_budget);
        double per_step = per_norm * (l2 ? sqrt(numbers) : spec->norm == DPF_NORM_L1 ? numbers : 1);
        if (dpf_additive_takes_scale(it)) { /* not raised for what rounding adds */
            per_norm = factor;
            per_step = 0;
        }
        if (dpf_additive_choose(per_norm * norm, per_step, l2 ? 0 : norm, bits, spec->max_bits,
                                gram ? &out->gram_grid[b] : &out->grid[b],
                                gram ? &out->gram_scale[b] : &out->scale[b]) != 0)
            return dpf_additive_no_grid(it);
    }
    return DPF_OK;
}

/* Whether blocks that share a bound are charged together: the law of the noise depends on its scale alone. */
static inline int32_t dpf_additive_is_separate(const dpf_additive_mechanism *spec)
{
    return spec->norm == DPF_NORM_LINF || spec->event == DPF_EVENT_APPROX || spec->event == DPF_EVENT_ZCDP;
}

/* Grids and scales of blocks that share a bound; *done is 0 if nothing is shared. */
static inline dpf_status dpf_additive_choose_together(const dpf_additive_instance *it,
                                                      const dpf_release *release, dpf_noise_plan *out,
                                                      int *done)
{
    static const dpf_value none = {DPF_TYPE_REAL_LIST, 0, 0, 0, NULL, NULL, NULL, 0, 0};
    const dpf_additive_mechanism *spec = it->spec;
    dpf_additive_request ask;
    *done = 0;
    if (dpf_additive_takes_scale(it) || dpf_additive_is_separate(spec))
        return DPF_OK;
    ask.p = spec->norm;
    ask.factor = release->noise_factor * it->multiplier;
    ask.shares = spec->in_shares ? &none : &it->shared[DPF_SHARED_SHARES];
    ask.shares_param = spec->shared + DPF_SHARED_SHARES;
    ask.gram_share = spec->in_shares ? 0 : it->shared[DPF_SHARED_GRAM_SHARE].real;
    ask.one_scale = dpf_additive_has_one_scale(it);
    ask.parts = dpf_additive_shares_of(spec, out);
    ask.bits = dpf_additive_mechanism_bits(it, release);
    ask.max_bits = spec->max_bits;
    const dpf_status status = dpf_additive_together(it->host, release, &ask, out, done);
    return status == DPF_OK && *done < 0 ? dpf_additive_no_grid(it) : status;
}

/* Noise in shares: how many parties have enough, and what a sum must have. */
static inline dpf_status dpf_additive_begin_shares(const dpf_additive_instance *it,
                                                   const dpf_release *release, dpf_noise_plan *out)
{
    const dpf_host *host = it->host;
    const int32_t honest = it->spec->shared + DPF_SHARES_HONEST,
                  curious = it->spec->shared + DPF_SHARES_CURIOUS;
    const int64_t given = it->values[honest].integer, spare = it->values[curious].integer;
    const int64_t t = given ? given : release->min_survivors;
    if (release->query->has_gram)
        return (host->fail)(
            host, DPF_E_UNSUPPORTED, -1,
            "noise in shares cannot cover the Gram row of this loss; use laplace or gaussian");
    if (t < 1 || t > release->n_parties)
        return (host->fail)(host, DPF_E_CONFIG, honest,
                            "honest is more than there are parties: the noise would never be enough");
    if (spare > release->n_parties - t)
        return (host->fail)(host, DPF_E_CONFIG, curious,
                            "honest and curious are together more than there are parties: no sum would be "
                            "released");
    if (dpf_additive_mechanism_bits(it, release) < it->spec->min_bits)
        return dpf_additive_no_grid(it);
    out->opaque[DPF_ADDITIVE_KEEPS_PARTS] = (uint64_t)t;
    out->spare_shares = (int32_t)spare;
    out->least_survivors = t + spare;
    return DPF_OK;
}

static inline dpf_status dpf_additive_begin_plan(const dpf_additive_instance *it, const dpf_release *release,
                                                 dpf_noise_plan *out)
{
    const int32_t where = it->spec->in_shares
                              ? DPF_NOISE_IN_SHARES
                              : (int32_t)it->shared[DPF_SHARED_WHERE].integer + DPF_NOISE_AT_PARTY;
    dpf_status status = it->spec->accept ? it->spec->accept(it->host, it->values, release) : DPF_OK;
    if (status == DPF_OK)
        status = dpf_additive_begin(it->host, release, where, 1.0 / 268435456, out); /* 2^-28 */
    if (status != DPF_OK)
        return status;
    dpf_additive_keep(out, DPF_ADDITIVE_KEEPS_LIMIT, dpf_additive_limit(release->n_parties));
    dpf_additive_keep(out, DPF_ADDITIVE_KEEPS_FACTOR, release->noise_factor);
    out->opaque[DPF_ADDITIVE_KEEPS_PARTS] = 1;
    return it->spec->in_shares ? dpf_additive_begin_shares(it, release, out) : DPF_OK;
}

/* Of one number of the decoded sum, at this scale (of one share). */
static inline double dpf_additive_variance(const dpf_additive_instance *it, double scale, double grid,
                                           int64_t n, double copies)
{
    if (!(scale > 0))
        return 0;
    if (!dpf_additive_is_exact(it))
        return copies * (it->spec->real_variance * scale * scale);
    return copies * (it->spec->variance(it->values, scale / grid, n) * (grid * grid));
}

static inline void dpf_additive_finish_plan(const dpf_additive_instance *it, const dpf_release *release,
                                            dpf_noise_plan *out)
{
    const dpf_additive_mechanism *spec = it->spec;
    const double parts = (double)dpf_additive_plan_parts(out), parties = (double)release->n_parties;
    const double copies = spec->in_shares == DPF_SHARES_LAW ? parties / parts
                          : out->where == DPF_NOISE_AT_SUM  ? 1
                                                            : parties;
    for (int32_t b = 0; b < out->n_blocks; b++) {
        const double share = out->scale[b];
        const int64_t n = spec->whole_blocks ? release->query->blocks[b].length : 1;
        out->variance[b] = dpf_additive_variance(it, share, out->grid[b], n, copies);
        out->gram_variance[b] = dpf_additive_variance(it, out->gram_scale[b], out->gram_grid[b], n, copies);
        out->opaque[DPF_ADDITIVE_KEEPS_STEPS + b] = (uint64_t)(share / out->grid[b]);
        if (spec->in_shares == DPF_SHARES_VARIANCE && share > 0)
            out->scale[b] =
                sqrt(spec->variance(it->values, share / out->grid[b], n)) * out->grid[b] * sqrt(parts);
    }
}

static inline dpf_status dpf_additive_mechanism_plan(void *self, const dpf_release *release,
                                                     dpf_noise_plan *out)
{
    const dpf_additive_instance *it = (const dpf_additive_instance *)self;
    double norms[DPF_MAX_BLOCKS], gram_norms[DPF_MAX_BLOCKS];
    int together = 0;
    dpf_status status = dpf_additive_begin_plan(it, release, out);
    if (status != DPF_OK)
        return status;
    const int32_t has_gram = release->query->has_gram && !it->spec->in_shares;
    const double gram_share = has_gram ? it->shared[DPF_SHARED_GRAM_SHARE].real : 0;
    if (gram_share > 0 && !release->gram && !dpf_additive_takes_scale(it))
        return (it->host->fail)(
            it->host, DPF_E_PRIVACY, it->spec->shared + DPF_SHARED_GRAM_SHARE,
            "the sensitivity of the query's Gram row is not stated, so it cannot be noised; "
            "use a loss that states it, or gram-share = 0");
    status = dpf_additive_norms(it, release, release->blocks, norms);
    if (status == DPF_OK && gram_share > 0)
        status = dpf_additive_norms(it, release, release->gram, gram_norms);
    if (status == DPF_OK)
        status = dpf_additive_choose_together(it, release, out, &together);
    if (status == DPF_OK && !together)
        status = dpf_additive_choose_scales(it, release, norms, 1 - gram_share, 0, out);
    if (status == DPF_OK && !together && gram_share > 0)
        status = dpf_additive_choose_scales(it, release, gram_norms, gram_share, 1, out);
    if (status == DPF_OK)
        dpf_additive_finish_plan(it, release, out);
    return status;
}

/* ---- events ---- */

/*
 * Accountants read l1 of PURE and APPROX and l2 of ZCDP: the change in the mechanism's norm; with LINF that
 * of each number, or row, that may move.
 */
static inline void dpf_additive_put_norm(int32_t norm, double moved, dpf_event *event)
{
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
            dpf_norms *norms = &event->sensitivity.at[u][a];
            const double change = dpf_additive_norm_of(norms, norm) * (norm == DPF_NORM_LINF ? moved : 1);
            if (event->kind == DPF_EVENT_ZCDP)
                norms->l2 = change;
            else
                norms->l1 = change;
        }
}

static inline void dpf_additive_complete(const dpf_additive_instance *it, const dpf_release *release,
                                         const dpf_noise_plan *plan, dpf_event *event)
{
    const dpf_additive_mechanism *spec = it->spec;
    int32_t bit = 0;
    if (!(event->scale > 0))
        return;
    while (!(event->blocks >> bit & 1))
        bit++;
    const int32_t gram = bit >= DPF_GRAM_BIT;
    const double moved = dpf_additive_moved(spec, release, bit - (gram ? DPF_GRAM_BIT : 0), gram);
    event->flags |= spec->in_shares ? DPF_EVENT_NOISE_SHARED : 0;
    if (event->kind == DPF_EVENT_PURE || event->kind == DPF_EVENT_APPROX || event->kind == DPF_EVENT_ZCDP)
        dpf_additive_put_norm(spec->norm, moved, event);
    if (event->kind == DPF_EVENT_PURE)
        event->p.pure.epsilon = 1 / event->scale * (1 + 1e-15);
    if (spec->state && event->kind == spec->event)
        spec->state(it->values, release, plan, moved, event);
}

static inline dpf_status dpf_additive_mechanism_events(void *self, const dpf_release *release,
                                                       const dpf_noise_plan *plan, dpf_event *out,
                                                       int32_t capacity, int32_t *n)
{
    const dpf_additive_instance *it = (const dpf_additive_instance *)self;
    const dpf_additive_claim claim = {
        it->spec->norm, dpf_additive_is_exact(it) ? it->spec->event : it->spec->float_event,
        dpf_additive_is_exact(it), dpf_additive_is_separate(it->spec), dpf_additive_mechanism_lifetime(self)};
    const dpf_status status = dpf_additive_events(it->host, release, plan, &claim, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        dpf_additive_complete(it, release, plan, &out[i]);
    return status;
}

/* A record's contribution, and so its L1 distance, grows with its weight. Sensitivities are those of weight 1
   where this is asked for. */
static inline dpf_status dpf_additive_mechanism_epsilon_at_weight(void *self, const dpf_noise_plan *plan,
                                                                  double weight, double *epsilon)
{
    *epsilon =
        weight * (dpf_additive_mechanism_budget(self) / dpf_additive_kept(plan, DPF_ADDITIVE_KEEPS_FACTOR));
    return DPF_OK;
}

/* ---- run ---- */

static inline dpf_additive dpf_additive_noise(const dpf_additive_instance *it, const dpf_noise_plan *plan)
{
    dpf_additive noise;
    noise.random = it->random;
    noise.stream = it->stream;
    noise.values = it->values;
    noise.parts = dpf_additive_plan_parts(plan);
    noise.exact = dpf_additive_is_exact(it);
    noise.whole_blocks = it->spec->whole_blocks;
    noise.integers = it->spec->draw;
    noise.reals = it->spec->draw_real;
    noise.steps = it->spec->in_shares ? &plan->opaque[DPF_ADDITIVE_KEEPS_STEPS] : NULL;
    return noise;
}

static inline dpf_status dpf_additive_mechanism_encode(void *self, const dpf_call *call,
                                                       const dpf_noise_plan *plan, const dpf_query *query,
                                                       const double *values, int64_t stride, dpf_encoded *out)
{
    const dpf_additive noise = dpf_additive_noise((const dpf_additive_instance *)self, plan);
    return dpf_additive_encode(&noise, call, plan, query, dpf_additive_kept(plan, DPF_ADDITIVE_KEEPS_LIMIT),
                               values, stride, out);
}

/* Noise in shares: fails if fewer messages are in the sum than it needs. */
static inline dpf_status dpf_additive_enough(const dpf_additive_instance *it, const dpf_call *call,
                                             const dpf_noise_plan *plan, const dpf_encoded *sums)
{
    if (!it->spec->in_shares || sums->survivors >= plan->least_survivors)
        return DPF_OK;
    return (call->host->fail)(call->host, DPF_E_PRIVACY, it->spec->shared + DPF_SHARES_HONEST,
                              "fewer messages are in the sum than the shares were made for, so its noise is "
                              "too little to release it; plan for fewer honest parties");
}

static inline dpf_status dpf_additive_mechanism_decode(void *self, const dpf_call *call,
                                                       const dpf_noise_plan *plan, const dpf_query *query,
                                                       const dpf_encoded *sums, double *out, int64_t stride)
{
    const dpf_additive_instance *it = (const dpf_additive_instance *)self;
    const dpf_additive noise = dpf_additive_noise(it, plan);
    const dpf_status status = dpf_additive_enough(it, call, plan, sums);
    return status == DPF_OK ? dpf_additive_decode(&noise, call, plan, query, sums, out, stride) : status;
}

/* ---- the role's tables ---- */

#define DPF_ADDITIVE_TABLE(NAME, FLAGS, EPSILON_AT_WEIGHT)                                                   \
    static const dpf_mechanism NAME = {FLAGS,                                                                \
                                       0,                                                                    \
                                       dpf_additive_mechanism_lifetime,                                      \
                                       dpf_additive_mechanism_budget,                                        \
                                       dpf_additive_mechanism_plan,                                          \
                                       dpf_additive_mechanism_events,                                        \
                                       dpf_additive_mechanism_encode,                                        \
                                       dpf_additive_mechanism_decode,                                        \
                                       EPSILON_AT_WEIGHT,                                                    \
                                       NULL,                                                                 \
                                       NULL,                                                                 \
                                       NULL,                                                                 \
                                       {NULL, NULL, NULL, NULL, NULL, NULL}};
DPF_ADDITIVE_TABLE(dpf_additive_functions, DPF_MECHANISM_ROUNDS, NULL)
DPF_ADDITIVE_TABLE(dpf_additive_pure_functions, DPF_MECHANISM_ROUNDS,
                   dpf_additive_mechanism_epsilon_at_weight)
DPF_ADDITIVE_TABLE(dpf_additive_shares_functions, DPF_MECHANISM_DENSE, NULL)

#ifdef __cplusplus
}
#endif
#endif
