/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components that are spoilt on purpose, in whole trainings: the audit, statistics of noise and of draws, the neighbour
 * test (how far users and records move releases), the host's own checks, and a training that is repeated with other
 * threads. Each saboteur is noticed by those that saboteurs.h names; the components as they are by nobody. With
 * SABOTAGE_ALL=PREFIX in the environment all of them are asked about components whose names begin so, and the answers
 * printed.
 */
#include "kit/test.h"
#include "kit/training.h"

#include <math.h>

#include "audit/moves.h"
#include "audit/noise_check.h"
#include "kit/spawned.h"
#include "plan/plan_make.h"
#include "saboteurs.h"
#include "seen/seen.h"

/* ---- configurations ------------------------------------------------------------------------------------- */

#define ROUNDS "[run]\nrounds = 3\norder = users, items\n"
#define DATA                                                                                                 \
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 12\nsynthetic.ratings = 400\n"      \
    "synthetic.rank = 2\nsynthetic.min-per-user = 3\n"                                                       \
    "[split]\nkind = none\n[model]\nusers = 60\nitems = 12\n[accountants]\nlist = rdp\n"
/* Users' own rows are local; items' rows are released under zero-out, where every user keeps the place. */
#define COMMON                                                                                               \
    ROUNDS DATA "[model]\nrank = 2\n[parties]\nkind = users\n"                                               \
                "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 0.01\n"          \
                "[items.transform.%s]\nnorm = l2\nbound = 0.1\n[items]\ntransforms = %s\nmechanism = %s\n"
#define AT_SUM                                                                                               \
    "loss = implicit-als\nsolver = ball\n"                                                                   \
    "[items.loss]\nunobserved-weight = 0.1\nlambda = 0.1\n"                                                  \
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nunobserved-weight = 0.1\n"               \
    "[data]\nfeedback = implicit\n"                                                                          \
    "[items]\ngram-share = 0.2\n[items.mechanism]\ncalibration = noise-multiplier\nwhere = sum\n"
#define GRADIENT                                                                                             \
    "loss = squared-error\nsolver = gradient-descent\n[items.loss]\nclip-error = 4\n"                        \
    "[users]\nloss = squared-error\nsolver = gradient-descent\n"                                             \
    "[data]\nfeedback = explicit\nvalue-min = 1\nvalue-max = 5\n"
#define IN_SHARES                                                                                            \
    "aggregator = modular-sum\n" GRADIENT "[items.aggregator]\nsurvivors = 50\n"                             \
    "[items.mechanism]\nnoise-multiplier = 2\n[privacy]\nmin-honest = 40\n"
/* Every user sends a message with noise of its own; who rated what is public. */
#define BINOMIAL                                                                                             \
    "aggregator = sum\n" GRADIENT "[privacy]\ninteraction-pattern = public\n"                                \
    "[privacy]\nmin-honest = 40\n[items.mechanism]\nbound = 0.1\n"
/* Two groups of users take turns; the first is in two rounds of three. */
#define IN_TURNS                                                                                             \
    "aggregator = sum\nsampler = cyclic-users\n" GRADIENT "[items.sampler]\ngroups = 2\n"                    \
    "[items.mechanism]\nnoise-multiplier = 2\n"
/* Sums of a recommender, by a curator. */
#define SUMS                                                                                                 \
    DATA "[data]\nvalue-min = 1\nvalue-max = 5\n[parties]\nkind = curator\n"                                 \
         "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 0.01\n"                 \
         "[model]\nrecommender = %s\n"
/* Single records. Users' rows stay as they begin, in a ball: what the loss states of a record bounds a release. */
#define RECORD                                                                                               \
    ROUNDS DATA                                                                                              \
        "[model]\nrank = 2\n[data]\nfeedback = explicit\nvalue-min = 1\nvalue-max = 5\n"                     \
        "[parties]\nkind = curator\n[privacy]\nunit = record\nadjacency = zero-out\nobserver = outsider\n"   \
        "delta = 0.01\n"
#define NOISY(SIDE)                                                                                          \
    "[" SIDE ".mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\nwhere = sum\n[" SIDE        \
    "]\naggregator = sum\nmechanism = gaussian\n"
#define ONE_SIDE                                                                                             \
    RECORD NOISY("items") "solver = gradient-descent\nloss = %s\n[items.loss]\nclip-error = 0.5\n"           \
                          "[users]\nupdate = no\n[model]\ninit-norm = 0.5\n"
/* Both sides are released: what the users' loss states of a record rests on the items' rows staying in their ball. */
#define BOTH_SIDES                                                                                           \
    RECORD NOISY("items") "loss = explicit-als\nsolver = %s\n[items.solver]\nradius = 0.5\n" NOISY(          \
        "users") "loss = squared-error\n[users.loss]\nclip-error = 0.5\n[users]\nsolver = "                  \
                 "gradient-descent\n"                                                                        \
                 "[users.solver]\nradius = 0.5\n"

/* What is put together; a saboteur is one of them. */
struct parts {
    const char *transform, *mechanism, *aggregator, *sampler, *loss, *solver, *recommender;
};

static int is(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

static const char *around(const struct parts *p)
{
    return is(p->mechanism, "discrete-gaussian") || is(p->mechanism, "short-shares") ? IN_SHARES
           : is(p->mechanism, "pbm") || is(p->mechanism, "pbm-sparse")               ? BINOMIAL
           : is(p->mechanism, "correlated-gaussian") || is(p->mechanism, "other-correlation") ||
                   is(p->mechanism, "one-participation")
               ? IN_TURNS
               : NULL;
}

static const char *config_of(const struct parts *p)
{
    static char text[8192];
    const char *rest = around(p);
    if (p->recommender)
        snprintf(text, sizeof text, SUMS "%s", p->recommender,
                 is(p->recommender, "private-gram") ? "[data]\nfeedback = implicit\n" : "");
    else if (p->loss)
        snprintf(text, sizeof text, ONE_SIDE, p->loss);
    else if (p->solver)
        snprintf(text, sizeof text, BOTH_SIDES, p->solver);
    else if (rest)
        snprintf(text, sizeof text, COMMON "%s", p->transform, p->transform, p->mechanism, rest);
    else /* sums of messages are looked at beside hardly any noise */
        snprintf(text, sizeof text, COMMON AT_SUM "noise-multiplier = %s\n[items]\naggregator = %s\n%s%s%s",
                 p->transform, p->transform, p->mechanism,
                 p->aggregator                     ? "0.001"
                 : is(p->mechanism, "says-public") ? "0.05"
                                                   : "2",
                 p->aggregator ? p->aggregator : "sum", p->sampler ? "sampler = " : "",
                 p->sampler ? p->sampler : "", p->sampler ? "\n[items.sampler]\nrate = 0.1\n" : "");
    return text;
}

static struct parts parts_of(const struct saboteur *s)
{
    struct parts p = {.transform = "clip-user", .mechanism = "gaussian"};
    *(s->role == MECHANISM    ? &p.mechanism
      : s->role == TRANSFORM  ? &p.transform
      : s->role == LOSS       ? &p.loss
      : s->role == SAMPLER    ? &p.sampler
      : s->role == AGGREGATOR ? &p.aggregator
      : s->role == SOLVER     ? &p.solver
                              : &p.recommender) = s->component;
    return p;
}

/* ---- trainings ------------------------------------------------------------------------------------------ */

struct trained {
    struct plan plan;
    struct dataset dataset;
    struct pool *pool;
    struct model model;
    struct violations violations;
    struct dpf_error error;
    int refused;
};

/* changes: "section.key=value", up to MOST_CHANGES, or NULL. */
#define MOST_CHANGES 6
static int open_training(struct trained *t, const struct parts *p, const char *const *changes, int threads)
{
    int n = 0;
    while (changes && n < MOST_CHANGES && changes[n])
        n++;
    const char *directories[] = {training_plugins("plugins"), SABOTAGE_DIR};
    const struct plan_options options = {.config_path = training_file("config.ini", config_of(p)),
                                         .overrides = (const char **)(uintptr_t)changes,
                                         .n_overrides = n,
                                         .plugin_directories = directories,
                                         .n_plugin_directories = 2};
    memset(t, 0, sizeof *t);
    t->pool = pool_new(threads);
    t->refused =
        plan_open(&options, &t->plan, &t->error) != 0 ||
        data_load(&t->plan.data, &t->plan.split, t->plan.seeded, t->pool, &t->dataset, &t->error) != 0 ||
        plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &t->error) != 0;
    return t->refused ? -1 : 0;
}

static void must_open(struct trained *t, const struct parts *p, const char *const *changes, int threads)
{
    if (open_training(t, p, changes, threads) != 0)
        fail_msg("%s\n%s", t->error.text, config_of(p));
}

static void close_training(struct trained *t)
{
    violations_free(&t->violations);
    model_free(&t->model);
    dataset_free(&t->dataset);
    plan_free(&t->plan);
    pool_free(t->pool);
}

static int train(struct trained *t, const struct observer *observer)
{
    const struct engine_hooks hooks = {.observer = observer, .violations = &t->violations};
    struct engine_stats stats;
    return model_init(&t->model, &t->plan, &t->dataset, &t->error) == 0
               ? engine_run(&t->plan, &t->dataset, t->pool, &t->model, &hooks, &stats, &t->error)
               : -1;
}

/* ---- catchers ------------------------------------------------------------------------------------------- */

/* The training is refused, it ends with an error, a weight is left out, or its statement is withdrawn. */
static int host_notices(const struct parts *p)
{
    static const char *const more[] = {"run.rounds=30", NULL};
    struct trained t;
    const int notices = open_training(&t, p, p->sampler ? more : NULL, 1) != 0 || train(&t, NULL) != 0 ||
                        t.violations.n > 0 || *t.plan.ledger.deviation;
    close_training(&t);
    return notices;
}

/* Where a catcher cannot look, it is because the host has ended the training: that is noticed, too. */
static int host_has_ended_it(const struct parts *p, const char *error)
{
    if (!host_notices(p))
        fail_msg("%s\n%s", error, config_of(p));
    return 1;
}

static int audit_notices(const struct parts *p)
{
    training_file("config.ini", config_of(p));
    const int code = command_run_it("audit -c config.ini --trials 20 -j 1 --plugin-dir " SABOTAGE_DIR);
    return code != 0 && code != 5 ? host_has_ended_it(p, command_err) : code == 5;
}

/* How often each user is drawn, and each with the next. */
struct draws {
    double of[64], pairs;
    int rounds;
};

static dpf_status count_draws(void *context, const struct seen *seen)
{
    struct draws *draws = context;
    for (int64_t i = 0; i < seen->draw->n; i++) {
        const int64_t user = seen->draw->first + i;
        draws->of[user] += seen->weights[i] > 0;
        draws->pairs += i > 0 && seen->weights[i] > 0 && seen->weights[i - 1] > 0;
    }
    draws->rounds += seen->draw->first == 0;
    return DPF_OK;
}

static int draws_notice(const struct parts *p)
{
    struct trained t;
    struct draws draws = {.rounds = 0};
    const struct observer observer = {.context = &draws, .wants = SEES_DRAWS, .saw = count_draws};
    const double rate = 0.1;
    static const char *const many[] = {"run.rounds=300", NULL};
    must_open(&t, p, many, 1);
    const int status = train(&t, &observer);
    close_training(&t);
    if (status != 0)
        return 1;
    assert_int_equal(draws.rounds, 300);
    int odd = 0;
    for (int u = 0; u < 60; u++)
        odd |= fabs(draws.of[u] / 300 - rate) > 6 * sqrt(rate * (1 - rate) / 300);
    const double both = draws.pairs / (300 * 59);
    return odd || both > rate * rate + 8 * rate / sqrt(300 * 59);
}

/* Variance and correlations of the noise of whole trainings; frequencies of draws. */
static int statistics_notice(const struct parts *p)
{
    struct trained t;
    struct noise_check check;
    struct dpf_error error = {0};
    if (p->sampler)
        return draws_notice(p);
    must_open(&t, p, NULL, 1);
    const int ended = noise_check_run(&t.plan, &t.dataset, t.pool, &check, &error) != 0;
    const int failed = check.failed; /* of nothing if no noise is declared */
    noise_check_free(&check);
    close_training(&t);
    return ended ? host_has_ended_it(p, error.text) : failed > 0;
}

/* The user's records become void. */
static void make_void(struct csr *csr, const struct csr *by_user, int32_t user)
{
    csr->voids = memory_new((size_t)csr->ptr[csr->rows] + 1, 1);
    assert_non_null(csr->voids);
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->ptr[row]; i < csr->ptr[row + 1]; i++)
            csr->voids[i] = (csr == by_user ? row : csr->others[i]) == user;
}

/* voids: the records stay, and become void. */
static double move_of(struct trained *t, const struct neighbours *kind, int32_t user, int32_t item, int voids)
{
    struct dpf_error error = {0};
    struct trials trials = {.plan = &t->plan, .canary = {user, item}};
    struct move move;
    for (unsigned char set = 0; set < 2; set++) {
        const unsigned char form = voids ? 0 : set;
        assert_int_equal(
            neighbours_make(&t->dataset, kind, &trials.canary, &form, 1, &trials.sets[set], &error), 0);
    }
    struct records *changed = &trials.sets[1].train;
    if (voids) {
        make_void(&changed->by_user, &changed->by_user, user);
        make_void(&changed->by_item, &changed->by_user, user);
    }
    assert_int_equal(trials_prepare(&trials, OBSERVE_SUMS, &error), 0);
    const int ended = moves_find(&trials, t->pool, user, &move, &error) != 0;
    trials_free(&trials);
    return ended ? -1 : move.share;
}

/* The first users, the fiftieth, one in the middle and the last: all records at once, or one after the other. */
static int neighbours_notice(const struct parts *p)
{
    static const int32_t users[] = {0, 1, 2, 3, 30, 49, 59};
    struct trained t;
    double most = 0;
    int ended = 0;
    must_open(&t, p, NULL, 1);
    const int single = t.plan.guarantee.unit == DPF_UNIT_RECORD;
    const struct neighbours kind = {.unit = t.plan.guarantee.unit,
                                    .adjacency = DPF_ADJ_ZERO_OUT,
                                    .value_lo = 1,
                                    .value_hi = p->recommender || single ? 5 : 1};
    const struct csr *csr = &t.dataset.train.by_user;
    const struct recommender_plan *component = &t.plan.recommender;
    const int voids = component->instance &&
                      (component->functions->flags(component->instance->self) & DPF_RECOMMENDER_READS_VOIDS);
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        for (int64_t k = csr->ptr[users[i]]; k < (single ? csr->ptr[users[i] + 1] : csr->ptr[users[i]] + 1);
             k++) {
            const double share = move_of(&t, &kind, users[i], single ? csr->others[k] : -1, 0),
                         void_share = voids ? move_of(&t, &kind, users[i], -1, 1) : 0;
            ended |= share < 0 || void_share < 0;
            most = fmax(most, fmax(share, void_share));
        }
    close_training(&t);
    return ended && most <= 1 ? host_has_ended_it(p, "a release cannot be made again") : most > 1 + 1e-9;
}

static int same_rows(const struct trained *a, const struct trained *b)
{
    const struct side_factors *x = &a->model.sides[DPF_SIDE_ITEMS], *y = &b->model.sides[DPF_SIDE_ITEMS];
    assert_int_equal(x->rows, y->rows);
    return memcmp(x->data, y->data, (size_t)(x->rows * a->model.stride) * sizeof *x->data) == 0;
}

/* Another training with the same noise, with as many threads and with more, gives other rows; a few times, since who
   gets which task is chance. */
static int repeats_notice(const struct parts *p)
{
    static const char *const fixed[] = {"privacy.randomness=reproducible",
                                        "data.synthetic.items=600",
                                        "model.items=600",
                                        "data.synthetic.ratings=6000",
                                        "run.rounds=1",
                                        NULL};
    struct trained first, again;
    int differ = 0;
    must_open(&first, p, fixed, 1);
    assert_int_equal(train(&first, NULL), 0);
    for (int i = 0; i < 40 && !differ; i++) {
        must_open(&again, p, fixed, i == 0 ? 1 : 4);
        assert_int_equal(train(&again, NULL), 0);
        differ = !same_rows(&first, &again);
        close_training(&again);
    }
    close_training(&first);
    return differ;
}

static const struct {
    int bit;
    const char *name;
    int (*notices)(const struct parts *p);
} catchers[] = {{AUDIT, "audit", audit_notices},
                {STATISTICS, "statistics", statistics_notice},
                {NEIGHBOURS, "neighbours", neighbours_notice},
                {HOST, "host", host_notices},
                {REPEATS, "repeats", repeats_notice}};
#define N_PIPELINE_CATCHERS (sizeof catchers / sizeof catchers[0])

/* By the catchers that are named. */
TEST(sabotage_is_noticed)
{
    const char *all = getenv("SABOTAGE_ALL");
    for (size_t i = 0; i < N_SABOTEURS; i++) {
        const struct saboteur *s = &saboteurs[i];
        const struct parts parts = parts_of(s);
        if (all && strncmp(s->component, all, strlen(all)) != 0)
            continue;
        for (size_t c = 0; c < N_PIPELINE_CATCHERS; c++) {
            const int named = (s->by & catchers[c].bit) != 0;
            if (!named && (!all || catchers[c].bit == REPEATS || (s->by & HOST)))
                continue; /* what the host ends has nothing to be compared */
            const int notices = catchers[c].notices(&parts);
            if (all)
                print_message("%s: %s %s\n", s->component, catchers[c].name, notices ? "yes" : "no");
            else if (!notices)
                fail_msg("%s: %s does not notice", s->component, catchers[c].name);
        }
    }
}

/* The same configurations with the components as they are. */
TEST(sound_components_are_not_noticed)
{
    static const struct parts sound[] = {
        {.transform = "clip-user", .mechanism = "gaussian"},
        {.transform = "clip-user", .mechanism = "discrete-gaussian"},
        {.transform = "clip-user", .mechanism = "correlated-gaussian"},
        {.transform = "clip-user", .mechanism = "pbm"},
        {.transform = "clip-user", .mechanism = "gaussian", .aggregator = "sum"},
        {.transform = "clip-user", .mechanism = "gaussian", .sampler = "poisson-users"},
        {.transform = "clip-user", .mechanism = "gaussian", .loss = "squared-error"},
        {.transform = "clip-user", .mechanism = "gaussian", .solver = "ball"},
        {.recommender = "private-als"},
        {.recommender = "private-ratings"},
        {.recommender = "private-popularity"},
        {.recommender = "private-gram"},
    };
    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++)
        for (size_t c = 0; c < N_PIPELINE_CATCHERS; c++) {
            if (sound[i].recommender && (catchers[c].bit == HOST || catchers[c].bit == REPEATS))
                continue; /* engine_run trains factorizations */
            if (catchers[c].notices(&sound[i]))
                fail_msg("%s notices something with sound components:\n%s", catchers[c].name,
                         config_of(&sound[i]));
        }
}

/* By itself a component is held to its statement, whatever is proved of the pipeline around it. */
TEST(a_plugin_moves_no_further_than_it_states)
{
    static const char *const proofs[] = {"", "-o privacy.interaction-pattern=private"};
    for (size_t i = 0; i < 2; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
                 "audit --plugin half-stated --plugin-dir %s --trials 20 -j 1 -o "
                 "privacy.randomness=reproducible %s",
                 SABOTAGE_DIR, proofs[i]);
        if (command_run_it(arguments) != 5 || !strstr(command_out, "MORE THAN STATED") ||
            !strstr(command_out, "not proved") != !i)
            fail_msg("%s: %s%s", arguments, command_out, command_err);
    }
}

/* Components as they are raise no alarm, whatever the seed. */
TEST(sound_components_raise_no_alarm)
{
    static const char *const plugins[] = {"gaussian", "laplace",       "discrete-gaussian",
                                          "skellam",  "laplace-gamma", "pbm",
                                          "dplcf",    "ldpicf",        "private-gram"};
    for (int seed = 1; seed <= 20; seed++) {
        char arguments[256];
        snprintf(
            arguments, sizeof arguments,
            "audit --plugin %s --trials 20 -j 1 -o privacy.randomness=reproducible -o privacy.noise-seed=%d "
            "--seed %d",
            plugins[seed % (int)(sizeof plugins / sizeof *plugins)], seed, seed);
        if (command_run_it(arguments) != 0)
            fail_msg("%s: %s%s", arguments, command_out, command_err);
    }
}

FIXTURE(training_begin, training_end)
