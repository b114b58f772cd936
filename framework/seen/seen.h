/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - what whoever looks on sees of a training, and how it looks on.
 *
 * A training has at most one observer. It sees what parties send and what is released, beside the same numbers
 * without noise, and how large the noise should be by what is declared. It may overwrite the numbers that are
 * released: training goes on with what is left there. All calls come from one worker.
 */
#ifndef DPF_SEEN_SEEN_H
#define DPF_SEEN_SEEN_H

#include <stdint.h>

#include "dpframe/dpframe.h"

enum sees {
    SEES_SUMS = 1,     /* decoded sums, and the releases of a component */
    SEES_MESSAGES = 2, /* messages that the plan's observer sees */
    SEES_PARTS = 4,    /* what every party adds, before noise: numbers and deviation are NULL */
    SEES_DRAWS = 8     /* what samplers draw */
};

struct seen {
    uint32_t what;      /* one of enum sees */
    int32_t side, term; /* the source; of a component term is the place of the release */
    int32_t round;      /* of a component: how often this source and row were seen before */
    uint32_t index;     /* of its draws (dpf_call.draw): other ones are another release of the round */
    uint32_t party;     /* who sent it, or whose row it is; DPF_PARTY_AGGREGATE: a sum */
    int64_t n_rows, first_row;
    const int32_t *rows; /* which rows; NULL: from first_row on */
    int64_t gram_row;    /* the number of the Gram row; -1: there is none */
    int32_t width;
    int64_t survivors;
    double *numbers;         /* n_rows rows of width, stride apart; NULL: nobody sees them */
    int64_t stride;          /* of numbers */
    const double *exact;     /* n_rows x width, without noise; NULL: a component does not tell */
    const double *deviation; /* n_rows x width: the standard deviation of the noise; 0: a constant */
    int is_one; /* the noise of each number is one draw of the law that is stated; 0: a sum of such */
    const dpf_query *query;      /* of a term; NULL of a component */
    const dpf_noise_plan *noise; /* of a term; NULL of a component, */
    const dpf_event *event;      /* whose release states this */
    const dpf_draw *draw;        /* of a draw */
    float *weights;              /* which may be overwritten */
    /* Draw k > 0 of the same sampler, another than that of the round, of unit i of the draw alone. */
    dpf_status (*again)(const struct seen *seen, uint32_t k, int64_t i, float *weight);
    const void *source; /* what `again` reads */
};

struct observer {
    void *context;
    uint32_t wants;                 /* SEES_* */
    int replays;                    /* no noise is drawn: numbers arrive as 0, and `saw` fills them in */
    int64_t first_party, end_party; /* messages and rows of these alone; end_party 0: of all */
    /* DPF_E_MEMORY, or another status that ends the training. */
    dpf_status (*saw)(void *context, const struct seen *seen);
};

static inline int observer_wants(const struct observer *observer, uint32_t what)
{
    return (observer->wants & what) != 0;
}
static inline int observer_wants_party(const struct observer *observer, int64_t party)
{
    return observer->end_party == 0 || (party >= observer->first_party && party < observer->end_party);
}

#endif
