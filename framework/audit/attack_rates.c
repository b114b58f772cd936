/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/attack_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define REPLICATES 400

const double attack_false_positives[ATTACK_N_RATES] = {0.01, 0.001};

double attack_bound_tpr(double fpr, double epsilon, double delta)
{
    const double above = exp(epsilon) * fpr + delta, below = 1 - exp(-epsilon) * (1 - delta - fpr);
    return fmin(1, fmin(above, below));
}

double attack_bound_auc(double epsilon, double delta)
{
    /* The two lines meet where the first rates are equal and opposite: TPR = 1 - FPR. */
    const double meet = (1 - delta) / (1 + exp(epsilon)), full = 1 - delta;
    const double first = meet * (delta + 1 - meet) / 2, second = (full - meet) * (1 - meet + 1) / 2;
    return fmin(1, first + second + delta);
}

/* A decision, in the order of scores from the largest down. */
struct decision {
    double score;
    int32_t training, target;
    uint8_t positive;
};

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct decision *)a)->score, y = ((const struct decision *)b)->score;
    return (x < y) - (x > y);
}

struct sweep_input {
    const struct decision *decisions;
    int64_t n, targets;
    const int32_t *of_training, *of_target; /* copies; NULL: one of each */
};

static double copies(const struct sweep_input *in, const struct decision *d)
{
    return in->of_training ? (double)in->of_training[d->training] * in->of_target[d->target] : 1;
}

/* out: AUC, then the true positives; NaN without decisions of both kinds. */
static void sweep(const struct sweep_input *in, double out[1 + ATTACK_N_RATES])
{
    double all[2] = {0, 0}, seen[2] = {0, 0}, area = 0;
    for (int64_t i = 0; i < in->n; i++)
        all[in->decisions[i].positive] += copies(in, &in->decisions[i]);
    for (int r = 0; r <= ATTACK_N_RATES; r++)
        out[r] = all[0] > 0 && all[1] > 0 ? 0 : (double)NAN;
    if (isnan(out[0]))
        return;
    for (int64_t i = 0; i < in->n;) {
        double tied[2] = {0, 0};
        const double score = in->decisions[i].score;
        for (; i < in->n && in->decisions[i].score == score; i++)
            tied[in->decisions[i].positive] += copies(in, &in->decisions[i]);
        area += tied[0] * (seen[1] + tied[1] / 2);
        seen[0] += tied[0];
        seen[1] += tied[1];
        for (int r = 0; r < ATTACK_N_RATES; r++)
            if (seen[0] <= attack_false_positives[r] * all[0])
                out[1 + r] = seen[1] / all[1];
    }
    out[0] = area / (all[0] * all[1]);
}

/* Numbers of copies: Poisson with mean 1. */
static void draw_copies(dpf_cursor *cursor, int64_t n, int32_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        double u, mass = exp(-1), below = mass;
        random_uniform(cursor, &u, 1);
        int32_t k = 0;
        while (u >= below && k < 20) {
            mass /= ++k;
            below += mass;
        }
        out[i] = k;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void interval(double *values, int64_t n, double confidence, struct attack_estimate *out)
{
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    out->low = out->high = NAN;
    if (known == 0)
        return;
    qsort(values, (size_t)known, sizeof *values, ascending);
    const double tail = (1 - confidence) / 2;
    out->low = values[(int64_t)floor(tail * (double)(known - 1))];
    out->high = values[(int64_t)ceil((1 - tail) * (double)(known - 1))];
}

static int bootstrap(struct sweep_input *in, int64_t trainings, double confidence,
                     const struct random_root *root, struct attack_rates *out, struct dpf_error *error)
{
    double *found = memory_new((1 + ATTACK_N_RATES) * REPLICATES, sizeof *found);
    int32_t *drawn = memory_new((size_t)(trainings + in->targets), sizeof *drawn);
    dpf_stream *stream = random_stream_open(root, "audit", "attack bootstrap", error);
    int status = found && drawn ? 0 : error_memory(error);
    if (!stream)
        status = -1;
    for (uint32_t b = 0; b < REPLICATES && status == 0; b++) {
        double values[1 + ATTACK_N_RATES];
        dpf_cursor cursor;
        random_seek(stream, b, 0, 0, &cursor);
        draw_copies(&cursor, trainings + in->targets, drawn);
        in->of_training = drawn;
        in->of_target = drawn + trainings;
        sweep(in, values);
        for (int r = 0; r <= ATTACK_N_RATES; r++)
            found[r * REPLICATES + (int)b] = values[r];
    }
    if (status == 0)
        interval(found, REPLICATES, confidence, &out->auc);
    for (int r = 0; r < ATTACK_N_RATES && status == 0; r++)
        interval(found + (1 + r) * REPLICATES, REPLICATES, confidence, &out->true_positives[r]);
    random_stream_free(stream);
    free(drawn);
    free(found);
    return status;
}

int attack_rates_find(const double *scores, const uint8_t *positive, int64_t trainings, int64_t targets,
                      double confidence, const struct random_root *root, struct attack_rates *out,
                      struct dpf_error *error)
{
    double values[1 + ATTACK_N_RATES];
    struct decision *decisions = memory_new((size_t)(trainings * targets), sizeof *decisions);
    if (!decisions)
        return error_memory(error);
    for (int64_t i = 0; i < trainings * targets; i++)
        decisions[i] =
            (struct decision){scores[i], (int32_t)(i / targets), (int32_t)(i % targets), positive[i]};
    qsort(decisions, (size_t)(trainings * targets), sizeof *decisions, by_score);
    struct sweep_input in = {.decisions = decisions, .n = trainings * targets, .targets = targets};
    sweep(&in, values);
    const int status = bootstrap(&in, trainings, confidence, root, out, error);
    out->auc.value = values[0];
    for (int r = 0; r < ATTACK_N_RATES; r++)
        out->true_positives[r].value = values[1 + r];
    free(decisions);
    return status;
}
