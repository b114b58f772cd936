/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/scan_cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

#define FIRST_LINE "dpframe plugins 1 "
#define STAMP 192
#define MOST_BYTES ((off_t)1 << 22)

/* A component, one line of the file: stamp, role, id, path. The texts are the line's. */
struct known {
    const char *stamp, *role, *id, *path;
};

struct scan_cache {
    char *file;
    size_t base; /* of its path: the directory that must be there */
    char program[STAMP];
    char *bytes; /* of the file, cut into texts */
    struct known *known;
    size_t n, capacity;
    struct text added; /* further lines */
};

static int enabled;

void scan_cache_enable(void)
{
    enabled = 1;
}

/* What tells a file from another and from itself after a change. 0, or -1 if it cannot be inspected. */
static int stamp_of(const char *path, char stamp[STAMP])
{
    struct stat s;
    if (stat(path, &s) != 0)
        return -1;
    snprintf(stamp, STAMP, "%ju:%ju:%jd:%jd.%09ld:%jd.%09ld:%o:%ju", (uintmax_t)s.st_dev, (uintmax_t)s.st_ino,
             (intmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, (intmax_t)s.st_ctim.tv_sec,
             s.st_ctim.tv_nsec, (unsigned)s.st_mode, (uintmax_t)s.st_uid);
    return 0;
}

/* Whether a directory is there, and is the user's: what others have, as HOME below sudo, or what nobody has made, as
   the HOME of a service, stays as it is. */
static int is_own_directory(const char *path)
{
    struct stat s;
    return path && path[0] == '/' && stat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid();
}

/* One file for each place of a program; the stamp in it says which program is there. */
static char *place_of_file(size_t *base)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int has_cache = cache && cache[0] == '/';
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    if (length <= 0 || getauxval(AT_SECURE) || !is_own_directory(has_cache ? cache : home))
        return NULL;
    for (ssize_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)program[i]) * UINT64_C(1099511628211);
    *base = strlen(has_cache ? cache : home);
    return memory_format("%s%s/dpframe/plugins-%016" PRIx64, has_cache ? cache : home,
                         has_cache ? "" : "/.cache", hash);
}

/* The directories below the one that is there; others cannot look into them, whatever the umask. */
static void make_place(const struct scan_cache *cache)
{
    for (char *slash = cache->file + cache->base; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        (void)mkdir(cache->file, 0700); /* without it the file is not written */
        *slash = '/';
    }
}

/* The bytes of a file that nobody but its user can have written. NULL if there is none. */
static char *read_own(const char *path)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *bytes = NULL;
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        !(s.st_mode & (S_IWGRP | S_IWOTH)) && s.st_size < MOST_BYTES &&
        (bytes = malloc((size_t)s.st_size + 1)) != NULL) {
        const ssize_t n = read(fd, bytes, (size_t)s.st_size);
        bytes[n > 0 ? n : 0] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* The text up to a character, which becomes its end; *at moves behind it. NULL if it is not there. */
static char *cut(char **at, char end)
{
    char *text = *at, *found = strchr(text, end);
    if (!found)
        return NULL;
    *found = '\0';
    *at = found + 1;
    return text;
}

static void read_lines(struct scan_cache *cache)
{
    char *at = cache->bytes, *first = at ? cut(&at, '\n') : NULL;
    const size_t skipped = strlen(FIRST_LINE);
    if (!first || strncmp(first, FIRST_LINE, skipped) != 0 || strcmp(first + skipped, cache->program) != 0)
        return;
    for (char *line; (line = cut(&at, '\n'));) {
        const char *stamp = cut(&line, ' '), *role = stamp ? cut(&line, ' ') : NULL,
                   *id = role ? cut(&line, ' ') : NULL;
        struct known *grown =
            id ? memory_grow(cache->known, &cache->capacity, cache->n + 1, sizeof *grown) : NULL;
        if (!grown)
            return;
        cache->known = grown;
        grown[cache->n++] = (struct known){stamp, role, id, line};
    }
}

struct scan_cache *scan_cache_open(void)
{
    struct scan_cache *cache = enabled ? memory_new(1, sizeof *cache) : NULL;
    if (!cache)
        return NULL;
    cache->file = place_of_file(&cache->base);
    if (!cache->file || stamp_of("/proc/self/exe", cache->program) != 0) {
        scan_cache_free(cache);
        return NULL;
    }
    cache->bytes = read_own(cache->file);
    read_lines(cache);
    return cache;
}

void scan_cache_free(struct scan_cache *cache)
{
    if (!cache)
        return;
    text_free(&cache->added);
    free(cache->known);
    free(cache->bytes);
    free(cache->file);
    free(cache);
}

int scan_cache_find(const struct scan_cache *cache, const char *path,
                    int (*found)(void *context, const char *path, const char *role, const char *id,
                                 struct dpf_error *error),
                    void *context, struct dpf_error *error)
{
    char stamp[STAMP];
    int knows = 0;
    if (!cache || cache->n == 0 || stamp_of(path, stamp) != 0)
        return 0;
    for (size_t i = 0; i < cache->n; i++) {
        const struct known *known = &cache->known[i];
        if (strcmp(known->path, path) != 0 || strcmp(known->stamp, stamp) != 0)
            continue;
        if (found(context, path, known->role, known->id, error) != 0)
            return -1;
        knows = 1;
    }
    return knows;
}

void scan_cache_add(struct scan_cache *cache, const char *path, const char *role, const char *id)
{
    char stamp[STAMP];
    if (cache && !strchr(path, '\n') && stamp_of(path, stamp) == 0)
        text_add(&cache->added, "%s %s %s %s\n", stamp, role, id, path);
}

void scan_cache_write(struct scan_cache *cache)
{
    struct dpf_error ignored = {0};
    struct text text = {0};
    char stamp[STAMP];
    if (!cache || cache->added.length == 0)
        return;
    text_add(&text, FIRST_LINE "%s\n", cache->program);
    for (size_t i = 0; i < cache->n && text.length < (size_t)MOST_BYTES / 2; i++) {
        const struct known *known = &cache->known[i];
        if (stamp_of(known->path, stamp) == 0 && strcmp(stamp, known->stamp) == 0)
            text_add(&text, "%s %s %s %s\n", known->stamp, known->role, known->id, known->path);
    }
    text_append(&text, cache->added.data, cache->added.length);
    make_place(cache);
    (void)files_write_private_text(cache->file, text.data, &ignored);
    text_free(&text);
}
