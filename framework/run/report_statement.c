/* SPDX-License-Identifier: Apache-2.0 */
#include "run/report_statement.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/json_in.h"
#include "base/memory.h"
#include "plot/html_page.h"
#include "privacy/guarantee.h"
#include "run/run_json.h"

/* The head of the statement is lines "Word   what", and their continuations, down to the first blank one. */
static void add_head(struct text *page, const char *text)
{
    const char *line = strchr(text, '\n');
    int is_open = 0;
    text_add(page, "<dl class=\"facts\">\n");
    line = line ? line + 1 + strspn(line + 1, "\n") : "";
    while (*line && *line != '\n') {
        const size_t length = strcspn(line, "\n"), word = strcspn(line, " \n");
        const size_t gap = word + strspn(line + word, " ");
        struct text part = {0};
        if (word > 0) {
            text_add(page, "%s<dt>%.*s</dt><dd>", is_open ? "</dd>\n" : "", (int)word, line);
            is_open = 1;
        } else if (is_open) {
            text_add(page, " ");
        }
        text_add(&part, "%.*s", (int)(gap < length ? length - gap : 0), line + (gap < length ? gap : length));
        html_text(page, part.data ? part.data : "");
        text_free(&part);
        line += length + (line[length] == '\n');
    }
    text_add(page, "%s</dl>\n", is_open ? "</dd>\n" : "");
}

/* Each accountant's answer in a line; "nothing" where there is none. */
static void add_accounts(struct text *page, const char *title, const json_t *accounts, const char *nothing)
{
    size_t i;
    json_t *account;
    html_element(page, "h3", title);
    if (json_array_size(accounts) == 0) {
        html_element(page, "p", nothing);
        text_add(page, "\n");
        return;
    }
    text_add(page, "<ul>\n");
    json_array_foreach(accounts, i, account)
    {
        char epsilon[32], delta[32];
        const double at = json_number_in(account, "epsilon");
        text_add(page, "<li><b>epsilon = %s",
                 isfinite(at) ? guarantee_digits_up(at, 6, epsilon) : "infinity");
        if (json_number_in(account, "delta") > 0)
            text_add(page, ", delta = %s", guarantee_digits_up(json_number_in(account, "delta"), 6, delta));
        text_add(page, "</b> (");
        html_text(page, json_text_in(account, "accountant"));
        text_add(page, "): ");
        html_text(page, json_text_in(account, "source"));
        if (json_is_true(json_object_get(account, "plan")))
            text_add(page, "; of the plan with secure noise, not of this run");
        text_add(page, "</li>\n");
    }
    text_add(page, "</ul>\n");
}

static void add_conditions(struct text *page, const json_t *conditions)
{
    struct sheet table = {.caption = "The conditions of a proof, and why each holds or fails"};
    size_t i, failing = 0;
    json_t *condition;
    sheet_column(&table, "condition", SHEET_LEFT);
    sheet_column(&table, "", SHEET_LEFT);
    sheet_column(&table, "why", SHEET_LEFT);
    json_array_foreach(conditions, i, condition)
    {
        const int holds = json_is_true(json_object_get(condition, "holds"));
        failing += !holds;
        sheet_printf(&table, "%s %s", json_text_in(condition, "id"), json_text_in(condition, "title"));
        sheet_text(&table, holds ? "holds" : "FAILS");
        sheet_text(&table, json_text_in(condition, "why"));
    }
    text_add(page, "<details%s><summary>", failing ? " open=\"open\"" : "");
    if (failing)
        text_add(page, "%zu of %zu conditions fail", failing, json_array_size(conditions));
    else
        text_add(page, "All %zu conditions hold", json_array_size(conditions));
    text_add(page, "</summary>\n");
    html_page_table(page, &table);
    text_add(page, "</details>\n");
}

static void add_public(struct text *page, const json_t *facts)
{
    size_t i;
    json_t *fact;
    if (json_array_size(facts) == 0)
        return;
    html_element(page, "h3", "Taken as public");
    text_add(page, "<ul>\n");
    json_array_foreach(facts, i, fact)
    {
        html_element(page, "li", json_string_value(fact));
        text_add(page, "\n");
    }
    text_add(page, "</ul>\n");
}

void report_statement_add(struct text *page, const json_t *guarantee, const char *text, int protects)
{
    html_page_section(page, "statement", "Statement");
    if (!protects)
        html_element(page, "p", "There is no noise, so nothing is protected.");
    else if (text)
        add_head(page, text);
    if (protects) {
        add_accounts(page, "Proved here", json_object_get(guarantee, "proved"),
                     "Nothing: the conditions that fail say why.");
        if (json_array_size(json_object_get(guarantee, "published")) > 0)
            add_accounts(page, "As published, a claim", json_object_get(guarantee, "published"), "");
        add_conditions(page, json_object_get(guarantee, "conditions"));
        add_public(page, json_object_get(guarantee, "taken_as_public"));
    }
    text_add(page, "<details><summary>The statement in full (release/guarantee.txt)</summary>\n");
    html_element(page, "pre class=\"statement\"", text ? text : "release/guarantee.txt is gone");
    text_add(page, "</details>\n");
}

void report_statement_promise(const json_t *run, struct text *text)
{
    const json_t *proved = json_object_get(json_object_get(run, "guarantee"), "proved");
    const json_t *least = NULL;
    char epsilon[32];
    size_t i;
    json_t *account;
    json_array_foreach(proved, i, account)
    {
        if (isfinite(json_number_in(account, "epsilon")) &&
            (!least || json_number_in(account, "epsilon") < json_number_in(least, "epsilon")))
            least = account;
    }
    if (!least) {
        text_add(text, "%s",
                 run_json_has_noise(run) ? "No finite epsilon is proved of this run; the statement says why."
                                         : "There is no noise in this run: nothing is protected.");
        return;
    }
    text_add(text, "Proved: epsilon %s at delta %g by %s, unit %s, adjacency %s.",
             guarantee_digits_up(json_number_in(least, "epsilon"), 5, epsilon),
             json_number_in(least, "delta"), json_text_in(least, "accountant"), json_text_in(least, "unit"),
             json_text_in(least, "adjacency"));
    if (json_is_true(json_object_get(least, "plan")))
        text_add(text,
                 " This is proved of the plan, run with secure noise; the noise of this run comes from a "
                 "seed, so what it released is not protected.");
}
