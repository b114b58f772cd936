/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/predict_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "base/ticker.h"
#include "engine/model_scorer.h"
#include "lines/pipes.h"
#include "reading/data_options.h"
#include "reading/layout.h"
#include "reading/table.h"
#include "run/saved_run.h"
#include "saved/table_file.h"

struct pairs {
    struct table table;
    struct id_map users, items; /* of the file */
    int64_t unknown, cold;
    /* By their order in the file: */
    int64_t n;
    int32_t *user, *item; /* of the file's ids */
    float *score;         /* NaN: the model does not know the user or the item */
};

static void pairs_free(struct pairs *pairs)
{
    table_free(&pairs->table);
    id_map_free(&pairs->users);
    id_map_free(&pairs->items);
    free(pairs->user);
    free(pairs->item);
    free(pairs->score);
}

/* As the run's own file is read, but for columns that pairs do not have. */
static int read_options(const struct plan *plan, struct file_options *out, struct dpf_error *error)
{
    struct data_options options;
    if (data_options_read(&plan->data, &plan->split, &options, error) != 0)
        return -1;
    *out = options.file;
    out->columns[COLUMN_RATING] = out->columns[COLUMN_TIME] = out->columns[COLUMN_WEIGHT] = "none";
    out->rating_needed = out->time_needed = 0;
    out->n_fields = 0; /* as many as the file has */
    return 0;
}

static int take_pairs(struct pairs *pairs, struct dpf_error *error)
{
    for (size_t c = 0; c < pairs->table.n_chunks; c++)
        pairs->n += pairs->table.chunks[c]->n;
    pairs->user = memory_raw((size_t)pairs->n + 1, sizeof *pairs->user);
    pairs->item = memory_raw((size_t)pairs->n + 1, sizeof *pairs->item);
    pairs->score = memory_raw((size_t)pairs->n + 1, sizeof *pairs->score);
    if (!pairs->user || !pairs->item || !pairs->score)
        return error_memory(error);
    int64_t at = 0;
    for (size_t c = 0; c < pairs->table.n_chunks; c++) {
        const struct chunk *chunk = pairs->table.chunks[c];
        for (int64_t r = 0; r < chunk->n; r++, at++) {
            pairs->user[at] = chunk->user_map[chunk->users[r]];
            pairs->item[at] = chunk->item_map[chunk->items[r]];
        }
    }
    return 0;
}

static int read_pairs(const struct saved_run *run, const char *named, struct pairs *out,
                      struct dpf_error *error)
{
    const char *path = pipes_path(named, "PAIRS", error);
    struct file_options options;
    struct ids users = {0}, items = {0};
    if (!path || read_options(&run->session.plan, &options, error) != 0 ||
        data_check_first_line(path, &options, &run->dataset.items, error) != 0)
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
    return status == 0 ? take_pairs(out, error) : -1;
}

/* What is compared with ratings is, in evaluation, too. */
static double clipped(const struct saved_run *run, double score)
{
    const struct dataset *dataset = &run->dataset;
    return model_predicts_values(&run->model) ? fmax(fmin(score, dataset->value_hi), dataset->value_lo)
                                              : score;
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

/* ---- scores: the pairs of a user one after the other ---------------------------------------------------- */

struct predicting {
    const struct saved_run *run;
    struct pairs *pairs;
    struct scorer scorer;
    int64_t *users, *items; /* of the model, by the file's numbers; -1: unknown */
    int64_t *ptr, *order;   /* pairs by user */
    struct desk {
        struct score_desk desk;
        int32_t *items;
        double *scores;
        size_t room[2];
        int64_t unknown, cold;
        struct dpf_error error;
    } * desks;
};

static int64_t *find_ids(const struct id_map *file, const struct id_map *model)
{
    int64_t *found = memory_raw((size_t)file->n + 1, sizeof *found);
    for (int64_t i = 0; found && i < file->n; i++)
        found[i] = id_map_find(model, id_map_text(file, i));
    return found;
}

static int sort_by_user(struct predicting *p)
{
    const struct pairs *pairs = p->pairs;
    p->ptr = memory_new((size_t)pairs->users.n + 2, sizeof *p->ptr);
    p->order = memory_raw((size_t)pairs->n + 1, sizeof *p->order);
    if (!p->ptr || !p->order)
        return -1;
    for (int64_t i = 0; i < pairs->n; i++)
        p->ptr[pairs->user[i] + 2]++;
    for (int64_t u = 0; u < pairs->users.n; u++)
        p->ptr[u + 2] += p->ptr[u + 1];
    for (int64_t i = 0; i < pairs->n; i++)
        p->order[p->ptr[pairs->user[i] + 1]++] = i;
    return 0;
}

static int predict_user(void *context, int64_t user, int worker)
{
    const struct predicting *p = context;
    const struct pairs *pairs = p->pairs;
    struct desk *desk = &p->desks[worker];
    const int64_t first = p->ptr[user], n = p->ptr[user + 1] - first, u = p->users[user];
    int32_t *items = desk->items =
        memory_need_grow(desk->items, &desk->room[0], (size_t)n + 1, sizeof *items);
    double *scores = desk->scores =
        memory_need_grow(desk->scores, &desk->room[1], (size_t)n + 1, sizeof *scores);
    int64_t known = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t item = p->items[pairs->item[p->order[first + k]]];
        pairs->score[p->order[first + k]] = NAN;
        if (u >= 0 && item >= 0)
            items[known++] = (int32_t)item;
    }
    ticker_add(n);
    if (interrupt_check("pairs were predicted", &desk->error) != 0)
        return -1;
    desk->unknown += n - known;
    if (known == 0)
        return 0;
    desk->cold += is_cold(p->run, u) ? known : 0;
    if (scorer_scores(&p->scorer, &desk->desk, u, items, known, scores, &desk->error) != 0)
        return -1;
    known = 0;
    for (int64_t k = 0; k < n; k++)
        if (p->items[pairs->item[p->order[first + k]]] >= 0)
            pairs->score[p->order[first + k]] = (float)clipped(p->run, scores[known++]);
    return 0;
}

static void close_predicting(struct predicting *p)
{
    for (int w = 0; p->desks && w < pool_workers(p->run->pool); w++) {
        score_desk_free(&p->desks[w].desk);
        free(p->desks[w].items);
        free(p->desks[w].scores);
    }
    free(p->desks);
    free(p->users);
    free(p->items);
    free(p->ptr);
    free(p->order);
    scorer_close(&p->scorer);
}

static int score_pairs(struct saved_run *run, struct pairs *pairs, struct dpf_error *error)
{
    struct predicting p = {.run = run, .pairs = pairs};
    const int workers = pool_workers(run->pool);
    int status = model_scorer(&run->model, &p.scorer, error);
    p.users = find_ids(&pairs->users, &run->dataset.users);
    p.items = find_ids(&pairs->items, &run->dataset.items);
    p.desks = memory_new((size_t)workers, sizeof *p.desks);
    if (status == 0 && (!p.users || !p.items || !p.desks || sort_by_user(&p) != 0))
        status = error_memory(error);
    if (status == 0) {
        ticker_begin("predicting", pairs->n);
        status = pool_run(run->pool, pairs->users.n, predict_user, &p);
        ticker_end();
        for (int w = 0; w < workers; w++) {
            if (p.desks[w].error.fault && !error->fault)
                *error = p.desks[w].error;
            pairs->unknown += p.desks[w].unknown;
            pairs->cold += p.desks[w].cold;
        }
    }
    close_predicting(&p);
    return status;
}

/* ---- lines, in the order of the file ------------------------------------------------------------------------ */

#define BATCH 8192 /* lines that one worker writes */
#define WINDOW 64  /* batches that are written together */

struct lines {
    const struct pairs *pairs;
    const struct dataset *dataset;
    const int64_t *items; /* of the model, by the file's numbers; NULL: no item has a name */
    struct table_file table;
    int64_t first; /* of the window */
    struct text texts[WINDOW];
};

static int write_batch(void *context, int64_t task, int worker)
{
    struct lines *lines = context;
    const struct pairs *pairs = lines->pairs;
    struct text *to = &lines->texts[task];
    const int64_t first = lines->first + task * BATCH,
                  end = first + BATCH < pairs->n ? first + BATCH : pairs->n;
    char number[32];
    (void)worker;
    for (int64_t i = first; i < end; i++) {
        const int64_t item = lines->items ? lines->items[pairs->item[i]] : -1;
        int column = 0;
        table_file_cell(&lines->table, to, column++, id_map_text(&pairs->users, pairs->user[i]));
        table_file_cell(&lines->table, to, column++, id_map_text(&pairs->items, pairs->item[i]));
        if (lines->items)
            table_file_cell(&lines->table, to, column++,
                            item < 0 ? "" : dataset_item_name(lines->dataset, item));
        table_file_cell(&lines->table, to, column,
                        isnan(pairs->score[i]) ? "" : text_from_float(pairs->score[i], number));
    }
    return 0;
}

static int write_windows(struct lines *lines, struct pool *pool, struct dpf_error *error)
{
    const struct pairs *pairs = lines->pairs;
    int status = 0;
    ticker_begin("writing predictions", pairs->n);
    for (; lines->first < pairs->n && status == 0; lines->first += (int64_t)BATCH * WINDOW) {
        const int64_t left = (pairs->n - lines->first + BATCH - 1) / BATCH, n = left < WINDOW ? left : WINDOW;
        ticker_add(n * BATCH);
        status = interrupt_check("predictions were written", error);
        if (status == 0 && pool_run(pool, n, write_batch, lines) != 0)
            status = error_memory(error);
        for (int64_t b = 0; b < n; b++) {
            if (status == 0)
                table_file_write(&lines->table, &lines->texts[b]);
            text_free(&lines->texts[b]);
        }
    }
    ticker_end();
    return status;
}

/* A run whose files have no header reads that of a file of pairs as a pair. */
static int begins_with_header(const struct pairs *pairs)
{
    if (pairs->n == 0 || !isnan(pairs->score[0]))
        return 0;
    const char *user = id_map_text(&pairs->users, pairs->user[0]),
               *item = id_map_text(&pairs->items, pairs->item[0]);
    return layout_is_usual(COLUMN_USER, &(struct field){user, strlen(user)}) &&
           layout_is_usual(COLUMN_ITEM, &(struct field){item, strlen(item)});
}

static void warn_of(const struct pairs *pairs)
{
    if (pairs->unknown)
        log_message(LOG_LEVEL_WARNING,
                    "%lld pair%s a user or an item that the model does not know: no prediction%s",
                    (long long)pairs->unknown, pairs->unknown == 1 ? " has" : "s have",
                    begins_with_header(pairs) ? ". The first line looks like a header, which the run's own "
                                                "file has not: it was read as a pair"
                                              : "");
    if (pairs->cold)
        log_message(
            LOG_LEVEL_WARNING,
            "%lld pair%s of users without training records: the prediction is that of everybody without",
            (long long)pairs->cold, pairs->cold == 1 ? " is" : "s are");
}

static int write_predictions(const struct saved_run *run, const struct pairs *pairs,
                             const struct table_output *form, const char *path, struct dpf_error *error)
{
    const int named = run->dataset.item_names.n > 0;
    int64_t *items = named ? find_ids(&pairs->items, &run->dataset.items) : NULL;
    struct lines *lines = memory_need(1, sizeof *lines);
    int status = items || !named ? 0 : error_memory(error);
    if (status == 0) {
        lines->pairs = pairs;
        lines->dataset = &run->dataset;
        lines->items = items;
        table_file_column(&lines->table, "user", 0);
        table_file_column(&lines->table, "item", 0);
        if (named)
            table_file_column(&lines->table, "name", 0);
        table_file_column(&lines->table, "prediction", 1);
        status = table_file_open(&lines->table, form, path, error);
        if (status == 0)
            status = table_file_close(&lines->table, write_windows(lines, run->pool, error), error);
    }
    if (status == 0)
        warn_of(pairs);
    free(items);
    free(lines);
    return status;
}

/* Somebody who wrote a file of pairs alone does not know that. */
static void say_form(struct dpf_error *error)
{
    const size_t length = strlen(error->text);
    if (error->line > 0)
        snprintf(error->text + length, sizeof error->text - length,
                 "; pairs have the form of the run's own file: its delimiter, its columns of user and item");
}

int predict_pairs(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run = {0};
    struct pairs pairs = {0};
    struct table_output form;
    log_set_level(LOG_LEVEL_WARNING);
    const char *directory = arguments->rest[0];
    if (table_output_read(arguments, &form, error) != 0)
        return -1;
    /* Where the model scores by a user's records, the run's are read again. */
    int status = saved_run_has_rows(directory) ? saved_run_open_model(arguments, directory, 1, &run, error)
                                               : saved_run_open(arguments, directory, NULL, &run, error);
    if (status == 0) {
        status = read_pairs(&run, arguments->rest[1], &pairs, error);
        if (status != 0)
            say_form(error);
    }
    if (status == 0)
        status = score_pairs(&run, &pairs, error);
    if (status == 0)
        status = write_predictions(&run, &pairs, &form, arguments->output, error);
    pairs_free(&pairs);
    saved_run_close(&run);
    return status;
}
