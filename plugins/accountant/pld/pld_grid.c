/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_grid.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* At most `tail` of finite losses above x, or below it. */
static int leaves(const struct pld_pair *pair, double tail, int below, double x)
{
    const struct pld_tails tails = pld_pair_tails(pair, x);
    return (below ? tails.p_low : tails.p_high - pld_pair_infinite(pair)) <= tail;
}

/* Of the side of 0: the least x that leaves at most `tail` above it, or the largest with at most that below;
   to a part in 1e6. */
static double quantile(const struct pld_pair *pair, double tail, int below)
{
    const double sign = below ? -1.0 : 1.0;
    double near = 0.0, far = 1e-3;
    for (int i = 0; i < 2000 && !leaves(pair, tail, below, sign * far); i++) {
        near = far;
        far *= 2.0;
    }
    while (far - near > 1e-6 * far) {
        const double middle = near + (far - near) / 2.0;
        if (leaves(pair, tail, below, sign * middle))
            far = middle;
        else
            near = middle;
    }
    return sign * far;
}

void pld_grid_range(const struct pld_pair *pair, double tail, double *low, double *high)
{
    const double largest = pld_pair_largest(pair), smallest = pld_pair_smallest(pair);
    const double above = quantile(pair, tail, 0), below = quantile(pair, tail, 1);
    *high = above < largest ? above : largest;
    *low = below > smallest ? below : smallest;
}

/* The least x with P's mass up to it at least that; to a part in 1e9 of the range. */
static double inner_quantile(const struct pld_pair *pair, double low, double high, double mass)
{
    for (int i = 0; i < 100 && high - low > 1e-12 * (fabs(low) + fabs(high)); i++) {
        const double middle = low + (high - low) / 2.0;
        if (pld_pair_tails(pair, middle).p_low < mass)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- cells --------------------------------------------------------------------------------------- */

/* An end of a cell. */
struct point {
    double at;
    struct pld_tails tails;
};

struct points {
    const dpf_host *host;
    struct point *points;
    int64_t n, capacity;
};

static dpf_status points_add(struct points *p, const struct point *point)
{
    const dpf_memory_service *memory = dpf_memory(p->host);
    if (p->n == p->capacity) {
        const int64_t more = p->capacity > 0 ? 2 * p->capacity : 1024;
        struct point *grown = memory->allocate(p->host, (uint64_t)more * sizeof *grown);
        if (!grown)
            return DPF_E_MEMORY;
        if (p->n > 0)
            memcpy(grown, p->points, (size_t)p->n * sizeof *grown);
        memory->release(p->host, p->points);
        p->points = grown;
        p->capacity = more;
    }
    p->points[p->n++] = *point;
    return DPF_OK;
}

static void points_free(struct points *p)
{
    dpf_memory(p->host)->release(p->host, p->points);
}

/* P's mass between two points, from the side where the tails are small. */
static double mass_between(const struct pld_tails *from, const struct pld_tails *to)
{
    return from->p_high < 0.5 ? from->p_high - to->p_high : to->p_low - from->p_low;
}

/* ---- masses -------------------------------------------------------------------------------------- */

/* What lies in a cell, as it moves to its lower and to its upper end. */
struct cell {
    double p;
    double down;
    double up;
    double width;
};

/* Below the least normal number, numbers are off by so much at most. */
#define UNDERFLOW 0x1p-1073

/* The difference of tails on the side where they are small, and the error it may have. */
static double between(double low, double next_low, double high, double next_high, double relative,
                      double *error)
{
    const int right = high < 0.5;
    const double mass = right ? high - next_high : next_low - low;
    *error = 2.0 * relative * (right ? high : next_low) + 4.0 * UNDERFLOW;
    return mass > 0.0 ? mass : 0.0;
}

/* q e^loss where e^loss alone may be too large; `raise` is 1 or -1: no less than it is, or no more. */
static double scaled(double q, double loss, double raise)
{
    const double error = DBL_EPSILON * (loss < 700.0 ? 8.0 + 2.0 * fabs(loss) : 8.0 + 4.0 * (loss + 745.0));
    const double value = loss < 700.0 ? q * exp(loss) : q > 0.0 ? exp(log(q) + loss) : 0.0;
    return value * (1.0 + raise * error);
}

/*
 * Errors are on the safe side: from above, P has no less than it has, Q no more, and so the mass and what
 * moves up are both no less than they are; then so are all sums of increasing functions, hence all
 * compositions. From below the reverse.
 */
static struct cell cell_at(const struct point *low, const struct point *next, const struct pld_losses *losses,
                           int from_below)
{
    const struct pld_tails *from = &low->tails, *to = &next->tails;
    const double h = losses->h, loss = losses->offset + low->at * h, width = (next->at - low->at) * h;
    const double relative = from->error > to->error ? from->error : to->error;
    const double side = from_below ? -1.0 : 1.0;
    double p_error, q_error;
    if (from->p_low == to->p_low && from->p_high == to->p_high && from->q_low == to->q_low &&
        from->q_high == to->q_high)
        return (struct cell){0.0, 0.0, 0.0, width};
    double p = between(from->p_low, to->p_low, from->p_high, to->p_high, relative, &p_error);
    double q = between(from->q_low, to->q_low, from->q_high, to->q_high, relative, &q_error);
    p += side * p_error;
    p = p > 0.0 ? p : 0.0;
    q -= side * q_error;
    q = q > 0.0 ? scaled(q, loss, -side) : 0.0;
    double up = (p - q) / -expm1(-width) * (1.0 + side * 8.0 * DBL_EPSILON);
    up = up > 0.0 ? up : 0.0;
    up = up < p ? up : p;
    return (struct cell){p, p - up, up, width};
}

static dpf_status losses_new(const dpf_host *host, const struct points *p, double offset, double h,
                             struct pld_losses *losses)
{
    const dpf_memory_service *memory = dpf_memory(host);
    losses->n = p->n;
    losses->h = h;
    losses->offset = offset;
    losses->at = memory->allocate(host, (uint64_t)p->n * sizeof(double));
    losses->mass = memory->allocate(host, (uint64_t)p->n * sizeof(double));
    losses->logs = memory->allocate(host, (uint64_t)p->n * sizeof(double));
    if (!losses->at || !losses->mass || !losses->logs)
        return DPF_E_MEMORY;
    for (int64_t i = 0; i < p->n; i++)
        losses->at[i] = p->points[i].at;
    memset(losses->mass, 0, (size_t)p->n * sizeof(double));
    return DPF_OK;
}

void pld_grid_free(const dpf_host *host, struct pld_losses *losses)
{
    const dpf_memory_service *memory = dpf_memory(host);
    memory->release(host, losses->at);
    memory->release(host, losses->mass);
    memory->release(host, losses->logs);
    losses->at = losses->mass = losses->logs = NULL;
    losses->n = 0;
}

static void fill_above(const struct points *p, struct pld_losses *losses)
{
    const struct pld_tails *first = &p->points[0].tails, *end = &p->points[p->n - 1].tails;
    const double last = losses->offset + p->points[p->n - 1].at * losses->h;
    losses->mass[0] = first->p_low * (1.0 + first->error);
    for (int64_t i = 1; i < p->n; i++) {
        const struct cell cell = cell_at(&p->points[i - 1], &p->points[i], losses, 0);
        losses->mass[i - 1] += cell.down;
        losses->mass[i] += cell.up;
    }
    const double high = end->p_high * (1.0 + end->error);
    const double q_high = end->q_high * (1.0 - end->error) - UNDERFLOW;
    const double finite = q_high > 0.0 ? scaled(q_high, last, -1.0) : 0.0;
    const double kept = finite < high ? finite : high;
    losses->mass[p->n - 1] += kept;
    losses->infinite = high - kept;
}

/*
 * The spike. A draw with a tiny rate leaves nearly all of the loss within much less than h: one cell has it,
 * with nothing beside it that is as heavy. To round that cell down would cost a part of h in every release, a
 * tenth of epsilon for a million of them. So from below P and Q are cut in two: what lies within h/2 of the
 * median, and the rest. The first becomes one point of loss ln(P/Q), its own, which only loses information:
 * (P' - y Q')_+ is the divergence of two measures that are seen as one outcome, and no more than that of them
 * as they are. The grid is moved such that a point of it has this loss. The rest is treated as without a
 * spike, in cells that end where the spike does; what is said below holds for any masses within a cell. The
 * divergence of a sum of parts that are disjoint is the sum of theirs, so the sum of both bounds is one.
 */
struct spike {
    double loss, mass;           /* mass 0: there is none */
    struct pld_tails start, end; /* where it starts and ends */
};

/*
 * From below, in masses of P. Between two grid points the divergence, which is convex, lies below its chord
 * by at most `dip`: so far is the chord above the point where the tangents at its ends meet. With every grid
 * point lowered by the larger dip beside it, the chords are below the divergence, and so is their convex
 * hull, which is a divergence again.
 *
 * At both ends that would go too far. Left of all losses the divergence is the line P - y Q, which must stay:
 * mass that is lost there is lost in every release. So the first points are lowered to that line, up to the
 * last one that is not above it by the dips beside it. And the last points, from one before the first one
 * whose divergence is less than the dips beside it, are lowered to 0. Where no mass is near that could make
 * up for that, as beside a single atom, less is lost by rounding a cell down.
 */
struct lower {
    struct cell cell;
    double dip;
    double over, reduced; /* at its upper end: the divergence, and the mass above x times e^{x - loss} */
};

#define NEAR 16
#define ATOM 0x1p-44 /* a mass so near to the lower end of its cell is at it */

/* What the cells beside point i give it, and by how much it is lowered. */
static double given(const struct lower *cells, int64_t n, int64_t i)
{
    return (i > 0 ? cells[i - 1].cell.up : 0.0) + (i + 1 < n ? cells[i].cell.down : 0.0);
}

static double lowered_by(const struct lower *cells, int64_t n, int64_t i)
{
    return fmax(i > 0 ? cells[i - 1].dip : 0.0, i + 1 < n ? cells[i].dip : 0.0);
}

/* Of the points from one to another. */
static double given_within(const struct lower *cells, int64_t n, int64_t from, int64_t to)
{
    double sum = 0.0;
    for (int64_t i = from > 0 ? from : 0; i < n && i <= to; i++)
        sum += given(cells, n, i);
    return sum;
}

static void round_down(struct lower *low)
{
    low->cell.down = low->cell.p;
    low->cell.up = low->dip = 0.0;
}

/* The cells beside the spike end where it does. */
static void lower_cells(const struct points *p, const struct spike *spike, const struct pld_losses *losses,
                        struct lower *cells)
{
    for (int64_t i = 0; i + 1 < p->n; i++) {
        struct lower *const low = &cells[i];
        struct point from = p->points[i], to = p->points[i + 1];
        if (spike->mass > 0.0 && from.at == 0.0)
            from.tails = spike->end;
        if (spike->mass > 0.0 && to.at == 0.0)
            to.tails = spike->start;
        low->cell = cell_at(&from, &to, losses, 1);
        const double up = low->cell.up, down = low->cell.down, shrink = exp(-low->cell.width);
        low->dip = up > 0.0 && down > 0.0 ? up * down * (1.0 - shrink) / (down + up * shrink) : 0.0;
        low->dip *= 1.0 + 1e-6;
        if (up * (1.0 - shrink) < ATOM * low->cell.p)
            round_down(low);
    }
}

/* Returns the first point that is lowered to 0: masses end there. */
static int64_t find_last(struct lower *cells, int64_t n)
{
    double over = 0.0, reduced = 0.0; /* at the upper end of a cell */
    int64_t last = n - 1;
    for (int64_t i = n - 2; i >= 0; i--) {
        struct lower *const low = &cells[i];
        const double shrink = exp(-low->cell.width);
        low->over = over;
        low->reduced = reduced;
        const double next = over + (reduced + given(cells, n, i + 1)) * (1.0 - shrink);
        if (low->dip > over && next > (1.0 - shrink) * given_within(cells, n, i - NEAR, i - 1))
            round_down(low);
        if (lowered_by(cells, n, i + 1) > over)
            last = i;
        reduced = (reduced + given(cells, n, i + 1)) * shrink;
        over += reduced * (1.0 - shrink) / shrink;
    }
    return last;
}

/* Returns the first point that is not lowered to the line. */
static int64_t find_first(struct lower *cells, int64_t n)
{
    double below = 0.0, above = 0.0; /* mass below a point; of the divergence, above the line */
    int64_t first = 0;
    for (int64_t i = 0; i + 2 < n; i++) {
        struct lower *const low = &cells[i];
        const double growth = expm1(low->cell.width);
        double here = given(cells, n, i);
        const double next = above + (above + below + here) * growth;
        if (low->dip > above && next > growth * given_within(cells, n, i + 1, i + NEAR) &&
            low->cell.up < here + below + above) {
            round_down(low);
            here = given(cells, n, i);
        }
        if (lowered_by(cells, n, i) > above)
            first = i + 1;
        below += here;
        above += (above + below) * growth;
    }
    return first;
}

/* Masses are differences of slopes. */
static void lower_masses(struct lower *cells, int64_t n, double *mass)
{
    const int64_t first = find_first(cells, n), last = find_last(cells, n);
    double below = 0.0, here = 0.0, slope = 0.0; /* here: by how much a point is lowered */
    for (int64_t i = 0; i < first; i++) {
        below += given(cells, n, i);
        here += (here + below) * expm1(cells[i].cell.width);
    }
    for (int64_t i = first; i < last; i++) {
        const double next = i + 1 < last ? lowered_by(cells, n, i + 1) : cells[i].over;
        const double growth = expm1(cells[i].cell.width);
        mass[i] = given(cells, n, i) + (i == first ? below + here : slope) - (next - here) / growth;
        slope = (next - here) * (1.0 + growth) / growth; /* of the same difference, at the next point */
        here = next;
    }
    if (first < last)
        mass[last] = given(cells, n, last) + cells[last - 1].reduced + slope;
}

/* The convex hull: a point of negative mass goes to its neighbours, such that P and Q stay. */
static void take_hull(const struct points *p, double h, double *mass)
{
    for (int64_t i = 0; i < p->n; i++) {
        int64_t j = i - 1;
        while (j >= 0 && mass[j] == 0.0)
            j--;
        while (j >= 0 && mass[j] < 0.0) {
            int64_t k = j - 1;
            while (k >= 0 && mass[k] == 0.0)
                k--;
            const double moved = mass[j];
            mass[j] = 0.0;
            if (k < 0) {
                mass[i] += moved;
                break;
            }
            const double near = (p->points[j].at - p->points[k].at) * h;
            const double far = (p->points[i].at - p->points[k].at) * h;
            const double up = moved * expm1(-near) / expm1(-far);
            mass[i] += up;
            mass[k] += moved - up;
            j = k;
        }
    }
}

/* And roundings of the sums before. */
static void add_spike(const struct points *p, const struct spike *spike, double *mass)
{
    for (int64_t i = 0; i < p->n; i++) {
        mass[i] *= 1.0 - 16.0 * DBL_EPSILON;
        if (p->points[i].at == 0.0)
            mass[i] += spike->mass;
    }
}

/* The hull leaves a negative mass only right of all others: there what was lowered is below 0, as of a single
   atom. To leave it out would be too much; then all cells are rounded down. */
static int has_negative(const struct pld_losses *losses)
{
    for (int64_t i = 0; i < losses->n; i++)
        if (losses->mass[i] < 0.0)
            return 1;
    return 0;
}

static dpf_status fill_below(const dpf_host *host, const struct pld_pair *pair, const struct points *p,
                             const struct spike *spike, struct pld_losses *losses)
{
    const dpf_memory_service *memory = dpf_memory(host);
    const struct pld_tails *end = &p->points[p->n - 1].tails;
    struct lower *cells = memory->allocate(host, (uint64_t)p->n * sizeof *cells);
    if (!cells)
        return DPF_E_MEMORY;
    lower_cells(p, spike, losses, cells);
    lower_masses(cells, p->n, losses->mass);
    add_spike(p, spike, losses->mass);
    take_hull(p, losses->h, losses->mass);
    if (has_negative(losses)) {
        for (int64_t i = 0; i < p->n; i++)
            losses->mass[i] = i + 1 < p->n ? cells[i].cell.p : 0.0;
        add_spike(p, spike, losses->mass);
    }
    memory->release(host, cells);
    losses->infinite = pld_pair_infinite(pair);
    const double high = end->p_high * (1.0 - end->error) - losses->infinite;
    losses->mass[p->n - 1] += high > 0.0 ? high : 0.0;
    return DPF_OK;
}

/* Only points that have mass stay. */
static void finish(struct pld_losses *losses)
{
    int64_t n = 0;
    for (int64_t i = 0; i < losses->n; i++) {
        if (!(losses->mass[i] > 0.0))
            continue;
        losses->at[n] = losses->at[i];
        losses->mass[n] = losses->mass[i];
        losses->logs[n] = log(losses->mass[i]);
        n++;
    }
    losses->n = n;
}

/* ---- the spike ----------------------------------------------------------------------------------- */

#define SPIKE_REST 0.45 /* most that may lie outside of it, of P and of Q */

/* Both sums are of tails below 1/2, whose relative errors are known. P is no more than it is, Q no less. */
static struct spike find_spike(const struct pld_pair *pair, const struct pld_cells *cells)
{
    const struct spike none = {.loss = cells->offset};
    double low, high;
    pld_grid_range(pair, cells->tail, &low, &high);
    const double middle = inner_quantile(pair, low, high, 0.5);
    const double from = middle - cells->h / 2.0, to = middle + cells->h / 2.0;
    const struct pld_tails start = pld_pair_tails(pair, from), end = pld_pair_tails(pair, to);
    const double error = fmax(start.error, end.error) + 2.0 * DBL_EPSILON;
    const double p = (start.p_low + end.p_high) * (1.0 + error),
                 q = (start.q_low + end.q_high) * (1.0 - error);
    if (!(p < SPIKE_REST && q < SPIKE_REST))
        return none;
    const double p_log = log1p(-p), q_log = log1p(-q);
    const double loss = p_log - q_log - 4.0 * DBL_EPSILON * (fabs(p_log) + fabs(q_log));
    if (!(loss > from && loss < to))
        return none;
    return (struct spike){loss, (1.0 - p) * (1.0 - 16.0 * DBL_EPSILON), start, end};
}

/* ---- which cells --------------------------------------------------------------------------------- */

#define MOST_CELLS 4194304

static struct point point_at(const struct pld_pair *pair, double at, double offset, double h)
{
    return (struct point){at, pld_pair_tails(pair, offset + at * h)};
}

/* What a cell does to K, and to delta, over what is allowed. */
static double excess(const struct point *a, const struct point *b, const struct pld_cells *cells)
{
    const struct point *from = a->at < b->at ? a : b, *to = a->at < b->at ? b : a;
    const double mass = mass_between(&from->tails, &to->tails), width = (to->at - from->at) * cells->h;
    if (!(mass > 0.0))
        return 0.0;
    const double end = cells->offset + to->at * cells->h, beyond = cells->slope * (end - cells->epsilon);
    const double bulk = log(mass) + cells->tilt * end - cells->log_sum;
    const double jump = log(mass) + cells->log_jumps + (beyond < 0.0 ? beyond : 0.0);
    return exp(bulk > jump ? bulk : jump) * width * width / cells->allowed;
}

#define OFTEN 4 /* cells before twice the width is tried */

/*
 * From the last point to `end`, upwards or downwards. Cells become wider on the way wherever they may, and
 * narrower only where they must, so that neighbours' shares balance (see join).
 */
static dpf_status march(const struct pld_pair *pair, const struct pld_cells *cells, double end,
                        struct points *out)
{
    struct point from = out->points[out->n - 1];
    const double sign = end < from.at ? -1.0 : 1.0;
    double width = 1.0;
    for (int since = OFTEN; from.at != end; since++) {
        double left = fabs(end - from.at), step = since >= OFTEN ? 2.0 * width : width;
        struct point to =
            point_at(pair, from.at + sign * (step < left ? step : left), cells->offset, cells->h);
        double much = excess(&from, &to, cells);
        if (step > width && much > 1.0) {
            step = width;
            since = 0;
            to = point_at(pair, from.at + sign * (step < left ? step : left), cells->offset, cells->h);
            much = excess(&from, &to, cells);
        }
        while (step > 1.0 && much > 8.0) {
            step = floor(step / 2.0);
            since = 0;
            to = point_at(pair, from.at + sign * (step < left ? step : left), cells->offset, cells->h);
            much = excess(&from, &to, cells);
        }
        if (step > width && much > 0.0)
            since = 0;
        width = step;
        const dpf_status status = points_add(out, &to);
        if (status != DPF_OK || out->n > MOST_CELLS)
            return status != DPF_OK ? status : DPF_E_NUMERIC;
        from = to;
    }
    return DPF_OK;
}

static void turn(struct points *p)
{
    for (int64_t i = 0; i < p->n / 2; i++) {
        const struct point kept = p->points[i];
        p->points[i] = p->points[p->n - 1 - i];
        p->points[p->n - 1 - i] = kept;
    }
}

/* The offset becomes a point, if none is there. */
static dpf_status add_zero(const struct pld_pair *pair, const struct pld_cells *cells, struct points *out)
{
    int64_t i = 0;
    while (i < out->n && out->points[i].at < 0.0)
        i++;
    if (i < out->n && out->points[i].at == 0.0)
        return DPF_OK;
    const struct point zero = point_at(pair, 0.0, cells->offset, cells->h);
    const dpf_status status = points_add(out, &zero);
    if (status != DPF_OK)
        return status;
    memmove(&out->points[i + 1], &out->points[i], (size_t)(out->n - 1 - i) * sizeof zero);
    out->points[i] = zero;
    return DPF_OK;
}

static dpf_status cut(const struct pld_pair *pair, const struct pld_cells *cells, int at_zero,
                      struct points *out)
{
    double low, high;
    pld_grid_range(pair, cells->tail, &low, &high);
    const double first = floor((low - cells->offset) / cells->h) - 1.0;
    const double last = ceil((high - cells->offset) / cells->h) + 1.0;
    const double middle = fmin(fmax(nearbyint((cells->centre - cells->offset) / cells->h), first), last);
    if (!(fabs(first) < 0x1p50 && fabs(last) < 0x1p50))
        return DPF_E_NUMERIC;
    const struct point start = point_at(pair, middle, cells->offset, cells->h);
    dpf_status status = points_add(out, &start);
    if (status == DPF_OK)
        status = march(pair, cells, first, out);
    turn(out);
    if (status == DPF_OK)
        status = march(pair, cells, last, out);
    return status == DPF_OK && at_zero ? add_zero(pair, cells, out) : status;
}

dpf_status pld_grid_fill(const dpf_host *host, const struct pld_pair *pair, int from_below,
                         const struct pld_cells *cells, struct pld_losses *losses)
{
    struct points points = {.host = host};
    struct pld_cells moved = *cells;
    struct spike spike = {.loss = cells->offset};
    if (from_below)
        spike = find_spike(pair, cells);
    moved.offset = spike.loss;
    dpf_status status = cut(pair, &moved, spike.mass > 0.0, &points);
    if (status == DPF_OK)
        status = losses_new(host, &points, moved.offset, cells->h, losses);
    if (status == DPF_OK) {
        if (from_below)
            status = fill_below(host, pair, &points, &spike, losses);
        else
            fill_above(&points, losses);
        finish(losses);
    }
    points_free(&points);
    return status;
}

/* ---- the scout ----------------------------------------------------------------------------------- */

#define SCOUT_GROWTH 0.01 /* of the distance from the bulk, from point to point */

dpf_status pld_grid_scout(const dpf_host *host, const struct pld_pair *pair, double tail,
                          struct pld_losses *losses)
{
    struct points points = {.host = host};
    double low, high;
    pld_grid_range(pair, tail, &low, &high);
    const double centre = inner_quantile(pair, low, high, 0.5);
    double unit = 0.02 * (inner_quantile(pair, low, high, 0.75) - inner_quantile(pair, low, high, 0.25));
    unit = unit > 1e-12 * (high - low) ? unit : 1e-12 * (high - low);
    const double down = floor(-asinh(SCOUT_GROWTH * (centre - low) / unit) / SCOUT_GROWTH);
    dpf_status status = DPF_OK;
    for (double k = down; status == DPF_OK; k++) {
        const double x = centre + unit * sinh(SCOUT_GROWTH * k) / SCOUT_GROWTH;
        const struct point point = point_at(pair, x < low ? low : x < high ? x : high, 0.0, 1.0);
        if (points.n == 0 || point.at > points.points[points.n - 1].at)
            status = points_add(&points, &point);
        if (point.at >= high)
            break;
    }
    if (status == DPF_OK)
        status = losses_new(host, &points, 0.0, 1.0, losses);
    if (status == DPF_OK) {
        fill_above(&points, losses);
        finish(losses);
    }
    points_free(&points);
    return status;
}
