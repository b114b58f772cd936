/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"
#include "kit/test.h"

#include <stdatomic.h>

struct tally {
    atomic_llong sum;
    atomic_int runs;
    int64_t fail_at;
};

static int add(void *context, int64_t task, int worker)
{
    struct tally *tally = context;
    (void)worker;
    if (task == tally->fail_at)
        return -1;
    atomic_fetch_add(&tally->sum, task);
    atomic_fetch_add(&tally->runs, 1);
    return 0;
}

TEST(runs_every_task_once)
{
    for (int workers = 1; workers <= 7; workers++) {
        struct pool *pool = pool_new(workers);
        assert_non_null(pool);
        assert_int_equal(pool_workers(pool), workers);
        for (int repeat = 0; repeat < 50; repeat++) {
            struct tally tally = {.fail_at = -1};
            assert_int_equal(pool_run(pool, 1000, add, &tally), 0);
            assert_int_equal(atomic_load(&tally.sum), 999 * 1000 / 2);
            assert_int_equal(atomic_load(&tally.runs), 1000);
        }
        pool_free(pool);
    }
}

TEST(reports_a_failed_task)
{
    struct pool *pool = pool_new(2);
    struct tally tally = {.fail_at = 3};
    assert_int_equal(pool_run(pool, 100000, add, &tally), -1);
    assert_true(atomic_load(&tally.runs) < 100000);
    struct tally again = {.fail_at = -1};
    assert_int_equal(pool_run(pool, 10, add, &again), 0);
    assert_int_equal(pool_run(pool, 0, add, &again), 0);
    pool_free(pool);
}
