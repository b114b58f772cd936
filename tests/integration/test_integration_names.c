/* SPDX-License-Identifier: Apache-2.0 */
/* From a file of one's own to lists that people read: four forms of files, names of items, and forms of tables. */
#include <zlib.h>

#include "kit/test.h"
#include "kit/spawned.h"
#include "kit/training.h"

enum { USERS = 150, ITEMS = 30 };

static char slurped[1 << 16];

static void begins(const char *text, const char *with)
{
    if (strncmp(text, with, strlen(with)) != 0)
        fail_msg("\"%.80s\" does not begin with \"%s\"", text, with);
}

/* A record of each pair that a fixed rule takes, by a format of user and item. */
static void records_file(const char *name, const char *head, const char *format)
{
    static char text[1 << 19];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int user = 0; user < USERS; user++)
        for (int item = 0; item < ITEMS; item++)
            if ((user * 7 + item * item * 3) % 5 < 2 || item < 3 + user % 3)
                at +=
                    (size_t)snprintf(text + at, sizeof text - at, format, user, item, 1 + (user + item) % 5);
    training_file(name, text);
}

static void names_file(const char *name, const char *head, const char *format)
{
    static char text[1 << 14];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int item = 0; item < ITEMS; item++)
        at += (size_t)snprintf(text + at, sizeof text - at, format, item, item);
    training_file(name, text);
}

static const char facts[] =
    "feedback=explicit want=ranking users=200 items=40 epsilon=30 recipe=private-popularity";

/* One start, one run, and the list of user 3 has a name like that. */
static void lists_have_names(const char *file, const char *form, const char *user, const char *name)
{
    char line[512];
    snprintf(line, sizeof line, "start %s %s %s --output own.ini", file, facts, form);
    command_expect(line, 0, "");
    command_expect("run own.ini -q -O own", 0, "");
    snprintf(line, sizeof line, "recommend own --user %s -n 4", user);
    command_expect(line, 0, "");
    begins(command_out, "user,item,name,rank,score,audience\n");
    assert_non_null(strstr(command_out, name));
    assert_int_equal(unlink(command_path("own.ini")), 0);
}

TEST(a_file_of_semicolons)
{
    records_file("semi.csv", "", "u%d;%d;%d\n");
    names_file("films.csv", "", "%d;\"Film; the %dth (1999)\";Drama\n");
    lists_have_names("semi.csv", "delimiter=semicolon header=no fields=3 item-names=films.csv:2", "u3",
                     "Film; the ");
}

TEST(a_file_of_tabs)
{
    records_file("plays.tsv", "listener\tmovieId\tstars\n", "u%d\t%d\t%d\n");
    names_file("films.tsv", "year\ttitle\tmovieId\n1900\tNobody has it\t777\n", "1999\tFilm \"%d\"\t%d\n");
    lists_have_names("plays.tsv", "header=yes user=listener item=movieId item-names=films.tsv:title", "u3",
                     "\"Film \"\"");
}

TEST(a_file_of_double_colons)
{
    records_file("own.dat", "", "%d::%d::%d::978300760\n");
    names_file("films.dat", "", "%d::L\xe9on %d (1994)::Crime|Drama\n"); /* Latin-1 */
    lists_have_names("own.dat", "delimiter=double-colon header=no fields=4 item-names=films.dat:2", "3",
                     "L\xc3\xa9on ");
}

TEST(a_quoted_file)
{
    records_file("quoted.csv", "\"user\",\"film\",\"rating\"\n", "\"u%d\",\"Film, the %d\",\"%d\"\n");
    names_file("shown.csv", "\"film\",\"shown-as\"\n", "\"Film, the %d\",\"The \"\"%dth\"\" film\"\n");
    lists_have_names("quoted.csv", "header=yes item=film item-names=shown.csv:shown-as", "u3", "\"The \"\"");
    /* What was saved stands alone: neither file is needed for a list from own records. */
    training_file("mine.csv", "user,film,rating\nzoe,\"Film, the 1\",5\n");
    assert_int_equal(unlink(command_path("shown.csv")), 0);
    assert_int_equal(unlink(command_path("quoted.csv")), 0);
    command_expect("recommend own --data mine.csv --user zoe -n 4", 0, "");
    assert_non_null(strstr(command_out, "zoe,\"Film, the "));
    assert_non_null(strstr(command_out, "\"The \"\""));
    assert_int_equal(access(command_path("own/release/item_names.txt"), R_OK), 0);
}

/* ---- forms of tables -------------------------------------------------------------------------------------- */

static char *slurp(const char *name)
{
    gzFile file = gzopen(command_path(name), "rb"); /* plain ones, too */
    assert_non_null(file);
    const int n = gzread(file, slurped, sizeof slurped - 1);
    assert_true(n >= 0);
    slurped[n] = '\0';
    gzclose(file);
    return slurped;
}

TEST(tables_have_the_form_that_is_asked_for)
{
    records_file("plain.csv", "user,item,rating\n", "u%d,\"i\"\"%d\",%d\n");
    names_file("names.csv", "item,name\n", "\"i\"\"%d\",\"a\tb, \\%d\"\n");
    char line[512];
    snprintf(line, sizeof line, "start plain.csv %s header=yes item-names=names.csv:name --output plain.ini",
             facts);
    command_expect(line, 0, "");
    command_expect("run plain.ini -q -O plain", 0, "");
    command_expect("recommend plain --user u3 -n 2 --format jsonl", 0, "");
    begins(command_out, "{\"user\":\"u3\",\"item\":\"i\\\"");
    assert_non_null(strstr(command_out, "\"name\":\"a b, \\\\")); /* one line a name: a TAB is a blank */
    assert_non_null(strstr(command_out, "\",\"rank\":1,\"score\":"));
    command_expect("recommend plain --user u3 -n 2 --output list.tsv", 0, "");
    begins(slurp("list.tsv"), "user\titem\tname\trank\tscore\taudience\nu3\ti\"");
    assert_non_null(strstr(slurped, "a b, \\\\"));
    command_expect("recommend plain --user u3 -n 2 --output list.csv", 0, "");
    char plain[sizeof slurped];
    snprintf(plain, sizeof plain, "%s", slurp("list.csv"));
    assert_non_null(strstr(plain, "u3,\"i\"\""));
    command_expect("recommend plain --user u3 -n 2 --output list.csv.gz", 0, "");
    FILE *packed = fopen(command_path("list.csv.gz"), "rb");
    assert_non_null(packed);
    assert_int_equal(fgetc(packed), 0x1f);
    fclose(packed);
    assert_string_equal(slurp("list.csv.gz"), plain);
    command_expect("recommend plain --all -n 2 --output all.jsonl.gz", 0, "");
    assert_non_null(strstr(slurp("all.jsonl.gz"), "{\"user\":\"u0\""));
    /* Numbers on the right, so that they stand below each other. */
    command_expect("recommend plain --user u3 -n 10 --format text", 0, "");
    assert_non_null(strstr(command_out, "  10  "));
    assert_non_null(strstr(command_out, "   1  "));
    /* Pairs that are unknown have no number. */
    training_file("pairs.csv", "user,item\nu3,none\nu3,\"i\"\"5\"\n");
    command_expect("predict plain pairs.csv --format jsonl", 0, "1 pair");
    begins(command_out, "{\"user\":\"u3\",\"item\":\"none\",\"name\":\"\",\"prediction\":null}\n");
    command_expect("items plain -n 3 --format csv", 0, "");
    begins(command_out, "item,name\n\"i\"\"");
    command_expect("items plain -n 1", 0, "");
    begins(command_out, "i\"");
}

TEST(other_forms_are_refused_before_anything_runs)
{
    command_expect(
        "recommend no-such-run --user 1 --output x.parquet", 2,
        "--output x.parquet: \".parquet\" is no form that is written here: end the name with .csv");
    command_expect("predict no-such-run pairs.csv --output out.d/x.xlsx.gz", 2, "\".xlsx\" is no form");
    command_expect("similar no-such-run --item 1 --format xml", 2,
                   "--format xml: it is text, csv, tsv or jsonl");
    command_expect("items no-such-run --output x.json", 2, "\".json\" is no form");
    assert_int_not_equal(access(command_path("x.parquet"), F_OK), 0);
    command_expect("recommend plain --user u3 -n 1 --output x.dat --format csv", 0, "");
    begins(slurp("x.dat"), "user,item,");
}

/* Blanks and line ends become one blank each, in place: a statement is wrapped. */
static const char *joined_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!strchr(" \n", *from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
    return text;
}

/* What release/ has of a file is declared public there, and nothing is said of a file that is not named. */
TEST(the_statement_says_that_names_are_public)
{
    static const char said[] = "- The names of items ([data] item-names): declared public";
    assert_non_null(strstr(slurp("plain/release/guarantee.txt"), said));
    command_expect("run plain.ini -q -O unnamed -o data.item-names=", 0, "");
    assert_null(strstr(slurp("unnamed/release/guarantee.txt"), "item-names"));
}

/* Home terms of released metrics read the facts that no release of the model does. */
TEST(the_statement_says_that_metrics_read_facts)
{
    static const char declared[] = "features that are declared public";
    command_expect("run plain.ini -q -O facts -o data.item-features=names.csv -o "
                   "data.item-features.categories=name -o model.home-terms=only",
                   0, "");
    assert_null(strstr(joined_lines(slurp("facts/release/guarantee.txt")), declared));
    command_expect("run plain.ini -q -O facts -o data.item-features=names.csv -o "
                   "data.item-features.categories=name -o model.home-terms=only -o evaluate.metrics=ndcg -o "
                   "evaluate.release=noisy",
                   0, "");
    assert_non_null(strstr(joined_lines(slurp("facts/release/guarantee.txt")), declared));
}

/* ---- files of names that are wrong ------------------------------------------------------------------------ */

TEST(wrong_names_are_told)
{
    training_file("w.csv", "movieId,title\n1,One\n2,\n1,Again\n");
    training_file("titles.csv", "title,year\nOne,1999\n");
    training_file("empty.csv", "");
    command_expect("check plain.ini -o data.item-names=w.csv", 2,
                   "write FILE:COLUMN, such as movies.csv:title");
    command_expect("check plain.ini -o data.item-names=.:title", 3, "is a directory");
    command_expect("check plain.ini -o data.item-names=absent.csv:title", 3, "absent.csv");
    command_expect(
        "check plain.ini -o data.item-names=w.csv:name", 3,
        "w.csv:1: data.item-names names column name, but the first line has 2 field(s) separated by ',', "
        "and none of that name");
    command_expect("check plain.ini -o data.item-names=w.csv:3", 3,
                   "names column 3, but the first line has 2");
    command_expect("check plain.ini -o data.item-names=titles.csv:title", 3,
                   "where the item's id is expected");
    command_expect("check plain.ini -o data.item-names=empty.csv:title", 3,
                   "empty.csv:1: the first line is empty");
    command_expect("run plain.ini -q -O other -o data.item-names=w.csv:title", 3,
                   "w.csv:4: \"1\" occurs twice");
    /* Names that are missing stop nothing: which items there are may be private. */
    training_file("w.csv", "movieId,title\n\"i\"\"1\",One\n\"i\"\"2\",\n");
    command_expect("run plain.ini -O other -o data.item-names=w.csv:title", 0,
                   "29 of the 30 items have no name");
    command_expect("recommend other --user u3 -n 20", 0, "");
    begins(command_out, "user,item,name,");
}

static int begin(void **state)
{
    return training_begin(state);
}

FIXTURE(begin, training_end)
