/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.h - a configuration in memory, trained in this process with the built plugins.
 *
 * Include after cmocka. Files live in a directory of the test's own, which is removed at its end.
 */
#ifndef DPF_TEST_TRAINING_H
#define DPF_TEST_TRAINING_H

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/memory.h"
#include "data/load.h"
#include "engine/engine.h"
#include "kit/keep_scans.h"
#include "kit/test.h"
#include "plan/plan.h"
#include "plan/plan_make.h"

struct training {
    struct plan plan;
    struct dataset dataset;
    struct model model;
    struct engine_stats stats;
    struct dpf_error error;
    int status; /* 0, or -1 with error */
};

extern char training_directory[64];

int training_begin(void **state);

int training_end(void **state);

/* Writes a file into the directory; returns its path, which the next call overwrites. */
const char *training_file(const char *name, const char *text);

const char *training_plugins(const char *which);

/* A plan of base with further lines: "section.key=value" separated by newlines. */
int training_plan(struct plan *plan, const char *base, const char *changes, struct dpf_error *error);

/* Called with the complete plan before training, which may put its own functions in place of a component's.
 */
extern void (*training_hook)(struct plan *plan);
/* Of its engine, or NULL. */
extern const struct engine_hooks *training_hooks;

/* Trains. Whatever the status, training_free must follow. */
void training_try(struct training *t, const char *base, const char *changes);

void training_run(struct training *t, const char *base, const char *changes);

void training_free(struct training *t);

const float *training_row(const struct training *t, int side, int64_t row);

int training_same_side(const struct training *a, const struct training *b, int side);

int training_same(const struct training *a, const struct training *b);

/* Largest absolute difference of a side's rows. */
double training_distance(const struct training *a, const struct training *b, int side);

/* 1 if base with the changes is refused with that fault and a message that has the text. */
void training_refused(const char *base, const char *changes, enum dpf_fault fault, const char *text);

#endif
