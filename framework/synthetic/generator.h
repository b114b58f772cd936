/* SPDX-License-Identifier: Apache-2.0 */
/* generator.h - functions of the synthetic generator that loading needs beyond generate.h. */
#ifndef DPF_SYNTHETIC_GENERATOR_H
#define DPF_SYNTHETIC_GENERATOR_H

#include "base/pool.h"
#include "dataset/ratings.h"
#include "synthetic/generate.h"

const struct generate_options *generator_options(const struct generator *generator);
/* How many records generator_user gives, at the cost of two draws. */
int64_t generator_degree(const struct generator *generator, int64_t user);
/* All users' records, each row written where it belongs. */
int generator_ratings(const struct generator *generator, int values, int times, struct pool *pool,
                      struct ratings *out, struct dpf_error *error);

#endif
