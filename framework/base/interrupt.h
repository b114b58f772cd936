/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - whether the user wants the work to end (Ctrl-C): set by a signal handler, asked by what takes long.
 *
 * Who finds it set fails, so that nothing is written.
 */
#ifndef DPF_BASE_INTERRUPT_H
#define DPF_BASE_INTERRUPT_H

void interrupt_all(void); /* from signal handlers, too */
void interrupt_reset(void);
int interrupt_is_wanted(void);

#endif
