/* A region's first thread goes on while its kernel thread is held by other members, which spin or block until it has
 * done something; again and again, with 1 to 8 such threads at the same time. It stays the thread that it is:
 * storage, errno, handle, number, locale, values of keys, stack. So it is afterwards, between regions. [KIND] [NUMBER
 * of trips] [elsewhere: the thread must have gone on elsewhere] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#define MOST 8

static __thread int own, own_again;
static int private_one;
#pragma omp threadprivate(private_one)
static pthread_key_t key;
static locale_t locale; /* not the program's */
static int all_trips = 40;
static bool elsewhere;

struct root {
    struct away away;
    pthread_t self;
    pid_t number;
    int *where_own, *where_private, *where_errno, trips;
    uintptr_t stack;
};

static void expect_itself(const struct root *r, int value)
{
    CHECK(errno == value);
    CHECK(&own == r->where_own && &private_one == r->where_private && &errno == r->where_errno);
    CHECK(own == value && own_again == -value && private_one == value);
    CHECK(pthread_equal(pthread_self(), r->self));
    CHECK(gettid() == r->number && syscall(SYS_gettid) == r->number);
    CHECK(pthread_getspecific(key) == r);
    CHECK(uselocale((locale_t)0) == locale);
    CHECK((uintptr_t)__builtin_frame_address(0) < r->stack &&
          r->stack - (uintptr_t)__builtin_frame_address(0) < 1 << 20);
    CHECK(omp_get_thread_num() == 0);
    errno = value;
}

static void become(int value)
{
    own = private_one = value;
    own_again = -value;
    errno = value;
}

static void goes_on(struct away *a)
{
    struct root *r = a->of_body;
    CHECK(own == r->trips && own_again == -r->trips && private_one == r->trips);
    errno = r->trips; /* what the wait has left in it */
    expect_itself(r, r->trips);
    CHECK(omp_get_level() == 1 && omp_get_num_threads() == a->members);
    become(++r->trips);
}

static void *live(void *arg)
{
    struct root *r = arg;
    int members = r->away.members, trips = r->trips;
    r->self = pthread_self();
    r->number = gettid();
    r->where_own = &own;
    r->where_private = &private_one;
    r->where_errno = &errno;
    r->stack = (uintptr_t)__builtin_frame_address(0);
    r->trips = 0;
    CHECK(pthread_setspecific(key, r) == 0 && uselocale(locale));
    away_begin(&r->away, members, goes_on);
    r->away.of_body = r;
    become(0);
    for (int i = 0; i < trips; i++) {
        away_trip(&r->away, (enum away_wait)(i % AWAY_WAITS), (enum away_stay)(i / AWAY_WAITS % AWAY_STAYS));
        errno = r->trips;
        expect_itself(r, i + 1);
    }
    CHECK(r->trips == trips);
    away_end(&r->away);
    return NULL;
}

static void count_times(long times)
{
    fprintf(stderr, "  %ld times elsewhere\n", times);
    CHECK(times > 0 || !elsewhere);
}

static void roots(int n, int members)
{
    static struct root root[MOST];
    pthread_t thread[MOST];
    long times = 0;
    for (int i = 0; i < n; i++) {
        root[i].away.members = members;
        root[i].trips = all_trips / 2 / n;
        CHECK(pthread_create(&thread[i], NULL, live, &root[i]) == 0);
    }
    for (int i = 0; i < n; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
        times += root[i].away.times;
    }
    count_times(times);
}

static void the_first(void)
{
    struct root root = {.away.members = 6, .trips = all_trips};
    live(&root);
    count_times(root.away.times);
}
static void one(void) { roots(1, 6); }
static void two(void) { roots(2, 5); }
static void three(void) { roots(3, 4); }
static void four(void) { roots(4, 4); }
static void eight(void) { roots(8, 3); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"the_first", the_first}, {"one", one},   {"two", two},
                                           {"three", three},         {"four", four}, {"eight", eight}};
    CHECK(pthread_key_create(&key, NULL) == 0);
    locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    CHECK(locale);
    elsewhere = argc > 1 && strcmp(argv[argc - 1], "elsewhere") == 0;
    argc -= elsewhere;
    if (argc > 1 && atoi(argv[argc - 1]) > 0)
        all_trips = atoi(argv[--argc]);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
