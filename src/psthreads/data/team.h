/* A team: the members of a parallel region, published as one entry.
 *
 * The parent forks in O(1): the entry goes to the front of its vp's queue. A vp that takes the entry claims the next
 * member number by fetch-and-add. The entry stays there, stealable, until the last number is claimed. The outermost
 * region of a root is first offered to vps that idle, through their handoff slots (manycore-nested-2016 section 3.1).
 * At the join the parent claims what is left and runs those members as calls on its own stack.
 *
 * States of a region: closed (left == 0, not in a queue) -> ps_team_fork -> open -> all members ended (left == 0) ->
 * closed. The block may be forked again as soon as ps_team_join has returned.
 *
 * Lifetime: a vp may look at a team while it holds the lock of the queue that the team is in, or while it has claimed a
 * member that `left` still counts. The parent takes the team out of the queue before ps_team_join returns. */
#ifndef PS_TEAM_H
#define PS_TEAM_H

#include "cpu.h"
#include "serial_predictor.h"
#include "spin.h"
#include "thread.h"

struct ps_member;

/* The members of one team that wait in its barrier on a vp, while other members of the team run on that vp:
 * team_barrier.c. */
struct ps_waiters {
    _Atomic uint32_t count; /* how many wait here: those of `list`, and `root` */
    uint32_t uncounted;     /* how many of them the team has not counted yet */
    struct ps_team *team;
    struct ps_list list;   /* of thread.item.link */
    uint32_t phase;        /* the barrier's phase for whose end they wait */
    struct psthread *root; /* the waiter on the kernel thread's own stack; NULL: none */
    /* "Turns" in team_barrier.c: openings until this turn ends, and when it began; owner only, with the lock or
     * without. */
    uint32_t turn_left;
    uint64_t turn_began;
};

/* Functions of the layer above, which gives them for its teams: as in ee_team_ops (ee.h). */
struct ps_team_ops {
    void (*body)(struct ps_member *m);
    void (*assist)(struct ps_member *m);
    bool (*idle)(struct ps_member *m);
    bool (*any)(struct ps_member *m);
    const void *(*place)(struct ps_member *first);
};

/* What a member of any team begins with. */
struct ps_member {
    struct psthread thread; /* first: what it calls when it begins as a thread is given its address */
    struct ps_team *team;
    /* The member's thread-local block, kept between regions: threadprivate variables persist with the team (OpenMP 5.2
     * section 5.2). NULL: none yet; always for member 0, which is the parent itself. Written by the vp that runs the
     * member. */
    struct uth_tls *tls;
    void *fiber; /* the program's thread sanitizer's, kept likewise; NULL: none */
    uint32_t id; /* its number in the team; constant */
    /* (shared) the region in which the body has returned and the core does not know it yet; else 0. The thread that
     * tells the core sets 0 (compare-and-swap). On the line of tls, since each region reads and writes both. */
    _Atomic uint32_t done_in;
    /* Used in the first member of a batch that waits in the barrier: how many members the batch has, and the next batch
     * in the team's list. Written by the member that publishes the batch, read by the thread that has taken it. */
    uint32_t batch, next_batch;
    uint32_t place;  /* with thread.item.bound: its place's number, from 1 (bind.h); written while no region is open */
    uint64_t rounds; /* number of the last barrier that it met in rounds; its own */
    /* (shared) the last flag that the member set in a barrier of rounds (team_rounds.c); polled by other members. It
     * stands last, and has a line of its own. */
    PS_LINE_ALIGNED _Atomic uint64_t flag;
};

/* The word `left`. Its lower half counts references: one for each member whose end is not counted yet. In a region with
 * tasks a member ends in two steps, and looks for tasks between them. *Pending references* count the second steps to
 * come, and assistants. All references get a pending one at once (add_pending). So a member that drops its reference
 * sees in the word's old value whether it has a pending one. */
#define PS_TEAM_PENDING (UINT64_C(1) << 32)
#define PS_TEAM_WAITING (UINT64_C(1) << 63) /* the parent is blocked until all have ended */
#define PS_TEAM_WANTED (UINT64_C(1) << 62)  /* the parent is to run tasks as member 0 */
#define PS_TEAM_FIRST_HELPER ((uintptr_t)1) /* in first_helper */
#define PS_TEAM_ALL_PENDING (PS_TEAM_WANTED - PS_TEAM_PENDING)
#define PS_UNREAD_MOST 6
/* How members begin, other than by claims of any vp. */
enum {
    PS_FORKS_BOUND = 1,     /* they are bound (bind.h) */
    PS_FORKS_DEDICATED = 2, /* some on kernel threads of their own */
};

#define PS_BARRIER_PHASE_SHIFT 42 /* in the word `barrier` */

/* In a region where members go by handoff and meet in no barrier, two lines move between processors: the handoff slot's
 * and line 2. The other lines are read by members. The parent stores into these only what has changed (ps_update), so
 * that the readers keep their copies. */
struct ps_team {
    /* line 0: written by the parent at the fork, read by vps that claim */
    struct ps_item item;
    uint8_t unread;        /* how often handoffs were not read in time, at most PS_UNREAD_MOST; parent only */
    uint8_t unoffered;     /* offered regions still to come that are published only, without handoffs; parent only */
    _Atomic uint8_t forks; /* PS_FORKS_...; by the parent, and DEDICATED by a vp that has claimed such a member */
    /* a region of so many members was found to have room for their stacks; used by the entity layer, parent only */
    uint8_t roomy;
    bool scattered;   /* members have places of their own: each is queued by itself, none is claimed */
    bool keeps_flags; /* its last fork has seen that flags of floating point are kept (floats.h); parent only */
    uint32_t n;       /* members of the open region, the parent's own (0) counted */
    const struct ps_team_ops *ops;
    char *members;
    uint32_t stride; /* bytes from member to member */
    uint32_t n_max;
    PS_LINE_ALIGNED struct psthread *parent; /* the thread that forked */
    /* line 1 (with parent): (shared) next member number to be claimed; fetch-and-add by any vp that may look */
    _Atomic uint32_t next;
    uint32_t place; /* with item.bound: all members' place, from 1; parent only */
    struct {
        bool
            /* its first region with tasks is open (recall.h). Set by the member that makes the first task; else parent
             * only */
            watched;
        bool controls; /* at its join the parent's floating-point controls were not plain (floats.h). Parent only */
        bool turn;     /* the root has a turn, which is to be given back (root_fairness.h). Parent only */
        bool timed;    /* serial.began is set: the region is timed. Parent only */
        bool granted, less;  /* spares were called for it (needs.h); half of what its place needs. Parent only */
        _Atomic bool helped; /* spares have taken members. Set by spares, cleared by the parent */
        bool unused;
    } at_end;                 /* what the join has to see to, once all have ended */
    _Atomic bool had_tasks;   /* (shared) some region of this block had tasks: see join */
    _Atomic uint32_t by_word; /* (shared) how members meet in the barrier: PS_BY_... */
    uint64_t rounds_base;     /* barriers of rounds begin behind this number; see team_rounds.c */
    /* The block that the parent has left while it runs members as calls; NULL: its kernel thread's own. Parent only */
    struct uth_tls *parent_tls;
    /* (shared) 0: member 0 has no helper. PS_TEAM_FIRST_HELPER: it has one, while the parent is suspended below a
     * member (recall.h). Else the parent, which waits until the helper has left the block */
    _Atomic uintptr_t first_helper;
    /* needs.h. Spares that have taken members of the open region (shared); spares with which the region was opened, and
     * how many of these did not stand by then (parent only) */
    _Atomic uint32_t helpers;
    uint16_t granted, granted_late;
    /* line 2: (shared) references | pending ones * PS_TEAM_PENDING | PS_TEAM_WANTED | PS_TEAM_WAITING */
    PS_LINE_ALIGNED _Atomic uint64_t left;
    struct ps_queue *home; /* the queue that the entry stands in; parent only */
    uint32_t region;       /* number of the region, never 0; counts up with each fork */
    _Atomic uint32_t
        notified; /* (shared) 1: no member waits in ps_team_barrier_await any more in this region; 0 at the fork */
    /* (shared: members that were handed off may look while the parent writes) every member has a vp of its own, so it
     * can pay to spin */
    _Atomic bool spread;
    bool handed_off; /* some member was offered by handoff */
    bool awake;      /* no member's own kernel thread slept at the fork; parent only */
    /* member 0 has its parent's thread-local block, so only the parent runs tasks as member 0, while it waits in the
     * join. Written by the parent at the join's begin, read by the thread that makes member 0 a helper afterwards */
    bool by_parent_only;
    /* stacks that its open region may need; the entity layer's, parent only. Here, because the parent reads `left` last
     * as well */
    uint32_t promised;
    struct ps_serial_predictor serial; /* parent only: written in each outermost region, hence here */
    /* line 3: the barrier (team_barrier.c) */
    PS_LINE_ALIGNED _Atomic uint64_t barrier; /* (shared) arrivals to come, batches that wait, number of the phase */
    _Atomic uint32_t batched;                 /* (shared) 1: vps may have waiters of this region; 0 at the fork */
    /* The other fields of the rounds (team_rounds.c). Accessed under the lock, or by the opener of the barrier or the
     * region. */
    struct ps_spin rounds_lock;
    uint32_t rounds_n;       /* members of the last region that met in rounds; parent only */
    uint64_t rounds_left_at; /* number of the barrier in which a member was impatient last */
    uint64_t word_from;      /* number of the first barrier that is not one of rounds any more; 0: none */
    uint32_t barriers_seen;  /* of barriers_met (team_fork.c), at the last fork of an inner region; parent only */
    uint16_t word_runs;      /* barriers opened since in which no member blocked */
    uint16_t word_least;     /* so many make it one of rounds again */
    /* floats: the parent's at the last fork, read by members; joined: at the last join, parent only (floats.h) */
    struct cpu_float floats, joined;
};

static inline bool ps_team_has_to_see_to(const struct ps_team *team)
{
    uint64_t all;
    _Static_assert(sizeof all == sizeof team->at_end, "at_end");
    __builtin_memcpy(&all, &team->at_end, sizeof all); /* one load and compare */
    return all != 0;
}

void ps_team_init(struct ps_team *team, const struct ps_team_ops *ops, void *members, size_t stride, unsigned n_max);

/* Ends the members' identities: waits for the threads that they have made, runs the program's destructors. No region is
 * open. May switch. */
void ps_team_fini(struct ps_team *team);

/* Moves member id of `team` to `larger`, which has had no region: its block, its keys' values. False: the member has
 * made threads, which know it as their parent. No region of either team is open. */
bool ps_team_succeed(struct ps_team *larger, struct ps_team *team, unsigned id);

/* Gives members up to n - 1 their thread-local blocks, if threads have any: called before a region, where memory may be
 * short. Returns how many of n may begin. */
unsigned ps_team_take_tls(struct ps_team *team, unsigned n);
/* Begins the block of a member of team: gives it the signal mask that the opener has outside of its block. */
void ps_team_begin_block(struct ps_team *team, struct uth_tls *block, const struct psthread *opener);

static inline struct ps_member *ps_team_member(const struct ps_team *team, unsigned id)
{
    return (struct ps_member *)(void *)(team->members + (size_t)id * team->stride);
}

/* Called before a fork, while no region is open. ps_member_bind: member m belongs to place `place`, from 0
 * (PS_NO_PLACE: to none); member 0's is the caller's place. ps_team_bind, after that: `place` is the one that all
 * members of the next regions have; if there is none (PS_NO_PLACE), `scattered` says whether their places differ. */
#define PS_NO_PLACE (-1) /* also EE_NO_PLACE */
void ps_member_bind(struct ps_member *m, int place);
void ps_team_bind(struct ps_team *team, int place, bool scattered);
/* Opens a region of n >= 2 members; the caller is member 0 from here on. Does not switch. */
void ps_team_fork(struct ps_team *team, unsigned n, bool outermost);
/* Member 0's body has returned: helps, waits for the others. Then the caller is the thread that forked again. May
 * switch. */
void ps_team_join(struct ps_team *team);
/* See ee_team_notify. */
void ps_team_notify(struct ps_team *team);
/* See ee_team_help. */
void ps_team_help(struct ps_team *team, unsigned id);
/* See ee_team_call_first. Does not switch. */
void ps_team_call_first(struct ps_team *team);
/* Called by member 0 when it becomes an assistant, in the block that its parent has left (recall.c). */
void *ps_member_first_main(void *arg);

/* Claims a member; its number, or 0 where none is left. Caller may look at the team (see Lifetime). */
static inline unsigned ps_team_claim(struct ps_team *team)
{
    /* The plain look comes first: a fetch-and-add on an exhausted team would only advance the counter. */
    if (ps_load_relaxed(&team->next) >= team->n)
        return 0;
    unsigned id = ps_add_acq_rel(&team->next, 1); /* with ps_team_notify, for members that the caller has run */
    return id < team->n ? id : 0;
}
/* Members that no vp has claimed. */
static inline unsigned ps_team_left(struct ps_team *team)
{
    unsigned next = ps_load_relaxed(&team->next);
    return next < team->n ? team->n - next : 0;
}
static inline bool ps_team_exhausted(struct ps_team *team) { return ps_load_relaxed(&team->next) >= team->n; }

static inline void ps_member_set(struct ps_member *m, const struct psthread *parent, unsigned extra_flags)
{
    m->thread.local = m;
    m->thread.level = parent->level + 1;
    m->thread.flags = (uint8_t)(PS_T_MEMBER | extra_flags);
    m->thread.parent = (struct psthread *)parent;
}

/* Makes member id a thread in vp's queue (handoff.c). No vp runs the member yet, and the caller has claimed it. */
void ps_team_enqueue_late(struct ps_team *team, unsigned id, struct vp *vp);
/* Begins m, a thread without a stack so far: on the stack that it keeps, or from vp's queue on. */
void ps_member_begin_thread(struct ps_member *m, struct vp *vp);
/* The function of such a thread, called with the member: runs the region's body, in no hurry, on a stack of its own. */
void *ps_member_late_main(void *arg);

/* Called in a forked child, on vp self, with all queues emptied: takes the teams around the caller out of theirs. Their
 * unclaimed members do not begin by themselves. */
void ps_team_after_fork_in_child(struct vp *self);
/* Member `current` is in block, which is not the team's any more. */
void ps_team_forget_block(struct psthread *current, const struct uth_tls *block);

/* Runs member id and every further one it can claim, each on the uth that runs now; a vp's loop calls it. */
void ps_team_run(struct ps_team *team, unsigned id);

/* The barrier of the team's members: see ee.h for the contract. */
static inline uint32_t ps_team_barrier_phase(const struct ps_team *team)
{
    return (uint32_t)(ps_load_relaxed(&team->barrier) >> PS_BARRIER_PHASE_SHIFT);
}
/* True: the caller should yield when it can: its vp's root waits behind it. */
bool ps_team_barrier_release(struct ps_team *team);
enum ps_met { PS_MET_RELEASED, PS_MET_CALLED, PS_MET_LAST };
/* counted: the last member is to get PS_MET_LAST; all members ask for that, or none does. */
enum ps_met ps_team_barrier_meet(struct ps_team *team, unsigned id, uint32_t phase, bool counted);
static inline bool ps_team_barrier_over(struct ps_team *team, uint32_t phase)
{
    return (uint32_t)(ps_load_acquire(&team->barrier) >> PS_BARRIER_PHASE_SHIFT) != phase;
}
bool ps_team_barrier_await(struct ps_team *team, unsigned id, uint32_t phase); /* true: released */
/* For team_fork.c: prepares the barrier for the next region's n members; no region is open. */
void ps_team_barrier_fork(struct ps_team *team, unsigned n);
/* The barrier of a team whose members have a vp each (team_rounds.c). States of by_word: */
enum {
    PS_BY_ROUNDS,
    PS_BY_NEITHER, /* a member is about to decide */
    PS_BY_WORD,
};
/* True: the barrier is over. False: the caller has to arrive by the word. */
bool ps_team_rounds_meet(struct ps_team *team, unsigned id);
/* Called by the parent at the fork, before a member can begin: each member may get a vp. Where that fails, or no vp is
 * asked: ps_team_rounds_none. */
void ps_team_rounds_fork(struct ps_team *team, unsigned n);
static inline void ps_team_rounds_none(struct ps_team *team) { ps_update_relaxed(&team->by_word, PS_BY_WORD); }
/* The opener of a barrier by the word, before it opens it. */
void ps_team_rounds_release(struct ps_team *team, bool somebody_blocked);
#define PS_BARRIER_SPINS 64 /* times ps_spin_limit, where every member has a vp of its own */
/* All members that wait in the barrier return from it with PS_MET_CALLED. Caller: has set `notified` (seq_cst). */
void ps_team_barrier_call_back(struct ps_team *team);
/* vp goes on with something that is not of its waiters' team: they are counted and published. */
void ps_team_barrier_leave(struct vp *vp);

#endif
