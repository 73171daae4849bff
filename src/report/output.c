/* Output files, and text for JSON: see output.h. */
#include "output.h"
#include "os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

static bool tell_failure(const struct output *o, int error)
{
    fprintf(stderr, "psthreads-report: %s cannot be written: %s\n", o->name, strerror(error));
    return false;
}

/* Makes a temporary file beside the wanted one, with the access rights of a new file. */
static FILE *open_temporary(struct output *o)
{
    if (asprintf(&o->temporary, "%s.XXXXXX", o->name) < 0) {
        o->temporary = NULL;
        return NULL;
    }
    int fd = mkstemp(o->temporary);
    if (fd < 0) {
        free(o->temporary);
        o->temporary = NULL;
        return NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fdopen(fd, "w");
}

bool output_begin(struct output *o, const char *name)
{
    *o = (struct output){.name = name};
    struct stat s;
    if (strcmp(name, "-") == 0)
        o->stream = stdout;
    else if (os_stat(name, &s) == 0 && !S_ISREG(s.st_mode))
        o->stream = fopen(name, "w");
    else
        o->stream = open_temporary(o);
    if (o->stream)
        return true;
    return tell_failure(o, errno);
}

bool output_end(struct output *o)
{
    int error = 0;
    if (ferror(o->stream))
        error = errno ? errno : EIO;
    if (o->stream == stdout ? fflush(stdout) != 0 : fclose(o->stream) != 0)
        error = error ? error : errno;
    if (!error && o->temporary && rename(o->temporary, o->name) != 0)
        error = errno;
    if (error && o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    return error ? tell_failure(o, error) : true;
}

void output_drop(struct output *o)
{
    if (o->stream != stdout)
        fclose(o->stream);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
}

/* Returns how many bytes the first UTF-8 character of the text has; 0 if it is not UTF-8. */
static unsigned character_bytes(const unsigned char *t)
{
    unsigned n = t[0] < 0x80                   ? 1
                 : t[0] >= 0xc2 && t[0] < 0xe0 ? 2
                 : (t[0] & 0xf0) == 0xe0       ? 3
                 : (t[0] & 0xf8) == 0xf0       ? 4
                                               : 0;
    for (unsigned i = 1; i < n; i++)
        if ((t[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

char *output_clean_text(const char *text)
{
    char *copy = memory_text("%s", text);
    for (char *at = copy; *at;) {
        unsigned n = character_bytes((const unsigned char *)at);
        if (n == 0)
            *at = '?';
        at += n ? n : 1;
    }
    return copy;
}

/* File names have no encoding: a byte that is not UTF-8 becomes U+FFFD. */
void output_json_text(FILE *out, const char *text)
{
    putc('"', out);
    for (unsigned n; *text; text += n ? n : 1) {
        n = character_bytes((const unsigned char *)text);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || strchr("<>&", *text)) /* HTML would interpret < > & */
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fwrite(text, 1, n, out);
    }
    putc('"', out);
}
