/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits that hold out users and times. A held-out user is never trained on, and is known by its own records alone; a
 * record is before or after a public moment. Both are maps, so that a proof holds.
 */
#include "kit/test.h"
#include "base/files.h"
#include "kit/training.h"

#include "kit/spawned.h"
#include "run/at_home.h"

#define FILE_OF_RECORDS                                                                                      \
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
#define HELD_OUT "[split]\nkind = users\nusers = 0.3\nfraction = 0.4\n"
#define ALS                                                                                                  \
    "[model]\nrank = 1\noffset = midpoint\n[users]\nloss = explicit-als\nsolver = cholesky\n"                \
    "[users.loss]\nlambda = 0.3\nregularization = constant\n[items]\nloss = explicit-als\nsolver = "         \
    "cholesky\n"
#define PROVED                                                                                               \
    "[model]\nrecommender = private-ratings\nusers = 200\n[parties]\nkind = curator\n[privacy]\nunit = "     \
    "user\n"                                                                                                 \
    "id-lists = public\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-5\nbudget = total\n"         \
    "total-epsilon = 2\ncalibrate-by = pld\nrandomness = reproducible\n[accountants]\nlist = pld\n"

static const char trained[] = "[run]\nrounds = 4\nthreads = 1\noutput = out\n" FILE_OF_RECORDS HELD_OUT ALS;
static const char proved[] =
    "[run]\nthreads = 1\noutput = out\n" FILE_OF_RECORDS HELD_OUT PROVED "[evaluate]\nmetrics = rmse\n";

enum { USERS = 120, ITEMS = 25, WHEN = 40 };

/* Every third pair, with a taste of each user; `turned` users have all values turned around. */
static void write_records(const char *name, const unsigned char *turned)
{
    static char text[USERS * ITEMS * 24];
    size_t used = (size_t)sprintf(text, "user,item,rating,time\n");
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++) {
            const int likes = (u % 4 == i % 4) * 3 + (u * 7 + i * 3) % 3;
            const int value = turned && turned[u] ? 1 + (likes + 1) * 2 % 5 : 1 + likes % 5;
            if ((u * 5 + i * 7) % 3 == 0)
                used += (size_t)sprintf(text + used, "%d,%d,%d,%d\n", u + 1, i + 1, value, (u * 3 + i) % 60);
        }
    training_file(name, text);
}

static int begin(void **state)
{
    if (training_begin(state) != 0 || chdir(training_directory) != 0)
        return -1;
    write_records("ratings.csv", NULL);
    training_file("trained.ini", trained);
    training_file("exact.ini", "include = trained.ini\n[evaluate]\nmetrics = rmse, hr\n");
    training_file("proved.ini", proved);
    return 0;
}

static int64_t known_of(const struct dataset *dataset, int64_t user)
{
    return dataset->known.ptr[user + 1] - dataset->known.ptr[user];
}

/* By hand, in one dimension: sum v (r - offset) / (sum v^2 + lambda). */
TEST(a_held_out_user_is_solved_from_what_is_known)
{
    struct training t;
    struct dpf_error error = {0};
    struct at_home home;
    int64_t held_out = 0;
    training_run(&t, trained, "");
    const struct csr *known = &t.dataset.known, *train = &t.dataset.train.by_user;
    float before[USERS];
    assert_int_equal(t.dataset.users.n, USERS);
    for (int64_t u = 0; u < USERS; u++)
        before[u] = training_row(&t, DPF_SIDE_USERS, u)[0];
    struct pool *pool = pool_new(1);
    assert_int_equal(at_home_open(&home, &t.dataset, pool, &t.plan, &t.model, &error), 0);
    for (int64_t u = 0; u < USERS; u++) {
        const float after = training_row(&t, DPF_SIDE_USERS, u)[0];
        if (known_of(&t.dataset, u) == 0) {
            assert_true(after == before[u]);
            continue;
        }
        double top = 0, bottom = 0.3;
        held_out++;
        assert_int_equal(train->ptr[u + 1], train->ptr[u]);
        for (int64_t i = known->ptr[u]; i < known->ptr[u + 1]; i++) {
            const double v = training_row(&t, DPF_SIDE_ITEMS, known->others[i])[0];
            top += v * ((double)known->values[i] - 3);
            bottom += v * v;
        }
        assert_true(fabs(top / bottom - (double)after) < 1e-4);
    }
    assert_in_range(held_out, 20, 55); /* three in ten of 120 */
    at_home_close(&home);
    pool_free(pool);
    training_free(&t);
}

static double metric(const char *run, const char *name)
{
    json_t *json = command_json(run);
    const json_t *value = json_object_get(json_object_get(json, "metrics"), name);
    const double out = json_is_number(value) ? json_number_value(value) : (double)NAN;
    json_decref(json);
    return out;
}

static void same_file(const char *a, const char *b, int same)
{
    char left[65], right[65];
    struct dpf_error error = {0};
    assert_int_equal(files_sha256(command_path(a), left, &error), 0);
    assert_int_equal(files_sha256(command_path(b), right, &error), 0);
    assert_int_equal(strcmp(left, right) == 0, same);
}

/* Turning all values of held-out users around changes nothing that is trained, and changes their errors. */
TEST(nothing_is_trained_on_them)
{
    struct training t;
    unsigned char turned[USERS] = {0};
    training_run(&t, trained, "");
    for (int64_t u = 0; u < USERS; u++)
        turned[atoi(id_map_text(&t.dataset.users, u)) - 1] = known_of(&t.dataset, u) > 0;
    training_free(&t);
    write_records("turned.csv", turned);
    command_expect("-q -c exact.ini -O one", 0, "");
    command_expect("-q -c exact.ini -o data.path=turned.csv -O other", 0, "");
    same_file("one/private/item_factors.npy", "other/private/item_factors.npy", 1);
    assert_true(metric("one/run.json", "rmse") != metric("other/run.json", "rmse"));
    command_expect("-q -c proved.ini -O three", 0, "");
    command_expect("-q -c proved.ini -o data.path=turned.csv -O four", 0, "");
    same_file("three/release/model/bias.npy", "four/release/model/bias.npy", 1);
    assert_true(metric("three/run.json", "rmse") != metric("four/run.json", "rmse"));
    command_expect("-q -c proved.ini -o run.seed=2 -O five", 0, "");
    same_file("three/release/model/bias.npy", "five/release/model/bias.npy", 0);
    /* The saved run tells the same of them. */
    for (int i = 0; i < 2; i++) {
        command_expect(i ? "evaluate three --json" : "evaluate one --json", 0, "");
        json_t *json = json_loads(command_out, 0, NULL);
        const json_t *values = json_object_get(json, "metrics") ? json_object_get(json, "metrics") : json;
        const double again = json_number_value(json_object_get(values, "rmse"));
        json_decref(json);
        assert_true(fabs(again - metric(i ? "three/run.json" : "one/run.json", "rmse")) < 1e-6);
    }
}

static int proves(const char *arguments)
{
    command_expect(arguments, 0, "");
    json_t *json = json_loads(command_out, 0, NULL);
    assert_non_null(json);
    const json_t *guarantee = json_object_get(json, "guarantee");
    const int proves = json_array_size(json_object_get(guarantee, "proved")) > 0;
    json_decref(json);
    return proves;
}

/* Where who rated what is public, a line at fault keeps its pair but may have no time. */
TEST(both_splits_keep_a_proof)
{
    assert_true(proves("check --json -c proved.ini"));
    assert_true(proves("check --json -c proved.ini -o split.kind=time -o split.time-from=40"));
    assert_false(proves("check --json -c proved.ini -o split.kind=time -o split.time-from=40 -o "
                        "privacy.adjacency=replace-value -o privacy.unit=record"));
    command_expect(
        "check -c trained.ini -o split.kind=time -o split.time-from=40 -o privacy.interaction-pattern=public "
        "-o "
        "items.mechanism=gaussian -o items.mechanism.calibration=noise-multiplier -o "
        "items.mechanism.noise-multiplier=2 -o items.loss=squared-error -o items.solver=gradient-descent -o "
        "items.transforms=clip-user -o privacy.unit=user -o privacy.adjacency=zero-out -o privacy.delta=1e-5",
        0, "");
    assert_non_null(strstr(command_out, "Times choose which records are held out"));
}

/* The oracle is the time that each record was written with. */
TEST(a_time_divides_all_users)
{
    struct training t;
    training_run(&t, trained, "split.kind=time\nsplit.time-from=40");
    int64_t tested = 0, others = 0;
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if ((u * 5 + i * 7) % 3 == 0)
                *((u * 3 + i) % 60 >= WHEN ? &tested : &others) += 1;
    assert_int_equal(t.dataset.test.n, tested);
    assert_int_equal(t.dataset.train.n, others);
    for (int64_t u = 0; u < USERS; u++)
        for (int64_t k = t.dataset.test.by_user.ptr[u]; k < t.dataset.test.by_user.ptr[u + 1]; k++) {
            const int user = atoi(id_map_text(&t.dataset.users, u)) - 1,
                      item = atoi(id_map_text(&t.dataset.items, t.dataset.test.by_user.others[k])) - 1;
            assert_true((user * 3 + item) % 60 >= WHEN);
        }
    training_free(&t);
    training_refused(trained, "split.kind=time", DPF_FAULT_CONFIG, "[split] time-from: is missing");
    training_refused(trained, "split.kind=time\nsplit.time-from=40\ndata.column.time=none", DPF_FAULT_CONFIG,
                     "time needs time stamps");
}

TEST(who_has_no_row_for_others_says_so)
{
    command_expect("check -c exact.ini -o model.kind=biases", 2, "[split] kind");
    command_expect("check -c exact.ini -o run.order=items -o users.update=no", 2, "are never solved");
    command_expect(
        "check -c exact.ini -o users.mechanism=gaussian -o users.mechanism.calibration=noise-multiplier -o "
        "users.mechanism.noise-multiplier=2 -o users.loss=squared-error -o users.solver=gradient-descent",
        2, "");
}

FIXTURE(begin, training_end)
