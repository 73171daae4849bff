/* OpenBLAS with threads of its own (0.3.28 and later), and its OpenMP flavour (at the end). See pools.h.
 *
 * By openblas_set_threads_callback_function OpenBLAS gives the jobs of a call to a function. The jobs of one call wait
 * for one another (sched_yield), so each is a member of one region. The function tells each job a number, under which
 * the library has a buffer for one job at a time (blas_thread_buffer). Calls of several threads come at once, and LU
 * factorisations use the library's own kernel threads beside, which have the numbers from 0 on. So a job gets a number
 * above theirs, that no other job has.
 *
 * How many jobs a call has is decided before we are asked, by the library's number of threads. Thus that number is what
 * is changed (width.c): the variable blas_cpu_number, since the function for it starts kernel threads anew after a
 * fork. It is also what the program reads and sets. So the functions that do this are replaced in the library's table
 * of symbols: what the program sets is the bound, and the bound is what it reads. What was bound to the library's own
 * functions before (a program that is linked to it with -z now) reads the width, and sets the bound. */
#include "pools.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void (*openblas_job)(int number, void *data, int extra);
typedef void (*openblas_jobs)(int wait, openblas_job job, int num, size_t bytes, void *data, int extra);

#define COPIES 8     /* of OpenBLAS in one process */
#define NUMBERS 1024 /* the greatest MAX_THREADS that we know of is 512 */

struct openblas {
    struct pools_library library;
    void (*set)(int);
    int (*get)(void);
    char *(*config)(void);
    void (*take)(openblas_jobs);
    int (*exec)(long num, void *jobs); /* exec_blas, which calls us, or uses the library's own threads */
    _Atomic(int) *cpu_number;          /* blas_cpu_number; NULL: not to be seen, and the width is not ours */
    pthread_mutex_t lock;              /* of what follows, and of the library's number of threads */
    pthread_cond_t freed;
    unsigned most;        /* the greatest number of threads that was ever set */
    unsigned num_numbers; /* 0: not known yet */
    unsigned num_used;
    /* While there are any no job begins: the library forks, or gets kernel threads, whose numbers jobs may have. */
    unsigned holds;
    unsigned copy; /* its index in copies */
    unsigned char is_used[NUMBERS];
};

static struct openblas *copies[COPIES];
static _Atomic(unsigned) num_copies;

static void watch_forks(const struct openblas *b);

/* --- numbers of jobs --- */

/* The library's limit, from "... MAX_THREADS=64". 0: it does not say. */
static unsigned read_limit(const struct openblas *b)
{
    const char *config = b->config ? b->config() : NULL, *at = config ? strstr(config, "MAX_THREADS=") : NULL;
    unsigned long limit = at ? strtoul(at + strlen("MAX_THREADS="), NULL, 10) : 0;
    return limit > NUMBERS ? NUMBERS : (unsigned)limit;
}

/* The constructor of the library has run: its number of threads is what its user wants. A program that is bound to the
 * library's own function may have set more since. Caller holds the lock. */
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
    if (b->cpu_number && ps_load_relaxed(b->cpu_number) != n) /* another library's variable stands before it */
        b->cpu_number = NULL;
    ps_store_relaxed(&b->library.bound, b->most);
    watch_forks(b);
}

/* Waits until some job has ended; the caller holds the lock, and looks again. No cancellation point: a thread that is
 * cancelled here would keep the lock. */
static void wait_for_jobs(struct openblas *b)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cond_wait(&b->freed, &b->lock);
    pthread_setcancelstate(state, &state);
}

/* n numbers that no other job has; false: there never are so many. Waits for other calls to end. */
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

/* Caller holds the lock. */
static void set_width_of(struct openblas *b, unsigned width)
{
    unsigned bound = ps_load_relaxed(&b->library.bound), before = ps_load_relaxed(&b->library.width);
    if (bound == 0 || !b->cpu_number || ps_load_relaxed(&b->library.left))
        return;
    int now = ps_load_relaxed(b->cpu_number);
    if (before != 0 && now > 0 && (unsigned)now != before) /* set past our functions */
        ps_store_relaxed(&b->library.bound, bound = (unsigned)now);
    width = width < bound ? width : bound;
    if ((unsigned)now != width)
        ps_store_relaxed(b->cpu_number, (int)width);
    ps_store_relaxed(&b->library.width, width);
}

/* Its jobs come to us no more, but to the program's function, or where that is NULL to the library's own threads. */
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

/* Returns what was set before. */
static int set_bound(struct openblas *b, int n)
{
    pthread_mutex_lock(&b->lock);
    learn_bound(b);
    int before = (int)ps_load_relaxed(&b->library.bound);
    bool hold = n > (int)b->most;
    b->holds += hold;
    while (hold && b->num_used > 0)
        wait_for_jobs(b);
    b->set(n); /* starts kernel threads of its own, where there are too few */
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
/*
 * Before a fork OpenBLAS ends its kernel threads, and frees the buffers of all jobs. The next call begins anew; of
 * several such calls at once, one frees buffers that another's jobs already use, but those with the lowest numbers. So
 *   - no job runs while the process forks. The handlers for it are registered at the first call, which is after the
 *     library's own: so ours comes first;
 *   - the parent begins anew before any job runs, once the library has had a parallel call;
 *   - in a child the library has its own threads again, as without us: to begin there would start them in each child.
 */

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

/* The library's functions do not tell which copy calls: each copy has a set of ours. */
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

/* What stands behind the function's name. C: "", "64_", "_64"; Fortran's: "_", "_64_", "__64". */
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

/* What that flavour asks at each call: how many threads its region is to have. In a region it does not use the
 * answer. */
static int max_threads(void)
{
    int n = omp_max();
    if (omp_in_region())
        return n;
    pools_width_at_call();
    unsigned width = pools_width_now();
    return (unsigned)n < width ? n : (int)width;
}

/* Its regions are ours anyway, by the OpenMP runtime. So there are no jobs to take: how wide the regions are is what
 * it is told, and what it tells is what the program has set. Debian has it as two objects: libblas.so.3 asks for the
 * number. */
static bool narrow_openmp(const struct object *o)
{
    if (!omp_max || !omp_in_region || !object_rebind(o, "omp_get_max_threads", (void *)max_threads))
        return false;
    for (ElfW(Sym) *s = NULL; (s = object_symbol(o, "openblas_get_num_threads", s));) /* C's and Fortran's */
        object_replace(o, s, (void *)omp_max);
    return true;
}

/* Registers b, or says why not. */
static const char *take_jobs(const struct object *o, struct openblas *b)
{
    unsigned i = ps_load_relaxed(&num_copies);
    b->take = (void (*)(openblas_jobs))find_c(o, "openblas_set_threads_callback_function");
    b->get = (int (*)(void))find_c(o, "openblas_get_num_threads");
    b->set = (void (*)(int))find_c(o, "goto_set_num_threads"); /* the others call this one */
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
