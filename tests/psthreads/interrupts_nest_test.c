/* Interrupts of the watchdog, and of senders of signals to one thread, do not pile up on the stack of a thread that may
 * not be left. An interrupt that comes while the handler of the one before still answers adds its own frame alone, and
 * wakes no thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "cpu.h"
#include "directed.h"
#include "os.h"
#include "psthread.h"
#include "sync_support.h"
#include "tls.h"

#define ANSWERS 12

static _Atomic int spinner, answered, deepest;
static volatile int depth;
static _Atomic uint32_t *volatile outer; /* on what the outermost one wakes */

int __real_os_wake(_Atomic uint32_t *word, int n);
int __wrap_os_wake(_Atomic uint32_t *word, int n);
/* On the kernel thread of the one that spins only the handler wakes a thread. The handler is slow here to come back, as
 * where another program has its processor, so that the watchdog's next interrupt finds it still at it. */
int __wrap_os_wake(_Atomic uint32_t *word, int n)
{
    int woken = __real_os_wake(word, n);
    if (ps_load_relaxed(&spinner) != os_thread_id() || (depth > 0 && word != outer)) /* or another request's */
        return woken;
    outer = word;
    depth = depth + 1;
    if (depth > ps_load_relaxed(&deepest))
        ps_store_relaxed(&deepest, depth);
    for (uint64_t until = os_now_ns() + 3000000; os_now_ns() < until;)
        continue;
    depth = depth - 1;
    ps_add_relaxed(&answered, 1);
    return woken;
}

/* As a work descriptor, which cannot be left. */
static void *spins(void *arg)
{
    ps_store_release(&spinner, os_thread_id());
    while (ps_load_relaxed(&answered) < ANSWERS)
        continue;
    ps_store_release(&spinner, 0);
    return arg;
}

static void *wants_the_root(void *arg)
{
    while (!ps_load_acquire(&spinner))
        usleep(1000);
    psthread_sem_post(arg);
    return NULL;
}

static void interrupts_do_not_nest(void **state)
{
    (void)state;
    if (PS_TSAN || CPU_CARRIES_TLS) /* nobody is interrupted there; the port posix: another kernel thread is */
        skip();
    psthread_config_t config = {.num_vps = 1};
    CHECK(psthread_init(&config) == 0);
    psthread_sem_t sem;
    CHECK(psthread_sem_init(&sem, 0) == 0);
    const psthread_attr_t no_stack = {.flags = PSTHREAD_ATTR_NOSTACK};
    psthread_t t;
    CHECK(psthread_create(&t, &no_stack, spins, NULL) == 0);
    CHECK(psthread_enqueue(t, 0) == 0);
    pthread_t foreign;
    CHECK(pthread_create(&foreign, NULL, wants_the_root, &sem) == 0);
    psthread_sem_wait(&sem);
    CHECK(pthread_join(foreign, NULL) == 0);
    CHECK(psthread_join(t, NULL) == 0);
    assert_true(ps_load_relaxed(&answered) >= ANSWERS);
    assert_int_equal(ps_load_relaxed(&deepest), 1);
    CHECK(psthread_sem_destroy(&sem) == 0);
    CHECK(psthread_finalize() == 0);
}

/* --- a signal to one thread --- */

bool __real_os_interrupted_program(const void *frame, const void *stack, size_t bytes);
bool __wrap_os_interrupted_program(const void *frame, const void *stack, size_t bytes);
/* The one that spins cannot be left, as in a handler of the program's. */
bool __wrap_os_interrupted_program(const void *frame, const void *stack, size_t bytes)
{
    return ps_load_relaxed(&spinner) != os_thread_id() && __real_os_interrupted_program(frame, stack, bytes);
}

static struct uth_tls *block; /* of the one that spins; NULL: threads have none here */

static void *spins_in_its_block(void *sem)
{
    block = uth_tls_current();
    spins(NULL);
    psthread_sem_wait(sem); /* until it has been sent to */
    return NULL;
}

static _Atomic int sent;
static int sends(int tid, const void *arg)
{
    (void)tid, (void)arg;
    ps_add_relaxed(&sent, 1);
    return 0;
}

static void *sends_to_it(void *sem)
{
    while (!ps_load_acquire(&spinner))
        usleep(1000);
    while (block && ps_load_relaxed(&answered) < ANSWERS) /* one attempt gives up after 2 s */
        CHECK(ps_promoted_signal(block, 0, sends, NULL) == 0);
    ps_store_relaxed(&answered, ANSWERS);
    psthread_sem_post(sem);
    return NULL;
}

static void wishes_do_not_nest(void **state)
{
    (void)state;
    if (PS_TSAN || CPU_CARRIES_TLS)
        skip();
    ps_store_relaxed(&answered, 0);
    ps_store_relaxed(&deepest, 0);
    psthread_config_t config = {.num_vps = 1};
    CHECK(psthread_init(&config) == 0);
    psthread_sem_t sem;
    CHECK(psthread_sem_init(&sem, 0) == 0);
    psthread_t t;
    CHECK(psthread_create(&t, NULL, spins_in_its_block, &sem) == 0);
    CHECK(psthread_enqueue(t, 0) == 0);
    pthread_t foreign;
    CHECK(pthread_create(&foreign, NULL, sends_to_it, &sem) == 0);
    CHECK(psthread_join(t, NULL) == 0);
    CHECK(pthread_join(foreign, NULL) == 0);
    bool asked = block != NULL;
    CHECK(psthread_sem_destroy(&sem) == 0);
    CHECK(psthread_finalize() == 0);
    if (!asked)
        skip();
    assert_true(ps_load_relaxed(&sent) > 0);
    assert_int_equal(ps_load_relaxed(&deepest), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interrupts_do_not_nest), cmocka_unit_test(wishes_do_not_nest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
