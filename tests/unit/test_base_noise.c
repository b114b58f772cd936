/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file under test is included, and cursors are given words of the test's choice: what happens
 * with probability 2^-64 in a run, a tie, is made to happen here.
 */
#include "base/noise_discrete.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define TOP (UINT64_C(1) << 63)

static struct random_cursor fed(const uint64_t *words, int n)
{
    struct random_cursor c = {.filled = (uint64_t)n};
    memcpy(c.words, words, (size_t)n * sizeof(*words));
    return c;
}

static void ties_are_decided_by_later_digits(void **state)
{
    (void)state;
    uint64_t words[] = {5, 5, 5, 4}; /* a's and b's first tails, then their second */
    struct random_cursor c = fed(words, 4);
    struct real a = {.head = 9}, b = {.head = 9};
    assert_false(real_less(&c, &a, &b));
    assert_int_equal(c.position, 4);
    assert_int_equal(a.n_tail, 2);
    /* What is known stays: asking again draws nothing. */
    assert_true(real_less(&c, &b, &a));
    assert_int_equal(c.position, 4);
    struct real larger = {.head = 10};
    assert_true(real_less(&c, &a, &larger));
    assert_int_equal(c.position, 4);
}

/* Against (head 2^64 + tail) m / 2^128 in plain long multiplication, all later digits 0. */
static uint64_t scaled_by_hand(uint64_t head, uint64_t tail, uint64_t m)
{
    random_u128 upper = (random_u128)head * m;
    random_u128 lower = (random_u128)tail * m;
    random_u128 middle = (random_u128)(uint64_t)upper + (uint64_t)(lower >> 64);
    return (uint64_t)(upper >> 64) + (uint64_t)(middle >> 64);
}

static void scaling_carries_exactly_when_it_must(void **state)
{
    (void)state;
    static const uint64_t scales[] = {1,      2, 3, 10, 1000003, UINT64_C(1) << 42, (UINT64_C(1) << 49) - 1,
                                      TOP - 1};
    int carried = 0, plain = 0;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        uint64_t m = scales[i];
        for (uint64_t k = 1; k <= 40; k++) {
            /* The last head below k/m: a carry depends on the digits after it. */
            uint64_t head = (uint64_t)((((random_u128)(k % m) << 64) + m - 1) / m) - 1;
            /* The tail at which the carry happens, and its neighbours. */
            uint64_t gap = 0 - (uint64_t)((random_u128)head * m);
            uint64_t edge = (uint64_t)((((random_u128)gap << 64) - 1) / m);
            for (int step = -2; step <= 2; step++) {
                uint64_t tail = edge + (uint64_t)step;
                uint64_t words[8] = {tail};
                struct random_cursor c = fed(words, 8);
                struct real u = {.head = head};
                uint64_t whole = real_scaled(&c, &u, m);
                assert_int_equal(whole, scaled_by_hand(head, tail, m));
                if (whole != (uint64_t)(((random_u128)head * m) >> 64))
                    carried++;
                else
                    plain++;
            }
        }
    }
    assert_true(carried > 100);
    assert_true(plain > 100);
}

/* An undecided carry: the first tail alone leaves it open, the second decides. */
static void a_carry_can_need_two_tails(void **state)
{
    (void)state;
    uint64_t low_tail[] = {UINT64_C(0x5555555555555555), UINT64_C(0x5555555555555554), 0};
    uint64_t high_tail[] = {UINT64_C(0x5555555555555555), UINT64_C(0x5555555555555556), 0};
    /* 1/3 = 0.(5)(5)... in these digits: below a third without a carry, above it with one. */
    struct real u = {.head = UINT64_C(0x5555555555555555)};
    struct random_cursor c = fed(low_tail, 3);
    assert_int_equal(real_scaled(&c, &u, 3), 0);
    assert_int_equal(c.position, 2);
    u = (struct real){.head = UINT64_C(0x5555555555555555)};
    c = fed(high_tail, 3);
    assert_int_equal(real_scaled(&c, &u, 3), 1);
    assert_int_equal(c.position, 2);
}

static void chains_are_counted(void **state)
{
    (void)state;
    struct {
        uint64_t words[4];
        int even;
    } cases[] = {
        {{TOP + 1}, 1},                        /* no link */
        {{TOP - 1, TOP}, 0},                   /* one */
        {{TOP - 1, TOP - 2, TOP}, 1},          /* two */
        {{TOP - 1, TOP - 2, 7, UINT64_MAX}, 0} /* three */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct random_cursor c = fed(cases[i].words, 4);
        struct real b = {.head = TOP};
        assert_int_equal(chain_is_even(&c, &b), cases[i].even);
        assert_int_equal(c.position, i + 1);
    }
}

static void geometric_is_floor_of_an_exponential(void **state)
{
    (void)state;
    /* A failure (b = 1/2 with one link), then b = 3/4 without: v = 1, so floor(8 * 1.75). */
    uint64_t words[] = {TOP, TOP - 1, TOP, TOP + TOP / 2, UINT64_MAX};
    struct random_cursor c = fed(words, 5);
    assert_int_equal(geometric(&c, 8), 14);
    assert_int_equal(c.position, 5);
}

static void keeping_compares_the_exact_fraction(void **state)
{
    (void)state;
    /* k = 3, s = 2: exponent 1/8. A first word at 1/8 makes no link: kept. */
    uint64_t at[] = {TOP >> 2};
    struct random_cursor c = fed(at, 1);
    assert_true(keeps(&c, 3, 2));
    /* Just below, one link: not kept; with a second link: kept. */
    uint64_t one[] = {(TOP >> 2) - 1, TOP, 0};
    c = fed(one, 3);
    assert_false(keeps(&c, 3, 2));
    uint64_t two[] = {(TOP >> 2) - 1, 5, 6};
    c = fed(two, 3);
    assert_true(keeps(&c, 3, 2));
    /* k = s: exponent 0, always kept. */
    uint64_t any[] = {0};
    c = fed(any, 1);
    assert_true(keeps(&c, 2, 2));
    /* The largest magnitude there is does not overflow: hopeless, and refused by the first factor. */
    uint64_t s = UINT64_C(1) << 24;
    uint64_t refuse[] = {TOP, TOP + 1};
    c = fed(refuse, 2);
    assert_false(keeps(&c, s * (MAX_FAILURES + 1), s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_are_decided_by_later_digits),
        cmocka_unit_test(scaling_carries_exactly_when_it_must),
        cmocka_unit_test(a_carry_can_need_two_tails),
        cmocka_unit_test(chains_are_counted),
        cmocka_unit_test(geometric_is_floor_of_an_exponential),
        cmocka_unit_test(keeping_compares_the_exact_fraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
