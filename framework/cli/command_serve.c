/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose users are processes of their own: the server, and one user. */
#include <stdio.h>

#include "cli/command.h"
#include "federation/join.h"
#include "federation/serve.h"

static const char serve_usage[] =
    "usage: dpframe serve ADDRESS -c CONFIG [-o section.key=value]... [--output DIR]\n"
    "                     [--plugin-dir DIR]... [-q] [--resume] [--insecure-test]\n"
    "\n"
    "Runs the configuration with users that join from processes of their own. It waits for\n"
    "them ([federation] join-time), asks some in each round as the sampler says, and writes\n"
    "what is released to [run] output. It has no records. ADDRESS is what the link reads: the\n"
    "path of a socket for local, HOST:PORT for grpc. See docs/federation.md.\n"
    "  --resume         continues a run that was interrupted, with [run] checkpoint = true, from\n"
    "                   the checkpoint in --output: parties come back to it\n"
    "  --insecure-test  allows randomness = reproducible: parties' noise is then known, and\n"
    "                   protects nobody. Both ends have to say it\n";

static const char join_usage[] =
    "usage: dpframe join ADDRESS -c CONFIG --data FILE [--user ID] [-o section.key=value]...\n"
    "                    [--output DIR] [--plugin-dir DIR]... [-q] [--insecure-test]\n"
    "\n"
    "Takes part in a run of dpframe serve with the records of one user. Before anything made\n"
    "from them leaves, it prints and stores what it takes part in, and refuses a run that\n"
    "goes beyond [consent]. At the end it has the released factors and its own.\n"
    "  --data FILE      the user's records, in the form that [data] says\n"
    "  --user ID        which user this is, where the file has no record\n"
    "  --insecure-test  allows randomness = reproducible, for tests. Both ends have to say it\n";

static int run_end(int argc, char **argv, const char *usage,
                   int (*run)(const struct arguments *arguments, const char *address, int insecure,
                              struct dpf_error *error))
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0 && (arguments.n_rest != 1 || !arguments.config))
        status = error_set(&error, DPF_FAULT_CONFIG,
                           "give one address, and the configuration with -c (see --help)");
    if (status == 0)
        status = run(&arguments, arguments.rest[0], arguments.insecure_test, &error);
    arguments_free(&arguments);
    return status < 0 ? failure_report(&error) : 0;
}

int command_serve(int argc, char **argv)
{
    return run_end(argc, argv, serve_usage, federation_serve);
}

int command_join(int argc, char **argv)
{
    return run_end(argc, argv, join_usage, federation_join);
}
