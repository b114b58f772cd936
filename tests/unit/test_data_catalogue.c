/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogues: the rows of a side, their number and their order follow from the file, whatever the records
 * are. */
#include "kit/data_support.h"

#define CSV "[data]\npath = a.txt\nheader = no\n"
#define ITEMS CSV "items-file = b.txt\n"
#define BOTH ITEMS "users-file = c.txt\n"

static void assert_ids(const struct id_map *map, const char *const *wanted)
{
    int64_t n = 0;
    for (; wanted[n]; n++) {
        assert_string_equal(id_map_text(map, n), wanted[n]);
        assert_int_equal(id_map_find(map, wanted[n]), n);
    }
    assert_int_equal(map->n, n);
    assert_int_equal(id_map_find(map, "nobody"), -1);
}

TEST(rows_are_those_of_the_file)
{
    static const char *const items[] = {"zoo", "10", "9", "caf\xc3\xa9", "unseen", NULL};
    static const char *const users[] = {"3", "1", "anna", NULL};
    struct data_outcome out;
    const struct dataset *d = &out.dataset;
    data_write("b.txt", "zoo\n10\n9\n\ncaf\xc3\xa9\nunseen\n");
    data_write("c.txt", "3\n1\nanna\n");
    data_write("a.txt", "1,9,4\nanna,zoo,5\n1,10,3\n");
    data_get(BOTH, &out);
    assert_ids(&d->items, items);
    assert_ids(&d->users, users);
    assert_int_equal(d->train.n, 3);
    assert_int_equal(d->train.by_item.rows, 5);
    data_check_csr(&d->train.by_user, 5);
    data_check_csr(&d->train.by_item, 3);
    assert_true(data_value(d, &d->train.by_user, "anna", "zoo") == 5);
    assert_true(data_value(d, &d->train.by_user, "1", "10") == 3);
    dataset_free(&out.dataset);
}

/* The list is the same whoever rated what, and records outside of it are left out and counted. */
TEST(records_outside_are_left_out)
{
    static const char *const items[] = {"b", "a", NULL};
    static const char *const records[] = {"1,a,4\n2,b,5\n", "1,a,4\n", "1,a,4\n2,c,5\n0,new,1\n1,b,3\n"};
    static const int64_t kept[] = {2, 1, 2}, left_out[] = {0, 0, 2};
    data_write("b.txt", "b\na\n");
    data_write("a.txt", records[2]);
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "a.txt:2", "item of this record is not in the catalogue",
                 "data.items-file");
    data_passes_over = 1;
    for (int i = 0; i < 3; i++) {
        struct data_outcome out;
        data_write("a.txt", records[i]);
        data_get(ITEMS "[split]\nkind = random\nfraction = 0.5\n", &out);
        assert_ids(&out.dataset.items, items);
        assert_int_equal(out.dataset.train.n + out.dataset.test.n, kept[i]);
        assert_int_equal(out.dataset.summary.out_of_catalogue, left_out[i]);
        dataset_free(&out.dataset);
    }
    data_write("c.txt", "1\n");
    struct data_outcome out;
    data_get(BOTH, &out);
    assert_int_equal(out.dataset.users.n, 1);
    assert_int_equal(out.dataset.train.n, 2);
    assert_int_equal(out.dataset.summary.out_of_catalogue, 2);
    assert_int_equal(out.dataset.violations.n, 2);
    dataset_free(&out.dataset);
    data_passes_over = 0;
    data_write("c.txt", "2\n");
    DATA_REFUSED(BOTH, DPF_FAULT_DATA, "a.txt:1", "user of this record", "data.users-file");
}

TEST(columns_can_be_chosen)
{
    static const char *const items[] = {"2", "1", NULL};
    struct data_outcome out;
    data_write("a.txt", "1,1,4\n2,2,5\n");
    data_write("b.txt", "2|Golden, Eye|x\n1|Toy \"Story\"|y\n");
    data_get(CSV "items-file = b.txt:1\n", &out);
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    data_write("b.txt", "title,movieId\n\"Eye, Golden\",2\nToy,1\n");
    data_get(CSV "items-file = b.txt:movieId\n", &out);
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    data_get(CSV "items-file = b.txt:2\n", &out); /* the header names the column as ids are called */
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    DATA_REFUSED(CSV "items-file = b.txt:id\n", DPF_FAULT_DATA, "b.txt:1", "none of that name");
    DATA_REFUSED(CSV "items-file = b.txt:3\n", DPF_FAULT_DATA, "b.txt:1", "2 field(s) separated by ','");
    data_write("b.txt", "\"title, long\",\"movieId\",year\n\"Eye, Golden\",2,3\nToy,1,4\n");
    data_get(CSV "items-file = b.txt:movieId\n", &out); /* commas in quotes divide no header */
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    data_write("b.txt", "title, long\titem_id:token\nEye, Golden\t2\nToy\t1\n");
    data_get(CSV "items-file = b.txt:item_id:token\n",
             &out); /* a TAB goes before commas; a name with a colon */
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    data_write("b.txt:x", "2\n1\n"); /* a file of such a name is that file */
    data_get(CSV "items-file = b.txt:x\n", &out);
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
}

/* More lines than a block of the reader: the order is that of the file, however many threads read it. */
TEST(long_catalogues_keep_their_order)
{
    enum { N = 400000 };
    char *text = malloc((size_t)N * 10);
    size_t used = 0;
    struct data_outcome out;
    assert_non_null(text);
    for (int64_t i = 0; i < N; i++)
        used += (size_t)sprintf(text + used, "%lld\n", (long long)(i * 7919 % N));
    data_write_bytes("b.txt", text, used);
    free(text);
    data_write("a.txt", "1,1,4\n2,2,5\n");
    assert_int_equal(data_try(ITEMS, 4, 1, &out), 0);
    assert_int_equal(out.dataset.items.n, N);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(atoll(id_map_text(&out.dataset.items, i)), i * 7919 % N);
    dataset_free(&out.dataset);
}

TEST(wrong_catalogues_are_refused)
{
    data_write("h.txt", "user,Artikel,rating\n1,1,4\n");
    data_write("a.txt", "1,1,4\n2,2,5\n");
    DATA_REFUSED(CSV "items-file = none.txt\n", DPF_FAULT_DATA, "none.txt");
    data_write("b.txt", "1\n2\n1\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:3", "this catalogue contains the id \"1\" twice");
    data_write("b.txt", "name,movieId\nx,1\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:1", "items-file = FILE:COLUMN with the column \"movieId\"");
    data_write("b.txt", "name;Artikel\nx;1\n");
    DATA_REFUSED(
        "[data]\nformat = csv\nheader = yes\ndelimiter = comma\npath = h.txt\ncolumn.item = Artikel\n"
        "items-file = b.txt\n",
        DPF_FAULT_DATA, "b.txt:1", "with the column \"Artikel\"");
    data_write("b.txt", "\n1\n2\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:1", "the first line is empty");
}

/* A table must say where its ids are. Else whole lines would be ids, and no record would have one of them. */
TEST(columns_are_not_guessed)
{
    static const char *const items[] = {"2,x", "1", "a", NULL};
    struct data_outcome out;
    data_write("a.txt", "1,1,4\n2,\"2,x\",5\n");
    data_write("b.txt", "1,x\n2,y\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:1", "2 fields separated by ','", "such as FILE:1");
    data_write("b.txt", "1|x\n2|y\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:1", "2 fields separated by '|'");
    data_write("b.txt", "\"2,x\"\n1\n\"a\"\n"); /* ids in quotes */
    data_get(ITEMS, &out);
    assert_ids(&out.dataset.items, items);
    dataset_free(&out.dataset);
    data_write("b.txt", "\"2,x\"\n1\nb,c\n");
    DATA_REFUSED(ITEMS, DPF_FAULT_DATA, "b.txt:3", "2 fields instead of one id");
    /* A header that does not call the ids as records do, and a column by its number. */
    data_write("a.txt", "1,1,4\n2,2,5\n");
    data_write("b.txt", "code,shelf\n1,x\n2,y\n");
    DATA_REFUSED(CSV "items-file = b.txt:1\n", DPF_FAULT_DATA, "b.txt:1",
                 "the id \"code\" is the only one that is no number");
    data_get(CSV "items-file = b.txt:code\n", &out);
    assert_int_equal(out.dataset.items.n, 2);
    dataset_free(&out.dataset);
    data_write("b.txt", "code,shelf\n1,x\nb7,y\n2,z\n"); /* another one that is none: ids may be so */
    data_get(CSV "items-file = b.txt:1\n", &out);
    assert_int_equal(out.dataset.items.n, 4);
    dataset_free(&out.dataset);
}

FIXTURE(data_enter, data_leave)
