/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perturbed objectives of DPIMF: Theorem 4 with the losses as plugins on small data, Theorem 5 as the program
 * prints it, and the noise that a run writes down.
 */
#include "kit/plain_host.h"

#include "dpframe/role/loss.h"
#include "kit/spawned.h"
#include "kit/training.h"

/* ---- Theorem 4 ---------------------------------------------------------------------------------------- */

enum { D = 3, USERS = 12, PACKED = D * (D + 1) / 2 };

/* q'Aq - b'q + constant as a loss states it. */
struct objective {
    double a[D][D], b[D], constant;
};

static uint64_t random_state = 5;

static double uniform(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void state_objective(const char *id, const char *settings, const dpf_factors *other,
                            const dpf_groups *groups, struct objective *out)
{
    struct plain_host host;
    dpf_query q = {.size = sizeof q};
    double row[64] = {0};
    plain_open(&host, plain_component(id, DPF_ROLE_LOSS, id), settings);
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = {.size = sizeof info,
                                .side = DPF_SIDE_ITEMS,
                                .n_self = 1,
                                .n_other = USERS,
                                .columns = D,
                                .dimension = D,
                                .bias = -1,
                                .layout = DPF_LAYOUT_PACKED,
                                .is_released = 1};
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, groups, NULL, row, q.width), DPF_OK);
    if (q.has_gram)
        assert_int_equal(loss->gram(host.self, plain_call(&host), &q, other, 0, USERS, row), DPF_OK);
    double count = 0;
    memset(out, 0, sizeof *out);
    for (int b = 0; b < q.n_blocks; b++) {
        const double *x = row + q.blocks[b].offset;
        if (q.blocks[b].kind == DPF_BLOCK_COUNT)
            count = *x;
        for (int i = 0; i < D; i++) {
            if (q.blocks[b].kind == DPF_BLOCK_LINEAR)
                out->b[i] = x[i];
            for (int j = 0; j <= i && q.blocks[b].kind == DPF_BLOCK_QUADRATIC; j++)
                out->a[i][j] = out->a[j][i] = x[i * (i + 1) / 2 + j];
        }
    }
    for (int i = 0; i < D; i++)
        out->a[i][i] += (q.ridge_per_count ? q.ridge_per_count[i] * count : 0) +
                        (q.ridge_constant ? (double)q.ridge_constant[i] : 0);
    out->constant = (double)groups->offsets[1]; /* (p.q - 1)^2 of each record has a 1 */
    plain_close(&host);
}

static double value_at(const struct objective *o, const double *q)
{
    double sum = o->constant;
    for (int i = 0; i < D; i++) {
        sum -= o->b[i] * q[i];
        for (int j = 0; j < D; j++)
            sum += q[i] * o->a[i][j] * q[j];
    }
    return sum;
}

/* Gaussian elimination of A q = b / 2; A is positive definite. */
static void minimise(const struct objective *o, double *q)
{
    double m[D][D + 1];
    for (int i = 0; i < D; i++) {
        memcpy(m[i], o->a[i], sizeof o->a[i]);
        m[i][D] = o->b[i] / 2;
    }
    for (int i = 0; i < D; i++)
        for (int r = 0; r < D; r++) {
            const double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int c = i; c <= D && r != i; c++)
                m[r][c] -= factor * m[i][c];
        }
    for (int i = 0; i < D; i++)
        q[i] = m[i][D] / m[i][i];
}

/* Cell by cell: Eq. 13 if complement, else Eq. 6. */
static double by_cells(const float *p, const int *observed, double alpha0, double lambda, int complement,
                       const double *q)
{
    double sum = 0, norm = 0;
    for (int i = 0; i < D; i++)
        norm += q[i] * q[i];
    for (int u = 0; u < USERS; u++) {
        double x = 0;
        for (int i = 0; i < D; i++)
            x += (double)p[u * D + i] * q[i];
        const double weight = complement && observed[u] ? 0 : alpha0;
        sum += (observed[u] ? (x - 1) * (x - 1) + lambda * norm : 0) + weight * (x * x + lambda * norm);
    }
    return sum;
}

static double length_of(const double *q)
{
    double square = 0;
    for (int i = 0; i < D; i++)
        square += q[i] * q[i];
    return sqrt(square);
}

/*
 * With q* and q' the minimisers of Eq. 13 and Eq. 6: L(q*) - L_O(q') <= 0, as L <= L_O everywhere, and the
 * theorem's bound alpha0 |U_i| N^2 (lambda + 2 d c^2) is above that. What a user loses by the new objective,
 * L_O(q*) - L_O(q'), is at most alpha0 |U_i| N^2 (lambda + d c^2): L_O - L at q*.
 */
static void check_gap(double alpha0, double lambda, int n, double *widest)
{
    float p[USERS * D];
    int observed[USERS] = {0};
    int32_t others[USERS];
    double c = 0, q_star[D], q_prime[D];
    for (int i = 0; i < USERS * D; i++) {
        p[i] = (float)(2 * uniform() - 0.7);
        c = fmax(c, fabs((double)p[i]));
    }
    for (int i = 0; i < n; i++) {
        others[i] = i * 5 % USERS;
        observed[others[i]] = 1;
    }
    const dpf_factors other = {.data = p, .rows = USERS, .stride = D, .cols = D};
    const float zero[D] = {0};
    const dpf_factors self = {.data = zero, .rows = 1, .stride = D, .cols = D};
    const int64_t offsets[2] = {0, n};
    const int32_t row = 0;
    const dpf_groups groups = {.size = sizeof groups,
                               .side = DPF_SIDE_ITEMS,
                               .self = &self,
                               .other = &other,
                               .n_groups = 1,
                               .rows = &row,
                               .offsets = offsets,
                               .others = others,
                               .party_row = -1,
                               .residual = &other};
    struct objective fresh, original;
    char settings[96];
    snprintf(settings, sizeof settings, "unobserved-weight=%g; lambda=%g", alpha0, lambda);
    state_objective("complementary", settings, &other, &groups, &fresh);
    state_objective("implicit-als", settings, &other, &groups, &original);
    minimise(&fresh, q_star);
    minimise(&original, q_prime);
    const double new_least = value_at(&fresh, q_star), old_least = value_at(&original, q_prime);
    assert_true(fabs(new_least - by_cells(p, observed, alpha0, lambda, 1, q_star)) < 1e-5 * (n + 1));
    assert_true(fabs(old_least - by_cells(p, observed, alpha0, lambda, 0, q_prime)) < 1e-5 * (n + 1));
    const double radius = sqrt(1 / lambda), square = 1 / lambda, slack = 1e-6 * (n + 1);
    assert_true(length_of(q_star) <= radius);
    assert_true(length_of(q_prime) <= radius); /* Lemma 1 */
    assert_true(new_least - old_least <= slack);
    assert_true(new_least - old_least <= alpha0 * n * square * (lambda + 2 * D * c * c) + slack);
    const double loss = value_at(&original, q_star) - old_least;
    assert_true(loss >= -slack);
    assert_true(loss <= alpha0 * n * square * (lambda + D * c * c) + slack);
    *widest = fmax(*widest, loss);
}

TEST(theorem_4)
{
    static const double alphas[] = {0.05, 0.4, 0.8, 1}, lambdas[] = {0.003, 0.1, 1};
    double widest = 0;
    for (int a = 0; a < 4; a++)
        for (int l = 0; l < 3; l++)
            for (int n = 0; n <= USERS; n++)
                check_gap(alphas[a], lambdas[l], n, &widest);
    assert_true(widest > 0.1); /* the objectives do differ */
}

/* ---- Theorem 5 on the command line ------------------------------------------------------------------------
 */

#define SIDES                                                                                                \
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.04\nunobserved-weight = 1\n"  \
    "[items]\nloss = complementary\nmechanism = laplace\naggregator = mean\nsolver = ball\n"                 \
    "solve-at = party\nbounds = empirical\n[items.loss]\nlambda = 0.04\nunobserved-weight = 0.8\ncells = "   \
    "own\n"                                                                                                  \
    "[items]\nblock-shares = 0.8, 0.1, 0.1\n[items.mechanism]\nepsilon = 2\nwhere = party\nlifetime = "      \
    "solve\n"                                                                                                \
    "[items.solver]\nlambda = 0.04\n"

static const char silos[] =
    "[run]\nrounds = 2\nnoise = yes\noutput = noise\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 200\nsynthetic.items = 300\n"
    "synthetic.ratings = 3000\n[split]\nkind = leave-one-out\n[model]\nrank = 4\ninit = uniform\ninit-scale "
    "= 1\n"
    "[parties]\nkind = silos-by-users\ncount = 3\nlocal-iterations = 2\n"
    "[privacy]\nunit = record\nadjacency = flip\nobserver = server\n" SIDES;

static double gamma_of(const json_t *json, const char *which, const char *scheme)
{
    return json_number_value(json_object_get(json_object_get(json, which), scheme));
}

TEST(utility_is_printed)
{
    training_file("silos.ini", silos);
    command_expect("account -c silos.ini --utility", 0, "");
    assert_non_null(strstr(command_out, "gamma4 opt"));
    assert_non_null(strstr(command_out, "c = 1 (assumed)"));
    assert_non_null(strstr(command_out, "N = 5"));
    command_expect("account -c silos.ini --json --utility c=0.5 N=10", 0, "");
    json_error_t problem;
    json_t *root = json_loads(command_out, 0, &problem), *items;
    assert_non_null(root);
    assert_non_null(json_object_get(root, "conditions"));
    items = json_object_get(json_object_get(root, "utility"), "items");
    const double common = 10 * sqrt(2); /* sqrt2 c d N / epsilon */
    assert_float_equal(gamma_of(items, "published", "str"), common * 11 * 25, 1e-6 * common);
    assert_float_equal(gamma_of(items, "published", "com"), common * (40 + 80), 1e-4 * common);
    assert_float_equal(gamma_of(items, "published", "sym"), common * (25 + 80), 1e-4 * common);
    assert_float_equal(gamma_of(items, "published", "opt"), common * 8, 1e-6 * common);
    assert_float_equal(gamma_of(items, "derived", "opt"), common * 4, 1e-6 * common);
    json_decref(root);
    command_expect("account -c silos.ini --utility rank=3", 2, "alpha0");
    command_expect("account -c silos.ini --utility d=1.5", 2, "d = 1.5");
    command_expect("account -c silos.ini --utility beta1=1", 2, "more than 1");
    command_expect("account -c silos.ini c=1", 2, "stray argument \"c=1\"");
    command_expect("account -c silos.ini -o items.mechanism=none -o items.bounds=public --utility", 2,
                   "no utility bound");
}

/* ---- noise written down -----------------------------------------------------------------------------------
 */

static const struct noise_histogram *histogram_of(const struct training *t, int32_t kind)
{
    for (int i = 0; i < t->stats.n_noise; i++)
        if (t->stats.noise[i].kind == kind && strcmp(t->stats.noise[i].term, "items") == 0)
            return &t->stats.noise[i];
    fail_msg("no noise of kind %d", (int)kind);
    return NULL;
}

/* Deviation and bins against Laplace's law of the plan's scale, with n parties' noise in each number. */
static void expect_laplace(const struct training *t, int32_t kind, int parties)
{
    const struct term_plan *term = &t->plan.sides[DPF_SIDE_ITEMS].terms[0];
    const struct noise_histogram *h = histogram_of(t, kind);
    double scale = 0, chi = 0, expected;
    int degrees = 0;
    for (int b = 0; b < term->query.n_blocks; b++)
        if (term->query.blocks[b].kind == kind)
            scale = term->noise.scale[b];
    assert_true(scale > 0);
    assert_true(h->n >= 300);
    assert_true(fabs(h->deviation / (scale * sqrt(2.0 * parties)) - 1) < 6 / sqrt((double)h->n));
    for (int bin = 0; bin < NOISE_BINS && parties == 1; bin++) {
        const double to = (fabs((double)(bin - NOISE_BINS / 2)) + 0.5) * h->width / scale;
        const double from = to - h->width / scale;
        expected = (double)h->n * (from < 0 ? 1 - exp(-to) : (exp(-from) - exp(-to)) / 2);
        if (expected < 8)
            continue;
        chi += ((double)h->counts[bin] - expected) * ((double)h->counts[bin] - expected) / expected;
        degrees++;
    }
    assert_true(parties > 1 || (degrees > 10 && chi < degrees + 4 * sqrt(2.0 * degrees)));
}

TEST(noise_is_written_down)
{
    struct training t;
    static const char public_bounds[] =
        "items.bounds=public\nitems.transforms=clip-rows\nitems.transform.clip-rows.norm=l1\n"
        "items.transform.clip-rows.bound=1\nitems.loss.cells=all\n"
        "privacy.randomness=reproducible\nprivacy.noise-seed=3\n";
    char changes[512];
    training_run(&t, silos, public_bounds); /* one party's query */
    assert_int_equal(t.stats.n_noise, 3);
    expect_laplace(&t, DPF_BLOCK_QUADRATIC, 1);
    expect_laplace(&t, DPF_BLOCK_LINEAR, 1);
    expect_laplace(&t, DPF_BLOCK_COUNT, 1);
    training_free(&t);
    snprintf(changes, sizeof changes, "%sitems.solve-at=server\nitems.aggregator=sum", public_bounds);
    training_run(&t, silos, changes); /* the sum of three parties' messages */
    expect_laplace(&t, DPF_BLOCK_LINEAR, 3);
    training_free(&t);
    snprintf(changes, sizeof changes,
             "%sitems.solve-at=server\nitems.aggregator=sum\nitems.mechanism.where=sum", public_bounds);
    training_run(&t, silos, changes);
    expect_laplace(&t, DPF_BLOCK_LINEAR, 1);
    training_free(&t);
    snprintf(changes, sizeof changes, "%srun.noise=no", public_bounds);
    training_run(&t, silos, changes);
    assert_int_equal(t.stats.n_noise, 0);
    training_free(&t);
    training_file("silos.ini", silos);
    command_expect("-c silos.ini -o evaluate.metrics=hr", 0, "");
    assert_true(command_exists("noise/private/noise.csv"));
    command_expect("-c silos.ini -o evaluate.metrics=hr -o run.noise=no", 0, "");
    assert_false(command_exists("noise/private/noise.csv"));
}

FIXTURE(training_begin, training_end)
