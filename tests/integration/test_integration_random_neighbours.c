/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random pipelines on neighbouring data sets. Whatever is proved must be true of them: with noise switched
 * off, no release moves further than the ledger states, in the norm that its noise needs, whatever was
 * released before; and rows that are released do not depend on the data but by way of what was released.
 *
 * DPFRAME_RANDOM_CASES and DPFRAME_RANDOM_FIRST choose how many pipelines are drawn, and from which on.
 */
/* Before cmocka, which has a macro "fail". */
#include "dpframe/additive.h"
#include "kit/test.h"

#include "kit/moved_releases.h"

#define PAIRS_OF_DATA 3

/* ---- neighbours --------------------------------------------------------------------------------------- */

static int extreme(struct pipeline *p)
{
    return pipeline_chance(p, 70) ? 1 + 4 * pipeline_below(p, 2) : 1 + pipeline_below(p, 5);
}

static void draw_user(struct pipeline *p, int row[ITEMS])
{
    const int density = pipeline_below(p, 3);
    for (int i = 0; i < ITEMS; i++)
        row[i] = density == 2 || pipeline_chance(p, 30 + 40 * density) ? extreme(p) : 0;
    if (pipeline_chance(p, 30)) /* all items, and all alike */
        for (int i = 0, value = extreme(p); i < ITEMS; i++)
            row[i] = value;
    if (!row[0])
        row[0] = extreme(p);
}

static void draw_ratings(struct pipeline *p, int ratings[USERS][ITEMS])
{
    for (int u = 0; u < USERS; u++)
        draw_user(p, ratings[u]);
}

static void change(struct pipeline *p, int row[ITEMS])
{
    const int item = pipeline_below(p, ITEMS);
    if (p->unit == DPF_UNIT_USER && p->adjacency == DPF_ADJ_REPLACE && pipeline_chance(p, 80))
        draw_user(p, row);
    else if (p->unit == DPF_UNIT_USER)
        memset(row, 0, ITEMS * sizeof *row);
    else if (p->adjacency == DPF_ADJ_REPLACE_VALUE)
        row[0] = row[0] == 1 ? 5 : 1;
    else
        row[item] = row[item] ? 0 : extreme(p);
}

/* ---- many pipelines ----------------------------------------------------------------------------------- */

static struct {
    int accepted, proved, broken, tight;
    double most;
} tally;

/* One pair of data sets. 0 if there is nothing to compare. */
static int try_pair(struct pipeline *p, double *most)
{
    const double size = 0.1 * pow(30, pipeline_below(p, 3));
    /* Secret draws are read at users' indices, so that others get other ones of the same law; the last one's
       coming and going leaves them alone. Nothing else depends on an index. */
    const int by_index = p->drawn != 0 && user_leaves(p);
    const int who = by_index ? USERS - 1 : pipeline_below(p, USERS);
    int ratings[2][USERS][ITEMS];
    draw_ratings(p, ratings[0]);
    memcpy(ratings[1], ratings[0], sizeof ratings[0]);
    change(p, ratings[1][who]);
    const enum outcome outcome = measure_pair(p, ratings, user_leaves(p) ? who : -1,
                                              catalogued && p->unit == DPF_UNIT_USER ? who : -1, size, most);
    tally.accepted += outcome != COMPARED && worlds[0].training.plan.ledger.n > 0;
    tally.broken += outcome == BROKEN;
    if (outcome != COMPARED && getenv("DPFRAME_RANDOM_TELL"))
        printf("%s\n", outcome == UNPROVED ? "no guarantee" : worlds[0].training.error.text);
    forget_pair();
    return outcome == COMPARED;
}

/* Draws the split, and weights where there are any, from ids. */
static void use_draws(int yes, int weighted)
{
    keyed[0] = '\0';
    if (yes)
        snprintf(keyed, sizeof keyed, "split.kind=random\nsplit.fraction=0.3\n%s",
                 weighted ? "data.weights.kind=groups\ndata.weights.users=\ndata.weights.items=\n" : "");
}

static void try_pipeline(uint64_t key)
{
    struct pipeline p;
    double most = 0;
    int compared = 0;
    pipeline_draw(&p, key, training_directory);
    use_catalogue(&p, key % 3 > 0);
    use_draws(key % 3 == 2, strstr(p.text, "weights-users") != NULL);
    for (int pair = 0; pair < PAIRS_OF_DATA; pair++) {
        const int done = try_pair(&p, &most);
        compared += done;
        if (!done)
            break;
    }
    tally.proved += compared > 0;
    tally.tight += most > 0.5;
    tally.most = fmax(tally.most, most);
    if (getenv("DPFRAME_RANDOM_TELL") && compared)
        printf("pipeline %llu: %.6f, %s\n", (unsigned long long)key, most, p.parts);
}

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

TEST(no_release_moves_further_than_is_stated)
{
    const int n = number_from("DPFRAME_RANDOM_CASES", 500), first = number_from("DPFRAME_RANDOM_FIRST", 1);
    write_weights();
    for (int i = 0; i < n; i++)
        try_pipeline((uint64_t)(first + i));
    print_message(
        "of %d pipelines %d were accepted without a proof or broke, %d were compared, %d of them reach "
        "half of what is stated, the most is %.6f; %d broke down\n",
        n, tally.accepted, tally.proved, tally.tight, tally.most, tally.broken);
    assert_true(tally.proved >= n / 20);
    assert_true(tally.tight >= n / 100);
    assert_true(tally.most > 0.9);
    assert_true(tally.most <= 1);
}

/* ---- configurations that prove something
 * --------------------------------------------------------------------- */

/* Of configs/: what the conditions hold for, on data that is small. */
static const struct {
    const char *file;
    int unit, adjacency;
    const char *changes; /* what depends on the number of users */
    double least;
} given[] = {
    {"corrected/dpimf", DPF_UNIT_RECORD, DPF_ADJ_FLIP, "", 0.01},
    {"corrected/dpimf-users", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, "", 0.01},
    {"corrected/gaussian-rdp", DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, "", 0.01},
    {"corrected/hdpmf", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT,
     "[privacy]\nmin-honest = 3\n[items.aggregator]\nsurvivors = 3\n", 0.01},
    {"corrected/privsr", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT,
     "[privacy]\nmin-honest = 2\nmax-curious = 1\n[items.rating.aggregator]\nsurvivors = 3\n", 0.01},
    {"corrected/dpmf-rp", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT,
     "[privacy]\nmin-honest = 3\n[items.aggregator]\nsurvivors = 3\n", 0.01},
    {"corrected/user-level-als", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, "", 0.01},
    {"corrected/user-level-biases", DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, "", 0.01},
    {"corrected/dp-sgd", DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, "[items.sampler]\nrate = 1\n", 0.01},
    {"corrected/dp-ftrl", DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, "[items.sampler]\ngroups = 2\n", 0.01},
    {"papers/dpmf-rp", DPF_UNIT_USER, DPF_ADJ_REPLACE,
     "[privacy]\nmin-honest = 3\n[items.aggregator]\nsurvivors = 3\n[items.sampler]\nrate = 1\n", 0.01},
    {"papers/dpmf-rp-case2", DPF_UNIT_USER, DPF_ADJ_REPLACE, "[items.sampler]\nrate = 1\n", 0.01},
    {"papers/dpmf-rp-case3", DPF_UNIT_USER, DPF_ADJ_REPLACE,
     "[privacy]\nmin-honest = 3\n[items.aggregator]\nsurvivors = 3\n[items.sampler]\nrate = 1\n", 0.01},
};

static void write_given(struct pipeline *p, size_t which)
{
    static const char keys[] =
        "include = %s/configs/%s.ini\n[run]\nrounds = 2\nthreads = 1\n"
        "[data]\nformat = csv\ndelimiter = comma\npath = %s/ratings.csv\nheader = yes\nvalue-min = "
        "1\nvalue-max = 5\n"
        "[split]\nkind = files\ntest.path = %s/test.csv\n[model]\nrank = 2\nusers = 6\nitems = 7\n"
        "[privacy]\nbudget = per-release\nrandomness = reproducible\n%s%s";
    char links[256] = "";
    if (strcmp(given[which].file, "corrected/privsr") == 0)
        snprintf(links, sizeof links, "[data]\nrelation.path = %s/links.txt\n", training_directory);
    *p = (struct pipeline){
        .lottery = which + 1, .unit = given[which].unit, .adjacency = given[which].adjacency};
    snprintf(p->text, sizeof p->text, keys, getenv("DPFRAME_SOURCE_DIR"), given[which].file,
             training_directory, training_directory, given[which].changes, links);
}

TEST(given_configurations_move_no_further_than_is_stated)
{
    keyed[0] = '\0';
    /* Nobody links to a user who leaves: friends would miss a message that zeroing out leaves there. */
    training_file("links.txt", "-3 5\n1 5\n7 5\nb 5\nzz 5\n");
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        struct pipeline p;
        double most = 0;
        write_given(&p, i);
        for (int pair = 0; pair < 6; pair++) {
            if (pair == 3)
                use_catalogue(&p, 1);
            else if (pair == 0)
                catalogued = 0;
            if (!try_pair(&p, &most))
                fail_msg("%s: %s", given[i].file, worlds[0].training.error.text);
        }
        print_message("%s: %.6f of what is stated\n", given[i].file, most);
        assert_true(most >= given[i].least);
        assert_true(most <= 1);
    }
}

/* Few rate an item, and who rated what is public: its sum still has every client's trials, else nothing would
   hide the one who did. */
TEST(rows_have_the_trials_that_are_counted_on)
{
    struct pipeline p = {
        .lottery = 7, .unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT, .support_public = 1};
    double most = 0;
    keyed[0] = '\0';
    snprintf(
        p.text, sizeof p.text,
        "[run]\nrounds = 1\nthreads = 1\n[data]\nformat = csv\npath = %s/ratings.csv\nheader = yes\n"
        "value-min = 1\nvalue-max = 5\n[split]\nkind = files\ntest.path = %s/test.csv\n"
        "[model]\nrank = 2\nusers = 6\nitems = 7\ninit-norm = 1\n[users]\nupdate = no\n"
        "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = pbm\naggregator = sum\n"
        "solver = gradient-descent\n[items.loss]\nclip-error = 100\n[items.transform.clip-user]\nbound = 1\n"
        "[items.solver]\nrate = 0.01\n[parties]\nkind = users\n"
        "[privacy]\nmin-honest = 5\nunit = user\nadjacency = zero-out\ninteraction-pattern = public\n"
        "randomness = reproducible\n[accountants]\nlist = pld\n",
        training_directory, training_directory);
    use_catalogue(&p, 1);
    for (int pair = 0; pair < 10; pair++)
        if (!try_pair(&p, &most))
            fail_msg("nothing is proved: %s", worlds[0].training.error.text);
}

FIXTURE(worlds_begin, worlds_end)
