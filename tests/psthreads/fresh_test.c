/* A thread begins as a new kernel thread does, whatever the thread before it has left in the storage that it gets:
 * thread-local variables, errno, locale, texts of the C library, keys, resolver, libraries that come and go. Once
 * called by its joiner, once run by the vp's loop; and with the block of a thread that has left nothing. */
#define _GNU_SOURCE
#include "psthread.h"
#define CHECK_END() abort() /* cmocka's own checks would jump out of the test, off the thread's stack */
#include "../check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST_OF_THE_KERNEL (1 << 22) /* no kernel thread's number is above it */

static __thread int number = 41;
static __thread char text[100] = "initial";
static __thread int zero[1000];

static pthread_key_t keys[40]; /* more than the C library's descriptor has room for */
static locale_t other;
static _Atomic int destroyed;

static void destroy(void *value)
{
    (void)value;
    atomic_fetch_add(&destroyed, 1);
}

static void expect_fresh(void)
{
    CHECK(number == 41 && strcmp(text, "initial") == 0);
    for (unsigned i = 0; i < 1000; i++)
        CHECK(zero[i] == 0);
    CHECK(errno == 0 && h_errno == 0);
    CHECK(uselocale(NULL) == LC_GLOBAL_LOCALE);
    CHECK(isalpha('x') && toupper('x') == 'X');
    for (unsigned i = 0; i < 40; i++)
        CHECK(pthread_getspecific(keys[i]) == NULL);
    CHECK(dlerror() == NULL);
    CHECK(!(_res.options & RES_INIT) && _res.retrans == 0);
}

static void *looks(void *arg)
{
    expect_fresh();
    return arg;
}

static void *dirties(void *arg)
{
    expect_fresh();
    number = 1;
    strcpy(text, "written");
    memset(zero, 1, sizeof zero);
    uselocale(other);
    for (unsigned i = 0; i < 40; i++)
        CHECK(pthread_setspecific(keys[i], &number) == 0);
    dlopen("/nowhere/at/all.so", RTLD_NOW);
    strerror(12345);
    _res.options |= RES_INIT;
    _res.retrans = 7;
    h_errno = HOST_NOT_FOUND;
    errno = EDOM;
    return arg;
}

/* Which of the keys; the others have no values. */
static void *sets_key(void *which)
{
    expect_fresh();
    CHECK(pthread_setspecific(keys[(uintptr_t)which], which) == 0);
    return NULL;
}

/* Run by the joiner, where it may call; or by the vp's loop. */
static void *run(void *(*fn)(void *), void *arg, bool called)
{
    psthread_t t;
    void *result = NULL;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0 && psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    while (!called && psthread_tryjoin(t, &result) == EBUSY)
        psthread_yield();
    if (called)
        CHECK(psthread_join(t, &result) == 0);
    return result;
}

static void *where_is_number(void *arg)
{
    (void)arg;
    return &number;
}

/* Whether threads have blocks of their own here: seen the first time, with one vp. */
static bool storage_is_own(void)
{
    static bool known, own;
    if (known)
        return own;
    own = run(where_is_number, NULL, true) != &number;
    known = true;
#ifdef BLOCKS_ARE_NUMBERED
    const char *wish = getenv("PSTHREADS_TLS");
    assert_true(own || (wish && strcmp(wish, "never") == 0));
#endif
    return own;
}

static void with_keys(unsigned vps)
{
    psthread_config_t config = {.num_vps = vps};
    CHECK(psthread_init(&config) == 0);
    for (unsigned i = 0; i < 40; i++)
        CHECK(pthread_key_create(&keys[i], i == 7 ? destroy : NULL) == 0);
    other = newlocale(LC_ALL_MASK, "C", NULL);
    atomic_store(&destroyed, 0);
}

static void done(void)
{
    for (unsigned i = 0; i < 40; i++)
        CHECK(pthread_key_delete(keys[i]) == 0);
    freelocale(other);
    CHECK(psthread_finalize() == 0);
}

static void nothing_is_left_of_the_thread_before(void **state)
{
    (void)state;
    for (int called = 0; called < 2; called++) {
        with_keys(1);
        for (unsigned i = 0; storage_is_own() && i < 100; i++) {
            run(dirties, NULL, called);
            run(looks, NULL, called);
            run(looks, NULL, !called);
        }
        if (storage_is_own())
            assert_int_equal(atomic_load(&destroyed), 100);
        done();
    }
}

/* The last one is a key whose values lie outside of the descriptor. */
static void one_key_is_seen_as_well_as_all(void **state)
{
    (void)state;
    with_keys(1);
    for (uintptr_t i = 1; storage_is_own() && i < 40; i++) {
        run(sets_key, (void *)i, true);
        run(looks, NULL, true);
    }
    if (storage_is_own())
        assert_int_equal(atomic_load(&destroyed), 1);
    done();
}

#ifdef BLOCKS_ARE_NUMBERED
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void *tries_lock(void *arg)
{
    CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
    return arg;
}

static void *reads_own_number(void *arg)
{
    pthread_mutex_t *mutex = arg;
    CHECK(pthread_mutex_lock(mutex) == 0);
    int owner = mutex->__data.__owner;
    CHECK(pthread_mutex_unlock(mutex) == 0);
    return (void *)(intptr_t)owner; // NOLINT(performance-no-int-to-ptr)
}

/* Its caller holds a mutex that the same thread might lock again. */
static void *holds_while_it_joins(void *arg)
{
    CHECK(pthread_mutex_lock(&recursive) == 0);
    pthread_t here = pthread_self();
    int *own_errno = &errno;
    errno = ERANGE;
    number = 5;
    for (unsigned i = 0; i < 10; i++)
        run(tries_lock, NULL, true);
    run(dirties, NULL, true);
    CHECK(pthread_equal(pthread_self(), here) && &errno == own_errno && errno == ERANGE && number == 5);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
    return arg;
}

static void a_called_thread_is_another_one(void **state)
{
    (void)state;
    with_keys(1);
    if (storage_is_own()) {
        run(holds_while_it_joins, NULL, true);
        run(holds_while_it_joins, NULL, false);
        pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
        void *numbers[200];
        for (unsigned i = 0; i < 200; i++) { /* no number comes twice, whichever block it is of */
            numbers[i] = run(reads_own_number, &mutex, i % 3 != 0);
            for (unsigned k = 0; k < i; k++)
                assert_ptr_not_equal(numbers[k], numbers[i]);
        }
        holds_while_it_joins(NULL); /* a root */
        number = 41;
    }
    done();
}

/* In the child of a thread that forked: that thread has a kernel thread's number there, and ends. The thread that gets
 * its storage has no number that the child's next kernel threads may have. */
static void expect_own_number(void *seen)
{
    int n = (int)(intptr_t)seen;
    if (n > LARGEST_OF_THE_KERNEL)
        return;
    fprintf(stderr, "process %d: a thread has number %d\n", (int)getpid(), n);
    _exit(1);
}

static void *runs_in_child(void *arg)
{
    (void)arg;
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    expect_own_number(reads_own_number(&mutex));
    for (unsigned i = 0; i < 6; i++)
        expect_own_number(run(reads_own_number, &mutex, i & 1));
    _exit(0);
}

static void *forks(void *arg)
{
    pid_t *child = arg;
    *child = fork();
    if (*child == 0) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, runs_in_child, NULL) == 0 && psthread_detach(t) == 0);
        CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    }
    return NULL;
}

static void numbers_of_a_childs_threads_are_its_own(void **state)
{
    (void)state;
    for (int called = 0; called < 2; called++) {
        with_keys(1);
        for (int i = 0; storage_is_own() && i < 3; i++) {
            pid_t child;
            int status;
            run(forks, &child, called);
            assert_true(child > 0);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_int_equal(status, 0);
        }
        done();
    }
}

#endif

/* Called threads that wait in the middle, and go on wherever there is a vp. */
static void *makes_more(void *depth)
{
    expect_fresh();
    number = (int)(intptr_t)depth;
    pthread_t here = pthread_self();
    psthread_t t[2];
    for (unsigned i = 0; depth && i < 2; i++)
        CHECK(psthread_create(&t[i], NULL, makes_more, (char *)depth - 1) == 0 &&
              psthread_enqueue(t[i], PSTHREAD_VP_ANY) == 0);
    psthread_yield();
    for (unsigned i = 0; depth && i < 2; i++) {
        CHECK(psthread_join(t[i], NULL) == 0);
        psthread_yield();
    }
    CHECK(number == (int)(intptr_t)depth && pthread_equal(pthread_self(), here) && errno == 0);
    if ((uintptr_t)depth % 3 == 1)
        psthread_exit(NULL);
    return NULL;
}

static void called_threads_keep_what_is_theirs(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        with_keys(vps);
        for (unsigned i = 0; storage_is_own() && i < 5; i++)
            run(makes_more, (void *)7, true);
        done();
    }
}

#ifdef LATE_LIBRARY
static int *(*late_variable)(void);
static void *uses_library(void *arg)
{
    CHECK(*late_variable() == 17);
    *late_variable() = 18;
    return arg;
}

/* A library with thread-local storage comes between two threads, and goes; another time another one is in its place. */
static void libraries_come_between_threads(void **state)
{
    (void)state;
    static const char *const paths[] = {LATE_LIBRARY, LATE_LIBRARY_INITIAL_EXEC};
    with_keys(1);
    for (unsigned i = 0; storage_is_own() && i < 40; i++) {
        run(dirties, NULL, i & 1);
        void *library = dlopen(paths[i / 2 % 2], RTLD_NOW);
        assert_non_null(library);
        *(void **)&late_variable = dlsym(library, "late_variable");
        for (unsigned k = 0; k < 4; k++) {
            run(uses_library, NULL, (k ^ i) & 1);
            run(dirties, NULL, true);
        }
        dlclose(library);
        run(looks, NULL, true);
    }
    done();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_the_thread_before),
        cmocka_unit_test(one_key_is_seen_as_well_as_all),
#ifdef BLOCKS_ARE_NUMBERED
        cmocka_unit_test(a_called_thread_is_another_one),
        cmocka_unit_test(numbers_of_a_childs_threads_are_its_own),
#endif
        cmocka_unit_test(called_threads_keep_what_is_theirs),
#ifdef LATE_LIBRARY
        cmocka_unit_test(libraries_come_between_threads),
#endif
    };
    return cmocka_run_group_tests_name("threads begin as new", tests, NULL, NULL);
}
