/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_load.h - loads one shared object into this process, safely.
 *
 * Path rules stop accidents and swapped files; they do not make a hostile plugin harmless. A plugin
 * is code that runs with the rights of the user.
 */
#ifndef DPF_PLUGIN_PLUGIN_LOAD_H
#define DPF_PLUGIN_PLUGIN_LOAD_H

#include "base/error.h"
#include "dpframe/plugin.h"

/*
 * Loads the file at an absolute path, checks what loading did to the process and what the plugin
 * says about itself. NULL on error (DPF_FAULT_PLUGIN, naming the file). The object stays loaded either way.
 */
const dpf_plugin *plugin_load(const char *path, struct dpf_error *error);

/* The same without the checks of the descriptor and of the process: for the conformance kit. */
const dpf_plugin *plugin_load_unchecked(const char *path, struct dpf_error *error);

/* Refuses a file or directory that somebody else could have changed. */
int plugin_path_check(const char *path, struct dpf_error *error);

#endif
