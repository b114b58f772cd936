/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to a configuration: what has to be declared, that nothing is taken from the records, and that
 * what is written runs and promises something. */
#include <math.h>

#include "kit/test.h"
#include "start/expectation.h"
#include "start/start_recipes.h"
#include "kit/training.h"

#include "kit/spawned.h"

#define RATINGS "feedback=explicit value-min=1 value-max=5 users=500 items=50 epsilon=3 header=yes"
#define LISTS "feedback=implicit users=500 items=50 epsilon=3 header=yes"

static char text[sizeof command_out], other[sizeof command_out];

TEST(what_is_missing_is_listed)
{
    command_expect("start own.csv", 2, "these facts are missing");
    assert_non_null(strstr(command_err, "feedback=explicit|implicit|counts"));
    assert_non_null(strstr(command_err, "users="));
    assert_non_null(strstr(command_err, "header=yes|no"));
    assert_null(strstr(command_err, "value-min")); /* only of ratings */
    command_expect("start own.csv feedback=explicit users=500 items=50 epsilon=3 header=no", 2, "value-min=");
    assert_non_null(strstr(command_err, "fields="));
    assert_null(strstr(command_err, "items="));
    command_expect("start", 2, "name a file of records");
    command_expect("start absent.csv " LISTS, 3, "absent.csv: there is no such file");
    command_expect("start own.csv " LISTS " epsilom=3", 2, "did you mean epsilon=?");
    command_expect("start own.csv epsilon=0 feedback=implicit users=5 items=5 header=yes", 2,
                   "must be above 0");
    command_expect("start own.csv feedback=maybe", 2, "explicit|implicit|counts");
    command_expect("start own.csv unit=record", 2, "protects each of the user's records");
    command_expect("start own.csv " LISTS " want=ratings", 2, "there are none to predict");
    command_expect("start own.csv " LISTS " epsilon=3", 2, "epsilon is given twice");
    assert_false(command_exists("own.ini"));
}

/* What is measured by a model that the verdict lacks says how the verdict gets it. */
TEST(what_is_expected_can_be_compared)
{
    command_expect("start own.csv " RATINGS " recipe=private-ratings -O compared.ini", 0, "");
    /* Lines are as wide as the terminal. */
    const char *compared = strstr(command_out, "run.compare=non-private,");
    assert_non_null(compared);
    assert_null(strstr(command_out, "the verdict after training has the figures"));
    command_expect("run compared.ini -O compared -o run.compare=non-private,mean", 0, "");
    assert_non_null(strstr(command_out, "Without privacy"));
    command_expect("start own.csv " RATINGS " recipe=private-biases -O simple.ini", 0, "");
    assert_non_null(strstr(command_out, "exact model"));
}

TEST(a_configuration_is_written_checked_and_runs)
{
    command_expect("start own.csv " RATINGS, 0, "");
    assert_non_null(strstr(command_out, "Promised: "));
    const int promised = strstr(command_out, "nothing yet") == NULL;
    if (promised) /* without a catalogue, the promise begins with what is declared to be public */
        assert_non_null(strstr(command_out, "Promised: which items occur in the file is public"));
    assert_int_equal(promised, strstr(command_out, "at most epsilon = ") || strstr(command_out, "epsilon ="));
    assert_non_null(strstr(command_out, "Expected: "));
    assert_non_null(strstr(command_out, "Train: dpframe run own.ini -O own-results"));
    command_expect("start own.csv " RATINGS, 2, "own.ini is there already");
    command_expect("-c own.ini", 0, ""); /* the same directory */
    assert_non_null(strstr(command_out, "Verdict: "));
    /* What the run proves is what was promised. */
    json_t *run = command_json("own-results/run.json");
    const json_t *proved = json_object_get(json_object_get(run, "guarantee"), "proved");
    assert_int_equal(json_array_size(proved) > 0, promised);
    for (size_t k = 0; k < json_array_size(proved); k++)
        if (strcmp(json_string_value(json_object_get(json_array_get(proved, k), "accountant")), "pld") == 0)
            assert_true(json_number_value(json_object_get(json_array_get(proved, k), "epsilon")) <= 3.0);
    json_decref(run);
    /* The twin without noise has no noise to choose. */
    command_expect("-c own.ini -o run.compare=non-private,mean -O own-compared", 0, "");
    assert_non_null(strstr(command_out, "non-private"));
    command_expect("predict own-results own.csv --output own-predictions.csv", 0, "");
    command_expect("start own.csv " LISTS " -O lists.ini", 0, "");
    command_expect("-q -c lists.ini -O lists-results", 0, "");
    command_expect("recommend lists-results --user u1 -n 3", 0, "");
    command_expect("start own.csv feedback=counts users=500 items=50 epsilon=3 header=yes -O counts.ini", 0,
                   "");
    command_expect("-q -c counts.ini -O counts-results", 0, "");
    command_expect("start own.csv feedback=explicit want=ranking users=500 items=50 epsilon=1 header=yes -O "
                   "ranked.ini",
                   0, "");
    command_expect("-q -c ranked.ini -O ranked-results", 0, "");
    training_file("new.csv", "user,item,rating\nzoe,i1,5\nzoe,i4,3\n");
    command_expect("recommend lists-results --data new.csv --user zoe -n 3", 0, "");
}

/* A number that came from the records would tell something about them. */
TEST(nothing_is_taken_from_the_records)
{
    assert_int_equal(mkdir(command_path("a"), 0755), 0);
    training_file("a/r.csv", "user,item,rating\nu1,i1,5\nu1,i2,4\nu2,i1,3\n");
    command_expect("start a/r.csv " RATINGS " -O a.ini", 0, "");
    strcpy(text, command_out);
    command_slurp(command_path("a.ini"), other, sizeof other);
    training_file("a/r.csv", "user,item,rating\nu1,i1,1\nzoe,i7,1\nzoe,i8,1\nyan,i9,2\nyan,i1,3\nyan,i2,2\n");
    assert_int_equal(unlink(command_path("a.ini")), 0);
    command_expect("start a/r.csv " RATINGS " -O a.ini", 0, "");
    assert_string_equal(command_out, text);
    command_slurp(command_path("a.ini"), text, sizeof text);
    assert_string_equal(other, text);
}

TEST(what_cannot_run_is_not_left)
{
    command_expect("start own.csv rating=nope " RATINGS " -O wrong.ini", 3, "names a column \"nope\"");
    assert_false(command_exists("wrong.ini"));
    command_expect("start own.csv delimiter=semicolon " RATINGS " -O wrong.ini", 3,
                   "did you mean delimiter = comma?");
    assert_false(command_exists("wrong.ini"));
    command_expect("start own.csv " LISTS " -O absent/wrong.ini", 1, "absent");
}

/* A line without a header is looked at, too: a run would only count it, and all others, as faults. */
TEST(a_first_line_that_is_no_record_is_refused)
{
    training_file("plays.txt", "2\t51\t13883\n2\t52\t11690\n3\t51\t4\n");
    command_expect("start plays.txt feedback=counts users=9 items=90 epsilon=3 header=no fields=3", 3,
                   "did you mean delimiter = tab?");
    assert_false(command_exists("plays.ini"));
    command_expect("start plays.txt feedback=counts users=9 items=90 epsilon=3 header=no fields=3 "
                   "delimiter=tab",
                   0, "");
    assert_true(command_exists("plays.ini"));
    training_file("my-ratings.dat", "A1,B1,5.0,1198195200\nA1,B2,4.0,1198195200\n");
    command_expect(
        "start my-ratings.dat format=movielens-1m feedback=explicit value-min=1 value-max=5 users=9 "
        "items=90 epsilon=3",
        3, "4 fields, separated by comma. Write format=csv, or leave it out");
    assert_false(command_exists("my-ratings.ini"));
    training_file("empty.csv", "");
    command_expect("start empty.csv feedback=implicit users=9 items=90 epsilon=3 header=no fields=2", 3,
                   "contains no records");
}

/* A name alone decides nothing: files with names of a data set are looked at as others are. */
TEST(the_first_lines_decide_what_a_name_promises)
{
    static const char *const names[] = {"ratings.dat", "u.data", "mine.inter"};
    static const char *const true_forms[] = {"1::7::5::978300760\n1::8::3::978302109\n",
                                             "1\t7\t5\t978300760\n1\t8\t3\t978302109\n",
                                             "user_id:token\titem_id:token\trating:float\n1\t7\t5\n"};
    static const char *const formats[] = {"format = movielens-1m\n", "format = movielens-100k\n",
                                          "format = recbole\n"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char call[512];
        training_file(names[i], "A1,B1,5.0,1198195200\nA1,B2,4.0,1281052800\n");
        snprintf(call, sizeof call,
                 "start %s feedback=explicit value-min=1 value-max=5 users=9 items=90 "
                 "epsilon=3",
                 names[i]);
        command_expect(call, 2,
                       "what is right:\n  format=csv header=no fields=4 user=1 item=2 rating=3 time=4");
        strcat(call, " format=csv header=no fields=4 -O named.ini");
        command_expect(call, 0, "");
        assert_int_equal(unlink(command_path("named.ini")), 0);
        training_file(names[i], true_forms[i]);
        *strstr(call, " format=csv") = '\0';
        strcat(call, " -O named.ini");
        command_expect(call, 0, "");
        command_slurp(command_path("named.ini"), text, sizeof text);
        assert_non_null(strstr(text, formats[i]));
        assert_int_equal(unlink(command_path("named.ini")), 0);
    }
}

/* A header that is declared takes the first line away: whoever holds the file is told if it has a rating. */
TEST(a_record_declared_a_header_is_warned_of)
{
    static const char warning[] =
        "bare.csv:1: data.header = yes, but column 3 (data.column.rating) of this line is a number (\"5.0\")";
    training_file("bare.csv", "A1,B1,5.0,1198195200\nA1,B2,4.0,1281052800\n");
    command_expect("start bare.csv feedback=explicit value-min=1 value-max=5 users=9 items=90 epsilon=3 "
                   "header=yes",
                   0, "");
    assert_non_null(strstr(command_err, warning));
    command_expect("check bare.ini", 0, "");
    assert_non_null(strstr(command_err, warning));
    command_expect("run bare.ini -O bare-results", 0, "");
    assert_null(strstr(command_err, "is a number"));
    training_file("bare.csv", "who,what,how\nA1,B1,5.0\nA1,B2,4.0\n");
    command_expect("check bare.ini", 0, "");
    assert_null(strstr(command_err, "is a number"));
}

/* The file of pairs that is named at the end is one that the run reads. */
TEST(pairs_have_the_form_that_is_named)
{
    static const struct {
        const char *records, *line, *facts, *says, *like, *pairs;
    } forms[] = {
        {"sung.tsv", "u%d\tm%d\t%d\n", "header=no fields=3", "predict sung-results PAIRS.tsv",
         "separated by tab, without", "u1\tm2\n"},
        {"sung.dat", "u%d,m%d,%d\n", "header=no fields=3", "predict sung-results PAIRS.csv",
         "separated by comma, without", "u1,m2\n"},
        {"sung.txt", "u%d;m%d;%d\n", "delimiter=semicolon header=no fields=3",
         "predict sung-results PAIRS.txt", "separated by semicolon, without", "u1;m2\n"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char call[512];
        char *at = text;
        for (int u = 0; u < 20; u++)
            for (int k = 0; k < 5; k++)
                at += sprintf(at, forms[i].line, u, (u + 3 * k) % 20, k + 1);
        training_file(forms[i].records, text);
        snprintf(call, sizeof call,
                 "start %s feedback=explicit value-min=1 value-max=5 users=20 items=20 epsilon=8 %s",
                 forms[i].records, forms[i].facts);
        command_expect(call, 0, "");
        assert_non_null(strstr(command_out, forms[i].says));
        assert_non_null(strstr(command_out, forms[i].like));
        command_expect("-q -c sung.ini -O sung-results", 0, "");
        training_file("pairs", forms[i].pairs);
        command_expect("predict sung-results pairs --format csv", 0, "");
        assert_non_null(strstr(command_out, "\nu1,m2,"));
        assert_int_equal(unlink(command_path("sung.ini")), 0);
    }
}

/* The facts that are printed for a file of any form make a configuration that runs. */
TEST(printed_facts_fit_the_file)
{
    static const char *const forms[] = {"%d;%d;%d\n", "%d\t%d\t%d\n", "%d::%d::%d\n",
                                        "%d %d %d\n", "%d|%d|%d\n",   "\"%d\",\"a, \"\"%d\"\"\",\"%d\"\n"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char call[1024];
        char *at = text;
        for (int u = 0; u < 40; u++)
            for (int k = 0; k < 8; k++)
                at += sprintf(at, forms[i], u, 100 + (u * 7 + k) % 30, k % 5 + 1);
        training_file("form.txt", text);
        command_expect("start form.txt feedback=explicit value-min=1 value-max=5 users=40 items=30 epsilon=8",
                       2, "By its first 40 lines");
        const char *facts = strstr(command_err, "what is right:\n");
        assert_non_null(facts);
        snprintf(call, sizeof call,
                 "start form.txt feedback=explicit value-min=1 value-max=5 users=40 items=30 epsilon=8 %.*s",
                 (int)strcspn(facts + 17, "\n"), facts + 17);
        command_expect(call, 0, "");
        command_expect("-q -c form.ini -O form-results", 0, "");
        assert_false(command_exists("form-results/private/violations.txt"));
        command_expect("predict form-results form.txt --output form-predictions.csv", 0, "");
        assert_int_equal(unlink(command_path("form.ini")), 0);
        command_expect("-q -c form-results/config.ini -O form-again", 0,
                       ""); /* what is saved is read again */
    }
    training_file("form.parquet", "PAR1\x15\n");
    command_expect("start form.parquet " LISTS, 3, "this is Parquet");
    training_file(
        "form.ini",
        "[data]\nformat = csv\nfeedback = implicit\npath = form.parquet\n[model]\nkind = popularity\n");
    command_expect("check -c form.ini", 3, "form.parquet: this is Parquet");
}

/* Whatever stands in the third column, a list is made of who has what. */
TEST(values_are_not_read_for_lists)
{
    training_file("jokes.csv", "u,j,r\na,1,-9.5\na,2,3\na,3,-1\nb,1,4\nb,2,-2\nb,3,good\n");
    command_expect("start jokes.csv feedback=explicit want=ranking users=9 items=9 epsilon=3 header=yes", 0,
                   "");
    command_expect("-c jokes.ini -O jokes-results", 0, "");
    assert_non_null(strstr(command_err, "2 users x 3 items, 6 interactions"));
    assert_false(command_exists("jokes-results/private/violations.txt"));
}

/* Balle and Wang's calibration; the deviations for sensitivity 1 are 3.7306, 1.3906, 0.4999. */
TEST(the_budget_in_units_of_noise)
{
    assert_true(fabs(1 / expectation_mu(1, 1e-5) - 3.7306) < 1e-3);
    assert_true(fabs(1 / expectation_mu(3, 1e-5) - 1.3906) < 1e-3);
    assert_true(fabs(1 / expectation_mu(10, 1e-5) - 0.4999) < 1e-3);
    assert_true(expectation_mu(1e-3, 1e-9) > 0);
    assert_true(expectation_mu(1e-3, 1e-9) < 1e-2);
}

static int has_it(void *context, const char *id)
{
    return strstr(context, id) != NULL;
}

static void expects(const struct start_facts *facts, const char *all, const char *name, const char *words)
{
    const struct recipe *recipe = recipe_choose(facts, has_it, (void *)(uintptr_t)all);
    assert_non_null(recipe);
    assert_string_equal(recipe->name, name);
    char *more = expectation_text(recipe->is_simple, facts);
    assert_non_null(more);
    if (!strstr(more, words))
        fail_msg("\"%s\" is missing in: %s", words, more);
    free(more);
}

TEST(recipes_are_chosen_by_public_facts)
{
    static const char all[] = "private-gram private-ratings private-popularity private-biases";
    struct start_facts facts = {.users = 6040, .items = 3706, .epsilon = 3, .delta = 1e-5, .ranking = 1};
    expects(&facts, all, "private-gram", "15 to 85 % of what the model without noise gains over a list");
    facts.records = 150;
    expects(&facts, all, "private-gram", "60 to 85 %");
    facts.records = 8;
    expects(&facts, all, "private-gram", "15 to 60 %");
    facts.users = 1000; /* users x mu is 719, then 360 and 134 */
    expects(&facts, all, "private-gram", "0 to 5 %");
    facts.users = 500;
    expects(&facts, all, "private-popularity", "the same list for everybody");
    facts.records = 40;
    expects(&facts, all, "private-gram", "5 to 40 %");
    facts.epsilon = 1;
    expects(&facts, all, "private-popularity", "the same list for everybody, and 80 to 95 %");
    expects(&facts, "private-gram", "private-gram", "");
    facts.values[FACT_RECIPE] = "private-gram";
    expects(&facts, all, "private-gram", "");
    assert_null(recipe_choose(&facts, has_it, (void *)(uintptr_t) "private-popularity"));
    facts = (struct start_facts){.users = 6040, .items = 3706, .epsilon = 3, .delta = 1e-5};
    expects(&facts, all, "private-ratings", "75 to 95 % of what the model without noise gains over the mean");
    facts.items = 400000;
    expects(&facts, all, "private-ratings", "50 to 85 %"); /* the same users say less of so many */
    facts.users = 60;
    expects(&facts, all, "private-biases", "of what exact biases gain");
    facts.values[FACT_ITEM_FEATURES] = "movies.csv"; /* which private-biases does not read */
    expects(&facts, all, "private-ratings", "");
    assert_null(recipe_choose(&facts, has_it, (void *)(uintptr_t) "private-gram"));
}

/* A recipe that is asked for, and what is compared with it. */
TEST(a_recipe_may_be_asked_for)
{
    command_expect("start own.csv " LISTS " recipe=private-popularity -O popular.ini", 0, "");
    command_slurp(command_path("popular.ini"), text, sizeof text);
    assert_non_null(strstr(text, "recommender = private-popularity"));
    assert_non_null(strstr(text, "compare = popularity\n"));
    command_expect("-c popular.ini -O popular", 0, "");
    command_expect("start own.csv " RATINGS " recipe=private-biases -O biases.ini", 0, "");
    command_expect("-q -c biases.ini -O biases", 0, "");
    json_t *json = command_json("biases/run.json");
    assert_non_null(json_object_get(json_object_get(json, "baselines"), "biases"));
    json_decref(json);
    command_expect("start own.csv " RATINGS " recipe=private-ratings -O personal.ini", 0, "");
    command_expect("-q -c personal.ini -O personal", 0, "");
    json = command_json("personal/run.json");
    assert_non_null(json_object_get(json_object_get(json, "baselines"), "private-biases"));
    json_decref(json);
    command_expect("start own.csv " LISTS " recipe=private-biases -O refused.ini", 2, "is for ratings");
    command_expect("start own.csv " LISTS " recipe=best -O refused.ini", 2, "must be private-gram|");
    /* Ratings from which lists are wanted: the recipe says so. */
    command_expect("start own.csv feedback=explicit users=500 items=50 epsilon=3 header=yes "
                   "recipe=private-popularity -O listed.ini",
                   0, "");
    assert_false(command_exists("refused.ini"));
}

/* A catalogue and public facts about items, of a layout of one's own; the configuration lies elsewhere. */
TEST(features_of_a_csv_are_declared)
{
    char *at = text + sprintf(text, "item,title,genres\n");
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "i%d,Film (19%d),%s\n", i, 70 + i, i % 3 ? "Drama|War" : "Comedy");
    training_file("films.csv", text);
    at = text;
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "i%d\n", i);
    training_file("catalogue.txt", text);
    command_expect("start own.csv " RATINGS " items-file=catalogue.txt item-features=films.csv "
                   "item-features.categories=genres item-features.year-of=title -O a/featured.ini",
                   0, "");
    assert_non_null(strstr(command_out, "Promised: what release/ shows"));
    assert_non_null(strstr(command_out, "private-ratings"));
    assert_non_null(strstr(command_out, "Names: "));
    assert_non_null(strstr(command_out, "films.csv:title"));
    command_slurp(command_path("a/featured.ini"), text, sizeof text);
    assert_null(strstr(text, "item-features.format"));
    assert_non_null(strstr(text, "\nhome-terms = yes\n"));
    assert_null(strstr(text, "id-lists"));
    command_expect("run a/featured.ini -O featured", 0, "");
    command_expect("start own.csv " RATINGS " item-features=absent.csv -O a/other.ini", 3, "absent.csv");
    assert_false(command_exists("a/other.ini"));
}

/* A public file of items is looked at, too: a table of films becomes a catalogue without a key to find. */
TEST(a_catalogue_is_read_as_it_looks)
{
    char *at = text + sprintf(text, "title;item;year\n");
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "Film %d, again;i%d;19%d\n", i, i, 70 + i);
    training_file("semicolons.csv", text);
    command_expect("start own.csv " LISTS " items-file=semicolons.csv -O a/catalogue.ini", 0, "");
    assert_non_null(strstr(command_out, "Catalogue: ids are in column 2, item"));
    assert_non_null(strstr(command_out, "semicolons.csv:title"));
    assert_non_null(
        strstr(command_out, "epsilon = 3, delta = 1e-05")); /* rounded up, and no more digits than that */
    command_slurp(command_path("a/catalogue.ini"), text, sizeof text);
    assert_non_null(strstr(text, "semicolons.csv:item\n"));
    command_expect("start own.csv " LISTS
                   " items-file=semicolons.csv item-names=semicolons.csv:title -O a/named.ini",
                   0, "");
    assert_null(strstr(command_out, "Names: "));
    command_expect("run a/named.ini -q -o run.verdict=no -o run.compare= -O named", 0, "");
    command_slurp(command_path("named/release/item_names.txt"), text, sizeof text);
    assert_int_equal(strncmp(text, "Film 0, again\n", 14), 0);
    command_expect("run a/catalogue.ini -q -o run.verdict=no -o run.compare= -O of-catalogue", 0, "");
    command_slurp(command_path("of-catalogue/release/item_ids.txt"), text, sizeof text);
    assert_int_equal(strncmp(text, "i0\ni1\n", 6), 0);
    command_expect("start own.csv " LISTS " items-file=semicolons.csv:item -O a/column.ini", 0, "");
    assert_null(strstr(command_out, "Catalogue: ")); /* the call says it */
    command_slurp(command_path("a/column.ini"), text, sizeof text);
    assert_non_null(strstr(text, "semicolons.csv:item\n"));
    training_file("r.item", "item_id:token\tname:token\ni0\tx\ni1\ty\n");
    command_expect("start own.csv " LISTS " items-file=r.item -O a/recbole.ini", 0, "");
    command_slurp(command_path("a/recbole.ini"), text, sizeof text);
    assert_non_null(strstr(text, "r.item:item_id:token\n"));
    training_file("empty.txt", "");
    command_expect("start own.csv " LISTS " items-file=empty.txt -O a/none.ini", 3, "this file is empty");
    assert_false(command_exists("a/none.ini"));
}

/* Runs the command with a pseudo-terminal as its input and error output, types the answers, and returns its
   exit code; what was shown is in other. -1: no pseudo-terminal here. */
static int on_a_terminal(const char *config, const char *answers)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    char program[512], slave[64];
    snprintf(program, sizeof program, "%s/dpframe", getenv("DPFRAME_BUILD_DIR"));
    snprintf(slave, sizeof slave, "%s", ptsname(master));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setsid();
        int fd = open(slave, O_RDWR);
        if (fd < 0 || chdir(training_directory) != 0)
            _exit(126);
        dup2(fd, STDIN_FILENO);
        dup2(fd, STDERR_FILENO);
        command_redirect("stdout.txt", STDOUT_FILENO);
        execl(program, "dpframe", "start", "own.csv", "-O", config, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(write(master, answers, strlen(answers)), (ssize_t)strlen(answers));
    size_t length = 0;
    for (ssize_t n; (n = read(master, other + length, sizeof other - 1 - length)) > 0;)
        length += (size_t)n;
    other[length] = '\0';
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(master);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* One question for each fact that is missing; an answer that is none is asked for again. */
TEST(a_terminal_is_asked)
{
    training_file("own-names.csv", "item,name\ni1,One\n");
    const int code = on_a_terminal(
        "asked.ini", "yes\nmaybe\nexplicit\n\n-5\n500\n\n50\n1\n0\n5\nx\n3\n\nown-names.csv:name\n");
    if (code < 0) {
        print_message("no pseudo-terminal here: questions are not tested\n");
        return;
    }
    if (code != 0)
        fail_msg("exit code %d: %s", code, other);
    assert_non_null(strstr(other, "What is a record: a rating (explicit)"));
    assert_non_null(strstr(other, "must be explicit|implicit|counts"));
    assert_non_null(strstr(other, "users=-5: must be a number from 1 to 2147483647"));
    assert_non_null(strstr(other, "value-max=0: must be above value-min (1)"));
    assert_non_null(strstr(other, "epsilon=x: must be a number"));
    assert_non_null(strstr(other, "And the largest?"));
    assert_non_null(strstr(other, "(Enter: ratings)"));
    assert_true(command_exists("asked.ini"));
    /* The form was shown, and is written as it was confirmed. */
    assert_non_null(strstr(other, "1       user     user                u0, u0, u0"));
    command_slurp(command_path("asked.ini"), text, sizeof text);
    assert_non_null(strstr(text, "header = yes\ncolumn.user = user\ncolumn.item = item\n"));
    assert_non_null(strstr(text, "column.rating = rating\n"));
    assert_non_null(strstr(text, "item-names = own-names.csv:name\n"));
    /* The end of the input: what is missing is listed. */
    assert_int_equal(on_a_terminal("half.ini", "no\nimplicit\n500\n\004"), 2);
    assert_non_null(strstr(other, "Then you are asked about separators and columns at the end."));
    assert_non_null(strstr(other, "these facts are missing"));
    assert_false(command_exists("half.ini"));
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    char *at = text + sprintf(text, "user,item,rating\n");
    for (int u = 0; u < 60; u++)
        for (int i = 0; i < 20; i++)
            if ((u * 2 + i * 2 + (u * i) % 7) % 3 == 0)
                at += sprintf(at, "u%d,i%d,%d\n", u, i, (u + i * i) % 5 + 1);
    training_file("own.csv", text);
    return 0;
}

FIXTURE(begin, training_end)
