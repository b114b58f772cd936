/* SPDX-License-Identifier: Apache-2.0 */
/* point_choice.h - which points of a sweep "--point" means: NAME, I or I-J, counted from 1. */
#ifndef DPF_SWEEP_POINT_CHOICE_H
#define DPF_SWEEP_POINT_CHOICE_H

#include "sweep/points.h"

/* The first and the last, counted from 0. A number is a place in the list, even where a point is called so.
 */
int point_choice_read(const char *text, const struct points *points, size_t *first, size_t *last,
                      struct dpf_error *error);

#endif
