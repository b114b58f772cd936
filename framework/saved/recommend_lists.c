/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/recommend_lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/ticker.h"
#include "engine/model_scorer.h"
#include "lines/pipes.h"
#include "lines/source.h"
#include "run/saved_run.h"
#include "saved/table_file.h"
#include "score/little_known.h"
#include "score/lists.h"

#define AUDIENCE "own user only" /* of every list */

#define WINDOW (256 * LIST_BATCH) /* users whose lists are made before they are written */

struct recommending {
    struct saved_run *run;
    struct table_output form;
    struct table_file table;
    struct scorer scorer;
    struct list_query query;
    uint8_t *barred;              /* items that are not to be recommended to anybody */
    struct text *batches;         /* lines of each batch of the window */
    int clips;                    /* scores are predictions of values */
    int64_t first;                /* user of the window */
    int64_t *no_items, *no_order; /* by worker: users without a list, by why */
};

/* ---- lists of items ---------------------------------------------------------------------------------- */

struct listed {
    const struct id_map *items;
    uint8_t *items_in; /* by item */
    int64_t known, unknown;
};

/* Of a line, without blanks around it. */
static void list_id(struct listed *listed, char *line)
{
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        line[--length] = '\0';
    if (length == 0)
        return;
    const int64_t item = id_map_find(listed->items, line);
    if (item >= 0)
        listed->items_in[item] = 1;
    listed->known += item >= 0;
    listed->unknown += item < 0;
}

/* Of a file, plain or gzipped. */
static int list_ids(struct listed *listed, const char *path, struct dpf_error *error)
{
    struct source source;
    struct block block = {0};
    int more;
    if (source_open(&source, path, 0, error) != 0)
        return -1;
    while ((more = source_next(&source, &block, error)) == 1) {
        char *line = block.data + (block.index == 0 ? source_mark(block.data, block.length) : 0);
        for (char *end; line < block.data + block.length; line = end + 1) {
            end = memchr(line, '\n', (size_t)(block.data + block.length - line));
            *end = '\0';
            list_id(listed, line);
        }
    }
    block_free(&block);
    source_close(&source);
    return more == 0 ? 0 : error_set(error, DPF_FAULT_DATA, "%s cannot be read as a list of ids", path);
}

/* Bars the items of a file, or all but those. */
static int bar_listed(struct recommending *r, const char *named, int others, struct dpf_error *error)
{
    const char *path = pipes_path(named, others ? "--candidates" : "--exclude", error);
    const struct id_map *items = &r->run->dataset.items;
    struct listed listed = {.items = items, .items_in = memory_need((size_t)items->n + 1, 1)};
    int status = path ? list_ids(&listed, path, error) : -1;
    for (int64_t i = 0; i < items->n && status == 0; i++)
        r->barred[i] |= others ? !listed.items_in[i] : listed.items_in[i];
    free(listed.items_in);
    if (status == 0 && listed.unknown)
        log_message(LOG_LEVEL_WARNING, "%s: the model does not know %lld of its %lld ids", path,
                    (long long)listed.unknown, (long long)(listed.known + listed.unknown));
    if (status == 0 && others && listed.known == 0)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: none of its %lld ids is an item of the model: write one a line", path,
                         (long long)listed.unknown);
    return status;
}

/* Without --candidates, items whose released count tells nothing are left out; where nothing is proved, items without a
   training record. */
static void bar_unknown(struct recommending *r, const struct arguments *arguments)
{
    const struct csr *by_item = &r->run->dataset.train.by_item;
    const int exact =
        !arguments->data && r->scorer.form.formula == SCORE_ROWS && !saved_run_is_proved(r->run);
    const int64_t n = r->run->dataset.items.n;
    uint8_t *unknown = memory_need((size_t)n + 1, 1);
    int64_t found = little_known_items(&r->scorer.form, unknown);
    for (int64_t i = 0; i < n && exact; i++)
        found += unknown[i] = by_item->ptr[i] == by_item->ptr[i + 1];
    for (int64_t i = 0; i < n && found < n; i++)
        r->barred[i] |= unknown[i];
    free(unknown);
}

/* ---- one user ----------------------------------------------------------------------------------------- */

/* As it is compared with ratings in evaluation. Lists are in the order of scores that are not clipped. */
static float shown_score(const struct recommending *r, double score)
{
    const struct dataset *dataset = &r->run->dataset;
    return (float)(r->clips ? fmax(fmin(score, dataset->value_hi), dataset->value_lo) : score);
}

/* user, item, its name if there are any, rank, score, audience */
static void write_item(struct recommending *r, struct text *to, const struct score_list *list, int64_t k)
{
    const struct dataset *dataset = &r->run->dataset;
    char number[32];
    int column = 0;
    table_file_cell(&r->table, to, column++, id_map_text(&dataset->users, list->user));
    table_file_cell(&r->table, to, column++, id_map_text(&dataset->items, list->items[k]));
    if (dataset->item_names.n)
        table_file_cell(&r->table, to, column++, dataset_item_name(dataset, list->items[k]));
    snprintf(number, sizeof number, "%lld", (long long)k + 1);
    table_file_cell(&r->table, to, column++, number);
    table_file_cell(&r->table, to, column++, text_from_float(shown_score(r, list->scores[k]), number));
    table_file_cell(&r->table, to, column, AUDIENCE);
}

/* Scores that are all the same are no order: the list would be that of ids. */
static int write_list(void *context, const struct score_list *list, int worker, struct dpf_error *error)
{
    struct recommending *r = context;
    struct text *to = &r->batches[(list->user - r->first) / LIST_BATCH];
    ticker_add(1);
    if (interrupt_check("lists were made", error) != 0)
        return -1;
    r->no_items[worker] += list->n_candidates == 0;
    r->no_order[worker] += list->same;
    for (int64_t k = 0; k < list->n && !list->same; k++)
        write_item(r, to, list, k);
    return 0;
}

/* Lists of the users first .. end-1, in their order. */
static int write_lists(struct recommending *r, int64_t first, int64_t end, struct dpf_error *error)
{
    int status = 0;
    for (int64_t from = first; from < end && status == 0; from += WINDOW) {
        const int64_t to = from + WINDOW < end ? from + WINDOW : end;
        r->first = from;
        status = scorer_lists(&r->scorer, r->run->pool, NULL, from, to, &r->query, write_list, r, error);
        for (int64_t b = 0; b <= (to - from - 1) / LIST_BATCH; b++) {
            if (status == 0)
                table_file_write(&r->table, &r->batches[b]);
            text_free(&r->batches[b]);
        }
    }
    return status;
}

static int64_t sum_of(const int64_t *counts, const struct recommending *r)
{
    int64_t sum = 0;
    for (int w = 0; w < pool_workers(r->run->pool); w++)
        sum += counts[w];
    return sum;
}

/* ---- one user ----------------------------------------------------------------------------------------- */

static int is_cold(const struct recommending *r, int64_t user)
{
    const struct csr *train = &r->run->dataset.train.by_user;
    return train->ptr[user] == train->ptr[user + 1];
}

static int refuse_user(const struct recommending *r, int64_t user, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    text_show(id_map_text(&r->run->dataset.users, user), shown);
    if (sum_of(r->no_items, r))
        return error_set(
            error, DPF_FAULT_DATA,
            "user \"%s\" has a record of every item that may be recommended: there is nothing left", shown);
    return error_set(error, DPF_FAULT_DATA,
                     is_cold(r, user)
                         ? "user \"%s\" has no training records, and without them the model scores all "
                           "items alike: recommend popular items until there are some (--data reads them)"
                         : "the model scores all items alike for user \"%s\": there is no order to recommend "
                           "in",
                     shown);
}

static int open_table(struct recommending *r, const char *path, struct dpf_error *error)
{
    table_file_column(&r->table, "user", 0);
    table_file_column(&r->table, "item", 0);
    if (r->run->dataset.item_names.n)
        table_file_column(&r->table, "name", 0);
    table_file_column(&r->table, "rank", 1);
    table_file_column(&r->table, "score", 1);
    table_file_column(&r->table, "audience", 0);
    return table_file_open(&r->table, &r->form, path, error);
}

static int recommend_one(struct recommending *r, const char *id, const char *data, const char *path,
                         struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    const int64_t user = id_map_find(&r->run->dataset.users, id);
    if (user < 0 && data)
        return error_set(error, DPF_FAULT_DATA,
                         "--user \"%s\": %s has no such user; --all makes lists for those it has",
                         text_show(id, shown), data);
    if (user < 0)
        return error_set(
            error, DPF_FAULT_DATA,
            "--user \"%s\": the data has no such user; the records of a new one come with --data FILE",
            text_show(id, shown));
    if (open_table(r, path, error) != 0)
        return -1;
    int status = write_lists(r, user, user + 1, error);
    if (status == 0 && (sum_of(r->no_items, r) || sum_of(r->no_order, r)))
        status = refuse_user(r, user, error);
    else if (status == 0 && is_cold(r, user))
        log_message(LOG_LEVEL_WARNING,
                    "user \"%s\" has no training records: the list is that of everybody without",
                    text_show(id, shown));
    return table_file_close(&r->table, status, error);
}

static int recommend_all(struct recommending *r, const char *path, struct dpf_error *error)
{
    if (open_table(r, path, error) != 0)
        return -1;
    ticker_begin("making lists", r->run->dataset.users.n);
    const int status = write_lists(r, 0, r->run->dataset.users.n, error);
    ticker_end();
    if (status == 0 && sum_of(r->no_items, r))
        log_message(LOG_LEVEL_WARNING,
                    "%lld user%s a record of every item that may be recommended: no list for %s",
                    (long long)sum_of(r->no_items, r), sum_of(r->no_items, r) == 1 ? " has" : "s have",
                    sum_of(r->no_items, r) == 1 ? "this one" : "them");
    if (status == 0 && sum_of(r->no_order, r))
        log_message(LOG_LEVEL_WARNING,
                    "the model scores all items alike for %lld user%s, such as those without training "
                    "records: no list for %s",
                    (long long)sum_of(r->no_order, r), sum_of(r->no_order, r) == 1 ? "" : "s",
                    sum_of(r->no_order, r) == 1 ? "this one" : "them");
    return table_file_close(&r->table, status, error);
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static int prepare(struct recommending *r, const struct arguments *arguments, struct dpf_error *error)
{
    const struct dataset *dataset = &r->run->dataset;
    const size_t workers = (size_t)pool_workers(r->run->pool);
    r->barred = memory_need((size_t)dataset->items.n + 1, 1);
    r->batches = memory_need(WINDOW / LIST_BATCH, sizeof *r->batches);
    r->no_items = memory_need(workers, sizeof *r->no_items);
    r->no_order = memory_need(workers, sizeof *r->no_order);
    if (r->run->left.unknown_items)
        log_message(LOG_LEVEL_WARNING, "%s: %lld record%s of items that the model does not know: left out",
                    arguments->data, (long long)r->run->left.unknown_items,
                    r->run->left.unknown_items == 1 ? " is" : "s are");
    if ((arguments->candidates && bar_listed(r, arguments->candidates, 1, error) != 0) ||
        (arguments->exclude && bar_listed(r, arguments->exclude, 0, error) != 0))
        return -1;
    r->query = (struct list_query){.k = arguments->count ? arguments->count : 10,
                                   .n_items = dataset->items.n,
                                   .without = {&dataset->train.by_user, &dataset->test.by_user},
                                   .barred = r->barred};
    r->clips = model_predicts_values(&r->run->model);
    if (model_scorer(&r->run->model, &r->scorer, error) != 0)
        return -1;
    if (!arguments->candidates)
        bar_unknown(r, arguments);
    return 0;
}

int recommend_lists(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run = {0};
    struct recommending r = {.run = &run, .first = 0};
    const char *directory = arguments->rest[0];
    log_set_level(LOG_LEVEL_WARNING);
    int status = table_output_read(arguments, &r.form, error);
    if (status == 0)
        status = arguments->data ? saved_run_open_for(arguments, directory, arguments->data, &run, error)
                                 : saved_run_open(arguments, directory,
                                                  arguments->all ? NULL : arguments->user, &run, error);
    if (status == 0)
        status = prepare(&r, arguments, error);
    if (status == 0)
        status = arguments->all
                     ? recommend_all(&r, arguments->output, error)
                     : recommend_one(&r, arguments->user, arguments->data, arguments->output, error);
    if (status == 0)
        log_message(
            LOG_LEVEL_WARNING,
            arguments->all
                ? "these lists are private: each is for its own user alone. Joint differential privacy "
                  "does not cover lists that others see, or that are published"
                : "the list is private: it is for its own user alone. Joint differential privacy does "
                  "not cover a list that others see");
    scorer_close(&r.scorer);
    free(r.barred);
    free(r.batches);
    free(r.no_items);
    free(r.no_order);
    saved_run_close(&run);
    return status;
}
