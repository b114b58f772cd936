/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/catalogue_items.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/model_scorer.h"
#include "run/saved_run.h"
#include "score/lists.h"

/* All items, the best first for somebody without records; of equal scores, in the order of the run's own list. */
static int rank_items(struct saved_run *run, int32_t *items, double *best, struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n;
    const struct score_records none = {0};
    struct scorer scorer;
    struct score_desk desk = {.user = 0};
    double *scores = memory_new((size_t)n + 1, sizeof *scores);
    int status = model_scorer_of_state(&run->model, &scorer, error);
    if (status == 0)
        status = scores ? scorer_scores_of(&scorer, &desk, &none, n, scores, error) : error_memory(error);
    if (status == 0 && list_choose(scores, n, n, items, best) != n)
        status = error_memory(error);
    free(scores);
    score_desk_free(&desk);
    scorer_close(&scorer);
    return status;
}

static int write_items(struct saved_run *run, const struct arguments *arguments, struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n, asked = arguments->count;
    struct files_write write = {.stream = stdout};
    int32_t *items = memory_new((size_t)n + 1, sizeof *items);
    double *scores = memory_new((size_t)n + 1, sizeof *scores);
    int status = items && scores ? rank_items(run, items, scores, error) : error_memory(error);
    if (status == 0 && arguments->output)
        status = files_open_write(&write, arguments->output, error);
    if (status == 0 && arguments->scores)
        fputs("item\tscore\n", write.stream);
    for (int64_t k = 0; status == 0 && k < n && (!asked || k < asked); k++) {
        fputs(id_map_text(&run->dataset.items, items[k]), write.stream);
        if (arguments->scores)
            fprintf(write.stream, "\t%.9g", scores[k]);
        fputc('\n', write.stream);
    }
    if (status == 0 && arguments->output)
        status = files_commit_write(&write, error);
    free(items);
    free(scores);
    return status;
}

/* Whether a bound holds for what the run released itself, and not for its plan alone. */
static int is_proved(const json_t *run)
{
    const json_t *account;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(run, "guarantee"), "proved"), i, account)
    {
        if (!json_is_true(json_object_get(account, "plan")))
            return 1;
    }
    return 0;
}

int catalogue_items(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run = {0};
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open_released(arguments, arguments->rest[0], &run, error);
    if (status == 0)
        status = write_items(&run, arguments, error);
    if (status == 0 && !is_proved(run.json))
        log_message(LOG_LEVEL_WARNING,
                    "%s: nothing is proved of what this run released, so the list may tell who is in its "
                    "records: do not use it where a guarantee is needed (\"dpframe check\" says which "
                    "conditions fail)",
                    arguments->rest[0]);
    saved_run_close(&run);
    return status;
}
