/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_options.h - section [evaluate], in the form that the passes use. */
#ifndef DPF_EVALUATE_EVALUATE_OPTIONS_H
#define DPF_EVALUATE_EVALUATE_OPTIONS_H

#include "evaluate/evaluate.h"
#include "evaluate/metric_table.h"

#define MOST_CUTOFFS 64

enum evaluate_cold { EVALUATE_COLD_MEAN, EVALUATE_COLD_SKIP, EVALUATE_COLD_MODEL };
#define MOST_RELEASED_RECORDS 1024

/* What sampled negatives are drawn from. */
enum evaluate_negatives { EVALUATE_NEGATIVES_ALL, EVALUATE_NEGATIVES_RATED, EVALUATE_NEGATIVES_POPULARITY };

enum evaluate_clip { EVALUATE_CLIP_AUTO, EVALUATE_CLIP_YES, EVALUATE_CLIP_NO };

/* Lists belong to the config_values that were read. */
struct evaluate_options {
    const struct config_values *values; /* that were read, for messages */
    int n_chosen;
    enum metric_id chosen[METRIC_COUNT]; /* in the order of the configuration */
    int64_t cutoffs[MOST_CUTOFFS];
    int64_t n_cutoffs;
    int64_t largest_cutoff;
    int sampled;
    int beside_full; /* the full ranking is reported beside the sampled one */
    int64_t negatives;
    enum evaluate_negatives negatives_from;
    int mask_seen;
    double relevance; /* least value of a positive */
    enum evaluate_clip clip;
    int shift;
    enum evaluate_cold cold;
    const int64_t *bands; /* inner boundaries, ascending */
    int64_t n_bands;      /* boundaries; 0: no activity bands */
    const int64_t *popularity_bands;
    int64_t n_popularity_bands;
    int64_t users;      /* with test records that are looked at; 0: all */
    int64_t replicates; /* of the bootstrap; 0: no intervals */
    double confidence;
    int release;             /* metrics are released with noise, too */
    int release_laplace;     /* with Laplace noise */
    double release_epsilon;  /* of that release alone */
    double release_share;    /* the same, of a total */
    double release_error;    /* bound of an error of a predicted value; 0: the declared range */
    int64_t release_records; /* test records that a user counts as at most */
};

/* implicit decides "auto". */
int evaluate_options_read(const struct config_values *values, int implicit, struct evaluate_options *out,
                          struct dpf_error *error);
int evaluate_options_chosen(const struct evaluate_options *options, enum metric_id id);
int evaluate_options_rate(const struct evaluate_options *options); /* 1 if a rating metric is wanted */
int evaluate_options_rank(const struct evaluate_options *options); /* 1 if a ranking metric is wanted */

#endif
