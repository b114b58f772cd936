/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_ranking - nanoseconds a score of a full ranking, with all automatic metrics, on one worker.
 *
 *   bench_full_ranking [-u users] [-i items] [-p positives] [-k cut-off] [-r repeats]
 *
 * Ranks once with the scorer alone and once by way of near scores (finalists.h), in turn, and prints CPU
 * time a score: least, median and largest of the repeats. The floor is an sgemm of the same products. The
 * metrics must be equal to the last bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cblas.h>

#include "base/memory.h"
#include "bench_rows.h"
#include "dataset/ids.h"
#include "evaluate/evaluate.h"

struct sizes {
    int64_t users, items, positives, k, repeats;
};

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t state = 88172645463325252U;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void draw_factors(float *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        rows[i] = (float)((double)(draw() >> 11) * 0x1p-53 - 0.5);
}

/* So many records of each user at distinct items; training records at even items, the others at odd ones. */
static void draw_records(struct csr *csr, const struct sizes *s, int64_t of_each, int odd)
{
    const int64_t step = s->items / of_each / 2;
    csr->rows = s->users;
    csr->ptr = memory_new((size_t)s->users + 1, sizeof *csr->ptr);
    csr->others = memory_new((size_t)(s->users * of_each), sizeof *csr->others);
    for (int64_t u = 0; u < s->users; u++) {
        for (int64_t i = 0; i < of_each; i++)
            csr->others[u * of_each + i] =
                (int32_t)(2 * (i * step + (int64_t)(draw() % (uint64_t)step)) + odd);
        csr->ptr[u + 1] = (u + 1) * of_each;
    }
}

static struct config_values options_of(const struct sizes *s, dpf_value *value)
{
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    memset(value, 0, (size_t)n * sizeof *value);
    for (int64_t i = 0; i < n; i++) {
        value[i] = (dpf_value){.type = table[i].type,
                               .integer = table[i].default_integer,
                               .real = table[i].default_real,
                               .text = table[i].default_text};
        if (strcmp(table[i].name, "k") == 0) {
            value[i].integers = &s->k;
            value[i].count = 1;
        }
    }
    return (struct config_values){.params = {sizeof(dpf_params), (uint32_t)n, value},
                                  .table = table,
                                  .table_stride = (int64_t)sizeof *table};
}

static double rank_once(const struct config_values *options, const struct dataset *dataset,
                        const struct scorer *scorer, struct pool *pool, struct metrics *out)
{
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    const double start = cpu();
    if (evaluate_model(options, dataset, scorer, NULL, pool, 0, out, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return cpu() - start;
}

static double sgemm_once(const struct sizes *s, const struct scorer *scorer, float *block)
{
    const blasint stride = (blasint)scorer->products.stride, items = (blasint)s->items;
    const double start = cpu();
    for (int64_t u = 0; u < s->users; u += 64) {
        const blasint n = (blasint)(s->users - u < 64 ? s->users - u : 64);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, items, stride, 1,
                    score_floats(&scorer->form, ROWS_USERS) + u * stride, stride, scorer->products.items,
                    stride, 0, block, items);
    }
    return cpu() - start;
}

/* Returns the least. */
static double print_line(const char *name, double *times, const struct sizes *s)
{
    const double scores = (double)s->users * (double)s->items;
    qsort(times, (size_t)s->repeats, sizeof *times, ascending);
    printf("  %-22s %6.2f %6.2f %6.2f\n", name, times[0] / scores, times[s->repeats / 2] / scores,
           times[s->repeats - 1] / scores);
    return times[0] / scores;
}

/* What near scores are measured against: the same scorer as a function. */
static int every_score(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                       struct dpf_error *error)
{
    struct score_desk desk = {.user = 0};
    return scorer_scores(context, &desk, user, items, n, out, error);
}

static void bench_rank(const struct sizes *s, const struct dataset *dataset, int64_t rank, struct pool *pool)
{
    dpf_value value[64];
    const struct config_values options = options_of(s, value);
    const int64_t stride = (rank + 15) / 16 * 16;
    float *users = memory_new((size_t)s->users, (size_t)stride * sizeof *users);
    float *items = memory_new((size_t)s->items, (size_t)stride * sizeof *items);
    float *block = memory_new(64, (size_t)s->items * sizeof *block);
    double *times = memory_new(3, (size_t)s->repeats * sizeof *times);
    draw_factors(users, s->users * stride);
    draw_factors(items, s->items * stride);
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    struct scorer near = {
        .form = {.formula = SCORE_ROWS,
                 .n_items = s->items,
                 .arrays = {{"items", DPF_ARRAY_F4, 0, s->items, rank, stride, items, {0}},
                            {"users", DPF_ARRAY_F4, 0, s->users, rank, stride, users, {0}}}}};
    if (scorer_open(&near, &error) != 0)
        exit(EXIT_FAILURE);
    const struct scorer exact = {.context = &near, .scores = every_score};
    for (int64_t r = 0; r < s->repeats; r++) {
        struct metrics a, b;
        times[r] = rank_once(&options, dataset, &exact, pool, &a);
        times[s->repeats + r] = rank_once(&options, dataset, &near, pool, &b);
        times[2 * s->repeats + r] = sgemm_once(s, &near, block);
        for (int64_t i = 0; i < a.n; i++)
            if (memcmp(&a.items[i].value, &b.items[i].value, sizeof(double)) != 0)
                printf("  %s differs: %.17g and %.17g\n", a.items[i].name, a.items[i].value,
                       b.items[i].value);
        metrics_free(&a);
        metrics_free(&b);
    }
    printf("rank %lld: ns a score, least, median, largest of %lld\n", (long long)rank, (long long)s->repeats);
    print_line("scorer alone", times, s);
    const double near_each = print_line("near scores first", times + s->repeats, s);
    const double sgemm_each = print_line("sgemm", times + 2 * s->repeats, s);
    char row[64];
    snprintf(row, sizeof row, "full ranking, rank %lld", (long long)rank);
    bench_row(row, near_each, "ns/score", "sgemm", sgemm_each);
    scorer_close(&near);
    free(users);
    free(items);
    free(block);
    free(times);
}

static void read_options(int argc, char **argv, struct sizes *s)
{
    for (int c; (c = getopt(argc, argv, "u:i:p:k:r:")) != -1;) {
        int64_t *to = c == 'u'   ? &s->users
                      : c == 'i' ? &s->items
                      : c == 'p' ? &s->positives
                      : c == 'k' ? &s->k
                                 : &s->repeats;
        *to = c == '?' ? 0 : atoll(optarg);
        if (*to < 1) {
            fprintf(stderr, "full_ranking: wrong option; see the head of bench/full_ranking.c\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    struct sizes s = {.users = 2000, .items = 3706, .positives = 20, .k = 10, .repeats = 7};
    struct dataset dataset = {.implicit = 1};
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    read_options(argc, argv, &s);
    openblas_set_num_threads(1);
    draw_records(&dataset.train.by_user, &s, 100, 0);
    draw_records(&dataset.test.by_user, &s, s.positives, 1);
    struct pool *pool = pool_new(1);
    if (!pool || id_map_range(s.users, &dataset.users) != 0 || id_map_range(s.items, &dataset.items) != 0 ||
        csr_transpose(&dataset.train.by_user, s.items, &dataset.train.by_item, &error) != 0)
        return EXIT_FAILURE;
    printf("%lld users, %lld items, %lld positives of each, k = %lld\n", (long long)s.users,
           (long long)s.items, (long long)s.positives, (long long)s.k);
    bench_rank(&s, &dataset, 16, pool);
    bench_rank(&s, &dataset, 64, pool);
    pool_free(pool);
    dataset_free(&dataset);
    return EXIT_SUCCESS;
}
