/* Ready tasks: in which queues they are, and how a member finds one that it may run.
 *
 * Does: queues ready tasks, finds one that a member may run. Does not: run a task (task_wait.c has the loops that do),
 * finish it, know what its body is, put members to sleep or wake them (task_sleep.c).
 * Callers: members of the team; ort_task_enqueue(NULL, ..) also a thread outside of the team that has pinned it.
 *
 * Each member has a deque: it pushes and pops at the bottom, teammates steal at the top. Each team also has a list
 * under a lock: the *priority queue*. It holds the tasks that must not go into a deque. These are tasks with a priority
 * (the highest is taken first, before all other tasks), tasks readied by a thread outside of the team, and tasks for
 * which the deque had no memory. Neither a deque nor the list is bounded: a task may make any number of tasks that wait
 * for predecessors, and all of them may become ready.
 *
 * Shared: tasks.lock guards priority; priority_count is written under it and read without. Failures: none.
 * Cost: a push: two stores; if the deque is fenced, also a fence and some loads. A pop of the own deque: a fence if the
 * deque is fenced. A search that fails: three loads for each member.
 * Rejected: a deque for each carrier (ee.h). A carrier's deque would mix the tasks of all teams that pass there, and a
 * member that moves to another carrier between a push and a pop would lose its own tasks. A member's deque has one
 * owner at a time, because one carrier at a time runs the member. */
#include "task_queue.h"

#include <limits.h>

/* --- which member may run which task --- */

static bool accept_descendant(void *item, void *within) { return task_is_descendant(item, within); }

/* --- the priority queue --- */

void ort_task_priority_insert_locked(struct ort_team *team, struct ort_task *t)
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
    ort_task_priority_insert_locked(team, t);
    ps_spin_unlock(&team->tasks.lock);
}

PS_NOINLINE static struct ort_task *priority_take(struct ort_team *team, struct ort_task *within)
{
    struct ort_task_team *q = &team->tasks;
    struct ort_task *found = NULL;
    ps_spin_lock(&q->lock);
    for (struct ps_list *at = q->priority.next; at != &q->priority && !found; at = at->next) {
        struct ort_task *t = PS_CONTAINER_OF(at, struct ort_task, link);
        if (!within || task_is_descendant(t, within))
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

static inline struct ort_task *steal_from(struct ort_task_member *its, struct ort_task *within)
{
    return ps_deque_steal_if(&its->deque, within ? accept_descendant : NULL, within);
}

#if ORT_MEMBERS_APART
/* Begins with the member behind the thief in the list of makers, if the thief is in it. */
PS_NOINLINE static struct ort_task *steal(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_task_member *own = ort_tasks_or_none(thread), *head = ps_load_seq(&thread->team->tasks.makers);
    struct ort_task_member *begin = own != NULL && own->makes ? own : head, *its = begin;
    if (head == NULL)
        return NULL;
    do {
        struct ort_task *t = its != own ? steal_from(its, within) : NULL;
        if (t)
            return t;
        its = its->next_maker != NULL ? its->next_maker : head;
    } while (its != begin);
    return NULL;
}
#else
PS_NOINLINE static struct ort_task *steal(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    unsigned n = team->n, seed = ort_tasks(thread)->seed, victim = seed < n ? seed : 0;
    for (unsigned i = 0; i < n; i++) {
        struct ort_thread *other = ort_member(team, victim);
        if (other != thread) {
            struct ort_task *t = steal_from(ort_tasks(other), within);
            if (t) {
                ort_tasks(thread)->seed = victim;
                return t;
            }
        }
        victim = victim + 1 < n ? victim + 1 : 0;
    }
    return NULL;
}
#endif

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
    if (!ort_absent(own) && ps_deque_bottom_owner(&own->deque) != own->base) {
        struct ps_deque *d = &own->deque;
        bool in_order = PS_UNLIKELY(ps_load_relaxed(&ort_tasks_in_order)) && thread->task->flags & ORT_TASK_IMPLICIT;
        struct ort_task *t = in_order ? ps_deque_steal_if(d, NULL, NULL) : ps_deque_pop(d);
        if (t)
            return t;
    }
    return team->n > 1 ? steal(thread, within) : NULL;
}

bool ort_task_any(struct ort_team *team)
{
    if (!ps_load_relaxed(&team->tasks.used))
        return false;
    if (ps_load_seq(&team->tasks.priority_count) != 0)
        return true;
    EACH_DEQUE(its, team)
    if (!ps_deque_seems_empty(&its->deque))
        return true;
    return false;
}

/* --- making ready --- */

/* Called for the first task of a region, in a team of several members. Makes members that wait in the entities' barrier
 * return from it; they wait in ort_task_wait instead. Makes members whose body has returned helpers. */
PS_NOINLINE static void first_task(struct ort_team *team)
{
    if (ps_xchg_acq_rel(&team->tasks.used, 1) != 0)
        return;
    ee_team_notify(&team->ee);
    /* With members apart the new helpers have not looked for tasks. The one that is called now looks for all: when it
     * finds no more tasks, it makes all deques fenced, and looks once more (ort_task_idle). */
    if (ORT_MEMBERS_APART)
        ort_task_ask(team);
}

/* Called by a member that has pushed a task: lets the others look at its deque from now on in this region. */
static inline void be_looked_at(PS_UNUSED struct ort_thread *thread, PS_UNUSED struct ort_team *team)
{
#if ORT_MEMBERS_APART
    struct ort_task_member *own = ort_tasks(thread), *head = ps_load_relaxed(&team->tasks.makers);
    if (PS_LIKELY(own->makes))
        return;
    own->makes = true;
    do
        own->next_maker = head;
    while (!ps_cas_seq(&team->tasks.makers, &head, own));
#endif
}

/* Called when no member has stolen from the deque of `thread` lately: makes the deque unfenced. The owner of an
 * unfenced deque tells no member of its tasks. So the deque stays fenced while a member sleeps or is a helper. */
static void become_unfenced(struct ort_thread *thread, struct ort_team *team)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    bool alone = team->n == 1;
    if (!alone && ps_load_relaxed(&team->tasks.takers) != 0)
        return;
    be_looked_at(thread, team);
    ps_store_relaxed(&team->tasks.unfenced, 1);
    ps_store_relaxed(&team->tasks.used, 1);
    ps_deque_unfence_owner(d);
    if (!alone && ps_load_seq(&team->tasks.takers) != 0)
        ps_deque_fence_owner(d);
}

/* Tells another member of t, after t was queued. Any member may have taken t and ended it by now; its memory is still
 * that of some task. */
static void tell(struct ort_team *team, struct ort_task *t)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&team->tasks.used)) && team->n > 1)
        first_task(team);
    ps_fence_seq();
    if (PS_UNLIKELY(ps_load_seq(&team->tasks.takers) != 0))
        ort_task_tell_taker(team, t);
}

PS_NOINLINE void ort_task_pushed_fenced(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = thread->team;
    struct ps_deque *d = &ort_tasks(thread)->deque;
    if (PS_UNLIKELY(!ps_deque_is_fenced(d)))
        ps_deque_fence_owner(d);
    if (team->n > 1) {
        be_looked_at(thread, team);
        tell(team, t);
    }
    if (PS_UNLIKELY(ps_deque_calm_owner(d)))
        become_unfenced(thread, team);
}

/* Rejected: a limit of 64 incomplete tasks for each member, above which the creator first runs a ready task (sparse LU
 * on one processor: 5.2 ms instead of 6.3, bench/notes/tasks.md). A program may hold a lock while it makes tasks that
 * take this lock; the creator would then wait for itself. libgomp has such a limit, but for ready tasks only. */
void ort_task_enqueue(struct ort_thread *thread, struct ort_task *t)
{
    struct ort_team *team = t->team;
    if (PS_UNLIKELY(!thread)) {
        ort_task_enqueue_from_outside(team, t);
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
