/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An empty value removes a component of an included file together with its parameters: what is left is what a file has
 * that never named it, for every key that names components.
 */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char head[] =
    "[run]\nrounds = 2\noutput = out\n"
    "[data]\nformat = csv\ndelimiter = space\nheader = no\nfields = 3\ncolumn.time = none\n"
    "path = ratings.txt\nvalue-min = 1\nvalue-max = 5\nrelation.path = links.txt\n"
    "relation.delimiter = space\n"
    "[model]\nrank = 2\n[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\ndelta = 1e-5\n";

/* Parts of a published method, by the key that names their components. */
enum {
    U_LOSS,
    U_TRANSFORMS,
    U_SOLVER,
    I_LOSS,
    I_SAMPLER,
    I_TRANSFORMS,
    I_MECHANISM,
    I_AGGREGATOR,
    I_SOLVER,
    A_LIST,
    N_PARTS
};
static const struct {
    const char *section, *key, *value, *parameters;
} parts[N_PARTS] = {
    [U_LOSS] = {"users", "loss", "squared-error", "[users.loss]\nregularization = 0.02\n"},
    [U_TRANSFORMS] = {"users", "transforms", "clip-rows", "[users.transform.clip-rows]\nbound = 3\n"},
    [U_SOLVER] = {"users", "solver", "gradient-descent", "[users.solver]\nrate = 0.03\nradius = 1\n"},
    [I_LOSS] = {"items", "loss", "squared-error", "[items.loss]\nregularization = 0.03\nclip-error = 2\n"},
    [I_SAMPLER] = {"items", "sampler", "poisson-users", "[items.sampler]\nrate = 0.25\n"},
    [I_TRANSFORMS] = {"items", "transforms", "clip-rows, clip-user",
                      "[items.transform.clip-rows]\nbound = 1\n[items.transform.clip-user]\nbound = 2\n"},
    [I_MECHANISM] =
        {"items", "mechanism", "gaussian",
         "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 2\nwhere = party\n"},
    [I_AGGREGATOR] = {"items", "aggregator", "modular-sum", "[items.aggregator]\nscale = mean\n"},
    [I_SOLVER] = {"items", "solver", "gradient-descent", "[items.solver]\nrate = 0.04\n"},
    [A_LIST] = {"accountants", "list", "rdp, published",
                "[accountants.rdp]\nconversion = classic\n[accountants.published]\nclaim = per-release\n"},
};

/* The method without the parts of `without` (bits), and then `more`. */
static void write_method(const char *name, const char *before, unsigned without, const char *more)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "%s%s", before, *before ? "" : head);
    for (int p = 0; p < N_PARTS && !*before; p++)
        if (!(without >> p & 1))
            n += (size_t)snprintf(text + n, sizeof text - n, "[%s]\n%s = %s\n%s", parts[p].section,
                                  parts[p].key, parts[p].value, parts[p].parameters);
    snprintf(text + n, sizeof text - n, "%s", more);
    training_file(name, text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * What check says of a file, and its exit code: the lines of the resolved configuration with their sections, whether keys
 * are set or have defaults ("; key = value"), and the statement; in the order of their text.
 */
static int said(const char *name, char *out, size_t size)
{
    static char *lines[4096];
    char arguments[256], section[128] = "";
    size_t n = 0, used = 0;
    snprintf(arguments, sizeof arguments, "check -c %s", name);
    const int code = command_run_it(arguments);
    for (char *line = strtok(command_out, "\n"); line && n < 4096; line = strtok(NULL, "\n")) {
        char text[1024];
        if (*line == '[')
            snprintf(section, sizeof section, "%.100s", line);
        snprintf(text, sizeof text, "%s %.800s", section, line + (strncmp(line, "; ", 2) == 0 ? 2 : 0));
        /* Without a mechanism an aggregator has nothing to do: that none and the default differ here means nothing. */
        if (strncmp(text, "[items] aggregator = ", 21) != 0)
            lines[n++] = memory_text(text);
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s\n", lines[i]);
        free(lines[i]);
    }
    return code;
}

/* Removing the parts by empty values says what never having had them says. */
static void assert_removed(unsigned without, const char *more)
{
    static char never[1 << 20], removed[1 << 20];
    char empties[1024] = "include = full.ini\n";
    for (int p = 0; p < N_PARTS; p++)
        if (without >> p & 1)
            snprintf(empties + strlen(empties), sizeof empties - strlen(empties), "[%s]\n%s =\n",
                     parts[p].section, parts[p].key);
    write_method("full.ini", "", 0, "");
    write_method("never.ini", "", without, more);
    write_method("removed.ini", empties, 0, more);
    const int code = said("never.ini", never, sizeof never);
    if (said("removed.ini", removed, sizeof removed) != code)
        fail_msg("%s%s: ends with another code than %d: %s", empties, more, code, command_err);
    if (code == 0 && strcmp(never, removed) != 0) {
        size_t at = 0;
        for (size_t i = 0; removed[i] && removed[i] == never[i]; i++)
            at = removed[i] == '\n' ? i + 1 : at;
        fail_msg("%s%s says\n%.300s\nnot\n%.300s", empties, more, removed + at, never + at);
    }
}

TEST(every_component_can_be_removed)
{
    static char out[1 << 20];
    write_method("full.ini", "", 0, "");
    if (said("full.ini", out, sizeof out) != 0)
        fail_msg("%s", command_err);
    for (int p = 0; p < N_PARTS; p++)
        if (p != I_AGGREGATOR)
            assert_removed(1U << p, "");
    /* A file that never named an aggregator has the default. To take it away is to have none, and messages need one. */
    write_method("full.ini", "", 0, "");
    write_method("alone.ini", "include = full.ini\n[items]\naggregator =\n", 0, "");
    command_expect("check -c alone.ini", 2, "needs an aggregator");
    assert_removed(1U << I_MECHANISM | 1U << I_AGGREGATOR, "");
    assert_removed(1U << I_MECHANISM | 1U << I_AGGREGATOR | 1U << I_SAMPLER | 1U << I_TRANSFORMS, "");
}

/* In place of a side's own components: terms, of which each has what the side had, and one more. */
TEST(terms_can_take_their_place)
{
    static const char users[] = "[users]\nterms = rating, social\n[users.rating]\nloss = squared-error\n"
                                "[users.social]\nsource = relation\nloss = social\n";
    static const char items[] =
        "[items]\nterms = only\n[items.only]\nloss = squared-error\nmechanism = gaussian\n"
        "[items.only.loss]\nclip-error = 1\n[items.only.mechanism]\ncalibration = "
        "noise-multiplier\nnoise-multiplier = 2\nwhere = party\n";
    assert_removed(1U << U_LOSS | 1U << U_TRANSFORMS, users);
    assert_removed(
        1U << I_LOSS | 1U << I_SAMPLER | 1U << I_TRANSFORMS | 1U << I_MECHANISM | 1U << I_AGGREGATOR, items);
    /* What is not taken back is named. */
    write_method("left.ini", "include = full.ini\n[users]\nloss =\n", 0, users);
    command_expect("check -c left.ini", 2, "transforms");
}

/* And back: terms of an included file make room for the side's own components. */
TEST(terms_can_be_removed)
{
    static char never[1 << 20], removed[1 << 20];
    write_method("terms.ini", "", 1U << U_LOSS | 1U << U_TRANSFORMS,
                 "[users]\nterms = a, b\n[users.a]\nloss = squared-error\n[users.b]\nloss = squared-error\n"
                 "[users.b.loss]\nregularization = 0.5\n");
    write_method("back.ini", "include = terms.ini\n[users]\nterms =\n", 0, "loss = squared-error\n");
    write_method("never.ini", "", 1U << U_LOSS | 1U << U_TRANSFORMS, "[users]\nloss = squared-error\n");
    assert_int_equal(said("never.ini", never, sizeof never), 0);
    assert_int_equal(said("back.ini", removed, sizeof removed), 0);
    assert_string_equal(never, removed);
}

/* The same for a recommender, whose place two solved sides take. */
TEST(a_recommender_can_be_removed)
{
    static char never[1 << 20], removed[1 << 20];
    write_method("recommender.ini", "", ~0U,
                 "[model]\nrecommender = private-biases\n[model.recommender]\nepsilon = 2\n");
    write_method("never.ini", "", 0, "");
    char text[8192] = "include = recommender.ini\n[model]\nrecommender =\n";
    for (int p = 0; p < N_PARTS; p++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]\n%s = %s\n%s", parts[p].section,
                 parts[p].key, parts[p].value, parts[p].parameters);
    training_file("removed.ini", text);
    assert_int_equal(said("never.ini", never, sizeof never), 0);
    assert_int_equal(said("removed.ini", removed, sizeof removed), 0);
    assert_string_equal(never, removed);
}

static int files(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("ratings.txt", "1 1 3\n2 1 4\n2 2 1\n3 2 5\n");
    training_file("links.txt", "1 2 1\n2 3 1\n");
    return 0;
}

FIXTURE(files, training_end)
