/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published.c - what a publication states for these parameters, whether or not it holds.
 *
 * A claim takes noise scales, sensitivities and counts from the ledger and puts them into the
 * publication's own formula. It says nothing about the conditions of a proof: the host prints it as
 * a claim, beside what is proved. A publication's privacy unit may differ from the one that the run
 * asks for; the parameters unit and adjacency choose the publication's.
 */
#include "dpframe/accounting.h"
#include "dpframe/dpframe.h"

enum { P_CLAIM, P_ORDER, P_UNIT, P_ADJACENCY, P_COUNT };
enum { CLAIM_EQ9, CLAIM_EQ7, CLAIM_PER_RELEASE, CLAIM_THEOREM_2 };
enum { AS_ASKED };

static const dpf_enum_value claims[] = {
    {"gaussian-rdp-eq9", "Mugdho and Imtiaz, Eq. 9: classic Renyi conversion of all steps at its best order"},
    {"gaussian-rdp-eq7", "Mugdho and Imtiaz, Eq. 7: the same at the order given by 'order'"},
    {"per-release", "the epsilon of a single release, as publications that do not compose state it"},
    {"dpimf-theorem-2",
     "DPIMF, Theorem 2: a single release of records that are drawn, whose loss before the draw does "
     "not grow with their weights"},
};

static const dpf_enum_value units[] = {
    {"as-asked", "[privacy] unit"},
    {"record", "one user-item pair"},
    {"user", "all of a user's records"},
};

static const dpf_enum_value adjacencies[] = {
    {"as-asked", "[privacy] adjacency"},
    {"replace-value", "a record's value changes"},
    {"flip", "an implicit record appears or disappears"},
    {"replace", "all records of a user are replaced"},
    {"add-remove", "present or absent"},
    {"zero-out", "replaced by no contribution"},
};

static const dpf_param params[P_COUNT] = {
    [P_CLAIM] = DPF_PARAM_ENUM_F("claim", CLAIM_PER_RELEASE, claims, DPF_PARAM_PRIVACY,
                                 "Which formula is evaluated."),
    [P_ORDER] = DPF_PARAM_REAL_F("order", 2.0, 1.0, 65536.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                 "Renyi order of gaussian-rdp-eq7."),
    [P_UNIT] = DPF_PARAM_ENUM_F("unit", AS_ASKED, units, DPF_PARAM_PRIVACY,
                                "Privacy unit of the publication's sensitivities."),
    [P_ADJACENCY] = DPF_PARAM_ENUM_F("adjacency", AS_ASKED, adjacencies, DPF_PARAM_PRIVACY,
                                     "Adjacency of the publication's sensitivities."),
};

struct published {
    const dpf_host *host;
    int32_t claim;
    int32_t unit;      /* -1: as asked */
    int32_t adjacency; /* -1: as asked */
    double order;
};

static dpf_status published_create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct published *published = dpf_memory(host)->allocate(host, sizeof *published);
    if (!published)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    published->host = host;
    published->claim = (int32_t)values->values[P_CLAIM].integer;
    published->order = values->values[P_ORDER].real;
    published->unit = (int32_t)values->values[P_UNIT].integer - 1;
    published->adjacency = (int32_t)values->values[P_ADJACENCY].integer - 1;
    *self = published;
    return DPF_OK;
}

static void published_destroy(void *self)
{
    const dpf_host *host = ((struct published *)self)->host;
    dpf_memory(host)->release(host, self);
}

/* ---- Mugdho and Imtiaz -------------------------------------------------------------------------- */

/*
 * Sum over the Gaussian releases of copies / (2 z^2), z = scale / L2 sensitivity. With J equal ones this is
 * the J D^2 / (2 sigma^2) of Eq. 7.
 */
static dpf_status gaussian_slope(const struct published *published, const dpf_event *events, int64_t n,
                                 const dpf_question *question, double *slope)
{
    *slope = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const dpf_event *event = &events[i];
        if (event->kind == DPF_EVENT_NO_OP || event->count == 0 || (event->flags & DPF_EVENT_DATA_BLIND))
            continue;
        if (event->kind != DPF_EVENT_GAUSSIAN && event->kind != DPF_EVENT_DISCRETE_GAUSSIAN)
            return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, event, i,
                                    "the claim is about Gaussian noise");
        const double inverse =
            dpf_event_sensitivity(event, question->unit, question->adjacency) / event->scale;
        if (!(inverse >= 0.0) || event->count < 0)
            return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, event, i,
                                    "no sensitivity is stated for the claim's unit and adjacency, or its "
                                    "scale is not a number");
        *slope += (double)event->count * inverse * inverse / 2.0;
    }
    return DPF_OK;
}

static dpf_status claim_gaussian(const struct published *published, const dpf_event *events, int64_t n,
                                 const dpf_question *question, dpf_answer *answer)
{
    double slope;
    const dpf_status status = gaussian_slope(published, events, n, question, &slope);
    if (status != DPF_OK)
        return status;
    if (!(question->delta > 0.0))
        return published->host->fail(published->host, DPF_E_CONFIG, -1,
                                     "the claim needs a delta above 0 ([privacy] delta is its delta_r)");
    const double log_delta = -log(question->delta);
    dpf_text_add(answer->source, sizeof answer->source,
                 "Mugdho, Imtiaz, Privacy-Preserving Matrix Factorization for Recommendation Systems using "
                 "Gaussian Mechanism, ");
    if (published->claim == CLAIM_EQ7) {
        answer->order = published->order;
        answer->epsilon = slope * published->order + log_delta / (published->order - 1.0);
        dpf_text_add(answer->source, sizeof answer->source, "Eq. 7");
    } else {
        answer->order = slope > 0.0 ? 1.0 + sqrt(log_delta / slope) : NAN;
        answer->epsilon = slope + 2.0 * sqrt(slope * log_delta);
        dpf_text_add(answer->source, sizeof answer->source, "Theorem 2, Eq. 9");
    }
    return DPF_OK;
}

/* ---- a single release --------------------------------------------------------------------------- */

/* Epsilon of one event at the count 1. NaN: not stated. */
static double release_epsilon(const dpf_event *event, const dpf_question *question)
{
    const double sensitivity = dpf_event_sensitivity(event, question->unit, question->adjacency);
    switch (event->kind) {
    case DPF_EVENT_NO_OP:
        return 0.0;
    case DPF_EVENT_NON_PRIVATE:
        return sensitivity == 0.0 ? 0.0 : INFINITY;
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_DISCRETE_LAPLACE:
        return sensitivity / event->scale;
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
        return sensitivity / event->scale * sqrt(2.0 * log(1.25 / question->delta));
    case DPF_EVENT_PURE:
        return event->p[0] * sensitivity;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return sensitivity * fabs(log1p(-event->p[0]) - log(event->p[0]));
    case DPF_EVENT_APPROX:
        return event->p[0];
    default:
        return NAN;
    }
}

/* Delta of that epsilon. */
static double release_delta(const dpf_event *event, const dpf_question *question)
{
    switch (event->kind) {
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
        return question->delta;
    case DPF_EVENT_APPROX:
        return event->p[1];
    default:
        return 0.0;
    }
}

static int same_release(const dpf_event *a, const dpf_event *b)
{
    return a->side == b->side && a->term == b->term && a->round == b->round;
}

/* Theorem 2 of DPIMF, Eq. 22: phi_max is the loss at weight 1, as if weights made it no larger. */
static double theorem_2(double epsilon, const dpf_sampling *sampling)
{
    return sampling->kind == DPF_SAMPLING_NONE
               ? epsilon
               : log1p(sampling->rate * expm1(epsilon / sampling->weight_max));
}

static void name_source(const struct published *published, dpf_answer *answer)
{
    if (published->claim == CLAIM_THEOREM_2)
        dpf_text_add(
            answer->source, sizeof answer->source,
            "Ran, Ye, Huang, Hu, Differentially Private Implicit Matrix Factorization, Theorem 2, for one "
            "release, not composed");
    else
        dpf_text_add(answer->source, sizeof answer->source,
                     "the publication's epsilon for one release, not composed");
}

/* A release may have several blocks, each an event; the largest sum over one release is stated. */
static dpf_status claim_per_release(const struct published *published, const dpf_event *events, int64_t n,
                                    const dpf_question *question, dpf_answer *answer)
{
    answer->epsilon = answer->delta = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0, delta = 0.0;
        int32_t first = 1;
        for (int64_t j = 0; j < n; j++) {
            if (!same_release(&events[i], &events[j]))
                continue;
            if (j < i) {
                first = 0;
                break;
            }
            if (events[j].count == 0 || (events[j].flags & DPF_EVENT_DATA_BLIND))
                continue;
            const double epsilon = release_epsilon(&events[j], question);
            if (!(epsilon >= 0.0))
                return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, &events[j], j,
                                        "no epsilon of a single release is stated for it");
            sum += epsilon;
            delta += release_delta(&events[j], question);
        }
        if (published->claim == CLAIM_THEOREM_2)
            sum = theorem_2(sum, &events[i].sampling);
        if (!(sum >= 0.0))
            return dpf_refuse_event(published->host, DPF_E_NUMERIC, &events[i], i,
                                    "its sampling rate or largest weight is out of range");
        if (first && sum > answer->epsilon) {
            answer->epsilon = sum;
            answer->delta = delta;
        }
    }
    name_source(published, answer);
    dpf_text_add(answer->note, sizeof answer->note,
                 "the run makes more than one release unless it has one round; "
                 "Laplace: sensitivity / scale, Gaussian: the formula "
                 "sqrt(2 ln(1.25/delta)) sensitivity / scale");
    return DPF_OK;
}

static void note_unit(const struct published *published, const dpf_question *asked, dpf_answer *answer)
{
    if ((published->unit < 0 || published->unit == asked->unit) &&
        (published->adjacency < 0 || published->adjacency == asked->adjacency))
        return;
    const int32_t unit = published->unit < 0 ? asked->unit : published->unit;
    const int32_t adjacency = published->adjacency < 0 ? asked->adjacency : published->adjacency;
    dpf_text_add(answer->note, sizeof answer->note, answer->note[0] ? "; " : "");
    dpf_text_add(answer->note, sizeof answer->note, "stated for the unit ");
    dpf_text_add(answer->note, sizeof answer->note, dpf_unit_name(unit));
    dpf_text_add(answer->note, sizeof answer->note, ", adjacency ");
    dpf_text_add(answer->note, sizeof answer->note, dpf_adjacency_name(adjacency));
}

static dpf_status published_epsilon(void *self, const dpf_event *events, int64_t n,
                                    const dpf_question *question, dpf_answer *answer)
{
    const struct published *published = self;
    dpf_question stated;
    dpf_copy(&stated, sizeof stated, question);
    if (published->unit >= 0)
        stated.unit = published->unit;
    if (published->adjacency >= 0)
        stated.adjacency = published->adjacency;
    if (stated.unit < 0 || stated.unit >= DPF_N_UNITS || stated.adjacency < 0 ||
        stated.adjacency >= DPF_N_ADJACENCIES)
        return published->host->fail(published->host, DPF_E_UNSUPPORTED, -1,
                                     "the question's privacy unit or adjacency is unknown");
    answer->at_grid_end = 0;
    answer->epsilon = INFINITY;
    answer->epsilon_lower = answer->order = NAN;
    answer->delta = question->delta;
    answer->source[0] = answer->note[0] = '\0';
    answer->stated_unit = published->unit + 1;
    answer->stated_adjacency = published->adjacency + 1;
    const dpf_status status = published->claim >= CLAIM_PER_RELEASE
                                  ? claim_per_release(published, events, n, &stated, answer)
                                  : claim_gaussian(published, events, n, &stated, answer);
    if (status == DPF_OK)
        note_unit(published, question, answer);
    return status;
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_CLAIM,
    .epsilon = published_epsilon,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_ACCOUNTANT,
    .id = "published",
    .version = "1.0.0",
    .summary = "What a publication states for these parameters; a claim, not a proof",
    .citation = "Mugdho, Imtiaz, Privacy-Preserving Matrix Factorization for Recommendation Systems using "
                "Gaussian Mechanism, Eq. 7 and 9",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = published_create,
    .destroy = published_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.published", "1.0.0", "Apache-2.0", component)
