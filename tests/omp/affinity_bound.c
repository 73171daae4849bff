/* Members are where their place is: the processor that runs them, and their kernel thread's mask, at every level and
 * after each kind of wait; the initial thread's own mask is as it was before and after regions. Not under libgomp,
 * which binds the initial thread for good. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "check.h"
#include "respawn.h"

static int wrong;

static void complain(const char *what, int place)
{
    if (__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 5)
        fprintf(stderr, "%s: thread %d of %d, level %d, place %d runs on %d\n", what, omp_get_thread_num(),
                omp_get_num_threads(), omp_get_level(), place, sched_getcpu());
}

/* The caller's place, by the routines, by its kernel thread, and as %A shows it. */
static void check_here(const char *what)
{
    int place = omp_get_place_num(), n = omp_get_place_num_procs(place), ids[CPU_SETSIZE], cpu = sched_getcpu();
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    omp_get_place_proc_ids(place, ids);
    int in = 0, same = CPU_COUNT(&mask) == n;
    for (int i = 0; i < n; i++) {
        in |= ids[i] == cpu;
        same &= CPU_ISSET(ids[i], &mask) != 0;
    }
    if (!in || !same)
        complain(what, place);
    char shown[64], own[64];
    omp_capture_affinity(shown, sizeof shown, "%A");
    if (n == 1) {
        snprintf(own, sizeof own, "%d", ids[0]);
        if (strcmp(shown, own) != 0)
            complain("shown", place);
    }
}

static void work(const char *what)
{
    check_here(what);
#pragma omp barrier
    check_here("after a barrier");
    if (omp_get_thread_num() == 0)
        usleep(2000);
#pragma omp barrier
    check_here("after a long barrier");
    for (int i = 0; i < 5; i++) {
        sched_yield();
        check_here("after a yield");
    }
#pragma omp critical
    {
        usleep(100);
        check_here("in a critical section");
    }
#pragma omp single nowait
    for (int i = 0; i < 10; i++) {
#pragma omp task
        check_here("in a task");
    }
#pragma omp taskwait
    check_here("after a taskwait");
}

static void regions(int n, int inner)
{
#pragma omp parallel num_threads(n) proc_bind(spread)
    {
        work("spread");
#pragma omp parallel num_threads(inner) proc_bind(close)
        work("close in spread");
        check_here("after close in spread");
    }
#pragma omp parallel num_threads(n) proc_bind(close)
    {
        work("close");
#pragma omp parallel num_threads(inner) proc_bind(primary)
        {
            work("primary in close");
#pragma omp parallel num_threads(2) proc_bind(spread)
            work("spread in primary in close");
        }
#pragma omp parallel num_threads(inner) proc_bind(close)
        work("close in close");
        check_here("after close in close");
    }
#pragma omp parallel num_threads(n) proc_bind(primary)
    work("primary");
#pragma omp parallel num_threads(n)
    work("no clause");
}

static void *root(void *arg)
{
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    regions(*(int *)arg, 3);
    sched_getaffinity(0, sizeof after, &after);
    if (!CPU_EQUAL(&before, &after))
        complain("a root's own mask", -1);
    return NULL;
}

static int respawned(void)
{
    cpu_set_t before, after;
    char shown[64], again[64];
    int four = 4;
    omp_set_dynamic(0);
    omp_set_max_active_levels(4);
    sched_getaffinity(0, sizeof before, &before);
    omp_capture_affinity(shown, sizeof shown, "%A");
    for (int n = 2; n <= 5; n += 3) {
        regions(n, 2);
        regions(n, 3);
        sched_getaffinity(0, sizeof after, &after);
        CHECK(CPU_EQUAL(&before, &after));
    }
    omp_capture_affinity(again, sizeof again, "%A");
    CHECK(strcmp(shown, again) == 0);
    /* roots of other kernel threads, while the first one sleeps in the system */
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, root, &four) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    char text[65536];
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return respawned();
    int cpus[CPU_SETSIZE], n = 0;
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &mask))
            cpus[n++] = c;
    int a = cpus[0], b = cpus[n > 1 ? 1 : 0];
    char overlap[128], reverse[128], one[128];
    snprintf(overlap, sizeof overlap, "OMP_PLACES={%d},{%d},{%d,%d}", a, b, a, b);
    snprintf(reverse, sizeof reverse, "OMP_PLACES={%d},{%d}", b, a);
    snprintf(one, sizeof one, "OMP_PLACES={%d}", b);
    const char *places[] = {"OMP_PLACES=threads", "OMP_PLACES=sockets", overlap, reverse, one};
    const char *vps[] = {"PSTHREADS_VERBOSE=", "PSTHREADS_NUM_VPS=1", "PSTHREADS_NUM_VPS=3"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof vps / sizeof *vps; j++) {
            int status = respawn(text, sizeof text, "run", "OMP_PROC_BIND=true", places[i], vps[j], NULL);
            if (status != 0)
                fprintf(stderr, "%s %s:\n%s", places[i], vps[j], text);
            CHECK(status == 0);
        }
    return 0;
}
