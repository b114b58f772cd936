/* SPDX-License-Identifier: Apache-2.0 */
/* Small ledgers whose losses by weight are worked out by hand; laws with a draw against their definition. */
#include "kit/plain_host.h"

#include "dpframe/privacy.h"
#include "dpframe/role/accountant.h"

static struct plain_host host;
static const dpf_accountant *accountant;

static int begin(void **state)
{
    (void)state;
    plain_open(&host, plain_component("heterogeneous", DPF_ROLE_ACCOUNTANT, "heterogeneous"), "");
    accountant = host.component->functions;
    return 0;
}

static int end(void **state)
{
    (void)state;
    plain_close(&host);
    return 0;
}

/* Laplace noise of scale 2, ten times; a record moves a release by 3, and by 6 when it is replaced. */
static dpf_event laplace(void)
{
    dpf_event event = {.kind = DPF_EVENT_LAPLACE, .lifetime = DPF_LIFETIME_ROUND, .count = 10, .scale = 2};
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++) {
            const double s = a == DPF_ADJ_REPLACE_VALUE ? 6 : 3;
            event.sensitivity.at[u][a] = (dpf_norms){s, s, s};
        }
    event.sampling = (dpf_sampling){.hidden_from = -1, .rate = 1, .weight_max = 1};
    return event;
}

static dpf_question question(int32_t adjacency)
{
    return (dpf_question){.size = sizeof(dpf_question), .unit = DPF_UNIT_RECORD, .adjacency = adjacency};
}

static double at_weight(const dpf_event *events, int64_t n, int32_t adjacency, double weight)
{
    const dpf_question asked = question(adjacency);
    double epsilon = NAN;
    plain_clear(&host);
    if (accountant->epsilon_per_unit(host.self, events, n, &asked, &weight, NULL, 1, &epsilon) != DPF_OK)
        fail_msg("%s", host.report);
    return epsilon;
}

static double of_all(const dpf_event *events, int64_t n, int32_t adjacency)
{
    const dpf_question asked = question(adjacency);
    dpf_answer answer = {.size = sizeof(answer), .epsilon = NAN};
    plain_clear(&host);
    if (accountant->epsilon(host.self, events, n, &asked, &answer) != DPF_OK)
        fail_msg("%s", host.report);
    assert_true(answer.delta == 0);
    return answer.epsilon;
}

static void assert_near(double is, double expected)
{
    if (!(is >= expected * (1 - 1e-13) && is <= expected * (1 + 1e-11) + 1e-300))
        fail_msg("%.17g, not %.17g", is, expected);
}

TEST(stretched_values)
{
    dpf_event event = laplace();
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 0.25), 30); /* nothing says that weights count */
    event.weighted = 1;
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 0.25), 7.5);
    event.unweighted = (dpf_norms){1, 1, 1}; /* rounding: 1 + W 5 */
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 0.2), 10);
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 1), 30);
    assert_near(of_all(&event, 1, DPF_ADJ_REPLACE_VALUE), 30);
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 0.2),
                15); /* a record that comes brings more than a value */
}

TEST(groups_cost_the_sum)
{
    static const double weights[] = {0.25, 0.5, 1, 0.75};
    static const int64_t offsets[] = {0, 2, 2, 4};
    dpf_event event = laplace();
    const dpf_question asked = question(DPF_ADJ_REPLACE_VALUE);
    double epsilon[3];
    event.weighted = 1;
    assert_int_equal(accountant->epsilon_per_unit(host.self, &event, 1, &asked, weights, offsets, 3, epsilon),
                     DPF_OK);
    assert_near(epsilon[0], 22.5);
    assert_true(epsilon[1] == 0); /* no records */
    assert_near(epsilon[2], 52.5);
}

/* Two terms share the records by their weights; no record is in both. */
TEST(terms_by_weight)
{
    dpf_event events[2];
    events[0] = events[1] = laplace();
    events[1].scale = 20;
    for (int i = 0; i < 2; i++) {
        events[i].sampling.kind = DPF_SAMPLING_WEIGHTED;
        events[i].sampling.weight_below = i ? INFINITY : 1;
        events[i].sampling.weight_from = i ? 1 : 0;
    }
    assert_near(at_weight(events, 2, DPF_ADJ_REPLACE_VALUE, 0.5), 30);
    assert_near(at_weight(events, 2, DPF_ADJ_REPLACE_VALUE, 1), 3);
    assert_near(of_all(events, 2, DPF_ADJ_REPLACE_VALUE), 30);
}

/* The largest log-ratio of two densities (1-q) n + q p and (1-q) n + q p2, where p = e^+-r p2 and n = e^+-z
 * p2. */
static double worst_ratio(double q, double r, double z)
{
    double most = 0;
    for (int i = 0; i < 4; i++) {
        const double p = exp(i & 1 ? r : -r), n = exp(i & 2 ? z : -z);
        most = fmax(most, fabs(log(((1 - q) * n + q * p) / ((1 - q) * n + q))));
    }
    return most;
}

TEST(personal_draws)
{
    dpf_event event = laplace();
    event.count = 1;
    event.sampling.kind = DPF_SAMPLING_WEIGHTED;
    event.sampling.budget = 1.5;
    event.sampling.threshold = 1.5; /* a removal costs 3 / 2 */
    /* Jorgensen et al.: the mechanism is t-DP, so the record has its own budget, if the draw is secret. */
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 0.1), 1.5);
    event.sampling.hidden_from = DPF_OBSERVER_OUTSIDER;
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 0.1), 0.15);
    assert_near(at_weight(&event, 1, DPF_ADJ_ZERO_OUT, 0.6), 0.9);
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 1), 1.5);
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 7), 1.5);
    assert_near(of_all(&event, 1, DPF_ADJ_ADD_REMOVE), 1.5);
    /* A value that changes, with the same chance in both data sets. */
    const double q = expm1(0.15) / expm1(1.5);
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 0.1), worst_ratio(q, 3, 1.5));
    assert_near(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 1), 3);
    event.sampling.threshold = event.sampling.budget = 600; /* no overflow, no 0 */
    event.scale = 0.005;
    assert_near(at_weight(&event, 1, DPF_ADJ_ADD_REMOVE, 0.5), 300);
}

static dpf_status ask(const dpf_event *event, int32_t unit)
{
    dpf_question asked = question(DPF_ADJ_REPLACE_VALUE);
    dpf_answer answer = {.size = sizeof(answer)};
    const double weight = 1;
    double epsilon;
    asked.unit = unit;
    plain_clear(&host);
    const dpf_status status = accountant->epsilon(host.self, event, 1, &asked, &answer);
    plain_clear(&host);
    assert_int_equal(accountant->epsilon_per_unit(host.self, event, 1, &asked, &weight, NULL, 1, &epsilon),
                     status);
    return status;
}

TEST(unknown_is_refused)
{
    dpf_event event = laplace();
    assert_int_equal(ask(&event, DPF_UNIT_RECORD), DPF_OK);
    assert_int_equal(ask(&event, DPF_UNIT_USER), DPF_E_UNSUPPORTED);
    static const int32_t never[] = {DPF_EVENT_UNSUPPORTED,
                                    DPF_EVENT_GAUSSIAN,
                                    DPF_EVENT_DISCRETE_GAUSSIAN,
                                    DPF_EVENT_APPROX,
                                    DPF_EVENT_ZCDP,
                                    DPF_EVENT_SKELLAM,
                                    DPF_EVENT_PBM,
                                    DPF_EVENT_RANDOMIZED_RESPONSE,
                                    99};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        event.kind = never[i];
        event.p.all[0] = 4; /* valid for those that have it, and so is the grid */
        event.grid = 0.5;
        assert_int_equal(ask(&event, DPF_UNIT_RECORD), DPF_E_UNSUPPORTED);
    }
    event = laplace();
    event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 = NAN;
    assert_int_equal(ask(&event, DPF_UNIT_RECORD), DPF_E_UNSUPPORTED);
    event.kind = DPF_EVENT_NON_PRIVATE;
    assert_true(isinf(of_all(&event, 1, DPF_ADJ_REPLACE_VALUE)));
    assert_true(isinf(at_weight(&event, 1, DPF_ADJ_REPLACE_VALUE, 0.01)));
    event = laplace();
    event.lifetime = DPF_LIFETIME_RUN;
    assert_true(isinf(of_all(&event, 1, DPF_ADJ_REPLACE_VALUE)));
}

TEST(weights_out_of_range)
{
    dpf_event event = laplace();
    const dpf_question asked = question(DPF_ADJ_REPLACE_VALUE);
    static const double bad[] = {-1, NAN, 1.5};
    double epsilon;
    event.weighted = 1;
    for (int i = 0; i < 3; i++) {
        plain_clear(&host);
        assert_int_equal(
            accountant->epsilon_per_unit(host.self, &event, 1, &asked, &bad[i], NULL, 1, &epsilon),
            DPF_E_RANGE);
    }
}

TEST(memory)
{
    plain_check_memory(plain_component("heterogeneous", DPF_ROLE_ACCOUNTANT, "heterogeneous"), "");
}

FIXTURE(begin, end)
