/* SPDX-License-Identifier: Apache-2.0 */
/* data_options.h - [data] and [split] as structures. */
#ifndef DPF_READING_DATA_OPTIONS_H
#define DPF_READING_DATA_OPTIONS_H

#include "base/error.h"
#include "config/config.h"
#include "dataset/ids.h"
#include "lines/fields.h"
#include "synthetic/generate.h"

enum data_format {
    FORMAT_ML100K,
    FORMAT_ML1M,
    FORMAT_NETFLIX,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_RECBOLE,
    FORMAT_SYNTHETIC
};
enum data_header { HEADER_AUTO, HEADER_YES, HEADER_NO };
/* What a format says of its files: data_params.c has a row for each, beside its name. */
struct data_form {
    const char *delimiter;   /* unless the key says otherwise */
    enum data_header header; /* AUTO: the file has to show it */
    int fields;              /* of every line; 0: as many as the first has */
    int quoting;             /* fields may be quoted, if the delimiter is a single character */
    int sections;            /* a line "ITEM:" begins the lines of an item */
};
extern const struct data_form data_forms[];
/* Of [data] format = NAME; NULL: there is no such format. */
const struct data_form *data_form_named(const char *name);
enum data_duplicates { DUPLICATES_ERROR, DUPLICATES_FIRST, DUPLICATES_LAST, DUPLICATES_MEAN, DUPLICATES_SUM };
enum data_out_of_range { RANGE_ERROR, RANGE_CLIP, RANGE_DROP };
enum data_feedback { FEEDBACK_EXPLICIT, FEEDBACK_IMPLICIT, FEEDBACK_COUNTS };
enum split_kind {
    SPLIT_NONE,
    SPLIT_RANDOM,
    SPLIT_RANDOM_EXACT,
    SPLIT_FOLDS,
    SPLIT_LEAVE_ONE_OUT,
    SPLIT_PER_USER,
    SPLIT_FILES,
    SPLIT_CANDIDATES,
    SPLIT_COLD_ITEMS,
    SPLIT_TIME,
    SPLIT_USERS
};
enum split_by { BY_TIME, BY_RANDOM };
enum split_overlap { OVERLAP_ERROR, OVERLAP_TEST, OVERLAP_TRAIN };

/*
 * A line is void if its ids can be read and it is at fault, or its value is dropped by range or threshold. What
 * becomes of it must not tell neighbouring data sets apart, so that it follows from what is promised.
 */
enum void_rule {
    VOID_GONE,  /* it is as if it was not there */
    VOID_VALUE, /* who rated what stays (replace-value): a record like any other, with the value void_value */
    VOID_CELL   /* who rated what stays (zero-out, declared public): a record of weight 0, see struct csr */
};

/* The columns of a file, as configured. */
enum column { COLUMN_USER, COLUMN_ITEM, COLUMN_RATING, COLUMN_TIME, COLUMN_WEIGHT, COLUMN_COUNT };

/* How one kind of file is read. Texts belong to the configuration. */
struct file_options {
    enum data_header header;
    struct delimiter delimiter;
    int64_t n_fields; /* of a line; 0: as many as the first has */
    int quoting;      /* fields may be in double quotes (RFC 4180) */
    int multi_line;   /* and go over several lines */
    enum ids_encoding encoding;
    const char *columns[COLUMN_COUNT]; /* a name, a 1-based number, "auto" or "none" */
    const char *keys[COLUMN_COUNT];    /* the key that configures each, for messages */
    int rating_needed;
    int time_needed;
    int time_unused; /* nothing reads time stamps: they are checked where there are some, and not kept */
    int sections;    /* a line "ITEM:" says of which item the lines after it are; they lack that field, which
                        comes last */
    int one_id;      /* lines name one thing, not a pair: its column is that of the user and of the item */
    double value_lo, value_hi;
    enum data_out_of_range out_of_range;
    enum void_rule voids; /* of lines at fault, */
    int drops_stay;       /* and of those whose value is dropped; 0: these are gone under any rule */
    int ids_stay;         /* ids of void lines are in the lists of ids */
    const char *prefix;   /* of the other keys, "" or "relation." */
};

enum relation_similarity { SIMILARITY_NONE, SIMILARITY_PEARSON };
enum weights_kind { WEIGHTS_NONE, WEIGHTS_GROUPS, WEIGHTS_FILES, WEIGHTS_SENSITIVE };
#define WEIGHTS_MAX_GROUPS 255

/* n levels, and a share for each but the last. */
struct weight_groups {
    const double *shares;
    const double *levels;
    int64_t n;
};

struct weights_options {
    enum weights_kind kind;
    struct weight_groups groups[2]; /* of users, of items */
    const char *paths[2];
    struct file_options file;
    double sensitive_share, sensitive_weight;
};

enum filter_keep { KEEP_DRAWN, KEEP_LATEST };

/* Which records are left out before the split; a minimum or maximum of 0 and a fraction of 1 ask for nothing. */
struct filter_options {
    int64_t user_min, user_max; /* ratings of a user */
    enum filter_keep keep;      /* of a user who has more */
    double users;               /* fraction */
    int64_t item_min;           /* ratings of an item */
};

struct data_options {
    enum data_format format;
    const char *path;
    enum data_duplicates duplicates;
    int implicit; /* records are interactions, */
    int counts;   /* and their values say how many */
    double threshold;
    double value_lo, value_hi; /* declared, or infinite */
    struct file_options file;
    const char *relation_path; /* "" if there is none */
    struct file_options relation;
    int relation_mutual;
    enum relation_similarity relation_similarity;
    const char *catalogues
        [2];          /* FILE or FILE:COLUMN of users, of items: indexed as DPF_SIDE_*; "" if there is none */
    int drop_outside; /* records that a catalogue has no row for, in silence; else they are faults */
    struct filter_options filter;
    struct weights_options weights;
    struct generate_options generate;

    enum split_kind kind;
    double fraction, train_fraction;
    double time_from; /* records from then on are tested */
    double users;     /* probability that a user is held out */
    int64_t folds, fold;
    enum split_by by;
    int64_t held_out; /* per user; 0: the fraction of each user's records */
    const char *test_path;
    enum split_overlap overlap;
};

#endif
