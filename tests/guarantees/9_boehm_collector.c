/* Boehm's collector of garbage. Each member registers itself once, when it comes for the first time. In later regions
 * it makes lists whose only pointers are in its local variables, while members and the opener collect: in flat regions
 * of several sizes, in nested ones, and between regions. What is on a list is all there. [KIND] */
#define GC_THREADS
#include "kinds.h"
#include <gc/gc.h>
#include <pthread.h>

struct node {
    struct node *next;
    long value;
    char rest[100];
};

static pthread_key_t at_end;
static void unregister(void *arg)
{
    (void)arg;
    GC_unregister_my_thread();
}

static void register_me(void)
{
    struct GC_stack_base base;
    if (pthread_getspecific(at_end))
        return;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS);
    int result = GC_register_my_thread(&base);
    CHECK(result == GC_SUCCESS || result == GC_DUPLICATE); /* the first thread is known */
    CHECK(pthread_setspecific(at_end, result == GC_SUCCESS ? &at_end : NULL) == 0);
}

static void make_list(long n, long from)
{
    struct node *head = NULL;
    for (long i = 0; i < n; i++) {
        struct node *node = GC_MALLOC(sizeof *node);
        CHECK(node != NULL);
        node->next = head;
        node->value = from + i;
        memset(node->rest, 1, sizeof node->rest);
        head = node;
    }
    for (long i = n; i > 0; i--, head = head->next)
        CHECK(head != NULL && head->value == from + i - 1);
    CHECK(head == NULL);
}

static void work(long from)
{
    register_me();
    make_list(1000, from);
#pragma omp barrier
    make_list(500, from);
    if (omp_get_thread_num() == 1)
        GC_gcollect();
}

static void flat(int n)
{
    for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(n)
        work(1000000L * omp_get_thread_num());
        GC_gcollect();
        make_list(500, round);
    }
}
static void flat_2(void) { flat(2); }
static void flat_4(void) { flat(4); }
static void flat_16(void) { flat(16); }
static void sizes(void)
{
    static const int n[] = {3, 6, 2, 8};
    for (unsigned i = 0; i < sizeof n / sizeof *n; i++)
        flat(n[i]);
}

static void nested(void)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(3)
        {
            register_me();
#pragma omp parallel num_threads(3)
            work(round);
            make_list(500, round);
        }
        GC_gcollect();
    }
}

static const struct kind_of kinds[] = {
    {"flat_2", flat_2}, {"flat_4", flat_4}, {"flat_16", flat_16}, {"sizes", sizes}, {"nested", nested},
};

/* In a process of its own. */
static void run(int i)
{
    GC_INIT();
    GC_allow_register_threads();
    CHECK(pthread_key_create(&at_end, unregister) == 0);
    kinds[i].run();
}
static const char *name(int i) { return kinds[i].name; }

int main(int argc, char **argv)
{
    in_a_process_each(sizeof kinds / sizeof *kinds, name, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
