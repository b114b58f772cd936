/* SPDX-License-Identifier: Apache-2.0 */
/* What is stated, what the trials say to it, and both as text or JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/score_fit.h"
#include "base/memory.h"
#include "base/text.h"
#include "audit/audit_session.h"
#include "dpframe/accounting.h"
#include "privacy/statement.h"

/* ---- statements ---------------------------------------------------------------------------------------- */

static void add_statement(struct audit_session *audit, const char *name, const char *kind, double epsilon,
                          double delta)
{
    struct audit_statement *s = &audit->statements[audit->n_statements++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->kind = kind;
    s->of_pair = 1;
    s->epsilon = epsilon;
    s->delta = delta;
}

/* A claim about another unit or adjacency covers the pair if records of one user alone differ, and the claim
   is about users that are replaced. */
static int covers_pair(const struct guarantee *guarantee, const dpf_answer *answer)
{
    const int unit = answer->stated_unit ? answer->stated_unit - 1 : guarantee->unit;
    const int adjacency = answer->stated_adjacency ? answer->stated_adjacency - 1 : guarantee->adjacency;
    return (unit == guarantee->unit && adjacency == guarantee->adjacency) ||
           (unit == DPF_UNIT_USER && adjacency == DPF_ADJ_REPLACE && guarantee->unit == DPF_UNIT_RECORD);
}

static void collect(struct audit_session *audit)
{
    const struct guarantee *guarantee = &audit->session.plan.guarantee;
    const double claim = audit_value(audit, AUDIT_CLAIM)->real;
    audit->statements = memory_need((size_t)guarantee->n_accounts + 2, sizeof *audit->statements);
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (account->refused)
            continue;
        add_statement(audit, account->accountant,
                      account->is_claim                      ? "claimed"
                      : statement_proves(guarantee, account) ? "proved"
                                                             : "not proved",
                      account->answer.epsilon, account->answer.delta);
        audit->statements[audit->n_statements - 1].of_pair = covers_pair(guarantee, &account->answer);
    }
    if (claim > 0)
        add_statement(audit, "[audit] claim", "claimed", claim, guarantee->delta);
    if (!audit->n_statements) /* nobody states anything: the bound alone */
        add_statement(audit, "(nothing is stated)", "not proved", INFINITY, guarantee->delta);
}

static int count_deltas(const struct audit_session *audit)
{
    int n = 0;
    for (int i = 0; i < audit->n_statements; i++) {
        int fresh = 1;
        for (int j = 0; j < i; j++)
            fresh &= fabs(audit->statements[i].delta - audit->statements[j].delta) > 0;
        n += fresh;
    }
    return n;
}

/* ---- scores -------------------------------------------------------------------------------------------- */

/* Scores of all trials; those before first have been used to learn how to score. */
struct scored {
    double *scores; /* n of the first data set, n of the second */
    int64_t n, first;
};

/* Where trials give numbers the first quarter of them teaches how to score, and is not used again. */
static int score_numbers(const struct audit_session *audit, enum learn_kind kind, struct scored *out)
{
    const int64_t n = audit->n_trials, width = audit->width;
    const double *const samples[2] = {audit->results, audit->results + n * width};
    struct learnt *learnt = memory_new((size_t)width, sizeof *learnt);
    out->first = n / 4;
    const int status = learnt ? learn_from(kind, samples, out->first, width, learnt) : -1;
    for (int64_t i = 0; i < 2 * n && status == 0; i++)
        out->scores[i] = learn_score(kind, learnt, audit->results + i * width, width);
    free(learnt);
    return status;
}

static int make_scores(const struct audit_session *audit, enum learn_kind kind, struct scored *out)
{
    *out = (struct scored){.scores = memory_new((size_t)(2 * audit->n_trials), sizeof *out->scores),
                           .n = audit->n_trials};
    if (!out->scores)
        return -1;
    if (audit->trials.n_numbers)
        return score_numbers(audit, kind, out);
    memcpy(out->scores, audit->results, (size_t)(2 * out->n) * sizeof *out->scores);
    return 0;
}

/* The first half of the trials chooses event and score, the second judges. */
static void judge_statement(const struct scored *scored, int n_scored, double alpha,
                            struct audit_statement *statement)
{
    double most = -1;
    for (int k = 0; k < n_scored; k++) {
        const struct scored *s = &scored[k];
        const int64_t half = s->n / 2;
        const struct held_out_scores choosing = {{s->scores + s->first, s->scores + s->n + s->first},
                                                 half - s->first};
        const struct held_out_scores judging = {{s->scores + half, s->scores + s->n + half}, s->n - half};
        const struct held_out_rule rule = held_out_choose(&choosing, statement->delta, alpha);
        const double promised = held_out_judge(&rule, &choosing, statement->delta, alpha).epsilon;
        if (promised > most) {
            most = promised;
            statement->verdict = held_out_judge(&rule, &judging, statement->delta, alpha);
        }
    }
    statement->lower = statement->verdict.epsilon;
}

static int judge_trials(struct audit_session *audit, double alpha, struct dpf_error *error)
{
    struct scored scored[LEARN_N_KINDS] = {{0}};
    const int kinds = audit->trials.n_numbers ? LEARN_N_KINDS : 1;
    int status = 0;
    for (int kind = 0; kind < kinds && status == 0; kind++)
        if (make_scores(audit, (enum learn_kind)kind, &scored[kind]) != 0)
            status = error_memory(error);
    for (int i = 0; i < audit->n_statements && status == 0; i++)
        judge_statement(scored, kinds, alpha, &audit->statements[i]);
    for (int kind = 0; kind < kinds; kind++)
        free(scored[kind].scores);
    return status;
}

/*
 * Whether more is looked at than the observer sees: the noisy queries inside of parties that solve, or, for
 * an outsider, what a recommender's users send. A proof covers them, since the ledger counts them; a
 * publication's claim is about what leaves the party.
 */
static int beyond_observer(const struct audit_session *audit)
{
    const struct plan *plan = &audit->session.plan;
    if (plan_has(plan, MODEL_TELLS))
        return plan->guarantee.observer == DPF_OBSERVER_OUTSIDER && trials_sees_reports(plan);
    int inside = 0;
    for (int side = 0; side < 2; side++)
        inside |= plan->sides[side].updated && plan->sides[side].solve_at == SOLVE_AT_PARTY;
    return inside && (audit_in_one_run(audit) || audit->trials.view == OBSERVE_SUMS);
}

int audit_judge(struct audit_session *audit, struct dpf_error *error)
{
    collect(audit);
    /* All bounds hold together: statements of one delta share theirs. */
    const double alpha = (1 - audit_value(audit, AUDIT_CONFIDENCE)->real) / count_deltas(audit);
    const int one_run = audit_in_one_run(audit);
    if (!one_run && judge_trials(audit, alpha, error) != 0)
        return -1;
    for (int i = 0; i < audit->n_statements; i++) {
        struct audit_statement *s = &audit->statements[i];
        if (one_run) {
            s->one_run = one_run_judge(&audit->one_run, s->delta, alpha);
            s->lower = s->one_run.epsilon;
        }
        const int is_claim = strcmp(s->kind, "claimed") == 0;
        s->violated = s->lower > s->epsilon && s->of_pair &&
                      (strcmp(s->kind, "proved") == 0 || (is_claim && !beyond_observer(audit)));
    }
    return 0;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static const char *view_name(const struct audit_session *audit)
{
    int64_t n;
    const int one_run = audit_in_one_run(audit);
    const int view = !one_run                                    ? (int)audit->trials.view
                     : trials_sees_reports(&audit->session.plan) ? OBSERVE_MESSAGES
                                                                 : OBSERVE_SUMS;
    return audit_params(&n)[AUDIT_VIEW].values[view].name;
}

static const char *unit_name(const struct audit_session *audit)
{
    return audit->session.plan.guarantee.unit == DPF_UNIT_USER ? "user" : "record";
}

static const char *adjacency_name(const struct audit_session *audit)
{
    int64_t n;
    return privacy_params(&n)[PRIVACY_ADJACENCY].values[audit->session.plan.guarantee.adjacency].name;
}

static const char *remark(const struct audit_statement *s)
{
    if (!s->of_pair)
        return "about another unit or adjacency";
    return s->violated ? "VIOLATED" : s->lower > s->epsilon ? "exceeded" : "no contradiction";
}

static void print_evidence(const struct audit_session *audit)
{
    const struct audit_statement *best = audit->statements;
    for (int i = 1; i < audit->n_statements; i++)
        if (audit->statements[i].lower > best->lower)
            best = &audit->statements[i];
    const struct held_out_verdict *v = &best->verdict;
    if (audit_in_one_run(audit))
        printf("Evidence: %lld of %lld guesses were right.\n", (long long)best->one_run.correct,
               (long long)best->one_run.guesses);
    else
        printf("Evidence: score %s %.4g in %lld of %lld held-out trials with the %s data set, and in %lld of "
               "%lld with the other.\n",
               v->rule.above ? ">" : "<=", v->rule.threshold, (long long)v->hits[0], (long long)v->n,
               v->rule.favours == 0 ? "first" : "second", (long long)v->hits[1], (long long)v->n);
}

/*
 * Rounding to the grid is stated, and not in what is measured; this is for the arithmetic of both. Where the
 * conditions of a proof do not hold a release may move further; but a component by itself states what it does,
 * whatever is proved of the pipeline around it.
 */
static int moves_too_far(const struct audit_session *audit)
{
    return (audit->session.plan.guarantee.plan_holds || audit->of_plugin) && audit->move.share > 1 + 1e-9;
}

/* ", block 1", ", block gram 0"; nothing of a recommender. */
static const char *block_name(const struct audit_session *audit, int block, char out[32])
{
    out[0] = '\0';
    if (audit->session.plan.recommender.n_releases > 0)
        return out;
    dpf_text_add(out, 32, ", ");
    dpf_text_add_blocks(out, 32, UINT32_C(1) << block);
    return out;
}

/* "items, term 0", or the name of a recommender's release. */
static const char *term_name(const struct audit_session *audit, int side, int term, char out[64])
{
    const struct recommender_plan *recommender = &audit->session.plan.recommender;
    if (term < recommender->n_releases)
        snprintf(out, 64, "%.48s", recommender->releases[term].name);
    else
        snprintf(out, 64, "%s, term %d", plan_side_name(side), term);
    return out;
}

static void print_move(const struct audit_session *audit)
{
    const struct move *move = &audit->move;
    char user[TEXT_SHOWN], place[64];
    if (move->share > 0)
        printf("Largest move of a release: %.4f of the stated sensitivity, by user %s%s%s, in round %d of "
               "%s%s.\n",
               move->share, text_show(audit->mover, user), audit->mover_shape ? " with " : "",
               audit->mover_shape ? audit->mover_shape : "", (int)move->round + 1,
               term_name(audit, move->side, move->term, place),
               moves_too_far(audit) ? ": MORE THAN STATED" : "");
}

static void print_noise(const struct audit_session *audit)
{
    const struct noise_check *noise = &audit->noise;
    char place[64], block[32];
    for (size_t i = 0; i < noise->n; i++) {
        const struct noise_finding *f = &noise->findings[i];
        if (f->failed || f->aspect == NOISE_VARIANCE)
            printf("Noise of %s%s: %s %.4f over %lld coordinates (%+.1f standard deviations)%s.\n",
                   term_name(audit, f->side, f->term, place), block_name(audit, f->block, block),
                   noise_aspect_name(f->aspect), f->value, (long long)f->n, f->deviations,
                   f->failed ? ": NOT AS DECLARED" : "");
    }
    if (noise->n > 0 && !noise->failed)
        printf("Noise tells nothing about that of another round, row, column, block or user.\n");
    if (noise->n > 0)
        printf("Sound noise fails one of these %zu tests in at most %g of all audits: beyond %.1f standard "
               "deviations.\n",
               noise->n, NOISE_FALSE_ALARMS, noise->alarm);
}

static void print_text(const struct audit_session *audit, int violated)
{
    const struct guarantee *guarantee = &audit->session.plan.guarantee;
    char epsilon[32], delta[32];
    printf("Unit %s, adjacency %s, observer %s, view %s%s.\nPair: %s.\n", unit_name(audit),
           adjacency_name(audit), statement_observer(guarantee->observer), view_name(audit),
           beyond_observer(audit) ? " (more than the observer sees: no claim is refuted)" : "", audit->pair);
    if (!audit_in_one_run(audit))
        printf("%lld trainings with each; half of them chose the threshold, the others are held out.\n",
               (long long)audit->n_trials);
    printf("All lower bounds hold with confidence %g.\n\n", audit_value(audit, AUDIT_CONFIDENCE)->real);
    printf("%-12s %-24s %12s %10s %12s\n", "", "by", "epsilon", "delta", "at least");
    for (int i = 0; i < audit->n_statements; i++) {
        const struct audit_statement *s = &audit->statements[i];
        snprintf(epsilon, sizeof epsilon, "%.5g", s->epsilon);
        snprintf(delta, sizeof delta, "%.3g", s->delta);
        printf("%-12s %-24s %12s %10s %12.4f  %s\n", s->kind, s->name, epsilon, delta, s->lower, remark(s));
    }
    putchar('\n');
    print_evidence(audit);
    print_move(audit);
    print_noise(audit);
    if (violated)
        printf("VIOLATED: the program does not keep what is stated.\n");
    else
        printf("An audit can refute a guarantee, never prove one.\n");
    printf("Private, not covered: this is computed from the records without noise, and no budget pays for "
           "it. Keep it "
           "to yourself.\n");
}

static json_t *statement_json(const struct audit_session *audit, const struct audit_statement *s)
{
    json_t *out =
        json_pack("{s:s, s:s, s:o, s:f, s:f, s:b, s:b}", "by", s->name, "kind", s->kind, "epsilon",
                  isfinite(s->epsilon) ? json_real(s->epsilon) : json_string("infinity"), "delta", s->delta,
                  "epsilon_lower", s->lower, "of_pair", s->of_pair, "violated", s->violated);
    const struct held_out_verdict *v = &s->verdict;
    if (audit_in_one_run(audit))
        json_object_set_new(out, "guesses",
                            json_pack("{s:I, s:I}", "made", (json_int_t)s->one_run.guesses, "correct",
                                      (json_int_t)s->one_run.correct));
    else
        json_object_set_new(out, "event",
                            json_pack("{s:s, s:f, s:s, s:I, s:I, s:I}", "score",
                                      v->rule.above ? "above" : "at most", "threshold", v->rule.threshold,
                                      "speaks_for", v->rule.favours == 0 ? "first" : "second", "hits",
                                      (json_int_t)v->hits[0], "hits_of_other", (json_int_t)v->hits[1],
                                      "held_out", (json_int_t)v->n));
    return out;
}

static json_t *noise_json(const struct noise_check *noise)
{
    json_t *list = json_array();
    for (size_t i = 0; i < noise->n; i++) {
        const struct noise_finding *f = &noise->findings[i];
        char block[32] = "";
        dpf_text_add_blocks(block, sizeof block, UINT32_C(1) << f->block);
        json_array_append_new(list,
                              json_pack("{s:s, s:i, s:s, s:s, s:f, s:I, s:f, s:b}", "side",
                                        plan_side_name(f->side), "term", f->term, "block", block, "aspect",
                                        noise_aspect_name(f->aspect), "value", f->value, "coordinates",
                                        (json_int_t)f->n, "deviations", f->deviations, "failed", f->failed));
    }
    return list;
}

static void print_json(const struct audit_session *audit, int violated)
{
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:I, s:I, s:I, s:f}", "unit", unit_name(audit), "adjacency",
        adjacency_name(audit), "observer", statement_observer(audit->session.plan.guarantee.observer), "view",
        view_name(audit), "pair", audit->pair, "confidence", audit_value(audit, AUDIT_CONFIDENCE)->real,
        "violated", violated, "trials", (json_int_t)audit->n_trials, "canaries", (json_int_t)audit->one_run.n,
        "seed", (json_int_t)audit_value(audit, AUDIT_SEED)->integer, "seconds", audit->seconds);
    json_t *list = json_array();
    for (int i = 0; i < audit->n_statements; i++)
        json_array_append_new(list, statement_json(audit, &audit->statements[i]));
    json_object_set_new(root, "statements", list);
    json_object_set_new(root, "release", json_string("private, not covered"));
    json_object_set_new(root, "noise", noise_json(&audit->noise));
    json_object_set_new(
        root, "largest_move",
        json_pack("{s:o, s:s, s:s, s:b}", "share_of_stated",
                  isfinite(audit->move.share) ? json_real(audit->move.share) : json_string("infinity"),
                  "user", audit->mover, "records", audit->mover_shape ? audit->mover_shape : "own", "failed",
                  moves_too_far(audit)));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
}

int audit_report(const struct audit_session *audit)
{
    int violated = 0;
    for (int i = 0; i < audit->n_statements; i++)
        violated += audit->statements[i].violated;
    violated += audit->noise.failed + moves_too_far(audit);
    if (audit->arguments->json)
        print_json(audit, violated > 0);
    else
        print_text(audit, violated);
    return violated;
}
