/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/privacy_case.h"

void case_privacy(struct privacy_case *c, const char *settings)
{
    char text[1024];
    int64_t n;
    config_values_free(&c->privacy);
    config_free(c->config);
    memset(&c->privacy, 0, sizeof c->privacy);
    snprintf(text, sizeof text, "[privacy]\n%s\n", settings);
    c->config = config_parse("test.ini", text, strlen(text), &c->error);
    if (!c->config)
        fail_msg("%s", c->error.text);
    const dpf_param *params = privacy_params(&n);
    assert_int_equal(n, PRIVACY_N_PARAMS);
    if (config_bind(c->config, "privacy", params, n, sizeof *params, NULL, 1, &c->privacy, &c->error))
        fail_msg("%s", c->error.text);
}

void case_start(struct privacy_case *c)
{
    memset(c, 0, sizeof *c);
    case_privacy(c, "unit = user\nadjacency = replace\ntuning = public-data");
    c->term = (struct term_facts){
        .name = "items",
        .bounded = 1,
        .reads = FROM_RELEASES,
        .has_mechanism = 1,
        .noise_where = DPF_NOISE_AT_SUM,
        .sees = DPF_SEES_SUM,
        .single_curator = 1,
        .sampling = {.hidden_from = -1, .rate = 1.0},
        .exact_grid = 1,
        .unit_stated = 1,
    };
    c->facts = (struct run_facts){.terms = &c->term, .n_terms = 1, .rounds = 10, .secure = 1};
    dpf_event event;
    memset(&event, 0, sizeof event);
    event.kind = DPF_EVENT_LAPLACE;
    event.lifetime = DPF_LIFETIME_ROUND;
    event.side = DPF_SIDE_ITEMS;
    event.count = 10;
    event.scale = 20.0;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency] = (dpf_norms){1.0, 1.0, 1.0};
    event.sampling = c->term.sampling;
    ledger_add(&c->ledger, &event, "items, mechanism laplace");
}

void case_judge(struct privacy_case *c)
{
    guarantee_conditions(&c->privacy, &c->facts, &c->ledger, &c->guarantee);
}

void case_end(struct privacy_case *c)
{
    guarantee_free(&c->guarantee);
    ledger_free(&c->ledger);
    config_values_free(&c->privacy);
    config_free(c->config);
}
