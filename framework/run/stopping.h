/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopping.h - [run] until: whether a run ends before its last round.
 *
 * A rule that reads raw ratings makes the number of rounds, which everybody sees, a function of them:
 * condition C2 of a run that releases something then fails. A rule that reads released rows alone is
 * post-processing of what every round releases. Either way the ledger has the releases of all rounds that
 * might be made.
 */
#ifndef DPF_RUN_STOPPING_H
#define DPF_RUN_STOPPING_H

#include "engine/model.h"

struct stopping {
    int rule; /* enum run_until */
    double tolerance;
    const struct plan *plan;
    double last_error; /* NaN before the first round */
    float *rows[2];    /* released rows of the round before; NULL: not yet, or the side is not released */
};

void stopping_start(struct stopping *stopping, const struct plan *plan);
void stopping_free(struct stopping *stopping);

/* The model is as after a round that another process has made, with that training error. */
int stopping_resume(struct stopping *stopping, const struct model *model, double training_error,
                    struct dpf_error *error);
/* Whether the rule needs the training error of each round. */
int stopping_reads_error(const struct stopping *stopping);
/* After a round: *stop becomes 1 where the run is to end. training_error is only read if the rule needs it.
 */
int stopping_round(struct stopping *stopping, const struct model *model, double training_error, int *stop,
                   struct dpf_error *error);

#endif
