/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_compose.h"

#include <float.h>

#include <fftw3.h>

/* Of the tilted mass on either side of the window: e^-36 is 2e-16. */
#define WINDOW_LOG_TAIL 36.0
#define COARSE_CELLS 4096
/* Per cell: then neighbours differ by e^30. */
#define MOST_TILT 30.0
/* A window has at least so many cells, unless a single release then had more than that. */
#define LEAST_CELLS 16384.0
#define FINE_CELLS 131072.0
#define MOST_CELLS 4194304.0

/* ---- moments ------------------------------------------------------------------------------------ */

/* ln E[e^{tX}] of the composition (of its finite part), and mean and variance of the tilted one. */
struct moments {
    double log_sum;
    double mean;
    double variance;
};

static struct moments group_moments(const struct pld_losses *losses, double tilt)
{
    double top = -INFINITY, sum = 0.0, first = 0.0, second = 0.0;
    const double h = losses->h, step = tilt * h;
    for (int64_t i = 0; i < losses->n; i++) {
        const double x = losses->logs[i] + step * (double)i;
        top = x > top ? x : top;
    }
    for (int64_t i = 0; i < losses->n; i++) {
        const double x = losses->logs[i] + step * (double)i - top;
        if (x < -60.0)
            continue;
        const double weight = exp(x), at = (double)i * h;
        sum += weight;
        first += weight * at;
        second += weight * at * at;
    }
    const double start = (double)losses->first * h, mean = first / sum;
    /* cppcheck-suppress invalidFunctionArg ; the largest term is exp(0), so sum is at least 1 */
    return (struct moments){top + log(sum) + tilt * start, start + mean, second / sum - mean * mean};
}

static struct moments all_moments(const struct pld_losses *losses, int64_t n, double tilt)
{
    struct moments all = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        const struct moments one = group_moments(&losses[i], tilt);
        all.log_sum += losses[i].copies * one.log_sum;
        all.mean += losses[i].copies * one.mean;
        all.variance += losses[i].copies * one.variance;
    }
    return all;
}

/* The tilt that puts the mean at `at`; if that is NaN, the one for which Chernoff's epsilon is least. */
static double best_tilt(const struct pld_problem *problem, const struct pld_losses *losses, double at)
{
    double most = INFINITY;
    for (int64_t i = 0; i < problem->n; i++)
        most = MOST_TILT / losses[i].h < most ? MOST_TILT / losses[i].h : most;
    double high = log(most), low = high - 37.0 < -16.0 ? high - 37.0 : -16.0;
    for (int i = 0; i < 32; i++) {
        const double middle = (low + high) / 2.0, tilt = exp(middle);
        const struct moments all = all_moments(losses, problem->n, tilt);
        const int beyond = isnan(at) ? tilt * all.mean - all.log_sum > -log(problem->delta) : all.mean > at;
        if (beyond)
            high = middle;
        else
            low = middle;
    }
    return exp(low);
}

struct window {
    double tilt;
    double low, high; /* losses */
    struct moments at;
    double log_right; /* bound on the tilted mass above high, and below low */
    double log_left;
};

static double largest(const struct pld_losses *losses, int64_t n, int upper)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += losses[i].copies * (double)(losses[i].first + (upper ? losses[i].n - 1 : 0)) * losses[i].h;
    return sum;
}

/* One release: it needs no transform, and has no errors but those of its masses. */
static int is_single(const struct pld_losses *losses, int64_t n)
{
    return n == 1 && losses->copies == 1.0;
}

/* P(X >= high) <= e^{K(t+s) - K(t) - s high} for every s > 0 under the tilt t, and the like below. */
static struct window window_at(const struct pld_losses *losses, int64_t n, double tilt)
{
    static const double factors[] = {8.5, 3.0, 1.0};
    struct window window = {
        tilt, -INFINITY, INFINITY, all_moments(losses, n, tilt), -WINDOW_LOG_TAIL, -WINDOW_LOG_TAIL};
    const double deviation = sqrt(window.at.variance > 0.0 ? window.at.variance : 0.0);
    for (size_t i = 0; i < sizeof factors / sizeof *factors && deviation > 0.0; i++) {
        const double s = factors[i] / deviation;
        const double right = all_moments(losses, n, tilt + s).log_sum - window.at.log_sum;
        const double high = (right + WINDOW_LOG_TAIL) / s;
        window.high = high < window.high ? high : window.high;
        const double left = all_moments(losses, n, tilt - s).log_sum - window.at.log_sum;
        const double low = -(left + WINDOW_LOG_TAIL) / s;
        window.low = low > window.low ? low : window.low;
    }
    /* Back to a tilt of 0, where the sum of all masses is 1 at most; beyond it left tails may grow fast. */
    const double untilted = (window.at.log_sum - WINDOW_LOG_TAIL) / tilt;
    window.low = untilted > window.low ? untilted : window.low;
    const double end = largest(losses, n, 1), start = largest(losses, n, 0);
    const int single = is_single(losses, n);
    if (!(window.high < end) || single) {
        window.high = end;
        window.log_right = -INFINITY;
    }
    if (!(window.low > start) || single) {
        window.low = start;
        window.log_left = -INFINITY;
    }
    return window;
}

/* ---- convolution -------------------------------------------------------------------------------- */

/* FFTW's planner is not thread-safe. */
static unsigned char planner;

static void planner_enter(void)
{
    while (__atomic_test_and_set(&planner, __ATOMIC_ACQUIRE)) {
    }
}

static void planner_leave(void)
{
    __atomic_clear(&planner, __ATOMIC_RELEASE);
}

struct transform {
    int64_t n;
    double *real;
    fftw_complex *one;
    fftw_complex *product;
    fftw_plan forward;
    fftw_plan backward;
    double error; /* bound on the error of the result, in the Euclidean norm */
};

static void transform_free(const dpf_host *host, struct transform *t)
{
    const dpf_memory_service *memory = dpf_memory(host);
    planner_enter();
    if (t->forward)
        fftw_destroy_plan(t->forward);
    if (t->backward)
        fftw_destroy_plan(t->backward);
    planner_leave();
    memory->release(host, t->real);
    memory->release(host, t->one);
    memory->release(host, t->product);
    memset(t, 0, sizeof *t);
}

/* The least length of the form 2^k, 3 2^k or 5 2^k that is at least n. */
static int64_t good_length(double n)
{
    int64_t best = 1024;
    while ((double)best < n)
        best *= 2;
    if ((double)(best / 8 * 5) >= n)
        return best / 8 * 5;
    return (double)(best / 4 * 3) >= n ? best / 4 * 3 : best;
}

/* Planning takes as long as a transform: one that is a little too long is used again. */
static dpf_status transform_fit(const dpf_host *host, double length, struct transform *t)
{
    const dpf_memory_service *memory = dpf_memory(host);
    if ((double)t->n >= length && (double)t->n <= 2.0 * length)
        return DPF_OK;
    const int64_t n = good_length(length);
    const uint64_t half = (uint64_t)n / 2 + 1;
    transform_free(host, t);
    t->n = n;
    t->real = memory->allocate(host, (uint64_t)n * sizeof(double));
    t->one = memory->allocate(host, half * sizeof(fftw_complex));
    t->product = memory->allocate(host, half * sizeof(fftw_complex));
    if (t->real && t->one && t->product) {
        planner_enter();
        t->forward = fftw_plan_dft_r2c_1d((int)n, t->real, t->one, FFTW_ESTIMATE);
        t->backward = fftw_plan_dft_c2r_1d((int)n, t->product, t->real, FFTW_ESTIMATE);
        planner_leave();
    }
    if (t->forward && t->backward)
        return DPF_OK;
    transform_free(host, t);
    return DPF_E_MEMORY;
}

/* What tilted masses below e^-90 are beside the errors of a transform, and below the range of a double. */
#define LOG_NOTHING -90.0
#define LOG_LEAST -740.0

/* The tilted masses above e^least, around a circle of n grid points. Returns the sum of their squares. */
static double place(const struct pld_losses *losses, double tilt, double least, struct transform *t)
{
    const double log_sum = group_moments(losses, tilt).log_sum, step = tilt * losses->h;
    memset(t->real, 0, (size_t)t->n * sizeof(double));
    int64_t at = losses->first % t->n;
    at += at < 0 ? t->n : 0;
    for (int64_t i = 0; i < losses->n; i++) {
        const double x = losses->logs[i] + step * (double)(losses->first + i) - log_sum;
        if (x > least)
            t->real[at] += exp(x);
        at = at + 1 == t->n ? 0 : at + 1;
    }
    double squares = 0.0;
    for (int64_t i = 0; i < t->n; i++)
        squares += t->real[i] * t->real[i];
    return squares;
}

/* Block by block: then the loops over a block have no branches, and compilers use vectors. */
#define BLOCK 64

static void power_block(const fftw_complex *one, int64_t n, uint64_t power, double *out_re, double *out_im)
{
    double re[BLOCK], im[BLOCK];
    for (int64_t i = 0; i < n; i++) {
        re[i] = one[i][0];
        im[i] = one[i][1];
    }
    for (uint64_t rest = power; rest > 0; rest >>= 1) {
        for (int64_t i = 0; (rest & 1) && i < n; i++) {
            const double x = out_re[i] * re[i] - out_im[i] * im[i];
            out_im[i] = out_re[i] * im[i] + out_im[i] * re[i];
            out_re[i] = x;
        }
        for (int64_t i = 0; rest > 1 && i < n; i++) {
            const double x = re[i] * re[i] - im[i] * im[i];
            im[i] = 2.0 * re[i] * im[i];
            re[i] = x;
        }
    }
}

/* product *= one^power, at every frequency. */
static void multiply(fftw_complex *product, const fftw_complex *one, int64_t n, uint64_t power, int first)
{
    double re[BLOCK], im[BLOCK];
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t length = n - start < BLOCK ? n - start : BLOCK;
        for (int64_t i = 0; i < length; i++) {
            re[i] = first ? 1.0 : product[start + i][0];
            im[i] = first ? 0.0 : product[start + i][1];
        }
        power_block(one + start, length, power, re, im);
        for (int64_t i = 0; i < length; i++) {
            product[start + i][0] = re[i];
            product[start + i][1] = im[i];
        }
    }
}

/*
 * Leaves the tilted composition y in t->real, and a bound on the Euclidean norm of its error. With FFTW's
 * relative error in that norm, c eps log2(n), here with c = 8, one number of a transform of p is off by at
 * most eta = c eps log2(n) sqrt(n sum p^2). The product G, with p to the k-th power, is then off by k eta
 * |G|^{(k-1)/k}, at most k eta (2 |G| + 2^{1-k}), which has norm k eta (2 |y| + 2^{1-k}) by Parseval. That is
 * the first order; with w the sum of all k eta, the rest is within a factor e^{4w}. Of y only its computed
 * value is known, which is off by as much.
 */
static void convolve(const struct pld_losses *losses, int64_t n, double tilt, struct transform *t)
{
    if (is_single(losses, n)) {
        place(losses, tilt, LOG_LEAST, t);
        t->error = 1e-300;
        return;
    }
    const double unit = 8.0 * DBL_EPSILON * log2((double)t->n);
    double weighted = unit, flat = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double eta =
            unit * sqrt((double)t->n * place(&losses[i], tilt, LOG_NOTHING, t)) + 16.0 * DBL_EPSILON;
        fftw_execute(t->forward);
        multiply(t->product, t->one, t->n / 2 + 1, (uint64_t)losses[i].copies, i == 0);
        weighted += losses[i].copies * eta;
        flat += losses[i].copies * eta * exp2(1.0 - (losses[i].copies < 1000.0 ? losses[i].copies : 1000.0));
    }
    fftw_execute(t->backward);
    for (int64_t i = 0; i < t->n; i++) {
        t->real[i] /= (double)t->n;
        squares += t->real[i] * t->real[i];
    }
    const double growth = exp(4.0 * weighted), part = 2.0 * weighted * growth;
    t->error = weighted < 0.1 ? (part * sqrt(squares) + flat * growth) / (1.0 - part) : INFINITY;
}

/* ---- reading epsilon and delta ------------------------------------------------------------------ */

/* Sums over losses from the right end of the window down, in units of e^{K - t mean}. */
struct reader {
    const struct transform *t;
    const struct window *window;
    double h;
    int from_below;
    int64_t index;  /* of the grid point that was added last */
    double mass;    /* above and at it */
    double shrunk;  /* mass times e^{(index-1) h - x} */
    double allowed; /* bound of all errors of delta at the grid point below it */
    double shrink;  /* e^{-h} */
    double slack;   /* relative error of the masses */
    double points;  /* norm of the weights, in units of the one at the lowest point */
    double beyond;  /* bound on what lies right of the window */
    double aliased; /* bound on the tilted mass that is folded into it */
};

static struct reader reader_new(const struct transform *t, const struct window *w, double h, int from_below)
{
    struct reader r = {t, w, h, from_below, 0, 0.0, 0.0, 0.0, exp(-h), 0.0, 0.0, 0.0, 0.0};
    const double terms = 1.0 / -expm1(-2.0 * w->tilt * h); /* the weights fall geometrically */
    r.points = sqrt(terms < (double)t->n ? terms : (double)t->n);
    r.beyond = exp(w->log_right - w->tilt * (w->high - w->at.mean));
    r.aliased = exp(w->log_right) + exp(w->log_left);
    return r;
}

/* Errors of delta where the weight is that: of the transforms, and of what is outside of the window. */
static double outside(const struct reader *r, double weight)
{
    const double noise = r->t->error * r->points * weight;
    return noise + (r->from_below ? r->aliased * weight : r->beyond);
}

static void reader_add(struct reader *r, double weight)
{
    int64_t at = r->index % r->t->n;
    at += at < 0 ? r->t->n : 0;
    const double value = r->t->real[at] > 0.0 ? r->t->real[at] * weight : 0.0;
    r->mass += value;
    r->shrunk = (r->shrunk + value) * r->shrink;
}

/* delta at index - 1, from the reader's side. */
static double reader_delta(const struct reader *r, double shrunk)
{
    const double sum = r->mass - shrunk, error = r->slack * r->mass + r->allowed;
    return r->from_below ? sum - error : sum + error;
}

static double reader_weight(const struct reader *r, int64_t index)
{
    return exp(-r->window->tilt * ((double)index * r->h - r->window->at.mean));
}

/* The least epsilon whose delta, in the reader's units, is at most `allowed`. */
static double read_epsilon(struct reader *r, double allowed)
{
    const int64_t last = (int64_t)ceil(r->window->high / r->h), stop = last - r->t->n + 1;
    const double growth = exp(r->window->tilt * r->h);
    for (r->index = last; r->index >= stop; r->index--) {
        const double weight = reader_weight(r, r->index), loss = (double)(r->index - 1) * r->h;
        reader_add(r, weight);
        r->allowed = outside(r, weight * growth);
        /* What cannot be compared is too much from above, and nothing from below. */
        const double delta = reader_delta(r, r->shrunk);
        if (r->from_below ? delta > allowed : !(delta <= allowed)) {
            /* Nothing is known right of the first grid point, where errors alone may be too much. */
            if (!r->from_below && r->index == last && !(r->window->log_right == -INFINITY))
                return INFINITY;
            const double error = r->slack * r->mass + r->allowed;
            const double kept = r->mass + (r->from_below ? -error : error) - allowed;
            const double part = kept > 0.0 && r->shrunk > 0.0 ? log(kept / r->shrunk) : 0.0;
            return loss + (part > 0.0 ? part < r->h ? part : r->h : 0.0);
        }
        if (loss < 0.0)
            break;
    }
    return r->from_below || r->index < 1 ? 0.0 : (double)r->index * r->h;
}

static double read_delta(struct reader *r, double epsilon)
{
    const int64_t last = (int64_t)ceil(r->window->high / r->h), stop = last - r->t->n + 1;
    const int64_t wanted = (int64_t)floor(epsilon / r->h) + 1;
    if (wanted < stop)
        return r->from_below ? 0.0 : INFINITY;
    for (r->index = last; r->index >= wanted; r->index--)
        reader_add(r, reader_weight(r, r->index));
    const double weight = reader_weight(r, wanted - 1);
    r->allowed = outside(r, weight);
    return reader_delta(r, r->shrunk * exp(epsilon - (double)(wanted - 1) * r->h));
}

/* ---- one direction, one side -------------------------------------------------------------------- */

struct state {
    struct pld_problem *problem;
    struct pld_losses *losses; /* one for each group */
    double tail;               /* mass that a grid may leave out, of one release */
    double h;
    double guess;               /* of ln delta, by Chernoff, where epsilon is given */
    double mean;                /* of the last composition, tilted */
    struct transform transform; /* kept while its length fits */
};

static void losses_free(struct state *s)
{
    const dpf_memory_service *memory = dpf_memory(s->problem->host);
    for (int64_t i = 0; i < s->problem->n; i++) {
        memory->release(s->problem->host, s->losses[i].mass);
        memory->release(s->problem->host, s->losses[i].logs);
        s->losses[i].mass = s->losses[i].logs = NULL;
    }
}

/* h = 0: a few cells for each group. */
static dpf_status losses_make(struct state *s, int from_below, double h)
{
    const dpf_host *host = s->problem->host;
    const dpf_memory_service *memory = dpf_memory(host);
    for (int64_t i = 0; i < s->problem->n; i++) {
        const struct pld_group *group = &s->problem->groups[i];
        const struct pld_pair *pair = from_below ? &group->below : &group->above;
        struct pld_losses *losses = &s->losses[i];
        double low, high;
        pld_grid_range(pair, s->tail, &low, &high);
        losses->h = h > 0.0 ? h : (high - low) / COARSE_CELLS;
        if (!((high - low) / losses->h < 4.0 * MOST_CELLS))
            return DPF_E_NUMERIC;
        losses->first = (int64_t)floor(low / losses->h) - 1;
        losses->n = (int64_t)ceil(high / losses->h) + 2 - losses->first;
        losses->copies = from_below ? group->copies_below : group->copies;
        losses->mass = memory->allocate(host, (uint64_t)losses->n * sizeof(double));
        losses->logs = memory->allocate(host, (uint64_t)losses->n * sizeof(double));
        if (!losses->mass || !losses->logs)
            return DPF_E_MEMORY;
        pld_grid_fill(pair, from_below, losses);
    }
    return DPF_OK;
}

/* A distance of which a two-point loss is a multiple has no rounding at all. */
static double aligned(const struct pld_problem *problem, double h)
{
    double most = 0.0, size = 0.0;
    for (int64_t i = 0; i < problem->n; i++) {
        const struct pld_pair *pair = &problem->groups[i].above;
        const double unit = pair->shape == PLD_RESPONSE           ? pair->size
                            : pair->shape == PLD_DISCRETE_LAPLACE ? pair->step
                                                                  : 0.0;
        if (pair->rate >= 1.0 && unit > h / 4.0 && problem->groups[i].copies * unit > most) {
            most = problem->groups[i].copies * unit;
            size = unit;
        }
    }
    return size > 0.0 ? size / ceil(size / h) : h;
}

/* The distance of grid points: as asked, closer where the window is small, wider where it is huge. */
static void choose_grid(struct state *s, const struct window *window)
{
    const double width = window->high - window->low;
    double h = s->problem->grid, range = width;
    for (int64_t i = 0; i < s->problem->n; i++) {
        const double own = (double)s->losses[i].n * s->losses[i].h;
        range = own > range ? own : range;
    }
    const double window_cell = width / LEAST_CELLS, range_cell = range / FINE_CELLS;
    const double fine = window_cell > range_cell ? window_cell : range_cell;
    h = fine > 0.0 && fine < h ? fine : h;
    h = range / MOST_CELLS > h ? range / MOST_CELLS : h;
    s->h = aligned(s->problem, h);
}

/* Errors of exponents in a tilt, relative to the masses. */
static double exponent_slack(const struct state *s, double tilt)
{
    double slack = 1e-12;
    for (int64_t i = 0; i < s->problem->n; i++) {
        const struct pld_losses *losses = &s->losses[i];
        const double reach = fabs((double)losses->first) + (double)losses->n;
        slack += losses->copies * 8.0 * DBL_EPSILON * (tilt * reach * losses->h + 40.0);
    }
    return slack;
}

static double infinite_mass(const struct state *s)
{
    double kept = 0.0;
    for (int64_t i = 0; i < s->problem->n; i++)
        kept += s->losses[i].copies * log1p(-s->losses[i].infinite);
    return -expm1(kept);
}

static double answer_epsilon(const struct state *s, struct reader *r, const struct window *w)
{
    const double sign = r->from_below ? 1.0 : -1.0;
    const double left = s->problem->delta * (1.0 + sign * 1e-15) - infinite_mass(s) * (1.0 - sign * 1e-14);
    if (left <= 0.0)
        return INFINITY;
    const double allowed = left * exp(w->tilt * w->at.mean - w->at.log_sum);
    if (!isfinite(allowed)) /* beyond the range of a double: this tilt says nothing */
        return r->from_below ? 0.0 : INFINITY;
    return read_epsilon(r, allowed);
}

static double answer_delta(const struct state *s, struct reader *r, const struct window *w)
{
    const double epsilon = s->problem->epsilon;
    const int beyond = epsilon >= largest(s->losses, s->problem->n, 1); /* nothing finite is there */
    const double finite = beyond ? 0.0 : read_delta(r, epsilon) * exp(w->at.log_sum - w->tilt * w->at.mean);
    const double delta = finite + infinite_mass(s);
    if (isnan(delta)) /* beyond the range of a double: this tilt says nothing */
        return r->from_below ? 0.0 : 1.0;
    return delta > 1.0 ? 1.0 : delta > 0.0 ? delta : 0.0;
}

static dpf_status one_side(struct state *s, double tilt, int from_below, double *value)
{
    struct transform *t = &s->transform;
    dpf_status status = losses_make(s, from_below, s->h);
    if (status == DPF_OK) {
        struct window window = window_at(s->losses, s->problem->n, tilt);
        if (s->problem->for_delta && window.low > s->problem->epsilon - s->h)
            window.low = s->problem->epsilon - s->h; /* a tilt cannot be negative */
        const double length = (window.high - window.low) / s->h + 4.0;
        status = length < 16.0 * MOST_CELLS ? transform_fit(s->problem->host, length, t) : DPF_E_NUMERIC;
        if (status == DPF_OK) {
            convolve(s->losses, s->problem->n, tilt, t);
            struct reader reader = reader_new(t, &window, s->h, from_below);
            reader.slack = exponent_slack(s, tilt);
            s->mean = window.at.mean;
            *value = s->problem->for_delta ? answer_delta(s, &reader, &window)
                                           : answer_epsilon(s, &reader, &window);
        }
    }
    losses_free(s);
    return status;
}

/* Chooses tilt and grid from a few cells, which leave out s->tail. Returns, in *log_delta, Chernoff's guess.
 */
static dpf_status choose_from(struct state *s, double at, double *tilt, double *log_delta)
{
    const dpf_status status = losses_make(s, 0, 0.0);
    if (status == DPF_OK) {
        *tilt = best_tilt(s->problem, s->losses, at);
        const struct window window = window_at(s->losses, s->problem->n, *tilt);
        *log_delta = window.at.log_sum - *tilt * s->problem->epsilon;
        choose_grid(s, &window);
    }
    losses_free(s);
    return status;
}

#define LEAST_TAIL 1e-306
#define TAIL_PART 1e-8 /* of delta */

/*
 * Chooses tilt, grid and tail. A tail is a small part of delta. Where delta is asked for it is not known
 * before: a grid that left out more than its part of the guess did not reach the losses that matter, and what
 * it says of tilt and delta is wrong; then once more, with all that a double can tell from nothing.
 */
static dpf_status choose(struct state *s, double at, double *tilt)
{
    double copies = 1.0, guess = 0.0;
    for (int64_t i = 0; i < s->problem->n; i++)
        copies += s->problem->groups[i].copies;
    s->tail = (s->problem->for_delta ? 1e-20 : s->problem->delta * TAIL_PART) / copies;
    s->tail = s->tail > LEAST_TAIL ? s->tail : LEAST_TAIL;
    dpf_status status = choose_from(s, at, tilt, &guess);
    if (status != DPF_OK || !s->problem->for_delta)
        return status;
    if (!(guess + log(TAIL_PART / copies) > log(s->tail))) {
        s->tail = LEAST_TAIL;
        status = choose_from(s, at, tilt, &guess);
    }
    s->guess = guess;
    s->tail = exp(guess > -600.0 ? guess < 0.0 ? guess : 0.0 : -600.0) * TAIL_PART / copies;
    s->tail = s->tail > LEAST_TAIL ? s->tail : LEAST_TAIL;
    return status;
}

/* As many tilts are tried before what there is will do. */
#define TILTS 6

/* Whether most of a delta is what grids left out, which they need not. */
static int is_cut(const struct state *s, double delta)
{
    double kept = 0.0;
    for (int64_t i = 0; i < s->problem->n; i++)
        kept += s->losses[i].copies * log1p(-pld_pair_infinite(&s->problem->groups[i].above));
    return s->tail > LEAST_TAIL && infinite_mass(s) + expm1(kept) > 0.01 * delta;
}

/* Whether what a composition gave is about as small as it can be. */
static int is_good(const struct state *s, double value, double tilt, int tries)
{
    if (s->problem->for_delta) {
        const double rest = 2.0 * infinite_mass(s) + 1e-280; /* what no tilt makes smaller */
        return tries >= TILTS || (!is_cut(s, value) && !(value > rest && log(value) > s->guess + 5.0));
    }
    return isnan(value) || (isfinite(value) && (tries >= TILTS || tilt * (s->mean - value) < 8.0));
}

/*
 * Where a large mass sits at the end of all losses, Chernoff's epsilon is far above the true one, and errors
 * are large there: then again, with the mean at what was found. Where a few rare large losses make up the
 * divergence, a mean jumps as the tilt grows, and the coarse cells may have chosen one before the jump, which
 * says nothing, or little beside what Chernoff does: then with larger ones. Every tilt is valid. The lower
 * bound is not needed where the upper one is no larger than known.
 */
static dpf_status one_direction(struct state *s, double known, double *upper, double *lower)
{
    const double at = s->problem->for_delta ? s->problem->epsilon : NAN;
    double tilt = 0.0, found = INFINITY;
    dpf_status status = choose(s, at, &tilt);
    *upper = INFINITY;
    for (int tries = 1; tries <= 2 * TILTS && status == DPF_OK; tries++) {
        status = one_side(s, tilt, 0, &found);
        *upper = found < *upper || isnan(found) ? found : *upper;
        if (is_good(s, *upper, tilt, tries))
            break;
        if (status == DPF_OK && isfinite(*upper) && !s->problem->for_delta)
            status = choose(s, *upper, &tilt);
        else if (s->problem->for_delta && is_cut(s, *upper))
            s->tail = s->tail > LEAST_TAIL * 1e20 ? s->tail * 1e-20 : LEAST_TAIL;
        else
            tilt *= 1.0 + 0.01 * (1 << tries);
    }
    if (status == DPF_OK && *upper > known)
        status = one_side(s, tilt, 1, lower);
    return status;
}

dpf_status pld_compose(struct pld_problem *problem, struct pld_result *result)
{
    struct state s = {.problem = problem};
    int sampled = 0;
    result->upper = result->lower = 0.0;
    s.losses = dpf_memory(problem->host)->allocate(problem->host, (uint64_t)problem->n * sizeof *s.losses);
    if (!s.losses)
        return DPF_E_MEMORY;
    for (int64_t i = 0; i < problem->n; i++)
        sampled |= problem->groups[i].above.rate < 1.0;
    dpf_status status = DPF_OK;
    for (int adding = 0; adding <= sampled && status == DPF_OK; adding++) {
        double upper = 0.0, lower = 0.0;
        for (int64_t i = 0; i < problem->n; i++)
            problem->groups[i].above.adding = problem->groups[i].below.adding = adding;
        status = one_direction(&s, result->lower, &upper, &lower);
        result->upper = upper <= result->upper ? result->upper : upper; /* NaN stays */
        result->lower = lower > result->lower ? lower : result->lower;
    }
    result->h = s.h;
    transform_free(problem->host, &s.transform);
    dpf_memory(problem->host)->release(problem->host, s.losses);
    return status;
}
