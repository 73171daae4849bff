/* Places of a program: what stands at the addresses of a recording's code. The debugging information of programs and
 * libraries is read when a place is first asked for (libdw). */
#ifndef PS_REPORT_PLACES_H
#define PS_REPORT_PLACES_H

#include "recording_file.h"

struct place {
    const char *brief;    /* never NULL: a file with its line, else "function", "library.so+0x12", "unknown" */
    const char *function; /* NULL: not known */
    const char *file;     /* NULL: not known */
    const char *object;   /* NULL: not known */
    uint64_t offset;      /* in the object; 0: not known */
    unsigned line;
    bool is_library; /* a job of another library's thread pool (src/pools), of which no more is known */
};

struct places;

/* Ends the program where there is no memory for it. */
struct places *places_new(void);
/* The place of a code's index in this recording. It stays until places_free. */
const struct place *places_find(struct places *p, const struct recording_file *f, unsigned code);
void places_free(struct places *p);

#endif
