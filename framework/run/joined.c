/* SPDX-License-Identifier: Apache-2.0 */
#include "run/joined.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/ticker.h"
#include "plugin/registry.h"
#include "reading/data_options.h"
#include "reading/data_params.h"

/* What joins, for as long as the process runs. */
static struct {
    struct config *config; /* for the parameters of the component, in [run.comm] */
    struct registry *registry;
    struct random_root *root; /* that it does not read */
    struct instance *instance;
    struct ranks_group group;
} joined;

static int number_in(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    char *end;
    const long number = text ? strtol(text, &end, 10) : -1;
    return text && *text && *end == '\0' && number >= 0 && number <= INT32_MAX ? (int)number : otherwise;
}

/* Open MPI's mpirun tells both numbers; srun --mpi=pmix has a rank for PMIx and a count of its own. */
int joined_launched(void)
{
    const int alone = number_in("PMIX_RANK", -1) < 0 ? 1 : number_in("SLURM_STEP_NUM_TASKS", 1);
    return number_in("OMPI_COMM_WORLD_SIZE", alone);
}

int joined_launched_as(void)
{
    return number_in("OMPI_COMM_WORLD_RANK", number_in("PMIX_RANK", 0));
}

/* [run] comm and plugin-dir, read before a plan is: the ranks agree on everything that comes after. */
struct wishes {
    struct config *config;
    const char *comm, *plugin_dir;
    int refused; /* comm = self where others were started */
};

static const char *wish(const struct wishes *wishes, const char *key, const char *otherwise)
{
    const struct config_entry *entry = wishes->config ? config_find(wishes->config, "run", key) : NULL;
    return entry && *entry->value ? entry->value : otherwise;
}

static void read_wishes(const struct arguments *arguments, struct wishes *out)
{
    struct dpf_error ignored = {0};
    out->config = arguments->config
                      ? config_load(arguments->config, arguments->overrides, arguments->n_overrides, &ignored)
                      : NULL;
    out->comm = wish(out, "comm", "auto");
    out->plugin_dir = wish(out, "plugin-dir", "");
    const int others = joined_launched() > 1;
    out->refused = others && strcmp(out->comm, "self") == 0;
    if (strcmp(out->comm, "auto") == 0 || out->refused)
        out->comm = others ? "mpi" : "self";
}

static void explain(void *context, dpf_status status, struct dpf_error *error)
{
    instance_result(context, status, "ranks", error);
}

static int make_instance(const struct arguments *arguments, struct wishes *wishes, struct dpf_error *error)
{
    const char *directories[MAX_PLUGIN_DIRS + 1];
    int n = 0;
    for (; n < arguments->n_plugin_dirs; n++)
        directories[n] = arguments->plugin_dirs[n];
    if (*wishes->plugin_dir == '/')
        directories[n++] = wishes->plugin_dir;
    joined.registry = registry_open(directories, n, error);
    joined.config = wishes->config ? wishes->config : config_parse("run", "", 0, error);
    wishes->config = NULL;
    joined.root = joined.registry && joined.config ? random_root_seeded(0, "ranks", error) : NULL;
    if (!joined.root)
        return -1;
    const struct registry_entry *entry = registry_find(joined.registry, DPF_ROLE_COMM, wishes->comm, error);
    const struct instance_environment environment = {
        .seeded = joined.root, .privacy = joined.root, .config = joined.config};
    joined.instance = entry ? instance_new(entry, "run.comm", &environment, error) : NULL;
    return joined.instance ? 0 : -1;
}

/* Standard output stays open, so that what is printed by mistake goes nowhere instead of into a file. */
static void be_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    log_set_level(LOG_LEVEL_NONE);
    ticker_set(TICKER_OFF);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

static int join(const struct arguments *arguments, struct wishes *wishes, struct dpf_error *error)
{
    joined.group.ranks.size = sizeof joined.group.ranks;
    if (make_instance(arguments, wishes, error) != 0)
        return -1;
    joined.group.functions = joined.instance->functions;
    joined.group.self = joined.instance->self;
    joined.group.explain = explain;
    joined.group.context = joined.instance;
    const dpf_status status = joined.group.functions->open(joined.group.self, &joined.group.ranks);
    if (instance_result(joined.instance, status, "open", error) != 0)
        return -1;
    ranks_join(&joined.group);
    if (ranks_rank() > 0)
        be_silent();
    else if (ranks_size() > 1)
        log_message(LOG_LEVEL_INFO, "%d ranks, %d of them on this machine", ranks_size(), ranks_near());
    return 0;
}

int joined_fail(struct dpf_error *error)
{
    struct wishes wishes = {.comm = "mpi", .plugin_dir = ""};
    struct dpf_error ignored = {0};
    struct arguments *none = memory_new(1, sizeof *none);
    if (none && ranks_size() == 1 && joined_launched() > 1) {
        joined_close();
        join(none, &wishes, &ignored);
        config_free(wishes.config);
    }
    free(none);
    return ranks_agree(-1, error);
}

int joined_open(const struct arguments *arguments, struct dpf_error *error)
{
    struct wishes wishes;
    if (joined_launched_as() > 0)
        log_set_level(LOG_LEVEL_NONE); /* what is warned of before, rank 0 warns of */
    read_wishes(arguments, &wishes);
    int status = strcmp(wishes.comm, "self") == 0 ? 0 : join(arguments, &wishes, error);
    if (status == 0 && wishes.refused)
        status =
            error_set(error, DPF_FAULT_CONFIG,
                      "[run] comm = self, and %d processes were started, each of which would make the whole "
                      "run: set comm = auto, or start one process",
                      joined_launched());
    config_free(wishes.config);
    return status == 0 ? 0 : joined_fail(error);
}

const struct registry *joined_registry(void)
{
    return joined.registry;
}

void joined_close(void)
{
    ranks_join(NULL);
    instance_free(joined.instance);
    registry_free(joined.registry);
    random_root_free(joined.root);
    config_free(joined.config);
    memset(&joined, 0, sizeof joined);
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

int joined_costs(struct rank_cost *costs, struct dpf_error *error)
{
    struct rusage usage;
    int64_t *even = memory_need((size_t)ranks_size() + 1, sizeof *even);
    for (int r = 0; r <= ranks_size(); r++)
        even[r] = r;
    getrusage(RUSAGE_SELF, &usage);
    costs[ranks_rank()] = (struct rank_cost){seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime),
                                             (double)ranks_bytes(), 1024.0 * (double)usage.ru_maxrss};
    const int status = ranks_gather(costs, sizeof *costs, even, error);
    free(even);
    return status;
}

/* ---- what is refused ------------------------------------------------------------------------------------
 */

static int refuse(const struct plan *plan, const char *section, const char *key, const char *what,
                  struct dpf_error *error)
{
    return config_error(plan->config, section, key, error,
                        "%s. So it does not run on %d ranks; run it with one process, without mpirun", what,
                        ranks_size());
}

/* A sum over ranks is made of the ranks' sums: there must be nothing in an aggregation beside them. */
static int adds_up(const struct instance *instance)
{
    const dpf_aggregator *aggregator = instance->functions;
    return aggregator->merge && !aggregator->state_bytes && (aggregator->flags & DPF_AGGREGATOR_BY_ROWS);
}

static int check_aggregator(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    /* The ranks' residues are added before they are reduced. */
    if (term->noise.modulus > (uint64_t)(INT64_MAX / ranks_size()))
        return refuse(plan, plan_side_name(term->side), "mechanism",
                      "sums modulo so large a number do not fit 64 bits", error);
    if (adds_up(term->aggregator))
        return 0;
    return refuse(
        plan, plan_side_name(term->side), "aggregator",
        "the aggregator keeps more than a sum of rows (as secure aggregation does), and ranks exchange "
        "only sums; modular-sum opens the same sums",
        error);
}

static int check_term(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    if (term->source == SOURCE_RELATION)
        return refuse(plan, term->name, "source", "the ranks do not exchange what friends send", error);
    if (!term->mechanism)
        return 0;
    if (plan->run.params.values[RUN_NOISE].integer)
        return refuse(plan, "run", "noise",
                      "noise is what a sum has beside what all parties added, and a rank knows its own",
                      error);
    if (term->whole_message && !term->by_user)
        return refuse(plan, "parties", "kind",
                      "a message of all rows that one curator makes and transforms is not divided", error);
    return check_aggregator(plan, term, error);
}

int joined_check(const struct plan *plan, struct dpf_error *error)
{
    if (ranks_size() == 1)
        return 0;
    const struct instance *aggregator = plan->recommender.aggregator;
    if (!plan_has(plan, MODEL_DIVIDES))
        return refuse(plan, "model", "recommender",
                      "this recommender reads all users' records, and each rank has only its own users'",
                      error);
    if (aggregator && !adds_up(aggregator))
        return refuse(
            plan, "model", "aggregator",
            "the aggregator keeps more than a sum (as secure aggregation does), and ranks exchange only "
            "sums; modular-sum opens the same sums",
            error);
    if (plan->split.params.values[S_KIND].integer == SPLIT_USERS)
        return refuse(plan, "split", "kind", "held-out users are not divided among ranks", error);
    const int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    if (kind == PARTIES_SILOS_BY_USERS || kind == PARTIES_SILOS_BY_ITEMS)
        return refuse(plan, "parties", "kind", "silos are not divided", error);
    for (int side = 0; side < 2; side++) {
        const struct side_plan *sp = &plan->sides[side];
        if (sp->updated && sp->solve_at == SOLVE_AT_PARTY)
            return refuse(plan, plan_side_name(side), "site", "parties that solve are not divided", error);
        for (int t = 0; sp->updated && t < sp->n_terms; t++)
            if (check_term(plan, &sp->terms[t], error) != 0)
                return -1;
    }
    return 0;
}
