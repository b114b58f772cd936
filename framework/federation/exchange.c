/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/exchange.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

dpf_call *exchange_call(struct exchange *exchange)
{
    return worker_call(exchange->worker, exchange->instance, (int32_t)exchange->x.round,
                       (uint32_t)exchange->x.round, exchange->party);
}

int exchange_result(struct exchange *exchange, dpf_status status, struct dpf_error *error)
{
    char step[32];
    snprintf(step, sizeof step, "round %llu", (unsigned long long)exchange->x.round + 1);
    if (instance_result(exchange->instance, status, step, error) == 0)
        return 0;
    if (status == DPF_E_PRIVACY) /* who is left decides, not the configuration alone */
        error->fault = DPF_FAULT_RUN;
    return -1;
}

static int make_memory(struct exchange *exchange, struct dpf_error *error)
{
    exchange->worker = worker_new(0, 1);
    exchange->bytes = exchange->functions->exchange_bytes(exchange->instance->self, &exchange->x);
    exchange->room = exchange->functions->exchange_room(exchange->instance->self, &exchange->x);
    exchange->x.state = memory_raw((size_t)exchange->bytes + 1, 1);
    exchange->message = memory_raw((size_t)exchange->room + 1, 1);
    exchange->in_sum = memory_new((size_t)exchange->x.n_parties + 1, 1);
    exchange->x.in_sum = exchange->in_sum;
    if (!exchange->x.state || !exchange->message || !exchange->in_sum)
        return error_memory(error);
    memset(exchange->x.state, 0, (size_t)exchange->bytes);
    return 0;
}

int exchange_begin(struct exchange *exchange, const struct remote_release *release,
                   const struct exchange_setup *setup, struct dpf_error *error)
{
    const dpf_aggregation *sums = release->sums;
    struct instance *instance = release->aggregator;
    *exchange = (struct exchange){
        .x = {.size = sizeof exchange->x,
              .end = setup->party == DPF_PARTY_AGGREGATE ? DPF_END_SERVER : DPF_END_PARTY,
              .width = sums->width,
              .rows = sums->rows,
              .n_parties = setup->n_parties,
              .modulus = sums->modulus,
              .least_survivors = sums->least_survivors,
              .round = (uint64_t)release->round,
              .next_round = setup->next_round,
              .parties = setup->parties,
              .limit = release->limit,
              .identities = setup->identities,
              .signing_key = setup->signing_key,
              .n_identities = setup->n_identities},
        .instance = instance,
        .functions = instance->functions,
        .party = setup->party,
    };
    memcpy(exchange->x.agreed, setup->agreed, sizeof exchange->x.agreed);
    memcpy(exchange->x.server_key, setup->server_key, sizeof exchange->x.server_key);
    if (make_memory(exchange, error) != 0)
        return -1;
    return exchange_result(
        exchange, exchange->functions->exchange_open(instance->self, exchange_call(exchange), &exchange->x),
        error);
}

void exchange_end(struct exchange *exchange)
{
    if (exchange->x.state)
        sodium_memzero(exchange->x.state, (size_t)exchange->bytes);
    if (exchange->message)
        sodium_memzero(exchange->message, (size_t)exchange->room);
    free(exchange->x.state);
    free(exchange->message);
    free(exchange->in_sum);
    worker_free(exchange->worker);
    *exchange = (struct exchange){.room = 0};
}
