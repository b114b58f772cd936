/* SPDX-License-Identifier: Apache-2.0 */
#include "ratings_server.h"

#include <math.h>
#include <string.h>

#include "count_posterior.h"
#include "small_matrix.h"

#define PRIOR_MEAN 0.5   /* people rate what they chose: above the middle of the range, */
#define PRIOR_SLOPE 0.25 /* and what many choose higher */
#define MOMENT_CAP 1.3   /* times sqrt(n_loadings), the norm of the mean of what is summed */
#define GRAM_CAP 0.72    /* times sqrt(typical (rank + 1)) */
#define LEAST_MOMENT 0.03
#define LEAST_GRAM 0.01
#define SD_OF_MEAN 0.4 /* of users' means, and of their other weights: where the second moments start */
#define SD_OF_OTHERS 0.3
#define REGRESSION_RIDGE 5.0
#define LOST 2.0    /* deviations of noise, below which a count says nothing */
#define SMOOTH 20.0 /* in log(count + SMOOTH) */

#define N_BIAS_FIXED 3    /* 1, log count, its square */
#define N_LOADING_FIXED 3 /* 1, bias, log count */

/* ---- layout ---------------------------------------------------------------------------------------------
 */

static int32_t numbers(const struct item_features *features)
{
    int32_t n = 0;
    for (int64_t k = 0; k < features->n; k++)
        n += features->is_number[k] != 0;
    return n;
}

int32_t ratings_n_loadings(const struct item_features *features)
{
    return N_LOADING_FIXED + (int32_t)features->n + numbers(features);
}

static int32_t n_bias_columns(const struct item_features *features)
{
    return N_BIAS_FIXED + (int32_t)features->n + 2 * numbers(features);
}

/* Known loadings that are kept once they are sorted. */
static int32_t n_kept(const struct ratings_rule *rule, const struct item_features *features)
{
    const int32_t known = ratings_n_loadings(features), room = rule->loadings - rule->latent;
    return known < room ? known : room;
}

static int32_t rank_of(const struct ratings_rule *rule, const struct item_features *features)
{
    const int32_t most = n_kept(rule, features);
    return (rule->rank < most ? rule->rank : most) + rule->latent;
}

static int64_t small_size(const struct ratings_rule *rule, const struct item_features *features)
{
    const int64_t d = n_bias_columns(features), e = rank_of(rule, features) + 1,
                  largest = (d > ratings_n_loadings(features) ? d : ratings_n_loadings(features)) + e;
    return 6 * largest * largest + 4 * largest + small_eigen_size(largest);
}

/* Of `small`, which the posterior of counts needs too, before anything else. */
static int64_t work_size(const struct ratings_rule *rule, const struct item_features *features,
                         int64_t n_items)
{
    const int64_t small = small_size(rule, features), counts = count_posterior_size(n_items);
    return small > counts ? small : counts;
}

int64_t ratings_server_size(const struct ratings_rule *rule, const struct item_features *features,
                            int64_t n_items)
{
    const int64_t e = rank_of(rule, features) + 1;
    return n_items * (9 + ratings_n_loadings(features) + n_kept(rule, features) + rule->latent + 2 * e) +
           e * e + work_size(rule, features, n_items);
}

static double *cut(double **memory, int64_t n)
{
    double *at = *memory;
    *memory += n;
    return at;
}

void ratings_server_place(struct ratings_server *server, const struct ratings_rule *rule,
                          const struct item_features *features, int64_t n_items, double *memory)
{
    const int64_t e = rank_of(rule, features) + 1;
    *server = (struct ratings_server){.rule = rule,
                                      .features = features,
                                      .n_items = n_items,
                                      .n_known = ratings_n_loadings(features),
                                      .latent = rule->latent,
                                      .n_loadings = ratings_n_loadings(features),
                                      .rank = rank_of(rule, features)};
    server->count_sums = cut(&memory, n_items);
    server->weight = cut(&memory, n_items);
    server->popularity = cut(&memory, n_items);
    server->effective = cut(&memory, n_items);
    server->typical_weight = cut(&memory, n_items);
    server->prior = cut(&memory, n_items);
    server->bias = cut(&memory, n_items);
    server->bias_variance = cut(&memory, n_items);
    server->variance = cut(&memory, n_items);
    server->loadings = server->known = cut(&memory, n_items * server->n_known);
    server->all = cut(&memory, n_items * (n_kept(rule, features) + server->latent));
    server->anchor = cut(&memory, n_items * e);
    server->signal = cut(&memory, n_items * e);
    server->gram = cut(&memory, e * e);
    server->small = cut(&memory, work_size(rule, features, n_items));
}

/* ---- counts ---------------------------------------------------------------------------------------------
 */

/* Of an item of a typical record, for items whose counts say nothing: how popular they are is unknown, and
   records of them, if any come, are mostly of those that many rate. */
static void assume_typical(struct ratings_server *server, const double *counts, double noise)
{
    double all = 0, sum = 0;
    for (int64_t i = 0; i < server->n_items; i++)
        if (counts[i] > LOST * noise) {
            all += counts[i];
            sum += counts[i] * server->popularity[i];
        }
    for (int64_t i = 0; i < server->n_items && all > 0; i++)
        if (!(counts[i] > LOST * noise))
            server->popularity[i] = sum / all;
}

/* Columns that a loading is made of, and the standard deviation of users' weights on them at the start. */
static void loading_columns(const struct ratings_server *server, int64_t item, double mean_bias, double *x)
{
    const struct item_features *f = server->features;
    int64_t at = N_LOADING_FIXED;
    x[0] = SD_OF_MEAN;
    x[1] = SD_OF_OTHERS * (server->bias[item] - mean_bias) / 0.5;
    x[2] = SD_OF_OTHERS * server->popularity[item];
    for (int64_t k = 0; k < f->n; k++) {
        const double value = f->values[item * f->n + k];
        x[at++] = SD_OF_OTHERS * value;
        if (f->is_number[k])
            x[at++] = SD_OF_OTHERS * fmax(-value - 1.0, 0.0);
    }
}

/* Before biases are known: the prior, whose loadings have none for the bias. */
static void guess_items(struct ratings_server *server)
{
    for (int64_t i = 0; i < server->n_items; i++) {
        server->bias[i] = server->prior[i];
        server->variance[i] = server->rule->item_sd * server->rule->item_sd;
        loading_columns(server, i, server->bias[i], server->loadings + i * server->n_loadings);
    }
}

void ratings_take_counts(struct ratings_server *server, double users, const double *counts)
{
    const struct ratings_rule *rule = server->rule;
    const double noise = rule->grid[RELEASE_COUNTS].sigma;
    double sum = 0;
    for (int64_t i = 0; i < server->n_items; i++)
        sum += counts[i];
    server->users = fmax(users, 1.0);
    /* The sum over items is that of sqrt(n_u) over users. */
    const double root = fmin(fmax(sum / server->users, 1.0), sqrt((double)server->n_items));
    server->typical = root * root;
    server->gram_cap = GRAM_CAP * sqrt(server->typical * (server->rank + 1));
    server->moment_cap = MOMENT_CAP * sqrt((double)server->n_loadings);
    count_posterior(counts, server->n_items, noise, root, SMOOTH, server->small, server->count_sums,
                    server->popularity);
    for (int64_t i = 0; i < server->n_items; i++) {
        server->weight[i] = pow(fmax(server->count_sums[i], 1.0) + rule->count_offset, -rule->exponent);
        server->count_sums[i] /= root;
        server->popularity[i] = (server->popularity[i] - 5.0) / 1.5;
    }
    if (rule->typical)
        assume_typical(server, counts, noise);
    for (int64_t i = 0; i < server->n_items; i++)
        server->prior[i] = PRIOR_MEAN + PRIOR_SLOPE * server->popularity[i];
    guess_items(server);
}

/* ---- biases ---------------------------------------------------------------------------------------------
 */

/* Counts and weights' sums are two noisy views of the sum of weights; this weighs them. */
static void find_effective(struct ratings_server *server, const double *sums)
{
    const struct ratings_rule *rule = server->rule;
    const double beta = rule->count_weight, noise = rule->grid[RELEASE_BIASES].sigma / beta;
    double both = 0, square = 0, effective = 0, over = 0;
    for (int64_t i = 0; i < server->n_items; i++) {
        const double expected = server->count_sums[i] * server->weight[i];
        both += expected * sums[2 * i + 1] / beta;
        square += expected * expected;
    }
    const double slope = square > 0 ? fmax(both / square, 0.0) : 0;
    for (int64_t i = 0; i < server->n_items; i++) {
        const double sent = sums[2 * i + 1] / beta, spread = 0.15 * fmax(sent, 0.0),
                     miss = rule->grid[RELEASE_COUNTS].sigma * server->weight[i] * slope;
        const double v0 = miss * miss + spread * spread, v1 = noise * noise;
        const double expected = server->count_sums[i] * server->weight[i] * slope;
        server->effective[i] = fmax((expected * v1 + sent * v0) / (v0 + v1), 0.0);
        effective += server->effective[i];
        over += server->effective[i] / server->weight[i];
    }
    const double mean = over > 0 && effective > 0 ? effective / over : 1;
    for (int64_t i = 0; i < server->n_items; i++)
        server->typical_weight[i] = server->weight[i] / mean / sqrt(server->typical * (0.8 + beta * beta));
}

static void bias_columns(const struct ratings_server *server, int64_t item, double *x)
{
    const struct item_features *f = server->features;
    const double p = server->popularity[item];
    int64_t at = N_BIAS_FIXED;
    x[0] = 1;
    x[1] = p;
    x[2] = p * p;
    for (int64_t k = 0; k < f->n; k++) {
        const double value = f->values[item * f->n + k];
        x[at++] = value;
        if (f->is_number[k]) {
            x[at++] = value * value;
            x[at++] = fmax(value, 0.0);
        }
    }
}

/* Variance of the sum of weighted residuals, given the item's bias. */
static double bias_noise(const struct ratings_server *server, int64_t item)
{
    const struct ratings_rule *rule = server->rule;
    const double noise = rule->grid[RELEASE_BIASES].sigma;
    return noise * noise + rule->residual_variance * server->effective[item] * server->typical_weight[item];
}

static void regress_biases(struct ratings_server *server, const double *sums, double *coefficients)
{
    const int64_t d = n_bias_columns(server->features);
    const double tau = server->rule->item_sd;
    double *a = server->small, *x = a + d * d;
    memset(a, 0, (size_t)(d * d) * sizeof *a);
    memset(coefficients, 0, (size_t)d * sizeof *coefficients);
    for (int64_t i = 0; i < server->n_items; i++) {
        const double n = server->effective[i];
        const double variance = bias_noise(server, i) + n * n * tau * tau;
        bias_columns(server, i, x);
        for (int64_t r = 0; r < d; r++) {
            for (int64_t c = 0; c <= r; c++)
                a[r * d + c] += n * n / variance * x[r] * x[c];
            coefficients[r] += n * sums[2 * i] / variance * x[r];
        }
    }
    for (int64_t r = 0; r < d; r++)
        a[r * d + r] += REGRESSION_RIDGE;
    if (small_cholesky(a, d) == 0)
        small_solve(a, d, coefficients);
    else
        memset(coefficients, 0, (size_t)d * sizeof *coefficients);
}

static void start_loadings(struct ratings_server *server)
{
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < server->n_items; i++) {
        sum += server->effective[i] * server->bias[i];
        weight += server->effective[i];
    }
    for (int64_t i = 0; i < server->n_items; i++)
        loading_columns(server, i, weight > 0 ? sum / weight : 0, server->loadings + i * server->n_loadings);
}

void ratings_take_biases(struct ratings_server *server, const double *sums)
{
    const double tau = server->rule->item_sd;
    double *x = server->small;
    find_effective(server, sums);
    const int64_t d = n_bias_columns(server->features);
    double *coefficients = x + d * d + d;
    regress_biases(server, sums, coefficients);
    for (int64_t i = 0; i < server->n_items; i++) {
        const double n = server->effective[i];
        double guess = 0;
        bias_columns(server, i, x);
        for (int64_t r = 0; r < d; r++)
            guess += x[r] * coefficients[r];
        const double gain = tau * tau * n / (n * n * tau * tau + bias_noise(server, i));
        server->bias[i] = server->prior[i] + guess + gain * (sums[2 * i] - n * guess);
        server->variance[i] = server->bias_variance[i] = (1.0 - gain * n) * tau * tau;
    }
    start_loadings(server);
}

/* ---- second moments of users' weights -------------------------------------------------------------------
 */

/* From packed numbers, off the diagonal times sqrt(2), to both triangles times scale. */
static void unpack(const double *packed, int64_t d, double scale, double *a)
{
    for (int64_t r = 0; r < d; r++)
        for (int64_t c = 0; c <= r; c++) {
            const double x = *packed++ * scale;
            a[r * d + c] = a[c * d + r] = r == c ? x : x / sqrt(2.0);
        }
}

/* a becomes its root W = V sqrt(max(values, least)) in place; the rows of vectors are V. */
static int floor_and_root(double *a, int64_t d, double least, double *values, double *vectors, double *work)
{
    if (small_eigen(a, d, values, vectors, work) != 0)
        return -1;
    for (int64_t r = 0; r < d; r++)
        for (int64_t k = 0; k < d; k++)
            a[r * d + k] = vectors[k * d + r] * sqrt(fmax(values[k], least));
    return 0;
}

/* q_i := q_i w, w of order d. */
static void turn_loadings(struct ratings_server *server, const double *w, double *x)
{
    const int64_t d = server->n_loadings;
    for (int64_t i = 0; i < server->n_items; i++) {
        double *q = server->loadings + i * d;
        memcpy(x, q, (size_t)d * sizeof *x);
        memset(q, 0, (size_t)d * sizeof *q);
        for (int64_t r = 0; r < d; r++)
            for (int64_t c = 0; c < d; c++)
                q[c] += x[r] * w[r * d + c];
    }
}

/* Directions in which predictions of typical records vary most come first. */
static void sort_directions(struct ratings_server *server, double *a, double *values, double *vectors,
                            double *work)
{
    const int64_t d = server->n_loadings;
    double total = 0;
    memset(a, 0, (size_t)(d * d) * sizeof *a);
    for (int64_t i = 0; i < server->n_items; i++) {
        const double *q = server->loadings + i * d, count = server->effective[i] / server->weight[i];
        total += count;
        for (int64_t r = 0; r < d; r++)
            for (int64_t c = 0; c < d; c++)
                a[r * d + c] += count * q[r] * q[c];
    }
    for (int64_t k = 0; k < d * d; k++)
        a[k] /= fmax(total, 1e-12);
    if (small_eigen(a, d, values, vectors, work) != 0)
        return;
    for (int64_t r = 0; r < d; r++)
        for (int64_t k = 0; k < d; k++)
            a[r * d + k] = vectors[k * d + r];
    turn_loadings(server, a, work);
}

/* Prior variances of what rounds correct: bias, latent, then known loadings. */
static void prior_variances(const struct ratings_server *server, int64_t item, double *p)
{
    const struct ratings_rule *rule = server->rule;
    double sd = rule->factor_sd;
    p[0] = server->bias_variance[item];
    for (int32_t k = 1; k <= server->rank; k++) {
        p[k] = k <= server->latent ? rule->latent_sd * rule->latent_sd : sd * sd;
        if (k > server->latent)
            sd *= rule->factor_decay;
    }
}

static void start_rounds(struct ratings_server *server, double *p)
{
    const int64_t e = server->rank + 1;
    memset(server->signal, 0, (size_t)(server->n_items * e) * sizeof(double));
    memset(server->gram, 0, (size_t)(e * e) * sizeof(double));
    server->rounds = server->round_squares = 0;
    for (int64_t i = 0; i < server->n_items; i++) {
        double *anchor = server->anchor + i * e;
        anchor[0] = server->bias[i];
        memcpy(anchor + 1, server->loadings + i * server->n_loadings, (size_t)(e - 1) * sizeof(double));
        prior_variances(server, i, p);
        for (int64_t k = 1; k < e; k++)
            server->variance[i] += p[k];
    }
}

/* The latent loadings, then the first known ones. */
static void add_latent(struct ratings_server *server, const double *latent)
{
    const int64_t own = server->latent, kept = n_kept(server->rule, server->features), all = own + kept;
    for (int64_t i = 0; i < server->n_items; i++) {
        for (int64_t k = 0; k < own; k++)
            server->all[i * all + k] = server->rule->latent_start * latent[i * own + k];
        memcpy(server->all + i * all + own, server->known + i * server->n_known,
               (size_t)kept * sizeof(double));
    }
    server->loadings = server->all;
    server->n_loadings = (int32_t)all;
}

void ratings_take_moments(struct ratings_server *server, const double *sums, const double *latent)
{
    const int64_t d = server->n_loadings;
    double *a = server->small, *vectors = a + d * d, *values = vectors + d * d, *work = values + d;
    unpack(sums, d, server->moment_cap / server->users, a);
    if (floor_and_root(a, d, LEAST_MOMENT, values, vectors, work) == 0)
        turn_loadings(server, a, work);
    sort_directions(server, a, values, vectors, work);
    add_latent(server, latent);
    start_rounds(server, work);
}

/* ---- rounds ---------------------------------------------------------------------------------------------
 */

/*
 * One item. Its signal, averaged over rounds, is H times the distance from the anchor, H = n C. Noise of the
 * releases is fresh in each round; that of ratings about predictions, s2 n w C, is the same in all of them.
 */
static void correct_item(struct ratings_server *server, int64_t item, const double *gram, double *work)
{
    const int64_t e = server->rank + 1, size = e * e;
    const double n = server->effective[item], noise = server->rule->grid[RELEASE_FACTORS].sigma,
                 fresh = noise * noise * server->round_squares / (server->rounds * server->rounds);
    double *p = work, *s = p + e, *x = s + size, *half = x + e;
    const double spread = server->rule->residual_variance * n * gram[0] * server->typical_weight[item];
    prior_variances(server, item, p);
    for (int64_t r = 0; r < e; r++)
        for (int64_t c = 0; c < e; c++) {
            double sum = 0;
            for (int64_t k = 0; k < e; k++)
                sum += gram[r * e + k] * p[k] * gram[k * e + c];
            s[r * e + c] = n * n * sum + spread * gram[r * e + c] + (r == c ? fresh : 0);
        }
    if (small_cholesky(s, e) != 0)
        return;
    for (int64_t k = 0; k < e; k++)
        x[k] = server->signal[item * e + k] / server->rounds;
    small_solve(s, e, x);
    server->variance[item] = 0;
    for (int64_t r = 0; r < e; r++) {
        double move = 0, less = 0;
        for (int64_t c = 0; c < e; c++)
            move += p[r] * n * gram[r * e + c] * x[c];
        *(r ? server->loadings + item * server->n_loadings + r - 1 : server->bias + item) =
            server->anchor[item * e + r] + move;
        for (int64_t c = 0; c < e; c++)
            half[c] = p[r] * n * gram[r * e + c];
        small_solve(s, e, half);
        for (int64_t c = 0; c < e; c++)
            less += half[c] * p[r] * n * gram[r * e + c];
        server->variance[item] += fmax(p[r] - less, 0.0);
    }
}

/* The sums of a round, as they would be if items still stood at the anchor. */
static void add_signal(struct ratings_server *server, const double *sums, const double *gram, double *moved)
{
    const int64_t e = server->rank + 1;
    const double forget = server->rule->forget;
    for (int64_t i = 0; i < server->n_items; i++) {
        double *signal = server->signal + i * e;
        for (int64_t k = 0; k < e; k++)
            moved[k] = (k ? server->loadings[i * server->n_loadings + k - 1] : server->bias[i]) -
                       server->anchor[i * e + k];
        for (int64_t r = 0; r < e; r++) {
            double back = 0;
            for (int64_t c = 0; c < e; c++)
                back += gram[r * e + c] * moved[c];
            signal[r] = forget * signal[r] + sums[i * e + r] + server->effective[i] * back;
        }
    }
    for (int64_t k = 0; k < e * e; k++)
        server->gram[k] = forget * server->gram[k] + gram[k];
    server->rounds = forget * server->rounds + 1;
    server->round_squares = forget * forget * server->round_squares + 1;
}

void ratings_take_round(struct ratings_server *server, const double *sums, const double *gram)
{
    const int64_t e = server->rank + 1;
    double *a = server->small, *root = a + e * e, *vectors = root + e * e, *values = vectors + e * e,
           *work = values + e, effective = 0;
    for (int64_t i = 0; i < server->n_items; i++)
        effective += server->effective[i];
    unpack(gram, e, server->gram_cap / fmax(effective, 1e-12), root);
    memcpy(a, root, (size_t)(e * e) * sizeof *a);
    if (small_eigen(a, e, values, vectors, work) != 0 || !(values[0] > 0)) /* all noise */
        return;
    memset(a, 0, (size_t)(e * e) * sizeof *a);
    for (int64_t k = 0; k < e; k++)
        for (int64_t r = 0; r < e; r++)
            for (int64_t c = 0; c < e; c++)
                a[r * e + c] +=
                    fmax(values[k], LEAST_GRAM * values[0]) * vectors[k * e + r] * vectors[k * e + c];
    add_signal(server, sums, a, root);
    for (int64_t k = 0; k < e * e; k++)
        a[k] = server->gram[k] / server->rounds;
    for (int64_t i = 0; i < server->n_items; i++)
        correct_item(server, i, a, root);
}
