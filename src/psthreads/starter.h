/* Who starts the kernel threads that carry threads of the program's.
 *
 * A kernel thread begins with what the one that starts it has: nice value, policy, namespaces, system-call filter, what
 * else the kernel keeps for a thread. Those of a pool are started by the thread that opens its first region. Here they
 * are started at need, by whichever kernel thread carries the thread that needs one, in the middle of a region. Some of
 * these are *changed*: a thread of the program's may have set such state there, and nobody can take all of it back.
 *   - One that carries a promoted thread (promote.h).
 *   - A root's, from the first call on by which the root sets such state inside a region (vp.changed).
 * A changed one starts no kernel thread for another thread of the program's: the watchdog does. The watchdog is there
 * before anything is changed: whoever is about to start the first kernel thread for a promoted thread, or is such a
 * root, starts it first (starter_prepare).
 *
 * Does: hands one start at a time to the watchdog. Does not: say what the kernel thread does about what it begins with
 * (signal mask, processors: who asks has written that down).
 *
 * `order` is the one start that is asked for. States, in its word:
 *   FREE -> HELD      (compare-and-swap) who asks: it writes what is to be started
 *   HELD -> ASKED     (store, seq_cst) the same
 *   ASKED -> STARTS   (compare-and-swap) the watchdog: it reads what is to be started, and starts it
 *   STARTS -> DONE    (store, release) the watchdog, with the result; who asks reads that after DONE (acquire)
 *   ASKED -> FREE     (compare-and-swap) who asks, where the watchdog has not come for PATIENCE_NS
 *   DONE -> FREE      (store, release) who asks
 * Each change that somebody waits for is followed by a wake of all; a futex compares the word.
 * The watchdog comes: who asks stores ASKED, then sets NUDGE in the watchdog's stop_word, then reads `armed`, and arms
 * it. The watchdog takes NUDGE back, then looks at the word; it disarms, then looks at the word (all seq_cst). So it
 * sees ASKED, or who asks sees it disarmed, or its sleep ends at once.
 * Nobody waits for ever. The watchdog may be held up by a lock that who asks has in hand (the dynamic linker's, where
 * it tells what holds a vp). Then the order is taken back after PATIENCE_NS, and who asks starts the kernel thread
 * itself. From STARTS on it waits as long as it would for a start of its own.
 *
 * EBUSY, and then who asks starts the kernel thread itself, as if nothing were changed: there is no watchdog
 * (max_spares is 0, the system refused it one, the library stops); somebody is inside a callback that keeps others from
 * starting kernel threads (standby.h); PATIENCE_NS.
 *
 * Cost: for who is not changed, two loads. Else a start and two switches of the kernel's.
 * Rejected: to set on the new kernel thread what its root has (namespaces and filters cannot be set back). A kernel
 * thread for this alone (one more in each process, to be stopped, counted and forked). */
#ifndef PS_STARTER_H
#define PS_STARTER_H

#include "os.h"

struct vp;

/* Before the first kernel thread of the runtime's is changed. Caller: an unchanged one, or a root's before its first
 * change, at a place where a kernel thread may be started. */
void starter_prepare(void);

/* Whether here's kernel thread is changed; here: the caller's vp. */
bool starter_is_changed(const struct vp *here);

/* The watchdog starts a kernel thread, as os_thread_start, with all signals blocked. EBUSY: the caller is to do so. */
int starter_ask(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes);

/* The same where the caller is changed, else by itself. */
int starter_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes);

/* Somebody asks: starter_serve. Caller: the watchdog. */
bool starter_wanted(void);
void starter_serve(void);

/* In a forked child: nobody asks. */
void starter_reset(void);

#endif
