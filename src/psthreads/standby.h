/* Standbys: kernel threads that are started ahead, and parked until one is needed.
 *
 * The C library takes a lock of the dynamic linker's to start a kernel thread (glibc: dl_load_tls_lock, around the new
 * thread's storage). A thread of the program may keep that lock from everybody for as long as it likes:
 *   M is in a callback of dl_iterate_phdr (which holds dl_load_write_lock) and waits for T;
 *   L is in dlopen or dlclose, holds dl_load_tls_lock, and waits for dl_load_write_lock;
 *   T is ready, and every vp is held by an L: only a spare could run it, and none can be started.
 * With a kernel thread for each, T's would be there. A waker that is to start a worker (idle.c) hangs likewise. So,
 * before M enters such a callback in a team, as many standbys as its teams have members are started. While somebody is
 * inside a callback, spares (watchdog.h) and workers are carried by standbys, and the watchdog starts no kernel thread
 * itself: it would hang, and interrupt nobody for a root that waits. A program without such callbacks in teams has no
 * standby, and pays nothing.
 *
 * Does: starts standbys, parks them, hands work to them, takes them back. Does not: decide when a spare is wanted.
 *
 * A standby: STARTS -> (looks) -> PARKED -> CARRIES -> (looks) ...; from (looks) or PARKED -> ENDS. It ends when the
 * library stops, and not before. `lock` guards the list of the parked, `stops` and `carrying`. Each standby has a word
 * of its own: PARKED is stored under the lock, with which it enters the list; who has taken it out stores what is to be
 * done, then GO or END (release), and wakes; the standby sleeps where the word is PARKED, and reads what is to be done
 * when it is not (acquire).
 * No wake-up is lost: a standby is in the list before the lock is free, so each is taken by one; the futex compares the
 * word. `stops` is set under the lock: who looks after that ends, who was parked before that is in the list and gets
 * END. Who wakes may touch the word of a standby that has gone on and ended: a futex wake asks nothing of the address.
 *
 * Who starts them. Who asks is any kernel thread, with locks of the program's in hand that a start may want as well
 * (malloc's): so it starts none itself. It raises `wanted` (seq_cst), then arms the watchdog; so they begin with what
 * spares begin with. `growing` is taken (exchange) by who starts them, one at a time: the watchdog, or a parked standby
 * for it while somebody is inside. After each start `alive` is stored. A standby that has parked itself for the first
 * time counts up `arrived`. After each of the two, `served` is counted up (release), and who waits is woken. Who asked
 * reads `served` (acquire), then both, and sleeps where `served` is still that: each change of them comes before a
 * look. So who asked goes on when there are as many to be taken, not when their kernel threads are still to run. The
 * watchdog disarms (seq_cst), then reads `wanted` (seq_cst), and arms itself again; who asked raised `wanted` before
 * it read `armed` (both seq_cst): one sees the other.
 * Who finds somebody inside already asks, and does not wait: the start may be what that one holds up.
 *
 * `inside` counts who is in a callback. The watchdog sets `direct` around a start of its own, then reads `inside`; who
 * enters counts up `inside`, then reads `direct`, and waits until that start is through (all seq_cst: one sees the
 * other). So no start by the watchdog is under way while a callback runs. It may be one that another callback, which
 * has left meanwhile, has let begin: it takes as long as a start takes.
 * A spare leaves the last parked standby alone while somebody is inside: that one starts more where they are wanted,
 * and only it hangs where that cannot be done. So one more is asked for than can be needed. A worker keeps its standby
 * until the library stops. So the last one that is parked starts another before it carries a worker; else nobody could
 * start more, and spares would never come, once somebody is inside.
 *
 * A start that the system refuses, or none for IN_VAIN_NS: nobody asks again before the library is started anew
 * (`hopeless`), and everything is as without standbys. The first case is a limit of the system's; the second is a lock
 * that who asks holds and a start wants.
 *
 * On a parked kernel thread all signals are blocked. Its processors are the watchdog's; who carried a vp gives back
 * what that vp had narrowed (bind_lift).
 * Stop: the watchdog is gone, so nobody hands anything over; workers and spares are through. All are joined. A forked
 * child has none: a kernel thread that forked while it carried a vp finds another `generation` when it is through, and
 * ends; who forked inside a callback and leaves it finds another one, too, and counts nothing.
 *
 * Limits: STANDBY_MOST; only members of teams ask, and only for their own teams, the inner times the outer: threads of
 * psthread_create do not; dl_iterate_phdr is answered on x86-64 only (calls/calls.c). A thread that is promoted
 * for the first time meanwhile (promote.h) waits. A replaced malloc or an indirect function's resolver that waits for
 * another thread inside dlopen has the lock without a callback.
 *
 * Cost: once, a kernel thread's start for each; then, for each call of dl_iterate_phdr, a walk over the caller's teams.
 * Rejected: standbys in every program that has more members than vps (parked threads for nothing); none where each vp
 * has its kernel thread and there are no more members than vps (a kernel thread that gets no processor for a while is
 * one too few); to answer dlopen as well, which finds its library by who has called it. */
#ifndef PS_STANDBY_H
#define PS_STANDBY_H

#include <stdbool.h>
#include <stdint.h>

#define STANDBY_MOST 256

/* The running thread is about to call dl_iterate_phdr with this callback; it has returned, or is unwound. May sleep;
 * does not switch. What the first returns is for the second. */
uint32_t standby_enter(uintptr_t callback);
void standby_leave(uint32_t entered);
/* Returns when n standbys have been parked, or are not to be had. Any kernel thread. */
void standby_ask(unsigned n);

/* A parked standby calls fn(arg), and is parked again when that returns; false: there is none. Any kernel thread. */
bool standby_run(void *(*fn)(void *), void *arg);
/* The same for a spare. EAGAIN: none, and the caller may start a kernel thread, between this and standby_direct_end;
 * EBUSY: none now. Caller: the watchdog. */
int standby_run_spare(void *(*fn)(void *), void *arg);
void standby_direct_end(void);

/* Nobody is inside, nor comes in until standby_direct_end; false: somebody is. Caller: the watchdog. */
bool standby_keep_out(void);

/* Some have been asked for and are not there: standby_serve starts them. Caller: the watchdog. */
bool standby_wanted(void);
void standby_serve(void);

/* Those that carry nothing. */
unsigned standby_idle(void);

/* All end. Caller: has stopped the watchdog, the workers and the spares. */
void standby_stop(void);
/* As before the first one: at the start, and in a forked child. */
void standby_reset(void);

#endif
