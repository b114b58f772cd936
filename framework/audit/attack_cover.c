/* SPDX-License-Identifier: Apache-2.0 */
/* What is proved against an attack. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/attack.h"
#include "privacy/statement.h"

const char *attack_game_name(enum attack_game game)
{
    return game == ATTACK_MEMBERSHIP ? "membership" : "attribute";
}

const char *attack_view_name(enum attack_view view)
{
    static const char *const names[ATTACK_N_VIEWS] = {"factors", "lists", "own-list"};
    return names[view];
}

static void not_covered(struct attack_finding *finding, const char *why)
{
    finding->covered = 0;
    finding->epsilon = INFINITY;
    finding->delta = 0;
    snprintf(finding->why, sizeof finding->why, "%s", why);
}

/*
 * A coin of the membership game makes a user come or go. One of the attribute game changes a record: of the
 * unit user that is a replacement, under add-remove and zero-out a removal and an addition, so that the
 * epsilon is that of a group of two.
 */
static void cover_user(const struct guarantee *guarantee, struct attack_finding *finding)
{
    const struct reach *reach = &guarantee->reach;
    if (finding->game == ATTACK_MEMBERSHIP || guarantee->adjacency == DPF_ADJ_REPLACE)
        return;
    if (reach->known && reach->group[0] == 2 && isfinite(reach->group_epsilon[0])) {
        finding->epsilon = reach->group_epsilon[0];
        finding->delta = guarantee->delta;
        return;
    }
    not_covered(finding, "another record is two users' change, and no epsilon is known for two");
}

static void cover_record(const struct guarantee *guarantee, struct attack_finding *finding)
{
    if (finding->game == ATTACK_MEMBERSHIP)
        not_covered(finding, "records are protected, not users");
    else if (guarantee->adjacency == DPF_ADJ_REPLACE_VALUE)
        not_covered(finding, "values are protected, not whether there is a record");
}

void attack_covered(const struct plan *plan, struct attack_finding *finding)
{
    const struct guarantee *guarantee = &plan->guarantee;
    finding->covered = 1;
    const struct account *least = statement_least(guarantee);
    if (!least) {
        not_covered(finding, "nothing is proved");
        return;
    }
    finding->epsilon = least->answer.epsilon;
    finding->delta = least->answer.delta;
    if (finding->view == ATTACK_OWN_LIST) {
        not_covered(finding, "a user's own list is for that user alone");
        return;
    }
    if (finding->view == ATTACK_LISTS && plan->model_facts.cannot[USE_NOISY_METRICS]) {
        not_covered(finding, plan->model_facts.cannot[USE_NOISY_METRICS]);
        return;
    }
    (guarantee->unit == DPF_UNIT_USER ? cover_user : cover_record)(guarantee, finding);
}
