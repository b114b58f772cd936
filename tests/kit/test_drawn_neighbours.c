/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever is proved, one unit more, less or other changes nothing of others. Configurations and pairs of data sets
 * are drawn (draw.h, draw_pairs.h); of those that prove something
 *   reading   is compared for several pairs: what was read of all others, the lists, the sizes;
 *   outcome   for one pair: exit status, released files, their shapes and texts, ledger and statement;
 *   releases  given the same earlier ones: how much noise each number has, and bit by bit the messages of other users
 *             and the exact sums of rows that the unit does not touch, round by round.
 *
 * The suite draws until every key was in a pair; scripts/attack-input goes on for as long as it is told:
 *   DPFRAME_DRAW_SEED, DPFRAME_DRAW_SECONDS, DPFRAME_DRAW_KEEP (a directory for cases), DPFRAME_DRAW_FIRST (stop at one)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kit/test.h"
#include "base/text.h"
#include "data/load.h"
#include "dpframe/privacy.h"
#include "kit/drawn_seen.h"

#define READINGS 3       /* pairs that are read alone, for each configuration */
#define RUNS 2           /* and those that are run */
#define MORE_NUMBERS 5   /* of those, if a pivot is a number that the unit reaches */
#define LEAST_PAIRS 20   /* proved and finished, of every key, in a long search */
#define LEAST_PROVED 100 /* drawings, in the suite */
#define TRIES 200        /* of a key before the suite gives it up */

static struct drawn drawn;

/* ---- findings ----------------------------------------------------------------------------------------- */

/* Faults that are known and not mended yet: kinds of difference with their pivot, each with its reason. */
static const struct {
    const char *what, *pivot, *why;
} expected[] = {
    {NULL, NULL, NULL},
};

#define MOST_KINDS 256
static struct {
    char kind[192];
    int64_t n;
    int is_expected;
} found[MOST_KINDS];
static int n_kinds;
static int64_t refused_alike, unexpected, readings, outcomes, seen, added, undecided, proved, tried_pairs;

static int is_expected(const char *what, const struct draw_pair *pair)
{
    for (size_t i = 0; i < sizeof expected / sizeof expected[0] && expected[i].what; i++)
        if (strncmp(what, expected[i].what, strlen(expected[i].what)) == 0 &&
            (!expected[i].pivot || strcmp(expected[i].pivot, pair->pivot) == 0))
            return 1;
    return 0;
}

/* 1: it is the first of its kind. */
static int note_kind(const char *what, const struct draw_pair *pair)
{
    char kind[192];
    snprintf(kind, sizeof kind, "%.*s | %s | %s", (int)strcspn(what, ":"), what, pair->pivot, pair->change);
    for (int k = 0; k < n_kinds; k++)
        if (strcmp(found[k].kind, kind) == 0) {
            found[k].n++;
            return 0;
        }
    if (n_kinds < MOST_KINDS) {
        snprintf(found[n_kinds].kind, sizeof found[0].kind, "%s", kind);
        found[n_kinds].n = 1;
        found[n_kinds++].is_expected = is_expected(what, pair);
    }
    return 1;
}

/* ---- comparisons -------------------------------------------------------------------------------------- */

static int read_one(struct session *session, struct pool *pool, const struct draw_pair *pair, int where,
                    struct dataset *out, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    *out = (struct dataset){0};
    if (draw_data_write(&pair->data, where, drawn.directory) != 0)
        return -1;
    return data_read(&plan->data, &plan->split, plan->seeded, pool, out, error);
}

static int compare_readings(struct session *session, const struct draw_promise *promise,
                            const struct draw_pair *pair, char what[DRAWN_WHAT])
{
    struct dataset data[2];
    struct dpf_error error[2] = {{0}, {0}};
    struct pool *pool = pool_new(1);
    int status[2];
    for (int w = 0; w < 2; w++)
        status[w] = read_one(session, pool, pair, w + 1, &data[w], &error[w]);
    int differ = 0;
    readings++;
    if (status[0] != status[1]) {
        snprintf(what, DRAWN_WHAT, "reading fails for one: %.300s", error[status[0] == 0].text);
        differ = 1;
    } else if (status[0] == 0) {
        differ = drawn_same_reading(&data[0], &data[1], promise, pair, what);
    }
    dataset_free(&data[0]);
    dataset_free(&data[1]);
    pool_free(pool);
    return differ;
}

static int train_one(const struct drawing *drawing, const struct draw_pair *pair, int where, const char *name,
                     int noise_seed, struct dpf_error *error)
{
    struct drawing own;
    char seed[16];
    drawing_copy(drawing, &own);
    snprintf(seed, sizeof seed, "%d", noise_seed);
    drawing_set(&own, "privacy", "noise-seed", seed);
    drawn_remove(&drawn, "ledger.json");
    drawn_remove(&drawn, name);
    *error = (struct dpf_error){0};
    const int failed =
        draw_data_write(&pair->data, where, drawn.directory) != 0 || drawn_write(&drawn, &own) != 0;
    drawing_free(&own);
    return failed ? -1 : drawn_train(&drawn, name, error);
}

static int compare_runs(const struct drawing *drawing, const struct draw_pair *pair, char what[DRAWN_WHAT],
                        int *finished)
{
    struct dpf_error error[2];
    int status[2];
    *finished = 0;
    for (int w = 0; w < 2; w++)
        status[w] = train_one(drawing, pair, w + 1, w ? "second" : "first", 1, &error[w]);
    outcomes++;
    if (status[0] != status[1]) {
        snprintf(what, DRAWN_WHAT, "outcome: exit status %d beside %d: %.300s", status[0], status[1],
                 error[status[0] == 0].text);
        return 1;
    }
    if (status[0] != 0 && getenv("DPFRAME_DRAW_TELL"))
        printf("both fail: %d: %s\n", status[0], error[0].text);
    refused_alike += status[0] != 0;
    if (status[0] != 0)
        return 0;
    *finished = 1;
    return drawn_same_outside(&drawn, "first", "second", what);
}

/* The second one is handed the releases of the first, and so is the unit's user alone. */
static int compare_seen(const struct session *session, const struct drawing *drawing,
                        const struct draw_pair *pair, char what[DRAWN_WHAT])
{
    struct drawn_seen runs[2] = {{.status = -1}, {.status = -1}}, alone[2] = {{.status = -1}, {.status = -1}};
    struct drawing same_draws;
    int64_t compared = 0;
    drawing_copy(drawing, &same_draws);
    drawing_set(&same_draws, "privacy", "randomness", "reproducible");
    for (int w = 0; w < 2; w++)
        if (draw_data_write(&pair->data, w + 1, drawn.directory) == 0 &&
            drawn_write(&drawn, &same_draws) == 0) {
            drawn_seen_train(&drawn, pair, w ? &runs[0] : NULL, 0, &runs[w]);
            drawn_seen_train(&drawn, pair, &runs[0], 1, &alone[w]);
        }
    drawing_free(&same_draws);
    const int differ = drawn_seen_differs(&session->plan, &runs[0], &runs[1], what) ||
                       drawn_seen_adds_more(&runs[0], &runs[1], alone, &compared, what);
    seen++;
    added += compared > 0;
    for (int w = 0; w < 2; w++) {
        drawn_seen_free(&runs[w]);
        drawn_seen_free(&alone[w]);
    }
    return differ;
}

/* ---- a failing pair, made small ----------------------------------------------------------------------- */

enum oracle { ORACLE_READING, ORACLE_RUN, ORACLE_SEEN };

static int is_proved(const struct session *session)
{
    return session->plan.guarantee.plan_holds && session->plan.ledger.n > 0;
}

/* Whether the drawing still proves something and the pair still differs in the same way. */
static int still_fails(const struct drawing *drawing, const struct draw_pair *pair, enum oracle oracle,
                       const char *kind, char what[DRAWN_WHAT])
{
    struct session session = {0};
    struct dpf_error error = {0};
    struct draw_promise promise;
    int finished, differ = 0;
    if (draw_data_write(&pair->data, IN_FIRST, drawn.directory) == 0 && drawn_write(&drawn, drawing) == 0 &&
        drawn_check(&drawn, &session, &error) == 0 && is_proved(&session)) {
        draw_promise_of(&session.plan, &promise);
        differ = oracle == ORACLE_READING ? compare_readings(&session, &promise, pair, what)
                 : oracle == ORACLE_RUN   ? compare_runs(drawing, pair, what, &finished)
                                          : compare_seen(&session, drawing, pair, what);
        differ = differ && strncmp(what, kind, strcspn(kind, ":")) == 0;
    }
    session_close(&session);
    return differ;
}

static void shrink(struct drawing *drawing, struct draw_pair *pair, enum oracle oracle, const char *kind)
{
    char what[DRAWN_WHAT];
    for (int i = drawing->n - 1; i >= 0; i--) { /* settings of the drawing that it does not take */
        struct drawing less;
        if (!drawing->settings[i].drawn)
            continue;
        drawing_copy(drawing, &less);
        drawing_unset(&less, drawing->settings[i].section, drawing->settings[i].key);
        drawing_shrink(&less, &drawn.keys, drawn.directory);
        if (still_fails(&less, pair, oracle, kind, what)) {
            drawing_free(drawing);
            *drawing = less;
            i = drawing->n;
        } else {
            drawing_free(&less);
        }
    }
    for (int step = pair->data.n / 2; step > 0; step /= 2)
        for (int i = 0; i + step <= pair->data.n;) {
            struct draw_pair less = *pair;
            draw_data_copy(&pair->data, &less.data);
            for (int k = i + step - 1; k >= i; k--)
                if (less.data.lines[k].where == IN_BOTH)
                    draw_data_remove(&less.data, k);
            if (less.data.n < pair->data.n && still_fails(drawing, &less, oracle, kind, what)) {
                draw_data_free(&pair->data);
                *pair = less;
            } else {
                draw_data_free(&less.data);
                i += step;
            }
        }
}

static void write_text(const char *directory, const char *name, const char *text)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        printf("; %s could not be written\n", path);
}

/* All files of one of the two data sets, beside the configuration. */
static void keep_data_set(const struct drawing *drawing, const struct draw_pair *pair, int which,
                          const char *directory, const char *text)
{
    mkdir(directory, 0777);
    if (draw_data_write(&pair->data, which, directory) != 0 ||
        draw_data_write_others(&pair->data, drawing, directory) != 0)
        printf("; %s could not be written\n", directory);
    write_text(directory, "c.ini", text);
}

/* D/ and Dprime/ and a README in a directory of their own, and all of it on standard output. */
static void keep_case(const struct drawing *drawing, const struct draw_pair *pair, const char *what)
{
    const char *keep = getenv("DPFRAME_DRAW_KEEP"), *const names[2] = {"D", "Dprime"};
    char *text = drawing_text(drawing, "."), command[600], path[4096], readme[1200];
    printf("FAULT %s\n; pivot %s, change: %s, from %s\n%s", what, pair->pivot, pair->change, drawing->base,
           text);
    for (int w = 0; w < 2; w++) {
        draw_data_write(&pair->data, w + 1, drawn.directory);
        snprintf(command, sizeof command, "cd %s && for f in part*; do echo \"--- %s, $f\"; cat $f; done",
                 drawn.directory, names[w]);
        fflush(stdout);
        if (system(command) != 0)
            printf("; the files could not be shown\n");
    }
    if (keep && *keep) {
        snprintf(path, sizeof path, "%s/%03d", keep, n_kinds);
        mkdir(keep, 0777);
        mkdir(path, 0777);
        for (int w = 0; w < 2; w++) {
            char directory[4104];
            snprintf(directory, sizeof directory, "%s/%s", path, names[w]);
            keep_data_set(drawing, pair, w + 1, directory, text);
        }
        snprintf(
            readme, sizeof readme,
            "Seen: %s\nPivot %s, change: %s; from %s\nRun: dpframe run -c D/c.ini -O /tmp/D, dpframe run -c "
            "Dprime/c.ini -O /tmp/Dprime\n",
            what, pair->pivot, pair->change, drawing->base);
        write_text(path, "README", readme);
    }
    free(text);
    fflush(stdout);
}

static void report(const struct drawing *drawing, const struct draw_pair *pair, enum oracle oracle,
                   const char *what)
{
    struct drawing small;
    struct draw_pair less = *pair;
    if (!is_expected(what, pair))
        unexpected++;
    if (!note_kind(what, pair) || is_expected(what, pair))
        return;
    drawing_copy(drawing, &small);
    draw_data_copy(&pair->data, &less.data);
    shrink(&small, &less, oracle, what);
    keep_case(&small, &less, what);
    drawing_free(&small);
    draw_data_free(&less.data);
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

/* The pivot that the rarest key is about, more often than any. */
static int choose_pivot(const struct drawing *drawing, const struct draw_promise *promise)
{
    if (draw_takes_turns(promise) && draw_chance(&drawn.random, 30)) /* few drawings have a place for it */
        return draw_pivot_named("take-turns-together");
    if (draw_stops_below(promise) > 0 && draw_chance(&drawn.random, 40))
        return draw_pivot_named("reach-users");
    for (int i = drawing->n - 1; i >= 0; i--) {
        const struct draw_setting *s = &drawing->settings[i];
        const int pivot =
            s->drawn && s->of >= 0 ? draw_pivot_for(&drawn.random, &drawn.keys.list[s->of]) : -1;
        if (pivot >= 0 && draw_chance(&drawn.random, 50))
            return pivot;
    }
    return -1;
}

/* again: a pivot that had a place, to be tried once more, or -1. */
static int make_pair(const struct drawing *drawing, const struct draw_promise *promise, int again,
                     struct draw_pair *pair)
{
    for (int i = 0; i < 12; i++) {
        const int pivot = again >= 0 && i < 4 ? again : choose_pivot(drawing, promise);
        if (draw_pair_make(pair, &drawn.random, drawing, promise, pivot)) {
            if (pair->names_users)
                draw_data_write_others(&pair->data, drawing, drawn.directory);
            return 1;
        }
        draw_name_users(NULL);
        draw_data_free(&pair->data);
    }
    return 0;
}

static void attack(struct session *session, const struct drawing *drawing)
{
    struct draw_promise promise;
    char what[DRAWN_WHAT];
    draw_promise_of(&session->plan, &promise);
    const int runs = drawn.seconds > 0 ? RUNS : 1, read = drawn.seconds > 0 ? READINGS : 1;
    int again = -1, more = 0;
    for (int i = 0; i < read + runs + more; i++) {
        struct draw_pair pair;
        int finished = 0;
        if (!make_pair(drawing, &promise, i >= read + runs ? again : -1, &pair)) {
            undecided++;
            continue;
        }
        /* Few drawings have a place for a number that one unit reaches: those that do are tried at several. */
        if (drawn.seconds > 0 && more == 0 && draw_pivot_is_number(pair.pivot)) {
            again = draw_pivot_named(pair.pivot);
            more = MORE_NUMBERS;
        }
        if (compare_readings(session, &promise, &pair, what))
            report(drawing, &pair, ORACLE_READING, what);
        else if (i >= read && compare_runs(drawing, &pair, what, &finished))
            report(drawing, &pair, ORACLE_RUN, what);
        else if (finished && compare_seen(session, drawing, &pair, what))
            report(drawing, &pair, ORACLE_SEEN, what);
        if (pair.names_users) {
            draw_name_users(NULL);
            draw_data_write_others(&pair.data, drawing, drawn.directory);
        }
        draw_data_free(&pair.data);
        tried_pairs += finished;
        if (finished)
            drawn_done(&drawn, drawing);
    }
}

/* Every so often, in a long search. */
static void tell_progress(int64_t n)
{
    static time_t told;
    const time_t now = time(NULL);
    const char *every = getenv("DPFRAME_DRAW_PROGRESS");
    if (!every || (told && now - told < (time_t)strtol(every, NULL, 10)))
        return;
    told = now;
    printf("%s: %lld drawings, %lld proved, %lld pairs proved and finished, %d keys in fewer than %d, %d in "
           "none, "
           "%lld differ\n",
           drawn_time(), (long long)n, (long long)proved, (long long)tried_pairs,
           drawn_count_below(&drawn, LEAST_PAIRS), LEAST_PAIRS, drawn_count_below(&drawn, 1),
           (long long)unexpected);
    fflush(stdout);
}

/* In the suite, until every key was in a pair, or was tried so often that it cannot be in one. */
static int goes_on(int64_t n)
{
    return drawn_goes_on(&drawn, drawn.seconds > 0 ? n : proved) ||
           (drawn.seconds <= 0 && drawn_count_missing(&drawn) > 0);
}

static void print_result(int64_t n)
{
    const int64_t least = drawn.seconds > 0 ? LEAST_PAIRS : 1;
    const int below = drawn_print_keys(&drawn, least, 0);
    for (int k = 0; k < n_kinds; k++)
        printf("%8lld %s %s\n", (long long)found[k].n, found[k].is_expected ? "expected" : "NEW     ",
               found[k].kind);
    printf("%lld drawings, %lld proved; pairs: %lld read, %lld run, %lld proved and finished, %lld seen, "
           "%lld by "
           "sums; %lld no pair; %d keys in fewer than %lld pairs; %lld differ\n",
           (long long)n, (long long)proved, (long long)readings, (long long)outcomes, (long long)tried_pairs,
           (long long)seen, (long long)added, (long long)undecided, below, (long long)least,
           (long long)unexpected);
}

/* For whoever adds up several searches. */
static void write_counts(void)
{
    const char *path = getenv("DPFRAME_DRAW_COUNTS");
    FILE *file = path && *path ? fopen(path, "w") : NULL;
    char name[160];
    if (!file)
        return;
    fprintf(file,
            "pairs %lld proved and finished\npairs %lld end in the same way for both, without a result\n",
            (long long)tried_pairs, (long long)refused_alike);
    fprintf(file, "pairs %lld read alone\npairs %lld differ\n", (long long)(readings - outcomes),
            (long long)unexpected);
    fprintf(file, "pairs %lld of those that finished, with sums that were compared number by number\n",
            (long long)added);
    for (int i = 0; i < drawn.keys.n; i++) {
        const struct draw_key *key = &drawn.keys.list[i];
        if (key->left_out)
            fprintf(file, "left %s: %s\n", draw_key_name(key, name), key->left_out);
        else
            fprintf(file, "key %lld %s\n", (long long)key->done, draw_key_name(key, name));
    }
    if (fclose(file) != 0)
        printf("%s could not be written\n", path);
}

/* A key that can be in no such pair stands in draw_values.c with its reason. */
static void assert_every_key(void)
{
    struct text names = {0};
    char name[160];
    for (int i = 0; i < drawn.keys.n; i++)
        if (!drawn.keys.list[i].left_out && drawn.keys.list[i].done == 0)
            text_add(&names, "%s%s", names.length ? ", " : "", draw_key_name(&drawn.keys.list[i], name));
    if (names.length)
        fail_msg("tried %d times, and in no pair that is proved and finished: %s", TRIES, names.data);
    free(names.data);
}

TEST(one_unit_changes_nothing_of_others)
{
    int64_t n = 0;
    for (; goes_on(n) && !(drawn.first_only && unexpected); n++) {
        struct drawing drawing = {0};
        struct session session = {0};
        tell_progress(n);
        if (!drawn_proved(&drawn, &drawing, 4, &session))
            continue;
        proved++;
        attack(&session, &drawing);
        session_close(&session);
        drawing_free(&drawing);
    }
    print_result(n);
    write_counts();
    assert_int_equal(unexpected, 0);
    if (!drawn.first_only && drawn.seconds <= 0)
        assert_every_key();
}

static int begin(void **state)
{
    (void)state;
    const int status = drawn_open(&drawn, LEAST_PROVED);
    if (drawn.seconds <= 0)
        drawn.keys.tries = TRIES;
    return status;
}

static int end(void **state)
{
    (void)state;
    drawn_close(&drawn);
    return 0;
}

FIXTURE(begin, end)
