/* SPDX-License-Identifier: Apache-2.0 */
#include "run/component_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void component_metrics_open(struct component_metrics *metrics)
{
    *metrics = (struct component_metrics){0};
    pthread_mutex_init(&metrics->lock, NULL);
}

void component_metrics_close(struct component_metrics *metrics)
{
    free(metrics->items);
    metrics->items = NULL;
    metrics->n = 0;
    pthread_mutex_destroy(&metrics->lock);
}

/* Where the metric is, or would be. */
static int64_t place(const struct component_metrics *metrics, const char *section, const char *name,
                     int *found)
{
    int64_t lo = 0, hi = metrics->n;
    *found = 0;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        int order = strncmp(metrics->items[middle].section, section, sizeof metrics->items->section - 1);
        if (order == 0)
            order = strncmp(metrics->items[middle].name, name, sizeof metrics->items->name - 1);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static struct component_metric *find_or_add(struct component_metrics *metrics, const char *section,
                                            const char *name)
{
    int found;
    int64_t at = place(metrics, section, name, &found);
    if (found)
        return &metrics->items[at];
    size_t capacity = (size_t)metrics->capacity;
    struct component_metric *items =
        memory_grow(metrics->items, &capacity, (size_t)metrics->n + 1, sizeof *metrics->items);
    if (!items)
        return NULL;
    metrics->items = items;
    metrics->capacity = (int64_t)capacity;
    memmove(items + at + 1, items + at, (size_t)(metrics->n - at) * sizeof *items);
    metrics->n++;
    items[at] = (struct component_metric){.least = INFINITY, .largest = -INFINITY};
    snprintf(items[at].section, sizeof items[at].section, "%s", section);
    snprintf(items[at].name, sizeof items[at].name, "%s", name);
    return &items[at];
}

void component_metrics_add(void *context, const char *section, const char *name, double value)
{
    struct component_metrics *metrics = context;
    pthread_mutex_lock(&metrics->lock);
    struct component_metric *metric = find_or_add(metrics, section, name);
    if (metric && !isfinite(value)) {
        metric->not_finite++;
    } else if (metric) {
        metric->n++;
        metric->sum += rint(value * 0x1p20) * 0x1p-20;
        metric->least = fmin(metric->least, value);
        metric->largest = fmax(metric->largest, value);
    }
    pthread_mutex_unlock(&metrics->lock);
}

double component_metrics_largest(const struct component_metrics *metrics, const char *section,
                                 const char *name)
{
    int found;
    const int64_t at = place(metrics, section, name, &found);
    return found && metrics->items[at].n ? metrics->items[at].largest : (double)NAN;
}

static json_t *metric_json(const struct component_metric *metric)
{
    json_t *object = json_object();
    json_object_set_new(object, "n", json_integer(metric->n));
    if (metric->n) {
        json_object_set_new(object, "mean", json_real(metric->sum / (double)metric->n));
        json_object_set_new(object, "least", json_real(metric->least));
        json_object_set_new(object, "largest", json_real(metric->largest));
    }
    if (metric->not_finite)
        json_object_set_new(object, "not_finite", json_integer(metric->not_finite));
    return object;
}

json_t *component_metrics_json(const struct component_metrics *metrics)
{
    json_t *root = json_object();
    for (int64_t i = 0; i < metrics->n; i++) {
        json_t *section = json_object_get(root, metrics->items[i].section);
        if (!section) {
            section = json_object();
            json_object_set_new(root, metrics->items[i].section, section);
        }
        json_object_set_new(section, metrics->items[i].name, metric_json(&metrics->items[i]));
    }
    return root;
}
