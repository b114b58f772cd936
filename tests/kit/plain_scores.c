/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_scores.h"

/* DPF_OK if the host takes the state's form; else what the component said, or DPF_E_RANGE with the host's reason. */
static dpf_status plain_form(struct plain_host *host, int64_t n_users, int64_t n_items, const void *state,
                             struct score_form *out)
{
    const dpf_recommender *functions = host->component->functions;
    dpf_form form = {.size = sizeof form};
    struct dpf_error error = {0};
    *out = (struct score_form){.n_items = 0};
    const dpf_status status = functions->form(host->self, plain_call(host), n_users, n_items, state, &form);
    if (status != DPF_OK)
        return status;
    if (score_form_read(&form, n_items, n_users, "state", DPF_FAULT_PLUGIN, out, &error) == 0)
        return DPF_OK;
    snprintf(host->report, sizeof host->report, "%.500s", error.text);
    return DPF_E_RANGE;
}

dpf_status plain_form_fits(struct plain_host *host, int64_t n_users, int64_t n_items, const void *state)
{
    struct score_form form;
    const dpf_status status = plain_form(host, n_users, n_items, state, &form);
    score_form_free(&form);
    return status;
}

dpf_status plain_scores(struct plain_host *host, const dpf_scoring *scoring)
{
    const dpf_interactions *records = scoring->records;
    const struct csr by_user = {.rows = records->by_user.rows,
                                .ptr = (int64_t *)(uintptr_t)records->by_user.offsets,
                                .others = (int32_t *)(uintptr_t)records->by_user.others,
                                .values = (float *)(uintptr_t)records->by_user.values};
    struct scorer scorer = {.records = &by_user};
    struct score_desk desk = {.user = 0};
    struct dpf_error error = {0};
    double *scores = calloc((size_t)records->n_items + 1, sizeof *scores);
    dpf_status status = plain_form(host, records->n_users, records->n_items, scoring->state, &scorer.form);
    assert_non_null(scores);
    if (status == DPF_OK &&
        (scorer_open(&scorer, &error) != 0 ||
         scorer_scores(&scorer, &desk, scoring->user, NULL, records->n_items, scores, &error) != 0))
        fail_msg("%s", error.text);
    for (int64_t i = 0; i < records->n_items && status == DPF_OK; i++)
        scoring->scores[i] = (float)scores[i];
    scorer_close(&scorer);
    score_desk_free(&desk);
    free(scores);
    return status;
}
