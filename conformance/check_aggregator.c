/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of aggregators: the sum is the sum, whatever the order and the number of workers. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "conformance/check_scenario.h"

enum { PARTIES = 52, ROWS = 37, WIDTH = 3 };

#define LARGE (INT64_C(1) << 40) /* noise on a fine grid has numbers of such a size */

struct sums {
    dpf_aggregation aggregation;
    int64_t *values;
};

static const dpf_aggregator *table(const struct instance *instance)
{
    return instance->functions;
}

/* Who calls, and what a call without others beside it is lent to run tasks on. */
struct caller {
    struct worker *worker;
    struct pool *pool;
    int turns;
};

/* The last task first, on all workers' numbers in turn: what is mixed up shows, however fast worker 0 is. */
static void take_turns_backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

static dpf_call *call_alone(const struct caller *caller, struct instance *instance)
{
    dpf_call *call = worker_call(caller->worker, instance, 0, 0, DPF_PARTY_AGGREGATE);
    if (caller->pool)
        worker_lend_pool(caller->worker, caller->pool);
    else if (caller->turns)
        call->run_tasks = take_turns_backwards;
    return call;
}

static int64_t *make_messages(struct check *check, uint64_t modulus)
{
    struct check_source source = {check->seed};
    int64_t *values = check_keep(check, PARTIES * ROWS * WIDTH * sizeof *values);
    for (int i = 0; values && i < PARTIES * ROWS * WIDTH; i++)
        values[i] = modulus ? (int64_t)(check_next(&source) % modulus)
                            : ((int64_t)(check_next(&source) % 2001) - 1000) * (i % 2 ? 1 : LARGE);
    return values;
}

static int start(struct check *check, struct instance *instance, uint64_t modulus, struct sums *sums)
{
    const dpf_aggregator *aggregator = table(instance);
    sums->values = check_keep(check, ROWS * WIDTH * sizeof *sums->values);
    sums->aggregation = (dpf_aggregation){.size = sizeof sums->aggregation,
                                          .width = WIDTH,
                                          .rows = ROWS,
                                          .n_parties = PARTIES,
                                          .modulus = modulus,
                                          .sums = sums->values};
    uint64_t bytes =
        aggregator->state_bytes ? aggregator->state_bytes(instance->self, &sums->aggregation) : 0;
    void *state = check_keep(check, bytes + 64);
    sums->aggregation.state = bytes ? state : NULL;
    return sums->values && state ? 0 : -1;
}

static dpf_status absorb(struct instance *instance, const struct caller *caller, struct sums *sums,
                         int64_t *messages, int party)
{
    dpf_encoded message = {.size = sizeof message,
                           .width = WIDTH,
                           .n_rows = ROWS,
                           .total_rows = ROWS,
                           .values = messages + (ptrdiff_t)party * ROWS * WIDTH,
                           .stride = WIDTH,
                           .survivors = 1};
    return table(instance)->absorb(instance->self,
                                   worker_call(caller->worker, instance, 0, 0, (uint32_t)party),
                                   &sums->aggregation, &message);
}

static dpf_status finish(struct instance *instance, const struct caller *caller, struct sums *sums)
{
    const dpf_aggregator *aggregator = table(instance);
    if (!aggregator->finish)
        return DPF_OK;
    return aggregator->finish(instance->self, call_alone(caller, instance), &sums->aggregation);
}

/* All parties; the first `split` to one aggregation, the others to a second that is merged in. */
static dpf_status aggregate(struct check *check, struct instance *instance, const struct caller *caller,
                            uint64_t modulus, int64_t *messages, const int *order, int split,
                            struct sums *sums)
{
    struct sums second;
    if (start(check, instance, modulus, sums) != 0 || start(check, instance, modulus, &second) != 0)
        return DPF_E_MEMORY;
    dpf_status status = DPF_OK;
    for (int i = 0; i < PARTIES && status == DPF_OK; i++)
        status = absorb(instance, caller, i < split ? sums : &second, messages, order[i]);
    if (status == DPF_OK && split < PARTIES)
        status = table(instance)->merge(instance->self, call_alone(caller, instance), &sums->aggregation,
                                        &second.aggregation);
    return status == DPF_OK ? finish(instance, caller, sums) : status;
}

/* The sum over all messages, for aggregators that lose nobody. Residues for a modulus are 0 .. modulus - 1.
 */
static void compare_with_sum(struct check *check, const struct sums *sums, const int64_t *messages,
                             uint64_t modulus)
{
    if (sums->aggregation.survivors > PARTIES) {
        check_fail(check, "%lld messages survive of %d", (long long)sums->aggregation.survivors, PARTIES);
        return;
    }
    if (sums->aggregation.survivors != PARTIES) {
        check_warn(check, "%lld of %d messages survive: the sum is not compared",
                   (long long)sums->aggregation.survivors, PARTIES);
        return;
    }
    for (int i = 0; i < ROWS * WIDTH; i++) {
        uint64_t sum = 0;
        for (int p = 0; p < PARTIES; p++)
            sum += (uint64_t)messages[p * ROWS * WIDTH + i];
        uint64_t difference = (uint64_t)sums->values[i] - sum;
        if (modulus ? (difference % modulus != 0 && (UINT64_MAX - difference + 1) % modulus != 0)
                    : difference != 0) {
            check_fail(check, "cell %d of the sum is %lld, should be %lld", i, (long long)sums->values[i],
                       (long long)sum);
            return;
        }
    }
}

static int same(struct check *check, const struct sums *a, const struct sums *b, const char *what)
{
    if (memcmp(a->values, b->values, ROWS * WIDTH * sizeof *a->values) != 0 ||
        a->aggregation.survivors != b->aggregation.survivors)
        return check_fail(check, "the sum differs %s", what);
    return 0;
}

/* All parties once: from the first to the last, or every 19th. */
static const int *order_of(int shuffled)
{
    static int orders[2][PARTIES];
    for (int i = 0; i < PARTIES; i++) {
        orders[0][i] = i;
        orders[1][i] = (5 + 19 * i) % PARTIES;
    }
    return orders[shuffled];
}

static void check_modulus(struct check *check, struct instance *instance, const struct caller *caller,
                          uint64_t modulus)
{
    struct sums base, other;
    int64_t *messages = make_messages(check, modulus);
    struct dpf_error error = {0};
    dpf_status status =
        messages ? aggregate(check, instance, caller, modulus, messages, order_of(0), PARTIES, &base)
                 : DPF_E_MEMORY;
    if (status == DPF_E_UNSUPPORTED || status == DPF_E_CONFIG) {
        instance_result(instance, status, "absorb", &error);
        check_skip(check, "the kit's messages are not served: %.400s", error.text);
        return;
    }
    if (instance_result(instance, status, "aggregation", &error) != 0) {
        check_fail(check, "%s", error.text);
        return;
    }
    compare_with_sum(check, &base, messages, modulus);
    if (!table(instance)->merge)
        return; /* then messages come in order, on one worker */
    for (int split = 1; split <= PARTIES; split += 17) {
        status = aggregate(check, instance, caller, modulus, messages, order_of(1), split, &other);
        if (status != DPF_OK)
            check_fail(check, "fails (status %d) when it is merged after %d messages", (int)status, split);
        else
            same(check, &base, &other, "with the order of messages and merges");
    }
}

static void rule_sum(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct worker *worker = worker_new(0, 1);
    const struct caller caller = {.worker = worker};
    if (instance && worker) {
        check_modulus(check, instance, &caller, 0);
        enum check_outcome plain = check->outcome;
        check_modulus(check, instance, &caller, UINT64_C(1) << 32);
        if (plain == CHECK_PASS && check->outcome == CHECK_SKIP)
            check->outcome = CHECK_PASS; /* one of the two kinds is enough */
    }
    worker_free(worker);
}

/* Two halves, merged, so that merge and finish both have the workers that they are lent. */
static void look_with_tasks(struct check *check, struct instance *instance, const struct sums *base,
                            int64_t *messages, int n, int at_once)
{
    struct sums other;
    struct pool *pool = at_once ? pool_new(n) : NULL;
    struct worker *worker = worker_new(0, n);
    const struct caller caller = {worker, pool, !at_once};
    const int split = table(instance)->merge ? PARTIES / 2 : PARTIES;
    dpf_status status = worker && (pool || !at_once) ? aggregate(check, instance, &caller, UINT64_C(1) << 32,
                                                                 messages, order_of(0), split, &other)
                                                     : DPF_E_MEMORY;
    if (status != DPF_OK)
        check_fail(check, "fails (status %d) when it may run tasks on %d workers", (int)status, n);
    else if (same(check, base, &other, "with the workers that run its tasks") == 0 &&
             (base->aggregation.bytes_up != other.aggregation.bytes_up ||
              base->aggregation.bytes_down != other.aggregation.bytes_down))
        check_fail(check, "the bytes sent differ with the workers that run its tasks");
    worker_free(worker);
    pool_free(pool);
}

static void rule_tasks(struct check *check)
{
    static const int counts[] = {1, 2, 7};
    struct instance *instance = check_instance(check);
    struct worker *worker = worker_new(0, 1);
    const struct caller caller = {.worker = worker};
    int64_t *messages = make_messages(check, UINT64_C(1) << 32);
    struct sums base;
    if (instance && worker && messages) {
        if (aggregate(check, instance, &caller, UINT64_C(1) << 32, messages, order_of(0), PARTIES, &base) !=
            DPF_OK)
            check_skip(check, "the kit's messages are not served");
        for (int i = CHECK_CASES(0, 4); i < 6 && check->outcome == CHECK_PASS; i++)
            look_with_tasks(check, instance, &base, messages, counts[i / 2], i % 2);
    }
    worker_free(worker);
}

static void rule_scale(struct check *check)
{
    struct instance *instance = check_instance(check);
    if (!instance)
        return;
    for (int64_t n = 1; n <= 1000; n *= 10) {
        double scale = table(instance)->scale(instance->self, n);
        if (!(fabs(scale - 1) < 1e-12 || fabs(scale * (double)n - 1) < 1e-12))
            check_fail(check, "scale(%lld) is %g, neither 1 nor 1/n", (long long)n, scale);
    }
}

/* One message is missing that the noise needs. */
static void rule_survivors(struct check *check)
{
    struct sums sums;
    struct instance *instance = check_instance(check);
    struct worker *worker = worker_new(0, 1);
    const struct caller caller = {.worker = worker};
    int64_t *messages = make_messages(check, UINT64_C(1) << 32);
    if (!instance || !worker || !messages || start(check, instance, UINT64_C(1) << 32, &sums) != 0) {
        worker_free(worker);
        return;
    }
    sums.aggregation.least_survivors = PARTIES + 1;
    dpf_status status = DPF_OK;
    for (int i = 0; i < PARTIES && status == DPF_OK; i++)
        status = absorb(instance, &caller, &sums, messages, i);
    if (table(instance)->sees != DPF_SEES_SUM)
        check_skip(check, "each message is seen, with its own noise");
    else if (status != DPF_OK)
        check_skip(check, "the kit's messages are not served");
    else if (finish(instance, &caller, &sums) != DPF_E_PRIVACY)
        check_fail(check, "the sum of %d messages is opened, but least_survivors is %d", PARTIES,
                   PARTIES + 1);
    worker_free(worker);
}

static const struct check_rule rules[] = {
    {"aggregator.sum", DPF_ROLE_AGGREGATOR, rule_sum,
     "the sum of integers, in any order and with any merges"},
    {"aggregator.tasks", DPF_ROLE_AGGREGATOR, rule_tasks,
     "the same sum without workers for its tasks and with 1, 2 and 7"},
    {"aggregator.survivors", DPF_ROLE_AGGREGATOR, rule_survivors,
     "a sum of fewer messages than the noise needs is not opened"},
    {"aggregator.scale", DPF_ROLE_AGGREGATOR, rule_scale, "sums are turned into sums or means"},
};
const struct check_rules check_aggregator_rules = CHECK_RULES(rules);
