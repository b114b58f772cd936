/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wanted;   /* lock-free, so a signal handler may set it */
static atomic_int received; /* the last signal; 0: none */

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
    interrupt_note(number);
    interrupt_all();
}

void interrupt_note(int signal)
{
    atomic_store(&received, signal);
}

void interrupt_end(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    const int number = atomic_load(&received);
    sigset_t that;
    if (!number || sigaction(number, &action, NULL) != 0)
        return;
    sigemptyset(&that);
    sigaddset(&that, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &that, NULL); /* where it was blocked, it ends the process now */
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
