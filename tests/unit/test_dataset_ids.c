/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/ids.h"
#include "kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t add(struct ids *ids, const char *text)
{
    struct field field = {text, strlen(text)};
    int32_t code = ids_add(ids, &field);
    assert_true(code >= 0);
    return code;
}

static void assert_order(const char *const *texts, int n, const char *const *sorted)
{
    struct ids ids = {0};
    struct id_map map;
    int32_t rank[16], codes[16];
    for (int i = 0; i < n; i++)
        codes[i] = add(&ids, texts[i]);
    assert_int_equal(ids_finish(&ids, &map, rank), 0);
    assert_int_equal(map.n, n);
    for (int i = 0; i < n; i++) {
        assert_string_equal(id_map_text(&map, i), sorted[i]);
        assert_int_equal(id_map_find(&map, sorted[i]), i);
        assert_string_equal(id_map_text(&map, rank[codes[i]]), texts[i]);
    }
    assert_null(id_map_text(&map, n));
    assert_null(id_map_text(&map, -1));
    assert_int_equal(id_map_find(&map, "absent"), -1);
    id_map_free(&map);
    ids_free(&ids);
}

TEST(integers_ascend)
{
    static const char *const texts[] = {"10", "9", "-3", "9000000000000000000", "0", "5000000"};
    static const char *const sorted[] = {"-3", "0", "9", "10", "5000000", "9000000000000000000"};
    assert_order(texts, 6, sorted);
}

/* Where two ids stand does not depend on a third. */
TEST(texts_stand_behind_integers)
{
    static const char *const texts[] = {"10", "9", "007", "B1", "99999999999999999999", "-7"};
    static const char *const sorted[] = {"-7", "9", "10", "007", "99999999999999999999", "B1"};
    assert_order(texts, 6, sorted);
    assert_order(texts, 2, sorted + 1);
}

TEST(many_ids_keep_their_codes)
{
    struct ids ids = {0};
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++) {
            snprintf(text, sizeof text, i % 3 == 0 ? "%d" : i % 3 == 1 ? "-%d" : "u%d", i + 1);
            assert_int_equal(add(&ids, text), i);
        }
    assert_int_equal(ids.n, 20000);
    ids_free(&ids);
}

TEST(merging_gives_the_same_map_in_any_order)
{
    static const char *const texts[] = {"b", "7", "a", "12345678901", "-1", "c"};
    struct ids parts[2] = {{0}, {0}};
    struct id_map maps[2];
    int32_t map[8], rank[8];
    int64_t converted = 0;
    for (int i = 0; i < 6; i++)
        add(&parts[i % 2], texts[i]);
    add(&parts[0], texts[1]);
    for (int order = 0; order < 2; order++) {
        struct ids merged = {0};
        assert_int_equal(ids_merge(&merged, &parts[order], IDS_AUTO, map, &converted), 0);
        assert_int_equal(ids_merge(&merged, &parts[1 - order], IDS_AUTO, map, &converted), 0);
        assert_int_equal(merged.n, 6);
        assert_int_equal(ids_finish(&merged, &maps[order], rank), 0);
        ids_free(&merged);
    }
    for (int i = 0; i < 6; i++)
        assert_string_equal(id_map_text(&maps[0], i), id_map_text(&maps[1], i));
    for (int i = 0; i < 2; i++) {
        id_map_free(&maps[i]);
        ids_free(&parts[i]);
    }
}

static void assert_becomes(const char *text, enum ids_encoding encoding, const char *wanted)
{
    struct ids from = {0}, into = {0};
    struct id_map out;
    int32_t map[4], rank[4];
    int64_t converted = 0;
    add(&from, "12");
    add(&from, text);
    add(&from, "caf\xc3\xa9");
    assert_int_equal(ids_merge(&into, &from, encoding, map, &converted), 0);
    assert_int_equal(ids_finish(&into, &out, rank), 0);
    assert_string_equal(id_map_text(&out, rank[map[0]]), "12");
    assert_string_equal(id_map_text(&out, rank[map[1]]), wanted);
    if (encoding != IDS_LATIN1) /* what another id is made of changes nothing */
        assert_string_equal(id_map_text(&out, rank[map[2]]), "caf\xc3\xa9");
    assert_int_equal(converted, encoding == IDS_LATIN1 ? 2 : strcmp(text, wanted) != 0);
    id_map_free(&out);
    ids_free(&into);
    ids_free(&from);
}

TEST(each_id_becomes_utf8_by_itself)
{
    assert_becomes("caf\xe9", IDS_AUTO, "caf\xc3\xa9");
    assert_becomes("\xff", IDS_AUTO, "\xc3\xbf");
    assert_becomes("bar", IDS_AUTO, "bar");
    assert_becomes("caf\xe9", IDS_LATIN1, "caf\xc3\xa9");
    assert_becomes("bar", IDS_UTF8, "bar");
}

TEST(knows_utf8)
{
    static const char *const good[] = {
        "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbd"};
    static const char *const bad[] = {"\xe9",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\x80",
                                      "\xe2\x82",
                                      "a\xff"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(ids_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ids_is_utf8(bad[i], strlen(bad[i])));
}

TEST(ranges_are_integers_from_one)
{
    struct id_map map;
    assert_int_equal(id_map_range(1000, &map), 0);
    assert_string_equal(id_map_text(&map, 0), "1");
    assert_string_equal(id_map_text(&map, 999), "1000");
    assert_int_equal(id_map_find(&map, "512"), 511);
    assert_int_equal(id_map_find(&map, "1001"), -1);
    assert_int_equal(id_map_find(&map, "x"), -1);
    id_map_free(&map);
}
