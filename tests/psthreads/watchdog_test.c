/* Progress: threads that spin on each other, or block in the kernel, never starve the threads that are ready behind
 * them. */
#include "cpu.h"
#include "idle.h"
#include "psthread.h"
#include "sync_support.h"
#include "watchdog.h"

#include <pthread.h>

static void with_vps(unsigned n)
{
    psthread_config_t config = {.num_vps = n, .max_spares = 1000};
    CHECK(psthread_init(&config) == 0);
}

/* A hand-made barrier: everybody spins, no thread yields. */
static _Atomic unsigned arrived;
static void *spins_for_all(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;
    ps_add_seq(&arrived, 1);
    while (ps_load_acquire(&arrived) < n)
        cpu_pause();
    return NULL;
}

static void hand_made_barriers_open(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        enum { N = 9 };
        ps_store_relaxed(&ps_watchdog.spares_most, 0);
        for (int round = 0; round < 2; round++) {
            ps_store_relaxed(&arrived, 0);
            for (unsigned i = 0; i < N; i++) {
                psthread_t t;
                CHECK(psthread_create(&t, NULL, spins_for_all, (void *)(uintptr_t)N) == 0);
                CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
            }
            psthread_waitall();
            assert_int_equal(ps_load_relaxed(&arrived), N);
        }
        CHECK(psthread_finalize() == 0);
        assert_true(ps_load_relaxed(&ps_watchdog.spares_most) >= N - vps); /* counted once they have started */
        assert_int_equal(ps_load_relaxed(&ps_watchdog.spares), 0);
    }
}

static int fds[2];
static void *reads(void *arg)
{
    char c = 0;
    CHECK(read(fds[0], &c, 1) == 1);
    *(char *)arg = c;
    return NULL;
}
static void *writes(void *arg)
{
    CHECK(write(fds[1], arg, 1) == 1);
    return NULL;
}

static void blocking_reads_do_not_hold_writers_up(void **state)
{
    (void)state;
    assert_int_equal(pipe(fds), 0);
    with_vps(1);
    char got = 0, sent = 'x';
    psthread_t reader, writer;
    CHECK(psthread_create(&reader, NULL, reads, &got) == 0);
    CHECK(psthread_create(&writer, NULL, writes, &sent) == 0);
    psthread_enqueue(reader, 0);
    psthread_enqueue(writer, 0);
    psthread_waitall();
    assert_int_equal(got, 'x');
    CHECK(psthread_finalize() == 0);
    close(fds[0]);
    close(fds[1]);
}

/* Spares go when nothing starves: their number falls back to none, or this hangs. */
static void spares_retire(void **state)
{
    (void)state;
    with_vps(1);
    ps_store_relaxed(&arrived, 0);
    for (unsigned i = 0; i < 5; i++) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, spins_for_all, (void *)5) == 0);
        CHECK(psthread_enqueue(t, 0) == 0);
    }
    psthread_waitall();
    while (ps_load_relaxed(&ps_watchdog.spares))
        usleep(1000);
    while (ps_load_relaxed(&ps_watchdog.armed)) /* a process at rest is not woken */
        usleep(1000);
    CHECK(psthread_finalize() == 0);
}

static _Atomic bool go;
static void *spins_until_told(void *arg)
{
    while (!ps_load_acquire(&go))
        cpu_pause();
    return arg;
}

/* However many threads starve: no more spares than are allowed; and when nothing starves any more, none. */
static void spares_are_bounded_and_shrink(void **state)
{
    (void)state;
    enum { MOST = 3, THREADS = 20 };
    psthread_config_t config = {.num_vps = 1, .max_spares = MOST};
    CHECK(psthread_init(&config) == 0);
    for (int round = 0; round < 3; round++) { /* the later ones find a watchdog that is quick */
        ps_store_relaxed(&go, false);
        for (unsigned i = 0; i < THREADS; i++) {
            psthread_t t;
            CHECK(psthread_create(&t, NULL, spins_until_told, NULL) == 0);
            CHECK(psthread_enqueue(t, 0) == 0);
        }
        unsigned most = 0;
        for (int i = 0; i < 20 || most < MOST; i++) {
            unsigned now = ps_load_relaxed(&ps_watchdog.spares);
            most = now > most ? now : most;
            usleep(2000);
        }
        assert_int_equal(most, MOST);
        ps_store_release(&go, true);
        psthread_waitall();
        while (ps_load_relaxed(&ps_watchdog.spares))
            usleep(1000);
    }
    CHECK(psthread_finalize() == 0);
}

/* A vp that counts as searching takes nothing: its kernel thread is held up. */
static void nor_does_an_idle_vp_that_does_not_come(void **state)
{
    (void)state;
    with_vps(1);
    psthread_t first, second;
    ps_store_relaxed(&go, false);
    ps_store_relaxed(&arrived, 0);
    CHECK(psthread_create(&first, NULL, spins_for_all, (void *)2) == 0);
    CHECK(psthread_create(&second, NULL, spins_for_all, (void *)2) == 0);
    ps_add_seq(&ps_idle.word, 1);
    CHECK(psthread_enqueue(first, 0) == 0);
    CHECK(psthread_enqueue(second, 0) == 0);
    watchdog_arm(); /* as the last vp does that leaves the idle ones */
    psthread_waitall();
    ps_sub_seq(&ps_idle.word, 1);
    CHECK(psthread_finalize() == 0);
}

/* The same in the global queue: the only vp's thread spins for one that is ready there. */
static void nor_does_the_global_queue(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 1, .global_queue = true};
    CHECK(psthread_init(&config) == 0);
    psthread_t here, anywhere;
    ps_store_relaxed(&arrived, 0);
    CHECK(psthread_create(&here, NULL, spins_for_all, (void *)2) == 0);
    CHECK(psthread_create(&anywhere, NULL, spins_for_all, (void *)2) == 0);
    CHECK(psthread_enqueue(here, 0) == 0);
    CHECK(psthread_enqueue(anywhere, PSTHREAD_VP_GLOBAL) == 0);
    psthread_waitall();
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_made_barriers_open),
        cmocka_unit_test(nor_does_an_idle_vp_that_does_not_come),
        cmocka_unit_test(nor_does_the_global_queue),
        cmocka_unit_test(blocking_reads_do_not_hold_writers_up),
        cmocka_unit_test(spares_retire),
        cmocka_unit_test(spares_are_bounded_and_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
