/* SPDX-License-Identifier: Apache-2.0 */
#include "run/noise_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dpframe/query.h"

const char *noise_block_name(int32_t kind)
{
    switch (kind) {
    case DPF_BLOCK_GRADIENT:
        return "gradient";
    case DPF_BLOCK_QUADRATIC:
        return "quadratic";
    case DPF_BLOCK_LINEAR:
        return "linear";
    case DPF_BLOCK_COUNT:
        return "count";
    default:
        return NULL;
    }
}

static void add_histogram(struct text *text, const struct noise_histogram *h)
{
    char from[32], to[32], density[32];
    for (int bin = 0; bin < NOISE_BINS; bin++) {
        double centre = (double)(bin - NOISE_BINS / 2) * h->width;
        text_add(text, "%s,%s,%s,%s,%s,%lld\n", h->term, noise_block_name(h->kind),
                 text_from_real(centre - h->width / 2, from), text_from_real(centre + h->width / 2, to),
                 text_from_real((double)h->counts[bin] / ((double)h->n * h->width), density),
                 (long long)h->n);
    }
}

int noise_table_text(const struct engine_stats *stats, char **out, struct dpf_error *error)
{
    struct text text = {0};
    *out = NULL;
    if (stats->n_noise == 0)
        return 0;
    text_add(&text, "term,block,from,to,density,draws\n");
    for (int i = 0; i < stats->n_noise; i++)
        add_histogram(&text, &stats->noise[i]);
    if (text.failed) {
        text_free(&text);
        return error_memory(error);
    }
    *out = text.data;
    return 0;
}

int noise_table_read(char *line, const char *term, const char *block, double *value, double *density)
{
    char *save = NULL, *fields[5];
    double from, to;
    for (int i = 0; i < 5; i++)
        fields[i] = strtok_r(i ? NULL : line, ",", &save);
    if (!fields[4] || strcmp(fields[0], term) != 0 || strcmp(fields[1], block) != 0 ||
        text_to_real(fields[2], &from) != 0 || text_to_real(fields[3], &to) != 0 ||
        text_to_real(fields[4], density) != 0)
        return 0;
    *value = (from + to) / 2;
    return 1;
}

int noise_table_source(char *line, char *term, size_t term_size, char *block, size_t block_size)
{
    char *save = NULL, *first = strtok_r(line, ",", &save), *second = strtok_r(NULL, ",", &save);
    if (!second || strcmp(first, "term") == 0 || strlen(first) >= term_size || strlen(second) >= block_size)
        return 0;
    strcpy(term, first);
    strcpy(block, second);
    return 1;
}
