/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/charge.h"

#include "plan/facts.h"
#include "privacy/data_ledger.h"
#include "reading/input_facts.h"

/* What is declared to be public that the adjacency would protect: neighbours that differ in it are pairs of
   which the run promises nothing. */
static const char *declared_public(const struct plan *plan)
{
    static const char *const names[] = {"", "id-lists", "interaction-pattern",
                                        "id-lists, interaction-pattern"};
    const dpf_value *v = plan->privacy.params.values;
    const int adjacency = plan->guarantee.adjacency;
    const int lists = v[PRIVACY_ID_LISTS].integer == 1 && adjacency != DPF_ADJ_REPLACE_VALUE;
    const int pattern = v[PRIVACY_INTERACTION_PATTERN].integer == 1 && adjacency == DPF_ADJ_ZERO_OUT;
    return names[lists + 2 * pattern];
}

static int charge_ledger(struct plan *plan, const struct guarantee *guarantee, const struct ledger *ledger,
                         const struct data_ledger_resumption *resumption, int charge, struct dpf_error *error)
{
    const dpf_value *v = plan->privacy.params.values;
    struct fact_question question;
    facts_question(plan, &question);
    const struct data_ledger_request request = {.privacy = &plan->privacy,
                                                .path = v[PRIVACY_LEDGER].text,
                                                .most = v[PRIVACY_MAX_EPSILON].real,
                                                .planned = v[PRIVACY_LEDGER_RUNS].integer == 1,
                                                .guarantee = guarantee,
                                                .ledger = ledger,
                                                .accountants = plan->accountants,
                                                .n_accountants = plan->n_accountants,
                                                .declared = declared_public(plan),
                                                .users = input_list_source(DPF_SIDE_USERS, &question),
                                                .items = input_list_source(DPF_SIDE_ITEMS, &question),
                                                .name = config_path(plan->config),
                                                .charge = charge,
                                                .is_party = plan->is_party,
                                                .resumption = resumption};
    return data_ledger_open(&request, &plan->guarantee.budget, error);
}

int plan_charge(struct plan *plan, int charge, struct dpf_error *error)
{
    const dpf_value *v = plan->privacy.params.values;
    const double most = v[PRIVACY_MAX_EPSILON].real;
    const char *path = v[PRIVACY_LEDGER].text;
    if (*path)
        return charge_ledger(plan, &plan->guarantee, &plan->ledger, NULL, charge, error);
    return most > 0.0
               ? config_error(plan->config, "privacy", "max-epsilon", error,
                              "max-epsilon limits all runs on the data together, so it needs the file that "
                              "adds them up: set [privacy] ledger (total-epsilon limits this run alone)")
               : 0;
}

int plan_charge_part(struct plan *plan, const struct guarantee *guarantee, const struct ledger *ledger,
                     const struct data_ledger_resumption *resumption, int charge, struct dpf_error *error)
{
    return *plan->privacy.params.values[PRIVACY_LEDGER].text
               ? charge_ledger(plan, guarantee, ledger, resumption, charge, error)
               : 0;
}
