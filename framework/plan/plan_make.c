/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "data/weights.h"
#include "plan/calibrate.h"
#include "plan/combinations.h"
#include "plan/components.h"
#include "plan/facts.h"
#include "plan/metric_release.h"
#include "plan/model_type.h"
#include "plan/sensitivity.h"
#include "plan/trainings.h"
#include "reading/data_params.h"

static int bind_section(struct plan *plan, const char *section, const dpf_param *(*params)(int64_t *n),
                        int strict, struct config_values *out, struct dpf_error *error)
{
    int64_t n;
    const dpf_param *table = params(&n);
    return components_bind(plan, section, table, n, strict, out, error);
}

static int bind_sections(struct plan *plan, int without_data, struct dpf_error *error)
{
    if (bind_section(plan, "run", schema_run, 1, &plan->run, error) != 0 ||
        bind_section(plan, "data", data_params, 1, &plan->data, error) != 0 ||
        bind_section(plan, "split", split_params, 1, &plan->split, error) != 0 ||
        bind_section(plan, "model", schema_model, 1, &plan->model, error) != 0 ||
        bind_section(plan, "parties", schema_parties, 1, &plan->parties, error) != 0 ||
        bind_section(plan, "privacy", privacy_params, 1, &plan->privacy, error) != 0 ||
        bind_section(plan, "accountants", schema_accountants, 1, &plan->accountant_list, error) != 0)
        return -1;
    if (data_check(&plan->data, &plan->split, &plan->value_lo, &plan->value_hi, error) == 0)
        return data_public_files(&plan->data, &plan->split, plan->public_files, error);
    if (!without_data || error->fault != DPF_FAULT_DATA)
        return -1;
    *error = (struct dpf_error){0};
    return 0;
}

static int read_order(struct plan *plan, struct dpf_error *error)
{
    int n = 0;
    char **names = components_names(plan->run.params.values[RUN_ORDER].text, &n);
    int status = n >= 1 && n <= 2 ? 0 : -1;
    for (int i = 0; i < n && status == 0; i++) {
        int side = strcmp(names[i], "users") == 0   ? DPF_SIDE_USERS
                   : strcmp(names[i], "items") == 0 ? DPF_SIDE_ITEMS
                                                    : -1;
        if (side < 0 || (i == 1 && plan->order[0] == side))
            status = -1;
        plan->order[plan->n_order++] = side;
    }
    free(names);
    if (status != 0)
        return config_error(plan->config, "run", "order", error,
                            "must be \"users, items\", \"items, users\", \"users\" or \"items\"");
    return 0;
}

/*
 * Columns of a factor row: [user bias | factors | item bias], where a row has the constant 1 in the
 * other side's bias column. So a prediction is a plain inner product, and the unknown columns of
 * either side are contiguous.
 */
static void set_shape(struct plan *plan)
{
    const dpf_value *v = plan->model.params.values;
    int rank = (int)v[MODEL_RANK].integer;
    int user_bias = (int)v[MODEL_USER_BIAS].integer, item_bias = (int)v[MODEL_ITEM_BIAS].integer;
    plan->columns = rank + user_bias + item_bias;
    plan->first[DPF_SIDE_USERS] = 0;
    plan->dimension[DPF_SIDE_USERS] = user_bias + rank;
    plan->bias[DPF_SIDE_USERS] = user_bias ? 0 : -1;
    plan->first[DPF_SIDE_ITEMS] = user_bias;
    plan->dimension[DPF_SIDE_ITEMS] = rank + item_bias;
    plan->bias[DPF_SIDE_ITEMS] = item_bias ? plan->columns - 1 : -1;
}

static int set_offset(struct plan *plan, struct dpf_error *error)
{
    const dpf_value *v = plan->model.params.values;
    switch (v[MODEL_OFFSET].integer) {
    case OFFSET_MIDPOINT:
        if (!isfinite(plan->value_lo) || !isfinite(plan->value_hi))
            return config_error(plan->config, "model", "offset", error,
                                "offset = midpoint needs the declared range of ratings: set [data] value-min "
                                "and value-max");
        plan->offset = (plan->value_lo + plan->value_hi) / 2;
        break;
    case OFFSET_VALUE:
        plan->offset = v[MODEL_OFFSET_VALUE].real;
        break;
    default:
        plan->offset = 0;
        break;
    }
    return 0;
}

/* Where noise and private draws come from: secret, or of [privacy] noise-seed and the domain. */
static struct random_root *noise_root(const struct plan *plan, const char *domain, struct dpf_error *error)
{
    const dpf_value *privacy = plan->privacy.params.values;
    return privacy[PRIVACY_RANDOMNESS].integer == 0
               ? random_root_secure(error)
               : random_root_seeded((uint64_t)privacy[PRIVACY_NOISE_SEED].integer, domain, error);
}

static int open_randomness(struct plan *plan, struct dpf_error *error)
{
    plan->seeded = random_root_seeded((uint64_t)plan->run.params.values[RUN_SEED].integer, "run", error);
    if (!plan->seeded)
        return -1;
    plan->privacy_root = noise_root(plan, "noise", error);
    /* Of any kind: the ranks have not compared their configurations yet. */
    if (!plan->privacy_root || random_root_share(plan->privacy_root, error) != 0)
        return -1;
    plan->environment.seeded = plan->seeded;
    plan->environment.privacy = plan->privacy_root;
    plan->environment.config = plan->config;
    return 0;
}

static int open_registry(struct plan *plan, const struct plan_options *options, struct dpf_error *error)
{
    const char *directories[17];
    int n = 0;
    for (; n < options->n_plugin_directories && n < 16; n++)
        directories[n] = options->plugin_directories[n];
    if (*plan->run.params.values[RUN_PLUGIN_DIR].text)
        directories[n++] = plan->run.params.values[RUN_PLUGIN_DIR].text;
    plan->registry = registry_open(directories, n, error);
    return plan->registry ? 0 : -1;
}

int plan_open(const struct plan_options *options, struct plan *plan, struct dpf_error *error)
{
    memset(plan, 0, sizeof *plan);
    plan->without_mechanisms = options->without_mechanisms;
    plan->stand_in = options->stand_in;
    plan->environment.metric = options->metric;
    plan->environment.metric_context = options->metric_context;
    const struct config_request request = {.path = options->config_path,
                                           .layers = options->layers,
                                           .n_layers = options->n_layers,
                                           .overrides = options->overrides,
                                           .n_overrides = options->n_overrides,
                                           .settings = options->settings,
                                           .n_settings = options->n_settings,
                                           .settings_directory = options->settings_directory};
    plan->config = config_load_layers(&request, error);
    if (!plan->config || bind_sections(plan, options->without_data, error) != 0 ||
        read_order(plan, error) != 0)
        return -1;
    set_shape(plan);
    if (set_offset(plan, error) != 0 || open_randomness(plan, error) != 0 ||
        open_registry(plan, options, error) != 0)
        return -1;
    const dpf_value *privacy = plan->privacy.params.values;
    plan->guarantee.unit = (int)privacy[PRIVACY_UNIT].integer;
    plan->guarantee.adjacency = (int)privacy[PRIVACY_ADJACENCY].integer;
    plan->guarantee.observer = (int)privacy[PRIVACY_OBSERVER].integer;
    plan->guarantee.delta = privacy[PRIVACY_DELTA].real;
    struct data_weight_range weights;
    data_weight_range(&plan->data, &weights);
    plan->guarantee.weight_lo = weights.lo;
    plan->guarantee.weight_hi = weights.hi;
    struct dpf_error first = {0};
    plan->error = &first;
    plan->type = model_type_of(&plan->model);
    plan->type->make(plan);
    components_make_accountants(plan);
    plan->error = NULL;
    if (first.fault)
        *error = first;
    return first.fault ? -1 : 0;
}

int plan_check_read(struct plan *plan, struct dpf_error *error)
{
    if (plan->without_mechanisms || plan->stand_in) /* a twin of what has been checked, with less in it */
        return 0;
    static const char *const sections[] = {"run",     "data",        "split", "model", "parties",
                                           "privacy", "accountants", "users", "items", "evaluate",
                                           "sweep",   "select",      "audit"};
    if (components_check_elsewhere(plan, error) != 0)
        return -1;
    return config_check_consumed(plan->config, sections, sizeof sections / sizeof sections[0], error);
}

/* More users (or items) than declared: the likely cause first, since raising a bound costs every user. */
static int refuse_size(const struct plan *plan, int side, const int64_t *data, const int64_t *declared,
                       struct dpf_error *error)
{
    const int other = 1 - side;
    const char *name = plan_side_name(side);
    const int swapped = data[other] >= 0 && data[other] <= declared[side] &&
                        (!declared[other] || data[side] <= declared[other]);
    return config_error(
        plan->config, "model", name, error,
        "the data has %lld %s, but at most %lld are declared. %sIf columns, delimiter and quotes are right "
        "(see [data]) and there can be that many %s, raise the number: it is a public bound that the "
        "guarantee depends on",
        (long long)data[side], name, (long long)declared[side],
        swapped ? "Users and items look swapped: see data.column.user and data.column.item. " : "", name);
}

static int take_sizes(struct plan *plan, int64_t n_users, int64_t n_items, struct dpf_error *error)
{
    const dpf_value *v = plan->model.params.values;
    int64_t data[2] = {n_users, n_items};
    int64_t declared[2] = {v[MODEL_USERS].integer, v[MODEL_ITEMS].integer};
    /* Where a bound stands in place of the list of users, how many there are decides nothing: the bound remains
       what public quantities are divided by. */
    struct fact_question question;
    facts_question(plan, &question);
    const int hidden = input_hides_users(&question);
    if (hidden && declared[DPF_SIDE_USERS] && data[DPF_SIDE_USERS] > declared[DPF_SIDE_USERS])
        log_message(LOG_LEVEL_WARNING,
                    "there are more users than [model] users declares (%lld); nothing that is released says "
                    "so, and what is proved holds. Raise the number, or see data.column.user",
                    (long long)declared[DPF_SIDE_USERS]);
    for (int side = hidden ? DPF_SIDE_ITEMS : DPF_SIDE_USERS; side < 2; side++)
        if (declared[side] && data[side] > declared[side])
            return refuse_size(plan, side, data, declared, error);
    plan->n_users = declared[0] ? declared[0] : data[0];
    plan->n_items = declared[1] ? declared[1] : data[1];
    plan->n_present = hidden || n_users < 0 ? plan_rows(plan, DPF_SIDE_USERS) : n_users;
    plan->sizes_known = plan->n_users > 0 && plan->n_items > 0;
    return 0;
}

static int choose_metric_noise(struct plan *plan, struct dpf_error *error)
{
    if (plan->metrics.numbers == 0)
        return 0;
    struct instance *accountant = calibrate_accountant(plan, "[evaluate] release = noisy", error);
    return accountant ? metric_release_choose(plan, accountant, error) : -1;
}

int plan_complete(struct plan *plan, int64_t n_users, int64_t n_items, struct dpf_error *error)
{
    if (plan_check_read(plan, error) != 0 || take_sizes(plan, n_users, n_items, error) != 0)
        return -1;
    if (plan->type->complete(plan, error) != 0)
        return -1;
    if (combinations_check_home_terms(plan, error) != 0 || combinations_check_held_out(plan, error) != 0)
        return -1;
    if (plan->run.params.values[RUN_CHECKPOINT].integer && combinations_check_checkpoint(plan, error) != 0)
        return -1;
    if (choose_metric_noise(plan, error) != 0)
        return -1;
    metric_release_charge(plan);
    if (calibrate_total(plan, error) != 0)
        return -1;
    facts_complete(plan);
    guarantee_conditions(&plan->privacy, &plan->run_facts, &plan->ledger, &plan->guarantee);
    if (guarantee_account(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                          plan->run_facts.rounds, error) != 0)
        return -1;
    const int64_t again =
        plan->without_mechanisms ? 0 : plan->run.params.values[RUN_COMPARE_REPETITIONS].integer;
    return again > 0 ? trainings_count(plan, again + 1, error) : 0;
}

/* Whether lists are public: what a plan then refuses follows from them and from keys alone. */
static int has_public_lists(const struct plan *plan)
{
    struct fact_question question;
    facts_question(plan, &question);
    return input_allows(input_decider(INPUT_USERS, &question), &question.promise) &&
           input_allows(input_decider(INPUT_ITEMS, &question), &question.promise);
}

int plan_judge_faults(const struct plan *plan, int status, struct violations *found,
                      struct violations *left_out, struct dpf_error *error)
{
    if (status == 0 && plan->guarantee.zero_violations) {
        violations_join(left_out, found);
        return 0;
    }
    if (found->n == 0 || (status != 0 && has_public_lists(plan)))
        return status;
    *error = (struct dpf_error){0};
    return violations_report(found, error);
}

void plan_measure(struct plan *plan)
{
    reach_measure(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                  plan->run_facts.rounds);
}

static void rekey(struct instance *instance, void *root)
{
    instance_rekey(instance, root);
}

int plan_rekey(struct plan *plan, const char *domain, struct dpf_error *error)
{
    struct random_root *root = noise_root(plan, domain, error);
    if (!root)
        return -1;
    plan->environment.privacy = root;
    plan_visit(plan, rekey, root);
    random_root_free(plan->privacy_root);
    plan->privacy_root = root;
    return 0;
}

void plan_free(struct plan *plan)
{
    components_free(plan);
    free(plan->facts);
    free(plan->output);
    guarantee_free(&plan->guarantee);
    ledger_free(&plan->ledger);
    registry_free(plan->registry);
    random_root_free(plan->seeded);
    random_root_free(plan->privacy_root);
    config_values_free(&plan->run);
    config_values_free(&plan->data);
    config_values_free(&plan->split);
    config_values_free(&plan->model);
    config_values_free(&plan->parties);
    config_values_free(&plan->privacy);
    config_values_free(&plan->accountant_list);
    config_free(plan->config);
    memset(plan, 0, sizeof *plan);
}
