/* SPDX-License-Identifier: Apache-2.0 */
#include "account/account_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/json_out.h"
#include "base/log.h"
#include "plot/csv_plot.h"
#include "privacy/dp_event.h"
#include "run/certificate.h"

typedef int (*series)(const struct guarantee *, struct instance *const *, int, const struct ledger *, int64_t,
                      FILE *, struct dpf_error *);

static int write_series(const struct plan *plan, const char *path, series write, struct dpf_error *error)
{
    struct files_write file;
    if (files_open_write(&file, path, error) != 0)
        return -1;
    if (write(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger, plan->run_facts.rounds,
              file.stream, error) == 0)
        return files_commit_write(&file, error);
    files_abandon_write(&file);
    return -1;
}

/* Draws the picture beside the file. A device or a pipe has no place beside it. */
static int draw_series(const struct csv_plot *plot, struct dpf_error *error)
{
    struct stat info;
    int missing = 0;
    if (stat(plot->path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    const int status = csv_plot_draw(plot, &missing, error);
    if (missing)
        fprintf(stderr, "dpframe: %s is not drawn: gnuplot is not installed\n", plot->path);
    return status;
}

static int write_curve(const struct plan *plan, const char *path, struct dpf_error *error)
{
    const struct csv_plot plot = {.path = path,
                                  .key = 1,
                                  .x = 2,
                                  .y = 3,
                                  .x_label = "epsilon",
                                  .y_label = "delta",
                                  .title = "Delta for each epsilon",
                                  .log_y = 1,
                                  .y_least = 1e-12};
    return !path ? 0 : write_series(plan, path, curve_write, error) == 0 ? draw_series(&plot, error) : -1;
}

static int write_odometer(const struct plan *plan, const char *path, struct dpf_error *error)
{
    const struct csv_plot plot = {.path = path,
                                  .key = 2,
                                  .x = 1,
                                  .y = 3,
                                  .x_label = "round",
                                  .y_label = "epsilon",
                                  .title = "Epsilon after so many rounds"};
    return !path ? 0 : write_series(plan, path, odometer_write, error) == 0 ? draw_series(&plot, error) : -1;
}

static int write_ledger(const struct plan *plan, const char *path, struct dpf_error *error)
{
    if (!path)
        return 0;
    json_t *file = dp_event_file(&plan->ledger, &plan->guarantee);
    const json_t *event = json_object_get(file, "event");
    const int status = json_write(path, json_incref(file), error);
    const int64_t unsupported = dp_event_unsupported(event);
    if (status == 0 && unsupported > 0)
        log_message(LOG_LEVEL_WARNING,
                    "%s: %lld of %lld events are an UnsupportedDpEvent, so dp_accounting refuses the ledger: "
                    "it has no class for mechanism pbm, for a selection among candidates that cost different "
                    "things, nor for "
                    "noise about which nothing is proved",
                    path, (long long)unsupported, (long long)plan->ledger.n);
    json_decref(file);
    return status;
}

static int write_certificate(const struct plan *plan, const char *path, struct dpf_error *error)
{
    if (!path)
        return 0;
    return json_write(path, certificate_json(plan), error);
}

int account_files_write(const struct plan *plan, const struct account_files *files, struct dpf_error *error)
{
    return write_curve(plan, files->curve, error) != 0 || write_odometer(plan, files->odometer, error) != 0 ||
                   write_ledger(plan, files->ledger, error) != 0 ||
                   write_certificate(plan, files->certificate, error) != 0
               ? -1
               : 0;
}
