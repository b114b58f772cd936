/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/noise_fit.h"

#include "base/random.h"
#include "plan/facts.h"
#include "plan/release.h"
#include "plan/sensitivity.h"
#include "plan/sum_range.h"

#define MOST_FEWER_BITS 40 /* no mechanism takes more */

/* Every cell of a message has its place in the streams of random numbers. */
static int check_places(const struct term_plan *term, struct dpf_error *error)
{
    if (random_rows_fit(term->rows, term->sent.width))
        return 0;
    return error_set(
        error, DPF_FAULT_CONFIG,
        "a message of %lld rows of %d numbers is too large for noise: streams of random numbers have "
        "room for 2^32 rows and for 2^54 numbers; lower the rank, or send fewer rows",
        (long long)term->rows, (int)term->sent.width);
}

static int plan_noise(const struct plan *plan, struct term_plan *term, struct term_sensitivity *sensitivity,
                      struct dpf_error *error)
{
    struct instance *instance = term->mechanism;
    const dpf_mechanism *mechanism = instance->functions;
    struct release_request request;
    plan_release(plan, term, sensitivity, term->bounds_from_data, &request);
    term->noise = (dpf_noise_plan){.size = sizeof term->noise};
    if (instance_result(instance, mechanism->plan(instance->self, &request.release, &term->noise), "plan",
                        error) != 0)
        return -1;
    if (term->noise.where == DPF_NOISE_IN_SHARES &&
        !(mechanism->flags & (DPF_MECHANISM_SHARES | DPF_MECHANISM_CONTRIBUTORS)))
        return error_set(error, DPF_FAULT_PLUGIN,
                         "[%s] mechanism %s plans noise in shares, but has neither DPF_MECHANISM_SHARES nor "
                         "_CONTRIBUTORS: it does not know how many parties make up the noise",
                         term->name, instance->entry->component->id);
    if (term->noise.where == DPF_NOISE_IN_SHARES && (mechanism->flags & DPF_MECHANISM_SHARES) &&
        (term->noise.spare_shares < 0 ||
         term->noise.least_survivors < request.release.min_honest + term->noise.spare_shares))
        return error_set(
            error, DPF_FAULT_PLUGIN,
            "[%s] mechanism %s would decode sums of %lld messages, but its noise in shares needs "
            "those of %lld honest parties and of %lld that may be curious",
            term->name, instance->entry->component->id, (long long)term->noise.least_survivors,
            (long long)request.release.min_honest, (long long)term->noise.spare_shares);
    return 0;
}

int noise_fit(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    const double users = facts_most_users(plan);
    dpf_bounds budgeted = term->bounds;
    struct term_sensitivity sensitivity;
    int fewer = 0;
    if (check_places(term, error) != 0)
        return -1;
    plan_budgeted_bounds(term, &budgeted);
    if (plan_term_sensitivity(term, &budgeted, &sensitivity, error) != 0)
        return -1;
    term->fewer_bits = 0;
    do {
        term->fewer_bits += fewer;
        if (plan_noise(plan, term, &sensitivity, error) != 0)
            return -1;
        fewer = plan_sums_fit(plan, term, users).fewer_bits;
    } while (fewer > 0 && term->fewer_bits < MOST_FEWER_BITS);
    return 0;
}
