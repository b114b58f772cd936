/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services.h - the services of a dpf_host; each instance has its own.
 *
 * Several workers may call all functions of the services at once. The host counts memory, to find leaks, and can
 * make the k-th allocation fail, to test failure paths.
 */
#ifndef DPF_PLUGIN_SERVICES_H
#define DPF_PLUGIN_SERVICES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "dpframe/host.h"

/* The first report through dpf_host.fail. */
struct services_failure {
    dpf_status code; /* DPF_OK: nothing was reported */
    int32_t param;
    char text[1024];
};

struct services_stream {
    struct services_stream *next;
    dpf_stream *stream;
    char purpose[];
};

struct services {
    const char *section; /* keys the randomness */
    const char *who;     /* "mechanism laplace": for the log */
    const struct random_root *root;
    void (*metric)(void *context, const char *section, const char *name, double value);
    void *metric_context;
    pthread_mutex_t lock; /* guards the two below */
    struct services_failure failure;
    struct services_stream *streams;
    atomic_llong blocks; /* allocated and not released */
};

/* The caller has set section, who, root and metric; the rest is zero. */
int services_start(struct services *services, dpf_host *host, struct dpf_error *error);
void services_stop(struct services *services);
/* All streams that were opened become those of another root. Nobody may be reading them. */
void services_rekey(struct services *services, const struct random_root *root);
/* 1 if a stream of the whole run has been opened. Nobody may be opening one. */
int services_share_stream(const struct services *services);
/* Hands over the failure and forgets it. */
void services_take_failure(struct services *services, struct services_failure *out);

/*
 * Test hooks, of the whole process. The k-th request for memory or scratch from now on gets NULL,
 * and so do all after it; 0 switches this off. The count is of requests since the last call.
 */
void services_fail_from(int64_t k);
int64_t services_requests(void);
/* Blocks that all components of the process hold. */
int64_t services_blocks(void);
/* 1 if a request is to fail now. Counts it. For whoever hands out memory. */
int services_request_fails(void);

#endif
