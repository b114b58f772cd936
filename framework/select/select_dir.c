/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/memory.h"

#define SELECT_FORMAT 1

/* ---- the directory ------------------------------------------------------------------------------------ */

static int is_empty(const char *directory)
{
    DIR *dir = opendir(directory);
    int empty = 1;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

static int make_parts(const struct select_dir *dir, struct dpf_error *error)
{
    static const char *const parts[] = {"runs", "state", "logs"};
    int status = files_make_directory(dir->work, error);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == 0; i++) {
        char *path = files_join(dir->work, parts[i]);
        status = files_make_directory(path, error);
        free(path);
    }
    return status;
}

static int refuse(const char *output, int is_selection, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_CONFIG,
                     is_selection
                         ? "[run] output = %s: there is a selection already. --resume goes on with it, and "
                           "charges nothing again; choose another directory to select anew"
                         : "[run] output = %s: the directory is not empty, and a selection overwrites "
                           "nothing; choose another one",
                     output);
}

int select_dir_open(const char *output, int resume, struct select_dir *out, struct dpf_error *error)
{
    *out = (struct select_dir){.lock = -1};
    char *work = files_join(output, "private/selection");
    const int is_selection = access(work, F_OK) == 0;
    free(work);
    if ((is_selection && !resume) || (!is_selection && !is_empty(output)))
        return refuse(output, is_selection, error);
    if (files_make_configured("[run] output", output, error) != 0)
        return -1;
    out->output = realpath(output, NULL);
    if (!out->output)
        return error_set(error, DPF_FAULT_RUN, "[run] output = %s: %s", output, strerror(errno));
    out->work = files_join(out->output, "private/selection");
    out->lock = files_lock_directory(out->output, error);
    return out->lock < 0 ? -1 : make_parts(out, error);
}

/* Directories that are not empty stay. */
static void remove_unused(const struct select_dir *dir)
{
    static const char *const parts[] = {"private/selection/runs", "private/selection/state",
                                        "private/selection/logs", "private/selection", "private"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path = files_join(dir->output, parts[i]);
        rmdir(path);
        free(path);
    }
    rmdir(dir->output);
}

static int has_state(const struct select_dir *dir)
{
    char *path = files_join(dir->work, "selection.json");
    const int found = path && access(path, F_OK) == 0;
    free(path);
    return found;
}

void select_dir_close(struct select_dir *dir)
{
    if (dir->lock >= 0 && dir->work && !has_state(dir))
        remove_unused(dir);
    if (dir->lock >= 0)
        close(dir->lock);
    free(dir->output);
    free(dir->work);
    *dir = (struct select_dir){.lock = -1};
}

char *select_path(const struct select_dir *dir, const char *part, int64_t run, const char *ending)
{
    return memory_format("%s/%s/run-%04lld%s", dir->work, part, (long long)run + 1, ending);
}

/* ---- the state ---------------------------------------------------------------------------------------- */

void select_state_free(struct select_state *state)
{
    free(state->candidates);
    free(state->scores);
    *state = (struct select_state){.selected = SELECT_NO_RUN};
}

int select_state_write(const struct select_dir *dir, const struct select_state *state,
                       struct dpf_error *error)
{
    char *path = files_join(dir->work, "selection.json");
    json_t *draws = json_array();
    for (int64_t i = 0; i < state->n_runs; i++)
        json_array_append_new(draws, json_integer((json_int_t)state->candidates[i]));
    const int status =
        json_write(path,
                   json_pack("{s:i, s:s, s:s, s:o, s:I}", "format", SELECT_FORMAT, "note",
                             "private: do not publish", "fingerprint", state->fingerprint, "candidates_drawn",
                             draws, "selected", (json_int_t)state->selected),
                   error);
    free(path);
    return status;
}

int select_state_end(const struct select_dir *dir, struct select_state *state, int64_t i, double score,
                     double seconds, const char *problem, struct dpf_error *error)
{
    char *path = select_path(dir, "state", i, ".json");
    json_t *text = json_string(problem); /* may hold bytes that are no UTF-8 */
    state->scores[i] = isfinite(score) ? score : -INFINITY;
    const int status =
        json_write(path,
                   json_pack("{s:o, s:f, s:o}", "score", isfinite(score) ? json_real(score) : json_null(),
                             "seconds", seconds, "problem", text ? text : json_string("see the log")),
                   error);
    free(path);
    return status;
}

/* NaN if the run is not over. */
static double read_score(const struct select_dir *dir, int64_t i)
{
    char *path = select_path(dir, "state", i, ".json");
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *score = json_object_get(root, "score");
    const double value = json_is_real(score)   ? json_real_value(score)
                         : json_is_null(score) ? -INFINITY
                                               : (double)NAN;
    json_decref(root);
    free(path);
    return value;
}

static void take_draws(const struct select_dir *dir, const json_t *draws, struct select_state *out)
{
    out->n_runs = (int64_t)json_array_size(draws);
    out->candidates = memory_need((size_t)out->n_runs + 1, sizeof *out->candidates);
    out->scores = memory_need((size_t)out->n_runs + 1, sizeof *out->scores);
    for (int64_t i = 0; i < out->n_runs; i++) {
        out->candidates[i] = json_integer_value(json_array_get(draws, (size_t)i));
        out->scores[i] = read_score(dir, i);
    }
}

int select_state_read(const struct select_dir *dir, struct select_state *out, struct dpf_error *error)
{
    *out = (struct select_state){.selected = SELECT_NO_RUN};
    char *path = files_join(dir->work, "selection.json");
    const int exists = access(path, F_OK) == 0;
    json_t *root = exists ? json_load_file(path, 0, NULL) : NULL;
    const char *fingerprint = json_string_value(json_object_get(root, "fingerprint"));
    const json_t *draws = json_object_get(root, "candidates_drawn"),
                 *selected = json_object_get(root, "selected");
    int status = exists ? 1 : 0;
    if (exists && !(fingerprint && json_is_array(draws) && json_is_integer(selected)))
        status = error_set(error, DPF_FAULT_CONFIG, "%s is not the state of a selection; nothing is released",
                           path);
    if (status == 1) {
        snprintf(out->fingerprint, sizeof out->fingerprint, "%s", fingerprint);
        out->selected = json_integer_value(selected);
        take_draws(dir, draws, out);
    }
    json_decref(root);
    free(path);
    return status;
}

/* ---- publishing --------------------------------------------------------------------------------------- */

/* When a run was made tells how many came after it. */
static int set_time(const char *path, const struct timespec *now)
{
    const struct timespec both[2] = {*now, *now};
    return utimensat(AT_FDCWD, path, both, 0);
}

static int set_times_inside(const char *directory, const struct timespec *now)
{
    int status = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && status == 0; entry = readdir(dir)) {
        char *path = files_join(directory, entry->d_name);
        if (strcmp(entry->d_name, "..") != 0)
            status = set_time(path, now);
        free(path);
    }
    if (dir)
        closedir(dir);
    return status;
}

/* An earlier attempt may have moved the file already. */
static int move(const char *from, const char *to, const char *name, struct dpf_error *error)
{
    char *source = files_join(from, name), *target = files_join(to, name);
    int status = 0;
    if (access(source, F_OK) == 0 && rename(source, target) != 0)
        status = error_set(error, DPF_FAULT_RUN, "%s cannot be moved to %s: %s. --resume tries again", source,
                           target, strerror(errno));
    free(source);
    free(target);
    return status;
}

static int move_inside(const char *from, const char *to, struct dpf_error *error)
{
    int status = 0;
    DIR *dir = opendir(from);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && status == 0; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = move(from, to, entry->d_name, error);
    if (dir)
        closedir(dir);
    return status;
}

static int publish_from(const struct select_dir *dir, const char *run, struct dpf_error *error)
{
    struct timespec now;
    char *release = files_join(run, "release"), *from = files_join(run, "private"),
         *to = files_join(dir->output, "private"), *json = files_join(run, "run.json"),
         *config = files_join(run, "config.ini");
    int status = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    if (((access(release, F_OK) == 0 && set_times_inside(release, &now) != 0) ||
         (access(config, F_OK) == 0 && set_time(config, &now) != 0) ||
         (access(json, F_OK) == 0 && set_time(json, &now) != 0)))
        status =
            error_set(error, DPF_FAULT_RUN, "%s: times of files cannot be set: %s", run, strerror(errno));
    if (status == 0)
        status = move_inside(from, to, error);
    if (status == 0)
        status = move(run, dir->output, "release", error);
    if (status == 0)
        status = move(run, dir->output, "config.ini", error);
    if (status == 0)
        status = move(run, dir->output, "run.json", error);
    if (status == 0) { /* nothing is left in them */
        rmdir(from);
        rmdir(run);
    }
    free(release);
    free(from);
    free(to);
    free(json);
    free(config);
    return status;
}

int select_publish(const struct select_dir *dir, int64_t run, struct dpf_error *error)
{
    char *path = select_path(dir, "runs", run, "");
    const int status = publish_from(dir, path, error);
    free(path);
    return status;
}
