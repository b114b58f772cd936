/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/accounting_table.h"

#include <dirent.h>

struct column_of_table columns[N_COLUMNS_OF_ACCOUNTANTS] = {
    {.id = "pure", .settings = "", .units = 3},
    {.id = "heterogeneous", .settings = "", .units = 1 << DPF_UNIT_RECORD},
    {.id = "rdp", .settings = "", .units = 3},
    {.id = "zcdp", .settings = "", .units = 3},
    {.id = "pld", .settings = "tolerance=0.05", .units = 3},
    {.id = "published", .settings = "claim=per-release", .units = 3},
    {.id = "published", .settings = "claim=gaussian-rdp-eq9", .units = 3},
};

const struct row_of_table rows[N_ROWS] = {
    {"no-op", "0000000", "======="},
    {"non-private", "iiiiii-", "======="},
    {"unsupported", "-------", "======="},
    {"laplace scale=3", "vvvvvv-", "aaaaa=="},
    {"gaussian scale=4", "--vvvvv", "==a=a=="},
    {"discrete-laplace scale=3 grid=.5", "vvvvvv-", "aaaaa=="},
    {"discrete-gaussian scale=4 grid=.015625", "--vvvvv", "==a=a=="},
    {"pure p0=.3", "vvvvvv-", "aaaaa=="},
    {"approx p0=.2 p1=1e-8", "--vvvv-", "==aaa=="},
    {"zcdp p0=.001 p1=.02", "--vvv--", "======="},
    {"skellam p0=16 grid=.25", "--vvv--", "==a=a=="},
    {"pbm p0=.1 p1=2 p2=20 p3=3", "--u-u--", "======="},
    {"randomized-response p0=.4", "v-vvvv-", "a=aaa=="},
    /* Alone they are pieces of a ledger: test_golden_selection has whole ones. */
    {"selection p1=1 p2=.1 p3=1", "-------", "======="},
    {"candidate p0=0", "-------", "======="},
    {"correlated-gaussian scale=4 grid=.015625 p0=9 p1=3 p2=3 p3=1", "--vvv--", "======="},
};

dpf_event row_event(int32_t kind)
{
    char text[128];
    dpf_event event;
    snprintf(text, sizeof text, "%s", rows[kind].event);
    assert_int_equal(case_parse(text, &event), 1);
    assert_int_equal(event.kind, kind);
    return event;
}

static int is_accountant_known(const char *id)
{
    for (int c = 0; c < N_COLUMNS_OF_ACCOUNTANTS; c++)
        if (strcmp(columns[c].id, id) == 0)
            return 1;
    return 0;
}

/* All built plugins: an accountant without a column is not tested. */
static void check_accountants_are_known(void)
{
    char path[4096], name[256];
    const char *build = getenv("DPFRAME_BUILD_DIR");
    int found = 0;
    assert_non_null(build);
    snprintf(path, sizeof path, "%s/plugins", build);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length < 4 || length >= sizeof name || strcmp(entry->d_name + length - 3, ".so") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length - 3, entry->d_name);
        const dpf_plugin *plugin = plain_plugin(name);
        for (uint32_t i = 0; i < plugin->n_components; i++) {
            if (strcmp(plugin->components[i]->role, DPF_ROLE_ACCOUNTANT) != 0)
                continue;
            found++;
            if (!is_accountant_known(plugin->components[i]->id))
                fail_msg("accounting_table.h has no column for accountant %s", plugin->components[i]->id);
        }
    }
    closedir(directory);
    assert_true(found >= 6);
}

int accounting_table_open(void **state)
{
    (void)state;
    /* Names are made of the kinds that the headers know; the one after the last has none. */
    for (int32_t kind = 0; kind < N_ROWS; kind++)
        if (strcmp(dpf_event_kind_name(kind), "unknown") == 0)
            return -1;
    if (strcmp(dpf_event_kind_name(N_ROWS), "unknown") != 0) {
        print_error("accounting_table.h has no row for events of kind %s\n", dpf_event_kind_name(N_ROWS));
        return -1;
    }
    check_accountants_are_known();
    for (int c = 0; c < N_COLUMNS_OF_ACCOUNTANTS; c++)
        case_open(&columns[c].instance, columns[c].id, columns[c].settings, NULL);
    return 0;
}

int accounting_table_close(void **state)
{
    (void)state;
    for (int c = 0; c < N_COLUMNS_OF_ACCOUNTANTS; c++)
        case_close(&columns[c].instance);
    return 0;
}

dpf_question table_question(int32_t unit, int32_t adjacency)
{
    return (dpf_question){.size = sizeof(dpf_question),
                          .unit = unit,
                          .adjacency = adjacency,
                          .observer = DPF_OBSERVER_OUTSIDER,
                          .delta = 1e-5,
                          .epsilon = 0.7,
                          .rounds = 1};
}

dpf_status table_ask(int column, const dpf_event *events, int64_t n, const dpf_question *question,
                     double *epsilon)
{
    struct case_accountant *accountant = &columns[column].instance;
    dpf_answer answer = {.size = sizeof answer, .epsilon = (double)NAN};
    plain_clear(&accountant->host);
    const dpf_status status =
        accountant->functions->epsilon(accountant->host.self, events, n, question, &answer);
    *epsilon = answer.epsilon;
    return status;
}

char table_verdict(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    const char verdict = rows[kind].verdicts[column];
    if (!(columns[column].units & (1 << unit)))
        return '-';
    if (verdict != 'u')
        return verdict;
    return unit == DPF_UNIT_USER && (adjacency == DPF_ADJ_REPLACE || adjacency == DPF_ADJ_ZERO_OUT) ? 'v'
                                                                                                    : '-';
}
