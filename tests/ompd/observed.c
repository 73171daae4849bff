/* The program that is looked at: two outer members, three inner ones each, all of which wait in a place of their own.
 * Prints what it knows of itself ("symbol NAME ADDRESS", "icv OUTER INNER NAME VALUE", "text FROM TO"), then "ready",
 * and ends when its standard input does.
 *
 *   0 0   the initial thread: reads its standard input
 *   0 1   waits for a lock
 *   1 2   in an undeferred, final task
 *   the others wait for a pipe */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OUTER = 2, INNER = 3 };
extern char __executable_start, etext;
static struct {
    int threads, dynamic, levels, active_levels, limit, chunk, final;
    omp_sched_t sched;
} known[OUTER][INNER];
static int done[2], arrived;
static omp_lock_t lock;

static void say_facts(void)
{
    static const char *const symbols[] = {"ort_debug_layout", "kmpc_debug_layout", "environ", "ompd_dll_locations"};
    static const char *const kinds[] = {"", "static", "dynamic", "guided", "auto"};
    for (unsigned i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        printf("symbol %s %p\n", symbols[i], dlsym(RTLD_DEFAULT, symbols[i]));
    printf("text %p %p\n", (void *)&__executable_start, (void *)&etext);
    for (int o = 0; o < OUTER; o++)
        for (int i = 0; i < INNER; i++) {
            printf("icv %d %d nthreads-var %d\n", o, i, known[o][i].threads);
            printf("icv %d %d dyn-var %d\n", o, i, known[o][i].dynamic);
            printf("icv %d %d max-active-levels-var %d\n", o, i, known[o][i].levels);
            printf("icv %d %d active-levels-var %d\n", o, i, known[o][i].active_levels);
            printf("icv %d %d thread-limit-var %d\n", o, i, known[o][i].limit);
            printf("icv %d %d final-task-var %d\n", o, i, known[o][i].final);
            printf("icv %d %d run-sched-var %s,%d\n", o, i, kinds[known[o][i].sched & 7], known[o][i].chunk);
        }
    printf("ready\n");
    fflush(stdout);
}

static void learn(int o, int i)
{
    omp_get_schedule(&known[o][i].sched, &known[o][i].chunk);
    known[o][i].threads = omp_get_max_threads();
    known[o][i].dynamic = omp_get_dynamic();
    known[o][i].levels = omp_get_max_active_levels();
    known[o][i].active_levels = omp_get_active_level();
    known[o][i].limit = omp_get_thread_limit();
    known[o][i].final = omp_in_final();
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELEASE);
}

static void wait_for(int file)
{
    char c;
    if (read(file, &c, 1) < 0)
        abort();
}

__attribute__((noinline)) static void inner_member(int o, int i)
{
    if (o == 1 && i == 1)
        omp_set_num_threads(5);
    if (o == 1 && i == 0)
        omp_set_schedule(omp_sched_dynamic, 4);
    if (o == 0 && i == 2)
        omp_set_dynamic(1);
    if (o == 1 && i == 2) {
#pragma omp task if (0) final(1)
        {
            learn(o, i);
            wait_for(done[0]);
        }
        return;
    }
    learn(o, i);
    if (o == 0 && i == 0) {
        while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < OUTER * INNER)
            usleep(1000);
        say_facts();
        wait_for(0);
        close(done[1]);
        omp_unset_lock(&lock);
    } else if (o == 0 && i == 1) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    } else {
        wait_for(done[0]);
    }
}

int main(void)
{
    if (pipe(done) != 0)
        abort();
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(OUTER)
    {
        int o = omp_get_thread_num();
#pragma omp parallel num_threads(INNER)
        inner_member(o, omp_get_thread_num());
    }
    return 0;
}
