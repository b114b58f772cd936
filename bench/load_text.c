/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_text - how fast a text file of ratings becomes a data set.
 *
 *     load_text FILE.csv [WORKERS [both]]   loads it; prints seconds, MB/s, peak memory; both: rows by item, too
 *     load_text --synthetic [WORKERS]       generates 20 million ratings in memory
 *     load_text --write FILE.csv            writes these 20 million ratings as text
 *
 * The file is read once before, so that the disk is not measured. The SHA-256 of the file is part of
 * loading and takes about a sixth of the CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/files.h"
#include "bench_rows.h"
#include "data/load.h"
#include "dataset/summary.h"
#include "reading/data_params.h"
#include "synthetic/generate.h"

static const char synthetic_config[] =
    "[data]\nformat = synthetic\nsynthetic.users = 138493\nsynthetic.items = 26744\n"
    "synthetic.ratings = 20000263\nsynthetic.min-per-user = 20\n"
    "synthetic.popularity = 2.7\nvalue-min = 0.5\nvalue-max = 5\n"
    "synthetic.step = 0.5\n";

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of all threads. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_degrees(const char *what, const struct csr *csr)
{
    int64_t *degrees = malloc((size_t)csr->rows * sizeof *degrees);
    int64_t empty = 0;
    if (!degrees)
        return;
    for (int64_t r = 0; r < csr->rows; r++) {
        degrees[r] = csr->ptr[r + 1] - csr->ptr[r];
        empty += degrees[r] == 0;
    }
    qsort(degrees, (size_t)csr->rows, sizeof *degrees, compare);
    printf("%s: %lld, %lld without ratings, ratings each min %lld, median %lld, max %lld\n", what,
           (long long)csr->rows, (long long)empty, (long long)degrees[0], (long long)degrees[csr->rows / 2],
           (long long)degrees[csr->rows - 1]);
    free(degrees);
}

static int load(const char *text, const char *path, int workers, int both, struct dpf_error *error)
{
    int64_t n_data, n_split;
    const dpf_param *data_table = data_params(&n_data), *split_table = split_params(&n_split);
    struct config_values data = {0}, split = {0};
    struct dataset dataset = {0};
    struct config *config = config_parse("load_text", text, strlen(text), error);
    struct random_root *root = random_root_seeded(1, "run", error);
    struct pool *pool = pool_new(workers);
    int status = -1;
    if (config && root && pool &&
        config_bind(config, "data", data_table, n_data, sizeof(dpf_param), NULL, 1, &data, error) == 0 &&
        config_bind(config, "split", split_table, n_split, sizeof(dpf_param), NULL, 1, &split, error) == 0) {
        double start = seconds(), cpu_before = cpu_seconds();
        status = data_read_by_user(&data, &split, root, pool, &dataset, error);
        if (status == 0)
            status = violations_report(&dataset.violations, error);
        if (status == 0 && both)
            status = data_index_items(&dataset, pool, error);
        double taken = seconds() - start;
        struct rusage usage;
        struct stat info;
        getrusage(RUSAGE_SELF, &usage);
        if (status == 0) {
            char *summary = data_summary_text(&dataset);
            printf("%s\n", summary ? summary : "");
            free(summary);
            double cpu = cpu_seconds() - cpu_before;
            printf("%.2f s with %d workers, %.2f s of CPU, peak memory %ld MB", taken, workers, cpu,
                   usage.ru_maxrss / 1024);
            if (path && stat(path, &info) == 0) {
                printf(", %.0f MB/s, %.0f MB/s per core", (double)info.st_size / taken * 1e-6,
                       (double)info.st_size / cpu * 1e-6);
                bench_row("text, byte", cpu / (double)info.st_size * 1e9, "ns", "triad", -1);
            }
            printf("\n");
            print_degrees("users", &dataset.train.by_user);
            print_degrees("items", &dataset.train.by_item);
        }
    }
    dataset_free(&dataset);
    config_values_free(&data);
    config_values_free(&split);
    config_free(config);
    random_root_free(root);
    pool_free(pool);
    return status;
}

static int write_file(const char *path, struct dpf_error *error)
{
    struct generate_options options = {.users = 138493,
                                       .items = 26744,
                                       .ratings = 20000263,
                                       .rank = 8,
                                       .popularity_sigma = 2.7,
                                       .activity_sigma = 1.35,
                                       .min_per_user = 20,
                                       .noise = 0.8,
                                       .value_lo = 0.5,
                                       .value_hi = 5,
                                       .step = 0.5};
    struct random_root *root = random_root_seeded(1, "run", error);
    struct generator *generator = root ? generator_new(&options, root, error) : NULL;
    struct files_write write;
    int status = -1;
    if (generator && files_open_write(&write, path, error) == 0) {
        if (generator_write_csv(generator, write.stream, "the ratings", error) == 0)
            status = files_commit_write(&write, error);
        else
            files_abandon_write(&write);
    }
    generator_free(generator);
    random_root_free(root);
    return status;
}

static void warm(const char *path)
{
    static char buffer[1 << 16];
    FILE *stream = fopen(path, "rb");
    while (stream && fread(buffer, 1, sizeof buffer, stream) > 0)
        ;
    if (stream)
        fclose(stream);
}

int main(int argc, char **argv)
{
    struct dpf_error error = {0};
    int status, workers = argc > 2 ? atoi(argv[2]) : 2;
    char text[5000];
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        status = write_file(argv[2], &error);
    } else if (argc >= 2 && strcmp(argv[1], "--synthetic") == 0) {
        status = load(synthetic_config, NULL, workers, 1, &error);
    } else if (argc >= 2 && argc <= 4 && workers > 0) {
        warm(argv[1]);
        snprintf(text, sizeof text, "[data]\npath = %.4096s\nvalue-min = 0.5\nvalue-max = 5\n", argv[1]);
        status = load(text, argv[1], workers, argc == 4, &error);
    } else {
        fprintf(stderr,
                "usage: load_text FILE.csv [WORKERS [both]] | --synthetic [WORKERS] | --write FILE.csv\n");
        return 2;
    }
    if (status != 0)
        fprintf(stderr, "%s\n", error.text);
    return status == 0 ? 0 : 1;
}
