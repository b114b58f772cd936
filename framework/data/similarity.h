/* SPDX-License-Identifier: Apache-2.0 */
/* similarity.h - how similar the ratings of two linked users are. */
#ifndef DPF_DATA_SIMILARITY_H
#define DPF_DATA_SIMILARITY_H

#include "dataset/dataset.h"
#include "reading/data_options.h"

/*
 * Replaces the weights of links by (1 + r) / 2, where r is Pearson's correlation of the two users' training
 * ratings of the items that both have rated, each minus the mean of all ratings of that user (Ma et al., WSDM
 * 2011, Eq. 16). Sensitive ratings, of privacy weight below 1, are left out. 1/2 where nothing is in common,
 * or where one of them does not vary.
 */
int similarity_fill(const struct data_options *options, struct dataset *dataset, struct dpf_error *error);

#endif
