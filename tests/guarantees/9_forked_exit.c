/* pthread_exit in a child that a member has forked. The child has one thread, and the member is that thread. Its
 * functions are left with their destructors and handlers, innermost first. Then thread-local objects and values of keys
 * are destroyed. Then the process ends with its last thread: exit handlers run, status 0. Functions that have called
 * the region in the parent are left too where the same thread has called them, and no others. argv[1]: the library. */
#define _GNU_SOURCE
#include "kinds.h"
#include "unseen_fork.h"
#include "waits.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define N 4

static void (*library_call)(char name, void (*then)(void), void (*note)(char));
static void (*library_leave)(void (*note)(char));
static pthread_key_t key;

/* What a child does, in order, for its parent to see. */
struct record {
    atomic_int n;
    char what[64];
};
static struct record *seen; /* NULL: not in a child */
static void note(char what)
{
    if (!seen)
        return;
    int at = atomic_fetch_add(&seen->n, 1);
    if (at < 63)
        seen->what[at] = what;
}

static void destroy_value(void *value) { note(value == &key ? 'K' : '?'); }
static void handler(void *name) { note(*(char *)name); }
static void at_exit(void) { note('X'); }

static void leave(void)
{
    CHECK(pthread_setspecific(key, &key) == 0 && atexit(at_exit) == 0);
    library_leave(note);
}
static void leave_with_handler(void)
{
    char name = 'h';
    pthread_cleanup_push(handler, &name);
    library_call('b', leave, note);
    pthread_cleanup_pop(0);
}
static void leave_all(void) { library_call('a', leave_with_handler, note); }
#define OWN "cbha" /* functions */
#define ALL OWN "TKX"

/* The child ends in `then`; what it has done is `expected`. */
static void fork_here(void (*then)(void), const char *expected)
{
    struct record *mine = mmap(NULL, sizeof *mine, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mine != MAP_FAILED);
    pid_t child = make_child();
    CHECK(child >= 0);
    if (child == 0) {
        seen = mine;
        then();
        _exit(1);
    }
    int status;
    while (waitpid(child, &status, 0) != child)
        continue;
    if (status != 0 || strcmp(mine->what, expected) != 0)
        fprintf(stderr, "status %x, \"%s\" instead of \"%s\"\n", (unsigned)status, mine->what, expected);
    CHECK(status == 0 && strcmp(mine->what, expected) == 0);
    munmap(mine, sizeof *mine);
}

static void each(void)
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
#pragma omp barrier
            if (omp_get_thread_num() != 0)
                fork_here(leave_all, ALL);
            wait_in_all_ways();
            if (omp_get_thread_num() == N - 1)
                fork_here(leave_all, ALL);
        }
    }
}

/* Members that run as calls, on their parents' stacks: none waits before. The first of an inner team is its parent, and
 * has called what stands above its region; others have not. */
static void innermost_region(const char *of_first)
{
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0)
        fork_here(leave_all, of_first);
    else
        fork_here(leave_all, ALL);
}
static void region_of_first(void) { innermost_region(OWN "pqTKX"); }
static void region_of_another(void) { innermost_region(OWN "pTKX"); }
static void outer_region(void)
{
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0)
        library_call('p', region_of_first, note);
    else if (omp_get_thread_num() == 1)
        library_call('p', region_of_another, note);
    else
        fork_here(leave_all, ALL);
}
static void as_calls(void)
{
    omp_set_max_active_levels(4);
    for (int round = 0; round < 2; round++)
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1)
            library_call('q', outer_region, note);
}

static void promoted(void)
{
#pragma omp parallel num_threads(N)
    {
        CHECK(gettid() > 0);
        wait_in_all_ways();
        if (omp_get_thread_num() != 0)
            fork_here(leave_all, ALL);
    }
}

static void in_tasks(void)
{
#pragma omp parallel num_threads(N)
#pragma omp single
    for (int i = 0; i < 2 * N; i++)
#pragma omp task
        if (omp_get_thread_num() != 0)
            fork_here(leave_all, ALL);
}

static void leave_after_regions(void)
{
    for (int round = 0; round < 2; round++) {
        int n = 0;
#pragma omp parallel num_threads(N) reduction(+ : n)
        {
#pragma omp barrier
            n++;
        }
        CHECK(n == N);
    }
    leave_all();
}
static void after_regions(void)
{
    omp_set_max_active_levels(4);
#pragma omp parallel num_threads(N)
    {
#pragma omp barrier
        if (omp_get_thread_num() != 0)
            fork_here(leave_after_regions, ALL);
    }
}

/* The thread that forked has ended. */
static void await_end_of_forked(void)
{
    while (!strchr(seen->what, 'K'))
        usleep(1000);
    usleep(20000);
}

/* The process goes on until its last thread ends. */
static void *work_on(void *arg)
{
    await_end_of_forked();
    note('w');
    return arg;
}
static void leave_a_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work_on, NULL) == 0 && pthread_detach(thread) == 0);
    leave_all();
}
static void beside_a_thread(void)
{
#pragma omp parallel num_threads(N)
    {
#pragma omp barrier
        if (omp_get_thread_num() != 0)
            fork_here(leave_a_thread, OWN "TKwX");
    }
}

/* The last one opens regions, and so do members that had ended before. */
static void *work_in_a_region(void *arg)
{
    await_end_of_forked();
#pragma omp parallel num_threads(2)
    usleep(20000);
    note('w');
    return arg;
}
static void leave_a_root(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work_in_a_region, NULL) == 0 && pthread_detach(thread) == 0);
    leave_all();
}
static void beside_a_root(void)
{
#pragma omp parallel num_threads(N)
    {
#pragma omp barrier
        if (omp_get_thread_num() != 0)
            fork_here(leave_a_root, OWN "TKwX");
    }
}

/* The program's own thread, outside of regions: its thread-local objects are destroyed as the process exits. */
static void first(void)
{
    int n = 0;
#pragma omp parallel num_threads(N) reduction(+ : n)
    n++;
    CHECK(n == N);
    fork_here(leave_all, OWN "KTX");
}

UNSEEN(each)
UNSEEN(as_calls)
UNSEEN(in_tasks)
UNSEEN(after_regions)
UNSEEN(beside_a_thread)
UNSEEN(beside_a_root)

static const struct kind_of kinds[] = {
    {"each", each},
    {"as_calls", as_calls},
    {"promoted", promoted},
    {"in_tasks", in_tasks},
    {"after_regions", after_regions},
    {"beside_a_thread", beside_a_thread},
    {"beside_a_root", beside_a_root},
    {"first", first},
    {"each_unseen", each_unseen},
    {"as_calls_unseen", as_calls_unseen},
    {"in_tasks_unseen", in_tasks_unseen},
    {"after_regions_unseen", after_regions_unseen},
    {"beside_a_thread_unseen", beside_a_thread_unseen},
    {"beside_a_root_unseen", beside_a_root_unseen},
};

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    library_call = (void (*)(char, void (*)(void), void (*)(char)))dlsym(library, "library_call");
    library_leave = (void (*)(void (*)(char)))dlsym(library, "library_leave");
    CHECK(library_call && library_leave && pthread_key_create(&key, destroy_value) == 0);
    RUN_KINDS(kinds, argc > 2 ? argv[2] : NULL);
    return 0;
}
