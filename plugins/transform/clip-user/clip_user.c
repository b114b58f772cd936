/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip_user.c - scales a user's whole message into a ball: m * min(1, C / |m|).
 *
 * The norm runs over all rows and all blocks of the message, so that whatever a user holds, and
 * however many records, it moves the sum by at most C, and replacing the user by at most 2 C.
 *
 * With a bound for each block it is |m| = max_b |m_b| / C_b with C = 1: one factor for the whole message,
 * which weights the user's records alike, and every block within its own bound. Mechanisms give each block
 * noise for the block's sensitivity, so where blocks differ in size (a quadratic's A and b) that is less
 * noise.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_NORM, P_BOUND, P_BLOCK_BOUNDS, P_COUNT };
enum { NORM_L2, NORM_L1 };

static const dpf_enum_value norms[] = {
    {"l2", "Euclidean norm (for Gaussian noise)"},
    {"l1", "sum of absolute values (for Laplace noise, and the Poisson binomial mechanism)"},
};

static const dpf_param params[P_COUNT] = {
    [P_NORM] = DPF_PARAM_ENUM_F("norm", NORM_L2, norms, DPF_PARAM_PRIVACY, "The norm that is bounded."),
    [P_BOUND] = DPF_PARAM_REAL_F("bound", 1.0, 1e-100, 1e100, DPF_PARAM_PRIVACY, "",
                                 "C, the largest norm of a user's whole message."),
    [P_BLOCK_BOUNDS] =
        DPF_PARAM_LIST_F("block-bounds", DPF_TYPE_REAL_LIST, "", 1e-100, 1e100, DPF_PARAM_PRIVACY, "",
                         "In place of bound: the largest norms of the message's blocks, in their order (of a "
                         "quadratic: its matrix, its linear part, and the count where there is one)."),
};

struct clip_user {
    const dpf_host *host;
    int64_t norm;
    double bound;         /* of the whole message; 1 where blocks have bounds of their own */
    int32_t n_bounds;     /* 0: one bound for all */
    const double *bounds; /* of blocks */
    int32_t laid_out;     /* 1 once sensitivity has told where blocks are */
    dpf_block blocks[DPF_MAX_BLOCKS];
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_value *bounds = &values->values[P_BLOCK_BOUNDS];

    if (bounds->count > DPF_MAX_BLOCKS) {
        return host->fail(host, DPF_E_CONFIG, P_BLOCK_BOUNDS, "there are at most 8 blocks");
    }
    if (bounds->count > 0 && values->values[P_BOUND].is_set) {
        return host->fail(host, DPF_E_CONFIG, P_BLOCK_BOUNDS,
                          "bound and block-bounds both bound the message: give one of them");
    }
    struct clip_user *clip = dpf_memory(host)->allocate(host, sizeof(*clip));

    if (!clip) {
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    }
    clip->host = host;
    clip->norm = values->values[P_NORM].integer;
    clip->bound = values->values[P_BOUND].real;
    clip->n_bounds = 0;
    clip->laid_out = 0;
    clip->bounds = values->values[P_BLOCK_BOUNDS].reals;
    if (values->values[P_BLOCK_BOUNDS].count > 0) {
        clip->n_bounds = (int32_t)values->values[P_BLOCK_BOUNDS].count;
        clip->bound = 1.0;
    }
    *self = clip;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct clip_user *clip = self;

    dpf_memory(clip->host)->release(clip->host, clip);
}

/*
 * How far roundings move a norm of n numbers, relatively: with u = 2^-53 the computed norm is off by
 * (n + 2) u at most, factor, product and quotient by 4 u. This is twice that. Squares that vanish are
 * relative to the largest number (see unit_for), so they are lost in it.
 */
static double rounding(double n)
{
    return (n + 8.0) * 0x1p-52;
}

/* ---- sensitivity ---------------------------------------------------------------------------- */

/*
 * Norms of n numbers, given that the clip's norm of them is at most r.
 * |y|_inf <= |y|_2 <= |y|_1 <= sqrt(n) |y|_2
 */
static dpf_norms ball(const struct clip_user *clip, double r, double n)
{
    const dpf_norms norms_of_ball = {clip->norm == NORM_L1 ? r : sqrt(n) * r, r, r};

    return norms_of_ball;
}

/* The smaller of two statements; one that is not made (NaN) does not count, as fmin has it. */
static dpf_norms both(dpf_norms a, dpf_norms b)
{
    const dpf_norms out = {fmin(a.l1, b.l1), fmin(a.l2, b.l2), fmin(a.linf, b.linf)};

    return out;
}

/*
 * A user's contribution against none: scaling by a factor in [0, 1] raises no norm, so what was proved
 * before still holds, and so does the ball. Against another: twice a contribution.
 */
static void clip_users(const struct clip_user *clip, double n, dpf_norms *at)
{
    const dpf_norms in_ball = ball(clip, clip->bound, n);

    at[DPF_ADJ_ADD_REMOVE] = both(at[DPF_ADJ_ADD_REMOVE], in_ball);
    at[DPF_ADJ_ZERO_OUT] = both(at[DPF_ADJ_ZERO_OUT], in_ball);
    const dpf_norms one = both(at[DPF_ADJ_ADD_REMOVE], at[DPF_ADJ_ZERO_OUT]);
    const dpf_norms two = {2.0 * one.l1, 2.0 * one.l2, 2.0 * one.linf};
    at[DPF_ADJ_REPLACE] = two;
}

/*
 * Changing a record changes one user's message from one point of the ball to another: 2 C at most. An
 * earlier statement does not simply survive, since a different norm scales every coordinate
 * differently. In the clip's own norm the change grows by a factor of at most `growth`: 1 for l2, where
 * the clip is the projection onto a convex set; 2 for l1, as for any radial retraction (Dunkl and
 * Williams, Amer. Math. Monthly 71, 1964). It runs over the whole message, so it starts from `joint`,
 * the change in all blocks together; other norms follow from it. Two computed clips are off by `error`.
 */
static void clip_records(const struct clip_user *clip, double n, double joint, double error, dpf_norms *at)
{
    const double growth = clip->norm == NORM_L1 ? 2.0 : 1.0;

    *at = ball(clip, fmin(2.0 * clip->bound, growth * joint + error), n);
}

static const int32_t of_records[] = {DPF_ADJ_REPLACE_VALUE, DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE,
                                     DPF_ADJ_ZERO_OUT};
#define N_OF_RECORDS ((int32_t)(sizeof(of_records) / sizeof(of_records[0])))

/* The change of the whole message in the clip's norm; NaN if a block makes no statement. */
static double joint_change(const struct clip_user *clip, const dpf_query *query,
                           const dpf_sensitivity *blocks, int32_t adjacency)
{
    double sum = 0.0;

    for (int32_t b = 0; b < query->n_blocks; b++) {
        const dpf_norms *at = &blocks[b].at[DPF_UNIT_RECORD][adjacency];
        sum += clip->norm == NORM_L1 ? at->l1 : at->l2 * at->l2;
    }
    return clip->norm == NORM_L1 ? sum : sqrt(sum);
}

/*
 * The blocks of a row. With a Gram row, which is the message's last and lies within the same bounds, the
 * query may have them twice, at the same places. Twice as many blocks at places of their own are a row's, and
 * need a bound each.
 */
static int32_t blocks_of_row(const dpf_query *query)
{
    const int32_t n = query->n_blocks, half = n / 2;
    int32_t twice = query->has_gram && n > 0 && n % 2 == 0;

    for (int32_t b = 0; twice && b < half; b++) {
        twice = query->blocks[b].offset == query->blocks[half + b].offset &&
                query->blocks[b].length == query->blocks[half + b].length;
    }
    return twice ? half : n;
}

/*
 * Blocks with bounds of their own: a user's block lies in its ball. How far a record moves its user's common
 * factor is not worked out: the block of one message against that of another, 2 C_b at most.
 */
static dpf_status sensitivity_by_block(struct clip_user *clip, const dpf_query *query, int64_t rows_in,
                                       dpf_sensitivity *blocks)
{
    const int32_t n_bounds = clip->n_bounds;

    if (blocks_of_row(query) != n_bounds) {
        return clip->host->fail(clip->host, DPF_E_CONFIG, P_BLOCK_BOUNDS,
                                "the message has another number of blocks: give a bound for each");
    }
    clip->laid_out = 1;
    for (int32_t b = 0; b < query->n_blocks; b++) {
        struct clip_user of_block = *clip;
        const double n = (double)query->blocks[b].length * (double)rows_in;
        of_block.bound = clip->bounds[b % n_bounds];
        if (b < n_bounds) {
            clip->blocks[b] = query->blocks[b];
        }
        clip_users(&of_block, n, blocks[b].at[DPF_UNIT_USER]);
        for (int32_t a = 0; a < N_OF_RECORDS; a++) {
            blocks[b].at[DPF_UNIT_RECORD][of_records[a]] = ball(clip, 2.0 * of_block.bound, n);
        }
    }
    return DPF_OK;
}

/* The blocks' places are kept for the run; until then the instance may change. */
static dpf_status sensitivity(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks)
{
    struct clip_user *clip = self;
    const double error = 2.0 * clip->bound * rounding((double)query->width * (double)rows_in);
    double joint[DPF_N_ADJACENCIES];

    if (clip->n_bounds > 0) {
        return sensitivity_by_block(clip, query, rows_in, blocks);
    }
    for (int32_t a = 0; a < N_OF_RECORDS; a++) {
        joint[a] = joint_change(clip, query, blocks, of_records[a]);
    }
    for (int32_t b = 0; b < query->n_blocks; b++) {
        const double n = (double)query->blocks[b].length * (double)rows_in;
        clip_users(clip, n, blocks[b].at[DPF_UNIT_USER]);
        for (int32_t a = 0; a < N_OF_RECORDS; a++) {
            clip_records(clip, n, joint[a], error, &blocks[b].at[DPF_UNIT_RECORD][of_records[a]]);
        }
    }
    return DPF_OK;
}

/* ---- the message ---------------------------------------------------------------------------- */

/*
 * A message with larger numbers has diverged. The limit keeps all powers and quotients below within
 * the normal range of a double, where roundings are relative.
 */
#define LARGEST_NUMBER 1e150

/* The largest absolute value, or infinity if one is NaN or above the limit. */
static double largest(const dpf_message *message)
{
    double most = 0.0;
    int bad = 0;

    for (int64_t r = 0; r < message->n_rows; r++) {
        const double *row = message->values + r * message->stride;
        for (int32_t i = 0; i < message->width; i++) {
            const double x = fabs(row[i]);
            bad |= !(x <= LARGEST_NUMBER);
            most = x > most ? x : most;
        }
    }
    return bad ? INFINITY : most;
}

/* A power of two that brings numbers up to `most` near 1, so that squares neither overflow nor vanish. */
static double unit_for(double most)
{
    int exponent;

    frexp(most, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* The norm of unit * columns of the message. Four sums: fewer roundings and no wait for each addition. */
static double scaled_norm(const struct clip_user *clip, const dpf_message *message, int32_t first,
                          int32_t count, double unit)
{
    double lane[4] = {0};

    for (int64_t r = 0; r < message->n_rows; r++) {
        const double *row = message->values + r * message->stride + first;
        for (int32_t i = 0; i < count; i++) {
            const double x = unit * row[i];
            lane[i % 4] += clip->norm == NORM_L1 ? fabs(x) : x * x;
        }
    }
    const double sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    return clip->norm == NORM_L1 ? sum : sqrt(sum);
}

/* The factor that brings these columns into the ball of radius `limit`. */
static double columns_factor(const struct clip_user *clip, const dpf_message *message, int32_t first,
                             int32_t count, double limit, double unit)
{
    const double norm = scaled_norm(clip, message, first, count, unit);
    const double n = (double)message->n_rows * message->width;
    const double bound = limit * unit * (1.0 - rounding(n)); /* infinite for tiny messages: inside */

    return norm <= bound ? 1.0 : bound / norm;
}

/*
 * The factor for the message: that of the ball of radius C (1 - rounding), so that the exact norm of
 * what results is at most C. It is continuous in the message, as clip_records needs.
 */
static double factor_for(const struct clip_user *clip, const dpf_message *message, double most)
{
    if (most == 0.0) {
        return 1.0;
    }
    const double unit = unit_for(most);
    double factor = 1.0;

    if (clip->n_bounds == 0) {
        return columns_factor(clip, message, 0, message->width, clip->bound, unit);
    }
    for (int32_t b = 0; b < clip->n_bounds; b++) {
        factor = fmin(factor, columns_factor(clip, message, clip->blocks[b].offset, clip->blocks[b].length,
                                             clip->bounds[b], unit));
    }
    return factor;
}

/* out may be the same message as in, or NULL: then in is changed. */
static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct clip_user *clip = self;
    double *to = out ? out->values : in->values;
    const int64_t to_stride = out ? out->stride : in->stride;
    const double most = largest(in);

    if (clip->n_bounds > 0 && !clip->laid_out) {
        return call->host->fail(call->host, DPF_E_INTERNAL, P_BLOCK_BOUNDS,
                                "the blocks of the message have not been told");
    }
    if (most == INFINITY) {
        return call->host->fail(
            call->host, DPF_E_NUMERIC, -1,
            "a user's message is not finite, or beyond 1e150: the training has diverged; lower the "
            "rate of the solvers");
    }
    const double factor = factor_for(clip, in, most);
    if (factor == 1.0 && to == in->values && to_stride == in->stride) {
        return DPF_OK;
    }
    for (int64_t r = 0; r < in->n_rows; r++) {
        for (int32_t i = 0; i < in->width; i++) {
            to[r * to_stride + i] = factor * in->values[r * in->stride + i];
        }
    }
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_MESSAGE,
    .flags = DPF_TRANSFORM_PER_USER,
    .sensitivity = sensitivity,
    .forward = forward,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_TRANSFORM,
    .id = "clip-user",
    .version = "1.0.0",
    .summary = "Clips a user's whole message to a norm, which bounds what any user can change",
    .citation = "McMahan et al., Learning differentially private recurrent language models (ICLR 2018), flat "
                "clipping",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = create,
    .destroy = destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.clip-user", "1.0.0", "Apache-2.0", component)
