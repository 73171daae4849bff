/* A fault's handler throws to the member that has faulted. That one unblocks the signal, and other members' faults are
 * handled as before. Another signal's handler throws to a member that computes. */
#include "check.h"
#include <atomic>
#include <csignal>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 8, ROUNDS = 3 };

static char *wall;
static std::atomic<int> caught, unwound, stands;

static void on_signal(int number) { throw number; }
static void handle(int number) { CHECK(signal(number, on_signal) != SIG_ERR); }

static void unblock(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, nullptr) == 0);
}

struct counted {
    ~counted() { unwound++; }
};

/* Compilers take what these do for something that does not throw. */
static void touch() { *(volatile char *)wall = 1; }
static void compute()
{
    stands++;
    for (volatile int i = 0;; i = i + 1)
        ;
}

static void call(void (*volatile function)())
{
    counted here;
    function();
}

static void catch_out_of(void (*function)(), int number)
{
    try {
        call(function);
        CHECK(!"a signal");
    } catch (int thrown) {
        CHECK(thrown == number);
        caught++;
    }
}

/* One after the other, on whatever kernel thread: none finds the signal blocked. */
static void faults()
{
    handle(SIGSEGV);
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        for (int turn = N - 1; turn >= 0; turn--) {
            if (turn == me) {
                catch_out_of(touch, SIGSEGV);
                unblock(SIGSEGV);
            }
#pragma omp barrier
        }
        catch_out_of(touch, SIGSEGV);
        unblock(SIGSEGV);
    }
    CHECK(caught == 2 * N && unwound == 2 * N);
}

static pthread_t member;
static std::atomic<int> told;

static void *send(void *)
{
    for (int i = 1; i <= ROUNDS; i++) {
        while (stands < i)
            usleep(100);
        CHECK(pthread_kill(member, SIGUSR1) == 0);
        while (told < i)
            usleep(100);
    }
    return nullptr;
}

static void computes()
{
    handle(SIGUSR1);
    pthread_t sender;
    caught = unwound = 0;
    CHECK(pthread_create(&sender, nullptr, send, nullptr) == 0);
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() == N / 2) {
            member = pthread_self();
            for (int i = 0; i < ROUNDS; i++) {
                catch_out_of(compute, SIGUSR1);
                unblock(SIGUSR1);
                told++;
            }
        }
#pragma omp barrier
    }
    CHECK(pthread_join(sender, nullptr) == 0);
    CHECK(caught == ROUNDS && unwound == ROUNDS);
}

int main()
{
    wall = (char *)mmap(nullptr, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
    faults();
    computes();
    return 0;
}
