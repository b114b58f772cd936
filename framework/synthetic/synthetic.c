/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic records as rows in memory and as a file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/ticker.h"
#include "synthetic/generator.h"

#define USERS_PER_TASK 256

struct fill {
    const struct generator *generator;
    struct ratings *out;
};

static int degree_task(void *context, int64_t task, int worker)
{
    struct fill *fill = context;
    struct csr *csr = &fill->out->csr;
    (void)worker;
    int64_t last = (task + 1) * USERS_PER_TASK < csr->rows ? (task + 1) * USERS_PER_TASK : csr->rows;
    for (int64_t u = task * USERS_PER_TASK; u < last; u++)
        csr->ptr[u + 1] = generator_degree(fill->generator, u);
    return 0;
}

static int row_task(void *context, int64_t task, int worker)
{
    struct fill *fill = context;
    struct ratings *out = fill->out;
    struct csr *csr = &out->csr;
    (void)worker;
    int64_t last = (task + 1) * USERS_PER_TASK < csr->rows ? (task + 1) * USERS_PER_TASK : csr->rows;
    ticker_add(last - task * USERS_PER_TASK);
    for (int64_t u = task * USERS_PER_TASK; u < last; u++) {
        int64_t at = csr->ptr[u];
        if (interrupt_is_wanted())
            return -1;
        if (generator_user(fill->generator, u, csr->others + at, csr->values ? csr->values + at : NULL,
                           out->times ? out->times + at : NULL) < 0)
            return -1;
    }
    return 0;
}

static int run(struct pool *pool, int64_t rows, pool_task task, struct fill *fill)
{
    int64_t tasks = (rows + USERS_PER_TASK - 1) / USERS_PER_TASK;
    int status = 0;
    if (pool)
        return pool_run(pool, tasks, task, fill);
    for (int64_t t = 0; t < tasks && status == 0; t++)
        status = task(fill, t, 0);
    return status;
}

/* The arrays of known size for degrees already in ptr. */
static int reserve_rows(struct ratings *out, int values, int times)
{
    struct csr *csr = &out->csr;
    for (int64_t u = 0; u < csr->rows; u++)
        csr->ptr[u + 1] += csr->ptr[u];
    size_t n = (size_t)csr->ptr[csr->rows];
    csr->others = memory_raw(n, sizeof *csr->others);
    if (values)
        csr->values = memory_raw(n, sizeof *csr->values);
    if (times) {
        out->times = memory_raw(n, sizeof *out->times);
        out->order = memory_new(n, sizeof *out->order); /* time stamps of a user are distinct */
    }
    return !csr->others || (values && !csr->values) || (times && (!out->times || !out->order)) ? -1 : 0;
}

int generator_ratings(const struct generator *generator, int values, int times, struct pool *pool,
                      struct ratings *out, struct dpf_error *error)
{
    const struct generate_options *options = generator_options(generator);
    struct fill fill = {generator, out};
    memset(out, 0, sizeof *out);
    out->csr.rows = options->users;
    out->csr.ptr = memory_new((size_t)options->users + 1, sizeof *out->csr.ptr);
    ticker_begin("generating ratings", options->users);
    const int made = out->csr.ptr && run(pool, options->users, degree_task, &fill) == 0 &&
                     reserve_rows(out, values, times) == 0 && run(pool, options->users, row_task, &fill) == 0;
    ticker_end();
    if (made)
        return 0;
    ratings_free(out);
    return interrupt_check("ratings were generated", error) != 0 ? -1 : error_memory(error);
}

static size_t put_integer(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0, used = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        out[used++] = digits[--n];
    return used;
}

static size_t put_value(char *out, double value)
{
    if (value >= 0 && value < 1e9 && value == floor(value))
        return put_integer(out, (uint64_t)value);
    char buffer[32];
    /* A float32 is written with the few digits that parse back to it. */
    for (int digits = 6; digits < 10; digits++) {
        double back;
        struct text text = {0};
        text_add(&text, "%.*g", digits, value);
        size_t length = text.data && text.length < sizeof buffer ? text.length : 0;
        if (length)
            memcpy(buffer, text.data, length + 1);
        text_free(&text);
        if (length && text_to_real(buffer, &back) == 0 && (float)back == (float)value) {
            memcpy(out, buffer, length);
            return length;
        }
    }
    text_from_real(value, buffer);
    size_t length = strlen(buffer);
    memcpy(out, buffer, length);
    return length;
}

struct csv_row {
    int32_t *items;
    float *values;
    double *times;
    char *lines;
};

static size_t format_user(int64_t user, int64_t n, const struct csv_row *row)
{
    char *at = row->lines;
    for (int64_t i = 0; i < n; i++) {
        at += put_integer(at, (uint64_t)user + 1);
        *at++ = ',';
        at += put_integer(at, (uint64_t)row->items[i] + 1);
        *at++ = ',';
        at += put_value(at, row->values[i]);
        *at++ = ',';
        at += put_integer(at, (uint64_t)row->times[i]);
        *at++ = '\n';
    }
    return (size_t)(at - row->lines);
}

int generator_write_csv(const struct generator *generator, FILE *stream, const char *name,
                        struct dpf_error *error)
{
    const struct generate_options *o = generator_options(generator);
    size_t n = (size_t)o->items;
    struct csv_row row = {memory_raw(n, sizeof(int32_t)), memory_raw(n, sizeof(float)),
                          memory_raw(n, sizeof(double)), memory_raw(n, 80)};
    int status = row.items && row.values && row.times && row.lines ? 0 : error_memory(error);
    if (status == 0)
        fputs("user,item,rating,timestamp\n", stream);
    ticker_begin("generating ratings", o->users);
    for (int64_t u = 0; u < o->users && status == 0; u++) {
        ticker_add(1);
        if ((status = interrupt_check("ratings were generated", error)) != 0)
            break;
        int64_t degree = generator_user(generator, u, row.items, row.values, row.times);
        if (degree < 0) {
            status = error_memory(error);
            break;
        }
        size_t length = format_user(u, degree, &row);
        if (fwrite(row.lines, 1, length, stream) != length)
            status = error_set(error, DPF_FAULT_RUN, "cannot write %s: %s", name, strerror(errno));
    }
    ticker_end();
    free(row.items);
    free(row.values);
    free(row.times);
    free(row.lines);
    return status;
}
