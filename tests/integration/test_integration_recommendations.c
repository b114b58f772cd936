/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a trained model: lists for users who were there and for users who were not, predictions,
 * neighbours of items, and messages where there is nothing to say. */
#include <zlib.h>

#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char config[] =
    "[run]\nrounds = 3\ntrace = no\noutput = out\nfinal-step = users\n"
    "[data]\nformat = csv\npath = plays.csv\nfeedback = implicit\n"
    "[model]\nusers = 100\nrank = 3\ninit = normal-by-rank\ninit-scale = 1\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = implicit-als\ntransforms = clip-user\nmechanism = gaussian\nsolver = ball\n"
    "[items.loss]\nlambda = 0.1\n[items.transform.clip-user]\nnorm = l2\nbound = 2\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 0.5\nwhere = sum\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "[accountants]\nlist = rdp\n[evaluate]\nmetrics = hr\n";

static char first[sizeof command_out], second[sizeof command_out];

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* The same records at home give the same rows; a user who was not there gets a list without training. */
TEST(other_records_are_solved_at_home)
{
    command_expect("recommend run --user u1 -n 5", 0, "");
    snprintf(first, sizeof first, "%s", command_out);
    assert_int_equal(lines_of(first), 6);
    command_expect("recommend run --data plays.csv --user u1 -n 5", 0, "");
    assert_string_equal(command_out, first);
    training_file("new.csv", "zoe,i1\nzoe,i4\nzoe,i7\nyan,i2\n");
    command_expect("recommend run --data new.csv --user zoe -n 5", 0, "");
    snprintf(second, sizeof second, "%s", command_out);
    training_file("with-others.csv", "a,i3\nzoe,i1\nzoe,i4\nb,i0\nzoe,i7\nyan,i2\nzoe,unheard-of\n");
    command_expect("recommend run --data with-others.csv --user zoe -n 5", 0,
                   "1 record is of items that the model does not know: left out");
    assert_string_equal(command_out, second); /* whoever else is in the file */
    /* More records of the same user: they change the list, and what is in them is not recommended. */
    training_file("more.csv", "u1,i0\nu1,i1\nu1,i2\nu1,i3\nu1,i4\nu1,i5\nu1,i6\nu1,i7\nu1,i8\n");
    command_expect("recommend run --data more.csv --user u1 -n 50", 0, "");
    assert_null(strstr(command_out, ",i3,"));
    assert_int_equal(lines_of(command_out), 1 + 20 - 9);
    command_expect("recommend run --data new.csv --user u1", 3, "new.csv has no such user; --all");
    command_expect("recommend run --data new.csv --all --output all.csv -n 2", 0, "");
    command_slurp(command_path("all.csv"), first, sizeof first);
    assert_int_equal(lines_of(first), 5);
    command_expect("recommend run --data absent.csv --user u1", 3, "absent.csv");
}

TEST(items_can_be_chosen)
{
    training_file("two.txt", "i10\ni11\n\nno-such-item\n");
    command_expect("recommend run --user u1 -n 50", 0, "");
    const int all = lines_of(command_out) - 1, has_10 = strstr(command_out, ",i10,") != NULL,
              has_11 = strstr(command_out, ",i11,") != NULL;
    assert_true(has_10 || has_11);
    command_expect("recommend run --user u1 -n 50 --candidates two.txt", 0, "does not know 1 of its 3 ids");
    assert_int_equal(lines_of(command_out) - 1, has_10 + has_11);
    command_expect("recommend run --user u1 -n 50 --exclude two.txt", 0, "does not know 1 of its 3 ids");
    assert_int_equal(lines_of(command_out) - 1, all - has_10 - has_11);
    command_expect("recommend run --user u1 --candidates two.txt --exclude two.txt", 3,
                   "there is nothing left");
    assert_string_equal(command_out, ""); /* not the head of a table that is not there */
    training_file("blanks.txt", "  i10\t\r\ni11 ");
    command_expect("recommend run --user u1 -n 50 --candidates blanks.txt", 0, "");
    assert_int_equal(lines_of(command_out) - 1, has_10 + has_11);
    gzFile zipped = gzopen(command_path("zipped.gz"), "wb");
    assert_non_null(zipped);
    assert_int_equal(gzputs(zipped, "i10\ni11\n"), 8);
    assert_int_equal(gzclose(zipped), Z_OK);
    command_expect("recommend run --user u1 -n 50 --candidates zipped.gz", 0, "");
    assert_int_equal(lines_of(command_out) - 1, has_10 + has_11);
    training_file("none.txt", "x\ny\n");
    command_expect("recommend run --user u1 --candidates none.txt", 3, "none of its 2 ids is an item");
    command_expect("recommend run --user u1 --candidates absent.txt", 3, "cannot open absent.txt");
    command_expect("recommend run --user u1 -n 3 --output one.csv", 0, "");
    assert_string_equal(command_out, "");
    command_slurp(command_path("one.csv"), first, sizeof first);
    command_expect("recommend run --user u1 -n 3", 0, "");
    assert_string_equal(first, command_out);
}

/* Neither items in the order of ids nor an empty table. */
TEST(who_gets_no_list_is_told_why)
{
    char all[1024] = "";
    for (int i = 0; i < 20; i++)
        sprintf(all + strlen(all), "full,i%d\n", i);
    strcat(all, "other,i1\n");
    training_file("full.csv", all);
    command_expect("recommend run --data full.csv --user full", 3, "has a record of every item");
    assert_null(strstr(command_out, "full,"));
    command_expect("recommend run --data full.csv --all --output some.csv", 0,
                   "1 user has a record of every item");
    /* Without training records: everything of this user is in the test part. */
    training_file("train.csv", "a,i0\na,i1\nb,i1\nb,i2\nc,i0\nc,i2\nc,i3\n");
    training_file("test.csv", "cold,i1\nb,i3\n");
    command_expect("-q -c run.ini -o data.path=train.csv -o split.kind=files -o split.test.path=test.csv "
                   "-o data.column.rating=none -O cold",
                   0, "");
    command_expect("recommend cold --user cold", 3, "user \"cold\" has no training records");
    assert_null(strstr(command_out, "cold,"));
    command_expect("recommend cold --user a", 0, "");
    command_expect("recommend cold --all --output cold.csv", 0, "scores all items alike for 1 user,");
    /* Popularity knows an order for everybody. */
    command_expect("-q -c run.ini -o data.path=train.csv -o split.kind=files -o split.test.path=test.csv "
                   "-o data.column.rating=none -o model.kind=popularity -O popular",
                   0, "");
    command_expect("recommend popular --user cold", 0, "the list is that of everybody without");
    assert_true(lines_of(command_out) > 1);
    command_expect("recommend popular --data train.csv --user a", 0, "");
}

TEST(pairs_are_predicted_in_their_order)
{
    training_file("pairs.csv", "u3,i5\nu1,i2\nnobody,i2\nu1,\"i,x\"\nu3,i5\n");
    command_expect("predict run pairs.csv", 0, "2 pairs have a user or an item that the model does not know");
    char *line = strtok(command_out, "\n");
    assert_string_equal(line, "user,item,prediction");
    char *again = strtok(NULL, "\n");
    assert_int_equal(strncmp(again, "u3,i5,", 6), 0);
    assert_true(strlen(again) > 6);
    assert_int_equal(strncmp(strtok(NULL, "\n"), "u1,i2,", 6), 0);
    assert_string_equal(strtok(NULL, "\n"), "nobody,i2,");
    assert_string_equal(strtok(NULL, "\n"), "u1,\"i,x\",");
    assert_string_equal(strtok(NULL, "\n"), again);
    /* The number is the score of the list. */
    training_file("one-pair.csv", "user,item\nu1,i19\n");
    command_expect("recommend run --user u1 -n 50", 0, "");
    char *score = strstr(command_out, "u1,i19,");
    if (score) {
        score = strchr(score + 7, ',') + 1;
        score[strcspn(score, ",")] = '\0';
        snprintf(first, sizeof first, "u1,i19,%s\n", score);
        command_expect("predict run one-pair.csv", 0, "");
        assert_non_null(strstr(command_out, first));
    }
    command_expect("predict run", 2, "a file of pairs");
    command_expect("predict run absent.csv", 3, "absent.csv");
}

TEST(similar_items_are_ordered_by_cosine)
{
    command_expect("similar run --item i3 -n 4", 0, "");
    assert_int_equal(lines_of(command_out), 5);
    double before = 1.0000001;
    for (char *line = strchr(command_out, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(strncmp(line, "i3,", 3), 0);
        assert_true(strncmp(line, "i3,i3,", 6) != 0);
        const char *last = line;
        for (const char *at = line; *at != '\n'; at++)
            last = *at == ',' ? at + 1 : last;
        assert_true(atof(last) <= before);
        assert_true(atof(last) >= -1.0000001);
        before = atof(last);
    }
    command_expect("similar run --item nothing", 3, "no such item");
    command_expect("similar run", 2, "--item ID");
    command_expect("similar popular --item i1", 2, "no factors");
}

static int is_same_model(const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command, "cd '%s' && diff -r %s/release/model %s/release/model >/dev/null",
             training_directory, a, b);
    const int status = system(command);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

/* Tables of home terms have a row for each combination of categories: too many are refused before any record is read. */
TEST(home_terms_of_many_combinations_are_refused_by_check)
{
    static char facts[1 << 18];
    char *at = facts + sprintf(facts, "item\ta\tb\tc\n");
    for (int i = 0; i < 4200; i++)
        at += sprintf(at, "i%d\ta%d\tb%d\tc\n", i, i % 70, i / 70);
    training_file("many.tsv", facts);
    training_file("few.csv", "u1,i1\nu2,i2\nu3,i3\n");
    training_file("many.ini",
                  "[data]\nformat = csv\npath = few.csv\nfeedback = implicit\nitem-features = many.tsv\n"
                  "item-features.categories = a, b\n"
                  "[model]\nrecommender = private-popularity\nhome-terms = yes\nusers = 100\nitems = 4200\n"
                  "[parties]\nkind = curator\n[privacy]\nunit = user\nadjacency = add-remove\ndelta = 1e-5\n"
                  "budget = total\ntotal-epsilon = 5\n[accountants]\nlist = pld\n");
    command_expect("check -c many.ini", 2, "4200 combinations of categories, more than 4096");
    command_expect("check -c many.ini -o data.item-features.categories=a,c", 0, "");
    command_expect("check -c many.ini -o model.home-terms=no", 0, "");
}

/* Two groups of items, each with users of its own: what is like an item is of its group. */
TEST(similar_items_of_recommenders_go_together)
{
    static const char *const models[] = {"private-gram", "private-ratings"};
    static char settings[1024], rows[1 << 17];
    char *at = rows;
    for (int u = 0; u < 400; u++)
        for (int i = 0; i < 16; i++)
            if (i / 8 == u % 2 ? (u + i) % 3 : (u + i) % 11 == 0)
                at += sprintf(at, "u%d,g%d.%d,%d\n", u, i / 8, i % 8, i / 8 == u % 2 ? 5 : 1);
    training_file("groups.csv", rows);
    for (int m = 0; m < 2; m++) {
        int own = 0;
        snprintf(settings, sizeof settings,
                 "[run]\noutput = groups\n[data]\nformat = csv\npath = groups.csv\n%s[model]\nrecommender = "
                 "%s\nusers = 400\nitems = 16\n[parties]\nkind = curator\n[privacy]\nunit = "
                 "user\nadjacency = add-remove\ndelta = 1e-5\nbudget = total\ntotal-epsilon = 50\n"
                 "randomness = reproducible\n[accountants]\nlist = pld\n",
                 m ? "value-min = 1\nvalue-max = 5\n" : "feedback = implicit\n", models[m]);
        training_file("groups.ini", settings);
        command_expect("-q -c groups.ini", 0, "");
        command_expect("similar groups --item g1.3 -n 7", 0, "");
        assert_int_equal(strncmp(command_out, "item,similar,rank,weight\n", 25), 0);
        assert_int_equal(lines_of(command_out), 8);
        for (const char *line = strstr(command_out, "\ng1.3,"); line; line = strstr(line + 1, "\ng1.3,"))
            own += strncmp(line, "\ng1.3,g1.", 9) == 0;
        assert_int_equal(own, 7);
        /* Terms that a device adds need a file of features; what the state says of items does not. */
        training_file("groups.tsv", "item\tkind\ng1.3\ta\ng1.4\tb\n");
#define FACTS                                                                                                \
    " -o data.item-features=groups.tsv -o "                                                                  \
    "data.item-features.categories=kind -o model.home-terms="
        command_expect("-q -c groups.ini -O plain" FACTS "no", 0, "");
        command_expect("-q -c groups.ini -O at-home" FACTS "yes", 0, "");
        command_expect("similar plain --item g1.3 -n 7", 0, "");
        snprintf(first, sizeof first, "%s", command_out);
        command_expect("similar at-home --item g1.3 -n 7", 0, "");
        assert_string_equal(command_out, first);
        command_expect("items at-home", 0, "");
        /* Facts for these terms only: the release is one without facts. */
        command_expect("-q -c groups.ini -O bare", 0, "");
        command_expect("-q -c groups.ini -O only" FACTS "only", 0, "");
        assert_true(is_same_model("bare", "only"));
        assert_false(is_same_model("bare", "at-home"));
    }
    command_expect("-q -c groups.ini -o model.recommender=private-biases -O biases", 0, "");
    command_expect("similar biases --item g1.3", 3, "nothing was learnt about it");
    command_expect("-q -c groups.ini -o model.recommender=private-popularity -O same", 0, "");
    command_expect("similar same --item g1.3", 2, "gives everybody the same list");
}

/* A component's own scores are made at home from its released state, too. */
TEST(recommenders_take_other_records)
{
    training_file("bits.ini",
                  "[run]\noutput = out\n[data]\nformat = csv\npath = plays.csv\nfeedback = implicit\n"
                  "[model]\nrecommender = dplcf\n[model.recommender]\nepsilon = 1\n[parties]\nkind = "
                  "users\n[privacy]\nunit = record\nadjacency = flip\nobserver = server\ndelta = 0\n");
    command_expect("-q -c bits.ini -O bits", 0, "");
    command_expect("recommend bits --user u1 -n 5", 0, "");
    snprintf(first, sizeof first, "%s", command_out);
    command_expect("recommend bits --data plays.csv --user u1 -n 5", 0, "");
    assert_string_equal(command_out, first);
    training_file("twin.csv", "u1,i1\nu1,i4\nzoe,i1\nzoe,i4\n");
    /* Own records are all that it reads of a user; reports are those of the users that there were. */
    command_expect("recommend bits --data twin.csv --user zoe -n 5", 0, "");
    assert_non_null(strstr(command_out, "zoe,"));
    command_expect("-q -c bits.ini -O reported -o model.recommender.history=reported", 0, "");
    command_expect("recommend reported --user u1 -n 5", 0, "");
    command_expect("recommend reported --data twin.csv --user zoe", 3, "belongs to the users of the run");
    command_expect("similar bits --item i1", 0, "");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    char text[8192] = "", *at = text;
    for (int u = 0; u < 40; u++)
        for (int i = 0; i < 20; i++)
            if ((u * 2 + i * 2 + (u * i) % 7) % 4 == 0)
                at += sprintf(at, "u%d,i%d\n", u, i);
    training_file("plays.csv", text);
    training_file("run.ini", config);
    command_expect("-q -c run.ini -O run", 0, "");
    return 0;
}

FIXTURE(begin, training_end)
