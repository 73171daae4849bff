/* A file that is there whole, or not at all: it is written under another name beside it, and then renamed. */
#ifndef PS_REPORT_OUTPUT_H
#define PS_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *name;
    char *temporary; /* NULL: written in place (a pipe, a device) */
    FILE *stream;
};

/* False, and a line on standard error: it cannot be written. `name` stays with the caller. "-": standard output. */
bool output_begin(struct output *o, const char *name);
/* The same: not all of it could be written, and there is no file of that name. */
bool output_end(struct output *o);
/* Gives up: no file of that name. */
void output_drop(struct output *o);

/* A copy in which each byte that is not UTF-8 is a question mark; the caller frees it. */
char *output_clean_text(const char *text);
/* A text in quotes, as JSON has it; within HTML as well. */
void output_json_text(FILE *out, const char *text);

#endif
