/* SPDX-License-Identifier: Apache-2.0 */
/* What a file looks like: each usual form is recognised, and what is no text is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/test.h"
#include "start/look.h"

static char path[] = "/tmp/dpframe-look-XXXXXX";

static void write_file(const char *content, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Roles are columns from 1; 0: none. */
static const struct form {
    const char *text, *format, *delimiter;
    int header, fields, user, item, rating, time;
} forms[] = {
    {"1;31;2.5;1260759144\n1;1029;3;1260759179\n2;10;4;835355493\n", "csv", "semicolon", 0, 4, 1, 2, 3, 4},
    {"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n2,7,3,1260759144\n", "csv", NULL, 1, 4, 1, 2, 3,
     4},
    {"196\t242\t3\t881250949\n186\t302\t3\t891717742\n", "tsv", NULL, 0, 4, 1, 2, 3, 4},
    {"1::1193::5::978300760\n1::661::3::978302109\n", "csv", "double-colon", 0, 4, 1, 2, 3, 4},
    {"1 31 5\n1 12 3\n2 4 1\n", "csv", "spaces", 0, 3, 1, 2, 3, 0},
    {"a|x|1\nb|y|0\n", "csv", "pipe", 0, 3, 1, 2, 3, 0},
    {"\"user\",\"title\",\"stars\"\n\"1\",\"Heat, part \"\"2\"\"\",\"5\"\n\"2\",\"Alien\",\"4\"\n", "csv",
     NULL, 1, 3, 1, 2, 3, 0},
    {"uid\tsongId\n1\t4\n2\t5\n", "tsv", NULL, 1, 2, 1, 2, 0, 0},
    {"user_id:token\titem_id:token\trating:float\n1\t2\t3\n", "recbole", NULL, 1, 3, 1, 2, 3, 0},
    {"when;who;what;stars\n2020-01-02T10:00:00Z;u1;i1;3\n2020-01-03T10:00:00Z;u2;i9;4\n", "csv", "semicolon",
     1, 4, 2, 3, 4, 1},
    {"ratings,userid,itemid\n5,u1,i1\n4,u2,i2\n", "csv", NULL, 1, 3, 2, 3, 1, 0},
    {"anna,heat\nbea,alien\n", "csv", NULL, 0, 2, 1, 2, 0, 0},
    {"\xef\xbb\xbfuser,item\r\n1,2\r\n", "csv", NULL, 1, 2, 1, 2, 0, 0},
    {"1;31;2,5\n1;1029;3,0\n", "csv", "semicolon", 0, 3, 1, 2, 0, 0},
    {"alone\n", "csv", NULL, 0, 1, 1, 0, 0, 0},
};

TEST(usual_forms_are_recognised)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct form *form = &forms[i];
        const int columns[LOOK_ROLES] = {form->user, form->item, form->rating, form->time};
        struct dpf_error error = {0};
        struct look look;
        write_file(form->text, strlen(form->text));
        assert_int_equal(look_at(path, 0, &look, &error), 0);
        if (strcmp(look.format, form->format) != 0 ||
            strcmp(look.delimiter ? look.delimiter : "", form->delimiter ? form->delimiter : "") != 0 ||
            look.has_header != form->header || look.fields != form->fields)
            fail_msg("form %zu: %s, %s, header %d, %lld fields", i, look.format,
                     look.delimiter ? look.delimiter : "-", look.has_header, (long long)look.fields);
        for (int role = 0; role < LOOK_ROLES; role++)
            if (look.columns[role] + 1 != columns[role])
                fail_msg("form %zu: role %d is column %d, not %d", i, role, look.columns[role] + 1,
                         columns[role]);
    }
}

TEST(the_table_shows_names_and_values)
{
    struct dpf_error error = {0};
    struct text table = {0};
    struct look look;
    const char *content = "user;what\nzoe;heat\nyan;\x1b[31malien\n";
    write_file(content, strlen(content));
    assert_int_equal(look_at(path, 0, &look, &error), 0);
    look_table(&look, "mine.csv", &table);
    assert_non_null(strstr(table.data, "mine.csv by its first 3 lines"));
    assert_non_null(strstr(table.data, "user     user"));
    assert_non_null(strstr(table.data, "zoe, yan"));
    assert_non_null(strstr(table.data, "separated by semicolon"));
    assert_null(strchr(table.data, '\x1b')); /* values are shown, not sent to the terminal */
    text_free(&table);
}

TEST(what_is_no_text_is_named)
{
    static const struct {
        const char *content;
        size_t length;
        const char *named;
    } files[] = {{"PAR1\x15\x04", 6, "Parquet"},
                 {"\xff\xfeu\0s\0", 6, "UTF-16"},
                 {"PK\3\4abc", 7, "Excel"},
                 {"SQLite format 3\0abc", 19, "SQLite"},
                 {"{\"user\": 1, \"item\": 2}\n", 23, "JSON"},
                 {"a,b\n1,\0\n", 8, "not text"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct dpf_error error = {0};
        struct look look;
        write_file(files[i].content, files[i].length);
        assert_int_equal(look_at(path, 0, &look, &error), -1);
        assert_int_equal(error.fault, DPF_FAULT_DATA);
        assert_non_null(strstr(error.text, files[i].named));
        assert_non_null(strstr(error.text, path));
    }
}

/* A catalogue: the id's column alone is looked for, and blanks are part of ids. */
TEST(lists_of_items_are_recognised)
{
    static const struct {
        const char *text, *delimiter, *first;
        int header, fields, item;
    } lists[] = {
        {"1::Toy Story (1995)::Animation|Comedy\n2::Jumanji (1995)::Adventure\n", "double-colon", "1, 2", 0,
         3, 0},
        {"movieId,title\n1,\"Heat, part \"\"2\"\"\"\n2,Alien\n", "comma", "1, 2", 1, 2, 0},
        {"title;item\n\"Heat; or not\";h\nAlien;a\n", "semicolon", "h, a", 1, 2, 1},
        {"The Matrix\nDie Hard\nTop Gun\n", "comma", "The Matrix, Die Hard, Top Gun", 0, 1, 0},
        {"item\n17\n18\n", "comma", "17, 18", 1, 1, 0},
        {"1|Toy Story|x\n2|GoldenEye|y\n", "pipe", "1, 2", 0, 3, 0},
        {"a\tb\nc\td\n", "tab", "a, c", 0, 2, 0},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct dpf_error error = {0};
        struct look look;
        write_file(lists[i].text, strlen(lists[i].text));
        assert_int_equal(look_at(path, 1, &look, &error), 0);
        if (strcmp(look_delimiter(&look), lists[i].delimiter) != 0 || look.has_header != lists[i].header ||
            look.fields != lists[i].fields || look.columns[LOOK_ITEM] != lists[i].item ||
            look.columns[LOOK_USER] >= 0 || strcmp(look.examples[lists[i].item], lists[i].first) != 0)
            fail_msg("list %zu: %s, header %d, %lld fields, item %d, first %s", i, look_delimiter(&look),
                     look.has_header, (long long)look.fields, look.columns[LOOK_ITEM],
                     look.examples[lists[i].item]);
    }
}

/* By the rules of the reader: a doubled quote is one, and a row may go on in the next line. */
TEST(quoted_fields_are_those_of_the_reader)
{
    struct dpf_error error = {0};
    struct look look;
    const char *content = "user,item\nzoe,\"say \"\"x\"\", then\ny\"\nyan,heat\nzoe,12\" vinyl\n";
    write_file(content, strlen(content));
    assert_int_equal(look_at(path, 0, &look, &error), 0);
    assert_int_equal(look.lines, 4);
    assert_int_equal(look.fields, 2);
    assert_true(look.has_header);
    assert_string_equal(look.examples[0], "zoe, yan, zoe");
    assert_non_null(strstr(look.examples[1], "heat"));
}

TEST(an_empty_file_has_no_lines)
{
    struct dpf_error error = {0};
    struct look look;
    write_file("", 0);
    assert_int_equal(look_at(path, 0, &look, &error), 0);
    assert_int_equal(look.lines, 0);
}

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

FIXTURE(make_file, remove_file)
