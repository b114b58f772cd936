/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/drawn_run.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/sections.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "run/run_once.h"
#include "run/session_warnings.h"

#define TRIES 30 /* of a key before it is likely that it cannot be done */

/* ---- the harness's own -------------------------------------------------------------------------------- */

static double number_of(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtod(text, NULL) : otherwise;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void drawn_remove(const struct drawn *drawn, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", drawn->directory, name);
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int drawn_open(struct drawn *drawn, int64_t count)
{
    struct dpf_error error = {0};
    const char *build = getenv("DPFRAME_BUILD_DIR"), *source = getenv("DPFRAME_SOURCE_DIR");
    *drawn = (struct drawn){.seconds = number_of("DPFRAME_DRAW_SECONDS", 0),
                            .count = (int64_t)number_of("DPFRAME_DRAW_COUNT", (double)count),
                            .first_only = getenv("DPFRAME_DRAW_FIRST") != NULL};
    snprintf(drawn->directory, sizeof drawn->directory, "%s/dpframe-drawn-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!build || !source || sodium_init() < 0 || !mkdtemp(drawn->directory))
        return -1;
    char plugins[256];
    snprintf(plugins, sizeof plugins, "%s/plugins", drawn->directory);
    mkdir(plugins, 0777);
    log_set_level(getenv("DPFRAME_DRAW_TELL") ? LOG_LEVEL_WARNING : LOG_LEVEL_NONE);
    draw_seed(&drawn->random, (uint64_t)number_of("DPFRAME_DRAW_SEED", 1));
    if (draw_keys_open(&drawn->keys, build, &error) == 0 &&
        draw_bases_open(&drawn->bases, &drawn->keys, source, &error) == 0) {
        drawn->keys.tries = TRIES;
        return 0;
    }
    fprintf(stderr, "%s\n", error.text);
    return -1;
}

void drawn_close(struct drawn *drawn)
{
    drawn_remove(drawn, ".");
    draw_bases_free(&drawn->bases);
    draw_bases_free(&drawn->kept);
    draw_keys_free(&drawn->keys);
}

int drawn_goes_on(const struct drawn *drawn, int64_t n)
{
    static struct timespec begin;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (n == 0)
        begin = now;
    return drawn->seconds > 0 ? (double)(now.tv_sec - begin.tv_sec) < drawn->seconds : n < drawn->count;
}

/* ---- commands ----------------------------------------------------------------------------------------- */

int drawn_write_text(const struct drawn *drawn, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/config.ini", drawn->directory);
    FILE *file = fopen(path, "w");
    const int failed = !file || !text || fputs(text, file) < 0;
    return file && fclose(file) == 0 && !failed ? 0 : -1;
}

int drawn_write(const struct drawn *drawn, const struct drawing *drawing)
{
    char *text = drawing_text(drawing, drawn->directory);
    const int status = drawn_write_text(drawn, text);
    free(text);
    return status;
}

static void arguments_of(const struct drawn *drawn, struct arguments *arguments, char path[256])
{
    int n;
    snprintf(path, 256, "%s/config.ini", drawn->directory);
    *arguments = (struct arguments){.config = path, .quiet = 1, .n_plugin_dirs = 1};
    arguments->plugin_dirs[0] = draw_plugins(getenv("DPFRAME_BUILD_DIR"));
    arguments->sections = sections_of_use_cases(&n);
    arguments->n_sections = n;
}

int drawn_session(const struct drawn *drawn, struct session *session, struct dpf_error *error)
{
    struct arguments *arguments = memory_new(1, sizeof *arguments);
    char path[256];
    if (!arguments)
        return error_memory(error);
    arguments_of(drawn, arguments, path);
    const int status = session_open(session, arguments, 0, error);
    free(arguments);
    return status;
}

int drawn_check(const struct drawn *drawn, struct session *session, struct dpf_error *error)
{
    int status = drawn_session(drawn, session, error);
    if (status == 0)
        status = session_complete_without_training(session, error);
    if (status == 0)
        status = session_check(session, error);
    if (status == 0)
        plan_measure(&session->plan);
    if (status == 0)
        status = plan_charge(&session->plan, 0, error);
    return status;
}

int drawn_train(const struct drawn *drawn, const char *name, struct dpf_error *error)
{
    struct arguments *arguments = memory_new(1, sizeof *arguments);
    char path[256], output[256];
    if (!arguments)
        return error_memory(error);
    arguments_of(drawn, arguments, path);
    snprintf(output, sizeof output, "%s/%s", drawn->directory, name);
    arguments->output = output;
    const struct run_request request = {.arguments = arguments, .threads = 1, .quiet = 1, .whole_process = 1};
    const int status = run_once(&request, error);
    free(arguments);
    return status == 0 ? 0 : error->fault ? (int)error->fault : DPF_FAULT_RUN;
}

int drawn_names_key(const struct drawn *drawn, const struct dpf_error *error)
{
    const char *bracket = strchr(error->text, '[');
    while (bracket && !(bracket[1] >= 'a' && bracket[1] <= 'z' && strchr(bracket, ']')))
        bracket = strchr(bracket + 1, '[');
    if (*error->key || bracket)
        return 1;
    for (int i = 0; i < drawn->keys.n; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s", drawn->keys.list[i].place, drawn->keys.list[i].param->name);
        if (strstr(error->text, name))
            return 1;
    }
    return 0;
}

const char *drawn_time(void)
{
    static char text[16];
    struct tm at;
    const time_t now = time(NULL);
    if (!localtime_r(&now, &at) || strftime(text, sizeof text, "%H:%M:%S", &at) == 0)
        snprintf(text, sizeof text, "?");
    return text;
}

int drawn_count_below(const struct drawn *drawn, int64_t least)
{
    int below = 0;
    for (int i = 0; i < drawn->keys.n; i++)
        below += !drawn->keys.list[i].left_out && drawn->keys.list[i].done < least;
    return below;
}

int drawn_count_missing(const struct drawn *drawn)
{
    int missing = 0;
    for (int i = 0; i < drawn->keys.n; i++)
        missing += draw_is_missing(&drawn->keys, &drawn->keys.list[i]);
    return missing;
}

int drawn_print_keys(const struct drawn *drawn, int64_t least, int all)
{
    for (int i = 0; i < drawn->keys.n; i++) {
        const struct draw_key *key = &drawn->keys.list[i];
        const int is_below = !key->left_out && key->done < least;
        char name[160];
        if (!all && !is_below)
            continue;
        printf("%8lld of %lld %s%s%s", (long long)key->done, (long long)key->tried, draw_key_name(key, name),
               key->left_out ? ": not drawn, " : "", key->left_out ? key->left_out : "");
        for (int v = 0; v < DRAW_VALUES; v++)
            if (key->by_value[v])
                printf(" %s=%lld",
                       key->param->type == DPF_TYPE_ENUM && v < key->param->n_values
                           ? key->param->values[v].name
                           : "",
                       (long long)key->by_value[v]);
        printf("\n");
    }
    return drawn_count_below(drawn, least);
}
