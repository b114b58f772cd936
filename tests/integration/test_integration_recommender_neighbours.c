/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random recommenders on neighbouring data sets: no release moves further than its event states, given all
 * earlier ones, and what is learnt follows from the releases alone, byte for byte, where it is published.
 * Both sets are trained: the second is a replay in which every release is the first one's (seen/recorder.h).
 *
 * DPFRAME_RANDOM_CASES and DPFRAME_RANDOM_FIRST choose how many are drawn, and from which on.
 */
#include <math.h>

#include "kit/test.h"
#include "audit/moves.h"
#include "kit/training.h"

#define USERS 7
#define ITEMS 6

static uint64_t lottery;

static int below(int n)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((lottery >> 33) % (uint64_t)n);
}

/* ---- what is trained ------------------------------------------------------------------------------------
 */

struct choice {
    const char *key;
    const char *values[5];
};

static const struct recommender {
    const char *id;
    int implicit;
    struct choice choices[8];
} recommenders[] = {
    {"private-gram",
     1,
     {{"form", {"gram", "projected", "auto"}},
      {"items", {"0", "3", "6"}},
      {"count-share", {"0", "0.5", "0.9"}},
      {"tail-share", {"-1", "0", "0.05"}},
      {"lowest-weight", {"-1", "0", "1"}},
      {"weight-exponent", {"-1", "0", "1", "2"}}}},
    {"private-popularity", 1, {{"history", {"0", "1", "5", "100"}}}},
    {"private-als",
     0,
     {{"rank", {"0", "1", "3"}},
      {"rounds", {"1", "3"}},
      {"records", {"1", "2", "300"}},
      {"head", {"0.3", "1"}},
      {"count-share", {"0.1", "0.6"}}}},
    {"private-ratings",
     0,
     {{"rank", {"-1", "1", "4"}},
      {"latent", {"-1", "0", "1"}},
      {"rounds", {"-1", "1", "3"}},
      {"factor-sd", {"0", "1", "50"}}}},
    {"private-biases", 0, {{"count-share", {"0.1", "0.6"}}}},
    {"dplcf", 1, {{"epsilon", {"0.5", "3"}}}},
    {"ldpicf", 1, {{"epsilon", {"0.5", "3"}}}},
};
#define N_RECOMMENDERS (sizeof recommenders / sizeof recommenders[0])

static int of_records(const struct recommender *r)
{
    return strcmp(r->id, "dplcf") == 0 || strcmp(r->id, "ldpicf") == 0;
}

static int adjacency; /* of users, or a record's flip */
static int declared;  /* users: rules go by it, and rows are centred where it is large */

static void draw_config(const struct recommender *r, char *text, size_t room)
{
    static const int adjacencies[] = {DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT, DPF_ADJ_REPLACE};
    static const char *const names[] = {"add-remove", "zero-out", "replace"};
    const int which = below(3), multiplier = below(3);
    declared = below(2) ? USERS + 2 : 5000;
    adjacency = of_records(r) ? DPF_ADJ_FLIP : adjacencies[which];
    snprintf(text, room,
             "[data]\nformat = csv\npath = %s/ratings.csv\nheader = yes\nfeedback = %s\n%s"
             "items-file = %s/items.txt\nusers-file = %s/users.txt\n"
             "[split]\nkind = none\n[model]\nrecommender = %s\nusers = %d\nitems = %d\n"
             "[parties]\nkind = %s\n[privacy]\nunit = %s\nadjacency = %s\nobserver = %s\ndelta = 0.01\n"
             "randomness = reproducible\nnoise-seed = %d\n[accountants]\nlist = rdp\n[model.recommender]\n",
             training_directory, r->implicit ? "implicit" : "explicit",
             r->implicit ? "column.rating = none\n" : "value-min = 1\nvalue-max = 5\n", training_directory,
             training_directory, r->id, declared, ITEMS, of_records(r) ? "users" : "curator",
             of_records(r) ? "record" : "user", of_records(r) ? "flip" : names[which],
             of_records(r) ? "server" : "outsider", below(1000));
    if (!of_records(r))
        snprintf(text + strlen(text), room - strlen(text), "noise-multiplier = %s\n",
                 (const char *[]){"0.5", "4", "60"}[multiplier]);
    for (int c = 0; c < 8 && r->choices[c].key; c++) {
        int n = 0;
        while (n < 5 && r->choices[c].values[n])
            n++;
        if (of_records(r) || below(2))
            snprintf(text + strlen(text), room - strlen(text), "%s = %s\n", r->choices[c].key,
                     r->choices[c].values[below(n)]);
    }
}

/* ---- neighbours ------------------------------------------------------------------------------------------
 */

static int rating(void)
{
    const int kind = below(6);
    return kind < 2 ? 1 + 4 * kind : kind < 4 ? 1 + below(5) : 0;
}

static void draw_row(int row[ITEMS])
{
    const int alike = below(4) == 0, value = 1 + 4 * below(2);
    for (int i = 0; i < ITEMS; i++)
        row[i] = alike ? value : rating();
}

static void draw_pair(int pair[2][USERS][ITEMS], int who)
{
    for (int u = 0; u < USERS; u++)
        draw_row(pair[0][u]);
    if (below(2)) /* one item alone */
        for (int i = 0, kept = below(ITEMS); i < ITEMS; i++)
            pair[0][who][i] = i == kept ? 5 : 0;
    memcpy(pair[1], pair[0], sizeof pair[0]);
    const int item = below(ITEMS);
    if (adjacency == DPF_ADJ_FLIP)
        pair[1][who][item] = pair[0][who][item] ? 0 : 5;
    else if (adjacency == DPF_ADJ_REPLACE)
        draw_row(pair[1][who]);
    else
        memset(pair[1][who], 0, sizeof pair[1][who]);
}

/* Under add-remove the user is not even in the catalogue of the second set. */
static int load_set(struct plan *plan, int ratings[USERS][ITEMS], int absent, struct dataset *out)
{
    char text[4096] = "user,item,rating\n", users[256] = "z\n";
    struct dpf_error error = {0};
    snprintf(text + strlen(text), sizeof text - strlen(text), "z,0,3\n"); /* somebody has a record */
    for (int u = 0; u < USERS; u++) {
        if (u != absent)
            snprintf(users + strlen(users), sizeof users - strlen(users), "u%d\n", u);
        for (int i = 0; i < ITEMS && u != absent; i++)
            if (ratings[u][i])
                snprintf(text + strlen(text), sizeof text - strlen(text), "u%d,%d,%d\n", u, i, ratings[u][i]);
    }
    training_file("ratings.csv", text);
    training_file("users.txt", users);
    const int status = data_load(&plan->data, &plan->split, plan->seeded, NULL, out, &error);
    if (status != 0)
        fail_msg("%s", error.text);
    return status;
}

static struct {
    int compared, refused, unproved;
    double most[N_RECOMMENDERS];
} tally;

static void compare(const struct recommender *r, struct plan *plan, const char *text)
{
    struct dpf_error error = {0};
    struct move move;
    int pair[2][USERS][ITEMS];
    const int who = below(USERS);
    struct trials trials = {.plan = plan};
    struct pool *pool = pool_new(1);
    draw_pair(pair, who);
    for (int set = 0; set < 2; set++)
        load_set(plan, pair[set], set && adjacency == DPF_ADJ_ADD_REMOVE ? who : -1, &trials.sets[set]);
    char id[8];
    snprintf(id, sizeof id, "u%d", who);
    trials.canary = (struct canary){(int32_t)id_map_find(&trials.sets[0].users, id), -1};
    if (trials_prepare(&trials, OBSERVE_AUTO, &error) != 0 ||
        moves_find(&trials, pool, 0, &move, &error) != 0)
        fail_msg("%s: %s", text, error.text);
    assert_true(trials.has_laws);
    if (move.share > 1 + 1e-9) {
        printf("FAULT %g of what is stated by user %d in release %d\n%s", move.share, who, move.term, text);
        for (int set = 0; set < 2; set++)
            for (int i = 0; i < ITEMS; i++)
                printf("%d%s", pair[set][who][i], i + 1 < ITEMS ? " " : "\n");
        fail_msg("%s moves by %g of what is stated", r->id, move.share);
    }
    tally.compared++;
    double *most = &tally.most[r - recommenders];
    *most = fmax(*most, move.share);
    trials_free(&trials);
    pool_free(pool);
}

static void try_one(uint64_t key)
{
    static char text[4096];
    struct plan plan;
    struct dpf_error error = {0};
    lottery = key * UINT64_C(0x9e3779b97f4a7c15) + 1;
    const struct recommender *r = &recommenders[key % N_RECOMMENDERS];
    draw_config(r, text, sizeof text);
    training_file("items.txt", "0\n1\n2\n3\n4\n5\n");
    training_file("users.txt", "z\n");
    training_file("ratings.csv", "user,item,rating\nz,0,3\n");
    if (training_plan(&plan, text, "", &error) != 0 || plan_complete(&plan, declared, ITEMS, &error) != 0)
        tally.refused++;
    else if (!plan.guarantee.plan_holds)
        tally.unproved++;
    else
        for (int pairs = 0; pairs < 3; pairs++)
            compare(r, &plan, text);
    if (error.fault && getenv("DPFRAME_RANDOM_TELL"))
        printf("%s\n", error.text);
    plan_free(&plan);
}

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

TEST(no_release_moves_further_than_is_stated)
{
    const int n = number_from("DPFRAME_RANDOM_CASES", 140), first = number_from("DPFRAME_RANDOM_FIRST", 1);
    for (int i = 0; i < n; i++)
        try_one((uint64_t)(first + i));
    print_message("%d pairs compared, %d configurations refused, %d prove nothing\n", tally.compared,
                  tally.refused, tally.unproved);
    for (size_t r = 0; r < N_RECOMMENDERS; r++) {
        print_message("%s: %.6f of what is stated\n", recommenders[r].id, tally.most[r]);
        assert_true(tally.most[r] > 0.5);
        assert_true(tally.most[r] <= 1 + 1e-9);
    }
}

FIXTURE(training_begin, training_end)
