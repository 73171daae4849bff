/* An output file. A plain file is written under a temporary name beside it, and renamed when it is complete. */
#ifndef PS_REPORT_OUTPUT_H
#define PS_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *name;
    char *temporary; /* NULL: it is written in place (a pipe, a device) */
    FILE *stream;
};

/* Begins to write the file `name`; "-" is standard output. The caller keeps `name` valid. Returns false, after a
 * message, if it cannot be written. */
bool output_begin(struct output *o, const char *name);
/* Ends the file and gives it its name. Returns false, after a message, if not all could be written: then the file is
 * not there, or is the old one. */
bool output_end(struct output *o);
/* Gives up: removes the temporary file. */
void output_drop(struct output *o);

/* Returns a copy in which a question mark replaces each byte that is not UTF-8. The caller frees it. */
char *output_clean_text(const char *text);
/* Writes a JSON string, which may also stand in HTML. */
void output_json_text(FILE *out, const char *text);

#endif
