#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line must reach the terminal at once, not interleaved with others. So its length is limited, and a longer line
 * loses its middle. In a long line the middle is a value that the user gave; the end of the line says what is used
 * instead. */
#define LINE_MAX_BYTES 512
#define TAIL_BYTES 200
#define HEAD_BYTES (LINE_MAX_BYTES - TAIL_BYTES - 4) /* "..." and the newline take 4 bytes */

const char *ps_warn_mark = "";
bool ps_warn_quiet;

/* A line that is being composed, on the caller's stack: its beginning, and its last bytes in a ring. */
struct line {
    size_t length; /* bytes of the whole line, also those that are left out */
    char text[LINE_MAX_BYTES];
    char tail[TAIL_BYTES];
};

static void put(struct line *l, char c)
{
    if ((unsigned char)c < ' ' || c == 127) /* a value may not break the line or send control characters */
        c = '?';
    if (l->length < LINE_MAX_BYTES - 1)
        l->text[l->length] = c;
    l->tail[l->length++ % TAIL_BYTES] = c;
}

static void put_text(struct line *l, const char *text)
{
    for (text = text == NULL ? "(null)" : text; *text != '\0'; text++)
        put(l, *text);
}

static void put_number(struct line *l, uintmax_t n, unsigned base)
{
    char digits[sizeof n * 3];
    unsigned i = 0;
    do
        digits[i++] = "0123456789abcdef"[n % base];
    while ((n /= base) != 0);
    while (i > 0)
        put(l, digits[--i]);
}

static void put_signed(struct line *l, intmax_t n)
{
    if (n < 0)
        put(l, '-');
    put_number(l, n < 0 ? 0 - (uintmax_t)n : (uintmax_t)n, 10);
}

/* Does what vsnprintf does, for the conversions that check.h names (tests/structure/formats.py checks the lines).
 * vsnprintf itself may allocate, so a signal's handler may not call it. */
static void format_line(struct line *l, const char *fmt, va_list *ap)
{
    for (; *fmt != '\0'; fmt++) {
        if (*fmt != '%') {
            put(l, *fmt);
            continue;
        }
        unsigned longs = 0;
        bool size = *++fmt == 'z';
        for (fmt += size; *fmt == 'l'; fmt++)
            longs++;
        switch (*fmt) {
        case 's':
            put_text(l, va_arg(*ap, const char *));
            break;
        case 'd':
            put_signed(l, longs == 0 ? va_arg(*ap, int) : longs == 1 ? va_arg(*ap, long) : va_arg(*ap, long long));
            break;
        case 'u':
        case 'x':
            put_number(l,
                       size         ? va_arg(*ap, size_t)
                       : longs == 0 ? va_arg(*ap, unsigned)
                       : longs == 1 ? va_arg(*ap, unsigned long)
                                    : va_arg(*ap, unsigned long long),
                       *fmt == 'u' ? 10 : 16);
            break;
        case 'p':
            put_text(l, "0x");
            put_number(l, (uintptr_t)va_arg(*ap, void *), 16);
            break;
        case '%':
            put(l, '%');
            break;
        default: /* an unknown conversion: the types of later arguments are not known */
            put_text(l, "%?");
            return;
        }
    }
}

static void write_message_line(const char *fmt, va_list *ap, const char *mark)
{
    struct line l = {.length = 0};
    int saved_errno = errno;
    put_text(&l, mark);
    put_text(&l, "psthreads: ");
    format_line(&l, fmt, ap);
    size_t used = l.length;
    if (used > LINE_MAX_BYTES - 1) {
        used = LINE_MAX_BYTES - 1;
        memset(l.text + HEAD_BYTES, '.', 3);
        for (size_t i = 0; i < TAIL_BYTES; i++)
            l.text[HEAD_BYTES + 3 + i] = l.tail[(l.length + i) % TAIL_BYTES];
    }
    l.text[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, l.text, used);
    (void)written; /* there is no other place to report a failed write */
    errno = saved_errno;
}

void ps_warn(const char *fmt, ...)
{
    va_list ap;
    if (ps_warn_quiet)
        return;
    va_start(ap, fmt);
    write_message_line(fmt, &ap, ps_warn_mark);
    va_end(ap);
}

void ps_fatal(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    write_message_line(fmt, &ap, "");
    va_end(ap);
    abort();
}
