/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/consent.h"

#include <math.h>
#include <stdlib.h>

#include "base/terminal.h"
#include "base/text.h"
#include "engine/remote.h"

int consent_judge(const struct plan *plan, const struct config_values *consent, struct dpf_error *error)
{
    const dpf_value *v = consent->params.values;
    const struct guarantee *guarantee = &plan->guarantee;
    const struct term_plan *term = &plan->sides[remote_side(plan)].terms[0];
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
    if (term->noise.least_survivors < v[CONSENT_LEAST_PARTIES].integer)
        return config_error(
            plan->config, "consent", "least-parties", error,
            "this party asks for sums over %lld parties at least, and the run opens sums over "
            "%lld; nothing is sent",
            (long long)v[CONSENT_LEAST_PARTIES].integer, (long long)term->noise.least_survivors);
    return 0;
}

static void add_messages(struct text *text, const struct plan *plan, int width)
{
    const struct term_plan *term = &plan->sides[remote_side(plan)].terms[0];
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    struct text words = {0};
    text_add(
        &words,
        "In %lld rounds at most, once in each, it sends one message of %lld rows of %d integers: %s of its "
        "records, clipped, with the noise of mechanism %s. Before that, keys and shares of keys; after it, "
        "shares. Its records and its own factors stay here.",
        (long long)(term->participations ? term->participations : rounds), (long long)term->rows,
        term->sent.width, "the contribution", term->mechanism->entry->component->id);
    terminal_wrap(text, "What it sends: ", 15, words.data ? words.data : "", width);
    text_free(&words);
    text_add(
        &words,
        "the sum over all parties that take part in the round, and who they are. A sum over fewer than %lld "
        "gets no share from this party.",
        (long long)term->noise.least_survivors);
    terminal_wrap(text, "What the server learns: ", 24, words.data ? words.data : "", width);
    text_free(&words);
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

char *consent_statement(const struct plan *plan, const char *user, int64_t n_users, const char *address,
                        int insecure, int width)
{
    struct text text = {0};
    char *guarantee = guarantee_text_wide(&plan->guarantee, width);
    text_add(&text, "WHAT THIS PARTY TAKES PART IN\n\n");
    text_add(&text, "It is user \"%s\", one of %lld on the list; the server is %s.\n", user,
             (long long)n_users, address);
    if (insecure)
        text_add(
            &text,
            "INSECURE TEST: the noise follows from a seed that everybody knows. Nothing is protected.\n");
    add_messages(&text, plan, width);
    add_budget(&text, plan);
    text_add(&text, "\n%s", guarantee ? guarantee : "");
    free(guarantee);
    if (text.failed)
        text_free(&text);
    return text.data;
}
