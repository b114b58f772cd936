/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/consent.h"

#include <math.h>
#include <stdlib.h>

#include "base/terminal.h"
#include "base/text.h"
#include "engine/remote.h"

static int is_site(const struct plan *plan)
{
    return plan->parties.params.values[PARTIES_KIND].integer == PARTIES_SILOS_BY_USERS;
}

/* A sum of fewer messages is not opened; 0: the server sees each message, and its noise does not rest on others. */
static int64_t least_parties(const struct plan *plan)
{
    const struct remote_sum sum = remote_sum(plan);
    const dpf_aggregator *aggregator = sum.aggregator->functions;
    dpf_aggregator_limits limits = {.size = sizeof limits, .parties = 1};
    if (aggregator->sees != DPF_SEES_SUM)
        return 0;
    if (aggregator->limits)
        aggregator->limits(sum.aggregator->self, plan->n_users, &limits);
    int64_t least = limits.survivors > 2 ? limits.survivors : 2;
    return sum.least_survivors > least ? sum.least_survivors : least;
}

int consent_judge(const struct plan *plan, const struct config_values *consent, struct dpf_error *error)
{
    const dpf_value *v = consent->params.values;
    const struct guarantee *guarantee = &plan->guarantee;
    const int64_t least = least_parties(plan);
    if (v[CONSENT_UNIT].integer == CONSENT_USER && guarantee->unit != DPF_UNIT_USER)
        return config_error(
            plan->config, "consent", "unit", error,
            "this party asks for the protection of all its records together, and the run protects "
            "single records ([privacy] unit); nothing is sent");
    if (v[CONSENT_OBSERVER].integer > guarantee->observer)
        return config_error(
            plan->config, "consent", "observer", error,
            "this party asks for a guarantee against %s, and the run states one against %s "
            "([privacy] observer); nothing is sent",
            v[CONSENT_OBSERVER].integer == CONSENT_PARTIES ? "the server and other parties" : "the server",
            guarantee->observer == DPF_OBSERVER_OUTSIDER ? "outsiders alone" : "the server alone");
    if (least > 0 && least < v[CONSENT_LEAST_PARTIES].integer)
        return config_error(
            plan->config, "consent", "least-parties", error,
            "this party asks for sums over %lld parties at least, and the run opens sums over "
            "%lld; nothing is sent",
            (long long)v[CONSENT_LEAST_PARTIES].integer, (long long)least);
    return 0;
}

static void add_learnt(struct text *text, const struct plan *plan, int width)
{
    const int64_t least = least_parties(plan);
    struct text words = {0};
    if (least > 0)
        text_add(&words,
                 "the sum over all parties that take part in the round, and who they are. A sum over fewer "
                 "than %lld "
                 "gets no share from this party.",
                 (long long)least);
    else
        text_add(&words, "each message as it is, and from whom.");
    terminal_wrap(text, "What the server learns: ", 24, words.data ? words.data : "", width);
    text_free(&words);
}

static void add_term(struct text *words, const struct plan *plan, const struct term_plan *term)
{
    const char *mechanism = term->mechanism->entry->component->id;
    text_add(words,
             "In %lld rounds at most, once in each, it sends one message of %lld rows of %d integers: ",
             (long long)(term->participations ? term->participations : remote_rounds(plan)),
             (long long)term->rows, remote_solves(plan) ? (int)term->query.dimension : (int)term->sent.width);
    if (remote_solves(plan))
        text_add(
            words,
            "item rows that it has solved from queries over its records, to which it has added the noise of "
            "mechanism %s. Its records and its users' factors stay here.",
            mechanism);
    else
        text_add(words,
                 "the contribution of its records, clipped, with %s mechanism %s. Its records and its own "
                 "factors stay "
                 "here.",
                 term->noise.where == DPF_NOISE_AT_SUM || term->noise.where == DPF_NOISE_NOWHERE
                     ? "no noise; the server is trusted to add that of"
                     : "the noise of",
                 mechanism);
}

static void add_releases(struct text *words, const struct plan *plan)
{
    const struct recommender_plan *component = &plan->recommender;
    text_add(words,
             "In %lld rounds, once in each, it sends one message of integers, its part of these sums: ",
             (long long)remote_rounds(plan));
    for (int32_t i = 0; i < component->n_releases; i++) {
        const dpf_recommender_release *release = &component->releases[i];
        text_add(words, "%s%s", i ? "; " : "", release->name);
        if (release->event.count > 1)
            text_add(words, " (%lld times)", (long long)release->event.count);
    }
    text_add(words, ". Each has this party's share of the noise. Its records stay here.");
}

static void add_messages(struct text *text, const struct plan *plan, int width)
{
    const struct term_plan *term = remote_sum(plan).term;
    struct text words = {0};
    if (term)
        add_term(&words, plan, term);
    else
        add_releases(&words, plan);
    if (least_parties(plan) > 0)
        text_add(&words, " Before a message, keys and shares of keys; after it, shares.");
    if (plan_has(plan, MODEL_HAS_ROUNDS))
        text_add(&words,
                 " If the server stops and continues, it may ask for the message of one round again: this "
                 "party sends another one, with new noise, if it can pay for a round more.");
    terminal_wrap(text, "What it sends: ", 15, words.data ? words.data : "", width);
    text_free(&words);
    add_learnt(text, plan, width);
}

static void add_budget(struct text *text, const struct plan *plan)
{
    const struct data_budget *budget = &plan->guarantee.budget;
    char own[32], all[32], most[32];
    if (!budget->known)
        return;
    text_add(text,
             "This run: epsilon %s at delta %g. All runs that this party has joined, with it: %s at delta %g",
             guarantee_number_up(budget->own_epsilon, own), budget->own_delta,
             guarantee_number_up(budget->epsilon + budget->own_epsilon, all),
             budget->delta + budget->own_delta);
    if (budget->most > 0)
        text_add(text, ", of %s that it allows", guarantee_number_up(budget->most, most));
    text_add(text, ".\n");
}

char *consent_statement(const struct plan *plan, const char *name, int64_t n_parties, const char *address,
                        int insecure, int width)
{
    struct text text = {0};
    char *guarantee = guarantee_text_wide(&plan->guarantee, width);
    text_add(&text, "WHAT THIS PARTY TAKES PART IN\n\n");
    text_add(&text, "It is %s \"%s\", one of %lld on the list; the server is %s.\n",
             is_site(plan) ? "site" : "user", name, (long long)n_parties, address);
    if (is_site(plan))
        terminal_wrap(&text, "", 0,
                      "A user must be at one site only: each site makes noise and counts epsilon for its own "
                      "records, so a user of two sites spends the epsilon of both.",
                      width);
    if (insecure)
        text_add(
            &text,
            "INSECURE TEST: the noise follows from a seed that everybody knows. Nothing is protected.\n");
    if (!plan->guarantee.run_holds && !insecure)
        text_add(&text, "NOTHING IS PROVED OF THIS RUN: this party takes part all the same ([consent] proved "
                        "= no), and no "
                        "ledger counts it.\n");
    add_messages(&text, plan, width);
    add_budget(&text, plan);
    text_add(&text, "\n%s", guarantee ? guarantee : "");
    free(guarantee);
    return text.data;
}
