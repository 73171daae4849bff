/* Signals that are sent to one thread: see directed.h for states and orderings. */
#include "directed.h"

#include <errno.h>
#include <limits.h>

#include "answer.h"
#include "current.h"
#include "os.h"
#include "promote.h"
#include "run.h"
#include "runtime.h"
#include "stand_below.h"
#include "stray.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"

#define SENDERS 0xffffu
#define ONE_MORE 0x10000u
#define COME 0x3fff0000u
#define STATE 0xc0000000u
#define EMPTY 0u
#define THERE (1u << 30)
#define REFUSED (2u << 30)
#define RUNS (3u << 30)

#define ABSENCES 100
#define ABSENT_NS UINT64_C(200000000) /* a kernel thread that is switching may lose its processor for that long */
#define ANSWER_NS INT64_C(500000)
#define ROUSED_LEAST 100u /* looks */
#define ROUSED_LOOKS 1000u
#define ROUSED_LOOK_NS INT64_C(1000000)
#define ROUSED_LATE_NS INT64_C(50000000)

static uint32_t state_of(uint32_t word) { return word & STATE; }
static uint32_t read_directed_word(struct vp *vp) { return ps_load_seq(&vp_directed(vp)->senders); }

static void answer_signal_request(struct vp *vp, uint32_t state)
{
    uint32_t word = read_directed_word(vp);
    while (!ps_cas_seq(&vp_directed(vp)->senders, &word, (word & ~STATE) | state))
        ;
    if (word & SENDERS)
        os_wake(&vp_directed(vp)->senders, INT_MAX);
}

/* --- P's side --- */

bool directed_waits(struct vp *vp)
{
    uint32_t word = read_directed_word(vp);
    return (word & SENDERS) && state_of(word) == EMPTY;
}

/* Until no sender is left, and what they have sent is handled. */
static void stay(struct vp *vp)
{
    for (;;) {
        uint32_t word = read_directed_word(vp);
        if (state_of(word) == EMPTY) /* a handler has stayed: directed_handled */
            return;
        if (word & SENDERS) {
            os_park(&vp_directed(vp)->senders, word, OS_FOREVER);
            continue;
        }
        if ((word & COME) && state_of(word) != REFUSED)
            os_yield(); /* a system call: here */
        if (ps_cas_seq(&vp_directed(vp)->senders, &word, EMPTY))
            return;
    }
}

void directed_runs(struct vp *vp)
{
    if (PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->lone) & PS_LONE_WANTS)) {
        ps_and_seq(&vp_run(vp)->lone, (uint8_t)~PS_LONE_WANTS);
        vp_take_mask(vp); /* a handler may have come here, before P could be told as the thread's */
    }
    answer_signal_request(vp, RUNS);
}
void directed_ran(struct vp *vp) { stay(vp); }

static void be_there(struct vp *vp)
{
    vp_hear(vp);
    answer_signal_request(vp, THERE);
    stay(vp);
}

static struct uth *saved(const struct uth_tls *block)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) /* called on a root's stack */
        if (uth_visit(&vp_run(ps_vp_at(id))->native, block))
            return &vp_run(ps_vp_at(id))->native;
    return uth_visit_any(block);
}

/* The thread, if it stands below another one. It cannot go on without vp then. NULL: it does not. */
static struct psthread *take_from_caller(struct uth_tls *block)
{
    struct psthread *t = ps_load_seq(&block->below);
    if (!t)
        return NULL;
    uth_tls_take_away(block);
    return os_fence_all() && ps_load_seq(&block->below) == t ? t : NULL;
}

/* In the thread's block. What waits for P is handled where P hears, not here. */
static void enter_unheard(struct vp *vp)
{
    bool deaf = vp_run(vp)->is_deaf;
    vp_run(vp)->tls = NULL; /* entered anew: another vp may have been in it */
    if (deaf)
        vp_run(vp)->is_deaf = false; /* vp_enter_tls leaves the mask alone; no handler comes meanwhile */
    vp_enter_tls(vp, vp_run(vp)->alone_for);
    if (deaf)
        vp_run(vp)->is_deaf = true;
}

static void stand_as(struct vp *vp, const struct psthread *t)
{
    ps_store_relaxed(&vp_run(vp)->stands_as, t ? t->local : NULL);
}

/* P comes to be where the handler may run, hears there, and stays for the senders that are counted in. False: it
 * cannot, and has told the senders so, of which there is one if `asked`. */
static bool come_in(struct vp *vp, bool asked)
{
    if (vp_run(vp)->uth != &vp_run(vp)->native) { /* own_stack.h */
        be_there(vp);
        return true;
    }
    struct uth *u = saved(vp_run(vp)->alone_for);
    bool rests = !u && ps_team_rests(vp, vp_run(vp)->alone_for);
    const struct psthread *caller = u || rests ? NULL : take_from_caller(vp_run(vp)->alone_for);
    bool is_in = u || rests || caller;
    if (!rests)
        stand_as(vp, u ? vp_left_by(u) : caller);
    uint64_t mask = 0;
    if (is_in) {
        vp_take_mask(vp); /* what the thread has left before it was saved */
        mask = os_swap_signal_mask(OS_ALL_SIGNALS);
        enter_unheard(vp);
    }
    bool visited = u ? stand_below_saved(vp, &vp_run(vp)->native, u, be_there, &mask)
                     : caller && stand_below_running(vp, &vp_run(vp)->native, caller->uth, be_there, &mask);
    if (!visited && is_in)
        os_set_signal_mask(mask);
    if (!visited && (is_in || asked)) {
        vp_hear(vp);
        answer_signal_request(vp, is_in ? THERE : REFUSED);
        stay(vp);
    }
    if (u) {
        vp_enter_tls(vp, NULL); /* the thread may go on elsewhere from here on */
        stand_as(vp, NULL);
        uth_visited(u);
    }
    if (visited)
        os_set_signal_mask(mask);
    return is_in;
}

bool directed_handles(struct vp *vp)
{
    uint32_t state = vp_run(vp)->alone_for ? state_of(read_directed_word(vp)) : RUNS;
    bool is_new = state == EMPTY || state == REFUSED;
    if (PS_UNLIKELY(is_new))
        answer_signal_request(vp, THERE);
    return is_new;
}

void directed_handled(struct vp *vp) { stay(vp); }

void directed_serve(struct vp *vp) { come_in(vp, true); }
bool directed_hears(struct vp *vp) { return come_in(vp, false); }

/* --- a thread in an interrupt --- */

static struct vp *own_of_running(void)
{
    struct vp *vp = ps_vp();
    return vp && vp_run(vp)->tls ? ps_load_acquire(&vp_run(vp)->tls->alone) : NULL;
}

void directed_leaves(void *frame)
{
    struct vp *own = own_of_running();
    if (own)
        ps_store_seq(&vp_directed(own)->signals_sent, 0);
    os_interrupt_leaves(frame);
}

void directed_is_back(void *frame)
{
    struct vp *own = own_of_running();
    os_interrupt_handled(frame, own ? &vp_directed(own)->signals_sent : NULL);
}

/* --- a thread that runs elsewhere --- */

enum { ASKED, LEFT_ALONE, MOVES };
static struct {
    _Atomic uint32_t taken; /* by the sender that asks */
    struct ps_answer answer;
    struct uth_tls *block;
    const struct vp *root;        /* a thread is to leave its stack; NULL: block's thread is to move, or its callee */
    _Atomic(struct vp *) carrier; /* a free one, for a thread that has none */
} wish;

bool directed_root_has_called(struct vp *vp)
{
    struct uth_tls *volatile *in = &vp_run(vp)->tls;
    struct uth *volatile *on = &vp_run(vp)->uth;
    struct uth_tls *block = *in;
    return *on == vp_run(vp)->own_uth && block && block != vp_run(vp)->own_tls;
}

/* The thread of the wish runs here, or another one that it has called: this thread is to go. */
static bool is_wished(struct vp *vp)
{
    if (wish.root)
        return vp == wish.root && directed_root_has_called(vp);
    return vp_run(vp)->tls && (vp_run(vp)->tls == wish.block || vp_run(vp)->alone_for == wish.block);
}

static bool move_over(void *frame)
{
    if (ps_answers_already(&wish.answer))
        return false;
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    struct uth *stack = vp ? vp_run(vp)->uth : NULL;
    bool moves = ps_load_acquire(&wish.answer.word) == ASKED && self && is_wished(vp) && !vp_run(vp)->held &&
                 self->uth == stack && !(self->flags & PS_T_NOSTACK) &&
                 os_interrupted_program(frame, stack->stack, stack->stack ? stack->stack_bytes : SIZE_MAX);
    struct vp *to = moves ? ps_carrier_of(vp_run(vp)->tls, &wish.carrier) : NULL;
    moves = to && to != vp;
    if (moves)
        directed_leaves(frame);
    ps_answer(&wish.answer, moves ? MOVES : LEFT_ALONE, !moves);
    if (moves) {
        ps_move_alone(vp, self, to);
        directed_is_back(frame);
    }
    return moves;
}

bool directed_ask_to_move(struct uth_tls *block, const struct vp *root, struct vp *vp, bool needs_carrier)
{
    uint64_t mask = os_signal_mask();
    os_set_signal_mask(OS_ALL_SIGNALS); /* a handler might wait, and have the wish meanwhile */
    if (ps_xchg_acq_rel(&wish.taken, 1)) {
        os_set_signal_mask(mask);
        return false;
    }
    wish.block = block;
    wish.root = root;
    ps_store_release(&wish.carrier, needs_carrier ? ps_carrier_for_somebody(vp) : NULL);
    ps_store_release(&wish.answer.word, ASKED);
    if (os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), move_over) == 0) {
        os_park(&wish.answer.word, ASKED, ANSWER_NS);
        uint32_t asked = ASKED; /* a handler that is late finds that no sender asks */
        ps_cas_acq_rel(&wish.answer.word, &asked, LEFT_ALONE);
    }
    struct vp *left = ps_xchg_acq_rel(&wish.carrier, NULL);
    ps_store_release(&wish.taken, 0);
    os_set_signal_mask(mask);
    if (left)
        ps_carrier_for_nobody(left);
    return true;
}

/* Whether it runs somewhere else than on `to`; it is asked to move. */
static bool runs_elsewhere(struct uth_tls *block, struct vp *to)
{
    struct vp *vp = NULL;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots && !vp; id++) {
        struct uth_tls *volatile *in = &vp_run(ps_vp_at(id))->tls; /* the handler looks again */
        if (*in == block && ps_vp_at(id) != to && ps_load_acquire(vp_attached(ps_vp_at(id))))
            vp = ps_vp_at(id);
    }
    if (vp)
        directed_ask_to_move(block, NULL, vp, false);
    return vp != NULL;
}

/* --- P is roused --- */

/* What P is to take may be on its way from one kernel thread to the next. */
static bool is_wanted(const struct vp *vp, unsigned looks)
{
    return looks < ROUSED_LEAST || (os_signals_pending() & ~vp_run(vp)->deaf_mask);
}

/* Its thread is asked to move here; how long it may sleep. */
static int64_t ask_own_thread(struct vp *vp, unsigned looks)
{
    runs_elsewhere(vp_run(vp)->alone_for, vp);
    return looks < ROUSED_LOOKS ? ROUSED_LOOK_NS : ROUSED_LATE_NS;
}

int64_t directed_be_roused(struct vp *vp, unsigned looks)
{
    if (PS_LIKELY(!(ps_load_seq(&vp_run(vp)->lone) & PS_LONE_ROUSED)))
        return OS_FOREVER;
    bool is_in = cpu_get_tp() != vp_run(vp)->own_tp || come_in(vp, false);
    if (is_in || !is_wanted(vp, looks)) {
        if (is_in)
            ps_or_seq(&vp_run(vp)->lone, PS_LONE_SIGNALS);
        ps_and_seq(&vp_run(vp)->lone, (uint8_t)~PS_LONE_ROUSED);
        return OS_FOREVER;
    }
    return ask_own_thread(vp, looks);
}

int64_t directed_want_thread(struct vp *vp, unsigned looks)
{
    if (PS_LIKELY(!(ps_load_seq(&vp_run(vp)->lone) & PS_LONE_WANTS)))
        return OS_FOREVER;
    if (ps_team_rests(NULL, vp_run(vp)->alone_for)) { /* the thread begins the next region on P */
        ps_and_seq(&vp_run(vp)->lone, (uint8_t)~PS_LONE_WANTS);
        return OS_FOREVER;
    }
    return ask_own_thread(vp, looks);
}

/* `to` runs a thread that its own has called, in the block of that one. */
static bool carries_called_one(struct vp *to, const struct uth_tls *block)
{
    struct uth_tls *volatile *in = &vp_run(to)->tls;
    return *in != block;
}

/* --- the sender's side --- */

/* Until the state is another one, or the deadline. */
static uint32_t while_state(struct vp *vp, uint32_t state, uint64_t deadline_ns)
{
    uint32_t word = read_directed_word(vp);
    while (state_of(word) == state && os_now_ns() < deadline_ns) {
        os_park(&vp_directed(vp)->senders, word, DIRECTED_PAUSE_NS);
        word = read_directed_word(vp);
    }
    return state_of(word);
}

/* Counted in; what P answers, or EMPTY: nothing before the deadline (it may be in a handler, on its native stack). An
 * answer REFUSED is of before: P looks anew. */
static uint32_t come(struct vp *vp, uint64_t deadline_ns)
{
    while_state(vp, REFUSED, deadline_ns);
    uint32_t word = read_directed_word(vp), next;
    do
        next = state_of(word) | ((word + ONE_MORE) & COME) | ((word + 1) & SENDERS);
    while (!ps_cas_seq(&vp_directed(vp)->senders, &word, next));
    if (state_of(next) == EMPTY)
        ps_wake_alone(vp);
    return while_state(vp, EMPTY, deadline_ns);
}

static void leave(struct vp *vp)
{
    if (((ps_sub_seq(&vp_directed(vp)->senders, 1) - 1) & SENDERS) == 0)
        os_wake(&vp_directed(vp)->senders, INT_MAX);
}

void directed_wait_as_oneself(unsigned tries)
{
    if (tries == 0 && uth_tls_current())
        ps_promote();
}

int ps_promoted_signal(struct uth_tls *block, int number, int (*send)(int tid, const void *arg), const void *arg)
{
    struct vp *to = ps_promoted_vp(block);
    if (!to)
        return EAGAIN;
    int tid = ps_load_relaxed(&vp_run(to)->tid), error;
    if (ps_vp() == to) /* to itself */
        return send(tid, arg);
    uint64_t bit = number > 0 && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
    _Atomic uint32_t nobody_wakes = 0;
    unsigned absent = 0; /* neither saved nor running, so often in a row */
    uint64_t present_ns = os_now_ns();
    if (!(ps_load_relaxed(&vp_run(to)->lone) & PS_LONE_SIGNALS))
        ps_or_seq(&vp_run(to)->lone, PS_LONE_SIGNALS);
    uint64_t deadline_ns = present_ns + DIRECTED_TRIES_NS;
    for (unsigned tries = 0;; tries++) {
        uint32_t state = come(to, deadline_ns);
        bool called = state == RUNS && carries_called_one(to, block);
        uint64_t now_ns = os_now_ns();
        bool gone = absent >= ABSENCES && now_ns - present_ns >= ABSENT_NS;
        bool here = state == THERE || (state == RUNS && !called) || gone ||
                    (tries >= DIRECTED_TRIES_LEAST && now_ns >= deadline_ns);
        if (here) {
            ps_or_seq(&vp_directed(to)->signals_sent, bit);
            error = send(tid, arg);
        }
        leave(to);
        if (here)
            return error;
        directed_wait_as_oneself(tries);
        if (called)
            directed_ask_to_move(block, NULL, to, true);
        bool present = called || runs_elsewhere(block, to);
        absent = present ? 0 : absent + 1;
        if (present)
            present_ns = os_now_ns();
        os_park(&nobody_wakes, 0, DIRECTED_PAUSE_NS);
    }
}
