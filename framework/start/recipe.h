/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h - a configuration that dpframe start can write. */
#ifndef DPF_START_RECIPE_H
#define DPF_START_RECIPE_H

struct recipe {
    const char *name;    /* of the recommender, which has to be there */
    int ranking;         /* lists of items, or ratings */
    int is_simple;       /* the fallback where the other one of its kind cannot be better */
    const char *summary; /* one line, for the head of the configuration */
    const char *compare; /* [run] compare */
};

#endif
