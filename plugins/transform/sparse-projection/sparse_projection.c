/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse_projection.c - rows live in a smaller space: B = S V, and readers see V = S'B.
 *
 * S is p x m with a single +1 or -1 in each column: S[h(j)][j] = s(j), h and s public hash functions
 * (Definition 3.5 of DPMF-RP; the count sketch of Charikar, Chen, Farach-Colton, ICALP 2002). S is the
 * same for the whole run, so items that collide share a row for good. The hashes are keyed by one draw from
 * run.seed.
 *
 * Sensitivity. Let at most c columns meet in a row. |Sx|_1 <= |x|_1 by the triangle inequality, and by that
 * of Cauchy |Sx|_2 <= sqrt(c) |x|_2, |Sx|_inf <= c |x|_inf; a norm is also bounded by the norms above it. The
 * sums round: a coordinate is off by at most c 2^-53 times the sum of its absolute terms. For a message
 * against none, or against zeros, this is relative. For a difference of two messages it is not, so twice the
 * error of the largest message a user can send is added. A bound over several blocks, all of which are
 * projected by the same S, grows as its blocks' norms do: not at all where they are in L1, by sqrt(c) where
 * they are in L2.
 */
#include <math.h>
#include <string.h>

#include "dpframe/dpframe.h"
#include "dpframe/joint.h"

enum { P_RATIO, P_ROWS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_RATIO] = DPF_PARAM_REAL_F("ratio", 2, 1, 1e9, 0, "",
                                 "m/p: rows before for each row after, which is rounded up to whole rows."),
    [P_ROWS] = DPF_PARAM_INT_F("rows", 0, 0, 2147483647, 0, "rows",
                               "p, the number of rows after; 0: as ratio says."),
};

struct projection {
    const dpf_host *host;
    double ratio;
    int64_t rows;
    uint64_t key;
};

/* ---- hash functions ----------------------------------------------------------------------------- */

/* The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every bit depends on all bits of x. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* h(j) from the upper half of the hash, s(j) from its lowest bit. p < 2^32: the product does not wrap, and
   h is uniform up to p / 2^32. */
static int64_t place_of(const struct projection *s, int64_t column, int64_t p, double *sign)
{
    const uint64_t hash = mix(s->key + (uint64_t)(column + 1) * UINT64_C(0x9e3779b97f4a7c15));
    *sign = hash & 1 ? -1.0 : 1.0;
    return (int64_t)(((hash >> 32) * (uint64_t)p) >> 32);
}

/* ---- life --------------------------------------------------------------------------------------- */

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_cursor cursor;
    const dpf_status status = random->open(host, "projection", &stream);
    if (status != DPF_OK)
        return status;
    struct projection *s = *self;
    s->host = host;
    s->ratio = values->values[P_RATIO].real;
    s->rows = values->values[P_ROWS].integer;
    random->seek(stream, 0, 0, 0, &cursor);
    random->bits(&cursor, &s->key, 1);
    return DPF_OK;
}

static dpf_status rows(void *self, int64_t rows_in, int64_t *rows_out)
{
    const struct projection *s = self;
    if (s->rows > rows_in)
        return s->host->fail(s->host, DPF_E_CONFIG, P_ROWS,
                             "a projection cannot have more rows than there are before it; lower rows");
    const int64_t p = s->rows > 0 ? s->rows : (int64_t)ceil((double)rows_in / s->ratio);
    *rows_out = p < 1 ? 1 : p > rows_in ? rows_in : p;
    return DPF_OK;
}

/* ---- sensitivity -------------------------------------------------------------------------------- */

/* Columns beyond this are not counted one by one: a bound must not cost minutes. */
#define MOST_COUNTED (INT64_C(1) << 24)

/* How many columns meet in the fullest row, or a bound on it. */
static dpf_status fullest_row(const struct projection *s, int64_t m, int64_t p, double *out)
{
    const dpf_memory_service *memory = dpf_memory(s->host);
    *out = (double)m;
    if (m > MOST_COUNTED)
        return DPF_OK;
    int32_t *counts = memory->allocate(s->host, (uint64_t)p * sizeof(*counts));
    if (!counts)
        return s->host->fail(s->host, DPF_E_MEMORY, -1, "out of memory");
    int32_t most = 0;
    for (int64_t j = 0; j < m; j++) {
        double sign;
        const int32_t count = ++counts[place_of(s, j, p, &sign)];
        most = count > most ? count : most;
    }
    memory->release(s->host, counts);
    *out = (double)most;
    return DPF_OK;
}

/* fmin ignores NaN, as it should: a statement that is not made does not count. */
static dpf_norms projected(dpf_norms x, double c, double rounding, double error)
{
    if (x.l1 == 0 && x.l2 == 0 && x.linf == 0)
        return x;
    dpf_norms out;
    out.l1 = (1 + rounding) * x.l1 + error;
    out.l2 = fmin((1 + rounding) * (sqrt(c) * x.l2) * (1 + 0x1p-40) + error, out.l1);
    out.linf = fmin((1 + rounding) * c * x.linf * (1 + 0x1p-40) + error, out.l2);
    return out;
}

static int is_whole(int32_t unit, int32_t adjacency)
{
    return unit == DPF_UNIT_USER && (adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT);
}

/* A user's largest message in L1, for the error of a difference. */
static double largest_message(const dpf_sensitivity *block)
{
    const dpf_norms *user = block->at[DPF_UNIT_USER];
    return fmin(user[DPF_ADJ_ADD_REMOVE].l1, user[DPF_ADJ_ZERO_OUT].l1);
}

/* One bound over several blocks. The sum of the blocks' errors is above any norm of them. */
static dpf_joint_norm projected_joint(const dpf_joint_norm *before, const dpf_query *query,
                                      const dpf_sensitivity *blocks, double c, double rounding)
{
    dpf_joint_norm after = *before;
    const double growth = before->within == 1 ? 1 : sqrt(c) * (1 + 0x1p-40);
    double error = 0;
    for (int32_t b = 0; b < query->n_blocks; b++)
        if (before->blocks >> b & 1)
            error += 2 * rounding * largest_message(&blocks[b]) / before->weight[b];
    for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            after.at[unit][a] =
                (1 + rounding) * growth * before->at[unit][a] + (is_whole(unit, a) ? 0 : error);
    return after;
}

static dpf_status sensitivity(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after)
{
    const struct projection *s = self;
    int64_t p;
    if (gram)
        return s->host->fail(s->host, DPF_E_UNSUPPORTED, -1,
                             "a projection has no place for the Gram row of this loss: remove the transform");
    double c;
    dpf_status status = rows(self, rows_in, &p);
    if (status == DPF_OK)
        status = fullest_row(s, rows_in, p, &c);
    if (status != DPF_OK)
        return status;
    const double rounding = c * 0x1p-52;
    for (int32_t i = 0; before && i < before->n; i++) {
        const dpf_joint_norm joint = projected_joint(&before->bounds[i], query, blocks, c, rounding);
        dpf_joint_add(after, &joint);
    }
    for (int32_t b = 0; b < query->n_blocks; b++) {
        const double error = 2 * rounding * largest_message(&blocks[b]);
        for (int32_t unit = 0; unit < DPF_UNIT_ROWS; unit++)
            for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
                dpf_norms *at = &blocks[b].at[unit][a];
                *at = projected(*at, c, rounding, is_whole(unit, a) ? 0 : error);
            }
    }
    return DPF_OK;
}

/* ---- S and its adjoint --------------------------------------------------------------------------- */

static dpf_status check(const dpf_call *call, const dpf_message *in, const dpf_message *out)
{
    if (in->width == out->width && !out->rows && in->values != out->values)
        return DPF_OK;
    return call->host->fail(call->host, DPF_E_INTERNAL, -1,
                            "a projection needs two messages of one width that do not overlap");
}

static dpf_status project(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct projection *s = self;
    const dpf_status status = check(call, in, out);
    if (status != DPF_OK)
        return status;
    for (int64_t r = 0; r < out->n_rows; r++)
        memset(out->values + r * out->stride, 0, (size_t)out->width * sizeof(double));
    for (int64_t r = 0; r < in->n_rows; r++) {
        double sign;
        const int64_t column = in->rows ? in->rows[r] : in->first_row + r;
        double *to = out->values + place_of(s, column, out->n_rows, &sign) * out->stride;
        const double *from = in->values + r * in->stride;
        for (int32_t i = 0; i < in->width; i++)
            to[i] += sign * from[i];
    }
    return DPF_OK;
}

static dpf_status adjoint(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct projection *s = self;
    const dpf_status status = check(call, in, out);
    if (status != DPF_OK)
        return status;
    for (int64_t r = 0; r < out->n_rows; r++) {
        double sign;
        const double *from = in->values + place_of(s, out->first_row + r, in->n_rows, &sign) * in->stride;
        double *to = out->values + r * out->stride;
        for (int32_t i = 0; i < in->width; i++)
            to[i] = sign * from[i];
    }
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_STATE,
    .sensitivity = sensitivity,
    .rows = rows,
    .project = project,
    .adjoint = adjoint,
};

DPF_COMPONENT(
    component, DPF_ROLE_TRANSFORM, functions, .id = "sparse-projection", .version = "1.0.0",
    .summary = "Random projection with one +1 or -1 in each column: fewer rows are released and solved",
    .citation =
        "DPMF-RP, Definition 3.5; Charikar, Chen, Farach-Colton, Finding frequent items in data streams "
        "(ICALP 2002)",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct projection))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sparse-projection", "1.0.0", "Apache-2.0", component)
