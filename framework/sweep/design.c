/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/design.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "sweep/design_parse.h"

enum {
    SWEEP_QUESTION,
    SWEEP_MODE,
    SWEEP_BASELINE,
    SWEEP_METRICS,
    SWEEP_REFERENCES,
    SWEEP_PAIR,
    SWEEP_JOBS,
    SWEEP_COUNT
};

static const dpf_enum_value mode_values[] = {
    {"crossed", "every combination of the axes' values"},
    {"zip", "first values together, second values together, and so on; run.seed, split.fold and variants "
            "stay crossed"},
};
static const dpf_param table[SWEEP_COUNT] = {
    [SWEEP_QUESTION] = DPF_PARAM_TEXT_F("question", DPF_TYPE_STRING, "", 0,
                                        "The question that the sweep answers: the first line of the report."),
    [SWEEP_MODE] = DPF_PARAM_ENUM_F("mode", DESIGN_CROSSED, mode_values, 0, "How axes are combined."),
    [SWEEP_BASELINE] = DPF_PARAM_TEXT_F(
        "baseline", DPF_TYPE_STRING, "", 0,
        "What the other points are tested against: the name of a variant, or AXIS=VALUE. Empty: no tests."),
    [SWEEP_METRICS] = DPF_PARAM_TEXT_F("metrics", DPF_TYPE_STRING, "", 0,
                                       "Metrics shown in tables and plots, by their names in run.json. "
                                       "Empty: all of the tests. What a component measures is "
                                       "SECTION.NAME: model.recommender.directions."),
    [SWEEP_REFERENCES] =
        DPF_PARAM_TEXT_F("references", DPF_TYPE_STRING, "", 0,
                         "Variants that the axes do not concern, such as the run without noise: they "
                         "are run once for each seed, and plots show them as level lines."),
    [SWEEP_PAIR] = DPF_PARAM_TEXT_F("pair", DPF_TYPE_STRING, "splits", 0,
                                    "What points with the same run.seed and split.fold have in common: "
                                    "\"splits\", or \"splits, noise\". Where "
                                    "the noise is reproducible and no axis or variant sets "
                                    "privacy.noise-seed, each point gets one that follows "
                                    "from the configuration's, from run.seed, split.fold and, unless noise "
                                    "is paired, from its other settings."),
    [SWEEP_JOBS] = DPF_PARAM_INT_F("jobs", 0, 0, 1024, 0, "processes",
                                   "Points that run at the same time; 0 takes one for each processor."),
};

const dpf_param *design_params(int64_t *n)
{
    *n = SWEEP_COUNT;
    return table;
}

/* ---- lists ------------------------------------------------------------------------------------------ */

void design_free(struct design *design)
{
    for (size_t i = 0; i < design->n_axes; i++) {
        struct design_axis *axis = &design->axes[i];
        for (size_t v = 0; v < axis->n; v++) {
            free(axis->values[v].label);
            design_list_free(&axis->values[v].settings);
        }
        free(axis->values);
        free(axis->key);
        free(axis->name);
    }
    for (size_t i = 0; i < design->n_variants; i++) {
        free(design->variants[i].name);
        design_list_free(&design->variants[i].settings);
        design_list_free(&design->variants[i].layers);
        design_list_free(&design->variants[i].places);
    }
    free(design->axes);
    free(design->variants);
    design_list_free(&design->metrics);
    free(design->question);
    free(design->noise_seed);
    free(design->baseline);
    free(design->references);
    free(design->directory);
    *design = (struct design){0};
}

/* ---- entries ---------------------------------------------------------------------------------------- */

#define NAME_SIZE 128
#define AXIS "axis." /* begins the key of a named axis */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* What stands behind "sweep." in the entry's full name, or NULL. */
static const char *name_inside(const struct config_entry *entry, char buffer[NAME_SIZE])
{
    int length = snprintf(buffer, NAME_SIZE, "%s.%s", entry->section, entry->key);
    if (length < 0 || length >= NAME_SIZE || strncmp(buffer, "sweep.", 6) != 0)
        return NULL;
    return buffer + 6;
}

int design_present(const struct config *config)
{
    char buffer[NAME_SIZE];
    for (int64_t i = 0; i < config_size(config); i++)
        if (name_inside(config_at(config, i), buffer))
            return 1;
    return config_has_section(config, "sweep") || data_all_folds(config) > 0;
}

int design_consume(struct config *config, struct dpf_error *error)
{
    (void)error; /* design_read says what is wrong */
    char buffer[NAME_SIZE];
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        if (name_inside(entry, buffer))
            config_consume(config, entry->section, entry->key);
    }
    return 0;
}

static int refuse(const struct config_entry *entry, struct dpf_error *error, const char *problem)
{
    char shown[TEXT_SHOWN];
    return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line, "[%s] %s = %s: %s", entry->section,
                    entry->key, text_show(entry->value, shown), problem);
}

/* ---- axes ------------------------------------------------------------------------------------------- */

/* The entry "sweep.KEY" whose value swaps a component that `name` gives a parameter of: items.loss for
   items.loss.complementary.lambda. *length is that of "items.loss.complementary". */
static const struct config_entry *swap_of(const struct config *config, const char *name, size_t *length)
{
    char other[NAME_SIZE];
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        const char *axis = name_inside(entry, other);
        size_t n = axis ? strlen(axis) : 0;
        if (!axis || strncmp(axis, name, n) != 0 || name[n] != '.' || !strchr(axis, '.'))
            continue;
        for (const char *at = strchr(entry->value, '@'); at; at = strchr(at + 1, '@')) {
            size_t id = strcspn(at + 1, ", \t}");
            if (id && strncmp(name + n + 1, at + 1, id) == 0 && name[n + 1 + id] == '.') {
                *length = n + 1 + id;
                return entry;
            }
        }
    }
    return NULL;
}

/* Parameters of a swapped component, [sweep.KEY.ID]. */
static void add_parameters(const struct config *config, const char *key, const char *id,
                           struct design_list *settings)
{
    char buffer[NAME_SIZE];
    size_t length = strlen(key) + 1 + strlen(id);
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        const char *name = name_inside(entry, buffer);
        size_t prefix;
        if (!name || !swap_of(config, name, &prefix) || prefix != length ||
            strncmp(name, key, strlen(key)) != 0 || strncmp(name + strlen(key) + 1, id, strlen(id)) != 0)
            continue;
        design_list_add(settings, memory_format("%s%s=%s", key, name + length, entry->value));
    }
}

static void add_value(const struct config *config, struct design_axis *axis, const char *text)
{
    axis->values = memory_need_grow(axis->values, &axis->capacity, axis->n + 1, sizeof *axis->values);
    struct design_value *value = &axis->values[axis->n++];
    *value = (struct design_value){0};
    int swap = text[0] == '@' && !axis->named;
    value->label = memory_text(text + swap);
    if (axis->named)
        return;
    design_list_add(&value->settings, memory_format("%s=%s", axis->key, value->label));
    if (swap)
        add_parameters(config, axis->key, value->label, &value->settings);
}

/* A value of an axis, to find those that are the same. */
struct spelled {
    char *canonical;
    size_t at;
};

static int by_canonical(const void *a, const void *b)
{
    const struct spelled *x = a, *y = b;
    const int order = strcmp(x->canonical, y->canonical);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int refuse_twice(const struct config_entry *entry, const char *a, const char *b,
                        struct dpf_error *error)
{
    char problem[DESIGN_PROBLEM] = "the list contains a value twice";
    if (strcmp(a, b) != 0)
        snprintf(problem, sizeof problem, "the list contains a value twice: %.40s and %.40s are the same", a,
                 b);
    return refuse(entry, error, problem);
}

/* One run would count as several independent ones. A named axis gives texts, which may mean anything. */
static int check_distinct(const struct config_entry *entry, const struct design_list *texts, int named,
                          struct dpf_error *error)
{
    struct spelled *all = memory_need(texts->n, sizeof *all);
    int status = 0;
    for (size_t i = 0; i < texts->n; i++)
        all[i] =
            (struct spelled){named ? memory_text(texts->texts[i]) : design_canonical(texts->texts[i]), i};
    qsort(all, texts->n, sizeof *all, by_canonical);
    for (size_t i = 1; i < texts->n && status == 0; i++)
        if (strcmp(all[i - 1].canonical, all[i].canonical) == 0)
            status = refuse_twice(entry, texts->texts[all[i - 1].at], texts->texts[all[i].at], error);
    for (size_t i = 0; i < texts->n; i++)
        free(all[i].canonical);
    free(all);
    return status;
}

static int add_axis(const struct config *config, const struct config_entry *entry, const char *key,
                    struct design *out, struct dpf_error *error)
{
    out->axes = memory_need_grow(out->axes, &out->axes_capacity, out->n_axes + 1, sizeof *out->axes);
    struct design_axis *axis = &out->axes[out->n_axes++];
    *axis = (struct design_axis){.key = memory_text(key), .named = strncmp(key, AXIS, strlen(AXIS)) == 0};
    if (axis->named &&
        (!key[strlen(AXIS)] || key[strlen(AXIS) + strspn(key + strlen(AXIS), NAME_CHARACTERS)]))
        return refuse(entry, error, "the name of an axis has letters, digits, - and _");
    struct design_list texts = {0};
    char problem[DESIGN_PROBLEM];
    int status = design_split(entry->value, ',', &texts, problem);
    if (status != 0)
        refuse(entry, error, problem);
    if (status == 0 && out->mode != DESIGN_ZIP)
        status = check_distinct(entry, &texts, axis->named, error);
    for (size_t i = 0; i < texts.n && status == 0; i++)
        add_value(config, axis, texts.texts[i]);
    design_list_free(&texts);
    return status;
}

/* ---- variants --------------------------------------------------------------------------------------- */

static struct design_variant *variant_named(struct design *design, const char *name, size_t length)
{
    for (size_t i = 0; i < design->n_variants; i++)
        if (strlen(design->variants[i].name) == length &&
            strncmp(design->variants[i].name, name, length) == 0)
            return &design->variants[i];
    design->variants = memory_need_grow(design->variants, &design->variants_capacity, design->n_variants + 1,
                                        sizeof *design->variants);
    struct design_variant *variant = &design->variants[design->n_variants++];
    *variant = (struct design_variant){.name = memory_format("%.*s", (int)length, name)};
    return variant;
}

/* One "section.key=value" or "@file.ini" of a line of several. */
static int add_piece(const struct config_entry *entry, const char *piece, struct design_variant *variant,
                     struct dpf_error *error)
{
    if (piece[0] != '@') {
        const char *equals = strchr(piece, '=');
        if (!equals || !memchr(piece, '.', (size_t)(equals - piece)))
            return refuse(entry, error, "a variant is a list of section.key=value and @FILE, divided by ;");
        design_list_add(&variant->settings, memory_text(piece));
        return 0;
    }
    char *directory = entry->line ? files_directory(entry->file) : memory_text(".");
    char shown[TEXT_SHOWN];
    design_list_add(&variant->layers, files_join(directory, piece + 1));
    char *place = entry->line ? memory_format("%s:%ld", entry->file, entry->line) : memory_text(entry->file);
    design_list_add(&variant->places, memory_format("%s: [%s] %s = %s", place, entry->section, entry->key,
                                                    text_show(entry->value, shown)));
    free(place);
    free(directory);
    return 0;
}

int design_check_files(const struct design *design, struct dpf_error *error)
{
    for (size_t i = 0; i < design->n_variants; i++) {
        const struct design_variant *variant = &design->variants[i];
        for (size_t l = 0; l < variant->layers.n; l++)
            if (access(variant->layers.texts[l], R_OK) != 0)
                return error_set(error, DPF_FAULT_CONFIG, "%s: cannot read %s: %s", variant->places.texts[l],
                                 variant->layers.texts[l], strerror(errno));
    }
    return 0;
}

static int add_variant(const struct config_entry *entry, const char *name, struct design *out,
                       struct dpf_error *error)
{
    size_t length = strcspn(name, ".");
    if (length == 0)
        return refuse(entry, error, "write variant.NAME or [sweep.variant.NAME]");
    struct design_variant *variant = variant_named(out, name, length);
    if (name[length] == '.' && strcmp(name + length + 1, "include") != 0) {
        if (!strchr(name + length + 1, '.'))
            return refuse(
                entry, error,
                "a variant sets keys with their sections: items.loss, not loss; and its name has no dot");
        design_list_add(&variant->settings, memory_format("%s=%s", name + length + 1, entry->value));
        return 0;
    }
    struct design_list pieces = {0};
    char problem[DESIGN_PROBLEM];
    int include = name[length] == '.';
    int status = *entry->value ? design_split(entry->value, include ? ',' : ';', &pieces, problem) : 0;
    if (status != 0)
        refuse(entry, error, problem);
    for (size_t i = 0; i < pieces.n && status == 0; i++) {
        char *piece = memory_format("%s%s", include ? "@" : "", pieces.texts[i]);
        status = add_piece(entry, piece, variant, error);
        free(piece);
    }
    design_list_free(&pieces);
    return status;
}

/* ---- named axes --------------------------------------------------------------------------------------- */

const struct design_axis *design_axis_read(const struct design *design, const char *text, size_t *length)
{
    size_t n = strspn(text + 1, NAME_CHARACTERS);
    *length = n + 1;
    for (size_t i = 0; i < design->n_axes; i++) {
        const char *name = design->axes[i].named ? design->axes[i].key + strlen(AXIS) : "";
        if (strlen(name) == n && n && strncmp(name, text + 1, n) == 0)
            return &design->axes[i];
    }
    return n == 4 && strncmp("seed", text + 1, 4) == 0 ? design_seeds(design) : NULL;
}

/* Marks the axes that a variant's setting reads; -1 if it reads what it has no value of. */
static int mark_read(const struct config *config, const struct design *design,
                     const struct design_variant *variant, const char *setting, unsigned char *read,
                     struct dpf_error *error)
{
    for (const char *at = strchr(setting, '$'); at; at = strchr(at + 1, '$')) {
        size_t length;
        const struct design_axis *axis = design_axis_read(design, at, &length);
        if (!axis)
            return error_set(
                error, DPF_FAULT_CONFIG, "%s: [sweep] variant %s sets %.100s, but there is no axis.%.*s",
                config_path(config), variant->name, setting, (int)(length < 60 ? length - 1 : 60), at + 1);
        if (variant->is_reference && axis->named)
            return config_error(config, "sweep", "references", error,
                                "%s reads the axis %s, so it runs along that axis and cannot be a reference",
                                variant->name, axis->key);
        read[axis - design->axes] = 1;
    }
    return 0;
}

/* An axis that repeats decides for all points, so a variant's own value would be lost. */
static int check_repetition(const struct config *config, const struct design *design,
                            const struct design_variant *variant, const char *setting,
                            struct dpf_error *error)
{
    for (size_t i = 0; i < design->n_axes; i++) {
        const char *key = design->axes[i].key;
        if (design->axes[i].repeats && strncmp(setting, key, strlen(key)) == 0 && setting[strlen(key)] == '=')
            return error_set(error, DPF_FAULT_CONFIG,
                             "%s: [sweep] variant %s sets %.100s, and the axis %s sets it for every point; "
                             "remove one of them",
                             config_path(config), variant->name, setting, key);
    }
    return 0;
}

static int read_by(const struct config *config, const struct design *design,
                   const struct design_variant *variant, unsigned char *read, struct dpf_error *error)
{
    for (size_t s = 0; s < variant->settings.n; s++) {
        const char *setting = variant->settings.texts[s];
        if ((read && mark_read(config, design, variant, setting, read, error) != 0) ||
            check_repetition(config, design, variant, setting, error) != 0)
            return -1;
    }
    return 0;
}

/* Without named axes a '$' is any other character. */
static int check_named(const struct config *config, const struct design *design, struct dpf_error *error)
{
    int any = 0, status = 0;
    for (size_t i = 0; i < design->n_axes; i++)
        any |= design->axes[i].named;
    unsigned char *read = any ? memory_need(design->n_axes, 1) : NULL;
    for (size_t v = 0; v < design->n_variants && status == 0; v++)
        status = read_by(config, design, &design->variants[v], read, error);
    for (size_t i = 0; i < design->n_axes && status == 0; i++)
        if (read && design->axes[i].named && !read[i])
            status = config_error(
                config, "sweep", design->axes[i].key, error,
                "a named axis sets nothing by itself: let a variant read it, as in section.key=$%s",
                design->axes[i].key + strlen(AXIS));
    free(read);
    return status;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static int refuse_key(const struct config_entry *entry, const char *name, struct dpf_error *error)
{
    const char *names[SWEEP_COUNT];
    for (int i = 0; i < SWEEP_COUNT; i++)
        names[i] = table[i].name;
    const char *nearest = text_nearest(name, names, SWEEP_COUNT);
    return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                    "unknown key \"%s\" in [sweep]; %s%s%s", name, nearest ? "did you mean \"" : "",
                    nearest ? nearest : "an axis is named by section and key, as in items.mechanism.epsilon",
                    nearest ? "\"?" : "");
}

static int is_plain_key(const char *name)
{
    for (int i = 0; i < SWEEP_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return 1;
    return 0;
}

static int read_entry(struct config *config, const struct config_entry *entry, struct design *out,
                      struct dpf_error *error)
{
    char buffer[NAME_SIZE];
    size_t length;
    const char *name = name_inside(entry, buffer);
    if (!name || is_plain_key(name) || swap_of(config, name, &length))
        return 0;
    if (strncmp(name, "variant.", 8) == 0)
        return add_variant(entry, name + 8, out, error);
    if (!strchr(name, '.'))
        return refuse_key(entry, name, error);
    if (strcmp(name, "run.output") == 0 || strncmp(name, "sweep.", 6) == 0)
        return error_at(
            error, DPF_FAULT_CONFIG, entry->file, entry->line,
            "[sweep] %s cannot be an axis: each point has its own directory in [run] output; remove it",
            name);
    return add_axis(config, entry, name, out, error);
}

/* "epsilon", or "mechanism.epsilon" where another axis ends in epsilon too. */
static void name_axes(struct design *design)
{
    for (size_t i = 0; i < design->n_axes; i++) {
        const char *key = design->axes[i].key, *name = strrchr(key, '.') + 1;
        for (size_t j = 0; j < design->n_axes; j++) {
            const char *other = design->axes[j].key;
            size_t n = strlen(name), m = strlen(other);
            if (j == i || m < n || strcmp(other + m - n, name) != 0 || (m > n && other[m - n - 1] != '.'))
                continue;
            if (name == key)
                break;
            for (name -= 1; name > key && name[-1] != '.'; name--)
                ;
            j = (size_t)-1; /* longer now: compare with all again */
        }
        design->axes[i].name = memory_text(name);
    }
}

static const char *const repetitions[] = {"split.fold", "run.seed"};

static void put_repetitions_last(struct design *design)
{
    for (size_t k = 0; k < sizeof repetitions / sizeof repetitions[0]; k++)
        for (size_t i = 0; i < design->n_axes; i++) {
            if (strcmp(design->axes[i].key, repetitions[k]) != 0)
                continue;
            struct design_axis axis = design->axes[i];
            memmove(&design->axes[i], &design->axes[i + 1], (design->n_axes - i - 1) * sizeof axis);
            axis.repeats = 1;
            design->axes[design->n_axes - 1] = axis;
            break;
        }
}

const struct design_axis *design_seeds(const struct design *design)
{
    const struct design_axis *last = design->n_axes ? &design->axes[design->n_axes - 1] : NULL;
    return last && strcmp(last->key, "run.seed") == 0 ? last : NULL;
}

int design_repeats(const struct design *design)
{
    return design->n_axes && design->axes[design->n_axes - 1].repeats;
}

/* Whether a setting changes which folds there are. */
static int changes_folds(const char *setting)
{
    return strncmp(setting, "split.folds", 11) == 0 || strncmp(setting, "split.kind", 10) == 0;
}

/* "[split] fold = all" is an axis over all folds, unless there is one. */
static int add_all_folds(const struct config *config, struct design *out, struct dpf_error *error)
{
    const int64_t folds = data_all_folds(config);
    int changes = 0;
    char range[32];
    for (size_t i = 0; i < out->n_axes; i++) {
        if (strcmp(out->axes[i].key, "split.fold") == 0)
            return 0;
        changes |= changes_folds(out->axes[i].key);
    }
    for (size_t v = 0; v < out->n_variants; v++)
        for (size_t k = 0; k < out->variants[v].settings.n; k++)
            changes |= changes_folds(out->variants[v].settings.texts[k]);
    if (folds < 1)
        return 0;
    if (changes)
        return config_error(
            config, "split", "fold", error,
            "all makes the same folds for all points, but [sweep] sets split.kind or split.folds; name "
            "the folds there, as in split.fold = 1..5");
    snprintf(range, sizeof range, "1..%lld", (long long)folds);
    struct config_entry entry = *config_find(config, "split", "fold");
    entry.value = range;
    return add_axis(config, &entry, "split.fold", out, error);
}

static int check_zip(const struct config *config, const struct design *design, struct dpf_error *error)
{
    const struct design_axis *first = NULL;
    for (size_t i = 0; i < design->n_axes && design->mode == DESIGN_ZIP; i++) {
        const struct design_axis *axis = &design->axes[i];
        if (axis->repeats)
            continue;
        if (first && first->n != axis->n)
            return config_error(config, "sweep", "mode", error,
                                "%s has %zu values and %s has %zu; axes that are zipped need the same number",
                                first->key, first->n, axis->key, axis->n);
        first = axis;
    }
    return 0;
}

static int take_pair(const struct config *config, const char *text, struct design *out,
                     struct dpf_error *error)
{
    struct design_list words = {0};
    char problem[DESIGN_PROBLEM];
    int splits = 0;
    int status = design_split(text, ',', &words, problem);
    for (size_t i = 0; i < words.n && status == 0; i++) {
        splits |= strcmp(words.texts[i], "splits") == 0;
        out->pairs_noise |= strcmp(words.texts[i], "noise") == 0;
    }
    const size_t known = (size_t)splits + (size_t)out->pairs_noise;
    status =
        status == 0 && splits && known == words.n
            ? 0
            : config_error(
                  config, "sweep", "pair", error,
                  "write \"splits\" or \"splits, noise\": runs with the same run.seed have the same split");
    design_list_free(&words);
    return status;
}

static void take_noise_seed(const struct config *config, struct design *out)
{
    const struct config_entry *entry = config_find(config, "privacy", "noise-seed");
    out->noise_seed = memory_text(entry ? entry->value : "1");
}

static int take_plain(struct config *config, struct design *out, struct dpf_error *error)
{
    struct config_values values;
    char problem[DESIGN_PROBLEM];
    if (config_bind(config, "sweep", table, SWEEP_COUNT, sizeof table[0], NULL, 0, &values, error) != 0)
        return -1;
    const dpf_value *v = values.params.values;
    out->references = memory_text(v[SWEEP_REFERENCES].text);
    out->question = memory_text(v[SWEEP_QUESTION].text);
    out->baseline = memory_text(v[SWEEP_BASELINE].text);
    out->mode = (enum design_mode)v[SWEEP_MODE].integer;
    out->jobs = v[SWEEP_JOBS].integer;
    int status = 0;
    if (*v[SWEEP_METRICS].text && design_split(v[SWEEP_METRICS].text, ',', &out->metrics, problem) != 0)
        status = config_error(config, "sweep", "metrics", error, "%s", problem);
    if (status == 0)
        status = take_pair(config, v[SWEEP_PAIR].text, out, error);
    take_noise_seed(config, out);
    config_values_free(&values);
    return status;
}

static int mark_references(const struct config *config, struct design *design, struct dpf_error *error)
{
    char problem[DESIGN_PROBLEM];
    struct design_list names = {0};
    int status = 0;
    if (*design->references && design_split(design->references, ',', &names, problem) != 0)
        status = config_error(config, "sweep", "references", error, "%s", problem);
    for (size_t r = 0; r < names.n && status == 0; r++) {
        struct design_variant *found = NULL;
        for (size_t i = 0; i < design->n_variants; i++)
            if (strcmp(design->variants[i].name, names.texts[r]) == 0)
                found = &design->variants[i];
        if (found)
            found->is_reference = 1;
        else
            status = config_error(config, "sweep", "references", error,
                                  "there is no variant %s; write variant.%s = ...", names.texts[r],
                                  names.texts[r]);
    }
    design_list_free(&names);
    return status;
}

/* The baseline names a variant, or a value of an axis. */
static int check_baseline(const struct config *config, const struct design *design, struct dpf_error *error)
{
    const char *baseline = design->baseline, *equals = strchr(baseline, '=');
    if (!*baseline)
        return 0;
    for (size_t i = 0; i < design->n_variants; i++)
        if (strcmp(design->variants[i].name, baseline) == 0)
            return 0;
    for (size_t i = 0; i < design->n_axes && equals; i++) {
        const struct design_axis *axis = &design->axes[i];
        size_t length = (size_t)(equals - baseline);
        int named = (strlen(axis->key) == length && strncmp(axis->key, baseline, length) == 0) ||
                    (strlen(axis->name) == length && strncmp(axis->name, baseline, length) == 0);
        for (size_t v = 0; v < axis->n && named && !axis->repeats; v++)
            if (strcmp(axis->values[v].label, equals + 1) == 0)
                return 0;
    }
    return config_error(
        config, "sweep", "baseline", error,
        "names no variant and no AXIS=VALUE of this sweep (run.seed and split.fold cannot be one)");
}

int design_read(struct config *config, struct design *out, struct dpf_error *error)
{
    *out = (struct design){0};
    design_consume(config, error);
    out->directory = files_directory(config_path(config));
    int status = take_plain(config, out, error);
    for (int64_t i = 0; i < config_size(config) && status == 0; i++)
        status = read_entry(config, config_at(config, i), out, error);
    if (status == 0)
        status = add_all_folds(config, out, error);
    if (status == 0) {
        put_repetitions_last(out);
        name_axes(out);
    }
    if (status == 0)
        status = check_zip(config, out, error);
    if (status == 0)
        status = mark_references(config, out, error);
    if (status == 0)
        status = check_named(config, out, error);
    if (status == 0)
        status = check_baseline(config, out, error);
    if (status == 0 && !out->n_axes && !out->n_variants)
        status =
            error_set(error, DPF_FAULT_CONFIG,
                      "%s: [sweep] has neither an axis (run.seed = 1..5) nor a variant", config_path(config));
    if (status != 0)
        design_free(out);
    return status;
}
