/* SPDX-License-Identifier: Apache-2.0 */
/* The same over 10^8 sums of two shares: a share of 10^-4 too much in one bin, or a width that is off by 2
 * 10^-3, would be seen. p-values of 28 November 2026: Skellam 0.516, gamma shares 0.277. */
#include "statistical/shares_law.h"

#define SUMS INT64_C(100000000)

static void skellam_shares_add_up_to_skellam(void **state)
{
    (void)state;
    law_check_skellam(2, SUMS);
}

static void gamma_shares_add_up_to_discrete_laplace(void **state)
{
    (void)state;
    law_check_laplace(2, SUMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skellam_shares_add_up_to_skellam),
        cmocka_unit_test(gamma_shares_add_up_to_discrete_laplace),
    };
    return cmocka_run_group_tests(tests, law_start, plain_random_end);
}
