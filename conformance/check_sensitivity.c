/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stated sensitivities of losses against brute force: pairs of neighbouring inputs within the
 * bounds, drawn at random with many at the corners, must not differ by more than is stated.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "conformance/check_loss_inputs.h"
#include "conformance/check_scenario.h"

enum { TRIALS = 3000, MAX_WIDTH = 96, PLACES = 60 };

struct pair_test {
    struct check *check;
    struct instance *instance;
    struct worker *worker;
    dpf_query query;
    dpf_bounds bounds;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS];
    dpf_sensitivity gram[DPF_MAX_BLOCKS];
    float self[PLACES * CHECK_LOSS_STRIDE]; /* all rows alike */
    float other[PLACES * CHECK_LOSS_STRIDE];
    int32_t row, of; /* where the record is: any row may be treated otherwise */
    int ran;
};

static const dpf_loss *table(const struct instance *instance)
{
    return instance->functions;
}

static void set_bounds(dpf_bounds *bounds, int side, double offset, double widen)
{
    double radius = 1.5 * widen, root = sqrt((double)CHECK_LOSS_D);
    *bounds = (dpf_bounds){.size = sizeof *bounds,
                           .side = side,
                           .dimension = CHECK_LOSS_D,
                           .value_lo = 1,
                           .value_hi = 1 + 4 * widen,
                           .offset = offset,
                           .weight_max = widen,
                           .other_l1 = radius * root,
                           .other_l2 = radius,
                           .other_linf = radius,
                           .self_l1 = radius * root,
                           .self_l2 = radius,
                           .self_linf = radius,
                           .residual_l2 = radius,
                           .records_per_user = 3,
                           .n_self = 20,
                           .n_other = 10};
}

static int state_sensitivity(struct pair_test *test)
{
    dpf_joint_norm bounds[DPF_MAX_JOINT_NORMS];
    dpf_joint_norms joint = {.size = sizeof joint, .capacity = DPF_MAX_JOINT_NORMS, .bounds = bounds};
    for (int b = 0; b < DPF_MAX_BLOCKS; b++)
        test->blocks[b] = test->gram[b] = dpf_unstated();
    dpf_status status = table(test->instance)
                            ->sensitivity(test->instance->self, &test->query, &test->bounds, test->blocks,
                                          test->gram, &joint);
    struct dpf_error error = {0};
    if (instance_result(test->instance, status, "sensitivity", &error) != 0)
        return check_warn(test->check, "states no sensitivity under the kit's bounds: %.400s", error.text);
    return 0;
}

/* A vector in the ball: half of the time on its surface, and half of those along one axis. */
static void draw_row(struct check_source *source, float *row, double radius)
{
    uint64_t shape = check_next(source) % 4;
    double norm = 0, x[CHECK_LOSS_D];
    for (int i = 0; i < CHECK_LOSS_D; i++) {
        x[i] = shape == 0 ? (i == 0) : check_uniform(source, -1, 1);
        norm += x[i] * x[i];
    }
    double length = shape < 2 ? radius : radius * check_uniform(source, 0, 1);
    for (int i = 0; i < CHECK_LOSS_D; i++)
        row[i] = (float)(x[i] * length / sqrt(norm) * (1 - 1e-6));
}

/* The query's row for one record, or none (value NaN); -1 if the loss refuses. */
static int evaluate(struct pair_test *test, double value, double weight, int party_row, double *out)
{
    dpf_factors self = {test->self, PLACES, CHECK_LOSS_STRIDE, CHECK_LOSS_D, 0};
    dpf_factors other = {test->other, PLACES, CHECK_LOSS_STRIDE, CHECK_LOSS_D, 0};
    int64_t offsets[2] = {0, isnan(value) ? 0 : 1};
    float v = (float)value, w = (float)weight;
    dpf_groups groups = {.size = sizeof groups,
                         .side = test->bounds.side,
                         .self = &self,
                         .other = &other,
                         .residual = &other,
                         .n_groups = 1,
                         .rows = &test->row,
                         .offsets = offsets,
                         .others = &test->of,
                         .values = &v,
                         .weights = &w,
                         .offset = test->bounds.offset,
                         .party_row = party_row < 0 ? -1 : test->of};
    dpf_call *call = worker_call(test->worker, test->instance, test->row % 9, (uint32_t)test->row % 9,
                                 DPF_PARTY_AGGREGATE);
    dpf_status status =
        table(test->instance)
            ->accumulate(test->instance->self, call, &test->query, &groups, NULL, out, test->query.width);
    struct dpf_error ignored = {0};
    return instance_result(test->instance, status, NULL, &ignored);
}

/* How many records of one user the pair stands for, and what that does to each norm. */
struct multiple {
    double l1, l2, linf;
};

static void judge(struct pair_test *test, int unit, int adjacency, const double *a, const double *b,
                  struct multiple times, const char *what)
{
    for (int k = 0; k < test->query.n_blocks; k++) {
        const dpf_block *block = &test->query.blocks[k];
        const dpf_norms *stated = &test->blocks[k].at[unit][adjacency];
        double l1 = 0, l2 = 0, linf = 0;
        for (int i = block->offset; i < block->offset + block->length; i++) {
            double x = fabs(a[i] - b[i]);
            l1 += x;
            l2 += x * x;
            linf = fmax(linf, x);
        }
        l1 *= times.l1;
        l2 = sqrt(l2) * times.l2;
        linf *= times.linf;
        const double slack = 1 + 1e-5, tiny = 1e-9;
        /* What is not stated (NaN) is no claim, and comparisons with NaN are false. */
        if (l1 > stated->l1 * slack + tiny || l2 > stated->l2 * slack + tiny ||
            linf > stated->linf * slack + tiny)
            check_fail(test->check,
                       "%s, block %d: neighbours differ by (%.9g, %.9g, %.9g), stated are (%.9g, %.9g, %.9g)",
                       what, k, l1, l2, linf, stated->l1, stated->l2, stated->linf);
    }
}

/*
 * A user with as many records as the cap allows, all alike. Where items are solved each record is in
 * a row of its own; where users are solved they add up in the user's row.
 */
static struct multiple whole_user(const struct pair_test *test)
{
    double n = (double)test->bounds.records_per_user;
    if (test->bounds.side == DPF_SIDE_USERS)
        return (struct multiple){n, n, n};
    return (struct multiple){n, sqrt(n), 1};
}

static double draw_value(struct check_source *source, const dpf_bounds *bounds)
{
    switch (check_next(source) % 4) {
    case 0:
        return bounds->value_lo;
    case 1:
        return bounds->value_hi;
    case 2: /* half a step of a range of four */
        return bounds->value_lo +
               (bounds->value_hi - bounds->value_lo) * (double)(check_next(source) % 9) / 8;
    default:
        return check_uniform(source, bounds->value_lo, bounds->value_hi);
    }
}

static void judge_all(struct pair_test *test, const double *first, const double *second, const double *one,
                      const double *none)
{
    const struct multiple single = {1, 1, 1}, user = whole_user(test);
    judge(test, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, first, second, single, "record/replace-value");
    judge(test, DPF_UNIT_RECORD, DPF_ADJ_FLIP, one, none, single, "record/flip");
    judge(test, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, first, none, single, "record/add-remove");
    judge(test, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT, first, none, single, "record/zero-out");
    judge(test, DPF_UNIT_USER, DPF_ADJ_REPLACE, first, second, user, "user/replace");
    judge(test, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, first, none, user, "user/add-remove");
    judge(test, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, first, none, user, "user/zero-out");
}

static void try_pair(struct pair_test *test, struct check_source *source, int party_row)
{
    double first[MAX_WIDTH], second[MAX_WIDTH], one[MAX_WIDTH], none[MAX_WIDTH];
    draw_row(source, test->self, test->bounds.self_l2);
    draw_row(source, test->other, test->bounds.other_l2);
    for (int place = 1; place < PLACES; place++) {
        memcpy(test->self + place * CHECK_LOSS_STRIDE, test->self, CHECK_LOSS_STRIDE * sizeof(float));
        memcpy(test->other + place * CHECK_LOSS_STRIDE, test->other, CHECK_LOSS_STRIDE * sizeof(float));
    }
    test->row = (int32_t)(check_next(source) % PLACES);
    test->of = (int32_t)(check_next(source) % PLACES);
    double weight =
        check_next(source) & 1 ? test->bounds.weight_max : check_uniform(source, 0, test->bounds.weight_max);
    if (evaluate(test, draw_value(source, &test->bounds), weight, party_row, first) != 0 ||
        evaluate(test, draw_value(source, &test->bounds), weight, party_row, second) != 0 ||
        evaluate(test, 1, weight, party_row, one) != 0 ||
        evaluate(test, (double)NAN, weight, party_row, none) != 0)
        return;
    test->ran = 1;
    judge_all(test, first, second, one, none);
}

/* Every side and layout that has a query; look runs with bounds and sensitivities in place. */
static void each_query(struct check *check, void (*look)(struct pair_test *test))
{
    static const uint32_t layouts[] = {0, DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL};
    struct pair_test *test = check_keep(check, sizeof *test);
    struct instance *instance = test ? check_instance(check) : NULL;
    if (!instance)
        return;
    *test = (struct pair_test){.check = check, .instance = instance, .worker = worker_new(0, 1)};
    for (int side = 0; side < 2 && test->worker; side++)
        for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
            uint32_t can = table(instance)->layouts;
            if ((layouts[l] & ~can) || (!layouts[l] && can) ||
                !check_loss_query(instance, side, layouts[l], 1, &test->query))
                continue;
            /* Losses for implicit feedback know no offset. */
            for (int offset = 0; offset < 2; offset++) {
                set_bounds(&test->bounds, side, 0.25 * offset, 1);
                if (state_sensitivity(test) == 0)
                    look(test);
            }
        }
    if (!test->ran)
        check_skip(check, "serves none of the kit's queries");
    worker_free(test->worker);
}

static void look_pairs(struct pair_test *test)
{
    struct check_source source = {test->check->seed};
    /* Where users are the other side, a message is one user's; dense losses look at that. */
    int party_row = test->bounds.side == DPF_SIDE_ITEMS ? 0 : -1;
    for (int trial = 0; trial < TRIALS && test->check->outcome != CHECK_FAIL; trial++)
        try_pair(test, &source, party_row);
}

static void look_monotone(struct pair_test *test)
{
    dpf_sensitivity before[DPF_MAX_BLOCKS];
    for (double widen = 1.25; widen < 3; widen *= 1.25) {
        memcpy(before, test->blocks, sizeof before);
        set_bounds(&test->bounds, test->bounds.side, test->bounds.offset, widen);
        if (state_sensitivity(test) != 0)
            return;
        test->ran = 1;
        for (int b = 0; b < test->query.n_blocks; b++)
            for (size_t i = 0; i < sizeof(dpf_sensitivity) / sizeof(double); i++) {
                double was = ((const double *)&before[b])[i], is = ((const double *)&test->blocks[b])[i];
                if (is < was * (1 - 1e-12))
                    check_fail(test->check, "block %d: a sensitivity goes from %g to %g with wider bounds", b,
                               was, is);
                if (is < 0)
                    check_fail(test->check, "block %d: a sensitivity is %g", b, is);
            }
    }
}

void check_rule_sensitivity(struct check *check)
{
    each_query(check, look_pairs);
}

void check_rule_sensitivity_monotone(struct check *check)
{
    each_query(check, look_monotone);
}
