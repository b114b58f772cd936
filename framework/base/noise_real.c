/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_real.c - normal and Laplace float64 draws, for speed.
 *
 * Their low bits are not those of the real distributions and can give away what they are added to
 * (Mironov, CCS 2012), so nothing is proved about a release that uses them. Always finite.
 */
#include "base/random.h"

#include <math.h>
#include <pthread.h>

#include "base/random_cursor.h"

/* The ziggurat of Marsaglia and Tsang (J. Stat. Software 5(8), 2000) with 256 layers of equal area. */
#define LAYERS 256
#define TAIL_START 3.6541528853610088
#define LAYER_AREA 4.92867323399e-3

static double layer_x[LAYERS + 1]; /* right ends, decreasing; [0] is the base layer's width */
static double layer_y[LAYERS + 1]; /* exp(-x^2/2) there */
static pthread_once_t layers_once = PTHREAD_ONCE_INIT;

static void make_layers(void)
{
    layer_x[0] = LAYER_AREA / exp(-0.5 * TAIL_START * TAIL_START);
    layer_x[1] = TAIL_START;
    for (int i = 1; i < LAYERS; i++) {
        layer_y[i] = exp(-0.5 * layer_x[i] * layer_x[i]);
        double top = LAYER_AREA / layer_x[i] + layer_y[i];
        layer_x[i + 1] = top < 1 && i + 1 < LAYERS ? sqrt(-2 * log(top)) : 0;
    }
    layer_y[LAYERS] = 1;
}

static double normal_tail(struct random_cursor *c)
{
    double x, y;
    do {
        x = -log(random_unit_positive(random_word(c))) / TAIL_START;
        y = -log(random_unit_positive(random_word(c)));
    } while (y + y < x * x);
    return TAIL_START + x;
}

/* The magnitude where the word fell outside the layer's inner rectangle; negative: draw again. */
static __attribute__((noinline)) double normal_edge(struct random_cursor *c, unsigned layer, double x)
{
    if (layer == 0)
        return normal_tail(c);
    double y = layer_y[layer] + (layer_y[layer + 1] - layer_y[layer]) * random_unit(random_word(c));
    return y < exp(-0.5 * x * x) ? x : -1;
}

void random_normal(dpf_cursor *cursor, double *out, int64_t n)
{
    pthread_once(&layers_once, make_layers);
    struct random_cursor *c = random_cursor_of(cursor);
    for (int64_t i = 0; i < n;) {
        uint64_t word = random_word(c); /* 8 bits choose the layer, 1 the sign, 53 the place */
        unsigned layer = word & (LAYERS - 1);
        double x = random_unit(word) * layer_x[layer];
        if (__builtin_expect(x >= layer_x[layer + 1], 0)) {
            x = normal_edge(c, layer, x);
            if (x < 0)
                continue;
        }
        out[i++] = word & LAYERS ? -x : x;
    }
}

void random_laplace(dpf_cursor *cursor, double *out, int64_t n)
{
    struct random_cursor *c = random_cursor_of(cursor);
    for (int64_t i = 0; i < n; i++) {
        uint64_t word = random_word(c); /* the low bit is the sign, the upper 53 the place */
        double x = -log(random_unit_positive(word));
        out[i] = word & 1 ? -x : x;
    }
}
