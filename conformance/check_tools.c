/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "plugin/descriptor.h"

#define SECTION "check"

struct check_kept {
    struct check_kept *next;
    struct instance *instance;
    struct config *config;
    void *block; /* guarded */
    size_t bytes;
};

static struct check_kept *keep(struct check *check)
{
    struct check_kept *kept = memory_new(1, sizeof *kept);
    if (kept) {
        kept->next = check->kept;
        check->kept = kept;
    }
    return kept;
}

void *check_keep(struct check *check, size_t bytes)
{
    struct check_kept *kept = keep(check);
    if (!kept || !(kept->block = check_guarded(bytes))) {
        check_fail(check, "out of memory");
        return NULL;
    }
    memset(kept->block, 0, bytes);
    kept->bytes = bytes;
    return kept->block;
}

uint64_t check_kept_hash(const struct check *check)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const struct check_kept *kept = check->kept; kept; kept = kept->next)
        for (size_t i = 0; i < kept->bytes; i++)
            hash = (hash ^ ((const unsigned char *)kept->block)[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Instances before the configurations that they look into: both lists run newest first. */
void check_finish(struct check *check)
{
    for (struct check_kept *kept = check->kept; kept; kept = kept->next)
        if (kept->instance)
            instance_end(kept->instance);
    while (check->kept) {
        struct check_kept *kept = check->kept;
        check->kept = kept->next;
        config_free(kept->config);
        check_guarded_free(kept->block);
        free(kept);
    }
}

static int has_param(const dpf_component *component, const char *key, size_t length)
{
    for (uint32_t i = 0; i < component->n_params; i++) {
        const char *name = descriptor_param(component, i)->name;
        if (strlen(name) == length && strncmp(name, key, length) == 0)
            return 1;
    }
    return 0;
}

/* Something within bounds for a parameter without a default. */
static void add_required(struct text *text, const dpf_param *param)
{
    char number[32];
    double lo = isfinite(param->lo) ? param->lo : isfinite(param->hi) ? param->hi - 2 : -1;
    double hi = isfinite(param->hi) ? param->hi : lo + 2;
    double middle = lo + (hi - lo) / 2;
    switch (param->type) {
    case DPF_TYPE_BOOL:
        text_add(text, "%s = no\n", param->name);
        break;
    case DPF_TYPE_INT:
    case DPF_TYPE_INT_LIST:
        text_add(text, "%s = %.0f\n", param->name, floor(middle));
        break;
    case DPF_TYPE_REAL:
    case DPF_TYPE_REAL_LIST:
        text_add(text, "%s = %s\n", param->name, text_from_real(middle, number));
        break;
    case DPF_TYPE_ENUM:
        text_add(text, "%s = %s\n", param->name, param->values[0].name);
        break;
    default:
        text_add(text, "%s = x\n", param->name);
    }
}

static void write_config(struct check *check, const char *key, const char *value, struct text *text)
{
    const dpf_component *component = check->entry.component;
    text_add(text, "[" SECTION "]\n");
    if (key)
        text_add(text, "%s = %s\n", key, value);
    for (int i = 0; i < check->n_settings; i++) {
        const char *setting = check->settings[i];
        size_t length = strcspn(setting, "=");
        if (has_param(component, setting, length) &&
            !(key && strlen(key) == length && strncmp(key, setting, length) == 0))
            text_add(text, "%.*s = %s\n", (int)length, setting, setting + length + 1);
    }
    for (uint32_t i = 0; i < component->n_params; i++) {
        const dpf_param *param = descriptor_param(component, i);
        int set = key && strcmp(key, param->name) == 0;
        for (int s = 0; s < check->n_settings; s++) {
            size_t length = strcspn(check->settings[s], "=");
            set |= strlen(param->name) == length && strncmp(param->name, check->settings[s], length) == 0;
        }
        if ((param->flags & DPF_PARAM_REQUIRED) && !set)
            add_required(text, param);
    }
}

struct instance *check_new_instance(struct check *check, const char *key, const char *value,
                                    struct dpf_error *error)
{
    struct text text = {0};
    write_config(check, key, value, &text);
    struct config *config = config_parse("check.ini", text.data, text.length, error);
    text_free(&text);
    struct check_kept *kept = config ? keep(check) : NULL;
    if (!kept)
        return NULL;
    kept->config = config; /* instances look into it as long as they live */
    struct instance_environment environment = {
        .seeded = check->seeded, .privacy = check->privacy, .config = config};
    return instance_new(&check->entry, SECTION, &environment, error);
}

struct instance *check_instance(struct check *check)
{
    struct dpf_error error = {0};
    struct instance *instance = check_new_instance(check, NULL, NULL, &error);
    struct check_kept *kept = instance ? keep(check) : NULL;
    if (kept)
        kept->instance = instance;
    else
        check_skip(check, "no instance could be made: %.400s", error.text);
    return instance;
}

uint64_t check_next(struct check_source *source)
{
    uint64_t z = source->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double check_uniform(struct check_source *source, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(check_next(source) >> 11) * 0x1p-53);
}

#define ZONE 256
#define PATTERN 0xa7

void *check_guarded(size_t bytes)
{
    unsigned char *block = memory_raw(1, bytes + 2 * ZONE);
    if (!block)
        return NULL;
    memset(block, PATTERN, bytes + 2 * ZONE);
    memcpy(block, &bytes, sizeof bytes);
    return block + ZONE;
}

int check_guards_hold(const void *block)
{
    const unsigned char *start = (const unsigned char *)block - ZONE;
    size_t bytes;
    memcpy(&bytes, start, sizeof bytes);
    int whole = 1;
    for (size_t i = sizeof bytes; i < ZONE; i++)
        whole &= start[i] == PATTERN;
    for (size_t i = 0; i < ZONE; i++)
        whole &= start[ZONE + bytes + i] == PATTERN;
    return whole;
}

void check_guarded_free(void *block)
{
    if (block)
        free((unsigned char *)block - ZONE);
}

int check_finite(const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

int check_finite_f(const float *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}
