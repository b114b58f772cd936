/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/paths.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

void paths_free(struct paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->files[i]);
    free(paths->files);
    memset(paths, 0, sizeof *paths);
}

static size_t length_without_gz(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0 ? length - 3 : length;
}

char *paths_plain_or_gzipped(const char *path)
{
    const size_t length = length_without_gz(path);
    char *other = access(path, F_OK) == 0 ? NULL
                  : path[length]          ? memory_format("%.*s", (int)length, path)
                                          : memory_format("%s.gz", path);
    if (other && access(other, F_OK) == 0)
        return other;
    free(other);
    return memory_text(path);
}

static int check_file(const char *path, struct dpf_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set(error, DPF_FAULT_DATA, "cannot find the file %s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return error_set(error, DPF_FAULT_DATA,
                         "%s is a directory; name the file, or a pattern such as %s/*.csv", path, path);
    if (!S_ISREG(info.st_mode))
        return error_set(
            error, DPF_FAULT_DATA,
            "%s is not a regular file; save its content to a file, since files are read more than once",
            path);
    if (access(path, R_OK) != 0)
        return error_set(error, DPF_FAULT_DATA, "cannot read %s: %s", path, strerror(errno));
    return 0;
}

static int is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int paths_same_file(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    const size_t n = x ? length_without_gz(x) : 0, m = y ? length_without_gz(y) : 0;
    const int twins = n > 0 && n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return twins || is_same_file(a, b);
}

static int add_path(struct paths *out, const char *path, struct dpf_error *error)
{
    char *found = paths_plain_or_gzipped(path);
    out->files = memory_need_grow(out->files, &out->capacity, out->n + 1, sizeof *out->files);
    const int status = check_file(found, error);
    if (status == 0)
        out->files[out->n++] = found;
    else
        free(found);
    return status;
}

static int expand_pattern(const char *path, const char *without, struct paths *out, struct dpf_error *error)
{
    glob_t found;
    int code = glob(path, 0, NULL, &found);
    if (code == GLOB_NOSPACE)
        return error_memory(error);
    if (code != 0)
        return error_set(error, DPF_FAULT_DATA, "no file matches %s", path);
    int status = 0;
    for (size_t i = 0; i < found.gl_pathc && status == 0; i++)
        if (!without[0] || !is_same_file(found.gl_pathv[i], without))
            status = add_path(out, found.gl_pathv[i], error);
    globfree(&found);
    if (status == 0 && out->n == 0)
        return error_set(error, DPF_FAULT_DATA, "only the test file matches %s", path);
    return status;
}

int paths_expand(const char *path, const char *without, struct paths *out, struct dpf_error *error)
{
    struct stat info;
    memset(out, 0, sizeof *out);
    int status = strpbrk(path, "*?[") && stat(path, &info) != 0 ? expand_pattern(path, without, out, error)
                                                                : add_path(out, path, error);
    if (status != 0)
        paths_free(out);
    return status;
}
