/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/remote.h"

int remote_side(const struct plan *plan)
{
    (void)plan; /* federation_refusal lets no other through */
    return DPF_SIDE_ITEMS;
}

int remote_solves(const struct plan *plan)
{
    return plan_is_factorization(plan) && plan->sides[remote_side(plan)].solve_at == SOLVE_AT_PARTY;
}

int64_t remote_rounds(const struct plan *plan)
{
    const struct recommender_plan *component = &plan->recommender;
    int64_t sums = 0;
    if (plan_is_factorization(plan))
        return plan->run.params.values[RUN_ROUNDS].integer;
    for (int32_t i = 0; i < component->n_releases; i++)
        sums += component->releases[i].event.count;
    return sums;
}

struct remote_rows remote_floats(float *data, int64_t rows, int64_t stride, int columns)
{
    return (struct remote_rows){.data = data, .rows = rows, .stride = stride, .columns = columns};
}
