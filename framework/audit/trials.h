/* SPDX-License-Identifier: Apache-2.0 */
/* trials.h - trainings with either of two neighbouring data sets, and a score of each. */
#ifndef DPF_AUDIT_TRIALS_H
#define DPF_AUDIT_TRIALS_H

#include "audit/observe.h"
#include "audit/pairs.h"

#define TRIALS_MAX_WATCHED 64

struct trials {
    struct plan *plan;
    struct dataset sets[2];
    struct canary canary; /* user -1: the data sets are given, and differ somewhere */
    enum observe_view view;
    int hidden; /* some draw of the canary is hidden from the observer */
    /* Of a recommender: it tells all releases without noise, and their noise has laws that are known. */
    int has_laws, laws_known;
    int by_reports; /* without laws: by what a recommender's users send */
    /* View rows, and recommenders without laws: a trial gives numbers, not a score. */
    int32_t watched[TRIALS_MAX_WATCHED]; /* rows, the canary's first; of a recommender items of the canary */
    int64_t n_watched, n_numbers;
};

/* Resolves the view (AUTO) and what follows from the canary. plan is complete; sets are made. */
int trials_prepare(struct trials *trials, enum observe_view wanted, struct dpf_error *error);
void trials_free(struct trials *trials);

/*
 * One trial with sets[set], with noise of its own: from the system, or of [privacy] noise-seed and the
 * trial's number. out: one score (large: sets[0]), or n_numbers of view rows.
 */
int trials_run(struct trials *trials, struct pool *pool, int set, int64_t number, double *out,
               struct dpf_error *error);
/* The expected score of a trial with sets[0]: how far the canary moves releases, in noise. */
int trials_distance(struct trials *trials, struct pool *pool, int64_t number, double *out,
                    struct dpf_error *error);
/* A training with sets[0], the canary drawn wherever a draw is hidden, and its replay with sets[1]. */
int trials_pair(struct trials *trials, struct pool *pool, int64_t number, struct trace *first,
                struct trace *second, struct dpf_error *error);
/* Whether a recommender releases a row for each user; else it releases sums. */
int trials_sees_reports(const struct plan *plan);
/* New noise for the plan, of that name where it is reproducible. */
int trials_rekey(struct plan *plan, const char *name, int64_t number, struct dpf_error *error);

#endif
