/* psthread_taskq.h - what C files that psthreads-taskqc has made call: the workqueueing model on psthread.h
 * (nthlib-2004 section 3.3).
 *
 * A `parallel taskq` has a crew: the thread that opens it, and runners, which are threads of the library that take
 * tasks. Queues that are opened inside of its tasks belong to the same crew. A runner is made when a task is put and
 * fewer threads than the crew's limit are at work; it ends when it finds no task. So tasks cost a thread only where a
 * processor is free for it. A queue is a list under a lock of its own. At the end its opener runs the tasks that are
 * left, newest first (an ordered queue: oldest first). Runners take the oldest task of the queue that was opened first:
 * the largest piece there is.
 *
 * The limit is the number of virtual processors, or less (num_threads, if). A thread that waits at the end of a queue
 * lends its place in the crew to another runner. Where the limit is below the number of virtual processors, it gets the
 * place back only when a runner comes to the end of a task. A limit of 1, and a taskq outside of any region: tasks run
 * at once, as calls.
 *
 * A queue with PSTHREAD_TASKQ_WINDOW tasks that nobody has begun takes no more: the opener runs the next one itself, so
 * a loop that makes millions of tasks needs no memory for them.
 *
 * Ordered: each task has a number and waits in psthread_taskq_ordered until all before it have left theirs, or have
 * ended.
 *
 * Locks: the crew's before a queue's. Under the crew's: the list of queues, the threads at work. Under the queue's: its
 * tasks, `stolen`, `listed` (changed with both held). A queue lives in its opener's frame: it is left when it is in no
 * list and nothing of it runs.
 * Failures: no memory for a task: the opener runs it as a call; an ordered queue waits first for those before it. No
 * thread: fewer runners.
 * Rejected: a thread of the library for each task (as the paper has it). It works, and costs a microsecond where
 * threads have thread-local storage of their own, as they do by default; Queens was 1.6 times as long. */
#ifndef PSTHREAD_TASKQ_H
#define PSTHREAD_TASKQ_H

#include <psthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

#define PSTHREAD_TASKQ_WINDOW 256
#define PSTHREAD_TASKQ_ROOM 256 /* bytes for the first tasks of a queue */

struct psthread_taskq;
struct psthread_taskq_task;
typedef void (*psthread_taskq_fn)(struct psthread_taskq_task *, void *);

struct psthread_taskq_task {
    struct psthread_taskq_task *older, *newer;
    struct psthread_taskq *queue;
    psthread_taskq_fn fn;
    unsigned long number; /* from 0, in the order in which the tasks were made */
    int heap;
    int in_turn; /* has come to its ordered block */
    void *captured;
};

struct psthread_taskq_waiter { /* for its turn, or for a place in a crew */
    struct psthread_taskq_waiter *next;
    unsigned long number;
    psthread_sem_t come;
};

/* Never freed, but used again: a runner may begin when the region that has made it is over. */
struct psthread_taskq_crew {
    struct psthread_taskq_crew *next; /* unused ones */
    psthread_spin_t lock;
    struct psthread_taskq *first, *last; /* queues with tasks that nobody has taken */
    unsigned limit, active; /* threads at work: the opener, runners, those that were made and have not begun */
    int strict;             /* the limit is below the number of virtual processors */
    struct psthread_taskq_waiter *waiters; /* strict: have waited for a queue's end, and want their place back */
};

struct psthread_taskq {
    psthread_spin_t lock;
    struct psthread_taskq_task *oldest, *newest; /* nobody has taken them */
    unsigned waiting, stolen;                    /* in that list; with runners */
    int ordered, own_crew, restore, listed;
    psthread_sem_t *opener; /* waits for stolen ones */
    unsigned long made;
    struct psthread_taskq_crew *crew;     /* NULL: tasks run at once */
    void *outer;                          /* the value of the thread's key before this queue; where `restore` */
    struct psthread_taskq *next, *before; /* in the crew's list */
    psthread_mutex_t values;              /* reductions, lastprivate, turns */
    unsigned long turn, last;             /* whose turn it is; 1 + the last task that has left its values */
    struct psthread_taskq_waiter *waiters;
    size_t used;
    char room[PSTHREAD_TASKQ_ROOM] __attribute__((aligned(16)));
};

/* One of each in a program, however many files are translated. The key's value is the crew that the calling thread
 * works for. */
__attribute__((weak)) psthread_once_t psthread_taskq_once_word = PSTHREAD_ONCE_INIT;
__attribute__((weak)) psthread_key_t psthread_taskq_key;
__attribute__((weak)) psthread_mutex_t psthread_taskq_atomic = PSTHREAD_MUTEX_INITIALIZER;
__attribute__((weak)) psthread_mutex_t psthread_taskq_crews_lock = PSTHREAD_MUTEX_INITIALIZER;
__attribute__((weak)) struct psthread_taskq_crew *psthread_taskq_crews;

/* --- crews --- */

static __inline__ struct psthread_taskq_crew *psthread_taskq_crew_new(void)
{
    psthread_mutex_lock(&psthread_taskq_crews_lock);
    struct psthread_taskq_crew *crew = psthread_taskq_crews;
    if (crew)
        psthread_taskq_crews = crew->next;
    psthread_mutex_unlock(&psthread_taskq_crews_lock);
    return crew ? crew : (struct psthread_taskq_crew *)calloc(1, sizeof *crew);
}

static __inline__ void psthread_taskq_crew_put_back(struct psthread_taskq_crew *crew)
{
    psthread_mutex_lock(&psthread_taskq_crews_lock);
    crew->next = psthread_taskq_crews;
    psthread_taskq_crews = crew;
    psthread_mutex_unlock(&psthread_taskq_crews_lock);
}

static void *psthread_taskq_runner(void *crew);

/* With the crew's lock held: the caller's place goes to a thread that waits for one, or to none. */
static __inline__ void psthread_taskq_leave_place(struct psthread_taskq_crew *crew)
{
    struct psthread_taskq_waiter *to = crew->active <= crew->limit ? crew->waiters : NULL;
    if (to) {
        crew->waiters = to->next;
        psthread_sem_post(&to->come);
    } else {
        crew->active--;
    }
}

/* A place in the crew was taken for it. */
static __inline__ void psthread_taskq_start_runner(struct psthread_taskq_crew *crew)
{
    psthread_attr_t attr = {0, PSTHREAD_ATTR_DETACHED};
    psthread_t runner;
    if (psthread_create(&runner, &attr, psthread_taskq_runner, crew) == 0) {
        psthread_enqueue(runner, PSTHREAD_VP_ANY);
        return;
    }
    psthread_spin_lock(&crew->lock);
    psthread_taskq_leave_place(crew);
    psthread_spin_unlock(&crew->lock);
}

/* The caller stops working for a while: a new runner may have its place. */
static __inline__ void psthread_taskq_lend_place(struct psthread_taskq_crew *crew)
{
    psthread_spin_lock(&crew->lock);
    int start = !crew->waiters && crew->first && crew->active <= crew->limit;
    if (!start)
        psthread_taskq_leave_place(crew);
    psthread_spin_unlock(&crew->lock);
    if (start)
        psthread_taskq_start_runner(crew);
}

static __inline__ void psthread_taskq_take_place(struct psthread_taskq_crew *crew)
{
    psthread_spin_lock(&crew->lock);
    if (!crew->strict || crew->active < crew->limit) {
        crew->active++;
        psthread_spin_unlock(&crew->lock);
        return;
    }
    struct psthread_taskq_waiter me = {crew->waiters, 0, {{0}}};
    psthread_sem_init(&me.come, 0);
    crew->waiters = &me;
    psthread_spin_unlock(&crew->lock);
    psthread_sem_wait(&me.come);
    psthread_spin_lock(&crew->lock); /* the poster holds it until it is done with `me` */
    psthread_spin_unlock(&crew->lock);
    psthread_sem_destroy(&me.come);
}

/* --- opening --- */

static void psthread_taskq_make_key(void)
{
    if (psthread_key_create(&psthread_taskq_key, NULL)) {
        fprintf(stderr, "psthread_taskq: no key is left (PSTHREAD_KEYS_MAX)\n");
        abort();
    }
}

static __inline__ void psthread_taskq_clear(struct psthread_taskq *q, int ordered)
{
    psthread_spin_init(&q->lock);
    q->oldest = q->newest = NULL;
    q->waiting = q->stolen = 0;
    q->ordered = ordered;
    q->own_crew = q->restore = q->listed = 0;
    q->opener = NULL;
    q->made = q->turn = q->last = 0;
    q->waiters = NULL;
    q->used = 0;
    psthread_mutex_init(&q->values);
    psthread_once(&psthread_taskq_once_word, psthread_taskq_make_key);
}

/* taskq: of the crew whose task, or region, the caller runs. */
static __inline__ void psthread_taskq_begin(struct psthread_taskq *q, int ordered)
{
    psthread_taskq_clear(q, ordered);
    q->crew = (struct psthread_taskq_crew *)psthread_getspecific(psthread_taskq_key);
}

/* parallel taskq. limit 0: as many threads as there are virtual processors. condition: that of the clause if. */
static __inline__ void psthread_taskq_begin_parallel(struct psthread_taskq *q, int ordered, long limit, int condition)
{
    long vps = (long)psthread_num_vps();
    psthread_taskq_clear(q, ordered);
    if (!condition || limit < 0)
        limit = 1;
    if (limit == 0 || limit > vps)
        limit = vps;
    q->outer = psthread_getspecific(psthread_taskq_key);
    q->crew = limit == 1 ? NULL : psthread_taskq_crew_new();
    if (q->crew) {
        q->own_crew = 1;
        psthread_spin_lock(&q->crew->lock);
        q->crew->limit = (unsigned)limit;
        q->crew->strict = limit < vps;
        q->crew->active++;
        psthread_spin_unlock(&q->crew->lock);
    }
    if (q->outer || q->crew)
        q->restore = psthread_setspecific(psthread_taskq_key, q->crew) == 0;
}

/* --- turns --- */

static __inline__ void psthread_taskq_ordered(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    if (task->in_turn) {
        fprintf(stderr, "psthread_taskq: task %lu of its queue comes to a second ordered block\n", task->number);
        abort();
    }
    task->in_turn = 1;
    psthread_mutex_lock(&q->values);
    if (q->turn != task->number) {
        struct psthread_taskq_waiter me = {q->waiters, task->number, {{0}}};
        psthread_sem_init(&me.come, 0);
        q->waiters = &me;
        psthread_mutex_unlock(&q->values);
        if (q->crew)
            psthread_taskq_lend_place(q->crew);
        psthread_sem_wait(&me.come);
        psthread_mutex_lock(&q->values); /* the poster holds it until it is done with `me` */
        psthread_mutex_unlock(&q->values);
        psthread_sem_destroy(&me.come);
        if (q->crew)
            psthread_taskq_take_place(q->crew);
    } else {
        psthread_mutex_unlock(&q->values);
    }
}

static __inline__ void psthread_taskq_ordered_end(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    struct psthread_taskq_waiter **at, *next = NULL;
    psthread_mutex_lock(&q->values);
    q->turn++;
    for (at = &q->waiters; *at; at = &(*at)->next)
        if ((*at)->number == q->turn) {
            next = *at;
            *at = next->next;
            break;
        }
    if (next)
        psthread_sem_post(&next->come);
    psthread_mutex_unlock(&q->values);
}

/* --- a task --- */

static __inline__ void psthread_taskq_run(struct psthread_taskq_task *task)
{
    task->fn(task, task->captured);
    if (task->queue->ordered && !task->in_turn) {
        psthread_taskq_ordered(task);
        psthread_taskq_ordered_end(task);
    }
}

static __inline__ void psthread_taskq_run_taken(struct psthread_taskq_task *task)
{
    psthread_taskq_run(task);
    if (task->heap)
        free(task);
}

/* The caller runs a task that is in no list. */
static __inline__ void psthread_taskq_call(struct psthread_taskq *q, psthread_taskq_fn fn, void *captured,
                                           unsigned long number)
{
    struct psthread_taskq_task here = {NULL, NULL, q, fn, number, 0, 0, captured};
    psthread_taskq_run(&here);
}

/* Around a task's adding to a reduction. */
static __inline__ void psthread_taskq_lock(struct psthread_taskq_task *task)
{
    psthread_mutex_lock(&task->queue->values);
}
static __inline__ void psthread_taskq_unlock(struct psthread_taskq_task *task)
{
    psthread_mutex_unlock(&task->queue->values);
}

/* With the lock held: whether no later task has left its lastprivate values yet. */
static __inline__ int psthread_taskq_is_last(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    if (q->last > task->number)
        return 0;
    q->last = task->number + 1;
    return 1;
}

/* The private copy of an array whose length is known when the program runs; the task frees it. */
static __inline__ void *psthread_taskq_copy(const volatile void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (!to) {
        fprintf(stderr, "psthread_taskq: no memory for a task's copy of %zu bytes\n", bytes);
        abort();
    }
    return __builtin_memcpy(to, (const void *)from, bytes);
}

static __inline__ struct psthread_taskq_task *psthread_taskq_new(struct psthread_taskq *q, size_t bytes)
{
    size_t head = (sizeof(struct psthread_taskq_task) + 15) & ~(size_t)15, all = (head + bytes + 15) & ~(size_t)15;
    struct psthread_taskq_task *t;
    int heap = all > sizeof q->room - q->used;
    if (heap) {
        t = (struct psthread_taskq_task *)malloc(all);
        if (!t)
            return NULL;
    } else {
        t = (struct psthread_taskq_task *)(void *)(q->room + q->used);
        q->used += all;
    }
    t->heap = heap;
    t->captured = (char *)t + head;
    return t;
}

/* --- a queue --- */

/* With the queue's lock held: its oldest or its newest task, which is in no list then. */
static __inline__ struct psthread_taskq_task *psthread_taskq_take(struct psthread_taskq *q, int oldest)
{
    struct psthread_taskq_task *t = oldest ? q->oldest : q->newest;
    if (!t)
        return NULL;
    if (oldest) {
        q->oldest = t->newer;
        if (t->newer)
            t->newer->older = NULL;
        else
            q->newest = NULL;
    } else {
        q->newest = t->older;
        if (t->older)
            t->older->newer = NULL;
        else
            q->oldest = NULL;
    }
    q->waiting--;
    return t;
}

/* With the crew's lock held. */
static __inline__ void psthread_taskq_unlist(struct psthread_taskq *q)
{
    if (q->before)
        q->before->next = q->next;
    else
        q->crew->first = q->next;
    if (q->next)
        q->next->before = q->before;
    else
        q->crew->last = q->before;
    q->listed = 0;
}

/* A task for a runner; NULL: there is none, or somebody waits for a place, and the runner has given up its own. */
static __inline__ struct psthread_taskq_task *psthread_taskq_steal(struct psthread_taskq_crew *crew)
{
    struct psthread_taskq_task *t = NULL;
    psthread_spin_lock(&crew->lock);
    /* too many: a region with a lower limit has the crew now, and the runner is one of the last region's */
    int leave = crew->waiters || (crew->strict && crew->active > crew->limit);
    while (!t && crew->first && !leave) {
        struct psthread_taskq *q = crew->first;
        psthread_spin_lock(&q->lock);
        t = psthread_taskq_take(q, 1);
        if (t)
            q->stolen++;
        else
            psthread_taskq_unlist(q);
        psthread_spin_unlock(&q->lock);
    }
    if (!t)
        psthread_taskq_leave_place(crew);
    psthread_spin_unlock(&crew->lock);
    return t;
}

static void *psthread_taskq_runner(void *arg)
{
    struct psthread_taskq_crew *crew = (struct psthread_taskq_crew *)arg;
    struct psthread_taskq_task *t;
    psthread_setspecific(psthread_taskq_key, crew);
    while ((t = psthread_taskq_steal(crew))) {
        struct psthread_taskq *q = t->queue;
        psthread_taskq_run_taken(t);
        psthread_spin_lock(&q->lock);
        if (--q->stolen == 0 && q->opener)
            psthread_sem_post(q->opener);
        psthread_spin_unlock(&q->lock);
    }
    return NULL;
}

/* A task was put: the crew is to know of the queue, and a runner to come if there is a place for one. */
static __inline__ void psthread_taskq_tell(struct psthread_taskq *q)
{
    struct psthread_taskq_crew *crew = q->crew;
    psthread_spin_lock(&crew->lock);
    if (!q->listed) {
        psthread_spin_lock(&q->lock);
        q->next = NULL;
        q->before = crew->last;
        if (crew->last)
            crew->last->next = q;
        else
            crew->first = q;
        crew->last = q;
        q->listed = 1;
        psthread_spin_unlock(&q->lock);
    }
    int start = crew->active < crew->limit;
    crew->active += (unsigned)start;
    psthread_spin_unlock(&crew->lock);
    if (start)
        psthread_taskq_start_runner(crew);
}

/* The opener runs what nobody has taken, until `left` tasks wait at most. */
static __inline__ void psthread_taskq_help(struct psthread_taskq *q, unsigned left)
{
    for (;;) {
        psthread_spin_lock(&q->lock);
        struct psthread_taskq_task *t = q->waiting > left ? psthread_taskq_take(q, q->ordered) : NULL;
        psthread_spin_unlock(&q->lock);
        if (!t)
            return;
        psthread_taskq_run_taken(t);
    }
}

/* The opener waits for what runners have taken. */
static __inline__ void psthread_taskq_wait(struct psthread_taskq *q)
{
    psthread_sem_t all_ended;
    psthread_spin_lock(&q->lock);
    if (!q->stolen) {
        psthread_spin_unlock(&q->lock);
        return;
    }
    psthread_sem_init(&all_ended, 0);
    q->opener = &all_ended;
    psthread_spin_unlock(&q->lock);
    psthread_taskq_lend_place(q->crew);
    psthread_sem_wait(&all_ended);
    psthread_spin_lock(&q->lock); /* the poster holds it until it is done with the semaphore */
    q->opener = NULL;
    psthread_spin_unlock(&q->lock);
    psthread_sem_destroy(&all_ended);
    psthread_taskq_take_place(q->crew);
}

/* task: captured is copied. */
static __inline__ void psthread_taskq_put(struct psthread_taskq *q, psthread_taskq_fn fn, void *captured, size_t bytes)
{
    unsigned long number = q->made++;
    struct psthread_taskq_task *t = NULL;
    int full = q->crew && __atomic_load_n(&q->waiting, __ATOMIC_RELAXED) >= PSTHREAD_TASKQ_WINDOW;
    if (full && q->ordered) /* its turn comes after those: it may not run on top of them */
        psthread_taskq_help(q, PSTHREAD_TASKQ_WINDOW / 2);
    if (q->crew && (!full || q->ordered))
        t = psthread_taskq_new(q, bytes);
    if (!t) {
        if (q->crew && q->ordered) {
            psthread_taskq_help(q, 0);
            psthread_taskq_wait(q);
        }
        psthread_taskq_call(q, fn, captured, number);
        return;
    }
    t->queue = q;
    t->fn = fn;
    t->number = number;
    t->in_turn = 0;
    if (bytes)
        __builtin_memcpy(t->captured, captured, bytes);
    psthread_spin_lock(&q->lock);
    t->newer = NULL;
    t->older = q->newest;
    if (q->newest)
        q->newest->newer = t;
    else
        q->oldest = t;
    q->newest = t;
    q->waiting++;
    int listed = q->listed;
    psthread_spin_unlock(&q->lock);
    if (!listed || __atomic_load_n(&q->crew->active, __ATOMIC_RELAXED) < q->crew->limit)
        psthread_taskq_tell(q);
}

/* The end of a taskq that is not nowait: all of its tasks have ended. */
static __inline__ void psthread_taskq_end(struct psthread_taskq *q)
{
    struct psthread_taskq_crew *crew = q->crew;
    if (crew) {
        psthread_taskq_help(q, 0);
        psthread_taskq_wait(q);
        psthread_spin_lock(&crew->lock);
        if (q->listed)
            psthread_taskq_unlist(q);
        crew->active -= (unsigned)q->own_crew;
        psthread_spin_unlock(&crew->lock);
    }
    psthread_mutex_destroy(&q->values);
    if (q->restore)
        psthread_setspecific(psthread_taskq_key, q->outer);
    if (q->own_crew)
        psthread_taskq_crew_put_back(crew);
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif
