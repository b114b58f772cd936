/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/enrolled.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void forget(char **names, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* In place of the names before, once all are read. */
static int read_names(struct enrolled *enrolled, struct dpf_error *error)
{
    struct files_lines lines;
    char **names = NULL;
    size_t n = 0, room = 0;
    int status = files_open_lines(&lines, enrolled->path, error);
    if (status != 0)
        return -1;
    for (const char *line; (line = files_next_line(&lines));) {
        if (!*line)
            continue;
        names = memory_need_grow(names, &room, n + 1, sizeof *names);
        names[n++] = memory_text(line);
    }
    files_close_lines(&lines);
    if (n)
        qsort(names, n, sizeof *names, by_text);
    forget(enrolled->names, enrolled->n);
    enrolled->names = names;
    enrolled->n = (int64_t)n;
    return 0;
}

static int has_changed(struct enrolled *enrolled)
{
    struct stat info;
    if (stat(enrolled->path, &info) != 0)
        return 0;
    const int same = info.st_mtim.tv_sec == enrolled->changed.tv_sec &&
                     info.st_mtim.tv_nsec == enrolled->changed.tv_nsec && info.st_size == enrolled->size;
    enrolled->changed = info.st_mtim;
    enrolled->size = info.st_size;
    return !same;
}

int enrolled_open(struct enrolled *enrolled, const char *path, struct dpf_error *error)
{
    *enrolled = (struct enrolled){.path = *path ? memory_text(path) : NULL};
    if (!*path)
        return 0;
    has_changed(enrolled);
    return read_names(enrolled, error);
}

int enrolled_refresh(struct enrolled *enrolled)
{
    struct dpf_error error = {0};
    if (!enrolled->path || !has_changed(enrolled))
        return 0;
    if (read_names(enrolled, &error) == 0)
        return 1;
    log_message(LOG_LEVEL_WARNING, "[federation] enrolled: %s; what it said before holds", error.text);
    return 0;
}

int enrolled_has(const struct enrolled *enrolled, const char *name)
{
    return !enrolled->path || (enrolled->n && bsearch(&name, enrolled->names, (size_t)enrolled->n,
                                                      sizeof *enrolled->names, by_text));
}

void enrolled_close(struct enrolled *enrolled)
{
    forget(enrolled->names, enrolled->n);
    free(enrolled->path);
    *enrolled = (struct enrolled){.path = NULL};
}
