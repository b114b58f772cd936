/* SPDX-License-Identifier: Apache-2.0 */
/* Claims, against the publications' formulas worked out here. */
#include "kit/accounting_case.h"

static dpf_answer claim_of(const char *parameters, const dpf_event *events, int64_t n, double delta)
{
    struct case_accountant published;
    dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer, .epsilon = NAN, .delta = NAN};
    question.unit = DPF_UNIT_RECORD;
    question.adjacency = DPF_ADJ_REPLACE_VALUE;
    case_open(&published, "published", parameters, NULL);
    if (published.functions->epsilon(published.host.self, events, n, &question, &answer) != DPF_OK)
        fail_msg("%s", published.host.report);
    case_close(&published);
    return answer;
}

/* A release in each of ten rounds that a record moves by 3. */
static dpf_event event_of(int32_t kind, double scale)
{
    dpf_event event = case_event(kind, scale, 3);
    event.count = 10;
    return event;
}

static void assert_answer(const dpf_answer *answer, double epsilon, double delta)
{
    if (!(fabs(answer->epsilon - epsilon) <= 1e-12 * epsilon && answer->delta == delta))
        fail_msg("(%.17g, %.17g), not (%.17g, %.17g)", answer->epsilon, answer->delta, epsilon, delta);
}

/* The delta of [privacy] is no part of a claim of pure differential privacy. */
TEST(pure_claims_have_no_delta)
{
    const dpf_event laplace = event_of(DPF_EVENT_LAPLACE, 2);
    dpf_event pure = event_of(DPF_EVENT_PURE, NAN), response = event_of(DPF_EVENT_RANDOMIZED_RESPONSE, NAN);
    pure.p.pure.epsilon = 0.25;
    response.p.response.flip = 0.25;
    dpf_answer answer = claim_of("", &laplace, 1, 1e-5);
    assert_answer(&answer, 1.5, 0);
    answer = claim_of("", &pure, 1, 1e-5);
    assert_answer(&answer, 0.75, 0);
    answer = claim_of("", &response, 1, 1e-5);
    assert_answer(&answer, 3 * log(3), 0);
}

TEST(others_have_theirs)
{
    const dpf_event gaussian = event_of(DPF_EVENT_GAUSSIAN, 6);
    dpf_event approx = event_of(DPF_EVENT_APPROX, NAN);
    approx.p.approx.epsilon = 2;
    approx.p.approx.delta = 1e-7;
    dpf_answer answer = claim_of("", &gaussian, 1, 1e-5);
    assert_answer(&answer, sqrt(2 * log(1.25e5)) / 2, 1e-5);
    answer = claim_of("", &approx, 1, 1e-5);
    assert_answer(&answer, 2, 1e-7);
}

/* The blocks of one release add up; other rounds and sides are other releases, of which the largest is
 * stated. */
TEST(blocks_of_a_release_add_up)
{
    dpf_event events[] = {event_of(DPF_EVENT_LAPLACE, 2), event_of(DPF_EVENT_LAPLACE, 4),
                          event_of(DPF_EVENT_GAUSSIAN, 6)};
    events[2].side = 1;
    dpf_answer answer = claim_of("", events, 3, 0.5);
    assert_answer(&answer, 2.25, 0);
    answer = claim_of("", events, 3, 1e-9);
    assert_answer(&answer, sqrt(2 * log(1.25e9)) / 2, 1e-9);
}

TEST(composed_gaussian)
{
    const dpf_event gaussian = event_of(DPF_EVENT_GAUSSIAN, 6);
    const double slope = 10 * 0.25 / 2, log_delta = log(1e5);
    dpf_answer answer = claim_of("claim=gaussian-rdp-eq9", &gaussian, 1, 1e-5);
    assert_answer(&answer, slope + 2 * sqrt(slope * log_delta), 1e-5);
    answer = claim_of("claim=gaussian-rdp-eq7; order=3", &gaussian, 1, 1e-5);
    assert_answer(&answer, 3 * slope + log_delta / 2, 1e-5);
}

/* DPIMF, Theorem 2: ln(1 + q (e^phi - 1)) with phi the loss at weight 1. */
TEST(sampled_records)
{
    dpf_event event = event_of(DPF_EVENT_LAPLACE, 2);
    event.sampling.kind = DPF_SAMPLING_POISSON;
    event.sampling.rate = 0.1;
    event.sampling.weight_max = 10;
    const dpf_answer answer = claim_of("claim=dpimf-theorem-2", &event, 1, 1e-5);
    assert_answer(&answer, log1p(0.1 * expm1(0.15)), 0);
}

/*
 * PrivSR, Theorems 1 to 3, by hand: Delta = 4, K = 16, epsilon = 1, beta = .5: eps_s = 1.5, eps_n = 3, noise
 * scales 2 Delta sqrt(K)/eps = 64/3 and 32/3, sum 32 = 2 Delta sqrt(K)/1. A gradient moves by 2 Delta in L2,
 * 2 Delta sqrt(K) = 32 in L1. The social term's scale is 2 alpha sqrt(K)/eps for a move of 2 alpha sqrt(K).
 */
TEST(privsr_adds_up_its_noise)
{
    dpf_event events[3] = {case_event(DPF_EVENT_LAPLACE, 64.0 / 3, 32),
                           case_event(DPF_EVENT_LAPLACE, 32.0 / 3, 32),
                           case_event(DPF_EVENT_LAPLACE, 40, 40)};
    events[0].side = events[1].side = DPF_SIDE_ITEMS;
    events[1].term = 1;
    events[2].side = DPF_SIDE_USERS;
    dpf_answer answer = claim_of("claim=privsr-theorem-3", events, 2, 1e-5);
    assert_answer(&answer, 1, 0);
    answer = claim_of("claim=privsr-theorem-3", events, 3, 1e-5);
    assert_answer(&answer, 1, 0);
    events[2].scale = 20; /* the social term alone has less noise */
    answer = claim_of("claim=privsr-theorem-3", events, 3, 1e-5);
    assert_answer(&answer, 2, 0);
}

/*
 * DPMF-RP, Eq. 18, by hand: theta = 1/4 gives theta^2/(1-2 theta)^4 = 1, order 2 gives 4, so with q = 2,
 * p k = 50 numbers and beta n = 400 messages it is 4 * 2 * 50/400 = 1 for c0 = 1; ten rounds change
 * nothing, nor do the clients counted on (90) and the numbers after padding (64), which are a proof's.
 */
TEST(dpmf_rp_is_a_renyi_divergence)
{
    dpf_event event = event_of(DPF_EVENT_PBM, NAN);
    const double p[4] = {0.25, 2, 90, 64};
    memcpy(event.p.all, p, sizeof p);
    event.messages = 400;
    event.numbers = 50;
    dpf_answer answer = claim_of("claim=dpmf-rp-eq18", &event, 1, 1e-5);
    assert_answer(&answer, 1 + log(1e5), 1e-5);
    assert_true(answer.order == 2);
    answer = claim_of("claim=dpmf-rp-eq18; order=11", &event, 1, 1e-5);
    assert_answer(&answer, 12.1 * 0.25 + log(1e5) / 10, 1e-5);
    /* Each message by itself: theta/(1-2 theta)^2 must be a 20th for the same budget. */
    event.messages = 1;
    event.p.pbm.theta = (24 - sqrt(560.0)) / 8;
    answer = claim_of("claim=dpmf-rp-eq18", &event, 1, 1e-5);
    if (!(fabs(answer.epsilon - 1 - log(1e5)) < 1e-9))
        fail_msg("%.17g", answer.epsilon);
}

/* HDPMF, Theorem 2: K = 16, Delta = 4, noise 2 sqrt(K) Delta/epsilon = 64 for epsilon = 1/2. DPIMF,
 * Theorem 3. */
TEST(one_round_of_objective_perturbation)
{
    const dpf_event event = case_event(DPF_EVENT_LAPLACE, 64, 32);
    dpf_answer answer = claim_of("claim=hdpmf-theorem-2", &event, 1, 1e-5);
    assert_answer(&answer, 0.5, 0);
    answer = claim_of("claim=dpimf-theorem-3", &event, 1, 1e-5);
    assert_answer(&answer, 0.5, 0);
}
