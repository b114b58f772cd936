/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - an observer that writes a trace, and may replay another.
 *
 * A replay runs a training with another data set and hands it every release of the given trace in the place of its
 * own. Parties then compute from these releases what they would have computed, and what they add is that of the other
 * data set. As in the definition of differential privacy, the observer knows the configuration and all records but
 * those of one unit, and can do the same.
 */
#ifndef DPF_SEEN_RECORDER_H
#define DPF_SEEN_RECORDER_H

#include "seen/trace.h"

struct recorder {
    struct trace *out;
    const struct trace *given; /* is replayed; NULL: noise is drawn */
    size_t next, next_message; /* of the given ones */
    int strange;               /* a component released what it had not released before */
};

/*
 * Writes down a sum, a message or a release of a component. *added is its place until the next, *given what a replay
 * hands over in its place, or NULL; either may be NULL.
 */
dpf_status recorder_add(struct recorder *recorder, const struct seen *seen, struct observation **added,
                        const struct observation **given);
/* The same as observer.saw, for a recorder as context. */
dpf_status recorder_saw(void *recorder, const struct seen *seen);

#endif
