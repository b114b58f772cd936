/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_recipes.h - the configurations that dpframe start chooses from, by public facts alone.
 *
 * For lists and for ratings there is a personal model and a simple one. users x mu decides between them
 * unless the user names a recipe. The components' own rules choose the size of the release from users and
 * epsilon.
 */
#ifndef DPF_START_START_RECIPES_H
#define DPF_START_START_RECIPES_H

#include "base/text.h"
#include "start/recipe.h"
#include "start/start_facts.h"

/* Whether a recommender of that id is on the search path. */
typedef int (*recipe_has)(void *context, const char *id);

/* NULL: no component of its kind is there, or not the one that is asked for, or that is of the other kind. */
const struct recipe *recipe_choose(const struct start_facts *facts, recipe_has has, void *context);
/* The whole configuration; path and output, of the results, are copied unchanged. */
void recipe_write(const struct recipe *recipe, const struct start_facts *facts, const char *path,
                  const char *output, struct text *out);

#endif
