/* SPDX-License-Identifier: Apache-2.0 */
/* predict_pairs.h - predictions for the pairs of a file, from the directory of a run. */
#ifndef DPF_SAVED_PREDICT_PAIRS_H
#define DPF_SAVED_PREDICT_PAIRS_H

#include "run/arguments.h"

/* Of arguments->rest[0], for the pairs in rest[1], as CSV. */
int predict_pairs(const struct arguments *arguments, struct dpf_error *error);

#endif
