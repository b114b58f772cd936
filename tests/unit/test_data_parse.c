/* SPDX-License-Identifier: Apache-2.0 */
/* Loading in two steps: the first reads every file, so that points of a sweep share what it has read. */
#include "kit/data_support.h"

#define CSV                                                                                                  \
    "[data]\nformat = csv\npath = a.txt\nheader = no\nrelation.path = trust.txt\n"                           \
    "relation.similarity = pearson\nweights.kind = files\nweights.users = b.txt\nweights.items = c.txt\n"
#define TESTED CSV "[split]\nkind = files\ntest.path = other.txt\n"
#define RANDOM CSV "[split]\nkind = per-user\nn = 1\n"

static void write_files(void)
{
    data_write("a.txt", "anna,x,5\nanna,y,3\nanna,z,1\nben,x,1\nben,y,4\nben,z,2\ncleo,x,3\ncleo,z,4\n");
    data_write("other.txt", "ben,w,2\ncleo,y,5\n");
    data_write("trust.txt", "anna ben\nben cleo\ncleo anna\ncleo ben\ncleo nobody\n");
    data_write("b.txt", "anna 0.5\nben 1\ncleo 0.25\nnobody 0.1\n");
    data_write("c.txt", "w 1\nx 0.5\ny 1\nz 0.75\n");
}

static void remove_files(void)
{
    static const char *const names[] = {"a.txt", "other.txt", "trust.txt", "b.txt", "c.txt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(names[i]);
}

static void check_same(const struct dataset *a, const struct dataset *b)
{
    assert_int_equal(a->users.n, b->users.n);
    assert_int_equal(a->items.n, b->items.n);
    data_same_csr(&a->train.by_user, &b->train.by_user);
    data_same_csr(&a->train.by_item, &b->train.by_item);
    data_same_csr(&a->test.by_user, &b->test.by_user);
    data_same_csr(&a->relation.links, &b->relation.links);
    assert_int_equal(a->relation.unknown, b->relation.unknown);
    assert_memory_equal(a->weights.users, b->weights.users, (size_t)a->users.n * sizeof(float));
    assert_memory_equal(a->weights.items, b->weights.items, (size_t)a->items.n * sizeof(float));
}

static void check_divides_without_files(const char *ini)
{
    struct data_outcome whole, steps;
    write_files();
    data_get(ini, &whole);
    if (data_try_between(ini, 2, 1, remove_files, &steps) != 0)
        fail_msg("%s", steps.error.text);
    check_same(&whole.dataset, &steps.dataset);
    assert_int_equal(steps.dataset.users.n, 3);
    assert_int_equal(steps.dataset.relation.links.ptr[3], 4);
    assert_int_equal(steps.dataset.relation.unknown, 1);
    assert_true(steps.dataset.weights.users[id_map_find(&steps.dataset.users, "cleo")] == 0.25f);
    dataset_free(&whole.dataset);
    dataset_free(&steps.dataset);
}

TEST_WITH(the_second_step_reads_no_file, data_enter, data_leave)
{
    check_divides_without_files(RANDOM);
    check_divides_without_files(TESTED);
}

/* What the first step has read goes with it when it fails. */
TEST_WITH(faults_of_every_file_are_the_first_steps, data_enter, data_leave)
{
    write_files();
    data_write("c.txt", "w 1\nx 2\ny 1\nz 1\n");
    DATA_REFUSED(TESTED, DPF_FAULT_DATA, "c.txt:2", "a privacy weight is 2");
    write_files();
    data_write("trust.txt", "anna ben\nben\n");
    DATA_REFUSED(TESTED, DPF_FAULT_DATA, "trust.txt:2");
}

/* One usual name and no number make a header, whatever the other column is called; what has a number is a record. */
TEST_WITH(a_usual_name_makes_a_header, data_enter, data_leave)
{
    static const char *const headers[] = {"userId,songId", "sku,item", "who,rating"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct data_outcome out;
        char text[128];
        snprintf(text, sizeof text, "%s\n1,2\n1,3\n2,2\n", headers[i]);
        data_write("a.txt", text);
        const int status = data_try("[data]\nformat = csv\nfeedback = implicit\npath = a.txt\n", 2, 1, &out);
        if (i == 2) { /* the rating's column is the only one that is left for the item */
            assert_int_equal(status, -1);
            assert_non_null(strstr(out.error.text, "is the item"));
            continue;
        }
        assert_int_equal(status, 0);
        assert_int_equal(out.dataset.train.n, 3);
        assert_int_equal(out.dataset.users.n, 2);
        dataset_free(&out.dataset);
    }
    struct data_outcome out;
    data_write("a.txt", "item,4\nzoe,4\n");
    data_get("[data]\nformat = csv\nfeedback = implicit\npath = a.txt\n", &out);
    assert_int_equal(out.dataset.train.n, 2);
    dataset_free(&out.dataset);
}
