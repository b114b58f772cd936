/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - trains models: rounds of side steps, or what a recommender does in their place. */
#ifndef DPF_ENGINE_ENGINE_H
#define DPF_ENGINE_ENGINE_H

#include "base/pool.h"
#include "base/violations.h"
#include "engine/engine_stats.h"
#include "engine/model.h"
#include "engine/remote.h"

struct checkpoint;
struct observer;

struct engine_hooks {
    void *context;
    /* After each round; -1 stops the run with the error, 1 makes it the last round. May be NULL. */
    int (*round_done)(void *context, int64_t round, struct model *model, struct dpf_error *error);
    /* Once the state of a checkpoint is there, before the next round. NULL without a checkpoint. */
    int (*restored)(void *context, struct model *model, struct dpf_error *error);
    /* Receives the texts of violations. May be NULL. */
    struct violations *violations;
    /* Other ends of the run; NULL: all parties are here. At a party, round_done is not called. */
    const struct engine_remote *remote;
    const struct observer *observer; /* looks on, with a pool of one worker; NULL: nobody */
    /* Where the state is kept before each round, and taken from where a head was found; NULL: nowhere. */
    const struct checkpoint *checkpoint;
};

/*
 * Trains the model (made by model_init) and compares what happens with the plan's ledger. The plan
 * is only read, but for ledger deviations. Interrupted runs fail with DPF_FAULT_RUN.
 */
int engine_run(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
               const struct engine_hooks *hooks, struct engine_stats *stats, struct dpf_error *error);

/* What all ends of a run over links are told at its end, of a trained model: released rows, or a recommender's sums. */
struct remote_rows engine_told(const struct model *model);
/* Solves a local side's rows alone, for the current rows of the other side, the given number of times (more
   than once for solvers that take steps). Nothing is sent. */
int engine_fit_side(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
                    int side, int64_t passes, struct dpf_error *error);

#endif
