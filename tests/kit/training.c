/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/training.h"

char training_directory[64];

int training_begin(void **state)
{
    (void)state;
    if (sodium_init() < 0)
        return -1;
    keep_scans();
    snprintf(training_directory, sizeof training_directory, "/tmp/dpframe-test-XXXXXX");
    return mkdtemp(training_directory) ? 0 : -1;
}

static int training_remove(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

int training_end(void **state)
{
    (void)state;
    return nftw(training_directory, training_remove, 16, FTW_DEPTH | FTW_PHYS);
}

const char *training_file(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", training_directory, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    return path;
}

const char *training_plugins(const char *which)
{
    static char path[2][512];
    char *out = path[strcmp(which, "plugins") == 0];
    const char *build = getenv("DPFRAME_BUILD_DIR");
    assert_non_null(build);
    snprintf(out, sizeof path[0], "%s/%s", build, which);
    return out;
}

int training_plan(struct plan *plan, const char *base, const char *changes, struct dpf_error *error)
{
    const char *overrides[64];
    int n = 0;
    char *copy = memory_text(changes);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        overrides[n++] = line;
    const char *directories[] = {training_plugins("plugins"), training_plugins("integration-plugins")};
    struct plan_options options = {.config_path = training_file("config.ini", base),
                                   .overrides = overrides,
                                   .n_overrides = n,
                                   .plugin_directories = directories,
                                   .n_plugin_directories = 2};
    int status = plan_open(&options, plan, error);
    free(copy);
    return status;
}

void (*training_hook)(struct plan *plan);

const struct engine_hooks *training_hooks;

void training_try(struct training *t, const char *base, const char *changes)
{
    memset(t, 0, sizeof *t);
    struct plan *plan = &t->plan;
    t->status = training_plan(plan, base, changes, &t->error);
    int threads = t->status == 0 ? (int)plan->run.params.values[RUN_THREADS].integer : 0;
    struct pool *pool = pool_new(threads > 0 ? threads : 2);
    assert_non_null(pool);
    if (t->status == 0)
        t->status = data_load(&plan->data, &plan->split, plan->seeded, pool, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = plan_complete(plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0)
        t->status = model_init(&t->model, plan, &t->dataset, &t->error);
    if (t->status == 0 && training_hook)
        training_hook(plan);
    if (t->status == 0)
        t->status = engine_run(plan, &t->dataset, pool, &t->model, training_hooks, &t->stats, &t->error);
    pool_free(pool);
}

void training_run(struct training *t, const char *base, const char *changes)
{
    training_try(t, base, changes);
    if (t->status != 0)
        fail_msg("%s", t->error.text);
}

void training_free(struct training *t)
{
    model_free(&t->model);
    dataset_free(&t->dataset);
    plan_free(&t->plan);
}

const float *training_row(const struct training *t, int side, int64_t row)
{
    return t->model.sides[side].data + row * t->model.stride;
}

int training_same_side(const struct training *a, const struct training *b, int side)
{
    const struct side_factors *x = &a->model.sides[side], *y = &b->model.sides[side];
    return x->rows == y->rows && a->model.stride == b->model.stride &&
           memcmp(x->data, y->data, (size_t)(x->rows * a->model.stride) * sizeof(float)) == 0;
}

int training_same(const struct training *a, const struct training *b)
{
    return training_same_side(a, b, DPF_SIDE_USERS) && training_same_side(a, b, DPF_SIDE_ITEMS);
}

double training_distance(const struct training *a, const struct training *b, int side)
{
    double most = 0;
    int64_t n = a->model.sides[side].rows * a->model.stride;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)a->model.sides[side].data[i] - (double)b->model.sides[side].data[i]));
    return most;
}

void training_refused(const char *base, const char *changes, enum dpf_fault fault, const char *text)
{
    struct training t;
    training_try(&t, base, changes);
    int status = t.status;
    struct dpf_error error = t.error;
    training_free(&t);
    assert_int_equal(status, -1);
    if (error.fault != fault || !strstr(error.text, text))
        fail_msg("fault %d instead of %d, or \"%s\" missing in: %s", (int)error.fault, (int)fault, text,
                 error.text);
}
