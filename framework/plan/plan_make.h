/* SPDX-License-Identifier: Apache-2.0 */
/* plan_make.h - makes a plan from a configuration, completes it, and computes its privacy cost. */
#ifndef DPF_PLAN_PLAN_MAKE_H
#define DPF_PLAN_PLAN_MAKE_H

#include "base/violations.h"
#include "plan/plan.h"

struct plan_options {
    const char *config_path;
    const char *const *overrides;
    int n_overrides;
    /* A point of a sweep; see struct config_request. */
    const char *const *layers;
    int n_layers;
    const char *const *settings;
    int n_settings;
    const char *settings_directory;
    const char *const *plugin_directories;
    int n_plugin_directories;
    int without_mechanisms; /* plan the non-private twin: mechanisms and samplers left out */
    int stand_in; /* a model named by an override replaces the configured one: keys that it does not read are
                         not refused */
    int without_data; /* files of [data] may be missing; plan_complete then gets no sizes */
    /* Sections that rooms above will bind: [evaluate] and the like. They may be present. */
    const char *const *other_sections;
    int n_other_sections;
    /* Receives what components report as metrics; may be NULL. */
    void (*metric)(void *context, const char *section, const char *name, double value);
    void *metric_context;
};

/*
 * Reads the configuration and makes components. Then, once sizes are known, plan_complete works out
 * queries, sensitivities, noise, the ledger and the guarantee. Both leave *plan to plan_free.
 */
int plan_open(const struct plan_options *options, struct plan *plan, struct dpf_error *error);
/* Computes what the guarantee implies for groups and tests, for display; needs a completed plan. */
void plan_measure(struct plan *plan);
/* n_users and n_items from the data, or -1 where the data has not been read: sizes then come from
   [model] users and items, or stay unknown (a large number that keeps every bound valid). */
int plan_complete(struct plan *plan, int64_t n_users, int64_t n_items, struct dpf_error *error);
/*
 * What faults of single records mean, which is known once the plan is: status is plan_complete's. They move
 * to left_out where they stop nothing ([privacy] on-violation); else the first is the error, and not that
 * what is left of the data has no plan, unless that follows from public lists and keys, whatever lines say. Every
 * command that reads protected records asks here.
 */
int plan_judge_faults(const struct plan *plan, int status, struct violations *found,
                      struct violations *left_out, struct dpf_error *error);
/* Refuses keys that no component has read. Part of plan_complete; called alone for configurations that are
   not run yet. */
int plan_check_read(struct plan *plan, struct dpf_error *error);
void plan_free(struct plan *plan);
/* Noise and private draws come from another root from now on: a secret one, or where noise is reproducible that of the
   domain. So the same plan can be run again and again. */
int plan_rekey(struct plan *plan, const char *domain, struct dpf_error *error);

#endif
