/* SPDX-License-Identifier: Apache-2.0 */
/* What friends send each other, against arithmetic by hand. The probe's noise tells by whom it was added. */
#include "kit/test.h"
#include "kit/training.h"

#define USERS 4
#define RANK 3
#define RATE 0.125

/* alpha = 1/2: the gradient of a link is u_i - u_f. */
static const char base[] =
    "[run]\nrounds = 1\norder = users\n"
    "[data]\nformat = csv\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "relation.path = friends.txt\nrelation.header = no\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 3\ninit = uniform\ninit-scale = 1\n"
    "[parties]\nkind = users\n"
    "[users]\nterms = near\nsolver = gradient-descent\n"
    "[users.near]\nsource = relation\ndestination = peer\nloss = social\nmechanism = test-probe\n"
    "[users.near.loss]\nalpha = 0.5\n"
    "[users.solver]\nrate = 0.125\n"
    "[items]\nupdate = no\n"
    "[privacy]\nrandomness = reproducible\n";

/* Users 1, 2, 3, 4: two link to 1, and 1 to two. 3 has no friends. */
static const int links[][2] = {{0, 1}, {0, 3}, {1, 0}, {3, 0}};
#define LINKS (sizeof links / sizeof links[0])

static void write_files(void)
{
    training_file("ratings.csv", "user,item,rating\n1,1,5\n2,1,4\n3,1,2\n4,1,1\n");
    training_file("friends.txt", "1 2\n1 4\n2 1\n4 1\n");
}

static void start(const char *changes, double rows[USERS][RANK])
{
    struct training t;
    char text[512];
    snprintf(text, sizeof text, "%srun.rounds=0\n", changes);
    training_run(&t, base, text);
    for (int u = 0; u < USERS; u++)
        for (int c = 0; c < RANK; c++)
            rows[u][c] = (double)training_row(&t, DPF_SIDE_USERS, u)[c];
    training_free(&t);
}

static void shorten(double *row, double radius)
{
    double norm = 0;
    for (int c = 0; c < RANK; c++)
        norm = hypot(norm, row[c]);
    for (int c = 0; c < RANK && norm > radius; c++)
        row[c] *= radius / norm;
}

/* What the probe adds to a message of `party` for `row` in the first round. */
static double mark(int party, int row, int column)
{
    return column == 0 ? 1 : column == 1 ? party + 1 : row + 1;
}

static void assert_rows(const double expected[USERS][RANK], const char *changes)
{
    struct training t;
    training_run(&t, base, changes);
    for (int u = 0; u < USERS; u++)
        for (int c = 0; c < RANK; c++)
            assert_float_equal(training_row(&t, DPF_SIDE_USERS, u)[c], expected[u][c], 2e-5);
    training_free(&t);
}

/* Whoever links to a friend reads the same row: the one that the friend encoded under its own number. */
TEST(a_row_is_sent_once_and_read_by_all)
{
    static const struct {
        const char *changes;
        double clip, radius;
    } cases[] = {
        {"", INFINITY, INFINITY},
        {"users.solver.radius=2\n", INFINITY, 2}, /* and what arrives is put back into the ball */
        {"users.near.transforms=clip-user\nusers.near.transform.clip-user.bound=0.25\n", 0.25, INFINITY},
        {"users.near.transforms=clip-rows\nusers.near.transform.clip-rows.bound=0.25\n", 0.25, 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double old[USERS][RANK], sent[USERS][RANK], new[USERS][RANK];
        start(cases[i].changes, old);
        memcpy(new, old, sizeof new);
        memcpy(sent, old, sizeof sent);
        for (int u = 0; u < USERS; u++) {
            shorten(sent[u], cases[i].clip);
            for (int c = 0; c < RANK; c++)
                sent[u][c] += mark(u, u, c);
            shorten(sent[u], cases[i].radius);
        }
        for (size_t l = 0; l < LINKS; l++)
            for (int c = 0; c < RANK; c++)
                new[links[l][0]][c] -= RATE *(old[links[l][0]][c] - sent[links[l][1]][c]);
        assert_rows(new, cases[i].changes);
    }
}

/* The friend adds noise to its own part, under its own number, for the row of the one who links. */
TEST(a_link_has_noise_of_its_own)
{
    double old[USERS][RANK], new[USERS][RANK];
    start("", old);
    memcpy(new, old, sizeof new);
    for (size_t l = 0; l < LINKS; l++)
        for (int c = 0; c < RANK; c++)
            new[links[l][0]][c] -=
                RATE *(old[links[l][0]][c] - old[links[l][1]][c] + mark(links[l][1], links[l][0], c));
    assert_rows(new, "users.near.send=links\n");
}

/* Without noise both are the gradient itself, and shares of links add up to what is planned for a row. */
TEST(messages_add_nothing_but_noise)
{
    static const char *const ways[] = {"users.near.mechanism=none\n",
                                       "users.near.mechanism=none\nusers.near.send=links\n"};
    double old[USERS][RANK], new[USERS][RANK];
    start("", old);
    memcpy(new, old, sizeof new);
    for (size_t l = 0; l < LINKS; l++)
        for (int c = 0; c < RANK; c++)
            new[links[l][0]][c] -= RATE *(old[links[l][0]][c] - old[links[l][1]][c]);
    for (int i = 0; i < 2; i++)
        assert_rows(new, ways[i]);
    assert_rows(new, "users.near.mechanism=\n");
}

TEST(workers_do_not_matter)
{
    static const char *const ways[] = {"rows", "links"};
    for (int i = 0; i < 2; i++) {
        struct training one, two;
        char text[512];
        snprintf(text, sizeof text,
                 "run.rounds=3\nusers.near.mechanism=laplace-mixture\nusers.solver.radius=1\n"
                 "users.near.send=%s\nrun.threads=1\n",
                 ways[i]);
        training_run(&one, base, text);
        text[strlen(text) - 2] = '2';
        training_run(&two, base, text);
        assert_true(training_same(&one, &two));
        training_free(&one);
        training_free(&two);
    }
}

TEST(what_friends_cannot_send_is_refused)
{
    training_refused(base, "users.near.sampler=poisson-users\n", DPF_FAULT_CONFIG, "a relation has neither");
    /* Without a mechanism as well: utility-optimal would read rows of items by the indices of users. */
    static const char *const samplers[] = {"full", "uniform", "by-privacy-weight", "utility-optimal"};
    for (int i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text, "users.near.mechanism=\nusers.near.aggregator=\nusers.near.sampler=%s\n",
                 samplers[i]);
        training_refused(base, text, DPF_FAULT_CONFIG, "a relation has neither");
    }
    training_refused(base, "users.near.aggregator=modular-sum\n", DPF_FAULT_CONFIG, "use sum");
    training_refused(base, "users.near.aggregator=mean\n", DPF_FAULT_CONFIG, "use sum");
    training_refused(base, "users.near.mechanism=laplace-gamma\n", DPF_FAULT_CONFIG, "read one by one");
    training_refused(base, "users.near.transforms=hadamard-flatten\n", DPF_FAULT_CONFIG, "single rows");
    training_refused(base, "users.near.send=links\nusers.near.transforms=clip-user\n", DPF_FAULT_CONFIG,
                     "use send = rows");
    static const char other_loss[] = "users.near.send=links\nusers.near.loss=squared-error\n";
    training_refused(base, other_loss, DPF_FAULT_CONFIG, "DPF_LOSS_SEPARABLE");
    training_refused(base, "parties.kind=silos-by-items\nparties.count=2\n", DPF_FAULT_CONFIG,
                     "silos-by-items");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    write_files();
    return 0;
}

FIXTURE(begin, training_end)
