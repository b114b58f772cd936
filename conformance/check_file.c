/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the file: what it exports and imports, what loading does, what it says about itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "conformance/check.h"
#include "conformance/check_symbols.h"
#include "plugin/descriptor.h"
#include "plugin/plugin_load.h"
#include "plugin/process_state.h"

/* ---- symbols ---- */

struct exports {
    int entry;
    int others;
    char other[128];
};

/* Sanitizers and coverage add symbols of their own to whatever they instrument. */
static int is_toolchain(const char *name)
{
    static const char *const prefixes[] = {"__asan", "__ubsan", "__tsan",     "__lsan",  "__sanitizer",
                                           "__gcov", "__llvm",  "__odr_asan", "__sancov"};
    static const char *const names[] = {"_init", "_fini", "__bss_start", "_edata", "_end"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static void see_export(void *context, const char *name, int defined, int weak)
{
    struct exports *exports = context;
    (void)weak;
    if (!defined || is_toolchain(name))
        return;
    if (strcmp(name, DPF_ENTRY_NAME) == 0) {
        exports->entry++;
        return;
    }
    if (exports->others++ == 0)
        snprintf(exports->other, sizeof exports->other, "%s", name);
}

static void rule_exports(struct check *check)
{
    struct exports exports = {0};
    struct dpf_error error = {0};
    if (check_symbols(check->path, see_export, &exports, &error) != 0)
        check_fail(check, "%s", error.text);
    else if (exports.others)
        check_fail(check,
                   "exports %d symbols beside " DPF_ENTRY_NAME ", among them %s: link with a version script",
                   exports.others, exports.other);
    else if (!exports.entry)
        check_fail(check, "does not export " DPF_ENTRY_NAME);
}

/* What a plugin must not call: it changes the process, or goes round the host. */
static const char *const forbidden[] = {
    "rand",          "srand",          "random",     "srandom", "drand48",      "rand_r",
    "arc4random",    "getrandom",      "getentropy", "time",    "gettimeofday", "clock_gettime",
    "setlocale",     "uselocale",      "exit",       "_exit",   "abort",        "quick_exit",
    "atexit",        "signal",         "sigaction",  "raise",   "fork",         "vfork",
    "execve",        "execvp",         "system",     "popen",   "posix_spawn",  "pthread_create",
    "thrd_create",   "dlopen",         "dlsym",      "malloc",  "calloc",       "realloc",
    "aligned_alloc", "posix_memalign", "strdup",     "setenv",  "putenv",       "umask",
    "chdir",         "fesetenv",       "fesetround", "longjmp", "siglongjmp",
};
/* What is rarely right: depends on the locale, or writes where the host does not see it. */
static const char *const doubtful[] = {
    "printf",   "fprintf", "puts",      "putchar", "vprintf",       "vfprintf", "perror",
    "snprintf", "sprintf", "vsnprintf", "strtod",  "strtof",        "atof",     "sscanf",
    "fopen",    "open",    "getenv",    "free",    "__assert_fail",
};

struct imports {
    struct text forbidden;
    struct text doubtful;
};

/* "__printf_chk" is printf: fortified and renamed variants count as the plain function. */
static int same_function(const char *name, const char *plain)
{
    size_t length = strlen(plain);
    if (strcmp(name, plain) == 0)
        return 1;
    if (strncmp(name, "__", 2) != 0)
        return 0;
    name += 2;
    if (strncmp(name, "isoc99_", 7) == 0 || strncmp(name, "isoc23_", 7) == 0)
        name += 7;
    return strncmp(name, plain, length) == 0 && (name[length] == '\0' || strcmp(name + length, "_chk") == 0);
}

static void see_import(void *context, const char *name, int defined, int weak)
{
    struct imports *imports = context;
    if (defined || weak)
        return;
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        if (same_function(name, forbidden[i]))
            text_add(&imports->forbidden, "%s%s", imports->forbidden.length ? ", " : "", name);
    for (size_t i = 0; i < sizeof doubtful / sizeof doubtful[0]; i++)
        if (same_function(name, doubtful[i]))
            text_add(&imports->doubtful, "%s%s", imports->doubtful.length ? ", " : "", name);
}

/* Whether the bytes of a text are in the file: the id of a role, before anything of the file has run. */
static int holds_text(const char *path, const char *text)
{
    const size_t n = strlen(text);
    size_t matched = 0;
    FILE *stream = fopen(path, "rb");
    for (int c = stream ? fgetc(stream) : EOF; c != EOF && matched < n; c = fgetc(stream))
        matched = c == (unsigned char)text[matched] ? matched + 1 : (c == (unsigned char)text[0]);
    if (stream)
        fclose(stream);
    return matched == n;
}

static void rule_imports(struct check *check)
{
    struct imports imports = {0};
    struct dpf_error error = {0};
    if (check_symbols(check->path, see_import, &imports, &error) != 0)
        check_fail(check, "%s", error.text);
    /* Links carry messages between processes, for which the host has no services. */
    if (imports.forbidden.length &&
        (holds_text(check->path, DPF_ROLE_LINK) || holds_text(check->path, DPF_ROLE_COMM)))
        check_warn(check, "calls %s, as a link or a comm may: what it does with them is for people to read",
                   imports.forbidden.data);
    else if (imports.forbidden.length)
        check_fail(check, "calls %s: the host has services for what is needed", imports.forbidden.data);
    else if (imports.doubtful.length)
        check_warn(check, "calls %s", imports.doubtful.data);
    text_free(&imports.forbidden);
    text_free(&imports.doubtful);
}

/* ---- loading ---- */

static void rule_path(struct check *check)
{
    struct dpf_error error = {0};
    if (plugin_path_check(check->path, &error) != 0)
        check_fail(check, "%s", error.text);
}

static void rule_load(struct check *check)
{
    struct dpf_error error = {0};
    if (!plugin_load_unchecked(check->path, &error))
        check_fail(check, "%s", error.text);
}

static void rule_state(struct check *check)
{
    struct process_state before;
    struct dpf_error error = {0};
    struct text differences = {0};
    process_state_save(&before);
    (void)plugin_load_unchecked(check->path, &error);
    if (process_state_compare(&before, &differences))
        check_fail(check, "loading changes %s", differences.data);
    text_free(&differences);
    process_state_free(&before);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rule_time(struct check *check)
{
    struct dpf_error error = {0};
    double before = seconds_now();
    (void)plugin_load_unchecked(check->path, &error);
    double taken = seconds_now() - before;
    if (taken > 0.1)
        check_warn(check, "loading takes %.0f ms; more than 100 ms is noticed by everyone who lists plugins",
                   1000 * taken);
}

static void rule_threads(struct check *check)
{
    struct dpf_error error = {0};
    int before = process_state_threads();
    (void)plugin_load_unchecked(check->path, &error);
    int after = process_state_threads();
    if (after > before)
        check_warn(check, "loading starts %d threads, perhaps those of a library it wraps", after - before);
}

/* ---- descriptors ---- */

static const dpf_plugin *loaded(struct check *check)
{
    struct dpf_error error = {0};
    const dpf_plugin *plugin = plugin_load_unchecked(check->path, &error);
    if (!plugin)
        check_skip(check, "the file cannot be loaded");
    return plugin;
}

static void rule_plugin(struct check *check)
{
    struct dpf_error error = {0};
    const dpf_plugin *plugin = loaded(check);
    if (plugin && descriptor_check_plugin(plugin, check->path, &error) != 0)
        check_fail(check, "%s", error.text);
}

/* Runs one of the descriptor's checks on each component, provided that what comes before is sound. */
static void each_component(struct check *check,
                           int (*look)(const dpf_component *component, const char *path,
                                       struct dpf_error *error),
                           int needs_sound)
{
    struct dpf_error error = {0};
    const dpf_plugin *plugin = loaded(check);
    if (!plugin)
        return;
    if (descriptor_check_plugin(plugin, check->path, &error) != 0) {
        check_skip(check, "the plugin's descriptor is wrong");
        return;
    }
    for (uint32_t i = 0; i < plugin->n_components; i++) {
        struct dpf_error before = {0};
        error.fault = DPF_FAULT_NONE;
        if (needs_sound && descriptor_check_component(plugin->components[i], check->path, &before) != 0)
            check_skip(check, "a component's descriptor is wrong");
        else if (look(plugin->components[i], check->path, &error) != 0)
            check_fail(check, "%s", error.text);
    }
}

static void rule_components(struct check *check)
{
    each_component(check, descriptor_check_component, 0);
}

static void rule_params(struct check *check)
{
    each_component(check, descriptor_check_params, 1);
}

static void rule_unique(struct check *check)
{
    struct dpf_error error = {0};
    const dpf_plugin *plugin = loaded(check);
    if (!plugin || descriptor_check_plugin(plugin, check->path, &error) != 0) {
        check_skip(check, "the plugin's descriptor is wrong");
        return;
    }
    for (uint32_t i = 0; i < plugin->n_components; i++)
        if (descriptor_check_component(plugin->components[i], check->path, &error) != 0) {
            check_skip(check, "a component's descriptor is wrong");
            return;
        }
    if (descriptor_check_unique(plugin, check->path, &error) != 0)
        check_fail(check, "%s", error.text);
}

static void rule_accepted(struct check *check)
{
    struct dpf_error error = {0};
    if (!plugin_load(check->path, &error))
        check_fail(check, "%s", error.text);
}

static const struct check_rule rules[] = {
    {"file.path", NULL, rule_path, "no other user can change the file or its directory"},
    {"file.exports", NULL, rule_exports, "exactly one exported symbol"},
    {"file.imports", NULL, rule_imports, "no call that changes the process or bypasses the host"},
    {"load.works", NULL, rule_load, "all symbols resolve and the entry point answers, the same each time"},
    {"load.state", NULL, rule_state, "loading leaves the process as it was"},
    {"load.time", NULL, rule_time, "loading takes less than 100 ms"},
    {"load.threads", NULL, rule_threads, "loading starts no threads"},
    {"descriptor.plugin", NULL, rule_plugin, "the plugin's descriptor is sound"},
    {"descriptor.components", NULL, rule_components, "every component's descriptor and functions are sound"},
    {"descriptor.params", NULL, rule_params, "parameters are documented, defaults lie within bounds"},
    {"descriptor.unique", NULL, rule_unique, "no component occurs twice"},
    {"load.accepted", NULL, rule_accepted, "dpframe loads the file"},
};
const struct check_rules check_file_rules = CHECK_RULES(rules);
