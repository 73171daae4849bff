/* The promises of cpu.h, one by one, for whatever port this is built with.
 *
 * Checks inside a context are counted, not asserted: an assertion leaves by longjmp, which must not cross stacks. */
#define _GNU_SOURCE
#include "cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#if PS_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define STACK_BYTES (CPU_STACK_MIN + 256 * 1024)

static int broken;
#define EXPECT(cond)                                                                  \
    do {                                                                              \
        if (!(cond)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
            broken++;                                                                 \
        }                                                                             \
    } while (0)

static bool port_is(const char *name) { return strcmp(CPU_PORT_NAME, name) == 0; }

/* How often to repeat: the ports that enter the kernel at each switch get fewer. */
static long repetitions(long n) { return port_is("posix") ? n / 200 + 1 : port_is("ucontext") ? n / 20 + 1 : n; }

static struct cpu_context main_context;

static void *new_stack(void) { return aligned_alloc(4096, STACK_BYTES); }

static void start(struct cpu_context *ctx, void *stack, cpu_entry_fn *entry, void *arg)
{
#if PS_ASAN
    ASAN_UNPOISON_MEMORY_REGION(stack, STACK_BYTES); /* frames that were left in the middle */
#endif
    assert_int_equal(cpu_context_init(ctx, stack, STACK_BYTES, entry, arg), 0);
}

static int set_up(void **state)
{
    (void)state;
    broken = 0;
    main_context = (struct cpu_context){0};
    return cpu_context_adopt(&main_context);
}

static int tear_down(void **state)
{
    (void)state;
    cpu_context_fini(&main_context);
    return broken;
}

/* --- transfer and argument --- */

static struct cpu_context one;

static void echo(void *transfer, void *arg)
{
    EXPECT(transfer == (void *)7);
    EXPECT(arg == &one);
    EXPECT((uintptr_t)__builtin_frame_address(0) % 16 == 0);
    for (uintptr_t n = 100;; n++)
        transfer = cpu_switch(&one, &main_context, (void *)((uintptr_t)transfer + n));
}

static void test_transfer(void **state)
{
    (void)state;
    void *stack = new_stack();
    start(&one, stack, echo, &one);
    assert_ptr_equal(cpu_switch(&main_context, &one, (void *)7), (void *)107);
    assert_ptr_equal(cpu_switch(&main_context, &one, (void *)8), (void *)109);
    assert_ptr_equal(cpu_switch(&main_context, &one, NULL), (void *)102);
    cpu_context_fini(&one);
    free(stack);
}

/* --- registers: many values live across a switch, more than there are callee-saved registers --- */

#define RING 6
static struct cpu_context ring[RING];
static unsigned ring_next;

static void *to_next(struct cpu_context *from)
{
    ring_next = (ring_next + 1) % (RING + 1);
    return cpu_switch(from, ring_next == RING ? &main_context : &ring[ring_next], NULL);
}

#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static bool keeps_values(struct cpu_context *self, volatile uint64_t *seed, long times)
{
#define DECLARE(n)                           \
    uint64_t i##n = *seed * (n + 1) + times; \
    double d##n = (double)*seed + n * 0.5;
#define SAME(n) &&i##n == *seed *(n + 1) + (uint64_t)times &&d##n == (double)*seed + n * 0.5
    TWELVE(DECLARE)
    to_next(self);
    return true TWELVE(SAME);
}

static void keep(void *transfer, void *arg)
{
    (void)transfer;
    volatile uint64_t seed = (uintptr_t)arg * 1000003;
    for (long n = 0;; n++)
        EXPECT(keeps_values(&ring[(uintptr_t)arg], &seed, n));
}

static void test_registers(void **state)
{
    (void)state;
    void *stack[RING];
    for (uintptr_t i = 0; i < RING; i++)
        start(&ring[i], stack[i] = new_stack(), keep, (void *)i);
    volatile uint64_t seed = 42;
    ring_next = RING;
    for (long n = 0; n < repetitions(100000) && broken == 0; n++)
        EXPECT(keeps_values(&main_context, &seed, n));
    for (unsigned i = 0; i < RING; i++) {
        cpu_context_fini(&ring[i]);
        free(stack[i]);
    }
}

/* --- floating-point control --- */

static volatile double third = 3.0, whole = 1.0;

#if defined(__x86_64__)
static unsigned x87_control(void)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}
static unsigned sse_control(void) { return __builtin_ia32_stmxcsr() & ~0x3fu; }
static void set_odd_controls(void)
{
    unsigned short word = x87_control() & ~0x300u; /* single precision in the x87 unit */
    __asm__ volatile("fldcw %0" : : "m"(word));
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); /* flush to zero, denormals are zero */
}
#endif

static void rounds_up(void *transfer, void *arg)
{
    (void)transfer;
    EXPECT(fegetround() == FE_TOWARDZERO); /* its creator's at that moment */
    fesetround(FE_UPWARD);
    double up = whole / third;
#if defined(__x86_64__)
    set_odd_controls();
    unsigned x87 = x87_control(), sse = sse_control();
#endif
    for (;;) {
        cpu_switch(arg, &main_context, NULL);
        EXPECT(fegetround() == FE_UPWARD);
        EXPECT(whole / third == up);
#if defined(__x86_64__)
        EXPECT(x87_control() == x87);
        EXPECT(sse_control() == sse);
#endif
    }
}

static void test_float_control(void **state)
{
    (void)state;
    fenv_t before;
    fegetenv(&before);
    void *stack = new_stack();
    fesetround(FE_TOWARDZERO);
    start(&one, stack, rounds_up, &one);
    fesetround(FE_DOWNWARD);
    double down = whole / third;
#if defined(__x86_64__)
    unsigned x87 = x87_control(), sse = sse_control();
#endif
    for (int i = 0; i < 3; i++) {
        cpu_switch(&main_context, &one, NULL);
        EXPECT(fegetround() == FE_DOWNWARD);
        EXPECT(whole / third == down);
#if defined(__x86_64__)
        EXPECT(x87_control() == x87);
        EXPECT(sse_control() == sse);
#endif
    }
    fesetenv(&before);
    cpu_context_fini(&one);
    free(stack);
}

static void raises_others(void *transfer, void *arg)
{
    (void)transfer;
    fesetround(FE_UPWARD); /* so that control words are loaded on the way */
    feclearexcept(FE_ALL_EXCEPT);
    for (int raised = 0;; raised |= FE_INVALID) {
        EXPECT(fetestexcept(FE_ALL_EXCEPT) == raised);
        feraiseexcept(FE_INVALID);
        cpu_switch(arg, &main_context, NULL);
    }
}

static void test_float_flags(void **state)
{
    (void)state;
    void *stack = new_stack();
    feclearexcept(FE_ALL_EXCEPT);
    start(&one, stack, raises_others, &one);
    for (int i = 0; i < 4; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(FE_DIVBYZERO);
        cpu_switch(&main_context, &one, NULL);
        EXPECT(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
    }
    feclearexcept(FE_ALL_EXCEPT);
    cpu_context_fini(&one);
    free(stack);
}

/* The x87 unit's, which are kept from here on. None of both, one of both, other ones. */
static volatile long double long_zero, long_one = 1, long_three = 3, long_quotient;
static void raise_x87(int flags)
{
    feclearexcept(FE_ALL_EXCEPT);
    if (flags & FE_INVALID)
        long_quotient = long_zero / long_zero;
    if (flags & FE_DIVBYZERO)
        long_quotient = 1 / long_zero;
}

static void raises_others_x87(void *transfer, void *arg)
{
    (void)transfer;
    EXPECT(fetestexcept(FE_ALL_EXCEPT) == 0);
    for (int turn = 0;; turn++) {
        int raised = turn % 4 < 2 ? FE_INVALID : 0;
        fesetround(turn % 3 ? FE_UPWARD : FE_TONEAREST);
        raise_x87(raised);
        cpu_switch(arg, &main_context, NULL);
        EXPECT(fetestexcept(FE_ALL_EXCEPT) == raised && fegetround() == (turn % 3 ? FE_UPWARD : FE_TONEAREST));
    }
}

static void test_x87_flags(void **state)
{
    (void)state;
    if (!port_is("x86_64"))
        skip();
    void *stack = new_stack();
    cpu_float_keep_flags();
    feclearexcept(FE_ALL_EXCEPT);
    start(&one, stack, raises_others_x87, &one);
    for (int turn = 0; turn < 64; turn++) {
        int raised = (turn / 4 % 2 ? FE_INVALID : 0) | (turn / 8 % 2 ? FE_DIVBYZERO : 0);
        raise_x87(raised);
        long double before = long_one / long_three;
        cpu_switch(&main_context, &one, NULL);
        EXPECT(fetestexcept(FE_INVALID | FE_DIVBYZERO) == raised);
        EXPECT(fegetround() == FE_TONEAREST && long_one / long_three == before);
    }
    feclearexcept(FE_ALL_EXCEPT);
    cpu_context_fini(&one);
    free(stack);
}

/* --- the signal mask is the kernel thread's --- */

static bool usr1_blocked(void)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGUSR1);
}

static void set_usr1(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, NULL);
}

static void unblocks(void *transfer, void *arg)
{
    (void)transfer;
    for (;;) {
        EXPECT(usr1_blocked());
        set_usr1(SIG_UNBLOCK);
        cpu_switch(arg, &main_context, NULL);
    }
}

static void test_signal_mask(void **state)
{
    (void)state;
    if (CPU_CARRIES_TLS)
        skip();
    void *stack = new_stack();
    start(&one, stack, unblocks, &one);
    for (int i = 0; i < 3; i++) {
        set_usr1(SIG_BLOCK);
        cpu_switch(&main_context, &one, NULL);
        EXPECT(!usr1_blocked());
    }
    cpu_context_fini(&one);
    free(stack);
}

/* --- many switches, deep stacks, starting afresh --- */

static void test_many_switches(void **state)
{
    (void)state;
    void *stack = new_stack();
    start(&one, stack, echo, &one);
    uintptr_t sum = (uintptr_t)cpu_switch(&main_context, &one, (void *)7), n = 100;
    for (long i = repetitions(2000000); i > 0; i--) {
        uintptr_t answer = (uintptr_t)cpu_switch(&main_context, &one, (void *)sum);
        if (answer != sum + ++n) {
            assert_int_equal(answer, sum + n);
            break;
        }
        sum = answer % 1000;
    }
    cpu_context_fini(&one);
    free(stack);
}

static uint64_t descend(struct cpu_context *self, unsigned depth)
{
    volatile uint64_t local[16];
    for (unsigned i = 0; i < 16; i++)
        local[i] = depth * 16 + i;
    if (depth % 10 == 0)
        cpu_switch(self, &main_context, (void *)(uintptr_t)depth);
    uint64_t sum = depth == 0 ? 0 : descend(self, depth - 1);
    if (depth % 10 == 5)
        cpu_switch(self, &main_context, (void *)(uintptr_t)depth);
    for (unsigned i = 0; i < 16; i++)
        sum += local[i];
    return sum;
}

#define DEEP 800
static void dives(void *transfer, void *arg)
{
    (void)transfer;
    uint64_t n = (DEEP + 1) * 16;
    EXPECT(descend(arg, DEEP) == n * (n - 1) / 2);
    cpu_switch(arg, &main_context, (void *)(uintptr_t)12345);
}

static void test_deep_stack(void **state)
{
    (void)state;
    void *stack = new_stack();
    for (int again = 0; again < 2; again++) { /* the second time, the stack is used anew */
        start(&one, stack, dives, &one);
        unsigned switches = 0;
        for (uintptr_t depth = DEEP; depth != 12345; switches++)
            depth = (uintptr_t)cpu_switch(&main_context, &one, NULL);
        assert_int_equal(switches, DEEP / 10 + 1 + DEEP / 10 + 1);
    }
    cpu_context_fini(&one);
    free(stack);
}

static void counts(void *transfer, void *arg)
{
    (void)transfer;
    volatile uintptr_t n = (uintptr_t)arg; /* starts anew each time */
    for (;; n++)
        cpu_switch(&one, &main_context, (void *)n);
}

static void test_afresh(void **state)
{
    (void)state;
    void *stack = new_stack();
    for (uintptr_t i = 1; i <= 100; i++) { /* left in the middle each time */
        start(&one, stack, counts, (void *)(i * 1000));
        assert_ptr_equal(cpu_switch(&main_context, &one, NULL), (void *)(i * 1000));
        assert_ptr_equal(cpu_switch(&main_context, &one, NULL), (void *)(i * 1000 + 1));
    }
    cpu_context_fini(&one);
    start(&one, stack, counts, NULL); /* and one that is never switched to */
    cpu_context_fini(&one);
    free(stack);
}

/* --- contexts go from kernel thread to kernel thread --- */

static struct cpu_context *carrier;
static uintptr_t hops;

static void travels(void *transfer, void *arg)
{
    (void)transfer;
    for (;;) {
        hops++;
        cpu_switch(arg, carrier, NULL);
    }
}

static void *run_once(void *ctx)
{
    struct cpu_context mine = {0};
    EXPECT(cpu_context_adopt(&mine) == 0);
    carrier = &mine;
    cpu_switch(&mine, ctx, NULL);
    cpu_context_fini(&mine);
    return NULL;
}

static void test_kernel_threads(void **state)
{
    (void)state;
    void *stack = new_stack();
    start(&one, stack, travels, &one);
    for (uintptr_t i = 1; i <= 50; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_once, &one), 0);
        pthread_join(thread, NULL);
        run_once(&one);
        assert_int_equal(hops, 2 * i);
    }
    cpu_context_fini(&one);
    free(stack);
}

/* --- the rest of the contract --- */

static void test_thread_pointer(void **state)
{
    (void)state;
    assert_ptr_equal(cpu_get_tp(), __builtin_thread_pointer());
    if (CPU_CARRIES_TLS)
        assert_false(cpu_tp_settable());
    if (!cpu_tp_settable())
        skip();
    static __thread int mine = 1;
    cpu_set_tp(cpu_get_tp());
    mine++;
    assert_int_equal(mine, 2);
}

static void test_cycles(void **state)
{
    (void)state;
    uint64_t before = cpu_cycles(), after;
    do {
        cpu_pause();
        after = cpu_cycles();
    } while (after == before);
    assert_true(after > before);
}

/* --- a call that may be left --- */

#if defined(CPU_HAS_GUARDED_CALL) && !PS_ASAN && !PS_TSAN /* frames that are left stay on TSan's shadow stack */
static void *guards[2];
static volatile unsigned inner;

static void *comes_back(void *arg)
{
    EXPECT((uintptr_t)__builtin_frame_address(0) % 16 == 0);
    return arg;
}
static void (*volatile leave)(void *guard, void *result) = cpu_guarded_leave;
static PS_NOINLINE void deeper(unsigned levels, void *result)
{
    volatile unsigned frame[80];
    frame[levels] = levels;
    if (levels)
        deeper(levels - 1, result);
    else
        leave(guards[inner], result);
    EXPECT(frame[levels] != levels); /* comes back to a frame that was left */
}
/* Has other values in all registers. */
static PS_NOINLINE bool keeps_values_to_leave(volatile uint64_t *seed_at)
{
    const long times = 3;
    volatile uint64_t *seed = seed_at;
    TWELVE(DECLARE)
    deeper(20, (void *)(uintptr_t)*seed);
    return true TWELVE(SAME);
}
static void *is_left(void *arg)
{
    volatile uint64_t seed = (uintptr_t)arg;
    return keeps_values_to_leave(&seed) ? arg : NULL;
}
static void *leaves_inner_then_outer(void *arg)
{
    inner = 1;
    EXPECT(cpu_guarded_call(is_left, (void *)11, &guards[1]) == (void *)11);
    EXPECT(cpu_guarded_call(comes_back, (void *)12, &guards[1]) == (void *)12);
    inner = 0;
    return is_left(arg);
}
static bool keeps_values_over(void *(*fn)(void *), volatile uint64_t *seed, long times)
{
    TWELVE(DECLARE)
    bool same = cpu_guarded_call(fn, (void *)(uintptr_t)(*seed + 1), &guards[0]) == (void *)(uintptr_t)(*seed + 1);
    return same TWELVE(SAME);
}

static void test_guarded_call(void **state)
{
    (void)state;
    volatile uint64_t seed = 42;
    for (long n = 0; n < 1000 && broken == 0; n++, seed += 7) {
        EXPECT(keeps_values_over(comes_back, &seed, n));
        inner = 0;
        EXPECT(keeps_values_over(is_left, &seed, n));
        EXPECT(keeps_values_over(leaves_inner_then_outer, &seed, n));
    }
}
#else
static void test_guarded_call(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_transfer),     TEST(test_registers),      TEST(test_float_control),  TEST(test_float_flags),
        TEST(test_x87_flags),    TEST(test_signal_mask),    TEST(test_many_switches),  TEST(test_deep_stack),
        TEST(test_afresh),       TEST(test_kernel_threads), TEST(test_thread_pointer), TEST(test_cycles),
        TEST(test_guarded_call),
    };
    return cmocka_run_group_tests_name(CPU_PORT_NAME, tests, NULL, NULL);
}
