/* SPDX-License-Identifier: Apache-2.0 */
#include "ratings_params.h"

#include <math.h>
#include <string.h>

#include "user_sums.h"

#define BY_RULE_TEXT                                                                                         \
    " -1: by the rule (docs/accuracy.md), from the noise and the declared numbers of users and items."
#define QUARTERS "quarters of the range"

static const dpf_enum_value uncounted[] = {
    {"rare", "hardly anybody rates them, as when the catalogue was there all the time"},
    {"typical", "they are new: as popular as the item of a typical record"},
};

const dpf_param ratings_params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Noise of the whole run: all releases together are as private as one Gaussian "
                         "mechanism of this sigma over sensitivity."),
    [P_RANK] =
        DPF_PARAM_INT_F("rank", -1, -1, RATINGS_MAX_FEATURES, 0, "",
                        "Directions known from popularity and features that rounds correct." BY_RULE_TEXT),
    [P_LATENT] = DPF_PARAM_INT_F("latent", -1, -1, RATINGS_MAX_LATENT, 0, "",
                                 "Directions that rounds find, from a random start." BY_RULE_TEXT),
    [P_ROUNDS] = DPF_PARAM_INT_F(
        "rounds", -1, -1, 64, DPF_PARAM_PRIVACY, "",
        "Rounds of corrections; 0: none, and biases have their part of the budget." BY_RULE_TEXT),
    [P_COUNT_SHARE] = DPF_PARAM_REAL_F("count-share", 0.1, 0.0, 1.0,
                                       DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                       "Part of the budget for the items' counts."),
    [P_ITEM_SD] = DPF_PARAM_REAL_F("item-sd", 0.35, 0.0, 100.0, DPF_PARAM_OPEN_LO, QUARTERS,
                                   "Standard deviation of items' biases about their regression."),
    [P_FACTOR_SD] = DPF_PARAM_REAL_F(
        "factor-sd", 0.1, 0.0, 100.0, 0, QUARTERS,
        "Standard deviation of an item's loadings about their prior mean, in the first direction."),
    [P_UNCOUNTED] = DPF_PARAM_ENUM_F("uncounted", 0, uncounted, 0,
                                     "What is assumed of items whose released count is below two deviations "
                                     "of its noise."),
};

/* ---- the rule -------------------------------------------------------------------------------------------
 */

/*
 * What can be learnt of an item goes with reach = users mu / sqrt(items), mu = 1/z: users' signals grow with
 * the one, noise over all items with the other. The bounds below were fitted on ML-100K and ml-latest-small
 * with noise from next to none to more than any that they would get: docs/accuracy.md.
 */
static int32_t rank_of(double reach)
{
    const double x = log(reach / 105.0) / log(290.0 / 105.0);
    return (int32_t)floor(2.5 + 8.0 * fmin(fmax(x, 0.0), 1.0));
}

static int32_t rounds_of(double reach)
{
    return reach < 30.0 ? 0 : reach < 56.0 ? 3 : 6;
}

static int32_t latent_of(double reach)
{
    return reach < 56.0 ? 0 : reach < 400.0 ? 2 : reach < 1000.0 ? 4 : 8;
}

/* Public guesses, fitted with the bounds above. In quarters of the range: an item's loadings on the directions that rounds
   find, and their initial values; and how factor-sd falls from one direction to the next. */
#define LATENT_SD 0.15
#define LATENT_START 0.03
#define FACTOR_DECAY 0.9
/* A record's weight is (count + 20)^-EXPONENT, where count is its item's released count; residuals are clipped; ratings scatter
   about predictions; and a round's signal is worth so much one round later. */
#define EXPONENT 0.2
#define CLIP 2.0
#define RESIDUAL_VARIANCE 0.75
#define FORGET 0.7

static void choose_settings(const dpf_value *v, double reach, struct ratings_rule *rule)
{
    rule->rank = v[P_RANK].integer >= 0 ? (int32_t)v[P_RANK].integer : rank_of(reach);
    rule->latent = v[P_LATENT].integer >= 0 ? (int32_t)v[P_LATENT].integer : latent_of(reach);
    rule->rounds = v[P_ROUNDS].integer >= 0 ? (int32_t)v[P_ROUNDS].integer : rounds_of(reach);
    if (rule->rank + rule->latent == 0 || rule->rounds == 0)
        rule->rank = rule->latent = rule->rounds = 0;
    rule->loadings = RATINGS_LOADINGS;
    rule->exponent = EXPONENT;
    rule->count_offset = RATINGS_COUNT_OFFSET;
    rule->count_weight = RATINGS_COUNT_WEIGHT;
    rule->clip = CLIP;
    rule->residual_variance = RESIDUAL_VARIANCE;
    rule->item_sd = v[P_ITEM_SD].real;
    rule->factor_sd = v[P_FACTOR_SD].real;
    rule->factor_decay = FACTOR_DECAY;
    rule->latent_sd = LATENT_SD;
    rule->latent_start = LATENT_START;
    rule->forget = FORGET;
    rule->typical = v[P_UNCOUNTED].integer == 1;
}

/* ---- budget ---------------------------------------------------------------------------------------------
 */

#define USERS_SHARE 0.001  /* of the counts' part */
#define LOADING_SHARE 0.02 /* for the second moments of users' weights */
#define FACTOR_SHARE 0.6   /* the rounds' part of what counts and moments leave; biases have the rest */
#define GRAM_SHARE 0.05    /* of a round's part */

static void share_budget(const dpf_value *v, struct ratings_rule *rule)
{
    const double counts = v[P_COUNT_SHARE].real, rest = 1.0 - counts - LOADING_SHARE;
    const double factors = rule->rounds ? FACTOR_SHARE * rest : 0;
    for (int r = 0; r < N_RELEASES; r++)
        rule->count[r] = 1;
    rule->count[RELEASE_FACTORS] = rule->count[RELEASE_GRAM] = rule->rounds;
    rule->share[RELEASE_USERS] = USERS_SHARE * counts;
    rule->share[RELEASE_COUNTS] = (1.0 - USERS_SHARE) * counts;
    rule->share[RELEASE_LOADINGS] = LOADING_SHARE;
    rule->share[RELEASE_BIASES] = rest - factors;
    rule->share[RELEASE_FACTORS] = rule->rounds ? factors * (1.0 - GRAM_SHARE) / rule->rounds : 0;
    rule->share[RELEASE_GRAM] = rule->rounds ? factors * GRAM_SHARE / rule->rounds : 0;
}

dpf_status ratings_rule_make(const dpf_host *host, const dpf_value *values,
                             const dpf_recommender_setup *setup, struct ratings_rule *rule)
{
    const double z = values[P_MULTIPLIER].real * setup->noise_factor;
    const double reach = (double)setup->n_users / z / sqrt((double)setup->n_items);
    memset(rule, 0, sizeof *rule);
    dpf_status status = user_sums_check_range(host, setup);
    if (status != DPF_OK)
        return status;
    if (values[P_COUNT_SHARE].real + LOADING_SHARE >= 1.0)
        return host->fail(host, DPF_E_CONFIG, P_COUNT_SHARE, "nothing is left for biases: lower it");
    rule->lo = setup->value_lo;
    rule->hi = setup->value_hi;
    rule->unit = (setup->value_hi - setup->value_lo) / 4.0;
    rule->centre = (setup->value_hi + setup->value_lo) / 2.0;
    rule->silent = setup->without_noise;
    choose_settings(values, reach, rule);
    share_budget(values, rule);
    for (int32_t r = 0; r < N_RELEASES && status == DPF_OK; r++)
        status = user_sums_choose_grid(host, setup, P_MULTIPLIER, z / sqrt(rule->share[r]),
                                       rule->silent || rule->count[r] == 0,
                                       r == RELEASE_USERS ? 0 : GRID_LEAST_BITS, &rule->grid[r]);
    return status;
}
