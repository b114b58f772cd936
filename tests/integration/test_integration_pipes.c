/* SPDX-License-Identifier: Apache-2.0 */
/* Records, items and pairs through pipes: a database's client feeds a run, and what cannot be read again says so. */
#include <sys/stat.h>

#include "integration/command_fixture.h"

static const char facts[] =
    "feedback=implicit users=700 items=40 epsilon=30 header=yes recipe=private-popularity";
static char first[1 << 16];

static void make_file(const char *name)
{
    static char text[1 << 17];
    size_t at = (size_t)snprintf(text, sizeof text, "user,item,rating\n");
    for (int user = 0; user < 150; user++)
        for (int item = 0; item < 30; item++)
            if ((user * 7 + item * item * 3) % 5 < 2 || item < 3 + user % 3)
                at += (size_t)snprintf(text + at, sizeof text - at, "u%d,i%d,%d\n", user, item, 1 + item % 5);
    training_file(name, text);
}

static int begin_own(void **state)
{
    char line[512];
    if (begin(state) != 0)
        return -1;
    make_file("own.csv");
    snprintf(line, sizeof line, "start own.csv %s --output own.ini", facts);
    command_expect(line, 0, "");
    return 0;
}

static const char *slurped(const char *name)
{
    command_slurp(command_path(name), first, sizeof first);
    return first;
}

/* Released bytes do not depend on how the file came. */
TEST(a_pipe_is_as_good_as_a_file)
{
#define SEEDED " -q -o privacy.randomness=reproducible -o privacy.noise-seed=5 -o run.verdict=no "
    assert_int_equal(shell("$D run own.ini" SEEDED "-O file 2>err"), 0);
    assert_int_equal(shell("mkdir kept && cat own.csv | TMPDIR=./kept $D run own.ini" SEEDED
                           "-o data.path=- -O piped 2>err"),
                     0);
    assert_int_equal(shell("cmp file/release/model/base.npy piped/release/model/base.npy"), 0);
    assert_int_equal(shell("$D run own.ini" SEEDED "-o data.path=- -O redirected <own.csv 2>err"), 0);
    assert_int_equal(shell("cmp file/release/model/base.npy redirected/release/model/base.npy"), 0);
    assert_int_equal(mkfifo(command_path("fifo"), 0600), 0);
    assert_int_equal(
        shell("(cat own.csv >fifo &) ; $D run own.ini" SEEDED "-o data.path=fifo -O named 2>err"), 0);
    assert_int_equal(shell("cmp file/release/model/base.npy named/release/model/base.npy"), 0);
    /* Quotes turn up late, so that it is read twice. */
    assert_int_equal(shell("{ cat own.csv; echo '\"u0\",\"i7\",4'; } | TMPDIR=./kept $D run own.ini" SEEDED
                           "-o data.path=- -O quoted 2>err"),
                     0);
    assert_int_equal(shell("test -z \"$(ls -A kept)\""), 0);
    /* The configuration of the run names the pipe, and not where it was kept. */
    assert_non_null(strstr(slurped("piped/config.ini"), "path = -\n"));
}

TEST(items_and_records_are_read_from_pipes)
{
    assert_int_equal(shell("$D recommend file --data own.csv --user u3 -n 5 >a 2>err"), 0);
    assert_int_equal(
        shell("grep -e user -e '^u3,' own.csv | $D recommend file --data - --user u3 -n 5 >b 2>err"), 0);
    assert_int_equal(shell("cmp a b"), 0);
    assert_int_equal(
        shell("printf 'i20\\ni21\\ni22\\n' | $D recommend file --user u3 --candidates - >a 2>err"), 0);
    assert_non_null(strstr(slurped("a"), "u3,i2"));
    assert_null(strstr(first, ",i1"));
    assert_int_equal(shell("printf 'user,item\\nu3,i2\\n' | $D predict file - >a 2>err"), 0);
    assert_non_null(strstr(slurped("a"), "u3,i2,"));
    assert_int_equal(shell("cat own.csv | $D recommend file --data - --user u3 --exclude - 2>err"), 2);
    assert_non_null(strstr(slurped("err"),
                           "data.path and --exclude both read standard input: name a file for one of them"));
}

TEST(what_needs_the_records_again_says_so)
{
    assert_int_equal(shell("$D recommend piped --user u3 2>err"), 3);
    assert_non_null(strstr(slurped("err"), "it read them from standard input"));
    assert_non_null(strstr(first, "--data FILE"));
    assert_int_equal(shell("$D recommend piped --data own.csv --user u3 >a 2>err"), 0);
    assert_int_equal(shell(": | $D run own.ini -q -o data.path=- -O none 2>err"), 3);
    assert_non_null(strstr(slurped("err"), "/dev/stdin: this file is empty, so it has no header"));
    assert_int_equal(shell("$D run own.ini -q -o data.path=- -O none <&- 2>err"), 3);
    /* A client that was not told to write a header. */
    assert_int_equal(
        shell("sed 's/[a-z]//g' own.csv | tail -n +2 | $D run own.ini -q -o run.verdict=no -o run.compare= "
              "-o data.path=- -O headless 2>err"),
        0);
    assert_non_null(strstr(slurped("err"),
                           "the header has numbers and no names: if it is a record, set data.header = no"));
    assert_int_equal(
        shell("cat own.csv | TMPDIR=./no-such-place $D run own.ini -q -o data.path=- -O none 2>err"), 1);
    assert_non_null(strstr(slurped("err"), "set TMPDIR to a directory with room"));
    assert_false(command_exists("none/run.json"));
}

/* The line of the tutorial, word by word, on a million rows. */
TEST(a_database_feeds_a_run)
{
    char command[1024], path[512];
    static char page[1 << 17];
    if (shell("sqlite3 -version >/dev/null 2>&1") != 0) {
        print_message("sqlite3 is not installed: left out (scripts/setup installs it)\n");
        return;
    }
    snprintf(path, sizeof path, "%s/docs/tutorial.md", getenv("DPFRAME_SOURCE_DIR"));
    command_slurp(path, page, sizeof page);
    char *line = strstr(page, "\nsqlite3 -csv");
    assert_non_null(line);
    line[1 + strcspn(line + 1, "\n")] = '\0';
    char *program = strstr(line, "build/release/dpframe");
    assert_non_null(program);
    snprintf(command, sizeof command, "%.*s$D -q%s", (int)(program - line - 1), line + 1,
             program + strlen("build/release/dpframe"));
    /* "dpframe run": options follow the command */
    char *quiet = strstr(command, "$D -q run");
    assert_non_null(quiet);
    memcpy(quiet, "$D run -q", strlen("$D run -q"));
    assert_int_equal(shell("sqlite3 ratings.db \"create table ratings(user text, item text, rating integer);"
                           "with recursive n(i) as (select 0 union all select i + 1 from n where i < 999999)"
                           "insert into ratings select 'u' || (i % 20000), 'i' || ((i / 20000 * 7 + i % 13) "
                           "% 400), 1 + i % 5 from n\""),
                     0);
    assert_int_equal(
        shell("printf 'user,item,rating\\nu1,i1,5\\n' >sample.csv && $D start sample.csv feedback=implicit "
              "users=20000 items=400 epsilon=3 header=yes recipe=private-popularity --output mine.ini >out"),
        0);
    strncat(command, " -o run.verdict=no -o data.duplicates=last 2>err",
            sizeof command - strlen(command) - 1);
    if (shell(command) != 0)
        fail_msg("%s: %s", command, slurped("err"));
    assert_int_equal(shell("grep -q '\"lines\": 1000001' results/from-db/private/data.json"), 0);
}

/* A catalogue with films that nobody has: the release says nothing of them, and lists leave them out unless they are named. */
TEST(unknown_items_enter_lists_when_they_are_named)
{
    char ids[1024] = "";
    for (int item = 0; item < 200; item++)
        sprintf(ids + strlen(ids), "i%d\n", item);
    training_file("catalogue.txt", ids);
    training_file("zoe.csv", "user,item,rating\nzoe,i1,5\n");
    assert_int_equal(
        shell("$D start own.csv feedback=explicit want=ratings users=700 items=200 value-min=1 value-max=5 "
              "epsilon=30 header=yes recipe=private-ratings items-file=catalogue.txt --output rate.ini >out"),
        0);
    assert_int_equal(shell("$D run rate.ini" SEEDED "-O rated 2>err"), 0);
    assert_int_equal(shell("$D recommend rated --data zoe.csv --user zoe -n 300 >some 2>err"), 0);
    assert_int_equal(
        shell("$D recommend rated --data zoe.csv --user zoe -n 300 --candidates catalogue.txt >all 2>err"),
        0);
    assert_int_equal(shell("test $(wc -l <all) = 200"), 0); /* a head, and all but the own record */
    assert_int_equal(shell("n=$(wc -l <some) && test $n -gt 29 && test $n -lt 130"), 0);
    /* The page says how far lists reach. */
    assert_int_equal(shell("$D report rated >out 2>err && grep -q 'Lists reach [0-9]* of 200 items' "
                           "rated/private/report.html"
                           " && grep -q 'items are in no list' rated/private/report.html"),
                     0);
}

/* A file whose header is missing would lose its first record. */
TEST(a_first_line_that_names_an_item_is_no_header)
{
    training_file("bare.csv", "u3,i5,4\nu3,i6,4\n");
    command_expect(
        "predict file bare.csv", 3,
        "bare.csv:1: this line is read as the header that the run's own file has, but \"i5\" is an item of "
        "the model: put a header before it");
    command_expect("recommend file --data bare.csv --user u3", 3,
                   "bare.csv:1: this line is read as the header");
    command_expect("evaluate file --data bare.csv", 3, "bare.csv:1: this line is read as the header");
}

FIXTURE(begin_own, training_end)
