/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/data_support.h"

/* The files of a test; the setup function makes the directory the current one. */
static char data_directory[64];

int data_enter(void **state)
{
    (void)state;
    strcpy(data_directory, "/tmp/dpframe-data-XXXXXX");
    return mkdtemp(data_directory) && chdir(data_directory) == 0 ? 0 : -1;
}

int data_leave(void **state)
{
    static const char *const names[] = {"a.txt", "b.txt", "c.txt", "trust.txt", "a.gz", "b.gz", "other.txt"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(names[i]);
    return chdir("/") == 0 ? rmdir(data_directory) : -1;
}

void data_write_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

void data_write(const char *name, const char *text)
{
    data_write_bytes(name, text, strlen(text));
}

int data_passes_over;

int data_try_between(const char *ini, int workers, uint64_t seed, void (*between)(void),
                     struct data_outcome *out)
{
    int64_t n_data, n_split;
    const dpf_param *data_table = data_params(&n_data), *split_table = split_params(&n_split);
    struct config_values data = {0}, split = {0};
    memset(out, 0, sizeof *out);
    struct config *config = config_parse("test.ini", ini, strlen(ini), &out->error);
    struct random_root *root = random_root_seeded(seed, "run", &out->error);
    struct pool *pool = workers > 0 ? pool_new(workers) : NULL;
    int status = -1;
    if (config && root &&
        config_bind(config, "data", data_table, n_data, sizeof(dpf_param), NULL, 1, &data, &out->error) ==
            0 &&
        config_bind(config, "split", split_table, n_split, sizeof(dpf_param), NULL, 1, &split, &out->error) ==
            0 &&
        data_check(&data, &split, &out->lo, &out->hi, &out->error) == 0) {
        struct data_parsed *parsed = NULL;
        if (!between) {
            status = (data_passes_over ? data_read : data_load)(&data, &split, root, pool, &out->dataset,
                                                                &out->error);
        } else if (data_parse(&data, &split, root, pool, &parsed, &out->error) == 0) {
            between();
            status = data_divide(parsed, &data, &split, root, pool, &out->dataset, &out->error);
            if (status == 0)
                status = data_index_items(&out->dataset, pool, &out->error);
        }
    }
    config_values_free(&data);
    config_values_free(&split);
    config_free(config);
    random_root_free(root);
    pool_free(pool);
    return status;
}

int data_try(const char *ini, int workers, uint64_t seed, struct data_outcome *out)
{
    return data_try_between(ini, workers, seed, NULL, out);
}

void data_get(const char *ini, struct data_outcome *out)
{
    if (data_try(ini, 2, 1, out) != 0)
        fail_msg("%s", out->error.text);
}

void data_refused(const char *ini, enum dpf_fault fault, const char *const *parts)
{
    struct data_outcome out;
    if (data_try(ini, 2, 1, &out) == 0)
        fail_msg("loaded, but should have said: %s", parts[0]);
    if (out.error.fault != fault)
        fail_msg("fault %d: %s", (int)out.error.fault, out.error.text);
    for (; *parts; parts++)
        if (!strstr(out.error.text, *parts))
            fail_msg("\"%s\" is missing in: %s", *parts, out.error.text);
}

double data_value(const struct dataset *d, const struct csr *csr, const char *user, const char *item)
{
    int64_t u = id_map_find(&d->users, user), i = id_map_find(&d->items, item);
    if (u < 0 || i < 0)
        return -1000;
    for (int64_t j = csr->ptr[u]; j < csr->ptr[u + 1]; j++)
        if (csr->others[j] == i)
            return csr->values ? csr->values[j] : 1;
    return -1000;
}

void data_candidates(const struct dataset *dataset, struct csr *out)
{
    const int64_t users = dataset->users.n, items = dataset->items.n;
    *out = (struct csr){.rows = users};
    out->ptr = calloc((size_t)users + 1, sizeof *out->ptr);
    out->others = calloc((size_t)(users * items) + 1, sizeof *out->others);
    for (int64_t u = 0; u < users; u++)
        out->ptr[u + 1] = out->ptr[u] + (dataset->candidates.kind == CANDIDATES_ALL
                                             ? 0
                                             : dataset_candidates(dataset, u, out->others + out->ptr[u]));
}

void data_check_csr(const struct csr *csr, int64_t columns)
{
    assert_int_equal(csr->ptr[0], 0);
    for (int64_t r = 0; r < csr->rows; r++) {
        assert_true(csr->ptr[r] <= csr->ptr[r + 1]);
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++) {
            assert_in_range(csr->others[i], 0, columns - 1);
            assert_true(i == csr->ptr[r] || csr->others[i - 1] < csr->others[i]);
        }
    }
}

void data_same_csr(const struct csr *a, const struct csr *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->ptr == NULL, b->ptr == NULL);
    if (!a->ptr)
        return;
    size_t n = (size_t)a->ptr[a->rows];
    assert_memory_equal(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr);
    assert_memory_equal(a->others, b->others, n * sizeof *a->others);
    assert_int_equal(a->values == NULL, b->values == NULL);
    if (a->values)
        assert_memory_equal(a->values, b->values, n * sizeof *a->values);
    assert_int_equal(a->privacy_weights == NULL, b->privacy_weights == NULL);
    if (a->privacy_weights)
        assert_memory_equal(a->privacy_weights, b->privacy_weights, n * sizeof *a->privacy_weights);
}
