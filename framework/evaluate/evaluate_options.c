/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/evaluate_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ranks.h"
#include "base/text.h"

enum {
    P_METRICS,
    P_K,
    P_RANKING,
    P_NEGATIVES,
    P_NEGATIVES_FROM,
    P_SEEN,
    P_RELEVANCE,
    P_CLIP,
    P_SHIFT,
    P_COLD,
    P_BANDS,
    P_POPULARITY_BANDS,
    P_USERS,
    P_BOOTSTRAP,
    P_CONFIDENCE,
    P_TRAIN,
    P_RELEASE,
    P_RELEASE_NOISE,
    P_RELEASE_EPSILON,
    P_RELEASE_SHARE,
    P_RELEASE_ERROR,
    P_RELEASE_RECORDS,
    P_COUNT
};

enum { RANKING_FULL, RANKING_SAMPLED, RANKING_SAMPLED_ONLY };
static const dpf_enum_value rankings[] = {
    {"full", "Rank the positives among all items, or among the user's candidates if the split gives any."},
    {"sampled",
     "Rank them among a fixed random sample of items that the user never touched, which is comparable "
     "only with other figures of the same protocol. The same metrics of the full ranking stand beside "
     "them, as full-hr@10."},
    {"sampled-only", "The same without the full ranking, which takes longer."},
};

static const dpf_enum_value negatives_from[] = {
    [EVALUATE_NEGATIVES_ALL] = {"all",
                                "All items, each equally likely, also those that nobody has a record of."},
    [EVALUATE_NEGATIVES_RATED] = {"rated", "Items with a training record, each equally likely."},
    [EVALUATE_NEGATIVES_POPULARITY] = {"popularity",
                                       "Items with a training record, one after the other, each as "
                                       "likely as it has training records."},
};

enum { SEEN_MASK, SEEN_KEEP };
static const dpf_enum_value seen_values[] = {
    {"mask", "Items of the user's training records are not recommended again."},
    {"keep", "They stay in the list."},
};

static const dpf_enum_value clips[] = {
    [EVALUATE_CLIP_AUTO] = {"auto", "Clip explicit feedback whose range is declared."},
    [EVALUATE_CLIP_YES] = {"yes", "Clip; the range must be declared."},
    [EVALUATE_CLIP_NO] = {"no", "Take predictions as they are."},
};

static const dpf_enum_value colds[] = {
    [EVALUATE_COLD_MEAN] = {"mean", "Predict them as the mean of all training records: every record counts."},
    [EVALUATE_COLD_SKIP] = {"skip", "Leave them out of the rating metrics."},
    [EVALUATE_COLD_MODEL] = {"model",
                             "Predict them by the model, which suits models of averages and biases."},
};

enum { RELEASE_PRIVATE, RELEASE_NOISY };
static const dpf_enum_value releases[] = {
    {"private", "Metrics are for the curator: private, not covered by the guarantee."},
    {"noisy", "Metrics that are means over users or records are released as well, in release/metrics.csv: "
              "each user's part is bounded, sums get noise, and the ledger charges them. All others stay "
              "private. The model then predicts cold records, too."},
};

enum { RELEASE_GAUSSIAN, RELEASE_LAPLACE };
static const dpf_enum_value release_noises[] = {
    {"gaussian", "Discrete Gaussian noise."},
    {"laplace", "Discrete Laplace noise, for delta = 0 and the accountant pure. It is larger if many metrics "
                "are released."},
};

#define LARGEST_CUTOFF 1000000

static const dpf_param params[P_COUNT] = {
    [P_METRICS] = DPF_PARAM_TEXT_F(
        "metrics", DPF_TYPE_STRING, "auto", DPF_PARAM_PRIVACY,
        "Comma-separated names of metrics; see docs/metrics.md. Where k is not set, hr@10 sets it, for all. "
        "auto: rmse and mae of explicit feedback, and hr, ndcg, precision, "
        "recall, map, mrr, coverage, mrank."),
    [P_K] = DPF_PARAM_LIST_F("k", DPF_TYPE_INT_LIST, "10", 1, LARGEST_CUTOFF, DPF_PARAM_PRIVACY, "items",
                             "Cut-offs of ranking metrics: each is reported at each k."),
    [P_RANKING] = DPF_PARAM_ENUM_F("ranking", RANKING_FULL, rankings, 0,
                                   "The items among which a user's positives are ranked."),
    [P_NEGATIVES] = DPF_PARAM_INT_F("negatives", 99, 1, 1e9, 0, "items",
                                    "Sampled ranking: items drawn for each user, without replacement, from "
                                    "those in neither the training nor the test records of the user. They "
                                    "depend on run.seed and the split, never on the model."),
    [P_NEGATIVES_FROM] = DPF_PARAM_ENUM_F(
        "negatives-from", EVALUATE_NEGATIVES_ALL, negatives_from, 0,
        "Sampled ranking: the items that negatives are drawn from. rated and popularity read "
        "everybody's training records, so that such metrics cannot be released with noise."),
    [P_SEEN] = DPF_PARAM_ENUM_F("seen", SEEN_MASK, seen_values, 0, "Items in the user's training records."),
    [P_RELEVANCE] = DPF_PARAM_REAL_F("relevance-threshold", -INFINITY, -INFINITY, INFINITY, 0, "",
                                     "A test record is a positive if its value is at least this. -inf: "
                                     "every test record."),
    [P_CLIP] = DPF_PARAM_ENUM_F("clip-predictions", EVALUATE_CLIP_AUTO, clips, 0,
                                "Whether predictions are clipped to the declared range of values before "
                                "they are compared."),
    [P_SHIFT] = DPF_PARAM_BOOL_F("shift-to-user-mean", 0, 0,
                                 "Add a constant to each user's predictions so that their mean is the mean "
                                 "of the user's training records, before clipping."),
    [P_COLD] = DPF_PARAM_ENUM_F("cold", EVALUATE_COLD_MEAN, colds, 0,
                                "Rating metrics: test records whose user or item has no training record."),
    [P_BANDS] =
        DPF_PARAM_LIST_F("activity-bands", DPF_TYPE_INT_LIST, "", 1, 9e15, 0, "records",
                         "Boundaries between bands of users by their number of training records, "
                         "ascending; 25,50 makes 0-24, 25-49 and 50+. Adds what metrics asks for: "
                         "the MSE of each band and the variance between bands, and the ranking metrics "
                         "of each band."),
    [P_POPULARITY_BANDS] = DPF_PARAM_LIST_F(
        "popularity-bands", DPF_TYPE_INT_LIST, "", 1, 9e15, 0, "records",
        "Boundaries between bands of items by their number of training records, ascending. Adds the recall "
        "of each band at each k: the share of positives among such items that is found."),
    [P_USERS] =
        DPF_PARAM_INT_F("users", 0, 0, 1e9, 0, "users",
                        "Metrics of the test part from so many of the users who have test records, drawn "
                        "by their ids and run.seed, with intervals (bootstrap = 1000 where it is not "
                        "set); 0: all. For many users or large catalogues."),
    [P_BOOTSTRAP] =
        DPF_PARAM_INT_F("bootstrap", 0, 0, 100000, 0, "replicates",
                        "Number of resamples of users for a confidence interval of each average; 1000 is "
                        "usual, 0 leaves it out. The interval covers the choice of tested users, but neither "
                        "splits nor noise nor initial values: repeat the run for those."),
    [P_CONFIDENCE] = DPF_PARAM_REAL_F("confidence", 0.95, 0.0, 1.0, DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                      "Level of those intervals."),
    [P_TRAIN] = DPF_PARAM_BOOL_F("train", 0, 0,
                                 "Also evaluate on the training records (seen items are then not masked)."),
    [P_RELEASE] = DPF_PARAM_ENUM_F("release", RELEASE_PRIVATE, releases, DPF_PARAM_PRIVACY,
                                   "Whether the run releases metrics."),
    [P_RELEASE_NOISE] = DPF_PARAM_ENUM_F("release-noise", RELEASE_GAUSSIAN, release_noises, DPF_PARAM_PRIVACY,
                                         "The noise of released metrics."),
    [P_RELEASE_EPSILON] =
        DPF_PARAM_REAL_F("release-epsilon", 0.1, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Epsilon of all released metrics together, at [privacy] delta, by the accountant "
                         "calibrate-by; for [privacy] budget = per-release. The run's epsilon includes it."),
    [P_RELEASE_SHARE] = DPF_PARAM_REAL_F(
        "release-share", 0.1, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
        "The same for budget = total, as a part of total-epsilon: the metrics by themselves have this part, "
        "and "
        "the noise of the model is chosen such that both together have total-epsilon."),
    [P_RELEASE_ERROR] =
        DPF_PARAM_REAL_F("release-error", 0.0, 0.0, 1e9, DPF_PARAM_PRIVACY, "",
                         "Released rating metrics: the limit for a user's mean error, and its square for "
                         "squared errors. 0: the length of the declared range of values. Smaller bounds mean "
                         "less noise, and clip users with larger errors."),
    [P_RELEASE_RECORDS] = DPF_PARAM_INT_F(
        "release-records", 10, 1, MOST_RELEASED_RECORDS, DPF_PARAM_PRIVACY, "records",
        "Released rmse, mse and mae: a user with more test records counts as having this many. "
        "1 weighs all users alike and has the least noise."),
};

int evaluate_on_train(const struct config_values *values)
{
    return values->params.values[P_TRAIN].integer != 0;
}

const dpf_param *evaluate_params(int64_t *n)
{
    *n = P_COUNT;
    return params;
}

/* What a message is about. */
struct place {
    const struct config_values *values;
    struct dpf_error *error;
};

#define refuse(place, param, ...)                                                                            \
    config_value_error((place)->values, params[param].name, (place)->error, __VA_ARGS__)

int evaluate_options_chosen(const struct evaluate_options *options, enum metric_id id)
{
    for (int i = 0; i < options->n_chosen; i++)
        if (options->chosen[i] == id)
            return 1;
    return 0;
}

int evaluate_options_rate(const struct evaluate_options *options)
{
    int ranks = 0;
    for (int i = 0; i < options->n_chosen; i++) {
        if (metric_is_rating(options->chosen[i]))
            return 1;
        ranks = 1;
    }
    return options->n_bands > 0 && !ranks; /* bands of users have what is asked for of all of them */
}

int evaluate_options_rank(const struct evaluate_options *options)
{
    for (int i = 0; i < options->n_chosen; i++)
        if (!metric_is_rating(options->chosen[i]))
            return 1;
    return options->n_popularity_bands > 0;
}

/* "hr@10": the cut-offs that names have are collected; read_cutoffs compares them with k. */
static int take_named_cutoff(struct evaluate_options *out, int id, const char *name,
                             const struct place *place)
{
    int64_t k;
    if (!metric_has_cutoff((enum metric_id)id))
        return refuse(place, P_METRICS, "\"%s\": this metric has no cut-off; write %s", name,
                      metric_name((enum metric_id)id));
    if (text_to_int(strchr(name, '@') + 1, &k) != 0 || k < 1 || k > LARGEST_CUTOFF)
        return refuse(place, P_METRICS, "\"%s\": a cut-off is a number from 1 to %d", name, LARGEST_CUTOFF);
    for (int64_t i = 0; i < out->n_cutoffs; i++)
        if (out->cutoffs[i] == k)
            return 0;
    if (out->n_cutoffs == MOST_CUTOFFS)
        return refuse(place, P_METRICS, "at most %d cut-offs", MOST_CUTOFFS);
    out->cutoffs[out->n_cutoffs++] = k;
    return 0;
}

static int choose(struct evaluate_options *out, const char *name, const struct place *place)
{
    char bare[48];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "@"), name);
    const int id = metric_by_name(bare);
    if (id >= 0 && strchr(name, '@')) {
        const int is_new = !evaluate_options_chosen(out, (enum metric_id)id);
        if (is_new)
            out->chosen[out->n_chosen++] = (enum metric_id)id;
        return take_named_cutoff(out, id, name, place);
    }
    if (id < 0) {
        const char *nearest = metric_nearest(name);
        return refuse(place, P_METRICS, "there is no metric \"%s\"%s%s%s", name,
                      nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
    if (evaluate_options_chosen(out, (enum metric_id)id))
        return refuse(place, P_METRICS, "\"%s\" is listed twice", name);
    out->chosen[out->n_chosen++] = (enum metric_id)id;
    return 0;
}

/* Splits at commas; blanks around names do not matter. */
static int choose_listed(struct evaluate_options *out, const char *text, const struct place *place)
{
    for (const char *p = text;;) {
        size_t length = strcspn(p, ",");
        const char *end = p + length;
        const char *first = p, *last = end;
        while (first < last && isspace((unsigned char)*first))
            first++;
        while (last > first && isspace((unsigned char)last[-1]))
            last--;
        char name[48];
        size_t size = (size_t)(last - first);
        if (size == 0)
            return refuse(place, P_METRICS, "a name is missing in \"%s\"", text);
        if (size >= sizeof name)
            return refuse(place, P_METRICS, "there is no metric \"%.*s\"", (int)size, first);
        memcpy(name, first, size);
        name[size] = '\0';
        if (choose(out, name, place) != 0)
            return -1;
        if (*end == '\0')
            return 0;
        p = end + 1;
    }
}

static int read_metrics(struct evaluate_options *out, const char *text, int implicit,
                        const struct place *place)
{
    if (strcmp(text, "auto") != 0)
        return choose_listed(out, text, place);
    for (int id = 0; id < METRIC_COUNT; id++)
        if (metric_is_automatic((enum metric_id)id, implicit))
            out->chosen[out->n_chosen++] = (enum metric_id)id;
    return 0;
}

static int lists(const dpf_value *value, int64_t k)
{
    for (int64_t i = 0; i < value->count; i++)
        if (value->integers[i] == k)
            return 1;
    return 0;
}

/* Those of k; without it, those that metrics are named with. */
static int read_cutoffs(struct evaluate_options *out, const dpf_value *value, const struct place *place)
{
    if (value->count < 1)
        return refuse(place, P_K, "give at least one cut-off, such as 10");
    if (value->count > MOST_CUTOFFS)
        return refuse(place, P_K, "at most %d cut-offs", MOST_CUTOFFS);
    for (int64_t i = 0; i < value->count; i++)
        for (int64_t j = 0; j < i; j++)
            if (value->integers[j] == value->integers[i])
                return refuse(place, P_K, "%lld is listed twice", (long long)value->integers[i]);
    for (int64_t i = 0; i < out->n_cutoffs && value->is_set; i++)
        if (!lists(value, out->cutoffs[i]))
            return refuse(place, P_METRICS,
                          "a name has the cut-off %lld, which k does not list: add it there",
                          (long long)out->cutoffs[i]);
    if (value->is_set || out->n_cutoffs == 0) {
        memcpy(out->cutoffs, value->integers, (size_t)value->count * sizeof *out->cutoffs);
        out->n_cutoffs = value->count;
    }
    for (int64_t i = 0; i < out->n_cutoffs; i++)
        if (out->cutoffs[i] > out->largest_cutoff)
            out->largest_cutoff = out->cutoffs[i];
    return 0;
}

static int read_bands(int param, const dpf_value *value, const int64_t **bands, int64_t *n,
                      const struct place *place)
{
    *bands = value->integers;
    *n = value->count;
    for (int64_t i = 1; i < value->count; i++)
        if (value->integers[i] <= value->integers[i - 1])
            return refuse(place, param, "boundaries must ascend, but %lld follows %lld",
                          (long long)value->integers[i], (long long)value->integers[i - 1]);
    return 0;
}

/* What a user contributes to released metrics follows from released factors and the user's own records. */
static int read_release(const dpf_value *value, struct evaluate_options *out, const struct place *place)
{
    out->release = value[P_RELEASE].integer == RELEASE_NOISY;
    out->release_laplace = value[P_RELEASE_NOISE].integer == RELEASE_LAPLACE;
    out->release_epsilon = value[P_RELEASE_EPSILON].real;
    out->release_share = value[P_RELEASE_SHARE].real;
    out->release_error = value[P_RELEASE_ERROR].real;
    out->release_records = value[P_RELEASE_RECORDS].integer;
    for (int p = P_RELEASE_NOISE; p <= P_RELEASE_RECORDS; p++)
        if (value[p].is_set && !out->release)
            return refuse(place, p, "has no effect on private metrics; set release = noisy or remove it");
    if (!out->release)
        return 0;
    /* Both read the records of others: the mean of all, or whether anybody has rated an item. */
    if (value[P_COLD].is_set && out->cold != EVALUATE_COLD_MODEL)
        return refuse(place, P_COLD,
                      "what a user contributes to released metrics must follow from released factors and "
                      "the user's own records; set cold = model, or release = private");
    if (out->sampled && out->negatives_from != EVALUATE_NEGATIVES_ALL)
        return refuse(
            place, P_NEGATIVES_FROM,
            "which negatives a user is ranked among then follows from the records of others, and what a "
            "user contributes to released metrics must not; set negatives-from = all, or release = private");
    out->cold = EVALUATE_COLD_MODEL;
    if (out->users > 0)
        return refuse(place, P_USERS,
                      "released metrics count every user, or who is drawn would be told; remove it, or set "
                      "release = private");
    return 0;
}

int evaluate_options_read(const struct config_values *values, int implicit, struct evaluate_options *out,
                          struct dpf_error *error)
{
    const struct place place = {values, error};
    const dpf_value *value = values->params.values;
    memset(out, 0, sizeof *out);
    out->values = values;
    out->sampled = value[P_RANKING].integer != RANKING_FULL;
    out->beside_full = value[P_RANKING].integer == RANKING_SAMPLED;
    out->negatives_from = (enum evaluate_negatives)value[P_NEGATIVES_FROM].integer;
    out->negatives = value[P_NEGATIVES].integer;
    out->mask_seen = value[P_SEEN].integer == SEEN_MASK;
    out->relevance = value[P_RELEVANCE].real;
    out->clip = (enum evaluate_clip)value[P_CLIP].integer;
    out->shift = value[P_SHIFT].integer != 0;
    out->cold = (enum evaluate_cold)value[P_COLD].integer;
    if (read_metrics(out, value[P_METRICS].text, implicit, &place) != 0 ||
        read_cutoffs(out, &value[P_K], &place) != 0 ||
        read_bands(P_BANDS, &value[P_BANDS], &out->bands, &out->n_bands, &place) != 0 ||
        read_bands(P_POPULARITY_BANDS, &value[P_POPULARITY_BANDS], &out->popularity_bands,
                   &out->n_popularity_bands, &place) != 0)
        return -1;
    out->users = value[P_USERS].integer;
    if (read_release(value, out, &place) != 0)
        return -1;
    if (out->users > 0 && ranks_size() > 1)
        return refuse(&place, P_USERS, "several processes evaluate all users; remove it");
    /* Of a sample, a number without its interval says little. */
    out->replicates = out->users > 0 && !value[P_BOOTSTRAP].is_set ? 1000 : value[P_BOOTSTRAP].integer;
    out->confidence = value[P_CONFIDENCE].real;
    if (value[P_CONFIDENCE].is_set && out->replicates == 0)
        return refuse(&place, P_CONFIDENCE, "has no effect without intervals; set bootstrap = 1000, say");
    for (int p = P_NEGATIVES; p <= P_NEGATIVES_FROM; p++)
        if (value[p].is_set && !out->sampled)
            return refuse(&place, p, "has no effect in full ranking; set ranking = sampled or remove it");
    return 0;
}

int evaluate_check(const struct config_values *values, int implicit, double smallest, double largest,
                   struct dpf_error *error)
{
    struct evaluate_options options;
    const struct place place = {values, error};
    if (evaluate_options_read(values, implicit, &options, error) != 0)
        return -1;
    if (implicit && isfinite(options.relevance) && options.relevance > largest)
        return refuse(&place, P_RELEVANCE,
                      "no value of this implicit feedback is above %g, so nothing would be a positive; "
                      "remove it, or choose what is an interaction with data.threshold",
                      largest);
    /* Not left to the evaluation: whether anybody has a test record must not decide it. */
    if (options.clip == EVALUATE_CLIP_YES && !(isfinite(smallest) && isfinite(largest)))
        return refuse(&place, P_CLIP,
                      "clipping needs the range of values: set [data] value-min and value-max");
    return 0;
}

int evaluate_is_asked_for(const struct config_values *values)
{
    return strcmp(values->params.values[P_METRICS].text, "auto") != 0;
}

static int names_metrics(const struct config_values *values, int (*kind)(const struct evaluate_options *))
{
    struct evaluate_options options;
    struct dpf_error ignored = {0};
    return strcmp(values->params.values[P_METRICS].text, "auto") != 0 &&
           evaluate_options_read(values, 0, &options, &ignored) == 0 && kind(&options);
}

int evaluate_rates(const struct config_values *values)
{
    return names_metrics(values, evaluate_options_rate);
}

int evaluate_ranks(const struct config_values *values)
{
    return names_metrics(values, evaluate_options_rank);
}

int evaluate_ranks_all(const struct config_values *values)
{
    return evaluate_ranks(values) && values->params.values[P_RANKING].integer != RANKING_SAMPLED_ONLY;
}
