/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sensitivities. A user comes or goes; everything is in integers, so grids and rounding are included.
 *
 * Counts. A user with n items adds a = floor(2^b / sqrt(n)) to each of them: n a^2 <= 2^2b, an L2 norm of 2^b
 * at most, which is 1 in units of the grid 2^-b. Two users' parts have no negative numbers, so their inner
 * product is not below 0 and replacing one by the other moves the sum by sqrt(2) at most.
 *
 * Gram. A user has a row y of integers of either sign (centred_row.h) with
 *     f(y) = (sum_i y_i^2)^2 - (1 - t^2) sum_i y_i^4 <= 2^4b,    t = 3/10,
 * and adds y_i y_j to G_ij, i <= j. Noise of scale s goes on G_ij, i < j, and of scale T >= sqrt(2) s / t on G_ii.
 * Measured in the noise of its coordinate, the user's part has the squared norm
 *     sum_i y_i^4 / T^2 + sum_{i<j} y_i^2 y_j^2 / s^2 <= (t^2 sum_i y_i^4 + 2 sum_{i<j} y_i^2 y_j^2) / (2 s^2)
 *                                                       = f(y) / (2 s^2) <= 2^4b / (2 s^2).
 * So it is a Gaussian mechanism of scale s with an L2 sensitivity of 2^2b / sqrt(2), in units of the grid
 * 2^-2b: 1/sqrt(2). t < 1 spends less of it on the diagonal, which the counts know nearly. f rises in each |y_i|:
 * its derivative in y_i^2 is 2 (sum_j y_j^2 - (1 - t^2) y_i^2) >= 0. So numbers that are rounded toward zero stay
 * within the bound, and centred_row.c takes steps toward zero until f, in integers, is within it.
 * The event of one scale s stands for both. Renyi divergences of discrete Gaussians are at most
 * alpha v^2 / (2 s^2) in each coordinate (Canonne, Kamath, Steinke, arXiv 2004.00010) and add up. Dominating
 * pairs: K(s) v of accountant pld's integer_noise.h, where K(s) s falls in s, hence K(T) <= K(s) s / T.
 * Replacing y by y': <y y', y' y''> may be negative, as (y y')^2 - (1 - t^2) sum y_i^2 y'_i^2 may. So the two parts'
 * norms add up, and the sensitivity is twice as large: sqrt(2).
 * Nothing here depends on q and s of centred_row.h, which the released counts decide.
 *
 * In shares (noise_share.h) both scales are those of what t users add, s and T >= sqrt(2) s / t again.
 *
 * Projected. A user adds y_i w_k, with integer rows y and w of norms 2^b at most (y centred, with t = 1: f(y) is
 * |y|^4): 2^2b, or 1 in units of the grid. w is computed from the user's records and from what is public or released before. Replacing: 2.
 *
 * Tail. The same, where y is over the items without a column, not centred, and w is the user's row over those with one,
 * along directions that follow from the earlier releases. Noise and norms are fixed before, so the releases
 * compose although each is chosen by the ones before it.
 *
 * Weights of records, by item or value, enter a row before it is scaled to norm 1: all bounds hold for any.
 */
#include "gram_plan.h"

#include <math.h>
#include <string.h>

#include "noise_share.h"

#define MOST_STEPS                                                                                           \
    0x1p24 /* of the host's discrete Gaussian; the diagonal of pairs has sqrt(2) / .3 times the rest */
#define LEAST_STEPS 64 /* of noise, so that grids do not matter */
#define LEAST_BITS 5   /* below, rounding leaves nothing of a user's row */
#define COUNT_BITS 20
#define ROW_BITS 12
#define LARGEST_VALUE 1e9
#define LOWEST_WEIGHT 0.35        /* of a record with the lowest value, by rule */
#define LEAST_REACH 2500.0        /* of the full Gram, where features tell where to look instead; and */
#define LEAST_REACH_OF_ITEMS 0.75 /* for each item, in small catalogues */
/* What is kept of rows along what all users share, by rule, and from which reach on. Tuned on MovieLens 1M (.35, .4)
   and on MovieLens 100K, Last.fm, FilmTrust and Amazon (.6 and the reaches). */
#define KEPT 0.35
#define KEPT_BELOW 0.6
#define KEPT_PROJECTED 0.4
#define REACH_OF_KEPT 1000.0
#define REACH_OF_KEPT_BELOW 250.0
#define REACH_OF_ALL 50000.0 /* hardly any noise, and nothing to save */
#define HISTORY_OF_KEPT 10.0 /* records of a usual user, by the released counts */

/* ---- rules ----------------------------------------------------------------------------------------------
 */

static double between(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* From a to b as reach goes from `from` to `to`, in logarithms. */
static double slide(double reach, double from, double to, double a, double b)
{
    return a + (b - a) * between(log(reach / from) / log(to / from), 0.0, 1.0);
}

static void follow_rules(const struct gram_options *o, const dpf_recommender_setup *setup,
                         struct gram_plan *plan)
{
    const double reach = plan->reach;
    const double least = fmin(LEAST_REACH, LEAST_REACH_OF_ITEMS * (double)setup->n_items);
    plan->projected = plan->noisy && (o->form == FORM_AUTO ? setup->item_features && reach < least
                                                           : o->form == FORM_PROJECTED);
    const double items = (plan->projected ? 12.0 : 6.5) * sqrt(reach);
    plan->items = o->items ? o->items : (int64_t)between(items, 50.0, GRAM_MOST_ITEMS);
    if (plan->items > setup->n_items)
        plan->items = setup->n_items;
    plan->count_share = o->count_share > 0.0 ? o->count_share
                        : reach < 1000.0     ? slide(reach, 200.0, 1000.0, 0.4, 0.1)
                                             : slide(reach, 1000.0, 4000.0, 0.1, 0.05);
    plan->tail = !plan->projected && o->tail_share != 0.0 && plan->items < setup->n_items;
    plan->tail_share = !plan->tail           ? 0.0
                       : o->tail_share > 0.0 ? o->tail_share
                                             : slide(reach, 4000.0, 12000.0, 0.08, 0.05);
    plan->weight_exponent = o->weight_exponent >= 0.0 ? o->weight_exponent : 0.2;
    plan->weight_offset = o->weight_offset;
    plan->ridge = o->ridge >= 0.0 ? o->ridge : plan->projected ? 1.5 : slide(reach, 1000.0, 4000.0, 1.5, 0.5);
    plan->diagonal = o->diagonal;
    plan->discount = o->discount;
    plan->rescale = o->rescale >= 0.0 ? o->rescale
                    : plan->projected ? 0.0
                                      : slide(reach, 1000.0, 4000.0, 0.0, 0.5);
}

/* Values without a declared range are not read. */
static struct value_weights choose_values(const struct gram_options *o, const dpf_recommender_setup *setup)
{
    const int ranged = fabs(setup->value_lo) < LARGEST_VALUE && fabs(setup->value_hi) < LARGEST_VALUE;
    return (struct value_weights){
        .lo = ranged ? (float)setup->value_lo : 0.0F,
        .hi = ranged ? (float)setup->value_hi : 0.0F,
        .lowest = (float)(o->lowest_weight >= 0.0 ? o->lowest_weight : LOWEST_WEIGHT),
    };
}

double gram_plan_kept(const struct gram_plan *plan, double usual_history)
{
    if (!plan->noisy ||
        (!plan->projected && (plan->reach < REACH_OF_KEPT_BELOW || plan->reach > REACH_OF_ALL)))
        return 1.0;
    if (plan->projected)
        return KEPT_PROJECTED;
    return plan->reach < REACH_OF_KEPT || usual_history < HISTORY_OF_KEPT ? KEPT_BELOW : KEPT;
}

/* ---- noise ----------------------------------------------------------------------------------------------
 */

/* The finest grid on which noise of that standard deviation can be drawn. Bits are those of a row; a sum of
   products of two rows has twice as many. */
static const char *choose_noise(double sigma, int32_t bits, int32_t rows, double most, struct gram_noise *out)
{
    for (; bits >= LEAST_BITS; bits--) {
        const double steps = ceil(ldexp(sigma, rows * bits) * (1.0 + 1e-12));
        if (steps > most)
            continue;
        if (steps < LEAST_STEPS)
            return "so little noise does not reach over the grid: lower the total epsilon";
        *out = (struct gram_noise){
            .bits = bits, .steps = (uint64_t)steps, .scale = steps, .grid = ldexp(1.0, -rows * bits)};
        return NULL;
    }
    return "the noise is larger than any sum of records: raise epsilon, or lower noise-multiplier";
}

/* The least integer T with t^2 T^2 >= 2 s^2, t^2 = 1 - GRAM_SPARED / 100. */
static uint64_t scale_of_diagonal(uint64_t s)
{
    const uint64_t hundredths = 100 - GRAM_SPARED;
    uint64_t t = (uint64_t)(sqrt(200.0 / (double)hundredths) * (double)s * (1.0 - 0x1p-40));
    while (hundredths * t * t < 200 * s * s)
        t++;
    return t;
}

/* Shares, those of `shares` of n users making up all of the noise. All n are expected to send. */
static const char *divide(int64_t shares, int64_t n, struct gram_noise *noise)
{
    noise->share = noise_share_of(noise->steps, shares);
    noise->share_diag = noise->steps_diag ? scale_of_diagonal(noise->share) : 0;
    noise->scale = noise_share_sum(noise->share, shares);
    noise->steps = (uint64_t)noise_share_sum(noise->share, n);
    noise->steps_diag = (uint64_t)noise_share_sum(noise->share_diag, n);
    return noise->share ? NULL : NOISE_SHARE_TOO_FEW;
}

static const char *choose_second(double sigma, struct gram_plan *plan)
{
    const char *why = plan->projected ? choose_noise(sigma, ROW_BITS, 2, MOST_STEPS, &plan->second)
                                      : choose_noise(sigma * 0.70710678118654757, ROW_BITS, 2,
                                                     MOST_STEPS * 0.21, &plan->second);
    if (!why && !plan->projected)
        plan->second.steps_diag = scale_of_diagonal(plan->second.steps);
    return why;
}

static const char *choose_scales(double multiplier, const dpf_recommender_setup *setup,
                                 struct gram_plan *plan)
{
    const int64_t shares = dpf_setup_shares(setup);
    if (plan->count_share + plan->tail_share >= 1.0)
        return "count-share and tail-share leave nothing for the Gram: their sum must be below 1";
    const char *why =
        choose_noise(multiplier / sqrt(plan->count_share), COUNT_BITS, 1, MOST_STEPS, &plan->counts);
    if (!why && plan->tail)
        why = choose_noise(multiplier / sqrt(plan->tail_share), ROW_BITS, 2, MOST_STEPS, &plan->rest);
    if (!why)
        why = choose_second(multiplier / sqrt(1.0 - plan->count_share - plan->tail_share), plan);
    if (!why && shares > 0)
        why = divide(shares, setup->n_users, &plan->counts);
    if (!why && shares > 0 && plan->tail)
        why = divide(shares, setup->n_users, &plan->rest);
    return why || shares <= 0 ? why : divide(shares, setup->n_users, &plan->second);
}

const char *gram_plan_make(const struct gram_options *options, const dpf_recommender_setup *setup,
                           struct gram_plan *out)
{
    const double multiplier = options->multiplier * setup->noise_factor;
    memset(out, 0, sizeof *out);
    out->noisy = !setup->without_noise;
    out->reach = out->noisy ? (double)setup->n_users / multiplier : (double)INFINITY;
    follow_rules(options, setup, out);
    out->values = choose_values(options, setup);
    if (!out->noisy) {
        out->counts = (struct gram_noise){.bits = COUNT_BITS, .grid = ldexp(1.0, -COUNT_BITS)};
        out->second = out->rest = (struct gram_noise){.bits = ROW_BITS, .grid = ldexp(1.0, -2 * ROW_BITS)};
        return NULL;
    }
    return choose_scales(multiplier, setup, out);
}

/* ---- events ---------------------------------------------------------------------------------------------
 */

/* A number of a message is that of a row, or a product of two; the diagonal of pairs has 2^2b / t at most. */
static int64_t largest_of(const struct gram_noise *noise)
{
    const double most = noise->steps_diag ? 1.0 / sqrt(1.0 - GRAM_SPARED / 100.0) : 1.0;
    return (int64_t)ceil(most / noise->grid);
}

static void fill_release(const struct gram_noise *noise, const dpf_recommender_setup *setup, const char *name,
                         double l2, double l2_replaced, dpf_recommender_release *out)
{
    dpf_event *event = &out->event;
    dpf_norms *user = event->sensitivity.at[DPF_UNIT_USER];
    out->flags = (setup->parties == DPF_PARTIES_CURATOR ? 0 : DPF_RELEASE_SENT_BY_USERS) |
                 (noise->share ? DPF_RELEASE_NOISE_BY_USERS : 0);
    out->reads = DPF_READS_OWN_RECORDS;
    out->noise_where = noise->share   ? DPF_NOISE_IN_SHARES
                       : noise->steps ? DPF_NOISE_AT_SUM
                                      : DPF_NOISE_NOWHERE;
    out->sees = DPF_SEES_SUM;
    out->largest = largest_of(noise);
    out->share_steps = noise->share_diag > noise->share ? noise->share_diag : noise->share;
    memcpy(out->name, name, strlen(name) + 1);
    event->kind = noise->steps ? DPF_EVENT_DISCRETE_GAUSSIAN : DPF_EVENT_NON_PRIVATE;
    event->side = DPF_SIDE_ITEMS;
    event->lifetime = DPF_LIFETIME_RUN; /* one draw for the one release of a run */
    event->count = 1;
    event->flags = noise->share ? DPF_EVENT_NOISE_SHARED : 0;
    event->scale = noise->scale * noise->grid;
    event->grid = noise->grid;
    user[DPF_ADJ_ADD_REMOVE].l2 = user[DPF_ADJ_ZERO_OUT].l2 = l2;
    user[DPF_ADJ_REPLACE].l2 = l2_replaced;
}

int32_t gram_plan_state(const struct gram_plan *plan, const dpf_recommender_setup *setup,
                        dpf_recommender_release releases[GRAM_MOST_RELEASES])
{
    const double root = 0.70710678118654757; /* rounded up; so is twice that */
    fill_release(&plan->counts, setup, "counts of items", 1.0, 1.4142135623730952, &releases[0]);
    if (plan->projected)
        fill_release(&plan->second, setup, "projected Gram of items", 1.0, 2.0, &releases[1]);
    else
        fill_release(&plan->second, setup, "Gram of items", root, 2.0 * root, &releases[1]);
    if (!plan->tail)
        return 2;
    fill_release(&plan->rest, setup, "items without a column", 1.0, 2.0, &releases[2]);
    return 3;
}
