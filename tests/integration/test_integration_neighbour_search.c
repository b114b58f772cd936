/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attack on what is proved: a configuration and a pair of neighbouring data sets that move a release as
 * far as possible against the bound that the ledger states, found by climbing. Each step changes a few
 * decisions of the configuration, ratings of the pair, who differs, or how large earlier releases were, and
 * is kept if the releases move no less than before. A bound that is passed, a run that completes for one of
 * two neighbours only, or a row that does not follow from releases, fails the test.
 *
 * The suite climbs a few times, and tries again the pairs that came nearest in long searches
 * (near-misses/). scripts/attack-neighbours searches for as long as it is told:
 *   DPFRAME_SEARCH_SEED, DPFRAME_SEARCH_CLIMBS, DPFRAME_SEARCH_STEPS   where to begin, how often, how far
 *   DPFRAME_SEARCH_KEEP                                               a directory for what comes near
 */
/* Before cmocka, which has a macro "fail". */
#include "dpframe/additive.h"
#include "kit/test.h"

#include <dirent.h>

#include "kit/moved_releases.h"

#define NEAR 0.98 /* what is kept, as a part of the bound */

struct genome {
    uint8_t genes[PIPELINE_GENES];
    int ratings[USERS][ITEMS], other[ITEMS]; /* of all, and of the one who differs in the second data set */
    int who;
    double size; /* of the earlier releases */
};

/* ---- chance ------------------------------------------------------------------------------------------- */

static uint64_t lottery;

static int below(int n)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((lottery >> 33) % (uint64_t)n);
}

static int rating(void)
{
    const int kind = below(6);
    return kind < 2 ? 1 + 4 * kind : kind < 4 ? 1 + below(5) : 0;
}

static void draw_genome(struct genome *g)
{
    for (int i = 0; i < PIPELINE_GENES; i++)
        g->genes[i] = (uint8_t)below(256);
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            g->ratings[u][i] = rating();
    for (int i = 0; i < ITEMS; i++)
        g->other[i] = rating();
    g->who = below(USERS);
    g->size = 0.1 * pow(30, below(3));
}

static void mutate(struct genome *g)
{
    switch (below(8)) {
    case 0:
    case 1:
        for (int n = 1 + below(2); n > 0; n--)
            g->genes[below(PIPELINE_GENES)] = (uint8_t)below(256);
        break;
    case 2:
        g->who = below(USERS);
        break;
    case 3:
        g->size *= exp2(below(9) / 4.0 - 1);
        break;
    case 4: /* all ratings of the one who differs at once */
        for (int i = 0, value = rating(); i < ITEMS; i++)
            g->other[i] = value;
        break;
    case 5:
        g->other[below(ITEMS)] = rating();
        break;
    default:
        g->ratings[below(USERS)][below(ITEMS)] = rating();
    }
}

/* ---- a pair ------------------------------------------------------------------------------------------- */

/* The second data set, one unit away. */
static void make_pair(const struct pipeline *p, const struct genome *g, int who, int pair[2][USERS][ITEMS])
{
    const int item = g->genes[PIPELINE_GENES - 1] % ITEMS;
    memcpy(pair[0], g->ratings, sizeof pair[0]);
    for (int u = 0; u < USERS; u++) { /* everybody has a record */
        int any = 0;
        for (int i = 0; i < ITEMS; i++)
            any |= pair[0][u][i];
        pair[0][u][0] = any ? pair[0][u][0] : 3;
    }
    memcpy(pair[1], pair[0], sizeof pair[0]);
    int *row = pair[1][who];
    if (p->unit == DPF_UNIT_USER) {
        for (int i = 0; i < ITEMS; i++)
            row[i] = p->adjacency == DPF_ADJ_REPLACE ? g->other[i] : 0;
    } else if (p->adjacency == DPF_ADJ_REPLACE_VALUE) {
        pair[0][who][item] = pair[0][who][item] ? pair[0][who][item] : 1;
        row[item] = g->other[item] ? g->other[item] : 6 - pair[0][who][item];
    } else {
        row[item] = row[item] ? 0 : g->other[item] ? g->other[item] : 5;
    }
}

static int64_t tried, compared_pairs; /* by all climbs so far */

static enum outcome try_genome(struct pipeline *p, const struct genome *g, double *used)
{
    int pair[2][USERS][ITEMS];
    *p = (struct pipeline){.genes = g->genes};
    pipeline_build(p, training_directory);
    use_catalogue(p, 1);
    const int who =
        p->drawn != 0 && user_leaves(p) ? USERS - 1 : g->who; /* see random_neighbours: by index */
    make_pair(p, g, who, pair);
    *used = 0;
    const enum outcome outcome =
        measure_pair(p, pair, user_leaves(p) ? who : -1, p->unit == DPF_UNIT_USER ? who : -1, g->size, used);
    forget_pair();
    tried++;
    compared_pairs += outcome == COMPARED;
    return outcome;
}

/* ---- files of pairs ----------------------------------------------------------------------------------- */

/* The configuration with the directory as @DIR@, and all else in comments. */
static void keep_pair(const char *directory, uint64_t seed, const struct pipeline *p, const struct genome *g,
                      double used)
{
    char path[512];
    int pair[2][USERS][ITEMS];
    const int who = p->drawn != 0 && user_leaves(p) ? USERS - 1 : g->who;
    const size_t length = strlen(training_directory);
    snprintf(path, sizeof path, "%s/%llu.ini", directory, (unsigned long long)seed);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "; used %.6f of what is stated\n; pair %d %d %d %d %d %.17g\n", used, p->unit, p->adjacency,
            p->support_public, p->drawn, user_leaves(p) ? who : -1, g->size);
    make_pair(p, g, who, pair);
    for (int w = 0; w < 2; w++)
        for (int u = 0; u < USERS; u++) {
            fprintf(file, "; ratings");
            for (int i = 0; i < ITEMS; i++)
                fprintf(file, " %d", pair[w][u][i]);
            fprintf(file, "\n");
        }
    for (const char *at = p->text; *at;) {
        if (strncmp(at, training_directory, length) == 0) {
            fprintf(file, "@DIR@");
            at += length;
        } else {
            fputc(*at++, file);
        }
    }
    fclose(file);
}

static void read_pair(const char *text, struct pipeline *p, int pair[2][USERS][ITEMS], int *absent,
                      double *size)
{
    *p = (struct pipeline){0};
    assert_int_equal(sscanf(strstr(text, "; pair "), "; pair %d %d %d %d %d %lg", &p->unit, &p->adjacency,
                            &p->support_public, &p->drawn, absent, size),
                     6);
    const char *at = text;
    for (int w = 0; w < 2; w++)
        for (int u = 0; u < USERS; u++) {
            int used = 0;
            at = strstr(at, "; ratings");
            assert_non_null(at);
            at += strlen("; ratings");
            for (int i = 0; i < ITEMS; i++, at += used)
                assert_int_equal(sscanf(at, "%d%n", &pair[w][u][i], &used), 1);
        }
    size_t length = 0;
    for (at = strchr(at, '\n') + 1; *at; at++)
        if (strncmp(at, "@DIR@", 5) == 0) {
            length += (size_t)snprintf(p->text + length, sizeof p->text - length, "%s", training_directory);
            at += 4;
        } else {
            p->text[length++] = *at;
            assert_true(length < sizeof p->text);
        }
    p->text[length] = '\0';
}

/* ---- climbing ----------------------------------------------------------------------------------------- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* From a pair that something is proved of, upwards. The part of the bound that is reached; 0: none was found.
 */
static double climb(uint64_t seed, int steps)
{
    struct genome best, next;
    struct pipeline p;
    double reached = 0, used;
    int found = 0;
    lottery = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 60 && !found; i++) {
        draw_genome(&best);
        found = try_genome(&p, &best, &reached) == COMPARED;
    }
    for (int i = 0; i < steps && found; i++) {
        next = best;
        for (int n = 1 + below(3); n > 0; n--)
            mutate(&next);
        if (try_genome(&p, &next, &used) != COMPARED || used < reached)
            continue;
        best = next;
        reached = used;
    }
    if (!found)
        return 0;
    p = (struct pipeline){.genes = best.genes};
    pipeline_build(&p, training_directory);
    const char *keep = getenv("DPFRAME_SEARCH_KEEP");
    if (keep && reached >= NEAR)
        keep_pair(keep, seed, &p, &best, reached);
    print_message("climb %llu: %.6f of what is stated, after %lld of %lld pairs: %s\n",
                  (unsigned long long)seed, reached, (long long)compared_pairs, (long long)tried, p.parts);
    return reached;
}

TEST(no_climb_passes_a_bound)
{
    const uint64_t first = number_from("DPFRAME_SEARCH_SEED", 1), n = number_from("DPFRAME_SEARCH_CLIMBS", 6);
    const int steps = (int)number_from("DPFRAME_SEARCH_STEPS", 40);
    double most = 0;
    int found = 0;
    write_weights();
    for (uint64_t seed = first; seed < first + n; seed++) {
        const double reached = climb(seed, steps);
        found += reached > 0;
        most = fmax(most, reached);
    }
    assert_true(found > 0);
    assert_true(most > 0.5);
    assert_true(most <= 1);
}

TEST(the_nearest_pairs_stay_within_their_bounds)
{
    static char text[1 << 14];
    char directory[512], path[1024];
    int compared = 0;
    double most = 0;
    write_weights();
    snprintf(directory, sizeof directory, "%s/tests/integration/near-misses", getenv("DPFRAME_SOURCE_DIR"));
    DIR *dir = opendir(directory);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        struct pipeline p;
        int pair[2][USERS][ITEMS], absent;
        double size, used = 0;
        if (!strstr(entry->d_name, ".ini"))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        read_pair(text, &p, pair, &absent, &size);
        use_catalogue(&p, 1);
        const enum outcome outcome = measure_pair(&p, pair, user_leaves(&p) ? absent : -1, -1, size, &used);
        if (outcome == REFUSED)
            fail_msg("%s: %s", entry->d_name, worlds[0].training.error.text);
        compared += outcome == COMPARED;
        most = fmax(most, used);
        forget_pair();
    }
    closedir(dir);
    assert_true(compared >= 30);
    assert_true(most > 0.98);
    assert_true(most <= 1);
}

FIXTURE(worlds_begin, worlds_end)
