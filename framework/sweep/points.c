/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

#define NAME_MAX_LENGTH 120

static int is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '+' || c == '_';
}

static void add_hash(struct text *name, const char *of)
{
    char hex[65];
    files_hash_bytes(of, strlen(of), hex);
    text_add(name, "-%.8s", hex);
}

/* A label may hold anything; what it is mapped to must still be its own. */
static char *fit_name(const struct text *label)
{
    struct text name = {0};
    int changed = label->length > NAME_MAX_LENGTH || label->data[0] == '.' || label->data[0] == '-';
    for (size_t i = 0; i < label->length && i < NAME_MAX_LENGTH; i++) {
        changed |= !is_plain(label->data[i]);
        text_add(&name, "%c",
                 is_plain(label->data[i]) && (i || label->data[i] != '.') ? label->data[i] : '-');
    }
    if (changed)
        add_hash(&name, label->data);
    return name.data;
}

char *point_name(const struct design *design, const struct point *point)
{
    struct text label = {0};
    if (point->variant)
        text_add(&label, "%s", point->variant->name);
    for (size_t i = 0; i < design->n_axes; i++)
        if (point->values[i] != DESIGN_NO_VALUE)
            text_add(&label, "%s%s-%s", label.length ? "_" : "", design->axes[i].name,
                     design->axes[i].values[point->values[i]].label);
    char *name = !label.data ? NULL : fit_name(&label);
    text_free(&label);
    return name;
}

int point_repeats(const struct design *design, const struct point *a, const struct point *b)
{
    if (a->variant != b->variant)
        return 0;
    for (size_t i = 0; i < design->n_axes; i++)
        if (!design->axes[i].repeats && a->values[i] != b->values[i])
            return 0;
    return 1;
}

char *point_row_name(const struct design *design, const struct point *point)
{
    struct point row = *point;
    row.values = memory_need(design->n_axes + 1, sizeof *row.values);
    for (size_t i = 0; i < design->n_axes; i++)
        row.values[i] = design->axes[i].repeats ? DESIGN_NO_VALUE : point->values[i];
    int differs = row.variant != NULL;
    for (size_t i = 0; i < design->n_axes; i++)
        differs |= row.values[i] != DESIGN_NO_VALUE;
    char *name = differs ? point_name(design, &row) : memory_text("");
    free(row.values);
    return name;
}

static size_t combinations(const struct design *design)
{
    size_t n = design->n_variants ? design->n_variants : 1, zipped = 1;
    for (size_t i = 0; i < design->n_axes; i++) {
        if (design->mode == DESIGN_ZIP && !design->axes[i].repeats)
            zipped = design->axes[i].n;
        else if (__builtin_mul_overflow(n, design->axes[i].n, &n))
            return DESIGN_MAX_POINTS + 1;
    }
    return __builtin_mul_overflow(n, zipped, &n) ? DESIGN_MAX_POINTS + 1 : n;
}

/* The index as digits of a mixed base, the last axis changing fastest. */
static void choose(const struct design *design, size_t index, struct point *point)
{
    int zip = design->mode == DESIGN_ZIP, taken = 0;
    size_t zipped = 0;
    for (size_t i = design->n_axes; i-- > 0;) {
        size_t n = design->axes[i].n;
        if (!zip || design->axes[i].repeats) {
            point->values[i] = index % n;
            index /= n;
            continue;
        }
        if (!taken) {
            zipped = index % n;
            index /= n;
            taken = 1;
        }
        point->values[i] = zipped;
    }
    point->variant = design->n_variants ? &design->variants[index] : NULL;
}

/* A reference takes the place of the first of its points along the axes; the others are left out (0). */
static int leave_axes(const struct design *design, struct point *point)
{
    if (!point->variant || !point->variant->is_reference)
        return 1;
    for (size_t i = 0; i < design->n_axes; i++) {
        if (design->axes[i].repeats)
            continue;
        if (point->values[i] != 0)
            return 0;
        point->values[i] = DESIGN_NO_VALUE;
    }
    return 1;
}

/* A setting with the point's values in place of $NAME. */
static char *fill(const struct design *design, const struct point *point, const char *setting)
{
    struct text out = {0};
    for (const char *at = setting; *at;) {
        size_t length;
        const struct design_axis *axis = *at == '$' ? design_axis_read(design, at, &length) : NULL;
        if (axis)
            text_add(&out, "%s", axis->values[point->values[axis - design->axes]].label);
        else
            text_add(&out, "%c", *at);
        at += axis ? length : 1;
    }
    return out.data;
}

static void add_list(const struct design *design, struct point *point, const struct design_list *settings)
{
    for (size_t s = 0; s < settings->n; s++)
        point->settings[point->n_settings++] = fill(design, point, settings->texts[s]);
}

#define NOISE_SEED "privacy.noise-seed="
#define SEED_DIGITS 13 /* hexadecimal: below 2^52, which a setting can have */

/* What a point is without its repetition, or what it is one of. */
static void add_place(const struct design *design, const struct point *point, int repetition,
                      struct text *out)
{
    if (!repetition && point->variant)
        text_add(out, "variant=%s\n", point->variant->name);
    for (size_t i = 0; i < design->n_axes; i++)
        if (design->axes[i].repeats == repetition && point->values[i] != DESIGN_NO_VALUE)
            text_add(out, "%s=%s\n", design->axes[i].key, design->axes[i].values[point->values[i]].label);
}

/*
 * Repetitions that share their noise would be one draw that is counted several times. The seed of a point's noise is
 * the first 52 bits of the SHA-256 of lines KEY=VALUE: privacy.noise-seed of the configuration, split.fold and run.seed
 * of the point, and, unless noise is paired, its variant and its values on the other axes.
 */
static void add_noise_seed(const struct design *design, struct point *point)
{
    for (int i = 0; i < point->n_settings; i++)
        if (strncmp(point->settings[i], NOISE_SEED, strlen(NOISE_SEED)) == 0)
            return;
    if (!design_repeats(design))
        return;
    char hex[65];
    struct text of = {0};
    text_add(&of, NOISE_SEED "%s\n", design->noise_seed);
    add_place(design, point, 1, &of);
    if (!design->pairs_noise)
        add_place(design, point, 0, &of);
    files_hash_bytes(of.data, of.length, hex);
    text_free(&of);
    hex[SEED_DIGITS] = '\0';
    char *setting = memory_format(NOISE_SEED "%llu", strtoull(hex, NULL, 16));
    point->settings[point->n_settings++] = setting;
}

static void add_settings(const struct design *design, struct point *point)
{
    size_t n = point->variant ? point->variant->settings.n : 0;
    for (size_t i = 0; i < design->n_axes; i++)
        n += point->values[i] == DESIGN_NO_VALUE ? 0 : design->axes[i].values[point->values[i]].settings.n;
    point->settings = memory_need(n + 2, sizeof *point->settings);
    if (point->variant)
        add_list(design, point, &point->variant->settings);
    for (size_t i = 0; i < design->n_axes; i++)
        if (point->values[i] != DESIGN_NO_VALUE)
            add_list(design, point, &design->axes[i].values[point->values[i]].settings);
    add_noise_seed(design, point);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names are directories: two alike would overwrite each other. */
static int check_names(const struct points *points, struct dpf_error *error)
{
    char **names = memory_need(points->n, sizeof *names);
    for (size_t i = 0; i < points->n; i++)
        names[i] = points->items[i].name;
    qsort(names, points->n, sizeof *names, by_name);
    int status = 0;
    for (size_t i = 1; i < points->n && status == 0; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = error_set(error, DPF_FAULT_CONFIG,
                               "[sweep]: two points have the name %s; give variants other names", names[i]);
    free(names);
    return status;
}

int points_make(const struct design *design, struct points *out, struct dpf_error *error)
{
    *out = (struct points){0};
    size_t n = combinations(design);
    if (n > DESIGN_MAX_POINTS)
        return error_set(error, DPF_FAULT_CONFIG, "[sweep] has more than %d points", DESIGN_MAX_POINTS);
    out->items = memory_need(n, sizeof *out->items);
    for (size_t i = 0; i < n; i++) {
        struct point *point = &out->items[out->n++];
        point->values = memory_need(design->n_axes + 1, sizeof *point->values);
        choose(design, i, point);
        if (!leave_axes(design, point)) {
            free(point->values);
            *point = (struct point){0};
            out->n--;
            continue;
        }
        point->name = point_name(design, point);
        add_settings(design, point);
    }
    const int status = check_names(out, error);
    if (status != 0)
        points_free(out);
    return status;
}

void points_free(struct points *points)
{
    for (size_t i = 0; i < points->n; i++) {
        free(points->items[i].name);
        free(points->items[i].values);
        for (int s = 0; s < points->items[i].n_settings; s++)
            free(points->items[i].settings[s]);
        free(points->items[i].settings);
    }
    free(points->items);
    *points = (struct points){0};
}
