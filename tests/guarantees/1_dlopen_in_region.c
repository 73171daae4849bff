/* Libraries with thread-local variables of the initial-exec model that members open inside a region. Constructors, the
 * member that opens one, and the other members, which are there already, find initial values, each its own; what they
 * write is kept. argv[1] and on: the libraries; an argument that names no file: the kind. */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <dlfcn.h>
#include <pthread.h>

#define N 8
#define MOST 4

struct library {
    void *handle;
    int (*constructor_saw)(void), (*initial)(void), (*set)(int), (*get)(void), (*print)(int);
};
static char **paths;
static int num_paths;

static struct library opened(void *handle)
{
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(handle);
    struct library l = {handle,
                        (int (*)(void))dlsym(handle, "library_constructor_saw"),
                        (int (*)(void))dlsym(handle, "library_initial"),
                        (int (*)(int))dlsym(handle, "library_set"),
                        (int (*)(void))dlsym(handle, "library_get"),
                        (int (*)(int))dlsym(handle, "library_print")};
    CHECK(l.constructor_saw && l.initial && l.set && l.get && l.print);
    CHECK(l.constructor_saw());
    CHECK(l.get() == 1); /* of the constructor, which ran on this thread */
    return l;
}
static struct library open_library(const char *path) { return opened(dlopen(path, RTLD_NOW | RTLD_LOCAL)); }

/* By all members of a team of n; `loader` has opened it. */
static void use(const struct library *l, int loader, int n, int base)
{
    int id = omp_get_thread_num();
    if (id != loader)
        CHECK(l->initial());
    CHECK(l->set(base + id) == base + id);
    wait_in_all_ways();
#pragma omp barrier
    CHECK(l->get() == base + id);
    CHECK(omp_get_num_threads() == n);
}

static void one_each(void)
{
    struct library l[MOST];
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
#pragma omp barrier
            for (int i = 0; i < num_paths; i++) {
                int loader = (2 * i + 1) % N;
                if (round == 0 && id == loader)
                    l[i] = open_library(paths[i]);
#pragma omp barrier
                if (round == 0)
                    use(&l[i], loader, N, 100 * (i + 1));
                else /* the same threads, as with every runtime */
                    CHECK(l[i].get() == 100 * (i + 1) + id);
            }
            for (int i = 0; i < num_paths; i++)
                CHECK(l[i].get() == 100 * (i + 1) + id);
        }
    }
}

static void by_dedicated_members(void)
{
    struct library l;
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        if (id % 2)
            CHECK(gettid() > 0);
#pragma omp barrier
        if (id == 5)
            l = open_library(paths[0]);
#pragma omp barrier
        use(&l, 5, N, 100);
    }
}

static void by_all_at_once(void)
{
    struct library l[MOST];
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        if (id < num_paths)
            l[id] = open_library(paths[id]);
#pragma omp barrier
        for (int i = 0; i < num_paths; i++)
            use(&l[i], i, N, 100 * (i + 1));
    }
}

static void in_inner_regions(void)
{
    struct library l;
    int first = -1, here = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3)
        {
            /* all are there: the C library forgets a kernel thread that is being made just then */
            __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&here, __ATOMIC_SEQ_CST) < 12)
                usleep(100);
            if (outer == 2 && omp_get_thread_num() == 1) {
                l = open_library(paths[0]);
                l.set(5);
                __atomic_store_n(&first, 21, __ATOMIC_RELEASE);
            }
            while (__atomic_load_n(&first, __ATOMIC_ACQUIRE) < 0)
                usleep(100);
            int id = 10 * outer + omp_get_thread_num();
            CHECK(id == 21 ? l.get() == 5 : l.initial());
            CHECK(l.set(1000 + id) == 1000 + id);
#pragma omp barrier
            CHECK(l.get() == 1000 + id);
        }
        CHECK(l.get() == 1000 + 10 * outer); /* the inner team's first member is this one */
    }
}

/* Closed and opened again, perhaps in the same place: from the beginning for every thread. */
static void again(void)
{
    struct library l = {0};
#pragma omp parallel num_threads(N)
    for (int round = 0; round < 3; round++) {
#pragma omp barrier
        if (omp_get_thread_num() == 1 + round)
            l = open_library(paths[0]);
#pragma omp barrier
        use(&l, 1 + round, N, 100 * (round + 1));
#pragma omp barrier
        if (omp_get_thread_num() == 4)
            CHECK(dlclose(l.handle) == 0);
    }
}

/* By a thread that is no member, while they wait; they begin to look in the middle of it. */
static void *open_beside(void *arg)
{
    *(struct library *)arg = open_library(paths[0]);
    return arg;
}
static void by_another_thread(void)
{
    struct library l;
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        if (id == 3) {
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, open_beside, &l) == 0 && pthread_join(thread, NULL) == 0);
        }
#pragma omp barrier
        use(&l, -1, N, 100);
    }
}

static const struct kind_of kinds[] = {
    {"one_each", one_each},
    {"by_dedicated_members", by_dedicated_members},
    {"by_all_at_once", by_all_at_once},
    {"in_inner_regions", in_inner_regions},
    {"again", again},
    {"by_another_thread", by_another_thread},
};

int main(int argc, char **argv)
{
    const char *only = NULL;
    paths = argv + 1;
    for (int i = 1; i < argc; i++)
        if (access(argv[i], R_OK) == 0)
            num_paths++;
        else
            only = argv[i];
    CHECK(num_paths >= 1 && num_paths <= MOST);
    RUN_KINDS(kinds, only);
    return 0;
}
