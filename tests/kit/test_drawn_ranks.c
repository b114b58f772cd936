/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawn configurations release the same bytes from one process and from three ranks, or are refused on several ranks
 * (tests/ranks/compare-ranks). Whole processes, so the suite draws a few; scripts/attack-check goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kit/test.h"
#include "kit/drawn_run.h"

#define SKIPPED 77

static struct drawn drawn;

static int compare_ranks(void)
{
    char command[4096];
    const char *build = getenv("DPFRAME_BUILD_DIR"), *source = getenv("DPFRAME_SOURCE_DIR");
    snprintf(command, sizeof command,
             "%s/tests/ranks/compare-ranks %s/dpframe 3 %s/config.ini >%s/ranks.log 2>&1", source, build,
             drawn.directory, drawn.directory);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_fault(const struct drawing *drawing)
{
    char line[1024], path[256], *text = drawing_text(drawing, "DIR");
    printf("FAULT ranks differ\n; from %s\n%s", drawing->base, text);
    free(text);
    snprintf(path, sizeof path, "%s/ranks.log", drawn.directory);
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        fputs(line, stdout);
    if (log)
        fclose(log);
}

TEST(ranks_make_the_same_bytes)
{
    int64_t compared = 0, refused = 0, failed = 0, n = 0;
    for (; drawn_goes_on(&drawn, compared + refused > 0 ? compared + refused : n) &&
           !(drawn.first_only && failed);
         n++) {
        struct drawing drawing = {0};
        struct draw_data data = {0};
        struct session session = {0};
        if (!drawn_accepted(&drawn, &drawing, &data, 3, &session))
            continue;
        session_close(&session);
        const int status = compare_ranks();
        compared += status == 0;
        refused += status == SKIPPED;
        if (status != 0 && status != SKIPPED) {
            failed++;
            print_fault(&drawing);
        } else {
            drawn_done(&drawn, &drawing);
        }
        drawing_free(&drawing);
        draw_data_free(&data);
    }
    printf("%lld drawings: %lld the same on ranks, %lld refused, %lld differ\n", (long long)n,
           (long long)compared, (long long)refused, (long long)failed);
    assert_true(compared > 0);
    assert_int_equal(failed, 0);
}

static int begin(void **state)
{
    (void)state;
    return drawn_open(&drawn, 6);
}

static int end(void **state)
{
    (void)state;
    drawn_close(&drawn);
    return 0;
}

FIXTURE(begin, end)
