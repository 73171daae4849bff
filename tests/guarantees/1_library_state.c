/* What the C library keeps for each thread: locale, POSIX keys with destructors, strerror's buffer, stack bounds. */
#define _GNU_SOURCE
#include "check.h"
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define N 8

static pthread_key_t key;
static int destroyed;

static void destroy(void *value)
{
    (void)value;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    CHECK(pthread_key_create(&key, destroy) == 0);
    locale_t locale[2] = {newlocale(LC_ALL_MASK, "C", NULL), newlocale(LC_ALL_MASK, "POSIX", NULL)};
    pthread_t self[N];
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            CHECK(!round || pthread_getspecific(key) == &self[id]);
            pthread_setspecific(key, &self[id]);
            if (id)
                uselocale(locale[id % 2]);
            self[id] = pthread_self();
#pragma omp barrier
            CHECK(pthread_getspecific(key) == &self[id]);
            CHECK(!id || uselocale((locale_t)0) == locale[id % 2]);
            CHECK(pthread_equal(self[id], pthread_self()));
            for (int other = 0; other < N; other++)
                CHECK(other == id || !pthread_equal(self[other], self[id]));
            char here;
            if (id) {
                void *low;
                size_t bytes;
                pthread_attr_t attr;
                CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
                CHECK(pthread_attr_getstack(&attr, &low, &bytes) == 0);
                CHECK((char *)low <= &here && &here < (char *)low + bytes);
                pthread_attr_destroy(&attr);
            }
            int cpu = sched_getcpu();
            CHECK(cpu >= 0 && cpu < (int)sysconf(_SC_NPROCESSORS_CONF));
#pragma omp barrier
            CHECK(pthread_getspecific(key) == &self[id]);
            if (id)
                uselocale(LC_GLOBAL_LOCALE);
        }
    }
    CHECK(pthread_getspecific(key) == &self[0]);
    return 0;
}
