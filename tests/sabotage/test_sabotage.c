/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components that are spoilt on purpose, and the conformance kit: the rule that is about the fault fails. The other
 * catchers are in test_sabotage_pipeline, which is slow; docs/sabotage.md has the table of all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kit/test.h"
#include "saboteurs.h"

/* Parameters of an instance with which the fault shows: messages are summed by a curator, bounds are not far away. */
static const char *settings_of(const struct saboteur *s)
{
    if (s->role == MECHANISM && strcmp(s->file, "short_shares") != 0)
        return "--set where=sum --set trials=512";
    return "--set clip-error=0.5 --set rate=0.3 --set radius=10";
}

TEST(the_rule_fails)
{
    static char output[1 << 16];
    for (size_t i = 0; i < N_SABOTEURS; i++) {
        const struct saboteur *s = &saboteurs[i];
        char command[4096];
        if (!(s->by & KIT))
            continue;
        snprintf(command, sizeof command, "'%s' '%s/%s.so' --json --component %s --rule %s %s 2>/dev/null",
                 CHECK_COMMAND, SABOTAGE_DIR, s->file, s->component, s->rule, settings_of(s));
        FILE *stream = popen(command, "r");
        assert_non_null(stream);
        output[fread(output, 1, sizeof output - 1, stream)] = '\0';
        const int status = pclose(stream);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) != 1 || !strstr(output, "\"outcome\": \"fail\""))
            fail_msg("%s: rule %s does not fail: %s", s->component, s->rule, output);
    }
}

/* ---- the document --------------------------------------------------------------------------------------- */

static char document[1 << 16];

/* The line of a component, or NULL. */
static char *line_of(const char *component)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "(`%s`)", component);
    char *at = strstr(document, wanted);
    return at ? at + strlen(wanted) : NULL;
}

/* Column by column what the table of this test says. */
static void judge_line(const struct saboteur *s, char *at)
{
    for (int c = 0; c < N_CATCHERS; c++) {
        at = strchr(at, '|');
        assert_non_null(at);
        const char *end = strchr(++at, '|');
        assert_non_null(end);
        const int said = memchr(at, 'y', (size_t)(end - at)) != NULL;
        if (said != (s->by >> c & 1))
            fail_msg("docs/sabotage.md, line of %s: column %d is not as the test has it", s->component,
                     c + 2);
    }
}

TEST(the_document_says_so)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/sabotage.md", getenv("DPFRAME_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    document[fread(document, 1, sizeof document - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < N_SABOTEURS; i++) {
        char *line = line_of(saboteurs[i].component);
        if (!line)
            fail_msg("docs/sabotage.md has no line for %s", saboteurs[i].component);
        else
            judge_line(&saboteurs[i], line);
        int catchers = 0;
        for (int c = 0; c < N_CATCHERS; c++)
            catchers += saboteurs[i].by >> c & 1;
        if (catchers < 2)
            fail_msg("%s has one catcher alone", saboteurs[i].component);
    }
}
