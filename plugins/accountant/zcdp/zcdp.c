/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zcdp.c - zero-concentrated differential privacy: xi and rho of all releases, added.
 *
 * See concentrated.h. In units of the kind:
 *
 *   Gaussian of multiplier z          rho = 1/(2 z^2); also on a grid (Canonne, Kamath, Steinke, arXiv
 *                                     2004.00010, Theorem 14)
 *   Laplace, E = sensitivity/scale    rho = E + e^{-E} - 1
 *   any E-DP release                  rho = E tanh(E/2)
 *   Skellam                           as in concentrated.h
 *
 * Those of Laplace and of E-DP are Kullback-Leibler divergences, and least possible: with u = a - 1/2, (a-1)
 * times the divergence is ln f(u^2) - ln f(1/4) and a (a-1) = u^2 - 1/4, where f(s) = cosh(E sqrt(s)) for
 * randomized response, which dominates every E-DP pair, and cosh(E sqrt(s)) + sinh(E sqrt(s)) / (2 sqrt(s))
 * for Laplace. Both are entire of order 1/2. Their zeros are negative: with sqrt(s) = iy they are -y^2 for
 * the eigenvalues y^2 of -v'' on an interval with (positive) Robin conditions. So ln f is a sum of terms ln(1
 * + s/c), c > 0, and concave; its chord from 1/4 to u^2 is steepest at its start, which is order 1. Over
 * several coordinates rho is superadditive in E, so that the L1 sensitivity alone is the worst case.
 *
 * Results are raised by more than their rounding.
 */
#include <float.h>

#include "concentrated.h"
#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"

struct zcdp {
    const dpf_host *host;
};

static dpf_status zcdp_create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct zcdp *zcdp = *self;
    zcdp->host = host;
    return DPF_OK;
}

/* ---- one release -------------------------------------------------------------------------------- */

static double rho_pure(double epsilon)
{
    return isinf(epsilon) ? INFINITY : epsilon * tanh(epsilon / 2.0);
}

/* E + e^{-E} - 1 without its cancellation: a series of falling, alternating terms below 1/2. */
static double rho_laplace(double epsilon)
{
    if (epsilon >= 0.5)
        return epsilon + expm1(-epsilon);
    double term = epsilon * epsilon / 2.0, sum = 0.0;
    for (int k = 3; k < 24; k++) {
        sum += term;
        term *= -epsilon / k;
    }
    return sum;
}

static double response_epsilon(double flip)
{
    if (!(flip >= 0.0 && flip <= 1.0))
        return NAN;
    const double rare = flip < 0.5 ? flip : 1.0 - flip;
    return rare > 0.0 ? log1p(-rare) - log(rare) : INFINITY;
}

/* A Poisson draw is used for pure releases only; that it lowers xi or rho of others is not proved. */
static double amplified(double epsilon, double q)
{
    if (q >= 1.0 || isinf(epsilon))
        return epsilon;
    return epsilon < 1.0 ? log1p(q * expm1(epsilon)) : epsilon + log(q + (1.0 - q) * exp(-epsilon));
}

/* xi and rho add; so do -ln(1 - delta) of approximate releases. */
struct total {
    struct concentrated sum;
    double lost;
    const char *unbounded; /* why there is no finite epsilon, or NULL */
};

static int in_unit(double p)
{
    return p >= 0.0 && p <= 1.0;
}

/* What one copy costs. A negative number or NaN marks parameters out of range. */
static dpf_status charge_cost(const struct zcdp *zcdp, const dpf_event *event, int64_t index,
                              const dpf_charge *charge, struct total *cost)
{
    const double ratio = charge->sensitivity / charge->scale;
    const dpf_event_numbers *p = &charge->p;
    *cost = (struct total){{0.0, 0.0}, 0.0, NULL};
    switch (charge->kind) {
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_CORRELATED_GAUSSIAN: /* a Gaussian mechanism over the run, each round given the ones before
                                         */
        cost->sum.rho = ratio * ratio / 2.0;
        break;
    case DPF_EVENT_LAPLACE:
        cost->sum.rho = charge->rate < 1.0 ? rho_pure(amplified(ratio, charge->rate)) : rho_laplace(ratio);
        break;
    case DPF_EVENT_DISCRETE_LAPLACE:
        cost->sum.rho = rho_pure(amplified(ratio, charge->rate));
        break;
    case DPF_EVENT_PURE:
        cost->sum.rho = rho_pure(amplified(p->pure.epsilon * charge->sensitivity, charge->rate));
        break;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        cost->sum.rho =
            charge->rate < 1.0
                ? rho_pure(amplified(charge->sensitivity * response_epsilon(p->response.flip), charge->rate))
                : charge->sensitivity * rho_pure(response_epsilon(p->response.flip));
        break;
    case DPF_EVENT_APPROX:
        cost->sum.rho = rho_pure(amplified(p->approx.epsilon, charge->rate));
        cost->lost = in_unit(p->approx.delta) ? -log1p(-charge->rate * p->approx.delta) : NAN;
        break;
    case DPF_EVENT_ZCDP:
        cost->sum.xi = p->zcdp.xi;
        cost->sum.rho = p->zcdp.rho;
        break;
    case DPF_EVENT_SKELLAM:
        cost->sum = concentrated_skellam(p->skellam.variance / (charge->grid * charge->grid),
                                         charge->l1 / charge->grid, charge->sensitivity / charge->grid);
        break;
    default:
        return dpf_refuse_event(zcdp->host, DPF_E_UNSUPPORTED, event, index,
                                "the zcdp accountant has no bound for this kind");
    }
    if (!(cost->sum.xi >= 0.0 && cost->sum.rho >= 0.0 && cost->lost >= 0.0) || p->all[0] < 0.0)
        return dpf_refuse_event(zcdp->host, DPF_E_NUMERIC, event, index,
                                "its epsilon, delta, xi, rho or probability is out of range");
    return DPF_OK;
}

static dpf_status compose(const struct zcdp *zcdp, const dpf_event *events, int64_t n,
                          const dpf_question *question, struct total *total)
{
    *total = (struct total){{0.0, 0.0}, 0.0, NULL};
    for (int64_t i = 0; i < n; i++) {
        dpf_charge charge;
        struct total cost;
        dpf_status status = dpf_charge_event(zcdp->host, &events[i], i, question, &charge);
        if (status != DPF_OK)
            return status;
        if (charge.unbounded)
            total->unbounded = charge.reason;
        if (charge.unbounded || charge.copies == 0.0)
            continue;
        status = charge_cost(zcdp, &events[i], i, &charge, &cost);
        if (status != DPF_OK)
            return status;
        total->sum.xi += charge.copies * cost.sum.xi;
        total->sum.rho += charge.copies * cost.sum.rho;
        total->lost += charge.copies * cost.lost;
    }
    total->sum.xi *= 1.0 + 1e-13;
    total->sum.rho *= 1.0 + 1e-13;
    if (!total->unbounded && !(isfinite(total->sum.xi) && isfinite(total->sum.rho)))
        total->unbounded = "the sum of xi or rho is not finite";
    return DPF_OK;
}

/* ---- conversion --------------------------------------------------------------------------------- */

/* The least epsilon with ln delta at most that, from the private end of a bracket. */
static double least_epsilon(const struct total *total, double allowed)
{
    if (isinf(allowed))
        return total->sum.rho == 0.0 ? total->sum.xi : INFINITY;
    if (concentrated_log_delta(&total->sum, 0.0) <= allowed)
        return 0.0;
    double low = 0.0, high = total->sum.xi + total->sum.rho + 2.0 * sqrt(-total->sum.rho * allowed);
    while (concentrated_log_delta(&total->sum, high) > allowed)
        high = high > 0.0 ? 1.5 * high : DBL_MIN;
    for (int i = 0; i < 1200 && high - low > 1e-15 * high; i++) {
        const double middle = low + (high - low) / 2.0;
        if (concentrated_log_delta(&total->sum, middle) <= allowed)
            high = middle;
        else
            low = middle;
    }
    return high * (1.0 + 1e-14);
}

static void answer_start(const dpf_question *question, dpf_answer *answer)
{
    answer->at_grid_end = 0;
    answer->epsilon = INFINITY;
    answer->epsilon_lower = answer->order = NAN;
    answer->delta = question->delta;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(answer->source, sizeof answer->source,
                 "zero-concentrated DP (Bun, Steinke 2016), conversion of Canonne, Kamath, Steinke 2020, "
                 "Proposition 12");
}

static dpf_status zcdp_epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                               dpf_answer *answer)
{
    const struct zcdp *zcdp = self;
    struct total total;
    if (!(question->delta >= 0.0 && question->delta < 1.0))
        return zcdp->host->fail(zcdp->host, DPF_E_RANGE, -1, "delta must be in [0, 1)");
    const dpf_status status = compose(zcdp, events, n, question, &total);
    if (status != DPF_OK)
        return status;
    answer_start(question, answer);
    /* The part of delta that approximate releases leave to the conversion. */
    const double left = -expm1(log1p(-question->delta) + total.lost);
    if (total.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total.unbounded);
        return DPF_OK;
    }
    if (left >= 0.0)
        answer->epsilon = least_epsilon(&total, left > 0.0 ? log(left) : -INFINITY);
    if (isinf(answer->epsilon))
        dpf_text_add(answer->note, sizeof answer->note,
                     left < 0.0 ? "approximate releases use up more than the whole delta"
                                : "concentrated privacy needs a delta above 0");
    return DPF_OK;
}

static dpf_status zcdp_delta(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                             dpf_answer *answer)
{
    const struct zcdp *zcdp = self;
    struct total total;
    /* A negative zero is a difference that fell below 0 and was rounded: as wrong as any negative number. */
    if (!(question->epsilon >= 0.0) || signbit(question->epsilon))
        return zcdp->host->fail(zcdp->host, DPF_E_RANGE, -1, "epsilon must be at least 0");
    const dpf_status status = compose(zcdp, events, n, question, &total);
    if (status != DPF_OK)
        return status;
    answer_start(question, answer);
    answer->epsilon = question->epsilon;
    answer->delta = 1.0;
    if (total.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, total.unbounded);
        return DPF_OK;
    }
    const double converted = exp(concentrated_log_delta(&total.sum, question->epsilon));
    const double all = -expm1(log1p(-converted) - total.lost) * (1.0 + 1e-12);
    answer->delta = all < 1.0 ? all : 1.0;
    return DPF_OK;
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_PROOF,
    .epsilon = zcdp_epsilon,
    .delta = zcdp_delta,
};

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "zcdp", .version = "1.0.0",
    .summary = "Zero-concentrated differential privacy: rho of all releases, added",
    .citation = "Bun, Steinke, arXiv 1605.02065; Canonne, Kamath, Steinke, arXiv 2004.00010, Proposition 12",
    .create = zcdp_create, .instance_bytes = sizeof(struct zcdp))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.zcdp", "1.0.0", "Apache-2.0", component)
