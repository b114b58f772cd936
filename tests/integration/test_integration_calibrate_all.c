/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [privacy] budget = total for every component that makes noise or draws, by every accountant that proves
 * something. The configurations are the components' own examples; a component without one fails the test.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit/test.h"
#include "base/log.h"
#include "kit/training.h"
#include "plan/plan_make.h"

#define MOST 64

static char *names[3][MOST];
static int counts[3];
static const char *const roles[3] = {DPF_ROLE_MECHANISM, DPF_ROLE_SAMPLER, DPF_ROLE_RECOMMENDER};
static const char *const folders[3] = {"mechanism", "sampler", "recommender"};
static char *accountants[MOST];
static int n_accountants;

static void take(char **list, int *n, const char *id)
{
    assert_true(*n < MOST);
    list[(*n)++] = memory_text(id);
}

/* The built components, from the registry: nothing here names one. */
static int begin(void **state)
{
    struct dpf_error error = {0};
    const char *directories[] = {training_plugins("plugins")};
    log_set_level(LOG_LEVEL_NONE);
    struct registry *registry = registry_open(directories, 1, &error);
    assert_non_null(registry);
    const int64_t n = registry_count(registry);
    for (int64_t i = 0; i < n; i++) {
        const struct registry_entry *entry = registry_at(registry, i, &error);
        assert_non_null(entry);
        const dpf_component *component = entry->component;
        for (int role = 0; role < 3; role++)
            if (strcmp(component->role, roles[role]) == 0)
                take(names[role], &counts[role], component->id);
        if (strcmp(component->role, DPF_ROLE_ACCOUNTANT) == 0 &&
            ((const dpf_accountant *)component->functions)->kind == DPF_ACCOUNTANT_PROOF)
            take(accountants, &n_accountants, component->id);
    }
    registry_free(registry);
    assert_true(counts[0] > 8);
    assert_true(counts[1] > 6);
    assert_true(counts[2] > 1);
    assert_true(n_accountants > 4);
    return training_begin(state);
}

static int end(void **state)
{
    for (int role = 0; role < 3; role++)
        for (int i = 0; i < counts[role]; i++)
            free(names[role][i]);
    for (int i = 0; i < n_accountants; i++)
        free(accountants[i]);
    return training_end(state);
}

/* The component's example, plugins/FOLDER/ID/ID.ini. */
static char *example(const char *folder, const char *id)
{
    char path[1024], *text = NULL;
    size_t size = 0;
    const char *source = getenv("DPFRAME_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/plugins/%s/%s/%s.ini", source ? source : ".", folder, id, id);
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
    if (!in)
        fail_msg("%s is missing: nothing shows that noise of %s can be chosen by a target", path, id);
    char line[1024], file[256];
    int of_plan = 1; /* [evaluate] belongs to another room */
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '[')
            of_plan = strncmp(line, "[evaluate]", 10) != 0;
        if (sscanf(line, "item-features = %255s", file) == 1) /* a file beside the example */
            fprintf(out, "item-features = %s/plugins/%s/%s/%s\n", source ? source : ".", folder, id, file);
        else if (of_plan)
            fputs(line, out);
    }
    fclose(in);
    fclose(out);
    return text;
}

struct asked {
    const char *name, *text, *accountant;
    double target, delta;
    int rounds; /* 0: the example's, where rounds are no key of it */
};

static int try_plan(struct plan *plan, const struct asked *asked, int total, struct dpf_error *error)
{
    char changes[512], rounds[40] = "";
    if (asked->rounds > 0)
        snprintf(rounds, sizeof rounds, "run.rounds=%d\n", asked->rounds);
    snprintf(changes, sizeof changes,
             "accountants.list=%s\naccountants.pld.tolerance=0.01\nprivacy.total-epsilon=%.17g\nprivacy."
             "delta=%.17g\n"
             "privacy.budget=%s\n%s",
             asked->accountant, asked->target, asked->delta, total ? "total" : "per-release", rounds);
    if (strcmp(asked->accountant, "pld") != 0)
        snprintf(
            changes, sizeof changes,
            "accountants.list=%s\nprivacy.total-epsilon=%.17g\nprivacy.delta=%.17g\nprivacy.budget=%s\n%s",
            asked->accountant, asked->target, asked->delta, total ? "total" : "per-release", rounds);
    /* Few users are quick, but some examples ask for hundreds of honest ones. */
    const int64_t users = strstr(asked->text, "honest") ? 500 : 60;
    memset(error, 0, sizeof *error);
    return training_plan(plan, asked->text, changes, error) != 0 || plan_complete(plan, users, 40, error) != 0
               ? -1
               : 0;
}

/* 1 with the epsilon of the noise that was chosen, which is on the private side; 0 for an error that says
   what to do; fails if neither. */
static int epsilon_at_target(const struct asked *asked, double *epsilon)
{
    struct plan plan;
    struct dpf_error error;
    const int status = try_plan(&plan, asked, 1, &error);
    if (status == 0) {
        assert_int_equal(plan.guarantee.n_accounts, 1);
        *epsilon = plan.guarantee.accounts[0].answer.epsilon;
        if (!(*epsilon <= asked->target && plan.guarantee.noise_factor > 0))
            fail_msg("%s by %s: epsilon %.17g for a target of %g", asked->name, asked->accountant, *epsilon,
                     asked->target);
    } else if (!strstr(error.text, "[privacy]") || !strstr(error.text, asked->accountant)) {
        fail_msg("%s by %s: the error names neither the key nor the accountant: %s", asked->name,
                 asked->accountant, error.text);
    }
    plan_free(&plan);
    return status == 0;
}

/* What the accountant says without a target: 1 finite, 0 infinite, -1 refused, -2 nothing is released. */
static int serves(const struct asked *asked)
{
    struct plan plan;
    struct dpf_error error;
    int answer;
    if (try_plan(&plan, asked, 0, &error) != 0)
        fail_msg("%s: %s", asked->name, error.text);
    if (plan.ledger.n == 0)
        answer = -2;
    else
        answer =
            plan.guarantee.accounts[0].refused ? -1 : isfinite(plan.guarantee.accounts[0].answer.epsilon);
    plan_free(&plan);
    return answer;
}

/* At the usual target the choice is tight; at others it is on the private side or an error says what to do.
 */
static void check(struct asked asked, int *tight)
{
    static const double targets[] = {1e-6, 0.05, 30, 1e6}, deltas[] = {1e-300, 0.5};
    const int slow = strcmp(asked.accountant, "pld") == 0;
    const int answers = serves(&asked);
    double epsilon = 0;
    if (answers == -2)
        return;
    const int reached = epsilon_at_target(&asked, &epsilon);
    if (reached != (answers == 1))
        fail_msg("%s by %s: %s", asked.name, asked.accountant,
                 reached ? "a target is met though there is no epsilon" : "a target of 1 is not met");
    if (!reached)
        return;
    if (!(epsilon >= 0.999 * asked.target))
        fail_msg("%s by %s: epsilon %.12g wastes a target of %g", asked.name, asked.accountant, epsilon,
                 asked.target);
    ++*tight;
    for (int i = 0; !slow && i < 4; i++) {
        struct asked other = asked;
        other.target = targets[i];
        epsilon_at_target(&other, &epsilon);
    }
    for (int i = 0; !slow && i < 2; i++) {
        struct asked other = asked;
        other.delta = deltas[i];
        epsilon_at_target(&other, &epsilon);
    }
    for (int rounds = 1; !slow && asked.rounds > 0 && rounds <= 100000; rounds += 99999) {
        struct asked other = asked;
        other.rounds = rounds;
        epsilon_at_target(&other, &epsilon);
    }
}

static void check_role(int role)
{
    int tight = 0;
    for (int i = 0; i < counts[role]; i++) {
        char *text = example(folders[role], names[role][i]);
        const int rounds = role == 2 ? 0 : 3; /* a recommender has none */
        for (int a = 0; a < n_accountants; a++)
            check((struct asked){names[role][i], text, accountants[a], 1, 1e-5, rounds}, &tight);
        free(text);
    }
    print_message("%d choices\n", tight);
    assert_true(tight >= counts[role]);
}

TEST(every_mechanism_meets_targets)
{
    check_role(0);
}

TEST(every_sampler_meets_targets)
{
    check_role(1);
}

TEST(every_recommender_meets_targets)
{
    check_role(2);
}

FIXTURE(begin, end)
