/* A handler of faults brings in code at the first call (a just-in-time compiler). The code begins at the begin of a
 * page, and nothing is in front of it. */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 8, ROUNDS = 100 };

#if defined(__x86_64__)
static const unsigned char returns[] = {0xc3};
#elif defined(__aarch64__)
static const unsigned char returns[] = {0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char returns[] = {0x67, 0x80, 0, 0};
#endif

static size_t page;
static atomic_int brought_in;

static void bring_in(int number, siginfo_t *info, void *frame)
{
    (void)number, (void)frame;
    CHECK(mprotect((void *)((uintptr_t)info->si_addr & -page), page, PROT_READ | PROT_EXEC) == 0);
    brought_in++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = bring_in, .sa_flags = SA_SIGINFO};
    page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        char *start = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *code = start + page;
        CHECK(start != MAP_FAILED);
        CHECK(mprotect(code, page, PROT_READ | PROT_WRITE) == 0);
        memcpy(code, returns, sizeof returns);
        __builtin___clear_cache(code, code + sizeof returns);
        for (int i = 0; i < ROUNDS; i++) {
            CHECK(mprotect(code, page, PROT_NONE) == 0);
            ((void (*)(void))(uintptr_t)code)();
        }
    }
    CHECK(brought_in == N * ROUNDS);
    return 0;
}
