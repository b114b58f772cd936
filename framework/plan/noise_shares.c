/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/noise_shares.h"

#include "plan/components.h"

struct noise_shares noise_shares_of(const struct plan *plan, int64_t certain)
{
    const dpf_value *v = plan->privacy.params.values;
    const int64_t curious = v[PRIVACY_MAX_CURIOUS].integer, rest = certain - curious,
                  given = v[PRIVACY_MIN_HONEST].integer;
    return (struct noise_shares){.honest = given > 0 ? given : rest > 1 ? rest : 1, .curious = curious};
}

int noise_shares_check(const struct plan *plan, const char *what, const struct noise_shares *shares,
                       int64_t parties, struct dpf_error *error)
{
    if (shares->honest + shares->curious <= parties)
        return 0;
    const int honest = plan->privacy.params.values[PRIVACY_MIN_HONEST].integer > 0;
    return config_error(plan->config, "privacy", honest ? "min-honest" : "max-curious", error,
                        "min-honest + max-curious is %lld, but the parties that send in [%s] are %lld, so no "
                        "sum would be opened: lower one of them",
                        (long long)(shares->honest + shares->curious), what, (long long)parties);
}
