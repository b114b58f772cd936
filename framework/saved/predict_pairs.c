/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/predict_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/csv_table.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "engine/model_scores.h"
#include "reading/data_options.h"
#include "reading/table.h"
#include "run/saved_run.h"

struct pairs {
    struct table table;
    struct id_map users, items; /* of the file */
    int64_t unknown, cold;
};

static void pairs_free(struct pairs *pairs)
{
    table_free(&pairs->table);
    id_map_free(&pairs->users);
    id_map_free(&pairs->items);
}

/* As the run's own file is read, but for columns that pairs do not have. */
static int read_options(const struct plan *plan, struct file_options *out, struct dpf_error *error)
{
    struct data_options options;
    if (data_options_read(plan->config, &plan->data, &plan->split, &options, error) != 0)
        return -1;
    *out = options.file;
    out->columns[COLUMN_RATING] = out->columns[COLUMN_TIME] = out->columns[COLUMN_WEIGHT] = "none";
    out->rating_needed = out->time_needed = 0;
    out->n_fields = 0; /* as many as the file has */
    return 0;
}

static int read_pairs(const struct plan *plan, const char *path, struct pairs *out, struct dpf_error *error)
{
    struct file_options options;
    struct ids users = {0}, items = {0};
    if (read_options(plan, &options, error) != 0)
        return -1;
    int status = table_read(&out->table, path, &options, NULL, &users, &items, NULL, NULL, error);
    int32_t *ranks[2] = {memory_raw((size_t)users.n + 1, sizeof(int32_t)),
                         memory_raw((size_t)items.n + 1, sizeof(int32_t))};
    if (status == 0 && (!ranks[0] || !ranks[1] || ids_finish(&users, &out->users, ranks[0]) != 0 ||
                        ids_finish(&items, &out->items, ranks[1]) != 0))
        status = error_memory(error);
    if (status == 0)
        table_finish_ids(&out->table, ranks[0], ranks[1]);
    free(ranks[0]);
    free(ranks[1]);
    ids_free(&users);
    ids_free(&items);
    return status;
}

/* What is compared with ratings is, in evaluation, too. */
static double clipped(const struct dataset *dataset, double score)
{
    if (dataset->implicit)
        return score;
    if (isfinite(dataset->value_lo))
        score = fmax(score, dataset->value_lo);
    return isfinite(dataset->value_hi) ? fmin(score, dataset->value_hi) : score;
}

/* Without records, a row that has learnt nothing. */
static int is_cold(const struct saved_run *run, int64_t user)
{
    const struct model *model = &run->model;
    const int64_t *ptr = run->dataset.train.by_user.ptr;
    const float *row = model->sides[DPF_SIDE_USERS].data + user * model->stride;
    if (run->dataset.train.n > 0)
        return ptr[user] == ptr[user + 1];
    for (int c = 0; c < model->columns; c++)
        if (row[c] != 0)
            return 0;
    return 1;
}

static int predict_pair(struct saved_run *run, struct pairs *pairs, const char *user, const char *item,
                        struct csv_table *table, struct dpf_error *error)
{
    const struct dataset *dataset = &run->dataset;
    const int64_t u = id_map_find(&dataset->users, user), i = id_map_find(&dataset->items, item);
    const int32_t one = (int32_t)i;
    double score;
    char number[32];
    csv_table_text(table, user, ',');
    csv_table_text(table, item, ',');
    if (u < 0 || i < 0) {
        pairs->unknown++;
        fputc('\n', table->stream);
        return 0;
    }
    if (model_scores(&run->model, (int32_t)u, &one, 1, &score, error) != 0)
        return -1;
    pairs->cold += is_cold(run, u);
    fprintf(table->stream, "%s\n", text_from_real(clipped(dataset, score), number));
    return 0;
}

static int predict_chunk(struct saved_run *run, struct pairs *pairs, const struct chunk *chunk,
                         struct csv_table *table, struct dpf_error *error)
{
    int status = 0;
    for (int64_t r = 0; r < chunk->n && status == 0; r++)
        status = predict_pair(run, pairs, id_map_text(&pairs->users, chunk->user_map[chunk->users[r]]),
                              id_map_text(&pairs->items, chunk->item_map[chunk->items[r]]), table, error);
    return status;
}

static int write_predictions(struct saved_run *run, struct pairs *pairs, const char *path,
                             struct dpf_error *error)
{
    struct csv_table table;
    if (csv_table_open(&table, path, "user,item,prediction", error) != 0)
        return -1;
    int status = 0;
    for (size_t c = 0; c < pairs->table.n_chunks && status == 0; c++)
        status = predict_chunk(run, pairs, pairs->table.chunks[c], &table, error);
    if (status == 0 && pairs->unknown)
        log_message(LOG_LEVEL_WARNING,
                    "%lld pairs have a user or an item that the model does not know: no prediction",
                    (long long)pairs->unknown);
    if (status == 0 && pairs->cold)
        log_message(
            LOG_LEVEL_WARNING,
            "%lld pairs are of users without training records: the prediction is that of everybody without",
            (long long)pairs->cold);
    return csv_table_close(&table, status, error);
}

int predict_pairs(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run;
    struct pairs pairs = {0};
    log_set_level(LOG_LEVEL_WARNING);
    const char *directory = arguments->rest[0];
    /* Where the model scores by a user's records, the run's are read again. */
    int status = saved_run_has_rows(directory) ? saved_run_open_model(arguments, directory, 1, &run, error)
                                               : saved_run_open(arguments, directory, &run, error);
    if (status == 0)
        status = read_pairs(&run.session.plan, arguments->rest[1], &pairs, error);
    if (status == 0)
        status = write_predictions(&run, &pairs, arguments->output, error);
    pairs_free(&pairs);
    saved_run_close(&run);
    return status;
}
