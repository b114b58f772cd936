/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_fixture.h - options, data sets and models made by hand, for the tests of the evaluate room. */
#ifndef DPF_TESTS_EVALUATE_FIXTURE_H
#define DPF_TESTS_EVALUATE_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/memory.h"
#include "dataset/ids.h"
#include "evaluate/evaluate.h"

#define FIXTURE_MAX_OPTIONS 32

/* Values of [evaluate] as the configuration would bind them. */
struct fixture_options {
    dpf_value value[FIXTURE_MAX_OPTIONS];
    struct config_values values;
};

void fixture_defaults(struct fixture_options *options);

dpf_value *fixture_option(struct fixture_options *options, const char *name);

void fixture_text(struct fixture_options *options, const char *name, const char *text);

void fixture_enum(struct fixture_options *options, const char *name, const char *choice);

void fixture_list(struct fixture_options *options, const char *name, const int64_t *list, int64_t n);

void fixture_csr_free(struct csr *csr);

void fixture_dataset(struct dataset *dataset, int64_t users, int64_t items, const double *train,
                     const double *test, int implicit);

void fixture_dataset_free(struct dataset *dataset);

/* Cells without any record. Free it. */
double *fixture_cells(int64_t users, int64_t items);

/* A model that is a table of scores by user and item. */
struct fixture_model {
    int64_t items;
    const double *scores;
};

int fixture_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                   struct dpf_error *error);

/* Evaluates on the test part with one worker and seed 1. */
int fixture_evaluate(const struct fixture_options *options, const struct dataset *dataset,
                     const double *scores, struct metrics *out, struct dpf_error *error);

double fixture_metric(const struct metrics *metrics, const char *name);

int64_t fixture_count(const struct metrics *metrics, const char *name);

void fixture_close(double a, double b, double tolerance, const char *what);

int64_t fixture_below(uint64_t *state, int64_t bound);

#endif
