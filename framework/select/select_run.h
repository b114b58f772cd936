/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_run.h - runs the candidates of a selection and publishes the best run.
 *
 * The key of the noise draws the number of runs, and a candidate for each. Each run is a process with its own
 * noise. It ends with a released score; a failed run scores minus infinity. The run with the best score is
 * published, the first one among equals. The output does not show the number of runs.
 */
#ifndef DPF_SELECT_SELECT_RUN_H
#define DPF_SELECT_SELECT_RUN_H

#include "run/arguments.h"
#include "select/select_dir.h"

/* 1 if the configuration describes a selection. */
int select_is_described(const struct arguments *arguments);
int select_run(const struct arguments *arguments, struct dpf_error *error);
struct plan;
/* What else is asked of a plan whose ledger and guarantee are those of the selection. */
typedef int (*select_use)(void *context, const struct plan *plan, struct dpf_error *error);
/* check and account: the statement, with and without tuning. Nothing is trained or charged. use may be NULL.
 */
int select_statement(const struct arguments *arguments, select_use use, void *context,
                     struct dpf_error *error);

/* The index of the run that is published: the best score, the first of those that are level. SELECT_NOTHING
   if none has a score; SELECT_NO_RUN if one is not over. */
int64_t select_best(const struct select_state *state);

#endif
