/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.h - plugins that this process has in use.
 *
 * A process that opens several registries (a comparison, a sweep, an audit) looks at a file in a child process once:
 * what is loaded here cannot crash by being loaded. A file that was changed since is another file. One thread at a time.
 */
#ifndef DPF_PLUGIN_LOADED_H
#define DPF_PLUGIN_LOADED_H

#include "base/error.h"
#include "dpframe/plugin.h"

struct loaded {
    const dpf_plugin *plugin;
};

/* What the file was when it was loaded, if it is still that file; else NULL. */
const struct loaded *loaded_find(const char *path);
/* Loads it, or finds it. NULL on error. Stays for the life of the process. */
const struct loaded *loaded_get(const char *path, struct dpf_error *error);
/* Of the file that was loaded; an error if it is another one by now. */
int loaded_sha256(const char *path, char sha256[65], struct dpf_error *error);

#endif
