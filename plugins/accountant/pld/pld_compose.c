/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_compose.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "pld_grid.h"
#include "pld_rare.h"
#include "pld_read.h"
#include "pld_single.h"

/* Of the tilted mass on either side of the window: e^-36 is 2e-16. */
#define WINDOW_LOG_TAIL 36.0
#define MOST_CELLS 4194304.0
#define LEAST_CELLS 1024.0
#define CHEAP_CELLS 32768.0
#define WIDE_CELLS 1000.0 /* about so many cells are wider than the grid */
#define COARSE 0.02       /* tolerance of what only chooses a tilt */

/* One direction. */
struct state {
    struct pld_problem *problem;
    struct pld_losses *scout;  /* one for each group, from above */
    struct pld_losses *losses; /* on the grid: n of them, those with anything */
    int64_t n;
    double copies;    /* of all groups */
    double tail;      /* mass that a grid may leave out, of one release */
    double tilt;      /* puts the mean at epsilon: there errors of grids count */
    double aim;       /* that epsilon */
    double slope;     /* -d ln delta / d epsilon there: the tilt, unless large losses are rare; of the grid */
    double seen;      /* and of the last composition */
    double log_jumps; /* ln of what one loss beyond epsilon counts for, in units of K's */
    double read_tilt; /* of the transforms: no more than their rounding asks for, as windows grow with it */
    double h;
    double log_delta;               /* by Chernoff, where epsilon is given */
    double cells;                   /* of its window */
    struct pld_transform transform; /* kept while its length fits */
};

static void free_all(struct state *s, struct pld_losses *losses)
{
    for (int64_t i = 0; i < s->problem->n; i++)
        pld_grid_free(s->problem->host, &losses[i]);
}

/* ---- what to look at ----------------------------------------------------------------------------- */

static dpf_status scout(struct state *s)
{
    dpf_status status = DPF_OK;
    free_all(s, s->scout);
    for (int64_t i = 0; i < s->problem->n && status == DPF_OK; i++) {
        s->scout[i].copies = s->problem->groups[i].copies;
        status = pld_grid_scout(s->problem->host, &s->problem->groups[i].above, s->tail, &s->scout[i]);
    }
    return status;
}

/* What epsilon times the tilt may be off by: relative to both, but for epsilons that are next to none. */
static double allowed_error(const struct state *s, double epsilon, double tolerance)
{
    const double scale = s->slope * epsilon;
    return 0.25 * tolerance * (scale > 0.25 ? scale : 0.25);
}

/* Both ends of a bounded loss have large masses, most often; without a draw, discrete noise is a lattice. */
static double unit_of(const struct pld_pair *pair)
{
    if (pair->rate >= 1.0 && pair->shape == PLD_DISCRETE_LAPLACE)
        return 2.0 * pair->step;
    if (pair->rate >= 1.0 && pair->shape == PLD_DISCRETE_GAUSSIAN)
        return 0.5 / (pair->step * pair->step);
    const double width = pld_pair_largest(pair) - pld_pair_smallest(pair);
    return isfinite(width) ? width : 0.0;
}

/* Of both pairs the smaller one, if they differ by roundings alone (pld_pair_make), which a draw magnifies. */
static double unit_of_both(const struct pld_group *group)
{
    const double above = unit_of(&group->above), below = unit_of(&group->below);
    return below < above && below > above * (1.0 - 1e-9) ? below : above;
}

/* A distance of which that of large masses is a multiple: then these are not rounded. Slightly less, so that
   points of the grid are at them or just below. */
static double aligned(const struct pld_problem *problem, double h)
{
    double most = 0.0, size = 0.0;
    for (int64_t i = 0; i < problem->n; i++) {
        const double unit = unit_of_both(&problem->groups[i]);
        if (unit > h / 4.0 && problem->groups[i].copies * unit > most) {
            most = problem->groups[i].copies * unit;
            size = unit * (1.0 - 64.0 * DBL_EPSILON);
        }
    }
    return size > 0.0 ? size / ceil(size / h) : h;
}

/* What rounding may be off by, in parts of delta: e^-9, of which epsilon feels a tenth or less. */
#define ROUNDING_LOG_PART 9.0
#define FIRST_ROOM 16.0

/* So much larger than delta a Chernoff bound may be at epsilon, for the rounding of the last transform. */
static double log_room(const struct state *s)
{
    const double norm = pld_read_norm(s->read_tilt, s->h);
    const double error = s->transform.error + s->transform.rounding;
    const double room = -log(error * fmin(norm, 3e4)) - ROUNDING_LOG_PART;
    return s->transform.n == 0 ? FIRST_ROOM : room < 26.0 ? room : 26.0;
}

/* Of the tilts that leave that room, the one of the narrowest window. */
static struct pld_window choose_window(struct state *s, double epsilon)
{
    static const double parts[] = {0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.03, 0.01};
    const double log_delta = s->problem->for_delta ? s->log_delta - 5.0 : log(s->problem->delta);
    const double room = log_room(s);
    struct pld_window best = pld_law_window(s->scout, s->problem->n, s->tilt, WINDOW_LOG_TAIL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const double tilt = s->tilt * parts[i];
        const double chernoff = pld_law_all(s->scout, s->problem->n, tilt).log_sum - tilt * epsilon;
        if (!(chernoff <= log_delta + room))
            break;
        const struct pld_window window = pld_law_window(s->scout, s->problem->n, tilt, WINDOW_LOG_TAIL);
        if (window.high - window.low < best.high - best.low)
            best = window;
    }
    s->read_tilt = best.tilt;
    return best;
}

static void choose_grid(struct state *s, double epsilon, double tolerance)
{
    const struct pld_window w = choose_window(s, epsilon);
    s->aim = epsilon;
    s->slope = s->seen > s->tilt ? s->seen : s->tilt;
    const double width = w.high - w.low, growth = s->copies * s->slope * (s->slope + 1.0) / 12.0;
    double h = sqrt(0.5 * allowed_error(s, epsilon, tolerance) / growth);
    s->log_jumps = -(s->problem->for_delta ? s->log_delta : log(s->problem->delta));
    h = h < width / LEAST_CELLS ? h : width / LEAST_CELLS;
    h = h > width / MOST_CELLS ? h : width / MOST_CELLS;
    h = s->tilt * h < 10.0 ? h : 10.0 / s->tilt;
    s->h = aligned(s->problem, h > 1e-300 ? h : 1e-300);
    s->cells = width / s->h;
}

/* ---- one composition ----------------------------------------------------------------------------- */

/* Which pairs, and on which side of them. What a grid does shows in both sides of the same pairs. */
enum side { ABOVE, BELOW_ABOVE, BELOW };

/* Where a draw leaves nearly all of the mass next to an end, or an atom at one. Just below it. */
static double offset_of(const struct pld_pair *pair)
{
    const double low = pld_pair_smallest(pair), high = pld_pair_largest(pair);
    const double at = isfinite(low) ? low : isfinite(high) ? high : 0.0;
    return at - 8.0 * DBL_EPSILON * fabs(at);
}

static dpf_status fill(struct state *s, enum side side)
{
    dpf_status status = DPF_OK;
    s->n = 0;
    for (int64_t i = 0; i < s->problem->n && status == DPF_OK; i++) {
        const struct pld_group *group = &s->problem->groups[i];
        const struct pld_law law = pld_law_one(&s->scout[i], s->tilt);
        const struct pld_pair *pair = side == BELOW ? &group->below : &group->above;
        const struct pld_cells cells = {.offset = offset_of(pair),
                                        .h = s->h,
                                        .tail = s->tail,
                                        .tilt = s->tilt,
                                        .log_sum = law.log_sum,
                                        .centre = law.mean,
                                        .epsilon = s->aim,
                                        .slope = s->slope,
                                        .log_jumps = s->log_jumps,
                                        .allowed = s->h * s->h / WIDE_CELLS};
        struct pld_losses *losses = &s->losses[s->n];
        losses->copies = side == BELOW ? group->copies_below : group->copies;
        if (losses->copies == 0.0)
            continue;
        status = pld_grid_fill(s->problem->host, pair, side != ABOVE, &cells, losses);
        if (losses->n > 0)
            s->n++;
        else
            pld_grid_free(s->problem->host, losses); /* from below nothing may be left */
    }
    return status;
}

static dpf_status compose_filled(struct state *s, int from_below, double *value)
{
    const struct pld_problem *problem = s->problem;
    struct pld_window window = pld_law_window(s->losses, s->n, s->read_tilt, WINDOW_LOG_TAIL);
    if (problem->for_delta && window.low > problem->epsilon - 2.0 * s->h)
        window.low = problem->epsilon - 2.0 * s->h; /* a tilt cannot be negative */
    const double length = (window.high - window.low) / s->h + 4.0;
    if (!(length < 16.0 * MOST_CELLS))
        return DPF_E_NUMERIC;
    pld_transform_fit(problem->host, length, &s->transform);
    const dpf_status status =
        pld_transform_compose(problem->host, s->losses, s->n, s->read_tilt, from_below, &s->transform);
    if (status != DPF_OK)
        return status;
    const struct pld_composed composed = {&s->transform, &window, s->losses, s->n, from_below};
    *value = problem->for_delta ? pld_read_delta(&composed, problem->epsilon, &s->seen)
                                : pld_read_epsilon(&composed, problem->delta, &s->seen);
    return DPF_OK;
}

static dpf_status one_side(struct state *s, enum side side, double *value)
{
    dpf_status status = fill(s, side);
    *value = side == ABOVE ? INFINITY : 0.0;
    if (status == DPF_OK && s->n > 0)
        status = compose_filled(s, side != ABOVE, value);
    free_all(s, s->losses);
    return status;
}

/* ---- the tilt ------------------------------------------------------------------------------------ */

#define LEAST_TAIL 1e-306

/* Part of delta that grids leave out: epsilon is off by its part over 10 or so. */
static double tail_part(const struct state *s)
{
    return s->problem->tolerance < 1e-3 ? s->problem->tolerance : 1e-3;
}

static void set_tail(struct state *s, double log_delta)
{
    const double tail = exp(log_delta < 0.0 ? log_delta : 0.0) * tail_part(s) / s->copies;
    s->tail = tail > LEAST_TAIL ? tail : LEAST_TAIL;
}

/*
 * A tail is a small part of delta. Where delta is asked for it is not known before: a scout that left out
 * more than its part of the guess did not reach the losses that matter, and what it says of tilt and delta is
 * wrong; then once more, with all that a double can tell from nothing.
 */
static dpf_status start(struct state *s, double *epsilon)
{
    const struct pld_problem *problem = s->problem;
    s->seen = 0.0;
    set_tail(s, problem->for_delta ? log(1e-15) : log(problem->delta));
    dpf_status status = scout(s);
    for (int tries = 0; status == DPF_OK && tries < 2 && problem->for_delta; tries++) {
        s->tilt = pld_law_tilt_at(s->scout, problem->n, problem->epsilon);
        s->log_delta = pld_law_all(s->scout, problem->n, s->tilt).log_sum - s->tilt * problem->epsilon;
        if (tries > 0 || s->log_delta + log(tail_part(s) / s->copies) > log(s->tail))
            break;
        s->tail = LEAST_TAIL;
        status = scout(s);
    }
    if (status != DPF_OK)
        return status;
    *epsilon = problem->epsilon;
    if (problem->for_delta) {
        set_tail(s, s->log_delta);
        return scout(s);
    }
    s->tilt = pld_law_tilt_for(s->scout, problem->n, -log(problem->delta));
    *epsilon = (pld_law_all(s->scout, problem->n, s->tilt).log_sum - log(problem->delta)) / s->tilt;
    return DPF_OK;
}

/* As many tilts are tried before what there is will do. */
#define TILTS 8

/* Whether most of a delta is what grids left out, which they need not. */
static int is_cut(const struct state *s, double delta)
{
    return s->tail > LEAST_TAIL && s->copies * s->tail > 0.01 * delta;
}

/* Whether the composition was made where its answer is; errors are small there. */
static int is_good(const struct state *s, double value)
{
    if (s->seen > 1.5 * s->slope)
        return 0;
    if (s->problem->for_delta)
        return !is_cut(s, value) && (value < 1e-280 || fabs(log(value) - s->log_delta) < 8.0);
    return isfinite(value) && fabs(s->tilt * (s->aim - value)) < 3.0;
}

/*
 * Where a few rare large losses make up the divergence, Chernoff's epsilon is far above the true one: then
 * again, with the mean at what was found. Every tilt is valid.
 */
static dpf_status find(struct state *s, double tolerance, double *epsilon, double *upper)
{
    dpf_status status = DPF_OK;
    double found = INFINITY;
    *upper = INFINITY;
    for (int tries = 1; status == DPF_OK; tries++) {
        choose_grid(s, *epsilon, tolerance);
        status = one_side(s, ABOVE, &found);
        *upper = found < *upper || isnan(found) ? found : *upper;
        if (isnan(found) || is_good(s, found) || tries == TILTS || isinf(s->transform.error))
            break;
        if (s->problem->for_delta && is_cut(s, *upper)) {
            set_tail(s, log(s->tail * s->copies / tail_part(s)) - 46.0);
            status = status == DPF_OK ? scout(s) : status;
        }
        if (s->problem->for_delta && found > 0.0 && log(found) < s->log_delta - 8.0) {
            s->log_delta = log(found);
        } else if (s->problem->for_delta && s->seen > 1.5 * s->slope) {
            continue;
        } else if (s->problem->for_delta || !isfinite(found)) {
            s->tilt *= 1.0 + 0.01 * (1 << tries);
        } else {
            *epsilon = *upper;
            s->tilt = pld_law_tilt_at(s->scout, s->problem->n, *epsilon);
        }
    }
    if (isfinite(*upper) && !s->problem->for_delta)
        *epsilon = *upper;
    return status;
}

/* ---- both bounds --------------------------------------------------------------------------------- */

#define REFINEMENTS 3

static double gap(double upper, double lower)
{
    return upper > 0.0 ? (upper - lower) / upper : 0.0;
}

/* Whether both pairs of all groups are one but for rounding. */
static int is_tight(const struct pld_problem *problem)
{
    for (int64_t i = 0; i < problem->n; i++) {
        const struct pld_pair *above = &problem->groups[i].above, *below = &problem->groups[i].below;
        if (above->shape != below->shape || above->table != below->table ||
            fabs(above->size - below->size) > 1e-12 * above->size ||
            problem->groups[i].copies != problem->groups[i].copies_below)
            return 0;
    }
    return 1;
}

/* Closer grids until both sides of the same pairs agree. */
static dpf_status refine(struct state *s, double tolerance, double *upper, double *lower, int *capped)
{
    const enum side side = is_tight(s->problem) ? BELOW : BELOW_ABOVE;
    dpf_status status = one_side(s, side, lower);
    for (int i = 0; i < REFINEMENTS && status == DPF_OK; i++) {
        const double now = gap(*upper, *lower), room = MOST_CELLS / s->cells;
        double closer = 1.25 * sqrt(now / tolerance);
        if (!(now > tolerance) || room < 1.1)
            break;
        closer = closer < 4.0 ? closer : 4.0;
        closer = closer < room ? closer : room;
        s->h = aligned(s->problem, s->h / closer);
        s->cells *= closer;
        double above = INFINITY, below = 0.0;
        status = one_side(s, ABOVE, &above);
        if (status == DPF_OK)
            status = one_side(s, side, &below);
        *upper = above < *upper ? above : *upper;
        *lower = below > *lower ? below : *lower;
    }
    *capped |= gap(*upper, *lower) > tolerance;
    return status == DPF_OK && side != BELOW ? one_side(s, BELOW, lower) : status;
}

/* Chernoff's bound, from the scout, which is from above: for so many releases that rounding is too much for
   compositions. A sum of n masses, and each with its exponent, is off by a few n roundings. */
static double chernoff(const struct state *s)
{
    const struct pld_problem *problem = s->problem;
    double error = 0.0, kept = 0.0;
    for (int64_t i = 0; i < problem->n; i++) {
        error += s->scout[i].copies * DBL_EPSILON * (4.0 * (double)s->scout[i].n + 3000.0);
        kept += s->scout[i].copies * log1p(-s->scout[i].infinite);
    }
    const double log_sum = pld_law_all(s->scout, problem->n, s->tilt).log_sum;
    const double lost = -expm1(kept) * (1.0 + 1e-14), left = problem->delta * (1.0 - 1e-15) - lost;
    if (problem->for_delta)
        return fmin(exp((log_sum + error - s->tilt * problem->epsilon) * (1.0 - 1e-14) + 1e-13) + lost, 1.0);
    return left > 0.0 ? fmax((log_sum + error - log(left)) / s->tilt * (1.0 + 1e-14), 0.0) : INFINITY;
}

/*
 * A first, coarse composition finds the tilt. Of the second direction that may be all that is needed: what is
 * no larger than what is known does not count.
 */
static dpf_status one_direction(struct state *s, const struct pld_result *known, double *upper, double *lower,
                                int *capped)
{
    const double tolerance = s->problem->tolerance;
    const double coarse = tolerance > COARSE ? tolerance : COARSE;
    double epsilon = 0.0, first = INFINITY;
    dpf_status status = start(s, &epsilon);
    if (status != DPF_OK)
        return status;
    choose_grid(s, epsilon, tolerance);
    const int is_cheap = s->cells <= CHEAP_CELLS;
    status = find(s, is_cheap ? tolerance : coarse, &epsilon, &first);
    if (status == DPF_E_NUMERIC || (status == DPF_OK && !(first < INFINITY))) {
        *upper = chernoff(s);
        *capped = 1;
        return DPF_OK;
    }
    *upper = first;
    if (status != DPF_OK || first <= known->upper)
        return status;
    if (!is_cheap) {
        double second = INFINITY;
        status = find(s, tolerance, &epsilon, &second);
        *upper = second < first ? second : first;
    }
    if (status != DPF_OK || s->problem->for_delta || !isfinite(*upper))
        return status; /* nobody asks for a delta from below */
    return refine(s, tolerance, upper, lower, capped);
}

/* One release: it needs no transform. */
static void single(struct pld_problem *problem, double *upper, double *lower)
{
    struct pld_group *group = problem->groups;
    const int has_lower = group->copies_below > 0.0;
    if (problem->for_delta) {
        *upper = pld_single_delta(&group->above, 0, problem->epsilon);
        *lower = has_lower ? pld_single_delta(&group->below, 1, problem->epsilon) : 0.0;
    } else {
        *upper = pld_single_epsilon(&group->above, 0, problem->delta);
        *lower = has_lower ? pld_single_epsilon(&group->below, 1, problem->delta) : 0.0;
    }
}

static dpf_status state_new(struct state *s)
{
    const dpf_memory_service *memory = dpf_memory(s->problem->host);
    const uint64_t size = (uint64_t)s->problem->n * sizeof *s->losses;
    s->losses = memory->allocate(s->problem->host, size);
    s->scout = memory->allocate(s->problem->host, size);
    if (!s->losses || !s->scout)
        return DPF_E_MEMORY;
    memset(s->losses, 0, size);
    memset(s->scout, 0, size);
    for (int64_t i = 0; i < s->problem->n; i++)
        s->copies += s->problem->groups[i].copies;
    return DPF_OK;
}

static void state_free(struct state *s)
{
    const dpf_memory_service *memory = dpf_memory(s->problem->host);
    if (s->scout)
        free_all(s, s->scout);
    pld_transform_free(s->problem->host, &s->transform);
    memory->release(s->problem->host, s->scout);
    memory->release(s->problem->host, s->losses);
}

/* No loss is above the sum of the largest ones. */
static double cap_of(const struct pld_problem *problem)
{
    double sum = 0.0, kept = 0.0;
    for (int64_t i = 0; i < problem->n; i++) {
        sum += problem->groups[i].copies * pld_pair_largest(&problem->groups[i].above);
        kept += problem->groups[i].copies * log1p(-pld_pair_infinite(&problem->groups[i].above));
    }
    return problem->delta > -expm1(kept) * (1.0 + 1e-12) ? sum : INFINITY;
}

/* Whether delta is at least the sum of what each release has at epsilon 0. */
static int is_nothing(const struct pld_problem *problem)
{
    double sum = 0.0;
    for (int64_t i = 0; i < problem->n; i++)
        sum += problem->groups[i].copies * pld_single_delta(&problem->groups[i].above, 0, 0.0);
    return sum * (1.0 + 1e-12) <= problem->delta;
}

dpf_status pld_compose(struct pld_problem *problem, struct pld_result *result)
{
    struct state s = {.problem = problem};
    const int is_single = problem->n == 1 && problem->groups->copies == 1.0;
    int sampled = 0;
    *result = (struct pld_result){0.0, 0.0, 0};
    dpf_status status = state_new(&s);
    for (int64_t i = 0; i < problem->n; i++)
        sampled |= problem->groups[i].above.rate < 1.0;
    for (int adding = 0; adding <= sampled && status == DPF_OK; adding++) {
        double upper = 0.0, lower = 0.0;
        for (int64_t i = 0; i < problem->n; i++)
            problem->groups[i].above.adding = problem->groups[i].below.adding = adding;
        if (!problem->for_delta && (is_nothing(problem) || (adding && cap_of(problem) <= result->upper)))
            continue;
        if (is_single)
            single(problem, &upper, &lower);
        else
            status = one_direction(&s, result, &upper, &lower, &result->capped);
        if (!is_single && !problem->for_delta && status == DPF_OK)
            lower = fmax(lower, pld_rare_epsilon(problem, upper));
        result->upper = upper <= result->upper ? result->upper : upper; /* NaN stays */
        result->lower = lower > result->lower ? lower : result->lower;
    }
    state_free(&s);
    return status;
}
