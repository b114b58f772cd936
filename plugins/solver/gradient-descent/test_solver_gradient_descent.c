/* SPDX-License-Identifier: Apache-2.0 */
/* What is its own. What it has in common with adam: tests/plugins/test_solver_gradients.c. */
#include "kit/plain_host.h"

#define MAX_D 20
#define COLUMNS (MAX_D + 2)
#define STRIDE 32
#define BLOCK_STRIDE 448
#define ROWS 7

static uint64_t seed = 5;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

/* A batch with random rows, blocks and degrees. */
struct problem {
    dpf_query query;
    dpf_solve batch;
    float current[ROWS * STRIDE];
    float next[ROWS * STRIDE];
    float state[ROWS * MAX_D];
    _Alignas(64) float blocks[ROWS * BLOCK_STRIDE];
    _Alignas(64) float gram[BLOCK_STRIDE];
    float ridge_constant[MAX_D];
    float ridge_per_count[MAX_D];
    int32_t degrees[ROWS];
};

static void random_floats(float *out, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] = (float)uniform(-1, 1);
    }
}

static void make_problem(struct problem *p, int32_t d, int32_t first)
{
    memset(p, 0, sizeof(*p));
    random_floats(p->current, ROWS * STRIDE);
    random_floats(p->next, ROWS * STRIDE);
    random_floats(p->blocks, ROWS * BLOCK_STRIDE);
    random_floats(p->gram, BLOCK_STRIDE);
    random_floats(p->ridge_constant, MAX_D);
    random_floats(p->ridge_per_count, MAX_D);
    for (int32_t r = 0; r < ROWS; r++) {
        p->degrees[r] = r * r * 10;
    }
    p->query.size = sizeof(p->query);
    p->query.form = DPF_FORM_GRADIENT;
    p->query.dimension = d;
    p->query.first = first;
    p->query.width = d;
    p->query.n_blocks = 1;
    p->query.blocks[0].kind = DPF_BLOCK_GRADIENT;
    p->query.blocks[0].length = d;
    p->query.ridge_constant = p->ridge_constant;
    p->batch.size = sizeof(p->batch);
    p->batch.n_rounds = 100;
    p->batch.n_rows = ROWS;
    p->batch.query = &p->query;
    p->batch.blocks = p->blocks;
    p->batch.blocks_stride = BLOCK_STRIDE;
    p->batch.current = p->current;
    p->batch.current_stride = STRIDE;
    p->batch.next = p->next;
    p->batch.next_stride = STRIDE;
}

struct descent {
    struct plain_host host;
    const dpf_solver *functions;
};

static void open_descent(struct descent *descent, const char *id, const char *settings)
{
    const dpf_component *component = plain_component("gradient-descent", DPF_ROLE_SOLVER, id);

    plain_open(&descent->host, component, settings);
    descent->functions = component->functions;
}

static dpf_status solve(struct descent *descent, const dpf_solve *batch, int32_t round)
{
    plain_clear(&descent->host);
    descent->host.call.round = round;
    return descent->functions->solve(descent->host.self, plain_call(&descent->host), batch);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/* ---- the step ------------------------------------------------------------------------------- */

TEST(steps_follow_the_gradient)
{
    static struct problem p;
    struct descent descent;
    for (int32_t d = 1; d <= MAX_D; d++) {
        make_problem(&p, d, 1);
        p.batch.gram = d % 2 ? p.gram : NULL;
        p.query.ridge_constant = d % 3 ? p.ridge_constant : NULL;
        const struct problem before = p;
        open_descent(&descent, "gradient-descent", "rate=0.25");
        assert_true(isinf(descent.functions->radius(descent.host.self)));
        assert_int_equal(solve(&descent, &p.batch, 0), DPF_OK);
        for (int32_t r = 0; r < ROWS; r++) {
            for (int32_t c = 0; c < STRIDE; c++) {
                const double x = (double)before.current[r * STRIDE + c];
                if (c < 1 || c > d) { /* not an unknown */
                    assert_true(p.next[r * STRIDE + c] == before.next[r * STRIDE + c]);
                    continue;
                }
                const double ridge = p.query.ridge_constant ? (double)p.ridge_constant[c - 1] : 0;
                const double gram = p.batch.gram ? (double)p.gram[c - 1] : 0;
                const double g = (double)p.blocks[r * BLOCK_STRIDE + c - 1] + gram + ridge * x;
                assert_near((double)p.next[r * STRIDE + c], x - 0.25 * g, 1e-6);
            }
        }
        plain_close(&descent.host);
    }
}

TEST(the_rate_drops_as_documented)
{
    static const struct {
        const char *settings;
        int32_t round;
        double factor;
    } cases[] = {
        {"rate=1", 99, 1},
        {"rate=1; drop-at=0.25, 0.75", 24, 1},
        {"rate=1; drop-at=0.25, 0.75", 25, 0.2},
        {"rate=1; drop-at=0.25, 0.75", 74, 0.2},
        {"rate=1; drop-at=0.25, 0.75", 75, 0.04},
        {"rate=1; drop-at=0.07; drop-factor=0.5", 6, 1},
        {"rate=1; drop-at=0.07; drop-factor=0.5", 7, 0.5}, /* 0.07 * 100 > 7 in binary */
        {"rate=1; drop-at=", 99, 1},
    };
    static struct problem p;
    struct descent descent;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_problem(&p, 1, 0);
        p.query.ridge_constant = NULL;
        p.current[0] = 0;
        p.blocks[0] = -1;
        open_descent(&descent, "gradient-descent", cases[i].settings);
        assert_int_equal(solve(&descent, &p.batch, cases[i].round), DPF_OK);
        assert_near((double)p.next[0], cases[i].factor, 1e-7);
        plain_close(&descent.host);
    }
}

TEST(damped_steps_follow_the_degree)
{
    static struct problem p;
    struct descent descent;
    make_problem(&p, 5, 0);
    p.query.ridge_constant = NULL;
    p.batch.degrees = p.degrees;
    open_descent(&descent, "damped-gradient-descent", "rate=0.5");
    assert_true(descent.functions->flags & DPF_SOLVER_DEGREES);
    assert_int_equal(solve(&descent, &p.batch, 0), DPF_OK);
    for (int32_t r = 0; r < ROWS; r++) {
        const double rate = 0.5 / (1 + 2 * 0.5 * p.degrees[r] / 5);
        for (int32_t i = 0; i < 5; i++) {
            assert_near((double)p.next[r * STRIDE + i],
                        (double)p.current[r * STRIDE + i] - rate * (double)p.blocks[r * BLOCK_STRIDE + i],
                        1e-6);
        }
    }
    p.batch.degrees = NULL;
    assert_int_equal(solve(&descent, &p.batch, 0), DPF_E_UNSUPPORTED);
    plain_close(&descent.host);

    /* The plain component never looks at them, and says so. */
    open_descent(&descent, "gradient-descent", "rate=0.5");
    assert_false(descent.functions->flags & DPF_SOLVER_DEGREES);
    plain_close(&descent.host);
}

/* ---- projection ----------------------------------------------------------------------------- */

TEST(rows_stay_in_the_ball)
{
    static struct problem p;
    struct descent descent;
    for (int32_t round = 0; round < 300; round++) {
        const int32_t d = 1 + round % MAX_D;
        const double radius = round % 2 ? 1.0 : 0.37;
        make_problem(&p, d, 0);
        p.query.ridge_constant = NULL;
        for (int32_t i = 0; i < ROWS * BLOCK_STRIDE; i++) {
            p.blocks[i] *= (float)exp2(round % 40);
        }
        open_descent(&descent, "gradient-descent", round % 2 ? "rate=1; radius=1" : "rate=1; radius=0.37");
        assert_true(descent.functions->radius(descent.host.self) == radius);
        assert_int_equal(solve(&descent, &p.batch, 0), DPF_OK);
        for (int32_t r = 0; r < ROWS; r++) {
            long double square = 0, dot = 0, old = 0;
            for (int32_t i = 0; i < d; i++) {
                const long double x = (long double)p.next[r * STRIDE + i];
                const long double free =
                    (long double)p.current[r * STRIDE + i] - (long double)p.blocks[r * BLOCK_STRIDE + i];
                square += x * x;
                old += free * free;
                dot += x * free;
            }
            assert_true(sqrtl(square) <= (long double)radius);
            /* Parallel to the free step, and at its end or on the sphere. */
            assert_true(dot >= (1 - 1e-6L) * sqrtl(square * old));
            assert_true(sqrtl(square) >= (1 - 1e-6L) * fminl(sqrtl(old), (long double)radius));
        }
        plain_close(&descent.host);
    }
}

/* ---- quadratic queries ---------------------------------------------------------------------- */

static void quadratic_query(struct problem *p, uint32_t layout, int32_t d)
{
    const int32_t ld = layout == DPF_LAYOUT_LOWER ? d + 1 : layout == DPF_LAYOUT_FULL ? d : 0;
    const int32_t length = layout == DPF_LAYOUT_PACKED ? dpf_packed_length(d) : ld * d;

    p->query.form = DPF_FORM_QUADRATIC;
    p->query.n_blocks = 3;
    p->query.width = length + d + 1;
    p->query.blocks[0] = (dpf_block){DPF_BLOCK_QUADRATIC, layout, 0, length, ld, {0}};
    p->query.blocks[1] = (dpf_block){DPF_BLOCK_LINEAR, 0, length, d, 0, {0}};
    p->query.blocks[2] = (dpf_block){DPF_BLOCK_COUNT, 0, length + d, 1, 0, {0}};
    p->query.ridge_per_count = p->ridge_per_count;
}

/* x'Ax - b'x + x' diag(ridge) x of one row, with A's element by its layout. */
static double objective(const struct problem *p, const float *blocks, const float *gram, const double *x)
{
    const dpf_block *a = &p->query.blocks[0];
    const int32_t d = p->query.dimension;
    const float *parts[2] = {blocks, gram};
    double sum = 0, count = 0;

    for (int32_t k = 0; k < (gram ? 2 : 1); k++) {
        for (int32_t i = 0; i < d; i++) {
            for (int32_t j = 0; j < d; j++) {
                const int32_t hi = i > j ? i : j, lo = i > j ? j : i;
                const int32_t at = a->layout == DPF_LAYOUT_FULL    ? i * a->ld + j
                                   : a->layout == DPF_LAYOUT_LOWER ? hi * a->ld + lo
                                                                   : hi * (hi + 1) / 2 + lo;
                sum += (double)parts[k][at] * x[i] * x[j];
            }
            sum -= (double)parts[k][p->query.blocks[1].offset + i] * x[i];
        }
        count += (double)parts[k][p->query.blocks[2].offset];
    }
    for (int32_t i = 0; i < d; i++) {
        sum += ((double)p->ridge_constant[i] + count * (double)p->ridge_per_count[i]) * x[i] * x[i];
    }
    return sum;
}

/* The step is the derivative of the objective: a central difference is exact for a quadratic. */
TEST(quadratic_queries_are_differentiated)
{
    static const uint32_t layouts[] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
    static struct problem p;
    struct descent descent;
    open_descent(&descent, "gradient-descent", "rate=0.5");
    for (int32_t d = 1; d <= MAX_D; d++) {
        for (int32_t l = 0; l < 3; l++) {
            make_problem(&p, d, 0);
            quadratic_query(&p, layouts[l], d);
            const float *gram = d % 2 ? p.gram : NULL;
            p.batch.gram = gram;
            assert_int_equal(solve(&descent, &p.batch, 0), DPF_OK);
            for (int32_t r = 0; r < ROWS; r++) {
                double x[MAX_D];
                for (int32_t i = 0; i < d; i++) {
                    x[i] = (double)p.current[r * STRIDE + i];
                }
                for (int32_t i = 0; i < d; i++) {
                    const double middle = x[i];
                    x[i] = middle + 0.5;
                    const double above = objective(&p, p.blocks + r * BLOCK_STRIDE, gram, x);
                    x[i] = middle - 0.5;
                    const double below = objective(&p, p.blocks + r * BLOCK_STRIDE, gram, x);
                    x[i] = middle;
                    assert_near((double)p.next[r * STRIDE + i], middle - 0.5 * (above - below), 1e-4);
                }
            }
        }
    }
    plain_close(&descent.host);
}

/* ---- failures ------------------------------------------------------------------------------- */

TEST(divergence_is_an_error)
{
    static struct problem p;
    struct descent descent;
    open_descent(&descent, "gradient-descent", "rate=1000");
    make_problem(&p, 4, 0);
    p.blocks[2] = 1e37F; /* finite, but the step is not */
    assert_int_equal(solve(&descent, &p.batch, 0), DPF_E_NUMERIC);
    assert_non_null(strstr(descent.host.report, "lower the rate"));
    p.blocks[2] = NAN;
    assert_int_equal(solve(&descent, &p.batch, 0), DPF_E_NUMERIC);
    plain_close(&descent.host);
    open_descent(&descent, "gradient-descent", "rate=1000; radius=1"); /* a ball does not hide NaN */
    assert_int_equal(solve(&descent, &p.batch, 0), DPF_E_NUMERIC);
    plain_close(&descent.host);
}

TEST(settings_and_memory)
{
    const dpf_component *component = plain_component("gradient-descent", DPF_ROLE_SOLVER, "gradient-descent");
    struct plain_host host;
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "curvature=2"), DPF_E_CONFIG); /* the damped one's */
    assert_int_equal(host.code, DPF_OK);
    assert_int_equal(plain_create(&host, "drop-at=0.5, 0.25"), DPF_E_CONFIG);
    assert_int_equal(host.code, DPF_E_CONFIG);
    plain_close(&host);
}
