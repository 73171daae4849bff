/* A team: the members of a parallel region, published as one entry of a ready queue.
 *
 * The parent forks in constant time: it puts the entry at the front of its vp's queue. A vp that takes the entry claims
 * the next member number by fetch-and-add. The entry stays in the queue, where other vps can steal it, until the last
 * number is claimed. Where help is likely to pay, as in an outermost region, the parent first offers the members to
 * idle vps, through their handoff slots (manycore-nested-2016 section 3.1; is_offered in team_fork.c). At the join the
 * parent claims the numbers that no vp has claimed, and runs those members as calls on its own stack.
 *
 * States of a region: closed (left == 0, the entry in no queue) -> ps_team_fork -> open -> the last member has ended
 * (left == 0) -> closed. The parent may fork the same team again as soon as ps_team_join has returned.
 *
 * Lifetime: a vp may look at a team while it holds the lock of the queue that the team is in, or while it has claimed a
 * member that `left` still counts. The parent takes the entry out of the queue before ps_team_join returns. */
#ifndef PS_TEAM_H
#define PS_TEAM_H

#include "cpu.h"
#include "serial_predictor.h"
#include "spin.h"
#include "thread.h"

struct ps_member;

/* The members of one team that wait in their barrier on one vp, while further members of the team run on that vp
 * (team_barrier.c). Guarded by the lock of the vp's queue. */
struct ps_waiters {
    /* How many members wait here, in `list` and as `root`. Written under the lock; the vp itself also reads it without
     * the lock. */
    _Atomic uint32_t count;
    uint32_t uncounted; /* how many of them the team's word `barrier` has not counted yet */
    struct ps_team *team;
    struct ps_list list; /* the waiting members, linked by thread.item.link */
    uint32_t phase;      /* the phase of the barrier for whose end they wait */
    /* The member that waits here on a root's own stack; only this vp may run it. NULL: there is none. */
    struct psthread *root;
    /* The vp's turn: for how many openings of the barrier the waiters still go in front of other threads in the queue,
     * and when the turn began in cpu_cycles (team_batches.h). Used by the vp alone, so the lock is not needed. */
    uint32_t turn_left;
    uint64_t turn_began;
};

/* Functions that the OpenMP core gives for its teams. ee_team_ops (ee.h) says what each has to do. */
struct ps_team_ops {
    void (*body)(struct ps_member *m);
    void (*assist)(struct ps_member *m);
    bool (*idle)(struct ps_member *m);
    bool (*any)(struct ps_member *m);
    const void *(*place)(struct ps_member *first);
};

/* The part of a member that psthreads uses. The OpenMP core's own part follows it. */
struct ps_member {
    /* Must be the first field. The function of a member that begins as a thread gets the address of `thread`, and uses
     * it as the address of the member. */
    struct psthread thread;
    struct ps_team *team;
    /* The member's thread-local block. The member keeps it between regions, because threadprivate variables persist
     * with the team (OpenMP 5.2 section 5.2). NULL: the member has none yet; always NULL for member 0, which is the
     * parent itself. Written by the vp that runs the member, and by the parent while no region is open. */
    struct uth_tls *tls;
    void *fiber; /* the member's fiber in the program's thread sanitizer, kept between regions too; NULL: none */
    uint32_t id; /* its number in the team; constant */
    /* (shared) The number of the region in which the member's body last returned; 0 once the OpenMP core was told that.
     * Stored by the thread that ran the body. The thread that tells the core sets it to 0 first, by compare-and-swap.
     * On the same line as `tls`, since each region uses both. */
    _Atomic uint32_t done_in;
    /* A batch is the members that wait in the barrier on one vp. In its first member these are the number of members in
     * the batch, and the number, from 1, of the first member of the next batch in the team's list (0: none). Written by
     * the thread that publishes the batch, read by the thread that takes it. */
    uint32_t batch, next_batch;
    /* If thread.item.bound is set: the number of the member's place, from 1 (bind.h). Written while no region is
     * open. */
    uint32_t place;
    uint64_t rounds; /* number of the last barrier that the member met in rounds; the parent reads member 0's */
    /* (shared) The last flag that the member has set in a barrier of rounds (team_rounds.c). Other members poll it, so
     * it has a cache line of its own, the member's last. */
    PS_LINE_ALIGNED _Atomic uint64_t flag;
};

/* The word `left`. Its lower half counts references, one for each member whose end is not counted yet. In a region with
 * tasks a member ends in two steps, and looks for tasks between them. *Pending references* count the second steps that
 * are still to come, and the assistants. When the region's first task is made, every reference gets a pending one
 * (add_pending in team_help.c). So a member that drops its reference sees in the word's old value whether it has a
 * pending one. */
#define PS_TEAM_PENDING (UINT64_C(1) << 32)
#define PS_TEAM_WAITING (UINT64_C(1) << 63) /* the parent blocks, or is about to, until all references are gone */
/* the parent has to run tasks as member 0, before it goes on waiting in the join */
#define PS_TEAM_WANTED (UINT64_C(1) << 62)
#define PS_TEAM_FIRST_HELPER ((uintptr_t)1) /* value of first_helper: member 0 has a helper */
#define PS_TEAM_ALL_PENDING (PS_TEAM_WANTED - PS_TEAM_PENDING)
#define PS_UNREAD_MOST 6
/* Bits of `forks`: reasons why members of the team are not simply claimed by any vp. */
enum {
    PS_FORKS_BOUND = 1,     /* the members are bound to places (bind.h) */
    PS_FORKS_DEDICATED = 2, /* some members have kernel threads of their own */
};

#define PS_BARRIER_PHASE_SHIFT 42 /* the phase begins at this bit of the word `barrier` */

/* Where members go to vps by handoff, and meet in no barrier, only two cache lines move between processors in a region:
 * the handoff slot's, and line 2. Members only read the other lines. The parent stores in these other lines only what
 * has changed (ps_update), so that the members' processors keep their copies. */
struct ps_team {
    /* Line 0: written by the parent at the fork, read by vps that claim. */
    struct ps_item item;
    /* In how many regions the parent took back handoffs that no vp had read, since it last looked for such handoffs and
     * found none. At most PS_UNREAD_MOST. Parent only. */
    uint8_t unread;
    uint8_t unoffered; /* how many further regions are published in the queue only, without handoffs; parent only */
    /* PS_FORKS_... Written by the parent, which reads it at the fork. A vp that claims a member with a kernel thread of
     * its own adds DEDICATED. */
    _Atomic uint8_t forks;
    /* The entity layer has found that there are stacks for a region of up to this many members. Only that layer uses
     * the field, on the parent. */
    uint8_t roomy;
    /* The members have different places. So each is handed off by itself, or becomes a thread in its place's queue, and
     * no vp claims any. Parent only. */
    bool scattered;
    bool keeps_flags; /* at the last fork the status flags of floating point were kept (floats.h); parent only */
    uint32_t n;       /* number of members in the open region, member 0 included */
    const struct ps_team_ops *ops;
    char *members;
    uint32_t stride; /* distance in bytes from one member to the next */
    uint32_t n_max;
    PS_LINE_ALIGNED struct psthread *parent; /* the thread that forked */
    /* Line 1, with `parent`. (shared) The next member number to be claimed: a fetch-and-add by any vp that may look at
     * the team (Lifetime). */
    _Atomic uint32_t next;
    uint32_t place; /* if item.bound is set: the place of all members, from 1; the parent writes it */
    struct {
        bool
            /* The team is in the table of watched teams (recall.h). Set by the member that makes the region's first
             * task, cleared by the parent. */
            watched;
        bool controls; /* the parent's floating-point controls were not plain at the join (floats.h); parent only */
        bool turn;     /* the root has the turn, and gives it back at the join (root_fairness.h); parent only */
        bool timed;    /* the region is timed, and serial.began is set; parent only */
        /* What the fork did about spares (needs.h). granted: it has called as many as regions of this place in the
         * program needed. less: it has called only half as many. Parent only. */
        bool granted, less;
        _Atomic bool helped; /* spares have taken members; set by spares, cleared by the parent */
        /* Makes the struct as large as one word. */
        bool unused;
    } at_end; /* what the join still has to do once all members have ended; all zero: nothing */
    /* (shared) A region of this team has had tasks. If threads have blocks, a join that begins after that calls no
     * members on the parent's stack (ps_team_join says why). Kept when a larger team succeeds this one. */
    _Atomic bool had_tasks;
    _Atomic uint32_t by_word; /* (shared) how the members meet in the barrier: PS_BY_... */
    uint64_t rounds_base;     /* barriers of rounds have numbers above this one (team_rounds.c) */
    /* The block that the parent leaves while it runs members as calls. NULL: it was in its kernel thread's own storage.
     * Written by the parent. If member 0 gets a helper, the helper and the thread that starts it read it (recall.h). */
    struct uth_tls *parent_tls;
    /* (shared) 0: member 0 has no helper (recall.h). PS_TEAM_FIRST_HELPER: member 0 has a helper. Any other value:
     * member 0 has a helper, and this is the thread that waits until the helper has left the parent's block. This
     * thread is the parent, or the member that the parent has called. */
    _Atomic uintptr_t first_helper;
    /* (shared) The number of spares that have taken members of the open region (needs.h). */
    _Atomic uint32_t helpers;
    /* With how many spares the region began, and how many of these did not stand by at the fork (needs.h). Parent
     * only. */
    uint16_t granted, granted_late;
    /* Line 2. (shared) references | pending references * PS_TEAM_PENDING | PS_TEAM_WANTED | PS_TEAM_WAITING. */
    PS_LINE_ALIGNED _Atomic uint64_t left;
    struct ps_queue *home; /* the queue into which the parent has put the entry, or NULL; parent only */
    uint32_t region;       /* the number of the open region, never 0; each fork counts it up */
    _Atomic uint32_t
        /* (shared) 1: the region has tasks, so its members no longer wait in ps_team_barrier_await. The fork sets it to
         * 0. */
        notified;
    /* (shared: members that were handed off may read it while the parent writes) Every member began on a vp of its own,
     * so it can pay to spin. */
    _Atomic bool spread;
    bool handed_off; /* some member went to a vp by handoff; parent only */
    /* The region is `spread`, some members have kernel threads of their own, and none of these slept at the fork;
     * parent only. */
    bool awake;
    /* Threads have blocks, and member 0 has its parent's. So the parent itself runs tasks as member 0, while it waits
     * in the join; recall.h has the one exception. Written by the parent when the join begins, read by threads that
     * want member 0 to run tasks. */
    bool by_parent_only;
    /* How many stacks the entity layer has promised to the open region. Only that layer uses the field, on the parent.
     * It stands here because the parent reads this line at the region's end anyway. */
    uint32_t promised;
    /* Parent only; it stands here because the parent writes this line in each region anyway. */
    struct ps_serial_predictor serial;
    /* Line 3: the barrier (team_barrier.c). (shared) The number of arrivals that are still to come, the first of the
     * batches that wait, and the number of the phase (team_batches.h). */
    PS_LINE_ALIGNED _Atomic uint64_t barrier;
    /* (shared) 1: vps may have lists of waiters of this region. The fork sets 0, and so does ps_team_notify. */
    _Atomic uint32_t batched;
    /* The other fields of the rounds (team_rounds.c), in which members meet by flags instead of the word `barrier`.
     * Used by a holder of rounds_lock, by the member that opens a barrier by the word, and by the parent at the
     * fork. */
    struct ps_spin rounds_lock;
    uint32_t rounds_n; /* n at the last call of ps_team_rounds_fork; the parent writes it */
    /* The number of the last barrier in which a member waited for so long that it ended the rounds, or tried to. */
    uint64_t rounds_left_at;
    /* The number of the barrier in which the members gave up rounds, and began to meet by the word `barrier`. 0: they
     * have not done so since rounds began. */
    uint64_t word_from;
    /* What barriers_met (team_fork.c) returned at the fork of the last inner region that had at most half as many
     * members as there are vps. Parent only. */
    uint32_t barriers_seen;
    uint16_t word_runs;  /* barriers in a row, met by the word, in which no member blocked; counted up to word_least */
    uint16_t word_least; /* when word_runs reaches this, rounds begin again */
    /* floats: the parent's floating-point state at the last fork, read by members. joined: its state at the last join,
     * parent only (floats.h). */
    struct cpu_float floats, joined;
};

/* Returns true if some field of at_end is set: the join still has something to do. */
static inline bool ps_team_has_to_see_to(const struct ps_team *team)
{
    uint64_t all;
    _Static_assert(sizeof all == sizeof team->at_end, "at_end");
    __builtin_memcpy(&all, &team->at_end, sizeof all); /* compiles to one load and one compare */
    return all != 0;
}

/* Makes a team. `members` has n_max members, `stride` bytes apart; each begins with a struct ps_member. Caller: the
 * thread that will be the parent. */
void ps_team_init(struct ps_team *team, const struct ps_team_ops *ops, void *members, size_t stride, unsigned n_max);

/* Called before a team is freed, while no region is open. Ends what its members have kept between regions: waits for
 * the threads that they have made, and runs the program's destructors. May switch. */
void ps_team_fini(struct ps_team *team);

/* Moves what member id of `team` has kept (its block, the values of its keys) to the member with that number in
 * `larger`, which has had no region. False: nothing was moved, since the member has made threads, which know it as
 * their parent. No region of either team is open. */
bool ps_team_succeed(struct ps_team *larger, struct ps_team *team, unsigned id);

/* Makes the blocks of members 1 .. n-1 that have none, if threads have blocks at all. Called before a region, where
 * memory may be short. Returns how many of n members may begin: fewer than n if the system has no memory for more. */
unsigned ps_team_take_tls(struct ps_team *team, unsigned n);
/* Prepares a new block for a member of team: notes the team in it, and the signal mask with which members begin in a
 * region that `opener` opens (inherited.h). */
void ps_team_begin_block(struct ps_team *team, struct uth_tls *block, const struct psthread *opener);

static inline struct ps_member *ps_team_member(const struct ps_team *team, unsigned id)
{
    return (struct ps_member *)(void *)(team->members + (size_t)id * team->stride);
}

/* Called before a fork, while no region is open. ps_member_bind: member m belongs to place `place`, from 0, or to none
 * (PS_NO_PLACE). Member 0 belongs to the caller's place. ps_team_bind, called after that: in the next regions all
 * members belong to `place`. With PS_NO_PLACE, `scattered` says whether the members have different places. */
#define PS_NO_PLACE (-1) /* the same value as EE_NO_PLACE */
void ps_member_bind(struct ps_member *m, int place);
void ps_team_bind(struct ps_team *team, int place, bool scattered);
/* Opens a region of n >= 2 members. The caller, the parent, is member 0 from here on. outermost: no other region
 * encloses this one. Does not switch. */
void ps_team_fork(struct ps_team *team, unsigned n, bool outermost);
/* Called by the parent when member 0's body has returned. Runs members that no vp has claimed, and waits for the
 * others. On return the caller is the thread that it was before the fork, and not member 0. May switch. */
void ps_team_join(struct ps_team *team);
/* Called by a member that has made the region's first task. Does what ee_team_notify (ee.h) says. */
void ps_team_notify(struct ps_team *team);
/* Makes member id, whose body has returned, a helper that runs tasks. Does what ee_team_help (ee.h) says. */
void ps_team_help(struct ps_team *team, unsigned id);
/* If the caller runs as a call on the parent's stack, gives member 0 a helper (recall.h). Does what ee_team_call_first
 * (ee.h) says. Does not switch. */
void ps_team_call_first(struct ps_team *team);
/* The function of member 0's assistant, which recall.c starts. It runs in the block that the suspended parent has
 * left. */
void *ps_member_first_main(void *arg);

/* Claims the next member. Returns its number, or 0 if all are claimed. The caller must be allowed to look at the team
 * (Lifetime, above). */
static inline unsigned ps_team_claim(struct ps_team *team)
{
    /* The plain load comes first: a fetch-and-add on an exhausted team would only advance the counter. */
    if (ps_load_relaxed(&team->next) >= team->n)
        return 0;
    /* acq_rel: a thread in ps_team_notify, which adds to `next` too, then sees done_in of the members that the caller
     * has run. */
    unsigned id = ps_add_acq_rel(&team->next, 1);
    return id < team->n ? id : 0;
}
/* Returns how many members no vp has claimed. */
static inline unsigned ps_team_left(struct ps_team *team)
{
    unsigned next = ps_load_relaxed(&team->next);
    return next < team->n ? team->n - next : 0;
}
/* Returns true if all members are claimed. */
static inline bool ps_team_exhausted(struct ps_team *team) { return ps_load_relaxed(&team->next) >= team->n; }

/* Sets the fields of m's thread with which a member begins: its parent, level, flags and local pointer. */
static inline void ps_member_set(struct ps_member *m, const struct psthread *parent, unsigned extra_flags)
{
    m->thread.local = m;
    m->thread.level = parent->level + 1;
    m->thread.flags = (uint8_t)(PS_T_MEMBER | extra_flags);
    m->thread.parent = (struct psthread *)parent;
}

/* Makes member id, which the caller has claimed and not begun, a ready thread: calls ps_member_begin_thread with this
 * vp (handoff.c). */
void ps_team_enqueue_late(struct ps_team *team, unsigned id, struct vp *vp);
/* Makes m ready as a thread without a stack. It goes to its dedicated kernel thread if it has one; else into its
 * place's queue if it is bound; else to the back of vp's queue. */
void ps_member_begin_thread(struct ps_member *m, struct vp *vp);
/* The function of a member that ps_team_enqueue_late has made a thread; its argument is the member. Runs the region's
 * body, and ends the member. */
void *ps_member_late_main(void *arg);

/* Called in a forked child by the thread that forked, on vp self. All queues are empty already. Marks the teams of the
 * regions that the caller is in as being in no queue. So no vp of the child takes members of these teams. */
void ps_team_after_fork_in_child(struct vp *self);
/* Called in a forked child in which `block` belongs to no member any more. Clears the field `tls` that points to
 * `block`, in the member `current` or in a member that has opened a region around it. */
void ps_team_forget_block(struct psthread *current, const struct uth_tls *block);

/* Called by a vp's loop, which has claimed member id. Runs this member, and then every further member that the vp can
 * claim, on the uth that runs now. */
void ps_team_run(struct ps_team *team, unsigned id);

/* The barrier of the team's members. ee.h has the contract. Returns the number of the current phase. */
static inline uint32_t ps_team_barrier_phase(const struct ps_team *team)
{
    return (uint32_t)(ps_load_relaxed(&team->barrier) >> PS_BARRIER_PHASE_SHIFT);
}
/* Opens the barrier: begins the next phase, and readies the members that wait. Caller: the member that came last.
 * Returns true if the caller should yield soon, since its vp's root is ready and waits for this vp (ps_root_wanted). */
bool ps_team_barrier_release(struct ps_team *team);
/* RELEASED: the barrier has opened. CALLED: the region has tasks, and the member is to run some. LAST: the caller came
 * last, and is to open the barrier. */
enum ps_met { PS_MET_RELEASED, PS_MET_CALLED, PS_MET_LAST };
/* Member id arrives at the barrier, whose phase it has read, and waits. May switch. `counted` is the same for all
 * members. If it is true, the member that comes last gets PS_MET_LAST. If it is false, that member gets PS_MET_LAST, or
 * PS_MET_RELEASED if this function has opened the barrier itself. */
enum ps_met ps_team_barrier_meet(struct ps_team *team, unsigned id, uint32_t phase, bool counted);
/* Returns true if the phase has ended (acquire: with the store that opens the barrier). */
static inline bool ps_team_barrier_over(struct ps_team *team, uint32_t phase)
{
    return (uint32_t)(ps_load_acquire(&team->barrier) >> PS_BARRIER_PHASE_SHIFT) != phase;
}
/* Member id, which has arrived, waits for the end of the phase. Returns true if the phase has ended, false if the
 * member was called away since the region has tasks. May switch. */
bool ps_team_barrier_await(struct ps_team *team, unsigned id, uint32_t phase);
/* Called by the parent at the fork, while no region is open: prepares the barrier for n members. */
void ps_team_barrier_fork(struct ps_team *team, unsigned n);
/* The barrier of a team whose members have a vp each (team_rounds.c). States of by_word: members meet in rounds, or by
 * the word `barrier`. */
enum {
    PS_BY_ROUNDS,
    PS_BY_NEITHER, /* a member is about to decide, and holds rounds_lock */
    PS_BY_WORD,
};
/* Member id meets the others in rounds. True: the barrier is over. False: the members meet by the word `barrier`
 * instead, and this member has to arrive there. */
bool ps_team_rounds_meet(struct ps_team *team, unsigned id);
/* Called by the parent at the fork, before a member can begin, if each member may get a vp of its own. The parent calls
 * ps_team_rounds_none, instead or afterwards, if there are more members than vps, if the members are not offered to
 * vps, or if some member got no vp. */
void ps_team_rounds_fork(struct ps_team *team, unsigned n);
static inline void ps_team_rounds_none(struct ps_team *team) { ps_update_relaxed(&team->by_word, PS_BY_WORD); }
/* Called by the member that is about to open a barrier which was met by the word `barrier`. somebody_blocked: whether a
 * member blocked in it. Lets the members meet in rounds from the next barrier on, if enough barriers were met without
 * blocking. */
void ps_team_rounds_release(struct ps_team *team, bool somebody_blocked);
#define PS_BARRIER_SPINS 64 /* how long a member spins if every member has a vp of its own, in units of ps_spin_limit */
/* Lets all members that wait in the barrier return from it with PS_MET_CALLED. The caller has set `notified`
 * (seq_cst). */
void ps_team_barrier_call_back(struct ps_team *team);
/* Called when vp has waiters, and is about to run something else than a member of their team. Counts the waiters'
 * arrival, and publishes them as a batch. If the barrier has opened meanwhile, readies them instead. */
void ps_team_barrier_leave(struct vp *vp);

#endif
