/* psthread_taskq.h - what C files that psthreads-taskqc has made call: the workqueueing model on psthread.h (nthlib-2004 section 3.3).
 *
 * A task is a thread of the library: enqueued with a copy of what it captures, stolen by idle virtual processors. Who opened the queue
 * joins its tasks at the end, the newest first (an ordered queue: the oldest first), and runs as a call whatever nobody has begun. Nobody
 * but the opener touches the list of tasks. A queue with PSTHREAD_TASKQ_WINDOW tasks that have not ended takes no more: the opener runs the
 * next one itself, so a loop that makes millions of tasks needs no memory for them.
 *
 * A limit (num_threads, if) below the number of virtual processors makes a crew: at most `limit` threads, the opener among them, take
 * tasks from lists under the crew's lock. Queues that are opened inside of its tasks belong to the same crew.
 *
 * Ordered: each task has a number and waits in psthread_taskq_ordered until all before it have left theirs, or have ended.
 * Failures: no memory for a task, or no thread: the opener runs it as a call; an ordered queue waits first for those before it. */
#ifndef PSTHREAD_TASKQ_H
#define PSTHREAD_TASKQ_H

#include <psthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#define PSTHREAD_TASKQ_WINDOW 256
#define PSTHREAD_TASKQ_ROOM 256 /* bytes for the first tasks of a queue */

struct psthread_taskq;
struct psthread_taskq_task;
typedef void (*psthread_taskq_fn)(struct psthread_taskq_task *, void *);

struct psthread_taskq_task {
    struct psthread_taskq_task *older, *newer; /* the opener's; in a crew under its lock */
    struct psthread_taskq *queue;
    psthread_taskq_fn fn;
    psthread_t thread;
    unsigned long number; /* from 0, in the order in which the tasks were made */
    int heap;
    int in_turn; /* 1: inside of ordered, 2: has been there */
    void *captured;
};

struct psthread_taskq_waiter { /* for its turn */
    struct psthread_taskq_waiter *next;
    unsigned long number;
    psthread_sem_t come;
};

/* Never freed, but used again: its last runner may still be on its way out of the lock. */
struct psthread_taskq_crew {
    struct psthread_taskq_crew *next; /* unused ones */
    psthread_mutex_t lock;
    psthread_cond_t ended;         /* a task of the crew has */
    struct psthread_taskq *queues; /* with tasks that nobody has begun, innermost first */
    unsigned limit, runners;       /* threads that take tasks, the opener not counted */
};

struct psthread_taskq {
    struct psthread_taskq_task *oldest, *newest;
    unsigned outstanding; /* tasks in the list; a crew: that have not ended */
    int ordered, own_crew;
    unsigned long made;
    struct psthread_taskq_crew *crew;
    void *outer; /* the value of the thread's key before this queue; where `restore` */
    int restore;
    int listed;
    struct psthread_taskq *next; /* in the crew's list */
    psthread_mutex_t lock;       /* reductions, lastprivate, turns */
    unsigned long turn, last;    /* whose turn it is; 1 + the last task that has left its values */
    struct psthread_taskq_waiter *waiters;
    size_t used;
    char room[PSTHREAD_TASKQ_ROOM] __attribute__((aligned(16)));
};

/* One of each in a program, however many files are translated. The key's value is the crew that the calling thread works for. */
__attribute__((weak)) psthread_once_t psthread_taskq_once_word = PSTHREAD_ONCE_INIT;
__attribute__((weak)) psthread_key_t psthread_taskq_key;
__attribute__((weak)) psthread_mutex_t psthread_taskq_atomic = PSTHREAD_MUTEX_INITIALIZER;

__attribute__((weak)) psthread_mutex_t psthread_taskq_crews_lock = PSTHREAD_MUTEX_INITIALIZER;
__attribute__((weak)) struct psthread_taskq_crew *psthread_taskq_crews;

static inline struct psthread_taskq_crew *psthread_taskq_crew_new(void)
{
    psthread_mutex_lock(&psthread_taskq_crews_lock);
    struct psthread_taskq_crew *crew = psthread_taskq_crews;
    if (crew)
        psthread_taskq_crews = crew->next;
    psthread_mutex_unlock(&psthread_taskq_crews_lock);
    return crew ? crew : (struct psthread_taskq_crew *)calloc(1, sizeof *crew);
}

static inline void psthread_taskq_crew_put_back(struct psthread_taskq_crew *crew)
{
    psthread_mutex_lock(&psthread_taskq_crews_lock);
    crew->next = psthread_taskq_crews;
    psthread_taskq_crews = crew;
    psthread_mutex_unlock(&psthread_taskq_crews_lock);
}

/* The private copy of an array whose length is known when the program runs; the task frees it. */
static inline void *psthread_taskq_copy(const volatile void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (!to) {
        fprintf(stderr, "psthread_taskq: no memory for a task's copy of %zu bytes\n", bytes);
        abort();
    }
    return __builtin_memcpy(to, (const void *)from, bytes);
}

static void psthread_taskq_make_key(void)
{
    if (psthread_key_create(&psthread_taskq_key, NULL)) {
        fprintf(stderr, "psthread_taskq: no key is left (PSTHREAD_KEYS_MAX)\n");
        abort();
    }
}

static inline void psthread_taskq_clear(struct psthread_taskq *q, int ordered)
{
    q->oldest = q->newest = NULL;
    q->outstanding = 0;
    q->ordered = ordered;
    q->made = q->turn = q->last = 0;
    q->restore = q->own_crew = q->listed = 0;
    q->waiters = NULL;
    q->used = 0;
    psthread_mutex_init(&q->lock);
    psthread_once(&psthread_taskq_once_word, psthread_taskq_make_key);
}

/* taskq: in the crew, if any, whose task the caller runs. */
static inline void psthread_taskq_begin(struct psthread_taskq *q, int ordered)
{
    psthread_taskq_clear(q, ordered);
    q->crew = (struct psthread_taskq_crew *)psthread_getspecific(psthread_taskq_key);
}

/* parallel taskq. limit 0: as many threads as there are virtual processors. condition: that of the clause if. */
static inline void psthread_taskq_begin_parallel(struct psthread_taskq *q, int ordered, long limit, int condition)
{
    psthread_taskq_clear(q, ordered);
    if (!condition || limit < 0)
        limit = 1;
    q->crew = NULL;
    q->outer = psthread_getspecific(psthread_taskq_key);
    if (limit && limit < (long)psthread_num_vps())
        q->crew = psthread_taskq_crew_new();
    if (q->crew) {
        q->own_crew = 1;
        q->crew->limit = (unsigned)limit;
    }
    if (q->outer || q->crew)
        q->restore = psthread_setspecific(psthread_taskq_key, q->crew) == 0;
}

/* --- turns ------------------------------------------------------------------------------------------------------------ */

static inline void psthread_taskq_ordered(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    if (task->in_turn) {
        fprintf(stderr, "psthread_taskq: task %lu of its queue comes to a second ordered block\n", task->number);
        abort();
    }
    task->in_turn = 1;
    psthread_mutex_lock(&q->lock);
    if (q->turn != task->number) {
        struct psthread_taskq_waiter me = {q->waiters, task->number, {{0}}};
        psthread_sem_init(&me.come, 0);
        q->waiters = &me;
        psthread_mutex_unlock(&q->lock);
        psthread_sem_wait(&me.come);
        psthread_mutex_lock(&q->lock); /* who posted holds it until it is done with `me` */
        psthread_mutex_unlock(&q->lock);
        psthread_sem_destroy(&me.come);
    } else {
        psthread_mutex_unlock(&q->lock);
    }
}

static inline void psthread_taskq_ordered_end(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    struct psthread_taskq_waiter **at, *next = NULL;
    task->in_turn = 2;
    psthread_mutex_lock(&q->lock);
    q->turn++;
    for (at = &q->waiters; *at; at = &(*at)->next)
        if ((*at)->number == q->turn) {
            next = *at;
            *at = next->next;
            break;
        }
    if (next)
        psthread_sem_post(&next->come);
    psthread_mutex_unlock(&q->lock);
}

/* --- a task ----------------------------------------------------------------------------------------------------------- */

static inline void psthread_taskq_run(struct psthread_taskq_task *task)
{
    task->fn(task, task->captured);
    if (task->queue->ordered && !task->in_turn) {
        psthread_taskq_ordered(task);
        psthread_taskq_ordered_end(task);
    }
}

static void *psthread_taskq_thread(void *task)
{
    psthread_taskq_run((struct psthread_taskq_task *)task);
    return NULL;
}

/* Around a task's adding to a reduction. */
static inline void psthread_taskq_lock(struct psthread_taskq_task *task) { psthread_mutex_lock(&task->queue->lock); }
static inline void psthread_taskq_unlock(struct psthread_taskq_task *task)
{
    psthread_mutex_unlock(&task->queue->lock);
}

/* With the lock held: whether no later task has left its lastprivate values yet. */
static inline int psthread_taskq_is_last(struct psthread_taskq_task *task)
{
    struct psthread_taskq *q = task->queue;
    if (q->last > task->number)
        return 0;
    q->last = task->number + 1;
    return 1;
}

static inline void psthread_taskq_take_out(struct psthread_taskq *q, struct psthread_taskq_task *t)
{
    if (t->older)
        t->older->newer = t->newer;
    else
        q->oldest = t->newer;
    if (t->newer)
        t->newer->older = t->older;
    else
        q->newest = t->older;
}

static inline struct psthread_taskq_task *psthread_taskq_new(struct psthread_taskq *q, size_t bytes)
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

static inline void psthread_taskq_free(struct psthread_taskq_task *t)
{
    if (t->heap)
        free(t);
}

/* --- a crew ----------------------------------------------------------------------------------------------------------- */

static inline void psthread_taskq_unlist(struct psthread_taskq *q)
{
    struct psthread_taskq **at = &q->crew->queues;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    q->listed = 0;
}

/* The oldest task of q that nobody has begun; the caller holds the crew's lock. */
static inline struct psthread_taskq_task *psthread_taskq_crew_take(struct psthread_taskq *q)
{
    struct psthread_taskq_task *t = q->oldest;
    if (t) {
        psthread_taskq_take_out(q, t);
        if (!q->oldest)
            psthread_taskq_unlist(q);
    }
    return t;
}

/* Called with the crew's lock held, and returns so. */
static inline void psthread_taskq_crew_run(struct psthread_taskq_crew *crew, struct psthread_taskq_task *t)
{
    struct psthread_taskq *q = t->queue;
    psthread_mutex_unlock(&crew->lock);
    psthread_taskq_run(t);
    psthread_mutex_lock(&crew->lock);
    if (t->heap)
        free(t);
    if (--q->outstanding == 0)
        psthread_cond_broadcast(&crew->ended);
}

static void *psthread_taskq_runner(void *arg)
{
    struct psthread_taskq_crew *crew = (struct psthread_taskq_crew *)arg;
    psthread_setspecific(psthread_taskq_key, crew);
    psthread_mutex_lock(&crew->lock);
    while (crew->queues)
        psthread_taskq_crew_run(crew, psthread_taskq_crew_take(crew->queues));
    crew->runners--;
    psthread_cond_broadcast(&crew->ended); /* still under the lock: the crew is freed by who sees no runner */
    psthread_mutex_unlock(&crew->lock);
    return NULL;
}

static inline void psthread_taskq_crew_put(struct psthread_taskq *q, struct psthread_taskq_task *t)
{
    struct psthread_taskq_crew *crew = q->crew;
    psthread_attr_t attr = {0, PSTHREAD_ATTR_DETACHED};
    psthread_t runner;
    psthread_mutex_lock(&crew->lock);
    t->older = q->newest;
    t->newer = NULL;
    if (q->newest)
        q->newest->newer = t;
    else
        q->oldest = t;
    q->newest = t;
    q->outstanding++;
    if (!q->listed) {
        q->next = crew->queues;
        crew->queues = q;
        q->listed = 1;
    }
    if (crew->runners + 1 < crew->limit && psthread_create(&runner, &attr, psthread_taskq_runner, crew) == 0) {
        crew->runners++;
        psthread_enqueue(runner, PSTHREAD_VP_ANY);
    }
    while (q->outstanding >= PSTHREAD_TASKQ_WINDOW && q->oldest)
        psthread_taskq_crew_run(crew, psthread_taskq_crew_take(q));
    psthread_mutex_unlock(&crew->lock);
}

static inline void psthread_taskq_crew_wait(struct psthread_taskq *q, int for_runners)
{
    struct psthread_taskq_crew *crew = q->crew;
    psthread_mutex_lock(&crew->lock);
    while (q->outstanding || (for_runners && crew->runners))
        if (q->oldest)
            psthread_taskq_crew_run(crew, psthread_taskq_crew_take(q));
        else
            psthread_cond_wait(&crew->ended, &crew->lock);
    psthread_mutex_unlock(&crew->lock);
}

/* --- the queue -------------------------------------------------------------------------------------------------------- */

static inline void psthread_taskq_wait_for(struct psthread_taskq *q, struct psthread_taskq_task *t)
{
    psthread_taskq_take_out(q, t);
    q->outstanding--;
    psthread_join(t->thread, NULL);
    psthread_taskq_free(t);
}

/* Takes tasks that have ended from the old end. Whether there is room then. */
static inline int psthread_taskq_make_room(struct psthread_taskq *q)
{
    while (q->oldest && psthread_tryjoin(q->oldest->thread, NULL) == 0) {
        struct psthread_taskq_task *t = q->oldest;
        psthread_taskq_take_out(q, t);
        q->outstanding--;
        psthread_taskq_free(t);
    }
    return q->outstanding < PSTHREAD_TASKQ_WINDOW;
}

/* The caller runs the task itself, at once. */
static inline void psthread_taskq_call(struct psthread_taskq *q, psthread_taskq_fn fn, void *captured,
                                       unsigned long number)
{
    struct psthread_taskq_task here = {NULL, NULL, q, fn, NULL, number, 0, 0, captured};
    psthread_taskq_run(&here);
}

/* task: captured is copied. */
static inline void psthread_taskq_put(struct psthread_taskq *q, psthread_taskq_fn fn, void *captured, size_t bytes)
{
    unsigned long number = q->made++;
    struct psthread_taskq_task *t = NULL;
    if (q->crew && q->crew->limit == 1) {
        psthread_taskq_call(q, fn, captured, number);
        return;
    }
    if (!q->crew && __builtin_expect(q->outstanding >= PSTHREAD_TASKQ_WINDOW, 0) && !psthread_taskq_make_room(q)) {
        if (q->ordered) { /* its turn comes after those: it may not run on top of them */
            psthread_taskq_wait_for(q, q->oldest);
        } else {
            psthread_taskq_call(q, fn, captured, number);
            return;
        }
    }
    t = psthread_taskq_new(q, bytes);
    if (t) {
        t->queue = q;
        t->fn = fn;
        t->number = number;
        t->in_turn = 0;
        if (bytes)
            __builtin_memcpy(t->captured, captured, bytes);
        if (q->crew) {
            psthread_taskq_crew_put(q, t);
            return;
        }
        if (psthread_create(&t->thread, NULL, psthread_taskq_thread, t) == 0) {
            t->older = q->newest;
            t->newer = NULL;
            if (q->newest)
                q->newest->newer = t;
            else
                q->oldest = t;
            q->newest = t;
            q->outstanding++;
            if (q->ordered)
                psthread_enqueue_at(t->thread, PSTHREAD_VP_ANY, PSTHREAD_BACK);
            else
                psthread_enqueue(t->thread, PSTHREAD_VP_ANY);
            return;
        }
        psthread_taskq_free(t);
    }
    if (q->ordered && q->crew)
        psthread_taskq_crew_wait(q, 0);
    while (q->ordered && q->oldest)
        psthread_taskq_wait_for(q, q->oldest);
    psthread_taskq_call(q, fn, captured, number);
}

/* The end of a taskq that is not nowait: all of its tasks have ended. */
static inline void psthread_taskq_end(struct psthread_taskq *q)
{
    if (q->crew)
        psthread_taskq_crew_wait(q, q->own_crew);
    else
        while (q->oldest)
            psthread_taskq_wait_for(q, q->ordered ? q->oldest : q->newest);
    psthread_mutex_destroy(&q->lock);
    if (q->restore)
        psthread_setspecific(psthread_taskq_key, q->outer);
    if (q->own_crew)
        psthread_taskq_crew_put_back(q->crew);
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif
