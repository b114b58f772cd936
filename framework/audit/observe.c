/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial_sum.h"
#include "audit/pbm_law.h"
#include "audit/score.h"
#include "audit/whiten.h"
#include "base/memory.h"
#include "plan/release.h"

#define MAX_SPIED 32
/* For an exact law: what is kept of messages, and operations for one observation. Past that there are so many
   messages in a sum that their law is nearly normal. */
#define MOST_KEPT (INT64_C(1) << 20)
#define MOST_OPERATIONS 4e6
#define MAX_REDRAWS 4096

/* Success probabilities of the trials of a number, one for each message. */
struct chances {
    double *p;
    size_t n, capacity;
};

/* A term whose mechanism and sampler are spied on. */
struct spied {
    struct term_plan *plan;
    int term;
    const dpf_mechanism *mechanism; /* the real ones */
    const dpf_sampler *sampler;
    dpf_mechanism spy_mechanism;
    dpf_sampler spy_sampler;
    const dpf_event *pbm;    /* of the Poisson binomial mechanism: noise is that of what each message holds */
    double *exact;           /* sums of what was encoded and not decoded yet, by row */
    double *squares;         /* the same of squares, for pbm */
    struct chances *chances; /* the same for pbm; of replays */
    int64_t kept;            /* chances */
    int kept_all;            /* else there are too many */
    size_t capacity;
    int64_t *senders; /* messages that hold a row and were not decoded yet */
    size_t senders_capacity;
    int messages; /* they are seen */
    int hidden;   /* the sampler's draw is */
};

/* The training that is going on: function tables have no context. */
static struct watch {
    const struct observe *request;
    struct trace *out;
    struct spied spied[MAX_SPIED];
    int n;
    size_t next, next_message; /* of the given estimates, and messages */
} * active;

static struct spied *spied_mechanism(const void *self)
{
    for (int i = 0; i < active->n; i++)
        if (active->spied[i].mechanism && active->spied[i].plan->mechanism->self == self)
            return &active->spied[i];
    return NULL; /* not reached: only spied tables lead here */
}

static int64_t row_of(const dpf_encoded *integers, int64_t r)
{
    return integers->rows ? integers->rows[r] : integers->first_row + r;
}

/* ---- writing down ------------------------------------------------------------------------------------- */

/* An observation of the shape of these rows, with room for exact values. NULL: memory ran out. */
static struct observation *observation_add(struct observations *list, const struct spied *spied,
                                           const dpf_call *call, const dpf_noise_plan *noise,
                                           const dpf_encoded *rows)
{
    struct observation *grown = memory_grow(list->items, &list->capacity, list->n + 1, sizeof *grown);
    if (!grown)
        return NULL;
    list->items = grown;
    struct observation *o = &list->items[list->n];
    const size_t n = (size_t)rows->n_rows, size = n * (size_t)rows->width;
    *o = (struct observation){.side = spied->plan->side,
                              .term = spied->term,
                              .round = call->round,
                              .party = call->party,
                              .n_rows = rows->n_rows,
                              .first_row = rows->first_row,
                              .width = rows->width,
                              .survivors = rows->survivors,
                              .exact = memory_new(size + 1, sizeof(double)),
                              .noise = *noise};
    if (rows->rows)
        o->rows = memory_raw(n + 1, sizeof *o->rows);
    if (!active->request->given)
        o->seen = memory_raw(size + 1, sizeof(double));
    if (!o->exact || (rows->rows && !o->rows) || (!active->request->given && !o->seen)) {
        observation_free(o);
        return NULL;
    }
    if (rows->rows)
        memcpy(o->rows, rows->rows, n * sizeof *o->rows);
    list->n++;
    return o;
}

/* Whether the observer knows a part of the noise. */
static int knows_noise(const struct spied *spied)
{
    return active->request->plan->guarantee.observer != DPF_OBSERVER_OUTSIDER &&
           spied->mechanism->conditional_stddev;
}

static double plan_deviation(const struct spied *spied, const struct observation *o, int64_t row, int32_t b)
{
    const int gram = spied->plan->query.has_gram && row == spied->plan->rows - 1;
    const double scale = gram ? o->noise.gram_scale[b] : o->noise.scale[b];
    const double variance = gram ? o->noise.gram_variance[b] : o->noise.variance[b];
    return variance > 0 ? sqrt(variance) : scale;
}

static int64_t senders_of(const struct spied *spied, int64_t row)
{
    return (size_t)row < spied->senders_capacity ? spied->senders[row] : 0;
}

/* ---- what is known of the noise ----------------------------------------------------------------------- */

/* What reaches the sum of a number. */
static double encoded_value(const struct spied *spied, double value)
{
    const double bound = spied->pbm ? pbm_bound(spied->pbm) : INFINITY;
    return fmin(fmax(value, -bound), bound);
}

/* of a message: x alone; of a sum: all who sent the row. */
static void fill_pbm_deviation(const struct spied *spied, const dpf_encoded *rows, int is_message,
                               struct observation *o)
{
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t i = 0; i < o->width; i++) {
            const int64_t at = r * o->width + i;
            const size_t sum = (size_t)(row_of(rows, r) * o->width + i);
            const double squares = is_message              ? o->exact[at] * o->exact[at]
                                   : sum < spied->capacity ? spied->squares[sum]
                                                           : 0;
            const double n = is_message ? 1 : (double)senders_of(spied, row_of(rows, r));
            o->deviation[at] = pbm_deviation(spied->pbm, n, squares);
        }
}

/* ln of the probability of the numbers that were seen. DPF_OK without it if it would take too long. */
static dpf_status add_log_law(const struct spied *spied, const struct observation *given, int is_message,
                              struct observation *o)
{
    const int64_t n = o->n_rows * o->width;
    if (!spied->pbm || !given || (!is_message && !spied->kept_all))
        return DPF_OK;
    const int64_t messages = is_message ? 1 : given->survivors;
    if ((double)n * binomial_sum_cost(messages, (int64_t)spied->pbm->p.pbm.trials) > MOST_OPERATIONS)
        return DPF_OK;
    o->log_law = memory_raw((size_t)n + 1, sizeof *o->log_law);
    if (!o->log_law)
        return DPF_E_MEMORY;
    for (int64_t at = 0; at < n; at++) {
        const int64_t row = o->rows ? o->rows[at / o->width] : o->first_row + at / o->width;
        const size_t sum = (size_t)(row * o->width + at % o->width);
        double own = is_message ? pbm_chance(spied->pbm, o->exact[at]) : 0;
        const struct chances message = {.p = &own, .n = 1}, none = {0};
        const struct chances *all = is_message                                ? &message
                                    : sum < spied->capacity && spied->chances ? &spied->chances[sum]
                                                                              : &none;
        o->log_law[at] = pbm_log(spied->pbm, all->p, (int64_t)all->n, given->seen[at], messages);
    }
    return DPF_OK;
}

/* Of row r: the variance over the plan's. */
static double part_of_variance(const struct spied *spied, const dpf_encoded *rows, int is_message,
                               const struct observation *o, int64_t r)
{
    const int64_t sent = is_message ? 1 : senders_of(spied, row_of(rows, r));
    return plan_noise_part(active->request->plan, spied->plan, &o->noise, sent,
                           is_message && rows->contributors ? rows->contributors[r] : sent);
}

/* Whether the plan's scale and law are those of this: of noise at the sum, and of a message of Laplace noise. */
static int is_as_planned(const struct spied *spied, int is_message, const struct observation *o)
{
    return o->noise.where == DPF_NOISE_NOWHERE || o->noise.where == DPF_NOISE_AT_SUM ||
           (is_message && o->noise.where == DPF_NOISE_AT_PARTY &&
            score_is_laplace(active->request->plan, o->side, o->term));
}

/*
 * The deviation of each coordinate where it is not the plan's: given the part of the noise that is known, or by the
 * number of messages that it is in.
 */
static dpf_status add_deviation(struct spied *spied, const dpf_call *call, const dpf_encoded *rows,
                                int is_message, struct observation *o)
{
    const int known = knows_noise(spied);
    const dpf_query *query = &spied->plan->query;
    if (!known && !spied->pbm && is_as_planned(spied, is_message, o))
        return DPF_OK;
    o->deviation = memory_new((size_t)(o->n_rows * o->width) + 1, sizeof(double));
    if (!o->deviation)
        return DPF_E_MEMORY;
    if (spied->pbm) {
        fill_pbm_deviation(spied, rows, is_message, o);
        return DPF_OK;
    }
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t b = 0; b < query->n_blocks; b++)
            for (int32_t i = 0; i < query->blocks[b].length; i++)
                o->deviation[r * o->width + query->blocks[b].offset + i] =
                    plan_deviation(spied, o, row_of(rows, r), b);
    dpf_status status = DPF_OK;
    if (known)
        status = spied->mechanism->conditional_stddev(spied->plan->mechanism->self, call, &o->noise, query,
                                                      rows, o->deviation, o->width);
    for (int64_t r = 0; r < o->n_rows; r++) {
        const double part = part_of_variance(spied, rows, is_message, o, r);
        for (int32_t i = 0; i < o->width; i++)
            o->deviation[r * o->width + i] *= sqrt(part);
    }
    return status;
}

/* ---- the mechanism's spies ---------------------------------------------------------------------------- */

static dpf_status count_sender(struct spied *spied, int64_t row)
{
    const size_t before = spied->senders_capacity;
    int64_t *grown =
        memory_grow(spied->senders, &spied->senders_capacity, (size_t)row + 1, sizeof *spied->senders);
    if (!grown)
        return DPF_E_MEMORY;
    memset(grown + before, 0, (spied->senders_capacity - before) * sizeof *grown);
    spied->senders = grown;
    spied->senders[row]++;
    return DPF_OK;
}

static dpf_status grow_sums(struct spied *spied, size_t capacity)
{
    double *exact = memory_new(capacity, sizeof *exact), *squares = memory_new(capacity, sizeof *squares);
    struct chances *chances = memory_new(capacity, sizeof *chances);
    if (!exact || !squares || !chances) {
        free(exact);
        free(squares);
        free(chances);
        return DPF_E_MEMORY;
    }
    if (spied->exact) {
        memcpy(exact, spied->exact, spied->capacity * sizeof *exact);
        memcpy(squares, spied->squares, spied->capacity * sizeof *squares);
        memcpy(chances, spied->chances, spied->capacity * sizeof *chances);
    }
    free(spied->exact);
    free(spied->squares);
    free(spied->chances);
    spied->chances = chances;
    spied->exact = exact;
    spied->squares = squares;
    spied->capacity = capacity;
    return DPF_OK;
}

static dpf_status keep_chance(struct spied *spied, size_t at, double value)
{
    struct chances *chances = &spied->chances[at];
    spied->kept_all &= spied->kept < MOST_KEPT;
    if (!spied->pbm || !active->request->given || !spied->kept_all)
        return DPF_OK;
    double *grown = memory_grow(chances->p, &chances->capacity, chances->n + 1, sizeof *grown);
    if (!grown)
        return DPF_E_MEMORY;
    chances->p = grown;
    grown[chances->n++] = pbm_chance(spied->pbm, value);
    spied->kept++;
    return DPF_OK;
}

static dpf_status add_exact(struct spied *spied, const double *values, int64_t stride, const dpf_encoded *out)
{
    for (int64_t r = 0; r < out->n_rows; r++) {
        if (count_sender(spied, row_of(out, r)) != DPF_OK)
            return DPF_E_MEMORY;
        const size_t at = (size_t)(row_of(out, r) * out->width), end = at + (size_t)out->width;
        if (end > spied->capacity) {
            const size_t capacity = end + end / 2;
            if (grow_sums(spied, capacity) != DPF_OK)
                return DPF_E_MEMORY;
        }
        for (int32_t i = 0; i < out->width; i++) {
            const double value = encoded_value(spied, values[r * stride + i]);
            spied->exact[at + (size_t)i] += value;
            spied->squares[at + (size_t)i] += value * value;
            if (keep_chance(spied, at + (size_t)i, value) != DPF_OK)
                return DPF_E_MEMORY;
        }
    }
    return DPF_OK;
}

/* Only the canary's party can differ, where parties are users. */
static int watched_party(const dpf_call *call)
{
    const int64_t kind = active->request->plan->parties.params.values[PARTIES_KIND].integer;
    return kind != PARTIES_USERS || active->request->user < 0 ||
           call->party == (uint32_t)active->request->user;
}

static dpf_status bare_message(struct observation *o)
{
    const size_t n = (size_t)(o->n_rows * o->width);
    free(o->deviation);
    o->deviation = memory_new(n + 1, sizeof(double));
    if (o->seen)
        memcpy(o->seen, o->exact, n * sizeof(double));
    return o->deviation ? DPF_OK : DPF_E_MEMORY;
}

static int same_shape(const struct observation *a, const struct observation *b)
{
    return a->side == b->side && a->term == b->term && a->round == b->round && a->n_rows == b->n_rows &&
           a->width == b->width && !a->rows == !b->rows &&
           (a->rows ? memcmp(a->rows, b->rows, (size_t)a->n_rows * sizeof *a->rows) == 0
                    : a->first_row == b->first_row);
}

/* What was seen at this point, or NULL if nothing of this shape follows. */
static const struct observation *given_after(const struct observations *given, const struct observation *o,
                                             size_t *next)
{
    for (size_t i = *next; i < given->n; i++)
        if (same_shape(&given->items[i], o) && given->items[i].party == o->party) {
            *next = i + 1;
            return &given->items[i];
        }
    return NULL;
}

static const struct observation *given_estimate(const struct observation *o)
{
    return active->request->given ? given_after(&active->request->given->sums, o, &active->next) : NULL;
}

static const struct observation *given_message(const struct observation *o)
{
    return active->request->given ? given_after(&active->request->given->messages, o, &active->next_message)
                                  : NULL;
}

static dpf_status add_message(struct spied *spied, const dpf_call *call, const dpf_noise_plan *noise,
                              const dpf_query *query, const double *values, int64_t stride,
                              const dpf_encoded *message)
{
    struct observation *o = observation_add(&active->out->messages, spied, call, noise, message);
    if (!o)
        return DPF_E_MEMORY;
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t i = 0; i < o->width; i++)
            o->exact[r * o->width + i] = encoded_value(spied, values[r * stride + i]);
    dpf_status status = add_deviation(spied, call, message, 1, o);
    if (status == DPF_OK)
        status = add_log_law(spied, given_message(o), 1, o);
    if (noise->where == DPF_NOISE_AT_SUM) /* messages are bare */
        return bare_message(o);
    if (status == DPF_OK && o->seen)
        status = spied->mechanism->decode(spied->plan->mechanism->self, call, noise, query, message, o->seen,
                                          o->width);
    return status;
}

static dpf_status spy_encode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                             const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    struct spied *spied = spied_mechanism(self);
    dpf_status status = DPF_OK;
    if (!active->request->given)
        status = spied->mechanism->encode(self, call, noise, query, values, stride, out);
    else /* what is sent does not matter, since the estimates are given */
        for (int64_t r = 0; r < out->n_rows; r++)
            memset(out->values + r * out->stride, 0, (size_t)out->width * sizeof(int64_t));
    if (status == DPF_OK)
        status = add_exact(spied, values, stride, out);
    if (status == DPF_OK && spied->messages && watched_party(call))
        status = add_message(spied, call, noise, query, values, stride, out);
    return status;
}

/*
 * A replay decodes the recorded rows; nothing, where nobody saw such rows: to decode there would draw the
 * training's own noise again, which no observer knows.
 */
static void hand_over(const struct observation *o, const struct observation *seen, double *out,
                      int64_t stride)
{
    const double *given = seen ? seen->released ? seen->released : seen->seen : NULL;
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t i = 0; i < o->width; i++)
            out[r * stride + i] = given ? given[r * o->width + i] : 0;
}

/* Rows that were decoded begin anew. */
static void forget_rows(struct spied *spied, const dpf_encoded *sums)
{
    for (int64_t r = 0; r < sums->n_rows; r++) {
        const size_t row = (size_t)row_of(sums, r), at = row * (size_t)sums->width;
        if (row < spied->senders_capacity)
            spied->senders[row] = 0;
        if (at >= spied->capacity)
            continue;
        memset(spied->exact + at, 0, (size_t)sums->width * sizeof(double));
        memset(spied->squares + at, 0, (size_t)sums->width * sizeof(double));
        for (int32_t i = 0; i < sums->width; i++) {
            spied->kept -= (int64_t)spied->chances[at + (size_t)i].n;
            spied->chances[at + (size_t)i].n = 0;
        }
    }
}

static dpf_status spy_decode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                             const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    struct spied *spied = spied_mechanism(self);
    struct observation *o = observation_add(&active->out->sums, spied, call, noise, sums);
    if (!o)
        return DPF_E_MEMORY;
    const size_t row_bytes = (size_t)sums->width * sizeof(double);
    for (int64_t r = 0; r < sums->n_rows; r++) {
        const size_t at = (size_t)(row_of(sums, r) * sums->width);
        if (at >= spied->capacity)
            continue; /* nobody sent the row */
        memcpy(o->exact + r * o->width, spied->exact + at, row_bytes);
    }
    o->told = spied->messages;
    const struct observation *given = given_estimate(o);
    dpf_status status = add_deviation(spied, call, sums, 0, o);
    if (status == DPF_OK)
        status = add_log_law(spied, given, 0, o);
    forget_rows(spied, sums);
    if (status == DPF_OK && active->request->given) {
        hand_over(o, given, out, stride);
        return DPF_OK;
    }
    if (status == DPF_OK)
        status = spied->mechanism->decode(self, call, noise, query, sums, out, stride);
    for (int64_t r = 0; r < sums->n_rows && status == DPF_OK; r++)
        memcpy(o->seen + r * o->width, out + r * stride, row_bytes);
    return status;
}

/* ---- the sampler's spy -------------------------------------------------------------------------------- */

static int is_canary(const dpf_draw *draw, int64_t i)
{
    const struct observe *request = active->request;
    if (draw->level == DPF_LEVEL_PARTY)
        return draw->first + i == request->user;
    return draw->users[i] == request->user && (request->item < 0 || draw->items[i] == request->item);
}

/* The weight that the canary has when it is drawn: from other draws of the same sampler, until one takes it.
 */
static dpf_status weight_if_drawn(const struct spied *spied, const dpf_call *call, const dpf_draw *draw,
                                  int64_t i, float *weight)
{
    dpf_call other = *call;
    dpf_draw one = *draw;
    one.n = 1;
    one.first += i;
    if (draw->level == DPF_LEVEL_RECORD) {
        one.users += i;
        one.items += i;
        one.values = draw->values ? draw->values + i : NULL;
        one.privacy_weights = draw->privacy_weights ? draw->privacy_weights + i : NULL;
    }
    for (uint32_t k = 1; k <= MAX_REDRAWS && *weight == 0; k++) {
        other.draw = call->draw + (k << 20);
        const dpf_status status = spied->sampler->draw(spied->plan->sampler->self, &other, &one, weight);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status spy_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    struct spied *spied = active->spied;
    while (!spied->sampler || spied->plan->sampler->self != self)
        spied++;
    dpf_status status = spied->sampler->draw(self, call, draw, weights);
    if (!spied->hidden || active->request->force == FORCE_NOTHING)
        return status;
    for (int64_t i = 0; i < draw->n && status == DPF_OK; i++) {
        if (!is_canary(draw, i))
            continue;
        if (active->request->force == FORCE_OUT)
            weights[i] = 0;
        else
            status = weight_if_drawn(spied, call, draw, i, &weights[i]);
    }
    return status;
}

/* ---- one training ------------------------------------------------------------------------------------- */

int observe_sees_messages(const struct plan *plan, const struct term_plan *term)
{
    if (!term->mechanism || plan->guarantee.observer != DPF_OBSERVER_SERVER ||
        plan->sides[term->side].solve_at == SOLVE_AT_PARTY || observe_hidden_draw(plan, term))
        return 0;
    return plan->parties.params.values[PARTIES_KIND].integer != PARTIES_CURATOR &&
           term->destination == DESTINATION_SERVER &&
           ((const dpf_aggregator *)term->aggregator->functions)->sees == DPF_SEES_MESSAGES;
}

int observe_hidden_draw(const struct plan *plan, const struct term_plan *term)
{
    return term->sampler && term->sampling.kind != DPF_SAMPLING_NONE &&
           term->sampling.hidden_from >= plan->guarantee.observer;
}

static int spy_on(struct watch *watch, struct term_plan *term, int number, struct dpf_error *error)
{
    const struct observe *request = watch->request;
    if (watch->n == MAX_SPIED)
        return error_set(error, DPF_FAULT_CONFIG, "at most %d terms can be audited at a time", MAX_SPIED);
    struct spied *spied = &watch->spied[watch->n++];
    spied->plan = term;
    spied->term = number;
    spied->hidden = observe_hidden_draw(request->plan, term);
    spied->messages = request->view == OBSERVE_MESSAGES && observe_sees_messages(request->plan, term);
    spied->pbm = term->mechanism ? pbm_event(request->plan, term->side, number) : NULL;
    spied->kept_all = 1;
    if (term->mechanism) {
        spied->mechanism = term->mechanism->functions;
        spied->spy_mechanism = *spied->mechanism;
        spied->spy_mechanism.flags &= ~DPF_MECHANISM_ROUNDS; /* every message is to pass by */
        spied->spy_mechanism.encode = spy_encode;
        spied->spy_mechanism.decode = spy_decode;
        term->mechanism->functions = &spied->spy_mechanism;
    }
    if (term->sampler) {
        spied->sampler = term->sampler->functions;
        spied->spy_sampler = *spied->sampler;
        spied->spy_sampler.draw = spy_draw;
        term->sampler->functions = &spied->spy_sampler;
    }
    return 0;
}

static void leave(struct watch *watch)
{
    for (int i = 0; i < watch->n; i++) {
        struct spied *spied = &watch->spied[i];
        if (spied->mechanism)
            spied->plan->mechanism->functions = spied->mechanism;
        if (spied->sampler)
            spied->plan->sampler->functions = spied->sampler;
        free(spied->exact);
        free(spied->squares);
        for (size_t at = 0; at < spied->capacity; at++)
            free(spied->chances[at].p);
        free(spied->chances);
        free(spied->senders);
    }
}

static int keep_rows(void *context, int64_t round, struct model *model, struct dpf_error *error)
{
    struct watch *watch = context;
    const struct observe *request = watch->request;
    struct trace *out = watch->out;
    (void)round;
    for (int side = 0; side < 2; side++) {
        if (!request->plan->sides[side].released)
            continue;
        const size_t width = (size_t)model->columns;
        const size_t needed = out->n_rows + (size_t)request->n_watched * width;
        float *grown = memory_grow(out->rows, &out->rows_capacity, needed + 1, sizeof *grown);
        if (!grown)
            return error_memory(error);
        out->rows = grown;
        for (int64_t i = 0; i < request->n_watched; i++, out->n_rows += width)
            if (request->watched[i] < model->sides[side].rows)
                memcpy(out->rows + out->n_rows, model->sides[side].data + request->watched[i] * model->stride,
                       width * sizeof(float));
            else /* of a user that has left */
                memset(out->rows + out->n_rows, 0, width * sizeof(float));
    }
    return 0;
}

static int train(const struct observe *request, struct watch *watch, struct dpf_error *error)
{
    struct model model = {0};
    struct engine_stats stats;
    const struct engine_hooks hooks = {.context = watch, .round_done = keep_rows};
    int status = model_init(&model, request->plan, request->dataset, error);
    if (status == 0)
        status = engine_run(request->plan, request->dataset, request->pool, &model,
                            request->n_watched ? &hooks : NULL, &stats, error);
    model_free(&model);
    return status;
}

int observe_run(const struct observe *request, struct trace *out, struct dpf_error *error)
{
    struct watch *watch = memory_new(1, sizeof *watch);
    *out = (struct trace){0};
    if (!watch)
        return error_memory(error);
    watch->request = request;
    watch->out = out;
    int status = 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < request->plan->sides[side].n_terms && status == 0; t++)
            status = spy_on(watch, &request->plan->sides[side].terms[t], t, error);
    active = watch;
    if (status == 0)
        status = train(request, watch, error);
    active = NULL;
    leave(watch);
    free(watch);
    if (status == 0)
        status = trace_whiten(request->plan, out, error);
    if (status != 0)
        trace_free(out);
    return status;
}
