/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdp.c - accounting by Renyi differential privacy.
 *
 * Curves of single releases (renyi_curves.h) add under composition; the sum converts to epsilon(delta)
 * or delta(epsilon) at any order, so each order gives a valid bound and the least of them is searched for
 * (order_search.h). Private selections among candidates count by renyi_selection.h. Results are raised by a
 * relative 1e-12, which covers the rounding of the conversion; the curves bound their own.
 */
#include <float.h>

#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"
#include "renyi_total.h"

enum { P_ORDERS, P_CONVERSION, P_REFINE, P_COUNT };
enum { CONVERSION_IMPROVED, CONVERSION_CLASSIC };

static const dpf_enum_value conversions[] = {
    {"improved",
     "r + ln(1-1/a) - ln(delta a)/(a-1): Balle et al., arXiv 1905.09982; Canonne, Kamath, Steinke"},
    {"classic", "r + ln(1/delta)/(a-1): Mironov, arXiv 1702.07476, Proposition 3; never smaller"},
};

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

static struct order_list orders_of(const struct rdp *rdp)
{
    return (struct order_list){rdp->orders, rdp->n_orders, rdp->refine};
}

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
    const uint64_t bytes = (uint64_t)orders->count * sizeof(double);
    struct rdp *rdp = *self;
    rdp->orders = dpf_memory(host)->allocate(host, bytes);
    if (!rdp->orders)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    memcpy(rdp->orders, orders->reals, bytes);
    sort_orders(rdp->orders, orders->count);
    rdp->host = host;
    rdp->n_orders = orders->count;
    rdp->conversion = (int32_t)values->values[P_CONVERSION].integer;
    rdp->refine = (int32_t)values->values[P_REFINE].integer;
    return DPF_OK;
}

static void rdp_destroy(void *self)
{
    struct rdp *rdp = self;
    dpf_memory(rdp->host)->release(rdp->host, rdp->orders);
}

/* ---- conversion --------------------------------------------------------------------------------- */

/* What is minimised over the order: epsilon at a delta, or ln delta at an epsilon. */
struct goal {
    const struct renyi_total *total;
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

static double goal_at(const void *context, double order)
{
    const struct goal *goal = context;
    const double r = renyi_total_at(goal->total, order);
    if (isnan(r) || isinf(r))
        return r;
    return goal->for_delta ? goal_log_delta(goal, r, order) : goal_epsilon(goal, r, order);
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

static dpf_status solve_epsilon(const struct rdp *rdp, const struct renyi_total *total,
                                const dpf_question *question, dpf_answer *answer)
{
    if (total->own.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total->own.unbounded);
        return DPF_OK;
    }
    /* The part of delta that approximate releases leave to the conversion. */
    const double left = -expm1(log1p(-question->delta) - total->own.log_keep);
    struct goal goal = {total, rdp->conversion, 0, left, 0.0};
    struct order_best best = {INFINITY, NAN, 0};
    const struct order_list list = orders_of(rdp);
    if (left > 0.0)
        answer->at_grid_end = order_search(&list, goal_at, &goal, &best);
    if (left >= 0.0) {
        const double pure = renyi_total_at(total, INFINITY); /* order infinity needs no delta */
        best.invalid |= isnan(pure);
        if (pure <= best.value) {
            best = (struct order_best){pure, INFINITY, best.invalid};
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
static void try_variation(const struct rdp *rdp, const struct goal *goal, struct order_best *best)
{
    const double order = rdp->refine && rdp->orders[0] > ORDER_LEAST ? ORDER_LEAST : rdp->orders[0];
    const double r = renyi_total_at(goal->total, order), value = 0.5 * log(-expm1(-r));
    best->invalid |= isnan(r);
    if (goal->conversion == CONVERSION_IMPROVED && value < best->value) {
        best->value = value;
        best->order = order;
    }
}

/* delta = 1 - (1 - d) * keep for the conversion's d; at order infinity d = 0 once epsilon is reached. */
static dpf_status solve_delta(const struct rdp *rdp, const struct renyi_total *total,
                              const dpf_question *question, dpf_answer *answer)
{
    answer->epsilon = question->epsilon;
    answer->delta = 1.0;
    if (total->own.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total->own.unbounded);
        return DPF_OK;
    }
    struct goal goal = {total, rdp->conversion, 1, 0.0, question->epsilon};
    struct order_best best = {INFINITY, NAN, 0};
    const struct order_list list = orders_of(rdp);
    answer->at_grid_end = order_search(&list, goal_at, &goal, &best);
    try_variation(rdp, &goal, &best);
    answer->at_grid_end |= best.order == ORDER_LEAST;
    const double pure = renyi_total_at(total, INFINITY);
    if (best.invalid || isnan(pure))
        return rdp->host->fail(rdp->host, DPF_E_NUMERIC, -1, "a Renyi divergence could not be computed");
    double converted = best.value < 0.0 ? exp(best.value) : 1.0;
    answer->order = isinf(best.value) ? NAN : best.order;
    if (raised(pure) <= question->epsilon) {
        converted = 0.0;
        answer->order = INFINITY;
        answer->at_grid_end = 0;
    }
    const double all = raised(-expm1(log1p(-converted) + total->own.log_keep));
    answer->delta = all < 1.0 ? all : 1.0;
    if (answer->at_grid_end)
        note_grid_end(rdp, answer);
    return DPF_OK;
}

typedef dpf_status (*solver)(const struct rdp *, const struct renyi_total *, const dpf_question *,
                             dpf_answer *);

static dpf_status account(const struct rdp *rdp, const dpf_event *events, int64_t n,
                          const dpf_question *question, dpf_answer *answer, solver solve)
{
    const struct order_list list = orders_of(rdp);
    struct renyi_total total = {.n_selections = 0};
    answer_start(rdp, question, answer);
    dpf_status status = renyi_total_fill(rdp->host, &list, events, n, question, &total);
    if (total.n_selections > 0)
        dpf_text_add(answer->source, sizeof answer->source, "; selection: Papernot, Steinke 2022");
    if (status == DPF_OK)
        status = solve(rdp, &total, question, answer);
    renyi_total_free(rdp->host, &total);
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

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "rdp", .version = "1.0.0",
    .summary = "Renyi differential privacy, composed exactly, with Poisson sampling and private selection",
    .citation = "Mironov, arXiv 1702.07476; Mironov, Talwar, Zhang, arXiv 1908.10530; Canonne, Kamath, "
                "Steinke, arXiv 2004.00010; Papernot, Steinke, arXiv 2110.03620",
    DPF_PARAMS(params), .create = rdp_create, .destroy = rdp_destroy, .instance_bytes = sizeof(struct rdp))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.rdp", "1.0.0", "Apache-2.0", component)
