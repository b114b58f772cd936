/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ticker.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/terminal.h"

#define FIRST 1.0    /* seconds before anything is drawn */
#define INTERVAL 0.2 /* between two drawings */

static struct {
    enum ticker_mode mode;
    atomic_int depth; /* of work within work; 0: none. The main thread's */
    const char *what;
    int64_t total;
    double started;
    atomic_llong done;
    atomic_flag drawing; /* one thread at a time; the others go on */
    double drawn;        /* 0: never; the drawing thread's */
} ticker = {.drawing = ATOMIC_FLAG_INIT};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ticker_set(enum ticker_mode mode)
{
    ticker.mode = mode;
}

enum ticker_mode ticker_mode(void)
{
    return ticker.mode;
}

void ticker_begin(const char *what, int64_t total)
{
    if (ticker.mode == TICKER_OFF || atomic_fetch_add(&ticker.depth, 1) > 0)
        return;
    ticker.what = what;
    ticker.total = total;
    ticker.started = seconds_now();
    ticker.drawn = 0;
    atomic_store(&ticker.done, 0);
}

static void draw(double now)
{
    const long long done = atomic_load(&ticker.done);
    if (ticker.mode == TICKER_JSON) {
        terminal_progress_json(ticker.what, done, ticker.total);
        return;
    }
    const double elapsed = now - ticker.started;
    const double part = done < ticker.total ? (double)done / (double)ticker.total : 1;
    char words[160];
    if (ticker.total <= 0 && done == 0)
        snprintf(words, sizeof words, "%s  %.0f s", ticker.what, elapsed);
    else if (ticker.total <= 0)
        snprintf(words, sizeof words, "%s  %lld, %.0f s", ticker.what, done, elapsed);
    else
        snprintf(words, sizeof words, "%s  %.0f %%, %.0f s left", ticker.what, 100 * part,
                 part > 0 ? elapsed / part - elapsed : 0);
    terminal_bar(ticker.total > 0 ? part : 0, words);
}

void ticker_add(int64_t n)
{
    const int depth = atomic_load(&ticker.depth);
    if (ticker.mode == TICKER_OFF || depth == 0)
        return;
    atomic_fetch_add(&ticker.done, depth == 1 ? n : 0);
    if (atomic_flag_test_and_set(&ticker.drawing))
        return;
    const double now = seconds_now();
    if (now - ticker.started >= FIRST && now - ticker.drawn >= INTERVAL) {
        ticker.drawn = now;
        draw(now);
    }
    atomic_flag_clear(&ticker.drawing);
}

void ticker_end(void)
{
    const int depth = atomic_load(&ticker.depth);
    if (depth > 0)
        atomic_store(&ticker.depth, depth - 1);
    if (depth != 1 || ticker.drawn == 0 || ticker.mode == TICKER_JSON)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
}
