/* Mutexes whose owner the kernel compares: robust, priority-inheriting and priority-protecting ones. See calls.h.
 *
 * The owner of such a mutex must be the number of a kernel thread, but a thread in a block has another number. So a
 * thread that makes a call with such a mutex becomes dedicated, and for the time of the call it has the number of its
 * kernel thread. Other mutexes that it owns or takes have the block's number as owner: each mutex is unlocked under the
 * number under which it was locked. The functions here read the kind from the mutex itself, so they also know
 * mutexes in shared memory that another process has made.
 * A root (home.h) locks robust mutexes under its home's number wherever it is, because home's list of robust mutexes
 * has them. It locks a mutex of the other two kinds under the number of the kernel thread on which it is then, and
 * unlocks it under the number under which it was locked. Limit: the kernel compares that number with the kernel thread
 * that makes the call. So one case is not handled: a root locks such a mutex at home and unlocks it away, or the other
 * way round, while another thread waits for it in the kernel.
 *
 * Cost: an ordinary mutex costs a look at its kind, a load and a jump more. */
#define _GNU_SOURCE
#include "calls.h"

#if defined(__GLIBC__)

#include <pthread.h>
#include <time.h>

#include "blocking.h"
#include "home.h"
#include "os.h"

/* Bits of a mutex's kind: robust, priority-inheriting, priority-protecting. They are part of the C library's ABI, since
 * static initialisers and mutexes shared between processes contain them. */
#define ROBUST_KIND 0x10
#define COMPARED_KINDS (ROBUST_KIND | 0x20 | 0x40)

/* The three functions below may be called before the library's constructors, from malloc in dlsym. So the C library's
 * functions are linked directly, by their second names. */
#define BEHIND(name)                                  \
    extern int behind_##name(pthread_mutex_t *mutex); \
    __asm__(".symver behind_" #name ",__" #name "@" GLIBC_2_2_5)
BEHIND(pthread_mutex_lock);
BEHIND(pthread_mutex_trylock);
BEHIND(pthread_mutex_unlock);

static inline bool is_compared(const pthread_mutex_t *mutex)
{
    return PS_UNLIKELY((mutex->__data.__kind & COMPARED_KINDS) != 0);
}

/* Gives the caller the number of its kernel thread, for a call with `mutex`. *block gets the caller's block; if the
 * caller is a root at home, the root's block. Returns the number that the caller had; -1: its number was not
 * changed. */
static PS_NOINLINE int begin_compared(const pthread_mutex_t *mutex, struct uth_tls **block)
{
    int error = errno, owner = mutex->__data.__owner, number = 0;
    bool away = (*block = uth_tls_current()) != NULL;
    if (!away && (*block = home_block_here()) == NULL)
        return -1;
    if ((*block)->adopted && (mutex->__data.__kind & ROBUST_KIND || owner == *(*block)->tid))
        return -1;
    if (away)
        number = ps_dedicate_self() ? ps_dedicated_number(*block) : os_thread_id();
    else if (owner != 0 && ps_load_relaxed(&(*block)->own) != NULL && owner == ps_dedicated_number(*block))
        number = owner;
    errno = error;
    return number != 0 ? uth_tls_pose_as(*block, number) : -1;
}

static PS_NOINLINE int end_compared(struct uth_tls *block, int before, int result)
{
    if (before != -1)
        uth_tls_pose_as(block, before);
    return result;
}

#define INTERPOSE_MUTEX(node, name, at_first, parameters, arguments)                                                \
    typedef int next_##name parameters;                                                                             \
    static struct next place_of_##name __attribute__((section("ps_next"), used, aligned(8))) = {#name, (at_first)}; \
    PS_NOINLINE static int slow_##name parameters                                                                   \
    {                                                                                                               \
        next_##name *next = CALL_NEXT(name);                                                                        \
        if (!is_compared(mutex))                                                                                    \
            return next arguments;                                                                                  \
        struct uth_tls *block;                                                                                      \
        int before = begin_compared(mutex, &block);                                                                 \
        return end_compared(block, before, next arguments);                                                         \
    }                                                                                                               \
    PS_EXPORT int interposed_##name parameters                                                                      \
    {                                                                                                               \
        next_##name *next = place_of_##name.function;                                                               \
        return PS_LIKELY(next != NULL) && !is_compared(mutex) ? next arguments : slow_##name arguments;             \
    }                                                                                                               \
    VERSIONS(name, node)

typedef const struct timespec *time_at;
INTERPOSE_MUTEX(GLIBC_2_2_5, pthread_mutex_lock, (void *)behind_pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex));
INTERPOSE_MUTEX(GLIBC_2_2_5, pthread_mutex_unlock, (void *)behind_pthread_mutex_unlock, (pthread_mutex_t * mutex),
                (mutex));
INTERPOSE_MUTEX(GLIBC_2_34, pthread_mutex_trylock, (void *)behind_pthread_mutex_trylock, (pthread_mutex_t * mutex),
                (mutex));
OLD_VERSION(pthread_mutex_trylock, GLIBC_2_2_5);
INTERPOSE_MUTEX(GLIBC_2_34, pthread_mutex_timedlock, NULL, (pthread_mutex_t * mutex, time_at until), (mutex, until));
OLD_VERSION(pthread_mutex_timedlock, GLIBC_2_2_5);
INTERPOSE_MUTEX(GLIBC_2_34, pthread_mutex_clocklock, NULL, (pthread_mutex_t * mutex, clockid_t clock, time_at until),
                (mutex, clock, until));
OLD_VERSION(pthread_mutex_clocklock, GLIBC_2_30);
INTERPOSE_MUTEX(GLIBC_2_34, pthread_mutex_setprioceiling, NULL, (pthread_mutex_t * mutex, int ceiling, int *old),
                (mutex, ceiling, old));
OLD_VERSION(pthread_mutex_setprioceiling, GLIBC_2_4);
INTERPOSE_MUTEX(GLIBC_2_34, pthread_mutex_consistent, NULL, (pthread_mutex_t * mutex), (mutex));
OLD_VERSION(pthread_mutex_consistent, GLIBC_2_12);
/* Condition variables: the call unlocks the mutex, waits (blocking.h), and locks it again. The versions under
 * GLIBC_2.2.5 are other functions, and are not interposed. */
#define INTERPOSE_COND(node, name, parameters, arguments)                                                       \
    NEXT(name, int parameters);                                                                                 \
    PS_NOINLINE static int slow_##name parameters                                                               \
    {                                                                                                           \
        struct uth_tls *block = NULL;                                                                           \
        int error = errno, before = is_compared(mutex) ? begin_compared(mutex, &block) : -1;                    \
        struct vp *vp = blocking_may_matter() ? blocking_vp() : NULL;                                           \
        blocking_begin(vp);                                                                                     \
        errno = error;                                                                                          \
        int result = CALL_NEXT(name) arguments;                                                                 \
        blocking_end(vp);                                                                                       \
        return end_compared(block, before, result);                                                             \
    }                                                                                                           \
    PS_EXPORT int interposed_##name parameters                                                                  \
    {                                                                                                           \
        return blocking_may_matter() || is_compared(mutex) ? slow_##name arguments : CALL_NEXT(name) arguments; \
    }                                                                                                           \
    VERSIONS(name, node)
INTERPOSE_COND(GLIBC_2_3_2, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex));
INTERPOSE_COND(GLIBC_2_3_2, pthread_cond_timedwait, (pthread_cond_t * cond, pthread_mutex_t *mutex, time_at until),
               (cond, mutex, until));
INTERPOSE_COND(GLIBC_2_34, pthread_cond_clockwait,
               (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock, time_at until),
               (cond, mutex, clock, until));
OLD_VERSION(pthread_cond_clockwait, GLIBC_2_30);

#endif
