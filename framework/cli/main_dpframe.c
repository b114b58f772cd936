/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/text.h"
#include "cli/command.h"

static const char help[] =
    "dpframe - differentially private matrix-factorization recommenders, composed from plugins\n"
    "\n"
    "usage:\n"
    "  dpframe -c CONFIG [-o section.key=value]...   train, evaluate, write results\n"
    "  dpframe report DIRECTORY                      tables, plots and a page of a sweep\n"
    "  dpframe recommend RUN --user ID [-n N]        items for a user, from saved factors\n"
    "  dpframe evaluate RUN [--data FILE]            metrics of saved factors, on other records\n"
    "  dpframe diff A.ini B.ini                      what differs, and whether it affects privacy\n"
    "  dpframe convert OLD.ini [--output NEW.ini]    today's names for keys of old files\n"
    "  dpframe check -c CONFIG                       validate; print pipeline and guarantee\n"
    "  dpframe account -c CONFIG [--json]            the guarantee alone\n"
    "  dpframe audit -c CONFIG [--json]              a lower bound of epsilon, from many trainings\n"
    "  dpframe list [--json]                         components by role\n"
    "  dpframe describe NAME [--format FORMAT]       parameters of a component or section\n"
    "  dpframe generate -O FILE [key=value]...       synthetic ratings\n"
    "  dpframe --version\n"
    "\n"
    "options:\n"
    "  -c, --config FILE        the configuration\n"
    "  -o, --override S.K=V     sets one value, over any file; may be repeated\n"
    "  -O, --output PATH        [run] output; the file of generate\n"
    "      --plugin-dir DIR     one more directory of plugins; may be repeated\n"
    "      --json               machine-readable output\n"
    "  -q, --quiet              errors and warnings only\n"
    "  -v, --verbose            more about what is done\n"
    "  -h, --help               help of a command\n"
    "\n"
    "exit codes: 0 done, 1 the run failed, 2 configuration or command, 3 data, 4 plugin, 5 audit: violated\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", command_run},           {"check", command_check},       {"account", command_account},
    {"list", command_list},         {"describe", command_describe}, {"generate", command_generate},
    {"report", command_report},     {"diff", command_diff},         {"recommend", command_recommend},
    {"evaluate", command_evaluate}, {"audit", command_audit},       {"convert", command_convert},
};

/* A standard stream that the caller closed would lend its number to the next file that is opened, and
 * messages would go into results. Standard output stays unwritable, so that finished() reports it. */
static void occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* What was printed and did not arrive (a full disk) must not look like success. */
static int finished(int status)
{
    int failed = ferror(stdout);
    if (fflush(stdout) == 0 && !failed)
        return status;
    fprintf(stderr, "dpframe: cannot write to standard output: %s\n", strerror(errno));
    return status ? status : DPF_FAULT_RUN;
}

static int unknown_command(const char *name)
{
    enum { N = sizeof commands / sizeof commands[0] };
    const char *names[N];
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < N; i++)
        names[i] = commands[i].name;
    const char *nearest = text_nearest(name, names, N);
    fprintf(stderr, "dpframe: unknown command \"%s\"%s%s%s: see dpframe --help\n", text_show(name, shown),
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return DPF_FAULT_CONFIG;
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help, stderr);
        return DPF_FAULT_CONFIG;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("dpframe %s (plugin ABI %d.%d)\n", DPFRAME_VERSION, DPF_ABI_MAJOR, DPF_ABI_MINOR);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return argv[1][0] == '-' ? command_run(argc, argv) : unknown_command(argv[1]);
}

/*
 * OpenBLAS starts its threads when it is loaded, before main, and its handler of fork waits for them; where
 * memory for them is short it waits for ever. Nothing here wants them: the workers are the parallelism. So
 * the program starts itself once more with the variable set, unless the user has set it.
 */
static void start_without_blas_threads(char **argv)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    if (!getenv(variable) && setenv(variable, "1", 1) == 0)
        execv("/proc/self/exe", argv); /* returns only if it fails: then without */
}

int main(int argc, char **argv)
{
    start_without_blas_threads(argv);
    occupy_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, with a message */
    if (sodium_init() < 0) {
        fputs("dpframe: the cryptographic library cannot be initialised\n", stderr);
        return DPF_FAULT_RUN;
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            command_errors_as_json(1);
    return finished(run_command(argc, argv));
}
