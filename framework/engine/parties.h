/* SPDX-License-Identifier: Apache-2.0 */
/* parties.h - which party holds which training records. */
#ifndef DPF_ENGINE_PARTIES_H
#define DPF_ENGINE_PARTIES_H

#include "dataset/dataset.h"
#include "plan/plan.h"

/* One curator or silo. */
struct party {
    struct csr by_user, by_item; /* its records; a curator's are the data set's own */
    int32_t *members;            /* silos: its rows of the partitioned side, ascending */
    int64_t n_members;
};

struct parties {
    int kind;      /* enum parties_kind; each user is held like a curator and streamed */
    int partition; /* DPF_SIDE_* that silos divide, or -1 */
    int64_t n;     /* curator: 1, silos: count, users: 1 */
    struct party *list;
};

int parties_make(struct parties *parties, const struct plan *plan, const struct dataset *dataset,
                 struct dpf_error *error);
void parties_free(struct parties *parties);

#endif
