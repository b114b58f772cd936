/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip_user.c - scales a user's whole message into a ball: m * min(1, C / |m|).
 *
 * The norm runs over all rows and all blocks of the message, each block divided by its weight, so that
 * whatever a user holds, and however many records, it moves the sum by at most C in that norm, and replacing
 * the user by at most 2 C. This is one bound over all blocks together (dpf_joint_norm): a mechanism charges
 * it once, not once for every block.
 *
 * Weights. Noise for one ball is the same for all blocks after division by the weights: sigma_b = z C w_b.
 * Among weights that clip a typical message alike, with m_b its norm in block b and n_b the block's numbers,
 * the least sum of noise variances, sum n_b w_b^2 with sum (m_b / w_b)^2 fixed, is at w_b proportional to
 * sqrt(m_b) / n_b^(1/4) (Lagrange). Weights are public constants.
 *
 * With a bound for each block it is |m| = max_b |m_b| / C_b with C = 1: one factor for the whole message,
 * which weights the user's records alike, and every block within its own bound, a Gram row's block together
 * with the rows' block of that place.
 */
#include <math.h>

#include "dpframe/dpframe.h"
#include "dpframe/joint.h"

enum { P_NORM, P_BOUND, P_BLOCK_BOUNDS, P_BLOCK_WEIGHTS, P_COUNT };
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
    [P_BLOCK_WEIGHTS] = DPF_PARAM_LIST_F(
        "block-weights", DPF_TYPE_REAL_LIST, "", 1e-100, 1e100, DPF_PARAM_PRIVACY, "",
        "What blocks are divided by before the norm is taken: a number for each block of a row "
        "in their order and, if twice as many, for each of the Gram row. A larger weight lets "
        "more of a block through and gives it more noise. Default: 1 for all."),
};

struct clip_user {
    const dpf_host *host;
    int32_t p;               /* of the norm: 2 or 1 */
    double bound;            /* of the whole message; 1 where blocks have bounds of their own */
    const dpf_value *bounds; /* of blocks; count 0: one bound for all */
    const dpf_value *weights;
    /* What sensitivity has told; until then the instance may change. */
    int32_t laid_out;
    int32_t n_blocks;
    int32_t has_gram; /* 1: the last row of a message is a Gram row */
    dpf_block blocks[DPF_MAX_BLOCKS];
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    const dpf_value *bounds = &values->values[P_BLOCK_BOUNDS];
    const dpf_value *weights = &values->values[P_BLOCK_WEIGHTS];

    if (bounds->count > DPF_MAX_BLOCKS || weights->count > 2 * DPF_MAX_BLOCKS) {
        return host->fail(host, DPF_E_CONFIG,
                          bounds->count > DPF_MAX_BLOCKS ? P_BLOCK_BOUNDS : P_BLOCK_WEIGHTS,
                          "there are at most 8 blocks");
    }
    if (bounds->count > 0 && (values->values[P_BOUND].is_set || weights->count > 0)) {
        return host->fail(
            host, DPF_E_CONFIG, P_BLOCK_BOUNDS,
            "block-bounds gives each block a bound of its own: leave out bound and block-weights, "
            "which are for one bound over all blocks");
    }
    struct clip_user *clip = dpf_memory(host)->allocate(host, sizeof(*clip));

    if (!clip) {
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    }
    clip->host = host;
    clip->p = values->values[P_NORM].integer == NORM_L1 ? 1 : 2;
    clip->bound = bounds->count > 0 ? 1.0 : values->values[P_BOUND].real;
    clip->bounds = bounds;
    clip->weights = weights;
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
    const dpf_norms norms_of_ball = {clip->p == 1 ? r : sqrt(n) * r, r, r};

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
static void clip_users(const struct clip_user *clip, double r, double n, dpf_norms *at)
{
    const dpf_norms in_ball = ball(clip, r, n);

    at[DPF_ADJ_ADD_REMOVE] = both(at[DPF_ADJ_ADD_REMOVE], in_ball);
    at[DPF_ADJ_ZERO_OUT] = both(at[DPF_ADJ_ZERO_OUT], in_ball);
    const dpf_norms one = both(at[DPF_ADJ_ADD_REMOVE], at[DPF_ADJ_ZERO_OUT]);
    const dpf_norms two = {2.0 * one.l1, 2.0 * one.l2, 2.0 * one.linf};
    at[DPF_ADJ_REPLACE] = two;
}

static const int32_t of_records[] = {DPF_ADJ_REPLACE_VALUE, DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE,
                                     DPF_ADJ_ZERO_OUT};
#define N_OF_RECORDS ((int32_t)(sizeof(of_records) / sizeof(of_records[0])))

static double weight_of(const struct clip_user *clip, int32_t bit)
{
    const int32_t b = bit < DPF_GRAM_BIT ? bit : bit - DPF_GRAM_BIT;
    const int64_t count = clip->weights->count;

    if (count == 0) {
        return 1.0;
    }
    return clip->weights->reals[count == clip->n_blocks || bit < DPF_GRAM_BIT ? b : clip->n_blocks + b];
}

static dpf_sensitivity *sensitivity_of(dpf_sensitivity *blocks, dpf_sensitivity *gram, int32_t bit)
{
    return bit < DPF_GRAM_BIT ? &blocks[bit] : &gram[bit - DPF_GRAM_BIT];
}

/* What was known of a user's blocks together still holds of the clipped ones. */
static void keep_of_users(const dpf_joint_norms *before, dpf_joint_norms *after)
{
    for (int32_t i = 0; before && i < before->n; i++) {
        const double *was = before->bounds[i].at[DPF_UNIT_USER];
        dpf_joint_norm kept =
            dpf_joint_new(before->bounds[i].blocks, before->bounds[i].within, before->bounds[i].across);
        for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
            kept.weight[b] = before->bounds[i].weight[b];
        }
        kept.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = was[DPF_ADJ_ADD_REMOVE];
        kept.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = was[DPF_ADJ_ZERO_OUT];
        kept.at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = 2.0 * fmin(was[DPF_ADJ_ADD_REMOVE], was[DPF_ADJ_ZERO_OUT]);
        dpf_joint_add(after, &kept);
    }
}

/*
 * One ball over the message. Changing a record changes one user's message from one point of it to another: 2
 * C at most. An earlier statement does not simply survive, since a different norm scales every coordinate
 * differently. In the clip's own norm the change grows by a factor of at most `growth`: 1 for l2, where the
 * clip is the projection onto a convex set; 2 for l1, as for any radial retraction (Dunkl and Williams, Amer.
 * Math. Monthly 71, 1964). It runs over the whole message, so it starts from the change in all blocks
 * together. Two computed clips are off by `error`.
 */
static void one_ball(const struct clip_user *clip, const dpf_message_norms *message, dpf_sensitivity *blocks,
                     dpf_sensitivity *gram, dpf_joint_norms *after)
{
    const uint32_t all = dpf_message_bits(message);
    const double numbers = (double)message->query->width * ((double)message->rows + 1.0);
    const double error = 2.0 * clip->bound * rounding(numbers), growth = clip->p == 1 ? 2.0 : 1.0;
    dpf_joint_norm joint = dpf_joint_new(all, clip->p, clip->p);
    double *user = joint.at[DPF_UNIT_USER], *record = joint.at[DPF_UNIT_RECORD];

    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        joint.weight[b] = all >> b & 1 ? weight_of(clip, b) : 1.0;
    }
    for (int32_t a = 0; a < N_OF_RECORDS; a++) {
        const double change =
            dpf_joint_largest(message, all, joint.weight, clip->p, DPF_UNIT_RECORD, of_records[a]);
        record[of_records[a]] = fmin(2.0 * clip->bound, growth * change + error);
    }
    user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = clip->bound;
    user[DPF_ADJ_REPLACE] = 2.0 * clip->bound;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(all >> b & 1)) {
            continue;
        }
        const double n = dpf_block_numbers(message, b), w = joint.weight[b];
        dpf_sensitivity *block = sensitivity_of(blocks, gram, b);
        clip_users(clip, w * clip->bound, n, block->at[DPF_UNIT_USER]);
        for (int32_t a = 0; a < N_OF_RECORDS; a++) {
            block->at[DPF_UNIT_RECORD][of_records[a]] = ball(clip, w * record[of_records[a]], n);
        }
    }
    dpf_joint_add(after, &joint);
}

/*
 * Blocks with bounds of their own: a user's block lies in its ball, a Gram row's in the same as the rows'.
 * How far a record moves its user's common factor is not worked out: the block of one message against that of
 * another, 2 C_b at most.
 */
static void ball_of_each(const struct clip_user *clip, const dpf_message_norms *message,
                         dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *after)
{
    const uint32_t all = dpf_message_bits(message);

    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(all >> b & 1)) {
            continue;
        }
        const double n = dpf_block_numbers(message, b), c = clip->bounds->reals[b % DPF_GRAM_BIT];
        dpf_sensitivity *block = sensitivity_of(blocks, gram, b);
        dpf_joint_norm joint =
            dpf_joint_new(UINT32_C(1) << b | UINT32_C(1) << (b + DPF_GRAM_BIT) % 32, clip->p, clip->p);
        clip_users(clip, c, n, block->at[DPF_UNIT_USER]);
        joint.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = joint.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = c;
        joint.at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = 2.0 * c;
        for (int32_t a = 0; a < N_OF_RECORDS; a++) {
            block->at[DPF_UNIT_RECORD][of_records[a]] = ball(clip, 2.0 * c, n);
            joint.at[DPF_UNIT_RECORD][of_records[a]] = 2.0 * c;
        }
        if (gram && b < DPF_GRAM_BIT) {
            dpf_joint_add(after, &joint);
        }
    }
}

/* The blocks' places are kept for the run; until then the instance may change. */
static dpf_status sensitivity(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after)
{
    struct clip_user *clip = self;
    const dpf_message_norms message = {query, rows_in - (gram ? 1 : 0), blocks, gram, before};
    const int64_t n = query->n_blocks, weights = clip->weights->count;

    if (clip->bounds->count > 0 && clip->bounds->count != n) {
        return clip->host->fail(clip->host, DPF_E_CONFIG, P_BLOCK_BOUNDS,
                                "the message has another number of blocks: give a bound for each");
    }
    if (weights > 0 && weights != n && !(gram && weights == 2 * n)) {
        return clip->host->fail(
            clip->host, DPF_E_CONFIG, P_BLOCK_WEIGHTS,
            "the message has another number of blocks: give a weight for each block of a row, "
            "and then, if there is a Gram row, for each of its blocks");
    }
    clip->laid_out = 1;
    clip->n_blocks = (int32_t)n;
    clip->has_gram = gram != NULL;
    for (int32_t b = 0; b < n; b++) {
        clip->blocks[b] = query->blocks[b];
    }
    if (clip->bounds->count > 0) {
        ball_of_each(clip, &message, blocks, gram, after);
    } else {
        one_ball(clip, &message, blocks, gram, after);
    }
    keep_of_users(before, after);
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

/* The p-th power of the norm of unit * numbers: columns of rows r .. last. Four sums: fewer roundings and no
   wait for each addition. */
static double powers(const struct clip_user *clip, const dpf_message *message, int64_t r, int64_t last,
                     int32_t first, int32_t count, double unit)
{
    double lane[4] = {0};

    for (; r < last; r++) {
        const double *row = message->values + r * message->stride + first;
        for (int32_t i = 0; i < count; i++) {
            const double x = unit * row[i];
            lane[i % 4] += clip->p == 1 ? fabs(x) : x * x;
        }
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* The factor that brings a norm into the ball of radius `limit`; both times unit. */
static double factor_of(const struct clip_user *clip, const dpf_message *message, double power, double limit)
{
    const double norm = clip->p == 1 ? power : sqrt(power);
    const double n = (double)message->n_rows * message->width;
    const double bound = limit * (1.0 - rounding(n)); /* infinite for tiny messages: inside */

    return norm <= bound ? 1.0 : bound / norm;
}

/* The power of the norm of the message, its blocks divided by their weights: each block of the rows, then of
   the Gram row. */
static double weighted_power(const struct clip_user *clip, const dpf_message *message, double unit)
{
    const int64_t rows = message->n_rows - clip->has_gram;
    double sum = 0.0;

    for (int32_t k = 0; k < clip->n_blocks * (1 + clip->has_gram); k++) {
        const int32_t b = k % clip->n_blocks, gram = k >= clip->n_blocks;
        const double w = weight_of(clip, b + (gram ? DPF_GRAM_BIT : 0));
        const double power = powers(clip, message, gram ? rows : 0, gram ? rows + 1 : rows,
                                    clip->blocks[b].offset, clip->blocks[b].length, unit);
        sum += clip->p == 1 ? power / w : power / w / w;
    }
    return sum;
}

/*
 * The factor for the message: that of the ball of radius C (1 - rounding), so that the exact norm of
 * what results is at most C. It is continuous in the message, as one_ball needs.
 */
static double factor_for(const struct clip_user *clip, const dpf_message *message, double most)
{
    if (most == 0.0) {
        return 1.0;
    }
    const double unit = unit_for(most);
    double factor = 1.0;

    if (clip->weights->count > 0) {
        return factor_of(clip, message, weighted_power(clip, message, unit), clip->bound * unit);
    }
    if (clip->bounds->count == 0) {
        return factor_of(clip, message, powers(clip, message, 0, message->n_rows, 0, message->width, unit),
                         clip->bound * unit);
    }
    for (int32_t b = 0; b < clip->n_blocks; b++) {
        const double power =
            powers(clip, message, 0, message->n_rows, clip->blocks[b].offset, clip->blocks[b].length, unit);
        factor = fmin(factor, factor_of(clip, message, power, clip->bounds->reals[b] * unit));
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

    if ((clip->bounds->count > 0 || clip->weights->count > 0) && !clip->laid_out) {
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
