/* SPDX-License-Identifier: Apache-2.0 */
/* Files as people have them: each is read as meant, or refused with the line, the text and the remedy. */
#include "kit/data_support.h"
#include "dataset/summary.h"
#include "sanitized.h"

#include <malloc.h>
#include <sys/resource.h>
#include <zlib.h>

#define CSV "[data]\npath = a.txt\n"

static void load_text(const char *ini, const char *text, struct data_outcome *out)
{
    data_write("a.txt", text);
    data_get(ini, out);
}

static void assert_plain(const char *ini, const char *text)
{
    struct data_outcome out;
    load_text(ini, text, &out);
    const struct dataset *d = &out.dataset;
    assert_int_equal(d->train.n, 3);
    assert_int_equal(d->users.n, 2);
    assert_int_equal(d->items.n, 2);
    assert_true(data_value(d, &d->train.by_user, "1", "10") == 4.5);
    assert_true(data_value(d, &d->train.by_user, "1", "20") == 3);
    assert_true(data_value(d, &d->train.by_user, "2", "10") == 1);
    assert_int_equal(d->train.by_item.ptr[1], 2);
    data_check_csr(&d->train.by_user, 2);
    data_check_csr(&d->train.by_item, 2);
    dataset_free(&out.dataset);
}

TEST_WITH(the_same_ratings_in_many_shapes, data_enter, data_leave)
{
    assert_plain(CSV, "1,10,4.5,7\n1,20,3,8\n2,10,1,9\n");
    assert_plain(CSV, "1,10,4.5\n1,20,3\n2,10,1");               /* no last newline */
    assert_plain(CSV, "1,10,4.5,7\r\n1,20,3,8\r\n2,10,1,9\r\n"); /* CR LF */
    assert_plain(CSV, "\xef\xbb\xbf"
                      "1,10,4.5,7\n1,20,3,8\n2,10,1,9\n"); /* byte order mark */
    assert_plain(CSV, "\xef\xbb\xbf"
                      "userId,movieId,rating,timestamp\n1,10,4.5,7\n1,20,3,8\n2,10,1,9\n");
    assert_plain(CSV, "\n1,10,4.5,7\n\n\r\n1,20,3,8\n  \n2,10,1,9\n\n"); /* empty lines */
    assert_plain(CSV, "1, 10, 4.5, 7\n1 ,20,3 ,8\n2,10,1,9\n");          /* blanks at delimiters */
    assert_plain(CSV, "item,rating,user\n10,4.5,1\n20,3,1\n10,1,2\n");   /* another order */
    assert_plain(CSV, "timestamp,movieId,userId,rating\n7,10,1,4.5\n8,20,1,3\n9,10,2,1\n");
    assert_plain(CSV, "u,i,r\n1,10,4.5\n1,20,3\n2,10,1\n"); /* unknown names */
    assert_plain(CSV "column.user = who\ncolumn.item = what\ncolumn.rating = how\n",
                 "how,who,what\n4.5,1,10\n3,1,20\n1,2,10\n");
    assert_plain(CSV "column.user = 3\ncolumn.item = 1\ncolumn.rating = 2\n", "10,4.5,1\n20,3,1\n10,1,2\n");
    assert_plain(CSV "header = yes\n", "9,9,9\n1,10,4.5\n1,20,3\n2,10,1\n");
    assert_plain(CSV "format = tsv\n", "1\t10\t4.5\t7\n1\t20\t3\t8\n2\t10\t1\t9\n");
    assert_plain(CSV "format = movielens-100k\n", "1\t10\t4.5\t7\n1\t20\t3\t8\n2\t10\t1\t9\n");
    assert_plain(CSV "format = movielens-1m\n", "1::10::4.5::7\n1::20::3::8\n2::10::1::9\n");
    assert_plain(CSV "delimiter = spaces\n", " 1  10 4.5\n1 20\t3\n2 10   1 \n");
    assert_plain(CSV "delimiter = semicolon\n", "1;10;4.5\n1;20;3\n2;10;1\n");
    assert_plain(CSV "delimiter = pipe\n", "1|10|4.5\n1|20|3\n2|10|1\n");
    assert_plain(CSV, "1,10,4.5,978300760.0\n1,20,3,9.5e8\n2,10,1,-1\n"); /* real and negative times */
}

TEST_WITH(quotes_go_through_the_csv_parser, data_enter, data_leave)
{
    struct data_outcome out;
    assert_plain(CSV, "\"1\",\"10\",\"4.5\"\n\"1\",20,3\n2,10,1\n");
    assert_plain(CSV, "\"user\",\"item\",\"rating\"\n1,10,4.5\n1,20,\"3\"\n2,10,1");
    assert_plain(CSV, "1,10,4.5\n1,20,3\n\n\"2\",10,1\r\n");
    load_text(CSV "multi-line = yes\n",
              "\"a,b\",\"say \"\"x\"\"\",5,,\n\"two words\",y,4,,\"a review\nof two lines\"\n", &out);
    const struct dataset *d = &out.dataset;
    assert_true(data_value(d, &d->train.by_user, "a,b", "say \"x\"") == 5);
    assert_true(data_value(d, &d->train.by_user, "two words", "y") == 4);
    dataset_free(&out.dataset);
    data_write("a.txt", "1,10,4.5\n\"1,20,3\n2,10,1\n");
    DATA_REFUSED(CSV "multi-line = yes\n", DPF_FAULT_DATA, "a.txt:2: a quoted field is not closed",
                 "format = tsv");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:2: a quoted field is not closed on its line",
                 "multi-line = yes");
    /* A quote ends with its line at the latest, so it changes nothing on others. */
    load_text(CSV, "1,10,4.5\n\"\"\"2\",20,3\n\"3\",10,1\n4,10,2\n", &out);
    assert_true(data_value(&out.dataset, &out.dataset.train.by_user, "\"2", "20") == 3);
    assert_true(data_value(&out.dataset, &out.dataset.train.by_user, "3", "10") == 1);
    assert_true(data_value(&out.dataset, &out.dataset.train.by_user, "4", "10") == 2);
    dataset_free(&out.dataset);
    data_write("a.txt", "\"1,10,4.5\n1,20,3\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:1: a quoted field is not closed on its line");
    data_write("a.txt", "1,10,4.5\n1,20,3\n\"1\"x,10,1\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:3: a quote is not allowed here");
    data_write("a.txt", "1,10,4.5\n\"1\",20,bad\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:2: rating \"bad\"");
    load_text(CSV "format = tsv\n", "a\"b\t10\t3\n", &out);
    assert_int_equal(id_map_find(&out.dataset.users, "a\"b"), 0);
    dataset_free(&out.dataset);
}

TEST_WITH(ids_of_any_kind, data_enter, data_leave)
{
    struct data_outcome out;
    load_text(CSV, "-5,99999999999999999999,1\n007,x y,2\n7,\xe2\x82\xac,3\n", &out);
    const struct dataset *d = &out.dataset;
    assert_int_equal(d->users.n, 3); /* 007 is not 7 */
    assert_int_equal(d->items.n, 3);
    assert_true(data_value(d, &d->train.by_user, "-5", "99999999999999999999") == 1);
    assert_true(data_value(d, &d->train.by_user, "007", "x y") == 2);
    assert_true(data_value(d, &d->train.by_user, "7", "\xe2\x82\xac") == 3);
    dataset_free(&out.dataset);
    load_text(CSV, "caf\xe9,1,1\n", &out); /* Latin-1, found out */
    assert_int_equal(id_map_find(&out.dataset.users, "caf\xc3\xa9"), 0);
    dataset_free(&out.dataset);
    /* Found out for each id by itself: one user's id does not change how another's is read. */
    load_text(CSV, "1,caf\xc3\xa9,4\nu\xff,bar,4\n", &out);
    assert_int_equal(out.dataset.items.n, 2);
    assert_true(id_map_find(&out.dataset.items, "caf\xc3\xa9") >= 0);
    assert_true(id_map_find(&out.dataset.users, "u\xc3\xbf") >= 0);
    dataset_free(&out.dataset);
    load_text(CSV "encoding = latin-1\n", "caf\xc3\xa9,1,1\n", &out); /* told so */
    assert_int_equal(id_map_find(&out.dataset.users, "caf\xc3\x83\xc2\xa9"), 0);
    dataset_free(&out.dataset);
    data_write("a.txt", "a,1,1\ncaf\xe9,1,1\n");
    DATA_REFUSED(CSV "encoding = utf-8\n", DPF_FAULT_DATA, "a.txt:2:", "\"caf\\xe9\"", "encoding = latin-1");
}

TEST_WITH(faults_name_line_text_and_remedy, data_enter, data_leave)
{
    static const struct {
        const char *ini, *text, *parts[4];
    } cases[] = {
        {CSV "header = no\n", "userId,movieId,rating\n1,2,3\n", {"a.txt:1:", "\"rating\"", "header = yes"}},
        {CSV, "1,2,3\n1,3\n", {"a.txt:2:", "expected 3 fields", "found 2", "missing"}},
        {CSV, "1,2,3\n1,3,4,5\n", {"a.txt:2:", "found 4"}},
        {CSV, "1,2,3\n\n\n1,3,x\n", {"a.txt:4:", "\"x\" in column 3"}},
        {CSV, "1,2,3\n1,3,\n", {"a.txt:2:", "\"\" in column 3", "missing"}},
        {CSV, "1,2,NaN\n", {"a.txt:1:", "\"NaN\"", "no rule for NaN"}},
        {CSV, "1,2,3\nnan,2,3\n", {"a.txt:2:", "user", "missing value"}},
        {CSV, "1,2,3\n,2,3\n", {"a.txt:2:", "user in column 1 is empty"}},
        {CSV, "1,2,3\n2,,3\n", {"a.txt:2:", "item in column 2 is empty"}},
        {CSV, "1,2,inf\n", {"a.txt:1:", "too large"}},
        {CSV, "1,2,1e39\n", {"a.txt:1:", "too large"}},
        {CSV, "1,2,3\n1,3,-3\n", {"a.txt:2:", "\"-3\" is negative", "value-min"}},
        {CSV "value-min = 1\nvalue-max = 5\n",
         "1,2,3\n1,3,6\n",
         {"a.txt:2:", "range 1 to 5", "out-of-range"}},
        {CSV, "1,2,3,yesterday\n", {"a.txt:1:", "time stamp \"yesterday\"", "column.time = none"}},
        {CSV "delimiter = tab\nformat = tsv\n", "1 2 3\n", {"a.txt:1:", "delimiter"}},
        {CSV "format = tsv\n", "1\t2\t3\n1 3 3\n", {"a.txt:2:", "delimiter = spaces"}},
        {CSV "delimiter = spaces\n", "1 2 3\n1 3 4\xc2\xa0\n", {"a.txt:2:", "4\\xc2\\xa0"}},
        {CSV "column.rating = stars\n", "user,item,rating\n1,2,3\n", {"a.txt:1:", "\"stars\"", "\"rating\""}},
        {CSV "column.rating = stars\nheader = no\n", "1,2,3\n", {"a.txt:1:", "no header", "number"}},
        {CSV "column.rating = 9\n", "1,2,3\n", {"a.txt:1:", "is 9", "3 field(s)"}},
        {CSV, "1,2\n", {"a.txt:1:", "feedback = implicit"}},
        {CSV, "user,item,item,rating\n1,2,2,3\n", {"a.txt:1:"}},
        {CSV "column.user = a\n", "a,a,rating\n1,2,3\n", {"a.txt:1:", "twice"}},
        {CSV, "", {"a.txt: this file contains no records"}},
        {CSV, "\n\n", {"a.txt: this file contains no records"}},
        {CSV, "user,item,rating\n", {"no records are left"}},
        {CSV,
         "\xff\xfe"
         "1",
         {"a.txt:1:", "UTF-16", "UTF-8"}},
        {CSV, "PK\3\4xx", {"a.txt:1:", "ZIP"}},
        {CSV "column.privacy-weight = 4\ncolumn.time = none\n",
         "1,2,3,-1\n",
         {"a.txt:1:", "privacy weight \"-1\""}},
        {CSV "format = tsv\n", "1\t2\t\"3\"\n", {"a.txt:1:", "format = csv"}},
        {CSV "delimiter = semicolon\n", "1;2;3\n1;3;3,5\n", {"a.txt:2:", "decimal point"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        data_write("a.txt", cases[i].text);
        data_refused(cases[i].ini, DPF_FAULT_DATA,
                     (const char *const[]){cases[i].parts[0], cases[i].parts[1] ? cases[i].parts[1] : "",
                                           cases[i].parts[2] ? cases[i].parts[2] : "", NULL});
    }
    /* Text of other tools, and what is no text. */
    data_write("a.txt", "user,item,rating\r1,2,3\r4,5,6\r");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:1: ", "CR alone", "tr ");
    data_write("a.txt", "1,2,3\n1,\"a\nb\",3\n");
    DATA_REFUSED(CSV "multi-line = yes\n", DPF_FAULT_DATA, "a.txt:3: the item", "contains a line end");
    data_write("a.txt", "1,2,3\n1,a\rb,3\n");
    DATA_REFUSED(CSV "multi-line = yes\n", DPF_FAULT_DATA, "a.txt:2: the item", "contains a line end");
    data_write("a.txt", "\x7f"
                        "ELF\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt", "a program");
    data_write_bytes("a.txt", "1,2,3\n1,\0,3\n", 12);
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:2: a NUL byte");
}

TEST_WITH(another_delimiter_is_proposed, data_enter, data_leave)
{
    static const struct {
        const char *ini, *text, *part;
    } cases[] = {
        {CSV, "1\t2\t3\n", "delimiter = tab?"},
        {CSV, "1;2;3\n", "delimiter = semicolon?"},
        {CSV, "1|2|3\n", "delimiter = pipe?"},
        {CSV, "1 2 3\n", "delimiter = spaces?"},
        {CSV, "1::2::3\n", "delimiter = double-colon?"},
        {CSV "format = movielens-100k\n", "1,2,3\n", "delimiter = comma?"},
        {CSV, "1,2,3\n1;2;3\n", "delimiter = semicolon?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        data_write("a.txt", cases[i].text);
        DATA_REFUSED(cases[i].ini, DPF_FAULT_DATA, "a.txt:", cases[i].part);
    }
}

TEST_WITH(what_is_left_says_where_the_rest_went, data_enter, data_leave)
{
    data_write("a.txt", "user,item,rating\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt: no records", "read as a header");
    data_write("a.txt", "1,2,3\n2,2,3\n");
    DATA_REFUSED(CSV "feedback = implicit\nthreshold = 4\n", DPF_FAULT_DATA, "a.txt: no records", "2 below",
                 "lower data.threshold");
    DATA_REFUSED(CSV "value-min = 1\nvalue-max = 2\nout-of-range = drop\n", DPF_FAULT_DATA, "2 out of range",
                 "value-max");
    DATA_REFUSED(CSV "[split]\nkind = random\nfraction = 0.999999\n", DPF_FAULT_DATA, "2 for testing",
                 "[split]");
}

TEST_WITH(configurations_that_cannot_be, data_enter, data_leave)
{
    data_write("a.txt", "1,2,3\n");
    DATA_REFUSED("[data]\nformat = csv\n", DPF_FAULT_CONFIG, "data.path is missing");
    DATA_REFUSED(CSV "delimiter = abc\n", DPF_FAULT_CONFIG, "\"abc\" is not a delimiter");
    DATA_REFUSED(CSV "value-min = 5\nvalue-max = 1\n", DPF_FAULT_CONFIG, "must not be above");
    DATA_REFUSED(CSV "out-of-range = clip\n", DPF_FAULT_CONFIG, "no range is declared");
    DATA_REFUSED(CSV "[split]\nkind = files\n", DPF_FAULT_CONFIG, "test.path");
    DATA_REFUSED(CSV "[split]\nkind = k-fold\nfolds = 3\nfold = 4\n", DPF_FAULT_CONFIG, "fold 4 of 3");
    DATA_REFUSED("[data]\npath = other.txt\n", DPF_FAULT_DATA, "[data] path", "other.txt", "No such file");
    DATA_REFUSED("[data]\npath = [xy].txt\n", DPF_FAULT_DATA, "no file matches");
    DATA_REFUSED(CSV "relation.path = trust.txt\n", DPF_FAULT_DATA, "[data] relation.path", "trust.txt");
    DATA_REFUSED("[data]\npath = .\n", DPF_FAULT_DATA, "is a directory", "/*.csv");
    DATA_REFUSED("[data]\npath = /dev/null\n", DPF_FAULT_DATA, "/dev/null is not a regular file; save");
    DATA_REFUSED(CSV "column.user = 2\n", DPF_FAULT_DATA, "a.txt:1");
}

/* Adds text as a gzip member of its own. */
static void add_member(const char *path, const char *text)
{
    gzFile file = gzopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void add_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *stream = fopen(path, "ab");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static long size_of(const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    const long size = ftell(stream);
    fclose(stream);
    return size;
}

static void set_byte(const char *path, long at, unsigned char byte)
{
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, at, SEEK_SET), 0);
    fputc(byte, stream);
    fclose(stream);
}

static int64_t records_of(const char *path)
{
    struct data_outcome out;
    char ini[200];
    snprintf(ini, sizeof ini, "[data]\npath = %s\n", path);
    data_get(ini, &out);
    const int64_t n = out.dataset.train.n;
    dataset_free(&out.dataset);
    return n;
}

TEST_WITH(gzip_is_transparent_and_checked, data_enter, data_leave)
{
    struct data_outcome out;
    char text[6000] = "";
    for (int i = 0; i < 300; i++)
        sprintf(text + strlen(text), "%d,%d,%d\n", i * 7 % 50, i, i % 5 + 1);
    unlink("a.gz");
    add_member("a.gz", text);
    data_get("[data]\npath = a.gz\n", &out);
    assert_int_equal(out.dataset.train.n, 300);
    dataset_free(&out.dataset);
    /* A name stands for the file plain or gzipped, whichever there is. */
    unlink("a");
    assert_int_equal(records_of("a"), 300);
    data_write("plain.csv", "1,1,5\n1,2,4\n");
    assert_int_equal(records_of("plain.csv.gz"), 2);
    unlink("plain.csv");
    assert_int_equal(truncate("a.gz", size_of("a.gz") - 20), 0);
    DATA_REFUSED("[data]\npath = a.gz\n", DPF_FAULT_DATA, "a.gz", "truncated or damaged");
}

static void write_two_members(void)
{
    unlink("b.gz");
    add_member("b.gz", "1,1,5\n1,2,4\n");
    add_member("b.gz", "2,1,3\n2,2,2\n3,1,1\n");
}

/* What a file is follows from its name: where there is no header, its first bytes are of one user's record.
 */
TEST_WITH(a_record_does_not_make_a_file_compressed, data_enter, data_leave)
{
    struct data_outcome out;
    load_text(CSV "header = no\nfields = 3\n", "\x1f\x8bq,10,4.5\n1,20,3\n2,10,1\n", &out);
    assert_int_equal(out.dataset.train.n, 3);
    dataset_free(&out.dataset);
    unlink("a.txt");
    add_member("a.txt", "1,1,5\n1,2,4\n");
    DATA_REFUSED(CSV, DPF_FAULT_DATA, "a.txt:1", "ends in .gz");
}

/* All members of a file, and nothing else; zeros at its end are padding. */
TEST_WITH(no_byte_of_a_gzipped_file_is_dropped, data_enter, data_leave)
{
    unlink("a.gz");
    add_member("a.gz", "1,1,5\n1,2,4\n");
    const long first = size_of("a.gz");
    write_two_members();
    assert_int_equal(records_of("b.gz"), 5);
    const long whole = size_of("b.gz");
    add_bytes("b.gz", "\0\0\0\0\0\0\0", 7);
    assert_int_equal(records_of("b.gz"), 5);
    add_bytes("b.gz", "x", 1);
    DATA_REFUSED("[data]\npath = b.gz\n", DPF_FAULT_DATA, "b.gz", "8 bytes after the end");
    /* Plain lines behind compressed ones. */
    add_bytes("a.gz", "2,1,3\n2,2,2\n3,1,1\n", 18);
    DATA_REFUSED("[data]\npath = a.gz\n", DPF_FAULT_DATA, "a.gz", "18 bytes after the end");
    /* A damaged second header, in each of the bytes that make it one. */
    for (long at = 0; at < 3; at++) {
        write_two_members();
        set_byte("b.gz", first + at, 0x1e);
        DATA_REFUSED("[data]\npath = b.gz\n", DPF_FAULT_DATA, "b.gz", "damaged");
    }
    /* Cut anywhere but between the members. */
    for (long size = first + 1; size < whole; size++) {
        write_two_members();
        assert_int_equal(truncate("b.gz", size), 0);
        DATA_REFUSED("[data]\npath = b.gz\n", DPF_FAULT_DATA, "b.gz", "damaged");
    }
}

/* Every kind of file that is read: links, test parts. */
TEST_WITH(other_files_are_checked_likewise, data_enter, data_leave)
{
    data_write("a.txt", "1,1,5\n2,2,4\n");
    unlink("b.gz");
    add_member("b.gz", "1 2\n");
    add_bytes("b.gz", "2 1\n", 4);
    DATA_REFUSED(CSV "relation.path = b.gz\n", DPF_FAULT_DATA, "b.gz", "4 bytes after the end");
    unlink("b.gz");
    add_member("b.gz", "1,2,5\n");
    add_bytes("b.gz", "2,1,5\n", 6);
    DATA_REFUSED(CSV "[split]\nkind = files\ntest.path = b.gz\n", DPF_FAULT_DATA, "b.gz",
                 "6 bytes after the end");
}

/* Bytes that compress badly are longer than the buffers of either side. */
TEST_WITH(long_gzipped_files_are_read_whole, data_enter, data_leave)
{
    enum { LINES = 120000 };
    char *text = malloc(LINES * 24), *at = text;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < LINES; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        at += sprintf(at, "%d,%llu,1\n", i, (unsigned long long)(x % 1000000007u));
    }
    unlink("a.gz");
    add_member("a.gz", text);
    add_member("a.gz", "x,y,3\n");
    free(text);
    assert_true(size_of("a.gz") > (1 << 19));
    assert_int_equal(records_of("a.gz"), LINES + 1);
}

TEST_WITH(counts_what_was_read, data_enter, data_leave)
{
    struct data_outcome out;
    load_text(CSV "value-min = 1\nvalue-max = 5\nout-of-range = drop\n",
              "user,item,rating\n1,1,1\n\n1,2,6\n1,1,5\n2,2,3\n", &out);
    const struct dataset_summary *s = &out.dataset.summary;
    assert_int_equal(s->lines, 6);
    assert_int_equal(s->empty_lines, 1);
    assert_int_equal(s->out_of_range, 1);
    assert_int_equal(s->duplicates, 1);
    assert_int_equal(s->ratings, 2);
    assert_true(s->value_min == 3);
    assert_true(s->value_max == 5);
    assert_true(s->value_mean == 4);
    assert_int_equal(s->distinct_values, 2);
    assert_true(out.lo == 1);
    assert_true(out.hi == 5);
    assert_true(out.dataset.value_lo == 1);
    assert_true(out.dataset.value_hi == 5);
    assert_int_equal(strlen(s->sha256), 64);
    char *text = data_summary_text(&out.dataset);
    assert_non_null(strstr(text, "2 users x 2 items, 2 ratings from 3 to 5"));
    assert_non_null(strstr(text, ", 1 duplicate resolved, "));
    assert_non_null(strstr(text, ", 1 empty line"));
    assert_null(strstr(text, "1 empty lines"));
    free(text);
    dataset_free(&out.dataset);
}

TEST_WITH(clipped_values_stay_inside_as_float32, data_enter, data_leave)
{
    struct data_outcome out;
    /* 0.1 rounds upwards in float32, 0.7 downwards: neither may leave the declared range. */
    load_text(CSV "value-min = 0.7\nvalue-max = 1.1\nout-of-range = clip\n", "1,1,9\n1,2,0\n1,3,1\n", &out);
    const struct dataset *d = &out.dataset;
    assert_true(data_value(d, &d->train.by_user, "1", "1") <= 1.1);
    assert_true(data_value(d, &d->train.by_user, "1", "1") > 1.0999);
    assert_true(data_value(d, &d->train.by_user, "1", "2") >= 0.7);
    assert_true(data_value(d, &d->train.by_user, "1", "2") < 0.7001);
    assert_true(data_value(d, &d->train.by_user, "1", "3") == 1);
    dataset_free(&out.dataset);
}

TEST_WITH(privacy_weights_follow_their_records, data_enter, data_leave)
{
    struct data_outcome out;
    load_text(CSV "column.privacy-weight = budget\n",
              "user,item,rating,budget\n1,2,3,0.5\n1,1,4,2\n2,1,5,0\n", &out);
    const struct records *r = &out.dataset.train;
    assert_true(r->by_user.privacy_weights[0] == 2);
    assert_true(r->by_user.privacy_weights[1] == 0.5f);
    assert_true(r->by_user.privacy_weights[2] == 0);
    assert_true(r->by_item.privacy_weights[0] == 2);
    assert_true(r->by_item.privacy_weights[1] == 0);
    assert_true(r->by_item.privacy_weights[2] == 0.5f);
    dataset_free(&out.dataset);
}

TEST_WITH(implicit_feedback_and_thresholds, data_enter, data_leave)
{
    struct data_outcome out;
    load_text(CSV "feedback = implicit\n", "1,2\n1,3\n2,2\n", &out);
    assert_true(out.dataset.implicit);
    assert_true(!out.dataset.train.by_user.values);
    assert_true(!out.dataset.train.by_item.values);
    assert_true(out.lo == 1);
    assert_true(out.hi == 1);
    assert_int_equal(out.dataset.train.n, 3);
    dataset_free(&out.dataset);
    /* The last word of user 1 on item 2 is a low value: no interaction. */
    load_text(CSV "feedback = implicit\nthreshold = 4\n", "1,2,5,1\n1,3,4,2\n1,2,1,3\n2,2,3.9,4\n", &out);
    assert_int_equal(out.dataset.train.n, 1);
    assert_int_equal(out.dataset.summary.below_threshold, 2);
    assert_int_equal(out.dataset.summary.duplicates, 1);
    dataset_free(&out.dataset);
}

TEST_WITH(relations_between_known_users, data_enter, data_leave)
{
    struct data_outcome out;
    data_write("trust.txt", "3 1\n1 2\n2 2\n1 9\n1 2\n1 3\n");
    load_text(CSV "relation.path = trust.txt\n", "1,1,1\n2,1,1\n3,1,1\n", &out);
    const struct relation *r = &out.dataset.relation;
    assert_int_equal(r->links.ptr[3], 3);
    assert_int_equal(r->links.others[0], 1);
    assert_int_equal(r->links.others[1], 2);
    assert_int_equal(r->links.others[2], 0);
    assert_int_equal(r->unknown, 1);
    assert_int_equal(r->self, 1);
    dataset_free(&out.dataset);
    load_text(CSV "relation.path = trust.txt\nrelation.direction = mutual\n", "1,1,1\n2,1,1\n3,1,1\n", &out);
    assert_int_equal(r->links.ptr[3], 4);
    data_check_csr(&r->links, 3);
    dataset_free(&out.dataset);
    data_write("trust.txt", "from,to,w\n1,2,0.5\n");
    load_text(CSV "relation.path = trust.txt\nrelation.delimiter = comma\nrelation.column.weight = w\n",
              "1,1,1\n2,1,1\n", &out);
    assert_true(r->links.values[0] == 0.5f);
    dataset_free(&out.dataset);
    data_write("trust.txt", "1 2\n1 2 3\n");
    DATA_REFUSED(CSV "relation.path = trust.txt\n", DPF_FAULT_DATA, "trust.txt:2:");
}

/* Blocks have room for the longest line, and what a file does not fill is not touched: where they were cleared, and what was
   freed given back each time, plans on files of a few lines took most of their time for pages. */
TEST_WITH(a_file_of_three_lines_takes_little_memory, data_enter, data_leave)
{
    enum { TIMES = 10 };
    struct rusage before, after;
    if (SANITIZED)
        skip(); /* the sanitizer's own memory is counted, too */
    for (int i = 0; i <= TIMES; i++) {
        struct data_outcome out;
        if (i == 1) /* what is made once is there */
            assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
        load_text(CSV, "1,10,4.5\n1,20,3\n2,10,1\n", &out);
        dataset_free(&out.dataset);
        malloc_trim(0); /* the next one begins without pages */
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, TIMES * 200); /* a block has 512 pages */
}
