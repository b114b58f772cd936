/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/statement.h"

#include <math.h>

const char *statement_observer(int observer)
{
    static const char *const names[] = {"outsider", "server", "parties"};
    return observer >= 0 && observer <= DPF_OBSERVER_PARTIES ? names[observer] : "unknown";
}

int statement_holds(const struct guarantee *guarantee)
{
    return guarantee->plan_holds && guarantee->n_releases > 0 && !guarantee->released_raw &&
           !guarantee->deviation[0];
}

int statement_proves(const struct guarantee *guarantee, const struct account *account)
{
    return statement_holds(guarantee) && !account->is_claim && !account->refused &&
           isfinite(account->answer.epsilon);
}

const struct account *statement_least(const struct guarantee *guarantee)
{
    const struct account *least = NULL;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (statement_proves(guarantee, account) &&
            (!least || account->answer.epsilon < least->answer.epsilon))
            least = account;
    }
    return least;
}

double statement_least_epsilon(const struct guarantee *guarantee)
{
    const struct account *least = statement_least(guarantee);
    return least ? least->answer.epsilon : NAN;
}
