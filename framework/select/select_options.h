/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_options.h - section [select]: chooses privately which point of [sweep] is released.
 *
 *     [select]
 *     metric = rmse              decides; one of the metrics that [evaluate] release = noisy releases
 *     repetitions = geometric    the law of the number of runs
 *     mean = 10                  its mean
 */
#ifndef DPF_SELECT_SELECT_OPTIONS_H
#define DPF_SELECT_SELECT_OPTIONS_H

#include "config/config.h"
#include "select/repetitions.h"

struct select_options {
    char metric[48];
    struct repetitions law;
    const char *law_name; /* as it is written in the section */
};

const dpf_param *select_params(int64_t *n); /* section [select] */
/* 1 if the configuration has the section. */
int select_present(const struct config *config);
/* Binds the section. Faults: DPF_FAULT_CONFIG, with file:line. */
int select_options_read(struct config *config, struct select_options *out, struct dpf_error *error);
/* Marks its keys as known, for whoever runs one of the points. */
int select_consume(struct config *config, struct dpf_error *error);

#endif
