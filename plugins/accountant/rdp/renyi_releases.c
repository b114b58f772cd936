/* SPDX-License-Identifier: Apache-2.0 */
#include "renyi_releases.h"

#include "renyi_curves.h"

/* ---- one release ------------------------------------------------------------------------------------ */

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
        return renyi_response(charge->p.response.flip, charge->sensitivity);
    case DPF_EVENT_PURE:
        return renyi_pure(charge->p.pure.epsilon * charge->sensitivity);
    case DPF_EVENT_APPROX:
        return renyi_pure(charge->p.approx.epsilon);
    case DPF_EVENT_ZCDP:
        return renyi_concentrated(charge->p.zcdp.xi, charge->p.zcdp.rho);
    case DPF_EVENT_SKELLAM:
        return renyi_skellam(charge->p.skellam.variance / (charge->grid * charge->grid),
                             charge->l1 / charge->grid, charge->sensitivity / charge->grid);
    default:
        return renyi_gaussian(charge->scale / charge->sensitivity);
    }
}

/* Of one copy. */
static double charge_at(const dpf_charge *charge, struct renyi_pbm *pbm, double order)
{
    if (pbm) /* of equal coordinates; that sampling hides the client is not proved, as the count of clients
                shows */
        return charge->p.pbm.coordinates * renyi_pbm_at(pbm, order);
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

/* What the kind's own parameters must satisfy. NULL if they do. */
static const char *charge_fault(const dpf_charge *charge)
{
    const dpf_event_numbers *p = &charge->p;
    switch (charge->kind) {
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_LAPLACE:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_CORRELATED_GAUSSIAN: /* over the run, each round given the ones before */
    case DPF_EVENT_SKELLAM:             /* checked by dpf_charge_event */
        return NULL;
    case DPF_EVENT_PURE:
        return p->pure.epsilon >= 0.0 ? NULL : "its epsilon is negative or not a number";
    case DPF_EVENT_APPROX:
        return p->approx.epsilon >= 0.0 && p->approx.delta >= 0.0 && p->approx.delta <= 1.0
                   ? NULL
                   : "its epsilon or delta is out of range";
    case DPF_EVENT_ZCDP:
        return p->zcdp.xi >= 0.0 && p->zcdp.rho >= 0.0 ? NULL : "its xi or rho is negative or not a number";
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return p->response.flip >= 0.0 && p->response.flip <= 1.0
                   ? NULL
                   : "its probability of a flip is not in [0, 1]";
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
           memcmp(&a->p, &b->p, sizeof a->p) == 0;
}

static void add_charge(struct renyi_releases *releases, const dpf_charge *charge)
{
    if (charge->unbounded && !releases->unbounded)
        releases->unbounded = charge->reason;
    if (charge->copies == 0.0 || charge->unbounded)
        return;
    if (charge->kind == DPF_EVENT_APPROX)
        releases->log_keep += charge->copies * log1p(-charge->rate * charge->p.approx.delta);
    for (int64_t i = 0; i < releases->n; i++) {
        if (same_charge(&releases->charges[i], charge)) {
            releases->charges[i].copies += charge->copies;
            return;
        }
    }
    releases->charges[releases->n++] = *charge;
}

dpf_status renyi_releases_complete(const dpf_host *host, const dpf_question *question,
                                   struct renyi_releases *releases)
{
    const int zero_out = question->adjacency == DPF_ADJ_ZERO_OUT;
    for (int64_t i = 0; i < releases->n; i++) {
        const dpf_charge *charge = &releases->charges[i];
        if (charge->kind != DPF_EVENT_PBM)
            continue;
        releases->pbm[i] = renyi_pbm_new(host, charge->p.pbm.theta, (int64_t)charge->p.pbm.trials,
                                         (int64_t)charge->p.pbm.clients, zero_out);
        if (!releases->pbm[i])
            return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    }
    return DPF_OK;
}

dpf_status renyi_releases_add(const dpf_host *host, const dpf_event *events, int64_t index,
                              const dpf_question *question, struct renyi_releases *releases)
{
    const dpf_event *event = &events[index];
    dpf_charge charge;
    const dpf_status status = dpf_charge_event(host, event, index, question, &charge);
    if (status != DPF_OK)
        return status;
    const int counts = charge.copies > 0.0 && !charge.unbounded;
    const char *fault = counts ? charge_fault(&charge) : NULL;
    if (counts && charge.kind == DPF_EVENT_PBM && pbm_question_fault(event, question))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index, pbm_question_fault(event, question));
    if (fault) {
        const int unknown = charge.p.pbm.trials > PBM_MOST_TRIALS || charge.kind < 0 ||
                            charge.kind > DPF_EVENT_CORRELATED_GAUSSIAN;
        return dpf_refuse_event(host, unknown ? DPF_E_UNSUPPORTED : DPF_E_NUMERIC, event, index, fault);
    }
    add_charge(releases, &charge);
    return DPF_OK;
}

dpf_status renyi_releases_open(const dpf_host *host, int64_t most, struct renyi_releases *releases)
{
    const dpf_memory_service *memory = dpf_memory(host);
    releases->charges = memory->allocate(host, (uint64_t)most * sizeof *releases->charges);
    releases->pbm = memory->allocate(host, (uint64_t)most * sizeof(*releases->pbm));
    return releases->charges && releases->pbm ? DPF_OK : host->fail(host, DPF_E_MEMORY, -1, "out of memory");
}

double renyi_releases_at(const struct renyi_releases *releases, double order)
{
    double sum = 0.0;
    for (int64_t i = 0; i < releases->n; i++)
        sum += releases->charges[i].copies * charge_at(&releases->charges[i], releases->pbm[i], order);
    return sum >= 0.0 ? sum : NAN;
}

void renyi_releases_free(const dpf_host *host, struct renyi_releases *releases)
{
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; releases->pbm && i < releases->n; i++)
        renyi_pbm_free(host, releases->pbm[i]);
    memory->release(host, releases->pbm);
    memory->release(host, releases->charges);
}
