/* SPDX-License-Identifier: Apache-2.0 */
#include "integration/federated_methods.h"

#include "engine/parties.h"

#define DATA                                                                                                 \
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"                 \
    "users-file = users.txt\nitems-file = items.txt\n"
#define LINKS "[federation]\njoin-time = 60\ndeadline = 20\n"

static const char methods_hdpmf[] =
    "[run]\nrounds = 3\nthreads = 1\norder = items, users\noutput = out\n" DATA
    "[data.weights]\nkind = groups\nuser-shares = 0.54, 0.37\nuser-levels = 0.1, 0.5, 1\n"
    "item-shares = 0.33, 0.33\nitem-levels = 0.1, 0.5, 1\n"
    "[split]\nkind = per-user\nn = 2\n[model]\nrank = 2\noffset = value\noffset-value = 3\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = squared-error\ntransforms = stretch\nsolver = damped-gradient-descent\n"
    "[users.loss]\nregularization = 0.01\n[users.transform.stretch]\ncenter = 3\n"
    "[users.solver]\nrate = 0.05\ncurvature = 20\ndrop-at = 0.4\ndrop-factor = 0.2\n"
    "radius = 1\n"
    "[items]\nloss = squared-error\ntransforms = stretch, clip-user\nmechanism = laplace-gamma\n"
    "aggregator = secagg\nsolver = gradient-descent\n"
    "[items.loss]\nregularization = 0.01\n[items.transform.stretch]\ncenter = 3\n"
    "[items.transform.clip-user]\nnorm = l1\nbound = 2\n[items.mechanism]\nepsilon = "
    "200\n[privacy]\nmin-honest = 8\n"
    "[items.solver]\nrate = 0.05\nradius = 5\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 0\n[accountants]\nlist = pure\n"
    "[evaluate]\nmetrics = rmse\n" LINKS;

static const char methods_open[] =
    "[run]\nrounds = 2\nthreads = 1\norder = users, items\noutput = out\n" DATA
    "[split]\nkind = per-user\nn = 2\n[model]\nrank = 2\noffset = value\noffset-value = 3\n"
    "[parties]\nkind = users\n[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-rows, clip-user\nmechanism = gaussian\naggregator = "
    "sum\n"
    "solver = gradient-descent\n[items.transform.clip-rows]\nbound = 1\n[items.transform.clip-user]\nbound = "
    "1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 0.1\nwhere = party\n"
    "[items.solver]\nrate = 0.05\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-5\n[accountants]\nlist = "
    "rdp\n"
    "[evaluate]\nmetrics = rmse\n" LINKS;

static const char methods_gram[] =
    "[run]\nthreads = 1\noutput = out\n" DATA "feedback = implicit\n"
    "[split]\nkind = per-user\nfraction = 0.2\n"
    "[model]\nrecommender = private-gram\naggregator = secagg\nusers = 12\nitems = 20\n[privacy]\nmin-honest "
    "= 8\n"
    "[model.recommender]\nnoise-multiplier = 0.2\nitems = 8\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-5\n"
    "[accountants]\nlist = rdp\n[evaluate]\nmetrics = ndcg\n" LINKS;

static const char methods_ratings[] =
    "[run]\nthreads = 1\noutput = out\n" DATA "[split]\nkind = per-user\nfraction = 0.2\n"
    "[model]\naggregator = secagg\nusers = 12\nitems = 20\n[privacy]\nmin-honest = 8\n"
    "[model.recommender]\nnoise-multiplier = 1\nrank = 2\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-5\n"
    "[accountants]\nlist = rdp\n[evaluate]\nmetrics = rmse\n" LINKS;

static const char methods_sites[] =
    "[run]\nrounds = 2\nthreads = 1\norder = users, items\noutput = out\n" DATA "feedback = implicit\n"
    "[split]\nkind = random\nfraction = 0.2\n[model]\nrank = 3\ninit = uniform\ninit-scale = 1\n"
    "[parties]\nkind = silos-by-users\ncount = 3\nlocal-iterations = 2\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.01\nunobserved-weight = 1\n"
    "[items]\nloss = implicit-als\nmechanism = laplace\nblock-layout = full\nbounds = empirical\n"
    "aggregator = mean\nsolver = ball\nsolve-at = party\n"
    "[items.loss]\nlambda = 0.01\nunobserved-weight = 1\ncells = own\n[items.solver]\nlambda = 0.01\n"
    "[items.mechanism]\nepsilon = 1\nsensitivity = joint\nwhere = party\nlifetime = solve\n"
    "[privacy]\nunit = record\nadjacency = flip\nobserver = server\n"
    "[accountants]\nlist = published\n[accountants.published]\nclaim = dpimf-theorem-3\n";

static const char methods_dpimf[] =
    "include = sites.ini\n[evaluate]\nmetrics = hr\n[consent]\nunit = record\n" LINKS;

/* Sites that send the sum of their users' contributions, each clipped, with the site's share of the noise. */
static const char methods_pooled[] =
    "[run]\nrounds = 3\nthreads = 1\norder = users, items\noutput = out\n" DATA
    "[split]\nkind = per-user\nn = 2\n[model]\nrank = 2\noffset = value\noffset-value = 3\n"
    "[parties]\nkind = silos-by-users\ncount = 3\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = squared-error\ntransforms = clip-rows, clip-user\nmechanism = discrete-gaussian\n"
    "aggregator = secagg\nsolver = gradient-descent\n[items.transform.clip-rows]\nbound = 1\n"
    "[items.transform.clip-user]\nbound = 1\n[items.mechanism]\nnoise-multiplier = 2\n[privacy]\nmin-honest "
    "= 2\n"
    "[items.solver]\nrate = 0.05\nradius = 5\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-5\n[accountants]\nlist = "
    "rdp\n[evaluate]\nmetrics = rmse\n" LINKS;

void all_end_well(pid_t server, const char *name, const pid_t pids[N_PARTIES + 1], int n)
{
    expect_end(server, name, 0, "");
    for (int p = 1; p <= n; p++)
        if (pids[p] && ended(pids[p]) != 0)
            fail_msg("party %d of %s has failed", p, name);
}

void divide_users(void)
{
    struct plan plan;
    struct dataset dataset = {0};
    struct parties parties;
    struct dpf_error error = {0};
    char path[512], changes[1024], name[32];
    struct pool *pool = pool_new(1);
    snprintf(path, sizeof path, "data.path=%s/ratings.csv", training_directory);
    snprintf(changes, sizeof changes, "%s\ndata.users-file=%s/users.txt\ndata.items-file=%s/items.txt", path,
             training_directory, training_directory);
    if (training_plan(&plan, methods_sites, changes, &error) != 0 ||
        data_load(&plan.data, &plan.split, plan.seeded, pool, &dataset, &error) != 0 ||
        plan_complete(&plan, dataset.users.n, dataset.items.n, &error) != 0 ||
        parties_make(&parties, &plan, &dataset, -1, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(parties.n, 3);
    for (int64_t site = 0; site < parties.n; site++) {
        const struct party *party = &parties.list[site];
        snprintf(name, sizeof name, "site%lld.csv", (long long)site + 1);
        assert_true(party->n_members > 0);
        join_files(name, party->members, party->n_members);
    }
    training_file("sites.txt", "north\nmiddle\nsouth\n");
    parties_free(&parties);
    dataset_free(&dataset);
    plan_free(&plan);
    pool_free(pool);
}

pid_t start_site(const char *run, int site, const char *options)
{
    static const char *const names[] = {"", "north", "middle", "south"};
    char name[64];
    snprintf(name, sizeof name, "%s-%d", run, site);
    return start(name,
                 "join %s -q -c %s --data site%d.csv -O %s-out -o federation.state=%s-state -o "
                 "federation.site=%s -o federation.parties=sites.txt %s %s",
                 socket_path, run_config, site, name, name, names[site], base_options, options);
}

int methods_begin(void **state)
{
    if (parties_begin(state) != 0)
        return -1;
    training_file("hdpmf.ini", methods_hdpmf);
    training_file("open.ini", methods_open);
    training_file("gram.ini", methods_gram);
    training_file("ratings.ini", methods_ratings);
    training_file("sites.ini", methods_sites);
    training_file("dpimf.ini", methods_dpimf);
    training_file("pooled.ini", methods_pooled);
    return 0;
}
