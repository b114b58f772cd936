/* SPDX-License-Identifier: Apache-2.0 */
#include "run/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Errors of predictions are compared to this many thousandths; nothing is known of their spread. */
#define RATING_TOLERANCE 0.002
/* Standard errors within which two means over users are the same. */
#define DEVIATIONS 2.0
/* Below so many records an item, private factors of items carry little. */
#define FEW_RECORDS 50.0

/* The metric that is judged: the first of these that there is, at its first cut-off. */
struct judged {
    const struct metric *own;
    int smaller_is_better;
    const struct verdict_rival *rival;
    double other; /* its value */
};

static const char *const of_lists[] = {"popularity", "private-popularity", NULL};
static const char *const of_ratings[] = {"mean", "biases", "private-biases", NULL};

static const char *subject_of(const char *rival)
{
    static const struct {
        const char *name, *subject;
    } subjects[] = {
        {"popularity", "a list of popular items"},
        {"private-popularity", "a list of popular items released with the same epsilon (private-popularity)"},
        {"mean", "the mean of all ratings"},
        {"biases", "biases of users and items"},
        {"private-biases", "biases released with the same epsilon (private-biases)"}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (strcmp(subjects[i].name, rival) == 0)
            return subjects[i].subject;
    return rival;
}

static const struct metric *first_named(const struct metrics *metrics, const char *name)
{
    const size_t length = strlen(name);
    for (int64_t i = 0; i < metrics->n; i++) {
        const char *at = metrics->items[i].name;
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == '@') &&
            isfinite(metrics->items[i].value))
            return &metrics->items[i];
    }
    return NULL;
}

static const struct metric *first_of(const struct metrics *metrics, const char *const *names)
{
    for (; *names; names++) {
        const struct metric *found = first_named(metrics, *names);
        if (found)
            return found;
    }
    return NULL;
}

static int choose(const struct metrics *test, int implicit, struct judged *out)
{
    static const char *const ranking[] = {"ndcg", "hr", "recall", "map", "mrr", "precision", NULL};
    static const char *const rating[] = {"rmse", "mae", NULL};
    const struct metric *ranks = first_of(test, ranking), *rates = implicit ? NULL : first_of(test, rating);
    if (!ranks && !rates)
        return -1;
    *out = (struct judged){.own = rates ? rates : ranks, .smaller_is_better = rates != NULL};
    return 0;
}

const char *const *verdict_rivals(const struct metrics *test, int implicit)
{
    struct judged judged;
    return choose(test, implicit, &judged) != 0 ? NULL : judged.smaller_is_better ? of_ratings : of_lists;
}

static double value_of(const struct judged *judged, const struct verdict_rival *rival)
{
    return metrics_find(rival->metrics, judged->own->name);
}

static int is_itself(const struct verdict_input *input, const struct verdict_rival *rival)
{
    return input->model && strcmp(input->model, rival->name) == 0;
}

/* Rivals come with the simplest first and those that could be released last. */
static int judge_input(const struct verdict_input *input, struct judged *out)
{
    if (!input->test || choose(input->test, input->implicit, out) != 0)
        return -1;
    for (int i = 0; i < input->n_rivals; i++) {
        const struct verdict_rival *rival = &input->rivals[i];
        const int decides = !out->rival || rival->epsilon > 0 || !input->has_noise;
        if (decides && !is_itself(input, rival) && isfinite(value_of(out, rival)))
            out->rival = rival;
    }
    out->other = out->rival ? value_of(out, out->rival) : (double)NAN;
    return out->rival ? 0 : -1;
}

/* The variance of a mean over users: by its confidence interval (95 %), else at most p (1 - p), since ranking
   metrics of a user lie in [0, 1]. */
static double variance_of(const struct metric *metric, double value)
{
    const double p = fmin(fmax(value, 0), 1), width = metric->high - metric->low;
    if (isfinite(width) && value == metric->value)
        return width * width / (2 * 1.96 * 2 * 1.96);
    return p * (1 - p) / (double)(metric->n ? metric->n : 1);
}

/* What chance may make of the difference. */
static double tolerance(const struct judged *judged, double value)
{
    if (judged->smaller_is_better)
        return RATING_TOLERANCE * judged->other;
    return DEVIATIONS * sqrt(variance_of(judged->own, value) + variance_of(judged->own, judged->other));
}

static enum verdict compare(const struct judged *judged, double value)
{
    const double gain = judged->smaller_is_better ? judged->other - value : value - judged->other;
    const double chance = tolerance(judged, value);
    return gain > chance ? VERDICT_BETTER : gain < -chance ? VERDICT_WORSE : VERDICT_SAME;
}

enum verdict verdict_judge(const struct verdict_input *input)
{
    struct judged judged;
    return judge_input(input, &judged) == 0 ? compare(&judged, judged.own->value) : VERDICT_NONE;
}

/* Whether the model without noise and clips is better than the one with them. */
static int noise_costs(const struct judged *judged, double without)
{
    struct judged against = *judged;
    against.other = judged->own->value;
    return compare(&against, without) == VERDICT_BETTER;
}

static void add_remedy(const struct verdict_input *input, struct text *out)
{
    const double each = (double)input->records / (double)(input->items ? input->items : 1);
    if (each < FEW_RECORDS)
        text_add(out,
                 " There are only %.0f records an item: more users, fewer items (a catalogue of those that "
                 "matter), or a larger epsilon.",
                 each);
    else
        text_add(out, input->model ? " Try a larger epsilon, or more users."
                                   : " Try a larger epsilon, fewer rounds, or a smaller rank.");
}

/* Less noise is no remedy where the model is not better without any. */
static void add_cost(const struct verdict_input *input, const struct judged *judged, double without,
                     struct text *out)
{
    const char *name = judged->own->name;
    const enum verdict verdict = compare(judged, without);
    if (verdict == VERDICT_BETTER) {
        text_add(out, " Noise and clips are the cause: without them %s is %.4f.", name, without);
        add_remedy(input, out);
    } else
        text_add(
            out, " Noise and clips cost accuracy, but even without them %s would be %.4f, %s better than %s.",
            name, without, verdict == VERDICT_SAME ? "not reliably" : "no", subject_of(judged->rival->name));
}

static void add_reason(const struct verdict_input *input, const struct judged *judged, struct text *out)
{
    const char *name = judged->own->name;
    const double without = input->non_private ? metrics_find(input->non_private, name) : (double)NAN;
    if (isfinite(without) && noise_costs(judged, without)) {
        add_cost(input, judged, without, out);
    } else if (isfinite(without)) {
        text_add(out, " Noise is not the cause: without it %s is %.4f. %s", name, without,
                 input->model ? "There is little to learn from these records beyond that."
                              : "Try other parameters of the model, first without mechanisms.");
    } else if (input->has_noise) {
        add_remedy(input, out);
        text_add(out, " [run] compare = non-private shows whether noise is the cause.");
    }
    if (!input->model)
        text_add(out, " configs/recommended has models for such data.");
}

/* What the rivals that did not decide have. */
static void add_others(const struct verdict_input *input, const struct judged *judged, struct text *out)
{
    int n = 0;
    for (int i = input->n_rivals - 1; i >= 0; i--) {
        const struct verdict_rival *rival = &input->rivals[i];
        const double value = value_of(judged, rival);
        if (rival == judged->rival || is_itself(input, rival) || !isfinite(value))
            continue;
        text_add(out, n ? ", %s %.4f" : " Without privacy %s would have %.4f", subject_of(rival->name),
                 value);
        n++;
    }
    if (n)
        text_add(out, ".");
}

static void add_comparison(const struct judged *judged, enum verdict verdict, struct text *out)
{
    static const char *const words[][2] = {
        [VERDICT_BETTER] = {"ranks better than", "predicts better than"},
        [VERDICT_SAME] = {"does not rank reliably better than", "does not predict reliably better than"},
        [VERDICT_WORSE] = {"ranks worse than", "predicts worse than"}};
    text_add(out, "Verdict: the model %s %s: %s is %.4f against %.4f",
             words[verdict][judged->smaller_is_better], subject_of(judged->rival->name), judged->own->name,
             judged->own->value, judged->other);
    const double change = judged->other != 0 ? 100 * (judged->own->value / judged->other - 1) : 0;
    if (change != 0)
        text_add(out, fabs(change) < 2 ? " (%+.1f %%)" : " (%+.0f %%)", change);
    if (verdict == VERDICT_SAME)
        text_add(out, ", which may be chance with %lld %s.", (long long)judged->own->n,
                 judged->smaller_is_better ? "records" : "users");
    else
        text_add(out, ".");
}

/* Whether the rival is better, be it by chance. */
static int is_behind(const struct judged *judged)
{
    const enum verdict verdict = compare(judged, judged->own->value);
    const int higher = (judged->own->value > judged->other) != judged->smaller_is_better;
    return verdict == VERDICT_WORSE || (verdict == VERDICT_SAME && !higher);
}

/* One of the simple models itself. */
static int is_fallback(const struct verdict_input *input)
{
    return input->model && subject_of(input->model) != input->model;
}

int verdict_gives_reason(const struct verdict_input *input)
{
    struct judged judged;
    return judge_input(input, &judged) == 0 && is_behind(&judged) && !is_fallback(input);
}

char *verdict_text(const struct verdict_input *input)
{
    struct judged judged;
    struct text out = {0};
    if (judge_input(input, &judged) != 0)
        return NULL;
    const enum verdict verdict = compare(&judged, judged.own->value);
    const int is_private = judged.rival->epsilon > 0;
    add_comparison(&judged, verdict, &out);
    add_others(input, &judged, &out);
    if (is_behind(&judged)) {
        if (is_private)
            text_add(&out,
                     " Train that one instead: dpframe start FILE recipe=%s, or "
                     "configs/corrected/%s.ini.",
                     judged.rival->name, judged.rival->name);
        if (!is_fallback(input))
            add_reason(input, &judged, &out);
    }
    if (is_private)
        text_add(&out, " These figures are private, and so is a choice by them: no epsilon covers it (C10).");
    text_add(&out, "\n");
    if (out.failed)
        text_free(&out);
    return out.data;
}
