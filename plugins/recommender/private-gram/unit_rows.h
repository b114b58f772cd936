/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_rows.h - a user's records as a vector of integers whose L2 norm is at most a public power of two.
 *
 * The bound holds in integers, whatever floating point does before: it is tested, and enforced, last.
 */
#ifndef PRIVATE_GRAM_UNIT_ROWS_H
#define PRIVATE_GRAM_UNIT_ROWS_H

#include <stdint.h>

/* The largest a with n a^2 <= 4^bits; 0 for n 0. n times it is what a user with n items adds to counts. */
int64_t unit_rows_share(int64_t n, int32_t bits);

/* out = values scaled to norm 2^bits, up or down, each number rounded toward zero; |out| <= 2^bits exactly.
   Zeros if all values are. bits is 15 at most. */
void unit_rows_round(const double *values, int64_t n, int32_t bits, int32_t *out);
/* The same of values over a length: norm 2^bits where |values| is the length, less where it is shorter. */
void unit_rows_round_by(const double *values, int64_t n, double length, int32_t bits, int32_t *out);

/* In their order. */
double unit_rows_norm(const double *values, int64_t n);

#endif
