/* SPDX-License-Identifier: Apache-2.0 */
#include "saved/trec_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/ticker.h"
#include "engine/model_scorer.h"
#include "evaluate/evaluate_options.h"
#include "evaluate/user_sample.h"
#include "score/lists.h"

struct writer {
    const struct saved_run *run;
    const struct csr *test; /* of the users who are evaluated */
    struct evaluate_options options;
    struct files_write lists, qrels;
    double *scores;      /* of all items; -infinity: not in the list */
    int32_t *candidates; /* of a user */
    int32_t *list;
    double *best; /* scores of the list */
    struct scorer scorer;
    struct score_desk desk;
};

/* Fields are separated by blanks, so an id must have none. */
static int check_ids(const struct id_map *ids, const char *what, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    for (int64_t i = 0; i < ids->n; i++) {
        const char *id = id_map_text(ids, i);
        if (!*id || id[strcspn(id, " \t\n\v\f\r")])
            return error_set(error, DPF_FAULT_DATA,
                             "--format trec: the %s id \"%s\" has a blank in it or is empty, which the "
                             "format cannot hold; "
                             "train with ids that have none: another column, or numbers for names",
                             what, text_show(id, shown));
    }
    return 0;
}

static int is_positive(const struct writer *w, int64_t record)
{
    const struct csr *test = w->test;
    const double value = test->values ? (double)test->values[record] : 1;
    return !(test->voids && test->voids[record]) && value >= w->options.relevance;
}

/* What leaves the user's list gets no score. */
static void mask(const struct writer *w, int64_t user)
{
    const struct dataset *dataset = &w->run->dataset;
    const struct csr *train = &dataset->train.by_user;
    for (int64_t i = train->ptr[user]; w->options.mask_seen && i < train->ptr[user + 1]; i++)
        w->scores[train->others[i]] = -INFINITY;
    if (dataset->candidates.kind == CANDIDATES_ALL)
        return;
    const int64_t n = dataset_candidates(dataset, user, w->candidates);
    for (int64_t item = 0, at = 0; item < dataset->items.n; item++) {
        while (at < n && w->candidates[at] < item)
            at++;
        if (at == n || w->candidates[at] != item)
            w->scores[item] = -INFINITY;
    }
}

static int write_user(struct writer *w, int64_t user, struct dpf_error *error)
{
    const struct dataset *dataset = &w->run->dataset;
    const struct csr *test = w->test;
    const char *id = id_map_text(&dataset->users, user);
    int64_t positives = 0;
    if (test->ptr[user + 1] == test->ptr[user])
        return 0;
    if (scorer_scores(&w->scorer, &w->desk, user, NULL, dataset->items.n, w->scores, error) != 0)
        return -1;
    mask(w, user);
    for (int64_t i = test->ptr[user]; i < test->ptr[user + 1]; i++) {
        if (!is_positive(w, i) || !isfinite(w->scores[test->others[i]]))
            continue;
        fprintf(w->qrels.stream, "%s 0 %s 1\n", id, id_map_text(&dataset->items, test->others[i]));
        positives++;
    }
    const int64_t n =
        positives ? list_choose(w->scores, dataset->items.n, w->options.largest_cutoff, w->list, w->best) : 0;
    for (int64_t i = 0; i < n; i++)
        fprintf(w->lists.stream, "%s Q0 %s %lld %.17g dpframe\n", id,
                id_map_text(&dataset->items, w->list[i]), (long long)i + 1, w->best[i]);
    return n < 0 ? error_memory(error) : 0;
}

static int open_new(const char *directory, const char *name, struct files_write *write,
                    struct dpf_error *error)
{
    char *path = files_join(directory, name);
    const int status = files_open_private(write, path, error);
    free(path);
    return status;
}

int trec_files_write(struct saved_run *run, const char *directory, struct dpf_error *error)
{
    const struct dataset *dataset = &run->dataset;
    const size_t items = (size_t)dataset->items.n + 1;
    struct writer w = {.run = run, .test = &dataset->test.by_user};
    struct csr sample = {0};
    int64_t left_out;
    if (evaluate_options_read(&run->session.evaluate, dataset->implicit, &w.options, error) != 0 ||
        check_ids(&dataset->users, "user", error) != 0 || check_ids(&dataset->items, "item", error) != 0 ||
        files_make_directory(directory, error) != 0)
        return -1;
    w.scores = memory_need(items, sizeof *w.scores);
    w.candidates = memory_need(items, sizeof *w.candidates);
    w.list = memory_need(items, sizeof *w.list);
    w.best = memory_need(items, sizeof *w.best);
    int status = 0;
    if (w.options.users > 0) {
        status = user_sample(dataset, w.test, w.options.users, run->session.plan.seeded, &sample, &left_out,
                             error);
        w.test = &sample;
    }
    if (status == 0)
        status = model_scorer(&run->model, &w.scorer, error);
    const int has_lists = status == 0 && (status = open_new(directory, "run.txt", &w.lists, error)) == 0;
    const int has_qrels = status == 0 && (status = open_new(directory, "qrels.txt", &w.qrels, error)) == 0;
    ticker_begin("writing lists", dataset->users.n);
    for (int64_t user = 0; status == 0 && user < dataset->users.n; user++) {
        status = write_user(&w, user, error);
        ticker_add(1);
        if (status == 0)
            status = interrupt_check("lists were written", error);
    }
    ticker_end();
    if (has_lists)
        status = status == 0 ? files_commit_write(&w.lists, error) : (files_abandon_write(&w.lists), -1);
    if (has_qrels)
        status = status == 0 ? files_commit_write(&w.qrels, error) : (files_abandon_write(&w.qrels), -1);
    free(w.scores);
    free(w.candidates);
    free(w.list);
    free(w.best);
    scorer_close(&w.scorer);
    score_desk_free(&w.desk);
    csr_free(&sample);
    return status;
}
