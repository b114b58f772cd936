/* SPDX-License-Identifier: Apache-2.0 */
/* check and account of a sweep: the statement of each of its points, one row each. Nothing is trained. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/sheet.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "sweep/sweep_point.h"
#include "sweep/sweep_statements.h"
#include "sweep/together.h"
#include "plan/charge.h"
#include "plan/plan_make.h"

struct statements {
    const struct arguments *arguments;
    struct design design;
    struct points points;
    json_t *list; /* for --json */
    json_t *together;
    struct sheet table;
    size_t n_refused;
};

static void add_statement(struct statements *statements, const char *name, const struct guarantee *guarantee)
{
    guarantee_row(guarantee, *name ? name : "each run", &statements->table);
    json_array_append_new(statements->list,
                          json_pack("{s:s, s:o}", "name", name, "guarantee", guarantee_json(guarantee)));
}

static void add_refusal(struct statements *statements, const char *name, const struct dpf_error *problem)
{
    statements->n_refused++;
    fprintf(stderr, "dpframe: %s%s%s\n", name, *name ? ": " : "", problem->text);
    json_array_append_new(statements->list, json_pack("{s:s, s:s}", "name", name, "error", problem->text));
}

static void add_point(struct statements *statements, struct point *point)
{
    struct dpf_error problem = {0};
    struct session session = {0};
    char *name = point_row_name(&statements->design, point);
    int status = sweep_point_open(statements->arguments, &statements->design, point, &session, &problem);
    if (status == 0)
        status = session_complete_without_training(&session, &problem);
    if (status == 0 && statements->arguments->json) /* the table has no room */
        plan_measure(&session.plan);
    if (status == 0)
        status = plan_charge(&session.plan, 0, &problem);
    if (status == 0)
        add_statement(statements, name, &session.plan.guarantee);
    else if (!interrupt_is_wanted())
        add_refusal(statements, name, &problem);
    session_close(&session);
    free(name);
}

/* A seed or a fold changes no guarantee, but it may be none. */
static void open_repeat(struct statements *statements, struct point *point)
{
    struct dpf_error problem = {0};
    struct session session = {0};
    if (sweep_point_open(statements->arguments, &statements->design, point, &session, &problem) != 0)
        add_refusal(statements, point->name, &problem);
    session_close(&session);
}

static int add_points(struct statements *statements, struct dpf_error *error)
{
    const struct points *points = &statements->points;
    size_t rows = 0;
    guarantee_row_columns(&statements->table);
    for (size_t i = 0; i < points->n; i++) {
        const int repeats =
            i > 0 && point_repeats(&statements->design, &points->items[i - 1], &points->items[i]);
        rows += !repeats;
        if (!repeats)
            add_point(statements, &points->items[i]);
        else if (rows == 1 || statements->design.mode == DESIGN_ZIP) /* the other rows have the same ones */
            open_repeat(statements, &points->items[i]);
        if (interrupt_check("points were looked at", error) != 0)
            return -1;
    }
    return 0;
}

/* Into a file it goes as Markdown. */
static void print_table(const struct sheet *table)
{
    struct text text = {0};
    const int is_terminal = isatty(STDOUT_FILENO);
    sheet_write(table, is_terminal ? SHEET_TEXT : SHEET_MARKDOWN, terminal_width(STDOUT_FILENO), &text);
    fputs(text.data, stdout);
    text_free(&text);
}

static void print_together(const json_t *together)
{
    struct text text = {0}, wrapped = {0};
    together_say(together, &text);
    if (text.length) {
        text_add(&wrapped, "\n");
        terminal_wrap(&wrapped, "", 0, text.data, terminal_width(STDOUT_FILENO));
        fputs(wrapped.data ? wrapped.data : "", stdout);
    }
    text_free(&text);
    text_free(&wrapped);
}

int sweep_statements(const struct arguments *arguments, struct dpf_error *error)
{
    struct statements statements = {.arguments = arguments, .list = json_array()};
    log_set_level(LOG_LEVEL_WARNING); /* what is known of the data would be said once for each point */
    struct config *config = sweep_points_read(arguments, &statements.design, &statements.points, error);
    config_free(config);
    int status = config ? 0 : -1;
    if (status == 0)
        status = add_points(&statements, error);
    if (status == 0) {
        statements.together = together_json(arguments, &statements.design, &statements.points, NULL, error);
        status = statements.together ? 0 : -1;
    }
    if (status == 0 && arguments->json) {
        json_array_extend(statements.list, statements.together);
        json_dumpf(statements.list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putchar('\n');
    } else if (status == 0) {
        print_table(&statements.table);
        print_together(statements.together);
    }
    if (status == 0 && statements.n_refused)
        status = error_set(error, DPF_FAULT_CONFIG, "%zu configurations of the sweep cannot be run",
                           statements.n_refused);
    json_decref(statements.list);
    json_decref(statements.together);
    sheet_free(&statements.table);
    points_free(&statements.points);
    design_free(&statements.design);
    return status;
}
