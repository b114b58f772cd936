/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/evaluate_saved.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "engine/model_scorer.h"
#include "plan/plan_make.h"
#include "run/saved_run.h"
#include "saved/trec_files.h"

/* ---- records of another file -------------------------------------------------------------------------- */

/* Else the file would not be looked at, and what is generated again would be evaluated in its place. */
static int refuse_generated(const struct plan *plan, struct dpf_error *error)
{
    return data_is_generated(&plan->data)
               ? error_set(
                     error, DPF_FAULT_CONFIG,
                     "--data: the run was trained on generated records (data.format = synthetic), so nothing "
                     "says how to read a file; train on a file, for example one of dpframe generate")
               : 0;
}

/* Faults of single records mean what they mean to the run. */
static int read_other(const struct arguments *arguments, const char *directory, const struct saved_run *run,
                      struct dataset *out, struct dpf_error *error)
{
    struct arguments *own = memory_need(1, sizeof *own);
    struct session session = {0};
    char *config = memory_format("%s/config.ini", directory),
         *path = memory_format("data.path=%s", arguments->data);
    *own = *arguments;
    own->config = config;
    own->n_overrides = 0;
    own->overrides[own->n_overrides++] = path;
    /* All of it is the test part, and nothing else is read. */
    own->overrides[own->n_overrides++] = "split.kind=none";
    /* What the run's configuration says of its split has no effect now, and nobody asked for a warning. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    int status = session_open(&session, own, 0, error);
    log_set_level(level);
    struct plan *plan = &session.plan;
    if (status == 0)
        status = refuse_generated(plan, error);
    struct data_options options;
    if (status == 0)
        status = data_options_read(&plan->data, &plan->split, &options, error);
    if (status == 0)
        status = data_check_first_line(options.path, &options.file, &run->dataset.items, error);
    if (status == 0)
        status = data_read_by_user(&plan->data, &plan->split, plan->seeded, run->pool, out, error);
    if (status == 0) {
        struct violations left_out = {.n = 0};
        status = plan_judge_faults(&run->session.plan, 0, &out->violations, &left_out, error);
        if (status == 0 && out->train.n == 0)
            status =
                error_set(error, DPF_FAULT_DATA,
                          "--data %s: no line of it is a record in the form of the run's own file: %.400s",
                          arguments->data, left_out.kept ? left_out.list[0].text : "it is empty");
        else if (status == 0 && left_out.n > 0)
            log_message(LOG_LEVEL_WARNING, "%lld record%s at fault: left out; the first: %.400s",
                        (long long)left_out.n, left_out.n == 1 ? " is" : "s are",
                        left_out.kept ? left_out.list[0].text : "");
        violations_free(&left_out);
    }
    session_close(&session);
    free(config);
    free(path);
    free(own);
    return status;
}

struct mapped {
    int32_t item;
    float value;
};

static int by_item(const void *a, const void *b)
{
    int32_t x = ((const struct mapped *)a)->item, y = ((const struct mapped *)b)->item;
    return (x > y) - (x < y);
}

struct left_out {
    int64_t unknown, trained;
};

/* The rows of a user, in the indices of the run; returns how many. */
static int64_t map_row(const struct csr *from, int64_t row, const struct dataset *from_ids,
                       const struct dataset *to, int64_t user, struct mapped *out, struct left_out *left_out)
{
    int64_t n = 0;
    for (int64_t i = from->ptr[row]; i < from->ptr[row + 1]; i++) {
        int64_t item = id_map_find(&to->items, id_map_text(&from_ids->items, from->others[i]));
        /* A pair of the training part is no test: ranking leaves it out as seen, and its error is a training error. */
        if (item >= 0 && csr_find(&to->train.by_user, user, (int32_t)item) >= 0)
            left_out->trained++;
        else if (item >= 0)
            out[n++] = (struct mapped){(int32_t)item, from->values ? from->values[i] : 1.0f};
    }
    qsort(out, (size_t)n, sizeof *out, by_item);
    return n;
}

/* Puts the records of `other` in place of the test part, and counts those that have no place there. */
static int replace_test(const struct dataset *other, struct dataset *dataset, struct left_out *left_out,
                        struct dpf_error *error)
{
    const struct csr *from = &other->train.by_user;
    int64_t n = other->train.n, used = 0;
    struct csr test = {.rows = dataset->users.n};
    test.ptr = memory_new((size_t)dataset->users.n + 1, sizeof *test.ptr);
    test.others = memory_new((size_t)n, sizeof *test.others);
    test.values = dataset->implicit ? NULL : memory_new((size_t)n, sizeof *test.values);
    struct mapped *row = memory_new((size_t)n, sizeof *row);
    int status =
        test.ptr && test.others && row && (test.values || dataset->implicit) ? 0 : error_memory(error);
    for (int64_t user = 0; user < test.rows && status == 0; user++) {
        int64_t source = id_map_find(&other->users, id_map_text(&dataset->users, user));
        int64_t count = source >= 0 ? map_row(from, source, other, dataset, user, row, left_out) : 0;
        for (int64_t k = 0; k < count; k++) {
            test.others[used] = row[k].item;
            if (test.values)
                test.values[used] = row[k].value;
            used++;
        }
        test.ptr[user + 1] = used;
    }
    free(row);
    if (status != 0) {
        csr_free(&test);
        return -1;
    }
    records_free(&dataset->test);
    free(dataset->candidates.items);
    dataset->candidates = (struct user_candidates){.kind = CANDIDATES_ALL};
    dataset->test = (struct records){.n = used, .by_user = test};
    left_out->unknown = n - used - left_out->trained;
    return 0;
}

static int take_other(const struct arguments *arguments, struct saved_run *run, struct dpf_error *error)
{
    struct dataset other = {0};
    struct left_out left_out = {0};
    int status = read_other(arguments, arguments->rest[0], run, &other, error);
    if (status == 0)
        status = replace_test(&other, &run->dataset, &left_out, error);
    dataset_free(&other);
    if (status == 0 && left_out.unknown)
        log_message(LOG_LEVEL_WARNING, "%lld record%s a user or an item that the run does not know: left out",
                    (long long)left_out.unknown, left_out.unknown == 1 ? " has" : "s have");
    if (status == 0 && left_out.trained)
        log_message(LOG_LEVEL_WARNING, "%lld record%s that the run was trained on: left out",
                    (long long)left_out.trained, left_out.trained == 1 ? " is of a pair" : "s are of pairs");
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

int evaluate_saved(const struct arguments *arguments, struct metrics *out, struct dpf_error *error)
{
    struct saved_run run;
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open(arguments, arguments->rest[0], NULL, &run, error);
    if (status == 0 && arguments->data)
        status = take_other(arguments, &run, error);
    if (status == 0 && run.dataset.test.n == 0)
        status =
            arguments->data
                ? error_set(error, DPF_FAULT_DATA,
                            "--data %s: no record is left to evaluate on: all are of users or items that "
                            "the run does not know, or of pairs that it was trained on",
                            arguments->data)
                : error_set(error, DPF_FAULT_DATA,
                            "there are no records to evaluate on: give some with --data FILE");
    if (status == 0) {
        struct scorer scorer;
        status = model_scorer(&run.model, &scorer, error);
        if (status == 0)
            status = evaluate_model(&run.session.evaluate, &run.dataset, &scorer, run.session.plan.seeded,
                                    run.pool, 0, out, error);
        scorer_close(&scorer);
    }
    if (status == 0 && arguments->output)
        status = trec_files_write(&run, arguments->output, error);
    saved_run_close(&run);
    return status;
}
