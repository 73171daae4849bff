/* clang-format off */ /* Captures of every type: bit-fields, unions, const, volatile, atomic, wide, functions, types of the file's without a name. */
#include "check.h"
#include <stdatomic.h>
#include <stdbool.h>
static struct { int x, y; char name[8]; } config = {1, 2, "abc"};
static struct { unsigned a : 3, b : 5; } bits = {5, 17};
typedef struct { unsigned low : 4; signed int high : 4; _Bool flag : 1; } nib;
union u { int i; float f; };
typedef union { long l; char c[8]; } anon_u;
enum { K1 = 3, K2 };
static const int table[4] = {1, 2, 3, 4};
typedef int (*fp)(const char *, ...);
static int run(int m)
{
    nib nb = {3, -2, 1};
    const nib cn = {4, 1, 0};
    union u w = {.i = 7};
    anon_u au = {.l = 9};
    const int row[3] = {1, 2, 3};
    volatile int vol[2] = {1, 2};
    const char *const msg = "hello";
    __typeof__(config) copy = config;
    __typeof__(bits) b2 = bits;
    _Atomic int at = 4;
    bool fl = true;
    __int128 big = 1;
    long double ld = 2.5L;
    char text[] = "text";
    const struct { int q; } cq = {11};
    int (*matrix)[3] = (int[2][3]){{1, 2, 3}, {4, 5, 6}};
    fp print = printf;
    fp prints[2] = {printf, printf};
    void *const restrict_like = &fl;
    int total = 0, seen[8] = {0};
#pragma omp parallel taskq firstprivate(config, bits)
    {
        config.x += 10;
        bits.b++;
#pragma omp task captureprivate(nb, cn, w, au, row, vol, msg, copy, b2, fl, big, ld, text, cq, matrix, print, prints, at)
        {
            nb.high++;
            total += nb.low + nb.high + nb.flag + (int)cn.low + w.i + (int)au.l + row[2] + vol[1] + (int)strlen(msg);
            total += copy.x + copy.y + (int)b2.a + (int)b2.b + at + fl + (int)big + (int)ld + (int)sizeof text + text[0];
            total += cq.q + matrix[1][2] + (print == prints[1]) + config.x + config.name[0] + (int)bits.b + table[1] + K2;
            vol[0] = 8;
            text[0] = 'x';
            copy.x = 77;
            seen[0] = *(bool *)restrict_like;
        }
    }
    CHECK(config.x == 1 && bits.b == 17 && text[0] == 't' && copy.x == 1 && vol[0] == 1 && nb.high == -2);
    (void)m;
    return total + seen[0];
}
int main(void)
{
    int want = 3 - 1 + 1 + 4 + 7 + 9 + 3 + 2 + 5 + 1 + 2 + 5 + 17 + 4 + 1 + 1 + 2 + 5 + 't' + 11 + 6 + 1 + 11 + 'a' + 18 + 2 + 4 + 1;
    int got = run(1);
    if (got != want) printf("got %d want %d\n", got, want);
    return got != want;
}
