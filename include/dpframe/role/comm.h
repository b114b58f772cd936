/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/comm.h - the processes that make one run together, and what they send each other.
 *
 * A process is a rank, 0 .. ranks-1. All ranks make the same calls in the same order, from the thread that
 * called open, with counts and offsets that all of them know; a call returns when the rank's part is done.
 * All sums are of integers, so a result does not depend on the number of ranks (docs/adr/0002). The
 * ranks trust each other: this is one curator's cluster, not a protocol between parties.
 *
 * Failures of the network end all processes; nothing has been released then. A status is the same on all
 * ranks.
 */
#ifndef DPFRAME_ROLE_COMM_H
#define DPFRAME_ROLE_COMM_H

#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_COMM "dpframe.comm/1"

/* What open finds. */
typedef struct dpf_ranks {
    uint32_t size;
    int32_t rank;
    int32_t ranks; /* at least 1 */
    int32_t near;  /* ranks on this machine, this one among them: they share its processors */
} dpf_ranks;

typedef struct dpf_comm {
    /* [setup, required] Joins the other processes. Once in a process; destroy, called by all, leaves them. */
    dpf_status (*open)(void *self, dpf_ranks *out);
    /*
     * [run, required] values[i] becomes its sum over all ranks, on all of them. DPF_E_RANGE, on all ranks, if
     * adding them in some order leaves 64 bits: a sum never wraps.
     */
    dpf_status (*sum)(void *self, int64_t *values, int64_t n);
    /*
     * [run, required] The same for values that have owners: those at offsets[r] .. offsets[r+1]-1 become the
     * sums on rank r; on other ranks they are undefined afterwards. offsets has ranks + 1 entries, ascending.
     */
    dpf_status (*reduce)(void *self, int64_t *values, const int64_t *offsets);
    /*
     * [run, required] Elements of `bytes` bytes each: those at offsets[r] .. offsets[r+1]-1 are rank r's, and
     * all ranks have all of them afterwards, at the same places.
     */
    dpf_status (*gather)(void *self, void *data, uint64_t bytes, const int64_t *offsets);
    /*
     * [run, required] Elements from[from_offsets[r] .. from_offsets[r+1]-1] go to rank r; what rank r sends
     * here comes to into[into_offsets[r] .. into_offsets[r+1]-1].
     */
    dpf_status (*exchange)(void *self, uint64_t bytes, const void *from, const int64_t *from_offsets,
                           void *into, const int64_t *into_offsets);
    /* [run, required] Rank root's bytes, on all ranks. */
    dpf_status (*broadcast)(void *self, void *data, uint64_t bytes, int32_t root);
    /* [run, required] The smallest of the ranks' values, on all of them. */
    dpf_status (*least)(void *self, int64_t *value);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[8])(void);
} dpf_comm;

#ifdef __cplusplus
}
#endif
#endif
