/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapped_link.h - a real link within a link of tests, which stands in front of it and alters what is sent.
 *
 * A test names the outer one in [federation] link; it loads the plugin of the real one itself. Parameters of the real one
 * that a test sets are the outer one's last, in the same order.
 */
#ifndef WRAPPED_LINK_H
#define WRAPPED_LINK_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "dpframe/role/link.h"

/* The parameters of grpc, behind an outer link's own. */
#define WRAPPED_GRPC_PARAMS                                                                                  \
    DPF_PARAM_TEXT_F("ca", DPF_TYPE_PATH, "", 0, "As grpc has it."),                                         \
        DPF_PARAM_TEXT_F("certificate", DPF_TYPE_PATH, "", 0, "As grpc has it."),                            \
        DPF_PARAM_TEXT_F("key", DPF_TYPE_PATH, "", 0, "As grpc has it."),                                    \
        DPF_PARAM_TEXT_F("server-name", DPF_TYPE_STRING, "", 0, "As grpc has it.")
enum { WRAPPED_GRPC_COUNT = 4 };

/* The first member of what an outer link keeps. */
struct wrapped {
    const dpf_host *host;
    const dpf_component *component;
    const dpf_link *link; /* its functions */
    void *self;
    int32_t by_host; /* its memory was made here, as the host makes it */
    dpf_params params;
};

/* given: the outer one's, whose last n values are the real one's. */
static inline dpf_status wrapped_make(struct wrapped *wrapped, const char *name, const dpf_host *host,
                                      const dpf_params *given, uint32_t n)
{
    static const char folder[] = WRAPPED_LINKS;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    void *library = dlopen(path, RTLD_NOW);
    void *entry = library ? dlsym(library, DPF_ENTRY_NAME) : NULL;
    if (!entry)
        return host->fail(host, DPF_E_INTERNAL, -1, dlerror());
    const dpf_plugin *(*plugin)(uint32_t);
    memcpy(&plugin, &entry, sizeof plugin);
    const dpf_component *component = plugin(DPF_ABI_MINOR)->components[0];
    *wrapped = (struct wrapped){
        .host = host,
        .component = component,
        .link = component->functions,
        .params = {.size = sizeof(dpf_params), .n_values = n, .values = given->values + given->n_values - n}};
    if (component->instance_bytes > 0) {
        wrapped->self = dpf_memory(host)->allocate(host, component->instance_bytes);
        wrapped->by_host = 1;
        if (!wrapped->self)
            return DPF_E_MEMORY;
    }
    return component->create ? component->create(host, &wrapped->params, &wrapped->self) : DPF_OK;
}

static inline void wrapped_free(struct wrapped *wrapped)
{
    if (wrapped->component && wrapped->component->destroy)
        wrapped->component->destroy(wrapped->self);
    if (wrapped->by_host)
        dpf_memory(wrapped->host)->release(wrapped->host, wrapped->self);
}

/* What the outer one leaves as it is. */
static inline dpf_status wrapped_open(void *self, int32_t end, const char *address)
{
    struct wrapped *wrapped = self;
    return wrapped->link->open(wrapped->self, end, address);
}

static inline dpf_status wrapped_send(void *self, int64_t peer, const uint8_t *bytes, uint64_t n)
{
    struct wrapped *wrapped = self;
    return wrapped->link->send(wrapped->self, peer, bytes, n);
}

static inline dpf_status wrapped_receive(void *self, double seconds, dpf_link_event *out)
{
    struct wrapped *wrapped = self;
    return wrapped->link->receive(wrapped->self, seconds, out);
}

static inline void wrapped_hang_up(void *self, int64_t peer)
{
    struct wrapped *wrapped = self;
    wrapped->link->hang_up(wrapped->self, peer);
}

static inline void wrapped_admit(void *self, int64_t peer, uint64_t largest)
{
    struct wrapped *wrapped = self;
    wrapped->link->admit(wrapped->self, peer, largest);
}

static inline void wrapped_close(void *self)
{
    struct wrapped *wrapped = self;
    wrapped->link->close(wrapped->self);
}

/*
 * A plugin of two links, NAME over local and NAME-grpc, that do what DOES says. The file has destroy and, of its own kind,
 * own_create(host, given, self), which is called before the real link is made; params and grpc_params. The rest are the functions.
 */
#define WRAPPED_PLUGIN(NAME, DOES, BYTES, ...)                                                               \
    static dpf_status create_over(const dpf_host *host, const dpf_params *given, const char *name,           \
                                  uint32_t n, void **self)                                                   \
    {                                                                                                        \
        own_create(host, given, *self);                                                                      \
        return wrapped_make(*self, name, host, given, n);                                                    \
    }                                                                                                        \
    static dpf_status create_local(const dpf_host *host, const dpf_params *given, void **self)               \
    {                                                                                                        \
        return create_over(host, given, "local", 0, self);                                                   \
    }                                                                                                        \
    static dpf_status create_grpc(const dpf_host *host, const dpf_params *given, void **self)                \
    {                                                                                                        \
        return create_over(host, given, "grpc", WRAPPED_GRPC_COUNT, self);                                   \
    }                                                                                                        \
    static const dpf_link local_functions = {.flags = DPF_LINK_LOCAL, __VA_ARGS__};                          \
    static const dpf_link grpc_functions = {.flags = DPF_LINK_PROTECTED, __VA_ARGS__};                       \
    DPF_COMPONENT(over_local, DPF_ROLE_LINK, local_functions, .id = NAME, .version = "1.0.0",                \
                  .summary = DOES " over local", .citation = "", DPF_PARAMS(params), .create = create_local, \
                  .destroy = destroy, .instance_bytes = (BYTES))                                             \
    DPF_COMPONENT(over_grpc, DPF_ROLE_LINK, grpc_functions, .id = NAME "-grpc", .version = "1.0.0",          \
                  .summary = DOES " over grpc", .citation = "", DPF_PARAMS(grpc_params),                     \
                  .create = create_grpc, .destroy = destroy, .instance_bytes = (BYTES))                      \
    static const dpf_component *const wrapped_components[] = {&over_local, &over_grpc};                      \
    static const dpf_plugin wrapped_plugin = {.magic = DPF_PLUGIN_MAGIC,                                     \
                                              .size = sizeof(dpf_plugin),                                    \
                                              .n_components = 2,                                             \
                                              .id = "org.dpframe.test." NAME,                                \
                                              .version = "1.0.0",                                            \
                                              .licence = "Apache-2.0",                                       \
                                              .components = wrapped_components};                             \
    DPF_PLUGIN_ENTRY(wrapped_plugin)

#endif
