/* SPDX-License-Identifier: Apache-2.0 */
/* The same over 10^8 sums of two shares: a share of 10^-4 too much in one bin, or a width that is off by 2
 * 10^-3, would be seen. p-values of 28 November 2026: Skellam 0.516, gamma shares 0.277. */
#include "statistical/shares_law.h"

#define SUMS INT64_C(100000000)

TEST(skellam_shares_add_up_to_skellam)
{
    law_check_skellam(2, SUMS);
}

TEST(gamma_shares_add_up_to_discrete_laplace)
{
    law_check_laplace(2, SUMS);
}

FIXTURE(law_start, plain_random_end)
