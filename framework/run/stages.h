/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - where the time of a run goes: stages that follow one another without a gap, so that they add up.
 *
 * Times tell about the data. They are for the curator: run.json is not covered by a guarantee.
 */
#ifndef DPF_RUN_STAGES_H
#define DPF_RUN_STAGES_H

#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

enum stage {
    STAGE_CONFIGURE, /* configuration, plugins, calibration of noise */
    STAGE_LOAD,      /* records, their split, and the hash of the file */
    STAGE_PLAN,
    STAGE_TRAIN,
    STAGE_EVALUATE, /* and the models that [run] compare names */
    STAGE_BUDGETS,  /* of records by privacy weight */
    STAGE_WRITE,
    STAGE_VERDICT, /* the models that the verdict needs */
    STAGES
};
extern const char *const stage_names[STAGES];

struct stages {
    struct stage_cost {
        double wall, cpu; /* seconds; of all threads */
        double bytes;     /* that were read from files and written to them, or that the work must move */
        double flops;     /* that the work takes; 0: not known */
        double stream;    /* bytes of random stream that the host made; none are counted without --profile */
    } at[STAGES];
    enum stage now;
    struct stage_cost since; /* clocks and counters when it began */
};

/* whole: from the start of the process, to within a hundredth of a second, else from now. */
void stages_begin(struct stages *stages, int whole);
/* Ends the stage, and begins another one or goes on with it. */
void stages_enter(struct stages *stages, enum stage next);
/* Seconds of each stage by name, and their sum as "total". New reference. */
json_t *stages_json(const struct stages *stages);
/* What the machine can do at most; 0: not known. */
struct machine_limits {
    double bytes;  /* moved a second, by all processors */
    double flops;  /* a second, by each */
    double stream; /* bytes of keystream a second, by each */
};
/* From the JSON file that "scripts/bench machine" writes. */
int machine_limits_read(const char *path, struct machine_limits *out, struct dpf_error *error);
/* A table for people: each stage with its share of the time, processors in use, bytes, operations and bytes of random
   stream, and how near the largest share of a limit came to it. */
void stages_print(const struct stages *stages, const struct machine_limits *limits, int threads);

#endif
