/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

void *plain_block(uint64_t bytes)
{
    const size_t size = bytes ? (size_t)((bytes + 63) / 64 * 64) : 64;
    return aligned_alloc(64, size);
}

static void *plain_allocate(const dpf_host *host, uint64_t bytes)
{
    struct plain_host *plain = (struct plain_host *)(uintptr_t)host;

    if (plain->fail_after == 0) {
        return NULL;
    }
    if (plain->fail_after > 0) {
        plain->fail_after--;
    }
    void *block = plain_block(bytes);
    assert_non_null(block);
    memset(block, 0, bytes ? (size_t)bytes : 64);
    plain->live++;
    return block;
}

void plain_release(const dpf_host *host, void *block)
{
    struct plain_host *plain = (struct plain_host *)(uintptr_t)host;

    plain->live -= block ? 1 : 0;
    free(block);
}

static void plain_message(const dpf_host *host, int32_t level, const char *text)
{
    struct plain_host *plain = (struct plain_host *)(uintptr_t)host;

    (void)text;
    plain->warnings += level >= DPF_LOG_WARNING;
}

static void plain_metric(const dpf_host *host, const char *name, double value)
{
    struct plain_host *plain = (struct plain_host *)(uintptr_t)host;

    snprintf(plain->metric, sizeof(plain->metric), "%s", name);
    plain->metric_value = value;
}

static const void *plain_service(const dpf_host *host, const char *id)
{
    const struct plain_host *plain = (const struct plain_host *)(const void *)host;

    if (strcmp(id, DPF_SERVICE_MEMORY) == 0) {
        return &plain->memory;
    }
    if (strcmp(id, DPF_SERVICE_LOG) == 0) {
        return &plain->log;
    }
    return strcmp(id, DPF_SERVICE_RANDOM) == 0 ? plain->random : NULL;
}

static dpf_status plain_fail(const dpf_host *host, dpf_status code, int32_t param, const char *text)
{
    struct plain_host *plain = (struct plain_host *)(uintptr_t)host;

    assert_int_not_equal(code, DPF_OK);
    assert_true(param >= -1);
    assert_true((plain->component == NULL || param < (int32_t)plain->component->n_params));
    assert_non_null(text);
    if (plain->code == DPF_OK) {
        plain->code = code;
        plain->param = param;
        snprintf(plain->report, sizeof(plain->report), "%s", text);
    }
    return code;
}

void plain_clear(struct plain_host *plain)
{
    plain->code = DPF_OK;
    plain->param = -1;
    plain->report[0] = '\0';
}

static void *plain_scratch(const dpf_call *call, uint64_t bytes)
{
    struct plain_host *plain = call->context;

    assert_true(plain->n_scratch < PLAIN_MAX_SCRATCH);
    void *block = plain_block(bytes);
    assert_non_null(block);
    memset(block, 0xa5, bytes ? (size_t)bytes : 64); /* scratch is not zeroed: make that visible */
    plain->scratch[plain->n_scratch++] = block;
    return block;
}

static int32_t plain_cancelled(const dpf_call *call)
{
    return ((struct plain_host *)call->context)->cancel;
}

const dpf_call *plain_call(struct plain_host *plain)
{
    while (plain->n_scratch > 0) {
        free(plain->scratch[--plain->n_scratch]);
    }
    return &plain->call;
}

static int plain_in_bounds(const dpf_param *param, double x)
{
    return !isnan(x) && x >= param->lo && x <= param->hi &&
           !((param->flags & DPF_PARAM_OPEN_LO) && x == param->lo) &&
           !((param->flags & DPF_PARAM_OPEN_HI) && x == param->hi);
}

static int plain_parse_list(struct plain_host *plain, uint32_t index, const dpf_param *param,
                            const char *text)
{
    dpf_value *value = &plain->values[index];

    value->reals = plain->reals[index];
    value->integers = plain->integers[index];
    value->count = 0;
    while (*text == ' ') {
        text++;
    }
    while (*text != '\0') {
        char *end;
        const double x = strtod(text, &end);
        if (end == text || value->count == PLAIN_MAX_LIST || !plain_in_bounds(param, x)) {
            return -1;
        }
        plain->reals[index][value->count] = x;
        plain->integers[index][value->count++] = (int64_t)x;
        text = end + strspn(end, " ,");
    }
    return 0;
}

static int plain_parse_enum(const dpf_param *param, const char *text, dpf_value *value)
{
    for (int64_t i = 0; i < param->n_values; i++) {
        if (strcmp(param->values[i].name, text) == 0) {
            value->integer = i;
            return 0;
        }
    }
    return -1;
}

static int plain_parse(struct plain_host *plain, uint32_t index, const dpf_param *param, const char *text)
{
    dpf_value *value = &plain->values[index];
    char *end = NULL;

    switch (param->type) {
    case DPF_TYPE_BOOL:
        value->integer = strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
        return value->integer || strcmp(text, "no") == 0 || strcmp(text, "0") == 0 ? 0 : -1;
    case DPF_TYPE_INT:
        value->integer = strtoll(text, &end, 10);
        return end != text && *end == '\0' && plain_in_bounds(param, (double)value->integer) ? 0 : -1;
    case DPF_TYPE_REAL:
        value->real = strtod(text, &end);
        return end != text && *end == '\0' && plain_in_bounds(param, value->real) ? 0 : -1;
    case DPF_TYPE_ENUM:
        return plain_parse_enum(param, text, value);
    case DPF_TYPE_INT_LIST:
    case DPF_TYPE_REAL_LIST:
        return plain_parse_list(plain, index, param, text);
    default:
        value->text = text;
        return 0;
    }
}

static const dpf_param *plain_param(const dpf_component *component, uint32_t index)
{
    return (const dpf_param *)(const void *)((const char *)component->params +
                                             (size_t)index * component->param_stride);
}

static int plain_defaults(struct plain_host *plain)
{
    const dpf_component *component = plain->component;

    assert_true(component->n_params <= PLAIN_MAX_PARAMS);
    for (uint32_t i = 0; i < component->n_params; i++) {
        const dpf_param *param = plain_param(component, i);
        dpf_value *value = &plain->values[i];
        value->type = param->type;
        value->integer = param->default_integer;
        value->real = param->default_real;
        value->text = param->default_text;
        if (param->default_text && plain_parse(plain, i, param, param->default_text)) {
            return -1;
        }
    }
    return 0;
}

static char *plain_trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        text[--length] = '\0';
    }
    return text;
}

/* "name=value" into the value of that name. */
static int plain_set(struct plain_host *plain, char *setting)
{
    char *equals = strchr(setting, '=');

    if (!equals) {
        return -1;
    }
    *equals = '\0';
    const char *name = plain_trim(setting);
    for (uint32_t i = 0; i < plain->component->n_params; i++) {
        const dpf_param *param = plain_param(plain->component, i);
        if (strcmp(param->name, name) == 0) {
            plain->values[i].is_set = 1;
            return plain_parse(plain, i, param, plain_trim(equals + 1));
        }
    }
    return -1;
}

int plain_configure(struct plain_host *plain, const char *settings)
{
    const dpf_component *component = plain->component;
    char *save = NULL;

    if (plain_defaults(plain)) {
        return -1;
    }
    const size_t length = strlen(settings) + 1;
    plain->text = malloc(length);
    assert_non_null(plain->text);
    memcpy(plain->text, settings, length);
    for (char *part = strtok_r(plain->text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        if (plain_set(plain, plain_trim(part))) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < component->n_params; i++) {
        if ((plain_param(component, i)->flags & DPF_PARAM_REQUIRED) && !plain->values[i].is_set) {
            return -1;
        }
    }
    return 0;
}

const dpf_plugin *plain_plugin(const char *name)
{
    const dpf_plugin *(*entry)(uint32_t);
    const char *build = getenv("DPFRAME_BUILD_DIR");
    char path[4096];

    snprintf(path, sizeof(path), "%s/plugins/%s.so", build ? build : ".", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail_msg("%s", dlerror());
    }
    *(void **)&entry = dlsym(library, DPF_ENTRY_NAME);
    assert_non_null(entry);
    const dpf_plugin *plugin = entry(DPF_ABI_MINOR);
    assert_non_null(plugin);
    assert_int_equal(plugin->magic, DPF_PLUGIN_MAGIC);
    return plugin;
}

const dpf_component *plain_component(const char *plugin_name, const char *role, const char *id)
{
    const dpf_plugin *plugin = plain_plugin(plugin_name);

    for (uint32_t i = 0; i < plugin->n_components; i++) {
        const dpf_component *component = plugin->components[i];
        if (strcmp(component->role, role) == 0 && strcmp(component->id, id) == 0) {
            return component;
        }
    }
    fail_msg("%s.so has no component %s %s", plugin_name, role, id);
    return NULL;
}

void plain_init(struct plain_host *plain, const dpf_component *component)
{
    memset(plain, 0, sizeof(*plain));
    plain->host.size = sizeof(plain->host);
    plain->host.abi_minor = DPF_ABI_MINOR;
    plain->host.context = plain;
    plain->host.service = plain_service;
    plain->host.fail = plain_fail;
    plain->memory.allocate = plain_allocate;
    plain->memory.release = plain_release;
    plain->log.message = plain_message;
    plain->log.metric = plain_metric;
    plain->component = component;
    plain->fail_after = -1;
    plain->call.size = sizeof(plain->call);
    plain->call.n_workers = 1;
    plain->call.host = &plain->host;
    plain->call.context = plain;
    plain->call.scratch = plain_scratch;
    plain->call.cancelled = plain_cancelled;
    plain_clear(plain);
}

dpf_status plain_make(struct plain_host *plain)
{
    plain->params.size = sizeof(plain->params);
    plain->params.n_values = plain->component->n_params;
    plain->params.values = plain->values;
    const dpf_component *component = plain->component;
    void *made = NULL;
    if (component->instance_bytes > 0 || !component->create) {
        made = dpf_memory(&plain->host)->allocate(&plain->host, component->instance_bytes);
        if (!made)
            return DPF_E_MEMORY;
    }
    plain->ours = made != NULL;
    plain->self = made;
    const dpf_status status =
        component->create ? component->create(&plain->host, &plain->params, &plain->self) : DPF_OK;
    if (status != DPF_OK) {
        dpf_memory(&plain->host)->release(&plain->host, made);
        plain->self = NULL;
    }
    return status;
}

dpf_status plain_create(struct plain_host *plain, const char *settings)
{
    free(plain->text);
    plain->text = NULL;
    memset(plain->values, 0, sizeof(plain->values));
    plain_clear(plain);
    if (plain_configure(plain, settings)) {
        return DPF_E_CONFIG;
    }
    return plain_make(plain);
}

void plain_open(struct plain_host *plain, const dpf_component *component, const char *settings)
{
    plain_init(plain, component);
    const dpf_status status = plain_create(plain, settings);
    if (status != DPF_OK) {
        fail_msg("create(%s) returned %d: %s", settings, (int)status, plain->report);
    }
}

void plain_close(struct plain_host *plain)
{
    if (plain->self && plain->component->destroy)
        plain->component->destroy(plain->self);
    if (plain->self && plain->ours)
        dpf_memory(&plain->host)->release(&plain->host, plain->self);
    plain->self = NULL;
    plain_call(plain);
    free(plain->text);
    plain->text = NULL;
    assert_int_equal(plain->live, 0);
}

void plain_check_memory(const dpf_component *component, const char *settings)
{
    struct plain_host plain;

    for (int64_t allowed = 0; allowed < 100; allowed++) {
        plain_init(&plain, component);
        plain.fail_after = allowed;
        const dpf_status status = plain_create(&plain, settings);
        if (status == DPF_OK) {
            plain_close(&plain);
            return;
        }
        assert_int_equal(status, DPF_E_MEMORY);
        assert_null(plain.self);
        plain_close(&plain);
    }
    fail_msg("create never succeeded");
}
