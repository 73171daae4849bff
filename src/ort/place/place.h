/* Places: sets of processors that OpenMP threads are bound to, and the place of each thread.
 *
 * Does: reads OMP_PLACES, OMP_PROC_BIND and GOMP_CPU_AFFINITY, and keeps the list of places. Computes for any thread
 * its place and its place partition. Tells the entities before a region in which places its members belong. Does not:
 * move anything, which the entities do (ee.h). For an initial thread OpenMP's routines report the first place, or the
 * one that ort_places_ask was given. The kernel thread of an initial thread is bound in active regions only, and has
 * its own mask outside of them: a kernel thread that the program makes there inherits this mask.
 * Callers: of the functions that read variables or ask for places: the start of the library, and the thread that reads
 * variables again; of all others: any thread.
 *
 * Shared fields: the list is written once, and then only read; os_once orders this. It is written while the library is
 * loaded, or at the first need (names such as "cores" need the topology).
 * A thread's place is computed from the policies, sizes and numbers of the regions from the root inwards. Nothing is
 * stored for each thread, so regions cost nothing while the program does not ask. Asking costs one step for each level.
 * Binding costs the same, and one step for each member if something has changed since the team's last region.
 * Failures: if a variable cannot be read, one line is printed. OMP_PLACES then counts as not set. For libomp's programs
 * it counts as the name with which it begins, or as "cores" if it begins with none. Without memory one line is printed,
 * and there are no places. Rejected: a bit mask for each place, which takes 512 bytes where most places are one
 * processor. OpenMP 5.2 sections 10.1.3, 21.1.5, 21.1.6; where a section leaves a choice, libgomp's is taken. */
#ifndef PS_ORT_PLACE_H
#define PS_ORT_PLACE_H

#include "icv.h"
#include "os.h"

struct ort_team;
struct ort_thread;

struct ort_places {
    unsigned n;
    unsigned *first; /* [n + 1]: place p is cpu[first[p]] .. cpu[first[p + 1] - 1] */
    unsigned *cpu;   /* ascending within a place; NULL: cpu[i] would be i (see os_topology) */
};
static inline unsigned ort_place_cpu(const struct ort_places *list, unsigned i)
{
    return list->cpu != NULL ? list->cpu[i] : i;
}

/* Reads OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY, and sets bind, bind_list and bind_rest of the settings. Called
 * while the library is loaded, and when variables are read again. */
void ort_place_env_read(void);
/* Forgets the places that were asked for. Called before variables are read again, and for a KMP_AFFINITY that binds no
 * thread. The list has not been made yet. */
void ort_place_env_forget(void);
/* Asks for places that an ABI's own variable (KMP_AFFINITY) describes; they replace those of OpenMP's variables. The
 * caller has decided which variable counts. Called while the library is loaded, and when variables are read again.
 * `make` makes the list at the first need; it returns false if there is no memory. round matters in a team of more
 * members than there are places, P. true: member i has the place that is i modulo P behind the parent's. false:
 * neighbours share a place. first: the initial thread's place, modulo the number of places. */
void ort_places_ask(bool (*make)(struct ort_places *out), bool round, unsigned first);
/* ort_processors_restrict calls the hook once, before processors are counted. The hook takes processors away from the
 * process (os_affinity_narrow). Set while the library is loaded; NULL: nothing to do. */
extern void (*ort_processors_hook)(void);
void ort_processors_restrict(void);
/* Returns the places of the process; NULL: there are none, so threads are not bound. */
const struct ort_places *ort_places(void);

/* Returns the name that the places have in OMP_PLACES, given or by default. NULL: there are no places, or they are from
 * a list or from an ABI's own variable. */
const char *ort_places_name(void);

/* A thread's place, and the partition [first, first + n) that is divided among the members of its regions. */
struct ort_place {
    unsigned place, first, n;
};
/* Stores t's place in *out, and returns true. Returns false if there are no places. */
bool ort_place_of(const struct ort_thread *t, struct ort_place *out);
/* Returns the place of member `id` of a team of `size` members, whose parent has the place and partition *parent. */
struct ort_place ort_place_of_member(const struct ort_place *parent, enum ort_bind bind, unsigned size, unsigned id);

/* Tells the entities the places of the n members of the team's next region, by policy `bind`. Called by the team's
 * parent before ee_team_reserve, and again if that grants fewer members. If nothing has changed since the last call, it
 * only compares. For n 1, and without places, it does nothing. */
void ort_place_bind(struct ort_team *team, int8_t bind, unsigned n);

/* Returns whether the places are from a variable of an ABI's own (KMP_AFFINITY; for libomp's programs also
 * GOMP_CPU_AFFINITY). */
bool ort_places_of_abi(void);
/* For libomp's programs that give a number of places, as in "cores(4)": returns how many processors these places have,
 * which libomp takes for the whole machine. Otherwise returns 0. */
unsigned ort_places_limit(void);
/* Returns how many processors t may use, for omp_get_num_procs. */
unsigned ort_num_procs(const struct ort_thread *t);

/* --- for place.c, place_parse.c and the ABIs; only the caller accesses what it passes --- */

struct place_builder {
    struct ort_places list;
    unsigned places_max, cpus_max;
};
/* Appends a place. Returns false if there is no memory, or if there are PLACE_MAX places. */
bool place_append(struct place_builder *b, const struct os_cpuset *set);
void place_free(struct ort_places *list);
#define PLACE_MAX 65536u

enum place_kind { PLACE_THREADS, PLACE_CORES, PLACE_LL_CACHES, PLACE_NUMA_DOMAINS, PLACE_SOCKETS, PLACE_LIST };
extern const char *const place_names[PLACE_LIST];
/* Reads the text of OMP_PLACES. For a list sets *kind to PLACE_LIST, and *list; for a name sets *kind, and *count to
 * the number of places, 0: all. Returns NULL, or a message why it cannot be read. */
const char *place_parse(const char *text, enum place_kind *kind, unsigned *count, struct ort_places *list);
/* Reads a list of processors, as GOMP_CPU_AFFINITY and KMP_AFFINITY have it, from *p to the character `end`, at which
 * it leaves *p. The list has numbers and spans, in which each processor is a place, and sets in braces, each of which
 * is a place. Commas may be left out. Returns NULL, or a message why the list cannot be read. */
const char *place_parse_proclist(const char **p, char end, struct ort_places *list);
/* Makes the first `count` places (0: all) of that kind, for the given machine. Returns false if there is no memory. */
bool place_from_topology(struct ort_places *out, const struct os_topology *machine, enum place_kind kind,
                         unsigned count);

#endif
