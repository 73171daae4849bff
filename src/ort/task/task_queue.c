/* Finding work, and sleeping where there is none.
 *
 * Does: queues ready tasks, finds one that a member may run, puts members that wait to sleep and wakes them, keeps
 * members that have returned and lends them. Does not: run a task (task_wait.c has the loops that do), finish it, know
 * what its body is, or how a member that was lent comes to run (ee.h).
 * Callers: members of the team; ort_task_enqueue(NULL, ..) and the wake functions also threads outside that have pinned
 * the team.
 *
 * Where ready tasks stand. Each member has a deque: it pushes and pops at the bottom, teammates steal at the top. Each
 * team has one list more, under a lock: the *priority queue*. The priority queue holds the tasks that must not go into
 * a deque. Such tasks are: tasks with a priority (taken in its order, before anything else), tasks readied by a thread
 * outside of the team, and tasks for which the deque had no memory.
 *
 * Rejected: a deque for each carrier. A carrier's deque would mix the tasks of all teams that pass there, and a member
 * that moves to another carrier between a push and a pop would lose its own tasks. A member's deque has one owner at a
 * time, because one carrier at a time runs the member.
 *
 * The tied-task scheduling constraint. A member that waits inside of a task may run descendants of that task only. A
 * member that waits in a barrier may run everything. Only the innermost task counts: it is a descendant of the tasks
 * below it on the stack. In the member's own deque the answer is a number. `base` is the bottom of the deque when the
 * running task began. Items at or above `base` were pushed later, by the task or by descendants of it that ran nested;
 * so they are descendants as well. (A successor that a task readies is its sibling: a child of the task that was below
 * or of a descendant of that one.) For an item of a victim's deque the thief walks up the item's ancestors, as many as
 * the depths differ. Another member may take the item meanwhile, and even finish it. The walk does no harm then:
 * descriptors stay readable, the number of steps is fixed before, and the thief drops the answer because the top has
 * moved.
 * Rejected: to let thieves ignore the constraint as libgomp mostly does (a lock held across a taskwait then deadlocks
 * with itself). Rejected: to run children only (the waiter of a stolen task idles while it could help its thief).
 *
 * Not bounded: tasks that wait for predecessors are in no queue, and a task may make any number of them. Rejected: a
 * limit of 64 incomplete tasks for each member, above which the creator first runs a ready one (sparse LU on one
 * processor: 5.2 ms instead of 6.3, bench/NOTES.md). A program may hold a lock while it makes tasks that take this
 * lock; it would then wait for itself. libgomp has such a limit, but for ready tasks only.
 *
 * Sleeping. A member that finds nothing says so (the list `sleeping`, counted in `sleepers` and `takers`), looks once
 * more, then waits on a word of its own. A thread that makes a task ready pushes it, makes a fence, then reads
 * `takers`. A thread that completes something changes its count, then reads `sleepers`. All four accesses are
 * sequentially consistent (the push by the fence behind it): either the reader sees the sleeper, or the sleeper's
 * second look sees the change. The owner of an unfenced deque (deque.h) does not read `takers`. So a member makes every
 * other deque fenced before its second look (fence_others). An owner whose deque becomes unfenced reads `takers` behind
 * a fence, and makes the deque fenced again if it finds a taker (become_unfenced). A sleeper is woken for a task only
 * if it may run the task, and for a change only if what it waits for is then fulfilled. The waker takes the sleeper off
 * the list, so a sleeper is woken once.
 *
 * No other member is told of a task for which a sleeper was woken, and the sleeper may not take the task. What it waits
 * for may be fulfilled before it runs again, or its second look may have found another task. Then it goes on in the
 * program's code, where it may wait for that very task. So the waker writes the task into the sleeper's wait (`told`).
 * A sleeper that leaves while this task is still in its queue tells the next sleeper of the task (leave_sleep). The
 * second look ends only when there is no task that the member could take: a steal that loses its race says nothing
 * about the tasks behind the lost one (look_surely). tests/models/task_sleep.pml has this.
 * Limit: a member inside of a task sees of a victim's deque the oldest task alone. So the member may sleep although the
 * deque has a younger task that it may run. The members that may run the oldest one have been told of that.
 *
 * Free members. A member whose body has returned may run every task of the team, and no thread waits for it. When the
 * region has tasks the member's identity comes here (ort_task_idle; ee.h says when), and stands in the list `free`,
 * counted in `takers`. The protocol is the same: the identity enters the list, then its last holder looks once more in
 * its name. A task for which no sleeper wakes lends the first free member: it leaves the list, and the entities call
 * ort_task_assist for it. One member at a time is lent. `coming` is set under the lock, from the lending until the
 * member is about to look. Meanwhile no other member is lent. A thread that has pushed a task and finds `coming` set
 * may leave it so: the member takes the lock later than this thread, looks after that, and sees the task. A member that
 * looks because its body has returned leaves `coming` set. Else a member would be lent for the next member's first task
 * as well, and so for each member of a large team. A member that sees a task at its second look takes itself back,
 * unless it was lent meanwhile, or one is coming, which sees that task. So one member is told of a region's first task,
 * however many are free. tests/models/team_join.pml has this, together with the ways by which the entities tell of a
 * free member.
 *
 * Shared: tasks.lock guards sleeping, free, coming, priority and the list fields of ort_wait; sleepers, takers and
 * priority_count are written under it and read without. ort_wait.word and told: the waker, under the lock, word last
 * (release); the sleeper reads word (acquire), or takes the lock.
 * A sleeping member's count.own is read by wakers under the lock, which the member took after its last change.
 * Failures: none. Cost: push: a store; fenced, also a fence and some loads; own pop: fenced, a fence; a failed
 * search: three loads a member. */
#include "depend_node.h"

#include <limits.h>

/* --- which member may run which task --- */

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

static void priority_insert_locked(struct ort_team *team, struct ort_task *t)
{
    struct ort_task_team *q = &team->tasks;
    struct ps_list *at = q->priority.prev;
    while (at != &q->priority && PS_CONTAINER_OF(at, struct ort_task, link)->priority < t->priority)
        at = at->prev;
    ps_list_insert_between(&t->link, at, at->next);
    ps_add_seq(&q->priority_count, 1);
}

static void priority_insert(struct ort_team *team, struct ort_task *t)
{
    ps_spin_lock(&team->tasks.lock);
    priority_insert_locked(team, t);
    ps_spin_unlock(&team->tasks.lock);
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
    struct ort_task_member *own = ort_tasks_or_none(thread);
    unsigned n = team->n, seed = ort_absent(own) ? thread->id : own->seed, victim = seed < n ? seed : 0;
    for (unsigned i = 0; i < n; i++) {
        struct ort_thread *other = ort_member(team, victim);
        struct ort_task_member *its = ort_tasks_or_none(other);
        if (other != thread && !ort_absent(its)) {
            struct ort_task *t = ps_deque_steal_if(&its->deque, within ? accept_descendant : NULL, within);
            if (t) {
                ort_tasks(thread)->seed = victim;
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
    struct ort_task_member *own = ort_tasks_or_none(thread);
    if (!ort_absent(own) && ps_deque_bottom_owner(&own->deque) > own->base) {
        struct ps_deque *d = &own->deque;
        bool in_order = PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) && thread->task->flags & ORT_TASK_IMPLICIT;
        struct ort_task *t = in_order ? ps_deque_steal_if(d, NULL, NULL) : ps_deque_pop(d);
        if (t)
            return t;
    }
    return team->n > 1 ? steal(thread, within) : NULL;
}

/* Before the last look in the name of thread, which is in a list: what others push from here on is told (`tell`). */
static void fence_others(const struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    ps_fence_seq();
    for (unsigned i = 0; team->n > 1 && i < team->n; i++) {
        struct ort_task_member *its = ort_tasks_or_none(ort_member(team, i));
        if (!ort_absent(its) && PS_UNLIKELY(!ps_deque_is_fenced(&its->deque)) && ort_member(team, i) != thread)
            ps_deque_fence(&its->deque);
    }
}

bool ort_task_any(struct ort_team *team)
{
    if (!ps_load_relaxed(&team->tasks.used))
        return false;
    bool any = ps_load_seq(&team->tasks.priority_count) != 0;
    for (unsigned i = 0; i < team->n && !any; i++) {
        struct ort_task_member *its = ort_tasks_or_none(ort_member(team, i));
        any = !ort_absent(its) && !ps_deque_seems_empty(&its->deque);
    }
    return any;
}

/* --- sleeping --- */

bool ort_wait_is_over(struct ort_team *team, const struct ort_wait *w)
{
    switch (w->kind) {
    case ORT_WAIT_CHILDREN:
        return (uint32_t)ort_count_total(&((struct ort_task *)w->object)->count) == 0;
    case ORT_WAIT_SUBTREE:
        return ort_count_total(&((struct ort_task *)w->object)->count) == 0;
    case ORT_WAIT_GROUP:
        return ort_count_total(&((struct ort_taskgroup *)w->object)->count) == 0;
    case ORT_WAIT_NODE:
        return ort_depend_node_is_ready(w->object);
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

static void leave_sleeping_locked(struct ort_team *team, struct ort_wait *w)
{
    ps_list_remove(&w->link);
    ps_sub_relaxed(&team->tasks.sleepers, 1);
    ps_sub_relaxed(&team->tasks.takers, 1);
}

/* For task t; NULL: its wish is fulfilled. */
static void wake_locked(struct ort_team *team, struct ort_wait *w, struct ort_task *t)
{
    leave_sleeping_locked(team, w);
    w->told = t;
    /* The sleeper's stack is its own again once it reads 1: only the address is used after that. */
    _Atomic uint32_t *word = &w->word;
    ps_store_release(word, 1);
    ee_wake(word, 1);
}

/* Wakes one that may run t. False: there is none. */
static bool wake_for_task_locked(struct ort_team *team, struct ort_task *t)
{
    for (struct ps_list *at = team->tasks.sleeping.next; at != &team->tasks.sleeping; at = at->next) {
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        if (!w->within || is_descendant(t, w->within)) {
            wake_locked(team, w, t);
            return true;
        }
    }
    return false;
}

PS_NOINLINE static void wake_satisfied(struct ort_team *team, const void *object)
{
    ps_spin_lock(&team->tasks.lock);
    struct ps_list *next;
    for (struct ps_list *at = team->tasks.sleeping.next; at != &team->tasks.sleeping; at = next) {
        next = at->next;
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        if (w->object == object && ort_wait_is_over(team, w))
            wake_locked(team, w, NULL);
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

static void leave_free_locked(struct ort_team *team, struct ort_thread *m)
{
    ps_list_remove(ort_free_link(m));
    ps_sub_relaxed(&team->tasks.takers, 1);
    if (m->id != 0) /* that one may have to wait for its carrier */
        team->tasks.coming = ort_tasks(m)->comes = true;
}

/* A free member that is to be lent; NULL: there is none, or one is coming. */
static struct ort_thread *take_free_locked(struct ort_team *team)
{
    struct ort_task_team *q = &team->tasks;
    if (q->coming || ps_list_empty(&q->free))
        return NULL;
    struct ort_thread *m = ort_of_free_link(q->free.next);
    leave_free_locked(team, m);
    return m;
}

/* A sleeper or a free member is told of t. */
PS_NOINLINE static void tell_taker(struct ort_team *team, struct ort_task *t)
{
    struct ort_thread *lent = NULL;
    ps_spin_lock(&team->tasks.lock);
    if (!wake_for_task_locked(team, t))
        lent = take_free_locked(team);
    ps_spin_unlock(&team->tasks.lock);
    if (lent != NULL)
        ee_team_lend(&team->ee, lent->id);
}

/* Some task stands where ort_task_find would take it. */
static bool stands(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    for (unsigned i = 0; i < team->n; i++) {
        struct ort_thread *other = ort_member(team, i);
        struct ort_task_member *its = ort_tasks_or_none(other);
        struct ort_task *t = ort_absent(its) ? NULL : ps_deque_peek(&its->deque);
        if (t &&
            (other == thread ? ps_deque_bottom_owner(&its->deque) > its->base : !within || is_descendant(t, within)))
            return true;
    }
    return false;
}

/* A task that the member may run; NULL: there was none. Each turn another member has taken one. */
static struct ort_task *look_surely(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_task *t;
    do
        t = ort_task_find(thread, within);
    while (!t && stands(thread, within));
    return t;
}

/* False: t, of which the caller was told, has been taken. */
static bool may_stand(struct ort_team *team, const struct ort_task *t)
{
    bool may = ps_load_seq(&team->tasks.priority_count) != 0;
    for (unsigned i = 0; i < team->n && !may; i++) {
        struct ort_task_member *its = ort_tasks_or_none(ort_member(team, i));
        may = !ort_absent(its) && ps_deque_may_hold(&its->deque, t);
    }
    return may;
}

static void end_sleep(struct ort_team *team, struct ort_wait *w)
{
    if (ps_load_acquire(&w->word) == 0) {
        ps_spin_lock(&team->tasks.lock);
        if (ps_load_relaxed(&w->word) == 0)
            leave_sleeping_locked(team, w);
        ps_spin_unlock(&team->tasks.lock);
    }
}

/* The caller is no sleeper any more; t: what it has found. The task that it goes on with. */
static struct ort_task *leave_sleep(struct ort_thread *thread, struct ort_wait *w, struct ort_task *t)
{
    struct ort_team *team = thread->team;
    end_sleep(team, w);
    struct ort_task *told = w->told;
    if (told == NULL)
        return t;
    if (t == NULL && !ort_wait_is_over(team, w))
        t = look_surely(thread, w->within);
    if (t != told && (t != NULL || ort_wait_is_over(team, w)) && may_stand(team, told))
        tell_taker(team, told); /* if it is gone that member looks in vain */
    return t;
}

struct ort_task *ort_task_sleep(struct ort_thread *thread, struct ort_wait *w)
{
    struct ort_team *team = thread->team;
    ps_store_relaxed(&w->word, 0);
    w->told = NULL;
    ps_spin_lock(&team->tasks.lock);
    ps_list_push_back(&team->tasks.sleeping, &w->link);
    ps_add_seq(&team->tasks.sleepers, 1);
    ps_add_seq(&team->tasks.takers, 1);
    ps_spin_unlock(&team->tasks.lock);
    struct ort_task *t = NULL;
    bool stays = !ort_wait_is_over(team, w);
    if (stays) {
        fence_others(thread);
        t = look_surely(thread, w->within);
        stays = t == NULL;
    }
    while (stays && ps_load_acquire(&w->word) == 0)
        ee_wait(&w->word, 0);
    return leave_sleep(thread, w, t);
}

/* --- free members --- */

static bool is_coming(struct ort_team *team)
{
    ps_spin_lock(&team->tasks.lock);
    bool coming = team->tasks.coming;
    ps_spin_unlock(&team->tasks.lock);
    return coming;
}

bool ort_task_idle(struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    struct ort_task_team *q = &team->tasks;
    struct ps_list *link = ort_free_link(thread);
    ps_spin_lock(&q->lock);
    if (thread->id == 0)
        ps_list_push_back(&q->free, link);
    else
        ps_list_push_front(&q->free, link); /* what was used last is lent first */
    ps_add_seq(&q->takers, 1);
    ps_spin_unlock(&q->lock);
    fence_others(thread);
    if (is_coming(team) || !ort_task_any(team))
        return false;
    ps_spin_lock(&q->lock);
    bool again = ps_list_linked(link) && !q->coming;
    if (again)
        leave_free_locked(team, thread);
    ps_spin_unlock(&q->lock);
    return again;
}

PS_NOINLINE bool ort_task_ask(struct ort_team *team)
{
    if (ps_load_seq(&team->tasks.takers) == 0)
        return false;
    ps_spin_lock(&team->tasks.lock);
    struct ort_thread *lent = take_free_locked(team);
    bool comes = lent != NULL || team->tasks.coming;
    ps_spin_unlock(&team->tasks.lock);
    if (lent != NULL)
        ee_team_lend(&team->ee, lent->id);
    return comes;
}

/* --- making ready --- */

/* The first task of a region: members that wait in the barrier shall wait here instead, and those that have returned
 * are free. */
PS_NOINLINE static void first_task(struct ort_team *team)
{
    if (ps_xchg_acq_rel(&team->tasks.used, 1) == 0)
        ee_team_notify(&team->ee);
}

/* No member has robbed thread's deque lately: then none needs to be told, unless one sleeps or is free. */
static void become_unfenced(struct ort_thread *thread, struct ort_team *team)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    bool alone = team->n == 1;
    if (!alone && ps_load_relaxed(&team->tasks.takers) != 0)
        return;
    ps_store_relaxed(&team->tasks.unfenced, 1);
    ps_store_relaxed(&team->tasks.used, 1);
    ps_deque_unfence_owner(d);
    if (!alone && ps_load_seq(&team->tasks.takers) != 0)
        ps_deque_fence_owner(d);
}

/* By a thread outside of the team. Until t can be taken it keeps the region open. So a member is lent before that, and
 * looks when the lock is free again. */
PS_NOINLINE static void enqueue_from_outside(struct ort_team *team, struct ort_task *t)
{
    struct ort_task_team *q = &team->tasks;
    ps_spin_lock(&q->lock);
    bool slept = false;
    for (struct ps_list *at = q->sleeping.next; at != &q->sleeping && !slept; at = at->next) {
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        slept = !w->within || is_descendant(t, w->within);
    }
    struct ort_thread *lent = slept ? NULL : take_free_locked(team);
    if (lent != NULL)
        ee_team_lend(&team->ee, lent->id);
    priority_insert_locked(team, t);
    if (slept)
        wake_for_task_locked(team, t);
    ps_spin_unlock(&q->lock);
}

/* t may be taken by any member by now, and gone: its memory is a task's still. */
static void tell(struct ort_team *team, struct ort_task *t)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&team->tasks.used)) && team->n > 1)
        first_task(team);
    ps_fence_seq();
    if (PS_UNLIKELY(ps_load_seq(&team->tasks.takers) != 0))
        tell_taker(team, t);
}

PS_NOINLINE void ort_task_pushed_fenced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = thread->team;
    struct ps_deque *d = &ort_tasks(thread)->deque;
    if (PS_UNLIKELY(!ps_deque_is_fenced(d)))
        ps_deque_fence_owner(d);
    if (team->n > 1)
        tell(team, t);
    if (PS_UNLIKELY(ps_deque_calm_owner(d)))
        become_unfenced(thread, team);
}

void ort_task_enqueue(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = t->team;
    if (PS_UNLIKELY(!thread)) {
        enqueue_from_outside(team, t);
        return;
    }
    if (PS_UNLIKELY(t->priority > 0) || PS_UNLIKELY(!ps_deque_push(&ort_tasks(thread)->deque, t))) {
        priority_insert(team, t);
        if (team->n > 1)
            tell(team, t);
        return;
    }
    ort_task_pushed(thread, t);
}
