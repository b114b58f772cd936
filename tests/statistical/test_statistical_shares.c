/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of two and more parties add up to the law that is accounted for: 10^6 sums each. */
#include "statistical/shares_law.h"

#define SUMS INT64_C(1000000)

static void skellam_shares_add_up_to_skellam(void **state)
{
    (void)state;
    law_check_skellam(2, SUMS);
    law_check_skellam(5, SUMS);
}

static void gamma_shares_add_up_to_discrete_laplace(void **state)
{
    (void)state;
    law_check_laplace(2, SUMS);
    law_check_laplace(5, SUMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skellam_shares_add_up_to_skellam),
        cmocka_unit_test(gamma_shares_add_up_to_discrete_laplace),
    };
    return cmocka_run_group_tests(tests, law_start, plain_random_end);
}
