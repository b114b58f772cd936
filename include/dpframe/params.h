/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - typed parameters.
 *
 * Idea: a component declares a constant table of its parameters; the host reads the configuration,
 * parses every value (locale-proof), checks type and bounds, and hands over typed values in the
 * table's order. A component never sees configuration text, so a mistyped number, an unknown key or
 * a value out of range is the same clear message (file:line, bound, nearest name) for every plugin.
 *
 * Scenario:
 *     enum { P_EPSILON, P_PRECISION, P_COUNT };
 *     static const dpf_enum_value precisions[] = {{"exact", "Integers."}, {"float", "Fast, not exact."}};
 *     static const dpf_param params[P_COUNT] = {
 *         [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0, INFINITY, DPF_PARAM_PRIVACY, "",
 *                                        "Pure-DP budget of a release."),
 *         [P_PRECISION] = DPF_PARAM_ENUM_F("precision", 0, precisions, 0, "How noise is drawn."),
 *     };
 *     double eps = params->values[P_EPSILON].real;
 */
#ifndef DPFRAME_PARAMS_H
#define DPFRAME_PARAMS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parameter types (dpf_param.type). */
#define DPF_TYPE_BOOL 1      /* yes/no, true/false, on/off, 1/0     -> integer 0 or 1 */
#define DPF_TYPE_INT 2       /* 64-bit signed integer               -> integer */
#define DPF_TYPE_REAL 3      /* finite float64, or "inf" if allowed -> real */
#define DPF_TYPE_ENUM 4      /* one of the named values             -> integer: index into values */
#define DPF_TYPE_STRING 5    /* any text                            -> text */
#define DPF_TYPE_PATH 6      /* relative to the config file         -> text: absolute path */
#define DPF_TYPE_INT_LIST 7  /* comma-separated                     -> integers, count */
#define DPF_TYPE_REAL_LIST 8 /* comma-separated                     -> reals, count */

/* Parameter flags. */
#define DPF_PARAM_PRIVACY UINT32_C(1)  /* affects the guarantee: always part of the report */
#define DPF_PARAM_REQUIRED UINT32_C(2) /* there is no default */
#define DPF_PARAM_OPEN_LO UINT32_C(4)  /* the lower bound itself is not allowed */
#define DPF_PARAM_OPEN_HI UINT32_C(8)  /* the upper bound itself is not allowed */
#define DPF_PARAM_DEPRECATED UINT32_C(16)
#define DPF_PARAM_SIMULATES UINT32_C(32) /* other values than the default are for simulations only */

typedef struct dpf_enum_value {
    const char *name;
    const char *help; /* one sentence */
} dpf_enum_value;

/*
 * One parameter. Numbers are bounded by [lo, hi] (each end open if flagged); lists bound each
 * element. default_text is parsed like a configured value and serves strings, paths and lists.
 */
typedef struct dpf_param {
    const char *name;
    int32_t type;   /* DPF_TYPE_* */
    uint32_t flags; /* DPF_PARAM_* */
    double lo;
    double hi;
    double default_real;
    int64_t default_integer; /* bool, int, and the index of an enum's default */
    const char *default_text;
    const dpf_enum_value *values; /* enum: its values */
    int64_t n_values;
    const char *unit; /* "" if it has none */
    const char *help; /* one or two sentences */
} dpf_param;

/* One parsed value. Pointers stay valid until the instance is destroyed. */
typedef struct dpf_value {
    int32_t type;
    int32_t is_set; /* 1 if the configuration sets it, 0 if this is the default */
    int64_t integer;
    double real;
    const char *text;
    const double *reals;
    const int64_t *integers;
    int64_t count; /* elements of a list */
    uint64_t reserved;
} dpf_value;

/* All values of one component, in the order of its parameter table. */
typedef struct dpf_params {
    uint32_t size; /* sizeof(dpf_params) of the host */
    uint32_t n_values;
    const dpf_value *values;
} dpf_params;

/* Sugar for tables; not part of the ABI. */
#define DPF_PARAM_REAL_F(NAME, DEF, LO, HI, FLAGS, UNIT, HELP)                                               \
    {                                                                                                        \
        NAME, DPF_TYPE_REAL, FLAGS, LO, HI, DEF, 0, NULL, NULL, 0, UNIT, HELP                                \
    }
#define DPF_PARAM_INT_F(NAME, DEF, LO, HI, FLAGS, UNIT, HELP)                                                \
    {                                                                                                        \
        NAME, DPF_TYPE_INT, FLAGS, LO, HI, 0.0, DEF, NULL, NULL, 0, UNIT, HELP                               \
    }
#define DPF_PARAM_BOOL_F(NAME, DEF, FLAGS, HELP)                                                             \
    {                                                                                                        \
        NAME, DPF_TYPE_BOOL, FLAGS, 0.0, 1.0, 0.0, DEF, NULL, NULL, 0, "", HELP                              \
    }
/* VALUES is an array of dpf_enum_value, DEF the index of the default. */
#define DPF_PARAM_ENUM_F(NAME, DEF, VALUES, FLAGS, HELP)                                                     \
    {                                                                                                        \
        NAME, DPF_TYPE_ENUM, FLAGS, 0.0, 0.0, 0.0, DEF, NULL, VALUES,                                        \
            (int64_t)(sizeof(VALUES) / sizeof((VALUES)[0])), "", HELP                                        \
    }
#define DPF_PARAM_LIST_F(NAME, TYPE, DEF_TEXT, LO, HI, FLAGS, UNIT, HELP)                                    \
    {                                                                                                        \
        NAME, TYPE, FLAGS, LO, HI, 0.0, 0, DEF_TEXT, NULL, 0, UNIT, HELP                                     \
    }
#define DPF_PARAM_TEXT_F(NAME, TYPE, DEF_TEXT, FLAGS, HELP)                                                  \
    {                                                                                                        \
        NAME, TYPE, FLAGS, 0.0, 0.0, 0.0, 0, DEF_TEXT, NULL, 0, "", HELP                                     \
    }

#ifdef __cplusplus
}
#endif
#endif
