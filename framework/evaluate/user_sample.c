/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/user_sample.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/prf.h"

struct drawn {
    uint64_t value;
    int64_t user;
};

static int by_value(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->user > y->user) - (x->user < y->user);
}

static int by_user(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    return (x->user > y->user) - (x->user < y->user);
}

/* The users with records, those that are drawn first in the order of users; *tested of them. */
static struct drawn *draw_users(const struct dataset *dataset, const struct csr *test, int64_t users,
                                const struct random_root *seeded, int64_t *tested)
{
    struct prf prf;
    struct drawn *all = memory_raw((size_t)test->rows + 1, sizeof *all);
    int64_t n = 0;
    prf_open(seeded, "evaluate", "sample of users", &prf);
    for (int64_t u = 0; all && u < test->rows; u++)
        if (test->ptr[u + 1] > test->ptr[u])
            all[n++] = (struct drawn){prf_value(&prf, id_map_text(&dataset->users, u)), u};
    *tested = n;
    if (all && users < n) {
        qsort(all, (size_t)n, sizeof *all, by_value);
        qsort(all, (size_t)users, sizeof *all, by_user);
    }
    return all;
}

int user_sample(const struct dataset *dataset, const struct csr *test, int64_t users,
                const struct random_root *seeded, struct csr *out, int64_t *left_out, struct dpf_error *error)
{
    int64_t tested, used = 0, records = 0;
    struct drawn *drawn = draw_users(dataset, test, users, seeded, &tested);
    const int64_t n = users < tested ? users : tested;
    for (int64_t i = 0; drawn && i < n; i++)
        records += test->ptr[drawn[i].user + 1] - test->ptr[drawn[i].user];
    *out = (struct csr){.rows = test->rows,
                        .ptr = memory_new((size_t)test->rows + 1, sizeof *out->ptr),
                        .others = memory_raw((size_t)records + 1, sizeof *out->others),
                        .values = test->values ? memory_raw((size_t)records + 1, sizeof *out->values) : NULL,
                        .voids = test->voids ? memory_raw((size_t)records + 1, 1) : NULL};
    *left_out = tested - n;
    if (!drawn || !out->ptr || !out->others || (test->values && !out->values) ||
        (test->voids && !out->voids)) {
        csr_free(out);
        free(drawn);
        return error_memory(error);
    }
    for (int64_t u = 0, i = 0; u < test->rows; u++) {
        const int taken = i < n && drawn[i].user == u;
        for (int64_t k = test->ptr[u]; taken && k < test->ptr[u + 1]; k++, used++) {
            out->others[used] = test->others[k];
            if (out->values)
                out->values[used] = test->values[k];
            if (out->voids)
                out->voids[used] = test->voids[k];
        }
        i += taken;
        out->ptr[u + 1] = used;
    }
    free(drawn);
    return 0;
}
