/* Waits with a deadline, semaphores, read-write locks, try-join, names. No test looks at how long something took, but
 * that it was not too soon. */
#include "psthread.h"
#include "sync_support.h"

#include <poll.h>
#include <sys/socket.h>

#define MS UINT64_C(1000000)

static psthread_mutex_t mutex;
static psthread_cond_t cond;
static psthread_sem_t sem;
static psthread_rwlock_t rwlock;
static _Atomic unsigned go;

static void wait_for_go(void)
{
    while (!ps_load_acquire(&go))
        psthread_yield();
}

/* --- time --- */

static void test_sleep(void **state)
{
    (void)state;
    uint64_t before = psthread_now(), until = before + 3 * MS;
    assert_int_equal(psthread_sleep(until), 0);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_sleep(0), 0);
}

/* Many at once, each wakes behind its own moment; others run meanwhile. */
static _Atomic unsigned sleepers_done;
static void sleeps(unsigned id, void *arg)
{
    (void)arg;
    for (unsigned round = 0; round < 5; round++) {
        uint64_t until = psthread_now() + (id * 7919 % 50) * MS / 10;
        psthread_sleep(until);
        CHECK(psthread_now() >= until);
    }
    ps_add_relaxed(&sleepers_done, 1);
}
static void test_many_sleep(void **state)
{
    (void)state;
    ps_store_relaxed(&sleepers_done, 0);
    run_crew(MANY / 4, sleeps, NULL);
    assert_int_equal(ps_load_relaxed(&sleepers_done), MANY / 4);
}

/* --- mutex --- */

static void *times_out_on_mutex(void *arg)
{
    uint64_t until = psthread_now() + 2 * MS;
    CHECK(psthread_mutex_timedlock(&mutex, until) == ETIMEDOUT);
    CHECK(psthread_now() >= until);
    CHECK(psthread_mutex_timedlock(&mutex, 0) == ETIMEDOUT); /* tries, does not wait */
    ps_store_release(&go, 1);
    CHECK(psthread_mutex_timedlock(&mutex, PSTHREAD_NEVER) == 0);
    CHECK(psthread_mutex_unlock(&mutex) == 0);
    return arg;
}
static void test_mutex(void **state)
{
    (void)state;
    psthread_mutex_init(&mutex);
    ps_store_relaxed(&go, 0);
    psthread_mutex_lock(&mutex);
    psthread_t t = start(times_out_on_mutex, NULL);
    wait_for_go();
    for (int i = 0; i < 10; i++)
        psthread_yield();
    psthread_mutex_unlock(&mutex);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_mutex_timedlock(&mutex, 0), 0);
    assert_int_equal(psthread_mutex_unlock(&mutex), 0);
    assert_int_equal(psthread_mutex_destroy(&mutex), 0);
}

/* Lockers with and without a deadline, mixed: exclusion holds, no thread is forgotten. */
struct mixed {
    unsigned long inside, got;
    _Atomic unsigned long late;
};
static void locks(unsigned id, void *arg)
{
    struct mixed *m = arg;
    unsigned seed = id;
    for (int i = 0; i < 60; i++) {
        if (id % 2 == 0) {
            CHECK(psthread_mutex_lock(&mutex) == 0);
        } else {
            int err = psthread_mutex_timedlock(&mutex, one_in(&seed, 2) ? psthread_now() + MS / 50 : PSTHREAD_NEVER);
            if (err) {
                CHECK(err == ETIMEDOUT);
                ps_add_relaxed(&m->late, 1);
                continue;
            }
        }
        CHECK(m->inside++ == 0);
        if (one_in(&seed, 3))
            psthread_yield();
        m->inside--;
        m->got++;
        CHECK(psthread_mutex_unlock(&mutex) == 0);
    }
}
static void test_mutex_mixed(void **state)
{
    (void)state;
    struct mixed m = {0};
    psthread_mutex_init(&mutex);
    run_crew(24, locks, &m);
    assert_int_equal(m.got + ps_load_relaxed(&m.late), 24 * 60);
    assert_int_equal(psthread_mutex_destroy(&mutex), 0);
}

/* --- condition variable --- */

static void test_cond(void **state)
{
    (void)state;
    psthread_mutex_init(&mutex);
    psthread_cond_init(&cond);
    psthread_mutex_lock(&mutex);
    uint64_t until = psthread_now() + 2 * MS;
    assert_int_equal(psthread_cond_timedwait(&cond, &mutex, until), ETIMEDOUT);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_mutex_trylock(&mutex), EBUSY); /* held again */
    assert_int_equal(psthread_cond_timedwait(&cond, &mutex, 0), ETIMEDOUT);
    psthread_mutex_unlock(&mutex);
    assert_int_equal(psthread_cond_destroy(&cond), 0);
}

/* One signal wakes one, timed or not; a broadcast wakes all; no signal is lost to a waiter that was late. */
static unsigned tokens, taken;
static void takes_token(unsigned id, void *arg)
{
    (void)arg;
    unsigned seed = id;
    psthread_mutex_lock(&mutex);
    while (!tokens) {
        if (id % 2)
            psthread_cond_wait(&cond, &mutex);
        else
            psthread_cond_timedwait(&cond, &mutex, one_in(&seed, 2) ? psthread_now() + MS / 20 : PSTHREAD_NEVER);
    }
    tokens--;
    taken++;
    psthread_cond_signal(&cond); /* there may be more */
    psthread_mutex_unlock(&mutex);
}
static void *gives_tokens(void *arg)
{
    for (unsigned i = 0; i < (unsigned)(uintptr_t)arg; i++) {
        psthread_mutex_lock(&mutex);
        tokens++;
        if (i % 5 == 0)
            psthread_cond_broadcast(&cond);
        else
            psthread_cond_signal(&cond);
        psthread_mutex_unlock(&mutex);
        psthread_yield();
    }
    return NULL;
}
static void test_cond_mixed(void **state)
{
    (void)state;
    tokens = taken = 0;
    psthread_mutex_init(&mutex);
    psthread_cond_init(&cond);
    const psthread_attr_t attr = {0, PSTHREAD_ATTR_DETACHED};
    psthread_t giver;
    CHECK(psthread_create(&giver, &attr, gives_tokens, (void *)(uintptr_t)60) == 0);
    CHECK(psthread_enqueue(giver, PSTHREAD_VP_ANY) == 0);
    run_crew(60, takes_token, NULL);
    assert_int_equal(taken, 60);
    assert_int_equal(tokens, 0);
}

/* --- semaphore --- */

static void test_sem(void **state)
{
    (void)state;
    unsigned value = 7;
    assert_int_equal(psthread_sem_init(&sem, PSTHREAD_SEM_VALUE_MAX + 1), EINVAL);
    assert_int_equal(psthread_sem_init(&sem, PSTHREAD_SEM_VALUE_MAX), 0);
    assert_int_equal(psthread_sem_post(&sem), EOVERFLOW);
    assert_int_equal(psthread_sem_init(&sem, 1), 0);
    assert_int_equal(psthread_sem_wait(&sem), 0);
    assert_int_equal(psthread_sem_trywait(&sem), EAGAIN);
    uint64_t until = psthread_now() + 2 * MS;
    assert_int_equal(psthread_sem_timedwait(&sem, until), ETIMEDOUT);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_sem_timedwait(&sem, 0), ETIMEDOUT);
    assert_int_equal(psthread_sem_getvalue(&sem, &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(psthread_sem_post(&sem), 0);
    assert_int_equal(psthread_sem_timedwait(&sem, 0), 0);
    assert_int_equal(psthread_sem_destroy(&sem), 0);
}
static void *waits_on_sem(void *arg)
{
    CHECK(psthread_sem_wait(&sem) == 0);
    return arg;
}
static void test_sem_busy(void **state)
{
    (void)state;
    psthread_sem_init(&sem, 0);
    psthread_t t = start(waits_on_sem, NULL);
    while (psthread_sem_destroy(&sem) != EBUSY)
        psthread_yield();
    assert_int_equal(psthread_sem_post(&sem), 0);
    assert_int_equal(psthread_join(t, NULL), 0);
}

static _Atomic unsigned between, came_through;
static void passes_sem(unsigned id, void *arg)
{
    (void)arg;
    unsigned seed = id;
    for (int i = 0; i < 20; i++) {
        int err = psthread_sem_timedwait(&sem, one_in(&seed, 3) ? psthread_now() + MS / 20 : PSTHREAD_NEVER);
        CHECK(err == 0 || err == ETIMEDOUT);
        if (err)
            continue;
        CHECK(ps_add_relaxed(&between, 1) < 3);
        if (one_in(&seed, 2))
            psthread_yield();
        ps_sub_relaxed(&between, 1);
        ps_add_relaxed(&came_through, 1);
        CHECK(psthread_sem_post(&sem) == 0);
    }
}
static void test_sem_many(void **state)
{
    (void)state;
    psthread_sem_init(&sem, 3);
    ps_store_relaxed(&came_through, 0);
    run_crew(30, passes_sem, NULL);
    unsigned value = 0;
    psthread_sem_getvalue(&sem, &value);
    assert_int_equal(value, 3);
    assert_true(ps_load_relaxed(&came_through) > 0);
    assert_int_equal(psthread_sem_destroy(&sem), 0);
}

/* --- read-write lock --- */

static void test_rwlock(void **state)
{
    (void)state;
    psthread_rwlock_init(&rwlock);
    assert_int_equal(psthread_rwlock_unlock(&rwlock), EPERM);
    assert_int_equal(psthread_rwlock_rdlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_tryrdlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_trywrlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), EBUSY);
    uint64_t until = psthread_now() + 2 * MS;
    assert_int_equal(psthread_rwlock_timedwrlock(&rwlock, until), ETIMEDOUT);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_rwlock_timedrdlock(&rwlock, 0), 0); /* the writer has given up */
    for (int i = 0; i < 3; i++)
        assert_int_equal(psthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_wrlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_tryrdlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_trywrlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_timedrdlock(&rwlock, psthread_now() + MS), ETIMEDOUT);
    assert_int_equal(psthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), 0);
}

/* A writer that waits goes before a reader that comes; where it gives up, the reader goes on. */
static _Atomic int writer_answer;
static void *writes_in_vain(void *arg)
{
    ps_store_release(&go, 1);
    ps_store_release(&writer_answer, psthread_rwlock_timedwrlock(&rwlock, psthread_now() + 20 * MS));
    return arg;
}
static void *reads(void *arg)
{
    CHECK(psthread_rwlock_rdlock(&rwlock) == 0);
    CHECK(psthread_rwlock_unlock(&rwlock) == 0);
    return arg;
}
static void test_writers_first(void **state)
{
    (void)state;
    psthread_rwlock_init(&rwlock);
    ps_store_relaxed(&go, 0);
    ps_store_relaxed(&writer_answer, -1);
    psthread_rwlock_rdlock(&rwlock);
    psthread_t writer = start(writes_in_vain, NULL);
    wait_for_go();
    while (psthread_rwlock_tryrdlock(&rwlock) == 0) { /* until it waits, or has given up */
        psthread_rwlock_unlock(&rwlock);
        if (ps_load_acquire(&writer_answer) != -1)
            break;
        psthread_yield();
    }
    psthread_t reader = start(reads, NULL);
    assert_int_equal(psthread_join(reader, NULL), 0);
    assert_int_equal(psthread_join(writer, NULL), 0);
    assert_int_equal(ps_load_relaxed(&writer_answer), ETIMEDOUT);
    psthread_rwlock_unlock(&rwlock);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), 0);
}

static _Atomic int readers_in, writers_in;
static void reads_and_writes(unsigned id, void *arg)
{
    (void)arg;
    unsigned seed = id;
    for (int i = 0; i < 40; i++) {
        bool write = one_in(&seed, 4);
        uint64_t until = one_in(&seed, 3) ? psthread_now() + MS / 50 : PSTHREAD_NEVER;
        int err = write ? psthread_rwlock_timedwrlock(&rwlock, until) : psthread_rwlock_timedrdlock(&rwlock, until);
        CHECK(err == 0 || (err == ETIMEDOUT && until != PSTHREAD_NEVER));
        if (err)
            continue;
        if (write) {
            CHECK(ps_add_relaxed(&writers_in, 1) == 0 && ps_load_relaxed(&readers_in) == 0);
        } else {
            ps_add_relaxed(&readers_in, 1);
            CHECK(ps_load_relaxed(&writers_in) == 0);
        }
        if (one_in(&seed, 2))
            psthread_yield();
        ps_sub_relaxed(write ? &writers_in : &readers_in, 1);
        CHECK(psthread_rwlock_unlock(&rwlock) == 0);
    }
}
static void test_rwlock_many(void **state)
{
    (void)state;
    psthread_rwlock_init(&rwlock);
    run_crew(30, reads_and_writes, NULL);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), 0);
}

#ifndef ON_PTHREADS
/* --- join --- */

static void *ends_at_go(void *arg)
{
    wait_for_go();
    return arg;
}
static void test_join(void **state)
{
    (void)state;
    void *result = NULL;
    ps_store_relaxed(&go, 0);
    psthread_t t = start(ends_at_go, &go);
    assert_int_equal(psthread_tryjoin(t, &result), EBUSY);
    uint64_t until = psthread_now() + 2 * MS;
    assert_int_equal(psthread_timedjoin(t, &result, until), ETIMEDOUT);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_timedjoin(t, &result, 0), ETIMEDOUT);
    ps_store_release(&go, 1);
    assert_int_equal(psthread_timedjoin(t, &result, PSTHREAD_NEVER), 0);
    assert_ptr_equal(result, &go);
    t = start(ends_at_go, &result);
    int err;
    while ((err = psthread_tryjoin(t, &result)) == EBUSY)
        psthread_yield();
    assert_int_equal(err, 0);
    assert_ptr_equal(result, &result);
    assert_int_equal(psthread_tryjoin(psthread_self(), NULL), EDEADLK);
    psthread_waitall();
}

static void *ends_about_now(void *arg)
{
    psthread_sleep((uint64_t)(uintptr_t)arg);
    return arg;
}
/* The end and the deadline come together, again and again. */
static void test_join_race(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t at = psthread_now() + MS / 5;
        psthread_t t = start(ends_about_now, (void *)(uintptr_t)at);
        int err = psthread_timedjoin(t, NULL, at + (uint64_t)i * 100);
        assert_true(err == 0 || err == ETIMEDOUT);
        if (err)
            assert_int_equal(psthread_join(t, NULL), 0);
    }
}

/* --- names --- */

static void *is_named(void *arg)
{
    char name[PSTHREAD_NAME_MAX + 1] = "x";
    CHECK(psthread_getname(name, sizeof name) == 0 && name[0] == '\0');
    CHECK(psthread_setname("reader of the second input file, a long one") == ERANGE);
    psthread_yield();
    CHECK(psthread_getname(name, sizeof name) == 0 && !strcmp(name, "reader of the second input file"));
    CHECK(psthread_setname("short") == 0);
    CHECK(psthread_getname(name, 5) == ERANGE && psthread_getname(name, 6) == 0 && !strcmp(name, "short"));
    return arg;
}
static void test_names(void **state)
{
    (void)state;
    psthread_t t[20];
    for (int i = 0; i < 20; i++)
        t[i] = start(is_named, NULL);
    for (int i = 0; i < 20; i++)
        assert_int_equal(psthread_join(t[i], NULL), 0);
}

/* --- file descriptors --- */

static void *echoes(void *arg)
{
    int fd = *(int *)arg;
    char c;
    ssize_t got;
    while ((got = psthread_read(fd, &c, 1)) == 1) {
        c++;
        CHECK(psthread_write(fd, &c, 1) == 1);
    }
    CHECK(got == 0);
    close(fd);
    return arg;
}
/* More connections than vps, each with a thread on both sides: none holds a kernel thread. */
struct client {
    int fd;
    unsigned id;
};
static void *talks(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < 30; i++) {
        char out = (char)(c->id + (unsigned)i), in = 0;
        CHECK(psthread_write(c->fd, &out, 1) == 1);
        CHECK(psthread_read(c->fd, &in, 1) == 1);
        CHECK(in == (char)(out + 1));
    }
    close(c->fd);
    return arg;
}
static void test_sockets(void **state)
{
    (void)state;
    enum { PAIRS = 40 };
    static int fds[PAIRS][2];
    static struct client clients[PAIRS];
    psthread_t t[2 * PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) == 0);
        clients[i] = (struct client){fds[i][1], i};
        t[2 * i] = start(echoes, &fds[i][0]);
        t[2 * i + 1] = start(talks, &clients[i]);
    }
    for (unsigned i = 0; i < 2 * PAIRS; i++)
        assert_int_equal(psthread_join(t[i], NULL), 0);
}

/* One descriptor; what happened is left in *happened. */
static int poll_one(int fd, short events, short *happened, uint64_t deadline_ns)
{
    struct pollfd at = {.fd = fd, .events = events, .revents = -1};
    int ready = psthread_poll(&at, 1, deadline_ns);
    *happened = at.revents;
    return ready;
}

static void *polls(void *arg)
{
    short happened = 0;
    CHECK(poll_one(*(int *)arg, POLLIN, &happened, PSTHREAD_NEVER) == 1);
    CHECK(happened & POLLIN);
    return arg;
}
static void *polls_two(void *arg)
{
    struct pollfd at[2] = {{.fd = ((int *)arg)[0], .events = POLLIN}, {.fd = ((int *)arg)[1], .events = POLLIN}};
    CHECK(psthread_poll(at, 2, PSTHREAD_NEVER) == 1 && at[0].revents & POLLIN && at[1].revents == 0);
    return arg;
}
static void test_poll(void **state)
{
    (void)state;
    int fds[2];
    short happened;
    CHECK(pipe(fds) == 0);
    uint64_t until = psthread_now() + 2 * MS;
    assert_int_equal(poll_one(fds[0], POLLIN, &happened, until), 0);
    assert_true(psthread_now() >= until);
    assert_int_equal(poll_one(fds[0], POLLIN, &happened, 0), 0);
    assert_int_equal(poll_one(fds[1], POLLOUT, &happened, 0), 1);
    assert_int_equal(happened, POLLOUT);
    psthread_t t[6]; /* several for one descriptor */
    for (int i = 0; i < 6; i++)
        t[i] = start(i % 2 ? polls_two : polls, fds);
    for (int i = 0; i < 10; i++)
        psthread_yield();
    CHECK(write(fds[1], "x", 1) == 1);
    for (int i = 0; i < 6; i++)
        assert_int_equal(psthread_join(t[i], NULL), 0);
    char c;
    assert_int_equal(psthread_read(fds[0], &c, 1), 1);
    close(fds[1]);
    assert_int_equal(poll_one(fds[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_true(happened & POLLHUP);
    assert_int_equal(psthread_read(fds[0], &c, 1), 0);
    close(fds[0]);
    assert_int_equal(poll_one(fds[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(happened, POLLNVAL);
    errno = 0;
    assert_int_equal(psthread_read(fds[0], &c, 1), -1);
    assert_int_equal(errno, EBADF);
    FILE *file = tmpfile();
    assert_int_equal(poll_one(fileno(file), POLLIN | POLLOUT, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(psthread_write(fileno(file), "abc", 3), 3);
    fclose(file);
}

static struct sockaddr_storage address;
static socklen_t address_bytes;
static void *connects(void *arg)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    char c = 0;
    CHECK(psthread_connect(fd, (struct sockaddr *)&address, address_bytes) == 0);
    CHECK(psthread_read(fd, &c, 1) == 1 && c == 'k');
    close(fd);
    return arg;
}
static void test_accept(void **state)
{
    (void)state;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sa_family_t family = AF_UNIX;
    CHECK(bind(fd, (struct sockaddr *)&(struct sockaddr){.sa_family = family}, sizeof family) ==
          0); /* a name of the kernel's */
    address_bytes = sizeof address;
    CHECK(getsockname(fd, (struct sockaddr *)&address, &address_bytes) == 0 && listen(fd, 4) == 0);
    psthread_t t = start(connects, NULL);
    int connection = psthread_accept(fd, NULL, NULL);
    assert_true(connection >= 0);
    assert_int_equal(psthread_write(connection, "k", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    close(connection);
    close(fd);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleep),       cmocka_unit_test(test_many_sleep),    cmocka_unit_test(test_mutex),
        cmocka_unit_test(test_mutex_mixed), cmocka_unit_test(test_cond),          cmocka_unit_test(test_cond_mixed),
        cmocka_unit_test(test_sem),         cmocka_unit_test(test_sem_busy),      cmocka_unit_test(test_sem_many),
        cmocka_unit_test(test_rwlock),      cmocka_unit_test(test_writers_first), cmocka_unit_test(test_rwlock_many),
#ifndef ON_PTHREADS
        cmocka_unit_test(test_join),        cmocka_unit_test(test_join_race),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_sockets),     cmocka_unit_test(test_poll),          cmocka_unit_test(test_accept),
#endif
    };
    return RUN_ON_VPS(tests, "timed waits");
}
