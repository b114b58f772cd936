/* SPDX-License-Identifier: Apache-2.0 */
#include "run/summary_table.h"

#include <string.h>

#include "base/sheet.h"
#include "base/terminal.h"

/* Numbers of records and users among the metrics have no decimals. */
static int decimals(const char *name)
{
    return strstr(name, "cold-records") || strstr(name, "users-") ? 0 : 4;
}

static void add_metrics(struct sheet *table, const struct results *results)
{
    sheet_column(table, "test metric", SHEET_LEFT);
    sheet_column(table, "this run", SHEET_RIGHT);
    for (int i = 0; i < results->n_comparisons; i++)
        sheet_column(table, results->comparisons[i].name, SHEET_RIGHT);
    for (int64_t m = 0; m < results->test->n; m++) {
        const struct metric *metric = &results->test->items[m];
        sheet_text(table, metric->name);
        sheet_fixed(table, metric->value, decimals(metric->name));
        for (int i = 0; i < results->n_comparisons; i++)
            sheet_fixed(table, metrics_find(&results->comparisons[i].metrics, metric->name),
                        decimals(metric->name));
    }
}

/* What else the table shows than this run: one line for each kind that is there. */
static void add_notes(struct text *text, const struct results *results, int width)
{
    const char *exact[] = {"popularity", "mean", "biases"};
    struct text note = {0};
    for (size_t k = 0; k < sizeof exact / sizeof exact[0]; k++)
        for (int i = 0; i < results->n_comparisons; i++)
            if (strcmp(results->comparisons[i].name, exact[k]) == 0)
                text_add(&note, note.length ? ", %s" : "%s", exact[k]);
    if (note.length)
        text_add(&note, ": of exact records, without privacy%s.\n",
                 results->plan->model.params.values[MODEL_HOME_TERMS].integer ? " and without home terms"
                                                                              : "");
    for (int i = 0; i < results->n_comparisons; i++)
        if (results->comparisons[i].epsilon > 0)
            text_add(
                &note,
                "%s: a model trained from these records with epsilon %.4g, not released; its figures are "
                "private.\n",
                results->comparisons[i].name, results->comparisons[i].epsilon);
    if (note.length)
        terminal_wrap(text, "", 0, note.data, width);
    text_free(&note);
}

static void add_released(struct text *text, const struct metrics *released, int width)
{
    struct sheet table = {0};
    sheet_column(&table, "released", SHEET_LEFT);
    sheet_column(&table, "with noise", SHEET_RIGHT);
    sheet_column(&table, "noise (std)", SHEET_RIGHT);
    for (int64_t m = 0; m < released->n; m++) {
        sheet_text(&table, released->items[m].name);
        sheet_fixed(&table, released->items[m].value, 4);
        sheet_fixed(&table, released->items[m].noise, 4);
    }
    sheet_write(&table, SHEET_TEXT, width, text);
    sheet_free(&table);
    text_add(text, "In the ledger, and part of the guarantee below.\n\n");
}

char *summary_table(const struct results *results, int width)
{
    struct sheet table = {0};
    struct text text = {0};
    if (results->released)
        add_released(&text, results->released, width);
    add_metrics(&table, results);
    sheet_write(&table, SHEET_TEXT, width, &text);
    add_notes(&text, results, width);
    sheet_free(&table);
    text_add(&text, "Test metrics: private, not covered by a guarantee.\n");
    return text.data;
}
