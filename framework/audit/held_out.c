/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/held_out.h"

#include <stdlib.h>

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

/* All four kinds of events at one threshold. */
static void try_threshold(double threshold, const struct held_out_scores *scores, double delta, double alpha,
                          struct held_out_verdict *best)
{
    for (int kind = 0; kind < 4; kind++) {
        const struct held_out_rule rule = {threshold, kind & 1, kind >> 1};
        const struct held_out_verdict verdict = held_out_judge(&rule, scores, delta, alpha);
        if (verdict.epsilon > best->epsilon)
            *best = verdict;
    }
}

struct held_out_rule held_out_choose(const struct held_out_scores *chosen_on, double delta, double alpha)
{
    const int64_t n = chosen_on->n;
    struct held_out_verdict best = {.rule = {0, 1, 0}};
    double *sorted = memory_raw((size_t)(2 * n), sizeof *sorted);
    if (!sorted)
        return best.rule; /* a poor rule, whose bound still holds */
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = chosen_on->of[0][i];
        sorted[n + i] = chosen_on->of[1][i];
    }
    qsort(sorted, (size_t)(2 * n), sizeof *sorted, compare_scores);
    const int64_t steps = 2 * n - 1 < MAX_THRESHOLDS ? 2 * n - 1 : MAX_THRESHOLDS;
    for (int64_t i = 0; i < steps; i++) {
        const int64_t at = (2 * n - 1) * i / steps;
        if (sorted[at] < sorted[at + 1])
            try_threshold(sorted[at] / 2 + sorted[at + 1] / 2, chosen_on, delta, alpha, &best);
    }
    free(sorted);
    return best.rule;
}
