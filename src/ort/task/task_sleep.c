/* Members that sleep because there is no task for them, helpers, and how a member is told of a task.
 *
 * Does: puts members that wait to sleep and wakes them, keeps members whose body has returned (*helpers*) and calls
 * them for tasks. Does not: queue tasks or find them (task_queue.c), know how a helper comes to run (ee.h).
 * Callers: members of the team; the wake functions and ort_task_enqueue_from_outside also a thread outside of the team
 * that has pinned it.
 *
 * Invariants: the maker of a task queues it, then reads `takers`. (Exception: the owner of an unfenced deque.) A member
 * that wants to sleep is counted in `takers`, makes the other members' deques fenced (fence_others), then looks for a
 * task again. So either the maker sees the member, or the member sees the task. The maker tells one sleeper or helper
 * of a task. A sleeper that does not take the task of which it was told tells the next member. Protocol:
 * tests/models/task_sleep.md, with its model task_sleep.pml; team_join.pml for helpers.
 *
 * Shared: tasks.lock guards sleeping, helpers (but see task_helpers.h) and the list fields of ort_wait. sleepers,
 * takers and coming are written under the lock and read without it. The waker writes ort_wait.told and word under the
 * lock, word last (release); the sleeper reads word (acquire), or takes the lock. Failures: none. */
#include "task_helpers.h"
#include "task_queue.h"

#include <limits.h>

/* --- sleeping --- */

/* Makes the other members' deques fenced. Called by `thread`, which is in the list of sleepers or of helpers, before it
 * looks for a task the last time. Members that push tasks from here on read `takers` (`tell` in task_queue.c). */
static void fence_others(const struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    ps_fence_seq();
    if (team->n == 1)
        return;
    EACH_DEQUE(its, team)
    if (PS_UNLIKELY(!ps_deque_is_fenced(&its->deque)) && ort_thread_of(its) != thread)
        ps_deque_fence(&its->deque);
}

bool ort_wait_is_over(struct ort_team *team, const struct ort_wait *w)
{
    switch (w->kind) {
    case ORT_WAIT_CHILDREN:
        return ort_count_children(&((struct ort_task *)w->object)->count) == 0;
    case ORT_WAIT_SUBTREE:
        return ort_count_is_zero(&((struct ort_task *)w->object)->count);
    case ORT_WAIT_GROUP:
        return ort_count_is_zero(&((struct ort_taskgroup *)w->object)->count);
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

/* Wakes the sleeper w. t: the task for which it is woken; NULL: its wait is over. */
static void wake_locked(struct ort_team *team, struct ort_wait *w, struct ort_task *t)
{
    leave_sleeping_locked(team, w);
    w->told = t;
    /* Once the sleeper reads 1, it may leave the stack frame that holds w. So only the address of the word is used
     * afterwards. */
    _Atomic uint32_t *word = &w->word;
    ps_store_release(word, 1);
    ee_wake(word, 1);
}

/* Wakes a sleeper that may run t. False: there is none. The caller holds the team's lock. */
static bool wake_for_task_locked(struct ort_team *team, struct ort_task *t)
{
    for (struct ps_list *at = team->tasks.sleeping.next; at != &team->tasks.sleeping; at = at->next) {
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        if (!w->within || task_is_descendant(t, w->within)) {
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
    /* The entities change the phase, and their contract promises acquire order only. So a fence is made here. */
    ps_fence_seq();
    ort_task_wake_object(team, NULL);
}

static void leave_helpers_locked(struct ort_team *team, struct ort_thread *m)
{
    ort_helpers_remove(team, m);
    ps_sub_relaxed(&team->tasks.takers, 1);
    if (m->id != 0) /* not member 0, which may have to wait for its carrier (ee.h) */
        ps_store_relaxed(&team->tasks.coming, m->id);
}

/* Takes a helper, which the caller must call, out of the list. NULL: there is none, or a called helper has not looked
 * for tasks yet. */
static struct ort_thread *take_helper_locked(struct ort_team *team)
{
    struct ort_thread *m = ps_load_relaxed(&team->tasks.coming) != 0 ? NULL : ort_helpers_first(team);
    if (m != NULL)
        leave_helpers_locked(team, m);
    return m;
}

/* Returns true if no member sleeps, and a called helper will look for tasks after this call began. The maker of the
 * task has made a fence behind its push. The lock would give no other answer. But in a large team every push comes here
 * while helpers are called one by one, and the makers would wait for the lock. */
static bool helper_comes(struct ort_team *team)
{
    return ps_load_seq(&team->tasks.sleepers) == 0 && ps_load_seq(&team->tasks.coming);
}

/* Wakes a sleeper that may run t. If there is none, calls a helper. */
PS_NOINLINE void ort_task_tell_taker(struct ort_team *team, struct ort_task *t)
{
    struct ort_thread *helper = NULL;
    if (helper_comes(team))
        return;
    ps_spin_lock(&team->tasks.lock);
    if (!wake_for_task_locked(team, t))
        helper = take_helper_locked(team);
    ps_spin_unlock(&team->tasks.lock);
    if (helper != NULL)
        ee_team_help(&team->ee, helper->id);
}

/* Returns true if some deque has a task that ort_task_find would take. */
static bool stands(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_team *team = thread->team;
    EACH_DEQUE(its, team)
    {
        struct ort_task *t = ps_deque_peek(&its->deque);
        if (t && (ort_thread_of(its) == thread ? ps_deque_bottom_owner(&its->deque) != its->base
                                               : !within || task_is_descendant(t, within)))
            return true;
    }
    return false;
}

/* Takes a task that the member may run. NULL: there was none. ort_task_find may fail although a task is there, if
 * another member takes one at the same time; then it is called again. */
static struct ort_task *look_surely(struct ort_thread *thread, struct ort_task *within)
{
    struct ort_task *t;
    do
        t = ort_task_find(thread, within);
    while (!t && stands(thread, within));
    return t;
}

/* Returns true if t, of which the caller was told, may still be in a queue. */
static bool may_stand(struct ort_team *team, const struct ort_task *t)
{
    if (ps_load_seq(&team->tasks.priority_count) != 0)
        return true;
    EACH_DEQUE(its, team)
    if (ps_deque_may_hold(&its->deque, t))
        return true;
    return false;
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

/* Ends the caller's sleep. t: a task that the caller has found itself, or NULL. Returns the task that the caller must
 * run next, or NULL. */
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
        ort_task_tell_taker(team, told); /* if `told` is taken meanwhile, the next member looks in vain */
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

/* --- helpers --- */

void ort_task_rest(struct ort_thread *thread) { ort_helpers_add(thread->team, thread); }

bool ort_task_idle(struct ort_thread *thread)
{
    struct ort_team *team = thread->team;
    struct ort_task_team *q = &team->tasks;
    ort_task_rest(thread);
    fence_others(thread);
    if (ps_load_seq(&q->coming) || !ort_task_any(team))
        return false;
    ps_spin_lock(&q->lock);
    bool again = ort_helpers_has(team, thread) && ps_load_relaxed(&q->coming) == 0;
    if (again)
        leave_helpers_locked(team, thread);
    ps_spin_unlock(&q->lock);
    return again;
}

PS_NOINLINE bool ort_task_ask(struct ort_team *team)
{
    if (ps_load_seq(&team->tasks.takers) == 0)
        return false;
    ps_spin_lock(&team->tasks.lock);
    struct ort_thread *helper = take_helper_locked(team);
    bool comes = helper != NULL || ps_load_relaxed(&team->tasks.coming) != 0;
    ps_spin_unlock(&team->tasks.lock);
    if (helper != NULL)
        ee_team_help(&team->ee, helper->id);
    return comes;
}

/* --- tasks from outside --- */

/* Queues t for a thread outside of the team. Once t can be taken, it may end, and the region with it. So a helper is
 * called before t is queued; the helper looks for tasks when the lock is free again. If a sleeper may run t, that
 * sleeper is woken instead, after t was queued. */
PS_NOINLINE void ort_task_enqueue_from_outside(struct ort_team *team, struct ort_task *t)
{
    struct ort_task_team *q = &team->tasks;
    ps_spin_lock(&q->lock);
    bool slept = false;
    for (struct ps_list *at = q->sleeping.next; at != &q->sleeping && !slept; at = at->next) {
        struct ort_wait *w = PS_CONTAINER_OF(at, struct ort_wait, link);
        slept = !w->within || task_is_descendant(t, w->within);
    }
    struct ort_thread *helper = slept ? NULL : take_helper_locked(team);
    if (helper != NULL)
        ee_team_help(&team->ee, helper->id);
    ort_task_priority_insert_locked(team, t);
    if (slept)
        wake_for_task_locked(team, t);
    ps_spin_unlock(&q->lock);
}
