/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as files of TREC: read by a parser that follows trec_eval's rules, they have the metrics of the run. */
#include "kit/test.h"
#include "integration/command_fixture.h"

#define MOST 20000
#define K 10

struct line {
    char query[32], item[32];
    double score;
};

static struct line lists[MOST], qrels[MOST];

/* trec_eval ignores ranks, sorts by score, and takes the last id first among equal ones. */
static int by_query_and_score(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const int query = strcmp(x->query, y->query);
    if (query != 0)
        return query;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : strcmp(y->item, x->item);
}

static int read_lists(const char *path)
{
    FILE *stream = fopen(command_path(path), "r");
    char zero[8], tag[32];
    int n = 0, rank;
    assert_non_null(stream);
    while (n < MOST && fscanf(stream, "%31s %7s %31s %d %lf %31s", lists[n].query, zero, lists[n].item, &rank,
                              &lists[n].score, tag) == 6) {
        assert_string_equal(zero, "Q0");
        assert_in_range(rank, 1, K);
        n++;
    }
    assert_true(feof(stream));
    fclose(stream);
    qsort(lists, (size_t)n, sizeof *lists, by_query_and_score);
    return n;
}

static int read_qrels(const char *path)
{
    FILE *stream = fopen(command_path(path), "r");
    int n = 0, zero, relevance;
    assert_non_null(stream);
    while (n < MOST &&
           fscanf(stream, "%31s %d %31s %d", qrels[n].query, &zero, qrels[n].item, &relevance) == 4) {
        assert_int_equal(zero, 0);
        assert_int_equal(relevance, 1);
        n++;
    }
    assert_true(feof(stream));
    fclose(stream);
    return n;
}

static int is_relevant(const struct line *line, int n_qrels)
{
    for (int i = 0; i < n_qrels; i++)
        if (strcmp(qrels[i].query, line->query) == 0 && strcmp(qrels[i].item, line->item) == 0)
            return 1;
    return 0;
}

static double metric(const char *run, const char *name)
{
    json_t *json = command_json(run);
    const json_t *value = json_object_get(json_object_get(json, "metrics"), name);
    assert_true(json_is_number(value));
    const double out = json_number_value(value);
    json_decref(json);
    return out;
}

/* success, P, recall, ndcg_cut and recip_rank at 10, as trec_eval defines them. */
static void compare_with(const char *run, const char *directory)
{
    char path[64];
    snprintf(path, sizeof path, "%s/qrels.txt", directory);
    const int n_qrels = read_qrels(path);
    snprintf(path, sizeof path, "%s/run.txt", directory);
    const int n = read_lists(path);
    double sums[5] = {0};
    int queries = 0;
    assert_true(n > 100 && n_qrels > 50);
    for (int begin = 0, end; begin < n; begin = end) {
        double positives = 0, hits = 0, gain = 0, ideal = 0, first = 0;
        for (end = begin; end < n && strcmp(lists[end].query, lists[begin].query) == 0; end++)
            if (is_relevant(&lists[end], n_qrels)) {
                const int rank = end - begin + 1;
                hits++;
                gain += 1 / log2(rank + 1);
                first = first > 0 ? first : 1.0 / rank;
            }
        for (int i = 0; i < n_qrels; i++)
            positives += strcmp(qrels[i].query, lists[begin].query) == 0;
        for (int rank = 1; rank <= K && rank <= positives; rank++)
            ideal += 1 / log2(rank + 1);
        assert_true(positives > 0 && end - begin == K);
        sums[0] += hits > 0;
        sums[1] += hits / K;
        sums[2] += hits / positives;
        sums[3] += gain / ideal;
        sums[4] += first;
        queries++;
    }
    static const char *const names[] = {"hr@10", "precision@10", "recall@10", "ndcg@10", "mrr@10"};
    for (int m = 0; m < 5; m++)
        if (fabs(sums[m] / queries - metric(run, names[m])) > 1e-9)
            fail_msg("%s: %.12g by the files, %.12g by the run", names[m], sums[m] / queries,
                     metric(run, names[m]));
}

static int start(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("lists.ini",
                  "[run]\nrounds = 3\nthreads = 2\noutput = out\n" SYNTHETIC
                  "[split]\nkind = per-user\nfraction = 0.2\n"
                  "[model]\nrank = 3\noffset = midpoint\n[users]\nloss = explicit-als\nsolver = cholesky\n"
                  "[items]\nloss = explicit-als\nsolver = cholesky\n"
                  "[evaluate]\nmetrics = hr, precision, recall, ndcg, mrr\nk = 10\n");
    return 0;
}

TEST(files_have_the_metrics_of_the_run)
{
    command_expect("-q -c lists.ini -O full", 0, "");
    command_expect("evaluate full --format trec -O full-trec", 0, "");
    compare_with("full/run.json", "full-trec");
    assert_int_equal(shell("test $(stat -c %a full-trec/run.txt full-trec/qrels.txt | sort -u) = 600"), 0);
    command_expect("-q -c lists.ini -o evaluate.relevance-threshold=4 -o split.kind=candidates -o "
                   "split.fraction=0.4 -O other",
                   0, "");
    command_expect("evaluate other --format trec -O other-trec", 0, "");
    compare_with("other/run.json", "other-trec");
}

/* Files and metrics are of the same users; those who are left out are not without positives. */
TEST(a_sample_of_users_is_written_alone)
{
    command_expect("-q -c lists.ini -o evaluate.bootstrap=50 -O all", 0, "");
    command_expect("-q -c lists.ini -o evaluate.users=20 -o evaluate.bootstrap=50 -O few", 0, "");
    command_expect("evaluate few --format trec -O few-trec", 0, "");
    compare_with("few/run.json", "few-trec");
    assert_true(metric("few/run.json", "users-left-out") > 0);
    assert_true(metric("few/run.json", "users-without-positives") <=
                metric("all/run.json", "users-without-positives"));
    assert_int_equal(shell("test $(cut -d ' ' -f 1 few-trec/qrels.txt | sort -u | wc -l) -le 20"), 0);
}

TEST(what_the_format_cannot_hold_is_refused)
{
    training_file("blank.csv",
                  "user,item,rating\na b,1,3\na b,2,4\na b,3,5\nc,1,2\nc,2,2\nc,4,1\nd,1,3\nd,4,5\n");
    command_expect("-q -c lists.ini -o data.format=csv -o data.path=blank.csv -o split.fraction=0.4 -O blank",
                   0, "");
    command_expect("evaluate blank --format trec -O blank-trec", 3, "a b");
    assert_int_equal(shell("test ! -e blank-trec/run.txt"), 0);
    command_expect("evaluate full --format trec", 2, "--format trec and --output DIR go together");
    command_expect("evaluate full --format xml", 2, "must be text, json or trec");
}

FIXTURE(start, training_end)
