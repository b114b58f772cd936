/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/accounting_case.h"

/* "1.25:4.5:0.25,5:63:1,128" to numbers. */
static int64_t case_expand(const char *text, double *out)
{
    int64_t n = 0;
    while (*text) {
        char *end;
        const double first = strtod(text, &end);
        double last = first, step = 1.0;
        if (*end == ':') {
            last = strtod(end + 1, &end);
            step = strtod(end + 1, &end);
        }
        const int64_t count = (int64_t)floor((last - first) / step + 1e-9) + 1;
        for (int64_t i = 0; i < count; i++) {
            assert_true(n < CASE_MAX_ORDERS);
            out[n++] = first + (double)i * step;
        }
        text = end + (*end == ',');
    }
    return n;
}

void case_open(struct case_accountant *accountant, const char *id, const char *settings, const char *orders)
{
    const dpf_component *component = plain_component(id, DPF_ROLE_ACCOUNTANT, id);
    plain_init(&accountant->host, component);
    assert_int_equal(plain_configure(&accountant->host, settings), 0);
    for (uint32_t i = 0; orders && i < component->n_params; i++) {
        if (strcmp(component->params[i].name, "orders") == 0) {
            accountant->host.values[i].count = case_expand(orders, accountant->orders);
            accountant->host.values[i].reals = accountant->orders;
        }
    }
    if (plain_make(&accountant->host) != DPF_OK)
        fail_msg("create %s: %s", id, accountant->host.report);
    accountant->functions = component->functions;
}

void case_close(struct case_accountant *accountant)
{
    plain_close(&accountant->host);
}

dpf_event case_event(int32_t kind, double scale, double d)
{
    dpf_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.lifetime = DPF_LIFETIME_ROUND;
    event.count = 1;
    event.scale = scale;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency] = (dpf_norms){d, d, d};
    event.sampling.rate = event.sampling.weight_max = 1.0;
    event.sampling.hidden_from = -1;
    return event;
}

dpf_event case_sampled(dpf_event event, double rate)
{
    event.sampling.kind = DPF_SAMPLING_POISSON;
    event.sampling.unit = DPF_UNIT_USER;
    event.sampling.hidden_from = DPF_OBSERVER_PARTIES;
    event.sampling.rate = rate;
    return event;
}

int32_t case_adjacency = DPF_ADJ_ADD_REMOVE;

dpf_question case_question(double delta)
{
    const dpf_question question = {.size = sizeof question,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = case_adjacency,
                                   .observer = DPF_OBSERVER_OUTSIDER,
                                   .delta = delta};
    return question;
}

double case_epsilon(struct case_accountant *accountant, const dpf_event *events, int64_t n, double delta)
{
    const dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    plain_clear(&accountant->host);
    const dpf_status status =
        accountant->functions->epsilon(accountant->host.self, events, n, &question, &answer);
    if (status != DPF_OK)
        fail_msg("epsilon: %s", accountant->host.report);
    return answer.epsilon;
}

double case_delta(struct case_accountant *accountant, const dpf_event *events, int64_t n, double epsilon)
{
    dpf_question question = case_question(0.0);
    dpf_answer answer = {.size = sizeof answer};
    question.epsilon = epsilon;
    plain_clear(&accountant->host);
    const dpf_status status =
        accountant->functions->delta(accountant->host.self, events, n, &question, &answer);
    if (status != DPF_OK)
        fail_msg("delta: %s", accountant->host.report);
    return answer.delta;
}

double case_divergence(const dpf_event *events, int64_t n, double order)
{
    struct case_accountant accountant;
    char orders[32];
    snprintf(orders, sizeof orders, "%.17g", order);
    case_open(&accountant, "rdp", "conversion=classic; refine=no", orders);
    const double r = case_epsilon(&accountant, events, n, 1.0 - 0x1p-53);
    case_close(&accountant);
    return r;
}

static int32_t case_kind(const char *name)
{
    for (int32_t kind = 0; kind <= DPF_EVENT_CORRELATED_GAUSSIAN; kind++)
        if (strcmp(name, dpf_event_kind_name(kind)) == 0)
            return kind;
    fail_msg("unknown kind of event: %s", name);
    return -1;
}

static void case_set(dpf_event *event, const char *key, double value)
{
    if (strcmp(key, "scale") == 0)
        event->scale = value;
    else if (strcmp(key, "grid") == 0)
        event->grid = value;
    else if (strcmp(key, "count") == 0)
        event->count = (int64_t)value;
    else if (strcmp(key, "q") == 0)
        *event = case_sampled(*event, value);
    else if (key[0] == 'p' && key[1] >= '0' && key[1] <= '3' && key[2] == '\0')
        event->p.all[key[1] - '0'] = value;
    else if (strcmp(key, "d") == 0)
        event->sensitivity = case_event(0, 1.0, value).sensitivity;
    else
        fail_msg("unknown key of event: %s", key);
}

static dpf_event case_parse_event(char *text)
{
    char *save = NULL;
    char *word = strtok_r(text, " ", &save);
    assert_non_null(word);
    dpf_event event = case_event(case_kind(word), 1.0, 1.0);
    while ((word = strtok_r(NULL, " ", &save)) != NULL) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        case_set(&event, word, strtod(equals + 1, NULL));
    }
    return event;
}

int64_t case_parse(char *text, dpf_event *events)
{
    int64_t n = 0;
    char *save = NULL;
    for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        assert_true(n < CASE_MAX_EVENTS);
        events[n++] = case_parse_event(part);
    }
    return n;
}
