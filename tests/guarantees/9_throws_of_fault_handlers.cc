/* A fault's handler throws to the member that has faulted. That leaves its signal blocked in this member alone, until
 * it unblocks it. Other handlers throw to members that wait in calls of the C library.
 * team_waits: what is thrown to a member that waits in OpenMP's runtime ends the process by std::terminate. */
#include "check.h"
#include <atomic>
#include <csignal>
#include <exception>
#include <initializer_list>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 8, ROUNDS = 3 };

static char *wall;
static std::atomic<int> caught, unwound;

static void on_signal(int number) { throw number; }
static void handle(int number) { CHECK(signal(number, on_signal) != SIG_ERR); }

static bool blocks(int number)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, nullptr, &now) == 0);
    return sigismember(&now, number);
}

struct counted {
    ~counted() { unwound++; }
};

/* Compilers take what these do for something that does not throw. */
static void touch() { *(volatile char *)wall = 1; }
static void sleep_long() { usleep(10000000); }
static void poll_nothing() { poll(nullptr, 0, 10000); }
static void wait_for_post()
{
    sem_t none;
    sem_init(&none, 0, 0);
    while (sem_wait(&none) != 0)
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

/* One after the other, on whatever kernel thread: none finds it blocked. */
static void faults()
{
    handle(SIGSEGV);
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        for (int turn = N - 1; turn >= 0; turn--) {
            if (turn == me)
                catch_out_of(touch, SIGSEGV);
#pragma omp barrier
        }
        CHECK(blocks(SIGSEGV));
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGSEGV);
        CHECK(pthread_sigmask(SIG_UNBLOCK, &set, nullptr) == 0);
        catch_out_of(touch, SIGSEGV);
    }
    CHECK(caught == 2 * N && unwound == 2 * N);
}

static pthread_t member;
static std::atomic<int> stands, told;

static void *send(void *)
{
    for (int i = 1; i <= ROUNDS; i++) {
        while (stands < i)
            usleep(100);
        usleep(20000);
        CHECK(pthread_kill(member, SIGUSR1) == 0);
        while (told < i)
            usleep(100);
    }
    return nullptr;
}

static void waits()
{
    static void (*const functions[ROUNDS])() = {sleep_long, poll_nothing, wait_for_post};
    handle(SIGUSR1);
    pthread_t sender;
    caught = unwound = 0;
    CHECK(pthread_create(&sender, nullptr, send, nullptr) == 0);
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() == N / 2) {
            member = pthread_self();
            for (auto function : functions) {
                stands++;
                catch_out_of(function, SIGUSR1);
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, SIGUSR1);
                CHECK(pthread_sigmask(SIG_UNBLOCK, &set, nullptr) == 0);
                told++;
            }
        }
#pragma omp barrier
    }
    CHECK(pthread_join(sender, nullptr) == 0);
    CHECK(caught == ROUNDS && unwound == ROUNDS);
}

static omp_lock_t lock;
static void get_lock() { omp_set_lock(&lock); }
static void meet()
{
#pragma omp barrier
}

/* The member has a kernel thread of its own, or none. */
static void throw_in(void (*wait)(), bool asks)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        handle(SIGUSR1);
        std::set_terminate([] { _exit(41); });
        omp_init_lock(&lock);
        omp_set_lock(&lock);
#pragma omp parallel num_threads(N)
        if (omp_get_thread_num() == N / 2) {
            member = pthread_self();
            if (asks)
                gettid();
            stands++;
            call(wait);
        } else if (omp_get_thread_num() == 0) {
            while (stands == 0)
                usleep(100);
            usleep(20000);
            CHECK(pthread_kill(member, SIGUSR1) == 0);
            pause();
        } else {
            pause();
        }
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 41);
}

int main(int argc, char **)
{
    if (argc > 1) {
        for (bool asks : {false, true})
            for (auto wait : {get_lock, meet})
                throw_in(wait, asks);
        return 0;
    }
    wall = (char *)mmap(nullptr, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
    faults();
    waits();
    return 0;
}
