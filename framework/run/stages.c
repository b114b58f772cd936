/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    return (struct stage_cost){progress_clock(), processor_clock(), file_bytes(), 0};
}

void stages_begin(struct stages *stages, double started)
{
    *stages = (struct stages){.now = STAGE_CONFIGURE, .since = cost_now()};
    /* What came before, as far as the caller has seen it. */
    stages->started = started > 0 ? started : stages->since.wall;
    stages->at[STAGE_CONFIGURE].wall = stages->since.wall - stages->started;
}

void stages_enter(struct stages *stages, enum stage next)
{
    const struct stage_cost now = cost_now();
    struct stage_cost *cost = &stages->at[stages->now];
    cost->wall += now.wall - stages->since.wall;
    cost->cpu += now.cpu - stages->since.cpu;
    cost->bytes += now.bytes - stages->since.bytes;
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
                                   1e9 * json_number_value(json_object_get(limits, "sgemm-gflop-s"))};
    const char *why = root ? "limits triad-gb-s and sgemm-gflop-s are missing" : fault.text;
    const int status = out->bytes > 0 && out->flops > 0
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
    const double of_bytes = limits->bytes > 0 ? cost->bytes / limits->bytes / cost->wall : 0,
                 of_flops = limits->flops > 0 ? cost->flops / limits->flops / threads / cost->wall : 0;
    sheet_text(table, name);
    sheet_fixed(table, cost->wall, 3);
    sheet_fixed(table, 100 * cost->wall / total, 1);
    sheet_fixed(table, cost->cpu, 3);
    sheet_fixed(table, cost->wall > 0 ? cost->cpu / cost->wall : 0, 2);
    add_amount(table, cost->bytes, 1e9);
    add_amount(table, cost->flops, 1e9);
    if (limits->bytes > 0 && fmax(of_bytes, of_flops) > 0) {
        sheet_fixed(table, 100 * fmax(of_bytes, of_flops), 1);
        sheet_text(table, of_bytes > of_flops ? "triad" : "sgemm");
    } else {
        sheet_text(table, "");
        sheet_text(table, "");
    }
}

int stages_print(const struct stages *stages, const struct machine_limits *limits, int threads,
                 struct dpf_error *error)
{
    static const char *const columns[] = {"stage", "seconds", "%",          "CPU s", "cores",
                                          "GB",    "Gflop",   "% of limit", "limit"};
    struct sheet table = {0};
    struct text text = {0};
    struct stage_cost total = {0, 0, 0, 0};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        sheet_column(&table, columns[c], c == 0 || c == 8 ? SHEET_LEFT : SHEET_RIGHT);
    for (int s = 0; s < STAGES; s++) {
        total.wall += stages->at[s].wall;
        total.cpu += stages->at[s].cpu;
    }
    for (int s = 0; s < STAGES; s++)
        if (stages->at[s].wall > 0)
            add_stage(&table, stage_names[s], &stages->at[s], total.wall, limits, threads);
    add_stage(&table, "total", &total, total.wall, limits, threads);
    const int status =
        sheet_write(&table, SHEET_TEXT, terminal_width(STDOUT_FILENO), &text) == 0 ? 0 : error_memory(error);
    if (status == 0)
        printf("\n%s", text.data);
    sheet_free(&table);
    text_free(&text);
    return status;
}
