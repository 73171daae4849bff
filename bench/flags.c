/* What do members cost that wait for each other by a flag, without a call to the runtime? flags [MEMBERS [SAMPLES]]
 * The members of one region hand a number round ten times; each spins until it is its turn. More members than
 * processors have to share them, though nobody yields: ms from the region's start to its end. Twin: the same loop by
 * one thread. Check: the number counts all turns. */
#include "sample.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, MEMBERS_MAX = 1000, SAMPLES_MAX = 100 };

static unsigned long turn;

static void take_turns(unsigned id, unsigned members)
{
    for (unsigned long r = 0; r < ROUNDS; r++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != r * members + id)
            continue;
        __atomic_store_n(&turn, r * members + id + 1, __ATOMIC_RELEASE);
    }
}

int main(int argc, char **argv)
{
    unsigned members = argc > 1 ? (unsigned)atoi(argv[1]) : 4, samples = argc > 2 ? (unsigned)atoi(argv[2]) : 9;
    if (members < 1 || members > MEMBERS_MAX || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "flags [MEMBERS from 1 to %d [SAMPLES from 1 to %d]]\n", MEMBERS_MAX, SAMPLES_MAX);
        return 2;
    }
    double ms[SAMPLES_MAX], one[SAMPLES_MAX];
    for (unsigned i = 0; i < samples; i++) {
        turn = 0;
        double start = sample_now();
#pragma omp parallel num_threads(members)
        take_turns((unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads());
        ms[i] = (sample_now() - start) * 1e3;
        if (turn == 0 || turn % ROUNDS) {
            fprintf(stderr, "flags: %lu turns, wanted a multiple of %d\n", turn, ROUNDS);
            return 1;
        }
        turn = 0;
        start = sample_now();
        take_turns(0, 1);
        one[i] = (sample_now() - start) * 1e3;
    }
    sample_print("flags, all members", "ms", ms, samples);
    sample_print("flags, one thread", "ms", one, samples);
    return 0;
}
