/* What does it cost that threads of the program's own, which open regions, wait for each other by flags?
 * roots [EXCHANGES [SAMPLES]]
 * Two kernel threads each open a region of two members, then tell each other so, and spin until both have: one
 * exchange. Printed is its time in us, in samples of EXCHANGES; the two threads live through all of them. They begin on
 * one processor, from which they may go. Beside other programs the system may leave both there, where an exchange takes
 * a time slice. Twin: one thread that opens both regions. Check: the members are counted. */
#include "sample.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES_MAX = 100 };

static unsigned long exchanges = 200, samples = 9;
static double us[SAMPLES_MAX], alone[SAMPLES_MAX];
static struct side {
    _Alignas(128) unsigned long said, ran;
} side[2];

static void open_region(struct side *s)
{
#pragma omp parallel num_threads(2)
    __atomic_fetch_add(&s->ran, 1, __ATOMIC_RELAXED);
}

static cpu_set_t processors;
static unsigned here;

/* Both are on the caller's processor now; from here on each may go where it likes. */
static void begin_together(void)
{
    __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&here, __ATOMIC_RELAXED) < 2)
        sched_yield();
    sched_setaffinity(0, sizeof processors, &processors);
}

static void *take_samples(void *arg)
{
    struct side *mine = arg, *other = mine == side ? side + 1 : side;
    unsigned long number = 0;
    begin_together();
    for (unsigned long i = 0; i < samples; i++) {
        double start = sample_now();
        for (unsigned long end = number + exchanges; number < end;) {
            open_region(mine);
            __atomic_store_n(&mine->said, ++number, __ATOMIC_RELEASE);
            while (__atomic_load_n(&other->said, __ATOMIC_ACQUIRE) < number)
                continue;
        }
        if (mine == side)
            us[i] = (sample_now() - start) * 1e6 / (double)exchanges;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    exchanges = argc > 1 ? strtoul(argv[1], NULL, 10) : exchanges;
    samples = argc > 2 ? strtoul(argv[2], NULL, 10) : samples;
    if (exchanges < 1 || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "roots [EXCHANGES [SAMPLES from 1 to %d]]\n", SAMPLES_MAX);
        return 2;
    }
    pthread_t other;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof processors, &processors) != 0 || sched_setaffinity(0, sizeof one, &one) != 0) {
        fprintf(stderr, "roots: the affinity mask cannot be set\n");
        return 1;
    }
    if (pthread_create(&other, NULL, take_samples, &side[1]) != 0) {
        fprintf(stderr, "roots: there is no kernel thread\n");
        return 1;
    }
    take_samples(&side[0]);
    pthread_join(other, NULL);
    if (side[0].ran != 2 * exchanges * samples || side[1].ran != side[0].ran) {
        fprintf(stderr, "roots: %lu and %lu members ran, wanted %lu each\n", side[0].ran, side[1].ran,
                2 * exchanges * samples);
        return 1;
    }
    for (unsigned long i = 0; i < samples; i++) {
        double start = sample_now();
        for (unsigned long e = 0; e < 2 * exchanges; e++)
            open_region(&side[0]);
        alone[i] = (sample_now() - start) * 1e6 / (double)exchanges;
    }
    sample_print("roots, an exchange", "us", us, (unsigned)samples);
    sample_print("roots, one thread", "us", alone, (unsigned)samples);
    return 0;
}
