/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/parties.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/prf.h"

/* A row's id says which silo holds it, so that nobody moves when somebody comes or goes. Silos are about
   equally large, and some may be empty. */
static int32_t *assign(const struct plan *plan, const struct id_map *ids, int64_t n, struct dpf_error *error)
{
    struct prf draw;
    int32_t *silo = memory_raw((size_t)ids->n + 1, sizeof *silo);
    if (!silo) {
        error_memory(error);
        return NULL;
    }
    prf_open(plan->seeded, "parties", "silos", &draw);
    for (int64_t row = 0; row < ids->n; row++)
        silo[row] = (int32_t)prf_part(prf_value(&draw, id_map_text(ids, row)), n);
    return silo;
}

/* Rows of which there are records belong to the silo whose records are here. */
static int32_t *assign_own(const struct dataset *dataset, int partition, int64_t own, struct dpf_error *error)
{
    const struct csr *train = partition == DPF_SIDE_USERS ? &dataset->train.by_user : &dataset->train.by_item;
    const struct csr *test = partition == DPF_SIDE_USERS ? &dataset->test.by_user : &dataset->test.by_item;
    int32_t *silo = memory_raw((size_t)train->rows + 1, sizeof *silo);
    if (!silo) {
        error_memory(error);
        return NULL;
    }
    for (int64_t row = 0; row < train->rows; row++)
        silo[row] =
            train->ptr[row + 1] > train->ptr[row] || (test->ptr && test->ptr[row + 1] > test->ptr[row])
                ? (int32_t)own
                : -1;
    return silo;
}

/* The silo's part of the orientation whose rows are divided: same rows, others' records left out. */
static int take_rows(const struct csr *all, const int32_t *silo, int64_t which, struct csr *out,
                     struct dpf_error *error)
{
    int64_t n = 0;
    for (int64_t r = 0; r < all->rows; r++)
        n += silo[r] == which ? all->ptr[r + 1] - all->ptr[r] : 0;
    out->rows = all->rows;
    out->ptr = memory_new((size_t)all->rows + 1, sizeof *out->ptr);
    out->others = memory_raw((size_t)n + 1, sizeof *out->others);
    out->values = all->values ? memory_raw((size_t)n + 1, sizeof *out->values) : NULL;
    out->privacy_weights = all->privacy_weights ? memory_raw((size_t)n + 1, sizeof(float)) : NULL;
    out->voids = all->voids ? memory_raw((size_t)n + 1, sizeof *out->voids) : NULL;
    if (!out->ptr || !out->others || (all->values && !out->values) ||
        (all->privacy_weights && !out->privacy_weights) || (all->voids && !out->voids))
        return error_memory(error);
    n = 0;
    for (int64_t r = 0; r < all->rows; r++) {
        int64_t begin = all->ptr[r], count = silo[r] == which ? all->ptr[r + 1] - begin : 0;
        memcpy(out->others + n, all->others + begin, (size_t)count * sizeof *out->others);
        if (all->values)
            memcpy(out->values + n, all->values + begin, (size_t)count * sizeof *out->values);
        if (all->privacy_weights)
            memcpy(out->privacy_weights + n, all->privacy_weights + begin, (size_t)count * sizeof(float));
        if (all->voids)
            memcpy(out->voids + n, all->voids + begin, (size_t)count * sizeof *out->voids);
        n += count;
        out->ptr[r + 1] = n;
    }
    return 0;
}

static int make_silo(struct party *party, const struct records *records, int partition, const int32_t *silo,
                     int64_t which, struct dpf_error *error)
{
    const struct csr *all = partition == DPF_SIDE_USERS ? &records->by_user : &records->by_item;
    const struct csr *across = partition == DPF_SIDE_USERS ? &records->by_item : &records->by_user;
    struct csr *rows = partition == DPF_SIDE_USERS ? &party->by_user : &party->by_item;
    struct csr *columns = partition == DPF_SIDE_USERS ? &party->by_item : &party->by_user;
    party->members = memory_raw((size_t)all->rows + 1, sizeof *party->members);
    if (!party->members)
        return error_memory(error);
    for (int64_t r = 0; r < all->rows; r++)
        if (silo[r] == which)
            party->members[party->n_members++] = (int32_t)r;
    if (take_rows(all, silo, which, rows, error) != 0)
        return -1;
    return csr_transpose(rows, across->rows, columns, error);
}

int parties_make(struct parties *parties, const struct plan *plan, const struct dataset *dataset, int64_t own,
                 struct dpf_error *error)
{
    const dpf_value *v = plan->parties.params.values;
    *parties = (struct parties){.kind = (int)v[PARTIES_KIND].integer, .partition = -1, .n = 1};
    if (parties->kind == PARTIES_SILOS_BY_USERS)
        parties->partition = DPF_SIDE_USERS;
    if (parties->kind == PARTIES_SILOS_BY_ITEMS)
        parties->partition = DPF_SIDE_ITEMS;
    if (parties->partition >= 0)
        parties->n = v[PARTIES_COUNT].integer;
    parties->list = memory_new((size_t)parties->n, sizeof *parties->list);
    if (!parties->list)
        return error_memory(error);
    if (parties->partition < 0) {
        parties->list[0].by_user = dataset->train.by_user;
        parties->list[0].by_item = dataset->train.by_item;
        return 0;
    }
    const struct id_map *ids = parties->partition == DPF_SIDE_USERS ? &dataset->users : &dataset->items;
    int32_t *silo =
        own >= 0 ? assign_own(dataset, parties->partition, own, error) : assign(plan, ids, parties->n, error);
    int status = silo ? 0 : -1;
    for (int64_t p = 0; p < parties->n && status == 0; p++)
        status = make_silo(&parties->list[p], &dataset->train, parties->partition, silo, p, error);
    free(silo);
    return status;
}

void parties_free(struct parties *parties)
{
    for (int64_t p = 0; parties->list && p < parties->n; p++) {
        if (parties->partition >= 0) {
            csr_free(&parties->list[p].by_user);
            csr_free(&parties->list[p].by_item);
        }
        free(parties->list[p].members);
    }
    free(parties->list);
    *parties = (struct parties){0};
}
