/* SPDX-License-Identifier: Apache-2.0 */
/* audit_params.h - section [audit] of a configuration. */
#ifndef DPF_AUDIT_AUDIT_PARAMS_H
#define DPF_AUDIT_AUDIT_PARAMS_H

#include <stdint.h>

#include "config/config.h"

const dpf_param *audit_params(int64_t *n);
enum audit_param {
    AUDIT_TRIALS,
    AUDIT_CONFIDENCE,
    AUDIT_VIEW, /* enum observe_view */
    AUDIT_USER,
    AUDIT_ITEM,
    AUDIT_SEED,
    AUDIT_NEIGHBOUR,
    AUDIT_CLAIM,
    AUDIT_CANARIES, /* not 0: in one run */
    AUDIT_ATTACK,   /* enum attack_games */
    AUDIT_TARGETS,
    AUDIT_ATTACK_NOISE,
    AUDIT_N_PARAMS
};

/* Refuses values that the section cannot have, also for commands that do not audit: nothing is silently
   ignored. */
int audit_check(struct config *config, struct dpf_error *error);

#endif
