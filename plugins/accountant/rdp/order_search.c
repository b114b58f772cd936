/* SPDX-License-Identifier: Apache-2.0 */
#include "order_search.h"

#include <math.h>

struct search {
    order_goal goal;
    const void *context;
    struct order_best *best;
};

static double try_exactly(const struct search *s, double order)
{
    const double value = s->goal(s->context, order);
    if (isnan(value))
        s->best->invalid = 1;
    if (value < s->best->value) {
        s->best->value = value;
        s->best->order = order;
    }
    return value;
}

static double try_order(const struct search *s, double order)
{
    return try_exactly(s, order > ORDER_WHOLE ? floor(order + 0.5) : order);
}

/* Golden section in ln(order - 1), then the integers nearby, where some curves have kinks. */
static void search_between(const struct search *s, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = log(low - 1.0), b = log(high - 1.0);
    double x = b - golden * (b - a), y = a + golden * (b - a);
    double at_x = try_order(s, 1.0 + exp(x)), at_y = try_order(s, 1.0 + exp(y));
    /* The goal is flat at its minimum: this width leaves a relative 1e-8. */
    while (b - a > 1e-4) {
        if (at_x < at_y) {
            b = y;
            y = x;
            at_y = at_x;
            x = b - golden * (b - a);
            at_x = try_order(s, 1.0 + exp(x));
        } else {
            a = x;
            x = y;
            at_x = at_y;
            y = a + golden * (b - a);
            at_y = try_order(s, 1.0 + exp(y));
        }
    }
    const double nearest = floor(s->best->order);
    for (double order = nearest - 1.0; order <= nearest + 2.0; order += 1.0) {
        if (order >= 2.0 && order <= ORDER_MOST)
            try_order(s, order);
    }
}

/* The next order outwards, clamped to the range of the search. */
static double outwards(double order, int upwards)
{
    double next = upwards ? 1.0 + (order - 1.0) * 2.0 : 1.0 + (order - 1.0) / 2.0;
    if (next > ORDER_WHOLE)
        next = floor(next + 0.5);
    return next > ORDER_MOST ? ORDER_MOST : next < ORDER_LEAST ? ORDER_LEAST : next;
}

static void search_beyond(const struct search *s, int upwards)
{
    double order = s->best->order;
    while (s->best->order == order) {
        const double next = outwards(order, upwards);
        if (next == order)
            return;
        try_order(s, next);
        order = next;
    }
}

int32_t order_search(const struct order_list *list, order_goal goal, const void *context,
                     struct order_best *best)
{
    const struct search s = {goal, context, best};
    const double first = list->orders[0], last = list->orders[list->n - 1];
    for (int64_t i = 0; i < list->n; i++)
        try_exactly(&s, list->orders[i]);
    if (isinf(best->value))
        return 0;
    if (!list->refine)
        return best->order == first || best->order == last;
    if (best->order == last)
        search_beyond(&s, 1);
    if (best->order == first)
        search_beyond(&s, 0);
    double low = outwards(best->order, 0), high = outwards(best->order, 1);
    for (int64_t i = 0; i < list->n; i++) {
        if (list->orders[i] < best->order && list->orders[i] > low)
            low = list->orders[i];
        if (list->orders[i] > best->order && list->orders[i] < high)
            high = list->orders[i];
    }
    if (low < high)
        search_between(&s, low, high);
    return best->order == ORDER_LEAST || best->order == ORDER_MOST;
}
