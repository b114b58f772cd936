/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of two and more parties add up to the law that is accounted for: 10^6 sums each. */
#include "statistical/shares_law.h"

#define SUMS INT64_C(1000000)

TEST(skellam_shares_add_up_to_skellam)
{
    law_check_skellam(2, SUMS);
    law_check_skellam(5, SUMS);
}

TEST(gamma_shares_add_up_to_discrete_laplace)
{
    law_check_laplace(2, SUMS);
    law_check_laplace(5, SUMS);
}

FIXTURE(law_start, plain_random_end)
