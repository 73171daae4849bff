/* Layout tables: they tell a debugger or another process where the runtime's state lies. Such a reader has only the
 * loaded objects: no debug information, and no source of the same version.
 *
 * A table is one exported symbol, such as ps_debug_layout (user-level threads) or ort_debug_layout (the OpenMP core).
 * It has a head, then fields up to one with an empty name. A field is a name and a number: "vp.current" is the offset
 * of a member, "sizeof.uth" a size, "&ps_rt" an address, "wait.mutex" a constant. A reader takes the fields that it
 * knows by name, and relies on no order. So fields may be added and removed, and `version` changes only when a name
 * changes its meaning. The tables are constant. Readers are tools/gdb, dump.c (psrun dump) and libompd.so. Similar to
 * libthread_db's symbols and Go's runtime tables. Rejected: DWARF (installations are stripped). */
#ifndef PS_DEBUG_LAYOUT_H
#define PS_DEBUG_LAYOUT_H

#include "compiler.h"

#define PS_DEBUG_MAGIC "psthreads-layout"
#define PS_DEBUG_VERSION 1

struct ps_debug_field {
    char name[24];
    uint64_t value;
};

struct ps_debug_layout {
    char magic[16];      /* PS_DEBUG_MAGIC, without its terminating zero */
    uint32_t version;    /* PS_DEBUG_VERSION */
    uint32_t field_size; /* sizeof(struct ps_debug_field) */
    struct ps_debug_field field[];
};

/* clang-format off */
#define PS_DEBUG_HEAD .magic = PS_DEBUG_MAGIC, .version = PS_DEBUG_VERSION, .field_size = sizeof(struct ps_debug_field)
#define PS_DEBUG_MEMBER(type, member) {#type "." #member, offsetof(struct type, member)}
#define PS_DEBUG_SIZE(type) {"sizeof." #type, sizeof(struct type)}
#define PS_DEBUG_ADDRESS(variable) {"&" #variable, (uintptr_t)&(variable)}
/* clang-format on */

#endif
