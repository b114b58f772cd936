/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_point.h - one point of a sweep: its inputs, and whether it is done. */
#ifndef DPF_SWEEP_SWEEP_POINT_H
#define DPF_SWEEP_SWEEP_POINT_H

#include "run/session.h"
#include "sweep/points.h"

/* What all points of a sweep share. */
struct sweep_base {
    const struct arguments *arguments; /* with the output among the overrides */
    const struct design *design;
    const char *directory; /* of the sweep */
    json_t *data_hashes;   /* of [data] by its source key: files are read once */
    json_t *privacy_keys;  /* gathered over all points */
    int dry_run;           /* writes nothing, and says of each point whether it can be run */
    int keep_config;       /* the resolved configuration is there already */
};

struct sweep_point {
    const struct point *point;
    char fingerprint[65];     /* of the resolved configuration, the plugins' files and the data's */
    char *source_key;         /* points with the same one can share parsed data */
    char *config;             /* path of the resolved configuration */
    struct dpf_error problem; /* why it cannot be run, if it cannot */
    int done;
};

/* The last row of points that was looked at. */
struct sweep_row {
    const struct point *first;
    struct dpf_error problem;
};

/* The design and the points that the configuration describes, and the configuration; free all three. NULL on
   error. */
struct config *sweep_points_read(const struct arguments *arguments, struct design *design,
                                 struct points *points, struct dpf_error *error);
/* The session of the point's configuration; close it, on failure too. */
int sweep_point_open(const struct arguments *arguments, const struct design *design,
                     const struct point *point, struct session *session, struct dpf_error *error);
/* Whether a point that is open can be run, as far as that can be told without training: 0, or the problem. Those that differ
   from it by a repetition alone (point_repeats) have the same answer. */
int sweep_point_judge(struct session *session, struct dpf_error *problem);
/* Opens the point's configuration, and writes it resolved. Problems of the point are kept in it; -1 is
   returned for those of the sweep. */
int sweep_point_prepare(const struct sweep_base *base, const struct point *point, struct sweep_point *out,
                        struct dpf_error *error);
/* Judges the point, which sweep_point_prepare has found no problem with, unless its row has been. */
void sweep_point_judge_prepared(const struct sweep_base *base, struct sweep_row *row,
                                struct sweep_point *out);
void sweep_point_free(struct sweep_point *point);

#endif
