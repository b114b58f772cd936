/* SPDX-License-Identifier: Apache-2.0 */
/* A recommender in place of the factorization: from its configuration to what is done with its run
 * afterwards. */
#include "kit/test.h"
#include "engine/engine.h"
#include "kit/training.h"

#include "kit/spawned.h"
#include "plan/plan_make.h"

#define DATA                                                                                                 \
    "[run]\noutput = out\n"                                                                                  \
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 150\nsynthetic.items = 90\n"         \
    "synthetic.ratings = 3000\n"                                                                             \
    "[split]\nkind = random\nfraction = 0.06\n"                                                              \
    "[parties]\nkind = users\n"                                                                              \
    "[privacy]\nunit = record\nadjacency = flip\nobserver = server\nrandomness = reproducible\n"             \
    "[accountants]\nlist = published, pure, rdp\n"
#define EVALUATE "[evaluate]\nmetrics = hr, ndcg\nranking = full\n"

#define DPLCF DATA "[model]\nrecommender = dplcf\n[model.recommender]\nepsilon = 2\n"
static const char dplcf[] = DPLCF;
static const char factorization[] = DATA "[model]\nrank = 2\n"
                                         "[users]\nloss = implicit-als\nsolver = cholesky\n"
                                         "[items]\nloss = implicit-als\nsolver = cholesky\n";

/* ---- the plan, before data is read -------------------------------------------------------------------- */

static void plan_of(struct plan *plan, const char *changes)
{
    struct dpf_error error = {0};
    if (training_plan(plan, dplcf, changes, &error) != 0 || plan_complete(plan, 150, 90, &error) != 0)
        fail_msg("%s", error.text);
}

static double epsilon_of(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("no answer of %s", accountant);
    return 0;
}

static int holds(const struct plan *plan, const char *id)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (strcmp(plan->guarantee.conditions[i].id, id) == 0)
            return plan->guarantee.conditions[i].holds;
    fail_msg("there is no condition %s", id);
    return 0;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

TEST(a_record_costs_epsilon)
{
    struct plan plan;
    plan_of(&plan, "");
    assert_int_equal(plan.ledger.n, 1);
    assert_true(plan.guarantee.plan_holds);
    assert_true(plan.guarantee.joint);
    assert_true(!plan.guarantee.run_holds);
    assert_near(epsilon_of(&plan, "pure"), 2, 1e-9);
    assert_near(epsilon_of(&plan, "published"), 2, 1e-9);
    assert_true(epsilon_of(&plan, "rdp") <= 2 * (1 + 1e-9));
    assert_true(epsilon_of(&plan, "rdp") > 1);
    plan_free(&plan);
    plan_of(&plan, "privacy.randomness=secure\nmodel.recommender.keep=0.5");
    assert_true(plan.guarantee.run_holds);
    assert_near(epsilon_of(&plan, "pure"), 2, 1e-9);
    plan_free(&plan);
}

/* All bits of a user may change. */
TEST(a_user_costs_all_bits)
{
    struct plan plan;
    plan_of(&plan, "privacy.unit=user\nprivacy.adjacency=replace");
    assert_true(plan.guarantee.plan_holds);
    assert_near(epsilon_of(&plan, "pure"), 2 * 90, 1e-9);
    plan_free(&plan);
    /* What hides that a user takes part at all cannot have a row for each user. */
    plan_of(&plan, "privacy.unit=user\nprivacy.adjacency=add-remove");
    assert_false(plan.guarantee.plan_holds);
    assert_false(holds(&plan, "C8"));
    plan_free(&plan);
    plan_of(&plan, "privacy.adjacency=replace-value");
    assert_false(holds(&plan, "C7"));
    plan_free(&plan);
    plan_of(&plan, "model.recommender.epsilon=inf");
    assert_false(holds(&plan, "C5"));
    plan_free(&plan);
}

TEST(a_total_is_kept)
{
    struct plan plan;
    plan_of(&plan, "privacy.budget=total\nprivacy.total-epsilon=0.5\nprivacy.calibrate-by=pure");
    assert_true(epsilon_of(&plan, "pure") <= 0.5);
    assert_true(epsilon_of(&plan, "pure") > 0.499);
    plan_free(&plan);
}

static uint32_t drawn_facts;
static int32_t drawn_releases;
static int64_t drawn_count = 1;

/* Gaussian sums of users that are drawn in secret. */
static dpf_status releases_drawn(void *self, const dpf_recommender_setup *setup, dpf_recommender_release *out,
                                 int32_t capacity, int32_t *n)
{
    (void)self, (void)setup, (void)capacity;
    *n = drawn_releases;
    for (int32_t i = 0; i < drawn_releases; i++) {
        out[i].flags = drawn_facts;
        out[i].noise_where = DPF_NOISE_AT_SUM;
        out[i].sees = DPF_SEES_SUM;
        out[i].event.kind = DPF_EVENT_GAUSSIAN;
        out[i].event.scale = 2;
        out[i].event.count = drawn_count;
        out[i].event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = (dpf_norms){1, 1, 1};
        out[i].event.sampling.kind = DPF_SAMPLING_POISSON;
        out[i].event.sampling.rate = 0.01;
        out[i].event.sampling.hidden_from = DPF_OBSERVER_OUTSIDER;
    }
    return DPF_OK;
}

static double epsilon_drawn(uint32_t facts, int32_t n)
{
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(
        training_plan(&plan, dplcf,
                      "privacy.unit=user\nprivacy.adjacency=zero-out\nprivacy.observer=outsider\n"
                      "accountants.list=rdp",
                      &error),
        0);
    dpf_recommender functions = *plan.recommender.functions;
    functions.releases = releases_drawn;
    plan.recommender.functions = &functions;
    drawn_facts = facts;
    drawn_releases = n;
    if (plan_complete(&plan, 150, 90, &error) != 0)
        fail_msg("%s", error.text);
    const double epsilon = epsilon_of(&plan, "rdp");
    plan_free(&plan);
    return epsilon;
}

/* A secret draw protects by itself only where nothing that is released tells of it. */
TEST(a_draw_that_shows_amplifies_nothing)
{
    const double amplified = epsilon_drawn(0, 1), full = epsilon_drawn(DPF_RELEASE_ROW_OF_USER, 1);
    assert_true(amplified < full / 2);
    assert_true(epsilon_drawn(DPF_RELEASE_COUNTS_USERS, 1) == full);
    assert_true(epsilon_drawn(DPF_RELEASE_NOISE_BY_USERS, 1) == full);
    assert_true(epsilon_drawn(0, 2) > full); /* two may share the draw */
    drawn_count = 2;
    assert_true(epsilon_drawn(0, 1) > full); /* and so may two copies of one */
    drawn_count = 1;
}

TEST(the_statement_names_what_is_released)
{
    struct plan plan;
    plan_of(&plan, "");
    char *pipeline = plan_text(&plan), *ini = plan_resolved_ini(&plan);
    json_t *ledger = ledger_json(&plan.ledger);
    assert_non_null(strstr(pipeline, "dplcf"));
    assert_non_null(strstr(pipeline, "reported bits"));
    assert_non_null(strstr(ini, "[model.recommender]\nepsilon = 2\n"));
    assert_string_equal(json_string_value(json_object_get(json_array_get(ledger, 0), "kind")),
                        "randomized-response");
    json_decref(ledger);
    free(pipeline);
    free(ini);
    plan_free(&plan);
}

/* Keys that would do nothing are refused, with what to do about it. */
TEST(nothing_stands_beside_it)
{
    const char *remedy = "write \"recommender =\"";
    training_refused(dplcf, "users.loss=implicit-als", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "items.mechanism.epsilon=1", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "run.rounds=3", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "run.order=items", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "model.rank=3", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "model.offset=mean", DPF_FAULT_CONFIG, remedy);
    training_refused(dplcf, "model.kind=popularity", DPF_FAULT_CONFIG, "remove one of them");
    training_refused(factorization, "model.recommender=dplcf", DPF_FAULT_CONFIG, "takes its place");
    training_refused(dplcf, "model.recommender=dplfc", DPF_FAULT_CONFIG, "did you mean \"dplcf\"");
    training_refused(dplcf, "model.recommender.sigma=1", DPF_FAULT_CONFIG, "unknown key \"sigma\"");
    training_refused(dplcf, "parties.kind=silos-by-items", DPF_FAULT_CONFIG, "no silo has");
    training_refused(dplcf, "data.feedback=explicit\ndata.value-min=1\ndata.value-max=5", DPF_FAULT_CONFIG,
                     "feedback = implicit");
}

/* ---- training ------------------------------------------------------------------------------------------ */

static void *trained_state(const char *changes, uint64_t *bytes)
{
    struct plan plan;
    struct dataset dataset = {0};
    struct model model;
    struct engine_stats stats;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, dplcf, changes, &error), 0);
    int threads = (int)plan.run.params.values[RUN_THREADS].integer;
    struct pool *pool = pool_new(threads);
    if (data_load(&plan.data, &plan.split, plan.seeded, pool, &dataset, &error) != 0 ||
        plan_complete(&plan, dataset.users.n, dataset.items.n, &error) != 0 ||
        model_init(&model, &plan, &dataset, &error) != 0 ||
        engine_run(&plan, &dataset, pool, &model, NULL, &stats, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(stats.messages, dataset.users.n);
    assert_int_equal(stats.bytes_up, dataset.users.n * ((dataset.items.n + 7) / 8));
    void *state = model.state;
    *bytes = model.state_bytes;
    model.state = NULL;
    model_free(&model);
    dataset_free(&dataset);
    plan_free(&plan);
    pool_free(pool);
    return state;
}

TEST(any_number_of_threads_gives_the_same_bytes)
{
    uint64_t bytes, other_bytes;
    void *one = trained_state("run.threads=1", &bytes);
    static const char *const threads[] = {"run.threads=2", "run.threads=7"};
    for (size_t i = 0; i < 2; i++) {
        void *other = trained_state(threads[i], &other_bytes);
        assert_int_equal(bytes, other_bytes);
        assert_memory_equal(one, other, bytes);
        free(other);
    }
    /* Noise has a key of its own. */
    void *other = trained_state("run.threads=1\nprivacy.noise-seed=2", &other_bytes);
    assert_memory_not_equal(one, other, bytes);
    free(other);
    free(one);
}

/* ---- the program ------------------------------------------------------------------------------------------
 */

static json_t *metrics_of(json_t *run)
{
    return json_object_get(run, "metrics");
}

TEST(a_run_can_be_used_afterwards)
{
    training_file("dplcf.ini", DPLCF EVALUATE);
    /* A twin without noise has no budget to keep. */
    command_expect("-c dplcf.ini -q -o run.compare=non-private -o privacy.budget=total "
                   "-o privacy.total-epsilon=0.5 -o privacy.calibrate-by=pure",
                   0, "");
    command_expect("-c dplcf.ini -q -o run.compare=non-private,popularity", 0, "");
    assert_true(command_exists("out/release/model/index.json"));
    assert_true(command_exists("out/release/item_ids.txt"));
    assert_true(command_exists("out/private/user_ids.txt"));
    assert_true(command_exists("out/release/guarantee.txt"));
    assert_false(command_exists("out/release/item_factors.npy"));
    assert_false(command_exists("out/private/user_factors.npy"));
    json_t *run = command_json("out/run.json");
    assert_null(json_object_get(run, "spent")); /* a recommender trains once, and never ends early */
    assert_string_equal(json_string_value(json_object_get(json_object_get(run, "model"), "component")),
                        "dplcf");
    double hit = json_number_value(json_object_get(metrics_of(run), "ndcg@10"));
    json_t *baselines = json_object_get(run, "baselines");
    double free_of_noise =
        json_number_value(json_object_get(json_object_get(baselines, "non-private"), "ndcg@10"));
    assert_true(hit > 0);
    assert_true(free_of_noise > 0);
    assert_true(free_of_noise != hit);
    assert_true(json_is_object(json_object_get(baselines, "popularity")));
    command_expect("evaluate out --json", 0, "");
    json_t *again = command_json(NULL);
    assert_true(json_number_value(json_object_get(again, "ndcg@10")) == hit);
    json_decref(again);
    json_decref(run);
    command_expect("recommend out --user 1 -n 3", 0, "");
    int lines = 0;
    for (char *c = command_out; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 4);
    command_expect("recommend out --all --output all.csv -n 2", 0, "");
}

static void change_byte(const char *name, long at)
{
    FILE *stream = fopen(command_path(name), "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, at, SEEK_SET), 0);
    int was = fgetc(stream);
    assert_int_equal(fseek(stream, at, SEEK_SET), 0);
    fputc(was ^ 0x80, stream);
    fclose(stream);
}

/* The first place of a text becomes another one of the same length. */
static void change_text(const char *name, const char *from, const char *to)
{
    static char text[1 << 14];
    command_slurp(command_path(name), text, sizeof text);
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    FILE *stream = fopen(command_path(name), "wb");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

/* After a_run_can_be_used_afterwards, whose run it is. */
TEST(a_damaged_state_is_refused)
{
    static const struct {
        const char *from, *to, *says;
    } changes[] = {{"dpframe-model", "dpframe-mobel", "this is not the index of a model"},
                   {"\"version\": 1", "\"version\": 2", "a version that this program does not read"},
                   {"neighbours/1", "neighbours/7", "does not know the formula"},
                   {"\"similarities\": {", "\"simularities\": {", "array \"similarities\" is missing"},
                   {"\"neighbours.npy\"", "\"/neighbour.npy\"", "names no file beside the index"},
                   {"\"neighbours.npy\"", "\"neighbourz.npy\"", "cannot open"}};
    change_byte("out/release/model/neighbours.npy", 0);
    command_expect("recommend out --user 1", 3, "this is not a .npy file");
    change_byte("out/release/model/neighbours.npy", 0);
    change_byte("out/release/model/neighbours.npy", 128 + 3); /* a neighbour's number, then negative */
    command_expect("recommend out --user 1", 3, "a number that is out of range");
    change_byte("out/release/model/neighbours.npy", 128 + 3);
    change_byte("out/release/model/similarities.npy", 128 + 3);
    command_expect("recommend out --user 1", 3, "array \"similarities\" has a number that is out of range");
    change_byte("out/release/model/similarities.npy", 128 + 3);
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        change_text("out/release/model/index.json", changes[c].from, changes[c].to);
        command_expect("recommend out --user 1", 3, changes[c].says);
        change_text("out/release/model/index.json", changes[c].to, changes[c].from);
    }
    command_expect("recommend out --user 1", 0, "");
    command_expect("evaluate out -o evaluate.metrics=hr,rmse", 2, "predicts no values");
    assert_int_equal(truncate(command_path("out/release/model/similarities.npy"), 200), 0);
    command_expect("evaluate out", 3, "does not fill");
    change_byte("out/release/item_ids.txt", 0);
}

/* Points of a sweep: a component swapped, a parameter varied, and the factorization beside it. */
TEST(a_sweep_compares_it)
{
    training_file("sweep.ini",
                  "include = dplcf.ini\n[run]\noutput = swept\n"
                  "[sweep]\nmetrics = hr@10\naxis.epsilon = 1, 4\nreferences = als\n"
                  "variant.dplcf = model.recommender.epsilon=$epsilon\n"
                  "variant.ldpicf = model.recommender=ldpicf; model.recommender.epsilon=$epsilon\n"
                  "variant.als = model.recommender=; users.loss=implicit-als; "
                  "users.solver=cholesky; items.loss=implicit-als; items.solver=cholesky\n");
    command_expect("-c sweep.ini -q", 0, "");
    assert_true(command_exists("swept/tables.md"));
    static char text[1 << 16];
    command_slurp(command_path("swept/tables.md"), text, sizeof text);
    assert_non_null(strstr(text, "dplcf"));
    assert_non_null(strstr(text, "ldpicf"));
    assert_non_null(strstr(text, "als"));
}

FIXTURE(training_begin, training_end)
