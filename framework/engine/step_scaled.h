/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_scaled.h - sums users' messages, each multiplied by its own factor, without making the messages.
 *
 * A user's message has a row for each record, and a clip multiplies all of it by one factor. If only rounding
 * follows at the user, two passes compute the sum of all messages:
 *
 *   1. user by user: make the message a few rows at a time, let the transform measure them, and forget them.
 *      What stays is the factor f_u, a function of u's own records and of the other side's rows, as in the
 *      message itself;
 *   2. item by item: out[i][c] = sum over raters u of round(f_u m_u[i][c] / grid), in integers.
 *
 * Sensitivity. The integer that pass 2 adds for (u, i, c) is the one that the mechanism's encode would have
 * made of the clipped message: the same float64 products, in the same order, rounded to the same grid in the
 * same way (dpf_loss.accumulate_scaled, dpf_transform.factor and DPF_MECHANISM_ROUNDS promise it). So the
 * sums are those of the messages, bit for bit, for any number of workers, and the proofs for messages hold:
 * user u adds integers whose norm is that of the clipped message, and at most half a step more in each
 * number, which the mechanism's sensitivity includes. Other users' factors do not depend on u. Tests compare
 * the bytes with those of messages, and the integers with the bound.
 *
 * In all other cases (a component does not promise this, a user's records are at fault, a norm is too large
 * to measure in pieces) the step makes the messages. This choice depends on the data; it changes only the
 * time of the step.
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
/* The sums, in the place of the aggregator of the work's sum, which is open and empty. */
int scaled_sums(struct messages_work *work, const double *factors, struct dpf_error *error);

#endif
