/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiled_cholesky.h - a Cholesky factorisation on all workers of a call.
 *
 * Tiles have a fixed size and each is changed by one task at a time, in a fixed order: the same bytes for any number of workers.
 */
#ifndef PRIVATE_GRAM_TILED_CHOLESKY_H
#define PRIVATE_GRAM_TILED_CHOLESKY_H

#include "dense_algebra.h"

/* The lower triangle becomes L, a = L L'; the upper one is not read. Returns 1, or 0 if a is not positive definite
   or call->cancelled. */
int tiled_cholesky(const dpf_call *call, struct matrix *a);
#endif
