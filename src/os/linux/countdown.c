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
 * The end of a limit that the kernel does not write stands beside the call that is made with the rest
 * (restart_block.c).
 *
 * Which calls: see limit_of. Not counted down: the limits of sockets (SO_RCVTIMEO) and of io_uring_enter. Clocks of
 * processor time count only what has been used.
 *
 * Where restart_block.c does not work the limit begins anew. */
#include "countdown.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "compiler.h"
#include "os.h"
#include "raw.h"
#include "registers.h"

#if defined(__x86_64__) && !PS_ASAN

#define MS_NS INT64_C(1000000)
#define S_NS INT64_C(1000000000)
#define US_NS INT64_C(1000)
#define LONGEST_S 1000000000 /* such a limit is none */
#define FUTEX_COMMANDS 0x7f

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

struct restart_block *countdown_begin(const void *frame, bool anew, struct restart_block *room)
{
    const ucontext_t *uc = frame;
    struct restart_block *before = restart_block_next(frame);
    if (before)
        return before->end_ns ? before : NULL;
    if (!anew || !restart_block_works())
        return NULL;
    long number = (long)REGISTERS(uc)[REG_RAX];
    *room = (struct restart_block){.number = number, .end_ns = end_of(uc, number)};
    return room->end_ns ? room : NULL;
}

void countdown_go_on(void *frame, struct restart_block *block)
{
    ucontext_t *uc = frame;
    int reg = 0;
    uint64_t now = os_now_ns(), rest = block->end_ns > now ? block->end_ns - now : 0;
    enum unit unit = limit_of(uc, block->number, &reg);
    void *told = rest_of_sleep(uc, block->number);
    if (unit == TIMESPEC_WRITTEN || unit == TIMEVAL_WRITTEN)
        told = (void *)REGISTERS(uc)[reg];
    if (told)
        write_rest(told, rest, unit);
    if (unit != MILLISECONDS && unit != TIMESPEC)
        return;
    restart_block_enter(frame, block, (uintptr_t)REGISTERS(uc)[REG_RIP] + INSTRUCTION_BYTES);
    block->rest = (struct timespec){.tv_sec = (time_t)(rest / S_NS), .tv_nsec = (long)(rest % S_NS)};
    if (unit == MILLISECONDS)
        REGISTERS(uc)[reg] = (greg_t)((rest + MS_NS - 1) / MS_NS);
    else
        REGISTERS(uc)[reg] = (greg_t)(uintptr_t)&block->rest;
}

#else

struct restart_block *countdown_begin(const void *frame, bool anew, struct restart_block *room)
{
    (void)frame, (void)anew, (void)room;
    return NULL;
}

void countdown_go_on(void *frame, struct restart_block *block) { (void)frame, (void)block; }

#endif
