/* SPDX-License-Identifier: Apache-2.0 */
/* Silos divide the records: each record is in one silo, the same one in both orientations. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "kit/test.h"
#include "config/config.h"
#include "data/load.h"
#include "engine/parties.h"
#include "reading/data_params.h"

static const char text[] = "[data]\nformat = synthetic\nsynthetic.users = 53\nsynthetic.items = 31\n"
                           "synthetic.ratings = 700\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = none\n";

/* The parts of a plan that parties read, and a data set. */
struct fixture {
    struct plan plan;
    struct dataset dataset;
    struct dpf_error error;
};

static void make(struct fixture *f, const char *kind, int count, uint64_t seed)
{
    char ini[512];
    memset(f, 0, sizeof *f);
    snprintf(ini, sizeof ini, "%s[parties]\nkind = %s\ncount = %d\n", text, kind, count);
    struct plan *plan = &f->plan;
    struct dpf_error *error = &f->error;
    int64_t n_data, n_split, n_parties;
    const dpf_param *data = data_params(&n_data), *split = split_params(&n_split);
    const dpf_param *parties = schema_parties(&n_parties);
    struct pool *pool = pool_new(1);
    plan->config = config_parse("test.ini", ini, strlen(ini), error);
    plan->seeded = random_root_seeded(seed, "run", error);
    if (!pool || !plan->config || !plan->seeded ||
        config_bind(plan->config, "data", data, n_data, sizeof *data, NULL, 1, &plan->data, error) != 0 ||
        config_bind(plan->config, "split", split, n_split, sizeof *split, NULL, 1, &plan->split, error) !=
            0 ||
        config_bind(plan->config, "parties", parties, n_parties, sizeof *parties, NULL, 1, &plan->parties,
                    error) != 0 ||
        data_load(&plan->data, &plan->split, plan->seeded, pool, &f->dataset, error) != 0)
        fail_msg("%s", error->text);
    pool_free(pool);
}

static void unmake(struct fixture *f)
{
    dataset_free(&f->dataset);
    config_values_free(&f->plan.data);
    config_values_free(&f->plan.split);
    config_values_free(&f->plan.parties);
    random_root_free(f->plan.seeded);
    config_free(f->plan.config);
}

/* Position of a record in a silo's rows by user, or -1. */
static int64_t find(const struct csr *csr, int64_t row, int32_t other)
{
    for (int64_t i = csr->ptr[row]; i < csr->ptr[row + 1]; i++)
        if (csr->others[i] == other)
            return i;
    return -1;
}

static void check_silos(const char *kind, int partition)
{
    struct fixture f;
    struct parties parties;
    make(&f, kind, 7, 5);
    assert_int_equal(parties_make(&parties, &f.plan, &f.dataset, -1, &f.error), 0);
    assert_int_equal(parties.n, 7);
    assert_int_equal(parties.partition, partition);
    const struct csr *all = &f.dataset.train.by_user;
    int64_t rows = partition == DPF_SIDE_USERS ? f.dataset.users.n : f.dataset.items.n, members = 0;
    for (int p = 0; p < 7; p++) {
        members += parties.list[p].n_members;
        const double mean = (double)rows / 7, deviation = sqrt(mean * 6 / 7);
        assert_true(fabs((double)parties.list[p].n_members - mean) < 4 * deviation);
    }
    assert_int_equal(members, rows);
    for (int64_t u = 0; u < all->rows; u++)
        for (int64_t i = all->ptr[u]; i < all->ptr[u + 1]; i++) {
            int holders = 0;
            for (int p = 0; p < 7; p++) {
                const struct party *party = &parties.list[p];
                int64_t at = find(&party->by_user, u, all->others[i]);
                int64_t across = find(&party->by_item, all->others[i], (int32_t)u);
                assert_int_equal(at >= 0, across >= 0);
                if (at < 0)
                    continue;
                holders++;
                assert_true(party->by_user.values[at] == all->values[i]);
                assert_true(party->by_item.values[across] == all->values[i]);
            }
            assert_int_equal(holders, 1);
        }
    parties_free(&parties);
    unmake(&f);
}

TEST(silos_divide_users)
{
    check_silos("silos-by-users", DPF_SIDE_USERS);
}

TEST(silos_divide_items)
{
    check_silos("silos-by-items", DPF_SIDE_ITEMS);
}

TEST(the_seed_decides_who_is_where)
{
    struct fixture a, b;
    struct parties first, second;
    make(&a, "silos-by-users", 3, 1);
    make(&b, "silos-by-users", 3, 1);
    assert_int_equal(parties_make(&first, &a.plan, &a.dataset, -1, &a.error), 0);
    assert_int_equal(parties_make(&second, &b.plan, &b.dataset, -1, &b.error), 0);
    assert_memory_equal(first.list[0].members, second.list[0].members,
                        (size_t)first.list[0].n_members * sizeof(int32_t));
    parties_free(&second);
    random_root_free(b.plan.seeded);
    b.plan.seeded = random_root_seeded(2, "run", &b.error);
    assert_int_equal(parties_make(&second, &b.plan, &b.dataset, -1, &b.error), 0);
    assert_memory_not_equal(first.list[0].members, second.list[0].members,
                            (size_t)first.list[0].n_members * sizeof(int32_t));
    parties_free(&first);
    parties_free(&second);
    unmake(&a);
    unmake(&b);
}

/* As one of several processes, a silo has the users of whom there are records, whatever the seed says. */
TEST(a_silo_of_its_own_has_those_of_its_records)
{
    struct fixture f;
    struct parties parties;
    make(&f, "silos-by-users", 3, 1);
    assert_int_equal(parties_make(&parties, &f.plan, &f.dataset, 1, &f.error), 0);
    const struct csr *train = &f.dataset.train.by_user, *test = &f.dataset.test.by_user;
    int64_t members = 0;
    for (int64_t u = 0; u < train->rows; u++)
        members += train->ptr[u + 1] > train->ptr[u] || (test->ptr && test->ptr[u + 1] > test->ptr[u]);
    assert_int_equal(parties.list[1].n_members, members);
    assert_int_equal(parties.list[1].by_user.ptr[train->rows], train->ptr[train->rows]);
    for (int p = 0; p < 3; p += 2) {
        assert_int_equal(parties.list[p].n_members, 0);
        assert_int_equal(parties.list[p].by_user.ptr[train->rows], 0);
    }
    parties_free(&parties);
    unmake(&f);
}

/* Whether there are enough rows for all silos would tell of the data. */
TEST(more_silos_than_rows_leave_some_empty)
{
    struct fixture f;
    struct parties parties;
    int64_t members = 0;
    make(&f, "silos-by-items", 32, 1);
    assert_int_equal(parties_make(&parties, &f.plan, &f.dataset, -1, &f.error), 0);
    for (int p = 0; p < 32; p++)
        members += parties.list[p].n_members;
    assert_int_equal(members, 31);
    parties_free(&parties);
    unmake(&f);
}

/* The silo of each user of a stays when the users in front of it leave, as those of 1 to 53 less the first.
 */
TEST(nobody_moves_when_a_user_leaves)
{
    struct fixture all, fewer;
    struct parties first, second;
    make(&all, "silos-by-users", 5, 4);
    make(&fewer, "silos-by-users", 5, 4);
    struct id_map *ids = &fewer.dataset.users;
    ids->n--;
    memmove(ids->offsets, ids->offsets + 1, (size_t)(ids->n + 1) * sizeof *ids->offsets);
    struct csr *csr = &fewer.dataset.train.by_user;
    const int64_t gone = csr->ptr[1];
    csr->rows--;
    for (int64_t r = 0; r <= csr->rows; r++)
        csr->ptr[r] = csr->ptr[r + 1] - gone;
    csr->others += gone;
    csr->values += gone;
    assert_int_equal(parties_make(&first, &all.plan, &all.dataset, -1, &all.error), 0);
    assert_int_equal(parties_make(&second, &fewer.plan, &fewer.dataset, -1, &fewer.error), 0);
    for (int p = 0; p < 5; p++) {
        const struct party *a = &first.list[p], *b = &second.list[p];
        const int64_t led = a->n_members && a->members[0] == 0;
        assert_int_equal(b->n_members, a->n_members - led);
        for (int64_t i = 0; i < b->n_members; i++)
            assert_int_equal(b->members[i] + 1, a->members[i + led]);
    }
    csr->others -= gone;
    csr->values -= gone;
    parties_free(&first);
    parties_free(&second);
    unmake(&all);
    unmake(&fewer);
}

static int start(void **state)
{
    (void)state;
    return sodium_init() < 0 ? -1 : 0;
}

FIXTURE(start, NULL)
