/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_random.h - the randomness service for plain_host.h, from a fixed seed. Link dpf_base.
 *
 * Scenario:
 *     plain_random_start(7);
 *     plain_init(&host, component);  host.random = &plain_random;  plain_create(&host, "epsilon=1");
 *     ...
 *     plain_random_stop();
 */
#ifndef DPF_TESTS_PLAIN_RANDOM_H
#define DPF_TESTS_PLAIN_RANDOM_H

#include "base/random.h"
#include "kit/plain_host.h"

#define PLAIN_MAX_STREAMS 256

extern struct random_root *plain_root;

dpf_status plain_random_open(const dpf_host *host, const char *purpose, dpf_stream **stream);

extern const dpf_random_service plain_random;

void plain_random_start(uint64_t seed);

/* Frees the streams: after the instances that use them. */
void plain_random_stop(void);

/* The same, as the teardown of a group of tests. */
int plain_random_end(void **state);

/* plain_open with randomness: create must succeed. */
void plain_open_random(struct plain_host *plain, const dpf_component *component, const char *settings);

/* plain_check_memory for components that open streams. */
void plain_check_memory_random(const dpf_component *component, const char *settings);

#endif
