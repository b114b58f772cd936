/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes: for any number of threads, for whoever holds the records, and for each seed. And
 * other bytes where randomness must differ.
 */
#include "kit/test.h"
#include "kit/training.h"

#include <locale.h>
#include <sys/wait.h>

static const char base[] =
    "[run]\nrounds = 3\nthreads = 2\n"
    "[data]\nformat = synthetic\nsynthetic.users = 150\nsynthetic.items = 70\n"
    "synthetic.ratings = 3000\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 5\noffset = midpoint\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nrandomness = reproducible\nnoise-seed = 1\n"
    "delta = 1e-5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\nsolver = gradient-descent\n"
    "[items.loss]\nobjective = half\n"
    "[items.solver]\nrate = 0.02\n";

#define RELEASED "items.mechanism=none\nitems.aggregator=sum\n"
#define NOISY                                                                                                \
    "items.transforms=clip-user\nitems.transform.clip-user.bound=2\nitems.mechanism=gaussian\n"              \
    "items.mechanism.calibration=noise-multiplier\nitems.mechanism.noise-multiplier=2\n"                     \
    "items.mechanism.where=sum\n"

static void assert_threads_agree(const char *changes)
{
    static const char *const threads[] = {"run.threads=2\n", "run.threads=3\n", "run.threads=7\n"};
    struct training one, many;
    char text[1024];
    snprintf(text, sizeof text, "%srun.threads=1\n", changes);
    training_run(&one, base, text);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s%s", changes, threads[i]);
        training_run(&many, base, text);
        assert_true(training_same(&one, &many));
        training_free(&many);
    }
    training_free(&one);
}

TEST(threads_do_not_matter)
{
    assert_threads_agree("items.loss=explicit-als\nitems.loss.lambda=0.1\nitems.solver=cholesky\n");
    assert_threads_agree(
        "users.solver=cg\nitems.loss=explicit-als\nitems.loss.lambda=0.1\nitems.solver=cg\n");
    assert_threads_agree(RELEASED);
    assert_threads_agree(RELEASED "parties.kind=silos-by-users\nparties.count=3\n");
    assert_threads_agree(NOISY);
    assert_threads_agree(NOISY "parties.kind=users\nitems.sampler=poisson-users\nitems.sampler.rate=0.3\n"
                               "items.mechanism.where=party\n");
}

static void assert_related(const char *a_changes, const char *b_changes, int same)
{
    struct training a, b;
    training_run(&a, base, a_changes);
    training_run(&b, base, b_changes);
    assert_int_equal(training_same(&a, &b), same);
    training_free(&a);
    training_free(&b);
}

TEST(seeds_have_their_own_domains)
{
    assert_related(NOISY, NOISY, 1);
    assert_related(NOISY, NOISY "privacy.noise-seed=2\n", 0);
    assert_related(NOISY "privacy.randomness=secure\n", NOISY "privacy.randomness=secure\n", 0);
    /* Without noise nothing depends on the noise seed: it reaches neither data nor initial rows. */
    assert_related(RELEASED, RELEASED "privacy.noise-seed=2\n", 1);
    assert_related(RELEASED, RELEASED "run.seed=2\n", 0);
}

/*
 * Gradients are 0 when both sides start at 0, so what is left is noise alone: run.seed must not reach it. The
 * ratings are in a file, since run.seed generates synthetic ones.
 */
TEST(run_seed_does_not_reach_noise)
{
    training_file("ratings.csv", "user,item,rating\n1,1,3\n1,2,3\n2,1,3\n2,2,3\n");
    static const char changes[] = NOISY "data.format=csv\nmodel.init-scale=0\nusers.update=no\n";
    char a_text[1024], b_text[1024];
    snprintf(a_text, sizeof a_text, "%sdata.path=%s/ratings.csv\nrun.seed=1\n", changes, training_directory);
    snprintf(b_text, sizeof b_text, "%sdata.path=%s/ratings.csv\nrun.seed=2\n", changes, training_directory);
    struct training a, b;
    training_run(&a, base, a_text);
    training_run(&b, base, b_text);
    assert_true(training_row(&a, DPF_SIDE_ITEMS, 0)[0] != 0.0f);
    assert_true(training_same_side(&a, &b, DPF_SIDE_ITEMS));
    training_free(&a);
    training_free(&b);
}

/* Integers add up to the same whoever holds the records, and whether messages go by rows or by users. */
TEST(holders_do_not_matter)
{
    assert_related(RELEASED, RELEASED "parties.kind=silos-by-users\nparties.count=4\n", 1);
    assert_related(RELEASED, RELEASED "parties.kind=silos-by-items\nparties.count=4\n", 1);
    assert_related(RELEASED, RELEASED "parties.kind=users\n", 1);
    /* A party sampler at rate 1 takes everybody, over the path of single users. */
    assert_related(RELEASED, RELEASED "items.sampler=poisson-users\nitems.sampler.rate=1\n", 1);
    /* Sizes that are declared larger than the data change nothing. */
    assert_related(RELEASED, RELEASED "model.users=1000\nmodel.items=500\n", 1);
    assert_related(RELEASED "parties.kind=users\n", RELEASED "parties.kind=users\nmodel.items=500\n", 1);
}

/* A user row of the users' side, too. */
TEST(holders_do_not_matter_for_users)
{
    static const char users[] =
        "users.loss=squared-error\nusers.solver=gradient-descent\nusers.solver.rate=0.02\n"
        "users.mechanism=none\nusers.aggregator=sum\n" RELEASED;
    char silos[1024], each[1024];
    snprintf(silos, sizeof silos, "%sparties.kind=silos-by-items\nparties.count=5\n", users);
    snprintf(each, sizeof each, "%sparties.kind=users\n", users);
    assert_related(users, silos, 1);
    assert_related(users, each, 1);
}

#define IMPLICIT                                                                                             \
    "data.feedback=implicit\ndata.threshold=1\nmodel.offset=none\n"                                          \
    "users.loss=implicit-als\nusers.solver=cholesky\nitems.loss=implicit-als\nitems.solver=cholesky\n"       \
    "users.loss.lambda=1\nitems.loss.lambda=1\n"

/* Quadratic queries with a Gram row: the Gram matrix of all users is a sum over parties as well. */
TEST(gram_rows_are_sums_too)
{
    assert_related(IMPLICIT RELEASED, IMPLICIT RELEASED "parties.kind=silos-by-users\nparties.count=4\n", 1);
    assert_related(IMPLICIT RELEASED, IMPLICIT RELEASED "parties.kind=silos-by-items\nparties.count=4\n", 1);
    struct training by_rows, by_users, declared, declared_rows, local;
    training_run(&by_rows, base, IMPLICIT RELEASED);
    training_run(&by_users, base, IMPLICIT RELEASED "parties.kind=users\n");
    training_run(&declared, base, IMPLICIT RELEASED "parties.kind=users\nmodel.items=500\n");
    training_run(&declared_rows, base, IMPLICIT RELEASED "model.items=500\n");
    training_run(&local, base, IMPLICIT);
    assert_true(training_distance(&by_rows, &by_users, DPF_SIDE_ITEMS) < 1e-5);
    /* The loss regularises by the declared number of users and items, whatever path the messages take. */
    assert_true(training_distance(&declared_rows, &declared, DPF_SIDE_ITEMS) < 1e-5);
    assert_true(training_distance(&by_rows, &declared, DPF_SIDE_ITEMS) > 1e-4);
    training_free(&declared_rows);
    assert_true(training_distance(&by_rows, &local, DPF_SIDE_ITEMS) < 1e-3);
    training_free(&by_rows);
    training_free(&by_users);
    training_free(&declared);
    training_free(&local);
}

/* Fixed point against float32: the same up to rounding. */
TEST(released_without_noise_is_local)
{
    struct training released, local;
    training_run(&released, base, RELEASED);
    training_run(&local, base, "");
    double distance = training_distance(&released, &local, DPF_SIDE_ITEMS);
    assert_true(distance < 1e-4);
    assert_true(fabs((double)training_row(&local, DPF_SIDE_ITEMS, 0)[0]) > 1e-3);
    training_free(&released);
    training_free(&local);
}

/* ---- locales ----------------------------------------------------------------------------------------- */

/* German, with decimal commas, compiled into the test's directory. */
static void need_german(void)
{
    char target[128];
    snprintf(target, sizeof target, "%s/de_DE.UTF-8", training_directory);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("localedef", "localedef", "-i", "de_DE", "-f", "UTF-8", target, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    setenv("LOCPATH", training_directory, 1);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("skipped: localedef made no de_DE locale here\n");
        skip();
    }
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

static char *ledger_of(const struct training *t)
{
    json_t *json = ledger_json(&t->plan.ledger);
    char *text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return text;
}

TEST(decimal_commas_change_nothing)
{
    struct training plain, german;
    training_file("ratings.csv", "user,item,rating\n1,1,3.5\n1,2,2.25\n2,1,1.5\n2,2,4.75\n");
    char text[1024];
    snprintf(text, sizeof text, NOISY "data.format=csv\ndata.path=%s/ratings.csv\naccountants.list=rdp\n",
             training_directory);
    training_run(&plain, base, text);
    char *ini = plan_resolved_ini(&plain.plan), *ledger = ledger_of(&plain);
    need_german();
    training_run(&german, base, text);
    char *german_ini = plan_resolved_ini(&german.plan), *german_ledger = ledger_of(&german);
    setlocale(LC_ALL, "C");
    assert_true(training_same(&plain, &german));
    assert_string_equal(ini, german_ini);
    assert_string_equal(ledger, german_ledger);
    assert_non_null(strstr(ini, "0.02"));
    free(ini);
    free(ledger);
    free(german_ini);
    free(german_ledger);
    training_free(&plain);
    training_free(&german);
}

FIXTURE(training_begin, training_end)
