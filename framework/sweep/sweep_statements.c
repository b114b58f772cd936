/* SPDX-License-Identifier: Apache-2.0 */
/* check and account of a sweep: the statement of each of its points, one row each. Nothing is trained. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/sheet.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "sweep/sweep_point.h"
#include "sweep/sweep_statements.h"
#include "sweep/together.h"
#include "plan/plan_make.h"

/* Points that differ by their repetition alone. */
struct row {
    size_t at; /* of the point in it */
    int judged, refused;
    struct dpf_error told; /* the last refusal */
};

enum repeat { REPEAT_NEW, REPEAT_OPENS, REPEAT_REFUSED };

struct statements {
    const struct arguments *arguments;
    struct design design;
    struct points points;
    json_t *list; /* for --json */
    json_t *together;
    struct sheet table;
    struct row row;
    enum repeat *repeats; /* by their place in a row: what is known of their seeds and folds */
    size_t n_refused;     /* points */
};

static void add_statement(struct statements *statements, const char *name, const struct guarantee *guarantee)
{
    guarantee_row(guarantee, *name ? name : "each run", &statements->table);
    json_array_append_new(statements->list,
                          json_pack("{s:s, s:o}", "name", name, "guarantee", guarantee_json(guarantee)));
}

static void add_refusal(struct statements *statements, const char *name, const struct dpf_error *problem)
{
    fprintf(stderr, "dpframe: %s%s%s\n", name, *name ? ": " : "", problem->text);
    json_array_append_new(statements->list, json_pack("{s:s, s:s}", "name", name, "error", problem->text));
}

/* Whether the point cannot be run. Its row has one statement, and one refusal; a seed or a fold changes no guarantee, but it
   may be none, and is the same for all rows. */
static int add_point(struct statements *statements, struct point *point, const char *name)
{
    struct row *row = &statements->row;
    struct dpf_error problem = {0};
    struct session session = {0};
    enum repeat *known = &statements->repeats[row->at];
    if (row->judged && (row->refused || (*known && statements->design.mode != DESIGN_ZIP)))
        return row->refused || *known == REPEAT_REFUSED;
    int status = sweep_point_open(statements->arguments, &statements->design, point, &session, &problem);
    *known = status == 0 ? REPEAT_OPENS : REPEAT_REFUSED;
    if (status == 0 && !row->judged) {
        status = sweep_point_judge(&session, &problem);
        row->judged = 1;
        row->refused = status != 0;
        if (status == 0 && statements->arguments->json) /* the table has no room */
            plan_measure(&session.plan);
        if (status == 0)
            add_statement(statements, name, &session.plan.guarantee);
    }
    if (status != 0 && !interrupt_is_wanted() && strcmp(problem.text, row->told.text) != 0) {
        add_refusal(statements, row->at ? point->name : name, &problem);
        row->told = problem;
    }
    session_close(&session);
    return status != 0;
}

static int add_points(struct statements *statements, struct dpf_error *error)
{
    const struct points *points = &statements->points;
    guarantee_row_columns(&statements->table);
    statements->repeats = memory_need(points->n + 1, sizeof *statements->repeats);
    for (size_t i = 0; i < points->n; i++) {
        struct row *row = &statements->row;
        if (i > 0 && point_repeats(&statements->design, &points->items[i - 1], &points->items[i]))
            row->at++;
        else
            *row = (struct row){0};
        char *name = point_row_name(&statements->design, &points->items[i]);
        statements->n_refused += add_point(statements, &points->items[i], name) != 0;
        free(name);
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
        status = error_set(error, DPF_FAULT_CONFIG, "%zu of %zu points cannot be run", statements.n_refused,
                           statements.points.n);
    json_decref(statements.list);
    json_decref(statements.together);
    sheet_free(&statements.table);
    free(statements.repeats);
    points_free(&statements.points);
    design_free(&statements.design);
    return status;
}
