/* The barrier of a team whose members have a vp each: rounds of flags, without a line that all members write.
 *
 * Does: members on processors of their own meet in the time in which one cache line moves. (The word of the central
 * barrier moves two or three times.)
 * Does not: block, count, serve tasks. A member that has to do any of these falls back to the word (team_barrier.c),
 * and then all others do.
 * Callers: an unfinished member of an open region, in its own name; the parent at the fork; the member that opens a
 * barrier by the word.
 *
 * A barrier has a number, which each member counts for itself. Round r has the distance d = 4^r. In round r member i
 * sets its flag, in a line of its own, to number * 4 + r. Then it waits until the members i - d, i - 2d and i - 3d
 * (modulo n) have set this flag or a later one. After round r a member knows that the 4^(r+1) - 1 members before it
 * have come. Flags only grow, so a late member sees that the others have gone on.
 *
 * Invariant: all members meet in rounds, or all meet by the word, as by_word says. Its states, how a barrier is
 * decided, and why no member passes by rounds where another has decided for the word: tests/models/team_rounds.md.
 *
 * Failures: the system may refuse the fence, if a sandbox was closed after the start. Then the member goes on waiting
 * and yields its processor, and the next regions meet by the word.
 * Cost: two members: one store, one line to fetch. More members: 3 lines a round, fetched at the same time.
 * Rejected: a counter whose last step opens the barrier (the line moves twice instead of once); a line for each pair.
 * Source: D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization, 1988 (dissemination, here with
 * four ways a round). */
#include "os.h"
#include "runtime.h"
#include "scheduler.h"
#include "team.h"

#define ROUND_BITS 2
#define WAYS 4
#define MOST_MEMBERS 64 /* so at most three rounds */
#define WORD_LEAST_MAX 256
#define PAID 32 /* how many barriers of rounds save as much as a fence costs */
#define PLAIN_LOOKS 8

/* The system has refused a fence. Relaxed: a thread that reads the change late is refused one more fence. */
static _Atomic bool refused;

static inline struct ps_member *member(const struct ps_team *team, unsigned id) { return ps_team_member(team, id); }

static bool has_come(const struct ps_team *team, unsigned id, uint64_t number)
{
    return ps_load_acquire(&member(team, id)->flag) >> ROUND_BITS >= number;
}

static bool all_have_come(const struct ps_team *team, uint64_t number)
{
    for (unsigned id = 0; id < team->n; id++)
        if (!has_come(team, id, number))
            return false;
    return true;
}

/* --- deciding --- */

/* Ends the rounds of the team. Another member may pass the barrier by rounds alone. Because of the fence the caller
 * then sees that member's flags. If the system refuses the fence, the rounds go on. The lock is held. */
static void leave_rounds_locked(struct ps_team *team, uint64_t number)
{
    uint32_t seen = PS_BY_ROUNDS;
    if (!ps_cas_seq(&team->by_word, &seen, PS_BY_NEITHER))
        return; /* the maker of the first task has set PS_BY_WORD meanwhile */
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

/* How a barrier goes on for a member: the barrier is over; the member has to arrive by the word; or the rounds go on.
 * impatient: the member has waited long enough, so the rounds are to end. */
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

static inline bool has_flag(const struct ps_team *team, unsigned id, uint64_t flag)
{
    return ps_load_acquire(&member(team, id)->flag) >= flag;
}

/* The caller waits until member id has set `flag` or a later one. False: the caller has to decide how the barrier goes
 * on. Sets *impatient if the caller has spun long enough, or if to spin is of no use (ps_spin_useful). */
static PS_NOINLINE bool await_flag(const struct ps_team *team, unsigned id, uint64_t flag, bool *impatient)
{
    const struct ps_member *m = member(team, id);
    for (unsigned i = 0, limit = ps_spin_limit() * PS_BARRIER_SPINS;; i++) {
        if (ps_load_acquire(&m->flag) >= flag)
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
    /* self->rounds is read, and not self->flag, whose line is in the other members' caches */
    uint64_t last = self->rounds, base = team->rounds_base;
    uint64_t number = (last > base ? last : base) + 1, flag = number << ROUND_BITS;
    self->rounds = number;
    unsigned n = team->n;
    for (unsigned distance = 1; distance < n; distance *= WAYS, flag++) {
        ps_store_release(&self->flag, flag);
        for (unsigned back = distance; back < n && back < WAYS * distance; back += distance) {
            unsigned other = id >= back ? id - back : id + n - back;
            while (!has_flag(team, other, flag)) {
                bool impatient = false;
                if (await_flag(team, other, flag, &impatient))
                    break;
                enum decision d = decide(team, number, impatient);
                if (d != WAIT_ON)
                    return d == OVER;
                if (impatient && !ps_yield())
                    os_yield();
            }
        }
    }
    /* This load comes after the acquire loads of the flags. So it sees what a member has stored into by_word before it
     * set its flag. */
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
    /* the parent has the largest number of all members, because it was in all regions */
    if (team->rounds_n != n) {
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
    if (ps_load_relaxed(&team->by_word) != PS_BY_WORD || team->n != team->rounds_n || ps_load_relaxed(&team->notified))
        return;
    if (somebody_blocked)
        team->word_runs = 0;
    else if (team->word_runs < team->word_least)
        team->word_runs++;
    if (team->word_runs >= team->word_least && possible(team->n))
        begin_rounds(team);
}
