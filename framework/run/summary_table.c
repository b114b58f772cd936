/* SPDX-License-Identifier: Apache-2.0 */
#include "run/summary_table.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* Numbers of records and users among the metrics have no decimals. */
static int is_count(const char *name)
{
    return strstr(name, "cold-records") || strstr(name, "users-");
}

static void add_cell(struct text *text, double value, int count)
{
    if (isfinite(value))
        text_add(text, "  %12.*f", count ? 0 : 4, value);
    else
        text_add(text, "  %12s", "n/a");
}

static int name_width(const struct results *results)
{
    size_t width = strlen("test metric");
    for (int64_t m = 0; m < results->test->n; m++)
        if (strlen(results->test->items[m].name) > width)
            width = strlen(results->test->items[m].name);
    return (int)width;
}

char *summary_table(const struct results *results)
{
    struct text text = {0};
    int width = name_width(results);
    text_add(&text, "%-*s  %12s", width, "test metric", "this run");
    for (int i = 0; i < results->n_comparisons; i++)
        text_add(&text, "  %12.12s", results->comparisons[i].name);
    text_add(&text, "\n");
    for (int64_t m = 0; m < results->test->n; m++) {
        const struct metric *metric = &results->test->items[m];
        int count = is_count(metric->name);
        text_add(&text, "%-*s", width, metric->name);
        add_cell(&text, metric->value, count);
        for (int i = 0; i < results->n_comparisons; i++)
            add_cell(&text, metrics_find(&results->comparisons[i].metrics, metric->name), count);
        text_add(&text, "\n");
    }
    return text.data;
}
