/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of noise, by running: two runs under secure randomness share no released number, runs with one noise
 * seed share all and with two seeds none, for every mechanism; and a process that forks with a run in its
 * hands cannot draw that run's noise twice.
 *
 * Factors start at 0 and users stay there, so gradients are 0 and what is released is noise alone.
 */
#include "kit/test.h"
#include "kit/training.h"

#include <signal.h>
#include <sys/wait.h>

#define ITEMS 25
#define RANK 4
#define NUMBERS (ITEMS * RANK)

static const char base[] =
    "[run]\nrounds = 2\nthreads = 2\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 25\nsynthetic.ratings = 500\n"
    "value-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 4\noffset = midpoint\ninit-scale = 0\nusers = 40\nitems = 25\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = replace\nobserver = outsider\ndelta = 1e-5\n"
    "randomness = reproducible\nnoise-seed = 1\n"
    "[users]\nloss = squared-error\nsolver = gradient-descent\nupdate = no\n"
    "[items]\nloss = squared-error\nsolver = gradient-descent\ntransforms = clip-user\naggregator = sum\n"
    "[items.loss]\nobjective = half\n"
    "[items.transform.clip-user]\nbound = 2\n"
    "[items.solver]\nrate = 0.02\n";

#define L1 "items.transform.clip-user.norm=l1\n"
#define MULTIPLIER "items.mechanism.calibration=noise-multiplier\nitems.mechanism.noise-multiplier=2\n"
#define SHARED "items.aggregator=modular-sum\nprivacy.min-honest=20\n"

static const struct noise {
    const char *name, *changes;
    int chance; /* how many numbers of two runs may be equal by chance: probability below 1e-6 */
} noises[] = {
    {"gaussian at the sum", "items.mechanism=gaussian\n" MULTIPLIER "items.mechanism.where=sum\n", 1},
    {"gaussian at parties", "items.mechanism=gaussian\n" MULTIPLIER "items.mechanism.where=party\n", 1},
    {"laplace at the sum", L1 "items.mechanism=laplace\nitems.mechanism.where=sum\n", 1},
    {"laplace at parties", L1 "items.mechanism=laplace\nitems.mechanism.where=party\n", 1},
    {"correlated gaussian", "items.mechanism=correlated-gaussian\n", 1},
    {"discrete gaussian shares", SHARED "items.mechanism=discrete-gaussian\n", 2},
    {"Skellam shares", SHARED "items.mechanism=skellam\n", 2},
    {"gamma shares", SHARED L1 "items.mechanism=laplace-gamma\n", 2},
    {"binomial counts",
     "items.aggregator=modular-sum\nitems.mechanism=pbm\nitems.mechanism.trials=256\n"
     "privacy.min-honest=40\nitems.mechanism.bound=2\n",
     12},
};
#define N_NOISES (sizeof noises / sizeof *noises)

static void train(const struct noise *noise, const char *key, float *out)
{
    struct training t;
    char text[1024];
    snprintf(text, sizeof text, "%s%s", noise->changes, key);
    training_run(&t, base, text);
    assert_int_equal(t.model.sides[DPF_SIDE_ITEMS].rows, ITEMS);
    for (int64_t i = 0; i < ITEMS; i++)
        memcpy(out + i * RANK, training_row(&t, DPF_SIDE_ITEMS, i), RANK * sizeof *out);
    training_free(&t);
}

static int equal_numbers(const float *a, const float *b)
{
    int equal = 0;
    for (int i = 0; i < NUMBERS; i++)
        equal += a[i] == b[i];
    return equal;
}

static void assert_apart(const struct noise *noise, const float *a, const float *b, const char *what)
{
    const int equal = equal_numbers(a, b);
    if (equal > noise->chance)
        fail_msg("%s, %s: %d of %d numbers are equal", noise->name, what, equal, NUMBERS);
}

TEST(secure_runs_share_no_number)
{
    static const float nothing[NUMBERS];
    for (const struct noise *noise = noises; noise < noises + N_NOISES; noise++) {
        float runs[3][NUMBERS];
        for (int i = 0; i < 3; i++) {
            train(noise, "privacy.randomness=secure\n", runs[i]);
            assert_apart(noise, runs[i], nothing, "noise against none");
            for (int j = 0; j < i; j++)
                assert_apart(noise, runs[i], runs[j], "two secure runs");
        }
    }
}

TEST(seeds_repeat_all_numbers_or_none)
{
    for (const struct noise *noise = noises; noise < noises + N_NOISES; noise++) {
        float first[NUMBERS], again[NUMBERS], other[NUMBERS];
        train(noise, "", first);
        train(noise, "", again);
        train(noise, "privacy.noise-seed=2\n", other);
        if (equal_numbers(first, again) != NUMBERS)
            fail_msg("%s: one seed gives different numbers", noise->name);
        assert_apart(noise, first, other, "two seeds");
    }
}

/* ---- forks --------------------------------------------------------------------------------------------- */

/* Everything of a training but the rounds. */
static void make_ready(struct training *t, const char *changes)
{
    memset(t, 0, sizeof *t);
    struct pool *pool = pool_new(1);
    assert_non_null(pool);
    if (training_plan(&t->plan, base, changes, &t->error) != 0 ||
        data_load(&t->plan.data, &t->plan.split, t->plan.seeded, pool, &t->dataset, &t->error) != 0 ||
        plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &t->error) != 0 ||
        model_init(&t->model, &t->plan, &t->dataset, &t->error) != 0)
        fail_msg("%s", t->error.text);
    pool_free(pool); /* no threads where the process forks */
}

static int run_rounds(struct training *t)
{
    struct pool *pool = pool_new(1);
    const int status =
        pool ? engine_run(&t->plan, &t->dataset, pool, &t->model, NULL, &t->stats, &t->error) : -1;
    pool_free(pool);
    return status;
}

/* Runs the rounds in a child and writes what is released into the pipe. Its exit code, or minus its signal.
 */
static int rounds_in_a_child(struct training *t, float *out)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr) || run_rounds(t) != 0)
            _exit(1);
        for (int64_t i = 0; i < ITEMS; i++)
            if (write(ends[1], training_row(t, DPF_SIDE_ITEMS, i), RANK * sizeof *out) !=
                (ssize_t)(RANK * sizeof *out))
                _exit(2);
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = 0, n;
    while (got < (ssize_t)(NUMBERS * sizeof *out) &&
           (n = read(ends[0], (char *)out + got, NUMBERS * sizeof *out - (size_t)got)) > 0)
        got += n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    const int is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    assert_int_equal(got, is_done ? NUMBERS * sizeof *out : 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The child is stopped before it releases anything, and the parent goes on. A seeded run repeats by contract.
 */
TEST(a_forked_run_cannot_repeat_its_noise)
{
    for (const struct noise *noise = noises; noise < noises + N_NOISES; noise++)
        for (int secure = 0; secure < 2; secure++) {
            struct training t;
            float out[NUMBERS] = {0};
            char text[1024];
            snprintf(text, sizeof text, "%s%s", noise->changes,
                     secure ? "privacy.randomness=secure\n" : "privacy.noise-seed=3\n");
            make_ready(&t, text);
            const int code = rounds_in_a_child(&t, out);
            if (code != (secure ? -SIGABRT : 0))
                fail_msg("%s, %s: the child ended with %d", noise->name, secure ? "secure" : "seeded", code);
            if (run_rounds(&t) != 0)
                fail_msg("%s: the parent's rounds: %s", noise->name, t.error.text);
            for (int64_t i = 0; i < ITEMS && !secure; i++)
                assert_memory_equal(out + i * RANK, training_row(&t, DPF_SIDE_ITEMS, i), RANK * sizeof *out);
            training_free(&t);
        }
}

/* Children that open runs of their own: system randomness, not a copy of the parent's state. */
TEST(children_with_runs_of_their_own_differ)
{
    float out[3][NUMBERS];
    for (int c = 0; c < 3; c++) {
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            train(&noises[0], "privacy.randomness=secure\n", out[c]);
            _exit(write(ends[1], out[c], sizeof out[c]) == (ssize_t)sizeof out[c] ? 0 : 1);
        }
        assert_int_equal(read(ends[0], out[c], sizeof out[c]), sizeof out[c]);
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0);
        for (int b = 0; b < c; b++)
            assert_apart(&noises[0], out[b], out[c], "two children");
    }
}

FIXTURE(training_begin, training_end)
