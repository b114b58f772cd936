/* SPDX-License-Identifier: Apache-2.0 */
/* results_directory.h - the directory of results: whether a run may write into it, and what an earlier run has left there. */
#ifndef DPF_RUN_RESULTS_DIRECTORY_H
#define DPF_RUN_RESULTS_DIRECTORY_H

#include "config/config.h"

/*
 * Makes the directory ready before the work starts: creates it, or checks that what is there is the
 * result of an earlier run (a directory with other content is refused), and that files can be written. That
 * an earlier run will be replaced is said.
 */
int results_directory_prepare(const struct config_values *run, const char *directory,
                              struct dpf_error *error);
/* Removes a directory in which a run left nothing but empty directories; any other stays as it is. */
void results_directory_abandon(const char *directory);
/* Makes release/ and private/, and removes what an earlier run wrote: its files must not be taken for those of this one. */
int results_directory_clear(const char *directory, struct dpf_error *error);

#endif
