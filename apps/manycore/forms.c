/* The forms of parallelism (mc.h). The only file with pragmas.
 *
 * What a team uses stands near its master: a copy of the phase and of its block, the ticks of each thread, two buffers
 * (one where two do not fit). The master alone moves data: the transfer of the next stripe is begun before the team
 * works on this one. A buffer is filled again only after its last result was queued, and transfers of a cluster happen
 * in order. */
#include "mc.h"
#include "move.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline void omp_set_max_active_levels(int levels) { (void)levels; }
static inline void omp_set_dynamic(int dynamic) { (void)dynamic; }
#endif

enum { IN, OUT };
enum { CHUNKS = 8 }; /* for each thread, of dynamic and tasks */

struct team {
    struct mc_phase phase;
    enum mc_form form;
    unsigned first, step; /* stripes: this one, and from there on every `step`th one */
    unsigned threads;     /* that ticks has room for */
    unsigned buffers;
    char *common, *buffer[2];
    uint64_t ticks[];
};

static uint32_t rounded(uint32_t bytes) { return (bytes + 63) & ~63u; }

/* A team's place, for the largest of the phases; NULL: no room. */
static struct team *team_make(const struct mc_run *run)
{
    uint32_t head = rounded((uint32_t)(sizeof(struct team) + run->shape.team * sizeof(uint64_t)));
    uint32_t common = 0, bytes = 0;
    unsigned buffers = 2;

    for (unsigned i = 0; i < run->num_phases; i++) {
        const struct mc_phase *p = &run->phases[i];
        common = rounded(p->common_bytes) > common ? rounded(p->common_bytes) : common;
        bytes = rounded(p->bytes) > bytes ? rounded(p->bytes) : bytes;
    }
    struct team *t = move_take(head + common + 2 * bytes, run->remote);
    if (!t) {
        buffers = 1;
        t = move_take(head + common + bytes, run->remote);
    }
    if (!t)
        return NULL;
    memset(t, 0, head);
    t->form = run->shape.form;
    t->threads = run->shape.team;
    t->buffers = buffers;
    t->common = (char *)t + head;
    t->buffer[0] = t->common + common;
    t->buffer[1] = t->buffer[0] + (buffers == 2 ? bytes : 0);
    return t;
}

/* The outer thread's share of a phase. */
static void team_prepare(struct team *t, const struct mc_phase *phase, unsigned outer, unsigned outers)
{
    move_in(&t->phase, phase, sizeof *phase, 1, 0, 0);
    t->first = outer;
    t->step = outers;
    move_in(t->common, phase->common, phase->common_bytes, 1, 0, 0);
    move_mark(IN);
    move_wait(IN);
}

static void bring(struct team *t, unsigned stripe, char *buffer)
{
    t->phase.in(t->common, stripe, buffer);
    move_mark(IN);
}

/* By the master, before the team works on its stripe number `turn`: it is there, and the next one is under way. */
static void before_stripe(struct team *t, unsigned stripe, unsigned turn)
{
    if (turn == 0 || t->buffers == 1)
        bring(t, stripe, t->buffer[turn % 2]);
    move_wait(IN);
    if (t->buffers == 2 && stripe + t->step < t->phase.stripes)
        bring(t, stripe + t->step, t->buffer[(turn + 1) % 2]);
}

static void finish(void)
{
    move_mark(OUT);
    move_wait(OUT);
}

/* A step of a stripe that is there. */
struct part {
    struct team *team;
    char *buffer;
    unsigned stripe, step, units;
};

static void work(const struct part *p, unsigned thread, unsigned begin, unsigned end)
{
    struct team *t = p->team;
    uint32_t start = move_ticks();

    if (begin < end)
        t->phase.work(t->common, p->buffer, p->stripe, p->step, begin, end);
    t->ticks[thread] += move_ticks() - start;
}

/* Piece by piece, in turns with the others. In each round the threads have moved on by one: so no thread has the same
 * part of what repeats from round to round. */
static void work_in_turns(const struct part *p, unsigned thread, unsigned threads)
{
    struct team *t = p->team;
    uint32_t start = move_ticks();
    unsigned pieces = threads * t->phase.pieces, each = p->units / pieces, rest = p->units - each * pieces;
    unsigned place = thread;

    for (unsigned round = 0; round < pieces; round += threads) {
        unsigned piece = round + place, begin = piece * each + mc_least(piece, rest);
        if (each + (piece < rest))
            t->phase.work(t->common, p->buffer, p->stripe, p->step, begin, begin + each + (piece < rest));
        place = place + 1 == threads ? 0 : place + 1;
    }
    t->ticks[thread] += move_ticks() - start;
}

static void share(const struct part *p)
{
    unsigned thread = (unsigned)omp_get_thread_num(), threads = (unsigned)omp_get_num_threads();
    unsigned each = p->units / threads, rest = p->units - each * threads;
    unsigned begin = thread * each + mc_least(thread, rest);

    if (p->team->phase.pieces == 0)
        work(p, thread, begin, begin + each + (thread < rest));
    else
        work_in_turns(p, thread, threads);
#pragma omp barrier
}

static unsigned chunk_of(unsigned units)
{
    unsigned chunk = units / ((unsigned)omp_get_num_threads() * CHUNKS);

    return chunk ? chunk : 1;
}

static void share_dynamic(const struct part *p)
{
    unsigned units = p->units, chunk = chunk_of(units);

#pragma omp for schedule(dynamic)
    for (unsigned begin = 0; begin < units; begin += chunk)
        work(p, (unsigned)omp_get_thread_num(), begin, mc_least(begin + chunk, units));
}

static void share_tasks(const struct part *p)
{
    struct part part = *p;
    unsigned chunk = chunk_of(part.units);

#pragma omp single
    for (unsigned begin = 0; begin < part.units; begin += chunk) {
#pragma omp task firstprivate(part, begin, chunk)
        work(&part, (unsigned)omp_get_thread_num(), begin, mc_least(begin + chunk, part.units));
    }
}

/* By all threads of a team. */
static void team_stripes(struct team *t)
{
    struct part p = {.team = t, .stripe = t->first};

    for (unsigned turn = 0; p.stripe < t->phase.stripes; turn++, p.stripe += t->step) {
        p.buffer = t->buffer[turn % 2];
#pragma omp master
        before_stripe(t, p.stripe, turn);
#pragma omp barrier
        for (p.step = 0; p.step < t->phase.steps; p.step++) {
            p.units = t->phase.units(t->common, p.stripe, p.step);
            if (t->form == MC_DYNAMIC)
                share_dynamic(&p);
            else if (t->form == MC_TASKS)
                share_tasks(&p);
            else
                share(&p);
        }
#pragma omp master
        t->phase.out(t->common, p.stripe, p.buffer);
    }
#pragma omp master
    finish();
}

static void alone_stripes(struct team *t)
{
    struct part p = {.team = t, .stripe = t->first};

    for (unsigned turn = 0; p.stripe < t->phase.stripes; turn++, p.stripe += t->step) {
        p.buffer = t->buffer[turn % 2];
        before_stripe(t, p.stripe, turn);
        for (p.step = 0; p.step < t->phase.steps; p.step++)
            work(&p, 0, 0, t->phase.units(t->common, p.stripe, p.step));
        t->phase.out(t->common, p.stripe, p.buffer);
    }
    finish();
}

static void one_after(const struct mc_phase *phase, bool empty)
{
    if (phase->after && !empty)
        phase->after(phase->data);
}

/* Forms of one team. */
static void run_one_team(struct mc_run *run, struct team *t)
{
    for (unsigned i = 0; i < run->num_phases; i++) {
        if (!run->empty)
            team_prepare(t, &run->phases[i], 0, 1);
        if (run->shape.form == MC_SEQUENTIAL) {
            if (!run->empty)
                alone_stripes(t);
        } else if (run->shape.form == MC_CLUSTER) {
            bool empty = run->empty;
#pragma omp parallel num_threads(run->shape.team) proc_bind(master)
            if (!empty)
                team_stripes(t);
        } else {
            bool empty = run->empty;
#pragma omp parallel num_threads(run->shape.team)
            if (!empty)
                team_stripes(t);
        }
        one_after(&run->phases[i], run->empty);
    }
}

/* By each outer thread. */
static void run_outer(struct mc_run *run, struct team *t, bool bound)
{
    unsigned outer = (unsigned)omp_get_thread_num(), outers = (unsigned)omp_get_num_threads();
    unsigned threads = t->threads, num_phases = run->num_phases;
    bool empty = run->empty;

    for (unsigned i = 0; i < num_phases; i++) {
        const struct mc_phase *phase = &run->phases[i];
        if (!empty)
            team_prepare(t, phase, outer, outers);
        if (bound) {
#pragma omp parallel num_threads(threads) proc_bind(close)
            if (!empty)
                team_stripes(t);
        } else {
#pragma omp parallel num_threads(threads)
            if (!empty)
                team_stripes(t);
        }
        /* a team's barrier is its own: the phase is over when all teams are through */
        if (i + 1 < num_phases || (phase->after && !empty)) {
#pragma omp barrier
#pragma omp master
            one_after(phase, empty);
#pragma omp barrier
        }
    }
}

enum { MOST_OUTERS = 1024 };
static struct team *teams[MOST_OUTERS];

static void take_team(const struct mc_run *run) { teams[omp_get_thread_num()] = team_make(run); }

static bool all_teams(unsigned outers)
{
    for (unsigned i = 0; i < outers; i++)
        if (!teams[i])
            return false;
    return true;
}

static void run_teams(struct mc_run *run)
{
    if (run->shape.form == MC_NESTED) {
#pragma omp parallel num_threads(run->shape.outers)
        run_outer(run, teams[omp_get_thread_num()], false);
    } else {
#pragma omp parallel num_threads(run->shape.outers) proc_bind(spread)
        run_outer(run, teams[omp_get_thread_num()], true);
    }
}

/* Takes the teams' places, in the cluster that each will run in: a region of the same kind as the one to come. */
static unsigned take_teams(struct mc_run *run)
{
    unsigned outers = 1;

    memset(teams, 0, sizeof teams);
    if (run->shape.form <= MC_CLUSTER) {
        take_team(run);
    } else if (run->shape.form == MC_NESTED) {
#pragma omp parallel num_threads(run->shape.outers)
        {
            take_team(run);
#pragma omp single
            outers = (unsigned)omp_get_num_threads();
        }
    } else {
#pragma omp parallel num_threads(run->shape.outers) proc_bind(spread)
        {
            take_team(run);
#pragma omp single
            outers = (unsigned)omp_get_num_threads();
        }
    }
    return outers;
}

static void add_up(struct mc_run *run, const struct team *t)
{
    for (unsigned i = 0; i < t->threads; i++) {
        uint64_t ticks = t->ticks[i];
        run->work_least = run->threads && run->work_least < ticks ? run->work_least : ticks;
        run->work_most = run->work_most > ticks ? run->work_most : ticks;
        run->work_sum += ticks;
        run->threads++;
    }
    run->buffers = t->buffers;
}

bool mc_forms_run(struct mc_run *run)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(run->shape.form > MC_CLUSTER ? 2 : 1);
    run->threads = run->buffers = run->regions = 0;
    run->work_least = run->work_most = run->work_sum = 0;
    struct mc_run near = *run; /* in the scratchpad, not in main memory */
    unsigned outers = take_teams(&near);
    bool good = all_teams(outers);
    if (good) {
        uint64_t start = move_time();
        if (run->shape.form <= MC_CLUSTER)
            run_one_team(&near, teams[0]);
        else
            run_teams(&near);
        run->time = move_time() - start;
        run->regions = run->shape.form == MC_SEQUENTIAL ? 0 : run->num_phases;
        if (run->shape.form > MC_CLUSTER)
            run->regions = run->num_phases * outers + 1;
    } else {
        mc_wrong("the stripes of %u outer threads do not fit into %lu bytes near a team; a smaller --stripe may help",
                 outers, (unsigned long)move_room());
    }
    for (unsigned i = 0; i < MOST_OUTERS; i++) {
        if (!teams[i])
            continue;
        if (good)
            add_up(run, teams[i]);
        move_give(teams[i]);
    }
    return good;
}
