/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/recommend_lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/csv_table.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/model_scores.h"
#include "run/saved_run.h"
#include "saved/ranked_item.h"

#define COLUMNS "user,item,rank,score,audience"
#define AUDIENCE "own user only" /* of every list */

struct recommending {
    struct saved_run *run;
    int64_t count;
    double *scores; /* of all items */
    struct ranked_item *unseen;
    uint8_t *barred; /* items that are not to be recommended to anybody */
    struct csv_table table;
    int64_t no_items, no_order; /* users without a list, by why */
};

static void mask(const struct csr *records, int32_t user, double *scores)
{
    if (!records->ptr)
        return;
    for (int64_t i = records->ptr[user]; i < records->ptr[user + 1]; i++)
        scores[records->others[i]] = (double)NAN;
}

/* ---- lists of items ---------------------------------------------------------------------------------- */

/* Bars the items of a file, or all but those. */
static int bar_listed(struct recommending *r, const char *path, int others, struct dpf_error *error)
{
    const struct id_map *items = &r->run->dataset.items;
    struct files_lines lines = {0};
    uint8_t *listed = memory_new((size_t)items->n + 1, 1);
    char *line;
    int64_t known = 0, unknown = 0;
    int status = listed ? files_open_lines(&lines, path, error) : error_memory(error);
    while (status == 0 && (line = files_next_line(&lines))) {
        const int64_t item = *line ? id_map_find(items, line) : -1;
        known += item >= 0;
        unknown += *line && item < 0;
        if (item >= 0)
            listed[item] = 1;
    }
    files_close_lines(&lines);
    for (int64_t i = 0; i < items->n && status == 0; i++)
        r->barred[i] |= others ? !listed[i] : listed[i];
    free(listed);
    if (status == 0 && unknown)
        log_message(LOG_LEVEL_WARNING, "%s: the model does not know %lld of its %lld ids", path,
                    (long long)unknown, (long long)(known + unknown));
    if (status == 0 && others && known == 0)
        return error_set(error, DPF_FAULT_DATA,
                         "%s: none of its %lld ids is an item of the model: write one a line", path,
                         (long long)unknown);
    return status;
}

/* ---- one user ----------------------------------------------------------------------------------------- */

enum outcome { LIST_MADE, LIST_NO_ITEMS, LIST_NO_ORDER };

static int is_cold(const struct recommending *r, int32_t user)
{
    const struct csr *train = &r->run->dataset.train.by_user;
    return train->ptr[user] == train->ptr[user + 1];
}

/* -1 on error, else an outcome. Scores that are all the same are no order: the list would be that of ids. */
static int recommend_to(struct recommending *r, int32_t user, struct dpf_error *error)
{
    const struct dataset *dataset = &r->run->dataset;
    int64_t n = 0;
    char score[32];
    if (model_scores(&r->run->model, user, NULL, dataset->items.n, r->scores, error) != 0)
        return -1;
    mask(&dataset->train.by_user, user, r->scores);
    mask(&dataset->test.by_user, user, r->scores);
    for (int64_t i = 0; i < dataset->items.n; i++)
        if (!isnan(r->scores[i]) && !r->barred[i])
            r->unseen[n++] = (struct ranked_item){r->scores[i], (int32_t)i};
    if (n == 0)
        return LIST_NO_ITEMS;
    qsort(r->unseen, (size_t)n, sizeof *r->unseen, ranked_item_order);
    if (n > 1 && r->unseen[0].score == r->unseen[n - 1].score)
        return LIST_NO_ORDER;
    for (int64_t k = 0; k < n && k < r->count; k++) {
        csv_table_text(&r->table, id_map_text(&dataset->users, user), ',');
        csv_table_text(&r->table, id_map_text(&dataset->items, r->unseen[k].item), ',');
        fprintf(r->table.stream, "%lld,%s,%s\n", (long long)k + 1, text_from_real(r->unseen[k].score, score),
                AUDIENCE);
    }
    return LIST_MADE;
}

static int refuse_user(const struct recommending *r, int32_t user, int outcome, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    text_show(id_map_text(&r->run->dataset.users, user), shown);
    if (outcome == LIST_NO_ITEMS)
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

static int recommend_one(struct recommending *r, const char *id, const char *path, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    int64_t user = id_map_find(&r->run->dataset.users, id);
    if (user < 0)
        return error_set(error, DPF_FAULT_DATA, "--user \"%s\": the data has no such user",
                         text_show(id, shown));
    if (csv_table_open(&r->table, path, COLUMNS, error) != 0)
        return -1;
    int outcome = recommend_to(r, (int32_t)user, error);
    if (outcome > LIST_MADE)
        outcome = refuse_user(r, (int32_t)user, outcome, error);
    else if (outcome == LIST_MADE && is_cold(r, (int32_t)user))
        log_message(LOG_LEVEL_WARNING,
                    "user \"%s\" has no training records: the list is that of everybody without",
                    text_show(id, shown));
    return csv_table_close(&r->table, outcome, error);
}

static int recommend_all(struct recommending *r, const char *path, struct dpf_error *error)
{
    int outcome = LIST_MADE;
    if (csv_table_open(&r->table, path, COLUMNS, error) != 0)
        return -1;
    for (int64_t user = 0; user < r->run->dataset.users.n && outcome >= 0; user++) {
        outcome = recommend_to(r, (int32_t)user, error);
        r->no_items += outcome == LIST_NO_ITEMS;
        r->no_order += outcome == LIST_NO_ORDER;
    }
    if (outcome >= 0 && r->no_items)
        log_message(LOG_LEVEL_WARNING,
                    "%lld users have a record of every item that may be recommended: no list for them",
                    (long long)r->no_items);
    if (outcome >= 0 && r->no_order)
        log_message(LOG_LEVEL_WARNING,
                    "the model scores all items alike for %lld users, such as those without training "
                    "records: no list "
                    "for them",
                    (long long)r->no_order);
    return csv_table_close(&r->table, outcome < 0 ? -1 : 0, error);
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static int prepare(struct recommending *r, const struct arguments *arguments, struct dpf_error *error)
{
    const size_t n = (size_t)r->run->dataset.items.n + 1;
    r->scores = memory_new(n, sizeof *r->scores);
    r->unseen = memory_new(n, sizeof *r->unseen);
    r->barred = memory_new(n, 1);
    if (!r->scores || !r->unseen || !r->barred)
        return error_memory(error);
    if (r->run->left.unknown_items)
        log_message(LOG_LEVEL_WARNING, "%s: %lld records are of items that the model does not know: left out",
                    arguments->data, (long long)r->run->left.unknown_items);
    if (arguments->candidates && bar_listed(r, arguments->candidates, 1, error) != 0)
        return -1;
    return arguments->exclude ? bar_listed(r, arguments->exclude, 0, error) : 0;
}

int recommend_lists(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run;
    struct recommending r = {.run = &run, .count = arguments->count ? arguments->count : 10};
    const char *directory = arguments->rest[0];
    log_set_level(LOG_LEVEL_WARNING);
    int status = arguments->data ? saved_run_open_for(arguments, directory, arguments->data, &run, error)
                                 : saved_run_open(arguments, directory, &run, error);
    if (status == 0)
        status = prepare(&r, arguments, error);
    if (status == 0)
        status = arguments->all ? recommend_all(&r, arguments->output, error)
                                : recommend_one(&r, arguments->user, arguments->output, error);
    if (status == 0)
        log_message(
            LOG_LEVEL_WARNING,
            arguments->all
                ? "these lists are private: each is for its own user alone. Joint differential privacy "
                  "does not cover lists that others see, or that are published"
                : "the list is private: it is for its own user alone. Joint differential privacy does "
                  "not cover a list that others see");
    free(r.scores);
    free(r.unseen);
    free(r.barred);
    saved_run_close(&run);
    return status;
}
