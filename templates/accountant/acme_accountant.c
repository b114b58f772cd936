/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_accountant.c - pure differential privacy: the epsilons of all releases add up.
 *
 * Basic composition (Dwork, Roth 2014, Theorem 3.16). Laplace noise of scale s, continuous or on a grid,
 * costs D / s for an L1 change of D; a PURE event states its epsilon for each unit. All other noise is
 * refused: an accountant answers what it can prove.
 *
 * dpf_charge_event makes the decisions that do not depend on the method: how far the unit that is asked about
 * moves this release, whether that is stated at all, whether noise is reused, and what a draw of users does.
 */
#include <math.h>

#include "dpframe/dpframe.h"

struct adder {
    const dpf_host *host;
};

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct adder *adder = *self;
    (void)given;
    adder->host = host;
    return DPF_OK;
}

/* Epsilon of one copy; negative or NaN if the event states nonsense, infinite if there is none. */
static dpf_status cost(const struct adder *adder, const dpf_event *event, int64_t index,
                       const dpf_charge *charge, double *out)
{
    if (charge->kind == DPF_EVENT_LAPLACE || charge->kind == DPF_EVENT_DISCRETE_LAPLACE)
        *out = charge->sensitivity / charge->scale;
    else if (charge->kind == DPF_EVENT_PURE)
        *out = charge->sensitivity * charge->p.pure.epsilon;
    else
        return dpf_refuse_event(adder->host, DPF_E_UNSUPPORTED, event, index,
                                "only Laplace noise and pure releases are known to this accountant");
    if (!(*out >= 0))
        return dpf_refuse_event(adder->host, DPF_E_NUMERIC, event, index,
                                "its epsilon is negative or not a number");
    return DPF_OK;
}

static dpf_status epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                          dpf_answer *answer)
{
    const struct adder *adder = self;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        dpf_charge charge;
        double one = 0;
        dpf_status status = dpf_charge_event(adder->host, &events[i], i, question, &charge);
        if (status == DPF_OK && charge.copies > 0)
            status = charge.unbounded ? DPF_OK : cost(adder, &events[i], i, &charge, &one);
        if (status != DPF_OK)
            return status;
        sum += charge.unbounded ? (double)INFINITY : charge.copies * one; /* a draw could only make it less */
    }
    answer->epsilon = sum * (1 + 1e-12); /* an upper bound: covers the rounding of sums */
    answer->epsilon_lower = answer->order = (double)NAN;
    answer->delta = 0;
    dpf_text_add(answer->source, sizeof answer->source, "basic composition (Dwork, Roth 2014, Theorem 3.16)");
    return DPF_OK;
}

static const dpf_accountant functions = {.kind = DPF_ACCOUNTANT_PROOF, .epsilon = epsilon};

DPF_COMPONENT(component, DPF_ROLE_ACCOUNTANT, functions, .id = "acme-accountant", .version = "1.0.0",
              .summary = "Adds up pure epsilons", .citation = "Dwork, Roth 2014, Theorem 3.16",
              .create = create, .instance_bytes = sizeof(struct adder))

DPF_SINGLE_COMPONENT_PLUGIN("com.acme.accountant", "1.0.0", "Apache-2.0", component)
