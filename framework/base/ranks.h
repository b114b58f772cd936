/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the processes of one run: the number of this one, and their communication.
 *
 * A process alone is rank 0 of 1, and everything here returns at once. Otherwise all ranks make the same
 * calls in the same order, each from its main thread while the pool is idle. Every call begins with an
 * agreement, so a rank that has failed and goes straight to its last ranks_agree makes the call fail on all
 * others too. After that all calls fail at once, without a message, until ranks_forgive.
 */
#ifndef DPF_BASE_RANKS_H
#define DPF_BASE_RANKS_H

#include <stdint.h>

#include "base/error.h"
#include "dpframe/role/comm.h"

/* How this process reaches the others. */
struct ranks_group {
    const dpf_comm *functions;
    void *self;
    dpf_ranks ranks;
    /* Turns a status that is not DPF_OK into an error. */
    void (*explain)(void *context, dpf_status status, struct dpf_error *error);
    void *context;
};
/* From now on; NULL: alone. The group belongs to the caller. */
void ranks_join(const struct ranks_group *group);

int ranks_size(void);
int ranks_rank(void);
/* Ranks on this machine. */
int ranks_near(void);
/* Bytes that this rank has sent since it joined, as the calls count them; the network may send more. */
uint64_t ranks_bytes(void);

/* 0 if status is 0 on all ranks; else -1 on all, with the error of the first rank that has failed. */
int ranks_agree(int status, struct dpf_error *error);
/* After a failure that all have seen, each says whether it would go on. 1: all would, and do; 0: they stay
 * failed. */
int ranks_forgive(int wish);

/* As dpf_comm has them. 0, or -1 on all ranks. */
int ranks_sum(int64_t *values, int64_t n, struct dpf_error *error);
int ranks_reduce(int64_t *values, const int64_t *offsets, struct dpf_error *error);
int ranks_gather(void *data, size_t bytes, const int64_t *offsets, struct dpf_error *error);
int ranks_exchange(size_t bytes, const void *from, const int64_t *from_offsets, void *into,
                   const int64_t *into_offsets, struct dpf_error *error);
/* Elements for each rank, where none knows how many come: fills into_offsets (ranks + 1), and makes *into, which has room for *room
   elements, larger where it has to. */
int ranks_pass(size_t bytes, const void *from, const int64_t *from_offsets, void **into, int64_t *room,
               int64_t *into_offsets, struct dpf_error *error);
int ranks_broadcast(void *data, size_t bytes, int root, struct dpf_error *error);

#endif
