/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

/* The kernels are compared with each other directly; the component is tested through its plugin. */
#include "squared_error_kernels.c"

#define MAX_ROWS 12
#define MAX_RECORDS 256
#define STRIDE 80

/* A side step on random data: rows of both sides, and records gathered by row. */
struct scene {
    float self[MAX_ROWS * STRIDE];
    float other[MAX_ROWS * STRIDE];
    float residual[MAX_ROWS * STRIDE];
    int32_t rows[MAX_ROWS];
    int64_t offsets[MAX_ROWS + 1];
    int32_t others[MAX_RECORDS];
    float values[MAX_RECORDS];
    float weights[MAX_RECORDS];
    dpf_factors self_view, other_view, residual_view;
    dpf_groups groups;
};

static uint64_t seed = 1;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static int32_t below(int32_t n)
{
    return (int32_t)uniform(0, n);
}

static void fill_rows(float *data, int32_t columns)
{
    memset(data, 0, MAX_ROWS * STRIDE * sizeof(float));
    for (int32_t r = 0; r < MAX_ROWS; r++) {
        for (int32_t c = 0; c < columns; c++) {
            data[r * STRIDE + c] = (float)uniform(-1, 1);
        }
    }
}

static dpf_factors view(const float *data, int32_t columns)
{
    const dpf_factors out = {data, MAX_ROWS, STRIDE, columns, 0};

    return out;
}

static void make_scene(struct scene *s, int32_t columns, int weighted)
{
    int64_t n = 0;

    fill_rows(s->self, columns);
    fill_rows(s->other, columns);
    fill_rows(s->residual, columns);
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        s->rows[g] = MAX_ROWS - 1 - g;
        s->offsets[g] = n;
        for (int32_t k = below(16) + (g % 3 == 0 ? 0 : 1); k > 0; k--, n++) {
            s->others[n] = below(MAX_ROWS);
            s->values[n] = (float)(1 + below(5));
            s->weights[n] = (float)uniform(0, 3);
        }
    }
    s->offsets[MAX_ROWS] = n;
    s->self_view = view(s->self, columns);
    s->other_view = view(s->other, columns);
    s->residual_view = view(s->residual, columns);
    memset(&s->groups, 0, sizeof(s->groups));
    s->groups.size = sizeof(s->groups);
    s->groups.side = DPF_SIDE_ITEMS;
    s->groups.self = &s->self_view;
    s->groups.other = &s->other_view;
    s->groups.residual = &s->residual_view;
    s->groups.n_groups = MAX_ROWS;
    s->groups.rows = s->rows;
    s->groups.offsets = s->offsets;
    s->groups.others = s->others;
    s->groups.values = s->values;
    s->groups.weights = weighted ? s->weights : NULL;
    s->groups.offset = 3.25;
    s->groups.party_row = -1;
}

/* The definition, record by record. out: MAX_ROWS x STRIDE. */
static void naive(const struct scene *s, const dpf_query *query, double factor, double lambda, double clip,
                  double grid, double *out)
{
    memset(out, 0, MAX_ROWS * STRIDE * sizeof(double));
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        const float *x = s->self + s->rows[g] * STRIDE;
        for (int64_t k = s->offsets[g]; k < s->offsets[g + 1]; k++) {
            const float *seen = s->residual + s->others[k] * STRIDE;
            const float *y = s->other + s->others[k] * STRIDE;
            const double w = s->groups.weights ? (double)s->weights[k] : 1.0;
            double e = s->groups.offset - (s->groups.values ? (double)s->values[k] : 1.0);
            for (int32_t c = 0; c < s->self_view.cols; c++) {
                e += (double)x[c] * (double)seen[c];
            }
            e = fmax(-clip, fmin(clip, e));
            for (int32_t i = 0; i < query->dimension; i++) {
                const int32_t c = query->first + i;
                const double term = w * factor * (e * (double)y[c] + lambda * (double)x[c]);
                out[g * STRIDE + i] += grid > 0 ? grid * nearbyint(term / grid) : term;
            }
        }
    }
}

struct loss {
    struct plain_host host;
    const dpf_loss *functions;
    dpf_query query;
};

static void open_loss(struct loss *loss, const char *settings, int32_t side, int32_t columns, int32_t first,
                      int32_t dimension)
{
    const dpf_component *component = plain_component("squared-error", DPF_ROLE_LOSS, "squared-error");
    const dpf_side_info info = {.size = sizeof(info),
                                .side = side,
                                .n_self = MAX_ROWS,
                                .n_other = MAX_ROWS,
                                .columns = columns,
                                .first = first,
                                .dimension = dimension,
                                .bias = -1,
                                .is_released = 1};

    plain_open(&loss->host, component, settings);
    loss->functions = component->functions;
    assert_int_equal(loss->functions->query(loss->host.self, &info, &loss->query), DPF_OK);
}

static void accumulate(struct loss *loss, const dpf_groups *groups, double grid, double *out)
{
    assert_int_equal(loss->functions->accumulate(loss->host.self, plain_call(&loss->host), &loss->query,
                                                 groups, &grid, out, STRIDE),
                     DPF_OK);
}

static void assert_close(const double *a, const double *b, int32_t width, double tolerance)
{
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        for (int32_t i = 0; i < width; i++) {
            if (!(fabs(a[g * STRIDE + i] - b[g * STRIDE + i]) <= tolerance)) {
                fail_msg("row %d, coordinate %d: %.17g, expected %.17g", g, i, a[g * STRIDE + i],
                         b[g * STRIDE + i]);
            }
        }
    }
}

/* ---- gradients ------------------------------------------------------------------------------ */

struct variant {
    const char *settings;
    double factor, lambda, clip;
};

static const struct variant variants[] = {
    {"objective=full", 2, 0, INFINITY},
    {"objective=half", 1, 0, INFINITY},
    {"objective=half; clip-error=0.75", 1, 0, 0.75},
    {"objective=full; regularization=0.5", 2, 0, INFINITY}, /* left to the solver */
    {"objective=full; regularization=0.5; regularization-per=record", 2, 0.5, INFINITY},
    {"objective=half; regularization=0.25; regularization-per=record; clip-error=1", 1, 0.25, 1},
};
#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

static void check_variant(const struct variant *variant, int32_t columns, int32_t first, int32_t d,
                          int weighted)
{
    static struct scene scene;
    static double out[MAX_ROWS * STRIDE], expected[MAX_ROWS * STRIDE], local_wide[MAX_ROWS * STRIDE];
    static _Alignas(64) float local[MAX_ROWS * STRIDE];
    struct loss loss;

    make_scene(&scene, columns, weighted);
    open_loss(&loss, variant->settings, DPF_SIDE_ITEMS, columns, first, d);
    naive(&scene, &loss.query, variant->factor, variant->lambda, variant->clip, 0, expected);
    accumulate(&loss, &scene.groups, 0, out);
    assert_close(out, expected, d, 1e-11);

    const double grid = 0x1p-12; /* a term may lie so near a tie that it is rounded the other way */
    naive(&scene, &loss.query, variant->factor, variant->lambda, variant->clip, grid, expected);
    accumulate(&loss, &scene.groups, grid, out);
    assert_close(out, expected, d, 1.5 * grid);
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        for (int32_t i = 0; i < d; i++) {
            assert_true(out[g * STRIDE + i] / grid == nearbyint(out[g * STRIDE + i] / grid));
        }
    }

    assert_int_equal(loss.functions->accumulate_local(loss.host.self, plain_call(&loss.host), &loss.query,
                                                      &scene.groups, local, STRIDE),
                     DPF_OK);
    for (int32_t i = 0; i < MAX_ROWS * STRIDE; i++) {
        local_wide[i] = (double)local[i];
    }
    naive(&scene, &loss.query, variant->factor, variant->lambda, variant->clip, 0, expected);
    assert_close(local_wide, expected, d, 1e-3);
    plain_close(&loss.host);
}

TEST(gradients_match_their_definition)
{
    static const int32_t dimensions[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64};
    for (size_t v = 0; v < N_VARIANTS; v++) {
        for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
            const int32_t d = dimensions[i];
            check_variant(&variants[v], d, 0, d, i % 2 == 0);
            check_variant(&variants[v], d + 1, 0, d, i % 2 == 1); /* users with a bias: [b, x, 1] */
            check_variant(&variants[v], d + 1, 1, d, i % 2 == 0); /* items */
        }
    }
}

TEST(implicit_values_are_one)
{
    static struct scene scene;
    static double out[MAX_ROWS * STRIDE], expected[MAX_ROWS * STRIDE];
    struct loss loss;
    make_scene(&scene, 10, 0);
    scene.groups.values = NULL;
    open_loss(&loss, "", DPF_SIDE_ITEMS, 10, 0, 10);
    naive(&scene, &loss.query, 2, 0, INFINITY, 0, expected);
    accumulate(&loss, &scene.groups, 0, out);
    assert_close(out, expected, 10, 1e-11);
    plain_close(&loss.host);
}

/* On a grid a sum is the same bytes however records are ordered, batched or split among parties. */
TEST(sums_do_not_depend_on_order_or_batches)
{
    static struct scene scene;
    static double whole[MAX_ROWS * STRIDE], part[MAX_ROWS * STRIDE], sum[MAX_ROWS * STRIDE];
    struct loss loss;
    const double grid = 0x1p-20;
    make_scene(&scene, 13, 1);
    open_loss(&loss, "regularization=0.1; regularization-per=record", DPF_SIDE_ITEMS, 13, 0, 13);
    accumulate(&loss, &scene.groups, grid, whole);

    memset(sum, 0, sizeof(sum));
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        for (int64_t k = scene.offsets[g + 1] - 1; k >= scene.offsets[g]; k--) {
            dpf_groups one = scene.groups;
            const int64_t offsets[2] = {k, k + 1};
            one.n_groups = 1;
            one.rows = &scene.rows[g];
            one.offsets = offsets;
            accumulate(&loss, &one, grid, part);
            for (int32_t i = 0; i < 13; i++) {
                sum[g * STRIDE + i] += part[i];
            }
        }
    }
    for (int32_t g = 0; g < MAX_ROWS; g++) {
        assert_memory_equal(sum + g * STRIDE, whole + g * STRIDE, 13 * sizeof(double));
    }

    for (int32_t size = 1; size < MAX_ROWS; size++) {
        for (int32_t g = 0; g < MAX_ROWS; g += size) {
            dpf_groups some = scene.groups;
            some.n_groups = g + size <= MAX_ROWS ? size : MAX_ROWS - g;
            some.rows += g;
            some.offsets += g;
            accumulate(&loss, &some, 0, part);
            accumulate(&loss, &scene.groups, 0, whole);
            assert_memory_equal(part, whole + g * STRIDE, 13 * sizeof(double));
        }
    }
    plain_close(&loss.host);
}

TEST(kernels_give_the_same_bytes)
{
    static struct scene scene;
    static double a[MAX_ROWS * STRIDE], b[MAX_ROWS * STRIDE], reg[STRIDE];
    static float fa[MAX_ROWS * STRIDE], fb[MAX_ROWS * STRIDE], freg[STRIDE];
    struct squared_error loss = {.factor = 2, .lambda = 0.3, .per_record = 1, .clip = 2};
    for (int32_t d = 1; d <= 70; d++) {
        dpf_query query = {.size = sizeof(query), .dimension = d, .width = d};
        make_scene(&scene, d, 1);
        const struct squared_error_task task = {&loss, &query, &scene.groups, d % 2 ? 0x1p-18 : 0, STRIDE};
        exact_rows(&task, 0, MAX_ROWS, reg, a);
        local_rows(&task, 0, MAX_ROWS, freg, fa);
        for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++) {
            if (simd_choose(kind) < 0)
                continue;
            squared_error_find_exact(kind)(&task, 0, MAX_ROWS, reg, b);
            assert_memory_equal(a, b, sizeof(a));
            squared_error_find_local(kind)(&task, 0, MAX_ROWS, freg, fb);
            assert_memory_equal(fa, fb, sizeof(fa));
        }
    }
}

TEST(ridges_follow_the_objective)
{
    struct loss loss;
    open_loss(&loss, "objective=full; regularization=0.25", DPF_SIDE_USERS, 5, 0, 4);
    for (int32_t i = 0; i < 4; i++) {
        assert_true(loss.query.ridge_constant[i] == 0.5F);
    }
    assert_null(loss.query.ridge_per_count);
    assert_int_equal(loss.query.form, DPF_FORM_GRADIENT);
    assert_int_equal(loss.query.support, DPF_SUPPORT_OBSERVED);
    assert_int_equal(loss.query.n_blocks, 1);
    assert_int_equal(loss.query.blocks[0].length, 4);
    plain_close(&loss.host);

    open_loss(&loss, "objective=half; regularization=0.25", DPF_SIDE_USERS, 4, 0, 4);
    assert_true(loss.query.ridge_constant[3] == 0.25F);
    plain_close(&loss.host);
    open_loss(&loss, "regularization=0.25; regularization-per=record", DPF_SIDE_USERS, 4, 0, 4);
    assert_null(loss.query.ridge_constant);
    plain_close(&loss.host);
}

/* ---- sensitivity ---------------------------------------------------------------------------- */

/* A tiny world: values, rows of both sides and weights are drawn from its extremes. */
struct world {
    int32_t side;
    int32_t cap;
    double value_lo, value_hi, offset, weight, self_radius, other_radius, lambda, clip, factor;
};

#define D 3

static double norm_of(const double *v, int32_t n, int which)
{
    double sum = 0, most = 0;

    for (int32_t i = 0; i < n; i++) {
        sum += which == 1 ? fabs(v[i]) : v[i] * v[i];
        most = fmax(most, fabs(v[i]));
    }
    return which == 0 ? most : which == 1 ? sum : sqrt(sum);
}

/* Rows with Euclidean norm at most the radius: axes and diagonals (extreme for Linf and L1) and others. */
static void random_row(double radius, float *row)
{
    double v[D];
    const int32_t kind = below(3);
    const int32_t axis = below(D);
    const double sign = below(2) ? 1 : -1;

    for (int32_t i = 0; i < D; i++) {
        v[i] = kind == 0 ? (i == axis) * sign : kind == 1 ? sign / sqrt(D) : uniform(-1, 1);
    }
    const double length = fmax(1e-9, norm_of(v, D, 2));
    const double scale = radius / length * (kind == 2 ? uniform(0, 1) : 1 - 1e-7);
    for (int32_t i = 0; i < D; i++) {
        row[i] = (float)(v[i] * scale);
    }
}

/* One user's data: at most cap records, each with a row of its own on the other side. */
struct user_data {
    int32_t n;
    int32_t rows[8];   /* of the solved side */
    int32_t others[8]; /* of the other side */
    float values[8];
};

#define N_ROWS 4

/* The user's contribution to all rows of the solved side, through the plugin. */
static void contribution(struct loss *loss, const float *self, const float *other, const struct world *world,
                         const struct user_data *data, double *out)
{
    const dpf_factors self_view = {self, N_ROWS, D, D, 0};
    const dpf_factors other_view = {other, N_ROWS, D, D, 0};
    double part[8];

    memset(out, 0, N_ROWS * D * sizeof(double));
    for (int32_t k = 0; k < data->n; k++) {
        const int64_t offsets[2] = {0, 1};
        const float weight = (float)world->weight;
        const dpf_groups groups = {.size = sizeof(groups),
                                   .side = world->side,
                                   .self = &self_view,
                                   .other = &other_view,
                                   .residual = &other_view,
                                   .n_groups = 1,
                                   .rows = &data->rows[k],
                                   .offsets = offsets,
                                   .others = &data->others[k],
                                   .values = &data->values[k],
                                   .weights = &weight,
                                   .offset = world->offset,
                                   .party_row = -1};
        assert_int_equal(loss->functions->accumulate(loss->host.self, plain_call(&loss->host), &loss->query,
                                                     &groups, NULL, part, 8),
                         DPF_OK);
        for (int32_t i = 0; i < D; i++) {
            out[data->rows[k] * D + i] += part[i];
        }
    }
}

static void random_user(const struct world *world, struct user_data *data)
{
    data->n = below(2) ? world->cap : below(world->cap + 1);
    for (int32_t k = 0; k < data->n; k++) {
        /* Users solved: all records in row 0, one for each item. Items solved: the reverse. */
        data->rows[k] = world->side == DPF_SIDE_USERS ? 0 : k;
        data->others[k] = world->side == DPF_SIDE_USERS ? k : 0;
        data->values[k] = (float)(below(2) ? world->value_lo : world->value_hi);
    }
}

/* Remembers the largest change of each norm, and that none exceeds what is stated. */
static void check_change(const double *a, const double *b, const dpf_norms *stated, dpf_norms *seen)
{
    double change[N_ROWS * D];

    for (int32_t i = 0; i < N_ROWS * D; i++) {
        change[i] = a[i] - b[i];
    }
    const dpf_norms now = {norm_of(change, N_ROWS * D, 1), norm_of(change, N_ROWS * D, 2),
                           norm_of(change, N_ROWS * D, 0)};
    assert_true(now.l1 <= stated->l1);
    assert_true(now.l2 <= stated->l2);
    assert_true(now.linf <= stated->linf);
    seen->l1 = fmax(seen->l1, now.l1);
    seen->l2 = fmax(seen->l2, now.l2);
    seen->linf = fmax(seen->linf, now.linf);
}

static void world_bounds(const struct world *world, dpf_bounds *bounds)
{
    const double root = sqrt(D);
    const dpf_bounds out = {.size = sizeof(out),
                            .side = world->side,
                            .dimension = D,
                            .value_lo = world->value_lo,
                            .value_hi = world->value_hi,
                            .offset = world->offset,
                            .weight_max = world->weight,
                            .other_l1 = root * world->other_radius,
                            .other_l2 = world->other_radius,
                            .other_linf = world->other_radius,
                            .self_l1 = root * world->self_radius,
                            .self_l2 = world->self_radius,
                            .self_linf = world->self_radius,
                            .records_per_user = world->cap,
                            .n_self = N_ROWS,
                            .n_other = N_ROWS,
                            .residual_l2 = world->other_radius};
    *bounds = out;
}

static void open_world(struct loss *loss, const struct world *world)
{
    char settings[256];

    snprintf(settings, sizeof(settings),
             "objective=%s; regularization=%g; regularization-per=record; clip-error=%g",
             world->factor == 2 ? "full" : "half", world->lambda, world->clip);
    open_loss(loss, settings, world->side, D, 0, D);
}

static void state_sensitivity(struct loss *loss, const dpf_bounds *bounds, dpf_sensitivity *out)
{
    for (int32_t u = 0; u < DPF_N_UNITS; u++) {
        for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
            out->at[u][a] = (dpf_norms){NAN, NAN, NAN};
        }
    }
    assert_int_equal(loss->functions->sensitivity(loss->host.self, &loss->query, bounds, out, NULL, NULL),
                     DPF_OK);
}

static void search_world(const struct world *world, int32_t rounds, dpf_norms *user, dpf_norms *record,
                         dpf_norms *value)
{
    float self[N_ROWS * D], other[N_ROWS * D], other_after[N_ROWS * D];
    double before[N_ROWS * D], after[N_ROWS * D], zero[N_ROWS * D] = {0};
    struct loss loss;
    dpf_bounds bounds;
    dpf_sensitivity stated;
    struct user_data a, b;

    open_world(&loss, world);
    world_bounds(world, &bounds);
    state_sensitivity(&loss, &bounds, &stated);
    for (int32_t round = 0; round < rounds; round++) {
        random_row(world->self_radius, self);
        random_row(world->other_radius, other);
        for (int32_t r = 1; r < N_ROWS; r++) {
            /* Often equal rows, so that contributions to one row add up. */
            round % 2 ? random_row(world->self_radius, self + r * D)
                      : (void)memcpy(self + r * D, self, D * 4);
            round % 2 ? random_row(world->other_radius, other + r * D)
                      : (void)memcpy(other + r * D, other, D * 4);
        }
        random_user(world, &a);
        random_user(world, &b);
        contribution(&loss, self, other, world, &a, before);
        check_change(before, zero, &stated.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE], user);
        check_change(before, zero, &stated.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT], user);
        /* A replaced user brings a row of its own. */
        memcpy(other_after, other, sizeof(other));
        if (world->side == DPF_SIDE_ITEMS) {
            random_row(world->other_radius, other_after);
        }
        contribution(&loss, self, other_after, world, &b, after);
        dpf_norms ignored = {0};
        check_change(before, after, &stated.at[DPF_UNIT_USER][DPF_ADJ_REPLACE], &ignored);
        if (a.n == 0) {
            continue;
        }
        b = a;
        b.values[0] = (float)(below(2) ? world->value_lo : world->value_hi);
        contribution(&loss, self, other, world, &b, after);
        check_change(before, after, &stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE], value);
        b = a;
        b.n--;
        contribution(&loss, self, other, world, &b, after);
        check_change(before, after, &stated.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE], record);
        check_change(before, after, &stated.at[DPF_UNIT_RECORD][DPF_ADJ_ZERO_OUT], record);
        check_change(before, after, &stated.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP], record);
    }
    plain_close(&loss.host);
}

static const struct world worlds[] = {
    {DPF_SIDE_ITEMS, 3, 1, 5, 0, 1, 1, 1, 0, INFINITY, 2},
    {DPF_SIDE_USERS, 3, 1, 5, 0, 1, 1, 1, 0, INFINITY, 1},
    {DPF_SIDE_ITEMS, 3, 1, 5, -2, 1, 1, 1, 0, INFINITY, 2},
    {DPF_SIDE_ITEMS, 4, 1, 5, 3, 2, 1.5, 0.5, 0, 1.25, 2},
    {DPF_SIDE_USERS, 4, -1, 1, 0, 1, 2, 1, 0.5, INFINITY, 1},
    {DPF_SIDE_ITEMS, 2, 1, 5, 3.5, 0.5, 1, 2, 0.75, 1, 2},
};

TEST(sensitivities_are_never_exceeded)
{
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        const struct world *world = &worlds[i];
        dpf_norms user = {0}, record = {0}, value = {0};
        search_world(world, 3000, &user, &record, &value);

        /* and they are attained, where the extremes of all bounds can meet. */
        struct loss loss;
        dpf_bounds bounds;
        dpf_sensitivity stated;
        open_world(&loss, world);
        world_bounds(world, &bounds);
        state_sensitivity(&loss, &bounds, &stated);
        const dpf_norms *change = &stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
        assert_true(value.l1 >= 0.999 * change->l1);
        assert_true(value.l2 >= 0.999 * change->l2);
        assert_true(value.linf >= 0.999 * change->linf);
        if (world->lambda == 0) {
            const dpf_norms *gone = &stated.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE];
            const dpf_norms *all = &stated.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
            assert_true(record.l2 >= 0.999 * gone->l2);
            assert_true(user.l2 >= 0.999 * all->l2);
            assert_true(user.l1 >= 0.999 * all->l1);
        }
        plain_close(&loss.host);
    }
}

/* Gaussian mechanism on half the squared error: tau C; Laplace on the full one: 2 Delta sqrt(K). */
TEST(sensitivities_of_the_papers)
{
    struct loss loss;
    dpf_bounds bounds;
    dpf_sensitivity stated;
    struct world world = {DPF_SIDE_USERS, 3, 1, 5, 0, 1, 1, 1, 0, INFINITY, 1};
    open_world(&loss, &world);
    world_bounds(&world, &bounds);
    bounds.self_l1 = bounds.self_l2 = bounds.self_linf = INFINITY;
    bounds.records_per_user = INT64_MAX;
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(fabs(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 - 4.0) < 1e-6);
    assert_true(isinf(stated.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2));
    assert_true(isinf(stated.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2));
    assert_true(isnan(stated.at[DPF_UNIT_USER][DPF_ADJ_REPLACE_VALUE].l2));
    assert_true(isnan(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE].l2));
    plain_close(&loss.host);

    world.factor = 2;
    open_world(&loss, &world);
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(fabs(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 - 2 * 4 * sqrt(D)) < 1e-5);
    plain_close(&loss.host);
}

TEST(unknown_bounds_stay_unknown)
{
    struct loss loss;
    dpf_bounds bounds;
    dpf_sensitivity stated;
    const struct world world = {DPF_SIDE_ITEMS, 3, 1, 5, 0, 1, 1, 1, 0, INFINITY, 2};
    open_world(&loss, &world);
    world_bounds(&world, &bounds);
    bounds.other_l1 = NAN;
    bounds.other_l2 = INFINITY;
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(isnan(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1));
    assert_true(isinf(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2));
    assert_true(isfinite(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].linf));
    bounds.value_hi = INFINITY;
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(isinf(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].linf));
    bounds.value_hi = 1; /* a constant value cannot change */
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].linf == 0);
    plain_close(&loss.host);

    /* A prediction with a bias has a part that no bound covers. */
    open_loss(&loss, "", DPF_SIDE_ITEMS, D + 1, 1, D);
    world_bounds(&world, &bounds);
    state_sensitivity(&loss, &bounds, &stated);
    assert_true(isinf(stated.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2));
    assert_true(isfinite(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2));
    plain_close(&loss.host);
}

/* ---- failures ------------------------------------------------------------------------------- */

static dpf_status accumulate_status(struct loss *loss, const struct scene *scene, double grid)
{
    static double out[MAX_ROWS * STRIDE];

    plain_clear(&loss->host);
    return loss->functions->accumulate(loss->host.self, plain_call(&loss->host), &loss->query, &scene->groups,
                                       &grid, out, STRIDE);
}

TEST(bad_numbers_are_errors)
{
    static struct scene scene;
    static _Alignas(64) float local[MAX_ROWS * STRIDE];
    struct loss loss;
    make_scene(&scene, 8, 0);
    open_loss(&loss, "", DPF_SIDE_ITEMS, 8, 0, 8);
    assert_int_equal(accumulate_status(&loss, &scene, 0x1p-60), DPF_E_RANGE);
    assert_int_equal(accumulate_status(&loss, &scene, 0x1p-30), DPF_OK);
    scene.values[1] = 0x1p26F;
    assert_int_equal(accumulate_status(&loss, &scene, 0), DPF_E_NUMERIC);
    assert_non_null(strstr(loss.host.report, "2^24"));
    scene.values[1] = NAN;
    assert_int_equal(accumulate_status(&loss, &scene, 0), DPF_E_NUMERIC);
    plain_clear(&loss.host);
    assert_int_equal(loss.functions->accumulate_local(loss.host.self, plain_call(&loss.host), &loss.query,
                                                      &scene.groups, local, STRIDE),
                     DPF_E_NUMERIC);
    plain_close(&loss.host);

    /* A clip does not hide NaN, but copes with a residual of any size. */
    open_loss(&loss, "clip-error=1", DPF_SIDE_ITEMS, 8, 0, 8);
    assert_int_equal(accumulate_status(&loss, &scene, 0), DPF_E_NUMERIC);
    scene.values[1] = 0x1p26F;
    assert_int_equal(accumulate_status(&loss, &scene, 0), DPF_OK);
    loss.host.cancel = 1;
    assert_int_equal(accumulate_status(&loss, &scene, 0), DPF_E_CANCELLED);
    plain_close(&loss.host);
}

TEST(settings_and_memory)
{
    const dpf_component *component = plain_component("squared-error", DPF_ROLE_LOSS, "squared-error");
    const dpf_loss *functions = component->functions;
    const dpf_side_info info = {.size = sizeof(info), .columns = 4, .dimension = 4};
    struct plain_host host;
    dpf_query query;
    plain_check_memory(component, "regularization=1");
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "clip-error=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "regularization=-1"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "objective=third"), DPF_E_CONFIG);
    plain_close(&host);

    plain_open(&host, component, "regularization=1");
    host.fail_after = 0;
    assert_int_equal(functions->query(host.self, &info, &query), DPF_E_MEMORY);
    host.fail_after = -1;
    assert_int_equal(functions->query(host.self, &info, &query), DPF_OK);
    const float *ridge = query.ridge_constant;
    assert_int_equal(functions->query(host.self, &info, &query), DPF_OK);
    assert_ptr_equal(query.ridge_constant, ridge); /* earlier answers stay valid */
    plain_close(&host);
}
