/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_file.h - private/verdict.json: what was said after a run, and the metrics of the models that it
 * rests on.
 *
 * It is written after the results, which are complete without it: a quiet run trains no models for a
 * sentence. Where [run] compare has none to judge by, the page of the run trains them, once, and writes it.
 */
#ifndef DPF_RUN_VERDICT_FILE_H
#define DPF_RUN_VERDICT_FILE_H

#include <jansson.h>

#include "run/comparison.h"
#include "run/verdict.h"

#define VERDICT_FILE "private/verdict.json"

int verdict_file_write(const char *directory, enum verdict verdict, const char *words,
                       const struct comparison *models, int n_models, struct dpf_error *error);

/* What a run directory has. */
struct verdict_file {
    json_t *json; /* NULL: there is no verdict */
    enum verdict verdict;
    const char *words;
    json_t *models; /* metrics by name of the model */
};
/* A file that is not there, or not whole, is no verdict. Close it in any case. */
void verdict_file_read(const char *directory, struct verdict_file *out);
void verdict_file_close(struct verdict_file *file);

#endif
