/* The list of places, and each thread's place. See place.h.
 *
 * Assignment, for a team of T members whose parent has place p of a partition of P places:
 *   primary  every member has p; the partition stays.
 *   close    member i has the i-th place from p on, counted around the partition, which stays. T > P: each place gets a
 *            run of T / P members; the last T % P members go one each to the places from p on. In a process linked to
 *            libomp T % P of the runs, evenly spaced, are one longer instead. round_robin: the (i % P)-th place.
 *   spread   T <= P: the partition is cut into T parts, the first P % T of them one place longer. Member i's partition
 *            is the i-th part from p's part on; its place is the part's first (member 0 keeps p). T > P: as close, each
 *            member with a partition of one place.
 *   true     as close.
 * A team of one has its parent's place. */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "env.h"
#include "ort.h"
#include "spelling.h"

/* The places that the environment asks for. Written whenever variables are read. */
static enum place_kind asked_kind;
static unsigned asked_count;
static struct ort_places asked_list;
static const char *asked_name = "OMP_PLACES";

static struct ort_places places;
static bool places_exist;
static os_once_flag once = OS_ONCE_INIT;

static bool (*asked_make)(struct ort_places *out);
static bool round_robin;     /* with P places for more members, member i has place i modulo P; false: as "close" */
static unsigned first_place; /* the initial thread's place, modulo the number of places */
static bool of_abi;          /* the places are from one runtime's own variable, whose policy has no name in OpenMP */
void (*ort_processors_hook)(void);

/* --- the environment --- */

/* Reads OMP_PROC_BIND into the settings. Returns false if it is not set, or cannot be read. */
static bool read_proc_bind(void)
{
    const char *name = ORT_ENV_NAME("OMP_PROC_BIND"), *text = os_env(name);
    if (text == NULL)
        return false;
    unsigned char *list = malloc(strlen(text) + 1);
    const char *fault = NULL;
    unsigned n = list == NULL ? 0 : spelling_policies(text, list, &fault);
    if (n == 0) {
        ps_warn("%s=\"%s\" is not false, true or a list of primary, close and spread; using the default instead", name,
                text);
        free(list);
        return false;
    }
    if (fault != NULL)
        ps_warn("%s=\"%s\": %s; using what stands before it instead", name, text, fault);
    ort_settings.bind = list[0] == ORT_BIND_TRUE && ort_env_as_libomp ? ORT_BIND_SPREAD : list[0];
    ort_settings.bind_list = list + 1;
    ort_settings.bind_rest = n - 1;
    return true;
}

/* Removes from each place the processors that the process's mask does not allow. Returns false if no place is left.
 * Otherwise prints a line if a place is lost; for libomp's programs also if only processors are lost. */
static bool cut_to_mask(struct ort_places *list)
{
    struct os_cpuset mask, set;
    struct place_builder left = {0};
    bool none_dropped = true;
    os_affinity_at_start(&mask);
    for (unsigned p = 0; p < list->n; p++) {
        os_cpuset_zero(&set);
        bool any = false;
        for (unsigned i = list->first[p]; i < list->first[p + 1]; i++)
            if (os_cpuset_has(&mask, list->cpu[i])) {
                os_cpuset_add(&set, list->cpu[i]);
                any = true;
            } else {
                none_dropped = false;
            }
        if (any && !place_append(&left, &set))
            break;
    }
    unsigned before = list->n;
    place_free(list);
    *list = left.list;
    if (list->n > 0 && list->n < before)
        ps_warn("%s: %u of %u places have no processor that this process may use; using the other %u instead",
                asked_name, before - list->n, before, list->n);
    else if (list->n > 0 && !none_dropped && ort_env_as_libomp)
        ps_warn("%s: places have processors that this process may not use; using the others instead", asked_name);
    return list->n > 0;
}

/* Reads the text of OMP_PLACES or GOMP_CPU_AFFINITY. Returns true if it gives places. ignore: only reports faults. */
static bool read_places(const char *name, const char *text, bool ignore)
{
    bool of_gomp = name[0] == 'G';
    const char *fault;
    asked_kind = PLACE_LIST;
    const char *p = text;
    if (of_gomp)
        fault = place_parse_proclist(&p, '\0', &asked_list);
    else
        fault = place_parse(text, &asked_kind, &asked_count, &asked_list);
    if (fault != NULL && ort_env_as_libomp && !of_gomp) {
        if (asked_kind == PLACE_LIST)
            asked_kind = PLACE_CORES;
        ps_warn("%s=\"%s\": %s; using %s instead", name, text, fault, place_names[asked_kind]);
    } else if (fault != NULL) {
        ps_warn("%s=\"%s\": %s; using no places instead", name, text, fault);
        return false;
    }
    asked_name = name;
    if (ignore) {
        place_free(&asked_list);
        return false;
    }
    if (asked_kind == PLACE_LIST && !cut_to_mask(&asked_list)) {
        ps_warn("%s=\"%s\": none of these processors may be used by this process; using no places instead", name, text);
        return false;
    }
    return true;
}

void ort_place_env_read(void)
{
    bool ignore = read_proc_bind() && ort_settings.bind == ORT_BIND_FALSE;
    const char *list = os_env("OMP_PLACES"), *cpus = os_env("GOMP_CPU_AFFINITY");
    /* To libomp GOMP_CPU_AFFINITY overrides OpenMP's variables. */
    if (ort_env_as_libomp && cpus != NULL && read_places("GOMP_CPU_AFFINITY", cpus, false)) {
        if (os_env("OMP_PLACES") != NULL || os_env("OMP_PROC_BIND") != NULL)
            ps_warn("OMP_PLACES and OMP_PROC_BIND do not count beside GOMP_CPU_AFFINITY; using \"%s\" instead", cpus);
        ort_settings.bind = ORT_BIND_CLOSE;
        of_abi = round_robin = true;
        return;
    }
    bool given = list != NULL && read_places("OMP_PLACES", list, ignore);
    if (!given && cpus != NULL && !ort_env_as_libomp)
        given = read_places("GOMP_CPU_AFFINITY", cpus, ignore);
    if (!given)
        asked_count = 0, asked_kind = ort_env_as_libomp ? PLACE_CORES : PLACE_THREADS;
    else if (ort_settings.bind == ORT_BIND_FALSE)
        ort_settings.bind = ort_env_as_libomp ? ORT_BIND_SPREAD : ORT_BIND_TRUE;
}

void ort_place_env_forget(void)
{
    place_free(&asked_list);
    asked_kind = PLACE_THREADS;
    asked_count = 0;
    asked_make = NULL;
    round_robin = of_abi = false;
    first_place = 0;
}

bool ort_places_of_abi(void) { return of_abi; }

const char *ort_places_name(void)
{
    if (ort_settings.bind == ORT_BIND_FALSE || asked_make != NULL || asked_kind == PLACE_LIST)
        return NULL;
    return place_names[asked_kind];
}

/* --- the list --- */

void ort_places_ask(bool (*make)(struct ort_places *out), bool round, unsigned first)
{
    round_robin = round;
    first_place = first;
    asked_make = make;
    of_abi = true;
    ort_settings.bind = ORT_BIND_CLOSE;
}

static void restrict_once(void)
{
    if (ort_processors_hook != NULL)
        ort_processors_hook();
}

void ort_processors_restrict(void)
{
    static os_once_flag once_restricted = OS_ONCE_INIT;
    os_once(&once_restricted, restrict_once);
}

static void make_place_list(void)
{
    struct os_topology machine;
    ort_processors_restrict();
    if (asked_make != NULL) {
        places_exist = asked_make(&places);
    } else if (asked_kind == PLACE_LIST) {
        places = asked_list;
        places_exist = true;
    } else if (os_topology_read(&machine) != ENOMEM) {
        places_exist = place_from_topology(&places, &machine, asked_kind, asked_count);
        os_topology_free(&machine);
    }
    if (places_exist)
        places_exist = ee_places(places.n, places.first, places.cpu);
    if (!places_exist)
        ps_warn("no memory for the places; threads are not bound");
}

const struct ort_places *ort_places(void)
{
    ort_env_ask();
    if (ort_settings.bind == ORT_BIND_FALSE)
        return NULL;
    os_once(&once, make_place_list);
    return places_exist ? &places : NULL;
}

/* --- each thread's place --- */

/* Returns the place that is `steps` places after `place`, counted around the partition. */
static unsigned around(const struct ort_place *in, unsigned place, unsigned steps)
{
    return in->first + (place - in->first + steps) % in->n;
}

/* Returns how many places member id's place is behind the parent's. (Policy "close", n places, `size` members.) */
static unsigned close_steps(unsigned n, unsigned size, unsigned id)
{
    if (size > n && round_robin)
        return id % n;
    if (size > n && ort_env_as_libomp) {
        unsigned longer = size % n, gap = longer > 0 ? n / longer : n, since = gap, place = 0;
        for (unsigned first = 0;; place++) {
            bool one_more = longer > 0 && since == gap;
            first += size / n + one_more;
            if (id < first)
                return place;
            longer -= one_more;
            since = one_more ? 1 : since + 1;
        }
    }
    unsigned run = size <= n ? 1 : size / n;
    return id < run * n ? id / run : id - run * n;
}

static struct ort_place spread(const struct ort_place *parent, unsigned size, unsigned id)
{
    unsigned n = parent->n;
    if (size > n) {
        unsigned place = around(parent, parent->place, close_steps(n, size, id));
        return (struct ort_place){.place = place, .first = place, .n = 1};
    }
    unsigned length = n / size, longer = n % size, at = parent->place - parent->first;
    unsigned part = at < longer * (length + 1) ? at / (length + 1) : (at - longer) / length;
    part = (part + id) % size;
    struct ort_place own = {.first = parent->first + part * length + (part < longer ? part : longer),
                            .n = length + (part < longer)};
    own.place = id == 0 ? parent->place : own.first;
    return own;
}

struct ort_place ort_place_of_member(const struct ort_place *parent, enum ort_bind bind, unsigned size, unsigned id)
{
    struct ort_place own = *parent;
    if (size <= 1)
        return own;
    switch (bind) {
    case ORT_BIND_TRUE:
    case ORT_BIND_CLOSE:
        own.place = around(parent, parent->place, close_steps(parent->n, size, id));
        return own;
    case ORT_BIND_SPREAD:
        return spread(parent, size, id);
    default:
        return own;
    }
}

/* Returns how many members from `id` on have the same place, or fewer, for a team as in ort_place_of_member. */
static unsigned same_place(const struct ort_place *parent, int8_t bind, unsigned size, unsigned id)
{
    bool spread_out = bind == ORT_BIND_TRUE || bind == ORT_BIND_CLOSE || bind == ORT_BIND_SPREAD;
    if (!spread_out || parent->n == 1)
        return size;
    unsigned run = size > parent->n && !round_robin && !ort_env_as_libomp ? size / parent->n : 1;
    return id < run * parent->n ? run : 1;
}

static struct ort_place place_of(const struct ort_thread *t, unsigned n)
{
    const struct ort_team *team = t->team;
    if (team->parent == NULL)
        return (struct ort_place){.place = first_place % n, .first = 0, .n = n};
    struct ort_place parent = place_of(team->parent, n);
    return ort_place_of_member(&parent, (enum ort_bind)team->bind, team->n, t->id);
}

bool ort_place_of(const struct ort_thread *t, struct ort_place *out)
{
    const struct ort_places *list = ort_places();
    if (list == NULL)
        return false;
    *out = place_of(t, list->n);
    return true;
}

static PS_NOINLINE void bind_members(struct ort_team *team, const struct ort_place *parent, int8_t bind, unsigned n)
{
    struct ort_place first = {0};
    bool scattered = false;
    for (unsigned id = 0; id < n;) {
        struct ort_place p = ort_place_of_member(parent, (enum ort_bind)bind, n, id);
        first = id == 0 ? p : first;
        scattered |= p.place != first.place;
        unsigned end = id + same_place(parent, bind, n, id);
        ee_members_bind(&team->ee, id, end, (int)p.place);
        id = end;
    }
    ee_team_bind(&team->ee, scattered ? EE_NO_PLACE : (int)first.place, scattered);
}

void ort_place_bind(struct ort_team *team, int8_t bind, unsigned n)
{
    const struct ort_places *list = ort_places();
    if (list == NULL || n == 1)
        return;
    struct ort_place parent = place_of(team->parent, list->n);
    struct ort_bound wanted = {.n = (ort_bound_number)n,
                               .place = (ort_bound_number)parent.place,
                               .first = (ort_bound_number)parent.first,
                               .places = (ort_bound_number)parent.n,
                               .bind = bind};
    const struct ort_bound *is = &team->bound;
    if (is->n == wanted.n && is->place == wanted.place && is->first == wanted.first && is->places == wanted.places &&
        is->bind == wanted.bind)
        return;
    team->bound = wanted;
    bind_members(team, &parent, bind, n);
}

/* --- processors --- */

static unsigned num_different(const struct ort_places *list)
{
    struct os_cpuset all;
    os_cpuset_zero(&all);
    for (unsigned i = 0; i < list->first[list->n]; i++)
        os_cpuset_add(&all, list->cpu[i]);
    return os_cpuset_count(&all);
}

/* The quota is read from files, and may change while the program runs. Programs ask often. So a value is used for a
 * second. The first thread that then finds it old reads it anew; others use the old value meanwhile. */
#define QUOTA_AGE_NS UINT64_C(1000000000)
static unsigned quota_lately(void)
{
    static _Atomic unsigned known; /* 1 + quota; 0: not read */
    static _Atomic uint64_t read_at;
    unsigned q = ps_load_relaxed(&known);
    uint64_t at = ps_load_relaxed(&read_at), now = os_now_ns();
    if (q == 0 || (now - at > QUOTA_AGE_NS && ps_cas_relaxed(&read_at, &at, now))) {
        q = os_cpu_quota() + 1;
        ps_store_relaxed(&known, q);
    }
    return q - 1;
}

unsigned ort_places_limit(void)
{
    bool counted = ort_env_as_libomp && asked_kind != PLACE_LIST && asked_count > 0 && asked_make == NULL;
    const struct ort_places *list = counted ? ort_places() : NULL;
    return list != NULL ? num_different(list) : 0;
}

unsigned ort_num_procs(const struct ort_thread *t)
{
    struct os_cpuset mask;
    unsigned limit = ort_places_limit();
    if (limit != 0)
        return limit;
    /* A member's kernel thread is the runtime's own, and a root's may be bound. So the mask at the start counts, not
     * the present one. */
    if (t->team->parent != NULL || ort_places() != NULL)
        os_affinity_at_start(&mask);
    else if (os_affinity_get(&mask) != 0)
        return os_num_procs();
    unsigned n = os_cpuset_count(&mask), quota = quota_lately();
    if (quota != 0 && quota < n)
        n = quota;
    return n == 0 ? 1 : n;
}
