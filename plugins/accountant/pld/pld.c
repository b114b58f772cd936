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
#include "dpframe/integer_noise.h"
#include "pld_compose.h"
#include "shift_mixes.h"

enum { P_TOLERANCE, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_TOLERANCE] =
        DPF_PARAM_REAL_F("tolerance", 2e-4, 1e-7, 1.0, DPF_PARAM_PRIVACY, "",
                         "The grid is refined until upper and lower bound are within this relative distance. "
                         "The bounds hold for any tolerance; a smaller one takes longer. The first grid "
                         "follows from it, from the losses and from the number of releases."),
};

struct pld {
    const dpf_host *host;
    double tolerance;
};

static dpf_status pld_create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct pld *pld = *self;
    pld->host = host;
    pld->tolerance = values->values[P_TOLERANCE].real;
    return DPF_OK;
}

/* ---- the ledger as groups ----------------------------------------------------------------------- */

/* What tables are made for, of the Poisson binomial mechanism or of coarse discrete Gaussian noise, and they.
 */
struct tables {
    double key[4];
    struct pld_table *above;
    struct pld_table *below; /* or NULL */
};

struct ledger {
    struct pld_group *groups;
    int64_t n;
    struct tables *tables;
    int64_t n_tables;
    struct concentrated concentrated; /* of all releases that are only known by such a bound */
    struct pld_table *curve;          /* and what it says */
    const char *unbounded;            /* why there is no finite epsilon, or NULL */
    double largest;                   /* sum of the largest finite losses, either direction */
    double log_kept;                  /* ln of 1 - mass at infinity */
};

static int same_pair(const struct pld_pair *a, const struct pld_pair *b)
{
    return a->shape == b->shape && a->size == b->size && a->step == b->step && a->steps == b->steps &&
           a->lost == b->lost && a->rate == b->rate && a->table == b->table;
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

/* ---- events ------------------------------------------------------------------------------------- */

/* The tables of a key that has been made before, or NULL. */
static struct tables *find_tables(const struct ledger *ledger, const double *key)
{
    for (int64_t i = 0; i < ledger->n_tables; i++)
        if (memcmp(ledger->tables[i].key, key, sizeof ledger->tables[i].key) == 0)
            return &ledger->tables[i];
    return NULL;
}

/* Takes the mixes, which may be NULL. NULL if memory runs out. */
static struct tables *make_tables(const struct pld *pld, struct pbm_mixes *mixes, const double *key,
                                  struct ledger *ledger)
{
    if (!mixes)
        return NULL;
    struct tables *tables = &ledger->tables[ledger->n_tables++]; /* whatever it has is freed with it */
    memcpy(tables->key, key, sizeof tables->key);
    tables->above = pld_table_pbm(pld->host, mixes);
    tables->below = tables->above && mixes->complete ? pld_table_pbm_mix(pld->host, mixes) : NULL;
    const int failed = !tables->above || (mixes->complete && !tables->below);
    pbm_mixes_free(pld->host, mixes);
    return failed ? NULL : tables;
}

/* Coordinates compose; that sampling hides the client is not proved, as the count of clients shows. */
static dpf_status add_clients(const struct pld *pld, const dpf_event *event, int64_t index,
                              const dpf_question *question, const dpf_charge *charge, struct ledger *ledger)
{
    const char *fault = pbm_question_fault(event, question);
    if (!fault && charge->p.pbm.trials > PBM_MOST_TRIALS)
        fault = pbm_parameters_fault(&charge->p);
    if (fault)
        return dpf_refuse_event(pld->host, DPF_E_UNSUPPORTED, event, index, fault);
    fault = pbm_parameters_fault(&charge->p);
    if (!fault && !(charge->copies * charge->p.pbm.coordinates < 1e15))
        fault = "it is repeated too often to be composed";
    if (fault)
        return dpf_refuse_event(pld->host, DPF_E_NUMERIC, event, index, fault);
    const double zero_out = question->adjacency == DPF_ADJ_ZERO_OUT;
    const double key[4] = {charge->p.pbm.theta, charge->p.pbm.trials, charge->p.pbm.clients, zero_out};
    const struct tables *tables = find_tables(ledger, key);
    if (!tables)
        tables = make_tables(pld,
                             pbm_mixes_new(pld->host, charge->p.pbm.theta, (int64_t)charge->p.pbm.trials,
                                           (int64_t)charge->p.pbm.clients, zero_out > 0.0),
                             key, ledger);
    if (!tables)
        return pld->host->fail(pld->host, DPF_E_MEMORY, -1, "out of memory");
    struct pld_group group = {.copies = charge->copies * charge->p.pbm.coordinates};
    group.above = pld_pair_points(tables->above);
    group.below = tables->below ? pld_pair_points(tables->below) : group.above;
    group.copies_below = tables->below ? group.copies : 0.0;
    ledger_add(ledger, &group);
    return DPF_OK;
}

/* Skellam noise of so few grid steps that no Gaussian pair dominates it. */
static int is_little_skellam(const dpf_charge *charge)
{
    return charge->kind == DPF_EVENT_SKELLAM &&
           isinf(dpf_skellam_shift(charge->p.skellam.variance / (charge->grid * charge->grid)));
}

/* Known by a bound alone; what a draw would change is not. */
static dpf_status add_concentrated(const struct pld *pld, const dpf_event *event, int64_t index,
                                   const dpf_charge *charge, struct ledger *ledger)
{
    struct concentrated one = {charge->p.zcdp.xi, charge->p.zcdp.rho};
    if (charge->kind == DPF_EVENT_SKELLAM)
        one = concentrated_skellam(charge->p.skellam.variance / (charge->grid * charge->grid),
                                   charge->l1 / charge->grid, charge->sensitivity / charge->grid);
    if (!(one.xi >= 0.0 && one.rho >= 0.0))
        return dpf_refuse_event(pld->host, DPF_E_NUMERIC, event, index,
                                "its xi or rho is negative or not a number");
    ledger->concentrated.xi += charge->copies * one.xi * (1.0 + 1e-13);
    ledger->concentrated.rho += charge->copies * one.rho * (1.0 + 1e-13);
    if (!isfinite(ledger->concentrated.xi + ledger->concentrated.rho) && !ledger->unbounded)
        ledger->unbounded = "the sum of xi or rho is not finite";
    return DPF_OK;
}

/* Discrete Gaussian noise on a grid so coarse that a Gaussian pair gives something away. */
static int is_coarse(const dpf_charge *charge)
{
    const double steps = charge->sensitivity / charge->grid, scale = charge->scale / charge->grid;
    return charge->kind == DPF_EVENT_DISCRETE_GAUSSIAN && charge->grid > 0.0 && scale < SHIFT_MOST_SCALE &&
           steps > 1.0 + 1e-9 && steps * steps * (1.0 + 1e-12) < SHIFT_MOST_SQUARE + 1.0 && charge->l1 >= 0.0;
}

static dpf_status add_coarse(const struct pld *pld, const dpf_charge *charge, struct ledger *ledger)
{
    const double steps = charge->sensitivity / charge->grid, scale = charge->scale / charge->grid;
    const double square = floor(steps * steps * (1.0 + 1e-12));
    const double l1 = fmax(fmin(floor(charge->l1 / charge->grid * (1.0 + 1e-12)), square), 1.0);
    const double key[4] = {-1.0, scale, square, l1};
    const struct tables *tables = find_tables(ledger, key);
    if (!tables)
        tables =
            make_tables(pld, shift_mixes_new(pld->host, scale, (int64_t)square, (int64_t)l1), key, ledger);
    if (!tables)
        return pld->host->fail(pld->host, DPF_E_MEMORY, -1, "out of memory");
    struct pld_group group = {.copies = charge->copies, .copies_below = charge->copies};
    group.above = pld_pair_points(tables->above);
    group.below = pld_pair_points(tables->below);
    group.above.rate = group.below.rate = charge->rate;
    ledger_add(ledger, &group);
    return DPF_OK;
}

static dpf_status add_pair(const struct pld *pld, const dpf_event *event, int64_t index,
                           const dpf_charge *charge, struct ledger *ledger)
{
    struct pld_group group;
    const char *fault = pld_pair_make(charge, 0, &group.above, &group.copies);
    if (!fault)
        fault = pld_pair_make(charge, 1, &group.below, &group.copies_below);
    if (!fault && !(group.copies < 1e15))
        fault = "it is repeated too often to be composed";
    if (fault) {
        const int known = (charge->kind >= DPF_EVENT_LAPLACE && charge->kind <= DPF_EVENT_APPROX &&
                           charge->kind != DPF_EVENT_DISCRETE_GAUSSIAN) ||
                          charge->kind == DPF_EVENT_RANDOMIZED_RESPONSE ||
                          charge->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
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

static dpf_status read_event(const struct pld *pld, const dpf_event *event, int64_t index,
                             const dpf_question *question, struct ledger *ledger)
{
    dpf_charge charge;
    const dpf_status status = dpf_charge_event(pld->host, event, index, question, &charge);
    if (status != DPF_OK)
        return status;
    if (charge.unbounded && !ledger->unbounded)
        ledger->unbounded = charge.reason;
    if (charge.unbounded || charge.copies == 0.0)
        return DPF_OK;
    if (charge.kind == DPF_EVENT_PBM)
        return add_clients(pld, event, index, question, &charge, ledger);
    if (charge.kind == DPF_EVENT_ZCDP || is_little_skellam(&charge))
        return add_concentrated(pld, event, index, &charge, ledger);
    const int one_block = (event->blocks & (event->blocks - 1)) == 0; /* several may have no grid in common */
    if (one_block && is_coarse(&charge) && charge.copies < 1e15)
        return add_coarse(pld, &charge, ledger);
    return add_pair(pld, event, index, &charge, ledger);
}

/* Releases known by one bound together, after all events are read. */
static dpf_status close_concentrated(const struct pld *pld, struct ledger *ledger)
{
    struct pld_group group = {.copies = 1.0};
    if (ledger->unbounded || (ledger->concentrated.xi == 0.0 && ledger->concentrated.rho == 0.0))
        return DPF_OK;
    if (ledger->concentrated.rho == 0.0) /* of every order: pure */
        group.above = (struct pld_pair){.shape = PLD_RESPONSE, .size = ledger->concentrated.xi, .rate = 1.0};
    else if ((ledger->curve = pld_table_concentrated(pld->host, &ledger->concentrated)) != NULL)
        group.above = pld_pair_points(ledger->curve);
    else
        return pld->host->fail(pld->host, DPF_E_MEMORY, -1, "out of memory");
    ledger_add(ledger, &group);
    return DPF_OK;
}

static void ledger_free(const dpf_host *host, struct ledger *ledger)
{
    for (int64_t i = 0; ledger->tables && i < ledger->n_tables; i++) {
        pld_table_free(host, ledger->tables[i].above);
        pld_table_free(host, ledger->tables[i].below);
    }
    pld_table_free(host, ledger->curve);
    dpf_memory(host)->release(host, ledger->tables);
    dpf_memory(host)->release(host, ledger->groups);
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void answer_start(const dpf_question *question, dpf_answer *answer)
{
    answer->at_grid_end = 0;
    answer->epsilon = INFINITY;
    answer->epsilon_lower = answer->order = NAN;
    answer->delta = question->delta;
    answer->source[0] = answer->note[0] = '\0';
    dpf_text_add(
        answer->source, sizeof answer->source,
        "privacy-loss distributions, tilted and composed by FFT; discretised as in Doroshenko et al. 2022");
}

static double raised(double x)
{
    return x > 0.0 ? x * (1.0 + 1e-12) : 0.0;
}

static dpf_status composed(const struct pld *pld, const struct ledger *ledger, const dpf_question *question,
                           int for_delta, struct pld_result *result)
{
    struct pld_problem problem = {pld->host, ledger->groups,    ledger->n,      pld->tolerance,
                                  for_delta, question->epsilon, question->delta};
    const dpf_status status = pld_compose(&problem, result);
    if (status == DPF_E_MEMORY)
        return pld->host->fail(pld->host, status, -1, "out of memory");
    if (status != DPF_OK || isnan(result->upper) || isnan(result->lower))
        return pld->host->fail(
            pld->host, DPF_E_NUMERIC, -1,
            "the composition of privacy losses could not be computed; choose another tolerance");
    return DPF_OK;
}

/* What remains where no finer grid is tried. */
static void note_gap(const struct pld_result *result, dpf_answer *answer)
{
    const double gap = (result->upper - result->lower) / result->upper;
    if (!result->capped || !(gap > 1e-3) || isinf(result->upper))
        return;
    const int64_t parts = (int64_t)ceil(gap * 1e4); /* of a hundredth of a percent */
    dpf_text_add(answer->note, sizeof answer->note, "the bound from below is ");
    dpf_text_add_count(answer->note, sizeof answer->note, parts / 100);
    dpf_text_add(answer->note, sizeof answer->note, parts % 100 < 10 ? ".0" : ".");
    dpf_text_add_count(answer->note, sizeof answer->note, parts % 100);
    dpf_text_add(answer->note, sizeof answer->note,
                 " % lower, more than [accountants.pld] tolerance: the grid is as fine as it gets");
}

/* Beyond the sum of all largest losses only the mass at infinity is left. */
static dpf_status solve_epsilon(const struct pld *pld, const struct ledger *ledger,
                                const dpf_question *question, dpf_answer *answer)
{
    struct pld_result result = {INFINITY, 0.0, 0};
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
        note_gap(&result, answer);
    }
    answer->epsilon = raised(result.upper);
    if (question->delta >= lost && raised(ledger->largest) < answer->epsilon)
        answer->epsilon = raised(ledger->largest);
    if (answer->epsilon_lower > answer->epsilon)
        answer->epsilon_lower = answer->epsilon;
    if (isinf(answer->epsilon))
        dpf_text_add(answer->note, sizeof answer->note,
                     question->delta < lost   ? "approximate releases use up more than the whole delta"
                     : question->delta == 0.0 ? "this noise needs a delta above 0"
                                              : "errors of the computation are larger than this delta");
    return DPF_OK;
}

static dpf_status solve_delta(const struct pld *pld, const struct ledger *ledger,
                              const dpf_question *question, dpf_answer *answer)
{
    struct pld_result result = {0.0, 0.0, 0};
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
    struct ledger ledger = {.n = 0};
    dpf_status status = DPF_OK;
    answer_start(question, answer);
    ledger.groups = memory->allocate(pld->host, (uint64_t)(n + 1) * sizeof *ledger.groups);
    ledger.tables = memory->allocate(pld->host, (uint64_t)n * sizeof *ledger.tables);
    if (!ledger.groups || !ledger.tables)
        status = pld->host->fail(pld->host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = read_event(pld, &events[i], i, question, &ledger);
    if (status == DPF_OK)
        status = close_concentrated(pld, &ledger);
    if (status == DPF_OK && ledger.unbounded) {
        dpf_text_add(answer->note, sizeof answer->note, ledger.unbounded);
        answer->delta = solve == solve_delta ? 1.0 : question->delta;
        answer->epsilon = solve == solve_delta ? question->epsilon : INFINITY;
    } else if (status == DPF_OK) {
        status = solve(pld, &ledger, question, answer);
    }
    ledger_free(pld->host, &ledger);
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

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "pld", .version = "1.0.0",
    .summary = "Privacy-loss distributions: the tightest, with a bound from below beside the one from above",
    .citation = "Sommer, Meiser, Mohammadi, PoPETs 2019; Koskela, Jaelkoe, Honkela, arXiv 1906.03049; Gopi, "
                "Lee, Wutschitz, arXiv 2106.02848; Doroshenko et al., arXiv 2207.04380",
    DPF_PARAMS(params), .create = pld_create, .instance_bytes = sizeof(struct pld))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.pld", "1.0.0", "Apache-2.0", component)
