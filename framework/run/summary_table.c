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

static void add_cell(struct text *text, double value, int count, int width)
{
    if (isfinite(value))
        text_add(text, "  %*.*f", width, count ? 0 : 4, value);
    else
        text_add(text, "  %*s", width, "n/a");
}

static int name_width(const struct results *results)
{
    size_t width = strlen("test metric");
    for (int64_t m = 0; m < results->test->n; m++)
        if (strlen(results->test->items[m].name) > width)
            width = strlen(results->test->items[m].name);
    return (int)width;
}

/* Names of models stand over their columns in full. */
static int column_width(const struct results *results, int column)
{
    const size_t length = strlen(results->comparisons[column].name);
    return length > 12 ? (int)length : 12;
}

/* What else the table shows than this run: one line for each kind that is there. */
static void add_notes(struct text *text, const struct results *results)
{
    const char *exact[] = {"popularity", "mean", "biases"};
    int n = 0;
    for (size_t k = 0; k < sizeof exact / sizeof exact[0]; k++)
        for (int i = 0; i < results->n_comparisons; i++)
            if (strcmp(results->comparisons[i].name, exact[k]) == 0)
                text_add(text, n++ ? ", %s" : "%s", exact[k]);
    if (n)
        text_add(text, ": of exact records, without privacy.\n");
    for (int i = 0; i < results->n_comparisons; i++)
        if (results->comparisons[i].epsilon > 0)
            text_add(
                text,
                "%s: a model trained from these records with epsilon %.4g, not released; its figures are "
                "private.\n",
                results->comparisons[i].name, results->comparisons[i].epsilon);
}

static void add_released(struct text *text, const struct metrics *released, int width)
{
    text_add(text, "%-*s  %12s  %12s\n", width, "released", "with noise", "noise (std)");
    for (int64_t m = 0; m < released->n; m++) {
        const struct metric *metric = &released->items[m];
        text_add(text, "%-*s", width, metric->name);
        add_cell(text, metric->value, 0, 12);
        add_cell(text, metric->noise, 0, 12);
        text_add(text, "\n");
    }
    text_add(text, "In the ledger, and part of the guarantee below.\n\n");
}

char *summary_table(const struct results *results)
{
    struct text text = {0};
    int width = name_width(results);
    if (results->released)
        add_released(&text, results->released, width);
    text_add(&text, "%-*s  %12s", width, "test metric", "this run");
    for (int i = 0; i < results->n_comparisons; i++)
        text_add(&text, "  %*s", column_width(results, i), results->comparisons[i].name);
    text_add(&text, "\n");
    for (int64_t m = 0; m < results->test->n; m++) {
        const struct metric *metric = &results->test->items[m];
        int count = is_count(metric->name);
        text_add(&text, "%-*s", width, metric->name);
        add_cell(&text, metric->value, count, 12);
        for (int i = 0; i < results->n_comparisons; i++)
            add_cell(&text, metrics_find(&results->comparisons[i].metrics, metric->name), count,
                     column_width(results, i));
        text_add(&text, "\n");
    }
    add_notes(&text, results);
    text_add(&text, "Test metrics: private, not covered by a guarantee.\n");
    return text.data;
}
