/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/draw_pairs.h"

#include <stdio.h>
#include <string.h>

#include "base/prf.h"
#include "base/text.h"
#include "dpframe/privacy.h"
#include "kit/draw_odd.h"
#include "reading/data_params.h"

void draw_promise_of(const struct plan *plan, struct draw_promise *promise)
{
    const dpf_value *privacy = plan->privacy.params.values, *data = plan->data.params.values;
    *promise = (struct draw_promise){
        .plan = plan,
        .unit = plan->guarantee.unit,
        .adjacency = plan->guarantee.adjacency,
        .implicit = data[D_FEEDBACK].integer == 1,
        .ids_public = privacy[PRIVACY_ID_LISTS].integer == 1,
        .listed = {*data[D_USERS_FILE].text != '\0', *data[D_ITEMS_FILE].text != '\0'},
    };
    promise->same_cells =
        promise->adjacency == DPF_ADJ_REPLACE_VALUE ||
        (promise->adjacency == DPF_ADJ_ZERO_OUT && privacy[PRIVACY_INTERACTION_PATTERN].integer == 1);
}

/* ---- pivots ------------------------------------------------------------------------------------------- */

struct making {
    struct draw_pair *pair;
    struct draw_random *random;
    const struct drawing *drawing;
    const struct draw_promise *promise;
};

static int is_of_unit(const struct making *m, const struct draw_line *line)
{
    return line->user == m->pair->user && (m->promise->unit == DPF_UNIT_USER || line->item == m->pair->item);
}

/* Lines of the unit; the last one's place in *at. */
static int count_unit(const struct making *m, int *at)
{
    int n = 0;
    for (int i = 0; i < m->pair->data.n; i++)
        if (is_of_unit(m, &m->pair->data.lines[i])) {
            n++;
            *at = i;
        }
    return n;
}

static void move_line(struct draw_data *data, int from, int to)
{
    const struct draw_line line = data->lines[from];
    if (from < to)
        memmove(&data->lines[from], &data->lines[from + 1], (size_t)(to - from) * sizeof line);
    else
        memmove(&data->lines[to + 1], &data->lines[to], (size_t)(from - to) * sizeof line);
    data->lines[to] = line;
}

/* The unit's lines come first in the first file. */
static int put_first(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    for (int i = 0, to = 0; i < data->n; i++)
        if (is_of_unit(m, &data->lines[i])) {
            data->lines[i].file = 0;
            move_line(data, i, to++);
        }
    return data->n > 0;
}

static int put_last(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    for (int i = data->n - 1, to = data->n - 1; i >= 0; i--)
        if (is_of_unit(m, &data->lines[i])) {
            data->lines[i].file = data->files - 1;
            move_line(data, i, to--);
        }
    data->unended = draw_chance(m->random, 50);
    return data->n > 0;
}

/* The next line, of somebody else, begins with bytes that only a file begins with. */
static int before_a_mark(struct making *m)
{
    static const char *const marks[] = {"\xef\xbb\xbf", "\x1f\x8b", "\xff\xfe", "user"};
    struct draw_data *data = &m->pair->data;
    int at = -1;
    put_first(m);
    for (int i = 0; i < data->n && at < 0; i++)
        if (data->lines[i].file == 0 && !is_of_unit(m, &data->lines[i]))
            at = i;
    if (at < 0)
        return 0;
    struct draw_line *line = &data->lines[at];
    const char *mark = marks[draw_below(m->random, 4)], *id = draw_id(0, line->user);
    char text[30];
    snprintf(text, sizeof text, "%s%s", mark, strcmp(mark, "user") == 0 ? "" : id);
    draw_line_set(line, 0, text, strlen(text));
    line->user = -1; /* somebody that no unit is made of */
    line->intact = 0;
    return 1;
}

/* A file whose name says that it is compressed begins with the unit's line, which begins like such a file. */
static int looks_compressed(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    int at = -1;
    put_first(m);
    data->gz_name[0] = 1;
    if (m->promise->unit != DPF_UNIT_USER)
        return data->n > 0;
    for (int i = 0; i < data->n && at < 0; i++)
        if (is_of_unit(m, &data->lines[i]))
            at = i;
    if (at < 0)
        return 0;
    draw_line_set(&data->lines[at], 0,
                  "\x1f\x8b"
                  "8",
                  3);
    data->lines[at].intact = 0;
    return 1;
}

static int alone_in_file(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    data->files = 2;
    for (int i = 0; i < data->n; i++)
        data->lines[i].file = is_of_unit(m, &data->lines[i]);
    return 1;
}

/* Times are in one file alone: all others' or the unit's. */
static int alone_without_time(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    const int lacks = draw_chance(m->random, 70);
    if (!data->form.time || data->form.sections || (data->form.header == 0 && data->form.weight))
        return 0;
    alone_in_file(m);
    data->without_time[lacks] = 1;
    for (int i = 0; i < data->n; i++) {
        struct draw_line *line = &data->lines[i];
        if (line->file != lacks || line->n < 4)
            continue;
        line->fields[3] = line->fields[4];
        line->n--;
    }
    /* Somebody else has two records of one pair, which times tell apart. */
    for (int i = 0, n = data->n; i < n; i++)
        if (!is_of_unit(m, &data->lines[i]) && draw_chance(m->random, 30)) {
            const struct draw_line line = data->lines[i];
            draw_data_add(data, m->random, draw_below(m->random, i + 1), line.file, line.user, line.item);
            n++;
            i++;
        }
    return 1;
}

static int only_of_item(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    for (int i = data->n - 1; i >= 0; i--)
        if (data->lines[i].item == m->pair->item && data->lines[i].user != m->pair->user)
            draw_data_remove(data, i);
    return 1;
}

static int only_of_user(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    for (int i = data->n - 1; i >= 0; i--)
        if (data->lines[i].user == m->pair->user && data->lines[i].item != m->pair->item)
            draw_data_remove(data, i);
    return 1;
}

/* The unit has all the records that there are, or all but one. */
static int nearly_alone(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    const int others = draw_below(m->random, 2);
    for (int i = data->n - 1, kept = 0; i >= 0; i--)
        if (!is_of_unit(m, &data->lines[i]) && kept++ >= others)
            draw_data_remove(data, i);
    return 1;
}

/* So many records that the unit's one makes a number of the configuration. */
static int reach_a_count(struct making *m)
{
    static const char *const keys[] = {"filter.item-min", "filter.user-min", "filter.user-max"};
    struct draw_data *data = &m->pair->data;
    int64_t wanted = 0;
    int of_item = 0, n = 0;
    for (int i = 0; i < 3 && wanted <= 0; i++) {
        const int most = i == 2; /* of a maximum, one more */
        wanted = drawing_integer(m->drawing, "data", keys[i], 0) + most;
        of_item = i == 0;
        wanted = wanted > most ? wanted : 0;
    }
    if (wanted <= 0 || wanted > (of_item ? data->users : data->items))
        return 0;
    for (int i = data->n - 1; i >= 0; i--) { /* the unit's line counts, too */
        const struct draw_line *line = &data->lines[i];
        if (of_item ? line->item != m->pair->item : line->user != m->pair->user)
            continue;
        if (!(line->user == m->pair->user && line->item == m->pair->item) && n++ >= wanted - 1)
            draw_data_remove(data, i);
    }
    for (int other = 0; n < wanted - 1 && other < (of_item ? data->users : data->items); other++) {
        int has = other == (of_item ? m->pair->user : m->pair->item);
        for (int i = 0; i < data->n; i++)
            has |= of_item ? data->lines[i].item == m->pair->item && data->lines[i].user == other
                           : data->lines[i].user == m->pair->user && data->lines[i].item == other;
        if (has)
            continue;
        draw_data_add(data, m->random, -1, 0, of_item ? other : m->pair->user,
                      of_item ? m->pair->item : other);
        n++;
    }
    return 1;
}

static void set_fraction(const struct making *m, struct draw_line *line)
{
    char text[16];
    snprintf(text, sizeof text, "1000.%d", draw_below(m->random, 10));
    draw_line_set(line, 3, text, strlen(text));
}

/* The unit's first line has a time that others' are not like. */
static int odd_time(struct making *m)
{
    static const char *const times[] = {"-5", "99999999999", "1000.5", "1e12"};
    struct draw_data *data = &m->pair->data;
    if (!data->form.time || data->form.sections)
        return 0;
    data->odd_times = 60;
    for (int i = 0; i < data->n; i++) /* others have two lines of a pair, told apart by fractions */
        if (!is_of_unit(m, &data->lines[i]) && data->lines[i].n > 3 && draw_chance(m->random, 25)) {
            const struct draw_line line = data->lines[i];
            set_fraction(m, draw_data_add(data, m->random, i, line.file, line.user, line.item));
            set_fraction(m, &data->lines[++i]);
        }
    put_first(m);
    const char *time = times[draw_below(m->random, 4)];
    for (int i = 0; i < data->n; i++)
        if (is_of_unit(m, &data->lines[i]) && data->lines[i].n > 3) {
            draw_line_set(&data->lines[i], 3, time, strlen(time));
            break;
        }
    return 1;
}

/* A line of the unit's is what a section of items begins with, or two files begin with. */
static int like_a_section(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    int n = 0, at = -1;
    if (m->promise->unit != DPF_UNIT_USER || !data->form.sections)
        return 0;
    for (int i = 0; i < data->n; i++)
        if (is_of_unit(m, &data->lines[i]) && draw_below(m->random, ++n) == 0)
            at = i;
    if (at < 0)
        return 0;
    char text[30];
    snprintf(text, sizeof text, "%s:", draw_id(1, draw_below(m->random, data->items)));
    struct draw_line *line =
        draw_data_add(data, m->random, at, data->lines[at].file, m->pair->user, data->lines[at].item);
    line->n = 0;
    line->intact = 0;
    draw_line_set(line, 0, text, strlen(text));
    return 1;
}

/* So many users have records, and the unit's is one of them. */
static int keep_users(struct making *m, int64_t wanted)
{
    struct draw_data *data = &m->pair->data;
    int kept = 1;
    uint8_t stays[DRAW_USERS] = {0};
    if (wanted < 2)
        return 0;
    stays[m->pair->user] = 1;
    for (int i = 0; i < data->n; i++) {
        const int user = data->lines[i].user;
        if (user >= 0 && !stays[user] && kept < wanted) {
            stays[user] = 1;
            kept++;
        }
    }
    for (int i = data->n - 1; i >= 0; i--)
        if (data->lines[i].user >= 0 && !stays[data->lines[i].user])
            draw_data_remove(data, i);
    for (int user = 0; kept < wanted && user < DRAW_USERS; user++)
        if (!stays[user]) {
            draw_data_add(data, m->random, -1, 0, user, draw_below(m->random, data->items));
            kept++;
        }
    return 1;
}

/* So many that the unit's makes a number of the configuration, or one more. */
static int reach_users(struct making *m)
{
    static const char *const keys[] = {"users", "survivors", "threshold", "min-honest", "max-curious"};
    int64_t wanted = 0;
    int n = 0;
    for (int i = 0; i < m->drawing->n; i++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            const struct draw_setting *s = &m->drawing->settings[i];
            int64_t value;
            if (strcmp(s->key, keys[k]) == 0 && text_to_int(s->value, &value) == 0 && value > 1 &&
                draw_below(m->random, ++n) == 0)
                wanted = value + draw_below(m->random, 2);
        }
    return keep_users(m, wanted);
}

/* A term whose users take turns by their ids, which nobody has listed, or NULL. */
static const struct term_plan *term_of_turns(const struct draw_promise *promise)
{
    const struct plan *plan = promise->plan;
    const struct term_plan *term = NULL;
    for (int s = 0; s < 2 && !promise->listed[0]; s++)
        for (int t = 0; t < plan->sides[s].n_terms; t++)
            if (plan->sides[s].terms[t].sampler &&
                plan->sides[s].terms[t].sampling.kind == DPF_SAMPLING_CYCLIC)
                term = &plan->sides[s].terms[t];
    return term;
}

int draw_takes_turns(const struct draw_promise *promise)
{
    return term_of_turns(promise) != NULL;
}

/* Users whose ids put all of them into one group, of those that take turns, and about as many as may be too many. */
static int take_turns_together(struct making *m)
{
    const struct plan *plan = m->promise->plan;
    const struct term_plan *term = term_of_turns(m->promise);
    int numbers[DRAW_USERS], n = 0;
    char purpose[128];
    struct prf keys;
    if (!term)
        return 0;
    snprintf(purpose, sizeof purpose, "users of %s", term->name);
    prf_open(plan->seeded, "sampler", purpose, &keys);
    for (int id = 1 + draw_below(m->random, 100); n < DRAW_USERS && id < 100000; id++) {
        char text[16];
        snprintf(text, sizeof text, "%d", id);
        if (prf_part(prf_value(&keys, text), (uint64_t)term->sampling.separation) == 0)
            numbers[n++] = id;
    }
    if (n < DRAW_USERS)
        return 0;
    draw_name_users(numbers);
    m->pair->names_users = 1;
    for (int i = 0; i < m->pair->data.n; i++) /* lines say whose they are */
        if (m->pair->data.lines[i].user >= 0) {
            const char *id = draw_id(0, m->pair->data.lines[i].user);
            draw_line_set(&m->pair->data.lines[i], 0, id, strlen(id));
        }
    return keep_users(m, 9 + draw_below(m->random, 9));
}

/* Two lines of one pair. */
static int twice(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    draw_data_add(data, m->random, draw_below(m->random, data->n + 1), draw_below(m->random, data->files),
                  m->pair->user, m->pair->item);
    return 1;
}

static int any(struct making *m)
{
    (void)m;
    return 1;
}

static const struct {
    const char *name;
    int (*arrange)(struct making *m);
    const char *keys[6]; /* that it is about */
} pivots[] = {
    {"any", any, {0}},
    {"first-line", put_first, {"header", "fields"}},
    {"last-line", put_last, {0}},
    {"before-a-mark", before_a_mark, {"header", "encoding", "fields"}},
    {"looks-compressed", looks_compressed, {"header", "fields"}},
    {"alone-in-file", alone_in_file, {"column.rating", "fields"}},
    {"alone-without-time", alone_without_time, {"duplicates", "column.time", "filter.keep"}},
    {"only-of-item", only_of_item, {"items-file", "id-lists"}},
    {"only-of-user", only_of_user, {"users-file", "id-lists", "users"}},
    {"nearly-alone", nearly_alone, {"by", "kind", "users"}},
    {"reach-a-count", reach_a_count, {"filter.item-min", "filter.user-min", "filter.user-max"}},
    {"twice", twice, {"duplicates"}},
    {"odd-time", odd_time, {"duplicates", "by", "filter.keep", "column.time", "kind"}},
    {"like-a-section", like_a_section, {"format"}},
    {"reach-users", reach_users, {"users", "survivors", "threshold", "min-honest", "max-curious"}},
    {"take-turns-together", take_turns_together, {"groups", "separation"}},
};
#define N_PIVOTS ((int)(sizeof pivots / sizeof pivots[0]))

int draw_pivot_named(const char *name)
{
    int p = N_PIVOTS - 1;
    while (p >= 0 && strcmp(pivots[p].name, name) != 0)
        p--;
    return p;
}

int draw_pivot_is_number(const char *name)
{
    return strcmp(name, "reach-a-count") == 0 || strcmp(name, "reach-users") == 0 ||
           strcmp(name, "take-turns-together") == 0;
}

int draw_has_pivot(const char *name)
{
    int any = 0;
    for (int p = 0; p < N_PIVOTS; p++)
        for (int k = 0; k < 6 && pivots[p].keys[k]; k++)
            any |= strcmp(pivots[p].keys[k], name) == 0;
    return any;
}

int draw_pivot_for(struct draw_random *random, const struct draw_key *key)
{
    int chosen = -1, n = 0;
    for (int p = 0; p < N_PIVOTS && key; p++)
        for (int k = 0; k < 6 && pivots[p].keys[k]; k++)
            if (strcmp(pivots[p].keys[k], key->param->name) == 0 && draw_below(random, ++n) == 0)
                chosen = p;
    return chosen;
}

/* ---- changes ------------------------------------------------------------------------------------------ */

/* The second data set has it in another form. */
static struct draw_line *second_form(struct making *m, int at)
{
    struct draw_data *data = &m->pair->data;
    draw_data_add(data, m->random, at + 1, data->lines[at].file, 0, 0);
    data->lines[at + 1] = data->lines[at];
    data->lines[at].where = IN_FIRST;
    data->lines[at + 1].where = IN_SECOND;
    return &data->lines[at + 1];
}

static void take_out(struct making *m)
{
    m->pair->change = "gone";
    for (int i = 0; i < m->pair->data.n; i++)
        if (is_of_unit(m, &m->pair->data.lines[i]))
            m->pair->data.lines[i].where = IN_FIRST;
}

/* Each line has another value; is_void: one that is none, else any. */
static void change_values(struct making *m, int is_void)
{
    struct draw_data *data = &m->pair->data;
    m->pair->change = is_void ? "void values" : "other values";
    for (int i = 0; i < data->n; i++) {
        if (!is_of_unit(m, &data->lines[i]) || data->lines[i].where != IN_BOTH)
            continue;
        struct draw_line *line = second_form(m, i++);
        if (is_void || draw_chance(m->random, 60))
            draw_odd_value(line, m->random, &data->form);
        else
            draw_line_set(line, data->form.sections ? 1 : 2, draw_chance(m->random, 50) ? "1" : "5", 1);
    }
}

/* Lines become faulty in any way that leaves their ids. */
static void make_faulty(struct making *m, int whole)
{
    struct draw_data *data = &m->pair->data;
    m->pair->change = whole ? "nothing of it can be read" : "faulty lines";
    for (int i = 0; i < data->n; i++) {
        if (!is_of_unit(m, &data->lines[i]) || data->lines[i].where != IN_BOTH)
            continue;
        struct draw_line *line = second_form(m, i++);
        if (whole)
            draw_odd_rest(line, m->random, &data->form);
        else
            draw_odd_line(line, m->random, &data->form);
    }
}

/* The user has other records, anywhere. */
static void replace_records(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    take_out(m);
    m->pair->change = "other records";
    for (int n = draw_below(m->random, 4) + 1; n > 0; n--) {
        struct draw_line *line = draw_data_add(data, m->random, draw_below(m->random, data->n + 1),
                                               draw_below(m->random, data->files), m->pair->user,
                                               draw_below(m->random, data->items));
        line->where = IN_SECOND;
        if (draw_chance(m->random, 25))
            draw_odd_line(line, m->random, &data->form);
    }
}

/* Whoever comes or goes may bring faulty lines alone. */
static void take_out_faulty(struct making *m)
{
    const int whole = draw_chance(m->random, 30);
    for (int i = 0; i < m->pair->data.n; i++)
        if (is_of_unit(m, &m->pair->data.lines[i])) {
            if (whole)
                draw_odd_rest(&m->pair->data.lines[i], m->random, &m->pair->data.form);
            else
                draw_odd_line(&m->pair->data.lines[i], m->random, &m->pair->data.form);
        }
    take_out(m);
    m->pair->change = "faulty lines gone";
}

static void change_unit(struct making *m)
{
    const int adjacency = m->promise->adjacency;
    if (adjacency == DPF_ADJ_REPLACE_VALUE)
        change_values(m, draw_chance(m->random, 60));
    else if (m->promise->same_cells)
        change_values(m, 1);
    else if (adjacency == DPF_ADJ_REPLACE && draw_chance(m->random, 50))
        replace_records(m);
    else if (draw_chance(m->random, 60))
        take_out(m);
    else if (adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_FLIP)
        take_out_faulty(m);
    else
        make_faulty(m, draw_chance(m->random, 30));
}

/* ---- a pair ------------------------------------------------------------------------------------------- */

/* Ids of lines whose ids can be read: a bit each. */
static void ids_of(const struct draw_data *data, int where, int *users, int *items)
{
    *users = *items = 0;
    for (int i = 0; i < data->n; i++)
        if ((data->lines[i].where & where) && data->lines[i].intact && data->lines[i].user >= 0) {
            *users |= 1 << data->lines[i].user;
            *items |= 1 << data->lines[i].item;
        }
}

/* Lists that are declared to be public are the same, and so are cells that are. */
static int is_promised(const struct making *m)
{
    int users[2], items[2], n[2] = {0, 0};
    for (int w = 0; w < 2; w++)
        ids_of(&m->pair->data, w + 1, &users[w], &items[w]);
    for (int i = 0; i < m->pair->data.n; i++)
        for (int w = 0; w < 2; w++)
            n[w] += (m->pair->data.lines[i].where >> w) & 1;
    if (m->promise->ids_public && ((users[0] != users[1] && !m->promise->listed[0]) ||
                                   (items[0] != items[1] && !m->promise->listed[1])))
        return 0;
    return n[0] > 0 && (m->promise->same_cells ? n[1] == n[0] : 1);
}

/* Neighbours are neighbours either way: the unit may be what comes. */
static void turn_round(struct draw_data *data)
{
    for (int i = 0; i < data->n; i++)
        if (data->lines[i].where != IN_BOTH)
            data->lines[i].where = IN_BOTH - data->lines[i].where;
}

static void draw_oddities(struct making *m)
{
    struct draw_data *data = &m->pair->data;
    if (draw_chance(m->random, 50))
        return;
    for (int i = 0; i < data->n; i++)
        if (!is_of_unit(m, &data->lines[i]) && data->lines[i].user >= 0 && draw_chance(m->random, 12)) {
            if (draw_chance(m->random, 70))
                draw_odd_line(&data->lines[i], m->random, &data->form);
            else
                draw_odd_rest(&data->lines[i], m->random, &data->form);
        }
}

int draw_pair_make(struct draw_pair *pair, struct draw_random *random, const struct drawing *drawing,
                   const struct draw_promise *promise, int pivot)
{
    struct making m = {pair, random, drawing, promise};
    int at = -1;
    *pair = (struct draw_pair){0};
    draw_data_make(&pair->data, random, drawing);
    const struct draw_line *line = &pair->data.lines[draw_below(random, pair->data.n)];
    pair->user = line->user;
    pair->item = line->item;
    const int which = pivot >= 0 ? pivot : draw_below(random, N_PIVOTS);
    pair->pivot = pivots[which].name;
    if (!pivots[which].arrange(&m) || count_unit(&m, &at) == 0)
        return 0;
    draw_oddities(&m);
    pair->data.crlf = draw_chance(random, 10);
    change_unit(&m);
    const int promised = is_promised(&m);
    if (draw_chance(random, 30))
        turn_round(&pair->data);
    return promised;
}
