/* A health system is simulated: villages in a tree, each with a hospital; SIZE steps of time; a task a village and
 * step. After the description of the Olden benchmark "health" (Rogers, Carlisle, Reppy, Hendren, TOPLAS 17(2), 1995)
 * and of its task version in Duran et al., ICPP 2009.
 *
 * People fall ill at random, wait for staff, are assessed, and are then treated, healed, or sent to the parent's
 * hospital. A village's step follows its children's, which may have sent patients up. Each village has a random number
 * generator of its own, and takes what its children sent in the children's order: every order of execution gives the
 * same history. */
#include "app.h"

enum { LEVELS = 5, BRANCHES = 4, POPULATION = 12, ASSESSMENT_STEPS = 3, TREATMENT_STEPS = 10 };
enum { PERCENT_ILL = 4, PERCENT_TREATED = 60, PERCENT_SENT_UP = 30 };

struct patient {
    struct patient *next;
    unsigned home, steps_left, steps_all, hospitals;
};

/* In the order of arrival. */
struct list {
    struct patient *first, **end;
};

struct village {
    unsigned id, level, free_staff;
    uint64_t random;
    struct list healthy, waiting, assessed, treated, sent_up;
    struct village *children[BRANCHES]; /* none at level 0 */
    struct patient people[POPULATION];
};

static struct village *top;
static unsigned num_villages, num_steps;
static struct village *all[10000];

static void list_clear(struct list *l) { l->first = NULL, l->end = &l->first; }

static void append(struct list *l, struct patient *p)
{
    p->next = NULL;
    *l->end = p;
    l->end = &p->next;
}

/* Everything that `from` holds goes to the end of `to`. */
static void append_all(struct list *to, struct list *from)
{
    if (!from->first)
        return;
    *to->end = from->first;
    to->end = from->end;
    list_clear(from);
}

static void village_clear(struct village *v)
{
    v->random = v->id;
    v->free_staff = 1u << v->level;
    list_clear(&v->healthy), list_clear(&v->waiting), list_clear(&v->assessed), list_clear(&v->treated),
        list_clear(&v->sent_up);
    for (unsigned i = 0; i < POPULATION; i++) {
        v->people[i] = (struct patient){.home = v->id};
        append(&v->healthy, &v->people[i]);
    }
}

static struct village *village_new(unsigned level)
{
    struct village *v = app_alloc(sizeof *v);
    v->level = level;
    v->id = num_villages;
    all[num_villages++] = v;
    for (unsigned i = 0; level > 0 && i < BRANCHES; i++)
        v->children[i] = village_new(level - 1);
    village_clear(v);
    return v;
}

static bool chance(struct village *v, unsigned percent) { return app_random(&v->random) % 100 < percent; }

/* Each of a list in turn: taken off, then put where it belongs. */
static void step_treated(struct village *v)
{
    struct list now = v->treated;
    if (!now.first)
        return;
    list_clear(&v->treated);
    for (struct patient *p = now.first, *next; p; p = next) {
        next = p->next;
        p->steps_all++;
        if (--p->steps_left) {
            append(&v->treated, p);
        } else {
            v->free_staff++;
            append(&v->healthy, p);
        }
    }
}

static void step_assessed(struct village *v)
{
    struct list now = v->assessed;
    if (!now.first)
        return;
    list_clear(&v->assessed);
    for (struct patient *p = now.first, *next; p; p = next) {
        next = p->next;
        p->steps_all++;
        if (--p->steps_left) {
            append(&v->assessed, p);
        } else if (chance(v, PERCENT_TREATED)) {
            p->steps_left = TREATMENT_STEPS;
            append(&v->treated, p);
        } else {
            v->free_staff++;
            append(v != top && chance(v, PERCENT_SENT_UP) ? &v->sent_up : &v->healthy, p);
        }
    }
}

static void step_waiting(struct village *v)
{
    while (v->waiting.first && v->free_staff) {
        struct patient *p = v->waiting.first;
        v->waiting.first = p->next;
        if (!p->next)
            v->waiting.end = &v->waiting.first;
        v->free_staff--;
        p->hospitals++;
        p->steps_left = ASSESSMENT_STEPS;
        append(&v->assessed, p);
    }
    for (struct patient *p = v->waiting.first; p; p = p->next)
        p->steps_all++;
}

static void step_healthy(struct village *v)
{
    struct list now = v->healthy;
    if (!now.first)
        return;
    list_clear(&v->healthy);
    for (struct patient *p = now.first, *next; p; p = next) {
        next = p->next;
        append(chance(v, PERCENT_ILL) ? &v->waiting : &v->healthy, p);
    }
}

/* After the children's steps. */
static void step_hospital(struct village *v)
{
    for (unsigned i = 0; i < BRANCHES && v->children[i]; i++)
        append_all(&v->waiting, &v->children[i]->sent_up);
    step_treated(v);
    step_assessed(v);
    step_waiting(v);
    step_healthy(v);
}

static void serial_step(struct village *v)
{
    for (unsigned i = 0; i < BRANCHES && v->children[i]; i++)
        serial_step(v->children[i]);
    step_hospital(v);
}

static void task_step(struct village *v)
{
    for (unsigned i = 0; i < BRANCHES && v->children[i]; i++) {
#pragma omp task firstprivate(i)
        task_step(v->children[i]);
    }
#pragma omp taskwait
    step_hospital(v);
}

static void setup(unsigned size)
{
    num_steps = size;
    if (!top) {
        num_villages = 1; /* number 0 stays free: a seed */
        top = village_new(LEVELS - 1);
    }
    for (unsigned i = 1; i < num_villages; i++)
        village_clear(all[i]);
}

static uint64_t serial(void)
{
    for (unsigned t = 0; t < num_steps; t++)
        serial_step(top);
    return 0;
}

static uint64_t parallel(void)
{
    for (unsigned t = 0; t < num_steps; t++)
        task_step(top);
    return 0;
}

static uint64_t result(void)
{
    uint64_t sum = 1;
    for (unsigned i = 1; i < num_villages; i++) {
        sum = app_fold(sum, all[i]->free_staff);
        sum = app_fold(sum, all[i]->random);
        for (unsigned k = 0; k < POPULATION; k++)
            sum = app_fold(sum, (uint64_t)all[i]->people[k].steps_all << 32 | all[i]->people[k].hospitals);
    }
    return sum;
}

static uint64_t tasks(void) { return (uint64_t)num_steps * (num_villages - 2); }

int main(int argc, char **argv)
{
    static const struct app app = {"health", 200, 1, 100000, setup, true, serial, parallel, result, NULL, tasks, NULL};
    return app_main(&app, argc, argv);
}
