/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heterogeneous.c - pure differential privacy where records have privacy weights: an epsilon for each.
 *
 * A record of weight W that changes costs, in one release with (discrete) Laplace noise of scale b:
 *
 *   stretched values   (u + W (D - u)) / b, D the sensitivity and u the part of it that is rounding: a
 * stretched value moves by W times as much (Alaggan, Gambs, Kermarrec, 2016; Hu, Fang, Theorem 2). a term by
 * weights  nothing outside of the term's range of weights, and D / b inside: which records a term keeps
 * follows from their weights, which are the same in neighbouring data sets. a personal draw    it is kept
 * with probability q = min(1, (e^{W budget} - 1) / (e^t - 1)), whichever its value is. A record that comes or
 * goes costs ln(1 + q (e^e - 1)), e = D / b, if the draw is secret (Jorgensen, Yu, Cormode, ICDE 2015,
 * Theorem 1; the opposite direction, -ln(1 - q (1 - e^{-e})), is smaller). A value that changes: let N be the
 * law without the record, P and P' those with it. Then
 *                        ((1-q) N + q P) / ((1-q) N + q P') = 1 + q (P - P') / ((1-q) N + q P')
 *                                                          <= 1 + q (e^r - 1) / ((1-q) e^{-z} + q)
 *                      for P <= e^r P' and P' <= e^z N: r the loss of a change, z that of a removal. This is
 * at most e^r, and both directions have the same bound.
 *
 * Losses of all releases add. Neighbours that differ in several records are a chain of neighbours in one
 * each, so a group costs the sum of its records. Results are raised by a relative 1e-12, which covers their
 * rounding.
 */
#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"

struct heterogeneous {
    const dpf_host *host;
};

/* An event, ready for any weight. */
struct price {
    double copies;     /* 0: free */
    double fixed;      /* loss at weight 0, before a draw */
    double per_weight; /* grows by this much for each unit of weight; 0: the same for all */
    double removal;    /* z, for a value that changes; infinity where it is not needed or not known */
    int32_t drawn;     /* 1: a secret personal draw counts */
    int32_t changes;   /* 1: a value changes; 0: a record comes or goes */
    double weight_from, weight_below, budget, threshold;
};

static dpf_status create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct heterogeneous *account = *self;
    account->host = host;
    return DPF_OK;
}

/* ---- what an event costs -------------------------------------------------------------------------- */

/* Epsilon of a sensitivity of 1, or NaN for noise without a pure epsilon. */
static double loss_per_unit(const dpf_event *event)
{
    if (event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE)
        return 1.0 / event->scale;
    return event->kind == DPF_EVENT_PURE ? event->p.pure.epsilon : (double)NAN;
}

/* Does who is drawn follow from weights alone, so that it is the same in neighbouring data sets? */
static int drawn_by_weight(const dpf_sampling *sampling)
{
    return sampling->kind == DPF_SAMPLING_WEIGHTED && sampling->unit == DPF_UNIT_RECORD &&
           (sampling->budget > 0.0 || sampling->weight_from > 0.0 || sampling->weight_below > 0.0);
}

static double removal_loss(const dpf_event *event, double unit_loss)
{
    double alone = dpf_event_sensitivity(event, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT);
    if (isnan(alone))
        alone = dpf_event_sensitivity(event, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE);
    return isnan(alone) ? INFINITY : alone * unit_loss;
}

static void set_losses(const dpf_event *event, const dpf_question *question, double sensitivity,
                       struct price *price)
{
    const double unit_loss = loss_per_unit(event);
    price->changes = question->adjacency == DPF_ADJ_REPLACE_VALUE;
    price->fixed = sensitivity * unit_loss;
    if (event->weighted && price->changes) {
        const double rest = event->unweighted.l1 < sensitivity ? event->unweighted.l1 : sensitivity;
        price->fixed = rest * unit_loss;
        price->per_weight = (sensitivity - rest) * unit_loss;
    }
    price->removal = removal_loss(event, unit_loss);
}

static void set_draw(const dpf_event *event, const dpf_question *question, struct price *price)
{
    const dpf_sampling *sampling = &event->sampling;
    price->weight_below = INFINITY;
    if (!drawn_by_weight(sampling))
        return;
    price->weight_from = sampling->weight_from;
    if (sampling->weight_below > 0.0)
        price->weight_below = sampling->weight_below;
    price->budget = sampling->budget;
    price->threshold = sampling->threshold;
    price->drawn = sampling->budget > 0.0 && sampling->threshold > 0.0 && sampling->hidden_from >= 0 &&
                   question->observer <= sampling->hidden_from && question->adjacency != DPF_ADJ_REPLACE;
}

/* ln(1 + x (e^e - 1)) for 0 <= x <= 1, without overflow. */
static double log_mixed(double x, double e)
{
    return e < 1.0 ? log1p(x * expm1(e)) : e + log(x + (1.0 - x) * exp(-e));
}

/* The rules of accounting.h decide what is refused, free, or without bound; losses by weight come after. */
static dpf_status price_event(const struct heterogeneous *self, const dpf_event *event, int64_t index,
                              const dpf_question *question, struct price *price, const char **unbounded)
{
    dpf_charge charge;
    dpf_event undrawn = *event;
    if (drawn_by_weight(
            &event->sampling)) /* neighbours have the same chances: nobody else's draw depends on a record */
        undrawn.sampling.kind = DPF_SAMPLING_NONE;
    const dpf_status status = dpf_charge_event(self->host, &undrawn, index, question, &charge);
    memset(price, 0, sizeof(*price));
    if (status != DPF_OK)
        return status;
    if (charge.unbounded) {
        *unbounded = charge.reason;
        return DPF_OK;
    }
    if (charge.copies == 0.0)
        return DPF_OK;
    if (isnan(loss_per_unit(event)))
        return dpf_refuse_event(
            self->host, DPF_E_UNSUPPORTED, event, index,
            "this noise has no pure epsilon by weight; use the rdp accountant, which gives one "
            "for all records");
    price->copies = charge.copies;
    set_losses(event, question, charge.sensitivity, price);
    set_draw(event, question, price);
    if (!(price->fixed >= 0.0) || !(price->per_weight >= 0.0))
        return dpf_refuse_event(self->host, DPF_E_NUMERIC, event, index,
                                "its epsilon is negative or not a number");
    if (charge.rate <
        1.0) /* the same for all weights: only where records come or go, which weights do not change */
        price->fixed = log_mixed(charge.rate, price->fixed);
    return DPF_OK;
}

static double price_at(const struct price *price, double weight)
{
    if (price->copies == 0.0 || weight < price->weight_from || weight >= price->weight_below)
        return 0.0;
    const double loss = price->fixed + price->per_weight * weight;
    if (!price->drawn || weight * price->budget >= price->threshold)
        return price->copies * loss;
    /* The quotient of two numbers that may overflow, by exponentials that cannot. */
    const double q = exp(weight * price->budget - price->threshold) * -expm1(-weight * price->budget) /
                     -expm1(-price->threshold);
    const double share = price->changes ? q / ((1.0 - q) * exp(-price->removal) + q) : q;
    return price->copies * log_mixed(share < 1.0 ? share : 1.0, loss);
}

/* ---- all events ------------------------------------------------------------------------------------ */

static dpf_status price_all(const struct heterogeneous *self, const dpf_event *events, int64_t n,
                            const dpf_question *question, struct price **prices, const char **unbounded)
{
    const dpf_host *host = self->host;
    *prices = NULL;
    *unbounded = NULL;
    if (question->unit != DPF_UNIT_RECORD)
        return (host->fail)(host, DPF_E_UNSUPPORTED, -1,
                            "privacy weights are budgets of records: ask for unit = record, or use the pure "
                            "accountant");
    struct price *all = dpf_memory(host)->allocate(host, (uint64_t)(n + 1) * sizeof(*all));
    if (!all)
        return (host->fail)(host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        const dpf_status status = price_event(self, &events[i], i, question, &all[i], unbounded);
        if (status != DPF_OK) {
            dpf_memory(host)->release(host, all);
            return status;
        }
    }
    *prices = all;
    return DPF_OK;
}

static double sum_at(const struct price *prices, int64_t n, const char *unbounded, double weight)
{
    double sum = 0.0;
    if (unbounded)
        return INFINITY;
    for (int64_t i = 0; i < n; i++)
        sum += price_at(&prices[i], weight);
    return sum * (1.0 + 1e-12);
}

/*
 * The dearest weight. Between the ends of terms' ranges losses grow with the weight, so the last weight below
 * each end is looked at, and the largest: 1, or any where nothing is stretched.
 */
static double dearest(const struct price *prices, int64_t n, const char *unbounded)
{
    double top = 1e300, most;
    for (int64_t i = 0; i < n; i++)
        if (prices[i].per_weight > 0.0)
            top = 1.0;
    most = sum_at(prices, n, unbounded, top);
    for (int64_t i = 0; i < n; i++) {
        const double below = nextafter(prices[i].weight_below, 0.0);
        if (prices[i].copies > 0.0 && below < top)
            most = fmax(most, sum_at(prices, n, unbounded, below));
    }
    return most;
}

static dpf_status epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                          dpf_answer *answer)
{
    const struct heterogeneous *account = self;
    struct price *prices;
    const char *unbounded;
    const dpf_status status = price_all(account, events, n, question, &prices, &unbounded);
    if (status != DPF_OK)
        return status;
    answer->epsilon = dearest(prices, n, unbounded);
    dpf_memory(account->host)->release(account->host, prices);
    answer->at_grid_end = 0;
    answer->epsilon_lower = answer->order = NAN;
    answer->delta = 0.0;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(
        answer->source, sizeof(answer->source),
        "heterogeneous DP of the dearest record (Alaggan, Gambs, Kermarrec 2016; Jorgensen et al. 2015)");
    if (isinf(answer->epsilon))
        dpf_text_add(answer->note, sizeof(answer->note),
                     unbounded ? unbounded : "the sum of the epsilons is not finite");
    return DPF_OK;
}

static dpf_status units(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                        const double *weights, const int64_t *offsets, int64_t n_units, double *out)
{
    const struct heterogeneous *account = self;
    struct price *prices;
    const char *unbounded;
    dpf_status status = price_all(account, events, n, question, &prices, &unbounded);
    if (status != DPF_OK)
        return status;
    for (int64_t i = 0; i < n_units && status == DPF_OK; i++) {
        const int64_t first = offsets ? offsets[i] : i, end = offsets ? offsets[i + 1] : i + 1;
        out[i] = 0.0;
        for (int64_t k = first; k < end; k++) {
            if (!(weights[k] >= 0.0))
                status = (account->host->fail)(account->host, DPF_E_RANGE, -1,
                                               "a privacy weight is negative or not a number");
            for (int64_t e = 0; e < n && status == DPF_OK; e++)
                if (prices[e].per_weight > 0.0 && weights[k] > 1.0)
                    status = (account->host->fail)(account->host, DPF_E_RANGE, -1,
                                                   "values were stretched, but a privacy weight is above 1");
            out[i] += sum_at(prices, n, unbounded, weights[k]);
        }
    }
    dpf_memory(account->host)->release(account->host, prices);
    return status;
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_PROOF,
    .epsilon = epsilon,
    .epsilon_per_unit = units,
};

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "heterogeneous", .version = "1.0.0",
    .summary = "Pure differential privacy by privacy weights: an epsilon for each record and user",
    .citation =
        "Alaggan, Gambs, Kermarrec, J. Privacy and Confidentiality 7(2), 2016; Jorgensen, Yu, Cormode, ICDE "
        "2015",
    .create = create, .instance_bytes = sizeof(struct heterogeneous))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.heterogeneous", "1.0.0", "Apache-2.0", component)
