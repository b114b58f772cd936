/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_saved.h - metrics of the model in the directory of a run. */
#ifndef DPF_SAVED_EVALUATE_SAVED_H
#define DPF_SAVED_EVALUATE_SAVED_H

#include "evaluate/evaluate.h"
#include "run/arguments.h"

/* Of arguments->rest[0], on its own test part or on the records of --data. Free the metrics. */
int evaluate_saved(const struct arguments *arguments, struct metrics *out, struct dpf_error *error);

#endif
