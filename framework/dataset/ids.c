/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset/ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SMALL_LIMIT (INT64_C(1) << 22)

void ids_free(struct ids *ids)
{
    free(ids->numbers);
    free(ids->lengths);
    free(ids->bytes);
    free(ids->small);
    free(ids->integers);
    free(ids->texts);
    memset(ids, 0, sizeof *ids);
}

static uint64_t hash_integer(int64_t value)
{
    uint64_t h = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
        bytes += 8;
        length -= 8;
    }
    uint64_t rest = length;
    for (size_t i = 0; i < length; i++)
        rest = rest << 8 | (unsigned char)bytes[i];
    h = (h ^ rest) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

/* A new code for a number or the offset of a text. */
static int32_t append(struct ids *ids, int64_t number, int32_t length)
{
    if (ids->n >= INT32_MAX)
        return -1;
    int64_t *numbers =
        memory_grow(ids->numbers, &ids->numbers_capacity, (size_t)ids->n + 1, sizeof *ids->numbers);
    if (!numbers)
        return -1;
    ids->numbers = numbers;
    int32_t *lengths =
        memory_grow(ids->lengths, &ids->lengths_capacity, (size_t)ids->n + 1, sizeof *ids->lengths);
    if (!lengths)
        return -1;
    ids->lengths = lengths;
    numbers[ids->n] = number;
    lengths[ids->n] = length;
    return (int32_t)ids->n++;
}

static int grow_small(struct ids *ids, int64_t needed)
{
    int64_t n = ids->n_small ? ids->n_small : 1024;
    while (n < needed)
        n *= 2;
    int32_t *small = realloc(ids->small, (size_t)n * sizeof *small);
    if (!small)
        return -1;
    memset(small + ids->n_small, 0xff, (size_t)(n - ids->n_small) * sizeof *small);
    ids->small = small;
    ids->n_small = n;
    return 0;
}

static int32_t add_small(struct ids *ids, int64_t value)
{
    if (value >= ids->n_small && grow_small(ids, value + 1) != 0)
        return -1;
    if (ids->small[value] < 0)
        ids->small[value] = append(ids, value, -1);
    return ids->small[value];
}

static int grow_integers(struct ids *ids)
{
    int64_t size = ids->integers ? 2 * (ids->integers_mask + 1) : 1024;
    struct ids_slot *slots = memory_raw((size_t)size, sizeof *slots);
    if (!slots)
        return -1;
    for (int64_t i = 0; i < size; i++)
        slots[i].code = -1;
    for (int64_t i = 0; ids->integers && i <= ids->integers_mask; i++) {
        if (ids->integers[i].code < 0)
            continue;
        int64_t at = (int64_t)(hash_integer(ids->integers[i].integer) & (uint64_t)(size - 1));
        while (slots[at].code >= 0)
            at = (at + 1) & (size - 1);
        slots[at] = ids->integers[i];
    }
    free(ids->integers);
    ids->integers = slots;
    ids->integers_mask = size - 1;
    return 0;
}

static int32_t add_integer(struct ids *ids, int64_t value)
{
    if (value >= 0 && value < SMALL_LIMIT)
        return add_small(ids, value);
    if ((!ids->integers || 2 * ids->n_integers > ids->integers_mask) && grow_integers(ids) != 0)
        return -1;
    int64_t at = (int64_t)(hash_integer(value) & (uint64_t)ids->integers_mask);
    for (; ids->integers[at].code >= 0; at = (at + 1) & ids->integers_mask)
        if (ids->integers[at].integer == value)
            return ids->integers[at].code;
    int32_t code = append(ids, value, -1);
    if (code < 0)
        return -1;
    ids->integers[at] = (struct ids_slot){value, code};
    ids->n_integers++;
    return code;
}

static int grow_texts(struct ids *ids)
{
    int64_t size = ids->texts ? 2 * (ids->texts_mask + 1) : 1024;
    int32_t *slots = memory_raw((size_t)size, sizeof *slots);
    if (!slots)
        return -1;
    memset(slots, 0xff, (size_t)size * sizeof *slots);
    for (int64_t i = 0; ids->texts && i <= ids->texts_mask; i++) {
        int32_t code = ids->texts[i];
        if (code < 0)
            continue;
        uint64_t hash = hash_bytes(ids->bytes + ids->numbers[code], (size_t)ids->lengths[code]);
        int64_t at = (int64_t)(hash & (uint64_t)(size - 1));
        while (slots[at] >= 0)
            at = (at + 1) & (size - 1);
        slots[at] = code;
    }
    free(ids->texts);
    ids->texts = slots;
    ids->texts_mask = size - 1;
    return 0;
}

static int32_t add_text(struct ids *ids, const char *bytes, size_t length)
{
    if (length > INT32_MAX)
        return -1;
    if ((!ids->texts || 2 * ids->n_texts > ids->texts_mask) && grow_texts(ids) != 0)
        return -1;
    int64_t at = (int64_t)(hash_bytes(bytes, length) & (uint64_t)ids->texts_mask);
    for (; ids->texts[at] >= 0; at = (at + 1) & ids->texts_mask) {
        int32_t code = ids->texts[at];
        if ((size_t)ids->lengths[code] == length &&
            memcmp(ids->bytes + ids->numbers[code], bytes, length) == 0)
            return code;
    }
    char *arena = memory_grow(ids->bytes, &ids->bytes_capacity, ids->n_bytes + length + 1, 1);
    if (!arena)
        return -1;
    ids->bytes = arena;
    int32_t code = append(ids, (int64_t)ids->n_bytes, (int32_t)length);
    if (code < 0)
        return -1;
    memcpy(arena + ids->n_bytes, bytes, length);
    ids->n_bytes += length;
    ids->texts[at] = code;
    ids->n_texts++;
    return code;
}

int32_t ids_add(struct ids *ids, const struct field *field)
{
    int64_t integer;
    if (field_integer(field, &integer) == 0)
        return add_integer(ids, integer);
    return add_text(ids, field->data, field->length);
}

/* Length of the well-formed sequence at bytes (RFC 3629), or 0. */
static size_t utf8_sequence(const unsigned char *b, size_t left)
{
    if (b[0] < 0x80)
        return 1;
    size_t n = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < n)
        return 0;
    unsigned lo = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    unsigned hi = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    if (b[1] < lo || b[1] > hi)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

int ids_is_utf8(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = utf8_sequence((const unsigned char *)bytes + i, length - i);
        if (n == 0)
            return 0;
        i += n;
    }
    return 1;
}

struct field ids_decoded(struct text *buffer, const struct field *field, enum ids_encoding encoding)
{
    if (encoding == IDS_UTF8 || (encoding == IDS_AUTO && ids_is_utf8(field->data, field->length)))
        return *field;
    buffer->length = 0;
    for (size_t i = 0; i < field->length; i++) {
        const unsigned char c = (unsigned char)field->data[i];
        const char two[2] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        text_append(buffer, c < 0x80 ? field->data + i : two, c < 0x80 ? 1 : 2);
    }
    return (struct field){buffer->data, buffer->length};
}

struct field ids_as_utf8(struct text *buffer, const struct field *field)
{
    return ids_decoded(buffer, field, IDS_AUTO);
}

static int32_t add_latin1(struct ids *ids, const char *bytes, size_t length)
{
    char *converted = memory_raw(2 * length + 1, 1);
    if (!converted)
        return -1;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x80) {
            converted[n++] = (char)(0xc0 | c >> 6);
            c = (unsigned char)(0x80 | (c & 0x3f));
        }
        converted[n++] = (char)c;
    }
    int32_t code = add_text(ids, converted, n);
    free(converted);
    return code;
}

int ids_merge(struct ids *into, const struct ids *from, enum ids_encoding encoding, int32_t *map,
              int64_t *converted)
{
    for (int64_t i = 0; i < from->n; i++) {
        const char *text = from->lengths[i] < 0 ? NULL : from->bytes + from->numbers[i];
        const size_t length = text ? (size_t)from->lengths[i] : 0;
        if (!text) {
            map[i] = add_integer(into, from->numbers[i]);
        } else if (encoding == IDS_LATIN1 || (encoding == IDS_AUTO && !ids_is_utf8(text, length))) {
            map[i] = add_latin1(into, text, length);
            ++*converted;
        } else {
            map[i] = add_text(into, text, length);
        }
        if (map[i] < 0)
            return -1;
    }
    return 0;
}

struct sort_entry {
    int64_t integer;
    const char *text; /* NULL: the id is the integer */
    int32_t code;
};

/* One order for all ids, so that where two of them stand does not depend on a third. */
static int compare_ids(const struct sort_entry *x, const struct sort_entry *y)
{
    if (x->text && y->text)
        return strcmp(x->text, y->text);
    if (x->text || y->text)
        return x->text ? 1 : -1;
    return (x->integer > y->integer) - (x->integer < y->integer);
}

static int compare_entries(const void *a, const void *b)
{
    return compare_ids(a, b);
}

static struct sort_entry entry_of(const char *text)
{
    const struct field field = {text, strlen(text)};
    struct sort_entry entry = {0, text, 0};
    if (field_integer(&field, &entry.integer) == 0)
        entry.text = NULL;
    return entry;
}

/* Decimal text with its NUL; returns the length without it. */
static size_t write_integer(int64_t value, char *out)
{
    char digits[20];
    size_t n = 0, used = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[n++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        out[used++] = '-';
    while (n > 0)
        out[used++] = digits[--n];
    out[used] = '\0';
    return used;
}

void id_map_free(struct id_map *map)
{
    free(map->bytes);
    free(map->offsets);
    free(map->sorted);
    memset(map, 0, sizeof *map);
}

static int id_map_reserve(struct id_map *out, int64_t n, size_t bytes)
{
    memset(out, 0, sizeof *out);
    out->n = n;
    out->bytes = memory_raw(bytes + 1, 1);
    out->offsets = memory_raw((size_t)n + 1, sizeof *out->offsets);
    if (out->bytes && out->offsets)
        return 0;
    id_map_free(out);
    return -1;
}

/* Texts of all codes in code order, NUL-terminated; offsets by code. */
static int write_texts(const struct ids *ids, struct id_map *texts)
{
    if (id_map_reserve(texts, ids->n, ids->n_bytes + (size_t)ids->n * 22) != 0)
        return -1;
    size_t used = 0;
    for (int64_t i = 0; i < ids->n; i++) {
        texts->offsets[i] = (int64_t)used;
        if (ids->lengths[i] < 0) {
            used += write_integer(ids->numbers[i], texts->bytes + used) + 1;
        } else {
            size_t length = (size_t)ids->lengths[i];
            memcpy(texts->bytes + used, ids->bytes + ids->numbers[i], length);
            used += length;
            texts->bytes[used++] = '\0';
        }
    }
    texts->offsets[ids->n] = (int64_t)used;
    return 0;
}

int ids_finish(const struct ids *ids, struct id_map *out, int32_t *rank)
{
    struct id_map texts;
    struct sort_entry *entries = memory_raw((size_t)ids->n, sizeof *entries);
    memset(out, 0, sizeof *out);
    if (!entries || write_texts(ids, &texts) != 0) {
        free(entries);
        return -1;
    }
    int status = id_map_reserve(out, ids->n, (size_t)texts.offsets[ids->n]);
    if (status == 0) {
        for (int64_t i = 0; i < ids->n; i++)
            entries[i] = (struct sort_entry){
                ids->numbers[i], ids->lengths[i] < 0 ? NULL : texts.bytes + texts.offsets[i], (int32_t)i};
        qsort(entries, (size_t)ids->n, sizeof *entries, compare_entries);
        size_t used = 0;
        for (int64_t i = 0; i < ids->n; i++) {
            const int32_t code = entries[i].code;
            size_t length = (size_t)(texts.offsets[code + 1] - texts.offsets[code]);
            memcpy(out->bytes + used, texts.bytes + texts.offsets[code], length);
            out->offsets[i] = (int64_t)used;
            used += length;
            rank[code] = (int32_t)i;
        }
        out->offsets[ids->n] = (int64_t)used;
    }
    id_map_free(&texts);
    free(entries);
    return status;
}

int32_t *ids_match(const struct ids *ids, const struct id_map *map)
{
    struct id_map names;
    int32_t *rank = memory_raw((size_t)ids->n + 1, sizeof *rank);
    int32_t *index = memory_raw((size_t)ids->n + 1, sizeof *index);
    if (!rank || !index || ids_finish(ids, &names, rank) != 0) {
        free(rank);
        free(index);
        return NULL;
    }
    for (int64_t code = 0; code < ids->n; code++)
        index[code] = (int32_t)id_map_find(map, id_map_text(&names, rank[code]));
    id_map_free(&names);
    free(rank);
    return index;
}

int id_map_reorder(const struct id_map *from, const int32_t *order, struct id_map *out)
{
    if (id_map_reserve(out, from->n, (size_t)from->offsets[from->n]) != 0)
        return -1;
    out->sorted = memory_raw((size_t)from->n + 1, sizeof *out->sorted);
    if (!out->sorted) {
        id_map_free(out);
        return -1;
    }
    size_t used = 0;
    for (int64_t i = 0; i < from->n; i++) {
        const int64_t begin = from->offsets[order[i]];
        const size_t length = (size_t)(from->offsets[order[i] + 1] - begin);
        memcpy(out->bytes + used, from->bytes + begin, length);
        out->offsets[i] = (int64_t)used;
        out->sorted[order[i]] = (int32_t)i;
        used += length;
    }
    out->offsets[from->n] = (int64_t)used;
    return 0;
}

int id_map_range(int64_t n, struct id_map *out)
{
    if (id_map_reserve(out, n, (size_t)n * 20) != 0)
        return -1;
    size_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        out->offsets[i] = (int64_t)used;
        used += write_integer(i + 1, out->bytes + used) + 1;
    }
    out->offsets[n] = (int64_t)used;
    return 0;
}

const char *id_map_text(const struct id_map *map, int64_t index)
{
    return index >= 0 && index < map->n ? map->bytes + map->offsets[index] : NULL;
}

int64_t id_map_find(const struct id_map *map, const char *text)
{
    const struct sort_entry wanted = entry_of(text);
    int64_t lo = 0, hi = map->n;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2, at = map->sorted ? map->sorted[middle] : middle;
        const struct sort_entry here = entry_of(map->bytes + map->offsets[at]);
        int order = compare_ids(&here, &wanted);
        if (order == 0)
            return at;
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return -1;
}
