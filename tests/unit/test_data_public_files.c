/* SPDX-License-Identifier: Apache-2.0 */
/* A file with records is taken as public by no key, whatever name leads to it. */
#include "data/public_files.h"

#include "kit/data_support.h"

static void look(const char *ini, char out[PUBLIC_FILES])
{
    int64_t n_data, n_split;
    const dpf_param *data_table = data_params(&n_data), *split_table = split_params(&n_split);
    struct config_values data = {0}, split = {0};
    struct dpf_error error = {0};
    struct config *config = config_parse("test.ini", ini, strlen(ini), &error);
    if (!config ||
        config_bind(config, "data", data_table, n_data, sizeof(dpf_param), NULL, 1, &data, &error) != 0 ||
        config_bind(config, "split", split_table, n_split, sizeof(dpf_param), NULL, 1, &split, &error) != 0 ||
        data_public_files(&data, &split, out, &error) != 0)
        fail_msg("%s", error.text);
    config_values_free(&data);
    config_values_free(&split);
    config_free(config);
}

static void expect(const char *path, const char *key, const char *public, const char *more, int same)
{
    char ini[512], out[PUBLIC_FILES], wanted[80];
    snprintf(ini, sizeof ini, "[data]\nheader = no\n%spath = %s\n%s = %s%s\n%s",
             strncmp(key, "weights.", 8) == 0 ? "weights.kind = files\n" : "", path, key, public,
             strcmp(key, "item-names") == 0 ? ":2" : "", more);
    look(ini, out);
    snprintf(wanted, sizeof wanted, "[data] %s: ", key);
    if ((strstr(out, wanted) != NULL) != same || (*out != '\0') != same ||
        (same && !strstr(out, "Name a file")))
        fail_msg("\"%s\" for\n%s", out, ini);
}

/* All keys of [data] that name files are public but the one of the records: a new key is in here by itself. */
TEST(no_key_names_the_records)
{
    static const char *const files[] = {"a.txt", "b.txt", "c.txt", "other.txt", "a.gz"};
    int64_t n;
    int keys = 0;
    const dpf_param *table = data_params(&n);
    for (int i = 0; i < 5; i++)
        if (i < 1 || i > 2)
            data_write(files[i], "1,2,3\n");
    assert_int_equal(symlink("a.txt", "b.txt"), 0);
    assert_int_equal(link("a.txt", "c.txt"), 0);
    for (int64_t k = 0; k < n; k++) {
        const char *key = table[k].name;
        if (table[k].type != DPF_TYPE_PATH || k == D_PATH)
            continue;
        keys++;
        for (int i = 0; i < 4; i++) {
            expect("a.txt", key, files[i], "", i < 3);
            expect("[ab].txt", key, files[i], "", i < 3);
            expect("other.txt", key, files[i], "[split]\nkind = files\ntest.path = c.txt\n", 1);
            expect("other.txt", key, files[i], "[split]\nkind = none\n", i == 3);
        }
        expect("a.gz", key, "a", "", 1); /* the name without .gz leads to it, too */
        data_write("a", "1,2,3\n");
        expect("a.gz", key, "a", "", 1);
        expect("a", key, "a.gz", "", 1);
        unlink("a");
    }
    assert_true(keys >= 7);
}

TEST(all_keys_are_named)
{
    char out[PUBLIC_FILES];
    look("[data]\npath = a.txt\nitems-file = other.txt\nusers-file = a.txt\nitem-features = ./a.txt\n", out);
    assert_non_null(strstr(out, "[data] users-file, [data] item-features: "));
}

FIXTURE(data_enter, data_leave)
