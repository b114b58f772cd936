/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/paired_users.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "evaluate/bootstrap.h"

#define MOST_EXACT 16    /* users of whom all signs are tried */
#define MOST_DRAWN 20000 /* users above whom sums are taken as normal */
#define FLIPS 9999
#define REPLICATES 1999
#define NORMAL_REACH 1.959963984540054 /* of a 95 % interval */
#define FOUND 2.8015852                /* standard errors that a test at 5 % finds with probability .8 */
#define ROUNDING 1e-12

/* Users with test records: what both models have, and their difference. */
struct pairs {
    int64_t n;
    double *a, *b, *weight, *d;
    double sum_a, sum_b, sum_weight, squares; /* of d */
};

static void pairs_free(struct pairs *pairs)
{
    free(pairs->a);
}

static int pairs_make(const struct user_values *a, const struct user_values *b, int ma, int mb,
                      const int64_t (*chosen)[2], int64_t n, struct pairs *out, struct dpf_error *error)
{
    *out = (struct pairs){.a = memory_new((size_t)n + 1, 4 * sizeof *out->a)};
    if (!out->a)
        return error_memory(error);
    out->b = out->a + n;
    out->weight = out->b + n;
    out->d = out->weight + n;
    for (int64_t i = 0; i < n; i++) {
        const double *x = user_values_row(a, chosen ? chosen[i][0] : i) + 2 * ma;
        const double *y = user_values_row(b, chosen ? chosen[i][1] : i) + 2 * mb;
        if (!(x[1] > 0) || !(y[1] > 0))
            continue;
        const int64_t k = out->n++;
        out->a[k] = x[0];
        out->b[k] = y[0];
        out->weight[k] = x[1];
        out->d[k] = x[0] - y[0];
        out->sum_a += x[0];
        out->sum_b += y[0];
        out->sum_weight += x[1];
        out->squares += out->d[k] * out->d[k];
    }
    return 0;
}

/* ---- sign flips --------------------------------------------------------------------------------------- */

static double exact_p(const struct pairs *pairs, double limit)
{
    const uint64_t all = (uint64_t)1 << pairs->n;
    uint64_t beyond = 0;
    for (uint64_t signs = 0; signs < all; signs++) {
        double sum = 0;
        for (int64_t i = 0; i < pairs->n; i++)
            sum += signs >> i & 1 ? pairs->d[i] : -pairs->d[i];
        beyond += fabs(sum) >= limit;
    }
    return (double)beyond / (double)all;
}

/* Bit b of byte j becomes bit j of byte b (Warren, Hacker's Delight, 7-3). */
static uint64_t transpose(uint64_t x)
{
    x = (x & 0xaa55aa55aa55aa55) | (x & 0x00aa00aa00aa00aa) << 7 | (x >> 7 & 0x00aa00aa00aa00aa);
    x = (x & 0xcccc3333cccc3333) | (x & 0x0000cccc0000cccc) << 14 | (x >> 14 & 0x0000cccc0000cccc);
    return (x & 0xf0f0f0f00f0f0f0f) | (x & 0x00000000f0f0f0f0) << 28 | (x >> 28 & 0x00000000f0f0f0f0);
}

enum { WORDS = (FLIPS + 63) / 64, TOGETHER = 8 };

/* Adds the signed differences of n users, at most TOGETHER, to all sums: by a table of what their signs can add up to. */
static void add_signed(const double *d, int64_t n, uint64_t bits[TOGETHER][WORDS], double *sums)
{
    double table[1 << TOGETHER] = {0};
    for (int64_t i = 0; i < n; i++)
        table[0] -= d[i];
    for (int m = 1; m < 1 << n; m++)
        table[m] = table[m & (m - 1)] + 2 * d[__builtin_ctz((unsigned)m)];
    for (int w = 0; w < WORDS; w++)
        for (int byte = 0; byte < 8; byte++) {
            uint64_t x = 0;
            for (int64_t i = 0; i < n; i++)
                x |= (bits[i][w] >> 8 * byte & 0xff) << 8 * i;
            x = transpose(x);
            for (int b = 0; b < 8; b++)
                sums[64 * w + 8 * byte + b] += table[x >> 8 * b & 0xff];
        }
}

static double drawn_p(const struct pairs *pairs, double limit, const dpf_stream *stream)
{
    double *sums = memory_need(64 * WORDS, sizeof *sums);
    for (int64_t first = 0; first < pairs->n; first += TOGETHER) {
        uint64_t bits[TOGETHER][WORDS];
        const int64_t n = pairs->n - first < TOGETHER ? pairs->n - first : TOGETHER;
        for (int64_t i = 0; i < n; i++) {
            dpf_cursor cursor;
            random_seek(stream, 0, 0, (uint32_t)(first + i), &cursor);
            random_bits(&cursor, bits[i], WORDS);
        }
        add_signed(pairs->d + first, n, bits, sums);
    }
    int beyond = 0;
    for (int k = 0; k < FLIPS; k++)
        beyond += fabs(sums[k]) >= limit;
    free(sums);
    return (1.0 + beyond) / (1.0 + FLIPS); /* what was observed is one of the signs */
}

/*
 * The metric is a monotone function of the sum of differences: flips change neither the sum of weights nor the sum of
 * both models' values.
 */
static double find_p(const struct pairs *pairs, const dpf_stream *stream)
{
    const double sum = pairs->sum_a - pairs->sum_b;
    const double limit = fabs(sum) - ROUNDING * sqrt(pairs->squares * (double)pairs->n);
    return pairs->n <= MOST_EXACT   ? exact_p(pairs, limit)
           : pairs->n <= MOST_DRAWN ? drawn_p(pairs, limit, stream)
                                    : erfc(fabs(sum) / sqrt(2 * pairs->squares));
}

/* ---- intervals ---------------------------------------------------------------------------------------- */

static double difference_of(const struct user_metric *metric, const double *sums)
{
    return user_metric_value(metric, sums[0], sums[2]) - user_metric_value(metric, sums[1], sums[2]);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bootstrap(const struct pairs *pairs, const struct user_metric *metric, const dpf_stream *stream,
                      struct paired_users *out)
{
    double *sums = memory_need(REPLICATES, 3 * sizeof *sums), *found = memory_need(REPLICATES, sizeof *found);
    double *uniform = memory_need(REPLICATES, 2 * sizeof *uniform), *copies = uniform + REPLICATES;
    for (int64_t i = 0; i < pairs->n; i++) {
        dpf_cursor cursor;
        random_seek(stream, 1, 0, (uint32_t)i, &cursor);
        random_uniform(&cursor, uniform, REPLICATES);
        bootstrap_copies(uniform, REPLICATES, copies);
        for (int r = 0; r < REPLICATES; r++) {
            sums[r] += copies[r] * pairs->a[i];
            sums[REPLICATES + r] += copies[r] * pairs->b[i];
            sums[2 * REPLICATES + r] += copies[r] * pairs->weight[i];
        }
    }
    int n = 0;
    for (int r = 0; r < REPLICATES; r++) {
        const double difference =
            difference_of(metric, (double[]){sums[r], sums[REPLICATES + r], sums[2 * REPLICATES + r]});
        if (!isnan(difference))
            found[n++] = difference;
    }
    if (n > 0) {
        qsort(found, (size_t)n, sizeof *found, ascending);
        out->low = found[(int)(0.025 * (n - 1))];
        out->high = found[(int)ceil(0.975 * (n - 1))];
    }
    free(sums);
    free(found);
    free(uniform);
}

/* The standard error of the difference, by the derivative of the metric at the mean of both. */
static double error_of(const struct pairs *pairs, const struct user_metric *metric,
                       const struct paired_users *out)
{
    const double n = (double)pairs->n, sum = pairs->sum_a - pairs->sum_b;
    const double spread = sqrt(fmax(0, pairs->squares - sum * sum / n) * n / (n - 1)) / pairs->sum_weight;
    return metric->is_root ? spread / (out->a + out->b) : spread;
}

/* ---- the comparison ------------------------------------------------------------------------------------ */

static void count(const struct pairs *pairs, int smaller_is_better, struct paired_users *out)
{
    for (int64_t i = 0; i < pairs->n; i++) {
        const double gain = smaller_is_better ? -pairs->d[i] : pairs->d[i];
        out->wins += gain > 0;
        out->losses += gain < 0;
        out->ties += gain == 0;
    }
}

int paired_users_compare(const struct user_values *a, const struct user_values *b, int ma, int mb,
                         const int64_t (*chosen)[2], int64_t n, int smaller_is_better, int with_p,
                         const struct random_root *seeded, struct paired_users *out, struct dpf_error *error)
{
    const struct user_metric *metric = &a->metrics[ma];
    struct pairs pairs;
    *out = (struct paired_users){
        .low = (double)NAN, .high = (double)NAN, .p = (double)NAN, .visible = (double)NAN};
    if (pairs_make(a, b, ma, mb, chosen, n, &pairs, error) != 0)
        return -1;
    count(&pairs, smaller_is_better, out);
    out->users = pairs.n;
    out->a = user_metric_value(metric, pairs.sum_a, pairs.sum_weight);
    out->b = user_metric_value(metric, pairs.sum_b, pairs.sum_weight);
    out->difference = out->a - out->b;
    int status = 0;
    if (!isfinite(out->difference))
        out->why_not = pairs.n ? "a result is not a number" : "no user has test records";
    else if (pairs.n < 2)
        out->why_not = "one user has test records";
    else if (out->ties == pairs.n)
        out->why_not = "all users have equal results";
    if (!out->why_not) {
        dpf_stream *stream = random_stream_open(seeded, "evaluate", "paired-users", error);
        const double error_size = error_of(&pairs, metric, out);
        status = stream ? 0 : -1;
        if (stream && with_p)
            out->p = find_p(&pairs, stream);
        out->visible = FOUND * error_size;
        if (stream && with_p && pairs.n <= MOST_DRAWN)
            bootstrap(&pairs, metric, stream, out);
        else {
            out->low = out->difference - NORMAL_REACH * error_size;
            out->high = out->difference + NORMAL_REACH * error_size;
        }
        random_stream_free(stream);
    }
    pairs_free(&pairs);
    return status;
}

/* ---- by activity --------------------------------------------------------------------------------------- */

struct active_user {
    double records;
    int64_t pair[2];
};

static int by_records(const void *a, const void *b)
{
    const struct active_user *x = a, *y = b;
    return x->records != y->records ? (x->records > y->records) - (x->records < y->records)
                                    : (x->pair[0] > y->pair[0]) - (x->pair[0] < y->pair[0]);
}

int paired_users_bands(const struct user_values *a, const struct user_values *b, int ma, int mb,
                       const int64_t (*chosen)[2], int64_t n, int smaller_is_better,
                       const struct random_root *seeded, struct paired_band out[PAIRED_BANDS], int *n_bands,
                       struct dpf_error *error)
{
    struct active_user *users = memory_need((size_t)n + 1, sizeof *users);
    int64_t(*pairs)[2] = memory_need((size_t)n + 1, sizeof *pairs);
    int64_t kept = 0;
    int status = 0;
    *n_bands = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t mine = chosen ? chosen[i][0] : i, other = chosen ? chosen[i][1] : i;
        const double *row = user_values_row(a, mine);
        if (row[2 * ma + 1] > 0 && user_values_row(b, other)[2 * mb + 1] > 0)
            users[kept++] = (struct active_user){row[2 * a->n_metrics + USER_RECORDS], {mine, other}};
    }
    qsort(users, (size_t)kept, sizeof *users, by_records);
    int64_t begin = 0;
    for (int band = 0; band < PAIRED_BANDS && status == 0 && begin < kept; band++) {
        int64_t end = (band + 1) * kept / PAIRED_BANDS;
        end = end > begin ? end : begin + 1;
        while (end < kept && users[end].records == users[end - 1].records)
            end++;
        for (int64_t i = begin; i < end; i++) {
            pairs[i - begin][0] = users[i].pair[0];
            pairs[i - begin][1] = users[i].pair[1];
        }
        struct paired_band *found = &out[(*n_bands)++];
        found->least = users[begin].records;
        found->most = users[end - 1].records;
        status = paired_users_compare(a, b, ma, mb, (const int64_t(*)[2])pairs, end - begin,
                                      smaller_is_better, 0, seeded, &found->paired, error);
        begin = end;
    }
    free(users);
    free(pairs);
    return status;
}
