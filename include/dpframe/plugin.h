/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - the entry point and the descriptors.
 *
 * Idea: a plugin is a shared object with exactly one exported symbol, the function
 * dpframe_plugin_v1. It returns constant data: who made the plugin, and its components. The host
 * lists, documents and validates components from that data, and runs no other plugin code until a
 * configuration names a component.
 *
 * Life of a component: create -> (setup callbacks) -> (run callbacks)* -> destroy. The host makes the instance, zeroed,
 * and frees it: create fills it in, destroy frees what it owns, and a component without either needs no code for that.
 *
 *     struct coins { double rate; };
 *
 *     static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
 *     {
 *         struct coins *coins = *self;
 *         (void)host;
 *         coins->rate = given->values[0].real;
 *         return DPF_OK;
 *     }
 *
 *     DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "acme-coins", .version = "1.0.0", .summary = "Coins",
 *                   .citation = "", DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct coins))
 *     DPF_SINGLE_COMPONENT_PLUGIN("com.acme.coins", "1.0.0", "Apache-2.0", component)
 *
 * Callbacks are tagged [setup] (one thread, before training), [run] (many workers at once, on one
 * instance, with disjoint outputs) or [any]. [required] ones must be there; [optional] ones may be NULL, and
 * their comment says what NULL means. An instance must not change in a [run] callback: state that changes
 * lives in buffers of the host.
 *
 * A plugin links libdpframe-sdk.a if it needs it, never dpframe, and starts no threads. It allocates through the host. It never calls exit or
 * a function that changes the process (locale, signals, floating-point mode).
 */
#ifndef DPFRAME_PLUGIN_H
#define DPFRAME_PLUGIN_H

#include "abi.h"
#include "host.h"
#include "params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Component flags. */
#define DPF_COMPONENT_EXPERIMENTAL UINT32_C(1) /* may change; the host warns when it is used */

/*
 * A component. size comes first and the structure only grows at its end, so a plugin built with
 * older headers still loads. Strings are UTF-8, constant, never NULL ("" where there is nothing).
 */
typedef struct dpf_component {
    uint32_t size;        /* sizeof(dpf_component) */
    uint32_t flags;       /* DPF_COMPONENT_* */
    const char *role;     /* role with revision: DPF_ROLE_* of role/<role>.h */
    const char *id;       /* name in configurations; outside dpframe use a prefix: "acme-laplace" */
    const char *version;  /* of the component, "1.0.0" */
    const char *summary;  /* one line */
    const char *citation; /* paper and equation, or "" */
    const dpf_param *params;
    uint32_t n_params;
    uint32_t param_stride; /* sizeof(dpf_param) */
    /*
     * [setup, optional] Fills in *self, which is instance_bytes of zeroed memory. Checks parameters against each other; the
     * host has checked their bounds. On failure it frees what it has allocated. params lives as long as the instance.
     * With instance_bytes 0 it sets *self itself, and destroy frees it. NULL: there is nothing to fill in.
     */
    dpf_status (*create)(const dpf_host *host, const dpf_params *params, void **self);
    /* [setup, optional] Frees what the instance owns. NULL: nothing. */
    void (*destroy)(void *self);
    const void *functions; /* the role's table, e.g. const dpf_loss * */
    uint64_t
        instance_bytes; /* of an instance that the host makes and frees; 0: create does, if there is one */
} dpf_component;

typedef struct dpf_plugin {
    uint32_t magic; /* DPF_PLUGIN_MAGIC */
    uint32_t size;  /* sizeof(dpf_plugin) */
    uint32_t abi_minor_needed;
    uint32_t n_components;
    const char *id; /* reverse domain, "org.dpframe.laplace" */
    const char *version;
    const char *licence; /* SPDX */
    const dpf_component *const *components;
} dpf_plugin;

/* Defines the dpf_component NAME: role, table of functions, and the other fields as initialisers. */
#define DPF_COMPONENT(NAME, ROLE, FUNCTIONS, ...)                                                            \
    static const dpf_component NAME = {.size = sizeof(dpf_component),                                        \
                                       .role = ROLE,                                                         \
                                       .param_stride = sizeof(dpf_param),                                    \
                                       .functions = &(FUNCTIONS),                                            \
                                       __VA_ARGS__};
/* An array of parameters, among these initialisers. */
#define DPF_PARAMS(ARRAY) .params = ARRAY, .n_params = sizeof(ARRAY) / sizeof((ARRAY)[0])

/* The one exported symbol. Pure: same answer always, no side effect, callable before anything else. */
#define DPF_ENTRY_NAME "dpframe_plugin_v1"
#define DPF_PLUGIN_ENTRY(PLUGIN)                                                                             \
    DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor);                                     \
    DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor)                                      \
    {                                                                                                        \
        (void)host_minor;                                                                                    \
        return &(PLUGIN);                                                                                    \
    }

/* A plugin with a single component. */
#define DPF_SINGLE_COMPONENT_PLUGIN(ID, VERSION, LICENCE, COMPONENT)                                         \
    static const dpf_component *const dpf_single_component[] = {&(COMPONENT)};                               \
    static const dpf_plugin dpf_single_plugin = {DPF_PLUGIN_MAGIC, sizeof(dpf_plugin),  0, 1, ID, VERSION,   \
                                                 LICENCE,          dpf_single_component};                    \
    DPF_PLUGIN_ENTRY(dpf_single_plugin)

#ifdef __cplusplus
}
#endif
#endif
