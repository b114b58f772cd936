/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAITS, CALLS, PROCESSOR, N_NUMBERS };

#define UNIT 0.05 /* seconds of processor time that count as progress: beats take far less */

struct watch_peer {
    int64_t last[N_NUMBERS], in[N_NUMBERS], out[N_NUMBERS];
    MPI_Request receives, sends;
    double heard, moved;
};

static double seconds_of(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* ---- beats ---- */

static void take_beat(struct watch *watch, struct watch_peer *peer)
{
    const int64_t *in = peer->in, *last = peer->last;

    pthread_mutex_lock(&watch->lock);
    peer->heard = now();
    if (in[WAITS] != last[WAITS] || in[CALLS] != last[CALLS] ||
        (!in[WAITS] && in[PROCESSOR] != last[PROCESSOR])) {
        peer->moved = peer->heard;
    }
    memcpy(peer->last, in, sizeof(peer->last));
    pthread_mutex_unlock(&watch->lock);
}

static void receive_beats(struct watch *watch, int r)
{
    struct watch_peer *peer = &watch->peers[r];
    int came = 1;

    while (came) {
        if (peer->receives == MPI_REQUEST_NULL) {
            MPI_Irecv(peer->in, N_NUMBERS, MPI_INT64_T, r, 0, watch->comm, &peer->receives);
        }
        MPI_Test(&peer->receives, &came, MPI_STATUS_IGNORE);
        if (came) {
            take_beat(watch, peer);
        }
    }
}

static void send_beat(struct watch *watch, int r)
{
    struct watch_peer *peer = &watch->peers[r];
    int sent = 1;

    if (peer->sends != MPI_REQUEST_NULL) {
        MPI_Test(&peer->sends, &sent, MPI_STATUS_IGNORE);
    }
    if (!sent) {
        return;
    }
    peer->out[WAITS] = atomic_load(&watch->since) != 0;
    peer->out[CALLS] = atomic_load(&watch->calls);
    peer->out[PROCESSOR] = (int64_t)(seconds_of(CLOCK_PROCESS_CPUTIME_ID) / UNIT);
    MPI_Isend(peer->out, N_NUMBERS, MPI_INT64_T, r, 0, watch->comm, &peer->sends);
}

/* 1: the ranks part. */
static int stops_within(struct watch *watch, double seconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    const double end = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)end;
    until.tv_nsec = (long)(1e9 * (end - (double)(time_t)end));
    pthread_mutex_lock(&watch->lock);
    if (!watch->stops) {
        pthread_cond_timedwait(&watch->stopped, &watch->lock, &until);
    }
    const int stops = watch->stops;
    pthread_mutex_unlock(&watch->lock);
    return stops;
}

/* ---- judging ---- */

static int is_silent(const struct watch *watch, const struct watch_peer *peer, double at)
{
    return at - peer->heard >= watch->timeout || (!peer->last[WAITS] && at - peer->moved >= watch->timeout);
}

/* Which ranks do not get on, as text; how many. *speaks: none before this one can tell. If all wait, for one another,
   it is all of them. */
static int find_silent(struct watch *watch, char *names, size_t size, int *speaks)
{
    const double at = now();
    int silent = 0, stuck = 0;
    size_t n = 0;

    *speaks = 1;
    names[0] = '\0';
    pthread_mutex_lock(&watch->lock);
    for (int r = 0; r < watch->ranks; r++) {
        const struct watch_peer *peer = &watch->peers[r];
        if (r == watch->rank) {
            continue;
        }
        if (is_silent(watch, peer, at)) {
            silent++;
            if (n < size) {
                n += (size_t)snprintf(names + n, size - n, "%srank %d on %s", n > 0 ? ", " : "", r,
                                      watch->hosts[r]);
            }
        } else {
            stuck += peer->last[WAITS] && at - peer->moved >= watch->timeout;
            *speaks &= !(peer->last[WAITS] && r < watch->rank);
        }
    }
    pthread_mutex_unlock(&watch->lock);
    if (silent > 0 || stuck < watch->ranks - 1) {
        return silent;
    }
    snprintf(names, size, "any rank: all wait for one another");
    return watch->ranks;
}

static void judge(struct watch *watch)
{
    char names[1024];
    int speaks;

    if (find_silent(watch, names, sizeof(names), &speaks) == 0 || !speaks) {
        return;
    }
    fprintf(stderr,
            "dpframe: rank %d on %s waits, and for %g seconds there was no progress of %s; the job ends, and "
            "nothing "
            "of it is released. Look after those machines, or raise [run.comm] timeout\n",
            watch->rank, watch->hosts[watch->rank], watch->timeout, names);
    fflush(stderr);
    MPI_Abort(watch->comm, 1);
}

void watch_enter(struct watch *watch)
{
    atomic_store(&watch->since, (int64_t)(1e9 * now()));
}

void watch_moves(struct watch *watch)
{
    atomic_fetch_add(&watch->calls, 1);
    watch_enter(watch);
}

void watch_leave(struct watch *watch)
{
    atomic_fetch_add(&watch->calls, 1);
    atomic_store(&watch->since, 0);
}

static void *beat(void *context)
{
    struct watch *watch = context;
    const double period = watch->timeout / 20 < 5 ? watch->timeout / 20 : 5;

    do {
        const long long since = atomic_load(&watch->since);
        for (int r = 0; r < watch->ranks; r++) {
            if (r != watch->rank) {
                receive_beats(watch, r);
                send_beat(watch, r);
            }
        }
        if (since != 0 && now() - 1e-9 * (double)since >= watch->timeout) {
            judge(watch);
        }
    } while (!stops_within(watch, period));
    return NULL;
}

/* ---- opening and closing ---- */

int watch_open(struct watch *watch, MPI_Comm world, double timeout)
{
    MPI_Comm_dup(world, &watch->comm);
    MPI_Comm_rank(watch->comm, &watch->rank);
    MPI_Comm_size(watch->comm, &watch->ranks);
    watch->timeout = timeout;
    watch->runs = watch->stops = 0;
    atomic_init(&watch->since, 0);
    atomic_init(&watch->calls, 0);
    watch->peers = calloc((size_t)watch->ranks, sizeof(*watch->peers));
    watch->hosts = calloc((size_t)watch->ranks, sizeof(*watch->hosts));
    if (!watch->peers || !watch->hosts) {
        MPI_Abort(world, 1);
        return -1;
    }
    gethostname(watch->hosts[watch->rank], sizeof(*watch->hosts) - 1);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, watch->hosts, sizeof(*watch->hosts), MPI_CHAR,
                  watch->comm);
    for (int r = 0; r < watch->ranks; r++) {
        watch->peers[r].receives = watch->peers[r].sends = MPI_REQUEST_NULL;
        watch->peers[r].heard = watch->peers[r].moved = now();
    }
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->stopped, NULL);
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (timeout > 0 && watch->ranks > 1 && level >= MPI_THREAD_MULTIPLE) {
        watch->runs = pthread_create(&watch->thread, NULL, beat, watch) == 0;
    }
    return timeout > 0 && watch->ranks > 1 && !watch->runs ? -1 : 0;
}

static void end_beats(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->stops = 1;
    pthread_cond_signal(&watch->stopped);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
}

void watch_close(struct watch *watch)
{
    if (watch->runs) {
        end_beats(watch);
    }
    MPI_Barrier(watch->comm); /* no beat is sent any more */
    for (int r = 0; watch->runs && r < watch->ranks; r++) {
        struct watch_peer *peer = &watch->peers[r];
        if (r == watch->rank) {
            continue;
        }
        receive_beats(watch, r);
        MPI_Cancel(&peer->receives);
        MPI_Wait(&peer->receives, MPI_STATUS_IGNORE);
        MPI_Wait(&peer->sends, MPI_STATUS_IGNORE);
    }
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->stopped);
    free(watch->peers);
    free(watch->hosts);
    MPI_Comm_free(&watch->comm);
}
