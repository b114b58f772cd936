/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - [run] checkpoint and --resume: what a checkpoint belongs to, and whether a run goes on from it.
 *
 * A checkpoint belongs to the resolved configuration, the version, the plugins' hashes and the data's hashes:
 * all that decides bytes and costs. Threads, the comm, places of plugins and of results may be others, and so
 * may the number of ranks.
 */
#ifndef DPF_RUN_RESUME_H
#define DPF_RUN_RESUME_H

#include "dataset/dataset.h"
#include "engine/checkpoint.h"
#include "plan/plan.h"

/* Rank 0, before anything is read: a directory with a checkpoint is not written to without --resume, and one
   without is not resumed. */
int resume_check_directory(const struct config_values *run, const char *directory, int resumes,
                           struct dpf_error *error);
/*
 * After the plan is complete, on all ranks; directory is rank 0's. Nothing without [run] checkpoint. A run
 * that resumes has what it repeats in its ledger and its guarantee afterwards.
 */
int resume_open(struct checkpoint *checkpoint, struct plan *plan, const struct dataset *dataset,
                const char *directory, int resumes, struct dpf_error *error);
/* In place of plan_charge. */
int resume_charge(const struct checkpoint *checkpoint, struct plan *plan, struct dpf_error *error);
/* Once the results are there. */
void resume_remove(const char *directory);

#endif
