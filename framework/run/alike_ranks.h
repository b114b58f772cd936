/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike_ranks.h - ranks that were started differently are found before they read data.
 *
 * Compared with rank 0: the program's and the plugins' files, the resolved configuration, --resume, what of the
 * machine decides bytes, and the files that keys name: the contents of small ones, the sizes of those that
 * hold records, whose contents are compared as they are read (data/contents.h). Not compared: where files and
 * results lie, threads, what is printed.
 */
#ifndef DPF_RUN_ALIKE_RANKS_H
#define DPF_RUN_ALIKE_RANKS_H

#include "plan/plan.h"

/* With more than one rank; components are made, the plan is not completed. -1 on all ranks, with what differs on the
   first rank that does. Faults: DPF_FAULT_CONFIG, DPF_FAULT_PLUGIN, DPF_FAULT_DATA. */
int alike_ranks_check(const struct plan *plan, int resumes, struct dpf_error *error);

#endif
