/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_fixture.h"

const dpf_component *gram_component;
const dpf_recommender *gram_recommender;
struct data gram_data;

void index_data(struct data *d, int64_t leaves, int backwards)
{
    int64_t n = 0, rows = 0;
    d->offsets[0] = 0;
    for (int64_t k = 0; k < d->n_users; k++) {
        const int64_t u = backwards ? d->n_users - 1 - k : k;
        if (u == leaves)
            continue;
        for (int32_t i = 0; i < d->n_items; i++)
            if (d->has[u][i])
                d->items[n++] = i;
        d->offsets[++rows] = n;
    }
    d->records = (dpf_interactions){.size = sizeof d->records,
                                    .n_users = rows,
                                    .n_items = d->n_items,
                                    .n = n,
                                    .by_user = {rows, d->offsets, d->items, NULL, {0}}};
}

/* Two tastes; users of all lengths, from one item to all. */
static void fill_data(struct data *d)
{
    uint64_t z = 777;
    memset(d, 0, sizeof *d);
    d->n_users = USERS;
    d->n_items = ITEMS;
    for (int64_t u = 0; u < USERS; u++)
        for (int64_t i = 0; i < ITEMS; i++) {
            z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double much = u % 10 == 0 ? 0.9 : u % 2 == i % 2 ? 0.35 : 0.05;
            d->has[u][i] = (double)(z >> 11) * 0x1p-53 < much;
        }
    memset(d->has[0], 0, ITEMS);
    d->has[0][3] = 1; /* the first user has one item, the last one all */
    memset(d->has[USERS - 1], 1, ITEMS);
    index_data(d, -1, 0);
}

dpf_recommender_setup setup_of(const struct data *d)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .n_users = d->n_users,
                                   .n_items = d->n_items,
                                   .value_lo = 1,
                                   .value_hi = 1,
                                   .noise_factor = 1,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE};
}

static void backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

const dpf_call *call_with(struct plain_host *host, int32_t workers, uint32_t draw)
{
    host->call.draw = draw;
    host->call.n_workers = workers;
    host->call.run_tasks = backwards;
    return plain_call(host);
}

void make_columns(struct columns_case *c, int64_t every)
{
    int32_t m = 0;
    for (int32_t i = 0; i < ITEMS; i++) {
        c->column[i] = i % every == 0 ? m : -1;
        if (i % every == 0)
            c->weight[m++] = pow(i + 1, -0.3);
    }
    c->columns = (struct gram_columns){ITEMS, m, c->column, c->weight, 12, NULL, NULL};
}

void centre_columns(const dpf_call *call, struct columns_case *c, int32_t spared, double part,
                    struct row_centre *centre)
{
    static double q[ITEMS];
    double squares = 0;
    for (int64_t i = 0; i < c->columns.m; i++) {
        q[i] = 1 + (double)i;
        squares += q[i] * q[i];
    }
    for (int64_t i = 0; i < c->columns.m; i++)
        q[i] /= sqrt(squares);
    assert_int_equal(row_centre_make(call, c->columns.m, c->columns.bits, spared, part, q, centre), 0);
    c->columns.centre = centre;
}

void whole_row(const struct gram_columns *columns, const struct data *d, int64_t user, int32_t *out)
{
    static int32_t at[ITEMS], row[ITEMS];
    static double values[ITEMS];
    struct gram_desk desk = {at, row, values, -1};
    const int64_t n = gram_message_row(columns, &d->records.by_user, user, &desk);
    const int32_t *level = columns->centre ? row_centre_level(columns->centre, desk.level) : NULL;
    for (int64_t i = 0; i < columns->m; i++)
        out[i] = level ? level[i] : 0;
    for (int64_t k = 0; k < n; k++)
        out[at[k]] = row[k];
}

void fill_levels(struct along_case *a, const struct gram_columns *columns, int32_t d)
{
    memset(a->levels, 0, sizeof a->levels);
    for (int64_t k = 0; columns->centre && columns->centre->level && k < CENTRE_LEVELS; k++)
        for (int64_t i = 0; i < columns->m; i++)
            for (int32_t c = 0; c < d; c++)
                a->levels[k * d + c] +=
                    ldexp(columns->centre->level[k * columns->m + i], -columns->bits) * a->basis[i * d + c];
    a->along = (struct gram_directions){columns, a->basis, d, GRAM_LEAST_PROJECTED, a->levels};
}

void make_along(struct along_case *a, const struct gram_columns *columns, int32_t d, double scale)
{
    for (int64_t i = 0; i < columns->m * d; i++)
        a->basis[i] = cos((double)(i * i)) * (i % 2 ? 1.0 : scale);
    fill_levels(a, columns, d);
}

struct gram_plan plan_of(const struct data *d, int32_t form)
{
    const struct gram_options options = {.multiplier = 1,
                                         .form = form,
                                         .weight_exponent = -1,
                                         .ridge = -1,
                                         .rescale = -1,
                                         .weight_offset = 10,
                                         .diagonal = 0.5};
    const dpf_recommender_setup setup = setup_of(d);
    struct gram_plan plan;
    assert_null(gram_plan_make(&options, &setup, &plan));
    return plan;
}

void stated(struct plain_host *host, const dpf_recommender_setup *setup, int32_t expected,
            dpf_recommender_release releases[GRAM_MOST_RELEASES])
{
    int32_t n = 0;
    memset(releases, 0, GRAM_MOST_RELEASES * sizeof *releases);
    for (int r = 0; r < GRAM_MOST_RELEASES; r++)
        for (int unit = 0; unit < DPF_N_UNITS; unit++)
            for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                releases[r].event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
    assert_int_equal(gram_recommender->releases(host->self, setup, releases, GRAM_MOST_RELEASES, &n), DPF_OK);
    assert_int_equal(n, expected);
}

static void see(void *context, const dpf_witnessed *what)
{
    struct seen *seen = context;
    assert_true(what->row == 0);
    assert_true(what->release < GRAM_MOST_RELEASES);
    assert_true(what->n <= ITEMS * ITEMS);
    for (int64_t i = 0; i < what->n && what->release == 2; i++)
        seen->noise += pow(what->numbers[i] - what->exact[i], 2);
    memcpy(seen->numbers[what->release], what->numbers, (size_t)what->n * sizeof(double));
    seen->n[what->release] = what->n;
}

void *fit_seen(struct plain_host *host, const struct data *d, int without_noise, uint32_t draw,
               struct seen *seen, uint64_t *used)
{
    dpf_recommender_setup setup = setup_of(d);
    const dpf_witness witness = {seen, see};
    uint64_t bytes = 0;
    setup.without_noise = without_noise;
    assert_int_equal(gram_recommender->state_bytes(host->self, d->n_users, d->n_items, &bytes), DPF_OK);
    void *state = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
    assert_non_null(state);
    memset(state, 0, (size_t)bytes);
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &d->records,
                   .state = state,
                   .state_bytes = bytes,
                   .witness = seen ? &witness : NULL};
    assert_int_equal(gram_recommender->fit(host->self, call_with(host, WORKERS, draw), &fit), DPF_OK);
    assert_true(fit.state_bytes <= bytes);
    assert_int_equal(plain_form_fits(host, d->n_users, d->n_items, state), DPF_OK);
    if (used)
        *used = fit.state_bytes;
    return state;
}

int gram_open(void **state)
{
    (void)state;
    plain_random_start(31);
    gram_component = plain_component("private-gram", DPF_ROLE_RECOMMENDER, "private-gram");
    gram_recommender = gram_component->functions;
    fill_data(&gram_data);
    return 0;
}

int gram_close(void **state)
{
    (void)state;
    plain_random_stop();
    return 0;
}
