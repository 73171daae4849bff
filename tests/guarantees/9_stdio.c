/* A stream of the C library is one thread's from the beginning of a call to its end, in a program without thread-local
 * variables too. The guarantee holds however long the stream's own functions compute, block or wait in the runtime.
 * Each line is whole and there once. 9_stdio computing|blocked|runtime [loaded|KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <printf.h>
#include <stdarg.h>

#define LINE "0123456789 abcdefghijklmnopqrstuvwxyz\n"
#define BYTES (sizeof LINE - 1)

static FILE *stream;
static struct {
    char text[100 * BYTES];
    size_t bytes;
} got; /* guarded by the stream's own lock */

static ssize_t write_slowly(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    size_t at = got.bytes;
    CHECK(at + bytes <= sizeof got.text);
    memcpy(got.text + at, text, bytes);
    contend_stay();
    CHECK(got.bytes == at);
    got.bytes = at + bytes;
    return (ssize_t)bytes;
}

static ssize_t read_slowly(void *cookie, char *text, size_t bytes)
{
    (void)cookie;
    CHECK(bytes >= BYTES);
    contend_stay();
    memcpy(text, LINE, BYTES);
    return BYTES;
}

static int seek_slowly(void *cookie, off64_t *offset, int whence)
{
    (void)cookie, (void)whence;
    contend_stay();
    *offset = 0;
    return 0;
}

/* A conversion of the program's own, %Y: the stream is locked meanwhile. */
static int print_slowly(FILE *f, const struct printf_info *info, const void *const *args)
{
    (void)info, (void)args;
    contend_stay();
    return fputs("abc", f) < 0 ? -1 : 3;
}

static int no_arguments(const struct printf_info *info, size_t n, int *types, int *sizes)
{
    (void)info, (void)n, (void)types, (void)sizes;
    return 0;
}

static void by_vfprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    CHECK(vfprintf(stream, format, args) == BYTES);
    va_end(args);
}

static void put_fprintf(void) { CHECK(fprintf(stream, "%d%s", 0, LINE + 1) == BYTES); }
static void put_vfprintf(void) { by_vfprintf("%d%s", 0, LINE + 1); }
static void put_fputs(void) { CHECK(fputs(LINE, stream) >= 0); }
static void put_fwrite(void) { CHECK(fwrite(LINE, BYTES, 1, stream) == 1); }
static void put_puts(void) { CHECK(printf("%.*s\n", (int)BYTES - 1, LINE) == BYTES); }
static void put_flushed(void) { CHECK(fputs(LINE, stream) >= 0 && fflush(stream) == 0); }
static void put_flushed_all(void) { CHECK(fputs(LINE, stream) >= 0 && fflush(NULL) == 0); }
static void put_conversion(void)
{
    static const char *volatile format = "0123456789 %Ydefghijklmnopqrstuvwxyz\n"; /* no compiler knows %Y */
    CHECK(fprintf(stream, format) == BYTES);
}
static void get_fgets(void)
{
    char line[100];
    CHECK(fgets(line, sizeof line, stream) && !strcmp(line, LINE));
}
static void get_line(void)
{
    char *line = NULL;
    size_t bytes = 0;
    CHECK(getline(&line, &bytes, stream) == BYTES && !strcmp(line, LINE));
    free(line);
}
static void get_fread(void)
{
    char line[100] = "";
    CHECK(fread(line, BYTES, 1, stream) == 1 && !strcmp(line, LINE));
}
static void get_fscanf(void)
{
    char digits[20], letters[40];
    CHECK(fscanf(stream, " %19s %39s", digits, letters) == 2 && !strcmp(digits, "0123456789") && strlen(letters) == 26);
}
static void seek(void) { CHECK(fseek(stream, 0, SEEK_SET) == 0); }

static const struct kind {
    const char *name, *mode; /* of a stream of our own; NULL: one in memory */
    int buffer;
    void (*use)(void);
} kinds[] = {{"fprintf", "w", _IOLBF, put_fprintf},
             {"vfprintf", "w", _IOLBF, put_vfprintf},
             {"fputs", "w", _IOLBF, put_fputs},
             {"fputs_unbuffered", "w", _IONBF, put_fputs},
             {"fwrite", "w", _IOLBF, put_fwrite},
             {"printf", "w", _IOLBF, put_puts},
             {"fflush", "w", _IOFBF, put_flushed},
             {"fflush_all", "w", _IOFBF, put_flushed_all},
             {"conversion", NULL, _IOFBF, put_conversion},
             {"fgets", "r", _IOFBF, get_fgets},
             {"getline", "r", _IOFBF, get_line},
             {"fread", "r", _IOFBF, get_fread},
             {"fscanf", "r", _IOFBF, get_fscanf},
             {"fseek", "r", _IOFBF, seek}};

static enum contend_hold hold;
static const char *name(int i) { return kinds[i].name; }

static void run(int i)
{
    const struct kind *kind = &kinds[i];
    static const cookie_io_functions_t slow = {read_slowly, write_slowly, seek_slowly, NULL};
    FILE *out = stdout;
    char *memory = NULL;
    size_t bytes = 0;
    got.bytes = 0;
    stream = kind->mode ? fopencookie(NULL, kind->mode, slow) : open_memstream(&memory, &bytes);
    CHECK(stream && setvbuf(stream, NULL, kind->buffer, 4096) == 0);
    stdout = stream;
    contend_rounds(4, 4, hold, NULL, kind->use);
    stdout = out;
    CHECK(fclose(stream) == 0);
    if (memory)
        memcpy(got.text, memory, got.bytes = bytes);
    free(memory);
    if (kind->mode && kind->mode[0] == 'r')
        return;
    CHECK(got.bytes == 16 * BYTES);
    for (int line = 0; line < 16; line++)
        CHECK(!memcmp(got.text + (size_t)line * BYTES, LINE, BYTES));
}

int main(int argc, char **argv)
{
    const char *only = contend_arguments(argc, argv, 1, &hold);
    CHECK(register_printf_specifier('Y', print_slowly, no_arguments) == 0);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
