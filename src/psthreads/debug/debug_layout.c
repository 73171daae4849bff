/* ps_debug_layout: the table that tells debuggers where psthreads, and the rooms below it, keep their state
 * (base/debug_layout.h). Data only. */
#include "debug_layout.h"

#include "bind.h"
#include "handoff.h"
#include "mutex.h"
#include "runtime.h"
#include "scheduler.h"
#include "team.h"
#include "vp.h"

/* The registers that a port saves in a context: {"reg.<gdb's name>", offset from the saved stack pointer}, ..., and
 * {"reg.cfa", offset of the caller's stack pointer}. A port without assembly gives none: debuggers list its threads
 * without backtraces. */
#ifndef CPU_SAVED_REGISTERS
#define CPU_SAVED_REGISTERS
#endif

/* The field of a vp that holds what pthread_self returns in the vp's kernel thread. Only for processors on which that
 * is the thread pointer. */
#if defined(__x86_64__)
#define THREAD_ITSELF VP(itself, run.kernel_tp),
#else
#define THREAD_ITSELF
#endif

/* clang-format off */
#define M PS_DEBUG_MEMBER
/* A field of a vp, in whichever part of the vp it lies. Readers find it by the short name. */
#define VP(name, member) {"vp." #name, offsetof(struct vp, member)}

extern const struct ps_debug_layout ps_debug_layout;
const struct ps_debug_layout ps_debug_layout PS_EXPORT = {PS_DEBUG_HEAD, .field = {
    PS_DEBUG_ADDRESS(ps_rt), PS_DEBUG_ADDRESS(ps_idle), PS_DEBUG_ADDRESS(ps_watchdog), PS_DEBUG_ADDRESS(uth_registry),
    M(ps_runtime, num_vps), M(ps_runtime, table_size), M(ps_runtime, vp), M(ps_runtime, has_global),
    M(ps_runtime, global), M(ps_runtime, places), M(ps_places, n), M(ps_places, place), M(ps_places, open),
    M(ps_place, queue), M(ps_place, num_homes), M(ps_place, homes), PS_DEBUG_SIZE(ps_place),
    M(ps_runtime, tls), M(ps_idle, word), M(ps_idle, bits), M(ps_watchdog, spares), M(ps_watchdog, starving),
    VP(current, run.current), VP(uth, run.uth), VP(is_guest, run.is_guest), VP(special, run.special),
    VP(id, run.id), VP(ticks, run.ticks), VP(tid, run.tid), VP(native, run.native), VP(root, run.root),
    M(vp, queue), M(vp, handoff), M(vp, pinned), M(vp, attached), M(vp, offline), VP(started, worker.started),
    VP(thefts, thief.thefts),
    M(ps_runtime, level_name), {"steal.levels", PS_STEAL_LEVELS},
    M(ps_queue, count), M(ps_queue, items), M(ps_list, next), M(ps_item, link), M(ps_item, kind),
    M(psthread, flags), M(psthread, state), M(psthread, level), M(psthread, uth), M(psthread, vp),
    M(psthread, local), M(psthread, fn), M(psthread, arg), M(psthread, member_fn),
    M(psthread, parent), M(psthread, join), M(psthread, children), M(ps_mutex, state), M(ps_mutex, owner),
    {"mutex.locked", PS_MUTEX_LOCKED}, {"join.last", PS_JOIN_ORPHANED},
    {"state.made", PS_MADE}, {"state.running", PS_RUNNING}, {"state.ended", PS_ENDED},
    M(ps_member, team), M(ps_member, id),
    M(ps_team, item), M(ps_team, n), M(ps_team, next), M(ps_team, parent), M(ps_team, left), M(ps_team, barrier),
    M(uth, ctx), M(uth, running), M(uth, stack), M(uth, stack_bytes), M(uth, vp), M(uth, wait), M(uth, name),
    M(uth_wait, thread), M(uth_wait, object), M(uth_wait, kind), M(uth_wait, turn), M(uth_chunk, next),
    M(uth_chunk, slot),
    {"uth_chunk.slots", UTH_CHUNK_SLOTS}, PS_DEBUG_SIZE(psthread), PS_DEBUG_SIZE(uth),
    {"handoff.id_bits", PS_HANDOFF_ID_BITS}, {"handoff.unit", PS_CACHE_LINE},
    {"barrier.phase_shift", PS_BARRIER_PHASE_SHIFT},
    {"kind.thread", PS_KIND_THREAD}, {"kind.team", PS_KIND_TEAM},
    {"pinned.offline", 1}, {"special.spare", VP_SPARE},
    {"flag.root", PS_T_ROOT}, {"flag.member", PS_T_MEMBER}, {"flag.called", PS_T_CALLED},
    {"wait.join", PS_WAIT_JOIN}, {"wait.children", PS_WAIT_CHILDREN}, {"wait.mutex", PS_WAIT_MUTEX},
    {"wait.cond", PS_WAIT_COND}, {"wait.barrier", PS_WAIT_BARRIER}, {"wait.workqueue", PS_WAIT_WORKQUEUE},
    {"wait.word", PS_WAIT_WORD}, {"wait.team_barrier", PS_WAIT_TEAM_BARRIER}, {"wait.team_end", PS_WAIT_TEAM_END},
    {"wait.sem", PS_WAIT_SEM}, {"wait.rwlock", PS_WAIT_RWLOCK}, {"wait.fd", PS_WAIT_FD}, {"wait.time", PS_WAIT_TIME},
    {"wait.outside", PS_WAIT_OUTSIDE},
    CPU_SAVED_REGISTERS THREAD_ITSELF
    {"", 0},
}};
/* clang-format on */
