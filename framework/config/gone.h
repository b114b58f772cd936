/* SPDX-License-Identifier: Apache-2.0 */
/* gone.h - keys and components that there were before 0.1.0, and what or where takes their place. */
#ifndef DPF_CONFIG_GONE_H
#define DPF_CONFIG_GONE_H

#include "base/error.h"
#include "config/config_store.h"

/* 0: no such key. 1: one with the value that always holds now, as saved runs have it. -1: another value, refused. */
int gone_check(const struct config *config, const struct config_entry *entry, struct dpf_error *error);
/* The key that an entry with something to say is now, and its section; NULL: it has not moved. */
const char *gone_place(const struct config_entry *entry, char section[CONFIG_FULL_MAX]);
/* Whether texts mean the same: as numbers, if they are numbers. */
int gone_same_value(const char *a, const char *b);
/* What to use in place of a component that there was; NULL: there was none of that name. */
const char *gone_component(const char *id);
/* The same of an entry that names one. */
const char *gone_component_named(const struct config_entry *entry);

#endif
