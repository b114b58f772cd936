/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbouring data sets through the whole pipeline: how far the sums that get noise really move, against the
 * sensitivities in the ledger; and how well an observer of the noisy estimates tells the two apart, against
 * the proved epsilon.
 *
 * An observer is told of what parties add, which it rounds to the grid, and of the sums that leave with noise. The
 * first, a middle or the last user is the one whose data differs: when it leaves, the users behind change
 * their numbers.
 */
#include "kit/test.h"
#include "dpframe/accounting.h"
#include "kit/training.h"
#include "plan/plan_make.h"
#include "seen/seen.h"

#define USERS 5
#define ITEMS 6
#define MAX_ROWS 16
#define MAX_WIDTH 32

/* ---- what is seen -------------------------------------------------------------------------------------- */

static struct {
    int side;                           /* whose only term is looked at */
    int64_t parts[MAX_ROWS][MAX_WIDTH]; /* added so far, in steps of the grid */
    int64_t sums[MAX_ROWS][MAX_WIDTH];  /* of the last release */
    double *estimates;                  /* of coordinate [row][column], one for each draw; NULL: not wanted */
    int64_t row, column, n_estimates;
} eye;

static dpf_status see_part(const struct seen *seen, int64_t r, int64_t row)
{
    for (int32_t b = 0; b < seen->query->n_blocks; b++)
        for (int32_t i = 0; i < seen->query->blocks[b].length; i++) {
            const int32_t column = seen->query->blocks[b].offset + i;
            const double grid = row == seen->gram_row ? seen->noise->gram_grid[b] : seen->noise->grid[b];
            int64_t steps;
            if (!dpf_additive_to_integer(seen->exact[r * seen->width + column] / grid, 0x1p58, &steps))
                return DPF_E_RANGE;
            eye.parts[row][column] += steps;
        }
    return DPF_OK;
}

static dpf_status look(void *context, const struct seen *seen)
{
    dpf_status status = DPF_OK;
    (void)context;
    for (int64_t r = 0; r < seen->n_rows && seen->side == eye.side && status == DPF_OK; r++) {
        const int64_t row = seen->rows ? seen->rows[r] : seen->first_row + r;
        if (seen->what == SEES_PARTS) {
            status = see_part(seen, r, row);
            continue;
        }
        memcpy(eye.sums[row], eye.parts[row], sizeof eye.sums[row]);
        memset(eye.parts[row], 0, sizeof eye.parts[row]);
        if (eye.estimates && row == eye.row)
            eye.estimates[seen->round] = seen->numbers[r * seen->stride + eye.column];
    }
    return status;
}

/* Trains and looks at the only term of a side; fill, if not 0, is the bias of the other side's rows. */
static void observe(struct training *t, const char *base, const char *changes, int side, float fill)
{
    const struct observer observer = {.wants = SEES_PARTS | SEES_SUMS, .saw = look};
    const struct engine_hooks hooks = {.observer = &observer};
    memset(t, 0, sizeof *t);
    struct plan *plan = &t->plan;
    struct pool *pool = pool_new(1);
    int status = training_plan(plan, base, changes, &t->error);
    if (status == 0)
        status = data_load(&plan->data, &plan->split, plan->seeded, pool, &t->dataset, &t->error);
    if (status == 0)
        status = plan_complete(plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (status == 0)
        status = model_init(&t->model, plan, &t->dataset, &t->error);
    if (status != 0)
        fail_msg("%s", t->error.text);
    struct side_factors *other = &t->model.sides[1 - side];
    for (int64_t r = 0; fill != 0 && r < other->rows; r++)
        other->data[r * t->model.stride + plan->bias[1 - side]] = fill;
    eye.side = side;
    memset(eye.parts, 0, sizeof eye.parts);
    memset(eye.sums, 0, sizeof eye.sums);
    if (engine_run(plan, &t->dataset, pool, &t->model, &hooks, &t->stats, &t->error) != 0)
        fail_msg("%s", t->error.text);
    pool_free(pool);
}

/* ---- data ------------------------------------------------------------------------------------------------
 */

static uint64_t lottery = 1;

static int drawn(int n)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((lottery >> 33) % (uint64_t)n);
}

/* Whose data differs. */
static int who;

/* Users 1 and 2 have rated all items, so that the list of items is the same whatever the others do. */
static void draw_ratings(int ratings[USERS][ITEMS])
{
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            ratings[u][i] = u == 1 || u == 2 || drawn(2) ? 1 + drawn(5) : 0;
    ratings[who][0] = 1 + drawn(5); /* with a record at least */
}

static void write_ratings(int ratings[USERS][ITEMS])
{
    char text[4096] = "user,item,rating\n";
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if (ratings[u][i])
                snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d,%d\n", u, i, ratings[u][i]);
    training_file("ratings.csv", text);
}

/* The neighbour; the user keeps a record unless it is removed. */
static void change(int ratings[USERS][ITEMS], int adjacency)
{
    const int item = 1 + drawn(ITEMS - 1);
    for (int i = 0; i < ITEMS; i++) {
        if (adjacency == DPF_ADJ_REPLACE)
            ratings[who][i] = drawn(2) ? 1 + drawn(5) : 0;
        if (adjacency == DPF_ADJ_ADD_REMOVE)
            ratings[who][i] = 0;
    }
    if (adjacency == DPF_ADJ_REPLACE)
        ratings[who][0] = 1 + drawn(5);
    if (adjacency == DPF_ADJ_FLIP)
        ratings[who][item] = ratings[who][item] ? 0 : 1 + drawn(5);
    if (adjacency == DPF_ADJ_REPLACE_VALUE)
        ratings[who][0] = 1 + drawn(5);
}

#define DATA                                                                                                 \
    "[run]\nrounds = 1\nthreads = 1\n[data]\nformat = csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"     \
    "[split]\nkind = none\n[model]\nusers = 5\nitems = 6\n"                                                  \
    "[accountants]\nlist = rdp\n"

/* The same seed keeps the same secret draws, which neighbours may be compared under. */
static const char *with_path(const char *changes, int seed)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "data.path=%s/ratings.csv\nprivacy.id-lists=public\nprivacy.noise-seed=%d\n%s",
             training_directory, seed, changes);
    return text;
}

/* ---- sums against sensitivities ----------------------------------------------------------------------- */

/* The distance of the captured sums a and b in one block, of the Gram row or of all others. */
static dpf_norms distance(const struct term_plan *term, int b, int is_gram, int64_t rows,
                          int64_t first[MAX_ROWS][MAX_WIDTH])
{
    const dpf_block *block = &term->sent.blocks[b];
    const double grid = is_gram ? term->noise.gram_grid[b] : term->noise.grid[b];
    dpf_norms out = {0, 0, 0};
    for (int64_t r = is_gram ? rows : 0; r < rows + is_gram; r++)
        for (int32_t c = block->offset; c < block->offset + block->length; c++) {
            const double x = fabs((double)(eye.sums[r][c] - first[r][c])) * grid;
            out.l1 += x;
            out.l2 += x * x;
            out.linf = fmax(out.linf, x);
        }
    out.l2 = sqrt(out.l2);
    return out;
}

/* Of all blocks of an event, in the units of its scale. */
static dpf_norms joint_distance(const struct term_plan *term, const dpf_event *event, int64_t rows,
                                int64_t first[MAX_ROWS][MAX_WIDTH])
{
    dpf_norms out = {0, 0, 0};
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        const int gram = bit >= DPF_GRAM_BIT, b = bit % DPF_GRAM_BIT;
        if (!(event->blocks >> bit & 1))
            continue;
        const double scale = gram ? term->noise.gram_scale[b] : term->noise.scale[b];
        const double unit = scale > 0 ? event->scale / scale : 1;
        const dpf_norms one = distance(term, b, gram, rows, first);
        out.l1 += unit * one.l1;
        out.l2 = hypot(out.l2, unit * one.l2);
        out.linf = fmax(out.linf, unit * one.linf);
    }
    return out;
}

static double ratio(double moved, double stated)
{
    return moved == 0 ? 0 : moved / stated;
}

/* The largest part of any stated norm that was used; above 1 the ledger is wrong. */
static double part_used(const struct training *t, int side, int64_t first[MAX_ROWS][MAX_WIDTH])
{
    const struct plan *plan = &t->plan;
    const struct term_plan *term = &plan->sides[side].terms[0];
    const int64_t rows = t->model.sides[side].rows;
    double most = 0;
    for (int64_t e = 0; e < plan->ledger.n; e++) {
        const dpf_event *event = &plan->ledger.entries[e].event;
        if (event->side != side)
            continue;
        const dpf_norms moved = joint_distance(term, event, rows, first);
        const dpf_norms *stated = &event->sensitivity.at[plan->guarantee.unit][plan->guarantee.adjacency];
        most = fmax(most, ratio(moved.l1, stated->l1));
        most = fmax(most, ratio(moved.l2, stated->l2));
        most = fmax(most, ratio(moved.linf, stated->linf));
    }
    return most;
}

static const int changing[] = {0, 3, USERS - 1};

/* Many pairs of neighbours. The worst must stay within what is stated, and reach `least` of it. */
static void assert_covered(const char *base, const char *changes, int side, float fill, double least)
{
    double most = 0;
    for (int trial = 0; trial < 25; trial++) {
        struct training t;
        int ratings[USERS][ITEMS];
        int64_t first[MAX_ROWS][MAX_WIDTH];
        who = changing[trial % 3];
        draw_ratings(ratings);
        write_ratings(ratings);
        observe(&t, base, with_path(changes, trial), side, fill);
        const int adjacency = t.plan.guarantee.adjacency;
        for (int i = 0; i < N_CONDITIONS; i++)
            if (!t.plan.guarantee.conditions[i].holds && strcmp(t.plan.guarantee.conditions[i].id, "C9") != 0)
                fail_msg("nothing is proved here: %s", t.plan.guarantee.conditions[i].why);
        memcpy(first, eye.sums, sizeof first);
        training_free(&t);
        change(ratings, adjacency);
        write_ratings(ratings);
        observe(&t, base, with_path(changes, trial), side, fill);
        most = fmax(most, part_used(&t, side, first));
        training_free(&t);
    }
    if (most > 1 || most < least)
        fail_msg("%s: neighbours use %g of what is stated", changes, most);
}

#define GAUSSIAN                                                                                             \
    "mechanism = gaussian\n[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\n"        \
    "where = sum\n"

/* Local rows of users, made by steps from initial rows: those of other users must not change. */
static const char gradients[] =
    DATA "[model]\nrank = 2\ninit-scale = 2\n[parties]\nkind = users\n"
         "[users]\nloss = squared-error\nsolver = gradient-descent\n"
         "[items]\nloss = squared-error\nsolver = gradient-descent\ntransforms = clip-user\n" GAUSSIAN
         "[items.transform.clip-user]\nbound = 1.5\n"
         "[privacy]\nunit = user\nrandomness = reproducible\n";

TEST(users_move_gradients_within_the_clip)
{
    static const char *const adjacencies[] = {"add-remove", "replace"};
    for (int i = 0; i < 2; i++) {
        char changes[256];
        snprintf(changes, sizeof changes, "privacy.adjacency=%s\n", adjacencies[i]);
        assert_covered(gradients, changes, DPF_SIDE_ITEMS, 0, 0.5);
        strcat(changes, "model.user-bias=yes\nmodel.item-bias=yes\nitems.solver=adam\n");
        assert_covered(gradients, changes, DPF_SIDE_ITEMS, 0, 0.5);
    }
}

/* A weight of 2 for the drawn is within the clip too; the same secret draws for both neighbours. */
TEST(users_that_are_drawn_move_within_the_clip)
{
    assert_covered(gradients,
                   "privacy.adjacency=replace\nitems.sampler=poisson-users\nitems.sampler.rate=0.5\n"
                   "items.sampler.weight=inverse\n",
                   DPF_SIDE_ITEMS, 0, 0.3);
}

/* Users' quadratics, their rows solved at home and clipped: private alternating least squares. */
static const char quadratics[] =
    DATA "[model]\nrank = 2\ninit-scale = 2\nuser-bias = yes\nitem-bias = yes\noffset = midpoint\n"
         "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nbias-lambda = 0.5\n"
         "[items]\nloss = explicit-als\nsolver = psd\ntransforms = clip-rows, clip-user\n" GAUSSIAN
         "[items.transform.clip-rows]\nbound = 1\n[items.transform.clip-user]\nblock-bounds = 1.5, 2\n"
         "[items.loss]\nregularization = constant\nlambda = 1\n"
         "[privacy]\nunit = user\nrandomness = reproducible\n";

/* Weights that are drawn stretch each user's ratings, and which records are held out is drawn too: both
   belong to ids, so nobody else moves. */
TEST(drawn_weights_and_splits_stay_when_users_leave)
{
    static const char drawn[] =
        "privacy.adjacency=add-remove\ndata.weights.kind=%s\nsplit.kind=%s\nsplit.fraction=0.3\n"
        "users.update=no\nitems.transforms=stretch, clip-user\n";
    static const char *const weights[] = {"groups", "sensitive"}, *const splits[] = {"random", "per-user"};
    for (int i = 0; i < 4; i++) {
        char changes[512];
        snprintf(changes, sizeof changes, drawn, weights[i % 2], splits[i / 2]);
        assert_covered(gradients, changes, DPF_SIDE_ITEMS, 0, 0.2);
    }
}

TEST(users_move_quadratics_within_the_clip)
{
    static const char *const adjacencies[] = {"add-remove", "replace"};
    for (int i = 0; i < 2; i++) {
        char changes[512];
        snprintf(changes, sizeof changes, "privacy.adjacency=%s\n", adjacencies[i]);
        assert_covered(quadratics, changes, DPF_SIDE_ITEMS, 0, 0.5);
        strcat(changes, "items.loss.regularization=frequency\nitems.solver.floor=0.1\nitems.transform.clip-"
                        "user.block-bounds=1.5, 2, 1\n");
        assert_covered(quadratics, changes, DPF_SIDE_ITEMS, 0, 0.5);
    }
}

static const char gram[] =
    DATA "[data]\nfeedback = implicit\n[model]\nrank = 2\ninit-scale = 2\n[parties]\nkind = users\n"
         "[users]\nloss = implicit-als\nsolver = cholesky\n"
         "[items]\nloss = implicit-als\nsolver = ball\ntransforms = clip-user\n" GAUSSIAN
         "[items.transform.clip-user]\nbound = 1\n[items.loss]\nunobserved-weight = 0.5\n"
         "[privacy]\nunit = user\nrandomness = reproducible\n";

TEST(users_move_the_gram_row_within_the_clip)
{
    assert_covered(gram, "privacy.adjacency=add-remove\n", DPF_SIDE_ITEMS, 0, 0.3);
    assert_covered(gram, "privacy.adjacency=replace\n", DPF_SIDE_ITEMS, 0, 0.2);
}

/* One record changes the norm of the whole message, and so how much of the Gram row passes the clip. */
TEST(a_record_moves_the_clipped_gram_row)
{
    static const char fixed[] = "users.update=no\nprivacy.unit=record\nprivacy.adjacency=flip\n";
    assert_covered(gram, fixed, DPF_SIDE_ITEMS, 0, 0.05);
}

/* What users send to those who link to them in the second round, when their own ratings are in it. */
static const char friends[] = DATA
    "[run]\norder = users\n[model]\nrank = 2\ninit-scale = 2\n[parties]\nkind = users\n"
    "[users]\nterms = social, rating\nsolver = gradient-descent\n[users.solver]\nradius = 0.75\nrate = 1\n"
    "[users.social]\nsource = relation\ndestination = peer\nloss = social\nmechanism = laplace\n"
    "[users.social.mechanism]\nwhere = party\n"
    "[users.rating]\nloss = squared-error\n"
    "[items]\nupdate = no\n"
    "[privacy]\nunit = user\nadjacency = replace\nobserver = parties\nrandomness = reproducible\n";

TEST(users_move_the_row_they_send_within_its_ball)
{
    char changes[512];
    snprintf(changes, sizeof changes, "run.rounds=2\ndata.relation.path=%s\ndata.relation.header=no\n",
             training_file("friends.txt", "1 0\n2 0\n0 3\n3 4\n4 1\n"));
    assert_covered(friends, changes, DPF_SIDE_USERS, 0, 0.5);
    strcat(changes, "users.social.transforms=clip-rows\nusers.social.transform.clip-rows.norm=l1\n"
                    "users.social.transform.clip-rows.bound=0.25\n");
    assert_covered(friends, changes, DPF_SIDE_USERS, 0, 0.5);
    /* The clip leaves a user's bias as it is, and it is sent. */
    strcat(changes, "model.user-bias=yes\nusers.solver.radius=6\nusers.rating.transforms=clip-rows\n"
                    "users.rating.transform.clip-rows.bound=0.1\n");
    assert_covered(friends, changes, DPF_SIDE_USERS, 0, 0.05);
}

/* Items, with their bias, are released before: users read the bias, and a clip of the factors leaves it. */
static const char biased[] =
    DATA "[run]\norder = users, items\n[model]\nrank = 2\nitem-bias = yes\ninit-norm = 0.5\ninit-scale = 1\n"
         "[users]\nloss = explicit-als\nsolver = ball\ntransforms = clip-rows\nmechanism = gaussian\n"
         "[users.loss]\nregularization = constant\n"
         "[users.transform.clip-rows]\nbound = 0.5\n"
         "[users.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = sum\n"
         "[items]\nloss = squared-error\nsolver = gradient-descent\nmechanism = gaussian\n"
         "[items.loss]\nclip-error = 1\n[items.solver]\nradius = 8\n"
         "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = sum\n"
         "[privacy]\nunit = record\nadjacency = add-remove\nrandomness = reproducible\n";

TEST(the_other_bias_is_outside_the_clip)
{
    double most = 0;
    for (int trial = 0; trial < 8; trial++) {
        struct training t;
        int ratings[USERS][ITEMS];
        int64_t first[MAX_ROWS][MAX_WIDTH];
        draw_ratings(ratings);
        ratings[0][1] = 5;
        write_ratings(ratings);
        observe(&t, biased, with_path("", trial), DPF_SIDE_USERS, -7.9f);
        memcpy(first, eye.sums, sizeof first);
        training_free(&t);
        ratings[0][1] = 0;
        write_ratings(ratings);
        observe(&t, biased, with_path("", trial), DPF_SIDE_USERS, -7.9f);
        most = fmax(most, part_used(&t, DPF_SIDE_USERS, first));
        training_free(&t);
    }
    if (most > 1 || most < 0.2)
        fail_msg("neighbours use %g of what is stated", most);
}

/* ---- what an observer can tell ------------------------------------------------------------------------ */

#define DRAWS 6000

static double kl(double a, double b)
{
    return (a > 0 ? a * log(a / b) : 0) + (a < 1 ? (1 - a) * log((1 - a) / (1 - b)) : 0);
}

/* A bound on a probability of which k of DRAWS trials are seen, wrong with probability 1e-5 at the most: by
   Chernoff, which is a little beyond the exact bound of Clopper and Pearson. */
static double bound(int64_t k, int upper)
{
    const double at = (double)k / DRAWS;
    double inside = at, outside = upper ? 1 : 0;
    for (int i = 0; i < 60; i++) {
        const double middle = (inside + outside) / 2;
        if (middle == at || kl(at, middle) < log(1e5) / DRAWS)
            inside = middle;
        else
            outside = middle;
    }
    return outside;
}

/* The epsilon that an event asks for which k of one sample and l of the other fall in. */
static double asked(int64_t k, int64_t l, double delta)
{
    const double p = bound(k, 0) - delta;
    return p > 0 ? log(p / bound(l, 1)) : 0;
}

/* The largest such epsilon, for estimates above or below thresholds and in either order. */
static double audited(const double *a, const double *b, double delta)
{
    double most = 0;
    for (int cut = 0; cut < 24; cut++) {
        const double threshold = (cut % 2 ? a : b)[cut * 37];
        int64_t k = 0, l = 0;
        for (int64_t i = 0; i < DRAWS; i++) {
            k += a[i] > threshold;
            l += b[i] > threshold;
        }
        most = fmax(most, fmax(asked(k, l, delta), asked(l, k, delta)));
        most = fmax(most, fmax(asked(DRAWS - k, DRAWS - l, delta), asked(DRAWS - l, DRAWS - k, delta)));
    }
    return most;
}

/* One release is made again and again, always from the same rows: the solver's steps are too small to see. */
static void audit(const char *base, const char *changes, int one_record, double least)
{
    static double estimates[2][DRAWS];
    static const int with[USERS][ITEMS] = {
        {5, 0, 0, 0, 0, 0}, {1, 3, 3, 3, 3, 3}, {3, 3, 3, 3, 3, 3}, {0, 0, 3, 0, 0, 0}, {0, 0, 3, 0, 0, 0}};
    double proved = INFINITY, delta = 0;
    char text[1024];
    for (int which = 0; which < 2; which++) {
        int ratings[USERS][ITEMS];
        struct training t;
        memcpy(ratings, with, sizeof ratings);
        if (one_record && which)
            ratings[0][0] = 1;
        if (!one_record && which)
            memset(ratings[0], 0, sizeof ratings[0]);
        write_ratings(ratings);
        snprintf(text, sizeof text, "%s\nrun.rounds=1\n", changes);
        observe(&t, base, with_path(text, 11 + which), DPF_SIDE_ITEMS, 0);
        const double epsilon = t.plan.guarantee.accounts[0].answer.epsilon;
        assert_true(t.plan.guarantee.plan_holds);
        assert_true(epsilon > 0);
        assert_true(which == 0 || fabs(epsilon - proved) <= 1e-12 * proved);
        proved = epsilon;
        delta = t.plan.guarantee.accounts[0].answer.delta;
        training_free(&t);
        eye.estimates = estimates[which];
        eye.row = 0;
        eye.column = 0;
        snprintf(text, sizeof text, "%s\nrun.rounds=%d\n", changes, DRAWS);
        observe(&t, base, with_path(text, 11 + which), DPF_SIDE_ITEMS, 0);
        eye.estimates = NULL;
        training_free(&t);
    }
    const double found = audited(estimates[0], estimates[1], delta);
    if (found > proved || found < least * proved)
        fail_msg("%s: an observer needs epsilon %g, %g is proved", changes, found, proved);
}

#define AUDITED                                                                                              \
    DATA "[model]\nrank = 1\ninit-norm = 1\n[users]\nupdate = no\n"                                          \
         "[items]\nloss = squared-error\nsolver = gradient-descent\n[items.loss]\nclip-error = "             \
         "10\n[items.solver]\nrate = 1e-30\n"                                                                \
         "[privacy]\nrandomness = reproducible\ndelta = 1e-5\n"

TEST(observers_find_no_more_than_is_proved)
{
    static const char laplace[] =
        "accountants.list=pure\nprivacy.unit=record\nprivacy.adjacency=replace-value\n"
        "privacy.interaction-pattern=public\nitems.mechanism=laplace\n"
        "items.mechanism.epsilon=1.5\nitems.mechanism.where=sum\n";
    /* At a large delta thresholds are nearly the best that an observer can do. */
    static const char gaussian[] =
        "privacy.delta=0.05\nprivacy.unit=user\nprivacy.adjacency=add-remove\nparties.kind=users\nitems."
        "transforms=clip-user\n"
        "items.transform.clip-user.bound=1\nitems.mechanism=gaussian\n"
        "items.mechanism.calibration=noise-multiplier\nitems.mechanism.noise-multiplier=0.8\n"
        "items.mechanism.where=sum\n";
    char sampled[1024];
    audit(AUDITED, laplace, 1, 0.6);
    audit(AUDITED, gaussian, 0, 0.4);
    snprintf(sampled, sizeof sampled, "%sitems.sampler=poisson-users\nitems.sampler.rate=0.5\n", gaussian);
    audit(AUDITED, sampled, 0, 0.25);
}

FIXTURE(training_begin, training_end)
