/* Rounding and flush-to-zero that members have, from region to region. libgomp: what a member had at its last region's
 * end; libomp: what the region's opener has. Members of inner regions begin with their opener's. "late": set for the
 * first time after many regions. Flush-to-zero that each sets differently then comes last: not promised before others
 * have set it, all the same. */
#include "check.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>
#if defined __SSE2__
#include <xmmintrin.h>
#define FLUSH 0x8040u
static unsigned flush(void) { return _mm_getcsr() & FLUSH; }
static void set_flush(int on) { _mm_setcsr(on ? _mm_getcsr() | FLUSH : _mm_getcsr() & ~FLUSH); }
#else
#define FLUSH 0u
static unsigned flush(void) { return 0; }
static void set_flush(int on) { (void)on; }
#endif
#if defined __clang__
#define OF_OPENER 1
#else
#define OF_OPENER 0
#endif

#define REGIONS 200
static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void compute_ms(double ms)
{
    for (double end = omp_get_wtime() + ms / 1e3; omp_get_wtime() < end;)
        ;
}

/* Some regions last so long that others than the parent run members. */
static void work(int region)
{
    if (region % 5 == 0)
        compute_ms(0.2);
}

static void each_sets_its_own(void)
{
#pragma omp parallel
    {
        CHECK(fegetround() == FE_TONEAREST); /* not what another one has set here */
        fesetround(modes[omp_get_thread_num() % 4]);
    }
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        {
            int mine = OF_OPENER ? FE_TONEAREST : modes[omp_get_thread_num() % 4];
            work(region);
            CHECK(fegetround() == mine);
            if (region % 2) {
#pragma omp barrier
                CHECK(fegetround() == mine);
            }
        }
    }
#pragma omp parallel
    fesetround(FE_TONEAREST);
}

/* In a later region of each inner team, for the first time. */
static void inner_ones_set_their_own(void)
{
#pragma omp parallel num_threads(2)
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(4)
        {
            int mine = modes[(omp_get_thread_num() + omp_get_ancestor_thread_num(1)) % 4];
            work(region);
            CHECK(fegetround() == FE_TONEAREST);
            if (region % 100 == 99) {
                fesetround(mine);
                if (region == 199) {
#pragma omp barrier
                    CHECK(fegetround() == mine);
                }
                if (omp_get_thread_num() == 0)
                    fesetround(FE_TONEAREST);
            }
        }
        CHECK(fegetround() == FE_TONEAREST);
    }
}

/* The opener, within the region, before it runs other members. */
static void opener_changes_within(void)
{
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        {
            if (omp_get_thread_num() == 0)
                fesetround(FE_UPWARD);
            else
                CHECK(fegetround() == FE_TONEAREST);
        }
        CHECK(OF_OPENER || fegetround() == FE_UPWARD); /* libomp gives it what it had at the fork */
        fesetround(FE_TONEAREST);
    }
}

static void all_set_the_same(void)
{
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        CHECK(flush() == 0);
    }
#pragma omp parallel
    set_flush(1);
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        {
            work(region);
            CHECK(flush() == FLUSH);
        }
    }
#pragma omp parallel
    set_flush(0);
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        {
            work(region);
            CHECK(flush() == 0);
        }
    }
}

static void the_opener_changes(void)
{
    for (int change = 0; change < 4; change++) {
        fesetround(modes[change]);
        for (int region = 0; region < REGIONS / 4; region++) {
#pragma omp parallel
            {
                work(region);
                CHECK(fegetround() == (OF_OPENER || omp_get_thread_num() == 0 ? modes[change] : FE_TONEAREST));
            }
        }
    }
    fesetround(FE_TONEAREST);
}

static void inner_ones_begin_with_their_openers(void)
{
#pragma omp parallel num_threads(3)
    for (int region = 0; region < REGIONS / 2; region++) {
        int mine = modes[region < REGIONS / 4 ? omp_get_thread_num() : region < REGIONS / 3 ? 3 : 0];
        fesetround(mine);
#pragma omp parallel num_threads(3)
        {
            if (region % 25 == 0)
                compute_ms(0.1);
            CHECK(fegetround() == mine);
        }
        CHECK(fegetround() == mine);
#pragma omp barrier
        CHECK(fegetround() == mine);
    }
}

static void each_sets_its_own_flush(void)
{
    for (int round = 0; round < 3; round++) {
#pragma omp parallel
        set_flush(omp_get_thread_num() % 2);
        for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
            {
                work(region);
                CHECK(flush() == (region <= REGIONS / 2 && omp_get_thread_num() % 2 ? FLUSH : 0));
                if (region == REGIONS / 2)
                    set_flush(0);
            }
        }
    }
}

int main(int argc, char **argv)
{
    bool late = argc > 1 && strcmp(argv[1], "late") == 0;
    omp_set_max_active_levels(2);
    for (int region = 0; late && region < 3 * REGIONS; region++) {
#pragma omp parallel
        work(region);
    }
    opener_changes_within();
    inner_ones_set_their_own();
    each_sets_its_own();
    the_opener_changes();
    inner_ones_begin_with_their_openers();
    if (!OF_OPENER) {
        all_set_the_same();
        each_sets_its_own_flush();
    }
    return 0;
}
