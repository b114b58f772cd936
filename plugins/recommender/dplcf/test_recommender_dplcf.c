/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbours_case.h"

#include "kit/goodness.h"

static const dpf_component *component;
static const dpf_recommender *recommender;
static struct case_data data;

/* Four users, four items, no noise: similarities and scores by hand. */
TEST(a_small_case_by_hand)
{
    static const uint8_t has[4][4] = {{1, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 1, 0}, {1, 0, 0, 0}};
    static struct case_data small;
    struct plain_host host;
    memset(&small, 0, sizeof small);
    for (int u = 0; u < 4; u++)
        for (int i = 0; i < 4; i++)
            small.has[u][i] = has[u][i];
    case_index(&small, 4, 4);
    plain_open_random(&host, component, "epsilon=inf; neighbours=2");
    void *bytes = case_fit(&host, &small, 0);
    const struct neighbours_state fitted = neighbours_state_at(host.self, 4, 4, bytes);
    /* |0&1| / |0|1| = 2/4, |0&2| / |0|2| = 1/4, |1&2| / |1|2| = 2/3; nobody has item 3. */
    static const int32_t items[8] = {1, 2, 2, 0, 1, 0, -1, -1};
    const float similarities[8] = {0.5F, 0.25F, (float)(2.0 / 3), 0.5F, (float)(2.0 / 3), 0.25F, 0, 0};
    assert_memory_equal(fitted.items, items, sizeof items);
    assert_memory_equal(fitted.similarities, similarities, sizeof similarities);
    float scores[4];
    case_scores(&host, &small, bytes, 0, scores); /* has items 0 and 1 */
    assert_true(scores[0] == 0.5F);
    assert_true(scores[1] == 0.5F);
    assert_true(scores[3] == 0);
    assert_true(scores[2] == (float)(2.0 / 3) + 0.25F);
    case_scores(&host, &small, bytes, 3, scores); /* has item 0 */
    assert_true(scores[0] == 0);
    assert_true(scores[1] == 0.5F);
    assert_true(scores[2] == 0.25F);
    free(bytes);
    plain_close(&host);
}

TEST(neighbours_follow_from_the_reports)
{
    static const struct {
        const char *settings;
        double epsilon, keep;
        int similarity, k;
    } cases[] = {
        {"epsilon=1; history=reported; neighbours=5", 1, 0, SIMILARITY_JACCARD, 5},
        {"epsilon=3; keep=0.5; history=reported; neighbours=69", 3, 0.5, SIMILARITY_JACCARD, 69},
        {"epsilon=inf; history=reported; neighbours=80", INFINITY, 0, SIMILARITY_JACCARD, 80},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct plain_host host;
        struct case_reference reference = {.similarity = cases[c].similarity, .estimator = ESTIMATOR_INVERSE};
        bit_response_plan(cases[c].epsilon, cases[c].keep, &reference.response);
        plain_open_random(&host, component, cases[c].settings);
        void *bytes = case_fit(&host, &data, 0);
        const struct neighbours_state fitted = neighbours_state_at(host.self, CASE_USERS, CASE_ITEMS, bytes);
        case_compare(&reference, &data, &fitted, cases[c].k < CASE_ITEMS ? cases[c].k : CASE_ITEMS);
        free(bytes);
        plain_close(&host);
    }
}

static int true_bit(int64_t user, int64_t item)
{
    return data.has[user][item];
}

/* Over draws: ones are kept and zeros invented as often as the event says, for each part of the matrix. */
TEST(reports_are_flipped_as_stated)
{
    struct plain_host host;
    struct bit_response response;
    const int64_t words = bit_words(CASE_ITEMS);
    double ones = 0, kept = 0, zeros = 0, invented = 0, chi = 0;
    static double flips[CASE_USERS];
    bit_response_plan(1, 0, &response);
    plain_open_random(&host, component, "epsilon=1; history=reported; neighbours=1");
    enum { DRAWS = 40 };
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        void *bytes = case_fit(&host, &data, draw);
        const struct neighbours_state fitted = neighbours_state_at(host.self, CASE_USERS, CASE_ITEMS, bytes);
        for (int64_t u = 0; u < CASE_USERS; u++)
            for (int64_t i = 0; i < CASE_ITEMS; i++) {
                const int reported = case_bit(fitted.rows + u * words, i);
                ones += true_bit(u, i);
                kept += true_bit(u, i) && reported;
                zeros += !true_bit(u, i);
                invented += !true_bit(u, i) && reported;
                flips[u] += reported != true_bit(u, i);
            }
        free(bytes);
    }
    goodness_assert(goodness_count(kept, ones, response.keep), "kept", 1);
    goodness_assert(goodness_count(invented, zeros, response.invent), "invented", 1);
    for (int64_t u = 0; u < CASE_USERS; u++) {
        const double n = DRAWS * CASE_ITEMS, mean = n * response.invent;
        chi += (flips[u] - mean) * (flips[u] - mean) / (mean * (1 - response.invent));
    }
    goodness_assert((chi - CASE_USERS) / sqrt(2.0 * CASE_USERS), "flips by user", 1);
    plain_close(&host);
}

/* All reports of neighbouring data, with the same coins: the number that differs is the stated sensitivity at
   most, and reached. */
static int64_t reports_that_move(const void *before, const void *after, struct plain_host *host)
{
    const struct neighbours_state a =
        neighbours_state_at(host->self, CASE_USERS, CASE_ITEMS, (void *)(uintptr_t)before);
    const struct neighbours_state b =
        neighbours_state_at(host->self, CASE_USERS, CASE_ITEMS, (void *)(uintptr_t)after);
    int64_t moved = 0;
    for (int64_t w = 0; w < CASE_USERS * bit_words(CASE_ITEMS); w++)
        moved += __builtin_popcountll(a.rows[w] ^ b.rows[w]);
    return moved;
}

static void stated(struct plain_host *host, dpf_recommender_release *release)
{
    const dpf_recommender_setup setup = case_setup(&data);
    int32_t n = 0;
    memset(release, 0, sizeof *release);
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            release->event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
    assert_int_equal(recommender->releases(host->self, &setup, release, 1, &n), DPF_OK);
    assert_int_equal(n, 1);
}

TEST(neighbours_move_as_many_reports_as_stated)
{
    static struct case_data other;
    struct plain_host host;
    dpf_recommender_release release;
    plain_open_random(&host, component, "epsilon=2; history=reported; neighbours=1");
    stated(&host, &release);
    void *before = case_fit(&host, &data, 0);
    for (int64_t u = 0; u < CASE_USERS; u += 13)
        for (int64_t i = 0; i < CASE_ITEMS; i += 7) {
            other = data;
            other.has[u][i] ^= 1;
            case_index(&other, CASE_USERS, CASE_ITEMS);
            void *after = case_fit(&host, &other, 0);
            assert_true((double)reports_that_move(before, after, &host) ==
                        release.event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1);
            free(after);
        }
    other = data;
    for (int64_t i = 0; i < CASE_ITEMS; i++)
        other.has[64][i] ^= 1;
    case_index(&other, CASE_USERS, CASE_ITEMS);
    void *after = case_fit(&host, &other, 0);
    assert_true((double)reports_that_move(before, after, &host) ==
                release.event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1);
    free(after);
    free(before);
    plain_close(&host);
}

TEST(releases_are_stated)
{
    struct plain_host host;
    dpf_recommender_release release;
    plain_open_random(&host, component, "epsilon=1");
    stated(&host, &release);
    assert_int_equal(release.event.kind, DPF_EVENT_RANDOMIZED_RESPONSE);
    assert_true(fabs(release.event.p.response.flip - 1 / (1 + exp(1))) < 1e-15);
    assert_int_equal(release.noise_where, DPF_NOISE_AT_PARTY);
    assert_int_equal(release.sees, DPF_SEES_MESSAGES);
    assert_int_equal(release.reads, DPF_READS_CONSTANTS);
    assert_true(isnan(release.event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1));
    assert_true(release.event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1 == CASE_ITEMS);
    assert_int_equal(recommender->flags(host.self),
                     DPF_RECOMMENDER_STATE_RELEASED | DPF_RECOMMENDER_ALWAYS_ENDS |
                         DPF_RECOMMENDER_SUMS_USERS | DPF_RECOMMENDER_SCORES_AT_HOME);
    plain_close(&host);
    plain_open_random(&host, component, "epsilon=inf; history=reported");
    stated(&host, &release);
    assert_int_equal(release.event.kind, DPF_EVENT_NON_PRIVATE);
    assert_int_equal(release.noise_where, DPF_NOISE_NOWHERE);
    assert_int_equal(recommender->flags(host.self), DPF_RECOMMENDER_STATE_RELEASED |
                                                        DPF_RECOMMENDER_ALWAYS_ENDS |
                                                        DPF_RECOMMENDER_SUMS_USERS);
    plain_close(&host);
}

/* Where a total is calibrated, or noise left out for comparison. */
TEST(the_setup_changes_the_noise)
{
    struct plain_host host;
    dpf_recommender_release release;
    dpf_recommender_setup setup = case_setup(&data);
    int32_t n;
    plain_open_random(&host, component, "epsilon=1");
    setup.noise_factor = 4;
    assert_int_equal(recommender->releases(host.self, &setup, &release, 1, &n), DPF_OK);
    assert_true(fabs(release.event.p.response.flip - 1 / (1 + exp(0.25))) < 1e-15);
    setup.without_noise = 1;
    assert_int_equal(recommender->releases(host.self, &setup, &release, 1, &n), DPF_OK);
    assert_int_equal(release.event.kind, DPF_EVENT_NON_PRIVATE);
    setup = case_setup(&data);
    setup.value_hi = 5;
    assert_int_equal(recommender->releases(host.self, &setup, &release, 1, &n), DPF_E_CONFIG);
    plain_close(&host);
}

/* At home a score reads that user's records; at the server it reads nothing that was not reported. */
TEST(scores_read_the_history_that_is_named)
{
    static struct case_data other;
    float before[CASE_ITEMS], after[CASE_ITEMS];
    for (int at_home = 0; at_home < 2; at_home++) {
        struct plain_host host;
        plain_open_random(&host, component, at_home ? "epsilon=2" : "epsilon=2; history=reported");
        void *bytes = case_fit(&host, &data, 0);
        case_scores(&host, &data, bytes, 7, before);
        other = data;
        for (int64_t i = 0; i < CASE_ITEMS; i++)
            other.has[7][i] ^= 1;
        case_index(&other, CASE_USERS, CASE_ITEMS);
        case_scores(&host, &other, bytes, 7, after);
        assert_int_equal(memcmp(before, after, sizeof before) != 0, at_home);
        other = data;
        for (int64_t i = 0; i < CASE_ITEMS; i++)
            other.has[8][i] ^= 1; /* somebody else's records are never read */
        case_index(&other, CASE_USERS, CASE_ITEMS);
        case_scores(&host, &other, bytes, 7, after);
        assert_memory_equal(before, after, sizeof before);
        free(bytes);
        plain_close(&host);
    }
}

TEST(damaged_states_are_refused)
{
    struct plain_host host;
    plain_open_random(&host, component, "epsilon=2; history=reported; neighbours=3");
    void *bytes = case_fit(&host, &data, 0);
    struct neighbours_state fitted = neighbours_state_at(host.self, CASE_USERS, CASE_ITEMS, bytes);
#define REFUSED(CHANGE, UNDO)                                                                                \
    do {                                                                                                     \
        CHANGE;                                                                                              \
        assert_int_equal(plain_form_fits(&host, CASE_USERS, CASE_ITEMS, bytes), DPF_E_RANGE);                \
        UNDO;                                                                                                \
        assert_int_equal(plain_form_fits(&host, CASE_USERS, CASE_ITEMS, bytes), DPF_OK);                     \
    } while (0)
    const int32_t item = fitted.items[100];
    REFUSED(fitted.items[100] = CASE_ITEMS, fitted.items[100] = item);
    REFUSED(fitted.items[100] = -2, fitted.items[100] = item);
    const float similarity = fitted.similarities[100];
    REFUSED(fitted.similarities[100] = NAN, fitted.similarities[100] = similarity);
    REFUSED(fitted.similarities[100] = 1.5F, fitted.similarities[100] = similarity);
    free(bytes);
    plain_close(&host);
}

TEST(settings_that_say_nothing_are_refused)
{
    struct plain_host host;
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "epsilon=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "epsilon=1e-7"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "keep=1"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "epsilon=0.001; keep=0.9999999"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "neighbours=0"), DPF_E_CONFIG);
    plain_close(&host);
    plain_check_memory_random(component, "");
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(29);
    component = plain_component("dplcf", DPF_ROLE_RECOMMENDER, "dplcf");
    recommender = component->functions;
    case_fill(&data);
    return 0;
}

FIXTURE(setup, plain_random_end)
