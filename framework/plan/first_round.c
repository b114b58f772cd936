/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/first_round.h"

#include <math.h>
#include <string.h>

#include "plan/release.h"
#include "plan/sensitivity.h"
#include "reading/data_params.h"

#define BAD_LUCK 1e-3 /* the largest probability of a round with too few messages, over the run */

/* ---- what a loss reads -------------------------------------------------------------------------------- */

static int has_factor_transform(const struct term_plan *term)
{
    for (int i = 0; i < term->n_transforms; i++)
        if (((const dpf_transform *)term->transforms[i]->functions)->kind == DPF_TRANSFORM_FACTOR)
            return 1;
    return 0;
}

static int check_loss(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    const char *id = term->loss->entry->component->id;
    if (term->source == SOURCE_RELATION && !*plan->data.params.values[D_RELATION_PATH].text)
        return config_error(plan->config, term->name, "source", error,
                            "source = relation needs links between users: set [data] relation.path");
    if (term->source != SOURCE_RELATION && (loss->flags & DPF_LOSS_LINKS))
        return config_error(
            plan->config, term->name, "source", error,
            "loss %s sums over links between users, and ratings are none: set source = relation", id);
    if (term->raw_residual && term->query.form == DPF_FORM_QUADRATIC && has_factor_transform(term))
        return config_error(
            plan->config, term->name, "residual", error,
            "loss %s solves least squares, which predict from the rows that they multiply, and "
            "those are the transformed ones: set residual = transformed",
            id);
    const int has_offset =
        plan->offset != 0 || plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN;
    if (has_offset && (loss->flags & DPF_LOSS_NO_OFFSET))
        return config_error(
            plan->config, "model", "offset", error,
            "loss %s of [%s] predicts without an offset, since empty cells have the target 0: set "
            "offset = none",
            id, term->name);
    return 0;
}

/* ---- whether rows can be solved ----------------------------------------------------------------------- */

static int is_noisy(const struct term_plan *term)
{
    if (!term->mechanism || term->noise.where == DPF_NOISE_NOWHERE)
        return 0;
    for (int b = 0; b < term->query.n_blocks; b++)
        if (term->query.blocks[b].kind == DPF_BLOCK_QUADRATIC &&
            (term->noise.scale[b] > 0 || (term->query.has_gram && term->noise.gram_scale[b] > 0)))
            return 1;
    return 0;
}

static int has_noise(const struct term_plan *term)
{
    for (int b = 0; term->mechanism && term->noise.where != DPF_NOISE_NOWHERE && b < term->query.n_blocks;
         b++)
        if (term->noise.scale[b] > 0)
            return 1;
    return 0;
}

/* By a constant, or by that and what grows with a row's records (per_count NULL: does not count). */
static int has_ridge(const float *per_count, const dpf_query *query)
{
    for (int32_t i = 0; i < query->dimension; i++)
        if (!(query->ridge_constant[i] > 0) && !(per_count && per_count[i] > 0))
            return 0;
    return 1;
}

/* Whether a Gram row, of all rows of the other side, can be positive definite by itself: these are as many as a row has
   unknowns, and no projection makes some of them equal. */
static int has_full_gram(const struct plan *plan, const struct side_plan *side)
{
    const struct side_plan *other = &plan->sides[1 - side->side];
    for (int t = 0; t < other->n_terms; t++)
        for (int i = 0; i < other->terms[t].n_transforms; i++)
            if (((const dpf_transform *)other->terms[t].transforms[i]->functions)->kind ==
                DPF_TRANSFORM_STATE)
                return 0;
    return side->query.has_gram && plan_rows(plan, 1 - side->side) >= side->query.dimension;
}

/* Sums of squares are positive definite with a ridge, unless noise is added to them. */
static int check_definite(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                          struct dpf_error *error)
{
    const char *solver = side->solver->entry->component->id;
    if ((side->solver_functions->flags & DPF_SOLVER_PRIOR) && !has_ridge(NULL, &side->query))
        return config_error(
            plan->config, term->name, "loss", error,
            "solver %s takes regularisation for a prior of every unknown: set lambda and bias-lambda of "
            "the loss above 0, and regularization = constant",
            solver);
    if ((side->solver_functions->flags & DPF_SOLVER_RIDGE) &&
        !has_ridge(side->query.ridge_per_count, &side->query))
        return config_error(plan->config, term->name, "loss", error,
                            "solver %s needs regularisation of every unknown, since noise may leave nothing "
                            "else of a matrix: "
                            "set lambda and bias-lambda of the loss above 0",
                            solver);
    if (term->query.form != DPF_FORM_QUADRATIC || (side->solver_functions->flags & DPF_SOLVER_INDEFINITE))
        return 0;
    if (is_noisy(term))
        return config_error(
            plan->config, plan_side_name(side->side), "solver", error,
            "solver %s needs positive definite matrices, and the noise of mechanism %s of [%s] "
            "makes others of them: set solver = psd, ball or kalman",
            solver, term->mechanism->entry->component->id, term->name);
    if (side->solve_at == SOLVE_AT_PARTY && has_noise(term) && !has_full_gram(plan, side) &&
        !has_ridge(NULL, &side->query))
        return config_error(
            plan->config, term->name, "loss", error,
            "solve-at = party: solver %s needs positive definite matrices, and of a row of which a party has "
            "no "
            "records there is nothing but the noise of mechanism %s: set lambda above 0 and regularization = "
            "constant in the loss, or solver = ball",
            solver, term->mechanism->entry->component->id);
    if (!has_full_gram(plan, side) && !has_ridge(side->query.ridge_per_count, &side->query))
        return config_error(
            plan->config, plan_side_name(side->side), "solver", error,
            "solver %s needs positive definite matrices, and without regularisation a row of few "
            "records has none: set lambda above 0 in the loss, or solver = ball, which takes the "
            "shortest solution",
            solver);
    return 0;
}

/* ---- whether enough send ------------------------------------------------------------------------------ */

/* An upper bound on the probability that fewer than `needed` of n take part, each with probability q (Chernoff;
   of none it is the probability itself). */
static double too_few(double n, double q, double needed)
{
    const double part = (needed - 1) / n;
    if (needed < 1 || q >= 1)
        return needed <= n ? 0 : 1;
    if (part >= q)
        return 1;
    const double divergence = (part > 0 ? part * log(part / q) : 0) + (1 - part) * log((1 - part) / (1 - q));
    return exp(-n * divergence);
}

static double larger(double a, int64_t b)
{
    return a > (double)b ? a : (double)b;
}

#define NO_NUMBER 0x1p62 /* of messages is enough */

static int check_senders(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    const dpf_aggregator_limits limits = plan_aggregator_limits(plan, term);
    /* Without limits of its own an aggregator adds up no message, too. */
    const int64_t senders = plan_senders(plan, term);
    const double n = (double)(term->by_user && !term->pooled && plan->n_present < senders ? plan->n_present
                                                                                          : senders),
                 opened = limits.parties > 1 ? (double)limits.parties : 0,
                 needed = larger(larger(opened, limits.survivors), term->noise.least_survivors);
    const int drawn =
        term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY;
    const char *aggregator = term->aggregator->entry->component->id,
               *with = term->mechanism ? " with the noise of mechanism " : "",
               *mechanism = term->mechanism ? term->mechanism->entry->component->id : "";
    if (term->source == SOURCE_RELATION)
        return 0;
    if (opened >= NO_NUMBER)
        return config_error(plan->config, term->name, "aggregator", error,
                            "aggregator %s opens no sum of %.0f messages, because too many of its parties "
                            "count as corrupt: lower corrupt, or raise threshold",
                            aggregator, n);
    if (needed > n)
        return config_error(plan->config, term->name, "aggregator", error,
                            "a sum of aggregator %s%s%s needs %.0f messages, but only %.0f parties send: "
                            "lower survivors, threshold or [privacy] min-honest, or set "
                            "[parties] kind = users",
                            aggregator, with, mechanism, needed, n);
    /* Groups that take turns come back as they were. */
    const double rate = drawn ? term->sampling.rate : 1,
                 rounds = (double)plan->run.params.values[RUN_ROUNDS].integer,
                 groups = (double)term->sampling.separation,
                 draws = term->sampling.kind == DPF_SAMPLING_CYCLIC && groups < rounds ? groups : rounds;
    if (draws * too_few(n, rate, needed) <= BAD_LUCK)
        return 0;
    return config_error(plan->config, term->name, "sampler", error,
                        "sampler %s draws %.6g of %.0f users in a round on average, and a sum of aggregator "
                        "%s%s%s needs %.0f: in some rounds there would be fewer, and they would fail. Raise "
                        "the "
                        "rate, or lower survivors, threshold or [privacy] min-honest",
                        term->sampler->entry->component->id, rate * n, n, aggregator, with, mechanism,
                        needed);
}

int first_round_check(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                      struct dpf_error *error)
{
    if (check_loss(plan, term, error) != 0 || check_definite(plan, side, term, error) != 0)
        return -1;
    return term->aggregator ? check_senders(plan, term, error) : 0;
}
