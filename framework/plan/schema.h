/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the sections of a configuration that belong to the plan, as parameter tables.
 *
 * Together with the tables of the other rooms and of the components they are the whole schema; the
 * reference pages and "dpframe describe" print them.
 */
#ifndef DPF_PLAN_SCHEMA_H
#define DPF_PLAN_SCHEMA_H

#include <stdint.h>

#include "dpframe/params.h"

enum run_param {
    RUN_OUTPUT,
    RUN_ROUNDS,
    RUN_UNTIL,
    RUN_TOLERANCE,
    RUN_SEED,
    RUN_THREADS,
    RUN_ORDER,
    RUN_UPDATE,
    RUN_FINAL_STEP,
    RUN_TRACE,
    RUN_NOISE,
    RUN_COMPARE,
    RUN_VERDICT,
    RUN_COMPARE_REPETITIONS,
    RUN_PLUGIN_DIR,
    RUN_COMM,
    RUN_CHECKPOINT,
    RUN_N_PARAMS
};
enum run_update { UPDATE_ALTERNATING, UPDATE_SIMULTANEOUS };
enum run_finish { FINAL_STEP_NONE, FINAL_STEP_USERS, FINAL_STEP_ITEMS };

enum model_param {
    MODEL_KIND,
    MODEL_RANK,
    MODEL_USER_BIAS,
    MODEL_ITEM_BIAS,
    MODEL_OFFSET,
    MODEL_OFFSET_VALUE,
    MODEL_INIT,
    MODEL_INIT_SCALE,
    MODEL_INIT_NORM,
    MODEL_USERS,
    MODEL_ITEMS,
    MODEL_RECOMMENDER,
    MODEL_AGGREGATOR,
    MODEL_HOME_TERMS,
    MODEL_N_PARAMS
};
enum model_home_terms { HOME_TERMS_NO, HOME_TERMS_YES, HOME_TERMS_ONLY };
enum model_kind { MODEL_FACTORIZATION, MODEL_POPULARITY, MODEL_MEAN, MODEL_BIASES };
enum model_offset { OFFSET_NONE, OFFSET_MIDPOINT, OFFSET_VALUE, OFFSET_MEAN };
enum model_init { INIT_NORMAL, INIT_NORMAL_BY_RANK, INIT_UNIFORM };

enum parties_param { PARTIES_KIND, PARTIES_COUNT, PARTIES_LOCAL_ITERATIONS, PARTIES_N_PARAMS };
enum parties_kind { PARTIES_CURATOR, PARTIES_SILOS_BY_USERS, PARTIES_SILOS_BY_ITEMS, PARTIES_USERS };

/* Keys of a side that concern the whole side step. */
enum side_param { SIDE_TERMS, SIDE_SOLVER, SIDE_SOLVE_AT, SIDE_UPDATE, SIDE_N_PARAMS };
enum side_site { SOLVE_AT_SERVER, SOLVE_AT_PARTY };

/* Keys of a term; a side with one term holds them itself. */
enum term_param {
    TERM_SOURCE,
    TERM_DESTINATION,
    TERM_LOSS,
    TERM_SAMPLER,
    TERM_SAMPLE_SECRECY,
    TERM_TRANSFORMS,
    TERM_MECHANISM,
    TERM_AGGREGATOR,
    TERM_RESIDUAL,
    TERM_RETURNED,
    TERM_LAYOUT,
    TERM_BLOCK_SHARES,
    TERM_GRAM_SHARE,
    TERM_BOUNDS,
    TERM_MAX_PARTICIPATIONS,
    TERM_SEND,
    TERM_N_PARAMS
};
enum term_source { SOURCE_RECORDS, SOURCE_RELATION };
enum term_destination { DESTINATION_SERVER, DESTINATION_PEER };
enum term_messages { SEND_ROWS, SEND_LINKS };
enum run_until { UNTIL_ROUNDS, UNTIL_TRAINING_ERROR, UNTIL_RELEASED_ROWS };
enum term_residual { RESIDUAL_TRANSFORMED, RESIDUAL_RAW };
enum term_returned { RETURNED_RAW, RETURNED_TRANSFORMED };
enum term_layout { LAYOUT_PACKED, LAYOUT_FULL };
enum term_bounds { BOUNDS_PUBLIC, BOUNDS_FROM_DATA };

enum accountants_param { ACCOUNTANTS_LIST, ACCOUNTANTS_N_PARAMS };

const dpf_param *schema_run(int64_t *n);
const dpf_param *schema_model(int64_t *n);
const dpf_param *schema_parties(int64_t *n);
const dpf_param *schema_side(int64_t *n);
const dpf_param *schema_term(int64_t *n);
const dpf_param *schema_accountants(int64_t *n);

/* The sections of the schema that are fixed, for describe and for suggestions. */
struct schema_section {
    const char *name;
    const char *summary;
    const dpf_param *(*params)(int64_t *n);
};
const struct schema_section *schema_sections(int64_t *n);

#endif
