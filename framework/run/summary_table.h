/* SPDX-License-Identifier: Apache-2.0 */
/* summary_table.h - what a run prints when it is done. */
#ifndef DPF_RUN_SUMMARY_TABLE_H
#define DPF_RUN_SUMMARY_TABLE_H

#include "run/results.h"

/* A table of the test metrics, one column for the run and one for each model that it is compared with, for
   lines of that width. Free it. */
char *summary_table(const struct results *results, int width);

#endif
