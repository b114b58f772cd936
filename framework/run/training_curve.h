/* SPDX-License-Identifier: Apache-2.0 */
/* training_curve.h - the training RMSE of each round, from the metrics.csv of a run. */
#ifndef DPF_RUN_TRAINING_CURVE_H
#define DPF_RUN_TRAINING_CURVE_H

#include <stddef.h>

/* Fills values[round - 1] for rounds 1 to most, NaN where there is none; returns the last round that has one,
   0 without any, or where the file is missing. */
size_t training_curve_read(const char *path, double *values, size_t most);

#endif
