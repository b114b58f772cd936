/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.h - generates synthetic ratings of any size from a seed: low rank, skewed popularity.
 *
 * User activity is a minimum plus a log-normal; item popularity is log-normal with a cap; a
 * user chooses distinct items by popularity times exp(affinity * taste), taste having unit variance; a rating
 * is offset + biases + <latent user, latent item> + noise, rounded to the range. User u's records
 * depend on (seed, u) alone, so they can be streamed in any order.
 */
#ifndef DPF_SYNTHETIC_GENERATE_H
#define DPF_SYNTHETIC_GENERATE_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/random.h"

struct generate_options {
    int64_t users;
    int64_t items;
    int64_t ratings;         /* expected total; the actual number is close to it */
    int32_t rank;            /* of the latent structure */
    double popularity_sigma; /* of the log-normal; 0: uniform */
    double activity_sigma;
    int64_t min_per_user;
    double affinity; /* taste decides what is chosen: popularity * exp(affinity * taste); 0: not at all */
    double noise;    /* standard deviation of the rating's noise */
    double value_lo, value_hi;
    double step; /* ratings are multiples of it from value_lo; 0: real values */
};

struct generator;
struct generator *generator_new(const struct generate_options *options, const struct random_root *seeded,
                                struct dpf_error *error);
void generator_free(struct generator *generator);
/* Records of one user, items ascending: at most options.items. Arrays of that size are the caller's.
   times gets distinct pseudo-timestamps in an order independent of the items'. values and times may be
   NULL. Thread-safe. -1 if memory runs out. */
int64_t generator_user(const struct generator *generator, int64_t user, int32_t *items, float *values,
                       double *times);
/* Writes "user,item,rating,timestamp" lines with a header, ids from 1. */
int generator_write_csv(const struct generator *generator, FILE *stream, const char *name,
                        struct dpf_error *error);

#endif
