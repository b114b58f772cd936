/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

#define ITEMS 9
#define USERS 7
#define STRIDE 16
#define D 4

static uint64_t seed = 1;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

/* Ratings of all cells, 0 where there is none; items are solved. */
struct scene {
    float items[ITEMS * STRIDE], users[USERS * STRIDE], seen[USERS * STRIDE];
    float rating[USERS][ITEMS], weight[USERS][ITEMS];
    dpf_factors self, other, residual;
    int32_t rows[ITEMS], others[USERS * ITEMS];
    int64_t offsets[ITEMS + 1];
    float values[USERS * ITEMS], weights[USERS * ITEMS];
    dpf_groups groups;
};

static void fill(float *data, int rows, double scale)
{
    memset(data, 0, (size_t)(rows * STRIDE) * sizeof(float));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < D; c++)
            data[r * STRIDE + c] = (float)uniform(-scale, scale);
}

/* The groups of one user's message, or of all users (user -1). */
static void gather(struct scene *s, int user, int weighted)
{
    int64_t n = 0;
    for (int j = 0; j < ITEMS; j++) {
        s->rows[j] = j;
        s->offsets[j] = n;
        for (int u = USERS - 1; u >= 0; u--) /* not in order: the loss must not need it */
            if ((user < 0 || u == user) && s->rating[u][j] > 0) {
                s->others[n] = u;
                s->values[n] = s->rating[u][j];
                s->weights[n++] = s->weight[u][j];
            }
    }
    s->offsets[ITEMS] = n;
    s->groups = (dpf_groups){.size = sizeof(dpf_groups),
                             .side = DPF_SIDE_ITEMS,
                             .self = &s->self,
                             .other = &s->other,
                             .n_groups = ITEMS,
                             .rows = s->rows,
                             .offsets = s->offsets,
                             .others = s->others,
                             .values = s->values,
                             .weights = weighted ? s->weights : NULL,
                             .party_row = user,
                             .residual = &s->residual};
}

static void make_scene(struct scene *s)
{
    fill(s->items, ITEMS, 2);
    fill(s->users, USERS, 1);
    fill(s->seen, USERS, 1);
    s->self = (dpf_factors){s->items, ITEMS, STRIDE, D, 0};
    s->other = (dpf_factors){s->users, USERS, STRIDE, D, 0};
    s->residual = (dpf_factors){s->seen, USERS, STRIDE, D, 0};
    for (int u = 0; u < USERS; u++)
        for (int j = 0; j < ITEMS; j++) {
            s->rating[u][j] = uniform(0, 1) < 0.4 ? (float)(int)uniform(1, 6) : 0;
            s->weight[u][j] = (float)uniform(0, 2);
        }
}

static double clipped(double e, double clip)
{
    return fmax(-clip, fmin(clip, e));
}

/* The definition, cell by cell. */
static void add_cell(const struct scene *s, int u, int j, double kappa, double clip, double factor,
                     double grid, int weighted, double *out)
{
    double prediction = 0;
    for (int c = 0; c < D; c++)
        prediction += (double)s->items[j * STRIDE + c] * (double)s->seen[u * STRIDE + c];
    const double empty = clipped(prediction, clip);
    double t = empty;
    if (s->rating[u][j] > 0) {
        const double w = weighted ? (double)s->weight[u][j] : 1;
        t = w * (1 + kappa) * clipped(prediction - (double)s->rating[u][j], clip) + (1 - w) * empty;
    }
    for (int c = 0; c < D; c++) {
        const double x = factor * t * (double)s->users[u * STRIDE + c];
        out[j * D + c] += grid > 0 ? grid * nearbyint(x / grid) : x;
    }
}

struct loss {
    struct plain_host host;
    const dpf_loss *functions;
    dpf_query query;
};

static void open_loss(struct loss *loss, const char *settings, int32_t side)
{
    const dpf_component *component = plain_component("weighted-gradient", DPF_ROLE_LOSS, "weighted-gradient");
    const dpf_side_info info = {.size = sizeof(info),
                                .side = side,
                                .n_self = ITEMS,
                                .n_other = USERS,
                                .columns = D,
                                .dimension = D,
                                .bias = -1,
                                .is_released = 1};
    plain_open(&loss->host, component, settings);
    loss->functions = component->functions;
    assert_int_equal(loss->functions->query(loss->host.self, &info, &loss->query), DPF_OK);
}

static void accumulate(struct loss *loss, const struct scene *s, const double *grid, double *out)
{
    assert_int_equal(loss->functions->accumulate(loss->host.self, plain_call(&loss->host), &loss->query,
                                                 &s->groups, grid, out, D),
                     DPF_OK);
}

static void near(const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < ITEMS * D; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("%d: %.17g, expected %.17g", i, a[i], b[i]);
}

TEST(gradients_match_their_definition)
{
    static const struct {
        const char *settings;
        double kappa, clip, factor;
    } cases[] = {{"confidence=15; clip-error=1", 15, 1, 2},
                 {"confidence=15; clip-error=1; objective=half", 15, 1, 1},
                 {"confidence=0", 0, INFINITY, 2},
                 {"confidence=2.5; clip-error=0.25; regularization=3", 2.5, 0.25, 2}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (int user = -1; user < USERS; user++)
            for (int weighted = 0; weighted < 2; weighted++)
                for (int on_grid = 0; on_grid < 2; on_grid++) {
                    static struct scene s;
                    struct loss loss;
                    double out[ITEMS * D], expected[ITEMS * D] = {0};
                    const double grid = 0x1p-16;
                    make_scene(&s);
                    gather(&s, user, weighted);
                    open_loss(&loss, cases[k].settings, DPF_SIDE_ITEMS);
                    for (int u = 0; u < USERS; u++)
                        for (int j = 0; j < ITEMS && (user < 0 || u == user); j++)
                            add_cell(&s, u, j, cases[k].kappa, cases[k].clip, cases[k].factor,
                                     on_grid ? grid : 0, weighted, expected);
                    for (int i = 0; i < ITEMS * D; i++)
                        out[i] = 77; /* overwritten */
                    accumulate(&loss, &s, on_grid ? &grid : NULL, out);
                    near(out, expected, on_grid ? 1.01 * grid : 1e-12);
                    plain_close(&loss.host);
                }
}

/* On a grid the users' messages add up to the sum over all records, to the last bit. */
TEST(messages_add_up)
{
    static struct scene s;
    struct loss loss;
    double all[ITEMS * D], one[ITEMS * D], sum[ITEMS * D] = {0};
    const double grid = 0x1p-20;
    make_scene(&s);
    open_loss(&loss, "clip-error=1", DPF_SIDE_ITEMS);
    for (int u = 0; u < USERS; u++) {
        gather(&s, u, 0);
        accumulate(&loss, &s, &grid, one);
        for (int i = 0; i < ITEMS * D; i++)
            sum[i] += one[i];
    }
    gather(&s, -1, 0);
    accumulate(&loss, &s, &grid, all);
    assert_memory_equal(all, sum, sizeof(all));
    plain_close(&loss.host);
}

TEST(query_is_dense_with_a_public_regulariser)
{
    struct loss loss;
    open_loss(&loss, "regularization=0.9", DPF_SIDE_ITEMS);
    assert_true(loss.query.support == DPF_SUPPORT_DENSE);
    assert_true(!loss.query.has_gram);
    assert_true(loss.query.ridge_constant[D - 1] == (float)1.8);
    assert_true(!loss.query.ridge_per_count);
    plain_close(&loss.host);
    open_loss(&loss, "regularization=0.9; objective=half", DPF_SIDE_ITEMS);
    assert_true(loss.query.ridge_constant[0] == (float)0.9);
    plain_close(&loss.host);
}

/* ---- sensitivities ---------------------------------------------------------------------------- */

static dpf_bounds bounds_of(int32_t side, double weight)
{
    return (dpf_bounds){.size = sizeof(dpf_bounds),
                        .side = side,
                        .dimension = D,
                        .value_lo = 1,
                        .value_hi = 5,
                        .weight_max = weight,
                        .other_l1 = D,
                        .other_l2 = sqrt(D),
                        .other_linf = 1,
                        .self_l2 = INFINITY,
                        .self_l1 = INFINITY,
                        .self_linf = INFINITY,
                        .residual_l2 = INFINITY,
                        .records_per_user = 4,
                        .n_self = ITEMS,
                        .n_other = USERS};
}

static dpf_norms norms_of(const double *a, const double *b)
{
    dpf_norms out = {0, 0, 0};
    for (int i = 0; i < ITEMS * D; i++) {
        const double x = fabs(a[i] - (b ? b[i] : 0));
        out.l1 += x;
        out.l2 += x * x;
        out.linf = fmax(out.linf, x);
    }
    out.l2 = sqrt(out.l2);
    return out;
}

static void within(dpf_norms found, dpf_norms stated)
{
    assert_true(found.l1 <= stated.l1);
    assert_true(found.l2 <= stated.l2);
    assert_true(found.linf <= stated.linf);
}

/* Random users in the box, with at most four ratings, against the statements. */
TEST(sensitivities_hold)
{
    static struct scene s;
    struct loss loss;
    dpf_sensitivity stated;
    dpf_norms most = {0, 0, 0};
    double emptied = 0;
    for (int weighted = 0; weighted < 2; weighted++) {
        open_loss(&loss, "confidence=3; clip-error=0.5", DPF_SIDE_ITEMS);
        const dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, weighted ? 2 : 1);
        memset(&stated, 0xff, sizeof(stated)); /* NaN */
        assert_int_equal(
            loss.functions->sensitivity(loss.host.self, &loss.query, &bounds, &stated, NULL, NULL), DPF_OK);
        const dpf_norms *record = stated.at[DPF_UNIT_RECORD], *user = stated.at[DPF_UNIT_USER];
        for (int trial = 0; trial < 3000; trial++) {
            double one[ITEMS * D], two[ITEMS * D];
            make_scene(&s);
            for (int c = 0; c < D && trial % 3 == 0; c++) /* a corner */
                s.users[c] = uniform(0, 1) < 0.5 ? 1 : -1;
            for (int c = 0; c < ITEMS * STRIDE && trial % 3 == 0; c++)
                s.items[c] *= 100; /* all residuals are clipped */
            int n = 0;
            for (int j = 0; j < ITEMS; j++)
                s.rating[0][j] = s.rating[0][j] > 0 && n++ < 4 ? s.rating[0][j] : 0;
            gather(&s, 0, weighted);
            accumulate(&loss, &s, NULL, one);
            const dpf_norms whole = norms_of(one, NULL);
            within(whole, user[DPF_ADJ_ADD_REMOVE]);
            within(whole, user[DPF_ADJ_ZERO_OUT]);
            most.linf = fmax(most.linf, whole.linf);
            float rating[ITEMS]; /* without records the user's cells are still there */
            memcpy(rating, s.rating[0], sizeof rating);
            memset(s.rating[0], 0, sizeof s.rating[0]);
            gather(&s, 0, weighted);
            accumulate(&loss, &s, NULL, two);
            within(norms_of(one, two), user[DPF_ADJ_ZERO_OUT]);
            within(norms_of(one, two), user[DPF_ADJ_ADD_REMOVE]);
            emptied = fmax(emptied, 2 * norms_of(one, two).l2 / user[DPF_ADJ_REPLACE].l2);
            memcpy(s.rating[0], rating, sizeof rating);
            const int j = (int)uniform(0, ITEMS);
            const float before = s.rating[0][j];
            s.rating[0][j] = before > 0 ? 0 : 5;
            gather(&s, 0, weighted);
            accumulate(&loss, &s, NULL, two);
            within(norms_of(one, two), record[DPF_ADJ_FLIP]);
            within(norms_of(one, two), record[DPF_ADJ_ADD_REMOVE]);
            if (before > 0) {
                s.rating[0][j] = 6 - before;
                gather(&s, 0, weighted);
                accumulate(&loss, &s, NULL, two);
                within(norms_of(one, two), record[DPF_ADJ_REPLACE_VALUE]);
            }
        }
        if (!weighted) /* 2 (1 + 3) 0.5 is attained */
        {
            assert_true(most.linf == 4);
            assert_true(user[DPF_ADJ_REPLACE].linf < 8 * (1 + 1e-9));
        }
        assert_true(user[DPF_ADJ_REPLACE].l1 <= 2 * user[DPF_ADJ_ADD_REMOVE].l1);
        assert_true(isnan(record[DPF_ADJ_REPLACE].l1));
        assert_true(isnan(user[DPF_ADJ_FLIP].l1));
        plain_close(&loss.host);
    }
    print_message("a user without records: %.3f of what the user's coming moves\n", emptied);
}

TEST(unbounded_residuals_have_no_bound)
{
    struct loss loss;
    dpf_sensitivity stated;
    dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, 1);
    open_loss(&loss, "confidence=1", DPF_SIDE_ITEMS);
    assert_int_equal(loss.functions->sensitivity(loss.host.self, &loss.query, &bounds, &stated, NULL, NULL),
                     DPF_OK);
    assert_true(isinf(stated.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l1));
    assert_true(isfinite(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1)); /* the range bounds it */
    bounds.self_l2 = 2;
    bounds.residual_l2 = 3;
    assert_int_equal(loss.functions->sensitivity(loss.host.self, &loss.query, &bounds, &stated, NULL, NULL),
                     DPF_OK);
    /* 2 (2 + 1) (2 * 3 + 5) * 1 */
    assert_true(fabs(stated.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].linf - 66) < 1e-6);
    plain_close(&loss.host);
}

TEST(refusals_and_memory)
{
    static struct scene s;
    struct loss loss;
    double out[ITEMS * D];
    make_scene(&s);
    gather(&s, 0, 0);
    open_loss(&loss, "clip-error=1", DPF_SIDE_ITEMS);
    s.items[0] = NAN;
    assert_int_equal(loss.functions->accumulate(loss.host.self, plain_call(&loss.host), &loss.query,
                                                &s.groups, NULL, out, D),
                     DPF_E_NUMERIC);
    s.items[0] = 3e38F;
    assert_int_equal(loss.functions->accumulate(loss.host.self, plain_call(&loss.host), &loss.query,
                                                &s.groups, NULL, out, D),
                     DPF_E_NUMERIC);
    s.items[0] = 0;
    loss.host.cancel = 1;
    assert_int_equal(loss.functions->accumulate(loss.host.self, plain_call(&loss.host), &loss.query,
                                                &s.groups, NULL, out, D),
                     DPF_E_CANCELLED);
    plain_close(&loss.host);
    plain_check_memory(loss.host.component, "");
}
