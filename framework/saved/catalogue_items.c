/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/catalogue_items.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/recommender_fit.h"
#include "run/saved_run.h"
#include "saved/ranked_item.h"

/* The best first; of equal scores, in the order of the run's own list. Free it. */
static struct ranked_item *rank_items(const struct saved_run *run, struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n;
    float *scores = memory_new((size_t)n + 1, sizeof *scores);
    struct ranked_item *ranked = memory_new((size_t)n + 1, sizeof *ranked);
    int status = scores && ranked ? recommender_fit_nobody(&run->model, scores, error) : error_memory(error);
    for (int64_t i = 0; status == 0 && i < n; i++)
        ranked[i] = (struct ranked_item){scores[i], (int32_t)i};
    free(scores);
    if (status == 0) {
        qsort(ranked, (size_t)n, sizeof *ranked, ranked_item_order);
        return ranked;
    }
    free(ranked);
    return NULL;
}

static int write_items(const struct saved_run *run, const struct arguments *arguments,
                       struct dpf_error *error)
{
    const int64_t n = run->dataset.items.n, asked = arguments->count;
    struct files_write write = {.stream = stdout};
    struct ranked_item *ranked = rank_items(run, error);
    int status = ranked ? 0 : -1;
    if (status == 0 && arguments->output)
        status = files_open_write(&write, arguments->output, error);
    for (int64_t k = 0; status == 0 && k < n && (!asked || k < asked); k++)
        fprintf(write.stream, "%s\n", id_map_text(&run->dataset.items, ranked[k].item));
    if (status == 0 && arguments->output)
        status = files_commit_write(&write, error);
    free(ranked);
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
