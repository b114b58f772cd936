/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/choose_pbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LEAST_THETA 1e-9 /* of the mechanism */
#define CLOSE 1.000001   /* a bracket's ends are this near in the end */

struct search {
    const struct guarantee *guarantee;
    struct instance *accountant;
    struct ledger ledger; /* a copy, whose events change */
    int64_t rounds;
    double target;
    struct dpf_error *error;
};

const dpf_event *pbm_event(const struct ledger *ledger)
{
    for (int64_t i = 0; i < ledger->n; i++)
        if (ledger->entries[i].event.kind == DPF_EVENT_PBM)
            return &ledger->entries[i].event;
    return NULL;
}

/* Epsilon of the whole ledger. -1 if it cannot be said. */
static int epsilon_of(struct search *search, double theta, int64_t trials, double *epsilon)
{
    struct guarantee judged = *search->guarantee;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    for (int64_t i = 0; i < search->ledger.n; i++) {
        dpf_event *event = &search->ledger.entries[i].event;
        if (event->kind != DPF_EVENT_PBM)
            continue;
        /* The larger distance from 1/2 of the two probabilities, as they are in float64. */
        event->p.pbm.theta = fmax((0.5 + theta) - 0.5, 0.5 - (0.5 - theta));
        event->p.pbm.trials = (double)trials;
    }
    int status =
        guarantee_account(&judged, &search->accountant, 1, &search->ledger, search->rounds, search->error);
    if (status == 0 && judged.accounts[0].refused)
        status = error_set(search->error, DPF_FAULT_CONFIG, "accountant %s: %s",
                           judged.accounts[0].accountant, judged.accounts[0].reason);
    if (status == 0)
        *epsilon = judged.accounts[0].answer.epsilon;
    guarantee_free(&judged);
    return status;
}

/* Four digits, not above theta. */
static double round_down(double theta)
{
    const double unit = pow(10, floor(log10(theta)) - 3);
    char text[32];
    snprintf(text, sizeof text, "%.4g", floor(theta / unit) * unit);
    const double rounded = strtod(text, NULL);
    return rounded <= theta ? rounded : theta;
}

/* low meets the target, high does not. */
static int choose_theta(struct search *search, struct pbm_choice *out)
{
    double low = LEAST_THETA, high = PBM_MOST_THETA, epsilon;
    if (epsilon_of(search, low, 1, &epsilon) != 0)
        return -1;
    *out = (struct pbm_choice){.theta = 0, .trials = 1, .epsilon = epsilon};
    if (!(epsilon <= search->target))
        return 0;
    while (high > low * CLOSE) {
        const double middle = sqrt(low * high);
        if (epsilon_of(search, middle, 1, &epsilon) != 0)
            return -1;
        *(epsilon <= search->target ? &low : &high) = middle;
    }
    /* Judged again: bounds of an accountant may jump a little where theta moves. */
    const double rounded = round_down(low);
    if (epsilon_of(search, rounded, 1, &epsilon) != 0)
        return -1;
    out->theta = epsilon <= search->target ? rounded : low;
    return epsilon_of(search, out->theta, 1, &out->epsilon);
}

static int choose_trials(struct search *search, struct pbm_choice *out)
{
    int64_t low = 1, high = 2;
    double epsilon;
    for (; high <= PBM_MOST_TRIALS; low = high, high *= 2) {
        if (epsilon_of(search, PBM_MOST_THETA, high, &epsilon) != 0)
            return -1;
        if (!(epsilon <= search->target))
            break;
    }
    while (high <= PBM_MOST_TRIALS && high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (epsilon_of(search, PBM_MOST_THETA, middle, &epsilon) != 0)
            return -1;
        *(epsilon <= search->target ? &low : &high) = middle;
    }
    *out = (struct pbm_choice){.theta = PBM_MOST_THETA, .trials = low};
    return epsilon_of(search, PBM_MOST_THETA, low, &out->epsilon);
}

int pbm_choose(const struct guarantee *guarantee, struct instance *accountant, const struct ledger *ledger,
               int64_t rounds, double target, struct pbm_choice *out, struct dpf_error *error)
{
    struct search search = {guarantee, accountant, {0}, rounds, target, error};
    double epsilon = 0;
    if (!pbm_event(ledger))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "no release of the configuration uses mechanism pbm: there are no theta and q to choose");
    search.ledger.entries = memory_new((size_t)ledger->n, sizeof *search.ledger.entries);
    if (!search.ledger.entries)
        return error_memory(error);
    memcpy(search.ledger.entries, ledger->entries, (size_t)ledger->n * sizeof *ledger->entries);
    search.ledger.n = search.ledger.capacity = ledger->n;
    int status = epsilon_of(&search, PBM_MOST_THETA, 1, &epsilon);
    if (status == 0)
        status = epsilon <= target ? choose_trials(&search, out) : choose_theta(&search, out);
    free(search.ledger.entries);
    return status;
}
