/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: parameters, services, randomness, failure reports, memory; and the workers' scratch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/worker.h"

/* ---- a component within the test (parentheses: cmocka has a macro named fail) ---- */

struct probe {
    const dpf_host *host;
    double factor;
    dpf_stream *stream;
};

static const dpf_param probe_params[] = {
    DPF_PARAM_REAL_F("factor", 0.5, 0.0, 10.0, 0, "", "a factor"),
    DPF_PARAM_INT_F("spare", 0, 0, 1, 0, "", "does nothing"),
};

static dpf_status probe_create(const dpf_host *host, const dpf_params *params, void **self)
{
    if (params->values[0].real > 5)
        return (host->fail)(host, DPF_E_CONFIG, 0, "the factor is more than this component likes");
    struct probe *probe = dpf_memory(host)->allocate(host, sizeof *probe);
    if (!probe)
        return DPF_E_MEMORY;
    probe->host = host;
    probe->factor = params->values[0].real;
    if (dpf_random(host)->open(host, "noise", &probe->stream) != DPF_OK) {
        dpf_memory(host)->release(host, probe);
        return DPF_E_MEMORY;
    }
    *self = probe;
    return DPF_OK;
}

static void probe_destroy(void *self)
{
    struct probe *probe = self;
    dpf_memory(probe->host)->release(probe->host, probe);
}

static const dpf_transform probe_functions = {.kind = DPF_TRANSFORM_FACTOR};

static dpf_component probe_component(const char *role)
{
    return (dpf_component){.size = sizeof(dpf_component),
                           .role = role,
                           .id = "probe",
                           .version = "1.0.0",
                           .summary = "a probe",
                           .citation = "",
                           .params = probe_params,
                           .n_params = 2,
                           .param_stride = sizeof(dpf_param),
                           .create = probe_create,
                           .destroy = probe_destroy,
                           .functions = &probe_functions};
}

/* ---- what every test needs ---- */

struct setting {
    struct config *config;
    struct instance_environment environment;
    dpf_component component;
    struct registry_entry entry;
};

static char metric_name[64];
static double metric_value;

static void take_metric(void *context, const char *section, const char *name, double value)
{
    (void)context;
    assert_string_equal(section, "users.transform");
    strncpy(metric_name, name, sizeof metric_name - 1);
    metric_value = value;
}

static void open_setting(struct setting *setting, const char *role, const char *text)
{
    struct dpf_error error = {0};
    setting->config = config_parse("run.ini", text, strlen(text), &error);
    if (!setting->config)
        fail_msg("%s", error.text);
    setting->environment = (struct instance_environment){.seeded = random_root_seeded(7, "run", &error),
                                                         .privacy = random_root_seeded(7, "noise", &error),
                                                         .config = setting->config,
                                                         .metric = take_metric};
    setting->component = probe_component(role);
    setting->entry = (struct registry_entry){.component = &setting->component, .path = "/probe.so"};
}

static void close_setting(struct setting *setting)
{
    random_root_free((struct random_root *)(uintptr_t)setting->environment.seeded);
    random_root_free((struct random_root *)(uintptr_t)setting->environment.privacy);
    config_free(setting->config);
}

static struct instance *make(struct setting *setting, struct dpf_error *error)
{
    return instance_new(&setting->entry, "users.transform", &setting->environment, error);
}

/* ---- instances ---- */

TEST(test_values)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfactor = 0.25\n");
    struct instance *instance = make(&setting, &error);
    if (!instance)
        fail_msg("%s", error.text);
    assert_true(((struct probe *)instance->self)->factor == 0.25);
    assert_int_equal(instance_blocks(instance), 1);
    assert_int_equal(instance_end(instance), 0);
    close_setting(&setting);
}

static dpf_status fill(const dpf_host *host, const dpf_params *params, void **self)
{
    struct probe *probe = *self;
    assert_true(!probe->host && probe->factor == 0); /* zeroed */
    probe->factor = params->values[0].real;
    return probe->factor > 5 ? (host->fail)(host, DPF_E_CONFIG, 0, "too much") : DPF_OK;
}

/* The host makes the instance and frees it, also where create fails or where there is neither create nor destroy. */
TEST(test_instances_of_the_host)
{
    for (int create = 0; create < 2; create++) {
        struct setting setting;
        struct dpf_error error = {0};
        open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfactor = 0.25\n");
        setting.component.create = create ? fill : NULL;
        setting.component.destroy = NULL;
        setting.component.instance_bytes = sizeof(struct probe);
        struct instance *instance = make(&setting, &error);
        assert_non_null(instance);
        assert_true(((struct probe *)instance->self)->factor == (create ? 0.25 : 0));
        assert_int_equal(instance_blocks(instance), 1);
        assert_int_equal(instance_end(instance), 0);
        close_setting(&setting);
        open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfactor = 6\n");
        setting.component.create = fill;
        setting.component.destroy = NULL;
        setting.component.instance_bytes = sizeof(struct probe);
        assert_null(make(&setting, &error));
        assert_non_null(strstr(error.text, "too much"));
        close_setting(&setting);
    }
}

static char elsewhere;

static dpf_status replace(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)host;
    *self = params->values[0].real > 1 ? NULL : &elsewhere;
    return params->values[0].real > 5 ? DPF_E_NUMERIC : DPF_OK;
}

/* A create that makes an instance although the host does, as one did before: told, and nothing foreign is freed. */
TEST(test_create_does_not_replace_the_instance_of_the_host)
{
    static const struct {
        const char *text, *says;
    } cases[] = {{"[users.transform]\nfactor = 0.25\n", "create replaced the instance"},
                 {"[users.transform]\nfactor = 2\n", "create replaced the instance"},
                 {"[users.transform]\nfactor = 6\n", "[users.transform] transform probe: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setting setting;
        struct dpf_error error = {0};
        open_setting(&setting, DPF_ROLE_TRANSFORM, cases[i].text);
        setting.component.create = replace;
        setting.component.destroy = NULL;
        setting.component.instance_bytes = sizeof(struct probe);
        assert_null(make(&setting, &error));
        assert_non_null(strstr(error.text, cases[i].says));
        assert_int_equal(error.fault == DPF_FAULT_PLUGIN, i < 2);
        close_setting(&setting);
    }
}

/* A descriptor of older headers ends before instance_bytes: what stands behind it is not read. */
TEST(test_descriptor_without_instance_bytes)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfactor = 0.25\n");
    setting.component.size = offsetof(dpf_component, instance_bytes);
    setting.component.instance_bytes = UINT64_MAX / 2;
    struct instance *instance = make(&setting, &error);
    assert_non_null(instance);
    assert_int_equal(instance_end(instance), 0);
    close_setting(&setting);
}

TEST(test_unknown_key)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfacctor = 0.25\n");
    assert_null(make(&setting, &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "run.ini:2"));
    close_setting(&setting);
}

TEST(test_create_failure_names_the_line)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "\n[users.transform]\nfactor = 6\n");
    assert_null(make(&setting, &error));
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "run.ini:3: "));
    assert_non_null(strstr(error.text, "[users.transform] factor, transform probe: the factor is more"));
    close_setting(&setting);
}

TEST(test_result)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\nfactor = 1\n");
    struct instance *instance = make(&setting, &error);
    assert_non_null(instance);
    assert_int_equal(instance_result(instance, DPF_OK, "round 1", &error), 0);
    assert_int_equal(error.fault, DPF_FAULT_NONE);
    /* The first of two reports is the one shown, and it does not stay for the next failure. */
    (instance->host.fail)(&instance->host, DPF_E_NUMERIC, -1, "first reason");
    (instance->host.fail)(&instance->host, DPF_E_NUMERIC, -1, "second reason");
    assert_int_equal(instance_result(instance, DPF_E_NUMERIC, "round 3, items", &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_RUN);
    assert_non_null(strstr(error.text, "first reason, in round 3, items"));
    error.fault = DPF_FAULT_NONE;
    assert_int_equal(instance_result(instance, DPF_E_PRIVACY, NULL, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "stated guarantee"));
    error.fault = DPF_FAULT_NONE;
    assert_int_equal(instance_result(instance, 77, NULL, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_PLUGIN);
    assert_non_null(strstr(error.text, "status 77"));
    /* A parameter that is not configured, and an index that does not exist. */
    error.fault = DPF_FAULT_NONE;
    (instance->host.fail)(&instance->host, DPF_E_CONFIG, 1, "a default is wrong");
    instance_result(instance, DPF_E_CONFIG, NULL, &error);
    assert_non_null(strstr(error.text, "spare (default)"));
    error.fault = DPF_FAULT_NONE;
    (instance->host.fail)(&instance->host, DPF_E_CONFIG, 99, "who knows");
    instance_result(instance, DPF_E_CONFIG, NULL, &error);
    assert_non_null(strstr(error.text, "who knows"));
    instance_free(instance);
    close_setting(&setting);
}

TEST(test_allocation_failure)
{
    struct setting setting;
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\n");
    for (int k = 1; k <= 2; k++) {
        struct dpf_error error = {0};
        services_fail_from(k);
        assert_null(make(&setting, &error));
        assert_int_equal(services_requests(), k);
        services_fail_from(0);
        assert_int_equal(error.fault, DPF_FAULT_RUN);
        assert_int_equal(services_blocks(), 0);
    }
    struct dpf_error error = {0};
    struct instance *instance = make(&setting, &error);
    assert_non_null(instance);
    instance_free(instance);
    close_setting(&setting);
}

TEST(test_memory_is_zeroed_and_aligned)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\n");
    struct instance *instance = make(&setting, &error);
    const dpf_memory_service *memory = dpf_memory(&instance->host);
    for (uint64_t bytes = 0; bytes < 5000; bytes += 999) {
        unsigned char *block = memory->allocate(&instance->host, bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (uint64_t i = 0; i < bytes; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xff, bytes);
        memory->release(&instance->host, block);
    }
    assert_null(memory->allocate(&instance->host, UINT64_MAX));
    memory->release(&instance->host, NULL);
    assert_int_equal(instance_blocks(instance), 1);
    instance_free(instance);
    close_setting(&setting);
}

TEST(test_services)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\n");
    struct instance *instance = make(&setting, &error);
    assert_null(instance->host.service(&instance->host, "dpframe.memory/2"));
    assert_null(instance->host.service(&instance->host, NULL));
    dpf_log(&instance->host)->metric(&instance->host, "share", 0.75);
    assert_string_equal(metric_name, "share");
    assert_true(metric_value == 0.75);
    dpf_stream *again = NULL, *other = NULL;
    const dpf_random_service *random = dpf_random(&instance->host);
    assert_int_equal(random->open(&instance->host, "noise", &again), DPF_OK);
    assert_ptr_equal(again, ((struct probe *)instance->self)->stream);
    assert_int_equal(random->open(&instance->host, "other", &other), DPF_OK);
    assert_ptr_not_equal(again, other);
    assert_int_not_equal(random->open(&instance->host, "", &other), DPF_OK);
    instance_free(instance);
    close_setting(&setting);
}

static uint64_t first_word(const struct instance *instance)
{
    dpf_cursor cursor;
    uint64_t word;
    const dpf_random_service *random = dpf_random(&instance->host);
    random->seek(((struct probe *)instance->self)->stream, 0, 0, 0, &cursor);
    random->bits(&cursor, &word, 1);
    return word;
}

/* Mechanisms, samplers, aggregators and recommenders draw from the privacy root, all others from the seeded
 * one. */
TEST(test_roots)
{
    static const struct {
        const char *role;
        int private_root;
    } roles[] = {{DPF_ROLE_LOSS, 0},       {DPF_ROLE_SAMPLER, 1},    {DPF_ROLE_TRANSFORM, 0},
                 {DPF_ROLE_MECHANISM, 1},  {DPF_ROLE_AGGREGATOR, 1}, {DPF_ROLE_SOLVER, 0},
                 {DPF_ROLE_ACCOUNTANT, 0}, {DPF_ROLE_RECOMMENDER, 1}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        struct setting setting;
        struct dpf_error error = {0};
        open_setting(&setting, roles[i].role, "[users.transform]\n");
        struct instance *instance = make(&setting, &error);
        assert_non_null(instance);
        const struct random_root *root =
            roles[i].private_root ? setting.environment.privacy : setting.environment.seeded;
        dpf_stream *stream = random_stream_open(root, "users.transform", "noise", &error);
        dpf_cursor cursor;
        uint64_t word;
        random_seek(stream, 0, 0, 0, &cursor);
        random_bits(&cursor, &word, 1);
        assert_int_equal(first_word(instance), word);
        random_stream_free(stream);
        instance_free(instance);
        close_setting(&setting);
    }
}

TEST(test_no_root_is_an_error)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_MECHANISM, "[users.transform]\n");
    struct random_root *root = (struct random_root *)(uintptr_t)setting.environment.privacy;
    setting.environment.privacy = NULL;
    assert_null(make(&setting, &error));
    assert_non_null(strstr(error.text, "no randomness"));
    random_root_free(root);
    close_setting(&setting);
}

static int report(void *context, int64_t task, int worker)
{
    struct instance *instance = context;
    (void)worker;
    (instance->host.fail)(&instance->host, DPF_E_NUMERIC, -1, task % 2 ? "odd" : "even");
    return 0;
}

TEST(test_reports_from_many_workers)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\n");
    struct instance *instance = make(&setting, &error);
    struct pool *pool = pool_new(4);
    pool_run(pool, 1000, report, instance);
    pool_free(pool);
    assert_int_equal(instance_result(instance, DPF_E_NUMERIC, NULL, &error), -1);
    assert_true(strstr(error.text, "probe: odd") || strstr(error.text, "probe: even"));
    instance_free(instance);
    close_setting(&setting);
}

TEST(test_leak_is_counted)
{
    struct setting setting;
    struct dpf_error error = {0};
    open_setting(&setting, DPF_ROLE_TRANSFORM, "[users.transform]\n");
    struct instance *instance = make(&setting, &error);
    struct instance *keeper = make(&setting, &error);
    void *block = dpf_memory(&instance->host)->allocate(&keeper->host, 10);
    assert_int_equal(instance_blocks(keeper), 2);
    assert_int_equal(instance_blocks(instance), 1);
    /* Frees the block but takes it off another instance's count: both counts are then wrong. */
    dpf_memory(&instance->host)->release(&instance->host, block);
    assert_int_equal(instance_end(keeper), 1);
    assert_int_equal(instance_end(instance), -1);
    close_setting(&setting);
}

/* ---- workers ---- */

TEST(test_scratch)
{
    struct instance instance = {0};
    struct worker *worker = worker_new(3, 5);
    unsigned char *blocks[64];
    for (int round = 0; round < 3; round++) {
        dpf_call *call = worker_call(worker, &instance, round, (uint32_t)round + 1, 9);
        assert_int_equal(call->worker, 3);
        assert_int_equal(call->n_workers, 5);
        assert_int_equal(call->round, round);
        assert_int_equal(call->draw, round + 1);
        assert_int_equal(call->party, 9);
        assert_ptr_equal(call->host, &instance.host);
        for (int i = 0; i < 64; i++) {
            uint64_t bytes = (uint64_t)i * 1777;
            blocks[i] = call->scratch(call, bytes);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % 64, 0);
            memset(blocks[i], i, bytes);
        }
        for (int i = 0; i < 64; i++) /* nobody wrote over anybody */
            for (int j = 0; j < i * 1777; j += 97)
                assert_int_equal(blocks[i][j], i);
        assert_null(call->scratch(call, UINT64_MAX));
    }
    worker_free(worker);
}

/* Once the sizes are known, scratch comes from one block that stays where it is. */
TEST(test_scratch_settles)
{
    struct instance instance = {0};
    struct worker *worker = worker_new(0, 1);
    void *first = NULL;
    for (int i = 0; i < 6; i++) {
        dpf_call *call = worker_call(worker, &instance, 0, 0, 0);
        void *a = call->scratch(call, 100000);
        void *b = call->scratch(call, 300000);
        assert_non_null(b);
        if (i == 1)
            first = a;
        if (i > 1) {
            assert_ptr_equal(a, first);
            assert_ptr_equal(b, (char *)a + (100000 + 63) / 64 * 64);
        }
    }
    worker_free(worker);
}

static void count_task(void *context, int64_t task, int32_t worker)
{
    unsigned char *ran = context; /* by one worker each, so without a lock */
    ran[task] = (unsigned char)(ran[task] + 1 + 10 * worker);
}

/* Tasks run once each; the pool is lent to one call. */
TEST(test_tasks)
{
    struct instance instance = {0};
    struct pool *pool = pool_new(3);
    struct worker *worker = worker_new(0, 3);
    for (int lent = 0; lent < 2; lent++) {
        unsigned char ran[500] = {0};
        dpf_call *call = worker_call(worker, &instance, 0, 0, 0);
        assert_null(call->run_tasks);
        if (lent)
            worker_lend_pool(worker, pool);
        assert_int_equal(dpf_task_workers(call), lent ? 3 : 1);
        dpf_run_tasks(call, 500, count_task, ran);
        for (int i = 0; i < 500; i++) {
            assert_int_equal(ran[i] % 10, 1);
            assert_true(ran[i] / 10 < (lent ? 3 : 1));
        }
        dpf_run_tasks(call, 0, count_task, NULL);
        call->size = offsetof(dpf_call, run_tasks); /* of a host that has no such field */
        assert_int_equal(dpf_task_workers(call), 1);
        call->size = sizeof *call;
    }
    worker_free(worker);
    pool_free(pool);
}

TEST(test_cancel)
{
    struct instance instance = {0};
    struct worker *worker = worker_new(0, 1);
    dpf_call *call = worker_call(worker, &instance, 0, 0, 0);
    assert_int_equal(call->cancelled(call), 0);
    interrupt_all();
    assert_int_equal(call->cancelled(call), 1);
    assert_int_equal(worker_cancelled(), 1);
    interrupt_reset();
    assert_int_equal(call->cancelled(call), 0);
    worker_free(worker);
}
