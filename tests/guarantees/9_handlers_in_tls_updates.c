/* A handler may interrupt the dynamic linker in the middle of a thread's table of thread-local storage, which it brings
 * up to date after libraries were loaded and unloaded. What the runtime does before it calls the handler does not look
 * such storage up. LIBRARY */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <omp.h>
#include <signal.h>
#include <sys/time.h>

#define ROUNDS 8000

static volatile sig_atomic_t alarms;
static void on_alarm(int number)
{
    (void)number;
    alarms = alarms + 1;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    CHECK(argc == 2 && sigaction(SIGALRM, &action, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        int *(*value)(void) = (int *(*)(void))dlsym(library, "library_value");
        CHECK(value);
        setitimer(ITIMER_REAL, &often, NULL);
#pragma omp parallel num_threads(4)
        {
            int *mine = value();
            CHECK(*mine == 5);
            *mine = omp_get_thread_num();
#pragma omp barrier
            CHECK(*value() == omp_get_thread_num());
            *mine = 5;
        }
        setitimer(ITIMER_REAL, &never, NULL);
        CHECK(dlclose(library) == 0);
    }
    CHECK(alarms > 0);
    return 0;
}
