/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of create and destroy: defaults, boundary values, failing allocations, leaks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "conformance/check_tools.h"
#include "plugin/descriptor.h"
#include "plugin/services.h"

/* Allocations after which a create that still fails is believed to fail for another reason. */
#define MOST_ALLOCATIONS 400

static void rule_default(struct check *check)
{
    struct dpf_error error = {0};
    struct instance *instance = check_new_instance(check, NULL, NULL, &error);
    if (instance)
        instance_end(instance);
    else if (error.fault == DPF_FAULT_CONFIG)
        check_warn(check, "the defaults make no instance (give --set key=value): %.500s", error.text);
    else
        check_fail(check, "create fails with the defaults: %.500s", error.text);
}

/* An instance can be made, and is gone again. Otherwise the rule is skipped. */
static int can_be_made(struct check *check)
{
    struct dpf_error error = {0};
    struct instance *instance = check_new_instance(check, NULL, NULL, &error);
    if (!instance) {
        check_skip(check, "no instance could be made: %.400s", error.text);
        return 0;
    }
    instance_end(instance);
    return 1;
}

static void rule_leak(struct check *check)
{
    struct dpf_error error = {0};
    struct instance *instance = check_new_instance(check, NULL, NULL, &error);
    if (!instance) {
        check_skip(check, "no instance could be made: %.400s", error.text);
        return;
    }
    int64_t left = instance_end(instance);
    if (left > 0)
        check_fail(check, "%lld blocks are left after destroy", (long long)left);
    else if (left < 0)
        check_fail(check, "%lld more blocks were released than allocated", (long long)-left);
}

static void rule_memory(struct check *check)
{
    if (!can_be_made(check))
        return;
    for (int64_t k = 1; k <= MOST_ALLOCATIONS; k++) {
        struct dpf_error error = {0};
        services_fail_from(k);
        struct instance *instance = check_new_instance(check, NULL, NULL, &error);
        int64_t requests = services_requests();
        services_fail_from(0);
        if (instance) {
            int64_t left = instance_end(instance);
            if (requests >= k)
                check_fail(check, "create succeeds although allocation %lld failed", (long long)k);
            else if (left != 0)
                check_fail(check, "%lld blocks are left after destroy", (long long)left);
            return;
        }
        if (requests < k) {
            check_fail(check, "create fails before allocation %lld, which it passed before", (long long)k);
            return;
        }
    }
    check_warn(check, "create makes more than %d allocations", MOST_ALLOCATIONS);
}

/* What stays allocated when create fails half-way shows only in the counters. */
static void rule_memory_leak(struct check *check)
{
    if (!can_be_made(check))
        return;
    for (int64_t k = 1; k <= MOST_ALLOCATIONS; k++) {
        struct dpf_error error = {0};
        services_fail_from(k);
        struct instance *instance = check_new_instance(check, NULL, NULL, &error);
        services_fail_from(0);
        int64_t left = services_blocks();
        if (instance) {
            instance_end(instance);
            return;
        }
        if (left != 0) {
            check_fail(check, "%lld blocks stay allocated when allocation %lld of create fails",
                       (long long)left, (long long)k);
            return;
        }
    }
}

static int try_value(struct check *check, const dpf_param *param, const char *value)
{
    struct dpf_error error = {0};
    struct instance *instance = check_new_instance(check, param->name, value, &error);
    if (instance) {
        int64_t left = instance_end(instance);
        if (left != 0)
            return check_fail(check, "%lld blocks are left after destroy with %s = %s", (long long)left,
                              param->name, value);
    } else if (error.fault == DPF_FAULT_PLUGIN) {
        return check_fail(check, "%s = %s: %.500s", param->name, value, error.text);
    } else if (services_blocks() != 0) {
        return check_fail(check, "%s = %s: create fails and leaves %lld blocks", param->name, value,
                          (long long)services_blocks());
    }
    return 0;
}

static void try_numbers(struct check *check, const dpf_param *param)
{
    char value[32];
    double ends[2] = {param->lo, param->hi};
    for (int i = 0; i < 2; i++) {
        int open = param->flags & (i ? DPF_PARAM_OPEN_HI : DPF_PARAM_OPEN_LO) ? 1 : 0;
        double x = ends[i];
        if (param->type == DPF_TYPE_INT) {
            if (isinf(x) || fabs(x) > 1e6) /* sizes: a huge one only tests the machine's memory */
                x = i ? fmin(param->hi, fmax(param->lo, 1000)) : fmax(param->lo, fmin(param->hi, -1000));
            snprintf(value, sizeof value, "%.0f", open && x == ends[i] ? x + (i ? -1 : 1) : x);
        } else {
            if (isinf(x) && open)
                x = i ? 1e300 : -1e300;
            else if (open)
                x = nextafter(x, ends[1 - i]);
            text_from_real(x, value);
        }
        try_value(check, param, value);
    }
}

static void rule_boundaries(struct check *check)
{
    if (!can_be_made(check))
        return;
    const dpf_component *component = check->entry.component;
    for (uint32_t i = 0; i < component->n_params; i++) {
        const dpf_param *param = descriptor_param(component, i);
        if (param->type == DPF_TYPE_BOOL) {
            try_value(check, param, "no");
            try_value(check, param, "yes");
        } else if (param->type == DPF_TYPE_ENUM) {
            for (int64_t v = 0; v < param->n_values; v++)
                try_value(check, param, param->values[v].name);
        } else if (param->type == DPF_TYPE_INT || param->type == DPF_TYPE_REAL) {
            try_numbers(check, param);
        }
    }
}

static const struct check_rule rules[] = {
    {"create.default", "", rule_default, "the defaults make an instance"},
    {"create.leak", "", rule_leak, "destroy gives all memory back"},
    {"create.memory", "", rule_memory, "create fails cleanly when any of its allocations fails"},
    {"create.memory-leak", "", rule_memory_leak, "a failing create keeps nothing"},
    {"create.boundaries", "", rule_boundaries, "values at the bounds make an instance or a clear error"},
};
const struct check_rules check_create_rules = CHECK_RULES(rules);
