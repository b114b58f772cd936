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

#include "dpmf_rp_divergence.h"

#define C0 1.0 /* the "large enough" constant of dpmf-rp-eq18, which the publication does not state */

enum { P_CLAIM, P_ORDER, P_UNIT, P_ADJACENCY, P_COUNT };
enum {
    CLAIM_EQ9,
    CLAIM_EQ7,
    CLAIM_PER_RELEASE,
    CLAIM_DPIMF_2,
    CLAIM_DPIMF_3,
    CLAIM_HDPMF,
    CLAIM_PRIVSR,
    CLAIM_DPMF_RP
};
enum { AS_ASKED };

static const dpf_enum_value claims[] = {
    {"gaussian-rdp-eq9", "Mugdho and Imtiaz, Eq. 9: classic Renyi conversion of all steps at its best order"},
    {"gaussian-rdp-eq7", "Mugdho and Imtiaz, Eq. 7: the same at the order given by 'order'"},
    {"per-release", "the epsilon of a single release, as publications that do not compose state it"},
    {"dpimf-theorem-2",
     "DPIMF, Theorem 2: a single release of records that are drawn, whose loss before the draw does "
     "not grow with their weights"},
    {"dpimf-theorem-3", "DPIMF, Theorem 3: the epsilon of one round, as items are disjoint"},
    {"hdpmf-theorem-2", "HDPMF, Theorem 2: epsilon of noise Lap(2 sqrt(K) Delta / epsilon), for a privacy "
                        "weight of 1; a record of "
                        "weight w has w times as much"},
    {"privsr-theorem-3",
     "PrivSR, Theorems 1 to 3: the noises of an item's terms add up to one of the sum of their scales, which "
     "has the epsilon of both sides"},
    {"dpmf-rp-eq18", "DPMF-RP, Theorem 4.1, Eq. 18: Renyi divergence c0 theta^2/(1-2 theta)^4 a^2/(a-1) q p "
                     "k/(beta n) of one "
                     "round, at the order a = 'order', and the conversion of its Definition 3.2"},
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
                                 "Renyi order of gaussian-rdp-eq7 and dpmf-rp-eq18."),
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
    struct published *published = *self;
    published->host = host;
    published->claim = (int32_t)values->values[P_CLAIM].integer;
    published->order = values->values[P_ORDER].real;
    published->unit = (int32_t)values->values[P_UNIT].integer - 1;
    published->adjacency = (int32_t)values->values[P_ADJACENCY].integer - 1;
    return DPF_OK;
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
        return event->p.pure.epsilon * sensitivity;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return sensitivity * fabs(log1p(-event->p.response.flip) - log(event->p.response.flip));
    case DPF_EVENT_APPROX:
        return event->p.approx.epsilon;
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
        return event->p.approx.delta;
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
    static const char *const sources[] = {
        [CLAIM_PER_RELEASE] = "the publication's epsilon for one release, not composed",
        [CLAIM_DPIMF_2] =
            "Ran, Ye, Huang, Hu, Differentially Private Implicit Matrix Factorization, Theorem 2, "
            "for one release, not composed",
        [CLAIM_DPIMF_3] =
            "Ran, Ye, Huang, Hu, Differentially Private Implicit Matrix Factorization, Theorem 3, "
            "for one round, not composed",
        [CLAIM_HDPMF] =
            "Hu, Fang, Decentralized Matrix Factorization with Heterogeneous Differential Privacy, "
            "Theorem 2, not composed",
        [CLAIM_PRIVSR] = "PrivSR, Theorems 1 to 3, not composed",
        [CLAIM_DPMF_RP] =
            "DPMF-RP (secure aggregation and random projection), Theorem 4.1, Eq. 18, not composed",
    };
    dpf_text_add(answer->source, sizeof answer->source, sources[published->claim]);
}

static int counts(const dpf_event *event)
{
    return event->count != 0 && !(event->flags & DPF_EVENT_DATA_BLIND);
}

/* Epsilon and delta of the release that event i is part of, of one term: the sum over its blocks. */
static dpf_status release_sum(const struct published *published, const dpf_event *events, int64_t n,
                              const dpf_question *question, int64_t i, double *epsilon, double *delta)
{
    *epsilon = *delta = 0.0;
    for (int64_t j = 0; j < n; j++) {
        if (!same_release(&events[i], &events[j]) || !counts(&events[j]))
            continue;
        const double one = release_epsilon(&events[j], question);
        if (!(one >= 0.0))
            return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, &events[j], j,
                                    "no epsilon of a single release is stated for it");
        *epsilon += one;
        *delta += release_delta(&events[j], question);
    }
    return DPF_OK;
}

/* Whether event i is the first of its release. */
static int is_first(const dpf_event *events, int64_t i)
{
    for (int64_t j = 0; j < i; j++)
        if (same_release(&events[i], &events[j]))
            return 0;
    return 1;
}

/* A release may have several blocks, each an event; the largest sum over one release is stated. */
static dpf_status claim_per_release(const struct published *published, const dpf_event *events, int64_t n,
                                    const dpf_question *question, dpf_answer *answer)
{
    answer->epsilon = answer->delta = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum, delta;
        if (!is_first(events, i))
            continue;
        const dpf_status status = release_sum(published, events, n, question, i, &sum, &delta);
        if (status != DPF_OK)
            return status;
        if (published->claim == CLAIM_DPIMF_2)
            sum = theorem_2(sum, &events[i].sampling);
        if (!(sum >= 0.0))
            return dpf_refuse_event(published->host, DPF_E_NUMERIC, &events[i], i,
                                    "its sampling rate or largest weight is out of range");
        if (sum > answer->epsilon) {
            answer->epsilon = sum;
            answer->delta = delta;
        }
    }
    dpf_text_add(answer->note, sizeof answer->note,
                 published->claim == CLAIM_HDPMF
                     ? "of a record whose privacy weight is 1; a record of weight w has w times as much"
                     : "the run makes more than one release unless it has one round; "
                       "Laplace: sensitivity / scale, Gaussian: the formula "
                       "sqrt(2 ln(1.25/delta)) sensitivity / scale");
    return DPF_OK;
}

/* ---- PrivSR ------------------------------------------------------------------------------------- */

/*
 * Theorem 1: noise Lap(2 Delta sqrt(K)/eps_s) of sensitive and Lap(2 Delta sqrt(K)/eps_n) of other ratings,
 * which share the factor h, have the sum Lap(2 Delta sqrt(K)/eps), 1/eps = 1/eps_s + 1/eps_n. Theorem 2: the
 * social term's has eps. Theorem 3: so have both together.
 */
static dpf_status claim_privsr(const struct published *published, const dpf_event *events, int64_t n,
                               const dpf_question *question, dpf_answer *answer)
{
    answer->epsilon = answer->delta = 0.0;
    for (int32_t side = DPF_SIDE_USERS; side <= DPF_SIDE_ITEMS; side++) {
        double inverse = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double epsilon, delta;
            if (events[i].side != side || !is_first(events, i) || !counts(&events[i]))
                continue;
            if (events[i].kind != DPF_EVENT_LAPLACE && events[i].kind != DPF_EVENT_DISCRETE_LAPLACE)
                return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, &events[i], i,
                                        "the claim is about Laplace noise");
            const dpf_status status = release_sum(published, events, n, question, i, &epsilon, &delta);
            if (status != DPF_OK)
                return status;
            inverse += epsilon > 0.0 ? 1.0 / epsilon : 0.0;
        }
        const double epsilon = inverse > 0.0 ? 1.0 / inverse : 0.0;
        answer->epsilon = epsilon > answer->epsilon ? epsilon : answer->epsilon;
    }
    dpf_text_add(answer->note, sizeof answer->note,
                 "the publication adds up the noise of an item's sensitive and other ratings, and takes one "
                 "converged model for all that is seen");
    return DPF_OK;
}

/* ---- DPMF-RP ------------------------------------------------------------------------------------ */

static dpf_status claim_dpmf_rp(const struct published *published, const dpf_event *events, int64_t n,
                                const dpf_question *question, dpf_answer *answer)
{
    const double order = published->order;
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!counts(&events[i]) || events[i].kind == DPF_EVENT_NO_OP)
            continue;
        if (events[i].kind != DPF_EVENT_PBM)
            return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, &events[i], i,
                                    "the claim is about the Poisson binomial mechanism");
        const double one = dpmf_rp_divergence(&events[i], order, C0);
        if (!(one >= 0.0))
            return dpf_refuse_event(published->host, DPF_E_UNSUPPORTED, &events[i], i,
                                    "theta is not below 1/2, or it is not known how many messages and "
                                    "numbers a release has");
        most = one > most ? one : most;
    }
    if (!(question->delta > 0.0))
        return published->host->fail(published->host, DPF_E_CONFIG, -1, "the claim needs a delta above 0");
    answer->order = order;
    answer->epsilon = most > 0.0 ? most - log(question->delta) / (order - 1.0) : 0.0;
    dpf_text_add(
        answer->note, sizeof answer->note,
        "Eq. 18 is a Renyi divergence, at this order; epsilon is it plus ln(1/delta)/(order - 1), as in "
        "Definition 3.2. The publication does not state c0");
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
    const dpf_status status =
        (published->claim < CLAIM_PER_RELEASE ? claim_gaussian
         : published->claim == CLAIM_PRIVSR   ? claim_privsr
         : published->claim == CLAIM_DPMF_RP  ? claim_dpmf_rp
                                              : claim_per_release)(published, events, n, &stated, answer);
    if (status != DPF_OK)
        return status;
    if (published->claim >= CLAIM_PER_RELEASE)
        name_source(published, answer);
    note_unit(published, question, answer);
    return DPF_OK;
}

static const dpf_accountant functions = {
    .kind = DPF_ACCOUNTANT_CLAIM,
    .epsilon = published_epsilon,
};

DPF_COMPONENT(
    component, DPF_ROLE_ACCOUNTANT, functions, .id = "published", .version = "1.0.0",
    .summary = "What a publication states for these parameters; a claim, not a proof",
    .citation = "The five papers: DPIMF, Theorems 2 and 3; HDPMF, Theorem 2; Mugdho and Imtiaz, Eq. 7 and 9; "
                "DPMF-RP, Eq. 18; PrivSR, Theorems 1 to 3",
    DPF_PARAMS(params), .create = published_create, .instance_bytes = sizeof(struct published))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.published", "1.0.0", "Apache-2.0", component)
