/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean.c - the mean of the messages: whoever adds sees every one of them.
 *
 * Made for rows that parties have solved (site = party). A mean of rows that lie in a ball lies in it,
 * so the solver's radius bounds what the others read, which a sum of rows would not.
 */
#include "adding.h"

static double scale(void *self, int64_t survivors)
{
    (void)self;
    return survivors > 0 ? 1.0 / (double)survivors : 0.0;
}

ADDING_PLUGIN("mean", scale, "Mean of the messages; the server sees each of them",
              "DPIMF (Ran, Ye, Huang, Hu), Algorithm 1: the parties' solved rows")
