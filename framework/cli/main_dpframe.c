/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/blas.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "plugin/scan_cache.h"
#include "run/joined.h"
#include "simd/simd_kind.h"

static const char help[] = "dpframe - differentially private matrix-factorization recommenders, composed\n"
                           "from plugins\n"
                           "\n"
                           "usage: dpframe COMMAND [OPTION]... (dpframe COMMAND --help: its own help)\n"
                           "\n"
                           "  start FILE [FACT=VALUE]...   a configuration for your own file\n"
                           "  run CONFIG                   train, evaluate, write results; a sweep: all its\n"
                           "                               points (the same as train, and as -c CONFIG)\n"
                           "  check CONFIG                 validate; print pipeline and guarantee\n"
                           "  account CONFIG               the guarantee alone\n"
                           "  audit CONFIG                 a lower bound of epsilon, from many trainings\n"
                           "  recommend RUN --user ID      items for a user, from a saved model\n"
                           "  predict RUN PAIRS            predictions for pairs of user and item\n"
                           "  similar RUN --item ID        items with similar factors\n"
                           "  items RUN                    a catalogue from released noisy counts\n"
                           "  page RUN                     a page that recommends in a browser, offline\n"
                           "  evaluate RUN [--data FILE]   metrics of a saved model, on other records\n"
                           "  compare RUN RUN...           finished runs, user by user\n"
                           "  sweep -c CONFIG --point P    a sweep by its points, on any scheduler\n"
                           "  serve ADDRESS -c CONFIG      a run whose users are processes of their own\n"
                           "  join ADDRESS -c CONFIG       one of these users, with its --data FILE\n"
                           "  report DIRECTORY             a page of a sweep or a run; tables, plots\n"
                           "  diff A.ini B.ini             differences, and whether they affect privacy\n"
                           "  convert OLD.ini              rewrites keys of old files\n"
                           "  list [ROLE]                  components by role\n"
                           "  describe NAME                parameters of a component or section\n"
                           "  generate -O FILE [KEY=...]   synthetic ratings\n"
                           "  new-plugin ROLE NAME [DIR]   your own plugin, from a template\n"
                           "\n"
                           "options (each command refuses those that it does not read):\n"
                           "  -c, --config FILE        the configuration; -o can follow\n"
                           "  -o, --override S.K=V     sets one value, over any file; may be repeated\n"
                           "  -O, --output PATH        [run] output; the file of start, recommend, ...\n"
                           "  -j, --jobs N             sweeps: N points at the same time\n"
                           "      --dry-run            sweeps: list the points and run none\n"
                           "      --resume             sweeps: skip points that are done\n"
                           "      --profile[=FILE]     run: where the time goes, beside limits in FILE\n"
                           "      --prepare, --list        sweep: write its points; how far they are\n"
                           "      --point NAME|I|I-J       sweep: run these; --take-over from the dead\n"
                           "      --user ID, --all     recommend: for whom\n"
                           "      --item ID            similar: to which item\n"
                           "  -n, --number N           recommend, similar, items: so many items\n"
                           "      --data FILE          recommend, evaluate: other records, or -\n"
                           "      --candidates FILE    recommend: among these items alone\n"
                           "      --exclude FILE       recommend: without these items\n"
                           "      --format FORMAT      describe: text, markdown or json; lists and\n"
                           "                           predictions: text, csv, tsv or jsonl\n"
                           "      --plugin-dir DIR     one more directory of plugins; may be repeated\n"
                           "      --json               machine-readable output\n"
                           "  -q, --quiet              errors and warnings only\n"
                           "  -v, --verbose            more about what is done\n"
                           "  -h, --help               help of a command\n"
                           "      --version\n"
                           "\n"
                           "Output is as wide as the variable COLUMNS says, else as the terminal, else 80\n"
                           "columns; NO_COLOR switches colours off. DPFRAME_PLUGIN_PATH names directories\n"
                           "of plugins.\n"
                           "\n"
                           "exit codes: 0 done, 1 the run failed, 2 configuration or command, 3 data,\n"
                           "4 plugin, 5 audit: violated; after Ctrl-C by the signal, 130 in a shell\n";

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
    enum { MOST = 64 };
    const char *names[MOST];
    char shown[TEXT_SHOWN];
    int64_t n = 0;
    for (const struct command *command = command_table; command->name && n < MOST; command++)
        names[n++] = command->name;
    const char *nearest = text_nearest(name, names, n);
    fprintf(stderr, "dpframe: unknown command \"%s\"%s%s%s: see dpframe --help\n", text_show(name, shown),
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return DPF_FAULT_CONFIG;
}

/* A configuration alone could be meant for several commands. */
static int file_without_command(const char *path)
{
    char shown[TEXT_SHOWN];
    text_show(path, shown);
    fprintf(
        stderr,
        "dpframe: %s: a configuration, but no command: \"dpframe run %s\" trains, \"dpframe check %s\" says "
        "what is promised\n",
        shown, shown, shown);
    return DPF_FAULT_CONFIG;
}

/* Options may stand before the command: it moves to the front. */
static int run_moved(int argc, char **argv)
{
    const int at = arguments_first_word(argc, argv);
    const struct command *command = at > 0 ? command_named(argv[at]) : NULL;
    if (!command)
        return command_run(argc, argv);
    char *name = argv[at];
    memmove(&argv[2], &argv[1], (size_t)(at - 1) * sizeof *argv);
    argv[1] = name;
    return command->run(argc - 1, argv + 1);
}

/* Of several processes that would do the same beside each other. The first says so. */
static int refuse_ranks(const char *name)
{
    if (joined_launched_as() == 0)
        fprintf(stderr, "dpframe: \"dpframe %s\" works in one process: start it without mpirun\n", name);
    return DPF_FAULT_CONFIG;
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help, stderr);
        return DPF_FAULT_CONFIG;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        arguments_print_usage(help);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("dpframe %s (plugin ABI %d.%d)\n", DPFRAME_VERSION, DPF_ABI_MAJOR, DPF_ABI_MINOR);
        return 0;
    }
    const struct command *command = command_named(argv[1]);
    if (command && command->run != command_run && joined_launched() > 1)
        return refuse_ranks(argv[1]);
    if (command)
        return command->run(argc - 1, argv + 1);
    if (argv[1][0] == '-')
        return run_moved(argc, argv);
    return arguments_is_config(argv[1]) ? file_without_command(argv[1]) : unknown_command(argv[1]);
}

/*
 * OpenBLAS starts its threads when it is loaded, and its handler of fork waits for them; where memory for them is short it
 * waits for ever. Nothing here wants them: the workers are the parallelism. Plugins load it after this. Where something has
 * loaded it before main, the program starts itself once more with the variable set. A user's own value stays.
 */
static void start_without_blas_threads(char **argv)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    if (!getenv(variable) && setenv(variable, "1", 1) == 0 && blas_is_loaded())
        execv("/proc/self/exe", argv); /* returns only if it fails: then without */
}

/* Kernels read the variable and have no way to complain of it. */
static int check_kind_of_kernels(void)
{
    const char *name = getenv("DPFRAME_SIMD");
    if (!name || simd_named(name) >= 0)
        return 0;
    fprintf(
        stderr,
        "dpframe: the environment variable DPFRAME_SIMD is \"%s\": name the best kind of kernel that may run "
        "(auto, avx512, avx2, neon, portable), or unset it\n",
        name);
    return -1;
}

/* Ranks end with a code: for their launcher, one that a signal ends has crashed. */
static int ended(int status)
{
    if (status == DPF_FAULT_RUN && joined_launched() == 1)
        interrupt_end();
    return status;
}

int main(int argc, char **argv)
{
    start_without_blas_threads(argv);
    occupy_standard_streams();
    interrupt_listen();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, with a message */
    if (sodium_init() < 0) {
        fputs("dpframe: the cryptographic library cannot be initialised\n", stderr);
        return DPF_FAULT_RUN;
    }
    if (check_kind_of_kernels() != 0)
        return DPF_FAULT_CONFIG;
    scan_cache_enable();
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            failures_as_json(1);
    return ended(finished(run_command(argc, argv)));
}
