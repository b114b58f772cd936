/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_claim.h - which process runs a point of a prepared sweep, where processes share only a file system.
 *
 *     claims/NAME/1         the first process that took the point: host, process, job, time
 *     claims/NAME/1.over    it has ended
 *     claims/NAME/2         the next one
 *
 * Claims are only added, never removed. A process takes a point by creating the next number, which only one process
 * can do, so two processes that find the same dead holder cannot both take over. It links a complete file to the
 * number, which is atomic on NFS of every version (O_EXCL is from version 3 on); if the file system has no links, it
 * opens the number with O_EXCL.
 *
 * A process can tell that a holder is dead only if the holder ran under the same boot of the same kernel in the same
 * process namespace.
 */
#ifndef DPF_SWEEP_POINT_CLAIM_H
#define DPF_SWEEP_POINT_CLAIM_H

#include <stddef.h>

#include "base/error.h"

#define CLAIM_TEXT 128

enum claim_state {
    CLAIM_FREE,
    CLAIM_HELD,     /* by a process that runs here */
    CLAIM_DEAD,     /* by a process that ran here and is gone */
    CLAIM_ELSEWHERE /* by a process that cannot be seen from here */
};

struct claim_holder {
    char host[CLAIM_TEXT], job[CLAIM_TEXT], since[32];
    long process;
};

struct claim {
    char *path; /* NULL: not held */
};

/* Which process holds the point; fills in holder unless the point is free. */
enum claim_state claim_look(const char *directory, const char *name, struct claim_holder *holder);
/*
 * Takes the point if it is free or its holder is dead, and one that is held elsewhere if take_over is set.
 * 0: taken; 1: somebody else has it, in holder; -1: the directory cannot be written.
 */
int claim_take(const char *directory, const char *name, int take_over, struct claim *out,
               struct claim_holder *holder, struct dpf_error *error);
/* The end of a claim that was taken, once everything about the point has been written. */
int claim_end(struct claim *claim, struct dpf_error *error);
/* "process 12 on HOST, job 34, since TIME" */
void claim_describe(const struct claim_holder *holder, char *out, size_t size);

#endif
