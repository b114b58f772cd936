/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_scan.h - finds the components of files in a child process.
 *
 * A plugin that crashes, exits, hangs or corrupts memory when it is loaded does so in the child; the
 * parent then names the file and scans the others in another child.
 */
#ifndef DPF_PLUGIN_PLUGIN_SCAN_H
#define DPF_PLUGIN_PLUGIN_SCAN_H

#include <stdint.h>

#include "base/error.h"

/* Longest time that one file may take in a run. */
#define PLUGIN_SCAN_SECONDS 20

/* Called for each component of file `index`. Returns 0, or -1 with an error to stop. */
typedef int (*plugin_scan_found)(void *context, int64_t index, const char *role, const char *id,
                                 struct dpf_error *error);

/* Called for each file that cannot be used, with the reason, which names the file. Returns likewise. */
typedef int (*plugin_scan_broken)(void *context, int64_t index, const struct dpf_error *reason,
                                  struct dpf_error *error);

/* broken: NULL if the first such file is an error. */
int plugin_scan(const char *const *paths, int64_t n, int seconds, plugin_scan_found found,
                plugin_scan_broken broken, void *context, struct dpf_error *error);

#endif
