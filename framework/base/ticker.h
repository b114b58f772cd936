/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - shows the progress of long work on the terminal: how much of it is done, and the time left.
 *
 * It writes one line to standard error after the first second, redraws it at most five times a second, and
 * wipes it out at the end. Commands switch it on where standard error is a terminal. Of work within work the outer one is
 * shown, whatever the inner one tells: how many trainings, not how much of one. For programs
 * it writes lines of JSON instead: {"progress": {"what": "reading records", "done": 3, "total": 10}}; total 0: unknown.
 */
#ifndef DPF_BASE_TICKER_H
#define DPF_BASE_TICKER_H

#include <stdint.h>

enum ticker_mode { TICKER_OFF, TICKER_BAR, TICKER_JSON };
void ticker_set(enum ticker_mode mode);
enum ticker_mode ticker_mode(void);
/* what: "reading ratings.csv"; total 0: unknown. Must outlive the work. */
void ticker_begin(const char *what, int64_t total);
/* So much more is done. Thread-safe; without a beginning it does nothing. */
void ticker_add(int64_t n);
void ticker_end(void);

#endif
