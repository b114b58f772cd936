/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/feature_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "dpframe/privacy.h"
#include "dataset/feature_classes.h"
#include "dataset/ids.h"
#include "lines/file_rows.h"
#include "reading/public_file.h"

#define FIELDS 130 /* all kinds together: categories, flags as one, numbers, the year */

/* Of u.item, in the order of its flags. */
static const char *const genres[] = {"unknown",   "Action",   "Adventure",   "Animation", "Children's",
                                     "Comedy",    "Crime",    "Documentary", "Drama",     "Fantasy",
                                     "Film-Noir", "Horror",   "Musical",     "Mystery",   "Romance",
                                     "Sci-Fi",    "Thriller", "War",         "Western"};

/* One thing that a line says: a category (number 1), or a number. */
struct entry {
    int32_t line;
    int32_t field;
    int32_t level; /* a code of the field's ids, the position of a flag, or 0 */
    float number;
};

struct field_info {
    char *name;
    int kind;          /* DPF_FEATURE_* */
    struct ids levels; /* of categories */
    int32_t n_flags;   /* the columns of a field of flags; 0: no flags */
    int32_t first;     /* its first column */
    int32_t *rank;     /* of each level among its sorted names */
    struct id_map names;
};

struct parsing {
    const struct feature_options *options;
    struct public_file file;
    int has_header;
    int64_t line;   /* from 1 */
    struct ids ids; /* of the lines */
    struct field_info fields[FIELDS];
    int32_t n_fields, n_columns;
    int placed, id, categories[FEATURE_COLUMNS_MAX], flags[FEATURE_COLUMNS_MAX], numbers[FEATURE_COLUMNS_MAX],
        year;
    char *flag_names[FEATURE_COLUMNS_MAX];
    struct entry *entries;
    size_t n, capacity;
    struct text utf8; /* a field, as UTF-8 */
    int words;        /* of the column of the year alone: a title */
};

static void parsing_free(struct parsing *p)
{
    for (int i = 0; i < FIELDS; i++) {
        free(p->fields[i].name);
        free(p->fields[i].rank);
        ids_free(&p->fields[i].levels);
        id_map_free(&p->fields[i].names);
    }
    for (int i = 0; i < FEATURE_COLUMNS_MAX; i++)
        free(p->flag_names[i]);
    ids_free(&p->ids);
    free(p->entries);
    text_free(&p->utf8);
    public_file_free(&p->file);
}

static int fault(const struct parsing *p, struct dpf_error *error, const char *format, const char *shown)
{
    return error_at(error, DPF_FAULT_DATA, p->file.path, (long)p->line, format, shown);
}

/* ---- columns of the file --------------------------------------------------------------------------------
 */

static int place(const struct parsing *p, const char *name, int *column, struct dpf_error *error)
{
    *column = public_file_column(&p->file, name);
    return *column < 0 ? public_file_no_column(&p->file, "item-features", name, error) : 0;
}

static int place_all(const struct parsing *p, const struct feature_columns *columns, int *out,
                     struct dpf_error *error)
{
    for (int64_t i = 0; i < columns->n; i++)
        if (place(p, columns->names[i], &out[i], error) != 0)
            return -1;
    return 0;
}

/* What a column is called: by the header, else by what is known of the format, else by its number. */
static char *column_name(struct parsing *p, const char *known, const struct field *header, int column)
{
    if (p->has_header) {
        const struct field name = ids_as_utf8(&p->utf8, &header[column]);
        return memory_format("%.*s", (int)name.length, name.data);
    }
    return known ? memory_text(known) : memory_format("column %d", column + 1);
}

static struct field_info *add_field(struct parsing *p, int kind, char *name)
{
    struct field_info *field = &p->fields[p->n_fields++];
    field->kind = kind;
    field->name = name;
    return field;
}

static int add_fields(struct parsing *p, const struct field *header)
{
    const struct feature_options *o = p->options;
    const char *genre = o->format != FEATURES_TABLE ? "genre" : NULL;
    int missing = 0;
    for (int64_t i = 0; i < o->categories.n; i++)
        add_field(p, DPF_FEATURE_CATEGORY, column_name(p, genre, header, p->categories[i]));
    if (o->flags.n)
        add_field(p, DPF_FEATURE_CATEGORY, memory_text(genre ? genre : "flag"))->n_flags =
            (int32_t)o->flags.n;
    for (int64_t i = 0; i < o->flags.n; i++) {
        const int u_item = o->format == FEATURES_ML100K && o->flags.n == 19;
        p->flag_names[i] = column_name(p, u_item ? genres[i] : NULL, header, p->flags[i]);
        missing |= !p->flag_names[i];
    }
    for (int64_t i = 0; i < o->numbers.n; i++)
        add_field(p, DPF_FEATURE_NUMBER, column_name(p, NULL, header, p->numbers[i]));
    if (o->year.n)
        add_field(p, p->words ? DPF_FEATURE_CATEGORY : DPF_FEATURE_NUMBER,
                  memory_text(p->words ? "word" : "year"));
    for (int32_t i = 0; i < p->n_fields; i++)
        missing |= !p->fields[i].name;
    return missing ? -1 : 0;
}

/* Decides where everything is, from the first line. */
static int decide(struct parsing *p, const struct field *fields, struct dpf_error *error)
{
    const struct feature_options *o = p->options;
    if (place_all(p, &o->categories, p->categories, error) != 0 ||
        place_all(p, &o->flags, p->flags, error) != 0 || place_all(p, &o->numbers, p->numbers, error) != 0 ||
        place_all(p, &o->year, &p->year, error) != 0)
        return -1;
    p->placed = 1;
    return add_fields(p, fields) == 0 ? 0 : error_memory(error);
}

/* ---- lines ----------------------------------------------------------------------------------------------
 */

static int add_entry(struct parsing *p, int32_t line, int32_t field, int32_t level, double number,
                     struct dpf_error *error)
{
    struct entry *entries = memory_grow(p->entries, &p->capacity, p->n + 1, sizeof *entries);
    if (!entries)
        return error_memory(error);
    p->entries = entries;
    entries[p->n++] = (struct entry){line, field, level, (float)number};
    return 0;
}

static int add_category(struct parsing *p, int32_t line, int32_t index, struct field part,
                        struct dpf_error *error)
{
    while (part.length && part.data[0] == ' ') {
        part.data++;
        part.length--;
    }
    while (part.length && part.data[part.length - 1] == ' ')
        part.length--;
    if (part.length == 0)
        return 0;
    const struct field text = ids_as_utf8(&p->utf8, &part);
    const int32_t level = ids_add(&p->fields[index].levels, &text);
    return level < 0 ? error_memory(error) : add_entry(p, line, index, level, 1, error);
}

static int add_categories(struct parsing *p, int32_t line, int32_t index, const struct field *field,
                          struct dpf_error *error)
{
    struct field parts[FIELDS_MAX];
    static const struct delimiter bar = {.text = "|", .length = 1};
    char shown[96];
    const int64_t n = fields_split(&bar, field->data, field->length, parts);
    if (n > FIELDS_MAX)
        return fault(p, error, "%s has more than 64 categories between '|'", field_show(field, shown));
    for (int64_t i = 0; i < n; i++)
        if (add_category(p, line, index, parts[i], error) != 0)
            return -1;
    return 0;
}

static int add_flag(struct parsing *p, int32_t line, int32_t index, int32_t which, const struct field *field,
                    struct dpf_error *error)
{
    char shown[96];
    if (field_is(field, "1"))
        return add_entry(p, line, index, which, 1, error);
    return field->length == 0 || field_is(field, "0")
               ? 0
               : fault(p, error, "%s must be a flag, 0 or 1", field_show(field, shown));
}

static int add_number(struct parsing *p, int32_t line, int32_t index, const struct field *field,
                      struct dpf_error *error)
{
    char shown[96];
    double number;
    if (field->length == 0)
        return 0;
    if (field_real(field, &number) != 0 || !isfinite((float)number))
        return fault(p, error, "%s is not a number; leave the field empty if the number is missing",
                     field_show(field, shown));
    return add_entry(p, line, index, 0, number, error);
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "Toy Story (1995)", "01-Jan-1995": the four digits at the end; no entry without. */
static int add_year(struct parsing *p, int32_t line, int32_t index, const struct field *field,
                    struct dpf_error *error)
{
    size_t end = field->length;
    while (end > 0 && (field->data[end - 1] == ' ' || field->data[end - 1] == ')'))
        end--;
    const char *at = field->data + end - 4;
    if (end < 4 || !is_digit(at[0]) || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3]) ||
        (end > 4 && is_digit(at[-1])))
        return 0;
    const int year = (at[0] - '0') * 1000 + (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0');
    return add_entry(p, line, index, 0, year, error);
}

/* Letters and digits in any alphabet: bytes above ASCII are parts of letters. */
static int is_of_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static int is_common(const char *word)
{
    static const char *const common[] = {"the", "and", "for", "with", "from", "that", "this",
                                         "his", "her", "you", "your", "into", "are",  "was",
                                         "not", "all", "who", "what", "out",  "one",  "two"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (strcmp(word, common[i]) == 0)
            return 1;
    return 0;
}

/* Words of three letters and more, in lower case; what stands in brackets, as a year, is none. */
static int add_words(struct parsing *p, int32_t line, int32_t index, const struct field *title,
                     struct dpf_error *error)
{
    const struct field field = ids_as_utf8(&p->utf8, title);
    char word[64];
    int depth = 0;
    for (size_t at = 0; at < field.length;) {
        size_t length = 0, letters = 0, most = sizeof word;
        depth += field.data[at] == '(' ? 1 : field.data[at] == ')' && depth > 0 ? -1 : 0;
        for (; at < field.length && is_of_word(field.data[at]); at++) {
            const char c = field.data[at];
            letters += ((unsigned char)c & 0xc0) != 0x80;
            most -= most > 0;
            if (most > 0)
                word[length++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        at += length == 0;
        word[length] = '\0';
        if (depth > 0 || letters < 3 || most == 0 || is_common(word))
            continue;
        const struct field text = {word, length};
        const int32_t level = ids_add(&p->fields[index].levels, &text);
        if (level < 0)
            return error_memory(error);
        if (add_entry(p, line, index, level, 1, error) != 0)
            return -1;
    }
    return 0;
}

static int add_line(struct parsing *p, const struct field *fields, struct dpf_error *error)
{
    const struct feature_options *o = p->options;
    char shown[96];
    const struct field id = ids_as_utf8(&p->utf8, &fields[p->id]);
    const int64_t before = p->ids.n;
    if (id.length == 0)
        return fault(p, error, "the line has no id%s", "");
    const int32_t line = ids_add(&p->ids, &id);
    int32_t index = 0;
    int status = line < 0 ? error_memory(error) : 0;
    if (status == 0 && p->ids.n == before)
        status = fault(p, error, "%s occurs twice; keep one line for each id", field_show(&id, shown));
    for (int64_t i = 0; i < o->categories.n && status == 0; i++)
        status = add_categories(p, line, index++, &fields[p->categories[i]], error);
    for (int64_t i = 0; i < o->flags.n && status == 0; i++)
        status = add_flag(p, line, index, (int32_t)i, &fields[p->flags[i]], error);
    index += o->flags.n > 0;
    for (int64_t i = 0; i < o->numbers.n && status == 0; i++)
        status = add_number(p, line, index++, &fields[p->numbers[i]], error);
    if (o->year.n && status == 0)
        status = p->words ? add_words(p, line, index, &fields[p->year], error)
                          : add_year(p, line, index, &fields[p->year], error);
    return status;
}

static int widest(const struct parsing *p)
{
    const struct feature_options *o = p->options;
    int column = p->id;
    for (int64_t i = 0; i < FEATURE_COLUMNS_MAX; i++) {
        column = i < o->categories.n && p->categories[i] > column ? p->categories[i] : column;
        column = i < o->flags.n && p->flags[i] > column ? p->flags[i] : column;
        column = i < o->numbers.n && p->numbers[i] > column ? p->numbers[i] : column;
    }
    return o->year.n && p->year > column ? p->year : column;
}

static int take_row(void *context, int64_t line, const struct field *fields, int64_t n,
                    struct dpf_error *error)
{
    struct parsing *p = context;
    char shown[96], name[32];
    p->line = line;
    const int first = !p->placed;
    if (first && decide(p, fields, error) != 0)
        return -1;
    if (first && p->has_header)
        return 0;
    if (n <= widest(p))
        return error_at(error, DPF_FAULT_DATA, p->file.path, (long)p->line,
                        "%lld field(s) separated by %s, beginning with %s: a column of features is missing",
                        (long long)n, delimiter_name(&p->file.delimiter, name),
                        field_show(&fields[0], shown));
    return add_line(p, fields, error);
}

/* The first line is a header if a key names a column by it, or if it names the column of the ids, which is the first column
   else. */
static void decide_header(struct parsing *p)
{
    const struct feature_options *o = p->options;
    const int id = public_file_id_column(&p->file, DPF_SIDE_ITEMS, o->item);
    p->has_header = id >= 0 || o->by_name;
    p->id = id < 0 ? 0 : id;
}

/* All lines count, as the file is public: what it holds is not about who is in the records. */
static void warn_of_silence(const struct parsing *p)
{
    unsigned char speaks[FIELDS] = {0};
    for (size_t i = 0; i < p->n; i++)
        speaks[p->entries[i].field] = 1;
    for (int32_t f = 0; f < p->n_fields; f++) {
        const int is_year = p->options->year.n && f == p->n_fields - 1;
        if (speaks[f] || p->words)
            continue;
        log_message(
            LOG_LEVEL_WARNING, "%s: %s%s%s", p->file.path,
            is_year ? "no line has a text that ends in a year, as in Toy Story (1995), in the column that "
                      "item-features.year-of names"
                    : "no line says anything in the column ",
            is_year ? "" : p->fields[f].name, is_year ? ", so that there is no feature of years" : "");
    }
}

static int read_file(struct parsing *p, struct dpf_error *error)
{
    if (public_file_look(p->options->path, &p->file, error) != 0)
        return -1;
    if (p->file.column)
        return error_at(error, DPF_FAULT_DATA, p->options->path, 0, "there is no such file");
    decide_header(p);
    if (file_rows_read(p->file.path, &p->file.delimiter, p->file.quoting, take_row, p, error) != 0)
        return -1;
    if (p->ids.n == 0)
        return error_at(error, DPF_FAULT_DATA, p->file.path, (long)p->line,
                        "the file of features has no lines");
    warn_of_silence(p);
    return p->has_header ? 0 : public_file_header_read(&p->file, &p->ids, error);
}

/* ---- columns of the table -------------------------------------------------------------------------------
 */

/* Numbers the columns: fields in their order, categories of a field in the order of their names. */
static int number_columns(struct parsing *p)
{
    for (int32_t i = 0; i < p->n_fields; i++) {
        struct field_info *field = &p->fields[i];
        field->first = p->n_columns;
        if (field->kind == DPF_FEATURE_NUMBER || field->n_flags) {
            p->n_columns += field->n_flags ? field->n_flags : 1;
            continue;
        }
        field->rank = memory_raw((size_t)field->levels.n + 1, sizeof *field->rank);
        if (!field->rank || ids_finish(&field->levels, &field->names, field->rank) != 0)
            return -1;
        p->n_columns += (int32_t)field->levels.n;
    }
    return 0;
}

static int32_t column_of(const struct parsing *p, const struct entry *entry)
{
    const struct field_info *field = &p->fields[entry->field];
    return field->first + (field->rank ? field->rank[entry->level] : entry->level);
}

static int name_columns(const struct parsing *p, struct feature_table *out)
{
    for (int32_t i = 0; i < p->n_fields; i++) {
        const struct field_info *field = &p->fields[i];
        const int32_t end = i + 1 < p->n_fields ? p->fields[i + 1].first : p->n_columns;
        for (int32_t c = field->first; c < end; c++) {
            const int32_t level = c - field->first;
            char *name = field->kind == DPF_FEATURE_NUMBER ? memory_text(field->name)
                         : field->n_flags
                             ? memory_format("%s=%s", field->name, p->flag_names[level])
                             : memory_format("%s=%s", field->name, id_map_text(&field->names, level));
            if (!name)
                return -1;
            out->column[c] =
                (dpf_feature_column){.name = name, .kind = field->kind, .field = i, .deviation = 1};
        }
    }
    return 0;
}

/* Means and deviations over all lines, by two passes. */
static int describe_columns(const struct parsing *p, struct feature_table *out)
{
    double *n = memory_new((size_t)p->n_columns + 1, sizeof *n),
           *squares = memory_new((size_t)p->n_columns + 1, sizeof *n);
    dpf_feature_column *column = out->column;
    int status = n && squares ? 0 : -1;
    for (size_t i = 0; i < p->n && status == 0; i++) {
        const int32_t c = column_of(p, &p->entries[i]);
        column[c].mean += (double)p->entries[i].number;
        n[c]++;
    }
    for (int32_t c = 0; c < p->n_columns && status == 0; c++)
        column[c].mean /= column[c].kind == DPF_FEATURE_NUMBER ? fmax(n[c], 1) : (double)p->ids.n;
    for (size_t i = 0; i < p->n && status == 0; i++) {
        const int32_t c = column_of(p, &p->entries[i]);
        const double off = (double)p->entries[i].number - column[c].mean;
        squares[c] += off * off;
    }
    for (int32_t c = 0; c < p->n_columns && status == 0; c++)
        if (column[c].kind == DPF_FEATURE_NUMBER && squares[c] > 0)
            column[c].deviation = sqrt(squares[c] / n[c]);
    free(n);
    free(squares);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------
 */

/* The row of each line, or -1: it is of an id that the run does not have. rows NULL: lines are rows. */
static int32_t *match_lines(const struct parsing *p, const struct id_map *rows)
{
    struct id_map map = {0};
    int32_t *rank = memory_raw((size_t)p->ids.n + 1, sizeof *rank);
    for (int64_t line = 0; rank && !rows && line < p->ids.n; line++)
        rank[line] = (int32_t)line;
    if (rank && !rows)
        return rank;
    if (!rank || ids_finish(&p->ids, &map, rank) != 0) {
        free(rank);
        return NULL;
    }
    for (int64_t line = 0; line < p->ids.n; line++)
        rank[line] = (int32_t)id_map_find(rows, id_map_text(&map, rank[line]));
    id_map_free(&map);
    return rank;
}

/* Inserts in order of columns; a category that a line names twice is one. */
static void put(struct feature_table *out, int64_t row, int64_t *end, int32_t column, float value)
{
    int64_t at = *end;
    for (; at > out->ptr[row] && out->at[at - 1] >= column; at--)
        if (out->at[at - 1] == column)
            return;
    for (int64_t i = *end; i > at; i--) {
        out->at[i] = out->at[i - 1];
        out->values[i] = out->values[i - 1];
    }
    out->at[at] = column;
    out->values[at] = value;
    ++*end;
}

static void fill_rows(const struct parsing *p, const int64_t *starts, struct feature_table *out)
{
    int64_t end = 0;
    for (int64_t row = 0; row < out->rows; row++) {
        out->ptr[row] = end;
        const size_t first = starts[row] < 0 ? p->n : (size_t)starts[row];
        for (size_t i = first; i < p->n && p->entries[i].line == p->entries[first].line; i++)
            put(out, row, &end, column_of(p, &p->entries[i]), p->entries[i].number);
    }
    out->ptr[out->rows] = end;
}

static int build(struct parsing *p, const struct id_map *rows, struct feature_table *out)
{
    if (number_columns(p) != 0)
        return -1;
    out->rows = rows ? rows->n : p->ids.n;
    out->columns = p->n_columns;
    out->n_fields = p->n_fields;
    out->column = memory_new((size_t)p->n_columns + 1, sizeof *out->column);
    out->ptr = memory_new((size_t)out->rows + 1, sizeof *out->ptr);
    out->at = memory_raw(p->n + 1, sizeof *out->at);
    out->values = memory_raw(p->n + 1, sizeof *out->values);
    int32_t *row_of = match_lines(p, rows);
    int64_t *starts = memory_raw((size_t)out->rows + 1, sizeof *starts); /* first entry of each row, or -1 */
    int status = out->column && out->ptr && out->at && out->values && row_of && starts ? 0 : -1;
    for (int64_t row = 0; row < out->rows && status == 0; row++)
        starts[row] = -1;
    for (size_t i = p->n; i-- > 0 && status == 0;)
        if (row_of[p->entries[i].line] >= 0)
            starts[row_of[p->entries[i].line]] = (int64_t)i;
    if (status == 0)
        status = name_columns(p, out);
    if (status == 0)
        status = describe_columns(p, out);
    if (status == 0)
        fill_rows(p, starts, out);
    free(row_of);
    free(starts);
    return status;
}

static int load(const struct feature_options *options, int words, const struct id_map *rows,
                struct feature_table *out, struct dpf_error *error)
{
    struct parsing *p = memory_need(1, sizeof *p);
    p->options = options;
    p->words = words;
    int status = read_file(p, error);
    if (status == 0 && build(p, rows, out) != 0)
        status = error_memory(error);
    parsing_free(p);
    free(p);
    return status;
}

int feature_file_load(const struct feature_options *options, const struct id_map *rows,
                      struct feature_table *out, struct dpf_error *error)
{
    return options->path[0] ? load(options, 0, rows, out, error) : 0;
}

int feature_file_words(const struct feature_options *options, const struct id_map *rows,
                       struct feature_table *out, struct dpf_error *error)
{
    struct feature_options titles = *options;
    titles.categories.n = titles.flags.n = titles.numbers.n = 0;
    return options->path[0] && options->year.n ? load(&titles, 1, rows, out, error) : 0;
}

int feature_file_check_sets(const struct feature_options *options, struct dpf_error *error)
{
    struct feature_table features = {.rows = 0};
    struct feature_classes classes = {.n = 0};
    if (access(options->path, R_OK) != 0)
        return 0;
    if (feature_file_load(options, NULL, &features, error) != 0)
        return -1;
    unsigned char *wide = feature_wide_columns(&features);
    const int status = wide && feature_classes_make(&features, wide, &classes) == 0
                           ? feature_classes_check(&classes, error)
                           : error_memory(error);
    free(wide);
    feature_classes_free(&classes);
    feature_table_free(&features);
    return status;
}
