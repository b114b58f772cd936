/* SPDX-License-Identifier: Apache-2.0 */
/*
 * component_metrics.h - numbers that components report through dpf_log_service.metric.
 *
 * They are private: clipped fractions, bytes by phase. Kept by section and name: how many there were,
 * their mean, least and largest. Workers report in any order, so sums are of values rounded to 2^-20,
 * which makes them exact, and the results the same for any number of workers.
 */
#ifndef DPF_RUN_COMPONENT_METRICS_H
#define DPF_RUN_COMPONENT_METRICS_H

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>

struct component_metric {
    char section[64];
    char name[64];
    int64_t n;
    int64_t not_finite; /* left out of the rest */
    double sum;         /* of rounded values: exact below 2^33 */
    double least, largest;
};

struct component_metrics {
    pthread_mutex_t lock;
    struct component_metric *items; /* sorted by section and name */
    int64_t n;
    int64_t capacity;
};

void component_metrics_open(struct component_metrics *metrics);
void component_metrics_close(struct component_metrics *metrics);
/* Thread-safe; context is a struct component_metrics. A metric that finds no memory is dropped. */
void component_metrics_add(void *context, const char *section, const char *name, double value);
/* The largest that was reported under a section and name, or NAN; once no component reports any more, as the next. */
double component_metrics_largest(const struct component_metrics *metrics, const char *section,
                                 const char *name);
/* {"section": {"name": {"mean", "least", "largest", "n"}}}. New reference. */
json_t *component_metrics_json(const struct component_metrics *metrics);

#endif
