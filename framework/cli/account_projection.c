/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/account_projection.h"

#include <math.h>
#include <string.h>

#include "privacy/choose_pbm.h"
#include "privacy/projection_utility.h"

/* ---- from the plan ------------------------------------------------------------------------------------ */

/* A real parameter of a component by its name; NaN where it has none of that name. */
static double parameter(const struct instance *instance, const char *name)
{
    const dpf_component *component = instance->entry->component;
    const char *table = (const char *)component->params;
    for (int64_t i = 0; i < component->n_params; i++) {
        const dpf_param *param = (const dpf_param *)(const void *)(table + i * component->param_stride);
        if (param->type == DPF_TYPE_REAL && strcmp(param->name, name) == 0)
            return instance->values.params.values[i].real;
    }
    return NAN;
}

int account_has_projection(const struct plan *plan, const struct side_plan *side)
{
    const struct term_plan *term = &side->terms[0];
    return side->updated && side->n_terms == 1 && term->mechanism &&
           strcmp(term->mechanism->entry->component->id, "pbm") == 0 && pbm_event(&plan->ledger) &&
           term->query.form == DPF_FORM_GRADIENT && !isnan(parameter(term->loss, "confidence")) &&
           !isnan(parameter(term->loss, "clip-error"));
}

/*
 * Eq. 18 with C_0 = 1, the publication's budget at order alpha for these theta and q. The rest is what the
 * plan rests on: B_1 is the bound on the other side's rows.
 */
static void read_plan(const struct plan *plan, const struct side_plan *side, struct projection_setting *s)
{
    const struct term_plan *term = &side->terms[0];
    const dpf_event *event = pbm_event(&plan->ledger);
    const double theta = event->p.pbm.theta, trials = event->p.pbm.trials;
    *s = (struct projection_setting){
        .alpha = 2, .lipschitz = NAN, .beta = 1, .theta = theta, .trials = trials};
    s->m = (double)(side->side == DPF_SIDE_ITEMS ? plan->n_items : plan->n_users);
    s->users = (double)(side->side == DPF_SIDE_ITEMS ? plan->n_users : plan->n_items);
    s->k = term->query.dimension;
    s->p = (double)side->state_rows;
    s->padded = event->p.pbm.coordinates / s->k;
    if (term->sampling.kind != DPF_SAMPLING_NONE && term->sampling.rate > 0)
        s->beta = term->sampling.rate;
    s->kappa = parameter(term->loss, "confidence");
    s->clip = parameter(term->loss, "clip-error");
    s->mu = parameter(term->loss, "regularization") / s->beta;
    s->bound = term->bounds.other_l1;
    s->rounds = (double)plan->run.params.values[RUN_ROUNDS].integer;
    s->epsilon = theta * theta / pow(1 - 2 * theta, 4) * (s->alpha * s->alpha / (s->alpha - 1)) * trials *
                 s->p * s->k / (s->users * s->beta);
}

/* ---- from the command line ---------------------------------------------------------------------------- */

static int set_number(struct projection_setting *s, const char *setting)
{
    struct {
        const char *name;
        double *number;
    } numbers[] = {{"m", &s->m},      {"k", &s->k},          {"p", &s->p},
                   {"n", &s->users},  {"beta", &s->beta},    {"theta", &s->theta},
                   {"q", &s->trials}, {"kappa", &s->kappa},  {"e", &s->clip},
                   {"B1", &s->bound}, {"mu", &s->mu},        {"alpha", &s->alpha},
                   {"T", &s->rounds}, {"Lf", &s->lipschitz}, {"epsilon", &s->epsilon}};
    const char *equals = strchr(setting, '=');
    for (size_t i = 0; equals && i < sizeof numbers / sizeof numbers[0]; i++)
        if (strlen(numbers[i].name) == (size_t)(equals - setting) &&
            strncmp(numbers[i].name, setting, (size_t)(equals - setting)) == 0)
            return text_to_real(equals + 1, numbers[i].number);
    return -1;
}

static int override(struct projection_setting *s, const char *const *settings, int n, struct dpf_error *error)
{
    for (int i = 0; i < n; i++)
        if (set_number(s, settings[i]) != 0)
            return error_set(
                error, DPF_FAULT_CONFIG,
                "--utility %.100s: write NAME=NUMBER, with m, k, p, n (users), beta, theta, q, kappa, e, B1, "
                "mu, alpha, epsilon, T (rounds) or Lf",
                settings[i]);
    if (!(s->m >= 1 && s->k >= 1 && s->p >= 1 && s->users > 0 && s->beta > 0 && s->beta <= 1 &&
          s->theta > 0 && s->trials >= 1 && s->kappa >= 0 && s->clip > 0 && s->bound > 0 && s->mu >= 0 &&
          s->alpha > 1 && s->epsilon > 0 && s->rounds >= 1))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "--utility: m, k, p, q and T must be at least 1, alpha above 1, beta in (0, 1], and n, theta, e, "
            "B1 and epsilon above 0");
    return 0;
}

/* ---- what is printed ---------------------------------------------------------------------------------- */

static void add_text(struct text *text, const char *side, const struct projection_setting *s,
                     const struct projection_bounds *b)
{
    text_add(text,
             "\nUtility of %s (DPMF-RP, Lemmas 5.1 and 5.2, Theorems 5.3 and 5.7), of a gradient as an "
             "undivided sum\n"
             "  m = %.6g, k = %.6g, p = %.6g, beta n = %.6g of %.6g users, theta = %.4g, q = %.6g\n"
             "  kappa = %.6g, e = %.6g, B1 = %.6g, mu = %.6g: Delta_1 = %.6g, |grad V|^2 <= %.6g (Eq. 41)\n\n"
             "                            as published    derived here\n",
             side, s->m, s->k, s->p, s->users * s->beta, s->users, s->theta, s->trials, s->kappa, s->clip,
             s->bound, s->mu, b->delta1, b->gradient);
    text_add(text, "  projection, Lemma 5.1   %14.6g  %14.6g\n", b->projection, b->projection_derived);
    text_add(text, "  noise, Lemma 5.2        %14.6g  %14.6g\n", b->noise, b->noise_derived);
    text_add(text, "  both, Theorem 5.3       %14.6g  %14.6g\n", b->projection + b->noise,
             b->projection_derived + b->noise_derived);
    text_add(text, "  L_g, Eq. 45             %14.6g  %14.6g\n", b->smoothness, b->smoothness_derived);
    text_add(text, "  Theorem 5.7, T = %-6.6g %14.6g\n", s->rounds, b->convergence);
    text_add(text,
             "\n  Published: theory of the publication, not proved here. Lemma 5.2 is that of the clients' "
             "mean without "
             "the padding p';\n  derived is the sum's. Eq. 45 bounds a sum over users by one user's norm. "
             "Theorem 5.7 is "
             "stated up to a constant,\n  taken as 1 here, for steps that fall as 1/t, not for Adam; alpha = "
             "%.4g, epsilon "
             "= %.4g (%s), %s.\n",
             s->alpha, s->epsilon, "Eq. 18, C_0 = 1",
             isnan(s->lipschitz) ? "L_f^2 by Eq. 41" : "L_f as given");
}

static json_t *finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_json(json_t *json, const char *side, const struct projection_setting *s,
                     const struct projection_bounds *b)
{
    json_object_set_new(
        json, side,
        json_pack("{s:s, s:f, s:f, s:f, s:f, s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o}}", "source",
                  "DPMF-RP, Lemmas 5.1 and 5.2, Eq. 41 and 45, Theorems 5.3 and 5.7", "delta_1", b->delta1,
                  "gradient", b->gradient, "alpha", s->alpha, "epsilon", s->epsilon, "published",
                  "projection", finite(b->projection), "noise", finite(b->noise), "smoothness",
                  finite(b->smoothness), "convergence", finite(b->convergence), "derived", "projection",
                  finite(b->projection_derived), "noise", finite(b->noise_derived), "smoothness",
                  finite(b->smoothness_derived)));
}

int account_projection(const struct plan *plan, const struct side_plan *side, const char *const *settings,
                       int n_settings, struct text *text, json_t *json, struct dpf_error *error)
{
    struct projection_setting setting;
    struct projection_bounds bounds;
    read_plan(plan, side, &setting);
    if (override(&setting, settings, n_settings, error) != 0)
        return -1;
    projection_bounds(&setting, &bounds);
    if (text)
        add_text(text, plan_side_name(side->side), &setting, &bounds);
    if (json)
        add_json(json, plan_side_name(side->side), &setting, &bounds);
    return 0;
}
