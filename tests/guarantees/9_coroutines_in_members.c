/* Each member runs coroutines on stacks of its own making, and waits in the runtime there: barriers, critical
 * sections, locks, regions. What it finds when it comes back is as it was; errno and what the C library keeps for the
 * thread too. Plain C. */
#define _GNU_SOURCE
#include "check.h"
#include "waits.h"
#include <errno.h>
#include <sys/mman.h>
#include <ucontext.h>

#define N 4
#define BYTES (96 * 1024)
#define BELOW 4096

static struct member {
    ucontext_t own, coroutine;
    char *low;
    int turns;
} member[N];

__attribute__((noinline)) static int use_much(void) /* more than the coroutine's stack */
{
    volatile char frame[BYTES + 50 * 1024];
    memset((void *)frame, 1, sizeof frame);
    return frame[500];
}

static void generate(int id)
{
    struct member *m = &member[id];
    for (int turn = 0; turn < 5; turn++) {
        CHECK(omp_get_thread_num() == id);
        wait_in_all_ways();
        int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        {
            inner += omp_get_thread_num() ? use_much() : 1;
            if (turn % 2) {
#pragma omp barrier
            }
        }
        CHECK(inner == 2);
        m->turns++;
        errno = 1000 + id;
        CHECK(swapcontext(&m->coroutine, &m->own) == 0);
        CHECK(errno == 2000 + id);
    }
}

static void member_runs(int id)
{
    struct member *m = &member[id];
    m->turns = 0;
    m->low = mmap(NULL, BELOW + BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(m->low != MAP_FAILED && mprotect(m->low, BELOW, PROT_NONE) == 0 && getcontext(&m->coroutine) == 0);
    m->coroutine.uc_stack.ss_sp = m->low + BELOW;
    m->coroutine.uc_stack.ss_size = BYTES;
    m->coroutine.uc_link = &m->own;
    makecontext(&m->coroutine, (void (*)(void))generate, 1, id);
    for (int turn = 0; turn < 5; turn++) {
        CHECK(swapcontext(&m->own, &m->coroutine) == 0 && m->turns == turn + 1);
        CHECK(errno == 1000 + id);
        wait_in_all_ways();
        errno = 2000 + id;
    }
    CHECK(swapcontext(&m->own, &m->coroutine) == 0);
    munmap(m->low, BELOW + BYTES);
}

int main(void)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(N)
        member_runs(omp_get_thread_num());
    }
    return 0;
}
