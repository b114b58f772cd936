/* SPDX-License-Identifier: Apache-2.0 */
/* prctl is Linux's own. */
#define _GNU_SOURCE
#include "run/jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"

struct running {
    pid_t pid; /* 0: free */
    size_t job;
    double started;
};

struct queue {
    const struct jobs *jobs;
    struct running *slots;
    size_t next, n_running;
    int interrupts;
    sigset_t watched, before;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void signal_all(const struct queue *queue, int number)
{
    for (int s = 0; s < queue->jobs->at_once; s++)
        if (queue->slots[s].pid)
            kill(queue->slots[s].pid, number);
}

_Noreturn static void be_job(const struct queue *queue, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(DPF_FAULT_RUN); /* it was gone before we asked */
    sigprocmask(SIG_SETMASK, &queue->before, NULL);
    int code = queue->jobs->work(queue->jobs->context, queue->next);
    fflush(NULL);
    _exit(code);
}

static int start(struct queue *queue, struct dpf_error *error)
{
    struct running *slot = queue->slots;
    while (slot->pid)
        slot++;
    if (queue->jobs->before)
        queue->jobs->before(queue->jobs->context, queue->next);
    fflush(NULL); /* or the job would write it once more */
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return error_set(error, DPF_FAULT_RUN, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        be_job(queue, parent);
    *slot = (struct running){pid, queue->next++, now()};
    queue->n_running++;
    return 0;
}

static void reap(struct queue *queue)
{
    for (int s = 0; s < queue->jobs->at_once; s++) {
        struct running *slot = &queue->slots[s];
        int status;
        /* By its number: other children of the process are not ours. */
        if (!slot->pid || waitpid(slot->pid, &status, WNOHANG) != slot->pid)
            continue;
        int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (queue->interrupts && ended != 0)
            ended = JOB_INTERRUPTED;
        slot->pid = 0;
        queue->n_running--;
        queue->jobs->after(queue->jobs->context, slot->job, ended, now() - slot->started);
    }
}

/* Signals are blocked and taken here one by one, so that none falls between a check and a sleep. */
static void wait_a_little(struct queue *queue)
{
    const struct timespec pause = {0, 250000000};
    int number = sigtimedwait(&queue->watched, NULL, &pause);
    if (number == SIGINT || number == SIGTERM) {
        interrupt_note(number);
        queue->interrupts++;
        signal_all(queue, queue->interrupts == 1 ? SIGTERM : SIGKILL);
    }
}

static int run_queue(struct queue *queue, struct dpf_error *error)
{
    const struct jobs *jobs = queue->jobs;
    int status = 0;
    for (;;) {
        while (status == 0 && !queue->interrupts && queue->next < jobs->n &&
               queue->n_running < (size_t)jobs->at_once)
            status = start(queue, error);
        if (queue->n_running == 0)
            break;
        wait_a_little(queue);
        reap(queue);
        if (jobs->tick)
            jobs->tick(jobs->context, queue->n_running);
    }
    return status != 0 ? -1 : queue->interrupts > 0;
}

int jobs_run(const struct jobs *jobs, struct dpf_error *error)
{
    struct queue queue = {.jobs = jobs, .interrupts = interrupt_is_wanted()};
    queue.slots = memory_need((size_t)jobs->at_once, sizeof *queue.slots);
    sigemptyset(&queue.watched);
    sigaddset(&queue.watched, SIGINT);
    sigaddset(&queue.watched, SIGTERM);
    sigaddset(&queue.watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &queue.watched, &queue.before);
    int status = run_queue(&queue, error);
    sigprocmask(SIG_SETMASK, &queue.before, NULL);
    free(queue.slots);
    return status;
}
