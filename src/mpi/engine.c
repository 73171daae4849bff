/* Waiting and polling.
 *
 * Does: keeps the list of waits; looks at each wait when a thread polls; readies threads whose wait is over. Does not:
 * complete requests.
 *
 * How a call that sends or receives waits. It starts the nonblocking form, which keeps the order of messages, and tests
 * the request at once. If the request is not complete, the caller publishes a wait and blocks. The wait has a function
 * that tells whether the request is complete (look). A thread that polls calls look, and readies the caller once look
 * returns true. The caller then completes the request by MPI_Wait, which no longer blocks. So status, errors, error
 * handlers, persistent and generalized requests are MPI's own affair, on the thread that made the call. Probes, and
 * calls that wait for the program's requests, publish waits too. Rejected: MPI_Testsome over all requests. That call
 * completes requests, and calls an error handler, on the thread that happens to poll; MPICH takes MPI_COMM_WORLD's
 * handler there, whatever the communicator's is.
 *
 * A vp that finds no work polls, and so does the watcher (watch_mpi). A thread that is about to block, with no other
 * thread ready behind it, first looks at its own wait SPIN_LOOKS times. States of a wait: unpublished (only its thread
 * uses it) -> in `coming` (published) -> in `list` (a polling thread has moved it there) -> out (its thread is ready,
 * and the wait may be gone).
 *
 * Errors: a look that fails ends the wait; the thread then meets the error in its own call. A forked child has no
 * watcher, and forgets all waits. At exit and in MPI_Finalize `polling` is set and stays set, so no thread polls any
 * more. */
#include "mpi_layer.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPIN_LOOKS 32           /* looks of a thread at its own wait before it blocks */
#define STOP_TRIES 4000         /* tries of mpi_stop_polling, LEAST_NS apart */
#define LEAST_NS INT64_C(50000) /* the watcher pauses for LEAST_NS to MOST_NS */
#define MOST_NS INT64_C(1000000)
#define WATCHER_STACK_BYTES ((size_t)1 << 20) /* large enough for MPI's code, which runs on this stack */

/* A stack of waits. A thread pushes its wait by compare-and-swap (release); the polling thread takes all by an exchange
 * (acquire). */
static _Atomic(struct mpi_wait *) coming;
static struct mpi_wait *list, **list_end = &list; /* used only by the thread that holds `polling` */
static _Atomic uint32_t polling; /* 1: a thread polls. Set by an exchange (acquire), cleared by a store (release). */
/* The number of waits in `coming` and `list`. A thread adds to it before the push; the polling thread subtracts before
 * it readies the waiting thread. */
static _Atomic uint32_t waiting;
static _Atomic uint32_t looks;      /* number of polls so far; the watcher reads it as a hint */
static _Atomic uint32_t found_some; /* 1: a poll has ended a wait; set by any polling thread, cleared by the watcher */
static _Atomic uint32_t stopped;    /* 1: mpi_stop_polling has been called */

/* --- the runtimes in this process --- */

#define LAYERS_MAX 2
static const struct ps_layer *layers[LAYERS_MAX];
static _Atomic uint32_t num_layers;
static pthread_mutex_t layers_lock = PTHREAD_MUTEX_INITIALIZER;

static bool poll_all(void);

static void add_layer(const char *name)
{
    void *library = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
    const struct ps_layer *layer = library || !name ? dlsym(library, "ps_layer") : NULL;
    uint32_t n = ps_load_relaxed(&num_layers);
    if (library && name)
        dlclose(library);
    for (uint32_t i = 0; i < n; i++)
        if (layers[i] == layer)
            return;
    if (!layer || n == LAYERS_MAX || layer->bytes < sizeof *layer)
        return;
    layers[n] = layer;
    ps_store_release(&num_layers, n + 1);
    layer->poll_by(poll_all);
}

/* Looks for runtimes that have been loaded. Called when the calling thread belongs to no known runtime. The first call
 * looks, and each call that has 1, 2, 4, 8 ... calls before it; the other calls return at once. */
static void look_for_layers(void)
{
    static const char *const names[] = {NULL, "libgomp.so.1", "libomp.so.5", "libiomp5.so", "libpsthreads.so.0"};
    static _Atomic uint32_t times;
    uint32_t n = ps_load_relaxed(&times);
    ps_store_relaxed(&times, n + 1);
    if ((n & (n - 1)) != 0 || ps_load_relaxed(&num_layers) == LAYERS_MAX)
        return;
    pthread_mutex_lock(&layers_lock);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        add_layer(names[i]);
    pthread_mutex_unlock(&layers_lock);
}

static const struct ps_layer *among_known(void **thread)
{
    uint32_t n = ps_load_acquire(&num_layers);
    for (uint32_t i = 0; i < n; i++)
        if ((*thread = layers[i]->self()) != NULL)
            return layers[i];
    return NULL;
}

const struct ps_layer *mpi_threads(void **thread)
{
    const struct ps_layer *layer = among_known(thread);
    if (PS_LIKELY(layer != NULL))
        return layer;
    look_for_layers();
    return among_known(thread);
}

bool mpi_can_wait(struct mpi_wait *wait)
{
    wait->layer = mpi_threads(&wait->thread);
    return wait->layer != NULL;
}

/* --- polling --- */

unsigned mpi_waiting(void) { return ps_load_acquire(&waiting); }

static void take_coming(void)
{
    struct mpi_wait *some = ps_load_relaxed(&coming) ? ps_xchg_acq_rel(&coming, NULL) : NULL, *first = NULL;
    while (some) { /* the stack begins with the newest wait; the list gets the oldest first */
        struct mpi_wait *next = some->next;
        some->next = first;
        first = some;
        some = next;
    }
    *list_end = first;
    while (*list_end)
        list_end = &(*list_end)->next;
}

/* Looks at all waits, unless another thread polls. Returns true if some wait was over; then its thread was readied, or
 * its `done` called. Called by the watcher, and by a vp that searches and finds no work (psthreads/data/layer.h): there
 * the looks take no time from threads with work. A look may make MPI run a function of the program, for a nonblocking
 * reduction. Such a function must not use OpenMP, because a vp that polls runs no thread. */
static bool poll_all(void)
{
    if (ps_load_relaxed(&waiting) == 0 || ps_load_relaxed(&polling) || ps_xchg_acq_rel(&polling, 1))
        return false;
    ps_store_relaxed(&looks, ps_load_relaxed(&looks) + 1);
    take_coming();
    struct mpi_wait *out = NULL, **out_end = &out, **link = &list;
    while (*link) {
        struct mpi_wait *w = *link;
        if (!w->look(w)) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        w->next = NULL;
        *out_end = w;
        out_end = &w->next;
    }
    list_end = link;
    ps_store_release(&polling, 0);
    bool some = out != NULL;
    if (some)
        ps_store_relaxed(&found_some, 1);
    while (out) {
        struct mpi_wait *w = out;
        out = w->next; /* read first: after ready or done another thread may free w */
        ps_sub_release(&waiting, 1);
        if (w->done)
            w->done(w);
        else
            w->layer->ready(w->thread);
    }
    return some;
}

void mpi_stop_polling(void)
{
    if (ps_xchg_acq_rel(&stopped, 1))
        return;
    /* The number of tries is limited, because MPI may end the process in the middle of a look; then `polling` is never
     * cleared. */
    for (int i = 0; i < STOP_TRIES && ps_xchg_acq_rel(&polling, 1); i++)
        nanosleep(&(struct timespec){.tv_nsec = LEAST_NS}, NULL);
}

/* --- the watcher --- */

static bool watcher_sleeps;
static pthread_mutex_t watcher_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watcher_wanted;

/* Called by the watcher. While there is no wait, sleeps until there is one; otherwise sleeps for pause_ns. Returns true
 * if it has slept because there was no wait. A task whose requests are complete (mpi_tasks_finished) ends either sleep.
 *
 * No wait is forgotten: the watcher sleeps without a limit only while `waiting` is 0, which it reads under
 * watcher_lock. The thread that adds the first wait takes that lock after its push, and wakes the watcher. */
static bool pause_watching(int64_t pause_ns)
{
    struct timespec until;
    bool rested = false;
    pthread_mutex_lock(&watcher_lock);
    watcher_sleeps = true;
    while (ps_load_acquire(&waiting) == 0 && !mpi_tasks_finished()) {
        rested = true;
        pthread_cond_wait(&watcher_wanted, &watcher_lock);
    }
    if (!rested && !mpi_tasks_finished()) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += pause_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&watcher_wanted, &watcher_lock, &until);
    }
    watcher_sleeps = false;
    pthread_mutex_unlock(&watcher_lock);
    return rested;
}

/* The main function of the watcher, a kernel thread of this library. Between looks it sleeps. If another thread has
 * polled meanwhile, it does not poll; otherwise all vps are busy or asleep, and it does. It sleeps a sixteenth of the
 * time for which nothing has come, at least LEAST_NS and at most MOST_NS. So a long wait costs next to nothing, and a
 * message is seen late by at most a sixteenth of the wait, or by LEAST_NS. */
static void *watch_mpi(void *arg)
{
    int64_t quiet_ns = 0;
    uint32_t seen = 0;
    for (;;) {
        int64_t pause_ns = quiet_ns / 16;
        pause_ns = pause_ns < LEAST_NS ? LEAST_NS : pause_ns > MOST_NS ? MOST_NS : pause_ns;
        bool rested = pause_watching(pause_ns);
        quiet_ns = ps_xchg_acq_rel(&found_some, 0) || rested ? 0 : quiet_ns + pause_ns;
        if (mpi_tasks_finished())
            mpi_tasks_complete();
        if (ps_load_relaxed(&looks) == seen)
            poll_all();
        seen = ps_load_relaxed(&looks);
        if (mpi_tasks_finished())
            mpi_tasks_complete();
    }
    return arg;
}

static void stop_at_exit(void) { mpi_stop_polling(); }

static void make_watcher_wanted(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&watcher_wanted, &attr);
    pthread_condattr_destroy(&attr);
}

static void engine_after_fork_in_child(void)
{
    ps_store_relaxed(&coming, NULL);
    list = NULL;
    list_end = &list;
    ps_store_relaxed(&polling, 0);
    ps_store_relaxed(&waiting, 0);
    watcher_sleeps = false;
    pthread_mutex_init(&watcher_lock, NULL);
    make_watcher_wanted();
    pthread_mutex_init(&layers_lock, NULL);
}

/* Starts the watcher. The caller must not have published a wait yet: the runtime interposes some of the functions
 * called below, and moves their caller to a dedicated kernel thread. */
void mpi_start_watcher(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    make_watcher_wanted();
    atexit(stop_at_exit);
    pthread_atfork(NULL, NULL, engine_after_fork_in_child);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the watcher takes no signals; the program's threads take them */
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, WATCHER_STACK_BYTES);
    int error = pthread_create(&thread, &attr, watch_mpi, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        fprintf(stderr,
                "psthreads: no kernel thread that looks for messages (%s): they are seen when a processor is idle\n",
                strerror(error));
}

void mpi_wake_watcher(void)
{
    pthread_mutex_lock(&watcher_lock);
    if (watcher_sleeps)
        pthread_cond_signal(&watcher_wanted);
    pthread_mutex_unlock(&watcher_lock);
}

/* --- waiting --- */

static void publish(struct mpi_wait *wait)
{
    bool first = ps_add_acq_rel(&waiting, 1) == 0;
    struct mpi_wait *top = ps_load_relaxed(&coming);
    do
        wait->next = top;
    while (!ps_cas_acq_rel(&coming, &top, wait));
    if (first)
        mpi_wake_watcher();
}

void mpi_await(struct mpi_wait *wait)
{
    for (int i = 0; i < SPIN_LOOKS && !wait->layer->has_others(); i++)
        if (wait->look(wait))
            return;
    publish(wait);
    wait->layer->wait(wait->thread, wait);
}

void mpi_watch(struct mpi_wait *wait) { publish(wait); }

void mpi_tested_in_vain(void)
{
    void *thread;
    const struct ps_layer *layer = mpi_threads(&thread);
    if (layer)
        layer->yield();
}

/* --- the looks of each kind of wait --- */

static bool is_complete(MPI_Request request)
{
    int flag = 1;
    return MPI_OWN(MPI_Request_get_status)(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

static bool look_all(struct mpi_wait *wait)
{
    while (wait->at < wait->count && is_complete(wait->request[wait->at]))
        wait->at++;
    return wait->at == wait->count;
}

static bool look_any(struct mpi_wait *wait)
{
    for (int i = 0; i < wait->count; i++)
        if (!wait->passed_by[i] && is_complete(wait->request[i]))
            return true;
    return false;
}

void mpi_await_all(int count, MPI_Request *requests)
{
    struct mpi_wait wait = {.look = look_all, .request = requests, .count = count};
    if (mpi_can_wait(&wait))
        mpi_await(&wait);
}

void mpi_await_one(MPI_Request *request) { mpi_await_all(1, request); }

void mpi_any_begin(struct mpi_any *any, int count, MPI_Request *requests)
{
    *any = (struct mpi_any){.count = count, .request = requests};
    any->passed_by = (size_t)count <= sizeof any->few ? any->few : calloc((size_t)count, 1);
    for (int i = 0; any->passed_by && i < count; i++)
        any->passed_by[i] = (char)is_complete(requests[i]);
}

void mpi_any_wait(struct mpi_any *any)
{
    struct mpi_wait wait = {
        .look = look_any, .request = any->request, .count = any->count, .passed_by = any->passed_by};
    if (wait.passed_by && memchr(wait.passed_by, 0, (size_t)any->count) && mpi_can_wait(&wait))
        mpi_await(&wait);
}

void mpi_any_end(struct mpi_any *any)
{
    if (any->passed_by != any->few)
        free(any->passed_by);
}

int mpi_finish(MPI_Request *request, MPI_Status *status)
{
#ifdef OPEN_MPI
    int flag = 0, error = MPI_OWN(MPI_Test)(request, &flag, status);
    if (PS_LIKELY(flag || error))
        return error;
    mpi_await_one(request);
#else
    /* MPICH's MPI_Test asks the network first, even for a complete request; is_complete is cheaper. */
    if (PS_UNLIKELY(!is_complete(*request)))
        mpi_await_one(request);
#endif
    return MPI_OWN(MPI_Wait)(request, status);
}
