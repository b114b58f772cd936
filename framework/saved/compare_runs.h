/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_runs.h - finished runs side by side, on the same test records: metrics, paired comparisons of users with the
 * first run, by bands of activity, and what is proved of each. For the curator: all of it is computed from test records.
 */
#ifndef DPF_SAVED_COMPARE_RUNS_H
#define DPF_SAVED_COMPARE_RUNS_H

#include <jansson.h>

#include "base/sheet.h"
#include "evaluate/paired_users.h"

#define COMPARE_MOST_RUNS 32

struct compared {
    const char *directory;
    json_t *run; /* run.json */
    struct user_values *values;
    char **ids;            /* of users, in the order of rows */
    int64_t (*matched)[2]; /* users with test records: rows in the first run and in this one */
    int64_t n_matched;
};

struct compare_runs {
    struct compared runs[COMPARE_MOST_RUNS];
    int n;
    struct random_root *seeded;
};

/* Fails where a run has no results by user, or the runs have other test records; the message says which. */
int compare_runs_open(char *const *directories, int n, struct compare_runs *out, struct dpf_error *error);
void compare_runs_close(struct compare_runs *runs);

/* Metrics of all runs, a row each. */
struct sheet compare_runs_metrics(const struct compare_runs *runs);
/* Each run against the first, by each metric that both have. */
int compare_runs_tests(const struct compare_runs *runs, struct sheet *out, struct dpf_error *error);
/* The first such metric by bands of training records. */
int compare_runs_bands(const struct compare_runs *runs, struct sheet *out, struct dpf_error *error);
/* Unit, adjacency and the least epsilon proved of each. */
struct sheet compare_runs_privacy(const struct compare_runs *runs);
/* All of that for programs. New reference, or NULL. */
json_t *compare_runs_json(const struct compare_runs *runs, struct dpf_error *error);

#endif
