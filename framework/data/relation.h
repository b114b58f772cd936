/* SPDX-License-Identifier: Apache-2.0 */
/* relation.h - links between users from a file. */
#ifndef DPF_DATA_RELATION_H
#define DPF_DATA_RELATION_H

#include "base/pool.h"
#include "reading/data_options.h"
#include "dataset/dataset.h"

int relation_load(const struct data_options *options, const struct id_map *users, struct pool *pool,
                  struct relation *out, struct dpf_error *error);

#endif
