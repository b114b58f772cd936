/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_weights.c - all records take part, those of popular items with less weight: (1 + n / offset)^-exponent,
 * where n is the item's public count.
 *
 * A user's message has a bounded norm, and most of its records are of items that everybody has and that are
 * known best. Weights leave more of the bound to the others. What popular items lose in weight they have in
 * numbers: a row is solved from weighted records, and a constant that regularises counts a little more.
 * private-gram and private-ratings weigh in this way within their own messages.
 *
 * Counts are a column of [data] item-features, which are public: released by a run of private-popularity, say,
 * whose "dpframe items RUN --scores" writes them, and charged there. Counts below 0, which noise makes, are 0,
 * and so are missing ones. Weights are above 0 and at most 1 whatever the file has, so sensitivities are those
 * of records of weight 1. Nothing is drawn, and nothing is amplified.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "dpframe/role/sampler.h"

enum { P_COLUMN, P_EXPONENT, P_OFFSET, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_COLUMN] = DPF_PARAM_TEXT_F("column", DPF_TYPE_STRING, "score", DPF_PARAM_PRIVACY,
                                  "The number of [data] item-features.numbers that is an item's count."),
    [P_EXPONENT] = DPF_PARAM_REAL_F("exponent", 0.5, 0.0, 4.0, DPF_PARAM_PRIVACY, "",
                                    "Records weigh (1 + count / offset)^-exponent."),
    [P_OFFSET] = DPF_PARAM_REAL_F("offset", 10.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                  "The count from which weights fall, in the units of the column."),
};

struct count_weights {
    const dpf_host *host;
    const dpf_value *values;
};

static dpf_status count_create(const dpf_host *host, const dpf_params *given, void **self)
{
    struct count_weights *made = *self;
    *made = (struct count_weights){host, given->values};
    return DPF_OK;
}

static int32_t count_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_RUN; /* of nothing: weights are constants */
}

static dpf_status count_describe(void *self, dpf_sampling *out)
{
    (void)self;
    out->kind = DPF_SAMPLING_NONE;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = -1;
    out->rate = 1;
    out->weight_max = 1;
    return DPF_OK;
}

/* The place of the column, or -1. */
static int64_t column_of(const struct count_weights *self, const dpf_features *features)
{
    for (int64_t c = 0; features && c < features->columns; c++)
        if (features->column[c].kind == DPF_FEATURE_NUMBER &&
            strcmp(features->column[c].name, self->values[P_COLUMN].text) == 0)
            return c;
    return -1;
}

static double count_at(const dpf_features *features, int64_t row, int64_t column)
{
    for (int64_t i = features->offsets[row]; i < features->offsets[row + 1]; i++)
        if (features->at[i] == column)
            return features->values[i] > 0 ? (double)features->values[i] : 0;
    return 0;
}

static dpf_status count_draw(void *instance, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct count_weights *self = instance;
    const dpf_features *features = dpf_draw_item_features(draw);
    const double exponent = self->values[P_EXPONENT].real, offset = self->values[P_OFFSET].real;
    const int64_t column = column_of(self, features);
    if (draw->level != DPF_LEVEL_RECORD)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1, "it weighs records, not parties");
    if (column < 0)
        return call->host->fail(call->host, DPF_E_CONFIG, P_COLUMN,
                                "[data] item-features has no number of that name: add it to "
                                "item-features.numbers, or set column");
    for (int64_t i = 0; i < draw->n; i++)
        weights[i] =
            (float)fmax(pow(1 + count_at(features, draw->items[i], column) / offset, -exponent), 0x1p-100);
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .flags = DPF_SAMPLER_ITEM_FEATURES,
    .lifetime = count_lifetime,
    .describe = count_describe,
    .draw = count_draw,
};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "count-weights", .version = "1.0.0",
              .summary = "All records take part, those of popular items with less weight, by public counts",
              .citation = "Chien et al., Private alternating least squares (ICML 2021): adaptive weights",
              DPF_PARAMS(params), .create = count_create, .instance_bytes = sizeof(struct count_weights))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.count-weights", "1.0.0", "Apache-2.0", component)
