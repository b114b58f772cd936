/* SPDX-License-Identifier: Apache-2.0 */
/* Privacy weights: by groups, from files, of sensitive records; and for pairs that are to be predicted. */
#include "data/weights.h"
#include "kit/data_support.h"
#include "reading/data_params.h"

#include <math.h>

#define SYNTHETIC                                                                                            \
    "[data]\nformat = synthetic\nsynthetic.users = 400\nsynthetic.items = 300\nsynthetic.ratings = 12000\n"
#define CSV "[data]\nformat = csv\npath = a.txt\n"

static float weight_of(const struct dataset *d, int32_t user, int32_t item)
{
    float w;
    struct dpf_error error = {0};
    if (dataset_weights(d, user, &item, 1, &w, &error) != 0)
        fail_msg("%s", error.text);
    return w;
}

/* Every record of an orientation weighs what its pair weighs. */
static void check_records(const struct dataset *d, const struct csr *csr, int by_user)
{
    if (!csr->ptr)
        return;
    assert_non_null(csr->privacy_weights);
    for (int64_t r = 0; r < csr->rows; r++)
        for (int64_t k = csr->ptr[r]; k < csr->ptr[r + 1]; k++) {
            int32_t other = csr->others[k], row = (int32_t)r;
            float w = by_user ? weight_of(d, row, other) : weight_of(d, other, row);
            assert_true(csr->privacy_weights[k] == w);
            assert_true(w > 0);
            assert_true(w <= 1);
        }
}

static void check_all(const struct dataset *d)
{
    check_records(d, &d->train.by_user, 1);
    check_records(d, &d->train.by_item, 0);
    check_records(d, &d->test.by_user, 1);
}

TEST_WITH(groups_have_their_sizes_and_ranges, data_enter, data_leave)
{
    struct data_outcome out;
    data_get(SYNTHETIC "weights.kind = groups\n[split]\nkind = per-user\nn = 3\n", &out);
    const struct privacy_weights *w = &out.dataset.weights;
    static const double lo[] = {0.1, 0.5, 1}, hi[] = {0.5, 1, 1};
    int64_t sizes[3] = {0};
    double sum = 0;
    for (int u = 0; u < 400; u++) {
        int g = w->user_groups[u];
        assert_in_range(g, 0, 2);
        sizes[g]++;
        sum += g == 0 ? (double)w->users[u] : 0;
        assert_true((double)w->users[u] >= lo[g] - 1e-7);
        assert_true((double)w->users[u] <= hi[g]);
    }
    static const double shares[] = {0.54, 0.37, 0.09};
    for (int g = 0; g < 3; g++)
        assert_true(fabs((double)sizes[g] - 400 * shares[g]) < 4 * sqrt(400 * shares[g] * (1 - shares[g])));
    assert_true(fabs(sum / (double)sizes[0] - 0.3) < 0.04); /* 5 standard deviations of a mean of 216 */
    check_all(&out.dataset);
    dataset_free(&out.dataset);
}

TEST_WITH(the_seed_of_the_run_draws_them, data_enter, data_leave)
{
    static const char config[] = SYNTHETIC "weights.kind = groups\n";
    struct data_outcome a, b;
    assert_int_equal(data_try(config, 1, 1, &a), 0);
    assert_int_equal(data_try(config, 2, 2, &b), 0);
    assert_memory_not_equal(a.dataset.weights.users, b.dataset.weights.users, 400 * sizeof(float));
    dataset_free(&a.dataset);
    assert_int_equal(data_try(config, 0, 2, &a), 0);
    assert_memory_equal(a.dataset.weights.users, b.dataset.weights.users, 400 * sizeof(float));
    dataset_free(&a.dataset);
    dataset_free(&b.dataset);
}

TEST_WITH(files_name_every_id, data_enter, data_leave)
{
    struct data_outcome out;
    data_write("a.txt", "anna,x,5\nanna,y,3\nben,x,1\n");
    data_write("b.txt", "anna 0.5\nben 1\nnobody 0.3\n");
    data_write("c.txt", "y 0.25\nx 0.5\n");
    data_get(CSV "weights.kind = files\nweights.users = b.txt\nweights.items = c.txt\n", &out);
    check_all(&out.dataset);
    assert_true(weight_of(&out.dataset, 0, 0) == 0.25f);
    assert_true(weight_of(&out.dataset, 0, 1) == 0.125f);
    assert_true(weight_of(&out.dataset, 1, 1) == 0.25f); /* no record: still a weight */
    dataset_free(&out.dataset);
    data_get(CSV "weights.kind = files\nweights.users = b.txt\n", &out);
    assert_true(weight_of(&out.dataset, 0, 1) == 0.5f);
    assert_true(weight_of(&out.dataset, 1, 0) == 1.0f);
    dataset_free(&out.dataset);
    data_write("b.txt", "anna 0.5\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA, "b.txt", "user ben");
    data_write("b.txt", "anna 0.5\nben 1.5\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA, "b.txt:2", "1.5");
    data_write("b.txt", "anna 0.5\nben 0\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA, "b.txt:2");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = none.txt\n", DPF_FAULT_DATA, "none.txt");
    /* What is wrong is said of weights, and not of ratings, items or links. */
    data_write("b.txt", "anna 0.5\nben nan\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA,
                 "b.txt:2: privacy weight \"nan\"");
    data_write("b.txt", "anna 0.5\nben -1\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA,
                 "b.txt:2: the privacy weight \"-1\" is negative");
    data_write("b.txt", "anna,0.5\n");
    DATA_REFUSED(CSV "weights.kind = files\nweights.users = b.txt\n", DPF_FAULT_DATA,
                 "b.txt:1: a line holds an id and its weight");
}

TEST_WITH(some_records_are_sensitive, data_enter, data_leave)
{
    struct data_outcome out;
    data_get(SYNTHETIC "weights.kind = sensitive\nweights.sensitive-share = 0.3\n"
                       "weights.sensitive-weight = 0.25\n[split]\nkind = per-user\nn = 2\n",
             &out);
    const struct csr *csr = &out.dataset.train.by_user;
    double n = (double)out.dataset.train.n, sensitive = 0;
    for (int64_t k = 0; k < out.dataset.train.n; k++) {
        assert_true(csr->privacy_weights[k] == 0.25f || csr->privacy_weights[k] == 1.0f);
        sensitive += csr->privacy_weights[k] < 1;
    }
    assert_true(fabs(sensitive - 0.3 * n) < 4 * sqrt(0.21 * n));
    check_all(&out.dataset);
    /* Only rated pairs have a mark. */
    struct dpf_error error = {0};
    int32_t item = -1;
    for (int32_t i = 0; i < 300 && item < 0; i++)
        if (csr->ptr[1] == csr->ptr[0] || csr->others[csr->ptr[0]] > i)
            item = i;
    float w;
    if (item >= 0 && dataset_weights(&out.dataset, 0, &item, 1, &w, &error) != 0)
        assert_int_equal(error.fault, DPF_FAULT_DATA);
    dataset_free(&out.dataset);
}

TEST_WITH(columns_of_weights_serve_rated_pairs, data_enter, data_leave)
{
    struct data_outcome out;
    struct dpf_error error = {0};
    int32_t item = 1;
    float w;
    data_write("a.txt", "user,item,rating,w\nanna,x,5,0.5\nanna,y,3,0.25\nben,x,1,0.75\n");
    data_get(CSV "column.privacy-weight = w\n", &out);
    assert_true(dataset_has_weights(&out.dataset));
    assert_true(weight_of(&out.dataset, 0, 1) == 0.25f);
    assert_int_equal(dataset_weights(&out.dataset, 1, &item, 1, &w, &error), -1);
    assert_non_null(strstr(error.text, "ben"));
    dataset_free(&out.dataset);
    DATA_REFUSED(CSV "column.privacy-weight = w\nweights.kind = groups\n", DPF_FAULT_CONFIG, "weights.kind");
    data_get(CSV, &out);
    assert_false(dataset_has_weights(&out.dataset));
    dataset_free(&out.dataset);
}

TEST_WITH(configurations_that_cannot_be, data_enter, data_leave)
{
#define GROUPS SYNTHETIC "weights.kind = groups\n"
    DATA_REFUSED(GROUPS "weights.user-shares = 0.5\n", DPF_FAULT_CONFIG, "test.ini:", "user-shares");
    DATA_REFUSED(GROUPS "weights.user-shares = 0.7, 0.7\n", DPF_FAULT_CONFIG, "1.4");
    DATA_REFUSED(GROUPS "weights.item-levels = 0.5, 0.1, 1\n", DPF_FAULT_CONFIG, "item-levels", "0.1");
    DATA_REFUSED(GROUPS "weights.item-levels = 0, 0.1, 1\n", DPF_FAULT_CONFIG, "item-levels");
    DATA_REFUSED(SYNTHETIC "weights.kind = files\n", DPF_FAULT_CONFIG, "weights.users");
}

/* What the plan knows without data, against a long average of what is drawn. */
TEST_WITH(the_mean_is_public, data_enter, data_leave)
{
    static const char ini[] = "[data]\nformat = synthetic\nsynthetic.users = 30000\nsynthetic.items = 20000\n"
                              "synthetic.ratings = 300000\nweights.kind = groups\n";
    struct data_outcome out;
    struct dpf_error error = {0};
    int64_t n;
    struct config_values data = {0};
    struct data_weight_range range;
    struct config *config = config_parse("test.ini", ini, strlen(ini), &error);
    const dpf_param *table = data_params(&n);
    assert_int_equal(config_bind(config, "data", table, n, sizeof(dpf_param), NULL, 1, &data, &error), 0);
    data_weight_range(&data, &range);
    assert_true(fabs(range.lo - 0.01) < 1e-12);
    assert_true(range.hi == 1);
    assert_true(fabs(range.mean - 0.5295 * 0.6865) < 1e-12);
    config_values_free(&data);
    config_free(config);
    data_get(ini, &out);
    double users = 0, items = 0;
    for (int64_t u = 0; u < out.dataset.users.n; u++)
        users += (double)out.dataset.weights.users[u];
    for (int64_t i = 0; i < out.dataset.items.n; i++)
        items += (double)out.dataset.weights.items[i];
    assert_true(fabs(users / 30000 - 0.5295) < 0.004);
    assert_true(fabs(items / 20000 - 0.6865) < 0.005);
    dataset_free(&out.dataset);
}
