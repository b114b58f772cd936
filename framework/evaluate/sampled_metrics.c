/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/sampled_metrics.h"

#include <math.h>
#include <string.h>

#include "evaluate/user_values.h"

#define MOST_NUMBERS (SAMPLED_MOST_KNOWN + 1) /* of a user: of models that are known, and the model's own */
#define FEWEST_FOR_EACH 20                    /* users for each coefficient */
#define DEPENDENT 1e-9 /* a share of a variance: what the others leave of one that says nothing new */
#define PASSES 4
#define NORMAL_REACH 1.959963984540054 /* of a 95 % interval */

/* One metric of one model: its users, and its quotient. */
struct column {
    const struct user_values *values;
    int metric;
    int64_t users; /* who have the metric */
    double weight, quotient;
};

static int find_column(const struct metrics *metrics, const char *name, struct column *out)
{
    double sum = 0;
    *out = (struct column){.values = metrics ? metrics->by_user : NULL};
    out->metric = out->values ? user_values_find(out->values, name) : -1;
    if (out->metric < 0)
        return 0;
    for (int64_t u = 0; u < out->values->n_users; u++) {
        const double *cell = user_values_row(out->values, u) + 2 * out->metric;
        if (!(cell[1] > 0))
            continue;
        out->users++;
        sum += cell[0];
        out->weight += cell[1];
    }
    out->quotient = sum / out->weight;
    return out->weight > 0;
}

/* What the user adds to the quotient: zero on average over the column's users. */
static double part_of(const struct column *column, int64_t user)
{
    const double *cell = user_values_row(column->values, user) + 2 * column->metric;
    return cell[1] > 0 ? cell[0] - column->quotient * cell[1] : 0;
}

/* Means and sums of products about them, of the sample; the model's own number is the last of n. */
struct moments {
    int n;
    double users, mean[MOST_NUMBERS], products[MOST_NUMBERS][MOST_NUMBERS];
};

static void add_moments(struct moments *m, const double *numbers)
{
    double before[MOST_NUMBERS];
    m->users++;
    for (int i = 0; i < m->n; i++) {
        before[i] = numbers[i] - m->mean[i];
        m->mean[i] += before[i] / m->users;
    }
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++)
            m->products[i][j] += before[i] * (numbers[j] - m->mean[j]);
}

/* Takes each model that is known out of those after it and out of the model's own numbers, mean and products. Returns how
   many said something. */
static int regress(struct moments *m)
{
    double alone[MOST_NUMBERS];
    int used = 0;
    for (int i = 0; i < m->n; i++)
        alone[i] = m->products[i][i];
    for (int k = 0; k + 1 < m->n; k++) {
        if (!(m->products[k][k] > DEPENDENT * alone[k]))
            continue;
        used++;
        for (int i = k + 1; i < m->n; i++) {
            const double slope = m->products[i][k] / m->products[k][k];
            m->mean[i] -= slope * m->mean[k];
            for (int j = k + 1; j < m->n; j++)
                m->products[i][j] -= slope * m->products[k][j];
        }
    }
    return used;
}

static void set_metric(const struct user_metric *kind, double quotient, double error, struct metric *out)
{
    if (!(quotient >= 0))
        return;
    out->value = user_metric_value(kind, quotient, 1);
    const double reach = NORMAL_REACH * (kind->is_root ? error / (2 * out->value) : error);
    out->low = out->value - reach;
    out->high = out->value + reach;
}

/* Moves the last column's quotient to the estimate of that of all users, and returns its standard error. */
static double estimate(struct column *columns, int n)
{
    struct moments m = {.n = n};
    struct column *own = &columns[n - 1];
    const double all = (double)columns[0].users, weight = columns[0].weight / all;
    for (int64_t u = 0; u < own->values->n_users; u++) {
        double numbers[MOST_NUMBERS];
        if (!(user_values_row(own->values, u)[2 * own->metric + 1] > 0))
            continue;
        for (int i = 0; i < n; i++)
            numbers[i] = part_of(&columns[i], u);
        add_moments(&m, numbers);
    }
    const double freedom = fmax(m.users - regress(&m) - 1, 1);
    const double left =
        fmax(m.products[n - 1][n - 1], 0) / freedom; /* rounding may leave less than nothing */
    own->quotient += m.mean[n - 1] / weight;
    return sqrt(left * (1 / m.users - 1 / all)) / weight;
}

/* Users of the sample; 0: it has all of them, or nothing is known of the others. */
static int64_t extend(struct metric *metric, const struct metrics *sampled,
                      const struct metrics *const *known, int n_known)
{
    struct column columns[MOST_NUMBERS], own;
    int n = 0;
    if (!find_column(sampled, metric->name, &own))
        return 0;
    const int64_t most = own.users / FEWEST_FOR_EACH;
    for (int i = 0; i < n_known && n < SAMPLED_MOST_KNOWN && n < most; i++)
        n += find_column(known[i], metric->name, &columns[n]) &&
             columns[n].values->n_users == own.values->n_users && columns[n].users > own.users;
    if (n == 0)
        return 0;
    columns[n++] = own;
    double error = 0;
    /* Again from near the quotient: what the weights of users add goes with the distance from it. */
    for (int pass = 0; pass < PASSES; pass++)
        error = estimate(columns, n);
    set_metric(&own.values->metrics[own.metric], columns[n - 1].quotient, error, metric);
    return own.users;
}

int64_t sampled_metrics_extend(struct metrics *sampled, const struct metrics *const *known, int n_known)
{
    int64_t users = 0;
    for (int64_t i = 0; i < sampled->n; i++) {
        const int64_t of_metric = extend(&sampled->items[i], sampled, known, n_known);
        users = of_metric > users ? of_metric : users;
    }
    for (int64_t i = 0; i < sampled->n && users > 0; i++)
        if (user_values_find(sampled->by_user, sampled->items[i].name) < 0)
            sampled->items[i].value = NAN;
    return users;
}
