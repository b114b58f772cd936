/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/remote.h"

int remote_side(const struct plan *plan)
{
    (void)plan; /* federation_refusal lets no other through */
    return DPF_SIDE_ITEMS;
}

struct remote_sum remote_sum(const struct plan *plan)
{
    const struct side_plan *side = &plan->sides[remote_side(plan)];
    const struct term_plan *term = side->n_terms > 0 ? &side->terms[0] : NULL;
    return term ? (struct remote_sum){term, term->aggregator, term->noise.least_survivors}
                : (struct remote_sum){NULL, plan->recommender.aggregator, plan->recommender.least_survivors};
}

int remote_solves(const struct plan *plan)
{
    return plan->sides[remote_side(plan)].updated &&
           plan->sides[remote_side(plan)].solve_at == SOLVE_AT_PARTY;
}

int64_t remote_rounds(const struct plan *plan)
{
    const struct recommender_plan *component = &plan->recommender;
    int64_t sums = 0;
    for (int32_t i = 0; i < component->n_releases; i++)
        sums += component->releases[i].event.count;
    return sums > 0 ? sums : plan->model_facts.rounds;
}

struct remote_rows remote_floats(float *data, int64_t rows, int64_t stride, int columns)
{
    return (struct remote_rows){.data = data, .rows = rows, .stride = stride, .columns = columns};
}

struct remote_rows remote_sums(int64_t *data, int64_t n)
{
    return (struct remote_rows){.data = data, .rows = n, .stride = 2, .columns = 2, .integers = 1};
}
