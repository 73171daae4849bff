/* How many processors the programs use that do not share: those with other runtimes (libgomp, oneTBB), and those
 * without PSTHREADS_SHARE. In the division they are one more process, of weight 1 (share.c).
 *
 * Every SHARE_FOREIGN_NS a process compares how long its processors were busy with the processor time of the processes
 * that share them. The rest is the foreign programs'. The number grows only if two periods in a row say so: a short
 * burst takes nothing away, and neither does a kernel thread of ours that comes late. It shrinks after one.
 *
 * A foreign program that computes all the time beside a worker has half of that processor. So from 0.4 processors on
 * one is theirs, from 1.4 on two. But if they use as much as their part by weight, or more, they get none: programs
 * with a thread on each processor would use those that are left to them, and compete for the others as before. The
 * kernel divides there. bench/results/sharing-foreign.txt: beside a program of oneTBB's with one thread, a process with
 * barriers does 18 % more than without sharing.
 *
 * A period says nothing, and counts as 0, if a process has come, left or not looked in it, or the mask has changed.
 * Limits: a process whose mask has some of this one's processors and others counts as if it used these alone. If a
 * process that shares is nice, its time is subtracted though it is not in the sum (busy.c). In both cases foreign
 * programs are overlooked; in none more is taken for foreign than the processors were busy.
 *
 * Each process decides for itself, so two processes may find different numbers for a while. Cost: one read of
 * /proc/stat every SHARE_FOREIGN_NS. Rejected: the kernel's count of threads that are ready (/proc/loadavg): it counts
 * the whole machine's, ours too. */
#ifndef PS_SHARE_FOREIGN_H
#define PS_SHARE_FOREIGN_H

#include "share_table.h"

#define SHARE_FOREIGN_NS INT64_C(200000000)
#define SHARE_MILLI 1000

/* Returns how much of the processors of claim `mine` foreign programs use, in thousandths of a processor. claims[n],
 * slots[n]: of the processes that share, as share_read has found them. Caller: the watchdog. */
unsigned share_foreign(uint64_t now_ns, const struct share_claim *claims, const struct share_slot *const *slots,
                       unsigned n, unsigned mine);

/* Returns how many processors are left to foreign programs that use so much, and whose part is so many processors.
 * leaves: how many are left to them now. */
static inline unsigned share_leave_to_foreign(unsigned used, unsigned part, unsigned leaves)
{
    /* Threads that compete with workers use less than they could; without competition, up to their number. */
    unsigned most = part * (leaves ? SHARE_MILLI * 115 / 100 : SHARE_MILLI * 90 / 100);
    return used > most ? 0 : (used + SHARE_MILLI * 60 / 100) / SHARE_MILLI;
}

#endif
