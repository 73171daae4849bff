/* OpenBLAS with its own threads (0.3.28 and later), and its OpenMP flavour (at the end). See pools.h.
 *
 * openblas_set_threads_callback_function makes OpenBLAS give the jobs of a call to a function of ours. The jobs of one
 * call wait for one another (sched_yield), so they are the members of one region. Our function gives each job a number;
 * the library has one buffer for each number (blas_thread_buffer), for one job at a time. Several threads may call at
 * once, and LU factorisations also use the library's own kernel threads, which have the numbers from 0 on. So a job
 * gets a number above theirs that no other job has.
 *
 * Before our function is called, the library decides from its number of threads how many jobs a call has. So
 * openblas_set_width, which width.c calls, changes that number. It writes the variable blas_cpu_number, because the
 * library's function for it starts kernel threads anew after a fork. The program also reads and sets that number. The
 * functions for this are replaced in the library's table of symbols: what the program sets becomes the bound, and the
 * program reads the bound. A program that was bound to the library's own functions before (linked with -z now) reads
 * the width, and sets the bound. */
#include "pools.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void (*openblas_job)(int number, void *data, int extra);
typedef void (*openblas_jobs)(int wait, openblas_job job, int num, size_t bytes, void *data, int extra);

#define COPIES 8     /* number of OpenBLAS libraries in one process */
#define NUMBERS 1024 /* jobs get numbers below this; the largest known MAX_THREADS is 512 */

struct openblas {
    struct pools_library library;
    void (*set)(int);
    int (*get)(void);
    char *(*config)(void);
    void (*take)(openblas_jobs);
    int (*exec)(long num, void *jobs); /* exec_blas, which calls our function or uses the library's own threads */
    _Atomic(int) *cpu_number;          /* blas_cpu_number; NULL: not exported, so we cannot set the width */
    pthread_mutex_t lock;              /* guards what follows, and the library's number of threads */
    pthread_cond_t freed;
    unsigned most;        /* the largest number of threads that was ever set */
    unsigned num_numbers; /* numbers below this exist; 0: not known yet */
    unsigned num_used;
    /* While this is not 0, no job begins. hold_jobs adds 1 while the process forks. set_bound adds 1 while the library
     * may start more kernel threads, which get numbers that jobs could have before. Both wait for the jobs that run. */
    unsigned holds;
    unsigned copy; /* the index in `copies` */
    unsigned char is_used[NUMBERS];
};

static struct openblas *copies[COPIES];
static _Atomic(unsigned) num_copies;

static void watch_forks(const struct openblas *b);

/* --- numbers of jobs --- */

/* Returns the library's limit of threads, from "... MAX_THREADS=64" in its configuration; 0 if that does not tell. */
static unsigned read_limit(const struct openblas *b)
{
    const char *config = b->config ? b->config() : NULL, *at = config ? strstr(config, "MAX_THREADS=") : NULL;
    unsigned long limit = at ? strtoul(at + strlen("MAX_THREADS="), NULL, 10) : 0;
    return limit > NUMBERS ? NUMBERS : (unsigned)limit;
}

/* Reads the bound at the first call: the library's constructor has run by then, so its number of threads is what the
 * user wants. Later calls read whether a program that is bound to the library's own function has set a larger number.
 * The caller holds the lock. */
static void learn_bound(struct openblas *b)
{
    if (ps_load_relaxed(&b->library.bound) != 0) {
        int now = b->cpu_number ? ps_load_relaxed(b->cpu_number) : 0;
        b->most = now > (int)b->most ? (unsigned)now : b->most;
        return;
    }
    int n = b->get();
    b->most = n > 1 ? (unsigned)n : 1;
    b->num_numbers = read_limit(b);
    /* The library does not read this variable: another library's variable of the same name hides it. */
    if (b->cpu_number && ps_load_relaxed(b->cpu_number) != n)
        b->cpu_number = NULL;
    ps_store_relaxed(&b->library.bound, b->most);
    watch_forks(b);
}

/* Waits until another call has given numbers back, or a hold has ended. The caller holds the lock, and then tests its
 * condition again. Cancellation is disabled: a thread that is cancelled here would keep the lock. */
static void wait_for_jobs(struct openblas *b)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cond_wait(&b->freed, &b->lock);
    pthread_setcancelstate(state, &state);
}

/* Takes a number for each of n jobs, and writes these numbers to number[0 .. n - 1]. No other job has any of them.
 * Waits while too few numbers are free, or while jobs are held. Returns false, without waiting, if the library has
 * fewer than n numbers for jobs. */
static bool take_numbers(struct openblas *b, unsigned n, int *number)
{
    pthread_mutex_lock(&b->lock);
    learn_bound(b);
    while (b->most - 1 + n <= b->num_numbers) {
        unsigned got = 0;
        for (unsigned i = b->most - 1; i < b->num_numbers && got < n; i++)
            if (!b->is_used[i])
                number[got++] = (int)i;
        if (got == n && b->holds == 0)
            break;
        wait_for_jobs(b);
    }
    bool taken = b->most - 1 + n <= b->num_numbers;
    for (unsigned i = 0; taken && i < n; i++)
        b->is_used[number[i]] = 1;
    b->num_used += taken ? n : 0;
    pthread_mutex_unlock(&b->lock);
    return taken;
}

static void give_numbers(struct openblas *b, unsigned n, const int *number)
{
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < n; i++)
        b->is_used[number[i]] = 0;
    b->num_used -= n;
    pthread_cond_broadcast(&b->freed);
    pthread_mutex_unlock(&b->lock);
}

/* --- a call --- */

/* Sets the number of threads that the library's calls use to `width`, or to the bound if that is smaller. If the
 * program has meanwhile set another number by the library's own function, this number first becomes the bound. Does
 * nothing if the bound is not known yet, if the number cannot be set (cpu_number is NULL), or if we do not run the
 * library's jobs. The caller holds the lock. */
static void set_width_of(struct openblas *b, unsigned width)
{
    unsigned bound = ps_load_relaxed(&b->library.bound), before = ps_load_relaxed(&b->library.width);
    if (bound == 0 || !b->cpu_number || ps_load_relaxed(&b->library.left))
        return;
    int now = ps_load_relaxed(b->cpu_number);
    if (before != 0 && now > 0 && (unsigned)now != before) /* the program has set it by the library's own function */
        ps_store_relaxed(&b->library.bound, bound = (unsigned)now);
    width = width < bound ? width : bound;
    if ((unsigned)now != width)
        ps_store_relaxed(b->cpu_number, (int)width);
    ps_store_relaxed(&b->library.width, width);
}

/* Gives the library's jobs to `program`, the program's function, from now on; NULL: to the library's own threads. `why`
 * says in words for the user why. */
static void leave(struct openblas *b, const char *why, openblas_jobs program)
{
    pthread_mutex_lock(&b->lock);
    set_width_of(b, UINT_MAX);
    ps_store_relaxed(&b->library.left, why);
    pthread_mutex_unlock(&b->lock);
    b->take(program);
}

struct call {
    openblas_job job;
    char *data;
    size_t bytes;
    int extra;
    const int *number;
};

static void run_job(void *data, unsigned id)
{
    const struct call *call = data;
    call->job(call->number[id], call->data + id * call->bytes, call->extra);
}

static void run_call(struct openblas *b, openblas_job job, int num, size_t bytes, void *data, int extra)
{
    unsigned n = num > 0 ? (unsigned)num : 0;
    int number[NUMBERS];
    struct call call = {job, data, bytes, extra, number};
    ps_add_relaxed(&b->library.num_calls, 1);
    if (!take_numbers(b, n, number)) {
        leave(b, "it was built for hardly more threads than there are processors", NULL);
        b->exec(num, data);
        return;
    }
    pools_width_at_call();
    if (n > 1)
        pools_core->run(n, run_job, &call);
    else if (n == 1)
        run_job(&call, 0);
    give_numbers(b, n, number);
}

/* --- the number of threads --- */

void openblas_set_width(unsigned width)
{
    for (unsigned i = 0; i < ps_load_acquire(&num_copies); i++) {
        pthread_mutex_lock(&copies[i]->lock);
        set_width_of(copies[i], width);
        pthread_mutex_unlock(&copies[i]->lock);
    }
}

/* Sets the number of threads that the program allows. Returns the number before. */
static int set_bound(struct openblas *b, int n)
{
    pthread_mutex_lock(&b->lock);
    learn_bound(b);
    int before = (int)ps_load_relaxed(&b->library.bound);
    bool hold = n > (int)b->most;
    b->holds += hold;
    while (hold && b->num_used > 0)
        wait_for_jobs(b);
    b->set(n); /* starts kernel threads of the library if it has too few */
    unsigned bound = (unsigned)b->get();
    b->most = bound > b->most ? bound : b->most;
    b->holds -= hold;
    pthread_cond_broadcast(&b->freed);
    ps_store_relaxed(&b->library.bound, bound);
    ps_store_relaxed(&b->library.width, bound);
    set_width_of(b, pools_width_now());
    pthread_mutex_unlock(&b->lock);
    return before;
}

static int bound_of(const struct openblas *b)
{
    unsigned bound = ps_load_relaxed(&b->library.bound);
    return bound != 0 ? (int)bound : b->get();
}

/* --- forks --- */
/* Before a fork OpenBLAS ends its kernel threads, and frees the buffers of all jobs. The next call makes both anew. If
 * several calls do so at once, one of them frees buffers that the others' jobs already use, except those of the lowest
 * numbers. So
 *   - no job runs while the process forks. Our fork handlers are registered at the first call, which is after the
 *     library has registered its own: so before a fork ours run first;
 *   - in the parent our fork handler makes both anew before any job runs, if the library has had a parallel call;
 *   - in a child the library uses its own threads, as without psthreads: making both anew would start kernel threads
 *     in every child. */

static void hold_jobs(struct openblas *b)
{
    pthread_mutex_lock(&b->lock);
    b->holds++;
    while (b->num_used > 0)
        wait_for_jobs(b);
    pthread_mutex_unlock(&b->lock);
}

static void begin_anew(struct openblas *b)
{
    pthread_mutex_lock(&b->lock);
    if (ps_load_relaxed(&b->library.num_calls) != 0 && !ps_load_relaxed(&b->library.left))
        b->set(b->get());
    b->holds--;
    pthread_cond_broadcast(&b->freed);
    pthread_mutex_unlock(&b->lock);
}

static void begin_as_child(struct openblas *b)
{
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->freed, NULL);
    memset(b->is_used, 0, sizeof b->is_used);
    b->num_used = 0;
    b->holds = 0;
    leave(b, "in a forked child it has threads of its own", NULL);
}

/* A callback is not told from which copy of OpenBLAS it is called, so each copy gets a set of functions of its own. */
#define COPY(i)                                                                                                \
    static void jobs_##i(int wait, openblas_job job, int num, size_t bytes, void *data, int extra)             \
    {                                                                                                          \
        (void)wait;                                                                                            \
        run_call(copies[i], job, num, bytes, data, extra);                                                     \
    }                                                                                                          \
    static int get_##i(void) { return bound_of(copies[i]); }                                                   \
    static void set_##i(int n) { set_bound(copies[i], n); }                                                    \
    static void set_fortran_##i(const int *n) { set_bound(copies[i], *n); }                                    \
    static void take_##i(openblas_jobs program) { leave(copies[i], "the program gives it threads", program); } \
    static void before_fork_##i(void) { hold_jobs(copies[i]); }                                                \
    static void after_fork_in_parent_##i(void) { begin_anew(copies[i]); }                                      \
    static void after_fork_in_child_##i(void) { begin_as_child(copies[i]); }                                   \
    static int set_local_##i(int n) { return set_bound(copies[i], n); }
COPY(0)
COPY(1)
COPY(2)
COPY(3)
COPY(4)
COPY(5)
COPY(6)
COPY(7)
#define FUNCTIONS(i)                                                                                                  \
    {                                                                                                                 \
        jobs_##i, (void *)get_##i, (void *)set_##i, (void *)set_fortran_##i, (void *)set_local_##i, (void *)take_##i, \
            before_fork_##i, after_fork_in_parent_##i, after_fork_in_child_##i                                        \
    }
static const struct {
    openblas_jobs jobs;
    void *get, *set, *set_fortran, *set_local, *take;
    void (*before_fork)(void), (*after_fork_in_parent)(void), (*after_fork_in_child)(void);
} functions[COPIES] = {FUNCTIONS(0), FUNCTIONS(1), FUNCTIONS(2), FUNCTIONS(3),
                       FUNCTIONS(4), FUNCTIONS(5), FUNCTIONS(6), FUNCTIONS(7)};

static void watch_forks(const struct openblas *b)
{
    pthread_atfork(functions[b->copy].before_fork, functions[b->copy].after_fork_in_parent,
                   functions[b->copy].after_fork_in_child);
}

/* --- a library begins --- */

/* Returns whether a function with this suffix is C's: "", "64_", "_64". Fortran's are "_", "_64_", "__64". */
static bool is_c(const char *suffix)
{
    return *suffix == '\0' || strcmp(suffix, "64_") == 0 || strcmp(suffix, "_64") == 0;
}

static void *find_c(const struct object *o, const char *part)
{
    for (ElfW(Sym) *s = NULL; (s = object_symbol(o, part, s));)
        if (is_c(strstr(object_name(o, s), part) + strlen(part)))
            return object_address(o, s);
    return NULL;
}

static void replace_all(const struct object *o, unsigned i)
{
    static const char *const parts[] = {"openblas_get_num_threads", "openblas_set_threads_callback_function",
                                        "openblas_set_num_threads", "goto_set_num_threads"};
    for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++) {
        for (ElfW(Sym) *s = NULL; (s = object_symbol(o, parts[k], s));) {
            const char *suffix = strstr(object_name(o, s), parts[k]) + strlen(parts[k]);
            void *fn = NULL;
            if (is_c(suffix))
                fn = k == 0 ? functions[i].get : k == 1 ? functions[i].take : functions[i].set;
            else if (strncmp(suffix, "_local", 6) == 0)
                fn = functions[i].set_local;
            else if (*suffix == '_' && k != 1)
                fn = k == 0 ? functions[i].get : functions[i].set_fortran;
            if (fn)
                object_replace(o, s, fn);
        }
    }
}

/* --- its OpenMP flavour --- */

static int (*omp_max)(void);
static int (*omp_in_region)(void);

void openblas_find_openmp(void)
{
    omp_max = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    omp_in_region = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_in_parallel");
}

/* Stands for omp_get_max_threads in the OpenMP flavour, which asks at each call how many threads its region may have.
 * Inside a region the flavour ignores the answer. */
static int max_threads(void)
{
    int n = omp_max();
    if (omp_in_region())
        return n;
    pools_width_at_call();
    unsigned width = pools_width_now();
    return (unsigned)n < width ? n : (int)width;
}

/* Limits the width of the OpenMP flavour's regions, which run on our runtime anyway: the object's calls of
 * omp_get_max_threads arrive at max_threads. Programs still read the number that they have set. Debian splits this
 * flavour into two objects, of which libblas.so.3 calls omp_get_max_threads. Returns false if the object does not call
 * it, or cannot be changed. */
static bool narrow_openmp(const struct object *o)
{
    if (!omp_max || !omp_in_region || !object_rebind(o, "omp_get_max_threads", (void *)max_threads))
        return false;
    for (ElfW(Sym) *s = NULL; (s = object_symbol(o, "openblas_get_num_threads", s));) /* C's and Fortran's */
        object_replace(o, s, (void *)omp_max);
    return true;
}

/* Registers b, so that its jobs become regions. Returns NULL, or why that cannot be done. */
static const char *take_jobs(const struct object *o, struct openblas *b)
{
    unsigned i = ps_load_relaxed(&num_copies);
    b->take = (void (*)(openblas_jobs))find_c(o, "openblas_set_threads_callback_function");
    b->get = (int (*)(void))find_c(o, "openblas_get_num_threads");
    b->set = (void (*)(int))find_c(o, "goto_set_num_threads"); /* all setters of the number call this one */
    b->config = (char *(*)(void))find_c(o, "openblas_get_config");
    b->exec = (int (*)(long, void *))object_find(o, "exec_blas");
    b->cpu_number = object_find(o, "blas_cpu_number");
    if (!b->take)
        return "its version (before 0.3.28) has threads of its own only; take its OpenMP flavour, or set "
               "OPENBLAS_NUM_THREADS=1";
    if (!b->get || !b->set || !b->config || !b->exec)
        return "it does not show the functions that are needed for it";
    if (i == COPIES)
        return "there are more copies of OpenBLAS than we can serve";
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->freed, NULL);
    b->copy = i;
    copies[i] = b;
    ps_store_release(&num_copies, i + 1);
    replace_all(o, i);
    b->take(functions[i].jobs);
    return NULL;
}

struct pools_library *openblas_begins(const struct object *o)
{
    enum { NO_THREADS, OWN_THREADS, OPENMP };
    int (*parallel)(void) = (int (*)(void))find_c(o, "openblas_get_parallel");
    if (!parallel && pools_core && object_mentions(o, "blas_cpu_number"))
        narrow_openmp(o);
    struct openblas *b = parallel ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    int kind = parallel();
    b->library.kind = POOLS_OPENBLAS;
    if (!pools_core)
        b->library.left = "the runtime is not there";
    else if (kind == NO_THREADS)
        b->library.left = "it has no threads";
    else if (kind == OPENMP)
        b->library.left = narrow_openmp(o) ? NULL : "its calls of OpenMP cannot be changed";
    else
        b->library.left = take_jobs(o, b);
    return &b->library;
}
