/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweep_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/memory.h"

#define SWEEP_FORMAT 1

char *store_path(const char *directory, const char *part, const char *name, const char *ending)
{
    return memory_format("%s/%s/%s%s", directory, part, name, ending);
}

/* ---- the directory ---------------------------------------------------------------------------------- */

static int is_empty(const char *directory)
{
    DIR *dir = opendir(directory);
    int empty = 1;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                 strncmp(entry->d_name, "sweep.json.part", 15) == 0; /* of a write that was killed */
    if (dir)
        closedir(dir);
    return empty;
}

static int make_part(const char *directory, const char *part, struct dpf_error *error)
{
    char *path = files_join(directory, part);
    int status = files_make_directory(path, error);
    free(path);
    return status;
}

json_t *store_fingerprints(const char *directory)
{
    json_error_t problem;
    char *path = files_join(directory, "sweep.json");
    json_t *root = json_load_file(path, 0, &problem);
    json_t *fingerprints = json_incref(json_object_get(root, "fingerprints"));
    json_decref(root);
    free(path);
    return fingerprints;
}

static int refuse_prepared(const char *directory, struct dpf_error *error)
{
    json_t *fingerprints = store_fingerprints(directory);
    json_decref(fingerprints);
    return !fingerprints
               ? 0
               : error_set(error, DPF_FAULT_CONFIG,
                           "[run] output = %s: this sweep was prepared to be run by points, which may "
                           "run now: \"dpframe sweep -c CONFIG --point 1-N\" runs what is missing",
                           directory);
}

int store_prepare(const char *directory, enum store_use use, struct dpf_error *error)
{
    char *design = files_join(directory, "sweep.json");
    int is_sweep = access(design, F_OK) == 0;
    free(design);
    if (!is_sweep && !is_empty(directory))
        return error_set(error, DPF_FAULT_CONFIG,
                         "[run] output = %s: the directory contains files that are not part of a sweep; "
                         "choose an empty directory",
                         directory);
    if (is_sweep && use != STORE_PREPARE && refuse_prepared(directory, error) != 0)
        return -1;
    if (is_sweep && use == STORE_NEW)
        return error_set(error, DPF_FAULT_CONFIG,
                         "[run] output = %s: there is a sweep already. --resume runs what is missing or has "
                         "changed; remove the directory, or choose another one, to start anew",
                         directory);
    return files_make_configured("[run] output", directory, error);
}

void store_clean(const char *directory)
{
    static const char *const parts[] = {".", "configs", "state", "plots"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *path = memory_format("%s/%s", directory, parts[i]);
        files_remove_leftovers(path);
        free(path);
    }
}

/* Of a directory that has files of ours alone. */
static void remove_part(const char *directory, const char *part)
{
    char *path = files_join(directory, part);
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        char *inside = files_join(path, entry->d_name);
        unlink(inside); /* not "." and ".." */
        free(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
    free(path);
}

void store_abandon(const char *directory, int made)
{
    static const char *const parts[] = {"configs", "points", "state", "logs"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        remove_part(directory, parts[i]);
    char *design = files_join(directory, "sweep.json");
    unlink(design);
    free(design);
    if (made)
        rmdir(directory);
}

/* ---- sweep.json ------------------------------------------------------------------------------------- */

static json_t *list_json(const struct design_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(array, json_string(list->texts[i]));
    return array;
}

static json_t *dimensions_json(const struct design *design)
{
    json_t *array = json_array();
    if (design->n_variants) {
        json_t *values = json_array();
        for (size_t i = 0; i < design->n_variants; i++)
            json_array_append_new(values, json_string(design->variants[i].name));
        json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:o}", "name", "variant", "key", "",
                                               "repetition", 0, "values", values));
    }
    for (size_t i = 0; i < design->n_axes; i++) {
        const struct design_axis *axis = &design->axes[i];
        json_t *values = json_array();
        for (size_t v = 0; v < axis->n; v++)
            json_array_append_new(values, json_string(axis->values[v].label));
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:b, s:b, s:o}", "name", axis->name, "key",
                             axis->named ? axis->name : axis->key, "repetition", axis->repeats, "zipped",
                             design->mode == DESIGN_ZIP && !axis->repeats, "values", values));
    }
    return array;
}

static json_t *point_json(const struct design *design, const struct point *point)
{
    json_t *values = json_array(), *settings = json_array();
    if (point->variant)
        json_array_append_new(values, json_string(point->variant->name));
    for (size_t i = 0; i < design->n_axes; i++)
        json_array_append_new(values, point->values[i] == DESIGN_NO_VALUE
                                          ? json_null()
                                          : json_string(design->axes[i].values[point->values[i]].label));
    for (int i = 0; i < point->n_settings; i++)
        json_array_append_new(settings, json_string(point->settings[i]));
    static const struct design_list none = {0};
    return json_pack("{s:s, s:o, s:o, s:o}", "name", point->name, "values", values, "settings", settings,
                     "files", list_json(point->variant ? &point->variant->layers : &none));
}

int store_write_design(const char *directory, const char *config, const struct design *design,
                       const struct points *points, const json_t *privacy_keys, const json_t *together,
                       const json_t *fingerprints, struct dpf_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < points->n; i++)
        json_array_append_new(list, point_json(design, &points->items[i]));
    json_t *root = json_pack("{s:i, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:O, s:o}", "format", SWEEP_FORMAT,
                             "dpframe", DPFRAME_VERSION, "config", config, "question", design->question,
                             "baseline", design->baseline, "pairs_noise", design->pairs_noise, "metrics",
                             list_json(&design->metrics), "dimensions", dimensions_json(design),
                             "privacy_keys", privacy_keys, "points", list);
    if (root && json_array_size(together))
        json_object_set_new(root, "together", json_deep_copy(together));
    if (root && fingerprints)
        json_object_set_new(root, "fingerprints", json_deep_copy(fingerprints));
    char *path = files_join(directory, "sweep.json");
    int status = json_write(path, root, error);
    free(path);
    /* After sweep.json, which is what makes the directory one of a sweep. */
    static const char *const parts[] = {"configs", "points", "state", "logs"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == 0; i++)
        status = make_part(directory, parts[i], error);
    return status == 0 && fingerprints ? make_part(directory, "claims", error) : status;
}

/* ---- state ------------------------------------------------------------------------------------------ */

/* The hash of run.json, which is written last: "" if there is none. */
static void results_hash(const char *directory, const char *name, char hex[65])
{
    struct dpf_error ignored = {0};
    char *path = store_path(directory, "points", name, "/run.json");
    hex[0] = '\0';
    if (path && files_sha256(path, hex, &ignored) != 0)
        hex[0] = '\0';
    free(path);
}

int store_write_state(const char *directory, const char *name, const struct state *state,
                      struct dpf_error *error)
{
    char hex[65];
    results_hash(directory, name, hex);
    char *path = store_path(directory, "state", name, ".json");
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:s, s:f}", "status", state->status, "fingerprint", state->fingerprint,
                  "results_sha256", hex, "error", state->error, "seconds", state->seconds);
    if (!root) /* the error may hold bytes that are no UTF-8 */
        root =
            json_pack("{s:s, s:s, s:s, s:s, s:f}", "status", state->status, "fingerprint", state->fingerprint,
                      "results_sha256", hex, "error", "see the log", "seconds", state->seconds);
    int status = json_write(path, root, error);
    free(path);
    return status;
}

void store_refresh(const char *directory, const char *name)
{
    char *path = store_path(directory, "state", name, ".look");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
}

void store_remove_state(const char *directory, const char *name)
{
    char *path = store_path(directory, "state", name, ".json");
    if (path)
        unlink(path);
    free(path);
}

int store_is_done(const char *directory, const char *name, const char *fingerprint)
{
    json_error_t problem;
    char hex[65];
    char *path = store_path(directory, "state", name, ".json");
    json_t *root = path ? json_load_file(path, 0, &problem) : NULL;
    const char *status = json_string_value(json_object_get(root, "status"));
    const char *of = json_string_value(json_object_get(root, "fingerprint"));
    const char *results = json_string_value(json_object_get(root, "results_sha256"));
    int done = status && of && results && strcmp(status, "done") == 0 && strcmp(of, fingerprint) == 0;
    if (done) {
        results_hash(directory, name, hex);
        done = *hex && strcmp(results, hex) == 0;
    }
    json_decref(root);
    free(path);
    return done;
}
