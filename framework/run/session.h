/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a configuration, opened: the plan, and the sections that are read beside it. */
#ifndef DPF_RUN_SESSION_H
#define DPF_RUN_SESSION_H

#include "plan/plan.h"
#include "run/arguments.h"
#include "run/component_metrics.h"

/* A plan whose sections above the plan's own are bound too, before it is completed. */
struct session {
    struct plan plan;
    struct config_values evaluate;
    struct component_metrics metrics;
    int is_open; /* the metrics have a lock to be destroyed */
};
int session_open(struct session *session, const struct arguments *arguments, int without_mechanisms,
                 struct dpf_error *error);
void session_close(struct session *session);
/* Completes the plan for commands that need no training: sizes come from the configuration, else the data
   is read for them where it can be. */
int session_complete_without_training(struct session *session, struct dpf_error *error);

#endif
