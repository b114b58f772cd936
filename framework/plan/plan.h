/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - a validated configuration and its components, ready to run.
 *
 * A plan exists before any record is read (sizes may come from the data set, see plan_sizes), does not change
 * while the engine runs, and contains the guarantee of the run.
 */
#ifndef DPF_PLAN_PLAN_H
#define DPF_PLAN_PLAN_H

#include <jansson.h>

#include "base/error.h"
#include "base/random.h"
#include "config/config.h"
#include "data/public_files.h"
#include "plan/schema.h"
#include "plugin/registry.h"
#include "privacy/guarantee.h"
#include "privacy/ledger.h"

#define PLAN_MAX_TRANSFORMS 16

struct model_type;

/* How far a unit moves a term's message: each block, and blocks together. */
struct term_sensitivity {
    dpf_sensitivity blocks[DPF_MAX_BLOCKS];
    dpf_sensitivity gram[DPF_MAX_BLOCKS];
    dpf_joint_norm bounds[DPF_MAX_JOINT_NORMS];
    int32_t n_bounds;
};

/* A term of a side step: one chain from records to a decoded query. */
struct term_plan {
    char name[96];   /* section of its keys: "items" or "users.social" */
    int side;        /* DPF_SIDE_* that is solved */
    int source;      /* enum term_source */
    int destination; /* enum term_destination */
    int messages;    /* enum term_messages, of a relation with a mechanism */
    int raw_residual;
    int returns_transformed;       /* the run ends with the other side's rows as the loss reads them */
    int bounds_from_data;          /* sensitivities and noise are worked out anew in every step */
    uint32_t layout;               /* DPF_LAYOUT_* of released quadratic blocks */
    const dpf_value *block_shares; /* of the mechanism's budget, as configured; of no numbers: its choice */
    double gram_share;
    int secrecy; /* largest DPF_OBSERVER_* from which the configuration says that draws are hidden; -1: nobody */
    struct instance *loss;
    struct instance *sampler;    /* NULL: all take part */
    struct instance *mechanism;  /* NULL: local */
    struct instance *aggregator; /* NULL: local */
    struct instance **transforms;
    int n_transforms;
    int32_t draw_lifetime;  /* of the mechanism's noise, DPF_LIFETIME_* */
    int by_user;            /* messages must be made user by user */
    int pooled;             /* and are added at the users' silo, which sends one message for all of them */
    int64_t participations; /* how often a user takes part at most; 0: in every round */
    int whole_message;      /* some transform or the aggregator needs a party's whole message */
    int64_t rows;           /* of a message after transforms, with the Gram row */
    dpf_query query;
    dpf_query gram_query; /* layout of the Gram row */
    dpf_query sent;       /* layout of messages: the query's, or that of a factor row (plan_sends_rows) */
    dpf_bounds bounds;
    struct term_sensitivity sensitivity;
    dpf_noise_plan noise;
    int fewer_bits; /* dpf_release.fewer_bits, with which noise is planned */
    dpf_sampling sampling;
};

struct side_plan {
    int side;
    int updated;     /* 0: rows stay at their initial values */
    int released;    /* some term has a mechanism */
    int public_rows; /* every term passes a mechanism on its way to the server: rows come from releases */
    int solve_at;    /* enum side_site */
    struct term_plan *terms;
    int n_terms;
    struct instance *solver; /* NULL if not updated */
    const dpf_solver *solver_functions;
    struct instance *state_transform; /* of its only term, or NULL */
    int64_t state_rows;               /* rows that are solved: the side's, or the projection's */
    int32_t state_width;              /* the solver's numbers for each row */
    dpf_query query;                  /* of the summed terms: regularisation added up */
    float *ridge_per_count, *ridge_constant;
    double radius; /* bound on the rows' Euclidean norm, or infinity */
};

/* A component of the role recommender, in place of both sides. */
struct recommender_plan {
    struct instance *instance; /* NULL: a factorization, or a baseline */
    const dpf_recommender *functions;
    struct instance *aggregator; /* sums users' messages; NULL: the component sums them */
    dpf_recommender_setup setup;
    dpf_recommender_release releases[DPF_MAX_RELEASES];
    int32_t n_releases;
    /* With an aggregator. */
    int64_t max_curious;
    int64_t least_survivors;            /* messages that a sum has at least */
    uint64_t modulus[DPF_MAX_RELEASES]; /* of the sums of each release; 0: none is large enough */
};

/* Metrics that are released with noise; see metric_release.h. */
struct metric_release {
    int numbers; /* that are released; 0: no metric is */
    int laplace; /* the noise is discrete Laplace, else discrete Gaussian */
    /* How far one user moves them, where the largest contribution to a number is 1: a user that is added or
       removed, and a user whose records are replaced. */
    dpf_norms comes, changes;
    double epsilon; /* of this release alone, for budget = per-release */
    double share;   /* the same as a part of total-epsilon, for budget = total */
    /* Chosen by the plan. A power of two, at most 1; and a multiple of it. */
    double grid, scale;
};

/* What a model does, so that nobody asks which type it has. */
enum model_trait {
    MODEL_TRAINS = 1,        /* it learns; a baseline is counts and means, which models are compared with */
    MODEL_HAS_ROUNDS = 2,    /* between which its state can be kept */
    MODEL_RANKS_ONLY = 4,    /* its scores order items, and are no predictions of values */
    MODEL_AT_HOME = 8,       /* users' part of it is made from releases and the users' own records */
    MODEL_HAS_FORM = 16,     /* of a recommender: scores follow from its state by a formula */
    MODEL_DIVIDES = 32,      /* ranks can train it, each with its own users */
    MODEL_READS_VOIDS = 128, /* it knows which records are void; others get those that are not */
    MODEL_TELLS = 64,        /* tells observers itself what its users send, maybe without the exact numbers */
};

/* Uses that a type of model may refuse. */
enum model_use {
    USE_HELD_OUT_USERS, /* to score users that it was not trained on */
    USE_NOISY_METRICS,  /* of scores that follow from releases and a user's own records */
    USE_AUDIT,
    USE_ATTACK,
    USE_LINKS, /* with parties in processes of their own */
    MODEL_USES
};

struct model_facts {
    uint32_t has;                   /* enum model_trait */
    const char *id;                 /* of the component; "factorization" without one */
    const char *version;            /* of the component, or NULL */
    int64_t rounds;                 /* in which releases are made */
    int released[2];                /* whether a side's part of the model is among what is released */
    const char *cannot[MODEL_USES]; /* why not: a clause; NULL: it can */
    char clause[160];               /* that a clause is made in */
};

struct plan {
    struct config *config;
    struct registry *registry;
    struct random_root *seeded;
    struct random_root *privacy_root;
    struct instance_environment environment;

    int stand_in; /* see plan_options */
    struct config_values run, model, parties, privacy, data, split, accountant_list;
    struct config_values *extra[16]; /* bound by rooms above, for the resolved configuration */
    int n_extra;

    int order[2];
    int n_order;
    int64_t n_users, n_items; /* sizes used for privacy: declared, else of the data */
    int64_t n_present;        /* users that there can be: as many as a public list has, else n_users */
    int sizes_known;
    double value_lo, value_hi;
    char public_files[PUBLIC_FILES]; /* of data_public_files */
    double offset;                   /* public part; OFFSET_MEAN is added by the engine */
    int columns;                     /* of a factor row */
    int first[2], dimension[2], bias[2];

    struct side_plan sides[2];
    struct recommender_plan recommender;
    const struct model_type *type; /* for its own two tables; others read */
    struct model_facts model_facts;
    struct metric_release metrics; /* set by the caller that evaluates, before plan_complete */
    struct ledger ledger;
    struct term_facts *facts;
    struct run_facts run_facts;
    struct instance **accountants;
    int n_accountants;
    struct guarantee guarantee;
    int without_mechanisms;
    int is_party;        /* of a federation: [privacy] ledger and max-epsilon are its own, from [consent] */
    int without_records; /* the server of a federation: its empty file is no part of the resolved configuration */
    double noise_factor; /* of all mechanisms, see calibrate.h; 0: 1 */

    char *output; /* where results really go, once that is known; heap */
    /* Values bound from sections, for the resolved configuration. */
    struct config_values **bound;
    size_t bound_capacity;
    int n_bound;
    struct dpf_error *error; /* of a stage that is being made, see components.h; NULL otherwise */
};

/* Users send their own rows, each once, and those who link to them read the sent rows. */
static inline int plan_sends_rows(const struct term_plan *term)
{
    return term->source == SOURCE_RELATION && term->mechanism && term->messages == SEND_ROWS;
}

/* Each link is a message: of the friend's part of the query, to the one who links. */
static inline int plan_sends_links(const struct term_plan *term)
{
    return term->source == SOURCE_RELATION && term->mechanism && term->messages == SEND_LINKS;
}

/* Every bound value as {"section": {"key": "text"}}: the resolved configuration. New reference. */
json_t *plan_resolved(const struct plan *plan);
/*
 * The part of it that the guarantee rests on, for whoever gets the statement: what parameter tables mark so, what
 * decides a fact of the input, and the whole model. Without paths ("given" or "") and the seed of the noise.
 */
json_t *plan_stated(const struct plan *plan);
/* The resolved configuration as an INI file that repeats the run. Free it. */
char *plan_resolved_ini(const struct plan *plan);
/* The names "section.key" of bound values that affect the guarantee, as keys of an object. New reference. */
json_t *plan_privacy_keys(const struct plan *plan);
/* The pipeline in words: a few lines for each side step. Free it. */
char *plan_text(const struct plan *plan);

static inline const char *plan_side_name(int side)
{
    return side == DPF_SIDE_USERS ? "users" : "items";
}

/* Whether releases read public facts about items: [model] home-terms = only keeps these for terms made at home. */
int plan_releases_read_items(const struct plan *plan);

static inline int plan_has(const struct plan *plan, enum model_trait trait)
{
    return (plan->model_facts.has & (uint32_t)trait) != 0;
}

/* Calls visit for each component of the model and each accountant, in the order of the resolved configuration. */
void plan_visit(const struct plan *plan, void (*visit)(struct instance *instance, void *context),
                void *context);

#endif
