/* Makes places from KMP_AFFINITY and KMP_HW_SUBSET, libomp's own variables for where threads run.
 *
 * KMP_AFFINITY (affinity_env.c reads it) gives the core a list of places and a policy. Beside OMP_PLACES, OMP_PROC_BIND
 * or GOMP_CPU_AFFINITY it counts only if it has a type or a proclist, and the process was built for libomp. A place is
 * a group of processors of the given granularity. The list has one place for each processor of the process, or with
 * noduplicates one for each group. The type says in which order:
 *   compact, logical     by package, core, thread. permute p: the p innermost of these come first, innermost first
 *   scatter, physical    as compact with permute 2 - p: by thread, core, package
 *   balanced             as compact; with more members than places neighbouring members share one
 *   explicit             as listed, each processor with its group
 *   none, disabled       no places
 * offset: the place of the initial thread. Members take the places that follow it in the list ("close"), and after the
 * last place the first. KMP_HW_SUBSET removes processors: [:]item,item.. with item = [number|*]layer[@offset], layers
 * s(ockets), n(odes), l3, ll, d(ies), l2, tile, c(ores), t(hreads). An item keeps `number` groups of its layer and
 * skips `offset` before them, in each group of the next outer layer that has an item. Without the colon packages and
 * cores have an item in any case.
 *
 * KMP_AFFINITY is read with the other KMP_ variables (env.c). KMP_HW_SUBSET is read when processors are first counted
 * (the core's hook), since programs set it themselves before their first OpenMP call. Callers: env.c
 * (kmpc_affinity_env_read); the core (restrict_processors, make_places). Failures: a variable that cannot be read, or
 * without memory, is reported by one line and ignored. Attributes of cores (:intel_atom) are ignored. norespect adds no
 * processors beyond those of the process; one line tells if there are more. verbose: one line with the places. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "affinity.h"
#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "place.h"
#include "spelling.h"

/* --- the machine --- */

/* Returns the group of processor i (an index of the topology) in a layer. */
static unsigned group(const struct os_topology *machine, enum layer layer, unsigned i)
{
    static const enum os_sharing shared[] = {[SOCKET] = OS_SHARING_PACKAGE,
                                             [NODE] = OS_SHARING_NUMA,
                                             [L3] = OS_SHARING_L3,
                                             [L2] = OS_SHARING_L2,
                                             [CORE] = OS_SHARING_SMT};
    int level = layer == THREAD ? OS_LEVEL_ALONE : machine->sharing_level[shared[layer]];
    return level == OS_LEVEL_ALONE ? i : machine->level[level].group_of[i];
}

/* Reads the longest name of a layer that stands at *p, and moves *p behind it. LAYERS: there is none. */
static enum layer read_layer(const char **p)
{
    static const char *const words[LAYERS][9] = {
        [SOCKET] = {"sockets", "socket", "s", "packages", "package"},
        [NODE] = {"numa_domains", "numa_domain", "nodes", "node", "n"},
        [L3] = {"l3_caches", "l3_cache", "l3", "ll_caches", "ll_cache", "ll", "dies", "die", "d"},
        [L2] = {"l2_caches", "l2_cache", "l2", "tiles", "tile"},
        [CORE] = {"cores", "core", "c"},
        [THREAD] = {"threads", "thread", "fine", "t"}};
    size_t best = 0;
    enum layer found = LAYERS;
    for (enum layer layer = SOCKET; layer < LAYERS; layer++)
        for (unsigned i = 0; i < 9 && words[layer][i] != NULL; i++) {
            size_t length = strlen(words[layer][i]);
            if (length > best && strncasecmp(*p, words[layer][i], length) == 0) {
                best = length;
                found = layer;
            }
        }
    *p += best;
    return found;
}

static bool read_affinity_number(const char **p, unsigned *out)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return false;
    unsigned long v = strtoul(*p, &end, 10);
    if (v > OS_MAX_CPUS)
        return false;
    *out = (unsigned)v;
    *p = end;
    return true;
}

static void complain_of_affinity(const char *name, const char *text, const char *what)
{
    ps_warn("%s=\"%s\" %s instead", name, text, what);
}

/* --- KMP_HW_SUBSET --- */

struct item {
    bool given;
    unsigned count, offset; /* count: how many groups are kept, 0: all; offset: how many are skipped before */
};
struct subset {
    bool absolute;
    struct item item[LAYERS];
};

/* Reads the text of KMP_HW_SUBSET. Returns false if an item has no known layer, a number of 0, or a negative offset.
 * Blanks are allowed around a number, a layer, and a separator; a comma is allowed at either end. An offset that is not
 * a number counts as 0. Text between an item and the next comma is ignored. */
static bool read_subset(const char *p, struct subset *out)
{
    p = os_skip_blanks(p);
    *out = (struct subset){.absolute = *p == ':'};
    p += out->absolute;
    p = os_skip_blanks(p);
    p += *p == ',';
    for (;;) {
        struct item item = {.given = true};
        p = os_skip_blanks(p);
        if (*p == '*')
            p++;
        else if (read_affinity_number(&p, &item.count) && item.count == 0)
            return false;
        p = os_skip_blanks(p);
        enum layer layer = read_layer(&p);
        if (layer == LAYERS)
            return false;
        p = os_skip_blanks(p);
        if (*p == '@') {
            p++;
            p = os_skip_blanks(p);
            if (!read_affinity_number(&p, &item.offset) && *p == '-')
                return false;
        }
        out->item[layer] = item;
        p = os_skip_blanks(p);
        if (*p != 'x' && *p != 'X')
            p += strcspn(p, ",");
        p += *p != '\0';
        p = os_skip_blanks(p);
        if (*p == '\0')
            return true;
    }
}

/* Keeps the groups of `layer` that the item asks for, in each group of the enclosing layer, and clears kept[] for the
 * processors of all other groups. On entry within[i] is the first processor of the enclosing group of processor i; on
 * return, of its group of `layer`. Returns false if there are fewer groups than the item asks for, or no memory. */
static bool keep_items(const struct os_topology *machine, enum layer layer, const struct item *item, unsigned *within,
                       bool *kept)
{
    for (unsigned i = 0; i < machine->n; i++) {
        if (within[i] != i)
            continue;
        unsigned index = 0, wanted = item->count == 0 ? OS_MAX_CPUS : item->count;
        for (unsigned j = i; j < machine->n; j++) {
            bool first = within[j] == i;
            for (unsigned k = i; k < j && first; k++)
                first = within[k] != i || group(machine, layer, k) != group(machine, layer, j);
            if (!first)
                continue;
            bool in = index >= item->offset && index - item->offset < wanted;
            for (unsigned k = j; k < machine->n; k++)
                if (within[k] == i && group(machine, layer, k) == group(machine, layer, j))
                    kept[k] &= in;
            index++;
        }
        if (index <= item->offset || (item->count != 0 && index < item->count))
            return false;
    }
    unsigned *inner = calloc(machine->n, sizeof *inner);
    if (inner == NULL)
        return false;
    for (unsigned i = 0; i < machine->n; i++)
        for (inner[i] = 0;
             within[inner[i]] != within[i] || group(machine, layer, inner[i]) != group(machine, layer, i);)
            inner[i]++;
    memcpy(within, inner, machine->n * sizeof *inner);
    free(inner);
    return true;
}

static bool apply_subset(const struct os_topology *machine, const struct subset *subset)
{
    unsigned *within = calloc(machine->n, sizeof *within);
    bool *kept = malloc(machine->n * sizeof *kept), good = within != NULL && kept != NULL;
    for (unsigned i = 0; good && i < machine->n; i++)
        kept[i] = true;
    for (enum layer layer = SOCKET; good && layer < LAYERS; layer++) {
        bool implied = !subset->absolute && (layer == SOCKET || layer == CORE);
        if (subset->item[layer].given || implied)
            good = keep_items(machine, layer, &subset->item[layer], within, kept);
    }
    struct os_cpuset set;
    os_cpuset_zero(&set);
    for (unsigned i = 0; good && i < machine->n; i++)
        if (kept[i])
            os_cpuset_add(&set, machine->cpu[i]);
    free(within);
    free(kept);
    return good && os_cpuset_count(&set) > 0 && os_affinity_narrow(&set) == 0;
}

/* Called by the core before it counts processors. KMP_PLACE_THREADS is the older name of KMP_HW_SUBSET. */
static void restrict_processors(void)
{
    const char *name = "KMP_HW_SUBSET", *text = os_env(name), *older = os_env("KMP_PLACE_THREADS");
    struct subset subset;
    struct os_topology machine;
    if (text != NULL && older != NULL)
        ps_warn("KMP_PLACE_THREADS=\"%s\" does not count beside KMP_HW_SUBSET; using \"%s\" instead", older, text);
    if (text == NULL) {
        name = "KMP_PLACE_THREADS";
        text = older;
    }
    if (text == NULL)
        return;
    if (!read_subset(text, &subset)) {
        complain_of_affinity(name, text, "is not [:][number]layer[@offset],..; using all processors of the process");
    } else if (os_topology_read(&machine) != ENOMEM) {
        if (!apply_subset(&machine, &subset))
            complain_of_affinity(name, text, "asks for more than there is; using all processors of the process");
        os_topology_free(&machine);
    }
}

/* --- KMP_AFFINITY --- */

static const struct kmpc_affinity unasked = KMPC_AFFINITY_NONE;
static struct kmpc_affinity asked = KMPC_AFFINITY_NONE;

void kmpc_affinity_forget(void)
{
    asked = unasked;
    kmpc_settings.reset = false;
}

/* What places are sorted by. `at`: the numbers of the package, of the core in the package, and of the thread in the
 * core; `index`: the processor (an index of the topology). */
struct key {
    unsigned at[3], index;
};
/* How many of the last elements of at[] `compare` compares first, from the last one backwards (permute). */
static unsigned innermost_first;

static int compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    for (unsigned i = 0; i < 3; i++) {
        unsigned j = i < innermost_first ? 2 - i : i - innermost_first;
        if (x->at[j] != y->at[j])
            return x->at[j] < y->at[j] ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns the number of processor i's group of `inner` within its group of `outer`, counted from 0. */
static unsigned rank(const struct os_topology *machine, enum layer outer, enum layer inner, unsigned i)
{
    unsigned n = 0;
    for (unsigned j = 0; j < i && group(machine, inner, j) != group(machine, inner, i); j++)
        n += group(machine, outer, j) == group(machine, outer, i) &&
             (j == 0 || group(machine, inner, j - 1) != group(machine, inner, j));
    return n;
}

static bool add_group(struct place_builder *to, const struct os_topology *machine, unsigned i)
{
    struct os_cpuset set;
    os_cpuset_zero(&set);
    for (unsigned j = 0; j < machine->n; j++)
        if (group(machine, asked.granularity, j) == group(machine, asked.granularity, i))
            os_cpuset_add(&set, machine->cpu[j]);
    return place_append(to, &set);
}

static bool from_machine(const struct os_topology *machine, struct ort_places *out)
{
    struct place_builder b = {0};
    struct key *key = calloc(machine->n, sizeof *key);
    if (key == NULL)
        return false;
    unsigned n = 0;
    for (unsigned i = 0; i < machine->n; i++) {
        bool first = true;
        for (unsigned j = 0; j < i && first && !asked.duplicates; j++)
            first = group(machine, asked.granularity, j) != group(machine, asked.granularity, i);
        if (first)
            key[n++] = (struct key){
                {group(machine, SOCKET, i), rank(machine, SOCKET, CORE, i), rank(machine, CORE, THREAD, i)}, i};
    }
    unsigned permute = asked.permute < 2 ? asked.permute : 2;
    innermost_first = asked.type == KMPC_SCATTER ? 2 - permute : permute;
    qsort(key, n, sizeof *key, compare);
    bool good = true;
    for (unsigned i = 0; i < n && good; i++)
        good = add_group(&b, machine, key[i].index);
    free(key);
    if (good)
        *out = b.list;
    else
        place_free(&b.list);
    return good;
}

static void show(const struct ort_places *places)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return;
    for (unsigned p = 0; p < places->n; p++)
        for (unsigned i = places->first[p]; i < places->first[p + 1]; i++)
            fprintf(f, "%s%u%s", i == places->first[p] ? " {" : ",", places->cpu[i],
                    i + 1 == places->first[p + 1] ? "}" : "");
    if (fclose(f) == 0)
        ps_warn("KMP_AFFINITY: %u places:%s", places->n, text);
    free(text);
}

/* Makes the places that the list names; each listed processor brings its group of the granularity. If the process may
 * use none of the listed processors, makes one place with all of the process's processors. */
static bool from_list(const struct os_topology *machine, struct ort_places *out)
{
    struct place_builder b = {0};
    struct os_cpuset set, all;
    bool good = true, dropped = false;
    os_cpuset_zero(&all);
    for (unsigned i = 0; i < machine->n; i++)
        os_cpuset_add(&all, machine->cpu[i]);
    for (unsigned p = 0; p < asked.list.n && good; p++) {
        os_cpuset_zero(&set);
        for (unsigned k = asked.list.first[p]; k < asked.list.first[p + 1]; k++) {
            unsigned i = 0;
            while (i < machine->n && machine->cpu[i] != asked.list.cpu[k])
                i++;
            dropped |= i == machine->n;
            for (unsigned j = 0; j < machine->n && i < machine->n; j++)
                if (group(machine, asked.granularity, j) == group(machine, asked.granularity, i))
                    os_cpuset_add(&set, machine->cpu[j]);
        }
        good = os_cpuset_count(&set) == 0 || place_append(&b, &set);
    }
    if (dropped)
        ps_warn("KMP_AFFINITY: the list has processors that this process may not use; using %s instead",
                b.list.n > 0 ? "the others" : "one place with all that it may");
    if (good && b.list.n == 0)
        good = place_append(&b, &all);
    if (good)
        *out = b.list;
    else
        place_free(&b.list);
    return good;
}

/* Called by the core, once (ort_places_ask). Returns false if there is no memory. */
static bool make_places(struct ort_places *out)
{
    struct os_topology machine;
    if (os_topology_read(&machine) == ENOMEM)
        return false;
    bool good =
        asked.type == KMPC_EXPLICIT || asked.type == KMPC_NONE ? from_list(&machine, out) : from_machine(&machine, out);
    os_topology_free(&machine);
    if (good && asked.verbose)
        show(out);
    return good;
}

/* Returns whether the machine has processors that the process may not use. */
static bool has_processors_beyond(void)
{
    struct os_cpuset mask;
    os_affinity_at_start(&mask);
    return (long)os_cpuset_count(&mask) < sysconf(_SC_NPROCESSORS_ONLN);
}

void kmpc_affinity_restricts(void) { ort_processors_hook = restrict_processors; }

void kmpc_affinity_env_read(void)
{
    const char *text = os_env("KMP_AFFINITY"), *bind = os_env("OMP_PROC_BIND"), *cpus = os_env("GOMP_CPU_AFFINITY");
    bool others = bind != NULL || cpus != NULL || os_env("OMP_PLACES") != NULL;
    if (others && text != NULL && !ort_env_as_libomp)
        return;
    if (text != NULL)
        kmpc_affinity_parse(text, &asked);
    kmpc_settings.reset = asked.reset;
    if (others && !asked.typed && ort_env_as_libomp)
        kmpc_settings.no_affinity = cpus == NULL && bind != NULL && spelling_disables(bind);
    if (text == NULL || (others && !asked.typed)) {
        if (asked.verbose)
            ps_warn("KMP_AFFINITY=\"%s\" has no type: other variables say where threads are", text);
        return;
    }
    if (others)
        ps_warn(
            "OMP_PLACES, OMP_PROC_BIND and GOMP_CPU_AFFINITY do not count beside KMP_AFFINITY; using \"%s\" instead",
            text);
    if (asked.beyond && has_processors_beyond())
        complain_of_affinity("KMP_AFFINITY", text, "asks for processors beyond those of the process; using its own");
    kmpc_settings.no_affinity = asked.type == KMPC_DISABLED;
    /* As in libomp, the type may be "none" although a type that binds was read: if "none" was the first of two types,
     * or if "explicit" has no proclist. Then make_places makes one place with all processors. So no thread is bound,
     * but the policy of the type that was read last is shown. */
    if (asked.policy && asked.type != KMPC_DISABLED) {
        ort_places_ask(make_places, asked.type != KMPC_BALANCED, asked.offset);
        return;
    }
    ort_place_env_forget();
    ort_settings.bind = ORT_BIND_FALSE;
    if (asked.verbose)
        ps_warn("KMP_AFFINITY=\"%s\": threads are not bound", text);
}
