/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_law.h"

#include <math.h>

/* Largest exponents of a tilt within the losses of one release. */
#define MOST_EXPONENT 1e5

struct pld_law pld_law_one(const struct pld_losses *losses, double tilt)
{
    double top = -INFINITY, sum = 0.0, first = 0.0, second = 0.0;
    const double h = losses->h, step = tilt * h;
    int64_t most = 0;
    for (int64_t i = 0; i < losses->n; i++) {
        const double x = losses->logs[i] + step * losses->at[i];
        if (x > top) {
            top = x;
            most = i;
        }
    }
    const double centre = losses->at[most];
    for (int64_t i = 0; i < losses->n; i++) {
        const double x = losses->logs[i] + step * losses->at[i] - top;
        if (x < -60.0)
            continue;
        const double weight = exp(x), at = (losses->at[i] - centre) * h;
        sum += weight;
        first += weight * at;
        second += weight * at * at;
    }
    const double mean = first / sum, variance = second / sum - mean * mean;
    /* cppcheck-suppress invalidFunctionArg ; the largest term is exp(0), so sum is at least 1 */
    return (struct pld_law){top + log(sum) + tilt * losses->offset, losses->offset + centre * h + mean,
                            variance > 0.0 ? variance : 0.0};
}

struct pld_law pld_law_all(const struct pld_losses *losses, int64_t n, double tilt)
{
    struct pld_law all = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        const struct pld_law one = pld_law_one(&losses[i], tilt);
        all.log_sum += losses[i].copies * one.log_sum;
        all.mean += losses[i].copies * one.mean;
        all.variance += losses[i].copies * one.variance;
    }
    return all;
}

double pld_law_end(const struct pld_losses *losses, int64_t n, int upper)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum +=
            losses[i].copies * (losses[i].offset + losses[i].at[upper ? losses[i].n - 1 : 0] * losses[i].h);
    return sum;
}

typedef int (*beyond)(const struct pld_law *law, double tilt, double value);

static int mean_beyond(const struct pld_law *law, double tilt, double at)
{
    (void)tilt;
    return law->mean > at;
}

/* t K' - K grows, and is ln(1/delta) where Chernoff's epsilon is least. */
static int chernoff_beyond(const struct pld_law *law, double tilt, double log_inverse_delta)
{
    return tilt * law->mean - law->log_sum > log_inverse_delta;
}

static double bisect(const struct pld_losses *losses, int64_t n, beyond is_beyond, double value)
{
    double widest = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double width = (losses[i].at[losses[i].n - 1] - losses[i].at[0]) * losses[i].h;
        widest = width > widest ? width : widest;
    }
    double high = log(MOST_EXPONENT / (widest > 1e-290 ? widest : 1e-290)), low = high - 60.0;
    low = low < -20.0 ? low : -20.0;
    for (int i = 0; i < 32; i++) {
        const double middle = (low + high) / 2.0, tilt = exp(middle);
        const struct pld_law law = pld_law_all(losses, n, tilt);
        if (is_beyond(&law, tilt, value))
            high = middle;
        else
            low = middle;
    }
    return exp(low);
}

double pld_law_tilt_at(const struct pld_losses *losses, int64_t n, double at)
{
    return bisect(losses, n, mean_beyond, at);
}

double pld_law_tilt_for(const struct pld_losses *losses, int64_t n, double log_inverse_delta)
{
    return bisect(losses, n, chernoff_beyond, log_inverse_delta);
}

/* P(X >= high) <= e^{K(t+s) - K(t) - s high} for every s > 0 under the tilt t, and the like below. */
struct pld_window pld_law_window(const struct pld_losses *losses, int64_t n, double tilt, double log_tail)
{
    static const double factors[] = {14.0, 8.5, 4.0, 1.5, 0.5, 0.17, 0.06, 0.02};
    struct pld_window window = {tilt,      -INFINITY, INFINITY, pld_law_all(losses, n, tilt),
                                -log_tail, -log_tail};
    const double deviation = sqrt(window.law.variance);
    for (size_t i = 0; i < sizeof factors / sizeof *factors && deviation > 0.0; i++) {
        const double s = factors[i] / deviation;
        const double right = pld_law_all(losses, n, tilt + s).log_sum - window.law.log_sum;
        const double high = (right + log_tail) / s;
        window.high = high < window.high ? high : window.high;
        const double left = pld_law_all(losses, n, tilt - s).log_sum - window.law.log_sum;
        const double low = -(left + log_tail) / s;
        window.low = low > window.low ? low : window.low;
    }
    /* Back to a tilt of 0, where the sum of all masses is 1 at most; beyond it left tails may grow fast. */
    const double untilted = (window.law.log_sum - log_tail) / tilt;
    window.low = untilted > window.low ? untilted : window.low;
    const double end = pld_law_end(losses, n, 1), start = pld_law_end(losses, n, 0);
    if (!(window.high < end)) {
        window.high = end;
        window.log_right = -INFINITY;
    }
    if (!(window.low > start)) {
        window.low = start;
        window.log_left = -INFINITY;
    }
    return window;
}
