/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check accepts runs its first round, and what it refuses names the key to change. Configurations are drawn
 * from the tables of parameters (draw.h); scripts/attack-check goes on for as long as it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/drawn_run.h"

static struct drawn drawn;

static void print_failure(const struct drawing *drawing, const struct dpf_error *error)
{
    char *text = drawing_text(drawing, "DIR");
    printf("FAULT check accepts, the run fails: %s\n; from %s\n%s\n", error->text, drawing->base, text);
    free(text);
}

static void what_check_accepts_runs(void **state)
{
    int64_t accepted = 0, failed = 0, n = 0;
    (void)state;
    for (; drawn_goes_on(&drawn, accepted ? accepted : n); n++) {
        struct drawing drawing = {0};
        struct draw_data data = {0};
        struct session session = {0};
        struct dpf_error error = {0};
        if (!drawn_accepted(&drawn, &drawing, &data, 4, 0, &session))
            continue;
        session_close(&session);
        const int status = drawn_train(&drawn, "out", &error);
        accepted++;
        if (status == 0)
            drawing_done(&drawing, &drawn.keys);
        else if (status != DPF_FAULT_DATA) {
            failed++;
            print_failure(&drawing, &error);
        }
        drawn_remove(&drawn, "out");
        drawing_free(&drawing);
        draw_data_free(&data);
    }
    const int none = drawn_print_keys(&drawn, drawn.seconds > 0);
    printf("%lld drawings, %lld accepted, %lld fail in the run; %d keys in no run\n", (long long)n,
           (long long)accepted, (long long)failed, none);
    assert_int_equal(failed, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_check_accepts_runs)};
    return cmocka_run_group_tests(tests, begin, end);
}
