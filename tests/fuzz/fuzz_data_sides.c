/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beside the ratings on arbitrary bytes: links between users, weights of users and of items. A byte of
 * options, then the files, divided by lines "%". What is loaded has sound indices and weights in (0, 1], and
 * two steps load what one does.
 */
#include "fuzz_file.h"

#include <math.h>

#include "base/log.h"
#include "data/load.h"
#include "reading/data_params.h"

static const char ratings[] = "1,10,5\n1,11,3\n2,10,1\n3,11,4\n3,12,2\n4,12,3\n4,10,5\n";

struct loaded {
    struct config *config;
    struct config_values data, split;
    struct random_root *root;
};

static void set_up(struct loaded *l, uint8_t options, struct fuzz_file files[4])
{
    static const char *const delimiters[4] = {"spaces", "comma", "tab", "::"};
    static const char *const links[4] = {"none", "auto", "3", "2"};
    struct dpf_error error = {0};
    char text[1024];
    int64_t n_data, n_split;
    const dpf_param *data_table = data_params(&n_data), *split_table = split_params(&n_split);
    snprintf(text, sizeof text,
             "[data]\nformat = csv\nheader = no\npath = %s\nrelation.path = %s\nrelation.delimiter = %s\n"
             "relation.header = %s\nrelation.column.weight = %s\nrelation.direction = %s\n"
             "relation.similarity = %s\nweights.kind = files\nweights.users = %s\nweights.items = %s\n"
             "[split]\nkind = per-user\nn = 1\n",
             files[0].path, files[1].path, delimiters[options & 3], options & 4 ? "yes" : "auto",
             links[options >> 3 & 3], options & 32 ? "mutual" : "directed", options & 64 ? "pearson" : "none",
             files[2].path, files[3].path);
    l->config = config_parse("fuzz", text, strlen(text), &error);
    l->root = random_root_seeded(1, "run", &error);
    if (!l->config || !l->root ||
        config_bind(l->config, "data", data_table, n_data, sizeof(dpf_param), NULL, 1, &l->data, &error) !=
            0 ||
        config_bind(l->config, "split", split_table, n_split, sizeof(dpf_param), NULL, 1, &l->split,
                    &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
}

static void check_links(const struct dataset *d)
{
    const struct csr *links = &d->relation.links;
    PROMISE(links->rows == d->users.n && links->ptr[0] == 0);
    for (int64_t r = 0; r < links->rows; r++)
        for (int64_t k = links->ptr[r]; k < links->ptr[r + 1]; k++) {
            PROMISE(links->others[k] >= 0 && links->others[k] < d->users.n && links->others[k] != r);
            PROMISE(k == links->ptr[r] || links->others[k - 1] < links->others[k]);
            PROMISE(!links->values || isfinite(links->values[k]));
        }
}

static void check_weights(const struct dataset *d)
{
    for (int64_t r = 0; r < d->users.n; r++)
        PROMISE(d->weights.users[r] > 0 && d->weights.users[r] <= 1);
    for (int64_t r = 0; r < d->items.n; r++)
        PROMISE(d->weights.items[r] > 0 && d->weights.items[r] <= 1);
    const struct csr *train = &d->train.by_user;
    for (int64_t k = 0; k < train->ptr[train->rows]; k++)
        PROMISE(train->privacy_weights[k] >= 0 && train->privacy_weights[k] <= 1);
}

static void check_two_steps(const struct loaded *l, const struct dataset *once, int status,
                            const struct dpf_error *error)
{
    struct dataset twice = {0};
    struct data_parsed *parsed = NULL;
    struct dpf_error again = {0};
    const int first = data_parse(&l->data, &l->split, l->root, NULL, &parsed, &again);
    PROMISE(first == status && strcmp(error->text, again.text) == 0);
    if (first != 0)
        return;
    PROMISE(data_divide(parsed, &l->data, &l->split, l->root, NULL, &twice, &again) == 0);
    PROMISE(twice.relation.links.ptr[twice.users.n] == once->relation.links.ptr[once->users.n] &&
            once->relation.self == twice.relation.self && once->relation.unknown == twice.relation.unknown);
    PROMISE(memcmp(once->weights.users, twice.weights.users, (size_t)once->users.n * sizeof(float)) == 0 &&
            memcmp(once->weights.items, twice.weights.items, (size_t)once->items.n * sizeof(float)) == 0);
    dataset_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file files[4];
    struct loaded l = {0};
    struct dataset once = {0};
    struct dpf_error error = {0};
    if (size < 1)
        return 0;
    log_set_level(LOG_LEVEL_WARNING);
    const uint8_t options = *data++;
    size--;
    fuzz_file_set(&files[0], ratings, strlen(ratings));
    for (int f = 1; f < 4; f++) {
        size_t length;
        const uint8_t *part = fuzz_part(&data, &size, &length);
        fuzz_file_set(&files[f], part, length);
    }
    set_up(&l, options, files);
    const int status = data_load(&l.data, &l.split, l.root, NULL, &once, &error);
    PROMISE((status == 0) == (error.fault == DPF_FAULT_NONE) && (status == 0 || strlen(error.text) > 5));
    if (options & 128)
        check_two_steps(&l, &once, status, &error);
    if (status == 0) {
        check_links(&once);
        check_weights(&once);
        dataset_free(&once);
    }
    config_values_free(&l.data);
    config_values_free(&l.split);
    config_free(l.config);
    random_root_free(l.root);
    return 0;
}
