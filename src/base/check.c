#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Longer lines are cut: the line must reach the terminal whole or cut, never interleaved. */
#define LINE_MAX_BYTES 512

static void write_line(const char *fmt, va_list ap)
{
    char line[LINE_MAX_BYTES];
    int saved_errno = errno;
    int used = snprintf(line, sizeof line, "psthreads: ");
    int body = vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, ap);
    if (body > 0)
        used += body;
    if (used > (int)sizeof line - 2)
        used = (int)sizeof line - 2;
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)used);
    (void)written; /* nowhere else to say it */
    errno = saved_errno;
}

void ps_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    write_line(fmt, ap);
    va_end(ap);
}

void ps_fatal(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    write_line(fmt, ap);
    va_end(ap);
    abort();
}
