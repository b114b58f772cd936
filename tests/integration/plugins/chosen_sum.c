/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_sum.c - an aggregator for tests: adds, modulo the modulus, the messages of those parties that a file
 * names for the round. A line of the file is "round R: ID ID ...", rounds from 0 on. The oracle for rounds of
 * which parties were lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/dpframe.h"

enum { MOST = 1 << 16 };

struct chosen {
    const dpf_host *host;
    const char *path;
    int64_t mean;
};

static const dpf_param params[] = {
    DPF_PARAM_TEXT_F("survivors", DPF_TYPE_PATH, "", 0, "The file."),
    DPF_PARAM_BOOL_F("mean", 0, 0, "The mean and not the sum."),
};

static int is_chosen(const struct chosen *chosen, const dpf_call *call)
{
    static char line[MOST];
    char head[32];
    int found = 0;
    FILE *stream = fopen(chosen->path, "r");
    snprintf(head, sizeof(head), "round %d:", call->round);
    while (stream && !found && fgets(line, sizeof(line), stream)) {
        char *at = strstr(line, head);
        if (!at)
            continue;
        for (char *word = strtok(at + strlen(head), " \n"); word; word = strtok(NULL, " \n"))
            found |= strtoul(word, NULL, 10) == call->party;
    }
    if (stream)
        fclose(stream);
    return found;
}

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    if (!is_chosen(self, call))
        return DPF_OK;
    for (int64_t r = 0; r < message->n_rows; r++)
        for (int32_t c = 0; c < into->width; c++) {
            int64_t *to = &into->sums[(message->first_row + r) * into->width + c];
            const int64_t sum = *to + message->values[r * message->stride + c];
            *to = into->modulus ? sum % (int64_t)into->modulus : sum;
        }
    into->survivors++;
    return DPF_OK;
}

static double scale(void *self, int64_t survivors)
{
    return ((const struct chosen *)self)->mean ? 1 / (double)survivors : 1;
}

static dpf_status create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct chosen *chosen = dpf_memory(host)->allocate(host, sizeof(*chosen));
    if (!chosen)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    chosen->host = host;
    chosen->path = given->values[0].text;
    chosen->mean = given->values[1].integer;
    *self = chosen;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct chosen *chosen = self;
    dpf_memory(chosen->host)->release(chosen->host, chosen);
}

static const dpf_aggregator functions = {.sees = DPF_SEES_SUM,
                                         .flags = DPF_AGGREGATOR_DENSE | DPF_AGGREGATOR_BY_ROWS,
                                         .absorb = absorb,
                                         .scale = scale};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_AGGREGATOR,
    .id = "chosen-sum",
    .version = "1.0.0",
    .summary = "Sums of the parties that a file names",
    .citation = "",
    .params = params,
    .n_params = 2,
    .param_stride = sizeof(dpf_param),
    .create = create,
    .destroy = destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.test.chosen-sum", "1.0.0", "Apache-2.0", component)
