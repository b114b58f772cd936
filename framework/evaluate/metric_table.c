/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/metric_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evaluate/user_values.h"

#define AUTO_EXPLICIT 1
#define AUTO_IMPLICIT 2
#define AUTO_BOTH (AUTO_EXPLICIT | AUTO_IMPLICIT)
/* Between 0 and 1, and from the user's own records alone: the noise of a released mean is made for that. */
#define OWN 4

/* A figure against sampled negatives must not pass for one of the full ranking. */
#define RANKING(TEXT) "all candidates ranked; " TEXT, "against sampled negatives only; " TEXT
#define RATING(TEXT) TEXT, TEXT

static const struct metric_kind {
    const char *name;
    int traits; /* AUTO_*, OWN */
    int has_cutoff;
    const char *full;
    const char *sampled;
} kinds[METRIC_COUNT] = {
    [METRIC_RMSE] = {"rmse", AUTO_EXPLICIT, 0,
                     RATING("square root of the mean squared error over all records")},
    [METRIC_MAE] = {"mae", AUTO_EXPLICIT, 0, RATING("mean absolute error over all records")},
    [METRIC_MSE] = {"mse", 0, 0, RATING("mean squared error over all records")},
    [METRIC_RMSE_USER] = {"rmse-user", 0, 0, RATING("mean over users of each user's RMSE")},
    [METRIC_MAE_USER] = {"mae-user", 0, 0, RATING("mean over users of each user's MAE")},
    [METRIC_MSE_USER] = {"mse-user", 0, 0, RATING("mean over users of each user's MSE")},
    [METRIC_HR] = {"hr", AUTO_BOTH | OWN, 1, RANKING("share of users with a positive among the first k")},
    [METRIC_NDCG] = {"ndcg", AUTO_BOTH | OWN, 1,
                     RANKING("binary gain, discount 1/log2(rank + 1), ideal: min(k, G) hits first")},
    [METRIC_PRECISION] = {"precision", AUTO_BOTH | OWN, 1, RANKING("hits / k, also if the list is shorter")},
    [METRIC_RECALL] = {"recall", AUTO_BOTH | OWN, 1, RANKING("hits / G")},
    [METRIC_RECALL_CAPPED] = {"recall-capped", OWN, 1, RANKING("hits / min(k, G)")},
    [METRIC_F1] = {"f1", OWN, 1, RANKING("2 hits / (k + G) of each user, then averaged")},
    [METRIC_MAP] = {"map", AUTO_BOTH | OWN, 1, RANKING("average precision cut at k, divided by min(k, G)")},
    [METRIC_MAP_HITS] = {"map-hits", OWN, 1,
                         RANKING("average precision cut at k, divided by hits; 0 without any")},
    [METRIC_MAP_RELEVANT] = {"map-relevant", OWN, 1, RANKING("average precision cut at k, divided by G")},
    [METRIC_MRR] = {"mrr", AUTO_BOTH | OWN, 1, RANKING("1 / rank of the first positive, 0 if beyond k")},
    [METRIC_POPULARITY] = {"popularity", 0, 1,
                           RANKING("mean number of training records of the first k items")},
    [METRIC_NOVELTY] = {"novelty", 0, 1,
                        RANKING("mean of log2(users / max(1, training records of the item)) of the first k")},
    [METRIC_F1_OF_MEANS] = {"f1-of-means", 0, 1,
                            RANKING("2PR / (P + R) of the averaged precision and recall")},
    [METRIC_COVERAGE] = {"coverage", AUTO_BOTH, 1,
                         RANKING("share of all items that are among some user's first k")},
    [METRIC_GINI] = {"gini", 0, 1,
                     RANKING("Gini index of how often each item is among the first k: 0 even, 1 one item")},
    [METRIC_MRANK] = {"mrank", AUTO_BOTH | OWN, 0,
                      RANKING("mean relative rank of positives: 0 first, 1 last, 0.5 chance; by user")},
};

int metric_is_rating(enum metric_id id)
{
    return id <= METRIC_MSE_USER;
}

int metric_has_cutoff(enum metric_id id)
{
    return kinds[id].has_cutoff;
}

int metric_is_own(enum metric_id id)
{
    return (kinds[id].traits & OWN) != 0;
}

int metric_is_automatic(enum metric_id id, int implicit)
{
    return (kinds[id].traits & (implicit ? AUTO_IMPLICIT : AUTO_EXPLICIT)) != 0;
}

const char *metric_name(enum metric_id id)
{
    return kinds[id].name;
}

int metric_by_name(const char *name)
{
    for (int id = 0; id < METRIC_COUNT; id++)
        if (strcmp(kinds[id].name, name) == 0)
            return id;
    return -1;
}

const char *metric_nearest(const char *name)
{
    const char *names[METRIC_COUNT];
    for (int id = 0; id < METRIC_COUNT; id++)
        names[id] = kinds[id].name;
    return text_nearest(name, names, METRIC_COUNT);
}

const char *metric_convention(enum metric_id id, int sampled)
{
    return sampled ? kinds[id].sampled : kinds[id].full;
}

const char *evaluate_convention(const char *name)
{
    char base[48];
    name += strncmp(name, FULL_PREFIX, strlen(FULL_PREFIX)) == 0 ? strlen(FULL_PREFIX) : 0;
    size_t length = strcspn(name, "@");
    if (length >= sizeof base)
        return NULL;
    memcpy(base, name, length);
    base[length] = '\0';
    int id = metric_by_name(base);
    return id < 0 ? NULL : kinds[id].full;
}

int metric_smaller_is_better(const char *name)
{
    static const char *const names[] = {"rmse", "mse", "mae", "mrank", "gini"};
    name += strncmp(name, "train-", 6) == 0 ? 6 : 0;
    name += strncmp(name, FULL_PREFIX, strlen(FULL_PREFIX)) == 0 ? strlen(FULL_PREFIX) : 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

void metrics_add(struct metrics *metrics, double value, int64_t n, const char *convention, const char *format,
                 ...)
{
    size_t capacity = (size_t)metrics->capacity;
    metrics->items =
        memory_need_grow(metrics->items, &capacity, (size_t)metrics->n + 1, sizeof *metrics->items);
    metrics->capacity = (int64_t)capacity;
    struct metric *metric = &metrics->items[metrics->n++];
    memset(metric, 0, sizeof *metric);
    va_list args;
    va_start(args, format);
    vsnprintf(metric->name, sizeof metric->name, format, args);
    va_end(args);
    metric->value = value;
    metric->low = metric->high = metric->noise = NAN;
    metric->n = n;
    metric->convention = convention;
}

double metrics_find(const struct metrics *metrics, const char *name)
{
    for (int64_t i = 0; i < metrics->n; i++)
        if (strcmp(metrics->items[i].name, name) == 0)
            return metrics->items[i].value;
    return NAN;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics->items);
    user_values_free(metrics->by_user);
    memset(metrics, 0, sizeof *metrics);
}
