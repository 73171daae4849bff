/* The rest of a relative time limit, for a system call that is made anew.
 *
 * A call that an interrupt has ended is made anew (restart.c). A relative limit would begin to count anew with it: a
 * thread that is interrupted again and again before its limit would wait for ever. So such a call is made with what is
 * left of the limit. The limit is never cut short.
 *
 * Where the kernel writes what is left, that counts:
 *   - ppoll, pselect6 and select write it to where they have the limit from. The time until the call is made anew is
 *     taken off there, if the kernel may write there (countdown_go_on).
 *   - Sleeps write it to another place, if the program wants to know it. It is brought up to date there as well: the
 *     call may end with EINTR before it is made anew.
 * Any other limit counts from the first interrupt on, so it is met before twice the time: what the call waited before
 * is not known.
 *
 * The end of a limit that the kernel does not write must be known at the call's next interrupt, and to that call only:
 * the program may make the same call at the same place again. And the program's registers, which a system call keeps,
 * must not be changed. So the call is made by an instruction of this file (ps_countdown_call) with a structure on the
 * stack beside it:
 *   - The handler's frame holds the structure. When the handler returns, the stack pointer is set to its address. So
 *     signal frames come below it. All signals are blocked from when it is filled in until the frame is left.
 *   - The instruction follows with changed arguments; behind it the program's registers are as they were, and the
 *     program goes on.
 *   - An interrupt there finds the structure by the stack pointer. Nothing is to be freed where the thread never comes
 *     back (longjmp, cancellation).
 * Unwinders find the program's frame by the structure.
 *
 * Whether a thread may be left at a call depends on the code that made the call first. So all that asks where a thread
 * stands asks countdown_stands_at: behind that code's own instruction. The runtime has waits with limits as well. If
 * these counted as this file's, a thread would be left in the middle of the runtime's work.
 *
 * Which calls: see limit_of. Not counted down: the limits of sockets (SO_RCVTIMEO) and of io_uring_enter. Clocks of
 * processor time count only what has been used.
 *
 * Other processors than x86-64: the limit begins anew. Under Valgrind too, which takes what a handler leaves on the
 * stack for dead; and where AddressSanitizer may put a function's variables elsewhere. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "countdown.h"

#include <signal.h>
#include <stddef.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "compiler.h"
#include "os.h"
#include "raw.h"

#if defined(__x86_64__) && !PS_ASAN

#define MS_NS INT64_C(1000000)
#define S_NS INT64_C(1000000000)
#define US_NS INT64_C(1000)
#define LONGEST_S 1000000000 /* such a limit is none */
#define FUTEX_COMMANDS 0x7f

__asm__(".pushsection .text\n"
        "\t.type ps_countdown_call, @function\n"
        "\t.cfi_startproc\n"
        "\t.cfi_signal_frame\n"
        "\t.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" /* CFA: what is at rsp + 8 */
        "\t.cfi_escape 0x10, 16, 2, 0x77, 0\n"   /* rip: at rsp + 0 */
        "\tnop\n"
        "ps_countdown_call:\n"
        "\tsyscall\n"
        "ps_countdown_end:\n"
        "\tmov 16(%rsp), %rdi\n"
        "\tmov 24(%rsp), %rdx\n"
        "\tmov 32(%rsp), %r10\n"
        "\tmov 40(%rsp), %r8\n"
        "\tmov (%rsp), %rcx\n" /* as a system call leaves it */
        "\tmov 8(%rsp), %rsp\n"
        "\t.cfi_def_cfa rsp, 0\n"
        "\t.cfi_register rip, rcx\n"
        "\tjmp *%rcx\n"
        "\t.cfi_endproc\n"
        "\t.size ps_countdown_call, . - ps_countdown_call\n"
        "\t.popsection");
_Static_assert(offsetof(struct countdown, pc) == 0 && offsetof(struct countdown, sp) == 8 &&
                   offsetof(struct countdown, rdi) == 16 && offsetof(struct countdown, rdx) == 24 &&
                   offsetof(struct countdown, r10) == 32 && offsetof(struct countdown, r8) == 40,
               "the code above");
extern const char ps_countdown_call[] __attribute__((visibility("hidden")));
extern const char ps_countdown_end[] __attribute__((visibility("hidden")));

#define REGISTERS(uc) ((uc)->uc_mcontext.gregs)
#define PC(uc) ((uintptr_t)REGISTERS(uc)[REG_RIP])

/* WRITTEN: what is left stands there afterwards. */
enum unit { NONE, MILLISECONDS, TIMESPEC, TIMESPEC_WRITTEN, TIMEVAL_WRITTEN };

/* In which register the call's limit is, and what it is. */
static enum unit limit_of(const ucontext_t *uc, long number, int *reg)
{
    static const struct {
        long number;
        int reg;
        enum unit unit;
    } limits[] = {
        {SYS_poll, REG_RDX, MILLISECONDS},        {SYS_epoll_wait, REG_R10, MILLISECONDS},
        {SYS_epoll_pwait, REG_R10, MILLISECONDS}, {SYS_epoll_pwait2, REG_R10, TIMESPEC},
        {SYS_semtimedop, REG_R10, TIMESPEC},      {SYS_rt_sigtimedwait, REG_RDX, TIMESPEC},
        {SYS_io_getevents, REG_R8, TIMESPEC},     {SYS_io_pgetevents, REG_R8, TIMESPEC},
        {SYS_nanosleep, REG_RDI, TIMESPEC},       {SYS_clock_nanosleep, REG_RDX, TIMESPEC},
        {SYS_futex, REG_R10, TIMESPEC},           {SYS_ppoll, REG_RDX, TIMESPEC_WRITTEN},
        {SYS_pselect6, REG_R8, TIMESPEC_WRITTEN}, {SYS_select, REG_R8, TIMEVAL_WRITTEN},
    };
    long first = REGISTERS(uc)[REG_RDI], second = REGISTERS(uc)[REG_RSI];
    if (number == SYS_clock_nanosleep &&
        (second != 0 || first < 0 || first == CLOCK_PROCESS_CPUTIME_ID || first == CLOCK_THREAD_CPUTIME_ID))
        return NONE;
    if (number == SYS_futex && (second & FUTEX_COMMANDS) != 0) /* not FUTEX_WAIT: the others' limits are moments */
        return NONE;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].number == number) {
            *reg = limits[i].reg;
            return limits[i].unit;
        }
    return NONE;
}

/* Where the kernel has written what is left of a sleep; NULL: the program does not want to know it. */
static void *rest_of_sleep(const ucontext_t *uc, long number)
{
    int at = number == SYS_nanosleep ? REG_RSI : number == SYS_clock_nanosleep ? REG_R10 : -1;
    return at < 0 ? NULL : (void *)REGISTERS(uc)[at];
}

/* 0: there is no limit. */
static uint64_t end_of(const ucontext_t *uc, long number)
{
    int reg = 0;
    enum unit unit = limit_of(uc, number, &reg);
    int64_t of_second = unit == TIMEVAL_WRITTEN ? US_NS : 1;
    uint64_t now = os_now_ns();
    if (unit == MILLISECONDS) {
        int ms = (int)REGISTERS(uc)[reg];
        return ms < 0 ? 0 : now + (uint64_t)(ms * MS_NS);
    }
    if (unit == NONE)
        return 0;
    const struct timespec *limit = rest_of_sleep(uc, number);
    if (!limit)
        limit = (const struct timespec *)REGISTERS(uc)[reg];
    if (!limit || limit->tv_sec >= LONGEST_S)
        return 0;
    if (unit == TIMEVAL_WRITTEN) /* the kernel has rounded it down */
        now += US_NS;
    return now + (uint64_t)(limit->tv_sec * S_NS + limit->tv_nsec * of_second);
}

/* The kernel writes there, or not, which does no harm. Then so may the runtime. (A limit may be a constant.) */
static void write_rest(void *where, uint64_t ns, enum unit unit)
{
    if (raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)where, 0, 0) != 0)
        return;
    uint64_t us = (ns + US_NS - 1) / US_NS;
    if (unit == TIMEVAL_WRITTEN)
        *(struct timespec *)where =
            (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000)};
    else
        *(struct timespec *)where = (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

static struct countdown *beside(const ucontext_t *uc) { return (struct countdown *)REGISTERS(uc)[REG_RSP]; }
static bool is_call_next(const ucontext_t *uc) { return PC(uc) == (uintptr_t)ps_countdown_call; }
static bool is_call_over(const ucontext_t *uc) { return PC(uc) == (uintptr_t)ps_countdown_end; }

bool countdown_call(const void *frame, long *number)
{
    const ucontext_t *uc = frame;
    if (!is_call_over(uc))
        return false;
    *number = beside(uc)->number;
    return true;
}

uintptr_t countdown_stands_at(const void *frame, uintptr_t pc)
{
    const ucontext_t *uc = frame;
    return is_call_next(uc) || is_call_over(uc) ? beside(uc)->pc : pc;
}

bool countdown_works(void) { return !RUNNING_ON_VALGRIND; }

struct countdown *countdown_begin(const void *frame, bool anew, struct countdown *room)
{
    const ucontext_t *uc = frame;
    if (is_call_next(uc))
        return beside(uc);
    if (!anew || !countdown_works())
        return NULL;
    long number = (long)REGISTERS(uc)[REG_RAX];
    *room = (struct countdown){.number = number, .end_ns = end_of(uc, number)};
    return room->end_ns ? room : NULL;
}

/* Of the program's registers all but these are as they were: its own, and those that the call needs. */
static void go_there(ucontext_t *uc, struct countdown *c)
{
    c->pc = PC(uc) + (uintptr_t)(ps_countdown_end - ps_countdown_call);
    c->sp = (uintptr_t)REGISTERS(uc)[REG_RSP];
    c->rdi = (uintptr_t)REGISTERS(uc)[REG_RDI];
    c->rdx = (uintptr_t)REGISTERS(uc)[REG_RDX];
    c->r10 = (uintptr_t)REGISTERS(uc)[REG_R10];
    c->r8 = (uintptr_t)REGISTERS(uc)[REG_R8];
    REGISTERS(uc)[REG_RSP] = (greg_t)(uintptr_t)c;
    REGISTERS(uc)[REG_RIP] = (greg_t)(uintptr_t)ps_countdown_call;
}

void countdown_go_on(void *frame, struct countdown *c)
{
    ucontext_t *uc = frame;
    int reg = 0;
    uint64_t now = os_now_ns(), rest = c->end_ns > now ? c->end_ns - now : 0;
    enum unit unit = limit_of(uc, c->number, &reg);
    void *told = rest_of_sleep(uc, c->number);
    if (unit == TIMESPEC_WRITTEN || unit == TIMEVAL_WRITTEN)
        told = (void *)REGISTERS(uc)[reg];
    if (told)
        write_rest(told, rest, unit);
    if (unit != MILLISECONDS && unit != TIMESPEC)
        return;
    if (!is_call_next(uc))
        go_there(uc, c);
    c->rest = (struct timespec){.tv_sec = (time_t)(rest / S_NS), .tv_nsec = (long)(rest % S_NS)};
    if (unit == MILLISECONDS)
        REGISTERS(uc)[reg] = (greg_t)((rest + MS_NS - 1) / MS_NS);
    else
        REGISTERS(uc)[reg] = (greg_t)(uintptr_t)&c->rest;
}

#else

bool countdown_works(void) { return false; }

bool countdown_call(const void *frame, long *number)
{
    (void)frame, (void)number;
    return false;
}

uintptr_t countdown_stands_at(const void *frame, uintptr_t pc)
{
    (void)frame;
    return pc;
}

struct countdown *countdown_begin(const void *frame, bool anew, struct countdown *room)
{
    (void)frame, (void)anew, (void)room;
    return NULL;
}

void countdown_go_on(void *frame, struct countdown *by) { (void)frame, (void)by; }

#endif
