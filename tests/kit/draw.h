/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - configurations drawn from the parameter tables that make the reference, and made runnable on tiny data.
 *
 * A harness asks for a drawing with a certain key in it, completes it, and hands it to the program. A new key or
 * component is drawn from the day it is in a table. What a table does not say (which texts a key takes, which
 * numbers are too large for tiny data) is in draw_values.c; a text key without an entry there fails draw_keys_open.
 *
 * One thread. Everything depends on the random state and the tables alone.
 */
#ifndef DPF_TEST_DRAW_H
#define DPF_TEST_DRAW_H

#include <stdint.h>

#include "base/error.h"
#include "plugin/registry.h"

/* ---- chance ------------------------------------------------------------------------------------------- */

struct draw_random {
    uint64_t state;
};
void draw_seed(struct draw_random *random, uint64_t seed);
int draw_below(struct draw_random *random, int n); /* 0 .. n-1 */
double draw_unit(struct draw_random *random);      /* [0, 1) */
int draw_chance(struct draw_random *random, int percent);

/* ---- keys --------------------------------------------------------------------------------------------- */

#define DRAW_VALUES 24 /* values of a key that are counted apart */

/* A row of a parameter table. place is a section ("data"), "SIDE" for [users] and [items], "TERM" for the keys of
   their terms, or a role ("loss"); owner is the component of a role, else "". */
struct draw_key {
    char place[32], owner[64];
    const dpf_param *param;
    const char *left_out; /* why it is not drawn, or NULL */
    int is_fact; /* a line of the table of facts names it (reading/input_facts.h), or a pivot is about it */
    int64_t tried, done; /* drawings with it; those that the harness took to its end */
    int64_t by_value[DRAW_VALUES];
};

struct draw_keys {
    struct registry *registry;
    struct draw_key *list;
    int n;
    int64_t tries; /* a key that was never done comes before all others, until it was tried so often */
};
/* All keys of a run. build: the build tree, whose plugins are loaded. 0, or -1. */
int draw_keys_open(struct draw_keys *keys, const char *build, struct dpf_error *error);
void draw_keys_free(struct draw_keys *keys);
/* The directory of plugins that drawings are opened with. Valid until the next call. */
const char *draw_plugins(const char *build);
/* "data path", "loss als: lambda". */
const char *draw_key_name(const struct draw_key *key, char buffer[160]);

/* ---- values ------------------------------------------------------------------------------------------- */

/* The texts of a text key, NULL-terminated; NULL: nobody has said. "@DIR@" stands for the directory of the data. */
const char *const *draw_texts(const char *place, const char *owner, const char *name);
/* Whether a pivot of pairs is about the key (draw_pairs.h). */
int draw_has_pivot(const char *name);
/* Why a key is not drawn, or NULL. */
const char *draw_left_out(const char *place, const char *owner, const char *name);
/* The role whose component a text key names, one or (*several) a list; NULL: none. */
const char *draw_role_of(const char *place, const char *name, int *several);
/* A value of the key as text, and in *which the one of its values that it is, below DRAW_VALUES. Free it. */
char *draw_value(struct draw_random *random, const struct draw_keys *keys, const struct draw_key *key,
                 int *which);

/* ---- drawings ----------------------------------------------------------------------------------------- */

struct draw_setting {
    char *section, *key, *value;
    int of;    /* index into the keys, or -1 */
    int which; /* its value, see draw_value */
    int drawn; /* 0: of the base, or of the completion */
};

/* A configuration as a list of settings, of which there is one for each section and key. */
struct drawing {
    char base[160]; /* the file that it began with */
    struct draw_setting *settings;
    int n, capacity;
};
void drawing_free(struct drawing *drawing);
void drawing_copy(const struct drawing *from, struct drawing *out);
const char *drawing_get(const struct drawing *drawing, const char *section,
                        const char *key); /* NULL: not set */
int64_t drawing_integer(const struct drawing *drawing, const char *section, const char *key,
                        int64_t otherwise);
struct draw_setting *drawing_set(struct drawing *drawing, const char *section, const char *key,
                                 const char *value);
/* Removes it; with key NULL the section and those below it. */
void drawing_unset(struct drawing *drawing, const char *section, const char *key);

/* Configurations that drawings begin with: those of the tree, or drawings that were taken to their end. */
#define DRAW_MOST_KEPT 600
struct draw_bases {
    struct drawing *list;
    int n;
};
/* Examples of all plugins, and the configurations that ship; source: the source tree. */
int draw_bases_open(struct draw_bases *bases, struct draw_keys *keys, const char *source,
                    struct dpf_error *error);
void draw_bases_free(struct draw_bases *bases);

/* Which key belongs to a setting's section and key, or -1. */
int drawing_key_of(const struct drawing *drawing, const struct draw_keys *keys, const char *section,
                   const char *key);
/* Sets the key to a drawn value where it has a place in the drawing: 1, or 0. */
int drawing_draw(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys, int key);
/* Sets all numbers of one loss or solver to the least that each may be: there is nothing wrong with any by itself. */
void drawing_least(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys);
/* Whether the key has not been done, and comes before others for that. */
int draw_is_missing(const struct draw_keys *keys, const struct draw_key *key);
/* A key that has been done least; by chance among equals. in: of those that have a place there and are not drawn
   in it; NULL: of all. facts: of those alone that facts of the input name. -1: there is none. */
int draw_rare_key(struct draw_random *random, const struct draw_keys *keys, const struct drawing *in,
                  int facts);
/* Names the key's component in the drawing, so that the key has a place; 0: nothing there takes it. */
int drawing_graft(struct drawing *drawing, struct draw_random *random, const struct draw_keys *keys, int key);
/* A copy of a base in which the key has a place; 0: there is none. */
int draw_base_for(struct drawing *out, struct draw_random *random, const struct draw_keys *keys,
                  const struct draw_bases *bases, int key);
/* Keeps a copy, to begin with; of many one gives way. */
void draw_bases_keep(struct draw_bases *bases, struct draw_random *random, const struct drawing *drawing);
/* Sets what tiny data asks for: files in the directory, small numbers, few rounds. */
void drawing_shrink(struct drawing *drawing, const struct draw_keys *keys, const char *directory);
/* Notes that the harness took it to its end. */
void drawing_done(const struct drawing *drawing, struct draw_keys *keys);
/* The configuration as an INI text, with @DIR@ replaced. Free it. */
char *drawing_text(const struct drawing *drawing, const char *directory);

#endif
