/* SPDX-License-Identifier: Apache-2.0 */
#include "ratings_rule.h"

#include <math.h>
#include <string.h>

#define BY_RULE (-1.0)
#define MOST_STEPS 0x1p24 /* of dpf_random_service.discrete_gaussian */
#define MOST_BITS 24
#define LEAST_BITS 10

#define BY_RULE_TEXT " -1: by the rule (docs/accuracy.md), from the noise and the declared number of users."

const dpf_param ratings_params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Noise of the whole run: all releases together are as private as one Gaussian "
                         "mechanism of this sigma over sensitivity."),
    [P_RANK] = DPF_PARAM_INT_F("rank", -1, -1, RATINGS_MAX_RANK, 0, "",
                               "Directions in which rounds correct items; 0: none." BY_RULE_TEXT),
    [P_ROUNDS] = DPF_PARAM_INT_F("rounds", -1, -1, 64, DPF_PARAM_PRIVACY, "",
                                 "Rounds of corrections." BY_RULE_TEXT),
    [P_COUNT_SHARE] = DPF_PARAM_REAL_F("count-share", 0.1, 0.0, 1.0,
                                       DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                       "Part of the budget for the items' counts."),
    [P_LOADING_SHARE] = DPF_PARAM_REAL_F("loading-share", 0.02, 0.0, 1.0,
                                         DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                         "Part of the budget for the second moments of users' weights."),
    [P_FACTOR_SHARE] =
        DPF_PARAM_REAL_F("factor-share", BY_RULE, -1.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "Part of what counts and moments leave that the rounds have; biases have the rest."
                         BY_RULE_TEXT),
    [P_EXPONENT] = DPF_PARAM_REAL_F("exponent", BY_RULE, -1.0, 1.0, 0, "",
                                    "A record counts (count + count-offset)^-exponent, count its item's "
                                    "released one." BY_RULE_TEXT),
    [P_COUNT_OFFSET] = DPF_PARAM_REAL_F("count-offset", 20.0, 0.0, 1e6, DPF_PARAM_OPEN_LO, "",
                                        "Added to counts before they become weights."),
    [P_COUNT_WEIGHT] =
        DPF_PARAM_REAL_F("count-weight", BY_RULE, -1.0, 10.0, 0, "",
                         "What a record's weight is sent as beside its residual." BY_RULE_TEXT),
    [P_CLIP] = DPF_PARAM_REAL_F("clip", BY_RULE, -1.0, 100.0, 0, "quarters of the range",
                                "Residuals are clipped to this." BY_RULE_TEXT),
    [P_RESIDUAL_VARIANCE] =
        DPF_PARAM_REAL_F("residual-variance", 0.75, 0.0, 100.0, DPF_PARAM_OPEN_LO, "squared quarters",
                         "Variance of a rating about its prediction, a public guess."),
    [P_ITEM_SD] = DPF_PARAM_REAL_F("item-sd", 0.45, 0.0, 100.0, DPF_PARAM_OPEN_LO, "quarters of the range",
                                   "Standard deviation of items' biases about their regression."),
    [P_FACTOR_SD] = DPF_PARAM_REAL_F("factor-sd", 0.1, 0.0, 100.0, DPF_PARAM_OPEN_LO, "quarters of the range",
                                     "Standard deviation of an item's loadings about what is known of them."),
    [P_FACTOR_DECAY] = DPF_PARAM_REAL_F("factor-decay", BY_RULE, -1.0, 1.0, 0, "",
                                        "How factor-sd falls from one direction to the next." BY_RULE_TEXT),
    [P_LATENT] = DPF_PARAM_INT_F("latent", 0, -1, 32, 0, "", "Latent directions." BY_RULE_TEXT),
    [P_LATENT_SD] = DPF_PARAM_REAL_F("latent-sd", 0.1, 0, 100.0, 0, "", "sd"),
    [P_LATENT_START] = DPF_PARAM_REAL_F("latent-start", 0.1, 0, 100.0, 0, "", "sd"),
    [P_FORGET] = DPF_PARAM_REAL_F("forget", 1.0, 0, 100.0, 0, "", "sd"),
};

/* ---- the rule -------------------------------------------------------------------------------------------
 */

/* How much is learnt goes with users x mu, mu = 1/z: 0 for few, 1 from about 12,000 on. */
static double plenty(double population)
{
    const double x = log(population / 4300.0) / log(12000.0 / 4300.0);
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double chosen(const dpf_value *value, double by_rule)
{
    return value->real < 0 ? by_rule : value->real;
}

static void choose_settings(const dpf_value *v, double population, struct ratings_rule *rule)
{
    const double x = plenty(population);
    rule->rank = v[P_RANK].integer >= 0 ? (int32_t)v[P_RANK].integer : (int32_t)floor(2.5 + 8.0 * x);
    rule->rounds = v[P_ROUNDS].integer >= 0 ? (int32_t)v[P_ROUNDS].integer : population < 2500.0 ? 3 : 4;
    rule->exponent = chosen(&v[P_EXPONENT], 0.2 + 0.3 * x);
    rule->count_offset = v[P_COUNT_OFFSET].real;
    rule->count_weight = chosen(&v[P_COUNT_WEIGHT], 0.5 - 0.3 * x);
    rule->clip = chosen(&v[P_CLIP], 2.0 - 0.5 * x);
    rule->residual_variance = v[P_RESIDUAL_VARIANCE].real;
    rule->item_sd = v[P_ITEM_SD].real;
    rule->factor_sd = v[P_FACTOR_SD].real;
    rule->factor_decay = chosen(&v[P_FACTOR_DECAY], 0.9 + 0.1 * x);
    rule->latent = (int32_t)v[P_LATENT].integer;
    rule->latent_sd = v[P_LATENT_SD].real;
    rule->latent_start = v[P_LATENT_START].real;
    rule->forget = v[P_FORGET].real;
    if (rule->rank == 0 || rule->rounds == 0)
        rule->rank = rule->rounds = 0;
}

/* ---- budget ---------------------------------------------------------------------------------------------
 */

#define USERS_SHARE 0.001 /* of the counts' part */
#define GRAM_SHARE 0.05   /* of a round's part */

static void share_budget(const dpf_value *v, double population, struct ratings_rule *rule)
{
    const double counts = v[P_COUNT_SHARE].real, loadings = v[P_LOADING_SHARE].real;
    const double rest = 1.0 - counts - loadings;
    double factors = chosen(&v[P_FACTOR_SHARE], 0.6 + 0.1 * plenty(population)) * rest;
    for (int r = 0; r < N_RELEASES; r++)
        rule->count[r] = 1;
    rule->count[RELEASE_FACTORS] = rule->count[RELEASE_GRAM] = rule->rounds;
    rule->share[RELEASE_USERS] = USERS_SHARE * counts;
    rule->share[RELEASE_COUNTS] = (1.0 - USERS_SHARE) * counts;
    rule->share[RELEASE_LOADINGS] = loadings;
    if (rule->rounds == 0)
        factors = 0;
    rule->share[RELEASE_BIASES] = rest - factors;
    rule->share[RELEASE_FACTORS] = rule->rounds ? factors * (1.0 - GRAM_SHARE) / rule->rounds : 0;
    rule->share[RELEASE_GRAM] = rule->rounds ? factors * GRAM_SHARE / rule->rounds : 0;
}

/* The finest grid on which sigma has at most 2^24 steps, but no finer than 2^-24. Returns -1 if it is coarse. */
static int choose_grid(double z, int32_t release, struct ratings_rule *rule)
{
    if (rule->silent || rule->count[release] == 0) {
        rule->bits[release] = MOST_BITS;
        rule->steps[release] = 0;
        rule->sigma[release] = 1e-6;
        return 0;
    }
    const double sigma = z / sqrt(rule->share[release]) * (1.0 + 4e-15);
    int32_t bits = MOST_BITS;
    while (bits >= LEAST_BITS && ceil(ldexp(sigma, bits)) > MOST_STEPS)
        bits--;
    rule->bits[release] = bits;
    rule->steps[release] = bits >= LEAST_BITS ? (uint64_t)ceil(ldexp(sigma, bits)) : 0;
    rule->sigma[release] = ldexp((double)rule->steps[release], -bits);
    return bits >= LEAST_BITS && rule->steps[release] >= 1024 ? 0 : -1;
}

dpf_status ratings_rule_make(const dpf_host *host, const dpf_value *values,
                             const dpf_recommender_setup *setup, struct ratings_rule *rule)
{
    const double z = values[P_MULTIPLIER].real * setup->noise_factor;
    const double population = (double)setup->n_users / z;
    memset(rule, 0, sizeof *rule);
    if (!(isfinite(setup->value_lo) && isfinite(setup->value_hi) && setup->value_lo < setup->value_hi))
        return host->fail(host, DPF_E_CONFIG, -1,
                          "it predicts ratings in a declared range: set [data] value-min and value-max");
    if (values[P_COUNT_SHARE].real + values[P_LOADING_SHARE].real >= 1.0)
        return host->fail(host, DPF_E_CONFIG, P_COUNT_SHARE,
                          "count-share and loading-share leave nothing for biases: lower one of them");
    rule->lo = setup->value_lo;
    rule->hi = setup->value_hi;
    rule->unit = (setup->value_hi - setup->value_lo) / 4.0;
    rule->centre = (setup->value_hi + setup->value_lo) / 2.0;
    rule->silent = setup->without_noise;
    choose_settings(values, population, rule);
    share_budget(values, population, rule);
    for (int32_t r = 0; r < N_RELEASES; r++)
        if (choose_grid(z, r, rule) != 0)
            return host->fail(host, DPF_E_RANGE, P_MULTIPLIER,
                              "no grid fits this noise: noise-multiplier is extreme");
    return DPF_OK;
}
