/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of transforms: declared bounds hold, inverses invert, adjoints are adjoint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check_scenario.h"

enum { RECORDS = 200, FACTOR_ROWS = 130, STRIDE = 16, COLUMNS = 5, PARTIES = 60, ROWS = 40, WIDTH = 5 };

typedef dpf_status (*message_function)(void *self, const dpf_call *call, const dpf_message *in,
                                       dpf_message *out);

struct transform_inputs {
    int32_t *users;
    int32_t *items;
    float *privacy_weights;
    float *values;  /* of records, or factor rows */
    double *scores; /* of records, or messages: PARTIES x rows_in x WIDTH */
    int64_t rows_in;
    int64_t rows_out;
    message_function message;
    int32_t round;
};

static const dpf_transform *table(const struct instance *instance)
{
    return instance->functions;
}

static struct transform_inputs *make_inputs(struct check *check)
{
    struct check_source source = {check->seed};
    struct transform_inputs *in = check_keep(check, sizeof *in);
    size_t floats = FACTOR_ROWS * STRIDE, doubles = (size_t)PARTIES * 4 * ROWS * WIDTH;
    if (!in)
        return NULL;
    in->users = check_keep(check, RECORDS * sizeof *in->users);
    in->items = check_keep(check, RECORDS * sizeof *in->items);
    in->privacy_weights = check_keep(check, RECORDS * sizeof *in->privacy_weights);
    in->values = check_keep(check, floats * sizeof *in->values);
    in->scores = check_keep(check, doubles * sizeof *in->scores);
    if (!in->users || !in->items || !in->privacy_weights || !in->values || !in->scores)
        return NULL;
    for (int i = 0; i < RECORDS; i++) {
        in->users[i] = i / 10;
        in->items[i] = i % 10;
        in->privacy_weights[i] = (float)check_uniform(&source, 0.5, 1);
    }
    in->rows_in = in->rows_out = ROWS;
    for (size_t i = 0; i < doubles; i++)
        in->scores[i] = check_uniform(&source, -2, 2);
    return in;
}

static void fill_records(struct check *check, struct transform_inputs *in)
{
    struct check_source source = {check->seed + 1};
    for (int i = 0; i < RECORDS; i++) {
        in->values[i] = (float)(1 + check_next(&source) % 5);
        in->scores[i] = (double)in->values[i];
    }
}

static void fill_factors(struct check *check, struct transform_inputs *in)
{
    struct check_source source = {check->seed + 2};
    for (int r = 0; r < FACTOR_ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            in->values[r * STRIDE + c] = (float)check_uniform(&source, -3, 3);
}

/* ---- runs ---- */

static dpf_records records_from(const struct transform_inputs *in, int64_t first, int64_t count)
{
    return (dpf_records){.size = sizeof(dpf_records),
                         .n = count,
                         .users = in->users + first,
                         .items = in->items + first,
                         .privacy_weights = in->privacy_weights + first};
}

static dpf_status run_records(const struct scenario *scenario, struct worker *worker, int64_t first,
                              int64_t count, void *out)
{
    const struct transform_inputs *in = scenario->data;
    dpf_records records = records_from(in, first, count);
    memcpy(out, in->values + first, (size_t)count * sizeof(float));
    dpf_call *call = worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
    return table(scenario->instance)->records(scenario->instance->self, call, &records, out);
}

static dpf_status run_predictions(const struct scenario *scenario, struct worker *worker, int64_t first,
                                  int64_t count, void *out)
{
    const struct transform_inputs *in = scenario->data;
    dpf_records records = records_from(in, first, count);
    memcpy(out, in->scores + first, (size_t)count * sizeof(double));
    dpf_call *call = worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
    return table(scenario->instance)->predictions(scenario->instance->self, call, &records, out);
}

static dpf_status run_factors(const struct scenario *scenario, struct worker *worker, int64_t first,
                              int64_t count, void *out)
{
    const struct transform_inputs *in = scenario->data;
    memcpy(out, in->values + first * STRIDE, (size_t)count * STRIDE * sizeof(float));
    dpf_call *call = worker_call(worker, scenario->instance, 0, 0, DPF_PARTY_AGGREGATE);
    return table(scenario->instance)->factors(scenario->instance->self, call, out, count, STRIDE, 0, COLUMNS);
}

static dpf_message message_of(double *values, int64_t rows, uint32_t party)
{
    return (dpf_message){.size = sizeof(dpf_message),
                         .party = party,
                         .n_rows = rows,
                         .total_rows = rows,
                         .values = values,
                         .stride = WIDTH,
                         .width = WIDTH};
}

/* A message in place where the number of rows stays, as the host does it. */
static dpf_status run_message(const struct scenario *scenario, struct worker *worker, int64_t first,
                              int64_t count, void *out)
{
    const struct transform_inputs *in = scenario->data;
    size_t in_cells = (size_t)in->rows_in * WIDTH, out_cells = (size_t)in->rows_out * WIDTH;
    dpf_status status = DPF_OK;
    for (int64_t p = first; p < first + count && status == DPF_OK; p++) {
        double *from = in->scores + (size_t)p * in_cells,
               *to = (double *)out + (size_t)(p - first) * out_cells;
        if (in->rows_in == in->rows_out) {
            memcpy(to, from, in_cells * sizeof *to);
            from = to;
        }
        dpf_message source = message_of(from, in->rows_in, (uint32_t)p),
                    target = message_of(to, in->rows_out, (uint32_t)p);
        dpf_call *call = worker_call(worker, scenario->instance, in->round, (uint32_t)in->round, (uint32_t)p);
        status = in->message(scenario->instance->self, call, &source, &target);
    }
    return status;
}

static void poison_floats(const struct scenario *scenario, double value)
{
    ((struct transform_inputs *)scenario->data)->values[0] = (float)value;
}

static void poison_doubles(const struct scenario *scenario, double value)
{
    ((struct transform_inputs *)scenario->data)->scores[0] = value;
}

static int finite_floats(const struct scenario *scenario, const void *out)
{
    return check_finite_f(out, scenario->n * (int64_t)(scenario->unit_bytes / sizeof(float)));
}

static int finite_doubles(const struct scenario *scenario, const void *out)
{
    return check_finite(out, scenario->n * (int64_t)(scenario->unit_bytes / sizeof(double)));
}

/* ---- scenarios ---- */

static int message_scenario(struct check *check, struct scenario *out, message_function message,
                            const char *name, int backwards)
{
    struct transform_inputs *in = out->data;
    const dpf_transform *transform = table(out->instance);
    int64_t rows = ROWS;
    if (!message)
        return -1;
    if (transform->rows && transform->rows(out->instance->self, ROWS, &rows) != DPF_OK)
        return -1;
    if (rows < 1 || rows > 4 * ROWS) {
        check_warn(check, "%d rows become %lld: the kit expects 1 to %d", ROWS, (long long)rows, 4 * ROWS);
        return -1;
    }
    in->rows_in = backwards ? rows : ROWS;
    in->rows_out = backwards ? ROWS : rows;
    in->message = message;
    out->n = PARTIES;
    out->one_by_one = 1;
    out->unit_bytes = (size_t)in->rows_out * WIDTH * sizeof(double);
    out->run = run_message;
    out->poison = poison_doubles;
    out->finite = finite_doubles;
    memcpy(out->name, name, strlen(name));
    return 1;
}

static int record_scenario(struct check *check, int index, struct scenario *out)
{
    fill_records(check, out->data);
    out->n = RECORDS;
    if (index == 1 && !table(out->instance)->predictions)
        return -1;
    memcpy(out->name, index ? "predictions" : "records", index ? 11 : 7);
    out->unit_bytes = index ? sizeof(double) : sizeof(float);
    out->run = index ? run_predictions : run_records;
    out->poison = index ? poison_doubles : poison_floats;
    out->finite = index ? finite_doubles : finite_floats;
    return 1;
}

static int factor_scenario(struct check *check, struct scenario *out)
{
    fill_factors(check, out->data);
    memcpy(out->name, "factors", 7);
    out->n = FACTOR_ROWS;
    out->unit_bytes = STRIDE * sizeof(float);
    out->run = run_factors;
    out->poison = poison_floats;
    out->finite = finite_floats;
    return 1;
}

int check_transform_scenario(struct check *check, int index, struct scenario *out)
{
    if (index > 1)
        return 0;
    struct instance *instance = check_instance(check);
    if (!instance)
        return -1;
    *out = (struct scenario){.instance = instance, .data = make_inputs(check)};
    const dpf_transform *transform = table(instance);
    if (!out->data)
        return -1;
    switch (transform->kind) {
    case DPF_TRANSFORM_RECORD:
        return record_scenario(check, index, out);
    case DPF_TRANSFORM_FACTOR:
        return index == 0 ? factor_scenario(check, out) : -1;
    case DPF_TRANSFORM_MESSAGE:
        return index == 0 ? message_scenario(check, out, transform->forward, "forward", 0)
                          : message_scenario(check, out, transform->inverse, "inverse", 1);
    default:
        return index == 0 ? message_scenario(check, out, transform->project, "project", 0)
                          : message_scenario(check, out, transform->adjoint, "adjoint", 1);
    }
}

/* ---- what transforms promise ---- */

static int run_all(struct check *check, const struct scenario *scenario, void *out)
{
    struct dpf_error error = {0};
    struct worker *worker = worker_new(0, 1);
    dpf_status status = worker ? scenario->run(scenario, worker, 0, scenario->n, out) : DPF_E_MEMORY;
    worker_free(worker);
    if (instance_result(scenario->instance, status, scenario->name, &error) == 0)
        return 0;
    return check_skip(check, "does not run on the kit's inputs: %.400s", error.text);
}

static void open_bounds(dpf_bounds *bounds)
{
    const double inf = (double)INFINITY;
    *bounds = (dpf_bounds){.size = sizeof *bounds,
                           .side = DPF_SIDE_ITEMS,
                           .dimension = COLUMNS,
                           .value_lo = 1,
                           .value_hi = 5,
                           .weight_max = 1,
                           .other_l1 = inf,
                           .other_l2 = inf,
                           .other_linf = inf,
                           .self_l1 = inf,
                           .self_l2 = inf,
                           .self_linf = inf,
                           .residual_l2 = inf,
                           .records_per_user = INT64_MAX,
                           .n_self = 10,
                           .n_other = FACTOR_ROWS};
}

static void bounds_of_factors(struct check *check, const dpf_bounds *bounds, const float *rows)
{
    for (int r = 0; r < FACTOR_ROWS; r++) {
        double l1 = 0, l2 = 0, linf = 0;
        for (int c = 0; c < COLUMNS; c++) {
            double x = fabs((double)rows[r * STRIDE + c]);
            l1 += x;
            l2 += x * x;
            linf = fmax(linf, x);
        }
        if (l1 > bounds->other_l1 * (1 + 1e-5) || sqrt(l2) > bounds->other_l2 * (1 + 1e-5) ||
            linf > bounds->other_linf * (1 + 1e-5))
            check_fail(check,
                       "a row has norms %g, %g, %g beyond the bounds %g, %g, %g that the transform states",
                       l1, sqrt(l2), linf, bounds->other_l1, bounds->other_l2, bounds->other_linf);
    }
}

static void bounds_of_records(struct check *check, const dpf_bounds *bounds, const float *values)
{
    double slack = 1e-5 * (fabs(bounds->value_lo) + fabs(bounds->value_hi));
    for (int i = 0; i < RECORDS; i++)
        if ((double)values[i] < bounds->value_lo - slack || (double)values[i] > bounds->value_hi + slack)
            check_fail(check, "a value becomes %g, beyond the bounds %g and %g that the transform states",
                       (double)values[i], bounds->value_lo, bounds->value_hi);
}

static void rule_bounds(struct check *check)
{
    struct scenario scenario;
    dpf_bounds bounds;
    if (check_transform_scenario(check, 0, &scenario) != 1)
        return;
    const dpf_transform *transform = table(scenario.instance);
    open_bounds(&bounds);
    if (transform->kind > DPF_TRANSFORM_FACTOR || !transform->bounds) {
        check_skip(check, "states no bounds of values or rows");
        return;
    }
    if (transform->bounds(scenario.instance->self, &bounds) != DPF_OK) {
        check_skip(check, "bounds are refused");
        return;
    }
    float *out = check_keep(check, (size_t)scenario.n * scenario.unit_bytes);
    if (!out || run_all(check, &scenario, out) != 0)
        return;
    if (transform->kind == DPF_TRANSFORM_FACTOR)
        bounds_of_factors(check, &bounds, out);
    else
        bounds_of_records(check, &bounds, out);
}

/* Long and short messages: of any numbers, small ones, one number alone, one row alone, of one sign. */
enum { N_MESSAGES = 5 };
static double number_of(struct check_source *source, int kind, int64_t i)
{
    const double x = check_uniform(source, -2, 2);
    return kind == 1   ? 1e-4 * x
           : kind == 2 ? (i == 7 ? 1e3 : 0)
           : kind == 3 ? (i < WIDTH ? 5 * x : 0)
           : kind == 4 ? -fabs(x)
                       : x;
}

static void bounds_of_messages(struct check *check, const struct scenario *scenario, const dpf_norms *stated,
                               int kind, int32_t round)
{
    struct check_source source = {check->seed + 5};
    struct transform_inputs *in = scenario->data;
    double *out = check_keep(check, (size_t)scenario->n * scenario->unit_bytes);
    const int64_t cells = (int64_t)(scenario->unit_bytes / sizeof(double)), sent = in->rows_in * WIDTH;
    for (int64_t i = 0; i < PARTIES * sent; i++)
        in->scores[i] = number_of(&source, kind, i % sent);
    in->round = round;
    if (!out || run_all(check, scenario, out) != 0)
        return;
    for (int p = 0; p < PARTIES; p++) {
        double l1 = 0, l2 = 0, linf = 0;
        for (int64_t i = 0; i < cells; i++) {
            double x = fabs(out[p * cells + i]);
            l1 += x;
            l2 += x * x;
            linf = fmax(linf, x);
        }
        if (l1 > stated->l1 * (1 + 1e-9) || sqrt(l2) > stated->l2 * (1 + 1e-9) ||
            linf > stated->linf * (1 + 1e-9))
            check_fail(
                check,
                "round %d, party %d: a message has norms %g, %g, %g; user/add-remove is stated as %g, %g, %g",
                (int)round, p, l1, sqrt(l2), linf, stated->l1, stated->l2, stated->linf);
    }
}

/* Sensitivities after a message transform bound what one user's message can be. */
static void rule_sensitivity(struct check *check)
{
    struct scenario scenario;
    const double inf = (double)INFINITY;
    if (check_transform_scenario(check, 0, &scenario) != 1)
        return;
    const dpf_transform *transform = table(scenario.instance);
    if (transform->kind != DPF_TRANSFORM_MESSAGE || !transform->sensitivity) {
        check_skip(check, "changes no sensitivities");
        return;
    }
    dpf_query query = {.size = sizeof query,
                       .form = DPF_FORM_GRADIENT,
                       .dimension = WIDTH,
                       .width = WIDTH,
                       .support = DPF_SUPPORT_OBSERVED,
                       .n_blocks = 1};
    query.blocks[0] = (dpf_block){.kind = DPF_BLOCK_GRADIENT, .length = WIDTH};
    dpf_sensitivity block = dpf_unstated();
    dpf_joint_norm bounds[DPF_MAX_JOINT_NORMS];
    const dpf_joint_norms before = {.size = sizeof before};
    dpf_joint_norms after = {.size = sizeof after, .capacity = DPF_MAX_JOINT_NORMS, .bounds = bounds};
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            block.at[u][a] = (dpf_norms){inf, inf, inf};
    if (transform->sensitivity(scenario.instance->self, &query, ROWS, &block, NULL, &before, &after) !=
        DPF_OK)
        return;
    for (int kind = 0; kind < N_MESSAGES && check->outcome != CHECK_FAIL; kind++)
        for (int32_t round = 0; round < 8; round += 7)
            bounds_of_messages(check, &scenario, &block.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE], kind, round);
}

static void compare(struct check *check, const double *a, const double *b, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-5 * (1 + fabs(a[i])))) {
            check_fail(check, "%s: number %lld goes from %g to %g", what, (long long)i, a[i], b[i]);
            return;
        }
}

static void inverse_of_records(struct check *check)
{
    struct scenario there, back;
    if (check_transform_scenario(check, 0, &there) != 1 || check_transform_scenario(check, 1, &back) != 1) {
        check_skip(check, "predictions are left as they are");
        return;
    }
    float *values = check_keep(check, RECORDS * sizeof *values);
    double *scores = check_keep(check, RECORDS * sizeof *scores),
           *wanted = check_keep(check, RECORDS * sizeof *wanted);
    if (!values || !scores || !wanted || run_all(check, &there, values) != 0)
        return;
    for (int i = 0; i < RECORDS; i++) {
        wanted[i] = (double)((struct transform_inputs *)there.data)->values[i];
        ((struct transform_inputs *)back.data)->scores[i] = (double)values[i];
    }
    if (run_all(check, &back, scores) == 0)
        compare(check, wanted, scores, RECORDS, "predictions do not undo records");
}

/* inverse(forward(x)) for messages so small that no clipping takes place. */
static void inverse_of_messages(struct check *check)
{
    struct scenario there, back;
    if (check_transform_scenario(check, 0, &there) != 1 || check_transform_scenario(check, 1, &back) != 1) {
        check_skip(check, "there is no inverse");
        return;
    }
    struct transform_inputs *in = there.data, *again = back.data;
    int64_t n = PARTIES * ROWS * WIDTH;
    for (int64_t i = 0; i < n; i++)
        in->scores[i] *= 1e-3;
    double *out = check_keep(check, (size_t)n * sizeof *out);
    if (!out || run_all(check, &there, again->scores) != 0 || run_all(check, &back, out) != 0)
        return;
    for (int64_t i = 0; i < n; i++) {
        in->scores[i] *= 1e3;
        out[i] *= 1e3;
    }
    compare(check, in->scores, out, n, "inverse does not undo forward");
}

static void adjoint_of_state(struct check *check)
{
    struct scenario there, back;
    if (check_transform_scenario(check, 0, &there) != 1 || check_transform_scenario(check, 1, &back) != 1)
        return;
    struct transform_inputs *x = there.data, *y = back.data;
    int64_t n_in = x->rows_in * WIDTH, n_out = x->rows_out * WIDTH;
    double *projected = check_keep(check, (size_t)(PARTIES * n_out) * sizeof *projected);
    double *adjoint = check_keep(check, (size_t)(PARTIES * n_in) * sizeof *adjoint);
    if (!projected || !adjoint || run_all(check, &there, projected) != 0 ||
        run_all(check, &back, adjoint) != 0)
        return;
    double left = 0, right = 0, size = 0; /* <S x, y> and <x, S' y> for the first message */
    for (int64_t i = 0; i < n_out; i++) {
        left += projected[i] * y->scores[i];
        size += fabs(projected[i] * y->scores[i]);
    }
    for (int64_t i = 0; i < n_in; i++)
        right += x->scores[i] * adjoint[i];
    if (!(fabs(left - right) <= 1e-5 * (size + 1e-12)))
        check_fail(check, "<Sx, y> is %g but <x, S'y> is %g", left, right);
}

static void rule_inverse(struct check *check)
{
    struct instance *instance = check_instance(check);
    if (!instance)
        return;
    switch (table(instance)->kind) {
    case DPF_TRANSFORM_RECORD:
        inverse_of_records(check);
        break;
    case DPF_TRANSFORM_MESSAGE:
        inverse_of_messages(check);
        break;
    case DPF_TRANSFORM_STATE:
        adjoint_of_state(check);
        break;
    default:
        check_skip(check, "factor transforms have no inverse");
    }
}

/* The factor of a message that was measured in pieces. */
static dpf_status factor_of_pieces(const struct scenario *scenario, struct worker *worker, double *message,
                                   int64_t piece, double *factor)
{
    const dpf_transform *transform = table(scenario->instance);
    double numbers[DPF_MEASURE_NUMBERS] = {0};
    for (int64_t first = 0; first < ROWS; first += piece) {
        dpf_message rows =
            message_of(message + first * WIDTH, ROWS - first < piece ? ROWS - first : piece, 1);
        rows.first_row = first;
        rows.total_rows = ROWS;
        dpf_call *call = worker_call(worker, scenario->instance, 0, 0, 1);
        const dpf_status status = transform->measure(scenario->instance->self, call, &rows, numbers);
        if (status != DPF_OK)
            return status;
    }
    dpf_call *call = worker_call(worker, scenario->instance, 0, 0, 1);
    return transform->factor(scenario->instance->self, call, numbers, ROWS, WIDTH, factor);
}

/* Messages of many sizes: what is told of pieces is what forward does, to the last bit. */
static void compare_factors(struct check *check, const struct scenario *scenario, struct worker *worker)
{
    const dpf_transform *transform = table(scenario->instance);
    const struct transform_inputs *in = scenario->data;
    double message[ROWS * WIDTH], sent[ROWS * WIDTH];
    for (int p = 0; p < PARTIES; p++) {
        double factor = NAN;
        for (int i = 0; i < ROWS * WIDTH; i++)
            message[i] = sent[i] = ldexp(in->scores[p * ROWS * WIDTH + i], 3 * p - 12);
        dpf_message whole = message_of(sent, ROWS, 1);
        dpf_call *call = worker_call(worker, scenario->instance, 0, 0, 1);
        if (factor_of_pieces(scenario, worker, message, 1 + 3 * p, &factor) != DPF_OK ||
            transform->forward(scenario->instance->self, call, &whole, &whole) != DPF_OK)
            continue; /* the message must be whole, or is refused */
        for (int i = 0; i < ROWS * WIDTH; i++)
            if (factor * message[i] != sent[i]) {
                check_fail(check, "factor tells %.17g, but forward makes %.17g of %.17g", factor, sent[i],
                           message[i]);
                return;
            }
    }
}

static void rule_factor(struct check *check)
{
    struct scenario scenario;
    struct dpf_error error = {0};
    if (check_transform_scenario(check, 0, &scenario) != 1 || !table(scenario.instance)->measure)
        return; /* nothing is promised */
    struct worker *worker = worker_new(0, 1);
    if (worker)
        compare_factors(check, &scenario, worker);
    worker_free(worker);
    instance_result(scenario.instance, DPF_E_UNSUPPORTED, scenario.name,
                    &error); /* takes what was reported */
}

static const struct check_rule rules[] = {
    {"transform.bounds", DPF_ROLE_TRANSFORM, rule_bounds, "its output lies within the bounds it states"},
    {"transform.sensitivity", DPF_ROLE_TRANSFORM, rule_sensitivity,
     "messages lie within the sensitivities it states"},
    {"transform.inverse", DPF_ROLE_TRANSFORM, rule_inverse, "inverses invert, adjoints are adjoint"},
    {"transform.factor", DPF_ROLE_TRANSFORM, rule_factor, "what is measured in pieces is what forward does"},
};
const struct check_rules check_transform_rules = CHECK_RULES(rules);
