/* SPDX-License-Identifier: Apache-2.0 */
/* check_tools.h - instances, numbers, and guarded buffers for the rules of components. */
#ifndef DPF_CONFORMANCE_CHECK_TOOLS_H
#define DPF_CONFORMANCE_CHECK_TOOLS_H

#include <stdint.h>

#include "conformance/check.h"
#include "plugin/instance.h"

/*
 * An instance with the component's defaults, the settings of the command line, and, if key is not
 * NULL, one more value. NULL on failure, with the error. End it with instance_end.
 */
struct instance *check_new_instance(struct check *check, const char *key, const char *value,
                                    struct dpf_error *error);
/* The same with defaults, owned by the rule; where there is none the rule is skipped. */
struct instance *check_instance(struct check *check);

/* Guarded memory that lives as long as the rule; NULL (and a failed rule) if there is none. */
void *check_keep(struct check *check, size_t bytes);
/* A digest of all that is kept: shows whether a callback changed its inputs. */
uint64_t check_kept_hash(const struct check *check);
/* Frees all that the rule owns. */
void check_finish(struct check *check);

/* A small generator of test inputs (SplitMix64): the same numbers for the same seed everywhere. */
struct check_source {
    uint64_t state;
};
uint64_t check_next(struct check_source *source);
double check_uniform(struct check_source *source, double lo, double hi);

/* Memory between two zones of a pattern; 64-byte aligned. NULL if out of memory. */
void *check_guarded(size_t bytes);
/* 1 if both zones are whole. */
int check_guards_hold(const void *block);
void check_guarded_free(void *block);

/* 1 if all n are finite. */
int check_finite(const double *values, int64_t n);
int check_finite_f(const float *values, int64_t n);

#endif
