/* SPDX-License-Identifier: Apache-2.0 */
/* laws.h - the laws of noise that events state, and how numbers compare with them. */
#ifndef DPF_SEEN_LAWS_H
#define DPF_SEEN_LAWS_H

#include "seen/trace.h"

/* A sign that only one of two data sets can give. */
#define LAW_CERTAIN 1e9

enum law_kind {
    LAW_NONE, /* not known */
    LAW_NORMAL,
    LAW_LAPLACE,
    LAW_FLIP /* a bit that is flipped with a probability */
};

/* Of the noise of one number. scale: the standard deviation, that of Laplace noise, or the probability; 0: none. */
struct law {
    enum law_kind kind;
    double scale;
};

/* The kind of an event's noise, discrete or not. Skellam noise counts as normal. */
enum law_kind law_kind_of(const dpf_event *event);
/* Standard deviation of one number with noise of the event's own scale; NaN where none is stated. */
double law_deviation(const dpf_event *event);
/*
 * Of number `at` of an observation, by the event that states its noise (NULL: taken as normal). Noise less than
 * `least`, what rounding does, is taken for that much normal noise.
 */
struct law law_of(const dpf_event *event, const struct observation *o, int64_t at, double least);

/* ln of the density of what was seen, but for what exact value and scale have no part in. */
double law_log_density(const struct law *law, double seen, double exact);
/* ln of the ratio of the densities of a number with two exact values, whatever noise each has. */
double law_ratio(const struct law two[2], double seen, const double exact[2]);
/* The expected ratio under the first, for exact values so far apart. */
double law_distance(const struct law *law, double apart);
/* The noise over its standard deviation; NaN if there is none, or no law. */
double law_standardised(const struct law *law, double seen, double exact);
/* The fourth moment of that. */
double law_fourth_moment(const struct law *law);

/*
 * How far a release of a component moved between two observations, over the change that its event states for this
 * unit and adjacency; 0 where nothing is stated. Infinite: a number that has no noise moved.
 */
double law_share_of_move(const struct observation *a, const struct observation *b, int32_t unit,
                         int32_t adjacency);

#endif
