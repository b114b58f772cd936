/* SPDX-License-Identifier: Apache-2.0 */
/* The program in the hands of somebody who has a file and no experience: what is told before anything is
 * trained, and which cause a message names. */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

#define ALS(LOSS, MORE)                                                                                      \
    "[users]\nloss = " LOSS "\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n" MORE "[items]\nloss = " LOSS \
    "\nsolver = cholesky\n[items.loss]\nlambda = 0.1\n" MORE
#define HEAD "[run]\nrounds = 2\ntrace = no\noutput = out\n[model]\nrank = 2\n"
#define FILE_OF(NAME) "[data]\nformat = csv\npath = " NAME "\n"

/* check and the run say the same, with the same exit code; the run has trained nothing. */
static void both(const char *arguments, int code, const char *text)
{
    char line[512];
    snprintf(line, sizeof line, "check %s", arguments);
    command_expect(line, code, text);
    snprintf(line, sizeof line, "-q %s -O %s", arguments, code ? "refused" : "trained");
    command_expect(line, code, text);
    assert_false(command_exists("refused/run.json"));
}

TEST(a_missing_time_column_is_found_before_training)
{
    both("-c explicit.ini -o split.kind=leave-one-out -o split.by=time", 3, "three.csv:1: ");
    assert_non_null(strstr(command_err, "split.by = random"));
    /* Declared sizes: the data is not read by check, its first line is. */
    both("-c explicit.ini -o split.kind=leave-one-out -o split.by=time -o model.users=50 -o model.items=50",
         3, "split.by = random");
    both("-c explicit.ini -o data.column.rating=7 -o model.users=50 -o model.items=50", 3,
         "data.column.rating");
    both("-c explicit.ini -o data.delimiter=semicolon -o model.users=50 -o model.items=50", 3,
         "did you mean delimiter = comma?");
    command_expect("-q -c explicit.ini -o split.kind=leave-one-out -o split.by=random -O by-random", 0, "");
}

TEST(relevance_is_of_the_values_that_there_are)
{
    both("-c implicit.ini -o evaluate.relevance-threshold=4", 2, "nothing would be a positive");
    both("-c implicit.ini -o evaluate.relevance-threshold=1", 0, "");
    both("-c explicit.ini -o evaluate.relevance-threshold=4", 0, "");
    both("-c counts.ini -o evaluate.relevance-threshold=4", 0, "");
    both("-c counts.ini -o evaluate.relevance-threshold=40", 2, "nothing would be a positive");
}

TEST(metrics_need_a_test_part)
{
    both("-c explicit.ini -o split.kind=none -o evaluate.metrics=rmse", 0, "there is nothing to evaluate on");
    both("-c explicit.ini -o split.kind=none -o run.compare=popularity", 0, "there is nothing to compare on");
    both("-c explicit.ini -o evaluate.metrics=rmse", 0, "");
    assert_null(strstr(command_err, "there is nothing"));
    both("-c explicit.ini -o split.kind=none", 0, "");
    assert_null(strstr(command_err, "there is nothing"));
}

TEST(losses_are_of_the_feedback)
{
    both("-c implicit.ini -o data.feedback=explicit", 2, "loss = implicit-als fits interactions");
    both("-c implicit.ini -o data.feedback=explicit -o evaluate.metrics=rmse", 2, "fits interactions");
    /* Values as weights of lists, as some papers have it: told, not refused. */
    both("-c implicit.ini -o data.feedback=explicit -o evaluate.metrics=ndcg", 0, "fits interactions");
    both("-c explicit.ini -o data.feedback=implicit", 2, "loss = explicit-als fits ratings");
    both("-c explicit.ini", 0, "");
    assert_null(strstr(command_err, " fits "));
    both("-c implicit.ini", 0, "");
    assert_null(strstr(command_err, " fits "));
    both("-c counts.ini", 0, "");
    assert_null(strstr(command_err, " fits "));
}

static double metric_of(const char *run, const char *name)
{
    json_t *json = command_json(run);
    const json_t *value = json_object_get(json_object_get(json, "metrics"), name);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(json);
    return number;
}

/* Numbers of plays: interactions whose confidence grows with them. */
TEST(counts_are_interactions_with_a_confidence)
{
    command_expect("-c counts.ini -O counts", 0, "");
    assert_true(metric_of("counts/run.json", "hr@10") >= 0);
    assert_true(metric_of("counts/run.json", "rmse") == -1);
    command_expect("-q -c counts.ini -o users.loss.confidence=0 -o items.loss.confidence=0 -O without", 0,
                   "");
    command_expect("-q -c counts.ini -o data.feedback=implicit -O ones", 0, "");
    command_expect("-q -c counts.ini -o data.feedback=implicit -o users.loss.confidence=0 -o "
                   "items.loss.confidence=0 -O plain",
                   0, "");
    static char a[1 << 16], b[1 << 16], c[1 << 16], d[1 << 16];
    command_slurp(command_path("counts/private/item_factors.npy"), a, sizeof a);
    command_slurp(command_path("without/private/item_factors.npy"), b, sizeof b);
    command_slurp(command_path("plain/private/item_factors.npy"), c, sizeof c);
    command_slurp(command_path("ones/private/item_factors.npy"), d, sizeof d);
    assert_int_equal(memcmp(b, c, 400), 0); /* without a confidence the counts do not matter */
    assert_int_not_equal(memcmp(a, b, 400), 0);
    assert_int_not_equal(memcmp(a, d, 400), 0);
    command_expect("check -c counts.ini -o data.value-min=-1", 2, "counts cannot be negative");
    training_file("negative.csv", "1,1,3\n1,2,-2\n");
    command_expect("-q -c counts.ini -o data.path=negative.csv -O negative", 3, "negative.csv:2");
}

TEST(messages_name_the_likely_cause)
{
    command_expect("-q -c explicit.ini -o model.users=8 -o model.items=50 -O refused", 2,
                   "Users and items look swapped");
    both("-c explicit.ini -o model.users=8", 2, "Users and items look swapped");
    both("-c explicit.ini -o model.items=5", 2, "the data has 8 items, but at most 5 are declared");
    assert_null(strstr(command_err, "swapped"));
    training_file("semicolon.csv", "a;b;3,5\nc;d;4,5\ne;f;1,5\n");
    command_expect("-c implicit.ini -o data.path=semicolon.csv -o data.column.rating=none -o split.kind=none "
                   "-O semicolon",
                   0,
                   "users such as \"a;b;3\" look like several fields: is data.delimiter = semicolon meant?");
    training_file("quoted.tsv", "\"a\"\t\"x\"\t3\n\"b\"\t\"y\"\t4\n\"c\"\t\"x\"\t4\n");
    command_expect("-c explicit.ini -o data.path=quoted.tsv -o data.format=tsv -o split.kind=none -O quoted",
                   0, "is format = csv, in which fields may be quoted meant?");
    command_expect("check -c explicit.ini -o data.delimiter=\\t", 2, "write tab for a TAB");
    command_expect("check -c explicit.ini -o data.delimiter=\t", 2, "write tab for a TAB");
}

/* Whoever reads a message knows ids, not rows. So little regularisation is lost in the rounding of a matrix that
   has three records for twelve unknowns. */
TEST(a_row_is_named_by_its_id)
{
    training_file("one-each.csv", "alice,x,3\nalice,y,4\nalice,z,1\n");
    command_expect(
        "-q -c explicit.ini -o data.path=one-each.csv -o split.kind=none -o users.loss.lambda=1e-30 "
        "-o model.rank=12 -O row",
        1, "user \"alice\"");
    assert_null(strstr(command_err, "user row"));
}

/* run.json is passed on; exact counts of private records are not for everybody. */
TEST(counts_of_records_stay_on_the_private_side)
{
    static const char *const counts[] = {"duplicates",
                                         "out_of_range_dropped",
                                         "out_of_range_clipped",
                                         "below_threshold_dropped",
                                         "ratings",
                                         "sha256",
                                         "value_mean"};
    training_file("dirty.csv", "a,x,3\na,x,4\na,y,9\nb,x,7\nb,y,2\nc,x,1\nc,y,5\n");
    command_expect(
        "-c explicit.ini -o data.path=dirty.csv -o data.out-of-range=clip -o split.kind=none -O dirty", 0,
        "2 values moved to an end of the declared range");
    json_t *run = command_json("dirty/run.json"), *data = command_json("dirty/private/data.json");
    assert_string_equal(json_string_value(json_object_get(data, "note")), "private: do not publish");
    assert_int_equal(json_integer_value(json_object_get(data, "out_of_range_clipped")), 2);
    assert_int_equal(json_integer_value(json_object_get(data, "duplicates")), 1);
    assert_null(json_object_get(run, "data"));
    json_object_del(run, "config"); /* keys of [data] have such names */
    char *text = json_dumps(run, 0);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", counts[i]);
        assert_non_null(json_object_get(data, counts[i]));
        if (strcmp(counts[i], "sha256") != 0) /* plugins have theirs; */
            assert_null(strstr(text, key));
    }
    /* that of the data is nowhere. */
    assert_null(strstr(text, json_string_value(json_object_get(data, "sha256"))));
    free(text);
    json_decref(run);
    json_decref(data);
    command_expect(
        "-q -c explicit.ini -o data.path=dirty.csv -o data.out-of-range=drop -o split.kind=none -O dropped",
        0, "");
    data = command_json("dropped/private/data.json");
    assert_int_equal(json_integer_value(json_object_get(data, "out_of_range_dropped")), 2);
    json_decref(data);
    /* Sums of duplicates can leave the range, too. */
    command_expect(
        "-q -c explicit.ini -o data.path=dirty.csv -o data.out-of-range=clip -o data.duplicates=sum -o "
        "split.kind=none -O summed",
        0, "");
    data = command_json("summed/private/data.json");
    assert_int_equal(json_integer_value(json_object_get(data, "out_of_range_clipped")), 3);
    json_decref(data);
    command_expect("similar dirty --item x", 0, "");
}

/* One sentence says whether the model is worth having; results do not depend on whether it is printed. */
TEST(a_run_ends_with_a_verdict)
{
    static char with[1 << 16], without[1 << 16], page[1 << 20];
    command_expect("-c implicit.ini -O told", 0, "");
    assert_non_null(strstr(command_out, "Verdict: "));
    assert_non_null(strstr(command_out, "popular"));
    /* The page has the same sentence, without training anything. */
    json_t *verdict = json_load_file(command_path("told/private/verdict.json"), 0, NULL);
    const char *words = json_string_value(json_object_get(verdict, "text"));
    assert_non_null(words);
    command_expect("report told", 0, "");
    command_slurp(command_path("told/private/report.html"), page, sizeof page);
    snprintf(with, sizeof with, "%.*s", (int)strcspn(words, "("), words);
    assert_non_null(strstr(page, with));
    json_decref(verdict);
    command_expect("-q -c implicit.ini -O untold", 0, "");
    assert_string_equal(command_out, "");
    command_slurp(command_path("told/private/metrics.csv"), with, sizeof with);
    command_slurp(command_path("untold/private/metrics.csv"), without, sizeof without);
    assert_string_equal(with, without);
    command_expect("-c explicit.ini -O told", 0, "");
    assert_non_null(strstr(command_out, "the model predicts "));
    assert_non_null(strstr(command_out, "rmse is "));
    command_expect("-c explicit.ini -o split.kind=none -O told", 0, "");
    assert_null(strstr(command_out, "Verdict"));
}

#define LAPLACE_QUICKSTART                                                                                   \
    "check -c %s/configs/quickstart.ini -o privacy.delta=0 -o accountants.list=pure -o "                     \
    "items.mechanism=laplace "                                                                               \
    "-o items.mechanism.epsilon=3 -o items.gram-share=.2 -o items.mechanism.where=sum "                      \
    "-o items.transform.clip-user.norm=l1"

/* On the usual grid the sums of any number of users would not fit: the plan takes a coarser one. */
TEST(grids_are_coarse_enough_for_any_number_of_users)
{
    char line[1024];
    snprintf(line, sizeof line, LAPLACE_QUICKSTART " --json", getenv("DPFRAME_SOURCE_DIR"));
    command_expect(line, 0, "");
    assert_null(strstr(command_out, "may leave 64 bits"));
}

TEST(a_component_that_was_renamed_says_so)
{
    char line[1024];
    snprintf(line, sizeof line, "check -c %s/configs/quickstart.ini -o items.mechanism=laplace-symmetric",
             getenv("DPFRAME_SOURCE_DIR"));
    command_expect(line, 2, "it is now called \"laplace\"");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    char text[8192] = "", *at = text;
    for (int u = 0; u < 30; u++)
        for (int i = 0; i < 8; i++)
            if ((u * 7 + i * 3) % 4)
                at += sprintf(at, "u%d,i%d,%d\n", u, i, (u * i) % 5 + 1);
    training_file("three.csv", text);
    training_file("explicit.ini", HEAD "offset = midpoint\n" FILE_OF(
                                      "three.csv") "value-min = 1\nvalue-max = 5\n"
                                                   "[split]\nkind = random\n" ALS("explicit-als", ""));
    training_file("implicit.ini",
                  HEAD FILE_OF("three.csv") "feedback = implicit\n[split]\nkind = leave-one-out\n"
                                            "by = random\n" ALS("implicit-als", ""));
    training_file("counts.ini", HEAD FILE_OF("three.csv") "feedback = counts\nvalue-max = 5\n[split]\nkind = "
                                                          "leave-one-out\nby = random\n" ALS(
                                                              "implicit-als", "confidence = 2\n"));
    return 0;
}

FIXTURE(begin, training_end)
