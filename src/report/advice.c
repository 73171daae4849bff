/* The rules for advice: see advice.h. Each rule looks at one row (a source line) or at the whole profile. */
#include "advice.h"

#include <string.h>

#include "say.h"

/* What must be measured before a rule gives advice. A share is a part of all vps' time, unless another total is
 * named. */
static const struct {
    double run_ns; /* no rule gives advice for a shorter run: most of its time is the start of threads */
    /* small-tasks applies if there are at least many_tasks tasks, their mean is shorter than small_task_ns, and making
     * them (1 us each) costs at least small_tasks_share. */
    double small_task_ns, many_tasks, small_tasks_share;
    /* imbalance applies if the wait is at least `imbalance` of the region's time, and at least imbalance_share of all
     * time. In a program with tasks the members' own work must also be at least own_work of the region's time. */
    double imbalance, imbalance_share, own_work;
    double lock_share; /* lock applies if waits for the lock are at least this share */
    /* nesting-off applies if at least nested_regions regions of the row were inner ones, as many ran with one thread,
     * the row's regions took at least nested_wall of the run's time, and the efficiency is below nested_efficiency. */
    double nested_regions, nested_wall, nested_efficiency;
    /* inner-costs and short-regions are for regions shorter than short_region_ns. The overhead must be at least
     * `overhead` of the region's time, and at least overhead_share of all time. The rule imbalance does not apply to
     * such a short region: its members mostly wait for its start. */
    double overhead, overhead_share, short_region_ns;
    double serial_wall; /* serial-parts applies from this part of the run's time on */
} at = {
    .run_ns = 10e6,
    .small_task_ns = 1000,
    .many_tasks = 1000,
    .small_tasks_share = 0.02,
    .imbalance = 0.2,
    .imbalance_share = 0.05,
    .own_work = 0.2,
    .lock_share = 0.05,
    .nested_regions = 10,
    .nested_wall = 0.1,
    .nested_efficiency = 0.8,
    .overhead = 0.5,
    .overhead_share = 0.05,
    .short_region_ns = 20000,
    .serial_wall = 0.3,
};

static double part_of_all(const struct profile *p, double ns) { return p->capacity > 0 ? ns / p->capacity : 0; }

/* Returns a place for use in a sentence, shortened: names of C++ templates may have thousands of characters. */
static const char *say_place(char to[64], const struct place *place)
{
    snprintf(to, 64, "%.57s%s", place->brief, strlen(place->brief) > 57 ? "..." : "");
    return to;
}

/* Rules for a row. Each returns false if it has no advice; otherwise it fills in *a except rule and place. */

static bool has_small_tasks(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    double mean = r->tasks > 0 ? r->task_ns / r->tasks : 0;
    char place[64], each[16], many[24];
    if (r->tasks < at.many_tasks || mean >= at.small_task_ns || part_of_all(p, 1000 * r->tasks) < at.small_tasks_share)
        return false;
    a->number = mean;
    a->loss = 1000 * r->tasks;
    snprintf(a->text, sizeof a->text,
             "The tasks of %s take %s each, and there are %s: to make one costs about as much. Give each more to do: "
             "taskloop with grainsize, or no task below a certain size (clauses final, if).",
             say_place(place, r->place), say_ns(each, mean), say_count(many, r->tasks));
    return true;
}

/* Returns the time of the vps that the region's threads could use: the wall time times the threads, but at most times
 * the vps. It includes inner regions, though these have rows of their own. At least the row's own time. */
static double time_of_threads(const struct profile *p, const struct profile_row *r)
{
    double own = profile_row_time(r), threads = r->regions > 0 ? r->threads / r->regions : 0;
    double all = r->wall * (threads < p->vps ? threads : p->vps);
    return all > own ? all : own;
}

/* Members also wait for a member that starts late and has as much to do: that is no imbalance. So of the wait at most
 * `uneven` counts, by which the members' useful times differ. If a program has tasks, and the members themselves do
 * little, then the tasks are the work, and nothing is known of their balance. */
static bool has_imbalance(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    char place[64];
    double time = time_of_threads(p, r), wait = r->state[REC_IMBALANCE], uneven = r->longest - r->useful;
    wait = wait < uneven ? wait : uneven;
    if (r->regions == 0 || wait < at.imbalance * time || part_of_all(p, wait) < at.imbalance_share ||
        r->wall < at.short_region_ns * r->regions || (p->tasks > 0 && r->state[REC_USEFUL] < at.own_work * time))
        return false;
    a->number = wait / time;
    a->loss = wait;
    snprintf(a->text, sizeof a->text,
             "In the region of %s some threads have more to do than others, which wait for %.0f %% of its time. If it "
             "is a loop: try schedule(dynamic) or schedule(guided); else divide it into smaller parts, or tasks.",
             say_place(place, r->place), 100 * a->number);
    return true;
}

static bool has_lock(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    char place[64], waited[16];
    if (part_of_all(p, r->lock_ns) < at.lock_share)
        return false;
    a->number = part_of_all(p, r->lock_ns);
    a->loss = r->lock_ns;
    snprintf(a->text, sizeof a->text,
             "Threads waited %s, %.0f %% of all time, for the lock or critical section of %s. Hold it for less, give "
             "each part of the data a lock of its own, or use atomic or a reduction.",
             say_ns(waited, r->lock_ns), 100 * a->number, say_place(place, r->place));
    return true;
}

static bool has_nesting_off(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    char place[64], many[24];
    if (!p->nested_off || r->inner < at.nested_regions || r->serialized < at.nested_regions ||
        r->wall < at.nested_wall * p->wall || p->efficiency >= at.nested_efficiency)
        return false;
    a->number = r->serialized;
    a->loss = r->wall;
    snprintf(a->text, sizeof a->text,
             "The region of %s stands inside of another one and ran with one thread %s times, because nesting is off, "
             "while processors had nothing to do. Try OMP_MAX_ACTIVE_LEVELS=2.",
             say_place(place, r->place), say_count(many, r->serialized));
    return true;
}

/* Returns the part of a region's time, without sleep, that the runtime and the waits in barriers and joins take. */
static double overhead_of(const struct profile_row *r)
{
    double time = profile_row_time(r) - r->state[REC_PARKED];
    return time > 0 ? (r->state[REC_IN_RUNTIME] + r->state[REC_IMBALANCE]) / time : 0;
}

static bool costs_more(const struct profile *p, const struct profile_row *r)
{
    return r->regions > 0 && r->serialized < r->regions && r->wall / r->regions < at.short_region_ns &&
           overhead_of(r) >= at.overhead && part_of_all(p, overhead_of(r) * profile_row_time(r)) >= at.overhead_share;
}

static bool is_costly_inside(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    char place[64], each[16];
    if (!costs_more(p, r) || 2 * r->inner < r->regions)
        return false;
    a->number = overhead_of(r);
    a->loss = a->number * profile_row_time(r);
    snprintf(a->text, sizeof a->text,
             "The region of %s stands inside of another one and lasts %s; %.0f %% of its time go into its start and "
             "end. Let it run with one thread: num_threads(1), or the clause if with a size.",
             say_place(place, r->place), say_ns(each, r->wall / r->regions), 100 * a->number);
    return true;
}

static bool is_short(const struct profile *p, const struct profile_row *r, struct advice *a)
{
    char place[64], each[16];
    if (!costs_more(p, r) || 2 * r->inner >= r->regions)
        return false;
    a->number = overhead_of(r);
    a->loss = a->number * profile_row_time(r);
    snprintf(a->text, sizeof a->text,
             "The region of %s lasts %s; %.0f %% of its time go into its start and end. Make one region of several, or "
             "run it with one thread where there is little to do (clause if).",
             say_place(place, r->place), say_ns(each, r->wall / r->regions), 100 * a->number);
    return true;
}

/* Rules for the whole profile. They too return false if they have no advice, and otherwise fill in *a. */

static bool is_often_serial(const struct profile *p, struct advice *a)
{
    double serial = p->wall > 0 ? p->state[REC_SERIAL] / p->processes / p->wall : 0;
    if (p->vps <= p->processes || profile_has_roots(p) || serial < at.serial_wall)
        return false;
    a->number = serial;
    a->loss = (1 - p->serial_parts) * p->capacity;
    snprintf(a->text, sizeof a->text,
             "Outside of parallel regions one processor works alone, for %.0f %% of the run. Look there first: what "
             "is parallel cannot gain more than the rest.",
             100 * serial);
    return true;
}

static bool has_quota(const struct profile *p, struct advice *a)
{
    if (p->quota == 0 || p->quota * p->processes >= p->vps)
        return false;
    a->number = p->quota;
    a->loss = p->capacity;
    snprintf(a->text, sizeof a->text,
             "The system gives this program the time of %u processor%s (CPU quota of its control group), and it has "
             "%u virtual processors. Ask for a larger quota, or set OMP_NUM_THREADS=%u.",
             p->quota, p->quota == 1 ? "" : "s", p->vps, p->quota);
    return true;
}

static const struct {
    const char *name;
    bool (*of_row)(const struct profile *p, const struct profile_row *r, struct advice *a);
    bool (*of_all)(const struct profile *p, struct advice *a);
} rules[] = {
    {"cpu-quota", NULL, has_quota},
    {"serial-parts", NULL, is_often_serial},
    {"small-tasks", has_small_tasks, NULL},
    {"imbalance", has_imbalance, NULL},
    {"lock", has_lock, NULL},
    {"nesting-off", has_nesting_off, NULL},
    {"inner-costs", is_costly_inside, NULL},
    {"short-regions", is_short, NULL},
};

/* Inserts *a by its loss, the largest first. Keeps the ADVICE_MOST largest. */
static void insert_advice(struct advice *found, unsigned *num, const struct advice *a)
{
    unsigned i = *num;
    while (i > 0 && found[i - 1].loss < a->loss)
        i--;
    if (i == ADVICE_MOST)
        return;
    *num += *num < ADVICE_MOST;
    memmove(&found[i + 1], &found[i], (*num - 1 - i) * sizeof *found);
    found[i] = *a;
}

unsigned advice_find(const struct profile *p, struct advice found[ADVICE_MOST])
{
    unsigned num = 0;
    struct advice a = {0};
    if (p->wall < at.run_ns)
        return 0;
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
        a.rule = rules[i].name;
        a.place = NULL;
        if (rules[i].of_all && rules[i].of_all(p, &a))
            insert_advice(found, &num, &a);
        for (unsigned k = 0; k < p->num_rows && rules[i].of_row; k++) {
            a.place = p->row[k].place;
            if (!a.place->is_library && rules[i].of_row(p, &p->row[k], &a))
                insert_advice(found, &num, &a);
        }
    }
    return num;
}
