/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity_fixture.h"

void states_new(struct states *s, struct plain_host *host, const dpf_query *query, const dpf_factors *other,
                double offset)
{
    memset(s, 0, sizeof(*s));
    s->host = host;
    s->query = query;
    s->other = other;
    s->offset = offset;
    s->blocks = calloc(STATES_MOST, sizeof(*s->blocks));
    assert_non_null(s->blocks);
    assert_true(query->width <= STATE_WIDTH);
}

void states_free(struct states *s)
{
    free(s->blocks);
}

/* Adds a state of n <= 2 records; rows, other rows and values are given. */
static void states_add(struct states *s, int64_t n, const int32_t *rows, const int32_t *others,
                       const float *values)
{
    const dpf_loss *loss = s->host->component->functions;
    const int64_t at = s->n++;
    assert_true(s->n <= STATES_MOST);
    s->n_records[at] = n;
    for (int64_t r = 0; r < n; r++) {
        const int64_t offsets[2] = {0, 1};
        double part[STATE_WIDTH];
        s->row[at][r] = rows[r];
        s->others[at][r] = others[r];
        s->values[at][r] = values[r];
        const dpf_groups groups = {.size = sizeof(groups),
                                   .side = DPF_SIDE_ITEMS,
                                   .self = s->other,
                                   .other = s->other,
                                   .n_groups = 1,
                                   .rows = rows + r,
                                   .offsets = offsets,
                                   .others = others + r,
                                   .values = values + r,
                                   .offset = s->offset,
                                   .party_row = -1};
        assert_int_equal(
            loss->accumulate(s->host->self, plain_call(s->host), s->query, &groups, NULL, part, STATE_WIDTH),
            0);
        for (int32_t i = 0; i < s->query->width; i++)
            s->blocks[at][rows[r] * STATE_WIDTH + i] += part[i];
    }
}

static void norms_of_pair(const struct states *s, int64_t a, int64_t b, const dpf_block *block,
                          dpf_norms *most)
{
    double l1 = 0, l2 = 0, linf = 0;
    for (int64_t row = 0; row < STATE_ROWS; row++) {
        for (int32_t i = block->offset; i < block->offset + block->length; i++) {
            const double x = fabs(s->blocks[a][row * STATE_WIDTH + i] - s->blocks[b][row * STATE_WIDTH + i]);
            l1 += x;
            l2 += x * x;
            linf = fmax(linf, x);
        }
    }
    most->l1 = fmax(most->l1, l1);
    most->l2 = fmax(most->l2, sqrt(l2));
    most->linf = fmax(most->linf, linf);
}

/* 1 if states a and b are neighbours. State 0 is the empty one. */
static int are_neighbours(const struct states *s, int64_t a, int64_t b, int32_t unit, int32_t adjacency)
{
    const int64_t n = s->n_records[a];
    if (unit == DPF_UNIT_USER)
        return adjacency == DPF_ADJ_REPLACE || n == 0;
    if (adjacency == DPF_ADJ_REPLACE_VALUE)
        return n == 1 && s->n_records[b] == 1 && s->row[a][0] == s->row[b][0] &&
               s->others[a][0] == s->others[b][0];
    return n == 0 && s->n_records[b] == 1;
}

static dpf_norms states_largest(const struct states *s, const dpf_block *block, int32_t unit,
                                int32_t adjacency)
{
    dpf_norms most = {0, 0, 0};
    for (int64_t a = 0; a < s->n; a++) {
        for (int64_t b = 0; b < s->n; b++) {
            if (are_neighbours(s, a, b, unit, adjacency))
                norms_of_pair(s, a, b, block, &most);
        }
    }
    return most;
}

static void check_one_norm(double stated, double found, int tight, const char *what)
{
    if (!(found <= stated * (1 + 1e-6) + 1e-9))
        fail_msg("%s: a neighbouring pair differs by %.12g, stated is %.12g", what, found, stated);
    if (tight && !(found >= stated * (1 - 1e-6) - 1e-9))
        fail_msg("%s: stated is %.12g, but no pair differs by more than %.12g", what, stated, found);
}

void check_statement(const struct states *s, const dpf_sensitivity *stated, int32_t block, int32_t unit,
                     int32_t adjacency, int tight)
{
    char what[96];
    const dpf_norms most = states_largest(s, &s->query->blocks[block], unit, adjacency);
    const dpf_norms *norms = &stated[block].at[unit][adjacency];
    snprintf(what, sizeof(what), "block %d, unit %d, adjacency %d, L1", (int)block, (int)unit,
             (int)adjacency);
    check_one_norm(norms->l1, most.l1, tight & TIGHT_L1, what);
    what[strlen(what) - 1] = '2';
    check_one_norm(norms->l2, most.l2, tight & TIGHT_L2, what);
    what[strlen(what) - 1] = 'i';
    check_one_norm(norms->linf, most.linf, tight & TIGHT_LINF, what);
}

void states_unknown(dpf_sensitivity *blocks)
{
    for (int b = 0; b < DPF_MAX_BLOCKS; b++) {
        for (int u = 0; u < DPF_N_UNITS; u++) {
            for (int a = 0; a < DPF_N_ADJACENCIES; a++)
                blocks[b].at[u][a] = (dpf_norms){NAN, NAN, NAN};
        }
    }
}

int64_t states_vectors(int box, float (*y)[16])
{
    const int64_t n = box ? 4 : 16;
    memset(y, 0, sizeof(*y) * 32);
    for (int64_t v = 0; v < 2 * n; v++) {
        const double angle = 6.283185307179586 * (double)(v / 2) / (double)n + (box ? 0.7853981633974483 : 0);
        y[v][0] = box ? copysignf(1, (float)cos(angle)) : (float)cos(angle);
        y[v][1] = box ? copysignf(1, (float)sin(angle)) : (float)sin(angle);
    }
    return 2 * n;
}

void states_enumerate(struct states *s, int64_t n_vectors, int users_solved, const float *values,
                      int n_values)
{
    const int32_t none = 0;
    const float zero = 0;
    states_add(s, 0, &none, &none, &zero);
    for (int32_t v = 0; v < n_vectors; v++) {
        for (int32_t w = 0; w < n_vectors; w++) {
            if (!users_solved && (w != v || v % 2))
                continue; /* one factor row for all of the user's records */
            for (int32_t rows = 0; rows < STATE_ROWS * STATE_ROWS; rows++) {
                const int32_t row[2] = {rows / STATE_ROWS, rows % STATE_ROWS}, others[2] = {v, w};
                const int single = users_solved ? v == w : row[0] == row[1];
                if (users_solved ? (rows > 0 || w < v) : row[1] < row[0])
                    continue;
                for (int a = 0; a < n_values; a++) {
                    for (int b = 0; b < (single ? 1 : n_values); b++) {
                        const float value[2] = {values[a], values[b]};
                        states_add(s, single ? 1 : 2, row, others, value);
                    }
                }
            }
        }
    }
}

void states_open(struct states_case *c, const char *id, const char *settings, int box, int users_solved,
                 uint32_t layout, const float values[2], int n_values, double offset)
{
    static float y[32][16] __attribute__((aligned(64)));
    const int64_t n = states_vectors(box, y);
    c->other = (dpf_factors){&y[0][0], n, 16, 2, 0};
    plain_open(&c->host, plain_component(id, DPF_ROLE_LOSS, id), settings);
    const dpf_loss *loss = c->host.component->functions;
    dpf_side_info info = check_info(2, 0, 2, -1, layout, 1);
    info.side = users_solved ? DPF_SIDE_USERS : DPF_SIDE_ITEMS;
    assert_int_equal(loss->query(c->host.self, &info, &c->query), DPF_OK);
    const dpf_bounds bounds = {.size = sizeof(bounds),
                               .side = info.side,
                               .dimension = 2,
                               .value_lo = (double)values[0],
                               .value_hi = (double)values[1],
                               .offset = offset,
                               .weight_max = 1,
                               .other_l1 = INFINITY,
                               .other_l2 = box ? INFINITY : 1,
                               .other_linf = box ? 1 : INFINITY,
                               .records_per_user = 2,
                               .n_self = users_solved ? 1 : STATE_ROWS,
                               .n_other = n};
    states_unknown(c->blocks);
    states_unknown(c->gram);
    assert_int_equal(loss->sensitivity(c->host.self, &c->query, &bounds, c->blocks, c->gram, NULL), DPF_OK);
    states_new(&c->states, &c->host, &c->query, &c->other, offset);
    states_enumerate(&c->states, n, users_solved, values, n_values);
}

void states_close(struct states_case *c)
{
    states_free(&c->states);
    plain_close(&c->host);
}
