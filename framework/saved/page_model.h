/* SPDX-License-Identifier: Apache-2.0 */
/* page_model.h - a released model as the JSON that a page's script reads: saved/page/score.js says what it is made of. */
#ifndef DPF_SAVED_PAGE_MODEL_H
#define DPF_SAVED_PAGE_MODEL_H

#include "run/saved_run.h"

/*
 * run: opened by saved_run_open_released, of directory. "<" occurs nowhere in *json, which the caller frees. Models
 * whose scores do not follow from a person's own records are refused.
 */
int page_model_write(struct saved_run *run, const char *directory, char **json, struct dpf_error *error);

#endif
