/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_files.h - a trained model as files: model/index.json names the formula, numbers and arrays, one .npy file each.
 *
 * docs/model-state.md is for whoever reads them. Arrays are little-endian, in C order, without padding, and begin at a
 * multiple of 64 bytes, so that they are mapped and used as they are. An index in release/ never has the number of users or
 * of records, since these are exact counts of the data.
 */
#ifndef DPF_RUN_MODEL_FILES_H
#define DPF_RUN_MODEL_FILES_H

#include <jansson.h>

#include "engine/model.h"
#include "score/form.h"

#define MODEL_INDEX "model/index.json"
#define MODEL_FILES_VERSION 1

/* Whether a file of that name in model/ belongs to a saved model. */
int model_files_owns(const char *name);

/*
 * Writes into part ("release" or "private") of the directory: the arrays of a component's state; or, for a factorization,
 * an index that names the factors of both sides that the run writes there.
 */
int model_files_write(const char *directory, const char *part, const struct model *model,
                      struct dpf_error *error);

struct model_files {
    json_t *index;
    dpf_form said; /* as the index says; its arrays are mapped */
    dpf_array arrays[SCORE_MOST_ARRAYS];
    const char *scalar_names[SCORE_MOST_SCALARS];
    double scalars[SCORE_MOST_SCALARS];
    struct npy_map *maps;
};
/*
 * Checks that the file is an index, and maps the arrays that it names. score_form_read checks the form (`said`). Call
 * model_files_close afterwards, also on failure.
 */
int model_files_open(const char *path, struct model_files *out, struct dpf_error *error);
void model_files_close(struct model_files *files);

#endif
