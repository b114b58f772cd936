/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/check_runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "conformance/check_tools.h"
#include "plugin/plugin_load.h"
#include "plugin/plugin_scan.h"
#include "plugin/role_tables.h"

#define RULE_SECONDS 60   /* of processors: the same on a busy machine */
#define RULE_PATIENCE 600 /* by the clock, for a rule that waits for ever */

const char *const check_outcome_names[N_CHECK_OUTCOMES] = {"pass", "warn", "fail", "crash", "skip"};

static const struct check_rules *const all_rules[] = {
    &check_file_rules,    &check_create_rules,     &check_run_rules,         &check_loss_rules,
    &check_sampler_rules, &check_transform_rules,  &check_mechanism_rules,   &check_aggregator_rules,
    &check_solver_rules,  &check_accountant_rules, &check_recommender_rules, &check_comm_rules,
};
#define N_RULE_SETS (sizeof all_rules / sizeof all_rules[0])

/* ---- reports from rules ---- */

static void settle(struct check *check, enum check_outcome outcome, const char *format, va_list args)
{
    vsnprintf(check->text, sizeof check->text, format, args);
    check->outcome = outcome;
}

int check_fail(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (check->outcome != CHECK_FAIL)
        settle(check, CHECK_FAIL, format, args);
    va_end(args);
    return -1;
}

int check_warn(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (check->outcome == CHECK_PASS || check->outcome == CHECK_SKIP)
        settle(check, CHECK_WARN, format, args);
    va_end(args);
    return -1;
}

int check_skip(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (check->outcome == CHECK_PASS)
        settle(check, CHECK_SKIP, format, args);
    va_end(args);
    return -1;
}

/* ---- one rule ---- */

struct job {
    const struct check_options *options;
    const struct check_rule *rule;
    int component; /* index in the plugin, or -1 */
};

struct verdict {
    enum check_outcome outcome;
    char text[sizeof((struct check *)0)->text];
};

static int ready_component(struct check *check, const struct job *job)
{
    struct dpf_error error = {0};
    const dpf_plugin *plugin = plugin_load_unchecked(check->path, &error);
    if (!plugin)
        return check_fail(check, "%s", error.text);
    check->entry.plugin = plugin;
    check->entry.component = plugin->components[job->component];
    check->entry.path = check->path;
    check->seeded = random_root_seeded(check->seed, "run", &error);
    check->privacy = random_root_seeded(check->seed, "noise", &error);
    if (!check->seeded || !check->privacy)
        return check_fail(check, "%s", error.text);
    return 0;
}

static void run_rule(const struct job *job, struct verdict *verdict)
{
    struct check check = {.path = job->options->path,
                          .seed = job->options->seed,
                          .settings = job->options->settings,
                          .n_settings = job->options->n_settings};
    if (job->component < 0 || ready_component(&check, job) == 0)
        job->rule->run(&check);
    check_finish(&check);
    random_root_free(check.seeded);
    random_root_free(check.privacy);
    verdict->outcome = check.outcome;
    memcpy(verdict->text, check.text, sizeof verdict->text);
}

static void child_main(const struct job *job, int fd)
{
    const struct rlimit none = {0, 0};
    struct rlimit most;
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_CPU, &most) == 0) {
        if (most.rlim_cur > RULE_SECONDS) /* or a lower limit of whoever runs it */
            most.rlim_cur = RULE_SECONDS;
        setrlimit(RLIMIT_CPU, &most);
    }
    struct verdict verdict = {0};
    run_rule(job, &verdict);
    ssize_t written = write(fd, &verdict, sizeof verdict); /* below PIPE_BUF: whole or not at all */
    _exit(written == (ssize_t)sizeof verdict ? 0 : 3);
}

/* Reads one verdict; 0 if the child ended without one, -1 if time ran out. */
static int hear(int fd, struct verdict *verdict)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int left = (int)(RULE_PATIENCE - (now.tv_sec - start.tv_sec));
        struct pollfd poller = {fd, POLLIN, 0};
        int ready = left > 0 ? poll(&poller, 1, 1000 * left) : 0;
        if (ready == 0)
            return -1;
        if (ready < 0 && errno != EINTR)
            return 0;
        if (ready > 0)
            return read(fd, verdict, sizeof *verdict) == (ssize_t)sizeof *verdict;
    }
}

static void judge_child(pid_t child, int heard, struct verdict *verdict)
{
    if (heard < 0)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (heard > 0)
        return;
    verdict->outcome = CHECK_CRASH;
    if (heard < 0)
        snprintf(verdict->text, sizeof verdict->text, "did not end in %d seconds", RULE_PATIENCE);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        snprintf(verdict->text, sizeof verdict->text, "took longer than %d seconds of processor time",
                 RULE_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(verdict->text, sizeof verdict->text, "signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(verdict->text, sizeof verdict->text, "ended the process with status %d",
                 WEXITSTATUS(status));
}

static void run_job(const struct job *job, struct verdict *verdict)
{
    memset(verdict, 0, sizeof *verdict);
    if (job->options->in_process) {
        run_rule(job, verdict);
        return;
    }
    int ends[2];
    fflush(NULL);
    pid_t child = -1;
    if (pipe(ends) == 0) {
        child = fork();
        if (child == 0) {
            close(ends[0]);
            child_main(job, ends[1]);
        }
        close(ends[1]);
    }
    if (child < 0) {
        verdict->outcome = CHECK_CRASH;
        snprintf(verdict->text, sizeof verdict->text, "no process could be started: %s", strerror(errno));
        return;
    }
    judge_child(child, hear(ends[0], verdict), verdict);
    close(ends[0]);
}

/* ---- the report ---- */

struct report {
    const struct check_options *options;
    int counts[N_CHECK_OUTCOMES];
    int entries;
};

static void print_quoted(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < 0x20)
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

static void report_verdict(struct report *report, const struct check_rule *rule, const char *component,
                           const struct verdict *verdict)
{
    const char *name = check_outcome_names[verdict->outcome];
    report->counts[verdict->outcome]++;
    if (report->options->json) {
        printf("%s\n    {\"rule\": \"%s\", \"component\": ", report->entries++ ? "," : "", rule->id);
        print_quoted(component);
        printf(", \"outcome\": \"%s\", \"text\": ", name);
        print_quoted(verdict->text);
        printf("}");
    } else if (verdict->outcome != CHECK_PASS || report->options->verbose) {
        int quiet = verdict->outcome == CHECK_SKIP && !report->options->verbose;
        if (!quiet)
            printf("%-5s %-24s %s%s%s\n", name, rule->id, component,
                   component[0] && verdict->text[0] ? ": " : "", verdict->text);
    }
}

/* A rule that found nothing because it did not run is a failure, unless the list says why; so is a line of
   the list that is out of date. */
static void check_skipped(const struct check_options *options, const struct check_rule *rule,
                          const char *role, const char *id, struct verdict *verdict)
{
    if (!options->skips || (verdict->outcome != CHECK_SKIP && verdict->outcome != CHECK_PASS))
        return;
    const int listed = check_skips_find(options->skips, role, id, rule->id);
    const char *why = verdict->outcome == CHECK_SKIP && !listed ? "skipped, and the list gives no reason"
                      : verdict->outcome == CHECK_PASS && listed == 1
                          ? "is in the list of skipped rules, but it ran: remove the line"
                          : NULL;
    if (!why)
        return;
    char text[sizeof verdict->text];
    snprintf(text, sizeof text, "%s%s%.300s", why, *verdict->text ? ": " : "", verdict->text);
    memcpy(verdict->text, text, sizeof text);
    verdict->outcome = CHECK_FAIL;
}

static int wanted(const struct check_options *options, const struct check_rule *rule)
{
    return !options->rule || strncmp(rule->id, options->rule, strlen(options->rule)) == 0;
}

static void run_file_rules(struct report *report)
{
    for (int i = 0; i < check_file_rules.n; i++) {
        const struct check_rule *rule = &check_file_rules.rules[i];
        struct job job = {report->options, rule, -1};
        struct verdict verdict;
        if (!wanted(report->options, rule))
            continue;
        run_job(&job, &verdict);
        report_verdict(report, rule, "", &verdict);
    }
}

static void run_component(struct report *report, int index, const char *role, const char *id)
{
    char label[160];
    snprintf(label, sizeof label, "%s %s", role_name(role), id);
    if (report->options->component && strcmp(report->options->component, id) != 0)
        return;
    for (size_t s = 0; s < N_RULE_SETS; s++)
        for (int i = 0; i < all_rules[s]->n; i++) {
            const struct check_rule *rule = &all_rules[s]->rules[i];
            if (!rule->role || (rule->role[0] && strcmp(rule->role, role) != 0) ||
                !wanted(report->options, rule))
                continue;
            struct job job = {report->options, rule, index};
            struct verdict verdict;
            run_job(&job, &verdict);
            check_skipped(report->options, rule, role_name(role), id, &verdict);
            report_verdict(report, rule, label, &verdict);
        }
}

struct found {
    char roles[64][64];
    char ids[64][64];
    int n;
};

static int found_component(void *context, int64_t index, const char *role, const char *id,
                           struct dpf_error *error)
{
    struct found *found = context;
    (void)index;
    if (found->n == 64)
        return error_set(error, DPF_FAULT_PLUGIN, "more than 64 components");
    snprintf(found->roles[found->n], sizeof found->roles[0], "%s", role);
    snprintf(found->ids[found->n], sizeof found->ids[0], "%s", id);
    found->n++;
    return 0;
}

/* Components only of a file that the loader accepts (see load.accepted): their rules rely on sound
 * descriptors. */
static void run_component_rules(struct report *report)
{
    struct dpf_error error = {0};
    struct found found = {.n = 0};
    const char *paths[] = {report->options->path};
    if (plugin_scan(paths, 1, PLUGIN_SCAN_SECONDS, found_component, NULL, &found, &error) != 0)
        return;
    for (int i = 0; i < found.n; i++)
        run_component(report, i, found.roles[i], found.ids[i]);
}

int check_run_all(const struct check_options *options)
{
    struct report report = {.options = options};
    if (options->json) {
        printf("{\"file\": ");
        print_quoted(options->path);
        printf(", \"seed\": %llu, \"results\": [", (unsigned long long)options->seed);
    }
    run_file_rules(&report);
    run_component_rules(&report);
    if (options->json)
        printf("\n], ");
    for (int i = 0; i < N_CHECK_OUTCOMES; i++)
        printf(options->json ? "%s\"%s\": %d" : "%s%s %d", i ? ", " : "", check_outcome_names[i],
               report.counts[i]);
    printf(options->json ? "}\n" : "\n");
    return report.counts[CHECK_FAIL] || report.counts[CHECK_CRASH] ? 1 : 0;
}

int check_print_rules(void)
{
    for (size_t s = 0; s < N_RULE_SETS; s++)
        for (int i = 0; i < all_rules[s]->n; i++) {
            const struct check_rule *rule = &all_rules[s]->rules[i];
            const char *where = !rule->role ? "file" : rule->role[0] ? role_name(rule->role) : "component";
            printf("%-24s %-10s %s\n", rule->id, where, rule->summary);
        }
    return 0;
}
