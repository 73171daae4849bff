/* Places of a program: the source lines and functions at the code addresses of a recording. The debugging information
 * of a program or library is read when a place in it is first asked for (libdw). */
#ifndef PS_REPORT_PLACES_H
#define PS_REPORT_PLACES_H

#include "recording_file.h"

struct place {
    /* Never NULL: "file:line", otherwise "function", "library.so+0x12", "0x12" or "unknown"; or "library's job". */
    const char *brief;
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    const char *object;   /* NULL: unknown */
    uint64_t offset;      /* in the object; 0: unknown */
    unsigned line;        /* 0: unknown */
    bool is_library;      /* a job of another library's pool, which src/pools runs; more is not known of it */
};

struct places;

/* Never returns NULL: without memory the program ends. */
struct places *places_new(void);
/* Returns the place of the code with this index in the recording. It is valid until places_free. */
const struct place *places_find(struct places *p, const struct recording_file *f, unsigned code);
void places_free(struct places *p);

#endif
