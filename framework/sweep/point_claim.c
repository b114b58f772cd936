/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/point_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"

/* What tells whether a process can be seen from here. */
struct place {
    char host[CLAIM_TEXT], boot[CLAIM_TEXT], space[CLAIM_TEXT];
};

/* ---- here ------------------------------------------------------------------------------------------- */

static void first_line(const char *path, char *out, size_t size)
{
    FILE *stream = fopen(path, "r");
    if (!stream || !fgets(out, (int)size, stream))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (stream)
        fclose(stream);
}

static void find_place(struct place *place)
{
    *place = (struct place){.host = ""};
    if (gethostname(place->host, sizeof place->host - 1) != 0)
        place->host[0] = '\0';
    first_line("/proc/sys/kernel/random/boot_id", place->boot, sizeof place->boot);
    const ssize_t length = readlink("/proc/self/ns/pid", place->space, sizeof place->space - 1);
    place->space[length > 0 ? length : 0] = '\0';
}

/* When a process started, in ticks since the boot: a number that has been used again is not the same process.
 * 0: there is no such process, or it is dead and only not yet waited for. */
static unsigned long long started(long process)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    first_line(path, line, sizeof line);
    const char *at = strrchr(line, ')'); /* the name before it may hold anything */
    char state = at && at[1] ? at[2] : 'X';
    if (!at || state == 'Z' || state == 'X')
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The name that a scheduler gives what it runs. */
static void find_job(char *out, size_t size)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID",
                                            "PARALLEL_SEQ"};
    static const char *const tasks[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX",
                                        "SGE_TASK_ID", NULL};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *job = getenv(variables[i]), *task = job && tasks[i] ? getenv(tasks[i]) : NULL;
        if (job) {
            snprintf(out, size, "%s%s%s", job, task ? "_" : "", task ? task : "");
            return;
        }
    }
}

static char *describe_here(void)
{
    struct place place;
    char job[CLAIM_TEXT], since[32];
    const time_t now = time(NULL);
    struct tm utc;
    find_place(&place);
    find_job(job, sizeof job);
    strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *root = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s}", "host", place.host, "boot", place.boot,
                             "namespace", place.space, "process", (json_int_t)getpid(), "started",
                             (json_int_t)started(getpid()), "job", job, "since", since);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    return text;
}

/* ---- a claim's file --------------------------------------------------------------------------------- */

static int write_whole(int fd, const char *text)
{
    size_t done = 0, length = strlen(text);
    while (done < length) {
        const ssize_t n = write(fd, text + done, length - done);
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return fsync(fd);
}

static int write_new(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    const int failed = write_whole(fd, text) != 0;
    return close(fd) != 0 || failed ? -1 : 0;
}

/* Gives a file a second name that nobody has. The answer of an NFS server may be lost and the call repeated,
 * and then says that the name is there already: the number of names knows better. */
static int link_new(const char *from, const char *to)
{
    struct stat info;
    const int status = link(from, to), reason = errno;
    if (stat(from, &info) == 0 && info.st_nlink == 2)
        return 0;
    errno = reason;
    return status == 0 ? -1 : status;
}

/* 0: made; 1: it was there; -1 with errno. */
static int make_exclusive(const char *path, const char *text)
{
    struct place place;
    find_place(&place);
    char *own = memory_format("%s.%s.%ld", path, place.host, (long)getpid());
    unlink(own); /* of a process that had this number and was killed here */
    int status = write_new(own, text);
    if (status == 0) {
        status = link_new(own, path);
        if (status != 0 && (errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK))
            status = write_new(path, text);
    }
    const int reason = errno;
    unlink(own);
    free(own);
    errno = reason;
    return status == 0 ? 0 : reason == EEXIST ? 1 : -1;
}

static char *claim_path(const char *directory, const char *name, int number, const char *ending)
{
    return memory_format("%s/claims/%s/%d%s", directory, name, number, ending);
}

static int is_there(const char *directory, const char *name, int number, const char *ending)
{
    char *path = claim_path(directory, name, number, ending);
    const int there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

static void copy_text(const json_t *root, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(root, key));
    snprintf(out, size, "%s", text ? text : "");
}

/* A file that cannot be read was made by somebody who is still writing it, or was killed at it. */
static enum claim_state read_claim(const char *path, struct claim_holder *holder)
{
    json_error_t problem;
    struct place here, there = {.host = ""};
    json_t *root = json_load_file(path, 0, &problem);
    copy_text(root, "host", holder->host, sizeof holder->host);
    copy_text(root, "job", holder->job, sizeof holder->job);
    copy_text(root, "since", holder->since, sizeof holder->since);
    copy_text(root, "boot", there.boot, sizeof there.boot);
    copy_text(root, "namespace", there.space, sizeof there.space);
    holder->process = (long)json_integer_value(json_object_get(root, "process"));
    const unsigned long long since = (unsigned long long)json_integer_value(json_object_get(root, "started"));
    json_decref(root);
    find_place(&here);
    if (!*here.boot || !*here.space || strcmp(here.boot, there.boot) != 0 ||
        strcmp(here.space, there.space) != 0)
        return CLAIM_ELSEWHERE;
    return started(holder->process) == since ? CLAIM_HELD : CLAIM_DEAD;
}

/* The state of the last claim, and its number; 0: there is none. */
static enum claim_state look(const char *directory, const char *name, struct claim_holder *holder,
                             int *number)
{
    *holder = (struct claim_holder){.process = 0};
    for (*number = 0; is_there(directory, name, *number + 1, "");)
        ++*number;
    if (*number == 0 || is_there(directory, name, *number, ".over"))
        return CLAIM_FREE;
    char *path = claim_path(directory, name, *number, "");
    const enum claim_state state = path ? read_claim(path, holder) : CLAIM_ELSEWHERE;
    free(path);
    return state;
}

/* ---- taking and giving back ------------------------------------------------------------------------- */

enum claim_state claim_look(const char *directory, const char *name, struct claim_holder *holder)
{
    int number;
    return look(directory, name, holder, &number);
}

static int make_room(const char *directory, const char *name, struct dpf_error *error)
{
    char *path = memory_format("%s/claims/%s", directory, name);
    const int status = files_make_directory(path, error);
    free(path);
    return status;
}

int claim_take(const char *directory, const char *name, int take_over, struct claim *out,
               struct claim_holder *holder, struct dpf_error *error)
{
    int number, status;
    out->path = NULL;
    if (make_room(directory, name, error) != 0)
        return -1;
    const enum claim_state state = look(directory, name, holder, &number);
    if (state == CLAIM_HELD || (state == CLAIM_ELSEWHERE && !take_over))
        return 1;
    char *path = claim_path(directory, name, number + 1, ""), *text = describe_here();
    status = path && text ? make_exclusive(path, text) : error_memory(error);
    if (status < 0 && !error->fault)
        error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", path, strerror(errno));
    if (status == 1) /* somebody was quicker */
        read_claim(path, holder);
    if (status == 0) {
        out->path = path;
        path = NULL;
    }
    free(text);
    free(path);
    return status;
}

int claim_end(struct claim *claim, struct dpf_error *error)
{
    if (!claim->path)
        return 0;
    char *over = memory_format("%s.over", claim->path);
    int status = make_exclusive(over, "");
    if (status < 0 && !error->fault)
        error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", over, strerror(errno));
    free(over);
    free(claim->path);
    claim->path = NULL;
    return status < 0 ? -1 : 0;
}

void claim_describe(const struct claim_holder *holder, char *out, size_t size)
{
    snprintf(out, size, "process %ld on %s%s%s, since %s", holder->process,
             *holder->host ? holder->host : "?", *holder->job ? ", job " : "", holder->job,
             *holder->since ? holder->since : "?");
}
