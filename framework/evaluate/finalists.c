/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/finalists.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct near_kernels {
    void (*panel)(const float *users, const float *panel, int64_t stride, float *out, int64_t out_ld);
    int64_t (*find)(const float *x, int64_t n, float bar, int32_t *places);
    int64_t (*count)(const float *x, int64_t n, float bar);
    int64_t (*look_up)(const float *x, int64_t n, float low, float scale, float last, const float *table,
                       int32_t *places, int64_t *n_listed);
    void (*largest)(const float *x, int64_t n, float *out);
};

#define SIMD_TEMPLATE "evaluate/near_scores.h"
#include "simd/each_kind.h"

#define BLOCK (8 * NEAR_PANEL) /* items: the block's scores stay in the nearest cache */
#define FEW 6                  /* positives: up to here counting beats looking up */
#define MANY (1 << 19)         /* positives: from here on kernels do not count exactly */
#define SLOTS 4096             /* intervals of score, at most */

/* ---- items ----------------------------------------------------------------------------------------- */

static int64_t n_panels(int64_t n_items)
{
    return (n_items + NEAR_PANEL - 1) / NEAR_PANEL;
}

static void pack_items(struct finalist_items *items)
{
    const struct score_factors *f = &items->scorer->factors;
    for (int64_t i = 0; i < items->n_items; i++) {
        const float *row = f->items + i * f->stride;
        float *to = items->panels + i / NEAR_PANEL * NEAR_PANEL * f->stride + i % NEAR_PANEL;
        double squares = 0;
        for (int64_t c = 0; c < f->stride; c++) {
            const double size = fabs((double)row[c]);
            to[c * NEAR_PANEL] = row[c];
            squares += size * size;
            items->largest[c] = size > items->largest[c] ? size : items->largest[c];
        }
        const double norm = isfinite(squares) ? sqrt(squares) : (double)INFINITY;
        items->norm = norm > items->norm ? norm : items->norm;
    }
}

int finalist_items_open(struct finalist_items *items, const struct scorer *scorer, int64_t n_items, int64_t k,
                        int kernel, struct dpf_error *error)
{
    const size_t stride = (size_t)scorer->factors.stride;
    const int kind = simd_choose(kernel);
    *items = (struct finalist_items){
        .scorer = scorer, .n_items = n_items, .k = k, .kernels = SIMD_PICK(kind, &near_kernels)};
    items->panels = memory_new((size_t)n_panels(n_items) * NEAR_PANEL, stride * sizeof *items->panels);
    items->largest = memory_new(stride, sizeof *items->largest);
    if (!items->panels || !items->largest) {
        finalist_items_close(items);
        return error_memory(error);
    }
    pack_items(items);
    return 0;
}

void finalist_items_close(struct finalist_items *items)
{
    free(items->panels);
    free(items->largest);
    memset(items, 0, sizeof *items);
}

/*
 * How far a near score can lie from the scorer's, the offset aside; infinite or not a number if anything
 * could overflow. With q = sum |u_c v_c| over stride columns and unit roundoff r = 2^-24, a float sum of
 * float products in any order is within ((1 + r)^(stride + 1) - 1) q <= 1.01 (stride + 1) r q of the exact
 * sum for strides below 10^5 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and both
 * scores are such sums; the scorer's additions in double, of at most stride numbers to the offset, are
 * charged below, and so is what products lose that underflow. q is bounded by Cauchy's inequality, or by the
 * largest magnitude in each column.
 */
static double largest_error(const struct finalist_items *items, const float *row)
{
    const struct score_factors *f = &items->scorer->factors;
    double squares = 0, by_column = 0;
    for (int64_t c = 0; c < f->stride; c++) {
        squares += (double)row[c] * (double)row[c];
        by_column += fabs((double)row[c]) * items->largest[c];
    }
    const double by_norm = sqrt(squares) * items->norm, q = by_norm < by_column ? by_norm : by_column;
    const double columns = (double)f->stride;
    if (!(by_norm < 0x1p120) || !(by_column < 0x1p120) || !(fabs(f->offset) < 0x1p120) || columns > 1e5)
        return INFINITY;
    return 2.05 * (columns + 2) * (q * 0x1p-24 + 0x1p-126) + (columns + 4) * (q + fabs(f->offset)) * 0x1p-50;
}

/* ---- users ------------------------------------------------------------------------------------------ */

/* What is known of a user while blocks of items go by. */
struct near_user {
    double error;
    float bar; /* below it nobody can be a finalist any more */
    struct top_entry *entries;
    int64_t n, full; /* entries; so many, and the bar is raised */
    size_t room;
    int64_t masked; /* of the user's, before the block */
    /* Places: */
    double *positives; /* scores, ascending */
    float *low, *high; /* surely below, surely above each of them */
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
    const size_t words = (size_t)(shared->n_items / 64 + 1), stride = (size_t)shared->scorer->factors.stride;
    *f = (struct finalists){.shared = shared, .wants_places = wants_places};
    f->near = memory_new(NEAR_USERS, sizeof *f->near);
    f->rows = memory_new(NEAR_USERS, stride * sizeof *f->rows);
    f->block = memory_raw(NEAR_USERS, BLOCK * sizeof *f->block);
    f->hits = memory_raw(BLOCK + 16, sizeof *f->hits);
    f->bits = memory_new(words, sizeof *f->bits);
    if (f->near && f->rows && f->block && f->hits && f->bits)
        return 0;
    finalists_free(f);
    return error_memory(error);
}

void finalists_free(struct finalists *f)
{
    for (int i = 0; i < NEAR_USERS; i++) {
        free(f->users[i].positives);
        free(f->users[i].items);
        if (!f->near)
            continue;
        free(f->near[i].entries);
        free(f->near[i].positives);
        free(f->near[i].low);
        free(f->near[i].high);
        free(f->near[i].close);
    }
    free(f->near);
    free(f->rows);
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

/* Both ends of what a positive's near neighbours can score, rounded outwards. */
static void mark_close(struct near_user *near, int64_t p, double offset)
{
    const double score = near->positives[p] - offset, slack = fabs(score) * 0x1p-50 + near->error;
    near->low[p] = nextafterf((float)(score - slack), -INFINITY);
    near->high[p] = nextafterf((float)(score + slack), INFINITY);
}

/* As the kernel says it. */
static int64_t slot_of(const struct near_user *near, float score)
{
    const float at = (score - near->low[0]) * near->scale + 1;
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
    const int64_t within = 128 * n < SLOTS - 2 ? 128 * n : SLOTS - 2;
    const double scale = (double)within / ((double)near->high[n - 1] - (double)near->low[0]);
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
    if (scorer->scores(scorer->context, u->user, u->positives, u->n_positives, positives, error) != 0)
        return -1;
    qsort(positives, n, sizeof *positives, ascending);
    for (int64_t p = 0; p < u->n_positives; p++)
        mark_close(near, p, scorer->factors.offset);
    if (u->n_positives > FEW)
        fill_slots(near, u->n_positives);
    return 0;
}

static int open_user(struct finalists *f, int i, struct dpf_error *error)
{
    const struct score_factors *factors = &f->shared->scorer->factors;
    struct near_user *near = &f->near[i];
    const float *row = factors->users + (int64_t)f->users[i].user * factors->stride;
    near->error = largest_error(f->shared, row);
    f->users[i].left = !isfinite(near->error) || f->users[i].n_positives >= MANY;
    for (int64_t c = 0; c < factors->stride; c++)
        f->rows[c * NEAR_USERS + i] = f->users[i].left ? 0 : row[c];
    if (f->users[i].left)
        return 0;
    near->bar = -FLT_MAX;
    near->n = near->masked = 0;
    near->full = f->shared->k + 2 * (f->shared->k > 64 ? f->shared->k : 64);
    return f->wants_places ? open_places(f, i, error) : 0;
}

/* ---- blocks of items ---------------------------------------------------------------------------------- */

/* What cannot be a finalist's near score, where k others have at least this one. */
static float bar_below(const struct near_user *near, double score)
{
    const float bar = nextafterf((float)(score - 2 * near->error - fabs(score) * 0x1p-50), -INFINITY);
    return bar > near->bar ? bar : near->bar;
}

/* Raises the bar to what the entries so far say, and drops those below. */
static void raise_bar(const struct finalists *f, struct near_user *near)
{
    const int64_t k = f->shared->k;
    if (near->n < k)
        return;
    int64_t kept = 0;
    near->bar = bar_below(near, top_entries_narrow(near->entries, near->n, k));
    for (int64_t i = 0; i < near->n; i++)
        if (near->entries[i].score >= (double)near->bar)
            near->entries[kept++] = near->entries[i];
    near->n = kept;
    /* Where many tie they all stay, and the bar is raised after as many more. */
    near->full = near->full > 2 * kept ? near->full : 2 * kept;
}

/* A first bar: among the largest of each 8 items, k distinct ones are at or above the k-th largest. */
static void set_bar(const struct finalists *f, struct near_user *near, const float *scores)
{
    const int64_t k = f->shared->k;
    struct top_entry entries[BLOCK / 8];
    float largest[BLOCK / 8];
    if (4 * k > BLOCK / 8)
        return;
    f->shared->kernels->largest(scores, BLOCK, largest);
    for (int64_t i = 0; i < BLOCK / 8; i++)
        entries[i] = (struct top_entry){(double)largest[i], i};
    near->bar = bar_below(near, top_entries_narrow(entries, BLOCK / 8, k));
}

static int add_finalists(struct finalists *f, int i, const float *scores, int64_t first, int64_t n,
                         struct dpf_error *error)
{
    struct near_user *near = &f->near[i];
    if (first == 0 && n == BLOCK)
        set_bar(f, near, scores);
    const int64_t hits = f->shared->kernels->find(scores, n, near->bar, f->hits);
    struct top_entry *grown =
        memory_grow(near->entries, &near->room, (size_t)(near->n + hits) + 1, sizeof *grown);
    if (!grown)
        return error_memory(error);
    near->entries = grown;
    for (int64_t h = 0; h < hits; h++) {
        const double score = (double)scores[f->hits[h]];
        if (!(score >= (double)near->bar))
            continue;
        near->entries[near->n++] = (struct top_entry){score, first + f->hits[h]};
        if (near->n >= near->full)
            raise_bar(f, near);
    }
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
        if (add_close(near, first + f->hits[h], error) != 0)
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
    near->places += 2 * f->shared->kernels->look_up(scores, n, near->low[0], near->scale,
                                                    (float)(near->n_slots - 1), near->slots, f->hits, &hits);
    for (int64_t h = 0; h < hits; h++) {
        const float score = scores[f->hits[h]];
        int64_t above = (int64_t)-near->slots[slot_of(near, score)] - 1;
        while (above < n_positives && score >= near->high[above])
            above++;
        if (above == n_positives || score < near->low[above])
            near->places += 2 * above;
        else if (add_close(near, first + f->hits[h], error) != 0)
            return -1;
    }
    return 0;
}

/* What is not ranked must be found by nobody. */
static void mask_block(struct finalists *f, int i, float *scores, int64_t first, int64_t n, int64_t width)
{
    const struct finalist_user *u = &f->users[i];
    struct near_user *near = &f->near[i];
    for (; near->masked < u->n_masked && u->masked[near->masked] < first + n; near->masked++)
        scores[u->masked[near->masked] - first] = -INFINITY;
    for (int64_t past = n; past < width; past++)
        scores[past] = -INFINITY;
}

static int take_block(struct finalists *f, int64_t first, int64_t n, struct dpf_error *error)
{
    const struct finalist_items *shared = f->shared;
    const int64_t stride = shared->scorer->factors.stride, panels = n_panels(n);
    for (int64_t p = 0; p < panels; p++)
        shared->kernels->panel(f->rows, shared->panels + (first + p * NEAR_PANEL) * stride, stride,
                               f->block + p * NEAR_PANEL, BLOCK);
    for (int i = 0; i < f->n_users; i++) {
        float *scores = f->block + (int64_t)i * BLOCK;
        if (f->users[i].left)
            continue;
        mask_block(f, i, scores, first, n, panels * NEAR_PANEL);
        if (add_finalists(f, i, scores, first, panels * NEAR_PANEL, error) != 0)
            return -1;
        if (!f->wants_places || f->users[i].n_positives == 0)
            continue;
        if ((f->users[i].n_positives > FEW ? look_up_places : count_places)(f, i, scores, first,
                                                                            panels * NEAR_PANEL, error) != 0)
            return -1;
    }
    return 0;
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* The finalists in ascending order, by way of a bit for each item. */
static int close_list(struct finalists *f, int i, struct dpf_error *error)
{
    struct finalist_user *u = &f->users[i];
    struct near_user *near = &f->near[i];
    raise_bar(f, near);
    int32_t *grown = memory_grow(u->items, &u->room[1], (size_t)near->n + 1, sizeof *grown);
    if (!grown)
        return error_memory(error);
    u->items = grown;
    u->n_items = 0;
    for (int64_t e = 0; e < near->n; e++)
        f->bits[near->entries[e].entry / 64] |= UINT64_C(1) << (near->entries[e].entry % 64);
    for (int64_t w = 0; w <= f->shared->n_items / 64; w++)
        for (; f->bits[w]; f->bits[w] &= f->bits[w] - 1)
            u->items[u->n_items++] = (int32_t)(64 * w + __builtin_ctzll(f->bits[w]));
    return 0;
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
        status = scorer->scores(scorer->context, u->user, near->close + at, n, scores, error);
        for (int64_t c = 0; c < n && status == 0; c++)
            u->places += half_places_of(near->positives, u->n_positives, scores[c]);
    }
    return status;
}

int finalists_find(struct finalists *f, struct dpf_error *error)
{
    const int64_t n_items = f->shared->n_items;
    int status = 0;
    for (int i = 0; i < f->n_users && status == 0; i++)
        status = open_user(f, i, error);
    for (int64_t first = 0; first < n_items && status == 0; first += BLOCK)
        status = take_block(f, first, n_items - first < BLOCK ? n_items - first : BLOCK, error);
    for (int i = 0; i < f->n_users && status == 0; i++) {
        if (f->users[i].left)
            continue;
        status = close_list(f, i, error);
        if (status == 0 && f->wants_places)
            status = close_places(f, i, error);
    }
    return status;
}
