/* A table from numbers (tasks, regions) to what belongs to them. Open addressing; what is taken out closes its gap, so
 * that a table is as large as what is in it has ever been. */
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
    void *value; /* NULL: no entry */
};

/* NULL: it is not there. */
void *id_table_get(const struct id_table *t, uint64_t id);
/* The value may not be NULL. What stood there is replaced. */
void id_table_put(struct id_table *t, uint64_t id, void *value);
/* What stood there. */
void *id_table_take(struct id_table *t, uint64_t id);
void id_table_free(struct id_table *t);

#endif
