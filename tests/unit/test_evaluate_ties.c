/* SPDX-License-Identifier: Apache-2.0 */
/* Every ranking metric against the plain average over all orders that the scores allow. */
#include "evaluate/tied_ranking.h"
#include "kit/evaluate_fixture.h"

#define MOST_ITEMS 7
#define N_FIGURES 12

static const char *const figure_names[N_FIGURES] = {
    "hr",  "ndcg",     "precision", "recall",     "recall-capped", "f1",
    "map", "map-hits", "mrr",       "popularity", "coverage",      "map-relevant"};

/* One user's list; the definitions are written down afresh here. */
struct instance {
    int n;
    int k;
    int scores[MOST_ITEMS];
    int positive[MOST_ITEMS];
    int popularity[MOST_ITEMS];
};

static void judge(const struct instance *in, const int *order, double sums[N_FIGURES], double *ranks)
{
    int hits = 0, total = 0, first = 0;
    double gain = 0, ideal = 0, precisions = 0, popularity = 0;
    for (int i = 0; i < in->n; i++)
        total += in->positive[i];
    for (int rank = 1; rank <= in->n; rank++) {
        int item = order[rank - 1];
        if (in->positive[item])
            *ranks += (double)(rank - 1) / (in->n - 1) / total;
        if (rank > in->k)
            continue;
        popularity += in->popularity[item];
        if (!in->positive[item])
            continue;
        hits++;
        first = first ? first : rank;
        gain += log(2) / log(rank + 1);
        precisions += (double)hits / rank;
    }
    int best = in->k < total ? in->k : total, length = in->k < in->n ? in->k : in->n;
    for (int rank = 1; rank <= best; rank++)
        ideal += log(2) / log(rank + 1);
    double precision = (double)hits / in->k, recall = (double)hits / total;
    sums[0] += hits > 0;
    sums[1] += gain / ideal;
    sums[2] += precision;
    sums[3] += recall;
    sums[4] += (double)hits / best;
    sums[5] += hits ? 2 * precision * recall / (precision + recall) : 0;
    sums[6] += precisions / best;
    sums[7] += hits ? precisions / hits : 0;
    sums[8] += first ? 1.0 / first : 0;
    sums[9] += popularity / length;
    sums[10] += (double)length / in->n;
    sums[11] += precisions / total;
}

/* Recursion over all orders by descending score. Returns their number. */
static int64_t all_orders(const struct instance *in, int *order, int depth, unsigned used, double *sums,
                          double *ranks)
{
    if (depth == in->n) {
        judge(in, order, sums, ranks);
        return 1;
    }
    int64_t n = 0;
    int best = INT32_MIN;
    for (int i = 0; i < in->n; i++)
        if (!(used >> i & 1) && in->scores[i] > best)
            best = in->scores[i];
    for (int i = 0; i < in->n; i++) {
        if ((used >> i & 1) || in->scores[i] != best)
            continue;
        order[depth] = i;
        n += all_orders(in, order, depth + 1, used | 1u << i, sums, ranks);
    }
    return n;
}

/* User 0 is the one judged; users 1 .. 4 only make items popular. */
static void evaluate_instance(const struct instance *in, struct metrics *out)
{
    double *train = fixture_cells(5, in->n), *test = fixture_cells(5, in->n);
    double scores[5 * MOST_ITEMS] = {0};
    for (int i = 0; i < in->n; i++) {
        scores[i] = in->scores[i];
        for (int u = 0; u < in->popularity[i]; u++)
            train[(1 + u) * in->n + i] = 1;
        if (in->positive[i])
            test[i] = 1;
    }
    struct dataset dataset;
    fixture_dataset(&dataset, 5, in->n, train, test, 1);
    struct fixture_options options;
    fixture_defaults(&options);
    fixture_text(
        &options, "metrics",
        "hr,ndcg,precision,recall,recall-capped,f1,map,map-hits,map-relevant,mrr,popularity,coverage,mrank");
    int64_t k = in->k;
    fixture_list(&options, "k", &k, 1);
    struct dpf_error error;
    assert_int_equal(fixture_evaluate(&options, &dataset, scores, out, &error), 0);
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}

static void random_instance(struct instance *in, uint64_t *state)
{
    in->n = 2 + (int)fixture_below(state, MOST_ITEMS - 1);
    in->k = 1 + (int)fixture_below(state, in->n + 1); /* now and then longer than the list */
    int levels = 1 + (int)fixture_below(state, 4);
    for (int i = 0; i < in->n; i++) {
        in->scores[i] = (int)fixture_below(state, levels);
        in->positive[i] = fixture_below(state, 3) == 0;
        in->popularity[i] = (int)fixture_below(state, 5);
    }
    in->positive[fixture_below(state, in->n)] = 1;
}

TEST(equal_the_average_over_all_orders)
{
    uint64_t state = 20240229;
    for (int trial = 0; trial < 400; trial++) {
        struct instance in;
        random_instance(&in, &state);
        double sums[N_FIGURES] = {0}, ranks = 0;
        int order[MOST_ITEMS];
        int64_t n = all_orders(&in, order, 0, 0, sums, &ranks);
        struct metrics metrics;
        evaluate_instance(&in, &metrics);
        for (int f = 0; f < N_FIGURES; f++) {
            char name[64];
            snprintf(name, sizeof name, "%s@%d", figure_names[f], in.k);
            fixture_close(fixture_metric(&metrics, name), sums[f] / (double)n, 1e-12, name);
        }
        fixture_close(fixture_metric(&metrics, "mrank"), ranks / (double)n, 1e-12, "mrank");
        metrics_free(&metrics);
    }
}

/* All subsets of size k of n items that hold the best ones, as bit sets. */
static int first_k_sets(const int *scores, int n, int k, unsigned *sets)
{
    int count = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        int size = 0, fits = 1;
        for (int i = 0; i < n; i++) {
            size += set >> i & 1;
            for (int j = 0; j < n; j++)
                fits &= !((set >> i & 1) && !(set >> j & 1) && scores[j] > scores[i]);
        }
        if (size == k && fits)
            sets[count++] = set;
    }
    return count;
}

static double brute_coverage(const double *scores, int n, int k)
{
    unsigned sets[3][1 << MOST_ITEMS];
    int count[3];
    for (int u = 0; u < 3; u++) {
        int row[MOST_ITEMS];
        for (int i = 0; i < n; i++)
            row[i] = (int)scores[u * n + i];
        count[u] = first_k_sets(row, n, k, sets[u]);
    }
    double covered = 0;
    for (int a = 0; a < count[0]; a++)
        for (int b = 0; b < count[1]; b++)
            for (int c = 0; c < count[2]; c++)
                covered += __builtin_popcount(sets[0][a] | sets[1][b] | sets[2][c]);
    return covered / n / count[0] / count[1] / count[2];
}

TEST(coverage_joins_the_chances_of_users)
{
    uint64_t state = 77;
    for (int trial = 0; trial < 100; trial++) {
        int n = 3 + (int)fixture_below(&state, 4), k = 1 + (int)fixture_below(&state, n);
        double *train = fixture_cells(3, n), *test = fixture_cells(3, n);
        double scores[3 * MOST_ITEMS];
        for (int i = 0; i < 3 * n; i++)
            scores[i] = (double)fixture_below(&state, 3);
        for (int u = 0; u < 3; u++)
            test[u * n + fixture_below(&state, n)] = 1;
        struct dataset dataset;
        fixture_dataset(&dataset, 3, n, train, test, 1);
        struct fixture_options options;
        fixture_defaults(&options);
        fixture_text(&options, "metrics", "coverage");
        int64_t cut = k;
        fixture_list(&options, "k", &cut, 1);
        struct metrics metrics;
        struct dpf_error error;
        assert_int_equal(fixture_evaluate(&options, &dataset, scores, &metrics, &error), 0);
        fixture_close(metrics.items[0].value, brute_coverage(scores, n, k), 1e-12, "coverage");
        metrics_free(&metrics);
        fixture_dataset_free(&dataset);
        free(train);
        free(test);
    }
}

/* Released means get noise for numbers between 0 and 1: no metric may say so that is not. */
TEST(metrics_that_are_released_lie_between_0_and_1)
{
    uint64_t state = 5;
    int n_own = 0;
    for (int trial = 0; trial < 2000; trial++) {
        struct rank_group groups[6];
        double values[METRIC_N_BY_LIST];
        int64_t positives = 0, length = 0;
        for (int g = 0; g < 6; g++) {
            const int64_t size = 1 + (int64_t)fixture_below(&state, 4);
            groups[g] = (struct rank_group){size, (int64_t)fixture_below(&state, (int)size + 1), 3 * size,
                                            2.0 * (double)size};
            positives += groups[g].positives;
            length += size;
        }
        if (positives == 0)
            continue;
        tied_ranking_at(groups, 6, positives, 1 + (int64_t)fixture_below(&state, (int)length), values);
        n_own = 0;
        for (int id = METRIC_FIRST_BY_LIST; id <= METRIC_LAST_BY_LIST; id++) {
            const double value = values[id - METRIC_FIRST_BY_LIST];
            n_own += metric_is_own((enum metric_id)id);
            if (metric_is_own((enum metric_id)id) && !(value >= 0 && value <= 1 + 1e-12))
                fail_msg("%s = %g", metric_name((enum metric_id)id), value);
        }
    }
    assert_int_equal(n_own, 10);
    assert_false(metric_is_own(METRIC_POPULARITY) || metric_is_own(METRIC_NOVELTY) ||
                 metric_is_own(METRIC_COVERAGE));
}
