/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_options.h"

#include <stdio.h>

enum { P_METRIC, P_REPETITIONS, P_MEAN, P_ETA, P_COUNT };
enum { LAW_GEOMETRIC, LAW_LOGARITHMIC, LAW_NEGATIVE_BINOMIAL, LAW_POISSON };

static const dpf_enum_value laws[] = {
    {"geometric", "At least one run, each followed by another with the same probability (eta = 1)."},
    {"logarithmic", "At least one run; often few, sometimes many, for less epsilon (eta = 0)."},
    {"negative-binomial",
     "The truncated negative binomial law with eta: the larger, the closer to its mean."},
    {"poisson", "Close to its mean, for more epsilon; with probability e^-mean there is no run at all, and "
                "nothing is released."},
};

static const dpf_param params[P_COUNT] = {
    [P_METRIC] = DPF_PARAM_TEXT_F(
        "metric", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY | DPF_PARAM_REQUIRED,
        "The metric that decides: one that [evaluate] release = noisy releases, by its name in "
        "release/metrics.csv. Small errors and mrank are best, large values of all other metrics."),
    [P_REPETITIONS] =
        DPF_PARAM_ENUM_F("repetitions", LAW_GEOMETRIC, laws, DPF_PARAM_PRIVACY,
                         "The law of the number of runs. The number is drawn with the key of the "
                         "noise and stays secret."),
    [P_MEAN] =
        DPF_PARAM_REAL_F("mean", 10.0, 0.0, REPETITIONS_MOST_MEAN, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO,
                         "runs", "Mean number of runs, each of a candidate that is drawn anew."),
    [P_ETA] = DPF_PARAM_REAL_F("eta", 0.5, -1.0, REPETITIONS_MOST_ETA, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO,
                               "", "Shape of the law negative-binomial."),
};

const dpf_param *select_params(int64_t *n)
{
    *n = P_COUNT;
    return params;
}

int select_present(const struct config *config)
{
    return config_has_section(config, "select");
}

static int make_law(const struct config *config, const dpf_value *values, struct select_options *out,
                    struct dpf_error *error)
{
    const int64_t law = values[P_REPETITIONS].integer;
    const double mean = values[P_MEAN].real;
    out->law_name = laws[law].name;
    if (values[P_ETA].is_set && law != LAW_NEGATIVE_BINOMIAL)
        return config_error(config, "select", "eta", error,
                            "has no effect on repetitions = %s; set negative-binomial or remove it",
                            laws[law].name);
    const double eta = law == LAW_GEOMETRIC ? 1.0 : law == LAW_LOGARITHMIC ? 0.0 : values[P_ETA].real;
    const int status = law == LAW_POISSON ? repetitions_poisson(mean, &out->law)
                                          : repetitions_negative_binomial(eta, mean, &out->law);
    if (status == 0)
        return 0;
    if (mean < 1.0)
        return config_error(config, "select", "mean", error,
                            "must be at least 1, the least number of runs of all laws but poisson");
    return config_error(
        config, "select", "mean", error,
        "%g runs are more than this law can have with eta = %g and gamma of at least %g: take a "
        "smaller mean or a larger eta",
        mean, eta, REPETITIONS_LEAST_GAMMA);
}

int select_options_read(struct config *config, struct select_options *out, struct dpf_error *error)
{
    struct config_values values;
    *out = (struct select_options){.metric = ""};
    if (config_bind(config, "select", params, P_COUNT, sizeof params[0], NULL, 1, &values, error) != 0)
        return -1;
    const dpf_value *v = values.params.values;
    snprintf(out->metric, sizeof out->metric, "%s", v[P_METRIC].text);
    const int status = !*out->metric ? config_error(config, "select", "metric", error, "names no metric")
                                     : make_law(config, v, out, error);
    config_values_free(&values);
    return status;
}

int select_consume(struct config *config, struct dpf_error *error)
{
    struct select_options ignored;
    return select_present(config) ? select_options_read(config, &ignored, error) : 0;
}
