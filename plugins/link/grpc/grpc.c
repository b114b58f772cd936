/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.c - a link between machines: gRPC over TLS, in which both ends have certificates of one authority.
 * There is no way to go without. The server knows a party by the common name of its certificate.
 */
/* dladdr is GNU's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "grpc_end.h"

#define LARGEST (UINT64_C(1) << 31)
#define LARGEST_PEM (1 << 20)

#define PATIENCE 5.0 /* s: a party tries again until [federation] join-time is over */

enum { P_CA, P_CERTIFICATE, P_KEY, P_SERVER_NAME, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_CA] = DPF_PARAM_TEXT_F(
        "ca", DPF_TYPE_PATH, "", DPF_PARAM_REQUIRED,
        "The certificate (PEM) of the authority that has signed those of the server and of all "
        "parties."),
    [P_CERTIFICATE] =
        DPF_PARAM_TEXT_F("certificate", DPF_TYPE_PATH, "", DPF_PARAM_REQUIRED,
                         "This end's certificate (PEM). Its common name is the user's id at a party, "
                         "and an alternative name is the host at the server."),
    [P_KEY] = DPF_PARAM_TEXT_F("key", DPF_TYPE_PATH, "", DPF_PARAM_REQUIRED, "Its key (PEM)."),
    [P_SERVER_NAME] =
        DPF_PARAM_TEXT_F("server-name", DPF_TYPE_STRING, "", 0,
                         "A party: the name in the server's certificate, where it is not the host of "
                         "the address."),
};

struct link {
    const dpf_host *host;
    const dpf_value *values;
    const struct grpc_end_functions *functions; /* NULL until it is opened */
    struct grpc_end *end;
};

static char *read_pem(const struct link *link, int param)
{
    const dpf_memory_service *memory = dpf_memory(link->host);
    const char *path = link->values[param].text;
    char text[400], *pem = memory->allocate(link->host, LARGEST_PEM + 1);
    FILE *stream = fopen(path, "rb");
    const size_t n = stream && pem ? fread(pem, 1, LARGEST_PEM + 1, stream) : 0;
    const int bad = !stream || !pem || ferror(stream) || n == 0 || n > LARGEST_PEM;
    if (bad) {
        snprintf(text, sizeof(text), "%.300s cannot be read as a PEM file%s%s", path, stream ? "" : ": ",
                 stream ? "" : strerror(errno));
        link->host->fail(link->host, DPF_E_CONFIG, param, text);
        memory->release(link->host, pem);
        pem = NULL;
    }
    if (stream)
        fclose(stream);
    return pem;
}

/* carriers/grpc-end.so beside this plugin, for the life of the process. */
static dpf_status load_library(struct link *link)
{
    Dl_info info;
    char path[1024], text[1400];
    if (link->functions)
        return DPF_OK;
    if (dladdr((const void *)params, &info) == 0 || !info.dli_fname)
        return link->host->fail(link->host, DPF_E_INTERNAL, -1, "the plugin does not know where it lies");
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(path, sizeof(path), "%.*scarriers/grpc-end.so", slash ? (int)(slash - info.dli_fname + 1) : 0,
             info.dli_fname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    link->functions = library ? dlsym(library, GRPC_END_SYMBOL) : NULL;
    if (link->functions)
        return DPF_OK;
    snprintf(text, sizeof(text), "gRPC cannot be loaded: %.1300s", dlerror());
    return link->host->fail(link->host, DPF_E_UNSUPPORTED, -1, text);
}

/* HOST:PORT with a port from 1 to 65535 (gRPC takes 99999 for another one), or gRPC's own form, such as unix:PATH. */
static int has_port(const char *address)
{
    const char *colon = strrchr(address, ':');
    const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (strncmp(address, "unix:", 5) == 0)
        return 1;
    return colon && colon != address && digits > 0 && digits < 6 && !colon[1 + digits] &&
           atoi(colon + 1) >= 1 && atoi(colon + 1) <= 65535;
}

static dpf_status open_end(void *self, int32_t which, const char *address)
{
    struct link *link = self;
    const dpf_memory_service *memory = dpf_memory(link->host);
    char why[GRPC_END_WHY] = "";
    const dpf_status loaded = load_library(link);
    if (loaded != DPF_OK)
        return loaded;
    if (!has_port(address)) {
        char text[200];
        snprintf(text, sizeof(text),
                 "\"%.100s\" is not an address: write HOST:PORT, with a port from 1 to 65535", address);
        return link->host->fail(link->host, DPF_E_CONFIG, -1, text);
    }
    char *ca = read_pem(link, P_CA), *chain = ca ? read_pem(link, P_CERTIFICATE) : NULL,
         *key = chain ? read_pem(link, P_KEY) : NULL;
    dpf_status status = DPF_E_CONFIG;
    if (key) {
        const struct grpc_end_setup setup = {.serves = which == DPF_LINK_SERVES,
                                             .address = address,
                                             .ca = ca,
                                             .chain = chain,
                                             .key = key,
                                             .server_name = link->values[P_SERVER_NAME].text,
                                             .patience = PATIENCE};
        link->end = link->functions->open(&setup, why);
        status = link->end ? DPF_OK : link->host->fail(link->host, DPF_E_CONFIG, -1, why);
    }
    memory->release(link->host, ca);
    memory->release(link->host, chain);
    memory->release(link->host, key);
    return status;
}

static dpf_status share(void *self, const int64_t *peers, int64_t n_peers, const uint8_t *bytes,
                        uint64_t n_bytes)
{
    struct link *link = self;
    if (n_bytes > LARGEST)
        return link->host->fail(link->host, DPF_E_RANGE, -1, "a message is longer than 2^31 bytes");
    return link->functions->share(link->end, peers, n_peers, bytes, n_bytes) == 0
               ? DPF_OK
               : link->host->fail(link->host, DPF_E_MEMORY, -1, "out of memory");
}

static dpf_status send_message(void *self, int64_t peer, const uint8_t *bytes, uint64_t n_bytes)
{
    return share(self, &peer, 1, bytes, n_bytes);
}

static void admit(void *self, int64_t peer, uint64_t largest)
{
    struct link *link = self;
    link->functions->admit(link->end, peer, largest < LARGEST ? largest : LARGEST);
}

static dpf_status receive(void *self, double seconds, dpf_link_event *out)
{
    struct link *link = self;
    return link->functions->receive(link->end, seconds, out) == 0
               ? DPF_OK
               : link->host->fail(link->host, DPF_E_MEMORY, -1, "out of memory");
}

static void hang_up(void *self, int64_t peer)
{
    struct link *link = self;
    link->functions->hang_up(link->end, peer);
}

static void close_end(void *self)
{
    struct link *link = self;
    if (link->end)
        link->functions->close(link->end);
    link->end = NULL;
}

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct link *link = *self;
    link->host = host;
    link->values = given->values;
    return DPF_OK;
}

static const dpf_link functions = {
    .flags = DPF_LINK_PROTECTED,
    .largest = LARGEST,
    .open = open_end,
    .send = send_message,
    .receive = receive,
    .hang_up = hang_up,
    .close = close_end,
    .admit = admit,
    .share = share,
};

DPF_COMPONENT(component, DPF_ROLE_LINK, functions, .id = "grpc", .version = "1.0.0",
              .summary = "Between machines: gRPC over TLS, with certificates of both ends", .citation = "",
              DPF_PARAMS(params), .create = create, .destroy = close_end,
              .instance_bytes = sizeof(struct link))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.link.grpc", "1.0.0", "Apache-2.0", component)
