/* SPDX-License-Identifier: Apache-2.0 */
#include "seen/laws.h"

#include <math.h>

#include "dpframe/accounting.h"

enum law_kind law_kind_of(const dpf_event *event)
{
    switch (event->kind) {
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_DISCRETE_LAPLACE:
        return LAW_LAPLACE;
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_CORRELATED_GAUSSIAN:
    case DPF_EVENT_SKELLAM:
        return LAW_NORMAL;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return event->p.response.flip > 0 && event->p.response.flip < 1 ? LAW_FLIP : LAW_NONE;
    default:
        return LAW_NONE;
    }
}

double law_deviation(const dpf_event *event)
{
    const double flip = event->p.response.flip;
    switch (law_kind_of(event)) {
    case LAW_LAPLACE:
        return event->scale * sqrt(2);
    case LAW_NORMAL:
        return event->kind == DPF_EVENT_SKELLAM ? sqrt(event->p.skellam.variance) : event->scale;
    case LAW_FLIP:
        return sqrt(flip * (1 - flip));
    default:
        return NAN;
    }
}

struct law law_of(const dpf_event *event, const struct observation *o, int64_t at, double least)
{
    const enum law_kind kind = event ? law_kind_of(event) : LAW_NORMAL;
    if (kind == LAW_FLIP)
        return (struct law){LAW_FLIP, event->p.response.flip};
    if (kind == LAW_NONE && o->event) /* of a component, which alone knows its noise */
        return (struct law){LAW_NONE, NAN};
    const double deviation = o->deviation ? o->deviation[at] : 0;
    if (kind == LAW_LAPLACE && o->is_one)
        return (struct law){LAW_LAPLACE, fmax(deviation / sqrt(2), least)};
    return (struct law){LAW_NORMAL, fmax(deviation, least)};
}

static int same(double x, double y)
{
    return !(x < y) && !(x > y);
}

double law_log_density(const struct law *law, double seen, double exact)
{
    const double x = (seen - exact) / law->scale;
    switch (law->kind) {
    case LAW_FLIP:
        return same(seen, exact) ? log1p(-law->scale) : log(law->scale);
    case LAW_LAPLACE:
        return -fabs(x) - log(2 * law->scale);
    default:
        return -x * x / 2 - log(law->scale);
    }
}

double law_ratio(const struct law two[2], double seen, const double exact[2])
{
    if (same(exact[0], exact[1]) && same(two[0].scale, two[1].scale))
        return 0;
    if (!(two[0].scale > 0) || !(two[1].scale > 0)) /* released as it is */
        return (same(seen, exact[0]) - same(seen, exact[1])) * LAW_CERTAIN;
    return law_log_density(&two[0], seen, exact[0]) - law_log_density(&two[1], seen, exact[1]);
}

double law_distance(const struct law *law, double apart)
{
    const double p = law->scale, x = fabs(apart) / law->scale;
    if (same(apart, 0))
        return 0;
    if (!(law->scale > 0))
        return LAW_CERTAIN;
    switch (law->kind) {
    case LAW_FLIP:
        return (1 - 2 * p) * (log1p(-p) - log(p));
    case LAW_LAPLACE:
        return x + exp(-x) - 1;
    default:
        return x * x / 2;
    }
}

double law_standardised(const struct law *law, double seen, double exact)
{
    const double p = law->scale;
    if (law->kind == LAW_NONE || !(law->scale > 0))
        return NAN;
    if (law->kind == LAW_FLIP)
        return (!same(seen, exact) - p) / sqrt(p * (1 - p));
    return (seen - exact) / (law->kind == LAW_LAPLACE ? law->scale * sqrt(2) : law->scale);
}

double law_fourth_moment(const struct law *law)
{
    return law->kind == LAW_FLIP ? 1 / (law->scale * (1 - law->scale)) - 3 : law->kind == LAW_LAPLACE ? 6 : 3;
}

double law_share_of_move(const struct observation *a, const struct observation *b, int32_t unit,
                         int32_t adjacency)
{
    const dpf_event *event = a->event;
    const double stated = dpf_event_sensitivity(event, unit, adjacency), of_scale = law_deviation(event);
    const int32_t norm = dpf_event_norm(event->kind);
    const int64_t n = a->n_rows * a->width;
    double sum = 0;
    if (b->n_rows * b->width != n || !a->exact || !b->exact || law_kind_of(event) == LAW_NONE ||
        !isfinite(stated))
        return 0;
    for (int64_t i = 0; i < n; i++) {
        /* In units of the event's scale; numbers that do not move need no noise. */
        const double apart = fabs(a->exact[i] - b->exact[i]);
        const double x = apart > 0 ? apart * of_scale / a->deviation[i] : 0;
        sum += norm == 2 ? x * x : x;
    }
    const double moved = norm == 2 ? sqrt(sum) : sum;
    return moved > 0 ? moved / stated : 0;
}
