/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - sums up a sweep's tables in sentences: the best cell by its first metric, by how much it is
 * better, and whether chance may explain it. */
#ifndef DPF_SWEEP_ANSWER_H
#define DPF_SWEEP_ANSWER_H

#include "sweep/outcome_tests.h"

/*
 * For each setting of the other axes the best value of the dimension that is compared: that of the baseline,
 * else the variants, else the first axis. Cells without noise are named for comparison, and take part only if
 * there are no others. One line each. Free it; NULL if no cell has the metric, or memory ran out.
 */
char *answer_text(const struct outcomes *outcomes, const struct outcome_tests *tests);
/* The proved guarantees, and in how many of the cells. Free it; NULL if no cell has a run, or memory ran
   out. */
char *answer_privacy(const struct outcomes *outcomes);
#endif
