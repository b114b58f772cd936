/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_scan.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plugin/plugin_load.h"

/*
 * What the child writes, one line each:
 *   B <index>         about to load that file
 *   C <role> <id>     a component of it
 *   E <text>          the file is refused; the end
 *   D                 all files are done
 */

static void child_say(int fd, const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t n = write(fd, line, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(3);
        line += n;
        left -= (size_t)n;
    }
}

static _Noreturn void child_refuse(int fd, const char *reason)
{
    char line[sizeof((struct dpf_error *)0)->text + 8];
    snprintf(line, sizeof line, "E %s", reason);
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    child_say(fd, line);
    child_say(fd, "\n");
    _exit(2);
}

static void child_main(int fd, const char *const *paths, int64_t first, int64_t n)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (int64_t i = first; i < n; i++) {
        char line[256];
        snprintf(line, sizeof line, "B %lld\n", (long long)i);
        child_say(fd, line);
        struct dpf_error error = {0};
        const dpf_plugin *plugin = plugin_load(paths[i], &error);
        if (!plugin)
            child_refuse(fd, error.text);
        /* child_refuse does not return. */
        /* cppcheck-suppress nullPointerRedundantCheck */
        for (uint32_t c = 0; c < plugin->n_components; c++) {
            snprintf(line, sizeof line, "C %s %s\n", plugin->components[c]->role, plugin->components[c]->id);
            child_say(fd, line);
        }
    }
    child_say(fd, "D\n");
    _exit(0);
}

struct scan {
    const char *const *paths;
    int64_t n;
    int seconds;     /* for each file */
    int64_t first;   /* file that the child begins with */
    int64_t current; /* file that the child is at, or -1 */
    int done;
    int timed_out;
    struct dpf_error refusal; /* why the child does not take the current file */
    plugin_scan_found found;
    void *context;
    char line[4096];
    size_t length;
};

static int take_line(struct scan *scan, struct dpf_error *error)
{
    char *line = scan->line;
    if (line[0] == 'B') {
        scan->current = strtoll(line + 1, NULL, 10);
        if (scan->current < 0 || scan->current >= scan->n)
            return error_set(error, DPF_FAULT_PLUGIN, "the plugin scan got out of step");
        return 0;
    }
    if (line[0] == 'E') {
        error_set(&scan->refusal, DPF_FAULT_PLUGIN, "%s", line + 2);
        return 0;
    }
    if (line[0] == 'D') {
        scan->done = 1;
        return 0;
    }
    char *id = line[0] == 'C' && strlen(line) > 2 ? strchr(line + 2, ' ') : NULL;
    if (!id || scan->current < 0)
        return error_set(error, DPF_FAULT_PLUGIN, "the plugin scan got out of step");
    *id++ = '\0';
    return scan->found(scan->context, scan->current, line + 2, id, error);
}

static int take_bytes(struct scan *scan, const char *bytes, size_t n, struct dpf_error *error)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (scan->length + 1 < sizeof scan->line)
                scan->line[scan->length++] = bytes[i];
            continue;
        }
        scan->line[scan->length] = '\0';
        scan->length = 0;
        if (take_line(scan, error) != 0)
            return -1;
    }
    return 0;
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the child has nothing more to say. The clock starts anew with each file. */
static int listen_to(struct scan *scan, int fd, struct dpf_error *error)
{
    int64_t file = -1;
    int64_t deadline = milliseconds() + (int64_t)scan->seconds * 1000;
    for (;;) {
        int64_t left = deadline - milliseconds();
        struct pollfd poller = {fd, POLLIN, 0};
        int ready = poll(&poller, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            scan->timed_out = 1;
            return 0;
        }
        char bytes[4096];
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        if (take_bytes(scan, bytes, (size_t)n, error) != 0)
            return -1;
        if (scan->current != file) {
            file = scan->current;
            deadline = milliseconds() + (int64_t)scan->seconds * 1000;
        }
    }
}

static int judge(const struct scan *scan, int status, struct dpf_error *error)
{
    const char *path = scan->current >= 0 ? scan->paths[scan->current] : "(no file)";
    if (scan->refusal.fault)
        return error_set(error, scan->refusal.fault, "%s", scan->refusal.text);
    if (scan->timed_out)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "loading it took longer than %d second%s",
                        scan->seconds, scan->seconds == 1 ? "" : "s");
    if (WIFSIGNALED(status))
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "crashes when it is loaded (signal %d, %s)",
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (!scan->done || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_at(error, DPF_FAULT_PLUGIN, path, 0, "ends the process when it is loaded (status %d)",
                        WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}

/* One child. 0 if it has looked at all files from the first; 1 if the current one cannot be used, with the
   reason in problem; -1 on error. */
static int scan_on(struct scan *scan, struct dpf_error *problem, struct dpf_error *error)
{
    int ends[2];
    if (pipe(ends) != 0)
        return error_set(error, DPF_FAULT_RUN, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL); /* or the child's copy of what is buffered might be written twice */
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(ends[1], scan->paths, scan->first, scan->n);
    }
    int reason = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_set(error, DPF_FAULT_RUN, "cannot start a process to look at plugins: %s",
                         strerror(reason));
    }
    int heard = listen_to(scan, ends[0], error);
    close(ends[0]);
    if (heard != 0 || scan->timed_out)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (heard != 0)
        return -1;
    return judge(scan, status, problem) == 0 ? 0 : 1;
}

int plugin_scan(const char *const *paths, int64_t n, int seconds, plugin_scan_found found,
                plugin_scan_broken broken, void *context, struct dpf_error *error)
{
    for (int64_t first = 0; first < n;) {
        struct dpf_error problem = {0};
        struct scan scan = {.paths = paths,
                            .n = n,
                            .first = first,
                            .seconds = seconds,
                            .current = -1,
                            .found = found,
                            .context = context};
        const int status = scan_on(&scan, &problem, error);
        if (status <= 0)
            return status;
        if (!broken || scan.current < first)
            return error_set(error, problem.fault, "%s", problem.text);
        if (broken(context, scan.current, &problem, error) != 0)
            return -1;
        first = scan.current + 1;
    }
    return 0;
}
