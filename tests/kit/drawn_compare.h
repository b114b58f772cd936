/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_compare.h - what must be the same for two neighbouring data sets, of which something is proved.
 *
 * All comparisons return 0, or 1 with what differs in `what`: a short name of the kind, then details after ": ".
 */
#ifndef DPF_TEST_DRAWN_COMPARE_H
#define DPF_TEST_DRAWN_COMPARE_H

#include "dataset/dataset.h"
#include "kit/draw_pairs.h"
#include "kit/drawn_run.h"

#define DRAWN_WHAT 512

/* What was read: everything of others, by id; lists; sizes. */
int drawn_same_reading(const struct dataset *a, const struct dataset *b, const struct draw_promise *promise,
                       const struct draw_pair *pair, char what[DRAWN_WHAT]);
/* Directories of two runs: which files are released, their shapes, all texts that say no noisy number. */
int drawn_same_outside(const struct drawn *drawn, const char *a, const char *b, char what[DRAWN_WHAT]);
/* The numbers of released arrays that two noises of the first data set change are those that they change of the
   second. a, a2: directories of runs on the first one with two noises, b, b2: on the second. */
int drawn_same_noise(const struct drawn *drawn, const char *const runs[4], char what[DRAWN_WHAT]);
/* Rows of item_factors.npy that the unit does not touch are the same bytes. */
int drawn_same_rows(const struct drawn *drawn, const char *a, const char *b, const struct draw_pair *pair,
                    char what[DRAWN_WHAT]);

#endif
