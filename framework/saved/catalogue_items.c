/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/catalogue_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/model_scorer.h"
#include "run/saved_run.h"
#include "saved/table_file.h"
#include "score/lists.h"

/* All items, the best first for somebody without records; of equal scores, in the order of the run's own list. */
static int rank_items(struct saved_run *run, int32_t *items, double *best, struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n;
    const struct score_records none = {0};
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    double *scores = memory_need((size_t)n + 1, sizeof *scores);
    int status = model_scorer_of_state(&run->model, &scorer, error);
    if (status == 0)
        status = scorer_scores_of(&scorer, &desk, &none, n, scores, error);
    if (status == 0 && list_choose(scores, n, n, items, best) != n)
        status = error_memory(error);
    free(scores);
    score_desk_free(&desk);
    scorer_close(&scorer);
    return status;
}

/* An id a line, with --scores a table of two columns: what [data] items-file and item-features read. */
static void write_list(const struct saved_run *run, const int32_t *items, const double *scores, int64_t n,
                       int with_scores, FILE *to)
{
    if (with_scores)
        fputs("item\tscore\n", to);
    for (int64_t k = 0; k < n; k++) {
        fputs(id_map_text(&run->dataset.items, items[k]), to);
        if (with_scores)
            fprintf(to, "\t%.9g", scores[k]);
        fputc('\n', to);
    }
}

static int write_plain(const struct saved_run *run, const struct arguments *arguments,
                       const struct table_output *form, const int32_t *items, const double *scores, int64_t n,
                       struct dpf_error *error)
{
    struct files_write write = {.stream = stdout};
    const int is_file = arguments->output && strcmp(arguments->output, "-") != 0;
    if (form->gzipped)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "--output %s: a plain list of ids is not packed; end the name with .csv.gz or .tsv.gz",
            arguments->output);
    if (is_file && files_open_write(&write, arguments->output, error) != 0)
        return -1;
    write_list(run, items, scores, n, arguments->scores, write.stream);
    return is_file ? files_commit_write(&write, error) : 0;
}

static int write_table(const struct saved_run *run, const struct arguments *arguments,
                       const struct table_output *form, const int32_t *items, const double *scores, int64_t n,
                       struct dpf_error *error)
{
    const struct dataset *dataset = &run->dataset;
    struct table_file table = {.n_columns = 0};
    struct text rows = {0};
    char number[32];
    table_file_column(&table, "item", 0);
    if (dataset->item_names.n)
        table_file_column(&table, "name", 0);
    if (arguments->scores)
        table_file_column(&table, "score", 1);
    if (table_file_open(&table, form, arguments->output, error) != 0)
        return -1;
    for (int64_t k = 0; k < n; k++) {
        int column = 0;
        snprintf(number, sizeof number, "%.9g", scores[k]);
        table_file_cell(&table, &rows, column++, id_map_text(&dataset->items, items[k]));
        if (dataset->item_names.n)
            table_file_cell(&table, &rows, column++, dataset_item_name(dataset, items[k]));
        if (arguments->scores)
            table_file_cell(&table, &rows, column, number);
    }
    table_file_write(&table, &rows);
    text_free(&rows);
    return table_file_close(&table, 0, error);
}

static int write_items(struct saved_run *run, const struct arguments *arguments,
                       const struct table_output *form, struct dpf_error *error)
{
    const int64_t all = run->dataset.items.n, asked = arguments->count,
                  n = asked && asked < all ? asked : all;
    int32_t *items = memory_need((size_t)all + 1, sizeof *items);
    double *scores = memory_need((size_t)all + 1, sizeof *scores);
    int status = rank_items(run, items, scores, error);
    if (status == 0)
        status = form->is_asked && form->kind != TABLE_TEXT
                     ? write_table(run, arguments, form, items, scores, n, error)
                     : write_plain(run, arguments, form, items, scores, n, error);
    free(items);
    free(scores);
    return status;
}

int catalogue_items(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run = {0};
    struct table_output form;
    if (table_output_read(arguments, &form, error) != 0)
        return -1;
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open_released(arguments, arguments->rest[0], &run, error);
    if (status == 0)
        status = write_items(&run, arguments, &form, error);
    if (status == 0 && !saved_run_is_proved(&run))
        log_message(LOG_LEVEL_WARNING,
                    "%s: nothing is proved of what this run released, so the list may tell who is in its "
                    "records: do not use it where a guarantee is needed (\"dpframe check\" says which "
                    "conditions fail)",
                    arguments->rest[0]);
    saved_run_close(&run);
    return status;
}
