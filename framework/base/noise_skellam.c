/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_skellam.c - Skellam noise: the difference of two Poisson numbers of one integer mean m.
 *
 * A Poisson number is drawn by rejection, and every decision is exact: it compares a uniform real, whose
 * digits are made as they are needed, with a number known in double precision within a stated error; where
 * the error reaches the real, interval arithmetic decides, to any number of digits (exact_laws.c). The
 * masses, with the two modes m and m - 1 as the unit, are
 *
 *    at m + k        the product of 1/(1 + i/m), i = 1 .. k
 *    at m - 1 - k    the product of 1 - i/m,     i = 1 .. k.
 *
 * (1) Proposals: a fair coin for the side, a block j = 0, 1, 2, ... of w values with weights 1, 1, e^-1,
 * e^-2, ..., and k uniform in block j, j w <= k < (j + 1) w. w is an integer with w^2 > m. The blocks from j
 * on, j >= 1, have the part e^(2 - j) / (2 e - 1) of all weights.
 *
 * (2) A proposal is kept with probability exp(-I), where I = -ln mass(k) - max(j - 1, 0). As an integral over
 * t in [0, 1], -ln mass(k) is the sum over i = 1 .. k of i/(m + t i) on the right, i/(m - t i) on the left.
 * For i > w each is at least 1/w: on the right as i (w - t) >= (w + 1)(w - 1) >= m, on the left as i w >= (w
 * + 1) w > m. There are (j - 1) w of them at least, so I is not negative.
 *
 * (3) In double precision, Stirling's series for both factorials gives, with r = 1 on the right and -1 on the
 * left,
 *
 *       -ln mass(k) = (m + r (k + 1/2)) ln(1 + r k/m) - r k + (1/(m + r k) - 1/m)/12
 *
 *     within 1/(360 (m/2)^3) < 2^-40, as k <= m/2. The first product is about k; its roundings and those of a
 *     library's log1p, of which 4 units are expected at most, move it by less than 2^-49 k.
 *
 * (4) Proposals are judged in vectors, from their three words. With t = r k/m, |t| < 0.06, log(1 + t) = 2
 * atanh x, x = t/(2 + t), |x| < 0.03, is a series of which five terms leave out less than 2^-53 of it. Some
 * ten roundings and one of 1/m move it by less than 2^-49 of itself, so the logarithm of the mass, as in
 * (3), by less than 2^-48 k and 2^-40; five terms of 1/(1 + t) leave out less than 2^-42 of t/(12 m (1 + t)).
 * The other side of the comparison is -ln u, u = (word + 1/2) 2^-64, by seven terms of the series that
 * real_math.h states, which leave out less than 2^-40, and right within 2^-39 for words above 2^44. What is nearer
 * than 2^-47 k + 2^-36, in a block from 7 on, or tied with a block's digits, is decided one by one as above: so the
 * processor's arithmetic decides how long a draw takes and never what it is, and products may be fused.
 *
 * Values beyond block 60, more than 60 sqrt(m) away, are not drawn; for m >= 2^14 that is a distance of at
 * most m/2, as (3) needs on the left, and all of them together have a probability below e^-1500.
 */
#include "base/random.h"

#include <math.h>

#include <pthread.h>
#include <string.h>

#include "base/exact_laws.h"
#include "base/real_math.h"

#define LEAST_MEAN (UINT64_C(1) << 14)
#define MOST_MEAN (UINT64_C(1) << 47)
#define LAST_BLOCK 60
#define N_BLOCKS 45 /* P below is 0 from there on */

/* floor(2^63 P), P = e^(2 - j) / (2 e - 1), j = 1 .. N_BLOCKS: test_base_skellam computes them again. */
static const uint64_t block_tails[N_BLOCKS] = {
    UINT64_C(5651158541544738637),
    UINT64_C(2078945046234701466),
    UINT64_C(764801141834960295),
    UINT64_C(281354616665526191),
    UINT64_C(103504579149919147),
    UINT64_C(38077206736357576),
    UINT64_C(14007821535540704),
    UINT64_C(5153189558524009),
    UINT64_C(1895752495040324),
    UINT64_C(697408368474801),
    UINT64_C(256562200862797),
    UINT64_C(94383959079121),
    UINT64_C(34721918121575),
    UINT64_C(12773479834965),
    UINT64_C(4699100623501),
    UINT64_C(1728702511382),
    UINT64_C(635954113838),
    UINT64_C(233954444009),
    UINT64_C(86067030121),
    UINT64_C(31662290944),
    UINT64_C(11647905898),
    UINT64_C(4285025112),
    UINT64_C(1576372643),
    UINT64_C(579915087),
    UINT64_C(213338838),
    UINT64_C(78482972),
    UINT64_C(28872272),
    UINT64_C(10621515),
    UINT64_C(3907437),
    UINT64_C(1437465),
    UINT64_C(528814),
    UINT64_C(194539),
    UINT64_C(71567),
    UINT64_C(26328),
    UINT64_C(9685),
    UINT64_C(3563),
    UINT64_C(1310),
    UINT64_C(482),
    UINT64_C(177),
    UINT64_C(65),
    UINT64_C(24),
    UINT64_C(8),
    UINT64_C(3),
    UINT64_C(1),
    UINT64_C(0),
};

#define JUDGED_BLOCKS 7

/* What is constant over a call. */
struct poisson_mean {
    uint64_t w;
    double mean, inverse, twelfth; /* m, 1/m, 1/(12 m) */
    int64_t tails[JUDGED_BLOCKS];  /* the first of block_tails */
};

struct poisson {
    struct random_cursor *c;
    struct exact_source source;
    uint64_t mean;
    struct poisson_mean real;
};

#define JUDGED_LEAST_WORD (UINT64_C(1) << 44)
#define PROPOSALS 128 /* judged together */
#define VECTOR 8      /* proposals: what the widest vector holds */

struct poisson_proposals {
    uint64_t k[PROPOSALS], paid[PROPOSALS], side[PROPOSALS], last[PROPOSALS];
    uint64_t again[PROPOSALS], open[PROPOSALS]; /* 0 or 1 */
};

/* AGAIN: the place in the block takes further words. */
enum { VERDICT_NO, VERDICT_KEPT, VERDICT_OPEN, VERDICT_AGAIN };

#define SIMD_TEMPLATE "base/noise_skellam_loops.h"
#include "simd/each_kind.h"

typedef void (*judge_function)(const uint64_t *words, int64_t n, const struct poisson_mean *p,
                               int64_t *values, uint64_t *verdicts);
static judge_function judge;
static pthread_once_t judge_once = PTHREAD_ONCE_INIT;

static judge_function judge_of(int kind)
{
    return SIMD_PICK(kind, judge_poissons);
}

static void choose_judge(void)
{
    judge = judge_of(simd_choose(SIMD_KIND_AUTO));
}

/* (1): how many j >= 1 have v < P. A tie leaves v on either side of it. */
static inline uint64_t block_of(const struct exact_real *v)
{
    uint64_t j = 0;
    while (v->head < block_tails[j]) /* the last is 0 */
        j++;
    return __builtin_expect(v->head == block_tails[j], 0) ? exact_poisson_block(v) : j;
}

/* (3) */
static inline double minus_log_mass(double m, double k, double r)
{
    return (m + r * (k + 0.5)) * log1p(r * k / m) - r * k + (1 / (m + r * k) - 1 / m) / 12;
}

/* (2) */
static inline int keeps_value(const struct exact_real *u, uint64_t mean, uint64_t k, int left, uint64_t paid)
{
    const double kept = exp((double)paid - minus_log_mass((double)mean, (double)k, left ? -1 : 1));
    const double error = (double)k * 0x1p-49 + 0x1p-38;
    const double distance = ((double)u->head + 0.5) * 0x1p-64 - kept;
    if (__builtin_expect(fabs(distance) > error, 1))
        return distance < 0;
    return exact_poisson_keeps(u, mean, k, left, paid);
}

/* Whether a proposal is kept: its first and last words, whose cells these are, and its place in the block. */
static int decide(struct poisson *p, uint64_t first, uint64_t first_cell, uint64_t place, uint64_t last,
                  uint64_t last_cell, int64_t *value)
{
    const struct exact_real v = {&p->source, first_cell, 0, 0, 63, first << 1 >> 1};
    const struct exact_real u = {&p->source, last_cell, 0, 0, 64, last};
    const int left = (int)(first >> 63);
    const uint64_t block = block_of(&v), k = block * p->real.w + place;
    if (block > LAST_BLOCK)
        return 0;
    *value = left ? -1 - (int64_t)k : (int64_t)k;
    return keeps_value(&u, p->mean, k, left, block > 1 ? block - 1 : 0);
}

/* One by one, as many proposals from word `at` of the sequence on, or until so many are kept. Returns how many are. */
static __attribute__((noinline)) int64_t one_by_one(struct poisson *p, uint64_t at, int64_t n, int64_t most,
                                                    int64_t *kept)
{
    int64_t count = 0;
    p->c->block = at / RANDOM_BLOCK_WORDS;
    p->c->position = p->c->filled = 0;
    for (uint64_t skip = at % RANDOM_BLOCK_WORDS; skip > 0; skip--)
        random_word(p->c);
    for (int64_t i = 0; i < n && count < most; i++) {
        const uint64_t first_cell = exact_next_cell(p->c), first = random_word(p->c);
        const uint64_t place = random_word_below(p->c, p->real.w);
        const uint64_t last_cell = exact_next_cell(p->c), last = random_word(p->c);
        count += decide(p, first, first_cell, place, last, last_cell, kept + count);
    }
    return count;
}

/* Words that were read in bulk, begin .. end - 1 of them not used yet. */
#define WORDS_AHEAD 1024
struct words_ahead {
    uint64_t words[WORDS_AHEAD + 3 * VECTOR]; /* behind the last come those that fill a vector up */
    int64_t begin, end;
};

/* So that `wanted` more are there, which is at most half of the room: whole blocks, about as many as n
 * numbers take. */
static void read_ahead(struct words_ahead *a, dpf_cursor *cursor, int64_t wanted, int64_t n)
{
    const int64_t missing = wanted - (a->end - a->begin), whole = RANDOM_BLOCK_WORDS;
    if (missing <= 0)
        return;
    memmove(a->words, a->words + a->begin, (size_t)(a->end - a->begin) * sizeof(a->words[0]));
    a->end -= a->begin;
    a->begin = 0;
    int64_t more = 3 * (n * 17 / 8 + 16); /* a number takes 2.06 proposals */
    const int64_t room = WORDS_AHEAD - a->end - whole;
    more = more < missing ? missing : more > room ? room : more;
    const int64_t odd =
        (int64_t)((exact_next_cell(random_cursor_of(cursor)) + (uint64_t)more) % RANDOM_BLOCK_WORDS);
    more += odd ? whole - odd : 0;
    random_bits(cursor, a->words + a->end, more);
    a->end += more;
}

/* What was read ahead and not used is the next again. Reads ended with a block, or within the cursor's
 * window. */
static void unread(struct words_ahead *a, struct random_cursor *c)
{
    const int64_t left = a->end - a->begin;
    const uint64_t at = exact_next_cell(c) - (uint64_t)left, fill = (0 - at) % RANDOM_BLOCK_WORDS;
    if (left == 0)
        return;
    memcpy(c->words, a->words + a->begin, (size_t)fill * sizeof(c->words[0]));
    c->position = 0;
    c->filled = fill;
    c->block = (at + fill) / RANDOM_BLOCK_WORDS;
    a->begin = a->end = 0;
}

/* n proposals, n <= PROPOSALS, or until so many are kept: how many are, less the mean, in their order. kept has room for one more. */
static int64_t propose(struct poisson *p, struct words_ahead *ahead, uint64_t at, int64_t n, int64_t most,
                       int64_t *kept)
{
    const uint64_t *words = ahead->words + ahead->begin;
    uint64_t verdicts[PROPOSALS];
    int64_t values[PROPOSALS], count = 0, i = 0;
    const int64_t whole = (n + VECTOR - 1) / VECTOR * VECTOR, filled = ahead->begin + 3 * whole - ahead->end;
    if (filled > 0)
        memset(ahead->words + ahead->end, 0, (size_t)filled * sizeof(ahead->words[0]));
    judge(words, whole, &p->real, values, verdicts); /* whole vectors: not one by one */
    for (; i < n && count < most; i++) {
        const uint64_t *three = words + 3 * i, cell = at + 3 * (uint64_t)i;
        kept[count] = values[i];
        if (__builtin_expect(verdicts[i] == VERDICT_AGAIN, 0)) { /* all words behind it move on */
            ahead->begin = ahead->end = 0;
            return count + one_by_one(p, cell, n - i, most - count, kept + count);
        }
        if (__builtin_expect(verdicts[i] == VERDICT_OPEN, 0))
            count += decide(p, three[0], cell, (uint64_t)((random_u128)three[1] * p->real.w >> 64), three[2],
                            cell + 2, kept + count);
        else
            count += (int64_t)verdicts[i];
    }
    ahead->begin += 3 * i; /* the words of the others are still there */
    return count;
}

/* The least integer whose square is above x <= MOST_MEAN. */
static uint64_t root_above(uint64_t x)
{
    uint64_t root = (uint64_t)sqrt((double)x);
    while (root * root > x)
        root--;
    while (root * root <= x)
        root++;
    return root;
}

static void open_poisson(struct poisson *p, dpf_cursor *cursor, uint64_t mean)
{
    pthread_once(&judge_once, choose_judge);
    const double real = (double)mean;
    *p = (struct poisson){.c = random_cursor_of(cursor),
                          .source = exact_source_of(random_cursor_of(cursor)),
                          .mean = mean,
                          .real = {root_above(mean), real, 1 / real, 1 / (12 * real), {0}}};
    for (int j = 0; j < JUDGED_BLOCKS; j++)
        p->real.tails[j] = (int64_t)block_tails[j];
}

/* n numbers less their mean. A number takes 2.06 proposals; a few that are judged in vain cost less than another turn. */
static void poisson_draws(struct poisson *p, struct words_ahead *ahead, dpf_cursor *cursor, int64_t *out,
                          int64_t n)
{
    int64_t kept[PROPOSALS + 1];
    while (n > 0) {
        const int64_t likely = n * 17 / 8 + 4, tries = likely < PROPOSALS ? likely : PROPOSALS;
        read_ahead(ahead, cursor, 3 * tries, n);
        const uint64_t at = exact_next_cell(p->c) - (uint64_t)(ahead->end - ahead->begin);
        const int64_t now = propose(p, ahead, at, tries, n, kept);
        memcpy(out, kept, (size_t)now * sizeof(*out));
        out += now;
        n -= now;
    }
}

dpf_status random_poisson(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    if (mean < LEAST_MEAN || mean > MOST_MEAN)
        return DPF_E_RANGE;
    struct poisson p;
    struct words_ahead ahead;
    ahead.begin = ahead.end = 0;
    open_poisson(&p, cursor, mean);
    poisson_draws(&p, &ahead, cursor, out, n);
    unread(&ahead, p.c);
    for (int64_t i = 0; i < n; i++)
        out[i] += (int64_t)mean;
    exact_close(&p.source);
    return DPF_OK;
}

#define PAIRS 256

dpf_status random_skellam(dpf_cursor *cursor, uint64_t mean, int64_t *out, int64_t n)
{
    if (mean < LEAST_MEAN || mean > MOST_MEAN)
        return DPF_E_RANGE;
    struct poisson p;
    struct words_ahead ahead;
    int64_t both[2 * PAIRS];
    ahead.begin = ahead.end = 0;
    open_poisson(&p, cursor, mean);
    for (int64_t i = 0; i < n; i += PAIRS) {
        const int64_t now = n - i < PAIRS ? n - i : PAIRS;
        poisson_draws(&p, &ahead, cursor, both, 2 * now);
        for (int64_t k = 0; k < now; k++)
            out[i + k] = both[2 * k] - both[2 * k + 1];
    }
    unread(&ahead, p.c);
    exact_close(&p.source);
    return DPF_OK;
}
