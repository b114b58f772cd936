/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "run/alike_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/blas.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "data/load.h"
#include "run/alike.h"
#include "run/joined.h"

static int add(json_t *list, const char *name, const char *value)
{
    return json_object_set_new(list, name, json_string(value));
}

/* ---- the machine ------------------------------------------------------------------------------------- */

/* The C library chooses its functions by the processor, and their last bits may differ. */
static int add_mathematics(json_t *list)
{
    char hex[65];
    struct files_hash *hash = files_hash_new();
    for (int i = 1; i <= 400; i++) {
        const double x = (double)i * 0.0371,
                     of[] = {exp(-x), log(x), log1p(x), pow(x, 0.37), sin(x), tanh(x)};
        files_hash_add(hash, of, sizeof of);
    }
    files_hash_end(hash, hex);
    return add(list, "the C library's functions (libm)", hex);
}

/* Whether the file of a plugin names BLAS among the libraries that it needs. */
static int needs_blas(const char *path)
{
    FILE *stream = fopen(path, "rb");
    struct stat info;
    char *bytes = stream && fstat(fileno(stream), &info) == 0 ? malloc((size_t)info.st_size + 1) : NULL;
    const size_t n = bytes ? fread(bytes, 1, (size_t)info.st_size, stream) : 0;
    const int found = bytes && (memmem(bytes, n, "blas.so", 7) || memmem(bytes, n, "lapack.so", 9) ||
                                memmem(bytes, n, "lapacke.so", 10));
    free(bytes);
    if (stream)
        fclose(stream);
    return found;
}

/* Its kernels round differently: the processor decides, or OPENBLAS_CORETYPE. */
static int add_blas(json_t *list, const struct registry *registry)
{
    int needed = 0;
    for (int64_t i = 0; i < registry_used_count(registry) && !needed; i++)
        needed = needs_blas(registry_used_at(registry, i)->path);
    if (!needed)
        return 0;
    const char *core = blas_core(), *config = blas_config();
    return add(list, "the BLAS kernel (OPENBLAS_CORETYPE sets it)", core ? core : "not OpenBLAS") == 0
               ? add(list, "the BLAS library", config ? config : "not OpenBLAS")
               : -1;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static int holds_records(const char *key)
{
    return strcmp(key, "[data] path") == 0 || strcmp(key, "[split] test.path") == 0;
}

/* Of the beginning, from which the form of a file may be told; the rest is compared while it is read. */
static int hash_beginning(const char *path, char hex[65], struct dpf_error *error)
{
    static const size_t size = (size_t)1 << 18;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_set(error, DPF_FAULT_DATA, "cannot open %s", path);
    struct files_hash *hash = files_hash_new();
    char *bytes = memory_need(size, 1);
    files_hash_add(hash, bytes, fread(bytes, 1, size, stream));
    files_hash_end(hash, hex);
    free(bytes);
    fclose(stream);
    return 0;
}

static int describe(const char *key, const char *path, char *out, size_t size, struct dpf_error *error)
{
    struct stat info;
    char hex[65];
    const int beginning = holds_records(key);
    if (stat(path, &info) != 0)
        return error_set(error, DPF_FAULT_DATA, "%s: cannot find %s", key, path);
    if ((beginning ? hash_beginning(path, hex, error) : files_sha256(path, hex, error)) != 0)
        return -1;
    snprintf(out, size, "%lld bytes, SHA-256 %s%s", (long long)info.st_size, hex,
             beginning ? " of the beginning" : "");
    return 0;
}

static int add_files(void *context, const char *key, const struct paths *paths, struct dpf_error *error)
{
    for (size_t i = 0; i < paths->n; i++) {
        const char *slash = strrchr(paths->files[i], '/');
        char what[160], name[512];
        if (describe(key, paths->files[i], what, sizeof what, error) != 0)
            return -1;
        if (paths->n > 1) /* names, too: they decide the order in which the files are read */
            snprintf(name, sizeof name, "file %zu of %s, %s", i + 1, key,
                     slash ? slash + 1 : paths->files[i]);
        else
            snprintf(name, sizeof name, "the file of %s", key);
        if (add(context, name, what) != 0)
            return error_memory(error);
    }
    return 0;
}

/* ---- the comparison ---------------------------------------------------------------------------------- */

/* Where something lies, what is printed, and what one rank does for all. */
static const struct alike_own own[] = {
    {"run", "output"},         {"run", "threads"},        {"run", "plugin-dir"},
    {"run", "comm"},           {"privacy", "ledger"},     {"data", "path"},
    {"split", "test.path"},    {"data", "items-file"},    {"data", "users-file"},
    {"data", "weights.users"}, {"data", "weights.items"}, {"data", "relation.path"},
    {"data", "item-features"},
};

static json_t *list_of(const struct plan *plan, int resumes, struct dpf_error *error)
{
    char program[65];
    json_t *list = json_object();
    int status = list ? files_program_sha256(program, error) : error_memory(error);
    if (status == 0 && (add(list, "the version of dpframe", DPFRAME_VERSION) != 0 ||
                        add(list, "the program's file", program) != 0 ||
                        alike_add_configuration(list, plan, own, sizeof own / sizeof *own) != 0 ||
                        alike_add_plugins(list, plan->registry, 1) != 0 ||
                        alike_add_plugins(list, joined_registry(), 1) != 0 ||
                        add(list, "--resume", resumes ? "given" : "not given") != 0 ||
                        add_blas(list, plan->registry) != 0 || add_mathematics(list) != 0))
        status = error_memory(error);
    if (status == 0)
        status = data_visit_files(&plan->data, &plan->split, add_files, list, error);
    if (status == 0)
        return list;
    json_decref(list);
    return NULL;
}

static int tell(const struct alike_difference *d, struct dpf_error *error)
{
    const int is_plugin = strncmp(d->name, "plugin ", 7) == 0, is_key = d->name[0] == '[';
    const int is_file = strncmp(d->name, "the file of", 11) == 0 || strncmp(d->name, "file ", 5) == 0;
    error_set(error,
              is_plugin ? DPF_FAULT_PLUGIN
              : is_file ? DPF_FAULT_DATA
                        : DPF_FAULT_CONFIG,
              "%s is \"%s\" here and \"%s\" on rank 0. All ranks make one run: %s, and start again", d->name,
              d->here, d->there,
              is_file  ? "give all of them the same files"
              : is_key ? "give all of them the same configuration"
                       : "give all of them the same program, plugins and kind of processor");
    if (is_key)
        snprintf(error->key, sizeof error->key, "%.*s.%.60s", (int)strcspn(d->name + 1, "]"), d->name + 1,
                 strchr(d->name, ' ') + 1);
    return -1;
}

/* What rank 0 has, on all; NULL with an error. */
static json_t *list_of_first(const json_t *list, struct dpf_error *error)
{
    char *text = ranks_rank() == 0 ? json_dumps(list, JSON_COMPACT) : NULL;
    int64_t n = text ? (int64_t)strlen(text) + 1 : 0;
    int status = ranks_rank() == 0 && !text ? error_memory(error) : 0;
    if (ranks_agree(status, error) != 0 || ranks_broadcast(&n, sizeof n, 0, error) != 0) {
        free(text);
        return NULL;
    }
    if (!text)
        text = memory_need((size_t)n, 1);
    status = ranks_broadcast(text, (size_t)n, 0, error);
    json_t *first = status == 0 ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (status == 0 && !first)
        error_memory(error);
    return first;
}

int alike_ranks_check(const struct plan *plan, int resumes, struct dpf_error *error)
{
    struct alike_difference difference;
    if (ranks_size() == 1)
        return 0;
    json_t *list = list_of(plan, resumes, error), *first = NULL;
    int status = ranks_agree(list ? 0 : -1, error);
    if (status == 0) {
        first = list_of_first(list, error);
        if (!first)
            status = -1;
        else if (alike_differ(list, first, &difference))
            status = tell(&difference, error);
    }
    json_decref(list);
    json_decref(first);
    return ranks_agree(status, error);
}
