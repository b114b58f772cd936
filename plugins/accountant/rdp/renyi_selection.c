/* SPDX-License-Identifier: Apache-2.0 */
#include "renyi_selection.h"

#include <float.h>

#include "dpframe/integer_noise.h"

/* The largest of all candidates: R. */
static double candidates_at(const struct renyi_selection *selection, double order)
{
    double most = 0.0;
    for (int64_t i = 0; i < selection->law.candidates; i++) {
        const double value = renyi_releases_at(&selection->candidates[i], order);
        if (!(value <= most))
            most = value; /* NaN stays */
        if (isnan(most))
            break;
    }
    return most;
}

/* ---- truncated negative binomial ----------------------------------------------------------------- */

static double share_at(const void *context, double order)
{
    const struct renyi_selection *selection = context;
    const double fall = -log(selection->law.gamma);
    return (1.0 - 1.0 / order) * candidates_at(selection, order) + fall / order;
}

static dpf_status prepare_share(const dpf_host *host, const struct order_list *list,
                                struct renyi_selection *selection)
{
    struct order_best best = {INFINITY, NAN, 0};
    order_search(list, share_at, selection, &best);
    const double pure = candidates_at(selection, INFINITY), none = -log(selection->law.gamma);
    if (best.invalid || isnan(pure))
        return host->fail(host, DPF_E_NUMERIC, -1, "a Renyi divergence could not be computed");
    double least = best.value < none ? best.value : none; /* orders 1 and infinity */
    least = pure < least ? pure : least;
    selection->share = (1.0 + selection->law.eta) * least * (1.0 + 1e-14);
    return DPF_OK;
}

/* ---- Poisson ------------------------------------------------------------------------------------- */

#define PER_OCTAVE 4 /* orders between those of the list, where these may be left */

static int64_t add_order(double *orders, int64_t n, double order)
{
    if (n == 0 || order > orders[n - 1] * (1.0 + 1e-9))
        orders[n++] = order;
    return n;
}

/* The orders of the list, and with refine more between them. Returns how many; orders NULL: only counts. */
static int64_t dense_orders(const struct order_list *list, double *orders)
{
    const double ratio = exp2(1.0 / PER_OCTAVE);
    int64_t n = 0;
    for (int64_t i = 0; i < list->n; i++) {
        const double end = i + 1 < list->n ? list->orders[i + 1] : list->orders[i];
        double order = list->orders[i];
        do {
            n = orders ? add_order(orders, n, order > ORDER_WHOLE ? floor(order) : order) : n + 1;
            order = 1.0 + (order - 1.0) * ratio;
        } while (list->refine && order < end);
    }
    return n;
}

/* mu of the Gaussian pair that dominates all releases of a candidate together; NaN if some are of another kind, or
   drawn. Integer noise: integer_noise.h. */
static double gaussian_mu(const struct renyi_releases *candidate)
{
    double sum = 0.0;
    for (int64_t i = 0; i < candidate->n; i++) {
        const dpf_charge *c = &candidate->charges[i];
        const int on_grid =
            c->kind == DPF_EVENT_DISCRETE_GAUSSIAN || c->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
        if ((c->kind != DPF_EVENT_GAUSSIAN && !on_grid) || c->rate < 1.0)
            return NAN;
        const double mu = on_grid && c->grid > 0.0
                              ? c->sensitivity / c->grid * dpf_discrete_gaussian_shift(c->scale / c->grid)
                              : c->sensitivity / c->scale;
        sum += c->copies * mu * mu;
    }
    return sqrt(sum) * (1.0 + 1e-14 * (double)(candidate->n + 1));
}

/* The largest of all candidates: their pairs' divergences grow with mu, and that of a public choice among them is a mean of
   theirs. NaN if there is a candidate without one. */
static double largest_mu(const struct renyi_selection *selection)
{
    double most = 0.0;
    for (int64_t i = 0; i < selection->law.candidates; i++) {
        const double mu = gaussian_mu(&selection->candidates[i]);
        if (!(mu <= most))
            most = mu;
        if (isnan(most))
            break;
    }
    return most;
}

static dpf_status prepare_curve(const dpf_host *host, const struct order_list *list,
                                struct renyi_selection *selection)
{
    const dpf_memory_service *memory = dpf_memory(host);
    const uint64_t bytes = (uint64_t)dense_orders(list, NULL) * sizeof(double);
    selection->orders = memory->allocate(host, bytes);
    selection->values = memory->allocate(host, bytes);
    if (!selection->orders || !selection->values)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    selection->n_orders = dense_orders(list, selection->orders);
    selection->mu = largest_mu(selection);
    for (int64_t i = 0; i < selection->n_orders; i++) {
        selection->values[i] = candidates_at(selection, selection->orders[i]);
        if (isnan(selection->values[i]))
            return host->fail(host, DPF_E_NUMERIC, -1, "a Renyi divergence could not be computed");
    }
    return DPF_OK;
}

/* Balle, Wang (ICML 2018), Theorem 8, rounded up. */
static double gaussian_delta(double mu, double epsilon)
{
    const double half = 0.70710678118654752440, a = epsilon / mu - mu / 2.0, b = epsilon / mu + mu / 2.0;
    const double error = DBL_EPSILON * (64.0 + 8.0 * (1.0 + fabs(a)) * b + 8.0 * epsilon);
    const double above = 0.5 * erfc(a * half);
    return above * (1.0 + error) -
           (epsilon < 700.0 ? exp(epsilon) * 0.5 * erfc(b * half) * (1.0 - error) : 0.0);
}

/* An upper bound on the delta of one run at that epsilon. */
static double run_delta(const struct renyi_selection *selection, double epsilon)
{
    const double pure = candidates_at(selection, INFINITY), mu = selection->mu;
    double least = mu > 0.0 ? gaussian_delta(mu, epsilon) : mu == 0.0 ? 0.0 : 1.0;
    least = least > 1.0 ? 1.0 : least < 0.0 ? 0.0 : least;
    if (isfinite(pure)) { /* randomized response dominates (Kairouz, Oh, Viswanath, arXiv 1311.0776) */
        const double response = fmax(-expm1(epsilon - pure) / (1.0 + exp(-pure)), 0.0);
        least = response < least ? response : least;
    }
    for (int64_t i = 0; i < selection->n_orders; i++) {
        const double a = selection->orders[i], r = selection->values[i];
        const double converted = exp((a - 1.0) * (r - epsilon + log1p(-1.0 / a)) - log(a));
        const double variation =
            sqrt(-expm1(-r)); /* Bretagnolle, Huber 1979: bounds delta at every epsilon */
        least = converted < least ? converted : least;
        least = variation < least ? variation : least;
    }
    return least * (1.0 + 1e-12);
}

static double poisson_at(const struct renyi_selection *selection, double order)
{
    const double mean = selection->law.mean, run = candidates_at(selection, order);
    if (isinf(order)) /* e = 0: f'(q) / f'(q') = e^{mean (q - q')} */
        return run + mean * run_delta(selection, 0.0);
    const double delta = run_delta(selection, log1p(1.0 / (order - 1.0)) * (1.0 - 1e-15));
    const double best = log(mean) + (order - 1.0) * (run + mean * delta);
    const double top = best > -mean ? best : -mean, low = best > -mean ? -mean : best;
    /* What is rounded near 0 is rounded up. */
    const double slack = 8.0 * DBL_EPSILON * (1.0 + mean + fabs(top));
    return isfinite(top) ? fmax(top + log1p(exp(low - top)), 0.0) / (order - 1.0) + slack / (order - 1.0)
                         : run;
}

/* ---- both ---------------------------------------------------------------------------------------- */

dpf_status renyi_selection_prepare(const dpf_host *host, const struct order_list *list,
                                   struct renyi_selection *selection)
{
    return selection->law.law == DPF_REPETITIONS_POISSON ? prepare_curve(host, list, selection)
                                                         : prepare_share(host, list, selection);
}

double renyi_selection_at(const struct renyi_selection *selection, double order)
{
    if (selection->law.law == DPF_REPETITIONS_POISSON)
        return poisson_at(selection, order);
    const double run = candidates_at(selection, order);
    return run + selection->share + (isinf(order) ? 0.0 : log(selection->law.mean) / (order - 1.0));
}

void renyi_selection_free(const dpf_host *host, struct renyi_selection *selection)
{
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; selection->candidates && i < selection->law.candidates; i++)
        renyi_releases_free(host, &selection->candidates[i]);
    memory->release(host, selection->candidates);
    memory->release(host, selection->values);
    memory->release(host, selection->orders);
}
