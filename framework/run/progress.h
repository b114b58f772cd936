/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a bar on a terminal, plain lines elsewhere, JSON for programs (base/ticker.h), on standard error. */
#ifndef DPF_RUN_PROGRESS_H
#define DPF_RUN_PROGRESS_H

#include <stdint.h>

struct progress {
    int64_t total;
    int is_terminal;
    const char *what; /* is counted: "round" */
    double started;
    double last;    /* on a terminal, and in JSON: when it was drawn */
    int64_t tenths; /* elsewhere: how many have been told */
};

void progress_start(struct progress *progress, int64_t total);
/* note: a few words beside the bar, or "". Draws at most ten times a second; lines elsewhere: at each tenth.
 */
void progress_step(struct progress *progress, int64_t done, const char *note);
void progress_end(struct progress *progress);
double progress_clock(void); /* seconds, monotonic */

#endif
