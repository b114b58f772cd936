/* SPDX-License-Identifier: Apache-2.0 */
/* What links weigh when similarity is asked for. */
#include "kit/data_support.h"

#include <math.h>

#define CSV "[data]\nformat = csv\npath = a.txt\nrelation.path = trust.txt\n"
#define PEARSON CSV "relation.similarity = pearson\n"

static double link_weight(const struct dataset *d, const char *from, const char *to)
{
    const struct csr *links = &d->relation.links;
    int64_t u = id_map_find(&d->users, from), v = id_map_find(&d->users, to);
    assert_true(u >= 0);
    assert_true(v >= 0);
    for (int64_t k = links->ptr[u]; k < links->ptr[u + 1]; k++)
        if (links->others[k] == v)
            return links->values ? (double)links->values[k] : 1;
    fail_msg("no link from %s to %s", from, to);
    return 0;
}

TEST_WITH(friends_are_compared_by_their_common_items, data_enter, data_leave)
{
    struct data_outcome out;
    /* a: mean 3; b rates like a; c the other way round; d has nothing in common; e does not vary. */
    data_write("a.txt", "a,1,1\na,2,3\na,3,5\nb,1,2\nb,2,3\nb,3,4\nc,1,5\nc,2,3\nc,3,1\nd,9,4\nd,8,1\ne,1,3\n"
                        "e,2,3\nf,1,1\nf,2,4\nf,9,4\n");
    data_write("trust.txt", "a b\na c\nd a\na e\na f\n");
    data_get(PEARSON, &out);
    assert_true(fabs(link_weight(&out.dataset, "a", "b") - 1) < 1e-6);
    assert_true(fabs(link_weight(&out.dataset, "a", "c")) < 1e-6);
    assert_true(link_weight(&out.dataset, "d", "a") == 0.5);
    assert_true(link_weight(&out.dataset, "a", "e") == 0.5);
    /* Common items 1, 2: deviations (-2, 0) of a, (-2, 1) of f, whose mean is 3 over all of its ratings. */
    double r = 4 / sqrt(4 * 5);
    assert_true(fabs(link_weight(&out.dataset, "a", "f") - (1 + r) / 2) < 1e-6);
    dataset_free(&out.dataset);
    data_get(CSV, &out);
    assert_true(link_weight(&out.dataset, "a", "c") == 1);
    dataset_free(&out.dataset);
}

/* What is wrong with links is said of links, and not of ratings and items. */
TEST_WITH(wrong_links_are_named, data_enter, data_leave)
{
    data_write("a.txt", "a,1,1\nb,1,2\n");
    data_write("trust.txt", "a,b,1\na,,1\n");
    DATA_REFUSED(CSV "relation.delimiter = comma\n", DPF_FAULT_DATA,
                 "trust.txt:2: the linked user in column 2 is empty");
    data_write("trust.txt", "a,b,x\n");
    DATA_REFUSED(CSV "relation.delimiter = comma\nrelation.header = no\nrelation.column.weight = 3\n",
                 DPF_FAULT_DATA, "trust.txt:1: link's weight \"x\" in column 3 is not a number");
    data_write("trust.txt", "a,b,-1\n");
    DATA_REFUSED(CSV "relation.delimiter = comma\nrelation.column.weight = 3\n", DPF_FAULT_DATA,
                 "trust.txt:1: the link's weight \"-1\" is negative");
}

TEST_WITH(sensitive_ratings_do_not_count, data_enter, data_leave)
{
    struct data_outcome out;
    data_write("a.txt", "user,item,rating,w\na,1,1,1\na,2,3,1\na,3,5,0.5\nb,1,4,1\nb,2,2,1\nb,3,5,1\n");
    data_write("trust.txt", "a b\n");
    data_get(PEARSON "column.privacy-weight = w\n", &out);
    /* a: 1 and 3, mean 2: (-1, 1); b: mean 11/3 over all of its ratings. */
    double x = 4 - 11.0 / 3, y = 2 - 11.0 / 3, r = (-x + y) / sqrt(2 * (x * x + y * y));
    assert_true(fabs(link_weight(&out.dataset, "a", "b") - (1 + r) / 2) < 1e-6);
    dataset_free(&out.dataset);
    data_get(PEARSON, &out);
    double all = link_weight(&out.dataset, "a", "b");
    assert_true(fabs(all - (1 + r) / 2) > 0.1);
    dataset_free(&out.dataset);
}
