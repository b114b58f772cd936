/* SPDX-License-Identifier: Apache-2.0 */
/* by_user.h - what each user contributes to the metrics of the test part, from the rows of the passes. */
#ifndef DPF_EVALUATE_BY_USER_H
#define DPF_EVALUATE_BY_USER_H

#include "evaluate/metric_values.h"

/* Fills out->by_user (user_values.h), with the rows of all ranks. */
int by_user_fill(const struct evaluate_options *options, const struct passes *passes,
                 const struct dataset *dataset, struct metrics *out, struct dpf_error *error);

#endif
