/* SPDX-License-Identifier: Apache-2.0 */
/* The budget of a data set over runs: what adds up, what is refused, and what a crash leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/files.h"
#include "integration/training.h"

#include "integration/spawned.h"

static const char config[] =
    "[run]\nrounds = 1\noutput = out\n"
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 30\nsynthetic.ratings = 600\n"
    "value-min = 1\nvalue-max = 5\n[split]\nkind = none\n[model]\nusers = 60\nrank = 2\noffset = midpoint\n"
    "[parties]\nkind = users\n[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[items.solver]\nrate = 0.01\n[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\n"
    "delta = 1e-6\nledger = spent.jsonl\n[accountants]\nlist = pld\n";

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("runs.ini", config);
    return 0;
}

static int lines_of(const char *name)
{
    char text[65536];
    int n = 0;
    command_slurp(command_path(name), text, sizeof text);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    return n;
}

static double budget_of(const char *name, const char *field)
{
    char path[64];
    snprintf(path, sizeof path, "%s/run.json", name);
    json_t *run = command_json(path);
    const json_t *budget = json_object_get(json_object_get(run, "guarantee"), "budget");
    const double value = json_number_value(json_object_get(budget, field));
    json_decref(run);
    return value;
}

static void runs_add_up_until_nothing_is_left(void **state)
{
    (void)state;
    command_expect("-c runs.ini -O first", 0, "");
    const double one = budget_of("first", "epsilon");
    assert_true(one > 0 && budget_of("first", "runs_before") == 0);
    command_expect("-c runs.ini -O second", 0, "");
    assert_true(fabs(budget_of("second", "epsilon") - 2 * one) < 1e-9);
    assert_true(budget_of("second", "delta") == 2e-6);
    char limited[128];
    snprintf(limited, sizeof limited, "-c runs.ini -O third -o privacy.max-epsilon=%.17g", 2.5 * one);
    command_expect(limited, 2, "max-epsilon");
    assert_false(command_exists("third"));
    assert_int_equal(lines_of("spent.jsonl"), 3);
    snprintf(limited, sizeof limited, "check -c runs.ini -o privacy.max-epsilon=%.17g", 2.5 * one);
    command_expect(limited, 2, "max-epsilon"); /* and says so beforehand */
    snprintf(limited, sizeof limited, "-c runs.ini -O third -o privacy.max-epsilon=%.17g", 3.0 * one);
    command_expect(limited, 0, "");
    command_expect("account -c runs.ini", 0, "");
    assert_non_null(strstr(command_out, "BUDGET OF THE DATA SET"));
    assert_int_equal(lines_of("spent.jsonl"), 4); /* which only reads */
}

static void runs_beside_each_other_are_all_counted(void **state)
{
    enum { RUNS = 6 };
    pid_t runs[RUNS];
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments,
                 "-c runs.ini -O beside%d -o privacy.ledger=beside.jsonl -o run.threads=1", i);
        runs[i] = command_start(arguments);
    }
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(command_wait(runs[i]), 0);
    assert_int_equal(lines_of("beside.jsonl"), RUNS + 1);
    double most = 0;
    for (int i = 0; i < RUNS; i++) {
        char name[32];
        snprintf(name, sizeof name, "beside%d", i);
        most = fmax(most, budget_of(name, "runs_before"));
    }
    assert_true(most == RUNS - 1);
}

/* Points of a sweep are runs. */
static void a_sweep_is_as_many_runs(void **state)
{
    (void)state;
    char text[sizeof config + 256];
    snprintf(text, sizeof text,
             "%s[sweep]\nquestion = How much?\nrun.seed = 1..2\nvariant.loud = "
             "items.mechanism.noise-multiplier=4\nvariant.quiet = items.mechanism.noise-multiplier=8\n",
             config);
    training_file("sweep.ini", text);
    command_expect("-c sweep.ini -O swept -o privacy.ledger=swept.jsonl", 0, "");
    assert_int_equal(lines_of("swept.jsonl"), 5);
}

static void what_does_not_add_up_is_refused(void **state)
{
    (void)state;
    training_file(
        "other.jsonl",
        "{\"dpframe_ledger\":1,\"unit\":\"record\",\"adjacency\":\"flip\",\"observer\":\"outsider\"}\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=other.jsonl", 2, "for unit record, adjacency flip");
    training_file("no-json.jsonl", "once upon a time\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=no-json.jsonl", 2, "line 1");
    training_file(
        "negative.jsonl",
        "{\"dpframe_ledger\":1,\"unit\":\"user\",\"adjacency\":\"add-remove\",\"observer\":\"outsider\"}\n"
        "{\"epsilon\":-3,\"delta\":0}\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=negative.jsonl", 2, "line 2");
    command_expect("-c runs.ini -O bad -o privacy.ledger=. ", 2, "ledger");
    command_expect("-c runs.ini -O bad -o items.mechanism=none -o items.mechanism.calibration= "
                   "-o items.mechanism.noise-multiplier= -o items.mechanism.where=",
                   2, "");
    char text[sizeof config + 32], *line = strstr(strcpy(text, config), "ledger = spent.jsonl");
    memcpy(line, "max-epsilon = 3     ", strlen("ledger = spent.jsonl"));
    training_file("without.ini", text);
    command_expect("-c without.ini -O bad", 2, "needs the file");
    assert_false(command_exists("bad"));
}

/* A run that was stopped while it wrote had released nothing: its part of a line goes. */
static void part_of_a_line_is_dropped(void **state)
{
    (void)state;
    command_expect("-c runs.ini -O whole -o privacy.ledger=torn.jsonl", 0, "");
    FILE *file = fopen(command_path("torn.jsonl"), "a");
    assert_non_null(file);
    fputs("{\"time\":\"2026-", file);
    fclose(file);
    command_expect("-c runs.ini -O after -o privacy.ledger=torn.jsonl", 0, "");
    assert_int_equal(lines_of("torn.jsonl"), 3);
    assert_true(budget_of("after", "runs_before") == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_add_up_until_nothing_is_left),
        cmocka_unit_test(runs_beside_each_other_are_all_counted),
        cmocka_unit_test(a_sweep_is_as_many_runs),
        cmocka_unit_test(what_does_not_add_up_is_refused),
        cmocka_unit_test(part_of_a_line_is_dropped),
    };
    return cmocka_run_group_tests(tests, begin, training_end);
}
