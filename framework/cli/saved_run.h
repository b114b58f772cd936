/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_run.h - a model from the directory of a run: its configuration, its data, and its factors.
 *
 * The data is read again, since the factors' rows are those of its ids and what a user has seen must not be
 * recommended. Data that has changed since the run is refused.
 */
#ifndef DPF_CLI_SAVED_RUN_H
#define DPF_CLI_SAVED_RUN_H

#include "cli/command.h"
#include "data/load.h"
#include "engine/model.h"

struct saved_run {
    struct session session;
    struct dataset dataset;
    struct model model;
    struct pool *pool;
    json_t *json; /* run.json */
};

/* Overrides and directories of plugins are the arguments'. On failure, too, saved_run_close must follow. */
int saved_run_open(const struct arguments *arguments, const char *directory, struct saved_run *out,
                   struct dpf_error *error);
void saved_run_close(struct saved_run *run);

#endif
