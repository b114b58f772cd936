/* SPDX-License-Identifier: Apache-2.0 */
/* What is its own. What it has in common with others: ../noise-shares/test_noise_shares.c. */
#include "shares_fixture.h"

/* One of 16 shares has a quarter of the deviation: a whole number of steps, large enough for the bound on sums of them. */
TEST(shares_are_whole_numbers_of_steps)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    const dpf_component *component =
        plain_component("discrete-gaussian", DPF_ROLE_MECHANISM, "discrete-gaussian");
    const dpf_mechanism *mechanism = component->functions;
    plain_random_start(29);
    shares_release(&r, SHARES_MOST_ROWS, 16);
    plain_release_bound(&r, 0, 3, 2);
    plain_open_random(&host, component, "noise-multiplier=1.5");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
    const double steps = plan.scale[0] / plan.grid[0] / 4;
    assert_true(fabs(steps - floor(steps + 0.5)) < 1e-6);
    assert_true(steps >= 256);
    assert_true(isnan(mechanism->budget(host.self)));
    plain_close(&host);
    plain_random_stop();
}
