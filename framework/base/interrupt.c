/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wanted; /* lock-free, so a signal handler may set it */

void interrupt_all(void)
{
    atomic_store(&wanted, 1);
}

void interrupt_reset(void)
{
    atomic_store(&wanted, 0);
}

int interrupt_is_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed);
}

static void on_signal(int number)
{
    (void)number;
    interrupt_all();
}

/* Of both, so that a launcher's SIGTERM after a terminal's SIGINT cuts nothing short. */
void interrupt_listen(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupt_check(const char *during, struct dpf_error *error)
{
    return interrupt_is_wanted()
               ? error_set(error, DPF_FAULT_RUN, "interrupted while %s; nothing is written", during)
               : 0;
}
