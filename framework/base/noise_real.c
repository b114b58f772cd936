/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_real.c - normal and Laplace float64 draws, for speed.
 *
 * Their low bits are not those of the real distributions and can give away what they are added to
 * (Mironov, CCS 2012), so nothing is proved about a release that uses them. Always finite.
 *
 * Both use the ziggurat of Marsaglia and Tsang, J. Stat. Software 5(8), 2000: the area under a
 * decreasing density is cut into 256 layers of equal area. A point of a random layer is nearly always
 * inside the rectangle that lies wholly under the density; only at an edge is the density computed.
 */
#include "base/random.h"

#include <math.h>
#include <pthread.h>

#include "base/random_cursor.h"

#define LAYERS 256 /* a word gives 8 bits for the layer, 1 for the sign, 53 for the place */
/* Where the tail starts: these make 256 layers of equal area reach exactly to the mode. */
#define NORMAL_TAIL 3.6541528853610088
#define EXPONENTIAL_TAIL 7.6971174701310497

struct ziggurat {
    double x[LAYERS + 1]; /* right ends, decreasing; [0] is the width of the base layer with its tail */
    double y[LAYERS + 1]; /* the density there, at most 1 */
};

static struct ziggurat normal_layers;
static struct ziggurat exponential_layers;
static pthread_once_t layers_once = PTHREAD_ONCE_INIT;

static double normal_density(double x)
{
    return exp(-0.5 * x * x);
}

static double normal_inverse(double y)
{
    return sqrt(-2 * log(y));
}

static double exponential_density(double x)
{
    return exp(-x);
}

static double exponential_inverse(double y)
{
    return -log(y);
}

/* tail_area is the area beyond tail. */
static void make_layers(struct ziggurat *z, double tail, double tail_area, double (*density)(double),
                        double (*inverse)(double))
{
    double area = tail * density(tail) + tail_area;
    z->x[0] = area / density(tail);
    z->x[1] = tail;
    for (int i = 1; i < LAYERS; i++) {
        z->y[i] = density(z->x[i]);
        double top = area / z->x[i] + z->y[i];
        z->x[i + 1] = i + 1 < LAYERS && top < 1 ? inverse(top) : 0;
    }
    z->y[LAYERS] = 1;
}

static void make_all_layers(void)
{
    double half_tail = sqrt(atan(1.0) * 2) * erfc(NORMAL_TAIL * sqrt(0.5));
    make_layers(&normal_layers, NORMAL_TAIL, half_tail, normal_density, normal_inverse);
    make_layers(&exponential_layers, EXPONENTIAL_TAIL, exp(-EXPONENTIAL_TAIL), exponential_density,
                exponential_inverse);
}

static double exponential_draw(struct random_cursor *c)
{
    return -log(random_unit_positive(random_word(c)));
}

static double normal_tail(struct random_cursor *c)
{
    double x, y;
    do {
        x = exponential_draw(c) / NORMAL_TAIL;
        y = exponential_draw(c);
    } while (y + y < x * x);
    return NORMAL_TAIL + x;
}

/* Under the density, for a point above the layer's inner rectangle? */
static int under(struct random_cursor *c, const struct ziggurat *z, unsigned layer, double density)
{
    return z->y[layer] + (z->y[layer + 1] - z->y[layer]) * random_unit(random_word(c)) < density;
}

/* Both return the magnitude of a point outside the inner rectangle, or a negative number: draw again. */
static __attribute__((noinline)) double normal_edge(struct random_cursor *c, unsigned layer, double x)
{
    if (layer == 0)
        return normal_tail(c);
    return under(c, &normal_layers, layer, normal_density(x)) ? x : -1;
}

static __attribute__((noinline)) double exponential_edge(struct random_cursor *c, unsigned layer, double x)
{
    if (layer == 0)
        return EXPONENTIAL_TAIL + exponential_draw(c);
    return under(c, &exponential_layers, layer, exponential_density(x)) ? x : -1;
}

static inline void fill(dpf_cursor *cursor, const struct ziggurat *z,
                        double (*edge)(struct random_cursor *c, unsigned layer, double x), double *out,
                        int64_t n)
{
    pthread_once(&layers_once, make_all_layers);
    struct random_cursor *c = random_cursor_of(cursor);
    random_cursor_expect(c, n);
    for (int64_t i = 0; i < n;) {
        uint64_t word = random_word(c);
        unsigned layer = word & (LAYERS - 1);
        double x = random_unit(word) * z->x[layer];
        if (__builtin_expect(x >= z->x[layer + 1], 0)) {
            x = edge(c, layer, x);
            if (x < 0)
                continue;
        }
        out[i++] = word & LAYERS ? -x : x;
    }
}

void random_normal(dpf_cursor *cursor, double *out, int64_t n)
{
    fill(cursor, &normal_layers, normal_edge, out, n);
}

void random_laplace(dpf_cursor *cursor, double *out, int64_t n)
{
    fill(cursor, &exponential_layers, exponential_edge, out, n);
}
