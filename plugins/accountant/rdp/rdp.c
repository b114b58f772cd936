/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdp.c - accounting by Renyi differential privacy.
 *
 * Curves of single releases (renyi_curves.h) add under composition; the sum converts to epsilon(delta)
 * or delta(epsilon) at any order, so each order gives a valid bound and the search may be heuristic:
 * the configured orders first, then a golden-section search between the neighbours of the best one,
 * and beyond the grid as long as that helps. Results are raised by a relative 1e-12, which covers
 * the rounding of the conversion; the curves bound their own.
 */
#include <float.h>

#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"
#include "renyi_curves.h"
#include "renyi_pbm.h"

enum { P_ORDERS, P_CONVERSION, P_REFINE, P_COUNT };
enum { CONVERSION_IMPROVED, CONVERSION_CLASSIC };

static const dpf_enum_value conversions[] = {
    {"improved",
     "r + ln(1-1/a) - ln(delta a)/(a-1): Balle et al., arXiv 1905.09982; Canonne, Kamath, Steinke"},
    {"classic", "r + ln(1/delta)/(a-1): Mironov, arXiv 1702.07476, Proposition 3; never smaller"},
};

/* The search may leave the grid up to these orders. */
#define ORDER_LEAST 1.001
#define ORDER_MOST 16384.0
/* From here on the search tries integers only: fractions gain nothing and cost a second sum. */
#define ORDER_WHOLE 64.0

static const dpf_param params[P_COUNT] = {
    [P_ORDERS] = DPF_PARAM_LIST_F("orders", DPF_TYPE_REAL_LIST,
                                  "1.05,1.1,1.25,1.5,1.75,2,2.5,3,3.5,4,5,6,7,8,10,12,16,20,24,32,40,48,64,"
                                  "96,128,192,256,512,1024",
                                  ORDER_LEAST, ORDER_MOST, DPF_PARAM_PRIVACY, "",
                                  "Renyi orders at which the curve is evaluated."),
    [P_CONVERSION] = DPF_PARAM_ENUM_F("conversion", CONVERSION_IMPROVED, conversions, DPF_PARAM_PRIVACY,
                                      "How the Renyi curve becomes (epsilon, delta)."),
    [P_REFINE] = DPF_PARAM_BOOL_F("refine", 1, DPF_PARAM_PRIVACY,
                                  "Search between the orders and beyond them for a smaller epsilon. 'no' "
                                  "reproduces figures that were computed on a fixed list."),
};

struct rdp {
    const dpf_host *host;
    double *orders; /* ascending */
    int64_t n_orders;
    int32_t conversion;
    int32_t refine;
};

static void sort_orders(double *orders, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const double order = orders[i];
        int64_t at = i;
        for (; at > 0 && orders[at - 1] > order; at--)
            orders[at] = orders[at - 1];
        orders[at] = order;
    }
}

static dpf_status rdp_create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_value *orders = &values->values[P_ORDERS];
    if (orders->count < 1)
        return host->fail(host, DPF_E_CONFIG, P_ORDERS, "at least one order is needed");
    const dpf_memory_service *memory = dpf_memory(host);
    const uint64_t bytes = (uint64_t)orders->count * sizeof(double);
    struct rdp *rdp = memory->allocate(host, sizeof *rdp);
    if (!rdp)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    rdp->orders = memory->allocate(host, bytes);
    if (!rdp->orders) {
        memory->release(host, rdp);
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    }
    memcpy(rdp->orders, orders->reals, bytes);
    sort_orders(rdp->orders, orders->count);
    rdp->host = host;
    rdp->n_orders = orders->count;
    rdp->conversion = (int32_t)values->values[P_CONVERSION].integer;
    rdp->refine = (int32_t)values->values[P_REFINE].integer;
    *self = rdp;
    return DPF_OK;
}

static void rdp_destroy(void *self)
{
    struct rdp *rdp = self;
    const dpf_host *host = rdp->host;
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, rdp->orders);
    memory->release(host, rdp);
}

/* ---- the ledger as a curve ---------------------------------------------------------------------- */

/* Like charges in one. */
struct total {
    dpf_charge *charges;
    struct renyi_pbm **pbm; /* of each charge of that kind, else NULL */
    int64_t n;
    const char *unbounded; /* why there is no finite epsilon, or NULL */
    double log_keep;       /* ln of the product of 1 - delta over all approximate releases */
};

static struct renyi_curve charge_curve(const dpf_charge *charge)
{
    const double epsilon = charge->sensitivity / charge->scale;
    switch (charge->kind) {
    case DPF_EVENT_LAPLACE:
        return renyi_laplace(epsilon);
    case DPF_EVENT_DISCRETE_LAPLACE:
        return charge->grid > 0.0 ? renyi_discrete_laplace(epsilon, charge->grid / charge->scale)
                                  : renyi_laplace(epsilon);
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return renyi_response(charge->p[0], charge->sensitivity);
    case DPF_EVENT_PURE:
        return renyi_pure(charge->p[0] * charge->sensitivity);
    case DPF_EVENT_APPROX:
        return renyi_pure(charge->p[0]);
    case DPF_EVENT_ZCDP:
        return renyi_concentrated(charge->p[0], charge->p[1]);
    case DPF_EVENT_SKELLAM:
        return renyi_skellam(charge->p[0] / (charge->grid * charge->grid), charge->l1 / charge->grid,
                             charge->sensitivity / charge->grid);
    default:
        return renyi_gaussian(charge->scale / charge->sensitivity);
    }
}

/* Of one copy. */
static double charge_at(const dpf_charge *charge, struct renyi_pbm *pbm, double order)
{
    if (pbm) /* of equal coordinates; that sampling hides the client is not proved, as the count of clients
                shows */
        return charge->p[3] * renyi_pbm_at(pbm, order);
    const struct renyi_curve curve = charge_curve(charge);
    if (charge->rate >= 1.0 || charge->kind == DPF_EVENT_ZCDP)
        return curve.at(&curve, order); /* of an arbitrary zCDP release no amplification is proved */
    if (charge->kind == DPF_EVENT_GAUSSIAN)
        return renyi_poisson_gaussian(curve.ratio, charge->rate, order);
    if (charge->kind == DPF_EVENT_PURE || charge->kind == DPF_EVENT_APPROX) {
        const struct renyi_curve amplified = renyi_pure(renyi_amplified_pure(curve.epsilon, charge->rate));
        return amplified.at(&amplified, order);
    }
    return renyi_poisson(&curve, charge->rate, order);
}

static double total_at(const struct total *total, double order)
{
    double sum = 0.0;
    for (int64_t i = 0; i < total->n; i++)
        sum += total->charges[i].copies * charge_at(&total->charges[i], total->pbm[i], order);
    return sum >= 0.0 ? sum : NAN;
}

/* What the kind's own parameters must satisfy. NULL if they do. */
static const char *charge_fault(const dpf_charge *charge)
{
    const double *p = charge->p;
    switch (charge->kind) {
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_LAPLACE:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_SKELLAM: /* checked by dpf_charge_event */
        return NULL;
    case DPF_EVENT_PURE:
        return p[0] >= 0.0 ? NULL : "its epsilon is negative or not a number";
    case DPF_EVENT_APPROX:
        return p[0] >= 0.0 && p[1] >= 0.0 && p[1] <= 1.0 ? NULL : "its epsilon or delta is out of range";
    case DPF_EVENT_ZCDP:
        return p[0] >= 0.0 && p[1] >= 0.0 ? NULL : "its xi or rho is negative or not a number";
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return p[0] >= 0.0 && p[0] <= 1.0 ? NULL : "its probability of a flip is not in [0, 1]";
    case DPF_EVENT_PBM:
        return pbm_parameters_fault(p);
    default:
        return "the rdp accountant has no Renyi curve for this kind";
    }
}

static int same_charge(const dpf_charge *a, const dpf_charge *b)
{
    return a->kind == b->kind && a->sensitivity == b->sensitivity && a->rate == b->rate &&
           (a->kind != DPF_EVENT_SKELLAM || a->l1 == b->l1) && a->scale == b->scale && a->grid == b->grid &&
           memcmp(a->p, b->p, sizeof a->p) == 0;
}

static void total_add(struct total *total, const dpf_charge *charge)
{
    if (charge->unbounded && !total->unbounded)
        total->unbounded = charge->reason;
    if (charge->copies == 0.0 || charge->unbounded)
        return;
    if (charge->kind == DPF_EVENT_APPROX)
        total->log_keep += charge->copies * log1p(-charge->rate * charge->p[1]);
    for (int64_t i = 0; i < total->n; i++) {
        if (same_charge(&total->charges[i], charge)) {
            total->charges[i].copies += charge->copies;
            return;
        }
    }
    total->charges[total->n++] = *charge;
}

/* Curves that take long to make, once for each charge. */
static dpf_status total_curves(const struct rdp *rdp, const dpf_question *question, struct total *total)
{
    const int zero_out = question->adjacency == DPF_ADJ_ZERO_OUT;
    for (int64_t i = 0; i < total->n; i++) {
        const dpf_charge *charge = &total->charges[i];
        if (charge->kind != DPF_EVENT_PBM)
            continue;
        total->pbm[i] =
            renyi_pbm_new(rdp->host, charge->p[0], (int64_t)charge->p[1], (int64_t)charge->p[2], zero_out);
        if (!total->pbm[i])
            return rdp->host->fail(rdp->host, DPF_E_MEMORY, -1, "out of memory");
    }
    return DPF_OK;
}

/* Fills total, whose charges have room for n. */
static dpf_status total_fill(const struct rdp *rdp, const dpf_event *events, int64_t n,
                             const dpf_question *question, struct total *total)
{
    for (int64_t i = 0; i < n; i++) {
        dpf_charge charge;
        const dpf_status status = dpf_charge_event(rdp->host, &events[i], i, question, &charge);
        if (status != DPF_OK)
            return status;
        const int counts = charge.copies > 0.0 && !charge.unbounded;
        const char *fault = counts ? charge_fault(&charge) : NULL;
        if (counts && charge.kind == DPF_EVENT_PBM && pbm_question_fault(&events[i], question))
            return dpf_refuse_event(rdp->host, DPF_E_UNSUPPORTED, &events[i], i,
                                    pbm_question_fault(&events[i], question));
        if (fault) {
            const int unknown = charge.p[1] > PBM_MOST_TRIALS || charge.kind < 0 ||
                                charge.kind > DPF_EVENT_RANDOMIZED_RESPONSE;
            return dpf_refuse_event(rdp->host, unknown ? DPF_E_UNSUPPORTED : DPF_E_NUMERIC, &events[i], i,
                                    fault);
        }
        total_add(total, &charge);
    }
    return DPF_OK;
}

/* ---- conversion --------------------------------------------------------------------------------- */

/* What is minimised over the order: epsilon at a delta, or ln delta at an epsilon. */
struct goal {
    const struct total *total;
    int32_t conversion;
    int32_t for_delta;
    double delta;
    double epsilon;
};

static double goal_epsilon(const struct goal *goal, double r, double order)
{
    if (goal->conversion == CONVERSION_CLASSIC)
        return r - log(goal->delta) / (order - 1.0);
    /* Total variation is at most sqrt(1 - e^{-KL}), and the KL divergence at most r
       (Bretagnolle, Huber 1979): then epsilon = 0 will do. */
    if (goal->delta * goal->delta + expm1(-r) > 0.0)
        return 0.0;
    return r + log1p(-1.0 / order) - (log(goal->delta) + log(order)) / (order - 1.0);
}

static double goal_log_delta(const struct goal *goal, double r, double order)
{
    const double classic = (order - 1.0) * (r - goal->epsilon);
    if (goal->conversion == CONVERSION_CLASSIC)
        return classic;
    return classic + (order - 1.0) * log1p(-1.0 / order) - log(order);
}

static double goal_at(const struct goal *goal, double order)
{
    const double r = total_at(goal->total, order);
    if (isnan(r) || isinf(r))
        return r;
    return goal->for_delta ? goal_log_delta(goal, r, order) : goal_epsilon(goal, r, order);
}

/* ---- search ------------------------------------------------------------------------------------- */

struct best {
    double value;
    double order;
    int32_t invalid; /* a curve gave NaN */
};

static double best_value(struct best *best, const struct goal *goal, double order)
{
    const double value = goal_at(goal, order);
    if (isnan(value))
        best->invalid = 1;
    if (value < best->value) {
        best->value = value;
        best->order = order;
    }
    return value;
}

static double best_try(struct best *best, const struct goal *goal, double order)
{
    return best_value(best, goal, order > ORDER_WHOLE ? floor(order + 0.5) : order);
}

/* Golden section in ln(order - 1), then the integers nearby, where some curves have kinks. */
static void search_between(struct best *best, const struct goal *goal, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = log(low - 1.0), b = log(high - 1.0);
    double x = b - golden * (b - a), y = a + golden * (b - a);
    double at_x = best_try(best, goal, 1.0 + exp(x)), at_y = best_try(best, goal, 1.0 + exp(y));
    /* The goal is flat at its minimum: this width leaves a relative 1e-8. */
    while (b - a > 1e-4) {
        if (at_x < at_y) {
            b = y;
            y = x;
            at_y = at_x;
            x = b - golden * (b - a);
            at_x = best_try(best, goal, 1.0 + exp(x));
        } else {
            a = x;
            x = y;
            at_x = at_y;
            y = a + golden * (b - a);
            at_y = best_try(best, goal, 1.0 + exp(y));
        }
    }
    const double nearest = floor(best->order);
    for (double order = nearest - 1.0; order <= nearest + 2.0; order += 1.0) {
        if (order >= 2.0 && order <= ORDER_MOST)
            best_try(best, goal, order);
    }
}

/* The next order outwards, clamped to the range of the search. */
static double outwards(double order, int upwards)
{
    double next = upwards ? 1.0 + (order - 1.0) * 2.0 : 1.0 + (order - 1.0) / 2.0;
    if (next > ORDER_WHOLE)
        next = floor(next + 0.5);
    return next > ORDER_MOST ? ORDER_MOST : next < ORDER_LEAST ? ORDER_LEAST : next;
}

static void search_beyond(struct best *best, const struct goal *goal, int upwards)
{
    double order = best->order;
    while (best->order == order) {
        const double next = outwards(order, upwards);
        if (next == order)
            return;
        best_try(best, goal, next);
        order = next;
    }
}

/* Returns 1 if the best order is at an end of what was searched. */
static int32_t search(const struct rdp *rdp, const struct goal *goal, struct best *best)
{
    const double first = rdp->orders[0], last = rdp->orders[rdp->n_orders - 1];
    for (int64_t i = 0; i < rdp->n_orders; i++)
        best_value(best, goal, rdp->orders[i]);
    if (isinf(best->value))
        return 0;
    if (!rdp->refine)
        return best->order == first || best->order == last;
    if (best->order == last)
        search_beyond(best, goal, 1);
    if (best->order == first)
        search_beyond(best, goal, 0);
    double low = outwards(best->order, 0), high = outwards(best->order, 1);
    for (int64_t i = 0; i < rdp->n_orders; i++) {
        if (rdp->orders[i] < best->order && rdp->orders[i] > low)
            low = rdp->orders[i];
        if (rdp->orders[i] > best->order && rdp->orders[i] < high)
            high = rdp->orders[i];
    }
    if (low < high)
        search_between(best, goal, low, high);
    return best->order == ORDER_LEAST || best->order == ORDER_MOST;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static const char *const sources[] = {
    [CONVERSION_IMPROVED] = "Renyi DP (Mironov 2017), conversion of Balle et al. 2020, Theorem 21, and "
                            "Canonne, Kamath, Steinke 2020, Proposition 12",
    [CONVERSION_CLASSIC] = "Renyi DP with its classic conversion (Mironov 2017, Proposition 3)",
};

static void answer_start(const struct rdp *rdp, const dpf_question *question, dpf_answer *answer)
{
    answer->at_grid_end = 0;
    answer->epsilon = INFINITY;
    answer->epsilon_lower = NAN;
    answer->delta = question->delta;
    answer->order = NAN;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(answer->source, sizeof answer->source, sources[rdp->conversion]);
}

static double raised(double x)
{
    return x > 0.0 ? x * (1.0 + 1e-12) : 0.0;
}

static void note_grid_end(const struct rdp *rdp, dpf_answer *answer)
{
    dpf_text_add(answer->note, sizeof answer->note,
                 "the best order lies at an end of the orders searched; a wider list could give a smaller "
                 "value");
    dpf_log(rdp->host)->message(rdp->host, DPF_LOG_WARNING, answer->note);
}

static dpf_status solve_epsilon(const struct rdp *rdp, const struct total *total,
                                const dpf_question *question, dpf_answer *answer)
{
    if (total->unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total->unbounded);
        return DPF_OK;
    }
    /* The part of delta that approximate releases leave to the conversion. */
    const double left = -expm1(log1p(-question->delta) - total->log_keep);
    struct goal goal = {total, rdp->conversion, 0, left, 0.0};
    struct best best = {INFINITY, NAN, 0};
    if (left > 0.0)
        answer->at_grid_end = search(rdp, &goal, &best);
    if (left >= 0.0) {
        const double pure = total_at(total, INFINITY); /* order infinity needs no delta */
        best.invalid |= isnan(pure);
        if (pure <= best.value) {
            best = (struct best){pure, INFINITY, best.invalid};
            answer->at_grid_end = 0;
        }
    }
    if (best.invalid)
        return rdp->host->fail(rdp->host, DPF_E_NUMERIC, -1, "a Renyi divergence could not be computed");
    answer->epsilon = raised(best.value);
    answer->order = isinf(best.value) ? NAN : best.order;
    if (isinf(best.value))
        dpf_text_add(answer->note, sizeof answer->note,
                     left < 0.0 ? "approximate releases use up more than the whole delta"
                                : "no order gives a finite value; a delta above 0 is needed, or more noise");
    else if (answer->at_grid_end)
        note_grid_end(rdp, answer);
    return DPF_OK;
}

/*
 * Total variation, as in goal_epsilon, bounds delta at every epsilon; the least order gives the least of it.
 * It has no part in the search, which it would leave on a plateau.
 */
static void try_variation(const struct rdp *rdp, const struct goal *goal, struct best *best)
{
    const double order = rdp->refine && rdp->orders[0] > ORDER_LEAST ? ORDER_LEAST : rdp->orders[0];
    const double r = total_at(goal->total, order), value = 0.5 * log(-expm1(-r));
    best->invalid |= isnan(r);
    if (goal->conversion == CONVERSION_IMPROVED && value < best->value) {
        best->value = value;
        best->order = order;
    }
}

/* delta = 1 - (1 - d) * keep for the conversion's d; at order infinity d = 0 once epsilon is reached. */
static dpf_status solve_delta(const struct rdp *rdp, const struct total *total, const dpf_question *question,
                              dpf_answer *answer)
{
    answer->epsilon = question->epsilon;
    answer->delta = 1.0;
    if (total->unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total->unbounded);
        return DPF_OK;
    }
    struct goal goal = {total, rdp->conversion, 1, 0.0, question->epsilon};
    struct best best = {INFINITY, NAN, 0};
    answer->at_grid_end = search(rdp, &goal, &best);
    try_variation(rdp, &goal, &best);
    answer->at_grid_end |= best.order == ORDER_LEAST;
    const double pure = total_at(total, INFINITY);
    if (best.invalid || isnan(pure))
        return rdp->host->fail(rdp->host, DPF_E_NUMERIC, -1, "a Renyi divergence could not be computed");
    double converted = best.value < 0.0 ? exp(best.value) : 1.0;
    answer->order = isinf(best.value) ? NAN : best.order;
    if (raised(pure) <= question->epsilon) {
        converted = 0.0;
        answer->order = INFINITY;
        answer->at_grid_end = 0;
    }
    const double all = raised(-expm1(log1p(-converted) + total->log_keep));
    answer->delta = all < 1.0 ? all : 1.0;
    if (answer->at_grid_end)
        note_grid_end(rdp, answer);
    return DPF_OK;
}

typedef dpf_status (*solver)(const struct rdp *, const struct total *, const dpf_question *, dpf_answer *);

static dpf_status account(const struct rdp *rdp, const dpf_event *events, int64_t n,
                          const dpf_question *question, dpf_answer *answer, solver solve)
{
    const dpf_memory_service *memory = dpf_memory(rdp->host);
    struct total total = {NULL, NULL, 0, NULL, 0.0};
    answer_start(rdp, question, answer);
    total.charges = memory->allocate(rdp->host, (uint64_t)n * sizeof *total.charges);
    total.pbm = memory->allocate(rdp->host, (uint64_t)n * sizeof(*total.pbm));
    dpf_status status = total.charges && total.pbm
                            ? total_fill(rdp, events, n, question, &total)
                            : rdp->host->fail(rdp->host, DPF_E_MEMORY, -1, "out of memory");
    if (status == DPF_OK)
        status = total_curves(rdp, question, &total);
    if (status == DPF_OK)
        status = solve(rdp, &total, question, answer);
    for (int64_t i = 0; total.pbm && i < total.n; i++)
        renyi_pbm_free(rdp->host, total.pbm[i]);
    memory->release(rdp->host, total.pbm);
    memory->release(rdp->host, total.charges);
    return status;
}

static dpf_status rdp_epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                              dpf_answer *answer)
{
    const struct rdp *rdp = self;
    if (!(question->delta >= 0.0 && question->delta < 1.0))
        return rdp->host->fail(rdp->host, DPF_E_RANGE, -1, "delta must be in [0, 1)");
    return account(rdp, events, n, question, answer, solve_epsilon);
}

static dpf_status rdp_delta(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                            dpf_answer *answer)
{
    const struct rdp *rdp = self;
    if (!(question->epsilon >= 0.0))
        return rdp->host->fail(rdp->host, DPF_E_RANGE, -1, "epsilon must be at least 0");
    return account(rdp, events, n, question, answer, solve_delta);
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_PROOF,
    .epsilon = rdp_epsilon,
    .delta = rdp_delta,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_ACCOUNTANT,
    .id = "rdp",
    .version = "1.0.0",
    .summary = "Renyi differential privacy, composed exactly, with Poisson sampling",
    .citation = "Mironov, arXiv 1702.07476; Mironov, Talwar, Zhang, arXiv 1908.10530; Canonne, Kamath, "
                "Steinke, arXiv 2004.00010",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = rdp_create,
    .destroy = rdp_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.rdp", "1.0.0", "Apache-2.0", component)
