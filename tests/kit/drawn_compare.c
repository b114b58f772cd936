/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/drawn_compare.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpframe/privacy.h"

static int differs(char what[DRAWN_WHAT], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int differs(char what[DRAWN_WHAT], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(what, DRAWN_WHAT, format, args);
    va_end(args);
    return 1;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int same_list(const struct id_map *a, const struct id_map *b, const char *but, const char *name,
                     char what[DRAWN_WHAT])
{
    int64_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        const char *x = i < a->n ? id_map_text(a, i) : NULL, *y = j < b->n ? id_map_text(b, j) : NULL;
        const int of_unit[2] = {x && but && strcmp(x, but) == 0, y && but && strcmp(y, but) == 0};
        if (!of_unit[0] && !of_unit[1] && (!x || !y || strcmp(x, y) != 0))
            return differs(what, "list of %s: \"%s\" beside \"%s\"", name, x ? x : "", y ? y : "");
        const int skips =
            of_unit[0] || of_unit[1]; /* the unit's id is passed over in either, wherever it stands */
        i += skips ? of_unit[0] : 1;
        j += skips ? of_unit[1] : 1;
    }
    return 0;
}

struct cells {
    const struct csr *csr;
    int64_t at, end;
};

static struct cells cells_of(const struct records *records, int64_t user)
{
    const struct csr *csr = &records->by_user;
    if (!csr->ptr || user < 0)
        return (struct cells){csr, 0, 0};
    return (struct cells){csr, csr->ptr[user], csr->ptr[user + 1]};
}

/* Records of one user; skip: the item whose record may differ, or -1; cells: it must be there in both. */
static int same_records(const struct dataset *a, const struct dataset *b, const struct cells *x,
                        const struct cells *y, const char *skip, int cells, const char *who,
                        char what[DRAWN_WHAT])
{
    int64_t i = x->at, j = y->at;
    while (i < x->end || j < y->end) {
        const char *p = i < x->end ? id_map_text(&a->items, x->csr->others[i]) : "";
        const char *q = j < y->end ? id_map_text(&b->items, y->csr->others[j]) : "";
        const int is_p = skip && strcmp(p, skip) == 0, is_q = skip && strcmp(q, skip) == 0;
        if (is_p && is_q) {
            i++;
            j++;
        } else if ((is_p || is_q) && !cells) {
            i += is_p;
            j += is_q;
        } else if (strcmp(p, q) != 0) {
            return differs(what, "%s: user %s has item \"%s\" beside \"%s\"",
                           is_p || is_q ? "the unit's cell" : "cells", who, p, q);
        } else {
            const float v = x->csr->values ? x->csr->values[i] : 1,
                        w = y->csr->values ? y->csr->values[j] : 1;
            const float s = x->csr->privacy_weights ? x->csr->privacy_weights[i] : 1,
                        t = y->csr->privacy_weights ? y->csr->privacy_weights[j] : 1;
            if (memcmp(&v, &w, sizeof v) != 0 || memcmp(&s, &t, sizeof s) != 0)
                return differs(what, "values: user %s, item %s: %g (weight %g) beside %g (weight %g)", who, p,
                               (double)v, (double)s, (double)w, (double)t);
            i++;
            j++;
        }
    }
    return 0;
}

/* A user whose records are the unit's: their cells, where these are public. */
static int same_own_cells(const struct dataset *a, const struct dataset *b, const struct cells *x,
                          const struct cells *y, const char *who, char what[DRAWN_WHAT])
{
    if (x->end - x->at != y->end - y->at)
        return differs(what, "the unit's cell: user %s has %lld beside %lld", who,
                       (long long)(x->end - x->at), (long long)(y->end - y->at));
    for (int64_t i = 0; i < x->end - x->at; i++)
        if (strcmp(id_map_text(&a->items, x->csr->others[x->at + i]),
                   id_map_text(&b->items, y->csr->others[y->at + i])) != 0)
            return differs(what, "the unit's cell: user %s", who);
    return 0;
}

static int same_weights(const struct dataset *a, const struct dataset *b, const char *but,
                        char what[DRAWN_WHAT])
{
    if (!a->weights.users != !b->weights.users || !a->weights.items != !b->weights.items)
        return differs(what, "privacy weights: there in one data set");
    for (int64_t u = 0; a->weights.users && u < a->users.n; u++) {
        const char *id = id_map_text(&a->users, u);
        const int64_t v = id_map_find(&b->users, id);
        if (v >= 0 && strcmp(id, but) != 0 &&
            memcmp(&a->weights.users[u], &b->weights.users[v], sizeof(float)) != 0)
            return differs(what, "privacy weights: of user %s", id);
    }
    return 0;
}

int drawn_same_reading(const struct dataset *a, const struct dataset *b, const struct draw_promise *promise,
                       const struct draw_pair *pair, char what[DRAWN_WHAT])
{
    char user[16], item[16];
    snprintf(user, sizeof user, "%s", draw_id(0, pair->user));
    snprintf(item, sizeof item, "%s", draw_id(1, pair->item));
    const int of_user = promise->unit == DPF_UNIT_USER;
    /* Where the list of users is neither public nor a file's, nothing that is seen has a row of each. */
    const int leaves = of_user && !promise->listed[0] && !promise->ids_public && !promise->same_cells;
    if (same_list(&a->users, &b->users, leaves ? user : NULL, "users", what) ||
        same_list(&a->items, &b->items, NULL, "items", what))
        return 1;
    for (int64_t u = 0; u < a->users.n; u++) {
        const char *id = id_map_text(&a->users, u);
        const int64_t v = id_map_find(&b->users, id);
        const int own = strcmp(id, user) == 0;
        for (int part = 0; part < 2; part++) {
            const int cells = promise->same_cells && part == 0; /* nothing is tested on a void record */
            const struct cells x = cells_of(part ? &a->test : &a->train, u),
                               y = cells_of(part ? &b->test : &b->train, v);
            if (of_user && own && cells && same_own_cells(a, b, &x, &y, id, what))
                return 1;
            if (!(of_user && own) && same_records(a, b, &x, &y, own ? item : NULL, cells, id, what))
                return 1;
        }
    }
    if (a->implicit != b->implicit || memcmp(&a->value_lo, &b->value_lo, sizeof a->value_lo) != 0 ||
        memcmp(&a->value_hi, &b->value_hi, sizeof a->value_hi) != 0)
        return differs(what, "range: of values");
    return same_weights(a, b, user, what);
}

/* ---- released files ----------------------------------------------------------------------------------- */

struct bytes {
    char *data;
    size_t n;
};

static struct bytes read_all(const struct drawn *drawn, const char *run, const char *name)
{
    char path[512];
    struct bytes out = {0};
    snprintf(path, sizeof path, "%s/%s/release/%s", drawn->directory, run, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return out;
    fseek(file, 0, SEEK_END);
    out.n = (size_t)ftell(file);
    rewind(file);
    out.data = memory_new(out.n + 1, 1);
    if (!out.data || fread(out.data, 1, out.n, file) != out.n)
        abort();
    fclose(file);
    return out;
}

static int ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Where the numbers of an .npy file begin. */
static size_t npy_head(const struct bytes *file)
{
    return file->n < 10
               ? file->n
               : 10 + (size_t)(unsigned char)file->data[8] + 256 * (size_t)(unsigned char)file->data[9];
}

#define MOST_FILES 48

static int add_names(const struct drawn *drawn, const char *run, const char *inside,
                     char names[MOST_FILES][96], int n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/release/%s", drawn->directory, run, inside);
    DIR *directory = opendir(path);
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry && n < MOST_FILES;
         entry = readdir(directory))
        if (entry->d_name[0] != '.' && (*inside || strcmp(entry->d_name, "model") != 0))
            snprintf(names[n++], 96, "%s%.63s", inside, entry->d_name);
    if (directory)
        closedir(directory);
    return n;
}

static int names_of(const struct drawn *drawn, const char *run, char names[MOST_FILES][96])
{
    const int n = add_names(drawn, run, "model/", names, add_names(drawn, run, "", names, 0));
    qsort(names, (size_t)n, 96, (int (*)(const void *, const void *))strcmp);
    return n;
}

/* Noisy numbers are in .npy files, tables and pages; all else says what was planned. */
static int same_file(const char *name, const struct bytes *a, const struct bytes *b, char what[DRAWN_WHAT])
{
    /* What a component has learned may be as long as its releases say: compared with equal ones, in drawn_seen.h. */
    if (ends_in(name, ".html") || strncmp(name, "model", 5) == 0)
        return 0;
    if (ends_in(name, ".csv")) {
        size_t lines[2] = {0, 0};
        for (size_t i = 0; i < a->n; i++)
            lines[0] += a->data[i] == '\n';
        for (size_t i = 0; i < b->n; i++)
            lines[1] += b->data[i] == '\n';
        return lines[0] == lines[1]
                   ? 0
                   : differs(what, "shape: %s has %zu lines beside %zu", name, lines[0], lines[1]);
    }
    if (ends_in(name, ".npy")) {
        const size_t head = npy_head(a);
        return a->n == b->n && memcmp(a->data, b->data, head < b->n ? head : b->n) == 0
                   ? 0
                   : differs(what, "shape: %s has %zu bytes beside %zu", name, a->n, b->n);
    }
    if (a->n == b->n && memcmp(a->data, b->data, a->n) == 0)
        return 0;
    size_t i = 0;
    while (i < a->n && i < b->n && a->data[i] == b->data[i])
        i++;
    const size_t from = i > 40 ? i - 40 : 0;
    return differs(what, "text of %s: \"%.120s\" beside \"%.120s\"", name,
                   a->data + (from < a->n ? from : a->n), b->data + (from < b->n ? from : b->n));
}

int drawn_same_outside(const struct drawn *drawn, const char *a, const char *b, char what[DRAWN_WHAT])
{
    char x[MOST_FILES][96], y[MOST_FILES][96];
    const int n = names_of(drawn, a, x), m = names_of(drawn, b, y);
    int status = 0;
    for (int i = 0; i < (n > m ? n : m); i++)
        if (i >= n || i >= m || strcmp(x[i], y[i]) != 0)
            return differs(what, "files: \"%s\" beside \"%s\"", i < n ? x[i] : "", i < m ? y[i] : "");
    for (int i = 0; i < n && status == 0; i++) {
        const struct bytes p = read_all(drawn, a, x[i]), q = read_all(drawn, b, x[i]);
        status = same_file(x[i], &p, &q, what);
        free(p.data);
        free(q.data);
    }
    return status;
}
