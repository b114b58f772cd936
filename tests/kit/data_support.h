/* SPDX-License-Identifier: Apache-2.0 */
/* data_support.h - loads data sets from texts, for the tests of the data room. */
#ifndef DPF_TESTS_DATA_SUPPORT_H
#define DPF_TESTS_DATA_SUPPORT_H

#include "kit/test.h"
#include "data/load.h"
#include "reading/data_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int data_enter(void **state);

int data_leave(void **state);

void data_write_bytes(const char *name, const char *bytes, size_t length);

void data_write(const char *name, const char *text);

/* Whether faults of records are left in the list, as where a proof is claimed. */
extern int data_passes_over;

struct data_outcome {
    struct dataset dataset;
    struct dpf_error error;
    double lo, hi;
};

/* Checks and loads a configuration; 0 or -1. Paths in it are relative to the test's directory. between, if
   given, is called between the two steps of loading. */
int data_try_between(const char *ini, int workers, uint64_t seed, void (*between)(void),
                     struct data_outcome *out);

int data_try(const char *ini, int workers, uint64_t seed, struct data_outcome *out);

void data_get(const char *ini, struct data_outcome *out);

/* Loading must fail with this fault, and the message must contain each part (NULL ends the list). */
void data_refused(const char *ini, enum dpf_fault fault, const char *const *parts);
#define DATA_REFUSED(INI, FAULT, ...) data_refused(INI, FAULT, (const char *const[]){__VA_ARGS__, NULL})

/* The value of a pair, or -1000 if it is not there. */
double data_value(const struct dataset *d, const struct csr *csr, const char *user, const char *item);

/* Rows ascending, offsets sound, indices in range. */
/* Candidates of all users, as rows. */
void data_candidates(const struct dataset *dataset, struct csr *out);

void data_check_csr(const struct csr *csr, int64_t columns);

void data_same_csr(const struct csr *a, const struct csr *b);

#endif
