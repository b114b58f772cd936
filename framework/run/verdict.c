/* SPDX-License-Identifier: Apache-2.0 */
#include "run/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "evaluate/paired_users.h"

#define LEVEL 0.05
/* Below so many records an item, private factors of items carry little. */
#define FEW_RECORDS 50.0

/* The metric that is judged: the first of these that there is, at its first cut-off. */
struct judged {
    const struct metric *own;
    int smaller_is_better;
    const struct verdict_rival *rival;
    double other; /* its value */
    const struct random_root *seeded;
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
    out->seeded = input->seeded;
    for (int i = 0; i < input->n_rivals; i++) {
        const struct verdict_rival *rival = &input->rivals[i];
        const int decides = !out->rival || rival->epsilon > 0 || !input->has_noise;
        if (decides && !is_itself(input, rival) && isfinite(value_of(out, rival)))
            out->rival = rival;
    }
    out->other = out->rival ? value_of(out, out->rival) : (double)NAN;
    return out->rival ? 0 : -1;
}

/* Whether a is better than b by the judged metric, on the same test records. */
static enum verdict compare(const struct judged *judged, const struct metrics *a, const struct metrics *b,
                            struct paired_users *out)
{
    const char *name = judged->own->name;
    struct dpf_error ignored = {0};
    *out = (struct paired_users){.p = (double)NAN, .why_not = "there are no results by user"};
    const int ma = a->by_user ? user_values_find(a->by_user, name) : -1;
    const int mb = b->by_user ? user_values_find(b->by_user, name) : -1;
    if (ma < 0 || mb < 0 || a->by_user->n_users != b->by_user->n_users ||
        paired_users_compare(a->by_user, b->by_user, ma, mb, NULL, a->by_user->n_users,
                             judged->smaller_is_better, 1, judged->seeded, out, &ignored) != 0 ||
        !(out->p < LEVEL))
        return VERDICT_OPEN;
    return (out->difference > 0) != judged->smaller_is_better ? VERDICT_BETTER : VERDICT_WORSE;
}

static enum verdict compare_rival(const struct verdict_input *input, const struct judged *judged,
                                  struct paired_users *out)
{
    return compare(judged, input->test, judged->rival->metrics, out);
}

enum verdict verdict_judge(const struct verdict_input *input)
{
    struct judged judged;
    struct paired_users ignored;
    return judge_input(input, &judged) == 0 ? compare_rival(input, &judged, &ignored) : VERDICT_NONE;
}

/* Whether the model without noise and clips is better than the one with them. */
static int noise_costs(const struct verdict_input *input, const struct judged *judged)
{
    struct paired_users ignored;
    return compare(judged, input->non_private, input->test, &ignored) == VERDICT_BETTER;
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

/* What the metric is without noise, with 95 % where it was estimated. */
static void format_without(const struct verdict_input *input, const char *name, char out[96])
{
    for (int64_t i = 0; i < input->non_private->n; i++) {
        const struct metric *metric = &input->non_private->items[i];
        if (strcmp(metric->name, name) != 0)
            continue;
        if (input->sampled)
            snprintf(out, 96, "%.4f ± %.4f (from %lld of the users)", metric->value,
                     metric->high - metric->value, (long long)input->sampled);
        else
            snprintf(out, 96, "%.4f", metric->value);
    }
}

/* Less noise is no remedy where the model is not better without any. */
static void add_cost(const struct verdict_input *input, const struct judged *judged, const char *without,
                     struct text *out)
{
    const char *name = judged->own->name;
    struct paired_users ignored;
    const enum verdict verdict = compare(judged, input->non_private, judged->rival->metrics, &ignored);
    if (verdict == VERDICT_BETTER) {
        text_add(out, " Noise and clips are the cause: without them %s is %s.", name, without);
        add_remedy(input, out);
    } else
        text_add(
            out, " Noise and clips cost accuracy, but even without them %s would be %s, %s better than %s.",
            name, without, verdict == VERDICT_OPEN ? "not reliably" : "no", subject_of(judged->rival->name));
}

static void add_reason(const struct verdict_input *input, const struct judged *judged, struct text *out)
{
    const char *name = judged->own->name;
    const int known = input->non_private && isfinite(metrics_find(input->non_private, name));
    char without[96] = "";
    if (known)
        format_without(input, name, without);
    if (known && noise_costs(input, judged)) {
        add_cost(input, judged, without, out);
    } else if (known) {
        text_add(out, " Noise is not the cause: without it %s is %s. %s", name, without,
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
        if (n == 0)
            text_add(out, " Without privacy%s ", input->at_home ? ", and without home terms," : "");
        text_add(out, n ? ", %s %.4f" : "%s would have %.4f", subject_of(rival->name), value);
        n++;
    }
    if (n)
        text_add(out, ".");
}

/* What the test rests on; where it could not tell, what it could have told. */
static void add_test(const struct paired_users *paired, enum verdict verdict, struct text *out)
{
    if (paired->why_not)
        text_add(out, "; %s.", paired->why_not);
    else
        text_add(
            out,
            "; difference %+.4f, 95 %% interval %+.4f to %+.4f, p %s%.4f, %lld users: %lld win, %lld lose.",
            paired->difference, paired->low, paired->high, paired->p < 1e-4 ? "< " : "= ",
            fmax(paired->p, 1e-4), (long long)paired->users, (long long)paired->wins,
            (long long)paired->losses);
    if (verdict == VERDICT_OPEN && paired->visible > 0)
        text_add(out, " A difference of %.4f would have been found.", paired->visible);
    if (!paired->why_not && paired->users < VERDICT_FEW_USERS)
        text_add(out, " This test part is small.");
}

/* Who is worse off by more than chance, by activity: a mean can hide them. */
static void add_losers(const struct verdict_input *input, const struct judged *judged, struct text *out)
{
    const struct user_values *a = input->test->by_user, *b = judged->rival->metrics->by_user;
    const int ma = a ? user_values_find(a, judged->own->name) : -1,
              mb = b ? user_values_find(b, judged->own->name) : -1;
    struct paired_band bands[PAIRED_BANDS];
    struct dpf_error ignored = {0};
    int n = 0, losing = 0;
    if (ma < 0 || mb < 0 || a->n_users != b->n_users ||
        paired_users_bands(a, b, ma, mb, NULL, a->n_users, judged->smaller_is_better, judged->seeded, bands,
                           &n, &ignored) != 0)
        return;
    for (int i = 0; i < n; i++) {
        const struct paired_users *p = &bands[i].paired;
        if (!(judged->smaller_is_better ? p->low > 0 : p->high < 0))
            continue;
        text_add(out,
                 losing++ ? ", those with %.0f to %.0f (%+.4f)"
                          : " Users with %.0f to %.0f training records (%+.4f)",
                 bands[i].least, bands[i].most, p->difference);
    }
    if (losing)
        text_add(out, " are worse off than with %s.", subject_of(judged->rival->name));
}

static void add_comparison(const struct judged *judged, enum verdict verdict,
                           const struct paired_users *paired, struct text *out)
{
    static const char *const words[][2] = {
        [VERDICT_BETTER] = {"the model ranks better than", "the model predicts better than"},
        [VERDICT_OPEN] = {"this test part cannot tell whether the model ranks better than",
                          "this test part cannot tell whether the model predicts better than"},
        [VERDICT_WORSE] = {"the model ranks worse than", "the model predicts worse than"}};
    text_add(out, "Verdict: %s %s: %s is %.4f against %.4f", words[verdict][judged->smaller_is_better],
             subject_of(judged->rival->name), judged->own->name, judged->own->value, judged->other);
    const double change = judged->other != 0 ? 100 * (judged->own->value / judged->other - 1) : 0;
    if (change != 0)
        text_add(out, fabs(change) < 2 ? " (%+.1f %%)" : " (%+.0f %%)", change);
    add_test(paired, verdict, out);
}

/* Whether the rival is better, be it by chance. */
static int is_behind(const struct judged *judged, enum verdict verdict)
{
    const int higher = (judged->own->value > judged->other) != judged->smaller_is_better;
    return verdict == VERDICT_WORSE || (verdict == VERDICT_OPEN && !higher);
}

/* One of the simple models itself. */
static int is_fallback(const struct verdict_input *input)
{
    return input->model && subject_of(input->model) != input->model;
}

/* Follows from the release alone, before any test record. Of 28 runs on five sets, 15 of 15 with such a direction were
   better than private popularity, and 2 of 13 without one (docs/accuracy.md). */
static void add_directions(const struct verdict_input *input, struct text *out)
{
    if (input->no_direction)
        text_add(out, " No direction stood out of the noise of the released Gram: use private-popularity, or "
                      "more epsilon.");
}

int verdict_gives_reason(const struct verdict_input *input)
{
    struct judged judged;
    struct paired_users ignored;
    return judge_input(input, &judged) == 0 && !is_fallback(input) &&
           is_behind(&judged, compare_rival(input, &judged, &ignored));
}

/* How the method does over its draws of noise; the test above is about one of them. */
static void add_redrawn(const struct verdict_input *input, const struct judged *judged, struct text *out)
{
    const int64_t n = input->n_redrawn + 1;
    double sum = 0, squares = 0;
    int64_t ahead = 0;
    for (int64_t i = 0; i < n; i++) {
        const double value = metrics_find(i ? &input->redrawn[i - 1] : input->test, judged->own->name);
        sum += value;
        ahead += judged->smaller_is_better ? value < judged->other : value > judged->other;
    }
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double value = metrics_find(i ? &input->redrawn[i - 1] : input->test, judged->own->name);
        squares += (value - mean) * (value - mean);
    }
    text_add(out,
             " That is one draw of the noise: over %lld of them %s is %.4f ± %.4f (mean and standard "
             "deviation), and %lld of "
             "them are better than %s.",
             (long long)n, judged->own->name, mean, sqrt(squares / (double)(n - 1)), (long long)ahead,
             subject_of(judged->rival->name));
}

char *verdict_text(const struct verdict_input *input)
{
    struct judged judged;
    struct text out = {0};
    if (judge_input(input, &judged) != 0)
        return NULL;
    struct paired_users paired;
    const enum verdict verdict = compare_rival(input, &judged, &paired);
    const int is_private = judged.rival->epsilon > 0;
    add_comparison(&judged, verdict, &paired, &out);
    if (!paired.why_not && paired.users >= VERDICT_FEW_USERS)
        add_losers(input, &judged, &out);
    add_others(input, &judged, &out);
    if (is_behind(&judged, verdict)) {
        if (is_private)
            text_add(&out,
                     " Train that one instead: dpframe start FILE recipe=%s, or "
                     "configs/corrected/%s.ini.",
                     judged.rival->name, judged.rival->name);
        if (!is_fallback(input))
            add_reason(input, &judged, &out);
    }
    add_directions(input, &out);
    if (input->n_redrawn > 0)
        add_redrawn(input, &judged, &out);
    else if (input->has_noise)
        text_add(&out,
                 " It is about this model, with its one draw of the noise; how the method does on average "
                 "show repetitions (a sweep over run.seed).");
    if (is_private)
        text_add(&out, " These figures are private, and so is a choice by them: no epsilon covers it (C10).");
    text_add(&out, "\n");
    return out.data;
}
