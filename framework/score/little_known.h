/* SPDX-License-Identifier: Apache-2.0 */
/* little_known.h - items of which a released model says that their count was too low to tell anything. */
#ifndef DPF_SCORE_LITTLE_KNOWN_H
#define DPF_SCORE_LITTLE_KNOWN_H

#include <stdint.h>

#include "score/form.h"

/*
 * Sets by_item for them, and returns how many there are. It reads released arrays alone, so it costs nothing and can be told:
 *   ridge/1  the variance is the largest one, that of an item without a record: the noisy count added nothing to it
 *   ease/1   no column, and the popularity is the lowest one: a noisy count of at most the least that is told apart
 * Other formulas have no released counts, or, as base/1, put such items last: none. Where this is so of all items, of none.
 */
int64_t little_known_items(const struct score_form *form, uint8_t *by_item);

#endif
