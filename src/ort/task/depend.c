/* Dependences between sibling tasks.
 *
 * Does: orders the children of a task by the addresses in their depend clauses. Does not: queue or run them.
 * Callers: the member that runs the parent. What happens when a task completes: depend_node.c.
 *
 * There are two structures. A *table* belongs to each parent. Only the parent's member touches it, so it needs no lock.
 * A *node* stands for a task with dependences (depend_node.h: states, owners, orderings). It counts the predecessors
 * that are not complete yet, and lists its successors under a lock of its own. No thread holds the locks of two nodes.
 * A task that finishes touches no table: entries that name finished nodes are dropped when the table has to grow.
 *
 * Failures: if there is no memory, in the emergency pool either, the program ends with one line. Cost: a node from the
 * member's magazine (depend_memory.c). A lock for each predecessor that has not finished, and one at the task's end.
 * Two read-modify-writes for the node's life, and one for each predecessor but the last to finish.
 * Rejected: a lock on the table, from which finishers remove tasks (libgomp, for the whole team): the parent and all
 * finishers would contend for it. OpenMP 5.2 section 15.9.5. */
#include "task_internal.h"

#include <stdlib.h>
#include <string.h>

#include "depend_node.h"
#include "emergency_pool.h"
#include "race.h"

struct node_set {
    struct ort_depend_node **v;
    unsigned n, capacity;
};

struct entry {
    void *address;               /* NULL: the entry is free */
    enum ort_depend_kind kind;   /* kind of the tasks in `last` */
    struct ort_depend_node *out; /* the last writer */
    struct node_set last;        /* tasks after `out` that may run together: readers, or members of an inoutset */
    struct node_set before;      /* the set before `last`: the tasks in `last` wait for it */
};

struct ort_depend_table {
    struct ps_magazine *nodes; /* magazine of the parent's member */
    struct entry *entries;
    unsigned n, mask;
    struct ort_depend_node *all; /* the last task with omp_all_memory, or NULL; `out` of a new entry */
};

static void *allocate_depend_block(size_t bytes)
{
    void *p = ort_mem_get(bytes);
    PS_CHECK(p != NULL, "out of memory for task dependences");
    return p;
}

/* --- links between nodes --- */

static bool is_finished(struct ort_depend_node *node) { return ps_load_acquire(&node->finished); }

/* Returns whether the node is finished, so that the table may drop it. If so, a thread sanitizer is told that the tasks
 * which the caller makes from now on run after the node's task. */
static inline bool node_is_over(struct ort_depend_node *node)
{
    bool over = is_finished(node);
    if (over)
        ps_race_acquire(node);
    return over;
}

static void add_successor_locked(struct ort_depend_node *node, struct ort_depend_node *successor)
{
    if (node->n == node->capacity) {
        struct ort_depend_node **more = allocate_depend_block(2 * node->capacity * sizeof(struct ort_depend_node *));
        memcpy(more, node->successors, node->n * sizeof(struct ort_depend_node *));
        if (node->successors != node->few)
            ort_mem_free(node->successors);
        node->successors = more;
        node->capacity *= 2;
    }
    node->successors[node->n++] = successor;
}

/* Makes `node` wait for `predecessor`. Does nothing if `predecessor` is NULL, is `node` itself, has finished, or has
 * got `node` as its last successor already. */
static void link_to(struct ort_depend_node *predecessor, struct ort_depend_node *node)
{
    if (!predecessor || predecessor == node)
        return;
    if (is_finished(predecessor)) {
        ps_race_acquire(predecessor); /* for a thread sanitizer: later tasks of the caller run after it */
        return;
    }
    ps_spin_lock(&predecessor->lock);
    bool linked = predecessor->n && predecessor->successors[predecessor->n - 1] == node;
    if (!linked && !ps_load_relaxed(&predecessor->finished)) {
        node->linked++;
        add_successor_locked(predecessor, node);
        if (PS_UNLIKELY(ort_tool_on()) && predecessor->task != NULL && node->task != NULL)
            ort_tool_task_depends(predecessor->task, node->task);
    } else if (!linked) {
        ps_race_acquire(predecessor);
    }
    ps_spin_unlock(&predecessor->lock);
}

/* Called when all predecessors are linked: ends the state linking. True: all predecessors are complete. False: the last
 * of them makes the node ready. */
static bool end_linking(struct ort_depend_node *node)
{
    if (node->linked == 0) { /* no other thread knows the node */
        ps_store_relaxed(&node->missing, 0);
        return true;
    }
    uint32_t bias = ORT_DEPEND_LINKING - node->linked; /* computed first: after the subtraction the node may be gone */
    return ps_sub_seq(&node->missing, bias) == bias;
}

/* --- sets --- */

static void set_clear(struct ps_magazine *nodes, struct node_set *set)
{
    for (unsigned i = 0; i < set->n; i++)
        ort_depend_node_drop(nodes, set->v[i]);
    set->n = 0;
}

static void set_free(struct ps_magazine *nodes, struct node_set *set)
{
    set_clear(nodes, set);
    ort_mem_free(set->v);
    *set = (struct node_set){.n = 0};
}

static PS_NOINLINE void set_prune(struct ps_magazine *nodes, struct node_set *set)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < set->n; i++) {
        if (node_is_over(set->v[i]))
            ort_depend_node_drop(nodes, set->v[i]);
        else
            set->v[kept++] = set->v[i];
    }
    set->n = kept;
}

static void set_add(struct ps_magazine *nodes, struct node_set *set, struct ort_depend_node *node)
{
    if (set->n && set->v[set->n - 1] == node)
        return;
    if (set->n == set->capacity) {
        set_prune(nodes, set);
        if (2 * set->n >= set->capacity) {
            unsigned capacity = set->capacity ? 2 * set->capacity : 4;
            struct ort_depend_node **v = allocate_depend_block(capacity * sizeof *v);
            if (set->n)
                memcpy(v, set->v, set->n * sizeof *v);
            ort_mem_free(set->v);
            set->v = v;
            set->capacity = capacity;
        }
    }
    set->v[set->n++] = ort_depend_node_hold(node);
}

static void link_to_set(const struct node_set *set, struct ort_depend_node *node)
{
    for (unsigned i = 0; i < set->n; i++)
        link_to(set->v[i], node);
}

/* --- the table --- */

static void entry_clear(struct ps_magazine *nodes, struct entry *e)
{
    set_clear(nodes, &e->last);
    set_clear(nodes, &e->before);
    ort_depend_node_drop(nodes, e->out);
    e->out = NULL;
}

static void entry_free(struct ps_magazine *nodes, struct entry *e)
{
    set_free(nodes, &e->last);
    set_free(nodes, &e->before);
    ort_depend_node_drop(nodes, e->out);
    *e = (struct entry){.address = NULL};
}

static struct entry *entry_place(struct ort_depend_table *table, void *address)
{
    uint64_t hash = (uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
    unsigned i = (unsigned)(hash >> 32) & table->mask;
    while (table->entries[i].address && table->entries[i].address != address)
        i = (i + 1) & table->mask;
    return &table->entries[i];
}

static void new_entries(struct ort_depend_table *table, unsigned size)
{
    table->entries = ort_mem_zeroed(size * sizeof *table->entries);
    PS_CHECK(table->entries != NULL, "out of memory for task dependences");
    table->mask = size - 1;
    table->n = 0;
}

static bool entry_is_over(struct ps_magazine *nodes, struct entry *e)
{
    set_prune(nodes, &e->last);
    set_prune(nodes, &e->before);
    return !e->last.n && !e->before.n && (!e->out || node_is_over(e->out));
}

/* Drops entries whose tasks have all finished. Doubles the table if it is still a quarter full, or fuller. */
static void make_room(struct ort_depend_table *table)
{
    struct entry *old = table->entries;
    unsigned old_size = table->mask + 1, live = 0;
    for (unsigned i = 0; i < old_size; i++) {
        if (old[i].address && entry_is_over(table->nodes, &old[i])) {
            entry_free(table->nodes, &old[i]);
        }
        live += old[i].address != NULL;
    }
    new_entries(table, live >= old_size / 4 ? 2 * old_size : old_size);
    for (unsigned i = 0; i < old_size; i++) {
        if (!old[i].address)
            continue;
        *entry_place(table, old[i].address) = old[i];
        table->n++;
    }
    ort_mem_free(old);
}

static struct ort_depend_table *new_table(struct ort_thread *thread)
{
    struct ort_depend_table *table = allocate_depend_block(sizeof *table);
    new_entries(table, 16);
    table->all = NULL;
    table->nodes = &ort_tasks(thread)->nodes;
    return table;
}

static struct ort_depend_table *table_of(struct ort_thread *thread)
{
    struct ort_task *parent = thread->task;
    if (!parent->depends) {
        parent->depends = new_table(thread);
        parent->flags |= ORT_TASK_SPECIAL;
        ort_member_changed(thread);
    }
    return parent->depends;
}

static PS_ALWAYS_INLINE struct entry *address_entry(struct ort_depend_table *table, void *address)
{
    struct entry *e = entry_place(table, address);
    if (e->address)
        return e;
    if (2 * (table->n + 1) > table->mask) {
        make_room(table);
        e = entry_place(table, address);
    }
    e->address = address;
    e->out = table->all ? ort_depend_node_hold(table->all) : NULL;
    table->n++;
    return e;
}

static void forget_entries(struct ort_depend_table *table)
{
    for (unsigned i = 0; i <= table->mask; i++) {
        if (table->entries[i].address)
            entry_free(table->nodes, &table->entries[i]);
    }
    table->n = 0;
}

void ort_depend_table_free(struct ort_depend_table *table)
{
    forget_entries(table);
    ort_depend_node_drop(table->nodes, table->all);
    ort_mem_free(table->entries);
    ort_mem_free(table);
}

/* --- the rules --- */

/* The tasks for which a new task T waits, by the kind of its dependence on an address:
 *    out, inout, mutexinoutset   the tasks in `last`, if empty those in `before`, if empty `out`; then T becomes `out`
 *                                and both sets are empty
 *    in, inoutset                if `last` has another kind, it becomes `before`; then T waits for the tasks in
 *                                `before`, if empty for `out`, and joins `last`
 *    omp_all_memory              as out at every address of the table; then T becomes `all`
 * mutexinoutset: tasks of such a set exclude each other in any order; this table takes the order of creation. */
static bool joins_set(enum ort_depend_kind kind) { return kind == ORT_DEPEND_IN || kind == ORT_DEPEND_INOUTSET; }

/* Links `node` to the predecessors that a dependence of this kind has at e. */
static void link_at(const struct entry *e, enum ort_depend_kind kind, struct ort_depend_node *node)
{
    bool beside = joins_set(kind) && e->kind == kind;
    if (e->last.n && !beside)
        link_to_set(&e->last, node);
    else if (e->before.n)
        link_to_set(&e->before, node);
    else
        link_to(e->out, node);
}

static void link_at_all(struct ort_depend_table *table, struct ort_depend_node *node)
{
    link_to(table->all, node);
    for (unsigned i = 0; i <= table->mask; i++) {
        if (table->entries[i].address)
            link_at(&table->entries[i], ORT_DEPEND_OUT, node);
    }
}

static inline struct ort_depend depend_at(const struct ort_depend_list *list, size_t i)
{
    if (PS_LIKELY(list->addresses != NULL))
        return (struct ort_depend){list->addresses[i], i < list->n_out ? ORT_DEPEND_OUT : ORT_DEPEND_IN};
    return list->get(list->list, i);
}

static bool is_all_memory(const struct ort_depend *d) { return !d->address && !joins_set(d->kind); }

static PS_ALWAYS_INLINE void insert_one(struct ort_depend_table *table, const struct ort_depend *d,
                                        struct ort_depend_node *node)
{
    if (is_all_memory(d)) {
        link_at_all(table, node);
        forget_entries(table);
        ort_depend_node_drop(table->nodes, table->all);
        table->all = ort_depend_node_hold(node);
        return;
    }
    struct entry *e = address_entry(table, d->address);
    link_at(e, d->kind, node);
    if (!joins_set(d->kind)) {
        entry_clear(table->nodes, e);
        e->out = ort_depend_node_hold(node);
        return;
    }
    if (e->last.n && e->kind != d->kind) {
        struct node_set memory = e->before;
        set_clear(table->nodes, &memory);
        e->before = e->last;
        e->last = memory;
    }
    e->kind = d->kind;
    set_add(table->nodes, &e->last, node);
}

bool ort_depend_insert(struct ort_thread *thread, struct ort_task *t, const struct ort_depend_list *list)
{
    struct ort_depend_table *table = table_of(thread);
    struct ort_depend_node *node = ort_depend_node_new(thread, t);
    t->node = node;
    t->flags |= ORT_TASK_ORDERED;
    for (size_t i = 0; i < list->n; i++) {
        struct ort_depend d = depend_at(list, i);
        insert_one(table, &d, node);
    }
    ps_race_release(&node->missing); /* the task acquires it when it begins (ort_depend_begin) */
    return end_linking(node);
}

void ort_depend_wait(struct ort_thread *thread, const struct ort_depend_list *list)
{
    struct ort_depend_table *table = thread->task->depends;
    if (!table)
        return;
    struct ort_depend_node *node = ort_depend_node_new(thread, NULL);
    for (size_t i = 0; i < list->n; i++) {
        struct ort_depend d = depend_at(list, i);
        struct entry *e = entry_place(table, d.address);
        if (is_all_memory(&d))
            link_at_all(table, node);
        else if (e->address)
            link_at(e, d.kind, node);
        else
            link_to(table->all, node);
    }
    if (!end_linking(node))
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_NODE, .object = node, .within = thread->task});
    ps_race_acquire(&node->missing);
    ort_depend_node_release(&ort_tasks(thread)->nodes, node);
}
