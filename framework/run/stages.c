/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stages.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/keystream.h"
#include "base/sheet.h"
#include "base/terminal.h"
#include "run/progress.h"

const char *const stage_names[STAGES] = {"configure", "load",    "plan",  "train",
                                         "evaluate",  "budgets", "write", "verdict"};

static double processor_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Bytes that passed through system calls, where the system counts them. */
static double file_bytes(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long read = 0, written = 0;
    if (!file)
        return 0;
    if (fscanf(file, "rchar: %llu wchar: %llu", &read, &written) != 2)
        read = written = 0;
    fclose(file);
    return (double)read + (double)written;
}

static struct stage_cost cost_now(void)
{
    return (struct stage_cost){.wall = progress_clock(),
                               .cpu = processor_clock(),
                               .bytes = file_bytes(),
                               .stream = (double)keystream_counted()};
}

/* Seconds that the process has lived, which no clock of it has seen from the beginning; 0 if they are not
   known. Field 22 of the file, the second field being a name in parentheses. */
static double process_age(void)
{
    char text[1024], *at;
    struct timespec now;
    unsigned long long ticks;
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    const double age =
        (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - (double)ticks / (double)sysconf(_SC_CLK_TCK);
    return age > 0 ? age : 0;
}

void stages_begin(struct stages *stages, int whole)
{
    *stages = (struct stages){.now = STAGE_CONFIGURE, .since = cost_now()};
    if (!whole)
        return;
    stages->at[STAGE_CONFIGURE].wall = process_age();
    stages->at[STAGE_CONFIGURE].cpu = stages->since.cpu;
}

void stages_enter(struct stages *stages, enum stage next)
{
    const struct stage_cost now = cost_now();
    struct stage_cost *cost = &stages->at[stages->now];
    cost->wall += now.wall - stages->since.wall;
    cost->cpu += now.cpu - stages->since.cpu;
    cost->bytes += now.bytes - stages->since.bytes;
    cost->stream += now.stream - stages->since.stream;
    stages->since = now;
    stages->now = next;
}

json_t *stages_json(const struct stages *stages)
{
    json_t *object = json_object();
    double total = 0;
    for (int s = 0; s < STAGES; s++) {
        total += stages->at[s].wall;
        json_object_set_new(object, stage_names[s], json_real(stages->at[s].wall));
    }
    json_object_set_new(object, "total", json_real(total));
    return object;
}

int machine_limits_read(const char *path, struct machine_limits *out, struct dpf_error *error)
{
    json_error_t fault;
    json_t *root = json_load_file(path, 0, &fault);
    const json_t *limits = root ? json_object_get(root, "limits") : NULL;
    *out = (struct machine_limits){1e9 * json_number_value(json_object_get(limits, "triad-gb-s")),
                                   1e9 * json_number_value(json_object_get(limits, "sgemm-gflop-s")),
                                   1e9 * json_number_value(json_object_get(limits, "keystream-gb-s"))};
    const char *why =
        root ? "a limit is missing: triad-gb-s, sgemm-gflop-s and keystream-gb-s are needed" : fault.text;
    const int status = out->bytes > 0 && out->flops > 0 && out->stream > 0
                           ? 0
                           : error_set(error, DPF_FAULT_CONFIG,
                                       "--profile=%s: these are no limits of a machine: %s; \"scripts/bench "
                                       "machine\" writes them",
                                       path, why);
    json_decref(root);
    return status;
}

/* ---- the table -------------------------------------------------------------------------------------------
 */

static void add_amount(struct sheet *table, double amount, double unit)
{
    if (amount > 0)
        sheet_fixed(table, amount / unit, 3);
    else
        sheet_text(table, "");
}

static void add_stage(struct sheet *table, const char *name, const struct stage_cost *cost, double total,
                      const struct machine_limits *limits, int threads)
{
    static const char *const names[] = {"triad", "sgemm", "keystream"};
    const double seconds[] = {limits->bytes > 0 ? cost->bytes / limits->bytes : 0,
                              limits->flops > 0 ? cost->flops / limits->flops / threads : 0,
                              limits->stream > 0 ? cost->stream / limits->stream / threads : 0};
    int nearest = 0;
    for (int l = 1; l < 3; l++)
        nearest = seconds[l] > seconds[nearest] ? l : nearest;
    sheet_text(table, name);
    sheet_fixed(table, cost->wall, 3);
    sheet_fixed(table, 100 * cost->wall / total, 1);
    sheet_fixed(table, cost->cpu, 3);
    sheet_fixed(table, cost->wall > 0 ? cost->cpu / cost->wall : 0, 2);
    add_amount(table, cost->bytes, 1e9);
    add_amount(table, cost->flops, 1e9);
    add_amount(table, cost->stream, 1e9);
    if (seconds[nearest] > 0)
        sheet_printf(table, "%5.1f %s", 100 * seconds[nearest] / cost->wall, names[nearest]);
    else
        sheet_text(table, "");
}

void stages_print(const struct stages *stages, const struct machine_limits *limits, int threads)
{
    static const char *const columns[] = {"stage", "seconds", "%",      "CPU s",     "cores",
                                          "GB",    "Gflop",   "stream", "% of limit"};
    struct sheet table = {0};
    struct text text = {0};
    struct stage_cost total = {0};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        sheet_column(&table, columns[c], c == 0 || c == 8 ? SHEET_LEFT : SHEET_RIGHT);
    for (int s = 0; s < STAGES; s++) {
        total.wall += stages->at[s].wall;
        total.cpu += stages->at[s].cpu;
        total.stream += stages->at[s].stream;
    }
    for (int s = 0; s < STAGES; s++)
        if (stages->at[s].wall > 0)
            add_stage(&table, stage_names[s], &stages->at[s], total.wall, limits, threads);
    add_stage(&table, "total", &total, total.wall, limits, threads);
    sheet_write(&table, SHEET_TEXT, terminal_width(STDOUT_FILENO), &text);
    printf("\n%s", text.data);
    sheet_free(&table);
    text_free(&text);
}
