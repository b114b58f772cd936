/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/pbm_law.h"

#include <math.h>

#include "audit/binomial_sum.h"

const dpf_event *pbm_event(const struct plan *plan, int side, int term)
{
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        if (event->side == side && event->term == term && event->kind == DPF_EVENT_PBM)
            return event;
    }
    return NULL;
}

/* What one trial more adds to a sum. */
static double pbm_step(const dpf_event *event)
{
    return event->scale / sqrt(event->p.pbm.clients * event->p.pbm.trials / 4);
}

double pbm_bound(const dpf_event *event)
{
    return pbm_step(event) * event->p.pbm.theta * event->p.pbm.trials;
}

double pbm_deviation(const dpf_event *event, double n, double squares)
{
    const double share = event->p.pbm.theta / pbm_bound(event);
    return pbm_step(event) * sqrt(event->p.pbm.trials * fmax(n / 4 - share * share * squares, 0));
}

double pbm_chance(const dpf_event *event, double value)
{
    return 0.5 + event->p.pbm.theta * value / pbm_bound(event);
}

double pbm_log(const dpf_event *event, const double *chances, int64_t n, double seen, int64_t messages)
{
    const double trials = event->p.pbm.trials;
    const double count = seen / pbm_step(event) + (double)messages * trials / 2, k = nearbyint(count);
    return fabs(count - k) < 0.01 ? binomial_sum_log(chances, n, (int64_t)trials, (int64_t)k) : -INFINITY;
}
