/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/data_params.h"

#include <math.h>
#include <string.h>

#include "reading/data_options.h"

static const dpf_enum_value formats[] = {
    {"movielens-100k", "TAB between user, item, rating, time; no header (u.data, ua.base, u1.test)"},
    {"movielens-1m", "'::' between user, item, rating, time; no header (ratings.dat)"},
    {"netflix",
     "the Netflix Prize: a line 'MOVIE:', then lines 'user,rating,date' of that movie; one file per movie "
     "(mv_*.txt) or combined ones (combined_data_*.txt)"},
    {"csv", "commas unless delimiter says otherwise; fields may be quoted"},
    {"tsv", "TABs unless delimiter says otherwise; quotes are ordinary characters"},
    {"recbole", "RecBole's atomic file of interactions (.inter): TABs, and a header such as user_id:token, "
                "item_id:token, "
                "rating:float, timestamp:float"},
    {"synthetic", "no file: ratings are generated from run.seed and the keys synthetic.*"},
};
const struct data_form data_forms[] = {
    [FORMAT_ML100K] = {.delimiter = "tab", .header = HEADER_NO, .fields = 4},
    [FORMAT_ML1M] = {.delimiter = "double-colon", .header = HEADER_NO, .fields = 4},
    [FORMAT_NETFLIX] = {.delimiter = "comma", .header = HEADER_NO, .fields = 4, .sections = 1},
    [FORMAT_CSV] = {.delimiter = "comma", .quoting = 1},
    [FORMAT_TSV] = {.delimiter = "tab"},
    [FORMAT_RECBOLE] = {.delimiter = "tab", .header = HEADER_YES},
    [FORMAT_SYNTHETIC] = {.delimiter = "comma"},
};

const struct data_form *data_form_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &data_forms[i];
    return NULL;
}

static const dpf_enum_value headers[] = {
    {"auto", "a first line whose rating field is a word, or which has a usual name and no number, is a "
             "header; the log says so. A proof needs the answer "
             "(C11), unless the format or a column's name gives it"},
    {"yes", "the first line names the columns"},
    {"no", "the first line is data"},
};
static const dpf_enum_value encodings[] = {
    {"auto", "each id for itself: UTF-8 if it is, else Latin-1 (the log says how many)"},
    {"utf-8", "ids must be UTF-8"},
    {"latin-1", "ids are ISO-8859-1 and converted to UTF-8"},
};
static const dpf_enum_value duplicates[] = {
    {"error", "a pair of user and item that occurs twice is refused, naming both lines"},
    {"first", "the earliest record by time stamp, then by line, stays"},
    {"last", "the latest record by time stamp, then by line, stays"},
    {"mean", "the mean of the values, with the time stamp and the privacy weight of the last"},
    {"sum", "the sum of the values (counts), with the time stamp and the privacy weight of the last"},
};
static const dpf_enum_value outside[] = {
    {"fault", "they are faults, as [privacy] on-violation says: a catalogue is meant to have all"},
    {"drop",
     "they are left out and counted: the catalogue has a part, such as the items that dpframe items chose"},
};
static const dpf_enum_value out_of_range[] = {
    {"error", "a value outside the declared range is refused, naming its line"},
    {"clip", "values are moved to the nearest end of the declared range"},
    {"drop",
     "records outside the declared range are left out; where it is public who rated what they keep their "
     "place, without a value"},
};
static const dpf_enum_value feedback[] = {
    {"explicit", "values are ratings"},
    {"implicit", "a record means that the user interacted with the item; all values become 1"},
    {"counts", "likewise, and its value is how often (plays, visits, purchases): kept for losses with a "
               "confidence; duplicates = sum adds up"},
};
static const dpf_enum_value keeps[] = {
    {"random", "those with the lowest draws, which depend on run.seed and the ids alone"},
    {"latest", "the latest; with equal time stamps the later line"},
};
static const dpf_enum_value directions[] = {
    {"directed", "a line is a link from the first user to the second"},
    {"mutual", "a line is a friendship: links in both directions"},
};

static const dpf_enum_value similarities[] = {
    {"none", "a link's weight is that of the file, or 1"},
    {"pearson", "(1 + r) / 2 for Pearson's correlation r of the two users' training ratings of common items, "
                "without those of privacy weight below 1; 1/2 without common items"},
};
static const dpf_enum_value weights_kinds[] = {
    {"none", "all records weigh 1, or what column.privacy-weight says"},
    {"groups", "a user's weight times an item's, both drawn by groups, from run.seed and the id alone"},
    {"files", "a user's weight times an item's, read from files"},
    {"sensitive",
     "each record is sensitive with the same probability, by a draw that belongs to its ids, and "
     "then has the sensitive weight"},
};

static const dpf_enum_value feature_formats[] = {
    {"table", "a table; its first line shows what separates fields"},
    {"movielens-1m", "movies.dat: '::' between id, title and genres; the year from the title"},
    {"movielens-100k",
     "u.item: '|' between id, title, dates and a flag for each of 19 genres; the year from the title"},
};

static const dpf_param data_table[D_COUNT] = {
    [D_FORMAT] = DPF_PARAM_ENUM_F("format", FORMAT_CSV, formats, 0, "The form of the file."),
    [D_PATH] = DPF_PARAM_TEXT_F("path", DPF_TYPE_PATH, "", 0,
                                "The file of ratings, plain or gzipped (.gz); required unless format is "
                                "synthetic. A pattern such as u[1-5].test reads all files that match, "
                                "in order of their names, without the one named by split.test.path."),
    [D_HEADER] = DPF_PARAM_ENUM_F("header", 0, headers, 0, "Whether the first line names the columns."),
    [D_DELIMITER] =
        DPF_PARAM_TEXT_F("delimiter", DPF_TYPE_STRING, "", 0,
                         "What separates fields: a character, '::', or one of comma, tab, semicolon, "
                         "space, spaces (runs of blanks and TABs), pipe, double-colon. Empty: the format's."),
    [D_FIELDS] = DPF_PARAM_INT_F(
        "fields", 0, 0, 1000000, 0, "fields",
        "The number of fields of a line. 0: as in the header; without a header, 4 in the MovieLens formats, "
        "else as in the first line. That line is a record, so a proof then needs the number (C11)."),
    [D_MULTI_LINE] = DPF_PARAM_BOOL_F("multi-line", 0, 0,
                                      "csv: whether a quoted field may contain line ends. One user's quote "
                                      "can then change where others' lines end, so nothing is proved (C11)."),
    [D_COLUMN_USER] = DPF_PARAM_TEXT_F("column.user", DPF_TYPE_STRING, "auto", 0,
                                       "The user's column: a name in the header, or a number from 1. auto: "
                                       "a usual name in the header, else column 1."),
    [D_COLUMN_ITEM] = DPF_PARAM_TEXT_F("column.item", DPF_TYPE_STRING, "auto", 0,
                                       "The item's column, likewise; auto: else column 2."),
    [D_COLUMN_RATING] =
        DPF_PARAM_TEXT_F("column.rating", DPF_TYPE_STRING, "auto", 0,
                         "The rating's (or count's) column, likewise, or none (implicit feedback only); "
                         "auto: else column 3."),
    [D_COLUMN_TIME] =
        DPF_PARAM_TEXT_F("column.time", DPF_TYPE_STRING, "auto", 0,
                         "The time stamp's column (a number of any unit, or ISO 8601: YYYY-MM-DD "
                         "with or without HH:MM:SS, a fraction, and Z or +HH:MM), or none; auto: a usual "
                         "name in the header, else column 4 of a file of four columns."),
    [D_COLUMN_WEIGHT] = DPF_PARAM_TEXT_F("column.privacy-weight", DPF_TYPE_STRING, "none", DPF_PARAM_PRIVACY,
                                         "The column of a record's privacy weight (a number of 0 or more, "
                                         "read by methods with personal budgets), or none."),
    [D_ITEMS_FILE] = DPF_PARAM_TEXT_F("items-file", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY,
                                      "The catalogue of items, a public file with an id on each line, or a "
                                      "column of one, FILE:COLUMN, such as "
                                      "movies.csv:movieId, or movies.dat:1 without a header: the item side "
                                      "has a row for each of them, in that "
                                      "order, and records of other items are what catalogue.outside says. "
                                      "Empty: the items that occur in the "
                                      "data; the released list of items then shows which."),
    [D_USERS_FILE] =
        DPF_PARAM_TEXT_F("users-file", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY,
                         "The catalogue of users, likewise. A list of the users in the data is not public."),
    [D_CATALOGUE_OUTSIDE] = DPF_PARAM_ENUM_F("catalogue.outside", 0, outside, DPF_PARAM_PRIVACY,
                                             "What to do with records whose item or user is not in its "
                                             "catalogue. Each is judged by its own ids alone."),
    [D_ITEM_NAMES] = DPF_PARAM_TEXT_F(
        "item-names", DPF_TYPE_PATH, "", 0,
        "Names of items for people, FILE:COLUMN, such as movies.csv:title, or movies.dat:2 in a file without "
        "a header: a public file, plain or gzipped, with the item's id in its first column, or in the one "
        "that its header calls so. Fields are separated by TABs if its first line has one, else by its first "
        "'::', ';', '|' or comma. "
        "Nothing is trained on names; lists show them, and the run keeps them beside its list of items."),
    [D_ENCODING] = DPF_PARAM_ENUM_F("encoding", 0, encodings, 0, "How the bytes of ids are read."),
    [D_DUPLICATES] = DPF_PARAM_ENUM_F("duplicates", 2, duplicates, 0,
                                      "What to do with records of one user and item; their number is "
                                      "reported."),
    [D_VALUE_MIN] = DPF_PARAM_REAL_F("value-min", -INFINITY, -INFINITY, INFINITY, DPF_PARAM_PRIVACY, "",
                                     "Declared lower end of the values in the file. Declared ends are public "
                                     "and enter sensitivities; they are never taken from the data."),
    [D_VALUE_MAX] = DPF_PARAM_REAL_F("value-max", INFINITY, -INFINITY, INFINITY, DPF_PARAM_PRIVACY, "",
                                     "Declared upper end of the values in the file."),
    [D_OUT_OF_RANGE] = DPF_PARAM_ENUM_F("out-of-range", 0, out_of_range, DPF_PARAM_PRIVACY,
                                        "What to do with values outside the declared range."),
    [D_FEEDBACK] = DPF_PARAM_ENUM_F("feedback", 0, feedback, DPF_PARAM_PRIVACY, "What a record means."),
    [D_THRESHOLD] = DPF_PARAM_REAL_F("threshold", -INFINITY, -INFINITY, INFINITY, DPF_PARAM_PRIVACY, "",
                                     "Implicit feedback: records with a value of at least this are "
                                     "interactions; others are dropped, after duplicates are resolved, and "
                                     "counted; where it is public who rated what they keep their place. "
                                     "-inf keeps all."),
    [D_FILTER_USER_MIN] = DPF_PARAM_INT_F("filter.user-min", 0, 0, 1000000000, 0, "records",
                                          "Leaves out users with fewer records, counted before the split and "
                                          "after items are filtered. A proof needs unit = user (C2)."),
    [D_FILTER_USER_MAX] =
        DPF_PARAM_INT_F("filter.user-max", 0, 0, 1000000000, 0, "records",
                        "Keeps at most this many records of a user; 0: all. A proof needs unit = user (C2)."),
    [D_FILTER_KEEP] = DPF_PARAM_ENUM_F("filter.keep", 0, keeps, 0, "Which records filter.user-max keeps."),
    [D_FILTER_USERS] = DPF_PARAM_REAL_F(
        "filter.users", 1, 0, 1, DPF_PARAM_OPEN_LO, "",
        "The probability of keeping a user, by a draw that depends on run.seed and the id alone."),
    [D_FILTER_ITEM_MIN] =
        DPF_PARAM_INT_F("filter.item-min", 0, 0, 1000000000, 0, "records",
                        "Leaves out items with fewer records. That reads everybody's records, so nothing is "
                        "proved (C2). Use a catalogue instead (items-file)."),
    [D_RELATION_PATH] = DPF_PARAM_TEXT_F(
        "relation.path", DPF_TYPE_PATH, "", 0,
        "A file of links between users (friends, trust), plain or gzipped (.gz); "
        "the first two columns are the user that a link starts from and the one that it leads "
        "to. Links of users without ratings are dropped and counted."),
    [D_RELATION_DELIMITER] = DPF_PARAM_TEXT_F("relation.delimiter", DPF_TYPE_STRING, "spaces", 0,
                                              "What separates its fields; see delimiter."),
    [D_RELATION_HEADER] = DPF_PARAM_ENUM_F("relation.header", 0, headers, 0, "Whether it has a header."),
    [D_RELATION_WEIGHT] = DPF_PARAM_TEXT_F("relation.column.weight", DPF_TYPE_STRING, "none", 0,
                                           "The column of a link's weight, or none: all weigh 1."),
    [D_RELATION_DIRECTION] = DPF_PARAM_ENUM_F("relation.direction", 0, directions, 0, "What a line means."),
    [D_RELATION_SIMILARITY] = DPF_PARAM_ENUM_F(
        "relation.similarity", 0, similarities, DPF_PARAM_PRIVACY,
        "The weights of links. A similarity is computed from the ratings without noise (C2)."),
    [D_ITEM_FEATURES] = DPF_PARAM_TEXT_F(
        "item-features", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY,
        "A file of facts about each item, plain or gzipped (.gz), that you declare public: it gets no noise, "
        "and the statement says so. Models that read features use it. The id is in the column that the "
        "header calls as in the records, else in the first; the first line is a header if it does so, or if "
        "a key gives a column by its name. Items without a line have no features; lines of other ids count "
        "for the columns alone."),
    [D_ITEM_FEATURES_CATEGORIES] =
        DPF_PARAM_TEXT_F("item-features.categories", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                         "Columns whose texts are categories, separated by commas: names of the header, or "
                         "numbers from 1. '|' "
                         "separates several categories in one field. Not set: the format's."),
    [D_ITEM_FEATURES_NUMBERS] = DPF_PARAM_TEXT_F(
        "item-features.numbers", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
        "Columns of numbers, flags of 0 and 1 among them, likewise; an empty field is a number "
        "that is missing."),
    [D_ITEM_FEATURES_FORMAT] =
        DPF_PARAM_ENUM_F("item-features.format", 0, feature_formats, 0, "The form of the file."),
    [D_ITEM_FEATURES_YEAR] =
        DPF_PARAM_TEXT_F("item-features.year-of", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                         "A column whose text ends in a year, such as \"Toy Story (1995)\": the year is a "
                         "number. Not set: the format's."),
    [D_WEIGHTS_KIND] = DPF_PARAM_ENUM_F("weights.kind", 0, weights_kinds, DPF_PARAM_PRIVACY,
                                        "The source of privacy weights. A record's budget is its weight, "
                                        "above 0 and at most 1, times the largest budget."),
    [D_WEIGHTS_USER_SHARES] = DPF_PARAM_LIST_F(
        "weights.user-shares", DPF_TYPE_REAL_LIST, "0.54, 0.37", 0.0, 1.0, DPF_PARAM_PRIVACY, "of the users",
        "groups: the probability that a user is in each group; the last has the "
        "rest."),
    [D_WEIGHTS_USER_LEVELS] = DPF_PARAM_LIST_F(
        "weights.user-levels", DPF_TYPE_REAL_LIST, "0.1, 0.5, 1", 0.0, 1.0,
        DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
        "groups: a user's weight is uniform from the level of the group to that of the next; the last "
        "group has the last level."),
    [D_WEIGHTS_ITEM_SHARES] =
        DPF_PARAM_LIST_F("weights.item-shares", DPF_TYPE_REAL_LIST, "0.33, 0.33", 0.0, 1.0, DPF_PARAM_PRIVACY,
                         "of the items", "groups: the same for items."),
    [D_WEIGHTS_ITEM_LEVELS] =
        DPF_PARAM_LIST_F("weights.item-levels", DPF_TYPE_REAL_LIST, "0.1, 0.5, 1", 0.0, 1.0,
                         DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "", "groups: the same for items."),
    [D_WEIGHTS_USERS] =
        DPF_PARAM_TEXT_F("weights.users", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY,
                         "files: lines of a user's id and weight, with blanks or TABs between "
                         "them, for every user with ratings. Empty: all weigh 1."),
    [D_WEIGHTS_ITEMS] =
        DPF_PARAM_TEXT_F("weights.items", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY, "files: the same for items."),
    [D_WEIGHTS_SENSITIVE_SHARE] =
        DPF_PARAM_REAL_F("weights.sensitive-share", 0.5, 0.0, 1.0, DPF_PARAM_PRIVACY, "",
                         "sensitive: the probability that a record is sensitive."),
    [D_WEIGHTS_SENSITIVE_WEIGHT] = DPF_PARAM_REAL_F(
        "weights.sensitive-weight", 0.5, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI,
        "", "sensitive: the weight of sensitive records; all others weigh 1."),
    [D_SYNTHETIC_USERS] = DPF_PARAM_INT_F("synthetic.users", 1000, 1, 2147483646, 0, "", "Number of users."),
    [D_SYNTHETIC_ITEMS] = DPF_PARAM_INT_F("synthetic.items", 500, 1, 2147483646, 0, "", "Number of items."),
    [D_SYNTHETIC_RATINGS] = DPF_PARAM_INT_F("synthetic.ratings", 50000, 1, 1e15, 0, "",
                                            "Expected number of ratings; the actual one is close to it."),
    [D_SYNTHETIC_RANK] = DPF_PARAM_INT_F("synthetic.rank", 8, 0, 4096, 0, "",
                                         "Rank of the latent structure besides the biases."),
    [D_SYNTHETIC_POPULARITY] = DPF_PARAM_REAL_F("synthetic.popularity", 2.0, 0, 10, 0, "",
                                                "Log-normal sigma of the items' popularity; 0: all alike."),
    [D_SYNTHETIC_ACTIVITY] = DPF_PARAM_REAL_F("synthetic.activity", 1.35, 0, 5, 0, "",
                                              "Log-normal sigma of the users' numbers of ratings above the "
                                              "minimum; 0: all alike."),
    [D_SYNTHETIC_MIN] = DPF_PARAM_INT_F("synthetic.min-per-user", 10, 0, 2147483646, 0, "",
                                        "Smallest number of ratings of a user."),
    [D_SYNTHETIC_AFFINITY] =
        DPF_PARAM_REAL_F("synthetic.affinity", 0.0, 0, 10, 0, "",
                         "How much taste decides what a user chooses: items are drawn by popularity times "
                         "exp(affinity * taste). Above 0 generating takes users x items steps."),
    [D_SYNTHETIC_NOISE] = DPF_PARAM_REAL_F("synthetic.noise", 0.8, 0, 1e6, 0, "",
                                           "Standard deviation of a rating's noise, in units of the rating."),
    [D_SYNTHETIC_STEP] = DPF_PARAM_REAL_F("synthetic.step", 1.0, 0, 1e6, 0, "",
                                          "Ratings are multiples of it from value-min; 0: real numbers."),
};

static const dpf_enum_value kinds[] = {
    {"none", "all records are for training"},
    {"random",
     "each record is in the test part with the probability `fraction`, by a draw that belongs to its "
     "user's and item's ids"},
    {"random-exact", "a random fraction of all records, of exact size, is the test part; nothing is proved, "
                     "since the draw reads all of the data (C11)"},
    {"k-fold", "each record is in one of the folds, all equally likely, by the draw that belongs to its ids; "
               "one fold is the test part"},
    {"leave-one-out", "one record of each user who has two or more is the test part"},
    {"per-user",
     "a number, or a fraction, of each user's records is the test part, those of the lowest draws; "
     "one always stays for training"},
    {"files", "the test part is a file of its own"},
    {"candidates",
     "for each user each item is set aside with the probability `fraction`, by the pair's draw: "
     "ratings of these items are the test part, and the user is ranked among them"},
    {"cold-items",
     "each item is set aside for everybody with the probability `fraction`, by the draw of its id: all of "
     "its "
     "records are the test part, so that a model knows its features alone, and users' items are ranked among "
     "these"},
    {"time",
     "each record from `time-from` on is the test part: one point in time for everybody, which is public"},
    {"users", "each user is held out with the probability `users`, by the draw of its id: nothing is trained "
              "on its records. "
              "Each of them is tested with the probability `fraction`, by the pair's draw, and the user is "
              "known by the others"},
};
static const dpf_enum_value bys[] = {
    {"time", "the latest record; with equal time stamps the line decides, and such users are counted"},
    {"random", "the record of the lowest draw"},
};
static const dpf_enum_value overlaps[] = {
    {"error", "a pair of user and item in both files is refused"},
    {"test", "it stays in the test part only, so data.path may be the complete file"},
    {"train", "it stays in the training part only"},
};

static const dpf_param split_table[S_COUNT] = {
    [S_KIND] = DPF_PARAM_ENUM_F("kind", 0, kinds, 0,
                                "How records are split into training and test. Every pair of user and item "
                                "has a draw, a function of run.seed and of the two ids alone."),
    [S_FRACTION] = DPF_PARAM_REAL_F(
        "fraction", 0.2, 0, 1, DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
        "random: the probability that a record is tested; random-exact: the part of "
        "the records that is tested; per-user: the part of each user's records, "
        "rounded; candidates, cold-items: the probability that an item is set aside; users: the "
        "probability that a held-out user's record is tested."),
    [S_FOLDS] = DPF_PARAM_INT_F("folds", 5, 2, 1000000, 0, "",
                                "k-fold: number of folds; fold = all tests each of them."),
    [S_FOLD] = DPF_PARAM_TEXT_F(
        "fold", DPF_TYPE_STRING, "1", 0,
        "k-fold: the fold to test, from 1; or all, which makes a run for each, as the axis "
        "split.fold of a sweep does: tables then have the mean and the deviation over folds."),
    [S_BY] = DPF_PARAM_ENUM_F("by", 0, bys, 0, "leave-one-out: the record of a user that is held out."),
    [S_HELD_OUT] = DPF_PARAM_INT_F("n", 0, 0, 1000000000, 0, "records",
                                   "per-user: how many records of each user are held out; 0: `fraction` of "
                                   "them."),
    [S_TEST_PATH] = DPF_PARAM_TEXT_F("test.path", DPF_TYPE_PATH, "", 0,
                                     "files: the file of test records, in the format of [data]."),
    [S_OVERLAP] =
        DPF_PARAM_ENUM_F("overlap", 0, overlaps, 0, "files: what to do with pairs that occur in both files."),
    [S_TRAIN_FRACTION] =
        DPF_PARAM_REAL_F("train-fraction", 1, 0, 1, DPF_PARAM_OPEN_LO, "",
                         "The probability of training on a record outside of the test part, by another draw "
                         "of its user's and item's ids: sparser data, the same test part."),
    [S_TIME_FROM] =
        DPF_PARAM_REAL_F("time-from", INFINITY, -INFINITY, INFINITY, 0, "",
                         "time: the first moment of the test part, in the unit of the time stamps."),
    [S_USERS] = DPF_PARAM_REAL_F("users", 0.1, 0, 1, DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI, "",
                                 "users: the probability that a user is held out."),
};

const dpf_param *data_params(int64_t *n)
{
    *n = D_COUNT;
    return data_table;
}

const dpf_param *split_params(int64_t *n)
{
    *n = S_COUNT;
    return split_table;
}
