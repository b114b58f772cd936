/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is drawn before a second has passed, nothing when it is off, and what is drawn is wiped out. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kit/test.h"
#include "base/ticker.h"

static char drawn[4096];

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* What work(...) writes to standard error. */
static void capture(void (*work)(void))
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    work();
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    drawn[fread(drawn, 1, sizeof drawn - 1, file)] = '\0';
    fclose(file);
}

static void short_work(void)
{
    ticker_set(TICKER_BAR);
    ticker_begin("short", 10);
    for (int i = 0; i < 10; i++)
        ticker_add(1);
    ticker_end();
}

static void long_work(void)
{
    ticker_begin("long", 4);
    ticker_add(1);
    sleep_ms(1050);
    ticker_add(1);
    ticker_end();
    ticker_add(1); /* of no work */
}

static void enabled_long_work(void)
{
    ticker_set(TICKER_BAR);
    long_work();
}

static void disabled_long_work(void)
{
    ticker_set(TICKER_OFF);
    long_work();
}

static void long_work_for_a_program(void)
{
    ticker_set(TICKER_JSON);
    long_work();
}

static void work_without_steps(void)
{
    ticker_set(TICKER_BAR);
    ticker_begin("steady", 0);
    sleep_ms(1050);
    ticker_add(0);
    ticker_end();
}

/* A check of noise trains again and again, and each training has steps of its own. */
static void work_within_work(void)
{
    ticker_set(TICKER_BAR);
    ticker_begin("outer", 4);
    sleep_ms(1050);
    for (int i = 0; i < 2; i++) {
        ticker_begin("inner", 100);
        ticker_add(70);
        ticker_end();
        sleep_ms(250);
        ticker_add(1);
    }
    ticker_end();
    ticker_end(); /* of no work */
    long_work();
}

TEST(the_outer_work_is_shown)
{
    capture(work_within_work);
    assert_null(strstr(drawn, "inner"));
    assert_non_null(strstr(drawn, "outer  0 %"));
    assert_non_null(strstr(drawn, "outer  25 %"));
    assert_non_null(strstr(drawn, "outer  50 %"));
    assert_non_null(strstr(drawn, "long  50 %"));
}

TEST(only_long_work_is_shown)
{
    capture(work_without_steps);
    assert_non_null(strstr(drawn, "steady  1 s"));
    capture(short_work);
    assert_string_equal(drawn, "");
    capture(disabled_long_work);
    assert_string_equal(drawn, "");
    capture(long_work_for_a_program);
    assert_string_equal(drawn, "{\"progress\": {\"what\": \"long\", \"done\": 2, \"total\": 4}}\n");
    capture(enabled_long_work);
    assert_non_null(strstr(drawn, "long  50 %, "));
    assert_non_null(strstr(drawn, "s left"));
    const char *end = "\r\033[K";
    assert_string_equal(drawn + strlen(drawn) - strlen(end), end);
}
