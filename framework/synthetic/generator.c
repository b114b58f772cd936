/* SPDX-License-Identifier: Apache-2.0 */
#include "synthetic/generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sort_rows.h"

/* Shares of the value range: where a typical rating lies, and how far biases and taste move it. Set
   after the shape of public five-star data: mean 3.5, biases of 0.4 and 0.35 stars, taste of 0.5. */
#define OFFSET_SHARE 0.62
#define USER_BIAS_SHARE 0.10
#define ITEM_BIAS_SHARE 0.09
#define TASTE_SHARE 0.13

/* What a row of a stream is for. */
enum { ROW_USER, ROW_ITEMS, ROW_NOISE, ROW_TIMES };

struct generator {
    struct generate_options options;
    dpf_stream *users_stream;
    dpf_stream *items_stream;
    double *popularity; /* probability of each item in one draw */
    double *threshold;  /* alias method (Walker; Vose 1991) */
    int32_t *alias;
    float *item_bias;
    float *item_factors; /* items x rank */
    double activity_mu;
    int64_t most_per_user;
};

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* E[min(exp(mu + sigma z), cap)] */
static double capped_mean(double mu, double sigma, double cap)
{
    double l = log(cap);
    return exp(mu + sigma * sigma / 2) * normal_cdf((l - mu - sigma * sigma) / sigma) +
           cap * (1 - normal_cdf((l - mu) / sigma));
}

/* The location at which the capped log-normal has the wanted mean. */
static double solve_mu(double mean, double sigma, double cap)
{
    double lo = -60, hi = 60;
    for (int i = 0; i < 200; i++) {
        double middle = lo + (hi - lo) / 2;
        if (capped_mean(middle, sigma, cap) < mean)
            lo = middle;
        else
            hi = middle;
    }
    return lo + (hi - lo) / 2;
}

static void set_activity(struct generator *g)
{
    const struct generate_options *o = &g->options;
    double mean = (double)o->ratings / (double)o->users;
    double excess = mean - (double)o->min_per_user;
    /* Nobody has seen most of a large catalogue. */
    double most = fmax((double)o->items / 8, 8 * mean);
    most = fmin((double)o->items, floor(most));
    g->most_per_user = (int64_t)fmax(most, (double)o->min_per_user);
    double cap = (double)(g->most_per_user - o->min_per_user);
    if (o->activity_sigma > 0 && excess > 0 && cap > excess)
        g->activity_mu = solve_mu(excess, o->activity_sigma, cap);
    else
        g->activity_mu = excess > 0 ? log(excess) : -INFINITY;
}

/* Log-normal weights, none above the share that a mean user's list would hold with certainty. */
static int set_popularity(struct generator *g)
{
    const struct generate_options *o = &g->options;
    int64_t n = o->items;
    double mean = (double)o->ratings / (double)o->users;
    double most = fmax(0.6 / mean, 1.5 / (double)n);
    dpf_cursor cursor;
    random_seek(g->items_stream, 0, 0, 0, &cursor);
    random_normal(&cursor, g->popularity, n);
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += g->popularity[i] = exp(o->popularity_sigma * g->popularity[i]);
    for (int round = 0; round < 40; round++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += g->popularity[i] = fmin(g->popularity[i], most * total);
        total = sum;
    }
    if (!(total > 0) || !isfinite(total))
        return -1;
    for (int64_t i = 0; i < n; i++)
        g->popularity[i] /= total;
    return 0;
}

static int set_alias(struct generator *g)
{
    int64_t n = g->options.items, n_small = 0, n_large = 0;
    int32_t *small = memory_raw(2 * (size_t)n, sizeof *small);
    if (!small)
        return -1;
    int32_t *large = small + n;
    for (int64_t i = 0; i < n; i++) {
        g->threshold[i] = g->popularity[i] * (double)n;
        g->alias[i] = (int32_t)i;
        if (g->threshold[i] < 1)
            small[n_small++] = (int32_t)i;
        else
            large[n_large++] = (int32_t)i;
    }
    while (n_small > 0 && n_large > 0) {
        int32_t s = small[--n_small], l = large[n_large - 1];
        g->alias[s] = l;
        g->threshold[l] -= 1 - g->threshold[s];
        if (g->threshold[l] < 1) {
            n_large--;
            small[n_small++] = l;
        }
    }
    while (n_large > 0)
        g->threshold[large[--n_large]] = 1;
    while (n_small > 0)
        g->threshold[small[--n_small]] = 1; /* rounding left them over */
    free(small);
    return 0;
}

static int set_items(struct generator *g)
{
    const struct generate_options *o = &g->options;
    int64_t n = o->items, k = o->rank;
    double range = o->value_hi - o->value_lo;
    double *draws = memory_raw((size_t)k + 1, sizeof *draws);
    if (!draws)
        return -1;
    /* The product of two vectors of k standard normals has a variance of k. */
    double scale = k > 0 ? TASTE_SHARE * range / sqrt((double)k) : 0;
    for (int64_t i = 0; i < n; i++) {
        dpf_cursor cursor;
        random_seek(g->items_stream, 1, (uint32_t)i, 0, &cursor);
        random_normal(&cursor, draws, k + 1);
        g->item_bias[i] = (float)(draws[0] * ITEM_BIAS_SHARE * range);
        for (int64_t f = 0; f < k; f++)
            g->item_factors[i * k + f] = (float)(draws[f + 1] * scale);
    }
    free(draws);
    return 0;
}

void generator_free(struct generator *generator)
{
    if (!generator)
        return;
    random_stream_free(generator->users_stream);
    random_stream_free(generator->items_stream);
    free(generator->popularity);
    free(generator->threshold);
    free(generator->alias);
    free(generator->item_bias);
    free(generator->item_factors);
    free(generator);
}

static int check_options(const struct generate_options *o, struct dpf_error *error)
{
    if (o->users < 1 || o->items < 1 || o->users >= INT32_MAX || o->items >= INT32_MAX || o->rank < 0)
        return error_set(error, DPF_FAULT_CONFIG, "synthetic data needs users and items, below 2^31 of each");
    double mean = (double)o->ratings / (double)o->users;
    if (mean > (double)o->items || mean < (double)o->min_per_user || o->min_per_user < 0 || o->ratings < 1)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "%lld synthetic ratings are %.3g a user, which must lie between min-per-user (%lld) and the "
            "number of items (%lld)",
            (long long)o->ratings, mean, (long long)o->min_per_user, (long long)o->items);
    if (!(o->value_lo < o->value_hi) || !isfinite(o->value_lo) || !isfinite(o->value_hi) || !(o->step >= 0) ||
        !(o->noise >= 0) || !(o->affinity >= 0))
        return error_set(error, DPF_FAULT_CONFIG,
                         "synthetic ratings need a finite range, and step, noise and affinity of 0 or more");
    return 0;
}

struct generator *generator_new(const struct generate_options *options, const struct random_root *seeded,
                                struct dpf_error *error)
{
    if (check_options(options, error) != 0)
        return NULL;
    struct generator *g = memory_new(1, sizeof *g);
    if (!g) {
        error_memory(error);
        return NULL;
    }
    size_t n = (size_t)options->items;
    g->options = *options;
    g->users_stream = random_stream_open(seeded, "data", "synthetic-users", error);
    g->items_stream = g->users_stream ? random_stream_open(seeded, "data", "synthetic-items", error) : NULL;
    g->popularity = memory_raw(n, sizeof *g->popularity);
    g->threshold = memory_raw(n, sizeof *g->threshold);
    g->alias = memory_raw(n, sizeof *g->alias);
    g->item_bias = memory_raw(n, sizeof *g->item_bias);
    g->item_factors = memory_raw(n * (size_t)options->rank, sizeof *g->item_factors);
    int ready =
        g->items_stream && g->popularity && g->threshold && g->alias && g->item_bias && g->item_factors;
    if (ready) {
        set_activity(g);
        ready = set_popularity(g) == 0 && set_alias(g) == 0 && set_items(g) == 0;
    }
    if (ready)
        return g;
    error_memory(error);
    generator_free(g);
    return NULL;
}

const struct generate_options *generator_options(const struct generator *generator)
{
    return &generator->options;
}

/* The user's traits: degree, bias and factors are functions of the same few draws. */
static int64_t degree_from(const struct generator *g, double normal, double uniform)
{
    const struct generate_options *o = &g->options;
    double excess = exp(g->activity_mu + o->activity_sigma * normal);
    double cap = (double)(g->most_per_user - o->min_per_user);
    if (!(excess < cap))
        return g->most_per_user;
    int64_t degree = o->min_per_user + (int64_t)floor(excess + uniform);
    return degree < g->most_per_user ? degree : g->most_per_user;
}

int64_t generator_degree(const struct generator *g, int64_t user)
{
    dpf_cursor cursor;
    double normal, uniform;
    random_seek(g->users_stream, 0, (uint32_t)user, ROW_USER, &cursor);
    random_normal(&cursor, &normal, 1);
    random_seek(g->users_stream, 1, (uint32_t)user, ROW_USER, &cursor);
    random_uniform(&cursor, &uniform, 1);
    return degree_from(g, normal, uniform);
}

#define BATCH 128

struct race {
    double time;
    int32_t item;
};

static int is_later(const struct race *x, const struct race *y)
{
    return x->time != y->time ? x->time > y->time : x->item > y->item;
}

/* Restores a heap of n whose latest is the root, after the root was replaced. */
static void sift_race(struct race *heap, int64_t n, struct race moved)
{
    int64_t at = 0;
    for (int64_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && is_later(&heap[child + 1], &heap[child]);
        if (!is_later(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The user's taste for an item, of unit variance over items and users. */
static double taste(const struct generator *g, const double *traits, int64_t item)
{
    int64_t k = g->options.rank;
    double sum = 0;
    for (int64_t f = 0; f < k; f++)
        sum += traits[2 + f] * g->item_factors[item * k + f];
    return sum / (TASTE_SHARE * (g->options.value_hi - g->options.value_lo));
}

/*
 * The first `degree` of independent exponential arrivals with the items' popularities as rates. It is the
 * same distribution as drawing one after the other without replacement, and does not slow down when most of
 * the catalogue is taken.
 */
static int draw_by_race(const struct generator *g, int64_t user, const double *traits, int64_t degree,
                        int32_t *items)
{
    double uniform[BATCH];
    struct race *first = memory_raw((size_t)degree, sizeof *first);
    if (!first)
        return -1;
    for (int64_t i = 0; i < degree; i++)
        first[i] = (struct race){INFINITY, INT32_MAX}; /* later than all that come */
    dpf_cursor cursor;
    random_seek(g->users_stream, 1, (uint32_t)user, ROW_ITEMS, &cursor);
    for (int64_t i = 0; i < g->options.items; i++) {
        if (i % BATCH == 0)
            random_uniform(&cursor, uniform, BATCH);
        double rate = g->popularity[i];
        if (g->options.affinity > 0)
            rate *= exp(g->options.affinity * taste(g, traits, i));
        struct race arrival = {-log1p(-uniform[i % BATCH]) / fmax(rate, 1e-300), (int32_t)i};
        if (degree > 0 && is_later(&first[0], &arrival))
            sift_race(first, degree, arrival);
    }
    for (int64_t i = 0; i < degree; i++)
        items[i] = first[i].item;
    free(first);
    return 0;
}

/* 1 if the item is new in the open-addressed set of codes + 1. */
static int set_insert(uint32_t *set, uint32_t mask, uint32_t item)
{
    uint32_t at = (item * UINT32_C(2654435761)) & mask;
    for (; set[at]; at = (at + 1) & mask)
        if (set[at] == item + 1)
            return 0;
    set[at] = item + 1;
    return 1;
}

/* Draws until degree distinct items are found. 1: too many repeats, take the other way; -1: no memory. */
static int draw_by_alias(const struct generator *g, int64_t user, int64_t degree, int32_t *items)
{
    uint64_t n = (uint64_t)g->options.items;
    uint32_t size = 16;
    while (size < 2 * (uint64_t)degree)
        size *= 2;
    uint32_t *set = memory_new(size, sizeof *set);
    if (!set)
        return -1;
    dpf_cursor cursor;
    random_seek(g->users_stream, 0, (uint32_t)user, ROW_ITEMS, &cursor);
    int64_t taken = 0, tries_left = 8 * degree + 1024;
    while (taken < degree && tries_left > 0) {
        uint64_t words[BATCH];
        random_bits(&cursor, words, BATCH);
        for (int b = 0; b < BATCH && taken < degree; b++, tries_left--) {
            /* The upper half picks a column (bias below n/2^32), the lower half decides within it. */
            uint64_t column = (words[b] >> 32) * n >> 32;
            double u = (double)(uint32_t)words[b] * 0x1p-32;
            uint32_t item = (uint32_t)(u < g->threshold[column] ? (int32_t)column : g->alias[column]);
            if (set_insert(set, size - 1, item))
                items[taken++] = (int32_t)item;
        }
    }
    free(set);
    return taken == degree ? 0 : 1;
}

static int draw_items(const struct generator *g, int64_t user, const double *traits, int64_t degree,
                      int32_t *items)
{
    int status = 1;
    if (degree <= g->options.items / 3 && !(g->options.affinity > 0))
        status = draw_by_alias(g, user, degree, items);
    if (status > 0)
        status = draw_by_race(g, user, traits, degree, items);
    if (status != 0)
        return -1;
    uint64_t *keys = memory_raw(2 * (size_t)degree, sizeof *keys);
    if (!keys)
        return -1;
    for (int64_t i = 0; i < degree; i++)
        keys[i] = (uint64_t)(uint32_t)items[i] << 32 | (uint64_t)i;
    sort_keys(keys, keys + degree, degree);
    for (int64_t i = 0; i < degree; i++)
        items[i] = (int32_t)(keys[i] >> 32);
    free(keys);
    return 0;
}

static float rate(const struct generate_options *o, double value)
{
    value = fmin(fmax(value, o->value_lo), o->value_hi);
    if (o->step > 0) {
        value = o->value_lo + o->step * floor((value - o->value_lo) / o->step + 0.5);
        if (value > o->value_hi)
            value -= o->step;
    }
    float rounded = (float)value;
    if ((double)rounded > o->value_hi)
        rounded = nextafterf(rounded, -INFINITY);
    if ((double)rounded < o->value_lo)
        rounded = nextafterf(rounded, INFINITY);
    return rounded;
}

/* traits: degree's normal, bias, rank factors. */
static void draw_values(const struct generator *g, int64_t user, const double *traits, int64_t degree,
                        const int32_t *items, float *values)
{
    const struct generate_options *o = &g->options;
    int64_t k = o->rank;
    double range = o->value_hi - o->value_lo;
    double base = o->value_lo + OFFSET_SHARE * range + USER_BIAS_SHARE * range * traits[1];
    dpf_cursor cursor;
    random_seek(g->users_stream, 0, (uint32_t)user, ROW_NOISE, &cursor);
    double noise[BATCH];
    for (int64_t i = 0; i < degree; i++) {
        if (i % BATCH == 0)
            random_normal(&cursor, noise, degree - i < BATCH ? degree - i : BATCH);
        double value = base + g->item_bias[items[i]] + o->noise * noise[i % BATCH];
        const float *factors = g->item_factors + (int64_t)items[i] * k;
        for (int64_t f = 0; f < k; f++)
            value += traits[2 + f] * factors[f];
        values[i] = rate(o, value);
    }
}

/* Half-minute steps in a random order from a random start within ten years. */
static int draw_times(const struct generator *g, int64_t user, int64_t degree, double *times)
{
    int64_t *order = memory_raw((size_t)degree, sizeof *order);
    if (!order)
        return -1;
    dpf_cursor cursor;
    uint64_t start;
    random_seek(g->users_stream, 0, (uint32_t)user, ROW_TIMES, &cursor);
    random_below(&cursor, UINT64_C(315360000), &start, 1);
    random_permutation(&cursor, order, degree);
    for (int64_t i = 0; i < degree; i++)
        times[i] = 1.0e9 + (double)start + 30.0 * (double)order[i];
    free(order);
    return 0;
}

int64_t generator_user(const struct generator *generator, int64_t user, int32_t *items, float *values,
                       double *times)
{
    const struct generator *g = generator;
    int64_t degree = generator_degree(g, user);
    double *traits = memory_raw((size_t)g->options.rank + 2, sizeof *traits);
    if (!traits)
        return -1;
    dpf_cursor cursor;
    random_seek(g->users_stream, 0, (uint32_t)user, ROW_USER, &cursor);
    random_normal(&cursor, traits, g->options.rank + 2);
    int status = draw_items(g, user, traits, degree, items);
    if (status == 0 && values)
        draw_values(g, user, traits, degree, items, values);
    if (status == 0 && times)
        status = draw_times(g, user, degree, times);
    free(traits);
    return status == 0 ? degree : -1;
}
