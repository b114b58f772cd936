/* SPDX-License-Identifier: Apache-2.0 */
#include "integration/command_fixture.h"

const char sound[] = "[run]\nrounds = 3\nthreads = 2\noutput = out\n" SYNTHETIC REST;

int shell(const char *line)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && D='%s/dpframe' && %s", training_directory,
             getenv("DPFRAME_BUILD_DIR"), line);
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int begin(void **state)
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
