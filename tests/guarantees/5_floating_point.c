/* Floating-point control: members begin with their parent's, keep their own over everything that waits, and the
 * caller's is as before. */
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

int main(void)
{
    omp_set_max_active_levels(2);
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
