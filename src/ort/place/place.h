/* Places: sets of processors that OpenMP threads are bound to, and which place each thread has.
 *
 * Does: reads OMP_PLACES, OMP_PROC_BIND and GOMP_CPU_AFFINITY, and keeps the list of places. Computes for any thread
 * its place and its place partition. Tells the entities before a region where its members belong. Does not: move
 * anything, which the entities do (ee.h). An initial thread has the first place as far as the routines go. Its kernel
 * thread is bound in active regions only, and has its own mask outside. A kernel thread that the program makes there
 * would else inherit a narrower mask.
 * Callers: ort_place_env_read while the library is loaded; the others anywhere.
 *
 * Shared fields: the list is written once, while the library is loaded or at the first need (names such as "cores" want
 * the topology), then read only; os_once orders it.
 * A thread's place is a pure function of the bind policies, sizes and numbers from the root inwards. Nothing is stored
 * for each thread, so regions pay nothing while the program does not ask. Cost of asking: one step for each level; of
 * binding: the same, and one for each member where something has changed since the team's last region.
 * Failures: a variable that cannot be read: one line, and there are no places; no memory: the same.
 * Rejected: one bit mask a place: 512 bytes each, where most places are one processor.
 * OpenMP 5.2 sections 10.1.3, 21.1.5, 21.1.6; where a section leaves the choice, libgomp's. */
#ifndef PS_ORT_PLACE_H
#define PS_ORT_PLACE_H

#include "icv.h"
#include "os.h"

struct ort_team;
struct ort_thread;

struct ort_places {
    unsigned n;
    unsigned *first; /* [n + 1]: place p has processors cpu[first[p]] .. cpu[first[p + 1] - 1] */
    unsigned *cpu;   /* ascending within a place */
};

/* Reads OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY: sets bind, bind_list and bind_rest of the settings. Once,
 * while the library is loaded. */
void ort_place_env_read(void);
/* Called before the variables are read again: forgets which places were asked for. None have been made yet. */
void ort_place_env_forget(void);
/* Asks for the places that another variable than OpenMP's names (KMP_AFFINITY); called while the library is loaded.
 * They are made at the first need. OpenMP's variables, where given, are stronger (the caller has looked). make returns
 * false: no memory. round: where there are more members than places, the further members begin the list again; else
 * neighbours share a place. first: the initial thread's place, modulo the number of places. */
void ort_places_ask(bool (*make)(struct ort_places *out), bool round, unsigned first);
/* Set while the library is loaded: takes processors away from the process (os_affinity_narrow), once, before they are
 * counted. NULL: nothing to do. */
extern void (*ort_processors_hook)(void);
void ort_processors_restrict(void);
/* Returns the places of the process; NULL: none (threads are not to be bound). */
const struct ort_places *ort_places(void);

/* Returns the name by which the places were asked for (or that they have by default); NULL: a list was given, or there
 * are no places. */
const char *ort_places_name(void);

/* A thread's place, and the partition [first, first + n) that its regions divide. */
struct ort_place {
    unsigned place, first, n;
};
/* false: there are no places. */
bool ort_place_of(const struct ort_thread *t, struct ort_place *out);
/* Returns the place of member `id` of a team of `size` whose parent has *parent. */
struct ort_place ort_place_of_member(const struct ort_place *parent, enum ort_bind bind, unsigned size, unsigned id);

/* Binds the n members of the team's next region as `bind` says, before the entities are asked for them; the team's
 * parent is set. Cheap where all is as it was. */
void ort_place_bind(struct ort_team *team, int8_t bind, unsigned n);

/* Whether the places were asked for by a variable of an ABI's own. */
bool ort_places_of_abi(void);
/* How many processors there are in places whose number was given, which libomp takes for the machine; 0: no number was
 * given. */
unsigned ort_places_limit(void);
/* Returns how many processors t may use, as far as OpenMP goes. */
unsigned ort_num_procs(const struct ort_thread *t);

/* --- between place.c and its parts; no thread but the caller sees *out --- */

struct place_builder {
    struct ort_places list;
    unsigned places_max, cpus_max;
};
/* Appends a place; false: no memory, or more than PLACE_MAX. */
bool place_append(struct place_builder *b, const struct os_cpuset *set);
void place_free(struct ort_places *list);
#define PLACE_MAX 65536u

enum place_kind { PLACE_THREADS, PLACE_CORES, PLACE_LL_CACHES, PLACE_NUMA_DOMAINS, PLACE_SOCKETS, PLACE_LIST };
extern const char *const place_names[PLACE_LIST];
/* Reads what OMP_PLACES says, into `list` where it is a list. Returns NULL, or why it cannot be read. count: of an
 * abstract name; 0: all. */
const char *place_parse(const char *text, enum place_kind *kind, unsigned *count, struct ort_places *list);
/* A list of processors (GOMP_CPU_AFFINITY, and in KMP_AFFINITY), from *p to the character `end`, where
 * *p then stands. The list has numbers and spans, each processor a place, and sets in braces, each set a place. Commas
 * may be left out. Returns NULL, or why the list cannot be read. */
const char *place_parse_proclist(const char **p, char end, struct ort_places *list);
/* Makes the first `count` (0: all) places that the name stands for on that machine. */
bool place_from_topology(struct ort_places *out, const struct os_topology *machine, enum place_kind kind,
                         unsigned count);

#endif
