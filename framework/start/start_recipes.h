/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_recipes.h - the configurations that dpframe start chooses from, by public facts alone.
 *
 * The first recipe of the table that is for what is wanted, and whose component is on the search path, is
 * taken; a new one is a line of the table. How much is released follows from users and epsilon: the
 * components' own rules.
 */
#ifndef DPF_START_START_RECIPES_H
#define DPF_START_START_RECIPES_H

#include "base/text.h"
#include "start/start_facts.h"

struct recipe {
    const char *name;
    int ranking;             /* lists of items, or ratings */
    const char *recommender; /* that has to be there */
    const char *summary;     /* one line, for the head of the configuration */
    void (*write)(const struct start_facts *facts, struct text *out); /* [model] and [parties] */
};

/* Whether a recommender of that id is on the search path. */
typedef int (*recipe_has)(void *context, const char *id);

/* NULL: no such component is there. */
const struct recipe *recipe_choose(const struct start_facts *facts, recipe_has has, void *context);
/* The whole configuration; path is written as it is. */
void recipe_write(const struct recipe *recipe, const struct start_facts *facts, const char *path,
                  struct text *out);

/* The mu of the Gaussian mechanism that costs (epsilon, delta): sensitivity over standard deviation. */
double recipe_mu(double epsilon, double delta);
/* What it can be expected to cost in accuracy, one line. Free it. */
char *recipe_expectation(const struct start_facts *facts);

#endif
