/* What ps_quiesce gives back: kernel threads, stacks, and the thread-local blocks that no thread has. One stays: that
 * of the root's kernel thread, where it is not the root (home.h). */
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "sync_support.h"
#include "tls.h"
#include "tls_blocks.h"
#include "uth.h"

#define THREADS 20

static void *does_nothing(void *arg) { return arg; }

static void *yields(void *arg)
{
    psthread_yield(); /* else it may run as a call, without a stack */
    return arg;
}

static void threads_run(void *(*fn)(void *))
{
    psthread_t t[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(psthread_create(&t[i], NULL, fn, NULL) == 0);
        CHECK(psthread_enqueue(t[i], PSTHREAD_VP_ANY) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(psthread_join(t[i], NULL) == 0);
}

static unsigned blocks(void)
{
    unsigned n = 0;
    for (const struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all)
        n++;
    return n;
}

static void resources_go_back(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2};
    CHECK(psthread_init(&config) == 0);
    if (!uth_tls_enabled())
        skip();
    for (int round = 0; round < 3; round++) {
        threads_run(yields);
        assert_true(blocks() > 0);
        ps_quiesce();
        assert_int_equal(blocks(), 1);
        threads_run(does_nothing); /* and all works as before */
    }
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(resources_go_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
