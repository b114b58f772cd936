/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of an audit, and which keys of [audit] each of them reads. */
#include "audit/audit_ways.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"

enum way { WAY_CANARY = 1, WAY_FILES = 2, WAY_ONE_RUN = 4, WAY_ATTACK = 8 };

#define BOUNDS (WAY_CANARY | WAY_FILES | WAY_ONE_RUN)
#define EVERY (BOUNDS | WAY_ATTACK)

static const int read_by[AUDIT_N_PARAMS] = {
    [AUDIT_TRIALS] = WAY_CANARY | WAY_FILES | WAY_ATTACK,
    [AUDIT_CONFIDENCE] = EVERY,
    [AUDIT_VIEW] = WAY_CANARY | WAY_FILES,
    [AUDIT_USER] = WAY_CANARY,
    [AUDIT_ITEM] = WAY_CANARY,
    [AUDIT_SEED] = WAY_CANARY | WAY_ONE_RUN | WAY_ATTACK,
    [AUDIT_NEIGHBOUR] = BOUNDS, /* which says for itself that one run has no file beside it */
    [AUDIT_CLAIM] = BOUNDS,
    [AUDIT_CANARIES] = WAY_ONE_RUN,
    [AUDIT_ATTACK] = WAY_ATTACK,
    [AUDIT_TARGETS] = WAY_ATTACK,
    [AUDIT_ATTACK_NOISE] = WAY_ATTACK,
};

static enum way way_of(const struct audit_session *audit)
{
    return audit_value(audit, AUDIT_ATTACK)->integer    ? WAY_ATTACK
           : audit_in_one_run(audit)                    ? WAY_ONE_RUN
           : *audit_value(audit, AUDIT_NEIGHBOUR)->text ? WAY_FILES
                                                        : WAY_CANARY;
}

static const char *words_of(enum way way)
{
    return way == WAY_ATTACK    ? "on attacks (audit.attack)"
           : way == WAY_ONE_RUN ? "in one run (audit.canaries)"
           : way == WAY_FILES   ? "beside a file of the other data set (audit.neighbour)"
                                : "where nothing is attacked and one canary is trained with many times";
}

static int says_something(const dpf_param *param, const dpf_value *value)
{
    if (!value->is_set)
        return 0;
    switch (param->type) {
    case DPF_TYPE_STRING:
    case DPF_TYPE_PATH:
        return *value->text != '\0';
    case DPF_TYPE_REAL:
        return value->real != param->default_real;
    default:
        return value->integer != param->default_integer;
    }
}

int audit_check_way(const struct audit_session *audit, struct dpf_error *error)
{
    const struct config *config = audit->session.plan.config;
    const enum way way = way_of(audit);
    for (int p = 0; p < AUDIT_N_PARAMS; p++) {
        const dpf_param *param = &audit->values.table[p];
        const struct config_entry *entry = config_find(config, "audit", param->name);
        if ((read_by[p] & (int)way) || !says_something(param, audit_value(audit, (enum audit_param)p)))
            continue;
        /* A file may serve several ways; who says both on one command line wants something else. */
        if (entry && entry->line == 0)
            return config_error(config, "audit", param->name, error,
                                "it has no effect %s: leave one of the two out", words_of(way));
        log_message(LOG_LEVEL_WARNING, "audit.%s has no effect %s", param->name, words_of(way));
    }
    if (audit_value(audit, AUDIT_CANARIES)->integer == 1)
        return config_error(config, "audit", "canaries", error,
                            "one canary shows chance alone: take 2 or more; without the key there are many "
                            "trainings with one");
    if (way == WAY_ONE_RUN && audit->arguments->jobs)
        return error_set(error, DPF_FAULT_CONFIG,
                         "--jobs has no effect in one run (audit.canaries): leave it out");
    return 0;
}
