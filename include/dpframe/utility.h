/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utility.h - what a component's publication proves about utility, for "dpframe account --utility".
 *
 * A loss or a solver that comes with a theorem about the error of its results can report it: the numbers that
 * go in, each with a name, and the bounds that come out, as published and as they can be derived. The host
 * reads NAME=VALUE from the command line, prints the report as text or JSON, and compares settings by it.
 * A report of utility is not part of the guarantee and changes no epsilon.
 */
#ifndef DPFRAME_UTILITY_H
#define DPFRAME_UTILITY_H

#include "privacy.h"
#include "query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The planned release whose utility is asked for. Memory is the host's. */
typedef struct dpf_utility_setup {
    uint32_t size;
    int32_t side; /* that is solved */
    const dpf_query *query;
    const dpf_bounds *bounds;      /* numbers mean nothing where bounds.from_data is set */
    const dpf_sensitivity *blocks; /* one for each block of the query */
    const double *scale;           /* the mechanism's noise scale of each block; 0: no noise */
    const dpf_sampling *sampling;
    const dpf_event *events; /* of this release */
    int32_t n_events;
    int32_t reserved;
    int64_t rows;   /* that are released: fewer than bounds.n_self behind a projection */
    int64_t rounds; /* of the run */
    double budget;  /* epsilon of one release, as the mechanism's configuration asks; NaN: not stated */
    double target;  /* epsilon of the whole run that settings are chosen for; NaN: none */
} dpf_utility_setup;

/* Flags of a number. */
#define DPF_UTILITY_WHOLE UINT32_C(1)    /* an integer */
#define DPF_UTILITY_ABOVE UINT32_C(2)    /* `least` itself is not allowed */
#define DPF_UTILITY_ASSUMED UINT32_C(4)  /* the plan does not know it: `value` is an assumption */
#define DPF_UTILITY_OPTIONAL UINT32_C(8) /* NaN where it is not given */

/* A number that goes in. */
typedef struct dpf_utility_number {
    const char *name; /* as in NAME=VALUE */
    const char *help; /* a few words */
    double value;     /* of the plan */
    double least;
    double most;
    uint32_t flags; /* DPF_UTILITY_* */
    int32_t reserved;
    uint64_t reserved_words[4];
} dpf_utility_number;

/* A bound that comes out. */
typedef struct dpf_utility_bound {
    const char *name; /* a key of the JSON object */
    const char *help; /* a few words: the line's label */
    double published; /* NaN: none */
    double derived;   /* NaN: none */
    uint64_t reserved[4];
} dpf_utility_bound;

/* The report. Arrays are the host's, texts are constants of the plugin. */
typedef struct dpf_utility {
    uint32_t size;
    int32_t numbers_capacity;
    dpf_utility_number *numbers;
    int32_t n_numbers;
    int32_t n_bounds;
    dpf_utility_bound *bounds;
    int32_t bounds_capacity;
    int32_t notes_capacity;
    const char **notes; /* sentences to be printed below the bounds */
    int32_t n_notes;
    int32_t reserved;
    const char *source; /* "DPIMF, Theorems 4 and 5" */
    const char *title;  /* what is bounded */
    double error;       /* settings are compared by it, smaller is better; NaN: they cannot be */
} dpf_utility;

/* Adds a number or a bound; the host has room for 32 of each, and for 16 notes. */
static inline void dpf_utility_add_number(dpf_utility *report, const char *name, double value, double least,
                                          double most, uint32_t flags, const char *help)
{
    if (report->n_numbers >= report->numbers_capacity)
        return;
    dpf_utility_number *number = &report->numbers[report->n_numbers++];
    number->name = name;
    number->help = help;
    number->value = value;
    number->least = least;
    number->most = most;
    number->flags = flags;
}
static inline void dpf_utility_add_bound(dpf_utility *report, const char *name, double published,
                                         double derived, const char *help)
{
    if (report->n_bounds >= report->bounds_capacity)
        return;
    dpf_utility_bound *bound = &report->bounds[report->n_bounds++];
    bound->name = name;
    bound->help = help;
    bound->published = published;
    bound->derived = derived;
}
static inline void dpf_utility_add_note(dpf_utility *report, const char *note)
{
    if (report->n_notes < report->notes_capacity)
        report->notes[report->n_notes++] = note;
}

#ifdef __cplusplus
}
#endif
#endif
