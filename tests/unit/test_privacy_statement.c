/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts and the two forms of the statement, with scripted accountants. */
#include "kit/privacy_case.h"

#include "plugin/registry.h"

/* ---- accountants that answer what the test says --------------------------------------------------- */

static dpf_answer scripted;
static dpf_status scripted_status;
static dpf_question asked;
static int64_t asked_events;
static const dpf_host *host_of_instance;

static dpf_status script_create(const dpf_host *host, const dpf_params *params, void **self)
{
    (void)params;
    host_of_instance = host;
    *self = &scripted;
    return DPF_OK;
}

static void script_destroy(void *self)
{
    (void)self;
}

static const char scripted_reason[] =
    "event 0 (items): cannot do it. This is the reason of an accountant that explains itself at some length: "
    "which event it is about, what the question asks of it, why no theorem that it knows covers the two of "
    "them together, which other adjacency or other sampling would bring the event under one, and which other "
    "accountant has a weaker theorem that covers it as it is. Nothing of that is cut off before its last "
    "word";

static dpf_status script_epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                                 dpf_answer *answer)
{
    (void)self;
    (void)events;
    asked = *question;
    asked_events = n;
    *answer = scripted;
    if (scripted_status != DPF_OK)
        return (host_of_instance->fail)(host_of_instance, scripted_status, -1, scripted_reason);
    return DPF_OK;
}

static const dpf_accountant proof = {.kind = DPF_ACCOUNTANT_PROOF, .epsilon = script_epsilon};
static const dpf_accountant claim = {.kind = DPF_ACCOUNTANT_CLAIM, .epsilon = script_epsilon};

static dpf_component script_component(const dpf_accountant *functions)
{
    return (dpf_component){.size = sizeof(dpf_component),
                           .role = DPF_ROLE_ACCOUNTANT,
                           .id = functions == &proof ? "prover" : "claimer",
                           .version = "1.0.0",
                           .summary = "scripted",
                           .citation = "",
                           .param_stride = sizeof(dpf_param),
                           .create = script_create,
                           .destroy = script_destroy,
                           .functions = functions};
}

/* Asks one scripted accountant; more are appended by asking again with another guarantee. */
static int account_with(struct privacy_case *c, const dpf_accountant *functions)
{
    const dpf_component component = script_component(functions);
    const struct registry_entry entry = {.component = &component, .path = "/test.so"};
    const struct instance_environment environment = {.config = c->config};
    struct instance *instance = instance_new(&entry, "accountants.test", &environment, &c->error);
    if (!instance)
        fail_msg("%s", c->error.text);
    const int status = guarantee_account(&c->guarantee, &instance, 1, &c->ledger, 10, &c->error);
    instance_free(instance);
    return status;
}

static void script(double epsilon, double delta)
{
    memset(&scripted, 0, sizeof scripted);
    scripted.size = sizeof scripted;
    scripted.epsilon = epsilon;
    scripted.epsilon_lower = NAN;
    scripted.delta = delta;
    scripted.order = 4.75;
    snprintf(scripted.source, sizeof scripted.source,
             "Theorem 1 of a long and winding publication whose title does "
             "not fit into a column of the statement");
    scripted_status = DPF_OK;
}

/* ---- helpers -------------------------------------------------------------------------------------- */

static size_t size_of(json_t *json, const char *key)
{
    json_t *list = json_object_get(json, key);
    assert_true(json_is_array(list));
    return json_array_size(list);
}

static void has(const char *text, const char *word)
{
    if (!strstr(text, word))
        fail_msg("no \"%s\" in:\n%s", word, text);
}

/* The text, checked for its width and for being free of what the caller does not expect. */
static char *statement(struct privacy_case *c)
{
    char *text = guarantee_text(&c->guarantee);
    assert_non_null(text);
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 100)
            fail_msg("%d columns: %.*s", (int)length, (int)length, line);
        assert_true(length == 0 || line[length - 1] != ' ');
        line += length + (line[length] == '\n');
    }
    return text;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

TEST(asks_the_configured_question)
{
    struct privacy_case c;
    case_start(&c);
    case_privacy(&c, "unit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-7");
    case_judge(&c);
    script(1.0, 1e-7);
    assert_int_equal(account_with(&c, &proof), 0);
    assert_int_equal(asked.unit, DPF_UNIT_USER);
    assert_int_equal(asked.adjacency, DPF_ADJ_ZERO_OUT);
    assert_int_equal(asked.observer, DPF_OBSERVER_SERVER);
    assert_true(asked.delta == 1e-7);
    assert_int_equal(asked.rounds, 10);
    assert_int_equal(asked_events, 1);
    case_end(&c);
}

TEST(a_proof_is_stated)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(2.5, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 1);
    assert_int_equal(size_of(json, "published"), 0);
    assert_int_equal(size_of(json, "conditions"), N_CONDITIONS);
    json_t *proved = json_array_get(json_object_get(json, "proved"), 0);
    assert_true(json_real_value(json_object_get(proved, "epsilon")) == 2.5);
    assert_string_equal(json_string_value(json_object_get(proved, "adjacency")), "replace");
    assert_true(json_is_false(json_object_get(proved, "plan")));
    json_decref(json);
    char *text = statement(&c);
    has(text, "epsilon = 2.5, delta = 1e-05");
    has(text, "AS PUBLISHED");
    has(text, "set [privacy] delta"); /* nobody chose this delta */
    assert_null(strstr(text, "FAILS"));
    assert_null(strstr(text, "none\n"));
    free(text);
    case_end(&c);
}

TEST(nothing_is_proved_if_a_condition_fails)
{
    struct privacy_case c;
    case_start(&c);
    c.term.reads = FROM_RAW_DATA;
    snprintf(c.term.reads_why, sizeof c.term.reads_why, "user factors come from raw ratings");
    case_judge(&c);
    script(2.5, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    assert_int_equal(size_of(json, "unproved"), 1);
    json_decref(json);
    char *text = statement(&c);
    has(text, "none");
    has(text, "These conditions fail: C2 (public inputs).");
    has(text, "would say epsilon = 2.5");
    free(text);
    case_end(&c);
}

TEST(a_claim_is_no_proof)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(0.1, 1e-5);
    assert_int_equal(account_with(&c, &claim), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    assert_int_equal(size_of(json, "published"), 1);
    json_decref(json);
    char *text = statement(&c);
    has(text, "epsilon = 0.1");
    has(text, "No accountant that proves its answer is listed.");
    free(text);
    case_end(&c);
}

TEST(seeded_noise_gives_the_guarantee_of_the_plan)
{
    struct privacy_case c;
    case_start(&c);
    c.facts.secure = 0;
    c.facts.local_users = 1;
    case_judge(&c);
    script(2.5, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    json_t *proved = json_array_get(json_object_get(json, "proved"), 0);
    assert_true(json_is_true(json_object_get(proved, "plan")));
    assert_true(json_is_true(json_object_get(proved, "joint")));
    json_decref(json);
    char *text = statement(&c);
    has(text, "guarantee of the PLAN");
    has(text, "joint differential privacy");
    free(text);
    case_end(&c);
}

TEST(a_calibrated_factor_is_stated)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(2.5, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    char *text = statement(&c);
    assert_true(strstr(text, "of all mechanisms times") == NULL);
    free(text);
    c.guarantee.noise_factor = 1.625;
    text = statement(&c);
    has(text, "of all mechanisms times 1.625, chosen so that");
    free(text);
    case_end(&c);
}

TEST(a_deviation_leaves_nothing_proved)
{
    struct privacy_case c;
    case_start(&c);
    ledger_deviate(&c.ledger, "round 3 had too few survivors");
    case_judge(&c);
    script(2.5, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    json_decref(json);
    char *text = statement(&c);
    has(text, "The run departed from its plan: round 3");
    free(text);
    case_end(&c);
}

TEST(an_infinite_epsilon_proves_nothing)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(INFINITY, 1e-5);
    snprintf(scripted.note, sizeof scripted.note, "a release is made without noise");
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    json_t *unproved = json_array_get(json_object_get(json, "unproved"), 0);
    assert_string_equal(json_string_value(json_object_get(unproved, "epsilon")), "infinity");
    json_decref(json);
    char *text = statement(&c);
    has(text, "epsilon is infinite");
    free(text);
    case_end(&c);
}

static void row_has(const struct privacy_case *c, const char *what)
{
    struct sheet table = {0};
    struct text text = {0};
    guarantee_row_columns(&table);
    guarantee_row(&c->guarantee, "it", &table);
    sheet_write(&table, SHEET_MARKDOWN, 0, &text);
    has(text.data, what);
    text_free(&text);
    sheet_free(&table);
}

TEST(a_refusal_is_reported_with_its_reason)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(1.0, 1e-5);
    scripted_status = DPF_E_UNSUPPORTED;
    assert_int_equal(account_with(&c, &proof), 0);
    assert_int_equal(c.guarantee.accounts[0].refused, 1);
    has(c.guarantee.accounts[0].reason, "cannot do it");
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    assert_int_equal(size_of(json, "refused"), 1);
    json_decref(json);
    char *text = statement(&c);
    has(text, "refuses");
    has(text, "last word\n");
    free(text);
    row_has(&c, "| none | prover refuses |");
    case_end(&c);
}

/* Whatever proves nothing says why. */
TEST(a_row_without_a_proof_says_why)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    row_has(&c, "| none | no accountant that proves |");
    script((double)INFINITY, 1e-5);
    assert_int_equal(account_with(&c, &proof), 0);
    row_has(&c, "| none | prover has no finite epsilon |");
    case_end(&c);
}

TEST(nonsense_from_an_accountant_is_an_error)
{
    static const double epsilons[] = {NAN, -0.1, 1.0, 1.0}, deltas[] = {0.0, 0.0, NAN, 1.5};
    for (int i = 0; i < 4; i++) {
        struct privacy_case c;
        case_start(&c);
        case_judge(&c);
        script(epsilons[i], deltas[i]);
        assert_int_equal(account_with(&c, &proof), -1);
        assert_int_equal(c.error.fault, DPF_FAULT_PLUGIN);
        has(c.error.text, "prover");
        case_end(&c);
    }
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    scripted_status = DPF_E_NUMERIC;
    assert_int_equal(account_with(&c, &proof), -1);
    has(c.error.text, "cannot do it");
    assert_int_equal(c.guarantee.n_accounts, 0);
    case_end(&c);
}

TEST(numbers_are_rounded_up)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    script(1.2345612, 1e-5); /* six digits would be 1.23456 */
    assert_int_equal(account_with(&c, &proof), 0);
    char *text = statement(&c);
    has(text, "epsilon = 1.23457,");
    free(text);
    case_end(&c);
}

TEST(a_baseline_without_noise_protects_nothing)
{
    struct privacy_case c;
    case_start(&c);
    c.facts.n_terms = 0;
    c.facts.released_raw = 1;
    snprintf(c.facts.released_raw_why, sizeof c.facts.released_raw_why,
             "both sides are released as they are");
    c.ledger.n = 0;
    case_judge(&c);
    script(0.0, 1e-5); /* an empty ledger costs nothing, and that must not be read as privacy */
    assert_int_equal(account_with(&c, &proof), 0);
    json_t *json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    json_decref(json);
    char *text = statement(&c);
    has(text, "Factors are released without noise");
    free(text);
    c.facts.released_raw = 0;
    case_judge(&c);
    json = guarantee_json(&c.guarantee);
    assert_int_equal(size_of(json, "proved"), 0);
    json_decref(json);
    text = statement(&c);
    has(text, "Nothing is released with noise");
    free(text);
    case_end(&c);
}
