// traced MODE: a program whose timeline is known. Prints what the timeline has to have: "name number" lines.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(long ns)
{
    for (long end = now() + ns; now() < end;)
        continue;
}

static long body_ns[60000];

static void tasks(int num, long ns)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < num; i++) {
#pragma omp task
        {
            long begin = now();
            work(ns);
            body_ns[i] = now() - begin;
        }
    }
    printf("tasks %d\nregions 1\n", num);
    for (int i = 0; i < num; i++)
        printf("body %ld\n", body_ns[i]);
}

// A chain, of which no task begins before all are made: the first one is complete when its event comes.
static void dependences(int num)
{
    static char x[1000];
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task depend(out : x[0]) detach(event)
        work(1000);
        for (int i = 0; i + 1 < num; i++) {
#pragma omp task depend(in : x[i]) depend(out : x[i + 1])
            work(20000);
        }
        omp_fulfill_event(event);
    }
    printf("tasks %d\nregions 1\ndependences %d\n", num, num - 2);
}

static void nested()
{
    int members = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
        members++;
        for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4)
            {
#pragma omp atomic
                members++;
                work(10000);
#pragma omp barrier
                work(10000);
            }
        }
    }
    printf("regions %d\nmembers %d\n", 1 + 3 * 5, members);
}

static void *foreign_thread(void *)
{
#pragma omp parallel num_threads(2)
    work(100000);
    return nullptr;
}

static void foreign()
{
    pthread_t thread[4];
    for (pthread_t &t : thread)
        pthread_create(&t, nullptr, foreign_thread, nullptr);
    for (pthread_t &t : thread)
        pthread_join(t, nullptr);
    printf("regions 4\nmembers 8\n");
}

static void exceptions()
{
    int caught = 0;
#pragma omp parallel num_threads(2) reduction(+ : caught)
    for (int i = 0; i < 100; i++) {
        try {
#pragma omp critical
            work(1000);
            throw std::runtime_error("x");
        } catch (const std::runtime_error &) {
            caught++;
        }
#pragma omp task
        work(1000);
#pragma omp taskwait
    }
    printf("regions 1\nmembers 2\ntasks %d\n", caught);
}

static void locks()
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        work(20000);
        omp_unset_lock(&lock);
    }
    printf("regions 1\nmembers 4\n");
}

static volatile sig_atomic_t alarms;
static void on_alarm(int) { alarms = alarms + 1; }

static void signals()
{
    itimerval every = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, nullptr);
    tasks(1000, 20000);
    every = {};
    setitimer(ITIMER_REAL, &every, nullptr);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "tasks") == 0)
        tasks(500, 50000);
    else if (strcmp(mode, "many") == 0)
        tasks(60000, 0);
    else if (strcmp(mode, "dependences") == 0)
        dependences(50);
    else if (strcmp(mode, "nested") == 0)
        nested();
    else if (strcmp(mode, "foreign") == 0)
        foreign();
    else if (strcmp(mode, "exceptions") == 0)
        exceptions();
    else if (strcmp(mode, "locks") == 0)
        locks();
    else if (strcmp(mode, "signals") == 0)
        signals();
    else if (strcmp(mode, "fork") == 0) {
        tasks(10, 1000);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
#pragma omp parallel num_threads(3)
            work(1000);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
    } else if (strcmp(mode, "exec") == 0) {
#pragma omp parallel num_threads(2)
        work(1000);
        execl("/proc/self/exe", argv[0], "dependences", nullptr);
    } else if (strcmp(mode, "killed") == 0) {
        tasks(500, 50000);
        fflush(stdout);
        kill(getpid(), SIGKILL);
    } else {
        return 2;
    }
    return 0;
}
