/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/bounds.h"
#include "base/memory.h"

#define MAX_THRESHOLDS 400

static int64_t count_above(const double *scores, int64_t n, double threshold)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += scores[i] > threshold;
    return count;
}

struct held_out_verdict held_out_judge(const struct held_out_rule *rule,
                                       const struct held_out_scores *judged_on, double delta, double alpha)
{
    struct held_out_verdict verdict = {.rule = *rule, .n = judged_on->n};
    for (int i = 0; i < 2; i++) {
        const int set = i == 0 ? rule->favours : 1 - rule->favours;
        const int64_t above = count_above(judged_on->of[set], judged_on->n, rule->threshold);
        verdict.hits[i] = rule->above ? above : judged_on->n - above;
    }
    verdict.epsilon = bounds_epsilon(verdict.hits[0], verdict.n, verdict.hits[1], verdict.n, delta, alpha);
    return verdict;
}

static int compare_scores(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Scores of one data set, sorted, and how many of them are at most the threshold. */
struct sorted_scores {
    const double *scores;
    int64_t n, at_most;
};

/* Whether a bound from these counts can exceed epsilon: it is below what the shares themselves say. */
static int can_exceed(int64_t k, int64_t l, int64_t n, double delta, double epsilon)
{
    return (double)k - delta * (double)n > exp(epsilon) * (double)l;
}

/* All four kinds of events at one threshold. */
static void try_threshold(double threshold, struct sorted_scores sets[2], double delta, double alpha,
                          struct held_out_verdict *best)
{
    const int64_t n = sets[0].n;
    for (int set = 0; set < 2; set++)
        while (sets[set].at_most < n && sets[set].scores[sets[set].at_most] <= threshold)
            sets[set].at_most++;
    for (int kind = 0; kind < 4; kind++) {
        const struct held_out_rule rule = {threshold, kind & 1, kind >> 1};
        int64_t hits[2];
        for (int i = 0; i < 2; i++) {
            const int64_t at_most = sets[i == 0 ? rule.favours : 1 - rule.favours].at_most;
            hits[i] = rule.above ? n - at_most : at_most;
        }
        if (!can_exceed(hits[0], hits[1], n, delta, best->epsilon))
            continue;
        const double epsilon = bounds_epsilon(hits[0], n, hits[1], n, delta, alpha);
        if (epsilon > best->epsilon)
            *best = (struct held_out_verdict){.rule = rule, .epsilon = epsilon};
    }
}

/* Replaces n sorted scores by the middles between those that differ; returns how many there are. Of scores
   with few values, such as counts, none may be missed. */
static int64_t keep_gaps(double *sorted, int64_t n)
{
    int64_t gaps = 0;
    for (int64_t i = 0; i + 1 < n; i++)
        if (sorted[i + 1] - sorted[i] > 1e-11 * (fabs(sorted[i]) + fabs(sorted[i + 1])))
            sorted[gaps++] = sorted[i] / 2 + sorted[i + 1] / 2;
    return gaps;
}

struct held_out_rule held_out_choose(const struct held_out_scores *chosen_on, double delta, double alpha)
{
    const int64_t n = chosen_on->n;
    struct held_out_verdict best = {.rule = {0, 1, 0}};
    double *all = memory_raw((size_t)(4 * n), sizeof *all);
    if (!all)
        return best.rule; /* a poor rule, whose bound still holds */
    double *sorted[2] = {all + 2 * n, all + 3 * n};
    for (int set = 0; set < 2; set++) {
        memcpy(sorted[set], chosen_on->of[set], (size_t)n * sizeof *all);
        qsort(sorted[set], (size_t)n, sizeof *all, compare_scores);
    }
    memcpy(all, sorted[0], (size_t)(2 * n) * sizeof *all);
    qsort(all, (size_t)(2 * n), sizeof *all, compare_scores);
    struct sorted_scores sets[2] = {{sorted[0], n, 0}, {sorted[1], n, 0}};
    const int64_t gaps = keep_gaps(all, 2 * n);
    const int64_t steps = gaps < MAX_THRESHOLDS ? gaps : MAX_THRESHOLDS;
    for (int64_t i = 0; i < steps; i++)
        try_threshold(all[gaps * i / steps], sets, delta, alpha, &best);
    free(all);
    return best.rule;
}
