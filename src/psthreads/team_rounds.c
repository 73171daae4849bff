/* The barrier of a team whose members have a vp each: rounds of signals, without a line that all write.
 *
 * Does: lets members on processors of their own meet in the time that a line takes to move, where a word that they
 * count in moves two or three times. Does not: block, count, serve tasks; whoever has to do any of that falls back to
 * the word (team_barrier.c), and all others with it.
 * Callers: an unfinished member of an open region, in its own name; the parent at the fork; who opens a barrier by the
 * word.
 *
 * A barrier has a number, counted up by each member for itself. In its rounds 0, 1, ... member i gives signal number *
 * 4 + round in a line of its own, then waits for the same signal, or a later one, of the members i - d, i - 2d, i - 3d
 * (modulo n), d being 4 to the power of the round: behind round r a member knows of the 4^(r+1) - 1 before it that they
 * have come. Up to four members have one round in which each looks at all others. Signals only grow, so who is late
 * sees that it is not waited for any more.
 *
 * by_word says how members meet: PS_BY_ROUNDS -> NEITHER -> WORD, or back where no fence is to be had; WORD at once by
 * who makes the region's first task, or by the parent that has not found a vp for each; WORD -> ROUNDS by who opens a
 * barrier by the word, or by the parent at the fork. A barrier is met by all in rounds or by all by the word. Who must
 * not wait any longer, or sees that it is not ROUNDS, decides under rounds_lock:
 *   word_from is set and not above the barrier's number: by the word
 *   all have given a signal of this number: it is over, for everybody
 *   else: word_from becomes the number, hence by the word
 * What is decided under the lock holds: signals do not go back, and word_from stays while anybody may ask. What could
 * go wrong is a member F that passes by its rounds alone, although S has decided for the word. F has seen signals of
 * this number from all, directly or from members that had, and ROUNDS behind them. S has not seen the signal of some
 * member X.
 *   S, or whoever decided before, was impatient: it set NEITHER, then made a fence in every thread (os_fence_all), then
 *     looked. In F the fence came behind its look at by_word: then what F had seen before is seen by S, X's signal too.
 *     Or before that look: then it has seen NEITHER.
 *   The first task, or the parent at the fork: whoever set WORD is a member in its body, which has not given this
 *     signal and will not, since it sees its own WORD first. There X is that member, and F cannot have seen its signal.
 *     No fence is needed.
 * A barrier before that one, which some have passed and a late one has not: all have given its signal, and who passed
 * it saw them. So the late one sees them too: the lock's last holder, or whoever set WORD, has.
 * WORD -> ROUNDS: who opens a barrier by the word is the only member that does not wait in it, and at the fork there is
 * none, so nobody is in the middle of the above. Numbers behind it begin above all that were given (rounds_base), as a
 * member may have given a signal of word_from, and another not.
 *
 * When the word is better: the members' times differ by more than a spin's patience, again and again, so that each
 * barrier would need the fence. After so many barriers in which nobody blocked (word_least, doubled by each that turns
 * out badly soon) it is rounds again.
 *
 * Failures: a fence refused, for which a sandbox would have had to be closed behind our back: the member waits on,
 * yielding its processor, and the next regions meet by the word. Cost: n = 2: one store, one line to fetch. Else 3
 * lines a round, fetched at a time. tests/models/team_rounds.pml has the decision, and what happens where a step is
 * missing.
 * Rejected: a counter that opens the barrier by itself at its last step (two moves of the line instead of one); a line
 * for each pair. D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization, 1988 (dissemination, two
 * ways a round). DESIGN section 4. */
#include "check.h"
#include "vp.h"

#define ROUND_BITS 2
#define WAYS 4
#define MOST_MEMBERS 64 /* three rounds */
#define WORD_LEAST_MAX 256
#define PAID 32 /* barriers of rounds that are worth a fence */
#define PLAIN_LOOKS 8

static _Atomic bool refused; /* a fence; relaxed: who reads it late has one more refused */

static inline struct ps_member *member(const struct ps_team *team, unsigned id) { return ps_team_member(team, id); }

static bool has_come(const struct ps_team *team, unsigned id, uint64_t number)
{
    return ps_load_acquire(&member(team, id)->signal) >> ROUND_BITS >= number;
}

static bool all_have_come(const struct ps_team *team, uint64_t number)
{
    for (unsigned id = 0; id < team->n; id++)
        if (!has_come(team, id, number))
            return false;
    return true;
}

/* --- deciding --- */

/* Nobody passes by rounds alone whom the caller would not see. The lock is held. */
static void leave_rounds_locked(struct ps_team *team, uint64_t number)
{
    uint32_t seen = PS_BY_ROUNDS;
    if (!ps_cas_seq(&team->by_word, &seen, PS_BY_NEITHER))
        return; /* the first task's WORD came meanwhile */
    seen = PS_BY_NEITHER;
    bool made = os_fence_all();
    if (!made)
        ps_store_relaxed(&refused, true);
    ps_cas_seq(&team->by_word, &seen, made ? PS_BY_WORD : PS_BY_ROUNDS);
    unsigned least = number - team->rounds_left_at >= PAID ? 1 : 2u * team->word_least + 1;
    team->word_least = (uint16_t)(least < WORD_LEAST_MAX ? least : WORD_LEAST_MAX);
    team->word_runs = 0;
    team->rounds_left_at = number;
}

enum decision { OVER, BY_WORD, WAIT_ON };

static PS_NOINLINE enum decision decide(struct ps_team *team, uint64_t number, bool impatient)
{
    enum decision d = BY_WORD;
    ps_spin_lock(&team->rounds_lock);
    if (impatient && !ps_load_relaxed(&refused))
        leave_rounds_locked(team, number);
    if (ps_load_seq(&team->by_word) == PS_BY_ROUNDS)
        d = WAIT_ON;
    else if (team->word_from == 0 || number < team->word_from) {
        if (all_have_come(team, number))
            d = OVER;
        else
            team->word_from = number;
    }
    ps_spin_unlock(&team->rounds_lock);
    return d;
}

/* --- the rounds --- */

static inline bool has_signalled(const struct ps_team *team, unsigned id, uint64_t signal)
{
    return ps_load_acquire(&member(team, id)->signal) >= signal;
}

/* Waits for a signal of member id. False: it is time to decide. */
static PS_NOINLINE bool await_signal(const struct ps_team *team, unsigned id, uint64_t signal, bool *impatient)
{
    const struct ps_member *m = member(team, id);
    for (unsigned i = 0, limit = ps_spin_limit() * PS_BARRIER_PATIENCE;; i++) {
        if (ps_load_acquire(&m->signal) >= signal)
            return true;
        if (ps_load_relaxed(&team->by_word) != PS_BY_ROUNDS)
            return false;
        if (i >= limit || (i % 16 == 15 && !ps_spin_useful())) {
            *impatient = true;
            return false;
        }
        if (i >= PLAIN_LOOKS)
            cpu_pause();
    }
}

bool ps_team_rounds_meet(struct ps_team *team, unsigned id)
{
    struct ps_member *self = member(team, id);
    uint64_t last = self->rounds, base = team->rounds_base; /* its own signal is in the others' caches */
    uint64_t number = (last > base ? last : base) + 1, signal = number << ROUND_BITS;
    self->rounds = number;
    unsigned n = team->n;
    for (unsigned distance = 1; distance < n; distance *= WAYS, signal++) {
        ps_store_release(&self->signal, signal);
        for (unsigned back = distance; back < n && back < WAYS * distance; back += distance) {
            unsigned other = id >= back ? id - back : id + n - back;
            while (!has_signalled(team, other, signal)) {
                bool impatient = false;
                if (await_signal(team, other, signal, &impatient))
                    break;
                enum decision d = decide(team, number, impatient);
                if (d != WAIT_ON)
                    return d == OVER;
                if (impatient && !ps_yield())
                    os_yield();
            }
        }
    }
    /* Behind the signals' acquiring loads. */
    return PS_LIKELY(ps_load_acquire(&team->by_word) == PS_BY_ROUNDS) || decide(team, number, false) != BY_WORD;
}

/* --- where a region or a barrier by the word begins or ends --- */

static void begin_rounds(struct ps_team *team)
{
    if (team->word_from != 0)
        team->rounds_base = team->word_from;
    team->word_from = 0;
    ps_update_relaxed(&team->by_word, PS_BY_ROUNDS);
}

static bool possible(unsigned n)
{
    return n <= MOST_MEMBERS && ps_spin_limit() != 0 && !ps_load_relaxed(&refused) && os_fence_all_ready();
}

void ps_team_rounds_fork(struct ps_team *team, unsigned n)
{
    if (team->rounds_n != n) { /* members who were not there have smaller numbers; the parent has been in all regions */
        uint64_t own = member(team, 0)->rounds;
        team->rounds_base = own > team->rounds_base ? own : team->rounds_base;
        team->rounds_n = n;
    }
    if (team->word_runs < team->word_least || !possible(n)) {
        ps_team_rounds_none(team);
        return;
    }
    begin_rounds(team);
}

void ps_team_rounds_release(struct ps_team *team, bool somebody_blocked)
{
    if (ps_load_relaxed(&team->by_word) != PS_BY_WORD || team->n != team->rounds_n ||
        ps_load_relaxed(&team->interrupted))
        return;
    if (somebody_blocked)
        team->word_runs = 0;
    else if (team->word_runs < team->word_least)
        team->word_runs++;
    if (team->word_runs >= team->word_least && possible(team->n))
        begin_rounds(team);
}
