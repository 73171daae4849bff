/* Finding work, and sleeping where there is none.
 *
 * Does: queues ready tasks, finds one that a member may run, puts members that wait to sleep and wakes them. Does not:
 * run or finish a task, know what its body is.
 * Callers: members of the team; ort_task_enqueue(NULL, ..) and the wake functions also threads outside that have pinned
 * the team.
 *
 * Where ready tasks stand. Each member has a deque: it pushes and pops at the bottom, teammates steal at the top. One
 * list a team, under a lock, the *priority queue*, holds those that must not go into a deque: tasks with a priority (in
 * its order, taken before anything else), tasks readied by a thread outside of the team, and tasks for which there was
 * no memory in the deque.
 *
 * Rejected: a deque for each carrier: it would mix the tasks of all teams that pass there, and a member that moves to
 * another carrier between a push and a pop would lose its own; a member is run by one carrier at a time, so its deque
 * has one owner at a time.
 *
 * The tied-task scheduling constraint. A member that waits inside of a task may run descendants of that task only (a
 * task that it runs is itself a descendant of the ones below it on its stack, so asking for the innermost is enough);
 * one that waits in a barrier may run everything. In the own deque the answer is a number: items at or above `base`,
 * the bottom at the time when the running task began, were pushed since by the task or by descendants of it that ran
 * nested, and what these push are their descendants. (A successor that a task readies is its sibling: a child of the
 * task that was below or of a descendant of that one.) Of a victim's item the ancestors are walked, as many as the
 * depths differ. The item may be taken and even finished meanwhile: descriptors stay readable, the walk is bounded by
 * its length, and the answer is thrown away, because the top has moved.
 * Rejected: to let thieves ignore the constraint as libgomp mostly does (a lock held across a taskwait then deadlocks
 * with itself); to run children only (the waiter of a stolen task idles while it could help its thief).
 *
 * Not bounded: tasks that wait for predecessors stand nowhere here, and who makes them may make any number. Rejected:
 * that who has 64 for each member that are not complete runs a ready one first (sparse LU on one processor 6.3 ms to
 * 5.2, bench/NOTES.md): a program that holds a lock while it makes tasks which take it would wait for itself; libgomp
 * runs tasks at once where so many are ready, and not sooner.
 *
 * Sleeping. A member that finds nothing says so (the list `sleeping` and the count `sleepers`), looks once more, then
 * waits on a word of its own. Who makes a task ready pushes it, fences, then reads `sleepers`; who completes what
 * somebody may wait for changes the count, then reads `sleepers`. All four accesses are sequentially consistent (the
 * push by the fence behind it): either the reader sees the sleeper, or the sleeper's second look sees the change. Where
 * a deque is unfenced (deque.h) its owner does not read `sleepers`, nor whether somebody wants to assist: whoever takes
 * a second look, or a last one before it leaves, makes every deque fenced first (find_last), and an owner that becomes
 * unfenced looks for both behind a fence, and is fenced again where there is anybody (become_unfenced). A sleeper is
 * woken for a task only where it may run it, and for a change only where it then finds its wish fulfilled; a waker
 * takes it off the list, so that it is woken once.
 *
 * Shared: tasks.lock guards sleeping, priority and the list fields of ort_wait; sleepers and priority_count are written
 * under it and read without. ort_wait.word: the waker, under the lock; the sleeper reads it.
 * A sleeping member's count.own is read by wakers under the lock, which the member took after its last change.
 * Failures: none. Cost: push: a store; fenced, also a fence and some loads; own pop: fenced, a fence; a failed
 * search: three loads a member. */
#include "cpu.h"
#include "task_internal.h"

#include <limits.h>

/* --- who may run what --- */

static bool is_descendant(struct ort_task *t, const struct ort_task *ancestor)
{
    uint32_t from = ps_load_relaxed(&t->depth), to = ps_load_relaxed(&ancestor->depth);
    if (from <= to)
        return false;
    for (; from > to; from--) {
        t = ps_load_relaxed(&t->parent);
        if (!t)
            return false;
    }
    return t == ancestor;
}

static bool accept_descendant(void *item, void *within) { return is_descendant(item, within); }

/* --- the priority queue --- */

static void priority_insert(struct ort_team *team, struct ort_task *t)
{
    struct ort_task_team *q = &team->tasks;
    ps_spin_lock(&q->lock);
    struct ps_list *at = q->priority.prev;
    while (at != &q->priority && PS_CONTAINER_OF(at, struct ort_task, link)->priority < t->priority)
        at = at->prev;
    ps_list_insert_between(&t->link, at, at->next);
    ps_add_seq(&q->priority_count, 1);
    ps_spin_unlock(&q->lock);
}

PS_NOINLINE static struct ort_task *priority_take(struct ort_team *team, struct ort_task *within)
{
    struct ort_task_team *q = &team->tasks;
    struct ort_task *found = NULL;
    ps_spin_lock(&q->lock);
    for (struct ps_list *at = q->priority.next; at != &q->priority && !found; at = at->next) {
        struct ort_task *t = PS_CONTAINER_OF(at, struct ort_task, link);
        if (!within || is_descendant(t, within))
            found = t;
    }
    if (found) {
        ps_list_remove(&found->link);
        ps_sub_seq(&q->priority_count, 1);
    }
    ps_spin_unlock(&q->lock);
    return found;
}

/* --- finding --- */

PS_NOINLINE static struct ort_task *steal(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    unsigned n = team->n, victim = thread->tasks.seed < n ? thread->tasks.seed : 0;
    for (unsigned i = 0; i < n; i++) {
        struct ort_thread *other = ort_member(team, victim);
        struct ps_deque *d = &other->tasks.deque;
        if (other != thread) {
            struct ort_task *t = ps_deque_steal_if(d, within ? accept_descendant : NULL, within);
            if (t) {
                thread->tasks.seed = victim;
                return t;
            }
        }
        victim = victim + 1 < n ? victim + 1 : 0;
    }
    return NULL;
}

_Atomic bool ort_tasks_in_order;

struct ort_task *ort_task_find(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    if (PS_UNLIKELY(ps_load_seq(&team->tasks.priority_count) != 0)) {
        struct ort_task *t = priority_take(team, within);
        if (t)
            return t;
    }
    struct ps_deque *d = &thread->tasks.deque;
    if (ps_deque_bottom_owner(d) > thread->tasks.base) {
        bool in_order = PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) && thread->task->flags & ORT_TASK_IMPLICIT;
        struct ort_task *t = in_order ? ps_deque_steal_if(d, NULL, NULL) : ps_deque_pop(d);
        if (t)
            return t;
    }
    return team->n > 1 ? steal(thread, within) : NULL;
}

/* The last look before the caller sleeps or leaves: what is pushed from here on is told (`tell`). */
static struct ort_task *find_last(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    ps_fence_seq();
    for (unsigned i = 0; team->n > 1 && i < team->n; i++) {
        struct ps_deque *d = &ort_member(team, i)->tasks.deque;
        if (PS_UNLIKELY(!ps_deque_is_fenced(d)) && ort_member(team, i) != thread)
            ps_deque_fence(d);
    }
    return ort_task_find(thread, within);
}

bool ort_task_any(struct ort_team *team)
{
    if (!ps_load_relaxed(&team->tasks.used))
        return false;
    bool any = ps_load_seq(&team->tasks.priority_count) != 0;
    for (unsigned i = 0; i < team->n && !any; i++)
        any = !ps_deque_seems_empty(&ort_member(team, i)->tasks.deque);
    return any;
}

void ort_task_run_all(struct ort_thread *thread)
{
    /* First as if it were the last time: who makes a task from now on asks for the next one to help. */
    for (struct ort_task *t = find_last(thread, NULL); t != NULL;) {
        ort_task_run(thread, t);
        t = ort_task_find(thread, NULL);
        if (t == NULL)
            t = find_last(thread, NULL);
    }
}

/* --- sleeping --- */

static bool satisfied(struct ort_team *team, const struct ort_wait *w)
{
    switch (w->kind) {
    case ORT_WAIT_CHILDREN:
        return (uint32_t)ort_count_total(&((struct ort_task *)w->object)->count) == 0;
    case ORT_WAIT_SUBTREE:
        return ort_count_total(&((struct ort_task *)w->object)->count) == 0;
    case ORT_WAIT_GROUP:
        return ort_count_total(&((struct ort_taskgroup *)w->object)->count) == 0;
    case ORT_WAIT_NODE:
        return ort_depend_node_satisfied(w->object);
    case ORT_WAIT_EVENT:
        return ps_load_seq(&((struct ort_task *)w->object)->event) & ORT_EVENT_FULFILLED;
    case ORT_WAIT_BARRIER:
        return ee_barrier_phase(&team->ee) != w->phase;
    case ORT_WAIT_BARRIER_CANCEL:
        return ps_load_seq(&team->tasks.barrier_phase) != w->phase ||
               (ps_load_seq(&team->tasks.cancelled) & ORT_CANCELLED_REGION);
    }
    return true;
}

static void wake_locked(struct ort_team *team, struct ort_wait *w)
{
    ps_list_remove(&w->link);
    ps_sub_relaxed(&team->tasks.sleepers, 1);
    /* The sleeper's stack is its own again once it reads 1: only the address is used after that. */
    _Atomic uint32_t *word = &w->word;
    ps_store_release(word, 1);
    ee_wake(word, 1);
}

/* Wakes one that may run t. False: there is none. */
static bool wake_for_task(struct ort_team *team, struct ort_task *t)
{
    bool woken = false;
    ps_spin_lock(&team->tasks.lock);
    for (struct ps_list *at = team->tasks.sleeping.next; at != &team->tasks.sleeping; at = at->next) {
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        if (!w->within || is_descendant(t, w->within)) {
            wake_locked(team, w);
            woken = true;
            break;
        }
    }
    ps_spin_unlock(&team->tasks.lock);
    return woken;
}

PS_NOINLINE static void wake_satisfied(struct ort_team *team, const void *object)
{
    ps_spin_lock(&team->tasks.lock);
    struct ps_list *next;
    for (struct ps_list *at = team->tasks.sleeping.next; at != &team->tasks.sleeping; at = next) {
        next = at->next;
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        if (w->object == object && satisfied(team, w))
            wake_locked(team, w);
    }
    ps_spin_unlock(&team->tasks.lock);
}

void ort_task_wake_object(struct ort_team *team, const void *object)
{
    if (PS_UNLIKELY(ps_load_seq(&team->tasks.sleepers) != 0))
        wake_satisfied(team, object);
}

void ort_task_wake_barrier(struct ort_team *team)
{
    /* The phase is the entities' word, of which only an acquire order is known. */
    ps_fence_seq();
    ort_task_wake_object(team, NULL);
}

/* Says that the caller sleeps, looks again, sleeps. A task found in the second look is returned. [switches] */
static struct ort_task *sleep_for(struct ort_thread *thread, struct ort_wait *w)
{
    struct ort_team *team = thread->team;
    ps_store_relaxed(&w->word, 0);
    ps_spin_lock(&team->tasks.lock);
    ps_list_push_back(&team->tasks.sleeping, &w->link);
    ps_add_seq(&team->tasks.sleepers, 1);
    ps_spin_unlock(&team->tasks.lock);
    struct ort_task *t = NULL;
    if (satisfied(team, w) || (t = find_last(thread, w->within)) != NULL) {
        ps_spin_lock(&team->tasks.lock);
        if (ps_load_relaxed(&w->word) == 0) {
            ps_list_remove(&w->link);
            ps_sub_relaxed(&team->tasks.sleepers, 1);
        }
        ps_spin_unlock(&team->tasks.lock);
        return t;
    }
    while (ps_load_acquire(&w->word) == 0)
        ee_wait(&w->word, 0);
    return NULL;
}

/* Searches in vain before a member sleeps, where each can have a carrier of its own. */
#define PATIENCE 64

void ort_task_wait(struct ort_thread *thread, struct ort_wait *w)
{
    struct ort_team *team = thread->team;
    unsigned patience = team->n > 1 && team->n <= ee_num_vps() ? PATIENCE : 0, failed = 0;
    while (!satisfied(team, w)) {
        struct ort_task *t = ort_task_find(thread, w->within);
        if (!t && failed++ < patience) {
            cpu_pause();
            continue;
        }
        if (!t)
            t = sleep_for(thread, w);
        if (t) {
            ort_task_run(thread, t);
            failed = 0;
        }
    }
}

/* --- making ready --- */

/* The first task of a region: members that wait in the barrier shall wait here instead. */
PS_NOINLINE static void first_task(struct ort_team *team)
{
    if (ps_xchg_acq_rel(&team->tasks.used, 1) == 0)
        ee_team_interrupt(&team->ee);
}

/* Nobody has robbed thread's deque lately: then nobody needs to be told, unless somebody sleeps, or is about to
 * leave. */
static void become_unfenced(struct ort_thread *thread, struct ort_team *team)
{
    struct ps_deque *d = &thread->tasks.deque;
    bool alone = team->n == 1;
    if (!alone && ps_load_relaxed(&team->tasks.sleepers) != 0)
        return;
    ps_store_relaxed(&team->tasks.unfenced, 1);
    ps_store_relaxed(&team->tasks.used, 1);
    ps_deque_unfence_owner(d);
    if (!alone && (ps_load_seq(&team->tasks.sleepers) != 0 || !ee_team_nobody_to_ask(&team->ee)))
        ps_deque_fence_owner(d);
}

/* t may be taken by anybody by now, and gone: its memory is a task's still. */
static void tell(struct ort_thread *thread, struct ort_team *team, struct ort_task *t)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&team->tasks.used)) && team->n > 1)
        first_task(team);
    ps_fence_seq();
    if (PS_UNLIKELY(ps_load_seq(&team->tasks.sleepers) != 0) && wake_for_task(team, t))
        return;
    /* A thread outside is no member, and asks for no assistance: those who wait for its task sleep in the list. */
    if (thread)
        ee_team_assist(&team->ee);
}

PS_NOINLINE void ort_task_pushed_fenced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = thread->team;
    struct ps_deque *d = &thread->tasks.deque;
    if (PS_UNLIKELY(!ps_deque_is_fenced(d)))
        ps_deque_fence_owner(d);
    if (team->n > 1)
        tell(thread, team, t);
    if (PS_UNLIKELY(ps_deque_calm_owner(d)))
        become_unfenced(thread, team);
}

void ort_task_enqueue(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = t->team;
    if (PS_UNLIKELY(!thread || t->priority > 0) || PS_UNLIKELY(!ps_deque_push(&thread->tasks.deque, t))) {
        priority_insert(team, t);
        if (team->n > 1 || !thread)
            tell(thread, team, t);
        return;
    }
    ort_task_pushed(thread, t);
}
