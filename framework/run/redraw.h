/* SPDX-License-Identifier: Apache-2.0 */
/* redraw.h - the run's model trained again with noise of its own, for the verdict (docs/adr/0033). */
#ifndef DPF_RUN_REDRAW_H
#define DPF_RUN_REDRAW_H

#include "run/comparison.h"

/*
 * Metrics of so many trainings into out; returns how many there are. One that fails is left out, with a warning. Their
 * noise is charged ([run] compare-repetitions); the plan keeps the last key. Call it once results are written.
 */
int64_t redraw(struct session *session, const struct dataset *dataset, struct pool *pool, int64_t wanted,
               struct metrics *out);

#endif
