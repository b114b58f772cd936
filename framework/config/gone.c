/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gone.h"

#include <string.h>

#include "base/text.h"
#include "config/config_store.h"

static const struct {
    const char *section, *key;
    double value;
    const char *instead;
} table[] = {
    {"model.recommender", "loading-share", 0.02,
     "count-share and factor-share divide the rest of the budget"},
    {"model.recommender", "factor-decay", 0.9, "factor-sd scales all directions"},
    {"model.recommender", "latent-sd", 0.15, "latent says how many directions rounds find"},
    {"model.recommender", "latent-start", 0.03, "latent says how many directions rounds find"},
    {"model.recommender", "lambda-per-count", 0.1, "lambda regularises"},
};

int gone_check(const struct config_entry *entry, struct dpf_error *error)
{
    char full[CONFIG_FULL_MAX];
    double value;
    if (!config_full_name(entry->section, entry->key, full))
        return 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const size_t n = strlen(table[i].section);
        if (strncmp(full, table[i].section, n) != 0 || full[n] != '.' ||
            strcmp(full + n + 1, table[i].key) != 0)
            continue;
        if (text_to_real(entry->value, &value) == 0 && value == table[i].value)
            return 1;
        return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                        "[%s] %s is gone, and %g holds always: remove the line; %s", entry->section,
                        entry->key, table[i].value, table[i].instead);
    }
    return 0;
}
