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
#include "plan/plan_make.h"
#include "plan/repeat.h"

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

int resume_check_directory(const char *directory, int resumes, struct dpf_error *error)
{
    char *path = path_in(directory);
    const int is_there = path && checkpoint_exists(path);
    int status = path ? 0 : error_memory(error);
    if (status == 0 && is_there && !resumes)
        status = error_set(error, DPF_FAULT_CONFIG,
                           "[run] output = %s: an interrupted run has left %s. Continue it with --resume; to "
                           "start anew, which is charged again, remove that file or choose another directory",
                           directory, path);
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

static json_t *plugins_json(const struct registry *registry)
{
    json_t *object = json_object();
    for (int64_t i = 0; object && i < registry_used_count(registry); i++) {
        const struct registry_entry *entry = registry_used_at(registry, i);
        char name[256];
        snprintf(name, sizeof name, "%s %s", entry->component->role, entry->component->id);
        json_object_set_new(object, name, json_string(entry->sha256));
    }
    return object;
}

static json_t *binding_of(const struct plan *plan, const struct dataset *dataset, struct dpf_error *error)
{
    static const char *const free_keys[] = {"output", "threads", "comm", "plugin-dir"};
    char files[65];
    if (data_files_sha256(plan->config, &plan->data, &plan->split, files, error) != 0)
        return NULL;
    json_t *config = plan_resolved(plan), *run = json_object_get(config, "run");
    for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++)
        json_object_del(run, free_keys[i]);
    json_t *binding =
        json_pack("{s:s, s:o, s:o, s:{s:s, s:s, s:I, s:I, s:I}}", "dpframe", DPFRAME_VERSION, "config",
                  config, "plugins", plugins_json(plan->registry), "data", "files", files, "main file",
                  dataset->summary.sha256, "users", (json_int_t)dataset->users.n, "items",
                  (json_int_t)dataset->items.n, "training records", (json_int_t)dataset->train.n);
    if (!binding)
        error_memory(error);
    return binding;
}

/* Where two of them differ first, in words with both values. */
struct difference {
    char where[192];
    const char *before, *now;
};

static int differ(const json_t *before, const json_t *now, const char *where, struct difference *out)
{
    const char *key;
    json_t *value;
    if (json_equal(before, now))
        return 0;
    snprintf(out->where, sizeof out->where, "%s", where);
    out->before = json_is_string(before) ? json_string_value(before) : before ? "something else" : "nothing";
    out->now = json_is_string(now) ? json_string_value(now) : now ? "something else" : "nothing";
    if (!json_is_object(before) || !json_is_object(now))
        return 1;
    for (int side = 0; side < 2; side++)
        json_object_foreach((json_t *)(uintptr_t)(side == 0 ? now : before), key, value)
        {
            char inner[192];
            snprintf(inner, sizeof inner, "%.120s%s%.60s", where, *where ? "." : "", key);
            if (differ(json_object_get(before, key), json_object_get(now, key), inner, out))
                return 1;
        }
    return 1;
}

static int check_binding(const struct checkpoint *checkpoint, struct dpf_error *error)
{
    struct difference d;
    if (!differ(json_object_get(checkpoint->head, "binding"), checkpoint->binding, "", &d))
        return 0;
    return error_set(error, DPF_FAULT_CONFIG,
                     "--resume: %s belongs to another run: %s was \"%.160s\" and is \"%.160s\". Restore it; "
                     "to start anew, which is charged again, remove the file",
                     checkpoint->path, d.where, d.before, d.now);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static int open_binding(struct checkpoint *checkpoint, const struct plan *plan, const struct dataset *dataset,
                        const char *directory, struct dpf_error *error)
{
    char *private = files_join(directory, "private"), *path = path_in(directory);
    int status = private && path ? files_make_directory(private, error) : error_memory(error);
    if (status == 0 && strlen(path) >= sizeof checkpoint->path)
        status = error_set(error, DPF_FAULT_CONFIG, "[run] output = %s: the name is too long", directory);
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
    int status = repeat_check(plan, error);
    if (status == 0 && ranks_rank() == 0)
        status = open_binding(checkpoint, plan, dataset, directory, error);
    if (ranks_agree(status, error) != 0 ||
        ranks_broadcast(checkpoint->path, sizeof checkpoint->path, 0, error) != 0)
        return -1;
    /* Noise that is looked at again after the last round, and noise of metrics, are those of this process. */
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
