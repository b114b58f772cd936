/* SPDX-License-Identifier: Apache-2.0 */
/* plot_data.h - the series of a sweep's plots. Each function adds series to a plot that has none. */
#ifndef DPF_SWEEP_PLOT_DATA_H
#define DPF_SWEEP_PLOT_DATA_H

#include "plot/plot.h"
#include "sweep/outcomes.h"

/* A number of a point: a metric, or bytes. */
typedef double (*plot_number)(const struct outcome *outcome, const char *name);

/* y against the values of an axis, a series for each cell without that axis. */
void plot_data_axis(const struct outcomes *outcomes, size_t axis, plot_number number, const char *name,
                    struct plot *out);
/* A metric against the proved epsilon, a series for each variant. */
void plot_data_proved(const struct outcomes *outcomes, const char *metric, struct plot *out);
/* The training RMSE of rounds, mean over repetitions, a series for each cell. */
void plot_data_rounds(const struct outcomes *outcomes, struct plot *out);

/* A term and block whose noise some run counted: "users.social", "linear". */
struct noise_source {
    char term[96], block[16];
};
/* Those of all runs, in the order in which they appear; free them. Returns how many. */
size_t plot_data_noise_sources(const struct outcomes *outcomes, struct noise_source **out);
/*
 * Noise of a term's block as densities, a series for each cell: its first repetition. Where the series are so
 * different that the narrow ones would be lines, both axes are logarithmic and only values above 0 are taken;
 * noise is symmetric.
 */
void plot_data_noise(const struct outcomes *outcomes, const struct noise_source *source, struct plot *out);

#endif
