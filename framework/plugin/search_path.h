/* SPDX-License-Identifier: Apache-2.0 */
/* search_path.h - the plugin files of the search path, in order. */
#ifndef DPF_PLUGIN_SEARCH_PATH_H
#define DPF_PLUGIN_SEARCH_PATH_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Absolute, resolved paths. Directories keep their order; names within one are sorted by bytes. */
struct search_path {
    char **files;
    size_t n;
    size_t capacity;
    /* Files that are not looked at, because others could have changed them or they lead nowhere; each text
       names one and the reason. */
    char **left_out;
    size_t n_left_out, left_out_capacity;
    struct text directories; /* all that were looked at, in order, for messages */
};

int search_path_collect(struct search_path *path, const char *const *directories, int n_directories,
                        struct dpf_error *error);
void search_path_free(struct search_path *path);
/* The plugin directory of the build tree or of the installation that the executable lies in; free it. */
char *search_path_default(void);
/* The same of the templates of new plugins. */
char *search_path_templates(void);

#endif
