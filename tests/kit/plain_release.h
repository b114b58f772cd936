/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_release.h - releases, messages and sums for the tests of mechanisms.
 *
 * Scenario:
 *     struct plain_release r;
 *     plain_release_init(&r, 3, 100);            blocks quadratic, linear, count of d = 3; 100 rows
 *     plain_release_bound(&r, 1, 2.0, 1.5);      L1 and L2 sensitivity of block 1, for all units
 *     mechanism->plan(host.self, &r.release, &noise);
 */
#ifndef DPF_TESTS_PLAIN_RELEASE_H
#define DPF_TESTS_PLAIN_RELEASE_H

#include "kit/plain_host.h"

struct plain_release {
    dpf_query query;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS];
    dpf_sensitivity gram[DPF_MAX_BLOCKS];
    dpf_release release;
};

/* The same norms for every unit and adjacency. */
dpf_sensitivity plain_sensitivity(double l1, double l2);

void plain_release_bound(struct plain_release *r, int block, double l1, double l2);

void plain_release_init(struct plain_release *r, int32_t dimension, int64_t rows);

void plain_release_gradient(struct plain_release *r, int32_t dimension, int64_t rows);

/* Adds a Gram row of those sensitivities, as the last one. */
void plain_release_share(struct plain_release *r, double l1, double l2);

/* All rows of a message; values must have rows * width numbers. */
dpf_encoded plain_integers(const struct plain_release *r, int64_t *values);

/* Plans and lists the events; fails the test if the mechanism does not. Returns how many events. */
int32_t plain_plan(struct plain_host *host, const struct plain_release *r, dpf_noise_plan *plan,
                   dpf_event events[2 * DPF_MAX_BLOCKS]);

int plain_is_power_of_two(double x);

#endif
