/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_report.h - a single run as HTML pages that need no other file, and no network.
 *
 *     private/report.html   the verdict, metrics beside other models, the training curve, how recommendations
 *                           are spread over items, and the statement: for whoever may see the records
 *     release/report.html   only where metrics were released with noise: these and the statement, which
 * covers all of the page
 */
#ifndef DPF_RUN_RUN_REPORT_H
#define DPF_RUN_RUN_REPORT_H

#include "run/arguments.h"

/*
 * Writes the pages of the run in that directory; *page is the path of the one to look at, to be freed. The
 * records are read again; where that fails (they have changed, or a plugin is missing) the page is written
 * without what needs them, and says why. Directories of plugins are the arguments'.
 */
int run_report_write(const struct arguments *arguments, const char *directory, char **page,
                     struct dpf_error *error);

#endif
