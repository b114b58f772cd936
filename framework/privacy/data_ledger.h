/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_ledger.h - what all runs on one data set have spent together: [privacy] ledger.
 *
 * The first line of the file states the unit, adjacency and observer, where the lists of users and items come
 * from, which facts about the data the runs declare public, and how many parties may be curious. All runs
 * must agree on these: a run that protects less bounds nothing for the neighbours that it leaves out, so no
 * sum with it would hold for them. The ids of a catalogue may change from run to run: they do not depend on
 * the data, and a user or item outside a catalogue contributes nothing to that run.
 *
 * Each run has one line of JSON. It adds its epsilon and delta before it releases anything, under a lock and
 * synced to the disk. Epsilons and deltas of runs add up (basic composition; each run may depend on earlier
 * releases). The sum holds if each run's noise is independent of that of all others. Two runs with
 * reproducible noise of one seed share their noise, and their difference has none, so such runs are refused.
 *
 * The line also has the run's events. If all runs were fixed beforehand (ledger-runs = planned), the
 * accountants compose all releases of all runs, at the sum of the deltas, which gives less. Both are stated.
 * Adaptive runs need the first: accountants assume that noise and number of releases are fixed, and for a run
 * that depends on earlier releases only the sum of epsilons is known to hold (Rogers, Roth, Ullman, Vadhan,
 * NIPS 2016, section 3).
 *
 * A charge stays, even if the run failed: it may have released something. An incomplete line belongs to a run
 * that released nothing, and is dropped.
 */
#ifndef DPF_PRIVACY_DATA_LEDGER_H
#define DPF_PRIVACY_DATA_LEDGER_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct guarantee;
struct instance;
struct ledger;

struct data_budget {
    int known;          /* 0: there is no such file in the configuration */
    int64_t runs;       /* before this one */
    double epsilon;     /* of them */
    double delta;       /* of them */
    double own_epsilon; /* of this run, and its delta */
    double own_delta;
    double composed; /* epsilon of all of them, this one included, at the sum of deltas; NaN: not known */
    char composed_by[32]; /* the accountant */
    int planned;          /* max-epsilon is judged by it */
    int joint;            /* some run leaves a person's own rows to the person */
    double most;          /* that all may have together; 0: no limit */
    int is_party;         /* the runs are those that a party of a federation has joined */
    char path[256];
};

/*
 * A run that goes on from a checkpoint. Its line names the process that wrote the checkpoint: whoever goes on
 * from a copy of it releases the later rounds a second time, and would pay for one of them only. A process that
 * ends before its own first checkpoint leaves that of the other, which has its claim, so it can be resumed again.
 */
struct data_ledger_resumption {
    const char *checkpoint; /* the file */
    const char *process;    /* that wrote it */
    const char *by;         /* the process that goes on */
    const json_t *claims;   /* in the file: strings, those that went on from it, and this one */
};

struct data_ledger_request {
    const struct config_values *privacy; /* of [privacy], for messages */
    const char *path;
    double most; /* 0: no limit */
    int planned; /* runs were fixed before the first of them */
    const struct guarantee *guarantee;
    const struct ledger *ledger; /* of this run */
    struct instance *const *accountants;
    int n_accountants;
    const char *declared; /* to be public, beyond the adjacency: "" or names of keys of [privacy] */
    /* Where the lists come from, in words that are the same if and only if the assumption is. */
    const char *users, *items;
    const char *name; /* tells runs apart for the reader */
    int charge;
    int is_party; /* the limit is [consent] max-epsilon, and whoever reads a refusal decides about one party */
    const struct data_ledger_resumption *resumption; /* NULL: the run begins */
};

/*
 * Reads what is spent, and fails (DPF_FAULT_CONFIG) if this run would not fit: a guarantee that is not
 * proved, or no finite epsilon; reproducible noise; a file for another unit, adjacency or observer, or for
 * runs that take something else to be public; more than `most` together; a checkpoint that was resumed before.
 * With `charge` it adds the run. The file is made if it is not there
 * and there is something to charge.
 */
int data_ledger_open(const struct data_ledger_request *request, struct data_budget *out,
                     struct dpf_error *error);

#endif
