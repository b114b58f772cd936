/* SPDX-License-Identifier: Apache-2.0 */
/* checked_scores.h - a model's scores, none of them NaN or infinite. */
#ifndef DPF_EVALUATE_CHECKED_SCORES_H
#define DPF_EVALUATE_CHECKED_SCORES_H

#include "evaluate/evaluate.h"

/* As scorer->scores; a score that is not finite is an error that names user and item. */
int checked_scores(const struct scorer *scorer, const struct dataset *dataset, int64_t user,
                   const int32_t *items, int64_t n, double *out, struct dpf_error *error);

/* Whether a row of records, ascending by other, has this one. */
int row_has(const struct csr *csr, int64_t row, int32_t other);

#endif
