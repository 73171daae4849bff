/* A region may be opened on any stack that its opener has: a coroutine's from mmap, malloc or a static array, an
 * alternate signal stack, a thread's own of the program's size. The region needs no more of it than its first member
 * does; the other members have stacks of their own, as large as OMP_STACKSIZE. Below each stack stands what must not
 * change. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>

#define N 6
#define BELOW 4096
#define LARGE (300 * 1024) /* more than any of the stacks, less than OMP_STACKSIZE */

static ucontext_t main_context, coroutine;
static int regions;

/* Writes all of it. */
__attribute__((noinline)) static int use_stack(void)
{
    volatile char frame[LARGE];
    memset((void *)frame, 1, LARGE);
    return frame[0] + frame[LARGE - 1];
}

/* meet: member 0 waits for the others in the middle; else it comes to the region's end while some have not begun. */
static void one_region(int members, int inner_members, bool meet)
{
    int count = 0;
#pragma omp parallel num_threads(members) reduction(+ : count)
    {
        if (omp_get_thread_num())
            CHECK(use_stack() == 2);
        if (meet) {
#pragma omp barrier
            if (omp_get_thread_num())
                CHECK(use_stack() == 2);
        }
#pragma omp critical
        count++;
        if (inner_members) {
            int inner = 0;
#pragma omp parallel num_threads(inner_members) reduction(+ : inner)
            {
                if (meet) {
#pragma omp barrier
                }
                if (omp_get_thread_num())
                    CHECK(use_stack() == 2);
                inner = 1;
            }
            CHECK(inner == inner_members);
        }
    }
    CHECK(count == members);
}

static void some_regions(void)
{
    omp_set_max_active_levels(4); /* the calling thread's, and lost by fork in some runtimes */
    for (int i = 0; i < 20; i++)
        one_region(N, i % 5 == 4 ? 3 : 0, i % 2);
    one_region(32, 0, false);
    regions++;
}

static void on_coroutine(void) { some_regions(); }

/* The stack's lowest BELOW bytes are not part of it. */
static void on_stack(char *low, size_t bytes)
{
    memset(low, 0x5a, BELOW);
    CHECK(getcontext(&coroutine) == 0);
    coroutine.uc_stack.ss_sp = low + BELOW;
    coroutine.uc_stack.ss_size = bytes - BELOW;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, on_coroutine, 0);
    int before = regions;
    CHECK(swapcontext(&main_context, &coroutine) == 0);
    CHECK(regions == before + 1);
    for (int i = 0; i < BELOW; i++)
        CHECK(low[i] == 0x5a);
}

static void mapped(char *low, size_t bytes)
{
    on_stack(low, BELOW + bytes);
    CHECK(mprotect(low, BELOW, PROT_NONE) == 0); /* an overflow ends the program */
    CHECK(getcontext(&coroutine) == 0);
    coroutine.uc_stack.ss_sp = low + BELOW;
    coroutine.uc_stack.ss_size = bytes;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, on_coroutine, 0);
    CHECK(swapcontext(&main_context, &coroutine) == 0 && regions == 2);
    munmap(low, BELOW + bytes);
    regions = 0;
}
static char *map(size_t bytes)
{
    char *low = mmap(NULL, BELOW + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(low != MAP_FAILED);
    return low;
}
static void mapped_32k(void) { mapped(map(32 * 1024), 32 * 1024); }
static void mapped_64k(void) { mapped(map(64 * 1024), 64 * 1024); }
static void mapped_128k(void) { mapped(map(128 * 1024), 128 * 1024); }
static void mapped_256k(void) { mapped(map(256 * 1024), 256 * 1024); }

/* The same in a thread of the program's: the system puts later mappings below earlier ones, so one stack lies above
 * the thread's, one below. */
static void *map_and_run(void *above)
{
    mapped(above, 128 * 1024);
    mapped_128k();
    mapped_64k();
    return NULL;
}
static void mapped_in_a_thread(void)
{
    pthread_t thread;
    char *above = map(128 * 1024);
    CHECK(pthread_create(&thread, NULL, map_and_run, above) == 0 && pthread_join(thread, NULL) == 0);
}

static void allocated(void)
{
    char *low = malloc(BELOW + 64 * 1024);
    CHECK(low);
    on_stack(low, BELOW + 64 * 1024);
    free(low);
}
static char array[1024 * 1024];
static void in_an_array(void) { on_stack(array + 600 * 1024, 100 * 1024); }

static void *runs_regions(void *arg)
{
    some_regions();
    return arg;
}
static void of_the_programs_size(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    char *low = mmap(NULL, 96 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(low != MAP_FAILED && mprotect(low, BELOW, PROT_NONE) == 0 && pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstack(&attr, low + BELOW, 96 * 1024 - BELOW) == 0);
    CHECK(pthread_create(&thread, &attr, runs_regions, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void on_signal(int number)
{
    (void)number;
    some_regions();
}
static void alternate(void)
{
    stack_t stack;
    struct sigaction action;
    char *low = mmap(NULL, BELOW + 64 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(low != MAP_FAILED && mprotect(low, BELOW, PROT_NONE) == 0);
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = low + BELOW;
    stack.ss_size = 64 * 1024;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && regions == 1); /* nothing is interrupted that a handler could disturb */
}

static void in_a_member(void)
{
    omp_set_max_active_levels(4);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical(turn)
        mapped_64k();
        wait_in_all_ways();
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"mapped_64k", mapped_64k},
                                           {"mapped_128k", mapped_128k},
                                           {"mapped_256k", mapped_256k},
                                           {"mapped_in_a_thread", mapped_in_a_thread},
                                           {"allocated", allocated},
                                           {"in_an_array", in_an_array},
                                           {"of_the_programs_size", of_the_programs_size},
                                           {"alternate", alternate},
                                           {"in_a_member", in_a_member},
                                           {"mapped_32k", mapped_32k}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
