/* SPDX-License-Identifier: Apache-2.0 */
/* command_fixture.h - a run that works, and the program in a shell. */
#ifndef INTEGRATION_COMMAND_FIXTURE_H
#define INTEGRATION_COMMAND_FIXTURE_H

#include "kit/test.h"
#include "base/files.h"
#include "kit/spawned.h"
#include "kit/training.h"

#define SYNTHETIC                                                                                            \
    "[data]\nformat = synthetic\nsynthetic.users = 120\nsynthetic.items = 60\nsynthetic.ratings = 2000\n"    \
    "value-min = 1\nvalue-max = 5\n"
#define REST                                                                                                 \
    "[split]\nkind = random\nfraction = 0.2\n"                                                               \
    "[model]\nusers = 120\nrank = 3\noffset = midpoint\n"                                                    \
    "[parties]\nkind = users\n"                                                                              \
    "[users]\nloss = explicit-als\nsolver = cholesky\n"                                                      \
    "[users.loss]\nlambda = 0.2\n"                                                                           \
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = "                 \
    "gradient-descent\n"                                                                                     \
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"                 \
    "[items.solver]\nrate = 0.01\n"                                                                          \
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"                    \
    "[accountants]\nlist = rdp\n"                                                                            \
    "[evaluate]\nmetrics = rmse, mae\n"

static const char sound[] = "[run]\nrounds = 3\nthreads = 2\noutput = out\n" SYNTHETIC REST;

/* In the shell: the exit code of a command line in the test's directory, with $D for the program. */
static inline int shell(const char *line)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && D='%s/dpframe' && %s", training_directory,
             getenv("DPFRAME_BUILD_DIR"), line);
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("sound.ini", sound);
    training_file("diverging.ini",
                  "[run]\nrounds = 50\noutput = out\n" SYNTHETIC "[split]\nkind = none\n[model]\nrank = 3\n"
                  "[users]\nloss = squared-error\nsolver = gradient-descent\n"
                  "[users.solver]\nrate = 100\n"
                  "[items]\nloss = squared-error\nmechanism = none\nsolver = gradient-descent\n"
                  "[items.solver]\nrate = 100\n");
    training_file("unknown.ini", "[model]\nrank = 3\nitem-bais = yes\n" SYNTHETIC);
    training_file("wrong-type.ini", "[model]\nrank = many\n" SYNTHETIC);
    return 0;
}

#endif
