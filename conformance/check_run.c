/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold for every [run] callback, whatever the role. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "conformance/check_scenario.h"
#include "plugin/role_tables.h"
#include "plugin/services.h"
#include "plugin/worker.h"

static scenario_maker maker_of(const char *role)
{
    static const struct {
        const char *role;
        scenario_maker make;
    } makers[] = {
        {DPF_ROLE_LOSS, check_loss_scenario},           {DPF_ROLE_SAMPLER, check_sampler_scenario},
        {DPF_ROLE_TRANSFORM, check_transform_scenario}, {DPF_ROLE_MECHANISM, check_mechanism_scenario},
        {DPF_ROLE_SOLVER, check_solver_scenario},       {DPF_ROLE_RECOMMENDER, check_recommender_scenario},
    };
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(makers[i].role, role) == 0)
            return makers[i].make;
    return NULL;
}

/* Runs look on every scenario that applies. base is what one call over everything gives. */
static void each_scenario(struct check *check,
                          void (*look)(struct check *check, const struct scenario *scenario,
                                       const void *base))
{
    scenario_maker make = maker_of(check->entry.component->role);
    int made = 0;
    for (int index = 0, got = 1; make && got; index++) {
        struct scenario scenario = {0};
        got = make(check, index, &scenario);
        if (got != 1)
            continue;
        struct dpf_error error = {0};
        struct worker *worker = worker_new(0, 1);
        size_t bytes = (size_t)scenario.n * scenario.unit_bytes;
        scenario.inputs = check_kept_hash(check);
        void *base = check_guarded(bytes);
        if (!worker || !base) {
            check_fail(check, "out of memory");
        } else {
            memset(base, 0, bytes);
            dpf_status status = DPF_OK;
            int64_t step = scenario.one_by_one ? 1 : scenario.n;
            for (int64_t first = 0; first < scenario.n && status == DPF_OK; first += step)
                status = scenario.run(&scenario, worker, first, step,
                                      (char *)base + (size_t)first * scenario.unit_bytes);
            if (instance_result(scenario.instance, status, scenario.name, &error) != 0) {
                check_warn(check, "%s does not run on the kit's inputs: %.400s", scenario.name, error.text);
            } else {
                made++;
                look(check, &scenario, base);
            }
        }
        worker_free(worker);
        check_guarded_free(base);
    }
    if (!made)
        check_skip(check, "none of the kit's inputs fit the component");
}

static int same(struct check *check, const struct scenario *scenario, const void *base, const void *out,
                const char *what, int number)
{
    for (int64_t i = 0; i < scenario->n; i++) {
        size_t at = (size_t)i * scenario->unit_bytes;
        if (memcmp((const char *)base + at, (const char *)out + at, scenario->unit_bytes) != 0)
            return check_fail(
                check,
                "%s: unit %lld differs with %s %d: usually the place in the buffer is taken for the "
                "row (use first_row + r, or rows[r]), or something is kept from one call to the next",
                scenario->name, (long long)i, what, number);
    }
    return 0;
}

/* One worker, ranges of `block` units. Each range has a guarded buffer of its own. */
static dpf_status run_in_blocks(struct check *check, const struct scenario *scenario, int64_t block,
                                char *out, int *guards)
{
    struct worker *worker = worker_new(0, 1);
    void *buffer = check_guarded((size_t)block * scenario->unit_bytes);
    dpf_status status = worker && buffer ? DPF_OK : DPF_E_MEMORY;
    *guards = 1;
    for (int64_t first = 0; first < scenario->n && status == DPF_OK; first += block) {
        int64_t count = block < scenario->n - first ? block : scenario->n - first;
        memset(buffer, 0, (size_t)count * scenario->unit_bytes);
        status = scenario->run(scenario, worker, first, count, buffer);
        *guards &= check_guards_hold(buffer);
        memcpy(out + (size_t)first * scenario->unit_bytes, buffer, (size_t)count * scenario->unit_bytes);
    }
    (void)check;
    check_guarded_free(buffer);
    worker_free(worker);
    return status;
}

static void look_blocks(struct check *check, const struct scenario *scenario, const void *base)
{
    static const int blocks[] = {1, 2, 3, 63, 64, 65};
    char *out = check_keep(check, (size_t)scenario->n * scenario->unit_bytes);
    int n = scenario->one_by_one ? 1 : 6;
    for (int i = 0; i < n && out; i++) {
        int guards;
        dpf_status status = run_in_blocks(check, scenario, blocks[i], out, &guards);
        if (status != DPF_OK)
            check_fail(check, "%s fails (status %d) with blocks of %d", scenario->name, (int)status,
                       blocks[i]);
        else if (!guards)
            check_fail(check, "%s writes outside its output with blocks of %d", scenario->name, blocks[i]);
        else
            same(check, scenario, base, out, "blocks of", blocks[i]);
    }
}

struct spread {
    const struct scenario *scenario;
    struct worker **workers;
    char *out;
    int64_t block;
};

static int spread_task(void *context, int64_t task, int worker)
{
    struct spread *spread = context;
    const struct scenario *scenario = spread->scenario;
    int64_t first = task * spread->block;
    int64_t count = spread->block < scenario->n - first ? spread->block : scenario->n - first;
    return scenario->run(scenario, spread->workers[worker], first, count,
                         spread->out + (size_t)first * scenario->unit_bytes)
               ? -1
               : 0;
}

/* In turn, so that each worker has tasks however fast the first one is. */
static int take_turns(struct spread *spread, int64_t tasks, int n)
{
    for (int64_t task = 0; task < tasks; task++)
        if (spread_task(spread, task, (int)(task % n)) != 0)
            return -1;
    return 0;
}

static void compare_workers(struct check *check, struct spread *spread, struct pool *pool, const void *base,
                            int n)
{
    const struct scenario *scenario = spread->scenario;
    int64_t tasks = (scenario->n + spread->block - 1) / spread->block;
    for (int at_once = 0; at_once < 2; at_once++) {
        memset(spread->out, 0, (size_t)scenario->n * scenario->unit_bytes);
        if ((at_once ? pool_run(pool, tasks, spread_task, spread) : take_turns(spread, tasks, n)) != 0)
            check_fail(check, "%s fails with %d workers", scenario->name, n);
        else
            same(check, scenario, base, spread->out, "a worker count of", n);
    }
}

static void look_with_workers(struct check *check, const struct scenario *scenario, const void *base, int n)
{
    struct worker *workers[7] = {0};
    struct spread spread = {scenario, workers, check_keep(check, (size_t)scenario->n * scenario->unit_bytes),
                            scenario->one_by_one ? 1 : 8};
    struct pool *pool = pool_new(n);
    int ready = pool && spread.out;
    for (int i = 0; i < n; i++)
        ready = ready && (workers[i] = worker_new(i, n));
    if (ready)
        compare_workers(check, &spread, pool, base, n);
    else
        check_fail(check, "out of memory");
    for (int i = 0; i < n; i++)
        worker_free(workers[i]);
    pool_free(pool);
}

static void look_workers(struct check *check, const struct scenario *scenario, const void *base)
{
    static const int counts[] = {1, 2, 7};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        look_with_workers(check, scenario, base, counts[i]);
}

/* The second time, and with scratch and unwritten output full of something else. */
static void look_repeat(struct check *check, const struct scenario *scenario, const void *base)
{
    char *out = check_keep(check, (size_t)scenario->n * scenario->unit_bytes);
    static const int fills[] = {0x00, 0xff, 0x7f};
    for (int i = 0; i < 3 && out; i++) {
        int guards;
        worker_fill_scratch(fills[i]);
        dpf_status status =
            run_in_blocks(check, scenario, scenario->one_by_one ? 1 : scenario->n, out, &guards);
        worker_fill_scratch(-1);
        if (status != DPF_OK)
            check_fail(check, "%s fails (status %d) when it is called again", scenario->name, (int)status);
        else
            same(check, scenario, base, out, "scratch memory full of", fills[i]);
    }
}

/* The run that gave base has had its chance to write. */
static void look_inputs(struct check *check, const struct scenario *scenario, const void *base)
{
    (void)base;
    if (check_kept_hash(check) != scenario->inputs)
        check_fail(check, "%s changes its inputs", scenario->name);
}

static void look_memory(struct check *check, const struct scenario *scenario, const void *base)
{
    char *out = check_keep(check, (size_t)scenario->n * scenario->unit_bytes);
    int64_t step = scenario->one_by_one ? 1 : scenario->n;
    for (int64_t k = 1; k <= 64 && out; k++) {
        int guards;
        int64_t blocks = services_blocks();
        services_fail_from(k);
        dpf_status status = run_in_blocks(check, scenario, step, out, &guards);
        int64_t requests = services_requests();
        services_fail_from(0);
        struct dpf_error ignored = {0};
        instance_result(scenario->instance, status, NULL, &ignored);
        if (services_blocks() != blocks)
            check_fail(check, "%s keeps memory of the host's from one call to the next", scenario->name);
        if (requests < k) {
            if (status != DPF_OK)
                check_fail(check, "%s fails after a failure (status %d)", scenario->name, (int)status);
            else
                same(check, scenario, base, out, "failed calls before:", (int)k - 1);
            return;
        }
        if (status == DPF_OK)
            check_fail(check, "%s succeeds although request %lld for memory failed", scenario->name,
                       (long long)k);
    }
}

static void look_nonfinite(struct check *check, const struct scenario *scenario, const void *base)
{
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    (void)base;
    char *out = check_keep(check, (size_t)scenario->n * scenario->unit_bytes);
    for (int i = 0; i < 3 && scenario->poison && out; i++) {
        int guards;
        scenario->poison(scenario, values[i]);
        dpf_status status =
            run_in_blocks(check, scenario, scenario->one_by_one ? 1 : scenario->n, out, &guards);
        struct dpf_error ignored = {0};
        instance_result(scenario->instance, status, NULL, &ignored);
        if (!guards)
            check_fail(check, "%s writes outside its output when an input is %g", scenario->name, values[i]);
        if (status != DPF_OK || (scenario->finite && scenario->finite(scenario, out)))
            continue;
        if (scenario->strict)
            check_fail(check, "%s accepts an input that is %g%s", scenario->name, values[i],
                       scenario->finite ? " and passes it on" : "");
        else
            check_warn(check, "%s passes on an input that is %g", scenario->name, values[i]);
    }
}

static void rule_blocks(struct check *check)
{
    each_scenario(check, look_blocks);
}

static void rule_workers(struct check *check)
{
    each_scenario(check, look_workers);
}

static void rule_repeat(struct check *check)
{
    each_scenario(check, look_repeat);
}

static void rule_inputs(struct check *check)
{
    each_scenario(check, look_inputs);
}

static void rule_memory(struct check *check)
{
    each_scenario(check, look_memory);
}

static void rule_nonfinite(struct check *check)
{
    each_scenario(check, look_nonfinite);
}

static const struct check_rule rules[] = {
    {"run.blocks", "", rule_blocks,
     "any cut of the work into ranges gives the same bytes, inside the output"},
    {"run.workers", "", rule_workers, "1, 2 and 7 workers give the same bytes"},
    {"run.repeat", "", rule_repeat, "calls leave no trace in the instance and do not read unwritten scratch"},
    {"run.inputs", "", rule_inputs, "inputs stay as they are"},
    {"run.memory", "", rule_memory, "a callback fails cleanly when it gets no memory"},
    {"run.nonfinite", "", rule_nonfinite, "NaN and infinity lead to an error, not to more of them"},
};
const struct check_rules check_run_rules = CHECK_RULES(rules);
