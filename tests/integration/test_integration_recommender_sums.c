/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a recommender through an aggregator: the same model by secure aggregation as by a plain modular sum,
 * what is proved against the server, and no model where a sum would lack noise.
 */
#include "kit/test.h"
#include "engine/engine.h"
#include "kit/training.h"
#include "plan/plan_make.h"

#define USERS 60

static const char base[] =
    "[run]\nthreads = 2\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 60\nsynthetic.items = 30\n"
    "synthetic.ratings = 600\n"
    "[split]\nkind = none\n"
    "[model]\nrecommender = private-gram\naggregator = secagg\n"
    "[parties]\nkind = users\n"
    "[privacy]\nmin-honest = 50\nunit = user\nadjacency = zero-out\nobserver = server\nrandomness = "
    "reproducible\n"
    "noise-seed = 3\ndelta = 1e-5\n"
    "[accountants]\nlist = rdp\n";

#define RATINGS                                                                                              \
    "data.feedback=explicit\ndata.value-min=1\ndata.value-max=5\nmodel.recommender=private-ratings\n"        \
    "model.recommender.rounds=1\nmodel.recommender.rank=1\n"

/* ---- training ------------------------------------------------------------------------------------------ */

struct fitted {
    struct plan plan;
    struct dataset dataset;
    struct model model;
    struct engine_stats stats;
    struct dpf_error error;
    int status;
};

static void fit_try(struct fitted *f, const char *changes)
{
    memset(f, 0, sizeof *f);
    f->status = training_plan(&f->plan, base, changes, &f->error);
    struct pool *pool = pool_new(f->status == 0 ? (int)f->plan.run.params.values[RUN_THREADS].integer : 1);
    assert_non_null(pool);
    if (f->status == 0)
        f->status = data_load(&f->plan.data, &f->plan.split, f->plan.seeded, pool, &f->dataset, &f->error);
    if (f->status == 0)
        f->status = plan_complete(&f->plan, f->dataset.users.n, f->dataset.items.n, &f->error);
    if (f->status == 0)
        f->status = model_init(&f->model, &f->plan, &f->dataset, &f->error);
    if (f->status == 0)
        f->status = engine_run(&f->plan, &f->dataset, pool, &f->model, NULL, &f->stats, &f->error);
    pool_free(pool);
}

static void fit(struct fitted *f, const char *changes, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s", changes, more);
    fit_try(f, text);
    if (f->status != 0)
        fail_msg("%s", f->error.text);
}

static void fit_free(struct fitted *f)
{
    model_free(&f->model);
    dataset_free(&f->dataset);
    plan_free(&f->plan);
}

static int same_state(const struct fitted *a, const struct fitted *b)
{
    return a->model.state_bytes == b->model.state_bytes &&
           memcmp(a->model.state, b->model.state, (size_t)a->model.state_bytes) == 0;
}

/* n sums over all users. */
static void assert_same_as_plain(const char *changes, int64_t n)
{
    struct fitted plain, secure, threads;
    fit(&plain, changes, "model.aggregator=modular-sum\n");
    fit(&secure, changes,
        "model.aggregator.graph=regular\nmodel.aggregator.neighbours=8\n"
        "model.aggregator.threshold=5\n");
    fit(&threads, changes, "run.threads=5\n");
    assert_true(same_state(&plain, &secure));
    assert_true(same_state(&plain, &threads));
    assert_int_equal(plain.stats.messages, n * USERS);
    assert_int_equal(secure.stats.messages, n * USERS);
    assert_true(secure.stats.bytes_up > plain.stats.bytes_up);
    assert_true(plain.stats.bytes_up > 0);
    fit_free(&plain);
    fit_free(&secure);
    fit_free(&threads);
}

TEST(same_as_a_plain_sum)
{
    assert_same_as_plain("model.recommender.form=gram\n", 2);
    assert_same_as_plain("model.recommender.form=projected\n", 2);
    assert_same_as_plain("model.recommender=private-popularity\n", 1);
    assert_same_as_plain(RATINGS, 6);
}

/* Shares of more users are more noise; those that are lost take theirs along. */
TEST(losses_change_the_sum)
{
    struct fitted all, fewer;
    fit(&all, "", "");
    fit(&fewer, "model.aggregator.losses=0, 0, 0.04, 0\n", "");
    assert_false(same_state(&all, &fewer));
    assert_true(fewer.stats.messages < 2 * USERS);
    assert_true(fewer.stats.messages >= 2 * 50);
    fit_free(&all);
    fit_free(&fewer);
}

TEST(closed_where_noise_lacks)
{
    static const char *const changes[] = {
        "model.aggregator.losses=0, 0, 0.3, 0\n", "model.aggregator.losses=0.3, 0, 0, 0\n",
        "model.users=70\nprivacy.min-honest=65\nmodel.aggregator=modular-sum\n"};
    for (int k = 0; k < 3; k++) {
        struct fitted f;
        fit_try(&f, changes[k]);
        assert_int_equal(f.status, -1);
        /* Users that are lost are seen in the run; too few users, in the plan. */
        if (f.error.fault != (k < 2 ? DPF_FAULT_RUN : DPF_FAULT_CONFIG))
            fail_msg("%s: %s", changes[k], f.error.text);
        fit_free(&f);
    }
}

/* An aggregator that opens what it should not. */
static dpf_status opens_anything(void *self, const dpf_call *call, dpf_aggregation *into)
{
    (void)self, (void)call;
    into->survivors = 49;
    return DPF_OK;
}

TEST(an_aggregator_is_not_believed)
{
    struct fitted f;
    memset(&f, 0, sizeof f);
    assert_int_equal(training_plan(&f.plan, base, "model.aggregator=modular-sum", &f.error), 0);
    dpf_aggregator functions = *(const dpf_aggregator *)f.plan.recommender.aggregator->functions;
    functions.finish = opens_anything;
    f.plan.recommender.aggregator->functions = &functions;
    struct pool *pool = pool_new(1);
    if (data_load(&f.plan.data, &f.plan.split, f.plan.seeded, pool, &f.dataset, &f.error) != 0 ||
        plan_complete(&f.plan, f.dataset.users.n, f.dataset.items.n, &f.error) != 0 ||
        model_init(&f.model, &f.plan, &f.dataset, &f.error) != 0)
        fail_msg("%s", f.error.text);
    assert_int_equal(engine_run(&f.plan, &f.dataset, pool, &f.model, NULL, &f.stats, &f.error), -1);
    assert_non_null(strstr(f.error.text, "a sum has 49 messages"));
    pool_free(pool);
    fit_free(&f);
}

/* ---- the statement --------------------------------------------------------------------------------------- */

static void plan_of(struct plan *plan, const char *changes)
{
    struct dpf_error error = {0};
    if (training_plan(plan, base, changes, &error) != 0 || plan_complete(plan, USERS, 30, &error) != 0)
        fail_msg("%s", error.text);
}

static const struct condition *condition_of(const struct plan *plan, const char *id)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (strcmp(plan->guarantee.conditions[i].id, id) == 0)
            return &plan->guarantee.conditions[i];
    fail_msg("there is no condition %s", id);
    return NULL;
}

static void assert_fails(const char *changes, const char *id, const char *why)
{
    struct plan plan;
    plan_of(&plan, changes);
    assert_false(plan.guarantee.plan_holds);
    assert_false(condition_of(&plan, id)->holds);
    if (!strstr(condition_of(&plan, id)->why, why))
        fail_msg("\"%s\" is not in: %s", why, condition_of(&plan, id)->why);
    plan_free(&plan);
}

static double epsilon_of(const char *changes)
{
    struct plan plan;
    plan_of(&plan, changes);
    const double epsilon = plan.guarantee.accounts[0].answer.epsilon;
    if (!plan.guarantee.plan_holds)
        fail_msg("%s: a condition fails", changes);
    plan_free(&plan);
    return epsilon;
}

TEST(the_server_learns_sums)
{
    const double trusted = epsilon_of("model.aggregator=\nprivacy.observer=outsider\nparties.kind=curator");
    assert_true(fabs(epsilon_of("") - trusted) < 1e-3 * trusted);
    assert_true(fabs(epsilon_of("model.aggregator=modular-sum") - trusted) < 1e-3 * trusted);
    assert_true(
        fabs(epsilon_of("privacy.observer=parties\nprivacy.max-curious=3\nmodel.aggregator.corrupt=0.05") -
             trusted) < 1e-3 * trusted);
    epsilon_of(RATINGS);
    assert_fails("model.aggregator=", "C5", "noise is added after the sum");
    assert_fails("model.aggregator=sum", "C5", "the server sees each message");
    assert_fails("privacy.adjacency=add-remove\nmodel.users=60", "C8", "promises to hide");
    assert_fails("privacy.observer=parties\nmodel.aggregator.corrupt=0", "C5", "a party knows its own share");
}

/* 2 (n L + 64 s sqrt(n)): the least power of two above it is the modulus. */
TEST(no_sum_wraps)
{
    struct plan plan;
    plan_of(&plan, "model.recommender.form=gram");
    assert_int_equal(plan.recommender.n_releases, 2);
    assert_int_equal(plan.recommender.least_survivors, 50);
    for (int r = 0; r < 2; r++) {
        const dpf_recommender_release *release = &plan.recommender.releases[r];
        const double most =
            USERS * (double)release->largest + 64 * (double)release->share_steps * sqrt(USERS);
        const double modulus = (double)plan.recommender.modulus[r];
        assert_true(modulus > 2 * most);
        assert_true(modulus / 2 <= 2 * most);
        assert_true(release->largest >= 1 << 20);
    }
    plan_free(&plan);
}

static dpf_status (*real_releases)(void *, const dpf_recommender_setup *, dpf_recommender_release *, int32_t,
                                   int32_t *);

static dpf_status large_releases(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                                 int32_t capacity, int32_t *n)
{
    const dpf_status status = real_releases(self, setup, out, capacity, n);
    out[1].largest = INT64_C(1) << 58;
    return status;
}

TEST(a_sum_that_may_wrap_proves_nothing)
{
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, base, "", &error), 0);
    dpf_recommender functions = *plan.recommender.functions;
    real_releases = functions.releases;
    functions.releases = large_releases;
    plan.recommender.functions = &functions;
    assert_int_equal(plan_complete(&plan, USERS, 30, &error), 0);
    assert_false(condition_of(&plan, "C12")->holds);
    assert_false(plan.guarantee.plan_holds);
    plan_free(&plan);
}

TEST(refused_with_a_remedy)
{
    static const char factorization[] =
        "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 30\nsynthetic.ratings = 600\n"
        "[model]\nrank = 2\naggregator = secagg\n"
        "[users]\nloss = implicit-als\nsolver = cholesky\n[items]\nloss = implicit-als\nsolver = cholesky\n";
    training_refused(base, "parties.kind=curator", DPF_FAULT_CONFIG, "set [parties] kind = users");
    training_refused(base, "privacy.min-honest=61", DPF_FAULT_CONFIG, "are 60, so no sum");
    training_refused(base, "privacy.min-honest=58\nprivacy.max-curious=3", DPF_FAULT_CONFIG,
                     "are 60, so no sum");
    training_refused(base, "privacy.min-honest=0\nprivacy.max-curious=60", DPF_FAULT_CONFIG,
                     "are 60, so no sum");
    training_refused(base, "model.aggregator.survivors=40", DPF_FAULT_CONFIG, "raise survivors");
    training_refused(base, "model.aggregator.scale=mean", DPF_FAULT_CONFIG, "scale = sum");
    training_refused(base, "privacy.observer=parties\nprivacy.max-curious=1", DPF_FAULT_CONFIG,
                     "raise [privacy] max-curious");
    training_refused(base, "model.recommender=dplcf\nprivacy.unit=record\nprivacy.adjacency=flip",
                     DPF_FAULT_CONFIG, "with noise in shares");
    training_refused(factorization, "", DPF_FAULT_CONFIG, "in [users] or [items]");
    training_refused(factorization, "model.aggregator=\nmodel.home-terms=yes", DPF_FAULT_CONFIG,
                     "this model has no home terms");
    training_refused(base, "model.home-terms=yes", DPF_FAULT_CONFIG, "name their file, data.item-features");
}

FIXTURE(training_begin, training_end)
