/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what the host does for a component.
 *
 * A component gets a dpf_host when it is created; the host belongs to that one instance and lives as long.
 * Services are tables of functions, fetched by id; memory, log and randomness always
 * exist. Everything here is thread-safe unless a comment says otherwise.
 */
#ifndef DPFRAME_HOST_H
#define DPFRAME_HOST_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dpf_host dpf_host;

struct dpf_host {
    uint32_t size;      /* sizeof(dpf_host) of the host */
    uint32_t abi_minor; /* of the host */
    void *context;      /* the host's own */

    /* The service table of that id, or NULL if this host has none. */
    const void *(*service)(const dpf_host *host, const char *id);

    /*
     * Reports why a call fails. code is the status that the callback will return; param is an index
     * into the component's parameter table, or -1; text is one sentence, copied by the host, which
     * adds plugin, section, file:line and step. The first report of a run is the one shown.
     * Returns code, so that "return host->fail(...)" reads well.
     */
    dpf_status (*fail)(const dpf_host *host, dpf_status code, int32_t param, const char *text);
};

/* ---- memory: heap blocks, 64-byte aligned --------------------------------------------------- */
#define DPF_SERVICE_MEMORY "dpframe.memory/1"
typedef struct dpf_memory_service {
    /* Zeroed memory, or NULL. bytes 0 gives a valid pointer. */
    void *(*allocate)(const dpf_host *host, uint64_t bytes);
    /* NULL is allowed. Wipes the block before it is freed. */
    void (*release)(const dpf_host *host, void *block);
} dpf_memory_service;

/* ---- log ------------------------------------------------------------------------------------ */
#define DPF_SERVICE_LOG "dpframe.log/1"
#define DPF_LOG_DEBUG 0
#define DPF_LOG_INFO 1
#define DPF_LOG_WARNING 2
typedef struct dpf_log_service {
    void (*message)(const dpf_host *host, int32_t level, const char *text);
    /* Reports a number for the run's private metrics; the last value of a round is kept. */
    void (*metric)(const dpf_host *host, const char *name, double value);
} dpf_log_service;

/* ---- randomness ----------------------------------------------------------------------------- */
/*
 * A stream is keyed by (run key, the component's section, purpose); it is read at an index of three
 * numbers (draw, party, row) which selects an independent piece of its ChaCha20 keystream. So a value depends
 * on where it is read and never on call order, thread or worker count, and a draw can be regenerated.
 *
 * An index can be read in two ways. A cursor reads it as one sequence of up to 2^34 words. The functions
 * row_... read rows of cells, many in one call, and are faster: the value of a cell depends only on the
 * index, its column and the width of its row. Each way, each kind of draw and each width has its own pieces
 * of keystream, which share no block (docs/adr/0012).
 *
 * The streams of mechanisms, samplers, aggregators and recommenders come from the privacy key ([privacy]
 * randomness), those of all other components from run.seed.
 *
 * A purpose that begins with '@' names a stream of the whole run: every component that opens it, in any
 * section, reads the same numbers. Use it for draws that must agree, such as which records are kept.
 *
 * Use an index for one purpose only. In particular, noise of one index must never hide two different released
 * values.
 */
#define DPF_SERVICE_RANDOM "dpframe.random/1"
typedef struct dpf_stream dpf_stream;

/* Party index of draws for an aggregate, not by a party. */
#define DPF_PARTY_AGGREGATE UINT32_C(0xffffffff)

/* A read position; lives on the caller's stack, used by one thread. Contents are the host's. */
typedef struct dpf_cursor {
    uint64_t opaque[80];
} dpf_cursor;

/* Rows of cells, in the streams and in memory. */
typedef struct dpf_rows {
    uint32_t draw;
    uint32_t party;
    int64_t n;
    const int32_t *ids; /* their numbers, each at least 0; NULL: first, first + 1, ... */
    int64_t first;      /* at least 0; first + n at most 2^32 */
    int64_t width;      /* cells of a row; every reader of the row must use the same */
    int64_t stride;     /* cell j of row i is out[i * stride + j] */
} dpf_rows;

typedef struct dpf_random_service {
    /* [setup] Opens (or finds) this component's stream for a purpose. It lives as long as the host. */
    dpf_status (*open)(const dpf_host *host, const char *purpose, dpf_stream **stream);
    /* [any] Puts the cursor at the start of an index. */
    void (*seek)(const dpf_stream *stream, uint32_t draw, uint32_t party, uint32_t row, dpf_cursor *cursor);
    /* [any] The next n uniform 64-bit words. */
    void (*bits)(dpf_cursor *cursor, uint64_t *out, int64_t n);
    /* [any] n uniform float64 in [0, 1), multiples of 2^-53. Not for noise. */
    void (*uniform)(dpf_cursor *cursor, double *out, int64_t n);
    /* [any] n integers, uniform on 0 .. bound-1, exactly. bound > 0. */
    void (*below)(dpf_cursor *cursor, uint64_t bound, uint64_t *out, int64_t n);
    /* [any] n exact Bernoulli(p) bits for the float64 p in [0, 1], each 0 or 1. */
    void (*bernoulli)(dpf_cursor *cursor, double p, uint8_t *out, int64_t n);
    /*
     * [any] n exact draws from the discrete Laplace distribution on the integers,
     * Pr[x] proportional to exp(-|x|/t). t is an integer >= 1 (the scale in grid steps), at most 2^42.
     * The law of Canonne, Kamath, Steinke, arXiv 2004.00010, drawn by inversion with as many digits as the
     * decision needs.
     */
    dpf_status (*discrete_laplace)(dpf_cursor *cursor, uint64_t t, int64_t *out, int64_t n);
    /*
     * [any] n exact draws from the discrete Gaussian on the integers,
     * Pr[x] proportional to exp(-x^2/(2 s^2)). s is an integer >= 1, at most 2^24. Inversion or rejection,
     * equally exact. DPF_E_MEMORY: no memory for the table of a small scale.
     */
    dpf_status (*discrete_gaussian)(dpf_cursor *cursor, uint64_t s, int64_t *out, int64_t n);
    /* [any] n float64 draws, standard normal, and Laplace of scale 1: fast, not exact (fails C9). */
    void (*normal)(dpf_cursor *cursor, double *out, int64_t n);
    void (*laplace)(dpf_cursor *cursor, double *out, int64_t n);
    /*
     * [any] n draws of the difference of two Poisson numbers, each of that integer mean, 2^14 to 2^47:
     * Skellam noise of variance 2 mean. Exact, except that values of probability below e^-1500 are never
     * drawn.
     */
    dpf_status (*skellam)(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n);
    /* [any] A uniform 64-bit word for each cell of the rows. DPF_E_RANGE: the streams have no room for them,
       for example for 2^32 rows of more than 4 million cells. */
    dpf_status (*row_bits)(const dpf_stream *stream, const dpf_rows *rows, uint64_t *out);
    /* [any] As normal and laplace, for each cell of the rows. */
    dpf_status (*row_normal)(const dpf_stream *stream, const dpf_rows *rows, double *out);
    dpf_status (*row_laplace)(const dpf_stream *stream, const dpf_rows *rows, double *out);
} dpf_random_service;

/* ---- work inside a call --------------------------------------------------------------------- */
/* A task of a call: worker is 0 .. n_workers-1, and runs one task at a time. */
typedef void (*dpf_task)(void *context, int64_t task, int32_t worker);

/* The context of one call of a run-time callback; it belongs to the worker. */
typedef struct dpf_call {
    uint32_t size;  /* sizeof(dpf_call) of the host */
    int32_t worker; /* 0 .. n_workers-1; at most one call per worker at a time */
    int32_t n_workers;
    int32_t round; /* 0-based */
    /* The index at which to read random draws; it follows from the component's lifetime (DPF_LIFETIME_*). */
    uint32_t draw;
    uint32_t party; /* who is acting; DPF_PARTY_AGGREGATE for the aggregator of the messages */
    const dpf_host *host;
    void *context; /* the host's own */
    /*
     * Uninitialised scratch memory, 64-byte aligned, valid until the callback returns; NULL if memory
     * runs out. 0 bytes give a valid pointer.
     */
    void *(*scratch)(const struct dpf_call *call, uint64_t bytes);
    /* 1 if the run should stop: return DPF_E_CANCELLED soon. */
    int32_t (*cancelled)(const struct dpf_call *call);
    /*
     * Runs the tasks 0 .. n_tasks-1 on the host's workers, including the caller's, and returns when all are
     * done. Results must not depend on which worker runs a task or in which order. A task may call
     * cancelled and use the host's services, but must not take scratch or run tasks itself.
     * NULL where other workers may be in the same callback; calls that run one at a time have it
     * (dpf_aggregator.finish and merge, dpf_recommender.fit). Use dpf_run_tasks.
     */
    void (*run_tasks)(const struct dpf_call *call, int64_t n_tasks, dpf_task task, void *context);
} dpf_call;

/* How long one random draw stays in use; roles have a callback that says so. */
#define DPF_LIFETIME_RUN 1   /* drawn once, reused in every round: call.draw is always 0 */
#define DPF_LIFETIME_ROUND 2 /* fresh in every round */
#define DPF_LIFETIME_SOLVE 3 /* fresh for every inner solve of a round */

/* Sugar. */
static inline const dpf_memory_service *dpf_memory(const dpf_host *host)
{
    return (const dpf_memory_service *)host->service(host, DPF_SERVICE_MEMORY);
}
static inline const dpf_log_service *dpf_log(const dpf_host *host)
{
    return (const dpf_log_service *)host->service(host, DPF_SERVICE_LOG);
}
static inline const dpf_random_service *dpf_random(const dpf_host *host)
{
    return (const dpf_random_service *)host->service(host, DPF_SERVICE_RANDOM);
}
/* How many workers dpf_run_tasks uses; a worker's number is below it. */
static inline int32_t dpf_task_workers(const dpf_call *call)
{
    return call->size > offsetof(dpf_call, run_tasks) && call->run_tasks && call->n_workers > 1
               ? call->n_workers
               : 1;
}
/* Runs all tasks: on the host's workers if the call has them, else one after another. */
static inline void dpf_run_tasks(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    if (dpf_task_workers(call) > 1) {
        call->run_tasks(call, n_tasks, task, context);
        return;
    }
    for (int64_t i = 0; i < n_tasks; i++)
        task(context, i, 0);
}

#ifdef __cplusplus
}
#endif
#endif
