/* SPDX-License-Identifier: Apache-2.0 */
#include "run/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/ticker.h"

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(struct progress *progress, int64_t total)
{
    *progress = (struct progress){
        .total = total, .what = "round", .is_terminal = isatty(STDERR_FILENO), .started = progress_clock()};
}

static void draw_bar(const struct progress *progress, int64_t done, double elapsed, const char *note)
{
    char words[192];
    double left = done > 0 ? elapsed / (double)done * (double)(progress->total - done) : 0;
    snprintf(words, sizeof words, "%s %lld/%lld  %.0f s left  %s", progress->what, (long long)done,
             (long long)progress->total, left, note);
    terminal_bar((double)done / (double)progress->total, words);
}

void progress_step(struct progress *progress, int64_t done, const char *note)
{
    double now = progress_clock(), elapsed = now - progress->started;
    if (progress->is_terminal || ticker_mode() == TICKER_JSON) {
        if (done < progress->total && now - progress->last < 0.1)
            return;
        progress->last = now;
        if (ticker_mode() == TICKER_JSON)
            terminal_progress_json(progress->what, done, progress->total);
        else
            draw_bar(progress, done, elapsed, note);
    } else if (progress->total < 10 || done * 10 / progress->total != progress->tenths) {
        progress->tenths = done * 10 / progress->total;
        fprintf(stderr, "%s %lld/%lld  %.2f s  %s\n", progress->what, (long long)done,
                (long long)progress->total, elapsed, note);
    }
}

void progress_end(struct progress *progress)
{
    if (progress->is_terminal && progress->total > 0 && ticker_mode() != TICKER_JSON)
        fputc('\n', stderr);
}
