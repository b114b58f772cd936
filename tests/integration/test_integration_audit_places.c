/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wherever noise is added, by one party, by each, in shares, once to the sum, or to what parties release that solve,
 * and whatever its law is, an audit finds it to be what is declared: no less, and no more either.
 */
#include "kit/test.h"
#include "audit/noise_check.h"
#include "kit/training.h"
#include "plan/release.h"

#define COMMON                                                                                               \
    "[run]\nrounds = 3\norder = users, items\n"                                                              \
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 12\nsynthetic.ratings = 400\n"      \
    "synthetic.rank = 2\nsynthetic.min-per-user = 3\n[split]\nkind = none\n"                                 \
    "[model]\nusers = 70\nitems = 12\nrank = 2\n"                                                            \
    "[privacy]\ndelta = 0.01\nrandomness = reproducible\nnoise-seed = 3\n[accountants]\nlist = rdp\n"
#define RATINGS                                                                                              \
    "[data]\nvalue-min = 1\nvalue-max = 5\n[users]\nloss = squared-error\n"                                  \
    "solver = damped-gradient-descent\n[users.solver]\nradius = 1\nrate = 0.01\ncurvature = 100\n"           \
    "[items]\nloss = squared-error\nsolver = gradient-descent\n[items.loss]\nclip-error = 4\n"
/* With a Gram row beside the blocks of each item. */
#define CLICKS                                                                                               \
    "[data]\nfeedback = implicit\n[items]\nloss = implicit-als\nsolver = ball\n"                             \
    "[items.loss]\nunobserved-weight = 0.1\nlambda = 0.1\n[users]\nloss = implicit-als\nsolver = cholesky\n" \
    "[users.loss]\nunobserved-weight = 0.1\n[items]\ngram-share = 0.2\n"
#define OF_USERS                                                                                             \
    COMMON "[parties]\nkind = users\n[privacy]\nunit = user\nadjacency = zero-out\n"                         \
           "[items]\ntransforms = clip-user\n[items.transform.clip-user]\nbound = 0.1\n"
#define OF_SILOS                                                                                             \
    COMMON "[parties]\nkind = silos-by-users\ncount = 3\n[privacy]\nunit = record\n"                         \
           "adjacency = replace-value\n" RATINGS
#define L1 "[items.transform.clip-user]\nnorm = l1\n"
#define L2 "[items.transform.clip-user]\nnorm = l2\n"
#define GAUSSIAN                                                                                             \
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\n[items]\nmechanism = "         \
    "gaussian\n"
#define LAPLACE "[items.mechanism]\nepsilon = 1\n[items]\nmechanism = laplace\n"
#define IN_SHARES "[privacy]\nmin-honest = 40\n[items]\naggregator = modular-sum\n"
#define AT_EACH "[items]\naggregator = sum\n[items.mechanism]\nwhere = party\n"
#define AT_SUM "[items]\naggregator = sum\n[items.mechanism]\nwhere = sum\n"
#define WHERE_SOLVED "[items]\naggregator = mean\nsolve-at = party\n[items.mechanism]\nwhere = party\n"
#define SERVER "[privacy]\nobserver = server\n"
#define OUTSIDER "[privacy]\nobserver = outsider\n"

static const struct place {
    const char *name, *text;
} places[] = {
    {"Gaussian at the sum", OF_USERS RATINGS L2 GAUSSIAN AT_SUM OUTSIDER},
    {"Laplace at the sum", OF_USERS RATINGS L1 LAPLACE AT_SUM OUTSIDER},
    {"Gaussian in messages", OF_USERS RATINGS L2 GAUSSIAN AT_EACH SERVER},
    {"Laplace in messages", OF_USERS RATINGS L1 LAPLACE AT_EACH SERVER},
    {"Gaussian of each, in sums", OF_USERS RATINGS L2 GAUSSIAN AT_EACH OUTSIDER},
    {"Laplace of each, in sums", OF_USERS RATINGS L1 LAPLACE AT_EACH OUTSIDER},
    {"Skellam in shares", OF_USERS RATINGS L2 IN_SHARES SERVER
     "[items]\nmechanism = skellam\n[items.mechanism]\nnoise-multiplier = 4\n"},
    {"discrete Gaussian in shares", OF_USERS RATINGS L2 IN_SHARES SERVER
     "[items]\nmechanism = discrete-gaussian\n[items.mechanism]\nnoise-multiplier = 4\n"},
    {"Laplace in shares", OF_USERS RATINGS L1 IN_SHARES SERVER
     "[items]\nmechanism = laplace-gamma\n[items.mechanism]\nepsilon = 2\n"},
    {"Skellam in shares, with a Gram row", OF_USERS CLICKS L2 IN_SHARES SERVER
     "[items]\nmechanism = skellam\n[items.mechanism]\nnoise-multiplier = 4\n"},
    {"discrete Gaussian in shares, with a Gram row", OF_USERS CLICKS L2 IN_SHARES SERVER
     "[items]\nmechanism = discrete-gaussian\n[items.mechanism]\nnoise-multiplier = 4\n"},
    {"Laplace in shares, with a Gram row", OF_USERS CLICKS L1 IN_SHARES SERVER
     "[items]\nmechanism = laplace-gamma\n[items.mechanism]\nepsilon = 2\n"},
    {"Gaussian at the sum, with a Gram row", OF_USERS CLICKS L2 GAUSSIAN AT_SUM OUTSIDER},
    {"Laplace at the sum, with a Gram row", OF_USERS CLICKS L1 LAPLACE AT_SUM OUTSIDER},
    {"Gaussian of each, with a Gram row", OF_USERS CLICKS L2 GAUSSIAN AT_EACH OUTSIDER},
    {"Laplace of each, with a Gram row", OF_USERS CLICKS L1 LAPLACE AT_EACH OUTSIDER},
    {"Gaussian at the sum of silos", OF_SILOS GAUSSIAN AT_SUM OUTSIDER},
    {"Gaussian at each silo", OF_SILOS GAUSSIAN AT_EACH OUTSIDER},
    {"Laplace at each silo", OF_SILOS LAPLACE AT_EACH OUTSIDER},
    {"Gaussian where silos solve", OF_SILOS GAUSSIAN WHERE_SOLVED OUTSIDER},
    {"Laplace where silos solve", OF_SILOS LAPLACE WHERE_SOLVED OUTSIDER},
};

static void open_training(struct training *t, const struct place *place)
{
    const char *directories[] = {training_plugins("plugins")};
    const struct plan_options options = {.config_path = training_file("config.ini", place->text),
                                         .plugin_directories = directories,
                                         .n_plugin_directories = 1};
    struct pool *pool = pool_new(1);
    *t = (struct training){0};
    if (plan_open(&options, &t->plan, &t->error) != 0 ||
        data_load(&t->plan.data, &t->plan.split, t->plan.seeded, pool, &t->dataset, &t->error) != 0 ||
        plan_complete(&t->plan, t->dataset.users.n, t->dataset.items.n, &t->error) != 0)
        fail_msg("%s: %s", place->name, t->error.text);
    pool_free(pool);
}

TEST(noise_is_as_declared_wherever_it_is_added)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct training t;
        struct noise_check check;
        struct pool *pool = pool_new(1);
        open_training(&t, &places[i]);
        if (noise_check_run(&t.plan, &t.dataset, pool, &check, &t.error) != 0)
            fail_msg("%s: %s", places[i].name, t.error.text);
        if (check.n < 3)
            fail_msg("%s: nothing is looked at", places[i].name);
        for (size_t k = 0; k < check.n; k++) {
            const struct noise_finding *f = &check.findings[k];
            if (!(fabs(f->deviations) < check.alarm))
                fail_msg("%s: %s: %g over %lld numbers, %.1f standard deviations away", places[i].name,
                         noise_aspect_name(f->aspect), f->value, (long long)f->n, f->deviations);
        }
        noise_check_free(&check);
        dataset_free(&t.dataset);
        plan_free(&t.plan);
        pool_free(pool);
    }
}

/* The planned deviation of a block's noise in a sum of all messages, or of the message of a party that solves. */
static double expected_deviation(const struct training *t, int block, int gram)
{
    const struct term_plan *term = &t->plan.sides[DPF_SIDE_ITEMS].terms[0];
    const int alone = t->plan.sides[DPF_SIDE_ITEMS].solve_at == SOLVE_AT_PARTY;
    const int one = alone || (gram && !term->by_user);
    const int64_t senders = term->by_user ? t->dataset.users.n : 3;
    const double variance = gram ? term->noise.gram_variance[block] : term->noise.variance[block];
    return sqrt(variance * plan_noise_part(&t->plan, term, &term->noise, one ? 1 : senders, 0));
}

static const struct noise_histogram *histogram_of(const struct training *t, int kind, int gram)
{
    for (int i = 0; i < t->stats.n_noise; i++)
        if (t->stats.noise[i].kind == kind && t->stats.noise[i].gram == gram)
            return &t->stats.noise[i];
    return NULL;
}

/* private/noise.csv has every block that has noise, and the Gram row's, at its size. */
TEST(noise_is_written_down_block_by_block)
{
    int grams = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct training t;
        training_run(&t, places[i].text, "run.noise=yes\nrun.rounds=2\n");
        if (t.status != 0)
            fail_msg("%s: %s", places[i].name, t.error.text);
        const struct term_plan *term = &t.plan.sides[DPF_SIDE_ITEMS].terms[0];
        for (int k = 0; k < 2 * term->sent.n_blocks; k++) {
            const int b = k / 2, gram = k % 2;
            const struct noise_histogram *h = histogram_of(&t, term->sent.blocks[b].kind, gram);
            const int noisy = (gram ? term->noise.gram_scale[b] : term->noise.scale[b]) > 0;
            if (!h != !noisy)
                fail_msg("%s, block %d, Gram row %d: noise %d, listed %d", places[i].name, b, gram, noisy,
                         h != NULL);
            if (!h)
                continue;
            const double ratio = h->deviation / expected_deviation(&t, b, gram);
            /* Laplace noise has the largest fourth moment, 6: so far its deviation may be from the expected one. */
            if (!(fabs(ratio - 1) < 5 * sqrt(5.0 / 4 / (double)h->n)) && h->n >= 20)
                fail_msg("%s, block %d, Gram row %d: %g of the planned deviation", places[i].name, b, gram,
                         ratio);
            assert_true(h->deviation > 0);
            grams += gram;
        }
        training_free(&t);
    }
    assert_true(grams >= 4);
}

static int64_t calls; /* of the items' mechanism */
static const dpf_mechanism *theirs;

static dpf_status counted_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const double *values, int64_t stride,
                                 dpf_encoded *out)
{
    calls++;
    return theirs->encode(self, call, plan, query, values, stride, out);
}

static dpf_status counted_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    calls++;
    return theirs->decode(self, call, plan, query, sums, out, stride);
}

static void count_calls(struct plan *plan)
{
    static dpf_mechanism counted;
    struct instance *mechanism = plan->sides[DPF_SIDE_ITEMS].terms[0].mechanism;
    theirs = mechanism->functions;
    counted = *theirs;
    counted.encode = counted_encode;
    counted.decode = counted_decode;
    mechanism->functions = &counted;
    calls = 0;
}

/* private/noise.csv is of the noise that was added: nothing is drawn for it, and nothing is trained otherwise. */
TEST(noise_is_written_down_and_not_drawn_again)
{
    training_hook = count_calls;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct training with, without;
        training_run(&without, places[i].text, "run.noise=no\nrun.threads=1\n");
        const int64_t before = calls;
        training_run(&with, places[i].text, "run.noise=yes\nrun.threads=2\n");
        if (calls != before || before == 0)
            fail_msg("%s: %lld calls of the mechanism, and %lld without noise.csv", places[i].name,
                     (long long)calls, (long long)before);
        assert_true(with.stats.n_noise > 0);
        assert_int_equal(without.stats.n_noise, 0);
        for (int side = 0; side < 2; side++)
            assert_true(training_same_side(&with, &without, side));
        training_free(&with);
        training_free(&without);
    }
    training_hook = NULL;
}

/* ---- planted faults -------------------------------------------------------------------------------------- */

static const struct planted {
    const char *name;
    enum noise_aspect aspect; /* that shows it */
    int of_messages;          /* shows in messages alone */
} planted[] = {{"half of the variance in one block", NOISE_VARIANCE, 0},
               {"two rows with one noise", NOISE_ROWS, 0},
               {"two columns with one noise", NOISE_COLUMNS, 0},
               {"all rounds with one noise", NOISE_ROUNDS, 0},
               {"two users with one noise", NOISE_USERS, 1}};
static enum noise_aspect planted_as;

/* What is drawn for these rows in this round, or in the first one, by this party, or by the one before. */
static dpf_status draw_alone(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                             const dpf_query *query, const dpf_encoded *out, int64_t *drawn, int spoilt)
{
    const size_t n = (size_t)(out->n_rows * out->width);
    double *zeros = memory_new(n + 1, sizeof *zeros);
    dpf_encoded alone = *out;
    dpf_call other = *call;
    alone.values = drawn;
    alone.stride = out->width;
    if (spoilt && planted_as == NOISE_ROUNDS)
        other.draw = 0;
    if (spoilt && planted_as == NOISE_USERS)
        other.party &= ~UINT32_C(1);
    assert_non_null(zeros);
    const dpf_status status = theirs->encode(self, &other, plan, query, zeros, out->width, &alone);
    free(zeros);
    return status;
}

/* The noise that is sent in the place of the one that was drawn. */
static int64_t spoilt_noise(const dpf_query *query, const dpf_encoded *out, const int64_t *drawn, int64_t r,
                            int32_t i)
{
    const dpf_block *block = &query->blocks[0];
    const int64_t own = drawn[r * out->width + i];
    if (planted_as == NOISE_ROWS)
        return drawn[(r & ~INT64_C(1)) * out->width + i];
    if (planted_as == NOISE_COLUMNS)
        return drawn[r * out->width + (i & ~1)];
    if (planted_as == NOISE_VARIANCE && i >= block->offset && i < block->offset + block->length)
        return (int64_t)llrint((double)own * sqrt(0.5));
    return own;
}

static dpf_status spoilt_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const double *values, int64_t stride,
                                dpf_encoded *out)
{
    const size_t n = (size_t)(out->n_rows * out->width) + 1;
    int64_t *sound = memory_new(n, sizeof *sound), *spoilt = memory_new(n, sizeof *spoilt);
    assert_true(sound && spoilt);
    dpf_status status = theirs->encode(self, call, plan, query, values, stride, out);
    if (status == DPF_OK)
        status = draw_alone(self, call, plan, query, out, sound, 0);
    if (status == DPF_OK)
        status = draw_alone(self, call, plan, query, out, spoilt, 1);
    for (int64_t r = 0; r < out->n_rows && status == DPF_OK; r++)
        for (int32_t i = 0; i < out->width; i++)
            out->values[r * out->stride + i] +=
                spoilt_noise(query, out, spoilt, r, i) - sound[r * out->width + i];
    free(sound);
    free(spoilt);
    return status;
}

/* Whether an audit's test of the noise finds what is planted, by the aspect that is about it. */
static int finds(const struct place *place, const struct planted *fault)
{
    struct training t;
    struct noise_check check;
    struct pool *pool = pool_new(1);
    dpf_mechanism spoilt;
    int found = 0;
    open_training(&t, place);
    struct instance *mechanism = t.plan.sides[DPF_SIDE_ITEMS].terms[0].mechanism;
    theirs = mechanism->functions;
    spoilt = *theirs;
    spoilt.encode = spoilt_encode;
    mechanism->functions = &spoilt;
    planted_as = fault->aspect;
    if (noise_check_run(&t.plan, &t.dataset, pool, &check, &t.error) != 0)
        fail_msg("%s, %s: %s", place->name, fault->name, t.error.text);
    for (size_t k = 0; k < check.n; k++)
        found |= check.findings[k].failed && check.findings[k].aspect == fault->aspect;
    mechanism->functions = theirs;
    noise_check_free(&check);
    dataset_free(&t.dataset);
    plan_free(&t.plan);
    pool_free(pool);
    return found;
}

/* Noise that parties add: each fault of theirs is found. */
TEST(planted_faults_are_found)
{
    static const char *const names[] = {"Gaussian in messages",       "Laplace in messages",
                                        "Gaussian of each, in sums",  "Laplace of each, in sums",
                                        "Skellam in shares",          "discrete Gaussian in shares",
                                        "Gaussian where silos solve", "Laplace where silos solve"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int named = 0;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            named |= strcmp(places[i].name, names[k]) == 0;
        for (size_t k = 0; k < sizeof planted / sizeof planted[0] && named; k++) {
            const int messages = strstr(places[i].name, "in messages") != NULL;
            if ((!planted[k].of_messages || messages) && !finds(&places[i], &planted[k]))
                fail_msg("%s: %s is not found", places[i].name, planted[k].name);
        }
    }
}

FIXTURE(training_begin, training_end)
