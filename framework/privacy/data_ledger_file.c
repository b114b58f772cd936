/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/data_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/files.h"
#include "base/json_in.h"
#include "base/memory.h"
#include "dpframe/accounting.h"
#include "privacy/event_json.h"
#include "privacy/guarantee.h"
#include "privacy/statement.h"

#define MOST_BYTES 67108864 /* of a file: tens of thousands of runs */

/* ---- this run ------------------------------------------------------------------------------------ */

/* How many parties may pool what they know of their noise; 0: nobody sees any of it but its own. */
static int64_t curious_of(const struct guarantee *guarantee)
{
    return guarantee->observer == DPF_OBSERVER_PARTIES && guarantee->max_curious > 0 ? guarantee->max_curious
                                                                                     : 0;
}

/* Files of runs that declare nothing, and of noise that is not in shares, say nothing of it. */
static json_t *head_of(const struct data_ledger_request *request)
{
    const struct guarantee *guarantee = request->guarantee;
    const int64_t curious = curious_of(guarantee);
    json_t *head = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:s}", "dpframe_ledger", 1, "unit", dpf_unit_name(guarantee->unit),
        "adjacency", dpf_adjacency_name(guarantee->adjacency), "observer",
        statement_observer(guarantee->observer), "users", request->users, "items", request->items);
    int status = head ? 0 : -1;
    if (status == 0 && *request->declared)
        status = json_object_set_new(head, "public", json_string(request->declared));
    if (status == 0 && curious > 0)
        status = json_object_set_new(head, "curious", json_integer(curious));
    if (status == 0)
        return head;
    json_decref(head);
    return NULL;
}

static json_t *own_events(const struct ledger *ledger)
{
    dpf_event *events = memory_need((size_t)ledger->n + 1, sizeof *events);
    for (int64_t i = 0; i < ledger->n; i++)
        events[i] = ledger->entries[i].event;
    json_t *list = events_to_json(events, ledger->n);
    free(events);
    return list;
}

static json_t *entry_of(const struct data_ledger_request *request, const struct account *account)
{
    const struct guarantee *guarantee = request->guarantee;
    char when[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const struct data_ledger_resumption *resumption = request->resumption;
    json_t *events = own_events(request->ledger);
    return events ? json_pack("{s:s, s:s, s:f, s:f, s:s, s:b, s:s*, s:s*, s:o}", "time", when, "run",
                              request->name, "epsilon", account->answer.epsilon, "delta",
                              account->answer.delta, "accountant", account->accountant, "joint",
                              guarantee->joint, "resumes", resumption ? resumption->process : NULL,
                              "resumed_by", resumption ? resumption->by : NULL, "events", events)
                  : NULL;
}

/* ---- the file ------------------------------------------------------------------------------------ */

struct file {
    const struct config_values *privacy; /* [privacy], for messages */
    const char *path;
    int descriptor;
    char *text;
    size_t length; /* of whole lines */
    /* Of all runs before, if each line has its own. */
    dpf_event *events;
    size_t n_events, capacity;
    int lacks_events;
};

/* A full or broken disk is no fault of the configuration. */
static int file_fails(const struct file *file, const char *what, struct dpf_error *error)
{
    const int is_disk = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
    return is_disk ? error_set(error, DPF_FAULT_RUN, "[privacy] ledger = %s: %s: %s", file->path, what,
                               strerror(errno))
                   : config_value_error(file->privacy, "ledger", error, "%s: %s", what, strerror(errno));
}

/* All of it, up to the last whole line. */
static int read_all(struct file *file, struct dpf_error *error)
{
    struct stat info;
    if (fstat(file->descriptor, &info) != 0)
        return file_fails(file, "cannot be read", error);
    if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        return config_value_error(file->privacy, "ledger", error,
                                  "not a regular file of less than 64 MiB; name another");
    file->text = memory_need((size_t)info.st_size + 1, 1);
    size_t have = 0;
    while (have < (size_t)info.st_size) {
        const ssize_t got =
            pread(file->descriptor, file->text + have, (size_t)info.st_size - have, (off_t)have);
        if (got < 0 && errno != EINTR)
            return file_fails(file, "cannot be read", error);
        if (got == 0)
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    while (have > 0 && file->text[have - 1] != '\n')
        have--;
    file->length = have;
    file->text[have] = '\0';
    return 0;
}

static int line_fails(const struct file *file, int64_t line, const char *why, struct dpf_error *error)
{
    return config_value_error(file->privacy, "ledger", error,
                              "line %lld %s. Nothing is released; restore the line from a "
                              "copy, or start a new file if nothing was ever released from this data",
                              (long long)line, why);
}

static int check_unit(const struct file *file, const json_t *head, const struct guarantee *guarantee,
                      struct dpf_error *error)
{
    const char *const keys[] = {"unit", "adjacency", "observer"};
    const char *const own[] = {dpf_unit_name(guarantee->unit), dpf_adjacency_name(guarantee->adjacency),
                               statement_observer(guarantee->observer)};
    int same = 1;
    for (int i = 0; i < 3; i++)
        same &= strcmp(json_text_in(head, keys[i]), own[i]) == 0;
    return same ? 0
                : config_value_error(
                      file->privacy, "ledger", error,
                      "it is for unit %s, adjacency %s, observer %s; this run is for "
                      "%s, %s, %s. Epsilons of different ones do not add up: use the same, or another "
                      "file",
                      json_text_in(head, keys[0]), json_text_in(head, keys[1]), json_text_in(head, keys[2]),
                      own[0], own[1], own[2]);
}

/* The lists of ids, one after the other. */
static int check_lists(const struct file *file, const json_t *head, const struct data_ledger_request *request,
                       struct dpf_error *error)
{
    const char *const keys[] = {"users", "items"}, *const own[] = {request->users, request->items};
    for (int i = 0; i < 2; i++)
        if (strcmp(json_text_in(head, keys[i]), own[i]) != 0)
            return config_value_error(
                file->privacy, "ledger", error,
                "it is for runs whose list of %s is %s; the list of this run is %s. Who "
                "is "
                "protected by one of them only, their sum does not protect: use the same [data] %s-file key, "
                "or another file",
                keys[i], *json_text_in(head, keys[i]) ? json_text_in(head, keys[i]) : "not stated", own[i],
                keys[i]);
    return 0;
}

static int check_head(const struct file *file, const json_t *line, const struct data_ledger_request *request,
                      struct dpf_error *error)
{
    const struct guarantee *guarantee = request->guarantee;
    json_t *wanted = head_of(request);
    if (!wanted)
        return error_memory(error);
    const int same = json_equal(line, wanted);
    json_decref(wanted);
    if (same)
        return 0;
    if (json_integer_value(json_object_get(line, "dpframe_ledger")) != 1)
        return line_fails(file, 1, "does not identify a dpframe ledger", error);
    if (check_unit(file, line, guarantee, error) != 0)
        return -1;
    if (strcmp(json_text_in(line, "public"), request->declared) != 0)
        return config_value_error(
            file->privacy, "ledger", error,
            "it is for runs that declare %s to be public; this run declares %s. "
            "What one of them does not protect, their sum does not: declare the same, or use "
            "another file",
            *json_text_in(line, "public") ? json_text_in(line, "public") : "nothing",
            *request->declared ? request->declared : "nothing");
    if (check_lists(file, line, request, error) != 0)
        return -1;
    const json_int_t curious = json_integer_value(json_object_get(line, "curious"));
    if (curious != curious_of(guarantee))
        return config_value_error(file->privacy, "ledger", error,
                                  "it is for at most %lld parties that work with the server; this run "
                                  "is for %lld ([privacy] max-curious). Their sum holds for the fewest "
                                  "alone: use the same number, or "
                                  "another file",
                                  (long long)curious, (long long)curious_of(guarantee));
    return line_fails(file, 1, "is not the head of a ledger that this version writes", error);
}

/* Events that are not understood leave the composition unknown. */
static void add_events(struct file *file, const json_t *list)
{
    int64_t n;
    dpf_event *events = events_from_json(list, &n);
    file->lacks_events |= n < 0;
    if (n > 0) {
        file->events =
            memory_need_grow(file->events, &file->capacity, file->n_events + (size_t)n, sizeof *file->events);
        memcpy(file->events + file->n_events, events, (size_t)n * sizeof *events);
        file->n_events += (size_t)n;
    }
    free(events);
}

/* Whether a line resumes the same checkpoint, unbeknownst to this copy of it. */
static int check_resumption(const struct file *file, const json_t *line,
                            const struct data_ledger_resumption *resumption, struct dpf_error *error)
{
    const char *by = json_text_in(line, "resumed_by");
    size_t i;
    json_t *claim;
    if (!resumption || strcmp(json_text_in(line, "resumes"), resumption->process) != 0)
        return 0;
    json_array_foreach((json_t *)(uintptr_t)resumption->claims, i, claim)
    {
        if (strcmp(json_string_value(claim) ? json_string_value(claim) : "", by) == 0)
            return 0;
    }
    return error_set(
        error, DPF_FAULT_CONFIG,
        "--resume: %s was resumed before, at %.32s, as [privacy] ledger = %s says: it is an old copy, and "
        "its "
        "later rounds would be released twice. Nothing is released. Use the results, or the last checkpoint, "
        "of the run that went on from it; to start anew, which is charged again, remove the file",
        resumption->checkpoint, json_text_in(line, "time"), file->path);
}

static int add_line(struct file *file, int64_t number, const char *text, size_t length,
                    const struct data_ledger_request *request, struct data_budget *out,
                    struct dpf_error *error)
{
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    int status = 0;
    if (!json_is_object(line)) {
        status = line_fails(file, number, "is not a JSON object", error);
    } else if (number == 1) {
        status = check_head(file, line, request, error);
    } else {
        const json_t *epsilon = json_object_get(line, "epsilon"), *delta = json_object_get(line, "delta");
        if (!json_is_number(epsilon) || !json_is_number(delta) || !(json_number_value(epsilon) >= 0.0) ||
            !(json_number_value(delta) >= 0.0)) {
            status = line_fails(file, number, "has no epsilon and delta of at least 0", error);
        } else {
            out->epsilon += json_number_value(epsilon);
            out->delta += json_number_value(delta);
            out->runs++;
            out->joint |= json_is_true(json_object_get(line, "joint"));
            add_events(file, json_object_get(line, "events"));
            status = check_resumption(file, line, request->resumption, error);
        }
    }
    json_decref(line);
    return status;
}

static int add_lines(struct file *file, const struct data_ledger_request *request, struct data_budget *out,
                     struct dpf_error *error)
{
    int64_t number = 0;
    for (size_t at = 0; at < file->length;) {
        const size_t length = strcspn(file->text + at, "\n");
        if (add_line(file, ++number, file->text + at, length, request, out, error) != 0)
            return -1;
        at += length + 1;
    }
    return 0;
}

/* The whole line or an error; then it is on the disk. */
static int append(struct file *file, const struct data_ledger_request *request, const struct account *account,
                  struct dpf_error *error)
{
    json_t *head = file->length == 0 ? head_of(request) : NULL, *entry = entry_of(request, account);
    char *first = head ? json_dumps(head, JSON_COMPACT) : NULL;
    char *second = entry ? json_dumps(entry, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    char *text = second ? memory_format("%s%s%s\n", first ? first : "", first ? "\n" : "", second) : NULL;
    int status = text ? 0 : error_memory(error);
    if (status == 0 && ftruncate(file->descriptor, (off_t)file->length) != 0)
        status = file_fails(file, "cannot be written", error);
    const size_t length = text ? strlen(text) : 0;
    for (size_t done = 0; status == 0 && done < length;) {
        const ssize_t wrote =
            pwrite(file->descriptor, text + done, length - done, (off_t)(file->length + done));
        if (wrote < 0 && errno != EINTR)
            status = file_fails(file, "cannot be written", error);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (status == 0 && fsync(file->descriptor) != 0)
        status = file_fails(file, "cannot be synced to the disk", error);
    free(text);
    free(first);
    free(second);
    json_decref(head);
    json_decref(entry);
    return status;
}

/* A new name is on the disk when its directory is. */
static int sync_directory(const struct file *file, struct dpf_error *error)
{
    char *directory = files_directory(file->path);
    const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int status = descriptor >= 0 && fsync(descriptor) == 0
                           ? 0
                           : file_fails(file, "its directory cannot be synced", error);
    if (descriptor >= 0)
        close(descriptor);
    free(directory);
    return status;
}

/* ---- both ---------------------------------------------------------------------------------------- */

/* All releases of all runs, composed. */
static int compose(struct file *file, const struct data_ledger_request *request, struct data_budget *out,
                   struct dpf_error *error)
{
    const struct ledger *own = request->ledger;
    out->composed = NAN;
    if (file->lacks_events)
        return 0;
    file->events = memory_need_grow(file->events, &file->capacity, file->n_events + (size_t)own->n + 1,
                                    sizeof *file->events);
    for (int64_t i = 0; i < own->n; i++)
        file->events[file->n_events++] = own->entries[i].event;
    file->n_events = (size_t)ledger_join_events(file->events, (int64_t)file->n_events);
    if (guarantee_compose(request->guarantee, request->accountants, request->n_accountants, file->events,
                          (int64_t)file->n_events, out->delta + out->own_delta, &out->composed,
                          out->composed_by, error) != 0)
        return -1;
    if (!isfinite(out->composed))
        out->composed = NAN;
    return 0;
}

static int check_limit(const struct file *file, const struct data_budget *b, struct dpf_error *error)
{
    const double sum = b->epsilon + b->own_epsilon,
                 all = (b->planned && b->composed < sum ? b->composed : sum) * (1.0 - 1e-12);
    if (b->most <= 0.0 || all <= b->most)
        return 0;
    if (b->is_party)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "[consent] max-epsilon = %g: %lld earlier run%s of this party %s cost epsilon %.6g; this run "
            "costs %.6g, in total %.6g. Nothing was sent. Raise the limit, or ask the server for a run with "
            "a smaller epsilon",
            b->most, (long long)b->runs, b->runs == 1 ? "" : "s", b->runs == 1 ? "has" : "have", b->epsilon,
            b->own_epsilon, all);
    return config_value_error(
        file->privacy, "max-epsilon", error,
        "%lld run%s spent epsilon = %.6g of it, and this one "
        "asks for %.6g, which is %.6g together%s. Nothing was released. Ask for less (budget = total), "
        "%sor do not train again on this data",
        (long long)b->runs, b->runs == 1 ? " has" : "s have", b->epsilon, b->own_epsilon, all,
        b->planned ? ", composed" : "",
        !b->planned && b->composed <= b->most
            ? "declare that all runs were fixed before the first (ledger-runs = planned) if they were, "
            : "");
}

static int work(struct file *file, const struct data_ledger_request *request, const struct account *account,
                struct data_budget *out, struct dpf_error *error)
{
    while (flock(file->descriptor, request->charge ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR)
            return file_fails(file, "cannot be locked", error);
    if (read_all(file, error) != 0 || add_lines(file, request, out, error) != 0 ||
        compose(file, request, out, error) != 0 || check_limit(file, out, error) != 0)
        return -1;
    if (!request->charge)
        return 0;
    const int is_new = file->length == 0;
    if (append(file, request, account, error) != 0)
        return -1;
    return is_new ? sync_directory(file, error) : 0;
}

/* The first condition that fails, or why no accountant has an answer. */
static int refuse_unproved(const struct data_ledger_request *request, struct dpf_error *error)
{
    const struct guarantee *guarantee = request->guarantee;
    const char *id = "", *why = "";
    for (int i = N_CONDITIONS - 1; i >= 0; i--)
        if (!guarantee->conditions[i].holds) {
            id = guarantee->conditions[i].id;
            why = guarantee->conditions[i].why;
        }
    for (int i = 0; i < guarantee->n_accounts && !*id; i++)
        if (!guarantee->accounts[i].is_claim && !*why)
            why = guarantee->accounts[i].refused ? guarantee->accounts[i].reason
                                                 : guarantee->accounts[i].answer.note;
    const size_t length = strlen(why); /* all of its sentences: the remedies among them */
    return config_value_error(
        request->privacy, "ledger", error,
        "it adds up proved epsilons, but nothing is proved for this run%s%s%s%.*s. "
        "Mend that, or remove ledger; \"dpframe account\" without it has the whole statement",
        *id || *why ? ": " : "", id, *id ? " fails: " : "",
        (int)(length > 0 && why[length - 1] == '.' ? length - 1 : length), why);
}

int data_ledger_open(const struct data_ledger_request *request, struct data_budget *out,
                     struct dpf_error *error)
{
    const struct account *account = statement_least(request->guarantee);
    const int charge = request->charge;
    struct file file = {.privacy = request->privacy, .path = request->path};
    *out = (struct data_budget){.known = 1,
                                .most = request->most,
                                .planned = request->planned,
                                .is_party = request->is_party,
                                .composed = NAN};
    snprintf(out->path, sizeof out->path, "%s", request->path);
    if (!account)
        return refuse_unproved(request, error);
    if (request->guarantee->reproducible)
        return config_value_error(
            request->privacy, "ledger", error,
            "it adds up epsilons of independent noise, but the noise of this run "
            "is reproducible: "
            "another run with the same noise-seed has the same, and whoever knows the seed can "
            "remove it. Set "
            "randomness = secure, or remove ledger");
    out->joint = request->guarantee->joint;
    out->own_epsilon = account->answer.epsilon;
    out->own_delta = account->answer.delta;
    file.descriptor = open(request->path, charge ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
    const int none = file.descriptor < 0 && !charge && errno == ENOENT;
    int status = 0;
    if (none)
        status = compose(&file, request, out, error) != 0 ? -1 : check_limit(&file, out, error);
    else if (file.descriptor < 0)
        status = file_fails(&file, "cannot be opened", error);
    else
        status = work(&file, request, account, out, error);
    if (file.descriptor >= 0)
        close(file.descriptor); /* and the lock with it */
    free(file.text);
    free(file.events);
    return status;
}
