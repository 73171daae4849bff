/* Standbys: parked kernel threads that can carry a spare at once.
 *
 * There is one for each root, started by the watchdog before it is needed. So a released root (home.h) finds a kernel
 * thread where the system starts no more, and where a thread of the program's that does not run holds a lock that a
 * start needs (malloc's, the dynamic linker's). The kernel thread of each spare is one of these: it parks when its
 * spare has retired, if fewer are parked than there are roots, and else ends. The next spare takes a parked one first.
 *
 * A standby: (begins) -> CARRIES a vp, or PARKED; CARRIES -> PARKED, or ENDS; PARKED -> CARRIES, or ENDS. `lock` guards
 * the list of the parked, their number and `stops`. Each standby has a word of its own, and stores PARKED there under
 * the lock, as it enters the list. The thread that takes it out of the list writes the vp (NULL: it ends), then stores
 * GO (release) and wakes the standby, which sleeps while the word is PARKED, and then reads the vp (acquire).
 * No wake-up is lost: a standby is in the list before the lock is free, one thread takes it out, and the futex compares
 * the word. `stops` is set under the lock: a standby that looks later ends, and one that is parked is in the list and
 * is told. Its word is in its frame, and may be gone when it is woken: a futex wake does not need the memory.
 * tests/models/standby.pml.
 *
 * On a parked kernel thread all signals are blocked, and nothing is narrowed (bind_lift). A forked child has no
 * standbys; the thread that forked while a standby carried it finds another `generation` there.
 * Rejected: more of them, where a callback of dl_iterate_phdr waits for a member: no program is known that does so. */
#ifndef PS_STANDBY_H
#define PS_STANDBY_H

#include <stdbool.h>

struct vp;

/* As many are parked, or about to be, as there are roots, n, unless the system refuses one. Caller: the watchdog, in
 * each of its ticks. */
void standby_ready(unsigned n);
/* A parked standby carries vp, which is a spare's; false: there is none. Any kernel thread. */
bool standby_carry(struct vp *vp);
/* A new kernel thread does so, with all signals blocked; it begins with what the caller has. An errno value: none. */
int standby_start(struct vp *vp);

/* Those that carry nothing. */
unsigned standby_idle(void);

/* All end. Caller: has stopped the watchdog, the workers and the spares. */
void standby_stop(void);
/* Before the first one; carry is what one calls with a vp. And in a forked child. */
void standby_begin(void *(*carry)(void *vp));
void standby_reset(void);

#endif
