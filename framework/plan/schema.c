/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/schema.h"

#include <math.h>

#include "data/load.h"
#include "dpframe/abi.h"
#include "privacy/guarantee.h"
#include "reading/data_params.h"

#define TABLE(NAME, COUNT)                                                                                   \
    const dpf_param *schema_##NAME(int64_t *n)                                                               \
    {                                                                                                        \
        *n = COUNT;                                                                                          \
        return NAME##_table;                                                                                 \
    }

static const dpf_enum_value update_values[] = {
    {"alternating", "each side step sees the rows that the one before it produced"},
    {"simultaneous", "all side steps of a round see the rows from the beginning of the round"},
};

static const dpf_enum_value until_values[] = {
    [UNTIL_ROUNDS] = {"rounds", "all rounds: a public number"},
    [UNTIL_TRAINING_ERROR] = {"training-error",
                              "until the training RMSE of a round falls by less than tolerance, in "
                              "proportion, or rises. The number of rounds then "
                              "follows from raw ratings: condition C2 fails"},
    [UNTIL_RELEASED_ROWS] = {"released-rows",
                             "until released rows move by less than tolerance, in proportion to "
                             "their length: read from releases alone"},
};

static const dpf_enum_value final_step_values[] = {
    {"none", "rows stay as after the last round"},
    {"users", "users are solved once more"},
    {"items", "items are solved once more"},
};

static const dpf_param run_table[RUN_N_PARAMS] = {
    [RUN_OUTPUT] = DPF_PARAM_TEXT_F("output", DPF_TYPE_PATH, "results", 0,
                                    "Directory of the results. It is created; files of an earlier run in it "
                                    "are replaced."),
    [RUN_ROUNDS] = DPF_PARAM_INT_F("rounds", 10, 0, 1e6, DPF_PARAM_PRIVACY, "rounds",
                                   "Number of rounds; each runs the side steps named in order. Every round "
                                   "that releases something counts in the guarantee."),
    [RUN_UNTIL] =
        DPF_PARAM_ENUM_F("until", UNTIL_ROUNDS, until_values, DPF_PARAM_PRIVACY,
                         "When the run ends; at the latest after rounds, whose releases are all counted."),
    [RUN_TOLERANCE] = DPF_PARAM_REAL_F("tolerance", 1e-3, 0, 1, DPF_PARAM_PRIVACY, "",
                                       "The limit that until compares with."),
    [RUN_SEED] = DPF_PARAM_INT_F("seed", 1, 0, 9007199254740992.0, 0, "",
                                 "Keys splits, initial values, synthetic data and evaluation. It never keys "
                                 "noise or private sampling: see [privacy] randomness."),
    [RUN_THREADS] = DPF_PARAM_INT_F("threads", 0, 0, 1024, 0, "threads",
                                    "Worker threads; 0 takes one for each processor. Results are the same "
                                    "bytes for any number."),
    [RUN_ORDER] = DPF_PARAM_TEXT_F("order", DPF_TYPE_STRING, "users, items", DPF_PARAM_PRIVACY,
                                   "The side steps of a round, in order: users, items, or both."),
    [RUN_UPDATE] = DPF_PARAM_ENUM_F("update", UPDATE_ALTERNATING, update_values, DPF_PARAM_PRIVACY,
                                    "When new rows become visible to the other side."),
    [RUN_FINAL_STEP] = DPF_PARAM_ENUM_F("final-step", FINAL_STEP_NONE, final_step_values, 0,
                                        "One more step of a local side after the last round, so that its "
                                        "rows fit the other side's last ones. Nothing is sent."),
    [RUN_TRACE] = DPF_PARAM_BOOL_F("trace", 1, 0,
                                   "Write the training RMSE of every round to private/metrics.csv (explicit "
                                   "feedback)."),
    [RUN_NOISE] = DPF_PARAM_BOOL_F("noise", 0, 0,
                                   "Write the distribution of the noise in the last release, block by block, "
                                   "to private/noise.csv. One thread trains "
                                   "a factorization then, which is observed."),
    [RUN_COMPARE] = DPF_PARAM_TEXT_F(
        "compare", DPF_TYPE_STRING, "", 0,
        "Models to evaluate on the same split, privately: non-private (this configuration without its "
        "mechanisms), popularity, mean, biases (no privacy), private-popularity, private-biases (trained "
        "with the epsilon that is proved for this run, and not released)."),
    [RUN_VERDICT] = DPF_PARAM_BOOL_F("verdict", 1, 0,
                                     "Say after training whether the model is worth more than the simplest "
                                     "one. What it needs beside compare is "
                                     "trained for it: simple models, and the model without noise where that "
                                     "takes at most a fifth of training "
                                     "and evaluation, or a second. Private."),
    [RUN_COMPARE_REPETITIONS] =
        DPF_PARAM_INT_F("compare-repetitions", 0, 0, 100, DPF_PARAM_PRIVACY, "trainings",
                        "Trains the model so many times more with other noise, and the verdict says how the "
                        "method does over all draws. "
                        "None of them is released, but you see what came of them: the statement and "
                        "[privacy] ledger count all trainings."),
    [RUN_PLUGIN_DIR] = DPF_PARAM_TEXT_F("plugin-dir", DPF_TYPE_PATH, "", 0, "One more directory of plugins."),
    [RUN_COMM] =
        DPF_PARAM_TEXT_F("comm", DPF_TYPE_STRING, "auto", 0,
                         "What joins the processes of one run: self (there is one process), or a comm, "
                         "such as mpi; auto takes mpi under mpirun or srun with more than one process, "
                         "else self. Released files are the same bytes for any number of processes."),
    [RUN_CHECKPOINT] = DPF_PARAM_BOOL_F(
        "checkpoint", 0, 0,
        "Write the state of the training to private/checkpoint before each round, for --resume. It holds "
        "private rows and no key. A round that an interruption ended is made again with fresh noise, and "
        "counts twice. Refused where noise or a draw lives longer than a round."),
};
TABLE(run, RUN_N_PARAMS)

static const dpf_enum_value kind_values[] = {
    {"factorization", "trained by the side steps"},
    {"popularity", "no training: an item's score is its number of training records"},
    {"mean", "no training: every score is the mean of the training records"},
    {"biases", "no training by side steps: the mean, and a bias of each user and item, by alternating ridge "
               "regression of ridge 5"},
};
static const dpf_enum_value offset_values[] = {
    {"none", "0"},
    {"midpoint", "the middle of the declared range of ratings: public"},
    {"value", "offset-value: public"},
    {"mean", "the mean of the training ratings: computed from private data, never released"},
};
static const dpf_enum_value init_values[] = {
    {"normal", "independent N(0, init-scale^2)"},
    {"normal-by-rank", "independent N(0, init-scale^2 / rank)"},
    {"uniform", "independent and uniform on [0, init-scale)"},
};

static const dpf_enum_value home_terms_values[] = {
    {"no", "scores are what the release says"},
    {"yes", "the facts are for these terms, and for the release where the recommender reads them"},
    {"only", "the facts are for these terms only: the release does not read them"}};
static const dpf_param model_table[MODEL_N_PARAMS] = {
    [MODEL_KIND] = DPF_PARAM_ENUM_F("kind", MODEL_FACTORIZATION, kind_values, 0, "What is fitted."),
    [MODEL_RANK] = DPF_PARAM_INT_F("rank", 16, 0, 4096, DPF_PARAM_PRIVACY, "",
                                   "Length of a factor row, without biases."),
    [MODEL_USER_BIAS] = DPF_PARAM_BOOL_F("user-bias", 0, DPF_PARAM_PRIVACY, "Fit a bias for each user."),
    [MODEL_ITEM_BIAS] = DPF_PARAM_BOOL_F("item-bias", 0, DPF_PARAM_PRIVACY, "Fit a bias for each item."),
    [MODEL_OFFSET] = DPF_PARAM_ENUM_F("offset", OFFSET_NONE, offset_values, DPF_PARAM_PRIVACY,
                                      "Constant added to every prediction."),
    [MODEL_OFFSET_VALUE] =
        DPF_PARAM_REAL_F("offset-value", 0.0, -1e9, 1e9, 0, "rating", "The constant for offset = value."),
    [MODEL_INIT] = DPF_PARAM_ENUM_F("init", INIT_NORMAL_BY_RANK, init_values, 0,
                                    "Distribution of the initial rows, drawn from run.seed."),
    [MODEL_INIT_SCALE] = DPF_PARAM_REAL_F("init-scale", 0.1, 0.0, 1e6, 0, "", "Scale of the initial rows."),
    [MODEL_INIT_NORM] = DPF_PARAM_REAL_F("init-norm", 0.0, 0.0, 1e6, DPF_PARAM_PRIVACY, "",
                                         "If positive, each initial row is scaled to this Euclidean norm."),
    [MODEL_USERS] = DPF_PARAM_INT_F("users", 0, 0, 2147483647.0, DPF_PARAM_PRIVACY, "users",
                                    "Public upper bound on the number of users; 0 takes the number in the "
                                    "data, which is then treated as public."),
    [MODEL_ITEMS] = DPF_PARAM_INT_F("items", 0, 0, 2147483647.0, DPF_PARAM_PRIVACY, "items",
                                    "Public upper bound on the number of items; 0 takes the number in the "
                                    "data, which is then treated as public."),
    [MODEL_RECOMMENDER] = DPF_PARAM_TEXT_F(
        "recommender", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
        "A component of the role recommender that replaces the factorization, and so [users] and [items]; "
        "its parameters are in [model.recommender]. Empty: a factorization."),
    [MODEL_AGGREGATOR] = DPF_PARAM_TEXT_F(
        "aggregator", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
        "An aggregator that sums what the users of the recommender send, each message with a share of the "
        "noise ([privacy] min-honest), for [parties] kind = users; its parameters are in [model.aggregator]. "
        "Empty: whoever holds the records sums them and adds the noise."),
    [MODEL_HOME_TERMS] = DPF_PARAM_ENUM_F(
        "home-terms", HOME_TERMS_NO, home_terms_values, 0,
        "Scores of a recommender get terms that a user's own device computes from public facts about items "
        "([data] item-features: words of titles, categories, numbers) and the user's own records, after the "
        "release. They cost no epsilon, and scores are for that user's eyes alone (docs/accuracy.md)."),
};
TABLE(model, MODEL_N_PARAMS)

static const dpf_enum_value parties_values[] = {
    {"curator", "one trusted party holds all records"},
    {"silos-by-users", "count parties, each with all records of its users (each user in a silo drawn from "
                       "run.seed and its id)"},
    {"silos-by-items", "count parties, each with all records of its items (likewise)"},
    {"users", "every user is a party"},
};
static const dpf_param parties_table[PARTIES_N_PARAMS] = {
    [PARTIES_KIND] = DPF_PARAM_ENUM_F("kind", PARTIES_CURATOR, parties_values, DPF_PARAM_PRIVACY,
                                      "Who holds the records."),
    [PARTIES_COUNT] = DPF_PARAM_INT_F("count", 10, 1, 1e6, DPF_PARAM_PRIVACY, "parties",
                                      "Number of silos, of about equal size; some may be empty."),
    [PARTIES_LOCAL_ITERATIONS] =
        DPF_PARAM_INT_F("local-iterations", 1, 1, 1000, DPF_PARAM_PRIVACY, "passes",
                        "With solve-at = party: how often a party solves both sides in a round before it "
                        "sends its rows. Each pass is a separate noisy query, and all are composed."),
};
TABLE(parties, PARTIES_N_PARAMS)

static const dpf_enum_value solve_at_values[] = {
    {"server", "queries are aggregated and solved once"},
    {"party", "each party solves its own noisy query; the solved rows are aggregated"},
};
static const dpf_param side_table[SIDE_N_PARAMS] = {
    [SIDE_TERMS] = DPF_PARAM_TEXT_F("terms", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                    "Names of the terms that are summed before the solver, each with a "
                                    "section [SIDE.NAME]; empty for one term, whose keys are in [SIDE]."),
    [SIDE_SOLVER] = DPF_PARAM_TEXT_F("solver", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                     "The solver component; its parameters are in [SIDE.solver]."),
    [SIDE_SOLVE_AT] = DPF_PARAM_ENUM_F("solve-at", SOLVE_AT_SERVER, solve_at_values, DPF_PARAM_PRIVACY,
                                       "Where rows are solved."),
    [SIDE_UPDATE] = DPF_PARAM_BOOL_F("update", 1, DPF_PARAM_PRIVACY,
                                     "no keeps the initial rows for the whole run: a public constant."),
};
TABLE(side, SIDE_N_PARAMS)

static const dpf_enum_value source_values[] = {
    {"records", "user-item records"},
    {"relation", "links between users ([data] relation.path); reads rows of the same side"},
};
static const dpf_enum_value destination_values[] = {
    {"server", "messages go to the server"},
    {"peer", "messages go to the party that owns the row"},
};
static const dpf_enum_value send_values[] = {
    {"rows", "each user sends its row once, with noise, and users who link to it read that row"},
    {"links",
     "for each link the friend sends its part of the query to the user who links, with separate noise"},
};
static const dpf_enum_value residual_values[] = {
    {"transformed", "predictions use the other rows after factor transforms, like the rest of the loss"},
    {"raw", "predictions inside the loss use the other rows as they are"},
};
static const dpf_enum_value returned_values[] = {
    {"raw", "as they were solved"},
    {"transformed", "after the factor transforms, as this side's loss reads them"},
};
static const dpf_enum_value layout_values[] = {
    {"packed", "the lower triangle: symmetric noise"},
    {"full", "all d x d numbers: i.i.d. noise, symmetrised by the solver"},
};
/* Index minus 1 is the DPF_OBSERVER_* up to which a sample is hidden. */
static const dpf_enum_value secrecy_values[] = {
    {"none", "who or what takes part is public: no amplification"},
    {"outsider", "hidden from those who see only the released factors"},
    {"server", "from the server too, which sees neither the draw nor who sends messages, or which records"},
    {"parties", "from other parties as well; only records that are drawn one by one"},
};
static const dpf_enum_value bounds_values[] = {
    {"public", "norms of rows are bounded by clips and solver radii alone"},
    {"empirical", "norms of rows are their maxima in each round: data-dependent, fails C1"},
};
static const dpf_param term_table[TERM_N_PARAMS] = {
    [TERM_SOURCE] = DPF_PARAM_ENUM_F("source", SOURCE_RECORDS, source_values, DPF_PARAM_PRIVACY,
                                     "What the loss sums over."),
    [TERM_DESTINATION] = DPF_PARAM_ENUM_F("destination", DESTINATION_SERVER, destination_values,
                                          DPF_PARAM_PRIVACY, "Who receives the term's messages."),
    [TERM_LOSS] = DPF_PARAM_TEXT_F("loss", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                   "The loss component; its parameters are in [SIDE.loss]."),
    [TERM_SAMPLER] = DPF_PARAM_TEXT_F("sampler", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                      "The sampler component, parameters in [SIDE.sampler]; empty: all take "
                                      "part."),
    [TERM_SAMPLE_SECRECY] = DPF_PARAM_ENUM_F(
        "sample-secrecy", 1, secrecy_values, DPF_PARAM_PRIVACY,
        "From whom the sampler's draw is hidden, which the deployment has to see to: amplification counts on "
        "it."),
    [TERM_TRANSFORMS] = DPF_PARAM_TEXT_F("transforms", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                         "Transform components in order, separated by commas; the parameters "
                                         "of X are in [SIDE.transform.X]."),
    [TERM_MECHANISM] = DPF_PARAM_TEXT_F("mechanism", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                                        "The mechanism component, parameters in [SIDE.mechanism]; empty: the "
                                        "side is local and its rows never leave their party."),
    [TERM_AGGREGATOR] = DPF_PARAM_TEXT_F("aggregator", DPF_TYPE_STRING, "sum", DPF_PARAM_PRIVACY,
                                         "The aggregator component, parameters in [SIDE.aggregator]."),
    [TERM_RESIDUAL] = DPF_PARAM_ENUM_F("residual", RESIDUAL_TRANSFORMED, residual_values, DPF_PARAM_PRIVACY,
                                       "The rows of the other side that predictions inside the loss use."),
    [TERM_RETURNED] = DPF_PARAM_ENUM_F(
        "returned", RETURNED_RAW, returned_values, 0,
        "The rows of the other side that the run returns: it predicts from them and writes them."),
    [TERM_LAYOUT] = DPF_PARAM_ENUM_F("block-layout", LAYOUT_PACKED, layout_values, DPF_PARAM_PRIVACY,
                                     "Layout of released quadratic blocks."),
    [TERM_BLOCK_SHARES] = DPF_PARAM_LIST_F(
        "block-shares", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, DPF_PARAM_PRIVACY, "",
        "Shares of the mechanism's budget for the query's blocks in their order; they add up "
        "to 1. Default: equal shares for the blocks that a unit can move; if one bound covers "
        "several blocks, noise in the ratio of its weights."),
    [TERM_GRAM_SHARE] = DPF_PARAM_REAL_F(
        "gram-share", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
        "Fraction of the mechanism's budget for the Gram row of the query; the other rows get "
        "the rest. If one bound covers the Gram row and the rows, nothing is divided, and any "
        "number above 0 has the same effect. At 0 the Gram row gets no noise."),
    [TERM_BOUNDS] = DPF_PARAM_ENUM_F("bounds", BOUNDS_PUBLIC, bounds_values, DPF_PARAM_PRIVACY,
                                     "Where the norms in the sensitivities come from."),
    [TERM_MAX_PARTICIPATIONS] = DPF_PARAM_INT_F(
        "max-participations", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "rounds",
        "The most rounds in which a user takes part. The term is charged as that many releases "
        "without amplification, or as all with it, whichever costs less. 0: no limit."),
    [TERM_SEND] = DPF_PARAM_ENUM_F(
        "send", SEND_ROWS, send_values, DPF_PARAM_PRIVACY,
        "What users send to users who link to them, for source = relation with a mechanism."),
};
TABLE(term, TERM_N_PARAMS)

static const dpf_param accountants_table[ACCOUNTANTS_N_PARAMS] = {
    [ACCOUNTANTS_LIST] = DPF_PARAM_TEXT_F("list", DPF_TYPE_STRING, "", 0,
                                          "Accountant components, separated by commas; the parameters of X "
                                          "are in [accountants.X]."),
};
TABLE(accountants, ACCOUNTANTS_N_PARAMS)

/* The evaluation's section is added by the command, which is above this room. */
const struct schema_section *schema_sections(int64_t *n)
{
    static const struct schema_section sections[] = {
        {"run", "the run as a whole", schema_run},
        {"data", "records and where they come from", data_params},
        {"split", "training and test part", split_params},
        {"model", "what is fitted: the factorization, or a recommender in its place", schema_model},
        {"parties", "who holds the records", schema_parties},
        {"privacy", "what is promised to whom", privacy_params},
        {"accountants", "who computes epsilon", schema_accountants},
        {"users", "the side step that solves the users' rows", schema_side},
        {"items", "the side step that solves the items' rows", schema_side},
        {"users.TERM", "one of several terms of a side; the keys of a single term are in the side's section",
         schema_term},
    };
    *n = (int64_t)(sizeof sections / sizeof sections[0]);
    return sections;
}
