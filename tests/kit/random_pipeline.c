/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/random_pipeline.h"

static void pipeline_key(struct pipeline *p, const char *section, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

int pipeline_below(struct pipeline *p, int n)
{
    if (p->genes)
        return p->genes[p->gene++ % PIPELINE_GENES] % n;
    p->lottery = p->lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((p->lottery >> 33) % (uint64_t)n);
}

int pipeline_chance(struct pipeline *p, int percent)
{
    return pipeline_below(p, 100) < percent;
}

const char *pipeline_one_of(struct pipeline *p, const char *const *values, int n)
{
    return values[pipeline_below(p, n)];
}

static void pipeline_key(struct pipeline *p, const char *section, const char *key, const char *format, ...)
{
    const size_t used = strlen(p->text), room = sizeof p->text - used;
    char value[256];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    if (!strchr(section, '.') && strcmp(section, "data") != 0 && strlen(p->parts) + 32 < sizeof p->parts)
        snprintf(p->parts + strlen(p->parts), 32, "%.30s ", value);
    assert_true(snprintf(p->text + used, room, "[%s]\n%s = %s\n", section, key, value) < (int)room);
}

/* A key of a component of a term: [items.loss] clip-error. Genes move bounds by up to a factor of 4. */
static void pipeline_part(struct pipeline *p, const char *term, const char *part, const char *key,
                          const char *value)
{
    char section[96], moved[32], *end;
    const double number = strtod(value, &end);
    snprintf(section, sizeof section, "%s.%s", term, part);
    if (p->genes && !*end && number > 0 &&
        (strcmp(key, "clip-error") == 0 || strcmp(key, "radius") == 0 ||
         (strcmp(key, "bound") == 0 && strncmp(part, "transform.", 10) == 0))) {
        snprintf(moved, sizeof moved, "%.6g", number * exp2((pipeline_below(p, 256) - 128) / 64.0));
        value = moved;
    }
    pipeline_key(p, section, key, "%s", value);
}

static void pipeline_gradient_loss(struct pipeline *p, const char *term)
{
    const char *loss = PIPELINE_ONE_OF(p, "squared-error", "squared-error", "weighted-gradient");
    const int weighted = strcmp(loss, "weighted-gradient") == 0;
    pipeline_key(p, term, "loss", "%s", loss);
    pipeline_part(p, term, "loss", "objective", PIPELINE_ONE_OF(p, "full", "half"));
    if (pipeline_chance(p, 60))
        pipeline_part(p, term, "loss", "clip-error", PIPELINE_ONE_OF(p, "0.5", "2", "100"));
    if (pipeline_chance(p, 50))
        pipeline_part(p, term, "loss", "regularization", "0.3");
    if (weighted)
        pipeline_part(p, term, "loss", "confidence", PIPELINE_ONE_OF(p, "0", "1", "15"));
    else if (pipeline_chance(p, 30))
        pipeline_part(p, term, "loss", "regularization-per", "record");
}

static void pipeline_quadratic_loss(struct pipeline *p, const char *term)
{
    /* The others have neither biases nor an offset. */
    const char *loss =
        p->biased ? "explicit-als"
                  : PIPELINE_ONE_OF(p, "explicit-als", "implicit-als", "complementary", "weighted-als");
    pipeline_key(p, term, "loss", "%s", loss);
    if (strcmp(loss, "explicit-als") == 0)
        pipeline_part(p, term, "loss", "regularization", PIPELINE_ONE_OF(p, "constant", "frequency"));
    if (strcmp(loss, "weighted-als") == 0)
        pipeline_part(p, term, "loss", "confidence", PIPELINE_ONE_OF(p, "0", "2", "15"));
    if (strcmp(loss, "implicit-als") == 0 || strcmp(loss, "complementary") == 0) {
        pipeline_part(p, term, "loss", "unobserved-weight", PIPELINE_ONE_OF(p, "0", "0.3", "1"));
        if (pipeline_chance(p, 20))
            pipeline_part(p, term, "loss", "cells", "own");
    }
    if (strcmp(loss, "implicit-als") == 0 && pipeline_chance(p, 50))
        pipeline_part(p, term, "loss", "confidence", "3");
}

static void pipeline_solver(struct pipeline *p, const char *side, int gradient, int released)
{
    const char *solver = gradient   ? PIPELINE_ONE_OF(p, "gradient-descent", "gradient-descent",
                                                      "damped-gradient-descent", "adam")
                         : released ? PIPELINE_ONE_OF(p, "ball", "ball", "psd", "psd", "cholesky", "cg")
                                    : PIPELINE_ONE_OF(p, "cholesky", "ball");
    pipeline_key(p, side, "solver", "%s", solver);
    if (gradient)
        pipeline_part(p, side, "solver", "rate", PIPELINE_ONE_OF(p, "0.01", "0.3"));
    if ((gradient && strcmp(solver, "adam") != 0 && pipeline_chance(p, 60)) || strcmp(solver, "ball") == 0)
        pipeline_part(p, side, "solver", "radius", PIPELINE_ONE_OF(p, "0.6", "3"));
    if (strcmp(solver, "psd") == 0)
        pipeline_part(p, side, "solver", "floor", PIPELINE_ONE_OF(p, "0", "0.1"));
}

static void pipeline_clip_user(struct pipeline *p, const char *term)
{
    static const char part[] = "transform.clip-user";
    pipeline_part(p, term, part, "norm", PIPELINE_ONE_OF(p, "l2", "l2", "l1"));
    /* Of one block, or of a matrix, a linear part and a count; wrong numbers of bounds must be refused. */
    if (pipeline_chance(p, 30))
        pipeline_part(p, term, part, "block-bounds",
                      PIPELINE_ONE_OF(p, "0.7", "1.5, 2", "1.5, 2", "1, 2, 0.5", "1, 2, 3, 4"));
    else
        pipeline_part(p, term, part, "bound", PIPELINE_ONE_OF(p, "0.3", "1.5", "20"));
}

static void pipeline_transforms(struct pipeline *p, const char *term, int messages)
{
    char list[128] = "";
    const int rows = pipeline_chance(p, 55), user = messages && pipeline_chance(p, p->unit ? 85 : 25);
    const int stretch = p->drawn == 2 && pipeline_chance(p, 70);
    const int fold = messages && pipeline_chance(p, 8), flat = messages && pipeline_chance(p, 12);
    snprintf(list, sizeof list, "%s%s%s%s%s", stretch ? "stretch, " : "", rows ? "clip-rows, " : "",
             user ? "clip-user, " : "", fold ? "sparse-projection, " : "", flat ? "hadamard-flatten, " : "");
    if (!*list)
        return;
    list[strlen(list) - 2] = '\0';
    pipeline_key(p, term, "transforms", "%s", list);
    if (rows) {
        pipeline_part(p, term, "transform.clip-rows", "norm", PIPELINE_ONE_OF(p, "l2", "l1"));
        pipeline_part(p, term, "transform.clip-rows", "bound", PIPELINE_ONE_OF(p, "0.5", "1", "3"));
        if (p->gradient && pipeline_chance(p, 30))
            pipeline_key(p, term, "residual", "raw");
    }
    if (user)
        pipeline_clip_user(p, term);
    if (stretch && pipeline_chance(p, 50))
        pipeline_part(p, term, "transform.stretch", "center", "3");
}

static void pipeline_mechanism(struct pipeline *p, const char *term)
{
    const char *id = PIPELINE_ONE_OF(p, "gaussian", "gaussian", "gaussian", "laplace", "laplace", "laplace",
                                     "laplace-gamma", "discrete-gaussian", "skellam", "laplace-mixture",
                                     "pbm", "correlated-gaussian");
    const int additive = strncmp(id, "gaussian", 8) == 0 || strcmp(id, "laplace") == 0;
    pipeline_key(p, term, "mechanism", "%s", id);
    if (strcmp(id, "gaussian") == 0)
        pipeline_part(p, term, "mechanism", "calibration", "noise-multiplier");
    if (additive) {
        pipeline_part(p, term, "mechanism", "where",
                      p->observer && pipeline_chance(p, 80) ? "party"
                                                            : PIPELINE_ONE_OF(p, "sum", "sum", "party"));
        if (pipeline_chance(p, 50))
            pipeline_key(p, term, "gram-share", "%s", "0.3");
    }
    if (strncmp(id, "laplace", 7) == 0 && additive && pipeline_chance(p, 25))
        pipeline_part(p, term, "mechanism", "sensitivity", "joint");
    if (strcmp(id, "pbm") == 0)
        pipeline_part(p, term, "mechanism", "bound", "0.5");
    if (strcmp(id, "correlated-gaussian") == 0)
        pipeline_part(p, term, "mechanism", "bands", PIPELINE_ONE_OF(p, "0", "2", "5"));
}

static void pipeline_sampler(struct pipeline *p, const char *term)
{
    if (p->drawn == 0) { /* groups follow from ids: nobody else's changes when somebody leaves */
        if (pipeline_chance(p, 20)) {
            pipeline_key(p, term, "sampler", "cyclic-users");
            pipeline_part(p, term, "sampler", "groups", PIPELINE_ONE_OF(p, "2", "3"));
        }
        return;
    }
    const char *id = p->drawn == 1
                         ? PIPELINE_ONE_OF(p, "poisson-users", "poisson-users", "uniform", "importance",
                                           "utility-optimal", "full")
                         : PIPELINE_ONE_OF(p, "personalised", "by-privacy-weight", "uniform", "full");
    pipeline_key(p, term, "sampler", "%s", id);
    if (strcmp(id, "poisson-users") == 0 || strcmp(id, "uniform") == 0)
        pipeline_part(p, term, "sampler", "weight", PIPELINE_ONE_OF(p, "unit", "inverse"));
    if (strcmp(id, "poisson-users") == 0) {
        pipeline_part(p, term, "sampler", "rate", PIPELINE_ONE_OF(p, "0.5", "0.9"));
        if (pipeline_chance(p, 25))
            pipeline_key(p, term, "max-participations", "1");
    }
    if (strcmp(id, "importance") == 0) {
        pipeline_part(p, term, "sampler", "target", PIPELINE_ONE_OF(p, "0.5", "3"));
        pipeline_part(p, term, "sampler", "profile", PIPELINE_ONE_OF(p, "mechanism", "fixed-maximum"));
        pipeline_part(p, term, "sampler", "losses", PIPELINE_ONE_OF(p, "equal", "norm"));
    }
    if (strcmp(id, "by-privacy-weight") == 0)
        pipeline_part(p, term, "sampler", "from", "0.4");
    if (strcmp(id, "full") != 0 && strcmp(id, "by-privacy-weight") != 0)
        pipeline_key(p, term, "sample-secrecy", "%s", PIPELINE_ONE_OF(p, "none", "outsider"));
}

static void pipeline_aggregator(struct pipeline *p, const char *term)
{
    const char *id = p->observer ? PIPELINE_ONE_OF(p, "sum", "mean", "modular-sum", "modular-sum")
                                 : PIPELINE_ONE_OF(p, "sum", "sum", "mean", "modular-sum");
    pipeline_key(p, term, "aggregator", "%s", id);
    if (strcmp(id, "modular-sum") == 0 && pipeline_chance(p, 50))
        pipeline_part(p, term, "aggregator", "scale", "mean");
}

static void pipeline_side(struct pipeline *p, const char *side, int released)
{
    const int gradient = p->gradient = pipeline_chance(p, 40);
    if (gradient)
        pipeline_gradient_loss(p, side);
    else
        pipeline_quadratic_loss(p, side);
    pipeline_solver(p, side, gradient, released);
    pipeline_transforms(p, side, released);
    if (!released)
        return;
    pipeline_mechanism(p, side);
    pipeline_aggregator(p, side);
    pipeline_sampler(p, side);
    if (!gradient && pipeline_chance(p, 30))
        pipeline_key(p, side, "block-layout", "full");
    if (pipeline_chance(p, 3))
        pipeline_key(p, side, "solve-at", "party");
}

static void pipeline_privacy(struct pipeline *p)
{
    static const char *const units[] = {"record", "user"};
    static const char *const adjacencies[] = {"replace-value", "flip", "replace", "add-remove", "zero-out"};
    static const int of_record[] = {DPF_ADJ_REPLACE_VALUE, DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE,
                                    DPF_ADJ_ZERO_OUT};
    static const int of_user[] = {DPF_ADJ_REPLACE, DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT};
    p->unit = pipeline_chance(p, 50) ? DPF_UNIT_USER : DPF_UNIT_RECORD;
    p->adjacency = p->unit ? of_user[pipeline_below(p, 3)] : of_record[pipeline_below(p, 4)];
    pipeline_key(p, "privacy", "unit", "%s", units[p->unit]);
    pipeline_key(p, "privacy", "adjacency", "%s", adjacencies[p->adjacency]);
    static const char *const observers[] = {"outsider", "server", "parties"};
    p->observer = pipeline_chance(p, 40) ? DPF_OBSERVER_OUTSIDER : 1 + pipeline_below(p, 2);
    pipeline_key(p, "privacy", "observer", "%s", observers[p->observer]);
    p->support_public = p->adjacency == DPF_ADJ_REPLACE_VALUE || pipeline_chance(p, 30);
    pipeline_key(p, "privacy", "interaction-pattern", "%s", p->support_public ? "public" : "private");
    pipeline_key(p, "privacy", "randomness", "reproducible");
    pipeline_key(p, "privacy", "noise-seed", "%d", pipeline_below(p, 1000));
    pipeline_key(p, "privacy", "min-honest", "%s", PIPELINE_ONE_OF(p, "1", "2", "4"));
    pipeline_key(p, "privacy", "max-curious", "%s", PIPELINE_ONE_OF(p, "0", "1"));
}

static void pipeline_model(struct pipeline *p)
{
    pipeline_key(p, "model", "rank", "%s", PIPELINE_ONE_OF(p, "1", "2", "3"));
    p->biased = pipeline_chance(p, 25);
    pipeline_key(p, "model", "user-bias", "%s", p->biased ? PIPELINE_ONE_OF(p, "no", "yes") : "no");
    pipeline_key(p, "model", "item-bias", "%s", p->biased ? PIPELINE_ONE_OF(p, "no", "yes") : "no");
    pipeline_key(p, "model", "offset", "%s", p->biased ? PIPELINE_ONE_OF(p, "none", "midpoint") : "none");
    pipeline_key(p, "model", "init", "%s", PIPELINE_ONE_OF(p, "normal", "uniform"));
    pipeline_key(p, "model", "init-scale", "%s", PIPELINE_ONE_OF(p, "0.3", "2", "10"));
    if (pipeline_chance(p, 40))
        pipeline_key(p, "model", "init-norm", "%s", PIPELINE_ONE_OF(p, "0.7", "4"));
    pipeline_key(p, "model", "users", "%s", PIPELINE_ONE_OF(p, "6", "6", "9"));
    pipeline_key(p, "model", "items", "%s", PIPELINE_ONE_OF(p, "7", "7", "11"));
}

void pipeline_build(struct pipeline *p, const char *directory)
{
    pipeline_privacy(p);
    pipeline_model(p);
    p->implicit = pipeline_chance(p, 30);
    p->drawn = pipeline_chance(p, 60) ? 0 : 1 + pipeline_below(p, 2);
    pipeline_key(p, "data", "path", "%s/ratings.csv", directory);
    pipeline_key(p, "data", "header", "yes");
    pipeline_key(p, "split", "kind", "files");
    pipeline_key(p, "split", "test.path", "%s/test.csv", directory);
    pipeline_key(p, "data", "value-min", "1");
    pipeline_key(p, "data", "value-max", "5");
    pipeline_key(p, "data", "feedback", p->implicit ? "implicit" : "explicit");
    if (p->drawn == 2) {
        pipeline_key(p, "data", "weights.kind", "files");
        pipeline_key(p, "data", "weights.users", "%s/weights-users.txt", directory);
        pipeline_key(p, "data", "weights.items", "%s/weights-items.txt", directory);
    }
    const char *kind = PIPELINE_ONE_OF(p, "curator", "curator", "curator", "users", "users", "users",
                                       "silos-by-users", "silos-by-items");
    p->by_users = strcmp(kind, "users") == 0;
    pipeline_key(p, "parties", "kind", "%s", kind);
    pipeline_key(p, "parties", "count", "2");
    const int which = pipeline_below(p, 8); /* items, users, both; the other side local or held */
    const int items = which < 4 || which >= 6, users = which >= 4,
              held = pipeline_chance(p, p->unit ? 50 : 90);
    const char *order = which >= 6 || !held ? PIPELINE_ONE_OF(p, "users, items", "items, users")
                        : items             ? "items"
                                            : "users";
    pipeline_key(p, "run", "order", "%s", order);
    pipeline_key(p, "run", "rounds", "%d", 1 + pipeline_below(p, 3));
    pipeline_key(p, "run", "threads", "1");
    if (pipeline_chance(p, 20))
        pipeline_key(p, "run", "update", "simultaneous");
    if (strstr(order, "users"))
        pipeline_side(p, "users", users);
    if (strstr(order, "items"))
        pipeline_side(p, "items", items);
    pipeline_key(p, "accountants", "list", "%s", "rdp");
}

void pipeline_draw(struct pipeline *p, uint64_t key, const char *directory)
{
    *p = (struct pipeline){.lottery = key * UINT64_C(0x9e3779b97f4a7c15) + 1};
    pipeline_build(p, directory);
}
