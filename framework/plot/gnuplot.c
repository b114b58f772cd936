/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* Distinct for readers who see colours differently (Okabe and Ito), and in shape. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                      "#000000", "#7f7f7f", "#8c564b", "#bcbd22", "#17becf", "#9467bd"};

const char *gnuplot_colour(int series)
{
    return colours[series % (int)(sizeof colours / sizeof colours[0])];
}

void gnuplot_quote(struct text *script, const char *what)
{
    text_add(script, "\"");
    for (; *what; what++) {
        if (*what == '"' || *what == '\\' || *what == '`')
            text_add(script, "\\");
        text_add(script, "%c", *what == '\n' ? ' ' : *what);
    }
    text_add(script, "\"");
}

int gnuplot_run(const char *directory, const char *script, int *missing, struct dpf_error *error)
{
    /* A shell changes the directory: posix_spawn of this standard cannot. Arguments are not parsed by it. */
    char *argv[] = {(char *)(uintptr_t) "sh",
                    (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t) "command -v gnuplot >/dev/null || exit 99; cd \"$1\" && exec gnuplot "
                                        "\"$2\" 2>>gnuplot.log",
                    (char *)(uintptr_t) "sh",
                    (char *)(uintptr_t)directory,
                    (char *)(uintptr_t)script,
                    NULL};
    pid_t pid;
    int status = 0, problem = posix_spawnp(&pid, "sh", NULL, NULL, argv, environ);
    if (problem != 0)
        return error_set(error, DPF_FAULT_RUN, "cannot start a shell: %s", strerror(problem));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *missing = WIFEXITED(status) && WEXITSTATUS(status) == 99;
    if (*missing || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return 0;
    return error_set(error, DPF_FAULT_RUN, "gnuplot failed on %s/%s; see gnuplot.log there", directory,
                     script);
}
