/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tightness of pld at points of all corners: pld_points.tsv. No answer is more than a thousandth above
 * the best that is known, and no bound from below is above it or a thousandth below the answer; where the reference is exact, no answer is
 * below.
 */
#include "kit/accounting_case.h"

#define MOST_ABOVE 1e-3 /* relative */
#define MOST_POINTS 400

struct point {
    char *events, *source;
    double delta, best; /* NaN: no other program has an answer */
};

static int read_point(char *line, struct point *out)
{
    char *fields[4], *save = NULL;
    int n = 0;
    if (line[0] == '#')
        return 0;
    for (char *field = strtok_r(line, "\t\n", &save); field && n < 4; field = strtok_r(NULL, "\t\n", &save))
        fields[n++] = field;
    if (n != 4)
        return 0;
    *out = (struct point){fields[0], fields[3], strtod(fields[1], NULL),
                          strcmp(fields[2], "-") == 0 ? NAN : strtod(fields[2], NULL)};
    return 1;
}

static int check(struct case_accountant *pld, const struct point *point)
{
    dpf_event events[CASE_MAX_EVENTS];
    dpf_answer answer = {.size = sizeof answer};
    char text[512], name[512];
    snprintf(text, sizeof text, "%s", point->events);
    snprintf(name, sizeof name, "%s", point->events);
    const int64_t n = case_parse(text, events);
    const dpf_question question = case_question(point->delta);
    plain_clear(&pld->host);
    if (pld->functions->epsilon(pld->host.self, events, n, &question, &answer) != DPF_OK)
        fail_msg("%s: %s", name, pld->host.report);
    const double upper = answer.epsilon, lower = answer.epsilon_lower, best = point->best;
    const int tight = upper - lower <= MOST_ABOVE * upper + 1e-9;
    int faults = !(lower <= upper);
    if (!isnan(best))
        faults += !(upper <= best * (1 + MOST_ABOVE) + 1e-9) + !(lower <= best * (1 + 1e-6) + 1e-12);
    if (strncmp(point->source, "exact", 5) == 0)
        faults += !(upper >= best * (1 - 1e-9)) + !(upper <= best * (1 + 1e-7) + 1e-12);
    faults += !tight;
    if (faults)
        print_error("%s, delta %g: [%.9g, %.9g], best known %.9g (%s)\n", name, point->delta, lower, upper,
                    best, point->source);
    return faults;
}

/* Whether two lists of events begin with a mechanism of one kind. */
static int is_alike(const struct point *a, const struct point *b)
{
    const size_t word = strcspn(a->events, " ");
    return strcspn(b->events, " ") == word && strncmp(a->events, b->events, word) == 0;
}

/* All points of the file; unless `all`, of every second list of events in a row of one kind the next one of its deltas. */
static int read_points(FILE *file, int all, struct point *points)
{
    static char lines[MOST_POINTS][1024];
    int n = 0, chosen = 0, list = 0, taken = 0, before = -1;
    while (n < MOST_POINTS && fgets(lines[n], sizeof lines[n], file))
        n += read_point(lines[n], &points[n]);
    assert_true(n >= 200 && n < MOST_POINTS);
    for (int first = 0, next; first < n; first = next, list++) {
        for (next = first + 1; next < n && strcmp(points[next].events, points[first].events) == 0;)
            next++;
        taken = before < 0 || !is_alike(&points[before], &points[first]) || !taken;
        before = first;
        for (int i = first; i < next; i++)
            if (all || (taken && i - first == list % (next - first)))
                points[chosen++] = points[i];
    }
    assert_true(list >= 60);
    return chosen;
}

/* With an argument all points, which takes a minute. */
TEST(no_answer_is_a_thousandth_above_the_best)
{
    struct case_accountant pld;
    static struct point points[MOST_POINTS];
    char path[4096];
    int faults = 0;
    snprintf(path, sizeof path, "%s/tests/golden/pld_points.tsv", getenv("DPFRAME_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const int n = read_points(file, test_argument() != NULL, points);
    fclose(file);
    case_open(&pld, "pld", "", NULL);
    for (int i = 0; i < n; i++)
        faults += check(&pld, &points[i]);
    case_close(&pld);
    print_message("%d points\n", n);
    assert_int_equal(faults, 0);
}
