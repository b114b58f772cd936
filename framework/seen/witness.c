/* SPDX-License-Identifier: Apache-2.0 */
#include "seen/witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "seen/laws.h"

/* How often the row was told before; -1: memory ran out. */
static int32_t count_row(struct witness *w, int32_t release, int64_t row)
{
    const size_t before = w->capacity[release];
    int32_t *grown = memory_grow(w->rounds[release], &w->capacity[release], (size_t)row + 1, sizeof *grown);
    if (!grown)
        return -1;
    memset(grown + before, 0, (w->capacity[release] - before) * sizeof *grown);
    w->rounds[release] = grown;
    return grown[row]++;
}

/* Whether the component may say so. */
static int is_stated(const struct witness *w, const dpf_witnessed *what)
{
    return what->release >= 0 && what->release < w->n_releases && what->n >= 0 && what->width >= 1 &&
           what->width <= INT32_MAX && what->n % what->width == 0 && what->row >= 0;
}

static dpf_status tell(struct witness *w, const dpf_witnessed *what, int32_t round)
{
    const dpf_recommender_release *release = &w->releases[what->release];
    const int of_user = (release->flags & DPF_RELEASE_ROW_OF_USER) != 0;
    const double scale = law_deviation(&release->event);
    double *deviation = memory_grow(w->deviation, &w->n_deviation, (size_t)what->n + 1, sizeof *deviation);
    if (!deviation)
        return DPF_E_MEMORY;
    w->deviation = deviation;
    for (int64_t i = 0; i < what->n; i++)
        deviation[i] = scale * (what->scales ? what->scales[i] : 1);
    const struct seen seen = {.what = of_user ? SEES_MESSAGES : SEES_SUMS,
                              .side = release->event.side,
                              .term = what->release,
                              .round = round,
                              .party = of_user ? (uint32_t)what->row : DPF_PARTY_AGGREGATE,
                              .n_rows = what->n / what->width,
                              .first_row = of_user ? 0 : what->row,
                              .gram_row = -1,
                              .width = (int32_t)what->width,
                              .numbers = what->numbers,
                              .stride = what->width,
                              .exact = what->exact,
                              .deviation = deviation,
                              .is_one = 1,
                              .event = &release->event};
    return observer_wants(w->observer, seen.what) ? w->observer->saw(w->observer->context, &seen) : DPF_OK;
}

static void saw(void *context, const dpf_witnessed *what)
{
    struct witness *w = context;
    if (!is_stated(w, what)) {
        w->strange = 1;
        return;
    }
    w->told++;
    const int32_t round = count_row(w, what->release, what->row);
    const int of_user = (w->releases[what->release].flags & DPF_RELEASE_ROW_OF_USER) != 0;
    if (w->status != DPF_OK || (of_user && !observer_wants_party(w->observer, what->row)))
        return;
    w->status = round < 0 ? DPF_E_MEMORY : tell(w, what, round);
}

dpf_witness witness_begin(struct witness *w, const struct observer *observer,
                          const dpf_recommender_release *releases, int32_t n)
{
    *w = (struct witness){.observer = observer, .releases = releases, .n_releases = n};
    return (dpf_witness){w, saw};
}

void witness_end(struct witness *w)
{
    for (int32_t r = 0; r < DPF_MAX_RELEASES; r++)
        free(w->rounds[r]);
    free(w->deviation);
}
