/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components that are spoilt on purpose, and who notices: the conformance kit, the audit, statistics of the
 * noise by itself, and the neighbour test (how far each of several users moves releases). docs/sabotage.md
 * has the table. The same checks find nothing wrong with the components as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "training.h"

#include <math.h>

#include "audit/moves.h"
#include "audit/noise_check.h"
#include "spawned.h"
#include "plan/plan_make.h"

enum { KIT = 1, AUDIT = 2, STATISTICS = 4, NEIGHBOURS = 8 };

/* Users' own rows are local; items' rows are released under zero-out, where every user keeps the place. */
#define COMMON                                                                                               \
    "[run]\nrounds = 3\norder = users, items\n"                                                              \
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 12\nsynthetic.ratings = 400\n"      \
    "synthetic.rank = 2\nsynthetic.min-per-user = 3\n"                                                       \
    "[split]\nkind = none\n[model]\nusers = 60\nitems = 12\nrank = 2\n[parties]\nkind = users\n"             \
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 0.01\n"                      \
    "[accountants]\nlist = rdp\n"                                                                            \
    "[items.transform.%s]\nnorm = l2\nbound = 0.1\n[items]\ntransforms = %s\nmechanism = %s\n"
#define AT_SUM                                                                                               \
    "aggregator = sum\nloss = implicit-als\nsolver = ball\n"                                                 \
    "[items.loss]\nunobserved-weight = 0.1\nlambda = 0.1\n"                                                  \
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nunobserved-weight = 0.1\n"               \
    "[data]\nfeedback = implicit\n"                                                                          \
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\ngram-share = 0.2\n"            \
    "where = sum\n"
#define IN_SHARES                                                                                            \
    "aggregator = modular-sum\nloss = squared-error\nsolver = gradient-descent\n"                            \
    "[items.aggregator]\nsurvivors = 50\n[items.loss]\nclip-error = 4\n"                                     \
    "[users]\nloss = squared-error\nsolver = gradient-descent\n"                                             \
    "[data]\nfeedback = explicit\nvalue-min = 1\nvalue-max = 5\n"                                            \
    "[items.mechanism]\nnoise-multiplier = 2\nmin-honest = 40\n"

/* Every user sends a message with noise of its own; who rated what is public. */
#define BINOMIAL                                                                                             \
    "aggregator = sum\nloss = squared-error\nsolver = gradient-descent\n"                                    \
    "[items.loss]\nclip-error = 4\n[users]\nloss = squared-error\nsolver = gradient-descent\n"               \
    "[data]\nfeedback = explicit\nvalue-min = 1\nvalue-max = 5\n[privacy]\ninteraction-pattern = public\n"   \
    "[items.mechanism]\nclients = 40\nbound = 0.1\n"
/* Two groups of users take turns; the first is in two rounds of three. */
#define IN_TURNS                                                                                             \
    "aggregator = sum\nloss = squared-error\nsolver = gradient-descent\nsampler = cyclic-users\n"            \
    "[items.sampler]\ngroups = 2\n[items.loss]\nclip-error = 4\n"                                            \
    "[users]\nloss = squared-error\nsolver = gradient-descent\n"                                             \
    "[data]\nfeedback = explicit\nvalue-min = 1\nvalue-max = 5\n[items.mechanism]\nnoise-multiplier = 2\n"
/* Sums of a recommender, by a curator. */
#define SUMS                                                                                                 \
    "[run]\n[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 12\nsynthetic.ratings = "    \
    "400\nsynthetic.rank = 2\nsynthetic.min-per-user = 3\nvalue-min = 1\nvalue-max = 5\n"                    \
    "[split]\nkind = none\n[model]\nusers = 60\nitems = 12\n[parties]\nkind = curator\n"                     \
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 0.01\n"                      \
    "[accountants]\nlist = rdp\n[model]\nrecommender = %s\n"

static const struct sabotage {
    const char *transform, *mechanism, *file; /* file: of the plugin, NULL: nothing is spoilt. Without a
                                                 transform the second is a recommender */
    int by;                                   /* who notices */
} sabotages[] = {
    {"clip-user", "gaussian", NULL, 0},
    {"clip-user", "discrete-gaussian", NULL, 0},
    {"clip-user", "half-noise", "half_noise", KIT | AUDIT | STATISTICS},
    {"clip-user", "noise-again", "noise_again", KIT | AUDIT | STATISTICS},
    {"clip-user", "noise-by-pairs", "noise_by_pairs", KIT | AUDIT | STATISTICS},
    {"clip-user", "half-stated", "half_stated", KIT | AUDIT | NEIGHBOURS},
    {"clip-user", "short-shares", "short_shares", KIT | AUDIT | STATISTICS},
    {"clip-most", "gaussian", "clip_most", KIT | AUDIT | NEIGHBOURS},
    {"clip-user", "correlated-gaussian", NULL, 0},
    {"clip-user", "other-correlation", "other_correlation", KIT | AUDIT | STATISTICS},
    {"clip-user", "one-participation", "one_participation", KIT | AUDIT | NEIGHBOURS},
    {"clip-user", "pbm", NULL, 0},
    {"clip-user", "pbm-sparse", "pbm_sparse", AUDIT | STATISTICS},
    {NULL, "private-als", NULL, 0},
    {NULL, "private-ratings", NULL, 0},
    {NULL, "private-gram", NULL, 0},
    {NULL, "sums-half-noise", "sums_half_noise", KIT | AUDIT | STATISTICS},
    {NULL, "sums-noise-again", "sums_noise_again", KIT | AUDIT | STATISTICS},
    {NULL, "sums-noise-alike", "sums_noise_alike", KIT | AUDIT | STATISTICS},
    {NULL, "sums-unclipped", "sums_unclipped", KIT | AUDIT | NEIGHBOURS},
    {NULL, "sums-half-stated", "sums_half_stated", KIT | AUDIT | NEIGHBOURS},
};
#define N_SABOTAGES (sizeof sabotages / sizeof sabotages[0])

static int is_shares(const struct sabotage *s)
{
    return strcmp(s->mechanism, "discrete-gaussian") == 0 || strcmp(s->mechanism, "short-shares") == 0;
}

static int is_correlated(const struct sabotage *s)
{
    return strcmp(s->mechanism, "correlated-gaussian") == 0 ||
           strcmp(s->mechanism, "other-correlation") == 0 || strcmp(s->mechanism, "one-participation") == 0;
}

static int is_binomial(const struct sabotage *s)
{
    return strncmp(s->mechanism, "pbm", 3) == 0;
}

static const char *name_of(const struct sabotage *s)
{
    return s->transform ? s->transform : "recommender";
}

static const char *config_of(const struct sabotage *s)
{
    static char text[8192];
    char head[4096];
    if (!s->transform) {
        snprintf(text, sizeof text, SUMS "%s", s->mechanism,
                 strcmp(s->mechanism, "private-gram") == 0 ? "[data]\nfeedback = implicit\n" : "");
        return text;
    }
    snprintf(head, sizeof head, COMMON, s->transform, s->transform, s->mechanism);
    snprintf(text, sizeof text, "%s%s", head,
             is_shares(s)       ? IN_SHARES
             : is_binomial(s)   ? BINOMIAL
             : is_correlated(s) ? IN_TURNS
                                : AT_SUM);
    return text;
}

/* ---- the four ------------------------------------------------------------------------------------------ */

/* Parameters that the kit's instance needs, as where the plugin is checked. */
static const char *settings_of(const struct sabotage *s)
{
    const int is_mechanism = s->transform && strcmp(s->transform, "clip-user") == 0;
    return !is_mechanism || is_shares(s) || is_correlated(s) ? ""
           : is_binomial(s)                                  ? "--set trials=512"
                                                             : "--set delta=1e-6 --set where=sum";
}

static int kit_notices(const struct sabotage *s)
{
    char command[2048];
    snprintf(command, sizeof command, "'%s' '%s/%s.so' --component %s %s > /dev/null 2>&1", CHECK_COMMAND,
             s->file ? SABOTAGE_DIR : training_plugins("plugins"), s->file ? s->file : s->mechanism,
             s->transform && strcmp(s->transform, "clip-user") != 0 ? s->transform : s->mechanism,
             settings_of(s));
    const int status = system(command);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

static int audit_notices(const struct sabotage *s)
{
    training_file("config.ini", config_of(s));
    const int code =
        command_run_it("audit -c config.ini --trials 20 --candidates 12 -j 1 --plugin-dir " SABOTAGE_DIR);
    if (code != 0 && code != 5)
        fail_msg("%s, %s: %s", name_of(s), s->mechanism, command_err);
    return code == 5;
}

struct trained {
    struct plan plan;
    struct dataset dataset;
    struct pool *pool;
};

static void open_training(struct trained *t, const struct sabotage *s)
{
    struct dpf_error error = {0};
    const char *directories[] = {training_plugins("plugins"), SABOTAGE_DIR};
    const struct plan_options options = {.config_path = training_file("config.ini", config_of(s)),
                                         .plugin_directories = directories,
                                         .n_plugin_directories = 2};
    t->pool = pool_new(1);
    if (plan_open(&options, &t->plan, &error) != 0 ||
        data_load(t->plan.config, &t->plan.data, &t->plan.split, t->plan.seeded, t->pool, &t->dataset,
                  &error) != 0 ||
        plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &error) != 0)
        fail_msg("%s, %s: %s", name_of(s), s->mechanism, error.text);
}

static void close_training(struct trained *t)
{
    dataset_free(&t->dataset);
    plan_free(&t->plan);
    pool_free(t->pool);
}

/* Variance and correlations of the noise of whole trainings. */
static int statistics_notice(const struct sabotage *s)
{
    struct trained t;
    struct noise_check check;
    struct dpf_error error = {0};
    open_training(&t, s);
    assert_int_equal(noise_check_run(&t.plan, &t.dataset, t.pool, &check, &error), 0);
    assert_true(check.n >= 3);
    const int failed = check.failed;
    noise_check_free(&check);
    close_training(&t);
    return failed > 0;
}

/* The first users, one in the middle and the last. */
static int neighbours_notice(const struct sabotage *s)
{
    static const int32_t users[] = {0, 1, 2, 3, 30, 59};
    struct trained t;
    struct dpf_error error = {0};
    double most = 0;
    open_training(&t, s);
    const struct neighbours kind = {.unit = DPF_UNIT_USER,
                                    .adjacency = DPF_ADJ_ZERO_OUT,
                                    .value_lo = 1,
                                    .value_hi = s->transform ? 1 : 5};
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        struct trials trials = {.plan = &t.plan, .canary = {users[i], -1}};
        struct move move;
        for (unsigned char set = 0; set < 2; set++)
            assert_int_equal(
                neighbours_make(&t.dataset, &kind, &trials.canary, &set, 1, &trials.sets[set], &error), 0);
        assert_int_equal(trials_prepare(&trials, OBSERVE_SUMS, &error), 0);
        assert_int_equal(moves_find(&trials, t.pool, (int64_t)i, &move, &error), 0);
        most = fmax(most, move.share);
        trials_free(&trials);
    }
    if (most < 0.3 &&
        !is_binomial(s)) /* users meet the bound; how far a binomial sum moves is not measured */
        fail_msg("%s, %s: the largest move is %g", name_of(s), s->mechanism, most);
    close_training(&t);
    return most > 1 + 1e-9;
}

static void sabotage_is_noticed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SABOTAGES; i++) {
        const struct sabotage *s = &sabotages[i];
        const int by = (kit_notices(s) ? KIT : 0) | (audit_notices(s) ? AUDIT : 0) |
                       (statistics_notice(s) ? STATISTICS : 0) | (neighbours_notice(s) ? NEIGHBOURS : 0);
        if (by != s->by)
            fail_msg("%s, %s: noticed by %d, not by %d (1 kit, 2 audit, 4 statistics, 8 neighbours)",
                     name_of(s), s->mechanism, by, s->by);
    }
}

/* Components as they are raise no alarm, whatever the seed. */
static void sound_components_raise_no_alarm(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sabotage_is_noticed),
                                       cmocka_unit_test(sound_components_raise_no_alarm)};
    return cmocka_run_group_tests(tests, training_begin, training_end);
}
