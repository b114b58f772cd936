/* SPDX-License-Identifier: Apache-2.0 */
/* Public features: columns follow the file of features alone, rows the ids of the run. */
#include <math.h>

#include "kit/data_support.h"
#include "dpframe/privacy.h"

#define RATINGS "1,10,4\n1,20,3\n2,20,5\n2,30,1\n3,40,2\n"

static struct feature_table *load_features_of(const char *features, const char *keys,
                                              struct data_outcome *out)
{
    char ini[512];
    data_write("a.txt", RATINGS);
    data_write("b.txt", features);
    snprintf(ini, sizeof ini, "[data]\nformat=csv\npath=a.txt\nheader=no\nitem-features=b.txt\n%s", keys);
    data_get(ini, out);
    return &out->dataset.features;
}

static int64_t column_named(const struct feature_table *table, const char *name)
{
    for (int64_t c = 0; c < table->columns; c++)
        if (strcmp(table->column[c].name, name) == 0)
            return c;
    fail_msg("no column %s", name);
    return -1;
}

static float entry(const struct feature_table *table, int64_t row, const char *name)
{
    const int64_t column = column_named(table, name);
    for (int64_t i = table->ptr[row]; i < table->ptr[row + 1]; i++)
        if (table->at[i] == column)
            return table->values[i];
    return (float)NAN;
}

TEST_WITH(categories_numbers_and_years_of_a_csv, data_enter, data_leave)
{
    struct data_outcome out;
    const struct feature_table *t = load_features_of(
        "id,name,kinds,price\n20,\"One, two (1999)\",b|a|b,2.5\n10,Three,a,\n99,Four (2001),c,7.5\n"
        "30,Five (1997) ,,0\n",
        "item-features.categories=kinds\nitem-features.numbers=price\nitem-features.year-of=name\n", &out);
    assert_int_equal(t->rows, 4);
    assert_int_equal(t->columns, 5);
    assert_int_equal(t->n_fields, 3);
    static const char *const names[5] = {"kinds=a", "kinds=b", "kinds=c", "price", "year"};
    for (int c = 0; c < 5; c++)
        assert_string_equal(t->column[c].name, names[c]);
    assert_true(entry(t, 0, "kinds=a") == 1);
    assert_true(isnan(entry(t, 0, "kinds=b")));
    assert_true(isnan(entry(t, 0, "price")));
    assert_true(entry(t, 1, "kinds=b") == 1);
    assert_true(entry(t, 1, "year") == 1999);
    assert_true(entry(t, 1, "price") == 2.5F);
    assert_int_equal(t->ptr[2] - t->ptr[1], 4); /* b twice is b */
    assert_true(entry(t, 2, "price") == 0);
    assert_true(entry(t, 2, "year") == 1997);
    assert_int_equal(t->ptr[4], t->ptr[3]); /* item 40 has no line */
    /* All lines count, also the one of an item that nobody has. */
    assert_true(fabs(t->column[0].mean - 0.5) < 1e-15);
    assert_true(fabs(t->column[2].mean - 0.25) < 1e-15);
    assert_true(fabs(t->column[3].mean - 10.0 / 3) < 1e-12);
    assert_true(fabs(t->column[4].mean - 1999) < 1e-12);
    assert_true(fabs(t->column[4].deviation - sqrt(8.0 / 3)) < 1e-12);
    dpf_features view;
    double row[5];
    dpf_features_row(feature_table_view(t, &view), 1, row);
    assert_true(fabs(row[0] - sqrt(0.5)) < 1e-15);
    assert_true(fabs(row[1] - sqrt(0.5)) < 1e-15);
    assert_true(row[2] == 0);
    assert_true(fabs(row[4]) < 1e-12);
    dataset_free(&out.dataset);
}

TEST_WITH(files_of_movielens, data_enter, data_leave)
{
    struct data_outcome out;
    const struct feature_table *t = load_features_of("10::Caf\xe9 (1987)::Drama|War\n20::X (2000)::War\n",
                                                     "item-features.format=movielens-1m\n", &out);
    assert_int_equal(t->columns, 3);
    assert_true(entry(t, 0, "genre=Drama") == 1);
    assert_true(entry(t, 0, "genre=War") == 1);
    assert_true(entry(t, 0, "year") == 1987);
    dataset_free(&out.dataset);
    t = load_features_of("10|T (1995)|01-Jan-1995||u|0|0|0|1|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
                         "20|unknown||||1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n",
                         "item-features.format=movielens-100k\n", &out);
    assert_int_equal(t->columns, 20);
    assert_true(entry(t, 0, "genre=Comedy") == 1);
    assert_true(entry(t, 0, "genre=Animation") == 1);
    assert_true(isnan(entry(t, 1, "year")));
    assert_true(entry(t, 1, "genre=unknown") == 1);
    dataset_free(&out.dataset);
}

TEST_WITH(columns_depend_on_no_record, data_enter, data_leave)
{
    struct data_outcome out;
    const struct feature_table *t = load_features_of("7,x\n20,y\n", "item-features.categories=2\n", &out);
    assert_int_equal(t->columns, 2); /* nobody has item 7 */
    assert_true(entry(t, 1, "column 2=y") == 1);
    dataset_free(&out.dataset);
}

/* What separates fields, whether there is a header, and where ids are. */
TEST_WITH(the_first_line_says_the_form, data_enter, data_leave)
{
    static const char *const files[][2] = {
        {"10\tx\n20\ty,z\n", "item-features.categories=2\n"},
        {"10;x\n20;\"y,z\"\n", "item-features.categories=2\n"},
        {"movieId::kind\n10::x\n20::y,z\n", "item-features.categories=2\n"},
        {"kind\titem_id\nx\t10\ny,z\t20\n", "item-features.categories=kind\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data_outcome out;
        const struct feature_table *t = load_features_of(files[i][0], files[i][1], &out);
        assert_int_equal(t->columns, 2);
        assert_int_equal(t->ptr[1], 1);
        assert_non_null(strstr(t->column[t->at[0]].name, "=x"));
        assert_non_null(strstr(t->column[t->at[1]].name, "=y,z"));
        dataset_free(&out.dataset);
    }
}

static void refused(const char *features, const char *keys, const char *words)
{
    struct data_outcome out;
    char ini[512];
    data_write("a.txt", RATINGS);
    data_write("b.txt", features);
    snprintf(ini, sizeof ini, "[data]\nformat=csv\npath=a.txt\nheader=no\nitem-features=b.txt\n%s", keys);
    assert_int_equal(data_try(ini, 1, 1, &out), -1);
    if (!strstr(out.error.text, words))
        fail_msg("expected \"%s\" in: %s", words, out.error.text);
}

TEST_WITH(faults_name_the_line_and_the_remedy, data_enter, data_leave)
{
    const char *numbers = "item-features.numbers=price\n";
    refused("id,price\n10,1\n20,x\n", numbers, "b.txt:3: \"x\" is not a number");
    refused("id,price\n10,1\n\n10,2\n", numbers, "b.txt:4: \"10\" occurs twice");
    refused("id,price\n10\n", numbers, "b.txt:2: 1 field(s)");
    refused("id,cost\n10,1\n", numbers, "none of that name; it has \"id\", \"cost\": name one");
    refused("id,price\n", numbers, "has no lines");
    refused("id,price\n10,\"1\n", numbers, "not closed");
    refused("id,price\n10,1\n", "", "which columns are features");
    refused("10,1\n", numbers, "names column price, but the first line has 2 field(s) separated by ','");
    refused("10,1\n", "item-features.numbers=3\n", "names column 3");
    refused("code,shelf\n10,x\n20,y\n", "item-features.categories=2\n",
            "b.txt:1: the id \"code\" is the only one that is no number, so this line seems to be a header");
}
