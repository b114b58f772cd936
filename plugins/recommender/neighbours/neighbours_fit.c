/* SPDX-License-Identifier: Apache-2.0 */
/* From records to reports, and from reports to neighbours. */
#include <string.h>

#include "bit_columns.h"
#include "neighbours.h"
#include "pair_estimate.h"
#include "simd_kind.h"

#define PAIR_ROWS 64 /* items whose pairs are added up over processes together */
#define GROUP 16     /* items that are compared with a tile while it is in the cache; a part of PAIR_ROWS */

_Static_assert(PAIR_ROW == TILE_ITEMS && PAIR_ROWS % GROUP == 0, "a tile is a row of pairs");

struct candidate {
    float similarity;
    int32_t item;
};

struct fitting {
    const struct neighbours *self;
    const dpf_interactions *records;
    struct bit_response response;
    uint32_t draw;
    int64_t slots, row_words, column_words;
    int kind;          /* of processor */
    uint64_t *rows;    /* reported bits by user: n_users x row_words */
    uint64_t *columns; /* and by item: row_words tiles (bit_columns.h) */
    int64_t *counts;   /* reported ones of each item, of whole tiles */
    int64_t *pairs; /* PAIR_ROWS x whole tiles: users that items share, of all processes; NULL: one process */
    int64_t first;  /* the items whose neighbours are sought, from here on */
    int64_t n;      /* how many of them */
    struct candidate *heaps; /* GROUP x slots for each worker */
    uint64_t *own;           /* GROUP x column_words for each worker */
    const dpf_call *call;
    const dpf_witness *witness;
    double *told; /* 2 n_items for each worker, if somebody is: reported and own bits */
    struct neighbours_state state;
};

/* ---- reports ------------------------------------------------------------------------------------------ */

static void report_user(const struct fitting *fitting, int64_t user)
{
    const dpf_csr *csr = &fitting->records->by_user;
    uint64_t *row = fitting->rows + user * fitting->row_words;
    dpf_cursor cursor;
    memset(row, 0, (size_t)fitting->row_words * sizeof *row);
    for (int64_t i = csr->offsets[user]; i < csr->offsets[user + 1]; i++)
        row[csr->others[i] / 64] |= UINT64_C(1) << (csr->others[i] % 64);
    fitting->self->random->seek(fitting->self->stream, fitting->draw, (uint32_t)user, 0, &cursor);
    bit_response_draw(&fitting->response, fitting->self->random, &cursor, row, fitting->row_words, row);
    row[fitting->row_words - 1] &= bit_mask(fitting->records->n_items, fitting->row_words - 1);
}

/* The report, as the server gets it, and the user's own bits. Training goes on with what the witness leaves.
 */
static void tell_witness(const struct fitting *fitting, int64_t user, int32_t worker)
{
    const int64_t n_items = fitting->records->n_items;
    const dpf_csr *csr = &fitting->records->by_user;
    uint64_t *row = fitting->rows + user * fitting->row_words;
    double *told = fitting->told + worker * 2 * n_items, *own = told + n_items;
    const dpf_witnessed what = {
        .size = sizeof what, .row = user, .n = n_items, .width = n_items, .numbers = told, .exact = own};
    for (int64_t i = 0; i < n_items; i++) {
        told[i] = (double)(row[i / 64] >> (i % 64) & 1);
        own[i] = 0;
    }
    for (int64_t i = csr->offsets[user]; i < csr->offsets[user + 1]; i++)
        own[csr->others[i]] = 1;
    fitting->witness->saw(fitting->witness->context, &what);
    memset(row, 0, (size_t)fitting->row_words * sizeof *row);
    for (int64_t i = 0; i < n_items; i++)
        row[i / 64] |= (uint64_t)(told[i] > 0.5) << (i % 64);
}

/* 64 users: their reports, by user and by item. Of users elsewhere, zeros. */
static void report_block(void *context, int64_t block, int32_t worker)
{
    const struct fitting *fitting = context;
    const int64_t first = 64 * block, left = fitting->records->n_users - first, n = left < 64 ? left : 64;
    int64_t here, end;
    dpf_users_here(fitting->records, &here, &end);
    for (int64_t user = first; user < first + n; user++) {
        if (user < here || user >= end) {
            memset(fitting->rows + user * fitting->row_words, 0,
                   (size_t)fitting->row_words * sizeof *fitting->rows);
            continue;
        }
        report_user(fitting, user);
        if (fitting->witness)
            tell_witness(fitting, user, worker);
    }
    bit_columns_turn(fitting->rows + first * fitting->row_words, n, fitting->row_words, block,
                     fitting->columns, fitting->column_words);
}

/* Items of all tiles. */
static int64_t tiled(const struct fitting *fitting)
{
    return fitting->row_words * TILE_ITEMS;
}

static const uint64_t *tile_of(const struct fitting *fitting, int64_t tile)
{
    return bit_tile(fitting->columns, tile, fitting->column_words);
}

static void count_items(void *context, int64_t tile, int32_t worker)
{
    const struct fitting *fitting = context;
    uint64_t *all = fitting->own + worker * GROUP * fitting->column_words;
    memset(all, 0xff, (size_t)fitting->column_words * sizeof *all);
    bit_columns_count(fitting->kind, tile_of(fitting, tile), all, fitting->column_words,
                      fitting->counts + tile * TILE_ITEMS);
}

/* The columns of a task's items, and how many these are. */
static uint64_t *own_columns(const struct fitting *fitting, int64_t task, int32_t worker, int64_t *n)
{
    uint64_t *own = fitting->own + worker * GROUP * fitting->column_words;
    const int64_t left = fitting->n - GROUP * task;
    *n = left < GROUP ? left : GROUP;
    for (int64_t i = 0; i < *n; i++)
        bit_columns_copy(fitting->columns, fitting->column_words, fitting->first + GROUP * task + i,
                         own + i * fitting->column_words);
    return own;
}

/* The pairs of some items, of the users that are here. */
static void count_pairs(void *context, int64_t task, int32_t worker)
{
    const struct fitting *fitting = context;
    int64_t n;
    const uint64_t *own = own_columns(fitting, task, worker, &n);
    for (int64_t tile = 0; tile < fitting->row_words; tile++)
        for (int64_t i = 0; i < n; i++)
            bit_columns_count(fitting->kind, tile_of(fitting, tile), own + i * fitting->column_words,
                              fitting->column_words,
                              fitting->pairs + (GROUP * task + i) * tiled(fitting) + tile * TILE_ITEMS);
}

/* ---- neighbours --------------------------------------------------------------------------------------- */

/* Larger similarity first, then the smaller number: a total order, so that results are unique. */
static int before(const struct candidate *a, const struct candidate *b)
{
    return a->similarity != b->similarity ? a->similarity > b->similarity : a->item < b->item;
}

/* heap[0] is the last of the n that are kept; restores that after heap[at] has been replaced. */
static void sift_down(struct candidate *heap, int64_t n, int64_t at)
{
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1]))
            child++;
        if (!before(&heap[at], &heap[child]))
            return;
        const struct candidate moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void keep_best(struct candidate *heap, int64_t *n, int64_t k, struct candidate candidate)
{
    if (*n < k) {
        heap[(*n)++] = candidate;
        for (int64_t at = *n - 1; at > 0 && before(&heap[(at - 1) / 2], &heap[at]); at = (at - 1) / 2) {
            const struct candidate moved = heap[at];
            heap[at] = heap[(at - 1) / 2];
            heap[(at - 1) / 2] = moved;
        }
    } else if (before(&candidate, &heap[0])) {
        heap[0] = candidate;
        sift_down(heap, *n, 0);
    }
}

/* By iterations from equal cells, where the inverse is impossible. */
static void similarities_by_bayes(const struct fitting *fitting, const struct pair_row *row,
                                  float *similarities)
{
    const struct neighbours *self = fitting->self;
    for (int64_t at = 0; at < PAIR_ROW; at += PAIR_LANES) {
        double reported[PAIR_CELLS][PAIR_LANES], cells[PAIR_CELLS][PAIR_LANES];
        for (int l = 0; l < PAIR_LANES; l++) {
            const double both = row->both[at + l], second = row->second[at + l];
            reported[PAIR_NEITHER][l] = row->n_users - row->first - second + both;
            reported[PAIR_SECOND][l] = second - both;
            reported[PAIR_FIRST][l] = row->first - both;
            reported[PAIR_BOTH][l] = both;
        }
        pair_estimate_bayes_lanes(row->channel, reported, self->iterations, cells);
        for (int l = 0; l < PAIR_LANES; l++) {
            const double one[PAIR_CELLS] = {cells[0][l], cells[1][l], cells[2][l], cells[3][l]};
            similarities[at + l] = (float)(row->is_cosine ? pair_cosine(one) : pair_jaccard(one));
        }
    }
}

/* A tile's items to the best of an item; ascending, so of equal ones the first stay. */
static void take_tile(const struct fitting *fitting, int64_t item, int64_t tile, const int64_t *shared,
                      struct candidate *heap, int64_t *n)
{
    const int64_t first = tile * TILE_ITEMS, left = fitting->records->n_items - first, k = fitting->slots;
    const int64_t count = left < TILE_ITEMS ? left : TILE_ITEMS;
    double second[PAIR_ROW], both[PAIR_ROW];
    float similarities[PAIR_ROW];
    for (int l = 0; l < TILE_ITEMS; l++) {
        second[l] = (double)fitting->counts[first + l];
        both[l] = (double)shared[l];
    }
    const struct pair_row row = {&fitting->response,
                                 (double)fitting->records->n_users,
                                 (double)fitting->counts[item],
                                 second,
                                 both,
                                 fitting->self->similarity == SIMILARITY_COSINE};
    if (fitting->self->estimator == ESTIMATOR_BAYES)
        similarities_by_bayes(fitting, &row, similarities);
    else
        pair_similarities(fitting->kind, &row, similarities);
    for (int64_t l = 0; l < count; l++)
        if (similarities[l] > (*n < k ? 0.0F : heap[0].similarity) && first + l != item)
            keep_best(heap, n, k, (struct candidate){similarities[l], (int32_t)(first + l)});
}

/* The kept ones in their order. */
static void write_neighbours(const struct fitting *fitting, int64_t item, struct candidate *heap, int64_t n)
{
    const int64_t k = fitting->slots;
    int32_t *items = fitting->state.items + item * k;
    float *best = fitting->state.similarities + item * k;
    for (int64_t slot = n; slot < k; slot++) {
        items[slot] = -1;
        best[slot] = 0.0F;
    }
    while (n > 0) {
        items[n - 1] = heap[0].item;
        best[n - 1] = heap[0].similarity;
        heap[0] = heap[--n];
        sift_down(heap, n, 0);
    }
}

static void neighbours_of_items(void *context, int64_t task, int32_t worker)
{
    const struct fitting *fitting = context;
    const int64_t first = fitting->first + GROUP * task, k = fitting->slots;
    struct candidate *heaps = fitting->heaps + worker * GROUP * k;
    int64_t n, kept[GROUP] = {0}, counted[TILE_ITEMS];
    const uint64_t *own = own_columns(fitting, task, worker, &n);
    if (fitting->call->cancelled(fitting->call))
        return;
    for (int64_t tile = 0; tile < fitting->row_words; tile++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t *shared = counted;
            if (fitting->pairs)
                shared = fitting->pairs + (GROUP * task + i) * tiled(fitting) + tile * TILE_ITEMS;
            else
                bit_columns_count(fitting->kind, tile_of(fitting, tile), own + i * fitting->column_words,
                                  fitting->column_words, counted);
            take_tile(fitting, first + i, tile, shared, heaps + i * k, &kept[i]);
        }
    for (int64_t i = 0; i < n; i++)
        write_neighbours(fitting, first + i, heaps + i * k, kept[i]);
}

/* ---- all of it ------------------------------------------------------------------------------------------
 */

/* Whether several processes train together. */
static int adds_up(const dpf_fit *fit)
{
    return fit->size > offsetof(dpf_fit, add_up) && fit->add_up;
}

static dpf_status open_fitting(struct fitting *fitting, const dpf_call *call, const dpf_fit *fit)
{
    const struct neighbours *self = fitting->self;
    const int64_t n_users = fit->records->n_users, n_items = fit->records->n_items;
    fitting->records = fit->records;
    fitting->draw = call->draw;
    fitting->call = call;
    fitting->slots = neighbours_slots(self, n_items);
    fitting->row_words = bit_words(n_items);
    fitting->column_words = bit_words(n_users);
    fitting->kind = simd_choose(SIMD_KIND_AUTO);
    fitting->state = neighbours_state_at(self, n_users, n_items, fit->state);
    fitting->rows = fitting->state.rows;
    if (!fitting->rows)
        fitting->rows = call->scratch(call, (uint64_t)(n_users * fitting->row_words) * sizeof(uint64_t));
    const uint64_t items = (uint64_t)tiled(fitting), groups = GROUP * (uint64_t)dpf_task_workers(call);
    const uint64_t words = (uint64_t)fitting->column_words;
    fitting->columns = call->scratch(call, items * words * sizeof(uint64_t));
    fitting->counts = call->scratch(call, items * sizeof(int64_t));
    if (adds_up(fit))
        fitting->pairs = call->scratch(call, PAIR_ROWS * items * sizeof(int64_t));
    fitting->heaps = call->scratch(call, groups * (uint64_t)fitting->slots * sizeof(*fitting->heaps));
    fitting->own = call->scratch(call, groups * words * sizeof(uint64_t));
    fitting->witness = dpf_fit_witness(fit);
    if (fitting->witness)
        fitting->told = call->scratch(call, (uint64_t)dpf_task_workers(call) * 2 * (uint64_t)n_items *
                                                sizeof(*fitting->told));
    if (!fitting->rows || !fitting->columns || !fitting->counts || !fitting->heaps || !fitting->own ||
        (fitting->witness && !fitting->told) || (adds_up(fit) && !fitting->pairs))
        return self->host->fail(self->host, DPF_E_MEMORY, -1, "out of memory");
    *fitting->state.header = (struct neighbours_header){.magic = NEIGHBOURS_MAGIC,
                                                        .n_users = n_users,
                                                        .n_items = n_items,
                                                        .slots = (int32_t)fitting->slots,
                                                        .history = self->history};
    return DPF_OK;
}

/* What users send, and, where they score, receive: the neighbours of all items. */
static void count_bytes(const struct fitting *fitting, dpf_fit *fit)
{
    const int64_t n_users = fit->records->n_users, n_items = fit->records->n_items;
    fit->messages = n_users;
    fit->bytes_up = (uint64_t)(n_users * ((n_items + 7) / 8));
    fit->bytes_down = fitting->self->history == HISTORY_OWN
                          ? (uint64_t)(n_users * n_items * fitting->slots) *
                                (sizeof(*fitting->state.items) + sizeof(*fitting->state.similarities))
                          : 0;
}

/* Bits that the server counts, of users of all processes; and, where scores read them, the bits themselves, which
   are zeros in all processes but one. */
static dpf_status add_up_reports(const struct fitting *fitting, const dpf_fit *fit)
{
    const int64_t words = fit->records->n_users * fitting->row_words;
    const dpf_status status = dpf_fit_add_up(fit, fitting->counts, fit->records->n_items);
    return status == DPF_OK && fitting->state.rows
               ? dpf_fit_add_up(fit, (int64_t *)(void *)fitting->state.rows, words)
               : status;
}

static dpf_status find_neighbours(struct fitting *fitting, const dpf_fit *fit)
{
    const int64_t n_items = fit->records->n_items, at_once = fitting->pairs ? PAIR_ROWS : n_items;
    dpf_status status = DPF_OK;
    for (fitting->first = 0; fitting->first < n_items && status == DPF_OK; fitting->first += at_once) {
        const int64_t left = n_items - fitting->first,
                      tasks = ((left < at_once ? left : at_once) + GROUP - 1) / GROUP;
        fitting->n = left < at_once ? left : at_once;
        if (fitting->pairs) {
            dpf_run_tasks(fitting->call, tasks, count_pairs, fitting);
            status = dpf_fit_add_up(fit, fitting->pairs, fitting->n * tiled(fitting));
        }
        if (status == DPF_OK)
            dpf_run_tasks(fitting->call, tasks, neighbours_of_items, fitting);
    }
    return status;
}

dpf_status neighbours_fit(void *instance, const dpf_call *call, dpf_fit *fit)
{
    struct fitting fitting = {.self = instance};
    if (fit->state_bytes != neighbours_state_size(instance, fit->records->n_users, fit->records->n_items))
        return call->host->fail(call->host, DPF_E_INTERNAL, -1,
                                "the state has another size than was asked for");
    if (fit->records->n_users == 0 || fit->records->n_items == 0)
        return call->host->fail(call->host, DPF_E_RANGE, -1, "there are no users or no items");
    bit_response_plan(fitting.self->epsilon / fit->setup->noise_factor, fitting.self->keep,
                      &fitting.response);
    if (fit->setup->without_noise)
        fitting.response = (struct bit_response){.silent = 1, .keep = 1.0};
    dpf_status status = open_fitting(&fitting, call, fit);
    if (status != DPF_OK)
        return status;
    dpf_run_tasks(call, fitting.column_words, report_block, &fitting);
    dpf_run_tasks(call, fitting.row_words, count_items, &fitting);
    status = add_up_reports(&fitting, fit);
    if (status == DPF_OK)
        status = find_neighbours(&fitting, fit);
    if (call->cancelled(call))
        return DPF_E_CANCELLED;
    if (status != DPF_OK)
        return status;
    count_bytes(&fitting, fit);
    return DPF_OK;
}
