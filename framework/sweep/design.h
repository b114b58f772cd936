/* SPDX-License-Identifier: Apache-2.0 */
/*
 * design.h - reads variants and axes from [sweep].
 *
 *     [sweep]
 *     items.mechanism.epsilon = 0.1, 0.5, 1          an axis: values of one key
 *     run.seed = 1..5                                repetitions, as split.fold: the innermost axes
 *     items.loss = @implicit-als, @complementary     swaps a component; a section like the next one,
 *     [sweep.items.loss.complementary]               if present, has its parameters
 *     [sweep.variant.clipped]                        a variant: sets several keys together
 *     items.transforms = clip-user
 *     axis.epsilon = 0.1, 0.5, 1                     an axis by name: sets nothing, variants read
 *                                                    it as $epsilon
 *
 * A value with commas stands in braces. The result is a list of settings "section.key=value" for each point;
 * the config room applies settings to a configuration.
 */
#ifndef DPF_SWEEP_DESIGN_H
#define DPF_SWEEP_DESIGN_H

#include "config/config.h"
#include "sweep/design_list.h"

struct design_value {
    char *label;
    struct design_list settings; /* "section.key=value"; none for a named axis */
};

struct design_axis {
    char *key;   /* "items.mechanism.epsilon" */
    char *name;  /* the shortest end of the key that no other axis has: "epsilon" */
    int named;   /* axis.NAME: its values have no settings */
    int repeats; /* run.seed or split.fold: crossed with all others, and tables average over it */
    struct design_value *values;
    size_t n, capacity;
};

struct design_variant {
    char *name;
    struct design_list settings; /* may hold $NAME of named axes */
    struct design_list layers;   /* files, */
    struct design_list places;   /* and the line that names each, for messages */
    int is_reference;            /* runs once for each seed, not along the axes */
};

enum design_mode { DESIGN_CROSSED, DESIGN_ZIP };

struct design {
    char *question, *baseline, *references;
    struct design_list metrics; /* empty: all */
    enum design_mode mode;
    int64_t jobs;     /* 0: one for each processor */
    char *directory;  /* that paths in settings are relative to */
    int pairs_noise;  /* points of one repetition have the same noise seed, too, not the same split alone */
    char *noise_seed; /* of the configuration: those of points follow from it */
    struct design_axis *axes; /* repetitions are last, run.seed behind split.fold */
    size_t n_axes, axes_capacity;
    struct design_variant *variants;
    size_t n_variants, variants_capacity;
};

#define DESIGN_NO_VALUE SIZE_MAX /* of an axis that a reference does not follow */

const dpf_param *design_params(int64_t *n); /* section [sweep], without axes and variants */
/* 1 if the configuration describes a sweep. */
int design_present(const struct config *config);
/* Marks the description as read, for callers that run the configuration itself. */
int design_consume(struct config *config, struct dpf_error *error);
/* Faults: DPF_FAULT_CONFIG, with file:line. On failure out is empty. */
int design_read(struct config *config, struct design *out, struct dpf_error *error);
/* Whether the files of variants can be read. */
int design_check_files(const struct design *design, struct dpf_error *error);
void design_free(struct design *design);
/* The axis of run.seed, or NULL. */
const struct design_axis *design_seeds(const struct design *design);
/* Whether points repeat each other: there is an axis of run.seed or split.fold. */
int design_repeats(const struct design *design);
/* The named axis that text, which begins with '$', reads, or that of run.seed for "$seed"; *length is that of
   "$NAME". NULL if there is none. */
const struct design_axis *design_axis_read(const struct design *design, const char *text, size_t *length);

#endif
