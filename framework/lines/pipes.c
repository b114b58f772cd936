/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "lines/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ranks.h"

#define STANDARD_INPUT "/dev/stdin"

/* Pipes that were read; a process has few. */
static struct kept {
    char *path;         /* as asked for */
    char *copy;         /* where it can be read */
    const char *reader; /* who asked */
} kept[8];
enum { MOST = sizeof kept / sizeof kept[0] };

static int is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

int pipes_is_one(const char *path)
{
    struct stat info;
    return is_standard_input(path) ||
           (stat(path, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)));
}

/* A file that has no name from the beginning, or from now on. */
static int open_nameless(const char *directory)
{
    const int fd = open(directory, O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *name = memory_format("%s/dpframe-XXXXXX", directory);
    const int named = mkstemp(name);
    if (named >= 0)
        unlink(name);
    free(name);
    return named;
}

/* 0; -1: reading failed; -2: writing did. With errno. */
static int copy_all(int from, int to)
{
    enum { PIECE = 1 << 20 };
    char *piece = memory_raw(PIECE, 1);
    int status = piece ? 1 : -2;
    while (status > 0) {
        const ssize_t n = read(from, piece, PIECE);
        status = n < 0 ? (errno == EINTR && !interrupt_is_wanted() ? 1 : -1) : n > 0;
        for (ssize_t done = 0, written = 0; status > 0 && n > 0 && done < n; done += written) {
            written = write(to, piece + done, (size_t)(n - done));
            if (written < 0 && errno != EINTR)
                status = -2;
            written = written < 0 ? 0 : written;
            if (status < 0)
                break;
        }
    }
    free(piece);
    return status;
}

/* Keeps what comes from a descriptor; returns one of the copy. */
static int keep_all(int from, const char *shown, struct dpf_error *error)
{
    const char *directory = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    const int copy = open_nameless(directory);
    const int status = copy < 0 ? -2 : copy_all(from, copy);
    if (status == 0)
        return copy;
    const int problem = errno;
    if (copy >= 0)
        close(copy);
    if (interrupt_check("a pipe was read", error) != 0)
        return -1;
    return status == -1
               ? error_set(error, DPF_FAULT_DATA, "cannot read %s: %s", shown, strerror(problem))
               : error_set(error, DPF_FAULT_RUN,
                           "cannot keep what %s contains in %s: %s; set TMPDIR to a directory with room, or "
                           "write it to a file",
                           shown, directory, strerror(problem));
}

static char *take_standard_input(const char *reader, struct dpf_error *error)
{
    struct stat info;
    if (isatty(STDIN_FILENO)) {
        error_set(error, DPF_FAULT_CONFIG,
                  "%s is \"-\", standard input, which is a terminal: pipe records into it, or name a file",
                  reader);
        return NULL;
    }
    if (fstat(STDIN_FILENO, &info) != 0) {
        error_set(error, DPF_FAULT_CONFIG, "%s is \"-\", but there is no standard input: %s", reader,
                  strerror(errno));
        return NULL;
    }
    if (!S_ISREG(info.st_mode)) { /* a redirected file can be read as it is */
        const int copy = keep_all(STDIN_FILENO, "standard input", error);
        if (copy < 0)
            return NULL;
        const int status = dup2(copy, STDIN_FILENO);
        close(copy);
        if (status < 0) {
            error_set(error, DPF_FAULT_RUN, "cannot keep standard input: %s", strerror(errno));
            return NULL;
        }
    }
    return memory_text(STANDARD_INPUT);
}

static char *take_pipe(const char *path, struct dpf_error *error)
{
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        error_set(error, DPF_FAULT_DATA, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    const int copy = keep_all(from, path, error);
    close(from);
    return copy < 0 ? NULL : memory_format("/dev/fd/%d", copy);
}

const char *pipes_path(const char *path, const char *reader, struct dpf_error *error)
{
    int at = 0;
    while (at < MOST && kept[at].path && strcmp(kept[at].path, path) != 0)
        at++;
    if (at < MOST && kept[at].path) {
        if (strcmp(kept[at].reader, reader) == 0)
            return kept[at].copy;
        error_set(error, DPF_FAULT_CONFIG, "%s and %s both read %s: name a file for one of them",
                  kept[at].reader, reader, is_standard_input(path) ? "standard input" : path);
        return NULL;
    }
    if (!pipes_is_one(path))
        return path;
    if (ranks_size() > 1 || at == MOST) {
        error_set(
            error, DPF_FAULT_CONFIG,
            "%s: \"%s\" is a pipe, which one process can read once, and %s: write the records to a file",
            reader, path, at == MOST ? "there are too many" : "each rank reads them");
        return NULL;
    }
    char *copy = is_standard_input(path) ? take_standard_input(reader, error) : take_pipe(path, error);
    kept[at] = (struct kept){.path = copy ? memory_text(path) : NULL, .copy = copy, .reader = reader};
    return copy;
}
