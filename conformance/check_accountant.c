/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of accountants: sane answers, monotone where privacy is, and refusals instead of guesses. */
#include <math.h>
#include <string.h>

#include "conformance/check_tools.h"

static const dpf_accountant *table(const struct instance *instance)
{
    return instance->functions;
}

static void fill_sensitivity(dpf_sensitivity *sensitivity, double value)
{
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            sensitivity->at[u][a] = (dpf_norms){value, value, value};
}

/* Kinds whose noise has a scale. */
static int is_scaled(int kind)
{
    return (kind >= DPF_EVENT_LAPLACE && kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
           kind == DPF_EVENT_CORRELATED_GAUSSIAN;
}

static int is_on_grid(int kind)
{
    return kind == DPF_EVENT_DISCRETE_LAPLACE || kind == DPF_EVENT_DISCRETE_GAUSSIAN ||
           kind == DPF_EVENT_CORRELATED_GAUSSIAN;
}

/* A release of that kind with sensitivity 1, everybody taking part. */
static dpf_event event_of(int kind)
{
    dpf_event event = {.kind = kind, .lifetime = DPF_LIFETIME_ROUND, .count = 1, .scale = 4.0};
    fill_sensitivity(&event.sensitivity, 1.0);
    event.sampling = (dpf_sampling){.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1, .weight_max = 1};
    event.grid = is_on_grid(kind) ? 0x1p-20 : kind == DPF_EVENT_SKELLAM ? 0x1p-10 : 0;
    if (kind == DPF_EVENT_PURE)
        event.p.pure.epsilon = 0.25;
    if (kind == DPF_EVENT_APPROX) {
        event.p.approx.epsilon = 0.25;
        event.p.approx.delta = 1e-9;
    }
    if (kind == DPF_EVENT_ZCDP)
        event.p.zcdp.rho = 0.03;
    if (kind == DPF_EVENT_SKELLAM)
        event.p.skellam.variance = 16;
    if (kind == DPF_EVENT_PBM) {
        event.p.pbm.theta = 0.1;
        event.p.pbm.trials = 2;
        event.p.pbm.clients = 30;
        event.p.pbm.coordinates = 4;
    }
    if (kind == DPF_EVENT_RANDOMIZED_RESPONSE)
        event.p.response.flip = 0.4;
    if (kind == DPF_EVENT_CORRELATED_GAUSSIAN) { /* of 8 rounds, in 2 of which a unit is, 4 apart */
        event.p.correlated.rounds = 8;
        event.p.correlated.separation = 4;
        event.p.correlated.participations = 2;
        event.p.correlated.attained = 1;
    }
    return event;
}

static dpf_question question_of(int unit, int adjacency)
{
    return (dpf_question){.size = sizeof(dpf_question),
                          .unit = unit,
                          .adjacency = adjacency,
                          .observer = DPF_OBSERVER_OUTSIDER,
                          .delta = 1e-5,
                          .epsilon = 1,
                          .rounds = 1};
}

static const int adjacency_of[DPF_N_UNITS] = {DPF_ADJ_REPLACE_VALUE, DPF_ADJ_ADD_REMOVE};

/* 1 with an answer; 0 if the accountant refuses. Answers that nobody may give are failures. */
static int ask_all(struct check *check, struct instance *instance, const dpf_event *events, int64_t n,
                   const dpf_question *question, double *epsilon)
{
    dpf_answer answer = {
        .size = sizeof answer, .epsilon = (double)NAN, .epsilon_lower = (double)NAN, .order = (double)NAN};
    dpf_status status = table(instance)->epsilon(instance->self, events, n, question, &answer);
    struct dpf_error ignored = {0};
    instance_result(instance, status, NULL, &ignored);
    if (status != DPF_OK)
        return 0;
    if (isnan(answer.epsilon) || answer.epsilon < 0)
        check_fail(check, "epsilon is %g for an event of kind %d", answer.epsilon, (int)events->kind);
    if (!(answer.delta >= 0 && answer.delta <= 1))
        check_fail(check, "delta is %g for an event of kind %d", answer.delta, (int)events->kind);
    if (!memchr(answer.source, '\0', sizeof answer.source) || !memchr(answer.note, '\0', sizeof answer.note))
        check_fail(check, "source or note has no end");
    *epsilon = answer.epsilon;
    return 1;
}

static int ask(struct check *check, struct instance *instance, const dpf_event *event,
               const dpf_question *question, double *epsilon)
{
    return ask_all(check, instance, event, 1, question, epsilon);
}

/* A claim is whatever a publication states; only a proof has to behave. */
static int complain(struct check *check, const struct instance *instance, const char *what, int kind,
                    double before, double after)
{
    if (table(instance)->kind == DPF_ACCOUNTANT_CLAIM)
        return check_warn(check, "kind %d: epsilon goes from %g to %g with %s", kind, before, after, what);
    return check_fail(check, "kind %d: epsilon goes from %g to %g with %s", kind, before, after, what);
}

static void walk_count(struct check *check, struct instance *instance, dpf_event event,
                       const dpf_question *question)
{
    double before = 0, now;
    for (event.count = 1; event.count <= 64; event.count *= 4) {
        if (!ask(check, instance, &event, question, &now))
            return;
        if (now < before * (1 - 1e-9))
            complain(check, instance, "more releases", event.kind, before, now);
        before = now;
    }
}

static void walk_scale(struct check *check, struct instance *instance, dpf_event event,
                       const dpf_question *question)
{
    double before = (double)INFINITY, now;
    for (event.scale = 2; event.scale <= 32; event.scale *= 2) {
        if (event.kind == DPF_EVENT_SKELLAM)
            event.p.skellam.variance = event.scale * event.scale;
        if (!ask(check, instance, &event, question, &now))
            return;
        if (now > before * (1 + 1e-9))
            complain(check, instance, "more noise", event.kind, before, now);
        before = now;
    }
}

static void walk_sensitivity(struct check *check, struct instance *instance, dpf_event event,
                             const dpf_question *question)
{
    double before = 0, now;
    for (double s = 0.5; s <= 2; s *= 2) {
        fill_sensitivity(&event.sensitivity, s);
        if (!ask(check, instance, &event, question, &now))
            return;
        if (now < before * (1 - 1e-9))
            complain(check, instance, "a larger sensitivity", event.kind, before, now);
        before = now;
    }
}

static void rule_monotone(struct check *check)
{
    struct instance *instance = check_instance(check);
    int answered = 0;
    for (int unit = 0; instance && unit < DPF_N_UNITS; unit++)
        for (int kind = DPF_EVENT_LAPLACE; kind <= DPF_EVENT_CORRELATED_GAUSSIAN; kind++) {
            dpf_question question = question_of(unit, adjacency_of[unit]);
            dpf_event event = event_of(kind);
            double epsilon;
            if (!ask(check, instance, &event, &question, &epsilon))
                continue;
            answered = 1;
            walk_count(check, instance, event, &question);
            if (is_scaled(kind) || kind == DPF_EVENT_SKELLAM) {
                walk_scale(check, instance, event, &question);
                walk_sensitivity(check, instance, event, &question);
            }
        }
    if (instance && !answered)
        check_skip(check, "the accountant answers none of the kit's single events");
}

/* Whatever is unknown must be refused or cost everything. */
static void must_refuse(struct check *check, struct instance *instance, const dpf_event *event,
                        const dpf_question *question, const char *what)
{
    double epsilon;
    if (!ask(check, instance, event, question, &epsilon) || isinf(epsilon))
        return;
    if (table(instance)->kind == DPF_ACCOUNTANT_CLAIM)
        check_warn(check, "answers %g for %s (event kind %d)", epsilon, what, (int)event->kind);
    else
        check_fail(check, "answers %g for %s (event kind %d)", epsilon, what, (int)event->kind);
}

/* A later version of the ABI may state something in what is reserved today; to leave it out could be unsafe.
 */
static void refuse_what_is_new(struct check *check, struct instance *instance, int kind,
                               const dpf_question *question)
{
    dpf_event event = event_of(kind);
    event.reserved[sizeof event.reserved / sizeof *event.reserved - 1] = 1;
    must_refuse(check, instance, &event, question, "a reserved field that is not 0");
    event = event_of(kind);
    event.sampling.reserved_words[0] = 1;
    must_refuse(check, instance, &event, question, "a reserved field of the sampling that is not 0");
    event = event_of(kind);
    event.flags |= DPF_EVENT_FLAGS + 1;
    must_refuse(check, instance, &event, question, "an unknown flag");
}

static void rule_refuses(struct check *check)
{
    struct instance *instance = check_instance(check);
    for (int unit = 0; instance && unit < DPF_N_UNITS; unit++) {
        dpf_question question = question_of(unit, adjacency_of[unit]);
        static const int never[] = {DPF_EVENT_NON_PRIVATE, DPF_EVENT_UNSUPPORTED, 999};
        for (int i = 0; i < 3; i++) {
            dpf_event event = event_of(never[i]);
            must_refuse(check, instance, &event, &question, "what has no guarantee");
        }
        for (int kind = DPF_EVENT_LAPLACE; kind <= DPF_EVENT_CORRELATED_GAUSSIAN; kind++) {
            dpf_event event = event_of(kind);
            if (!is_scaled(kind))
                continue;
            fill_sensitivity(&event.sensitivity, (double)NAN);
            must_refuse(check, instance, &event, &question, "an unknown sensitivity");
            fill_sensitivity(&event.sensitivity, (double)INFINITY);
            must_refuse(check, instance, &event, &question, "an unbounded sensitivity");
            event = event_of(kind);
            event.scale = 0;
            must_refuse(check, instance, &event, &question, "no noise");
            event.scale = (double)NAN;
            must_refuse(check, instance, &event, &question, "noise of unknown scale");
            if (table(instance)->kind == DPF_ACCOUNTANT_PROOF)
                refuse_what_is_new(check, instance, kind, &question);
        }
    }
}

/* epsilon(delta) and delta(epsilon) are two views of one curve. */
static void rule_inverse(struct check *check)
{
    struct instance *instance = check_instance(check);
    if (!instance)
        return;
    if (!table(instance)->delta) {
        check_skip(check, "delta is not served");
        return;
    }
    for (int kind = DPF_EVENT_LAPLACE; kind <= DPF_EVENT_CORRELATED_GAUSSIAN; kind++) {
        dpf_event event = event_of(kind);
        double before = 1;
        if (!is_scaled(kind))
            continue;
        for (double epsilon = 0.1; epsilon < 20; epsilon *= 2) {
            dpf_question question = question_of(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE);
            question.epsilon = epsilon;
            dpf_answer answer = {.size = sizeof answer};
            dpf_status status = table(instance)->delta(instance->self, &event, 1, &question, &answer);
            struct dpf_error ignored = {0};
            if (instance_result(instance, status, NULL, &ignored) != 0)
                break;
            if (!(answer.delta >= 0 && answer.delta <= 1) || answer.delta > before * (1 + 1e-9) + 1e-15)
                check_fail(check, "kind %d: delta is %g at epsilon %g, after %g", kind, answer.delta, epsilon,
                           before);
            before = answer.delta;
        }
    }
}

/* Records of more weight, and groups of records, cost no less; nothing is answered that epsilon() refuses. */
static void rule_units(struct check *check)
{
    static const double weights[] = {0.25, 0.5, 1};
    static const int64_t group[] = {0, 3};
    struct instance *instance = check_instance(check);
    if (instance && !table(instance)->epsilon_per_unit) {
        check_skip(check, "units are not served");
        return;
    }
    for (int kind = DPF_EVENT_NON_PRIVATE; instance && kind <= DPF_EVENT_CORRELATED_GAUSSIAN; kind++) {
        dpf_question question = question_of(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE);
        dpf_event event = event_of(kind);
        double all, each[3], together;
        struct dpf_error ignored = {0};
        event.weighted = 1;
        const int answers = ask(check, instance, &event, &question, &all);
        dpf_status status =
            table(instance)->epsilon_per_unit(instance->self, &event, 1, &question, weights, NULL, 3, each);
        if (instance_result(instance, status, NULL, &ignored) != 0)
            continue;
        if (!answers) {
            check_fail(check, "kind %d: units has an answer where epsilon refuses", kind);
            continue;
        }
        status = table(instance)->epsilon_per_unit(instance->self, &event, 1, &question, weights, group, 1,
                                                   &together);
        if (instance_result(instance, status, NULL, &ignored) != 0)
            check_fail(check, "kind %d: answers for records, but not for a group", kind);
        else if (!(each[0] >= 0 && each[1] >= each[0] && each[2] >= each[1] && together >= each[2] &&
                   all >= each[2] * (1 - 1e-9)))
            check_fail(check,
                       "kind %d: %g, %g, %g for weights 1/4, 1/2, 1, %g for all three, %g for any record",
                       kind, each[0], each[1], each[2], together, all);
    }
}

static dpf_event selection_part(int kind, double p0, double p1, double p2, double p3)
{
    dpf_event event = {.kind = kind, .count = 1, .sensitivity = dpf_unstated(), .p.all = {p0, p1, p2, p3}};
    event.sampling.rate = event.sampling.weight_max = 1;
    return event;
}

/* The best of several runs, of which the number is drawn: nobody may charge what one run costs, or less. */
static void rule_selection(struct check *check)
{
    struct instance *instance = check_instance(check);
    int answered = 0;
    for (int kind = DPF_EVENT_LAPLACE; instance && kind <= DPF_EVENT_RANDOMIZED_RESPONSE; kind++) {
        const dpf_question question = question_of(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE);
        const dpf_event run = event_of(kind);
        const dpf_event events[3] = {
            selection_part(DPF_EVENT_SELECTION, DPF_REPETITIONS_NEGATIVE_BINOMIAL, 1, 0.1, 1),
            selection_part(DPF_EVENT_CANDIDATE, 1, 0, 0, 0), run};
        double all, one;
        for (int64_t n = 1; n < 3; n++)
            if (ask_all(check, instance, events, n, &question, &all) && !isinf(all))
                check_fail(check, "answers %g for a selection without its candidates' releases", all);
        if (!ask_all(check, instance, events, 3, &question, &all))
            continue;
        answered = 1;
        if (ask(check, instance, &run, &question, &one) && !(all > one))
            check_fail(check, "kind %d: %g for the best of several runs, and %g for one", kind, all, one);
    }
    if (instance && !answered)
        check_skip(check, "it refuses selections among candidates");
}

static const struct check_rule rules[] = {
    {"accountant.monotone", DPF_ROLE_ACCOUNTANT, rule_monotone,
     "more releases or sensitivity cost more, more noise less"},
    {"accountant.refuses", DPF_ROLE_ACCOUNTANT, rule_refuses, "what is not known is refused"},
    {"accountant.delta", DPF_ROLE_ACCOUNTANT, rule_inverse, "delta falls with epsilon"},
    {"accountant.epsilon_per_unit", DPF_ROLE_ACCOUNTANT, rule_units,
     "more weight and more records cost no less"},
    {"accountant.selection", DPF_ROLE_ACCOUNTANT, rule_selection,
     "the best of several runs is refused, or costs more than one"},
};
const struct check_rules check_accountant_rules = CHECK_RULES(rules);
