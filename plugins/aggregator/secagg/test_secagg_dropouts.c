/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that are lost: either the sum of the survivors comes out exactly, or the round fails; and which
 * of the two follows from the numbers of those left.
 */
#include "kit/plain_host.h"
#include "sanitized.h"
#include "secagg_case.h"

static int count_from(const struct secagg_case *c, enum secagg_phase phase)
{
    int count = 0;
    for (uint32_t i = 0; i < c->setup.n; i++)
        count += c->lost[i] > phase;
    return count;
}

/* The aggregator that stands in for the protocol, given the survivors' inputs. */
static void check_modular_sum(const struct secagg_case *c)
{
    static struct plain_host host;
    int64_t sums[CASE_DIMENSION] = {0}, values[CASE_DIMENSION];
    plain_open(&host, plain_component("modular-sum", DPF_ROLE_AGGREGATOR, "modular-sum"), "");
    const dpf_aggregator *functions = host.component->functions;
    dpf_aggregation into = {.size = sizeof(into),
                            .width = 1,
                            .rows = CASE_DIMENSION,
                            .n_parties = c->setup.n,
                            .modulus = c->setup.terms.modulus,
                            .sums = sums};
    for (uint32_t i = 0; i < c->setup.n; i++) {
        if (!c->summed[i])
            continue;
        for (int k = 0; k < CASE_DIMENSION; k++)
            values[k] = (int64_t)c->inputs[i][k];
        const dpf_encoded message = {.size = sizeof(message),
                                     .width = 1,
                                     .n_rows = CASE_DIMENSION,
                                     .total_rows = CASE_DIMENSION,
                                     .values = values,
                                     .stride = 1,
                                     .survivors = 1};
        host.call.party = i;
        assert_int_equal(functions->absorb(host.self, plain_call(&host), &into, &message), DPF_OK);
    }
    if (functions->finish)
        assert_int_equal(functions->finish(host.self, plain_call(&host), &into), DPF_OK);
    assert_int_equal(into.survivors, c->server.survivors);
    assert_memory_equal(sums, c->server.sums, sizeof(sums));
    plain_close(&host);
}

/* In a complete graph a round works if as many as the threshold are left after each phase. */
static void run_complete(struct secagg_case *c)
{
    const int malicious = (c->setup.terms.flags & SECAGG_MALICIOUS) != 0;
    const int left = count_from(c, malicious ? SERVER_CONSENT : SERVER_UNMASK);
    const int unmasking = count_from(c, SERVER_UNMASK);
    const int works = left >= (int)c->setup.terms.threshold && unmasking >= (int)c->setup.terms.threshold;
    const enum secagg_status status = case_until(c, SERVER_DONE);
    assert_int_equal(status == SECAGG_OK, works);
    if (works) {
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(c->summed[i], c->lost[i] > SERVER_INPUT);
        case_check_sum(c);
        check_modular_sum(c);
        return;
    }
    assert_int_equal(status, SECAGG_TOO_FEW);
    assert_int_equal(c->server.phase, SERVER_FAILED);
    for (int k = 0; k < CASE_DIMENSION; k++)
        assert_true(c->server.sums[k] == 0);
}

/* Whether the last client is lost no earlier than those before it: one of the patterns that are alike but for who is who. */
static int is_sorted(int pattern)
{
    for (; pattern >= 5; pattern /= 5)
        if (pattern % 5 < pattern / 5 % 5)
            return 0;
    return 1;
}

/* Each of 5 clients is lost before any of the messages or not at all: with an argument in all combinations, else each
   once but for who is who, and one in ten of the others. */
TEST(every_pattern_of_five)
{
    static const uint8_t outcomes[] = {SERVER_KEYS, SERVER_SHARES, SERVER_INPUT, SERVER_UNMASK, SERVER_DONE};
    static struct secagg_case c;
    for (int pattern = 0; pattern < 5 * 5 * 5 * 5 * 5; pattern++) {
        if (!test_argument() && !is_sorted(pattern) && pattern % 11 != 0)
            continue;
        case_begin(&c, 5, 0, pattern % 2 ? 1501 : 4096, 3, 0);
        int rest = pattern;
        for (int i = 0; i < 5; i++, rest /= 5)
            c.lost[i] = outcomes[rest % 5];
        run_complete(&c);
        case_end(&c);
    }
}

/* With signatures 7776 patterns would cost too much: those in which at most two clients are lost, and when.
 */
TEST(patterns_with_signatures)
{
    static struct secagg_case c;
    for (int first = 0; first <= SERVER_DONE; first++)
        for (int second = 0; second <= SERVER_DONE; second++)
            for (int third = SERVER_CONSENT; third <= SERVER_DONE; third++) {
                case_begin(&c, 5, 0, 1501, 3, SECAGG_MALICIOUS);
                c.lost[0] = (uint8_t)first;
                c.lost[3] = (uint8_t)second;
                c.lost[4] = (uint8_t)third;
                run_complete(&c);
                case_end(&c);
            }
}

TEST(moduli)
{
    static struct secagg_case c;
    static const uint64_t all[] = {
        0, 2, 3, 1501, 1 << 16, (1 << 24) + 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 25};
    for (size_t m = 0; m < sizeof(all) / sizeof(all[0]); m++) {
        case_begin(&c, 9, 0, all[m], 6, 0);
        c.lost[2] = SERVER_SHARES;
        c.lost[4] = SERVER_INPUT;
        c.lost[8] = SERVER_UNMASK;
        assert_int_equal(case_until(&c, SERVER_DONE), SECAGG_OK);
        case_check_sum(&c);
        case_end(&c);
    }
}

/* On a regular graph: exact or failed, over many random losses of up to a third; and both do happen. */
TEST(regular_graphs)
{
    static struct secagg_case c;
    struct secagg_source source = {.key = {5}};
    const int runs = test_argument() ? 300 : CASES(100, 40);
    int worked = 0, failed = 0;
    for (int run = 0; run < runs; run++) {
        case_begin(&c, 20, 8, 1501, 5, 0);
        c.setup.seed[1] = (uint8_t)run;
        memset(c.block, 0, (size_t)secagg_server_bytes(&c.setup));
        assert_int_equal(secagg_server_begin(&c.server, &c.setup, c.block), SECAGG_OK);
        for (int loss = 0; loss < 7; loss++) {
            uint8_t random[2];
            secagg_source_bytes(&source, random, sizeof(random));
            c.lost[random[0] % 20] =
                random[1] % 2 ? SERVER_INPUT + 2 * (random[1] / 2 % 2) : random[1] / 2 % 2;
        }
        /* A client with too few peers leaves by itself: to the server it is one more that is lost. */
        const enum secagg_status status = case_until(&c, SERVER_DONE);
        if (status == SECAGG_OK)
            case_check_sum(&c);
        else
            assert_int_equal(status, SECAGG_TOO_FEW);
        worked += status == SECAGG_OK;
        failed += status != SECAGG_OK;
        case_end(&c);
    }
    assert_true(worked > runs / 10);
    assert_true(failed > runs / 100);
}

/* A third is lost at each single phase. */
TEST(a_third)
{
    static struct secagg_case c;
    for (uint32_t degree = 0; degree <= 20; degree += 20)
        for (int phase = SERVER_KEYS; phase <= SERVER_UNMASK; phase++) {
            case_begin(&c, 24, degree, 24 * 15 + 1, degree ? 12 : 16, 0);
            for (int i = 0; i < 24; i += 3)
                c.lost[i] = (uint8_t)phase;
            assert_int_equal(case_until(&c, SERVER_DONE), SECAGG_OK);
            case_check_sum(&c);
            case_end(&c);
        }
}

TEST(too_few_survivors)
{
    static struct secagg_case c;
    case_begin(&c, 5, 0, 1501, 2, 0);
    c.server.setup.least_survivors = 5;
    c.lost[1] = SERVER_INPUT;
    assert_int_equal(case_until(&c, SERVER_DONE), SECAGG_TOO_FEW);
    assert_int_equal(c.server.phase, SERVER_FAILED);
    case_end(&c);
}

/* What the server has before the last phase tells nothing apart: with other inputs but the same sum, and
   masks that make up for it, the messages could be the same. Here: no masked input shows its own, and no pair
   does. */
TEST(inputs_are_hidden)
{
    static struct secagg_case c;
    uint64_t shown[5][CASE_DIMENSION];
    case_begin(&c, 5, 0, 0, 3, 0);
    assert_int_equal(case_until(&c, SERVER_INPUT), SECAGG_OK);
    for (uint32_t i = 0; i < 5; i++) {
        size_t down, up;
        assert_int_equal(case_message(&c, i, &down), i);
        assert_int_equal(case_take(&c, i, c.down, down, &up), SECAGG_OK);
        secagg_unpack(c.up + SECAGG_HEADER_BYTES + 8, CASE_DIMENSION, 64, shown[i]);
    }
    for (unsigned set = 1; set < 1U << 5; set++)
        for (int k = 0; k < CASE_DIMENSION; k++) {
            uint64_t masked = 0, plain = 0;
            for (int i = 0; i < 5; i++) {
                masked += set >> i & 1 ? shown[i][k] : 0;
                plain += set >> i & 1 ? c.inputs[i][k] : 0;
            }
            assert_true(masked != plain);
        }
    case_end(&c);
}

FIXTURE(case_start, NULL)
