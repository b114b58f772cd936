/* SPDX-License-Identifier: Apache-2.0 */
/* The report of DPIMF's Theorems 4 and 5 for a quadratic objective that is released with noise. */
#include <math.h>

#include "ball.h"
#include "objective_utility.h"

enum { N_D, N_RADIUS, N_LARGEST, N_EPSILON, N_ALPHA0, N_BETA1, N_BETA2, N_BETA3, N_RECORDS };

static int32_t block_of(const dpf_query *query, int32_t kind)
{
    for (int32_t b = 0; b < query->n_blocks; b++)
        if (query->blocks[b].kind == kind)
            return b;
    return -1;
}

/* Sensitivity of a block for a record that appears, at weight 1. */
static double moved(const dpf_utility_setup *setup, int32_t block)
{
    return setup->blocks[block].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 / setup->bounds->weight_max;
}

/* Noise on second-order, first-order and count coefficients, each of a stated sensitivity. */
static int is_objective(const dpf_utility_setup *setup)
{
    static const int32_t kinds[] = {DPF_BLOCK_QUADRATIC, DPF_BLOCK_LINEAR, DPF_BLOCK_COUNT};
    if (setup->query->form != DPF_FORM_QUADRATIC)
        return 0;
    for (int k = 0; k < 3; k++) {
        const int32_t block = block_of(setup->query, kinds[k]);
        if (block < 0 || !isfinite(moved(setup, block)))
            return 0;
    }
    return 1;
}

/*
 * 1 - alpha0 is how far a record moves the count (Eq. 17); without the complement that is 1, and alpha0 is
 * not in the bounds. A block's share of epsilon is what its noise spends of it.
 */
static void add_numbers(const struct ball *ball, const dpf_utility_setup *setup, dpf_utility *report)
{
    static const int32_t kinds[] = {DPF_BLOCK_LINEAR, DPF_BLOCK_QUADRATIC, DPF_BLOCK_COUNT};
    const int known = !setup->bounds->from_data && isfinite(setup->bounds->other_linf);
    double spent[3], all = 0;
    for (int k = 0; k < 3; k++) {
        const int32_t block = block_of(setup->query, kinds[k]);
        spent[k] = setup->scale[block] > 0 ? moved(setup, block) / setup->scale[block] : 0;
        all += spent[k];
    }
    const double alpha0 = fmax(0, 1 - moved(setup, block_of(setup->query, DPF_BLOCK_COUNT)));
    dpf_utility_add_number(report, "d", setup->query->dimension, 1, 1e9, DPF_UTILITY_WHOLE,
                           "unknowns of a row");
    dpf_utility_add_number(report, "N", ball->radius, 0, INFINITY, DPF_UTILITY_ABOVE, "radius of the ball");
    dpf_utility_add_number(report, "c", known ? setup->bounds->other_linf : 1, 0, INFINITY,
                           DPF_UTILITY_ABOVE | (known ? 0 : DPF_UTILITY_ASSUMED),
                           "largest entry of the other side's rows");
    dpf_utility_add_number(report, "epsilon", setup->budget, 0, INFINITY, DPF_UTILITY_ABOVE,
                           "of one release");
    dpf_utility_add_number(report, "alpha0", alpha0, 0, 1, 0,
                           "part of a cell that the complement leaves out");
    dpf_utility_add_number(report, "beta1", all > 0 ? spent[0] / all : 0, 0, 1, 0,
                           "share of epsilon for the first order");
    dpf_utility_add_number(report, "beta2", all > 0 ? spent[1] / all : 0, 0, 1, 0, "for the second order");
    dpf_utility_add_number(report, "beta3", all > 0 ? spent[2] / all : 0, 0, 1, 0, "for the count");
    dpf_utility_add_number(report, "records", 1, 0, INFINITY, 0, "of a row, for Theorem 4");
}

static void add_notes(const struct objective_bounds *bounds, int assumed, dpf_utility *report)
{
    const int ordered = bounds->published[OBJECTIVE_STR] > bounds->published[OBJECTIVE_COM];
    dpf_utility_add_note(report,
                         "Published: theory of the publication, not proved here. It needs c from 1/d^2 to "
                         "1 and leaves out the noise of the count; the derived bounds need neither. str: "
                         "the excess of its own objective.");
    dpf_utility_add_note(report,
                         !bounds->claimed ? "Corollary 1 (gamma1 > gamma2) does not claim to hold here."
                         : bounds->separated
                             ? "Corollary 1 (gamma1 > gamma2) claims to hold here."
                             : "Corollary 1 (gamma1 > gamma2) claims to hold here, but does not follow "
                               "from its conditions.");
    dpf_utility_add_note(report, ordered ? "The order gamma1 > gamma2 holds."
                                         : "The order gamma1 > gamma2 does not hold.");
    dpf_utility_add_note(report,
                         "Theorem 4 as published bounds L(q*) - L_O(q'), which is never above 0, since L <= "
                         "L_O. Derived: a bound of L_O(q*) - L_O(q'), the cost of the complementary loss "
                         "under the one that it replaces.");
    if (assumed)
        dpf_utility_add_note(report,
                             "c is a maximum over private rows, which no plan knows: give another one as "
                             "c=VALUE.");
}

dpf_status ball_utility(void *self, const dpf_utility_setup *setup, dpf_utility *report)
{
    static const struct {
        const char *name, *help;
    } schemes[OBJECTIVE_SCHEMES] = {
        {"str", "gamma1 str"}, {"com", "gamma2 com"}, {"sym", "gamma3 sym"}, {"opt", "gamma4 opt"}};
    const struct ball *ball = self;
    const dpf_utility_number *in = report->numbers;
    struct objective_bounds bounds;
    if (report->n_numbers == 0) {
        if (is_objective(setup))
            add_numbers(ball, setup, report);
        return DPF_OK;
    }
    const struct objective_setting s = {.d = (int64_t)in[N_D].value,
                                        .radius = in[N_RADIUS].value,
                                        .largest = in[N_LARGEST].value,
                                        .epsilon = in[N_EPSILON].value,
                                        .alpha0 = in[N_ALPHA0].value,
                                        .beta = {0, in[N_BETA1].value, in[N_BETA2].value, in[N_BETA3].value}};
    if (!(s.beta[1] + s.beta[2] + s.beta[3] <= 1 + 1e-6))
        return ball->host->fail(ball->host, DPF_E_CONFIG, -1, "beta1 + beta2 + beta3 is more than 1");
    objective_bounds(&s, &bounds);
    const struct objective_change change = objective_change(&s, in[N_RECORDS].value);
    for (int i = 0; i < OBJECTIVE_SCHEMES; i++)
        dpf_utility_add_bound(report, schemes[i].name, bounds.published[i], bounds.derived[i],
                              schemes[i].help);
    dpf_utility_add_bound(report, "theorem_4", change.published, change.derived, "Theorem 4, of a row");
    add_notes(&bounds, (in[N_LARGEST].flags & DPF_UTILITY_ASSUMED) != 0, report);
    report->source = "DPIMF, Theorems 4 and 5, Corollary 1";
    report->title = "bounds on the expected excess of a row's objective, one solve";
    return DPF_OK;
}
