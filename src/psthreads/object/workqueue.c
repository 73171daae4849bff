/* The work-queue: numbered or irregular work, given to threads that ask for it (balder-threads-2004 section 2; the
 * workqueueing model of nthlib-2004 section 3.3). Tasks are descriptors in the ready queues; a counter tells when all
 * have run.
 *
 * Callers: add: any thread; it does not block. wait: a thread that may block; EDEADLK inside a piece of this queue's
 * own work, which would wait for itself. destroy: a thread that knows that no other uses the queue any more. wait
 * returns when it has read 0 from `pending`: everything added before, and what that work added, has run. Other threads
 * that keep adding work can delay wait.
 *
 * Each piece of work is an entry in a list of the queue *and* one detached psthread in the ready queues, its runner.
 * The two are not tied together. A runner takes the oldest entry at the time when it runs. If waiting threads have
 * taken all entries, the runner ends at once. A piece that calls psthread_exit ends there, both in a runner and in a
 * waiting thread: the exit stops at call_entry (exit.h).
 *
 * Failures: ENOMEM in init and add (then nothing was added). Cost of a piece: the creation of a thread that does not
 * block, and four short locks. Rejected: a permanent runner per vp (it would hold a stack, and its work would be in no
 * ready queue, where thieves look). Rejected: one list for both kinds (a runner without a stack could take work that
 * blocks). */
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
    struct ps_spin lock; /* guards the lists, the free entries and the waiters */
    /* [1]: work that may block (stack != 0). Only runners with a stack run it, not waiting threads: a piece may wait
     * for a lock that the waiting thread holds, so it must be a thread of its own.
     * [0]: work that may not block. Runners without a stack run it (nthlib-2004 section 2: work descriptors), and
     * waiting threads run it as calls. If such a piece blocks in a runner, the process aborts with one line; in a
     * waiting thread the error goes unnoticed. */
    struct list todo[2];
    struct entry *free;
    /* A waiter enters under `lock`, after it has read `pending` under the lock. The thread that brings `pending` to 0
     * then takes the lock and removes the waiters. So either the waiter reads 0, or that thread finds the waiter in the
     * list. */
    struct ps_waitq waiters;
    /* add adds 1; a thread that has run an entry subtracts 1 (acq_rel: a thread that reads 0 sees what all work
     * did). */
    PS_LINE_ALIGNED _Atomic size_t pending;
    /* References: one of the creator, one of each runner that has not ended, one of each thread inside wait. The thread
     * that drops the last reference frees the memory. So destroy need not wait for runners that will find no entry. */
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

/* Takes the oldest entry of a kind and runs it. Returns false if there is none. */
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

/* Returns an unused entry, or NULL if there is no memory. */
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

/* Blocks if work is pending and no entry is left that the caller can run. The thread that runs the last piece of work
 * readies the caller. */
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
