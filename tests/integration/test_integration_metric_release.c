/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics that are released: neighbouring data sets through reading, splitting, training and evaluation; the
 * share of a budget; the conditions; and what a run writes and says of the others.
 */
#include "kit/test.h"
#include "kit/training.h"

#include "engine/model_scorer.h"
#include "evaluate/noisy_metrics.h"
#include "evaluate/ranking_pass.h"
#include "evaluate/rating_pass.h"
#include "kit/spawned.h"
#include "run/session.h"

#define USERS 6
#define ITEMS 8

/* Items stay where they start, so that nothing but the metrics is released; users are solved at home. */
static const char base[] =
    "[run]\nrounds = 1\nthreads = 1\noutput = out\n"
    "[data]\nformat = csv\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "items-file = items.txt\n"
    "[split]\nkind = random\nfraction = 0.4\n"
    "[model]\nusers = 6\nrank = 2\ninit-scale = 1\noffset = midpoint\n"
    "[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nupdate = no\n"
    "[accountants]\nlist = pld\n"
    "[evaluate]\nrelease = noisy\nmetrics = rmse, mae-user, hr, ndcg, mrank\nk = 2\n";

/* What a user brings to the released sums, trained and evaluated. */
struct measured {
    struct session session;
    int64_t sums[NOISY_MOST_SUMS];
    int n;
};

static void open_session(struct session *session, const char *config, const char *changes, int completed)
{
    static struct arguments arguments;
    static char copy[4096];
    struct dpf_error error = {0};
    memset(&arguments, 0, sizeof arguments);
    arguments.config = training_file("config.ini", config);
    arguments.plugin_dirs[arguments.n_plugin_dirs++] = training_plugins("plugins");
    snprintf(copy, sizeof copy, "%s", changes);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        arguments.overrides[arguments.n_overrides++] = line;
    if (session_open(session, &arguments, 0, &error) != 0 ||
        (completed && plan_complete(&session->plan, USERS, ITEMS, &error) != 0))
        fail_msg("%s", error.text);
}

static void measure(const char *changes, struct measured *out)
{
    struct dpf_error error = {0};
    struct dataset dataset = {0};
    struct model model = {0};
    struct engine_stats stats;
    struct evaluate_options options;
    struct noisy_layout layout;
    struct rating_results rating;
    struct ranking_results ranking;
    struct pool *pool = pool_new(1);
    open_session(&out->session, base, changes, 0);
    struct plan *plan = &out->session.plan;
    struct scorer scorer = {.context = NULL};
    int status = data_load(&plan->data, &plan->split, plan->seeded, pool, &dataset, &error);
    if (status == 0)
        status = plan_complete(plan, dataset.users.n, dataset.items.n, &error);
    if (status == 0)
        status = model_init(&model, plan, &dataset, &error);
    if (status == 0)
        status = engine_run(plan, &dataset, pool, &model, NULL, &stats, &error);
    if (status == 0)
        status = evaluate_options_read(&out->session.evaluate, dataset.implicit, &options, &error);
    if (status == 0)
        status = noisy_layout_make(&options, dataset.value_lo, dataset.value_hi, &layout, &error);
    if (status == 0)
        status = model_scorer(&model, &scorer, &error);
    if (status == 0)
        status = rating_pass(&options, &dataset, &scorer, pool, 0, &rating, &error);
    if (status == 0)
        status = ranking_pass(&options, &dataset, &scorer, plan->seeded, pool, 0, &ranking, &error);
    scorer_close(&scorer);
    if (status != 0)
        fail_msg("%s", error.text);
    noisy_add_up(&layout, &options, &rating.by_user, &ranking.by_user, plan->metrics.grid, out->sums);
    out->n = layout.n;
    rating_results_free(&rating);
    ranking_results_free(&ranking);
    model_free(&model);
    dataset_free(&dataset);
    pool_free(pool);
}

/* ---- neighbours ---------------------------------------------------------------------------------------- */

static uint64_t lottery = 1;

static int drawn(int n)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((lottery >> 33) % (uint64_t)n);
}

/* In the order of ids the first is -3, the last zz. */
static const char *const names[USERS] = {"-3", "1", "7", "b", "m", "zz"};

static void draw_user(int *ratings)
{
    const int share = 1 + drawn(4);
    for (int i = 0; i < ITEMS; i++)
        ratings[i] = drawn(4) < share ? 1 + drawn(5) : 0;
}

static void write_ratings(int ratings[USERS][ITEMS], int without)
{
    char text[4096] = "user,item,rating\n", items[128] = "";
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if (ratings[u][i] && u != without)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s,i%d,%d\n", names[u], i,
                         ratings[u][i]);
    training_file("ratings.csv", text);
    for (int i = 0; i < ITEMS; i++)
        snprintf(items + strlen(items), sizeof items - strlen(items), "i%d\n", i);
    training_file("items.txt", items);
}

/* The sums of neighbours are no further apart than the ledger states, and the noise that it states covers. */
TEST(neighbours_move_no_further_than_the_ledger_states)
{
    static const char *const splits[] = {"split.kind=random", "split.kind=leave-one-out\nsplit.by=random",
                                         "split.kind=per-user\nsplit.n=2",
                                         "split.kind=k-fold\nsplit.folds=2"};
    double most[2] = {0, 0};
    for (int trial = 0; trial < 48; trial++) {
        struct measured first = {0}, second = {0};
        int ratings[USERS][ITEMS];
        const int who = trial % 3 == 0 ? 0 : trial % 3 == 1 ? USERS / 2 : USERS - 1, replaced = trial / 3 % 2;
        char changes[1024];
        snprintf(changes, sizeof changes,
                 "data.path=%s/ratings.csv\ndata.items-file=%s/items.txt\nprivacy.adjacency=%s\n"
                 "evaluate.release-records=%d\n%s\n",
                 training_directory, training_directory, replaced ? "replace" : "add-remove", 1 + trial % 3,
                 splits[trial / 6 % 4]);
        for (int u = 0; u < USERS; u++)
            draw_user(ratings[u]);
        ratings[1][0] = ratings[2][0] = 3; /* a fold of no records would be another matter */
        ratings[who][1] = 1;
        write_ratings(ratings, -1);
        measure(changes, &first);
        if (replaced)
            draw_user(ratings[who]);
        write_ratings(ratings, replaced ? -1 : who);
        measure(changes, &second);
        const struct ledger *ledger = &first.session.plan.ledger;
        assert_int_equal(ledger->n, 1);
        const dpf_event *event = &ledger->entries[0].event;
        const dpf_norms *stated =
            &event->sensitivity.at[DPF_UNIT_USER][replaced ? DPF_ADJ_REPLACE : DPF_ADJ_ADD_REMOVE];
        assert_true(first.session.plan.guarantee.plan_holds);
        assert_int_equal(first.n, second.n);
        assert_true(event->scale == second.session.plan.ledger.entries[0].event.scale);
        double l1 = 0, squares = 0;
        for (int i = 0; i < first.n; i++) {
            const double moved = (double)(first.sums[i] - second.sums[i]) * event->grid;
            l1 += fabs(moved);
            squares += moved * moved;
        }
        assert_true(l1 <= stated->l1);
        assert_true(squares <= stated->l2 * stated->l2 * (1 + 1e-15));
        most[replaced] = fmax(most[replaced], sqrt(squares) / stated->l2);
        session_close(&first.session);
        session_close(&second.session);
    }
    assert_true(most[0] > 0.6);
    assert_true(most[1] > 0.3); /* and the pairs are not all alike */
}

/* ---- the budget ---------------------------------------------------------------------------------------- */

/* By the plan's first accountant: of the whole ledger, or of its last entry alone. */
static double epsilon_of(struct session *session, int last_alone)
{
    struct plan *plan = &session->plan;
    struct dpf_error error = {0};
    struct guarantee judged = plan->guarantee;
    struct ledger ledger = {0};
    judged.accounts = NULL;
    judged.n_accounts = 0;
    for (int64_t i = last_alone ? plan->ledger.n - 1 : 0; i < plan->ledger.n; i++)
        ledger_add(&ledger, &plan->ledger.entries[i].event, "");
    assert_int_equal(guarantee_account(&judged, plan->accountants, 1, &ledger, 1, &error), 0);
    const double epsilon = judged.accounts[0].answer.epsilon;
    guarantee_free(&judged);
    ledger_free(&ledger);
    return epsilon;
}

static const char with_model[] =
    "[run]\nrounds = 2\nthreads = 1\noutput = out\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 300\nsynthetic.items = 40\n"
    "synthetic.ratings = 5000\n"
    "[split]\nkind = leave-one-out\n"
    "[model]\nusers = 300\nitems = 40\nrank = 2\ninit-scale = 1\n"
    "[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-6\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = implicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\n"
    "gram-share = 0.2\nsolver = ball\n[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nbound = 1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[accountants]\nlist = pld\n"
    "[evaluate]\nmetrics = hr, ndcg, coverage\nk = 5\n";

TEST(a_total_includes_its_share)
{
    struct session session;
    open_session(&session, with_model,
                 "evaluate.release=noisy\nprivacy.budget=total\nprivacy.total-epsilon=2\n"
                 "evaluate.release-share=0.2",
                 1);
    const double all = epsilon_of(&session, 0), metrics = epsilon_of(&session, 1);
    assert_true(all <= 2);
    assert_true(all > 1.999);
    assert_true(metrics <= 0.4);
    assert_true(metrics > 0.3999);
    assert_true(session.plan.guarantee.plan_holds);
    const double noise = session.plan.guarantee.noise_factor;
    session_close(&session);
    /* The default is a tenth; what metrics do not take is the model's. */
    open_session(&session, with_model,
                 "evaluate.release=noisy\nprivacy.budget=total\nprivacy.total-epsilon=2", 1);
    assert_true(fabs(epsilon_of(&session, 1) - 0.2) < 1e-4);
    assert_true(session.plan.guarantee.noise_factor < noise);
    session_close(&session);
    open_session(&session, with_model, "privacy.budget=total\nprivacy.total-epsilon=2", 1);
    assert_true(session.plan.guarantee.noise_factor < noise);
    session_close(&session);
    /* Each release by itself: the model's noise stays, and the metrics have their own epsilon. */
    open_session(&session, with_model, "evaluate.release=noisy\nevaluate.release-epsilon=0.5", 1);
    assert_true(fabs(epsilon_of(&session, 1) - 0.5) < 2e-4);
    const double with = epsilon_of(&session, 0);
    session_close(&session);
    open_session(&session, with_model, "", 1);
    assert_true(epsilon_of(&session, 0) < with);
    session_close(&session);
}

TEST(laplace_noise_has_no_delta)
{
    struct session session;
    open_session(&session, base,
                 "evaluate.release-noise=laplace\naccountants.list=pure\nprivacy.delta=0\n"
                 "evaluate.release-epsilon=0.3",
                 1);
    /* Five metrics and three counts; a user who comes moves them by 8 at most. */
    assert_true(fabs(epsilon_of(&session, 1) - 0.3) < 1e-4);
    assert_true(fabs(session.plan.metrics.scale - 8 / 0.3) < 0.01);
    session_close(&session);
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

static void fails(const char *config, const char *changes, int condition, const char *why)
{
    struct session session;
    open_session(&session, config, changes, 1);
    const struct condition *c = &session.plan.guarantee.conditions[condition];
    if (c->holds || !strstr(c->why, why))
        fail_msg("%s: condition %s %s: %s", changes, c->id, c->holds ? "holds" : "fails", c->why);
    assert_false(session.plan.guarantee.plan_holds);
    session_close(&session);
}

/* One user's records move the metrics of all others, where others' predictions are made from them. */
TEST(metrics_of_a_model_without_noise_are_not_covered)
{
    fails(base, "run.order=users, items\nitems.update=yes\nitems.loss=explicit-als\nitems.solver=cholesky", 1,
          "evaluation: scores are made from items' factors");
    fails(base, "model.offset=mean", 1, "evaluation: predictions start from the mean");
    fails(with_model, "evaluate.release=noisy\nprivacy.observer=server\nprivacy.adjacency=replace", 4,
          "after the sum");
}

TEST(mistakes_are_named)
{
    training_file("m.ini", with_model);
    command_expect("check -c m.ini -o evaluate.release=noisy -o accountants.list=pure", 2, "release-noise");
    command_expect("check -c m.ini -o evaluate.release=noisy -o split.kind=none", 2, "set [split] kind");
    command_expect(
        "check -c m.ini -o evaluate.release=noisy -o evaluate.release-epsilon=1e-9 -o privacy.delta=1e-12", 2,
        "no noise that can be drawn");
    command_expect("check -c m.ini -o evaluate.release-epsilon=1", 2, "set release = noisy");
}

/* ---- a run --------------------------------------------------------------------------------------------- */

TEST(runs_say_what_is_covered)
{
    training_file("m.ini", with_model);
    command_expect("-c m.ini -o evaluate.release=noisy -o run.compare=popularity", 0, "");
    assert_non_null(strstr(command_out, "with noise"));
    assert_non_null(strstr(command_out, "Test metrics: private, not covered"));
    json_t *run = command_json("out/run.json");
    const json_t *covers = json_object_get(run, "guarantee_covers");
    assert_string_equal(json_string_value(json_object_get(covers, "metrics")), "private, not covered");
    assert_string_equal(json_string_value(json_object_get(covers, "baselines")), "private, not covered");
    const json_t *released = json_object_get(run, "released_metrics");
    assert_int_equal(json_object_size(released), 2); /* coverage is of all lists together */
    const json_t *hr = json_object_get(released, "hr@5");
    const double noise = json_number_value(json_object_get(hr, "noise"));
    const double exact = json_number_value(json_object_get(json_object_get(run, "metrics"), "hr@5"));
    assert_true(noise > 0.01);
    assert_true(noise < 0.5);
    const double value = json_number_value(json_object_get(hr, "value"));
    assert_true(value >= 0);
    assert_true(value <= 1);
    assert_true(fabs(value - exact) < 6 * noise);
    json_decref(run);
    static char table[4096];
    command_slurp(command_path("out/release/metrics.csv"), table, sizeof table);
    assert_int_equal(strncmp(table, "metric,value,noise,averaged_over\nhr@5,", 38), 0);
    assert_null(strstr(table, "coverage"));
    command_slurp(command_path("out/release/guarantee.txt"), table, sizeof table);
    command_expect("evaluate out", 0, "");
    assert_non_null(strstr(command_out, "Private, not covered"));
    /* A run in the same place without it leaves none behind. */
    command_expect("-c m.ini", 0, "");
    assert_false(command_exists("out/release/metrics.csv"));
    assert_non_null(strstr(command_out, "Test metrics: private, not covered"));
}

FIXTURE(training_begin, training_end)
