/* Everything that tests/guarantees asks for, mixed at random in one process for a long time: nothing hangs, no result
 * is wrong, and what the process has of the system - memory, mappings, files, kernel threads - does not grow.
 *
 * soak [SECONDS] [SEED]. Each round runs some of the workloads below, several at a time from kernel threads that come
 * and go. The rounds are divided in TENTHS; usage is looked at, at rest, at the end of each. The most of the first half
 * is held against the least of the last looks: caches may fill, and are as large as they get then; leaks do not
 * empty. */
#define _GNU_SOURCE
#include "usage.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define TENTHS 10
#define FIRST_HALF (TENTHS / 2)
#define LAST (TENTHS - 3) /* from here on */
#define ROOTS 3
#define WIDEST 500 /* members of a team */

static __thread int own;
static const char *library_path;
static long runs[16];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- workloads: each leaves nothing behind; s: random numbers of its own --- */

static unsigned random_below(unsigned *s, unsigned n)
{
    *s = *s * 1664525u + 1013904223u;
    return (*s >> 8) % n;
}

static void nested_regions(unsigned *s)
{
    int outer = 1 + (int)random_below(s, 8), inner = 1 + (int)random_below(s, 6), sum = 0;
#pragma omp parallel num_threads(outer) reduction(+ : sum)
    {
        own = omp_get_thread_num();
        for (int i = 0; i < 20; i++) {
            int below = 0;
#pragma omp parallel num_threads(inner) reduction(+ : below)
            {
#pragma omp barrier
                below++;
            }
            sum += below == inner;
            CHECK(own == omp_get_thread_num());
        }
    }
    CHECK(sum == 20 * outer);
}

static int descend(int left, int width)
{
    int sum = 0;
    if (left == 0)
        return 1;
#pragma omp parallel num_threads(width) reduction(+ : sum)
    sum += omp_get_thread_num() == width - 1 ? descend(left - 1, width) : 0;
    return sum + 1;
}

static void deep(unsigned *s)
{
    int levels = 20 + (int)random_below(s, 60);
    omp_set_max_active_levels(100);
    CHECK(descend(levels, 2) == levels + 1);
    omp_set_max_active_levels(3);
}

static void wide(unsigned *s)
{
    int n = 100 + (int)random_below(s, WIDEST - 100), sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
#pragma omp barrier
        sum++;
    }
    CHECK(sum == n);
}

static void loops(unsigned *s)
{
    int chunk = 1 + (int)random_below(s, 9);
    long sum = 0;
#pragma omp parallel num_threads(6) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, chunk)
        for (int i = 0; i < 2000; i++)
            sum += i;
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < 2000; i++)
            sum += i;
#pragma omp for schedule(static, chunk) ordered
        for (int i = 0; i < 40; i++) {
#pragma omp ordered
            sum += i;
        }
#pragma omp sections
        {
#pragma omp section
            sum++;
#pragma omp section
            sum++;
        }
    }
    CHECK(sum == 2 * 1999000L + 780 + 2);
}

static int fib(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 4)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(unsigned *s)
{
    int n = 8 + (int)random_below(s, 6), chain = 0, result = 0, before, after = 0;
    static const int expected[] = {21, 34, 55, 89, 144, 233};
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < 30; i++) {
#pragma omp task shared(chain) depend(inout : chain) firstprivate(i)
            {
                CHECK(chain == i);
                chain++;
            }
        }
        result = fib(n);
    }
    CHECK(chain == 30 && result == expected[n - 8]);
    before = 40;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskloop num_tasks(8) shared(after)
    for (int i = 0; i < 40; i++) {
#pragma omp atomic
        after++;
    }
    CHECK(after == before);
}

static void locks(unsigned *s)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int a = 0, b = 0, c = 0, n = 2 + (int)random_below(s, 6);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(n)
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        a++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        b++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        pthread_mutex_lock(&mutex);
        c++;
        pthread_mutex_unlock(&mutex);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    CHECK(a == 50 * n && b == a && c == a);
}

static void spin_flags(unsigned *s)
{
    int n = 2 + (int)random_below(s, 4);
    volatile int turn = n - 1;
#pragma omp parallel num_threads(n)
    {
        while (turn != omp_get_thread_num())
            __sync_synchronize();
        turn = turn - 1;
    }
    CHECK(turn == -1);
}

static void pipes_and_semaphores(unsigned *s)
{
    int channel[2], n = 2 + (int)random_below(s, 4);
    sem_t sem;
    char c;
    CHECK(pipe(channel) == 0 && sem_init(&sem, 0, 0) == 0);
#pragma omp parallel num_threads(n)
    {
        if (omp_get_thread_num() == n - 1) {
            for (int i = 1; i < n; i++) {
                CHECK(write(channel[1], "x", 1) == 1);
                sem_post(&sem);
            }
        } else {
            CHECK(read(channel[0], &c, 1) == 1);
            while (sem_wait(&sem))
                CHECK(errno == EINTR);
        }
    }
    sem_destroy(&sem);
    close(channel[0]);
    close(channel[1]);
}

static void forked_child(unsigned *s)
{
    pid_t child = fork();
    if (!child) {
        int sum = 0;
        alarm(60);
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum++;
        _exit(sum == 4 ? 0 : 1);
    }
    int status;
    nested_regions(s);
    while (waitpid(child, &status, 0) != child)
        CHECK(errno == EINTR);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void spawned(unsigned *s)
{
    int wanted = (int)random_below(s, 3);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == wanted % 2) {
        pid_t child = vfork();
        if (!child) {
            execlp("true", "true", (char *)NULL);
            _exit(127);
        }
        int status;
        while (waitpid(child, &status, 0) != child)
            CHECK(errno == EINTR);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void late_library(unsigned *s)
{
    (void)s;
    if (!library_path)
        return;
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    int (*region)(int) = (int (*)(int))dlsym(library, "library_region");
    int *(*value)(void) = (int *(*)(void))dlsym(library, "library_value");
    CHECK(region && value && region(4) == 16);
#pragma omp parallel num_threads(4)
    {
        int *mine = value();
        *mine = omp_get_thread_num();
#pragma omp barrier
        CHECK(*value() == omp_get_thread_num());
        *mine = 5;
    }
    dlclose(library);
}

static void memory(unsigned *s)
{
    char *block[8];
    unsigned seed = *s;
#pragma omp parallel num_threads(8)
    {
        int id = omp_get_thread_num();
        unsigned mine = seed + (unsigned)id;
        for (int i = 0; i < 20; i++) {
            size_t bytes = 16 + random_below(&mine, 20000);
            block[id] = (char *)malloc(bytes);
            CHECK(block[id]);
            memset(block[id], id, bytes);
#pragma omp barrier
            CHECK(block[(id + 1) % 8][15] == (id + 1) % 8);
            free(block[(id + 1) % 8]);
#pragma omp barrier
        }
    }
}

static void (*const workload[])(unsigned *) = {
    nested_regions,       deep,    wide,         loops,       tasks, locks, spin_flags, memory,
    pipes_and_semaphores, spawned, forked_child, late_library};
#define WORKLOADS (sizeof workload / sizeof *workload)

/* --- the mixture --- */

static volatile sig_atomic_t alarms;
static void on_alarm(int number)
{
    (void)number;
    alarms = alarms + 1;
}

static void *root(void *arg)
{
    unsigned s = *(unsigned *)arg;
    omp_set_max_active_levels(3);
    for (int i = 0; i < 4; i++) {
        unsigned which = random_below(&s, WORKLOADS);
        workload[which](&s);
        __atomic_add_fetch(&runs[which], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void round_of(unsigned *s)
{
    pthread_t thread[ROOTS];
    unsigned seed[ROOTS + 1];
    int n = (int)random_below(s, ROOTS + 1);
    for (int k = 0; k <= ROOTS; k++)
        seed[k] = *s + 77u * (unsigned)k;
    for (int k = 0; k < n; k++)
        CHECK(pthread_create(&thread[k], NULL, root, &seed[k]) == 0);
    root(&seed[ROOTS]);
    for (int k = 0; k < n; k++)
        pthread_join(thread[k], NULL);
}

/* Spares retire some time after what starved. */
static struct usage at_rest(void)
{
    struct usage u = usage_now();
    for (int i = 0; i < 40; i++) {
        usleep(25000);
        struct usage again = usage_now();
        if (again.kernel_threads >= u.kernel_threads && i >= 8)
            return again;
        u = again;
    }
    return u;
}

static long least(long a, long b) { return a < b ? a : b; }

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 60, begin = now();
    unsigned s = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : (unsigned)time(NULL);
    library_path = argc > 3 ? argv[3] : NULL;
    printf("soak: %g s, seed %u\n", seconds, s);
    fflush(stdout);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval now_and_then = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    struct usage first = {0, 0, 0, 0}, later = {0, 0, 0, 0};
    long rounds = 0;
    for (int tenth = 0; tenth < TENTHS; tenth++) {
        double end = begin + seconds * (tenth + 1) / TENTHS;
        setitimer(ITIMER_REAL, &now_and_then, NULL);
        do {
            round_of(&s);
            random_below(&s, 2);
            rounds++;
        } while (now() < end);
        setitimer(ITIMER_REAL, &never, NULL);
        struct usage u = at_rest();
        printf("%6.0f s %8ld rounds: %ld KiB resident, %ld mappings, %ld files, %ld kernel threads\n", now() - begin,
               rounds, u.resident_kib, u.maps, u.files, u.kernel_threads);
        fflush(stdout);
        if (tenth < FIRST_HALF) {
            first.resident_kib = u.resident_kib > first.resident_kib ? u.resident_kib : first.resident_kib;
            first.maps = u.maps > first.maps ? u.maps : first.maps;
            first.files = u.files > first.files ? u.files : first.files;
            first.kernel_threads = u.kernel_threads > first.kernel_threads ? u.kernel_threads : first.kernel_threads;
        } else if (tenth == LAST) {
            later = u;
        } else if (tenth > LAST) {
            later.resident_kib = least(later.resident_kib, u.resident_kib);
            later.maps = least(later.maps, u.maps);
            later.files = least(later.files, u.files);
            later.kernel_threads = least(later.kernel_threads, u.kernel_threads);
        }
    }
    for (unsigned i = 0; i < WORKLOADS; i++)
        CHECK(runs[i] > 0 || rounds < 200);
    CHECK(later.files <= first.files && later.kernel_threads <= first.kernel_threads);
    /* What takes a while to find its size: malloc's arenas, one for some of the threads; stacks and thread-local blocks
     * kept for the widest team, each with its guard, which a short run may only meet towards its end. */
    bool brief = seconds < 300;
    CHECK(later.maps <= first.maps + first.maps / 4 + (brief ? 2 * WIDEST : 100));
    CHECK(later.resident_kib <= first.resident_kib + first.resident_kib / 8 + (brief ? 16384 : 2048));
    printf("soak: nothing grew in %ld rounds\n", rounds);
    return 0;
}
