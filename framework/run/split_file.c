/* SPDX-License-Identifier: Apache-2.0 */
#include "run/split_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "data/load.h"

static const char magic[16] = "dpframe split 1";

/* Then, without padding: places of users' training and test records and of items (int64, one more than there are rows),
   items of training records (int32), their values (float32), items of test records (int32). */
struct head {
    char magic[16];
    struct split_key key;
    int64_t users, items, train, test, has_values;
};

/* ---- what it was made from --------------------------------------------------------------------------- */

static int add_files(void *context, const char *key, const struct paths *paths, struct dpf_error *error)
{
    crypto_hash_sha256_state *state = context;
    (void)error;
    crypto_hash_sha256_update(state, (const unsigned char *)key, strlen(key) + 1);
    for (size_t i = 0; i < paths->n; i++) {
        struct stat info = {0};
        (void)stat(paths->files[i], &info); /* of a file that is not there: zeros */
        const int64_t said[] = {(int64_t)info.st_dev,          (int64_t)info.st_ino,
                                (int64_t)info.st_size,         (int64_t)info.st_mtim.tv_sec,
                                (int64_t)info.st_mtim.tv_nsec, (int64_t)info.st_ctim.tv_sec,
                                (int64_t)info.st_ctim.tv_nsec};
        crypto_hash_sha256_update(state, (const unsigned char *)paths->files[i], strlen(paths->files[i]) + 1);
        crypto_hash_sha256_update(state, (const unsigned char *)said, sizeof said);
    }
    return 0;
}

int split_key_make(const struct arguments *arguments, const char *directory, const struct plan *plan,
                   const char *hash, struct split_key *out, struct dpf_error *error)
{
    static const char *const files[] = {"config.ini", "run.json"};
    crypto_hash_sha256_state state;
    char hex[65];
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = files_join(directory, files[i]);
        const int status = files_sha256(path, hex, error);
        free(path);
        if (status != 0)
            return -1;
        crypto_hash_sha256_update(&state, (const unsigned char *)hex, sizeof hex);
    }
    crypto_hash_sha256_update(&state, (const unsigned char *)hash, strlen(hash) + 1);
    for (int i = 0; i < arguments->n_overrides; i++)
        crypto_hash_sha256_update(&state, (const unsigned char *)arguments->overrides[i],
                                  strlen(arguments->overrides[i]) + 1);
    if (data_visit_files(&plan->data, &plan->split, add_files, &state, error) != 0)
        return -1;
    crypto_hash_sha256_final(&state, out->bytes);
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* Records that are items and values of users, and no more. */
static int is_plain(const struct dataset *dataset)
{
    const struct csr *train = &dataset->train.by_user;
    return ranks_size() == 1 && !train->voids && !train->privacy_weights && !dataset->relation.links.ptr;
}

void split_file_write(const char *directory, const struct split_key *key, const struct dataset *dataset)
{
    const struct csr *train = &dataset->train.by_user, *test = &dataset->test.by_user;
    const int64_t users = dataset->users.n, items = dataset->items.n;
    struct head head = {.key = *key,
                        .users = users,
                        .items = items,
                        .train = train->ptr[users],
                        .test = test->ptr ? test->ptr[users] : 0,
                        .has_values = train->values != NULL};
    const size_t rows = (size_t)users + 1, n = (size_t)head.train, m = (size_t)head.test;
    struct files_write write;
    struct dpf_error ignored = {0};
    char *path = files_join(directory, SPLIT_FILE);
    int64_t *none = memory_new(rows, sizeof *none);
    if (path && none && is_plain(dataset) && files_open_private(&write, path, &ignored) == 0) {
        memcpy(head.magic, magic, sizeof magic);
        FILE *to = write.stream;
        const int done =
            fwrite(&head, sizeof head, 1, to) == 1 &&
            fwrite(train->ptr, sizeof *train->ptr, rows, to) == rows &&
            fwrite(test->ptr ? test->ptr : none, sizeof *none, rows, to) == rows &&
            fwrite(dataset->train.by_item.ptr, sizeof *none, (size_t)items + 1, to) == (size_t)items + 1 &&
            fwrite(train->others, sizeof *train->others, n, to) == n &&
            (!train->values || fwrite(train->values, sizeof *train->values, n, to) == n) &&
            (m == 0 || fwrite(test->others, sizeof *test->others, m, to) == m);
        if (done)
            files_commit_write(&write, &ignored);
        else
            files_abandon_write(&write);
    }
    free(none);
    free(path);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static int read_at(int fd, void *out, size_t size, size_t n, int64_t at)
{
    return n == 0 || pread(fd, out, n * size, (off_t)at) == (ssize_t)(n * size);
}

/* Items of a row: ascending, and of the catalogue. */
static int are_items(const int32_t *items, int64_t n, int64_t n_items)
{
    for (int64_t i = 0; i < n; i++)
        if (items[i] < 0 || items[i] >= n_items || (i > 0 && items[i] <= items[i - 1]))
            return 0;
    return 1;
}

/* Rows of which only one has records: those first .. first+n-1 of a file's part that begins at `at`. */
static int read_row(int fd, int64_t at, int64_t first, int64_t n, int64_t user, int64_t users, int64_t items,
                    struct csr *out)
{
    *out = (struct csr){.rows = users,
                        .ptr = memory_new((size_t)users + 1, sizeof *out->ptr),
                        .others = memory_new((size_t)n + 1, sizeof *out->others)};
    if (!out->ptr || !out->others)
        return 0;
    for (int64_t r = user + 1; r <= users; r++)
        out->ptr[r] = n;
    return read_at(fd, out->others, sizeof *out->others, (size_t)n,
                   at + first * (int64_t)sizeof *out->others) &&
           are_items(out->others, n, items);
}

static int is_range(const int64_t range[2], int64_t most)
{
    return range[0] >= 0 && range[0] <= range[1] && range[1] <= most;
}

static int read_rows(int fd, const struct head *head, int64_t user, struct dataset *dataset)
{
    const int64_t users = head->users, items = head->items, place = (int64_t)sizeof(int64_t);
    const int64_t train_ptr = (int64_t)sizeof *head, test_ptr = train_ptr + place * (users + 1);
    const int64_t item_ptr = test_ptr + place * (users + 1), train = item_ptr + place * (items + 1);
    const int64_t values = train + 4 * head->train, test = values + (head->has_values ? 4 * head->train : 0);
    struct csr *own = &dataset->train.by_user, *counts = &dataset->train.by_item;
    int64_t trained[2], tested[2];
    if (!read_at(fd, trained, sizeof *trained, 2, train_ptr + place * user) ||
        !read_at(fd, tested, sizeof *tested, 2, test_ptr + place * user) || !is_range(trained, head->train) ||
        !is_range(tested, head->test))
        return 0;
    const int64_t n = trained[1] - trained[0];
    if (!read_row(fd, train, trained[0], n, user, users, items, own) ||
        !read_row(fd, test, tested[0], tested[1] - tested[0], user, users, items, &dataset->test.by_user))
        return 0;
    own->values = head->has_values ? memory_new((size_t)n + 1, sizeof *own->values) : NULL;
    if (head->has_values &&
        (!own->values || !read_at(fd, own->values, sizeof *own->values, (size_t)n, values + 4 * trained[0])))
        return 0;
    *counts = (struct csr){.rows = items, .ptr = memory_new((size_t)items + 1, sizeof *counts->ptr)};
    dataset->train.n = n;
    dataset->test.n = tested[1] - tested[0];
    return counts->ptr && read_at(fd, counts->ptr, sizeof *counts->ptr, (size_t)items + 1, item_ptr);
}

/* Whether it is such a file, whole, of these ids. */
static int check_head(int fd, const struct split_key *key, const struct dataset *dataset, struct head *head)
{
    struct stat info;
    if (!read_at(fd, head, sizeof *head, 1, 0) || memcmp(head->magic, magic, sizeof magic) != 0 ||
        memcmp(&head->key, key, sizeof *key) != 0 || head->users != dataset->users.n ||
        head->items != dataset->items.n || fstat(fd, &info) != 0 || head->train < 0 || head->test < 0 ||
        head->train > info.st_size || head->test > info.st_size)
        return 0;
    return info.st_size == (int64_t)sizeof *head + 8 * (2 * head->users + head->items + 3) +
                               4 * (head->train * (1 + (head->has_values != 0)) + head->test);
}

int split_file_read(const char *directory, const struct split_key *key, int64_t user, struct dataset *dataset)
{
    struct head head;
    char *path = files_join(directory, SPLIT_FILE);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    if (fd < 0)
        return 0;
    const int done = user >= 0 && check_head(fd, key, dataset, &head) && read_rows(fd, &head, user, dataset);
    close(fd);
    if (!done) {
        records_free(&dataset->train);
        records_free(&dataset->test);
    }
    return done;
}
