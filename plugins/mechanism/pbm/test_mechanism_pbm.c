/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"

#define WIDTH 3
#define ROWS 40

struct pbm {
    struct plain_host host;
    const dpf_mechanism *functions;
    struct plain_release release;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
};

/* A release of so many parties, of which so many are honest, and others curious. */
static void open_for(struct pbm *m, const char *settings, int64_t parties, int64_t honest, int64_t curious)
{
    const dpf_component *component = plain_component("pbm", DPF_ROLE_MECHANISM, "pbm");
    plain_open_random(&m->host, component, settings);
    m->functions = component->functions;
    plain_release_gradient(&m->release, WIDTH, ROWS);
    m->release.release.n_parties = parties;
    m->release.release.min_honest = honest;
    m->release.release.max_curious = curious;
    m->release.release.unit = DPF_UNIT_USER;
    m->release.release.adjacency = DPF_ADJ_REPLACE;
    assert_int_equal(plain_plan(&m->host, &m->release, &m->plan, m->events), 1);
}

static void open_pbm(struct pbm *m, const char *settings, int64_t parties)
{
    open_for(m, settings, parties, 1, 0);
}

static void encode(struct pbm *m, uint32_t draw, uint32_t party, const double *x, int64_t *z)
{
    dpf_encoded out = plain_integers(&m->release, z);
    m->host.call.draw = draw;
    m->host.call.party = party;
    assert_int_equal(
        m->functions->encode(m->host.self, plain_call(&m->host), &m->plan, &m->release.query, x, WIDTH, &out),
        DPF_OK);
}

static dpf_status decode(struct pbm *m, int64_t *z, int64_t survivors, double *out)
{
    dpf_encoded sums = plain_integers(&m->release, z);
    sums.survivors = survivors;
    plain_clear(&m->host);
    return m->functions->decode(m->host.self, plain_call(&m->host), &m->plan, &m->release.query, &sums, out,
                                WIDTH);
}

static double log_choose(int n, int k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Chi-square against Binomial(q, 1/2 + theta x / c); x beyond c is clipped. */
TEST(draws_are_binomial)
{
    static const double xs[] = {-5, -2, -1, 0, 0.7, 2, 9};
    static const int qs[] = {1, 3, 130};
    plain_random_start(17);
    for (size_t q = 0; q < 3; q++) {
        char settings[64];
        struct pbm m;
        snprintf(settings, sizeof(settings), "theta=0.2; bound=2; trials=%d", qs[q]);
        open_pbm(&m, settings, 1000);
        for (size_t i = 0; i < sizeof(xs) / sizeof(xs[0]); i++) {
            enum { DRAWS = 300 };
            double x[ROWS * WIDTH], counts[131] = {0}, chi = 0, rest_seen = 0, rest_expected = 0;
            int64_t z[ROWS * WIDTH];
            int freedom = -1;
            for (int k = 0; k < ROWS * WIDTH; k++)
                x[k] = xs[i];
            for (uint32_t d = 0; d < DRAWS; d++) {
                encode(&m, d, (uint32_t)i, x, z);
                for (int k = 0; k < ROWS * WIDTH; k++) {
                    assert_true(z[k] >= 0);
                    assert_true(z[k] <= qs[q]);
                    counts[z[k]]++;
                }
            }
            const double p = 0.5 + 0.2 * fmax(-2, fmin(2, xs[i])) / 2, n = DRAWS * ROWS * WIDTH;
            for (int k = 0; k <= qs[q]; k++) {
                const double expected = n * exp(log_choose(qs[q], k) + k * log(p) + (qs[q] - k) * log1p(-p));
                if (expected < 10) {
                    rest_seen += counts[k];
                    rest_expected += expected;
                    continue;
                }
                chi += (counts[k] - expected) * (counts[k] - expected) / expected;
                freedom++;
            }
            if (rest_expected > 10) {
                chi += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
                freedom++;
            }
            assert_true(chi < freedom + 5 * sqrt(2.0 * freedom) + 10);
        }
        plain_close(&m.host);
    }
    plain_random_stop();
}

/* The estimate of the sum over parties: unbiased, with the planned variance (which is that of x = 0). */
TEST(estimates_are_unbiased)
{
    enum { PARTIES = 20, DRAWS = 3000 };
    struct pbm m;
    double x[ROWS * WIDTH], estimate[ROWS * WIDTH], sum = 0, square = 0, truth = 0;
    plain_random_start(23);
    open_pbm(&m, "theta=0.1; bound=0.5; trials=4", PARTIES);
    for (uint32_t d = 0; d < DRAWS; d++) {
        int64_t z[ROWS * WIDTH], total[ROWS * WIDTH] = {0};
        for (uint32_t p = 0; p < PARTIES; p++) {
            for (int k = 0; k < ROWS * WIDTH; k++)
                x[k] = ((int)p - 6) * 0.03;
            encode(&m, d, p, x, z);
            for (int k = 0; k < ROWS * WIDTH; k++)
                total[k] += z[k];
        }
        assert_int_equal(decode(&m, total, PARTIES, estimate), DPF_OK);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            sum += estimate[k];
            square += estimate[k] * estimate[k];
        }
    }
    for (int p = 0; p < PARTIES; p++)
        truth += (p - 6) * 0.03;
    const double n = (double)DRAWS * ROWS * WIDTH, mean = sum / n, variance = square / n - mean * mean;
    assert_true(fabs(mean - truth) < 5 * sqrt(m.plan.variance[0] / n));
    assert_true(fabs(m.plan.variance[0] - 20 * 4 / 4.0 * 1.25 * 1.25) < 1e-9);
    assert_true(variance <= m.plan.variance[0] * 1.02);
    assert_true(variance > m.plan.variance[0] * 0.95);
    plain_close(&m.host);
    plain_random_stop();
}

TEST(plan_and_event_state_what_is_drawn)
{
    struct pbm m;
    plain_random_start(3);
    open_for(&m, "theta=0.2; bound=3; trials=5", 100, 7, 0);
    const dpf_event *e = &m.events[0];
    assert_int_equal(m.plan.where, DPF_NOISE_IN_SHARES);
    assert_int_equal(m.plan.modulus, 501);
    assert_true(m.plan.wrap_bound == 0);
    assert_int_equal(e->kind, DPF_EVENT_PBM);
    assert_int_equal(e->count, 1);
    assert_true(e->flags == DPF_EVENT_NOISE_SHARED);
    /* Exact differences of the probabilities that are drawn with. */
    assert_true(e->p.pbm.theta >= 0.2);
    assert_true(e->p.pbm.theta <= 0.2 + 0x1p-53);
    assert_true(0.5 + e->p.pbm.theta >= 0.5 + 0.2);
    assert_true(0.5 - e->p.pbm.theta <= 0.5 - 0.2);
    assert_true(e->p.pbm.trials == 5);
    assert_true(e->p.pbm.clients == 7);
    assert_true(e->p.pbm.coordinates == ROWS * WIDTH);
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++) {
            const dpf_norms *at = &e->sensitivity.at[u][a];
            const int stated = u == DPF_UNIT_USER && (a == DPF_ADJ_REPLACE || a == DPF_ADJ_ZERO_OUT);
            assert_true(stated ? at->linf == (a == DPF_ADJ_REPLACE ? 6 : 3)
                               : isnan(at->linf) && isnan(at->l1));
        }
    plain_close(&m.host);
    open_pbm(&m, "theta=0.2; trials=5; modulus=power-of-two", 100);
    assert_int_equal(m.plan.modulus, 512);
    /* Noise that a calibration doubles is half of theta. */
    m.release.release.noise_factor = 2;
    m.release.release.min_honest = 90;
    assert_int_equal(plain_plan(&m.host, &m.release, &m.plan, m.events), 1);
    assert_true(fabs(m.events[0].p.pbm.theta - 0.1) < 1e-15);
    assert_true(m.events[0].p.pbm.clients == 90);
    plain_close(&m.host);
    /* A message that counts on nobody else is private by itself. */
    open_pbm(&m, "", 100);
    assert_int_equal(m.plan.where, DPF_NOISE_AT_PARTY);
    assert_true(m.events[0].p.pbm.clients == 1);
    assert_true(m.events[0].flags == 0);
    plain_close(&m.host);
    plain_random_stop();
}

/* The largest sum is the modulus less 1: no sum wraps. */
TEST(sums_do_not_wrap)
{
    struct pbm m;
    int64_t z[ROWS * WIDTH];
    double out[ROWS * WIDTH];
    plain_random_start(3);
    open_pbm(&m, "theta=0.25; bound=1; trials=3", 50);
    for (int k = 0; k < ROWS * WIDTH; k++)
        z[k] = 150;
    assert_true((uint64_t)z[0] < m.plan.modulus);
    assert_int_equal(decode(&m, z, 50, out), DPF_OK);
    assert_true(fabs(out[0] - 100) < 1e-12); /* 1 / (3 / 4) (150 - 75) */
    z[5] = 151;
    assert_int_equal(decode(&m, z, 50, out), DPF_E_RANGE);
    z[5] = -1;
    assert_int_equal(decode(&m, z, 50, out), DPF_E_RANGE);
    plain_close(&m.host);
    plain_random_stop();
}

TEST(too_few_clients_are_refused)
{
    struct pbm m;
    int64_t z[ROWS * WIDTH] = {0};
    double out[ROWS * WIDTH];
    plain_random_start(3);
    open_for(&m, "", 50, 10, 0);
    assert_int_equal(decode(&m, z, 10, out), DPF_OK);
    assert_int_equal(decode(&m, z, 9, out), DPF_E_PRIVACY);
    assert_non_null(strstr(m.host.report, "clients"));
    assert_int_equal(decode(&m, z, 0, out), DPF_E_PRIVACY);
    plain_close(&m.host);
    plain_random_stop();
}

/* The guarantee counts on the others alone, and the sum has to hold both. */
TEST(curious_clients_hide_nobody)
{
    struct pbm m;
    int64_t z[ROWS * WIDTH] = {0};
    double out[ROWS * WIDTH];
    plain_random_start(3);
    open_for(&m, "", 50, 10, 3);
    assert_int_equal(m.plan.spare_shares, 3);
    assert_true(m.events[0].p.pbm.clients == 10);
    assert_int_equal(decode(&m, z, 13, out), DPF_OK);
    assert_int_equal(decode(&m, z, 12, out), DPF_E_PRIVACY);
    plain_close(&m.host);
    plain_random_stop();
}

/* Each row and party has draws of its own, whatever the order and the shape of the calls. */
TEST(draws_depend_on_their_index_alone)
{
    struct pbm m;
    double x[ROWS * WIDTH] = {0};
    int64_t all[ROWS * WIDTH], other[ROWS * WIDTH], part[2 * WIDTH];
    const int32_t rows[] = {3, 17};
    plain_random_start(31);
    open_pbm(&m, "trials=64", 10);
    encode(&m, 4, 2, x, all);
    encode(&m, 4, 3, x, other);
    assert_memory_not_equal(all, other, sizeof(all));
    encode(&m, 5, 2, x, other);
    assert_memory_not_equal(all, other, sizeof(all));
    encode(&m, 4, 2, x, other);
    assert_memory_equal(all, other, sizeof(all));
    dpf_encoded out = plain_integers(&m.release, part);
    out.n_rows = 2;
    out.rows = rows;
    m.host.call.draw = 4;
    m.host.call.party = 2;
    assert_int_equal(
        m.functions->encode(m.host.self, plain_call(&m.host), &m.plan, &m.release.query, x, WIDTH, &out),
        DPF_OK);
    assert_memory_equal(part, all + 3 * WIDTH, WIDTH * sizeof(*all));
    assert_memory_equal(part + WIDTH, all + 17 * WIDTH, WIDTH * sizeof(*all));
    plain_close(&m.host);
    plain_random_stop();
}

/* ---- trials decided by all 64 bits ------------------------------------------------------------- */

static uint64_t scripted_lane, scripted_tie;
static dpf_stream *scripted_ties;

static dpf_status scripted_open(const dpf_host *host, const char *purpose, dpf_stream **stream)
{
    static uint64_t names[2]; /* streams are opaque: only their addresses count */
    (void)host;
    *stream = (dpf_stream *)(void *)&names[strstr(purpose, "ties") != NULL];
    if (strstr(purpose, "ties"))
        scripted_ties = *stream;
    return DPF_OK;
}

static void scripted_seek(const dpf_stream *stream, uint32_t draw, uint32_t party, uint32_t row,
                          dpf_cursor *cursor)
{
    (void)draw;
    (void)party;
    (void)row;
    cursor->opaque[0] = stream == scripted_ties;
}

static void scripted_bits(dpf_cursor *cursor, uint64_t *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = cursor->opaque[0] ? scripted_tie : scripted_lane * UINT64_C(0x0001000100010001);
}

/* The 64-bit number of a lane and 48 more bits, against 2^64 (1/2 + theta x / c), just around it. */
TEST(ties_are_decided_by_the_other_bits)
{
    static const dpf_random_service scripted = {
        .open = scripted_open, .seek = scripted_seek, .bits = scripted_bits};
    static const char *const settings[] = {"theta=0.2", "theta=0.2; trials=600"};
    for (int k = 0; k < 2; k++) {
        struct pbm m;
        plain_init(&m.host, plain_component("pbm", DPF_ROLE_MECHANISM, "pbm"));
        m.host.random = &scripted;
        assert_int_equal(plain_create(&m.host, settings[k]), DPF_OK);
        m.functions = m.host.component->functions;
        plain_release_gradient(&m.release, WIDTH, ROWS);
        m.release.release.n_parties = 10;
        assert_int_equal(plain_plan(&m.host, &m.release, &m.plan, m.events), 1);
        double x[ROWS * WIDTH];
        for (int i = 0; i < ROWS * WIDTH; i++)
            x[i] = 0.3;
        const uint64_t threshold = (uint64_t)((0.5 + 0.2 * 0.3) * 0x1p64);
        assert_true((threshold & UINT64_C(0xffffffffffff)) > 0);
        for (int64_t step = -70000; step <= 70000; step += 1000) {
            const uint64_t number = threshold + (uint64_t)step;
            int64_t z[ROWS * WIDTH];
            scripted_lane = number >> 48;
            scripted_tie = number << 16;
            encode(&m, 0, 0, x, z);
            for (int i = 0; i < ROWS * WIDTH; i++)
                assert_int_equal(z[i], number < threshold ? (k ? 600 : 1) : 0);
        }
        for (uint64_t lane = 0; lane < 65536; lane += 97) {
            int64_t z[ROWS * WIDTH];
            scripted_lane = lane;
            scripted_tie = 0;
            encode(&m, 0, 0, x, z);
            assert_int_equal(z[5], (lane << 48) < threshold ? (k ? 600 : 1) : 0);
        }
        plain_close(&m.host);
    }
}

/* With few and with many rows to a block of lanes. */
TEST(rows_share_blocks_of_lanes)
{
    static const char *const settings[] = {"trials=1", "trials=170", "trials=171", "trials=65"};
    double x[ROWS * WIDTH];
    plain_random_start(41);
    for (int k = 0; k < 4; k++) {
        struct pbm m;
        int64_t all[ROWS * WIDTH];
        open_pbm(&m, settings[k], 10);
        for (int i = 0; i < ROWS * WIDTH; i++)
            x[i] = sin(i);
        encode(&m, 1, 2, x, all);
        /* Every row by itself, last first, gets what it got among the others. */
        for (int r = ROWS - 1; r >= 0; r--) {
            int64_t one[WIDTH];
            dpf_encoded out = plain_integers(&m.release, one);
            out.n_rows = 1;
            out.first_row = r;
            assert_int_equal(m.functions->encode(m.host.self, plain_call(&m.host), &m.plan, &m.release.query,
                                                 x + r * WIDTH, WIDTH, &out),
                             DPF_OK);
            assert_memory_equal(one, all + r * WIDTH, sizeof(one));
        }
        plain_close(&m.host);
    }
    plain_random_stop();
}

TEST(clipped_share_is_reported)
{
    struct pbm m;
    double x[ROWS * WIDTH] = {0};
    int64_t z[ROWS * WIDTH];
    plain_random_start(3);
    open_pbm(&m, "bound=1", 10);
    for (int k = 0; k < 30; k++)
        x[4 * k] = k % 2 ? 1.001 : -7;
    x[1] = 1; /* at the bound is inside */
    encode(&m, 0, 0, x, z);
    assert_string_equal(m.host.metric, "clipped");
    assert_true(fabs(m.host.metric_value - 30.0 / (ROWS * WIDTH)) < 1e-15);
    plain_close(&m.host);
    plain_random_stop();
}

TEST(refusals_and_memory)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    struct pbm m;
    double x[ROWS * WIDTH] = {0};
    int64_t z[ROWS * WIDTH];
    plain_random_start(3);
    open_for(&m, "", 10, 10, 0);
    for (int i = 0; i < 3; i++) {
        dpf_encoded out = plain_integers(&m.release, z);
        x[7] = bad[i];
        assert_int_equal(
            m.functions->encode(m.host.self, plain_call(&m.host), &m.plan, &m.release.query, x, WIDTH, &out),
            DPF_E_NUMERIC);
    }
    m.release.release.n_parties = 9;
    assert_int_equal(m.functions->plan(m.host.self, &m.release.release, &m.plan), DPF_E_INTERNAL);
    m.release.release.min_honest = 0;
    assert_int_equal(m.functions->plan(m.host.self, &m.release.release, &m.plan), DPF_E_INTERNAL);
    m.release.release.min_honest = 10;
    m.release.release.n_parties = 10;
    m.release.release.noise_factor = 0.5;
    assert_int_equal(m.functions->plan(m.host.self, &m.release.release, &m.plan), DPF_E_RANGE);
    m.release.release.noise_factor = 1;
    plain_release_share(&m.release, 1, 1);
    assert_int_equal(m.functions->plan(m.host.self, &m.release.release, &m.plan), DPF_E_UNSUPPORTED);
    plain_close(&m.host);
    plain_check_memory_random(m.host.component, "");
    plain_random_stop();
}
