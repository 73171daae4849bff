/* Thread-local blocks: what a program can see of a thread's own storage is right inside one, on whatever kernel
 * thread. */
#define _GNU_SOURCE
#include "tls_support.h"

#include <ctype.h>
#include <locale.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

static void *own_tp;
unsigned wrong;

/* In use or not. */
static unsigned count_blocks(void)
{
    unsigned n = 0;
    for (const struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all)
        n++;
    return n;
}

static int set_up(void **state)
{
    (void)state;
    own_tp = cpu_get_tp();
    wrong = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return cpu_get_tp() == own_tp ? 0 : -1;
}

/* --- variables --- */

static void expect_initial(void *arg)
{
    (void)arg;
    EXPECT(number == 41);
    EXPECT(strcmp(text, "initial") == 0);
    for (unsigned i = 0; i < 1000; i++)
        EXPECT(zero[i] == 0);
    EXPECT(errno == 0);
    EXPECT(isalpha('x') && !isalpha('1') && toupper('x') == 'X');
}

static void expect_all(void *arg)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d", (int)(uintptr_t)arg);
    EXPECT(errno == (int)(uintptr_t)arg);
    EXPECT(number == (int)(uintptr_t)arg);
    EXPECT(strcmp(text, expected) == 0);
    EXPECT(zero[500] == number);
}

static void test_variables(void **state)
{
    (void)state;
    struct uth_tls *a = uth_tls_get(NULL), *b = uth_tls_get(NULL);
    number = 7;
    run_in(a, expect_initial, NULL);
    run_in(a, set_all, (void *)1000);
    run_in(b, expect_initial, NULL);
    run_in(b, set_all, (void *)2000);
    run_in(a, expect_all, (void *)1000);
    run_in(b, expect_all, (void *)2000);
    assert_int_equal(number, 7);
    number = 41;
    /* Ended and used again: as new. */
    run_in(a, end, a);
    uth_tls_put(a);
    struct uth_tls *again = uth_tls_get(NULL);
    assert_ptr_equal(again, a);
    run_in(a, expect_initial, NULL);
    run_in(b, expect_all, (void *)2000);
    run_in(a, end, a);
    run_in(b, end, b);
    uth_tls_put(a);
    uth_tls_put(b);
    assert_int_equal(wrong, 0);
}

/* --- from kernel thread to kernel thread --- */

struct visit {
    struct uth_tls *tls;
    inside_fn *fn;
    void *arg;
};

static void *visit(void *arg)
{
    struct visit *v = arg;
    number = -1; /* this kernel thread's own */
    run_in(v->tls, v->fn, v->arg);
    EXPECT(number == -1);
    return NULL;
}

static void test_migration(void **state)
{
    (void)state;
    struct uth_tls *a = uth_tls_get(NULL);
    run_in(a, set_all, (void *)5);
    for (int i = 0; i < 20; i++) {
        struct visit v = {a, expect_all, (void *)5};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
        pthread_join(thread, NULL);
        run_in(a, set_all, (void *)5);
    }
    run_in(a, end, a);
    uth_tls_put(a);
    assert_int_equal(wrong, 0);
}

/* --- what the C library knows of a thread --- */

static volatile sig_atomic_t signalled;
static void on_usr1(int signo)
{
    signalled = signo;
    errno = EILSEQ; /* some other number, in whichever block this is */
}

static void use_libc(void *stack)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t mutex_attr;
    pthread_attr_t attr;
    cpu_set_t set;
    void *base;
    size_t bytes;

    pthread_mutexattr_init(&mutex_attr);
    pthread_mutexattr_settype(&mutex_attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_setrobust(&mutex_attr, PTHREAD_MUTEX_ROBUST);
    EXPECT(pthread_mutex_init(&mutex, &mutex_attr) == 0);
    EXPECT(pthread_mutex_lock(&mutex) == 0);
    EXPECT(mutex.__data.__owner == os_thread_id()); /* the kernel must know the owner of a robust mutex */
    EXPECT(pthread_mutex_lock(&mutex) == EDEADLK);
    EXPECT(pthread_mutex_unlock(&mutex) == 0);
    EXPECT(pthread_mutex_unlock(&mutex) == EPERM);

    EXPECT(pthread_getattr_np(pthread_self(), &attr) == 0);
    EXPECT(pthread_attr_getstack(&attr, &base, &bytes) == 0);
    EXPECT(base == stack && bytes == 65536);
    pthread_attr_destroy(&attr);

    EXPECT(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1);
    EXPECT(sched_getcpu() >= 0 && CPU_ISSET(sched_getcpu(), &set));

    signal(SIGUSR1, on_usr1);
    signalled = 0;
    raise(SIGUSR1);
    EXPECT(signalled == SIGUSR1);
    signalled = 0;
    EXPECT(pthread_kill(pthread_self(), SIGUSR1) == 0);
    EXPECT(signalled == SIGUSR1);
    signal(SIGUSR1, SIG_DFL);

    locale_t mine = newlocale(LC_ALL_MASK, "C", NULL), before = uselocale(mine);
    EXPECT(before == LC_GLOBAL_LOCALE && uselocale(NULL) == mine);
    uselocale(before);
    freelocale(mine);

    char *formatted = NULL;
    EXPECT(asprintf(&formatted, "%.3f", 1.5) == 5 && strcmp(formatted, "1.500") == 0);
    free(formatted);
}

static void test_c_library(void **state)
{
    (void)state;
    char *stack = malloc(65536);
    struct uth_tls *a = uth_tls_get(NULL);
    uth_tls_set_stack(a, stack, 65536);
    errno = 3;
    run_in(a, use_libc, stack);
    assert_int_equal(errno, 3); /* ours was not touched */
    struct visit v = {a, use_libc, stack};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
    pthread_join(thread, NULL);
    run_in(a, end, a);
    uth_tls_put(a);
    free(stack);
    assert_int_equal(wrong, 0);
}

/* --- the end of a thread: C++ destructors, then keys --- */

int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *dso);
extern void *__dso_handle;

static pthread_key_t key, many_keys[40];
static char order[64];

static void destroy_cxx(void *object)
{
    strcat(order, object);
    EXPECT(pthread_getspecific(key) != NULL);
}

static void destroy_key(void *value)
{
    strcat(order, "k");
    EXPECT(pthread_getspecific(key) == NULL);
    if ((uintptr_t)value == 2)
        pthread_setspecific(key, (void *)1); /* once more */
}

static void set_keys(void *arg)
{
    (void)arg;
    EXPECT(pthread_getspecific(key) == NULL);
    for (unsigned i = 0; i < 40; i++) {
        EXPECT(pthread_getspecific(many_keys[i]) == NULL);
        pthread_setspecific(many_keys[i], (void *)(uintptr_t)(i + 1));
    }
    pthread_setspecific(key, (void *)2);
    __cxa_thread_atexit_impl(destroy_cxx, "a", &__dso_handle);
    __cxa_thread_atexit_impl(destroy_cxx, "b", &__dso_handle);
}

static void test_end(void **state)
{
    (void)state;
    pthread_key_create(&key, destroy_key);
    for (unsigned i = 0; i < 40; i++)
        pthread_key_create(&many_keys[i], NULL);
    pthread_setspecific(key, (void *)77);
    struct uth_tls *a = uth_tls_get(NULL);
    for (int again = 0; again < 3; again++) {
        order[0] = '\0';
        run_in(a, set_keys, NULL);
        assert_string_equal(order, "");
        run_in(a, end, a);
        assert_string_equal(order, "bakk");
        uth_tls_put(a);
        a = uth_tls_get(NULL);
    }
    uth_tls_put(a);
    assert_ptr_equal(pthread_getspecific(key), (void *)77);
    pthread_setspecific(key, NULL);
    pthread_key_delete(key);
    for (unsigned i = 0; i < 40; i++)
        pthread_key_delete(many_keys[i]);
    assert_int_equal(wrong, 0);
}

/* --- memory --- */

static void allocate(void *arg)
{
    (void)arg;
    void *p[64];
    for (unsigned i = 0; i < 64; i++)
        p[i] = malloc(16 + i * 8);
    for (unsigned i = 0; i < 64; i++)
        free(p[i]);
    zero[3] = 1;
}

static void live_and_die(unsigned blocks)
{
    struct uth_tls *tls[8];
    for (unsigned n = 0; n < blocks; n += 8) {
        for (unsigned i = 0; i < 8; i++) {
            assert_non_null(tls[i] = uth_tls_get(NULL));
            run_in(tls[i], allocate, NULL);
        }
        for (unsigned i = 0; i < 8; i++) {
            run_in(tls[i], end, tls[i]);
            uth_tls_put(tls[i]);
        }
        uth_tls_trim(); /* each of them is new, and given back whole */
    }
}

static void test_given_back(void **state)
{
    (void)state;
    live_and_die(64);
    size_t before = mallinfo2().uordblks;
    live_and_die(800);
    size_t after = mallinfo2().uordblks;
    assert_true(after < before + 100 * 1024); /* a lost block is some KiB: 800 of them would be megabytes */
}

#if GIVES_BACK_AT_ONCE
/* A cache as full as it gets: some 200 KiB. */
static void fill_cache(void *arg)
{
    (void)arg;
    void *p[7];
    for (size_t bytes = 24; bytes <= 1032; bytes += 16) {
        for (unsigned i = 0; i < 7; i++)
            EXPECT((p[i] = malloc(bytes)) != NULL);
        for (unsigned i = 0; i < 7; i++)
            free(p[i]);
    }
}

/* In this build a block that is put is emptied, unless there is one that has been free for long: then that is
 * unmade. */
static void test_put_gives_back(void **state)
{
    (void)state;
    uth_tls_trim();
    struct uth_tls *a = uth_tls_get(NULL), *b = uth_tls_get(NULL);
    run_in(a, fill_cache, NULL);
    run_in(a, set_all, (void *)1);
    run_in(a, end, a);
    size_t full = mallinfo2().uordblks;
    uth_tls_put(a);
    assert_true(mallinfo2().uordblks + 200 * 1024 < full);
    a = uth_tls_get(NULL);
    run_in(a, expect_initial, NULL);
    run_in(a, fill_cache, NULL);
    run_in(a, end, a);
    uth_tls_put(a); /* free longest now */
    unsigned made = count_blocks();
    run_in(b, end, b);
    uth_tls_put(b);
    assert_int_equal(count_blocks(), made - 1);
    assert_int_equal(wrong, 0);
}
#endif

/* --- fork --- */

static void *child_thread(void *arg)
{
    number++;
    return arg;
}

static void fork_inside(void *carrier_tp)
{
    number = 99;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        void *result = NULL;
        uth_tls_after_fork_in_child(carrier_tp);
        bool ok = number == 99 && getpid() == os_thread_id() &&
                  pthread_create(&thread, NULL, child_thread, &number) == 0 && pthread_join(thread, &result) == 0 &&
                  result == &number && number == 99;
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(number == 99 ? 55 : 1);
        int status = 0;
        waitpid(grandchild, &status, 0);
        exit(ok && WIFEXITED(status) && WEXITSTATUS(status) == 55 ? 44 : 1);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 44);
}

static void test_fork(void **state)
{
    (void)state;
    fflush(stdout);
    struct uth_tls *a = uth_tls_get(NULL);
    run_in(a, fork_inside, cpu_get_tp());
    struct visit v = {a, end, a};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
    pthread_join(thread, NULL);
    uth_tls_put(a);
    assert_int_equal(wrong, 0);
}

/* The C library knows nothing in a child of the caches that other threads' blocks hold: neither their use nor their end
 * may count on it. */
static void test_fork_loses_caches(void **state)
{
    (void)state;
    struct uth_tls *tls[4];
    for (unsigned i = 0; i < 4; i++) {
        assert_non_null(tls[i] = uth_tls_get(NULL));
        run_in(tls[i], allocate, NULL);
    }
    for (unsigned i = 0; i < 4; i++) {
        run_in(tls[i], end, tls[i]);
        uth_tls_put(tls[i]);
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        uth_tls_after_fork_in_child(NULL);
        struct uth_tls *again = uth_tls_get(NULL);
        run_in(again, allocate, NULL);
        run_in(again, end, again);
        uth_tls_put(again);
        uth_tls_trim();
        _exit(wrong == 0 && count_blocks() == 0 ? 44 : 1);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 44);
}

/* --- many at once --- */

#define WORKERS 4
static _Atomic unsigned mistakes;

static void count_up(void *arg)
{
    if (number != 41)
        ps_add_relaxed(&mistakes, 1);
    for (int i = 0; i < 10; i++) {
        number += 2;
        free(malloc((size_t)(uintptr_t)arg + 100));
    }
    if (number != 61)
        ps_add_relaxed(&mistakes, 1);
}

static void *worker(void *arg)
{
    for (unsigned n = 0; n < 2000; n++) {
        struct uth_tls *tls = uth_tls_get(NULL);
        run_in(tls, count_up, arg);
        run_in(tls, end, tls);
        uth_tls_put(tls);
        if (n % 500 == 0)
            uth_tls_trim();
    }
    return NULL;
}

static void test_many(void **state)
{
    (void)state;
    pthread_t thread[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, worker, (void *)i), 0);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    uth_tls_trim();
    assert_int_equal(ps_load_relaxed(&mistakes), 0);
}

int main(void)
{
    if (!uth_tls_init(UTH_TLS_ALWAYS, true)) {
        printf("SKIPPED: no thread-local blocks here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_variables),
        TEST(test_migration),
        TEST(test_c_library),
        TEST(test_end),
        TEST(test_library_that_comes_later),
        TEST(test_initial_exec_library),
        TEST(test_given_back),
#if GIVES_BACK_AT_ONCE
        TEST(test_put_gives_back),
#endif
        TEST(test_fork),
        TEST(test_fork_loses_caches),
        TEST(test_many),
        TEST(test_library_comes_and_goes),
        TEST(test_flags_are_read),
    };
    return cmocka_run_group_tests_name("thread-local blocks", tests, NULL, NULL);
}
