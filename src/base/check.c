#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer lines lose their middle (a value that somebody gave; what is used instead stands behind it): the line must reach the terminal at
 * once, never interleaved. */
#define LINE_MAX_BYTES 512
#define TAIL_BYTES 200
#define HEAD_BYTES (LINE_MAX_BYTES - TAIL_BYTES - 4) /* "..." and the line's end between and behind */

/* The whole text is only made for a line that is too long for `line`; without memory for it, the line is cut at its end. */
static int shorten(char *line, size_t body, const char *fmt, va_list ap)
{
    char *whole = malloc(body + 1);
    if (whole == NULL)
        return LINE_MAX_BYTES - 1;
    vsnprintf(whole, body + 1, fmt, ap);
    memset(line + HEAD_BYTES, '.', 3);
    memcpy(line + HEAD_BYTES + 3, whole + body - TAIL_BYTES, TAIL_BYTES);
    free(whole);
    return LINE_MAX_BYTES - 1;
}

const char *ps_warn_mark = "";
bool ps_warn_quiet;

static void write_line(const char *fmt, va_list ap, const char *mark)
{
    char line[LINE_MAX_BYTES];
    int saved_errno = errno;
    va_list again;
    va_copy(again, ap);
    int used = snprintf(line, sizeof line, "%spsthreads: ", mark);
    int body = vsnprintf(line + used, sizeof line - (size_t)used, fmt, ap);
    if (body > 0)
        used += body;
    if (used > LINE_MAX_BYTES - 1)
        used = shorten(line, (size_t)body, fmt, again);
    va_end(again);
    for (int i = 0; i < used; i++) /* one line, whatever stands in a value */
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)used);
    (void)written; /* nowhere else to say it */
    errno = saved_errno;
}

void ps_warn(const char *fmt, ...)
{
    va_list ap;
    if (ps_warn_quiet)
        return;
    va_start(ap, fmt);
    write_line(fmt, ap, ps_warn_mark);
    va_end(ap);
}

void ps_fatal(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    write_line(fmt, ap, "");
    va_end(ap);
    abort();
}
