/* SPDX-License-Identifier: Apache-2.0 */
/* check and account of a selection: nothing is trained, and nothing is charged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "plan/charge.h"
#include "plan/plan_make.h"
#include "select/candidates.h"
#include "select/select_run.h"

static void print_text(const struct candidates *c)
{
    const struct guarantee *guarantee = &c->carrier.plan.guarantee;
    char number[32], *statement = guarantee_text_wide(guarantee, terminal_width(STDOUT_FILENO));
    printf("# Candidates, and epsilon of one run of each alone\n\n");
    for (int64_t i = 0; i < c->n; i++)
        printf("%-10s  %s\n",
               isnan(c->list[i].epsilon) ? "none" : guarantee_number_up(c->list[i].epsilon, number),
               c->list[i].point->name);
    printf("\n# Guarantee\n\n%s", statement ? statement : "");
    free(statement);
}

static void print_json(const struct candidates *c)
{
    const struct plan *plan = &c->carrier.plan;
    json_t *list = json_array();
    for (int64_t i = 0; i < c->n; i++) {
        json_t *settings = json_array();
        for (int s = 0; s < c->list[i].point->n_settings; s++)
            json_array_append_new(settings, json_string(c->list[i].point->settings[s]));
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o}", "name", c->list[i].point->name, "settings", settings, "epsilon",
                      isfinite(c->list[i].epsilon) ? json_real(c->list[i].epsilon) : json_null()));
    }
    json_t *root = json_pack("{s:o, s:o, s:o}", "candidates", list, "guarantee",
                             guarantee_json(&plan->guarantee), "ledger", ledger_json(&plan->ledger));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
}

int select_statement(const struct arguments *arguments, select_use use, void *context,
                     struct dpf_error *error)
{
    struct candidates *c = memory_need(1, sizeof *c);
    int status = candidates_open(arguments, c, error);
    if (status == 0)
        status = candidates_measure(c, error);
    if (status == 0)
        status = plan_charge(&c->carrier.plan, 0, error);
    if (status == 0)
        (arguments->json ? print_json : print_text)(c);
    if (status == 0 && use)
        status = use(context, &c->carrier.plan, error);
    candidates_close(c);
    free(c);
    return status;
}
