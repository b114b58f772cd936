/* SPDX-License-Identifier: Apache-2.0 */
/* What the five papers claim of the shipped configurations, against numbers worked out by hand from the
 * papers. */
#include "kit/test.h"
#include "base/files.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const struct {
    const char *config;
    double epsilon, delta;
} claims[] = {
    /* Theorem 3: all of epsilon = 1 to the first-order coefficients of one round. */
    {"dpimf-opt", 1, 0},
    /* Theorem 2: phi_max = 1.4898806, weight 2: ln(1 + (e^1.4898806 - 1)/2) = 1. */
    {"dpimf-opt-is", 1, 0},
    {"dpimf-opt-uniform", 1, 0},
    /* Theorem 2: epsilon = 1 for a record of weight 1. */
    {"hdpmf", 1, 0},
    /* Eq. 9: slope J D^2/(2 sigma^2), sigma = D/epsilon_i sqrt(2 ln(1.25/delta)), epsilon_i = .4, delta =
       .01, J = 100 steps: 100 * .16/(4 ln 125) = .828447; and 2 sqrt(.828447 ln 1e5) = 6.176680. */
    {"gaussian-rdp", 7.005127, 1e-5},
    /* Eq. 18: theta = 1/4 and order 2 give 4; q = 1, p = 841 rows of k = 14, beta n = 94.3: 4 * 11774/94.3 =
       499.427360; and ln 1e5 = 11.512925. */
    {"dpmf-rp", 510.940285, 1e-5},
    /* The same budget, by thetas of four digits: theta^2/(1-2 theta)^4 = .010605680 of beta n = 1; .500265946 of p = 1682. */
    {"dpmf-rp-case2", 510.998050, 1e-5},
    {"dpmf-rp-case3", 511.205927, 1e-5},
    /* Theorem 1: 1/(1/1.5 + 1/3) = 1; Theorem 2: 1. */
    {"privsr", 1, 0},
};

TEST(configurations_state_what_the_papers_do)
{
    training_file("ratings.txt", "1 1 3\n2 1 4\n2 2 1\n");
    training_file("links.txt", "1 2 1\n");
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        char arguments[1024];
        /* Claims follow from sizes, so no data set is needed; PrivSR has to open one all the same. */
        snprintf(arguments, sizeof arguments,
                 "account -c %s/configs/papers/%s.ini --json -o model.users=943 -o model.items=1682%s",
                 getenv("DPFRAME_SOURCE_DIR"), claims[i].config,
                 strcmp(claims[i].config, "privsr") == 0
                     ? " -o data.path=ratings.txt -o data.relation.path=links.txt"
                     : "");
        command_expect(arguments, 0, "");
        json_t *statement = command_json(NULL);
        const json_t *first = json_array_get(json_object_get(statement, "published"), 0);
        const double epsilon = json_number_value(json_object_get(first, "epsilon"));
        const double delta = json_number_value(json_object_get(first, "delta"));
        /* Noise has at least the scale that is asked for, rounded up to its grid. */
        if (!(epsilon <= claims[i].epsilon * (1 + 1e-6) && epsilon >= claims[i].epsilon * (1 - 1e-6) &&
              delta == claims[i].delta))
            fail_msg("%s: (%.9g, %g) instead of (%.9g, %g)", claims[i].config, epsilon, delta,
                     claims[i].epsilon, claims[i].delta);
        json_decref(statement);
    }
}

FIXTURE(training_begin, training_end)
