/* SPDX-License-Identifier: Apache-2.0 */
/* row_power.h - p-th powers of norms, in vectors. */
#ifndef DPF_USER_BALL_ROW_POWER_H
#define DPF_USER_BALL_ROW_POWER_H

#include <stdint.h>

#include "simd_kind.h"

/* The sum of |unit x|^p over n numbers, p 1 or 2: the same bytes by all kinds. */
typedef double (*row_power)(const double *x, int64_t n, double unit, int32_t p);

/* For a kind of simd_kind.h; NULL if the processor lacks it. */
row_power row_power_find(int wanted);

#endif
