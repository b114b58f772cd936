/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of neighbours between which one line, or one file, once decided something for everybody: what the outside
 * sees of a proved run (exit status, names and sizes of released files, lists, statement) is the same for both.
 */
#include "integration/command_fixture.h"

#define MODEL(RECOMMENDER)                                                                                   \
    "[split]\nkind = none\n[model]\nrecommender = " RECOMMENDER "\nusers = 300\nitems = 10\n"                \
    "[parties]\nkind = curator\n[accountants]\nlist = pld\n"
#define BUDGET "delta = 1e-5\nbudget = total\ntotal-epsilon = 3\ncalibrate-by = pld\n"
#define COMES "[privacy]\nunit = user\nadjacency = add-remove\n" BUDGET
#define RATINGS "[data]\nheader = no\nfields = 3\nitems-file = items.txt\nvalue-min = 1\nvalue-max = 5\n"
#define RATINGS_NAMED "[data]\nheader = yes\nitems-file = items.txt\nvalue-min = 1\nvalue-max = 5\n"

static void write_items(void)
{
    training_file("items.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
}

/* Runs the configuration on a file into a directory; the exit status. */
static int run_on(const char *data, const char *out)
{
    char line[512];
    snprintf(line, sizeof line, "rm -rf %s; $D run pair.ini -q -o 'data.path=%s' -O %s >%s.log 2>&1", out,
             data, out, out);
    return shell(line);
}

/* Both runs end with that status, and what is released looks the same. proved: the statement has an epsilon. */
static void expect_same(const char *config, const char *first, const char *second, int status, int proved)
{
    training_file("pair.ini", config);
    assert_int_equal(run_on(first, "one"), status);
    assert_int_equal(run_on(second, "two"), status);
    if (status != 0) {
        assert_int_equal(shell("test ! -e one/release && test ! -e two/release"), 0);
        return;
    }
    /* How many directions of the model are above its noise is for the noise to say: its size is left out. */
    assert_int_equal(
        shell("for d in one two; do (cd $d/release && ls && wc -c [!m]*) >$d.ls; done; cmp one.ls two.ls"),
        0);
    assert_int_equal(shell("cmp one/release/guarantee.txt two/release/guarantee.txt && cmp "
                           "one/release/item_ids.txt two/release/item_ids.txt"),
                     0);
    assert_int_equal(shell("grep -q 'C11.*holds' one/release/guarantee.txt && ! grep -q FAILS "
                           "one/release/guarantee.txt"),
                     proved ? 0 : 1);
}

/* Others' records are the same in both runs: the lists of users' own files without those of the unit. */
static void expect_users(const char *out, const char *ids)
{
    char line[512];
    snprintf(line, sizeof line, "printf '%s' | cmp - %s.ids", ids, out);
    assert_int_equal(shell(line), 0);
}

/* Whether a name says that a file is compressed is all there is to it: each plain file of that name is refused. */
TEST(the_first_bytes_of_a_file_do_not_decide_that_it_is_compressed)
{
    write_items();
    training_file("d.csv.gz", "1,1,5\n2,2,4\n");
    training_file("e.csv.gz", "\x1f\x8b"
                              "1,1,5\n1,1,5\n2,2,4\n");
    training_file("empty.csv.gz", "");
    expect_same(RATINGS MODEL("private-biases") COMES, "d.csv.gz", "e.csv.gz", 3, 0);
    expect_same(RATINGS MODEL("private-biases") COMES, "d.csv.gz", "empty.csv.gz", 3, 0);
    assert_int_equal(shell("grep -q 'not compressed by gzip' one.log"), 0);
}

/* A byte order mark belongs to the line that it begins, wherever that stands. */
TEST(a_mark_at_the_start_of_a_line_is_read_alike_anywhere)
{
    static const char *const data[] = {"6,1,5\n\xef\xbb\xbf"
                                       "5,2,4\n7,3,2\n",
                                       "\xef\xbb\xbf"
                                       "5,2,4\n7,3,2\n6,1,5\n",
                                       "7,3,2\n6,1,5\n\xef\xbb\xbf"
                                       "5,2,4\n",
                                       "7,3,2\n6,1,5\n\"\xef\xbb\xbf"
                                       "5\",2,4\n"};
    write_items();
    for (int i = 0; i < 3; i++) {
        char name[16], config[1024];
        snprintf(name, sizeof name, "m%d.csv", i);
        training_file(name, data[i]);
        snprintf(config, sizeof config,
                 "[data]\nheader = no\nfields = 3\npath = %s\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = "
                 "none\n[model]\nkind = mean\n",
                 name);
        training_file("marks.ini", config);
        assert_int_equal(
            shell("rm -rf out; $D run marks.ini -q -O out >log 2>&1 && cat out/*/user_ids.txt >out.ids"), 0);
        expect_users("out", "5\\n6\\n7\\n");
    }
}

/* Whether there are times follows from headers, not from which file has records. */
TEST(files_have_the_same_columns_or_are_refused)
{
    static const char *const second[] = {"user,item,rating\n1,2,5\n", "user,item,rating\n"};
    static const char *const wrong[] = {"", "user,rating\n", "user,item,rating\n"};
    write_items();
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%d-1.csv", i);
        training_file(name, "user,item,rating,time\n2,2,5,9\n2,2,1,3\n3,3,3,1\n");
        snprintf(name, sizeof name, "u%d-2.csv", i);
        training_file(name, second[i]);
    }
    expect_same(RATINGS_NAMED MODEL("private-biases") COMES, "u0-*.csv", "u1-*.csv", 3, 0);
    assert_int_equal(shell("grep -q 'data.column.time' one.log"), 0);
    expect_same(RATINGS_NAMED "column.time = none\n" MODEL("private-biases") COMES, "u0-*.csv", "u1-*.csv", 0,
                1);
    /* A header without a column, or none at all: refused before a record is read, by check too. */
    training_file("h-1.csv", "user,item,rating\n1,2,5\n");
    for (int i = 0; i < 2; i++) {
        training_file("h-2.csv", wrong[i]);
        training_file("pair.ini", RATINGS_NAMED MODEL("private-biases") COMES);
        assert_int_equal(run_on("h-*.csv", "one"), 3);
        assert_int_equal(shell("$D check pair.ini -o 'data.path=h-*.csv' >/dev/null 2>&1"), 3);
    }
    training_file("h-2.csv", wrong[2]);
    assert_int_equal(run_on("h-*.csv", "one"), 0);
    assert_int_equal(
        shell("tr -s ' \\n' ' ' <one/release/guarantee.txt | grep -q 'their number, and the header of "
              "each'"),
        0);
}

/* A data set without a record is a data set. */
TEST(an_empty_file_has_the_times_that_are_declared)
{
    static const char form[] =
        "[data]\nheader = no\nfields = 4\nitems-file = items.txt\nfeedback = implicit\n";
    static const char *const uses[] = {"[split]\nkind = leave-one-out\nby = time\n",
                                       "filter.user-max = 1\nfilter.keep = latest\n[split]\nkind = none\n"};
    char config[2048];
    write_items();
    training_file("some.csv", "1,1,5,3\n1,2,5,4\n");
    training_file("none.csv", "");
    for (int i = 0; i < 2; i++) {
        snprintf(config, sizeof config,
                 "%s%s[model]\nrecommender = private-popularity\nusers = 60\nitems = 10\n[parties]\nkind = "
                 "curator\n[accountants]\nlist = pld\n" COMES,
                 form, uses[i]);
        expect_same(config, "some.csv", "none.csv", 0, 1);
    }
}

/* Sections are proved nothing about, and the statement says what to do. */
TEST(a_section_moves_the_records_of_others)
{
    write_items();
    training_file("n.txt", "1:\n1,5,2001-01-01\n2,3,2001-01-02\n");
    training_file("pair.ini", "[data]\nformat = netflix\nitems-file = items.txt\nfeedback = implicit\n" MODEL(
                                  "private-popularity") COMES);
    assert_int_equal(run_on("n.txt", "one"), 0);
    assert_int_equal(
        shell("tr -s ' \\n' ' ' <one/release/guarantee.txt | grep -q 'C11 whole input FAILS.*use "
              "\\[data\\] format = csv'"),
        0);
}

/* A user without one valid record: the lists and numbers are public ones, or nothing is proved. */
TEST(a_user_without_a_valid_record_stays_on_a_public_list)
{
    static const char *const adjacencies[] = {"replace", "zero-out"};
    static const char *const last[] = {"40,3,5\n", "40,3,9\n", "40,4,5\n", "40,3,x\n"};
    static const char *const lists[] = {"users = 40\n", "", "id-lists = public\n"};
    char text[4096], config[2048], name[16];
    write_items();
    for (int f = 0; f < 4; f++) {
        size_t used = 0;
        for (int u = 1; u < 40; u++)
            for (int k = 0; k < 3; k++)
                used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d\n", u,
                                         1 + (u + 3 * k) % 10, 1 + (u + k) % 5);
        snprintf(text + used, sizeof text - used, "%s", last[f]);
        snprintf(name, sizeof name, "v%d.csv", f);
        training_file(name, text);
    }
    for (int a = 0; a < 2; a++)
        for (int l = 0; l < 3; l++) {
            snprintf(config, sizeof config,
                     RATINGS
                     "out-of-range = drop\n[split]\nkind = none\n[model]\nrecommender = private-gram\nitems "
                     "= 10\n%s[parties]\nkind = curator\n[accountants]\nlist = pld\n[privacy]\nunit = "
                     "user\nadjacency = %s\n" BUDGET "%s",
                     l == 0 ? lists[l] : "", adjacencies[a], l == 2 ? lists[l] : "");
            if (l == 1) {
                training_file("pair.ini", config);
                assert_int_equal(run_on("v0.csv", "one"), 0);
                assert_int_equal(
                    shell("tr -s ' \\n' ' ' <one/release/guarantee.txt | grep -q 'C11 whole input "
                          "FAILS.*\\[model\\] users.*users-file.*id-lists'"),
                    0);
                continue;
            }
            for (int f = 1; f < 4; f++) {
                snprintf(name, sizeof name, "v%d.csv", f);
                expect_same(config, "v0.csv", name, 0, 1);
                if (l == 2)
                    assert_int_equal(shell("cmp one/private/user_ids.txt two/private/user_ids.txt"), 0);
            }
        }
    /* Fewer are declared than there are: nothing compares the two. */
    snprintf(config, sizeof config,
             RATINGS
             "[split]\nkind = none\n[model]\nrecommender = private-gram\nitems = 10\nusers = "
             "39\n[parties]\nkind = curator\n[accountants]\nlist = pld\n[privacy]\nunit = user\nadjacency "
             "= replace\n" BUDGET);
    expect_same(config, "v0.csv", "v3.csv", 0, 1);
    assert_int_equal(shell("grep -q 'more users than' one.log"), 0); /* the curator is told */
}

/* Who takes part in a group that follows from ids is nobody's draw: it is not compared with a rate. */
TEST(groups_that_follow_from_ids_are_not_compared_with_their_rate)
{
    char few[4096] = "", many[4096] = "";
    write_items();
    training_file(
        "pair.ini",
        "[run]\nrounds = 1\norder = users, items\n"
        "[data]\nheader = no\nfields = 3\nitems-file = items.txt\nfeedback = implicit\n"
        "[split]\nkind = none\n[model]\nusers = 100\nitems = 10\nrank = 2\n"
        "[parties]\nkind = curator\n"
        "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.02\n"
        "[items]\nloss = implicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\n"
        "solver = ball\nsampler = cyclic-users\n[items.sampler]\ngroups = 10\n"
        "[items.transform.clip-user]\nnorm = l2\nbound = 2\n"
        "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
        "[items]\ngram-share = 0.2\n"
        "[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-5\n[accountants]\nlist = pld\n");
    /* They are all of one group of ten, which follows from the ids and [run] seed. */
    static const int ids[] = {14, 44, 75, 78, 88, 102, 112, 118, 122, 132, 156, 165, 186, 192, 194};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char line[32];
        snprintf(line, sizeof line, "%d,%d,1\n", ids[i], 1 + (int)i % 10);
        strcat(many, line);
        if (i + 1 < sizeof ids / sizeof *ids)
            strcat(few, line);
    }
    training_file("few.csv", few);
    training_file("many.csv", many);
    assert_int_equal(run_on("few.csv", "one"), 0);
    assert_int_equal(run_on("many.csv", "two"), 0);
    assert_int_equal(shell("grep -q departed two/release/guarantee.txt"), 1);
    assert_int_equal(shell("cmp one/release/guarantee.txt two/release/guarantee.txt"), 0);
}

#define SUMS(USERS, HONEST)                                                                                  \
    "[data]\nheader = no\nfields = 3\nitems-file = items.txt\nusers-file = users.txt\nvalue-min = 1\n"       \
    "value-max = 5\n[split]\nkind = none\n[model]\nrecommender = private-gram\nitems = 10\nusers = " USERS   \
    "\naggregator = secagg\n[privacy]\nmin-honest = " HONEST "\nmax-curious = 1\n[parties]\nkind = users\n"  \
    "[accountants]\nlist = rdp\n[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\n"           \
    "delta = 1e-5\nbudget = total\ntotal-epsilon = 3\n"

static int check_on(const char *data)
{
    char line[256];
    snprintf(line, sizeof line, "$D check pair.ini -q -o 'data.path=%s' >check.log 2>&1", data);
    return shell(line);
}

/* Lists that are public are counted by check, and what follows from them is told whatever lines say. */
TEST(a_list_that_does_not_fit_is_refused_whatever_lines_say)
{
    static const struct {
        const char *config, *says;
    } cases[] = {{SUMS("5", "2"), "at most 5 are declared"},
                 {SUMS("40", "30"), "are 8, so no sum"},
                 {RATINGS "column.user = 1\ncolumn.item = 1\n[split]\nkind = none\n[model]\nkind = mean\n",
                  "column.user is column 1, too"}};
    write_items();
    training_file("users.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    training_file("fine.csv", "1,1,5\n2,2,4\n3,1,2\n4,4,4\n");
    training_file("faulty.csv", "1,1,5\n2,2,4\n3,1,x\n4,4,4\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        expect_same(cases[i].config, "fine.csv", "faulty.csv", 2, 0);
        assert_int_equal(check_on("fine.csv"), 2);
        snprintf(line, sizeof line, "for f in one two check; do grep -q '%s' $f.log || exit 1; done",
                 cases[i].says);
        assert_int_equal(shell(line), 0);
    }
    training_file("pair.ini", SUMS("40", "4"));
    assert_int_equal(check_on("faulty.csv"), 0);
    assert_int_equal(run_on("faulty.csv", "one"), 0);
}

/* What is measured beside a run reads raw records: a weight that a transform refuses there stops nothing. */
TEST(a_weight_that_is_out_of_bounds_stops_no_measurement)
{
    static const char config[] =
        "[data]\nformat = csv\nheader = no\nfields = 4\ncolumn.time = none\ncolumn.privacy-weight = 4\n"
        "items-file = items.txt\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = none\n[run]\nrounds = "
        "2\norder "
        "= items, users\n[model]\nrank = 2\nusers = 40\noffset = value\noffset-value = 3\n[parties]\nkind = "
        "users\n[users]\nloss = squared-error\ntransforms = stretch\nsolver = "
        "gradient-descent\n[users.transform.stretch]\ncenter = 3\n[items]\nloss = squared-error\ntransforms "
        "= "
        "stretch, clip-user\nmechanism = gaussian\naggregator = sum\nsolver = "
        "gradient-descent\n[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = "
        "sum\n[items.transform.stretch]\ncenter = "
        "3\n[items.transform.clip-user]\nbound = 1\n[evaluate]\nmetrics = rmse\ntrain = "
        "yes\n[accountants]\nlist = pld\n[privacy]\nunit = user\nadjacency = add-remove\n" BUDGET;
    write_items();
    training_file("fine.csv", "1,1,5,.5\n2,2,4,1\n3,1,2,.2\n");
    training_file("heavy.csv", "1,1,5,.5\n2,2,4,1\n3,1,2,4\n");
    expect_same(config, "fine.csv", "heavy.csv", 0, 1);
    assert_int_equal(shell("grep -q 'privacy weight is not above 0' two/private/violations.txt"), 0);
}

/* What a file with records says is not public, whichever key names it: nothing is proved, and the key is named. */
TEST(a_file_with_records_is_no_public_file)
{
    static const char *const keys[] = {"item-names = fine.csv:3", "users-file = ./fine.csv:1"};
    write_items();
    training_file("fine.csv", "1,1,5\n2,2,4\n3,1,2\n4,4,4\n");
    training_file("own.csv", "1,1,5\n2,2,4\n3,1,2\n4,4,4\n");
    for (int i = 0; i < 2; i++) {
        char config[2048], line[256];
        snprintf(config, sizeof config, RATINGS "%s\n" MODEL("private-biases") COMES, keys[i]);
        training_file("pair.ini", config);
        assert_int_equal(run_on("own.csv", "one"), 0);
        assert_int_equal(shell("grep -q 'C11.*holds' one/release/guarantee.txt"), 0);
        assert_int_equal(run_on("fine.csv", "two"), 0);
        snprintf(line, sizeof line,
                 "tr -s ' \\n' ' ' <two/release/guarantee.txt | grep -q 'These conditions fail: C11.*"
                 "FAILS \\[data\\] %.*s: what a file with records says'",
                 (int)strcspn(keys[i], " "), keys[i]);
        assert_int_equal(shell(line), 0);
    }
}

FIXTURE(begin, training_end)
