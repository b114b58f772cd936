/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the directory of results.
 *
 * What the guarantee covers lies in release/, what it does not in private/ (metrics, the data
 * summary, local factors); run.json names each file's side. Every write is atomic. run.json is
 * removed first and written last, so that its presence means that the rest is complete.
 */
#ifndef DPF_RUN_RESULTS_H
#define DPF_RUN_RESULTS_H

#include "run/run_results.h"

/* *run: what run.json says. New reference. */
int results_write(const char *directory, const struct results *results, json_t **run,
                  struct dpf_error *error);
/* Writes run.json again, with the times up to now; takes the reference. */
int results_rewrite_timing(const char *directory, const struct results *results, json_t *run,
                           struct dpf_error *error);
/* What ranks other than 0 do of it: they write rows that rank 0 does not have. */
int results_help_write(const struct results *results, struct dpf_error *error);

#endif
