/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of one unit's records while a run goes on ([privacy] on-violation = zero): the run completes, and
 * what it releases is what it would release if that unit had no records, noise included.
 *
 * One user, or one record of that user, is made to fail in each callback that works on protected data. The
 * reference is a data set in which the user has nothing to train on but is still on the list of users.
 */
#include "kit/test.h"
#include "base/text.h"
#include "kit/training.h"
#include "plan/plan_make.h"

#define USERS 12
#define ITEMS 5
#define VICTIM 7 /* the number of the user whose records are at fault */
#define VICTIM_ITEM 2

static const char base[] =
    "[run]\nrounds = 3\nthreads = 2\norder = users, items\n"
    "[data]\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = files\ntest.path = test.csv\n"
    "[model]\nrank = 2\ninit = normal\ninit-scale = 0.3\nusers = 40\nitems = 6\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 1e-6\nid-lists = public\n"
    "randomness = reproducible\nnoise-seed = 5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = explicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\nsolver = "
    "ball\n"
    "[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nnorm = l2\nbound = 5\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\nwhere = sum\n"
    "[items.solver]\nradius = 1\n"
    "[accountants]\nlist = rdp\n";

/* The same users, whose noise is in shares. */
static const char by_shares[] =
    "[run]\nrounds = 2\nthreads = 2\norder = users, items\n"
    "[data]\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = files\ntest.path = test.csv\n"
    "[model]\nrank = 2\ninit = normal\ninit-scale = 0.3\nusers = 12\nitems = 6\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-6\nid-lists = public\n"
    "randomness = reproducible\nnoise-seed = 5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\naggregator = secagg\n"
    "solver = gradient-descent\n[items.transform.clip-user]\nbound = 1\n[items.solver]\nrate = 0.1\n"
    "[accountants]\nlist = rdp\n";

static const char *base_text = base;

/* ---- faults ------------------------------------------------------------------------------------------- */

enum place { NOWHERE, AT_LOSS, AT_CLIP, AT_ENCODE, AT_SOLVER, AT_DRAW, AT_ROWS, AT_FRIENDS, AT_SUM };

static struct {
    enum place place;
    dpf_loss loss;
    dpf_transform transform;
    dpf_mechanism mechanism;
    dpf_solver solver;
    dpf_sampler sampler;
    const dpf_loss *real_loss;
    const dpf_transform *real_transform;
    const dpf_mechanism *real_mechanism;
    const dpf_solver *real_solver;
    const dpf_sampler *real_sampler;
} fault;

static dpf_status fails(const dpf_call *call)
{
    return (call->host->fail)(call->host, DPF_E_NUMERIC, -1, "the test's fault");
}

/* A user's whole message, or any sum with the record. */
static int holds_victim(const dpf_groups *groups)
{
    if (groups->party_row >= 0)
        return groups->party_row == VICTIM;
    for (int64_t g = 0; g < groups->n_groups; g++)
        for (int64_t i = groups->offsets[g]; i < groups->offsets[g + 1]; i++)
            if (groups->side == DPF_SIDE_ITEMS && groups->rows[g] == VICTIM_ITEM &&
                groups->others[i] == VICTIM)
                return 1;
    return 0;
}

static dpf_status accumulate(void *self, const dpf_call *call, const dpf_query *query,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    const dpf_status status = fault.real_loss->accumulate(self, call, query, groups, grid, out, stride);
    if (status != DPF_OK ||
        (fault.place == AT_SUM ? groups->offsets[groups->n_groups] - groups->offsets[0] < 2
                               : !holds_victim(groups)))
        return status;
    for (int64_t i = 0; i < groups->n_groups * stride; i++)
        out[i] = NAN; /* nothing of it may be used */
    return fails(call);
}

static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    int zero = 1;
    for (int64_t i = 0; i < in->n_rows * in->stride; i++)
        zero &= in->values[i] == 0;
    return in->party == VICTIM && !zero ? fails(call) : fault.real_transform->forward(self, call, in, out);
}

static dpf_status encode(void *self, const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                         const double *values, int64_t stride, dpf_encoded *out)
{
    int zero = 1;
    for (int64_t i = 0; i < out->n_rows * stride; i++)
        zero &= values[i] == 0;
    return call->party == VICTIM && !zero
               ? fails(call)
               : fault.real_mechanism->encode(self, call, plan, query, values, stride, out);
}

/* After it has spoiled all rows of the batch. */
static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const dpf_status status = fault.real_solver->solve(self, call, batch);
    if (status != DPF_OK || batch->first_row > VICTIM || batch->first_row + batch->n_rows <= VICTIM)
        return status;
    for (int64_t i = 0; i < batch->n_rows; i++)
        batch->next[i * batch->next_stride] = NAN;
    return fails(call);
}

static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *what, float *weights)
{
    const dpf_status status = fault.real_sampler->draw(self, call, what, weights);
    for (int64_t i = 0; i < what->n && status == DPF_OK; i++)
        if (what->users[i] == VICTIM && what->items[i] == VICTIM_ITEM)
            return fails(call);
    return status;
}

/* A row of the victim that is not finite, as a solver without a check would leave it. */
static dpf_status solve_wildly(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const dpf_status status = fault.real_solver->solve(self, call, batch);
    const int64_t i = VICTIM - batch->first_row;
    if (status == DPF_OK && i >= 0 && i < batch->n_rows)
        batch->next[i * batch->next_stride] = INFINITY;
    return status;
}

static void inject(struct plan *plan, enum place place)
{
    struct side_plan *users = &plan->sides[DPF_SIDE_USERS];
    struct term_plan *items = &plan->sides[DPF_SIDE_ITEMS].terms[0];
    fault.place = place;
    if (place == AT_LOSS || place == AT_SUM) {
        fault.loss = *(fault.real_loss = items->loss->functions);
        fault.loss.accumulate = accumulate;
        items->loss->functions = &fault.loss;
    } else if (place == AT_CLIP) {
        fault.transform = *(fault.real_transform = items->transforms[0]->functions);
        fault.transform.forward = forward;
        fault.transform.measure = NULL; /* what has forward at fault does not promise a factor */
        fault.transform.factor = NULL;
        items->transforms[0]->functions = &fault.transform;
    } else if (place == AT_ENCODE || place == AT_FRIENDS) {
        struct instance *mechanism = place == AT_FRIENDS ? users->terms[0].mechanism : items->mechanism;
        fault.mechanism = *(fault.real_mechanism = mechanism->functions);
        fault.mechanism.encode = encode;
        fault.mechanism.flags &= ~DPF_MECHANISM_ROUNDS;
        mechanism->functions = &fault.mechanism;
    } else if (place == AT_SOLVER || place == AT_ROWS) {
        fault.solver = *(fault.real_solver = users->solver_functions);
        fault.solver.solve = place == AT_ROWS ? solve_wildly : solve;
        users->solver_functions = &fault.solver;
    } else if (place == AT_DRAW) {
        fault.sampler = *(fault.real_sampler = items->sampler->functions);
        fault.sampler.draw = draw;
        items->sampler->functions = &fault.sampler;
    }
}

static void take_out(struct plan *plan)
{
    struct term_plan *items = &plan->sides[DPF_SIDE_ITEMS].terms[0];
    if (fault.place == AT_LOSS || fault.place == AT_SUM)
        items->loss->functions = fault.real_loss;
    if (fault.place == AT_CLIP)
        items->transforms[0]->functions = fault.real_transform;
    if (fault.place == AT_ENCODE)
        items->mechanism->functions = fault.real_mechanism;
    if (fault.place == AT_FRIENDS)
        plan->sides[DPF_SIDE_USERS].terms[0].mechanism->functions = fault.real_mechanism;
    if (fault.place == AT_DRAW)
        items->sampler->functions = fault.real_sampler;
    fault.place = NOWHERE;
}

/* ---- training ----------------------------------------------------------------------------------------- */

/* All users rate all items but those of `without`: all of the victim's, or one record. */
enum without { ALL_THERE, NO_VICTIM, NO_RECORD };

static void write_data(enum without without)
{
    char text[4096] = "user,item,rating\n", test[1024] = "user,item,rating\n";
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if (!(u == VICTIM && (without == NO_VICTIM || (without == NO_RECORD && i == VICTIM_ITEM))))
                snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d,%d\n", u, i,
                         1 + (3 * u + 2 * i) % 5);
    for (int u = 0; u < USERS; u++)
        snprintf(test + strlen(test), sizeof test - strlen(test), "%d,%d,3\n", u, ITEMS);
    training_file("ratings.csv", text);
    training_file("test.csv", test);
}

static void train(struct training *t, const char *changes, enum without without, enum place place)
{
    struct pool *pool = pool_new(2);
    struct plan *plan = &t->plan;
    struct violations violations = {0};
    const struct engine_hooks hooks = {.violations = &violations};
    char text[2048];
    memset(t, 0, sizeof *t);
    write_data(without);
    snprintf(text, sizeof text, "data.path=%s/ratings.csv\nsplit.test.path=%s/test.csv\n%s",
             training_directory, training_directory, changes);
    t->status = training_plan(plan, base_text, text, &t->error);
    if (t->status == 0)
        t->status = data_load(&plan->data, &plan->split, plan->seeded, pool, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = plan_complete(plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0)
        t->status = model_init(&t->model, plan, &t->dataset, &t->error);
    if (t->status != 0)
        fail_msg("%s", t->error.text);
    inject(plan, place);
    t->status = engine_run(plan, &t->dataset, pool, &t->model, &hooks, &t->stats, &t->error);
    take_out(plan);
    if (place != NOWHERE && t->status == 0) {
        assert_true(t->stats.violations > 0);
        assert_int_equal(t->stats.violations, violations.n);
        assert_non_null(
            strstr(violations.list[0].text, place == AT_ROWS ? "not finite" : "the test's fault"));
    }
    violations_free(&violations);
    pool_free(pool);
}

static void assert_initial(const struct training *t, int64_t user)
{
    float row[64];
    struct dpf_error error = {0};
    assert_true(t->model.stride <= 64);
    assert_int_equal(model_initial_row(&t->model, &t->dataset, DPF_SIDE_USERS, user, row, &error), 0);
    assert_memory_equal(training_row(t, DPF_SIDE_USERS, user), row, (size_t)t->model.stride * sizeof *row);
}

/* Released rows, and the local ones of all others, are those of a run in which the victim has no records. */
static void assert_as_without(const char *changes, enum without without, enum place place, int local)
{
    struct training broken, reference, stopped;
    char text[1024];
    train(&broken, changes, ALL_THERE, place);
    if (broken.status != 0)
        fail_msg("place %d, %s: %s", (int)place, changes, broken.error.text);
    train(&reference, changes, without, NOWHERE);
    if (!training_same_side(&broken, &reference, DPF_SIDE_ITEMS))
        fail_msg("place %d, %s: what is released differs", (int)place, changes);
    for (int64_t u = 0; u < USERS && local; u++)
        if (u != VICTIM)
            assert_memory_equal(training_row(&broken, DPF_SIDE_USERS, u),
                                training_row(&reference, DPF_SIDE_USERS, u),
                                (size_t)broken.model.columns * sizeof(float));
    if (local)
        assert_initial(&broken, VICTIM);
    snprintf(text, sizeof text, "%sprivacy.on-violation=error\n", changes);
    train(&stopped, text, ALL_THERE, place);
    assert_int_equal(stopped.status, -1);
    assert_int_equal(stopped.error.fault, DPF_FAULT_RUN);
    assert_non_null(strstr(stopped.error.text, "the test's fault"));
    training_free(&broken);
    training_free(&reference);
    training_free(&stopped);
}

TEST(messages_become_zero_with_their_noise)
{
    static const char *const kinds[] = {
        "",
        "items.mechanism.where=party\nitems.aggregator=modular-sum\n",
        "run.update=simultaneous\n",
        "items.aggregator=secagg\nprivacy.observer=server\nitems.mechanism.where=party\n",
        "items.transforms=clip-user, hadamard-flatten\n",
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (enum place place = AT_LOSS; place <= AT_ENCODE; place++)
            assert_as_without(kinds[k], NO_VICTIM, place, 1);
}

/* Mechanisms whose zero is not nothing: a share of the noise, or a binomial draw. */
TEST(zero_is_a_message_of_the_mechanism)
{
    static const char *const mechanisms[] = {
        "items.mechanism=laplace\nitems.mechanism.where=party\nitems.transform.clip-user.norm=l1\n",
        "items.mechanism=discrete-gaussian\n", "items.mechanism=skellam\n",
        "items.mechanism=laplace-gamma\nitems.transform.clip-user.norm=l1\n",
        "items.mechanism=pbm\nitems.mechanism.bound=1\nitems.mechanism.trials=4\n"};
    base_text = by_shares;
    for (size_t k = 0; k < sizeof mechanisms / sizeof mechanisms[0]; k++)
        for (enum place place = AT_LOSS; place <= AT_ENCODE; place++)
            assert_as_without(mechanisms[k], NO_VICTIM, place, 1);
    base_text = base;
}

TEST(local_rows_return_to_their_initial_values)
{
    for (int wild = 0; wild < 2; wild++) {
        struct training broken, sound;
        train(&broken, "run.rounds=1\n", ALL_THERE, wild ? AT_ROWS : AT_SOLVER);
        if (broken.status != 0)
            fail_msg("%s", broken.error.text);
        train(&sound, "run.rounds=1\n", ALL_THERE, NOWHERE);
        assert_initial(&broken, VICTIM);
        for (int64_t u = 0; u < USERS; u++)
            if (u != VICTIM) /* the batch that failed is solved again: no row is moved twice */
                assert_memory_equal(training_row(&broken, DPF_SIDE_USERS, u),
                                    training_row(&sound, DPF_SIDE_USERS, u),
                                    (size_t)broken.model.columns * sizeof(float));
        training_free(&broken);
        training_free(&sound);
    }
}

#define CURATOR                                                                                              \
    "parties.kind=curator\nprivacy.unit=record\nprivacy.adjacency=add-remove\nitems.transforms=clip-rows\n"  \
    "items.transform.clip-rows.bound=1\nusers.update=no\nrun.order=items\nmodel.init-norm=1\n"

/* A loss that sums each record and not two of them: nobody's records vanish because of somebody else's. */
TEST(sums_of_many_never_become_zero)
{
    struct training t;
    train(&t, CURATOR "privacy.on-violation=zero\n", ALL_THERE, AT_SUM);
    assert_int_equal(t.status, -1);
    assert_int_equal(t.error.fault, DPF_FAULT_PLUGIN);
    assert_non_null(strstr(t.error.text, "cannot be summed together"));
    training_free(&t);
}

/* A curator's sum is of everybody's records: one that is at fault is left out, and no other. */
TEST(one_record_is_left_out_of_a_sum)
{
    static const char curator[] = CURATOR;
    char text[1024];
    assert_as_without(curator, NO_RECORD, AT_LOSS, 0);
    snprintf(text, sizeof text, "%sitems.sampler=uniform\nitems.sampler.rate=0.6\n", curator);
    assert_as_without(text, NO_RECORD, AT_DRAW, 0);
    snprintf(text, sizeof text, "%sparties.kind=silos-by-users\nparties.count=3\n", curator);
    assert_as_without(text, NO_RECORD, AT_LOSS, 0);
}

#define AT_PARTIES                                                                                           \
    "parties.kind=silos-by-users\nparties.count=3\nprivacy.unit=record\nprivacy.adjacency=add-remove\n"      \
    "items.transforms=clip-rows\nitems.transform.clip-rows.bound=1\nitems.solve-at=party\n"                  \
    "items.mechanism.where=party\nitems.aggregator=mean\nmodel.init-norm=1\n"

/* Parties that solve: a record is left out of the query, and rows of the local side start again. */
TEST(parties_that_solve_go_on)
{
    struct training broken;
    assert_as_without(AT_PARTIES "users.update=no\nrun.order=items\n", NO_RECORD, AT_LOSS, 0);
    for (int wild = 0; wild < 2; wild++) {
        train(&broken, AT_PARTIES "privacy.on-violation=zero\nusers.solver=ball\nusers.solver.radius=1\n",
              ALL_THERE, wild ? AT_ROWS : AT_SOLVER);
        if (broken.status != 0)
            fail_msg("%s", broken.error.text);
        assert_initial(&broken, VICTIM);
        training_free(&broken);
    }
}

static const char by_friends[] =
    "[run]\nrounds = 2\nthreads = 2\norder = users\n"
    "[data]\npath = ratings.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\nrelation.header = no\n"
    "[split]\nkind = files\ntest.path = test.csv\n"
    "[model]\nrank = 2\ninit = normal\ninit-scale = 0.3\n[parties]\nkind = users\n"
    "[users]\nterms = near\nsolver = gradient-descent\n"
    "[users.near]\nsource = relation\ndestination = peer\nloss = social\nmechanism = gaussian\n"
    "[users.near.mechanism]\ncalibration = sigma\nsigma = 0.1\nwhere = party\n"
    "[users.solver]\nrate = 0.1\nradius = 1\n[items]\nupdate = no\n"
    "[privacy]\nid-lists = public\nunit = user\nadjacency = zero-out\nrandomness = "
    "reproducible\non-violation = zero\n";

/* A user whose row cannot be encoded sends zeros to those who link to it, in either way of sending. */
TEST(friends_go_on)
{
    static const char *const ways[] = {"users.near.send=rows\n", "users.near.send=links\n"};
    char text[512];
    training_file("links.txt", "0 7\n7 0\n1 7\n7 3\n3 2\n");
    base_text = by_friends;
    for (int way = 0; way < 2; way++) {
        struct training broken, stopped;
        snprintf(text, sizeof text, "data.relation.path=%s/links.txt\n%s", training_directory, ways[way]);
        train(&broken, text, ALL_THERE, AT_FRIENDS);
        if (broken.status != 0)
            fail_msg("%s", broken.error.text);
        assert_initial(&broken, VICTIM);
        strcat(text, "privacy.on-violation=error\n");
        train(&stopped, text, ALL_THERE, AT_FRIENDS);
        assert_int_equal(stopped.status, -1);
        training_free(&broken);
        training_free(&stopped);
    }
    base_text = base;
}

FIXTURE(training_begin, training_end)
