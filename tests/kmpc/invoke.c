/* kmpc_invoke, the processors' assembly: any number of arguments arrive in order, the stack is aligned, what the caller
 * keeps is kept, and an exception could pass (a backtrace does). */
#include <execinfo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../omp/check.h"

typedef void (*microtask)(int32_t *gtid, int32_t *tid, ...);
int kmpc_invoke(microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args);

#define MOST 200
static int expected, calls;
static int frames_wanted;

/* Called with more arguments than it names: where they stand is the convention's affair. */
static void outlined(int32_t *gtid, int32_t *tid, ...)
{
    CHECK(*gtid == 11 && *tid == 22);
    va_list list;
    va_start(list, tid);
    for (int i = 0; i < expected; i++)
        CHECK(va_arg(list, void *) == (void *)(uintptr_t)(0x1000 + i));
    va_end(list);
    _Alignas(16) volatile char aligned[16];
    CHECK((uintptr_t)aligned % 16 == 0);
    char text[32];
    snprintf(text, sizeof text, "%.3f",
             expected + 0.5); /* uses vector registers, which a stack out of line would show */
    void *frames[64];
    CHECK(backtrace(frames, 64) >= frames_wanted);
    calls++;
}

/* As compiled code has it: a fixed list. */
static void fixed(int32_t *gtid, int32_t *tid, void *a, void *b, void *c, void *d, void *e, void *f, void *g)
{
    CHECK(*gtid == 11 && *tid == 22);
    void *all[] = {a, b, c, d, e, f, g};
    for (int i = 0; i < 7; i++)
        CHECK(all[i] == (void *)(uintptr_t)(0x1000 + i));
    calls++;
}

int main(void)
{
    int32_t gtid = 11, tid = 22;
    void *frames[64];
    frames_wanted = backtrace(frames, 64) + 2;
    for (int n = 0; n <= MOST; n++) {
        void **args = malloc((size_t)(n > 0 ? n : 1) * sizeof *args);
        for (int i = 0; i < n; i++)
            args[i] = (void *)(uintptr_t)(0x1000 + i);
        expected = n;
        CHECK(kmpc_invoke(outlined, &gtid, &tid, n, args) == 1);
        if (n == 7)
            kmpc_invoke((microtask)(void (*)(void))fixed, &gtid, &tid, n, args);
        free(args);
    }
    CHECK(calls == MOST + 2);
    return 0;
}
