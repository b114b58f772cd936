/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/spawned.h"

char command_out[1 << 20], command_err[1 << 16];

long command_peak;

char *command_path(const char *name)
{
    static char paths[4][sizeof training_directory + 256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", training_directory, name);
    return path;
}

void command_slurp(const char *path, char *out, size_t size)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    out[fread(out, 1, size - 1, stream)] = '\0';
    fclose(stream);
}

void command_redirect(const char *path, int to)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
    close(fd);
}

pid_t command_start(const char *arguments)
{
    char *copy = memory_text(arguments), *argv[64] = {(char *)(uintptr_t) "dpframe"};
    char program[512];
    int n = 1;
    snprintf(program, sizeof program, "%s/dpframe", getenv("DPFRAME_BUILD_DIR"));
    for (char *word = strtok(copy, " "); word && n < 63; word = strtok(NULL, " "))
        argv[n++] = word;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (chdir(training_directory) != 0)
            _exit(126);
        command_redirect("stdout.txt", STDOUT_FILENO);
        command_redirect("stderr.txt", STDERR_FILENO);
        execv(program, argv);
        _exit(127);
    }
    free(copy);
    return pid;
}

int command_wait(pid_t pid)
{
    int status;
    struct rusage usage;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    command_peak = usage.ru_maxrss;
    command_slurp(command_path("stdout.txt"), command_out, sizeof command_out);
    command_slurp(command_path("stderr.txt"), command_err, sizeof command_err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_run_it(const char *arguments)
{
    return command_wait(command_start(arguments));
}

int command_prepare(const char *arguments)
{
    if (command_run_it(arguments) == 0)
        return 0;
    fprintf(stderr, "dpframe %s: %s\n", arguments, command_err);
    return -1;
}

void command_expect(const char *arguments, int code, const char *text)
{
    int got = command_run_it(arguments);
    if (got != code || !strstr(command_err, text))
        fail_msg("dpframe %s: exit code %d instead of %d, or \"%s\" missing in: %s", arguments, got, code,
                 text, command_err);
}

void command_sleep(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int command_exists(const char *name)
{
    return access(command_path(name), F_OK) == 0;
}

json_t *command_json(const char *name)
{
    json_error_t error;
    json_t *json = name ? json_load_file(command_path(name), 0, &error) : json_loads(command_out, 0, &error);
    if (!json)
        fail_msg("%s is no JSON: line %d: %s", name ? name : "standard output", error.line, error.text);
    return json;
}
