/* Open addressing with linear probing: see id_table.h. */
#include "id_table.h"

#include "memory.h"

static size_t home_slot(const struct id_table *t, uint64_t id)
{
    return (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->capacity - 1);
}

/* Returns the slot that has the id, or the free slot into which it would go. */
static size_t find_slot(const struct id_table *t, uint64_t id)
{
    size_t i = home_slot(t, id);
    while (t->entry[i].value && t->entry[i].id != id)
        i = (i + 1) & (t->capacity - 1);
    return i;
}

void *id_table_get(const struct id_table *t, uint64_t id)
{
    return t->capacity ? t->entry[find_slot(t, id)].value : NULL;
}

static void grow_table(struct id_table *t)
{
    struct id_table larger = {.capacity = t->capacity ? 2 * t->capacity : 64, .num = t->num};
    larger.entry = memory_new(larger.capacity, sizeof *larger.entry);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entry[i].value)
            larger.entry[find_slot(&larger, t->entry[i].id)] = t->entry[i];
    free(t->entry);
    *t = larger;
}

void id_table_put(struct id_table *t, uint64_t id, void *value)
{
    if (2 * (t->num + 1) > t->capacity)
        grow_table(t);
    size_t i = find_slot(t, id);
    t->num += !t->entry[i].value;
    t->entry[i] = (struct id_entry){id, value};
}

void *id_table_take(struct id_table *t, uint64_t id)
{
    if (!t->capacity)
        return NULL;
    size_t gap = find_slot(t, id), mask = t->capacity - 1;
    void *value = t->entry[gap].value;
    if (!value)
        return NULL;
    t->num--;
    for (size_t i = (gap + 1) & mask; t->entry[i].value; i = (i + 1) & mask) {
        size_t home = home_slot(t, t->entry[i].id);
        if (((i - home) & mask) >= ((i - gap) & mask)) { /* the gap lies between the entry's home slot and slot i */
            t->entry[gap] = t->entry[i];
            gap = i;
        }
    }
    t->entry[gap].value = NULL;
    return value;
}

void id_table_free(struct id_table *t)
{
    free(t->entry);
    *t = (struct id_table){0};
}
