/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/account_utility.h"

#include <math.h>
#include <string.h>

#include "cli/account_projection.h"
#include "privacy/objective_utility.h"

/* ---- from the plan ------------------------------------------------------------------------------------ */

static int block_of(const dpf_query *query, int32_t kind)
{
    for (int b = 0; b < query->n_blocks; b++)
        if (query->blocks[b].kind == kind)
            return b;
    return -1;
}

/* Sensitivity of a block for a record that appears, at weight 1. */
static double moved(const struct term_plan *term, int block)
{
    return term->sensitivity.blocks[block].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 / term->bounds.weight_max;
}

/* A perturbed quadratic over a ball, with noise on its second-order, first-order and count coefficients. */
static int is_objective(const struct side_plan *side, const struct term_plan *term)
{
    const dpf_query *query = &term->query;
    return side->updated && side->n_terms == 1 && term->mechanism && query->form == DPF_FORM_QUADRATIC &&
           block_of(query, DPF_BLOCK_QUADRATIC) >= 0 && block_of(query, DPF_BLOCK_LINEAR) >= 0 &&
           block_of(query, DPF_BLOCK_COUNT) >= 0 && isfinite(side->radius) &&
           isfinite(moved(term, block_of(query, DPF_BLOCK_LINEAR)));
}

/*
 * 1 - alpha0 is what a record moves the count by (Eq. 17); without the complement that is 1, and alpha0 is
 * not in the bounds. A block's share of epsilon is what its noise spends of it.
 */
static void read_plan(const struct side_plan *side, const struct term_plan *term,
                      struct objective_setting *out)
{
    static const int32_t kinds[] = {0, DPF_BLOCK_LINEAR, DPF_BLOCK_QUADRATIC, DPF_BLOCK_COUNT};
    const dpf_mechanism *mechanism = term->mechanism->functions;
    const dpf_solver *solver = side->solver_functions;
    *out = (struct objective_setting){.d = term->query.dimension, .largest = 1};
    out->radius = solver->radius ? solver->radius(side->solver->self) : side->radius;
    out->epsilon = mechanism->budget ? mechanism->budget(term->mechanism->self) : NAN;
    out->alpha0 = fmax(0, 1 - moved(term, block_of(&term->query, DPF_BLOCK_COUNT)));
    if (!term->bounds_from_data && isfinite(term->bounds.other_linf))
        out->largest = term->bounds.other_linf;
    double spent[4] = {0}, all = 0;
    for (int k = 1; k <= 3; k++) {
        const int block = block_of(&term->query, kinds[k]);
        spent[k] = term->noise.scale[block] > 0 ? moved(term, block) / term->noise.scale[block] : 0;
        all += spent[k];
    }
    for (int k = 1; k <= 3; k++)
        out->beta[k] = all > 0 ? spent[k] / all : 0;
}

/* ---- from the command line ------------------------------------------------------------------------------
 */

static double *number_named(struct objective_setting *s, double *d, double *records, const char *name,
                            size_t length)
{
    const struct {
        const char *name;
        double *number;
    } numbers[] = {{"d", d},
                   {"N", &s->radius},
                   {"c", &s->largest},
                   {"epsilon", &s->epsilon},
                   {"alpha0", &s->alpha0},
                   {"beta1", &s->beta[1]},
                   {"beta2", &s->beta[2]},
                   {"beta3", &s->beta[3]},
                   {"records", records}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strlen(numbers[i].name) == length && strncmp(numbers[i].name, name, length) == 0)
            return numbers[i].number;
    return NULL;
}

static int override(struct objective_setting *s, double *records, const char *const *settings, int n,
                    struct dpf_error *error)
{
    double d = (double)s->d;
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(settings[i], '=');
        double *number =
            equals ? number_named(s, &d, records, settings[i], (size_t)(equals - settings[i])) : NULL;
        if (!number || text_to_real(equals + 1, number) != 0)
            return error_set(
                error, DPF_FAULT_CONFIG,
                "--utility %.100s: write NAME=NUMBER, with d, N, c, epsilon, alpha0, beta1 (first "
                "order), beta2 (second order), beta3 (count) or records (of a row, for Theorem 4)",
                settings[i]);
    }
    if (!(d >= 1 && d <= 1e6 && d == floor(d)) || !(s->radius > 0) || !(s->largest > 0) ||
        !(s->epsilon > 0) || !(*records >= 0) || !(s->alpha0 >= 0 && s->alpha0 <= 1))
        return error_set(
            error, DPF_FAULT_CONFIG,
            "--utility: d = %g must be a number of columns, N = %g, c = %g and epsilon = %g above 0, "
            "alpha0 = %g from 0 to 1",
            d, s->radius, s->largest, s->epsilon, s->alpha0);
    for (int k = 1; k <= 3; k++)
        if (!(s->beta[k] >= 0 && s->beta[k] <= 1))
            return error_set(error, DPF_FAULT_CONFIG, "--utility: beta%d = %g must be from 0 to 1", k,
                             s->beta[k]);
    if (!(s->beta[1] + s->beta[2] + s->beta[3] <= 1 + 1e-6))
        return error_set(error, DPF_FAULT_CONFIG, "--utility: beta1 + beta2 + beta3 = %g is more than 1",
                         s->beta[1] + s->beta[2] + s->beta[3]);
    s->d = (int64_t)d;
    return 0;
}

/* ---- what is printed --------------------------------------------------------------------------------------
 */

static const char *const schemes[OBJECTIVE_SCHEMES] = {"str", "com", "sym", "opt"};

static void add_change(struct text *text, const struct objective_setting *s, double records)
{
    const struct objective_change change = objective_change(s, records);
    text_add(text,
             "\n  Theorem 4, L(q*) - L_O(q'), for a row of %.6g record%s (records=NUMBER for others)\n"
             "            %14.6g  %14.6g\n"
             "  Published: an upper bound of what is never above 0, since L <= L_O. Derived: of L_O(q*) - "
             "L_O(q'), what the\n"
             "  complementary loss costs under the one that it stands for.\n",
             records, records == 1 ? "" : "s", change.published, change.derived);
}

static void add_text(struct text *text, const char *side, const struct objective_setting *s,
                     const struct objective_bounds *b, double records, int assumed)
{
    const int ordered = b->published[OBJECTIVE_STR] > b->published[OBJECTIVE_COM];
    text_add(
        text,
        "\nUtility of %s (DPIMF, Theorem 5): bounds on the expected excess of a row's objective, one solve\n"
        "  d = %lld, N = %.6g, c = %.6g%s, epsilon = %.6g, alpha0 = %.6g, beta = %.4g (first order), %.4g "
        "(second), %.4g (count)\n\n"
        "            as published    derived here\n",
        side, (long long)s->d, s->radius, s->largest, assumed ? " (assumed)" : "", s->epsilon, s->alpha0,
        s->beta[1], s->beta[2], s->beta[3]);
    for (int i = 0; i < OBJECTIVE_SCHEMES; i++)
        text_add(text, "  gamma%d %s %14.6g  %14.6g\n", i + 1, schemes[i], b->published[i], b->derived[i]);
    text_add(text,
             "\n  Published: theory of the publication, not proved here. It needs c from 1/d^2 to 1 and "
             "leaves the "
             "noise of the\n  count out; what is derived does not. str: the excess of its own objective.\n");
    text_add(text, "  Corollary 1 (gamma1 > gamma2) %s here%s; the order %s.\n",
             b->claimed ? "claims to hold" : "does not claim to hold",
             b->claimed && !b->separated ? ", but does not follow from its conditions" : "",
             ordered ? "holds" : "does not hold");
    add_change(text, s, records);
    if (assumed)
        text_add(text, "  c is a maximum over private rows, which no plan knows: c = 1 was taken; give "
                       "another as c=VALUE.\n");
}

static void add_json(json_t *json, const char *side, const struct objective_setting *s,
                     const struct objective_bounds *b, double records)
{
    const struct objective_change change = objective_change(s, records);
    json_t *published = json_object(), *derived = json_object();
    for (int i = 0; i < OBJECTIVE_SCHEMES; i++) {
        json_object_set_new(published, schemes[i],
                            isfinite(b->published[i]) ? json_real(b->published[i]) : json_null());
        json_object_set_new(derived, schemes[i],
                            isfinite(b->derived[i]) ? json_real(b->derived[i]) : json_null());
    }
    json_object_set_new(
        json, side,
        json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:[f,f,f], s:o, s:o, s:b, s:b, s:{s:f, s:f, s:f}}",
                  "source", "DPIMF, Theorems 4 and 5, Corollary 1", "d", (json_int_t)s->d, "N", s->radius,
                  "c", s->largest, "epsilon", s->epsilon, "alpha0", s->alpha0, "beta", s->beta[1], s->beta[2],
                  s->beta[3], "published", published, "derived", derived, "corollary_1_claims", b->claimed,
                  "corollary_1_follows", b->separated, "theorem_4", "records", records, "published",
                  change.published, "derived", change.derived));
}

static int gives_largest(const char *const *settings, int n)
{
    for (int i = 0; i < n; i++)
        if (strncmp(settings[i], "c=", 2) == 0)
            return 1;
    return 0;
}

int account_utility(const struct plan *plan, const char *const *settings, int n_settings, struct text *text,
                    json_t *json, struct dpf_error *error)
{
    int found = 0;
    for (int side = 0; side < 2; side++) {
        const struct side_plan *s = &plan->sides[side];
        struct objective_setting setting;
        struct objective_bounds bounds;
        double records = 1;
        if (s->updated && s->n_terms > 0 && account_has_projection(plan, s)) {
            if (account_projection(plan, s, settings, n_settings, text, json, error) != 0)
                return -1;
            found = 1;
            continue;
        }
        if (!s->updated || s->n_terms == 0 || !is_objective(s, &s->terms[0]))
            continue;
        read_plan(s, &s->terms[0], &setting);
        if (override(&setting, &records, settings, n_settings, error) != 0)
            return -1;
        objective_bounds(&setting, &bounds);
        const int assumed = s->terms[0].bounds_from_data && !gives_largest(settings, n_settings);
        if (text)
            add_text(text, plan_side_name(side), &setting, &bounds, records, assumed);
        if (json)
            add_json(json, plan_side_name(side), &setting, &bounds, records);
        found = 1;
    }
    if (!found)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "--utility: no utility bound is known for this configuration; there is one for perturbed "
            "quadratic objectives that are minimised in a ball (loss complementary or implicit-als, a "
            "mechanism, solver ball), and for clipped gradients over all cells under mechanism pbm (loss "
            "weighted-gradient)");
    return 0;
}
