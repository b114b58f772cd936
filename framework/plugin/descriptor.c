/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/descriptor.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plugin/param_table.h"
#include "plugin/role_tables.h"

/* Structures grow at their ends: a plugin must have the fields of version 1.0, not today's sizeof. */
#define END_OF(TYPE, FIELD) (offsetof(TYPE, FIELD) + sizeof(((TYPE *)0)->FIELD))

#define MAX_COMPONENTS 4096
#define MAX_ID 63

/* Lower-case words joined by single characters of `joints`. */
static int is_name(const char *text, const char *joints)
{
    size_t length = strlen(text);
    if (length == 0 || length > 4 * MAX_ID)
        return 0;
    int after_joint = 1;
    for (const char *p = text; *p; p++) {
        int word = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');
        if (!word && (after_joint || !strchr(joints, *p)))
            return 0;
        after_joint = !word;
    }
    return !after_joint;
}

/* Three numbers, then anything: "1.0.0", "1.2.0-rc1". */
static int is_version(const char *text)
{
    for (int part = 0; part < 3; part++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || (part < 2 && text[digits] != '.'))
            return 0;
        text += digits + (part < 2);
    }
    return *text == '\0' || *text == '-' || *text == '+';
}

int descriptor_check_plugin(const dpf_plugin *plugin, const char *path, struct dpf_error *error)
{
    const enum dpf_fault fault = DPF_FAULT_PLUGIN;
    if (!plugin)
        return error_at(error, fault, path, 0, "the entry point returned NULL");
    if (plugin->magic != DPF_PLUGIN_MAGIC)
        return error_at(error, fault, path, 0, "the descriptor's magic number is %08x, not %08x",
                        (unsigned)plugin->magic, (unsigned)DPF_PLUGIN_MAGIC);
    if (plugin->size < END_OF(dpf_plugin, components))
        return error_at(error, fault, path, 0, "the descriptor has %u bytes, at least %zu are needed",
                        (unsigned)plugin->size, END_OF(dpf_plugin, components));
    if (plugin->abi_minor_needed > DPF_ABI_MINOR)
        return error_at(error, fault, path, 0,
                        "the plugin needs ABI %d.%u, this host speaks %d.%d: use a newer dpframe",
                        DPF_ABI_MAJOR, (unsigned)plugin->abi_minor_needed, DPF_ABI_MAJOR, DPF_ABI_MINOR);
    if (!plugin->id || !is_name(plugin->id, ".-_") || !strchr(plugin->id, '.'))
        return error_at(error, fault, path, 0,
                        "the plugin id \"%s\" is not a reverse domain name such as org.acme.noise",
                        plugin->id ? plugin->id : "(NULL)");
    if (!plugin->version || !is_version(plugin->version))
        return error_at(error, fault, path, 0, "the plugin version \"%s\" does not have the form 1.0.0",
                        plugin->version ? plugin->version : "(NULL)");
    if (!plugin->licence || !plugin->licence[0])
        return error_at(error, fault, path, 0, "the plugin states no licence (an SPDX expression)");
    if (!plugin->components || plugin->n_components == 0 || plugin->n_components > MAX_COMPONENTS)
        return error_at(error, fault, path, 0, "the plugin has %u components, 1 to %d are possible",
                        plugin->components ? (unsigned)plugin->n_components : 0, MAX_COMPONENTS);
    for (uint32_t i = 0; i < plugin->n_components; i++)
        if (!plugin->components[i])
            return error_at(error, fault, path, 0, "component %u is NULL", (unsigned)i);
    return 0;
}

static int check_identity(const dpf_component *component, const char *path, struct dpf_error *error)
{
    const enum dpf_fault fault = DPF_FAULT_PLUGIN;
    const char *id = component->id;
    if (!id || strlen(id) > MAX_ID || !is_name(id, "-"))
        return error_at(error, fault, path, 0,
                        "the component id \"%s\" is not made of lower-case words joined by '-'",
                        id ? id : "(NULL)");
    if (!component->role)
        return error_at(error, fault, path, 0, "component %s: role is NULL", id);
    if (!role_find(component->role))
        return error_at(error, fault, path, 0, "component %s: this host does not know the role \"%s\"", id,
                        component->role);
    if (!component->version || !is_version(component->version))
        return error_at(error, fault, path, 0,
                        "component %s: the version \"%s\" does not have the form 1.0.0", id,
                        component->version ? component->version : "(NULL)");
    if (!component->summary || !component->summary[0] || strchr(component->summary, '\n'))
        return error_at(error, fault, path, 0, "component %s: the summary must be one line", id);
    if (!component->citation)
        return error_at(error, fault, path, 0, "component %s: the citation is NULL (use \"\")", id);
    return 0;
}

int descriptor_check_component(const dpf_component *component, const char *path, struct dpf_error *error)
{
    const enum dpf_fault fault = DPF_FAULT_PLUGIN;
    if (component->size < END_OF(dpf_component, functions))
        return error_at(error, fault, path, 0,
                        "a component's descriptor has %u bytes, at least %zu are needed",
                        (unsigned)component->size, END_OF(dpf_component, functions));
    if (check_identity(component, path, error) != 0)
        return -1;
    const struct role *role = role_find(component->role);
    if (component->flags & ~DPF_COMPONENT_EXPERIMENTAL)
        return error_at(error, fault, path, 0, "%s %s: flags has an unknown bit", role->name, component->id);
    if (component->create && !component->destroy && descriptor_instance_bytes(component) == 0)
        return error_at(
            error, fault, path, 0,
            "%s %s: function destroy is missing: create makes the instance, as instance_bytes is 0",
            role->name, component->id);
    if (!component->functions)
        return error_at(error, fault, path, 0, "%s %s: the role's function table is missing", role->name,
                        component->id);
    const char *wrong = role_fault(role, component->functions);
    if (wrong)
        return error_at(error, fault, path, 0, "%s %s: %s", role->name, component->id, wrong);
    return 0;
}

uint64_t descriptor_instance_bytes(const dpf_component *component)
{
    return component->size >= END_OF(dpf_component, instance_bytes) ? component->instance_bytes : 0;
}

const dpf_param *descriptor_param(const dpf_component *component, uint32_t i)
{
    return (const dpf_param *)(const void *)((const char *)component->params +
                                             (size_t)i * component->param_stride);
}

int descriptor_check_params(const dpf_component *component, const char *path, struct dpf_error *error)
{
    const enum dpf_fault fault = DPF_FAULT_PLUGIN;
    const char *role = role_name(component->role);
    if (component->n_params == 0)
        return 0;
    if (!component->params || component->n_params > 1000)
        return error_at(error, fault, path, 0, "%s %s: the parameter table is NULL or absurdly long", role,
                        component->id);
    if (component->param_stride < END_OF(dpf_param, help) || component->param_stride % _Alignof(dpf_param))
        return error_at(error, fault, path, 0, "%s %s: param_stride is %u, not a multiple of %zu from %zu on",
                        role, component->id, (unsigned)component->param_stride, _Alignof(dpf_param),
                        END_OF(dpf_param, help));
    for (uint32_t i = 0; i < component->n_params; i++) {
        const dpf_param *param = descriptor_param(component, i);
        char reason[256];
        if (param_table_fault(param, reason, sizeof reason))
            return error_at(error, fault, path, 0, "%s %s: parameter %u (%s): %s", role, component->id,
                            (unsigned)i, param->name ? param->name : "unnamed", reason);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(descriptor_param(component, j)->name, param->name) == 0)
                return error_at(error, fault, path, 0, "%s %s: parameter %s is in the table twice", role,
                                component->id, param->name);
    }
    return 0;
}

int descriptor_check_unique(const dpf_plugin *plugin, const char *path, struct dpf_error *error)
{
    for (uint32_t i = 0; i < plugin->n_components; i++)
        for (uint32_t j = 0; j < i; j++) {
            const dpf_component *a = plugin->components[i], *b = plugin->components[j];
            if (strcmp(a->role, b->role) == 0 && strcmp(a->id, b->id) == 0)
                return error_at(error, DPF_FAULT_PLUGIN, path, 0, "the plugin has %s %s twice",
                                role_name(a->role), a->id);
        }
    return 0;
}

int descriptor_check(const dpf_plugin *plugin, const char *path, struct dpf_error *error)
{
    if (descriptor_check_plugin(plugin, path, error) != 0)
        return -1;
    for (uint32_t i = 0; i < plugin->n_components; i++)
        if (descriptor_check_component(plugin->components[i], path, error) != 0 ||
            descriptor_check_params(plugin->components[i], path, error) != 0)
            return -1;
    return descriptor_check_unique(plugin, path, error);
}
