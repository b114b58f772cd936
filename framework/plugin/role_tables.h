/* SPDX-License-Identifier: Apache-2.0 */
/* role_tables.h - the roles that this host knows, and the functions that each role requires. */
#ifndef DPF_PLUGIN_ROLE_TABLES_H
#define DPF_PLUGIN_ROLE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "dpframe/role/mechanism.h"
#include "dpframe/role/sampler.h"

struct role {
    const char *id;         /* DPF_ROLE_* */
    const char *name;       /* "mechanism": for messages */
    int private_randomness; /* streams come from the privacy root */
    /* NULL if the table is complete and its constants are known; else the error. */
    const char *(*fault)(const void *functions);
    size_t reserved_at, reserved_bytes; /* of the table's reserved slots */
};

#define N_ROLES 10
extern const struct role role_table[N_ROLES];

/* NULL if the table can be used, with nothing in its reserved slots; else the error. */
const char *role_fault(const struct role *role, const void *functions);
/* The role with that id, or NULL. */
const struct role *role_find(const char *id);
/* "mechanism" of "dpframe.mechanism/1"; the id itself if the role is unknown. */
const char *role_name(const char *id);

/* Callbacks that may be NULL. */
int32_t sampler_lifetime(const dpf_sampler *sampler, void *self);
int32_t mechanism_lifetime(const dpf_mechanism *mechanism, void *self);
double mechanism_budget(const dpf_mechanism *mechanism, void *self);

#endif
