/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/ticks.h"

#include <math.h>
#include <stdio.h>

#define LARGEST 1e200 /* so that lengths and margins stay finite; nobody plots more */

double axis_place(const struct axis *axis, double value)
{
    const double place = axis->logarithmic ? (log(value) - log(axis->lo)) / (log(axis->hi) - log(axis->lo))
                                           : (value - axis->lo) / (axis->hi - axis->lo);
    return fmin(fmax(place, -1), 2); /* what is far outside is outside */
}

/* 1, 2 or 5 times a power of ten, so that about four steps fit. */
static double round_step(double length)
{
    const double raw = length / 4.5, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

static void add_tick(struct axis *axis, double value)
{
    /* 0.3 computed as 3 times 0.1 may lie a little outside. */
    if (axis->n < TICKS_MOST && axis_place(axis, value) >= -1e-9 && axis_place(axis, value) <= 1 + 1e-9)
        axis->ticks[axis->n++] = value;
}

static void add_linear(struct axis *axis)
{
    const double step = round_step(axis->hi - axis->lo);
    const double first = ceil(axis->lo / step);
    for (double k = first; k <= first + TICKS_MOST && k * step <= axis->hi; k++)
        add_tick(axis, k == 0 ? 0 : k * step);
}

static void add_logarithmic(struct axis *axis)
{
    const double first = floor(log10(axis->lo)), last = ceil(log10(axis->hi));
    const double decades = log10(axis->hi) - log10(axis->lo), stride = fmax(1, ceil(decades / 6));
    for (double power = first; power <= last; power += stride) {
        const double at = pow(10, power);
        add_tick(axis, at);
        if (decades < 2.5) {
            add_tick(axis, 2 * at);
            add_tick(axis, 5 * at);
        }
    }
}

struct axis axis_make(double lo, double hi, int logarithmic, double margin)
{
    struct axis axis = {.logarithmic = logarithmic};
    lo = fmin(fmax(lo, -LARGEST), LARGEST);
    hi = fmin(fmax(hi, -LARGEST), LARGEST);
    if (logarithmic) {
        lo = lo > 1 / LARGEST ? lo : 1 / LARGEST;
        hi = hi > lo ? hi : lo;
        const double wider = hi > lo ? exp(margin * (log(hi) - log(lo))) : 2;
        axis.lo = lo / wider;
        axis.hi = hi * wider;
        add_logarithmic(&axis);
    } else {
        const double wider = hi > lo ? margin * (hi - lo) : lo != 0 ? 0.1 * fabs(lo) : 1;
        axis.lo = lo - wider;
        axis.hi = hi + wider;
        add_linear(&axis);
    }
    return axis;
}

const char *axis_text(const struct axis *axis, double value, char buffer[32])
{
    static const struct {
        double unit;
        const char *suffix;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    const double largest = fmax(fabs(axis->lo), fabs(axis->hi));
    for (int u = 0; u < 3 && value != 0; u++)
        if (largest >= 10 * units[u].unit && fabs(value) >= units[u].unit) {
            snprintf(buffer, 32, "%.5g%s", value / units[u].unit, units[u].suffix);
            return buffer;
        }
    snprintf(buffer, 32, "%.5g", value);
    return buffer;
}
