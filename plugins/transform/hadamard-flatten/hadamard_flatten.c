/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hadamard_flatten.c - spreads a message evenly over its coordinates: y = H D x, and back.
 *
 * D has random public signs, H is the orthonormal Walsh-Hadamard matrix of the next power of two, x is
 * padded with zeros (Algorithms 3 and 4 of DPMF-RP; Ailon and Chazelle, STOC 2006). A message that is
 * clipped coordinate by coordinate afterwards loses little, since no coordinate stands out. scope =
 * rows transforms each column of the message; scope = matrix all numbers as one vector, which pads
 * less: 841 x 14 numbers become 1024 x 14 = 14336 in the one case, and 16384 in the other; 561 x 14 become
 * 14336 and 8192.
 *
 * Sensitivity. H D is orthogonal with entries +-1/sqrt(P): L2 stays, |y|_inf <= |x|_1 / sqrt(P), and
 * |y|_1 <= min(sqrt(N) |y|_2, sqrt(P) |x|_1) over N numbers. With scope = matrix blocks mix, so each
 * block has the norms of all together. A bound over several blocks stays with scope = rows, its blocks in L2
 * (L1 does not carry over, but is above L2); with scope = matrix all that is left is the L2 norm of the
 * whole. Rounding: log2 P additions for each number, an L2 error of at most (log2 P + 4) 2^-52 |x|_2. It is
 * relative for a message against none or against zeros; for other differences twice the error of a user's
 * largest message is added.
 */
#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"
#include "dpframe/joint.h"
#include "hadamard.h"

enum { P_SCOPE, P_COLUMNS, P_COUNT };
enum { SCOPE_ROWS, SCOPE_MATRIX };

static const dpf_enum_value scopes[] = {
    {"rows", "each column by itself: the number of rows is padded to a power of two"},
    {"matrix", "all numbers as one vector: their number is padded to a power of two, then to whole rows"},
};

static const dpf_param params[P_COUNT] = {
    [P_SCOPE] = DPF_PARAM_ENUM_F("scope", SCOPE_ROWS, scopes, 0, "What is transformed together."),
    [P_COLUMNS] = DPF_PARAM_INT_F("columns", 0, 0, 1 << 20, 0, "numbers",
                                  "Numbers in a row of a message, the rank for gradients; needed for scope = "
                                  "matrix."),
};

struct flatten {
    const dpf_host *host;
    int64_t scope;
    int64_t columns;
    uint64_t key;
    const struct hadamard_kernels *kernels;
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_cursor cursor;
    if (values->values[P_SCOPE].integer == SCOPE_MATRIX && values->values[P_COLUMNS].integer == 0)
        return host->fail(
            host, DPF_E_CONFIG, P_COLUMNS,
            "scope = matrix needs columns, the numbers in a row of a message: set it to the rank");
    const dpf_status status = random->open(host, "signs", &stream);
    if (status != DPF_OK)
        return status;
    struct flatten *flatten = *self;
    flatten->host = host;
    flatten->scope = values->values[P_SCOPE].integer;
    flatten->columns = values->values[P_COLUMNS].integer;
    flatten->kernels = hadamard_find(SIMD_KIND_AUTO);
    random->seek(stream, 0, 0, 0, &cursor);
    random->bits(&cursor, &flatten->key, 1);
    return DPF_OK;
}

/* ---- sizes --------------------------------------------------------------------------------------- */

static int64_t next_power(int64_t n)
{
    int64_t power = 1;
    while (power < n && power < INT64_C(1) << 62)
        power *= 2;
    return power;
}

/* P: how many numbers meet in one of the result. */
static int64_t length_of(const struct flatten *flatten, int64_t rows_in)
{
    return next_power(flatten->scope == SCOPE_ROWS ? rows_in : rows_in * flatten->columns);
}

static dpf_status rows(void *self, int64_t rows_in, int64_t *rows_out)
{
    const struct flatten *flatten = self;
    const int64_t length = length_of(flatten, rows_in);
    *rows_out = flatten->scope == SCOPE_ROWS ? length : (length + flatten->columns - 1) / flatten->columns;
    return DPF_OK;
}

/* ---- sensitivity --------------------------------------------------------------------------------- */

static int is_still(const dpf_norms *x)
{
    return x->l1 == 0 && x->l2 == 0 && x->linf == 0;
}

/* All blocks as one. */
static dpf_norms together(const dpf_message_norms *message, int32_t unit, int32_t adjacency)
{
    double ones[DPF_BLOCK_BITS];
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        ones[b] = 1;
    const uint32_t all = dpf_message_bits(message);
    return (dpf_norms){dpf_joint_largest(message, all, ones, 1, unit, adjacency),
                       dpf_joint_largest(message, all, ones, 2, unit, adjacency),
                       dpf_joint_largest_number(message, all, ones, unit, adjacency)};
}

/* n numbers of the result; fmin ignores a statement that is not made. */
static dpf_norms flattened(dpf_norms x, double length, double n, double rounding, double error)
{
    if (is_still(&x))
        return x;
    const double l2 = (1 + rounding) * fmin(x.l2, x.l1) + error;
    const double spread = (1 + rounding) * (1 + 0x1p-40) * x.l1;
    return (dpf_norms){fmin(sqrt(n) * l2 * (1 + 0x1p-40), spread * sqrt(length) + sqrt(n) * error), l2,
                       fmin(l2, spread / sqrt(length) + error)};
}

static int is_whole(int32_t unit, int32_t adjacency)
{
    return unit == DPF_UNIT_USER && (adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT);
}

static double rounding_of(const struct flatten *flatten, int64_t rows_in)
{
    return (log2((double)length_of(flatten, rows_in)) + 4) * 0x1p-52;
}

static void change_block(const struct flatten *flatten, const dpf_message_norms *message, int32_t b,
                         dpf_sensitivity *after)
{
    int64_t rows_out = 0;
    rows((void *)(uintptr_t)flatten, message->rows, &rows_out);
    const double length = (double)length_of(flatten, message->rows);
    const double n = (double)rows_out * message->query->blocks[b].length;
    const double rounding = rounding_of(flatten, message->rows);
    dpf_norms x[DPF_UNIT_ROWS][DPF_ADJACENCY_ROWS];
    for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            x[unit][a] =
                flatten->scope == SCOPE_ROWS ? message->blocks[b].at[unit][a] : together(message, unit, a);
    const dpf_norms *user = x[DPF_UNIT_USER];
    const double largest = fmin(user[DPF_ADJ_ADD_REMOVE].l2, user[DPF_ADJ_ZERO_OUT].l2);
    for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            after->at[unit][a] =
                flattened(x[unit][a], length, n, rounding, is_whole(unit, a) ? 0 : 2 * rounding * largest);
}

/* before: a bound over some blocks, or over all in L2. Each block is transformed, or all are as one. */
static void change_joint(const dpf_joint_norm *before, double rounding, dpf_joint_norms *after)
{
    const double *user = before->at[DPF_UNIT_USER];
    const double error = 2 * rounding * fmin(user[DPF_ADJ_ADD_REMOVE], user[DPF_ADJ_ZERO_OUT]);
    dpf_joint_norm joint = *before;
    joint.within = 2;
    for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            joint.at[unit][a] = (1 + rounding) * before->at[unit][a] + (is_whole(unit, a) ? 0 : error);
    dpf_joint_add(after, &joint);
}

static void change_all(const dpf_message_norms *message, double rounding, dpf_joint_norms *after)
{
    dpf_joint_norm whole = dpf_joint_new(dpf_message_bits(message), 2, 2);
    for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            whole.at[unit][a] = together(message, unit, a).l2;
    change_joint(&whole, rounding, after);
}

static dpf_status sensitivity(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after)
{
    const struct flatten *flatten = self;
    const dpf_message_norms message = {query, rows_in, blocks, NULL, before};
    const double rounding = rounding_of(flatten, rows_in);
    dpf_sensitivity changed[DPF_MAX_BLOCKS];
    if (query->n_blocks < 1 || query->n_blocks > DPF_MAX_BLOCKS)
        return flatten->host->fail(flatten->host, DPF_E_INTERNAL, -1, "a query without blocks");
    if (gram)
        return flatten->host->fail(
            flatten->host, DPF_E_UNSUPPORTED, -1,
            "flattening would mix the Gram row of this loss with the other rows: remove the transform");
    if (flatten->scope == SCOPE_MATRIX && query->width != flatten->columns)
        return flatten->host->fail(
            flatten->host, DPF_E_CONFIG, P_COLUMNS,
            "columns differs from the numbers in a row of the message; set it to the rank");
    for (int32_t b = 0; b < query->n_blocks; b++)
        change_block(flatten, &message, b, &changed[b]);
    if (flatten->scope == SCOPE_MATRIX && query->n_blocks > 1)
        change_all(&message, rounding, after);
    for (int32_t i = 0; flatten->scope == SCOPE_ROWS && before && i < before->n; i++)
        change_joint(&before->bounds[i], rounding, after);
    memcpy(blocks, changed, (size_t)query->n_blocks * sizeof(*blocks));
    return DPF_OK;
}

/* ---- the transform -------------------------------------------------------------------------------- */

/* Signs index .. index + 63, index a multiple of 64, one bit each: the finalizer of splitmix64 (Steele, Lea,
   Flood, OOPSLA 2014). */
static uint64_t signs_from(const struct flatten *flatten, int64_t index)
{
    uint64_t x = flatten->key + (uint64_t)(index / 64 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* +1 or -1 of an index; signs is that of the 64 it belongs to, and is kept up to date. */
static double next_sign(const struct flatten *flatten, int64_t index, uint64_t *signs)
{
    if (index % 64 == 0)
        *signs = signs_from(flatten, index);
    return 1.0 - 2.0 * (double)(int32_t)(*signs >> (index % 64) & 1);
}

/* n rows of width numbers: every column by itself. n is a power of two. */
static void hadamard(const struct flatten *flatten, double *values, int64_t n, int64_t stride, int64_t width)
{
    if (stride == width) {
        hadamard_rows(flatten->kernels, values, n, width);
        return;
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t at = 0; at < n; at += 2 * half)
            for (int64_t r = at; r < at + half; r++) {
                double *restrict a = values + r * stride, *restrict b = values + (r + half) * stride;
                for (int64_t i = 0; i < width; i++) {
                    const double sum = a[i] + b[i], difference = a[i] - b[i];
                    a[i] = sum;
                    b[i] = difference;
                }
            }
    const double scale = 1 / sqrt((double)n);
    for (int64_t r = 0; r < n; r++)
        for (int64_t i = 0; i < width; i++)
            values[r * stride + i] *= scale;
}

/* A column of numbers behind one another, into to, which may be values. */
static void hadamard_column(const struct flatten *flatten, double *values, int64_t n, double *to)
{
    if (n >= 16) {
        hadamard_vector(flatten->kernels, values, n, to);
        return;
    }
    hadamard(flatten, values, n, 1, 1);
    memmove(to, values, (size_t)n * sizeof(*to));
}

static dpf_status failed(const dpf_call *call, const char *text)
{
    return call->host->fail(call->host, DPF_E_INTERNAL, -1, text);
}

/* few has the rows of the message as it is, many those of the flattened one. */
static dpf_status check(const struct flatten *flatten, const dpf_call *call, const dpf_message *few,
                        const dpf_message *many)
{
    int64_t expected = 0;
    rows((void *)(uintptr_t)flatten, few->n_rows, &expected);
    if (few->rows || many->rows || few->n_rows != few->total_rows || few->width != many->width ||
        many->n_rows != expected)
        return failed(call, "flattening needs all rows of a message");
    if (flatten->scope == SCOPE_MATRIX && few->width != flatten->columns)
        return failed(call, "columns differs from the numbers in a row of the message");
    return DPF_OK;
}

static void forward_rows(const struct flatten *flatten, const dpf_message *in, dpf_message *out)
{
    uint64_t signs = 0;
    for (int64_t r = 0; r < out->n_rows; r++) {
        const double sign = next_sign(flatten, r, &signs);
        double *to = out->values + r * out->stride;
        for (int32_t i = 0; i < out->width; i++)
            to[i] = r < in->n_rows ? sign * in->values[r * in->stride + i] : 0;
    }
    hadamard(flatten, out->values, out->n_rows, out->stride, out->width);
}

/* The message's numbers behind one another, times their signs. */
static void signed_numbers(const struct flatten *flatten, const dpf_message *in, double *to)
{
    const int64_t n = in->n_rows * in->width;
    uint64_t signs = 0;
    for (int64_t at = 0; at < n && in->stride == in->width; at += 64)
        flatten->kernels->signs(in->values + at, n - at < 64 ? n - at : 64, signs_from(flatten, at), to + at);
    for (int64_t at = 0; at < n && in->stride != in->width; at++)
        to[at] = next_sign(flatten, at, &signs) * in->values[at / in->width * in->stride + at % in->width];
}

static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct flatten *flatten = self;
    const dpf_status status = check(flatten, call, in, out);
    if (status != DPF_OK)
        return status;
    if (flatten->scope == SCOPE_ROWS) {
        forward_rows(flatten, in, out);
        return DPF_OK;
    }
    const int64_t width = in->width, n = length_of(flatten, in->n_rows);
    double *vector = call->scratch(call, (uint64_t)n * sizeof(*vector));
    if (!vector)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    signed_numbers(flatten, in, vector);
    const int64_t given = in->n_rows * width, sent = out->n_rows * width;
    memset(vector + given, 0, (size_t)(n - given) * sizeof(*vector));
    if (out->stride == width) {
        hadamard_column(flatten, vector, n, out->values);
        memset(out->values + n, 0, (size_t)(sent - n) * sizeof(*vector));
        return DPF_OK;
    }
    hadamard_column(flatten, vector, n, vector);
    for (int64_t at = 0; at < sent; at++)
        out->values[at / width * out->stride + at % width] = at < n ? vector[at] : 0;
    return DPF_OK;
}

/* H is its own inverse, and so is D. */
static dpf_status inverse(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct flatten *flatten = self;
    const dpf_status status = check(flatten, call, out, in);
    if (status != DPF_OK)
        return status;
    const int64_t width = in->width;
    const int64_t n = flatten->scope == SCOPE_ROWS ? in->n_rows * width : length_of(flatten, out->n_rows);
    double *vector = call->scratch(call, (uint64_t)n * sizeof(*vector));
    if (!vector)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n; i++)
        vector[i] = in->values[i / width * in->stride + i % width];
    if (flatten->scope == SCOPE_ROWS)
        hadamard(flatten, vector, in->n_rows, width, width);
    else
        hadamard_column(flatten, vector, n, vector);
    uint64_t signs = 0;
    double sign = 1;
    for (int64_t i = 0; i < out->n_rows * width; i++) {
        if (flatten->scope == SCOPE_MATRIX || i % width == 0)
            sign = next_sign(flatten, flatten->scope == SCOPE_MATRIX ? i : i / width, &signs);
        out->values[i / width * out->stride + i % width] = sign * vector[i];
    }
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_MESSAGE,
    .flags = DPF_TRANSFORM_NEEDS_DENSE | DPF_TRANSFORM_ISOMETRY,
    .sensitivity = sensitivity,
    .rows = rows,
    .forward = forward,
    .inverse = inverse,
};

DPF_COMPONENT(
    component, DPF_ROLE_TRANSFORM, functions, .id = "hadamard-flatten", .version = "1.0.0",
    .summary = "Spreads a message over its coordinates by random signs and a fast Walsh-Hadamard transform",
    .citation = "DPMF-RP, Algorithms 3 and 4; Ailon and Chazelle, Approximate nearest neighbors and the fast "
                "Johnson-Lindenstrauss transform (STOC 2006)",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct flatten))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.hadamard-flatten", "1.0.0", "Apache-2.0", component)
