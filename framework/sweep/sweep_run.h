/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_run.h - runs all points of the sweep that a configuration describes. */
#ifndef DPF_SWEEP_SWEEP_RUN_H
#define DPF_SWEEP_SWEEP_RUN_H

#include "run/arguments.h"

/* 1 if the configuration describes a sweep. */
int sweep_is_described(const struct arguments *arguments);
/* Runs the sweep that the configuration describes. */
int sweep_run(const struct arguments *arguments, struct dpf_error *error);

#endif
