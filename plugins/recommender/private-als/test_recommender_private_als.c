/* SPDX-License-Identifier: Apache-2.0 */
/* private-als: what users send is bounded, reaches rare items first, and its order changes nothing. */
#include "kit/plain_random.h"
#include "kit/plain_scores.h"

#define USERS 40
#define ITEMS 12
#define ROOM 4096

static const dpf_component *component;
static float values[USERS * ITEMS];
static int32_t items[USERS * ITEMS];
static int64_t offsets[USERS + 1];
static dpf_interactions records;

/* User u has item i if (u + step i) mod (i + 2) is 0: item 0 is the most frequent one. */
static void fill(int64_t n_users, int first)
{
    int64_t n = 0;
    for (int u = 0; u < n_users; u++) {
        for (int i = 0; i < ITEMS; i++)
            if ((u + first) % (i / 2 + 1) == 0) {
                items[n] = i;
                values[n++] = (float)(1 + (u * 3 + i + first) % 5);
            }
        offsets[u + 1] = n;
    }
    records = (dpf_interactions){.size = sizeof records,
                                 .n_users = n_users,
                                 .n_items = ITEMS,
                                 .n = n,
                                 .by_user = {n_users, offsets, items, values, {0}}};
}

/* Everybody, who of them comes first turned by `by`. */
static void turn(int by)
{
    static float all_values[USERS * ITEMS];
    static int32_t all_items[USERS * ITEMS];
    static int64_t all_offsets[USERS + 1];
    int64_t n = 0;
    fill(USERS, 0);
    memcpy(all_values, values, sizeof values);
    memcpy(all_items, items, sizeof items);
    memcpy(all_offsets, offsets, sizeof offsets);
    for (int u = 0; u < USERS; u++) {
        const int from = (u + by) % USERS;
        for (int64_t k = all_offsets[from]; k < all_offsets[from + 1]; k++) {
            items[n] = all_items[k];
            values[n++] = all_values[k];
        }
        offsets[u + 1] = n;
    }
}

struct seen {
    double numbers[3][ROOM];
    int64_t n[3];
};

static void saw(void *context, const dpf_witnessed *what)
{
    struct seen *seen = context;
    const int32_t release = what->release;
    assert_true(seen->n[release] + what->n <= ROOM);
    memcpy(seen->numbers[release] + seen->n[release], what->numbers, (size_t)what->n * sizeof(double));
    seen->n[release] += what->n;
}

static void train(const char *settings, int without_noise, struct seen *seen, double *state_out)
{
    struct plain_host host;
    const dpf_recommender *functions = component->functions;
    const dpf_recommender_setup setup = {.size = sizeof setup,
                                         .parties = DPF_PARTIES_CURATOR,
                                         .n_users = USERS,
                                         .n_items = ITEMS,
                                         .value_lo = 1,
                                         .value_hi = 5,
                                         .noise_factor = 1,
                                         .without_noise = without_noise,
                                         .unit = DPF_UNIT_USER,
                                         .adjacency = DPF_ADJ_ADD_REMOVE};
    const dpf_witness witness = {seen, saw};
    uint64_t bytes = 0;
    memset(seen, 0, sizeof *seen);
    plain_open_random(&host, component, settings);
    assert_int_equal(functions->state_bytes(host.self, records.n_users, ITEMS, &bytes), DPF_OK);
    assert_true(bytes <= ROOM * sizeof(double));
    memset(state_out, 0, ROOM * sizeof(double));
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &records,
                   .state = state_out,
                   .state_bytes = bytes,
                   .witness = &witness};
    if (functions->fit(host.self, plain_call(&host), &fit) != DPF_OK)
        fail_msg("fit: %s", host.report);
    assert_int_equal(plain_form_fits(&host, records.n_users, ITEMS, state_out), DPF_OK);
    plain_close(&host);
}

static double norm(const double *x, const double *y, int64_t n)
{
    double square = 0;
    for (int64_t k = 0; k < n; k++)
        square += (x[k] - (y ? y[k] : 0)) * (x[k] - (y ? y[k] : 0));
    return sqrt(square);
}

/* One user alone, without noise: the sums are its messages. */
TEST(one_message_has_norm_one_at_most)
{
    static struct seen seen;
    static double fitted[ROOM];
    for (int u = 0; u < 24; u++) {
        fill(1, u);
        train("rounds=1; rank=3; head=1", 1, &seen, fitted);
        assert_true(norm(seen.numbers[0], NULL, seen.n[0]) <= 1);
        assert_true(norm(seen.numbers[1], NULL, seen.n[1]) <= 1);
        assert_true(norm(seen.numbers[2], NULL, seen.n[2]) <= 1);
        assert_true(norm(seen.numbers[0], NULL, seen.n[0]) > 0.999);
    }
}

/* With one record each, users send of the rarest item alone. */
TEST(rare_items_come_first)
{
    static struct seen seen;
    static double fitted[ROOM];
    double touched = 0;
    fill(USERS, 0);
    train("rounds=1; rank=0; head=1; records=1", 1, &seen, fitted);
    assert_int_equal(seen.n[1], ITEMS);
    for (int u = 0; u < USERS; u++) /* items of a user are ascending, and so is how rare they are, by twos */
        assert_true(offsets[u + 1] > offsets[u]);
    for (int i = 0; i < ITEMS; i++)
        touched += seen.numbers[1][i];
    assert_true(fabs(touched - USERS / (1.5 * 1.5)) <
                1e-3); /* each user's one weight is 1, over row-norm^2 */
    assert_true(seen.numbers[1][0] + seen.numbers[1][1] < seen.numbers[0][0] + seen.numbers[0][1]);
    assert_true(seen.numbers[1][10] + seen.numbers[1][11] > 0);
}

TEST(items_outside_the_head_are_not_learned)
{
    static struct seen seen;
    static double fitted[ROOM];
    int learned = 0;
    fill(USERS, 0);
    train("rounds=1; rank=2; head=0.5", 1, &seen, fitted);
    const double *bias = fitted + 8; /* behind a header of 64 bytes */
    for (int i = 0; i < ITEMS; i++)
        learned += bias[i] != 0;
    assert_true(learned >= 4);
    assert_true(learned <= 6);
    assert_true(bias[10] == 0);
    assert_true(bias[11] == 0);
}

TEST(the_order_of_users_changes_nothing)
{
    static struct seen a, b;
    static double one[ROOM], other[ROOM];
    turn(0);
    train("rounds=2; rank=2", 0, &a, one);
    turn(17);
    train("rounds=2; rank=2", 0, &b, other);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(one, other, sizeof one);
}

static int set_up(void **state)
{
    (void)state;
    component = plain_component("private-als", DPF_ROLE_RECOMMENDER, "private-als");
    plain_random_start(5);
    return 0;
}

FIXTURE(set_up, plain_random_end)
