/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary_table.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void add_cell(struct text *text, double value)
{
    if (isfinite(value))
        text_add(text, "  %12.4f", value);
    else
        text_add(text, "  %12s", "n/a");
}

char *summary_table(const struct results *results)
{
    struct text text = {0};
    text_add(&text, "%-16s  %12s", "test metric", "this run");
    for (int i = 0; i < results->n_comparisons; i++)
        text_add(&text, "  %12.12s", results->comparisons[i].name);
    text_add(&text, "\n");
    for (int64_t m = 0; m < results->test->n; m++) {
        const struct metric *metric = &results->test->items[m];
        text_add(&text, "%-16s", metric->name);
        add_cell(&text, metric->value);
        for (int i = 0; i < results->n_comparisons; i++)
            add_cell(&text, metrics_find(&results->comparisons[i].metrics, metric->name));
        text_add(&text, "\n");
    }
    return text.data;
}
