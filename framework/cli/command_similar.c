/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/csv_table.h"
#include "run/saved_run.h"

static const char usage[] =
    "usage: dpframe similar RUN --item ID [-n N] [--output FILE]\n"
    "\n"
    "The N items (default 10) whose factors point most nearly in the direction of those of the item\n"
    "(cosine, biases left out), from the directory of a run. CSV: item,similar,rank,cosine. Where the\n"
    "items' factors are released, so is what it writes; run.json names the side of each file.\n";

struct near {
    double cosine;
    int32_t item;
};

static int by_cosine(const void *x, const void *y)
{
    const struct near *a = x, *b = y;
    if (a->cosine != b->cosine)
        return a->cosine < b->cosine ? 1 : -1;
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
        qsort(out, (size_t)n, sizeof *out, by_cosine);
    return n;
}

static int check_model(const struct plan *plan, struct dpf_error *error)
{
    if (plan->recommender.instance)
        return error_set(error, DPF_FAULT_CONFIG,
                         "the run's model is recommender %s, which has no factors of items to compare",
                         plan->recommender.instance->entry->component->id);
    if (!plan_is_factorization(plan) || plan->model.params.values[MODEL_RANK].integer < 1)
        return error_set(error, DPF_FAULT_CONFIG, "the run's model has no factors of items to compare");
    return 0;
}

static int write_near(const struct saved_run *run, const struct arguments *arguments, struct dpf_error *error)
{
    char shown[TEXT_SHOWN], number[32];
    struct csv_table table;
    const struct id_map *items = &run->dataset.items;
    const int64_t item = id_map_find(items, arguments->item), most = arguments->count ? arguments->count : 10;
    if (item < 0)
        return error_set(error, DPF_FAULT_DATA, "--item \"%s\": the data has no such item",
                         text_show(arguments->item, shown));
    struct near *near = memory_new((size_t)items->n + 1, sizeof *near);
    if (!near)
        return error_memory(error);
    const int64_t n = find_near(&run->model, item, factor_columns(&run->session.plan), near);
    int status =
        n ? csv_table_open(&table, arguments->output, "item,similar,rank,cosine", error)
          : error_set(error, DPF_FAULT_DATA, "item \"%s\" has no factors: nothing was learnt about it",
                      text_show(arguments->item, shown));
    for (int64_t k = 0; k < n && k < most && status == 0; k++) {
        csv_table_text(&table, arguments->item, ',');
        csv_table_text(&table, id_map_text(items, near[k].item), ',');
        fprintf(table.stream, "%lld,%s\n", (long long)k + 1, text_from_real(near[k].cosine, number));
    }
    free(near);
    return status == 0 ? csv_table_close(&table, 0, error) : -1;
}

int command_similar(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct saved_run run = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && (arguments.n_rest != 1 || !arguments.item))
        status =
            error_set(&error, DPF_FAULT_CONFIG, "name the directory of one run, and --item ID (see --help)");
    if (status == 0) {
        log_set_level(LOG_LEVEL_WARNING);
        status = saved_run_open(&arguments, arguments.rest[0], &run, &error);
        if (status == 0)
            status = check_model(&run.session.plan, &error);
        if (status == 0)
            status = write_near(&run, &arguments, &error);
        saved_run_close(&run);
    }
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
