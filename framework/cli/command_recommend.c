/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/saved_run.h"

static const char usage[] =
    "usage: dpframe recommend RUN --user ID [-n N]\n"
    "       dpframe recommend RUN --all --output FILE [-n N]\n"
    "\n"
    "The N items (default 10) with the highest scores among those that the user has no record\n"
    "of, in the training or the test part, from the model in the directory of a run. CSV:\n"
    "user,item,rank,score. FILE \"-\" is standard output. What it writes is private: it is computed\n"
    "from users' own factors and records.\n";

struct ranked {
    double score;
    int32_t item;
};

/* Equal scores in the order of ids, so that the list is the same everywhere. */
static int by_score(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return (a->item > b->item) - (a->item < b->item);
}

struct recommending {
    struct saved_run *run;
    int64_t count;
    double *scores; /* of all items */
    struct ranked *unseen;
    FILE *stream;
};

static void mask(const struct csr *records, int32_t user, double *scores)
{
    if (!records->ptr)
        return;
    for (int64_t i = records->ptr[user]; i < records->ptr[user + 1]; i++)
        scores[records->others[i]] = (double)NAN;
}

/* RFC 4180: an id may hold anything. */
static void write_field(FILE *stream, const char *what)
{
    if (!strpbrk(what, ",\"\r\n")) {
        fputs(what, stream);
        return;
    }
    fputc('"', stream);
    for (; *what; what++)
        fprintf(stream, *what == '"' ? "\"\"" : "%c", *what);
    fputc('"', stream);
}

static int recommend_to(struct recommending *r, int32_t user, struct dpf_error *error)
{
    const struct dataset *dataset = &r->run->dataset;
    int64_t n = 0;
    char score[32];
    if (model_scores(&r->run->model, user, NULL, dataset->items.n, r->scores, error) != 0)
        return -1;
    mask(&dataset->train.by_user, user, r->scores);
    mask(&dataset->test.by_user, user, r->scores);
    for (int64_t i = 0; i < dataset->items.n; i++)
        if (!isnan(r->scores[i]))
            r->unseen[n++] = (struct ranked){r->scores[i], (int32_t)i};
    qsort(r->unseen, (size_t)n, sizeof *r->unseen, by_score);
    for (int64_t k = 0; k < n && k < r->count; k++) {
        write_field(r->stream, id_map_text(&dataset->users, user));
        fputc(',', r->stream);
        write_field(r->stream, id_map_text(&dataset->items, r->unseen[k].item));
        fprintf(r->stream, ",%lld,%s\n", (long long)k + 1, text_from_real(r->unseen[k].score, score));
    }
    return 0;
}

static int recommend_one(struct recommending *r, const char *id, struct dpf_error *error)
{
    char shown[TEXT_SHOWN];
    int64_t user = id_map_find(&r->run->dataset.users, id);
    if (user < 0)
        return error_set(error, DPF_FAULT_DATA, "--user \"%s\": the data has no such user",
                         text_show(id, shown));
    r->stream = stdout;
    puts("user,item,rank,score");
    return recommend_to(r, (int32_t)user, error);
}

static int write_all(struct recommending *r, FILE *stream, struct dpf_error *error)
{
    int status = 0;
    r->stream = stream;
    fputs("user,item,rank,score\n", r->stream);
    for (int64_t user = 0; user < r->run->dataset.users.n && status == 0; user++)
        status = recommend_to(r, (int32_t)user, error);
    return status;
}

static int recommend_all(struct recommending *r, const char *path, struct dpf_error *error)
{
    struct files_write write;
    if (strcmp(path, "-") == 0)
        return write_all(r, stdout, error);
    if (files_open_write(&write, path, error) != 0)
        return -1;
    if (write_all(r, write.stream, error) == 0)
        return files_commit_write(&write, error);
    files_abandon_write(&write);
    return -1;
}

static int recommend(const struct arguments *arguments, struct dpf_error *error)
{
    struct saved_run run;
    struct recommending r = {.run = &run, .count = arguments->count ? arguments->count : 10};
    log_set_level(LOG_LEVEL_WARNING);
    int status = saved_run_open(arguments, arguments->rest[0], &run, error);
    if (status == 0) {
        r.scores = memory_new((size_t)run.dataset.items.n, sizeof *r.scores);
        r.unseen = memory_new((size_t)run.dataset.items.n, sizeof *r.unseen);
        if (!r.scores || !r.unseen)
            status = error_memory(error);
    }
    if (status == 0)
        status = arguments->all ? recommend_all(&r, arguments->output, error)
                                : recommend_one(&r, arguments->user, error);
    free(r.scores);
    free(r.unseen);
    saved_run_close(&run);
    return status;
}

static int check(const struct arguments *arguments, struct dpf_error *error)
{
    if (arguments->n_rest != 1 || arguments->config || arguments->n_overrides)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "name the directory of one run; its own configuration is used as it is (see --help)");
    if (!arguments->all == !arguments->user)
        return error_set(error, DPF_FAULT_CONFIG, "give either --user ID or --all");
    if (!arguments->all != !arguments->output)
        return error_set(error, DPF_FAULT_CONFIG, "--all and --output FILE belong together");
    return 0;
}

int command_recommend(int argc, char **argv)
{
    struct dpf_error error = {0};
    struct arguments arguments;
    int status = arguments_parse(argc, argv, usage, &arguments, &error);
    if (status == 0)
        status = check(&arguments, &error);
    if (status == 0)
        status = recommend(&arguments, &error);
    arguments_free(&arguments);
    return status < 0 ? command_failed(&error) : 0;
}
