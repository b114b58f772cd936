/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_state.h - compares and restores the state of the process that a plugin must not change when it
 * loads.
 *
 * A shared object built with -ffast-math flushes denormals in every thread made later; a constructor
 * that calls setlocale changes how numbers are parsed. The file shows neither, so the
 * host compares the state itself.
 */
#ifndef DPF_PLUGIN_PROCESS_STATE_H
#define DPF_PLUGIN_PROCESS_STATE_H

#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

#define PROCESS_STATE_SIGNALS 65

struct process_state {
    fenv_t environment;
    uint32_t float_control; /* control bits only: exception flags are free to change */
    uint32_t float_control_x87;
    char *locale;
    char *directory;
    mode_t mask;
    struct sigaction signals[PROCESS_STATE_SIGNALS];
    int signal_known[PROCESS_STATE_SIGNALS];
};

void process_state_save(struct process_state *state);
/* Adds the names of what differs from now ("the locale, the umask"); returns how many differ. */
int process_state_compare(const struct process_state *state, struct text *differences);
void process_state_restore(const struct process_state *state);
void process_state_free(struct process_state *state);
/* Threads of this process, or -1. */
int process_state_threads(void);

#endif
