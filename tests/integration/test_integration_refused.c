/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong in a configuration or on a command line is refused before anything is trained, with place and remedy. */
#include "kit/test.h"
#include "kit/training.h"

#include "integration/party_processes.h"

#include "kit/spawned.h"

static const char base[] =
    "[run]\noutput = out\nrounds = 2\nthreads = 2\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 25\nsynthetic.ratings = 500\n"
    "value-min = 1\nvalue-max = 5\n[split]\nkind = random\nfraction = 0.2\n"
    "[model]\nusers = 40\nitems = 25\nrank = 2\noffset = midpoint\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[items]\nloss = squared-error\nsolver = gradient-descent\n";

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("base.ini", base);
    return 0;
}

/* A configuration with these lines behind it. */
static void extended(const char *name, const char *more)
{
    char *text = memory_format("%s%s", base, more);
    training_file(name, text);
    free(text);
}

/* Sections of components that a run does not make: a link, and what joins ranks. */
TEST(keys_of_components_that_are_not_made_are_checked)
{
    static const struct {
        const char *more, *says;
    } cases[] = {
        {"[federation.link]\nca = ca.pem\nsrever-name = a\n[federation]\nlink = grpc\n",
         "more.ini:28: unknown key \"srever-name\" in [federation.link] of link grpc; did you mean "
         "\"server-name\"?"},
        {"[federation]\nlink = locl\n", "more.ini:27: [federation] link = locl: there is no link"},
        {"[federation.link]\nca = ca.pem\n", "more.ini:27: unknown key \"ca\" in [federation.link]"},
        {"[federation]\nlnk = local\n", "more.ini:27: unknown key \"lnk\" in [federation]; did you mean"},
        {"[consent]\nmax-epsilo = 3\n", "more.ini:27: unknown key \"max-epsilo\" in [consent]; did you mean"},
        {"[audit]\ntrial = 3\n", "more.ini:27: unknown key \"trial\" in [audit]; did you mean"},
        {"[evaluate]\nmetric = rmse\n", "more.ini:27: unknown key \"metric\" in [evaluate]; did you mean"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extended("more.ini", cases[i].more);
        command_expect("check more.ini", 2, cases[i].says);
        command_expect("run more.ini", 2, cases[i].says);
        command_expect("account more.ini", 2, cases[i].says);
    }
    command_expect("check base.ini -o run.comm=mip", 2, "[run] comm = mip: there is no comm");
    /* What a party alone has, keys and certificates, may be missing in what all ends share. */
    command_expect("check base.ini -o federation.link=grpc", 0, "");
    command_expect("check base.ini -o federation.link=grpc -o federation.link.server-name=a", 0, "");
    command_expect("check base.ini -o federation.link=local", 0, "");
    command_expect("list mpi", 2, "is not a role");
    if (command_run_it("list comm") == 0 && strstr(command_out, "mpi")) {
        command_expect("check base.ini -o run.comm.max-recordz=1", 2, "in [run.comm] of comm mpi");
        command_expect("check base.ini -o run.comm=mpi -o run.comm.max-recordz=1", 2,
                       "[run.comm] of comm mpi");
    }
}

/* What there was before has a word of its own wherever it is named. */
TEST(what_is_gone_says_what_took_its_place)
{
    command_expect("describe count-weights", 2, "\"count-weights\" is gone: recommenders");
    command_expect("describe sampler:count-weights", 2, "is gone: recommenders");
    command_expect("audit --plugin count-weights", 2, "--plugin count-weights is gone: recommenders");
    command_expect("check base.ini -o items.sampler=count-weights", 2, "is gone: recommenders");
    command_expect("describe federaton", 2, "did you mean \"federation\"");
    command_expect("describe laplace-symmetric", 2, "\"laplace-symmetric\" is now called \"laplace\"");
}

/* A key of [privacy] that another mechanism reads is told of, and stops nothing: sweeps try mechanisms in turn. */
TEST(parties_that_nothing_rests_on_are_told_of)
{
    extended("noisy.ini",
             "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
             "min-honest = 3\n[items]\nmechanism = gaussian\ntransforms = clip-user\n"
             "[accountants]\nlist = pld\n");
    command_expect("check noisy.ini", 0, "");
    assert_non_null(strstr(command_err, "privacy.min-honest = 3 has no effect: no party adds a share"));
    assert_null(strstr(command_err, "max-curious"));
    assert_null(strstr(command_err, "delta has no effect"));
    command_expect("check noisy.ini -o items.mechanism.delta=1e-6", 0, "");
    assert_non_null(strstr(command_err, "delta has no effect with calibration = noise-multiplier or sigma"));
    command_expect("check noisy.ini -o items.mechanism=discrete-gaussian -o parties.kind=users", 0, "");
    assert_null(strstr(command_err, "min-honest"));
}

static void described(const char *name, const char *first, const char *second)
{
    char line[128];
    snprintf(line, sizeof line, "describe %s", name);
    command_expect(line, 0, "");
    if (!strstr(command_out, first) || !strstr(command_out, second))
        fail_msg("%s: \"%s\" or \"%s\" missing in: %s", line, first, second, command_out);
}

/* Whoever has the name of a key finds where it belongs, and reads nothing else. */
TEST(a_key_is_described_wherever_it_is)
{
    described("min-honest", "section privacy\n", "min-honest (integer");
    assert_null(strstr(command_out, "total-epsilon (number"));
    described("privacy.min-honest", "section privacy\n", "min-honest (integer");
    described("total-epsilon", "section privacy\n", "total-epsilon (number");
    described("rounds", "section run\n", "recommender private-ratings\n");
    described("run.rounds", "section run\n", "rounds (integer");
    assert_null(strstr(command_out, "recommender"));
    described("gaussian.calibration", "mechanism gaussian\n", "noise-multiplier");
    described("items.mechanism.calibration", "mechanism gaussian\n", "calibration (one of");
    described("items.mechanism", "section items\n", "mechanism (text");
    described("gram-share", "section users.TERM\n", "gram-share (number");
    command_expect("describe run.min-honest", 2, "nothing is called \"run.min-honest\"");
    command_expect("describe run.rounds --format json", 0, "");
    assert_non_null(strstr(command_out, "\"name\": \"rounds\""));
}

/* What is unknown is told at its own line, by the name that files have, with the section that has such a key. */
TEST(unknown_names_have_a_place_and_a_hint)
{
    command_expect("check base.ini -o users.rank=3", 2,
                   "unknown key \"rank\" in [users]; it is a key of [model]");
    command_expect("check base.ini -o model.rnk=3", 2, "did you mean \"rank\"?");
    extended("section.ini", "[itmes]\n\n\nsolver = cholesky\n");
    command_expect("check section.ini", 2, "section.ini:26: unknown section [itmes]; did you mean [items]?");
    command_expect("check base.ini -o data.catalogue.column=2", 2, "[data] catalogue.column is gone");
}

/* There is no configuration of that name. */
TEST(operands_that_are_no_file_say_so)
{
    command_expect("run base", 2, "\"base\" is no configuration: did you mean base.ini?");
    command_expect("check jester", 2, "\"jester\" is no configuration, which is a FILE.ini: see");
    command_expect("run", 2, "no configuration: name one");
    command_expect("similar RUN 5", 2, "and the item as --item ID");
}

/* --choose is for mechanisms with more than a scale, and says which there are, whatever the budget is. */
TEST(settings_are_chosen_of_mechanisms_that_have_some)
{
    extended("fixed.ini",
             "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
             "[items]\nmechanism = gaussian\ntransforms = clip-user\n[accountants]\nlist = pld\n");
    command_expect("account fixed.ini --choose 2", 2,
                   "(those that do: pbm). The scale of other noise is chosen by "
                   "[privacy] budget = total, total-epsilon = 2");
    command_expect("account fixed.ini --choose 2 -o privacy.budget=total -o privacy.total-epsilon=2", 2,
                   "as it is here: leave --choose out");
}

/* A setting of a point has the place of its line in [sweep]: of an axis, of a variant in one line or in several. */
TEST(settings_of_sweeps_have_a_place)
{
    static const struct {
        const char *more, *says;
    } cases[] = {
        {"[sweep]\nrun.seed = 1, 2\nitems.solver.decay = 1, 2\n",
         "more.ini:28: [sweep] \"items.solver.decay=1\": [items.solver] decay is gone: remove the line; the "
         "rate"},
        {"[sweep]\nrun.seed = 1, 2\nitems.solver.rat = 1, 2\n",
         "more.ini:28: [sweep] \"items.solver.rat=1\": unknown key"},
        {"[sweep]\nvariant.a = run.seed=1\nvariant.b = run.seed=2; items.solver.decay=1\n",
         "more.ini:28: [sweep]"},
        {"[sweep]\n[sweep.variant.a]\nitems.solver.rate = 1\n[sweep.variant.b]\nitems.solver.decay = 1\n",
         "more.ini:30: [sweep]"},
        {"[sweep]\nrun.seed = 1, x\n", "more.ini:27: [sweep] \"run.seed=x\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extended("more.ini", cases[i].more);
        command_expect("check more.ini", 2, cases[i].says);
    }
}

TEST(convert_leaves_out_what_is_gone)
{
    extended("old.ini", "[items.solver]\nrefine = 0\ndecay = 3\n");
    command_expect("convert old.ini", 0, "old.ini:28: [items.solver] decay is gone");
    assert_non_null(strstr(command_err, "old.ini: 1 change\n"));
    assert_null(strstr(command_out, "refine"));
    assert_non_null(strstr(command_out, "decay = 3"));
    extended("old.ini", "[items.sampler]\nsecrecy = outsider\n[users]\nsampler = count-weights\n");
    command_expect("convert old.ini", 0, "old.ini:29: the sampler \"count-weights\" is gone: recommenders");
}

/* A value stands once in a message, before what is wrong with it. */
TEST(values_are_told_once)
{
    command_expect(
        "check base.ini -o evaluate.users=5 -o evaluate.release=noisy -o evaluate.release-epsilon=1", 2,
        "[evaluate] users = 5: released metrics count every user");
    command_expect(
        "check base.ini -o evaluate.cold=skip -o evaluate.release=noisy -o evaluate.release-epsilon=1", 2,
        "[evaluate] cold = skip: what a user contributes");
}

/* Bands of users ask for nothing that a model that ranks has not. */
TEST(bands_of_users_go_with_what_a_model_does)
{
    static const char ranking[] =
        "[model]\nrecommender = private-popularity\n[data]\nfeedback = implicit\n"
        "[evaluate]\nmetrics = ndcg\nk = 5\nactivity-bands = 12\n"
        "[parties]\nkind = curator\n[privacy]\nunit = user\nadjacency = add-remove\n"
        "delta = 1e-5\n[accountants]\nlist = pld\n";
    char *text = memory_format("[run]\noutput = ranked\n[data]\nformat = synthetic\nsynthetic.users = 40\n"
                               "synthetic.items = 25\nsynthetic.ratings = 500\n[split]\nkind = random\n"
                               "fraction = 0.2\n%s",
                               ranking);
    training_file("ranked.ini", text);
    free(text);
    command_expect("run -q ranked.ini -o model.users=40 -o model.items=25", 0, "");
    json_t *run = command_json("ranked/run.json");
    const json_t *metrics = json_object_get(run, "metrics");
    assert_non_null(json_object_get(metrics, "ndcg-activity-0-11@5"));
    assert_null(json_object_get(metrics, "mse-activity-0-11"));
    json_decref(run);
    command_expect("check ranked.ini -o evaluate.metrics=ndcg,rmse", 2,
                   "[evaluate] metrics = ndcg,rmse: recommender");
}

TEST(options_that_would_be_ignored_are_refused)
{
    extended("swept.ini", "[sweep]\nrun.seed = 1, 2\n");
    command_expect("run swept.ini --dry-run --jobs 2", 2, "leave --jobs out");
    command_expect("account base.ini --choose 2 --utility", 2, "leave --utility out");
    command_expect("audit base.ini -O out", 2, "this command has no option -O");
    command_expect("account base.ini -O out", 2, "this command has no option -O");
    command_expect("start base.ini bogus=1", 2, "there is no fact \"bogus\": see");
    command_expect("start base.ini value-mn=1", 2, "there is no fact \"value-mn\"; did you mean value-min=?");
    command_expect("start base.ini bogus", 2, "\"bogus\" does not have the form fact=value: see");
}

/* Files that are not what they are declared to be: check says so, where a run would have to ask line by line. */
TEST(check_looks_at_the_form_of_files)
{
    training_file("commas.csv", "1,2,3,4\n2,3,4,5\n");
    training_file("films.csv", "item,title,genre\n1,Film 1,Drama\n2,Film 2,War\n");
    training_file("dated.csv", "item,title,genre\n1,Film 1,Drama\n2,Film 2 (1999),War\n");
    training_file("table.ini", "[run]\noutput = out\n[data]\nformat = csv\npath = commas.csv\n"
                               "value-min = 1\nvalue-max = 5\n[model]\nusers = 9\nitems = 9\nrank = 2\n"
                               "[users]\nloss = explicit-als\nsolver = cholesky\n"
                               "[items]\nloss = explicit-als\nsolver = cholesky\n");
    command_expect("check table.ini -o data.format=movielens-1m", 0,
                   "commas.csv:1: expected 4 fields separated by '::' (data.fields), found 1 in \"1,2,3,4\"; "
                   "the line has "
                   "commas: did you mean delimiter = comma?");
    command_expect("check table.ini -o data.header=no -o data.fields=3", 0,
                   "commas.csv:1: expected 3 fields");
    command_expect("check table.ini -o data.header=no -o data.fields=4", 0, "");
    assert_null(strstr(command_err, "expected"));
    command_expect("check table.ini -o data.header=no -o data.fields=4 -o data.item-features=films.csv -o "
                   "data.item-features.year-of=title",
                   0, "films.csv: no line has a text that ends in a year");
    command_expect("check table.ini -o data.header=no -o data.fields=4 -o data.item-features=dated.csv -o "
                   "data.item-features.year-of=title",
                   0, "");
    assert_null(strstr(command_err, "year"));
    command_expect("check table.ini -o data.header=no -o data.fields=4 -o data.item-features=films.csv -o "
                   "data.item-features.year-of=titel",
                   3, "films.csv:1: data.item-features names column titel");
}

/* ---- found by trying what is wrong ---------------------------------------------------------------------------- */

/* Of results that are not complete, nothing is left that could be taken for a release. */
TEST(a_full_disk_leaves_no_part_of_a_release)
{
    char preload[512];
    if (!disturbed(preload, sizeof preload)) {
        print_message("no library that fills the disk in this build: left out\n");
        return;
    }
    setenv("LD_PRELOAD", preload, 1);
    static const char *const full[] = {"item_factors.npy", "guarantee.txt", "certificate.json", "config.ini",
                                       "run.json"};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        setenv("DISTURBED_FILE", full[i], 1);
        command_expect("run -q base.ini -O filled", 1, "No space left on device");
        assert_non_null(strstr(command_err, full[i]));
        assert_false(command_exists("filled"));
    }
    unsetenv("DISTURBED_FILE");
    command_expect("run -q base.ini -O filled", 0, "");
    setenv("DISTURBED_FILE", "certificate.json", 1);
    command_expect("run -q base.ini -O filled", 1, "No space left on device");
    assert_false(command_exists("filled/run.json"));
    assert_false(command_exists("filled/release/item_factors.npy"));
    unsetenv("DISTURBED_FILE");
    unsetenv("LD_PRELOAD");
}

TEST(messages_name_what_is_wrong)
{
    static const struct {
        const char *line;
        int code;
        const char *says;
    } cases[] = {
        {"generate -O /dev/full users=900 items=60 ratings=20000", 1,
         "cannot write /dev/full: No space left on device"},
        {"generate -O nowhere/x.csv", 1,
         "cannot write nowhere/x.csv: No such file or directory; make its directory"},
        {"predict kept .", 3, ". is a directory: name a file"},
        {"recommend kept --all -O /dev/full", 1, "cannot write /dev/full: "},
        {"start .", 3, ". is no regular file: name a file of records"},
        {"start nothing.csv", 3, "nothing.csv: there is no such file"},
        {"start table.csv feedback=implicit users=9 items=9 epsilon=1 header=yes value-min=1", 2,
         "value-min=1: is for ratings (feedback=explicit)"},
        {"check base.ini -o run.compare=foo", 2, "[run] compare = foo: \"foo\" must be non-private"},
        {"check base.ini -o run.compare=biases -o split.kind=users", 2,
         "[run] compare = biases: biases has a bias for each user that it was trained on"},
        {"check base.ini -o privacy.noise-seed=3", 0, "privacy.noise-seed has no effect"},
        {"check base.ini -o privacy.total-epsilon=3", 0, "privacy.total-epsilon has no effect"},
        {"check noisy.ini -o items.mechanism.noise-multiplier=1e-300", 2, "no grid fits this noise"},
        {"check lost.ini", 2, "lost.ini:29: [sweep] variant.a = @nothing.ini: cannot read "},
    };
    training_file("table.csv", "user,item\n1,2\n");
    extended("lost.ini", "[evaluate]\nk = 5\n[sweep]\nvariant.a = @nothing.ini\n");
    training_file(
        "noisy.ini",
        "include = base.ini\n[items]\nmechanism = gaussian\ntransforms = clip-user\n"
        "[items.mechanism]\ncalibration = noise-multiplier\nwhere = sum\n"
        "[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-5\n[accountants]\nlist = pld\n");
    command_expect("run -q base.ini -O kept", 0, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        command_expect(cases[i].line, cases[i].code, cases[i].says);
    /* All sentences of a condition, which end with the remedy. */
    training_file("rated.csv", "user,item,rating\n1,2,3\n2,3,4\n3,2,5\n");
    command_expect("check noisy.ini -o privacy.ledger=spent -o privacy.max-epsilon=1 -o data.format=csv -o "
                   "data.path=rated.csv -o items.mechanism.noise-multiplier=1",
                   2, "nothing is proved");
    assert_null(strstr(command_err, "on the. Mend"));
    assert_non_null(strstr(command_err, ". Mend that, or remove ledger"));
}

FIXTURE(begin, training_end)
