/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/ranked_item.h"
#include "engine/recommender_fit.h"
#include "run/saved_run.h"

static const char usage[] =
    "usage: dpframe items RUN [-n N] [--scores] [--output FILE]\n"
    "\n"
    "The N items (all without it) that a released recommender ranks first for somebody of whom\n"
    "nothing is known, an id on each line: a catalogue for [data] items-file. RUN is usually one of\n"
    "private-popularity, whose noisy counts then choose the items of a factorization. It reads\n"
    "release/ alone, so the list is as public as that release and costs nothing more; a run on the\n"
    "same records that uses it is a second release. Name one [privacy] ledger in both: it adds them up.\n"
    "--scores writes a table with columns item and score instead, for [data] item-features: sampler\n"
    "count-weights reads it.\n";

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
    if (status == 0 && arguments->scores)
        fputs("item\tscore\n", write.stream);
    for (int64_t k = 0; status == 0 && k < n && (!asked || k < asked); k++) {
        fputs(id_map_text(&run->dataset.items, ranked[k].item), write.stream);
        if (arguments->scores)
            fprintf(write.stream, "\t%.9g", (double)ranked[k].score);
        fputc('\n', write.stream);
    }
    if (status == 0 && arguments->output)
        status = files_commit_write(&write, error);
    free(ranked);
    return status;
}

int command_items(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    struct saved_run run = {0};
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && arguments.n_rest != 1)
        status = error_set(&error, DPF_FAULT_CONFIG, "name the directory of one run (see --help)");
    if (status == 0) {
        log_set_level(LOG_LEVEL_WARNING);
        status = saved_run_open_released(&arguments, arguments.rest[0], &run, &error);
        if (status == 0)
            status = write_items(&run, &arguments, &error);
        saved_run_close(&run);
    }
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}
