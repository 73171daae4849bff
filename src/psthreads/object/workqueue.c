/* The work-queue: numbered or irregular work, handed out to the threads that ask for it (balder-threads-2004 section 2;
 * the workqueueing model of nthlib-2004 section 3.3). Tasks are descriptors in the ready queues, and a counter tells
 * when all have run.
 *
 * Callers: add: any thread; it does not block. wait: a thread that may block; from inside a piece of this queue's work
 * EDEADLK (the piece would wait for itself). destroy: a thread that knows that no other one uses the queue any more.
 * wait returns when pending was seen to be 0: everything added before, and what that added, has run. Work that other
 * threads go on adding can hold it up.
 *
 * Each piece of work is an entry in a list of the queue *and* one detached psthread in the ready queues, its runner;
 * the two are not tied together. A runner takes the oldest entry there is when it comes to run; if none is left,
 * because waiting threads have helped, it ends at once. A piece that calls psthread_exit ends there, in a runner and in
 * a waiting thread alike: the call stops at run_one (exit.h).
 *
 * Failures: ENOMEM in init and add (nothing was added then). Cost of a piece: creating a thread that does not block,
 * and two short locks. Rejected: a runner per vp that stays (it would hold a stack and stand in no queue, invisible to
 * stealing). Rejected: one list for both kinds (a no-stack runner could meet work that blocks). */
#include "check.h"
#include "exit.h"
#include "psthread.h"
#include "race.h"
#include "spin.h"
#include "waitq.h"

#include <errno.h>
#include <stdlib.h>

/* States: free -> queued (add) -> taken by a runner or a waiting thread, under `lock` -> run, and free again. */
struct entry {
    struct entry *next;
    void (*fn)(void *);
    void *arg;
};

struct list {
    struct entry *head, *tail;
};

struct psthread_workqueue {
    struct ps_spin lock; /* of the lists, free entries and waiters */
    /* [1]: work that may block (stack != 0). Runners with a stack run it, and no waiting thread does: a piece that ends
     * by psthread_exit, or waits for a lock of the waiting thread's, must be a thread of its own.
     * [0]: work that may not. Runners without a stack run it (nthlib-2004 section 2: work descriptors), and waiting
     * threads run it as calls. Such a piece that blocks aborts with a line in a runner, but passes unnoticed where a
     * waiting thread happens to run it. */
    struct list todo[2];
    struct entry *free;
    /* A waiter is pushed under `lock` after a look at `pending` under it. It is taken under `lock` by the thread that
     * has brought `pending` to 0. That subtraction comes before its lock: so either the waiter's look sees 0, or the
     * waiter is found in the list. */
    struct ps_waitq waiters;
    /* + 1 by add, - 1 when an entry has run (acquire and release: a thread that sees 0 sees what all work did). */
    PS_LINE_ALIGNED _Atomic size_t pending;
    /* One for the creator, one for each runner that has not ended, one for each thread inside wait. The thread that
     * drops the last one frees the memory; so destroy need not wait for runners that will find nothing to do. */
    _Atomic size_t refs;
};

int psthread_workqueue_init(psthread_workqueue_t *queue)
{
    struct psthread_workqueue *q = aligned_alloc(PS_CACHE_LINE, sizeof(*q));
    if (!q)
        return ENOMEM;
    *q = (struct psthread_workqueue){.refs = 1};
    *queue = q;
    return 0;
}

static void drop_workqueue(struct psthread_workqueue *q)
{
    if (ps_sub_acq_rel(&q->refs, 1) != 1)
        return;
    for (struct entry *e = q->free, *next; e; e = next) {
        next = e->next;
        ps_race_free(e);
    }
    ps_race_free(q);
}

int psthread_workqueue_destroy(psthread_workqueue_t q)
{
    if (ps_load_acquire(&q->pending))
        return EBUSY;
    drop_workqueue(q);
    return 0;
}

static PS_NOINLINE void call_entry(struct psthread_workqueue *q, const struct entry *e)
{
    struct ps_exit here;
    ps_exit_push(&here, q, (uintptr_t)call_entry);
    if (_setjmp(here.jump) == 0) {
        e->fn(e->arg);
        ps_exit_pop(&here);
    }
}

/* Takes the oldest entry of a kind and runs it; false: there is none. */
static bool run_one(struct psthread_workqueue *q, unsigned kind)
{
    ps_spin_lock(&q->lock);
    struct entry *e = q->todo[kind].head;
    if (e)
        q->todo[kind].head = e->next;
    ps_spin_unlock(&q->lock);
    if (!e)
        return false;
    ps_race_acquire(e);
    call_entry(q, e);
    ps_race_release(q);
    ps_spin_lock(&q->lock);
    e->next = q->free;
    q->free = e;
    ps_spin_unlock(&q->lock);
    if (ps_sub_acq_rel(&q->pending, 1) == 1) {
        ps_spin_lock(&q->lock);
        struct ps_waiter *first = ps_waitq_take_all(&q->waiters);
        ps_spin_unlock(&q->lock);
        ps_waiters_ready(first);
    }
    return true;
}

static void *run_without_stack(void *queue)
{
    run_one(queue, 0);
    drop_workqueue(queue);
    return NULL;
}

static void *run_with_stack(void *queue)
{
    run_one(queue, 1);
    drop_workqueue(queue);
    return NULL;
}

/* An unused entry; NULL: no memory. */
static struct entry *entry_get(struct psthread_workqueue *q)
{
    ps_spin_lock(&q->lock);
    struct entry *e = q->free;
    if (e)
        q->free = e->next;
    ps_spin_unlock(&q->lock);
    return e ? e : malloc(sizeof(*e));
}

static void push_todo(struct psthread_workqueue *q, unsigned kind, struct entry *e)
{
    struct list *l = &q->todo[kind];
    e->next = NULL;
    ps_spin_lock(&q->lock);
    if (l->head)
        l->tail->next = e;
    else
        l->head = e;
    l->tail = e;
    ps_spin_unlock(&q->lock);
}

int psthread_workqueue_add(psthread_workqueue_t q, void (*fn)(void *), void *arg, int stack)
{
    psthread_attr_t attr = PSTHREAD_ATTR_DEFAULT;
    psthread_t runner;
    if (!fn)
        return EINVAL;
    struct entry *e = entry_get(q);
    if (!e)
        return ENOMEM;
    attr.flags = PSTHREAD_ATTR_DETACHED | (stack ? 0 : PSTHREAD_ATTR_NOSTACK);
    int error = psthread_create(&runner, &attr, stack ? run_with_stack : run_without_stack, q);
    if (error) {
        free(e);
        return error;
    }
    *e = (struct entry){NULL, fn, arg};
    ps_race_release(e);
    ps_add_relaxed(&q->refs, 1);
    ps_add_relaxed(&q->pending, 1);
    push_todo(q, stack != 0, e);
    error = psthread_enqueue(runner, PSTHREAD_VP_ANY);
    PS_CHECK(error == 0, "psthread_workqueue_add: a runner was refused by its ready queue (error %d)", error);
    return 0;
}

/* Blocks while there is nothing left to help with. Returns when all work has run, or there is something to help with
 * again. */
static void block_until_done(struct psthread_workqueue *q)
{
    struct ps_waiter me = {.thread = ps_self()};
    ps_spin_lock(&q->lock);
    bool wait = ps_load_acquire(&q->pending) != 0 && !q->todo[0].head;
    if (wait)
        ps_waitq_push_back(&q->waiters, &me);
    ps_spin_unlock(&q->lock);
    if (wait)
        ps_block(me.thread, PS_WAIT_WORKQUEUE, q);
}

int psthread_workqueue_wait(psthread_workqueue_t q)
{
    if (ps_exit_inside(q))
        return EDEADLK;
    ps_add_relaxed(&q->refs, 1);
    while (ps_load_acquire(&q->pending) != 0)
        if (!run_one(q, 0))
            block_until_done(q);
    ps_race_acquire(q);
    drop_workqueue(q);
    return 0;
}
