/* Members open libraries into namespaces of their own (dlmopen), with a C library of its own there. The members do so
 * in constructors and afterwards, by a file's path and by its name, all at once. Also: errors; closed and opened again
 * more often than there can be namespaces. argv[1]: the library. 9_namespaces LIBRARY [KIND]
 *
 * Where many open and close at once, the C library's room for initial-exec variables is split up, and one open in some
 * thousands fails for that. So they take turns. */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <dlfcn.h>

#define N 4

static const char *path;

struct library {
    void *handle;
    int (*constructed)(void), (*use)(void), (*share)(void), (*value)(void);
    void (*set)(int);
};

static struct library opened(Lmid_t namespace)
{
    void *handle = dlmopen(namespace, path, RTLD_NOW);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(handle);
    struct library l = {handle,
                        (int (*)(void))dlsym(handle, "namespace_constructed"),
                        (int (*)(void))dlsym(handle, "namespace_use"),
                        (int (*)(void))dlsym(handle, "namespace_share"),
                        (int (*)(void))dlsym(handle, "namespace_value"),
                        (void (*)(int))dlsym(handle, "namespace_set")};
    CHECK(l.constructed && l.use && l.share && l.value && l.set);
    CHECK(l.constructed() && l.use() && l.share());
    return l;
}

static void by_one(void)
{
    for (int who = 0; who < N; who++) {
        struct library l;
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
#pragma omp barrier
            if (id == who)
                l = opened(LM_ID_NEWLM);
#pragma omp barrier
            CHECK(l.share());
            wait_in_all_ways();
            CHECK(l.share() && (id != who || l.use()));
        }
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            CHECK(l.value() == 7);
            l.set(100 + id);
            wait_in_all_ways();
            CHECK(l.value() == 100 + id);
        }
    }
}

static void by_all(void)
{
    struct library l[N];
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        l[id] = opened(LM_ID_NEWLM);
        wait_in_all_ways();
#pragma omp barrier
        CHECK(l[id].use());
        for (int i = 0; i < N; i++)
            CHECK(l[i].share());
    }
}

static void again(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 12; i++) {
#pragma omp critical
        {
            struct library l = opened(LM_ID_NEWLM);
            CHECK(l.use() && dlclose(l.handle) == 0);
        }
    }
}

static void by_name(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 12; i++) {
#pragma omp critical
        {
            void *handle = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
            CHECK(handle);
            double (*root)(double) = (double (*)(double))dlsym(handle, "sqrt");
            CHECK(root && root(4) == 2 && dlclose(handle) == 0);
        }
    }
}

static void errors(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 8; i++) {
        CHECK(!dlmopen(LM_ID_NEWLM, i % 2 ? "./no/such/file.so" : "no-such-file.so", RTLD_NOW));
        const char *text = dlerror();
        CHECK(text && strstr(text, "such"));
#pragma omp critical
        {
            struct library l = opened(LM_ID_NEWLM);
            CHECK(dlclose(l.handle) == 0);
        }
    }
}

/* A second library into a namespace that is there. */
static void into_the_same(void)
{
#pragma omp parallel num_threads(N)
    {
        Lmid_t namespace;
        struct library l = opened(LM_ID_NEWLM);
        CHECK(dlinfo(l.handle, RTLD_DI_LMID, &namespace) == 0);
        void *handle = dlmopen(namespace, "libm.so.6", RTLD_NOW);
        CHECK(handle && dlsym(handle, "cos"));
        struct library same = opened(namespace);
        CHECK(same.handle == l.handle && dlclose(same.handle) == 0 && l.use());
        CHECK(dlclose(handle) == 0 && dlclose(l.handle) == 0);
    }
}

static void in_inner_regions(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    {
        struct library l = opened(LM_ID_NEWLM);
        wait_in_all_ways();
        CHECK(l.use());
    }
}

static const struct kind_of kinds[] = {
    {"by_one", by_one},
    {"by_all", by_all},
    {"again", again},
    {"by_name", by_name},
    {"errors", errors},
    {"into_the_same", into_the_same},
    {"in_inner_regions", in_inner_regions},
};

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    path = argv[1];
    RUN_KINDS(kinds, argc > 2 ? argv[2] : NULL);
    return 0;
}
