/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlated_gaussian.c - Gaussian noise that is correlated between rounds, so that much of it cancels in
 * what is summed over rounds: the matrix mechanism of DP-FTRL and BandMF. (The field calls it matrix
 * factorization too, which here would be taken for the model.)
 *
 * x_t is the sum of messages of round t, in whole steps of a grid. What is released is
 *     y_t = [sum over s <= t of c_{t-s} x_s] + z_t
 * with C of toeplitz_factor.h in fixed point, [.] rounding to a coarser grid, and z discrete Gaussian noise
 * of scale sigma on that grid, independent over rounds and numbers. A trusted curator keeps the x_s. The
 * estimate of x_t that solvers read is the t-th row of C^-1 y, a function of y alone: its noise is C^-1 z.
 * Estimates are made of earlier ones, e_t = y_t - sum over 0 < i <= t of c_i e_{t-i}.
 *
 * Why it is private. For a unit, fix what is released before each round. Then what all others send is the
 * same with and without the unit, and so is the pattern of rounds that the unit is in, of those that the
 * sampler admits; the unit's parts are vectors within D_t of the L2 sensitivity of a round, rounding to the
 * grid of x included. By toeplitz_factor.h C x moves by at most L2 = D |C| over all rounds, however the parts
 * were chosen in view of the releases. Rounding to the coarser grid adds at most one of its steps g to each
 * number that moves, of N in so many rounds: together D |C| + g sqrt(N) =: B. So along every path of releases
 * the shifts v_t of the means of y_t have sum |v_t|^2 <= B^2, where v_t may depend on the releases before.
 * Renyi divergence of order a, by induction from the last round: given the first release, the rest costs at
 * most a (B^2 - |v_1|^2)/(2 sigma^2), which does not depend on it, and the first costs a |v_1|^2/(2 sigma^2)
 * (Canonne, Kamath, Steinke, arXiv 2004.00010, Proposition 5). Hockey-stick divergence likewise: given the
 * first release, the rest is dominated by N(K sqrt(B^2 - |v_1|^2), 1) against N(0, 1) with K of
 * integer_noise.h, a pair that does not depend on it; the first is by N(K |v_1|, 1); dominating pairs
 * multiply, and the product of these two is, rotated, the pair of shift K B. Less than the whole budget is
 * dominated by more. So the run is one Gaussian mechanism of sensitivity B, which is the event. (For Gaussian
 * noise and adaptive inputs: Denisov, McMahan, Rush, Smith, Thakurta, arXiv 2202.08312, Theorem 2.1.)
 *
 * No round has an event of its own: the noise of an estimate alone is larger than that of a release of its
 * own would be, and what several rounds together tell does not follow from what each one tells.
 */
#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"
#include "toeplitz_factor.h"

#define SIGMA_BITS 23     /* of sigma in grid steps; fewer where sums would not fit */
#define MAX_SCALE_BITS 24 /* of dpf_random_service.discrete_gaussian */
#define LEAST_STEPS                                                                                          \
    256.0            /* of the noise's scale: blocks of different scales then are one event, see additive.h */
#define LEAST_BITS 8 /* log2 of them */
#define CHUNK 64     /* numbers whose noise is drawn at once */

enum { P_MULTIPLIER, P_BANDS, P_SEPARATION, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma over the L2 sensitivity of all rounds together, of all blocks."),
    [P_BANDS] = DPF_PARAM_INT_F("bands", 0, 0, TOEPLITZ_MOST_BANDS, DPF_PARAM_PRIVACY, "",
                                "Number of coefficients of the square root of the matrix of prefix sums; 0: "
                                "the number of rounds between two participations "
                                "of a user, so that their overlap costs nothing. 1 is independent noise."),
    [P_SEPARATION] =
        DPF_PARAM_INT_F("separation", 0, 0, TOEPLITZ_MOST_ROUNDS, DPF_PARAM_PRIVACY, "rounds",
                        "Assumed rounds between two participations of a user; 0: as the sampler enforces. A "
                        "larger number is an assumption, with which nothing is proved (C6)."),
};

struct correlated {
    const dpf_host *host;
    const dpf_random_service *random;
    dpf_stream *stream;
    double multiplier;
    int64_t separation;
    int64_t bands; /* 0: by separation */
    int64_t n;     /* coefficients that there are */
    int64_t c[];
};

/* What the plan keeps for itself. */
enum { KEPT_PARTIES, KEPT_BANDS, KEPT_SHIFT, KEPT_ROUNDS };

/* ---- making an instance ------------------------------------------------------------------------- */

static dpf_status correlated_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    const dpf_random_service *random = dpf_random(host);
    const int64_t bands = values[P_BANDS].integer, n = bands ? bands : TOEPLITZ_MOST_BANDS;
    dpf_stream *stream;
    const dpf_status status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    struct correlated *correlated =
        dpf_memory(host)->allocate(host, sizeof(*correlated) + (size_t)n * sizeof(int64_t));
    if (!correlated)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    correlated->host = host;
    correlated->random = random;
    correlated->stream = stream;
    correlated->multiplier = values[P_MULTIPLIER].real;
    correlated->separation = values[P_SEPARATION].integer;
    correlated->bands = bands;
    correlated->n = n;
    toeplitz_square_root(n, correlated->c);
    *self = correlated;
    return DPF_OK;
}

static void correlated_destroy(void *self)
{
    struct correlated *correlated = self;
    dpf_memory(correlated->host)->release(correlated->host, correlated);
}

/* ---- the matrix for a run ------------------------------------------------------------------------ */

/* How units take part, and how many bands C has then. */
struct schedule {
    struct toeplitz_pattern pattern;
    int64_t bands;
    struct toeplitz_sensitivity reach;
};

static dpf_status read_schedule(const struct correlated *correlated, const dpf_release *release,
                                struct schedule *out)
{
    const dpf_host *host = correlated->host;
    const size_t end = offsetof(dpf_release, participations) + sizeof release->participations;
    if (release->size < end || release->rounds < 1 || release->separation < 1 || release->participations < 1)
        return host->fail(
            host, DPF_E_UNSUPPORTED, -1,
            "correlated noise needs exactly one release in each round, of rows that a curator sums: "
            "visit the side once in [run] order, and let the server solve it");
    if (release->rounds > TOEPLITZ_MOST_ROUNDS)
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "more than 1048576 rounds; use mechanism gaussian");
    out->pattern.rounds = release->rounds;
    out->pattern.separation = release->separation;
    out->pattern.participations = release->participations;
    if (correlated->separation > 0) /* an assumption, which C6 judges */
        out->pattern.separation = correlated->separation;
    out->pattern.participations = toeplitz_participations(&out->pattern);
    out->bands = correlated->bands > 0 ? correlated->bands : out->pattern.separation;
    out->bands = out->bands < release->rounds ? out->bands : release->rounds;
    out->bands = out->bands < correlated->n ? out->bands : correlated->n;
    return DPF_OK;
}

/* The same, with what C makes of a unit. */
static dpf_status plan_schedule(const struct correlated *correlated, const dpf_release *release,
                                struct schedule *out)
{
    const dpf_host *host = correlated->host;
    dpf_status status = read_schedule(correlated, release, out);
    if (status != DPF_OK)
        return status;
    double *scratch = dpf_memory(host)->allocate(host, (size_t)release->rounds * sizeof(double));
    if (!scratch)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    toeplitz_reach(correlated->c, out->bands, &out->pattern, scratch, &out->reach);
    dpf_memory(host)->release(host, scratch);
    return DPF_OK;
}

/* ---- planning ------------------------------------------------------------------------------------ */

static dpf_status no_grid(const struct correlated *correlated)
{
    return correlated->host->fail(
        correlated->host, DPF_E_RANGE, -1,
        "no grid fits this noise: sigma is extreme, or too small for a message of so many numbers");
}

/* The blocks that a unit moves, with their L2 norms by bit; fails where one is not a number. */
static dpf_status read_norms(const struct correlated *correlated, const dpf_release *release,
                             const dpf_message_norms *message, double *norms, uint32_t *moved)
{
    *moved = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        norms[b] = 0;
        if (!(dpf_message_bits(message) >> b & 1))
            continue;
        norms[b] = dpf_block_norms(message, b, release->unit, release->adjacency)->l2;
        const dpf_status status = dpf_additive_check(correlated->host, release, b % DPF_GRAM_BIT, norms[b]);
        if (status != DPF_OK)
            return status;
        *moved |= norms[b] > 0 ? UINT32_C(1) << b : 0;
    }
    return DPF_OK;
}

/* What the messages' grid is finer than the noise's by: so much that sums of c_i x do not leave 62 bits. */
static int32_t finer_bits(const struct schedule *schedule)
{
    int32_t bits = 6;
    while (bits < 40 && ldexp(1.0, bits) < schedule->reach.l1)
        bits++;
    return bits;
}

/* B of the comment above, over unit: whole is D without rounding, step what one step of the noise's grid adds
   in each of the numbers of one round, in L2. */
static double reach_of(const struct schedule *schedule, int32_t finer, double whole, double step)
{
    return schedule->reach.l2 * (whole + ldexp(step, -finer)) + sqrt((double)schedule->reach.rounds) * step;
}

/* Grids of the noise and scales of the blocks that move, by bit. */
static dpf_status choose_scales(const struct correlated *correlated, const dpf_release *release,
                                const struct schedule *schedule, const double *norms, uint32_t moved,
                                double *grid, double *scale)
{
    const dpf_message_norms message = dpf_additive_message(release);
    const int32_t finer = finer_bits(schedule);
    const int32_t fit = dpf_additive_bits(SIGMA_BITS + finer, release) - finer;
    const int32_t bits = release->fewer_bits > 0 && fit < LEAST_BITS ? LEAST_BITS : fit;
    const double factor = release->noise_factor * correlated->multiplier;
    double relative[DPF_BLOCK_BITS];
    dpf_additive_relative(&message, moved, 2, release->unit, release->adjacency, norms, 0, relative);
    const double whole = dpf_joint_largest(&message, moved, relative, 2, release->unit, release->adjacency);
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if ((moved >> b & 1) && dpf_additive_choose(factor * schedule->reach.l2 * whole * relative[b], 0, 0,
                                                    bits, MAX_SCALE_BITS, &grid[b], &scale[b]) != 0)
            return no_grid(correlated);
    const double step = dpf_additive_rounding(&message, moved, grid, relative, 2);
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(moved >> b & 1))
            continue;
        scale[b] =
            dpf_additive_round_up(factor * reach_of(schedule, finer, whole, step) * relative[b], grid[b]);
        if (!(scale[b] >= LEAST_STEPS * grid[b] && scale[b] <= ldexp(grid[b], MAX_SCALE_BITS)))
            return no_grid(correlated);
    }
    return DPF_OK;
}

static dpf_status correlated_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct correlated *correlated = self;
    struct schedule schedule;
    double norms[DPF_BLOCK_BITS], grid[DPF_BLOCK_BITS], scale[DPF_BLOCK_BITS];
    uint32_t moved;
    dpf_status status = dpf_additive_begin(correlated->host, release, DPF_NOISE_AT_SUM, 0x1p-28, out);
    if (status != DPF_OK)
        return status;
    const dpf_message_norms message = dpf_additive_message(release);
    status = plan_schedule(correlated, release, &schedule);
    if (status == DPF_OK)
        status = read_norms(correlated, release, &message, norms, &moved);
    if (status == DPF_OK)
        status = choose_scales(correlated, release, &schedule, norms, moved, grid, scale);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(moved >> b & 1))
            continue;
        *dpf_additive_at(out->grid, out->gram_grid, b) = ldexp(grid[b], -finer_bits(&schedule));
        *dpf_additive_at(out->scale, out->gram_scale, b) = scale[b];
        *dpf_additive_at(out->variance, out->gram_variance, b) = scale[b] * scale[b];
    }
    out->opaque[KEPT_PARTIES] = (uint64_t)release->n_parties;
    out->opaque[KEPT_BANDS] = (uint64_t)schedule.bands;
    out->opaque[KEPT_SHIFT] = (uint64_t)finer_bits(&schedule);
    out->opaque[KEPT_ROUNDS] = (uint64_t)release->rounds;
    return DPF_OK;
}

/* ---- events -------------------------------------------------------------------------------------- */

/* The norms of C x over the run, divided by the blocks' scales, in units of `unit`. */
static dpf_norms run_norms(const dpf_message_norms *message, const struct schedule *schedule, int32_t finer,
                           uint32_t blocks, const double *scale, const double *grid, double unit, int32_t u,
                           int32_t a)
{
    const struct toeplitz_sensitivity *reach = &schedule->reach;
    const double rounds = (double)reach->rounds, fine = ldexp(1.0, -finer);
    uint32_t moved = 0;
    double step = 0;
    dpf_norms out = {0, 0, 0};
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if ((blocks >> b & 1) && !dpf_additive_is_still(dpf_block_norms(message, b, u, a))) {
            moved |= UINT32_C(1) << b;
            step = fmax(step, grid[b] / scale[b]);
        }
    if (!moved)
        return out;
    const double all = dpf_additive_rounding(message, moved, grid, scale, 1);
    out.l1 = reach->l1 * (dpf_joint_largest(message, moved, scale, 1, u, a) + fine * all) + rounds * all;
    out.l2 = reach_of(schedule, finer, dpf_joint_largest(message, moved, scale, 2, u, a),
                      dpf_additive_rounding(message, moved, grid, scale, 2));
    out.linf = reach->linf * (dpf_joint_largest_number(message, moved, scale, u, a) + fine * step) + step;
    out.l1 *= unit;
    out.l2 *= unit * (1 + 1e-15);
    out.linf *= unit;
    return out;
}

static dpf_event run_event(const dpf_release *release, const struct schedule *schedule, int32_t finer,
                           uint32_t noisy, const double *scale, const double *grid)
{
    const dpf_message_norms message = dpf_additive_message(release);
    double fewest;
    int32_t first = 0;
    dpf_event event;
    while (!(noisy >> first & 1))
        first++;
    const int alike = dpf_additive_alike(noisy, scale, grid, &fewest);
    memset(&event, 0, sizeof(event));
    event.kind = DPF_EVENT_CORRELATED_GAUSSIAN;
    event.flags = release->from_data ? DPF_EVENT_BOUNDS_FROM_DATA : 0;
    event.lifetime = DPF_LIFETIME_ROUND;
    event.count = 1;
    event.side = release->side;
    event.blocks = noisy;
    event.scale = scale[first];
    event.grid = alike ? grid[first] : scale[first] / fewest * (1 + 1e-15);
    event.p.correlated.rounds = (double)schedule->pattern.rounds;
    event.p.correlated.separation = (double)schedule->pattern.separation;
    event.p.correlated.participations = (double)schedule->pattern.participations;
    event.p.correlated.attained = 1;
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            event.sensitivity.at[u][a] =
                run_norms(&message, schedule, finer, noisy, scale, grid, event.scale, u, a);
    return event;
}

static dpf_status correlated_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                    dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct correlated *correlated = self;
    const int32_t n_blocks = release->query->n_blocks, finer = (int32_t)plan->opaque[KEPT_SHIFT];
    const dpf_additive_claim claim = {.norm = DPF_NORM_L2,
                                      .kind = DPF_EVENT_CORRELATED_GAUSSIAN,
                                      .exact = 1,
                                      .lifetime = DPF_LIFETIME_ROUND};
    struct schedule schedule;
    double scale[DPF_BLOCK_BITS], grid[DPF_BLOCK_BITS];
    *n = 0;
    if (capacity < n_blocks * (release->query->has_gram ? 2 : 1))
        return correlated->host->fail(correlated->host, DPF_E_INTERNAL, -1,
                                      "there is no room for the events of a release");
    const dpf_status status = plan_schedule(correlated, release, &schedule);
    if (status != DPF_OK)
        return status;
    const uint32_t noisy = dpf_additive_scales(release, plan, scale, grid);
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        grid[b] = ldexp(grid[b], finer); /* of the noise */
    if (noisy)
        out[(*n)++] = run_event(release, &schedule, finer, noisy, scale, grid);
    for (int32_t gram = 0; gram <= (release->query->has_gram ? 1 : 0); gram++)
        for (int32_t b = 0; b < n_blocks; b++)
            if (!(noisy >> (b + (gram ? DPF_GRAM_BIT : 0)) & 1))
                out[(*n)++] = dpf_additive_event(release, plan, b, gram, &claim);
    return DPF_OK;
}

/* ---- running ------------------------------------------------------------------------------------- */

static dpf_status correlated_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                    const dpf_query *query, const double *values, int64_t stride,
                                    dpf_encoded *out)
{
    (void)self;
    return dpf_additive_encode(NULL, call, plan, query,
                               dpf_additive_limit((int64_t)plan->opaque[KEPT_PARTIES]), values, stride, out);
}

/* Of a row: `bands` sums in whole steps, the last ones in turn, and as many estimates. */
static uint64_t correlated_row_state(void *self, const dpf_noise_plan *plan, const dpf_query *query)
{
    (void)self;
    return plan->opaque[KEPT_BANDS] * (uint64_t)query->width * (sizeof(int64_t) + sizeof(double));
}

static void correlated_correlation(void *self, const dpf_noise_plan *plan, double *out, int64_t n)
{
    const struct correlated *correlated = self;
    for (int64_t i = 0; i < n; i++)
        out[i] = i < (int64_t)plan->opaque[KEPT_BANDS] ? ldexp((double)correlated->c[i], -TOEPLITZ_BITS) : 0;
}

/* One row in one round. */
struct row {
    const struct correlated *correlated;
    const dpf_noise_plan *plan;
    const dpf_query *query;
    int64_t round, bands;
    int64_t *sums;     /* of round s at (s mod bands) * width */
    double *estimates; /* likewise */
    int gram;
};

static int64_t place(const struct row *row, int64_t back)
{
    return (row->round - back) % row->bands * row->query->width;
}

__extension__ typedef __int128 wide;

/* The sum of c_i x_{t-i}, rounded to steps of the noise's grid, halves up. */
static int64_t mixed(const struct row *row, int64_t column, int32_t shift)
{
    wide sum = (wide)1 << (shift - 1);
    for (int64_t i = 0; i < row->bands && i <= row->round; i++)
        sum += (wide)row->correlated->c[i] * row->sums[place(row, i) + column];
    return (int64_t)(sum >> shift);
}

/* The numbers first .. first+n-1 of a row, in one block that has noise. n <= CHUNK. */
static dpf_status decode_chunk(const struct row *row, dpf_cursor *cursor, int32_t block, int64_t first,
                               int64_t n, double *out)
{
    const dpf_noise_plan *plan = row->plan;
    const int32_t finer = (int32_t)plan->opaque[KEPT_SHIFT];
    const double grid = ldexp(row->gram ? plan->gram_grid[block] : plan->grid[block], finer);
    const double scale = row->gram ? plan->gram_scale[block] : plan->scale[block];
    int64_t noise[CHUNK];
    const dpf_status status =
        row->correlated->random->discrete_gaussian(cursor, (uint64_t)(scale / grid), noise, n);
    if (status != DPF_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)(mixed(row, first + i, TOEPLITZ_BITS + finer) + noise[i]) * grid;
    for (int64_t back = 1; back < row->bands && back <= row->round; back++) {
        const double c = ldexp((double)row->correlated->c[back], -TOEPLITZ_BITS);
        const double *earlier = row->estimates + place(row, back) + first;
        for (int64_t i = 0; i < n; i++)
            out[i] -= c * earlier[i];
    }
    memcpy(row->estimates + place(row, 0) + first, out, (size_t)n * sizeof(*out));
    return DPF_OK;
}

static dpf_status decode_row(const struct row *row, dpf_cursor *cursor, const int64_t *sums, double *out)
{
    const dpf_noise_plan *plan = row->plan;
    int64_t *kept = row->sums + place(row, 0);
    for (int32_t i = 0; i < row->query->width; i++) {
        if (!(fabs((double)sums[i]) < DPF_ADDITIVE_MAX))
            return DPF_E_RANGE;
        kept[i] = sums[i];
    }
    for (int32_t b = 0; b < row->query->n_blocks; b++) {
        const dpf_block *block = &row->query->blocks[b];
        const int64_t end = (int64_t)block->offset + block->length;
        const double grid = row->gram ? plan->gram_grid[b] : plan->grid[b];
        if (!((row->gram ? plan->gram_scale[b] : plan->scale[b]) > 0)) {
            for (int64_t i = block->offset; i < end; i++)
                out[i] = (double)sums[i] * grid;
            continue;
        }
        for (int64_t at = block->offset; at < end; at += CHUNK) {
            const int64_t n = end - at < CHUNK ? end - at : CHUNK;
            const dpf_status status = decode_chunk(row, cursor, b, at, n, out + at);
            if (status != DPF_OK)
                return status;
        }
    }
    return DPF_OK;
}

static dpf_status correlated_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                    const dpf_query *query, const dpf_encoded *sums, double *out,
                                    int64_t stride)
{
    struct correlated *correlated = self;
    const uint64_t bytes = correlated_row_state(self, plan, query);
    if (sums->size < offsetof(dpf_encoded, state) + sizeof sums->state || !sums->state ||
        call->draw >= plan->opaque[KEPT_ROUNDS])
        return call->host->fail(
            call->host, DPF_E_INTERNAL, -1,
            "correlated noise is asked for without the state of earlier rounds, or past the last one");
    for (int64_t i = 0; i < sums->n_rows; i++) {
        const int64_t id = dpf_additive_row_id(sums, i);
        unsigned char *state = (unsigned char *)sums->state + (uint64_t)i * bytes;
        double *to = out + i * stride;
        const struct row row = {correlated,
                                plan,
                                query,
                                call->draw,
                                (int64_t)plan->opaque[KEPT_BANDS],
                                (int64_t *)(void *)state,
                                (double *)(void *)(state + bytes / 2),
                                dpf_additive_is_gram(query, sums, id)};
        dpf_cursor cursor;
        memset(to, 0, (size_t)sums->width * sizeof(*to));
        correlated->random->seek(correlated->stream, call->draw, DPF_PARTY_AGGREGATE, (uint32_t)id, &cursor);
        const dpf_status status = decode_row(&row, &cursor, sums->values + i * sums->stride, to);
        if (status != DPF_OK)
            return dpf_additive_out_of_range(call, status);
    }
    return DPF_OK;
}

static const dpf_mechanism functions = {
    .plan = correlated_plan,
    .events = correlated_events,
    .encode = correlated_encode,
    .decode = correlated_decode,
    .row_state = correlated_row_state,
    .correlation = correlated_correlation,
};

DPF_COMPONENT(
    component, DPF_ROLE_MECHANISM, functions, .id = "correlated-gaussian", .version = "1.0.0",
    .summary = "Gaussian noise correlated between rounds by a banded Toeplitz matrix, added by a curator",
    .citation = "Choquette-Choo et al., arXiv 2306.08153; Kalinin, Lampert, arXiv 2405.13763; Fichtenberger, "
                "Henzinger, Upadhyay, arXiv 2202.11205",
    DPF_PARAMS(params), .create = correlated_create, .destroy = correlated_destroy)

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.correlated-gaussian", "1.0.0", "Apache-2.0", component)
