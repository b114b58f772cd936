/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/similar_items.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/model_scorer.h"
#include "run/saved_run.h"
#include "saved/table_file.h"

/* How near an item is: a cosine, or a weight. */
struct near {
    double weight;
    int32_t item;
};

static int by_weight(const void *x, const void *y)
{
    const struct near *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->item > b->item) - (a->item < b->item);
}

/* The columns of an item's row that are factors: neither its bias nor the constant for the user's. */
struct columns {
    int first, n;
};

static struct columns factor_columns(const struct plan *plan)
{
    const int rank = (int)plan->model.params.values[MODEL_RANK].integer;
    return (struct columns){plan->first[DPF_SIDE_ITEMS], rank};
}

static double product(const float *a, const float *b, struct columns columns)
{
    double sum = 0;
    for (int c = columns.first; c < columns.first + columns.n; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

static int64_t find_near(const struct model *model, int64_t item, struct columns columns, struct near *out)
{
    const struct side_factors *items = &model->sides[DPF_SIDE_ITEMS];
    const float *own = items->data + item * model->stride;
    const double length = sqrt(product(own, own, columns));
    int64_t n = 0;
    for (int64_t i = 0; i < items->rows; i++) {
        const float *row = items->data + i * model->stride;
        const double other = sqrt(product(row, row, columns));
        if (i != item && length > 0 && other > 0)
            out[n++] = (struct near){product(own, row, columns) / (length * other), (int32_t)i};
    }
    if (n)
        qsort(out, (size_t)n, sizeof *out, by_weight);
    return n;
}

#define SAME 1e-5 /* of floats that were equal before they were rounded */

/* A model may say the same of all other items, as one that knows users' means alone: then none is near. */
static int are_the_same(const double *weights, int64_t n, int64_t item)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        if (i != item) {
            least = fmin(least, weights[i]);
            most = fmax(most, weights[i]);
        }
    return !(most - least > SAME * fmax(fabs(most), fabs(least)));
}

/*
 * What the item says of each other one, from the state alone. Of lists, the scores of somebody who has that item and nothing
 * else, which are the weights of a model that is linear in records; of ratings, how much more is predicted of somebody
 * who rated it at the upper end of the declared range than of somebody unknown. All 0 where it says nothing.
 */
static int weigh(struct saved_run *run, int32_t item, double *out, struct dpf_error *error)
{
    const struct plan *plan = &run->session.plan;
    const int64_t n = run->dataset.items.n;
    const float value = isfinite(run->dataset.value_hi) ? (float)run->dataset.value_hi : 1.0F;
    const struct score_records one = {1, &item, run->dataset.train.by_user.values ? &value : NULL},
                               none = {0};
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    if (!plan_has(plan, MODEL_AT_HOME))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "recommender %s gives everybody the same list: it does not know which items are alike",
            plan->model_facts.id);
    double *without = memory_need((size_t)n + 1, sizeof *without);
    int status = model_scorer_of_state(&run->model, &scorer, error);
    if (status == 0)
        status = scorer_scores_of(&scorer, &desk, &none, n, without, error);
    if (status == 0)
        status = scorer_scores_of(&scorer, &desk, &one, n, out, error);
    /* Ratings without the item are those of anybody; lists without it, of popular items, are on another scale. */
    const int tells = status == 0 && memcmp(out, without, (size_t)n * sizeof *out) != 0;
    for (int64_t i = 0; i < n && status == 0; i++)
        out[i] = !tells ? 0 : plan_has(plan, MODEL_RANKS_ONLY) ? out[i] : out[i] - without[i];
    free(without);
    score_desk_free(&desk);
    scorer_close(&scorer);
    return status;
}

static int64_t find_lifted(struct saved_run *run, int64_t item, struct near *out, struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n;
    int64_t kept = 0;
    double *weights = memory_need((size_t)n + 1, sizeof *weights);
    const int status = weigh(run, (int32_t)item, weights, error);
    const int tells = status == 0 && !are_the_same(weights, n, item);
    for (int64_t i = 0; i < n && tells; i++)
        if (i != item && weights[i] != 0)
            out[kept++] = (struct near){weights[i], (int32_t)i};
    if (kept)
        qsort(out, (size_t)kept, sizeof *out, by_weight);
    free(weights);
    return status == 0 ? kept : -1;
}

static int check_model(const struct saved_run *run, struct dpf_error *error)
{
    const struct plan *plan = &run->session.plan;
    if (!model_has_rows(&run->model))
        return 0;
    if (!plan_has(plan, MODEL_TRAINS) || plan->model.params.values[MODEL_RANK].integer < 1)
        return error_set(error, DPF_FAULT_CONFIG, "the run's model has no factors of items to compare");
    return 0;
}

static void write_row(const struct table_file *table, const struct dataset *dataset, const char *item,
                      const struct near *near, int64_t rank, struct text *to)
{
    char number[32];
    int column = 0;
    table_file_cell(table, to, column++, item);
    table_file_cell(table, to, column++, id_map_text(&dataset->items, near->item));
    if (dataset->item_names.n)
        table_file_cell(table, to, column++, dataset_item_name(dataset, near->item));
    snprintf(number, sizeof number, "%lld", (long long)rank);
    table_file_cell(table, to, column++, number);
    table_file_cell(table, to, column, text_from_float((float)near->weight, number));
}

static int write_table(const struct saved_run *run, const struct arguments *arguments,
                       const struct table_output *form, const struct near *near, int64_t n,
                       struct dpf_error *error)
{
    struct table_file table = {.n_columns = 0};
    struct text rows = {0};
    table_file_column(&table, "item", 0);
    table_file_column(&table, "similar", 0);
    if (run->dataset.item_names.n)
        table_file_column(&table, "name", 0);
    table_file_column(&table, "rank", 1);
    table_file_column(&table, model_has_rows(&run->model) ? "cosine" : "weight", 1);
    if (table_file_open(&table, form, arguments->output, error) != 0)
        return -1;
    for (int64_t k = 0; k < n; k++)
        write_row(&table, &run->dataset, arguments->item, &near[k], k + 1, &rows);
    table_file_write(&table, &rows);
    text_free(&rows);
    return table_file_close(&table, 0, error);
}

/* The item that --item names: by its id. Who gives a name is told the id. */
static int64_t find_item(const struct saved_run *run, const char *asked, struct dpf_error *error)
{
    const struct dataset *dataset = &run->dataset;
    char shown[TEXT_SHOWN], id[TEXT_SHOWN];
    const int64_t item = id_map_find(&dataset->items, asked);
    for (int64_t i = 0; i < dataset->item_names.n && item < 0; i++)
        if (strcmp(dataset_item_name(dataset, i), asked) == 0)
            return error_set(error, DPF_FAULT_DATA,
                             "--item \"%s\": this is the name of item \"%s\": give the id",
                             text_show(asked, shown), text_show(id_map_text(&dataset->items, i), id));
    return item >= 0 ? item
                     : error_set(error, DPF_FAULT_DATA, "--item \"%s\": the data has no such item",
                                 text_show(asked, shown));
}

static int write_near(struct saved_run *run, const struct arguments *arguments,
                      const struct table_output *form, struct dpf_error *error)
{
    char shown[TEXT_SHOWN], name[TEXT_SHOWN];
    const struct id_map *items = &run->dataset.items;
    const int64_t item = find_item(run, arguments->item, error),
                  most = arguments->count ? arguments->count : 10;
    struct near *near = memory_need((size_t)items->n + 1, sizeof *near);
    int status = item < 0 ? -1 : 0;
    int64_t n = -1;
    if (status == 0)
        n = !model_has_rows(&run->model)
                ? find_lifted(run, item, near, error)
                : find_near(&run->model, item, factor_columns(&run->session.plan), near);
    if (n == 0) {
        const char *named = dataset_item_name(&run->dataset, item);
        error_set(error, DPF_FAULT_DATA,
                  "item \"%s\"%s%s%s: nothing was learnt about it that tells other items apart",
                  text_show(arguments->item, shown), *named ? " (" : "", *named ? text_show(named, name) : "",
                  *named ? ")" : "");
    }
    status = n > 0 ? write_table(run, arguments, form, near, n < most ? n : most, error) : -1;
    free(near);
    return status;
}

int similar_items(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run = {0};
    struct table_output form;
    if (table_output_read(arguments, &form, error) != 0)
        return -1;
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open_model(arguments, arguments->rest[0], 0, &run, error);
    if (status == 0)
        status = check_model(&run, error);
    if (status == 0)
        status = write_near(&run, arguments, &form, error);
    saved_run_close(&run);
    return status;
}
