/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of one user's lines in a file while a run goes on ([privacy] on-violation = zero): the run completes,
 * and what it releases is what it would release without them, wherever in the file they are.
 */
#include "kit/test.h"
#include "base/text.h"
#include "kit/training.h"
#include "kit/spawned.h"
#include "plan/plan_make.h"

#define USERS 12
#define ITEMS 5
#define VICTIM 7 /* the number of the user who is short of a record */
#define VICTIM_ITEM 2

static const char from_file[] =
    "[run]\nrounds = 2\nthreads = 2\norder = users, items\n"
    "[data]\nformat = csv\npath = lines.csv\nvalue-min = 1\nvalue-max = 5\nfields = 3\nencoding = utf-8\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 2\ninit = normal\ninit-scale = 0.3\nusers = 40\nitems = 5\n"
    "[parties]\nkind = users\n"
    "[privacy]\nid-lists = public\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "randomness = reproducible\nnoise-seed = 5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = explicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\nsolver = "
    "ball\n"
    "[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nnorm = l2\nbound = 5\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\nwhere = sum\n"
    "[items.solver]\nradius = 1\n"
    "[accountants]\nlist = rdp\n";

enum where { FIRST, MIDDLE, LAST };

static void write_bytes(const char *name, const char *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", training_directory, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    assert_int_equal(fclose(stream), 0);
}

/* Twelve users' ratings, and a further line of n bytes (0: none) in some place. */
static void write_lines(int header, const char *line, size_t n, enum where where)
{
    struct text text = {0};
    char *all = malloc(4096 + n);
    size_t used = 0;
    assert_non_null(all);
    if (header)
        text_add(&text, "user,item,rating\n");
    for (int u = 0; u <= USERS; u++) {
        if (n > 0 && u == (where == FIRST ? 0 : where == MIDDLE ? USERS / 2 : USERS)) {
            memcpy(all + used, text.data ? text.data : "", text.length);
            used += text.length;
            text_free(&text);
            memcpy(all + used, line, n);
            used += n;
            all[used++] = '\n';
        }
        for (int i = 0; i < ITEMS && u < USERS; i++)
            if (u != VICTIM || i != VICTIM_ITEM)
                text_add(&text, "u%d,%d,%d\n", u, i, 1 + (3 * u + 2 * i) % 5);
    }
    memcpy(all + used, text.data ? text.data : "", text.length);
    write_bytes("lines.csv", all, used + text.length);
    text_free(&text);
    free(all);
}

/* Loads and trains as the command does. */
static void read_and_train(struct training *t, const char *changes)
{
    struct pool *pool = pool_new(2);
    struct plan *plan = &t->plan;
    char text[2048];
    memset(t, 0, sizeof *t);
    snprintf(text, sizeof text, "data.path=%s/lines.csv\n%s", training_directory, changes);
    t->status = training_plan(plan, from_file, text, &t->error);
    if (t->status == 0)
        t->status = data_read(&plan->data, &plan->split, plan->seeded, pool, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = plan_complete(plan, t->dataset.users.n, t->dataset.items.n, &t->error);
    if (t->status == 0)
        t->status = model_init(&t->model, plan, &t->dataset, &t->error);
    if (t->status == 0)
        t->status = engine_run(plan, &t->dataset, pool, &t->model, NULL, &t->stats, &t->error);
    if (t->status != 0)
        fail_msg("%s", t->error.text);
    assert_true(plan->guarantee.plan_holds);
    assert_true(plan->guarantee.zero_violations);
    pool_free(pool);
}

static void assert_lists(const struct training *t, int64_t n, const char *why)
{
    assert_int_equal(t->dataset.violations.n, n);
    if (n > 0 && !strstr(t->dataset.violations.list[0].text, why))
        fail_msg("\"%s\" is not in: %s", why, t->dataset.violations.list[0].text);
    if (n > 0)
        assert_non_null(strstr(t->dataset.violations.list[0].text, "lines.csv:"));
}

static const struct {
    const char *line, *why;
    size_t n; /* 0: strlen */
} bad_lines[] = {
    {"u7,2,abc", "is not a number", 0},
    {"u7,2,", "is not a number", 0},
    {"u7,2,nan", "NaN", 0},
    {"u7,2,9", "outside the declared range", 0},
    {"u7,2,inf", "outside the declared", 0},
    {"u7,2,-3", "outside the declared", 0},
    {"u7,2", "expected 3 fields", 0},
    {"u7,2,3,4", "expected 3 fields", 0},
    {"u7", "expected 3 fields", 0},
    {",2,3", "is empty", 0},
    {"u7,,3", "is empty", 0},
    {"\"u7,2,3", "not closed", 0},
    {"u7,2\"x\",3\"", "quote", 0},
    {"u\xff,2,3", "not UTF-8", 0},
    {"u7,2,3\0x", "NUL", 8},
    {"\0\0\0", "NUL", 3},
    {"nan,2,3", "missing value", 0},
    {"BZh9", "expected 3 fields", 0},
};

/* Wherever a line is that is no record, it is as if it was not there. */
TEST(bad_lines_are_left_out)
{
    static const char *const headers[] = {"data.header=yes\n", "data.header=no\n"};
    for (int h = 0; h < 2; h++) {
        struct training without;
        write_lines(h == 0, "", 0, FIRST);
        read_and_train(&without, headers[h]);
        assert_lists(&without, 0, "");
        for (size_t b = 0; b < sizeof bad_lines / sizeof bad_lines[0]; b++)
            for (enum where where = FIRST; where <= LAST; where++) {
                struct training t;
                const size_t n = bad_lines[b].n ? bad_lines[b].n : strlen(bad_lines[b].line);
                write_lines(h == 0, bad_lines[b].line, n, where);
                read_and_train(&t, headers[h]);
                /* A file that begins like an archive is remarked upon, and read all the same. */
                if (h == 1 && where == FIRST && strncmp(bad_lines[b].line, "BZh", 3) == 0)
                    assert_lists(&t, 2, "compressed by bzip2");
                else
                    assert_lists(&t, 1, bad_lines[b].why);
                if (!training_same(&t, &without))
                    fail_msg("%s: another release", bad_lines[b].line);
                training_free(&t);
            }
        training_free(&without);
    }
}

/* Longer than a block: nobody knows which user's line it is. */
TEST(an_endless_line_is_left_out)
{
    struct training t, without;
    const size_t n = (size_t)5 << 20;
    char *line = malloc(n);
    assert_non_null(line);
    memset(line, 'x', n);
    write_lines(1, "", 0, FIRST);
    read_and_train(&without, "data.header=yes\n");
    for (enum where where = FIRST; where <= LAST; where++) {
        write_lines(1, line, n, where);
        read_and_train(&t, "data.header=yes\n");
        assert_lists(&t, 1, "a line is longer than");
        assert_true(training_same(&t, &without));
        training_free(&t);
    }
    training_free(&without);
    free(line);
}

/* A pair that may occur once and occurs twice is nobody's rating. */
TEST(duplicates_are_left_out)
{
    static const char strict[] = "data.header=yes\ndata.duplicates=error\n";
    static const char summed[] = "data.header=yes\ndata.duplicates=sum\n";
    struct training t, without;
    write_lines(1, "", 0, FIRST);
    read_and_train(&without, strict);
    write_lines(1, "u7,2,3\nu7,2,4", 13, MIDDLE);
    read_and_train(&t, strict);
    assert_lists(&t, 1, "occur again");
    assert_true(training_same(&t, &without));
    training_free(&t);
    read_and_train(&t, summed); /* 7 is above 5 */
    assert_lists(&t, 1, "outside the declared range");
    assert_true(training_same(&t, &without));
    training_free(&t);
    training_free(&without);
}

/* More users than declared: the number is a denominator, and hides nobody. */
TEST(more_users_than_declared_stop_nothing)
{
    struct training t, enough;
    write_lines(1, "", 0, FIRST);
    read_and_train(&t, "data.header=yes\nmodel.users=5\n");
    read_and_train(&enough, "data.header=yes\nmodel.users=40\n");
    assert_true(training_same(&t, &enough));
    training_free(&t);
    training_free(&enough);
}

/* Where it is public who rated what, a bad value must not make a record disappear. */
TEST(bad_values_become_values_in_range)
{
    static const struct {
        const char *bad, *as;
    } values[] = {{"u7,2,abc", "u7,2,1"}, {"u7,2,", "u7,2,1"},    {"u7,2,nan", "u7,2,1"},
                  {"u7,2,9", "u7,2,1"},   {"u7,2,-9", "u7,2,1"},  {"u7,2,inf", "u7,2,1"},
                  {"u7,2", "u7,2,1"},     {"u7,2,3,4", "u7,2,1"}, {"u7,2,\"3", "u7,2,1"}};
    static const char only[] =
        "data.header=yes\nprivacy.unit=record\nprivacy.adjacency=replace-value\n"
        "privacy.interaction-pattern=public\nusers.update=no\nrun.order=items\nmodel.init-norm=1\n"
        "parties.kind=curator\nitems.transforms=clip-rows\nitems.transform.clip-rows.bound=1\n";
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct training bad, good;
        write_lines(1, values[i].bad, strlen(values[i].bad), MIDDLE);
        read_and_train(&bad, only);
        assert_lists(&bad, 1, "lines.csv");
        write_lines(1, values[i].as, strlen(values[i].as), MIDDLE);
        read_and_train(&good, only);
        assert_lists(&good, 0, "");
        assert_true(training_same(&bad, &good));
        assert_int_equal(bad.dataset.train.n, good.dataset.train.n);
        training_free(&bad);
        training_free(&good);
    }
}

/* Nobody is left who could be told apart. */
TEST(no_records_at_all_are_a_data_set)
{
    struct training t;
    write_bytes("lines.csv", "user,item,rating\nu1,0,9\nu2,1,abc\n", 33);
    struct dpf_error error = {0};
    struct plan plan;
    struct dataset dataset;
    char text[512];
    memset(&t, 0, sizeof t);
    snprintf(text, sizeof text, "data.path=%s/lines.csv\ndata.header=yes\n", training_directory);
    assert_int_equal(training_plan(&plan, from_file, text, &error), 0);
    assert_int_equal(data_read(&plan.data, &plan.split, plan.seeded, NULL, &dataset, &error), 0);
    assert_int_equal(dataset.violations.n, 2); /* of two lines; that nothing is left follows from them */
    dataset_free(&dataset);
    assert_int_equal(data_load(&plan.data, &plan.split, plan.seeded, NULL, &dataset, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_DATA);
    assert_non_null(strstr(error.text, "lines.csv:2: value \"9\""));
    plan_free(&plan);
}

/* ---- the command ------------------------------------------------------------------------------------- */

/* A rate at which the row of a user with many ratings grows until its gradient is not finite. */
static const char growing_data[] =
    "[data]\nformat = csv\npath = lines.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n";
static const char growing_model[] =
    "[run]\nrounds = 900\norder = users, items\noutput = out\n"
    "[model]\nusers = 40\nrank = 2\ninit = normal-by-rank\ninit-scale = 1\n[parties]\nkind = users\n"
    "[privacy]\nid-lists = public\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[users]\nloss = squared-error\nsolver = gradient-descent\n[users.loss]\nobjective = full\n"
    "[users.solver]\nrate = 0.35\n"
    "[items]\nloss = explicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\nsolver = "
    "ball\n"
    "[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nnorm = l2\nbound = 5\n[items.solver]\nradius = "
    "1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\nwhere = sum\n"
    "[accountants]\nlist = rdp\n";

static void write_parts(const char *name, const char *first, const char *second)
{
    struct text text = {0};
    text_add(&text, "%s%s", first, second);
    training_file(name, text.data);
    text_free(&text);
}

static void write_growing(int users)
{
    struct text text = {0};
    text_add(&text, "user,item,rating\n");
    for (int u = 1; u <= 30; u++)
        text_add(&text, "%d,%d,%d\n", u, 1 + u % 9, 1 + u % 5);
    /* The user that grows, and a line that is none: its ids are in the lists that are declared public. */
    for (int u = 0; u < users; u++)
        for (int i = 1; i <= 9; i++)
            text_add(&text, i < 9 ? "31,%d,5\n" : "31,%d,much\n", i);
    write_bytes("lines.csv", text.data, text.length);
    text_free(&text);
}

static void read_result(const char *name, char *out, size_t size)
{
    command_slurp(command_path(name), out, size);
}

/* One user's data makes no difference to what others see of a run's end. */
TEST(the_command_completes_with_and_without_a_user)
{
    static char statement[2][1 << 15], list[1 << 16];
    write_parts("growing.ini", growing_data, growing_model);
    for (int users = 0; users < 2; users++) {
        write_growing(users);
        command_expect("-q -c growing.ini", 0, users ? "were counted as zero" : "");
        assert_null(strstr(command_out, "violation"));
        read_result("out/release/guarantee.txt", statement[users], sizeof statement[users]);
        assert_int_equal(command_exists("out/private/violations.txt"), users);
        assert_int_equal(command_exists("out/release/item_factors.npy"), 1);
    }
    assert_string_equal(statement[0], statement[1]);
    read_result("out/private/violations.txt", list, sizeof list);
    assert_non_null(strstr(list, "lines.csv:40: rating \"much\""));
    assert_non_null(strstr(list, "not finite"));
    /* Who asks for errors gets them, the one of the data first. */
    command_expect("-q -c growing.ini -o privacy.on-violation=error", 3, "lines.csv:40");
    assert_non_null(strstr(statement[0], "C12  completion     holds"));
}

/* The options that the first line of a configuration of data ends with. */
static void documented_options(const char *path, char *out, size_t size)
{
    char line[512] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    const char *options = strstr(line, "-o ");
    assert_non_null(options);
    snprintf(out, size, "%s", options);
}

/* A file that is read wrongly gives the same release as one without records, and a warning for the curator. */
TEST(data_that_is_read_wrongly_is_told_to_the_curator)
{
    static char statement[2][1 << 15];
    char path[1024], include[1100], options[512], command[1200];
    snprintf(path, sizeof path, "%s/configs/data/ml-1m.ini", getenv("DPFRAME_SOURCE_DIR"));
    snprintf(include, sizeof include, "include = %s\n", path);
    documented_options(path, options, sizeof options);
    write_parts("million.ini", include, growing_model);
    struct text text = {0};
    for (int u = 1; u <= 30; u++)
        text_add(&text, "%d::%d::%d::978300760\n", u, 1 + u % 8, 1 + u % 5);
    write_bytes("ratings.dat", text.data, text.length);
    text_free(&text);
    for (int wrong = 0; wrong < 2; wrong++) {
        snprintf(command, sizeof command, "-c million.ini -o model.items=8 %s%s", options,
                 wrong ? " -o data.fields=3" : "");
        command_expect(command, 0, wrong ? "no valid record was read" : "30 users x 8 items, 30 ratings");
        assert_null(strstr(command_out, "no valid record"));
        assert_int_equal(command_exists("out/private/violations.txt"), wrong);
        assert_int_equal(strstr(command_err, "no valid record") != NULL, wrong);
        read_result("out/release/guarantee.txt", statement[wrong], sizeof statement[wrong]);
    }
    assert_string_equal(statement[0], statement[1]);
    write_bytes("other.txt", "x\ny\n", 4);
    snprintf(command, sizeof command, "-c million.ini -o model.items=8 %s -o data.items-file=other.txt",
             options);
    command_expect(command, 0, "no record is of the catalogues");
}

FIXTURE(training_begin, training_end)
