/* SPDX-License-Identifier: Apache-2.0 */
#include "renyi_total.h"

#include "renyi_curves.h"
#include "renyi_selection.h"

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

double renyi_total_at(const struct renyi_total *total, double order)
{
    double sum = 0.0;
    for (int64_t i = 0; i < total->n; i++)
        sum += total->charges[i].copies * charge_at(&total->charges[i], total->pbm[i], order);
    for (int64_t i = 0; i < total->n_selections; i++)
        if (total->selections[i].law.copies > 0.0)
            sum += total->selections[i].law.copies * renyi_selection_at(&total->selections[i], order);
    return sum >= 0.0 ? sum : NAN;
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

static void total_add(struct renyi_total *total, const dpf_charge *charge)
{
    if (charge->unbounded && !total->unbounded)
        total->unbounded = charge->reason;
    if (charge->copies == 0.0 || charge->unbounded)
        return;
    if (charge->kind == DPF_EVENT_APPROX)
        total->log_keep += charge->copies * log1p(-charge->rate * charge->p.approx.delta);
    for (int64_t i = 0; i < total->n; i++) {
        if (same_charge(&total->charges[i], charge)) {
            total->charges[i].copies += charge->copies;
            return;
        }
    }
    total->charges[total->n++] = *charge;
}

/* Curves that take long to make, once for each charge. */
static dpf_status total_curves(const dpf_host *host, const dpf_question *question, struct renyi_total *total)
{
    const int zero_out = question->adjacency == DPF_ADJ_ZERO_OUT;
    for (int64_t i = 0; i < total->n; i++) {
        const dpf_charge *charge = &total->charges[i];
        if (charge->kind != DPF_EVENT_PBM)
            continue;
        total->pbm[i] = renyi_pbm_new(host, charge->p.pbm.theta, (int64_t)charge->p.pbm.trials,
                                      (int64_t)charge->p.pbm.clients, zero_out);
        if (!total->pbm[i])
            return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    }
    return DPF_OK;
}

/* A release that is charged by itself. */
static dpf_status add_event(const dpf_host *host, const dpf_event *events, int64_t index,
                            const dpf_question *question, struct renyi_total *total)
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
    total_add(total, &charge);
    return DPF_OK;
}

/* ---- selections ---------------------------------------------------------------------------------- */

static dpf_status fill_candidate(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                                 int64_t n, int64_t index, const dpf_question *question,
                                 struct renyi_total *candidate)
{
    const dpf_status status = renyi_total_fill(host, list, events + index + 1, n, question, candidate);
    if (status == DPF_OK && candidate->log_keep < 0.0)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, &events[index], index,
                                "it has a release that fails with a delta of its own, which the theorems on "
                                "selections do not allow");
    return status;
}

/* Reads the SELECTION at *index and moves *index to its last event. */
static dpf_status add_selection(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                                int64_t n, int64_t *index, const dpf_question *question,
                                struct renyi_total *total)
{
    struct renyi_selection *selection = &total->selections[total->n_selections];
    dpf_status status = dpf_selection_read(host, events, *index, question, &selection->law);
    if (status != DPF_OK)
        return status;
    total->n_selections++; /* from here on it is freed with the total */
    selection->candidates =
        dpf_memory(host)->allocate(host, (uint64_t)selection->law.candidates * sizeof *selection->candidates);
    if (!selection->candidates)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < selection->law.candidates && status == DPF_OK; i++) {
        int64_t releases;
        status = dpf_selection_candidate(host, events, n, ++*index, &releases);
        if (status == DPF_OK)
            status =
                fill_candidate(host, list, events, releases, *index, question, &selection->candidates[i]);
        *index += releases;
        if (selection->candidates[i].unbounded && selection->law.copies > 0.0)
            total->unbounded = selection->candidates[i].unbounded;
    }
    return status == DPF_OK && !total->unbounded ? renyi_selection_prepare(host, list, selection) : status;
}

static int64_t count_selections(const dpf_event *events, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += events[i].kind == DPF_EVENT_SELECTION;
    return found;
}

/* ---- all ----------------------------------------------------------------------------------------- */

dpf_status renyi_total_fill(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                            int64_t n, const dpf_question *question, struct renyi_total *total)
{
    const dpf_memory_service *memory = dpf_memory(host);
    const uint64_t n_selections = (uint64_t)count_selections(events, n);
    total->charges = memory->allocate(host, (uint64_t)n * sizeof *total->charges);
    total->pbm = memory->allocate(host, (uint64_t)n * sizeof(*total->pbm));
    total->selections = memory->allocate(host, n_selections * sizeof *total->selections);
    dpf_status status = total->charges && total->pbm && total->selections
                            ? DPF_OK
                            : host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = events[i].kind == DPF_EVENT_SELECTION
                     ? add_selection(host, list, events, n, &i, question, total)
                     : add_event(host, events, i, question, total);
    return status == DPF_OK ? total_curves(host, question, total) : status;
}

void renyi_total_free(const dpf_host *host, struct renyi_total *total)
{
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; total->pbm && i < total->n; i++)
        renyi_pbm_free(host, total->pbm[i]);
    for (int64_t i = 0; i < total->n_selections; i++)
        renyi_selection_free(host, &total->selections[i]);
    memory->release(host, total->selections);
    memory->release(host, total->pbm);
    memory->release(host, total->charges);
}
