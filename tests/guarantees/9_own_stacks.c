/* A member has one stack from region to region, and its signals are handled there, also between regions. So a collector
 * of garbage may register a member once, with the bounds that pthread_getattr_np tells, and later look at all between
 * the stack pointer of the member's handler and the stack's bottom. Each member keeps the only pointer to a thing in a
 * local variable while all are stopped and looked at: in flat and in nested regions of several sizes, while members
 * compute, wait and run tasks, and between regions. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MOST 1000
#define ROUNDS 3

struct known {
    pthread_t thread;
    char *low, *high;            /* of its stack, as it was told once */
    char *volatile at;           /* its stack pointer when it was stopped */
    volatile uintptr_t hidden;   /* the pointer that is somewhere on its stack, inverted; 0: none */
    volatile bool over;          /* the thread has ended */
    volatile int stops, strayed; /* how often it was stopped, and how often on another stack */
};
static struct known known[MOST];
static int num_known; /* under `looking` */
static __thread struct known *me;
static _Atomic int marks;
static sem_t stopped, resumed;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; /* no thread ends meanwhile */
static pthread_key_t at_end;
static _Atomic int world_runs = 1;
static int width;

static void on_stop(int number)
{
    int before = errno;
    char here;
    (void)number;
    me->at = &here;
    me->stops++;
    if (me->at < me->low || me->at >= me->high)
        me->strayed++;
    sem_post(&stopped);
    while (!world_runs)
        usleep(50);
    sem_post(&resumed);
    errno = before;
}

static int (*ask)(pthread_t, pthread_attr_t *) = pthread_getattr_np;

static void get_bounds(char **low, char **high)
{
    pthread_attr_t attr;
    void *stack;
    size_t bytes;
    CHECK(ask(pthread_self(), &attr) == 0 && pthread_attr_getstack(&attr, &stack, &bytes) == 0);
    pthread_attr_destroy(&attr);
    *low = stack;
    *high = *low + bytes;
}

static void forget(void *known_one)
{
    pthread_mutex_lock(&looking);
    ((struct known *)known_one)->over = true;
    pthread_mutex_unlock(&looking);
}

/* Once for each member, in whichever region it comes. */
static void register_me(void)
{
    char here, *low, *high;
    if (!me) {
        pthread_mutex_lock(&looking);
        CHECK(num_known < MOST);
        struct known *new = &known[num_known];
        new->thread = pthread_self();
        get_bounds(&new->low, &new->high);
        CHECK(pthread_setspecific(at_end, new) == 0);
        me = new;
        num_known++;
        pthread_mutex_unlock(&looking);
    }
    CHECK(pthread_equal(me->thread, pthread_self()));
    get_bounds(&low, &high);
    CHECK(low == me->low && high == me->high);
    CHECK(&here >= me->low && &here < me->high);
}

static void wait_for(sem_t *sem, int n)
{
    for (int i = 0; i < n; i++)
        while (sem_wait(sem))
            CHECK(errno == EINTR);
}

/* All but the caller stop, and are looked at. */
static void look_at_all(void)
{
    pthread_mutex_lock(&looking);
    int n = num_known, others = 0;
    world_runs = 0;
    for (int i = 0; i < n; i++)
        if (&known[i] != me && !known[i].over) {
            CHECK(pthread_kill(known[i].thread, SIGUSR1) == 0);
            others++;
        }
    wait_for(&stopped, others); /* hangs where one does not come */
    for (int i = 0; i < n; i++) {
        uintptr_t wanted = ~known[i].hidden;
        bool found = known[i].hidden == 0 || &known[i] == me || known[i].over;
        CHECK(known[i].strayed == 0);
        for (uintptr_t *p = (uintptr_t *)((uintptr_t)known[i].at & -sizeof *p); !found && (char *)p < known[i].high;
             p++)
            found = *p == wanted;
        CHECK(found);
    }
    world_runs = 1;
    wait_for(&resumed, others);
    pthread_mutex_unlock(&looking);
}

/* The caller's frame has the only pointer. */
static __attribute__((noinline)) void keep_a_pointer(void (*meanwhile)(void))
{
    void *volatile thing[8];
    uintptr_t address = ((uintptr_t)me << 8) + 0x5a5a000000000000 + (uintptr_t)++marks * 16;
    thing[3] = (void *)address;
    me->hidden = ~address;
    address = 0;
    meanwhile();
    CHECK((uintptr_t)thing[3] == ~me->hidden);
    me->hidden = 0;
}

static _Atomic int arrived, collected;

/* One looks at all while the others compute until it is through. */
static void one_looks(void)
{
    int round = collected, nth = ++arrived;
    if (nth == width) {
        look_at_all();
        arrived = 0;
        collected++;
    }
    while (collected == round)
        waits_compute_us(20);
}

/* The same by the first member, while the others wait in a barrier. */
static void first_looks(void)
{
    if (omp_get_thread_num() == 0)
        look_at_all();
#pragma omp barrier
}

static void region(int n, void (*what)(void))
{
    width = n;
#pragma omp parallel num_threads(n)
    {
        CHECK(omp_get_num_threads() == n);
        register_me();
        keep_a_pointer(what);
    }
    look_at_all(); /* between regions */
}

static void flat(int n)
{
    for (int round = 0; round < ROUNDS; round++) {
        region(n, one_looks);
        region(n, first_looks);
    }
}
static void flat_2(void) { flat(2); }
static void flat_4(void) { flat(4); }
static void flat_16(void) { flat(16); }

static void sizes(void)
{
    static const int n[] = {3, 6, 2, 8, 4, 8, 12, 2, 12};
    for (unsigned i = 0; i < sizeof n / sizeof *n; i++) {
        region(n[i], first_looks);
        region(n[i], one_looks);
    }
}

/* First without any question, so that the members' stacks are nothing that anybody has told. */
static void later(void)
{
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(5)
        waits_compute_us(10);
    }
    flat(5);
}

static void nothing(void) {}

static void nested(void)
{
    omp_set_max_active_levels(3);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(3)
        {
            register_me();
            for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(4)
                {
                    register_me();
                    keep_a_pointer(nothing);
#pragma omp barrier
                }
            }
        }
        look_at_all();
        if (round % 2)
            flat(4);
    }
}

/* All members of inner regions stop as well. */
static void wait_and_look(void)
{
    if (omp_get_ancestor_thread_num(1) == 0 && omp_get_thread_num() == 1) {
        look_at_all();
        collected++;
    }
    while (!collected)
        waits_compute_us(20);
}
static void inner(void)
{
    omp_set_max_active_levels(3);
    for (int round = 0; round < ROUNDS; round++) {
        collected = 0;
#pragma omp parallel num_threads(2)
        {
            register_me();
#pragma omp barrier
#pragma omp parallel num_threads(3)
            {
                register_me();
                keep_a_pointer(wait_and_look);
            }
        }
        look_at_all();
    }
}

/* In explicit tasks, some of which run when bodies of members have ended. */
static void task(void)
{
    register_me();
    keep_a_pointer(nothing);
    waits_compute_us(50);
}
static void tasks(void)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == round % 4)
                for (int i = 0; i < 40; i++) {
#pragma omp task
                    task();
                }
            else if (round % 2)
                register_me();
        }
        look_at_all();
        flat(4);
    }
}

/* Members wait for each other, and so leave their stacks before they ask, and after. */
static void waits(void)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(6)
        {
#pragma omp barrier
            register_me();
            for (int i = 0; i < 5; i++) {
                keep_a_pointer(nothing);
#pragma omp barrier
#pragma omp critical
                keep_a_pointer(nothing);
            }
        }
        region(6, first_looks);
    }
}

/* The address is looked up on the program's first thread, as libraries do when they begin. */
static void looked_up(void)
{
    char *low, *high;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "pthread_getattr_np");
    get_bounds(&low, &high);
    flat(4);
}

/* Two threads open regions at once. */
static void *open_regions(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(4)
        {
            register_me();
            keep_a_pointer(nothing);
#pragma omp barrier
        }
    }
    return arg;
}
static void two_roots(void)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, open_regions, NULL) == 0);
    open_regions(NULL);
    CHECK(pthread_join(other, NULL) == 0);
}

/* A child has one thread, and its regions' members are new ones. */
static void forked(void)
{
    flat(4);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        num_known = 0;
        memset(known, 0, sizeof known);
        me = NULL;
        flat(4);
        flat(6);
        exit(0);
    }
    int status;
    flat(4);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static const struct kind_of kinds[] = {
    {"flat_2", flat_2}, {"flat_4", flat_4},       {"flat_16", flat_16}, {"sizes", sizes},
    {"later", later},   {"nested", nested},       {"inner", inner},     {"tasks", tasks},
    {"waits", waits},   {"looked_up", looked_up}, {"forked", forked},   {"two_roots", two_roots},
};

int main(int argc, char **argv)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sem_init(&stopped, 0, 0) == 0);
    CHECK(sem_init(&resumed, 0, 0) == 0 && pthread_key_create(&at_end, forget) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
