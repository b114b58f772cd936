/* SPDX-License-Identifier: Apache-2.0 */
#include "run/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "data/load.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "plan/repeat.h"
#include "run/alike.h"

/* ---- the file ------------------------------------------------------------------------------------------ */

static char *path_in(const char *directory)
{
    return files_join(directory, "private/checkpoint");
}

/* The file is removed once run.json, the last of the results, is there. One that is older was put back. */
static int is_older_than_results(const char *path, const char *directory)
{
    char *last = files_join(directory, "run.json");
    struct stat checkpoint, results;
    const int both = last && lstat(path, &checkpoint) == 0 && lstat(last, &results) == 0;
    free(last);
    if (!both || checkpoint.st_mtim.tv_sec != results.st_mtim.tv_sec)
        return both && checkpoint.st_mtim.tv_sec < results.st_mtim.tv_sec;
    return checkpoint.st_mtim.tv_nsec < results.st_mtim.tv_nsec;
}

int resume_check_directory(const struct config_values *run, const char *directory, int resumes,
                           struct dpf_error *error)
{
    char *path = path_in(directory);
    const int is_there = checkpoint_exists(path);
    int status = 0;
    if (is_there && !resumes)
        status = config_value_error(
            run, "output", error,
            "an interrupted run has left %s. Continue it with --resume; to start anew, which is "
            "charged again, remove that file or choose another directory",
            path);
    if (status == 0 && !is_there && resumes)
        status = error_set(
            error, DPF_FAULT_CONFIG,
            "--resume: the checkpoint %s does not exist. Only a run with [run] checkpoint = true that "
            "was interrupted has one: start this run without --resume",
            path);
    if (status == 0 && is_there && is_older_than_results(path, directory))
        status =
            error_set(error, DPF_FAULT_CONFIG,
                      "--resume: %s is older than the results in %s: the run has ended, and would release "
                      "rounds twice. Use the results; to start anew, which is charged again, remove the file",
                      path, directory);
    free(path);
    return status;
}

void resume_remove(const char *directory)
{
    char *path = path_in(directory);
    if (path)
        unlink(path);
    free(path);
}

/* ---- what it belongs to -------------------------------------------------------------------------------- */

static const struct alike_own own[] = {
    {"run", "output"}, {"run", "threads"}, {"run", "comm"}, {"run", "plugin-dir"}};

static int add_number(json_t *list, const char *name, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return json_object_set_new(list, name, json_string(text));
}

static json_t *binding_of(const struct plan *plan, const struct dataset *dataset, struct dpf_error *error)
{
    char files[65];
    if (data_files_sha256(&plan->data, &plan->split, files, error) != 0)
        return NULL;
    json_t *list = json_pack("{s:s}", "the version of dpframe", DPFRAME_VERSION);
    if (list && alike_add_configuration(list, plan, own, sizeof own / sizeof *own) == 0 &&
        alike_add_plugins(list, plan->registry, 1) == 0 &&
        json_object_set_new(list, "data files", json_string(files)) == 0 &&
        json_object_set_new(list, "main data file", json_string(dataset->summary.sha256)) == 0 &&
        add_number(list, "users", dataset->users.n) == 0 &&
        add_number(list, "items", dataset->items.n) == 0 &&
        add_number(list, "training records", dataset->train.n) == 0)
        return list;
    json_decref(list);
    error_memory(error);
    return NULL;
}

static int check_binding(const struct checkpoint *checkpoint, struct dpf_error *error)
{
    struct alike_difference d;
    if (!alike_differ(checkpoint->binding, json_object_get(checkpoint->head, "binding"), &d))
        return 0;
    return error_set(
        error, DPF_FAULT_CONFIG,
        "--resume: %s belongs to another run: %s was \"%s\" and is \"%s\". Restore it; to start anew, "
        "which is charged again, remove the file",
        checkpoint->path, d.name, d.there, d.here);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static int open_binding(struct checkpoint *checkpoint, const struct plan *plan, const struct dataset *dataset,
                        const char *directory, struct dpf_error *error)
{
    char *private = files_join(directory, "private"), *path = path_in(directory);
    int status = files_make_directory(private, error);
    if (status == 0 && strlen(path) >= sizeof checkpoint->path)
        status = config_value_error(&plan->run, "output", error, "the name is too long");
    if (status == 0) {
        snprintf(checkpoint->path, sizeof checkpoint->path, "%s", path);
        checkpoint_name(checkpoint);
        checkpoint->binding = binding_of(plan, dataset, error);
        status = checkpoint->binding ? 0 : -1;
    }
    free(private);
    free(path);
    return status;
}

/* The round that had begun counts, and so do metrics that are released after the last. */
static int take_up(struct checkpoint *checkpoint, struct plan *plan, struct dpf_error *error)
{
    if (checkpoint_find(checkpoint, error) != 0 ||
        ranks_agree(ranks_rank() == 0 ? check_binding(checkpoint, error) : 0, error) != 0)
        return -1;
    checkpoint->repeats += !checkpoint->over;
    if (checkpoint->over)
        log_message(LOG_LEVEL_INFO, "the run continues after round %lld, the last",
                    (long long)checkpoint->done);
    else
        log_message(LOG_LEVEL_INFO, "the run repeats round %lld, which had begun and counts again",
                    (long long)checkpoint->round + 1);
    return repeat_count(plan, checkpoint->repeats, error);
}

int resume_open(struct checkpoint *checkpoint, struct plan *plan, const struct dataset *dataset,
                const char *directory, int resumes, struct dpf_error *error)
{
    if (!plan->run.params.values[RUN_CHECKPOINT].integer)
        return !resumes ? 0
                        : config_error(plan->config, "run", "checkpoint", error,
                                       "--resume goes on with a run that had checkpoint = true");
    int status = 0;
    if (ranks_rank() == 0)
        status = open_binding(checkpoint, plan, dataset, directory, error);
    if (ranks_agree(status, error) != 0 ||
        ranks_broadcast(checkpoint->path, sizeof checkpoint->path, 0, error) != 0)
        return -1;
    /* Noise of the last round, which is counted as it is added, and noise of metrics are those of this process. */
    checkpoint->keeps_end = !plan->run.params.values[RUN_NOISE].integer && plan->metrics.numbers == 0;
    return resumes ? take_up(checkpoint, plan, error) : 0;
}

/* What the processes before this one have written into the file, none of which came to a file of its own, and
   this one. A new reference. */
static json_t *claims_of(const struct checkpoint *checkpoint)
{
    const json_t *before = json_object_get(checkpoint->head, "claims");
    json_t *claims = before ? json_copy((json_t *)(uintptr_t)before) : json_array();
    if (claims && json_array_append_new(claims, json_string(checkpoint->id)) == 0)
        return claims;
    json_decref(claims);
    return NULL;
}

/* The claim is in the file before the ledger has it: a file without a claim of the ledger's is an old copy. */
static int claim_and_charge(const struct checkpoint *checkpoint, struct plan *plan, struct dpf_error *error)
{
    json_t *claims = claims_of(checkpoint);
    const struct data_ledger_resumption resumption = {
        .checkpoint = checkpoint->path,
        .process = json_string_value(json_object_get(checkpoint->head, "process")),
        .by = checkpoint->id,
        .claims = claims};
    const int status = checkpoint_amend(checkpoint, "claims", json_incref(claims), error) == 0
                           ? repeat_charge(plan, 1, &resumption, error)
                           : -1;
    json_decref(claims);
    return status;
}

int resume_charge(const struct checkpoint *checkpoint, struct plan *plan, struct dpf_error *error)
{
    if (!checkpoint->resumes)
        return plan_charge(plan, 1, error);
    if (checkpoint->over)
        return 0;
    const char *ledger = plan->privacy.params.values[PRIVACY_LEDGER].text;
    if (!*ledger)
        return 0;
    if (access(ledger, F_OK) != 0)
        return config_error(plan->config, "privacy", "ledger", error,
                            "%s is not there, but the run was charged to it when it began: restore it",
                            ledger);
    return claim_and_charge(checkpoint, plan, error);
}
