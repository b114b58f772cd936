/* SPDX-License-Identifier: Apache-2.0 */
#include "run/accounts.h"

#include <math.h>

double least_account(const json_t *guarantee, const char *side, int *plan)
{
    const json_t *accounts = json_object_get(guarantee, side);
    double least = (double)NAN;
    int is_plan = 0;
    size_t i;
    json_t *account;
    json_array_foreach(accounts, i, account)
    {
        const json_t *epsilon = json_object_get(account, "epsilon");
        if (!json_is_number(epsilon) || least <= json_number_value(epsilon))
            continue;
        least = json_number_value(epsilon);
        is_plan = json_is_true(json_object_get(account, "plan"));
    }
    if (plan)
        *plan = is_plan;
    return least;
}
