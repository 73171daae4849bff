/* Locks under both symbol versions: today's, and that of programs built before OpenMP 3.0, whose nest lock has 8
 * bytes. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <stdint.h>

typedef void action(void *);
typedef int test(void *);

struct locks {
    action *init, *destroy, *set, *unset;
    test *test;
};

static void *find(const char *name, const char *version)
{
    void *p = dlvsym(RTLD_DEFAULT, name, version);
    if (p == NULL)
        fprintf(stderr, "no %s@%s\n", name, version);
    CHECK(p != NULL);
    return p;
}

static struct locks load(const char *kind, const char *version)
{
    static const char *const verbs[] = {"init", "destroy", "set", "unset", "test"};
    char name[64];
    void *p[5];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "omp_%s_%s", verbs[i], kind);
        p[i] = find(name, version);
    }
    return (struct locks){(action *)p[0], (action *)p[1], (action *)p[2], (action *)p[3], (test *)p[4]};
}

/* A lock of `bytes` among others' bytes, which stay as they are. */
static void use(const struct locks *l, size_t bytes, int nestable)
{
    struct {
        unsigned char before[16], lock[32], after[16];
    } _Alignas(16) memory;
    memset(&memory, 0xa5, sizeof memory);
    void *lock = memory.lock;
    long count = 0;
    l->init(lock);
#pragma omp parallel num_threads(5)
    for (int i = 0; i < 500; i++) {
        l->set(lock);
        count++;
        if (nestable) {
            CHECK(l->test(lock) == 2);
            l->set(lock);
            l->unset(lock);
            l->unset(lock);
        } else {
            CHECK(l->test(lock) == 0);
        }
        l->unset(lock);
    }
    CHECK(count == 2500);
    CHECK(l->test(lock) == 1);
    l->unset(lock);
    l->destroy(lock);
    for (size_t i = 0; i < 16; i++)
        CHECK(memory.before[i] == 0xa5 && memory.after[i] == 0xa5);
    for (size_t i = bytes; i < sizeof memory.lock; i++)
        CHECK(memory.lock[i] == 0xa5);
}

int main(void)
{
    static const char *const versions[] = {"OMP_1.0", "OMP_3.0"};
    for (int v = 0; v < 2; v++) {
        struct locks simple = load("lock", versions[v]), nest = load("nest_lock", versions[v]);
        struct locks fortran_simple = load("lock_", versions[v]), fortran_nest = load("nest_lock_", versions[v]);
        use(&simple, sizeof(omp_lock_t), 0);
        use(&nest, v == 0 ? 8 : sizeof(omp_nest_lock_t), 1);
        use(&fortran_simple, 4, 0);
        use(&fortran_nest, 8, 1);
    }
    return 0;
}
