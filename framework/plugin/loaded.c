/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/loaded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/memory.h"
#include "plugin/plugin_load.h"

/* The list ends with the process, as the objects do. */
static struct kept {
    struct kept *next;
    char *path;
    struct stat info;
    struct loaded loaded;
    char sha256[65]; /* empty until it is asked for */
} * all;

static int is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_mode == b->st_mode && a->st_uid == b->st_uid;
}

static struct kept *find_kept(const char *path)
{
    struct stat info;
    for (struct kept *k = all; k; k = k->next)
        if (strcmp(k->path, path) == 0 && stat(path, &info) == 0 && is_same_file(&info, &k->info))
            return k;
    return NULL;
}

const struct loaded *loaded_find(const char *path)
{
    const struct kept *kept = find_kept(path);
    return kept ? &kept->loaded : NULL;
}

const struct loaded *loaded_get(const char *path, struct dpf_error *error)
{
    const struct loaded *known = loaded_find(path);
    if (known)
        return known;
    struct kept *new = memory_need(1, sizeof *new);
    new->path = memory_text(path);
    int status = 0;
    if (stat(path, &new->info) != 0)
        status = error_at(error, DPF_FAULT_PLUGIN, path, 0, "cannot be inspected any more");
    if (status == 0 && !(new->loaded.plugin = plugin_load(path, error)))
        status = -1;
    if (status != 0) {
        free(new->path);
        free(new);
        return NULL;
    }
    new->next = all;
    all = new;
    return &new->loaded;
}

int loaded_sha256(const char *path, char sha256[65], struct dpf_error *error)
{
    struct kept *kept = find_kept(path);
    if (kept && !kept->sha256[0] && files_sha256(path, kept->sha256, error) != 0)
        return -1;
    if (!kept || find_kept(path) != kept)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0,
                        "changed while it was in use: start again, now that it is complete");
    memcpy(sha256, kept->sha256, sizeof kept->sha256);
    return 0;
}
