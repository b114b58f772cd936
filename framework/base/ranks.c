/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static const struct ranks_group *group;
static int failed; /* all ranks know of a failure */
static uint64_t sent;

void ranks_join(const struct ranks_group *joined)
{
    group = joined;
    failed = 0;
    sent = 0;
}

int ranks_size(void)
{
    return group ? group->ranks.ranks : 1;
}

int ranks_rank(void)
{
    return group ? group->ranks.rank : 0;
}

int ranks_near(void)
{
    return group ? group->ranks.near : 1;
}

uint64_t ranks_bytes(void)
{
    return sent;
}

static int finished(dpf_status status, struct dpf_error *error)
{
    if (status == DPF_OK)
        return 0;
    group->explain(group->context, status, error);
    failed = 1; /* the status is the same on all ranks */
    return error->fault ? -1 : error_set(error, DPF_FAULT_RUN, "the ranks could not reach each other");
}

/* Rank 0 prints what the others report: who it is that does. */
static void name_rank(struct dpf_error *error)
{
    char host[64] = "", text[sizeof error->text];
    gethostname(host, sizeof host - 1);
    memcpy(text, error->text, sizeof text);
    snprintf(error->text, sizeof error->text, "rank %d on %s: %.*s", ranks_rank(), host,
             (int)(sizeof error->text - 96), text);
}

/* The error of the first rank that has one, on all. */
static int share_failure(int root, struct dpf_error *error)
{
    struct dpf_error first = {0};
    if (root == ranks_rank()) {
        if (error->fault == DPF_FAULT_NONE)
            error_set(error, DPF_FAULT_RUN, "rank %d failed without reporting why", root);
        first = *error;
        if (root > 0)
            name_rank(&first);
    }
    const dpf_status status = group->functions->broadcast(group->self, &first, sizeof first, root);
    *error = first;
    return status == DPF_OK ? -1 : finished(status, error);
}

int ranks_agree(int status, struct dpf_error *error)
{
    if (ranks_size() == 1)
        return status;
    if (failed)
        return error->fault ? -1 : error_set(error, DPF_FAULT_RUN, "another rank has failed");
    int64_t first = status != 0 ? ranks_rank() : ranks_size();
    const dpf_status called = group->functions->least(group->self, &first);
    if (called != DPF_OK)
        return finished(called, error);
    if (first == ranks_size())
        return 0;
    failed = 1;
    return share_failure((int)first, error);
}

int ranks_forgive(int wish)
{
    int64_t all = wish != 0;
    if (ranks_size() > 1 && failed && group->functions->least(group->self, &all) != DPF_OK)
        return 0;
    if (all)
        failed = 0;
    return (int)all;
}

int ranks_sum(int64_t *values, int64_t n, struct dpf_error *error)
{
    if (ranks_size() == 1)
        return 0;
    if (ranks_agree(0, error) != 0)
        return -1;
    sent += (uint64_t)n * sizeof *values;
    return finished(group->functions->sum(group->self, values, n), error);
}

int ranks_reduce(int64_t *values, const int64_t *offsets, struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    if (size == 1)
        return 0;
    if (ranks_agree(0, error) != 0)
        return -1;
    sent += (uint64_t)(offsets[size] - (offsets[rank + 1] - offsets[rank])) * sizeof *values;
    return finished(group->functions->reduce(group->self, values, offsets), error);
}

int ranks_gather(void *data, size_t bytes, const int64_t *offsets, struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    if (size == 1)
        return 0;
    if (ranks_agree(0, error) != 0)
        return -1;
    sent += (uint64_t)(offsets[rank + 1] - offsets[rank]) * bytes * (uint64_t)(size - 1);
    return finished(group->functions->gather(group->self, data, bytes, offsets), error);
}

int ranks_exchange(size_t bytes, const void *from, const int64_t *from_offsets, void *into,
                   const int64_t *into_offsets, struct dpf_error *error)
{
    const int rank = ranks_rank(), size = ranks_size();
    const int64_t own = from_offsets[rank + 1] - from_offsets[rank];
    if (size == 1) {
        memcpy((char *)into + (size_t)into_offsets[0] * bytes,
               (const char *)from + (size_t)from_offsets[0] * bytes, (size_t)own * bytes);
        return 0;
    }
    if (ranks_agree(0, error) != 0)
        return -1;
    sent += (uint64_t)(from_offsets[size] - from_offsets[0] - own) * bytes;
    return finished(group->functions->exchange(group->self, bytes, from, from_offsets, into, into_offsets),
                    error);
}

int ranks_pass(size_t bytes, const void *from, const int64_t *from_offsets, void **into, int64_t *room,
               int64_t *into_offsets, struct dpf_error *error)
{
    const int size = ranks_size();
    int64_t *ones = memory_new((size_t)size + 1, sizeof *ones), *counts = memory_new((size_t)size + 1, 8);
    int status = ones && counts ? 0 : error_memory(error);
    for (int r = 0; r < size && status == 0; r++) {
        ones[r + 1] = r + 1;
        counts[r] = from_offsets[r + 1] - from_offsets[r];
    }
    if (status == 0)
        status = ranks_exchange(sizeof *counts, counts, ones, into_offsets + 1, ones, error);
    free(ones);
    free(counts);
    for (int r = 0; r < size && status == 0; r++)
        into_offsets[r + 1] += into_offsets[r];
    if (status == 0 && into_offsets[size] > *room) {
        free(*into);
        *room = into_offsets[size];
        *into = memory_raw((size_t)*room, bytes);
        status = *into ? 0 : error_memory(error);
    }
    return status == 0 ? ranks_exchange(bytes, from, from_offsets, *into, into_offsets, error) : status;
}

int ranks_broadcast(void *data, size_t bytes, int root, struct dpf_error *error)
{
    if (ranks_size() == 1)
        return 0;
    if (ranks_agree(0, error) != 0)
        return -1;
    sent += root == ranks_rank() ? bytes : 0;
    return finished(group->functions->broadcast(group->self, data, bytes, root), error);
}
