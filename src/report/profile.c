/* Sums of recordings, and efficiencies: see profile.h. */
#include "profile.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "memory.h"

/* --- adding recordings --- */

static bool is_same_place(const struct place *a, const struct place *b)
{
    if (a->file && b->file)
        return a->line == b->line && strcmp(a->file, b->file) == 0;
    return !a->file && !b->file && strcmp(a->brief, b->brief) == 0;
}

static struct profile_row *row_of(struct profile *p, const struct place *place)
{
    for (unsigned i = 0; i < p->num_rows; i++)
        if (is_same_place(p->row[i].place, place))
            return &p->row[i];
    p->row = memory_more(p->row, (p->num_rows + 1) * sizeof *p->row);
    struct profile_row *r = &p->row[p->num_rows++];
    memset(r, 0, sizeof *r);
    r->place = place;
    return r;
}

static double number_at(const _Atomic uint64_t *number) { return (double)ps_load_relaxed(number); }

static void add_sums(struct profile_row *r, const struct recording_sums *s, double ns, bool is_spare)
{
    for (unsigned i = 0; i < REC_STATES; i++)
        if (i != REC_PARKED || !is_spare)
            r->state[i] += number_at(&s->state[i]) * ns;
    r->regions += number_at(&s->regions);
    r->threads += number_at(&s->threads);
    r->inner += number_at(&s->inner);
    r->serialized += number_at(&s->serialized);
    r->wall += number_at(&s->wall) * ns;
    r->useful += number_at(&s->useful) * ns;
    r->longest += number_at(&s->longest) * ns;
    r->created += number_at(&s->created);
    r->tasks += number_at(&s->tasks);
    r->task_ns += number_at(&s->task_ticks) * ns;
    r->loops += number_at(&s->loops);
    r->iterations += number_at(&s->iterations);
    r->locks += number_at(&s->locks);
    r->lock_waits += number_at(&s->lock_waits);
    r->lock_ns += number_at(&s->lock_ticks) * ns;
    r->lock_held += number_at(&s->lock_held) * ns;
}

/* Returns whether all sums are zero: most codes do not occur on most tracks. */
static bool is_empty(const struct recording_sums *s)
{
    const _Atomic uint64_t *number = (const void *)s;
    for (size_t i = 0; i < sizeof *s / sizeof *number; i++)
        if (ps_load_relaxed(&number[i]) != 0)
            return false;
    return true;
}

double profile_size_end(unsigned size) { return size + 1 < PROFILE_SIZES ? pow(10, 3 + size) : 0; }

/* Adds the numbers of tasks by size. The recording's slots are powers of two of ticks; each counts for the size in
 * which its middle lies. */
static void add_sizes(struct profile *p, const struct recording_track *t, double ns)
{
    for (unsigned i = 0; i < REC_SIZES; i++) {
        unsigned size = 0;
        while (size + 1 < PROFILE_SIZES && exp2(i + 0.5) * ns >= profile_size_end(size))
            size++;
        p->sizes[size] += number_at(&t->task_sizes[i]);
    }
}

static bool was_outside(const struct recording_file *f, const struct recording_track *t)
{
    for (unsigned code = 0; code < f->num_codes; code++)
        if (ps_load_relaxed(&t->sums[code].state[REC_SERIAL]) > 0)
            return true;
    return ps_load_relaxed(&t->state) == REC_SERIAL;
}

/* Adds a track. is_spare: its vp is a spare or a guest, whose sleep wastes no processor and does not count. */
static void add_track(struct profile *p, struct places *places, const struct recording_file *f,
                      const struct recording_track *t, uint64_t end, bool is_spare)
{
    double ns = f->ns_per_tick;
    for (unsigned code = 0; code < f->num_codes; code++)
        if (!is_empty(&t->sums[code]))
            add_sums(row_of(p, places_find(places, f, code)), &t->sums[code], ns, is_spare);
    uint64_t last = ps_load_relaxed(&t->last);
    unsigned state = ps_load_relaxed(&t->state), code = ps_load_relaxed(&t->code);
    uint64_t over = ps_load_relaxed(&t->wait_over); /* recording.h: struct recording_track */
    if (state >= REC_IMBALANCE && state <= REC_OUTSIDE && over >= last && over < end) {
        row_of(p, places_find(places, f, code))->state[state] += (double)(over - last) * ns;
        last = over, state = REC_PARKED, code = 0;
    }
    if (last > 0 && last < end && state < REC_STATES && (state != REC_PARKED || !is_spare))
        row_of(p, places_find(places, f, code))->state[state] += (double)(end - last) * ns;
    add_sizes(p, t, ns);
    for (unsigned i = 0; i < REC_DISTANCES; i++)
        p->steals[i] += number_at(&t->steals[i]);
    p->parks += number_at(&t->parks);
    p->spares += number_at(&t->spares);
}

static uint64_t ticks_now(const struct recording_file *f)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return ns > f->first_ns ? f->first_ticks + (uint64_t)((double)(ns - f->first_ns) / f->ns_per_tick) : f->first_ticks;
}

void profile_add(struct profile *p, struct places *places, const struct recording_file *f, bool live)
{
    const struct recording *h = f->head;
    bool ended = ps_load_relaxed(&h->ended_ticks);
    uint64_t end = live && !ended ? ticks_now(f) : recording_file_end(f);
    double wall = end > f->first_ticks ? (double)(end - f->first_ticks) * f->ns_per_tick : 0;
    unsigned threads = 0;
    for (unsigned i = 0; i < f->num_tracks; i++) {
        const struct recording_track *t = recording_file_track(f, i);
        if (!t)
            continue;
        threads += i + 1 < f->num_tracks;
        p->roots += was_outside(f, t);
        add_track(p, places, f, t, end, h->num_vps > 0 && i >= h->num_vps);
    }
    unsigned vps = h->num_vps ? h->num_vps : threads;
    if (p->processes++ == 0) {
        p->command = memory_text("%s", recording_file_text(f, h->command_at));
        p->pid = h->pid;
        p->processors = h->num_processors;
    }
    p->running += live && !ended;
    p->cut += !live && !ended;
    p->nested_off |= h->nested_off != 0;
    p->vps += vps;
    p->vps_time += wall * vps;
    p->wall = wall > p->wall ? wall : p->wall;
}

/* --- efficiencies --- */

double profile_row_time(const struct profile_row *r)
{
    double time = 0;
    for (unsigned i = 0; i < REC_STATES; i++)
        time += r->state[i];
    return time;
}

static int by_time(const void *a, const void *b)
{
    double x = profile_row_time(a), y = profile_row_time(b);
    return (x < y) - (x > y);
}

/* Subtracts a loss from *left. Returns the part of *left that remains, 0 to 1; 1 if nothing was left. */
static double take_loss(double *left, double loss)
{
    if (*left <= 0)
        return 1;
    loss = loss < *left ? loss : *left;
    double stays = (*left - loss) / *left;
    *left -= loss;
    return stays;
}

/* Computes the efficiencies as defined by the POP project. Each one is the part of the time that remains after one kind
 * of loss. Their product is the useful part of the capacity. While one vp runs a serial part, the other vps sleep or
 * search for work: that is a loss of the serial part. */
static void find_efficiency(struct profile *p)
{
    const double *s = p->state;
    bool alone = !profile_has_roots(p);
    double useful = s[REC_USEFUL] + (alone ? s[REC_SERIAL] : 0), waits = s[REC_IMBALANCE] + s[REC_TASKS] + s[REC_LOCKS];
    p->capacity = p->vps_time;
    if (!alone)
        p->capacity = useful + waits + s[REC_OUTSIDE] + s[REC_IN_RUNTIME];
    double left = p->capacity > useful ? p->capacity : useful, whole = left;
    double others = p->vps > p->processes ? (double)(p->vps - p->processes) / p->processes : 0;
    double idle = whole - useful - waits - s[REC_OUTSIDE], serial = alone ? s[REC_SERIAL] * others : 0;
    p->serial_parts = take_loss(&left, serial < idle ? serial : idle > 0 ? idle : 0);
    p->balance = take_loss(&left, s[REC_IMBALANCE]);
    p->waiting = take_loss(&left, s[REC_TASKS] + s[REC_LOCKS]);
    p->communication = take_loss(&left, s[REC_OUTSIDE]);
    p->runtime = left > 0 && useful < left ? useful / left : 1;
    p->efficiency = whole > 0 ? useful / whole : 1;
}

bool profile_has_roots(const struct profile *p) { return p->roots > p->processes; }

void profile_finish(struct profile *p)
{
    for (unsigned i = 0; i < p->num_rows; i++) {
        const struct profile_row *r = &p->row[i];
        for (unsigned k = 0; k < REC_STATES; k++)
            p->state[k] += r->state[k];
        p->tasks += r->tasks;
        p->task_ns += r->task_ns;
    }
    if (p->num_rows > 0)
        qsort(p->row, p->num_rows, sizeof *p->row, by_time);
    find_efficiency(p);
}

void profile_free(struct profile *p)
{
    free(p->command);
    free(p->row);
}
