/* SPDX-License-Identifier: Apache-2.0 */
/* Coins, reports, transposed bits and pair estimates: the parts that dplcf and ldpicf share. */
#include "kit/plain_random.h"

#include "kit/goodness.h"

#include "bit_columns.h"
#include "bit_response.h"
#include "pair_estimate.h"
#include "simd_kind.h"

static struct plain_host host;
static dpf_stream *stream;

static dpf_cursor at(uint32_t row)
{
    dpf_cursor cursor;
    random_seek(stream, 0, 0, row, &cursor);
    return cursor;
}

/* ---- coins ----------------------------------------------------------------------------------------------
 */

static const uint64_t *script;

static void scripted_bits(dpf_cursor *cursor, uint64_t *out, int64_t n)
{
    (void)cursor;
    for (int64_t i = 0; i < n; i++)
        out[i] = *script++;
}

/* All reals of three binary digits, one in each of eight lanes, against p: the comparison itself. */
TEST(a_coin_compares_digits)
{
    static const uint64_t digits[3] = {0xf0, 0xcc, 0xaa}; /* lane l has the digits of l, the first first */
    dpf_random_service random = plain_random;
    random.bits = scripted_bits;
    for (int eighths = 0; eighths <= 8; eighths++) {
        dpf_cursor cursor = at(0);
        script = digits;
        const uint64_t coins = bit_response_coins(eighths / 8.0, &random, &cursor);
        for (int lane = 0; lane < 8; lane++)
            assert_int_equal(coins >> lane & 1, lane < eighths);
    }
}

TEST(coins_have_their_probability)
{
    static const double ps[] = {0.5, 0.25, 1.0 / 3, 0.2689414213699951, 0.0066928509242848554, 1e-3, 0.9};
    enum { WORDS = 20000 };
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        dpf_cursor cursor = at((uint32_t)i + 1);
        int64_t lanes[64] = {0}, pairs[4] = {0};
        double total = 0;
        for (int w = 0; w < WORDS; w++) {
            const uint64_t coins = bit_response_coins(ps[i], &plain_random, &cursor);
            total += __builtin_popcountll(coins);
            for (int l = 0; l < 64; l++)
                lanes[l] += coins >> l & 1;
            for (int l = 0; l < 64; l += 2)
                pairs[coins >> l & 3]++;
        }
        goodness_assert(goodness_count(total, 64.0 * WORDS, ps[i]), "ones", ps[i]);
        /* Given their number, ones are spread evenly; a lane's count varies by (1 - p) of Poisson's. */
        double chi = 0;
        for (int l = 0; l < 64; l++)
            chi += pow((double)lanes[l] - total / 64, 2) / (total / 64 * (1 - ps[i]));
        goodness_assert((chi - 63) / sqrt(2 * 63.0), "lanes", ps[i]);
        const double q = 1 - ps[i], cells[4] = {q * q, q * ps[i], q * ps[i], ps[i] * ps[i]};
        goodness_assert(goodness_chi_square(pairs, cells, 4), "neighbouring lanes", ps[i]);
    }
}

/* ---- reports ----------------------------------------------------------------------------------------------
 */

static double cost_of(const struct bit_response *response)
{
    return fmax(log(response->keep / response->invent), log((1 - response->invent) / (1 - response->keep)));
}

/* No report is more than e^epsilon times likelier for one bit than for the other, and the event says so. */
TEST(a_bit_costs_at_most_epsilon)
{
    static const double epsilons[] = {1e-3, 0.1, 0.5, 1, 2, 5, 10, 30}, keeps[] = {0, 0.3, 0.5, 0.75, 0.9};
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++)
        for (size_t k = 0; k < sizeof keeps / sizeof keeps[0]; k++) {
            struct bit_response response;
            dpf_event event = {0};
            bit_response_plan(epsilons[e], keeps[k], &response);
            const double cost = cost_of(&response);
            assert_true(cost <= epsilons[e] * (1 + 1e-12) + 1e-14);
            assert_true(cost >= epsilons[e] * (1 - 1e-9) - 1e-9);
            bit_response_event(&response, &event);
            if (keeps[k] == 0) {
                assert_int_equal(event.kind, DPF_EVENT_RANDOMIZED_RESPONSE);
                assert_true(event.p.response.flip == response.invent);
            } else {
                assert_int_equal(event.kind, DPF_EVENT_PURE);
                assert_true(event.p.pure.epsilon >= cost);
                assert_true(event.p.pure.epsilon <= epsilons[e] * (1 + 1e-9) + 1e-9);
            }
        }
}

TEST(without_limit_there_is_no_noise)
{
    struct bit_response response;
    dpf_event event = {0};
    const uint64_t in[2] = {0x123456789abcdef0, 5};
    uint64_t out[2];
    bit_response_plan(INFINITY, 0, &response);
    assert_true(response.silent);
    assert_true(response.keep == 1);
    assert_true(response.invent == 0);
    bit_response_event(&response, &event);
    assert_int_equal(event.kind, DPF_EVENT_NON_PRIVATE);
    dpf_cursor cursor = at(100);
    bit_response_draw(&response, &plain_random, &cursor, in, 2, out);
    assert_memory_equal(in, out, sizeof in);
}

/* How often ones are kept and zeros invented, in words of half ones. */
TEST(reports_have_their_rates)
{
    static const double epsilons[] = {0.1, 1, 5}, keeps[] = {0, 0.5, 0.9};
    enum { WORDS = 5000 };
    for (size_t e = 0; e < 3; e++)
        for (size_t k = 0; k < 3; k++) {
            struct bit_response response;
            dpf_cursor cursor = at((uint32_t)(200 + 10 * e + k));
            const uint64_t ones = 0x00ff0ff00f0f5533;
            double kept = 0, invented = 0, n = 32.0 * WORDS;
            bit_response_plan(epsilons[e], keeps[k], &response);
            assert_int_equal(__builtin_popcountll(ones), 32);
            for (int w = 0; w < WORDS; w++) {
                uint64_t out;
                bit_response_draw(&response, &plain_random, &cursor, &ones, 1, &out);
                kept += __builtin_popcountll(out & ones);
                invented += __builtin_popcountll(out & ~ones);
            }
            goodness_assert(goodness_count(kept, n, response.keep), "kept", epsilons[e]);
            goodness_assert(goodness_count(invented, n, response.invent), "invented", epsilons[e]);
        }
}

/* The coin of a bit does not depend on any bit: one bit that changes moves that report's bit alone. */
TEST(a_bit_moves_its_own_report_only)
{
    static const double keeps[] = {0, 0.5};
    for (size_t k = 0; k < 2; k++)
        for (int bit = 0; bit < 128; bit++) {
            struct bit_response response;
            uint64_t in[2] = {0x00ff0ff00f0f5533, 0x1122334455667788}, before[2], after[2];
            dpf_cursor cursor = at(300);
            bit_response_plan(1, keeps[k], &response);
            bit_response_draw(&response, &plain_random, &cursor, in, 2, before);
            in[bit / 64] ^= UINT64_C(1) << (bit % 64);
            cursor = at(300);
            bit_response_draw(&response, &plain_random, &cursor, in, 2, after);
            for (int w = 0; w < 2; w++)
                assert_int_equal((before[w] ^ after[w]) & ~(w == bit / 64 ? UINT64_C(1) << (bit % 64) : 0),
                                 0);
        }
}

/* ---- columns ----------------------------------------------------------------------------------------------
 */

/* Bits of ROWS users, of which the last word is not full, for COLUMNS items, of which the last tile is not. */
enum { ROWS = 64 * 21 + 22, COLUMNS = 200 };

static uint64_t rows[ROWS * 4], columns[4 * TILE_ITEMS * 22];

static void draw_columns(void)
{
    const int64_t row_words = bit_words(COLUMNS), column_words = bit_words(ROWS);
    dpf_cursor cursor = at(400);
    random_bits(&cursor, rows, ROWS * row_words);
    for (int64_t r = 0; r < ROWS; r++)
        rows[r * row_words + row_words - 1] &= bit_mask(COLUMNS, row_words - 1);
    for (int64_t block = column_words - 1; block >= 0; block--) {
        const int64_t left = ROWS - 64 * block;
        bit_columns_turn(rows + 64 * block * row_words, left < 64 ? left : 64, row_words, block, columns,
                         column_words);
    }
}

static int row_has(int64_t row, int64_t item)
{
    return row < ROWS && item < COLUMNS && (rows[row * bit_words(COLUMNS) + item / 64] >> (item % 64) & 1);
}

TEST(columns_are_rows_turned)
{
    const int64_t column_words = bit_words(ROWS);
    uint64_t column[22];
    draw_columns();
    for (int64_t c = 0; c < 4 * TILE_ITEMS; c++) {
        bit_columns_copy(columns, column_words, c, column);
        for (int64_t r = 0; r < 64 * column_words; r++)
            assert_int_equal(column[r / 64] >> (r % 64) & 1, row_has(r, c));
    }
}

/* With every number of words, so of whole eights and what is left. */
TEST(a_tile_is_counted)
{
    const int64_t column_words = bit_words(ROWS);
    uint64_t column[22];
    draw_columns();
    for (int64_t a = 0; a < COLUMNS; a += 33)
        for (int64_t tile = 0; tile < 4; tile++)
            for (int64_t words = 1; words <= column_words; words++) {
                int64_t counts[TILE_ITEMS];
                bit_columns_copy(columns, column_words, a, column);
                bit_columns_count(simd_choose(SIMD_KIND_AUTO), bit_tile(columns, tile, column_words), column,
                                  words, counts);
                for (int64_t i = 0; i < TILE_ITEMS; i++) {
                    int64_t shared = 0;
                    for (int64_t r = 0; r < 64 * words; r++)
                        shared += row_has(r, a) && row_has(r, tile * TILE_ITEMS + i);
                    assert_int_equal(counts[i], shared);
                }
            }
}

/* Ones alone: sums of eights outgrow a quarter of a word, and are taken in parts. */
TEST(many_users_are_counted)
{
    enum { WORDS = 2 * 8 * 4095 + 13 };
    uint64_t *ones = malloc((size_t)WORDS * (TILE_ITEMS + 1) * sizeof *ones);
    int64_t counts[TILE_ITEMS];
    assert_non_null(ones);
    memset(ones, 0xff, (size_t)WORDS * (TILE_ITEMS + 1) * sizeof *ones);
    bit_columns_count(simd_choose(SIMD_KIND_AUTO), ones, ones + (size_t)WORDS * TILE_ITEMS, WORDS, counts);
    for (int i = 0; i < TILE_ITEMS; i++)
        assert_int_equal(counts[i], INT64_C(64) * WORDS);
    free(ones);
}

/* ---- estimates
 * ---------------------------------------------------------------------------------------------- */

static double report_probability(const struct bit_response *r, int bit, int report)
{
    const double one = bit ? r->keep : r->invent;
    return report ? one : 1 - one;
}

static void expected_reports(const struct bit_response *r, const double cells[PAIR_CELLS],
                             double out[PAIR_CELLS])
{
    for (int report = 0; report < PAIR_CELLS; report++) {
        out[report] = 0;
        for (int cell = 0; cell < PAIR_CELLS; cell++)
            out[report] += cells[cell] * report_probability(r, cell >> 1, report >> 1) *
                           report_probability(r, cell & 1, report & 1);
    }
}

/* The estimate is linear in the reports, so it is unbiased if it gives the truth for the expected reports. */
TEST(the_inverse_is_unbiased)
{
    static const double truths[][PAIR_CELLS] = {{3, 2, 4, 1}, {900, 20, 20, 3}, {0, 0, 0, 7}, {10, 0, 5, 0}};
    static const double epsilons[] = {0.1, 0.5, 1, 5}, keeps[] = {0, 0.5, 0.9};
    for (size_t t = 0; t < 4; t++)
        for (size_t e = 0; e < 4; e++)
            for (size_t k = 0; k < 3; k++) {
                struct bit_response response;
                double reported[PAIR_CELLS], estimate[PAIR_CELLS];
                bit_response_plan(epsilons[e], keeps[k], &response);
                expected_reports(&response, truths[t], reported);
                pair_estimate_inverse(&response, reported, estimate);
                for (int cell = 0; cell < PAIR_CELLS; cell++)
                    assert_true(fabs(estimate[cell] - truths[t][cell]) < 1e-8);
            }
}

/* And over all reports that five users can make, with their exact probabilities: nothing but the mean of the
   estimates, no use of linearity. */
TEST(the_inverse_is_unbiased_over_all_reports)
{
    enum { USERS = 5 };
    static const int cell_of[USERS] = {0, 1, 2, 3, 3};
    struct bit_response response;
    double mean[PAIR_CELLS] = {0}, total = 0;
    bit_response_plan(1, 0.6, &response);
    for (int code = 0; code < 1 << (2 * USERS); code++) {
        double probability = 1, reported[PAIR_CELLS] = {0}, estimate[PAIR_CELLS];
        for (int u = 0; u < USERS; u++) {
            const int report = code >> (2 * u) & 3;
            probability *= report_probability(&response, cell_of[u] >> 1, report >> 1) *
                           report_probability(&response, cell_of[u] & 1, report & 1);
            reported[report] += 1;
        }
        pair_estimate_inverse(&response, reported, estimate);
        total += probability;
        for (int cell = 0; cell < PAIR_CELLS; cell++)
            mean[cell] += probability * estimate[cell];
    }
    assert_true(fabs(total - 1) < 1e-12);
    for (int cell = 0; cell < PAIR_CELLS; cell++)
        assert_true(fabs(mean[cell] - (cell == 3 ? 2 : 1)) < 1e-10);
}

static double log_likelihood(const struct bit_response *r, const double cells[PAIR_CELLS],
                             const double reported[PAIR_CELLS])
{
    double expected[PAIR_CELLS], sum = 0;
    expected_reports(r, cells, expected);
    for (int report = 0; report < PAIR_CELLS; report++)
        sum += reported[report] > 0 ? reported[report] * log(expected[report]) : 0;
    return sum;
}

/* No point of a grid over all possible cells is likelier. */
TEST(bayes_is_the_likeliest)
{
    static const double reports[][PAIR_CELLS] = {
        {5, 3, 8, 4}, {18, 1, 1, 0}, {1, 9, 9, 1}, {0, 0, 0, 20}, {12, 5, 3, 0}};
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        struct bit_response response;
        double cells[PAIR_CELLS], sum = 0;
        bit_response_plan(1, i % 2 ? 0.5 : 0, &response);
        pair_estimate_bayes(&response, reports[i], 100000, cells);
        for (int cell = 0; cell < PAIR_CELLS; cell++) {
            assert_true(cells[cell] >= 0);
            sum += cells[cell];
        }
        assert_true(fabs(sum - 20) < 1e-9);
        const double best = log_likelihood(&response, cells, reports[i]);
        for (int a = 0; a <= 40; a++)
            for (int b = 0; a + b <= 40; b++)
                for (int c = 0; a + b + c <= 40; c++) {
                    const double point[PAIR_CELLS] = {a / 2.0, b / 2.0, c / 2.0, (40 - a - b - c) / 2.0};
                    assert_true(log_likelihood(&response, point, reports[i]) <= best + 1e-6);
                }
    }
}

TEST(bayes_is_the_inverse_where_that_is_possible)
{
    const double reported[PAIR_CELLS] = {40, 25, 30, 35};
    struct bit_response response;
    double inverse[PAIR_CELLS], bayes[PAIR_CELLS];
    bit_response_plan(3, 0, &response);
    pair_estimate_inverse(&response, reported, inverse);
    pair_estimate_bayes(&response, reported, 1, bayes);
    assert_memory_equal(inverse, bayes, sizeof inverse);
}

/* A row of pairs has the bits of its pairs one by one, sets that are empty or larger than all among them. */
TEST(a_row_is_its_pairs)
{
    static const double epsilons[] = {0.3, 1, 8, INFINITY};
    for (size_t e = 0; e < 4; e++)
        for (int turn = 0; turn < 40; turn++) {
            struct bit_response response;
            double second[PAIR_ROW], both[PAIR_ROW], n = 0;
            float similarities[PAIR_ROW];
            uint64_t words[1 + 2 * PAIR_ROW];
            dpf_cursor cursor = at((uint32_t)(700 + 40 * e + turn));
            bit_response_plan(epsilons[e], turn % 3 ? 0 : 0.5, &response);
            random_bits(&cursor, words, 1 + 2 * PAIR_ROW);
            const double first = turn == 0 ? 0.0 : (double)(words[2 * PAIR_ROW] % 100);
            n = 150;
            for (int l = 0; l < PAIR_ROW; l++) {
                second[l] = l % 9 ? (double)(words[l] % 100) : 0.0;
                const double most = fmin(first, second[l]), least = fmax(0.0, first + second[l] - n);
                both[l] = least + (double)(words[PAIR_ROW + l] % (uint64_t)(most - least + 1));
            }
            for (int is_cosine = 0; is_cosine < 2; is_cosine++) {
                const struct pair_row row = {&response, n, first, second, both, is_cosine};
                pair_similarities(simd_choose(SIMD_KIND_AUTO), &row, similarities);
                for (int l = 0; l < PAIR_ROW; l++) {
                    const double reported[PAIR_CELLS] = {n - first - second[l] + both[l], second[l] - both[l],
                                                         first - both[l], both[l]};
                    double cells[PAIR_CELLS];
                    pair_estimate_inverse(&response, reported, cells);
                    const float alone = (float)(is_cosine ? pair_cosine(cells) : pair_jaccard(cells));
                    assert_memory_equal(&alone, &similarities[l], sizeof alone);
                }
            }
        }
}

/* A pair's bits do not depend on the pairs beside it. */
TEST(lanes_are_pairs_alone)
{
    double reported[PAIR_CELLS][PAIR_LANES], lanes[PAIR_CELLS][PAIR_LANES];
    struct bit_response response;
    dpf_cursor cursor = at(500);
    bit_response_plan(0.7, 0, &response);
    for (int round = 0; round < 50; round++) {
        uint64_t counts[PAIR_CELLS * PAIR_LANES];
        random_below(&cursor, 200, counts, PAIR_CELLS * PAIR_LANES);
        for (int i = 0; i < PAIR_CELLS * PAIR_LANES; i++)
            reported[i / PAIR_LANES][i % PAIR_LANES] = (double)counts[i];
        pair_estimate_bayes_lanes(&response, reported, 40, lanes);
        for (int l = 0; l < PAIR_LANES; l++) {
            double one[PAIR_CELLS], alone[PAIR_CELLS];
            for (int c = 0; c < PAIR_CELLS; c++)
                one[c] = reported[c][l];
            pair_estimate_bayes(&response, one, 40, alone);
            for (int c = 0; c < PAIR_CELLS; c++)
                assert_true(lanes[c][l] == alone[c]);
        }
    }
}

TEST(similarities_stay_in_the_unit)
{
    const double plain[PAIR_CELLS] = {10, 2, 4, 3}, negative[PAIR_CELLS] = {30, -5, -6, 2},
                 against[PAIR_CELLS] = {10, 5, 5, -3}, too_many[PAIR_CELLS] = {1, -1, -1, 9};
    assert_true(fabs(pair_jaccard(plain) - 3.0 / 9) < 1e-15);
    assert_true(fabs(pair_cosine(plain) - 3 / sqrt(5.0 * 7.0)) < 1e-15);
    assert_true(pair_jaccard(negative) == 0);
    assert_true(pair_cosine(negative) == 0); /* empty sets */
    assert_true(pair_jaccard(against) == 0);
    assert_true(pair_cosine(against) == 0);
    assert_true(pair_jaccard(too_many) == 1);
    assert_true(pair_cosine(too_many) == 1);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(21);
    plain_init(&host, NULL);
    return plain_random_open(&host.host, "coins", &stream) == DPF_OK ? 0 : -1;
}

FIXTURE(setup, plain_random_end)
