/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the conformance kit: rules, outcomes, and what rules share.
 *
 * A rule is a function that looks at one file or one component and settles on an outcome. Each runs
 * in a child process of its own, so a rule may crash, hang, or leave the process in any state. Ids
 * are stable; docs/rules.md explains them.
 */
#ifndef DPF_CONFORMANCE_CHECK_H
#define DPF_CONFORMANCE_CHECK_H

#include <stdint.h>

#include "base/error.h"
#include "plugin/registry.h"

/* How much of a loop: all of it, or few in a sanitized build, which looks at memory, that the first rounds touch as the last do. */
#ifdef CHECK_SANITIZED
#define CHECK_CASES(all, few) (few)
#else
#define CHECK_CASES(all, few) (all)
#endif

enum check_outcome { CHECK_PASS, CHECK_WARN, CHECK_FAIL, CHECK_CRASH, CHECK_SKIP };
#define N_CHECK_OUTCOMES 5
extern const char *const check_outcome_names[N_CHECK_OUTCOMES];

struct check {
    const char *path;
    uint64_t seed;
    const char *const *settings; /* "key=value", used for every component that has the key */
    int n_settings;

    /* Rules of components only. */
    struct registry_entry entry;
    struct random_root *seeded;
    struct random_root *privacy;

    struct check_kept *kept; /* what the rule owns: see check_tools.h */

    enum check_outcome outcome; /* starts as pass; the worst report stays */
    char text[700];
};

/* Reports; the first report of the worst outcome is kept. All return -1 for "return check_fail(...)". */
int check_fail(struct check *check, const char *format, ...) DPF_PRINTF(2, 3);
int check_warn(struct check *check, const char *format, ...) DPF_PRINTF(2, 3);
/* The rule does not apply; kept only if nothing else was reported. */
int check_skip(struct check *check, const char *format, ...) DPF_PRINTF(2, 3);

struct check_rule {
    const char *id;
    const char *role; /* DPF_ROLE_*: components of that role; "": all components; NULL: the file */
    void (*run)(struct check *check);
    const char *summary;
};

/* The rules of one source file, in order. */
struct check_rules {
    const struct check_rule *rules;
    int n;
};
#define CHECK_RULES(ARRAY)                                                                                   \
    {                                                                                                        \
        (ARRAY), (int)(sizeof(ARRAY) / sizeof((ARRAY)[0]))                                                   \
    }

extern const struct check_rules check_file_rules;   /* symbols, loading, descriptors */
extern const struct check_rules check_create_rules; /* making and freeing instances */
extern const struct check_rules check_run_rules;    /* whatever holds for every [run] callback */
extern const struct check_rules check_loss_rules;
extern const struct check_rules check_sampler_rules;
extern const struct check_rules check_transform_rules;
extern const struct check_rules check_mechanism_rules;
extern const struct check_rules check_aggregator_rules;
extern const struct check_rules check_solver_rules;
extern const struct check_rules check_accountant_rules;
extern const struct check_rules check_recommender_rules;
extern const struct check_rules check_comm_rules;

#endif
