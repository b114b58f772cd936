/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings_user.h - what one user computes at home, and what leaves it.
 *
 * Every message is one vector of norm 1 at most, made from the user's own records, releases and constants. A
 * message to the items has some numbers for each of the user's items, in their order.
 */
#ifndef DPF_PRIVATE_RATINGS_USER_H
#define DPF_PRIVATE_RATINGS_USER_H

#include <stdint.h>

#include "home_solve.h"
#include "ratings_server.h"

/* Numbers of work that these need, of a user with at most n records. */
int64_t ratings_user_size(const struct ratings_server *server, int64_t n);

/* 1/sqrt(n) for each item. */
void ratings_send_counts(const struct own_records *own, double *to_items);
/* w e and beta w for each item, scaled to norm 1: e is the residual about prior and own mean; with features and no rounds
   to come, about what the user's other records predict by popularity and features. */
void ratings_send_biases(const struct ratings_server *server, const struct own_records *own, double *to_items,
                         double *work);
/* t t' + C, the second moments of t given the records, packed; over moment_cap, of norm 1 at most. */
void ratings_send_moments(const struct ratings_server *server, const struct own_records *own, double *packed,
                          double *work);
/*
 * w e (1, y) for each item, scaled to norm 1, y the first rank numbers of t, clipped; and the sum of w times
 * (1, y)(1, y)', packed, over gram_cap, of norm 1 at most.
 */
void ratings_send_round(const struct ratings_server *server, const struct own_records *own, double *to_items,
                        double *packed, double *work);

#endif
