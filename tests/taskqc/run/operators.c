/* clang-format off */ /* Reductions by every operator over every type. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
enum e { A, B, C = 7 };
static int global_sum = 1;
static int all(void)
{
    char c = 1; signed char sc = 2; unsigned short us = 3; long long ll = 4; unsigned long ul = ~0UL; float f = 1; double d = 2; long double ld = 3;
    bool any = false, both = true, plus = false;
    double complex z = 1 + 1 * I, zp = 1;
    enum e en = A;
    unsigned mn = 50, bits = 0xff, x = 0xf0;
    double dmin = 1e9, dmax = -1e9;
    volatile int vol = 0;
    static int st = 5;
    float fand = 2, for_ = 0;
    __int128 wide = 0;
    st = 5;
#pragma omp parallel taskq reduction(+ : c, sc, us, ll, f, d, ld, z, plus, vol, st, wide, global_sum) reduction(- : ul) reduction(* : zp) reduction(|| : any, for_) reduction(&& : both, fand) \
    reduction(| : en) reduction(min : mn, dmin) reduction(max : dmax) reduction(& : bits) reduction(^ : x)
    for (int i = 0; i < 10; i++) {
#pragma omp task
        {
            c++; sc++; us++; ll += i; ul -= 1; f += 0.5f; d += i; ld += 1; z += I; plus = plus || i == 3; vol++; st++; wide += (__int128)1 << 70;
            global_sum++;
            zp *= i == 2 ? I : 1;
            any = any || i == 5; both = both && i < 10; fand = fand && i < 9; for_ = for_ || 0;
            en |= i == 4 ? C : A;
            mn = (unsigned)i + 3 < mn ? (unsigned)i + 3 : mn;
            dmin = i < dmin ? i : dmin; dmax = i > dmax ? i : dmax;
            bits &= ~(1u << (i % 3)); x ^= 1u << i;
        }
    }
    CHECK(c == 11 && sc == 12 && us == 13 && ll == 49 && ul == ~0UL - 10 && f == 6 && d == 47 && ld == 13);
    CHECK(creal(z) == 1 && cimag(z) == 11 && creal(zp) == 0 && cimag(zp) == 1);
    CHECK(any && both && plus && en == C && mn == 3 && dmin == 0 && dmax == 9 && vol == 10 && st == 15 && fand == 0 && for_ == 0);
    CHECK(bits == 0xf8 && x == (0xf0 ^ 0x3ff) && (long)(wide >> 70) == 10 && global_sum == 11);
    return 0;
}
int main(void) { return all(); }
