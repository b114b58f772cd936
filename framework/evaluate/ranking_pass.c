/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate/ranking_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "evaluate/coverage.h"
#include "evaluate/negatives.h"
#include "evaluate/top_groups.h"
#include "evaluate/user_pass.h"
#include "score/finalists.h"
#include "simd/simd_kind.h"

/* One worker's memory; arrays by item have room for every item. */
struct bench {
    double *scores;
    int32_t *items;
    int32_t *excluded;
    int32_t *candidates; /* the user's; NULL: all items */
    int64_t n_candidates;
    int32_t *positives; /* items */
    int32_t *entries;   /* of the list, for positives */
    double *positive_scores;
    uint8_t *marks;    /* by item; all clear between users */
    int64_t *coverage; /* cut-offs x items, or NULL */
    int64_t *exposure; /* the same */
    struct top_groups top;
    struct score_desk desk;
    struct finalists finalists; /* of users that come next; of ranking.finalists */
    int next_finalist;
    int64_t without_positives;
    int64_t short_of_negatives;
    int64_t without_scores;
};

struct ranking {
    const struct evaluate_options *options;
    const struct dataset *dataset;
    const struct scorer *scorer;
    const struct csr *part; /* whose records are the positives */
    int has_candidates;     /* that limit each user's list */
    int mask;               /* training records of the user leave the list */
    int wants_coverage;
    int wants_gini;
    int wants_relative_rank;
    int64_t n_items;
    struct item_counts counts;
    double *surprise; /* of counts, or NULL */
    int32_t *rated;   /* items with a training record, where negatives come from these; or NULL */
    int64_t n_rated;
    int64_t *item_band;        /* band of popularity of each item, or NULL */
    struct user_sums *by_user; /* or NULL */
    dpf_stream *stream;        /* of negatives, or NULL */
    int64_t n_users;
    struct finalist_items finalists; /* scorer NULL: every item is scored */
    struct bench *benches;
    int n_benches;
    double *sums; /* by chunk */
    int64_t chunks;
    int64_t width;
};

/*
 * A row of sums: users, relative rank, the metrics of each cut-off; for each band of activity users and
 * those metrics again; for each band of popularity positives, and how many of them are within each cut-off.
 */
#define SUM_USERS 0
#define SUM_RELATIVE_RANK 1
#define SUM_BY_LIST 2

static int64_t by_list_width(const struct evaluate_options *options)
{
    return options->n_cutoffs * METRIC_N_BY_LIST;
}

static int64_t n_activity_bands(const struct evaluate_options *options)
{
    return options->n_bands ? options->n_bands + 1 : 0;
}

static int64_t activity_at(const struct evaluate_options *options, int64_t band)
{
    return SUM_BY_LIST + by_list_width(options) + band * (1 + by_list_width(options));
}

static int64_t popularity_at(const struct evaluate_options *options, int64_t band)
{
    return activity_at(options, n_activity_bands(options)) + band * (1 + options->n_cutoffs);
}

static int64_t n_popularity_bands(const struct evaluate_options *options)
{
    return options->n_popularity_bands ? options->n_popularity_bands + 1 : 0;
}

double ranking_users(const struct evaluate_options *options, const double *sums, int64_t band)
{
    return sums[band < 0 ? SUM_USERS : activity_at(options, band)];
}

double ranking_mean(const struct evaluate_options *options, const double *sums, int64_t band,
                    enum metric_id id, int64_t cutoff)
{
    const double *by_list = sums + (band < 0 ? SUM_BY_LIST : activity_at(options, band) + 1);
    /* 0 / 0 is the NaN that says "not applicable". */
    return by_list[cutoff * METRIC_N_BY_LIST + (int64_t)id - METRIC_FIRST_BY_LIST] /
           ranking_users(options, sums, band);
}

double ranking_relative_rank(const double *sums)
{
    return sums[SUM_RELATIVE_RANK] / sums[SUM_USERS];
}

double ranking_positives(const struct evaluate_options *options, const double *sums, int64_t band)
{
    return sums[popularity_at(options, band)];
}

double ranking_found(const struct evaluate_options *options, const double *sums, int64_t band, int64_t cutoff)
{
    return sums[popularity_at(options, band) + 1 + cutoff] / ranking_positives(options, sums, band);
}

static int is_masked(const struct ranking *r, int64_t user, int32_t item)
{
    return r->mask && csr_find(&r->dataset->train.by_user, user, item) >= 0;
}

/* The union of two ascending rows, and of those only what the pool has (NULL: all). */
static int64_t merge_rows(const struct csr *a, const struct csr *b, int64_t row, const int32_t *pool,
                          int64_t n_pool, int32_t *out)
{
    int64_t i = a->ptr[row], i_end = a->ptr[row + 1], j = 0, j_end = 0, p = 0, n = 0;
    if (b->ptr) {
        j = b->ptr[row];
        j_end = b->ptr[row + 1];
    }
    while (i < i_end || j < j_end) {
        int32_t item;
        if (j >= j_end || (i < i_end && a->others[i] <= b->others[j]))
            item = a->others[i];
        else
            item = b->others[j];
        while (i < i_end && a->others[i] == item)
            i++;
        while (j < j_end && b->others[j] == item)
            j++;
        while (pool && p < n_pool && pool[p] < item)
            p++;
        if (!pool || (p < n_pool && pool[p] == item))
            out[n++] = item;
    }
    return n;
}

/* Lists the user's positives, ascending and among the candidates (NULL: all items); returns how many. */
static int64_t list_positives(const struct ranking *r, int64_t user, const int32_t *candidates,
                              int64_t n_candidates, int32_t *positives)
{
    const struct csr *train = &r->dataset->train.by_user;
    int64_t c = 0, n = 0;
    int64_t seen = train->ptr[user], seen_end = r->mask ? train->ptr[user + 1] : seen;
    for (int64_t i = r->part->ptr[user]; i < r->part->ptr[user + 1]; i++) {
        double value = r->part->values ? (double)r->part->values[i] : 1.0;
        int32_t item = r->part->others[i];
        while (candidates && c < n_candidates && candidates[c] < item)
            c++;
        if (candidates && (c == n_candidates || candidates[c] != item))
            continue;
        while (seen < seen_end && train->others[seen] < item)
            seen++;
        const int is_void = r->part->voids && r->part->voids[i];
        if (is_void || !(value >= r->options->relevance) || (seen < seen_end && train->others[seen] == item))
            continue;
        positives[n++] = item;
    }
    return n;
}

static void mark_positives(struct bench *bench, int64_t n, uint8_t mark)
{
    for (int64_t i = 0; i < n; i++)
        bench->marks[bench->positives[i]] = mark;
}

/* Leaves candidates with a training record; returns how many. */
static int64_t keep_rated(const struct ranking *r, int32_t *candidates, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (r->counts.ptr[candidates[i] + 1] > r->counts.ptr[candidates[i]])
            candidates[kept++] = candidates[i];
    return kept;
}

static int64_t draw_negatives(const struct ranking *r, struct bench *bench, int64_t user, int32_t *out)
{
    const struct dataset *dataset = r->dataset;
    const char *id = id_map_text(&dataset->users, user);
    const int32_t *pool = bench->candidates;
    int64_t n_pool = bench->n_candidates;
    if (r->rated && pool)
        n_pool = keep_rated(r, bench->candidates, n_pool);
    else if (r->rated) {
        pool = r->rated;
        n_pool = r->n_rated;
    }
    const int64_t n_excluded =
        merge_rows(&dataset->train.by_user, &dataset->test.by_user, user, pool, n_pool, bench->excluded);
    if (r->options->negatives_from == EVALUATE_NEGATIVES_POPULARITY)
        return negatives_draw_by_records(r->stream, id, r->counts.ptr, r->n_items, pool, n_pool,
                                         bench->excluded, n_excluded, r->options->negatives, bench->marks,
                                         MARK_OTHER, out);
    return negatives_draw(r->stream, id, pool, n_pool, bench->excluded, n_excluded, r->options->negatives,
                          bench->marks, MARK_OTHER, out);
}

/* Positives first, then the user's negatives. */
static int list_sampled(const struct ranking *r, struct bench *bench, int64_t user, struct ranked_list *list,
                        struct dpf_error *error)
{
    const int64_t drawn = draw_negatives(r, bench, user, bench->items + list->n_positives);
    for (int32_t i = 0; i < list->n_positives; i++) {
        bench->items[i] = bench->positives[i];
        bench->entries[i] = i;
    }
    bench->short_of_negatives += drawn < r->options->negatives;
    list->items = bench->items;
    list->positives = bench->entries;
    list->n = list->n_candidates = list->n_positives + drawn;
    return scorer_scores(r->scorer, &bench->desk, user, list->items, list->n, bench->scores, error);
}

/* The candidates of the split, less what is masked. */
static int list_candidates(const struct ranking *r, struct bench *bench, int64_t user,
                           struct ranked_list *list, struct dpf_error *error)
{
    const int32_t *candidates = bench->candidates;
    int64_t positives = 0;
    int32_t kept = 0;
    for (int64_t i = 0; i < bench->n_candidates; i++) {
        if (is_masked(r, user, candidates[i]))
            continue;
        if (bench->marks[candidates[i]] & MARK_POSITIVE)
            bench->entries[positives++] = kept;
        bench->items[kept++] = candidates[i];
    }
    list->items = bench->items;
    list->positives = bench->entries;
    list->n = list->n_candidates = kept;
    return scorer_scores(r->scorer, &bench->desk, user, list->items, list->n, bench->scores, error);
}

/* All items; masked ones stay in place at -infinity, which costs less than moving the others. */
static int list_all(const struct ranking *r, struct bench *bench, int64_t user, struct ranked_list *list,
                    struct dpf_error *error)
{
    const struct csr *train = &r->dataset->train.by_user;
    if (scorer_scores(r->scorer, &bench->desk, user, NULL, r->n_items, bench->scores, error) != 0)
        return -1;
    list->items = NULL;
    list->positives = bench->positives;
    list->n = list->n_candidates = r->n_items;
    if (!r->mask)
        return 0;
    for (int64_t i = train->ptr[user]; i < train->ptr[user + 1]; i++)
        bench->scores[train->others[i]] = -INFINITY;
    list->n_candidates -= train->ptr[user + 1] - train->ptr[user];
    return 0;
}

/* The next users that have positives, this one first, are looked at together. */
static void find_finalists(const struct ranking *r, struct bench *bench, int64_t user, int64_t end)
{
    const struct csr *train = &r->dataset->train.by_user;
    struct finalists *f = &bench->finalists;
    struct dpf_error ignored = {0};
    int status = 0;
    f->n_users = bench->next_finalist = 0;
    for (int64_t u = user; u < end && f->n_users < r->finalists.group; u++) {
        struct finalist_user *next = &f->users[f->n_users];
        status = finalists_reserve(f, f->n_users, r->part->ptr[u + 1] - r->part->ptr[u], &ignored);
        if (status != 0)
            break;
        next->user = (int32_t)u;
        next->masked = train->others + train->ptr[u];
        next->n_masked = r->mask ? train->ptr[u + 1] - train->ptr[u] : 0;
        next->n_positives = list_positives(r, u, NULL, 0, next->positives);
        f->n_users += next->n_positives > 0;
    }
    if (status == 0)
        status = finalists_find(f, &ignored);
    /* Whatever went wrong: the scorer goes on alone, and says so for the user whom it concerns. */
    for (int i = 0; i < f->n_users && status != 0; i++)
        f->users[i].left = 1;
}

/* Those of all items that can be among the first k; or all of them. */
static int list_finalists(const struct ranking *r, struct bench *bench, int64_t user, int64_t end,
                          struct ranked_list *list, struct dpf_error *error)
{
    struct finalists *f = &bench->finalists;
    if (bench->next_finalist >= f->n_users || f->users[bench->next_finalist].user != user)
        find_finalists(r, bench, user, end);
    const struct finalist_user *u = &f->users[bench->next_finalist++];
    if (f->n_users == 0 || u->left)
        return list_all(r, bench, user, list, error);
    list->items = u->items;
    list->n = u->n_items;
    list->n_candidates = r->n_items - u->n_masked;
    list->places = r->wants_relative_rank ? u->places : -1;
    list->scores = u->scores;
    return 0;
}

/* Every item with a chance to be among the first k gets it, in whatever is counted by item. */
static void add_items(const struct ranking *r, struct bench *bench, const struct ranked_list *list,
                      int64_t cutoff, double *sums)
{
    const struct top_groups *top = &bench->top;
    const int64_t k = r->options->cutoffs[cutoff];
    int64_t *coverage = bench->coverage ? bench->coverage + cutoff * r->n_items : NULL;
    int64_t *exposure = bench->exposure ? bench->exposure + cutoff * r->n_items : NULL;
    int64_t before = 0;
    for (int64_t g = 0; g < top->n_groups && before < k; g++) {
        int64_t size = top->groups[g].size, slots = size < k - before ? size : k - before;
        const double chance = (double)slots / (double)size;
        const int64_t covered = coverage ? coverage_step(chance) : 0, exposed = exposure_step(chance);
        for (int64_t i = 0; i < size; i++) {
            int64_t entry = g + 1 < top->n_groups ? top->entries[before + i].entry : top->ties[i];
            const int64_t item = ranked_item(list, entry);
            if (coverage)
                coverage_add(&coverage[item], covered);
            if (exposure)
                exposure[item] += exposed;
            if (r->item_band && (list->marks[item] & MARK_POSITIVE))
                sums[popularity_at(r->options, r->item_band[item]) + 1 + cutoff] += chance;
        }
        before += size;
    }
}

static int64_t band_of(const int64_t *boundaries, int64_t n, int64_t count)
{
    int64_t band = 0;
    while (band < n && count >= boundaries[band])
        band++;
    return band;
}

static int64_t activity_band(const struct ranking *r, int64_t user)
{
    const int64_t *ptr = r->dataset->train.by_user.ptr;
    return band_of(r->options->bands, r->options->n_bands, ptr[user + 1] - ptr[user]);
}

static void add_list(const struct ranking *r, struct bench *bench, const struct ranked_list *list,
                     int64_t user, double *sums)
{
    struct top_groups *top = &bench->top;
    double *band = r->options->n_bands ? sums + activity_at(r->options, activity_band(r, user)) : NULL;
    const int by_item = r->wants_coverage || r->wants_gini || r->item_band;
    top_groups_find(top, list, &r->counts);
    for (int64_t i = 0; i < r->options->n_cutoffs; i++) {
        double at[METRIC_N_BY_LIST];
        tied_ranking_at(top->groups, top->n_groups, list->n_positives, r->options->cutoffs[i], at);
        for (int64_t m = 0; m < METRIC_N_BY_LIST; m++) {
            sums[SUM_BY_LIST + i * METRIC_N_BY_LIST + m] += at[m];
            if (band)
                band[1 + i * METRIC_N_BY_LIST + m] += at[m];
        }
        if (by_item)
            add_items(r, bench, list, i, sums);
    }
    for (int32_t i = 0; r->item_band && i < list->n_positives; i++)
        sums[popularity_at(r->options, r->item_band[bench->positives[i]])] += 1;
    if (r->wants_relative_rank)
        sums[SUM_RELATIVE_RANK] += relative_rank(list, bench->positive_scores);
    sums[SUM_USERS] += 1;
    if (band)
        band[0] += 1;
}

static int rank_user(void *context, int64_t user, int64_t end, int worker, struct dpf_error *error)
{
    const struct ranking *r = context;
    struct bench *bench = &r->benches[worker];
    struct ranked_list list = {.scores = bench->scores, .marks = bench->marks, .places = -1};
    if (r->has_candidates && r->part->ptr[user + 1] > r->part->ptr[user])
        bench->n_candidates = dataset_candidates(r->dataset, user, bench->candidates);
    list.n_positives = list_positives(r, user, bench->candidates, bench->n_candidates, bench->positives);
    if (list.n_positives == 0) {
        bench->without_positives++;
        return 0;
    }
    mark_positives(bench, list.n_positives, MARK_POSITIVE);
    struct dpf_error fault = {0};
    int status;
    if (r->stream)
        status = list_sampled(r, bench, user, &list, &fault);
    else if (r->has_candidates)
        status = list_candidates(r, bench, user, &list, &fault);
    else if (r->finalists.scorer)
        status = list_finalists(r, bench, user, end, &list, &fault);
    else
        status = list_all(r, bench, user, &list, &fault);
    double *sums = r->sums + user_pass_chunk(r->n_users, user) * r->width;
    if (status == 0)
        add_list(r, bench, &list, user, r->by_user ? user_sums_row(r->by_user, user) : sums);
    if (status == 0 && r->by_user)
        user_sums_add(r->by_user, user, sums);
    mark_positives(bench, list.n_positives, 0);
    if (status == 0)
        return 0;
    bench->without_scores++;
    if (!r->options->release)
        *error = fault;
    return r->options->release ? 0 : -1;
}

static int bench_init(const struct ranking *r, struct bench *bench, struct dpf_error *error)
{
    size_t items = (size_t)r->n_items;
    int64_t limit = r->options->largest_cutoff < r->n_items ? r->options->largest_cutoff : r->n_items;
    bench->scores = memory_need(items, sizeof *bench->scores);
    bench->items = memory_need(items, sizeof *bench->items);
    bench->excluded = memory_need(items, sizeof *bench->excluded);
    bench->n_candidates = r->n_items;
    if (r->has_candidates)
        bench->candidates = memory_need(items, sizeof *bench->candidates);
    bench->positives = memory_need(items, sizeof *bench->positives);
    bench->entries = memory_need(items, sizeof *bench->entries);
    bench->positive_scores = memory_need(items, sizeof *bench->positive_scores);
    bench->marks = memory_need(items, sizeof *bench->marks);
    if (r->wants_coverage)
        bench->coverage = memory_need(items, (size_t)r->options->n_cutoffs * sizeof *bench->coverage);
    if (r->wants_gini)
        bench->exposure = memory_need(items, (size_t)r->options->n_cutoffs * sizeof *bench->exposure);
    top_groups_init(&bench->top, limit > 0 ? limit : 1, r->n_items);
    return r->finalists.scorer
               ? finalists_init(&bench->finalists, &r->finalists, r->wants_relative_rank, error)
               : 0;
}

static void ranking_free(struct ranking *r)
{
    for (int w = 0; r->benches && w < r->n_benches; w++) {
        struct bench *bench = &r->benches[w];
        free(bench->scores);
        free(bench->items);
        free(bench->excluded);
        free(bench->candidates);
        free(bench->positives);
        free(bench->entries);
        free(bench->positive_scores);
        free(bench->marks);
        free(bench->coverage);
        free(bench->exposure);
        finalists_free(&bench->finalists);
        top_groups_free(&bench->top);
        score_desk_free(&bench->desk);
    }
    free(r->benches);
    free(r->sums);
    free(r->surprise);
    free(r->rated);
    free(r->item_band);
    random_stream_free(r->stream);
    finalist_items_close(&r->finalists);
}

/* What is known of items before any list. */
static void prepare_items(struct ranking *r, int64_t n_users)
{
    const int64_t *ptr = r->dataset->train.by_item.ptr;
    const struct evaluate_options *options = r->options;
    r->counts.ptr = ptr;
    if (evaluate_options_chosen(options, METRIC_NOVELTY)) {
        r->counts.surprise = r->surprise = memory_need((size_t)r->n_items, sizeof *r->surprise);
        for (int64_t i = 0; i < r->n_items; i++)
            r->surprise[i] = log2((double)n_users / fmax(1, (double)(ptr[i + 1] - ptr[i])));
    }
    if (options->sampled && options->negatives_from == EVALUATE_NEGATIVES_RATED) {
        r->rated = memory_need((size_t)r->n_items, sizeof *r->rated);
        for (int64_t i = 0; i < r->n_items; i++)
            if (ptr[i + 1] > ptr[i])
                r->rated[r->n_rated++] = (int32_t)i;
    }
    if (options->n_popularity_bands) {
        r->item_band = memory_need((size_t)r->n_items, sizeof *r->item_band);
        for (int64_t i = 0; i < r->n_items; i++)
            r->item_band[i] =
                band_of(options->popularity_bands, options->n_popularity_bands, ptr[i + 1] - ptr[i]);
    }
}

/* Whether a first pass that leaves most items out is worth it. */
static int prepare_finalists(struct ranking *r, struct dpf_error *error)
{
    const int64_t k = r->options->largest_cutoff;
    if (!scorer_is_products(r->scorer) || r->options->sampled || r->has_candidates ||
        (8 * k > r->n_items && !scorer_is_base(r->scorer)))
        return 0;
    return finalist_items_open(&r->finalists, r->scorer, r->n_items, NULL, k, SIMD_KIND_AUTO, error);
}

static int ranking_init(struct ranking *r, const struct random_root *seeded, struct pool *pool,
                        int64_t n_users, struct dpf_error *error)
{
    r->n_benches = pool_workers(pool);
    r->benches = memory_need((size_t)r->n_benches, sizeof *r->benches);
    r->chunks = user_pass_chunks(n_users);
    r->width = popularity_at(r->options, n_popularity_bands(r->options));
    r->sums = memory_need((size_t)r->chunks + 1, (size_t)r->width * sizeof *r->sums);
    if (r->by_user && user_sums_init(r->by_user, n_users, r->width, error) != 0)
        return -1;
    r->n_users = n_users;
    prepare_items(r, n_users);
    if (prepare_finalists(r, error) != 0)
        return -1;
    for (int w = 0; w < r->n_benches; w++)
        if (bench_init(r, &r->benches[w], error) != 0)
            return -1;
    if (!r->options->sampled)
        return 0;
    r->stream = random_stream_open(seeded, "evaluate", "negatives", error);
    return r->stream ? 0 : -1;
}

static void add_up_benches(const struct ranking *r, struct ranking_results *out)
{
    for (int w = 0; w < r->n_benches; w++) {
        struct bench *bench = &r->benches[w];
        out->without_positives += bench->without_positives;
        out->short_of_negatives += bench->short_of_negatives;
        out->without_scores += bench->without_scores;
        if (w == 0)
            continue;
        const struct bench *first = &r->benches[0];
        for (int64_t i = 0; first->coverage && i < r->options->n_cutoffs * r->n_items; i++)
            coverage_add(&first->coverage[i], bench->coverage[i]);
        for (int64_t i = 0; first->exposure && i < r->options->n_cutoffs * r->n_items; i++)
            first->exposure[i] += bench->exposure[i];
    }
}

/* Of all ranks. A rank's sums of coverage are saturated at 2^56, and added up without an overflow for up to
   127 ranks; ranks_sum refuses what more could make of them. */
static int add_up_ranks(const struct ranking *r, struct ranking_results *out, struct dpf_error *error)
{
    const int64_t n = r->options->n_cutoffs * r->n_items;
    int64_t counts[] = {out->without_positives, out->short_of_negatives, out->without_scores};
    const struct bench *first = &r->benches[0];
    if (ranks_sum(counts, 3, error) != 0 || (first->coverage && ranks_sum(first->coverage, n, error) != 0) ||
        (first->exposure && ranks_sum(first->exposure, n, error) != 0))
        return -1;
    out->without_positives = counts[0];
    out->short_of_negatives = counts[1];
    out->without_scores = counts[2];
    for (int64_t i = 0; first->coverage && i < n; i++)
        first->coverage[i] = first->coverage[i] < COVERAGE_CERTAIN ? first->coverage[i] : COVERAGE_CERTAIN;
    return 0;
}

static int collect(struct ranking *r, int64_t n_users, struct ranking_results *out, struct dpf_error *error)
{
    int64_t n_cutoffs = r->options->n_cutoffs;
    if (r->wants_coverage)
        out->coverage = memory_need((size_t)n_cutoffs, sizeof *out->coverage);
    if (r->wants_gini)
        out->gini = memory_need((size_t)n_cutoffs, sizeof *out->gini);
    add_up_benches(r, out);
    if (user_pass_sum(r->dataset, n_users, r->sums, r->width, error) != 0 ||
        (r->by_user && n_users && user_sums_gather(r->by_user, r->dataset, error) != 0) ||
        add_up_ranks(r, out, error) != 0)
        return -1;
    out->sums = r->sums;
    r->sums = NULL;
    const int any = out->sums[SUM_USERS] > 0;
    for (int64_t i = 0; i < n_cutoffs; i++) {
        if (out->coverage)
            out->coverage[i] =
                any ? coverage_share(r->benches[0].coverage + i * r->n_items, r->n_items) : (double)NAN;
        if (out->gini)
            out->gini[i] =
                any ? exposure_gini(r->benches[0].exposure + i * r->n_items, r->n_items) : (double)NAN;
    }
    return 0;
}

int ranking_pass(const struct evaluate_options *options, const struct dataset *dataset,
                 const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                 int train_part, struct ranking_results *out, struct dpf_error *error)
{
    const struct records *part = train_part ? &dataset->train : &dataset->test;
    struct ranking r = {
        .options = options,
        .dataset = dataset,
        .scorer = scorer,
        .part = &part->by_user,
        .has_candidates = !train_part && dataset->candidates.kind != CANDIDATES_ALL,
        .mask = options->mask_seen && !train_part,
        .wants_coverage = evaluate_options_chosen(options, METRIC_COVERAGE),
        .wants_gini = evaluate_options_chosen(options, METRIC_GINI),
        .wants_relative_rank = evaluate_options_chosen(options, METRIC_MRANK),
        .n_items = dataset->train.by_item.rows,
    };
    int64_t n_users = part->by_user.ptr ? dataset->train.by_user.rows : 0;
    memset(out, 0, sizeof *out);
    r.by_user = train_part && !options->replicates ? NULL : &out->by_user;
    int status = ranking_init(&r, seeded, pool, n_users, error);
    if (status == 0)
        status = user_pass_run(pool, dataset, n_users, rank_user, &r, error);
    if (status == 0)
        status = collect(&r, n_users, out, error);
    if (status != 0)
        ranking_results_free(out);
    ranking_free(&r);
    return status;
}

void ranking_results_free(struct ranking_results *results)
{
    free(results->sums);
    free(results->coverage);
    free(results->gini);
    user_sums_free(&results->by_user);
    memset(results, 0, sizeof *results);
}
