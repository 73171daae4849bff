/* Ranges: one descriptor for many tasks of a taskloop.
 *
 * Does: makes and runs the tasks of a taskloop that has more of them than the team needs, if they differ in their
 * bounds only. Does not: decide how many tasks there are (taskloop.c). Tasks with a priority, a copy constructor or
 * data aligned to more than 16 bytes are made one by one. So are all tasks if they are traced, cancellation is on, or
 * there are no more than two for each member.
 * Callers: the member that meets the construct; then members that run a range, as the body of a task.
 *
 * A range is one item of a deque. The member that takes it runs the loop's tasks one by one, each as a call on a
 * descriptor of its own (task_frame.h). The member keeps the tasks that have not begun in three parts, two of which are
 * in its deque:
 *   half   half of the tasks, pushed first; pushed anew when the deque is empty
 *   rest   the tasks with which the member goes on, pushed last; popped again when `own` has none left
 *   own    at most SOME tasks, fewer towards the end, in no queue; shared anew when a thief has stolen
 * A thief takes the oldest item, which is the half as long as there is one. The rest is stolen at the loop's end only.
 *
 * Shared: no thread writes a range that is in a deque; the member that takes it owns it (ordered by the deque).
 * Failures: as of ort_task_create. Cost: a call for each task; a push and a pop for SOME of them.
 * Rejected: no part `own`: a push and a pop for each task were half of an empty task's time. To run all tasks at once
 * if they are many (libgomp): no other member helps. */
#include "task_range.h"
#include "task_steps.h"

#include <string.h>

struct range {
    void (*fn)(void *); /* the program's function */
    size_t size;        /* bytes of data[] */
    unsigned flags;
    bool nogroup;
    struct ort_chunks chunks;
    alignas(16) char data[]; /* passed to the program's function; begins with the two bounds */
};

/* The most chunks that a member keeps in `own`, where no thief can take them. After each task the member checks whether
 * a thief has stolen from its deque; if so, it shares its chunks anew (share_range). So at most these chunks wait while
 * the member runs a long task. */
#define SOME 16

/* Splits c: leaves its first n chunks in it, and returns the others. */
static struct ort_chunks behind(struct ort_chunks *c, uint64_t n)
{
    struct ort_chunks tail = *c;
    c->n = n;
    tail.n -= n;
    tail.longer = c->longer > n ? c->longer - n : 0;
    c->longer -= tail.longer;
    c->left = n * c->iterations + c->longer;
    tail.from += c->left * c->step;
    tail.left -= c->left;
    return tail;
}
static struct ort_chunks second_half(struct ort_chunks *c) { return behind(c, c->n - c->n / 2); }

static void run_range(void *data);

struct origin {
    const struct range *head;
    const struct ort_chunks *chunks;
    const void *data;
};
static void construct_chunk(void *to, void *from)
{
    const struct origin *origin = from;
    struct range *r = to;
    *r = *origin->head;
    r->chunks = *origin->chunks;
    memcpy(r->data, origin->data, r->size);
}

/* Makes a child of the current task that stands for these chunks. The current task is the one that has met the
 * construct, or the range from which the chunks were split. So all parts of the loop are below one range: the
 * construct's taskgroup counts only that range. */
static struct ort_task *make_range(struct ort_thread *thread, const struct range *head, const struct ort_chunks *chunks,
                                   const void *data)
{
    struct origin origin = {head, chunks, data};
    return ort_task_make(thread, &(struct ort_task_args){.fn = run_range,
                                                         .data = &origin,
                                                         .copy = construct_chunk,
                                                         .size = sizeof *head + head->size,
                                                         .align = alignof(struct range)});
}

/* Frees t, a range that is in no deque and has no chunks left. It is a child of the current task, which counts it no
 * longer. */
static void discard(struct ort_thread *thread, struct ort_task *t)
{
    thread->task->count.own -= ORT_COUNT_LIVE + ORT_COUNT_INCOMPLETE;
    ort_icv_drop(t->icv, t);
    ort_task_free(&ort_tasks(thread)->cache, t);
}

static struct ort_chunks *chunks_of(struct ort_task *t) { return &((struct range *)t->data)->chunks; }

/* Pops a range that is a child of `self`. Other items that it pops are tasks which the loop's tasks have made: it runs
 * them. NULL: there is no range left. [switches] */
static inline struct ort_task *pop_range(struct ort_thread *thread, const struct ort_task *self)
{
    struct ps_deque *d = &ort_tasks(thread)->deque;
    while (ps_deque_bottom_owner(d) != ort_tasks(thread)->base) {
        struct ort_task *t = ps_deque_pop(d);
        if (PS_UNLIKELY(t == NULL))
            return NULL;
        if (PS_LIKELY(t->fn == run_range) && PS_LIKELY(ps_load_relaxed(&t->parent) == self))
            return t;
        ort_task_run(thread, t);
    }
    return NULL;
}

/* Moves chunks of the member's own into the deque: half of them if the deque is empty, then all that are left but some.
 * spare: a descriptor for the rest, or NULL. Returns spare if it was not used, else NULL. */
static struct ort_task *share_range(struct ort_thread *thread, const struct range *mine, struct ort_chunks *own,
                                    struct ort_task *spare)
{
    if (ps_deque_seems_empty(&ort_tasks(thread)->deque) && own->n > 2) {
        struct ort_chunks half = second_half(own);
        ort_task_enqueue(thread, make_range(thread, mine, &half, mine->data));
    }
    uint64_t some = own->n / (2 * (uint64_t)thread->team->n);
    some = some > SOME ? SOME : some > 0 ? some : 1;
    if (own->n <= some)
        return spare;
    struct ort_chunks rest = behind(own, some);
    if (spare == NULL)
        spare = make_range(thread, mine, &rest, mine->data);
    else
        *chunks_of(spare) = rest;
    ort_task_enqueue(thread, spare);
    return NULL;
}

/* Adds t's chunks to the member's own, if they follow these. False: they do not. */
static bool add_range(struct ort_chunks *own, struct ort_task *t)
{
    const struct ort_chunks *more = chunks_of(t);
    if (own->n == 0) {
        *own = *more;
        return true;
    }
    if (more->from != own->from + (own->n * own->iterations + own->longer) * own->step)
        return false;
    own->n += more->n;
    own->longer += more->longer;
    own->left += more->left;
    return true;
}

/* Runs a range: the body of its task. */
static void run_range(void *data)
{
    struct ort_thread *thread = ort_self_inline();
    struct ort_task *self = thread->task, *spare = NULL;
    struct ps_deque *d = &ort_tasks(thread)->deque;
    struct range *mine = data;
    struct ort_chunks own = mine->chunks;
    while (own.n > 0) {
        spare = share_range(thread, mine, &own, spare);
        ort_task_call_chunks(thread, mine->fn, mine->data, mine->flags, &own);
        struct ort_task *t = pop_range(thread, self);
        if (t == NULL)
            continue;
        if (PS_UNLIKELY(!add_range(&own, t))) {
            ps_deque_push_room_owner(d, t); /* puts it back */
            ort_task_pushed(thread, t);
            continue;
        }
        if (PS_UNLIKELY(spare != NULL))
            discard(thread, spare);
        spare = t;
    }
    if (spare != NULL)
        discard(thread, spare);
    /* Without a group, the creator's taskwait waits for the range, which is its child, but not for the range's
     * children. So the range ends only when its own children are complete. */
    if (mine->nogroup)
        ort_taskwait(thread);
}

bool ort_task_range(struct ort_thread *thread, const struct ort_task_args *args, const struct ort_chunks *chunks,
                    bool nogroup)
{
    if (PS_UNLIKELY(ort_tasks_traced()) || args->copy != NULL || args->priority != 0 ||
        args->align > alignof(struct range) || chunks->n <= 2 * (uint64_t)thread->team->n)
        return false;
    unsigned flags = args->flags & ~(unsigned)ORT_TASK_UNDEFERRED;
    if (thread->team->n == 1 || task_is_undeferred(thread, args->flags)) {
        struct ort_chunks c = *chunks;
        while (c.n > 0)
            ort_task_call_chunks(thread, args->fn, args->data, flags, &c);
        return true;
    }
    struct range head = {.fn = args->fn, .size = args->size, .flags = flags, .nogroup = nogroup};
    ort_task_enqueue(thread, make_range(thread, &head, chunks, args->data));
    return true;
}
