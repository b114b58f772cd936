/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/services.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

static atomic_llong fail_from;
static atomic_llong requests;
static atomic_llong all_blocks;

void services_fail_from(int64_t k)
{
    atomic_store(&requests, 0);
    atomic_store(&fail_from, k);
}

int64_t services_requests(void)
{
    return atomic_load(&requests);
}

int64_t services_blocks(void)
{
    return atomic_load(&all_blocks);
}

int services_request_fails(void)
{
    long long number = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
    long long limit = atomic_load_explicit(&fail_from, memory_order_relaxed);
    return limit > 0 && number >= limit;
}

static struct services *of(const dpf_host *host)
{
    return host->context;
}

/* ---- memory ---- */

/* Stands before each block, which keeps its alignment. */
union block_header {
    uint64_t bytes;
    unsigned char padding[64];
};

static void *memory_service_allocate(const dpf_host *host, uint64_t bytes)
{
    if (services_request_fails() || bytes > SIZE_MAX / 2)
        return NULL;
    union block_header *header = memory_new(1, sizeof *header + (size_t)bytes);
    if (!header)
        return NULL;
    header->bytes = bytes;
    atomic_fetch_add(&of(host)->blocks, 1);
    atomic_fetch_add(&all_blocks, 1);
    return header + 1;
}

static void memory_service_release(const dpf_host *host, void *block)
{
    if (!block)
        return;
    union block_header *header = (union block_header *)block - 1;
    sodium_memzero(block, (size_t)header->bytes);
    free(header);
    atomic_fetch_sub(&of(host)->blocks, 1);
    atomic_fetch_sub(&all_blocks, 1);
}

static const dpf_memory_service memory_service = {memory_service_allocate, memory_service_release};

/* ---- log ---- */

static void log_service_message(const dpf_host *host, int32_t level, const char *text)
{
    enum log_level known = level <= DPF_LOG_DEBUG  ? LOG_LEVEL_DEBUG
                           : level == DPF_LOG_INFO ? LOG_LEVEL_INFO
                                                   : LOG_LEVEL_WARNING;
    log_message(known, "[%s] %s: %s", of(host)->section, of(host)->who, text ? text : "");
}

static void log_service_metric(const dpf_host *host, const char *name, double value)
{
    const struct services *services = of(host);
    if (services->metric && name)
        services->metric(services->metric_context, services->section, name, value);
}

static const dpf_log_service log_service = {log_service_message, log_service_metric};

/* ---- randomness ---- */

/* '@': a stream of the run, the same whatever the section. */
static const char *stream_section(const struct services *services, const char *purpose)
{
    return purpose[0] == '@' ? "" : services->section;
}

static struct services_stream *open_stream(const struct services *services, const char *purpose)
{
    size_t length = strlen(purpose) + 1;
    struct services_stream *node = calloc(1, sizeof *node + length);
    if (!node)
        return NULL;
    memcpy(node->purpose, purpose, length);
    struct dpf_error error = {0};
    node->stream = random_stream_open(services->root, stream_section(services, purpose), purpose, &error);
    if (!node->stream) {
        free(node);
        return NULL;
    }
    return node;
}

static dpf_status random_service_open(const dpf_host *host, const char *purpose, dpf_stream **stream)
{
    struct services *services = of(host);
    if (!purpose || !purpose[0] || !stream)
        return host->fail(host, DPF_E_INTERNAL, -1, "a random stream was opened without a purpose");
    if (!services->root)
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "this host gives no randomness to the component");
    if (services_request_fails())
        return DPF_E_MEMORY;
    pthread_mutex_lock(&services->lock);
    struct services_stream *node = services->streams;
    while (node && strcmp(node->purpose, purpose) != 0)
        node = node->next;
    if (!node) {
        node = open_stream(services, purpose);
        if (node) {
            node->next = services->streams;
            services->streams = node;
        }
    }
    pthread_mutex_unlock(&services->lock);
    if (!node)
        return DPF_E_MEMORY;
    *stream = node->stream;
    return DPF_OK;
}

int services_share_stream(const struct services *services)
{
    for (const struct services_stream *node = services->streams; node; node = node->next)
        if (node->purpose[0] == '@')
            return 1;
    return 0;
}

static const dpf_random_service random_service = {
    .open = random_service_open,
    .seek = random_seek,
    .bits = random_bits,
    .uniform = random_uniform,
    .below = random_below,
    .bernoulli = random_bernoulli,
    .discrete_laplace = random_discrete_laplace,
    .discrete_gaussian = random_discrete_gaussian,
    .normal = random_normal,
    .laplace = random_laplace,
    .skellam = random_skellam,
    .row_bits = random_row_bits,
    .row_normal = random_row_normal,
    .row_laplace = random_row_laplace,
};

/* ---- the host ---- */

static const void *host_service(const dpf_host *host, const char *id)
{
    (void)host;
    static const struct {
        const char *id;
        const void *table;
    } services[] = {
        {DPF_SERVICE_MEMORY, &memory_service},
        {DPF_SERVICE_LOG, &log_service},
        {DPF_SERVICE_RANDOM, &random_service},
    };
    for (size_t i = 0; id && i < sizeof services / sizeof services[0]; i++)
        if (strcmp(services[i].id, id) == 0)
            return services[i].table;
    return NULL;
}

static dpf_status host_fail(const dpf_host *host, dpf_status code, int32_t param, const char *text)
{
    struct services *services = of(host);
    pthread_mutex_lock(&services->lock);
    if (services->failure.code == DPF_OK) {
        services->failure.code = code;
        services->failure.param = param;
        snprintf(services->failure.text, sizeof services->failure.text, "%s", text ? text : "");
    }
    pthread_mutex_unlock(&services->lock);
    return code;
}

int services_start(struct services *services, dpf_host *host, struct dpf_error *error)
{
    if (pthread_mutex_init(&services->lock, NULL) != 0)
        return error_set(error, DPF_FAULT_RUN, "cannot make a lock");
    *host = (dpf_host){
        .size = sizeof *host,
        .abi_minor = DPF_ABI_MINOR,
        .context = services,
        .service = host_service,
        .fail = host_fail,
    };
    return 0;
}

void services_stop(struct services *services)
{
    while (services->streams) {
        struct services_stream *node = services->streams;
        services->streams = node->next;
        random_stream_free(node->stream);
        free(node);
    }
    pthread_mutex_destroy(&services->lock);
}

void services_rekey(struct services *services, const struct random_root *root)
{
    services->root = root;
    for (struct services_stream *node = services->streams; node; node = node->next)
        random_stream_rekey(node->stream, root, stream_section(services, node->purpose), node->purpose);
}

void services_take_failure(struct services *services, struct services_failure *out)
{
    pthread_mutex_lock(&services->lock);
    *out = services->failure;
    memset(&services->failure, 0, sizeof services->failure);
    pthread_mutex_unlock(&services->lock);
}
