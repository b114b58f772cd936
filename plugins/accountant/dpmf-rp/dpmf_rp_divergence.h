/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpmf_rp_divergence.h - Eq. 18 of DPMF-RP, for the claim and for the report of utility.
 *
 * In the publication p is the number of rows behind the projection, and k the numbers of a row, both without the padding
 * to a power of two that Algorithm 3 adds before it flattens them. beta n is the number of messages that are expected in a
 * sum which hides them, or 1 where the server sees each message (Table 6, case 2). A proof may count on fewer clients.
 */
#ifndef DPF_PLUGINS_DPMF_RP_DIVERGENCE_H
#define DPF_PLUGINS_DPMF_RP_DIVERGENCE_H

#include <math.h>

#include "dpframe/privacy.h"

/* The Renyi divergence of one round at this order, with C_0 = c0; NaN if the event lacks a number that it needs. */
static inline double dpmf_rp_divergence(const dpf_event *event, double order, double c0)
{
    const double theta = event->p.pbm.theta, rest = 1.0 - 2.0 * theta;
    if (!(rest > 0.0 && event->messages > 0.0 && event->numbers > 0.0))
        return NAN;
    return c0 * theta * theta / (rest * rest * rest * rest) * order * order / (order - 1.0) *
           event->p.pbm.trials * event->numbers / event->messages;
}

#endif
