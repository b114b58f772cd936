/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns made by many workers are those that one makes, in the order of lines. */
#include "kit/data_support.h"

#include <math.h>

#include "base/log.h"
#include "data/assemble.h"
#include "reading/table.h"

#define USERS 23
#define ITEMS 9
#define LINES 6000

static const struct file_options form = {
    .header = HEADER_NO,
    .delimiter = {",", 1, 0},
    .columns = {"1", "2", "3", "4", "none"},
    .keys = {"column.user", "column.item", "column.rating", "column.time", "column.privacy-weight"},
    .value_lo = -INFINITY,
    .value_hi = INFINITY,
    .prefix = "",
};

static char *make_text(void)
{
    char *text = malloc((size_t)LINES * 40);
    uint64_t state = 7;
    size_t used = 0;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const unsigned draw = (unsigned)(state >> 33);
        /* Half of the users are rare, and one time in a thousand is no whole number. */
        const unsigned user = draw % 2 ? draw / 2 % 3 : draw / 2 % USERS;
        used += (size_t)sprintf(text + used, "%u,%u,%d,%d%s\n", user + 1, draw / 97 % ITEMS + 1, i % 5, i,
                                draw % 1000 == 1 ? ".5" : "");
    }
    return text;
}

/* The file's rows, and the records outside of a catalogue that has no user 2 and no item 3. */
static void build(const char *text, size_t block, int workers, int catalogue, struct ratings *out,
                  struct violations *strangers)
{
    const struct read_control control = {.block_size = block, .memory = text, .length = strlen(text)};
    struct table table = {.violations = strangers};
    struct ids users = {0}, items = {0};
    struct dpf_error error = {0};
    struct pool *pool = workers ? pool_new(workers) : NULL;
    int32_t *ranks[2];
    struct id_map maps[2];
    if (table_read(&table, "f.csv", &form, &control, &users, &items, NULL, pool, &error) != 0)
        fail_msg("%s", error.text);
    for (int side = 0; side < 2; side++) {
        const struct ids *ids = side ? &items : &users;
        ranks[side] = malloc((size_t)ids->n * sizeof(int32_t));
        assert_non_null(ranks[side]);
        assert_int_equal(ids_finish(ids, &maps[side], ranks[side]), 0);
        for (int64_t i = 0; i < ids->n && catalogue; i++)
            if (ranks[side][i] == (side ? 2 : 1))
                ranks[side][i] = -1;
    }
    table_finish_ids(&table, ranks[0], ranks[1]);
    for (int again = 0; again < 2; again++) { /* strangers are told once */
        if (again)
            ratings_free(out);
        const struct ratings_wish wish = {.values = 1, .times = 1, .order = 1};
        if (ratings_build(&table, maps[0].n, &wish, pool, out, &error) != 0)
            fail_msg("%s", error.text);
    }
    for (int side = 0; side < 2; side++) {
        free(ranks[side]);
        id_map_free(&maps[side]);
    }
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
    pool_free(pool);
}

TEST(workers_make_no_difference)
{
    char *text = make_text();
    log_set_level(LOG_LEVEL_WARNING);
    for (int catalogue = 0; catalogue < 2; catalogue++) {
        struct ratings one, many;
        struct violations told[2] = {{0}, {0}};
        build(text, 1 << 20, 0, catalogue, &one, &told[0]);
        const int64_t n = one.csr.ptr[one.csr.rows];
        assert_int_equal(n + told[0].n, LINES);
        assert_true(catalogue == (told[0].n > 0));
        for (int workers = 1; workers <= 5; workers++) {
            build(text, 3000, workers, catalogue, &many, &told[1]);
            data_same_csr(&one.csr, &many.csr);
            assert_memory_equal(one.times, many.times, (size_t)n * sizeof *one.times);
            assert_memory_equal(one.order, many.order, (size_t)n * sizeof *one.order);
            char *first = violations_text(&told[0]), *second = violations_text(&told[1]);
            assert_string_equal(first, second);
            free(first);
            free(second);
            violations_free(&told[1]);
            ratings_free(&many);
        }
        violations_free(&told[0]);
        ratings_free(&one);
    }
    free(text);
}

TEST(columns_are_the_same_on_all_workers)
{
    char *text = make_text();
    struct ratings rows;
    struct violations none = {0};
    struct dpf_error error = {0};
    struct csr alone, together;
    build(text, 1 << 20, 0, 0, &rows, &none);
    assert_int_equal(csr_transpose(&rows.csr, ITEMS, &alone, &error), 0);
    assert_int_equal(csr_transpose_counts(&rows.csr, ITEMS, &together, &error), 0);
    assert_null(together.others);
    assert_int_equal(together.rows, ITEMS);
    assert_memory_equal(together.ptr, alone.ptr, (ITEMS + 1) * sizeof *alone.ptr);
    csr_free(&together);
    for (int workers = 1; workers <= 5; workers++) {
        struct pool *pool = pool_new(workers);
        assert_int_equal(csr_transpose_on(pool, &rows.csr, ITEMS, &together, &error), 0);
        data_same_csr(&alone, &together);
        csr_free(&together);
        pool_free(pool);
    }
    csr_free(&alone);
    ratings_free(&rows);
    free(text);
}
