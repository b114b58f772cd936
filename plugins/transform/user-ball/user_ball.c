/* SPDX-License-Identifier: Apache-2.0 */
#include "user_ball.h"

#include <math.h>

#include "dpframe/joint.h"

const dpf_enum_value user_ball_norms[2] = {
    {"l2", "Euclidean norm (for Gaussian noise)"},
    {"l1", "sum of absolute values (for Laplace noise, and the Poisson binomial mechanism)"},
};

dpf_status user_ball_new(const dpf_host *host, const dpf_params *values, int32_t exactly, void **self)
{
    const dpf_value *bounds = &values->values[USER_BALL_BLOCK_BOUNDS];

    if (bounds->count > DPF_MAX_BLOCKS) {
        return host->fail(host, DPF_E_CONFIG, USER_BALL_BLOCK_BOUNDS, "there are at most 8 blocks");
    }
    if (bounds->count > 0 && values->values[USER_BALL_BOUND].is_set) {
        return host->fail(host, DPF_E_CONFIG, USER_BALL_BLOCK_BOUNDS,
                          "block-bounds gives each block a bound of its own: leave out bound, which is for "
                          "all blocks together");
    }
    struct user_ball *clip = *self;

    clip->host = host;
    clip->exactly = exactly;
    clip->p = values->values[USER_BALL_NORM].integer == NORM_L1 ? 1 : 2;
    clip->bound = bounds->count > 0 ? 1.0 : values->values[USER_BALL_BOUND].real;
    clip->power = row_power_find(SIMD_KIND_AUTO);
    clip->bounds = bounds;
    return DPF_OK;
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
static dpf_norms ball(const struct user_ball *clip, double r, double n)
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
 * before still holds, and so does the ball; what is lengthened has the ball alone. Against another: twice a
 * contribution.
 */
static void clip_users(const struct user_ball *clip, double r, double n, dpf_norms *at)
{
    const dpf_norms in_ball = ball(clip, r, n);

    if (clip->exactly) {
        at[DPF_ADJ_ADD_REMOVE] = at[DPF_ADJ_ZERO_OUT] = (dpf_norms){INFINITY, INFINITY, INFINITY};
    }
    at[DPF_ADJ_ADD_REMOVE] = both(at[DPF_ADJ_ADD_REMOVE], in_ball);
    at[DPF_ADJ_ZERO_OUT] = both(at[DPF_ADJ_ZERO_OUT], in_ball);
    const dpf_norms one = both(at[DPF_ADJ_ADD_REMOVE], at[DPF_ADJ_ZERO_OUT]);
    const dpf_norms two = {2.0 * one.l1, 2.0 * one.l2, 2.0 * one.linf};
    at[DPF_ADJ_REPLACE] = two;
}

static const int32_t of_records[] = {DPF_ADJ_REPLACE_VALUE, DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE,
                                     DPF_ADJ_ZERO_OUT};
#define N_OF_RECORDS ((int32_t)(sizeof(of_records) / sizeof(of_records[0])))

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
 * together. Two computed clips are off by `error`. What is lengthened is moved by any amount, 2 C at most.
 */
static void one_ball(const struct user_ball *clip, const dpf_message_norms *message, dpf_sensitivity *blocks,
                     dpf_sensitivity *gram, dpf_joint_norms *after)
{
    const uint32_t all = dpf_message_bits(message);
    const double numbers = (double)message->query->width * ((double)message->rows + 1.0);
    const double error = 2.0 * clip->bound * rounding(numbers), growth = clip->p == 1 ? 2.0 : 1.0;
    dpf_joint_norm joint = dpf_joint_new(all, clip->p, clip->p);
    double *user = joint.at[DPF_UNIT_USER], *record = joint.at[DPF_UNIT_RECORD];

    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        joint.weight[b] = 1.0;
    }
    for (int32_t a = 0; a < N_OF_RECORDS; a++) {
        const double change =
            dpf_joint_largest(message, all, joint.weight, clip->p, DPF_UNIT_RECORD, of_records[a]);
        record[of_records[a]] =
            clip->exactly ? 2.0 * clip->bound : fmin(2.0 * clip->bound, growth * change + error);
    }
    user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = clip->bound;
    user[DPF_ADJ_REPLACE] = 2.0 * clip->bound;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(all >> b & 1)) {
            continue;
        }
        const double n = dpf_block_numbers(message, b);
        dpf_sensitivity *block = sensitivity_of(blocks, gram, b);
        clip_users(clip, clip->bound, n, block->at[DPF_UNIT_USER]);
        for (int32_t a = 0; a < N_OF_RECORDS; a++) {
            block->at[DPF_UNIT_RECORD][of_records[a]] = ball(clip, record[of_records[a]], n);
        }
    }
    dpf_joint_add(after, &joint);
}

/*
 * Blocks with bounds of their own: a user's block lies in its ball, a Gram row's in the same as the rows'.
 * How far a record moves its user's common factor is not worked out: the block of one message against that of
 * another, 2 C_b at most.
 */
static void ball_of_each(const struct user_ball *clip, const dpf_message_norms *message,
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
    struct user_ball *clip = self;
    const dpf_message_norms message = {query, rows_in - (gram ? 1 : 0), blocks, gram, before};
    const int64_t n = query->n_blocks;

    if (clip->bounds->count > 0 && clip->bounds->count != n) {
        return clip->host->fail(clip->host, DPF_E_CONFIG, USER_BALL_BLOCK_BOUNDS,
                                "the message has another number of blocks: give a bound for each");
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
    if (!clip->exactly) {
        keep_of_users(before, after);
    }
    return DPF_OK;
}

/* ---- the message ---------------------------------------------------------------------------- */

/*
 * A message with larger numbers has diverged. The limit keeps all powers and quotients below within
 * the normal range of a double, where roundings are relative.
 */
#define LARGEST_NUMBER 1e150
#define SMALLEST_NUMBER 1e-150 /* shorter messages stay as they are: they are in the ball */

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

/* What the norm is taken of: the blocks of the rows, then of the Gram row; or all numbers as one block. */
static int32_t n_parts(const struct user_ball *clip)
{
    return clip->bounds->count > 0 ? clip->n_blocks * (1 + clip->has_gram) : 1;
}

/* Of n numbers; short rows are not worth vectors. */
static double power_of(const struct user_ball *clip, const double *x, int64_t n, double unit)
{
    double sum = 0.0;

    if (n >= 32) {
        return clip->power(x, n, unit, clip->p);
    }
    for (int64_t i = 0; i < n; i++) {
        const double y = unit * x[i];
        sum += clip->p == 1 ? fabs(y) : y * y;
    }
    return sum;
}

/*
 * Adds the p-th powers of the norms of unit * numbers, part by part, row by row: so a message gives the same
 * sums whatever pieces its rows come in. The last row is the Gram row if there is one.
 */
static void add_powers(const struct user_ball *clip, const dpf_message *message, double unit, double *powers)
{
    const int32_t blocks = clip->n_blocks, parts = n_parts(clip);

    for (int64_t r = 0; r < message->n_rows; r++) {
        const double *row = message->values + r * message->stride;
        const int32_t first = parts > blocks && r == message->n_rows - 1 ? blocks : 0;
        if (clip->bounds->count == 0) {
            powers[0] += power_of(clip, row, message->width, unit);
            continue;
        }
        for (int32_t b = 0; b < blocks; b++) {
            powers[first + b] += power_of(clip, row + clip->blocks[b].offset, clip->blocks[b].length, unit);
        }
    }
}

/* The factor that brings a norm of n numbers into the ball of radius `limit`; both times unit. */
static double factor_of(const struct user_ball *clip, double power, double n, double limit)
{
    const double norm = clip->p == 1 ? power : sqrt(power);
    const double bound = limit * (1.0 - rounding(n)); /* infinite for tiny messages: inside */

    if (clip->exactly) {
        return norm > 0.0 ? bound / norm : INFINITY;
    }
    return norm <= bound ? 1.0 : bound / norm;
}

/*
 * The factor for a message of n numbers with these powers: that of the ball of radius C (1 - rounding), so
 * that the exact norm of what results is at most C. It is continuous in the message, as one_ball needs.
 */
static double factor_for(const struct user_ball *clip, const double *powers, double n, double unit)
{
    const int32_t blocks = clip->n_blocks;
    double factor = clip->exactly ? INFINITY : 1.0;

    if (clip->bounds->count == 0) {
        return factor_of(clip, powers[0], n, clip->bound * unit);
    }
    for (int32_t b = 0; b < blocks; b++) {
        const double power = powers[b] + (clip->has_gram ? powers[blocks + b] : 0.0);
        factor = fmin(factor, factor_of(clip, power, n, clip->bounds->reals[b] * unit));
    }
    return factor;
}

/*
 * Whether powers that were taken without a unit are as good as those with one: none overflows, and none has
 * lost numbers below 2^-511, whose squares vanish, unless its largest number is above 2^-200 and they are
 * lost in it. A block with a bound of its own may be 0: it is shorter than any bound.
 */
static int are_plain(const struct user_ball *clip, const double *powers)
{
    int any = 0;

    for (int32_t k = 0; k < n_parts(clip); k++) {
        const int zero = powers[k] == 0.0 && clip->bounds->count > 0;
        if (!zero && !(powers[k] >= 0x1p-300 && powers[k] <= 0x1p300)) {
            return 0;
        }
        any |= !zero;
    }
    return any;
}

static dpf_status is_laid_out(const struct user_ball *clip, const dpf_call *call)
{
    return clip->bounds->count > 0 && !clip->laid_out
               ? call->host->fail(call->host, DPF_E_INTERNAL, USER_BALL_BLOCK_BOUNDS,
                                  "the blocks of the message have not been told")
               : DPF_OK;
}

/* The factor for a whole message. */
static dpf_status whole_factor(const struct user_ball *clip, const dpf_call *call, const dpf_message *in,
                               double *factor)
{
    double powers[2 * DPF_MAX_BLOCKS] = {0};
    const double n = ((double)in->n_rows + in->zero_rows) * in->width;

    add_powers(clip, in, 1.0, powers);
    if (are_plain(clip, powers)) {
        *factor = factor_for(clip, powers, n, 1.0);
        return DPF_OK;
    }
    const double most = largest(in);

    if (most == INFINITY) {
        return call->host->fail(
            call->host, DPF_E_NUMERIC, -1,
            "a user's message is not finite, or beyond 1e150: the training has diverged; lower the "
            "rate of the solvers");
    }
    *factor = 1.0;
    if (most == 0.0 || (clip->exactly && most < SMALLEST_NUMBER)) {
        return DPF_OK;
    }
    for (int32_t k = 0; k < 2 * DPF_MAX_BLOCKS; k++) {
        powers[k] = 0.0;
    }
    const double unit = unit_for(most);

    add_powers(clip, in, unit, powers);
    *factor = factor_for(clip, powers, n, unit);
    return DPF_OK;
}

/* out may be the same message as in, or NULL: then in is changed. */
static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct user_ball *clip = self;
    double *to = out ? out->values : in->values;
    const int64_t to_stride = out ? out->stride : in->stride;
    double factor = 1.0;
    dpf_status status = is_laid_out(clip, call);

    if (status == DPF_OK) {
        status = whole_factor(clip, call, in, &factor);
    }
    if (status != DPF_OK || (factor == 1.0 && to == in->values && to_stride == in->stride)) {
        return status;
    }
    for (int64_t r = 0; r < in->n_rows; r++) {
        for (int32_t i = 0; i < in->width; i++) {
            to[r * to_stride + i] = factor * in->values[r * in->stride + i];
        }
    }
    return DPF_OK;
}

DPF_STATIC_ASSERT(2 * DPF_MAX_BLOCKS <= DPF_MEASURE_NUMBERS, "a power for each part of a message");

static dpf_status measure(void *self, const dpf_call *call, const dpf_message *rows,
                          double numbers[DPF_MEASURE_NUMBERS])
{
    const struct user_ball *clip = self;
    const dpf_status status = is_laid_out(clip, call);

    if (status != DPF_OK || clip->has_gram) {
        return status != DPF_OK ? status : DPF_E_UNSUPPORTED; /* which row is the last? */
    }
    add_powers(clip, rows, 1.0, numbers);
    return DPF_OK;
}

static dpf_status factor_of_rows(void *self, const dpf_call *call, const double numbers[DPF_MEASURE_NUMBERS],
                                 int64_t n_rows, int32_t width, double *out)
{
    const struct user_ball *clip = self;

    (void)call;
    if (clip->has_gram || !are_plain(clip, numbers)) {
        return DPF_E_UNSUPPORTED;
    }
    *out = factor_for(clip, numbers, (double)n_rows * width, 1.0);
    return DPF_OK;
}

const dpf_transform user_ball_functions = {
    .kind = DPF_TRANSFORM_MESSAGE,
    .flags = DPF_TRANSFORM_PER_USER,
    .sensitivity = sensitivity,
    .forward = forward,
    .measure = measure,
    .factor = factor_of_rows,
};
