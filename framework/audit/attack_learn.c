/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/attack_learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ticker.h"

/* Mean and sum of squared deviations of in (1) and out (0). */
struct moments {
    double n[2], mean[2], squares[2];
};

static void moments_add(struct moments *m, int in, double x)
{
    const double step = x - m->mean[in];
    m->n[in] += 1;
    m->mean[in] += step / m->n[in];
    m->squares[in] += step * (x - m->mean[in]);
}

/*
 * The difference of the means, shrunk: with t its ratio to its standard error, by 1 - 1/t^2, and to 0 where t
 * is below 1 (the positive part of James and Stein's rule, a number at a time). *variance: of one number.
 */
static double shrunk_difference(const struct moments *m, double *variance)
{
    const double freedom = m->n[0] + m->n[1] - 2;
    *variance = 0;
    if (m->n[0] < 2 || m->n[1] < 2)
        return 0;
    *variance = (m->squares[0] + m->squares[1]) / freedom;
    const double difference = m->mean[1] - m->mean[0];
    const double error = *variance * (1 / m->n[0] + 1 / m->n[1]);
    if (!(difference * difference > error))
        return 0;
    return difference * (1 - error / (difference * difference));
}

/* Which part a training plays for a fold: attacked, or in one of the halves of the references. */
enum part { PART_ATTACKED, PART_FIRST, PART_SECOND };

static enum part part_of(int64_t training, int fold)
{
    if (training % ATTACK_FOLDS == fold)
        return PART_ATTACKED;
    return training / ATTACK_FOLDS % 2 ? PART_SECOND : PART_FIRST;
}

struct learner {
    const struct attack_sample *sample;
    double *weights;         /* of numbers, or of items */
    struct moments *moments; /* of numbers */
    int64_t *listed;         /* of items: out, in */
    double *sums;            /* of the trainings, one target */
};

static const float *seen(const struct attack_sample *s, int64_t training, int64_t target)
{
    return s->numbers + (training * s->targets + target) * s->width;
}

static int is_in(const struct attack_sample *s, int64_t training, int64_t target)
{
    return s->in[training * s->targets + target];
}

static void learn_numbers(struct learner *l, int64_t target, int fold, enum part teaching)
{
    const struct attack_sample *s = l->sample;
    memset(l->moments, 0, (size_t)s->width * sizeof *l->moments);
    for (int64_t t = 0; t < s->trainings; t++) {
        const float *x = seen(s, t, target);
        for (int64_t i = 0; part_of(t, fold) == teaching && i < s->width; i++)
            moments_add(&l->moments[i], is_in(s, t, target), (double)x[i]);
    }
    for (int64_t i = 0; i < s->width; i++) {
        double variance;
        const double difference = shrunk_difference(&l->moments[i], &variance);
        /* Without any variance the number decides: its weight is large, and finite. */
        const double least = 1e-6 * difference * difference + 1e-30;
        l->weights[i] = difference / (variance > least ? variance : least);
    }
}

/* How much more likely a training with the target is to list an item, with half a training added to each
   count. */
static void learn_lists(struct learner *l, int64_t target, int fold, enum part teaching)
{
    const struct attack_sample *s = l->sample;
    double n[2] = {0, 0};
    memset(l->listed, 0, 2 * (size_t)s->n_items * sizeof *l->listed);
    for (int64_t t = 0; t < s->trainings; t++) {
        const float *x = seen(s, t, target);
        const int in = is_in(s, t, target);
        if (part_of(t, fold) != teaching)
            continue;
        n[in] += 1;
        for (int64_t i = 0; i < s->width && x[i] >= 0; i++)
            l->listed[2 * (int64_t)x[i] + in]++;
    }
    for (int64_t item = 0; item < s->n_items; item++) {
        const double with = ((double)l->listed[2 * item + 1] + 0.5) / (n[1] + 1);
        const double without = ((double)l->listed[2 * item] + 0.5) / (n[0] + 1);
        const int known = l->listed[2 * item] + l->listed[2 * item + 1] > 0;
        l->weights[item] = known ? log(with / (1 - with)) - log(without / (1 - without)) : 0;
    }
}

static double weighted_sum(const struct learner *l, int64_t training, int64_t target)
{
    const struct attack_sample *s = l->sample;
    const float *x = seen(s, training, target);
    double sum = 0;
    for (int64_t i = 0; i < s->width; i++) {
        if (s->n_items == 0)
            sum += l->weights[i] * (double)x[i];
        else if (x[i] >= 0)
            sum += l->weights[(int64_t)x[i]];
    }
    return sum;
}

/* Adds the scores of a fold's trainings, with the halves of the references in these roles. */
static void score_fold(struct learner *l, int64_t target, int fold, enum part direction, enum part laws,
                       double *scores)
{
    const struct attack_sample *s = l->sample;
    struct moments m = {{0}, {0}, {0}};
    double variance;
    (s->n_items ? learn_lists : learn_numbers)(l, target, fold, direction);
    for (int64_t t = 0; t < s->trainings; t++) {
        const enum part part = part_of(t, fold);
        if (part == direction)
            continue;
        l->sums[t] = weighted_sum(l, t, target);
        if (part == laws)
            moments_add(&m, is_in(s, t, target), l->sums[t]);
    }
    const double difference = shrunk_difference(&m, &variance);
    const double middle = (m.mean[0] + m.mean[1]) / 2;
    const double least = 1e-6 * difference * difference + 1e-300;
    for (int64_t t = 0; t < s->trainings && difference != 0; t++)
        if (part_of(t, fold) == PART_ATTACKED)
            scores[t * s->targets + target] +=
                difference * (l->sums[t] - middle) / (variance > least ? variance : least);
}

int attack_learn(const struct attack_sample *sample, double *scores, struct dpf_error *error)
{
    const size_t width = (size_t)(sample->n_items > sample->width ? sample->n_items : sample->width);
    struct learner l = {.sample = sample,
                        .weights = memory_need(width, sizeof *l.weights),
                        .moments = memory_need((size_t)sample->width, sizeof *l.moments),
                        .listed = memory_need(2 * (size_t)sample->n_items + 1, sizeof *l.listed),
                        .sums = memory_need((size_t)sample->trainings, sizeof *l.sums)};
    int status = 0;
    memset(scores, 0, (size_t)(sample->trainings * sample->targets) * sizeof *scores);
    ticker_begin("learning from trainings", sample->targets);
    for (int64_t target = 0; target < sample->targets && status == 0; target++) {
        for (int fold = 0; fold < ATTACK_FOLDS; fold++) {
            score_fold(&l, target, fold, PART_FIRST, PART_SECOND, scores);
            score_fold(&l, target, fold, PART_SECOND, PART_FIRST, scores);
        }
        ticker_add(1);
        status = interrupt_check("it was learnt from trainings", error);
    }
    ticker_end();
    free(l.weights);
    free(l.moments);
    free(l.listed);
    free(l.sums);
    return status;
}
