/* SPDX-License-Identifier: Apache-2.0 */
/* summary_table.h - what a run prints when it is done. */
#ifndef DPF_RUN_SUMMARY_TABLE_H
#define DPF_RUN_SUMMARY_TABLE_H

#include "run/results.h"

/* A table of the test metrics, one column for the run and one for each baseline. Free it. */
char *summary_table(const struct results *results);

#endif
