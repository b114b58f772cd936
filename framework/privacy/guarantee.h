/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guarantee.h - conditions, accountants, and the statement.
 *
 * facts: what the plan knows about the run for the conditions. They follow from the components' declarations
 * and the flow of data, never from plugin names.
 */
#ifndef DPF_PRIVACY_GUARANTEE_H
#define DPF_PRIVACY_GUARANTEE_H

#include <jansson.h>

#include "base/error.h"
#include "base/sheet.h"
#include "config/config.h"
#include "plugin/registry.h"
#include "privacy/data_ledger.h"
#include "privacy/ledger.h"
#include "privacy/reach.h"

const dpf_param *privacy_params(int64_t *n); /* section [privacy] */
/* Indices into that table that others need. */
enum privacy_param {
    PRIVACY_UNIT,        /* record | user */
    PRIVACY_ADJACENCY,   /* replace-value | flip | replace | add-remove | zero-out */
    PRIVACY_OBSERVER,    /* outsider | server | parties */
    PRIVACY_MIN_HONEST,  /* noise in shares: honest parties in each sum; 0: all but the curious */
    PRIVACY_MAX_CURIOUS, /* parties that may work with the observer */
    PRIVACY_DELTA,       /* of the proved statement; must be stated unless the run is pure or not private */
    PRIVACY_RANDOMNESS,  /* secure | reproducible */
    PRIVACY_NOISE_SEED,  /* for reproducible */
    PRIVACY_INTERACTION_PATTERN, /* private | public: is it public who rated what? */
    PRIVACY_ID_LISTS,            /* private | public: is it public which users and items occur? (C11) */
    PRIVACY_TUNING,       /* unaccounted | public-data | accounted: how hyper-parameters were chosen (C10) */
    PRIVACY_ON_VIOLATION, /* auto | zero | error: the effect of a fault in a protected record (C12) */
    PRIVACY_BUDGET,       /* per-release | total */
    PRIVACY_TOTAL_EPSILON,
    PRIVACY_CALIBRATE_BY, /* accountant that the noise of budget = total is chosen by */
    PRIVACY_LEDGER,       /* file that adds up the epsilons of all runs on the data */
    PRIVACY_MAX_EPSILON,  /* that they may have together; 0: no limit */
    PRIVACY_LEDGER_RUNS,  /* adaptive | planned: how runs in the ledger were chosen */
    PRIVACY_N_PARAMS
};

enum privacy_on_violation { ON_VIOLATION_AUTO, ON_VIOLATION_ZERO, ON_VIOLATION_ERROR };
enum privacy_budget { BUDGET_PER_RELEASE, BUDGET_TOTAL };

#define N_CONDITIONS 12

/* The source of a release's inputs other than the records (C2). */
enum provenance {
    FROM_CONSTANT,   /* public constants, initial values */
    FROM_RELEASES,   /* computed only from earlier releases and constants */
    FROM_OWN_RECORD, /* the unit's own local row, its whole contribution clipped */
    FROM_RAW_DATA    /* anything else: private */
};

/* One term that releases something. */
struct term_facts {
    char name[64];           /* "items" or "users.social" */
    int bounded;             /* every bound in the sensitivity is a public constant (C1) */
    char unbounded_why[320]; /* which one is not, and what would bound it */
    enum provenance reads;   /* C2 */
    char reads_why[320];     /* e.g. "item factors are computed from the raw ratings in every round" */
    int has_mechanism;
    int noise_known;       /* C4 */
    int noise_where;       /* DPF_NOISE_* (C5) */
    int sees;              /* DPF_SEES_* of the aggregator; SEES_SUM for a single curator (C5) */
    int single_curator;    /* one trusted party holds all records */
    int to_peers;          /* users receive the messages, not the server */
    dpf_sampling sampling; /* C6 */
    int support_observed;  /* C8: only rated cells contribute */
    int loses_cells;       /* C8: those of void records do not */
    int reads_degrees;     /* C8: a solver reads record counts */
    int exact_grid;        /* C9: noise on the integer grid, exact sampler */
    int unit_stated;       /* C7: the sensitivity for the asked unit and adjacency is a number */
    char unit_why[320];
    int dense;            /* C8: every message has noise on every row, whoever rated what */
    int64_t spare_shares; /* C5: shares of noise that may be known or missing with enough left; 0: unknown */
    int sends_several; /* C5: a party sends a message for each of its users, and so knows as many shares of noise */
    /* C8, where it is to be hidden that a user takes part at all: */
    int row_each;       /* a row of its own is released for each user */
    int sent_by_users;  /* each user sends a message, and somebody else receives it */
    int counts_users;   /* releases depend on the exact number of users that sent */
    int noise_by_users; /* each user who takes part adds noise: its amount is that of the users */
    /* C12: */
    int64_t stops_below;  /* with fewer messages than this the run stops; up to 1: never */
    int sum_may_overflow; /* no public bound keeps sums within 64 bits */
    char overflow_why[192];
    int component_may_stop; /* a recommender that does not promise to end whatever the records are */
};

struct run_facts {
    const struct term_facts *terms;
    int n_terms; /* terms that release; 0: nothing private is released, or nothing is protected */
    int64_t rounds;
    int released_raw; /* a side's factors are released without any mechanism */
    char released_raw_why[320];
    int local_users;     /* the user side stays with its parties: joint DP */
    int secure;          /* C9: noise from the system's generator */
    int public_features; /* C2: components may read [data] item-features, declared public */
    /* What the whole input would decide, by condition: the facts that the promise does not allow, with the keys
       that declare them (reading/input_facts.h); "": none. */
    char not_allowed[N_CONDITIONS][1024];
    int cells_public; /* C8: who rated what may show, since neighbours have the same cells */
    /* Facts that the proof treats as known to the observer, or fixed; for the statement. Sentences, one a
       line. */
    char taken_as_public[2048];
};

struct condition {
    const char *id; /* "C1" */
    const char *title;
    int holds;
    char why[1024]; /* sentences a privacy officer understands, and the remedy if it fails */
};

/* One answer of one accountant. */
struct account {
    char accountant[32];
    int is_claim;
    int refused;       /* reason says why, answer nothing */
    char reason[1024]; /* the accountant's own sentence, without a place in a file */
    dpf_answer answer;
};

/* A private selection among candidates, which releases the best of several runs. */
struct selection_summary {
    int known; /* 0: there is none */
    int64_t candidates;
    char metric[48];
    char law[128]; /* of the number of runs, in words */
    double alone;  /* epsilon of one run of the costliest candidate without a selection; NaN: none */
    char alone_accountant[32]; /* who says so */
    double share;  /* total-epsilon of each candidate, chosen from that of the selection; NaN: not */
    json_t *parts; /* of the certificate: the law and each candidate's configuration. Not owned */
};

struct guarantee {
    int unit, adjacency, observer;
    double delta;
    int joint;
    int reproducible;
    struct condition conditions[N_CONDITIONS];
    int64_t max_curious; /* parties that may work with the server; -1: any number, no noise is in shares */
    int n_releases;      /* terms that release with a mechanism */
    int released_raw;    /* factors leave without any mechanism: nothing is protected */
    char taken_as_public[2048];
    int delta_is_default;
    int tuning_stated;   /* C10 holds because tuning is accounted for, not because the text warns of it */
    int zero_violations; /* the effective on-violation: faults of single records stop nothing */
    int plan_holds;      /* all but C9 */
    int run_holds;       /* and C9, and no deviation */
    struct account *accounts;
    int n_accounts;
    char deviation[256];
    double weight_lo, weight_hi; /* declared range of privacy weights; both 1 (or 0): there are none */
    double noise_factor;         /* chosen by budget = total; 0: none was */
    int64_t trainings;           /* that are counted, where the verdict draws noise again; 0: one */
    double alone;                /* epsilon that is proved of one of them; 0: none is */
    int64_t repeats;    /* rounds that an interruption ended and that were made again: all are counted */
    struct reach reach; /* groups and tests, by reach_measure */
    struct data_budget budget; /* of all runs on the data, by data_ledger_open */
    struct selection_summary selection;
};

/* How what the observer sees of a term shows each user, or how many there are; NULL: it does not. */
const char *term_shows_users(const struct term_facts *term, int observer);
/* Evaluates the conditions. Leaves the accounts alone. */
void guarantee_conditions(const struct config_values *privacy, const struct run_facts *facts,
                          const struct ledger *ledger, struct guarantee *out);
/* Runs each accountant over the ledger and adds its answers. */
int guarantee_account(struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const struct ledger *ledger, int64_t rounds, struct dpf_error *error);
/*
 * The least epsilon at delta that an accountant proves of these events, for the guarantee's unit, adjacency
 * and observer; infinite if none does. name gets its id, or "". Whether conditions hold is for others to say.
 */
int guarantee_compose(const struct guarantee *guarantee, struct instance *const *accountants, int n,
                      const dpf_event *events, int64_t n_events, double delta, double *epsilon, char name[32],
                      struct dpf_error *error);
void guarantee_free(struct guarantee *guarantee);

/*
 * {"published": [{"epsilon","delta","unit","source"}],
 *  "proved": [{"accountant","epsilon","delta","unit","adjacency","observer",...}] or [],
 *  "conditions": [{"id","holds","why"}], ...}. proved is empty unless plan_holds; a run whose noise
 * is reproducible marks each proved entry "plan": true (it is the guarantee of the plan with secure noise).
 */
json_t *guarantee_json(const struct guarantee *guarantee);
/* guarantee.txt: plain words. Free it. */
char *guarantee_text(const struct guarantee *guarantee);
/* The same for lines of that width, at least 40. */
char *guarantee_text_wide(const struct guarantee *guarantee, int width);
/* Whether there is any noise, so that there is something to state. */
int guarantee_protects(const struct guarantee *guarantee);
/* The text where there is none: one line. Free it. */
char *guarantee_line(const struct guarantee *guarantee);
/* Whether neighbours of that kind are defined for the unit. */
int guarantee_pair_exists(int unit, int adjacency);

/* The same as one row of a table, with the least epsilon of the claims and of the proofs (of the plan: C9 is
 * among those that fail where noise is reproducible), and the columns of such a table. */
void guarantee_row_columns(struct sheet *out);
void guarantee_row(const struct guarantee *guarantee, const char *name, struct sheet *out);

/* Six digits of an epsilon or a delta, never below the value (but for the last 1e-11 of it). A literal or
 * buffer. */
const char *guarantee_number_up(double value, char buffer[32]);
/* The same with so many digits, 3 to 10. */
const char *guarantee_digits_up(double value, int digits, char buffer[32]);

#endif
