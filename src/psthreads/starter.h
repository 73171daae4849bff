/* The start of kernel threads that carry threads of the program's.
 *
 * A kernel thread inherits from its starter what the kernel keeps for a thread: nice value, policy, namespaces,
 * system-call filter and more. The kernel threads of a pool are started by the thread that opens its first region. This
 * runtime starts kernel threads at need, in the middle of a region, from the kernel thread that carries the thread in
 * need. Such a kernel thread may be *changed*: a thread of the program's may have set such state there, and not all of
 * it can be taken back.
 *   - A kernel thread that carries a promoted thread (promote.h).
 *   - A root's kernel thread, from the first call on by which the root sets such state inside a region
 *     (vp.outer.changed).
 *   - The kernel thread of an opener that differs from the pool (apart.h).
 * A signal handler is treated the same: what it has interrupted may hold a lock that the start needs (malloc's).
 * A changed kernel thread starts no kernel thread for another thread of the program's: the watchdog does. The watchdog
 * is there before anything is changed: it is started before the first kernel thread for a promoted thread, and before
 * the first such call of a root (starter_prepare).
 *
 * Does: hands one start at a time to the watchdog. Does not: set the new kernel thread's signal mask and processors.
 * The asker has written these down, and the new kernel thread sets them.
 *
 * `order` is the one start that is asked for. States, in its word:
 *   FREE -> HELD      (compare-and-swap) the asker: it writes what is to be started
 *   HELD -> ASKED     (store, seq_cst) the asker
 *   ASKED -> STARTS   (compare-and-swap) the watchdog: it reads what is to be started, and starts it
 *   STARTS -> DONE    (store, release) the watchdog, with the result; the asker reads it after DONE (acquire)
 *   ASKED -> FREE     (compare-and-swap) the asker, where the watchdog does not come (below)
 *   DONE -> FREE      (store, release) the asker
 * Each change that a thread waits for is followed by a wake of all; a futex compares the word.
 * The watchdog comes. The asker stores ASKED, sets NUDGE in the watchdog's stop_word, reads `armed`, and arms the
 * watchdog if it is not armed. The watchdog takes NUDGE back and then looks at the word; it disarms itself and then
 * looks at the word. All of these are seq_cst. So one of three holds: the watchdog sees ASKED, the asker sees it
 * disarmed, or the watchdog's sleep ends at once.
 * No thread waits for ever. The watchdog may wait for a lock that the asker holds: the dynamic linker's, which the
 * watchdog takes to start a kernel thread, and to tell what holds a vp. It does so between standby_keep_out and
 * standby_direct_end alone, and each such stretch has a number. Elsewhere the watchdog waits for nobody, or for a
 * limited time: on a busy machine it comes late, but it comes. So the asker gives up in two cases: two looks,
 * ASK_TIMEOUT_NS apart, find the watchdog in the same stretch; or the watchdog has ended. Then the asker takes the
 * order back, and starts the kernel thread itself. From STARTS on the asker waits as long as it would for a start of
 * its own. The asker blocks signals from before HELD until after FREE. Otherwise a handler on the same kernel thread
 * might ask, too, and wait for an order that only the code below the handler can free.
 *
 * The answer is EBUSY in three cases:
 *   - There is no watchdog (max_spares is 0, the system refused one, the library stops).
 *   - A thread is inside a callback that keeps others from starting kernel threads (standby.h).
 *   - The watchdog waits for a lock, as above.
 * Then the asker starts the kernel thread itself, as if nothing were changed. In a signal handler that may hang.
 *
 * Cost: two loads on a kernel thread that is not changed. Else a start, two switches of the kernel's, and two system
 * calls for the mask.
 * Rejected: to set on the new kernel thread what its root has (namespaces and filters cannot be set back). A kernel
 * thread for this alone (one more in each process, to be stopped, counted and forked). */
#ifndef PS_STARTER_H
#define PS_STARTER_H

#include <stdint.h>

#include "os.h"

struct vp;

/* Before the first kernel thread of the runtime's is changed. Caller: an unchanged one, or a root's before its first
 * change, at a place where a kernel thread may be started. */
void starter_prepare(void);

/* Whether here's kernel thread is changed; here: the caller's vp. */
bool starter_is_changed(const struct vp *here);

/* The mask of a kernel thread of the library's that the caller is about to start: not what a root has set inside of a
 * region. */
uint64_t starter_mask(void);

/* The watchdog starts a kernel thread, as os_thread_start, with all signals blocked. EBUSY: the caller is to do so. */
int starter_ask(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes);

/* The same where the caller is changed, else by itself. */
int starter_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes);

/* A start is asked for: starter_serve. Caller: the watchdog. */
bool starter_wanted(void);
void starter_serve(void);

/* In a forked child: no thread asks. */
void starter_reset(void);

#endif
