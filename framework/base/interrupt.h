/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - whether the user wants the work to end (Ctrl-C): set by a signal handler, asked by what takes long.
 *
 * Who finds it set fails, so that nothing is written. Whatever may take two seconds asks, where it tells of its progress
 * (ticker.h).
 */
#ifndef DPF_BASE_INTERRUPT_H
#define DPF_BASE_INTERRUPT_H

#include "base/error.h"

/* From now on SIGINT and SIGTERM set it. The second signal of a kind ends the process as if nobody listened. */
void interrupt_listen(void);
/* Such a signal was taken by other means, which say for themselves what it ends. */
void interrupt_note(int signal);
/* The last thing that a failed process does: it ends by the signal that it was told to end by, so that a shell's loop ends with
   it (its status is 130, or 143). Returns if there was none. */
void interrupt_end(void);
void interrupt_all(void); /* from signal handlers, too */
void interrupt_reset(void);
int interrupt_is_wanted(void);
/* 0; -1 with an error where it is set. during: "users were evaluated". */
int interrupt_check(const char *during, struct dpf_error *error);

#endif
