/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweep_report.h"

#include <stdio.h>

#include "base/log.h"
#include "sweep/html_report.h"
#include "sweep/outcome_tables.h"
#include "sweep/sweep_list.h"

static int draw(const struct outcomes *outcomes, struct dpf_error *error)
{
    struct plots plots;
    int missing = 0;
    plots_make(outcomes, &plots);
    int status = html_report_write(outcomes, &plots, error);
    if (status == 0)
        status = plots_draw(&plots, outcomes->directory, &missing, error);
    if (status == 0 && missing)
        log_message(LOG_LEVEL_WARNING,
                    "gnuplot was not found: the page has its plots, but there are no plots/*.svg and .png "
                    "(Debian: gnuplot-nox)");
    plots_free(&plots);
    return status;
}

int sweep_report(const char *directory, const char *shown, struct dpf_error *error)
{
    struct outcomes outcomes;
    if (outcomes_read(directory, &outcomes, error) != 0)
        return -1;
    int status = outcome_tables_write(&outcomes, error);
    if (status == 0)
        status = draw(&outcomes, error);
    if (status == 0)
        printf("%s/report.html\n", shown);
    outcomes_free(&outcomes);
    return status == 0 ? sweep_list_missing(directory, error) : status;
}
