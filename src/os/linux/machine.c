/* What processors share, and which memory is fast, from the kernel's tables in /sys.
 *
 * Does: finds each processor's core, second- and third-level cache, NUMA node and package; memory nodes of high
 * bandwidth. Does not: make levels of them (topology.c), or look at processors that the caller has not named.
 * Callers: any thread, on a stack of 16 KiB or more. No shared state, no malloc.
 * Failures: what cannot be read is unknown. Cost: one to four small files for each group, some ten microseconds each:
 * what is found for the first processor of a group holds for all of the group.
 *
 * A core:          /sys/devices/system/cpu/cpuN/topology/core_cpus      (thread_siblings before Linux 5.3)
 * A package:       /sys/devices/system/cpu/cpuN/topology/package_cpus   (core_siblings before Linux 5.3)
 * A cache:         /sys/devices/system/cpu/cpuN/cache/indexI/{level,type,shared_cpu_map}, I from 0 on
 * A NUMA node:     /sys/devices/system/node/{online,nodeN/cpumap}
 * Bandwidth:       /sys/devices/system/node/nodeN/access1/initiators/read_bandwidth
 * A set is words of hexadecimal digits with commas between them, the highest processors first.
 *
 * Several nodes may serve a processor (a machine with two kinds of memory has two nodes for one set). Then its node is
 * the one that serves the fewest processors, and the first of those.
 *
 * A memory node of high bandwidth has no processors, and more bandwidth than each node with processors (Xeon Max in
 * flat mode). The kernel tells bandwidths if the firmware does (HMAT). If it does not (Xeon Phi), MEMKIND_HBW_NODES
 * names the nodes, as for libmemkind, which libgomp and libomp load for this. A node without processors alone proves
 * nothing: persistent memory, CXL and memory of graphics processors are such nodes as well. */
#include "topology.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compiler.h"
#include "file.h"

#define MOST_CACHES 16
#define PROCESSOR "/sys/devices/system/cpu/cpu%u/"

struct reader {
    const char *root;
    struct topology_processor *p;
    unsigned n;
    struct os_cpuset set;
    char path[512], text[4096]; /* text: a file's beginning; the kernel's files have a page at most */
};

/* Reads a file below the root into r->text. Returns false if the file does not exist or is empty. */
static PS_PRINTF(2, 3) bool read_text(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int used = snprintf(r->path, sizeof r->path, "%s", r->root);
    if (used >= 0 && (size_t)used < sizeof r->path)
        vsnprintf(r->path + used, sizeof r->path - (size_t)used, format, args);
    va_end(args);
    return file_text(r->path, r->text, sizeof r->text);
}

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Turns r->text, a mask of hexadecimal digits, into r->set; the last digit has the lowest processors. */
static void text_to_set(struct reader *r)
{
    unsigned cpu = 0;
    os_cpuset_zero(&r->set);
    for (size_t i = strlen(r->text); i-- > 0;) {
        unsigned value = digit(r->text[i]);
        for (unsigned bit = 0; value < 16 && bit < 4; bit++)
            if (value >> bit & 1 && cpu + bit < OS_MAX_CPUS)
                os_cpuset_add(&r->set, cpu + bit);
        cpu += value < 16 ? 4 : 0;
    }
}

/* Notes that the processors in r->set are a group of this kind: each of them that is in no such group yet gets the
 * number i. Does nothing if the set does not contain processor i: then the table is wrong. */
static void note_group(struct reader *r, unsigned i, enum os_sharing kind)
{
    if (!os_cpuset_has(&r->set, r->p[i].cpu))
        return;
    for (unsigned j = 0; j < r->n; j++)
        if (r->p[j].group[kind] == TOPOLOGY_NO_GROUP && os_cpuset_has(&r->set, r->p[j].cpu))
            r->p[j].group[kind] = (int32_t)i;
}

static void scan_siblings(struct reader *r, unsigned i, enum os_sharing kind, const char *name, const char *old_name)
{
    unsigned cpu = r->p[i].cpu;
    if (r->p[i].group[kind] != TOPOLOGY_NO_GROUP ||
        (!read_text(r, PROCESSOR "topology/%s", cpu, name) && !read_text(r, PROCESSOR "topology/%s", cpu, old_name)))
        return;
    text_to_set(r);
    note_group(r, i, kind);
}

static void scan_caches(struct reader *r, unsigned i)
{
    const int32_t *group = r->p[i].group;
    unsigned cpu = r->p[i].cpu;
    for (unsigned c = 0; c < MOST_CACHES; c++) {
        if (group[OS_SHARING_L2] != TOPOLOGY_NO_GROUP && group[OS_SHARING_L3] != TOPOLOGY_NO_GROUP)
            return;
        if (!read_text(r, PROCESSOR "cache/index%u/level", cpu, c))
            return;
        char level = r->text[0];
        if ((level != '2' && level != '3') ||
            (read_text(r, PROCESSOR "cache/index%u/type", cpu, c) && r->text[0] == 'I') || /* instruction cache */
            !read_text(r, PROCESSOR "cache/index%u/shared_cpu_map", cpu, c))
            continue;
        text_to_set(r);
        note_group(r, i, level == '2' ? OS_SHARING_L2 : OS_SHARING_L3);
    }
}

/* For each processor of the node: if no smaller node was found for it, its group becomes that of this node. serves[i]:
 * how many processors the node serves that was found for processor i; 0: none was found yet. */
static void scan_node(struct reader *r, unsigned node, uint16_t *serves)
{
    unsigned all = 0;
    int32_t group = TOPOLOGY_NO_GROUP;
    if (!read_text(r, "/sys/devices/system/node/node%u/cpumap", node))
        return;
    text_to_set(r);
    for (unsigned i = 0; i < r->n; i++)
        all += os_cpuset_has(&r->set, r->p[i].cpu);
    for (unsigned i = 0; i < r->n; i++) {
        if (!os_cpuset_has(&r->set, r->p[i].cpu))
            continue;
        /* the group's number is the index of the node's first processor */
        group = group == TOPOLOGY_NO_GROUP ? (int32_t)i : group;
        if (serves[i] == 0 || all < serves[i]) {
            serves[i] = (uint16_t)all;
            r->p[i].group[OS_SHARING_NUMA] = group;
        }
    }
}

/* Reads a list such as "0-1,4" into *set. Returns where it ends, or where something else begins. */
static const char *list_to_set(const char *list, struct os_cpuset *set)
{
    os_cpuset_zero(set);
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long from = strtoul(list, &end, 10), to = from;
        if (*end == '-' && digit(end[1]) < 10)
            to = strtoul(end + 1, &end, 10);
        if (to < from || to >= OS_MAX_CPUS)
            return list;
        for (unsigned long i = from; i <= to && i < OS_MAX_CPUS; i++)
            os_cpuset_add(set, (unsigned)i);
        list = end + (*end == ',');
    }
    return list;
}

static void scan_nodes(struct reader *r)
{
    struct os_cpuset nodes;
    uint16_t *serves = os_map(r->n * sizeof *serves);
    if (serves == NULL)
        return;
    if (read_text(r, "/sys/devices/system/node/online")) {
        list_to_set(r->text, &nodes);
        for (unsigned node = 0; node < OS_MAX_CPUS; node++)
            if (os_cpuset_has(&nodes, node))
                scan_node(r, node, serves);
    }
    os_unmap(serves, r->n * sizeof *serves);
}

int topology_scan(struct topology_processor *p, unsigned n, const char *root)
{
    struct reader r = {.root = root, .p = p, .n = n};
    bool known = false;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++)
            p[i].group[k] = TOPOLOGY_NO_GROUP;
    for (unsigned i = 0; i < n; i++) {
        scan_siblings(&r, i, OS_SHARING_SMT, "core_cpus", "thread_siblings");
        scan_siblings(&r, i, OS_SHARING_PACKAGE, "package_cpus", "core_siblings");
        scan_caches(&r, i);
    }
    scan_nodes(&r);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++)
            known |= p[i].group[k] != TOPOLOGY_NO_GROUP;
    return known ? 0 : ENOENT;
}

/* --- memory nodes --- */

#define NODE "/sys/devices/system/node/node%u/"

/* Returns the node's bandwidth in MB/s, from the nearest processors; 0: unknown. access1 exists since Linux 5.11;
 * access0 also counts devices as initiators. */
static unsigned long node_bandwidth(struct reader *r, unsigned node)
{
    return read_text(r, NODE "access1/initiators/read_bandwidth", node) ||
                   read_text(r, NODE "access0/initiators/read_bandwidth", node)
               ? strtoul(r->text, NULL, 10)
               : 0;
}

static bool node_has_processors(struct reader *r, unsigned node)
{
    return read_text(r, NODE "cpulist", node) && digit(r->text[0]) < 10;
}

/* Keeps in *nodes only nodes without processors that have more bandwidth than each node with processors. */
static void keep_high_bandwidth(struct reader *r, struct os_cpuset *nodes)
{
    unsigned long most = 0;
    for (unsigned node = 0; node < OS_MAX_CPUS; node++) {
        if (!os_cpuset_has(nodes, node) || !node_has_processors(r, node))
            continue;
        unsigned long bandwidth = node_bandwidth(r, node);
        most = bandwidth > most ? bandwidth : most;
        os_cpuset_remove(nodes, node);
    }
    for (unsigned node = 0; node < OS_MAX_CPUS; node++)
        if (os_cpuset_has(nodes, node) && (most == 0 || node_bandwidth(r, node) <= most))
            os_cpuset_remove(nodes, node);
}

void topology_high_bandwidth(struct os_cpuset *nodes, const char *root)
{
    const char *named = os_env("MEMKIND_HBW_NODES");
    if (named != NULL && *list_to_set(named, nodes) == '\0')
        return;
    if (named != NULL)
        ps_warn("MEMKIND_HBW_NODES=\"%s\" is no list of memory nodes (0-1,4); using the system's tables instead",
                named);
    os_cpuset_zero(nodes);
    struct reader *r = os_map(sizeof *r);
    if (r == NULL)
        return;
    r->root = root;
    if (read_text(r, "/sys/devices/system/node/has_memory")) {
        list_to_set(r->text, nodes);
        keep_high_bandwidth(r, nodes);
    }
    os_unmap(r, sizeof *r);
}
