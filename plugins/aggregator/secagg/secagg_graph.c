/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_graph.c - degrees from tails of hypergeometric distributions, and the random graph.
 *
 * Of n clients at most c are corrupt and at most l are lost; seen from the random order, the k
 * neighbours of a client are a random sample. Three events must be unlikely (Bell et al., section 3.3):
 *   - the honest survivors fall into parts that share no mask. Then their sums are known one by one. To
 *     cut a Harary graph, k/2 clients in a row have to be corrupt or lost in two places; there are at most
 *     n (n - k - 1) / 2 pairs of places, each with probability C(c+l, k) / C(n, k);
 *   - as many neighbours of some client are corrupt as the threshold t asks for;
 *   - fewer than t neighbours of some client survive, and the round fails.
 * The first two get half of 2^-40 each, the last 2^-20; union bounds over the clients.
 */
#include "secagg_graph.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

/* Counts that come from fractions are not to lose one to the last bit of a product. */
#define NUDGE 1e-14

/* ln n!: Stirling's series, whose error is below 1e-15 from 16 on. lgamma would write to signgam. */
static double log_factorial(double n)
{
    double product = 1, x = n;
    for (; x < 16; x++)
        product *= x + 1;
    const double inverse = 1 / x, square = inverse * inverse;
    const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
    return (x + 0.5) * log(x) - x + 0.91893853320467274178 + series - log(product);
}

static double log_binomial(double n, double k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* Pr[x of the k drawn are among the m marked of n] */
static double hypergeometric(double n, double m, double k, double x)
{
    if (x < 0 || x > m || x > k || k - x > n - m)
        return 0;
    return exp(log_binomial(m, x) + log_binomial(n - m, k - x) - log_binomial(n, k));
}

/* The least t with Pr[X > t] <= bound. */
static int64_t upper_tail(double n, double m, double k, double bound)
{
    int64_t t = (int64_t)(m < k ? m : k);
    double tail = 0;
    for (; t >= 0; t--) {
        tail += hypergeometric(n, m, k, (double)t);
        if (tail > bound)
            break;
    }
    return t;
}

/* The largest t with Pr[X < t] <= bound. */
static int64_t lower_tail(double n, double m, double k, double bound)
{
    int64_t t = 0;
    double tail = hypergeometric(n, m, k, 0);
    while (tail <= bound && t < (int64_t)k) {
        t++;
        tail += hypergeometric(n, m, k, (double)t);
    }
    return t;
}

/* Whether a random Harary graph stays connected, but for half of the security's probability. */
static int stays_connected(double n, double k, double bad)
{
    if (k > bad)
        return 1;
    const double pairs = log(n) + log(n - k - 1) - log(2);
    return pairs + log_binomial(bad, k) - log_binomial(n, k) < -(SECAGG_SECURITY_BITS + 1) * log(2);
}

int secagg_graph_choose(uint32_t clients, double corrupt, double lost, int guarded, struct secagg_graph *out)
{
    const double n = clients;
    const double most_corrupt = floor((corrupt + NUDGE) * n), most_lost = floor((lost + NUDGE) * n);
    const double survivors = ceil((1 - lost - NUDGE) * n);
    const double attack = ldexp(1, -(SECAGG_SECURITY_BITS + 1)) / n,
                 failure = ldexp(1, -SECAGG_FAILURE_BITS) / n;
    for (uint32_t k = 2; (uint64_t)k + 1 < clients; k += 2) {
        if (!stays_connected(n, k, most_corrupt + most_lost))
            continue;
        int64_t least = upper_tail(n, most_corrupt, k, attack) + 1;
        /* Each of two stories needs t answers, and only the corrupt tell both: 2 t > k + corrupt. */
        if (guarded)
            least = (least - 1 + k) / 2 + 1;
        if (lower_tail(n, survivors, k, failure) < least)
            continue;
        out->degree = k;
        /* Two, so that nobody opens anything alone: a client's own share is the second. */
        out->threshold = least < 2 ? 2 : (uint32_t)least;
        return 0;
    }
    return -1;
}

/* ---- the graph ---------------------------------------------------------------------------------- */

static uint32_t below(struct secagg_source *source, uint32_t bound)
{
    const uint64_t biased = (0 - (uint64_t)bound) % bound;
    for (;;) {
        uint64_t word;
        secagg_source_bytes(source, (uint8_t *)&word, sizeof(word));
        const wide product = (wide)word * bound;
        if ((uint64_t)product >= biased)
            return (uint32_t)(product >> 64);
    }
}

static void insert(uint32_t *list, uint32_t length, uint32_t x)
{
    uint32_t at = length;
    for (; at > 0 && list[at - 1] > x; at--)
        list[at] = list[at - 1];
    list[at] = x;
}

void secagg_graph_draw(struct secagg_source *source, uint32_t n, uint32_t degree, uint32_t *order,
                       uint32_t *neighbours)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = below(source, i), last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
    for (uint32_t place = 0; place < n; place++) {
        uint32_t *list = neighbours + (size_t)order[place] * degree;
        for (uint32_t step = 1; step <= degree / 2; step++) {
            insert(list, 2 * step - 2, order[((uint64_t)place + step) % n]);
            insert(list, 2 * step - 1, order[((uint64_t)place + n - step) % n]);
        }
    }
}
