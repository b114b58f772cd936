/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld.c - accounting by privacy-loss distributions.
 *
 * Each release has a dominating pair (pld_pair.h); its loss is put on a grid from above and from below
 * (pld_grid.h) and composed by FFT (pld_compose.h). The answer is the bound from above; the one from below
 * tells how much the accounting gives away, for releases whose units do reach the stated sensitivities.
 * Gaussian releases without sampling are one Gaussian release: their squared multipliers add.
 */
#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"
#include "pld_compose.h"

enum { P_GRID, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_GRID] = DPF_PARAM_REAL_F("grid", 1e-4, 1e-9, 1.0, DPF_PARAM_PRIVACY, "",
                                "Largest distance of the privacy losses that are told apart. The bounds hold "
                                "for any; a smaller one brings them closer and takes longer. It becomes "
                                "smaller by itself where losses are small."),
};

struct pld {
    const dpf_host *host;
    double grid;
};

static dpf_status pld_create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct pld *pld = dpf_memory(host)->allocate(host, sizeof *pld);
    if (!pld)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    pld->host = host;
    pld->grid = values->values[P_GRID].real;
    *self = pld;
    return DPF_OK;
}

static void pld_destroy(void *self)
{
    const dpf_host *host = ((struct pld *)self)->host;
    dpf_memory(host)->release(host, self);
}

/* ---- the ledger as groups ----------------------------------------------------------------------- */

struct ledger {
    struct pld_group *groups;
    int64_t n;
    const char *unbounded; /* why there is no finite epsilon, or NULL */
    double largest;        /* sum of the largest finite losses, either direction */
    double log_kept;       /* ln of 1 - mass at infinity */
};

static int same_pair(const struct pld_pair *a, const struct pld_pair *b)
{
    return a->shape == b->shape && a->size == b->size && a->step == b->step && a->steps == b->steps &&
           a->lost == b->lost && a->rate == b->rate;
}

static int is_whole_gaussian(const struct pld_pair *pair)
{
    return pair->shape == PLD_GAUSSIAN && pair->rate >= 1.0;
}

/* Gaussians without a draw become one, in either bound. */
static int merge_gaussian(struct pld_group *into, const struct pld_group *group)
{
    if (!is_whole_gaussian(&into->above) || !is_whole_gaussian(&group->above))
        return 0;
    const double above = into->above.size, more = group->above.size;
    into->above.size = sqrt(above * above + group->copies * more * more) * (1.0 + 1e-14);
    const double below = into->copies_below > 0.0 ? into->below.size : 0.0;
    const double less = group->below.size;
    into->below = group->copies_below > 0.0 ? group->below : into->below;
    into->below.size = sqrt(below * below + group->copies_below * less * less) * (1.0 - 1e-14);
    into->copies_below = into->below.size > 0.0;
    into->below = into->copies_below > 0.0 ? into->below : into->above;
    return 1;
}

static void ledger_add(struct ledger *ledger, struct pld_group *group)
{
    double largest = 0.0;
    for (int adding = 0; adding <= 1; adding++) {
        group->above.adding = adding;
        const double one = pld_pair_largest(&group->above);
        largest = one > largest ? one : largest;
    }
    group->above.adding = 0;
    if (group->copies_below == 0.0)
        group->below = group->above; /* anything: it counts zero times */
    ledger->largest += group->copies * largest;
    ledger->log_kept += group->copies * log1p(-pld_pair_infinite(&group->above));
    for (int64_t i = 0; i < ledger->n; i++) {
        struct pld_group *old = &ledger->groups[i];
        if (merge_gaussian(old, group))
            return;
        if (same_pair(&old->above, &group->above) && same_pair(&old->below, &group->below)) {
            old->copies += group->copies;
            old->copies_below += group->copies_below;
            return;
        }
    }
    if (is_whole_gaussian(&group->above)) {
        group->above.size *= sqrt(group->copies) * (1.0 + 1e-14);
        group->below.size *= sqrt(group->copies_below) * (1.0 - 1e-14);
        group->copies = 1.0;
        group->copies_below = group->below.size > 0.0;
        group->below = group->copies_below > 0.0 ? group->below : group->above;
    }
    ledger->groups[ledger->n++] = *group;
}

static dpf_status read_event(const struct pld *pld, const dpf_event *event, int64_t index,
                             const dpf_question *question, struct ledger *ledger)
{
    dpf_charge charge;
    struct pld_group group;
    const dpf_status status = dpf_charge_event(pld->host, event, index, question, &charge);
    if (status != DPF_OK)
        return status;
    if (charge.unbounded && !ledger->unbounded)
        ledger->unbounded = charge.reason;
    if (charge.unbounded || charge.copies == 0.0)
        return DPF_OK;
    const char *fault = pld_pair_make(&charge, 0, &group.above, &group.copies);
    if (!fault)
        fault = pld_pair_make(&charge, 1, &group.below, &group.copies_below);
    if (!fault && !(group.copies < 1e15))
        fault = "it is repeated too often to be composed";
    if (fault) {
        const int known = (charge.kind >= DPF_EVENT_LAPLACE && charge.kind <= DPF_EVENT_APPROX &&
                           charge.kind != DPF_EVENT_DISCRETE_GAUSSIAN) ||
                          charge.kind == DPF_EVENT_RANDOMIZED_RESPONSE;
        return dpf_refuse_event(pld->host, known ? DPF_E_NUMERIC : DPF_E_UNSUPPORTED, event, index, fault);
    }
    if (isinf(group.above.size) || group.above.lost >= 1.0) {
        ledger->unbounded = "a release has no finite epsilon";
        return DPF_OK;
    }
    if (group.above.size > 0.0 || group.above.shape == PLD_DISCRETE_GAUSSIAN || group.above.lost > 0.0)
        ledger_add(ledger, &group);
    return DPF_OK;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void answer_start(const dpf_question *question, dpf_answer *answer)
{
    answer->at_grid_end = 0;
    answer->epsilon = INFINITY;
    answer->epsilon_lower = answer->order = NAN;
    answer->delta = question->delta;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(answer->source, sizeof answer->source,
                 "privacy-loss distributions, composed by FFT; discretised as in Doroshenko et al. 2022");
}

static double raised(double x)
{
    return x > 0.0 ? x * (1.0 + 1e-12) : 0.0;
}

static dpf_status composed(const struct pld *pld, const struct ledger *ledger, const dpf_question *question,
                           int for_delta, struct pld_result *result)
{
    struct pld_problem problem = {pld->host, ledger->groups,    ledger->n,      pld->grid,
                                  for_delta, question->epsilon, question->delta};
    const dpf_status status = pld_compose(&problem, result);
    if (status == DPF_E_MEMORY)
        return pld->host->fail(pld->host, status, -1, "out of memory");
    if (status != DPF_OK || isnan(result->upper) || isnan(result->lower))
        return pld->host->fail(
            pld->host, DPF_E_NUMERIC, -1,
            "the composition of privacy losses could not be computed; choose another grid");
    return DPF_OK;
}

/* Beyond the sum of all largest losses only the mass at infinity is left. */
static dpf_status solve_epsilon(const struct pld *pld, const struct ledger *ledger,
                                const dpf_question *question, dpf_answer *answer)
{
    struct pld_result result = {INFINITY, 0.0, 0.0};
    const double lost = raised(-expm1(ledger->log_kept));
    if (ledger->n == 0) {
        answer->epsilon = answer->epsilon_lower = 0.0;
        return DPF_OK;
    }
    if (question->delta > lost && ledger->largest > 0.0) {
        const dpf_status status = composed(pld, ledger, question, 0, &result);
        if (status != DPF_OK)
            return status;
        answer->epsilon_lower = result.lower;
    }
    answer->epsilon = raised(result.upper);
    if (question->delta >= lost && raised(ledger->largest) < answer->epsilon)
        answer->epsilon = raised(ledger->largest);
    if (answer->epsilon_lower > answer->epsilon)
        answer->epsilon_lower = answer->epsilon;
    if (isinf(answer->epsilon))
        dpf_text_add(answer->note, sizeof answer->note,
                     question->delta < lost ? "approximate releases use up more than the whole delta"
                                            : "this noise needs a delta above 0");
    return DPF_OK;
}

static dpf_status solve_delta(const struct pld *pld, const struct ledger *ledger,
                              const dpf_question *question, dpf_answer *answer)
{
    struct pld_result result = {0.0, 0.0, 0.0};
    answer->epsilon = question->epsilon;
    answer->delta = ledger->n > 0 ? raised(-expm1(ledger->log_kept)) : 0.0;
    if (ledger->n == 0 || question->epsilon >= raised(ledger->largest))
        return DPF_OK;
    const dpf_status status = composed(pld, ledger, question, 1, &result);
    if (status != DPF_OK)
        return status;
    /* No finite loss x is above the sum of all largest, and 1 - e^{epsilon-x} grows in x. */
    const double end = answer->delta - expm1(question->epsilon - raised(ledger->largest));
    const double delta = raised(result.upper) < end ? raised(result.upper) : end;
    answer->delta = delta < 1.0 ? delta : 1.0;
    return DPF_OK;
}

typedef dpf_status (*solver)(const struct pld *, const struct ledger *, const dpf_question *, dpf_answer *);

static dpf_status account(const struct pld *pld, const dpf_event *events, int64_t n,
                          const dpf_question *question, dpf_answer *answer, solver solve)
{
    const dpf_memory_service *memory = dpf_memory(pld->host);
    struct ledger ledger = {NULL, 0, NULL, 0.0, 0.0};
    dpf_status status = DPF_OK;
    answer_start(question, answer);
    ledger.groups = memory->allocate(pld->host, (uint64_t)n * sizeof *ledger.groups);
    if (!ledger.groups)
        return pld->host->fail(pld->host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = read_event(pld, &events[i], i, question, &ledger);
    if (status == DPF_OK && ledger.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, ledger.unbounded);
        answer->delta = solve == solve_delta ? 1.0 : question->delta;
        answer->epsilon = solve == solve_delta ? question->epsilon : INFINITY;
    } else if (status == DPF_OK) {
        status = solve(pld, &ledger, question, answer);
    }
    memory->release(pld->host, ledger.groups);
    return status;
}

static dpf_status pld_epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                              dpf_answer *answer)
{
    const struct pld *pld = self;
    if (!(question->delta >= 0.0 && question->delta < 1.0))
        return pld->host->fail(pld->host, DPF_E_RANGE, -1, "delta must be in [0, 1)");
    return account(pld, events, n, question, answer, solve_epsilon);
}

static dpf_status pld_delta(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                            dpf_answer *answer)
{
    const struct pld *pld = self;
    if (!(question->epsilon >= 0.0))
        return pld->host->fail(pld->host, DPF_E_RANGE, -1, "epsilon must be at least 0");
    return account(pld, events, n, question, answer, solve_delta);
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_PROOF,
    .epsilon = pld_epsilon,
    .delta = pld_delta,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_ACCOUNTANT,
    .id = "pld",
    .version = "1.0.0",
    .summary = "Privacy-loss distributions: the tightest, with a bound from below beside the one from above",
    .citation = "Sommer, Meiser, Mohammadi, PoPETs 2019; Koskela, Jaelkoe, Honkela, arXiv 1906.03049; Gopi, "
                "Lee, Wutschitz, arXiv 2106.02848; Doroshenko et al., arXiv 2207.04380",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = pld_create,
    .destroy = pld_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.pld", "1.0.0", "Apache-2.0", component)
