/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guarantee.txt: what the publication states beside what is proved, then the reasons. Everything is
 * wrapped at 100 columns; numbers are rounded up, never down.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dpframe/accounting.h"
#include "privacy/guarantee.h"
#include "privacy/statement.h"

#define PAGE 100 /* of guarantee.txt */
#define GUTTER 4
#define LARGE 20.0 /* from here on epsilon is next to none: e^20 is half a billion */

/* ---- layout ------------------------------------------------------------------------------------- */

static int trimmed(const char *line, int length)
{
    while (length > 0 && line[length - 1] == ' ')
        length--;
    return length;
}

/* The next line of at most width characters; cuts at spaces where it can. Returns its length. */
static int next_line(const char **cursor, int width, const char **line)
{
    const char *at = *cursor;
    *line = at;
    int length = (int)strcspn(at, "\n");
    if (length <= width) {
        *cursor = at + length + (at[length] == '\n');
        return trimmed(at, length);
    }
    int cut = width;
    while (cut > 0 && at[cut] != ' ')
        cut--;
    if (cut == 0)
        cut = width;
    *cursor = at + cut + strspn(at + cut, " ");
    return trimmed(at, cut);
}

/* first starts the first line, the others are indented to its length. */
static void add_wrapped(struct text *out, int width, const char *first, const char *body)
{
    const int indent = (int)strlen(first);
    const char *cursor = body, *line;
    for (int i = 0; i == 0 || *cursor; i++) {
        const int length = next_line(&cursor, width - indent, &line);
        text_add(out, "%*s%.*s\n", indent, i == 0 ? first : "", length, line);
    }
}

static void add_columns(struct text *out, int width, const char *left, const char *right)
{
    const int column = (width - GUTTER) / 2;
    while (*left || *right) {
        const char *a, *b;
        const int n = next_line(&left, column, &a), m = next_line(&right, column, &b);
        if (m > 0)
            text_add(out, "%-*.*s%*s%.*s\n", column, n, a, GUTTER, "", m, b);
        else
            text_add(out, "%.*s\n", n, a);
    }
}

const char *guarantee_digits_up(double value, int digits, char buffer[32])
{
    double printed = 0.0;
    if (isinf(value))
        return "infinity";
    snprintf(buffer, 32, "%.*g", digits, value);
    if (text_to_real(buffer, &printed) == 0 && printed < value * (1.0 - 1e-11))
        snprintf(buffer, 32, "%.*g", digits, value * (1.0 + 5.01 * pow(10.0, -digits)));
    return buffer;
}

const char *guarantee_number_up(double value, char buffer[32])
{
    return guarantee_digits_up(value, 6, buffer);
}

/* ---- sentences ---------------------------------------------------------------------------------- */

static const char *unit_sentence(int unit, int adjacency)
{
    if (!guarantee_pair_exists(unit, adjacency))
        return "nothing: this adjacency does not exist for this unit (C7).";
    switch (adjacency) {
    case DPF_ADJ_REPLACE_VALUE:
        return "the value of one record: one rating of one user. Who rated what is not protected.";
    case DPF_ADJ_FLIP:
        return "one implicit record, which is all lines of one user and item: whether a user interacted with "
               "an item.";
    case DPF_ADJ_REPLACE:
        return "one user: all records of a user may be replaced by any others.";
    case DPF_ADJ_ADD_REMOVE:
        return unit == DPF_UNIT_USER ? "one user: whether the user takes part at all, with all records."
                                     : "one record, which is all lines of one user and item: whether it is "
                                       "there at all.";
    default:
        return unit == DPF_UNIT_USER
                   ? "one user: all records, against none of them counting. The number of users "
                     "is public."
                   : "one record, which is all lines of one user and item, against its not counting. The "
                     "number of records is public.";
    }
}

/* How many parties may be on the observer's side. */
static void curious_sentence(const struct guarantee *guarantee, char *out, size_t size)
{
    const long long most = guarantee->max_curious;
    if (most < 0)
        snprintf(out, size, "any number of parties, since no message relies on another's noise");
    else
        snprintf(out, size, "at most %lld part%s (t = %lld, max-curious)", most, most == 1 ? "y" : "ies",
                 most);
}

static void observer_sentence(const struct guarantee *guarantee, char *out, size_t size)
{
    char curious[160];
    curious_sentence(guarantee, curious, sizeof curious);
    switch (guarantee->observer) {
    case DPF_OBSERVER_SERVER:
        snprintf(out, size,
                 "the server: it sees every message that reaches it, and all that is released.%s%s%s",
                 guarantee->max_curious > 0 ? " The messages and noise of " : "",
                 guarantee->max_curious > 0    ? curious
                 : guarantee->max_curious == 0 ? " No party works with it (t = 0, max-curious)"
                                               : "",
                 guarantee->max_curious > 0    ? " may be known to it."
                 : guarantee->max_curious == 0 ? "."
                                               : "");
        break;
    case DPF_OBSERVER_PARTIES:
        snprintf(out, size,
                 "other parties and the server: they see every message that reaches the server, all that is "
                 "released, and the messages and noise of %s.",
                 curious);
        break;
    default:
        snprintf(out, size,
                 "an outsider, who sees the released factors. The server and the parties are trusted.");
    }
}

static void add_answer(struct text *column, const struct account *account)
{
    char epsilon[32], delta[32];
    const dpf_answer *answer = &account->answer;
    text_add(column, "epsilon = %s, delta = %s\n", guarantee_number_up(answer->epsilon, epsilon),
             guarantee_number_up(answer->delta, delta));
    text_add(column, "accountant %s", account->accountant);
    if (isfinite(answer->order))
        text_add(column, ", Renyi order %.4g", answer->order);
    text_add(column, "\n%s\n", answer->source);
    if (answer->note[0])
        text_add(column, "Note: %s\n", answer->note);
    text_add(column, "\n");
}

static void add_published(const struct guarantee *guarantee, struct text *column)
{
    int n = 0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (account->is_claim && !account->refused) {
            add_answer(column, account);
            n++;
        }
    }
    if (n == 0)
        text_add(column, "nothing: no claim of a publication is configured\n");
    else
        text_add(column, "A claim; the conditions on the right are not part of it.\n");
}

static void add_failing(const struct guarantee *guarantee, struct text *column)
{
    int n = 0;
    for (int i = 0; i < N_CONDITIONS; i++) {
        const struct condition *condition = &guarantee->conditions[i];
        if (!condition->holds && strcmp(condition->id, "C9") != 0)
            text_add(column, "%s%s (%s)", n++ ? ", " : "These conditions fail: ", condition->id,
                     condition->title);
    }
    if (n > 0)
        text_add(column, ".\n");
}

static void add_none(const struct guarantee *guarantee, struct text *column)
{
    text_add(column, "none\n\n");
    if (guarantee->released_raw)
        text_add(column, "Factors are released without noise: nothing is protected.\n");
    else if (guarantee->n_releases == 0)
        text_add(column, "Nothing is released with noise: nothing is protected.\n");
    if (guarantee->deviation[0])
        text_add(column, "The run departed from its plan: %s\n", guarantee->deviation);
    add_failing(guarantee, column);
    int asked = 0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        asked += !account->is_claim;
        if (account->is_claim || !statement_holds(guarantee))
            continue;
        if (account->refused)
            text_add(column, "%s: %s\n", account->accountant, account->reason);
        else
            text_add(column, "%s: epsilon is infinite; %s\n", account->accountant, account->answer.note);
    }
    if (asked == 0 && guarantee->n_releases > 0)
        text_add(column, "No accountant that proves its answer is listed.\n");
}

static void add_proved(const struct guarantee *guarantee, struct text *column)
{
    int n = 0;
    double least = INFINITY;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        if (statement_proves(guarantee, &guarantee->accounts[i])) {
            add_answer(column, &guarantee->accounts[i]);
            least = fmin(least, guarantee->accounts[i].answer.epsilon);
            n++;
        }
    }
    if (n == 0) {
        add_none(guarantee, column);
        return;
    }
    if (n > 1)
        text_add(column, "Each of these holds; the smallest epsilon may be quoted.\n");
    if (least > LARGE)
        text_add(column, "An epsilon this large (a factor of e^%.6g) is proved, but protects very little.\n",
                 least);
    if (!guarantee->run_holds)
        text_add(column, "This is the guarantee of the PLAN, with secure noise. This very run does not have "
                         "it: see C9.\n");
    if (!guarantee->tuning_stated)
        text_add(column, "Not included: how the hyper-parameters were chosen (C10).\n");
}

/* ---- the text ----------------------------------------------------------------------------------- */

/* 1 if something is proved, and all of it with delta 0. */
static int only_pure(const struct guarantee *guarantee)
{
    int n = 0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        if (!statement_proves(guarantee, &guarantee->accounts[i]))
            continue;
        if (guarantee->accounts[i].answer.delta > 0.0)
            return 0;
        n++;
    }
    return n > 0;
}

static void add_delta(const struct guarantee *guarantee, int width, struct text *out)
{
    char delta[32], line[160];
    snprintf(line, sizeof line, "%s%s", guarantee_number_up(guarantee->delta, delta),
             guarantee->delta_is_default ? ", a common choice that nobody made for this data: set [privacy] "
                                           "delta well below 1 / (number of units)"
                                         : "");
    add_wrapped(out, width, "Delta      ",
                only_pure(guarantee) ? "0: what is proved here does without one." : line);
}

static void add_head(const struct guarantee *guarantee, int width, struct text *out)
{
    char line[160], observer[512];
    text_add(out, "PRIVACY STATEMENT\n\n");
    add_wrapped(out, width, "Protects   ", unit_sentence(guarantee->unit, guarantee->adjacency));
    snprintf(line, sizeof line, "(unit %s, adjacency %s)", dpf_unit_name(guarantee->unit),
             dpf_adjacency_name(guarantee->adjacency));
    add_wrapped(out, width, "           ", line);
    observer_sentence(guarantee, observer, sizeof observer);
    add_wrapped(out, width, "From       ", observer);
    add_delta(guarantee, width, out);
    if (guarantee->noise_factor > 0) {
        snprintf(line, sizeof line,
                 "of all mechanisms times %.9g, chosen so that epsilon is at most [privacy] total-epsilon%s",
                 guarantee->noise_factor,
                 guarantee->repeats > 0 ? " without the rounds that were made again" : "");
        add_wrapped(out, width, "Noise      ", line);
    }
    if (guarantee->joint)
        add_wrapped(
            out, width, "Kind       ",
            "joint differential privacy: each user's own factors, scores and lists stay with that user and "
            "are not part of what others see. Lists and predictions are for their own user's eyes alone.");
    text_add(out, "\n");
}

/* What is known to everybody, or the same in neighbouring data sets, by assumption. */
static void add_public(const struct guarantee *guarantee, int width, struct text *out)
{
    if (!guarantee->taken_as_public[0] || guarantee->n_releases == 0)
        return;
    text_add(out, "\nTREATED AS PUBLIC, NOT PROTECTED\n\n");
    const char *cursor = guarantee->taken_as_public;
    while (*cursor) {
        char line[512];
        const int length = (int)strcspn(cursor, "\n");
        snprintf(line, sizeof line, "%.*s", length, cursor);
        add_wrapped(out, width, "- ", line);
        cursor += length + (cursor[length] == '\n');
    }
}

static void add_conditions(const struct guarantee *guarantee, int width, struct text *out)
{
    text_add(out, "\nCONDITIONS OF THE PROOF\n\n");
    for (int i = 0; i < N_CONDITIONS; i++) {
        char first[40];
        const struct condition *condition = &guarantee->conditions[i];
        snprintf(first, sizeof first, "%-4s %-14s %-6s ", condition->id, condition->title,
                 condition->holds ? "holds" : "FAILS");
        add_wrapped(out, width, first, condition->why);
    }
}

/* What accountants say where it proves nothing: useful for comparing designs. */
static void add_unproved(const struct guarantee *guarantee, int width, struct text *out)
{
    int n = 0;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        char epsilon[32], delta[32];
        struct text line = {0};
        const struct account *account = &guarantee->accounts[i];
        if (account->is_claim ? !account->refused : statement_proves(guarantee, account))
            continue;
        if (n++ == 0)
            text_add(out, "\nOTHER ANSWERS, NOT PROVED\n\n");
        if (account->refused)
            text_add(&line, "%s refuses: %s", account->accountant, account->reason);
        else if (isinf(account->answer.epsilon))
            text_add(&line, "%s has no finite epsilon: %s", account->accountant, account->answer.note);
        else
            text_add(&line, "%s would say epsilon = %s, delta = %s if every condition held. %s",
                     account->accountant, guarantee_number_up(account->answer.epsilon, epsilon),
                     guarantee_number_up(account->answer.delta, delta), account->answer.note);
        add_wrapped(out, width, "- ", line.data);
        text_free(&line);
    }
}

/* Groups of units, and who tries to tell two neighbours apart. */
static void add_reach(const struct guarantee *guarantee, int width, struct text *out)
{
    const struct reach *reach = &guarantee->reach;
    char number[32], delta[32], line[400];
    if (!reach->known)
        return;
    text_add(out, "\nGROUPS AND TESTS, BY ACCOUNTANT %s%s\n\n", reach->accountant,
             statement_holds(guarantee) ? "" : ", IF EVERY CONDITION HELD");
    for (int i = 0; i < REACH_N_GROUPS; i++) {
        if (isinf(reach->group_epsilon[i]))
            snprintf(line, sizeof line, "%d %ss together: no epsilon is known at delta %s.", reach->group[i],
                     dpf_unit_name(guarantee->unit), guarantee_number_up(guarantee->delta, delta));
        else
            snprintf(line, sizeof line, "%d %ss together: epsilon = %s at delta %s.", reach->group[i],
                     dpf_unit_name(guarantee->unit), guarantee_number_up(reach->group_epsilon[i], number),
                     guarantee_number_up(guarantee->delta, delta));
        add_wrapped(out, width, "- ", line);
    }
    for (int i = 0; i < REACH_N_TESTS; i++) {
        snprintf(line, sizeof line,
                 "A test between two neighbours with a false alarm rate of %g %% misses in at least %.4g %% "
                 "of cases.",
                 100.0 * reach->false_alarm[i], floor(1e6 * reach->missed[i]) / 1e4);
        add_wrapped(out, width, "- ", line);
    }
    if (!isnan(reach->mu)) {
        snprintf(line, sizeof line,
                 reach->mu_holds ? "Gaussian differential privacy: mu = %s."
                                 : "As hard to tell, at this delta, as a Gaussian mechanism of mu = %s.",
                 guarantee_number_up(reach->mu, number));
        add_wrapped(out, width, "- ", line);
    }
}

/* What the choice among candidates costs, and what must stay secret. */
static void add_selection(const struct guarantee *guarantee, int width, struct text *out)
{
    const struct selection_summary *selection = &guarantee->selection;
    char number[32], line[512];
    const double least = statement_least_epsilon(guarantee);
    if (!selection->known)
        return;
    text_add(out, "\nSELECTION AMONG CANDIDATES\n\n");
    snprintf(line, sizeof line,
             "The best of several runs by their released %s. Each run is of one of %lld candidates, drawn "
             "alike with "
             "replacement; the number of runs is %s.",
             selection->metric, (long long)selection->candidates, selection->law);
    add_wrapped(out, width, "- ", line);
    if (isfinite(least) && !isnan(selection->alone)) {
        char with[32];
        snprintf(line, sizeof line,
                 "Without tuning: epsilon = %s, one run of the costliest candidate with its score, by "
                 "accountant %s. "
                 "With tuning: epsilon = %s.",
                 guarantee_number_up(selection->alone, number), selection->alone_accountant,
                 guarantee_number_up(least, with));
        add_wrapped(out, width, "- ", line);
    }
    if (!isnan(selection->share)) {
        snprintf(line, sizeof line,
                 "Each candidate has a total-epsilon of %s, chosen so that the selection has that of the "
                 "configuration.",
                 guarantee_number_up(selection->share, number));
        add_wrapped(out, width, "- ", line);
    }
    add_wrapped(
        out, width, "- ",
        "The proof needs that runs which were not selected are seen by nobody but the curator: their files, "
        "logs and number are in private/, and the time that all runs took tells how many there were. Show "
        "nobody the time, nor when files were written; files of the result bear the time at which it was "
        "published.");
}

static void add_repeats(const struct guarantee *guarantee, int width, struct text *out)
{
    char line[512];
    if (guarantee->repeats == 0)
        return;
    text_add(out, "\nINTERRUPTED ROUNDS\n\n");
    snprintf(line, sizeof line,
             "Interruptions ended %lld round%s, which the run then made again with other noise. Somebody may "
             "have seen "
             "the first attempts, so all attempts are counted above. This assumes that what "
             "interrupted the run did not depend on protected records.",
             (long long)guarantee->repeats, guarantee->repeats > 1 ? "s" : "");
    add_wrapped(out, width, "- ", line);
}

static void add_trainings(const struct guarantee *guarantee, int width, struct text *out)
{
    char line[512], number[32];
    if (guarantee->trainings <= 1)
        return;
    text_add(out, "\nNOISE DRAWN AGAIN\n\n");
    snprintf(
        line, sizeof line,
        "The model is trained %lld times, each time with other noise, and one of these models is released. "
        "The others serve the verdict ([run] compare-repetitions). The epsilons above count all trainings.",
        (long long)guarantee->trainings);
    add_wrapped(out, width, "- ", line);
    if (guarantee->alone > 0) {
        snprintf(line, sizeof line, "One training alone would have epsilon %s.",
                 guarantee_number_up(guarantee->alone, number));
        add_wrapped(out, width, "- ", line);
    }
}

/* All runs on the data. */
static void add_budget(const struct guarantee *guarantee, int width, struct text *out)
{
    const struct data_budget *b = &guarantee->budget;
    char own[32], all[32], delta[32], most[48] = "", line[512];
    if (!b->known)
        return;
    if (b->most > 0)
        snprintf(most, sizeof most, ", of %g at most", b->most);
    text_add(out, "\nBUDGET OF THE DATA SET\n\n");
    snprintf(line, sizeof line,
             "%s epsilon = %s; with the %lld before it in %s it is epsilon = %s, delta = %s%s.",
             guarantee->repeats > 0 ? "The round that this run made again last has" : "This run has",
             guarantee_number_up(b->own_epsilon, own), (long long)b->runs, b->path,
             guarantee_number_up(b->epsilon + b->own_epsilon, all),
             guarantee_number_up(b->delta + b->own_delta, delta), most);
    add_wrapped(out, width, "- ", line);
    if (b->joint)
        add_wrapped(
            out, width, "- ",
            "Some of these runs leave a person's own factors and scores to that person: the sum is about "
            "what all others see.");
    if (!isnan(b->composed)) {
        snprintf(line, sizeof line,
                 "Composed by %s, all releases of all runs have epsilon = %s at that delta. This holds if "
                 "all runs "
                 "were fixed before the first one%s; a run that was chosen by what earlier ones released "
                 "counts by "
                 "the sum above.",
                 b->composed_by, guarantee_number_up(b->composed, all),
                 b->planned ? ", which is declared ([privacy] ledger-runs)" : "");
        add_wrapped(out, width, "- ", line);
    }
    add_wrapped(
        out, width, "- ",
        "Audits, evaluations and metrics of this data are private and not counted: they are computed from "
        "protected records without noise. Do not publish them.");
    add_wrapped(out, width, "- ",
                "Training again is another run, also on new data: a person in the data of several runs has "
                "the sum of their epsilons, a person in one run has the epsilon of that run. A run that "
                "fails stays charged: it may have released something.");
    if (b->is_party)
        return;
    add_wrapped(out, width, "- ",
                "After a deletion request, leave the person out of the data of later runs. What was released "
                "before stays released; the epsilons of the earlier runs bound what it tells about the "
                "person, and training again without the person does not undo that.");
}

static void add_help(int width, struct text *out)
{
    text_add(out, "\nHOW TO READ THIS\n\n");
    add_wrapped(
        out, width, "",
        "Epsilon bounds, as a factor e^epsilon, how much any conclusion of the observer can depend on "
        "the protected unit; delta is the probability that this may fail. 'As published' is what "
        "a publication states for these parameters. 'Proved here' holds for this configuration "
        "if every condition above holds, and is otherwise 'none': then do not quote an epsilon. It covers "
        "the files in release/ of this one run. run.json, config.ini and private/ hold metrics, counts and "
        "a hash of the data: they are not covered, and several runs on the same data add up.");
}

char *guarantee_text_wide(const struct guarantee *guarantee, int width)
{
    struct text out = {0}, left = {0}, right = {0};
    add_published(guarantee, &left);
    add_proved(guarantee, &right);
    add_head(guarantee, width, &out);
    add_columns(&out, width, "AS PUBLISHED", "PROVED HERE");
    add_columns(&out, width, "------------", "-----------");
    add_columns(&out, width, left.data, right.data);
    add_reach(guarantee, width, &out);
    add_selection(guarantee, width, &out);
    add_trainings(guarantee, width, &out);
    add_repeats(guarantee, width, &out);
    add_budget(guarantee, width, &out);
    add_public(guarantee, width, &out);
    add_conditions(guarantee, width, &out);
    add_unproved(guarantee, width, &out);
    add_help(width, &out);
    text_free(&left);
    text_free(&right);
    return out.data;
}

char *guarantee_text(const struct guarantee *guarantee)
{
    return guarantee_text_wide(guarantee, PAGE);
}

int guarantee_protects(const struct guarantee *guarantee)
{
    return guarantee->n_releases > 0 && !guarantee->released_raw;
}

char *guarantee_line(const struct guarantee *guarantee)
{
    struct text out = {0};
    text_add(&out, "Privacy: none. %s: nothing is protected.\n",
             guarantee->released_raw ? "Factors are released without noise"
                                     : "Nothing is released with noise");
    return out.data;
}
