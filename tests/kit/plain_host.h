/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_host.h - a host small enough to read, for the unit tests of plugins.
 *
 * Idea: load the built .so through its one exported symbol, make an instance from settings given as
 * text, and call the role's functions directly. Allocations are counted and can be made to fail;
 * what a component reports through dpf_host.fail is kept for assertions; a call object has scratch.
 *
 * Scenario:
 *     struct plain_host host;
 *     const dpf_component *component = plain_component("adam", DPF_ROLE_SOLVER, "adam");
 *     plain_open(&host, component, "rate=0.05; beta2=0.8");    fails the test unless create succeeds
 *     const dpf_solver *solver = component->functions;
 *     solver->solve(host.self, plain_call(&host), &batch);
 *     plain_close(&host);                                      fails the test on a leak
 *
 * Settings are "name=value; name=value"; lists keep their commas. Everything is checked as the real
 * host checks it: unknown names and values outside their bounds give DPF_E_CONFIG. The service of
 * random numbers is the test's to provide (plain_host.random); NULL if it needs none.
 */
#ifndef DPF_TESTS_PLAIN_HOST_H
#define DPF_TESTS_PLAIN_HOST_H

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "dpframe/dpframe.h"

#define PLAIN_MAX_PARAMS 64
#define PLAIN_MAX_SCRATCH 256
#define PLAIN_MAX_LIST 32

struct plain_host {
    dpf_host host; /* first: a dpf_host pointer is a plain_host pointer */
    const dpf_component *component;
    void *self;

    dpf_params params;
    dpf_value values[PLAIN_MAX_PARAMS];
    char *text; /* the settings, cut into strings that values point into */
    double reals[PLAIN_MAX_PARAMS][PLAIN_MAX_LIST];
    int64_t integers[PLAIN_MAX_PARAMS][PLAIN_MAX_LIST];

    dpf_memory_service memory;
    dpf_log_service log;
    const dpf_random_service *random;
    int64_t live;       /* blocks that are allocated */
    int ours;           /* self is the host's memory */
    int64_t fail_after; /* allocations that still succeed; -1: all */

    /* The first report since plain_clear. */
    dpf_status code;
    int32_t param;
    char report[512];

    char metric[64]; /* the last one */
    double metric_value;
    int32_t warnings;

    dpf_call call;
    void *scratch[PLAIN_MAX_SCRATCH];
    int32_t n_scratch;
    int32_t cancel; /* answer of dpf_call.cancelled */
};

/* ---- services ------------------------------------------------------------------------------- */

void *plain_block(uint64_t bytes);

void plain_release(const dpf_host *host, void *block);

void plain_clear(struct plain_host *plain);

/* ---- calls ---------------------------------------------------------------------------------- */

/* The call object, with round, draw and party as they were last set in plain->call; scratch of
   earlier calls dies here. */
const dpf_call *plain_call(struct plain_host *plain);

/* ---- settings ------------------------------------------------------------------------------- */

int plain_configure(struct plain_host *plain, const char *settings);

/* ---- plugins and instances ------------------------------------------------------------------ */

/* Loads plugins/<name>.so of the build tree. It stays loaded. */
const dpf_plugin *plain_plugin(const char *name);

/* A component of that plugin. Fails the test if there is none. */
const dpf_component *plain_component(const char *plugin_name, const char *role, const char *id);

/* Sets the host up for a component, without creating an instance. */
void plain_init(struct plain_host *plain, const dpf_component *component);

/* The instance from values that are there. */
dpf_status plain_make(struct plain_host *plain);

/* Parses the settings and creates the instance; returns the status of create, or DPF_E_CONFIG where
   the host itself refuses the settings. May be called again after a failure. */
dpf_status plain_create(struct plain_host *plain, const char *settings);

/* plain_init and a plain_create that has to succeed. */
void plain_open(struct plain_host *plain, const dpf_component *component, const char *settings);

/* Destroys the instance, if there is one, and checks that nothing stays allocated. */
void plain_close(struct plain_host *plain);

/* Creation with the first, second, ... allocation failing: each must report DPF_E_MEMORY and keep
   nothing. */
void plain_check_memory(const dpf_component *component, const char *settings);

#endif
