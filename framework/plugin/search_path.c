/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/search_path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "plugin/plugin_load.h"

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int is_shared_object(const char *name)
{
    size_t length = strlen(name);
    return name[0] != '.' && length > 3 && strcmp(name + length - 3, ".so") == 0;
}

/* Takes ownership of file. A file that two directories lead to counts once. */
static void add_file(struct search_path *path, char *file)
{
    for (size_t i = 0; i < path->n; i++)
        if (strcmp(path->files[i], file) == 0) {
            free(file);
            return;
        }
    path->files = memory_need_grow(path->files, &path->capacity, path->n + 1, sizeof(*path->files));
    path->files[path->n++] = file;
}

static void leave_out(struct search_path *path, const char *why)
{
    path->left_out = memory_need_grow(path->left_out, &path->left_out_capacity, path->n_left_out + 1,
                                      sizeof(*path->left_out));
    path->left_out[path->n_left_out++] = memory_text(why);
}

/* directory: resolved. */
static void add_name(struct search_path *path, const char *directory, const char *name)
{
    char *file = files_join(directory, name);
    struct dpf_error problem = {0};
    struct stat info;
    if (lstat(file, &info) == 0 && S_ISLNK(info.st_mode)) {
        char *joined = file;
        file = realpath(joined, NULL);
        if (!file)
            error_at(&problem, DPF_FAULT_PLUGIN, joined, 0, "cannot be resolved: %s", strerror(errno));
        free(joined);
    }
    if (file)
        plugin_path_check(file, &problem);
    if (!problem.fault) {
        add_file(path, file);
        return;
    }
    free(file);
    leave_out(path, problem.text);
}

static void read_names(DIR *stream, char ***names, size_t *n)
{
    size_t capacity = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (!is_shared_object(entry->d_name))
            continue;
        *names = memory_need_grow(*names, &capacity, *n + 1, sizeof(**names));
        (*names)[(*n)++] = memory_text(entry->d_name);
    }
    if (*n)
        qsort(*names, *n, sizeof **names, by_bytes);
}

static int add_directory(struct search_path *path, const char *directory, int must_exist,
                         struct dpf_error *error)
{
    if (directory[0] != '/')
        return error_set(error, DPF_FAULT_CONFIG, "plugin directory \"%s\": give an absolute path",
                         directory);
    DIR *stream = opendir(directory);
    if (stream)
        text_add(&path->directories, "%s%s", path->directories.length ? ":" : "", directory);
    if (!stream && errno == ENOENT && !must_exist)
        return 0;
    if (!stream)
        return error_set(error, DPF_FAULT_CONFIG, "cannot read plugin directory %s: %s", directory,
                         strerror(errno));
    char **names = NULL;
    size_t n = 0;
    read_names(stream, &names, &n);
    closedir(stream);
    char *resolved = realpath(directory, NULL);
    if (!resolved)
        memory_out();
    for (size_t i = 0; i < n; i++) {
        add_name(path, resolved, names[i]);
        free(names[i]);
    }
    free(names);
    free(resolved);
    return 0;
}

/* DPFRAME_PLUGIN_PATH; not for a process that runs with more rights than its user has. */
static int add_environment(struct search_path *path, struct dpf_error *error)
{
    const char *value = getenv("DPFRAME_PLUGIN_PATH");
    if (!value || !value[0] || getauxval(AT_SECURE))
        return 0;
    char *copy = memory_text(value);
    int status = 0;
    for (char *directory = copy; directory && status == 0;) {
        char *colon = strchr(directory, ':');
        if (colon)
            *colon = '\0';
        if (directory[0] != '/')
            status = error_set(
                error, DPF_FAULT_CONFIG,
                "DPFRAME_PLUGIN_PATH: \"%s\" is not an absolute path (separate paths by one ':')", directory);
        else
            status = add_directory(path, directory, 1, error);
        directory = colon ? colon + 1 : NULL;
    }
    free(copy);
    return status;
}

static int is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A directory beside the executable, as in the build tree, or else where an installation has it. */
static char *beside_executable(const char *built, const char *installed)
{
    char *directory = files_program_directory();
    char *found = directory ? memory_format("%s/%s", directory, built) : NULL;
    if (found && !is_directory(found)) {
        free(found);
        found = memory_format("%s/../%s", directory, installed);
    }
    free(directory);
    return found;
}

char *search_path_default(void)
{
    return beside_executable("plugins", "lib/dpframe/plugins");
}

char *search_path_templates(void)
{
    return beside_executable("templates", "share/dpframe/templates");
}

int search_path_collect(struct search_path *path, const char *const *directories, int n_directories,
                        struct dpf_error *error)
{
    memset(path, 0, sizeof *path);
    int status = 0;
    for (int i = 0; i < n_directories && status == 0; i++)
        status = add_directory(path, directories[i], 1, error);
    if (status == 0)
        status = add_environment(path, error);
    char *standard = status == 0 ? search_path_default() : NULL;
    if (standard)
        status = add_directory(path, standard, 0, error);
    free(standard);
    if (status != 0)
        search_path_free(path);
    return status;
}

void search_path_free(struct search_path *path)
{
    for (size_t i = 0; i < path->n; i++)
        free(path->files[i]);
    free(path->files);
    for (size_t i = 0; i < path->n_left_out; i++)
        free(path->left_out[i]);
    free(path->left_out);
    text_free(&path->directories);
    memset(path, 0, sizeof *path);
}
