/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/user_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t user_values_width(const struct user_values *values)
{
    return 2 * values->n_metrics + USER_EXTRAS;
}

double *user_values_row(const struct user_values *values, int64_t user)
{
    return values->rows + user * user_values_width(values);
}

int user_values_find(const struct user_values *values, const char *name)
{
    for (int m = 0; m < values->n_metrics; m++)
        if (strcmp(values->metrics[m].name, name) == 0)
            return m;
    return -1;
}

double user_metric_value(const struct user_metric *metric, double value, double weight)
{
    if (!(weight > 0))
        return (double)NAN;
    return metric->is_root ? sqrt(value / weight) : value / weight;
}

void user_values_free(struct user_values *values)
{
    if (!values)
        return;
    free(values->metrics);
    free(values->rows);
    free(values);
}
