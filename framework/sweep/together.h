/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.h - what the folds of a sweep release together.
 *
 * Each point has the statement of its own release. The training parts of folds overlap, so that all of them together tell
 * more of a record than one does: their releases are composed, over all folds and seeds of a row of the tables.
 */
#ifndef DPF_SWEEP_TOGETHER_H
#define DPF_SWEEP_TOGETHER_H

#include <jansson.h>

#include "base/text.h"
#include "sweep/points.h"
#include "run/arguments.h"

/*
 * [{"row", "runs", "epsilon", "delta", "accountant"}] of each row whose runs have a proof; empty for a sweep that has no
 * axis split.fold. done: of each point, whether it was charged before, or NULL: none. Fails if the points that are not do
 * not fit into [privacy] ledger together. NULL on failure.
 */
json_t *together_json(const struct arguments *arguments, const struct design *design,
                      const struct points *points, const unsigned char *done, struct dpf_error *error);
/* The same in sentences, a line each. */
void together_say(const json_t *together, struct text *out);

#endif
