/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "plugin/descriptor.h"
#include "plugin/role_tables.h"

struct internals {
    struct services services;
    const struct config *config;
    char *section;
    char *who;
    int bound;   /* values are to be freed */
    int created; /* self is to be destroyed */
    int ours;    /* self is the host's memory */
};

static struct internals *of(const struct instance *instance)
{
    return instance->internals;
}

/* NULL where the host's services cannot be started. */
static struct instance *prepare(const struct registry_entry *entry, const struct role *role,
                                const char *section, const struct instance_environment *environment,
                                struct dpf_error *error)
{
    struct instance *instance = memory_need(1, sizeof *instance);
    struct internals *internals = memory_need(1, sizeof *internals);
    internals->config = environment->config;
    internals->section = memory_text(section);
    internals->who = memory_format("%s %s", role->name, entry->component->id);
    internals->services.section = internals->section;
    internals->services.who = internals->who;
    internals->services.root = role->private_randomness ? environment->privacy : environment->seeded;
    internals->services.metric = environment->metric;
    internals->services.metric_context = environment->metric_context;
    instance->entry = entry;
    instance->functions = entry->component->functions;
    if (services_start(&internals->services, &instance->host, error) == 0) {
        instance->internals = internals;
        return instance;
    }
    free(internals->section);
    free(internals->who);
    free(internals);
    free(instance);
    return NULL;
}

/* The memory of the host stays the instance, whatever create says: it is the host's to free. */
static dpf_status fill_in(struct instance *instance)
{
    const dpf_host *host = &instance->host;
    void *const made = instance->self;
    const dpf_status status =
        instance->entry->component->create(host, &instance->values.params, &instance->self);
    if (!of(instance)->ours || instance->self == made)
        return status;
    instance->self = made;
    return status != DPF_OK
               ? status
               : host->fail(host, DPF_E_INTERNAL, -1,
                            "create replaced the instance that the host had made: fill in *self, "
                            "or leave instance_bytes out and free the instance in destroy");
}

static dpf_status create(struct instance *instance)
{
    const dpf_component *component = instance->entry->component;
    const dpf_host *host = &instance->host;
    const uint64_t bytes = descriptor_instance_bytes(component);
    if (bytes > 0 || !component->create) {
        instance->self = dpf_memory(host)->allocate(host, bytes);
        if (!instance->self)
            return DPF_E_MEMORY;
        of(instance)->ours = 1;
    }
    return component->create ? fill_in(instance) : DPF_OK;
}

struct instance *instance_new(const struct registry_entry *entry, const char *section,
                              const struct instance_environment *environment, struct dpf_error *error)
{
    const dpf_component *component = entry->component;
    const struct role *role = role_find(component->role);
    if (!role)
        error_set(error, DPF_FAULT_PLUGIN, "unknown role \"%s\"", component->role);
    struct instance *instance = role ? prepare(entry, role, section, environment, error) : NULL;
    if (!instance)
        return NULL;
    struct internals *internals = of(instance);
    internals->bound =
        config_bind(environment->config, internals->section, component->params, component->n_params,
                    component->param_stride, internals->who, 1, &instance->values, error) == 0;
    const dpf_status status = internals->bound ? create(instance) : DPF_OK;
    internals->created = internals->bound && status == DPF_OK;
    if (internals->created)
        return instance;
    if (internals->bound)
        instance_result(instance, status, NULL, error);
    instance_free(instance);
    return NULL;
}

int64_t instance_blocks(const struct instance *instance)
{
    return atomic_load(&of(instance)->services.blocks);
}

int64_t instance_end(struct instance *instance)
{
    struct internals *internals = of(instance);
    int64_t left = 0;
    if (internals) {
        const dpf_component *component = instance->entry->component;
        if (internals->created && component->destroy)
            component->destroy(instance->self);
        if (internals->ours)
            dpf_memory(&instance->host)->release(&instance->host, instance->self);
        left = instance_blocks(instance);
        if (internals->bound)
            config_values_free(&instance->values);
        services_stop(&internals->services);
        free(internals->section);
        free(internals->who);
        free(internals);
    }
    free(instance);
    return left;
}

void instance_free(struct instance *instance)
{
    if (!instance)
        return;
    const dpf_component *component = instance->entry->component;
    int64_t left = instance_end(instance);
    if (left != 0)
        log_message(LOG_LEVEL_WARNING, "%s %s kept %lld blocks of memory after it was destroyed",
                    role_name(component->role), component->id, (long long)left);
}

static const char *generic_sentence(dpf_status status)
{
    switch (status) {
    case DPF_E_CONFIG:
        return "the parameters contradict each other";
    case DPF_E_RANGE:
        return "a value lies outside what the component can represent";
    case DPF_E_MEMORY:
        return "out of memory";
    case DPF_E_UNSUPPORTED:
        return "the component does not serve this request";
    case DPF_E_NUMERIC:
        return "the computation gave NaN or infinity, or did not converge";
    case DPF_E_PRIVACY:
        return "going on would break the stated guarantee";
    case DPF_E_CANCELLED:
        return "stopped on request";
    case DPF_E_INTERNAL:
        return "the component reports a bug in itself";
    default:
        return "the component returned a status that the ABI does not define";
    }
}

/* Who has to act: the author of the configuration, the author of the plugin, or nobody. */
static enum dpf_fault fault_of(dpf_status status, int is_configured)
{
    switch (status) {
    case DPF_E_CONFIG:
    case DPF_E_UNSUPPORTED:
    case DPF_E_PRIVACY:
        return DPF_FAULT_CONFIG;
    case DPF_E_RANGE:
        return is_configured ? DPF_FAULT_CONFIG : DPF_FAULT_RUN;
    case DPF_E_MEMORY:
    case DPF_E_NUMERIC:
    case DPF_E_CANCELLED:
        return DPF_FAULT_RUN;
    default:
        return DPF_FAULT_PLUGIN;
    }
}

void instance_rekey(struct instance *instance, const struct random_root *privacy)
{
    if (role_find(instance->entry->component->role)->private_randomness)
        services_rekey(&of(instance)->services, privacy);
}

int instance_shares_stream(const struct instance *instance)
{
    return services_share_stream(&of(instance)->services);
}

/* The name of a parameter, or NULL if the plugin named none that exists. */
static const char *param_name(const struct instance *instance, int32_t param)
{
    const dpf_component *component = instance->entry->component;
    if (param < 0 || (uint32_t)param >= component->n_params)
        return NULL;
    return descriptor_param(component, (uint32_t)param)->name;
}

void instance_reason(struct instance *instance, dpf_status status, char *out, size_t size)
{
    struct services_failure failure;
    services_take_failure(&of(instance)->services, &failure);
    snprintf(out, size, "%s", failure.text[0] ? failure.text : generic_sentence(status));
}

/* The line that sets the parameter, else, of a component that the key of a section names, that line. */
static const struct config_entry *place_of(const struct internals *internals, const char *key)
{
    const struct config_entry *entry = key ? config_find(internals->config, internals->section, key) : NULL;
    const char *dot = strrchr(internals->section, '.');
    if (entry || !dot || !internals->config)
        return entry;
    char *chooser = memory_format("%.*s", (int)(dot - internals->section), internals->section);
    entry = config_find(internals->config, chooser, dot + 1);
    free(chooser);
    return entry;
}

int instance_result(struct instance *instance, dpf_status status, const char *step, struct dpf_error *error)
{
    if (status == DPF_OK)
        return 0;
    struct internals *internals = of(instance);
    struct services_failure failure;
    services_take_failure(&internals->services, &failure);
    const char *key = param_name(instance, failure.param);
    if (failure.code == DPF_OK)
        key = NULL;
    const char *sentence = failure.text[0] ? failure.text : generic_sentence(status);
    const struct config_entry *entry = place_of(internals, key);
    const int is_default = !entry || !key || strcmp(entry->key, key) != 0;
    const char *file = entry ? entry->file : internals->config ? config_path(internals->config) : NULL;
    char number[32] = "";
    if (status < DPF_OK || status > DPF_E_INTERNAL) /* the plugin's author will want to know which */
        snprintf(number, sizeof number, " (status %d)", (int)status);
    /* A plan is made of the configuration alone. */
    const int is_configured = key != NULL || (step && strcmp(step, "plan") == 0);
    return error_at(error, fault_of(status, is_configured), file, entry ? entry->line : 0,
                    "[%s] %s%s%s: %s%s%s%s", internals->section, key ? key : "",
                    key ? (is_default ? " (default), " : ", ") : "", internals->who, sentence, number,
                    step ? ", in " : "", step ? step : "");
}
