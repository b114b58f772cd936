/* SPDX-License-Identifier: Apache-2.0 */
/* new_plugin.h - a plugin of one's own, from the template of its role: the files that the tests build. */
#ifndef DPF_PLUGIN_NEW_PLUGIN_H
#define DPF_PLUGIN_NEW_PLUGIN_H

#include "base/error.h"

/* name is the component's id. The directory must be new or empty, and appears when it is complete. */
int new_plugin_write(const char *role, const char *name, const char *directory, struct dpf_error *error);

#endif
