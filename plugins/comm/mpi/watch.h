/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - ranks that wait for others, and those that do not come.
 *
 * A thread of each rank sends all others a beat from time to time: whether the rank is in a call, how many calls
 * and pieces of them it has made, and how much processor time it has used. While the rank is in a call, the
 * thread reads in the others' beats whether they get on. One is silent if no beat of it has come, or none with
 * progress although it is in no call, for the time-out; then the first rank that waits names the silent ones and
 * ends the job.
 */
#ifndef COMM_MPI_WATCH_H
#define COMM_MPI_WATCH_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct watch_peer; /* another rank, as its beats tell */

struct watch {
    MPI_Comm comm;
    int rank, ranks;
    double timeout; /* seconds */
    struct watch_peer *peers;
    char (*hosts)[64]; /* of all ranks */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    int runs, stops;
    atomic_llong since; /* nanoseconds: when the call began that the rank is in; 0: in none */
    atomic_llong calls;
};

/* Called by all ranks. 0, or -1 on those that cannot: then they wait for ever. MPI has to allow calls from several
   threads. */
int watch_open(struct watch *watch, MPI_Comm world, double timeout);
/* All ranks have come to their last call. */
void watch_close(struct watch *watch);
/* Around what waits for others; watch_moves, in between, when a part of it is done. */
void watch_enter(struct watch *watch);
void watch_moves(struct watch *watch);
void watch_leave(struct watch *watch);

#endif
