/* SPDX-License-Identifier: Apache-2.0 */
#include "unit_rows.h"

#include <math.h>

int64_t unit_rows_share(int64_t n, int32_t bits)
{
    const int64_t all = INT64_C(1) << 2 * bits;
    if (n <= 0)
        return 0;
    int64_t a = (int64_t)(sqrt((double)all / (double)n));
    while (a > 0 && a * a > all / n)
        a--;
    while ((a + 1) * (a + 1) <= all / n)
        a++;
    return a;
}

double unit_rows_norm(const double *values, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++)
        squares += values[i] * values[i];
    return sqrt(squares);
}

/* Takes steps off the largest number until the norm fits: one at most, where sqrt and the division rounded.
 */
static void enforce(int32_t *out, int64_t n, int32_t bits)
{
    int64_t squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (int64_t)out[i] * out[i];
    while (squares > INT64_C(1) << 2 * bits) {
        int64_t largest = 0;
        for (int64_t i = 1; i < n; i++)
            if ((out[i] < 0 ? -out[i] : out[i]) > (out[largest] < 0 ? -out[largest] : out[largest]))
                largest = i;
        const int32_t was = out[largest];
        out[largest] -= was < 0 ? -1 : 1;
        squares += (int64_t)out[largest] * out[largest] - (int64_t)was * was;
    }
}

void unit_rows_round_by(const double *values, int64_t n, double length, int32_t bits, int32_t *out)
{
    const double scale = ldexp(1.0, bits);
    for (int64_t i = 0; i < n; i++) {
        const double x = length > 0.0 ? values[i] / length * scale : 0.0;
        out[i] = x > -scale && x < scale ? (int32_t)x
                 : x > 0.0               ? (int32_t)scale
                 : x < 0.0               ? -(int32_t)scale
                                         : 0;
    }
    enforce(out, n, bits);
}

void unit_rows_round(const double *values, int64_t n, int32_t bits, int32_t *out)
{
    unit_rows_round_by(values, n, unit_rows_norm(values, n), bits, out);
}
