/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.h - what the folds of a sweep release together.
 *
 * Each point has the statement of its own release. The training parts of folds overlap, so all points together tell
 * more about a record than one does. Their releases are composed over all folds and seeds of a row of the tables.
 */
#ifndef DPF_SWEEP_TOGETHER_H
#define DPF_SWEEP_TOGETHER_H

#include <jansson.h>

#include "base/text.h"
#include "sweep/points.h"
#include "run/arguments.h"

/*
 * Returns [{"row", "runs", "epsilon", "delta", "accountant"}], one for each row whose runs have a proof; empty for a sweep
 * without axis split.fold. done: for each point, whether it was charged before; NULL: none was. Fails, with NULL, if the
 * points that were not charged do not fit into [privacy] ledger together.
 */
json_t *together_json(const struct arguments *arguments, const struct design *design,
                      const struct points *points, const unsigned char *done, struct dpf_error *error);
/* Writes the same as sentences, one a line. */
void together_say(const json_t *together, struct text *out);

#endif
