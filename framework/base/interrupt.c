/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include <stdatomic.h>

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
