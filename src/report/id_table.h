/* A table from numbers (of tasks, regions) to pointers. Open addressing; a removal closes its gap. So a table's size
 * depends on the largest number of entries that it had at one time, not on how many were ever put. */
#ifndef PS_REPORT_ID_TABLE_H
#define PS_REPORT_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_table {
    struct id_entry *entry;
    size_t capacity, num; /* capacity: a power of two */
};

struct id_entry {
    uint64_t id;
    void *value; /* NULL: the slot is free */
};

/* Returns the value; NULL if the id has none. */
void *id_table_get(const struct id_table *t, uint64_t id);
/* Sets the value, which may not be NULL, and replaces an older one. */
void id_table_put(struct id_table *t, uint64_t id, void *value);
/* Removes the value and returns it; NULL if the id has none. */
void *id_table_take(struct id_table *t, uint64_t id);
void id_table_free(struct id_table *t);

#endif
