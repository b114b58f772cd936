/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/fact_question.h"

#include <string.h>

#include "dpframe/accounting.h"
#include "dpframe/privacy.h"

static int says(const struct config *config, const char *key, const char *value)
{
    const struct config_entry *entry = config_find(config, "privacy", key);
    return entry && strcmp(entry->value, value) == 0;
}

void promise_read(const struct config *config, struct promise *out)
{
    *out = (struct promise){.unit = DPF_UNIT_RECORD,
                            .adjacency = DPF_ADJ_REPLACE_VALUE,
                            .observer = DPF_OBSERVER_OUTSIDER,
                            .pattern_public = says(config, "interaction-pattern", "public"),
                            .ids_public = says(config, "id-lists", "public")};
    if (says(config, "unit", "user"))
        out->unit = DPF_UNIT_USER;
    for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++)
        if (says(config, "adjacency", dpf_adjacency_name(a)))
            out->adjacency = a;
    out->observer = says(config, "observer", "server")    ? DPF_OBSERVER_SERVER
                    : says(config, "observer", "parties") ? DPF_OBSERVER_PARTIES
                                                          : DPF_OBSERVER_OUTSIDER;
}

int promise_same_cells(const struct promise *promise)
{
    return promise->adjacency == DPF_ADJ_REPLACE_VALUE ||
           (promise->adjacency == DPF_ADJ_ZERO_OUT && promise->pattern_public);
}
