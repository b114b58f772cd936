/* SPDX-License-Identifier: Apache-2.0 */
/* noise_table.h - noise of a run as densities: private/noise.csv. */
#ifndef DPF_RUN_NOISE_TABLE_H
#define DPF_RUN_NOISE_TABLE_H

#include "engine/engine.h"

/* "quadratic", "linear", "count" or "gradient"; NULL for no block. */
const char *noise_block_name(int32_t kind);
/* Blocks of a Gram row are named "gram quadratic". "term,block,from,to,density,draws"; *out is NULL if the run counted no noise. Free it. */
char *noise_table_text(const struct engine_stats *stats);
/* The value and density of a line of that table, if it is about the term and block; else 0. line is cut up.
 */
int noise_table_read(char *line, const char *term, const char *block, double *value, double *density);
/* The term and block that a line is about; 0 for the line of names, or what is none. line is cut up. */
int noise_table_source(char *line, char *term, size_t term_size, char *block, size_t block_size);

#endif
