/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gone.h"
#include "config/renamed.h"
#include "kit/config_support.h"

static void assert_converts(const char *old, const char *expected, long changes)
{
    struct dpf_error error = {0};
    struct text out = {0};
    FILE *in = fmemopen((char *)(uintptr_t)old, strlen(old), "rb");
    assert_non_null(in);
    struct dpf_error unread = {0};
    struct config *config = config_parse("old.ini", old, strlen(old), &unread);
    assert_int_equal(renamed_convert(in, "old.ini", config, &out, &error), changes);
    assert_string_equal(out.data ? out.data : "", expected);
    config_free(config);
    text_free(&out);
    fclose(in);
}

TEST(keys_are_renamed_where_they_stand)
{
    assert_converts(
        "; support = public stays in a comment\r\n[privacy]\r\n  support=public ; why\r\n",
        "; support = public stays in a comment\r\n[privacy]\r\n  interaction-pattern=public ; why\r\n", 1);
    assert_converts("[items]\nsite = party\nparticipations = 2 ; at most\n",
                    "[items]\nsolve-at = party\nmax-participations = 2 ; at most\n", 2);
    assert_converts("[items.rating]\nparticipations = 2\nmessages = links\n[run]\nfinish = users",
                    "[items.rating]\nmax-participations = 2\nsend = links\n[run]\nfinal-step = users", 3);
}

/* The same word elsewhere is somebody else's. */
TEST(other_sections_keep_their_words)
{
    static const char text[] = "[data]\nsupport = public\n[privacy]\nhonest = 1\n[audit]\nview = messages\n"
                               "[items]\nbounds = public\n\n\n# end";
    assert_converts(text, text, 0);
}

/* What holds always now is left out; what would change something stays for its author. */
TEST(keys_that_are_gone_are_left_out)
{
    assert_converts("# head\n[items.solver]\nrate = 1\nrefine = 0 ; off\n\nprior=zero\r\n# end",
                    "# head\n[items.solver]\nrate = 1\n\n# end", 2);
    assert_converts("[data]\nfilter.core = no\nformat = csv\n[items]\nmechanism.grid-bits = 30\n",
                    "[data]\nformat = csv\n[items]\n", 2);
    assert_converts("[items.solver]\nrefine = 3\nschedule = constant\n",
                    "[items.solver]\nrefine = 3\nschedule = constant\n", 0);
    /* A key of one component is gone for that one alone. */
    assert_converts("[model]\nrecommender = private-als\n[model.recommender]\nlambda-per-count = 0.1\n",
                    "[model]\nrecommender = private-als\n[model.recommender]\n", 1);
    assert_converts("[model]\nrecommender = other\n[model.recommender]\nlambda-per-count = 0.1\n",
                    "[model]\nrecommender = other\n[model.recommender]\nlambda-per-count = 0.1\n", 0);
    assert_converts("[model]\n[model.recommender]\nloading-share = 0.02\n=\n",
                    "[model]\n[model.recommender]\n=\n", 1);
}

/* What has moved goes to its section if there is no doubt; else it stays, and so does all that goes to the same place. */
TEST(keys_that_have_moved_go_to_their_place)
{
    assert_converts(
        "[privacy]\nunit = user\n[items]\nmechanism = pbm\n[items.mechanism]\nmin-honest = 40 ; k\n",
        "[privacy]\nmin-honest = 40\nunit = user\n[items]\nmechanism = pbm\n[items.mechanism]\n", 1);
    assert_converts("[items]\nmechanism = pbm\nmechanism.clients = 40",
                    "[items]\nmechanism = pbm\n\n[privacy]\nmin-honest = 40\n", 1);
    assert_converts(
        "[items.a]\nmechanism = gaussian\nmechanism.gram-share = 0.3\n[items.a.sampler]\nsecrecy = all",
        "[items.a]\ngram-share = 0.3\nsample-secrecy = all\nmechanism = gaussian\n[items.a.sampler]\n", 2);
    assert_converts("[privacy]\nmin-honest = 40\n[items.mechanism]\nmin-honest = 40.0\n",
                    "[privacy]\nmin-honest = 40\n[items.mechanism]\n", 1);
    static const char *const doubtful[] = {
        "[privacy]\nmin-honest = 30\n[items.mechanism]\nmin-honest = 40\n",
        "[items.mechanism]\nmin-honest = 40\n[users.mechanism]\nhonest = 30\n",
        "[items]\nmechanism = skellam\nmechanism.min-honest = 40\n[users]\nmechanism = skellam\n",
        "[items]\nmechanism.gram-share = 0.3\nmechanism.shared-share = 0.2\n"};
    for (size_t i = 0; i < sizeof doubtful / sizeof doubtful[0]; i++)
        assert_converts(doubtful[i], doubtful[i], 0);
}

/* check refuses a component that is gone: whoever converts a file is told of the line. */
TEST(components_that_are_gone_are_named)
{
    static const struct config_entry sampler = {.section = "items",
                                                .key = "sampler",
                                                .value = "count-weights"},
                                     dotted = {.section = "users",
                                               .key = "a.sampler",
                                               .value = "count-weights"},
                                     output = {.section = "run", .key = "output", .value = "count-weights"};
    assert_non_null(gone_component_named(&sampler));
    assert_non_null(gone_component_named(&dotted));
    assert_null(gone_component_named(&output));
    assert_converts("[items]\nsampler = count-weights\n", "[items]\nsampler = count-weights\n", 0);
}

TEST(values_are_renamed)
{
    assert_converts("[items]\nbounds = data\n[users.social]\nbounds=data;\n",
                    "[items]\nbounds = empirical\n[users.social]\nbounds=data;\n", 1);
    assert_converts("[items.first]\nmechanism = laplace-symmetric\n", "[items.first]\nmechanism = laplace\n",
                    1);
}

TEST(dotted_keys_are_renamed)
{
    assert_converts("[users]\nnear.messages = rows\n", "[users]\nnear.send = rows\n", 1);
}

TEST(names_in_sweeps_are_renamed)
{
    assert_converts(
        "[sweep]\nvariant.a = @x.ini; privacy.support=public; items.bounds=data\n"
        "axis.share = items.participations: 1, 2\n",
        "[sweep]\nvariant.a = @x.ini; privacy.interaction-pattern=public; items.bounds=empirical\n"
        "axis.share = items.max-participations: 1, 2\n",
        3);
}

TEST(lines_that_are_wrong_are_copied)
{
    assert_converts("[privacy\nsupport\n= 3\n[privacy]\nsupport = private\n",
                    "[privacy\nsupport\n= 3\n[privacy]\ninteraction-pattern = private\n", 1);
}

/* Saved runs have such keys with the value that always holds now, and are read; other values are refused. */
TEST(keys_that_are_gone_say_what_holds)
{
    static const struct {
        const char *section, *key, *value;
        int result;
    } cases[] = {
        {"model.recommender", "latent-sd", "0.15", 1},
        {"model.recommender", "latent-sd", ".150", 1},
        {"model.recommender", "latent-sd", "0.2", -1},
        {"model", "recommender.factor-decay", "0.9", 1},
        {"model", "recommender.factor-decay", "much", -1},
        {"items.solver", "latent-sd", "0.2", 0},
        {"model.recommender", "latent", "2", 0},
        {"items.solver", "schedule", "step", -1},
        {"items.a.solver", "kernel", "avx2", -1},
        {"items.solver", "kernel", "auto", 1},
        {"items.mechanism", "precision", "exact", 1},
        {"items.a.mechanism", "precision", "float", -1},
        {"items.mechanism", "grid-bits", "34", 1},
        {"items.mechanism", "grid-bits", "16", 1},
        {"items.mechanism", "grid-bits", "20", -1},
        {"items.mechanism", "grid-bits", "34|30", -1},
        {"items.aggregator", "lost-before-input", "0", 1},
        {"items.aggregator", "lost-before-keys", "0.1", -1},
        {"items.sampler", "lifetime", "solve", 1},
        {"items.sampler", "lifetime", "round", -1},
        {"items.solver", "drop-at", "", 1},
        {"items.solver", "drop-at", "0.5", -1},
        {"model.recommender", "similarity", "cosine", 1},
        {"model.recommender", "similarity", "jaccard", -1},
        {"users.recommender", "similarity", "jaccard", 0},
        {"items.solver", "momentum", "0", 1},
        {"items.solver", "momentum", "0.5", -1},
        {"audit", "claim-delta", "0", -1},
        {"data", "catalogue.header", "no", 1},
        {"data.catalogue", "column", "2", -1},
        {"data", "user-features.delimiter", ",", -1},
        {"data", "relation.column.from", "2", -1},
    };
    static const char of[] = "[model]\nrecommender = ldpicf\n";
    struct dpf_error none = {0};
    struct config *config = config_parse("of.ini", of, strlen(of), &none);
    assert_non_null(config);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpf_error error = {0};
        const struct config_entry entry = {.section = cases[i].section,
                                           .key = cases[i].key,
                                           .value = cases[i].value,
                                           .file = "old.ini",
                                           .line = 3};
        assert_int_equal(gone_check(config, &entry, &error), cases[i].result);
        assert_int_equal(error.text[0] != 0, cases[i].result < 0);
        if (cases[i].result < 0 && !strstr(error.text, "is gone"))
            fail_msg("%s", error.text);
        /* What the first line of a table says has no value that holds always. */
        if (strcmp(cases[i].section, "data.catalogue") == 0 && strstr(error.text, "always"))
            fail_msg("%s", error.text);
        if (strncmp(cases[i].key, "relation", 8) == 0 && !strstr(error.text, ", and 1 holds always"))
            fail_msg("%s", error.text);
    }
    config_free(config);
}

/* A key that is one of a section now: its default in a saved run holds, and any other value is told the place. */
TEST(keys_that_have_moved_say_where_to)
{
    static const struct {
        const char *section, *key, *value;
        int result;
        const char *says;
    } cases[] = {
        {"items.mechanism", "min-honest", "0", 1, ""},
        {"items.mechanism", "min-honest", "40", -1,
         "old.ini:3: [items.mechanism] min-honest has moved: write it as [privacy] min-honest = 40"},
        {"items.rating.mechanism", "clients", "7", -1, "write it as [privacy] min-honest = 7"},
        {"items", "mechanism.max-curious", "1", -1, "write it as [privacy] max-curious = 1"},
        {"model", "max-curious", "2", -1, "write it as [privacy] max-curious = 2"},
        {"model.recommender", "max-curious", "2", 0, ""},
        {"items.mechanism", "gram-share", ".0", 1, ""},
        {"items.mechanism", "gram-share", ".2", -1,
         "[items.mechanism] gram-share has moved: write it as [items] gram-share = .2"},
        {"users.near.mechanism", "shares", ".2, .8", -1, "write it as [users.near] block-shares = .2, .8"},
        {"items", "sampler.secrecy", "server", -1, "write it as [items] sample-secrecy = server"},
        {"items.sampler", "secrecy", "outsider", 1, ""},
        {"items.sampler", "clients", "2", 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpf_error error = {0};
        const struct config_entry entry = {.section = cases[i].section,
                                           .key = cases[i].key,
                                           .value = cases[i].value,
                                           .file = "old.ini",
                                           .line = 3};
        assert_int_equal(gone_check(NULL, &entry, &error), cases[i].result);
        if (!strstr(error.text, cases[i].says))
            fail_msg("%s", error.text);
    }
}

/* Such a key alone in a section of its own, as -o writes it, is as good as one with a dot. */
TEST(a_section_whose_keys_are_gone_is_no_unknown_one)
{
    static const char *const known[] = {"data"};
    struct dpf_error error = {0};
    const char *ini = "[data.catalogue]\nheader = no\n", *more = "[data.catalogue]\nheader = no\n[data.x]\n";
    struct config *config = config_parse("old.ini", ini, strlen(ini), &error);
    assert_non_null(config);
    assert_int_equal(config_check_consumed(config, known, 1, &error), 0);
    config_free(config);
    config = config_parse("old.ini", more, strlen(more), &error);
    assert_non_null(config);
    assert_int_equal(config_check_consumed(config, known, 1, &error), -1);
    assert_non_null(strstr(error.text, "unknown section [data.x]"));
    config_free(config);
}
