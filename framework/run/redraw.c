/* SPDX-License-Identifier: Apache-2.0 */
#include "run/redraw.h"

#include <stdio.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "plan/plan_make.h"

static int draw_again(const struct compared_run *run, struct plan *plan, int64_t number, struct metrics *out,
                      struct dpf_error *error)
{
    char domain[64];
    snprintf(domain, sizeof domain, "noise drawn again %lld", (long long)number);
    return plan_rekey(plan, domain, error) == 0 ? comparison_train(run, plan, out, error) : -1;
}

int64_t redraw(struct session *session, const struct dataset *dataset, struct pool *pool, int64_t wanted,
               struct metrics *out)
{
    const struct compared_run run = {.session = session, .dataset = dataset, .pool = pool};
    int64_t n = 0;
    for (int64_t i = 0; i < wanted && !interrupt_is_wanted(); i++) {
        struct dpf_error problem = {0};
        if (draw_again(&run, &session->plan, i, &out[n], &problem) == 0)
            n++;
        else if (!interrupt_is_wanted())
            log_message(LOG_LEVEL_WARNING, "[run] compare-repetitions: a training is left out: %s",
                        problem.text);
    }
    return n;
}
