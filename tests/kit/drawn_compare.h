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

#endif
