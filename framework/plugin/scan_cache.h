/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_cache.h - what a scan of plugins found, kept for the next process.
 *
 * A file that loaded well in a child process, and that is unchanged since, need not be loaded to know its components: only
 * those that are asked for are. The user's own file $XDG_CACHE_HOME/dpframe/plugins-... (or ~/.cache) holds for each
 * plugin its size, times and place on the disk, and for this very program. Whatever is wrong with it, the scan is done.
 * The directory of the variable must be there and be the user's.
 */
#ifndef DPF_PLUGIN_SCAN_CACHE_H
#define DPF_PLUGIN_SCAN_CACHE_H

#include <stddef.h>

#include "base/error.h"

struct scan_cache;

/* From now on this process reads and writes the file: programs that are made to scan do not. */
void scan_cache_enable(void);

/* NULL if it is not used. */
struct scan_cache *scan_cache_open(void);
void scan_cache_free(struct scan_cache *cache);
/* Calls found for each component of the file. 1 if the cache knows the file, 0 if not, -1 if found fails. */
int scan_cache_find(const struct scan_cache *cache, const char *path,
                    int (*found)(void *context, const char *path, const char *role, const char *id,
                                 struct dpf_error *error),
                    void *context, struct dpf_error *error);
/* A component of a file that a scan has found; those of files that are gone or changed go. */
void scan_cache_add(struct scan_cache *cache, const char *path, const char *role, const char *id);
/* Replaces the file if something was added. A failure only means the next scan. */
void scan_cache_write(struct scan_cache *cache);

#endif
