/* SPDX-License-Identifier: Apache-2.0 */
/* additive_mechanism.c - the mechanism role from a few facts about the noise. */
#include "additive_parts.h"

/* Of a share's steps at most: those of a row and of its Gram row are in one word. */
#define ADDITIVE_SHARE_BITS 31

static double additive_kept(const dpf_noise_plan *plan, int32_t word)
{
    double number;
    memcpy(&number, &plan->opaque[word], sizeof number);
    return number;
}

static void additive_keep(dpf_noise_plan *plan, int32_t word, double number)
{
    memcpy(&plan->opaque[word], &number, sizeof number);
}

int64_t dpf_additive_plan_parts(const dpf_noise_plan *plan)
{
    return (int64_t)plan->opaque[DPF_ADDITIVE_KEEPS_PARTS];
}

uint64_t dpf_additive_plan_steps(const dpf_noise_plan *plan, int32_t b, int32_t gram)
{
    return plan->opaque[DPF_ADDITIVE_KEEPS_STEPS + b] >> (gram ? 32 : 0) & UINT32_MAX;
}

/* Without shares: the change of block b that the plan protects, in grid steps (dpf_noise_source.change). */
static void additive_keep_change(dpf_noise_plan *plan, int32_t b, int32_t gram, double steps)
{
    float change = (float)ceil(steps);
    if ((double)change < steps)
        change = nextafterf(change, INFINITY);
    memcpy((char *)&plan->opaque[DPF_ADDITIVE_KEEPS_CHANGES] + dpf_additive_change_place(b, gram), &change,
           sizeof change);
}

/* Finds what an author forgot: a missing fact would be 0, and so an event that costs nothing. */
static const char *additive_mistake(const dpf_additive_mechanism *spec, const dpf_mechanism *functions,
                                    const dpf_params *params)
{
    const int32_t own = spec->event == DPF_EVENT_APPROX || spec->event == DPF_EVENT_ZCDP;
    if (spec->norm < DPF_NORM_L1 || spec->norm > DPF_NORM_ROWS)
        return "norm of the dpf_additive_mechanism is not one of DPF_NORM_*";
    if (spec->event < DPF_EVENT_UNSUPPORTED)
        return "event of the dpf_additive_mechanism is missing";
    if (own && !spec->state)
        return "the dpf_additive_mechanism states APPROX or ZCDP, but has no function `state` with its "
               "numbers";
    if ((spec->norm == DPF_NORM_LINF || spec->norm == DPF_NORM_ROWS) && !own &&
        spec->event != DPF_EVENT_PURE && spec->event != DPF_EVENT_UNSUPPORTED)
        return "norms LINF and ROWS go with the events PURE, APPROX, ZCDP and UNSUPPORTED";
    if (spec->norm == DPF_NORM_ROWS && !spec->whole_blocks)
        return "norm ROWS is for noise of vectors: set whole_blocks";
    /* Noise on each number or row costs the sum of their norms, which an L2 bound does not bound. */
    if (spec->norm == DPF_NORM_L2 && spec->event == DPF_EVENT_PURE)
        return "event PURE goes with the norms L1, LINF and ROWS: epsilons of rows add up, their squares do "
               "not";
    if (!spec->multiplier || !spec->draw || !spec->variance || spec->max_bits < 1 || spec->max_bits > 42)
        return "multiplier, draw, variance or max_bits of the dpf_additive_mechanism is missing";
    if (spec->bits < 8 || spec->bits > spec->max_bits)
        return "bits of the dpf_additive_mechanism is missing, below 8 or above max_bits";
    if (spec->in_shares == DPF_SHARES_VARIANCE && spec->max_bits > ADDITIVE_SHARE_BITS)
        return "max_bits of the dpf_additive_mechanism is larger than 31, but its shares' steps are kept in "
               "32 bits";
    if (!spec->in_shares && params->n_values != (uint32_t)(spec->shared + DPF_SHARED_COUNT))
        return "the parameters must end with DPF_ADDITIVE_PARAMS at index `shared`";
    if (!(functions->flags & DPF_MECHANISM_DIVIDES))
        return "the table lacks DPF_MECHANISM_DIVIDES: dpf_additive_mechanism_plan divides budgets";
    if (spec->in_shares && (~functions->flags & (DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES)))
        return "noise in shares needs a table with DPF_MECHANISM_DENSE and _SHARES: "
               "dpf_additive_shares_functions";
    return NULL;
}

static dpf_status additive_mechanism_check(const dpf_additive_mechanism *spec, const dpf_mechanism *functions,
                                           const dpf_host *host, const dpf_params *params)
{
    const char *const mistake = additive_mistake(spec, functions, params);
    return mistake ? host->fail(host, DPF_E_INTERNAL, -1, mistake) : DPF_OK;
}

dpf_status dpf_additive_mechanism_create(const dpf_additive_mechanism *spec, const dpf_mechanism *functions,
                                         const dpf_host *host, const dpf_params *params, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    double multiplier = 0;
    dpf_status status = additive_mechanism_check(spec, functions, host, params);
    if (status == DPF_OK)
        status = spec->multiplier(host, params->values, &multiplier);
    if (status != DPF_OK)
        return status;
    if (!(multiplier > 0) || isinf(multiplier))
        return host->fail(host, DPF_E_NUMERIC, -1,
                          "no finite amount of noise was found for these parameters");
    status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    dpf_additive_instance *it = *self;
    it->spec = spec;
    it->host = host;
    it->values = params->values;
    it->shared = params->values + spec->shared;
    it->random = random;
    it->stream = stream;
    it->multiplier = multiplier;
    return DPF_OK;
}

int32_t dpf_additive_mechanism_lifetime(void *self)
{
    const dpf_additive_instance *it = self;
    return it->spec->in_shares ? DPF_LIFETIME_ROUND
                               : (int32_t)it->shared[DPF_SHARED_LIFETIME].integer + DPF_LIFETIME_RUN;
}

double dpf_additive_mechanism_budget(void *self)
{
    const dpf_additive_instance *it = self;
    return it->spec->epsilon ? it->spec->epsilon(it->values) : NAN;
}

/* ---- plan ---- */

static int32_t additive_takes_scale(const dpf_additive_instance *it)
{
    return it->spec->is_scale && it->spec->is_scale(it->values);
}

static int32_t additive_has_one_scale(const dpf_additive_instance *it)
{
    return it->spec->one_scale && it->spec->one_scale(it->values);
}

/* How many numbers of a block can move; rows, if one draw serves a row. */
static double additive_moved(const dpf_additive_mechanism *spec, const dpf_release *release, int32_t block,
                             int32_t gram)
{
    const double numbers = dpf_additive_coordinates(release, block, gram);
    return spec->whole_blocks ? numbers / release->query->blocks[block].length : numbers;
}

/* fmin leaves out the one of two bounds that is not stated. */
static double additive_norm_of(const dpf_norms *norms, int32_t norm, double moved)
{
    if (norm == DPF_NORM_ROWS)
        return fmin(norms->l1, sqrt(moved) * norms->l2);
    return norm == DPF_NORM_L1 ? norms->l1 : norm == DPF_NORM_L2 ? norms->l2 : norms->linf;
}

/* The norms for the planned unit. A configured scale needs none; its event states what is unbounded. */
static dpf_status additive_norms(const dpf_additive_instance *it, const dpf_release *release, int32_t gram,
                                 double *norms)
{
    const dpf_sensitivity *blocks = gram ? release->gram : release->blocks;
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        norms[b] = blocks ? additive_norm_of(&blocks[b].at[release->unit][release->adjacency], it->spec->norm,
                                             additive_moved(it->spec, release, b, gram))
                          : NAN;
        if (additive_takes_scale(it)) {
            norms[b] = norms[b] == 0 ? 0 : 1;
            continue;
        }
        const dpf_status status = dpf_additive_check(it->host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status additive_no_grid(const dpf_additive_instance *it)
{
    return it->host->fail(it->host, DPF_E_RANGE, -1,
                          "no grid fits this noise: its scale, or a party's share of it, is extreme, or "
                          "the budget is too small for so many numbers or messages");
}

/* Scale of the whole noise over the scale of one share. */
static double additive_shares_of(const dpf_additive_mechanism *spec, const dpf_noise_plan *plan)
{
    return spec->in_shares == DPF_SHARES_VARIANCE ? sqrt((double)dpf_additive_plan_parts(plan)) : 1;
}

/* What rounding adds to the change of a block in this norm, in grid steps. */
static double additive_rounding_steps(int32_t norm, double numbers)
{
    return norm == DPF_NORM_L2 ? sqrt(numbers) : norm == DPF_NORM_LINF ? 1 : numbers;
}

/* Grid and scale (of one share) of all blocks of a row, or of the Gram row, with this part of the budget. */
static dpf_status additive_choose_scales(const dpf_additive_instance *it, const dpf_release *release,
                                         const double *norms, double part, int32_t gram, dpf_noise_plan *out)
{
    const dpf_additive_mechanism *spec = it->spec;
    const int32_t n = release->query->n_blocks, bits = dpf_additive_bits(spec->bits, release);
    const double factor = release->noise_factor * it->multiplier / additive_shares_of(spec, out);
    double shares[DPF_MAX_BLOCKS], all = 0, all_numbers = 0;
    const dpf_status status = dpf_additive_shares(it->host, release, norms, shares);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < n; b++) {
        all += norms[b];
        all_numbers += norms[b] > 0 ? dpf_additive_coordinates(release, b, gram) : 0;
    }
    for (int32_t b = 0; b < n; b++) {
        if (!(norms[b] > 0))
            continue;
        const int32_t one_scale = additive_has_one_scale(it), l2 = spec->norm == DPF_NORM_L2;
        const double numbers = one_scale ? all_numbers : dpf_additive_coordinates(release, b, gram);
        const double of_budget = one_scale ? part : shares[b] * part, norm = one_scale ? all : norms[b];
        const double moved = spec->norm == DPF_NORM_LINF ? additive_moved(spec, release, b, gram) : 1;
        double per_norm = factor * moved / (l2 ? sqrt(of_budget) : of_budget);
        double per_step = per_norm * additive_rounding_steps(spec->norm, numbers);
        if (additive_takes_scale(it)) { /* not raised for rounding */
            per_norm = factor;
            per_step = 0;
        }
        if (dpf_additive_choose(per_norm * norm, per_step, l2 ? 0 : norm, bits, spec->max_bits,
                                gram ? &out->gram_grid[b] : &out->grid[b],
                                gram ? &out->gram_scale[b] : &out->scale[b]) != 0)
            return additive_no_grid(it);
    }
    return DPF_OK;
}

/* Whether blocks are charged one by one, even if they share a bound. */
static int32_t additive_is_separate(const dpf_additive_mechanism *spec)
{
    return spec->norm == DPF_NORM_LINF || spec->norm == DPF_NORM_ROWS || spec->event == DPF_EVENT_APPROX ||
           spec->event == DPF_EVENT_ZCDP;
}

/* Grids and scales of blocks that share a bound; *done is 0 if nothing is shared. */
static dpf_status additive_choose_together(const dpf_additive_instance *it, const dpf_release *release,
                                           dpf_noise_plan *out, int *done)
{
    const dpf_additive_mechanism *spec = it->spec;
    dpf_additive_request ask;
    *done = 0;
    if (additive_takes_scale(it) || additive_is_separate(spec))
        return DPF_OK;
    ask.p = spec->norm;
    ask.factor = release->noise_factor * it->multiplier;
    ask.one_scale = additive_has_one_scale(it);
    ask.parts = additive_shares_of(spec, out);
    ask.bits = dpf_additive_bits(spec->bits, release);
    ask.max_bits = spec->max_bits;
    const dpf_status status = dpf_additive_together(it->host, release, &ask, out, done);
    return status == DPF_OK && *done < 0 ? additive_no_grid(it) : status;
}

/*
 * Noise in shares: how many parties make up enough noise, and how many messages a sum needs. A Gram row is a row like the
 * others: every party sends a part of it with a share of its noise, so any t parts have the noise of the plan, for the
 * sensitivity that the loss states of the sum. The host refuses where one party alone sends the Gram row.
 */
static dpf_status additive_begin_shares(const dpf_additive_instance *it, const dpf_release *release,
                                        dpf_noise_plan *out)
{
    if (release->min_honest < 1 || release->max_curious < 0 ||
        release->max_curious > release->n_parties - release->min_honest)
        return it->host->fail(it->host, DPF_E_INTERNAL, -1,
                              "the release has no number of honest parties for noise in shares");
    if (dpf_additive_bits(it->spec->bits, release) < it->spec->min_bits)
        return additive_no_grid(it);
    out->opaque[DPF_ADDITIVE_KEEPS_PARTS] = (uint64_t)release->min_honest;
    out->spare_shares = (int32_t)release->max_curious;
    out->least_survivors = release->min_honest + release->max_curious;
    return DPF_OK;
}

static dpf_status additive_begin_plan(const dpf_additive_instance *it, const dpf_release *release,
                                      dpf_noise_plan *out)
{
    const int32_t where = it->spec->in_shares
                              ? DPF_NOISE_IN_SHARES
                              : (int32_t)it->shared[DPF_SHARED_WHERE].integer + DPF_NOISE_AT_PARTY;
    dpf_status status = it->spec->accept ? it->spec->accept(it->host, it->values, release) : DPF_OK;
    if (status == DPF_OK)
        status = dpf_additive_begin(it->host, release, where, 1.0 / 268435456, out); /* 2^-28 */
    if (status != DPF_OK)
        return status;
    additive_keep(out, DPF_ADDITIVE_KEEPS_LIMIT, dpf_additive_limit(release->n_parties));
    additive_keep(out, DPF_ADDITIVE_KEEPS_FACTOR, release->noise_factor);
    out->opaque[DPF_ADDITIVE_KEEPS_PARTS] = 1;
    return it->spec->in_shares ? additive_begin_shares(it, release, out) : DPF_OK;
}

static dpf_additive additive_noise(const dpf_additive_instance *it, const dpf_noise_plan *plan)
{
    dpf_additive noise;
    noise.random = it->random;
    noise.stream = it->stream;
    noise.values = it->values;
    noise.parts = dpf_additive_plan_parts(plan);
    noise.whole_blocks = it->spec->whole_blocks;
    noise.integers = it->spec->draw;
    noise.steps = it->spec->in_shares == DPF_SHARES_VARIANCE ? &plan->opaque[DPF_ADDITIVE_KEEPS_STEPS] : NULL;
    noise.changes = it->spec->in_shares ? NULL : &plan->opaque[DPF_ADDITIVE_KEEPS_CHANGES];
    return noise;
}

/* What a draw for this block reads, but for randomness. */
static dpf_noise_source additive_facts(const dpf_additive_instance *it, const dpf_noise_plan *plan, int32_t b,
                                       int32_t gram)
{
    const dpf_additive noise = additive_noise(it, plan);
    dpf_noise_source from = {NULL, NULL, noise.values, noise.parts, 0};
    from.change = noise.changes ? dpf_additive_read_change(noise.changes, b, gram) : 0;
    return from;
}

/* Variance of one number of the decoded sum, at this scale (of one share). */
static double additive_variance(const dpf_additive_instance *it, const dpf_noise_source *from, double scale,
                                double grid, int64_t n, double copies)
{
    if (!(scale > 0))
        return 0;
    return copies * (it->spec->variance(from, scale / grid, n) * (grid * grid));
}

/* Grid steps of one share; scale becomes that of all shares together, whose deviation is `root` times one's. */
static uint64_t additive_whole(const dpf_additive_mechanism *spec, const dpf_noise_source *from, double share,
                               int64_t n, double root, double grid, double *scale)
{
    if (!(share > 0))
        return 0;
    *scale = sqrt(spec->variance(from, share / grid, n)) * grid * root;
    return (uint64_t)(share / grid);
}

static void additive_finish_plan(const dpf_additive_instance *it, const dpf_release *release,
                                 dpf_noise_plan *out)
{
    const dpf_additive_mechanism *spec = it->spec;
    const double parts = (double)dpf_additive_plan_parts(out), parties = (double)release->n_parties;
    const double copies = spec->in_shares == DPF_SHARES_LAW ? parties / parts
                          : out->where == DPF_NOISE_AT_SUM  ? 1
                                                            : parties;
    for (int32_t b = 0; b < out->n_blocks; b++) {
        const double share = out->scale[b];
        const int64_t n = spec->whole_blocks ? release->query->blocks[b].length : 1;
        const dpf_noise_source row = additive_facts(it, out, b, 0), gram = additive_facts(it, out, b, 1);
        out->variance[b] = additive_variance(it, &row, share, out->grid[b], n, copies);
        out->gram_variance[b] =
            additive_variance(it, &gram, out->gram_scale[b], out->gram_grid[b], n, copies);
        if (spec->in_shares != DPF_SHARES_VARIANCE)
            continue;
        const uint64_t steps =
                           additive_whole(spec, &row, share, n, sqrt(parts), out->grid[b], &out->scale[b]),
                       gram_steps = additive_whole(spec, &gram, out->gram_scale[b], n, sqrt(parts),
                                                   out->gram_grid[b], &out->gram_scale[b]);
        out->opaque[DPF_ADDITIVE_KEEPS_STEPS + b] = gram_steps << 32 | steps;
    }
}

static void additive_keep_changes(const dpf_additive_mechanism *spec, const dpf_release *release,
                                  const double *norms, const double *gram_norms, dpf_noise_plan *out)
{
    for (int32_t gram = 0; gram < (gram_norms ? 2 : 1); gram++)
        for (int32_t b = 0; b < out->n_blocks; b++) {
            const double norm = gram ? gram_norms[b] : norms[b],
                         grid = gram ? out->gram_grid[b] : out->grid[b];
            const double numbers = dpf_additive_coordinates(release, b, gram);
            if (norm > 0)
                additive_keep_change(out, b, gram,
                                     norm / grid + additive_rounding_steps(spec->norm, numbers));
        }
}

dpf_status dpf_additive_mechanism_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const dpf_additive_instance *it = self;
    double norms[DPF_MAX_BLOCKS], gram_norms[DPF_MAX_BLOCKS];
    int together = 0;
    dpf_status status = additive_begin_plan(it, release, out);
    if (status != DPF_OK)
        return status;
    const double gram_share = release->query->has_gram ? release->gram_share : 0;
    if (gram_share > 0 && !release->gram && !additive_takes_scale(it))
        return it->host->fail(
            it->host, DPF_E_PRIVACY, -1,
            "the loss does not state the sensitivity of its Gram row, so no noise can be chosen for it; "
            "use another loss, or gram-share = 0");
    status = additive_norms(it, release, 0, norms);
    if (status == DPF_OK && gram_share > 0)
        status = additive_norms(it, release, 1, gram_norms);
    if (status == DPF_OK)
        status = additive_choose_together(it, release, out, &together);
    if (status == DPF_OK && !together)
        status = additive_choose_scales(it, release, norms, 1 - gram_share, 0, out);
    if (status == DPF_OK && !together && gram_share > 0)
        status = additive_choose_scales(it, release, gram_norms, gram_share, 1, out);
    if (status != DPF_OK)
        return status;
    if (!it->spec->in_shares && !additive_takes_scale(it))
        additive_keep_changes(it->spec, release, norms, gram_share > 0 ? gram_norms : NULL, out);
    additive_finish_plan(it, release, out);
    return DPF_OK;
}

/* ---- events ---- */

/*
 * Accountants read l1 of PURE and APPROX and l2 of ZCDP as the change in the mechanism's norm; LINF counts
 * for each number, or row, that can move.
 */
static void additive_put_norm(int32_t norm, double moved, dpf_event *event)
{
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
            dpf_norms *norms = &event->sensitivity.at[u][a];
            const double change = additive_norm_of(norms, norm, moved) * (norm == DPF_NORM_LINF ? moved : 1);
            if (event->kind == DPF_EVENT_ZCDP)
                norms->l2 = change;
            else
                norms->l1 = change;
        }
}

static void additive_complete(const dpf_additive_instance *it, const dpf_release *release,
                              const dpf_noise_plan *plan, dpf_event *event)
{
    const dpf_additive_mechanism *spec = it->spec;
    int32_t bit = 0;
    if (!(event->scale > 0))
        return;
    while (!(event->blocks >> bit & 1))
        bit++;
    const int32_t gram = bit >= DPF_GRAM_BIT;
    const double moved = additive_moved(spec, release, bit - (gram ? DPF_GRAM_BIT : 0), gram);
    event->flags |= spec->in_shares ? DPF_EVENT_NOISE_SHARED : 0;
    if (event->kind == DPF_EVENT_PURE || event->kind == DPF_EVENT_APPROX || event->kind == DPF_EVENT_ZCDP)
        additive_put_norm(spec->norm, moved, event);
    if (event->kind == DPF_EVENT_PURE)
        event->p.pure.epsilon = 1 / event->scale * (1 + 1e-15);
    if (spec->state && event->kind == spec->event)
        spec->state(it->values, release, plan, moved, event);
}

dpf_status dpf_additive_mechanism_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                         dpf_event *out, int32_t capacity, int32_t *n)
{
    const dpf_additive_instance *it = self;
    const dpf_additive_claim claim = {it->spec->norm, it->spec->event, 1, additive_is_separate(it->spec),
                                      dpf_additive_mechanism_lifetime(self)};
    const dpf_status status = dpf_additive_events(it->host, release, plan, &claim, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        additive_complete(it, release, plan, &out[i]);
    return status;
}

dpf_status dpf_additive_mechanism_epsilon_at_weight(void *self, const dpf_noise_plan *plan, double weight,
                                                    double *epsilon)
{
    *epsilon =
        weight * (dpf_additive_mechanism_budget(self) / additive_kept(plan, DPF_ADDITIVE_KEEPS_FACTOR));
    return DPF_OK;
}

uint64_t dpf_event_change(const dpf_noise_plan *plan, const dpf_event *event)
{
    int32_t bit = 0;
    while (!(event->blocks >> bit & 1))
        bit++;
    const int32_t gram = bit >= DPF_GRAM_BIT;
    return dpf_additive_read_change(&plan->opaque[DPF_ADDITIVE_KEEPS_CHANGES],
                                    bit - (gram ? DPF_GRAM_BIT : 0), gram);
}

/* ---- run ---- */

dpf_status dpf_additive_mechanism_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                         const dpf_query *query, const double *values, int64_t stride,
                                         dpf_encoded *out)
{
    const dpf_additive noise = additive_noise((const dpf_additive_instance *)self, plan);
    return dpf_additive_encode(&noise, call, plan, query, additive_kept(plan, DPF_ADDITIVE_KEEPS_LIMIT),
                               values, stride, out);
}

dpf_status dpf_additive_enough(const dpf_additive_instance *it, const dpf_call *call,
                               const dpf_noise_plan *plan, const dpf_encoded *sums)
{
    if (!it->spec->in_shares || sums->survivors >= plan->least_survivors)
        return DPF_OK;
    return call->host->fail(call->host, DPF_E_PRIVACY, -1,
                            "the sum has fewer messages than its noise in shares needs, so it is not "
                            "released; lower [privacy] min-honest");
}

dpf_status dpf_additive_mechanism_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                         const dpf_query *query, const dpf_encoded *sums, double *out,
                                         int64_t stride)
{
    const dpf_additive_instance *it = self;
    const dpf_additive noise = additive_noise(it, plan);
    const dpf_status status = dpf_additive_enough(it, call, plan, sums);
    return status == DPF_OK ? dpf_additive_decode(&noise, call, plan, query, sums, out, stride) : status;
}

void dpf_event_normalise(dpf_event *event, double by)
{
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++) {
            event->sensitivity.at[u][a].l1 /= by;
            event->sensitivity.at[u][a].l2 /= by;
            event->sensitivity.at[u][a].linf /= by;
        }
}

/* ---- the role's tables ---- */

#define COMMON                                                                                               \
    .lifetime = dpf_additive_mechanism_lifetime, .budget = dpf_additive_mechanism_budget,                    \
    .plan = dpf_additive_mechanism_plan, .events = dpf_additive_mechanism_events,                            \
    .encode = dpf_additive_mechanism_encode, .decode = dpf_additive_mechanism_decode

const dpf_mechanism dpf_additive_functions = {.flags = DPF_MECHANISM_ROUNDS | DPF_MECHANISM_DIVIDES, COMMON};
const dpf_mechanism dpf_additive_pure_functions = {.flags = DPF_MECHANISM_ROUNDS | DPF_MECHANISM_DIVIDES,
                                                   COMMON,
                                                   .epsilon_at_weight =
                                                       dpf_additive_mechanism_epsilon_at_weight};
const dpf_mechanism dpf_additive_shares_functions = {
    .flags = DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES, COMMON};
