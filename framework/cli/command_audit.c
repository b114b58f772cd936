/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/memory.h"
#include "audit/audit_run.h"
#include "audit/audit_session.h"
#include "cli/command.h"
#include "sweep/sweep_run.h"

static const char usage[] =
    "usage: dpframe audit -c CONFIG [-o section.key=value]... [--json]\n"
    "       dpframe audit --plugin ID [-o section.key=value]... [--plugin-dir DIR]... [--json]\n"
    "\n"
    "Trains many times with one of two data sets that differ in one unit. Prints a lower bound of epsilon,\n"
    "with a stated confidence, what is proved, and what is claimed; and checks that the noise has the\n"
    "declared variance and is fresh. Exit code 5: a statement or the noise is refuted. An audit can refute\n"
    "a guarantee, never prove one.\n"
    "\n"
    "--plugin audits one mechanism or recommender by itself, in a pipeline made for that: its parameters "
    "are\n"
    "-o items.mechanism.KEY=VALUE or -o model.recommender.KEY=VALUE.\n"
    "\n"
    "The pair is made of [data]: a canary's value is taken to the ends of the range, or it is left out,\n"
    "as [privacy] unit and adjacency say. These options stand for keys of [audit], see\n"
    "\"dpframe describe audit\":\n"
    "  --trials N         trainings with each data set (1000), or of an attack (128)\n"
    "  --confidence P     of all bounds together (0.95)\n"
    "  --user ID --item ID  the canary; by default the one of eight that moves releases most\n"
    "  --seed N           of the choice of canaries; noise follows [privacy] randomness\n"
    "  --neighbour FILE   ratings of the other data set, instead of a canary\n"
    "  --view NAME        what the observer sees: auto, sums, messages, rows\n"
    "  --claim EPSILON    is compared too\n"
    "  --one-run          one training with many canaries instead of many with one\n"
    "  --canaries N       the same with so many of them\n"
    "  --attack           membership and attribute inference instead of bounds: AUC and true\n"
    "                     positives of attacks on the releases, compared with what is proved\n"
    "  --targets N        users that are attacked (100)\n"
    "  -j, --jobs N       trains N at the same time (default: one for each processor)\n";

#define EXIT_VIOLATED 5

static const char *const key_options[] = {"--trials",   "--confidence", "--user", "--item",
                                          "--seed",     "--neighbour",  "--view", "--claim",
                                          "--canaries", "--targets"};
#define N_KEY_OPTIONS (sizeof key_options / sizeof key_options[0])

/* Options that stand for keys of [audit] become -o audit.KEY=VALUE. */
struct rewritten {
    const char *values[N_KEY_OPTIONS];
    char **argv;
    char **owned;
    int n, n_owned;
    const char *plugin; /* --plugin, or NULL */
};

static void add_override(struct rewritten *out, const char *key, const char *value)
{
    char *text = memory_format("audit.%s=%s", key, value);
    out->owned[out->n_owned++] = text;
    out->argv[out->n++] = (char *)(uintptr_t) "-o";
    out->argv[out->n++] = text;
}

static int rewrite(int argc, char **argv, struct rewritten *out, struct dpf_error *error)
{
    const size_t room = 2 * (size_t)argc + 2;
    out->argv = memory_need(room, sizeof(*out->argv));
    out->owned = memory_need(room, sizeof(*out->owned));
    for (int i = 0; i < argc; i++) {
        int taken = 1;
        if (strcmp(argv[i], "--one-run") == 0)
            add_override(out, "canaries", "-1");
        else if (strcmp(argv[i], "--attack") == 0)
            add_override(out, "attack", "all");
        else
            taken = 0;
        for (size_t k = 0; k < N_KEY_OPTIONS && taken == 0; k++) {
            taken = arguments_own_value(argc, argv, &i, key_options[k], &out->values[k], error);
            if (taken > 0)
                add_override(out, key_options[k] + 2, out->values[k]);
        }
        if (taken == 0)
            taken = arguments_own_value(argc, argv, &i, "--plugin", &out->plugin, error);
        if (taken < 0)
            return -1;
        if (!taken)
            out->argv[out->n++] = argv[i];
    }
    return 0;
}

static void rewritten_free(struct rewritten *rewritten)
{
    for (int i = 0; i < rewritten->n_owned; i++)
        free(rewritten->owned[i]);
    free(rewritten->owned);
    free(rewritten->argv);
}

static int use_plugin(const char *id, struct arguments *arguments, struct audit_plugin *plugin,
                      struct dpf_error *error)
{
    if (arguments->config)
        return error_set(error, DPF_FAULT_CONFIG,
                         "--plugin %s has a configuration of its own: leave -c or --plugin out", id);
    if (audit_plugin_open(arguments, id, plugin, error) != 0)
        return -1;
    arguments->config = plugin->path;
    return 0;
}

int command_audit(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments = {0};
    struct rewritten rewritten = {0};
    struct audit_plugin plugin = {.file = -1};
    int violations = 0;
    int status = rewrite(argc, argv, &rewritten, &error);
    if (status == 0)
        status = arguments_parse(rewritten.n, rewritten.argv, usage, &arguments, &error);
    if (status == 0)
        status = arguments_no_operands(&arguments, "audit", &error);
    if (status == 0 && sweep_is_described(&arguments))
        status = error_set(&error, DPF_FAULT_CONFIG,
                           "%s describes a sweep: audit one configuration, such as one of its variants",
                           arguments.config);
    if (status == 0 && rewritten.plugin)
        status = use_plugin(rewritten.plugin, &arguments, &plugin, &error);
    if (status == 0)
        status = audit_run(&arguments, rewritten.plugin != NULL, &violations, &error);
    audit_plugin_close(&plugin);
    arguments_free(&arguments);
    rewritten_free(&rewritten);
    if (status < 0)
        return failure_report(&error);
    return violations ? EXIT_VIOLATED : 0;
}
