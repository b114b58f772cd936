/* SPDX-License-Identifier: Apache-2.0 */
#include "run/results_directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/by_user_file.h"
#include "run/model_files.h"
#include "run/split_file.h"

/* What a run writes, in order: run.json goes first when it is removed. */
static const char *const result_files[] = {"run.json",
                                           "config.ini",
                                           "release/user_factors.npy",
                                           "release/item_factors.npy",
                                           "release/guarantee.txt",
                                           "release/certificate.json",
                                           "release/metrics.csv",
                                           "release/page.html",
                                           "release/user_ids.txt",
                                           "release/item_ids.txt",
                                           "release/item_names.txt",
                                           "private/user_factors.npy",
                                           "private/item_factors.npy",
                                           "private/data.json",
                                           "private/metrics.csv",
                                           BY_USER_FILE,
                                           SPLIT_FILE,
                                           "private/record_budgets.csv",
                                           "private/noise.csv",
                                           "private/violations.txt",
                                           "private/verdict.json",
                                           "private/report.html",
                                           "private/user_ids.txt",
                                           "private/item_ids.txt",
                                           "private/item_names.txt"};
/* Stays until the results are complete: run/resume.h. */
static const char checkpoint_file[] = "private/checkpoint";
/* The directories of results; those of a model have files of model_files.h alone. */
static const char *const result_parts[] = {"release/model/", "private/model/", "release/", "private/", ""};
#define N_RESULT_PARTS (sizeof result_parts / sizeof result_parts[0])
#define N_RESULT_FILES (sizeof result_files / sizeof result_files[0])

/* The temporary file of an interrupted write, "NAME.partNUMBER"? */
static int is_leftover(const char *name, const char *of)
{
    size_t length = strlen(of);
    if (strncmp(name, of, length) != 0 || strncmp(name + length, ".part", 5) != 0)
        return 0;
    const char *number = name + length + 5;
    return *number && number[strspn(number, "0123456789")] == '\0';
}

static int is_model_part(const char *part)
{
    return strstr(part, "model/") != NULL;
}

/* Does a run write (or leave) an entry of that name in that part of the results? */
static int is_ours(const char *part, const char *name)
{
    if (!*part && (strcmp(name, "release") == 0 || strcmp(name, "private") == 0))
        return 1;
    if (is_model_part(part)) {
        const char *leftover = strstr(name, ".part");
        char *written = leftover ? memory_text(name) : NULL;
        if (written)
            written[leftover - name] = '\0';
        const int ours =
            model_files_owns(name) || (written && model_files_owns(written) && is_leftover(name, written));
        free(written);
        return ours;
    }
    if (*part && strcmp(name, "model") == 0)
        return 1;
    size_t length = strlen(part);
    for (size_t i = 0; i < N_RESULT_FILES; i++) {
        const char *file = result_files[i];
        if (strncmp(file, part, length) != 0 || strchr(file + length, '/'))
            continue;
        if (strcmp(name, file + length) == 0 || is_leftover(name, file + length))
            return 1;
    }
    const char *file = checkpoint_file + length;
    return strncmp(checkpoint_file, part, length) == 0 && !strchr(file, '/') &&
           (strcmp(name, file) == 0 || is_leftover(name, file));
}

/* Calls visit for each entry of a part of the results; 0, or what a visit returned. */
static int visit_part(const char *directory, const char *part,
                      int (*visit)(const char *directory, const char *part, const char *name, void *context),
                      void *context)
{
    char *path = files_join(directory, part);
    DIR *dir = opendir(path);
    int status = 0;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && status == 0; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(directory, part, entry->d_name, context);
    if (dir)
        closedir(dir);
    free(path);
    return status;
}

/* Keeps the path of an entry that no run writes; 1 if it is one. */
static int find_foreign(const char *directory, const char *part, const char *name, void *found)
{
    (void)directory;
    if (is_ours(part, name))
        return 0;
    *(char **)found = memory_format("%s%s", part, name);
    return 1;
}

/* Fails if something in the directory is not the result of a run, whole or interrupted: [run] output = results
 * beside runs in results/NAME is a common case. */
static int refuse_others(const struct config_values *run, const char *directory, struct dpf_error *error)
{
    char *found = NULL;
    for (size_t i = 0; i < N_RESULT_PARTS && !found; i++)
        visit_part(directory, result_parts[i], find_foreign, &found);
    if (!found)
        return 0;
    config_value_error(
        run, "output", error,
        "the directory %s contains %s, which does not belong to the results of one run; choose another "
        "directory with -O DIRECTORY",
        directory, found);
    free(found);
    return -1;
}

static int make_inside(const char *directory, const char *name, struct dpf_error *error)
{
    char *path = files_join(directory, name);
    int status = files_make_directory(path, error);
    free(path);
    return status;
}

/* Before anything is trained, and before the results of an earlier run are removed. */
static int check_writable(const struct config_values *run, const char *directory, const char *part,
                          struct dpf_error *error)
{
    char *path = *part ? files_join(directory, part) : memory_text(directory);
    int status =
        access(path, W_OK | X_OK) == 0 || (*part && errno == ENOENT)
            ? 0
            : config_value_error(run, "output", error, "cannot write in %s: %s", path, strerror(errno));
    free(path);
    return status;
}

/* Said before training, while it can still be stopped: the files are removed when the new ones are complete.
 */
static void announce_replacement(const char *directory)
{
    char *path = files_join(directory, "run.json"), when[32];
    struct stat info;
    struct tm at;
    if (stat(path, &info) == 0 && localtime_r(&info.st_mtime, &at) &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &at) > 0)
        log_message(LOG_LEVEL_WARNING,
                    "%s holds a run of %s, which this one replaces when it is complete; -O DIRECTORY keeps "
                    "both",
                    directory, when);
    free(path);
}

int results_directory_prepare(const struct config_values *run, const char *directory, struct dpf_error *error)
{
    struct stat info;
    if (stat(directory, &info) == 0 && !S_ISDIR(info.st_mode))
        return config_value_error(run, "output", error, "%s is a file, not a directory", directory);
    if (refuse_others(run, directory, error) != 0)
        return -1;
    if (files_make_configured("[run] output", directory, error) != 0)
        return -1;
    if (check_writable(run, directory, "", error) != 0 ||
        check_writable(run, directory, "release", error) != 0 ||
        check_writable(run, directory, "private", error) != 0)
        return -1;
    announce_replacement(directory);
    return 0;
}

void results_directory_abandon(const char *directory)
{
    for (size_t i = 0; i < N_RESULT_PARTS; i++) {
        char *path = files_join(directory, result_parts[i]);
        rmdir(path); /* fails, as it should, unless it is empty */
        free(path);
    }
    rmdir(directory);
}

static void remove_inside(const char *directory, const char *name)
{
    char *path = files_join(directory, name);
    unlink(path);
    free(path);
}

static int remove_leftover(const char *directory, const char *part, const char *name, void *unused)
{
    (void)unused;
    char *inside = strstr(name, ".part") || is_model_part(part) ? memory_format("%s%s", part, name) : NULL;
    if (inside && is_ours(part, name))
        remove_inside(directory, inside);
    free(inside);
    return 0;
}

/* Files of an earlier run must not be taken for those of this one. */
static void remove_earlier(const char *directory)
{
    for (size_t i = 0; i < N_RESULT_FILES; i++)
        remove_inside(directory, result_files[i]);
    for (size_t i = 0; i < N_RESULT_PARTS; i++)
        visit_part(directory, result_parts[i], remove_leftover, NULL);
    for (size_t i = 0; i < N_RESULT_PARTS; i++) {
        char *path = is_model_part(result_parts[i]) ? files_join(directory, result_parts[i]) : NULL;
        rmdir(path);
        free(path);
    }
}

int results_directory_clear(const char *directory, struct dpf_error *error)
{
    if (make_inside(directory, "release", error) != 0 || make_inside(directory, "private", error) != 0)
        return -1;
    remove_earlier(directory);
    return 0;
}
