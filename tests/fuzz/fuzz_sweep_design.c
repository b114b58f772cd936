/* SPDX-License-Identifier: Apache-2.0 */
/* [sweep] on arbitrary bytes: refused with a reason, or points that have names of their own, fit for files.
 */
#include "fuzz_file.h"

#include "sweep/points.h"

#define MOST_NAMES 300 /* that are compared with each other */

static void check_points(const struct points *points)
{
    for (size_t i = 0; i < points->n; i++) {
        const char *name = points->items[i].name;
        PROMISE(*name && strlen(name) < 200 && !strchr(name, '/') && strcmp(name, ".") != 0 &&
                strcmp(name, "..") != 0);
        for (int s = 0; s < points->items[i].n_settings; s++)
            PROMISE(strchr(points->items[i].settings[s], '='));
        for (size_t j = 0; j < i && i < MOST_NAMES; j++)
            PROMISE(strcmp(points->items[j].name, name) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dpf_error error = {0};
    struct design design = {0};
    struct points points = {0};
    struct config *config = config_parse("fuzz", (const char *)data, size, &error);
    if (!config)
        return 0;
    if (design_read(config, &design, &error) == 0) {
        if (points_make(&design, &points, &error) == 0)
            check_points(&points);
        else
            PROMISE(!points.items && !points.n);
    }
    PROMISE((points.n > 0) == (error.fault == DPF_FAULT_NONE));
    points_free(&points);
    design_free(&design);
    config_free(config);
    return 0;
}
