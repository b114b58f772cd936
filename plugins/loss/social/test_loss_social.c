/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

#define USERS 8
#define STRIDE 16
#define D 5
#define FIRST 1
#define LINKS 24

/* Links between users whose rows lie in the unit ball. */
struct scene {
    float rows[USERS * STRIDE];
    int32_t ids[USERS];
    int64_t offsets[USERS + 1];
    int32_t friends[LINKS];
    float similarity[LINKS];
    float weights[LINKS];
    dpf_factors view;
    dpf_groups groups;
};

static const dpf_component *component;
static const dpf_loss *loss;
static uint64_t seed = 3;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static void draw_row(float *row)
{
    double square = 0;
    for (int i = 0; i < D; i++) {
        row[FIRST + i] = (float)uniform(-1, 1);
        square += (double)row[FIRST + i] * (double)row[FIRST + i];
    }
    for (int i = 0; i < D && square > 1; i++)
        row[FIRST + i] = (float)((double)row[FIRST + i] / sqrt(square) * (1 - 1e-6));
}

static void make_scene(struct scene *s)
{
    memset(s, 0, sizeof(*s));
    for (int u = 0; u < USERS; u++) {
        s->ids[u] = u;
        s->offsets[u + 1] = (int64_t)(u + 1) * LINKS / USERS;
        draw_row(s->rows + (size_t)u * STRIDE);
    }
    for (int k = 0; k < LINKS; k++) {
        s->friends[k] = (k / 3 + 1 + k % 3) % USERS;
        s->similarity[k] = (float)uniform(0, 1);
        s->weights[k] = (float)uniform(0, 1);
    }
    s->view = (dpf_factors){.data = s->rows, .rows = USERS, .stride = STRIDE, .cols = D + 2};
    s->groups = (dpf_groups){.size = sizeof(dpf_groups),
                             .side = DPF_SIDE_USERS,
                             .self = &s->view,
                             .other = &s->view,
                             .residual = &s->view,
                             .n_groups = USERS,
                             .rows = s->ids,
                             .offsets = s->offsets,
                             .others = s->friends,
                             .values = s->similarity,
                             .weights = s->weights,
                             .party_row = -1};
}

static void ask_query(struct plain_host *host, dpf_query *query)
{
    dpf_side_info info = {.size = sizeof(info),
                          .side = DPF_SIDE_USERS,
                          .n_self = USERS,
                          .n_other = USERS,
                          .columns = D + 2,
                          .first = FIRST,
                          .dimension = D,
                          .bias = -1};
    memset(query, 0, sizeof(*query));
    query->size = sizeof(*query);
    assert_int_equal(loss->query(host->self, &info, query), DPF_OK);
}

static dpf_status gradients(struct plain_host *host, const struct scene *s, const double *grid, double *out)
{
    dpf_query query;
    ask_query(host, &query);
    return loss->accumulate(host->self, plain_call(host), &query, &s->groups, grid, out, D);
}

/* Of the objective alpha sum w S |u_i - u_f|^2 in user i's row alone, friends' rows held. */
static double objective(const struct scene *s, double alpha, int user, const float *row)
{
    double sum = 0;
    for (int64_t k = s->offsets[user]; k < s->offsets[user + 1]; k++)
        for (int i = 0; i < D; i++) {
            double x = (double)row[FIRST + i] - (double)s->rows[s->friends[k] * STRIDE + FIRST + i];
            sum += alpha * (double)s->weights[k] * (double)s->similarity[k] * x * x;
        }
    return sum;
}

TEST(it_is_the_gradient_of_the_social_term)
{
    struct plain_host host;
    struct scene s;
    double out[USERS * D];
    make_scene(&s);
    plain_open(&host, component, "alpha=0.7");
    assert_int_equal(gradients(&host, &s, NULL, out), DPF_OK);
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < D; i++) {
            const double h = 0x1p-10; /* exact in float, and the objective is quadratic */
            float up[STRIDE], down[STRIDE];
            memcpy(up, s.rows + (size_t)u * STRIDE, sizeof(up));
            memcpy(down, up, sizeof(down));
            up[FIRST + i] += (float)h;
            down[FIRST + i] -= (float)h;
            double x = (double)up[FIRST + i] - (double)down[FIRST + i];
            double slope = (objective(&s, 0.7, u, up) - objective(&s, 0.7, u, down)) / x;
            assert_true(fabs(out[u * D + i] - slope) < 1e-4);
        }
    plain_close(&host);
}

TEST(contributions_lie_on_the_grid_in_any_order)
{
    struct plain_host host;
    struct scene s;
    const double grid = 0x1p-12;
    double out[USERS * D], again[USERS * D];
    make_scene(&s);
    plain_open(&host, component, "");
    assert_int_equal(gradients(&host, &s, &grid, out), DPF_OK);
    for (int u = 0; u < USERS; u++) { /* the links of each user the other way round */
        int64_t a = s.offsets[u], b = s.offsets[u + 1] - 1;
        int32_t id = s.friends[a];
        float similarity = s.similarity[a], weight = s.weights[a];
        s.friends[a] = s.friends[b];
        s.similarity[a] = s.similarity[b];
        s.weights[a] = s.weights[b];
        s.friends[b] = id;
        s.similarity[b] = similarity;
        s.weights[b] = weight;
    }
    assert_int_equal(gradients(&host, &s, &grid, again), DPF_OK);
    assert_memory_equal(out, again, sizeof(out));
    for (int i = 0; i < USERS * D; i++)
        assert_true(out[i] / grid == floor(out[i] / grid));
    plain_close(&host);
}

static double distance(const double *a, const double *b, int l1)
{
    double sum = 0;
    for (int i = 0; i < USERS * D; i++)
        sum += l1 ? fabs(a[i] - b[i]) : (a[i] - b[i]) * (a[i] - b[i]);
    return l1 ? sum : sqrt(sum);
}

static dpf_norms stated(struct plain_host *host, double radius)
{
    dpf_query query;
    dpf_sensitivity block;
    dpf_bounds bounds = {.size = sizeof(bounds),
                         .side = DPF_SIDE_USERS,
                         .dimension = D,
                         .weight_max = 1,
                         .other_l2 = radius,
                         .self_l2 = radius,
                         .records_per_user = INT64_MAX};
    ask_query(host, &query);
    assert_int_equal(loss->sensitivity(host->self, &query, &bounds, &block, &block, NULL), DPF_OK);
    double link = block.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l1;
    assert_true(link > 0 ? isinf(block.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l1) : link == 0);
    return block.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
}

/* One link at a time: another similarity, or another row at its end. The worst case comes close to the bound,
   and passes the published one. */
TEST(a_link_moves_a_message_as_far_as_stated)
{
    struct plain_host host;
    double before[USERS * D], after[USERS * D], worst = 0;
    plain_open(&host, component, "alpha=0.5");
    dpf_norms bound = stated(&host, 1);
    assert_true(fabs(bound.l2 - 2) < 1e-9);
    assert_true(fabs(bound.l1 - 2 * sqrt(D)) < 1e-9);
    for (int trial = 0; trial < 3000; trial++) {
        struct scene s;
        make_scene(&s);
        s.groups.n_groups = 1;
        s.offsets[1] = 1;
        memset(before, 0, sizeof(before));
        memset(after, 0, sizeof(after));
        if (trial % 3 == 0) {
            s.similarity[0] = s.weights[0] = 1;
            for (int i = 0; i < D; i++)
                s.rows[s.friends[0] * STRIDE + FIRST + i] = -s.rows[FIRST + i];
        }
        assert_int_equal(gradients(&host, &s, NULL, before), DPF_OK);
        if (trial % 3 == 1)
            s.similarity[0] = (float)uniform(0, 1);
        else if (trial % 3 == 2)
            draw_row(s.rows + s.friends[0] * STRIDE);
        else
            memcpy(s.rows + s.friends[0] * STRIDE, s.rows, sizeof(float) * STRIDE);
        assert_int_equal(gradients(&host, &s, NULL, after), DPF_OK);
        assert_true(distance(before, after, 1) <= bound.l1);
        assert_true(distance(before, after, 0) <= bound.l2);
        worst = fmax(worst, distance(before, after, 0));
    }
    assert_true(worst > 0.99 * bound.l2);
    plain_close(&host);
    plain_open(&host, component, "alpha=0.5; distance=published");
    assert_true(worst > 1.9 * stated(&host, 1).l2);
    plain_close(&host);
    plain_open(&host, component, "alpha=0");
    assert_true(stated(&host, 1).l1 == 0);
    assert_true(stated(&host, INFINITY).l1 == 0);
    plain_close(&host);
    plain_open(&host, component, "alpha=1");
    assert_true(isinf(stated(&host, INFINITY).l1));
    plain_close(&host);
}

TEST(weights_that_are_no_similarities_are_refused)
{
    static const float bad[] = {-0.1F, 1.1F, NAN};
    struct plain_host host;
    double out[USERS * D];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct scene s;
        make_scene(&s);
        s.similarity[LINKS - 1] = bad[i];
        plain_open(&host, component, "");
        assert_int_equal(gradients(&host, &s, NULL, out), DPF_E_RANGE);
        s.groups.values = NULL; /* all 1 */
        plain_clear(&host);
        assert_int_equal(gradients(&host, &s, NULL, out), DPF_OK);
        s.rows[FIRST] = INFINITY;
        assert_int_equal(gradients(&host, &s, NULL, out), DPF_E_NUMERIC);
        host.cancel = 1;
        assert_int_equal(gradients(&host, &s, NULL, out), DPF_E_CANCELLED);
        plain_close(&host);
    }
    plain_check_memory(component, "");
}

static int setup(void **state)
{
    (void)state;
    component = plain_component("social", DPF_ROLE_LOSS, "social");
    loss = component->functions;
    return 0;
}

FIXTURE(setup, NULL)
