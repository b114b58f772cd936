/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/evaluate_fixture.h"

void fixture_defaults(struct fixture_options *options)
{
    static const int64_t ten[] = {10};
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    assert_true(n <= FIXTURE_MAX_OPTIONS);
    memset(options, 0, sizeof *options);
    for (int64_t i = 0; i < n; i++) {
        dpf_value *value = &options->value[i];
        value->type = table[i].type;
        value->integer = table[i].default_integer;
        value->real = table[i].default_real;
        value->text = table[i].default_text;
        if (strcmp(table[i].name, "k") == 0) {
            value->integers = ten;
            value->count = 1;
        }
    }
    options->values.params = (dpf_params){sizeof(dpf_params), (uint32_t)n, options->value};
    options->values.section = (char *)(uintptr_t) "evaluate";
    options->values.table = table;
    options->values.table_stride = (int64_t)sizeof *table;
}

dpf_value *fixture_option(struct fixture_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->values.params.n_values; i++) {
        if (strcmp(options->values.table[i].name, name) != 0)
            continue;
        options->value[i].is_set = 1;
        return &options->value[i];
    }
    fail_msg("no option %s", name);
    return NULL;
}

void fixture_text(struct fixture_options *options, const char *name, const char *text)
{
    fixture_option(options, name)->text = text;
}

void fixture_enum(struct fixture_options *options, const char *name, const char *choice)
{
    dpf_value *value = fixture_option(options, name);
    const dpf_param *param = &options->values.table[value - options->value];
    for (int64_t i = 0; i < param->n_values; i++) {
        if (strcmp(param->values[i].name, choice) == 0) {
            value->integer = i;
            return;
        }
    }
    fail_msg("%s has no value %s", name, choice);
}

void fixture_list(struct fixture_options *options, const char *name, const int64_t *list, int64_t n)
{
    dpf_value *value = fixture_option(options, name);
    value->integers = list;
    value->count = n;
}

/* Cells by user and item: NaN where there is no record. */
static void fixture_csr(struct csr *csr, const double *cells, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, int with_values)
{
    int64_t n = 0;
    csr->rows = rows;
    csr->ptr = memory_new((size_t)rows + 1, sizeof *csr->ptr);
    csr->others = memory_new((size_t)(rows * columns), sizeof *csr->others);
    csr->values = with_values ? memory_new((size_t)(rows * columns), sizeof *csr->values) : NULL;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            double value = cells[r * row_stride + c * column_stride];
            if (isnan(value))
                continue;
            if (csr->values)
                csr->values[n] = (float)value;
            csr->others[n++] = (int32_t)c;
        }
        csr->ptr[r + 1] = n;
    }
}

void fixture_csr_free(struct csr *csr)
{
    free(csr->ptr);
    free(csr->others);
    free(csr->values);
    memset(csr, 0, sizeof *csr);
}

void fixture_dataset(struct dataset *dataset, int64_t users, int64_t items, const double *train,
                     const double *test, int implicit)
{
    memset(dataset, 0, sizeof *dataset);
    fixture_csr(&dataset->train.by_user, train, users, items, items, 1, !implicit);
    fixture_csr(&dataset->train.by_item, train, items, users, 1, items, !implicit);
    fixture_csr(&dataset->test.by_user, test, users, items, items, 1, !implicit);
    dataset->train.n = dataset->train.by_user.ptr[users];
    dataset->test.n = dataset->test.by_user.ptr[users];
    if (id_map_range(users, &dataset->users) != 0 || id_map_range(items, &dataset->items) != 0)
        fail();
    dataset->implicit = implicit;
    dataset->value_lo = 1;
    dataset->value_hi = implicit ? 1 : 5;
}

void fixture_dataset_free(struct dataset *dataset)
{
    fixture_csr_free(&dataset->train.by_user);
    fixture_csr_free(&dataset->train.by_item);
    fixture_csr_free(&dataset->test.by_user);
    id_map_free(&dataset->users);
    id_map_free(&dataset->items);
}

double *fixture_cells(int64_t users, int64_t items)
{
    double *cells = memory_raw((size_t)(users * items), sizeof *cells);
    for (int64_t i = 0; i < users * items; i++)
        cells[i] = NAN;
    return cells;
}

int fixture_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                   struct dpf_error *error)
{
    const struct fixture_model *model = context;
    (void)error;
    for (int64_t i = 0; i < n; i++)
        out[i] = model->scores[user * model->items + (items ? items[i] : i)];
    return 0;
}

int fixture_evaluate(const struct fixture_options *options, const struct dataset *dataset,
                     const double *scores, struct metrics *out, struct dpf_error *error)
{
    struct fixture_model model = {dataset->train.by_item.rows, scores};
    struct scorer scorer = {
        .context = &model, .scores = fixture_scores, .users = &dataset->users, .items = &dataset->items};
    struct pool *pool = pool_new(1);
    memset(error, 0, sizeof *error);
    struct random_root *root = random_root_seeded(1, "run", error);
    assert_non_null(pool);
    assert_non_null(root);
    int status = evaluate_model(&options->values, dataset, &scorer, root, pool, 0, out, error);
    random_root_free(root);
    pool_free(pool);
    return status;
}

double fixture_metric(const struct metrics *metrics, const char *name)
{
    for (int64_t i = 0; i < metrics->n; i++)
        if (strcmp(metrics->items[i].name, name) == 0)
            return metrics->items[i].value;
    fail_msg("there is no result %s", name);
    return NAN;
}

int64_t fixture_count(const struct metrics *metrics, const char *name)
{
    for (int64_t i = 0; i < metrics->n; i++)
        if (strcmp(metrics->items[i].name, name) == 0)
            return metrics->items[i].n;
    fail_msg("there is no result %s", name);
    return -1;
}

void fixture_close(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s: %.17g is not %.17g", what, a, b);
}

/* A small generator for test instances only: xorshift64*. */
static uint64_t fixture_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

int64_t fixture_below(uint64_t *state, int64_t bound)
{
    return (int64_t)((fixture_random(state) >> 33) % (uint64_t)bound);
}
