/* SPDX-License-Identifier: Apache-2.0 */
/* plain_sum.c - the plain sum: whoever adds sees every message. */
#include "adding.h"

static double scale(void *self, int64_t survivors)
{
    (void)self;
    (void)survivors;
    return 1.0;
}

ADDING_PLUGIN("sum", scale, "Plain sum of the messages; the server sees each of them", "")
