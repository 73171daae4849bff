/* A kernel thread that a member starts begins with what the member has: its name, which is the process's where nobody
 * has set another, its signal mask and nice value, and nothing of another member's. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#define N 8

static char process_name[16];

struct seen {
    char name[16];
    int nice;
    bool blocked;
    atomic_int done;
};

static void look(struct seen *seen)
{
    sigset_t mask;
    char path[60];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)syscall(SYS_gettid));
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(seen->name, sizeof seen->name, file));
    fclose(file);
    seen->name[strcspn(seen->name, "\n")] = '\0';
    seen->nice = getpriority(PRIO_PROCESS, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    seen->blocked = sigismember(&mask, SIGUSR2) == 1;
    atomic_store(&seen->done, 1);
}

static void *be_thread(void *seen)
{
    look(seen);
    return NULL;
}
static void by_pthread(struct seen *seen)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, be_thread, seen) == 0 && pthread_join(thread, NULL) == 0);
}

static int be_c11_thread(void *seen)
{
    look(seen);
    return 0;
}
static void by_c11(struct seen *seen)
{
    thrd_t thread;
    CHECK(thrd_create(&thread, be_c11_thread, seen) == thrd_success && thrd_join(thread, NULL) == thrd_success);
}

#define MOST_NICE 19
static int first_nice; /* the process's: the test may begin with any */
__attribute__((constructor)) static void read_nice(void) { first_nice = getpriority(PRIO_PROCESS, 0); }

static void check(void (*start)(struct seen *), const char *name, int nice, bool blocked)
{
    struct seen seen = {.done = 0};
    start(&seen);
    CHECK(atomic_load(&seen.done));
    if (strcmp(seen.name, name))
        fprintf(stderr, "\"%s\" instead of \"%s\"\n", seen.name, name);
    CHECK(!strcmp(seen.name, name) && seen.nice == nice && seen.blocked == blocked);
}

static void members_start(void (*start)(struct seen *))
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num(), own_nice = first_nice;
            char own[16];
            snprintf(own, sizeof own, "%s", process_name);
            wait_in_a_barrier();
            if (round == 0)
                check(start, own, first_nice, false);
            wait_in_all_ways();
            if (id % 2) { /* not the first one: that is the process's */
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, SIGUSR2);
                snprintf(own, sizeof own, "member %d", id);
                own_nice = first_nice + id < MOST_NICE ? first_nice + id : MOST_NICE;
                CHECK(pthread_setname_np(pthread_self(), own) == 0 && setpriority(PRIO_PROCESS, 0, own_nice) == 0);
                CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
            }
            wait_in_all_ways();
            check(start, own, own_nice, id % 2);
        }
    }
}
static void pthreads(void) { members_start(by_pthread); }
static void c11_threads(void) { members_start(by_c11); }

/* Where nothing else tells that a member is to have a kernel thread of its own. */
static void names_only(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 3; i++) {
        check(i % 2 ? by_c11 : by_pthread, process_name, first_nice, false);
        wait_in_all_ways();
    }
}

/* The C library's own kernel thread, which the first such timer of the process starts. */
static struct seen seen_by_timer;
static void on_time(union sigval value)
{
    (void)value;
    look(&seen_by_timer);
}
static void a_timer(void)
{
#pragma omp parallel num_threads(N)
    {
        wait_in_all_ways();
        if (omp_get_thread_num() == N - 1) {
            struct sigevent event;
            struct itimerspec soon = {{0, 0}, {0, 1000000}};
            timer_t timer;
            memset(&event, 0, sizeof event);
            event.sigev_notify = SIGEV_THREAD;
            event.sigev_notify_function = on_time;
            CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
            while (!atomic_load(&seen_by_timer.done))
                usleep(500);
            CHECK(!strcmp(seen_by_timer.name, process_name) && timer_delete(timer) == 0);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"pthreads", pthreads}, {"c11_threads", c11_threads}, {"names_only", names_only}, {"a_timer", a_timer}};
    CHECK(pthread_getname_np(pthread_self(), process_name, sizeof process_name) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
