/* KMP_AFFINITY and KMP_HW_SUBSET: libomp's own variables for where threads run.
 *
 * KMP_AFFINITY gives the core a list of places and a policy, and is stronger than OMP_PLACES, OMP_PROC_BIND and
 * GOMP_CPU_AFFINITY; in a process whose program was built for libgomp, weaker. A place is a group of processors of the
 * granularity; its order in the list:
 *   compact[,permute[,offset]]   by package, core, thread; permute p: the p innermost of these first, innermost of all
 *                                foremost
 *   scatter[,permute[,offset]]   as compact with 2 - permute: by thread, core, package
 *   balanced                     as compact, and of more members than places neighbours share one
 *   explicit,proclist=[..]       as listed: 0,{1,2},4-6,8-14:2
 *   none, disabled               no places
 * offset: the place that the list begins with. Members take places in the list's order ("close"); more members than
 * places go round in it. KMP_HW_SUBSET takes away processors: [:]item,item.. with item = [number|*]layer[@offset],
 * layers s(ockets), n(odes), l3, ll, d(ies), l2, tile, c(ores), t(hreads). Layers count within the enclosing one; with
 * a colon, within the one mentioned before. It narrows what the process was given, before anybody has counted it.
 *
 * Both are read when the library is loaded or, as programs set KMP_HW_SUBSET themselves before their first OpenMP call,
 * that late (the core's hook).
 * Callers: the loader (kmpc_affinity_env_read); the core, once (restrict_processors, make_places).
 * Failures: what cannot be read: one line, and the variable counts for nothing. No memory: likewise.
 * Refused with one line: granularity=group, attributes of cores (:intel_atom). norespect gives no processors beyond
 * those of the process, and a line says so where there are some. verbose: one line with the places. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "place.h"

/* --- the machine --- */

enum layer { SOCKET, NODE, L3, L2, CORE, THREAD, LAYERS };

/* Group of processor i (an index of the topology) in a layer. */
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

/* layer's word at *p, which moves behind it; LAYERS: none. */
static enum layer read_layer(const char **p)
{
    static const struct {
        const char *word;
        enum layer layer;
    } words[] = {{"sockets", SOCKET},
                 {"socket", SOCKET},
                 {"s", SOCKET},
                 {"packages", SOCKET},
                 {"package", SOCKET},
                 {"numa_domains", NODE},
                 {"numa_domain", NODE},
                 {"nodes", NODE},
                 {"node", NODE},
                 {"n", NODE},
                 {"l3_caches", L3},
                 {"l3_cache", L3},
                 {"l3", L3},
                 {"ll_caches", L3},
                 {"ll_cache", L3},
                 {"ll", L3},
                 {"dies", L3},
                 {"die", L3},
                 {"d", L3},
                 {"l2_caches", L2},
                 {"l2_cache", L2},
                 {"l2", L2},
                 {"tiles", L2},
                 {"tile", L2},
                 {"cores", CORE},
                 {"core", CORE},
                 {"c", CORE},
                 {"threads", THREAD},
                 {"thread", THREAD},
                 {"fine", THREAD},
                 {"t", THREAD}};
    size_t best = 0;
    enum layer found = LAYERS;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (length > best && strncasecmp(*p, words[i].word, length) == 0) {
            best = length;
            found = words[i].layer;
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
    unsigned count, offset; /* count 0: all */
};
struct subset {
    bool absolute;
    struct item item[LAYERS];
};

static void skip_affinity_blanks(const char **p)
{
    while (isspace((unsigned char)**p))
        (*p)++;
}

/* Blanks may stand around a number, a layer, and what separates items. */
static bool read_subset(const char *p, struct subset *out)
{
    skip_affinity_blanks(&p);
    *out = (struct subset){.absolute = *p == ':'};
    p += out->absolute;
    for (;;) {
        struct item item = {.given = true};
        skip_affinity_blanks(&p);
        if (*p == '*')
            p++;
        else if (read_affinity_number(&p, &item.count) && item.count == 0)
            return false;
        skip_affinity_blanks(&p);
        enum layer layer = read_layer(&p);
        if (layer == LAYERS || out->item[layer].given)
            return false;
        if (*p == '@') {
            p++;
            if (!read_affinity_number(&p, &item.offset))
                return false;
        }
        out->item[layer] = item;
        skip_affinity_blanks(&p);
        if (*p == '\0')
            return true;
        if (*p != ',' && *p != 'x' && *p != 'X')
            return false;
        p++;
    }
}

/* Keeps of each enclosing group (`within`, numbered by their first processors) the layer's groups that the item says;
 * false: there are fewer. within becomes the layer's groups. */
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
        if (index <= item->offset || (item->count != 0 && index - item->offset < item->count))
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

/* The core's hook. KMP_PLACE_THREADS: its older name. */
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

enum type { COMPACT, SCATTER, BALANCED, EXPLICIT, NONE };

static struct {
    enum type type;
    enum layer granularity;
    unsigned permute, offset;
    bool verbose, disabled;
    bool typed, beyond;     /* while it is read: a type is known; norespect */
    struct ort_places list; /* explicit */
} asked = {.type = NONE, .granularity = CORE};

void kmpc_affinity_forget(void)
{
    asked.type = NONE;
    asked.granularity = CORE;
    asked.permute = asked.offset = 0;
    asked.verbose = asked.disabled = asked.typed = asked.beyond = false;
}

/* What a processor's places are sorted by: from the outermost on. */
struct key {
    unsigned at[3], index;
};
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

/* How many groups of `inner` begin in the same group of `outer` before processor i's. */
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
        for (unsigned j = 0; j < i && first; j++)
            first = group(machine, asked.granularity, j) != group(machine, asked.granularity, i);
        if (first)
            key[n++] = (struct key){
                {group(machine, SOCKET, i), rank(machine, SOCKET, CORE, i), rank(machine, CORE, THREAD, i)}, i};
    }
    unsigned permute = asked.permute < 2 ? asked.permute : 2;
    innermost_first = asked.type == SCATTER ? 2 - permute : permute;
    qsort(key, n, sizeof *key, compare);
    bool good = true;
    for (unsigned i = 0; i < n && good; i++)
        good = add_group(&b, machine, key[(i + asked.offset) % n].index);
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

/* The core's, once. */
static bool make_places(struct ort_places *out)
{
    struct os_topology machine;
    bool good = true;
    if (asked.type == EXPLICIT) {
        *out = asked.list;
    } else {
        good = os_topology_read(&machine) != ENOMEM;
        if (good) {
            good = from_machine(&machine, out);
            os_topology_free(&machine);
        }
    }
    if (good && asked.verbose)
        show(out);
    return good;
}

/* 4, 4-6 or 8-14:2; *p moves behind it. */
static bool read_span(const char **p, unsigned *from, unsigned *to, unsigned *step)
{
    if (!read_affinity_number(p, from))
        return false;
    *to = *from;
    *step = 1;
    if (**p == '-' && (++*p, !read_affinity_number(p, to)))
        return false;
    return **p != ':' || (++*p, read_affinity_number(p, step) && *step != 0);
}

/* A span, each processor of which is a place; or {1,2}, spans that are one place. *p moves behind it. */
static bool read_list_item(const char **p, const struct os_cpuset *mask, struct place_builder *b)
{
    bool braces = **p == '{';
    unsigned from, to, step;
    struct os_cpuset set;
    *p += braces;
    os_cpuset_zero(&set);
    do {
        if (braces && **p == ',')
            ++*p;
        if (!read_span(p, &from, &to, &step))
            return false;
        for (unsigned cpu = from; cpu <= to && cpu < OS_MAX_CPUS; cpu += step) {
            if (!os_cpuset_has(mask, cpu))
                continue;
            os_cpuset_add(&set, cpu);
            if (!braces && !place_append(b, &set))
                return false;
            if (!braces)
                os_cpuset_zero(&set);
        }
    } while (braces && **p == ',');
    if (!braces)
        return true;
    return *(*p)++ == '}' && (os_cpuset_count(&set) == 0 || place_append(b, &set));
}

/* [0,{1,2},4-6,8-14:2] behind "proclist="; *p moves behind it. Processors that the process may not use are left out. */
static bool read_list(const char **p, struct ort_places *out)
{
    struct place_builder b = {0};
    struct os_cpuset mask;
    os_affinity_at_start(&mask);
    if (*(*p)++ != '[')
        return false;
    while (**p != ']') {
        if (!read_list_item(p, &mask, &b))
            goto wrong;
        if (**p == ',')
            ++*p;
        else if (**p != ']')
            goto wrong;
    }
    ++*p;
    if (b.list.n == 0)
        goto wrong;
    *out = b.list;
    return true;
wrong:
    place_free(&b.list);
    return false;
}

static bool read_affinity_word(const char **p, const char *what)
{
    size_t length = strlen(what);
    char after = strncasecmp(*p, what, length) == 0 ? (*p)[length] : 'x';
    if (after != '\0' && after != ',' && (length == 0 || what[length - 1] != '='))
        return false;
    if (strncasecmp(*p, what, length) != 0)
        return false;
    *p += length;
    return true;
}

/* The first of several counts, but none before any other. */
static void take_type(enum type type, bool disabled)
{
    if (asked.typed && asked.type != type)
        ps_warn("KMP_AFFINITY has more than one type; using %s instead", type == NONE ? "none" : "the first");
    if (asked.typed && type != NONE)
        return;
    asked.disabled |= disabled;
    asked.typed = true;
    asked.type = type;
}

/* Processors of the machine that the process may not use. */
static bool has_processors_beyond(void)
{
    struct os_cpuset mask;
    os_affinity_at_start(&mask);
    return (long)os_cpuset_count(&mask) < sysconf(_SC_NPROCESSORS_ONLN);
}

/* NULL, or why it cannot be read. A comma more, at either end, is no word. */
static const char *read_affinity(const char *p)
{
    static const struct {
        const char *word;
        enum type type;
    } types[] = {{"compact", COMPACT}, {"logical", COMPACT},   {"scatter", SCATTER}, {"physical", SCATTER},
                 {"none", NONE},       {"balanced", BALANCED}, {"disabled", NONE},   {"explicit", EXPLICIT}};
    unsigned numbers = 0;
    bool listed = false;
    for (;; p++) {
        unsigned number;
        bool known = false;
        for (size_t i = 0; i < sizeof types / sizeof *types && !known; i++)
            if ((known = read_affinity_word(&p, types[i].word)))
                take_type(types[i].type, strcmp(types[i].word, "disabled") == 0);
        if (known || *p == ',' || *p == '\0') {
        } else if (read_affinity_word(&p, "granularity=")) {
            if ((asked.granularity = read_layer(&p)) == LAYERS)
                return "has a granularity that is not supported";
        } else if (read_affinity_word(&p, "proclist=")) {
            if (!read_list(&p, &asked.list))
                return "has a list without processors of this process, or that cannot be read";
            listed = true;
        } else if (read_affinity_word(&p, "verbose")) {
            asked.verbose = true;
        } else if (read_affinity_word(&p, "norespect")) {
            asked.beyond = true;
        } else if (read_affinity_number(&p, &number) && numbers < 2) {
            *(numbers++ == 0 ? &asked.permute : &asked.offset) = number;
        } else if (!read_affinity_word(&p, "noverbose") && !read_affinity_word(&p, "respect") &&
                   !read_affinity_word(&p, "warnings") && !read_affinity_word(&p, "nowarnings") &&
                   !read_affinity_word(&p, "reset") && !read_affinity_word(&p, "noreset") &&
                   !read_affinity_word(&p, "duplicates") && !read_affinity_word(&p, "noduplicates")) {
            return "has a word that is not known";
        }
        if (*p == '\0')
            break;
        if (*p != ',')
            return "has a word that is not known";
    }
    if (listed && !asked.typed) {
        ps_warn("KMP_AFFINITY has a proclist and no type; using explicit instead");
        take_type(EXPLICIT, false);
    }
    return asked.type == EXPLICIT && asked.list.n == 0 ? "is explicit and has no proclist" : NULL;
}

void kmpc_affinity_restricts(void) { ort_processors_hook = restrict_processors; }

void kmpc_affinity_env_read(void)
{
    const char *text = os_env("KMP_AFFINITY");
    bool others =
        os_env("OMP_PROC_BIND") != NULL || os_env("OMP_PLACES") != NULL || os_env("GOMP_CPU_AFFINITY") != NULL;
    if (text == NULL || (others && !ort_env_as_libomp))
        return;
    if (others)
        ps_warn(
            "OMP_PLACES, OMP_PROC_BIND and GOMP_CPU_AFFINITY do not count beside KMP_AFFINITY; using \"%s\" instead",
            text);
    const char *fault = read_affinity(text);
    if (asked.beyond && has_processors_beyond())
        complain_of_affinity("KMP_AFFINITY", text, "asks for processors beyond those of the process; using its own");
    if (fault != NULL) {
        char line[128];
        snprintf(line, sizeof line, "%s; using OMP_PLACES and OMP_PROC_BIND", fault);
        complain_of_affinity("KMP_AFFINITY", text, line);
    } else if (asked.type == NONE) {
        ort_settings.bind = ORT_BIND_FALSE;
        kmpc_settings.no_affinity = asked.disabled;
    } else {
        ort_places_ask(make_places, asked.type != BALANCED);
    }
}
