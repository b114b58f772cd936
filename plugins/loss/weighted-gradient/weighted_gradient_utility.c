/* SPDX-License-Identifier: Apache-2.0 */
/* The report of DPMF-RP's theory for a clipped gradient under the Poisson binomial mechanism. */
#include <math.h>

#include "dpmf_rp_divergence.h"
#include "projection_utility.h"
#include "weighted_gradient.h"

enum {
    N_M,
    N_K,
    N_P,
    N_USERS,
    N_BETA,
    N_THETA,
    N_TRIALS,
    N_KAPPA,
    N_CLIP,
    N_BOUND,
    N_MU,
    N_ALPHA,
    N_EPSILON,
    N_ROUNDS,
    N_LIPSCHITZ
};

#define ORDER 2.0 /* alpha: that of the publication's tables */

static const dpf_event *release_of(const dpf_utility_setup *setup)
{
    for (int32_t i = 0; i < setup->n_events; i++)
        if (setup->events[i].kind == DPF_EVENT_PBM)
            return &setup->events[i];
    return NULL;
}

/*
 * Epsilon: what settings are chosen for, else Eq. 18 with C_0 = 1, the publication's budget at order alpha
 * for this theta and q.
 */
static void add_numbers(const struct weighted_gradient *loss, const dpf_utility_setup *setup,
                        const dpf_event *event, dpf_utility *report)
{
    const uint32_t above = DPF_UTILITY_ABOVE;
    const double theta = event->p.pbm.theta, trials = event->p.pbm.trials,
                 users = (double)setup->bounds->n_other;
    const double p = (double)setup->rows, k = setup->query->dimension;
    const int sampled = setup->sampling->kind != DPF_SAMPLING_NONE && setup->sampling->rate > 0;
    const double beta = sampled ? setup->sampling->rate : 1;
    const double renyi = dpmf_rp_divergence(event, ORDER, 1);
    dpf_utility_add_number(report, "m", (double)setup->bounds->n_self, 1, INFINITY, 0, "item rows");
    dpf_utility_add_number(report, "k", k, 1, INFINITY, 0, "numbers of a row");
    dpf_utility_add_number(report, "p", p, 1, INFINITY, 0, "rows behind the projection");
    dpf_utility_add_number(report, "n", users, 0, INFINITY, above, "users");
    dpf_utility_add_number(report, "beta", beta, 0, 1, above, "share of them in a round");
    dpf_utility_add_number(report, "theta", theta, 0, 0.5, above, "of the mechanism");
    dpf_utility_add_number(report, "q", trials, 1, INFINITY, 0, "trials of the mechanism");
    dpf_utility_add_number(report, "kappa", loss->confidence, 0, INFINITY, 0,
                           "a rated cell weighs 1 + kappa");
    dpf_utility_add_number(report, "e", loss->clip, 0, INFINITY, above, "bound on residuals");
    dpf_utility_add_number(report, "B1", setup->bounds->other_l1, 0, INFINITY, above, "bound on user rows");
    dpf_utility_add_number(report, "mu", loss->mu / beta, 0, INFINITY, 0, "weight of the regulariser");
    dpf_utility_add_number(report, "alpha", ORDER, 1, INFINITY, above, "order of the Renyi divergence");
    dpf_utility_add_number(report, "epsilon", isnan(setup->target) ? renyi : setup->target, 0, INFINITY,
                           above, "at order alpha; Eq. 18 with C_0 = 1 if it is not given");
    dpf_utility_add_number(report, "T", (double)setup->rounds, 1, INFINITY, 0, "rounds");
    dpf_utility_add_number(report, "Lf", NAN, 0, INFINITY, DPF_UTILITY_OPTIONAL,
                           "Lipschitz constant; Eq. 41 if it is not given");
}

/* Theorem 5.4 without its constant, and Eq. 40 with Eq. 41's bound, times sqrt(C_0). */
static void add_rows(const struct projection_setting *s, dpf_utility *report)
{
    const double n = s->users * s->beta;
    const double square = 8 * n * n * s->epsilon * pow(1 - 2 * s->theta, 4) * (s->alpha - 1) *
                          (n * s->m / 4) / (s->k * s->k * s->alpha * s->alpha);
    dpf_utility_add_bound(report, "rows_theorem_5_4",
                          n * sqrt(n * s->m * s->epsilon) / (s->k * sqrt(s->alpha)), NAN,
                          "p, Theorem 5.4 x constant");
    dpf_utility_add_bound(report, "rows_eq_40", sqrt(square), NAN, "p, Eq. 40 x sqrt(C_0)");
}

static void add_bounds(const struct projection_setting *s, const struct projection_bounds *b,
                       dpf_utility *report)
{
    dpf_utility_add_bound(report, "delta_1", b->delta1, NAN, "Delta_1");
    dpf_utility_add_bound(report, "gradient", b->gradient, NAN, "|grad V|^2, Eq. 41");
    dpf_utility_add_bound(report, "projection", b->projection, b->projection_derived,
                          "projection, Lemma 5.1");
    dpf_utility_add_bound(report, "noise", b->noise, b->noise_derived, "noise, Lemma 5.2");
    dpf_utility_add_bound(report, "both", b->projection + b->noise, b->projection_derived + b->noise_derived,
                          "both, Theorem 5.3");
    dpf_utility_add_bound(report, "smoothness", b->smoothness, b->smoothness_derived, "L_g, Eq. 45");
    dpf_utility_add_bound(report, "convergence", b->convergence, NAN, "Theorem 5.7");
    add_rows(s, report);
    /* Eq. 25 over Delta_1^2, a common factor of all settings. */
    report->error = (b->projection + b->noise) / (b->delta1 * b->delta1);
}

dpf_status weighted_gradient_utility(void *self, const dpf_utility_setup *setup, dpf_utility *report)
{
    const struct weighted_gradient *loss = self;
    const dpf_event *event = release_of(setup);
    const dpf_utility_number *in = report->numbers;
    struct projection_bounds bounds;
    if (!event || setup->query->form != DPF_FORM_GRADIENT)
        return DPF_OK;
    if (report->n_numbers == 0) {
        add_numbers(loss, setup, event, report);
        return DPF_OK;
    }
    const struct projection_setting s = {.m = in[N_M].value,
                                         .k = in[N_K].value,
                                         .p = in[N_P].value,
                                         .padded = event->p.pbm.coordinates / setup->query->dimension,
                                         .users = in[N_USERS].value,
                                         .beta = in[N_BETA].value,
                                         .theta = in[N_THETA].value,
                                         .trials = in[N_TRIALS].value,
                                         .kappa = in[N_KAPPA].value,
                                         .clip = in[N_CLIP].value,
                                         .bound = in[N_BOUND].value,
                                         .mu = in[N_MU].value,
                                         .alpha = in[N_ALPHA].value,
                                         .epsilon = in[N_EPSILON].value,
                                         .rounds = in[N_ROUNDS].value,
                                         .lipschitz = in[N_LIPSCHITZ].value};
    projection_bounds(&s, &bounds);
    add_bounds(&s, &bounds, report);
    report->source = "DPMF-RP, Lemmas 5.1 and 5.2, Eq. 40, 41 and 45, Theorems 5.3, 5.4 and 5.7";
    report->title = "error of a gradient, as an undivided sum over beta n users";
    dpf_utility_add_note(report,
                         "Published: theory of the publication, not proved here. Lemma 5.2 is about the "
                         "clients' mean, without padding; derived is the sum's. Eq. 45 bounds a sum over "
                         "users by the norm of one user's row.");
    dpf_utility_add_note(report,
                         "Theorem 5.7 is stated up to a constant, taken as 1 here, for steps that fall as "
                         "1/t, not for Adam.");
    dpf_utility_add_note(report,
                         "Theorem 5.4 and Eq. 40 leave out: C_0, which is not given; that epsilon is a Renyi "
                         "budget and has to exceed 1; that q is an integer; padding and the clip to c; the "
                         "gradient's norm is replaced by its bound (Eq. 41).");
    return DPF_OK;
}
