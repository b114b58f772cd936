/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweep_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/memory.h"
#include "base/sheet.h"
#include "base/text.h"
#include "config/config.h"
#include "sweep/outcomes.h"
#include "sweep/point_claim.h"
#include "plan/schema.h"

/* In the order in which a list of what is missing has them. */
enum progress_of_point {
    POINT_WAITING,
    POINT_RUNNING,
    POINT_ABANDONED,
    POINT_FAILED,
    POINT_DONE,
    N_PROGRESS
};
static const char *const progress_names[N_PROGRESS] = {"waiting", "running", "abandoned", "failed", "done"};

/* A claim that is open comes before a state: it is of a later attempt. */
static enum progress_of_point progress_of(const struct outcomes *outcomes, const struct outcome *outcome,
                                          struct claim_holder *holder)
{
    const enum claim_state claim = claim_look(outcomes->directory, outcome->name, holder);
    if (outcome->run)
        return POINT_DONE;
    if (claim == CLAIM_HELD || claim == CLAIM_ELSEWHERE)
        return POINT_RUNNING;
    if (claim == CLAIM_DEAD)
        return POINT_ABANDONED;
    return strcmp(json_text_in(outcome->state, "status"), "failed") == 0 ? POINT_FAILED : POINT_WAITING;
}

/* ---- the list ----------------------------------------------------------------------------------------- */

static json_t *point_json(size_t index, const struct outcome *outcome, enum progress_of_point progress,
                          const struct claim_holder *holder)
{
    json_t *json = json_pack("{s:I, s:s, s:s}", "index", (json_int_t)index + 1, "name", outcome->name,
                             "state", progress_names[progress]);
    if (progress == POINT_RUNNING || progress == POINT_ABANDONED)
        json_object_set_new(json, "holder",
                            json_pack("{s:s, s:I, s:s, s:s}", "host", holder->host, "process",
                                      (json_int_t)holder->process, "job", holder->job, "since",
                                      holder->since));
    if (progress == POINT_FAILED)
        json_object_set(json, "error", json_object_get(outcome->state, "error"));
    if (progress == POINT_DONE)
        json_object_set(json, "seconds", json_object_get(outcome->state, "seconds"));
    return json;
}

static void print_point(size_t index, const struct outcome *outcome, enum progress_of_point progress,
                        const struct claim_holder *holder)
{
    char who[2 * CLAIM_TEXT + 96];
    printf("%zu  %-9s  %s", index + 1, progress_names[progress], outcome->name);
    claim_describe(holder, who, sizeof who);
    if (progress == POINT_RUNNING || progress == POINT_ABANDONED)
        printf("  %s", who);
    if (progress == POINT_FAILED)
        printf("  %s", json_text_in(outcome->state, "error"));
    putchar('\n');
}

static void print_list(const struct outcomes *outcomes, int as_json)
{
    json_t *list = json_array();
    for (size_t i = 0; i < outcomes->n; i++) {
        struct claim_holder holder;
        const struct outcome *outcome = &outcomes->items[i];
        const enum progress_of_point progress = progress_of(outcomes, outcome, &holder);
        if (as_json)
            json_array_append_new(list, point_json(i, outcome, progress, &holder));
        else
            print_point(i, outcome, progress, &holder);
    }
    if (as_json) {
        json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    json_decref(list);
}

/* [run] output of the configuration, where -O does not say it. Free it. */
static char *output_directory(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments->output)
        return memory_text(arguments->output);
    int64_t n;
    char *output = NULL;
    struct config_values run;
    const dpf_param *table = schema_run(&n);
    struct config *config =
        config_load(arguments->config, arguments->overrides, arguments->n_overrides, error);
    if (config && config_bind(config, "run", table, n, sizeof *table, NULL, 0, &run, error) == 0) {
        output = memory_text(run.params.values[RUN_OUTPUT].text);
        config_values_free(&run);
    }
    config_free(config);
    return output;
}

int sweep_list(const struct arguments *arguments, struct dpf_error *error)
{
    struct outcomes outcomes;
    char *directory = output_directory(arguments, error);
    if (!directory)
        return -1;
    const int status = outcomes_read(directory, &outcomes, error);
    free(directory);
    if (status != 0)
        return status;
    print_list(&outcomes, arguments->json);
    outcomes_free(&outcomes);
    return 0;
}

/* ---- what is missing ---------------------------------------------------------------------------------- */

#define NAMES_SHOWN 5

static void print_missing(const struct outcomes *outcomes, const enum progress_of_point *progress,
                          enum progress_of_point which)
{
    size_t n = 0;
    for (size_t i = 0; i < outcomes->n; i++)
        n += progress[i] == which;
    if (n == 0)
        return;
    printf("%s: %zu:", progress_names[which], n);
    size_t shown = 0;
    for (size_t i = 0; i < outcomes->n && shown < NAMES_SHOWN; i++)
        if (progress[i] == which)
            printf("%s %s", shown++ ? "," : "", outcomes->items[i].name);
    puts(shown < n ? ", ..." : "");
}

int sweep_list_missing(const char *directory, struct dpf_error *error)
{
    struct outcomes outcomes;
    if (outcomes_read(directory, &outcomes, error) != 0)
        return -1;
    enum progress_of_point *progress = memory_need(outcomes.n, sizeof *progress);
    for (size_t i = 0; i < outcomes.n; i++) {
        struct claim_holder ignored;
        progress[i] = progress_of(&outcomes, &outcomes.items[i], &ignored);
    }
    if (outcomes.n_done < outcomes.n)
        printf("%zu of %zu points are done\n", outcomes.n_done, outcomes.n);
    for (int which = POINT_WAITING; which < POINT_DONE; which++)
        print_missing(&outcomes, progress, (enum progress_of_point)which);
    free(progress);
    outcomes_free(&outcomes);
    return 0;
}
