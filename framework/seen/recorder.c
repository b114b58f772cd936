/* SPDX-License-Identifier: Apache-2.0 */
#include "seen/recorder.h"

#include <string.h>

/* What was seen at this point, or NULL if nothing of this shape follows. */
static const struct observation *given_after(const struct observations *given, const struct observation *o,
                                             size_t *next)
{
    for (size_t i = *next; i < given->n; i++)
        if (observation_matches(&given->items[i], o)) {
            *next = i + 1;
            return &given->items[i];
        }
    return NULL;
}

/*
 * A replay releases the recorded rows; zeros, where nobody saw such rows: to draw noise there would draw the
 * training's own again, which no observer knows.
 */
static void hand_over(const struct seen *seen, const struct observation *given)
{
    const double *numbers = given ? given->released ? given->released : given->seen : NULL;
    const size_t row = (size_t)seen->width * sizeof(double);
    for (int64_t r = 0; r < seen->n_rows; r++)
        if (numbers)
            memcpy(seen->numbers + r * seen->stride, numbers + r * seen->width, row);
        else
            memset(seen->numbers + r * seen->stride, 0, row);
}

dpf_status recorder_add(struct recorder *recorder, const struct seen *seen, struct observation **added,
                        const struct observation **given)
{
    const int is_message = seen->what == SEES_MESSAGES && !seen->event;
    struct observations *list = is_message ? &recorder->out->messages : &recorder->out->sums;
    struct observation *o = observation_add(list, seen, !recorder->given);
    const struct observation *before = NULL;
    if (!o)
        return DPF_E_MEMORY;
    if (recorder->given && is_message)
        before = given_after(&recorder->given->messages, o, &recorder->next_message);
    else if (recorder->given)
        before = given_after(&recorder->given->sums, o, &recorder->next);
    if (recorder->given && !is_message)
        hand_over(seen, before);
    recorder->strange |= recorder->given && seen->event && !before;
    if (added)
        *added = o;
    if (given)
        *given = before;
    return DPF_OK;
}
