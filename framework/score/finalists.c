/* SPDX-License-Identifier: Apache-2.0 */
#include "score/finalists.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "score/top.h"

struct near_kernels {
    void (*few)(const float *values, const int32_t *columns, int64_t n, int64_t first, const float *panel,
                float *out);
    void (*panel)(const float *users, const float *panel, int64_t stride, float *out, int64_t out_ld);
    int64_t (*find)(const float *x, int64_t n, float bar, int32_t *places);
    int64_t (*count)(const float *x, int64_t n, float bar);
    int64_t (*look_up)(const float *x, int64_t n, float low, float scale, float last, const float *table,
                       int32_t *places, int64_t *n_listed);
    void (*largest)(const float *x, int64_t n, float *out);
};

#define SIMD_TEMPLATE "score/near_scores.h"
#include "simd/each_kind.h"

#define BLOCK NEAR_BLOCK
#define FEW 6          /* positives: up to here counting beats looking up */
#define MANY (1 << 19) /* positives: from here on kernels do not count exactly */
#define SLOTS 4096     /* intervals of score, at most */

/* ---- items ----------------------------------------------------------------------------------------- */

/* By score, of equal ones the first: the list of everybody whose row is 1 in that column, but for what leaves it. */
static int order_items(struct finalist_items *items, int64_t column, const uint8_t *barred)
{
    const struct score_products *p = &items->scorer->products;
    int64_t n = 0;
    items->column = column;
    items->order = memory_raw((size_t)items->n_items + 1, sizeof *items->order);
    items->above = memory_raw((size_t)items->n_items + 1, sizeof *items->above);
    if (!items->order || !items->above)
        return -1;
    for (int64_t i = 0; i < items->n_items; i++)
        if (!barred || !barred[i])
            items->order[n++] = (struct top_entry){p->offset + (double)p->items[i * p->stride + column], i};
    items->n_ordered = n;
    top_sort(items->order, n);
    for (int64_t from = 0, end; from < n; from = end) {
        for (end = from; end < n && items->order[end].score == items->order[from].score;)
            end++;
        for (int64_t i = from; i < end; i++)
            items->above[items->order[i].entry] = from + end;
    }
    return 0;
}

int finalist_items_open(struct finalist_items *items, const struct scorer *scorer, int64_t n_items,
                        const uint8_t *barred, int64_t k, int kernel, struct dpf_error *error)
{
    const int kind = simd_choose(kernel);
    *items = (struct finalist_items){.scorer = scorer,
                                     .n_items = n_items,
                                     .k = k,
                                     .kernels = SIMD_PICK(kind, &near_kernels),
                                     .group = scorer->is_plain ? NEAR_GROUP : NEAR_USERS};
    if (!scorer_is_base(scorer) && score_panels_init(&items->panels, scorer, n_items, barred, error) != 0)
        return -1;
    if (scorer_is_base(scorer)
            ? order_items(items, 0, barred) == 0
            : scorer->form.formula != SCORE_EASE || order_items(items, items->panels.lone, barred) == 0)
        return 0;
    finalist_items_close(items);
    return error_memory(error);
}

void finalist_items_close(struct finalist_items *items)
{
    score_panels_free(&items->panels);
    free(items->order);
    free(items->above);
    memset(items, 0, sizeof *items);
}

/*
 * How far a near score can lie from the scorer's, the offset aside; infinite or not a number if anything
 * could overflow. With q = sum |u_c v_c| over stride columns and unit roundoff r = 2^-24, a float sum of
 * float products in any order is within ((1 + r)^(stride + 1) - 1) q <= 1.01 (stride + 1) r q of the exact
 * sum for strides below 10^5 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and both
 * scores are such sums; the scorer's additions in double, of at most stride numbers to the offset, are
 * charged below, and so is the loss of products that underflow. q is bounded by Cauchy's inequality, or by
 * the largest magnitude in each column. A shift of an own item is rounded to float and added in float, once:
 * within 1.01 r (q + 2 |shift|).
 */
static double error_of(const struct score_products *f, double q, int is_shifted, double shift)
{
    const double columns = (double)f->stride;
    return 2.05 * (columns + 2) * (q * 0x1p-24 + 0x1p-126) +
           (columns + 4) * (q + fabs(f->offset) + shift) * 0x1p-50 +
           (is_shifted ? 1.01 * 0x1p-24 * (q + 2 * shift) : 0);
}

/* The largest shift of an own item. */
static double shift_size(const struct score_desk *desk)
{
    double shift = 0;
    for (int64_t s = 0; s < desk->n_shifts; s++)
        shift = fmax(shift, fabs(desk->shifts[s]));
    return shift;
}

/* That of any item. */
static double largest_error(const struct finalist_items *items, const struct score_desk *desk)
{
    const struct score_products *f = &items->scorer->products;
    const float *row = desk->row;
    const double shift = shift_size(desk);
    double squares = 0, by_column = 0;
    for (int64_t c = 0; c < f->stride; c++) {
        squares += (double)row[c] * (double)row[c];
        by_column += fabs((double)row[c]) * items->panels.largest[c];
    }
    const double by_norm = sqrt(squares) * items->panels.norm, q = by_norm < by_column ? by_norm : by_column;
    if (!(by_norm < 0x1p120) || !(by_column < 0x1p120) || !(fabs(f->offset) < 0x1p120) ||
        !(shift < 0x1p120) || f->stride > 100000)
        return INFINITY;
    return error_of(f, q, desk->n_shifts > 0, shift);
}

/* ---- users ------------------------------------------------------------------------------------------ */

/* What is known of a user while blocks of items go by. */
struct near_user {
    int in_order;    /* the list is the common order */
    double error;    /* of any item */
    float bar;       /* below it nobody can be a finalist any more */
    float *scores;   /* of those who can be, and behind them room for a vector */
    int32_t *items;  /* the same */
    int64_t n, full; /* of these; so many, and the bar is raised */
    size_t room[3];
    double shift, shift_size; /* the largest of an own item's, or 0; the largest magnitude */
    float *few;               /* what the row has in the desk's columns */
    int32_t *masked,
        *shifted; /* of the user's masked items, and of own items with a shift, those in a block: see by_block */
    size_t room_own[2];
    /* Places: */
    double *positives; /* scores, ascending */
    float *low,
        *high; /* surely below, surely above each of them, for near scores whose error is at most this: */
    double marked;
    float lowest; /* low[0] when slots were filled, for any item's error */
    int64_t places;
    int32_t *close; /* items that only the scorer can tell */
    int64_t n_close;
    size_t room_positives[3], room_close;
    float scale;
    int64_t n_slots;
    float slots[SLOTS];
};

int finalists_init(struct finalists *f, const struct finalist_items *shared, int wants_places,
                   struct dpf_error *error)
{
    const size_t words = (size_t)(shared->n_items / 64 + 1), stride = (size_t)shared->scorer->products.stride;
    const size_t group = (size_t)shared->group;
    *f = (struct finalists){.shared = shared, .wants_places = wants_places};
    f->users = memory_new(group, sizeof *f->users);
    f->near = memory_new(group, sizeof *f->near);
    f->rows = memory_new(shared->scorer->is_plain ? 0 : NEAR_USERS, stride * sizeof *f->rows);
    f->squares = memory_raw(group, (stride + 1) * sizeof *f->squares);
    f->block = memory_raw(group, BLOCK * sizeof *f->block);
    f->hits = memory_raw(BLOCK + 16, sizeof *f->hits);
    f->bits = memory_new(words, sizeof *f->bits);
    if (f->users && f->near && f->rows && f->squares && f->block && f->hits && f->bits)
        return 0;
    finalists_free(f);
    return error_memory(error);
}

void finalists_free(struct finalists *f)
{
    for (int i = 0; f->users && f->near && i < f->shared->group; i++) {
        free(f->users[i].positives);
        free(f->users[i].items);
        free(f->users[i].scores);
        score_desk_free(&f->users[i].desk);
        free(f->near[i].scores);
        free(f->near[i].items);
        free(f->near[i].few);
        free(f->near[i].positives);
        free(f->near[i].low);
        free(f->near[i].high);
        free(f->near[i].close);
        free(f->near[i].masked);
        free(f->near[i].shifted);
    }
    free(f->users);
    free(f->near);
    free(f->rows);
    free(f->squares);
    free(f->block);
    free(f->hits);
    free(f->bits);
    memset(f, 0, sizeof *f);
}

int finalists_reserve(struct finalists *f, int i, int64_t n, struct dpf_error *error)
{
    struct finalist_user *u = &f->users[i];
    int32_t *grown = memory_grow(u->positives, &u->room[0], (size_t)n + 1, sizeof *u->positives);
    if (!grown)
        return error_memory(error);
    u->positives = grown;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* In ascending order. Insertion for a few, which most users have. */
static void sort_scores(double *x, int64_t n)
{
    if (n > 32) {
        qsort(x, (size_t)n, sizeof *x, ascending);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const double score = x[i];
        int64_t at = i;
        for (; at > 0 && x[at - 1] > score; at--)
            x[at] = x[at - 1];
        x[at] = score;
    }
}

/* Both ends of what each positive's near neighbours can score, rounded outwards. */
static void mark_close(struct near_user *near, int64_t n, double error, double offset)
{
    for (int64_t p = 0; p < n; p++) {
        const double score = near->positives[p] - offset, slack = fabs(score) * 0x1p-50 + error;
        near->low[p] = nextafterf((float)(score - slack), -INFINITY);
        near->high[p] = nextafterf((float)(score + slack), INFINITY);
    }
    near->marked = error;
}

/* As the kernel says it. */
static int64_t slot_of(const struct near_user *near, float score)
{
    const float at = (score - near->lowest) * near->scale + 1;
    const float slot = at > 0 ? at : 0;
    return (int64_t)(slot < (float)(near->n_slots - 1) ? slot : (float)(near->n_slots - 1));
}

/*
 * Slots are intervals of near score, since slot_of is monotone. A slot without an end of any positive's
 * interval is above just those positives whose intervals end in slots before: their number. For others -1
 * less the number of those that do, which is the first whose interval can matter there.
 */
static void fill_slots(struct near_user *near, int64_t n)
{
    const int64_t within = 256 * n < SLOTS - 2 ? 256 * n : SLOTS - 2;
    const double scale = (double)within / ((double)near->high[n - 1] - (double)near->low[0]);
    near->lowest = near->low[0];
    near->n_slots = within + 2;
    near->scale = scale < (double)FLT_MAX ? (float)scale : 0;
    int64_t s = 0;
    for (int64_t p = 0; p < n; p++) {
        for (const int64_t from = slot_of(near, near->low[p]); s < from; s++)
            near->slots[s] = (float)p;
        for (const int64_t to = slot_of(near, near->high[p]); s <= to; s++)
            near->slots[s] = (float)(-1 - p);
    }
    for (; s < near->n_slots; s++)
        near->slots[s] = (float)n;
}

static int open_places(struct finalists *f, int i, struct dpf_error *error)
{
    const struct scorer *scorer = f->shared->scorer;
    struct finalist_user *u = &f->users[i];
    struct near_user *near = &f->near[i];
    const size_t n = (size_t)u->n_positives;
    double *positives = memory_grow(near->positives, &near->room_positives[0], n + 1, sizeof *positives);
    near->positives = positives ? positives : near->positives;
    float *low = memory_grow(near->low, &near->room_positives[1], n + 1, sizeof *low);
    near->low = low ? low : near->low;
    float *high = memory_grow(near->high, &near->room_positives[2], n + 1, sizeof *high);
    near->high = high ? high : near->high;
    if (!positives || !low || !high)
        return error_memory(error);
    near->places = near->n_close = 0;
    if (n == 0)
        return 0;
    if (scorer_scores(scorer, &u->desk, u->user, u->positives, u->n_positives, positives, error) != 0)
        return -1;
    sort_scores(positives, u->n_positives);
    mark_close(near, u->n_positives, near->error, scorer->products.offset);
    if (u->n_positives > FEW)
        fill_slots(near, u->n_positives);
    return 0;
}

/*
 * Which of n items stand in which block, but for barred ones: (*out)[b] .. (*out)[b + 1] - 1 are where the numbers of those of block b stand in *out
 * itself, behind the n_blocks + 1 ends.
 */
static int by_block(const struct score_panels *p, const int32_t *items, int64_t n, int32_t **out,
                    size_t *room, struct dpf_error *error)
{
    const int64_t blocks = p->n_blocks, ends = blocks + 2;
    int32_t *to = memory_grow(*out, room, (size_t)(ends + n), sizeof *to);
    if (!to)
        return error_memory(error);
    *out = to;
    memset(to, 0, (size_t)ends * sizeof *to);
    for (int64_t k = 0; k < n; k++)
        if (p->place[items[k]] >= 0)
            to[p->place[items[k]] / BLOCK + 2]++;
    to[1] = to[0] = (int32_t)ends;
    for (int64_t b = 2; b < ends; b++)
        to[b] += to[b - 1];
    for (int64_t k = 0; k < n; k++)
        if (p->place[items[k]] >= 0)
            to[to[p->place[items[k]] / BLOCK + 1]++] = (int32_t)k;
    return 0;
}

static int open_own(struct finalists *f, int i, struct dpf_error *error)
{
    const struct score_panels *panels = &f->shared->panels;
    const struct finalist_user *u = &f->users[i];
    const struct score_desk *desk = &u->desk;
    struct near_user *near = &f->near[i];
    near->shift_size = shift_size(desk);
    near->shift = 0;
    for (int64_t s = 0; s < desk->n_shifts; s++)
        near->shift = fmax(near->shift, desk->shifts[s]);
    score_panels_measure(panels, desk->row, f->squares + i * (panels->stride + 1));
    return by_block(panels, u->masked, u->n_masked, &near->masked, &near->room_own[0], error) != 0
               ? -1
               : by_block(panels, desk->shifted, desk->n_shifts, &near->shifted, &near->room_own[1], error);
}

/* The user's row as the kernel reads it. */
static int open_row(struct finalists *f, int i, int is_near, struct dpf_error *error)
{
    const struct scorer *scorer = f->shared->scorer;
    const struct score_desk *desk = &f->users[i].desk;
    struct near_user *near = &f->near[i];
    if (!scorer->is_plain) {
        for (int64_t c = 0; c < scorer->products.stride; c++)
            f->rows[c * NEAR_USERS + i] = is_near ? desk->row[c] : 0;
        return 0;
    }
    float *few = memory_grow(near->few, &near->room[2], (size_t)desk->n_columns + 1, sizeof *few);
    if (!few)
        return error_memory(error);
    near->few = few;
    for (int64_t k = 0; k < desk->n_columns; k++)
        few[k] = desk->row[desk->columns[k]];
    return 0;
}

static int open_user(struct finalists *f, int i, struct dpf_error *error)
{
    const struct scorer *scorer = f->shared->scorer;
    struct near_user *near = &f->near[i];
    struct score_desk *desk = &f->users[i].desk;
    if (scorer_user(scorer, desk, f->users[i].user, error) != 0)
        return -1;
    /* ease/1 shifts all own items that have columns; without any the row is popularity alone. */
    near->in_order = f->shared->order && desk->n_shifts == 0;
    near->error = near->in_order ? 0 : largest_error(f->shared, desk);
    f->users[i].left = !near->in_order && (!isfinite(near->error) || f->users[i].n_positives >= MANY);
    const int is_near = !near->in_order && !f->users[i].left;
    if (open_row(f, i, is_near, error) != 0)
        return -1;
    if (!is_near)
        return 0;
    near->bar = -FLT_MAX;
    near->n = 0;
    near->full = f->shared->k + 2 * (f->shared->k > 64 ? f->shared->k : 64);
    if (open_own(f, i, error) != 0)
        return -1;
    return f->wants_places ? open_places(f, i, error) : 0;
}

/* ---- blocks of items ---------------------------------------------------------------------------------- */

/* What cannot be a finalist's near score, where k others have at least this one. */
static float bar_below(const struct near_user *near, double score)
{
    const float bar = nextafterf((float)(score - 2 * near->error - fabs(score) * 0x1p-50), -INFINITY);
    return bar > near->bar ? bar : near->bar;
}

static void ends_of(const float *x, int64_t n, float *least, float *most)
{
    *least = *most = x[0];
    for (int64_t i = 1; i < n; i++) {
        *least = x[i] < *least ? x[i] : *least;
        *most = x[i] > *most ? x[i] : *most;
    }
}

/*
 * A number that k of n numbers, a multiple of 16, reach: the k-th largest, or less by little. k of them reach
 * low; fewer exceed high. Halving takes a pass of few instructions, and no branch that depends on an order.
 */
static float reached_by(const struct near_kernels *kernels, const float *x, int64_t n, int64_t k, float low,
                        float high)
{
    enum { MOST_STEPS = 24 };
    for (int step = 0; step < MOST_STEPS; step++) {
        const float middle = low + (high - low) / 2;
        if (!(middle > low))
            break;
        const int64_t reach = kernels->count(x, n, middle);
        low = reach >= k ? middle : low;
        high = reach >= k ? high : middle;
        if (reach >= k && reach <= k + k / 16)
            break;
    }
    return low;
}

/* Raises the bar to what the entries so far say, and drops those below. */
static void raise_bar(const struct finalists *f, struct near_user *near)
{
    const struct near_kernels *kernels = f->shared->kernels;
    const int64_t k = f->shared->k;
    float least, most;
    if (near->n < k)
        return;
    const int64_t padded = (near->n + 15) / 16 * 16;
    for (int64_t i = near->n; i < padded; i++)
        near->scores[i] = -INFINITY;
    ends_of(near->scores, near->n, &least, &most);
    near->bar = bar_below(near, (double)reached_by(kernels, near->scores, padded, k, least, most));
    int64_t kept = 0;
    for (int64_t i = 0; i < near->n; i++) {
        near->scores[kept] = near->scores[i];
        near->items[kept] = near->items[i];
        kept += near->scores[i] >= near->bar;
    }
    near->n = kept;
    /* Where many tie they all stay, and the bar is raised after as many more. */
    near->full = near->full > 2 * kept ? near->full : 2 * kept;
}

/* A first bar from the first block. The largest of each 8 numbers are that many distinct ones, so k of the
   block reach the least of them. */
static void set_bar(const struct finalists *f, struct near_user *near, const float *scores)
{
    const struct near_kernels *kernels = f->shared->kernels;
    const int64_t k = f->shared->k;
    float largest[BLOCK / 8], least, most;
    if (k > BLOCK / 8)
        return;
    kernels->largest(scores, BLOCK, largest);
    ends_of(largest, BLOCK / 8, &least, &most);
    if (least > -INFINITY)
        near->bar = bar_below(near, (double)reached_by(kernels, scores, BLOCK, k, least, most));
}

/* Room for n more, and for what fills up the last vector. */
static int reserve_entries(struct near_user *near, int64_t n, struct dpf_error *error)
{
    const size_t room = (size_t)(near->n + n) + 16;
    float *scores = memory_grow(near->scores, &near->room[0], room, sizeof *scores);
    near->scores = scores ? scores : near->scores;
    int32_t *items = memory_grow(near->items, &near->room[1], room, sizeof *items);
    near->items = items ? items : near->items;
    return scores && items ? 0 : error_memory(error);
}

static int add_finalists(struct finalists *f, int i, const float *scores, int64_t first, int64_t n,
                         struct dpf_error *error)
{
    struct near_user *near = &f->near[i];
    if (first == 0 && n == BLOCK)
        set_bar(f, near, scores);
    const int64_t hits = f->shared->kernels->find(scores, n, near->bar, f->hits);
    if (reserve_entries(near, hits, error) != 0)
        return -1;
    for (int64_t h = 0; h < hits; h++) {
        near->scores[near->n + h] = scores[f->hits[h]];
        near->items[near->n + h] = f->shared->panels.item[first + f->hits[h]];
    }
    near->n += hits;
    if (near->n >= near->full)
        raise_bar(f, near);
    return 0;
}

static int add_close(struct near_user *near, int64_t item, struct dpf_error *error)
{
    int32_t *grown = memory_grow(near->close, &near->room_close, (size_t)near->n_close + 1, sizeof *grown);
    if (!grown)
        return error_memory(error);
    near->close = grown;
    near->close[near->n_close++] = (int32_t)item;
    return 0;
}

/* An item that is close to any positive is left to the scorer, for all positives. */
static int is_close(const struct near_user *near, int64_t n_positives, float score)
{
    for (int64_t p = 0; p < n_positives; p++)
        if (score >= near->low[p] && score < near->high[p])
            return 1;
    return 0;
}

/* Items that are close are counted for no positive. */
static int count_places(struct finalists *f, int i, const float *scores, int64_t first, int64_t n,
                        struct dpf_error *error)
{
    const struct near_kernels *kernels = f->shared->kernels;
    struct near_user *near = &f->near[i];
    const int64_t n_positives = f->users[i].n_positives;
    int64_t close = 0;
    for (int64_t p = 0; p < n_positives; p++) {
        const int64_t above = kernels->count(scores, n, near->high[p]);
        close |= kernels->count(scores, n, near->low[p]) - above;
        near->places += 2 * above;
    }
    if (close == 0)
        return 0;
    const int64_t hits = kernels->find(scores, n, near->low[0], f->hits);
    for (int64_t h = 0; h < hits; h++) {
        const float score = scores[f->hits[h]];
        if (!is_close(near, n_positives, score))
            continue;
        for (int64_t p = 0; p < n_positives; p++)
            near->places -= 2 * (score >= near->high[p]);
        if (add_close(near, f->shared->panels.item[first + f->hits[h]], error) != 0)
            return -1;
    }
    return 0;
}

static int look_up_places(struct finalists *f, int i, const float *scores, int64_t first, int64_t n,
                          struct dpf_error *error)
{
    struct near_user *near = &f->near[i];
    const int64_t n_positives = f->users[i].n_positives;
    int64_t hits;
    near->places += 2 * f->shared->kernels->look_up(scores, n, near->lowest, near->scale,
                                                    (float)(near->n_slots - 1), near->slots, f->hits, &hits);
    for (int64_t h = 0; h < hits; h++) {
        const float score = scores[f->hits[h]];
        int64_t above = (int64_t)-near->slots[slot_of(near, score)] - 1;
        while (above < n_positives && score >= near->high[above])
            above++;
        if (above == n_positives || score < near->low[above])
            near->places += 2 * above;
        else if (add_close(near, f->shared->panels.item[first + f->hits[h]], error) != 0)
            return -1;
    }
    return 0;
}

/* Own items have their shifts. What is not ranked must be found by nobody. */
static void mask_block(struct finalists *f, int i, float *scores, int64_t first, int64_t n, int64_t width)
{
    const struct finalist_user *u = &f->users[i];
    const struct near_user *near = &f->near[i];
    const struct score_desk *desk = &u->desk;
    const int32_t *place = f->shared->panels.place;
    const int64_t b = first / BLOCK;
    for (int32_t s = near->shifted[b]; s < near->shifted[b + 1]; s++) {
        const int32_t own = near->shifted[s];
        scores[place[desk->shifted[own]] - first] += (float)desk->shifts[own];
    }
    for (int32_t m = near->masked[b]; m < near->masked[b + 1]; m++)
        scores[place[u->masked[near->masked[m]]] - first] = -INFINITY;
    for (int64_t past = n; past < width; past++)
        scores[past] = -INFINITY;
}

/*
 * Whether nothing in the block can be found for the user: neither a finalist nor an item near or above a positive. Where rows are
 * short near scores are exact in more digits, and fewer items are close to a positive: low and high are made anew once
 * they are twice as far as they need be. They lie within those that the slots were filled for.
 */
static int can_skip(struct finalists *f, int i, int64_t block)
{
    struct near_user *near = &f->near[i];
    const struct score_panels *panels = &f->shared->panels;
    const struct score_products *products = &f->shared->scorer->products;
    if (f->users[i].left || near->in_order)
        return 1;
    const int wants_places = f->wants_places && f->users[i].n_positives > 0,
              is_shifted = near->shifted[block] < near->shifted[block + 1];
    const struct score_bounds bounds =
        score_panels_bound(panels, block, f->users[i].desk.row, f->squares + i * (panels->stride + 1));
    const double error =
        fmin(error_of(products, bounds.size, is_shifted, is_shifted ? near->shift_size : 0), near->error);
    if (wants_places && (error > near->marked || error < near->marked / 2))
        mark_close(near, f->users[i].n_positives, error, products->offset);
    const double most = bounds.most + (is_shifted ? near->shift : 0) + error;
    return most < (double)near->bar && (!wants_places || most < (double)near->low[0]);
}

static int take_scores(struct finalists *f, int i, int64_t first, int64_t n, int64_t width,
                       struct dpf_error *error)
{
    float *scores = f->block + (int64_t)i * BLOCK;
    mask_block(f, i, scores, first, n, width);
    if (add_finalists(f, i, scores, first, width, error) != 0)
        return -1;
    if (!f->wants_places || f->users[i].n_positives == 0)
        return 0;
    return (f->users[i].n_positives > FEW ? look_up_places : count_places)(f, i, scores, first, width, error);
}

/* Scores of the items of a panel for a user whose row is 0 in most columns. */
static void multiply_few(const struct finalists *f, int i, int64_t panel, float *out)
{
    const struct score_panels *p = &f->shared->panels;
    const struct score_desk *desk = &f->users[i].desk;
    const int32_t first = p->first[panel], past = first + p->columns[panel];
    int64_t from = 0, end = desk->n_columns;
    while (from < end && desk->columns[from] < first)
        from++;
    while (end > from && desk->columns[end - 1] >= past)
        end--;
    f->shared->kernels->few(f->near[i].few + from, desk->columns + from, end - from, first,
                            p->numbers + p->at[panel], out);
}

/* Reads a panel from one end to the other, which is far quicker than the order in which users' columns ask for its lines first. */
static void fetch_panel(struct finalists *f, int64_t panel)
{
    const struct score_panels *p = &f->shared->panels;
    const float *numbers = p->numbers + p->at[panel];
    uint32_t all = 0, bits;
    for (int64_t i = 0; i < (int64_t)p->columns[panel] * NEAR_PANEL; i += 16) {
        memcpy(&bits, numbers + i, sizeof bits);
        all ^= bits;
    }
    f->fetched = all;
}

static int take_block(struct finalists *f, int64_t first, int64_t n, struct dpf_error *error)
{
    const struct score_panels *panels = &f->shared->panels;
    const int64_t from = first / NEAR_PANEL, width = (n + NEAR_PANEL - 1) / NEAR_PANEL * NEAR_PANEL;
    int skipped[NEAR_GROUP] = {0}, all = 1;
    for (int i = 0; i < f->n_users; i++) {
        skipped[i] = can_skip(f, i, first / BLOCK);
        all &= skipped[i];
    }
    for (int64_t p = 0; p < width / NEAR_PANEL && !all && !f->shared->scorer->is_plain; p++)
        f->shared->kernels->panel(f->rows + (int64_t)panels->first[from + p] * NEAR_USERS,
                                  panels->numbers + panels->at[from + p], panels->columns[from + p],
                                  f->block + p * NEAR_PANEL, BLOCK);
    for (int64_t p = 0; p < width / NEAR_PANEL && f->shared->scorer->is_plain; p++) {
        if (!all)
            fetch_panel(f, from + p);
        for (int i = 0; i < f->n_users; i++)
            if (!skipped[i])
                multiply_few(f, i, from + p, f->block + i * BLOCK + p * NEAR_PANEL);
    }
    for (int i = 0; i < f->n_users; i++)
        if (!skipped[i] && take_scores(f, i, first, n, width, error) != 0)
            return -1;
    return 0;
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* Those whose bits are set, in ascending order, with their exact scores; clears the bits. */
static int take_bits(struct finalists *f, int i, int64_t n, struct dpf_error *error)
{
    struct finalist_user *u = &f->users[i];
    int32_t *items = memory_grow(u->items, &u->room[1], (size_t)n + 1, sizeof *items);
    u->items = items ? items : u->items;
    double *scores = memory_grow(u->scores, &u->room[2], (size_t)n + 1, sizeof *scores);
    u->scores = scores ? scores : u->scores;
    u->n_items = 0;
    for (int64_t w = 0; w <= f->shared->n_items / 64; w++)
        for (; f->bits[w]; f->bits[w] &= f->bits[w] - 1)
            if (items && scores)
                u->items[u->n_items++] = (int32_t)(64 * w + __builtin_ctzll(f->bits[w]));
    if (!items || !scores)
        return error_memory(error);
    return scorer_scores(f->shared->scorer, &u->desk, u->user, u->items, u->n_items, u->scores, error);
}

static void set_bit(uint64_t *bits, int64_t item)
{
    bits[item / 64] |= UINT64_C(1) << (item % 64);
}

static int close_list(struct finalists *f, int i, struct dpf_error *error)
{
    const struct near_user *near = &f->near[i];
    raise_bar(f, &f->near[i]);
    for (int64_t e = 0; e < near->n; e++)
        set_bit(f->bits, near->items[e]);
    return take_bits(f, i, near->n, error);
}

static int close_places(struct finalists *f, int i, struct dpf_error *error)
{
    const struct scorer *scorer = f->shared->scorer;
    struct finalist_user *u = &f->users[i];
    const struct near_user *near = &f->near[i];
    double scores[256];
    int status = 0;
    u->places = near->places;
    for (int64_t at = 0; at < near->n_close && status == 0; at += 256) {
        const int64_t n = near->n_close - at < 256 ? near->n_close - at : 256;
        status = scorer_scores(scorer, &u->desk, u->user, near->close + at, n, scores, error);
        for (int64_t c = 0; c < n && status == 0; c++)
            u->places += half_places_of(near->positives, u->n_positives, scores[c]);
    }
    return status;
}

/* ---- one order for many ------------------------------------------------------------------------------ */

/* Of a positive: 2 for each item above it, 1 for each that ties with it, of all that the user's list has. */
static int64_t places_in_order(const struct finalist_items *shared, const struct finalist_user *u,
                               int64_t item)
{
    const struct score_products *p = &shared->scorer->products;
    const float *scores = p->items + shared->column;
    const float score = scores[item * p->stride];
    int64_t places = shared->above[item];
    for (int64_t m = 0; m < u->n_masked; m++) {
        const float other = scores[(int64_t)u->masked[m] * p->stride];
        places -= (other > score) + (other >= score);
    }
    return places;
}

/* A walk from the first of all, past what leaves the list, to the last that ties with the k-th. */
static int walk_order(struct finalists *f, int i, struct dpf_error *error)
{
    const struct finalist_items *shared = f->shared;
    struct finalist_user *u = &f->users[i];
    const int64_t listed = shared->n_ordered - u->n_masked, wanted = shared->k < listed ? shared->k : listed;
    int64_t n = 0, end = 0;
    for (int64_t m = 0; m < u->n_masked; m++)
        set_bit(f->bits, u->masked[m]);
    double last = 0;
    for (; end < shared->n_ordered && (n < wanted || (n > 0 && shared->order[end].score == last)); end++) {
        const int64_t item = shared->order[end].entry;
        if (f->bits[item / 64] >> (item % 64) & 1)
            continue;
        n++;
        last = shared->order[end].score;
    }
    /* The bits become those of the others, as far as it went. */
    uint64_t *bits = f->bits;
    for (int64_t e = 0; e < end; e++) {
        const int64_t item = shared->order[e].entry;
        bits[item / 64] ^= UINT64_C(1) << (item % 64);
    }
    for (int64_t m = 0; m < u->n_masked; m++)
        bits[u->masked[m] / 64] &= ~(UINT64_C(1) << (u->masked[m] % 64));
    u->left = 0;
    u->places = 0;
    for (int64_t p = 0; f->wants_places && p < u->n_positives; p++)
        u->places += places_in_order(shared, u, u->positives[p]);
    return take_bits(f, i, n, error);
}

int finalists_find(struct finalists *f, struct dpf_error *error)
{
    const int is_base = scorer_is_base(f->shared->scorer);
    const int64_t n_items = is_base ? 0 : f->shared->panels.n_items;
    int status = 0;
    for (int i = 0; i < f->n_users && status == 0; i++)
        status = open_user(f, i, error);
    for (int64_t first = 0; first < n_items && status == 0; first += BLOCK)
        status = take_block(f, first, n_items - first < BLOCK ? n_items - first : BLOCK, error);
    for (int i = 0; i < f->n_users && status == 0; i++) {
        if (f->users[i].left)
            continue;
        if (f->near[i].in_order) {
            status = walk_order(f, i, error);
            continue;
        }
        status = close_list(f, i, error);
        if (status == 0 && f->wants_places)
            status = close_places(f, i, error);
    }
    return status;
}
