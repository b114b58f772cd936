/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/metrics.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef DPFRAME_MICROHTTPD
#include <microhttpd.h>
#endif

#include "base/memory.h"
#include "base/text.h"
#include "engine/remote.h"

#ifndef DPFRAME_MICROHTTPD

int metrics_open(struct metrics *metrics, const struct plan *plan, int64_t listed, const char *address,
                 struct dpf_error *error)
{
    (void)listed;
    metrics->end = NULL;
    return *address
               ? config_error(plan->config, "federation", "metrics", error,
                              "this dpframe was built without libmicrohttpd: install libmicrohttpd-dev and "
                              "build it again, or remove the key")
               : 0;
}
void metrics_parties(struct metrics *metrics, int64_t joined)
{
    (void)metrics;
    (void)joined;
}
void metrics_round(struct metrics *metrics, int64_t round, int64_t survivors)
{
    (void)metrics;
    (void)round;
    (void)survivors;
}
void metrics_missed(struct metrics *metrics, int64_t parties)
{
    (void)metrics;
    (void)parties;
}
void metrics_close(struct metrics *metrics)
{
    (void)metrics;
}

#else

/* The library and what it needs take longer to load than the rest of the program, so only a server that is asked
   for metrics does. */
#define LIBRARY "libmicrohttpd.so.12"

struct metrics_end {
    pthread_mutex_t lock; /* of the numbers */
    int64_t planned, complete, listed, joined, survivors, missed;
    int counts_parties; /* may be told */
    void *library;
    struct MHD_Daemon *daemon;
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_stop_daemon) stop;
    __typeof__(&MHD_create_response_from_buffer) respond;
    __typeof__(&MHD_add_response_header) add_header;
    __typeof__(&MHD_queue_response) queue;
    __typeof__(&MHD_destroy_response) destroy;
};

/* ---- what is told ------------------------------------------------------------------------------- */

static void add_number(struct text *text, const char *name, const char *help, int64_t value)
{
    text_add(text, "# TYPE dpframe_%s gauge\n# HELP dpframe_%s %s\ndpframe_%s %lld\n", name, name, help, name,
             (long long)value);
}

static char *metrics_text(struct metrics_end *end)
{
    struct text text = {0};
    pthread_mutex_lock(&end->lock);
    text_add(&text,
             "# TYPE dpframe_build info\n# HELP dpframe_build The "
             "program.\ndpframe_build_info{version=\"%s\"} 1\n",
             DPFRAME_VERSION);
    add_number(&text, "rounds_planned", "Rounds of the run.", end->planned);
    add_number(&text, "rounds_complete", "Rounds whose sums are open.", end->complete);
    add_number(&text, "parties_listed", "Parties on the public list.", end->listed);
    if (end->counts_parties) {
        add_number(&text, "parties_joined", "Parties that are connected and have consented.", end->joined);
        add_number(&text, "parties_in_last_sum", "Parties whose messages are in the last sum.",
                   end->survivors);
        add_number(&text, "answers_missed", "Answers that did not come in time, of all phases.", end->missed);
    }
    text_add(&text, "# EOF\n");
    pthread_mutex_unlock(&end->lock);
    return text.data;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *n_data,
                              void **state)
{
    struct metrics_end *end = context;
    (void)version;
    (void)data;
    (void)n_data;
    (void)state;
    const int found = strcmp(url, "/metrics") == 0 && strcmp(method, "GET") == 0;
    char *text = found ? metrics_text(end) : memory_text("only GET /metrics\n");
    if (!text)
        return MHD_NO;
    struct MHD_Response *response = end->respond(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text);
        return MHD_NO;
    }
    end->add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                    found ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain");
    const enum MHD_Result result = end->queue(connection, found ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, response);
    end->destroy(response);
    return result;
}

/* ---- the responder ------------------------------------------------------------------------------ */

/* dlsym returns functions as objects, as POSIX has it. */
static int find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found ? 0 : -1;
}

static int load(struct metrics_end *end)
{
    end->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return !end->library || find(end->library, "MHD_start_daemon", &end->start) != 0 ||
                   find(end->library, "MHD_stop_daemon", &end->stop) != 0 ||
                   find(end->library, "MHD_create_response_from_buffer", &end->respond) != 0 ||
                   find(end->library, "MHD_add_response_header", &end->add_header) != 0 ||
                   find(end->library, "MHD_queue_response", &end->queue) != 0 ||
                   find(end->library, "MHD_destroy_response", &end->destroy) != 0
               ? -1
               : 0;
}

static int read_address(const char *text, struct sockaddr_in *out)
{
    char host[64];
    int64_t port;
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof host || text_to_int(colon + 1, &port) != 0 || port < 1 ||
        port > 65535)
        return -1;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    *out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, host, &out->sin_addr) == 1 ? 0 : -1;
}

int metrics_open(struct metrics *metrics, const struct plan *plan, int64_t listed, const char *address,
                 struct dpf_error *error)
{
    struct sockaddr_in where;
    metrics->end = NULL;
    if (!*address)
        return 0;
    if (read_address(address, &where) != 0)
        return config_error(plan->config, "federation", "metrics", error,
                            "\"%s\" is not an IPv4 address and port: write 127.0.0.1:9464", address);
    struct metrics_end *end = memory_new(1, sizeof *end);
    if (!end)
        return error_memory(error);
    metrics->end = end;
    pthread_mutex_init(&end->lock, NULL);
    end->planned = remote_rounds(plan);
    end->listed = listed;
    end->counts_parties = plan->guarantee.adjacency != DPF_ADJ_ADD_REMOVE;
    if (load(end) != 0)
        return config_error(plan->config, "federation", "metrics", error,
                            "metrics need %s: install libmicrohttpd12", LIBRARY);
    end->daemon =
        end->start(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, end, MHD_OPTION_SOCK_ADDR, &where,
                   MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_END);
    return end->daemon ? 0
                       : config_error(plan->config, "federation", "metrics", error, "cannot listen at %s: %s",
                                      address, strerror(errno));
}

void metrics_parties(struct metrics *metrics, int64_t joined)
{
    struct metrics_end *end = metrics->end;
    if (!end)
        return;
    pthread_mutex_lock(&end->lock);
    end->joined = joined;
    pthread_mutex_unlock(&end->lock);
}

void metrics_round(struct metrics *metrics, int64_t round, int64_t survivors)
{
    struct metrics_end *end = metrics->end;
    if (!end)
        return;
    pthread_mutex_lock(&end->lock);
    end->complete = round + 1;
    end->survivors = survivors;
    pthread_mutex_unlock(&end->lock);
}

void metrics_missed(struct metrics *metrics, int64_t parties)
{
    struct metrics_end *end = metrics->end;
    if (!end)
        return;
    pthread_mutex_lock(&end->lock);
    end->missed += parties;
    pthread_mutex_unlock(&end->lock);
}

void metrics_close(struct metrics *metrics)
{
    struct metrics_end *end = metrics->end;
    if (!end)
        return;
    if (end->daemon)
        end->stop(end->daemon);
    pthread_mutex_destroy(&end->lock);
    free(end);
    metrics->end = NULL;
}

#endif
