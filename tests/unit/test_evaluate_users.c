/* SPDX-License-Identifier: Apache-2.0 */
/* A draw of tested users: as many as asked for, whole rows, by ids alone, and draws of fewer within those of more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/pool.h"
#include "dataset/ids.h"
#include "evaluate/user_pass.h"
#include "evaluate/user_sample.h"
#include "kit/test.h"

enum { USERS = 300, ITEMS = 40 };

/* User u, or the one of that place from the end, has (7 u) mod 5 records: some have none. */
static void make(int backwards, struct dataset *dataset)
{
    struct ids ids = {0};
    struct id_map map;
    int32_t rank[USERS], order[USERS];
    int64_t used = 0;
    for (int u = 0; u < USERS; u++) {
        char name[16];
        const int length = sprintf(name, "user%03d", u);
        assert_true(ids_add(&ids, &(struct field){name, (size_t)length}) >= 0);
    }
    *dataset = (struct dataset){.implicit = 0};
    assert_int_equal(ids_finish(&ids, &map, rank), 0);
    for (int u = 0; u < USERS; u++)
        order[u] = backwards ? USERS - 1 - u : u;
    assert_int_equal(id_map_reorder(&map, order, &dataset->users), 0);
    id_map_free(&map);
    ids_free(&ids);
    struct csr *test = &dataset->test.by_user;
    *test = (struct csr){.rows = USERS,
                         .ptr = calloc(USERS + 1, sizeof *test->ptr),
                         .others = malloc((size_t)USERS * 5 * sizeof *test->others),
                         .values = malloc((size_t)USERS * 5 * sizeof *test->values)};
    for (int row = 0; row < USERS; row++) {
        const int u = order[row];
        for (int k = 0; k < 7 * u % 5; k++, used++) {
            test->others[used] = (u + 3 * k) % ITEMS;
            test->values[used] = (float)(u % 5 + 1);
        }
        test->ptr[row + 1] = used;
    }
}

static int has(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] > csr->ptr[row];
}

TEST(users_are_drawn_by_their_ids)
{
    static const int64_t asked[] = {1, 10, 100, 200, 240, 1000};
    struct dataset forth, back;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(3, "run", &error),
                       *other = random_root_seeded(4, "run", &error);
    struct csr before = {0};
    int64_t tested = 0, moved = 0;
    make(0, &forth);
    make(1, &back);
    for (int u = 0; u < USERS; u++)
        tested += has(&forth.test.by_user, u);
    assert_int_equal(tested, 240);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct csr sample, same, another;
        int64_t left_out, drawn = 0;
        const struct csr *all = &forth.test.by_user;
        assert_int_equal(user_sample(&forth, all, asked[i], root, &sample, &left_out, &error), 0);
        assert_int_equal(left_out, asked[i] < tested ? tested - asked[i] : 0);
        assert_int_equal(user_sample(&back, &back.test.by_user, asked[i], root, &same, &left_out, &error), 0);
        assert_int_equal(user_sample(&forth, all, asked[i], other, &another, &left_out, &error), 0);
        for (int u = 0; u < USERS; u++) {
            const int64_t n = sample.ptr[u + 1] - sample.ptr[u];
            drawn += n > 0;
            moved += has(&sample, u) != has(&another, u);
            assert_int_equal(has(&same, USERS - 1 - u), n > 0);
            assert_true(!before.ptr || !has(&before, u) || n > 0);
            if (n == 0)
                continue;
            assert_int_equal(n, all->ptr[u + 1] - all->ptr[u]);
            assert_memory_equal(sample.others + sample.ptr[u], all->others + all->ptr[u], (size_t)n * 4);
            assert_memory_equal(sample.values + sample.ptr[u], all->values + all->ptr[u], (size_t)n * 4);
        }
        assert_int_equal(drawn, asked[i] < tested ? asked[i] : tested);
        csr_free(&before);
        before = sample;
        csr_free(&same);
        csr_free(&another);
    }
    assert_true(moved > 0);
    csr_free(&before);
    random_root_free(root);
    random_root_free(other);
    dataset_free(&forth);
    dataset_free(&back);
}

static int take_user(void *context, int64_t user, int64_t end, int worker, struct dpf_error *error)
{
    int *taken = context;
    (void)end;
    (void)worker;
    (void)error;
    ++*taken;
    if (user == 0)
        interrupt_all();
    return 0;
}

TEST(evaluation_ends_where_somebody_wants_it_to)
{
    struct dataset dataset = {.implicit = 0};
    struct dpf_error error = {0};
    struct pool *pool = pool_new(1);
    int taken = 0;
    assert_int_equal(id_map_range(100000, &dataset.users), 0);
    assert_int_equal(user_pass_run(pool, &dataset, dataset.users.n, take_user, &taken, &error), -1);
    interrupt_reset();
    assert_true(taken > 0 && taken < 100000);
    assert_non_null(strstr(error.text, "interrupted while users were evaluated"));
    pool_free(pool);
    dataset_free(&dataset);
}
