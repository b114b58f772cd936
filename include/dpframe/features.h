/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - public facts about items, as numbers.
 *
 * They come from a file that the configuration declares public ([data] item-features): genres,
 * a year. Columns, their order, means and deviations depend on that file alone, never on
 * interactions, so a release may read them without noise. The rows are those of the run's ids; an id without
 * a line in the file has a row without entries.
 *
 * All memory belongs to the host, is read-only, and is valid during the call that passes it.
 */
#ifndef DPFRAME_FEATURES_H
#define DPFRAME_FEATURES_H

#include <math.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a column is. */
#define DPF_FEATURE_CATEGORY 0 /* 1 where the row has that category; a row may have several of one field */
#define DPF_FEATURE_NUMBER 1   /* a number as in the file */

/* One column. Frozen. */
typedef struct dpf_feature_column {
    const char *name; /* "genres=Comedy", "year" */
    int32_t kind;     /* DPF_FEATURE_* */
    int32_t field;    /* of the file that the column comes from: from 0, ascending */
    double mean; /* over all lines of the file: of the numbers, or the fraction of lines in the category */
    double deviation; /* standard deviation of the numbers, above 0; 1 for categories */
    uint64_t reserved[4];
} dpf_feature_column;

/* Rows as sparse vectors: the entries of row r are offsets[r] .. offsets[r+1]-1, columns ascending. */
typedef struct dpf_features {
    uint32_t size;
    int32_t n_fields;
    int64_t rows; /* n_items */
    int64_t columns;
    const int64_t *offsets; /* rows + 1 */
    const int32_t *at;      /* the column of each entry */
    const float *values;    /* 1 for a category. A number missing in the file has no entry. */
    const dpf_feature_column *column;
} dpf_features;

/* Numbers are clipped at this many standard deviations from their mean. */
#define DPF_FEATURE_REACH 3.0

/*
 * Row r as `columns` numbers of comparable size. Each of a row's n categories of one field becomes 1/sqrt(n),
 * so that together they have norm 1; numbers become (x - mean) / deviation, cut at +-DPF_FEATURE_REACH.
 * Missing values become 0.
 */
static inline void dpf_features_row(const dpf_features *features, int64_t r, double *out)
{
    const int64_t end = features->offsets[r + 1];
    for (int64_t c = 0; c < features->columns; c++)
        out[c] = 0.0;
    for (int64_t i = features->offsets[r]; i < end;) {
        const dpf_feature_column *first = &features->column[features->at[i]];
        int64_t next = i + 1;
        while (next < end && features->column[features->at[next]].field == first->field)
            next++;
        const double n = (double)(next - i);
        for (; i < next; i++) {
            const dpf_feature_column *column = &features->column[features->at[i]];
            const double number = ((double)features->values[i] - column->mean) / column->deviation;
            out[features->at[i]] = column->kind == DPF_FEATURE_CATEGORY ? 1.0 / sqrt(n)
                                   : number > DPF_FEATURE_REACH         ? DPF_FEATURE_REACH
                                   : number < -DPF_FEATURE_REACH        ? -DPF_FEATURE_REACH
                                                                        : number;
        }
    }
}

#ifdef __cplusplus
}
#endif
#endif
