/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - the marks of an axis, and the format of its numbers. */
#ifndef DPF_PLOT_TICKS_H
#define DPF_PLOT_TICKS_H

#define TICKS_MOST 12

struct axis {
    double lo, hi; /* lo < hi; above 0 if it is logarithmic */
    int logarithmic;
    double ticks[TICKS_MOST];
    int n;
};

/* The axis that shows lo to hi, with a margin of that part of its length on both sides, and marks at round
   numbers; at logarithmic axes at powers of ten, and at 2 and 5 times these where there are few. */
struct axis axis_make(double lo, double hi, int logarithmic, double margin);
/* Where a value lies on the axis: 0 at its beginning, 1 at its end; not below -1, nor above 2. */
double axis_place(const struct axis *axis, double value);
/* The text of a mark: "0.25", "20k", "1e-9". Returns buffer. */
const char *axis_text(const struct axis *axis, double value, char buffer[32]);

#endif
