/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_scaled.h - sums of users' messages, each multiplied by a factor of its own, without the messages.
 *
 * A user's message has a row for each record, and a clip multiplies all of it by one factor. Where nothing
 * but rounding follows at the user, the sum of what all users send is worked out in two passes:
 *
 *   1. user by user: the message is made a few rows at a time, measured by the transform, and forgotten. What
 * stays is the factor f_u, a function of u's own records and of the other side's rows, as in the message
 * itself;
 *   2. item by item: out[i][c] = sum over raters u of round(f_u m_u[i][c] / grid), in integers.
 *
 * Sensitivity. The integer that pass 2 adds for (u, i, c) is the one that the mechanism's encode would have
 * made of the clipped message: the same float64 products, in the same order, rounded to the same grid in the
 * same way (dpf_loss.accumulate_scaled, dpf_transform.factor and DPF_MECHANISM_ROUNDS promise it). So the
 * sums are those of the messages, bit for bit, for any number of workers, and what was proved of messages
 * holds: user u is in the sum with integers whose norm is that of the clipped message, and at most half a
 * step more in each number, which the mechanism's sensitivity counts. Others' factors do not depend on u. A
 * test compares the bytes with those of messages, and integers alone with the bound.
 *
 * Where anything is out of the ordinary (a component does not promise this, a user's records are at fault, a
 * norm is beyond what pieces can measure), the messages are made. Whether that happens depends on the data,
 * and changes the time that a step takes and nothing else.
 *
 * Each of several ranks does this with its own users' records, of which it keeps an index by item, and the sums of
 * the ranks are added up as those of messages are. Whether a rank makes its messages instead is its own affair: the
 * integers are the same.
 *
 * The largest array beside the sums is a factor for each user: memory does not depend on the number of
 * workers.
 */
#ifndef DPF_ENGINE_STEP_SCALED_H
#define DPF_ENGINE_STEP_SCALED_H

#include "engine/messages.h"

/* Factors of all users (0: takes no part), or *factors NULL where messages have to be made. 0, or -1 with an
 * error. */
int scaled_factors(struct messages_work *work, double **factors, struct dpf_error *error);
/* The sums, into the first of the work's aggregations, which is empty. */
int scaled_sums(struct messages_work *work, const double *factors, struct dpf_error *error);

#endif
