/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check accepts runs its first rounds; what it refuses names the key to change; and the resolved configuration
 * means the same as the one that it came from. Configurations are drawn from the tables of parameters (draw.h);
 * scripts/attack-check goes on for as long as it is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/text.h"
#include "kit/drawn_run.h"

static struct drawn drawn;
static int64_t failed;

static void print_failure(const struct drawing *drawing, const char *what, const char *detail)
{
    char *text = drawing_text(drawing, "DIR");
    printf("FAULT %s: %s\n; from %s\n%s\n", what, detail, drawing->base, text);
    free(text);
    failed++;
}

/* Parties that a key loses on purpose may be too many: a drawn key, or that of the base where there are few parties. */
static int loses_parties(const struct drawing *drawing, const struct dpf_error *error)
{
    for (int i = 0; i < drawing->n; i++)
        if (strncmp(drawing->settings[i].key, "lost", 4) == 0 &&
            (drawing->settings[i].drawn || strstr(error->text, "fewer members are left")))
            return 1;
    return 0;
}

/* Numbers may grow beyond all bounds in the rounds: whether they do follows from records and noise. */
static int diverged(const struct dpf_error *error)
{
    return strstr(error->text, "diverged") || strstr(error->text, "too large to be sent") ||
           strstr(error->text, "lower the rate of the solvers") ||
           strstr(error->text, "too large for its grid") ||
           strstr(error->text, "leaves the range of its grid") ||
           /* Rows of the other side that a rate of 500 made so large that regularisation is lost in their squares. */
           (strstr(error->text, "not positive definite") && strstr(error->text, ", in round ") &&
            !strstr(error->text, ", in round 1,"));
}

static int is_zero(const struct drawing *drawing, const char *section)
{
    double value;
    const char *text = drawing_get(drawing, section, "lambda");
    return text && text_to_real(text, &value) == 0 && value == 0;
}

/* Nothing holds rows of a side whose loss has no regularisation, and the sums of their squares may be so large that
   rounding takes more than the regularisation of the other side adds. */
static int is_rounded(const struct drawing *drawing, const struct dpf_error *error)
{
    const int of_items = strstr(error->text, "[items.solver]") != NULL;
    return strstr(error->text, "is not positive definite") &&
           !is_zero(drawing, of_items ? "items.loss" : "users.loss") &&
           is_zero(drawing, of_items ? "users.loss" : "items.loss");
}

/* What check says is the same for the resolved configuration, which resolves to itself. */
static void check_round_trip(const struct drawing *drawing, struct session *session)
{
    struct session again = {0};
    struct dpf_error error = {0};
    char *resolved = plan_resolved_ini(&session->plan), *statement = guarantee_text(&session->plan.guarantee);
    if (drawn_write_text(&drawn, resolved) != 0 || drawn_check(&drawn, &again, &error) != 0) {
        print_failure(drawing, "the resolved configuration is refused", error.text);
    } else {
        char *twice = plan_resolved_ini(&again.plan), *states = guarantee_text(&again.plan.guarantee);
        if (strcmp(resolved, twice) != 0)
            print_failure(drawing, "the resolved configuration resolves to another one", twice);
        if (strcmp(statement, states) != 0)
            print_failure(drawing, "the resolved configuration has another statement", states);
        free(twice);
        free(states);
    }
    session_close(&again);
    free(resolved);
    free(statement);
}

/* Which formula a recommender scores by is known once it is trained: check takes home terms for all that have one, though
   nearest neighbours take none. To be told by the component before that. */
static int formula_takes_no_terms(const struct dpf_error *error)
{
    return strstr(error->text, "this model has no home terms; private-gram") != NULL;
}

static void check_runs(const struct drawing *drawing)
{
    struct dpf_error error = {0};
    const int status = drawn_write(&drawn, drawing) == 0 ? drawn_train(&drawn, "out", &error) : DPF_FAULT_RUN;
    if (status == 0)
        drawn_done(&drawn, drawing);
    else if (status != DPF_FAULT_DATA && !loses_parties(drawing, &error) && !diverged(&error) &&
             !is_rounded(drawing, &error) && !formula_takes_no_terms(&error))
        print_failure(drawing, "check accepts, the run fails", error.text);
    drawn_remove(&drawn, "out");
    drawn_remove(&drawn, "ledger.json");
}

TEST(what_check_accepts_runs)
{
    int64_t accepted = 0, n = 0;
    for (; drawn_goes_on(&drawn, accepted ? accepted : n) && !(drawn.first_only && failed); n++) {
        struct drawing drawing = {0};
        struct draw_data data = {0};
        struct session session = {0};
        if (!drawn_accepted(&drawn, &drawing, &data, 4, &session))
            continue;
        accepted++;
        check_round_trip(&drawing, &session);
        session_close(&session);
        check_runs(&drawing);
        drawing_free(&drawing);
        draw_data_free(&data);
    }
    const int none = drawn_print_keys(&drawn, 1, drawn.seconds > 0);
    printf("%lld drawings, %lld accepted, %lld refused, %lld faults; %d keys in no run\n", (long long)n,
           (long long)accepted, (long long)drawn.refused, (long long)(failed + drawn.unnamed), none);
    assert_true(accepted >= drawn.count || drawn.seconds > 0);
    assert_int_equal(failed, 0);
    assert_int_equal(drawn.unnamed, 0);
}

static int begin(void **state)
{
    (void)state;
    return drawn_open(&drawn, 300);
}

static int end(void **state)
{
    (void)state;
    drawn_close(&drawn);
    return 0;
}

FIXTURE(begin, end)
