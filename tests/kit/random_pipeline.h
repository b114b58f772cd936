/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_pipeline.h - random small configurations: what the engine accepts is drawn part by part, so that
 * every loss meets every transform, mechanism, aggregator, sampler, solver, kind of parties, unit and
 * adjacency.
 *
 * Include after cmocka. Most of what is drawn is refused, or proves nothing; the rest is what tests look at.
 */
#ifndef DPF_TEST_RANDOM_PIPELINE_H
#define DPF_TEST_RANDOM_PIPELINE_H

#include <stdarg.h>

#include "dpframe/privacy.h"
#include "kit/training.h"

#define PIPELINE_USERS 5
#define PIPELINE_ITEMS 6
#define PIPELINE_GENES 192

struct pipeline {
    char text[8192];
    char parts[512]; /* what it is made of, in a line */
    uint64_t lottery;
    const uint8_t *genes; /* decisions in place of the lottery's, PIPELINE_GENES of them, or NULL */
    int gene;
    int unit, adjacency, support_public, observer;
    int implicit, biased, by_users, drawn, gradient;
};

int pipeline_below(struct pipeline *p, int n);

int pipeline_chance(struct pipeline *p, int percent);

#define PIPELINE_ONE_OF(p, ...)                                                                              \
    pipeline_one_of(p, (const char *const[]){__VA_ARGS__},                                                   \
                    (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

const char *pipeline_one_of(struct pipeline *p, const char *const *values, int n);

/* ---- the whole ---------------------------------------------------------------------------------------- */

/* The configuration, decision by decision. Ratings for training and test, and weights of users and items,
   stand in files of that directory; there are one user and one item more than change. */
void pipeline_build(struct pipeline *p, const char *directory);

void pipeline_draw(struct pipeline *p, uint64_t key, const char *directory);

#endif
