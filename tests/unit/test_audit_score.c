/* SPDX-License-Identifier: Apache-2.0 */
/* Scores are likelihood ratios of what was seen, whichever explanation is true. */
#include <math.h>

#include "kit/test.h"
#include "audit/score.h"
#include "plan/plan.h"

#define RATE 0.25
#define SIGMA 2.0

static struct term_plan term;
static struct plan plan;

static int begin(void **state)
{
    (void)state;
    term.sampling.rate = RATE;
    term.rows = 2;
    plan.sides[DPF_SIDE_ITEMS].terms = &term;
    plan.sides[DPF_SIDE_ITEMS].n_terms = 1;
    return 0;
}

/* One estimate, of row 0 or 1, with Gaussian noise. */
struct sighting {
    struct observation observation;
    double seen, exact, deviation;
    struct trace trace;
};

static void see(struct sighting *s, int32_t round, int64_t row, double seen, double exact)
{
    *s = (struct sighting){.seen = seen, .exact = exact, .deviation = SIGMA};
    s->observation = (struct observation){.side = DPF_SIDE_ITEMS,
                                          .round = round,
                                          .n_rows = 1,
                                          .first_row = row,
                                          .width = 1,
                                          .survivors = 1,
                                          .gram_row = -1,
                                          .seen = &s->seen,
                                          .exact = &s->exact,
                                          .deviation = &s->deviation};
    s->observation.query.n_blocks = 1;
    s->observation.query.blocks[0].length = 1;
    s->observation.noise.grid[0] = 1e-6;
    s->trace.sums = (struct observations){.items = &s->observation, .n = 1, .capacity = 1};
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
        fail_msg("%.15g instead of %.15g", a, b);
}

static double density(double x)
{
    return -x * x / (2 * SIGMA * SIGMA);
}

TEST(ratios_are_those_of_the_noise)
{
    struct sighting seen, one, two;
    see(&seen, 0, 0, 1.5, 1);
    see(&one, 0, 0, 0, 1);
    see(&two, 0, 0, 0, -3);
    const struct explanation both[2] = {{&one.trace, NULL}, {&two.trace, NULL}};
    assert_near(score_ratio(&plan, &seen.trace, both), density(0.5) - density(4.5));
}

TEST(hidden_draws_are_mixtures)
{
    struct sighting seen, in[2], out;
    see(&seen, 0, 0, 1.5, 1);
    see(&in[0], 0, 0, 0, 1);
    see(&in[1], 0, 0, 0, -3);
    see(&out, 0, 0, 0, 0);
    const struct explanation two[2] = {{&in[0].trace, &out.trace}, {&in[1].trace, &out.trace}};
    assert_near(score_ratio(&plan, &seen.trace, two),
                log(RATE * exp(density(0.5)) + (1 - RATE) * exp(density(1.5))) -
                    log(RATE * exp(density(4.5)) + (1 - RATE) * exp(density(1.5))));
}

/* Row 1 is seen where the canary is not drawn, which both data sets explain equally well: no sign of either.
 */
TEST(absence_speaks_for_nobody)
{
    struct sighting seen, in[2], out;
    see(&seen, 0, 1, 1.5, 0);
    see(&in[0], 0, 0, 0, 1);
    see(&in[1], 0, 0, 0, -3);
    see(&out, 0, 1, 0, 0);
    const struct explanation two[2] = {{&in[0].trace, &out.trace}, {&in[1].trace, &out.trace}};
    assert_near(score_ratio(&plan, &seen.trace, two), 0);
    /* With no noise left to hide it, that the canary was drawn is a sign of the set that has such a row. */
    see(&in[0], 0, 1, 0, 1);
    see(&out, 0, 0, 0, 0);
    assert_near(score_ratio(&plan, &seen.trace, two), SCORE_CERTAIN);
    const struct explanation turned[2] = {two[1], two[0]};
    assert_near(score_ratio(&plan, &seen.trace, turned), -SCORE_CERTAIN);
}

TEST(other_rows_are_certain_signs)
{
    struct sighting seen, same, other;
    see(&seen, 0, 0, 1.5, 1);
    see(&same, 0, 0, 0, 1);
    see(&other, 0, 1, 0, 1);
    const struct explanation first[2] = {{&same.trace, NULL}, {&other.trace, NULL}},
                             second[2] = {{&other.trace, NULL}, {&same.trace, NULL}},
                             neither[2] = {{&other.trace, NULL}, {&other.trace, NULL}};
    assert_near(score_ratio(&plan, &seen.trace, first), SCORE_CERTAIN);
    assert_near(score_ratio(&plan, &seen.trace, second), -SCORE_CERTAIN);
    assert_near(score_ratio(&plan, &seen.trace, neither), 0);
}

FIXTURE(begin, NULL)
