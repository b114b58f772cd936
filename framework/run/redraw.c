/* SPDX-License-Identifier: Apache-2.0 */
#include "run/redraw.h"

#include <stdio.h>

#include "base/log.h"
#include "plan/plan_make.h"

static int draw_again(const struct compared_run *run, struct plan *plan, int64_t number, struct metrics *out,
                      struct dpf_error *error)
{
    const dpf_value *privacy = plan->privacy.params.values;
    char domain[64];
    snprintf(domain, sizeof domain, "noise drawn again %lld", (long long)number);
    struct random_root *root =
        privacy[PRIVACY_RANDOMNESS].integer == 0
            ? random_root_secure(error)
            : random_root_seeded((uint64_t)privacy[PRIVACY_NOISE_SEED].integer, domain, error);
    if (!root)
        return -1;
    plan_rekey(plan, root);
    return comparison_train(run, plan, out, error);
}

int64_t redraw(struct session *session, const struct dataset *dataset, struct pool *pool, int64_t wanted,
               struct metrics *out)
{
    const struct compared_run run = {.session = session, .dataset = dataset, .pool = pool};
    int64_t n = 0;
    for (int64_t i = 0; i < wanted; i++) {
        struct dpf_error problem = {0};
        if (draw_again(&run, &session->plan, i, &out[n], &problem) == 0)
            n++;
        else
            log_message(LOG_LEVEL_WARNING, "[run] compare-repetitions: a training is left out: %s",
                        problem.text);
    }
    return n;
}
