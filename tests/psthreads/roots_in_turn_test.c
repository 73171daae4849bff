/* Roots that come and go: their stacks serve the next ones, a few are kept, and all go with the library. Also where a
 * child is forked meanwhile. */
#include "free_slots.h"
#include "sync_support.h"
#include "uth.h"

#include <pthread.h>

#define IN_TURN 100
#define AT_ONCE (3 * PS_FREE_SLOTS)
#define FORKS 20
/* None under a sanitizer: a thread sanitizer takes them for threads of the parent's, and the allocator of GCC 12's
 * address sanitizer may be locked in a child for good. */
#define ROOTS_OF_CHILD (PS_TSAN || PS_ASAN ? 0 : 5)

static void *posts(void *sem)
{
    CHECK(psthread_sem_post(sem) == 0);
    return NULL;
}

/* A root that blocks: its vp runs something else meanwhile, on a stack of the library's. */
static void blocks(void)
{
    psthread_sem_t sem;
    psthread_t t;
    CHECK(psthread_sem_init(&sem, 0) == 0);
    CHECK(psthread_create(&t, NULL, posts, &sem) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    CHECK(psthread_sem_wait(&sem) == 0);
    CHECK(psthread_join(t, NULL) == 0);
}

static void *brief_root(void *arg)
{
    blocks();
    return arg;
}

static void comes_and_goes(void)
{
    pthread_t root;
    CHECK(pthread_create(&root, NULL, brief_root, NULL) == 0);
    CHECK(pthread_join(root, NULL) == 0);
}

/* One vp: no worker has stacks of its own. The caller waits in the kernel while other roots are there. */
static void with_one_vp(void)
{
    psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
}

static void a_stack_serves_the_next_root(void **state)
{
    (void)state;
    with_one_vp();
    comes_and_goes();
    size_t first = uth_mapped();
    assert_in_range(first, 1, PS_FREE_SLOTS);
    for (int i = 0; i < IN_TURN; i++)
        comes_and_goes();
    assert_int_equal(uth_mapped(), first);
    CHECK(psthread_finalize() == 0);
    assert_int_equal(uth_mapped(), 0);
}

static pthread_barrier_t all;
static void *root_among_many(void *arg)
{
    brief_root(arg);
    pthread_barrier_wait(&all);
    return arg;
}

static void a_few_stacks_are_kept(void **state)
{
    (void)state;
    pthread_t root[AT_ONCE];
    with_one_vp();
    CHECK(pthread_barrier_init(&all, NULL, AT_ONCE + 1) == 0);
    for (unsigned i = 0; i < AT_ONCE; i++)
        CHECK(pthread_create(&root[i], NULL, root_among_many, NULL) == 0);
    pthread_barrier_wait(&all);
    for (unsigned i = 0; i < AT_ONCE; i++)
        CHECK(pthread_join(root[i], NULL) == 0);
    CHECK(pthread_barrier_destroy(&all) == 0);
    assert_in_range(uth_mapped(), 1, PS_FREE_SLOTS);
    CHECK(psthread_finalize() == 0);
    assert_int_equal(uth_mapped(), 0);
}

static _Atomic bool over;
static void *sends_others(void *arg)
{
    while (!ps_load_relaxed(&over))
        comes_and_goes();
    return arg;
}

/* Whatever is on its way between two roots at the fork. */
static void a_child_has_stacks_of_its_own(void **state)
{
    (void)state;
    pthread_t sender;
    with_one_vp();
    comes_and_goes();
    ps_store_relaxed(&over, false);
    CHECK(pthread_create(&sender, NULL, sends_others, NULL) == 0);
    for (int i = 0; i < FORKS; i++) {
        usleep(500);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            for (int n = 0; n < ROOTS_OF_CHILD; n++)
                comes_and_goes();
            blocks();
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ps_store_relaxed(&over, true);
    CHECK(pthread_join(sender, NULL) == 0);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_serves_the_next_root),
        cmocka_unit_test(a_few_stacks_are_kept),
        cmocka_unit_test(a_child_has_stacks_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
