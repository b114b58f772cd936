/* SPDX-License-Identifier: Apache-2.0 */
/* What solvers are told about the noise in their blocks, against the noise plan. */
#include "kit/test.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 1\norder = items\noutput = none\n"
    "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 40\n"
    "synthetic.items = 10\nsynthetic.ratings = 400\n"
    "[model]\nrank = 3\ninit = normal\ninit-norm = 1\nusers = 40\nitems = 10\n"
    "[parties]\nkind = curator\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[items]\nsolver = test-tells-variance\naggregator = sum\nmechanism = gaussian\n"
    "[items.mechanism]\ncalibration = sigma\nsigma = 3\nwhere = sum\n"
    "[accountants]\nlist = rdp\n";

#define GRADIENT "items.loss=squared-error\nitems.transforms=clip-user\n"
#define GRAM "items.loss=implicit-als\nitems.transforms=clip-user\n"

/* The row that all items have; the plan's noise. */
static void assert_told(const char *changes, double first, double last, double gram, double factor)
{
    struct training t;
    training_run(&t, base, changes);
    const dpf_noise_plan *noise = &t.plan.sides[DPF_SIDE_ITEMS].terms[0].noise;
    const float *row = training_row(&t, DPF_SIDE_ITEMS, 3);
    assert_float_equal(row[0], first, 1e-4 * fabs(first));
    assert_float_equal(row[1], last, 1e-4 * fabs(last));
    assert_float_equal(row[2], gram, 1e-4 * fabs(gram));
    if (first >= 0)
        assert_float_equal(row[0], noise->variance[0] * factor, 1e-5 * noise->variance[0]);
    training_free(&t);
}

TEST(test_curator)
{
    assert_told(GRADIENT, 9, 9, -1, 1);
    /* The Gram row has no share of a given sigma, and so no noise. */
    assert_told(GRAM, 9, 9, 0, 1);
    assert_told(GRAM "items.gram-share=0.5", 9, 9, 9, 1);
}

/* Noise at the sum does not need anybody to send: were a solver told that there is none, its rows would show
   that nobody took part. Of 40 users each is drawn with probability 1e-9. */
TEST(test_nobody_sends)
{
    assert_told(GRADIENT "items.sampler=poisson-users\nitems.sampler.rate=1e-9", 9, 9, -1, 1);
    assert_told(GRAM "items.sampler=poisson-users\nitems.sampler.rate=1e-9\nitems.gram-share=0.5", 9, 9, 9,
                1);
}

/* Each of the 40 users adds noise; their sum is scaled by 1/40. */
TEST(test_users)
{
    const char users[] = GRADIENT "parties.kind=users\nitems.mechanism.where=party\n";
    char mean[256];
    assert_told(users, 360, 360, -1, 1);
    snprintf(mean, sizeof mean, "%sitems.aggregator=mean", users);
    assert_told(mean, 360.0 / 1600, 360.0 / 1600, -1, 1.0 / 1600);
}

/* An isometry keeps the variance of noise that is alike in all numbers; noise of two sizes is not alike. */
TEST(test_transforms)
{
    assert_told(
        "items.loss=squared-error\nitems.transforms=clip-user, hadamard-flatten\nparties.kind=users\n", 9, 9,
        -1, 1);
    struct training t;
    training_run(&t, base,
                 "items.loss=explicit-als\nitems.transforms=clip-user, hadamard-flatten\nparties.kind=users\n"
                 "items.transform.clip-user.block-bounds=1, 4, 2\n"
                 "items.mechanism.calibration=noise-multiplier\nitems.mechanism.noise-multiplier=1");
    assert_float_equal(training_row(&t, DPF_SIDE_ITEMS, 3)[0], -2, 0);
    training_free(&t);
}

/* A side that releases nothing has no noise. */
TEST(test_local)
{
    assert_told("items.loss=squared-error\nitems.mechanism=\nitems.aggregator=\nprivacy.budget=per-release",
                -1, -1, -1, 1);
}

FIXTURE(training_begin, training_end)
