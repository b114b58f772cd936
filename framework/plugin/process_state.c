/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/process_state.h"

#include <dirent.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"

/* Rounding, flush-to-zero and exception masks of the unit that float and double are computed in. */
static uint32_t float_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr() & ~UINT32_C(0x3f);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control;
#else
    return (uint32_t)fegetround();
#endif
}

static uint32_t float_control_x87(void)
{
#if defined(__x86_64__)
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
#else
    return 0;
#endif
}

static mode_t current_mask(void)
{
    mode_t mask = umask(077);
    umask(mask);
    return mask;
}

static char *current_directory(void)
{
    char path[4096];
    return memory_text(getcwd(path, sizeof path) ? path : "");
}

void process_state_save(struct process_state *state)
{
    memset(state, 0, sizeof *state);
    fegetenv(&state->environment);
    state->float_control = float_control();
    state->float_control_x87 = float_control_x87();
    state->mask = current_mask();
    for (int i = 1; i < PROCESS_STATE_SIGNALS; i++)
        state->signal_known[i] = sigaction(i, NULL, &state->signals[i]) == 0;
    const char *locale = setlocale(LC_ALL, NULL);
    state->locale = memory_text(locale ? locale : "C");
    state->directory = current_directory();
}

static void add(struct text *differences, int *n, const char *name)
{
    text_add(differences, "%s%s", *n ? ", " : "", name);
    (*n)++;
}

/* Flags that the kernel or libc sets on its own (SA_RESTORER) are left out. */
/* A signal that the user has sent took its own handler away (base/interrupt.h). */
static int is_taken(int number)
{
    return interrupt_is_wanted() && (number == SIGINT || number == SIGTERM);
}

static int same_action(const struct sigaction *a, const struct sigaction *b)
{
    const int flags = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
    return a->sa_handler == b->sa_handler && (a->sa_flags & flags) == (b->sa_flags & flags);
}

static int has_changed(const struct process_state *state, int number)
{
    struct sigaction now;
    return !is_taken(number) && state->signal_known[number] && sigaction(number, NULL, &now) == 0 &&
           !same_action(&now, &state->signals[number]);
}

int process_state_compare(const struct process_state *state, struct text *differences)
{
    int n = 0;
    if (float_control() != state->float_control || float_control_x87() != state->float_control_x87)
        add(differences, &n, "the floating-point environment");
    const char *locale = setlocale(LC_ALL, NULL);
    if (!locale || strcmp(locale, state->locale) != 0)
        add(differences, &n, "the locale");
    for (int i = 1; i < PROCESS_STATE_SIGNALS; i++)
        if (has_changed(state, i)) {
            add(differences, &n, "signal handlers");
            break;
        }
    if (current_mask() != state->mask)
        add(differences, &n, "the umask");
    char path[4096];
    if (strcmp(getcwd(path, sizeof path) ? path : "", state->directory) != 0)
        add(differences, &n, "the current directory");
    return n;
}

void process_state_restore(const struct process_state *state)
{
    fesetenv(&state->environment);
    setlocale(LC_ALL, state->locale);
    umask(state->mask);
    for (int i = 1; i < PROCESS_STATE_SIGNALS; i++)
        if (has_changed(state, i))
            sigaction(i, &state->signals[i], NULL);
    if (state->directory[0] && chdir(state->directory) != 0)
        log_message(LOG_LEVEL_WARNING, "cannot go back to directory %s", state->directory);
}

void process_state_free(struct process_state *state)
{
    free(state->locale);
    free(state->directory);
    state->locale = NULL;
    state->directory = NULL;
}

int process_state_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    if (!directory)
        return -1;
    int n = 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}
