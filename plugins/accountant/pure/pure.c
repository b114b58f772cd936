/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pure.c - pure differential privacy: the epsilons of all releases, added.
 *
 * Basic composition (Dwork, Roth 2014, Theorem 3.16). (Discrete) Laplace noise of scale b against an L1
 * sensitivity D gives D/b; a Poisson draw with rate q turns e into ln(1 + q (e^e - 1)). Parallel
 * composition is in the sensitivities: they are norms over all rows that a unit touches. Results are
 * raised by a relative 1e-12, which covers their rounding.
 */
#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"

struct pure {
    const dpf_host *host;
};

static dpf_status pure_create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    struct pure *pure = *self;
    pure->host = host;
    return DPF_OK;
}

static double response_epsilon(double flip)
{
    if (!(flip >= 0.0 && flip <= 1.0))
        return NAN;
    const double rare = flip < 0.5 ? flip : 1.0 - flip;
    return rare > 0.0 ? log1p(-rare) - log(rare) : INFINITY;
}

/* Epsilon of one copy before sampling. A negative value or NaN is invalid. */
static dpf_status event_epsilon(const struct pure *pure, const dpf_event *event, int64_t index,
                                const dpf_charge *charge, double *epsilon)
{
    switch (charge->kind) {
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_DISCRETE_LAPLACE:
        *epsilon = charge->sensitivity / charge->scale;
        break;
    case DPF_EVENT_PURE:
        *epsilon = charge->p.pure.epsilon * charge->sensitivity;
        break;
    case DPF_EVENT_APPROX: /* stated for a sensitivity of 1, and pure if its delta is 0 */
        if (charge->p.approx.delta != 0.0)
            return dpf_refuse_event(pure->host, DPF_E_UNSUPPORTED, event, index,
                                    "its delta is not 0; use the pld or rdp accountant");
        *epsilon = charge->p.approx.epsilon;
        break;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        *epsilon = charge->sensitivity * response_epsilon(charge->p.response.flip);
        break;
    default:
        return dpf_refuse_event(pure->host, DPF_E_UNSUPPORTED, event, index,
                                "this noise has no pure epsilon; use the rdp accountant");
    }
    if (!(*epsilon >= 0.0))
        return dpf_refuse_event(pure->host, DPF_E_NUMERIC, event, index,
                                "its epsilon is negative or not a number");
    return DPF_OK;
}

static double amplified(double epsilon, double q)
{
    if (q >= 1.0 || isinf(epsilon))
        return epsilon;
    return epsilon < 1.0 ? log1p(q * expm1(epsilon)) : epsilon + log(q + (1.0 - q) * exp(-epsilon));
}

static dpf_status compose(const struct pure *pure, const dpf_event *events, int64_t n,
                          const dpf_question *question, double *sum, const char **unbounded)
{
    *sum = 0.0;
    *unbounded = NULL;
    for (int64_t i = 0; i < n; i++) {
        dpf_charge charge;
        double epsilon;
        dpf_status status = dpf_charge_event(pure->host, &events[i], i, question, &charge);
        if (status != DPF_OK)
            return status;
        if (charge.unbounded)
            *unbounded = charge.reason;
        if (charge.unbounded || charge.copies == 0.0)
            continue;
        status = event_epsilon(pure, &events[i], i, &charge, &epsilon);
        if (status != DPF_OK)
            return status;
        *sum += charge.copies * amplified(epsilon, charge.rate);
    }
    if (*unbounded)
        *sum = INFINITY;
    else
        *sum *= 1.0 + 1e-12;
    if (isinf(*sum) && !*unbounded)
        *unbounded = "the sum of the epsilons is not finite";
    return DPF_OK;
}

static void answer_start(dpf_answer *answer)
{
    answer->at_grid_end = 0;
    answer->epsilon_lower = answer->order = NAN;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(answer->source, sizeof answer->source,
                 "basic composition of pure DP (Dwork, Roth 2014, Theorem 3.16)");
}

/* A pure guarantee holds with delta 0, whatever delta is asked for. */
static dpf_status pure_epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                               dpf_answer *answer)
{
    const char *unbounded;
    const dpf_status status = compose(self, events, n, question, &answer->epsilon, &unbounded);
    if (status != DPF_OK)
        return status;
    answer_start(answer);
    answer->delta = 0.0;
    if (unbounded)
        dpf_text_add(answer->note, sizeof answer->note, unbounded);
    return DPF_OK;
}

/*
 * Randomized response dominates every E-DP mechanism (Kairouz, Oh, Viswanath, arXiv 1311.0776), hence
 * delta(e) = (e^E - e^e) / (1 + e^E) for e < E, and 0 from there on.
 */
static dpf_status pure_delta(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                             dpf_answer *answer)
{
    const struct pure *pure = self;
    double sum;
    const char *unbounded;
    if (!(question->epsilon >= 0.0))
        return pure->host->fail(pure->host, DPF_E_RANGE, -1, "epsilon must be at least 0");
    const dpf_status status = compose(pure, events, n, question, &sum, &unbounded);
    if (status != DPF_OK)
        return status;
    answer_start(answer);
    answer->epsilon = question->epsilon;
    answer->delta = 1.0;
    if (unbounded)
        dpf_text_add(answer->note, sizeof answer->note, unbounded);
    else
        answer->delta = question->epsilon >= sum
                            ? 0.0
                            : -expm1(question->epsilon - sum) / (1.0 + exp(-sum)) * (1.0 + 1e-12);
    if (answer->delta > 1.0)
        answer->delta = 1.0;
    return DPF_OK;
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_PROOF,
    .epsilon = pure_epsilon,
    .delta = pure_delta,
};

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "pure", .version = "1.0.0",
    .summary = "Pure differential privacy: the epsilons of all releases, added",
    .citation = "Dwork, Roth, The Algorithmic Foundations of Differential Privacy, 2014, Theorem 3.16",
    .create = pure_create, .instance_bytes = sizeof(struct pure))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.pure", "1.0.0", "Apache-2.0", component)
