/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "plan/plan_make.h"
#include "plan/repeat.h"
#include "privacy/statement.h"
#include "sweep/sweep_point.h"

static int has_folds(const struct design *design)
{
    for (size_t i = 0; i < design->n_axes; i++)
        if (strcmp(design->axes[i].key, "split.fold") == 0)
            return 1;
    return 0;
}

static int add_row(json_t *rows, const struct design *design, const struct point *point, int64_t runs,
                   const struct runs_cost *cost, struct dpf_error *error)
{
    char *name = point_row_name(design, point);
    json_t *row = json_pack("{s:s, s:I, s:f, s:f, s:s}", "row", name, "runs", (json_int_t)runs, "epsilon",
                            cost->epsilon, "delta", cost->delta, "accountant", cost->accountant);
    free(name);
    return row && json_array_append_new(rows, row) == 0 ? 0 : error_memory(error);
}

/* ---- room in ledgers --------------------------------------------------------------------------------- */

/* What all rows so far will be charged, by ledger: variants may name several. */
struct due {
    char *ledger;
    struct runs_due runs;
};
struct dues {
    struct due *items;
    size_t n, capacity;
};

static struct runs_due *due_of(struct dues *dues, const char *ledger)
{
    for (size_t i = 0; i < dues->n; i++)
        if (strcmp(dues->items[i].ledger, ledger) == 0)
            return &dues->items[i].runs;
    dues->items = memory_need_grow(dues->items, &dues->capacity, dues->n + 1, sizeof *dues->items);
    dues->items[dues->n] = (struct due){.ledger = memory_text(ledger)};
    return &dues->items[dues->n++].runs;
}

static void dues_free(struct dues *dues)
{
    for (size_t i = 0; i < dues->n; i++) {
        free(dues->items[i].ledger);
        ledger_free(&dues->items[i].runs.releases);
    }
    free(dues->items);
}

static int check_room(struct plan *plan, int64_t runs, struct dues *dues, struct dpf_error *error)
{
    const char *ledger = plan->privacy.params.values[PRIVACY_LEDGER].text;
    struct dpf_error problem = {0};
    if (!*ledger || runs == 0)
        return 0;
    struct runs_due *due = due_of(dues, ledger);
    return repeat_room(plan, runs, due, &problem) == 0
               ? 0
               : error_set(error, problem.fault, "%lld folds and seeds that are not charged yet: %s",
                           (long long)due->runs, problem.text);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* A row whose configuration is at fault is told of by its points. */
static int compose(const struct arguments *arguments, const struct design *design, const struct point *point,
                   int64_t runs, int64_t to_charge, struct dues *dues, json_t *rows, struct dpf_error *error)
{
    struct session session = {0};
    struct dpf_error problem = {0};
    struct runs_cost cost;
    int status = 0;
    if (sweep_point_open(arguments, design, point, &session, &problem) == 0 &&
        session_complete_without_training(&session, &problem) == 0 &&
        statement_holds(&session.plan.guarantee)) {
        status = check_room(&session.plan, to_charge, dues, error);
        if (status == 0)
            status = repeat_runs(&session.plan, runs, &cost, error);
        if (status == 0 && isfinite(cost.epsilon))
            status = add_row(rows, design, point, runs, &cost, error);
    }
    session_close(&session);
    return status == 0 ? interrupt_check("points were composed", error) : -1;
}

json_t *together_json(const struct arguments *arguments, const struct design *design,
                      const struct points *points, const unsigned char *done, struct dpf_error *error)
{
    json_t *rows = json_array();
    struct dues dues = {0};
    int status = 0;
    const size_t n = has_folds(design) ? points->n : 0;
    for (size_t first = 0, end; first < n && status == 0; first = end) {
        int64_t to_charge = 0;
        for (end = first; end < n && point_repeats(design, &points->items[first], &points->items[end]); end++)
            to_charge += !done || !done[end];
        status = compose(arguments, design, &points->items[first], (int64_t)(end - first), to_charge, &dues,
                         rows, error);
    }
    dues_free(&dues);
    if (status == 0)
        return rows;
    json_decref(rows);
    return NULL;
}

void together_say(const json_t *together, struct text *out)
{
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)(uintptr_t)together, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "row"));
        const char *accountant = json_string_value(json_object_get(row, "accountant"));
        char number[32];
        if (i == 0)
            text_add(out, "Each epsilon above is that of one run. Folds train on overlapping records, so "
                          "their releases add up:\n");
        text_add(out, "all %lld runs%s%s together have epsilon %s at delta %g (%s).\n",
                 (long long)json_integer_value(json_object_get(row, "runs")), name && *name ? " of " : "",
                 name ? name : "",
                 guarantee_number_up(json_number_value(json_object_get(row, "epsilon")), number),
                 json_number_value(json_object_get(row, "delta")), accountant ? accountant : "");
    }
}
