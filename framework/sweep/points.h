/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - the points of a sweep: their settings and names. */
#ifndef DPF_SWEEP_POINTS_H
#define DPF_SWEEP_POINTS_H

#include "sweep/design.h"

struct point {
    char *name; /* a file name that describes the point and does not depend on other points */
    const struct design_variant *variant; /* or NULL */
    size_t *values;                       /* of each axis, the index of its value, or DESIGN_NO_VALUE */
    char **settings;                      /* of the variant, then of the axes, then the noise seed */
    int n_settings;
};

struct points {
    struct point *items;
    size_t n;
};

/* Variants first, then axes in their order, repetitions innermost. On failure out is empty. */
int points_make(const struct design *design, struct points *out, struct dpf_error *error);
void points_free(struct points *points);

/* "als_epsilon-0.5_seed-1": each character but letters, digits, '.', '+' and '-' becomes '-', and then, or if
   it is too long, the name ends in a few digits of a hash of the settings. Free it. */
char *point_name(const struct design *design, const struct point *point);
/* Whether two points differ by their repetition alone: they have the same statement, and are one row of the tables. */
int point_repeats(const struct design *design, const struct point *a, const struct point *b);
/* The point's name without its repetition, "" where nothing else tells points apart. Free it. */
char *point_row_name(const struct design *design, const struct point *point);

#endif
