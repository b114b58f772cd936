/* SPDX-License-Identifier: Apache-2.0 */
/* plain_scores.h - scores of a recommender that describes its state by a formula, as the host computes them. */
#ifndef DPF_TESTS_PLAIN_SCORES_H
#define DPF_TESTS_PLAIN_SCORES_H

#include "dpframe/role/recommender.h"
#include "kit/plain_host.h"
#include "score/scorer.h"

dpf_status plain_form_fits(struct plain_host *host, int64_t n_users, int64_t n_items, const void *state);

dpf_status plain_scores(struct plain_host *host, const dpf_scoring *scoring);

#endif
