/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the Netflix Prize, one per movie or combined, and dates as time stamps. */
#include "kit/data_support.h"

#define NETFLIX "[data]\nformat = netflix\nvalue-min = 1\nvalue-max = 5\n"
#define LATEST "[split]\nkind = leave-one-out\nby = time\n"

static const char first[] = "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n885013,4,2005-10-19\n";
static const char second[] = "2:\r\n822109,1,2005-09-05\r\n1488844,4,2004-12-31\r\n";

TEST_WITH(files_by_movie_and_combined_ones_are_the_same, data_enter, data_leave)
{
    struct data_outcome parts, whole;
    char both[256];
    data_write("a.txt", first);
    data_write("b.txt", second);
    snprintf(both, sizeof both, "%s%s", first, second);
    data_write("c.txt", both);
    data_get(NETFLIX "path = [ab].txt\n" LATEST, &parts);
    data_get(NETFLIX "path = c.txt\n" LATEST, &whole);
    data_same_csr(&parts.dataset.train.by_user, &whole.dataset.train.by_user);
    data_same_csr(&parts.dataset.test.by_user, &whole.dataset.test.by_user);
    assert_int_equal(whole.dataset.users.n, 3);
    assert_int_equal(whole.dataset.items.n, 2);
    /* The later record of each user who has two is tested: dates are times. */
    assert_true(data_value(&whole.dataset, &whole.dataset.test.by_user, "822109", "2") == 1);
    assert_true(data_value(&whole.dataset, &whole.dataset.test.by_user, "1488844", "1") == 3);
    assert_true(data_value(&whole.dataset, &whole.dataset.train.by_user, "885013", "1") == 4);
    dataset_free(&parts.dataset);
    dataset_free(&whole.dataset);
}

TEST_WITH(what_is_wrong_is_named, data_enter, data_leave)
{
    data_write("a.txt", "822109,5,2005-05-13\n");
    DATA_REFUSED(NETFLIX "path = a.txt\n", DPF_FAULT_DATA, "a.txt:1", "which item it rates");
    data_write("a.txt", "1:\n822109,5\n");
    DATA_REFUSED(NETFLIX "path = a.txt\n", DPF_FAULT_DATA, "a.txt:2", "expected 3 fields", "found 2");
    data_write("a.txt", "1:\n822109,5,2005-13-13\n");
    DATA_REFUSED(NETFLIX "path = a.txt\n", DPF_FAULT_DATA, "a.txt:2", "time stamp", "2005-13-13");
    data_write("a.txt", "1:\n822109,6,2005-05-13\n");
    DATA_REFUSED(NETFLIX "path = a.txt\n", DPF_FAULT_DATA, "a.txt:2", "outside the declared range");
    data_write("a.txt", "1:\n2:\n");
    DATA_REFUSED(NETFLIX "path = a.txt\n", DPF_FAULT_DATA, "no records");
}

/* The formats of the other data sets, and of other programs, on a few lines of each. */
TEST_WITH(other_files_of_the_papers, data_enter, data_leave)
{
    static const struct {
        const char *text, *ini, *user, *item;
        double value;
        int64_t records;
    } files[] = {
        /* MovieLens 10M */
        {"1::122::5::838985046\n1::185::0.5::838983525\n2::122::3.5::838983392\n",
         "format = movielens-1m\nvalue-min = 0.5\nvalue-max = 5\n", "1", "185", 0.5, 3},
        /* AnimeReco: -1 stands for "watched, not rated" */
        {"user_id,anime_id,rating\n1,20,-1\n1,24,7\n3,20,8\n",
         "format = csv\nheader = yes\ncolumn.user = user_id\ncolumn.item = anime_id\ncolumn.rating = rating\n"
         "value-min = 1\nvalue-max = 10\nout-of-range = drop\n",
         "3", "20", 8, 2},
        /* YahooMusic R3 */
        {"1\t14\t5\n1\t35\t1\n2\t14\t4\n",
         "format = tsv\nheader = no\nfields = 3\ncolumn.user = 1\ncolumn.item = 2\ncolumn.rating = "
         "3\nvalue-min = "
         "1\nvalue-max = 5\n",
         "1", "35", 1, 3},
        /* Yelp, as columns of its JSON */
        {"\"qVc8\",\"xQY8\",4.0,\"2014-02-05 20:30:30\"\n\"Hi10\",\"xQY8\",2.0,\"2013-01-18 00:00:00\"\n",
         "format = csv\nheader = no\nfields = 4\ncolumn.user = 1\ncolumn.item = 2\ncolumn.rating = "
         "3\ncolumn.time = "
         "4\nvalue-min = 1\nvalue-max = 5\n",
         "qVc8", "xQY8", 4, 2},
        /* RecBole's atomic files: the header follows from the format */
        {"user_id:token\titem_id:token\trating:float\ttimestamp:"
         "float\n196\t242\t3\t881250949\n186\t302\t2\t891717742\n",
         "format = recbole\nvalue-min = 1\nvalue-max = 5\n", "196", "242", 3, 2},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data_outcome out;
        char ini[512];
        data_write("a.txt", files[i].text);
        snprintf(ini, sizeof ini, "[data]\npath = a.txt\n%s", files[i].ini);
        data_get(ini, &out);
        assert_int_equal(out.dataset.train.n, files[i].records);
        assert_true(data_value(&out.dataset, &out.dataset.train.by_user, files[i].user, files[i].item) ==
                    files[i].value);
        dataset_free(&out.dataset);
    }
}

/* The order of dates is that of the calendar, at all boundaries where a day could be lost. */
TEST_WITH(dates_are_in_order, data_enter, data_leave)
{
    static const char *const dates[] = {"1969-12-31",
                                        "1970-01-01",
                                        "1999-12-31",
                                        "2000-02-28",
                                        "2000-02-29",
                                        "2000-03-01",
                                        "2004-02-29 23:59:59",
                                        "2004-03-01T00:00:00",
                                        "2004-03-01 00:00:01",
                                        "2004-12-31",
                                        "2005-01-01",
                                        "2100-03-01",
                                        "2100-03-01T00:00:00.25Z",
                                        "2100-03-01T00:00:00.5+00:00",
                                        "2100-03-01T02:00:01+0200",
                                        "2100-02-28T23:00:02-01:00"};
    const size_t n = sizeof dates / sizeof dates[0];
    for (size_t i = 0; i + 1 < n; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            struct data_outcome out;
            char text[128];
            snprintf(text, sizeof text, "u,x,1,%s\nu,y,2,%s\n", dates[swapped ? i + 1 : i],
                     dates[swapped ? i : i + 1]);
            data_write("a.txt", text);
            data_get("[data]\nformat = csv\nheader = no\nfields = 4\npath = a.txt\n" LATEST, &out);
            assert_true(data_value(&out.dataset, &out.dataset.test.by_user, "u", swapped ? "x" : "y") > 0);
            dataset_free(&out.dataset);
        }
    data_write("a.txt", "u,x,1,1970-01-02\nu,y,2,86399\n"); /* numbers and dates are of one scale: seconds */
    struct data_outcome out;
    data_get("[data]\nformat = csv\nheader = no\nfields = 4\npath = a.txt\n" LATEST, &out);
    assert_true(data_value(&out.dataset, &out.dataset.test.by_user, "u", "x") == 1);
    dataset_free(&out.dataset);
}

TEST_WITH(days_that_are_none_are_faults, data_enter, data_leave)
{
    static const char *const dates[] = {"2020-02-30",
                                        "2021-02-29",
                                        "1900-02-29",
                                        "2020-04-31",
                                        "2020-13-01",
                                        "2020-00-10",
                                        "2020-01-01T24:00:00",
                                        "2020-01-01T10:00:00X",
                                        "2020-01-01T10:00:00.Z",
                                        "2020-01-01T10:00:00+",
                                        "2020-01-01T10:00:00+1",
                                        "2020-01-01T10:00:00+24:00",
                                        "2020-01-01T10:00",
                                        "2020-01-01T10:00:00ZZ"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "u,x,1,%s\nu,y,2,2020-01-01\n", dates[i]);
        data_write("a.txt", text);
        const char *const parts[] = {dates[i], "is not a number", NULL};
        data_refused("[data]\nformat = csv\nheader = no\nfields = 4\npath = a.txt\n" LATEST, DPF_FAULT_DATA,
                     parts);
    }
}
