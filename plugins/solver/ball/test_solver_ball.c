/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimiser in the ball against the optimality conditions in an eigenbasis that the test finds by itself
 * (Jacobi), against brute force over a grid of directions, and in the hard case.
 */
#include "kit/plain_host.h"

#include "dpframe/privacy.h"
#include "dpframe/role/solver.h"

#define MOST 40
#define STRIDE 64

static uint64_t state_of_random = 11;

static double uniform(void)
{
    uint64_t z = state_of_random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- a reference --------------------------------------------------------------------------------- */

/* Cyclic Jacobi: a becomes diagonal, columns of v are eigenvectors. */
static void jacobi(double a[MOST][MOST], double v[MOST][MOST], int d)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            v[i][j] = i == j;
    double off = 1, all = 1;
    for (int sweep = 0; sweep < 60 && off > 1e-34 * all; sweep++) {
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++) {
                if (a[p][q] == 0)
                    continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
                const double c = 1 / hypot(t, 1), s = t * c;
                for (int k = 0; k < d; k++) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < d; k++) {
                    const double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < d; k++) {
                    const double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
        off = all = 0;
        for (int i = 0; i < d * d; i++) {
            all += a[i / d][i % d] * a[i / d][i % d];
            off += i / d == i % d ? 0 : a[i / d][i % d] * a[i / d][i % d];
        }
    }
}

struct problem {
    int d;
    double a[MOST][MOST]; /* as float32 coefficients give it */
    double b[MOST];
    double radius;
};

static double objective(const struct problem *p, const double *q)
{
    double sum = 0;
    for (int i = 0; i < p->d; i++) {
        for (int j = 0; j < p->d; j++)
            sum += q[i] * p->a[i][j] * q[j];
        sum -= p->b[i] * q[i];
    }
    return sum;
}

/* The least objective: the secular equation by bisection in the eigenbasis. */
static double least_objective(const struct problem *p)
{
    static double a[MOST][MOST], v[MOST][MOST];
    double c[MOST] = {0}, lowest = INFINITY, largest = 0;
    memcpy(a, p->a, sizeof(a));
    jacobi(a, v, p->d);
    for (int k = 0; k < p->d; k++) {
        for (int i = 0; i < p->d; i++)
            c[k] += 0.5 * v[i][k] * p->b[i];
        lowest = fmin(lowest, a[k][k]);
        largest = fmax(largest, fabs(a[k][k]));
    }
    double lower = fmax(0, -lowest), upper = lower + 1;
    for (int phase = 0; phase < 400; phase++) {
        double norm = 0;
        const double s = phase < 100 ? upper : 0.5 * (lower + upper);
        for (int k = 0; k < p->d; k++)
            norm += c[k] / (a[k][k] + s) * (c[k] / (a[k][k] + s));
        if (phase < 100 && sqrt(norm) > p->radius)
            upper = lower + 2 * (upper - lower);
        if (phase >= 100)
            *(sqrt(norm) > p->radius ? &lower : &upper) = s;
    }
    /* f(x) + s (|x|^2 - radius^2) = -c'(A + s)^-1 c - s radius^2: the dual, which has no gap. In the hard
       case s is -lambda_1, and parts of c along the lowest eigenvector are rounding. */
    double dual = -upper * p->radius * p->radius;
    for (int k = 0; k < p->d; k++)
        if (fabs(c[k]) > 1e-13 * (largest * p->radius + 1e-300) || a[k][k] + upper > 1e-9 * largest)
            dual -= c[k] * c[k] / (a[k][k] + upper);
    return dual;
}

/* ---- the solver ---------------------------------------------------------------------------------- */

struct bench {
    struct plain_host host;
    dpf_query query;
    float blocks[MOST * MOST + 2 * MOST + 32] __attribute__((aligned(64)));
    float gram[MOST * MOST + 2 * MOST + 32] __attribute__((aligned(64)));
    float rows[STRIDE] __attribute__((aligned(64)));
    float ridge[2 * MOST];
    dpf_solve batch;
};

static void open_bench(struct bench *s, int d, uint32_t layout, double radius)
{
    char settings[64];
    const int32_t ld = layout == DPF_LAYOUT_PACKED ? 0 : layout == DPF_LAYOUT_LOWER ? (d + 15) / 16 * 16 : d;
    const int32_t length = layout == DPF_LAYOUT_PACKED ? dpf_packed_length(d) : d * ld;
    memset(s, 0, sizeof(*s));
    snprintf(settings, sizeof(settings), "radius=%.17g", radius);
    plain_open(&s->host, plain_component("ball", DPF_ROLE_SOLVER, "ball"), settings);
    s->query = (dpf_query){.size = sizeof(s->query),
                           .form = DPF_FORM_QUADRATIC,
                           .dimension = d,
                           .first = 1,
                           .width = length + d + 1,
                           .n_blocks = 3};
    s->query.blocks[0] = (dpf_block){DPF_BLOCK_QUADRATIC, layout, 0, length, ld, {0}};
    s->query.blocks[1] = (dpf_block){DPF_BLOCK_LINEAR, 0, length, d, 0, {0}};
    s->query.blocks[2] = (dpf_block){DPF_BLOCK_COUNT, 0, length + d, 1, 0, {0}};
    s->batch = (dpf_solve){.size = sizeof(s->batch),
                           .n_rounds = 1,
                           .n_rows = 1,
                           .query = &s->query,
                           .blocks = s->blocks,
                           .blocks_stride = (s->query.width + 15) / 16 * 16,
                           .current = s->rows,
                           .current_stride = STRIDE,
                           .next = s->rows,
                           .next_stride = STRIDE,
                           .gram_query = &s->query};
}

static void put(const struct bench *s, const struct problem *p, float *row)
{
    const dpf_block *a = &s->query.blocks[0];
    for (int i = 0; i < p->d; i++)
        for (int j = 0; j < (a->layout == DPF_LAYOUT_FULL ? p->d : i + 1); j++) {
            const float skew = a->layout == DPF_LAYOUT_FULL ? 0.125f * (float)(i - j) : 0;
            row[a->layout == DPF_LAYOUT_PACKED ? i * (i + 1) / 2 + j : i * a->ld + j] =
                (float)p->a[i][j] + skew;
        }
    for (int i = 0; i < p->d; i++)
        row[s->query.blocks[1].offset + i] = (float)p->b[i];
}

/* What the float32 coefficients mean, so that rounding them is not the solver's error. */
static void round_problem(struct problem *p)
{
    for (int i = 0; i < p->d; i++) {
        p->b[i] = (float)p->b[i];
        for (int j = 0; j <= i; j++)
            p->a[i][j] = p->a[j][i] = (float)p->a[i][j];
    }
}

static void check_answer(const struct problem *p, const float *row, double least)
{
    double q[MOST], norm = 0, size = 1e-12;
    for (int i = 0; i < p->d; i++) {
        q[i] = row[i];
        norm += q[i] * q[i];
    }
    assert_true(sqrt(norm) <= p->radius);
    for (int i = 0; i < p->d; i++) {
        size += fabs(p->b[i]) * p->radius;
        for (int j = 0; j < p->d; j++)
            size += fabs(p->a[i][j]) * p->radius * p->radius / p->d;
    }
    const double found = objective(p, q);
    if (!(found <= least + 4e-7 * size && found >= least - 4e-7 * size))
        fail_msg("d %d: objective %.12g, least %.12g (scale %g)", p->d, found, least, size);
}

static void solve_and_check(const struct problem *p, uint32_t layout)
{
    struct bench s;
    open_bench(&s, p->d, layout, p->radius);
    for (int i = 0; i < STRIDE; i++)
        s.rows[i] = 9;
    put(&s, p, s.blocks);
    const dpf_solver *solver = s.host.component->functions;
    if (solver->solve(s.host.self, plain_call(&s.host), &s.batch) != DPF_OK)
        fail_msg("%s", s.host.report);
    assert_true(s.rows[0] == 9);
    assert_true(s.rows[p->d + 1] == 9); /* other columns are left alone */
    check_answer(p, s.rows + 1, least_objective(p));
    plain_close(&s.host);
}

/* ---- problems ------------------------------------------------------------------------------------ */

static void random_problem(struct problem *p, int d, double lift, double force)
{
    *p = (struct problem){.d = d, .radius = 0.5 + 3 * uniform()};
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++)
            p->a[i][j] = p->a[j][i] = 2 * uniform() - 1;
        p->a[i][i] += lift;
        p->b[i] = force * (2 * uniform() - 1);
    }
    round_problem(p);
}

TEST(any_matrix)
{
    static const uint32_t layouts[] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
    static const double lifts[] = {0, 1, -5, 60, 1e4}, forces[] = {1, 1e-6, 1e5};
    for (int d = 1; d <= MOST; d += d < 24 ? 1 : 4)
        for (int lift = 0; lift < 5; lift++)
            for (int force = 0; force < 3; force++) {
                struct problem p;
                random_problem(&p, d, lifts[lift], forces[force]);
                solve_and_check(&p, layouts[(d + lift + force) % 3]);
            }
}

/* A diagonal matrix, where float32 leaves no doubt about the eigenvectors; b avoids the lowest of them. */
TEST(hard_case)
{
    for (int d = 1; d <= MOST; d++)
        for (int multiplicity = 1; multiplicity <= (d < 3 ? d : 3); multiplicity++)
            for (int zero = 0; zero < 2; zero++) {
                struct problem p = {.d = d, .radius = 2};
                for (int i = 0; i < d; i++) {
                    const int low = (i + d / 2) % d < multiplicity;
                    p.a[i][i] = low ? -3 : 1 + (double)i;
                    p.b[i] = low || zero ? 0 : 0.25;
                }
                solve_and_check(&p, DPF_LAYOUT_PACKED);
                for (int i = 0; i < d; i++) /* and nearly so */
                    p.b[i] = p.b[i] == 0 ? (float)1e-9 : p.b[i];
                solve_and_check(&p, DPF_LAYOUT_PACKED);
            }
}

/* In a rotated basis: A = sum of lambda_k times Householder's columns. Rounded to float32, so nearly hard. */
TEST(hard_case_in_general_position)
{
    for (int d = 2; d <= MOST; d++) {
        struct problem p = {.d = d, .radius = 1.5};
        double v[MOST], sum = 0;
        for (int i = 0; i < d; i++) {
            v[i] = 2 * uniform() - 1;
            sum += v[i] * v[i];
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                for (int k = 0; k < d; k++) {
                    const double lambda = k < 2 ? -2 : 0.5 * k;
                    p.a[i][j] +=
                        lambda * ((i == k) - 2 * v[i] * v[k] / sum) * ((j == k) - 2 * v[j] * v[k] / sum);
                }
        for (int i = 0; i < d; i++) /* the last column alone: orthogonal to the lowest two */
            p.b[i] = d > 2 ? 0.3 * ((i == d - 1) - 2 * v[i] * v[d - 1] / sum) : 0;
        round_problem(&p);
        solve_and_check(&p, DPF_LAYOUT_PACKED);
    }
}

/* Points of a fine grid of the disc and the ball: none is better. */
TEST(brute_force)
{
    for (int trial = 0; trial < 60; trial++) {
        struct problem p;
        random_problem(&p, 2 + trial % 2, trial % 5 - 2, trial % 3 ? 1 : 0.01);
        double least = 0;
        for (int i = 0; i < 720; i++)
            for (int j = 0; j < (p.d == 3 ? 90 : 1); j++)
                for (int k = 1; k <= 20; k++) {
                    const double r = p.radius * k / 20, up = p.d == 3 ? M_PI * (j + 0.5) / 90 : M_PI / 2;
                    const double q[3] = {r * sin(up) * cos(i * M_PI / 360), r * sin(up) * sin(i * M_PI / 360),
                                         r * cos(up)};
                    least = fmin(least, objective(&p, q));
                }
        /* The reference agrees with the grid, and so does the solver with the reference. */
        const double reference = least_objective(&p);
        assert_true(reference <= least + 1e-9);
        assert_true(reference >= least - 0.02 * (fabs(least) + p.radius * p.radius));
        solve_and_check(&p, DPF_LAYOUT_FULL);
    }
}

/* Singular but not indefinite: the shortest solution, nothing for b = 0. */
TEST(singular)
{
    struct problem p = {.d = 6, .radius = 1};
    struct bench s;
    solve_and_check(&p, DPF_LAYOUT_PACKED);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            p.a[i][j] = 1;
    solve_and_check(&p, DPF_LAYOUT_PACKED);
    for (int i = 0; i < 6; i++)
        p.b[i] = 1;
    open_bench(&s, 6, DPF_LAYOUT_PACKED, 1);
    put(&s, &p, s.blocks);
    const dpf_solver *solver = s.host.component->functions;
    assert_int_equal(solver->solve(s.host.self, plain_call(&s.host), &s.batch), DPF_OK);
    for (int i = 0; i < 6; i++) /* 1'q = 1/2; along null vectors rounding is amplified */
        assert_true(fabs((double)s.rows[1 + i] - 1.0 / 12) < 1e-3);
    plain_close(&s.host);
    p.b[0] = -1; /* and a force that nothing resists */
    solve_and_check(&p, DPF_LAYOUT_PACKED);
}

/* Gram row, ridges and rows without a matrix of their own: the same as the sum written out. */
TEST(parts_add_up)
{
    for (int own = 0; own < 2; own++) {
        struct problem gram, mine, whole;
        struct bench s;
        random_problem(&gram, 9, 0, 1);
        random_problem(&mine, 9, 0, 1);
        whole = gram;
        open_bench(&s, 9, DPF_LAYOUT_FULL, 2);
        for (int i = 0; i < 9; i++) {
            s.ridge[i] = 0.25f * (float)i;
            s.ridge[MOST + i] = 0.5f;
            for (int j = 0; j < 9; j++)
                mine.a[i][j] *= own;
        }
        s.query.has_gram = 1;
        s.query.ridge_per_count = s.ridge;
        s.query.ridge_constant = s.ridge + MOST;
        put(&s, &gram, s.gram);
        put(&s, &mine, s.blocks);
        if (!own)
            memset(s.blocks, 0, 9 * 9 * sizeof(float));
        s.gram[9 * 9 + 9] = 3;
        s.blocks[9 * 9 + 9] = own ? 2 : 0;
        whole.radius = 2;
        for (int i = 0; i < 9; i++) {
            whole.b[i] += mine.b[i];
            whole.a[i][i] += (own ? 5 : 3) * 0.25 * i + 0.5;
            for (int j = 0; j < 9; j++)
                whole.a[i][j] += mine.a[i][j];
        }
        s.batch.gram = s.gram;
        const dpf_solver *solver = s.host.component->functions;
        for (int again = 0; again < 2; again++) {
            assert_int_equal(solver->solve(s.host.self, plain_call(&s.host), &s.batch), DPF_OK);
            check_answer(&whole, s.rows + 1, least_objective(&whole));
        }
        plain_close(&s.host);
    }
}

TEST(extremes_and_refusals)
{
    struct problem p;
    struct bench s;
    const dpf_component *component = plain_component("ball", DPF_ROLE_SOLVER, "ball");
    random_problem(&p, 12, 0, 1);
    open_bench(&s, 12, DPF_LAYOUT_PACKED, 1);
    const dpf_solver *solver = component->functions;
    put(&s, &p, s.blocks);
    for (int i = 0; i < s.query.width; i++) /* noise of any size has an answer */
        s.blocks[i] *= 1e30f;
    assert_int_equal(solver->solve(s.host.self, plain_call(&s.host), &s.batch), DPF_OK);
    s.blocks[3] = NAN;
    assert_int_equal(solver->solve(s.host.self, plain_call(&s.host), &s.batch), DPF_E_NUMERIC);
    assert_non_null(strstr(s.host.report, "row 0"));
    s.query.form = DPF_FORM_GRADIENT;
    plain_clear(&s.host);
    assert_int_equal(solver->solve(s.host.self, plain_call(&s.host), &s.batch), DPF_E_UNSUPPORTED);
    plain_close(&s.host);
    plain_init(&s.host, component);
    assert_int_equal(plain_create(&s.host, "radius=2; lambda=0.1"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&s.host, "radius=0"), DPF_E_CONFIG);
    plain_close(&s.host);
    plain_open(&s.host, component, "lambda=0.04");
    assert_true(fabs(solver->radius(s.host.self) - 5) < 1e-12);
    plain_close(&s.host);
    plain_check_memory(component, "");
}
