/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - what the ends of one run must have alike, as a list of names and values that can be compared and
 * told apart: ranks (alike_ranks.h), the server and the parties of a federation, and the run that an
 * interrupted one is continued by.
 */
#ifndef DPF_RUN_ALIKE_H
#define DPF_RUN_ALIKE_H

#include <jansson.h>

#include "base/error.h"
#include "plan/plan.h"

/* A key that each end has for itself. key NULL: the whole section. */
struct alike_own {
    const char *section, *key;
};

/* Adds "[section] key" with its resolved value for each key that is not one of own. 0, or -1: out of memory. */
int alike_add_configuration(json_t *list, const struct plan *plan, const struct alike_own *own, size_t n_own);
/* Adds "plugin ROLE ID" for the components in use, but for links; a value is the version, or with files the SHA-256
   of the plugin's file. */
int alike_add_plugins(json_t *list, const struct registry *registry, int files);

/* The first entry that differs, in the order of the lists. */
struct alike_difference {
    char name[160], here[128], there[128]; /* values are cut; "nothing" where a list has no such entry */
};
/* 1: they differ. */
int alike_differ(const json_t *here, const json_t *there, struct alike_difference *out);

#endif
