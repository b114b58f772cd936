/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every row of accounting.tsv through the built accountants. */
#include "kit/accounting_case.h"

enum column {
    ACCOUNTANT,
    SETTINGS,
    ORDERS,
    EVENTS,
    QUANTITY,
    AT,
    EXPECTED,
    TOLERANCE,
    SENSE,
    SOURCE,
    N_COLUMNS
};

/* The sums that these are events of: a unit that is replaced moves them by twice what one that comes does. */
static void state_replace(dpf_event *events, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const dpf_norms *one = &events[i].sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
        events[i].sensitivity.at[DPF_UNIT_USER][DPF_ADJ_REPLACE] =
            (dpf_norms){2.0 * one->l1, 2.0 * one->l2, 2.0 * one->linf};
    }
}

static double measure_with(struct case_accountant *accountant, const char *quantity, const dpf_event *events,
                           int64_t n, double at)
{
    if (strncmp(quantity, "epsilon", 7) == 0)
        return case_epsilon(accountant, events, n, at);
    if (strncmp(quantity, "delta", 5) == 0)
        return case_delta(accountant, events, n, at);
    fail_msg("unknown quantity: %s", quantity);
    return NAN;
}

/* A quantity is asked for add-remove, or for what stands behind its slash. */
static double measure(char *const *cells)
{
    dpf_event events[CASE_MAX_EVENTS];
    const int64_t n = case_parse(cells[EVENTS], events);
    const double at = strtod(cells[AT], NULL);
    const char *quantity = cells[QUANTITY], *slash = strchr(quantity, '/');
    const int is_replace = slash && strcmp(slash, "/replace") == 0;
    assert_true(!slash || is_replace || strcmp(slash, "/zero-out") == 0);
    case_adjacency = !slash ? DPF_ADJ_ADD_REMOVE : is_replace ? DPF_ADJ_REPLACE : DPF_ADJ_ZERO_OUT;
    state_replace(events, n);
    if (strncmp(quantity, "rdp", 3) == 0)
        return case_divergence(events, n, at);
    if (strcmp(quantity, "log-moment") == 0)
        return (at - 1.0) * case_divergence(events, n, at);
    struct case_accountant accountant;
    case_open(&accountant, cells[ACCOUNTANT], strcmp(cells[SETTINGS], "-") ? cells[SETTINGS] : "",
              strcmp(cells[ORDERS], "-") ? cells[ORDERS] : NULL);
    const double value = measure_with(&accountant, quantity, events, n, at);
    case_close(&accountant);
    return value;
}

/* two: near the value; most, least: on that side of it. */
static int agrees(const char *sense, double value, double expected, double tolerance)
{
    const int above = value >= expected - tolerance * fabs(expected);
    const int below = value <= expected + tolerance * fabs(expected);
    if (strcmp(sense, "two") == 0)
        return above && below;
    if (strcmp(sense, "least") == 0)
        return above;
    assert_string_equal(sense, "most");
    return below;
}

static int check_row(char *line, int number)
{
    char *cells[N_COLUMNS];
    int n = 0;
    for (char *at = line; at && n < N_COLUMNS; n++) {
        cells[n] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    if (n != N_COLUMNS)
        fail_msg("accounting.tsv:%d: %d columns instead of %d", number, n, N_COLUMNS);
    char events[512];
    snprintf(events, sizeof events, "%s", cells[EVENTS]);
    const double value = measure(cells), expected = strtod(cells[EXPECTED], NULL);
    if (agrees(cells[SENSE], value, expected, strtod(cells[TOLERANCE], NULL)))
        return 0;
    print_error("accounting.tsv:%d: %s of %s at %s is %.12g, expected (%s) %.12g; %s\n", number,
                cells[QUANTITY], events, cells[AT], value, cells[SENSE], expected, cells[SOURCE]);
    return 1;
}

TEST(agrees_with_every_row)
{
    char path[4096], line[2048];
    const char *source = getenv("DPFRAME_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/golden/accounting.tsv", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int rows = 0, replaced = 0, failures = 0, number = 0;
    while (fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        replaced += strstr(line, "/replace\t") != NULL;
        failures += check_row(line, number);
        rows++;
    }
    fclose(file);
    print_message("%d rows, %d of them for replace\n", rows, replaced);
    assert_true(rows >= 180);
    assert_true(replaced >= 20);
    assert_int_equal(failures, 0);
}
