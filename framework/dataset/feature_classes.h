/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_classes.h - items that public facts do not tell apart.
 *
 * An item has a set of categories and a set of numbers; items with the same of both form a class. Few sets make many
 * classes (9,742 films: 951 sets of genres, 106 years, 4,831 classes), so tables are made of sets, not of classes.
 * A field with more than FEATURE_WIDE_FIELD categories is text (tags, names): it is read as words, and makes no sets.
 */
#ifndef DPF_DATASET_FEATURE_CLASSES_H
#define DPF_DATASET_FEATURE_CLASSES_H

#include "dataset/dataset.h"

#define FEATURE_WIDE_FIELD 256
#define FEATURE_WIDTH 0.24 /* of numbers, in deviations: what differs by less is alike (4 years for films) */
#define FEATURE_MOST_SETS 4096 /* of categories, and of numbers; a table of all pairs then has 64 MB */

struct feature_classes {
    int64_t n, n_categories, n_numbers; /* classes; sets of each kind */
    int32_t *of_item;                   /* the class of each item */
    int64_t *first;                /* classes by their set of categories: the first of each, and the end */
    int32_t *categories, *numbers; /* the sets of each class */
    int32_t *item_of_categories, *item_of_numbers; /* an item that has the set */
};

/* One number for each column: 1 where it is a category of a field that is text. NULL: out of memory. */
unsigned char *feature_wide_columns(const struct feature_table *features);

/* If there are more than FEATURE_MOST_SETS sets of numbers, numbers count as equal within a quarter of FEATURE_WIDTH.
   wide: of feature_wide_columns. There may still be more. 0, or -1: out of memory. */
int feature_classes_make(const struct feature_table *features, const unsigned char *wide,
                         struct feature_classes *out);
/* Refuses more than FEATURE_MOST_SETS sets of a kind; the message names the keys. */
int feature_classes_check(const struct feature_classes *classes, struct dpf_error *error);
void feature_classes_free(struct feature_classes *classes);

#endif
