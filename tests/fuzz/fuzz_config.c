/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: read whole with a typed value for every key, or refused with a place. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const dpf_enum_value choices[] = {{"exact", ""}, {"float", ""}};
static const dpf_param table[] = {
    DPF_PARAM_BOOL_F("bool", 0, 0, ""),
    DPF_PARAM_INT_F("int", 0, -100, 1e18, 0, "", ""),
    DPF_PARAM_REAL_F("real", 0, -1, INFINITY, DPF_PARAM_OPEN_LO, "", ""),
    DPF_PARAM_ENUM_F("enum", 0, choices, 0, ""),
    DPF_PARAM_TEXT_F("string", DPF_TYPE_STRING, "", 0, ""),
    DPF_PARAM_TEXT_F("path", DPF_TYPE_PATH, "", 0, ""),
    DPF_PARAM_LIST_F("ints", DPF_TYPE_INT_LIST, "", -10, 1e6, 0, "", ""),
    DPF_PARAM_LIST_F("reals", DPF_TYPE_REAL_LIST, "", -10, INFINITY, 0, "", ""),
};
#define N_PARAMS (int64_t)(sizeof table / sizeof table[0])

static void require(int truth)
{
    if (!truth)
        abort();
}

/* A value that was read is written and read again without a change. */
static void check_round_trip(const struct config_values *values, const char *section)
{
    for (int64_t i = 0; i < N_PARAMS; i++) {
        char *text = config_value_text(&table[i], &values->params.values[i]);
        require(text != NULL);
        size_t room = strlen(text) + strlen(section) + 64;
        char *file = malloc(room);
        require(file != NULL);
        int length = snprintf(file, room, "[%s]\n%s = %s\n", section, table[i].name, text);
        struct dpf_error error = {0};
        /* A list written out may exceed a line; only the path is allowed to be empty otherwise. */
        struct config *config = config_parse("again", file, (uint64_t)length, &error);
        require(config || length > 3900);
        struct config_values again;
        if (config && *text) {
            require(config_bind(config, section, &table[i], 1, sizeof table[0], NULL, 1, &again, &error) ==
                    0);
            char *second = config_value_text(&table[i], &again.params.values[0]);
            require(second && strcmp(text, second) == 0);
            free(second);
            config_values_free(&again);
        }
        config_free(config);
        free(file);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dpf_error error = {0};
    struct config *config = config_parse("fuzz", (const char *)data, size, &error);
    if (!config) {
        long line = 0;
        require(error.fault == DPF_FAULT_CONFIG && sscanf(error.text, "fuzz:%ld: ", &line) == 1 && line >= 1);
        return 0;
    }
    require(error.fault == DPF_FAULT_NONE);
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        require(config_find(config, entry->section, entry->key) == entry && entry->line >= 1);
    }
    struct config_values values;
    if (config_bind(config, "s", table, N_PARAMS, sizeof table[0], "component x", 1, &values, &error) == 0) {
        check_round_trip(&values, "s");
        config_values_free(&values);
    }
    error = (struct dpf_error){0};
    static const char *const known[] = {"s", "run"};
    config_check_consumed(config, known, 2, &error);
    config_free(config);
    return 0;
}
