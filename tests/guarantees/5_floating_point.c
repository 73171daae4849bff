/* Floating-point control: members begin with their parent's, keep their own over everything that waits, and the
 * caller's is as before. Status flags, of `long double` as well: each member has its own over everything that waits,
 * and from region to region; the caller has none of others'. */
#include "check.h"
#include <fenv.h>
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

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* Functions of their own, so that no compiler moves the division over a question for the flags. */
static volatile double one = 1, zero, infinite;
static volatile long double long_one = 1, long_zero, long_infinite;
__attribute__((noinline)) static void divide(int turn)
{
    if (turn % 4 < 2)
        infinite = one / zero;
    else
        long_infinite = long_one / long_zero; /* x86: in another unit */
}
__attribute__((noinline)) static int flags(void) { return fetestexcept(FE_DIVBYZERO); }

static void waits_keep_flags(void)
{
#pragma omp parallel num_threads(4)
    for (int turn = 0; turn < 50; turn++) {
        int raises = (omp_get_thread_num() + turn) % 2, right = 0;
        feclearexcept(FE_ALL_EXCEPT);
        if (raises)
            divide(turn);
#pragma omp barrier
        CHECK(flags() == (raises ? FE_DIVBYZERO : 0));
#pragma omp critical
        CHECK(flags() == (raises ? FE_DIVBYZERO : 0));
#pragma omp parallel num_threads(3) reduction(+ : right)
        {
#pragma omp barrier
            if (!raises && omp_get_thread_num())
                divide(turn);
            right += omp_get_thread_num() || flags() == (raises ? FE_DIVBYZERO : 0);
        }
        CHECK(right == 3);
        CHECK(flags() == (raises ? FE_DIVBYZERO : 0));
    }
}

/* By members that nothing makes wait. */
static void others_leave_the_caller_alone(void)
{
    for (int region = 0; region < 100; region++) {
        feclearexcept(FE_ALL_EXCEPT);
#pragma omp parallel num_threads(4)
        if (omp_get_thread_num()) {
            divide(region);
            fesetround(FE_UPWARD);
        }
        CHECK(fegetround() == FE_TONEAREST && flags() == 0);
    }
    fesetround(FE_TONEAREST);
}

/* A thread of a pool goes on with its own. */
static void members_keep_flags(void)
{
    for (int region = 0; region < 200; region++) {
#pragma omp parallel num_threads(4)
        {
            int id = omp_get_thread_num(), raised = (id + region) % 2 ? 0 : FE_DIVBYZERO;
            CHECK(region == 0 || flags() == raised);
            feclearexcept(FE_ALL_EXCEPT);
            if (!raised)
                divide(region);
            if (region % 3 == 0) {
#pragma omp barrier
                CHECK(flags() == FE_DIVBYZERO - raised);
            }
        }
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
    members_keep_flags();
    waits_keep_flags();
    others_leave_the_caller_alone();
    for (int k = 0; k < 4; k++) {
        fesetround(modes[k]);
        set_flush(k % 2);
        /* Threads made for this very region begin with its creator's: a number of threads not used before. */
#pragma omp parallel num_threads(4)
        {
            int id = omp_get_thread_num(), mine = modes[(id + k) % 4];
            fesetround(mine);
            set_flush(id % 2);
#pragma omp barrier
            CHECK(fegetround() == mine && flush() == (id % 2 ? FLUSH : 0));
#pragma omp critical
            CHECK(fegetround() == mine);
            int right = 0;
#pragma omp parallel num_threads(3) reduction(+ : right)
            {
#pragma omp barrier
                right += omp_get_thread_num() ? 1 : fegetround() == mine;
            }
            CHECK(right == 3);
#pragma omp barrier
            CHECK(fegetround() == mine && flush() == (id % 2 ? FLUSH : 0));
            if (id == 0) {
                fesetround(modes[k]);
                set_flush(k % 2);
            }
        }
        CHECK(fegetround() == modes[k] && flush() == (k % 2 ? FLUSH : 0));
    }
    return 0;
}
