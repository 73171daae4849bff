/* Standbys: kernel threads that are started ahead, and parked until one is needed.
 *
 * The C library takes a lock of the dynamic linker's to start a kernel thread (glibc: dl_load_tls_lock, around the new
 * thread's storage). A thread of the program may keep that lock from all others for as long as it likes:
 *   M is in a callback of dl_iterate_phdr (which holds dl_load_write_lock) and waits for T.
 *   L is in dlopen or dlclose, holds dl_load_tls_lock, and waits for dl_load_write_lock.
 *   T is ready, and every vp is held by an L: only a spare could run it, and none can be started.
 * With a kernel thread for each thread, T's would be there. A waker that is to start a worker (idle.c) hangs likewise.
 * So, before M enters such a callback in a team, as many standbys as its teams have members are started. While a thread
 * is inside a callback, spares (watchdog.h) and workers are carried by standbys. The watchdog then starts no kernel
 * thread itself: it would hang, and send no interrupt for a root that waits. A program without such callbacks in teams
 * has no standby, and pays nothing.
 *
 * Does: starts standbys, parks them, hands work to them, takes them back. Does not: decide when a spare is wanted.
 *
 * A standby: STARTS -> (looks) -> PARKED -> CARRIES -> (looks) ...; from (looks) or PARKED -> ENDS. A standby ends when
 * the library stops, and not before. `lock` guards the list of the parked, `stops` and `carrying`. Each standby has a
 * word of its own, and stores PARKED there under the lock, as it enters the list. The thread that takes it out of the
 * list stores what is to be done, then GO or END (release), and wakes the standby. The standby sleeps while the word is
 * PARKED; then it reads (acquire) what is to be done.
 * No wake-up is lost. A standby is in the list before the lock is free, so each is taken by one thread; the futex
 * compares the word. `stops` is set under the lock: a standby that looks later ends, and one that was parked before is
 * in the list and gets END. A waker may touch the word of a standby that has gone on and ended: a futex wake does not
 * need the memory at its address.
 *
 * Starting them. Any kernel thread may ask for standbys (the *asker*). The asker may hold locks of the program's that a
 * start needs as well (malloc's), so it starts none itself. The asker raises `wanted` (seq_cst), then arms the
 * watchdog; so standbys begin with the state that spares begin with. One *starter* at a time starts them, which has
 * taken `growing` (exchange). The starter is the watchdog, or a parked standby in its place while a thread is inside a
 * callback. After each start the starter stores `alive`. A standby that has parked itself for the first time adds 1 to
 * `arrived`. After each of the two, 1 is added to `served` (release), and askers that wait are woken. An asker reads
 * `served` (acquire), then `alive` and `arrived`, and sleeps only while `served` is the same: so it looks again after
 * each change of the two. The asker goes on when enough standbys are parked, and not while their kernel threads are
 * still to run. The watchdog disarms (seq_cst), then reads `wanted` (seq_cst), and arms itself again; the asker raises
 * `wanted`, then reads `armed` (both seq_cst): one sees the other.
 * An asker that finds another thread inside a callback does not wait, because that thread may be what holds up the
 * start.
 *
 * `inside` counts the threads in a callback. The watchdog sets `direct` around a start of its own, then reads `inside`.
 * A thread that enters a callback counts up `inside`, then reads `direct`, and waits until the watchdog's start is done
 * (all seq_cst: one sees the other). So no start by the watchdog is under way while a callback runs. The wait takes as
 * long as a start takes.
 * A spare leaves the last parked standby alone while a thread is inside a callback. This standby starts more where they
 * are wanted, and only this standby hangs where a start cannot be done. So one standby more is asked for than can be
 * needed. A worker keeps its standby until the library stops. So the last parked standby starts another one before it
 * carries a worker. Else, once a thread is inside a callback, no kernel thread could start more, and spares would never
 * come.
 *
 * If the system refuses a start, or no start is done for IN_VAIN_NS, `hopeless` is set. From then on no thread asks
 * before the library is started anew, and everything is as without standbys. In the first case a limit of the system's
 * is met. In the second case the asker holds a lock that a start needs.
 *
 * On a parked kernel thread all signals are blocked, but the C library's own: setuid waits for each kernel thread. Its
 * affinity mask is the watchdog's; a standby that has carried a vp gives back what that vp had narrowed (bind_lift).
 * Stop: the watchdog is gone, so nothing is handed over; workers and spares are through. All are joined. A forked child
 * has no standbys. A kernel thread that forked while it carried a vp finds another `generation` when it is done with
 * that vp, and ends. A thread that forked inside a callback finds another `generation` too when it leaves the callback,
 * and counts nothing.
 *
 * Limits. There are at most STANDBY_MOST. Only members of teams ask, and only for their own teams (the inner sizes
 * times the outer ones); threads of psthread_create do not. dl_iterate_phdr is answered on x86-64 only
 * (calls/loader.c). A thread that is promoted for the first time meanwhile (promote.h) waits. A replaced malloc or
 * an indirect function's resolver that waits for another thread inside dlopen has the lock without a callback.
 *
 * Cost: once, a kernel thread's start for each; then, for each call of dl_iterate_phdr, a walk over the caller's teams.
 * Rejected: standbys in every program that has more members than vps: most would be parked for nothing. Rejected: no
 * standbys where each vp has its kernel thread and there are no more members than vps. Then one kernel thread that gets
 * no processor for a while is one too few. Rejected: to answer dlopen as well, since dlopen finds a library by the
 * address of its caller. */
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

/* The same, but returns at once: a root that is released finds a kernel thread where the system starts no more. Caller:
 * the watchdog. */
void standby_ready(unsigned n);

/* A parked standby calls fn(arg), and is parked again when that returns; false: there is none. Any kernel thread. */
bool standby_run(void *(*fn)(void *), void *arg);
/* The same for a spare. EAGAIN: none, and the caller may start a kernel thread, between this and standby_direct_end;
 * EBUSY: none now. Caller: the watchdog. */
int standby_run_spare(void *(*fn)(void *), void *arg);
void standby_direct_end(void);

/* No thread is inside, nor comes in until standby_direct_end; false: a thread is inside. Caller: the watchdog. */
bool standby_keep_out(void);

/* 0: the watchdog is not between standby_keep_out, or such a start, and standby_direct_end: it waits for no lock of the
 * C library's. Else a number, which stays the same until then. Any kernel thread. */
uint32_t standby_direct_now(void);

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
