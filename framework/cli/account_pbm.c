/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_pbm.c - dpframe account --choose-pbm EPSILON: theta, q and p for a target.
 *
 * For each number of rows p of the projection, if there is one, theta and q follow from the target by the
 * accountant (choose_pbm.h), over the coordinates that the configured chain really sends: padding counts.
 * Among them p is that of the smallest bound on the error of a released gradient, Eq. 25 of DPMF-RP,
 *     2 m / p |grad V|^2 + m k Delta_1^2 / (4 n q theta^2),
 * n clients in a sum, with Eq. 41's bound n m Delta_1^2 / 4 for |grad V|^2. Delta_1 then is a common factor.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/command.h"
#include "plan/calibrate.h"
#include "privacy/choose_pbm.h"
#include "plan/plan_make.h"

#define MOST_CANDIDATES 40
#define ORDER 2.0 /* alpha at which the paper's theory is evaluated: that of its tables */

struct candidate {
    int64_t p;
    double coordinates;
    struct pbm_choice choice;
    double error; /* Eq. 25 over Delta_1^2; infinity where the target is not met */
};

struct choosing {
    const struct arguments *arguments;
    struct session *session;
    struct instance *accountant;
    double target;
    char key[160]; /* of p: "items.transform.sparse-projection.rows"; "" without a projection */
    double m, k, cohort;
    struct candidate list[MOST_CANDIDATES];
    int n, best; /* best: -1 if no candidate meets the target */
};

/* The side whose release is the mechanism's, by its name. */
static const struct side_plan *side_of(const struct plan *plan)
{
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++) {
            const struct instance *mechanism = plan->sides[side].terms[t].mechanism;
            if (mechanism && strcmp(mechanism->entry->component->id, "pbm") == 0)
                return &plan->sides[side];
        }
    return NULL;
}

static int describe_release(struct choosing *c, struct dpf_error *error)
{
    const struct plan *plan = &c->session->plan;
    const struct side_plan *side = side_of(plan);
    if (plan->privacy.params.values[PRIVACY_BUDGET].integer == BUDGET_TOTAL)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[privacy] budget = total chooses theta by itself; set budget = per-release to have "
                         "theta, q and p chosen");
    if (!side || !pbm_event(&plan->ledger))
        return error_set(error, DPF_FAULT_CONFIG,
                         "no release of the configuration uses mechanism pbm: there is nothing to choose");
    if (!plan->sizes_known)
        return error_set(error, DPF_FAULT_CONFIG,
                         "the numbers of users and items are not known; declare [model] users and items");
    const struct term_plan *term = &side->terms[0];
    c->m = (double)(side->side == DPF_SIDE_ITEMS ? plan->n_items : plan->n_users);
    c->k = (double)term->query.width;
    c->cohort = (double)plan->n_users;
    if (term->sampling.kind != DPF_SAMPLING_NONE && term->sampling.rate > 0)
        c->cohort *= term->sampling.rate;
    if (side->state_transform)
        snprintf(c->key, sizeof c->key, "%s.transform.%s.rows", term->name,
                 side->state_transform->entry->component->id);
    return 0;
}

/* theta and q for a plan with p rows. */
static int judge(struct choosing *c, const struct plan *plan, int64_t p, struct dpf_error *error)
{
    struct candidate *candidate = &c->list[c->n++];
    candidate->p = p;
    candidate->coordinates = pbm_event(&plan->ledger)->p.pbm.coordinates;
    if (pbm_choose(&plan->guarantee, c->accountant, &plan->ledger,
                   plan->run.params.values[RUN_ROUNDS].integer, c->target, &candidate->choice, error) != 0)
        return -1;
    const double theta = candidate->choice.theta, q = (double)candidate->choice.trials;
    candidate->error = theta > 0 ? c->m * c->m * c->cohort / (2 * (double)p) +
                                       c->m * c->k / (4 * c->cohort * q * theta * theta)
                                 : INFINITY;
    if (isfinite(candidate->error) && (c->best < 0 || candidate->error < c->list[c->best].error))
        c->best = c->n - 1;
    return 0;
}

/* The same configuration with p rows: transforms may pad what they are given. */
static int judge_rows(struct choosing *c, int64_t p, struct dpf_error *error)
{
    const struct plan *configured = &c->session->plan;
    struct arguments arguments = *c->arguments;
    struct session session = {0};
    char setting[200];
    if (arguments.n_overrides == MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many -o for --choose-pbm to add one");
    snprintf(setting, sizeof setting, "%s=%lld", c->key, (long long)p);
    arguments.overrides[arguments.n_overrides++] = setting;
    /* What there is to warn about has been said of the configuration itself. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    int status = session_open(&session, &arguments, 0, error);
    if (status == 0)
        status = plan_complete(&session.plan, configured->n_users, configured->n_items, error);
    if (status == 0)
        status = judge(c, &session.plan, p, error);
    session_close(&session);
    log_set_level(level);
    return status;
}

/* All rows, the configured number of them, and powers of two, which flattening need not pad. */
static int judge_all(struct choosing *c, struct dpf_error *error)
{
    const struct plan *plan = &c->session->plan;
    const int64_t m = (int64_t)c->m, configured = side_of(plan)->state_rows;
    int64_t rows[MOST_CANDIDATES];
    int n = 0, status = 0;
    if (!c->key[0])
        return judge(c, plan, m, error);
    rows[n++] = m;
    if (configured < m)
        rows[n++] = configured;
    for (int64_t p = 1; p < m && n < MOST_CANDIDATES; p *= 2)
        if (p >= 8 && p != configured)
            rows[n++] = p;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && rows[j] > rows[j - 1]; j--) {
            const int64_t swap = rows[j];
            rows[j] = rows[j - 1];
            rows[j - 1] = swap;
        }
    for (int i = 0; i < n && status == 0; i++)
        status = judge_rows(c, rows[i], error);
    return status;
}

/* ---- what the paper says ------------------------------------------------------------------------- */

/* Theorem 5.4 without its constant. */
static double theorem_rows(const struct choosing *c)
{
    return c->cohort * sqrt(c->cohort * c->m * c->target) / (c->k * sqrt(ORDER));
}

/* Eq. 40 with Eq. 41's bound, times sqrt(C_0). */
static double equation_rows(const struct choosing *c, double theta)
{
    return sqrt(8 * c->cohort * c->cohort * c->target * pow(1 - 2 * theta, 4) * (ORDER - 1) *
                (c->cohort * c->m / 4) / (c->k * c->k * ORDER * ORDER));
}

static const char left_out[] =
    "C_0 is not given; epsilon is a Renyi budget at order alpha and has to exceed 1; q is taken as a real\n"
    "number; padding and the clip to c are not counted; the gradient's norm is replaced by its bound (Eq. "
    "41)";

/* ---- output -------------------------------------------------------------------------------------- */

static int bits_of(const struct choosing *c, const struct candidate *candidate)
{
    const double modulus = (double)c->session->plan.n_users * (double)candidate->choice.trials + 1;
    return (int)ceil(log2(modulus));
}

static void print_candidates(const struct choosing *c)
{
    printf("    %6s  %11s  %10s  %6s  %4s  %12s  %9s  %9s\n", "p", "coordinates", "theta", "q", "bits",
           "bytes", "epsilon", "error");
    for (int i = 0; i < c->n; i++) {
        const struct candidate *candidate = &c->list[i];
        printf("%3s %6lld  %11.0f  ", i == c->best ? "*" : "", (long long)candidate->p,
               candidate->coordinates);
        if (!(candidate->choice.theta > 0)) {
            printf("%10s\n", "none");
            continue;
        }
        const int bits = bits_of(c, candidate);
        printf("%10.4g  %6lld  %4d  %12.0f  %9.4g  %9.3g\n", candidate->choice.theta,
               (long long)candidate->choice.trials, bits, ceil(candidate->coordinates * bits / 8),
               candidate->choice.epsilon, candidate->error);
    }
}

static void print_text(const struct choosing *c)
{
    const struct plan *plan = &c->session->plan;
    const dpf_event *event = pbm_event(&plan->ledger);
    printf("POISSON BINOMIAL MECHANISM FOR EPSILON = %g, DELTA = %g\n\n", c->target, plan->guarantee.delta);
    printf(
        "Accountant %s, over all %lld rounds of the run; at least %.0f honest clients in a sum.\n"
        "theta is the largest for q = 1; where that is 1/4, q is the largest (section 4.3.1 of DPMF-RP, by\n"
        "composition in place of its formula). bits: of a number modulo n q + 1. bytes: of a message.\n"
        "error: bound of Eq. 25 over Delta_1^2; * has the smallest.\n\n",
        c->accountant->entry->component->id, (long long)plan->run.params.values[RUN_ROUNDS].integer,
        event->p.pbm.clients);
    print_candidates(c);
    if (!plan->guarantee.plan_holds)
        printf("\n"
               "This is not a guarantee: conditions of the plan fail; see dpframe account without "
               "--choose-pbm.\n");
    printf("\nTHEORY OF THE PAPER (not a guarantee), alpha = %g\n\n"
           "Theorem 5.4  p = %.4g times an unknown constant\n",
           ORDER, theorem_rows(c));
    if (c->best >= 0)
        printf("Eq. 40       p = %.4g / sqrt(C_0), at theta = %.4g\n",
               equation_rows(c, c->list[c->best].choice.theta), c->list[c->best].choice.theta);
    printf("What it leaves out:\n%s.\n", left_out);
}

static json_t *candidate_json(const struct choosing *c, const struct candidate *candidate)
{
    if (!(candidate->choice.theta > 0))
        return json_pack("{s:I, s:f, s:n}", "rows", (json_int_t)candidate->p, "coordinates",
                         candidate->coordinates, "theta");
    return json_pack("{s:I, s:f, s:f, s:I, s:i, s:f, s:f}", "rows", (json_int_t)candidate->p, "coordinates",
                     candidate->coordinates, "theta", candidate->choice.theta, "trials",
                     (json_int_t)candidate->choice.trials, "bits", bits_of(c, candidate), "epsilon",
                     candidate->choice.epsilon, "error", candidate->error);
}

static void print_json(const struct choosing *c)
{
    const struct plan *plan = &c->session->plan;
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++)
        json_array_append_new(list, candidate_json(c, &c->list[i]));
    json_t *theory = json_pack("{s:f, s:f, s:s}", "alpha", ORDER, "theorem_5_4_without_constant",
                               theorem_rows(c), "left_out", left_out);
    if (c->best >= 0)
        json_object_set_new(theory, "eq_40_times_sqrt_c0",
                            json_real(equation_rows(c, c->list[c->best].choice.theta)));
    json_t *all = json_pack("{s:f, s:f, s:s, s:b, s:f, s:o, s:o, s:o}", "target_epsilon", c->target, "delta",
                            plan->guarantee.delta, "accountant", c->accountant->entry->component->id,
                            "plan_holds", plan->guarantee.plan_holds, "clients",
                            pbm_event(&plan->ledger)->p.pbm.clients, "candidates", list, "chosen",
                            c->best >= 0 ? json_integer(c->best) : json_null(), "theory", theory);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(all);
}

int account_choose_pbm(const struct arguments *arguments, struct session *session, const char *target,
                       struct dpf_error *error)
{
    char *end;
    struct choosing c = {.arguments = arguments, .session = session, .best = -1};
    c.target = strtod(target, &end);
    if (*end || end == target || !(c.target > 0 && c.target < INFINITY))
        return error_set(error, DPF_FAULT_CONFIG, "--choose-pbm needs an epsilon above 0, not \"%s\"",
                         target);
    if (describe_release(&c, error) != 0)
        return -1;
    c.accountant = calibrate_accountant(&session->plan, "--choose-pbm", error);
    if (!c.accountant || judge_all(&c, error) != 0)
        return -1;
    if (arguments->json)
        print_json(&c);
    else
        print_text(&c);
    return 0;
}
