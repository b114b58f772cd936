/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_sweep - seconds of a full ALS sweep (users, then items) at kernel level.
 *
 *   bench_als_sweep [-u users] [-i items] [-n ratings] [-k 16,64,128] [-s cholesky,cg]
 *                   [-l implicit-als] [-w workers] [-r repeats] [-b rows] [-K kernel]
 *
 * Loads the loss and solver plugins of the build tree with a minimal host, generates heavy-tailed
 * records, and prints the best sweep of `repeats`, GFLOP/s, and the share of an sgemm that runs in the same
 * minute with the same number of threads. The work counted is that of the exact method:
 * 2 N k (k + 1) + R (k^3 / 3 + 2 k^2) + m k (k + 1) for N records, R non-empty rows, m rows in Grams;
 * for cg 4 (steps + 1) N k + 2 (steps + 1) R k^2 in place of the first two.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>

#include "base/memory.h"
#include "base/pool.h"
#include "bench_rows.h"
#include "dpframe/dpframe.h"

#define MAX_WORKERS 64
#define SCRATCH_BYTES (16u << 20)

struct options {
    int64_t users, items, ratings;
    int32_t k[16];
    int n_k;
    const char *solvers, *loss, *kernel;
    int workers, repeats;
    int64_t rows;
};

struct sparse {
    int64_t rows;
    int64_t *ptr;
    int32_t *others;
};

/* ---- a host that is just enough -------------------------------------------------------------- */

static void *scratch_blocks[MAX_WORKERS];

static void *host_allocate(const dpf_host *host, uint64_t bytes)
{
    (void)host;
    return memory_new(1, bytes ? bytes : 1);
}

static void host_release(const dpf_host *host, void *block)
{
    (void)host;
    free(block);
}

static const void *host_service(const dpf_host *host, const char *id)
{
    static const dpf_memory_service memory = {host_allocate, host_release};
    (void)host;
    return strcmp(id, DPF_SERVICE_MEMORY) == 0 ? &memory : NULL;
}

static dpf_status host_fail(const dpf_host *host, dpf_status code, int32_t param, const char *text)
{
    (void)host;
    (void)param;
    fprintf(stderr, "als_sweep: %s\n", text);
    return code;
}

/* Nested calls (a solver's products) take from the same block, further on. */
static void *call_scratch(const dpf_call *call, uint64_t bytes)
{
    char **top = call->context;
    char *block = *top;
    *top += (bytes + 63) / 64 * 64;
    if (*top > (char *)scratch_blocks[call->worker] + SCRATCH_BYTES)
        return NULL;
    return block;
}

static int32_t call_cancelled(const dpf_call *call)
{
    (void)call;
    return 0;
}

static const dpf_host the_host = {sizeof(dpf_host), DPF_ABI_MINOR, NULL, host_service, host_fail};

struct component {
    const dpf_component *descriptor;
    dpf_value values[16];
    dpf_params params;
    void *self;
};

static void set_defaults(struct component *c, const char *kernel)
{
    const dpf_component *d = c->descriptor;
    for (uint32_t i = 0; i < d->n_params && i < 16; i++) {
        const dpf_param *p = &d->params[i];
        c->values[i] = (dpf_value){.type = p->type, .integer = p->default_integer, .real = p->default_real};
        for (int64_t v = 0; strcmp(p->name, "kernel") == 0 && v < p->n_values; v++) {
            if (strcmp(p->values[v].name, kernel) == 0)
                c->values[i].integer = v;
        }
    }
    c->params = (dpf_params){sizeof(dpf_params), d->n_params, c->values};
}

static int component_open(struct component *c, const char *name, const char *kernel)
{
    char path[4096];
    const dpf_plugin *(*entry)(uint32_t);
    snprintf(path, sizeof(path), "%s/%s.so", DPFRAME_PLUGIN_DIR, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "als_sweep: %s\n", dlerror());
        return -1;
    }
    *(void **)&entry = dlsym(library, DPF_ENTRY_NAME);
    if (!entry)
        return -1;
    c->descriptor = entry(DPF_ABI_MINOR)->components[0];
    set_defaults(c, kernel);
    c->self = dpf_memory(&the_host)->allocate(&the_host, c->descriptor->instance_bytes);
    return c->self && c->descriptor->create(&the_host, &c->params, &c->self) == DPF_OK ? 0 : -1;
}

static void component_close(struct component *c)
{
    if (c->descriptor->destroy)
        c->descriptor->destroy(c->self);
    dpf_memory(&the_host)->release(&the_host, c->self);
}

/* ---- data ------------------------------------------------------------------------------------ */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static double uniform(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double normal(void)
{
    const double u = uniform();
    return sqrt(-2 * log(u > 0 ? u : 0x1p-60)) * cos(6.283185307179586 * uniform());
}

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Cumulative item popularity: log-normal, capped so that no item is rated by most users. */
static double *popularity(int64_t items)
{
    double *sum = memory_raw((size_t)items, sizeof(double));
    double total = 0;
    for (int64_t i = 0; sum && i < items; i++) {
        const double z = normal();
        sum[i] = exp(2.4 * (z > 2.6 ? 2.6 : z));
        total += sum[i];
    }
    for (int64_t i = 0; sum && i < items; i++)
        sum[i] = sum[i] / total + (i ? sum[i - 1] : 0);
    return sum;
}

static int32_t draw_item(const double *cumulative, int64_t items)
{
    const double u = uniform();
    int64_t low = 0, high = items - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (cumulative[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

/* Distinct items of one user, ascending; returns how many. */
static int64_t draw_user(const double *cumulative, int64_t items, int64_t wanted, int32_t *out)
{
    int64_t n = 0;
    for (int attempt = 0; n < wanted && attempt < 40; attempt++) {
        while (n < wanted)
            out[n++] = draw_item(cumulative, items);
        qsort(out, (size_t)n, sizeof(*out), by_index);
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || out[i] != out[i - 1])
                out[kept++] = out[i];
        }
        n = kept;
    }
    return n;
}

static int generate(const struct options *o, struct sparse *by_user)
{
    const double mean = (double)o->ratings / (double)o->users;
    const double least = mean > 40 ? 20 : 1, sigma = 1.35;
    double *cumulative = popularity(o->items);
    by_user->rows = o->users;
    by_user->ptr = memory_new((size_t)o->users + 1, sizeof(int64_t));
    by_user->others = memory_raw((size_t)(o->ratings * 2 + o->items), sizeof(int32_t));
    if (!cumulative || !by_user->ptr || !by_user->others)
        return -1;
    for (int64_t u = 0; u < o->users; u++) {
        double wanted = least + (mean * 1.04 - least) * exp(sigma * normal() - sigma * sigma / 2);
        wanted = wanted < (double)o->items / 9 ? wanted : (double)o->items / 9;
        const int64_t at = by_user->ptr[u];
        const int64_t room = o->ratings * 2 - at;
        by_user->ptr[u + 1] =
            at + draw_user(cumulative, o->items, (int64_t)wanted < room ? (int64_t)wanted : room,
                           by_user->others + at);
    }
    free(cumulative);
    return 0;
}

static int transpose(const struct sparse *in, int64_t columns, struct sparse *out)
{
    const int64_t n = in->ptr[in->rows];
    out->rows = columns;
    out->ptr = memory_new((size_t)columns + 2, sizeof(int64_t));
    out->others = memory_raw((size_t)n, sizeof(int32_t));
    if (!out->ptr || !out->others)
        return -1;
    for (int64_t e = 0; e < n; e++)
        out->ptr[in->others[e] + 2]++;
    for (int64_t c = 2; c <= columns + 1; c++)
        out->ptr[c] += out->ptr[c - 1];
    for (int64_t r = 0; r < in->rows; r++) {
        for (int64_t e = in->ptr[r]; e < in->ptr[r + 1]; e++)
            out->others[out->ptr[in->others[e] + 1]++] = (int32_t)r;
    }
    return 0;
}

/* ---- a side step ------------------------------------------------------------------------------ */

struct side {
    const struct options *options;
    const struct sparse *records;
    const struct component *loss, *solver;
    dpf_query query, gram_query;
    dpf_factors self, other;
    float *rows;   /* self.data */
    double *parts; /* of the Gram matrix, one for each worker's chunk */
    float *gram;
    int32_t *index; /* 0, 1, 2, ... */
    int operator_form;
    int side;
};

#define SHARED_CHUNKS 16

static dpf_call make_call(int worker, int n_workers, char **top)
{
    *top = scratch_blocks[worker];
    return (dpf_call){.size = sizeof(dpf_call),
                      .worker = worker,
                      .n_workers = n_workers,
                      .party = DPF_PARTY_AGGREGATE,
                      .host = &the_host,
                      .context = top,
                      .scratch = call_scratch,
                      .cancelled = call_cancelled};
}

static dpf_groups make_groups(const struct side *s, int64_t first, int64_t count)
{
    return (dpf_groups){.size = sizeof(dpf_groups),
                        .side = s->side,
                        .self = &s->self,
                        .other = &s->other,
                        .n_groups = count,
                        .rows = s->index + first,
                        .offsets = s->records->ptr + first,
                        .others = s->records->others,
                        .party_row = -1};
}

static int gram_task(void *context, int64_t task, int worker)
{
    const struct side *s = context;
    const dpf_loss *loss = s->loss->descriptor->functions;
    char *top;
    const dpf_call call = make_call(worker, s->options->workers, &top);
    const int64_t from = s->other.rows * task / SHARED_CHUNKS,
                  to = s->other.rows * (task + 1) / SHARED_CHUNKS;
    double *out = s->parts + task * s->gram_query.width;
    memset(out, 0, (size_t)s->gram_query.width * sizeof(double));
    return loss->gram(s->loss->self, &call, &s->gram_query, &s->other, from, to - from, out) ? -1 : 0;
}

struct product {
    const struct side *side;
    const dpf_call *call;
    int64_t first_row;
};

static dpf_status product(void *context, int64_t first, int64_t count, const float *x, int64_t x_stride,
                          float *out, int64_t out_stride)
{
    const struct product *p = context;
    const struct side *s = p->side;
    const dpf_loss *loss = s->loss->descriptor->functions;
    const dpf_groups groups = make_groups(s, p->first_row + first, count);
    char **top = p->call->context, *saved = *top;
    const dpf_status status =
        loss->apply(s->loss->self, p->call, &s->query, &groups, x, x_stride, out, out_stride);
    *top = saved;
    return status;
}

static int rows_task(void *context, int64_t task, int worker)
{
    struct side *s = context;
    const dpf_loss *loss = s->loss->descriptor->functions;
    const dpf_solver *solver = s->solver->descriptor->functions;
    const int64_t first = task * s->options->rows;
    const int64_t count = s->self.rows - first < s->options->rows ? s->self.rows - first : s->options->rows;
    const int64_t stride = ((int64_t)s->query.width + 15) / 16 * 16;
    char *top;
    const dpf_call call = make_call(worker, s->options->workers, &top);
    float *blocks = call_scratch(&call, (uint64_t)(count * stride) * sizeof(float)), *next = s->rows;
    char *saved = top;
    const dpf_groups groups = make_groups(s, first, count);
    if (!blocks || loss->accumulate_local(s->loss->self, &call, &s->query, &groups, blocks, stride))
        return -1;
    top = saved;
    struct product p = {s, &call, first};
    const dpf_solve batch = {.size = sizeof(batch),
                             .side = s->side,
                             .n_rounds = 1,
                             .n_rows = count,
                             .first_row = first,
                             .query = &s->query,
                             .blocks = blocks,
                             .blocks_stride = stride,
                             .gram = s->query.has_gram ? s->gram : NULL,
                             .current = s->self.data + first * s->self.stride,
                             .current_stride = s->self.stride,
                             .next = next + first * s->self.stride,
                             .next_stride = s->self.stride,
                             .gram_query = &s->gram_query,
                             .product = s->operator_form ? product : NULL,
                             .product_context = &p};
    return solver->solve(s->solver->self, &call, &batch) ? -1 : 0;
}

static int side_step(struct side *s, struct pool *pool)
{
    if (s->query.has_gram) {
        if (pool_run(pool, SHARED_CHUNKS, gram_task, s))
            return -1;
        for (int64_t i = 0; i < s->gram_query.width; i++) {
            double sum = 0;
            for (int64_t c = 0; c < SHARED_CHUNKS; c++)
                sum += s->parts[c * s->gram_query.width + i];
            s->gram[i] = (float)sum;
        }
    }
    return pool_run(pool, (s->self.rows + s->options->rows - 1) / s->options->rows, rows_task, s);
}

static int side_open(struct side *s, int32_t k)
{
    const dpf_loss *loss = s->loss->descriptor->functions;
    const dpf_solver *solver = s->solver->descriptor->functions;
    s->operator_form = (solver->flags & DPF_SOLVER_OPERATOR) && (loss->layouts & DPF_LAYOUT_OPERATOR);
    dpf_side_info info = {.size = sizeof(info),
                          .side = s->side,
                          .n_self = s->self.rows,
                          .n_other = s->other.rows,
                          .columns = k,
                          .dimension = k,
                          .bias = -1,
                          .layout = s->operator_form ? DPF_LAYOUT_OPERATOR : DPF_LAYOUT_LOWER};
    if (loss->query(s->loss->self, &info, &s->query))
        return -1;
    info.layout = s->operator_form ? DPF_LAYOUT_FULL : DPF_LAYOUT_LOWER;
    if (loss->query(s->loss->self, &info, &s->gram_query))
        return -1;
    s->parts = memory_new((size_t)s->gram_query.width * SHARED_CHUNKS, sizeof(double));
    s->gram = memory_new((size_t)s->gram_query.width, sizeof(float));
    return s->parts && s->gram ? 0 : -1;
}

static void side_close(struct side *s)
{
    free(s->parts);
    free(s->gram);
}

/* ---- measuring -------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double sgemm_rate(int threads)
{
    enum { N = 2048 };
    float *a = memory_new((size_t)N * N, sizeof(float)), *c = memory_new((size_t)N * N, sizeof(float));
    double best = 0;
    if (!a || !c)
        abort();
    for (size_t i = 0; i < (size_t)N * N; i++)
        a[i] = (float)uniform();
    openblas_set_num_threads(threads);
    for (int r = 0; r < 4; r++) {
        const double start = now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, a, N, 0, c, N);
        const double rate = 2e-9 * N * N * N / (now() - start);
        best = rate > best ? rate : best;
    }
    free(a);
    free(c);
    return best;
}

static double work(const struct options *o, const struct sparse *a, const struct sparse *b, int32_t k, int cg)
{
    double rows = 0;
    const double n = (double)a->ptr[a->rows], d = k, steps = 4;
    for (int64_t r = 0; r < a->rows; r++)
        rows += a->ptr[r + 1] > a->ptr[r];
    for (int64_t r = 0; r < b->rows; r++)
        rows += b->ptr[r + 1] > b->ptr[r];
    const double grams = (double)(o->users + o->items) * d * (d + 1);
    if (cg)
        return 2 * (4 * steps * n * d) + 2 * steps * rows * d * d + grams;
    return 2 * n * d * (d + 1) + rows * (d * d * d / 3 + 2 * d * d) + grams;
}

static float *random_factors(int64_t rows, int64_t stride, int32_t k)
{
    float *x = memory_new((size_t)(rows * stride), sizeof(float));
    for (int64_t r = 0; x && r < rows; r++) {
        for (int32_t i = 0; i < k; i++)
            x[r * stride + i] = (float)(0.1 * normal() / sqrt(k));
    }
    return x;
}

static int measure(const struct options *o, const struct sparse *by_user, const struct sparse *by_item,
                   int32_t k, const char *solver_name)
{
    struct component loss = {0}, solver = {0};
    if (component_open(&loss, o->loss, o->kernel) || component_open(&solver, solver_name, o->kernel))
        return -1;
    struct pool *pool = pool_new(o->workers);
    const int64_t stride = (k + 15) / 16 * 16, most = o->users > o->items ? o->users : o->items;
    float *p = random_factors(o->users, stride, k), *q = random_factors(o->items, stride, k);
    int32_t *index = memory_raw((size_t)most, sizeof(int32_t));
    if (!pool || !p || !q || !index)
        return -1;
    for (int64_t i = 0; i < most; i++)
        index[i] = (int32_t)i;
    struct side users = {o, by_user, &loss, &solver, .rows = p, .index = index, .side = DPF_SIDE_USERS};
    struct side items = {o, by_item, &loss, &solver, .rows = q, .index = index, .side = DPF_SIDE_ITEMS};
    users.self = items.other = (dpf_factors){p, o->users, stride, k, 0};
    items.self = users.other = (dpf_factors){q, o->items, stride, k, 0};
    if (side_open(&users, k) || side_open(&items, k))
        return -1;
    double best = INFINITY, best_users = INFINITY;
    for (int r = 0; r < o->repeats; r++) {
        const double start = now();
        int failed = side_step(&users, pool);
        const double middle = now();
        failed = failed || side_step(&items, pool);
        const double end = now();
        if (failed)
            return -1;
        best = end - start < best ? end - start : best;
        best_users = middle - start < best_users ? middle - start : best_users;
    }
    const double rate = 1e-9 * work(o, by_user, by_item, k, users.operator_form) / best;
    const double peak = sgemm_rate(o->workers);
    char row[64];
    snprintf(row, sizeof row, "als %s, rank %d", solver_name, (int)k);
    bench_row(row, 1 / rate, "ns/flop", "sgemm", 1 / peak);
    printf("%-10s %4d %9.3f %9.3f %9.1f %9.1f %6.0f %%\n", solver_name, (int)k, best, best_users, rate, peak,
           100 * rate / peak);
    fflush(stdout);
    side_close(&users);
    side_close(&items);
    component_close(&loss);
    component_close(&solver);
    pool_free(pool);
    free(p);
    free(q);
    free(index);
    return 0;
}

static int parse(int argc, char **argv, struct options *o)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *value = argv[i + 1];
        switch (argv[i][0] == '-' ? argv[i][1] : 0) {
        case 'u':
            o->users = atoll(value);
            break;
        case 'i':
            o->items = atoll(value);
            break;
        case 'n':
            o->ratings = atoll(value);
            break;
        case 's':
            o->solvers = value;
            break;
        case 'l':
            o->loss = value;
            break;
        case 'K':
            o->kernel = value;
            break;
        case 'w':
            o->workers = atoi(value);
            break;
        case 'r':
            o->repeats = atoi(value);
            break;
        case 'b':
            o->rows = atoll(value);
            break;
        case 'k':
            o->n_k = 0;
            for (char *t = strtok(value, ","); t && o->n_k < 16; t = strtok(NULL, ","))
                o->k[o->n_k++] = atoi(t);
            break;
        default:
            return -1;
        }
    }
    return argc % 2 == 1 && o->workers > 0 && o->workers <= MAX_WORKERS && o->rows > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct options o = {.users = 138493,
                        .items = 26744,
                        .ratings = 20000263,
                        .k = {16, 64, 128},
                        .n_k = 3,
                        .solvers = "cholesky,cg",
                        .loss = "implicit-als",
                        .kernel = "auto",
                        .workers = 2,
                        .repeats = 3,
                        .rows = 16};
    struct sparse by_user = {0}, by_item = {0};
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "usage: als_sweep [-u users] [-i items] [-n ratings] [-k 16,64] [-s cholesky,cg] "
                        "[-l loss] [-w workers] [-r repeats] [-b rows] [-K kernel]\n");
        return 2;
    }
    for (int w = 0; w < o.workers; w++)
        scratch_blocks[w] = memory_raw(1, SCRATCH_BYTES);
    if (generate(&o, &by_user) || transpose(&by_user, o.items, &by_item))
        return 1;
    printf("%lld users, %lld items, %lld records, %d workers, loss %s, kernel %s\n", (long long)o.users,
           (long long)o.items, (long long)by_user.ptr[o.users], o.workers, o.loss, o.kernel);
    printf("%-10s %4s %9s %9s %9s %9s %8s\n", "solver", "k", "s/sweep", "users", "GFLOP/s", "sgemm", "share");
    char solvers[256];
    for (int i = 0; i < o.n_k; i++) {
        snprintf(solvers, sizeof(solvers), "%s", o.solvers);
        char *save = NULL;
        for (char *name = strtok_r(solvers, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
            if (measure(&o, &by_user, &by_item, o.k[i], name))
                return 1;
        }
    }
    return 0;
}
