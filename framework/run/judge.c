/* SPDX-License-Identifier: Apache-2.0 */
#include "run/judge.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "evaluate/sampled_metrics.h"

static const struct comparison *named(const struct judge *judge, const char *name)
{
    for (int i = 0; i < *judge->n_models; i++)
        if (strcmp(judge->models[i].name, name) == 0)
            return &judge->models[i];
    return NULL;
}

/* One that cannot be trained here is left out. */
static const struct comparison *take(const struct judge *judge, const char *name)
{
    struct dpf_error ignored = {0};
    const struct comparison *known = named(judge, name);
    struct comparison *next = &judge->models[*judge->n_models];
    if (known || !judge->trains || *judge->n_models == COMPARISON_MOST ||
        comparison_make(&judge->run, name, next, &ignored) != 0)
        return known;
    (*judge->n_models)++;
    return next;
}

#define FEWEST_USERS 2500 /* whose estimates are within .005, see docs/adr/0044 */
#define MOST_USERS 20000

/* Of so many users the model without noise is evaluated; 0: there is no time for it. */
static int64_t users_in_time(const struct judge *judge)
{
    const int64_t all = judge->run.dataset->users.n;
    const double left = judge->seconds - judge->trained;
    const double users = judge->evaluated > left ? (double)all * left / judge->evaluated : (double)all;
    if (!(left > 0) || (users < FEWEST_USERS && users < (double)all))
        return 0;
    return users < MOST_USERS ? (int64_t)users : MOST_USERS;
}

/* The model without noise, of as many users as there is time for, with what its metrics would be of all. */
static const struct comparison *take_twin(const struct judge *judge, struct verdict_input *input)
{
    const struct metrics *known[1 + VERDICT_RIVALS] = {input->test};
    struct judge sampled = *judge;
    sampled.run.users = users_in_time(judge);
    if (sampled.run.users == 0 || !take(&sampled, "non-private"))
        return NULL;
    for (int i = 0; i < input->n_rivals; i++)
        known[1 + i] = input->rivals[i].metrics;
    struct comparison *twin = &judge->models[*judge->n_models - 1];
    input->sampled = sampled_metrics_extend(&twin->metrics, known, 1 + input->n_rivals);
    return twin;
}

char *judge_words(const struct judge *judge, enum verdict *verdict)
{
    const struct plan *plan = &judge->run.session->plan;
    const struct dataset *dataset = judge->run.dataset;
    const char *const *rivals = verdict_rivals(judge->test, dataset->implicit);
    *verdict = VERDICT_NONE;
    if (!rivals || !plan_has(plan, MODEL_TRAINS))
        return NULL;
    const struct dataset_summary *summary = &dataset->summary;
    if (!dataset->implicit && summary->distinct_values == 1)
        return memory_format(
            "Verdict: cannot tell. All values are %g: the mean predicts them without an error, and "
            "no model can be better.%s",
            summary->value_min,
            summary->clipped ? " Is the declared range right? Values were moved to its ends." : "");
    const enum log_level level = log_set_level(LOG_LEVEL_NONE); /* warnings of other models concern nobody */
    struct verdict_input input = {
        .test = judge->test,
        .implicit = dataset->implicit,
        .has_noise = plan->guarantee.n_releases > 0,
        .at_home = plan->model.params.values[MODEL_HOME_TERMS].integer != 0,
        .model = plan_has(plan, MODEL_HAS_ROUNDS) ? NULL : plan->model_facts.id,
        .no_direction =
            component_metrics_largest(&judge->run.session->metrics, "model.recommender", "directions") < 1,
        .users = dataset->users.n,
        .items = dataset->items.n,
        .records = dataset->train.n,
        .redrawn = judge->redrawn,
        .n_redrawn = judge->n_redrawn,
        .seeded = plan->seeded};
    for (; *rivals; rivals++) {
        const struct comparison *found = take(judge, *rivals);
        if (found)
            input.rivals[input.n_rivals++] = (struct verdict_rival){*rivals, found->epsilon, &found->metrics};
    }
    *verdict = verdict_judge(&input);
    const struct comparison *twin = named(judge, "non-private");
    if (!twin && input.has_noise && verdict_gives_reason(&input))
        twin = take_twin(judge, &input);
    input.non_private = twin ? &twin->metrics : NULL;
    log_set_level(level);
    return verdict_text(&input);
}
