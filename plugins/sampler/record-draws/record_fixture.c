/* SPDX-License-Identifier: Apache-2.0 */
#include "record_fixture.h"

int32_t check_users[CHECK_RECORDS];
static int32_t check_items[CHECK_RECORDS];
static float check_rows[CHECK_USERS * 16] __attribute__((aligned(64)));
static const dpf_factors check_factors = {check_rows, CHECK_USERS, 16, 4, 0};

dpf_draw check_draw(void)
{
    for (int i = 0; i < CHECK_RECORDS; i++) {
        check_users[i] = i / CHECK_ITEMS;
        check_items[i] = i % CHECK_ITEMS;
    }
    for (int u = 0; u < CHECK_USERS; u++)
        for (int c = 0; c < 4; c++)
            check_rows[u * 16 + c] = (float)(c % 2 ? u + 1 : -u - 1) / CHECK_USERS;
    return (dpf_draw){.size = sizeof(dpf_draw),
                      .level = DPF_LEVEL_RECORD,
                      .n = CHECK_RECORDS,
                      .users = check_users,
                      .items = check_items,
                      .user_factors = &check_factors,
                      .item_factors = &check_factors};
}

dpf_status check_linear_profile(void *context, double weight, double *epsilon)
{
    *epsilon = *(const double *)context * weight;
    return DPF_OK;
}

void check_take(struct plain_host *host, uint32_t draw_index, const dpf_draw *draw, float *weights)
{
    const dpf_sampler *sampler = host->component->functions;
    host->call.draw = draw_index;
    assert_int_equal(sampler->draw(host->self, plain_call(host), draw, weights), DPF_OK);
}

void check_fates(struct plain_host *host)
{
    static float all[CHECK_RECORDS], next[CHECK_RECORDS], part[7];
    const dpf_draw draw = check_draw();
    dpf_draw some = draw;
    int different = 0;
    some.n = 7;
    some.users += 1000;
    some.items += 1000;
    check_take(host, 3, &draw, all);
    check_take(host, 3, &some, part);
    assert_memory_equal(part, all + 1000, sizeof(part));
    check_take(host, 4, &draw, next);
    for (int i = 0; i < CHECK_RECORDS; i++)
        different += all[i] != next[i];
    assert_true(different > CHECK_RECORDS / 10);
}

void check_parties_refused(struct plain_host *host)
{
    dpf_draw draw = check_draw();
    float weight;
    draw.level = DPF_LEVEL_PARTY;
    draw.n = 1;
    const dpf_sampler *sampler = host->component->functions;
    assert_int_equal(sampler->draw(host->self, plain_call(host), &draw, &weight), DPF_E_UNSUPPORTED);
}
