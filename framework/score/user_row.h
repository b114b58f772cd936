/* SPDX-License-Identifier: Apache-2.0 */
/* user_row.h - what the scores of a user are made of, from the user's own records: see docs/model-state.md. */
#ifndef DPF_SCORE_USER_ROW_H
#define DPF_SCORE_USER_ROW_H

#include "score/scorer.h"

/* Into the desk: row and shifts, or for neighbours/1 all scores. Not for rows/1, whose users' rows are stored. */
int user_row_make(const struct scorer *scorer, struct score_desk *desk, const struct score_records *own,
                  struct dpf_error *error);

#endif
