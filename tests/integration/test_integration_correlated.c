/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise that is correlated between rounds, through the whole pipeline: what is proved with which sampler,
 * what is refused, the noise that leaves the engine, and how far a run moves when the first, a middle or the
 * last user leaves.
 */
/* Before cmocka, which has a macro "fail". */
#include "dpframe/additive.h"
#include "kit/test.h"

#include "audit/noise_check.h"
#include "kit/moved_releases.h"

#define ROUNDS 12

#define BASE                                                                                                 \
    "[run]\nrounds = 12\nthreads = 1\norder = users, items\n"                                                \
    "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\nsynthetic.users = 60\nsynthetic.items = 20\n" \
    "synthetic.ratings = 600\n[split]\nkind = none\n[model]\nrank = 3\nusers = 60\nitems = 20\n"             \
    "[parties]\nkind = users\n[users]\nloss = squared-error\nsolver = damped-gradient-descent\n"             \
    "[users.solver]\nrate = 0.2\n[items]\nloss = squared-error\n"                                            \
    "transforms = clip-user\nmechanism = correlated-gaussian\naggregator = sum\nsolver = gradient-descent\n" \
    "[items.loss]\nobjective = half\nclip-error = 2\n"                                                       \
    "[items.transform.clip-user]\nnorm = l2\nbound = 1\n[items.mechanism]\nnoise-multiplier = 2\n"           \
    "[items.solver]\nrate = 0.01\n[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\n"     \
    "delta = 1e-5\nrandomness = reproducible\nnoise-seed = 3\n[accountants]\nlist = pld, rdp, zcdp, pure\n"

#define CYCLIC "items.sampler=cyclic-users\nitems.sampler.groups=4\n"

static int holds(const struct plan *plan, const char *id)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (strcmp(plan->guarantee.conditions[i].id, id) == 0)
            return plan->guarantee.conditions[i].holds;
    fail_msg("no condition %s", id);
    return 0;
}

static void plan_of(struct training *t, const char *changes)
{
    memset(t, 0, sizeof *t);
    t->status = training_plan(&t->plan, BASE, changes, &t->error);
    if (t->status == 0)
        t->status = plan_complete(&t->plan, 60, 20, &t->error);
}

/* The answer of an accountant; NaN if it refuses. */
static double epsilon_by(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].refused ? (double)NAN
                                                       : plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("no accountant %s", accountant);
    return NAN;
}

static const dpf_event *only_event(const struct plan *plan)
{
    assert_int_equal(plan->ledger.n, 1);
    return &plan->ledger.entries[0].event;
}

/* One event of all rounds, whatever their number; what does not know it refuses it. */
TEST(a_run_is_one_event)
{
    struct training t;
    plan_of(&t, CYCLIC);
    assert_int_equal(t.status, 0);
    const dpf_event *event = only_event(&t.plan);
    assert_int_equal(event->kind, DPF_EVENT_CORRELATED_GAUSSIAN);
    assert_true(event->count == 1);
    assert_true(event->p.correlated.rounds == ROUNDS);
    assert_true(event->p.correlated.separation == 4);
    assert_true(event->p.correlated.participations == 3);
    assert_true(event->p.correlated.attained == 1);
    assert_true(t.plan.guarantee.plan_holds);
    /* Noise of multiplier 2 over the whole run, by pld little above the exact value of mu = 1/2. */
    const double pld = epsilon_by(&t.plan, "pld");
    assert_true(pld > 1.99);
    assert_true(pld < 1.996);
    assert_true(epsilon_by(&t.plan, "rdp") > pld);
    assert_true(epsilon_by(&t.plan, "zcdp") > pld);
    assert_true(isnan(epsilon_by(&t.plan, "pure")));
    training_free(&t);
}

TEST(separation_is_enforced_or_nothing_is_proved)
{
    static const struct {
        const char *changes;
        double separation, participations;
        int proved;
    } cases[] = {
        {CYCLIC, 4, 3, 1},
        {CYCLIC "items.mechanism.separation=2", 2, 3, 1}, /* less than is enforced */
        {CYCLIC "items.mechanism.separation=6", 6, 2, 0},
        {"", 1, 12, 1},
        {"items.mechanism.separation=4", 4, 3, 0},
        {"items.sampler=poisson-users\nitems.sampler.rate=0.25", 1, 12, 1},
        {"items.sampler=poisson-users\nitems.max-participations=2", 1, 2, 1},
        {CYCLIC "items.max-participations=1", 4, 1, 1},
        {CYCLIC "items.mechanism.bands=12", 4, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training t;
        plan_of(&t, cases[i].changes);
        if (t.status != 0)
            fail_msg("%s", t.error.text);
        const dpf_event *event = only_event(&t.plan);
        assert_true(event->p.correlated.separation == cases[i].separation);
        assert_true(event->p.correlated.participations == cases[i].participations);
        assert_int_equal(t.plan.guarantee.plan_holds, cases[i].proved);
        assert_int_equal(holds(&t.plan, "C6"), cases[i].proved);
        const double pld =
            epsilon_by(&t.plan, "pld"); /* a multiplier is of the run, however users take part */
        assert_true(pld > 1.99);
        assert_true(pld < 1.996);
        training_free(&t);
    }
}

/* With one band the noise is independent, and costs what mechanism gaussian does with the same sampler. */
TEST(one_band_is_independent_noise)
{
    struct training one, independent;
    plan_of(&one, CYCLIC "items.mechanism.bands=1");
    plan_of(&independent, CYCLIC "items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"
                                 "items.mechanism.where=sum\nitems.mechanism.noise-multiplier=2");
    assert_true(one.status == 0);
    assert_true(independent.status == 0);
    assert_int_equal(only_event(&independent.plan)->count, 3);
    /* Both have multiplier 2: over the run, and in each of three releases. */
    const double ratio = only_event(&one.plan)->scale / only_event(&independent.plan)->scale;
    assert_true(fabs(ratio / sqrt(3) - 1) < 1e-3);
    training_free(&one);
    training_free(&independent);
    plan_of(&independent,
            CYCLIC "items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"
                   "items.mechanism.where=sum\nitems.mechanism.noise-multiplier=3.4641016151377544");
    assert_true(fabs(epsilon_by(&independent.plan, "pld") - 1.9931) < 0.003);
    training_free(&independent);
}

TEST(a_total_budget_is_met)
{
    struct training t;
    plan_of(&t, CYCLIC "privacy.budget=total\nprivacy.total-epsilon=3\nprivacy.calibrate-by=pld");
    assert_int_equal(t.status, 0);
    const double pld = epsilon_by(&t.plan, "pld");
    assert_true(pld <= 3);
    assert_true(pld > 2.999);
    training_free(&t);
}

TEST(what_does_not_fit_proves_nothing_or_is_refused)
{
    static const char *const refused[] = {
        "run.rounds=2000000",
        "items.transforms=\nitems.solve-at=party\nparties.kind=curator",
    };
    struct training t;
    plan_of(&t,
            CYCLIC "privacy.observer=server"); /* noise at the sum, by whoever is to be kept from learning */
    assert_int_equal(t.status, 0);
    assert_true(!t.plan.guarantee.plan_holds);
    assert_true(!holds(&t.plan, "C5"));
    training_free(&t);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        plan_of(&t, refused[i]);
        if (t.status == 0)
            fail_msg("accepted: %s", refused[i]);
        assert_true(strlen(t.error.text) > 30);
        training_free(&t);
    }
}

/* What leaves the engine: C times the estimates' errors has the declared variance, and no correlation is
 * left. */
TEST(the_engines_noise_is_as_stated)
{
    struct noise_check found;
    struct training t;
    struct pool *pool = pool_new(1);
    training_run(&t, BASE, CYCLIC);
    if (noise_check_run(&t.plan, &t.dataset, pool, &found, &t.error) != 0)
        fail_msg("%s", t.error.text);
    assert_true(found.n == NOISE_USERS); /* all aspects of one block but this: sums have no users */
    assert_true(found.failed == 0);
    noise_check_free(&found);
    training_free(&t);
    pool_free(pool);
}

/* Rows and rounds are the same with one thread and with several. */
TEST(workers_do_not_matter)
{
    struct training one, many;
    training_run(&one, BASE, CYCLIC);
    training_run(&many, BASE, CYCLIC "run.threads=3");
    for (int64_t r = 0; r < 20; r++)
        assert_memory_equal(training_row(&one, DPF_SIDE_ITEMS, r), training_row(&many, DPF_SIDE_ITEMS, r),
                            3 * sizeof(float));
    training_free(&one);
    training_free(&many);
}

TEST(a_sampler_that_breaks_its_word_proves_nothing)
{
    struct training t;
    training_run(&t, BASE, CYCLIC);
    assert_string_equal(t.plan.ledger.deviation, "");
    training_free(&t);
    training_run(&t, BASE, "items.sampler=test-hasty");
    assert_true(t.plan.guarantee.plan_holds);
    assert_non_null(strstr(t.plan.ledger.deviation, "took part twice in 3 rounds"));
    training_free(&t);
}

/* ---- neighbours ----------------------------------------------------------------------------------- */

static void pipeline_of(struct pipeline *p, const char *adjacency, int code, const char *more)
{
    memset(p, 0, sizeof *p);
    p->unit = DPF_UNIT_USER;
    p->adjacency = code;
    snprintf(p->text, sizeof p->text,
             "[run]\nrounds = 7\nthreads = 1\norder = users, items\n"
             "[data]\nformat = csv\npath = %s/ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
             "[split]\nkind = files\ntest.path = %s/test.csv\n"
             "[model]\nrank = 2\nusers = 9\nitems = 7\n[parties]\nkind = curator\n"
             "[users]\nloss = squared-error\nsolver = damped-gradient-descent\n[users.solver]\nrate = 0.2\n"
             "[items]\nloss = squared-error\nsampler = cyclic-users\ntransforms = clip-user\n"
             "mechanism = correlated-gaussian\naggregator = sum\nsolver = gradient-descent\n"
             "[items.sampler]\ngroups = 3\n[items.transform.clip-user]\nnorm = l2\nbound = 0.5\n"
             "[items.loss]\nclip-error = 20\n"
             "[items.mechanism]\nnoise-multiplier = 2\n[items.solver]\nrate = 0.01\n"
             "[privacy]\nunit = user\nadjacency = %s\nobserver = outsider\ndelta = 1e-5\n"
             "randomness = reproducible\nnoise-seed = 3\n[accountants]\nlist = pld\n%s",
             training_directory, training_directory, adjacency, more);
}

/* The first, a middle and the last user, in every group of users that seeds make. */
TEST(a_run_moves_no_further_than_its_event_states)
{
    static const char *const more[] = {"", "[items.mechanism]\nbands = 7\n"};
    static const int adjacencies[] = {DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT, DPF_ADJ_REPLACE};
    static const int who[] = {0, 2, USERS - 1};
    double most = 0;
    int compared = 0;
    stranger = -1;
    for (int i = 0; i < 36; i++) {
        const int adjacency = adjacencies[i % 3], user = who[i / 3 % 3];
        int ratings[2][USERS][ITEMS];
        char seeded[256];
        struct pipeline p;
        snprintf(seeded, sizeof seeded, "%s[run]\nseed = %d\n", more[i / 9 % 2], i);
        pipeline_of(&p, dpf_adjacency_name(adjacency), adjacency, seeded);
        for (int u = 0; u < USERS; u++)
            for (int k = 0; k < ITEMS; k++)
                ratings[0][u][k] = ratings[1][u][k] = 1 + (u * 3 + k * 5 + i) % 5;
        for (int k = 0; k < ITEMS; k++)
            ratings[1][user][k] = adjacency == DPF_ADJ_REPLACE ? 6 - ratings[0][user][k] : 0;
        use_catalogue(&p, 0);
        const int leaves = adjacency != DPF_ADJ_REPLACE;
        const enum outcome outcome = measure_pair(&p, ratings, leaves ? user : -1, -1, 3, &most);
        if (outcome != COMPARED)
            fail_msg("not compared: %d, %s", (int)outcome, worlds[0].training.error.text);
        compared += outcome == COMPARED;
        forget_pair();
    }
    assert_int_equal(compared, 36);
    assert_true(most > 0.9);
    assert_true(most <= 1); /* clipped messages of like direction use most of what is stated */
}

FIXTURE(worlds_begin, worlds_end)
