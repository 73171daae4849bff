/* Loaded into a program under the model of transfers.c: sysconf counts the model's processors. LLVM's runtime and
 * oneTBB use no more than it counts, and glibc reads the numbers from /sys. MODEL_PROCESSORS is set by model.py.
 * At the start it makes a thread: the one that runs beside the model. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) long sysconf(int name)
{
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    const char *num = getenv("MODEL_PROCESSORS");
    bool counts = name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN;
    return num && counts ? atol(num) : next ? next(name) : -1;
}

static void *nothing(void *arg) { return arg; }

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}
