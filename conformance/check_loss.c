/* SPDX-License-Identifier: Apache-2.0 */
/* Losses as scenarios: groups of records over small factors, in every layout that a loss writes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance/check_loss_inputs.h"
#include "conformance/check_scenario.h"

enum { GROUPS = 130, OTHERS = 50, OUT_STRIDE = 96 };

/* ---- inputs, also for check_sensitivity.c ---- */

static const dpf_loss *table(const struct instance *instance)
{
    return instance->functions;
}

int check_loss_query(struct instance *instance, int side, uint32_t layout, int released, dpf_query *query)
{
    dpf_side_info info = {.size = sizeof info,
                          .side = side,
                          .n_self = GROUPS,
                          .n_other = OTHERS,
                          .columns = CHECK_LOSS_D,
                          .first = 0,
                          .dimension = CHECK_LOSS_D,
                          .bias = -1,
                          .layout = layout,
                          .is_released = released};
    memset(query, 0, sizeof *query);
    query->size = sizeof *query;
    dpf_status status = table(instance)->query(instance->self, &info, query);
    struct dpf_error ignored = {0};
    return instance_result(instance, status, "query", &ignored) == 0 && query->width >= 1 &&
           query->width <= OUT_STRIDE && query->n_blocks >= 1 && query->n_blocks <= DPF_MAX_BLOCKS;
}

struct loss_inputs {
    dpf_query query;
    dpf_factors self;
    dpf_factors other;
    dpf_groups groups;
    int32_t *rows;
    int64_t *offsets;
    int32_t *others;
    float *values;
    double grid[DPF_MAX_BLOCKS];
    const double *use_grid;
    float *x; /* operands of apply */
};

static float *make_factors(struct check *check, struct check_source *source, dpf_factors *view, int rows)
{
    float *data = check_keep(check, (size_t)rows * CHECK_LOSS_STRIDE * sizeof *data);
    for (int r = 0; data && r < rows; r++)
        for (int c = 0; c < CHECK_LOSS_D; c++)
            data[r * CHECK_LOSS_STRIDE + c] = (float)check_uniform(source, -0.7, 0.7);
    *view = (dpf_factors){.data = data, .rows = rows, .stride = CHECK_LOSS_STRIDE, .cols = CHECK_LOSS_D};
    return data;
}

/* Row g has g % 7 records, ascending by the other side's row. */
static int fill_groups(struct check *check, struct check_source *source, struct loss_inputs *in, int side)
{
    int64_t n = 0;
    in->rows = check_keep(check, GROUPS * sizeof *in->rows);
    in->offsets = check_keep(check, (GROUPS + 1) * sizeof *in->offsets);
    in->others = check_keep(check, GROUPS * 7 * sizeof *in->others);
    in->values = check_keep(check, GROUPS * 7 * sizeof *in->values);
    float *weights = check_keep(check, GROUPS * 7 * sizeof *weights);
    if (!in->rows || !in->offsets || !in->others || !in->values || !weights)
        return -1;
    for (int g = 0; g < GROUPS; g++) {
        in->rows[g] = g;
        for (int i = 0; i < g % 7; i++, n++) {
            in->others[n] = (int32_t)(i * 7 + (int)(check_next(source) % 7));
            in->values[n] = (float)(1 + check_next(source) % 5);
            weights[n] = (float)check_uniform(source, 0.5, 1.5);
        }
        in->offsets[g + 1] = n;
    }
    in->groups = (dpf_groups){.size = sizeof in->groups,
                              .side = side,
                              .self = &in->self,
                              .other = &in->other,
                              .residual = &in->other,
                              .n_groups = GROUPS,
                              .rows = in->rows,
                              .offsets = in->offsets,
                              .others = in->others,
                              .values = in->values,
                              .weights = weights,
                              .offset = 0,
                              .party_row = -1};
    return 0;
}

static struct loss_inputs *make_inputs(struct check *check, int side)
{
    struct check_source source = {check->seed};
    struct loss_inputs *in = check_keep(check, sizeof *in);
    if (!in || !make_factors(check, &source, &in->self, GROUPS) ||
        !make_factors(check, &source, &in->other, OTHERS) || fill_groups(check, &source, in, side) != 0)
        return NULL;
    in->x = check_keep(check, GROUPS * CHECK_LOSS_STRIDE * sizeof *in->x);
    for (int i = 0; in->x && i < GROUPS * CHECK_LOSS_STRIDE; i++)
        in->x[i] = i % CHECK_LOSS_STRIDE < CHECK_LOSS_D ? (float)check_uniform(&source, -1, 1) : 0;
    return in->x ? in : NULL;
}

/* ---- runs ---- */

static dpf_groups part(const struct loss_inputs *in, int64_t first, int64_t count)
{
    dpf_groups groups = in->groups;
    groups.rows += first;
    groups.offsets += first;
    groups.n_groups = count;
    return groups;
}

static dpf_call *call_of(const struct scenario *scenario, struct worker *worker)
{
    return worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
}

static dpf_status run_accumulate(const struct scenario *scenario, struct worker *worker, int64_t first,
                                 int64_t count, void *out)
{
    const struct loss_inputs *in = scenario->data;
    dpf_groups groups = part(in, first, count);
    return table(scenario->instance)
        ->accumulate(scenario->instance->self, call_of(scenario, worker), &in->query, &groups, in->use_grid,
                     out, in->query.width);
}

static dpf_status run_local(const struct scenario *scenario, struct worker *worker, int64_t first,
                            int64_t count, void *out)
{
    const struct loss_inputs *in = scenario->data;
    dpf_groups groups = part(in, first, count);
    memset(out, 0, (size_t)count * OUT_STRIDE * sizeof(float)); /* cells between blocks are nobody's */
    return table(scenario->instance)
        ->accumulate_local(scenario->instance->self, call_of(scenario, worker), &in->query, &groups, out,
                           OUT_STRIDE);
}

static dpf_status run_apply(const struct scenario *scenario, struct worker *worker, int64_t first,
                            int64_t count, void *out)
{
    const struct loss_inputs *in = scenario->data;
    dpf_groups groups = part(in, first, count);
    memset(out, 0, (size_t)count * CHECK_LOSS_STRIDE * sizeof(float));
    return table(scenario->instance)
        ->apply(scenario->instance->self, call_of(scenario, worker), &in->query, &groups,
                in->x + first * CHECK_LOSS_STRIDE, CHECK_LOSS_STRIDE, out, CHECK_LOSS_STRIDE);
}

static void poison_value(const struct scenario *scenario, double value)
{
    struct loss_inputs *in = scenario->data;
    in->values[0] = (float)value; /* group 1 has the first record */
}

static int finite_doubles(const struct scenario *scenario, const void *out)
{
    return check_finite(out, scenario->n * (int64_t)(scenario->unit_bytes / sizeof(double)));
}

static int finite_floats(const struct scenario *scenario, const void *out)
{
    return check_finite_f(out, scenario->n * (int64_t)(scenario->unit_bytes / sizeof(float)));
}

/* ---- scenarios ---- */

enum variant { PLAIN, GRID, LOCAL, APPLY };

static const struct {
    const char *name;
    enum variant variant;
    uint32_t layout; /* wanted; 0 for what gradients have */
} variants[] = {
    {"accumulate (gradient)", PLAIN, 0},
    {"accumulate (gradient, grid)", GRID, 0},
    {"accumulate_local (gradient)", LOCAL, 0},
    {"accumulate (packed)", PLAIN, DPF_LAYOUT_PACKED},
    {"accumulate (packed, grid)", GRID, DPF_LAYOUT_PACKED},
    {"accumulate (full, grid)", GRID, DPF_LAYOUT_FULL},
    {"accumulate_local (packed)", LOCAL, DPF_LAYOUT_PACKED},
    {"accumulate_local (lower)", LOCAL, DPF_LAYOUT_LOWER},
    {"accumulate_local (operator)", LOCAL, DPF_LAYOUT_OPERATOR},
    {"apply", APPLY, DPF_LAYOUT_OPERATOR},
};
#define N_VARIANTS ((int)(sizeof variants / sizeof variants[0]))

static int set_up(struct scenario *out, enum variant variant)
{
    const struct loss_inputs *in = out->data;
    const dpf_loss *loss = table(out->instance);
    out->n = GROUPS;
    out->poison = poison_value;
    out->finite = variant >= LOCAL ? finite_floats : finite_doubles;
    switch (variant) {
    case APPLY:
        out->run = run_apply;
        out->unit_bytes = CHECK_LOSS_STRIDE * sizeof(float);
        out->poison = NULL; /* values need not matter to A */
        return loss->apply ? 1 : -1;
    case LOCAL:
        out->run = run_local;
        out->unit_bytes = OUT_STRIDE * sizeof(float);
        return loss->accumulate_local ? 1 : -1;
    default:
        out->run = run_accumulate;
        out->unit_bytes = (size_t)in->query.width * sizeof(double);
        return 1;
    }
}

int check_loss_scenario(struct check *check, int index, struct scenario *out)
{
    int side = index / N_VARIANTS ? DPF_SIDE_USERS : DPF_SIDE_ITEMS;
    if (index >= 2 * N_VARIANTS)
        return 0;
    index %= N_VARIANTS;
    struct instance *instance = check_instance(check);
    struct loss_inputs *in = instance ? make_inputs(check, side) : NULL;
    if (!in || (variants[index].layout & ~table(instance)->layouts) ||
        (!variants[index].layout && table(instance)->layouts))
        return -1;
    int released = variants[index].variant < LOCAL;
    if (!check_loss_query(instance, side, variants[index].layout, released, &in->query))
        return -1;
    *out = (struct scenario){.instance = instance, .data = in};
    snprintf(out->name, sizeof out->name, "%s, %s", variants[index].name,
             side == DPF_SIDE_USERS ? "users" : "items");
    for (int b = 0; b < DPF_MAX_BLOCKS; b++)
        in->grid[b] = 0x1p-12;
    in->use_grid = variants[index].variant == GRID ? in->grid : NULL;
    return set_up(out, variants[index].variant);
}

/* ---- rules ---- */

static int run_once(struct check *check, const struct scenario *scenario, void *out)
{
    struct dpf_error error = {0};
    struct worker *worker = worker_new(0, 1);
    dpf_status status = worker ? scenario->run(scenario, worker, 0, scenario->n, out) : DPF_E_MEMORY;
    worker_free(worker);
    if (instance_result(scenario->instance, status, scenario->name, &error) == 0)
        return 0;
    return check_warn(check, "does not run on the kit's inputs: %.400s", error.text);
}

static void look_at_query(struct check *check, const dpf_query *query, const char *name)
{
    if (query->form != DPF_FORM_GRADIENT && query->form != DPF_FORM_QUADRATIC)
        check_fail(check, "%s: form %d is not one of DPF_FORM_*", name, (int)query->form);
    if (query->dimension != CHECK_LOSS_D || query->first != 0)
        check_fail(check, "%s: the query is for columns %d to %d, asked were 0 to %d", name,
                   (int)query->first, (int)(query->first + query->dimension - 1), CHECK_LOSS_D - 1);
    for (int b = 0; b < query->n_blocks; b++) {
        const dpf_block *block = &query->blocks[b];
        if (block->offset < 0 || block->length < 0 || block->offset + block->length > query->width)
            check_fail(check, "%s: block %d reaches beyond the row's %d numbers", name, b, (int)query->width);
        for (int a = 0; a < b; a++)
            if (block->offset < query->blocks[a].offset + query->blocks[a].length &&
                query->blocks[a].offset < block->offset + block->length)
                check_fail(check, "%s: blocks %d and %d overlap", name, a, b);
    }
}

static void rule_query(struct check *check)
{
    int made = 0;
    for (int index = 0, got = 1; got; index++) {
        struct scenario scenario;
        got = check_loss_scenario(check, index, &scenario);
        if (got != 1)
            continue;
        made = 1;
        look_at_query(check, &((struct loss_inputs *)scenario.data)->query, scenario.name);
    }
    if (!made)
        check_skip(check, "serves none of the kit's sides");
}

/* With a grid, sums are exact: multiples of the grid, in any order of the records. */
static void look_at_grid(struct check *check, const struct scenario *scenario)
{
    struct loss_inputs *in = scenario->data;
    size_t cells = (size_t)GROUPS * (size_t)in->query.width;
    double *base = check_keep(check, cells * sizeof *base),
           *turned = check_keep(check, cells * sizeof *turned);
    if (!base || !turned || run_once(check, scenario, base) != 0)
        return;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(base[i]) && fmod(base[i], in->grid[0]) != 0) {
            check_fail(check, "%s: %g is not a multiple of the grid %g", scenario->name, base[i],
                       in->grid[0]);
            return;
        }
    float *weights = (float *)(uintptr_t)in->groups.weights; /* kept by the rule, read-only to the loss */
    for (int g = 0; g < GROUPS; g++)
        for (int64_t i = in->offsets[g], j = in->offsets[g + 1] - 1; i < j; i++, j--) {
            int32_t other = in->others[i];
            float value = in->values[i], weight = weights[i];
            in->others[i] = in->others[j], in->values[i] = in->values[j], weights[i] = weights[j];
            in->others[j] = other, in->values[j] = value, weights[j] = weight;
        }
    if (run_once(check, scenario, turned) == 0 && memcmp(base, turned, cells * sizeof *base) != 0)
        check_fail(check, "%s: the sum depends on the order of the records", scenario->name);
}

static void rule_grid(struct check *check)
{
    int made = 0;
    for (int index = 0, got = 1; got; index++) {
        struct scenario scenario;
        got = check_loss_scenario(check, index, &scenario);
        if (got != 1 || !((struct loss_inputs *)scenario.data)->use_grid)
            continue;
        made = 1;
        look_at_grid(check, &scenario);
    }
    if (!made)
        check_skip(check, "writes no query that is released");
}

/* One group's records, each by itself, times its factor, rounded, in grid steps. */
static dpf_status scaled_one_by_one(const struct scenario *scenario, struct worker *worker, int64_t g,
                                    const double *factors, double *one, double *sums)
{
    const struct loss_inputs *in = scenario->data;
    const dpf_loss *loss = scenario->instance->functions;
    const int32_t width = in->query.width;
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int64_t e = in->offsets[g]; e < in->offsets[g + 1]; e++) {
        const int64_t alone[2] = {e, e + 1};
        dpf_groups single = in->groups;
        single.n_groups = 1;
        single.rows += g;
        single.offsets = alone;
        if (factors[in->others[e]] == 0)
            continue;
        dpf_call *call = worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
        const dpf_status status =
            loss->accumulate(scenario->instance->self, call, &in->query, &single, NULL, one, width);
        if (status != DPF_OK)
            return status;
        for (int32_t b = 0; b < in->query.n_blocks; b++)
            for (int32_t i = in->query.blocks[b].offset;
                 i < in->query.blocks[b].offset + in->query.blocks[b].length; i++)
                sums[i] += nearbyint(factors[in->others[e]] * one[i] / in->grid[b]);
    }
    return DPF_OK;
}

static void look_at_scaled(struct check *check, const struct scenario *scenario, struct worker *worker)
{
    const struct loss_inputs *in = scenario->data;
    const dpf_loss *loss = scenario->instance->functions;
    const int32_t width = in->query.width;
    const int64_t others = in->groups.other->rows;
    double *factors = check_keep(check, (size_t)others * sizeof *factors);
    double *one = check_keep(check, 2 * (size_t)width * sizeof *one);
    int64_t *out = check_keep(check, (size_t)(GROUPS * width) * sizeof *out);
    if (!factors || !one || !out)
        return;
    for (int64_t o = 0; o < others; o++)
        factors[o] = o % 5 == 3 ? 0 : 0.25 + (double)(o % 7) / 11;
    dpf_call *call = worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
    if (loss->accumulate_scaled(scenario->instance->self, call, &in->query, &in->groups, factors, in->grid,
                                out, width) != DPF_OK)
        return; /* messages are made */
    for (int64_t g = 0; g < GROUPS; g++) {
        if (scaled_one_by_one(scenario, worker, g, factors, one, one + width) != DPF_OK)
            return;
        for (int32_t i = 0; i < width; i++)
            if ((double)out[g * width + i] != one[width + i]) {
                check_fail(check, "%s: number %d of row %d is %lld; its records one by one make %.0f",
                           scenario->name, (int)i, (int)g, (long long)out[g * width + i], one[width + i]);
                return;
            }
    }
}

static void rule_scaled(struct check *check)
{
    for (int index = 0, got = 1; got; index++) {
        struct scenario scenario;
        got = check_loss_scenario(check, index, &scenario);
        if (got != 1 || !((struct loss_inputs *)scenario.data)->use_grid ||
            !((const dpf_loss *)scenario.instance->functions)->accumulate_scaled)
            continue; /* nothing is promised */
        struct worker *worker = worker_new(0, 1);
        if (worker)
            look_at_scaled(check, &scenario, worker);
        worker_free(worker);
    }
}

/* The host leaves out rows that the loss says are 0: with anything else in one of them, what is released would change. */
static void look_at_empty_rows(struct check *check, const struct scenario *scenario)
{
    const struct loss_inputs *in = scenario->data;
    const int64_t width = in->query.width;
    double *rows = check_keep(check, (size_t)(GROUPS * width) * sizeof *rows);
    if (!rows || run_once(check, scenario, rows) != 0)
        return;
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; in->offsets[g] == in->offsets[g + 1] && i < width; i++)
            if (rows[g * width + i] != 0) {
                check_fail(check,
                           "%s: number %d of row %d, which has no record, is %g; it must be 0, or the loss "
                           "must not have "
                           "the flag DPF_LOSS_ZERO_WITHOUT_RECORDS",
                           scenario->name, (int)i, (int)g, rows[g * width + i]);
                return;
            }
}

static void rule_zeros(struct check *check)
{
    for (int index = 0, got = 1; got; index++) {
        struct scenario scenario;
        got = check_loss_scenario(check, index, &scenario);
        if (got != 1 || scenario.run != run_accumulate ||
            !(table(scenario.instance)->flags & DPF_LOSS_ZERO_WITHOUT_RECORDS))
            continue; /* nothing is promised */
        look_at_empty_rows(check, &scenario);
    }
}

static const struct check_rule rules[] = {
    {"loss.query", DPF_ROLE_LOSS, rule_query, "blocks lie within the row and do not overlap"},
    {"loss.grid", DPF_ROLE_LOSS, rule_grid, "sums on a grid are exact, whatever the order of records"},
    {"loss.scaled", DPF_ROLE_LOSS, rule_scaled,
     "integer sums of scaled records are those of the records one by one"},
    {"loss.zeros", DPF_ROLE_LOSS, rule_zeros, "rows without records are 0 where the loss says so"},
    {"loss.sensitivity", DPF_ROLE_LOSS, check_rule_sensitivity,
     "no pair of neighbours differs by more than the stated sensitivity"},
    {"loss.monotone", DPF_ROLE_LOSS, check_rule_sensitivity_monotone,
     "wider bounds never make a sensitivity smaller"},
};
const struct check_rules check_loss_rules = CHECK_RULES(rules);
