/* SPDX-License-Identifier: Apache-2.0 */
/*
 * components.h - makes instances of the components that a configuration names. Part of plan_open.
 *
 * Functions without an error make a stage of the plan: the first error stays in plan->error, and whoever comes after it
 * makes nothing. The stage's caller asks once, at its end.
 */
#ifndef DPF_PLAN_COMPONENTS_H
#define DPF_PLAN_COMPONENTS_H

#include "plan/plan.h"

int plan_failed(const struct plan *plan);
void components_make_sides(struct plan *plan);
/* Of a model that solves no side: what its sections say has to do in a factorization, or not to be there. */
void components_check_idle_sides(struct plan *plan);
void components_make_accountants(struct plan *plan);
/* One component outside of a stage; see components_make_named. *out is NULL for an empty id. */
int components_make_one(struct plan *plan, const char *role, const char *section, const char *key,
                        const char *id, struct instance **out, struct dpf_error *error);
/* Whether names and keys of components that this run does not make, [run] comm and [federation] link, are right. */
int components_check_elsewhere(struct plan *plan, struct dpf_error *error);
/* Makes the component that the key of a section names, with its parameters in [section.key]. NULL for an empty id, and
   once the plan has failed. */
struct instance *components_make_named(struct plan *plan, const char *role, const char *section,
                                       const char *key, const char *id);
void components_free(struct plan *plan);
/* Binds a section and remembers the values for the resolved configuration. */
int components_bind(struct plan *plan, const char *section, const dpf_param *table, int64_t n, int strict,
                    struct config_values *out, struct dpf_error *error);
/* Splits "a, b" into trimmed names; the array and the texts are one block: free the array. */
char **components_names(const char *list, int *n);
/* Refuses a list in a key that has a name twice. */
int components_check_once(const struct plan *plan, const char *section, const char *key, char *const *names,
                          int n, struct dpf_error *error);

#endif
