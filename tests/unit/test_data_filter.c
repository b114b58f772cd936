/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: who and what is left, in which order they act, and what they refuse. */
#include "kit/data_support.h"

#include <math.h>

#define CSV "[data]\npath = a.txt\nheader = no\n"

/* The training records as "user,item" in the order of users and items. */
static void assert_left(const char *keys, const char *wanted)
{
    struct data_outcome out;
    char ini[256], text[512] = "";
    snprintf(ini, sizeof ini, CSV "%s", keys);
    if (data_try(ini, 2, 1, &out) != 0)
        fail_msg("%s", out.error.text);
    const struct dataset *d = &out.dataset;
    for (int64_t u = 0; u < d->users.n; u++)
        for (int64_t k = d->train.by_user.ptr[u]; k < d->train.by_user.ptr[u + 1]; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s,%s", *text ? " " : "",
                     id_map_text(&d->users, u), id_map_text(&d->items, d->train.by_user.others[k]));
    assert_string_equal(text, wanted);
    assert_int_equal(d->summary.filtered, 10 - d->train.n);
    dataset_free(&out.dataset);
}

/* User 1 has 4 records, 2 has 3, 3 has 2, 4 has 1; item a has 4, b 3, c 2, d 1. */
static void write_triangle(void)
{
    data_write("a.txt",
               "1,a,5,10\n1,b,4,40\n1,c,3,30\n1,d,2,20\n2,a,5,11\n2,b,4,12\n2,c,3,13\n3,a,2,50\n3,b,1,50\n"
               "4,a,1,1\n");
}

TEST(numbers_of_ratings)
{
    write_triangle();
    assert_left("filter.user-min = 3\n", "1,a 1,b 1,c 1,d 2,a 2,b 2,c");
    assert_left("filter.user-max = 2\nfilter.keep = latest\n", "1,b 1,c 2,b 2,c 3,a 3,b 4,a");
    assert_left("filter.user-max = 1\nfilter.keep = latest\n",
                "1,b 2,c 3,b 4,a"); /* equal times: the later line */
    assert_left("filter.item-min = 3\n", "1,a 1,b 2,a 2,b 3,a 3,b 4,a");
    /* Items first; then users have fewer. */
    assert_left("filter.item-min = 2\nfilter.user-min = 3\n", "1,a 1,b 1,c 2,a 2,b 2,c");
    assert_left("filter.user-max = 3\nfilter.user-min = 2\nfilter.keep = latest\n",
                "1,b 1,c 1,d 2,a 2,b 2,c 3,a 3,b");
}

TEST(nothing_left_is_said)
{
    data_write("a.txt", "1,a,1\n2,b,1\n");
    DATA_REFUSED(CSV "filter.item-min = 2\n", DPF_FAULT_DATA, "no records are left", "filter");
}

TEST(a_fraction_of_users)
{
    struct data_outcome out;
    char text[40000] = "";
    size_t used = 0;
    for (int u = 0; u < 1000; u++)
        used += (size_t)sprintf(text + used, "%d,a,3\n%d,b,4\n", u, u);
    data_write_bytes("a.txt", text, used);
    data_get(CSV "filter.users = 0.3\n", &out);
    assert_int_equal(out.dataset.users.n, 1000); /* the list stays */
    assert_int_equal(out.dataset.train.n % 2, 0);
    assert_true(fabs((double)out.dataset.train.n / 2 - 300) < 4 * sqrt(1000 * 0.21));
    for (int64_t u = 0; u < 1000; u++)
        assert_true((out.dataset.train.by_user.ptr[u + 1] - out.dataset.train.by_user.ptr[u]) % 2 == 0);
    dataset_free(&out.dataset);
}

TEST(contradictions_are_refused)
{
    write_triangle();
    DATA_REFUSED(CSV "filter.user-min = 3\nfilter.user-max = 2\n", DPF_FAULT_CONFIG, "filter.user-min");
    DATA_REFUSED(CSV "filter.user-min = 2\n[split]\nkind = files\ntest.path = a.txt\n", DPF_FAULT_CONFIG,
                 "filter");
}

FIXTURE(data_enter, data_leave)
