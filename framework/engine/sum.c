/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/additive.h"

#include "base/memory.h"
#include "base/ranks.h"

static const dpf_aggregator *aggregator_of(const struct sum *sum)
{
    return sum->shape.aggregator->functions;
}

static int is_server(const struct sum *sum)
{
    const struct engine_remote *remote = sum->hands.link.remote;
    return remote && remote->party < 0;
}

static int64_t numbers_of(const struct sum *sum)
{
    return sum->shape.rows * sum->shape.width;
}

static dpf_call *call_of(const struct sum *sum, int worker, uint32_t party)
{
    return worker_call(sum->hands.workers[worker], sum->shape.aggregator, sum->shape.round,
                       (uint32_t)sum->shape.round, party);
}

/* Each worker clears its own part, since others still add to theirs; whoever closes clears all. */
static void fail_part(struct sum *sum, int part)
{
    memset(sum->parts[part].aggregation.sums, 0, (size_t)numbers_of(sum) * sizeof(int64_t));
    __atomic_store_n(&sum->state, SUM_FAILED, __ATOMIC_RELAXED);
}

static int fail(struct sum *sum)
{
    for (int i = 0; i < sum->n_parts; i++)
        if (sum->parts[i].aggregation.sums)
            fail_part(sum, i);
    sum->state = SUM_FAILED;
    return -1;
}

static int result_of(const struct sum *sum, dpf_status status, struct dpf_error *error)
{
    return instance_result(sum->shape.aggregator, status, sum->hands.step, error);
}

static int out_of_order(struct dpf_error *error, const char *what)
{
    return error_set(error, DPF_FAULT_PLUGIN, "a sum %s out of order", what);
}

/* ---- opening ------------------------------------------------------------------------------------------ */

int sum_most_parts(const struct instance *aggregator, int n_workers)
{
    return ((const dpf_aggregator *)aggregator->functions)->merge ? n_workers : 1;
}

/* Zeros in a block that is kept. */
static int make_room(void **block, size_t *room, size_t needed)
{
    if (*block && *room >= needed) {
        memset(*block, 0, needed);
        return 0;
    }
    free(*block);
    *block = memory_new(needed, 1);
    *room = *block ? needed : 0;
    return *block ? 0 : -1;
}

static int open_part(struct sum *sum, struct sum_part *part)
{
    const struct sum_shape *shape = &sum->shape;
    dpf_aggregation *aggregation = &part->aggregation;
    void *sums = aggregation->sums, *state = aggregation->state;
    *aggregation = (dpf_aggregation){.size = sizeof *aggregation,
                                     .width = shape->width,
                                     .rows = shape->rows,
                                     .n_parties = shape->n_parties,
                                     .modulus = shape->modulus,
                                     .least_survivors = shape->least};
    const dpf_aggregator *aggregator = aggregator_of(sum);
    /* A server's machine has a state of its own. */
    const uint64_t bytes = aggregator->state_bytes && !sum->hands.link.remote
                               ? aggregator->state_bytes(shape->aggregator->self, aggregation)
                               : 0;
    int status = make_room(&sums, &part->numbers, (size_t)numbers_of(sum) * sizeof(int64_t) + 1);
    if (make_room(&state, &part->bytes, (size_t)bytes + 1) != 0)
        status = -1;
    aggregation->sums = sums;
    aggregation->state = state;
    return status;
}

int sum_open(struct sum *sum, const struct sum_shape *shape, const struct sum_hands *hands,
             struct dpf_error *error)
{
    if (sum->state != SUM_EMPTY)
        return out_of_order(error, "is opened");
    sum->shape = *shape;
    sum->hands = *hands;
    sum->n_parts = hands->n > 1 ? hands->n : 1;
    if (sum->n_parts > sum->n_room) {
        size_t capacity = (size_t)sum->n_room;
        sum->parts = memory_need_grow(sum->parts, &capacity, (size_t)sum->n_parts, sizeof *sum->parts);
        memset(sum->parts + sum->n_room, 0, (capacity - (size_t)sum->n_room) * sizeof *sum->parts);
        sum->n_room = (int)capacity;
    }
    for (int i = 0; i < sum->n_parts; i++)
        if (open_part(sum, &sum->parts[i]) != 0) {
            fail(sum);
            return error_memory(error);
        }
    sum->state = SUM_OPEN;
    return 0;
}

/* The largest number of a single message, for those who see messages; what nothing bounds must not make sums overflow. */
static uint64_t limit_of(const struct sum *sum)
{
    const struct sum_shape *shape = &sum->shape;
    const double fits = 1.5 * dpf_additive_limit(shape->n_parties);
    double most = shape->bounds ? 0 : fits;
    for (int64_t i = 0; shape->bounds && i < shape->width * (1 + (shape->gram != 0)); i++) {
        const double own = sum_bound_largest(&shape->bounds[i], 1);
        most = own >= most ? own : isnan(own) ? fits : most;
    }
    return (uint64_t)fmin(most, fits);
}

/* ---- messages ----------------------------------------------------------------------------------------- */

static struct remote_release release_of(struct sum *sum)
{
    const struct sum_link *link = &sum->hands.link;
    return (struct remote_release){.aggregator = sum->shape.aggregator,
                                   .round = sum->shape.round,
                                   .rows = link->known,
                                   .sums = &sum->parts[0].aggregation,
                                   .weights = link->weights,
                                   .n_parties = link->n_listed,
                                   .limit = sum->shape.modulus ? 0 : limit_of(sum)};
}

static int answer(struct sum *sum, const dpf_encoded *message, struct dpf_error *error)
{
    const struct engine_remote *remote = sum->hands.link.remote;
    struct remote_release release = release_of(sum);
    release.message = message;
    if (remote->answer(remote->context, &release, error) != 0)
        return fail(sum);
    sum->state = SUM_SENT;
    return 0;
}

int sum_add(struct sum *sum, int worker, uint32_t party, const dpf_encoded *message, struct dpf_error *error)
{
    if (__atomic_load_n(&sum->state, __ATOMIC_RELAXED) != SUM_OPEN || is_server(sum))
        return out_of_order(error, "gets a message");
    if (sum->hands.link.remote)
        return answer(sum, message, error);
    const int part = sum->n_parts > 1 ? worker : 0;
    const dpf_status status = aggregator_of(sum)->absorb(
        sum->shape.aggregator->self, call_of(sum, worker, party), &sum->parts[part].aggregation, message);
    if (status == DPF_OK)
        return 0;
    fail_part(sum, part);
    return result_of(sum, status, error);
}

int64_t *sum_plain(struct sum *sum)
{
    return sum->state == SUM_OPEN && sum->n_parts == 1 && sum->shape.modulus == 0 &&
                   !sum->hands.link.remote && (aggregator_of(sum)->flags & DPF_AGGREGATOR_ADDS)
               ? sum->parts[0].aggregation.sums
               : NULL;
}

void sum_plain_counts(struct sum *sum, int64_t messages, uint64_t bytes_up)
{
    sum->parts[0].aggregation.survivors += messages;
    sum->parts[0].aggregation.bytes_up += bytes_up;
}

/* ---- closing ------------------------------------------------------------------------------------------ */

static int gather(struct sum *sum, struct dpf_error *error)
{
    const struct engine_remote *remote = sum->hands.link.remote;
    const struct remote_release release = release_of(sum);
    return remote->gather(remote->context, &release, error);
}

static int merge(struct sum *sum, struct dpf_error *error)
{
    for (int i = 1; i < sum->n_parts; i++) {
        dpf_call *call = call_of(sum, 0, DPF_PARTY_AGGREGATE);
        if (sum->hands.pool)
            worker_lend_pool(sum->hands.workers[0], sum->hands.pool);
        const dpf_status status = aggregator_of(sum)->merge(
            sum->shape.aggregator->self, call, &sum->parts[0].aggregation, &sum->parts[i].aggregation);
        if (result_of(sum, status, error) != 0)
            return -1;
    }
    return 0;
}

/* Each row's sum, at the rank that owns it. That ranks' residues fit 64 bits has been checked (ADR 0002). */
static int add_up_owners(struct sum *sum, struct dpf_error *error)
{
    dpf_aggregation *all = &sum->parts[0].aggregation;
    const int rank = ranks_rank(), size = ranks_size();
    int64_t *offsets = memory_need((size_t)size + 1, sizeof *offsets);
    for (int r = 0; r <= size; r++)
        offsets[r] = sum->shape.owners[r] * all->width;
    int status = ranks_sum(&all->survivors, 1, error);
    if (status == 0)
        status = ranks_reduce(all->sums, offsets, error);
    for (int64_t i = offsets[rank]; status == 0 && all->modulus && i < offsets[rank + 1]; i++)
        all->sums[i] = (int64_t)((uint64_t)all->sums[i] % all->modulus);
    free(offsets);
    return status;
}

/* a + 2^32 b modulo m, of sums of ranks' halves. */
static int64_t join_halves(int64_t a, int64_t b, uint64_t m)
{
    return (int64_t)((((unsigned __int128)(uint64_t)b << 32) + (uint64_t)a) % m);
}

/* All numbers on all ranks. Residues may be too large to be added as they are: their halves are not. */
static int add_up_everywhere(struct sum *sum, struct dpf_error *error)
{
    dpf_aggregation *all = &sum->parts[0].aggregation;
    const int64_t n = numbers_of(sum);
    int64_t *high = all->modulus ? memory_raw((size_t)n + 1, sizeof *high) : NULL;
    if (all->modulus && !high)
        return error_memory(error);
    for (int64_t i = 0; high && i < n; i++) {
        high[i] = (int64_t)((uint64_t)all->sums[i] >> 32);
        all->sums[i] &= INT64_C(0xffffffff);
    }
    int status = ranks_sum(&all->survivors, 1, error);
    if (status == 0)
        status = ranks_sum(all->sums, n, error);
    if (status == 0 && high)
        status = ranks_sum(high, n, error);
    for (int64_t i = 0; high && i < n && status == 0; i++)
        all->sums[i] = join_halves(all->sums[i], high[i], all->modulus);
    free(high);
    return status;
}

/* The rank's rows become final. */
static int finish(struct sum *sum, struct dpf_error *error)
{
    dpf_aggregation *all = &sum->parts[0].aggregation, own = *all;
    if (!aggregator_of(sum)->finish)
        return 0;
    if (sum->shape.span == SUM_BY_OWNER) {
        const int64_t *owners = sum->shape.owners + ranks_rank();
        own.rows = owners[1] - owners[0];
        own.sums += owners[0] * own.width;
    }
    dpf_call *call = call_of(sum, 0, DPF_PARTY_AGGREGATE);
    if (sum->hands.pool)
        worker_lend_pool(sum->hands.workers[0], sum->hands.pool);
    const dpf_status status = aggregator_of(sum)->finish(sum->shape.aggregator->self, call, &own);
    if (result_of(sum, status, error) != 0)
        return -1;
    all->survivors = own.survivors;
    all->bytes_up = own.bytes_up;
    all->bytes_down = own.bytes_down;
    return 0;
}

/* An aggregator that opens too small a sum, or counts otherwise, must not be believed. */
static int check_survivors(const struct sum *sum, struct dpf_error *error)
{
    const int64_t survivors = sum->parts[0].aggregation.survivors;
    if (survivors >= sum->shape.least)
        return 0;
    return error_set(
        error, DPF_FAULT_RUN,
        "%s: a sum has %lld messages, but its noise needs %lld: it is not released; count on fewer "
        "([privacy] min-honest), or raise the rate of the sampler",
        sum->hands.step, (long long)survivors, (long long)sum->shape.least);
}

/* ---- what honest messages can add up to ---- */

struct column {
    int64_t low, high;
};

static struct column column_of(const struct sum *sum, const struct sum_bound *bound)
{
    const double most = sum_bound_largest(bound, sum->parts[0].aggregation.survivors);
    if (!(most < 0x1p62))
        return (struct column){INT64_MIN, INT64_MAX};
    return (struct column){bound->most > 0 ? 0 : -(int64_t)most, (int64_t)most};
}

static int row_holds(const struct sum *sum, const int64_t *row, const struct column *columns, int centred)
{
    const int64_t modulus = (int64_t)sum->shape.modulus; /* at most 2^62 where numbers are centred */
    int outside = 0;
    for (int32_t i = 0; i < sum->shape.width; i++) {
        const int64_t number = centred && row[i] > modulus / 2 ? row[i] - modulus : row[i];
        outside |= number < columns[i].low || number > columns[i].high;
    }
    return !outside;
}

static int check_rows(const struct sum *sum, const struct column *columns, struct dpf_error *error)
{
    const struct sum_shape *shape = &sum->shape;
    const int64_t *owners = shape->span == SUM_BY_OWNER ? shape->owners + ranks_rank() : NULL;
    const int64_t first = owners ? owners[0] : 0, last = owners ? owners[1] : shape->rows;
    const int centred = shape->modulus > 0 && !(shape->bounds[0].most > 0);
    for (int64_t r = first; r < last; r++) {
        const int gram = shape->gram && r == shape->rows - 1;
        if (!row_holds(sum, sum->parts[0].aggregation.sums + r * shape->width,
                       columns + (gram ? shape->width : 0), centred))
            return error_set(
                error, DPF_FAULT_RUN,
                "%s: messages that keep to the protocol cannot add up to what was opened: a party has "
                "sent a false message, or a false share of a key; nothing of it is released, and it "
                "counts as a release that was made",
                sum->hands.step);
    }
    return 0;
}

/* No message is looked at, and no part of the sum opened, to find out who it was. */
static int check_numbers(const struct sum *sum, struct dpf_error *error)
{
    const struct sum_shape *shape = &sum->shape;
    const int32_t n = shape->width * (1 + (shape->gram != 0));
    if (!shape->bounds)
        return 0;
    struct column *columns = memory_need((size_t)n, sizeof *columns);
    for (int32_t i = 0; i < n; i++)
        columns[i] = column_of(sum, &shape->bounds[i]);
    const int status = check_rows(sum, columns, error);
    free(columns);
    return status;
}

static int close_here(struct sum *sum, struct dpf_error *error)
{
    if (merge(sum, error) != 0)
        return -1;
    if (sum->shape.span == SUM_BY_OWNER && add_up_owners(sum, error) != 0)
        return -1;
    if (sum->shape.span == SUM_EVERYWHERE && add_up_everywhere(sum, error) != 0)
        return -1;
    return finish(sum, error);
}

int sum_close(struct sum *sum, struct dpf_error *error)
{
    if (sum->state == SUM_SENT)
        return 0;
    if (sum->state != SUM_OPEN || (sum->hands.link.remote && !is_server(sum))) {
        fail(sum);
        return out_of_order(error, "is closed");
    }
    if ((is_server(sum) ? gather(sum, error) : close_here(sum, error)) != 0 ||
        check_survivors(sum, error) != 0 || check_numbers(sum, error) != 0)
        return fail(sum);
    sum->state = SUM_CLOSED;
    return 0;
}

/* ---- the result --------------------------------------------------------------------------------------- */

const dpf_aggregation *sum_result(const struct sum *sum)
{
    return sum->state == SUM_CLOSED ? &sum->parts[0].aggregation : NULL;
}

double sum_scale(const struct sum *sum)
{
    return aggregator_of(sum)->scale(sum->shape.aggregator->self, sum->parts[0].aggregation.survivors);
}

void sum_tally(const struct sum *sum, int messages, struct engine_stats *stats)
{
    const dpf_aggregation *all = &sum->parts[0].aggregation;
    if (sum->state != SUM_CLOSED)
        return;
    __atomic_add_fetch(&stats->bytes_up, all->bytes_up, __ATOMIC_RELAXED);
    __atomic_add_fetch(&stats->bytes_down, all->bytes_down, __ATOMIC_RELAXED);
    if (messages)
        stats->messages += sum->shape.span != SUM_ALONE && ranks_rank() > 0 ? 0 : all->survivors;
}

void sum_clear(struct sum *sum)
{
    sum->state = SUM_EMPTY;
}

void sum_free(struct sum *sum)
{
    for (int i = 0; i < sum->n_room; i++) {
        free(sum->parts[i].aggregation.sums);
        free(sum->parts[i].aggregation.state);
    }
    free(sum->parts);
    *sum = (struct sum){0};
}
