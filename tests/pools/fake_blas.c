/* A library with OpenBLAS's interface for callers' threads, and its habits. The jobs of a product wait for one another.
 * One product runs at a time. A job's number is that of a buffer. The lowest numbers are those of its own kernel
 * threads. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <pthread.h>

#include "../check.h"
#include "fake_blas.h"

enum { MAX_THREADS = 64, ROUNDS = 3 };

int blas_cpu_number;
static int most; /* its own kernel threads would be 0 .. most - 2 */
static openblas_jobs callback;
static int told_in_time;
static atomic_int is_used[MAX_THREADS];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Before a fork the buffers of all jobs are freed: none may run. */
static void free_buffers(void)
{
    for (int i = 0; i < MAX_THREADS; i++)
        CHECK(atomic_load(&is_used[i]) == 0);
}

/* A product that waits for another one is not in the child. */
static void forget_products(void) { pthread_mutex_init(&one_at_a_time, NULL); }

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(free_buffers, NULL, forget_products);
    const char *text = getenv("OPENBLAS_NUM_THREADS");
    blas_cpu_number = most = text ? atoi(text) : 4;
    told_in_time = callback != NULL;
}

void NAME(openblas_set_threads_callback_function)(openblas_jobs f) { callback = f; }
int NAME(openblas_get_parallel)(void) { return 1; /* threads of its own */ }
char *NAME(openblas_get_config)(void)
{
    static char text[] = "OpenBLAS 0.3.99 NO_AFFINITY Fake MAX_THREADS=64";
    return text;
}
int NAME(openblas_get_num_threads)(void) { return blas_cpu_number; }
void NAME(goto_set_num_threads)(int n)
{
    blas_cpu_number = n < 1 ? most : n;
    most = n > most ? n : most;
}
void NAME(openblas_set_num_threads)(int n) { NAME(goto_set_num_threads)(n); }
void NAME(openblas_set_num_threads_)(const int *n) { NAME(goto_set_num_threads)(*n); }

struct job {
    atomic_int *arrived;
    int n, *results, *result;
};

static void run_as(int number, const struct job *job)
{
    CHECK(atomic_fetch_add(&is_used[number], 1) == 0);
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_fetch_add(job->arrived, 1);
        while (atomic_load(job->arrived) < round * job->n)
            sched_yield();
    }
    atomic_fetch_sub(&is_used[number], 1);
    *job->result = job->n;
}

static void run(int number, void *data, int extra)
{
    CHECK(extra == 0 && number >= most - 1 && number < MAX_THREADS);
    run_as(number, data);
}

static void *run_on_own_thread(void *data)
{
    const struct job *job = data;
    run_as((int)(job->result - job->results), job);
    return NULL;
}

/* The jobs of a call, by the callback that is there now, or by its own threads: one call at a time. */
int exec_blas(long n, void *data)
{
    static pthread_mutex_t own_threads = PTHREAD_MUTEX_INITIALIZER;
    openblas_jobs now = *(openblas_jobs volatile *)&callback;
    struct job *job = data;
    if (now) {
        now(1, run, (int)n, sizeof *job, job, 0);
        return 0;
    }
    pthread_t thread[MAX_THREADS];
    pthread_mutex_lock(&own_threads);
    for (long i = 0; i < n; i++)
        CHECK(pthread_create(&thread[i], NULL, run_on_own_thread, &job[i]) == 0);
    for (long i = 0; i < n; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    pthread_mutex_unlock(&own_threads);
    return 0;
}

/* Several at once, as OpenBLAS's products with a vector are. */
int NAME(fake_vector)(void)
{
    int n = *(volatile int *)&blas_cpu_number;
    if (n == 1 || !callback)
        return n == 1;
    atomic_int arrived = 0;
    int result[MAX_THREADS] = {0};
    struct job job[MAX_THREADS];
    for (int i = 0; i < n; i++)
        job[i] = (struct job){&arrived, n, result, &result[i]};
    exec_blas(n, job);
    for (int i = 0; i < n; i++)
        CHECK(result[i] == n);
    return n;
}

/* One at a time. */
int NAME(fake_product)(void)
{
    if (*(volatile int *)&blas_cpu_number == 1)
        return 1;
    pthread_mutex_lock(&one_at_a_time);
    int n = NAME(fake_vector)();
    pthread_mutex_unlock(&one_at_a_time);
    return n;
}

int NAME(fake_told_in_time)(void) { return told_in_time; }
