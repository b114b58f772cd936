/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit_params.h"

#include <math.h>

#include "audit/observe.h"

static const dpf_enum_value views[] = {
    [OBSERVE_AUTO] = {"auto", "Messages, where [privacy] observer sees them; rows, where parties solve; else "
                              "sums."},
    [OBSERVE_SUMS] = {"sums", "Every estimate that leaves a mechanism. Where parties solve, that is what an "
                              "observer inside of a party sees."},
    [OBSERVE_MESSAGES] = {"messages", "Each message of the canary's party, where the aggregator shows them; "
                                      "the estimates elsewhere. Of a recommender what its users send."},
    [OBSERVE_ROWS] = {"rows", "Released factor rows alone, after each round. The statistic is then learned "
                              "from a quarter of the trials."},
};

static const dpf_enum_value attacks[] = {
    {"none", "Lower bounds of epsilon."},
    {"membership", "Is a user in the training part?"},
    {"attribute", "Does a user have a record of an item, one of the user's items by the seed?"},
    {"rarest",
     "Does a user have a record of the one of the user's items that the fewest have: the worst case?"},
    {"all", "membership and attribute."},
};

static const dpf_param params[AUDIT_N_PARAMS] = {
    [AUDIT_TRIALS] =
        DPF_PARAM_INT_F("trials", 0, 0, 1e7, 0, "",
                        "Trainings with each of the two data sets, 20 or more; 0: 1000. Half of "
                        "them choose the threshold, the others count. n trials show at most about "
                        "ln(n / 7). Of an attack all trainings, 32 or more; 0: 128. Each is "
                        "attacked with a model learnt from the others."),
    [AUDIT_CONFIDENCE] = DPF_PARAM_REAL_F("confidence", 0.95, 0.5, 1.0, DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI,
                                          "", "The probability, at least, that all lower bounds hold."),
    [AUDIT_VIEW] = DPF_PARAM_ENUM_F("view", OBSERVE_AUTO, views, 0, "What the observer sees."),
    [AUDIT_USER] = DPF_PARAM_TEXT_F(
        "user", DPF_TYPE_STRING, "", 0,
        "Id of the canary's user. Default: of eight drawn canaries the one that moves releases "
        "most, which is audited with fresh noise."),
    [AUDIT_ITEM] = DPF_PARAM_TEXT_F("item", DPF_TYPE_STRING, "", 0,
                                    "Id of the canary's item, for the unit record. Default: chosen."),
    [AUDIT_SEED] = DPF_PARAM_INT_F("seed", 1, 0, 9007199254740992.0, 0, "",
                                   "Seed of the choice of canaries. Noise follows [privacy] randomness."),
    [AUDIT_NEIGHBOUR] =
        DPF_PARAM_TEXT_F("neighbour", DPF_TYPE_PATH, "", 0,
                         "The file of the neighbouring data set, read in place of [data] path; it must have "
                         "the same items and may differ in one unit only. Default: a canary is made."),
    [AUDIT_CLAIM] =
        DPF_PARAM_REAL_F("claim", 0, 0, INFINITY, 0, "",
                         "A claimed epsilon, at [privacy] delta, to compare with the bound. 0: none."),
    [AUDIT_CANARIES] =
        DPF_PARAM_INT_F("canaries", 0, -1, 1e6, 0, "",
                        "One training with so many canaries, each in or out by a fair coin, instead of many "
                        "trainings with one. -1: as many as have a user and an item of their own, at most "
                        "1000; at most 50 if a projection makes each cost a replay."),
    [AUDIT_ATTACK] = DPF_PARAM_ENUM_F(
        "attack", 0, attacks, 0,
        "Inference attacks instead of lower bounds, on many trainings in which each target is in or out; "
        "prints AUC and true positives and compares them with what is proved (docs/privacy-operations.md)."),
    [AUDIT_TARGETS] = DPF_PARAM_INT_F("targets", 100, 2, 100000, 0, "users",
                                      "Number of attacked users, drawn by the seed: half of all at most."),
    [AUDIT_ATTACK_NOISE] = DPF_PARAM_BOOL_F(
        "attack-noise", 1, 0, "no: attacks the same model without mechanisms and samplers, to compare."),
};

const dpf_param *audit_params(int64_t *n)
{
    *n = AUDIT_N_PARAMS;
    return params;
}

int audit_check(struct config *config, struct dpf_error *error)
{
    struct config_values values;
    if (config_bind(config, "audit", params, AUDIT_N_PARAMS, sizeof params[0], NULL, 1, &values, error) != 0)
        return -1;
    config_values_free(&values);
    return 0;
}
