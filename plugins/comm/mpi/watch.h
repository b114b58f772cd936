/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - ranks that wait for others, and those that do not come.
 *
 * A thread of each rank sends all others a beat from time to time: whether the rank waits for others, how many
 * calls it has made, and how much processor time it has used. A rank that waits reads in them whether the
 * others get on. One is silent if no beat of it has come, or none with progress although it does not wait, for
 * the time-out; then the first rank that waits names the silent ones and ends the job.
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
    atomic_int waits;
    atomic_llong calls;
};

/* Called by all ranks. 0, or -1 on those that cannot: then they wait for ever. MPI has to allow calls from several
   threads. */
int watch_open(struct watch *watch, MPI_Comm world, double timeout);
/* All ranks have come to their last call. */
void watch_close(struct watch *watch);
/* Until the request is complete, or the job is ended. */
void watch_wait(struct watch *watch, MPI_Request *request);

#endif
