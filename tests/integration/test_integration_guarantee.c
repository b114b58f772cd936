/* SPDX-License-Identifier: Apache-2.0 */
/* Which conditions fail, and that nothing silences them. */
#include "integration/guarantee_fixture.h"

static const struct condition *condition_of(const struct plan *plan, const char *id)
{
    for (int i = 0; i < N_CONDITIONS; i++)
        if (strcmp(plan->guarantee.conditions[i].id, id) == 0)
            return &plan->guarantee.conditions[i];
    fail_msg("there is no condition %s", id);
    return NULL;
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
TEST(nothing_follows_from_the_whole_input)
{
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
TEST(when_a_run_stops_is_no_secret)
{
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

TEST(published_claim_is_not_proved)
{
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
TEST(values_that_choose_records_show)
{
    static const char kept[] = "items.update=no\nprivacy.interaction-pattern=public\n";
    char text[256];
    assert_fails(published, kept, NULL, "");
    assert_fails(published, "items.update=no\ndata.out-of-range=drop\n", "C8", "dropped by its value");
    /* Where it is public who rated what, the record stays with another value. */
    snprintf(text, sizeof text, "%sdata.out-of-range=drop\n", kept);
    assert_fails(published, text, NULL, "");
    snprintf(text, sizeof text, "%sdata.feedback=implicit\n", kept);
    assert_fails(published, text, NULL, "");
    snprintf(text, sizeof text, "%sdata.feedback=implicit\ndata.threshold=4\n", kept);
    assert_fails(published, text, "C8", "dropped by its value");
    assert_fails(by_users, "data.feedback=implicit\ndata.threshold=4\nprivacy.adjacency=replace\n", NULL, "");
}

/* Held items are constants: then the release is the Gaussian mechanism, composed 100 times. */
TEST(constant_items_are_proved)
{
    struct plan plan;
    plan_of(&plan, published, "items.update=no\nprivacy.interaction-pattern=public\n");
    assert_true(plan.guarantee.plan_holds);
    assert_float_equal(epsilon_of(&plan, "rdp"), 6.336, 2e-3);
    assert_float_equal(epsilon_of(&plan, "published"), 7.005, 5e-4);
    assert_int_equal(plan.ledger.entries[0].event.count, 100);
    plan_free(&plan);
    assert_fails(published, "items.update=no\n", "C8", "interaction-pattern = public");
}

TEST(users_that_stay_local_are_jointly_protected)
{
    struct plan plan;
    static const char *const adjacencies[] = {"", "privacy.adjacency=replace\n"};
    double epsilon[2];
    for (int i = 0; i < 2; i++) {
        assert_fails(by_users, adjacencies[i], NULL, "");
        plan_of(&plan, by_users, adjacencies[i]);
        assert_true(plan.guarantee.joint);
        epsilon[i] = epsilon_of(&plan, "rdp");
        assert_true(isfinite(epsilon[i]));
        assert_true(epsilon[i] > 0);
        plan_free(&plan);
    }
    /* The noise is chosen for the adjacency that is asked for, so both give the same epsilon. */
    assert_float_equal(epsilon[0], epsilon[1], 1e-3 * epsilon[0]);
    assert_fails(by_users, "privacy.unit=record\n", "C2", "");
}

TEST(missing_clip_is_refused_with_a_remedy)
{
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, by_users, "items.transforms=\n", &error), 0);
    assert_int_equal(plan_complete(&plan, -1, -1, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_CONFIG);
    assert_non_null(strstr(error.text, "transforms = clip-user"));
    plan_free(&plan);
}

TEST(bounds_from_data_are_no_bounds)
{
    assert_fails(
        published,
        "items.update=no\nprivacy.interaction-pattern=public\nusers.transforms=\nusers.bounds=empirical\n",
        "C1", "maxima over private factors");
}

/* ---- noise that is not there -------------------------------------------------------------------------- */

TEST(releases_without_noise_prove_nothing)
{
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

/* A term that no mechanism has seen goes into the same released row. */
TEST(bare_terms_beside_noisy_ones_leak)
{
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
TEST(links_by_similarity_read_ratings)
{
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
static const char friends_base[] =
    DATA "[model]\nrank = 2\nusers = 1000\nitems = 200\n[parties]\nkind = users\n"
         "[users]\nterms = rating, social\nsolver = damped-gradient-descent\n[users.solver]\nradius = 1\n"
         "[users.rating]\nloss = squared-error\n"
         "[users.social]\nsource = relation\ndestination = peer\nloss = social\nmechanism = laplace\n"
         "[users.social.mechanism]\nepsilon = 0.5\nwhere = party\n"
         "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = laplace-gamma\n"
         "aggregator = modular-sum\nsolver = gradient-descent\n[items.transform.clip-user]\nnorm = l1\n"
         "[items.mechanism]\nepsilon = 1.5\n"
         "[privacy]\nmin-honest = 700\nmax-curious = 100\nunit = user\nadjacency = zero-out\nobserver = "
         "parties\n[accountants]\nlist = pure\n";

/* With a file of links. */
static const char *friends(void)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s[data]\nrelation.path = %s\n", friends_base,
             training_file("links.txt", "1 2\n"));
    return text;
}

TEST(rows_that_friends_send_are_releases)
{
    char text[256];
    struct plan plan;
    assert_fails(friends(), "", NULL, "");
    plan_of(&plan, friends(), "");
    assert_float_equal(epsilon_of(&plan, "pure"), 100 * (1.5 + 0.5), 1e-5);
    const struct term_plan *social = &plan.sides[DPF_SIDE_USERS].terms[1];
    assert_float_equal(social->sensitivity.blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l1, 2 * sqrt(2),
                       1e-9);
    assert_true(plan.run_facts.local_users);
    plan_free(&plan);
    snprintf(text, sizeof text, "data.relation.path=%s\ndata.relation.similarity=pearson\n",
             training_file("links.txt", "1 2\n"));
    assert_fails(friends(), text, "C2", "similarities of the raw ratings");
    assert_fails(friends(),
                 "privacy.unit=record\nprivacy.adjacency=replace-value\nprivacy.interaction-pattern=public\n",
                 "C2", "computed from the raw ratings");
    assert_fails(friends(), "users.social.mechanism.where=sum\n", "C5",
                 "receive each other's messages without noise");
    assert_fails(friends(), "privacy.max-curious=0\n", "C5", "knows its own share");
    assert_fails(friends(), "privacy.max-curious=0\nprivacy.observer=server\n", NULL, "");
    plan_of(&plan, friends(), "privacy.adjacency=add-remove\n");
    assert_non_null(strstr(condition_of(&plan, "C8")->why, "a row of its own"));
    assert_non_null(strstr(condition_of(&plan, "C12")->why, "too few users"));
    plan_free(&plan);
}

/* Nothing bounds how many link to a user, and so how many messages with noise of their own a user sends. */
TEST(messages_by_link_have_no_bound_for_users)
{
    struct plan plan;
    struct dpf_error error = {0};
    assert_int_equal(training_plan(&plan, friends(), "users.social.send=links\n", &error), 0);
    assert_int_equal(plan_complete(&plan, -1, -1, &error), -1);
    assert_non_null(strstr(error.text, "sensitivity"));
    plan_free(&plan);
}

/* A local side whose rows need everybody's records is no secret from the server that solves it. */
TEST(local_sides_must_be_local)
{
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
TEST(reused_noise_is_found)
{
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
TEST(stretched_records_cost_their_weight)
{
    static const char stretched[] = "items.transforms=stretch\naccountants.list=heterogeneous\n"
                                    "data.weights.kind=groups\n";
    struct plan plan;
    char changes[256];
    plan_of(&plan, mixture, stretched);
    const dpf_event *event = &plan.ledger.entries[0].event;
    const dpf_norms *all = &event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
    assert_true(event->weighted);
    assert_true(event->unweighted.l1 > 0);
    assert_true(event->unweighted.l1 < 1e-5 * all->l1);
    assert_float_equal(epsilon_of(&plan, "heterogeneous"), 100, 1e-3);
    /* What is printed is near, and never less: the whole weight's is the account's epsilon. */
    double low, high;
    const char *note = strstr(plan.guarantee.accounts[0].answer.note, "weight: ");
    assert_non_null(note);
    assert_int_equal(sscanf(note, "weight: %lf at weight 0.01, %lf at weight 1.", &low, &high), 2);
    const double whole = epsilon_of(&plan, "heterogeneous");
    assert_true(high >= whole);
    assert_true(high < whole * (1 + 1e-5));
    assert_true(low >= 0.01 * whole);
    assert_true(low < 1.001);
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
TEST(shares_of_noise_need_all_parties)
{
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
TEST(users_that_come_or_go_do_not_show)
{
    static const char party[] = "items.mechanism.where=party\nitems.transforms=clip-user, test-fold\n";
    char text[1024];
    assert_fails(by_users, "model.users=0\n", "C2", "[model] users");
    assert_fails(by_users, "model.users=0\nprivacy.adjacency=replace\n", NULL, "");
    assert_fails(by_users, "items.aggregator=mean\n", "C8", "exact number of users");
    assert_fails(by_users, "items.aggregator=mean\nprivacy.adjacency=replace\n", NULL, "");
    assert_fails(by_users, party, "C8", "each user adds noise");
    snprintf(text, sizeof text, "%sprivacy.adjacency=replace\n", party);
    assert_fails(by_users, text, NULL, "");
    struct plan plan;
    plan_of(&plan, by_users, "items.sampler=poisson-users\nitems.sampler.rate=0.1\nitems.aggregator=mean\n");
    assert_int_equal(plan.ledger.entries[0].event.sampling.hidden_from, -1);
    char *statement = guarantee_text(&plan.guarantee);
    assert_non_null(strstr(statement, "TREATED AS PUBLIC"));
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
    assert_non_null(strstr(statement, "A bound on the number of users"));
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
    strcat(text, training_file("list.csv", "id\n1\n"));
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
/* Two lines of one pair are one record, and the statement says so. */
TEST(a_record_is_all_lines_of_a_pair)
{
    static const char *const adjacencies[] = {"add-remove", "zero-out", "flip"};
    for (int i = 0; i < 3; i++) {
        struct plan plan;
        char text[128];
        snprintf(text, sizeof text, "privacy.unit=record\nprivacy.adjacency=%s\n", adjacencies[i]);
        plan_of(&plan, by_users, text);
        char *statement = guarantee_text_wide(&plan.guarantee, 400);
        assert_non_null(strstr(statement, "which is all lines of one user and item"));
        free(statement);
        plan_free(&plan);
    }
}

TEST(lists_of_ids_follow_from_records)
{
    char path[128], text[1024];
    snprintf(text, sizeof text, "data.format=csv\ndata.header=yes\ndata.path=%s\n",
             training_file("any.csv", "user,item,rating\n1,1,1\n"));
    snprintf(path, sizeof path, "%s", training_file("list.csv", "id\n1\n"));
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
    assert_true(strstr(statement, "none"));
    assert_true(fails);
    assert_true(fails - line < 32);
    assert_int_equal(json_array_size(json_object_get(json, "proved")), 0);
    assert_false(plan.guarantee.plan_holds);
    assert_false(plan.guarantee.run_holds);
    json_decref(json);
    free(statement);
    plan_free(&plan);
}

/* Declarations, other noise, other accountants, a budget for the run: what is wrong stays wrong. */
TEST(no_key_silences_a_condition)
{
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
TEST(seeds_leave_the_plan_alone)
{
    struct plan plan;
    plan_of(&plan, by_users, "privacy.randomness=reproducible\n");
    char *statement = guarantee_text(&plan.guarantee);
    assert_false(condition_of(&plan, "C9")->holds);
    assert_true(plan.guarantee.plan_holds);
    assert_true(!plan.guarantee.run_holds);
    assert_non_null(strstr(statement, "of the PLAN"));
    assert_non_null(strstr(statement, "(C10)")); /* tuning is not stated */
    free(statement);
    plan_free(&plan);
}

FIXTURE(training_begin, training_end)
