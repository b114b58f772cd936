/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a configuration to its statement: which conditions hold for which flow of data, and what epsilon
 * follows. Plans are made without data, as "dpframe account" makes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "integration/training.h"
#include "plan/plan_make.h"

#define DATA                                                                                                 \
    "[run]\nrounds = 100\n"                                                                                  \
    "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"                                             \
    "[split]\nkind = none\n"

/* Algorithm 1 of Mugdho and Imtiaz: epsilon_i 0.4, delta 0.01, J 100. */
static const char published[] =
    DATA "[model]\nrank = 20\ninit-scale = 1\ninit-norm = 1\nusers = 943\nitems = 1682\n"
         "[items]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "[users]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nresidual = raw\n"
         "mechanism = gaussian\n"
         "[users.loss]\nobjective = half\nclip-error = 1000\n"
         "[users.mechanism]\ncalibration = classic\nepsilon = 0.4\ndelta = 0.01\nwhere = sum\n"
         "[privacy]\nunit = record\nadjacency = replace-value\nobserver = outsider\ndelta = 1e-5\n"
         "[accountants]\nlist = published, rdp\n[accountants.published]\nclaim = gaussian-rdp-eq9\n";

/* Items released by clipped messages of users, whose own rows stay local. */
static const char by_users[] = DATA
    "[model]\nrank = 4\nusers = 1000\nitems = 200\nuser-bias = yes\nitem-bias = yes\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[accountants]\nlist = rdp\n";

static void plan_of(struct plan *plan, const char *base, const char *changes)
{
    struct dpf_error error = {0};
    if (training_plan(plan, base, changes, &error) != 0 || plan_complete(plan, -1, -1, &error) != 0)
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

static double epsilon_of(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("accountant %s gave no answer", accountant);
    return 0;
}

/* Exactly the condition `id` and no other of C1 .. C8 fails, and why has the text; id NULL: all hold. */
static void assert_fails(const char *base, const char *changes, const char *id, const char *text)
{
    struct plan plan;
    plan_of(&plan, base, changes);
    for (int i = 0; i < N_CONDITIONS; i++) {
        const struct condition *c = &plan.guarantee.conditions[i];
        int expected = !id || strcmp(c->id, id) != 0;
        if (strcmp(c->id, "C9") != 0 && c->holds != expected)
            fail_msg("%s %s: %s", c->id, c->holds ? "holds" : "fails", c->why);
        if (!expected && !strstr(c->why, text))
            fail_msg("\"%s\" missing in: %s", text, c->why);
    }
    assert_int_equal(plan.guarantee.plan_holds, id == NULL);
    plan_free(&plan);
}

/* What is found out from records, or drawn over all of them, is declared or belongs to ids. */
static void nothing_follows_from_the_whole_input(void **state)
{
    (void)state;
    static const struct {
        const char *changes, *text;
    } cases[] = {
        {"split.kind=random\n", NULL},
        {"split.kind=k-fold\n", NULL},
        {"split.kind=candidates\n", NULL},
        {"split.kind=per-user\n", NULL},
        {"split.kind=leave-one-out\n", NULL},
        {"split.kind=random-exact\n", "kind = random"},
        {"data.format=csv\n", "header to yes or no"},
        {"data.format=csv\ndata.column.user=user\n", NULL},
        {"data.format=csv\ndata.header=yes\n", NULL},
        {"data.format=tsv\ndata.header=no\n", "data] fields"},
        {"data.format=tsv\ndata.header=no\ndata.fields=4\n", NULL},
        {"data.format=movielens-100k\n", NULL},
        {"data.format=csv\ndata.header=yes\ndata.multi-line=yes\n", "multi-line = no"},
        {"data.format=csv\ndata.header=yes\ndata.encoding=auto\n", NULL},
    };
    char paths[2][128]; /* what the first line has is looked at, so that a wrong column is found */
    snprintf(paths[0], sizeof paths[0], "%s", training_file("any.csv", "user,item,rating\n1,1,1\n"));
    snprintf(paths[1], sizeof paths[1], "%s", training_file("any.tsv", "1\t1\t1\t1\n"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char changes[512];
        snprintf(changes, sizeof changes, "data.path=%s\nprivacy.id-lists=public\n%s",
                 paths[!strstr(cases[i].changes, "=csv")], cases[i].changes);
        assert_fails(by_users, changes, cases[i].text ? "C11" : NULL, cases[i].text);
    }
    static const char records[] =
        "items.update=no\nprivacy.interaction-pattern=public\nsplit.kind=per-user\n";
    assert_fails(published, records, NULL, ""); /* the neighbour has the same records */
}

/* When a run stops is seen by everybody: it may follow from releases, not from raw ratings. */
static void when_a_run_stops_is_no_secret(void **state)
{
    (void)state;
    assert_fails(by_users, "run.until=rounds\n", NULL, "");
    assert_fails(by_users, "run.until=released-rows\n", NULL, "");
    assert_fails(by_users, "run.until=training-error\n", "C2", "[run] until = rounds");
    struct plan plan;
    struct dpf_error error = {0};
    const char *const refused[] = {"users.mechanism=\nrun.until=released-rows\n",
                                   "data.feedback=implicit\nrun.until=training-error\n"};
    for (int i = 0; i < 2; i++) {
        assert_true(training_plan(&plan, published, refused[i], &error) != 0 ||
                    plan_complete(&plan, -1, -1, &error) != 0);
        assert_non_null(strstr(error.text, "until = "));
        plan_free(&plan);
        error = (struct dpf_error){0};
    }
}

static void published_claim_is_not_proved(void **state)
{
    (void)state;
    struct plan plan;
    plan_of(&plan, published, "");
    assert_false(condition_of(&plan, "C2")->holds);
    assert_non_null(
        strstr(condition_of(&plan, "C2")->why, "items factors that it reads are computed from the raw"));
    assert_false(plan.guarantee.plan_holds);
    assert_float_equal(epsilon_of(&plan, "published"), 7.005, 5e-4);
    plan_free(&plan);
    assert_fails(published, "privacy.interaction-pattern=public\n", "C2", "raw ratings");
    assert_fails(published, "privacy.interaction-pattern=public\nusers.residual=transformed\n", "C2",
                 "raw ratings");
}

/* Values that decide which records there are: then who rated what, as it is trained on, is made of them. */
static void values_that_choose_records_show(void **state)
{
    (void)state;
    static const char kept[] = "items.update=no\nprivacy.interaction-pattern=public\n";
    char text[256];
    assert_fails(published, kept, NULL, "");
    snprintf(text, sizeof text, "%sdata.out-of-range=drop\n", kept);
    assert_fails(published, text, "C8", "dropped by its value");
    snprintf(text, sizeof text, "%sdata.feedback=implicit\n", kept);
    assert_fails(published, text, NULL, "");
    snprintf(text, sizeof text, "%sdata.feedback=implicit\ndata.threshold=4\n", kept);
    assert_fails(published, text, "C8", "dropped by its value");
    assert_fails(by_users, "data.feedback=implicit\ndata.threshold=4\nprivacy.adjacency=replace\n", NULL, "");
}

/* Held items are constants: then the release is the Gaussian mechanism, composed 100 times. */
static void constant_items_are_proved(void **state)
{
    (void)state;
    struct plan plan;
    plan_of(&plan, published, "items.update=no\nprivacy.interaction-pattern=public\n");
    assert_true(plan.guarantee.plan_holds);
    assert_float_equal(epsilon_of(&plan, "rdp"), 6.336, 2e-3);
    assert_float_equal(epsilon_of(&plan, "published"), 7.005, 5e-4);
    assert_int_equal(plan.ledger.entries[0].event.count, 100);
    plan_free(&plan);
    assert_fails(published, "items.update=no\n", "C8", "interaction-pattern = public");
}

static void users_that_stay_local_are_jointly_protected(void **state)
{
    (void)state;
    struct plan plan;
    static const char *const adjacencies[] = {"", "privacy.adjacency=replace\n"};
    double epsilon[2];
    for (int i = 0; i < 2; i++) {
        assert_fails(by_users, adjacencies[i], NULL, "");
        plan_of(&plan, by_users, adjacencies[i]);
        assert_true(plan.guarantee.joint);
        epsilon[i] = epsilon_of(&plan, "rdp");
        assert_true(isfinite(epsilon[i]) && epsilon[i] > 0);
        plan_free(&plan);
    }
    /* The noise is chosen for the adjacency that is asked for, so both give the same epsilon. */
    assert_float_equal(epsilon[0], epsilon[1], 1e-3 * epsilon[0]);
    assert_fails(by_users, "privacy.unit=record\n", "C2", "");
}

static void missing_clip_is_refused_with_a_remedy(void **state)
{
    (void)state;
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, by_users, "items.transforms=\n", &error), 0);
    assert_int_equal(plan_complete(&plan, -1, -1, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "transforms = clip-user"));
    plan_free(&plan);
}

static void bounds_from_data_are_no_bounds(void **state)
{
    (void)state;
    assert_fails(
        published,
        "items.update=no\nprivacy.interaction-pattern=public\nusers.transforms=\nusers.bounds=empirical\n",
        "C1", "maxima over private factors");
}

/* ---- noise that is not there -------------------------------------------------------------------------- */

static void releases_without_noise_prove_nothing(void **state)
{
    (void)state;
    static const char *const changes[] = {"items.mechanism=none\n", "privacy.observer=server\n"};
    /* Noise that the server adds does not protect from the server. */
    static const char *const why[] = {"without noise", "by the server"};
    for (int i = 0; i < 2; i++) {
        struct plan plan;
        plan_of(&plan, by_users, changes[i]);
        const struct condition *enough = condition_of(&plan, "C5");
        assert_false(enough->holds);
        assert_non_null(strstr(enough->why, why[i]));
        assert_false(plan.guarantee.plan_holds);
        plan_free(&plan);
    }
}

static const char terms[] =
    DATA "[model]\nrank = 4\ninit-norm = 1\nusers = 1000\nitems = 200\n"
         "[users]\nterms = noisy, bare\nsolver = gradient-descent\n"
         "[users.noisy]\nloss = squared-error\nmechanism = gaussian\n[users.noisy.loss]\nclip-error = 1\n"
         "[users.noisy.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
         "[users.bare]\nloss = squared-error\n[users.bare.loss]\nclip-error = 1\n"
         "[items]\nupdate = no\n"
         "[privacy]\nunit = record\nadjacency = replace-value\ninteraction-pattern = public\nobserver = "
         "outsider\ndelta "
         "= 1e-6\n"
         "[accountants]\nlist = rdp\n";

/* A term that no mechanism has seen goes into the same released row. */
static void bare_terms_beside_noisy_ones_leak(void **state)
{
    (void)state;
    assert_fails(terms, "", "C5", "users.bare has no mechanism");
    assert_fails(terms,
                 "users.bare.mechanism=gaussian\nusers.bare.mechanism.calibration=noise-multiplier\n"
                 "users.bare.mechanism.noise-multiplier=4\nusers.bare.mechanism.where=sum\n",
                 NULL, "");
    struct plan plan;
    plan_of(&plan, terms, "");
    assert_false(plan.sides[DPF_SIDE_USERS].public_rows);
    plan_free(&plan);
}

static const char *terms_without_clip(void)
{
    static char text[2048];
    static const char key[] = "[users.bare.loss]\nclip-error = 1\n";
    const char *at = strstr(terms, key);
    snprintf(text, sizeof text, "%.*s%s", (int)(at - terms), terms, at + strlen(key));
    return text;
}

/* Similarities are made of the ratings of both ends, whoever's rows were released with noise. */
static void links_by_similarity_read_ratings(void **state)
{
    (void)state;
    char text[1024];
    const char *path = training_file("links.txt", "1 2\n");
    snprintf(
        text, sizeof text,
        "data.relation.path=%s\nusers.solver.radius=1\nusers.bare.loss=social\nusers.bare.source=relation\n"
        "users.bare.mechanism=gaussian\nusers.bare.mechanism.calibration=noise-multiplier\n"
        "users.bare.mechanism.noise-multiplier=4\nusers.bare.mechanism.where=sum\n"
        "data.relation.similarity=",
        path);
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "none\n");
    assert_fails(terms_without_clip(), text, NULL, "");
    snprintf(text + length, sizeof text - length, "pearson\n");
    assert_fails(terms_without_clip(), text, "C2", "similarities of the raw ratings");
}

/* PrivSR, with what friends send protected: local users who send rows with noise, and a secure sum. */
static const char friends[] =
    DATA "[model]\nrank = 2\nusers = 1000\nitems = 200\n[parties]\nkind = users\n"
         "[users]\nterms = rating, social\nsolver = damped-gradient-descent\n[users.solver]\nradius = 1\n"
         "[users.rating]\nloss = squared-error\n"
         "[users.social]\nsource = relation\ndestination = peer\nloss = social\nmechanism = laplace\n"
         "[users.social.mechanism]\nepsilon = 0.5\nwhere = party\n"
         "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = laplace-gamma\n"
         "aggregator = modular-sum\nsolver = gradient-descent\n[items.transform.clip-user]\nnorm = l1\n"
         "[items.mechanism]\nepsilon = 1.5\nmin-honest = 700\nmax-curious = 100\n"
         "[privacy]\nunit = user\nadjacency = zero-out\nobserver = parties\n[accountants]\nlist = pure\n";

static void rows_that_friends_send_are_releases(void **state)
{
    (void)state;
    char text[256];
    struct plan plan;
    assert_fails(friends, "", NULL, "");
    plan_of(&plan, friends, "");
    assert_float_equal(epsilon_of(&plan, "pure"), 100 * (1.5 + 0.5), 1e-5);
    const struct term_plan *social = &plan.sides[DPF_SIDE_USERS].terms[1];
    assert_float_equal(social->sensitivity.blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l1, 2 * sqrt(2),
                       1e-9);
    assert_true(plan.run_facts.local_users);
    plan_free(&plan);
    snprintf(text, sizeof text, "data.relation.path=%s\ndata.relation.similarity=pearson\n",
             training_file("links.txt", "1 2\n"));
    assert_fails(friends, text, "C2", "similarities of the raw ratings");
    assert_fails(friends,
                 "privacy.unit=record\nprivacy.adjacency=replace-value\nprivacy.interaction-pattern=public\n",
                 "C2", "computed from the raw ratings");
    assert_fails(friends, "users.social.mechanism.where=sum\n", "C5", "receive each other's messages bare");
    assert_fails(friends, "items.mechanism.max-curious=0\n", "C5", "knows its own share");
    assert_fails(friends, "items.mechanism.max-curious=0\nprivacy.observer=server\n", NULL, "");
    plan_of(&plan, friends, "privacy.adjacency=add-remove\n");
    assert_non_null(strstr(condition_of(&plan, "C8")->why, "a row of its own"));
    assert_non_null(strstr(condition_of(&plan, "C12")->why, "too few users"));
    plan_free(&plan);
}

/* Nothing bounds how many link to a user, and so how many messages with noise of their own a user sends. */
static void messages_by_link_have_no_bound_for_users(void **state)
{
    (void)state;
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, friends, "users.social.send=links\n", &error), 0);
    assert_int_equal(plan_complete(&plan, -1, -1, &error), -1);
    assert_non_null(strstr(error.text, "sensitivity"));
    plan_free(&plan);
}

/* A local side whose rows need everybody's records is no secret from the server that solves it. */
static void local_sides_must_be_local(void **state)
{
    (void)state;
    static const char server[] =
        "privacy.observer=server\nusers.mechanism.where=party\nusers.solve-at=server\n"
        "privacy.interaction-pattern=public\n";
    char text[512];
    struct plan plan;
    snprintf(text, sizeof text, "%sparties.kind=users\n", server);
    plan_of(&plan, published, text);
    assert_false(condition_of(&plan, "C5")->holds);
    assert_non_null(strstr(condition_of(&plan, "C5")->why, "items has no mechanism"));
    plan_free(&plan);
    snprintf(text, sizeof text, "%sitems.update=no\nparties.kind=users\n", server);
    assert_fails(published, text, NULL, "");
}

/* One draw for all rounds: the difference of two releases has no noise. */
static void reused_noise_is_found(void **state)
{
    (void)state;
    static const char probe[] = "items.mechanism=test-probe\nitems.mechanism.where=sum\n";
    static const char reused[] =
        "items.mechanism=test-probe\nitems.mechanism.where=sum\nitems.mechanism.lifetime=run\n";
    assert_fails(by_users, probe, NULL, "");
    assert_fails(by_users, reused, "C5", "one draw of noise serves 100 releases");
}

static const char mixture[] =
    DATA "[model]\nrank = 4\nusers = 1000\nitems = 200\n[parties]\nkind = users\n"
         "[users]\nloss = squared-error\nsolver = gradient-descent\n[users.solver]\nradius = 1\n"
         "[items]\nloss = squared-error\nmechanism = laplace-mixture\nsolver = gradient-descent\n"
         "[items.mechanism]\nepsilon = 1\n"
         "[privacy]\nunit = record\nadjacency = replace-value\nobserver = server\n";

/* A stretched value moves in proportion to its weight, unless its error is clipped. */
static void stretched_records_cost_their_weight(void **state)
{
    (void)state;
    static const char stretched[] = "items.transforms=stretch\naccountants.list=heterogeneous\n"
                                    "data.weights.kind=groups\n";
    struct plan plan;
    char changes[256];
    plan_of(&plan, mixture, stretched);
    const dpf_event *event = &plan.ledger.entries[0].event;
    const dpf_norms *all = &event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
    assert_true(event->weighted && event->unweighted.l1 > 0 && event->unweighted.l1 < 1e-5 * all->l1);
    assert_float_equal(epsilon_of(&plan, "heterogeneous"), 100, 1e-3);
    /* What is printed is near, and never less: the whole weight's is the account's epsilon. */
    double low, high;
    const char *note = strstr(plan.guarantee.accounts[0].answer.note, "weight: ");
    assert_non_null(note);
    assert_int_equal(sscanf(note, "weight: %lf at weight 0.01, %lf at weight 1.", &low, &high), 2);
    const double whole = epsilon_of(&plan, "heterogeneous");
    assert_true(high >= whole && high < whole * (1 + 1e-5) && low >= 0.01 * whole && low < 1.001);
    plan_free(&plan);
    /* Rounding of values does not hide that: about the middle of the range it exceeds the range. */
    snprintf(changes, sizeof changes, "%sitems.transform.stretch.center=3\n", stretched);
    plan_of(&plan, mixture, changes);
    assert_true(plan.ledger.entries[0].event.weighted);
    plan_free(&plan);
    snprintf(changes, sizeof changes, "%sitems.loss.clip-error=1\n", stretched);
    plan_of(&plan, mixture, changes);
    assert_false(plan.ledger.entries[0].event.weighted);
    plan_free(&plan);
    plan_of(&plan, mixture, "accountants.list=heterogeneous\n");
    assert_false(plan.ledger.entries[0].event.weighted);
    plan_free(&plan);
}

/* Shares of noise that stay away with their users leave too little in the sum. */
static void shares_of_noise_need_all_parties(void **state)
{
    (void)state;
    struct plan plan;
    struct dpf_error error = {0};
    plan_of(&plan, mixture, "");
    plan_free(&plan);
    assert_int_equal(training_plan(&plan, mixture, "items.sampler=poisson-users\n", &error), 0);
    assert_int_equal(plan_complete(&plan, -1, -1, &error), -1);
    assert_non_null(strstr(error.text, "their share of the noise"));
    plan_free(&plan);
}

/* Under add-remove of a user nothing may show that the user exists. */
static void users_that_come_or_go_do_not_show(void **state)
{
    (void)state;
    static const char party[] = "items.mechanism.where=party\nitems.transforms=clip-user, test-fold\n";
    char text[1024];
    assert_fails(by_users, "model.users=0\n", "C2", "[model] users");
    assert_fails(by_users, "model.users=0\nprivacy.adjacency=replace\n", NULL, "");
    assert_fails(by_users, "items.aggregator=mean\n", "C8", "exact number of users");
    assert_fails(by_users, "items.aggregator=mean\nprivacy.adjacency=replace\n", NULL, "");
    assert_fails(by_users, party, "C8", "brings noise");
    snprintf(text, sizeof text, "%sprivacy.adjacency=replace\n", party);
    assert_fails(by_users, text, NULL, "");
    struct plan plan;
    plan_of(&plan, by_users, "items.sampler=poisson-users\nitems.sampler.rate=0.1\nitems.aggregator=mean\n");
    assert_int_equal(plan.ledger.entries[0].event.sampling.hidden_from, -1);
    char *statement = guarantee_text(&plan.guarantee);
    assert_non_null(strstr(statement, "TAKEN AS PUBLIC"));
    assert_non_null(strstr(statement, "A bound on the number of users"));
    free(statement);
    plan_free(&plan);
    char path[128];
    snprintf(path, sizeof path, "%s", training_file("any.csv", "user,item,rating\n1,1,1\n"));
    snprintf(text, sizeof text,
             "privacy.adjacency=replace\nsplit.kind=files\nsplit.test.path=%s\n"
             "data.format=csv\ndata.header=yes\ndata.path=%s\n",
             path, path);
    plan_of(&plan, by_users, text);
    statement = guarantee_text(&plan.guarantee);
    assert_non_null(strstr(statement, "The list of users"));
    assert_non_null(strstr(statement, "only one user ever"));
    assert_non_null(strstr(statement, "taken from the data"));
    assert_non_null(strstr(statement, "training parts that differ"));
    free(statement);
    assert_false(plan.guarantee.plan_holds);
    plan_free(&plan);
    /* It can be declared to be public; the statement still says where it comes from. */
    assert_fails(by_users, text, "C11", "items-file");
    const size_t length = strlen(text);
    strcat(text, "privacy.id-lists=public\n");
    plan_of(&plan, by_users, text);
    statement = guarantee_text(&plan.guarantee);
    assert_non_null(strstr(statement, "only one user ever"));
    assert_non_null(strstr(statement, "taken from the data"));
    assert_non_null(strstr(statement, "declared to be public"));
    free(statement);
    assert_true(condition_of(&plan, "C11")->holds);
    plan_free(&plan);
    text[length] = '\0';
    /* A number of items that is declared leaves their list what it is; a catalogue does not. */
    strcat(text, "data.items-file=");
    strcat(text, path);
    strcat(text, "\n");
    plan_of(&plan, by_users, text);
    statement = guarantee_text(&plan.guarantee);
    assert_non_null(strstr(statement, "The catalogue of items"));
    assert_null(strstr(statement, "only one user ever"));
    free(statement);
    plan_free(&plan);
    assert_fails(by_users, text, NULL, "");
}

/* Whose record comes or goes may be all that there is of a user, or of an item. */
static void lists_of_ids_follow_from_records(void **state)
{
    (void)state;
    char path[128], text[1024];
    snprintf(path, sizeof path, "%s", training_file("any.csv", "user,item,rating\n1,1,1\n"));
    snprintf(text, sizeof text, "data.format=csv\ndata.header=yes\ndata.path=%s\n", path);
    struct plan plan;
    static const struct {
        const char *changes;
        int holds;
    } cases[] = {
        {"privacy.unit=record\nprivacy.adjacency=replace-value\n", 1},
        {"privacy.unit=record\nprivacy.adjacency=add-remove\n", 0},
        {"privacy.unit=record\nprivacy.adjacency=zero-out\nprivacy.interaction-pattern=public\n", 1},
        {"privacy.unit=record\nprivacy.adjacency=zero-out\n", 0},
        {"privacy.unit=user\nprivacy.adjacency=zero-out\ndata.items-file=@\n", 1},
        {"privacy.unit=record\nprivacy.adjacency=zero-out\ndata.items-file=@\n", 0}, /* users */
        {"privacy.unit=record\nprivacy.adjacency=zero-out\ndata.items-file=@\ndata.users-file=@\n", 1},
        {"privacy.unit=record\nprivacy.adjacency=zero-out\nprivacy.id-lists=public\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char changes[2048], own[1024];
        for (size_t at = 0, to = 0; (own[to] = cases[i].changes[at]) != '\0'; at++)
            to += own[to] == '@' ? (size_t)snprintf(own + to, 256, "%s", path) : 1;
        snprintf(changes, sizeof changes, "%s%s", text, own);
        plan_of(&plan, by_users, changes);
        if (condition_of(&plan, "C11")->holds != cases[i].holds)
            fail_msg("%s: C11 says %d: %s", cases[i].changes, condition_of(&plan, "C11")->holds,
                     condition_of(&plan, "C11")->why);
        plan_free(&plan);
    }
    struct plan generated;
    plan_of(&generated, by_users, "privacy.unit=record\nprivacy.adjacency=zero-out\n");
    assert_true(condition_of(&generated, "C11")->holds);
    plan_free(&generated);
}

/* ---- bounds ---------------------------------------------------------------------------------------------
 */

/* The constant that pairs with a bias is outside the clip, but inside the gradient. */
static void biases_count_in_sensitivities(void **state)
{
    (void)state;
    static const char clipped[] =
        "items.update=no\nprivacy.interaction-pattern=public\nusers.loss.clip-error=1\n";
    char biased[256];
    struct plan plain, bias;
    snprintf(biased, sizeof biased, "%smodel.user-bias=yes\n", clipped);
    plan_of(&plain, published, clipped);
    plan_of(&bias, published, biased);
    const struct term_plan *a = &plain.sides[DPF_SIDE_USERS].terms[0],
                           *b = &bias.sides[DPF_SIDE_USERS].terms[0];
    double without = a->sensitivity.blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    double with = b->sensitivity.blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_float_equal(without, 2, 1e-4);
    assert_float_equal(with, 2 * sqrt(2), 1e-4);
    /* Predictions have the other side's bias too, which no clip touches. */
    char items[256];
    snprintf(items, sizeof items, "%smodel.item-bias=yes\n", clipped);
    plan_free(&bias);
    plan_of(&bias, published, items);
    b = &bias.sides[DPF_SIDE_USERS].terms[0];
    assert_true(b->bounds.residual_l2 >= a->bounds.residual_l2);
    assert_true(isinf(b->bounds.self_l2) || b->bounds.self_l2 >= 1);
    plan_free(&plain);
    plan_free(&bias);
}

/* What rounds to float32 may exceed its norm by a little: the bound covers it. */
static void initial_rows_are_within_their_bound(void **state)
{
    (void)state;
    struct training t;
    training_run(&t, published, "run.rounds=0\nitems.update=no\nusers.transforms=\nmodel.users=2000\n");
    double bound = t.plan.sides[DPF_SIDE_USERS].terms[0].bounds.other_l2;
    assert_true(bound >= 1 && bound < 1.00001);
    for (int64_t i = 0; i < t.dataset.items.n; i++) {
        const float *row = training_row(&t, DPF_SIDE_ITEMS, i);
        double square = 0;
        for (int c = 0; c < t.model.columns; c++)
            square += (double)row[c] * row[c];
        assert_true(sqrt(square) <= bound);
        assert_float_equal(sqrt(square), 1, 1e-5);
    }
    training_free(&t);
}

/* Rows seen through a projection are sums of rows in the solver's ball. */
static void projected_rows_have_no_radius(void **state)
{
    (void)state;
    struct plan plan;
    plan_of(&plan, by_users, "items.solver.radius=1\nitems.transforms=clip-user, test-fold\n");
    assert_true(isinf(plan.sides[DPF_SIDE_ITEMS].radius));
    plan_free(&plan);
    plan_of(&plan, by_users, "items.solver.radius=1\n");
    assert_true(plan.sides[DPF_SIDE_ITEMS].radius == 1);
    plan_free(&plan);
}

/* ---- sampling -------------------------------------------------------------------------------------------
 */

static void secret_poisson_draws_amplify(void **state)
{
    (void)state;
    struct plan all, some, known;
    plan_of(&all, by_users, "");
    plan_of(&some, by_users, "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    plan_of(&known, by_users,
            "items.sampler=poisson-users\nitems.sampler.rate=0.1\nitems.sampler.secrecy=none\n");
    assert_true(epsilon_of(&some, "rdp") < 0.3 * epsilon_of(&all, "rdp"));
    assert_float_equal(epsilon_of(&known, "rdp"), epsilon_of(&all, "rdp"), 1e-9);
    plan_free(&all);
    plan_free(&some);
    plan_free(&known);
}

/* Three blocks: quadratic, linear, count; clipped at once, or each by itself. */
#define ONE_BALL                                                                                             \
    "items.loss=explicit-als\nitems.solver=cholesky\nmodel.user-bias=no\nmodel.item-bias=no\n"               \
    "model.offset=midpoint\n"
#define BLOCKS ONE_BALL "items.transform.clip-user.block-bounds=1, 1, 1\n"

/* The sum over events of (D / s)^2 in L2, of those that cost something. */
static double squared_multipliers(const struct plan *plan, int32_t *charged)
{
    double sum = 0;
    *charged = 0;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        const double moved = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2;
        if (event->kind == DPF_EVENT_NO_OP || moved == 0)
            continue;
        sum += moved * moved / (event->scale * event->scale);
        ++*charged;
    }
    return sum;
}

/*
 * Blocks of one release share its draw: amplified one by one, as if each had a draw of its own, they would
 * cost less than they do. As one Gaussian release they are sampled once.
 */
static void blocks_that_share_a_draw_are_sampled_once(void **state)
{
    (void)state;
    struct plan all, some, laplace;
    int32_t n_all, n_some, n_laplace;
    plan_of(&all, by_users, BLOCKS);
    plan_of(&some, by_users, BLOCKS "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    const double before = squared_multipliers(&all, &n_all), after = squared_multipliers(&some, &n_some);
    assert_true(n_all > 1 && n_some == 1);
    assert_true(after >= before && after < before * (1 + 1e-9));
    const dpf_event *joined = &some.ledger.entries[0].event;
    assert_int_equal(joined->kind, DPF_EVENT_DISCRETE_GAUSSIAN);
    assert_int_equal(joined->sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    assert_true(joined->scale / joined->grid >= 16);
    assert_true(strstr(some.ledger.entries[0].source, "shares its draw") != NULL);
    assert_true(epsilon_of(&some, "rdp") < 0.5 * epsilon_of(&all, "rdp"));
    /* It costs more than the blocks would with a draw each. */
    struct plan wrong = some;
    dpf_event events[3];
    dpf_answer answer = {.size = sizeof answer};
    const dpf_question question = {.size = sizeof question,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE,
                                   .observer = DPF_OBSERVER_OUTSIDER,
                                   .delta = 1e-6,
                                   .rounds = 100};
    int32_t n = 0;
    for (int64_t i = 0; i < all.ledger.n && n < 3; i++) {
        events[n] = all.ledger.entries[i].event;
        events[n++].sampling = joined->sampling;
    }
    const dpf_accountant *rdp = wrong.accountants[0]->functions;
    assert_int_equal(rdp->epsilon(wrong.accountants[0]->self, events, n, &question, &answer), DPF_OK);
    assert_true(answer.epsilon < epsilon_of(&some, "rdp"));
    /* Of other noise that is not proved: no block is amplified. */
    plan_of(&laplace, by_users,
            BLOCKS
            "items.mechanism=laplace\nitems.mechanism.epsilon=1\nitems.mechanism.where=sum\n"
            "items.transform.clip-user.norm=l1\nitems.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    squared_multipliers(&laplace, &n_laplace);
    assert_true(n_laplace > 1);
    for (int64_t i = 0; i < laplace.ledger.n; i++)
        assert_int_equal(laplace.ledger.entries[i].event.sampling.hidden_from, -1);
    plan_free(&all);
    plan_free(&some);
    plan_free(&laplace);
}

/* Units and adjacencies that no header names yet: "not stated", whatever a plugin leaves in their rows. */
static void rows_without_a_meaning_are_not_stated(void **state)
{
    (void)state;
    static const char *const mechanisms[] = {"gaussian", "test-probe", "none"};
    for (size_t m = 0; m < 3; m++) {
        char changes[256];
        struct plan plan;
        snprintf(changes, sizeof changes, "items.mechanism=%s\n%s", mechanisms[m],
                 m == 0 ? "items.mechanism.calibration=noise-multiplier\n" : "");
        plan_of(&plan, by_users, changes);
        assert_true(plan.ledger.n > 0);
        for (int64_t i = 0; i < plan.ledger.n; i++)
            for (int u = 0; u < DPF_UNIT_ROWS; u++)
                for (int a = 0; a < DPF_ADJACENCY_ROWS; a++)
                    if (u >= DPF_N_UNITS || a >= DPF_N_ADJACENCIES)
                        assert_true(isnan(plan.ledger.entries[i].event.sensitivity.at[u][a].l2));
        const struct term_sensitivity *stated = &plan.sides[DPF_SIDE_ITEMS].terms[0].sensitivity;
        assert_int_equal(stated->n_bounds, 1);
        assert_true(isnan(stated->bounds[0].at[DPF_UNIT_ROWS - 1][0]));
        assert_true(isnan(stated->blocks[0].at[0][DPF_ADJACENCY_ROWS - 1].l1));
        plan_free(&plan);
    }
}

/*
 * One clip for a whole message is charged once: C / s for the least noise s, whatever the number of blocks,
 * and the release is one event, in L1 as in L2.
 */
static void one_ball_is_charged_once(void **state)
{
    (void)state;
    struct plan one, apart, sampled, laplace, product;
    int32_t n;
    plan_of(&one, by_users, ONE_BALL);
    plan_of(&apart, by_users, BLOCKS);
    const double z = squared_multipliers(&one, &n);
    assert_int_equal(n, 1);
    assert_float_equal(z, 1.0 / 16, 1e-6); /* noise-multiplier = 4 */
    assert_float_equal(squared_multipliers(&apart, &n), 1.0 / 16, 1e-6);
    assert_int_equal(n, 3);
    /* The same guarantee with noise of sigma C for all blocks, in place of sqrt(3) times that. */
    const dpf_noise_plan *noise = &one.sides[DPF_SIDE_ITEMS].terms[0].noise;
    const dpf_noise_plan *before = &apart.sides[DPF_SIDE_ITEMS].terms[0].noise;
    for (int b = 0; b < 3; b++) {
        assert_float_equal(noise->scale[b], 4, 1e-2);
        assert_float_equal(before->scale[b], 4 * sqrt(3), 1e-2);
    }
    assert_float_equal(epsilon_of(&one, "rdp"), epsilon_of(&apart, "rdp"), 1e-3);
    plan_of(&sampled, by_users, ONE_BALL "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    assert_true(epsilon_of(&sampled, "rdp") < 0.5 * epsilon_of(&one, "rdp"));
    const char to_laplace[] = ONE_BALL "items.mechanism=laplace\nitems.mechanism.epsilon=1\n"
                                       "items.mechanism.where=sum\nitems.transform.clip-user.norm=l1\n"
                                       "accountants.list=pure\nrun.rounds=1\n";
    plan_of(&laplace, by_users, to_laplace);
    assert_float_equal(epsilon_of(&laplace, "pure"), 1, 1e-9);
    assert_int_equal(laplace.ledger.n, 1);
    assert_int_equal(laplace.ledger.entries[0].event.kind, DPF_EVENT_DISCRETE_LAPLACE);
    assert_float_equal(laplace.sides[DPF_SIDE_ITEMS].terms[0].noise.scale[1], 1, 1e-2);
    char text[1024];
    snprintf(text, sizeof text, "%sitems.transform.clip-user.block-bounds=1, 1, 1\n", to_laplace);
    plan_of(&product, by_users, text);
    assert_float_equal(epsilon_of(&product, "pure"), 1, 1e-9);
    assert_float_equal(product.sides[DPF_SIDE_ITEMS].terms[0].noise.scale[1], 3, 1e-2);
    /* Replacing a user moves from one end of the ball to the other. */
    const dpf_sensitivity *stated = &one.ledger.entries[0].event.sensitivity;
    assert_float_equal(stated->at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2,
                       2 * stated->at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2, 1e-2);
    plan_free(&one);
    plan_free(&apart);
    plan_free(&sampled);
    plan_free(&laplace);
    plan_free(&product);
}

/* Weights let more of a block through, and give it as much more noise: the price is the same. */
static void weights_of_blocks_scale_their_noise(void **state)
{
    (void)state;
    struct plan plain, weighted, laplace;
    plan_of(&plain, by_users, ONE_BALL);
    plan_of(&weighted, by_users, ONE_BALL "items.transform.clip-user.block-weights=2, 0.7, 0.1\n");
    const dpf_noise_plan *noise = &weighted.sides[DPF_SIDE_ITEMS].terms[0].noise;
    assert_float_equal(noise->scale[0], 8, 2e-2);
    assert_float_equal(noise->scale[1], 2.8, 1e-2);
    assert_float_equal(noise->scale[2], 0.4, 1e-2);
    assert_float_equal(epsilon_of(&weighted, "rdp"), epsilon_of(&plain, "rdp"), 1e-3);
    /* On grids of their own, blocks of Laplace noise are one release of a pure guarantee. */
    plan_of(&laplace, by_users,
            ONE_BALL "items.mechanism=laplace\nitems.mechanism.epsilon=1\nitems.mechanism.where=sum\n"
                     "items.transform.clip-user.norm=l1\naccountants.list=pure\nrun.rounds=1\n"
                     "items.transform.clip-user.block-weights=2, 0.7, 0.1\n");
    assert_int_equal(laplace.ledger.n, 1);
    assert_int_equal(laplace.ledger.entries[0].event.kind, DPF_EVENT_PURE);
    assert_float_equal(epsilon_of(&laplace, "pure"), 1, 1e-6);
    plan_free(&plain);
    plan_free(&weighted);
    plan_free(&laplace);
}

/*
 * Personal draws are one draw of the run, so that the same records are kept for both sides: given that a
 * record is, both releases depend on it. Amplified one by one they would cost 2 ln(1 + q (e^e - 1)), less
 * than they do.
 */
static const char personal[] = DATA
    "[data.weights]\nkind = groups\n"
    "[model]\nrank = 2\ninit-scale = 1\nusers = 1000\nitems = 200\n"
    "[users]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nmechanism = laplace\n"
    "sampler = personalised\n[users.loss]\nclip-error = 1\n[users.mechanism]\nepsilon = 1\nwhere = sum\n"
    "[items]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nmechanism = laplace\n"
    "sampler = personalised\n[items.loss]\nclip-error = 1\n[items.mechanism]\nepsilon = 1\nwhere = sum\n"
    "[privacy]\nunit = record\nadjacency = add-remove\nobserver = outsider\n"
    "[accountants]\nlist = heterogeneous\n";

static double epsilon_at_lowest_weight(const struct plan *plan)
{
    double low = NAN;
    const char *note = strstr(plan->guarantee.accounts[0].answer.note, "weight: ");
    assert_non_null(note);
    assert_int_equal(sscanf(note, "weight: %lf at weight", &low), 1);
    return low;
}

static void sides_that_share_a_draw_are_not_amplified_one_by_one(void **state)
{
    (void)state;
    struct plan both, one;
    plan_of(&both, personal, "run.rounds=1\n");
    for (int64_t e = 0; e < both.ledger.n; e++)
        assert_int_equal(both.ledger.entries[e].event.sampling.hidden_from, -1);
    assert_true(both.guarantee.plan_holds);
    assert_true(epsilon_at_lowest_weight(&both) >= 2);
    plan_free(&both);
    plan_of(&one, personal, "run.rounds=1\nitems.update=no\n");
    assert_int_equal(one.ledger.entries[0].event.sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    assert_true(epsilon_at_lowest_weight(&one) < 0.1);
    plan_free(&one);
    plan_of(&one, personal, "run.rounds=1\nitems.sampler=uniform\nitems.sampler.weight=unit\n");
    assert_int_equal(one.sides[DPF_SIDE_USERS].terms[0].sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    plan_free(&one);
}

/* ---- nothing silences a condition -----------------------------------------------------------------------
 */

/* Condition `id` fails, alone or with others, and the statement is "none" and names it. */
static void assert_none(const char *base, const char *changes, const char *silencer, const char *id)
{
    char text[1024];
    struct plan plan;
    snprintf(text, sizeof text, "%s%s", changes, silencer);
    plan_of(&plan, base, text);
    if (condition_of(&plan, id)->holds)
        fail_msg("%s holds with %s", id, text);
    char *statement = guarantee_text(&plan.guarantee);
    json_t *json = guarantee_json(&plan.guarantee);
    snprintf(text, sizeof text, "\n%-4s ", id);
    const char *line = strstr(statement, text), *fails = line ? strstr(line, "FAILS") : NULL;
    assert_true(strstr(statement, "none") && fails && fails - line < 32);
    assert_int_equal(json_array_size(json_object_get(json, "proved")), 0);
    assert_false(plan.guarantee.plan_holds || plan.guarantee.run_holds);
    json_decref(json);
    free(statement);
    plan_free(&plan);
}

/* Declarations, other noise, other accountants, a budget for the run: what is wrong stays wrong. */
static void no_key_silences_a_condition(void **state)
{
    (void)state;
    static const struct {
        const char *id, *base, *changes;
    } violations[] = {
        {"C1", published,
         "items.update=no\nprivacy.interaction-pattern=public\nusers.transforms=\nusers.bounds=empirical\n"},
        {"C2", published, "privacy.interaction-pattern=public\n"},
        {"C2", by_users, "model.users=0\n"},
        {"C4", mixture, ""},
        {"C5", by_users, "privacy.observer=server\n"},
        {"C5", by_users, "privacy.observer=parties\n"},
        {"C5", terms, ""},
        {"C7", by_users, "items.mechanism=none\nitems.transforms=\n"},
        {"C8", published, "items.update=no\nprivacy.interaction-pattern=private\n"},
        {"C8", by_users, "items.aggregator=mean\n"},
    };
    static const char *const silencers[] = {"privacy.tuning=accounted\n", "privacy.randomness=secure\n",
                                            "privacy.delta=0.5\n", "run.rounds=1\n",
                                            "accountants.list=rdp, zcdp\n"};
    for (size_t v = 0; v < sizeof violations / sizeof violations[0]; v++)
        for (size_t s = 0; s < sizeof silencers / sizeof silencers[0]; s++)
            assert_none(violations[v].base, violations[v].changes, silencers[s], violations[v].id);
    /* Public support is an answer to C8 for values alone. */
    assert_none(by_users, "items.aggregator=mean\n", "privacy.interaction-pattern=public\n", "C8");
    assert_none(published,
                "items.update=no\nprivacy.adjacency=add-remove\nusers.loss.clip-error=1\n"
                "users.solver=damped-gradient-descent\n",
                "privacy.interaction-pattern=public\n", "C8");
}

/* C9 is about the run: the plan's statement stays, and says so. */
static void seeds_and_floating_point_leave_the_plan_alone(void **state)
{
    (void)state;
    static const char *const changes[] = {"privacy.randomness=reproducible\n",
                                          "items.mechanism.precision=float\n"};
    for (int i = 0; i < 2; i++) {
        struct plan plan;
        plan_of(&plan, by_users, changes[i]);
        char *statement = guarantee_text(&plan.guarantee);
        assert_false(condition_of(&plan, "C9")->holds);
        assert_true(plan.guarantee.plan_holds && !plan.guarantee.run_holds);
        assert_non_null(strstr(statement, "of the PLAN"));
        assert_non_null(strstr(statement, "(C10)")); /* tuning is not stated */
        free(statement);
        plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_follows_from_the_whole_input),
        cmocka_unit_test(when_a_run_stops_is_no_secret),
        cmocka_unit_test(published_claim_is_not_proved),
        cmocka_unit_test(values_that_choose_records_show),
        cmocka_unit_test(constant_items_are_proved),
        cmocka_unit_test(users_that_stay_local_are_jointly_protected),
        cmocka_unit_test(missing_clip_is_refused_with_a_remedy),
        cmocka_unit_test(bounds_from_data_are_no_bounds),
        cmocka_unit_test(releases_without_noise_prove_nothing),
        cmocka_unit_test(bare_terms_beside_noisy_ones_leak),
        cmocka_unit_test(links_by_similarity_read_ratings),
        cmocka_unit_test(rows_that_friends_send_are_releases),
        cmocka_unit_test(messages_by_link_have_no_bound_for_users),
        cmocka_unit_test(local_sides_must_be_local),
        cmocka_unit_test(reused_noise_is_found),
        cmocka_unit_test(stretched_records_cost_their_weight),
        cmocka_unit_test(shares_of_noise_need_all_parties),
        cmocka_unit_test(users_that_come_or_go_do_not_show),
        cmocka_unit_test(lists_of_ids_follow_from_records),
        cmocka_unit_test(biases_count_in_sensitivities),
        cmocka_unit_test(initial_rows_are_within_their_bound),
        cmocka_unit_test(projected_rows_have_no_radius),
        cmocka_unit_test(secret_poisson_draws_amplify),
        cmocka_unit_test(blocks_that_share_a_draw_are_sampled_once),
        cmocka_unit_test(rows_without_a_meaning_are_not_stated),
        cmocka_unit_test(one_ball_is_charged_once),
        cmocka_unit_test(weights_of_blocks_scale_their_noise),
        cmocka_unit_test(sides_that_share_a_draw_are_not_amplified_one_by_one),
        cmocka_unit_test(no_key_silences_a_condition),
        cmocka_unit_test(seeds_and_floating_point_leave_the_plan_alone),
    };
    return cmocka_run_group_tests(tests, training_begin, training_end);
}
