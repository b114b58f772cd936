/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - how far a long piece of work is, on the terminal: what is done, of how much, and the time left.
 *
 * One line on standard error, drawn once the work has taken a second, at most five times a second, and wiped
 * out at the end. Off unless a command switches it on, which it does where standard error is a terminal. Work
 * is not nested.
 */
#ifndef DPF_BASE_TICKER_H
#define DPF_BASE_TICKER_H

#include <stdint.h>

void ticker_enable(int on);
/* what: "reading ratings.csv"; total 0: unknown. Must outlive the work. */
void ticker_begin(const char *what, int64_t total);
/* So much more is done. Thread-safe; without a beginning it does nothing. */
void ticker_add(int64_t n);
void ticker_end(void);

#endif
