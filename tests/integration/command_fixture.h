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

extern const char sound[];

/* In the shell: the exit code of a command line in the test's directory, with $D for the program. */
int shell(const char *line);

int begin(void **state);

#endif
