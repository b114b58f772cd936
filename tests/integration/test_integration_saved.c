/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with a run afterwards: recommendations, evaluation, differences, the page of a sweep. */
#include <sys/stat.h>
#include <unistd.h>

#include "kit/test.h"
#include "kit/html_checks.h"
#include "kit/training.h"

#include "kit/spawned.h"

/* Names that are no numbers, and one with a comma. Two groups of users with tastes that are easy to learn. */
static void write_ratings(void)
{
    char text[8192] = "user,item,rating\n";
    for (int user = 0; user < 12; user++)
        for (int item = 0; item < 8; item++) {
            if ((user + item) % 5 == 4)
                continue; /* the unseen ones */
            char line[64];
            snprintf(line, sizeof line, "user%c,%s%d%s,%d\n", 'a' + user, item == 3 ? "\"item," : "item-",
                     item, item == 3 ? "\"" : "", (user % 2) == (item % 2) ? 5 : 1);
            strcat(text, line);
        }
    training_file("ratings.csv", text);
}

static const char config[] =
    "[run]\nrounds = 20\noutput = out\n"
    "[data]\nformat = csv\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = random\nfraction = 0.1\n"
    "[model]\nrank = 2\noffset = midpoint\ninit-scale = 1\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.05\n"
    "[items]\nloss = explicit-als\nmechanism = none\nsolver = cholesky\n[items.loss]\nlambda = 0.05\n"
    "[evaluate]\nmetrics = rmse, mae\n";

static char text[1 << 16];

TEST(a_user_gets_what_fits)
{
    /* usera likes even items; of the two it has not seen, item-4 is one, and there is no other. */
    command_expect("recommend out --user usera -n 5", 0, "");
    static const char first[] = "user,item,rank,score,audience\nusera,item-4,1,";
    assert_true(strncmp(command_out, first, strlen(first)) == 0);
    assert_non_null(strstr(command_out, ",own user only\n"));
    assert_non_null(strstr(command_err, "the list is private"));
    int lines = 0;
    for (char *c = command_out; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 2); /* seven of eight are seen, in the training or the test part */
    /* userb has not seen "item,3", whose name needs quotes; it likes odd items. */
    command_expect("recommend out --user userb", 0, "");
    assert_non_null(strstr(command_out, "userb,\"item,3\",1,"));
}

static ino_t inode_of(const char *name, mode_t *mode)
{
    struct stat info;
    assert_int_equal(stat(command_path(name), &info), 0);
    *mode = info.st_mode & 07777;
    return info.st_ino;
}

/* The second list for one user is made from what the first one kept; any change of what it was made from is noticed. */
TEST(the_split_is_kept_for_one_user)
{
    static char list[1 << 12], kept[1 << 16];
    mode_t mode;
    FILE *file;

    command_expect("-q -c config.ini -O kept", 0, "");
    assert_false(command_exists("kept/private/split"));
    command_expect("recommend kept --all --output - -n 3", 0, "");
    assert_false(command_exists("kept/private/split"));
    command_expect("recommend kept --user userb -n 3", 0, "");
    strcpy(list, command_out);
    const ino_t first = inode_of("kept/private/split", &mode);
    assert_int_equal(mode, 0600);
    command_expect("recommend kept --user userb -n 3", 0, "");
    assert_string_equal(command_out, list);
    assert_int_equal(inode_of("kept/private/split", &mode), first); /* or it would be a new one */
    command_expect("recommend kept --user usera -n 3", 0, "");
    assert_non_null(strstr(command_out, "usera,item-4,1,"));
    assert_int_equal(inode_of("kept/private/split", &mode), first);
    command_expect("recommend kept --user nobody", 3, "the data has no such user");

    /* Cut off, it is no such file. */
    assert_int_equal(truncate(command_path("kept/private/split"), 200), 0);
    command_expect("recommend kept --user userb -n 3", 0, "");
    assert_string_equal(command_out, list);
    /* The same bytes at another time are read again; others are refused, as they are without it. */
    const ino_t second = inode_of("kept/private/split", &mode);
    command_slurp(command_path("ratings.csv"), kept, sizeof kept);
    training_file("ratings.csv", kept);
    command_expect("recommend kept --user userb -n 3", 0, "");
    assert_string_equal(command_out, list);
    assert_int_not_equal(inode_of("kept/private/split", &mode), second);
    file = fopen(command_path("ratings.csv"), "a");
    assert_non_null(file);
    fputs("usera,item-4,5\n", file);
    assert_int_equal(fclose(file), 0);
    command_expect("recommend kept --user userb", 3, "the data has changed since the run");
    training_file("ratings.csv", kept);
    /* Nor is it that of another configuration. */
    command_expect("recommend kept --user userb -n 3", 0, "");
    const ino_t third = inode_of("kept/private/split", &mode);
    file = fopen(command_path("kept/config.ini"), "a");
    assert_non_null(file);
    fputs("; changed\n", file);
    assert_int_equal(fclose(file), 0);
    command_expect("recommend kept --user userb -n 3", 0, "");
    assert_string_equal(command_out, list);
    assert_int_not_equal(inode_of("kept/private/split", &mode), third);
    /* It goes with its run. */
    command_expect("-q -c config.ini -O kept", 0, "");
    assert_false(command_exists("kept/private/split"));
}

/* Every score is the inner product of the files that NumPy would read. */
TEST(all_users_are_written)
{
    command_expect("recommend out --all --output all.csv -n 3", 0, "");
    command_slurp(command_path("all.csv"), text, sizeof text);
    assert_non_null(strstr(command_err, "these lists are private"));
    command_expect("recommend out --user userb -n 3", 0, "");
    assert_non_null(strstr(text, command_out + strlen("user,item,rank,score,audience\n")));
    command_expect("recommend out --all --output - -n 3", 0, "");
    assert_string_equal(text, command_out);
    for (int user = 0; user < 12; user++) {
        char name[16];
        snprintf(name, sizeof name, "\nuser%c,", 'a' + user);
        assert_non_null(strstr(text, name));
    }
}

TEST(the_own_test_part_gives_the_same_metrics)
{
    json_t *run = command_json("out/run.json");
    command_expect("evaluate out --json", 0, "");
    json_t *again = command_json(NULL);
    double before = json_number_value(json_object_get(json_object_get(run, "metrics"), "rmse"));
    assert_true(before > 0);
    assert_true(json_number_value(json_object_get(again, "rmse")) == before);
    json_decref(run);
    json_decref(again);
    /* A few of the users, with intervals. */
    command_expect("evaluate out --json -o evaluate.users=5", 0, "");
    json_t *some = command_json(NULL);
    const double left_out = json_number_value(json_object_get(some, "users-left-out"));
    assert_true(left_out > 0 && left_out <= 7);
    json_decref(some);
    command_expect("evaluate out -o evaluate.users=5", 0, "");
    assert_non_null(strstr(command_out, " to "));
    command_expect("evaluate out -o evaluate.users=5 -o evaluate.release=noisy", 2,
                   "released metrics count every user");
    command_expect("evaluate out -o evaluate.metrics=hr -o evaluate.k=1", 0, "");
    assert_non_null(strstr(command_out, "hr@1"));
}

/* A fault in another file means what it means to the run. */
TEST(faulty_records_are_treated_as_in_the_run)
{
    training_file("faulty.csv", "user,item,rating\nuserb,\"item,3\",5\nusera,item-4,much\n");
    command_expect("evaluate out --data faulty.csv", 3, "faulty.csv:3");
    command_expect("-c config.ini -o privacy.on-violation=zero -O forgiving", 0, "");
    command_expect("evaluate forgiving --data faulty.csv", 0, "1 record is at fault: left out");
    training_file("other.csv", "user,item,rating\nusera\nuserb\n");
    command_expect("evaluate forgiving --data other.csv", 3,
                   "--data other.csv: no line of it is a record in the form of the run's own file");
    training_file("strangers.csv", "user,item,rating\nnewcomer,item-1,5\n");
    command_expect("evaluate out --data strangers.csv", 3, "no record is left to evaluate on");
}

TEST(other_records_are_matched_by_id)
{
    /* In another order, with a user and an item that are new. The tastes continue: the error is small. */
    training_file(
        "new.csv",
        "user,item,rating\nuserb,\"item,3\",5\nnewcomer,item-1,5\nusera,item-4,5\nusera,item-9,1\n");
    command_expect("evaluate out --data new.csv --json", 0, "2 records");
    assert_null(strstr(command_err, "has no effect")); /* the split of the run is not what was asked for */
    json_t *good = command_json(NULL);
    training_file("odd.csv", "user,item,rating\nuserb,\"item,3\",1\nusera,item-4,1\n");
    command_expect("evaluate out --data odd.csv --json", 0, "");
    json_t *bad = command_json(NULL);
    /* A whole file that the run has seen most of: what is left is its test part. */
    command_expect("evaluate out --data ratings.csv --json", 0, "trained on: left out");
    json_t *seen = command_json(NULL), *run = command_json("out/run.json");
    assert_true(fabs(json_number_value(json_object_get(seen, "rmse")) -
                     json_number_value(json_object_get(json_object_get(run, "metrics"), "rmse"))) < 1e-12);
    json_decref(seen);
    json_decref(run);
    assert_true(json_number_value(json_object_get(good, "rmse")) < 1);
    assert_true(json_number_value(json_object_get(bad, "rmse")) > 2.5);
    json_decref(good);
    json_decref(bad);
}

TEST(mistakes_are_named)
{
    command_expect("recommend out --user nobody", 3, "nobody");
    command_expect("recommend out", 2, "--user");
    command_expect("recommend out --all", 2, "--output");
    command_expect("recommend nowhere --user usera", 2, "nowhere/run.json");
    command_expect("recommend out --user usera -n 0", 2, "-n");
    command_expect("evaluate out -o users.loss.lambda=1", 2, "[evaluate]");
    command_expect("diff config.ini", 2, "two configurations");
    /* A file would not be looked at; what is generated would be evaluated in its place. */
    command_expect("-q -c config.ini -o data.format=synthetic -o data.synthetic.users=20 -o "
                   "data.synthetic.items=15 -o data.synthetic.ratings=200 -O generated",
                   0, "");
    command_expect("evaluate generated --data ratings.csv", 2, "trained on generated records");
    command_expect("report .", 2, "neither a sweep.json nor a run.json");
}

TEST(changed_data_is_refused)
{
    command_slurp(command_path("ratings.csv"), text, sizeof text);
    FILE *stream = fopen(command_path("ratings.csv"), "a");
    assert_true(stream);
    assert_true(fputs("usera,item-4,1\n", stream) >= 0);
    fclose(stream);
    command_expect("recommend out --user usera", 3, "changed since the run");
    training_file("ratings.csv", text);
    command_expect("recommend out --user usera", 0, "");
}

/* The last number of the items' factors becomes NaN: its item must not just be missing from lists. */
TEST(factors_that_are_no_numbers_are_refused)
{
    const float nan = NAN;
    char before[sizeof nan];
    FILE *stream = fopen(command_path("out/release/item_factors.npy"), "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, -(long)sizeof nan, SEEK_END), 0);
    assert_int_equal(fread(before, 1, sizeof before, stream), sizeof before);
    assert_int_equal(fseek(stream, -(long)sizeof nan, SEEK_END), 0);
    assert_int_equal(fwrite(&nan, 1, sizeof nan, stream), sizeof nan);
    assert_int_equal(fflush(stream), 0);
    command_expect("recommend out --user usera", 3,
                   "item_factors.npy: row 7 holds a number that is not finite");
    assert_int_equal(fseek(stream, -(long)sizeof nan, SEEK_END), 0);
    assert_int_equal(fwrite(before, 1, sizeof before, stream), sizeof before);
    fclose(stream);
    command_expect("recommend out --user usera", 0, "");
}

TEST(differences_start_with_privacy)
{
    training_file("other.ini", "include = config.ini\n[model]\ninit-scale = 0.3\n[run]\nrounds = 5\n");
    command_expect("diff config.ini other.ini", 0, "");
    assert_string_equal(
        command_out,
        "affects the guarantee:\n  run.rounds: 20 -> 5\ndoes not:\n  model.init-scale: 1 -> 0.3\n");
    command_expect("diff config.ini config.ini", 0, "");
    assert_string_equal(command_out, "no difference\n");
}

TEST(a_sweep_has_a_page)
{
    training_file("sweep.ini", "include = config.ini\n[sweep]\nquestion = Rank <or> \"rounds\" & more?\n"
                               "baseline = few\nmodel.rank = 1, 2\nrun.seed = 1..2\n"
                               "variant.few =\nvariant.many = run.rounds=30\n");
    command_expect("-q -c sweep.ini -O swept", 0, "");
    command_expect("report ./swept/", 0, "");
    assert_string_equal(command_out, "./swept/report.html\n"); /* as it was named */
    static char page[1 << 20];
    command_slurp(command_path("swept/report.html"), page, sizeof page);
    assert_non_null(strstr(page, "<h1>Rank &lt;or&gt; &quot;rounds&quot; &amp; more?</h1>"));
    assert_non_null(strstr(page, "<code>run.rounds</code>: 20 → 30"));
    assert_non_null(strstr(page, "affects the guarantee"));
    size_t plots, values;
    html_check_page(page, command_path("swept"), &plots, &values);
    assert_true(plots >= 2);
    assert_true(values > 20);
    assert_non_null(strstr(page, "is best with"));
    assert_non_null(strstr(page, "href=\"logs/few_rank-1_seed-1.txt\""));
    if (system("command -v gnuplot >/dev/null") != 0)
        return;
    assert_true(command_exists("swept/plots/rmse-rank.svg"));
    assert_true(command_exists("swept/plots/rmse-rank.png"));
    assert_true(command_exists("swept/plots/rounds.svg"));
}

static void read_page(const char *path, char *page, size_t size)
{
    command_slurp(command_path(path), page, size);
}

/* The page of a run: all of it private, so that it lies with what is. */
TEST(a_run_has_a_page)
{
    static char page[1 << 20];
    size_t plots, values;
    command_expect("-q -c config.ini -O paged", 0, "");
    command_expect("report paged", 0, "");
    assert_string_equal(command_out, "paged/private/report.html\n");
    assert_false(command_exists("paged/release/report.html")); /* no metrics were released */
    assert_false(command_exists("paged/report.html"));
    read_page("paged/private/report.html", page, sizeof page);
    html_check_page(page, command_path("paged/private"), &plots, &values);
    assert_int_equal(plots, 2); /* the training curve, and items */
    assert_true(values > 20);
    assert_non_null(strstr(page, "Verdict: "));
    assert_non_null(strstr(page, "There is no noise in this run"));
    assert_non_null(strstr(page, "Private: metrics, curve and lists"));
    assert_non_null(strstr(page, "<th scope=\"row\" class=\"l s\" data-l=\"item\">item,3</th>"));
    assert_non_null(strstr(page, ">biases</th>"));
    assert_non_null(strstr(page, "PRIVACY STATEMENT"));
    /* What was said once stays so: noise would be another. */
    json_t *verdict = json_load_file(command_path("paged/private/verdict.json"), 0, NULL);
    assert_non_null(strstr(page, "Verdict: "));
    assert_string_equal(json_string_value(json_object_get(verdict, "note")), "private: do not publish");
    assert_int_equal(json_object_set_new(verdict, "text", json_string("Verdict: as it was said.")), 0);
    assert_int_equal(json_dump_file(verdict, command_path("paged/private/verdict.json"), 0), 0);
    json_decref(verdict);
    command_expect("report paged", 0, "");
    read_page("paged/private/report.html", page, sizeof page);
    assert_non_null(strstr(page, "Verdict: as it was said."));
    /* The page belongs to the run: the next one takes it away. */
    command_expect("-q -c config.ini -O paged", 0, "which this one replaces when it is complete");
    assert_false(command_exists("paged/private/report.html"));
    assert_false(command_exists("paged/private/verdict.json"));
}

/* Released metrics and the statement are a page of their own, with nothing of what is private. */
TEST(released_metrics_have_a_page_to_pass_on)
{
    static const char *const private_words[] = {"Verdict", "Training RMSE", "biases", "Recommended most",
                                                "seconds"};
    static char page[1 << 20];
    json_error_t problem;
    command_expect("-q -c config.ini -O passed-on", 0, "");
    json_t *run = json_load_file(command_path("passed-on/run.json"), 0, &problem);
    assert_non_null(run);
    json_object_set_new(
        run, "released_metrics",
        json_pack("{s:{s:f, s:f, s:i}}", "rmse", "value", 0.4321, "noise", 0.0625, "averaged_over", 12));
    assert_int_equal(json_dump_file(run, command_path("passed-on/run.json"), 0), 0);
    const double rmse = json_number_value(json_object_get(json_object_get(run, "metrics"), "rmse"));
    json_decref(run);
    command_expect("report passed-on", 0, "");
    read_page("passed-on/release/report.html", page, sizeof page);
    html_check_page(page, command_path("passed-on/release"), NULL, NULL);
    assert_non_null(strstr(page, "0.4321"));
    assert_non_null(strstr(page, "0.0625"));
    assert_non_null(strstr(page, "PRIVACY STATEMENT"));
    for (size_t i = 0; i < sizeof private_words / sizeof private_words[0]; i++)
        if (strstr(strstr(page, "<body>"), private_words[i]))
            fail_msg("the page to pass on has \"%s\"", private_words[i]);
    snprintf(text, sizeof text, ">%.4f<", rmse);
    assert_null(strstr(page, text));
    read_page("passed-on/private/report.html", page, sizeof page);
    assert_non_null(strstr(page, text));
    assert_non_null(strstr(page, "Released metrics"));
}

/* Without the records the page has what the directory has, and says why it has no more. */
TEST(a_page_without_the_records_says_so)
{
    static char page[1 << 20], kept[1 << 16];
    size_t plots;
    command_slurp(command_path("ratings.csv"), kept, sizeof kept);
    training_file("ratings.csv", "user,item,rating\nusera,item-1,5\nuserb,item-2,1\n");
    command_expect("report paged", 0, "");
    training_file("ratings.csv", kept);
    read_page("paged/private/report.html", page, sizeof page);
    html_check_page(page, command_path("paged/private"), &plots, NULL);
    assert_int_equal(plots, 1);
    assert_non_null(strstr(page, "the data has changed since the run"));
    assert_non_null(strstr(page, "Training RMSE by round"));
    command_expect("report paged", 0, "");
}

/* Where records have privacy weights. */
TEST(the_page_has_the_spread_of_epsilons)
{
    char sweep[2048];
    const char *source = getenv("DPFRAME_SOURCE_DIR");
    snprintf(sweep, sizeof sweep,
             "include = %s/plugins/sampler/personalised/personalised.ini\n[run]\nrounds = 1\n[accountants]\n"
             "list = heterogeneous, published\n[items]\nsample-secrecy = outsider\n[sweep]\n"
             "question = spread\nrun.seed = 1..2\n",
             source ? source : ".");
    training_file("spread.ini", sweep);
    command_expect("-q -c spread.ini -O spread", 0, "");
    command_expect("report spread", 0, "");
    static char page[1 << 20];
    command_slurp(command_path("spread/report.html"), page, sizeof page);
    const char *table = strstr(page, "Epsilon of records and users");
    assert_non_null(table);
    assert_non_null(strstr(table, "user group 3"));
    assert_non_null(strstr(table, "item group 3"));
    assert_non_null(strstr(table, "this table is private"));
}

/* items, similar, predict and recommend --data need release/ and ids; whoever needs the run's own records says how to
   name them. A server's configuration names none. */
TEST(the_directory_stands_alone)
{
    training_file(
        "gram.ini",
        "[run]\noutput = gram\n[data]\nformat = csv\npath = ratings.csv\nfeedback = implicit\ncolumn.rating "
        "= "
        "none\nheader = yes\nitems-file = gram-items.txt\n[model]\nrecommender = private-gram\nusers = "
        "20\nitems = 8\n[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-5\nbudget = "
        "total\ntotal-epsilon = 9\n[accountants]\nlist = rdp\n[evaluate]\nmetrics = ndcg\n");
    training_file("gram-items.txt", "item-0\nitem-1\nitem-2\n\"item,3\"\nitem-4\nitem-5\nitem-6\nitem-7\n");
    training_file("pairs.csv", "user,item\nusera,item-1\nuserb,item-2\n");
    command_expect("run gram.ini -q -o data.catalogue.outside=drop", 0, "");
    assert_int_equal(rename(command_path("ratings.csv"), command_path("elsewhere.csv")), 0);
    command_expect("similar out --item item-0 -n 2", 0, "");
    command_expect("predict out pairs.csv", 0, "");
    command_expect("recommend out --data elsewhere.csv --user usera", 0, "");
    command_expect("items gram -n 3", 0, "");
    command_expect("similar gram --item item-0 -n 2", 0, "");
    command_expect("recommend gram --data elsewhere.csv --user usera", 0, "");
    static const char *const asking[] = {"recommend out --user usera", "evaluate out",
                                         "predict gram pairs.csv"};
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        command_expect(asking[i], 3, "ratings.csv is not there. Set data.path in ");
    assert_int_equal(rename(command_path("elsewhere.csv"), command_path("ratings.csv")), 0);
    char line[sizeof training_directory + 64];
    snprintf(line, sizeof line, "sed -i '/^path = /d' '%s'", command_path("out/config.ini"));
    assert_int_equal(system(line), 0);
    command_expect("similar out --item item-0 -n 2", 0, "");
    command_expect("predict out pairs.csv", 0, "");
    command_expect("recommend out --data ratings.csv --user usera", 0, "");
    command_expect("recommend out --user usera", 3, "its configuration names none. Set data.path in ");
    command_expect("run config.ini -q", 0, "");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    write_ratings();
    training_file("config.ini", config);
    return command_prepare("-q -c config.ini");
}

FIXTURE(begin, training_end)
